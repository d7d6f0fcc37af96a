"""Random small runs that reach what a text does: few records a leaf, missing values, deep trees, large steps."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from refdp.data.memory import Memory
from refdp.data.population import Encode, Step
from refdp.data.records import (
    Categorical,
    Classes,
    Floats,
    Interval,
    Model,
    Numeric,
    Records,
    Schema,
    Target,
    make_records,
)
from refdp.privacy.curator import Curator, Transcript
from refdp.privacy.events import Relation
from refdp.privacy.replay import Recorder
from refdp.privacy.sources import SampleSource

FEATURES = (Numeric("a", -1.0, 2.0), Categorical("b", ("u", "v", "w")), Numeric("c", 0.0, 1.0))
REGRESSION, TWO, THREE = Interval(-2.0, 5.0), Classes(("n", "y")), Classes(("r", "s", "t"))
RELATIONS = (Relation.ADD_REMOVE, Relation.REPLACE_ONE)


class Watched(Memory):
    """Records in memory that remember the candidates that they were told to encode: public, and in no transcript."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.encoded: list[Any] = []

    def tell(self, step: Step) -> None:
        """As of `Memory`."""
        if isinstance(step, Encode):
            self.encoded.append(step.candidates)
        super().tell(step)


@dataclass(frozen=True)
class Recorded:
    """A run as it was. encoded: every set of candidates, in order."""

    params: Any
    schema: Schema
    records: Records
    transcript: Transcript
    model: Model
    encoded: list[Any]

    @property
    def categorical(self) -> list[bool]:
        """Of each feature, whether it has categories."""
        return [isinstance(feature, Categorical) for feature in self.schema.features]

    @property
    def changed(self) -> int:
        """Records that differ between neighbours: 1 under add-remove, 2 under replace-one."""
        return 1 if self.params.relation is Relation.ADD_REMOVE else 2


def word(rng: np.random.Generator, *words: str) -> Any:
    """One of these settings."""
    return str(rng.choice(words))


def some_records(rng: np.random.Generator, target: Target, most: int = 12) -> Records:
    """Few records, some of their values outside the bounds or missing."""
    features = FEATURES[: int(rng.integers(1, 4))]
    rows = int(rng.integers(2, most + 1))
    columns = [
        rng.uniform(f.low - 0.2, f.high + 0.2, rows)
        if isinstance(f, Numeric)
        else rng.integers(0, 3, rows).astype(float)
        for f in features
    ]
    x: Floats = np.column_stack(columns)
    x[rng.random(x.shape) < 0.15] = np.nan
    if isinstance(target, Classes):
        y = rng.integers(0, len(target.values), rows).astype(float)
    else:
        y = rng.uniform(-2, 5, rows)
    return make_records(Schema(features, target), x, y)


def trained(module: ModuleType, params: Any, records: Records, seed: int) -> Recorded:
    """A run of the paper's text, recorded."""
    recorder = Recorder(SampleSource(np.random.default_rng(seed)), params.relation)
    population = Watched(records)
    model = module.train_on(params, records.schema, population, Curator(recorder, params.relation))
    return Recorded(params, records.schema, records, recorder.transcript, model, population.encoded)
