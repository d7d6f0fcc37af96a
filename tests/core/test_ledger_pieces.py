"""Claims on a screen, definitions by their place, selected records and warnings of estimators, piece by piece."""

from __future__ import annotations

import ast
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import refdp
from refdp import checks
from refdp.data.memory import Memory
from refdp.data.population import COUNT
from refdp.data.records import Interval, Numeric, Schema, make_records
from refdp.errors import PrivacyWarning
from refdp.faces import registry
from refdp.ledger import claims, fingerprint
from refdp.papers.published import dpxgboost
from refdp.privacy.events import Relation
from tests.printed import printed

SCHEMA = Schema((Numeric("a", 0, 1), Numeric("b", 0, 1)), Interval(0.0, 1.0))


def test_claims_on_a_screen() -> None:
    """The identifier above its verdict, the relation, the statement above its constant; how many there are of each."""
    one = next(claim for claim in claims.load("dpboost") if claim.tight)
    short = replace(one, statement="STATEMENT", tight="TIGHT")
    loose = replace(short, tight=None)
    lines = [line.strip() for line in printed(claims.table([short, short, loose]))]
    counted = [f"{3 if verdict == one.verdict else 0} {verdict}" for verdict in claims.VERDICTS]
    assert lines[0] == f"3 claims: {', '.join(counted)}"
    head = next(k for k, line in enumerate(lines) if "id and verdict" in line)
    assert [part.strip() for part in lines[head].strip("┃").split("┃")] == [
        "id and verdict", "relation", "statement, and its tight constant"]  # fmt: skip
    rows = [[part.strip() for part in line.strip("│").split("│")] for line in lines if line.startswith("│")]
    assert rows[:2] == [[one.id, one.relation, "STATEMENT"], [one.verdict, "", "tight: TIGHT"]]
    assert rows[-2:] == [[one.id, one.relation, "STATEMENT"], [one.verdict, "", ""]]


def test_figures_of_claims_have_their_decimal_value_beside() -> None:
    assert claims._readable("1/4") == "1/4 = 0.25" and claims._readable("-3/2") == "-3/2 = -1.5"
    assert claims._readable("2/3") == "2/3 = 0.666667"
    assert [claims._readable(text) for text in ("a/2", "1/b", "12", "0.5", "")] == ["a/2", "1/b", "12", "0.5", ""]


@pytest.mark.parametrize(
    ("line", "cited"),
    [("x/y", True), ("(x/y)", True), ("ax/y", False), ("1x/y", False), ("x/y-z", False), ("x/yz", False),
     ("x/y2", False), ("-x/y.", True), ("x", False), ("", False)],
)  # fmt: skip
def test_a_claims_name_is_no_part_of_another(line: str, cited: bool) -> None:
    assert claims._cites(line, "x/y") is cited


# --- Definitions ------------------------------------------------------------------------------------------------------


def test_a_definition_is_that_of_the_object_and_not_of_its_name() -> None:
    """Something else under the name of a definition is read where it stands."""

    def other(value: int) -> int:
        return value + 1

    name, module, tree = fingerprint._definition(checks.check_count)
    assert (name, module) == ("refdp.checks:check_count", "refdp.checks") and isinstance(tree, ast.FunctionDef)
    assert tree.name == "check_count" and tree is fingerprint._index("refdp.checks")["check_count"]
    assert fingerprint._same_place(checks.check_count, tree) and not fingerprint._same_place(other, tree)
    other.__module__, other.__qualname__ = "refdp.checks", "check_count"
    name, _, found = fingerprint._definition(other)
    assert name == "refdp.checks:check_count" and isinstance(found, ast.FunctionDef) and found.name == "other"
    getter = fingerprint._definition(dpxgboost.Params.summed)
    assert getter[0].endswith(":Params.summed") and isinstance(getter[2], ast.FunctionDef)
    assert fingerprint._same_place(3, tree)  # without code, the name is all there is


# --- Trainers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("constants", ["proved", "published"])
@pytest.mark.parametrize(("loss", "gain"), [("square", "newton"), ("log", "newton"), ("log", "count")])
@pytest.mark.parametrize("leaf", ["minimum", "laplace"])
def test_counts_are_summed_where_a_minimum_is_decided_on_them(constants: Any, loss: Any, gain: Any, leaf: Any) -> None:
    """Hessians of square loss are counts, and one count is enough."""
    params = dpxgboost.Params(epsilon=1.0, relation=Relation.ADD_REMOVE, constants=constants, loss=loss, gain=gain,
                              leaf=leaf)  # fmt: skip
    due = ["g", COUNT if (loss, gain) == ("log", "count") else "h"]
    exact = constants == "published" and leaf == "minimum"
    assert params.exact_counts is exact
    due += [COUNT] * (exact and loss == "log" and gain == "newton")
    assert list(params.summed) == due
    assert params.padding == (params.child_minimum if constants == "proved" and leaf == "minimum" else 0)
    for sampling, subsample, relation in (("without-replacement", 0.5, "add-remove"), ("matching", 0.5, "add-remove"),
                                          ("without-replacement", 1.0, "add-remove"),
                                          ("without-replacement", 0.5, "replace-one")):  # fmt: skip
        other = replace(params, sampling=sampling, subsample=subsample, relation=Relation(relation))
        assert other.mismatched is ((sampling, subsample, relation) == ("without-replacement", 0.5, "add-remove"))


def test_selected_records_are_all_or_those_of_the_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(8.0).reshape(4, 2) / 8
    host = Memory(make_records(SCHEMA, x, np.array([0.0, 0.25, 0.5, 1.0])))
    assert host.size == 4 and host.accounts() == []
    np.testing.assert_array_equal(host.selected().x, x)
    np.testing.assert_array_equal(host.exposed().y, [0.0, 0.25, 0.5, 1.0])
    monkeypatch.setattr(host, "_selected", lambda: np.array([True, False, False, True]))
    np.testing.assert_array_equal(host.selected().x, x[[0, 3]])
    np.testing.assert_array_equal(host.selected().y, [0.0, 1.0])
    assert host.exposed().size == 4


def test_node_numbers_get_wider_before_they_do_not_fit() -> None:
    """int16 holds the nodes below 2^15: those of the level after 2^14 of them need more."""
    host = Memory(make_records(SCHEMA, np.zeros((2, 2)), np.zeros(2)))
    host._node = np.array([0, 5], dtype=np.int16)
    kinds = {level: host._wide(1 << level).dtype.name for level in (0, 13, 14)}
    assert kinds[0] == kinds[13] == "int16" and kinds[14] == "int32"
    assert host._wide(1 << 14).tolist() == [0, 5]


@pytest.mark.parametrize("relation", [None, "add-remove"])
def test_a_relation_that_is_not_given_is_named_once(relation: Any) -> None:
    """When parameters are first looked at, and not again when the records are there."""
    one: Any = refdp.DPBoostRegressor(epsilon=1.0, relation=relation)
    for schema, due in ((None, relation is None), (SCHEMA, False)):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            params = one._params(registry.paper("dpboost"), schema)
        told = [str(w.message) for w in seen if issubclass(w.category, PrivacyWarning) and "relation" in str(w.message)]
        assert len(told) == int(due) and params.relation is Relation.ADD_REMOVE
