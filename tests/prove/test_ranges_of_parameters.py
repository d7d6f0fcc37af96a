"""Which parameters can be open, and in which range: as far as their own check goes."""

from __future__ import annotations

import math
import sys
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.errors import InvalidParameter
from refdp.prove import ranges
from refdp.prove.open import Open, Opens
from refdp.prove.terms import Unmodelled

TEXT = """
from __future__ import annotations
from dataclasses import dataclass
from typing import Literal, Optional
from refdp.checks import check_number

@dataclass(frozen=True)
class Params:
    epsilon: float = 1.0
    delta: float = 1e-5
    free: float = 2.0
    share: float = 0.5
    least: float = 3.0
    several: float = 1.0
    low: float = -1.0
    none: float | None = None
    some: float | None = 0.25
    count: int = 3
    flag: bool = True
    word: Literal["a", "b"] = "a"

    def __post_init__(self):
        check_number("share", self.share, above=0, below=1)
        check_number("least", self.least, least=2.5, most=1000)
        check_number("several", self.several, above=0.125)
        check_number("several", self.several, least=0.25, most=8)
        check_number("low", self.low, above=-3, below=5)
"""


@pytest.fixture
def params(monkeypatch: pytest.MonkeyPatch) -> Any:
    room = ModuleType("refdp.papers.made_up")
    monkeypatch.setitem(sys.modules, room.__name__, room)
    exec(TEXT, vars(room))
    return vars(room)["Params"]()


@pytest.mark.parametrize(("name", "low", "high"), [
    ("free", -(2.0**16), 2.0**16), ("share", 2.0**-16, math.nextafter(1.0, 0.0)), ("least", 2.5, 1000.0),
    ("several", 0.25, 8.0), ("low", math.nextafter(-3.0, 9.0), math.nextafter(5.0, 0.0)), ("some", -(2.0**16), 2.0**16),
])  # fmt: skip
def test_a_range_goes_as_far_as_the_check(name: str, low: float, high: float, params: Any) -> None:
    assert ranges.checked(params, {name: None}) == {name: (low, high)}
    assert (ranges.SMALLEST, ranges.LARGEST) == (2.0**-16, 2.0**16)


def test_given_ranges_have_the_value_and_pass_the_check(params: Any) -> None:
    assert ranges.checked(params, {"share": (0.5, 0.75), "least": (3, 3)}) == {
        "share": (0.5, 0.75),
        "least": (3.0, 3.0),
    }
    for wrong in (
        (0.51, 0.75),
        (0.1, 0.49),
        (0.0, 0.75),
        (0.25, 1.0),
        (0.75, 0.25),
        (-math.inf, 0.75),
        (0.1, math.nan),
    ):
        with pytest.raises(InvalidParameter):
            ranges.checked(params, {"share": wrong})
    for name in ("epsilon", "delta", "none", "count", "flag", "word", "other"):
        with pytest.raises(InvalidParameter, match=f"--any {name}"):
            ranges.checked(params, {name: (0.0, 9.0)})


def test_a_check_is_only_listened_to_while_the_range_is_looked_up(params: Any) -> None:
    room = sys.modules["refdp.papers.made_up"]
    before = room.check_number
    ranges.checked(params, {"share": None})
    assert room.check_number is before
    with pytest.raises(RuntimeError), ranges._instead("check_number", print):
        assert room.check_number is print
        raise RuntimeError
    assert room.check_number is before


def test_parameters_are_made_anew_with_open_numbers() -> None:
    from refdp.own import grove
    from refdp.privacy.events import Relation

    class Seen(Opens):
        def __init__(self) -> None:
            super().__init__({}, lambda conditions: True, {}, lambda term: None)
            self.ranges = {"explore": (0.25, 0.75)}

    own = Seen()
    with pytest.raises(Unmodelled):  # where the check looks at it as a number
        ranges.given(grove.Params(1.0, Relation.ADD_REMOVE), own)
    plain = ranges.given(grove.Params(1.0, Relation.ADD_REMOVE, bins=9), Opens({}, lambda _: True, {}, lambda _: None))
    assert plain == grove.Params(1.0, Relation.ADD_REMOVE, bins=9)


def test_ends_and_words(params: Any) -> None:
    both = {"share": (0.25, 0.75), "least": (3.0, 5.0)}
    lower, upper = ranges.ends(params, both)
    assert lower[0] == "read with share = 0.25, least = 3, the lower end" and "0.75, least = 5, the upper" in upper[0]
    assert [(one.share, one.least) for _, one in (lower, upper)] == [(0.25, 3.0), (0.75, 5.0)]
    assert (
        ranges.said(both) == "for every share from 0.25 to 0.75 and every least from 3 to 5, " and ranges.said({}) == ""
    )
    assert ranges.about({}) == () == ranges.trusted({})
    assert "share and least" in ranges.about(both)[0] and "share and least" in ranges.trusted(both)[0]


def test_what_open_parameters_leave_as_it_is() -> None:
    assert ranges.stays("x", 3, 3) == 3 and ranges.stays("x", (1, "a"), (1, "a")) == (1, "a")
    opens = Opens({"p": (1.0, 2.0)}, lambda conditions: False, {}, lambda term: None)
    one: Open = opens.parameter("p", 1.0)
    for value, other in ((3, 4), (3, one), ((1,), (one,))):
        with pytest.raises(Unmodelled, match="the bins follows"):
            ranges.stays("the bins", value, other)
