"""Choices that an implementation may make otherwise: those that a few ulps of the utilities decide.

A vector with the tolerance {"choices": n} allows utilities of the exponential mechanism to be n ulps off (ulps of the
largest of their node), and another choice where its margin in refdp's scores is above 0 and at most n ulps of the
largest number of the node. A tie is no margin: the first option has to be chosen. The program is then asked again, with
refdp's choice in place of the draws (law "index"), so that what follows is examined too; the vector is "acceptable".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.conform.compare import Difference, differences
from refdp.conform.judge import Judgement
from refdp.conform.plain import array_in, array_out, floated, hexed
from refdp.conform.tape_file import law_in
from refdp.data import candidates as grids
from refdp.data import numbers
from refdp.data.records import Categorical, Classes, Floats, Interval, Numeric, Records, Schema
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.replay import Recorder
from refdp.privacy.sources import Listed
from refdp.privacy.tape import TapeSource

Integers = NDArray[np.int64]
ACCEPTABLE = Judgement("acceptable", "utilities or choices within the margin")


@dataclass(frozen=True)
class Again:
    """Refdp's choices of one release, for the tape of the next question. number: of the tape's entry."""

    number: int
    index: Integers


def scores(mechanism: dict[str, Any], utility: Floats, draws: Floats) -> tuple[Floats, Floats]:
    """What the greatest of is chosen, shape (nodes, options), and the size of an ulp of each node's largest number."""
    coefficient = floated(mechanism["coefficient"])
    weight = coefficient * (utility - utility.max(axis=1, keepdims=True))
    found = weight + draws if mechanism["sampler"] == "gumbel" else weight - np.asarray(numbers.log(draws))
    largest = np.maximum(np.abs(found), np.abs(coefficient * utility)).max(axis=1)
    return found, np.spacing(np.maximum(largest, 2.0**-500))


def within(mechanism: dict[str, Any], utility: Floats, draws: Floats, due: Integers, got: Integers, ulps: int) -> bool:
    """Whether each choice is the one that is due, or differs by a margin above 0 and of so many ulps at most.

    utility, draws: shape (nodes, options); due, got: (nodes,).
    """
    if got.shape != due.shape or not ((got >= 0) & (got < utility.shape[1])).all():
        return False
    found, ulp = scores(mechanism, utility, draws)
    node = np.arange(len(due))
    margin = found[node, due] - found[node, got]
    return bool(((due == got) | ((margin > 0) & (margin <= ulps * ulp))).all())


def close(utility: Floats, mine: Floats, ulps: int) -> bool:
    """Whether utilities are so many ulps of the largest of their node off at most. Shape (nodes, options) each."""
    if mine.shape != utility.shape:
        return False
    finite = np.where(np.isfinite(utility), np.abs(utility), 0.0)
    ulp = np.spacing(np.maximum(finite.max(axis=1, keepdims=True), 2.0**-500))
    with np.errstate(invalid="ignore"):  # an option that is excluded on both sides: -inf less itself
        return bool(((mine == utility) | (np.abs(mine - utility) <= ulps * ulp)).all())


def near(test: dict[str, Any], output: Any) -> bool:
    """Whether the answer to `utilities` is close."""
    utility, mine = array_in(test["expect"]["utility"]), array_in(output.get("utility"))
    return close(utility, mine, test["tolerance"]["choices"])


def applied(test: dict[str, Any], output: Any) -> bool:
    """Whether an `apply` of the exponential mechanism is within its margin."""
    given, ulps = test["input"], test["tolerance"]["choices"]
    tables = array_in(given["value"]), array_in(given["standard"])
    return within(given["mechanism"], *tables, array_in(test["expect"]["index"]), array_in(output.get("index")), ulps)


def settle(
    paper: str, test: dict[str, Any], answer: dict[str, Any], ask: Callable[[dict[str, Any]], dict[str, Any]]
) -> Judgement | None:
    """The verdict on an answer that differs: acceptable, or None where it differs by more than margins."""
    given, ulps = test["input"], int(test["tolerance"]["choices"])
    sides = "sides" in given
    for _ in range(1 + sum(one["kind"] == "release" for side in _sides(given) for one in side["tape"])):
        try:
            pairs = zip(_sides(given), _sides(test["expect"]), _sides(answer["output"]), strict=True)
            found = [_examined(paper, *pair, ulps) for pair in pairs]
        except (InvalidParameter, KeyError, TypeError, ValueError, AttributeError):
            return None
        if any(isinstance(one, Difference) for one in found):
            return None
        if not any(isinstance(one, Again) for one in found):
            return ACCEPTABLE
        renewed = [_with_choice(side, one) for side, one in zip(_sides(given), found, strict=True)]
        given = {**given, "sides": renewed} if sides else renewed[0]
        answer = ask(given)
        if "output" not in answer:
            reason = f"a tape with refdp's choices: {answer.get('refused') or answer.get('error') or answer}"
            return Judgement("failed", reason, Difference("", "an output", reason))
    return None


def _sides(body: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = body.get("sides", [body])
    return found


def _examined(
    paper: str, given: dict[str, Any], due: dict[str, Any], got: dict[str, Any], ulps: int
) -> Difference | Again | None:
    """The first thing that is beyond the margins, or the first choice within them that is not refdp's."""
    numbers = [number for number, one in enumerate(given["tape"]) if one["kind"] == "release"]
    for number, want, have in zip(numbers, due["releases"], got["releases"], strict=True):
        entry = given["tape"][number]
        if entry["mechanism"]["name"] != "Exponential":
            if wrong := next(_bits(want, have), None):
                return wrong
            continue
        utility, mine = array_in(want["value"]), array_in(have["value"])
        if have["path"] != want["path"] or not close(utility, mine, ulps):
            return Difference(str(want["path"]), want["value"], have["value"])
        chosen, rows = array_in(want["output"]), array_in(have["output"])
        if np.array_equal(chosen, rows):
            continue
        offered = options(paper, given) if _public(given["params"]) else replayed(paper, given, number)
        right, other = places(offered, chosen), places(offered, rows)
        settled = entry["law"] == ["index"]
        if settled or not within(entry["mechanism"], utility, array_in(entry), right, other, ulps):
            return Difference(str(want["path"]), want["output"], have["output"])
        return Again(number, right)
    return next(_bits(due["model"], got["model"]), None)


def _bits(due: Any, got: Any) -> Iterator[Difference]:
    return (one for one in differences(due, got) if not one.acceptable)


def _with_choice(side: dict[str, Any], found: Any) -> dict[str, Any]:
    if not isinstance(found, Again):
        return side
    entry = {**side["tape"][found.number], "law": ["index"], **array_out(found.index)}
    return {**side, "tape": [*side["tape"][: found.number], entry, *side["tape"][found.number + 1 :]]}


def places(offered: Floats, rows: Floats) -> Integers:
    """Where each chosen row is among the options. Errors: InvalidParameter for a row that is none of them.

    Shape (nodes,).
    """
    same = (rows[:, None, :] == offered[None]).all(axis=2) if rows.shape[1:] == offered.shape[1:] else np.zeros((1, 1))
    if not same.any(axis=1).all():
        raise InvalidParameter("a choice that is none of the options")
    return np.asarray(same.argmax(axis=1), dtype=np.int64)


def options(paper: str, given: dict[str, Any]) -> Floats:
    """The splits that a run with public candidates offers, shape (options, columns)."""
    params, schema = given["params"], _schema(given["schema"])
    grid = grids.logarithmic if params.get("candidates") == "log" else grids.uniform
    values = grid(schema, params["bins"]).values
    if paper != "dpxgboost" or params["missing"] == "left":
        return values
    return np.concatenate([np.column_stack([values, np.full(len(values), side)]) for side in (0.0, 1.0)])


def _public(params: dict[str, Any]) -> bool:
    """Whether every choice of a run is offered the same, which follows from parameters and schema alone."""
    whole = floated(params.get("columns", hexed(1.0))) == 1
    return whole and params.get("candidates") not in ("sketch", "quantiles")


def replayed(paper: str, given: dict[str, Any], number: int) -> Floats:
    """What refdp's own run on this tape offers at the tape's entry of this number, shape (options, columns).

    Errors: InvalidParameter where it offers nothing there.
    """
    module, schema = registry.paper(paper).module, _schema(given["schema"])
    known = {name: _setting(value) for name, value in given["params"].items()}
    params = module.Params(**{**known, "relation": Relation(known["relation"])})
    tape = [Listed(tuple(one["path"].split("/")), one["kind"], law_in(one["law"]), array_in(one))
            for one in given["tape"]]  # fmt: skip
    recorder = Recorder(TapeSource(tape), params.relation)
    with np.errstate(all="ignore"):
        module.train(
            params, Records(schema, array_in(given["x"]), array_in(given["y"])), Curator(recorder, params.relation)
        )
    found = recorder.transcript.entries[number].request.options
    if found is None:
        raise InvalidParameter("a release that is no choice")
    return np.asarray(found, dtype=np.float64)


def _setting(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_setting(one) for one in value)
    return float.fromhex(value) if isinstance(value, str) and value.lstrip("-").startswith("0x") else value


def _schema(body: dict[str, Any]) -> Schema:
    features = [
        Categorical(one["name"], tuple(one["categories"])) if "categories" in one
        else Numeric(one["name"], floated(one["low"]), floated(one["high"]))
        for one in body["features"]
    ]  # fmt: skip
    target = body["target"]
    known = Classes(tuple(target["values"])) if "values" in target else None
    return Schema(tuple(features), known or Interval(floated(target["low"]), floated(target["high"])))
