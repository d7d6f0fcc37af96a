"""Statistics whose thresholds are events, and the choice of the event that promises the best bound."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from refdp.audit import epsilon_lower_bound, events_choice, events_statistics
from refdp.audit.events_choice import Choice, Event
from refdp.audit.events_statistics import (
    Coordinate,
    Decimals,
    Denominator,
    Difference,
    LowestBit,
    Ratio,
    Remainder,
    Residue,
    Score,
    WholeRow,
    about_digits,
    digits_of,
)
from tests.audit.pinned import digest

NAN, INF = math.nan, math.inf
ROWS = np.array([[1.5, NAN, -2.0], [0.75, INF, 8.0], [-6.0, -INF, 0.0], [INF, INF, 2.0**-40]])


def test_coordinates_and_differences_of_outputs() -> None:
    assert Coordinate(0)(ROWS).tolist() == [1.5, 0.75, -6.0, INF] and Coordinate(1)(ROWS).tolist() == [
        INF,
        INF,
        -INF,
        INF,
    ]
    assert Difference(0, 2)(ROWS).tolist() == [3.5, -7.25, -6.0, INF]
    assert Difference(0, 1)(ROWS).tolist() == [0.0, -INF, INF, 0.0]
    assert [Coordinate(2).words, Coordinate(2, counts=True).words] == [
        "output 2",
        "number of outputs (0: an error, or nothing with numbers)",
    ]
    assert Difference(3, 1).words == "output 3 - output 1" and WholeRow().words == "the whole output"
    assert LowestBit(2).words == "log2 of the lowest set bit of output 2"


def test_the_lowest_set_bit() -> None:
    """Against the denominator of the exact fraction, or the twos in a whole number."""
    assert LowestBit(2)(ROWS).tolist() == [1.0, 3.0, 2000.0, -40.0]
    assert LowestBit(1)(ROWS).tolist() == [2000.0] * 4
    numbers = np.random.default_rng(3).standard_normal(200) * 10.0 ** np.arange(-100, 100)
    for number, bit in zip(numbers, LowestBit(0)(numbers[:, None]), strict=True):
        exact = Fraction(float(number))
        twos = -exact.denominator.bit_length() + 1 or (exact.numerator & -exact.numerator).bit_length() - 1
        assert bit == twos


STEPS: dict[str, tuple[float, Any]] = {
    "fractions": (1.0, lambda drawn: drawn.integers(-(10**6), 10**6, 300) + 81200.31),
    "sevens": (7.0, lambda drawn: 7 * drawn.integers(-(10**6), 10**6, 300) + 3),
    "thirds": (1 / 3, lambda drawn: drawn.integers(0, 10**5, 300) / 3),
    "tenths": (0.1, lambda drawn: drawn.integers(0, 10**6, 300) * 0.1 + 0.03),
    "halves": (0.5, lambda drawn: drawn.integers(0, 9, 300) / 2),
    "real numbers": (0.0, lambda drawn: drawn.normal(0, 1, 300)),
    "real numbers far from zero": (0.0, lambda drawn: drawn.normal(2**49, 1, 300)),
    "real numbers of 32 bits": (2.0**-22, lambda drawn: drawn.normal(5, 1, 300).astype(np.float32)),
    "two": (0.0, lambda drawn: drawn.integers(0, 2, 300)),
    "largest and least": (0.0, lambda drawn: drawn.choice([-1.7e308, 0.0, 5e-324, 1.0, 1.7e308], 300)),
    "small and large": (0.0, lambda drawn: drawn.choice([0.0, 5e-324, 1.0, 1e299], 300)),
    "nothing": (0.0, lambda drawn: np.full(300, NAN)),
}


@pytest.mark.parametrize("kind", list(STEPS))
def test_the_step_by_which_numbers_lie_apart(kind: str) -> None:
    step, draw = STEPS[kind]
    values = np.asarray(draw(np.random.default_rng(3)), dtype=np.float64)
    assert events_statistics._step(events_statistics._steady(values)) == pytest.approx(step, rel=1e-9, abs=1e-300)


def test_remainders() -> None:
    rows = np.array([[7.25, -0.25, 2.0**40, INF, NAN, 1e300]]).T
    assert Remainder(0, 1.0)(rows).tolist() == [0.25, 0.75, 0.0, INF, INF, INF]
    assert Remainder(0, 7.0)(rows + 0.0).tolist()[:3] == [0.25, 6.75, 2**40 % 7]
    assert Remainder(0, 0.1)(np.array([[0.33], [1e8]])).tolist() == [pytest.approx(0.03, abs=1e-6), INF]
    assert Remainder(3, 1.0).words == "output 3 modulo 1"
    finer = Remainder(3, 0.1, finer=True).words
    assert finer == "grid of output 3 modulo 0.1" and about_digits(finer) and digits_of(finer) == "output 3"


def remainders(first: Any, second: Any, **given: Any) -> list[str]:
    sides = [np.asarray(side, dtype=np.float64).reshape(len(first), -1) for side in (first, second)]
    return [one.words for one in events_statistics.learn(*sides, **given) if isinstance(one, Remainder)]


def test_remainders_are_looked_at_where_they_differ() -> None:
    """Of another grid on each side as digits are; none of noise whose remainders are alike."""
    drawn = np.random.default_rng(4)
    wide = drawn.integers(-(10**6), 10**6, (2, 400))
    assert remainders(wide[0] + 0.25, wide[1] + 0.75, low_bits=False) == ["output 0 modulo 1"]
    assert remainders(9 * wide[0], 9 * wide[1] + 1) == ["output 0 modulo 9"]
    grids = 5 * wide[0], 25 * wide[1]
    assert "grid of output 0 modulo 25" in remainders(*grids)
    assert remainders(*grids, low_bits=False) == remainders(*grids, without={"output 0"}) == []
    assert remainders(wide[0] / 2, wide[1] / 4, low_bits=False) == []
    for same in (wide, 5 * wide, wide + 0.25, drawn.laplace(0, 1e5, (2, 400)), drawn.laplace(0, 1, (2, 400)).round(1)):
        assert remainders(*same) == []
    many = wide[:, :, np.newaxis] + np.zeros(30)
    many[1, :, 20] += 0.5
    many[:, :, 24:] = 0
    assert remainders(*many) == ["output 20 modulo 1"]


def test_exact_fractions_beside_whole_noise_are_found_and_honest_steps_are_not() -> None:
    def bound(function: Any) -> Any:
        return epsilon_lower_bound(function, ([1.0, 2.0, 3.0], [1.0, 2.0]), claimed=1.0, samples=1_000, low_bits=False)

    def whole(seed: int, scale: float) -> int:
        drawn = np.random.default_rng(seed)
        return int(drawn.geometric(1 / scale) - drawn.geometric(1 / scale))

    for digit in (0.25, 0.31, 1 / 7):
        assert bound(lambda records, seed, digit=digit: len(records) * digit + whole(seed, 2e5)).lower > 1.5
    for step in (1, 5, 0.25):
        assert not bound(lambda records, seed, step=step: 0.37 + step * (len(records) + whole(seed, 2.0))).refuted


def test_residues_of_wide_whole_numbers() -> None:
    """Of no others: where values are few their order and their histogram tell what residues would."""
    rows = np.array([[1005.0, 2.5, -1.0], [-3.0, 1e300, INF], [2.0**60, NAN, 0.0]])
    assert Residue(0, 1000)(rows).tolist() == [5.0, 997.0, float(2**60 % 1000)]
    assert Residue(1, 1024)(rows).tolist() == [INF, 1e300 % 1024, INF] and Residue(2, 10).words == "output 2 modulo 10"
    count = np.arange(100)
    wide = np.column_stack([count * 1000.0, count * 10.0, count * 1000.5, *[count * 999.0] * 7])
    learnt = [one for one in events_statistics.learn(wide, wide) if isinstance(one, Residue)]
    assert [(one.index, one.modulus) for one in learnt] == [(n, m) for n in (0, 3, 4, 5, 6, 7) for m in (1000, 1024)]
    digits = [one.index for one in events_statistics.learn(wide, wide) if isinstance(one, Decimals | Denominator)]
    assert set(digits) == {2} and sum(isinstance(one, LowestBit) for one in events_statistics.learn(wide, wide)) == 10


def test_equal_outputs_have_equal_hashes_and_others_other_ones() -> None:
    rows = np.random.default_rng(1).standard_normal((500, 3))
    rows = np.vstack([rows, rows[:, [1, 0, 2]], np.zeros((1, 3)), [[NAN, 0, 1]]])
    found = WholeRow()(rows)
    assert len(set(found.tolist())) == len(rows) and found.min() >= 0 and found.max() < 1
    assert abs(found.mean() - 0.5) < 0.03 and abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 0.1
    again = rows.copy()
    again[-2], again[-1, 0] = -0.0, -NAN
    assert (WholeRow()(again) == found).all()
    nearly = np.nextafter(rows[:500], 9)
    assert not set(WholeRow()(nearly).tolist()) & set(found.tolist())
    assert digest(found[:20].tolist()) == "caec8a8f968d"  # a record: chosen events are named by their hash


def test_cells_of_values_and_of_intervals() -> None:
    values = np.array([1.0, 2.0, 4.0])
    numbers = np.array([0.5, 1.0, 1.5, 2.0, 3.9, 4.0, 9.0, INF])
    assert events_statistics._cells(numbers, values, True).tolist() == [3, 0, 3, 1, 3, 2, 3, 3]
    assert events_statistics._cells(numbers, values, False).tolist() == [0, 1, 1, 2, 2, 3, 3, 3]
    first, second = np.array([1.0, 1.0, 2.0, 7.0]), np.array([2.0, 2.0, 4.0, 4.0, 4.0, 8.0])
    exact = events_statistics._ratio(Coordinate(0), values, first, second, exact=True)
    assert np.exp(exact.scores) == pytest.approx([2.5 / 0.5, 1.5 / 2.5, 0.5 / 3.5, 1.0])
    cells = events_statistics._ratio(Coordinate(0), values, first, second, exact=False)
    assert np.exp(cells.scores) == pytest.approx([1.0, 2.5 / 0.5, 1.5 / 2.5, 1.5 / 4.5])
    assert cells(np.array([[0.0], [4.0]])).tolist() == [cells.scores[0], cells.scores[3]]
    assert exact.words == "log likelihood ratio by value of output 0" and "by histogram of output 0" in cells.words
    assert exact.learnt and not Coordinate(0).learnt and not Difference(0, 1).learnt and not LowestBit(0).learnt
    assert Score.learnt and not WholeRow.learnt


def test_histograms_are_of_values_where_few_differ() -> None:
    """Where a quarter of the runs at most are different values; else those seen more than twice, and 48 equal cells."""
    few = np.arange(16.0) % 4
    (one,) = events_statistics._ratios(Coordinate(0), few[:8, None], few[8:, None])
    assert one.exact and one.values.tolist() == [0, 1, 2, 3]
    five = np.append(few[:-1], 9.0)
    value, cells = events_statistics._ratios(Coordinate(0), five[:8, None], five[8:, None])
    assert value.exact and value.values.tolist() == [0, 1, 2, 3] and not cells.exact
    pairs = np.repeat(np.arange(8.0), 2)
    (cells,) = events_statistics._ratios(Coordinate(0), pairs[:8, None], pairs[8:, None])
    assert not cells.exact
    triple = np.append(np.arange(13.0), [5.0, 5.0, 20.0])
    value, cells = events_statistics._ratios(Coordinate(0), triple[:8, None], triple[8:, None])
    assert value.values.tolist() == [5.0]
    many = np.random.default_rng(2).permutation(np.arange(960.0))
    (cells,) = events_statistics._ratios(Coordinate(0), many[:480, None], many[480:, None])
    inside = np.bincount(events_statistics._cells(many, cells.values, False), minlength=48)
    assert inside.tolist() == [20] * 48 and len(cells.values) == 47 and len(cells.scores) == 48
    assert not list(events_statistics._ratios(WholeRow(), many[:480, None], many[480:, None]))
    nothing = np.full((8, 1), INF) * np.array([[1.0], [-1.0]] * 4)
    assert [one.exact for one in events_statistics._ratios(Coordinate(0), nothing, nothing)] == [True]
    endless = events_statistics._ratios(Coordinate(0), np.array([[INF], [-INF]]), np.array([[INF]]))
    assert [cells.values.tolist() for cells in endless] == [[-INF]]


def test_the_last_column_counts_outputs_where_rows_are_padded() -> None:
    padded = np.array([[1.0, 2.0, 2.0], [3.0, NAN, 1.0], [NAN, NAN, 0.0]])
    assert events_statistics._last_counts(padded)
    for row, column, value, held in ((0, 1, NAN, True), (1, 1, 5.0, False), (1, 2, 0.0, False), (1, 2, 1.5, False),
                                     (1, 2, 2.0, True), (2, 2, 1.0, True)):  # fmt: skip
        other = padded.copy()
        other[row, column] = value
        assert events_statistics._last_counts(other) is held
    assert not events_statistics._last_counts(padded[:1])


def test_the_coordinates_that_differ_most_are_looked_at() -> None:
    few = np.zeros((4, 24))
    assert events_statistics._coordinates(few, few) == list(range(24))
    generator = np.random.default_rng(0)
    first, second = generator.standard_normal((2, 400, 40))
    second[:, ::2] += 3.0
    second[:, 5], first[:, 5] = 2000 * second[:, 5], 2000 * first[:, 5] + 5000
    second[:, 9], first[:, 9] = 1e-6 * second[:, 9], 1e-6 * first[:, 9] + 5e-6
    found = events_statistics._coordinates(first, second)
    assert len(found) == 24 and found == sorted(found) and {*range(0, 40, 2), 5, 9} <= set(found)


def test_digits_of_many_coordinates_are_looked_at_where_they_differ() -> None:
    """Besides those that differ in their means; judged on other runs than those that picked them."""
    values = [np.array([1.0, 1.0, 2.0, 5.0]), np.array([2.0, 2.0, 2.0, 5.0])]  # cells 2:0, 1:3, 1:1
    assert events_statistics._surprise(*values) == pytest.approx((2 + 1 + 0 - 3) / math.sqrt(6))
    assert events_statistics._surprise(np.zeros(50), np.ones(50)) == pytest.approx((100 - 2) / 2)
    assert events_statistics._surprise(np.arange(50.0), np.arange(50.0, 100.0)) == 0  # nothing comes twice
    generator = np.random.default_rng(0)
    first, second = generator.normal(0, 10, (2, 120, 200))
    second[:, :24] += 20.0
    first[:, 100], second[:, 100] = first[:, 100].round(3), second[:, 100].round(4)
    first[:, 199], second[:, 199] = (first[:, 199] * 8).round() / 8, (second[:, 199] * 16).round() / 16
    first[:, 30], second[:, 30] = (first[:, 30] * 7).round() / 7, (second[:, 30] * 11).round() / 11
    first[:, 50] = second[:, 50] = 4.0
    chosen = events_statistics._coordinates(first, second)
    assert chosen == list(range(24)) and events_statistics._by_digits(first[:, :24], second[:, :24], chosen) == []
    found = events_statistics._by_digits(first, second, chosen)
    assert len(found) == 24 and {30, 100, 199} <= set(found) and not {*chosen, 50} & set(found)
    picked = [one for one in events_statistics.learn(first, second) if isinstance(one, events_statistics.Picked)]
    assert len(picked) == 4 * 24 and all(one.learnt for one in picked)
    (one,) = (one for one in picked if one.words == "decimals of output 100")
    assert one(first).max() == 3 and one(second).max() == 4


def test_few_runs_pick_among_very_many_coordinates(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many numbers at a time as there is room for, at least a hundred runs a side."""
    generator = np.random.default_rng(1)
    first, second = generator.normal(0, 10, (2, 300, 60))
    first[:, 59], second[:, 59] = first[:, 59].round(3), second[:, 59].round(4)
    whole = events_statistics._by_digits(first, second, [0, 1])
    first[100:], second[100:] = 1.0, 1.0
    early = events_statistics._by_digits(first[:100], second[:100], [0, 1])
    monkeypatch.setattr(events_statistics, "DIGIT_CELLS", 500)
    assert events_statistics._by_digits(first, second, [0, 1]) == early and 59 in early and 59 in whole


def test_statistics_that_are_tried() -> None:
    generator = np.random.default_rng(0)
    for columns in (1, 2, 6, 7, 10, 26):
        first, second = generator.standard_normal((2, 12, columns))
        words = [one.words for one in events_statistics.learn(first, second)]
        plain, digits = min(columns, 24), columns  # of 26 the others' digits too
        paired = min(columns, 6) if columns <= 9 else 0
        pairs = paired * (paired - 1) // 2
        assert words[0].startswith("output ") and len(words) == 2 * plain + 4 * digits + 3 * pairs + (columns > 1)
        assert sum(word.startswith("log2") for word in words) == digits
        if columns < 3:
            assert len(events_statistics.learn(first, second, low_bits=False)) == len(words) - 4 * plain
            assert len(events_statistics.learn(first[:, :1], second[:, :1])) == 6
        assert words[plain : plain + pairs] == [f"output {i} - output {j}" for i in range(paired)
                                               for j in range(i + 1, paired)]  # fmt: skip
    first[:, -1], second[:, -1] = 25, 25
    first[3, 5:], first[3, -1] = NAN, 5
    told = [one.words for one in events_statistics.learn(first, second)]
    assert told[0] == "number of outputs (0: an error, or nothing with numbers)" and "output 25" not in told
    assert events_statistics._finite(np.array([[NAN, INF, -INF, 1e13, -1e13, 7.0]])).tolist() == [
        [0, 1e12, -1e12, 1e12, -1e12, 7]
    ]


def test_digits_are_left_out_by_kind_and_output() -> None:
    """Lowest set bits of all outputs at once; decimals, digits and denominators of one by one."""
    first, second = np.random.default_rng(0).standard_normal((2, 12, 30))
    whole = [one.words for one in events_statistics.learn(first, second)]
    bits = events_statistics.LOWEST_BITS
    assert {events_statistics.digits_of(one) for one in whole if events_statistics.about_digits(one)} == {
        bits, *(f"output {place}" for place in range(30))}  # fmt: skip
    left = [one.words for one in events_statistics.learn(first, second, without={bits, "output 1"})]
    gone = {"decimals of output 1", "significant digits of output 1", "denominator of output 1"}
    assert left == [one for one in whole if "lowest set bit" not in one and one not in gone]


def test_columns_are_chosen_by_the_digits_that_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = np.random.default_rng(0).standard_normal((2, 200, 4))
    second[:, 1] = second[:, 1].astype(np.float32)
    first[:, 2], second[:, 2] = first[:, 2].round(3), second[:, 2].round(3)
    second[::3, 2] = first[::3, 2] + 0.0001
    monkeypatch.setattr(events_statistics, "COORDINATES", 1)
    assert events_statistics._by_digits(first, second, [0]) == [1]
    assert events_statistics._by_digits(first, second, [0], {events_statistics.LOWEST_BITS, "output 2"}) == [2]
    monkeypatch.setattr(events_statistics, "_coordinates", lambda first, second: [0])
    found = [one.words for one in events_statistics.learn(first, second, without={events_statistics.LOWEST_BITS})]
    assert "decimals of output 2" in found and "decimals of output 1" not in found


def test_what_is_left_out_is_not_chosen() -> None:
    first, second = np.random.default_rng(0).standard_normal((2, 400, 1))
    first, second = first.round(3), second.round(4)
    for without, told in ((), True), ({"output 0"}, False), ({"output 1"}, True):
        best = events_choice.choose(first, second, 400, 0.0, 0.1, without=without)[0].event.words
        assert (events_statistics.about_digits(best) and events_statistics.digits_of(best) == "output 0") is told


def test_classifiers_learn_which_side_a_row_is_of() -> None:
    generator = np.random.default_rng(0)
    first, second = generator.standard_normal((2, 1000, 2)) + np.array([[[2.0, 0.0]], [[0.0, 0.0]]])
    (linear,) = events_statistics._classifiers(first[:999], second[:999])
    assert linear.words == "log odds by logistic regression"
    at = linear(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 5.0], [NAN, INF]]))
    assert at[0] == pytest.approx(-2, abs=0.5) and at[1] == pytest.approx(2, abs=0.5) and at.dtype == np.float64
    both: list[Any] = events_statistics._classifiers(first, second)
    assert [one.words for one in both] == ["log odds by logistic regression", "log odds by boosted trees"]
    assert both[1].model.max_iter == 50 and both[1].model.max_leaf_nodes == 15 and both[1].model.random_state == 0
    assert both[0].model[-1].max_iter == 200
    assert (both[1](first) > 0).mean() > 0.8 > 0.3 > (both[1](second) > 0).mean()


def test_events_in_words_and_in_rows() -> None:
    one = Coordinate(0)
    for comparison, held in (
        (">=", [True, False, False, True]),
        ("<=", [True, True, True, False]),
        ("==", [True, False, False, False]),
    ):
        event = Event(one, comparison, 1.5)  # type: ignore[arg-type]
        assert event.happens(ROWS).tolist() == held and event.words == f"output 0 {comparison} 1.5"
    assert Event(one, ">=", INF).words == Event(one, "==", INF).words == "output 0 is infinite or not a number"
    assert (
        Event(one, "<=", -INF).words == "output 0 <= -inf"
        and Event(one, "<=", 1 / 3).words == "output 0 <= 0.333333333"
    )


def test_few_values_of_a_histogram_are_shown() -> None:
    values = np.arange(8.0)
    scores = np.append(np.arange(8.0) / 8, 0.0)
    exact, cells, whole = (Ratio(inner, values, scores, by) for inner, by in
                           ((Coordinate(1), True), (Coordinate(1), False), (WholeRow(), True)))  # fmt: skip
    assert Event(exact, ">=", 0.5).words.endswith(">= 0.5 (output 1 in {4, 5, 6, 7})")
    assert Event(exact, "<=", 0.25).words.endswith("<= 0.25 (output 1 in {0, 1, 2})")
    assert Event(exact, ">=", 0.25).words.endswith("(output 1 in {2, 3, 4, 5, 6, 7})")
    for event in (Event(exact, ">=", 0.125), Event(cells, ">=", 0.5), Event(whole, ">=", 0.5), Event(exact, "==", 0.5),
                  Event(Coordinate(1), ">=", 0.5)):  # fmt: skip
        assert " in {" not in event.words


def test_sides_of_a_choice() -> None:
    event = Event(Coordinate(0), ">=", 1.0)
    first, second = np.array([[0.0], [2.0]]), np.array([[3.0], [3.0]])
    for swapped in (False, True):
        sides = Choice(event, swapped, 0.5, 0.5).sides(first, second)
        assert [side.tolist() for side in sides] == [[False, True], [True, True]][:: -1 if swapped else 1]


def wilson(count: float, runs: float, z: float) -> float:
    """The root of (p - count/runs)^2 = z^2 p (1 - p) / runs on the side of z's sign."""
    share = count / runs
    a, b, c = 1 + z * z / runs, -(2 * share + z * z / runs), share * share
    root = math.sqrt(max(0.0, b * b - 4 * a * c))
    return min(1.0, max(0.0, (-b + math.copysign(root, z)) / (2 * a)))


def test_forecasts_of_bounds() -> None:
    counts = np.array([0.0, 1.0, 30.0, 99.0, 100.0])
    for z in (-2.5, -1.0, 1.0, 3.0):
        assert events_choice._wilson(counts, 100, z) == pytest.approx([wilson(c, 100, z) for c in counts], abs=1e-12)
    for tested, delta, error, doubt in ((1000, 0.0, 0.05, 1.0), (50, 0.1, 0.01, 2.0)):
        margin = NormalDist().inv_cdf(1 - error / 2)
        found = events_choice._forecast(counts, counts[::-1], 100, tested, delta, error, doubt)
        for a, b, one in zip(counts, counts[::-1], found, strict=True):
            p, q = wilson(a, 100, -doubt), wilson(b, 100, doubt)
            low, high = wilson(p * tested, tested, -margin) - delta, wilson(q * tested, tested, margin)
            assert one == pytest.approx(math.log(low / high) if low > 0 else low - 1000)


def test_thresholds_are_quantiles_tails_and_frequent_values() -> None:
    pooled = np.sort(np.append(np.arange(1000.0), [7.0, 7.0, 9.0]))
    (up, first), (down, second), (same, values) = events_choice._thresholds(pooled)
    assert (up, down, same) == (">=", "<=", "==") and first is not second and first.tolist() == second.tolist()
    tails = [2**k for k in range(9)]
    ranks = {int(place) for place in np.linspace(0, 1002, 200)} | set(tails) | {1002 - tail for tail in tails}
    assert first.tolist() == pooled[sorted(ranks)].tolist() and values.tolist() == [7.0]
    assert len(events_choice._thresholds(np.repeat(np.arange(9.0), 2))) == 2
    most = events_choice._thresholds(np.repeat(np.arange(300.0), [4] * 150 + [3] * 150))[2][1]
    assert most.tolist() == [float(place) for place in range(200)]
    ordered = np.array([1.0, 2.0, 2.0, 5.0])
    at = np.array([0.0, 2.0, 5.0, 6.0])
    assert events_choice._count(ordered, ">=", at).tolist() == [4, 3, 1, 0]
    assert events_choice._count(ordered, "<=", at).tolist() == [0, 3, 4, 4]
    assert events_choice._count(ordered, "==", at).tolist() == [0, 2, 1, 0]


def test_the_event_that_promises_most_is_chosen_in_both_directions() -> None:
    """Of one statistic, by trying every event of it; learnt ones are compared on the second half of the runs alone."""
    first, second = np.arange(40.0)[:, None] % 20, np.arange(40.0)[:, None] % 25 + 3
    for delta, error in ((0.0, 0.05), (0.05, 0.2)):
        found = events_choice._promised(Coordinate(0), first, second, 200, delta, error)
        assert [(c.event.comparison, c.swapped) for _, c in found] == [
            (k, s) for k in (">=", "<=", "==") for s in (False, True)][: len(found)]  # fmt: skip
        for promise, choice in found:
            a, b = (second[:, 0], first[:, 0]) if choice.swapped else (first[:, 0], second[:, 0])
            held = {">=": np.greater_equal, "<=": np.less_equal, "==": np.equal}[choice.event.comparison]
            every = events_choice._forecast(
                np.array([held(a, t).sum() for t in range(28)], float), np.array([held(b, t).sum()
                    for t in range(28)], float),
                40, 200, delta, error, 1.0)  # fmt: skip
            if choice.event.comparison == "==":
                pooled = np.concatenate([a, b])
                every[[(pooled == t).sum() <= 2 for t in range(28)]] = -INF
            assert promise == pytest.approx(every.max()) and every[int(choice.event.threshold)] == every.max()
            here, there = (held(side, choice.event.threshold).sum() for side in (a, b))
            assert choice.likelier == pytest.approx(wilson(here, 40, -1)) and choice.rarer == pytest.approx(
                wilson(there, 40, 1)
            )
    learnt = events_choice.DOUBT
    assert learnt == {False: 1.0, True: 2.0}


def test_a_seeded_choice_is_as_recorded() -> None:
    """A record of what a search found, no truth; both directions of the best statistic of all."""
    generator = np.random.default_rng(4)
    first, second = generator.laplace(size=(2, 300, 2)) + np.array([[[0.0, 0.0]], [[1.0, 0.0]]])
    further = [events_statistics._ratio(Coordinate(1), np.array([0.0]), first[:9, 1], second[:9, 1], exact=False)]
    found = [events_choice.choose(first, second, 1000, 0.01, 0.05, low_bits=bits, further=more)
             for bits, more in ((True, ()), (False, further))]  # fmt: skip
    told = [[(c.event.words, c.swapped, c.likelier, c.rarer) for c in pair] for pair in found]
    assert told[0][0][1] != told[0][1][1]
    assert digest(told) == "38f82702b769"
    parted = np.zeros((40, 1)), np.ones((40, 1))
    best, other = events_choice.choose(*parted, 100, 0.0, 0.1)
    assert (best.swapped, other.swapped) in ((False, True), (True, False))
    assert best.likelier > 0.8 and best.rarer < 0.1
