"""Answers that differ by choices: every step of settling them by hand, without a program; and what a seed names."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.conform import margins, runs
from refdp.conform.compare import Difference
from refdp.conform.files import TEXTS
from refdp.conform.judge import Judgement
from refdp.conform.made import drawn_from
from refdp.conform.margins import ACCEPTABLE, close, options, places, scores, settle, within
from refdp.conform.plain import array_in, array_out, hexed
from refdp.errors import InvalidParameter

VECTORS = Path(__file__).parents[2] / "conform"
ULP = 2.0**-52
GRID = np.array([[0.0, 0.8], [0.0, 1.6], [0.0, 2.4], [0.0, 3.2], [1.0, 0.0], [1.0, 1.0]])
"""Splits on x in 0..4 by four thresholds, and on two categories."""
EXPONENTIAL = {"name": "Exponential", "coefficient": hexed(1.0), "sampler": "gumbel"}
SCHEMA = {
    "features": [{"name": "x", "low": hexed(0.0), "high": hexed(4.0)}, {"name": "c", "categories": ["a", "b"]}],
    "target": {"low": hexed(0.0), "high": hexed(1.0)},
}
UTILITY = np.array([[0.0, 0.25, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.5, 0.0, 0.0]])
DRAWS = np.array([[-9.0, 0.75, -9.0, 1.0 - ULP, -9.0, -9.0], [-9.0, -9.0, -9.0, 2.0, 2.5 - 2 * ULP, -9.0]])
"""Node 0 chooses option 1, two ulps before option 3; node 1 option 3 before option 4."""


def table(values: Any) -> dict[str, Any]:
    return array_out(np.asarray(values))


def given(draws: Any = DRAWS, law: str = "gumbel") -> dict[str, Any]:
    tape = [
        {"kind": "draw", "law": ["uniform"], **table([0.5])},
        {"kind": "release", "law": ["normal"], "mechanism": {"name": "Laplace"}, **table([1.0])},
        {"kind": "release", "law": [law], "mechanism": EXPONENTIAL, **table(draws)},
    ]
    return {"params": {"bins": 4}, "schema": SCHEMA, "tape": tape}


def told(rows: Any, utility: Any = UTILITY, leaf: float = 0.25, model: float = 1.0, path: str = "b") -> dict[str, Any]:
    splits = np.asarray(GRID[rows]) if isinstance(rows, list) else rows
    first = {"path": "a", "value": table([0.0]), "output": table([leaf])}
    second = {"path": path, "value": table(utility), "output": table(splits)}
    return {"releases": [first, second], "model": [hexed(model)]}


class Asked:
    """The program: what it was asked, and what it says."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers, self.questions = list(answers), list[dict[str, Any]]()

    def __call__(self, question: dict[str, Any]) -> dict[str, Any]:
        self.questions.append(question)
        return self.answers.pop(0)


def settled(answer: dict[str, Any], ask: Asked, due: dict[str, Any] | None = None, ulps: int = 4) -> Judgement | None:
    test = {"input": given(), "expect": due or told([1, 3]), "tolerance": {"choices": ulps}}
    return settle("dpboost", test, {"output": answer}, ask)


def test_a_choice_by_a_small_margin_is_asked_again_with_the_one_that_is_due() -> None:
    """The tape's third entry becomes refdp's choice, all else stays; after that the answer has to be refdp's."""
    ask = Asked({"output": told([1, 3])})
    assert settled(told([3, 3]), ask) == ACCEPTABLE
    assert (ACCEPTABLE.outcome, ACCEPTABLE.reason) == ("acceptable", "utilities or choices within the margin")
    due = given()
    due["tape"][2] |= {"law": ["index"], **table(np.array([1, 3]))}
    assert ask.questions == [due]
    for again in (told([3, 3]), told([1, 3], model=2.0), told([1, 3], leaf=0.5)):
        assert settled(told([3, 3]), Asked({"output": again})) is None
    assert settled(told([3, 4]), Asked({"output": told([1, 3])})) == ACCEPTABLE


def test_utilities_within_the_margin_alone_ask_nothing() -> None:
    near = UTILITY + np.array([[0, ULP / 4, 0, 0, 0, 0], [0, 0, 0, -ULP, 0, 0]])
    assert settled(told([1, 3], near), Asked()) == ACCEPTABLE
    assert settled(told([1, 3]), Asked()) == ACCEPTABLE


@pytest.mark.parametrize("answer", [
    told([1, 3], UTILITY + 1e-9), told([1, 3], path="c"), told([1, 3], leaf=0.5), told([1, 3], model=0.5),
    told([0, 3]), told([3, 0]), told(np.array([[0.0, 0.9], [0.0, 3.2]])), told(GRID[:1]), told(np.zeros((2, 3))),
    {"releases": [], "model": []}, {"model": []}, {"releases": None, "model": []},
    {**told([1, 3]), "releases": told([1, 3])["releases"] * 2},
])  # fmt: skip
def test_what_differs_by_more_than_a_margin_is_not_settled(answer: dict[str, Any]) -> None:
    assert settled(answer, Asked()) is None


def test_margins_are_those_of_the_tolerance() -> None:
    """Two ulps of the largest score, which is 1: at two it is within, at one it is not."""
    assert settled(told([3, 3]), Asked({"output": told([1, 3])}), ulps=2) == ACCEPTABLE
    assert settled(told([3, 3]), Asked(), ulps=0) is None


def test_no_answer_to_the_second_question_is_a_failure() -> None:
    for answer, reason in (({"refused": "no"}, "no"), ({"error": "crashed"}, "crashed"), ({"x": 1}, "{'x': 1}")):
        found = settled(told([3, 3]), Asked(answer))
        said = f"a tape with refdp's choices: {reason}"
        assert found == Judgement("failed", said, Difference("", "an output", said))


def test_both_sides_of_a_pair_are_asked_again() -> None:
    """The side that is right already is asked as it was; a program that goes on choosing otherwise is not settled."""
    right, other = told([1, 3]), told([3, 3])
    test = {
        "input": {"sides": [given(), given(DRAWS[::1] - 0.0)], "more": 7},
        "expect": {"sides": [right, right]},
        "tolerance": {"choices": 4},
    }
    for first, second in ((right, other), (other, right), (other, other)):
        ask = Asked({"output": {"sides": [right, right]}})
        assert settle("dpboost", test, {"output": {"sides": [first, second]}}, ask) == ACCEPTABLE
        (question,) = ask.questions
        laws = [side["tape"][2]["law"] for side in question["sides"]]
        assert laws == [["index"] if one is other else ["gumbel"] for one in (first, second)] and question["more"] == 7
    wrong = {"output": {"sides": [other, told([0, 0])]}}
    assert settle("dpboost", test, wrong, Asked()) is None
    assert settle("dpboost", test, {"output": {"sides": [right]}}, Asked()) is None


def test_scores_of_both_samplers() -> None:
    utility, draws = np.array([[1.0, 3.0], [2.0, -4.0]]), np.array([[0.5, 0.25], [0.125, 8.0]])
    mechanism = {"coefficient": hexed(0.5), "sampler": "gumbel"}
    found, ulp = scores(mechanism, utility, draws)
    assert found.tolist() == [[-0.5, 0.25], [0.125, 5.0]] and ulp.tolist() == [ULP, 4 * ULP]
    found, ulp = scores({**mechanism, "sampler": "racing"}, utility, draws)
    logs = [[-1.0 - math.log(0.5), -math.log(0.25)], [-math.log(0.125), -3.0 - math.log(8.0)]]
    assert np.allclose(found, logs, rtol=1e-15) and ulp.tolist() == [ULP, 4 * ULP]
    for size, least in ((0.0, 2.0**-500), (2.0**-600, 2.0**-500), (2.0**-499, 2.0**-499)):
        _, ulp = scores(mechanism, np.zeros((1, 2)), np.array([[0.0, size]]))
        assert ulp.tolist() == [float(np.spacing(least))]


def test_choices_within_a_margin() -> None:
    """A tie is no margin, and neither is a choice that is better than what is due."""
    utility, ulp = np.zeros((1, 3)), 2 * ULP
    for ahead, ok in ((0, False), (1, True), (3, True), (4, False), (-1, False)):
        draws = np.array([[2.0, 2.0 - ahead * ulp if ahead >= 0 else 2.0 + ulp, -1.0]])
        one, other = np.array([0]), np.array([1])
        assert within(EXPONENTIAL, utility, draws, one, other, 3) is ok
        assert within(EXPONENTIAL, utility, draws, one, one, 0) is True
    for wrong in (np.array([3]), np.array([-1]), np.array([0, 0])):
        assert within(EXPONENTIAL, utility, draws, one, wrong, 3) is False
    assert within(EXPONENTIAL, utility, np.array([[2.0, 0.0, 2.0 - ulp]]), one, np.array([2]), 1)


def test_utilities_that_are_close() -> None:
    """So many ulps of the largest of the node, not of the table; excluded options on both sides are close."""
    base = np.array([[1.0, 0.0, -np.inf], [0.0, 4.0, 2.0]])

    def off(place: tuple[int, int], ulps: float) -> bool:
        mine = base.copy()
        mine[place] += ulps * ULP
        return close(base, mine, 2)

    assert off((0, 1), 2) and not off((0, 1), 3) and off((1, 0), 8) and not off((1, 0), 9) and off((1, 2), -8)
    assert close(base, base, 0) and not close(base, base[:1], 2) and not close(base, np.where(base == 0, np.nan, 1), 2)
    excluded = base.copy()
    excluded[1, 0] = -np.inf
    assert not close(base, excluded, 2) and not close(excluded, base, 2)
    small = np.array([[-np.inf, 0.0, 0.25]])
    assert close(small, small + np.array([[0, ULP / 2, 0]]), 2) and not close(small, small + np.array([[0, ULP, 0]]), 2)
    below = np.array([[0.5, 1.0 - ULP / 2]])
    assert not close(below, below + np.array([[1.5 * ULP, ULP / 2]]), 2), "ulps are of what is due, 2^-53 below 1"
    tiny = np.zeros((1, 2))
    least = float(np.spacing(2.0**-500))
    assert close(tiny, tiny + 2 * least, 2) and not close(tiny, tiny + 3 * least, 2)


def test_a_program_is_asked_once_for_each_release_that_it_may_choose_otherwise() -> None:
    """A tape of choices alone: one question for each, and a last look at the answer."""
    for count in (1, 2):
        entry = given()["tape"][2]
        body = {**given(), "tape": [entry] * count}

        def answered(right: int, count: int = count) -> dict[str, Any]:
            """The first so many choices are refdp's."""
            splits = [[1, 3] if number < right else [3, 3] for number in range(count)]
            release = [
                {"path": str(n), "value": table(UTILITY), "output": table(GRID[s])} for n, s in enumerate(splits)
            ]
            return {"releases": release, "model": [hexed(1.0)]}

        test = {"input": body, "expect": answered(count), "tolerance": {"choices": 4}}
        ask = Asked(*({"output": answered(right)} for right in range(1, count + 1)))
        assert settle("dpboost", test, {"output": answered(0)}, ask) == ACCEPTABLE
        assert len(ask.questions) == count and not ask.answers


def test_utilities_below_zero_have_the_ulps_of_their_size() -> None:
    base = np.array([[-4.0, -1.0, -np.inf]])
    assert close(base, base + np.array([[0, 8 * ULP, 0]]), 2) and not close(base, base + np.array([[0, 9 * ULP, 0]]), 2)


def test_answers_to_single_questions() -> None:
    test = {"expect": {"utility": table([[1.0, 2.0]])}, "tolerance": {"choices": 1}}
    assert margins.near(test, {"utility": table([[1.0, 2.0 + 2 * ULP]])})
    assert not margins.near(test, {"utility": table([[1.0, 2.0 + 4 * ULP]])})
    test = {
        "input": {"mechanism": EXPONENTIAL, "value": table([[0.0, 0.5]]), "standard": table([[1.0, 0.5 - ULP / 2]])},
        "expect": {"index": table(np.array([0]))},
        "tolerance": {"choices": 1},
    }
    assert margins.applied(test, {"index": table(np.array([1]))}) and margins.applied(test, test["expect"])
    assert not margins.applied({**test, "tolerance": {"choices": 0}}, {"index": table(np.array([1]))})
    with pytest.raises(InvalidParameter):
        margins.applied(test, {})


def test_options_of_public_candidates() -> None:
    """Ratios of thresholds of the logarithmic ones differ; a missing value's side is a column of DPXGBoost's."""
    assert np.allclose(options("dpboost", given()), GRID, rtol=1e-15)
    body = {"params": {"bins": 4, "candidates": "uniform", "missing": "left"}, "schema": SCHEMA}
    assert np.allclose(options("dpxgboost", body), GRID, rtol=1e-15)
    body["params"] = {"bins": 4, "candidates": "log", "missing": "left"}
    found = options("dpxgboost", body)
    assert found.shape == (6, 2) and found[0, 1] < 0.1 and found[3, 1] < 2
    body["params"] = {"bins": 4, "candidates": "uniform", "missing": "learned"}
    found = options("dpxgboost", body)
    assert np.allclose(found[:, :2], np.concatenate([GRID, GRID])) and found[:, 2].tolist() == [0.0] * 6 + [1.0] * 6


def test_places_of_chosen_rows() -> None:
    assert places(GRID, GRID[[5, 0, 3]]).tolist() == [5, 0, 3]
    assert places(np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([[1.0, 2.0]])).tolist() == [0]
    for rows in (np.array([[0.0, 0.8], [0.0, 0.9]]), np.array([[1.0, 0.8]]), np.zeros((1, 3))):
        with pytest.raises(InvalidParameter, match="none of the options"):
            places(GRID, rows)


# --- What a seed names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("paper", "digest"), [
    ("dpboost", "9eb4acb4b3eaa05f"), ("dpxgboost", "803ebf496e0c4ca4"), ("fedgbdt", "b77e190af1ad0dee"),
    ("inprivate", "7f555c9bd5dafd8a"), ("sgbdt", "789f9e3becb98e13"), ("grove", "1bcda50b70aa56e5"),
])  # fmt: skip
def test_wide_runs_of_a_seed_are_the_same_in_every_version(
    paper: str, digest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record, no truth: settings, records and tapes of the two wider runs, here with few records."""
    assert set(runs.WIDE) == set(TEXTS) and runs.ROWS == (700, 66000, 12)
    assert all(len(runs.WIDE[one]) == 2 + (one == "grove") for one in TEXTS) and runs.WIDE["grove"][2]["trees"] is None
    assert runs.ROWS[0] > 2**8 and runs.ROWS[1] > 2**16
    monkeypatch.setattr(runs, "RUNS", 0)
    monkeypatch.setattr(runs, "ROWS", (5, 3))
    monkeypatch.setattr(runs, "FURTHER", dict.fromkeys(TEXTS, ()))
    monkeypatch.setattr(runs, "WHOLE", dict.fromkeys(TEXTS, ()))
    monkeypatch.setattr(runs, "LAST", dict.fromkeys(TEXTS, ()))
    monkeypatch.setattr(runs, "OUTSIDE", 0)
    with drawn_from(1):
        found = [one.to_json("x") for one in runs.train(paper)]
    assert [one["input"]["y"]["shape"] for one in found] == [[5], [3]]
    inputs = json.dumps([one["input"] for one in found], sort_keys=True)
    assert hashlib.sha256(inputs.encode()).hexdigest()[:16] == digest


@pytest.mark.parametrize(("number", "steps"), [
    (1.0, 2**16 + 1), (1 - 1.5 * 2.0**-30, 2**16), (1 - 0.75 * 2.0**-30, 2**16 + 1), (3.5 / 2**16, 4),
])  # fmt: skip
def test_upper_bounds_are_moved_up_to_steps(number: float, steps: int) -> None:
    """Beyond 2^-30 of them: what two accountants may differ by."""
    assert runs._above(number) == steps / 2**16


@pytest.mark.parametrize("number", [0.75, 1.0, 1 + 2.0**-52, 2 - 2.0**-52, 3.5 / 2**16, 1e-5, 48.0 / 7])
def test_lower_bounds_are_moved_down_by_next_to_nothing_of_them(number: float) -> None:
    """However small they are, and to few bits, the same for what differs in its last place."""
    found = runs._below(number)
    assert number * (1 - 2.0**-30) < found < number * (1 - 2.0**-33)
    assert found == runs._below(math.nextafter(number, 0.0))
    assert (found * 2.0**32 / 2.0 ** math.floor(math.log2(number))) % 1 == 0
    assert runs._below(0.0) == 0.0


def test_arrays_of_the_tests_are_what_they_say() -> None:
    assert array_in(table(DRAWS)).tolist() == DRAWS.tolist()


@pytest.mark.parametrize("number", [44, 45, 47])
def test_options_of_sketches_are_those_of_the_run_on_the_tape(number: int) -> None:
    """Each choice is one of what is offered, and its place is what the draws say; public options are others."""
    test = json.loads((VECTORS / "dpxgboost" / "train.json").read_text(encoding="utf-8"))["tests"][number - 1]
    releases = iter(test["expect"]["releases"])
    seen = 0
    for place, entry in enumerate(test["input"]["tape"]):
        told = next(releases) if entry["kind"] == "release" else {}
        if entry.get("mechanism", {}).get("name") == "Exponential":
            offered = margins.replayed("dpxgboost", test["input"], place)
            found, _ = scores(entry["mechanism"], array_in(told["value"]), array_in(entry))
            assert places(offered, array_in(told["output"])).tolist() == found.argmax(axis=1).tolist()
            seen += 1
    assert seen > 2
    with pytest.raises(InvalidParameter, match="no choice"):
        margins.replayed("dpxgboost", test["input"], len(test["input"]["tape"]) - 1)
    answer = json.loads(json.dumps(test["expect"]))
    assert settle("dpxgboost", test, {"output": answer}, Asked()) == ACCEPTABLE
