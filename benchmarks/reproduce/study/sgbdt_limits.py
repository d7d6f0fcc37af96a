"""Adult with the settings of the authors' own table of results, and what each of these settings is worth.

The table is code/cpp_gbdt/results/adult/adult_rerun_results.csv of github.com/kirschte/sbdt, the program that belongs
to the full text. Of its rows those with the published figure are taken. The authors chose them on Adult; the budget
does not pay for that, here as little as there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.reproduce.study.sgbdt_variants import params_of
from refdp.data.records import Categorical, Ensemble, Numeric, Records, Schema, make_records
from refdp.noise.mechanisms import Gaussian
from refdp.papers import sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Charge
from refdp.privacy.sources import NoiselessSource, SampleSource

BOUNDS = (0.0, 100.0)
"""The thresholds of all numeric columns are drawn from here: one public range, whatever the column's own bounds."""

COMMON: Mapping[str, Any] = {
    "gradient_bound": 0.5, "hessian_bound": 0.1, "subsample": 0.01, "support_weight": 0.04, "initial_share": 0.0,
    "regularisation": 10.0, "shrinkage": 0.1, "features": "cyclic", "values": "uniform", "support": "max",
}  # fmt: skip
METHOD: Mapping[float, Mapping[str, Any]] = {
    0.01: {"trees": 50, "depth": 5},
    0.02: {"trees": 100, "depth": 6},
    0.03: {"trees": 400, "depth": 6, "gradient_bound": 0.3},
    0.1: {"trees": 400, "depth": 6, "gradient_bound": 0.3, "subsample": 1.0},
    0.5: {"trees": 200, "depth": 6, "gradient_bound": 0.8, "subsample": 1.0, "regularisation": 5.0},
}
BASELINE: Mapping[float, Mapping[str, Any]] = {
    0.01: {"trees": 25, "depth": 5, "hessian_bound": 0.25},
    0.02: {"trees": 50, "depth": 6},
    0.03: {"trees": 50, "depth": 6, "gradient_bound": 0.1},
    0.1: {"trees": 100, "depth": 6, "gradient_bound": 0.3},
    0.5: {"trees": 200, "depth": 3, "gradient_bound": 0.3, "hessian_bound": 0.25, "regularisation": 1.0,
          "shrinkage": 0.3},
}  # fmt: skip
"""The rows of gamma = 1, r1 = .5. That of epsilon .5 also refines its splits privately, which is not done here."""

METHOD_ROW, BASELINE_ROW, HALVED, OWN_BOUNDS, NOISELESS = (
    "authors", "authors, gamma 1", "additive, half", "own bounds", "no noise",
)  # fmt: skip
CHANGES: Mapping[str, Mapping[str, Any]] = {
    METHOD_ROW: {},
    BASELINE_ROW: {"subsample": 1.0, "support_weight": 0.5},
    "additive": {"support": "additive"},
    HALVED: {"support": "additive"},
    OWN_BOUNDS: {},
    "initial score": {"initial_share": 0.1},
    "depth 2": {"depth": 2},
    "gamma .1": {"subsample": 0.1},
    "r1 .5": {"support_weight": 0.5},
    "uniform features": {"features": "uniform"},
    NOISELESS: {},
}
"""What each row changes of the authors' settings."""


def params_for(row: str, epsilon: float) -> sgbdt.Params:
    """The parameters of a row."""
    of_table = BASELINE if row == BASELINE_ROW else METHOD
    return params_of(epsilon, {**COMMON, **of_table[epsilon], **CHANGES[row]})


def in_bounds(records: Records) -> Records:
    """The records with `BOUNDS` for every numeric column; a number beyond goes where the bound goes."""
    features = tuple(
        Numeric(feature.name, *BOUNDS) if isinstance(feature, Numeric) else feature
        for feature in records.schema.features
    )
    return make_records(Schema(features, records.schema.target), records.x, records.y)


def auc(row: str, epsilon: float, records: Records, test: Records, seed: int) -> float:
    """Train as the row says; area under the curve on the test part."""
    if row != OWN_BOUNDS:
        records, test = in_bounds(records), in_bounds(test)
    params, generator = params_for(row, epsilon), np.random.default_rng(seed)
    source = NoiselessSource(generator) if row == NOISELESS else SampleSource(generator)
    curator = Curator(source, params.relation)
    if row == HALVED:
        score = trained_with_half(params, records, curator).score(
            test.x, np.array([isinstance(feature, Categorical) for feature in records.schema.features])
        )
    else:
        score = sgbdt.predict(sgbdt.train(params, records, curator), test.x)[:, 0]
    return float(roc_auc_score(test.y, score))


def trained_with_half(params: sgbdt.Params, records: Records, curator: Curator) -> Ensemble:
    """Half the deviation on sums of Hessians, as the authors' program has it for classes: less than is accounted."""
    return sgbdt.train(Halved(**vars(params)), records, curator).outputs[0]


@dataclass(frozen=True)
class Halved(sgbdt.Params):
    """Half of the accounted deviation on sums of Hessians."""

    def leaf_charge(self, schema: Schema) -> Charge:
        """Declared as accounted."""
        charge = super().leaf_charge(schema)
        assert isinstance(charge.mechanism, Gaussian)
        gradient, support = np.broadcast_to(charge.mechanism.sd, 2)
        return replace(charge, mechanism=Gaussian((float(gradient), float(support) / 2)))
