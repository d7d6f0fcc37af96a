"""Mutants of the prove reading: what is left without one of its checks takes a leaking text for private."""

from __future__ import annotations

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.prove.asking import Solvers
from tests.mutants.harness import applied
from tests.prove.engine import ENGINE, LANGUAGE, WORDS, Engine
from tests.prove.page import hasty, read


def test_every_check_that_is_dropped_is_one_of_the_reading() -> None:
    """The texts are marked; a check that was renamed shows at once."""
    assert [(one.what, name) for one in ENGINE for owner, name, _ in one.drops if not hasattr(owner, name)] == []


@pytest.mark.statistics  # three minutes in all
@pytest.mark.parametrize("mutant", ENGINE, ids=lambda mutant: mutant.what)
def test_a_check_of_the_reading_that_is_dropped_shows(mutant: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {**mutant.settings, **mutant.text.settings}
    with applied(mutant.text.patches), hasty(1500):  # type: ignore[arg-type]
        assert read(mutant.paper, settings, Solvers(), briefly=True).verdict == "NOT PROVED"
        if any(one not in (LANGUAGE, WORDS) for one in mutant.drops):  # these two refuse such a text as well
            with monkeypatch.context() as only:
                for drop in mutant.drops:
                    if drop in (LANGUAGE, WORDS):
                        only.setattr(*drop)
                assert read(mutant.paper, settings, Solvers(), briefly=True).verdict == "NOT PROVED"
        for owner, name, dropped in mutant.drops:
            monkeypatch.setattr(owner, name, dropped)
        assert read(mutant.paper, settings, Solvers(), briefly=True).verdict == "PROVED"
