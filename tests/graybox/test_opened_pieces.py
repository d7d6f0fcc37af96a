"""Single steps of the replay of foreign code: releases compared, what dice explain, and the budget of a run."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from refdp.accounting.gaussian import delta as gaussian_delta
from refdp.audit import opened_evidence, opened_replay
from refdp.audit.charge import Cost
from refdp.audit.opened_evidence import Run
from refdp.audit.opened_laws import NoiseCall, PermuteAndFlip, Unknown
from refdp.audit.opened_runs import OTHER, Seeded
from refdp.audit.replay import Violation
from refdp.errors import ImpossibleReplay, InvalidParameter
from refdp.noise.mechanisms import Exponential, Gaussian, Laplace
from refdp.privacy.events import Relation

ADD = Relation.ADD_REMOVE
LAPLACE, GAUSSIAN, ABSENT = Laplace(2.0), Gaussian(1.5), Unknown("numpy", (0.0,), absent=True)
HIDDEN = Unknown("other", (1.0, 2.0))


def entry(name: str, value: Any, output: Any = 0.0, index: Any = None) -> Any:
    given = None if value is None else np.atleast_1d(np.asarray(value, dtype=np.float64))
    return SimpleNamespace(
        request=SimpleNamespace(name=name), value=given, output=np.atleast_1d(np.asarray(output, float)), index=index
    )


def call(law: Any, bound: Any = 1.0, norm: Any = 1, epsilon: Any = 0.5, delta: float = 0.0) -> Any:
    return SimpleNamespace(law=law, bound=bound, norm=norm, epsilon=epsilon, delta=delta)


def recording(entries: list[Any], calls: list[Any], returned: Any = None) -> Any:
    return SimpleNamespace(
        transcript=SimpleNamespace(entries=entries), calls=calls, returned=returned or [None] * len(calls)
    )


def both(*lines: tuple[str, Any, Any, Any, Any]) -> tuple[Any, Any]:
    """Recordings of two sides: name, value, the other value, output, call."""
    calls = [line[4] for line in lines]
    return tuple(recording([entry(line[0], line[side], line[3]) for line in lines], calls) for side in (1, 2))  # type: ignore[return-value]


LINES = (
    ("same", [1.0, 2.0], [1.0, 2.0], [3.0, 1.0], call(LAPLACE)), ("moved", [1.0, 2.0], [0.0, 4.0], [3.0, 1.0],
    call(LAPLACE, 3.0)),
    ("odd", [math.nan], [1.0], 0.0, call(LAPLACE)), ("none", None, [1.0], 0.0, call(LAPLACE)), ("late", [1.0], None,
    0.0, call(LAPLACE)),
    ("normal", [1.0], [3.0], [0.5], call(GAUSSIAN, None, 2)), ("both odd", [math.nan], [math.nan], 0.0, call(LAPLACE)),
)  # fmt: skip


def test_finite_changes_are_told_with_their_losses() -> None:
    (first, law), (second, other) = opened_replay._changes(*both(*LINES))
    assert (first.name, first.law, first.declared, first.observed) == ("moved", str(LAPLACE), 3.0, 3.0)
    assert first.loss == pytest.approx((3 - 2) / 2 + (3 - 1) / 2) and first.worst == pytest.approx(1.5)
    assert first.order2 == pytest.approx(LAPLACE.divergence([1.0, 2.0], [0.0, 4.0], 2.0)) and law[0] is LAPLACE
    assert (
        (second.name, second.observed) == ("normal", 2.0) and math.isnan(second.declared) and math.isinf(second.worst)
    )
    assert (
        second.loss == pytest.approx((2.5**2 - 0.5**2) / 2 / 2.25)
        and other[1].tolist() == [1.0]
        and other[2].tolist() == [3.0]
    )
    table = np.array([[0.0, 1.0]])
    chosen = [recording([SimpleNamespace(request=SimpleNamespace(name="c"), value=one, output=np.array([[1.0]]),
        index=np.array([1]))],
                        [call(Exponential(1.0), 1.0, "range")]) for one in (table, table[:, ::-1])]  # fmt: skip
    ((choice, _),) = opened_replay._changes(*chosen)
    assert choice.loss == pytest.approx(1.0) and choice.observed == 2.0


def told(found: Any) -> list[tuple[Any, ...]]:
    return [(one.kind, one.release, one.declared, one.observed, one.loss) for one in found]


def test_what_is_wrong_with_single_releases() -> None:
    lines = [("fine", 1.0, 2.0, 0.0, call(LAPLACE, 1.0)), ("far", 1.0, 2.5, 0.0, call(LAPLACE, 1.0)),
             ("rounded", 1.0, 2.0 + 1e-9, 0.0, call(LAPLACE, 1.0)), ("odd", [math.nan], [1.0], 0.0, call(LAPLACE)),
             ("both odd", [math.nan], [math.nan], 0.0, call(LAPLACE)), ("endless", [math.inf], [1.0], 0.0,
             call(LAPLACE)),
             ("bare", 1.0, 2.0, 0.0, call(ABSENT, None)), ("bare same", 1.0, 1.0, 0.0, call(ABSENT, None)),
             ("hidden", 1.0, 2.0, 0.0, call(HIDDEN, None)), ("small", 1.0, 1.0, 0.0, call(Laplace(1.0), 1.0)),
             ("just", 1.0, 1.0, 0.0, call(Laplace(2.0 * (1 - 1e-9)), 1.0)), ("none", 1.0, 1.0, 0.0, call(LAPLACE,
             None))]  # fmt: skip
    found = list(opened_replay._broken(*both(*lines), {"pair": 1}))
    assert told(found) == [
        ("sensitivity", "far", 1.0, 1.5, 0.75), ("NaN", "odd", 0.0, math.inf, math.inf), ("NaN", "endless", 0.0,
        math.inf, math.inf),
        ("noise", "bare", 0.5, math.inf, math.inf), ("noise", "small", 0.5, 1.0, 1.0),
    ]  # fmt: skip
    assert all(one.witness == {"pair": 1} for one in found) and found[0].claim == str(LAPLACE)


def test_the_cost_of_what_a_call_declares() -> None:
    cost = opened_replay.own_cost
    for gone in (call(LAPLACE, None), call(LAPLACE, epsilon=None), call(HIDDEN)):
        assert cost(gone) is None
    assert cost(call(LAPLACE, 3.0)) == (0.5, 1.5)
    assert cost(call(LAPLACE, 3.0, delta=0.1)) == (pytest.approx(0.5 - math.log(0.9)), 1.5)
    assert cost(call(Gaussian((3.0, 1.5)), 3.0, 2, 0.5, 0.01)) == (0.01, pytest.approx(gaussian_delta(2.0, 0.5)))
    assert cost(call(Exponential(2.0), 0.25, "range")) == (0.5, 0.5)


def violation(kind: str, release: str) -> Violation:
    return Violation(kind, release, None, None, None, "", {})


def run(result: dict[str, Any], value: float = 1.0, law: Any = LAPLACE, name: str = "a") -> Run:
    return Run(recording([entry("first", None), entry(name, value)], [call(law)]), result)


def test_places_that_differ_with_other_dice_accuse_nobody() -> None:
    """Of results one by one; of releases where a call of unknown law was made, but never what is of one run alone."""
    known, hidden = run({"": 1.0, "x": math.nan, "y": 2}), run({"": 1.0, "x": math.nan, "y": 2}, law=HIDDEN)
    same, other = run({"": 1.0, "x": math.nan, "y": 2}), run({"": 3.0, "x": 0.0, "y": 2}, value=9.0)
    results = [violation("result", "returned value"), violation("result", "x"), violation("result", "y")]
    single = [violation("noise", "a"), violation("sensitivity", "a"), violation("sampler", "a"), violation("budget",
        "whole run"),
              violation("sensitivity", "b")]  # fmt: skip

    def kept(found: list[Violation], recorded: Run, *runs: Any) -> list[tuple[str, str]]:
        left, words = opened_evidence.without_dice(found, recorded, lambda: runs)
        assert len(words) == len(found) - len(left)
        assert all("also differs between runs on the same records with the same outputs" in word for word in words)
        return [(one.kind, one.release) for one in left]

    every = [(one.kind, one.release) for one in results + single]
    assert kept(results + single, known, same, same) == every
    assert kept(results + single, known, same, other) == [("result", "y"), *every[3:]]
    assert kept(results + single, known, same, OSError()) == every[3:]
    assert kept(single, hidden, same, other) == [("noise", "a"), ("sampler", "a"), ("sensitivity", "b")]
    assert kept(single, hidden, OSError()) == [("noise", "a"), ("sampler", "a")]
    assert kept(single, hidden, same) == every[3:]

    def never() -> Any:
        raise AssertionError

    assert opened_evidence.without_dice(single, known, never) == (single, set())
    assert opened_evidence.without_dice(single[:1], hidden, never) == (single[:1], set())
    assert opened_evidence._moved(run({}, math.nan), run({}, math.nan), "a") is False


def test_items_losses_and_outputs_of_two_recordings() -> None:
    recorded, replayed = both(
        *LINES, ("moved", [5.0], [5.5], [1.0], call(LAPLACE)), ("hidden", [1.0], [2.0], 0.0, call(HIDDEN))
    )
    items = opened_evidence.items_of(recorded, replayed)
    assert list(items) == [("moved", 0), ("normal", 0), ("moved", 1)]
    assert (
        items["moved", 1].value.tolist() == [5.0]
        and items["moved", 1].other.tolist() == [5.5]
        and items["normal", 0].mechanism is GAUSSIAN
    )
    moved, normal = both(LINES[1], LINES[5]), both(LINES[5])
    assert opened_evidence.attained(*normal) == pytest.approx(6.0 / 2 / 2.25)
    assert opened_evidence.attained(*moved) == pytest.approx(1.5 + 6.0 / 2 / 2.25)
    assert (
        opened_evidence.attained(*both(LINES[0], ("hidden", [1.0], [2.0], 0.0, call(HIDDEN)), LINES[3], LINES[4]))
        == 0.0
    )
    endless = SimpleNamespace(loss=lambda value, other, output: np.array([math.inf]))
    assert opened_evidence.attained(*both(LINES[1], ("bare", [0.0], [1.0], 0.0, call(endless)))) == 0.0
    back = both(("moved", [0.0, 4.0], [1.0, 2.0], [3.0, 1.0], call(LAPLACE)))
    assert opened_evidence.attained(*back) == pytest.approx(1.5)
    recorded.returned[1] = "kept"
    led = opened_evidence.lossy(recorded, replayed, False)
    assert (
        [one[0] for one in led] == [line[0] for line in LINES] + ["moved", "hidden"]
        and led[1][2] == "kept"
        and led[0][2] is None
    )
    assert [place for place, one in enumerate(led) if one[1] is not None] == [1, 5, 7]
    for reverse in (False, True):
        output = opened_evidence.lossy(recorded, replayed, reverse)[1][1]
        assert output is not None and abs(LAPLACE.loss([1.0, 2.0], [0.0, 4.0], output).sum()) == pytest.approx(1.5)
        assert bool(LAPLACE.loss([1.0, 2.0], [0.0, 4.0], output).sum() < 0) is reverse


def test_same_values_throughout() -> None:
    one, other = both(LINES[0], LINES[5])
    assert opened_evidence.same_values(one, one) and not opened_evidence.same_values(one, other)
    assert not opened_evidence.same_values(*both(LINES[0])[:1], recording([], []))
    missing = both(LINES[3])
    assert not opened_evidence.same_values(missing[0], missing[0]) and opened_evidence.same_values(
        recording([], []), recording([], [])
    )


def test_losses_of_a_run_in_all() -> None:
    releases = list(opened_replay._changes(*both(LINES[1], ("back", [0.0], [1.0], [2.0], call(LAPLACE)))))
    assert opened_replay._total(releases, 1.0, 0.0, ADD) == (pytest.approx(1.0), pytest.approx(2.0), Cost(0.0, 0.0))
    hidden = list(opened_replay._changes(*both(LINES[1], ("h", [0.0], [1.0], [2.0], call(HIDDEN)))))
    assert opened_replay._total(hidden, 1.0, 0.0, ADD)[:2] == (pytest.approx(1.5), pytest.approx(1.5))
    normal = list(opened_replay._changes(*both(LINES[5])))
    exact = gaussian_delta(2 / 1.5, 1.0)
    loss, worst, cost = opened_replay._total(normal, 1.0, exact / 2, ADD)
    assert (
        loss == pytest.approx(4 / 3)
        and math.isinf(worst)
        and cost.lower == pytest.approx(exact, rel=1e-3) == cost.upper
    )
    table = np.array([[0.0, 1.0]])
    flip = [recording([SimpleNamespace(request=SimpleNamespace(name="c"), value=one, output=np.array([[1.0]]),
        index=np.array([1]))],
                      [call(PermuteAndFlip(1.0), 1.0, "range")]) for one in (table, table[:, ::-1])]  # fmt: skip
    flipped = list(opened_replay._changes(*flip))
    spent = flipped[0][0].worst
    assert 0.5 < spent < 2
    both_of = opened_replay._total(normal + flipped, 1.0 + spent, exact / 2, ADD)[2]
    assert both_of.upper == pytest.approx(exact, rel=1e-3) and both_of.lower < exact
    assert opened_replay._total(normal + flipped, spent / 2, 0.1, ADD)[2].upper == 1.0


def test_a_budget_is_exceeded_by_what_outputs_attain() -> None:
    def over(total: Any, epsilon: float, delta: float, paths: Any) -> list[tuple[Any, ...]]:
        return told(opened_replay._over_budget(total, epsilon, delta, {}, ADD, iter(paths)))

    paths = [tuple(Run(one, {}) for one in pair) for pair in (both(LINES[0]), both(LINES[1]), both(LINES[5]))]
    none = Cost(0.0, 0.0)
    assert over((0.5, 2.0, none), 2.0, 0.0, paths) == [] and over((0.5, 1.0, none), 2.0, 0.0, paths) == []
    assert over((0.5, 1.6, none), 1.5, 0.0, paths) == []
    assert over((0.5, 1.6, none), 1.4, 0.0, paths) == [("budget", "whole run", 1.4, 1.5, 1.5)]
    assert over((1.7, 1.8, none), 1.4, 0.0, []) == [("budget", "whole run", 1.4, 1.7, 1.7)]
    assert over((0.5, 0.0, Cost(0.1, 0.2)), 1.4, 0.0, paths) == [("budget", "whole run", 1.4, 1.5, 1.5)]
    exact = gaussian_delta(2 / 1.5, 1.0)
    normal = [paths[2], paths[2]]
    assert over((1.0, 2.0, Cost(exact, 1.0)), 1.0, exact * 1.01, normal) == []
    assert over((1.0, 2.0, Cost(exact / 9, 1.0)), 1.0, exact / 2, normal) == []
    ((kind, release, declared, observed, loss),) = over((1.0, 2.0, Cost(exact, 1.0)), 1.0, exact / 2, normal)
    assert (kind, release, declared, loss) == ("budget", "whole run", exact / 2, 1.0) and observed == pytest.approx(
        exact, rel=1e-3
    )
    assert over((1.0, 2.0, Cost(exact, 1.0)), 1.0, exact / 2, [paths[2], paths[0]]) == []


def test_results_are_compared_place_by_place() -> None:
    first = {"": 1.0, "a": "x" * 90, "b": math.nan, "c": 2, "d": 1e9}
    second = {"": 1.0, "a": "y", "b": math.nan, "c": 3, "d": 1e9 * (1 + 1e-6), "e": math.inf}
    found = opened_replay._differing_results(first, second, 0.0, {"pair": 3})  # type: ignore[arg-type]
    assert [one.release for one in found] == ["a", "c", "d", "e"] and {one.witness["places"] for one in found} == {4}
    assert (
        found[0].witness == {"pair": 3, "first": "x" * 80, "second": "y", "places": 4}
        and found[3].witness["second"] == "inf"
    )
    assert found[3].witness["first"] is None and told(found)[0] == ("result", "a", 0.0, math.inf, math.inf)
    assert [one.release for one in opened_replay._differing_results(first, second, 1e-6, {})] == ["a", "c", "e"]  # type: ignore[arg-type]
    whole = opened_replay._differing_results({"": 1.0}, {"": 2.0}, 0.0, {})
    assert whole[0].release == "returned value"
    many = opened_replay._differing_results({str(k): 1.0 for k in range(30)}, {}, 0.0, {})
    assert len(many) == 20 and many[0].witness["places"] == 30
    equal = opened_replay._equal
    assert (
        equal(0.5, 0.75, 0.25) and not equal(0.5, 0.75, 0.2) and equal(100.0, 90.0, 0.1) and not equal(100.0, 89.0, 0.1)
    )
    assert (
        equal(-90.0, -100.0, 0.1)
        and equal(math.inf, math.inf, 0.1)
        and equal(math.nan, math.nan, 0.1)
        and not equal(1, 2, 5.0)
    )
    assert not equal(math.nan, 1.0, 0.1) and not equal(1.0, math.nan, 0.0) and not equal(None, 1.0, 0.0)


def test_samplers_whose_noise_is_too_small() -> None:
    """Exact distributions of the sums; names without their lines are one group."""

    def drawn(law: Any, sizes: list[float], name: str = "f at g.py:3") -> Any:
        return recording([entry(name, [1.0] * 4, np.asarray(sizes[k : k + 4]) + 1.0) for k in range(0, len(sizes), 4)],
                         [call(law)] * (len(sizes) // 4))  # fmt: skip

    small = [0.02, -0.02, 0.04, -0.04] * 3
    (found,) = opened_replay._samplers([drawn(LAPLACE, small[:8]), drawn(LAPLACE, small[8:], "f at h.py:9")])
    chance = stats.gamma.cdf(12 * 0.015, 12)
    assert (found.kind, found.release, found.declared) == (
        "sampler",
        "f (Laplace)",
        1.0,
    ) and found.claim == "scales of noise"
    assert found.observed == pytest.approx(0.015) and found.witness == {"draws": 12, "p-value": pytest.approx(chance)}
    (found,) = opened_replay._samplers([drawn(Gaussian(2.0), small * 2)])
    assert found.release == "f (Gaussian)" and found.observed == pytest.approx(math.sqrt(0.00025))
    assert found.witness == {"draws": 24, "p-value": pytest.approx(stats.chi2.cdf(24 * 0.00025, 24), rel=1e-6)}
    assert not list(opened_replay._samplers([drawn(LAPLACE, [1.0, -2.0, 3.0, 0.5])])) and not list(
        opened_replay._samplers([])
    )
    assert not list(opened_replay._samplers([drawn(HIDDEN, small), drawn(LAPLACE, small[:4])]))
    odd = drawn(LAPLACE, small)
    for one in odd.transcript.entries[1:]:
        one.value[0] = math.nan
    odd.transcript.entries[0].value = None
    assert not list(opened_replay._samplers([odd]))
    assert opened_replay.SAMPLER_ALARM == 1e-9


class Fake:
    """A trainer whose runs are listed."""

    seed = 5

    def __init__(self, *runs: Any) -> None:
        self.runs, self.asked = list(runs), list[Any]()

    def run(self, data: Any, replay: Any = None, **named: Any) -> Any:
        self.asked.append((data, replay, named))
        return self.runs.pop(0)


def test_a_run_and_its_replay_or_how_they_part() -> None:
    one, two = run({}), run({})
    assert Seeded.both(Fake(one, two), "a", "b") == (one, two)  # type: ignore[arg-type]
    fake = Fake(one, ImpossibleReplay("r", "shape", "d" * 400))
    recorded, parted = Seeded.both(fake, "a", "b")  # type: ignore[arg-type, misc]
    assert recorded is one and isinstance(parted, Violation) and (parted.kind, parted.release) == ("shape", "r")
    assert parted.witness == {"detail": "d" * 300} and fake.asked == [("a", None, {}), ("b", one.recording, {})]
    found: Any = Seeded.both(Fake(one, OSError("e" * 400)), "a", "b")  # type: ignore[arg-type]
    assert (
        found[1].kind == "error"
        and found[1].release == "on one side only"
        and found[1].witness["detail"] == ("OSError: " + "e" * 400)[:300]
    )
    alone: Any = Seeded.both(Fake(OSError("x"), two), "a", "b")  # type: ignore[arg-type]
    assert alone.kind == "error" and alone.witness == {"detail": "OSError: x"}
    with pytest.raises(OSError, match="first"):
        Seeded.both(Fake(OSError("first"), OSError("second")), "a", "b")  # type: ignore[arg-type]


def test_paths_lead_to_greater_losses_and_then_to_other_dice() -> None:
    first, second = (Run(one, {}) for one in both(LINES[1]))
    third, fourth = (Run(one, {}) for one in both(("moved", [1.0, 2.0], [0.0, 9.0], [3.0, 1.0], call(LAPLACE))))
    fake = Fake(
        third, fourth, third, fourth, first, second, third, OSError(), *[first, second] * 2, OSError(), third, fourth
    )
    found = list(Seeded.paths(fake, "a", "b", first, second))  # type: ignore[arg-type]
    assert found[:3] == [(first, second), (third, fourth), (third, fourth)]
    led = [named["led"] for _, _, named in fake.asked if "led" in named]
    assert [one[0][1].tolist() for one in led[:2]] == [opened_evidence.lossy(a.recording, b.recording,
        False)[0][1].tolist()  # type: ignore[union-attr]
                                                       for a, b in ((first, second), (third, fourth))]  # fmt: skip
    seeds = [named["seed"] for _, _, named in fake.asked if "seed" in named]
    assert seeds[:2] == [5 + OTHER] * 2 and set(seeds) == {5 + k * OTHER for k in range(1, 5)}
    assert OTHER == 1_000_003


def test_errors_of_input() -> None:
    with pytest.raises(InvalidParameter, match="at least one pair"):
        opened_replay.audit_opened(lambda data: 1, [], epsilon=1.0)
    for given in ({"epsilon": -1.0}, {"epsilon": 1.0, "delta": 1.0}, {"epsilon": 1.0, "delta": -0.5}):
        with pytest.raises(InvalidParameter, match="delta" if "delta" in given else "epsilon"):
            opened_replay.audit_opened(lambda data: 1, [], **given)
    with pytest.raises(opened_replay.NothingOpened, match="no noise function was called"):
        opened_replay.audit_opened(lambda data: 1, [([1], [2])], epsilon=0.0)
    assert NoiseCall is not None
