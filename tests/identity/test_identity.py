"""Models, plans and messages of random settings are, bit for bit, those that were kept."""

from __future__ import annotations

import pytest

from tests.identity.__main__ import differences, kept
from tests.identity.settings import COUNT, PAPERS, settings
from tests.mutants.harness import applied


@pytest.mark.parametrize("paper", PAPERS)
def test_a_third_of_the_kept_settings_is_unchanged(paper: str) -> None:
    """`python -m tests.identity check` asks all of them."""
    assert differences(paper, range(0, COUNT, 3)) == []


@pytest.mark.parametrize("paper", PAPERS)
def test_every_setting_gives_a_model_of_its_own(paper: str) -> None:
    assert len({one["model"] for one in kept(paper)}) == len(kept(paper)) == COUNT >= 200
    assert settings(paper, 7) == settings(paper, 7) != settings(paper, 8)


def test_a_change_is_seen() -> None:
    """An ulp in one formula, or a bound that is declared differently, is told with its setting."""
    with applied({"refdp.papers.dpboost:gain_range": lambda bound: lambda *given: bound(*given) * 2}):
        changed = differences("dpboost", [0])
    assert len(changed) == 1 and changed[0].startswith("dpboost 0: model, plan ")
    with applied({"refdp.papers.dpboost:leaf_value": lambda value: lambda *sums: value(*sums) * (1 + 1e-6)}):
        assert any("model" in found for found in differences("dpboost", range(5)))
