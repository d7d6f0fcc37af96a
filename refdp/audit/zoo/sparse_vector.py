"""The six variants of the sparse vector technique that Lyu, Su and Li 2017 compare (their Algorithms 1 to 6).

Records are vectors of answers, each of which may change by up to 1; the threshold is 0. An output lists 1 for above, 0
for below, or a number for above where numbers are released; STOPPED once no more is answered.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy

from refdp.audit.runs import Vectorised
from refdp.audit.zoo.entry import Specimen
from refdp.audit.zoo.noise import Floats, laplace

STOPPED = -1000.0
SOURCE = "Lyu, Su, Li 2017; StatDP, DP-Sniper, CheckDP"


@dataclass(frozen=True)
class SparseVector:
    """One variant.

    threshold, query: scales of the noise on the threshold and on each answer (0: none). most: answers above the
    threshold until it stops. fresh: scale of new threshold noise after each answer above. numeric: release the noisy
    answer that was compared.
    """

    threshold: float
    query: float
    most: float = math.inf
    fresh: float = 0.0
    numeric: bool = False

    def __call__(self, answers: Any, count: int, generator: np.random.Generator) -> Floats:
        """Outputs of many runs, shape (count, answers)."""
        barrier = laplace(generator, self.threshold, count)
        above, out = np.zeros(count), np.full((count, len(answers)), STOPPED)
        for place, answer in enumerate(answers):
            noisy = answer + (laplace(generator, self.query, count) if self.query else np.zeros(count))
            hit, going = noisy >= barrier, above < self.most
            told = np.where(hit, noisy if self.numeric else 1.0, 0.0)
            out[:, place] = np.where(going, told, STOPPED)
            above += hit & going
            if self.fresh:
                barrier = np.where(hit, laplace(generator, self.fresh, count), barrier)
        return out

    def chance(self, answers: Any, outputs: tuple[int, ...]) -> float:
        """Exact probability of outputs of 0 and 1 where the threshold noise is drawn once.

        By Gauss and Legendre's rule on panels between the kinks of the densities, half a smallest scale wide; what lies
        more than 60 scales away weighs less than exp(-60).
        """
        barriers, weights = self._nodes(answers)
        density = scipy.stats.laplace.pdf(barriers, scale=self.threshold)
        for answer, told in zip(answers, outputs, strict=False):
            below = scipy.stats.laplace.cdf(barriers - answer, scale=self.query)
            density = density * (1 - below if told else below)
        return float(density @ weights)

    def _nodes(self, answers: Any) -> tuple[Floats, Floats]:
        nodes, weights = np.polynomial.legendre.leggauss(12)
        ends = np.array([-60.0 * self.threshold, *sorted({0.0, *answers}), 60.0 * self.threshold])
        counts = np.ceil(np.diff(ends) / min(self.threshold, self.query) * 2).astype(int)
        edges = np.concatenate([np.linspace(a, b, n, endpoint=False) for a, b, n in zip(ends, ends[1:], counts)])
        widths = np.diff(np.append(edges, ends[-1]))[:, None]
        return (edges[:, None] + widths * (nodes + 1) / 2).ravel(), (widths * weights / 2).ravel()

    def on_pair(self, first: Any, second: Any) -> float:
        """Least epsilon for this pair: the largest |log ratio| over all outputs."""
        losses = (math.log(self.chance(first, o)) - math.log(self.chance(second, o)) for o in self._outputs(len(first)))
        return max(map(abs, losses))

    def _outputs(self, length: int) -> set[tuple[int, ...]]:
        """All outputs, cut where it stops."""
        found = set()
        for bits in product((0, 1), repeat=length):
            hits = np.cumsum(bits)
            stop = int(np.argmax(hits >= self.most)) + 1 if hits[-1] >= self.most else length
            found.add(bits[:stop])
        return found


def variants() -> Iterator[Specimen]:
    """All six, claimed at epsilon 1 (the first with room to be seen) with one or two answers above the threshold."""
    rising = ((0.0,) * 4 + (1.0,), (1.0,) * 4 + (0.0,))
    right = SparseVector(2.0, 4.0, most=1)
    yield Specimen(
        "sparse vector 1", Vectorised(right), rising, 1.0, 1.0, "Lyu et al., Theorem 2; an upper bound", SOURCE,
        on_pair=right.on_pair(*rising),
    )  # fmt: skip
    yield Specimen(
        "sparse vector 2", Vectorised(SparseVector(4.0, 8.0, most=2, fresh=4.0)), rising, 1.0, 1.0,
        "Dwork, Roth 2014, Theorem 3.25; an upper bound", SOURCE,
    )  # fmt: skip
    yield from _broken()


def _broken() -> Iterator[Specimen]:
    numeric = ((0.0,) * 8 + (1.0,), (1.0,) * 8 + (0.0,))
    yield Specimen(
        "sparse vector 3", Vectorised(SparseVector(2.0, 2.0, most=1, numeric=True)), numeric, 1.0, math.inf,
        "the released number bounds the threshold's noise: grows with the number of answers (Lyu et al., Theorem 6)",
        SOURCE, samples=300_000,
    )  # fmt: skip
    many = ((0.0,) * 9 + (1.0,), (1.0,) * 9 + (0.0,))
    fourth = SparseVector(4.0, 4 / 3, most=2)
    yield Specimen(
        "sparse vector 4", Vectorised(fourth), many, 1.0, 13 / 4,
        "(1 + 6c)/4 epsilon with c = 2 (Lyu et al.); an upper bound", SOURCE, on_pair=fourth.on_pair(*many),
        samples=300_000,
    )  # fmt: skip
    yield Specimen(
        "sparse vector 5", Vectorised(SparseVector(2.0, 0.0)), ((0.0, 1.0), (1.0, 0.0)), 1.0, math.inf,
        "without noise on answers, (below, above) is impossible for the neighbour (Lyu et al., Theorem 3)", SOURCE,
        on_pair=math.inf, samples=1_000,
    )  # fmt: skip
    halves = ((0.0,) * 8, (1.0,) * 4 + (-1.0,) * 4)
    sixth = SparseVector(2.0, 2.0)
    yield Specimen(
        "sparse vector 6", Vectorised(sixth), halves, 1.0, math.inf,
        "m/2 epsilon at least for 2 m answers, as nothing stops it (Lyu et al., Theorem 7)", SOURCE,
        on_pair=sixth.on_pair(*halves), samples=100_000,
    )  # fmt: skip
