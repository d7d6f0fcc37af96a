"""What a record spends of a declared budget, piece by piece, by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.accounting import account, conversion
from refdp.accounting.divergence import renyi
from refdp.accounting.individual import tabulated
from refdp.accounting.sampling import poisson_gaussian
from refdp.audit import declared_filter as filters
from refdp.audit.charge import Item, whole_event
from refdp.audit.declared_filter import Filter, Spent, established, shares
from refdp.audit.replay import SLACK, Pair
from refdp.audit.verdicts import Row, Verdict
from refdp.data.records import Interval, Numeric, Records, Schema
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteGaussian, Gaussian, Laplace
from refdp.privacy.curator import Entry, Request, ScopeRef, Transcript
from refdp.privacy.events import (
    Parallel,
    Partition,
    Plan,
    Relation,
    Release,
    Repeat,
    Sensitivity,
    Sequential,
    Subsample,
)

SCHEMA = Schema((Numeric("a", 0.0, 1.0),), Interval(0.0, 1.0))
PAIR = Pair(Records(SCHEMA, np.array([[0.25], [0.75]]), np.array([0.0, 1.0])),
            Records(SCHEMA, np.array([[0.5]]), np.array([0.5])), None, 1)  # fmt: skip
HALF = (ScopeRef(0, "half", "subsample", (0.5,), 0),)
OTHER = (ScopeRef(1, "other", "subsample", (0.25,), 0),)
ADD = Relation.ADD_REMOVE


UNIT = Laplace(1.0)


def entry(name: str, value: Any, law: Any = UNIT, scopes: Any = ()) -> Entry:
    held = None if value is None else np.atleast_1d(np.asarray(value, dtype=float))
    return Entry(Request("release", tuple(name.split("/")), None, law, scopes=scopes), np.zeros(1), None, held)


def run(*entries: Entry) -> Transcript:
    return Transcript(ADD, list(entries))


def both(*given: tuple[str, float, Any, Any]) -> tuple[Transcript, Transcript]:
    """Releases of a name, a value against 0, a law and scopes."""
    return (run(*(entry(name, value, law, scopes) for name, value, law, scopes in given)),
            run(*(entry(name, 0.0, law, scopes) for name, value, law, scopes in given)))  # fmt: skip


def plain(*values: float, scale: float = 1.0) -> tuple[Transcript, Transcript]:
    return both(*((f"sum {n}", value, Laplace(scale), ()) for n, value in enumerate(values)))


# --- A filter ---------------------------------------------------------------------------------------------------------


def test_domains_of_a_filter() -> None:
    assert str(Filter(2.5, 0.125)) == "0.125 of order 2.5" and str(Filter(math.inf, 0, "a")) == "0 of order inf on 'a'"
    assert Filter(2.0, 0.5).to_dict() == {"order": 2.0, "budget": 0.5, "releases": ""}
    assert Filter(math.inf, 0.5, "x").to_dict() == {"order": "inf", "budget": 0.5, "releases": "x"}
    assert Filter(1.0 + 1e-9, 0.0).order > 1
    for order, budget, releases in [(1.0, 1.0, ""), (-math.inf, 1.0, ""), (2.0, -1e-9, ""), (2.0, 1.0, 3)]:
        with pytest.raises(InvalidParameter):
            Filter(order, budget, releases)  # type: ignore[arg-type]


def test_the_largest_share_is_kept_and_runs_are_counted() -> None:
    spent = Spent(Filter(math.inf, 4.0))
    for values, most in [((1.0, 1.0), 0.5), ((1.0,), 0.5), ((), 0.5), ((3.0,), 0.75), ((0.0,), 0.75)]:
        assert spent.add(*plain(*values), PAIR) == [] and spent.most == most
    assert spent.runs == 4 and spent.unclear == 0 and spent.refused == []
    nothing = Spent(Filter(math.inf, 0.0))
    assert nothing.add(*plain(0.0), PAIR) == [] and nothing.most == 0.0
    nothing.add(*plain(0.5), PAIR)
    assert nothing.most == math.inf


@pytest.mark.parametrize(("budget", "room"), [(0.0, SLACK**2), (3.0, 3e-6)])
def test_a_budget_is_exceeded_beyond_rounding(budget: float, room: float) -> None:
    for share, found in [(0.99, False), (1.01, True)]:
        spent = Spent(Filter(math.inf, budget))
        value = budget + share * room
        told = spent.add(*plain(0.0, value, 0.0), PAIR)
        assert bool(told) is found and spent.unclear == 0
        if found:
            (one,) = told
            assert (one.kind, one.release, one.declared, one.observed, one.loss) == (
                "filter",
                "sum 1",
                budget,
                value,
                None,
            )
            assert one.witness == {"detail": f"spent of {spent.declared}", "costs": [0.0, value, 0.0], **PAIR.witness()}
            assert spent.refused == []
        sampled = Spent(Filter(math.inf, budget))
        above = both(("s", 4.0 * (budget + 1), Laplace(1.0), HALF))
        assert sampled.add(*above, PAIR) == [] and sampled.unclear == 1


def test_an_upper_bound_below_the_budget_is_clear() -> None:
    law = Laplace(1.0)
    items = [Item(law, np.ones(1), np.zeros(1), HALF)]
    (lower, upper) = filters._cost(items, math.inf, ADD)
    assert lower == 0.0 and upper == pytest.approx(math.log(1 + (math.e - 1) / 2), rel=1e-6)
    for budget, unclear in [(upper, 0), (upper * (1 - 3e-6), 1)]:
        spent = Spent(Filter(math.inf, budget))
        assert spent.add(*both(("s", 1.0, law, HALF)), PAIR) == []
        assert spent.unclear == unclear and spent.most == 0.0 and spent.refused == []


@pytest.mark.parametrize(("values", "budget", "refused"), [
    ((2.0, 1.0, 0.0), 3.5, [1 - 3.5 / 4]), ((2.0, 1.0, 0.0), 5.0, [0.0]), ((2.0, 1.0), 3.5, []), ((2.0,), 2.0, []),
    ((2.0, 0.0), 2.0, [0.5]), ((0.0, 0.0), 2.0, []), ((1.0, 0.5, 2.0, 0.0, 0.0), 4.0, [1 - 4 / 5.5]),
        ((0.0, 3.0), 3.0, []),
])  # fmt: skip
def test_a_record_that_left_tells_how_small_an_understatement_shows(values: Any, budget: float, refused: Any) -> None:
    """Going on would have cost what its last release did once more."""
    spent = Spent(Filter(math.inf, budget))
    assert spent.add(*plain(*values), PAIR) == []
    assert spent.refused == pytest.approx(refused)


def test_what_left_at_a_cost_known_from_above_is_told_by_that() -> None:
    spent = Spent(Filter(4.0, 5.0))
    spent.add(*both(("s", 1.0, Laplace(1.0), HALF), ("t", 0.0, Laplace(1.0), OTHER)), PAIR)
    assert spent.refused == [0.0] and spent.unclear == 0
    less = Spent(Filter(4.0, 1e-3))
    less.add(*both(("s", 1.0, Laplace(1.0), HALF), ("t", 0.0, Laplace(1.0), OTHER)), PAIR)
    upper = filters._cost([Item(Laplace(1.0), np.ones(1), np.zeros(1), HALF)], 4.0, ADD)[1]
    assert less.refused == [pytest.approx(1 - 1e-3 / (2 * upper))] and less.unclear == 1


@pytest.mark.parametrize("budget", [0.0, 3.0])
def test_budgets_are_met_exactly_where_costs_are_at_their_limit(budget: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit is a 1e-6th more, and 1e-18; beyond it a lower end accuses, and an upper end is unclear."""
    limit = budget * (1 + 1e-6) + 1e-9**2
    above = limit * (1 + 1e-15)
    for cost, accused, unclear in [
        ((limit, limit), 0, 0),
        ((above, above), 1, 0),
        ((0.0, limit), 0, 0),
        ((0.0, above), 0, 1),
    ]:
        monkeypatch.setattr(filters, "_cost", lambda *given: cost)  # noqa: B023
        spent = Spent(Filter(math.inf, budget))
        assert spent == Spent(spent.declared, 0, 0.0, [], 0)
        assert len(spent.add(*plain(1.0), PAIR)) == accused and spent.unclear == unclear


def test_rows_about_a_filter() -> None:
    told = Spent(Filter(8.0, 0.5, "leaves"), runs=5, most=0.25)
    said = ("filter 0.5 of order 8 on 'leaves': none of 5 audited records spent it (25% at most), so that it refused "
            "nobody; more rounds, or dearer ones, would show it at work")  # fmt: skip
    assert told.row() == Row("composition", Verdict.NOT_EXAMINED, said)
    told.refused = [0.5, 0.125, 0.25]
    row = told.row()
    assert (row.what, row.verdict, row.power) == ("composition", Verdict.NOT_FOUND, "a cost understated by 12%")
    assert "of 5 audited records" in row.reason and "0.25 of it at most, 3 had to leave" in row.reason
    told.refused = [0.0, 0.5]
    assert told.row().power == "a cost understated by 0.0001%"
    told.unclear = 2
    row = told.row()
    assert (row.what, row.verdict, row.power) == (
        "composition",
        Verdict.NOT_EXAMINED,
        "",
    ) and "of 2 records" in row.reason


def test_shares_of_all_budgets() -> None:
    given = Filter(math.inf, 4.0), Filter(math.inf, 8.0, "sum 1")
    assert shares(given, *plain(1.0, 2.0), PAIR) == {"filter 4 of order inf": 0.75,
                                                     "filter 8 of order inf on 'sum 1'": 0.25}  # fmt: skip


# --- Releases in turn -------------------------------------------------------------------------------------------------


def test_releases_of_one_sample_are_one_round() -> None:
    """Wherever they come in the run, in order of the last; outside samples each is its own.

    What no value or no noise has is no release.
    """
    law, still = Gaussian(1.0), 0.0
    rows = [("a/sum", 1.0, law, ()), ("b/sum", 2.0, law, ()), ("c/sum", still, law, HALF), ("d/sum", 3.0, law, HALF),
            ("e/sum", 4.0, law, OTHER), ("other", 5.0, law, OTHER), ("f/sum", 6.0, law, OTHER),
                ("g/sum", 7.0, law, HALF),
            ("h/sum", still, law, ()), ("i/sum", still, law, HALF)]  # fmt: skip
    present, absent = both(*rows)
    present.entries.insert(2, entry("x/sum", None)), absent.entries.insert(2, entry("x/sum", 1.0))
    present.entries.insert(2, entry("y/sum", 1.0)), absent.entries.insert(2, entry("y/sum", None))
    present.entries.insert(2, entry("z/sum", 1.0, None)), absent.entries.insert(2, entry("z/sum", 0.0, None))
    found = [(name, [(item.value.item(), item.other.item(), item.scopes) for item in moved])
             for name, moved in filters._rounds("/sum", present, absent)]  # fmt: skip
    assert found == [("a/sum", [(1.0, 0.0, ())]), ("b/sum", [(2.0, 0.0, ())]),
                     ("e/sum", [(4.0, 0.0, OTHER), (6.0, 0.0, OTHER)]), ("h/sum", []),
                     ("c/sum", [(3.0, 0.0, HALF), (7.0, 0.0, HALF)])]  # fmt: skip
    assert len(filters._rounds("", present, absent)) == 5 and filters._rounds("no", present, absent) == []
    mixed = both(("a", 1.0, law, HALF), ("b", 2.0, law, ()), ("c", 3.0, law, HALF), ("d", 4.0, law, HALF))
    assert [name for name, _ in filters._rounds("", *mixed)] == ["b", "a"]


WITHIN = (*HALF, ScopeRef(7, "within", "subsample", (1.0,), 0))


def test_who_left_by_an_upper_bound_shows_no_more_than_that() -> None:
    """By the lower one, which is 0, any understatement at all would show."""
    spent = Spent(Filter(math.inf, 1.0))
    still = (ScopeRef(5, "later", "subsample", (0.5,), 0),)
    assert spent.add(*both(("s", 1.2, UNIT, HALF), ("s", 0.0, UNIT, still)), PAIR) == []
    upper = math.log(1 + (math.exp(1.2) - 1) / 2)
    assert spent.refused == [pytest.approx(1 - 1 / (2 * upper), rel=1e-3)]


@pytest.mark.parametrize("between", [WITHIN, OTHER, ()], ids=["a scope within", "another sample", "no scope"])
@pytest.mark.parametrize("moved", [0.0, 1e-9])
def test_what_lies_between_releases_of_one_sample_does_not_part_them(between: Any, moved: float) -> None:
    """Their costs are superadditive: eight in one sample of a fiftieth cost 2000 times what eight samples would."""
    rate = (ScopeRef(0, "rare", "subsample", (0.02,), 0),)
    between = rate + between[1:] if between == WITHIN else between
    one, joint = (float(tabulated(8, 0.02, np.array([n / 2]))[0]) for n in (1, 8))
    rows = [("leaves", 1.0, Gaussian(1.0), rate), ("leaves besides", moved, Gaussian(1.0), between)] * 8
    spent = Spent(Filter(8.0, 8.01 * one, "leaves"))
    (found,) = spent.add(*both(*rows), PAIR)
    assert found.kind == "filter" and found.observed == pytest.approx(joint) and joint > 2000 * one


def test_blocks_that_take_turns_cost_what_they_cost_one_after_the_other() -> None:
    """e^4 in a block of a fiftieth, of either: an upper bound, and above a budget of four blocks."""

    def block(number: int) -> Any:
        return (ScopeRef(2, "parts", "partition", (0.02, 0.02), number),)

    turns, sorted_ = [k % 2 for k in range(8)], [k // 4 for k in range(8)]
    costs = []
    for order in (turns, sorted_):
        spent = Spent(Filter(math.inf, 0.5, "leaves"))
        rows = [(f"leaves {k}", 1.0, UNIT, block(b)) for k, b in enumerate(order)]
        assert spent.add(*both(*rows), PAIR) == [] and spent.unclear == 1
        ((_, moved),) = filters._rounds("leaves", *both(*rows))
        costs.append(filters._cost(moved, math.inf, ADD))
    assert costs[0] == pytest.approx(costs[1]) and costs[0][1] >= math.log1p(0.02 * (math.exp(4) - 1))


def test_a_part_of_what_a_sample_released_is_a_lower_bound() -> None:
    """Of Gaussian noise in the sample alone, whatever else is in it."""
    plain_, rest = (Item(Gaussian(1.0), np.ones(1), np.zeros(1), scopes) for scopes in (HALF, WITHIN))
    other = Item(Laplace(1.0), np.ones(1), np.zeros(1), HALF)
    exact = filters._cost([plain_], 3.0, ADD)
    assert exact[0] == exact[1] > 0
    for more in (rest, other):
        lower, upper = filters._cost([plain_, more], 3.0, ADD)
        assert lower == exact[0] < upper


def test_the_round_that_exceeds_the_budget_is_named() -> None:
    costs = [(1.0, 9.0), (2.0, 9.0), (3.0, 9.0)]
    for budget, place in [(0.0, 0), (0.5, 0), (1.0, 1), (2.9, 1), (3.0, 2), (5.9, 2), (6.0, 2), (9.0, 2)]:
        assert filters._first_above(costs, budget) == place
    assert filters._first_above(costs, 3 - 2e-6) == 2 and filters._first_above(costs, 3 - 4e-6) == 1


# --- Costs ------------------------------------------------------------------------------------------------------------


class Lopsided:
    """Divergences that depend on the direction, of each coordinate by itself."""

    def divergence(self, value: Any, other: Any, order: float) -> float:
        return float(order * np.sum(value - 3 * other) ** 2)

    def worst_loss(self, value: Any, other: Any) -> Any:
        return 2 * np.abs(value) + 7 * np.abs(other)


def test_costs_outside_samples_are_those_of_the_worse_direction() -> None:
    one = Item(Lopsided(), np.array([1.0, 2.0]), np.array([0.5, 0.0]))
    two = Item(Lopsided(), np.array([0.0]), np.array([1.0]))
    assert filters._alone(one, 2.0) == 2 * 1.5**2 and filters._alone(one, math.inf) == 2 * 3 + 7 * 0.5
    assert filters._alone(filters._turned(one), 2.0) == 2 * (0.5 - 9) ** 2
    assert filters._cost([one, two], 2.0, ADD) == (2 * 8.5**2 + 2 * 9,) * 2
    assert filters._cost([one, two], math.inf, ADD) == (2 * 0.5 + 7 * 3 + 7,) * 2
    assert filters._cost([], 2.0, ADD) == (0.0, 0.0)


def test_sampled_gaussian_noise_is_exact_at_every_order() -> None:
    one, two = (Item(Gaussian(2.0), np.array([3.0, 0.0]), np.array([1.0, 1.0]), OTHER),
                Item(Gaussian(0.5), np.array([1.0]), np.array([0.75]), OTHER))  # fmt: skip
    t = (2 / 2) ** 2 / 2 + (1 / 2) ** 2 / 2 + (0.25 / 0.5) ** 2 / 2
    exact = float(tabulated(3, 0.25, np.array([t]))[0])
    assert filters._cost([one, two], 3.0, ADD) == pytest.approx((exact, exact))
    between = float(poisson_gaussian(0.25, 1 / math.sqrt(2 * t), np.array([2.5]))[0])
    assert filters._cost([one, two], 2.5, ADD) == pytest.approx((between, between))
    assert float(tabulated(2, 0.25, np.array([t]))[0]) < between < exact


@pytest.mark.parametrize("case", ["law", "method", "kind", "two scopes", "infinity"])
def test_of_other_samples_only_an_upper_bound_is_known(case: str) -> None:
    scope: Any = {"method": ScopeRef(0, "half", "subsample", (0.5,), 0, "without-replacement"),
                  "kind": ScopeRef(0, "half", "partition", (0.5, 0.5), 0)}.get(case, HALF[0])  # fmt: skip
    scopes = (scope, *OTHER) if case == "two scopes" else (scope,)
    laws = (Gaussian(2.0), Laplace(2.0)) if case == "law" else (Gaussian(2.0), Gaussian(2.0))
    order = 3.0
    items = [Item(law, np.ones(1), np.zeros(1), scopes) for law in laws]
    if case == "infinity":
        order, items = math.inf, [Item(Laplace(2.0), np.ones(1), np.zeros(1), scopes)]
    plan = Plan(ADD, whole_event(items, ADD))
    upper = (
        account(plan, delta=0.0, both=False).epsilon if case == "infinity" else float(renyi(plan, np.array([order]))[0])
    )
    lower = filters._cost(items[:1], order, ADD)[0] if case == "law" else 0.0
    assert filters._cost(items, order, ADD) == (lower, upper) and lower < upper < 3


def test_which_noise_counts_as_gaussian() -> None:
    """Discrete noise from two steps of deviation on, the least of them."""

    def one(law: Any) -> Item:
        return Item(law, np.ones(2), np.zeros(2))

    assert filters._as_gaussian(one(Gaussian(0.1))) and not filters._as_gaussian(one(Laplace(9.0)))
    assert filters._as_gaussian(one(DiscreteGaussian(1.0, 0.5)))
    assert not filters._as_gaussian(one(DiscreteGaussian(0.999, 0.5)))
    mixed: Any = object.__new__(DiscreteGaussian)
    for sd, gaussian in [((1.0, 3.0), True), ((0.9, 3.0), False)]:
        object.__setattr__(mixed, "sd", sd)
        object.__setattr__(mixed, "step", 0.5)
        assert filters._as_gaussian(one(mixed)) is gaussian


# --- What budgets give together ---------------------------------------------------------------------------------------


def released(name: str, scale: float = 1.0) -> Release:
    return Release(name, Laplace(scale), Sensitivity(1.0, 1, "test", ADD))


def test_releases_that_no_filter_is_about_are_left() -> None:
    a, b, c = released("a leaf"), released("b"), released("c leaf")
    nothing = Sequential(())
    assert filters._others(a, ("leaf",)) == nothing and filters._others(b, ("leaf", "x")) is b
    assert filters._others(b, ("x", "b")) == nothing
    assert filters._others(Sequential((a, b, c)), ("leaf",)) == Sequential((nothing, b, nothing))
    assert filters._others(Parallel((b, c)), ("leaf",)) == Parallel((b, nothing))
    parted = Partition((0.25, 0.75), (a, b))
    assert filters._others(parted, ("leaf",)) == Partition((0.25, 0.75), (nothing, b))
    assert filters._others(Repeat(Sequential((a, b)), 3), ("leaf",)) == Repeat(Sequential((nothing, b)), 3)
    assert filters._others(Subsample(0.25, a), ("leaf",)) == Subsample(0.25, nothing)


def test_budgets_of_one_order_and_all_other_releases() -> None:
    """The better of one conversion of everything and of a pure rest; of orders at which all releases have a budget."""
    count = released("count", 4.0)
    event = Sequential((count, Subsample(0.5, released("leaves", 1.0)), released("splits", 1.0)))
    rest = Plan(ADD, count)
    given = (Filter(8.0, 0.1, "leaves"), Filter(8.0, 0.2, "splits"), Filter(30.0, 0.1, "leaves"),
             Filter(math.inf, 1.0, "leaves"), Filter(math.inf, 0.5, "splits"))  # fmt: skip
    orders = np.array([8.0])
    joint = float(conversion.epsilons(orders, 0.1 + 0.2 + renyi(rest, orders), 1e-5)[0])
    alone = 0.25 + float(conversion.epsilons(orders, np.array([0.1 + 0.2]), 1e-5)[0])
    assert established(given[:3], event, ADD, 1e-5) == pytest.approx(min(joint, alone), rel=1e-9) and joint != alone
    assert established(given[:3], event, ADD, 0.0) == math.inf
    assert established(given[2:3] + given[1:2], event, ADD, 1e-5) == math.inf
    assert established(given[3:], event, ADD, 0.0) == pytest.approx(1.75)
    part = account(rest, delta=1e-5).epsilon
    assert established(given[3:], event, ADD, 1e-5) == pytest.approx(1.5 + part) and part < 0.25
    assert established(given, event, ADD, 1e-5) == pytest.approx(min(joint, alone, 1.5 + part), rel=1e-9)
    for inside in (
        Subsample(0.5, Sequential((released("leaves"), count))),
        Subsample(0.5, Sequential((released("leaves"), released("splits")))),
        Sequential((count, Subsample(0.5, Repeat(Sequential((released("leaves"), Subsample(0.1, count))), 3)))),
        Partition((0.5, 0.5), (released("leaves"), count)),
    ):  # what shares secret coins does not add up
        assert established(given, inside, ADD, 1e-5) == established(given, inside, ADD, 0.0) == math.inf
    assert established((Filter(math.inf, 1.0),), Subsample(0.5, Sequential((released("leaves"), count))), ADD, 0) == 1.0
    for sd in (0.3, 50.0):  # a rest without a pure loss, and one that is next to nothing
        event = Sequential((Release("count", Gaussian(sd), Sensitivity(1.0, 2, "test", ADD)), released("leaves")))
        far = Plan(ADD, event.events[0])
        joint = float(conversion.epsilons(orders, 0.1 + renyi(far, orders), 1e-5)[0])
        assert established((Filter(8.0, 0.1, "leaves"),), event, ADD, 1e-5) == pytest.approx(joint, rel=1e-9)


def test_a_pure_rest_is_added_where_that_is_less() -> None:
    """A large pure loss of small order: at order 8 its divergence is near the loss, and is converted, too."""
    event = Sequential((released("count", 0.05), released("leaves")))
    orders = np.array([1.5])
    joint = float(conversion.epsilons(orders, 0.1 + renyi(Plan(ADD, event.events[0]), orders), 1e-5)[0])
    alone = 20 + float(conversion.epsilons(orders, np.array([0.1]), 1e-5)[0])
    assert established((Filter(1.5, 0.1, "leaves"),), event, ADD, 1e-5) == pytest.approx(min(alone, joint), rel=1e-6)


def test_rows_of_several_numbers_moved_where_any_differs() -> None:
    present = run(entry("s", [1.0, 2.0]), entry("t", [1.0, 5.0]))
    absent = run(entry("s", [1.0, 2.0]), entry("t", [1.0, 2.0]))
    assert [(name, len(moved)) for name, moved in filters._rounds("", present, absent)] == [("s", 0), ("t", 1)]
    with pytest.raises(ValueError, match="zip"):
        list(filters._rounds("", present, run(entry("s", [1.0, 2.0]))))
