"""Values of small pieces of the accountant that are kept in recorded_pieces.json, and how they are compared.

They are records, not truths: that the answers made of them enclose the truth is tested elsewhere. `python
tests/accounting/recorded.py` writes them anew.
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_name("recorded_pieces.json")
MODULES = (
    "pieces_of_pairs",
    "pieces_of_curves",
    "pieces_of_sums",
    "pieces_of_searches",
    "pieces_of_steps",
    "pieces_of_plans",
    "pieces_of_rest",
)
Cases = dict[str, Callable[[], Any]]


def flat(found: Any) -> Iterable[float | str | None]:
    """The numbers and words of anything, in order; an array of more than 40 numbers by its length and six sums."""
    match found:
        case None | str():
            yield found
        case np.ndarray() if found.size > 40:
            place = np.arange(found.size)
            plain = found.ravel().astype(float)
            kept = np.where(np.isfinite(plain), plain, 7.0)
            yield from (float(found.size), float(kept[0]), float(kept[-1]), float(kept.sum()))
            yield from (float(kept @ (1.5 + np.sin(place * scale))) for scale in (0.1, 1.0))
        case np.ndarray() | list() | tuple():
            yield float(len(found))
            for one in found.ravel().tolist() if isinstance(found, np.ndarray) else found:
                yield from flat(one)
        case Fraction():
            yield float(found)
        case _ if is_dataclass(found):
            yield type(found).__name__
            for one in fields(found):
                yield from flat(getattr(found, one.name))
        case dict():
            for key, value in found.items():
                yield from flat(key)
                yield from flat(value)
        case _:
            yield float(found)


def same(found: float | str | None, kept: float | str | None, relative: float, absolute: float) -> bool:
    """Equal, or numbers that are near."""
    if isinstance(found, float) and isinstance(kept, float):
        return (
            found == kept
            or (math.isnan(found) and math.isnan(kept))
            or abs(found - kept) <= relative * abs(kept) + absolute
        )
    return found == kept


def cases() -> Cases:
    """All of them, by name."""
    found: Cases = {}
    for module in MODULES:
        more = importlib.import_module(module).CASES
        assert not found.keys() & more.keys(), found.keys() & more.keys()
        found |= more
    return found


if __name__ == "__main__":
    FILE.write_text(
        json.dumps({name: list(flat(case())) for name, case in cases().items()}, indent=0) + "\n", encoding="utf-8"
    )
