"""JSON texts that others wrote: an object has every name once, and depth is an error like any other.

Python's parser keeps the last of two values and says nothing, other parsers keep the first: a file could show one
budget, mask or answer to its reader and another one to the program.
"""

from __future__ import annotations

import json
from typing import Any


class Twice(ValueError):
    """A name that an object has more than once."""


def parsed(text: str | bytes) -> Any:
    """What a JSON text says. Errors: ValueError for what is none, or is nested too deeply to be read, and `Twice`."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise Twice(f"{next(name for name in names if names.count(name) > 1)!r} occurs more than once")
    return found
