"""Verdicts on answers, tolerances and margins: each border from both sides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.conform import margins
from refdp.conform.compare import Difference, differences
from refdp.conform.judge import Judgement, drawn_so, judge, repeats
from refdp.conform.margins import Again, close, options, places, scores, within
from refdp.conform.plain import array_in, array_out, floated, hexed, plain_number
from refdp.errors import InvalidParameter

# --- Differences ------------------------------------------------------------------------------------------------------


def told(expected: Any, got: Any, ulps: int = 0) -> list[tuple[str, bool]]:
    return [(one.path, one.acceptable) for one in differences(expected, got, ulps)]


def off(number: float, ulps: int) -> str:
    for _ in range(abs(ulps)):
        number = math.nextafter(number, math.inf if ulps > 0 else -math.inf)
    return hexed(number)


def test_differences_in_their_places() -> None:
    one = {"b": [hexed(1.0), hexed(2.0)], "value": {"k": 3}, "releases": [{"path": "leaves", "x": 1}]}
    assert told(one, one) == [] and told(one, {**one, "more": 1}) == []
    other: dict[str, Any] = {"b": [hexed(1.0), hexed(3.0)], "value": {"k": 4}, "releases": [{"path": "leaves", "x": 2}]}
    assert told(one, other) == [("value.k", False), ("releases[0] 'leaves'.x", False), ("b[1]", False)] or told(
        one, other) == [("releases[0] 'leaves'.x", False), ("value.k", False), ("b[1]", False)]  # fmt: skip
    assert told({"a": 1, "b": 2}, {"b": 2}) == [("a", False)]
    assert told([1, 2, 3], [1, 5]) == [(" (length)", False), ("[1]", False)]
    assert told(1, 1.0) == [("", False)] and told(1, "1") == [("", False)] and told({"a": 1}, [1]) == [("", False)]
    assert told({"release": "r", "x": 1}, {"release": "r", "x": 2}) == [(" 'r'.x", False)]
    assert told({"path": 7, "x": 1}, {"path": 7, "x": 2}) == [("x", False)]


@pytest.mark.parametrize("ulps", [1, 4])
def test_ulps_are_counted_from_the_larger_number(ulps: int) -> None:
    for number in (1.5, -1.5, 1e-300):
        for steps in (ulps, -ulps):
            assert told(hexed(number), off(number, steps), ulps) == [("", True)]
            assert told(hexed(number), off(number, steps + (1 if steps > 0 else -1)), ulps) == [("", False)]
            assert told(hexed(number), off(number, steps)) == [("", False)]


def test_less_noise_is_never_acceptable() -> None:
    """A scale may only be larger, a coefficient only smaller; of lists of values too."""
    for key, good in (("scale", 1), ("sd", 1), ("coefficient", -1)):
        for steps in (1, -1):
            given = {key: hexed(3.0)}, {key: off(3.0, steps)}
            assert told(*given, 2) == [(key, steps == good)]
            listed = {key: {"values": [hexed(3.0)]}}, {key: {"values": [off(3.0, steps)]}}
            assert told(*listed, 2) == [(f"{key}.values[0]", steps == good)]
    assert (
        told({"x": hexed(3.0)}, {"x": off(3.0, 1)}, 2)
        == told({"x": hexed(3.0)}, {"x": off(3.0, -1)}, 2)
        == [("x", True)]
    )


def test_other_ways_to_write_a_number() -> None:
    assert told("0x1p+0", "0x1.0p0") == [("", True)] and told("0x0p+0", "-0x0p+0") == [("", False)]
    assert told("nan", "NaN") == [("", True)] and told("nan", "0x1p+0", 4) == [("", False)]
    assert told("inf", "infinity") == [("", True)] and told("inf", "-inf", 4) == [("", False)]
    assert told("0x1.fffffffffffffp+1023", "inf", 4) == [("", False)] and told("0x1p+0", "no", 4) == [("", False)]
    assert floated("0x1.8p+1") == 3.0 and hexed(-0.1) == (-0.1).hex()
    for wrong in ("x", 1.0, None, "0x1p+99999"):
        with pytest.raises(InvalidParameter):
            floated(wrong)


def test_arrays_come_back() -> None:
    for array in (
        np.array([[1.5, -0.0], [math.inf, 2.0]]),
        np.array([3, -4]),
        np.array([True, False]),
        np.zeros((0, 2)),
    ):
        found = array_in(array_out(array))
        assert found.shape == array.shape and found.tolist() == array.tolist()
        assert found.dtype == (np.float64 if array.dtype.kind == "f" else np.int64)
    for wrong in ({}, {"dtype": "int64", "shape": [2], "values": ["1"]}, {"dtype": "int8",
            "shape": [1], "values": ["1"]},
                  {"dtype": "int64", "shape": [1], "values": ["x"]}, None):  # fmt: skip
        with pytest.raises(InvalidParameter):
            array_in(wrong)
    assert plain_number((0.5, [1, 2.0], "x")) == [hexed(0.5), [1, hexed(2.0)], "x"]


# --- Verdicts ---------------------------------------------------------------------------------------------------------

TEST: dict[str, Any] = {"result": "valid", "comment": "c", "expect": {"a": hexed(1.0), "b": hexed(2.0)}, "input": {}}


def verdict(test: dict[str, Any], kind: str, answer: dict[str, Any]) -> tuple[str, str]:
    found = judge(test, kind, answer)
    return found.outcome, found.reason


def test_answers_of_every_kind() -> None:
    bad = {**TEST, "result": "invalid"}
    assert verdict(TEST, "node", {"skip": "not yet"}) == ("skipped", "not yet")
    assert verdict(bad, "node", {"skip": "not yet"}) == ("skipped", "not yet")
    assert verdict(TEST, "node", {"error": "crash"}) == ("failed", "crash")
    assert verdict(bad, "node", {"refused": "r"}) == ("passed", "")
    assert verdict(bad, "node", {"output": {}}) == ("failed", "accepted: c")
    assert verdict(TEST, "node", {"refused": "r"}) == ("failed", "refused a valid input: r")
    assert verdict(TEST, "node", {"output": TEST["expect"]}) == ("passed", "")
    assert verdict(TEST, "node", {"output": {"a": "0x1.0p0", "b": hexed(2.0)}}) == ("passed", "")
    assert verdict(TEST, "node", {"output": {"a": hexed(1.0)}}) == ("failed", "another value")
    loose = {**TEST, "tolerance": {"ulps": 1}}
    near = {"a": off(1.0, 1), "b": hexed(2.0)}
    assert verdict(loose, "node", {"output": near}) == ("acceptable", "within the tolerance")
    assert verdict(TEST, "node", {"output": near}) == ("failed", "another value")
    found = judge(loose, "node", {"output": {"a": off(1.0, 1), "b": off(2.0, 2)}})
    assert found.outcome == "failed" and found.difference is not None and found.difference.path == "b"


@pytest.mark.parametrize(("epsilon", "outcome"), [(0.99, "failed"), (1.0, "passed"), (1.5, "passed"), (2.0, "passed"),
                                                  (2.01, "acceptable"), (math.inf, "failed"),
                                                  (math.nan, "failed")])  # fmt: skip
def test_accounts_are_bounds(epsilon: float, outcome: str) -> None:
    test = {**TEST, "expect": {"lower": hexed(1.0), "upper": hexed(2.0)}}
    assert judge(test, "account", {"output": {"epsilon": hexed(epsilon)}}).outcome == outcome
    assert judge(test, "account", {"output": None}).outcome == "failed"


def drawn(law: list[Any], values: Any, count: int) -> Judgement:
    test = {**TEST, "expect": {"law": law, "error": "1e-6"}, "input": {"count": count}}
    return judge(test, "statistical", {"output": {"values": array_out(np.asarray(values))}})


def test_draws_of_their_law() -> None:
    generator = np.random.default_rng(0)
    plain = {"laplace": generator.laplace(size=4000), "normal": generator.normal(size=4000),
             "gumbel": generator.gumbel(size=4000), "exponential": generator.exponential(size=4000)}  # fmt: skip
    for name, values in plain.items():
        assert drawn([name], values, 4000).outcome == "passed" and drawn_so([name], values) > 1e-3
        assert drawn([name], 1.15 * values, 4000).outcome == "failed"
        assert drawn([name], values[:3999], 4000).reason == "another number of draws"
        assert drawn([name], np.concatenate([values[:3990], values[:10]]), 4000).outcome == "failed"
        assert drawn([name], np.concatenate([values[:3998], values[:2]]), 4000).outcome == "passed"
    assert drawn(["normal"], plain["laplace"] / math.sqrt(2), 4000).outcome == "failed"
    two = generator.geometric(1 - math.exp(-0.5), (2, 4000))
    assert drawn(["discrete-laplace", "2"], two[0] - two[1], 4000).outcome == "passed"
    assert drawn(["discrete-laplace", "3"], two[0] - two[1], 4000).outcome == "failed"
    points = np.arange(-60, 61)
    weight = np.exp(-(points**2) / 32.0)
    sixteen = generator.choice(points, 4000, p=weight / weight.sum())
    assert drawn(["discrete-gaussian", "16"], sixteen, 4000).outcome == "passed"
    assert drawn(["discrete-gaussian", "4"], sixteen, 4000).outcome == "failed"


def test_draws_that_two_answers_share() -> None:
    def answer(values: Any) -> dict[str, Any]:
        return {"output": {"values": array_out(np.asarray(values))}}

    a, b = np.arange(10) + 0.5, np.arange(10) + 0.25
    assert repeats(answer(a), answer(a)) and repeats(answer(a), answer(a[::-1])) and not repeats(answer(a), answer(b))
    half = np.concatenate([a[:5], b[5:]])
    more = np.concatenate([a[:6], b[6:]])
    assert not repeats(answer(a), answer(half)) and repeats(answer(a), answer(more))
    whole = np.array([1, 2, 3, 4])
    assert not repeats(answer(whole), answer(whole[::-1])) and repeats(answer(whole), answer(whole))
    assert repeats(answer(a), answer(np.concatenate([a[2:], b])))


# --- Margins ----------------------------------------------------------------------------------------------------------

GUMBEL, RACING = ({"coefficient": hexed(2.0), "sampler": name} for name in ("gumbel", "racing"))


def test_scores_of_both_samplers() -> None:
    utility, draws = np.array([[1.0, 3.0, 2.0], [0.0, -8.0, -1.0]]), np.array([[0.5, 0.25, 4.0], [1.0, 2.0, 0.125]])
    found, ulp = scores(GUMBEL, utility, draws)
    assert found.tolist() == [[-3.5, 0.25, 2.0], [1.0, -14.0, -1.875]]
    assert ulp.tolist() == [math.ulp(6.0), math.ulp(16.0)]
    found, ulp = scores(RACING, utility, draws)
    wanted = 2 * (utility - utility.max(axis=1, keepdims=True)) - np.log(draws)
    assert np.allclose(found, wanted) and ulp.tolist() == [math.ulp(6.0), math.ulp(16.0)]
    tiny, ulp = scores(GUMBEL, np.zeros((1, 2)), np.zeros((1, 2)))
    assert ulp.tolist() == [math.ulp(2.0**-500)] and tiny.tolist() == [[0.0, 0.0]]


def test_choices_within_a_margin_above_0() -> None:
    utility = np.array([[1.0, 1.0, 0.0], [0.0, 4.0, 4.0]])
    unit = math.ulp(2.0)
    for steps, allowed in ((0, False), (1, True), (2, True), (3, False)):
        draws = np.array([[1.0 + steps * unit, 1.0, 0.0], [0.0, 0.0, -5.0]])
        due, got = np.array([0, 1]), np.array([1, 1])
        assert within(GUMBEL, utility, draws, due, due, 2)
        assert within(GUMBEL, utility, draws, due, got, 2) == allowed
        assert not within(GUMBEL, utility, draws, due, np.array([2, 1]), 2)
        assert not within(GUMBEL, utility, draws, due, np.array([1, 2]), 2)
    for wrong in (np.array([-1, 1]), np.array([0, 3]), np.array([0]), np.array([[0, 1]])):
        assert not within(GUMBEL, utility, np.zeros((2, 3)), np.array([0, 1]), wrong, 2)
    assert within(GUMBEL, utility, np.zeros((2, 3)), np.array([0, 2]), np.array([0, 2]), 0)


def test_utilities_some_ulps_of_the_largest_off() -> None:
    utility = np.array([[4.0, 0.5, -math.inf], [0.25, 0.125, 0.0]])
    for row, unit in ((0, math.ulp(4.0)), (1, math.ulp(0.25))):
        for column in (0, 1):
            for steps, near in ((2, True), (-2, True), (3, False), (-3, False)):
                mine = utility.copy()
                mine[row, column] += steps * unit
                assert close(utility, mine, 2) == near
    assert not close(utility, utility[:, :2], 2) and close(utility, utility.copy(), 0)
    far = utility.copy()
    far[0, 2] = -1.0
    assert not close(utility, far, 2)
    assert close(np.zeros((1, 1)), np.array([[2 * math.ulp(2.0**-500)]]), 2)
    test = {"expect": {"utility": array_out(utility)}, "tolerance": {"choices": 2}}
    assert margins.near(test, {"utility": array_out(utility)}) and not margins.near(test, {"utility": array_out(far)})


def test_applied_mechanisms_within_their_margin() -> None:
    value, standard = np.array([[1.0, 1.0]]), np.array([[1.0 + math.ulp(2.0), 1.0]])
    test = {"input": {"mechanism": GUMBEL, "value": array_out(value), "standard": array_out(standard)},
            "expect": {"index": array_out(np.array([0]))}, "tolerance": {"choices": 1}}  # fmt: skip
    assert margins.applied(test, {"index": array_out(np.array([0]))})
    assert margins.applied(test, {"index": array_out(np.array([1]))})
    assert not margins.applied({**test, "tolerance": {"choices": 0}}, {"index": array_out(np.array([1]))})


def test_places_of_chosen_rows() -> None:
    offered = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.0], [0.0, 2.0]])
    assert places(offered, np.array([[1.0, 1.0], [0.0, 2.0], [0.0, 1.0]])).tolist() == [2, 1, 0]
    for wrong in (np.array([[1.0, 2.0]]), np.array([[0.0, 1.0, 0.0]]), np.array([[0.0, 1.0], [5.0, 5.0]])):
        with pytest.raises(InvalidParameter, match="none of the options"):
            places(offered, wrong)


def test_options_of_a_run_with_public_candidates() -> None:
    schema = {"features": [{"name": "x", "low": hexed(0.0), "high": hexed(4.0)}, {"name": "c", "categories": ["a",
            "b"]}],
              "target": {"low": hexed(0.0), "high": hexed(1.0)}}  # fmt: skip
    given: dict[str, Any] = {"schema": schema, "params": {"bins": 3, "missing": "left"}}
    plain = [[0, 1], [0, 2], [0, 3], [1, 0], [1, 1]]
    assert options("dpxgboost", given).tolist() == options("dpboost", given).tolist() == plain
    both = {**given, "params": {"bins": 3, "missing": "learned"}}
    assert options("dpxgboost", both).tolist() == [[*one, side] for side in (0, 1) for one in plain]
    assert options("dpboost", both).tolist() == plain
    logs = options("dpboost", {**given, "params": {"bins": 3, "missing": "left", "candidates": "log"}})
    assert logs.shape == (5, 2) and logs[0, 1] < 0.1 and logs[3:].tolist() == plain[3:]
    classes = margins._schema({**schema, "target": {"values": ["u", "v", "w"]}})
    assert classes.scores == 3 and margins._schema(schema).target.high == 1.0  # type: ignore[union-attr]


def test_the_next_question_has_refdps_choice() -> None:
    side = {"tape": [{"kind": "coins"}, {"kind": "release", "law": ["gumbel"], "dtype": "float64"}, {"kind": "end"}]}
    found = margins._with_choice(side, Again(1, np.array([2, 0])))
    assert found["tape"][0] == {"kind": "coins"} and found["tape"][2] == {"kind": "end"}
    assert found["tape"][1] == {
        "kind": "release",
        "law": ["index"],
        "dtype": "int64",
        "shape": [2],
        "values": ["2", "0"],
    }
    assert margins._with_choice(side, None) is side and side["tape"][1]["law"] == ["gumbel"]
    assert isinstance(Difference("", 1, 2).acceptable, bool)


def test_draws_that_come_again_at_a_distance_are_not_of_their_law() -> None:
    """A half that is minus the other, and blocks of a hundred that come twice; signs alone, too."""
    generator = np.random.default_rng(3)
    half, discrete = generator.normal(size=4000), ["discrete-laplace", "300"]
    two = generator.geometric(1 - math.exp(-1 / 300), (2, 8000))
    whole = two[0] - two[1]
    blocks = np.repeat(whole.reshape(-1, 100)[:40], 2, axis=0).ravel()
    assert drawn_so(["normal"], generator.normal(size=8000)) > 1e-3 and drawn_so(discrete, whole) > 1e-3
    assert drawn_so(["normal"], np.concatenate([half, -half])) < 1e-9
    assert drawn_so(discrete, np.concatenate([whole[:4000], -whole[:4000]])) < 1e-9
    assert drawn_so(discrete, blocks) < 1e-9


@pytest.mark.parametrize("law", [["laplace"], ["normal"], ["discrete-laplace", "1030/3"],
                                 ["discrete-gaussian", "1000001/3"], ["discrete-laplace", "7/2"]])  # fmt: skip
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("order", ["mirrored", "shuffled"])
def test_a_half_that_is_the_other_in_another_order_is_found(law: list[Any], sign: int, order: str) -> None:
    """Or minus the other. Of a law of few values the order alone can tell."""
    chance = np.random.default_rng(3)

    def discrete_laplace(scale: float) -> Any:
        return np.subtract(*(chance.geometric(1 - math.exp(-1 / scale), 20_000) for _ in range(2))).astype(np.float64)

    right = {
        "laplace": lambda: chance.laplace(size=20_000), "normal": lambda: chance.normal(size=20_000),
        "discrete-laplace": lambda: discrete_laplace(1030 / 3 if law[-1] == "1030/3" else 3.5),
        "discrete-gaussian": lambda: np.rint(chance.normal(0, (1000001 / 3) ** 0.5, 20_000)),
    }[law[0]]()  # fmt: skip
    assert drawn_so(law, right) > 1e-9
    first = right[:10_000]
    again = sign * (first[::-1] if order == "mirrored" else chance.permutation(first))
    found = drawn_so(law, np.concatenate([first, again]))
    assert (found > 1e-9) == (law[-1] == "7/2" and order == "shuffled")


@pytest.mark.parametrize("law", [["laplace"], ["normal"], ["gumbel"], ["exponential"], ["discrete-laplace", "40"],
                                 ["discrete-gaussian", "900"]])  # fmt: skip
@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_one_draw_that_is_no_number_is_not_of_any_law(law: list[Any], wrong: float) -> None:
    """A NaN makes every p-value NaN, which is below no error rate."""
    generator = np.random.default_rng(1)
    plain = {"laplace": generator.laplace, "normal": generator.normal, "gumbel": generator.gumbel,
             "exponential": generator.exponential}  # fmt: skip
    if law[0] in plain:
        values = plain[law[0]](size=4000)
    else:
        two = generator.geometric(1 - math.exp(-1 / 40), (2, 4000))
        values = np.asarray(two[0] - two[1] if law[0] == "discrete-laplace" else np.rint(generator.normal(0, 30, 4000)))
        values = values.astype(np.float64)
    assert drawn(law, values, 4000).outcome == "passed"
    values[17] = wrong
    assert drawn(law, values, 4000).outcome == "failed"
    assert drawn(law, np.full(4000, wrong), 4000).outcome == "failed"


def test_draws_of_a_discrete_law_are_whole() -> None:
    """Cut off to whole numbers they would have the law."""
    two = np.random.default_rng(2).geometric(1 - math.exp(-1 / 40), (2, 4000))
    values = (two[0] - two[1]).astype(np.float64)
    assert drawn(["discrete-laplace", "40"], values, 4000).outcome == "passed"
    found = drawn(["discrete-laplace", "40"], values + np.sign(values) * 0.25, 4000)
    assert (found.outcome, found.reason) == ("failed", "draws that are no whole numbers")


def test_whole_numbers_are_no_hexadecimal_ones() -> None:
    """The text 10 is ten: not "0x10", and not any other whole number that rounds to the same float."""
    for due, got in (("10", "0x10"), ("10", "0x1p4"), ("16", "0x10"), ("1234567890123456789", "1234567890123456788"),
                     ("0", "-0"), ("0", "0x0p+0"), ("7", "07")):  # fmt: skip
        for ulps in (0, 4):
            assert told(due, got, ulps) == [("", False)] and told(got, due, ulps) == [("", False)], (due, got)
    for wrong in ("10", "1.8p1", "abc", "-1"):
        with pytest.raises(InvalidParameter):
            floated(wrong)
    assert floated("-INF") == -math.inf and floated("0X1P+1") == 2.0 and floated("-0x1p-1") == -0.5


def test_the_sign_of_zero_is_a_difference_within_the_tolerance() -> None:
    loose = {**TEST, "expect": {"a": hexed(0.0)}, "tolerance": {"ulps": 1}}
    assert verdict(loose, "node", {"output": {"a": hexed(-0.0)}}) == ("acceptable", "within the tolerance")
    assert verdict(loose, "node", {"output": {"a": hexed(0.0)}}) == ("passed", "")


@pytest.mark.parametrize("answer", [
    {"refused": False, "output": {}}, {"refused": None}, {"refused": True}, {"refused": "r", "output": {}},
    {"skip": "later", "output": TEST["expect"]}, {"skip": "later", "refused": "r"}, {"skip": None}, {"skip": 3},
    {},
])  # fmt: skip
def test_an_answer_is_one_thing_with_a_reason(answer: dict[str, Any]) -> None:
    """Who refuses and gives an output, or skips and refuses, is no right program of any vector."""
    for test in (TEST, {**TEST, "result": "invalid"}):
        assert judge(test, "node", answer).outcome == "failed"
