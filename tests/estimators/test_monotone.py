"""Monotone constraints: predictions rise and fall as asked, whatever the other features are; nothing is charged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from refdp import ReproducibleSeed
from refdp.data.records import Categorical, Floats, Interval, Numeric, Schema, Tree
from refdp.errors import InvalidParameter
from refdp.faces import monotone
from refdp.faces.estimators import FedGBDTClassifier, FedGBDTRegressor, SGBDTClassifier
from tests.core.test_constructors import ALL

pytestmark = pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning")
SCHEMA = Schema(
    (Numeric("a", 0, 4), Numeric("b", -1, 1), Categorical("c", ("u", "v", "w")), Numeric("d", 0, 1)), Interval(0, 1)
)
SIGNS = np.array([1, -1, 0, 0])


def random_tree(generator: np.random.Generator, depth: int, default: bool) -> Tree:
    nodes = 2**depth - 1
    feature = generator.integers(4, size=nodes)
    grid = {0: [0, 1, 2, 2, 3, 4, 5], 1: [-1, 0, 0.5], 2: [0, 1, 2], 3: [0.25, 0.5]}
    value = [generator.choice(grid[int(one)]) for one in feature]
    columns = [feature, value, generator.integers(2, size=nodes)][: 3 if default else 2]
    return Tree(np.column_stack(columns).astype(np.float64), generator.normal(size=nodes + 1))


def falls(tree: Tree, signs: Floats, generator: np.random.Generator) -> bool:
    """Whether some prediction moves against a sign: along each constrained feature from random other values."""
    x = np.column_stack([generator.choice(9, 400) / 2, generator.choice(5, 400) / 2 - 1, generator.choice(3, 400),
                         generator.random(400)])  # fmt: skip
    x[generator.random(x.shape) < 0.1] = np.nan
    categorical = np.array([False, False, True, False])
    for feature, sign in enumerate(signs):
        if sign:
            lower, upper = x.copy(), x.copy()
            low, high = SCHEMA.features[feature].low, SCHEMA.features[feature].high  # type: ignore[union-attr]
            two = np.sort(np.clip(generator.choice(12, (2, 400)) / 2 - 1, low, high), axis=0)
            lower[:, feature], upper[:, feature] = two
            change = tree.predict(upper, categorical) - tree.predict(lower, categorical)
            if (sign * change < 0).any():
                return True
    return False


@pytest.mark.parametrize("default", [False, True])
def test_every_tree_becomes_monotone_and_a_monotone_one_stays(default: bool) -> None:
    generator, fell = np.random.default_rng(5), 0
    for number in range(60):
        tree = random_tree(generator, 1 + number % 4, default)
        fell += falls(tree, SIGNS, generator)
        found = monotone.of_tree(tree, SCHEMA, SIGNS)
        assert not falls(found, SIGNS, generator)
        assert monotone.of_tree(found, SCHEMA, SIGNS) is found
    assert fell > 30


def test_no_more_is_asked_than_monotone_predictions() -> None:
    """Each pair of leaves that is put in order has records that differ in one constrained feature alone."""
    generator, seen = np.random.default_rng(6), 0
    for _ in range(20):
        tree = random_tree(generator, 3, True)
        for lower, upper in monotone.ordered(tree, SCHEMA, SIGNS):
            leaves = np.zeros(8)
            leaves[lower], leaves[upper] = 1.0, 0.0
            seen += 1
            assert any(falls(Tree(tree.splits, leaves), SIGNS, generator) for _ in range(20))
    assert seen > 50


def test_values_are_the_nearest() -> None:
    """Against a general solver."""
    generator = np.random.default_rng(7)
    for _ in range(5):
        tree = random_tree(generator, 3, False)
        pairs = monotone.ordered(tree, SCHEMA, SIGNS)
        found = monotone.of_tree(tree, SCHEMA, SIGNS).leaves
        order = [{"type": "ineq", "fun": lambda v, a=a, b=b: v[b] - v[a]} for a, b in pairs]
        best = minimize(lambda v, tree=tree: ((v - tree.leaves) ** 2).sum(), found * 0, constraints=order, tol=1e-12)
        np.testing.assert_allclose(found, best.x, atol=1e-5)


def test_large_trees_become_monotone_too() -> None:
    generator = np.random.default_rng(8)
    tree = random_tree(generator, 8, False)
    assert not falls(monotone.of_tree(tree, SCHEMA, SIGNS), SIGNS, generator)


def fitted(kind: Any, given: Any, **settings: Any) -> Any:
    generator = np.random.default_rng(0)
    x = generator.random((120, 3))
    target: dict[str, Any] = {"label_bounds": (0, 1)} if kind._regression else {"classes": [0, 1]}
    y = 1 - x[:, 0] if kind._regression else (x[:, 0] < 0.5).astype(int)
    small = {"trees": 6, "depth": 2} if "trees" in kind._get_param_names() else {}
    public = {"relation": "add-remove", "bounds": dict.fromkeys(range(3), (0, 1)), "rows": 300}
    model = kind(epsilon=8.0, insecure_seed=ReproducibleSeed(0), monotone_constraints=given, **public, **target,
                 **(small | settings))  # fmt: skip
    return model.fit(x, y)


@pytest.mark.parametrize("kind", ALL)
def test_predictions_of_every_estimator_are_monotone_and_the_certificate_says_so(kind: Any) -> None:
    """The records fall with the first feature; the model may not."""
    model, free = fitted(kind, {0: 1}), fitted(kind, None)
    line = np.repeat(np.random.default_rng(1).random((30, 1, 3)), 50, axis=1)
    line[:, :, 0] = np.linspace(0, 1, 50)

    def moves(one: Any) -> Floats:
        flat = line.reshape(-1, 3)
        found = one.predict(flat) if one._regression else one.predict_proba(flat)[:, 1]
        return np.asarray(np.diff(found.reshape(30, 50), axis=1))

    assert (moves(model) >= 0).all()
    assert (moves(free) < 0).any()
    assert model.certificate_.established == free.certificate_.established
    assert any("monotone in x0" in note for note in model.certificate_.notes)
    assert model.transcript_ == free.transcript_


def test_a_stream_is_monotone_after_every_batch() -> None:
    generator = np.random.default_rng(2)
    model = SGBDTClassifier(epsilon=8.0, relation="add-remove", bounds={0: (0, 1)}, classes=[0, 1], trees=5,
                            extra_trees=3, monotone_constraints=[1], insecure_seed=ReproducibleSeed(1))  # fmt: skip
    for start in (0, 100):
        x = generator.random((100, 1))
        model.partial_fit(x, (x[:, 0] < 0.5).astype(int), ids=np.arange(start, start + 100))
        assert (np.diff(model.decision_function(np.linspace(0, 1, 40)[:, None])) >= 0).all()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("increasing", "sign"),
        ({0: 2}, "sign"),
        ({0: True}, "sign"),
        (1, "sign"),
        (np.ones((3, 3)), "sign"),
        ([1, 0], "2 signs"),
        ({"q": 1}, "no such column"),
        ({-1: 1}, "no such column"),
    ],
)
def test_other_constraints_are_refused(given: Any, says: str) -> None:
    with pytest.raises(InvalidParameter, match=says):
        fitted(FedGBDTRegressor, given)


def test_categories_and_several_classes_are_refused() -> None:
    x, y = np.array([["a", 1.0], ["b", 2.0], ["a", 3.0]], dtype=object), [0, 1, 2]
    with pytest.raises(InvalidParameter, match="no order"):
        FedGBDTRegressor(relation="add-remove", bounds={0: ["a", "b"], 1: (0, 4)}, label_bounds=(0, 2),
                         monotone_constraints=[1, 0]).fit(x, y)  # fmt: skip
    with pytest.raises(InvalidParameter, match="two classes"):
        FedGBDTClassifier(relation="add-remove", bounds={0: ["a", "b"], 1: (0, 4)}, classes=[0, 1, 2],
                          monotone_constraints={1: 1}).fit(x, y)  # fmt: skip
    with pytest.raises(TypeError, match="monotone_constraints"):
        FedGBDTClassifier(monotonic_cst=[1])  # type: ignore[call-arg]
