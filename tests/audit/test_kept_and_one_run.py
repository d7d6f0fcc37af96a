"""What functions keep from call to call, and the rows of an audit by one run, with both sides of every limit."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest

from refdp.audit.kept import kept_beside, room
from refdp.audit.onerun_rows import blind, blind_alone, check_coins, coverage
from refdp.audit.verdicts import Verdict
from refdp.errors import InvalidParameter


def test_what_a_function_keeps() -> None:
    """Attributes, defaults of both kinds, variables around it; a cell that is still empty holds nothing."""
    around = [7]

    def kept(a: int, b: int = 3, c: Any = (), *, d: str = "x", e: int) -> Any:
        return around, a, b, c, d, e, later

    kept.own = 5  # type: ignore[attr-defined]
    assert isinstance(kept, types.FunctionType)
    assert kept_beside(kept) == {
        "own": 5, "d": "x", "default 0": 3, "default 1": (), "around of the function around it": [7]
    }  # fmt: skip
    later = 1
    assert kept_beside(kept)["later of the function around it"] == later
    plain = types.FunctionType(compile("lambda: 1", "x", "eval").co_consts[0], {})
    assert kept_beside(plain) == {}


def test_room_of_what_held_more_once() -> None:
    for thing in ([1], {1}, bytearray(b"1")):
        assert room(thing) == f", {sys.getsizeof(thing)} bytes"
    assert room((1,)) == room({1: 2}) == room(1) == ""


def composition(*given: Any) -> Any:
    rows = coverage(*given)
    (own,) = [row for row in rows if row.what == "composition"]
    others = [row for row in rows if row is not own]
    assert others and all(row.verdict is Verdict.NOT_EXAMINED and not row.decides for row in others)
    assert all(row.reason.startswith("one run shows coins and scores alone") for row in others)
    return own


def test_the_row_of_one_run() -> None:
    """Refuted above the claim only; blind where nothing could refute it: a bound up to the claim is no power."""
    said = "epsilon is at least 1 by one run with 100 canaries, confidence 0.95"
    own = composition(1.0, 0.5, 0.95, 100, 3.0)
    assert (own.verdict, own.reason, own.decides) == (Verdict.VIOLATION, said, True)
    assert own.power == "bounds up to 3, which need every guess to be right"
    for claimed in (1.0, 2.0, None):
        own = composition(1.0, claimed, 0.95, 100, 3.0)
        assert own.verdict is Verdict.NOT_FOUND and own.reason == said
    for claimed in (3.0, 4.0):
        own = composition(1.0, claimed, 0.95, 100, 3.0)
        more = "all guesses right would give 3, not above the claim: more canaries or guesses are needed"
        assert own.verdict is Verdict.NOT_EXAMINED and own.reason == f"{said}; {more}"
        assert composition(1.0, claimed, 0.95, 100, 3.0, "why").reason == f"{said}; why"
    own = composition(1.0, 2.0, 0.95, 100, None)
    assert own.verdict is Verdict.NOT_FOUND and own.power == ""
    own = composition(1.0, 2.0, 0.95, 100, None, "why")
    assert own.verdict is Verdict.NOT_EXAMINED and own.reason == f"{said}; why"


def test_coins_that_fall_as_fair_ones_do() -> None:
    """Thirty heads of thirty have probability 2^-29 both ways, thirty-one 2^-30, which is below 1e-9."""
    for heads in (0, 1):
        check_coins(np.full(30, bool(heads)))
        with pytest.raises(InvalidParameter, match=f"{31 * heads} of 31 canaries are in"):
            check_coins(np.full(31, bool(heads)))


def test_guesses_that_could_not_show_anything() -> None:
    """All 29 wrong have probability 2^-29 and could be chance, all 30 wrong 2^-30."""
    assert blind(np.array([2.0, 2.0, 2.0]), 2, 3) == "all scores are equal, and tell nothing of the coins"
    scores = np.array([1.0, 2.0, 2.0])
    assert blind(scores, 0, 29) == "" == blind(scores, 3, 3) == blind(scores, 1, 34)
    turned = "which chance does not do: a higher score has to be the likelier in"
    assert blind(scores, 0, 30) == f"30 of 30 guesses are wrong, {turned}"
    assert blind(scores, 2, 60) == f"58 of 60 guesses are wrong, {turned}"


def test_deviations_that_could_not_show_anything() -> None:
    few = "fewer than two canaries are in, or out"
    inside, scores = np.array([True, True, False, False]), np.array([1.0, 2.0, 1.0, 3.0])
    assert blind_alone(inside, scores) == ""
    assert blind_alone(np.array([True, False, False, False]), scores) == few
    assert blind_alone(np.array([True, True, True, False]), scores) == few
    assert blind_alone(inside, np.array([1.0, 1.0, 2.0, 2.0])) == "scores without noise are not what is assumed"
    for one_side in ([1.0, 1.0, 1.0, 2.0], [1.0, 1.5, 2.0, 2.0]):  # and nothing is warned of
        assert blind_alone(inside, np.array(one_side)) == ""
    many, noise = np.arange(40) < 20, np.tile([0.0, 0.1], 20)
    assert blind_alone(many, noise + 5 * many) == ""
    turned = "scores of canaries that are in are lower, which chance does not do"
    assert blind_alone(many, noise - 5 * many).startswith(turned)
