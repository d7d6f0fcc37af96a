"""Transcripts and what a certificate says of them, piece by piece: digests, laws as text, limits of its rows."""

from __future__ import annotations

import hashlib
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit.verdicts import Row, Verdict
from refdp.conform import certify, implied, tape_file
from refdp.data.records import Interval, Numeric, Schema, make_records
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Exponential, Laplace
from refdp.privacy.events import Relation


def records(*rows: float) -> Any:
    schema = Schema((Numeric("a", -9.0, 9.0),), Interval(-1.0, 1.0))
    return make_records(schema, np.array(rows, dtype=float)[:, None], np.array([0.0] * len(rows)))


def test_digests_of_records_depend_on_values_and_their_order() -> None:
    """Not on the sign of a zero, in features or labels, nor on how the array lies in memory."""
    plain = tape_file.records_digest(records(1, 2, 0))
    assert plain == tape_file.records_digest(records(1, 2, -0.0)) and len(plain) == 64
    assert len({plain, *(tape_file.records_digest(records(*rows)) for rows in ((2, 1, 0), (1, 2), (1, 2, 0.5)))}) == 4
    schema = records(1).schema
    for y in (-0.0, 0.0):
        one = make_records(schema, np.array([[1.0], [2.0], [0.0]]), np.array([y, 0.0, y]))
        assert tape_file.records_digest(one) == plain
    other = make_records(schema, np.array([[1.0], [2.0], [0.0]]), np.array([0.0, 0.5, 0.0]))
    assert tape_file.records_digest(other) != plain
    told = b"(3, 1)" + np.array([1.0, 2.0, 0.0], dtype="<f8").tobytes() + b"(3,)" + bytes(24)
    assert plain == hashlib.sha256(told).hexdigest()


def test_floats_of_laws_go_through_text() -> None:
    law = ("mixed", 0.1, -2.5, 3, "1030/3", [0.5, "name", -0.0])
    told = tape_file.law_out(law)
    assert told == ["mixed", (0.1).hex(), (-2.5).hex(), 3, "1030/3", [(0.5).hex(), "name", (-0.0).hex()]]
    assert tape_file.law_in(told) == law
    for number, body in ((1, {"path": "a"}), (2, {"path": [], "kind": "x", "law": []})):
        with pytest.raises(InvalidParameter, match=f"entry {number}"):
            tape_file._listed(number, body)
    header = {"format": "refdp-tape"}
    one = tape_file.Tape({"paper": "p", "schema": "s", "params": {"a": 1, "b": 2}, "records": "r", **header}, ())
    good = {"paper": "p", "schema": "s", "params": {"a": 1, "b": 2}, "records": "r"}
    one.check(good)
    for change, said in (({"paper": "q"}, "its paper is 'p', that of this run 'q'"), ({"records": "t"}, "its records"),
                         ({"params": {"a": 1, "b": 3}}, "its parameter b is 2, not 3"),
                         ({"params": {"a": 1, "b": 2, "c": 0}}, "its parameter c is None, not 0")):  # fmt: skip
        with pytest.raises(InvalidParameter, match=said):
            one.check({**good, **change})


# --- Rows of a certificate --------------------------------------------------------------------------------------------


def test_rows_about_one_thing_are_joined_to_the_weakest() -> None:
    rows = [Row("a", Verdict.HOLDS, "1"), Row("b", Verdict.NOT_FOUND, "2"), Row("a", Verdict.NOT_EXAMINED, "3"),
            Row("a", Verdict.NOT_EXAMINED, "4"), Row("b", Verdict.VIOLATION, "5"),
            Row("a", Verdict.NOT_FOUND, "6")]  # fmt: skip
    assert [(one.what, one.reason) for one in certify._joined(rows)] == [("a", "3"), ("b", "5")]


def test_noise_and_scores_are_violations_at_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chance below what is allowed; an e-value of twice REST over the error rate, or more.

    Of each run half of the stake is kept: nothing else is left of one that leads nowhere without noise.
    """
    found = [implied.Finding("x", chance, "seen", "power", 0.25) for chance in (0.25, 0.2499)]
    monkeypatch.setattr(certify, "noise_tests", lambda pooled, error: found if (pooled, error) == ([1, 2], 0.5) else [])
    some: Any = [[1], [2]]
    assert [one.verdict for one in certify._noise(some, 0.5)] == [Verdict.NOT_FOUND, Verdict.VIOLATION]
    assert [(one.verdict, one.decides) for one in certify._noise([], 0.5)] == [(Verdict.NOT_EXAMINED, True)]
    limit = math.log(2 * implied.REST / 1e-3)
    runs: Any = [([SimpleNamespace(mechanism=Laplace(1.0)), SimpleNamespace(mechanism=Exponential(1.0))], ["o"])] * 2
    for total, verdict in ((limit + 1e-9, Verdict.VIOLATION), (limit - 1e-9, Verdict.NOT_FOUND)):
        for lost in (0, 1):
            each = math.log(2 * math.exp((total + lost * math.log(2)) / 2) - 1)
            monkeypatch.setattr(certify, "evidence", lambda one, other: each)  # noqa: B023
            (row,) = certify._scores([*runs, (runs[0][0], None)][: 2 + lost], 1e-3)
            assert row.verdict is verdict and "cause of 2 outputs" in row.reason and row.decides
    monkeypatch.setattr(certify, "evidence", lambda one, other: math.nan)
    assert certify._scores(runs, 1e-3)[0].verdict is Verdict.VIOLATION
    assert [(one.verdict, one.decides) for one in certify._scores([], 1e-3)] == [(Verdict.NOT_EXAMINED, False)]


def test_transcripts_of_other_runs_are_refused() -> None:
    """A tape of draws alone has no output in any release; one is enough."""
    mine = records(1, 2)
    params = {"epsilon": 1.0, "relation": "add-remove"}

    def told(entries: tuple[dict[str, Any], ...] = (), **header: Any) -> tuple[str, Any]:
        return certify.run_of(tape_file.Tape({"paper": "dpboost", "params": params, **header}, entries), mine)

    paper, given = told()
    assert paper == "dpboost" and given.epsilon == 1.0 and given.relation is Relation.ADD_REMOVE
    with_output, without = {"kind": "release", "output": 0}, {"kind": "release"}
    told((with_output, without), private=False)
    told((without,), private=True)
    told(({"kind": "draw"},), private=False)
    with pytest.raises(InvalidParameter, match="draws alone"):
        told((without, without), private=False)
    told(schema=certify.schema_digest(mine.schema), records=tape_file.records_digest(mine))
    for name in ("schema", "records"):
        with pytest.raises(InvalidParameter, match=f"of other {name} than"):
            told(**{name: "x"})
    for header in ({"paper": 3}, {"params": None}):
        with pytest.raises(InvalidParameter, match="paper and params"):
            told(**header)
    for wrong in ({}, {"relation": "both"}):
        with pytest.raises(InvalidParameter, match="add-remove or replace-one are needed"):
            told(params=wrong)
    with pytest.raises(InvalidParameter, match="2 models for 1 transcripts"):
        certify.certify([tape_file.Tape({}, ())], mine, ["a", "b"])


def test_one_draw_has_no_neighbour() -> None:
    """A correlation needs two."""
    for count in (1, 2):
        one = implied.Released("x", Laplace(1.0), np.zeros((1, count)), np.ones((1, count)), None, None)
        related = next(found for found in implied.noise_tests([one], 0.1) if found.what.endswith("correlation"))
        assert (related.seen == "one draw") is (count == 1) and related.chance == 1.0
