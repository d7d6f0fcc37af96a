"""The audit of a trainer: which parts are asked for what, and when it ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import trainer
from refdp.audit.replay import Violation
from refdp.audit.steered import Steered
from refdp.audit.trainer import TrainerReport, audit_trainer
from refdp.audit.verdicts import Row, Verdict
from refdp.data.records import Interval, Numeric, Schema
from refdp.errors import InvalidParameter
from refdp.ledger.certificate import Guarantee
from refdp.privacy.events import Relation

SCHEMA = Schema((Numeric("a", 0.0, 1.0),), Interval(0.0, 1.0))


# --- The audit around them --------------------------------------------------------------------------------------------


def test_a_report_as_plain_data() -> None:
    rows = (Row("releases", Verdict.NOT_FOUND, "r"),)
    report = TrainerReport(float("inf"), 0.25, Relation.ADD_REMOVE, 7, None, (), rows)
    assert report.claimed == Guarantee(float("inf"), 0.25) and report.verdict is Verdict.NOT_FOUND and report.ok
    told = report.to_dict()
    assert (told["ok"], told["pairs"], told["claimed_delta"], told["relation"], told["max_loss"]) == (
        True,
        7,
        0.25,
        "add-remove",
        None,
    )
    assert (
        told["violations"] == []
        and told["coverage"] == [rows[0].to_dict()]
        and isinstance(told["claimed_epsilon"], str)
    )
    left = TrainerReport(1.0, 0.0, Relation.ADD_REMOVE, 7, 1.0, (), (*rows, Row("time", Verdict.NOT_EXAMINED, "r")))
    assert not left.ok and left.to_dict()["claimed_epsilon"] == 1.0


@pytest.mark.parametrize("changed", [{"relation": "other"}, {"train": 3}, {"epsilon": -1.0}, {"delta": -0.1},
    {"delta": 1.0}, {"pairs": 0}, {"seed": -1},
                                     {"steps": -1}, {"epsilon": float("nan")}])  # fmt: skip
def test_audits_outside_their_domain_are_refused(changed: Any) -> None:
    given: Any = {"train": lambda records, curator: None, "schema": SCHEMA, "epsilon": 1.0, **changed}
    with pytest.raises(InvalidParameter, match=next(iter(changed))):
        audit_trainer(given.pop("train"), given.pop("schema"), given.pop("epsilon"), **given)


class Plan:
    """An audit whose parts note that they were asked, and find a violation at a given part."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: str = "") -> None:
        self.asked: list[Any] = []
        self.at = at
        self.notes = SimpleNamespace(violations=[], worst=[0.25, 0.5], pairs=9)
        self.look_numbers: list[int] = []

        def search(train: Any, *given: Any, **named: Any) -> Any:
            self.asked.append(("search", given, named))
            return SimpleNamespace(
                notes=self.notes,
                epsilon=given[0],
                delta=given[1],
                relation=given[2],
                look=self.look,
                noise=lambda: self.part("noise"),
            )

        monkeypatch.setattr(trainer, "Search", search)
        monkeypatch.setattr(trainer, "constants", lambda train: ("hint",))
        monkeypatch.setattr(
            trainer,
            "inputs",
            lambda *given: self.asked.append(("inputs", given)) or iter(f"pair {n}" for n in range(100)),
        )
        monkeypatch.setattr(
            trainer, "more_runs", lambda audit, looked, few, told: self.part("more", looked, few, told())
        )
        monkeypatch.setattr(trainer, "of_count", lambda *given: given)
        monkeypatch.setattr(trainer, "beside", lambda *given: iter(("beside", *given)))
        monkeypatch.setattr(trainer, "combined", lambda *given: iter(given))
        monkeypatch.setattr(trainer, "crowds", lambda *given: iter([("crowd", *given), "crowd"]))
        monkeypatch.setattr(trainer, "alone", lambda *given: ("alone", *given))
        monkeypatch.setattr(trainer, "own_code", lambda train: "code")
        monkeypatch.setattr(
            trainer,
            "steered",
            lambda audit, seeds, *given, spots, told: (
                self.part("steered", ([*seeds], *given), spots, told()) or Steered(tried=3)
            ),
        )
        monkeypatch.setattr(trainer, "_once", tuple)
        monkeypatch.setattr(trainer, "rows", lambda *given: self.asked.append(("rows", given[1:])) or ["rows"])
        monkeypatch.setattr(trainer, "searched", lambda seen: [f"searched {seen.tried}"])
        monkeypatch.setattr(trainer, "never_run", lambda seen, train: [f"never run {seen.tried}"])
        monkeypatch.setattr(trainer, "known_rows", lambda shown: [shown])
        monkeypatch.setattr(trainer, "looked_into", lambda train: ["modules"])
        monkeypatch.setattr(trainer, "completed", tuple)

    def part(self, name: str, *given: Any) -> None:
        self.asked.append((name, *given))
        if name == self.at:
            self.notes.violations.append(Violation("k", name, None, None, None, "", {}))

    def look(self, pair: Any, number: int) -> str:
        self.part(f"look {number}", pair)
        return f"finding {number}"

    def names(self) -> list[str]:
        return [one[0] for one in self.asked]


def test_an_audit_goes_through_all_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    play, done = Plan(monkeypatch), list[Any]()
    report = audit_trainer(
        lambda records, curator: None,
        SCHEMA,
        2,
        0.25,
        "replace-one",
        pairs=3,
        seed=5,
        counts=(7, 4),
        progress=lambda *one: done.append(one),
    )
    assert play.names() == ["search", "inputs", "look 0", "look 1", "look 2", "more", "steered", "noise", "rows"]
    assert play.asked[0][1:] == ((2.0, 0.25, Relation.REPLACE_ONE, 5), {"filters": ()}) and done == [
        (1, 3),
        (2, 3),
        (3, 3),
    ]
    assert play.asked[1][1] == (SCHEMA, Relation.REPLACE_ONE, 5, (7, 4), ("hint",))
    assert play.asked[5][1:] == (
        [(f"pair {n}", f"finding {n}") for n in range(3)],
        (SCHEMA, Relation.REPLACE_ONE, 5, 4),
        False,
    )
    assert play.asked[6][1:] == (
        ([("crowd", SCHEMA, Relation.REPLACE_ONE), "crowd"], "code", 9, ("hint",)),
        ["beside", *(SCHEMA, Relation.REPLACE_ONE, 5, ("hint",)), SCHEMA, Relation.REPLACE_ONE, 5, ("hint",)],
        False,
    )
    assert play.asked[8][1] == ((), 2.0, 0.25, Relation.REPLACE_ONE)
    assert report == TrainerReport(
        2.0, 0.25, Relation.REPLACE_ONE, 9, 0.5, (), ({}, "rows", "modules", "searched 3", "never run 3")
    )  # type: ignore[arg-type]


def test_defaults_of_an_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Plan(monkeypatch, "look 4")
    play.notes.worst = []
    report = audit_trainer(lambda records, curator: None, SCHEMA, 2.0)
    assert (
        play.names()[-4:] == ["more", "steered", "noise", "rows"]
        and len([one for one in play.names() if one.startswith("look")]) == 96
    )
    assert play.asked[0][1:] == ((2.0, 0.0, Relation.ADD_REMOVE, 0), {"filters": ()}) and play.asked[1][1][2:4] == (
        0,
        trainer.COUNTS,
    )
    given = SCHEMA, Relation.ADD_REMOVE
    assert play.asked[-3][1][0] == [("alone", *given), ("crowd", *given), "crowd"]
    assert play.asked[-3][1][2] == 240 and report.max_loss is None and len(report.violations) == 1
    play = Plan(monkeypatch)
    audit_trainer(lambda records, curator: None, SCHEMA, 2.0, pairs=1, steps=0, counts=())
    assert play.asked[-3][1][2] == 0 and play.asked[-4][2][3] == 0


@pytest.mark.parametrize(
    ("at", "last"),
    [("look 0", "look 0"), ("look 1", "look 1"), ("more", "more"), ("steered", "steered"), ("noise", "noise")],
)
def test_the_first_violation_can_end_it(at: str, last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    play = Plan(monkeypatch, at)
    audit_trainer(lambda records, curator: None, SCHEMA, 2.0, pairs=3, first_only=True)
    assert play.names()[-2:] == [last, "rows"]


def test_known_pairs_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def known(source: str, schema: Any = SCHEMA, relation: Relation = Relation.ADD_REMOVE) -> Any:
        return SimpleNamespace(
            pair=SimpleNamespace(base=SimpleNamespace(schema=schema), relation=relation), source=source
        )

    train: Any = lambda records, curator: None  # noqa: E731
    three, done = [known("a"), known("b"), known("a")], list[Any]()
    play = Plan(monkeypatch, "look 0")
    report = audit_trainer(train, SCHEMA, 2.0, pairs=2, known=three, progress=lambda *one: done.append(one))
    assert [one for one in play.names() if one.startswith("look")] == [f"look {n}" for n in range(5)] and done == [
        (1, 2),
        (2, 2),
    ]
    assert report.coverage[0] == {"a": True, "b": False} and play.asked[1][1] is three[0].pair  # type: ignore[comparison-overlap]
    play = Plan(monkeypatch, "look 1")
    report = audit_trainer(train, SCHEMA, 2.0, pairs=2, known=three, first_only=True)
    assert report.coverage[0] == {"a": False, "b": True} and play.names()[-3:] == ["look 2", "inputs", "rows"]  # type: ignore[comparison-overlap]
    other = Schema((Numeric("b", 0.0, 1.0),), Interval(0.0, 1.0))
    for wrong in (known("a", other), known("a", relation=Relation.REPLACE_ONE)):
        with pytest.raises(InvalidParameter, match="known"):
            audit_trainer(train, SCHEMA, 2.0, known=[three[0], wrong])
    with pytest.raises(InvalidParameter, match="filters"):
        audit_trainer(train, SCHEMA, 2.0, relation="replace-one", filters=(object(),))  # type: ignore[arg-type]
    assert np.isfinite(report.epsilon)
