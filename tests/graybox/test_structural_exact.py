"""Every check of samples, with samples written out by hand: what is said of them, and from how many runs on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.audit import structural
from refdp.audit.structural import constant, inspect, inspect_samples, lowest_bit
from refdp.audit.structural_samples import Samples, StructuralFinding, by_chance, unbounded
from refdp.errors import InvalidParameter

EMPTY = np.empty((0, 1))


def told(found: Any) -> list[tuple[str, str, dict[str, Any]]]:
    return [(one.kind, one.where, one.evidence) for one in found]


def least_of(epsilon: float, calls: int, paths: int, alarm: float = 1e-9, delta: float = 0.0) -> int:
    """Occurrences that are enough, by the formula in the module's text."""
    share = alarm / 64 / (paths + 1) ** 2 / max(1.0, calls / 1000) / 2
    return math.ceil(math.log(share) / -math.log1p(math.exp(-epsilon))) + unbounded(delta, calls, share)


def runs(**columns: list[Any]) -> list[dict[str, Any]]:
    """One state a run; None leaves a place out."""
    count = len(next(iter(columns.values())))
    return [{name: values[j] for name, values in columns.items() if values[j] is not None} for j in range(count)]


def varied(count: int, start: int = 0) -> list[int]:
    return list(range(start, start + count))


# --- The whole inspection ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [True, False])
def test_each_side_has_runs_of_its_own_seeds(order: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the seeds each, and all of them for what changes the data."""
    numbers = [int(one) for one in np.random.SeedSequence(11).generate_state(300, np.uint64)]
    called: list[tuple[int, float]] = []
    asked: list[Any] = []

    def function(data: list[int], generator: np.random.Generator) -> Any:
        called.append((len(data), generator.random()))
        return [called[-1][1]]

    def changed(*given: Any, **named: Any) -> list[StructuralFinding]:
        asked.append((given, named))
        return [StructuralFinding("k", str(len(asked)), {}, ""), StructuralFinding("k", "1", {}, "twice")]

    monkeypatch.setattr(structural, "data_ranges", changed)
    monkeypatch.setattr(structural, "positional", changed)
    first, second = [1, 2, 3], [1, 2]
    found = inspect(function, (first, second), 11, epsilon=2.0, delta=1e-6, calls=150, alarm=1e-7, order=order)
    drawn = [(3, np.random.default_rng(one).random()) for one in numbers[:150]]
    drawn += [(2, np.random.default_rng(one).random()) for one in numbers[150:]]
    assert sorted(called) == sorted(drawn)
    if order:
        assert asked == [((function, first, numbers), {"epsilon": 2.0, "delta": 1e-6, "alarm": 1e-7}),
                         ((function, first, numbers, 1e-7), {})]  # fmt: skip
        assert [(one.where, one.meaning) for one in found] == [("1", ""), ("2", "")]
    else:
        assert not asked and not found


def test_defaults_of_an_inspection(monkeypatch: pytest.MonkeyPatch) -> None:
    """500 runs a side at epsilon 1, delta 0 and 1e-9; order is looked at."""
    called: list[int] = []

    def function(data: np.ndarray, generator: np.random.Generator) -> Any:
        called.append(len(data))
        return 1.0 if len(data) == 3 else 2.0

    data = np.array([2.0, 1.0, 3.0])
    given: list[Any] = []

    def looked(*positional: Any, **named: Any) -> list[StructuralFinding]:
        given.append(named)
        return inspect_samples(*positional, **named)

    monkeypatch.setattr(structural, "inspect_samples", looked)
    found = inspect(function, (data, data[:2]), 1)
    assert given == [{"epsilon": 1.0, "delta": 0.0, "alarm": 1e-9, "few": False}]
    assert called.count(2) == 500 and called.count(3) == 500 + 2 * 5 + 2 * 60
    assert told(found) == [("identical outputs", "", {"first": 1.0, "second": 2.0, "runs a side": 500})]


@pytest.mark.parametrize(("calls", "alarm", "epsilon", "delta", "paths"),
                         [(200, 1e-9, 1.0, 0.0, 1), (200, 1e-6, 1.2, 0.001, 2),
                             (1800, 1e-9, 4.0, 0.01, 1)])  # fmt: skip
def test_a_value_of_one_side_is_told_from_so_many_times_on(
    calls: int, alarm: float, epsilon: float, delta: float, paths: int
) -> None:
    """Exactly as many as e^eps/(1+e^eps) needs, shared by all paths, and the runs that delta may leave besides."""
    least = least_of(epsilon, calls, paths, alarm, delta)
    assert 2 < least <= calls
    other = {f"more {j}": [7] * calls for j in range(paths - 1)}
    for times, side in [(least, "first"), (least - 1, "first"), (least, "second"), (least - 1, "second")]:
        one = runs(a=["seen"] * times + ["other"] * (calls - times), **other)
        two = runs(a=["other"] * calls, **other)
        samples = Samples(one, two) if side == "first" else Samples(two, one)
        found = inspect_samples(samples, (EMPTY, EMPTY), epsilon=epsilon, delta=delta, alarm=alarm)
        expected = {"value": "seen", "seen on": side, "times": times, "times on the other side": 0}
        assert told(found) == ([("support", "a", expected)] if times == least else [])


def test_defaults_of_samples_and_sides_of_different_lengths() -> None:
    """The shorter side counts; epsilon is 1, delta 0, the alarm 1e-9."""
    least = least_of(1.0, 2500, 1)
    one, two = runs(a=["seen"] * least + ["other"] * (2500 - least)), runs(a=["other"] * 4000)
    assert len(inspect_samples(Samples(one, two), (EMPTY, EMPTY))) == 1
    assert len(inspect_samples(Samples(two, one), (EMPTY, EMPTY))) == 1
    one[least - 1] = {"a": "other"}
    assert inspect_samples(Samples(one, two), (EMPTY, EMPTY)) == []


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (1.3, 0.0), (3.0, 0.0), (1.0, 0.05)])
def test_too_few_runs_are_refused(epsilon: float, delta: float) -> None:
    enough = next(n for n in range(1, 2000) if 2 * n >= least_of(epsilon, n, 1, delta=delta))
    for calls in (enough - 1, enough):
        samples = Samples(runs(a=[1] * calls), runs(a=[1] * calls))
        if calls == enough:
            assert inspect_samples(samples, (EMPTY, EMPTY), epsilon=epsilon, delta=delta) == []
        else:
            said = (least_of(epsilon, calls, 1, delta=delta) + 1) // 2
            with pytest.raises(InvalidParameter, match=rf"calls = {calls}: at epsilon .* at least {said} show"):
                inspect_samples(samples, (EMPTY, EMPTY), epsilon=epsilon, delta=delta)


@pytest.mark.parametrize(("epsilon", "delta", "calls"), [(10.0, 0.0, 300), (1.0, 0.999, 300), (5.0, 0.99, 5000)])
def test_what_is_exact_in_too_few_runs_is_no_violation_by_itself(epsilon: float, delta: float, calls: int) -> None:
    """Randomised response, and what keeps nothing with chance delta, look like this in so few runs: the chance is said.

    Numbers, texts, sums and draws that cancel alike.
    """
    noise = varied(calls)
    one = runs(a=[3] * calls, t=["x"] * calls, n=noise, **{"s[0]": noise, "s[1]": [7 - each for each in noise]})
    two = runs(a=[2] * calls, t=["y"] * calls, n=noise, **{"s[0]": noise, "s[1]": [8 - each for each in noise]})
    found = inspect_samples(Samples(one, two), (EMPTY, EMPTY), epsilon=epsilon, delta=delta, few=True)
    assert {finding.where for finding in found} >= {"a", "t", "sum of s[...]"} and len(found) >= 4
    chance = f"{by_chance(epsilon, delta, calls):.2g}"
    for finding in found:
        assert not finding.violation and finding.meaning.endswith(f"chance up to {chance}, so no violation by itself")
    sure = inspect_samples(Samples(one, two), (EMPTY, EMPTY), epsilon=1.0, few=True)
    assert len(sure) == len(found) and all(finding.violation for finding in sure)
    (alone,) = inspect_samples(Samples(runs(a=[3] * calls), runs(a=[2] * calls)), (EMPTY, EMPTY), epsilon=epsilon,
                               delta=delta, few=True)  # fmt: skip
    assert (alone.kind, alone.violation) == ("identical outputs", False)


def test_the_chance_of_constants_is_that_of_randomised_response() -> None:
    """The worst function is constant with chance r^(2n), r = (e^eps + delta) / (1 + e^eps); the bound is r^(2n - 2)."""
    for epsilon, delta, count in [(0.0, 0.0, 3), (1.0, 0.0, 5), (2.0, 0.25, 4), (10.0, 0.0, 300), (1.0, 0.999, 300)]:
        rate = (math.exp(epsilon) + delta) / (1 + math.exp(epsilon))
        assert by_chance(epsilon, delta, count) == pytest.approx(rate ** (2 * count - 2), rel=1e-9)


def test_a_number_without_noise_is_a_violation_from_so_many_runs_on() -> None:
    """By all runs of a black box, with the chance of it, over all numbers; one absent on a side is another one."""
    epsilon, noise = 4.0, np.arange(1000.0)
    enough = next(n for n in range(1, 1000) if 3 * by_chance(epsilon, 0.0, n) <= 1e-9)
    for count, sure in ((enough, True), (enough - 1, False)):
        for here, there in ((3.0, 2.0), (3.0, math.nan)):
            first, second = (
                np.column_stack([noise[:count], np.full(count, each), np.full(count, math.nan)])
                for each in (here, there)
            )
            found = constant(first, second, epsilon=epsilon, delta=0.0, alarm=1e-9)
            assert found is not None and found.violation is sure and found.where.startswith("number 1 ")
            assert found.kind == "exact statistic" and found.evidence["runs a side"] == count
            assert ("no violation by itself" in found.meaning) is not sure and "chance" in found.meaning
    assert constant(first, first, epsilon=epsilon, delta=0.0, alarm=1e-9) is None
    second[0, 1] = 3.0
    assert constant(first, second, epsilon=epsilon, delta=0.0, alarm=1e-9) is None


def test_repeated_outputs_are_not_told_where_something_exact_explains_them() -> None:
    """They are where there is nothing else, or values of one side alone."""
    a, b = ["x", "y"] * 100, ["z", "w"] * 100
    kinds = [one.kind for one in inspect_samples(Samples(runs(a=a), runs(a=b)), (EMPTY, EMPTY))]
    assert kinds == ["support", "identical outputs"]
    exact = inspect_samples(Samples(runs(a=a, b=[1] * 200), runs(a=b, b=[2] * 200)), (EMPTY, EMPTY))
    assert [one.kind for one in exact] == ["exact statistic", "support"]
    absent = inspect_samples(Samples(runs(a=a, b=[None] * 199 + [1]), runs(a=b, b=[1, 2] * 100)), (EMPTY, EMPTY))
    assert [(one.kind, one.where, one.evidence["value"]) for one in absent] == [("support", "a", "x"),
                                                                                ("support", "b", None)]  # fmt: skip


def test_where_all_is_the_same_in_every_run_nothing_else_is_asked() -> None:
    samples = Samples(runs(a=[1] * 200, b=["s"] * 200), runs(a=[1] * 200, b=["t"] * 200))
    expected = {"first": "s", "second": "t", "runs a side": 200}
    assert told(inspect_samples(samples, (EMPTY, EMPTY))) == [("identical outputs", "b", expected)]


# --- One check after the other ----------------------------------------------------------------------------------------


def test_places_of_one_value_a_side() -> None:
    data = (np.array([[1.0, 5.0], [2.0, 6.0], [4.0, 9.0]]), np.array([[1.0, 5.0], [2.0, 6.0]]))
    one = runs(n=[3.0, 3.0], total=[20.0, 20.0], other=[3.0, 3.0], text=["a", "a"], same=[5, 5], free=[1, 2],
               left=[1, 1], right=[1, 2], to=["t", "t"], off=[4, 4])  # fmt: skip
    two = runs(n=[2.0, 2.0], total=[11.0, 11.0], other=[7.5, 7.5], text=["b", "b"], same=[5, 5], free=[1, 2],
               left=[1, 2], right=[1, 1], to=[6, 6], off=["u", "u"])  # fmt: skip
    assert told(structural._constants(Samples(one, two), *data)) == [
        ("exact statistic", "n",
         {"first": 3.0, "second": 2.0, "runs a side": 2, "change": -1.0, "equals": "number of records"}),
        ("exact statistic", "total",
         {"first": 20.0, "second": 11.0, "runs a side": 2, "change": -9.0, "equals": "sum of column 1 of part 0"}),
        ("exact statistic", "other", {"first": 3.0, "second": 7.5, "runs a side": 2, "change": 4.5}),
        ("support", "text", {"first": "a", "second": "b", "runs a side": 2}),
        ("support", "to", {"first": "t", "second": 6, "runs a side": 2}),
        ("support", "off", {"first": 4, "second": "u", "runs a side": 2}),
    ]  # fmt: skip
    assert told(structural._constants(Samples(runs(a=[1, 1]), runs(a=[1, 1])), *data)) == []
    assert list(structural._constants(Samples([], []), *data)) == []


def test_statistics_are_named_up_to_rounding_on_both_sides() -> None:
    """Within a 1e-9th of the greater number."""
    data = np.array([[3.0], [4.0]]), np.array([[3.0]])
    for here, there, named in [(7.0, 3.0, True), (7 * (1 + 9e-10), 3 * (1 - 9e-10), True), (7.0, 4.0, False),
                               (7 * (1 + 1.1e-9), 3.0, False), (7.0, 3 * (1 - 1.1e-9), False), (-7.0, -3.0, False),
                               (3.0, 7.0, False)]:  # fmt: skip
        assert structural._named(here, there, *data) == ({"equals": "sum of column 0 of part 0"} if named else {})
    fewer = np.array([[3.0], [4.0]]), EMPTY
    assert structural._named(3.5, 3.5, *fewer) == {}


@pytest.mark.parametrize(("calls", "paths"), [(700, 1), (2500, 3)])
def test_alarms_are_shared_by_paths_and_values(calls: int, paths: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(structural, "needed", lambda *given: asked.append(given) or 1)
    monkeypatch.setattr(structural, "unbounded", lambda *given: asked.append(given) or 0)
    side = [{f"p{j}": 1 for j in range(paths)}] * calls
    inspect_samples(Samples(side, side), (EMPTY, EMPTY), epsilon=3.0, delta=0.25, alarm=1e-7)
    share = 1e-7 / (64 * (paths + 1) ** 2 * max(1.0, calls / 1000)) / 2
    assert asked == [
        (3.0, pytest.approx(share, rel=1e-12, abs=0)),
        (0.25, calls, pytest.approx(share, rel=1e-12, abs=0)),
    ]
    asked.clear()
    inspect_samples(Samples(side, side), (EMPTY, EMPTY))
    assert asked == [
        (1.0, pytest.approx(share / 100, rel=1e-12, abs=0)),
        (0.0, calls, pytest.approx(share / 100, rel=1e-12, abs=0)),
    ]


def test_one_value_a_side_and_not_the_same() -> None:
    """Room is a 1e-9th of the size, for each side; eight times as much parts them."""

    def parted(a: list[float], b: list[float], size: float = 1e9) -> bool:
        return structural._parted(np.array(a), np.array(b), size)

    assert parted([0, 1], [9, 10]) and parted([9, 10], [0, 1]) and parted([0.0, 0.5, 1.0], [9.0])
    assert not parted([0, 1], [8, 9]) and not parted([8, 9], [0, 1])
    assert not parted([0, 1.01], [20, 20]) and not parted([20, 20], [0, 1.01])
    assert parted([5, 5], [-5, -5]) and not parted([5, 5], [5, 5]) and not parted([4, 4], [-4, -4])
    assert parted([0, 0], [1e-12, 1e-12], 0.0) and not parted([0, 0], [0, 0], 0.0)


def test_whole_outputs_that_come_again() -> None:
    """Those of the first half, counted in the second, on either side; never seen on the other."""
    own = ["p", "q", "r", "q", "s", "r", "p"]  # of the last four: q, r and p, not s
    for least, found in [(3, True), (4, False)]:
        for side, name in [(0, "first"), (1, "second")]:
            sides = [runs(a=own), runs(a=["t", "u", "v", "w", "x", "y"])]
            again = {"seen on": name, "runs": 7, "different outputs": 4, "came again": 3}
            assert told(structural._repeated(Samples(*sides[:: -1 if side else 1]), least)) == (
                [("identical outputs", "whole output", again)] if found else [])  # fmt: skip
    assert not list(structural._repeated(Samples(runs(a=own), runs(a=["t", "q"])), 3))
    assert len(list(structural._repeated(Samples(runs(a=own), runs(a=["t", "s"])), 3))) == 1


def test_sums_without_noise() -> None:
    one = runs(**{"a[0]": [1.0, 2, 4], "a[1]": [9.0, 8, 6], "b[0]": [1.0, 2, 3], "c[0]": [1.0, 1, 1],
                  "c[1]": [2.0, 2, 2], "d[0]": [0.0, 5, 1], "d[1]": [1.0, 2, 3]})  # fmt: skip
    two = runs(**{"a[0]": [1.0, 2, 4], "a[1]": [6.0, 5, 3], "b[0]": [7.0, 7, 7], "c[0]": [4.0, 4, 4],
                  "c[1]": [2.0, 2, 2], "d[0]": [0.0, 5, 1], "d[1]": [1.0, 2, 3]})  # fmt: skip
    assert told(structural._sums(Samples(one, two))) == [
        ("exact statistic", "sum of a[...]", {"first": 10.0, "second": 7.0, "runs a side": 3})
    ]
    pair = runs(**{"a[0]": [1.0, 2], "a[1]": [9.0, 8]}), runs(**{"a[0]": [1.0, 2], "a[1]": [9.0, 8 + 1e-7]})
    assert not list(structural._sums(Samples(*pair)))
    far = runs(**{"a[0]": [-1e9, 0.0], "a[1]": [1e9, 0.5]}), runs(**{"a[0]": [9.0, 8], "a[1]": [0.0, 1.5]})
    assert [one.evidence["first"] for one in structural._sums(Samples(*far))] == [
        0.0
    ]  # the size is the greatest on the first side: room 1
    assert [one.evidence["second"] for one in structural._sums(Samples(*far))] == [9.0]
    below = runs(**{"a[0]": [-1e9, -1e9], "a[1]": [0.5, 0.0]}), runs(**{"a[0]": [-1e9, -1e9], "a[1]": [9.5, 9.0]})
    assert len(list(structural._sums(Samples(*below)))) == 1  # one member varies, all are negative or small
    assert not list(structural._sums(Samples(*(runs(**{"a[0]": side["a[0]"]}) for side in (
        {"a[0]": [-1e9, -1e9 + 0.5]}, {"a[0]": [5.0, 5.0]})))))  # fmt: skip


def test_releases_that_share_one_draw() -> None:
    """In one direction or the opposite one."""
    noise = np.array([0.0, 1.0, -3.0, 2.0])
    one = {"a": noise + 5, "b": 2 * noise + 1, "c": [0.0, 1.0, 1.0, 2.0], "d": [3.0] * 4, "e": -4 * noise,
           "f": [0.0, math.inf, 1.0, 2.0]}  # fmt: skip
    two = {**one, "b": 2 * noise + 4, "e": -4 * noise + 8}
    samples = Samples(*(runs(**{name: [float(v) for v in values] for name, values in side.items()})
                        for side in (one, two)))  # fmt: skip
    found = list(structural._reused(samples))
    assert told(found) == [
        ("reused noise", "b", {"places": ["a", "b"], "ratio": 2.0, "difference without noise": [-9.0, -6.0]}),
    ]
    kept = Samples(*(runs(a=[float(v) for v in side["a"]], e=[float(v) for v in side["e"]]) for side in (one, two)))
    assert told(structural._reused(kept)) == [
        ("reused noise", "e", {"places": ["a", "e"], "ratio": -4.0, "difference without noise": [20.0, 28.0]})
    ]
    rough = [float(v) for v in noise]
    off = runs(a=[1e9 * v for v in rough], b=[-2e9 * v + 0.5 * (v == 1) for v in rough])
    far = runs(a=[1e9 * v for v in rough], b=[-2e9 * v + 200 + 0.5 * (v == 2) for v in rough])
    assert told(structural._reused(Samples(off, far)))[0][2]["difference without noise"] == [0.0, 200.0]
    same = Samples(*(runs(a=[float(v) for v in noise], b=[float(v) for v in noise]) for _ in range(2)))
    assert not list(structural._reused(same))


@pytest.mark.parametrize("factor", [1.0, 1e-3, 1e3])
def test_what_parts_a_shared_draw_is_measured_by_the_greater_release(factor: float) -> None:
    """Of the place that is combined, in its own size and in the first one's times the ratio."""
    noise = np.array([1e9, -2e9, 3e9, 0.0])
    room = 1e-9 * 3e9 * max(1.0, factor) ** 2 if factor > 1 else 3.0
    for shift, parted in [(7.0, False), (9.0, True)]:
        one = runs(a=[float(v) for v in noise], b=[float(v) for v in factor * noise])
        two = runs(a=[float(v) for v in noise], b=[float(v) for v in factor * noise + shift * room])
        assert bool(list(structural._reused(Samples(one, two)))) is parted


def test_values_of_one_side_alone() -> None:
    one = runs(a=["x"] * 3 + ["y"] * 2 + ["z"] * 3, b=[1] * 8, c=[None] * 4 + [2] * 4, d=[2] * 4 + [3] * 4)
    two = runs(a=["y"] * 8, b=[2] * 8, c=[2] * 8, d=[2] * 3 + [4] * 5)
    assert told(structural._one_sided(Samples(one, two), 3)) == [
        ("support", "a", {"value": "x", "seen on": "first", "times": 3, "times on the other side": 0}),
        ("support", "d", {"value": 3, "seen on": "first", "times": 4, "times on the other side": 0}),
        ("support", "d", {"value": 4, "seen on": "second", "times": 5, "times on the other side": 0}),
        ("support", "c", {"value": None, "seen on": "first", "times": 4, "times on the other side": 0}),
    ]
    assert {one.where for one in structural._one_sided(Samples(one, two), 5)} == {"d"}
    assert {one.where for one in structural._one_sided(Samples(two, one), 5)} == {"d"}


def test_outputs_finer_than_all_of_the_other_side() -> None:
    """Halves and quarters against whole numbers; the least of different outputs is half of what is asked."""
    fine = [0.5, 1.25, 2.5, 3.0, 4.0, 6.0]
    whole = [1.0, 3.0, 5.0, 7.0, 9.0, 12.0]
    for sides, name in [((fine, whole), "first"), ((whole, fine), "second")]:
        samples = Samples(*(runs(pad=[2.0, 2, 2, 2, 2, 2], a=side) for side in sides))
        expected = {"seen on": name, "outputs finer": 3, "runs": 6, "grid 2^": 0}
        assert told(structural._precision(samples, 3)) == [("precision", "a", expected)]
        assert not list(structural._precision(samples, 4))
    finest = [0.5, 1.25, 2.5, 0.75, 3.5, 6.25]
    for least, other, found in [(4, [1.0, 3, 3, 3, 3, 3], 1), (4, [3.0] * 6, 0), (6, [1.0, 3, 3, 3, 3, 3], 0),
                                (6, [1.0, 3, 5, 5, 5, 5], 1)]:  # fmt: skip
        for sides in ((finest, other), (other, finest)):
            assert len(list(structural._precision(Samples(*(runs(a=side) for side in sides)), least))) == found


def test_the_lowest_bit_of_numbers() -> None:
    """By dividing out powers of two, in exact arithmetic."""
    drawn = np.random.default_rng(1).normal(size=20)
    numbers = np.array([1.0, -1.0, 2.0, 3.0, 6.0, 0.75, -0.1, 1e300, 5e-324, 2.0**-1060, *drawn, 2.0**53 + 2, 2.0**80])
    exact = []
    for number in numbers.tolist():
        up, down = number.as_integer_ratio()
        exact.append((abs(up) & -abs(up)).bit_length() - down.bit_length())
    assert lowest_bit(numbers).tolist() == exact
    assert lowest_bit(np.array([[0.0, np.inf], [np.nan, -np.inf]])).tolist() == [[1100, 1100], [1100, 1100]]
