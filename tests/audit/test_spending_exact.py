"""What a record spends under S-GBDT's filter, piece by piece, by hand."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.accounting import conversion
from refdp.accounting.individual import Budget, tabulated
from refdp.audit import spending
from refdp.audit.replay import Pair, Violation
from refdp.audit.verdicts import Row, Verdict
from refdp.data.records import Interval, Numeric, Records, Schema
from refdp.errors import ImpossibleReplay, InvalidParameter
from refdp.privacy.events import Relation
from refdp.privacy.replay import RecordSwap

SCHEMA = Schema((Numeric("a", 0.0, 1.0),), Interval(0.0, 1.0))
PAIR = Pair(Records(SCHEMA, np.array([[0.25], [0.75]]), np.array([0.0, 1.0])),
            Records(SCHEMA, np.array([[0.5]]), np.array([0.5])), None, 1)  # fmt: skip


@dataclass
class Params:
    """Two units at order 2, three at order 4."""

    epsilon: float = 1e9
    delta: float = 1e-5
    subsample: float = 1.0
    initial_share: float = 0.0
    trees: int = 3
    extra_trees: int = 5
    depth: int = 4
    orders: str = "one"
    refuses: Any = None
    seen: list[Any] = field(default_factory=list)

    def budget(self, schema: Schema) -> Budget:
        assert schema is SCHEMA
        self.seen.append((self.trees, self.extra_trees, self.depth))
        if self.refuses:
            raise self.refuses
        nothing = np.zeros((2, 2))
        return Budget(1.0, 1.0, 3, np.array([2.0, 4.0]), np.array([2.0, 3.0]), nothing[0], nothing)

    def initial_charges(self, schema: Schema) -> tuple[Any, ...]:
        assert schema is SCHEMA

        def cost(declared: float, order: float) -> float:
            return declared * order if order > 1 else 99.0

        return tuple(SimpleNamespace(mechanism=SimpleNamespace(renyi_cost=cost), declared=one) for one in (0.125, 0.25))


def test_who_has_a_filter() -> None:
    """Extra rounds, and a budget for them."""
    for trees, budget, found in [(3, True, True), (0, True, False), (3, False, False), (None, True, False)]:
        given: dict[str, Any] = {"extra_trees": trees} if trees is not None else {}
        assert spending.has_filter(SimpleNamespace(**given, **({"budget": 1} if budget else {}))) is found


def test_rows_of_a_ledger() -> None:
    one = spending.Ledger()
    assert one == spending.Ledger(0, 0.0, [], [])
    one.runs = 4
    none = "none of 4 audited records spent its budget, so that the filter refused nobody"
    assert one.row() == Row("composition", Verdict.NOT_EXAMINED, none)
    one.refused, one.most = [0.5, 0.03125], 0.75
    row = one.row()
    assert (row.what, row.verdict, row.power, row.decides) == (
        "composition",
        Verdict.NOT_FOUND,
        "a cost understated by 3.1%",
        True,
    )
    assert "of 4 audited records" in row.reason and "0.75 of the budget at most, 2 had to leave" in row.reason
    one.found = [Violation("filter", "x", 1.0, 2.0, None, "", {})]
    assert one.row() == Row("composition", Verdict.VIOLATION, "a record spent more than its budget")


def test_many_cheap_rounds_where_the_claim_can_be_reached() -> None:
    for depth, fine in [(4, 2), (2, 2), (1, 1)]:
        given = Params(depth=depth)
        chosen = spending._fine(given, PAIR)
        assert (chosen.trees, chosen.extra_trees, chosen.depth) == (16, 48, fine) and given.trees == 3
    given = Params(refuses=InvalidParameter("too little"))
    assert spending._fine(given, PAIR) is given and given.seen == [(16, 48, 2)]


def test_each_pair_is_run_with_a_generator_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that part are violations, and count as no run."""
    asked: list[Any] = []
    error = ImpossibleReplay("model", "0/leaves", "parted")

    def replays(paper: Any, chosen: Any, pair: Pair, generator: np.random.Generator) -> Any:
        asked.append((paper, chosen.trees, pair, generator.random()))
        if len(asked) == 2:
            raise error
        return len(asked), "absent"

    monkeypatch.setattr(spending, "_replays", replays)
    monkeypatch.setattr(spending, "spent", lambda present, absent: {f"{present} {absent}": [1.0]})
    monkeypatch.setattr(spending, "_compared", lambda params, pair, rounds, ledger: [
        Violation("filter", next(iter(rounds)), float(ledger.runs), params.trees, None, "",
            {"pair": pair is PAIR})])  # fmt: skip
    params, paper = Params(), object()
    found = spending.examined(paper, params, [PAIR, PAIR, PAIR], 9)  # type: ignore[arg-type]
    assert asked == [(paper, 16, PAIR, np.random.default_rng([9, number, 2]).random()) for number in range(3)]
    assert found.runs == 2
    fine = asdict(spending._fine(params, PAIR))
    assert [(one.kind, one.release, one.declared, one.observed) for one in found.found] == [
        ("filter", "1 absent", 1.0, 16), (error.kind, error.release, None, None),
            ("filter", "3 absent", 2.0, 16)]  # fmt: skip
    assert all(
        one.witness["params"].keys() == fine.keys() and one.witness["params"]["trees"] == 16 for one in found.found
    )
    assert found.found[0].witness["pair"] is True and found.found[1].witness["detail"] == "parted"


def test_a_recorded_run_is_replayed_with_the_record_and_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Any] = []
    generator = np.random.default_rng(3)

    def run(train: Any, records: Records, source: Any, relation: Relation) -> Any:
        runs.append((train(records.size, "curator"), records, source, relation))
        return f"transcript {len(runs)}", "text"

    monkeypatch.setattr(spending, "run", run)
    monkeypatch.setattr(spending, "source_for", lambda params, given: (params, given))
    monkeypatch.setattr(spending, "ReplaySource", lambda transcript, swap: (transcript, swap))
    params = Params()
    paper: Any = SimpleNamespace(train=lambda *given: given)
    assert spending._replays(paper, params, PAIR, generator) == ("transcript 2", "transcript 3")
    assert [told for told, _, _, _ in runs] == [(params, 3, "curator"), (params, 3, "curator"), (params, 2, "curator")]
    assert [source for _, _, source, _ in runs] == [
        (params, generator), ("transcript 1", RecordSwap(1, 1, late=True)),
            ("transcript 1", RecordSwap(1, None, late=True))]  # fmt: skip
    assert {relation for _, _, _, relation in runs} == {Relation.ADD_REMOVE}
    assert runs[0][1].x[:, 0].tolist() == [0.25, 0.5, 0.75] == runs[1][1].x[:, 0].tolist() and runs[2][1] is PAIR.base


def test_costs_of_every_round_at_every_order() -> None:
    budget = Params(seen=[]).budget(SCHEMA)
    t = np.array([0.5, 0.0, 0.25, 1e-3])
    found = spending._costs(budget, 0.5, t)
    assert found.shape == (2, 4) and found[:, 1].tolist() == [0.0, 0.0]
    for row, order in zip(found, (2, 4), strict=True):
        for place in (0, 2, 3):
            moment = sum(math.comb(order, k) * 0.5**order * math.exp(t[place] * k * (k - 1)) for k in range(order + 1))
            assert row[place] == pytest.approx(math.log(moment) / (order - 1), rel=3e-9)
    assert spending._costs(budget, 1.0, t) == pytest.approx(np.outer([2.0, 4.0], t))


@pytest.mark.parametrize(("costs", "most", "refused"), [
    ([0.375, 0.125], 2 / 3, []), ([0.375, 0.125, 0.0], 2 / 3, [0.0]), ([0.5, 0.0], 2 / 3, [1 - 3 / 4]),
    ([0.0, 0.0], 0.0, []), ([0.25, 0.5, 0.0, 0.0], 1.0, [1 - 3 / 5]), ([0.5, 0.25, 0.0], 1.0, [1 - 3 / 4]),
])  # fmt: skip
def test_shares_and_those_who_left(costs: list[float], most: float, refused: list[float]) -> None:
    """Going on would have cost what the last round did once more."""
    ledger = spending.Ledger()
    assert spending._compared(Params(), PAIR, {"0": costs}, ledger) == []
    assert ledger.most == pytest.approx(most) and ledger.refused == pytest.approx(refused)


def test_each_score_has_its_budget_and_rounding_its_room() -> None:
    ledger = spending.Ledger()
    for over, found in [(0.9e-6, 0), (1.1e-6, 1)]:
        told = spending._compared(Params(), PAIR, {"0": [0.25], "1": [0.5, 0.25 * (1 + 3 * over)]}, ledger)
        assert len(told) == found
    (one,) = told
    assert (one.kind, one.release, one.declared, one.loss, one.claim) == (
        "filter",
        "1/leaves",
        3.0,
        None,
        "sgbdt/filter",
    )
    assert one.observed == pytest.approx(3 * (1 + 1.1e-6))
    assert one.witness == {"order": 4.0, "costs": [0.5, 0.25 * (1 + 3.3e-6)], **PAIR.witness()}
    assert ledger.most == pytest.approx(1 + 1.1e-6, abs=3e-9)


@pytest.mark.parametrize(("orders", "share"), [("one", 0.0), ("one", 0.25), ("shared", 0.0), ("shared", 0.25)])
def test_all_scores_and_what_they_begin_with_keep_the_claim(orders: str, share: float) -> None:
    """Where filters share their budget the initial releases are part of the sum, of each score; else of the claim."""
    rounds = {"0": [0.25, 0.25], "1": [0.125]}
    total = 0.625 * np.array([2.0, 4.0])
    if orders == "shared" and share:
        total += SCHEMA.scores * 0.375 * np.array([2.0, 4.0])
    epsilon = float(conversion.epsilons(np.array([2.0, 4.0]), total, 1e-5).min())
    room = 1 - share if orders == "one" else 1.0
    for over, found in [(-0.9e-6, []), (-1.1e-6, ["whole run"])]:
        params = Params(epsilon * (1 + over) / room, initial_share=share, orders=orders)
        told = spending._compared(params, PAIR, rounds, spending.Ledger())
        assert [one.release for one in told] == found
    (one,) = told
    assert one == Violation("filter", "whole run", one.declared, one.observed, None, "sgbdt/filter", PAIR.witness())
    assert one.declared == pytest.approx(epsilon * (1 - 1.1e-6)) and one.observed == pytest.approx(epsilon)
    plain = SimpleNamespace(budget=Params().budget, subsample=1.0, delta=1e-5, epsilon=epsilon * 4, initial_share=0.5)
    assert spending._compared(plain, PAIR, rounds, spending.Ledger()) == []
    assert SCHEMA.scores == 1 and tabulated(2, 1.0, np.array([0.5]))[0] == pytest.approx(1.0)


def test_initial_releases_are_charged_for_every_score() -> None:
    class Three(Params):
        def initial_charges(self, schema: Any) -> tuple[Any, ...]:
            return Params.initial_charges(self, SCHEMA)

        def budget(self, schema: Any) -> Budget:
            return Params.budget(self, SCHEMA)

    pair: Any = SimpleNamespace(base=SimpleNamespace(schema=SimpleNamespace(scores=3)), witness=dict)
    total = (0.5 + 3 * 0.375) * np.array([2.0, 4.0])
    epsilon = float(conversion.epsilons(np.array([2.0, 4.0]), total, 1e-5).min())
    for claimed, found in [(epsilon * 1.001, 0), (epsilon * 0.999, 1)]:
        given = Three(claimed, initial_share=0.25, orders="shared")
        assert len(spending._compared(given, pair, {"0": [0.5]}, spending.Ledger())) == found
