"""Counts of the layout, for the table of ARCHITECTURE.md: `python -m benchmarks.layout [FOLDER]`, seconds.

FOLDER: another checkout whose files are counted instead, without running anything of it.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]


def sources(folder: Path) -> Iterator[Path]:
    """Python files below a folder."""
    return (path for path in sorted(folder.rglob("*.py")) if "__pycache__" not in path.parts)


def lines(folder: Path) -> int:
    """Lines of Python below a folder."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in sources(folder))


def rooms(root: Path) -> int:
    """Modules and folders at the top of refdp, without `__init__` and `__main__`."""
    top = root / "refdp"
    files = [path for path in top.glob("*.py") if not path.stem.startswith("__")]
    return len(files) + sum((path / "__init__.py").is_file() for path in top.iterdir() if path.is_dir())


def imports(root: Path) -> dict[str, set[str]]:
    """Of every module of refdp those of refdp that it imports when it is loaded."""
    trees = {}
    for path in sources(root / "refdp"):
        parts = path.relative_to(root).with_suffix("").parts
        trees[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text(encoding="utf-8"))
    return {name: {one for one in needed(tree) if one in trees and one != name} for name, tree in trees.items()}


def needed(tree: ast.Module) -> Iterator[str]:
    """What has to be imported for a module to load: not what functions import, nor what only type checkers read."""
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If):
            waiting += node.orelse if "TYPE_CHECKING" in ast.unparse(node.test) else [*node.body, *node.orelse]
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def circles(edges: dict[str, set[str]]) -> int:
    """Groups of modules that import each other in a circle."""
    reached = {name: _reached(edges, name) for name in edges}
    inside = {name for name in edges if name in reached[name]}
    return len({frozenset(one for one in inside if one in reached[name] and name in reached[one]) for name in inside})


def _reached(edges: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = list(edges[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += edges[name]
    return found


def branches(root: Path) -> int:
    """Comparisons of a setting with one of its printed readings, inside the papers' modules.

    A printed reading is a value that the `Params` of papers/published has and the paper's own has not.
    """
    from dataclasses import fields
    from importlib import import_module
    from typing import get_args, get_type_hints

    found = 0
    for path in sorted((root / "refdp" / "papers").glob("*.py")):
        if path.stem.startswith("__"):
            continue
        own = import_module(f"refdp.papers.{path.stem}").Params
        printed = import_module(f"refdp.papers.published.{path.stem}").Params
        ours, theirs = get_type_hints(own), get_type_hints(printed)
        allowed = {field.name: set(get_args(ours[field.name])) for field in fields(own)}
        only = {name: set(get_args(theirs[name])) - allowed.get(name, set()) for name in theirs}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute):
                values = {one.value for one in node.comparators if isinstance(one, ast.Constant)}
                name = node.left.attr
                found += name in theirs and (name not in allowed or bool(values & only[name]))
    return found


def executed(paper: str) -> tuple[int, int]:
    """Modules that the paper's `train` runs with its default parameters: those of its own, and all of refdp.

    In a process of its own: what others have put into caches is not computed again.
    """
    text = f"from benchmarks import layout; print(*layout.executed_here({paper!r}))"
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, check=True, capture_output=True, text=True)
    own, every = map(int, done.stdout.split())
    return own, every


def executed_here(paper: str) -> tuple[int, int]:
    """As many as this process has not run before."""
    from refdp.data.records import Interval, Numeric, Records, Schema
    from refdp.faces import registry
    from refdp.privacy.curator import Curator
    from refdp.privacy.events import Relation
    from refdp.privacy.sources import SampleSource

    text = registry.paper(paper).module
    schema = Schema((Numeric("a", 0, 1), Numeric("b", 0, 1), Numeric("c", 0, 1)), Interval(0, 1))
    generator = np.random.default_rng(0)
    records = Records(schema, generator.random((200, 3)), generator.random(200))
    params = text.Params(epsilon=2.0, relation=Relation.ADD_REMOVE)
    ran: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("refdp."):
            ran.add(module)

    curator = Curator(SampleSource(generator, exact=True), params.relation)
    sys.setprofile(note)
    try:
        text.train(params, records, curator)
    finally:
        sys.setprofile(None)
    return sum(name.startswith("refdp.papers.") for name in ran), len(ran)


def counted(root: Path) -> dict[str, int]:
    """What only needs the files: name of a row of the table to its count."""
    return {
        "rooms and modules at the top of refdp": rooms(root),
        "circles of imports when loaded": circles(imports(root)),
        "lines in refdp/papers": lines(root / "refdp" / "papers"),
        "lines in refdp": lines(root / "refdp"),
        "lines in proofs": lines(root / "proofs"),
    }


def main(arguments: list[str]) -> None:
    """Print the counts as rows of a Markdown table."""
    root = Path(arguments[0]) if arguments else ROOT
    rows = {name: str(count) for name, count in counted(root).items()}
    if not arguments:
        from refdp.faces.registry import PAPERS

        runs = {paper: executed(paper) for paper in PAPERS}
        rows["modules of its own that a run executes"] = ", ".join(f"{paper} {own}" for paper, (own, _) in runs.items())
        rows["modules in all that a run executes"] = ", ".join(f"{paper} {every}" for paper, (_, every) in runs.items())
        rows["branches on printed readings inside papers"] = str(branches(root))
    for name, value in rows.items():
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main(sys.argv[1:])
