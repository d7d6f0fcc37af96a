"""Numbers that write down, as Coq terms over the reals, what Python's formulas do to them.

A comparison that code branches on is answered both ways: the formula is the conditional of the two.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from refdp.data import numbers as generic


def _operator(symbol: str, *, swapped: bool = False) -> Callable[[Printed, Any], Any]:
    def apply(number: Printed, other: Any) -> Any:
        if isinstance(other, np.ndarray):  # numpy takes it number by number
            return NotImplemented
        left, right = (shown(other), shown(number)) if swapped else (shown(number), shown(other))
        return Printed(f"({left} {symbol} {right})")

    return apply


class Printed:
    """A real number as a Coq term."""

    __slots__ = ("text",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str) -> None:
        self.text = text

    __add__, __radd__ = _operator("+"), _operator("+", swapped=True)
    __sub__, __rsub__ = _operator("-"), _operator("-", swapped=True)
    __mul__, __rmul__ = _operator("*"), _operator("*", swapped=True)
    __truediv__, __rtruediv__ = _operator("/"), _operator("/", swapped=True)

    def __pow__(self, power: Any) -> Printed:
        return Printed(f"({self.text} ^ {power.text if isinstance(power, Whole) else int(power)})")

    def __neg__(self) -> Printed:
        return Printed(f"(- {self.text})")

    def __abs__(self) -> Printed:
        return Printed(f"(Rabs {self.text})")

    def __le__(self, other: Any) -> Asked:
        return Asked(f"(leR {self.text} {shown(other)})")

    def __ge__(self, other: Any) -> Asked:
        return Asked(f"(leR {shown(other)} {self.text})")

    def __lt__(self, other: Any) -> Asked:
        return Asked(f"(negb (leR {shown(other)} {self.text}))")

    def __gt__(self, other: Any) -> Asked:
        return Asked(f"(negb (leR {self.text} {shown(other)}))")

    def __eq__(self, other: object) -> bool:
        raise TypeError(f"{self.text} == {other!r}: no formula asks whether real numbers are equal")

    def clip(self, low: Any, high: Any, **_: Any) -> Printed:
        """numpy.clip: the larger of number and low, then the smaller of that and high."""
        return Printed(f"(Rmin (Rmax {self.text} {shown(low)}) {shown(high)})")


class Whole(Printed):
    """A natural number as a Coq term: an exponent; elsewhere the real number that it is."""

    __slots__ = ()


class Asked:
    """A comparison as a Coq term."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __bool__(self) -> bool:
        if self.text not in _answers:
            raise _UndecidedError(self.text)
        return _answers[self.text]


class _UndecidedError(Exception):
    """Code branches on a comparison that has no answer yet."""


_answers: dict[str, bool] = {}


def shown(value: Any) -> str:
    """A number of Python, or a printed one, as a Coq term. Errors: TypeError for anything else."""
    if isinstance(value, Whole):
        return f"(INR {value.text})"
    if isinstance(value, Printed | Asked):
        return value.text
    if not isinstance(value, int | float | Fraction) or isinstance(value, bool):
        raise TypeError(f"{value!r} beside a printed number")
    exact = Fraction(value)
    whole = str(exact.numerator) if exact >= 0 else f"(- {-exact.numerator})"
    return whole if exact.denominator == 1 else f"({whole} / {exact.denominator})"


def printed(run: Callable[[], Any]) -> str:
    """The term that a formula makes, a conditional for every comparison that it branches on."""
    try:
        return shown(run())
    except _UndecidedError as undecided:
        question = str(undecided)
    sides = []
    for answer in (True, False):
        _answers[question] = answer
        sides.append(printed(run))
        del _answers[question]
    return f"(if {question} then {sides[0]} else {sides[1]})"


def _function(name: str) -> Callable[..., Any]:
    def apply(*arguments: Any) -> Any:
        if any(isinstance(argument, np.ndarray) for argument in arguments):  # of printed numbers
            return np.frompyfunc(apply, len(arguments), 1)(*arguments)
        return Printed(f"({name} {' '.join(map(shown, arguments))})")

    return apply


for _generic, _name in ((generic.minimum, "Rmin"), (generic.maximum, "Rmax"), (generic.absolute, "Rabs"),
                        (generic.exp, "exp")):  # fmt: skip
    _generic.register(Printed, _function(_name))


# --- A paper's module read without rounding ---------------------------------------------------------------------------


class _Calibrated:
    """A mechanism for a budget and a sensitivity: what it is calibrated to."""

    @staticmethod
    def calibrated(epsilon: Any, bound: Any, *_: Any) -> Any:
        """The exponential mechanism's coefficient."""
        return epsilon / bound


EXACT: Mapping[str, Any] = {
    "rounded_up": lambda formula, *arguments: formula(*arguments),
    "float": lambda value: value,
    "max": lambda *values: generic.maximum(*values) if any(isinstance(v, Printed) for v in values) else max(*values),
    "grid_floor": _function("grid_downR"),
    "on_grid": _function("gridR"),
    "values": lambda asked: asked,
    "Sensitivity": lambda bound, *_: SimpleNamespace(bound=bound),
    "Charge": lambda mechanism, *_: mechanism,
    "Exponential": _Calibrated,
    "laplace_charge": lambda epsilon, declared, *_, **__: declared.bound / epsilon,
}
"""What takes the place of names in a paper's module: no rounding in a stated direction, no refusal, any grid,
and of a mechanism the number that it is calibrated to."""


@contextmanager
def exactly(module: ModuleType) -> Iterator[None]:
    """The module with the names of `EXACT` replaced."""
    with ExitStack() as stack:
        for name, replacement in EXACT.items():
            if name in vars(module) or hasattr(builtins, name):
                stack.enter_context(patch.object(module, name, replacement, create=True))
        yield


class _Released(Exception):
    """What was handed to the curator under the name that was waited for."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Asking:
    """Population and curator of a text that is read up to one release.

    sums: what the population answers. name: the beginning of the name of the release whose value is wanted; others come
    out as `outputs`.
    """

    def __init__(self, name: str, sums: Any, outputs: Any = None) -> None:
        self._name, self._sums, self._outputs = name, sums, outputs

    def tell(self, step: object) -> None:
        """Nothing."""

    def ask(self, query: object) -> Any:
        """The sums."""
        return self._sums

    def release(self, name: str, charge: object, value: Any, options: object = None) -> Any:
        """Stops at the release that is wanted."""
        if name.startswith(self._name):
            raise _Released(value)
        return self._outputs

    def value(self, run: Callable[[], object]) -> Any:
        """The value of the release. Errors: LookupError if the text ends without it."""
        try:
            run()
        except _Released as found:
            return found.value
        raise LookupError(f"nothing is released as {self._name!r}")
