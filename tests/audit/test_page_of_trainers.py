"""The page of anyone's trainer from a report at hand, and where in a text something stands."""

from __future__ import annotations

import functools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from refdp.audit import page_trainer
from refdp.audit.page import Figure
from refdp.audit.page_sources import RELEASES, function_line, release_line
from refdp.privacy.events import Relation
from tests.audit.made_pages import SCHEMA, a_pair, violation

ADD = Relation.ADD_REMOVE


def report(*violations: Any) -> Any:
    return SimpleNamespace(violations=violations, relation=ADD, epsilon=1.5, delta=0.25)


def figures(monkeypatch: pytest.MonkeyPatch, *violations: Any, change: Any = "change", cells: Any = "cells") -> Any:
    asked: list[Any] = []

    def noted(name: str, answer: Any) -> Any:
        def called(*given: Any) -> Any:
            asked.append((name, *given))
            return answer

        return called

    ran: list[Any] = []
    for name, answer in (("exact_change", change), ("outcomes", cells), ("exact_figure", Figure("exact", "", ""))):
        monkeypatch.setattr(page_trainer, name, noted(name, answer))
    monkeypatch.setattr(page_trainer, "compared", lambda given: [Figure(f"{len(given)} compared", "", "")])
    found = page_trainer._figures(lambda *given: ran.append(given), report(*violations))
    return [one.title for one in found], asked, ran


def test_the_exact_curve_is_that_of_the_violation_that_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what the trainer returns nothing is looked at."""
    shown = a_pair(SCHEMA).witness()
    small, great = violation("cost", "x", loss=0.5, **shown), violation("loss", "y", loss=0.75, **shown)
    titles, asked, ran = figures(monkeypatch, small, great)
    assert titles == ["2 compared", "exact"] and [name for name, *_ in asked] == [
        "exact_change",
        "outcomes",
        "exact_figure",
    ]
    _, train, pair, release = asked[0]
    assert release == "y" and pair.witness() == shown and asked[1] == ("outcomes", "change")
    assert asked[2] == ("exact_figure", "change", "cells", 'the pair of the finding "loss at y"')
    assert train("records", "curator").to_json() == "" and ran == [("records", "curator")]


def test_without_a_pair_or_cells_there_is_no_exact_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = violation("cost", "x", loss=0.5, **a_pair(SCHEMA).witness())
    assert figures(monkeypatch)[:2] == (["0 compared"], [])
    assert figures(monkeypatch, violation())[:2] == (["1 compared"], [])
    titles, asked, _ = figures(monkeypatch, shown, change=None)
    assert titles == ["1 compared"] and [name for name, *_ in asked] == ["exact_change"]
    titles, asked, _ = figures(monkeypatch, shown, cells=None)
    assert titles == ["1 compared"] and [name for name, *_ in asked] == ["exact_change", "outcomes"]


def test_the_page_is_of_the_trainer_and_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setattr(page_trainer, "page_of", lambda *more: given.append(more) or "page")
    told: Any = report()
    assert page_trainer.trainer_page("mine:train", len, told, "the command") == "page"
    name, relation, own, source, drawings, *rest = given[0]
    assert (name, relation, own) == ("mine:train", ADD, told) and source(violation()) == "len"
    assert rest == ["add-remove, epsilon 1.5, delta 0.25", "the command", page_trainer.METHOD, page_trainer.LIMITS]
    monkeypatch.setattr(page_trainer, "_figures", lambda train, own: (train, own))
    assert drawings() == (len, told)


# --- Lines of a text --------------------------------------------------------------------------------------------------

TEXT = """
names = ["sums", f"odd {1}", "alone"]


def train(records, curator, other):
    other.release("counts", 1)
    curator.release("counts", 2)
    self.curator.release_sum(f"splits of level {level}", 3)
    curator.release()
    curator.draw("labels", 4)
    release("bare", 5)
    curator.release(f"{level}{records}", 6)
    curator.release("sums", 7)
"""


def test_a_release_is_found_where_a_curator_is_asked_for_it(tmp_path: Path) -> None:
    """Calls of a curator's ways out first, then any text of that form; only in the paper's own modules."""
    package = tmp_path / "refdp"
    (package / "papers").mkdir(parents=True)
    for name in ("mine_more", "mine", "other"):
        (package / "papers" / f"{name}.py").write_text(TEXT if name != "other" else 'x = "elsewhere"\n')

    def line(release: str, paper: str = "mine") -> str:
        return release_line(package, paper, release)

    assert line("counts") == 'refdp/papers/mine.py:7: curator.release("counts", 2)' == line("ensemble 0/counts")
    assert line("splits of level 12").startswith("refdp/papers/mine.py:8: self.curator.release_sum(f")
    assert line("labels") == 'refdp/papers/mine.py:10: "labels"' and line("alone") == 'refdp/papers/mine.py:2: "alone"'
    assert line("sums") == 'refdp/papers/mine.py:13: curator.release("sums", 7)'
    assert line("odd 7").startswith("refdp/papers/mine.py:2: f") and line("bare") == 'refdp/papers/mine.py:11: "bare"'
    assert line("elsewhere") == "" == line("splits") and line("elsewhere", "other").endswith(': "elsewhere"')
    assert line("counts", "mine_more").startswith("refdp/papers/mine_more.py:7")
    assert RELEASES == ("release", "release_sum")
    long = package / "papers" / "long.py"
    long.write_text('curator.release("counts", ' + "0 + " * 90 + "0)\n")
    shown = line("counts", "long").removeprefix("refdp/papers/long.py:1: ")
    assert len(shown) <= 160 and shown.endswith(" …") and len(shown) > 150
    for size in (160, 161):  # of the call's text
        long.write_text(f'curator.release("counts", "{"x" * (size - 29)}")\n')
        assert line("counts", "long").endswith('x")') is (size == 160)


def test_functions_are_found_by_file_and_line() -> None:
    def own() -> None:
        pass

    @functools.wraps(own)
    def around() -> None:
        pass

    line = own.__code__.co_firstlineno
    held: Any = SimpleNamespace(function=own)
    assert function_line(own) == f"test_page_of_trainers.py:{line}" == function_line(around) == function_line(held)
    assert function_line(len) == "len" and function_line(3) == "int"
