"""Entry point into interpret's private boosting machine, with bounds given: its fitted attributes."""

import warnings

import numpy as np
from interpret.privacy import DPExplainableBoostingRegressor

warnings.simplefilter("ignore")


def regressor(records, seed):
    model = DPExplainableBoostingRegressor(
        feature_names=["x"],
        feature_types=["continuous"],
        epsilon=1.0,
        delta=1e-5,
        max_rounds=5,
        privacy_bounds={"x": (0.0, 1.0)},
        privacy_target_min=0.0,
        privacy_target_max=1.0,
        n_jobs=1,
        random_state=seed % 2**31,
    ).fit(records[:, :1], records[:, 1])
    return {"scores": np.asarray(model.term_scores_[0]), "weights": np.asarray(model.bag_weights_),
            "bins": np.asarray(model.bin_weights_[0])}  # fmt: skip
