"""ARCHITECTURE.md's guide for readers and its figures are those of the code."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from benchmarks import layout
from refdp.faces.registry import PAPERS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
NAMES = {
    "dpboost": "DPBoost",
    "inprivate": "InPrivate",
    "dpxgboost": "DP-XGBoost",
    "fedgbdt": "Federated",
    "sgbdt": "S-GBDT",
}


def stands_in(excerpt: str, source: str) -> bool:
    """Whether the lines stand in the source as they are, one after the other, whatever they are indented by."""
    wanted = textwrap.dedent(excerpt).splitlines()
    lines = source.splitlines()
    return any(
        textwrap.dedent("\n".join(lines[at : at + len(wanted)])).splitlines() == wanted
        for at in range(len(lines) - len(wanted) + 1)
    )


@pytest.mark.parametrize("paper", PAPERS)
def test_two_passages_of_each_paper_stand_in_its_module(paper: str) -> None:
    guide = PAGE.partition("## Reading a paper's module")[2].partition("## In figures")[0]
    [section] = [part for part in guide.split("### ")[1:] if f"refdp/papers/{paper}.py" in part.splitlines()[0]]
    assert section.startswith(NAMES[paper])
    excerpts = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    printed = re.findall(r"(?:^    .*\n)+", re.sub(r"```.*?```", "", section, flags=re.DOTALL), re.MULTILINE)
    assert len(printed) >= 2 and len(excerpts) >= len(printed)
    source = (ROOT / "refdp" / "papers" / f"{paper}.py").read_text(encoding="utf-8")
    assert [excerpt for excerpt in excerpts if not stands_in(excerpt, source)] == []


def test_a_changed_line_is_noticed() -> None:
    source = "def f():\n    a = 1\n    return a\n"
    assert stands_in("        a = 1\n        return a\n", source)
    assert not stands_in("    a = 2\n    return a\n", source) and not stands_in("    return a\n    a = 1\n", source)


ROWS = dict(re.findall(r"^\| ([a-z][^|]*?) \| [^|]* \| ([^|]*?) \|$", PAGE.partition("## In figures")[2], re.MULTILINE))


def test_the_figures_are_those_of_the_tree() -> None:
    """Counts exactly, lines within a tenth: a page that every change makes false is read by nobody."""
    for name, count in layout.counted(ROOT).items():
        stated = int(ROWS[name])
        assert abs(stated - count) <= (0.1 * count if name.startswith("lines") else 0), (name, stated, count)
    assert layout.branches(ROOT) == int(ROWS["branches on printed readings inside papers"]) == 0


def test_a_run_executes_the_modules_that_are_stated() -> None:
    runs = {paper: layout.executed(paper) for paper in PAPERS}
    for name, place in (("modules of its own that a run executes", 0), ("modules in all that a run executes", 1)):
        assert ROWS[name] == ", ".join(f"{paper} {counts[place]}" for paper, counts in runs.items())


def test_a_branch_on_a_printed_reading_is_counted(tmp_path: Path) -> None:
    folder = tmp_path / "refdp" / "papers"
    folder.mkdir(parents=True)
    for text, found in (
        ('params.candidates == "data"', 1),
        ('params.constants == "proved"', 1),
        ('self.noise == "floating"', 0),
    ):
        (folder / "dpboost.py").write_text(f"def f(self, params):\n    return {text}\n", encoding="utf-8")
        assert layout.branches(tmp_path) == found


def test_a_circle_is_counted() -> None:
    assert layout.circles({"a": {"b"}, "b": {"a"}, "c": {"a"}, "d": {"e"}, "e": {"d"}}) == 2
    assert layout.circles({"a": {"b"}, "b": set()}) == 0
