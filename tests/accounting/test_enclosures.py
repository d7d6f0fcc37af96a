"""Random plans against the balls of `benchmarks.enclosures`: a few here, thousands kept, and what they brought up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from account_plans import REPLACE_ONE, plan, release

from benchmarks.enclosures import __main__ as runner
from benchmarks.enclosures.drawn import drawn
from refdp.accounting import account
from refdp.noise.mechanisms import DiscreteLaplace
from refdp.privacy.events import Repeat, Subsample

QUICK = range(14, 28)


@pytest.mark.parametrize("number", QUICK)
def test_a_plan_of_every_family(number: int) -> None:
    _, case, delta = drawn(number)
    row = runner.judged(case, delta)
    assert not row["below"]
    assert not row["above"]


@pytest.mark.parametrize("number", [15, 18, 20, 27])
@pytest.mark.parametrize("end", ["upper", "lower"])
def test_an_end_that_is_off_is_seen(number: int, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: an upper end a ten-thousandth too low; a lower end as far above the upper one (which dominates)."""
    _, case, delta = drawn(number)

    def off(*arguments: object, **named: object) -> object:
        found = account(*arguments, **named)  # type: ignore[arg-type]
        change = {"upper": found.lower * (1 - 1e-4)} if end == "upper" else {"lower": found.upper * (1 + 1e-4)}
        return replace(found, **change)

    monkeypatch.setattr(runner, "account", off)
    assert runner.judged(case, delta)["below" if end == "upper" else "above"]


def test_an_answer_far_below_the_largest_loss_is_found() -> None:
    """Rényi's best order is infinite here; a tilt after it sees only the largest losses."""
    one = Subsample(0.25555, release(DiscreteLaplace(0.444286475919673, 1.0)))
    whole = plan(Repeat(one, 21), relation=REPLACE_ONE)
    bound = account(whole, delta=2.113e-05)
    assert bound.upper - bound.lower <= 1e-6 * bound.upper
    assert account(whole, epsilon=bound.upper).upper == pytest.approx(2.113e-05, rel=1e-4)
