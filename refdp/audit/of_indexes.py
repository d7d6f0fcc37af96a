"""What an index of pandas computed of its labels, once it was asked for one: tables that pickle does not show."""

from __future__ import annotations

from typing import Any

import numpy as np

from refdp.audit.by_name import has_its_name


def tables_told(thing: Any, kept: tuple[Any, ...]) -> tuple[Any, ...]:
    """What pickle keeps of it, with the places of its own labels for a table, where these are all that is in it."""
    if any(base.__name__ == "IndexEngine" and _is_of(base, "pandas._libs.index") for base in type(thing).__mro__):
        return tuple(
            tuple(_told(thing, one) for one in part) if type(part) is tuple else part for part in kept
        )  # fmt: skip
    return kept


def _told(engine: Any, part: Any) -> Any:
    if not _is_of(type(part), "pandas._libs.hashtable"):
        return part
    try:
        places, state = np.asarray(part.lookup(engine.values)), part.get_state()
    except Exception:  # it is asked for in another way, as one of numbers with gaps
        return part
    known = {int(place) for place in places} - {-1}
    return [type(part).__name__, places, state] if len(known) == state["size"] == len(part) else part


def _is_of(kind: type, module: str) -> bool:
    return kind.__module__ == module and has_its_name(kind)
