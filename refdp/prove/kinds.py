"""How numpy keeps a value of a record: as float64, as a whole number or as a truth value, and how often it was rounded.

The solvers compute with real numbers. numpy does not where it adds truth values (1 + 1 is 1), where whole numbers wrap
around, and where a comparison meets two values that are equal as real numbers and differ by the last digit in float64.
So arithmetic has at least one float64 among its arguments, and what is compared was never rounded.

Scores and released numbers are of any size. A number added to one of 2^53 is lost or made larger, which real numbers
know nothing of once the large one is taken off again; and two of them multiplied can be infinite, which times 0 is no
number. So what is of any size, and was rounded, is added to nothing, and is multiplied by nothing else of any size.
Scores and labels can be as small as well: half of float64's smallest number is 0, so that a power of two rounds what
can be tiny where it makes it smaller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from refdp.prove.terms import ARITHMETIC, Unmodelled

COMPARING = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}
TWO_OF = {"minimum", "maximum", "where", "negative", "absolute"}
"""Functions that give one of their arguments, but for its sign."""


LOGIC = {"logical_and", "logical_or", "logical_not", "bitwise_and", "bitwise_or", "invert"}
Of = Literal["float", "whole", "truth", "units"]
"""How numpy keeps something; units: whole numbers of steps of the grid, which times the grid are float64."""


class Kind(NamedTuple):
    """of: how numpy keeps it. roundings: how many operations on the way could round, 2 for more. small: whether it is a
    whole number of small size, of which sums and products are not rounded either. below, above: whether it can be
    anywhere below 0, or above it; lost: whether it is then a rounded number of such a size; tiny: whether it can be as
    near to 0 as float64 has numbers."""

    of: Of = "float"
    roundings: int = 0
    small: bool = False
    below: bool = False
    above: bool = False
    lost: bool = False
    tiny: bool = False

    @property
    def wide(self) -> bool:
        """Whether it is of any size."""
        return self.below or self.above


def in_float64(value: Any) -> Any:
    """A text's number, which numpy takes for the same one beside float64.

    Errors: Unmodelled for a whole number beyond 2^53, which it rounds, and for what it keeps in more or fewer digits.
    """
    if not isinstance(value, np.ndarray | np.generic) and type(value) not in (float, int, bool):
        raise Unmodelled(f"numbers of the kind {type(value).__name__} beside private values")
    plain = np.asarray(value)
    if plain.dtype not in (np.float64, np.int64, np.bool_):
        raise Unmodelled(f"numbers of the kind {plain.dtype} beside private values, or too large for one")
    if plain.dtype == np.int64 and ((plain > 2**53) | (plain < -(2**53))).any():
        raise Unmodelled("a whole number beyond 2^53 beside private values, of which float64 has not all digits")
    return value


def kind_of(value: Any) -> Kind:
    """That of a public number."""
    if isinstance(value, bool | np.bool_):
        return Kind("truth", 0, True)
    small = float(value).is_integer() and abs(float(value)) <= 2.0**10 if np.ndim(value) == 0 else False
    return Kind("float" if type(value) in (float, np.float64) else "whole", 0, small)


class Form(NamedTuple):
    """How numpy keeps private sums, and what is computed from them.

    order: no entry is further from 0 than 2^order times the largest sum, or than 2^order.
    """

    of: Of = "float"
    order: float = 0.0


FINITE = 10.0
"""The order up to which entries are finite: sums were in units of the grid, in 64 bits, and are far smaller ones."""


def form_of(value: Any) -> Form:
    """That of public numbers that `in_float64` allows."""
    plain = np.asarray(value)
    kind: Of = "truth" if plain.dtype.kind == "b" else "whole" if plain.dtype.kind == "i" else "float"
    return Form(kind, order_of(plain))


def order_of(numbers: Any) -> float:
    """The binary order of the largest of numbers, 0 at least."""
    most = float(np.max(np.abs(np.asarray(numbers, dtype=np.float64)), initial=1.0))
    return math.log2(most) if most < math.inf else math.inf


def order_of_sums(name: str, given: Sequence[Form], numbers: Sequence[Any]) -> float:
    """The order of a function of private sums. numbers: arguments that are public, None for the others."""
    most = max(one.order for one in given)
    match name:
        case "add" | "subtract":
            return most + 1
        case "multiply":
            plain = any(one is not None for one in numbers) or any(one.of == "truth" for one in given)
            return sum(one.order for one in given) if plain else math.inf
        case "divide":
            own = numbers[1]
            return math.inf if own is None else given[0].order + order_of(1 / np.abs(np.asarray(own, dtype=np.float64)))
        case "square" | "power":
            return math.inf
    return 0.0 if name in COMPARING | LOGIC else most


def of_sums(name: str, given: Sequence[Of]) -> Of:
    """How numpy keeps a function of private sums, from how it keeps the arguments.

    Errors: Unmodelled where its number could be another one than that of real numbers: whole numbers wrap around, and
    have no negative powers; truth values are added in a way of their own.
    """
    if "units" in given:
        raise Unmodelled("sums in units of the grid in a formula: `values` gives them in their own")
    if name in COMPARING:
        return "truth"
    if name in LOGIC:
        if {*given} != {"truth"}:
            raise Unmodelled(f"numpy's {name} of private sums that are no truth values")
        return "truth"
    if name == "where":
        if given[0] != "truth":
            raise Unmodelled("a choice among private sums by what is no truth value")
        return _wider(given[1:])
    if name not in ARITHMETIC:
        raise Unmodelled(f"numpy's {name} of private sums")
    if "float" not in given:
        raise Unmodelled(f"numpy's {name} of whole numbers or truth values of private sums, which can wrap around")
    return "float"


def together(given: Sequence[Form]) -> Form:
    """That of entries of these in one array."""
    return Form(_wider([one.of for one in given]), max(one.order for one in given))


def _wider(given: Sequence[Of]) -> Of:
    if "units" in given and len({*given}) > 1:
        raise Unmodelled("sums in units of the grid beside others")
    return given[0] if len({*given}) == 1 else "float" if "float" in given else "whole"


def followed(name: str, kinds: Sequence[Kind], numbers: Sequence[Any]) -> Kind:
    """The kind of a function's result. numbers: the arguments that are public, None for the others.

    Errors: Unmodelled where numpy's value could be another one than that of real numbers.
    """
    if name in COMPARING:
        if any(one.roundings for one in kinds):
            raise Unmodelled("a comparison of values that float64 has rounded")
        return Kind("truth")
    given = kinds[1:] if name == "where" else kinds
    if name == "where" and kinds[0].of != "truth":
        raise Unmodelled("a choice by what is no truth value")
    if not any(one.of == "float" for one in given):
        if name in ARITHMETIC | {"rint", "trunc", "exp"}:
            raise Unmodelled(f"numpy's {name} of truth values or whole numbers of each record, which can wrap around")
        alike = len({one.of for one in given}) == 1
        return Kind(given[0].of if alike else "whole", 0, all(one.small for one in given))
    small, plain = name != "divide" and all(one.small for one in given), numbers[1:] if name == "where" else numbers
    width, tiny = _width(name, given, plain), any(one.tiny for one in given)
    return Kind("float", _roundings(name, given, numbers), small, *width, tiny)


ANYWHERE = Kind(below=True, above=True, tiny=True)
LABEL = Kind(tiny=True)


def _width(name: str, kinds: Sequence[Kind], numbers: Sequence[Any]) -> tuple[bool, bool, bool]:
    """`below`, `above` and `lost` of a function's result. Errors: Unmodelled where float64 loses what real numbers do
    not, or has none."""
    below, above = any(one.below for one in kinds), any(one.above for one in kinds)
    if not (below or above):
        return False, False, False
    lost, either = any(one.lost for one in kinds), below or above
    match name:
        case "minimum":
            above = all(one.above for one in kinds)
        case "maximum":
            below = all(one.below for one in kinds)
        case "negative":
            below, above = above, below
        case "absolute":
            below, above = False, either
        case "add" | "subtract":
            if any(one.lost for one in kinds):
                raise Unmodelled("a sum of numbers of any size, such as scores, of which float64 loses digits")
            other = kinds[1] if name == "add" else Kind(below=kinds[1].above, above=kinds[1].below)
            below, above, lost = kinds[0].below or other.below, kinds[0].above or other.above, True
        case "multiply" | "divide" if sum(one.wide for one in kinds) < 2:
            if name == "divide" and kinds[1].wide:  # by what can be large, and not small (`magnitudes._as_divisor`)
                return False, False, False
            if name == "multiply" and lost and not any(numbers):
                raise Unmodelled("a product with a rounded number of any size, which can be infinite in float64")
            below = above = True
            lost = lost or not any(_is_power(one) for one in numbers if one is not None)
        case "multiply" | "divide" | "square":
            raise Unmodelled("a product of numbers of any size, such as scores, that can be infinite in float64")
    return below, above, lost and (below or above)


def _is_power(number: Any) -> bool:
    return math.frexp(abs(float(number)))[0] in (0.5, 0.0)


def _roundings(name: str, kinds: Sequence[Kind], numbers: Sequence[Any]) -> int:
    most = max(one.roundings for one in kinds)
    if name in TWO_OF:
        return most
    if name in ("add", "subtract", "multiply") and all(one.small for one in kinds):
        return most
    if name in ("multiply", "divide"):
        scale = [one for one in (numbers[1:] if name == "divide" else numbers) if one is not None]
        if len(scale) == 1 and len(kinds) == 2:
            size = abs(float(scale[0]))
            smaller = size > 1 if name == "divide" else size < 1
            exact = math.frexp(size)[0] == 0.5 and not (smaller and any(one.tiny for one in kinds))
            return most if exact else min(most + 1, 2)
    return 2
