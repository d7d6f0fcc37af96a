"""docs/grove.md is what the kept results say, and a set that judges took no part in the choice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import grove, grove_choice
from benchmarks.league.cells import REGRESSION


def test_the_page_is_what_the_kept_results_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = grove.PAGE.read_text(encoding="utf-8")
    monkeypatch.setattr(grove, "PAGE", tmp_path / "grove.md")
    grove.write()
    assert (tmp_path / "grove.md").read_text(encoding="utf-8") == before


def kept(figures: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """The same figure of a change on a set at every epsilon and seed."""
    return [
        {"what": "cell", "data": data, "change": change, "epsilon": epsilon, "seed": seed, "figure": figure}
        for change, own in figures.items() for data, figure in own.items()
        for epsilon in grove_choice.MAIN for seed in grove_choice.CHOOSING["regression"]
    ]  # fmt: skip


def test_what_is_best_on_the_judging_set_alone_is_not_chosen() -> None:
    """A change is chosen by the other sets, and one that was not run on all of them is none."""
    judge, *others = REGRESSION
    usual = dict.fromkeys(REGRESSION, 0.8)
    there = kept(
        {
            "defaults": usual,
            "half the trees": {**usual, judge: 0.1, others[0]: 0.85},
            "a level more": {**usual, judge: 0.9, others[0]: 0.79},
            "a level less": {others[0]: 0.1},
        }
    )
    assert grove_choice.chosen((judge,), REGRESSION, there) == "a level more"
    assert grove_choice.chosen((others[0],), REGRESSION, there) == "half the trees"
