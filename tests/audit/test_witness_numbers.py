"""The numbers of the ledger's witnesses as they are written down, and findings on them in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.audit import witnesses
from refdp.audit.replay import Finding, Violation
from refdp.audit.verdicts import Verdict
from refdp.errors import InvalidRecords
from refdp.ledger.certificate import Guarantee
from refdp.privacy.events import Relation
from tests.audit.pinned import digest

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
TABLE: list[tuple[str, str, list[float], list[float], list[float], list[float] | None, dict[str, Any]]] = [
    ("dpboost/candidates", "[0, 1]", [0.25, 0.5], [0, 0], [0.75, 0], None, {"bins": 3}),
    ("dpboost/corollary-2-replace-one", "[0, 1]", [], [], [0, -1], [1, -1], {"regularisation": 0.1}),
    ("inprivate/theorem-7", "[0, 6]", [0, 3], [0, 0], [6, 0], None, {"depth": 2, "bins": 3}),
    ("inprivate/theorem-7-replace-one", "[0, 6]", [0, 0], [0, 0], [3, 0], [6, 0], {"depth": 2, "bins": 3}),
    ("inprivate/leaf-count-sensitivity-replace-one", "[0, 1]", [0, 1], [0, 0], [0, 1], [1, 1], {"depth": 2}),
    ("dpxgboost/min-child-weight", "[0, 1]", [0] * 49 + [1] * 60, [0] * 109, [0, 0], None, {"child_minimum": 50}),
    ("dpxgboost/min-child-weight-replace-one", "[0, 1]", [0] * 49 + [1] * 60, [0] * 109, [0, 0], [1, 0],
    {"child_minimum": 50}),
    ("dpxgboost/empty-leaves", "[0, 1]", [1] * 60, [0] * 60, [0, 0], None, {"child_minimum": 1}),
    ("fedgbdt/averaging-sensitivity-replace-one", "[0, 1]", [0, 1], [0, 0], [0, 1], [1, 1], {"bins": 2}),
]  # fmt: skip
SMALL = {"trees": 1, "trees_per_ensemble": 1, "depth": 1, "owners": 1, "bins": 1}


def test_witnesses_over_one_feature_have_these_numbers() -> None:
    """Those that the statements of the claims name; all lie inside their bounds."""
    found = [(paper, relation, make()) for paper, relation, make in witnesses.WITNESSES][2:]
    for (paper, relation, known), (claim, bounds, x, y, new, old, settings) in zip(found, TABLE, strict=True):
        pair = known.pair
        assert known.source == claim and claim.startswith(f"{paper}/") and known.settings == SMALL | settings
        feature = pair.base.schema.features[0]
        assert f"[{getattr(feature, 'low'):g}, {getattr(feature, 'high'):g}]" == bounds  # noqa: B009
        assert repr(pair.base.schema.target) == "Interval(low=-1.0, high=1.0)"
        assert pair.base.x.ravel().tolist() == x and pair.base.y.tolist() == y and pair.position == 0
        assert [pair.new.x.item(), pair.new.y.item()] == new and pair.base.clamped == pair.new.clamped == 0
        assert (None if pair.old is None else [pair.old.x.item(), pair.old.y.item()]) == old
        assert pair.relation is relation
    names = [witness[:2] for witness in witnesses.WITNESSES]
    assert names[:2] == [("dpboost", ADD), ("dpboost", REPLACE)]
    for paper, relation in set(names):
        known_of = witnesses.of_ledger(paper, relation)
        assert len(known_of) == names.count((paper, relation)) and all(k.pair.relation is relation for k in known_of)
    assert witnesses.of_ledger("sgbdt", ADD) == []


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_the_witness_of_theorem_7_has_two_crowds(relation: Relation) -> None:
    known = witnesses._theorem_7("dpboost/theorem-7", relation)
    base = known.pair.base
    assert base.size == 80 and base.x.shape[1] == 31 and known.settings == SMALL | {"regularisation": 1}
    assert (base.x[:40] == [*[0] * 30, 1]).all() and (base.x[40:] == [*[1] * 30, 0]).all()
    assert base.y.tolist() == [-1] * 40 + [1] * 40
    audited = [one for one in (known.pair.new, known.pair.old) if one is not None]
    assert base.clamped == 0 and [one.clamped for one in audited] == [0] * len(audited)
    assert known.pair.new.x.tolist() == [[0] * 31] and known.pair.new.y.tolist() == [-1]
    if relation is REPLACE:
        assert known.pair.old is not None
        assert known.pair.old.x.tolist() == [[1] * 31] and known.pair.old.y.tolist() == [-1]
    assert [getattr(f, "high") for f in base.schema.features] == [1] * 31  # noqa: B009
    assert {getattr(f, "low") for f in base.schema.features} == {0}  # noqa: B009
    assert base.schema.names == (*(f"a{place}" for place in range(30)), "b")
    assert len(digest(known.pair)) == 12


def test_a_finite_loss_is_left_out_of_account_with_a_delta() -> None:
    pure, spent = (Guarantee(1.0, delta) for delta in (0.0, 1e-6))
    for loss, left in ((2.0, 0.0), (-2.0, 0.0), (math.inf, math.inf), (None, None)):
        finding = Finding(loss, 3.0, ())
        assert witnesses.without_delta(finding, pure) is finding
        assert witnesses.without_delta(finding, spent).loss == left


def test_replays_are_of_both_directions_and_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    told = Violation("loss", "whole run", 1.0, 2.0, 2.0, "", {"a": 1})

    def worst(train: Any, pair: Any, epsilon: float, *, reverse: bool) -> Finding:
        seen.append(("worst", train, pair, epsilon, reverse))
        return Finding(1.5, 1.5, (told,))

    def audited(train: Any, pair: Any, source: Any, epsilon: float, *, on_first: bool) -> Finding:
        seen.append((source, train, pair, epsilon, on_first))
        return Finding(-0.5, 1.5, ())

    monkeypatch.setattr(witnesses, "worst_case", worst)
    monkeypatch.setattr(witnesses, "audit_pair", audited)
    known = witnesses.WITNESSES[2][2]()
    for delta, epsilon in ((0.0, 0.5), (1e-6, math.inf)):
        seen.clear()
        found = list(witnesses.replays("train", known, lambda pair: "moved", Guarantee(0.5, delta), ["s", "t"]))  # type: ignore[arg-type, return-value]
        assert seen == [("worst", "train", "moved", epsilon, False), ("worst", "train", "moved", epsilon, True),
                        ("s", "train", "moved", epsilon, True), ("t", "train", "moved", epsilon, False)]  # fmt: skip
        assert [one.violations[0].witness for one in found[:2]] == [{"a": 1, "source": "dpboost/candidates"}] * 2
        assert [one.loss for one in found] == ([1.5, 1.5, -0.5, -0.5] if delta == 0 else [0.0] * 4)


def test_the_row_of_known_witnesses() -> None:
    assert list(witnesses.known_rows({})) == []
    (row,) = witnesses.known_rows({"a": False, "b": False})
    assert row.verdict is Verdict.NOT_FOUND and row.reason == "2 replayed before all others: a, b" and row.decides
    (row,) = witnesses.known_rows({"a": True, "b": False, "c": True})
    assert row.verdict is Verdict.VIOLATION and row.power == "any excess on these pairs"
    assert row.reason == "3 replayed before all others: a, b, c; a violation is shown by a, c"


def test_pairs_without_other_records_and_with_places_at_the_ends() -> None:
    schema = {"features": [{"name": "x", "low": 0, "high": 1}], "target": {"low": -1, "high": 1}}
    known = witnesses.WITNESSES[2][2]().pair.witness()
    alone = {**known, "base_x": [], "base_y": [], "old_x": [0.5], "old_y": 0.5}
    pair = witnesses.pair_of({name: value for name, value in alone.items() if name != "position"})
    assert pair.base.size == 0 and pair.position == 0 and pair.old is not None and pair.old.y.tolist() == [0.5]
    assert pair.base.x.shape == (0, 1) and schema
    for place, fine in ((0, True), (2, True), (3, False), (-1, False), (1.0, False)):
        given = {**known, "position": place}
        if fine:
            assert witnesses.pair_of(given).position == place
        else:
            with pytest.raises(InvalidRecords, match=f"position {place!r} given, a row from 0 to 2"):
                witnesses.pair_of(given)
    half = {**known, "old_x": [0.5]}
    assert witnesses.pair_of(half).old is None  # a label is needed as well
    with pytest.raises(InvalidRecords, match="base_x, base_y missing"):
        witnesses.pair_of({name: value for name, value in known.items() if not name.startswith("base")})
    with pytest.raises(InvalidRecords, match="records of 1 numbers and a label"):
        witnesses.pair_of({**known, "base_y": [None, {}]})


def test_sizes_of_a_witness_are_whole_numbers_from_1() -> None:
    given = {"trees": 1, "depth": 3, "epsilon": 0.5, "bins": 2}
    assert witnesses._sizes({"params": given}) == {"trees": 1, "depth": 3, "bins": 2} and witnesses._sizes({}) == {}
    for wrong in (0, -1, 1.0, True, "1"):
        with pytest.raises(InvalidRecords, match=f"depth {wrong!r} given"):
            witnesses._sizes({"params": {"trees": 2, "depth": wrong}})
    assert np.array_equal(witnesses._records(witnesses.WITNESSES[2][2]().pair.base.schema, [[0.5]], [1]).x, [[0.5]])
