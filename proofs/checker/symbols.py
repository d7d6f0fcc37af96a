"""sympy expressions as numbers that refdp's formulas run on: identities, derivatives and limits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from refdp.data import numbers as generic


def symbols(names: str, **assumptions: bool) -> dict[str, Any]:
    """Symbols by name, real unless told otherwise."""
    return {str(s): s for s in sympy.symbols(names.split(), **{"real": True, **assumptions})}


def exact(value: Any) -> Any:
    """A number as an exact sympy number."""
    return sympy.Rational(value.numerator, value.denominator) if isinstance(value, Fraction) else sympy.sympify(value)


def vanishes(expression: Any) -> bool:
    """Whether sympy simplifies the expression to the constant 0."""
    return any(
        sympy.sympify(rewrite(exact(expression))) == 0
        for rewrite in (sympy.simplify, sympy.ratsimp, lambda e: sympy.simplify(e.rewrite(sympy.exp)))
    )


def limit(expression: Any, variable: Any) -> Any:
    """The limit as the variable grows without bound."""
    return sympy.limit(expression, variable, sympy.oo)


def _on_expressions(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *numbers: function(*(exact(number) for number in numbers))


for _generic, _function in (
    (generic.exp, sympy.exp),
    (generic.log, sympy.log),
    (generic.sqrt, sympy.sqrt),
    (generic.minimum, sympy.Min),
    (generic.maximum, sympy.Max),
    (generic.absolute, sympy.Abs),
):
    _generic.register(sympy.Basic, _on_expressions(_function))
