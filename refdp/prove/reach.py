"""What a value keeps, as far as Python shows it."""

from __future__ import annotations

from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from refdp.prove.terms import Leak, Unmodelled
from refdp.prove.texts import is_refdps


class Host:
    """What answers for the records, or releases: nothing that holds it is a function of released values alone.

    A text of it would have its class in it, or its address. Errors: Leak for one.
    """

    def __repr__(self) -> str:
        raise Leak("a text of the population or the curator, which has its class in it")

    __str__ = __repr__

    def __format__(self, how: str) -> str:
        return repr(self)


class Exchanged:
    """A function that stands for one of a text's. Whether two functions are the same is answered otherwise in training.

    Errors: Unmodelled for a comparison or a search.
    """

    def __init__(self, function: Any) -> None:
        self.__wrapped__ = function

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.__wrapped__(*given, **named)

    def __eq__(self, other: object) -> bool:
        raise Unmodelled("whether two functions are the same")

    def __hash__(self) -> int:
        raise Unmodelled("whether two functions are the same")


def inside(value: Any) -> list[Any]:
    """What a container, a function or an object of refdp keeps."""
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if isinstance(value, np.ndarray):
        return list(value.ravel()) if value.dtype == object else []
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, Exchanged):
        return list(vars(value).values())
    value = getattr(value, "__func__", value)
    if isinstance(value, FunctionType):
        kept = [cell.cell_contents for cell in value.__closure__ or () if _filled(cell)]
        return [*vars(value).values(), value.__defaults__, value.__kwdefaults__, *kept]
    own = value.__module__ if isinstance(value, type) else type(value).__module__
    return list(vars(value).values()) if is_refdps(own) and hasattr(value, "__dict__") else []


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
