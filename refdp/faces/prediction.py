"""From a model's scores to classes, probabilities and metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from refdp.data.records import Classes, Floats, Model, clamp_features
from refdp.errors import InvalidRecords
from refdp.faces import registry
from refdp.io.datasets import Dataset

CORE, LEAST = 0.9, 1e-6
"""Up to which score its half is a probability's distance from 1/2, and the least probability that log odds give."""


def mean_probabilities(score: Floats) -> Floats:
    """Scores learnt by regression on the labels -1 and +1 as probabilities, of shape (rows, classes).

    What such a score estimates is 2 p - 1. Noise and clipping carry it beyond 1, where no label is certain: from `CORE`
    on the distance from certainty falls with one over the score, with the same slope at `CORE`, so that greater scores
    keep greater probabilities and none is 0 or 1. Two classes have one score, for the second; more are divided by their
    sum.
    """
    size = np.abs(score)
    room = (1 - CORE) / 2
    above = np.where(size <= CORE, (1 - size) / 2, room / (1 + np.maximum(size - CORE, 0.0) / (2 * room)))
    above = np.maximum(above, np.finfo(np.float64).epsneg)
    return _of_classes(np.where(score < 0, above, 1 - above))


def odds_probabilities(score: Floats) -> Floats:
    """Log odds as probabilities of shape (rows, classes): two classes have one score; more, trained one against the
    rest, have their sigmoids divided by their sum. None is below `LEAST` before that."""
    return _of_classes(np.clip(1 / (1 + np.exp(-np.clip(score, -700, 700))), LEAST, 1 - LEAST))


def cut_probabilities(score: Floats) -> Floats:
    """Log odds that Grove learnt from gradients cut to 1/2 as probabilities of shape (rows, classes).

    Where a share q of labels is 1, its gradients at a probability p up to 1/2 add up to (1 - q) p - q / 2, which is 0
    at q = p / (p + 1/2): a rare class is rarer in the scores than among labels. Beyond 1/2 by symmetry. Of more than
    two classes nearly all have p below 1/2, so that nearly the same factor is in all of them, and dividing by their sum
    takes it away. There the gradients of other classes are cut further; what that solves to told classes apart less
    well and was no better calibrated (docs/grove.md), so that the sum is all.
    """
    odds = odds_probabilities(score)
    if score.shape[1] > 1:
        return odds
    p = odds[:, 1:]
    rarer = np.minimum(p, 1 - p)
    share = rarer / (rarer + 0.5)
    return _of_classes(np.where(p < 0.5, share, 1 - share))


def expected_probabilities(score: Floats) -> Floats:
    """Expected labels in [-1, 1], of DP-XGBoost with log loss, as probabilities of shape (rows, classes)."""
    return _of_classes(np.clip((1 + score) / 2, LEAST, 1 - LEAST))


def _of_classes(p: Floats) -> Floats:
    """Of one column both classes; of more, trained one against the rest, each divided by their sum."""
    return np.column_stack([1 - p, p]) if p.shape[1] == 1 else np.asarray(p / p.sum(axis=1, keepdims=True))


LINKS: Mapping[str, Callable[[Floats], Floats]] = {
    "dpboost": mean_probabilities,
    "dpxgboost": mean_probabilities,
    "fedgbdt": odds_probabilities,
    "grove": cut_probabilities,
    "inprivate": lambda score: odds_probabilities(2 * score),  # Eq. 9
    "sgbdt": odds_probabilities,
}
"""How each paper's scores become probabilities of shape (rows, classes)."""


def scores(model: Model, x: Floats) -> Floats:
    """The paper's scores, or values for regression, of features clamped to the public bounds like those of training.

    Shape (rows, scores), one score but for more than two classes. Errors: InvalidRecords for a wrong number of columns
    or an infinite feature.
    """
    if x.ndim != 2 or x.shape[1] != len(model.schema.features):
        raise InvalidRecords(f"features of shape {x.shape}: the model has {len(model.schema.features)} columns")
    infinite = np.isinf(x).any(axis=0)
    if infinite.any():
        name = model.schema.names[int(np.argmax(infinite))]
        raise InvalidRecords(f"feature {name!r} holds an infinite value; finite values and NaN (missing) are allowed")
    return registry.paper(model.paper).predict(model, clamp_features(model.schema, x))


def probabilities(model: Model, x: Floats) -> Floats:
    """Shape (rows, classes), rows summing to 1."""
    link = expected_probabilities if model.params.get("loss") == "log" else LINKS[model.paper]
    return link(scores(model, x))


def classes(model: Model, x: Floats) -> NDArray[np.intp]:
    """Index of the predicted class of every row: the second of two if its score is above 0, else the greatest score.

    Shape (rows,).
    """
    raw = scores(model, x)
    return (raw[:, 0] > 0).astype(np.intp) if raw.shape[1] == 1 else np.argmax(raw, axis=1)


def metrics(model: Model, held_out: Dataset) -> dict[str, float | None]:
    """auc and error for classes, rmse and mae for regression, on records that took no part in training.

    They are computed from records without noise. auc is None where the records do not hold every class, and all are
    None where there are no records.
    """
    if not len(held_out.y):
        return dict.fromkeys(("rmse", "mae") if held_out.task == "regression" else ("auc", "error"))
    if held_out.task == "regression":
        residual = scores(model, held_out.x) - held_out.y
        return {"rmse": float(np.sqrt(np.mean(residual**2))), "mae": float(np.mean(np.abs(residual)))}
    error = float(np.mean(classes(model, held_out.x) != held_out.y))
    return {"auc": _auc(model, held_out), "error": error}


def _auc(model: Model, held_out: Dataset) -> float | None:
    from sklearn.metrics import roc_auc_score

    target = held_out.target
    assert isinstance(target, Classes)
    if len(np.unique(held_out.y)) < len(target.values):
        return None
    if held_out.task == "binary":
        return float(roc_auc_score(held_out.y, scores(model, held_out.x)[:, 0]))
    return float(roc_auc_score(held_out.y, probabilities(model, held_out.x), multi_class="ovr"))
