"""JSON texts that others wrote: an object has every name once.

Python's parser keeps the last of two values and says nothing, other parsers keep the first: a file could show one
budget, mask or answer to its reader and another one to the program.
"""

from __future__ import annotations

import json
from typing import Any


class Twice(ValueError):
    """A name that an object has more than once."""


def parsed(text: str | bytes) -> Any:
    """What a JSON text says. Errors: ValueError for what is none, and `Twice`."""
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise Twice(f"{next(name for name in names if names.count(name) > 1)!r} occurs more than once")
    return found
