"""S-GBDT's filter in the audit: what a record spends is recomputed from its own contributions."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

from refdp.audit import spending
from refdp.audit.inputs import inputs
from refdp.audit.leaving import Leaving
from refdp.audit.report import SMALL, neighbours
from refdp.audit.search import Search
from refdp.audit.trainer_rows import rows
from refdp.audit.verdicts import Row, Verdict
from refdp.faces import registry
from refdp.faces.training import source_for
from refdp.noise.mechanisms import Laplace
from refdp.privacy.curator import Entry, Request, Transcript
from refdp.privacy.events import Relation
from tests.audit.cheats.zoo import SCHEMA
from tests.mutants.harness import Replacement, applied, edit
from tests.mutants.sgbdt import CHARGE, COST, GROW, nobody_leaves

PAPER = registry.paper("sgbdt")
_TOLD = "        if params.extra_trees:  # filter first; regular rounds alone fit every budget\n"


def params(**settings: Any) -> Any:
    return PAPER.params(
        {**{k: v for k, v in SMALL.items() if k in ("trees",)}, "epsilon": 1.0, "relation": Relation.ADD_REMOVE,
         "extra_trees": 6, "depth": 2, "subsample": 0.4, **settings}, as_published=False,
    )  # fmt: skip


def ledger(pairs: int = 3) -> spending.Ledger:
    chosen = params()
    return spending.examined(PAPER, chosen, islice(neighbours(None, chosen.relation, 4), pairs), 0)


def on_a_sum(charge: Any) -> Any:
    """Everybody takes part as long as all together have room."""

    def mutant(self: Any) -> None:
        account = self._accounts[self._output]
        own = type(account).charge

        def together(cost: Any) -> Any:
            return own(account, np.full(len(cost), float(np.mean(cost)) if len(cost) else 0.0))

        account.charge = together
        charge(self)
        del account.charge

    return mutant


def understated(share: float) -> Replacement:
    """t is that share of what it is."""
    return lambda cost: lambda self, statistics: share * cost(self, statistics)


def sampled_pay(charge: Any) -> Any:
    """Only records of the sample pay."""

    def mutant(self: Any) -> None:
        account, mask = self._accounts[self._output], self._selected()
        own = type(account).charge
        account.charge = lambda cost: own(account, cost if mask is None else cost * mask)
        charge(self)
        del account.charge

    return mutant


_SAMPLED = '        with curator.subsample("sample", params.subsample, population):  # then subsample\n'
AFTER = edit(
    (_TOLD, "        if False:\n"), (_SAMPLED, _SAMPLED + "            population.tell(Pay())\n")
)  # fmt: skip
MUTANTS: dict[str, dict[str, Replacement]] = {
    "filter off": {CHARGE: nobody_leaves},
    "filter on a sum": {CHARGE: on_a_sum},
    "t understated by 2%": {COST: understated(0.98)},
}


def test_the_honest_filter_is_not_accused_and_did_act() -> None:
    found = ledger()
    assert found.found == [] and found.refused
    row = found.row()
    assert row.verdict is Verdict.NOT_FOUND and "a cost understated by" in row.power
    assert 0.9 < found.most <= 1 + spending.TOLERANCE


@pytest.mark.parametrize("name", list(MUTANTS))
def test_a_broken_filter_is_named(name: str) -> None:
    with applied(MUTANTS[name]):
        found = ledger(6)
    assert {violation.kind for violation in found.found} >= {"filter"}
    assert found.row().verdict is Verdict.VIOLATION
    worst = found.found[0]
    assert worst.declared is not None and worst.observed is not None and worst.observed > worst.declared


def replayed(patches: dict[str, Replacement]) -> tuple[list[Row], set[str]]:
    """S-GBDT as anyone's trainer: the rows about composition, and the kinds of violations."""
    chosen = PAPER.params({"epsilon": 1.0, "delta": 1e-5, "trees": 2, "depth": 1, "extra_trees": 6, "subsample": 0.4,
                           "relation": Relation.ADD_REMOVE}, as_published=False)  # fmt: skip
    with applied(patches):
        search = Search(lambda records, curator: PAPER.train(chosen, records, curator), 1.0, 1e-5, chosen.relation, 0)
        for number, pair in enumerate(islice(inputs(SCHEMA, chosen.relation, 0), 6)):
            search.look(pair, number)
        found = tuple(search.notes.violations)
        told = [row for row in rows(search.notes, found, 1.0, 1e-5, chosen.relation) if row.what == "composition"]
    return told, {violation.kind for violation in found}


def test_a_filter_of_anyones_trainer_is_seen_to_act() -> None:
    """Not the words of the trainer: records that leave, and what they would have spent by staying."""
    told, kinds = replayed({})
    assert not kinds and {row.verdict for row in told} == {Verdict.NOT_FOUND}
    assert any("would have exceeded the claim by staying" in row.reason for row in told)
    told, kinds = replayed(MUTANTS["filter off"])
    assert Verdict.NOT_EXAMINED in {row.verdict for row in told} or "composition" in kinds


def test_records_that_come_back_show_no_filter() -> None:
    def transcript(*values: float) -> Transcript:
        law = Laplace(1.0)
        return Transcript(Relation.ADD_REMOVE, [
            Entry(Request("release", (f"sum {n}",), None, law), np.zeros(1), None, np.array([value]))
            for n, value in enumerate(values)
        ])  # fmt: skip

    leaves, returns = Leaving(), Leaving()
    leaves.add(transcript(1.0, 1.0, 0.0, 0.0), transcript(0.0, 0.0, 0.0, 0.0))
    returns.add(transcript(1.0, 0.0, 1.0, 0.0), transcript(0.0, 0.0, 0.0, 0.0))
    assert leaves.refused(Relation.ADD_REMOVE, 3.5, 0.0) == 1 and leaves.refused(Relation.ADD_REMOVE, 4.0, 0.0) == 0
    assert returns.left == 1 and returns.refused(Relation.ADD_REMOVE, 0.5, 0.0) == 0


@pytest.mark.statistics
def test_a_filter_after_sampling_is_named() -> None:
    """A record that is not in the sample does not pay: what it contributes later depends on its coins."""
    chosen = params(trees=4, extra_trees=20, initial_share=0.0)
    with applied({GROW: AFTER, CHARGE: sampled_pay}):
        search = Search(lambda records, curator: PAPER.train(chosen, records, curator), 1.0, chosen.delta,
                        chosen.relation, 0, source=lambda generator: source_for(chosen, generator))  # fmt: skip
        search._composed = lambda *_: None  # type: ignore[method-assign]
        for number, pair in enumerate(islice(neighbours(None, chosen.relation, 5), 6)):
            search.look(pair, number)
    assert ("block", "leaves") in {(v.kind, v.release.rsplit("/", 1)[-1]) for v in search.notes.violations}
