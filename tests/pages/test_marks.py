"""What a benchmark writes on a page stands between its marks there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]


def written() -> Iterator[tuple[Path, str]]:
    """The page and the command of every call of `write_between`."""
    for path in sorted((ROOT / "benchmarks").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "kept_lines.write_between":
                page, command, _ = node.args
                module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
                yield getattr(module, ast.unparse(page)), ast.literal_eval(command)


def test_what_benchmarks_write_has_its_marks_once_and_every_mark_has_its_benchmark() -> None:
    due = set(written())
    pages = {*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")}
    lines = [(page, line) for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    begun = [
        (page, line.removeprefix("<!-- begin: ").removesuffix(" -->"))
        for page, line in lines
        if line.startswith("<!-- begin: python -m benchmarks.")
    ]
    assert len(due) > 2
    assert sorted(begun) == sorted(due)
    assert sum(line == "<!-- end -->" for _, line in lines) >= len(due)
