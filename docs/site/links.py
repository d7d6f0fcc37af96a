"""`python docs/site/links.py FOLDER`: links of a built site that lead nowhere, and requests to other hosts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("video", "src")}
"""What a browser asks for by itself; links that a reader may follow can lead to other hosts."""


class Page(HTMLParser):
    """The anchors of a page, and its links as (tag, attribute, target)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "link" and values.get("rel") in ("canonical", "license"):
            return
        self.links += [(tag, name, values[name]) for name in ("href", "src") if name in values]


def written(folder: Path) -> list[Path]:
    """The site's pages; what lies in _static are a theme's templates."""
    return [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.relative_to(folder).parts]


def problems(folder: Path) -> Iterator[str]:
    """One line for each link to a file or anchor that is not there, and for each file loaded from another host."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in written(folder)}
    for path, page in pages.items():
        where = path.relative_to(folder.resolve())
        for tag, name, target in page.links:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if (tag, name) in LOADED and parts.scheme != "data":
                    yield f"{where}: loads {target}"
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not file.exists():
                yield f"{where}: no file {target}"
            elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
                yield f"{where}: no anchor {target}"


def main(folder: str) -> int:
    """0 if there are no problems. Errors: SystemExit if the folder has no page."""
    pages = written(Path(folder))
    if not pages:
        raise SystemExit(f"no page in {folder}")
    found = sorted(set(problems(Path(folder))))
    print("\n".join(found) or f"{len(pages)} pages, every local link leads somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
