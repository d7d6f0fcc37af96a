"""The slow, obviously correct counterparts of refdp/data/kernels.py: one row at a time, in rational numbers."""

from __future__ import annotations

import bisect
import math
import sys
from fractions import Fraction
from types import ModuleType
from typing import Any

import refdp.data.kernels

Rows = list[list[int]]


def variant(*changes: tuple[str, str]) -> ModuleType:
    """The kernel module with some of its source text replaced: smaller chunks, or a mistake that a test must catch."""
    assert refdp.data.kernels.__file__ is not None
    with open(refdp.data.kernels.__file__, encoding="utf-8") as file:
        source = file.read()
    for old, new in changes:
        assert source.count(old) == 1, f"{old!r} occurs {source.count(old)} times in the kernels"
        source = source.replace(old, new)
    module = ModuleType("kernels_variant")
    sys.modules[module.__name__] = module  # where dataclasses look up the annotations
    exec(compile(source, module.__name__, "exec"), module.__dict__)
    return module


def encode(value: float, thresholds: list[float]) -> int:
    return 0 if math.isnan(value) else 1 + bisect.bisect_right(thresholds, value)


def bin_sums(codes: Rows, bins: list[int], node: list[int], nodes: int, stats: list[Any]) -> list[list[list[Fraction]]]:
    """[statistic][node][joined bin]."""
    total = [[[Fraction(0)] * sum(bins) for _ in range(nodes)] for _ in stats]
    for row, k in enumerate(node):
        for f, column in enumerate(codes):
            for s, stat in enumerate(stats):
                if k >= 0:
                    total[s][k][sum(bins[:f]) + column[row]] += 1 if stat is None else Fraction(stat[row])
    return total


def leaf_sums(node: list[int], nodes: int, stats: list[Any]) -> list[list[Fraction]]:
    total = [[Fraction(0)] * nodes for _ in stats]
    for row, k in enumerate(node):
        for s, stat in enumerate(stats):
            if k >= 0:
                total[s][k] += 1 if stat is None else Fraction(stat[row])
    return total


def child(row: list[int], node: int, feature: list[int], code: list[int], categorical: list[bool]) -> int:
    """The child of a row (its codes, one a feature) that stands in this node."""
    if node < 0:
        return node
    seen = row[feature[node]]
    right = seen == code[node] if categorical[node] else seen > code[node]
    return 2 * node + (1 if right and seen != 0 else 0)
