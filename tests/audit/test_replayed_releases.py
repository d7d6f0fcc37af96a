"""Replayed releases of known values: losses, figures above what is declared, blocks, words."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refdp.audit import replay
from refdp.audit.replay import (
    PARTING,
    SLACK,
    Change,
    Finding,
    Violation,
    changes,
    compare,
    leaks,
)
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.curator import Entry, Request, ScopeRef, Transcript
from refdp.privacy.events import Relation, Sensitivity
from tests.audit.by_hand import ADD, REPLACE, pair


def kinds(finding: Finding) -> list[tuple[str, str]]:
    return [(v.kind, v.release) for v in finding.violations]


# --- Comparisons ------------------------------------------------------------------------------------------------------


def entry(value: Any, output: Any, mechanism: Any = None, bound: float = 1.0, scopes: tuple[Any, ...] = (),
          name: str = "x") -> Entry:  # fmt: skip
    law = mechanism or Laplace(1.0)
    norm: Any = 2 if isinstance(law, Gaussian) else "range" if isinstance(law, Exponential) else 1
    ask = Request("release", (name,), None, law, sensitivity=Sensitivity(bound, norm, "test/claim", ADD))
    return Entry(
        replace(ask, scopes=scopes) if scopes else ask, np.asarray(output, float), None, np.asarray(value, float)
    )


def sides(*values: Any, output: Any = (0.0,), **more: Any) -> list[Transcript]:
    return [Transcript(ADD, [entry(value, output, **more)]) for value in values]


def test_a_loss_above_the_claim_is_accused_up_to_rounding() -> None:
    """Of Laplace noise between 0 and 1 the loss at output -9 is -1: first 1, second 0."""
    given = pair(0.25)
    for epsilon, over in ((1.0, False), (1 - 1.9 * SLACK, False), (1 - 2.1 * SLACK, True), (0.5, True)):
        for one, other, loss in ((1.0, 0.0, -1.0), (0.0, 1.0, 1.0)):
            found = compare(sides([one], [other], output=[-9.0]), given, epsilon, [])
            assert found.loss == pytest.approx(loss) and found.worst == pytest.approx(1.0)
            assert kinds(found) == [("loss", "whole run")] * over
            if over:
                (told,) = found.violations
                assert (told.declared, told.observed, told.loss) == (epsilon, *[pytest.approx(1.0)] * 2)


def test_outputs_are_led_only_where_the_worst_exceeds_and_the_recorded_do_not() -> None:
    asked: list[float] = []

    def attain(allowed: float) -> float:
        asked.append(allowed)
        return 0.75

    given = pair(0.25)
    calm = sides([1.0], [0.0], output=[0.5])
    assert compare(calm, given, 2.0, [], attain).violations == () and asked == []
    found = compare(calm, given, 0.5, [], attain)
    assert asked == [pytest.approx(0.5)] and kinds(found) == [("loss", "whole run")]
    assert found.violations[0].observed == 0.75 and found.loss == pytest.approx(0.0)
    assert compare(calm, given, 0.8, [], attain).violations == () and len(asked) == 2
    assert kinds(compare(sides([1.0], [0.0], output=[-9.0]), given, 0.5, [], attain)) == [("loss", "whole run")]
    assert len(asked) == 2
    before = [Violation("model", "m", None, None, None, "", {})]
    assert [v.kind for v in compare(calm, given, 0.5, before, attain).violations] == ["model", "loss"]


def test_losses_of_a_replaced_record_are_differences_against_neither() -> None:
    """Three sides: first, without, second."""
    given = pair(0.25, new=0.5, old=0.75)
    found = compare(sides([0.5], [0.0], [-0.25], output=[9.0]), given, 9.0, [])
    assert found.loss == pytest.approx(0.75) and found.worst == pytest.approx(0.75)
    scope = ScopeRef(1, "s", "partition", (0.25, 0.75), 0)
    mixed = sides([0.5], [0.0], [-0.25], output=[9.0], scopes=(scope,))
    loss = math.log(1 + 0.25 * math.expm1(0.5)) - math.log(1 + 0.25 * math.expm1(-0.25))
    found = compare(mixed, given, 9.0, [])
    assert found.loss == pytest.approx(loss) and found.worst is not None and found.worst >= loss - 1e-12


def chosen(*utilities: list[float], option: int = 0) -> list[Transcript]:
    """A choice on each side."""
    return [Transcript(ADD, [replace(entry([one], [0.0], mechanism=Exponential(1.0)), index=np.array([option]))])
            for one in utilities]  # fmt: skip


def test_outputs_that_neither_record_allows_alone_are_compared_between_both() -> None:
    """Without either the option cannot come out, with each it can: the loss is that of the two."""
    given = pair(0.25, new=0.5, old=0.75)
    found = compare(chosen([2.0, 0.0], [-math.inf, 0.0], [0.5, 0.0]), given, 9.0, [])
    logs = [utility - math.log(math.exp(utility) + 1) for utility in (2.0, 0.5)]
    assert found.loss == pytest.approx(logs[0] - logs[1]) and found.loss > 0


def test_infinite_losses_in_both_directions_leave_it_to_what_is_attained() -> None:
    never = -math.inf
    first, second = (Transcript(ADD, one.entries + other.entries) for one, other in zip(
        chosen([0.0, 0.0], [never, 0.0]), chosen([never, 0.0], [0.0, 0.0]), strict=True))  # fmt: skip
    found = compare([first, second], pair(0.25), 0.125, [], lambda enough: 0.25)
    assert [v.observed for v in found.violations if v.kind == "loss"] == [0.25] and math.isnan(found.loss or 0.0)


def test_violations_of_a_release_are_figures_above_what_is_declared() -> None:
    given = pair(0.25)
    for bound, due in ((2.0, []), (1.0, []), (1 - 0.9 * SLACK, []), (0.99, ["sensitivity", "cost", "cost of order 2"])):
        (change,) = changes(*sides([1.0], [0.0], bound=bound))
        found = change.violations(given)
        assert [v.kind for v in found] == due and all(v.loss == pytest.approx(1.0) for v in found)
        assert all(v.release == "x" and v.claim == "test/claim" for v in found)
    (change,) = changes(*sides([1.0], [0.0], mechanism=Gaussian(2.0), bound=0.5))
    sensitivity, order = change.violations(given)
    assert (sensitivity.declared, sensitivity.observed) == (0.5, 1.0) and sensitivity.loss == math.inf
    assert (order.kind, order.declared, order.observed) == (
        "cost of order 2",
        pytest.approx(1 / 16),
        pytest.approx(1 / 4),
    )


def test_the_divergence_of_a_choice_is_that_of_the_worse_direction() -> None:
    """Of order 2, by hand: log sum p^2/q."""
    value, other = np.array([[3.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 0.0]])
    for one, two in ((value, other), (other, value)):
        (change,) = changes(*sides(one, two, output=[0], mechanism=Exponential(1.0), bound=0.5))
        found = {v.kind: v for v in change.violations(pair(0.25))}
        p, q = (np.exp(side[0]) / np.exp(side[0]).sum() for side in (value, other))
        worse = max(math.log((p * p / q).sum()), math.log((q * q / p).sum()))
        assert found["cost of order 2"].observed == pytest.approx(worse)
        losses = np.abs(np.log(p / q)).max()
        assert found["cost"].observed == pytest.approx(losses) and found["cost"].loss == pytest.approx(losses)


def test_two_sides_of_a_replaced_record_stay_in_their_block() -> None:
    """The worst block counts whole; of an added record it is mixed with not being there."""
    scope = ScopeRef(1, "s", "partition", (0.25, 0.75), 0)
    both = sides([1.0], [0.0], scopes=(scope,))
    assert compare(both, pair(0.25, old=0.75), 9.0, []).worst == pytest.approx(1.0)
    mixed = math.log(1 + 0.25 * math.expm1(1.0)), -math.log(1 + 0.25 * math.expm1(-1.0))
    assert compare(both, pair(0.25), 9.0, []).worst == pytest.approx(max(mixed)) and max(mixed) < 1.0


def test_weights_are_part_of_a_witness_where_either_has_some() -> None:
    given = pair(0.25, 0.5, new=1.0)
    assert "new_weight" not in given.witness()
    base, new = (replace(rows, weight=np.full(rows.size, 2.0)) for rows in (given.base, given.new))
    assert replace(given, base=base).witness()["base_weight"] == [2.0, 2.0]
    assert replace(given, base=base).witness()["new_weight"] == 1.0
    assert replace(given, new=new).witness()["new_weight"] == 2.0
    assert replace(given, new=new).witness()["base_weight"] == [1.0, 1.0]


def test_releases_that_differ_are_cut_down_to_what_differs() -> None:
    one, other = [1.0, 2.0, 3.0], [1.0, 0.0, 3.5]
    for law in (Laplace(1.0), DiscreteLaplace(1.0, 0.5)):
        (change,) = changes(*sides(one, other, output=[7.0, 8.0, 9.0], mechanism=law))
        assert (change.value.tolist(), change.other.tolist(), change.output.tolist()) == ([2, 3], [0, 3.5], [8, 9])
        assert change.forward == pytest.approx(2.5) == change.backward
    (change,) = changes(*sides(one, other, output=[7.0, 8.0, 9.0], mechanism=Gaussian((1.0, 2.0, 3.0))))
    assert change.value.tolist() == one and change.other.tolist() == other
    table, changed = np.arange(6.0).reshape(3, 2), np.arange(6.0).reshape(3, 2)
    changed[1, 1] = 9.0
    (change,) = changes(*sides(table, changed, output=[0, 1, 0], mechanism=Exponential(1.0)))
    assert change.value.tolist() == [[2.0, 3.0]] and change.other.tolist() == [[2.0, 9.0]] and len(change.output) == 1
    assert changes(*sides(one, one)) == []


def test_entries_without_a_value_or_a_mechanism_are_no_changes() -> None:
    fine = entry([1.0], [0.0])
    other = entry([2.0], [0.0])
    bare = replace(fine, value=None)
    for a, b in ((bare, other), (other, bare), (replace(fine, request=replace(fine.request, mechanism=None)), other),
                 (replace(fine, request=replace(fine.request, sensitivity=None)), other)):  # fmt: skip
        assert changes(Transcript(ADD, [a]), Transcript(ADD, [b])) == []
    assert len(changes(Transcript(ADD, [bare, fine]), Transcript(ADD, [other, other]))) == 1
    chosen = replace(fine, index=np.array([4.0]))
    (change,) = changes(Transcript(ADD, [chosen]), Transcript(ADD, [other]))
    assert change.output.tolist() == [4.0]


def test_the_loss_of_a_choice_leaves_out_what_neither_side_can_give() -> None:
    law = Exponential(1.0)
    never = -math.inf
    value = np.array([[1.0, 0.0], [0.0, never], [2.0, 0.0]])
    other = np.array([[0.0, 0.0], [1.0, never], [0.0, never]])
    ask = entry([0.0], [0.0], mechanism=law)

    def loss(rows: list[int], output: list[int]) -> float:
        change = Change(ask, law, ask.request.sensitivity, value[rows], other[rows], np.array(output))  # type: ignore[arg-type]
        return change.loss()

    first = float(law.log_density(value[:1], np.array([0]))[0] - law.log_density(other[:1], np.array([0]))[0])
    assert loss([0], [0]) == pytest.approx(first) and loss([0, 1], [0, 1]) == pytest.approx(first)
    assert loss([2], [1]) == math.inf and loss([1], [1]) == 0.0


def test_a_record_in_one_block_shows_nowhere_else() -> None:
    """Where it has no slot it is in none; only the first release that differs is told."""
    given = pair(0.25, 0.5, new=1.0)  # at place 1
    assign = Entry(replace(Request("assign", ("rows",)), serial=7), np.array([0, 1, 0]))

    def three(block: int, inside: float, seen: float, outside: float = 0.0, scoped: bool = True) -> list[Transcript]:
        scopes = (ScopeRef(7, "s", "partition", (0.5, 0.5), block),) if scoped else ()
        return [Transcript(ADD, [assign, entry([value], [0.0], scopes=scopes), entry([5.0], [0.0])])
                for value in (seen, inside, outside)]  # fmt: skip

    assert leaks(*three(1, 1.0, 1.0), given) == [] == leaks(*three(0, 1.0, 0.0), given)
    assert leaks(*three(0, 1.0, 2.0, scoped=False), given) == []
    bare = [Transcript(ADD, [one.entries[0], replace(one.entries[1], value=None)]) for one in three(1, 1.0, 1.0)]
    assert leaks(*bare, given) == []
    for block, seen in ((1, 0.0), (0, 1.0), (1, 2.0), (0, 2.0)):
        (found,) = leaks(*three(block, 1.0, seen), given)
        assert (found.kind, found.release) == ("block", "x") and found.witness["position"] == 1
    inner = Entry(replace(Request("assign", ("more",)), serial=8), np.array([0, 0, 0]))
    for block, seen, due in ((0, 1.0, 0), (1, 0.0, 0), (1, 1.0, 1), (0, 0.0, 1)):  # inside both, or not
        scopes = (ScopeRef(7, "s", "partition", (0.5, 0.5), 1), ScopeRef(8, "t", "partition", (0.5, 0.5), block))
        nested = [Transcript(ADD, [assign, inner, entry([value], [0.0], scopes=scopes)]) for value in (seen, 1.0, 0.0)]
        assert len(leaks(*nested, given)) == due
    short = replace(assign, output=np.array([0]))
    for place, due in ((short, 0), (replace(assign, output=np.array([0, 1])), 1)):
        one, inside, outside = three(1, 1.0, 0.0)
        assert len(leaks(Transcript(ADD, [place, *one.entries[1:]]), inside, outside, given)) == due
    many = [
        Transcript(ADD, [part.entries[0], part.entries[1], replace(part.entries[1])]) for part in three(1, 1.0, 2.0)
    ]
    assert len(leaks(*many, given)) == 1


# --- Words ------------------------------------------------------------------------------------------------------------


def test_losses_in_words() -> None:
    for kind in (*PARTING, "cost"):
        bare = Violation(kind, "x", None, None, None, "", {})
        assert bare.loss_in_words() == ("no loss stated" if kind == "cost" else "cannot be replayed: no loss stated")
        assert replace(bare, declared=1.0).loss_in_words() == "no loss stated"
        assert replace(bare, loss=0.5).loss_in_words() == "loss 0.5"
    assert PARTING == ("options", "assignment", "control flow", "shape", "mechanism", "sensitivity")
    told = Violation("cost", "x", math.inf, -math.inf, None, "c", {"a": 1}).to_dict()
    assert (told["declared"], told["observed"], told["loss"], told["witness"]) == ("inf", "-inf", None, {"a": 1})
    assert replay.finite_or_name(2.5) == 2.5 and replay.finite_or_name(math.nan) == "nan"


def test_claims_are_those_of_the_releases_of_a_name() -> None:
    bare = replace(entry([0.0], [0.0]), request=Request("draw", ("x",)))
    recorded = Transcript(ADD, [bare, entry([0.0], [0.0], name="y"), entry([0.0], [0.0])])
    assert replay.claim_at("x", recorded) == "test/claim" and replay.claim_at("z", recorded) == ""
    assert pair(0.25).relation is Relation.ADD_REMOVE and pair(0.25, old=0.5).relation is REPLACE
