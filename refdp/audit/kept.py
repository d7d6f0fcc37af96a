"""What functions and containers keep from one call to the next, besides the globals of a module."""

from __future__ import annotations

import contextlib
import functools
import sys
import types
from typing import Any

CACHED = type(functools.lru_cache(len))
"""What `functools` makes: other things that have `cache_info` may hold more."""


def kept_beside(function: types.FunctionType) -> dict[str, Any]:
    """Its attributes, its defaults and the variables of the function around it, by name."""
    named = {**vars(function), **(function.__kwdefaults__ or {})}
    named |= {f"default {place}": kept for place, kept in enumerate(function.__defaults__ or ())}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # a cell that is empty
            named[f"{name} of the function around it"] = cell.cell_contents
    return named


def room(thing: Any) -> str:
    """The room of a list or set: more than it needs, if it held more once. A dictionary's may hang on other objects."""
    return f", {sys.getsizeof(thing)} bytes" if isinstance(thing, list | set | bytearray) else ""
