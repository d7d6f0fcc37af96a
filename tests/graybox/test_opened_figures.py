"""Figures of whole reports on foreign code, and what single noise calls say, return and cost."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import opened_replay
from refdp.audit.opened_door import Patch, noise
from refdp.audit.opened_laws import NoiseCall, PermuteAndFlip, Unknown
from refdp.audit.opened_replay import audit_opened
from refdp.audit.opened_runs import Claimed, Seeded
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Exponential, Laplace
from refdp.privacy.events import Relation, Sensitivity
from tests.audit.pinned import digest
from tests.graybox import foreign

ROWS = np.array([0.0, 0.25, 0.5, 0.5, 1.0, 0.25])
PAIRS = [(ROWS, np.append(ROWS, 1.0)), (ROWS, np.append(ROWS, 0.25))]


def _laplace(arguments: dict[str, Any]) -> NoiseCall:
    mechanism = arguments["self"]
    return NoiseCall(
        Laplace(mechanism.scale), np.array([float(arguments["value"])]), mechanism.sensitivity, 1, mechanism.epsilon
    )


LIBRARY = [Patch(foreign.LaplaceNoise, "randomise", _laplace), Patch(foreign.SmallerThanItSays, "randomise", _laplace)]


def figures(report: Any) -> Any:
    """Numbers and verdicts of a report, without places in files."""
    told = [[one.kind, one.declared, one.observed, one.loss, one.witness.get("pair"), one.witness.get("recorded on")]
            for one in report.violations]  # fmt: skip
    seen = [[one.declared, one.observed, one.loss, one.worst, one.order2] for one in report.releases]
    return [report.epsilon, report.claimed_delta, report.runs, report.calls, report.loss, report.worst, report.delta,
        report.known,
            seen, told, str(report.verdict), str(report.floating), len(report.bits), len(report.dice),
                report.opaque[1]]  # fmt: skip


def test_figures_of_a_correct_function() -> None:
    report = audit_opened(foreign.total_right, PAIRS, LIBRARY, epsilon=0.5)
    assert (report.runs, report.calls, report.delta, report.worst, report.known) == (
        4,
        4,
        0.0,
        pytest.approx(0.5),
        pytest.approx(0.5),
    )
    assert 0 < report.loss <= 0.5 and not report.violations and len(report.bits) == 1 and not report.dice
    without = audit_opened(foreign.total_right, PAIRS, LIBRARY, epsilon=0.5, last_bits=False)
    assert without.bits == () and without.loss == report.loss
    assert audit_opened(foreign.total_right, PAIRS, LIBRARY, epsilon=0.5, seed=8).loss != report.loss
    assert report.relation is Relation.ADD_REMOVE


@pytest.mark.parametrize(
    ("function", "recorded"),
    [(foreign.total_right, "115cfb96a055"), (foreign.spent_twice, "7699d1ea803f"), (foreign.mean_by_exact_count,
    "abde16cd3ecc"),
     (foreign.stops_early, "3a8368ca3844"), (foreign.histogram_of_seen, "b0a30a7ea6a5"),
     (foreign.mean_of_data_sensitivity, "9ecde0673508")],
)  # fmt: skip
def test_seeded_reports_are_as_recorded(function: Callable[..., Any], recorded: str) -> None:
    """A record of what seeds give, no truth: which violations, with which figures, on which pair and side."""
    found = digest(figures(audit_opened(function, PAIRS, LIBRARY, epsilon=0.5, seed=3)))
    assert found == recorded


def test_a_seeded_report_with_a_delta_is_as_recorded() -> None:
    """A record, no truth: Gaussian noise and a choice together, within the budget of one claim and not of another."""
    gauss = noise("gaussian", scale="sd", sensitivity="sensitivity", epsilon=0.5, delta=1e-5)(foreign.gauss)
    choose = noise("exponential", value="utilities", scale="coefficient", sensitivity="sensitivity")(foreign.choose)

    def both(rows: Any) -> Any:
        cells = np.array([(rows < 0.5).sum(), (rows >= 0.5).sum()], dtype=float)
        return gauss(cells, 8.1, 1.0), choose(cells.tolist(), 0.25, 1.0)

    kept, broken = (
        audit_opened(both, PAIRS[:1], epsilon=epsilon, delta=1e-5, last_bits=False) for epsilon in (0.75, 0.3)
    )
    assert not kept.violations and [one.kind for one in broken.violations] == ["budget"]
    assert digest([figures(kept)[:8], figures(broken)[:8]]) == "cf2f24c76ff1"


def test_seeds_of_runs_and_of_other_dice(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[float, float]] = []

    def train(rows: Any) -> float:
        import random

        drawn.append((random.random(), float(np.random.random())))  # noqa: NPY002
        rows[0] = 9.0  # a copy
        return foreign.total_right(rows)

    given = Seeded(Claimed(train, (LIBRARY,), Relation.ADD_REMOVE, lambda result: {"a": result}), 11)
    records = ROWS.copy()
    first, second, third = given.run(records), given.run(records), given.run(records, seed=12)
    assert drawn[0] == drawn[1] != drawn[2] and records[0] == 0.0
    assert (
        isinstance(first, opened_replay.Run)
        and isinstance(third, opened_replay.Run)
        and list(first.result) == ["['a']", "types and layouts"]
    )
    assert isinstance(second, opened_replay.Run) and first.result == second.result != third.result
    one, two = given.with_other_dice(records, first)()
    assert isinstance(one, opened_replay.Run) and one.result == first.result and drawn[3] != drawn[4]
    assert isinstance(two, opened_replay.Run) and two.result == first.result
    failing = Seeded(Claimed(lambda rows: 1 / 0, (LIBRARY,), Relation.ADD_REMOVE, lambda result: result), 11)
    assert isinstance(failing.run(records), ZeroDivisionError)


# --- Laws -------------------------------------------------------------------------------------------------------------


def flipped(utilities: list[float], coefficient: float) -> list[float]:
    """Permute-and-flip by trying all orders of the options."""
    top, size = max(utilities), len(utilities)
    chances = [0.0] * size
    for order in itertools.permutations(range(size)):
        left = 1.0 / math.factorial(size)
        for option in order:
            taken = math.exp(coefficient * (utilities[option] - top))
            chances[option] += left * taken
            left *= 1 - taken
    return chances


@pytest.mark.parametrize("coefficient", [0.3, 2.0])
def test_permute_and_flip_is_its_enumeration(coefficient: float) -> None:
    law = PermuteAndFlip(coefficient)
    for size in (2, 3, 4, 5):
        value, other = np.random.default_rng(size).normal(size=(2, 3, size))
        p, q = (np.array([flipped(row.tolist(), coefficient) for row in side]) for side in (value, other))
        assert np.exp(law.log_probabilities(value)) == pytest.approx(p)
        chosen = np.array([0, size - 1, 1])
        assert law.loss(value, other, chosen) == pytest.approx(
            [math.log(p[k, c] / q[k, c]) for k, c in enumerate(chosen)]
        )
        assert law.worst_loss(value, other) == pytest.approx(np.log(p / q).max(axis=1))
        assert law.worst_output(value, other).tolist() == np.argmax(p / q, axis=1).tolist()
        for order in (2.0, 3.5):
            exact = np.log((p**order * q ** (1 - order)).sum(axis=1)).sum() / (order - 1)
            assert law.divergence(value, other, order) == pytest.approx(exact)
        assert law.observed_change(value, other, "range") == Exponential(coefficient).observed_change(
            value, other, "range"
        )
    declared = Sensitivity(1.5, "range", "", Relation.ADD_REMOVE)
    assert law.pure_cost(declared) == 1.5 * coefficient
    with pytest.raises(InvalidParameter):
        PermuteAndFlip(0.0)


def test_noise_of_unknown_law() -> None:
    law, none = Unknown("numpy.random.f", (1.0, 0.25)), Unknown("f", (), absent=True)
    assert str(law) == "numpy.random.f(1, 0.25), of unknown law" and str(none) == "f: no noise"
    assert (
        math.isnan(law.loss(0, 1, 2))
        and math.isnan(law.worst_loss(0, 1))
        and none.loss(0, 1, 2) == none.worst_loss(0, 1) == math.inf
    )
    assert math.isnan(none.divergence(0, 1, 2.0)) and math.isnan(
        none.pure_cost(Sensitivity(1.0, 1, "", Relation.ADD_REMOVE))
    )
    assert (
        law.observed_change([1.0, 5.0], [4.0, 1.0], 2) == 5.0 and law.observed_change([1.0, 5.0], [4.0, 1.0], 1) == 7.0
    )


def test_outputs_in_what_calls_return() -> None:
    value = np.array([1.0, 2.0])
    plain, apart = (NoiseCall(Laplace(1.0), value, 1.0, 1, apart=apart) for apart in (False, True))
    assert (
        plain.answer([3.0, 5.0]).tolist() == [3, 5]
        and apart.answer([3.0, 5.0]).tolist() == [4, 7]
        and plain.answer(3).tolist() == [3]
    )
    index = NoiseCall(Exponential(1.0), value[None], 1.0, "range")
    named = NoiseCall(Exponential(1.0), value[None], 1.0, "range", options=("a", "b"))
    assert (
        index.answer(1).tolist() == [1]
        and index.answer([1, 0]).tolist() == [1, 0]
        and named.answer("b").tolist() == [1]
    )
    read = NoiseCall(Laplace(1.0), value, 1.0, 1, read=lambda returned: returned * 2)
    assert read.answer(4) == 8
    installed = NoiseCall(
        Laplace(1.0), value, 1.0, 1, read=lambda returned: returned, install=lambda output: ("put", output)
    )
    assert installed.giving(value, None)[0] == "put"
    for call, given in ((plain, None), (named, "c")):
        with pytest.raises(InvalidParameter, match=r"returned None|none of the 2 options"):
            call.answer(given)
    with pytest.raises(InvalidParameter, match="cannot be made"):
        read.giving(value, 1.0)
    assert index.giving(np.array([1.0]), 0) == 1 and named.giving(np.array([0]), "b") == "a"
    assert plain.giving(np.array([3.0, 4.0]), np.zeros((2, 1), np.float32)).tolist() == [[3], [4]]
    assert plain.giving(np.array([3.0, 4.0]), np.zeros((2, 1), np.float32)).dtype == np.float32
    assert (
        apart.giving(np.array([3.0, 4.0]), [0.0, 0.0]).tolist() == [2, 2] and plain.giving(np.array([3.5]), 1.0) == 3.5
    )
    assert type(plain.giving(np.array([3.0]), 7)) is int and apart.giving(np.array([3.0, 9.0]), 0.5) == 2.0


def test_results_may_differ_by_as_much_as_outputs_that_no_noise_leads_to() -> None:
    def made(*outputs: float, apart: bool = True) -> Any:
        entries = [SimpleNamespace(output=np.array([one])) for one in outputs]
        return SimpleNamespace(
            transcript=SimpleNamespace(entries=entries), calls=[SimpleNamespace(apart=apart)] * len(outputs)
        )

    missed = opened_replay._missed
    assert missed(made(1.0, 4.0, np.nan), made(1.0, 4.0 + 2**-49, np.nan)) == 2**-51
    assert missed(made(1.0, apart=False), made(2.0, apart=False)) == 0.0
    assert missed(made(0.0), made(1e-17)) == missed(made(1.0), made(2.0)) == 1e-11
    near = opened_replay._nearly_equal
    one, size = {"a": 3.0, "b": 1e9, "c.left": 1.0, "c": 2.0, "d": "x"}, 3.0
    for moved, room, told in ((16 * 2**-51, 0.0, []), (17 * 2**-51, 0.0, ["a"]), (17 * 2**-51, 2**-51, []),
                              (1e-8, 1e-11, ["a"]), (1.0, 0.0, [])):  # fmt: skip
        assert list(near(one, one | {"a": size + moved}, 1e-7, room)) == told
    assert list(near(one, one | {"b": 1e9 + 1, "c.left": 2.0, "d": "y"}, 1e-7, 0.0)) == ["b", "c.left"]
    assert list(near(one, one | {"b": 1e9 + 1}, 0.0, 0.0)) == []
