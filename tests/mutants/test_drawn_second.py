"""Places where mistakes of a second draw lived on, and what stands beside them."""

from __future__ import annotations

import atexit
import math
import os
import sys
import tempfile
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.accounting import budgets, curves
from refdp.accounting.conversion import epsilons
from refdp.audit import charge, isolated
from refdp.audit.attained import Led
from refdp.audit.charge import Item
from refdp.audit.search import Notes
from refdp.audit.trainer_rows import _counts
from refdp.audit.verdicts import Verdict
from refdp.conform.client import Client
from refdp.conform.judge import judge
from refdp.data import candidates, sketch
from refdp.data.records import Categorical, Classes, Numeric, Schema
from refdp.noise.calibration import before_sampling
from refdp.noise.mechanisms import Exponential, Gaussian, Laplace
from refdp.own import grove
from refdp.privacy.curator import EVERYWHERE, Entry, Request, Transcript
from refdp.privacy.events import Relation
from refdp.privacy.replay import RecordSwap

# --- Audits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "sides", "first", "second"),
    [({3, 49}, {True, False}, False, True), ({3, 50}, {True}, True, False), ({51}, {False}, True, False)],
)
def test_numbers_of_records_and_sides_that_were_looked_at(
    sizes: set[int], sides: set[bool], first: bool, second: bool
) -> None:
    """Fifty records are one of the numbers from 50 on; both directions are needed."""
    rows = list(_counts(Notes(sizes=sizes, sides=sides)))
    assert [row.verdict is Verdict.NOT_FOUND for row in rows] == [first, second]
    assert f"from {min(sizes)} to {max(sizes)}" in rows[0].reason
    assert f"{len(sizes)} number" in rows[0].reason


def test_the_least_change_of_paths_coordinate_by_coordinate() -> None:
    """Of Laplace noise the sizes in order, of different lengths; of other noise whole; equal changes stay."""
    laplace, gaussian = Laplace(1.0), Gaussian(1.0)
    one = Item(laplace, np.array([3.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.0]))
    two = Item(laplace, np.array([0.0, -2.0]), np.array([0.5, 0.0]))
    found = charge._smallest([one, two])
    assert found.value.tolist() == [0.0, 0.0, 0.0] and found.other.tolist() == [0.0, 0.5, 2.0]
    assert charge._smallest([one, Item(laplace, one.other, one.value)]) is one
    large, small = (Item(gaussian, np.array([x, 0.0]), np.zeros(2)) for x in (2.0, 0.5))
    assert charge._smallest([large, small]) is small and charge._smallest([small, large]) is small
    key, other = ("a", 0), ("b", 0)
    assert charge.least([{key: one, other: one}, {key: two}])[0].other.tolist() == [0.0, 0.5, 2.0]
    assert len(charge.least([{key: one}, {key: large}])) == 0
    assert len(charge.least([{key: one, other: one}, {key: one, other: two}])) == 2


def test_questions_about_a_choice_are_finite_and_cost_no_more_than_it() -> None:
    """Two options give randomised response itself; a sure answer the largest loss; equal utilities no question."""
    value, other = np.array([[1.0, 0.0], [2000.0, 0.0], [0.5, 0.5]]), np.array([[0.0, 1.0], [0.0, 2000.0], [0.5, 0.5]])
    found = charge._questions(Exponential(1.0), value, other)
    assert found == pytest.approx([1.0, charge.LARGEST], rel=1e-6) and found[0] <= 1.0 and found[1] <= charge.LARGEST
    three, turned = np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 1.0]])
    weights = [math.e, 1.0, 1.0]
    yes, as_yes = weights[0] / sum(weights), weights[2] / sum(weights)
    meets = as_yes / (yes + as_yes) if yes + as_yes > 1 else (1 - yes) / (2 - yes - as_yes)
    assert charge._questions(Exponential(1.0), three, turned) == pytest.approx([math.log1p(-meets) - math.log(meets)])


def test_the_place_of_runs_is_nobody_elses_and_goes_at_exit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Also when it has gone before, without a word. Its name cannot be taken by another user beforehand."""
    kept: list[Any] = []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(isolated, "_PLACES", {})
    monkeypatch.setattr(atexit, "register", lambda *given, **named: kept.append((given, named)))
    place = isolated.place_of_runs()
    assert place.parent == tmp_path and place.stat().st_mode & 0o077 == 0 and place == isolated.place_of_runs()
    ((function, *given), named) = kept.pop()
    assert kept == [] and given == [place]
    (place / "file").touch()
    for _ in range(2):
        function(*given, **named)
        assert not place.exists()


@pytest.mark.skipif(not isolated.CAN_FORK, reason="no processes of our own here")
def test_a_run_that_makes_runs_leaves_no_place_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(isolated, "_PLACES", {})
    found, why = isolated.in_child(lambda: isolated.in_child(lambda: str(isolated._PLACES[os.getppid()])))
    assert why == "" and found[1] == "" and not Path(found[0]).exists()
    assert list(tmp_path.iterdir()) == [isolated.place_of_runs()]


def test_a_figure_of_errors_shows_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both axes from 0 to 1."""
    pytest.importorskip("matplotlib", reason="the extra plots is not installed")
    from refdp.audit import page
    from refdp.audit.tradeoff import Curve

    seen: list[Any] = []
    real = page.axes_of

    def axes_of(name: str) -> tuple[Any, Any]:
        axes, finish = real(name)
        seen.append(axes)
        return axes, finish

    monkeypatch.setattr(page, "axes_of", axes_of)
    x = np.array([0.2, 0.5])
    page.curve_figure(Curve("x", 0.95, 1000, x, 1 - x, x - 0.1, x + 0.1, 0.9 - x, 1.1 - x, (x, x)), 1.0, 0.0)
    assert seen[0].get_xlim() == seen[0].get_ylim() == (0.0, 1.0)
    drawn = {line.get_label(): line.get_xydata() for line in seen[0].get_lines()}
    assert drawn["measured"].tolist() == [[0.2, 0.8], [0.5, 0.5]]
    assert np.allclose(drawn["guessing"].sum(axis=1), 1.0)


# --- Outputs that attain a loss ---------------------------------------------------------------------------------------


def test_chosen_outputs_are_led_through_a_run_with_its_draws_and_coins() -> None:
    """Of another shape or kind, or no option, they give way to the true value; what does not fit any more to zeros."""
    draw = Request("draw", ("public",), law=("uniform",), size=(2,))
    whole = Request("draw", ("whole",), law=("integers", 9), size=(3,))
    coins = Request("assign", ("rows",), law=("poisson", 0.5), size=3)
    entries = [
        Entry(draw, np.array([0.25, 0.5])),
        Entry(coins, np.array([0, -1, 0])),
        Entry(whole, np.array([4, 5, 6])),
    ]
    recorded = Transcript(Relation.ADD_REMOVE, entries)
    true, noise = np.array([1.0, 2.0]), Laplace(1.0)
    ask = Request("release", ("sums",), true, noise)
    rows = Request("release", ("splits",), np.array([[0.0, 1.0]]), Exponential(1.0), options=np.array([[5.0], [7.0]]))
    given = [np.array([8.0, 9.0]), np.array([8.0]), np.array([8, 9]), np.array([1]), np.array([2])]
    led = Led(given, recorded, RecordSwap(None, 1))
    assert [led.release(ask).tolist() for _ in range(3)] == [[8.0, 9.0], [1.0, 2.0], [1.0, 2.0]]
    assert led.release(rows).tolist() == [1] and led.release(rows).tolist() == [1]
    assert led.release(ask).tolist() == [1.0, 2.0]
    assert led.draw(draw).tolist() == [0.25, 0.5] and led.draw(whole).tolist() == [4, 5, 6]
    assert led.draw(whole).tolist() == [0, 0, 0] and led.draw(whole).dtype == np.int64
    nothing = led.draw(draw)
    assert nothing.tolist() == [0.0, 0.0] and nothing.dtype == np.float64
    assert led.assign(replace(coins, size=4)).tolist() == [0, EVERYWHERE, -1, 0]
    assert led.assign(coins).tolist() == [EVERYWHERE] * 3
    parted = Led([], recorded, RecordSwap(None, None)).assign(replace(coins, size=4))
    assert parted.tolist() == [EVERYWHERE] * 4


# --- Conformance ------------------------------------------------------------------------------------------------------


def test_a_question_longer_than_a_pipe_reaches_a_program_that_reads(tmp_path: Path) -> None:
    path = tmp_path / "reader.py"
    path.write_text(
        "import json, sys\nfor line in sys.stdin:\n    m = json.loads(line)\n    if m['type'] == 'stop': break\n"
        "    print(json.dumps({'supports': []} if m['type'] == 'start' else {'id': m['id'], 'long': len(line)}),"
        " flush=True)\n"
    )
    reader = Client(f"'{sys.executable}' '{path}'", 20.0)
    reader.start()
    try:
        for size in (10, 2**16, 2**20):
            assert reader.run({"id": "x", "input": "x" * size})["long"] > size
    finally:
        reader.stop()
    assert reader.crashes == 0


def test_the_first_difference_is_told() -> None:
    one, two, three = (1.0, 2.0, 3.0)

    def near(value: float) -> float:
        return math.nextafter(value, math.inf)

    test: Any = {
        "result": "valid",
        "expect": {"a": one.hex(), "b": two.hex(), "c": three.hex()},
        "tolerance": {"ulps": 2},
    }

    def judged(*values: float) -> Any:
        return judge(test, "train", {"output": dict(zip("abc", map(float.hex, values), strict=True))})

    assert judged(one, two, three).outcome == "passed"
    close, wrong = judged(one, near(two), near(three)), judged(near(one), 7.0, 8.0)
    assert (close.outcome, close.difference.path, close.difference.got) == ("acceptable", "b", near(two).hex())
    assert (wrong.outcome, wrong.difference.path, wrong.difference.got) == ("failed", "b", (7.0).hex())


# --- Candidates -------------------------------------------------------------------------------------------------------


def test_all_weight_in_one_bin_is_parted_in_the_middle() -> None:
    for bins in (2, 5, 7, 12):
        assert sketch.parted(np.eye(bins)[0] * 3.0, 4).tolist() == [bins // 2]
    assert sketch.parted(np.array([1.0, 0.0, 0.0, 1.0]), 1).tolist() == [3]


def test_a_feature_of_equal_bounds_has_no_thresholds_whatever_is_given() -> None:
    schema = Schema((Numeric("a", 2.0, 2.0), Numeric("b", 0.0, 1.0), Categorical("c", ("x", "y"))), Classes((0, 1)))
    found = candidates.given(schema, {"a": [1.0, 2.0, 3.0], "b": [0.5, 0.25, 0.5]})
    assert [one.tolist() for one in found.thresholds] == [[], [0.25, 0.5], [0.0, 1.0]]


def test_where_nothing_is_numeric_all_categories_are_public_candidates() -> None:
    """Nothing is asked of anybody."""
    schema = Schema((Categorical("c", ("x", "y", "z")), Numeric("a", 2.0, 2.0)), Classes((0, 1)))
    nobody: Any = None
    found = grove.thresholds(grove.Params(1.0, Relation.ADD_REMOVE), schema, nobody, nobody)
    assert [one.tolist() for one in found.thresholds] == [[0.0, 1.0, 2.0], []]
    assert found.public and found.categorical.tolist() == [True, False]


# --- Costs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [0.013, 0.3, 2.7, 41.0])
@pytest.mark.parametrize("delta", [1e-5, 1e-9])
def test_zcdp_is_converted_from_above_and_closely(rho: float, delta: float) -> None:
    """Of orders a of a Rényi curve a rho, with 50 digits: no order gives less, and the best gives hardly less."""
    found = budgets._zcdp(rho, delta)
    with localcontext() as context:
        context.prec = 50

        def exact(a: Decimal) -> Decimal:
            """a rho + log((a - 1)/a) - (log delta + log a)/(a - 1)."""
            return a * Decimal(rho) + ((a - 1) / a).ln() - (Decimal(delta).ln() + a.ln()) / (a - 1)

        least = min(exact(Decimal(float(a))) for a in budgets._ORDERS)
        assert least <= Decimal(found) <= least * (1 + Decimal(2) ** -40)
    floats = float(np.min(epsilons(budgets._ORDERS, rho * budgets._ORDERS, delta)))
    assert Fraction(found) >= Fraction(floats) * (1 + Fraction(1, 2**45))


@pytest.mark.parametrize("epsilon", [1e-9, 0.3, 5.0, 80.0, 499.5, 500.0, 800.0])
@pytest.mark.parametrize("rate", [1e-6, 0.1, 0.75])
def test_what_a_sampled_tree_may_cost(epsilon: float, rate: float) -> None:
    with localcontext() as context:
        context.prec = 60
        truth = (1 + (Decimal(epsilon).exp() - 1) / Decimal(rate)).ln()
    assert before_sampling(epsilon, rate) == pytest.approx(float(truth), rel=1e-13)


@pytest.mark.parametrize("x", [0.01, 0.3, 0.9, 0.999, 1.001, 2.5, 40.0])
def test_a_choices_pair_has_its_curve_in_sinh(x: float) -> None:
    """log(sinh(x)/x), and of it E_Q[R^a] = sinh((a-1/2)e) / ((2a-1) sinh(e/2)), with 60 digits."""
    with localcontext() as context:
        context.prec = 60

        def log_sinhc(of: Decimal) -> Decimal:
            return ((of.exp() - (-of).exp()) / (2 * of)).ln()

        assert float(curves._log_sinhc(np.array([x]))[0]) == pytest.approx(float(log_sinhc(Decimal(x))), rel=1e-13)
        for order in (1.5, 3.0, 17.0):
            wide, half = (Decimal(order) - Decimal("0.5")) * Decimal(x), Decimal(x) / 2
            truth = (log_sinhc(wide) - log_sinhc(half)) / Decimal(order - 1)
            found = float(curves.bounded_range_pair(x, np.array([order]))[0])
            assert float(truth) * (1 - 1e-12) <= found <= float(truth) * (1 + 1e-9) + 1e-15
