"""S-GBDT's filter in the audit: what a record spends is recomputed from its own contributions."""

from __future__ import annotations

import json
import math
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.accounting.individual import subsampled_moment
from refdp.audit import spending
from refdp.audit.declared_filter import Filter, Spent, established, read
from refdp.audit.inputs import inputs
from refdp.audit.leaving import Leaving
from refdp.audit.report import SMALL, neighbours
from refdp.audit.search import Search
from refdp.audit.trainer import audit_trainer
from refdp.audit.trainer_rows import rows
from refdp.audit.verdicts import Row, Verdict
from refdp.errors import InvalidParameter
from refdp.faces import cli, registry
from refdp.faces.training import source_for
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.curator import Entry, Request, ScopeRef, Transcript
from refdp.privacy.events import Relation, Release, Sensitivity, Sequential, Subsample
from tests.audit.cheats.zoo import SCHEMA
from tests.mutants.harness import Replacement, applied, edit
from tests.mutants.sgbdt import CHARGE, COST, GROW, nobody_leaves
from tests.thinned import thinned

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


def own(trees: int) -> Any:
    """Settings of S-GBDT as anyone's trainer."""
    return PAPER.params({"epsilon": 1.0, "delta": 1e-5, "trees": trees, "depth": 1, "extra_trees": 3 * trees,
                         "subsample": 0.4, "relation": Relation.ADD_REMOVE}, as_published=False)  # fmt: skip


def declared(params: Any) -> tuple[Filter, ...]:
    budget = params.budget(SCHEMA)
    return (Filter(float(budget.orders[0]), float(budget.spendable[0]), "leaves"),)


def replayed(params: Any, patches: dict[str, Replacement], filters: tuple[Filter, ...], pairs: int) -> Search:
    """Without compositions, which are costly."""
    with applied(patches):
        search = Search(lambda records, curator: PAPER.train(params, records, curator), 1.0, 1e-5, params.relation, 0,
                        filters=filters)  # fmt: skip
        search._composed = lambda *_: None  # type: ignore[method-assign]
        for number, pair in enumerate(islice(inputs(SCHEMA, params.relation, 0), pairs)):
            search.look(pair, number)
    return search


def about_composition(search: Search) -> list[Row]:
    told = rows(search.notes, tuple(search.notes.violations), 1.0, 1e-5, Relation.ADD_REMOVE)
    return [row for row in told if row.what == "composition"]


def test_a_filter_of_anyones_trainer_has_to_be_declared() -> None:
    """Records are seen to leave; what they may spend is in no release. Declared, it is held against them."""
    params = own(2)
    search = replayed(params, {}, declared(params), 6)
    assert not search.notes.violations
    told = about_composition(search)
    assert {row.verdict for row in told} == {Verdict.NOT_FOUND}
    assert "had to leave" in told[0].reason and "a cost understated by" in told[0].power
    assert "all other releases compose to epsilon 0.9" in told[1].reason
    search.notes.filters = []
    reasons = [row.reason for row in about_composition(search) if row.verdict is Verdict.NOT_EXAMINED]
    assert len(reasons) == 1
    assert "would have exceeded the claim by staying" in reasons[0] and "--filter ORDER:BUDGET" in reasons[0]


@pytest.mark.parametrize(
    ("name", "kind", "trees"),
    thinned([("t understated by 2%", "filter", 8), ("filter off", "filter", 8), ("filter on a sum", "sensitivity", 8)]),
)
def test_a_broken_filter_of_anyones_trainer_is_named(name: str, kind: str, trees: int) -> None:
    """A filter on a sum shows by what other records contribute after it; a few percent, where rounds are cheap."""
    params = own(trees)
    found = replayed(params, MUTANTS[name], declared(params), 2).notes.violations
    assert kind in {violation.kind for violation in found if violation.release.endswith("leaves")}


def moves(law: Any, *values: float, names: str = "sum", scopes: tuple[ScopeRef, ...] = ()) -> Transcript:
    """One release of each value; against zeros, what a record moved."""
    return Transcript(Relation.ADD_REMOVE, [
        Entry(Request("release", (f"{names} {n}",), None, law, scopes=scopes), np.zeros(1), None, np.array([value]))
        for n, value in enumerate(values)
    ])  # fmt: skip


HALF = (ScopeRef(0, "half", "subsample", (0.5,), 0),)
PAIR = next(inputs(SCHEMA, Relation.ADD_REMOVE, 0))


def test_spending_is_what_the_order_says() -> None:
    """Two of three Laplace releases moved: losses add up; at order 2 their divergences do; a Gaussian is amplified."""
    law, still = Laplace(2.0), (0.0, 0.0, 0.0)
    for order, each in ((math.inf, 0.5), (2.0, law.divergence(np.ones(1), np.zeros(1), 2.0))):
        spent = Spent(Filter(order, 2 * each))
        assert spent.add(moves(law, 1.0, 1.0, 0.0), moves(law, *still), PAIR) == []
        assert spent.most == pytest.approx(1.0) and spent.refused == [pytest.approx(1 / 3)]
        less = Spent(Filter(order, 1.9 * each))
        found = less.add(moves(law, 1.0, 1.0, 0.0), moves(law, *still), PAIR)
        assert [(one.kind, one.release) for one in found] == [("filter", "sum 1")]
    sampled = Spent(Filter(3.0, 1.0))
    sampled.add(moves(Gaussian(2.0), 1.0, scopes=HALF), moves(Gaussian(2.0), 0.0, scopes=HALF), PAIR)
    assert sampled.most == pytest.approx(math.log(float(subsampled_moment(3, 0.5, math.exp(1 / 8)))) / 2)


def test_what_is_known_from_above_only_is_not_accused_and_not_passed() -> None:
    spent = Spent(Filter(4.0, 1e-3))
    assert spent.add(moves(Laplace(1.0), 1.0, scopes=HALF), moves(Laplace(1.0), 0.0, scopes=HALF), PAIR) == []
    assert spent.unclear == 1 and spent.row().verdict is Verdict.NOT_EXAMINED


def test_a_filter_covers_the_releases_that_it_names() -> None:
    spent = Spent(Filter(2.0, 1e-3, "leaves"))
    assert spent.add(moves(Laplace(1.0), 1.0), moves(Laplace(1.0), 0.0), PAIR) == []
    assert spent.runs == 0 and spent.row().verdict is Verdict.NOT_EXAMINED
    assert len(spent.add(moves(Laplace(1.0), 1.0, names="leaves"), moves(Laplace(1.0), 0.0, names="leaves"), PAIR)) == 1


def test_declared_budgets_and_all_else_give_the_epsilon() -> None:
    def released(name: str, scale: float) -> Release:
        return Release(name, Laplace(scale), Sensitivity(1.0, 1, "test", Relation.ADD_REMOVE))

    event = Sequential((released("count", 4.0), Subsample(0.5, released("leaves", 1.0))))
    pure = (Filter(math.inf, 0.5, "leaves"),)
    assert established(pure, event, Relation.ADD_REMOVE, 0.0) == pytest.approx(0.75)
    assert established((Filter(8.0, 0.1, "leaves"),), event, Relation.ADD_REMOVE, 0.0) == math.inf
    one, two = (established(given, event, Relation.ADD_REMOVE, 1e-5) for given in (
        (Filter(8.0, 0.1, "leaves"),), (Filter(8.0, 0.1, "leaves"), Filter(12.0, 0.1, "leaves"))))  # fmt: skip
    assert two < one < established((Filter(8.0, 0.1, "leaves"), Filter(12.0, 0.1, "count")), event,
                                   Relation.ADD_REMOVE, 1e-5) == math.inf  # fmt: skip


@pytest.mark.parametrize("text", ["", "8", "x:1", "1:1", "8:-1", "nan:1", "8:nan"])
def test_a_filter_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidParameter):
        read(text)


def test_a_filter_is_read() -> None:
    assert read("8:0.5:a:b") == Filter(8.0, 0.5, "a:b") and read("inf:1") == Filter(math.inf, 1.0)
    with pytest.raises(InvalidParameter, match="replace-one"):
        audit_trainer(lambda records, curator: None, SCHEMA, 1.0, 0.0, "replace-one", filters=(Filter(2.0, 1.0),))


def counted(records: Any, curator: Any) -> Any:
    """A count, released as leaves."""
    return curator.release("leaves", Laplace(1.0), np.array([float(len(records.y))]), sensitivity=COUNT)


COUNT = Sensitivity(1.0, 1, "test", Relation.ADD_REMOVE)


def test_filters_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["audit", "sgbdt", "--filter", "8:1"]) == 2
    assert "--trainer" in capsys.readouterr().err
    file = tmp_path / "schema.json"
    file.write_text(json.dumps({"age": [0, 1], "y": [-1, 1]}))
    ended = cli.run(["audit", "--trainer", "tests.audit.test_filter:counted", "--schema", str(file), "--pairs", "1",
                     "--filter", "inf:0.5:leaves", "--json"])  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    assert ended == 1 and ("filter", 0.5, 1.0) in {
        (v["kind"], v["declared"], v["observed"]) for v in found["violations"]
    }


def test_records_that_come_back_show_no_filter() -> None:
    law, still = Laplace(1.0), (0.0, 0.0, 0.0, 0.0)
    leaves, returns = Leaving(), Leaving()
    leaves.add(moves(law, 1.0, 1.0, 0.0, 0.0), moves(law, *still))
    returns.add(moves(law, 1.0, 0.0, 1.0, 0.0), moves(law, *still))
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
