"""Sparse input, budgets of a stream, columns of frames elsewhere, seeds and shown texts, function by function."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from refdp import shown
from refdp.data.records import Categorical, Classes, Ensemble, Interval, Model, Numeric, Schema, Tree
from refdp.errors import InvalidParameter
from refdp.faces import training
from refdp.faces.estimators import distributed, sparse
from refdp.faces.estimators.stream import Stream
from refdp.ledger.certificate import Guarantee

# --- Sparse input -----------------------------------------------------------------------------------------------------

DENSE = np.array([[0.0, 2.0, 0.0], [3.0, 0.0, 0.0], [-1.0, 5.0, 0.0]])
STORED = csr_matrix(DENSE)


def test_entries_that_are_not_stored_are_zero_or_missing() -> None:
    assert sparse._dense(STORED, "zero").tolist() == DENSE.tolist()
    assert np.array_equal(sparse._dense(STORED, "missing"), np.where(DENSE == 0, np.nan, DENSE), equal_nan=True)


def test_ends_of_columns_are_those_of_the_dense_ones() -> None:
    nan = np.nan
    assert np.array_equal(sparse._ends(STORED, "missing"), [[-1.0, 2.0, nan], [3.0, 5.0, nan]], equal_nan=True)
    assert sparse._ends(STORED, "zero").tolist() == [[-1.0, 0.0, 0.0], [3.0, 5.0, 0.0]]
    full = csr_matrix(np.array([[4.0, nan, np.inf], [2.0, 7.0, -3.0], [9.0, 8.0, 1.0]]))  # every entry stored
    assert sparse._ends(full, "zero").tolist() == [[2.0, 7.0, -3.0], [9.0, 8.0, 1.0]]
    assert sparse._ends(full[1:], "zero").tolist() == [[2.0, 7.0, -3.0], [9.0, 8.0, 1.0]]
    assert sparse._ends(full[:, :2], "zero").tolist() == [[2.0, 7.0], [9.0, 8.0]]


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 5, 9])
def test_a_sparse_matrix_is_answered_in_pieces(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "_CHUNK", 3)
    seen: list[int] = []

    def method(x: Any) -> Any:
        seen.append(len(x))
        return x.sum(axis=1)

    whole = np.arange(2.0 * rows).reshape(rows, 2)
    own: Any = SimpleNamespace(_validated=lambda x, reset: x, absent="zero")
    found = sparse.SparseInput._by_rows(own, method, csr_matrix(whole))
    assert found.tolist() == whole.sum(axis=1).tolist()
    assert seen == [min(3, rows - s) for s in range(0, max(rows, 1), 3)]
    dense = np.ones((7, 2))
    assert sparse.SparseInput._by_rows(own, lambda x: x, dense) is dense


# --- A stream's budgets -----------------------------------------------------------------------------------------------


def test_shares_spent_are_the_largest_over_the_scores() -> None:
    accounts = [SimpleNamespace(shares=lambda own=own: np.array(own)) for own in ([0.1, 0.5, 0.0], [0.3, 0.2, 0.0])]
    own: Any = SimpleNamespace(
        check_whole=lambda: None, _population=None, _row={"b": 1, "a": 0, (1, 0): 2},
    )  # fmt: skip
    assert Stream.spent(own) == {}
    own._population = SimpleNamespace(accounts=lambda: accounts)
    assert Stream.spent(own) == {"b": 0.5, "a": 0.3, (1, 0): 0.0}


# --- Frames elsewhere -------------------------------------------------------------------------------------------------


def test_the_target_is_no_feature_unless_its_bounds_are_given() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0], "y": [2.0], 3: [4.0]})
    assert list(distributed._featured(frame, "y", {"a": (0, 1)}).columns) == ["a", 3]
    assert distributed._featured(frame, "y", {"y": (0, 1)}) is frame and distributed._featured(frame, "z", {}) is frame
    assert list(distributed._featured(frame, 3, {"a": (0, 1)}).columns) == ["a", "y"]
    assert distributed._featured(frame, 3, {"3": (0, 1)}) is frame


def test_columns_without_bounds_are_named_up_to_five() -> None:
    for count in (1, 5, 6, 8):
        frame = SimpleNamespace(columns=[*range(count), "known"])
        more = f" and {count - 5} more;" if count > 5 else ";"
        names = ", ".join(map(str, range(min(count, 5))))
        with pytest.raises(InvalidParameter, match=f"no bounds for {names}{more}"):
            distributed._features(SimpleNamespace(bounds={"known": (0, 1)}), frame)


def test_targets_elsewhere_are_public() -> None:
    estimator = SimpleNamespace(_target_parameter="classes", classes=["b", "a", "c"])
    assert distributed._target(estimator) == Classes(("a", "b", "c")) and list(estimator.classes_) == ["a", "b", "c"]
    estimator = SimpleNamespace(_target_parameter="target_range", target_range=(-1, 4))
    assert distributed._target(estimator) == Interval(-1.0, 4.0)
    estimator.target_range = None
    with pytest.raises(InvalidParameter, match="target_range is needed"):
        distributed._target(estimator)


# --- Seeds ------------------------------------------------------------------------------------------------------------


def state(generator: np.random.Generator) -> list[int]:
    return generator.integers(0, 2**62, size=4).tolist()


def test_seeds_of_every_kind() -> None:
    words = np.random.RandomState(5).randint(0, 2**32, size=4, dtype=np.uint32)
    assert state(training.generator_of(np.random.RandomState(5))) == state(np.random.default_rng(words))
    own = np.random.default_rng(3)
    assert training.generator_of(own) is own
    for seed in (0, 7, np.int64(7)):
        assert state(training.generator_of(seed)) == state(np.random.default_rng(int(seed)))
    for wrong in (-1, True, 1.0, "1", np.int64(-1)):
        with pytest.raises(InvalidParameter, match="whole number >= 0"):
            training.generator_of(wrong)  # type: ignore[arg-type]
    fresh = [training.generator_of(None) for _ in range(2)]
    assert type(fresh[0].bit_generator).__name__ == "Philox" and state(fresh[0]) != state(fresh[1])


# --- Shown ------------------------------------------------------------------------------------------------------------


def test_a_guarantee_in_words() -> None:
    assert shown.guarantee(Guarantee(float("inf"), 0.0)) == "no guarantee"
    assert shown.guarantee(Guarantee(1.25, 0.0)) == "epsilon 1.25"
    assert shown.guarantee(Guarantee(1.23456789, 1e-5)) == "epsilon 1.23457, delta 1e-05"


@pytest.mark.parametrize(("count", "more"), [(1, ""), (5, ""), (6, ", ..."), (7, ", ...")])
def test_five_names_are_shown(count: int, more: str) -> None:
    names = tuple(f"n{k}" for k in range(count))
    first = ", ".join(names[:5]) + more
    assert shown._feature(Categorical("c", names)) == f"c: {count} categories ({first})"
    if count > 1:
        model: Any = SimpleNamespace(schema=SimpleNamespace(target=Classes(names)))
        assert shown._target(model) == f"{count} classes ({first})"


def test_a_certificate_is_shown_with_every_note() -> None:
    lines = [SimpleNamespace(count=2, name="leaves", mechanism="Gaussian")] * 41
    own: Any = SimpleNamespace(
        paper="dpboost", relation=SimpleNamespace(value="add or remove"), claimed=Guarantee(1.0, 0.0),
        established=Guarantee(float("inf"), 0.0), claims=[("a", "PROVED"), ("b", "REFUTED"), ("c", "PROVED")],
        releases=lines, notes=["a < b"], assumptions=["one", "two"],
    )  # fmt: skip
    assert shown.certificate_line(own) == ("Certificate(dpboost, add or remove: claimed epsilon 1, established no "
                                           "guarantee; 3 claims, 1 notes, 2 assumptions)")  # fmt: skip
    html = shown.certificate_html(own)
    assert html.startswith("<table><caption>Certificate</caption><tr><th>paper</th><td>dpboost</td></tr>")
    parts = ["<th>claims</th><td>2 PROVED, 1 REFUTED</td>", "<th>claim</th><td>b: REFUTED</td>", "<td>a &lt; b</td>"]
    for part in (*parts, "<th>assumed</th><td>two</td>", "<th>released</th><td>and 1 more</td>"):
        assert part in html
    assert html.count("<th>released</th><td>2 × leaves: Gaussian</td>") == 40 and html.count("<th>claim</th>") == 1
    own.claims = []
    assert "<th>claims</th><td>none</td>" in shown.certificate_html(own)


def test_a_models_lines() -> None:
    tree = lambda depth: Tree(np.zeros((2**depth - 1, 2)), np.zeros(2**depth))  # noqa: E731
    schema = Schema((Numeric("x", -0.5, 2.0),), Interval(-1.0, 3.0))
    model: Any = SimpleNamespace(paper="dpboost", schema=schema, params={"trees": 3, "a": "<b>"}, outputs=[
        SimpleNamespace(trees=[tree(1), tree(3)]), SimpleNamespace(trees=[tree(1)])])  # fmt: skip
    assert shown.model_line(model) == "Model(dpboost: 3 trees of depth 1 and 3, 1 features, values in [-1, 3])"
    html = shown.model_html(model)
    assert "<td>a = &lt;b&gt;</td>" in html and "<th>feature</th><td>x: [-0.5, 2]</td>" in html and "more" not in html
    assert {"outputs", "schema", "params", "paper"} <= set(Model.__dataclass_fields__) and Ensemble
    for count, text in ((40, []), (41, [("feature", "and 1 more")]), (45, [("feature", "and 5 more")])):
        assert shown._more("feature", range(count)) == text
        many: Any = SimpleNamespace(paper="p", params={}, outputs=[], schema=SimpleNamespace(
            target=schema.target, features=[Numeric(f"x{k}", 0.0, 1.0) for k in range(count)]))  # fmt: skip
        assert shown.model_html(many).count("<th>feature</th>") == min(count, 41)
    assert shown._trees(SimpleNamespace(outputs=[])) == "0 trees"  # type: ignore[arg-type]
