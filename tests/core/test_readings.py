"""One program text: sampled, listed on a tape, planned and replayed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdp.accounting import pure_epsilon
from refdp.data.records import Categorical, Classes, Interval, Numeric, Records, Schema, make_records
from refdp.errors import InvalidParameter, PrivacyWarning, RelationMismatch
from refdp.noise.mechanisms import Exponential, Laplace
from refdp.noise.samplers import SystemBits
from refdp.papers import dpboost, published
from refdp.privacy.curator import Curator
from refdp.privacy.events import Plan, Relation, Sensitivity, expand
from refdp.privacy.replay import ReplaySource
from refdp.privacy.sources import SampleSource
from refdp.privacy.tape import TapeSource
from tests.recorded import Recorded

FEATURES = (Numeric("a", 0.0, 1.0), Categorical("b", ("x", "y", "z")), Numeric("c", -5.0, 5.0))


def some_records(target: Any, size: int = 60) -> Records:
    generator = np.random.default_rng(4)
    x = np.column_stack([generator.random(size), generator.integers(0, 3, size), generator.normal(0, 3, size)])
    x[::7, 2] = np.nan
    many = len(target.values) if isinstance(target, Classes) else 0
    y = generator.integers(0, many, size) if many else generator.uniform(-2, 2, size)
    return make_records(Schema(FEATURES, target), x, y.astype(np.float64))


TARGETS = [Interval(-1.0, 1.0), Classes(("no", "yes")), Classes(("p", "q", "r"))]


def small(**changes: Any) -> dpboost.Params:
    given = {"relation": Relation.ADD_REMOVE, "trees": 7, "trees_per_ensemble": 3, "depth": 2, "bins": 5, **changes}
    chosen: dpboost.Params = published.params("dpboost", epsilon=2.0, **given)
    return chosen


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"noise": "discrete"},
        {"gradients": "clip"},
        {"scheme": "seq"},
        {"scheme": "para"},
        published.module("dpboost").AS_PUBLISHED,
    ],
)
def test_recorded_events_equal_the_plan(target: Any, relation: Relation, changes: dict[str, Any]) -> None:
    params, records = small(relation=relation, **changes), some_records(target)
    curator = Curator(SampleSource(np.random.default_rng(0)), relation)
    dpboost.train(params, records, curator)
    assert curator.event() == expand(dpboost.plan(params, records.schema).event)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("scheme", ["dpboost", "seq", "para"])
def test_plan_costs_exactly_epsilon(relation: Relation, scheme: Any) -> None:
    params = small(relation=relation, scheme=scheme, trees=6)
    epsilon = pure_epsilon(dpboost.plan(params, Schema(FEATURES, TARGETS[0])))
    least = 2.0 if scheme != "para" else 1.98  # a 64th of the records stays unused, which makes it a little cheaper
    assert least * (1 - 1e-9) <= epsilon <= 2.0 * (1 + 1e-9)


@pytest.mark.parametrize("noise", ["floating", "discrete"])
def test_a_tape_gives_the_same_bytes(noise: Any) -> None:
    params, records = small(noise=noise), some_records(TARGETS[0])
    source = SampleSource(np.random.default_rng(1), record=True)
    first = dpboost.train(params, records, Curator(source, params.relation)).to_json()
    listed = dpboost.train(params, records, Curator(TapeSource(source.tape), params.relation)).to_json()
    assert first == listed
    with pytest.raises(InvalidParameter, match="the tape ends"):
        dpboost.train(params, records, Curator(TapeSource(source.tape[:-1]), params.relation))


def test_a_replay_on_the_same_records_gives_the_same_bytes() -> None:
    params, records = small(), some_records(TARGETS[0])
    curator = Recorded(SampleSource(np.random.default_rng(1)), params.relation)
    model = dpboost.train(params, records, curator).to_json()
    replay = ReplaySource(curator.recorded)
    assert dpboost.train(params, records, Curator(replay, params.relation)).to_json() == model
    replay.finish()


def test_seed_decides_every_byte_and_row_order_does_not() -> None:
    params, records = small(scheme="seq"), some_records(TARGETS[0])
    shuffled = records.take(np.random.default_rng(9).permutation(records.size))
    texts = [
        dpboost.train(params, data, Curator(SampleSource(np.random.default_rng(seed)), params.relation)).to_json()
        for data, seed in ((records, 5), (records, 5), (shuffled, 5), (records, 6))
    ]
    assert texts[0] == texts[1] == texts[2] != texts[3]


def test_exact_samplers_draw_from_the_operating_system() -> None:
    params, records = small(noise="discrete"), some_records(TARGETS[0])
    source = SampleSource(np.random.default_rng(1), exact=True, bits=SystemBits())
    model = dpboost.train(params, records, Curator(source, params.relation))
    leaf = params.leaf_charge(params.tree_epsilon(records.schema), 1.0).mechanism
    steps = np.array([tree.leaves for tree in model.outputs[0].trees[:1]]) / leaf.step  # type: ignore[union-attr]
    assert np.array_equal(steps, np.rint(steps))


def test_public_transcript_shows_no_assignment_and_no_true_value() -> None:
    params, records = small(), some_records(TARGETS[0])
    curator = Recorded(SampleSource(np.random.default_rng(1)), params.relation)
    dpboost.train(params, records, curator)
    shown = curator.transcript.public()
    assert {line["kind"] for line in shown} == {"release"}
    assert all(set(line) == {"name", "kind", "output"} for line in shown)
    quiet = Curator(SampleSource(np.random.default_rng(1)), params.relation)
    dpboost.train(params, records, quiet)
    assert all(entry.value is None for entry in quiet.transcript.entries)


def test_options_of_a_choice_are_rows() -> None:
    curator = Curator(SampleSource(np.random.default_rng(1)), Relation.ADD_REMOVE)
    declared = Sensitivity(1.0, "range", "", Relation.ADD_REMOVE)
    for options in (np.arange(2), np.zeros((2, 1, 2))):
        with pytest.raises(InvalidParameter, match="one row for each"):
            curator.release("x", Exponential(1.0), np.zeros((1, 2)), sensitivity=declared, options=options)
    found = curator.release("x", Exponential(1.0), np.zeros((1, 2)), sensitivity=declared, options=np.ones((2, 3)))
    assert found.shape == (1, 3)


def test_relations_do_not_mix() -> None:
    other = Sensitivity(1.0, 1, "dpboost/leaf-clipped-add-remove", Relation.ADD_REMOVE)
    curator = Curator(SampleSource(np.random.default_rng(1)), Relation.REPLACE_ONE)
    with pytest.raises(RelationMismatch):
        curator.release("x", Laplace(1.0), np.zeros(1), sensitivity=other)
    with pytest.raises(RelationMismatch):
        Plan(Relation.REPLACE_ONE, dpboost.plan(small(), Schema(FEATURES, TARGETS[0])).event)


@pytest.mark.parametrize(
    ("name", "value"),
    [("trees", 0), ("depth", 0), ("depth", 2.5), ("regularisation", 0.0), ("shrinkage", 1.0), ("scheme", "magic"),
     ("bins", 0), ("gradient_bound", float("nan")), ("relation", "add-remove")],
)  # fmt: skip
def test_bad_parameters_are_named(name: str, value: Any) -> None:
    with pytest.raises(InvalidParameter, match=name):
        small(**{name: value})


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf"), "1"])
def test_bad_epsilon_is_named(epsilon: Any) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        dpboost.Params(epsilon, Relation.ADD_REMOVE)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(allow_nan=True, allow_infinity=False, width=32), st.floats(-9, 9)), min_size=1, max_size=8
    )
)
def test_any_finite_records_train(rows: list[tuple[float, float]]) -> None:
    schema = Schema((Numeric("a", -1.0, 1.0),), Interval(-1.0, 1.0))
    records = make_records(schema, np.array([[x] for x, _ in rows]), np.array([y for _, y in rows]))
    model = dpboost.train(small(), records, Curator(SampleSource(np.random.default_rng(0)), Relation.ADD_REMOVE))
    predicted = dpboost.predict(model, records.x)
    assert np.isfinite(predicted).all() and np.abs(predicted).max() <= 1


def test_privacy_warning_is_a_warning() -> None:
    assert issubclass(PrivacyWarning, UserWarning)
