"""What a run releases is what its plan says and what the ledger proves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refdp.accounting import account
from refdp.data.forms import from_json
from refdp.data.memory import Memory
from refdp.data.records import Schema
from refdp.errors import InvalidParameter
from refdp.faces.prediction import LINKS
from refdp.ledger import claims
from refdp.papers import inprivate
from refdp.papers.inprivate import classification_leaf_sensitivity, gain_range, regression_leaf_sensitivity
from refdp.papers.published.inprivate import AS_PUBLISHED
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation, expand, releases
from refdp.privacy.sources import NoiselessSource, SampleSource
from tests.inprivate.cases import BINARY, REGRESSION, THREE, made_up, params

SCHEMAS = pytest.mark.parametrize("schema", [REGRESSION, BINARY, THREE], ids=["regression", "binary", "three"])


@SCHEMAS
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"depth": 1},
        {"owners": 1, "rounds": 1},
        {"noise": "discrete"},
        {"candidates": "log", "halves": "sizes"},
        {**AS_PUBLISHED},
    ],
)
def test_recorded_events_are_the_planned_ones(schema: Schema, relation: Relation, changes: dict[str, Any]) -> None:
    p = params(relation=relation, **changes)
    curator = Curator(SampleSource(np.random.default_rng(0)), relation)
    model = inprivate.train(p, made_up(schema, 30, 0), curator)
    assert curator.event() == expand(inprivate.plan(p, schema).event)
    assert len(model.outputs[0].trees) == p.owners * p.rounds
    assert from_json(model.to_json()).to_json() == model.to_json()


@SCHEMAS
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("changes", [{"rounds": 1}, {"rounds": 3}, {"noise": "discrete"}, {"residual_bound": 0.5}])
def test_a_repaired_run_establishes_what_it_claims(schema: Schema, relation: Relation, changes: dict[str, Any]) -> None:
    p = params(relation=relation, **changes)
    found = inprivate.certificate(p, schema)
    assert (found.claimed.epsilon, found.claimed.delta, found.established.delta) == (1.0, 0.0, 0.0)
    assert 0.8 < found.established.epsilon <= 1.0 * (1 + 1e-9)
    assert all(verdict in claims.ESTABLISHED for _, verdict in found.claims) and not found.notes
    assert {claims.get(name).relation for name, _ in found.claims} <= {relation.value, "none"}
    assert account(inprivate.plan(p, schema), delta=0.0).epsilon <= 1.0 * (1 + 1e-9)


@SCHEMAS
@pytest.mark.parametrize("noise", ["floating", "discrete"])
@pytest.mark.parametrize("rounds", [1, 2, 3, 9])
def test_amplified_turns_cost_epsilon_and_no_more(schema: Schema, noise: Any, rounds: int) -> None:
    for epsilon in (0.01, 1.0, 600.0, 699.95, 5000.0):
        amplified = params(rounds=rounds, noise=noise, turn_budget="amplified", epsilon=epsilon)
        cost, whole = (
            account(inprivate.plan(one, schema, proved=True), delta=0.0, both=False).epsilon
            for one in (amplified, params(rounds=rounds, noise=noise, epsilon=epsilon))
        )
        assert 0.998 * epsilon < cost <= epsilon * (1 + 1e-9)
        assert cost >= whole * (1 - 1e-9) and (rounds != 2 or epsilon > 1 or cost > 1.1 * whole)


UNUSED = "inprivate/unused-records"


def test_where_turns_cost_what_the_run_does() -> None:
    """No record is surely unused where one is replaced, where halves have sizes, or where there is one round."""
    for changes in ({"relation": Relation.REPLACE_ONE}, {"halves": "sizes"}, {"rounds": 1}, {"turn_budget": "whole"}):
        assert params(**{"turn_budget": "amplified", **changes}).turn_epsilon() == 1.0
        assert UNUSED not in params(**{"turn_budget": "amplified", **changes}).premises()
    amplified = params(turn_budget="amplified")
    assert amplified.turn_epsilon() == pytest.approx(np.log1p((np.e - 1) / 0.75), rel=1e-12)
    assert amplified.premises()[-1] == UNUSED
    assert UNUSED in dict(inprivate.certificate(amplified, REGRESSION).rests_on)


def test_leaves_have_what_no_split_uses() -> None:
    assert params(depth=1, split_share=0.7).leaf_epsilon(REGRESSION) == 1.0
    assert params(depth=2, split_share=0.75).leaf_epsilon(REGRESSION) == 0.25


def test_declared_sensitivities_are_the_proved_formulas() -> None:
    for relation in Relation:
        for schema, leaf in ((BINARY, classification_leaf_sensitivity(relation)),
                             (REGRESSION, regression_leaf_sensitivity(0.5, relation))):  # fmt: skip
            bounds = {r.name: r.sensitivity.bound for r in releases(
                inprivate.plan(params(relation=relation, residual_bound=0.5), schema).event)}  # fmt: skip
            assert bounds == {"splits of level 0": float(gain_range(0.5, relation)),
                              "splits of level 1": float(gain_range(0.5, relation)), "leaves": float(leaf)}  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "changes", "note"),
    [
        (BINARY, {}, "reveal"),
        (BINARY, {"candidates": "uniform"}, "inprivate/eq-11 is REFUTED"),
        (REGRESSION, {"candidates": "uniform"}, "residuals of square loss have no bound"),
    ],
)
def test_a_published_run_says_what_does_not_hold(schema: Schema, changes: dict[str, Any], note: str) -> None:
    found = inprivate.certificate(params(**{**AS_PUBLISHED, **changes}), schema)
    assert found.established.epsilon > found.claimed.epsilon
    assert any(note in line for line in found.notes)


def test_without_noise_nothing_is_established() -> None:
    assert inprivate.certificate(params(scheme="np"), BINARY).established.epsilon == np.inf


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": 0.0}, {"owners": 0}, {"rounds": 0}, {"depth": 0}, {"depth": 17}, {"split_share": 1.0},
        {"residual_bound": 0.0}, {"leaf_bound": -1.0}, {"damping": -0.1}, {"shrinkage": 0.0}, {"bins": 0},
        {"halves": "index"}, {"candidates": "data"}, {"relation": "add-remove"},
    ],
)  # fmt: skip
def test_bad_parameters_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(changes))):
        params(**changes)


def test_without_noise_the_trees_are_those_of_the_equations() -> None:
    """One tree of two leaves against a search by hand: Eq. 8 and 14, gain E - E_L - E_R."""
    for schema in (REGRESSION, BINARY):
        records = made_up(schema, 60, 5)
        p = params(scheme="np", owners=1, rounds=1, depth=2, shrinkage=1.0, leaf_bound=10.0)
        tree = (
            inprivate.train(p, records, Curator(NoiselessSource(np.random.default_rng(0)), p.relation))
            .outputs[0]
            .trees[0]
        )
        label = inprivate.Contribution(p, schema).label(0, records.y)  # residuals at f = 0 of either loss
        best = min(_error(records.x, label, feature, value) for feature, value in
                   p.split_candidates(schema, Memory(records)).values)  # fmt: skip
        assert _error(records.x, label, *tree.splits[0]) == pytest.approx(best)
        right = _right(records.x, *tree.splits[0])
        expected = [label[~right].mean(), label[right].mean()]  # curvature is 1 at |residual| = 1, so Eq. 8 is a mean
        np.testing.assert_allclose(tree.leaves, expected, atol=1e-6)


def _right(x: Any, feature: float, value: float) -> Any:
    column = x[:, int(feature)]
    return column == value if feature == 1 else column >= value


def _error(x: Any, label: Any, feature: float, value: float) -> float:
    right = _right(x, feature, value)
    return sum(float(((part - part.mean()) ** 2).sum()) for part in (label[right], label[~right]) if len(part))


def test_probabilities_are_those_of_equation_9() -> None:
    score = np.array([[-2.0], [0.0], [0.7]])
    expected = np.exp(2 * score[:, 0]) / (1 + np.exp(2 * score[:, 0]))
    np.testing.assert_allclose(LINKS["inprivate"](score)[:, 1], expected, rtol=1e-12)


def test_depth_ten_trains() -> None:
    p = params(owners=1, rounds=1, depth=10)
    model = inprivate.train(p, made_up(BINARY, 200, 1), Curator(SampleSource(np.random.default_rng(0)), p.relation))
    assert len(model.outputs[0].trees[0].leaves) == 2**9


@pytest.mark.parametrize("constants", ["proved", "published"])
def test_the_established_bound_covers_what_rounding_to_the_grid_of_discrete_noise_adds(constants: str) -> None:
    """A record of residual about 3/2 beside sums half a step off the grid moves both of them by a step more."""
    charge = params(noise="discrete", constants=constants, epsilon=0.01).leaf_charge(BINARY)
    step = charge.mechanism.step
    residuals = 1.5 + np.arange(-8, 9) * 2.0**-24
    changes = [
        charge.mechanism.observed_change([a, b], [a + r, b + r * (2 - r)], 1)
        for r in residuals
        for a in (0.0, step / 2 - 1e-7)
        for b in (0.0, step / 2 - 1e-7, step / 4)
    ]
    assert classification_leaf_sensitivity(Relation.ADD_REMOVE) < max(changes) <= charge.proved.bound
