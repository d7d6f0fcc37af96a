"""Random plans against the balls of `benchmarks.enclosures`: a few here, thousands kept, and what they brought up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from account_plans import REPLACE_ONE, plan, release

from benchmarks.enclosures import __main__ as runner
from benchmarks.enclosures.drawn import FAMILIES, ORDER, drawn
from refdp.accounting import account
from refdp.noise.mechanisms import DiscreteLaplace, Gaussian
from refdp.privacy.events import Repeat, Subsample

QUICK = [ORDER.index(family) for family in FAMILIES if family != "sampled, replace-one"]
SEEN = ["discrete Laplace, randomised response", "Gaussian with another", "sampled discrete Laplace", "groups"]


@pytest.mark.parametrize("number", QUICK)
def test_a_plan_of_every_family(number: int) -> None:
    _, case, delta = drawn(number)
    row = runner.judged(case, delta)
    assert not row["below"]
    assert not row["above"]


@pytest.mark.parametrize("family", SEEN)
@pytest.mark.parametrize("end", ["upper", "lower"])
def test_an_end_that_is_off_is_seen(family: str, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: an upper end a ten-thousandth too low; a lower end as far above the upper one (which dominates)."""
    _, case, delta = drawn(ORDER.index(family))

    def off(*arguments: object, **named: object) -> object:
        found = account(*arguments, **named)  # type: ignore[arg-type]
        change = {"upper": found.lower * (1 - 1e-4)} if end == "upper" else {"lower": found.upper * (1 + 1e-4)}
        return replace(found, **change)

    monkeypatch.setattr(runner, "account", off)
    assert runner.judged(case, delta)["below" if end == "upper" else "above"]


def test_the_kept_runs_hold() -> None:
    """Every end that was compared holds, every family was drawn, and few truths could not be had."""
    rows = runner.read()
    assert len(rows) >= 300
    assert {row["family"] for row in rows} == set(FAMILIES)
    assert not any(row["below"] or row["above"] for row in rows)
    assert sum(row["below"] is None for row in rows) <= len(rows) / 20


def test_lines_of_another_accountant_vouch_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are judged anew, and the table is made of the lines of today's code alone; its number is told."""
    monkeypatch.setattr(runner, "RUNS", tmp_path / "runs.jsonl.gz")
    monkeypatch.setattr(runner, "PAGE", tmp_path / "page.md")
    runner.PAGE.write_text(f"before\n\n{runner.HEAD}\n|---|\n\nold count\n\nafter\n\nend\n", encoding="utf-8")
    monkeypatch.setattr(runner, "fingerprint", lambda name: "older")
    runner.run(1, 1.0)
    monkeypatch.setattr(runner, "fingerprint", lambda name: "newer")
    assert runner.of_today(runner.read()) == []
    assert runner.write() == 0
    assert "old count" in runner.PAGE.read_text(encoding="utf-8")
    runner.run(2, 1.0)
    runner.run(2, 0.0)
    assert [(row["plan"], row["code"]) for row in runner.read()] == [(0, "newer"), (1, "newer")]
    assert runner.write() == 0
    page = runner.PAGE.read_text(encoding="utf-8")
    assert page.endswith("| all | 2 | 0 | 0 | 0 | | | |\n\n" + runner.told(runner.read()) + "\n\nafter\n\nend\n")
    assert runner.told(runner.read()) == "2 plans were judged with the accountant `newer`; none is wider."


def test_an_answer_far_below_the_largest_loss_is_found() -> None:
    """Rényi's best order is infinite here; a tilt after it sees only the largest losses."""
    one = Subsample(0.25555, release(DiscreteLaplace(0.444286475919673, 1.0)))
    whole = plan(Repeat(one, 21), relation=REPLACE_ONE)
    bound = account(whole, delta=2.113e-05)
    assert bound.upper - bound.lower <= 1e-6 * bound.upper
    assert account(whole, epsilon=bound.upper).upper == pytest.approx(2.113e-05, rel=1e-4)


def test_rare_losses_far_below_do_not_widen_the_window() -> None:
    """Sampled noise seen from the second side: nearly no loss, but a few far below."""
    rare, often = release(Gaussian(0.5)), release(Gaussian(107.7))
    whole = plan(Repeat(Subsample(0.9639, often), 19), Repeat(Subsample(4.572e-4, rare), 595))
    bound = account(whole, delta=2.008e-15)
    assert bound.upper - bound.lower <= 1e-6 * bound.upper
