"""What every entry of an answer is a sum over, and which steps are refused where the records are unknown."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.accounting.individual import Accounts, initialise
from refdp.data import candidates as grids
from refdp.data.kernels import GRID
from refdp.data.population import (
    COUNT,
    Advance,
    Begin,
    Bins,
    Descend,
    Encode,
    Histogram,
    Labels,
    Leaves,
    Nodes,
    Pay,
    Place,
    Refresh,
    RefreshAll,
    Root,
    Sides,
    Start,
    Statistics,
)
from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema
from refdp.privacy.events import Relation
from refdp.prove.asking import Solvers, name_of, number
from refdp.prove.symbols import Fixed, Known
from refdp.prove.tables import ALL, Sum, Within
from refdp.prove.terms import Leak, Unmodelled
from refdp.prove.unknown import Unknown

FEATURES = (Numeric("x", 0.0, 1.0), Categorical("c", ("a", "b", "d")), Numeric("z", -1.0, 1.0))
SCHEMA = Schema(FEATURES, Interval(-2.0, 3.0))
CANDIDATES = grids.uniform(SCHEMA, 3)
SOLVERS = Solvers()


@dataclass(frozen=True)
class Own:
    """Half the label on the grid and within 1; and a count. known: which statistics there are."""

    weighs: ClassVar[bool] = False
    known: tuple[str, ...] = ("g", "h")

    def label(self, output: int, y: Any) -> Any:
        return y * 0.5

    def statistics(self, score: Any, label: Any, of: Any) -> Statistics:
        g = np.rint(np.clip(label, -1.0, 1.0) / GRID) * GRID
        return Statistics({name: None if name == "h" else g for name in self.known})


def reader(*steps: Any, known: tuple[str, ...] = ("g", "h"), weighed: bool = False) -> Unknown:
    own = Unknown(Relation.ADD_REMOVE, SCHEMA, SOLVERS, weighed=weighed)
    for step in (Begin(Own(known), (0,)), Encode(CANDIDATES), Refresh(known), Root((0, 1, 2)), *steps):
        own.tell(step)
    return own


def entry(table: Any, *index: Any) -> Sum:
    found: Sum = table.cell(index, None)
    assert isinstance(found, Sum) and found.units
    return found


def test_sums_in_nodes_are_of_one_node_level_and_tree() -> None:
    own = reader()
    table = own.ask(Nodes(("g", COUNT, "h")))
    assert table.form.of == "units" and table.shape == (3, 1)
    assert [(axis.kind, axis.size) for axis in table.axes] == [("each", 3), ("part", 1)]
    names = [entry(table, k, "r0").name for k in range(3)]
    assert names == ["g", COUNT, COUNT]  # a statistic of 1 for each is a count
    (part, seat), *more = entry(table, 0, "r7").seats
    assert (part, seat, more) == (("root", 1, 0), "r7", []) and entry(table, 0, "r0").scopes == ()
    own.tell(Descend(np.array([[0.0, 0.5]])))
    below = own.ask(Nodes(("g",)))
    assert below.shape == (1, 2) and entry(below, 0, "r0").seats == ((("node", 1, 1), "r0"),)
    assert entry(below, 0, "r0").state == entry(table, 0, "r0").state
    own.tell(Refresh(("g",)))
    own.tell(Root((0,)))
    again = own.ask(Nodes(("g",)))
    assert entry(again, 0, "r0").seats[0][0] == ("root", 2, 0)
    assert entry(again, 0, "r0").state > entry(table, 0, "r0").state


def test_what_is_asked_in_a_block_is_about_its_records() -> None:
    own = reader()
    own.enter(3, 1)
    own.enter(5, 0)
    own.tell(Root((0,)))
    assert entry(own.ask(Nodes(("g",))), 0, "r0").scopes == ((3, 1), (5, 0))
    own.leave()
    own.tell(Root((0,)))
    assert entry(own.ask(Nodes(("g",))), 0, "r0").scopes == ((3, 1),)
    assert own.left()[0] == ((3, 1),)


def test_bins_of_a_tree_and_of_all_records() -> None:
    own = reader(Descend(np.array([[0.0, 0.5]])))
    table = own.ask(Bins(("g", COUNT)))
    width = int(CANDIDATES.bins.sum())
    assert table.shape == (2, 2, width) and [axis.kind for axis in table.axes] == ["each", "part", "bins"]
    axis = table.axes[-1]
    assert axis.of.features == (0, 1, 2) and axis.of.encoding == 1 and axis.of.candidates is CANDIDATES
    node = ("node", 1, 1)
    one = entry(table, 0, "r1", ("seat", 2, "r5"))
    assert one.seats == ((node, "r1"), (("bins", 2, 1), "r5")) and (one.sides, one.option) == (ALL, None)
    side = entry(table, 1, "r1", ("side", frozenset("r"), "o"))
    assert (side.seats, side.sides, side.option) == (((node, "r1"),), frozenset("r"), "o, encoding 1")
    assert entry(table, 0, "r0", ("seat", 2, "whole")).seats == ((node, "r0"),)
    whole = own.ask(Histogram((COUNT,), (2, 0)))
    assert whole.shape == (1, int(CANDIDATES.bins[[2, 0]].sum())) and [axis.kind for axis in whole.axes] == [
        "each",
        "bins",
    ]
    assert whole.axes[-1].of.features == (2, 0)
    assert entry(whole, 0, ("seat", 0, "r5")).seats == ((("bins", 0, 1), "r5"),)
    assert entry(whole, 0, ("side", frozenset("m"), "o")).seats == ()
    own.tell(Encode(CANDIDATES))
    own.tell(Root((1,)))
    later = own.ask(Bins(("g",)))
    assert later.axes[-1].of.encoding == 2 and later.axes[-1].of.features == (1,)


@pytest.mark.parametrize("histogram", [False, True])
def test_sums_of_bins_are_of_the_statistic_that_the_first_index_names(histogram: bool) -> None:
    """Whatever stands in place of a bin: one of a feature, all of them, a side of an option, or both."""
    own = reader(Descend(np.array([[0.0, 0.5]])))
    of = ("g", COUNT)
    table = own.ask(Histogram(of, (0, 1)) if histogram else Bins(of))
    part: tuple[Any, ...] = () if histogram else ((("node", 1, 1), "r1"),)
    before = () if histogram else ("r1",)
    within = Within(("bins of", 2), "r6", frozenset("am"), "o of 2")
    for how, seats, sides, option in [
        (("seat", 2, "r5"), ((("bins", 2, 1), "r5"),), ALL, None),
        (("seat", 2, "whole"), (), ALL, None),
        (("side", frozenset("r"), "o"), (), frozenset("r"), "o, encoding 1"),
        (("seat", 2, within), ((("bins of", 2, 1), "r6"),), frozenset("am"), "o of 2, encoding 1"),
    ]:
        for place, name in enumerate(of):
            found = entry(table, place, *before, how)
            assert found.name == name and found.seats == (*part, *seats)
            assert (found.sides, found.option, found.scopes) == (sides, option, ())


def test_sides_of_splits() -> None:
    own = reader()
    table = own.ask(Sides(("g", COUNT), np.array([[0.0, 0.5]])))
    assert table.shape == (2, 1, 2) and [axis.kind for axis in table.axes] == ["each", "part", "each"]
    left, right = (entry(table, 0, "r0", k) for k in (0, 1))
    assert (left.sides, right.sides, left.option) == (frozenset("am"), frozenset("r"), right.option)
    assert left.seats == ((("root", 1, 0), "r0"),)
    assert [[entry(table, k, "r0", at).name for at in (0, 1)] for k in (0, 1)] == [["g", "g"], [COUNT, COUNT]]
    other = own.ask(Sides(("g",), np.array([[0.0, 0.5]])))
    assert entry(other, 0, "r0", 0).option != left.option
    ways = own.ask(Sides(("g", COUNT), np.array([[[0.0, 0.5]], [[2.0, 0.0]], [[1.0, 1.0]]])))
    assert ways.shape == (3, 2, 1, 2) and [axis.kind for axis in ways.axes] == ["each", "each", "part", "each"]
    chosen = [entry(ways, k, 1, "r4", 0) for k in range(3)]
    assert len({one.option for one in chosen}) == 3 and {one.name for one in chosen} == {COUNT}
    assert chosen[0].seats == ((("root", 1, 0), "r4"),) and chosen[2].sides == frozenset("am")
    assert entry(ways, 0, 0, "r4", 1).sides == frozenset("r") and entry(ways, 0, 0, "r4", 1).name == "g"


def test_sides_of_released_splits_have_as_many_axes_in_every_run() -> None:
    own, splits = reader(), Known(np.array([[0.0, 0.5]]), True)
    for one in (splits, Known(splits.example[None], True, listed=True), np.stack([splits])):
        with pytest.raises(Unmodelled, match="in as many axes as released values say"):
            own.ask(Sides((COUNT,), one))
    splits.axes = 2
    assert own.ask(Sides((COUNT,), splits)).ndim == 3
    assert own.ask(Sides((COUNT,), np.stack([splits, splits]))).ndim == 4
    drawn = Known(np.array([0]), True)
    drawn.axes = 1
    assert Known(CANDIDATES).values[drawn].axes == 2
    assert Known(CANDIDATES).values[Known(np.array([0]), True)].axes is None


def test_leaves_of_the_trees_that_were_placed() -> None:
    splits = np.array([[0.0, 0.5], [2.0, 0.0], [1.0, 1.0]])
    own = reader(Place(splits), Place(splits))
    table = own.ask(Leaves(("g", COUNT)))
    assert table.shape == (2, 2, 4) and [axis.kind for axis in table.axes] == ["each", "each", "part"]
    assert [entry(table, k, 0, "r2").seats for k in (0, 1)] == [((("leaf", k), "r2"),) for k in (0, 1)]
    assert [entry(table, 0, k, "r2").name for k in (0, 1)] == ["g", COUNT]
    own.tell(Advance(np.zeros((2, 4)), 0.5))
    own.tell(Refresh(("g",)))
    own.tell(Place(splits))
    assert entry(own.ask(Leaves(("g",))), 0, 0, "r0").seats == ((("leaf", 2), "r0"),)


def test_sums_of_labels_are_cut_and_on_the_grid() -> None:
    """The label is in [-1, 1.5], and what is asked for between -1/2 and 1."""
    own = reader()
    table = own.ask(Labels(-0.5, 1.0))
    assert table.shape == (2,)
    count, label = entry(table, 0), entry(table, 1)
    assert (count.name, label.name, label.seats, label.sides) == (COUNT, "label", (), ALL)
    value = own.value(label.state, "label", "r")
    assert own.known[name_of(value)] == [number(-0.5) <= value, value <= number(1.0)]
    wide = entry(own.ask(Labels(-5.0, 5.0)), 1)
    assert wide.state != label.state
    other = own.value(wide.state, "label", "r")
    assert own.known[name_of(other)][0].eq(number(-1.0) <= other)


def test_statistics_have_the_bounds_of_their_formula() -> None:
    own = reader()
    one = entry(own.ask(Nodes(("g",))), 0, "r0")
    value = own.value(one.state, "g", "r")
    assert own.known[name_of(value)] == [number(-1) <= value, value <= number(1)]
    heavy = reader(weighed=True)
    one = entry(heavy.ask(Nodes(("h",))), 0, "r0")
    assert one.name == "h"  # a statistic of 1 is the weight of a record that has one
    value = heavy.value(one.state, "h", "r")
    assert heavy.known[name_of(value)] == [number(0) <= value, value <= number(1)]


@pytest.mark.parametrize("steps", [
    (Advance(np.zeros((1, 4)), 0.5),), (Descend(np.array([[0.0, 0.5], [0.0, 0.5]])),), (Pay(),),
    (Start(1e300), Start(1e300)), (Encode(grids.uniform(Schema(FEATURES[:1], Classes((0, 1))), 3)),),
])  # fmt: skip
def test_steps_out_of_order_or_beyond_hosts_are_not_followed(steps: Any) -> None:
    own = reader()
    with warnings.catch_warnings(), pytest.raises((Unmodelled, AttributeError)):
        warnings.simplefilter("ignore")
        for step in steps:
            own.tell(step)


def test_queries_that_no_host_answers() -> None:
    own = reader()
    for query in (Leaves(("g",)), Nodes(("x",)), Histogram(("x",), (0,)), "Nodes"):
        with pytest.raises((Unmodelled, AttributeError)):
            own.ask(query)  # type: ignore[arg-type]
    with pytest.raises(Leak, match="in a step"):
        own.tell(Start(own.ask(Nodes(("g",)))))  # type: ignore[arg-type]
    with pytest.raises(Leak, match="in a query"):
        own.ask(Labels(own.ask(Nodes(("g",))), 1.0))  # type: ignore[arg-type]
    with pytest.raises(Unmodelled, match="by the name of the count"):
        reader(known=("g", COUNT)).ask(Nodes(("g",)))


def test_units_of_the_grid_become_sums_by_the_grid_alone() -> None:
    table = reader().ask(Nodes(("g",)))
    for scaled in (table * GRID, GRID * table):
        one = scaled.cell((0, "r3"), None)
        assert isinstance(one, Sum) and not one.units and one.seats[0][1] == "r3" and scaled.shape == (1, 1)
    for wrong in (lambda: table * 2.0, lambda: table * 1, lambda: table + GRID, lambda: table * table):
        with pytest.raises(Unmodelled, match="units of the grid"):
            wrong()


def test_contributions_that_take_weights_need_records_with_them() -> None:
    @dataclass(frozen=True)
    class Weighing(Own):
        weighs: ClassVar[bool] = True

    Unknown(Relation.ADD_REMOVE, SCHEMA, SOLVERS, weighed=True).tell(Begin(Weighing(), (0,)))
    with pytest.raises(Unmodelled, match="takes weights"):
        Unknown(Relation.ADD_REMOVE, SCHEMA, SOLVERS).tell(Begin(Weighing(), (0,)))


def test_unknowns_have_names_for_readers() -> None:
    own = reader()
    one = entry(own.ask(Nodes(("g",))), 0, "r0")
    far = entry(own.ask(Nodes(("g",))), 0, "r9")
    mine, common, other = own.value(one.state, "g", "z"), own.common(one), own.common(far)
    found = own.described({name_of(mine): 3, name_of(common): "1/2", name_of(other): 7, "v0": 1})
    assert found["g of record z"] == "3" and found["g of the other records of its node"] == "1/2"
    assert found["g of the other records of another node"] == "7" and len(found) == 3
    side = own.common(entry(own.ask(Sides(("g",), np.array([[0.0, 0.5]]))), 0, "r0", 0))
    assert own.described({name_of(side): 2}) == {"g of the other records of its node, left": "2"}


# --- What a contribution is of, and features that are drawn -----------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """Parameters of a run."""

    bound: Any = 1.0
    trees: int = 2


@dataclass(frozen=True)
class Learning:
    """A contribution of a run's parameters, of which it learns one."""

    params: Any
    schema: Schema
    learnt: ClassVar[tuple[str, ...]] = ("bound",)

    def label(self, output: int, y: Any) -> Any:
        return y * 0.5


@dataclass(frozen=True)
class Paying(Learning):
    """One with accounts."""

    charged: ClassVar[tuple[str, ...]] = ("g",)
    own: ClassVar[list[Any]] = []

    def statistics(self, score: Any, label: Any, of: Any) -> Statistics:
        return Statistics({})

    def accounts(self) -> Any:
        return self.own[0]() if callable(self.own[0]) else self.own[0]

    def cost(self, statistics: Any) -> Any:
        return 0.0


def told(contribution: Any, params: Any) -> None:
    host = Unknown(Relation.ADD_REMOVE, SCHEMA, SOLVERS)
    host.begin_with(params, SCHEMA)
    host.tell(Begin(contribution, (0,)))


def test_a_contribution_is_of_what_the_run_was_given() -> None:
    params = Settings()
    for own in (params, Known(Settings(0.25)), Settings(0.5)):
        told(Learning(own, SCHEMA), params)
    more = (
        Settings(trees=3),
        Known(Settings(trees=3)),
        Known([8.0]),
        [8.0],
        lambda: 8.0,
        Settings(np.full(1, 8.0)),
        None,
    )
    for own in more:
        with pytest.raises(Unmodelled, match="a contribution"):
            told(Learning(own, SCHEMA), params)
    with pytest.raises(Unmodelled, match="another schema"):
        told(Learning(params, Schema(FEATURES, Interval(-2.0, 3.0))), params)
    host = Unknown(Relation.ADD_REMOVE, SCHEMA, SOLVERS)
    host.tell(Begin(Learning(None, SCHEMA), (0,)))  # nobody has said what it is of


def test_what_hosts_elsewhere_get_of_another_kind_is_refused() -> None:
    """Each is something else once it was JSON text, by which a contribution could tell who asks it."""
    text, weight = np.str_("g"), np.float64(0.5)
    for of in (["g"], (("g",),), (text,), (b"g",), ("g", ["h"])):
        for message in (Refresh(of), RefreshAll(of)):  # type: ignore[arg-type]
            with pytest.raises(Unmodelled, match="of another kind in JSON"):
                reader(message)
        for query in (Nodes(of), Bins(of), Leaves(of), Histogram(of, (0,)), Sides(of, np.array([[0.0, 0.5]]))):  # type: ignore[arg-type]
            with pytest.raises(Unmodelled, match="of another kind in JSON"):
                reader().ask(query)
    own: Any
    for own in ([0, 1], (0, (1,)), (np.int64(0),), np.arange(2), [Fixed(0)], (Fixed(np.int64(1)),)):
        with pytest.raises(Unmodelled, match="of another kind in JSON"):
            reader(Root(own))
        with pytest.raises(Unmodelled, match="of another kind in JSON"):
            reader().ask(Histogram(("g",), own))
    for own in ([0], (np.int64(0),), (0, (1,))):
        with pytest.raises(Unmodelled, match="of another kind in JSON"):
            Unknown(Relation.ADD_REMOVE, SCHEMA, SOLVERS).tell(Begin(Own(), own))
    reader(Root((Fixed(1), 0)), Start(weight), Refresh(("g",)), Root(Fixed((0, 1)))).ask(Labels(-weight, 1.0))
    with pytest.raises(Unmodelled, match="of another kind in JSON"):
        reader(Start(np.float32(0.5)))  # type: ignore[arg-type]


def put(described: Any, name: str, value: Any) -> Any:
    """As it would be if it did not keep Python's own texts."""
    object.__setattr__(described, name, value)
    return described


def test_parameters_and_schemas_that_are_of_another_kind_elsewhere_are_refused() -> None:
    for params in (Settings(np.float64(8.0)), Settings(trees=np.int64(2)), Settings(np.str_("a"))):  # type: ignore[arg-type]
        with pytest.raises(Unmodelled, match="which is of another kind in JSON"):
            told(Learning(params, SCHEMA), params)

    class Own(Interval):
        pass

    params = Settings()
    for kind, target in (
        (put(Categorical("c", ("a",)), "name", np.str_("c")), Interval(0.0, 1.0)),
        (put(Categorical("c", ("a", "b")), "categories", (np.str_("a"), "b")), Interval(0.0, 1.0)),
        (FEATURES[0], put(Classes(("a", "b")), "values", (np.str_("a"), "b"))),
        (FEATURES[0], Own(0.0, 1.0)),
    ):
        schema = Schema((kind,), target)
        host = Unknown(Relation.ADD_REMOVE, schema, SOLVERS)
        host.begin_with(params, schema)
        with pytest.raises(Unmodelled, match="a schema with what is of another kind"):
            host.tell(Begin(Learning(params, schema), (0,)))


def test_rounds_are_told_by_the_accounts_of_all_scores_that_nobody_has_paid_from() -> None:
    host = Unknown(Relation.ADD_REMOVE, SCHEMA, SOLVERS)
    host.tell(Begin(Own(), (0, 1)))
    before = host.left()
    host.accounts[host._begun, 1] = None  # type: ignore[assignment]
    paid = host.left()
    del host.accounts[host._begun, 1]
    host.accounts[host._begun, 0] = None  # type: ignore[assignment]
    assert len({before, paid, host.left()}) == 3
    host.accounts.clear()
    host.tell(Begin(Own(), (0, 2)))
    assert host.left() != before


def test_accounts_are_refdps_own_whether_they_are_paid_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    params = Settings()
    other = Accounts(initialise(1.0, 1e-5, 1, 1.0))
    monkeypatch.setattr(other, "_budget", params)
    budget = initialise(1.0, 1e-5, 1, 1.0)
    opened = Accounts(budget)
    opened.open(1)
    fresh, one = "that are not fresh ones without a record", Accounts(budget)
    monkeypatch.setattr(Paying, "own", [lambda: Accounts(budget)])
    told(Paying(params, SCHEMA), params)
    for own, words in ((other, "are not refdp's own"), (params, "are not refdp's own"), (opened, fresh), (one, fresh)):
        monkeypatch.setattr(Paying, "own", [own])
        with pytest.raises(Unmodelled, match=words):
            told(Paying(params, SCHEMA), params)


def test_whatever_has_a_released_value_in_it_is_a_released_choice() -> None:
    drawn, host = Known(1), Unknown(Relation.ADD_REMOVE, SCHEMA, SOLVERS)
    for chosen in (drawn, [drawn], (0, [drawn, 1]), slice(drawn, None)):
        assert host.name_of_choice(chosen)[0] == "released"
    first = host.name_of_choice([0, 1])
    assert host.name_of_choice(Fixed(np.arange(2))) == host.name_of_choice([Fixed(0), 1]) == first
    others = [1, 0], [0, -1], [[0, 1]], [True, True], [0], slice(0, 2), slice(0, -1), slice(None)
    assert len({first, *map(host.name_of_choice, others)}) == 9  # whatever they come to among an example's
    host.tell(Encode(CANDIDATES))
    host.tell(Begin(Own(), (0,)))
    host.tell(Refresh(("g",)))
    for features in (drawn, (0, drawn)):
        with pytest.raises(Unmodelled, match="features that follow from released values"):
            host.tell(Root(features))  # type: ignore[arg-type]
    with pytest.raises(Unmodelled, match="features that follow from released values"):
        host.ask(Histogram(("g",), (drawn,)))  # type: ignore[arg-type]
    host.tell(Root((0, 1, 2)))
