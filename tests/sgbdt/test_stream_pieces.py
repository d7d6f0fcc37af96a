"""A stream piece by piece: what its batches are checked for, what its certificate says, and what may be published."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refdp.data.records import Interval, Numeric, Schema, make_records
from refdp.errors import InvalidParameter, InvalidRecords, PrivacyWarning, UtilityWarning
from refdp.faces.estimators import SGBDTClassifier, SGBDTRegressor
from refdp.faces.estimators.stream import STRANGERS
from refdp.faces.registry import paper
from refdp.faces.seeds import SEED_ASSUMPTION, ReproducibleSeed
from refdp.faces.training import source_for
from refdp.papers import sgbdt
from refdp.privacy.curator import Curator

pytestmark = pytest.mark.filterwarnings("ignore:insecure_seed:refdp.errors.PrivacyWarning")
BOUNDS = {"a": (0, 1), "b": (0, 1)}
SMALL = {"epsilon": 2.0, "relation": "add-remove", "delta": 1e-3, "trees": 2, "extra_trees": 1, "depth": 1,
         "subsample": 0.3}  # fmt: skip


def data(rows: int = 20) -> tuple[pd.DataFrame, np.ndarray]:
    x = np.random.default_rng(1).random((rows, 2))
    return pd.DataFrame(x, columns=["a", "b"]), 2 * x[:, 0] - 1


def regressor(**changes: Any) -> SGBDTRegressor:
    given = {**SMALL, "bounds": BOUNDS, "label_bounds": (-1, 1), "insecure_seed": ReproducibleSeed(3), **changes}
    return SGBDTRegressor(**given)


def test_trees_of_a_batch_are_those_that_are_asked_for() -> None:
    """T_regular of the first, T_extra of each further one; all earlier trees and the initial score stay."""
    x, y = data()
    model = regressor()
    seen = []
    for count in (2, 3, 4):
        one = model.partial_fit(x, y).model_.outputs[0]
        assert len(one.trees) == count and model.private_stream_.batches == count - 1
        seen.append([repr(tree) for tree in one.trees])
    assert seen[1][:2] == seen[0] and seen[2][:3] == seen[1]
    released = [line["name"] for line in model.transcript_ if line["kind"] == "release"]
    assert released == ["score 0/count", "score 0/labels", *["score 0/sample/leaves"] * 4]


def test_the_first_batch_is_a_run_of_its_own() -> None:
    """Its score and trees are the first ones of a `fit` on the same records from the same seed, which goes on."""
    x, y = data()
    whole = regressor().fit(x, y).model_.outputs[0]
    first = regressor().partial_fit(x, y).model_.outputs[0]
    assert first.initial == whole.initial and repr(first.trees) == repr(whole.trees[:2]) and len(whole.trees) == 3


def test_every_class_has_the_trees_that_were_grown_for_it() -> None:
    """Each splits where the draws of its own scope say: on that feature, at a point of a grid of 32."""
    x, y = data()
    kinds = np.where(y > 0.3, "c", np.where(y > -0.3, "b", "a"))
    model = SGBDTClassifier(**SMALL, bounds=BOUNDS, classes=["a", "b", "c"], insecure_seed=ReproducibleSeed(3))
    for count in (2, 3):
        model.partial_fit(x, kinds)
        for number, one in enumerate(model.model_.outputs):
            drawn = {
                what: [line["output"][0] for line in model.transcript_ if line["name"] == f"score {number}/{what}"]
                for what in ("features", "values")
            }
            splits = np.array([tree.splits[0] for tree in one.trees])
            assert splits[:, 0].tolist() == drawn["features"] and len(splits) == count
            assert np.abs(splits[:, 1] - drawn["values"]).max() <= 1 / 32


def test_people_without_ids_are_others_in_every_batch() -> None:
    x, y = data(3)
    model = regressor().partial_fit(x, y).partial_fit(x, y, ids=["p", "q", "r"]).partial_fit(x[:2], y[:2])
    assert list(model.private_budget_report()) == [(0, 0), (0, 1), (0, 2), "p", "q", "r", (2, 0), (2, 1)]


def test_a_record_that_comes_again_is_its_persons_only_one() -> None:
    """The known get their new content in the rows that they have, in whatever order they come; the others follow."""
    x, y = data(6)
    model = regressor().partial_fit(x[:3], y[:3], ids=["p", "q", "r"])
    model.partial_fit(x[3:], y[3:], ids=["r", "s", "p"])
    records = model.private_stream_._population._records  # type: ignore[union-attr]
    held = {name: records.x[row].tolist() for name, row in model.private_stream_._row.items()}
    rows = x.to_numpy()
    assert held == {name: rows[at].tolist() for name, at in (("p", 5), ("q", 1), ("r", 3), ("s", 4))}


def test_one_id_a_record() -> None:
    x, y = data(3)
    for wrong in (["p", "q"], ["p", "q", "r", "s"], ["p", "q", "p"]):
        with pytest.raises(InvalidRecords, match="one id a record is needed, each at most once"):
            regressor().partial_fit(x, y, ids=wrong)


def test_a_further_batch_has_the_columns_of_the_first() -> None:
    x, y = data()
    model = regressor().partial_fit(x, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(x[["b", "a"]], y)
    assert model.private_stream_.batches == 1
    assert regressor(bounds={**BOUNDS, "c": (0, 1)}).partial_fit(x.assign(c=0.5), y).n_features_in_ == 3


def test_a_further_batch_needs_extra_trees_and_a_public_target() -> None:
    x, y = data()
    both: dict[str, Any] = {"extra_trees": 0, "label_bounds": None}
    for change, told in (
        ({"extra_trees": 0}, "extra_trees >= 1 (given: 0)"),
        ({"label_bounds": None}, "label_bounds"),
        (both, "extra_trees >= 1 (given: 0) and label_bounds"),
    ):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            model = regressor(**change).partial_fit(x, y)
        (said,) = [str(one.message) for one in seen if one.category is UtilityWarning and "stream" in str(one.message)]
        assert said.startswith("this batch is the stream's only one")
        assert said.endswith(f": a further batch needs {told}, given before the first")
        assert ("spends the whole budget of its ids" in said) is ("extra_trees" in change)
        with pytest.raises(InvalidParameter, match=f"^a further batch needs {re.escape(told)}, given before the first"):
            model.partial_fit(x, y)


def test_that_no_batch_can_follow_is_said_before_records_are_touched() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UtilityWarning)
        with pytest.raises(UtilityWarning, match="the stream's only one"):
            regressor(extra_trees=0).partial_fit(None, [0.0])
        with pytest.raises(ValueError):  # about X
            regressor(extra_trees=1).partial_fit(None, [0.0])


@pytest.mark.parametrize("classes", [["no", "yes"], ["yes", "no"], np.array(["no", "yes"]), None])
def test_classes_are_those_of_the_parameter(classes: Any) -> None:
    x, y = data()
    labels = np.where(y > 0, "yes", "no")
    named: dict[str, Any] = {**SMALL, "bounds": BOUNDS, "insecure_seed": ReproducibleSeed(3)}
    SGBDTClassifier(**named, classes=["yes", "no"]).partial_fit(x, labels, classes=classes)
    for other in (["no"], ["no", "yes", "perhaps"], ["no", "maybe"], [None, 1]):
        told = r"classes = .*: (the parameter of that name has \['yes', 'no'\]|at least two|a missing)"
        with pytest.raises(InvalidParameter, match=told):
            SGBDTClassifier(**named, classes=["yes", "no"]).partial_fit(x, labels, classes=other)
    with pytest.raises(InvalidParameter, match="classes in partial_fit of a regressor: label_bounds"):
        regressor().partial_fit(x, y, classes=[0, 1])


def test_classes_of_the_first_batch_are_public() -> None:
    x, y = data()
    labels = np.where(y > 0, "yes", "no")

    def made(**more: Any) -> SGBDTClassifier:
        return SGBDTClassifier(**SMALL, bounds=BOUNDS, insecure_seed=ReproducibleSeed(3), **more)

    given = made(classes=["no", "yes"]).partial_fit(x, labels).partial_fit(x, labels)
    for later in (None, ["yes", "no"]):
        model = made().partial_fit(x, labels, classes=["no", "yes"])
        assert model.certificate_.established.epsilon < float("inf")
        assert model.partial_fit(x, labels, classes=later).model_.to_json() == given.model_.to_json()
    with pytest.raises(InvalidParameter, match=r"^classes changed since this stream's first batch"):
        model.partial_fit(x, labels, classes=["no", "perhaps", "yes"])
    with pytest.warns(PrivacyWarning, match="the classes were taken from the data"):
        read_off = made().partial_fit(x, labels)
    with pytest.raises(InvalidParameter, match=r"^a further batch needs classes, given before"):
        read_off.partial_fit(x, labels)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"label_bounds": (-2, 3)}, "label_bounds"),
        ({"bounds": {"a": (0, 1), "b": (0, 2)}}, "bounds"),
        ({"subsample": 0.5}, "subsample"),
        ({"extra_trees": 9, "depth": 2}, "extra_trees, depth"),
    ],
)
def test_a_stream_goes_on_with_what_it_began_with(change: dict[str, Any], told: str) -> None:
    x, y = data()
    model = regressor().partial_fit(x, y)
    before = model.model_
    with pytest.raises(InvalidParameter, match=f"^{told} changed since this stream's first batch"):
        model.set_params(**change).partial_fit(x, y)
    assert model.model_ is before and model.private_stream_.batches == 1
    same = regressor().partial_fit(x, y)
    model.set_params(**{name: same.get_params()[name] for name in change}).partial_fit(x, y)
    assert model.model_.to_json() == same.partial_fit(x, y).model_.to_json()


@pytest.mark.parametrize("same", [{"b": (0.0, 1.0), "a": (0, 1)}, {"a": (np.float64(0), 1), "b": (0, True + 0)}])
def test_bounds_are_compared_by_what_they_are(same: dict[str, Any]) -> None:
    x, y = data()
    model = regressor().partial_fit(x, y)
    assert model.set_params(bounds=same).partial_fit(x, y).private_stream_.batches == 2
    many = np.array([f"c{number}" for number in range(2000)])
    texts = x.assign(a=np.resize(many, len(x)))
    model = regressor(bounds={**BOUNDS, "a": many}).partial_fit(texts, y)
    with pytest.raises(InvalidParameter, match=r"^bounds changed since this stream's first batch"):
        model.set_params(bounds={**BOUNDS, "a": np.where(many == "c1000", "new", many)}).partial_fit(texts, y)


def test_no_stream_is_charged_less_than_it_costs() -> None:
    """Of the printed weights every round costs more than is charged: 60 batches cost epsilon 9.6, 4.3 was said."""
    x, y = data()
    printed, slides = (regressor(as_published=True, weights=one) for one in ("printed", "slides"))
    with pytest.warns(PrivacyWarning, match="records are charged less than they cost"):
        printed.partial_fit(x, y)
    assert printed.partial_fit(x, y).certificate_.established.epsilon == float("inf")
    assert 2.0 < printed.fit(x, y).certificate_.established.epsilon < float("inf")
    assert slides.partial_fit(x, y).partial_fit(x, y).certificate_.established.epsilon <= 2.0 * (1 + 1e-9)
    records = make_records(Schema((Numeric("a", 0, 1),), Interval(-1, 1)), x[["a"]].to_numpy(), y)
    params = paper("sgbdt").params({**SMALL, "weights": "printed"}, as_published=True)
    curator = Curator(source_for(params, np.random.default_rng(0)), params.relation)
    with pytest.raises(InvalidParameter, match=r"^weights = 'printed': .*a stream costs more with every batch"):
        sgbdt.train_stream(params, [records, records], curator)


def test_only_fit_takes_weights_of_classes() -> None:
    x, y = data()
    model = SGBDTClassifier(**SMALL, bounds=BOUNDS, classes=["no", "yes"], class_weight={"no": 0.5, "yes": 1.0})
    with pytest.raises(InvalidParameter, match="class_weight in partial_fit"):
        model.partial_fit(x, np.where(y > 0, "yes", "no"))


# --- What may be published --------------------------------------------------------------------------------------------


def test_what_is_read_off_a_batch_establishes_nothing() -> None:
    """Bounds or the range of labels; and what is assumed is said of the first batch on, once."""
    x, y = data()
    for change, told in (({"bounds": {"a": (0, 1)}}, "the bounds of b were"), ({"bounds": None}, "bounds of a, b were"),
                         ({"label_bounds": None}, "label range was taken")):  # fmt: skip
        with pytest.warns(PrivacyWarning, match=told):
            found = regressor(**change).partial_fit(x, y).certificate_
        assert found.established.epsilon == float("inf") and any(told in note for note in found.notes)
    model = regressor().partial_fit(x, y)
    for _ in range(2):
        found = model.certificate_
        assert found.established.epsilon <= 2.0 * (1 + 1e-9) and found.claimed.epsilon == 2.0
        assert not any("no privacy guarantee" in note for note in found.notes)
        assert [found.assumptions.count(one) for one in (STRANGERS, SEED_ASSUMPTION)] == [1, 1]
        model.partial_fit(x, y)
    named = regressor(insecure_seed=None).partial_fit(x, y, ids=range(20))
    assert not {STRANGERS, SEED_ASSUMPTION} & set(named.certificate_.assumptions)


@pytest.mark.filterwarnings("ignore:with these weights records are charged less:refdp.errors.PrivacyWarning")
@pytest.mark.parametrize("as_published", [False, True])
def test_the_published_report_of_a_budget_is_of_parameters_alone(as_published: bool) -> None:
    """The initial score's share of epsilon; a record at its whole budget, for every score, within what is left.

    By the order that it is kept at: epsilon = B + log((a - 1) / a) - (log delta + log a) / (a - 1), B for all scores.
    """
    x, y = data()
    given: dict[str, Any] = {**SMALL, "bounds": BOUNDS, "initial_share": 0.25, "orders": "one"}
    kinds = np.where(y > 0.3, "c", np.where(y > -0.3, "b", "a"))
    several = SGBDTClassifier(**given, classes=["a", "b", "c"], as_published=as_published).fit(x, kinds)
    for model, scores in ((several, 3), (regressor(initial_share=0.25, orders="one", as_published=as_published), 1)):
        if scores == 1:
            model.partial_fit(x, y)
        found = model.budget_report()
        assert (found["epsilon"], found["delta"], found["epsilon of the initial score"]) == (2.0, 1e-3, 0.5)
        (order,), (whole,) = found["orders"], found["budget of a record at each order"]
        kept = scores * whole + np.log((order - 1) / order) - (np.log(1e-3) + np.log(order)) / (order - 1)
        assert found["epsilon of the trees"] == pytest.approx(kept, rel=1e-9) and 1.4 < kept <= 1.5
        assert found["rounds that every record can pay"] == 2 and found["further rounds"] == 1
        assert found["sigma"] > 0


def test_nothing_of_a_stream_is_reported_before_it_begins() -> None:
    from sklearn.exceptions import NotFittedError

    model = regressor()
    for report in (model.budget_report, model.private_budget_report):
        with pytest.raises(NotFittedError):
            report()
    x, y = data()
    assert model.fit(x, y).budget_report()
    with pytest.raises(NotFittedError):
        model.private_budget_report()
    text = repr(model.partial_fit(x, y).partial_fit(x, y).private_stream_)
    assert text == "Stream(sgbdt, batches=2)"
