"""Signs that a number can have: some of "-", "0" and "+", in this order."""

from __future__ import annotations

from collections.abc import Container

EVERY = "-0+"
_FLIPPED = str.maketrans("-+", "+-")


def ordered(signs: Container[str]) -> str:
    """These signs."""
    return "".join(sign for sign in EVERY if sign in signs)


def kept(signs: str, allowed: str) -> str:
    """Those of them that are allowed."""
    return "".join(sign for sign in signs if sign in allowed)


def others(signs: str) -> str:
    """All but these."""
    return "".join(sign for sign in EVERY if sign not in signs)


def flipped(signs: str) -> str:
    """Those of minus the number."""
    return ordered(signs.translate(_FLIPPED))


def times(one: str, two: str) -> str:
    """Those of a product."""
    return ordered({"0" if "0" in (a, b) else "+" if a == b else "-" for a in one for b in two})


def power(signs: str, exponent: int) -> str:
    """Those of a power: of the same number each time, so that a square is never negative."""
    return ordered({s if exponent % 2 or s == "0" else "+" for s in signs}) if exponent else "+"
