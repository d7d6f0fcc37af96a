"""Noise that goes with the true values: larger where they are larger, in their order, or of their sign.

With X the normal numbers of a release, signed or of its sizes alone, and c any numbers that its true values fix,
exp(s Σ X c - s² Σ c² / 2) has mean 1 for each s, whatever the records. So have its means over s and over rules for c.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from refdp.conform.follow import Released
from refdp.conform.places import mixed
from refdp.noise.draws import FloatArray, sds_along

SPREADS = (1.0, 0.1, 0.01, 0.001)
"""Variances of s, of all releases together."""
SLOPES = (0.1, 0.3, 1.0)
"""s of each release alone, of either sign."""
EDGE = 1e-15


def with_values(noisy: Sequence[tuple[Released, FloatArray]]) -> tuple[float, str]:
    """log of what is won by betting that noise goes with values, and where most.

    noisy: releases of values, uniform numbers of their draws, of shape (draws,).
    """
    stacks: dict[tuple[int, ...], list[tuple[FloatArray, FloatArray]]] = defaultdict(list)
    for one, u in noisy:
        mechanism, shape = one.mechanism, one.value.shape
        width: Any = getattr(mechanism, "scale", None) or getattr(mechanism, "sd", 1.0)
        stacks[shape].append(((one.value / sds_along(width, shape)).ravel(), u))
    products, squares = defaultdict[str, list[FloatArray]](list), defaultdict[str, list[FloatArray]](list)
    for shape, found in stacks.items():
        values, u = (np.array(part) for part in zip(*found, strict=True))
        rare = np.clip(2 * np.minimum(u, 1 - u), EDGE, 1 - EDGE)
        kinds = {"noise": special.ndtri(u), "the size of noise": -special.ndtri(rare)}
        for rule, c in _rules(values, shape).items():
            for kind, normal in kinds.items():
                products[f"{kind} by {rule}"].append((normal * c).sum(axis=1))
                squares[f"{kind} by {rule}"].append((c**2).sum(axis=1))
    won = {name: _won(np.concatenate(products[name]), np.concatenate(squares[name])) for name in products}
    best = max(won, key=lambda name: won[name])
    return mixed([*won.values()]), f"{best}: e^{won[best]:.3g} times as likely if it goes with the true values"


def _won(products: FloatArray, squares: FloatArray) -> float:
    """Of one rule. Shape (releases,)."""
    product, square = float(products.sum()), float(squares.sum())
    logs = [spread * product**2 / (2 * (1 + spread * square)) - math.log1p(spread * square) / 2 for spread in SPREADS]
    for slope in SLOPES:
        tilted = np.abs(slope * products)
        cosh = tilted + np.log1p(np.exp(-2 * tilted)) - math.log(2)
        logs.append(float((cosh - slope**2 * squares / 2).sum()))
    return mixed(logs)


def _rules(values: FloatArray, shape: tuple[int, ...]) -> dict[str, FloatArray]:
    """What the noise could go with: numbers of about 1, of the shape of the values, (releases, draws), in order."""
    count = np.arange(len(values))[:, None]
    mean = np.where(count > 0, (np.cumsum(values, axis=0) - values) / np.maximum(count, 1), values)
    found = {"the sign of a value less those before at its place": np.sign(values - mean),
             "values of 0": (values == 0).astype(np.float64)}  # fmt: skip
    for name, own in (("values", values), ("sizes of values", np.abs(values))):
        centred = own - own.mean(axis=1, keepdims=True)
        found[name] = _unit(own)
        found[f"{name} less their mean"] = _unit(centred)
        found[f"signs of {name} less their median"] = np.sign(own - np.median(own, axis=1, keepdims=True))
        found[f"the order of {name}"] = _ranks(own)
        for axis in range(len(shape)):
            lines = np.moveaxis(own.reshape(-1, *shape), axis + 1, -1)
            where = "" if axis == len(shape) - 1 else f" along axis {axis}"
            for rule, made in (("pairs", _pairs(lines)), ("neighbours", _neighbours(lines))):
                found[f"the order of {rule} of {name}{where}"] = np.moveaxis(made, -1, axis + 1).reshape(own.shape)
    found["signs of values"] = np.sign(values)
    return found


def _unit(numbers: FloatArray) -> FloatArray:
    """Of mean square 1 in each release; 0 where all are."""
    largest = np.abs(numbers).max(axis=1, keepdims=True)
    scaled = numbers / np.where(largest > 0, largest, 1.0)
    size = np.sqrt((scaled**2).mean(axis=1, keepdims=True))
    return np.asarray(scaled / np.where(size > 0, size, 1.0))


def _ranks(numbers: FloatArray) -> FloatArray:
    ranks = np.argsort(np.argsort(numbers, axis=1, kind="stable"), axis=1).astype(np.float64)
    return _unit(ranks - ranks.mean(axis=1, keepdims=True))


def _pairs(lines: FloatArray) -> FloatArray:
    """Of the first and second of a line, the third and fourth ...: which is the larger. Any shape, lines last."""
    even = lines.shape[-1] // 2 * 2
    larger = np.sign(lines[..., 0:even:2] - lines[..., 1:even:2])
    made = np.zeros_like(lines)
    made[..., 0:even:2], made[..., 1:even:2] = larger, -larger
    return made


def _neighbours(lines: FloatArray) -> FloatArray:
    """By how many of the two beside it each is larger, less by how many it is smaller. Any shape, lines last."""
    larger = np.sign(np.diff(lines, axis=-1))
    made = np.zeros_like(lines)
    made[..., 1:] += larger
    made[..., :-1] -= larger
    return made
