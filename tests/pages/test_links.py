"""Relative links, anchors and pictures of all pages lead somewhere, and tables have as many cells as their heads."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("", "docs/", "docs/claims/", "docs/errata/", "docs/spec/", "proofs/", "notebooks/")
PAGES = sorted(path for folder in FOLDERS for path in ROOT.glob(f"{folder}*.md"))
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`[^`\n]*`")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them, and those that it sets itself."""
    found = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for heading in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", re.sub(LINK, "", heading).strip().lower()).replace(" ", "-")
        found.add(name if name not in found else f"{name}-1")
    return found


def broken_links(page: Path, text: str) -> list[str]:
    """Targets that are not there: files, and anchors in pages."""
    found = []
    for target in LINK.findall(CODE.sub("", text)):
        path, _, anchor = unquote(target).partition("#")
        if re.match(r"[a-z]+:", path):
            continue
        file = (page.parent / path).resolve() if path else page
        within = (
            text if not path else file.read_text(encoding="utf-8") if file.suffix == ".md" and file.exists() else ""
        )
        if not file.exists() or (anchor and anchor not in anchors(within)):
            found.append(target)
    return found


def broken_tables(text: str) -> list[str]:
    """Rows of tables with fewer or more cells than the line under their head."""
    found, width = [], 0
    for line in text.splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        cells = len(re.findall(r"(?<!\\)\|", line)) - 1
        if re.fullmatch(r"[|:\- ]+", line):
            width = cells
        elif width and cells != width:
            found.append(line)
    return found


def headless_tables(text: str) -> list[str]:
    """First lines of tables without an empty line before them, or without the line of dashes that makes a table."""
    lines = ["", *text.splitlines(), ""]
    firsts = [i for i in range(1, len(lines) - 1) if lines[i].startswith("|") and not lines[i - 1].startswith("|")]
    return [lines[i] for i in firsts if lines[i - 1].strip() or not re.fullmatch(r"[|:\- ]+", lines[i + 1])]


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])
def test_links_and_tables(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert broken_links(page, text) == []
    assert broken_tables(text) == []
    assert headless_tables(text) == []


def test_every_figure_is_shown_on_a_page() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [path.name for path in sorted((ROOT / "docs/figures").iterdir()) if path.name not in pages] == []


def test_every_page_of_docs_is_linked() -> None:
    assert len(PAGES) > 15
    pages = {page: page.read_text(encoding="utf-8") for page in PAGES}
    docs = [page for page in PAGES if page.parent.name == "docs"]
    assert [d.name for d in docs if not any(f"{d.name})" in text for page, text in pages.items() if page != d)] == []


def test_each_fault_is_found() -> None:
    page = ROOT / "README.md"
    assert broken_links(page, "# One\n[a](docs/gone.md) [b](#two) [c](#one) ![d](docs/gone.png) [e](https://x.y)") == [
        "docs/gone.md",
        "#two",
        "docs/gone.png",
    ]
    assert broken_links(page, "[a](docs/claims/index.md#no-such-heading)") == ["docs/claims/index.md#no-such-heading"]
    assert broken_tables("| a | b |\n|---|---|\n| 1 |\n| 1 | \\| |") == ["| 1 |"]
    assert headless_tables("text\n| a |\n|---|\n\n| b |\n| 1 |") == ["| a |", "| b |"]
