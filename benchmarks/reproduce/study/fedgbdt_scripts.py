"""Two steps in which the authors' released scripts differ from their text, put in place of refdp's for a run.

They bear on trees of one feature, and nothing else in Table 7 tells the scripts from the text.

- Below a split at candidate b, the left child chooses among the candidates under b - 1, although b - 1 still separates
  its records; what is left of a path without such candidates is a leaf.
- With iterative Hessian candidates and one feature a tree, noise is drawn for G and for H on their own: 2 T + s m
  queries of sensitivity 1 and 1/4, where the text and all other methods have one query of (G, H), T + s m in all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from refdp.data.candidates import Candidates
from refdp.data.feasible import Feasible, Positions
from refdp.data.records import Floats, Schema
from refdp.noise.calibration import total_mu
from refdp.papers import fedgbdt
from refdp.privacy.curator import Request
from refdp.privacy.sources import SampleSource, asked


@dataclass(frozen=True)
class ScriptFeasible(Feasible):
    """Feasible splits, with the scripts' range of candidates. separating: what `Feasible` would leave open."""

    separating: Any = None

    @classmethod
    def root(cls, candidates: Candidates, features: Sequence[int]) -> ScriptFeasible:
        """Level 0: every candidate of the given features."""
        start = Feasible.root(candidates, features)
        return cls(candidates, start.features, start.open, start)

    def drawn(self, uniform: Floats) -> Positions:
        """One candidate a node; where nothing is open, a candidate that sends all records of the node the same way."""
        inside = np.isin(self.candidates.feature, self.features) & ~self.separating.open
        dead = ~self.open.any(axis=1)
        return Feasible(self.candidates, self.features, np.where(dead[:, None], inside, self.open)).drawn(uniform)

    def split(self, chosen: Positions) -> ScriptFeasible:
        """The next level, when node k is split by candidate chosen[k]."""
        below = Feasible(self.candidates, self.features, self.open).split(chosen)
        open_ones = below.open.copy()
        left = open_ones[0::2]
        inside = chosen > self.candidates.starts[self.candidates.feature[chosen]]
        left[np.flatnonzero(inside), chosen[inside] - 1] = False
        return ScriptFeasible(self.candidates, self.features, open_ones, self.separating.split(chosen))


class ApartSource(SampleSource):
    """Noise of one deviation for G and another one for H in the leaves."""

    def __init__(self, generator: np.random.Generator, deviations: tuple[float, float]) -> None:
        super().__init__(generator)
        self._deviations = np.array(deviations)[:, None]

    def release(self, request: Request) -> NDArray[Any]:
        """Noise from the generator."""
        if request.path[-1] != "leaves":
            return super().release(request)
        _, value = asked(request)
        return np.asarray(value + self._deviations * self._secret.standard_normal(value.shape))


@contextmanager
def as_in_scripts(params: fedgbdt.Params, schema: Schema, generator: np.random.Generator) -> Iterator[SampleSource]:
    """Inside, training goes as in the scripts; the source to train with."""
    with mock.patch.object(fedgbdt, "Feasible", ScriptFeasible):
        if params.candidates != "iterative-hessian" or params.features_per_tree != 1:
            yield SampleSource(generator)
            return
        queries = 2 * params.all_trees(schema) + params.all_rounds(schema)
        mu = total_mu(params.epsilon, params.delta, params.accounting) / math.sqrt(queries)
        with mock.patch.object(fedgbdt.Params, "query_mu", lambda *_: mu):
            yield ApartSource(generator, (1 / mu, 1 / (4 * mu)))
