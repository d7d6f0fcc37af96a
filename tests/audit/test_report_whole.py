"""The audit of a paper as a whole: which parts are asked, in which order, and how it is summed up."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import report
from refdp.audit.replay import Finding
from refdp.audit.report import Aside
from refdp.audit.search import Notes
from refdp.audit.verdicts import Row, Verdict
from refdp.audit.witnesses import Known
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.ledger.certificate import Guarantee
from refdp.privacy.events import Relation
from tests.audit.made_papers import ADD, Params, a_paper, violation

# --- The whole, of parts that note what they are asked ----------------------------------------------------------------


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_an_audit_goes_through_all_readings_and_sums_up(monkeypatch: pytest.MonkeyPatch, delta: float) -> None:
    asked: list[Any] = []
    progress: list[tuple[int, int]] = []
    two = [Params(), Params(depth=2)]
    known = [Known("file", SimpleNamespace()), Known("other", SimpleNamespace())]  # type: ignore[arg-type]
    own = Known("claim", SimpleNamespace())  # type: ignore[arg-type]

    def of_known(paper: Any, chosen: Any, claimed: Any, given: Any, seed: int, seen: Any, arranged: Any) -> Any:
        asked.append(("known", chosen, claimed, list(given), seed))
        seen["file"] = True
        yield Finding(0.25, 0.125, ())

    def findings(paper: Any, chosen: Any, claimed: Any, count: int, seed: int, records: Any, seen: Any, arranged: Any,
                 *, first: bool) -> Any:  # fmt: skip
        asked.append(("own", chosen, claimed, count, seed, records, first))
        seen.rows.append(Row("filter", Verdict.NOT_FOUND, "", "", False))
        yield Finding(-0.5, 0.75, (violation(),))
        yield Finding(None, None, ())
        yield Aside(None, None, (violation("plan", loss=None),))

    monkeypatch.setattr(report, "readings", lambda paper, params: two)
    monkeypatch.setattr(report, "of_ledger", lambda name, relation: asked.append((name, relation)) or [own])
    monkeypatch.setattr(report, "_of_known", of_known)
    monkeypatch.setattr(report, "_findings", findings)
    claimed = Guarantee(2.0, delta)
    told = report.audit_paper(a_paper(claimed), Params(), 5, 11, known=known,
                              progress=lambda done, total: progress.append((done, total)))  # fmt: skip
    assert asked == [("made", ADD), *(part for number, one in enumerate(two) for part in (
        ("known", one, claimed, [*known, own], 11), ("own", one, claimed, 5, 11, None, number == 0)))]  # fmt: skip
    total = 2 * (4 * 3 + 5 + 5 + 2 * 2 * 8 + 3)
    assert progress == [(done, total) for done in range(1, 9)]
    assert (told.pairs, told.claimed, told.without_loss) == (5, claimed, 2)
    assert told.max_loss == (0.75 if delta == 0 else 0.5) and told.violations == (
        violation(),
        violation("plan", loss=None),
    )
    assert [row.what for row in told.coverage].count("filter") >= 1


def test_an_audit_without_losses_states_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "readings", lambda paper, params: [params])
    monkeypatch.setattr(report, "of_ledger", lambda name, relation: [])
    monkeypatch.setattr(report, "_findings", lambda *given, first: iter([Finding(None, None, ())] * 3))
    told = report.audit_paper(a_paper(Guarantee(1.0, 0.0)), Params(), 2, 0)
    assert told.max_loss is None and told.without_loss == 3 and told.violations == ()


def test_known_pairs_are_replayed_with_their_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that allow no run are passed over; a source counts as shown once any of its pairs shows something."""
    seen: dict[str, bool] = {}
    sources: list[Any] = []

    def replays(train: Any, one: Known, arranged: Any, claimed: Any, given: Any) -> Any:
        assert train[0].name == "made" and train[1].depth == one.settings.get("depth", 1)
        if one.source == "bad":
            raise InvalidParameter("no") if one.settings else InvalidRecords("no")
        yield Finding(1.0, 1.0, (violation(),) if one.source == "a" and one.settings else ())

    def source_for(params: Any, generator: np.random.Generator) -> Any:
        sources.append((params.depth, int(generator.integers(2**60))))

    monkeypatch.setattr(report, "trainer", lambda *given: given)
    monkeypatch.setattr(report, "replays", replays)
    monkeypatch.setattr(report, "source_for", source_for)
    pair: Any = None
    known = [
        Known("a", pair, {"depth": 9}),
        Known("a", pair),
        Known("b", pair),
        Known("bad", pair),
        Known("bad", pair, {"depth": 3}),
    ]
    found = list(
        report._of_known(a_paper(Guarantee(1.0, 0.0)), Params(), Guarantee(1.0, 0.0), known, 4, seen, lambda p: p)
    )
    assert seen == {"a": True, "b": False, "bad": False} and len(found) == 3
    assert found[0].violations[0].witness["params"]["depth"] == 9 and found[1].violations == ()
    due = [int(report._seed(4, -5 - 2 * number - side).integers(2**60)) for number in range(5) for side in (0, 1)]
    assert [draw for _, draw in sources] == due and [depth for depth, _ in sources] == [9, 9] + [1] * 6 + [3, 3]


class Noted:
    """A search that notes the pairs it is given and accuses some."""

    made: list[Noted] = []

    def __init__(self, *given: Any, **named: Any) -> None:
        self.given, self.named, self.notes, self.looks, self.noises = given, named, given[5], [], 0
        self.train = given[0]
        Noted.made.append(self)

    def look(self, pair: Any, number: int) -> Finding:
        self.looks.append((pair, number))
        if number == 1:
            self.notes.violations.append(violation("published object", "result.x"))
            self.notes.violations.append(violation("loss"))
        return Finding(float(number), float(number) + 0.5, ())

    def noise(self) -> None:
        self.noises += 1
        self.notes.violations.append(violation("noise law"))


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize("filtered", [True, False])
def test_findings_of_one_reading(monkeypatch: pytest.MonkeyPatch, first: bool, delta: float, filtered: bool) -> None:
    Noted.made.clear()
    worst: list[Any] = []
    examined: list[Any] = []
    turned: list[Any] = []
    steps: list[Any] = []

    def worst_case(train: Any, pair: Any, epsilon: float, *, reverse: bool) -> Finding:
        worst.append((pair, epsilon, reverse))
        return Finding(1.0, 1.0, (violation("loss", loss=1.0), violation("cost")))

    def stream(records: Any, relation: Relation, seed: int, size: int = 12) -> Any:
        for number in range(1000):
            yield ("pair", seed, size, number)

    def examine(paper: Any, params: Any, few: Any, seed: int) -> Any:
        assert params == Params(trees=7, depth=5) and paper.name == "made"
        examined.append((list(few), seed))
        return SimpleNamespace(row=lambda: "row", found=[violation("filter")])

    monkeypatch.setattr(report, "Search", Noted)
    monkeypatch.setattr(report, "neighbours", stream)
    monkeypatch.setattr(report, "_sized", lambda records, relation, seed: iter([("sized", seed)]))
    monkeypatch.setattr(report, "worst_case", worst_case)
    monkeypatch.setattr(report, "own_code", lambda train, *files: "followed")
    monkeypatch.setattr(report, "crowds", lambda schema, relation: ("crowds", schema, relation))
    monkeypatch.setattr(report, "steered", lambda *given, arranged: steps.append(given) or "steered")
    monkeypatch.setattr(report, "_budget", lambda *given: Aside(None, None, (violation("budget"),)))
    monkeypatch.setattr(report.spending, "has_filter", lambda params: filtered)
    monkeypatch.setattr(report.spending, "examined", examine)
    seen = report._Seen(notes=Notes(), source=lambda params, generator: ("source", params, generator))  # type: ignore[arg-type,return-value]
    seen.notes.violations.append(violation("of an earlier reading"))

    def arranged(pair: Any) -> Any:
        turned.append(pair)
        return ("arranged", *pair)

    claimed, params, count = Guarantee(2.0, delta), Params(trees=7, depth=5), 3 if delta else 11
    found = list(report._findings(a_paper(claimed), params, claimed, count, 20, None, seen, arranged, first=first))
    (search,) = Noted.made
    _, epsilon, given_delta, relation, seed, notes, source, watched, draws = search.given
    assert (epsilon, given_delta, relation, seed, draws, search.named) == (
        2.0,
        delta,
        ADD,
        20,
        400 * count,
        {"late": True},
    )
    assert notes is seen.notes and source("g") == ("source", params, "g")
    assert watched == ("refdp.papers.made", *report.MODULES)
    assert search.looks == [
        *((("arranged", "pair", 20, 12, n), n) for n in range(count)),
        (("arranged", "sized", 20), count),
    ]
    looked = found[: count + 1]
    assert [len(one.violations) for one in looked] == [0, 2, *([0] * (count - 1))]
    assert [(one.loss, one.worst) for one in looked] == [(n, n + 0.5) for n in range(count + 1)]
    assert [v.kind for v in found[1].violations] == ["model", "loss"]
    assert found[1].violations[0].witness["params"]["trees"] == 7
    tiny = found[count + 1 : count + 33]
    assert len(tiny) == 32 and [pair[1:] for pair, _, _ in worst] == [
        ("pair", 21, 4, n) for _ in range(2) for n in range(8) for _ in range(2)]  # fmt: skip
    assert [reverse for *_, reverse in worst] == [False, True] * 16
    assert {e for _, e, _ in worst} == {2.0 if delta == 0 else math.inf}
    assert [one.violations[-1].witness["params"]["trees"] for one in tiny] == [1] * 16 + [2] * 16
    rest = found[count + 33 :]
    assert [type(one) for one in rest] == [Aside] * 3
    assert [[v.kind for v in one.violations] for one in rest] == [
        ["noise law"] if first else [], ["budget"], ["filter"] if first and filtered else []]  # fmt: skip
    assert search.noises == first and bool(steps) == first
    if first:
        assert steps == [(search, ("crowds", report.SCHEMAS[0], ADD), "followed", count)] and seen.steered == "steered"
    if first and filtered:
        assert examined == [([("arranged", "pair", 24, 12, n) for n in range(min(count, 9))], 20)] and seen.rows == [
            "row"
        ]
    else:
        assert examined == [] and seen.rows == []
