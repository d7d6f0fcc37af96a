"""Weights of records and classes: what they change, what they leave, and that replays see a wrong one."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.utils.validation import has_fit_parameter

import refdp
from refdp.audit.replay import Pair, audit_pair
from refdp.data.losses import GRID
from refdp.data.memory import Memory
from refdp.data.population import Begin, Labels, Refresh, values
from refdp.data.records import Records, weighed
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.faces import registry
from refdp.faces.estimators.weights import APART
from refdp.own import grove
from refdp.papers import sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource
from tests.own.test_grove import REAL, TWO, data

pytestmark = pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning", "ignore::refdp.errors.UtilityWarning")
ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
PUBLIC: dict[str, Any] = {"relation": "add-remove", "bounds": {0: (0, 1), 1: (0, 1)}}


def light(records: Records) -> Records:
    return weighed(records, np.random.default_rng(5).random(records.size))


def made(rows: int = 4000) -> tuple[Any, Any]:
    x = np.random.default_rng(3).random((rows, 2))
    return x, (x[:, 0] > 0.5).astype(int)


def violations(paper: str, schema: Any, relation: Relation, runs: int) -> list[Any]:
    """Of recorded runs on a few records with weights, replayed on a neighbour that differs in the heaviest one."""
    text, params, found = registry.paper(paper), parameters(paper, relation), list[Any]()
    records = light(data(schema, 12))
    for seed in range(runs):
        audited, other = int(np.argmax(records.weights())), 1
        base = records.take([row for row in range(records.size) if row not in (audited, other)])
        old = records.take([other]) if relation is REPLACE else None
        pair = Pair(base, records.take([audited]), old, seed)
        source = SampleSource(np.random.default_rng(seed), exact=False)
        found += audit_pair(lambda one, door: text.train(params, one, door), pair, source, 1.0).violations
    return [one for one in found if one.kind != "loss"]


def parameters(paper: str, relation: Relation = ADD) -> Any:
    if paper == "grove":
        return grove.Params(1.0, relation, trees=2, depth=1, bins=2, noise="floating")
    return sgbdt.Params(1.0, relation, trees=2, depth=1, noise="floating")


CASES = [
    ("grove", TWO, ADD),
    ("grove", TWO, REPLACE),
    ("grove", REAL, ADD),
    ("grove", REAL, REPLACE),
    ("sgbdt", TWO, ADD),
    ("sgbdt", REAL, ADD),
]


@pytest.mark.parametrize(("paper", "schema", "relation"), CASES)
def test_replays_of_records_with_weights_find_no_violation(paper: str, schema: Any, relation: Relation) -> None:
    assert not violations(paper, schema, relation, 4)


@pytest.mark.parametrize(("paper", "schema", "relation"), CASES)
def test_replays_see_weights_that_make_records_larger(
    monkeypatch: pytest.MonkeyPatch, paper: str, schema: Any, relation: Relation
) -> None:
    """A mutant that trebles weights."""
    right = Memory._weighed

    def heavy(self: Memory, found: Any, rows: Any) -> Any:
        return {name: 3 * one for name, one in right(self, found, rows).items()}  # type: ignore[operator]

    monkeypatch.setattr(Memory, "_weighed", heavy)
    assert violations(paper, schema, relation, 4)


def test_no_entry_of_a_record_grows_and_sums_are_of_weights() -> None:
    records = light(data(TWO, 50))
    host, plain = Memory(records), Memory(data(TWO, 50))
    contribution = grove.Contribution(grove.Params(1.0, ADD), TWO)
    for one in (host, plain):
        one.tell(Begin(contribution))
        one.tell(Refresh(("g", "h")))
    own, whole = host._current().values, plain._current().values
    assert all((np.abs(own[name]) <= np.abs(whole[name])).all() for name in ("g", "h"))  # type: ignore[arg-type]
    size, ones = values(host.ask(Labels(0.0, 1.0)))
    assert size == pytest.approx(records.weights().sum(), abs=50 * GRID)
    assert ones == pytest.approx((records.weights() * records.y).sum(), abs=50 * GRID)
    assert records.take([3]).weights() == records.weights()[3]
    assert records.insert(2, records.take([0])).weights()[2] == records.weights()[0]


def test_weights_of_one_change_nothing_and_of_zero_count_nothing() -> None:
    x, y = made()
    fits = []
    for weight in (None, np.ones(len(y)), (y == 0) * 1.0):
        seed = refdp.ReproducibleSeed(1)
        model = refdp.GroveClassifier(classes=[0, 1], epsilon=4.0, trees=5, insecure_seed=seed, **PUBLIC)
        fits.append(model.fit(x, y, sample_weight=weight))
    assert fits[0].model_.to_json() == fits[1].model_.to_json()
    assert fits[0].certificate_.assuming(APART) == fits[1].certificate_ == fits[2].certificate_
    assert APART not in fits[0].certificate_.assumptions
    assert fits[0].score(x, y) > 0.9
    assert fits[2].predict_proba(x)[:, 1].max() < 0.2


def test_class_weights_are_public_and_scale_to_one() -> None:
    x, y = made()
    seed = refdp.ReproducibleSeed(1)
    few: dict[str, Any] = {"classes": [0, 1], "epsilon": 4.0, "trees": 5, **PUBLIC}
    heavy = refdp.GroveClassifier(class_weight={1: 10.0}, insecure_seed=seed, **few).fit(x, y)
    plain = refdp.GroveClassifier(insecure_seed=seed, **few).fit(x, y)
    assert heavy.predict_proba(x)[:, 1].mean() > plain.predict_proba(x)[:, 1].mean() + 0.1
    wrong: list[Any] = ["balanced", {7: 1.0}, {1: -1.0}, {0: 0.0, 1: 0.0}, {1: float("nan")}, {1: 10**400}]
    wrong += [{1: 1j}, {1: np.complex128(1)}]
    for given in wrong:
        with pytest.raises(InvalidParameter, match="class_weight"):
            refdp.GroveClassifier(class_weight=given, **few).fit(x, y)


def test_weights_that_no_guarantee_covers_are_refused() -> None:
    x, y = made(50)
    model = refdp.SGBDTClassifier(classes=[0, 1], trees=2, **PUBLIC)
    for weight in (2 * np.ones(50), -np.ones(50), np.full(50, np.nan), np.ones(49), np.ones((50, 2)), "heavy"):
        with pytest.raises(InvalidRecords, match="weight"):
            model.fit(x, y, sample_weight=weight)
    masked = np.ma.masked_array(np.ones(50), mask=np.arange(50) == 3)
    large, moments = [*[0.5] * 49, 10**400], np.zeros(50, dtype="M8[s]")
    for odd in (masked, np.full(50, 0.5 + 0.5j), [*[0.5] * 49, 1j], large, moments, moments - moments, [[1], [1, 2]]):
        with pytest.raises(InvalidRecords, match=r"^sample_weight: one number a record is needed$") as caught:
            model.fit(x, y, sample_weight=odd)
        assert caught.value.__context__ is None, "Python's own message may quote a weight"
    with pytest.raises(TypeError):
        refdp.DPBoostClassifier(**PUBLIC).fit(x, y, sample_weight=np.ones(50))  # type: ignore[call-arg]
    with pytest.raises(InvalidParameter, match="weights"):
        params = registry.paper("dpboost").params({"epsilon": 1.0, "relation": ADD}, as_published=False)
        text = registry.paper("dpboost")
        text.train(params, light(data(TWO, 8)), Curator(SampleSource(np.random.default_rng(0)), ADD))


UNWEIGHED = ("DPBoostClassifier", "FedGBDTRegressor", "DPXGBoostClassifier", "InPrivateClassifier")


@pytest.mark.parametrize("name", UNWEIGHED)
def test_estimators_without_weights_say_which_have_them(name: str) -> None:
    kind: Any = getattr(refdp, name)
    with pytest.raises(
        TypeError, match=rf"^{name}.fit has no argument 'sample_weight': records are weighed by Grove's"
    ):
        kind().fit(np.zeros((4, 1)), [0, 1, 0, 1], sample_weight=np.ones(4))
    assert not has_fit_parameter(kind(), "sample_weight")
    assert has_fit_parameter(refdp.GroveClassifier(), "sample_weight")
    assert [*inspect.signature(kind.fit).parameters][:3] == ["self", "X", "y"]


@pytest.mark.parametrize("name", [*UNWEIGHED, "GroveRegressor"])
def test_estimators_without_weights_of_classes_say_which_have_them(name: str) -> None:
    with pytest.raises(TypeError, match="classes are weighed by GroveClassifier and SGBDTClassifier alone"):
        getattr(refdp, name)(class_weight={0: 1, 1: 2})
    with pytest.raises(TypeError, match="GroveClassifier has no parameter 'scale_pos_weight': give 'class_weight'"):
        refdp.GroveClassifier(scale_pos_weight=2)  # type: ignore[call-arg]
