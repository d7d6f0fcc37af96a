"""Records that are fitted again while no budget holds the fits together: what the warning sees and what not."""

from __future__ import annotations

import gc
import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import refdp
from refdp.errors import BudgetExceeded, RepeatedFitWarning
from refdp.faces import repeats

pytestmark = pytest.mark.filterwarnings("always::refdp.errors.RepeatedFitWarning")
PUBLIC: dict[str, Any] = {"relation": "add-remove", "classes": [0, 1]}


@pytest.fixture(autouse=True)
def nothing_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(repeats, "_uses", {})
    monkeypatch.setattr(repeats, "_alone", set())
    yield


def told(*steps: Callable[[], Any]) -> list[int]:
    """How many warnings of this kind each step gives."""
    found = []
    for step in steps:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            step()
        found.append(sum(one.category is RepeatedFitWarning for one in seen))
    return found


def fit(holder: Any, *objects: Any) -> None:
    """As a fit does it, without one."""
    repeats.repeated(holder, *objects)
    repeats.remember(holder, *objects)


def records() -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).random((40, 2))
    return x, (x[:, 0] > 0.5).astype(int)


def grove(**settings: Any) -> refdp.GroveClassifier:
    return refdp.GroveClassifier(**{"bounds": {0: (0, 1), 1: (0, 1)}, "trees": 2, "depth": 1, **PUBLIC, **settings})


def test_fits_are_held_together_by_one_budget_or_one_file_of_it(tmp_path: Path) -> None:
    one, other = refdp.PrivacyBudget(9.0), refdp.PrivacyBudget(9.0)
    files = [refdp.PrivacyBudget(9.0, file=tmp_path / name) for name in ("a", "a", "b")]
    for first, second, expected in (
        (None, None, 1), (one, None, 1), (None, one, 1), (one, other, 1), (one, one, 0), (one.on("a"), one, 0),
        (one, one.on("a"), 0), (one.on("a"), one.on("a"), 0), (one.on("a"), one.on("b"), 1), (one.on("a"), other, 1),
        (one.on("a"), other.on("b"), 1), (files[0], files[1], 0), (files[0], files[2], 1), (files[0], one, 1),
    ):  # fmt: skip
        x = np.zeros((4, 2))
        assert told(lambda h=first, x=x: fit(h, x), lambda h=second, x=x: fit(h, x)) == [0, expected]  # type: ignore[misc]
    x = np.zeros(3)
    assert told(lambda: fit(refdp.PrivacyBudget(1.0), x)) == [0]
    gc.collect()
    assert told(lambda: fit(refdp.PrivacyBudget(1.0), x)) == [1]  # the first one is gone, and is another one


def test_views_and_columns_are_seen_and_parts_without_a_common_record_are_not() -> None:
    x, y = np.zeros((40, 3)), np.zeros(40)
    for first, second, expected in (
        (x[:], x[:], 1), (x, x[10:], 1), (x[:20], x[10:], 1), (x[::-1], x[5:6], 1), (x[:20], x[20:], 0),
        (x.T[:, :20], x.T[:, 20:], 0), (np.asfortranarray(x)[:20], np.asfortranarray(x)[20:], 0), (x, x.copy(), 0),
        (x.ravel(), x, 1), (y[::2], y[1::2], 0), (x[:0], x, 0), (x.view("S8"), x, 1),
    ):  # fmt: skip
        repeats._uses.clear()
        assert told(lambda a=first: fit(None, a), lambda a=second: fit(None, a)) == [0, expected]  # type: ignore[misc]
    fortran = np.zeros((40, 3), order="F")
    assert told(lambda: fit(None, fortran[:20]), lambda: fit(None, fortran[20:])) == [0, 0]
    assert told(lambda: fit(None, fortran[19:21])) == [1]


@pytest.mark.parametrize("kind", [float, "text"])
def test_frames_are_known_by_themselves_and_by_their_columns(kind: Any) -> None:
    frame = pd.DataFrame({"a": np.zeros(9), "b": np.ones(9)}, dtype=None if kind == "text" else kind)
    if kind == "text":
        frame.insert(0, "t", ["one"] * 9)
    assert told(lambda: fit(None, frame[["a", "b"]], frame["b"]), lambda: fit(None, frame[["a", "b"]], frame["b"])) == [
        0,
        1,
    ]
    assert told(lambda: fit(None, frame), lambda: fit(None, frame.copy())) == [1, kind == "text"]  # Arrow copies none
    texts = pd.DataFrame({"t": pd.array(["one"] * 9, dtype="string")})
    assert told(lambda: fit(None, texts), lambda: fit(None, texts)) == [0, 1]


@pytest.mark.parametrize("kind", ["Float64", "double[pyarrow]", "string[pyarrow]", "category", "table", "batch"])
def test_views_of_other_columns_are_seen(kind: str) -> None:
    """Of pandas' own types, of Arrow's and of Arrow itself; parts without a common record are not."""
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": np.arange(9.0), "b": np.arange(9.0)})
    if kind in ("table", "batch"):
        table: Any = pa.table(frame.to_dict("list"))
        whole: Any = table if kind == "table" else table.to_batches()[0]
        parts: Any = [whole.slice(0), whole.select(["a"]), whole.slice(0, 5), whole.slice(5)]
    else:
        whole = frame.astype(str if kind.startswith("string") else float).astype(kind)
        parts = [whole[:], whole["a"], whole.iloc[:5], whole.iloc[5:]]
    for first, second, expected in ((0, 0, 1), (0, 1, 1), (0, 2, 1), (0, 3, 1), (2, 3, 0)):
        repeats._uses.clear()
        assert told(lambda i=first: fit(None, parts[i]), lambda i=second: fit(None, parts[i])) == [0, expected]  # type: ignore[misc]
    repeats._uses.clear()
    assert told(lambda: fit(None, whole), lambda: fit(None, frame.copy())) == [0, 0]


def test_cells_of_arrow_without_bytes_of_their_own_are_known_by_the_table_alone() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": [True, False], "b": pa.nulls(2)})
    assert told(lambda: fit(None, table), lambda: fit(None, table), lambda: fit(None, table.slice(0))) == [0, 1, 0]
    chunks = pa.chunked_array([[1.0, 2.0], [], [3.0]])
    assert told(lambda: fit(None, chunks), lambda: fit(None, chunks.slice(2))) == [0, 1]


def test_sparse_matrices_and_what_cannot_be_known() -> None:
    sparse, lists = csr_matrix(np.eye(5)), [[0.0], [1.0]]
    assert told(lambda: fit(None, sparse), lambda: fit(None, csr_matrix(sparse)), lambda: fit(None, sparse.copy())) == [
        0,
        1,
        0,
    ]
    assert told(lambda: fit(None, lists, 3), lambda: fit(None, lists, 3)) == [0, 0]


def test_memory_that_is_used_again_and_what_is_gone_does_not_count() -> None:
    for _ in range(20):
        x = np.zeros((1000, 3))
        assert told(lambda x=x: fit(None, x[5:])) == [0]  # type: ignore[misc]
        del x
    gc.collect()
    assert not repeats._uses


def test_values_are_not_looked_at() -> None:
    class Unread(np.ndarray):
        def __getitem__(self, _: Any) -> Any:
            raise AssertionError

        def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
            raise AssertionError

    x = np.zeros((5, 2)).view(Unread)
    assert told(lambda: fit(None, x), lambda: fit(None, x)) == [0, 1]


def test_what_is_refused_is_no_fit() -> None:
    x, y = records()
    with pytest.raises(BudgetExceeded):
        grove(budget=refdp.PrivacyBudget(0.5, 1e-5)).fit(x, y)
    assert told(lambda: grove(budget=refdp.PrivacyBudget(3.0, 1e-5)).fit(x, y)) == [0]


def test_cross_validation_and_searches_without_a_budget_are_seen_by_their_clones() -> None:
    x, y = records()
    assert told(lambda: cross_val_score(grove(), x, y, cv=3)) == [2]
    search = GridSearchCV(grove(), {"depth": [1, 2]}, cv=2)
    assert told(lambda: search.fit(x.copy(), y.copy())) == [4]
    budget = refdp.PrivacyBudget(99.0, 1e-3)
    assert told(lambda: cross_val_score(grove(budget=budget), x.copy(), y.copy(), cv=3)) == [0]
    one = grove()
    parts = [(x[part].copy(), y[part].copy()) for part in (slice(20), slice(20, 40))]
    assert told(*(lambda part=part: one.fit(*part) for part in parts)) == [0, 1]  # type: ignore[misc]
    assert told(lambda: clone(one).fit(x.copy(), y.copy())) == [1]
    assert told(lambda: pickle.loads(pickle.dumps(one)).fit(x.copy(), y.copy())) == [0]  # whose it is, no model shows
    assert told(*(lambda part=part: grove().fit(part[0].copy(), part[1].copy()) for part in parts)) == [0, 0]  # type: ignore[misc]


def test_an_estimator_without_a_hash_has_a_family() -> None:
    class Equal(refdp.GroveClassifier):
        def __eq__(self, other: object) -> bool:
            return True

    x, y = records()
    one = Equal(**grove().get_params())
    assert told(lambda: one.fit(x, y), lambda: clone(one).fit(x.copy(), y.copy())) == [0, 1]


def test_fits_of_one_budget_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views are told apart only where something would be said."""
    monkeypatch.setattr(repeats._View, "meets", lambda *_: pytest.fail("compared"))
    x, budget = np.zeros((40, 2)), refdp.PrivacyBudget(9.0)
    for end in (10, 20, 30):
        fit(budget, x[:end])


def test_a_clone_is_as_scikit_learn_makes_it() -> None:
    one = grove(epsilon=2.0)
    made = clone(one)
    assert made is not one and made.get_params() == one.get_params() and not hasattr(made, "model_")


def test_streams_and_owners_are_fits_too() -> None:
    x, y = records()
    kind = {"bounds": {0: (0, 1), 1: (0, 1)}, **PUBLIC}

    def stream(**settings: Any) -> refdp.SGBDTClassifier:
        return refdp.SGBDTClassifier(trees=1, depth=1, delta=1e-3, extra_trees=1, **kind, **settings)

    assert told(lambda: stream().partial_fit(x, y), lambda: grove().fit(x, y)) == [0, 1]
    assert told(lambda: stream().partial_fit(x, y)) == [1]
    x, y = records()
    going, ids = stream(), np.arange(40)
    assert told(*[lambda: going.partial_fit(x, y, ids=ids)] * 2) == [0, 0]  # accounts of ids hold them together
    assert told(lambda: going.partial_fit(x, y)) == [1]
    x, y = records()
    groups = np.repeat(["a", "b"], 20)
    owned = {"owners": ["a", "b"], "rounds": 1, "depth": 2, **kind}
    made = [lambda: refdp.InPrivateClassifier(**owned).fit(x, y, groups=groups)] * 2
    assert told(*made) == [0, 1]


def test_a_selection_is_one_fit() -> None:
    x, y = records()
    budget = refdp.PrivacyBudget(99.0, 1e-2)
    candidates = [grove(), grove(depth=2)]
    chosen = lambda **given: refdp.select(candidates, x, y, score_epsilon=0.1, **given)  # noqa: E731
    assert told(lambda: chosen(budget=budget), lambda: grove(budget=budget).fit(x, y), chosen) == [0, 0, 1]
    x, y = records()
    assert told(lambda: grove().fit(x, y), lambda: chosen(budget=budget)) == [0, 1]


def test_candidates_are_known_as_estimators_are() -> None:
    """On copies, where records are not: fit, then select; select twice; and what was chosen."""

    def chosen(*kinds: Any, **given: Any) -> Any:
        return refdp.select(list(kinds), *map(np.copy, records()), score_epsilon=0.1, **given)

    one, other, third = grove(), grove(depth=2), grove()
    fitted = lambda kind: kind.fit(*map(np.copy, records()))  # noqa: E731
    assert told(lambda: fitted(one), lambda: chosen(other, one), lambda: chosen(other), lambda: fitted(other)) == [
        0,
        1,
        1,
        1,
    ]
    budget = refdp.PrivacyBudget(99.0, 1e-2)
    assert told(lambda: chosen(third, budget=budget), lambda: chosen(third)) == [0, 0]
    assert told(lambda: fitted(chosen(third).estimator)) == [2]
