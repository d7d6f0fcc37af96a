"""Reads S-expressions: questions in SMT-LIB and proofs in CPC."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

Raw: TypeAlias = "str | tuple[Raw, ...]"
"""A symbol, or a tuple of expressions."""
_TOKEN = re.compile(r'\s+|;[^\n]*|(\(|\)|\|[^|]*\||"[^"]*"|[^\s();]+)')
_NUMBER = re.compile(r"-?\d+(\.\d+|/\d+)?")


def read(text: str) -> list[Raw]:
    """All expressions of a text. Errors: ValueError where parentheses do not match."""
    stack: list[list[Raw]] = [[]]
    for token in _tokens(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            if len(stack) == 1:
                raise ValueError("a parenthesis is closed that was not opened")
            done = tuple(stack.pop())
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    if len(stack) != 1:
        raise ValueError("a parenthesis is not closed")
    return stack[0]


def _tokens(text: str) -> Iterator[str]:
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ValueError(f"not an S-expression: {text[place : place + 20]!r}")
        place = match.end()
        if match.group(1):
            yield match.group(1)


def rational(symbol: str) -> Fraction | None:
    """The number that a symbol writes ("2", "0.5", "-3/4"), None if it is a name."""
    return Fraction(symbol) if _NUMBER.fullmatch(symbol) else None
