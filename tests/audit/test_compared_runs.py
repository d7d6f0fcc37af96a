"""Single steps of comparing replays: changes of releases, blocks that leak, losses of a run, records that left."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.audit import replay
from refdp.audit.leaving import KEPT, Leaving
from refdp.audit.replay import Change, Pair, Violation
from refdp.data.records import Interval, Numeric, Schema, make_records
from refdp.errors import ImpossibleReplay
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.curator import Entry, Request, ScopeRef, Transcript
from refdp.privacy.events import Relation, Sensitivity

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
SCHEMA = Schema((Numeric("a", 0, 1),), Interval(-1, 1))
BASE = make_records(SCHEMA, np.array([[0.25], [0.5]]), np.array([0.0, 1.0]))
NEW, OLD = (make_records(SCHEMA, np.array([[x]]), np.array([y])) for x, y in ((1.0, -1.0), (0.0, 0.5)))
PAIR, TURNED = Pair(BASE, NEW, None, 1), Pair(BASE, NEW, OLD, 2)


def entry(name: str, value: Any, output: Any, mechanism: Any = None, *, bound: float = 1.0, norm: Any = 1,
    index: Any = None,
          scopes: tuple[ScopeRef, ...] = (), kind: Any = "release", serial: int = 0) -> Entry:  # fmt: skip
    declared = None if mechanism is None else Sensitivity(bound, norm, f"claim/{name}", ADD)
    request = Request(kind, tuple(name.split("/")), None, mechanism, declared, scopes=scopes, serial=serial)
    held = None if value is None else np.asarray(value, float)
    return Entry(request, np.asarray(output), None if index is None else np.asarray(index), held)


def runs(*lines: Any, relation: Relation = ADD) -> list[Transcript]:
    """Transcripts of as many sides as the lines have values: name, values of the sides, output, mechanism, options."""
    return [Transcript(relation, [entry(name, values[side], output, mechanism, **options)
                                  for name, values, output, mechanism, options in lines])
            for side in range(len(lines[0][1]))]  # fmt: skip


LAPLACE = Laplace(2.0)
LINES = (
    ("sum", ([1.0, 2.0, 3.0], [1.0, 5.0, 2.5]), [1.5, 4.0, 2.0], LAPLACE, {}),
    ("same", ([1.0], [1.0]), [1.0], LAPLACE, {}), ("draw", (None, None), [1.0], None, {}),
    ("pick", ([[0.0, 1.0], [2.0, 2.0]], [[1.0, 0.0], [2.0, 2.0]]), [0.5, 0.5], Exponential(1.0), {"norm": "range",
    "index": [1, 0]}),
    ("vector", ([1.0, 2.0], [1.0, 3.0]), [0.5, 0.5], Gaussian(2.0), {"norm": 2}),
)  # fmt: skip


def test_changes_are_cut_down_to_what_differs() -> None:
    first, second, third = replay.changes(*runs(*LINES))
    assert (first.value.tolist(), first.other.tolist(), first.output.tolist()) == ([2, 3], [5, 2.5], [4, 2])
    assert (second.value.tolist(), second.other.tolist(), second.output.tolist()) == ([[0, 1]], [[1, 0]], [1])
    assert (
        third.value.tolist() == [1, 2]
        and third.output.tolist() == [0.5, 0.5]
        and third.declared.claim == "claim/vector"
    )
    assert first.loss() == pytest.approx((1 - 2 + 0.5 - 1) / 2)
    assert second.loss() == pytest.approx(1.0) and (second.forward, second.backward) == (
        pytest.approx(1.0),
        pytest.approx(1.0),
    )
    assert first.forward == pytest.approx(1.75) == first.backward and math.isinf(third.forward)
    assert third.loss() == pytest.approx((2.5**2 - 1.5**2) / 8) and replay.changes(*runs(LINES[1])) == []
    uneven = replay._differing(DiscreteLaplace(1.0, 0.5), np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    assert uneven.tolist() == [False, True]
    table = np.zeros((2, 2, 2))
    other = table.copy()
    other[1, 0, 1] = 1
    assert replay._differing(Exponential(1.0), table, other).tolist() == [False, True]
    with pytest.raises(ValueError, match="shorter"):
        replay.changes(runs(*LINES)[0], runs(*LINES[:2])[0])


def test_options_that_neither_offers_have_no_loss() -> None:
    value = [[0.0, -math.inf], [0.0, 1.0]]
    change = Change(entry("pick", None, 0), Exponential(1.0), Sensitivity(1.0, "range", "", ADD), np.array(value),
                    np.array([[1.0, -math.inf], [1.0, 0.0]]), np.array([1, 1]))  # fmt: skip
    assert change.loss() == pytest.approx(1.0)
    sure = Change(
        change.entry, change.mechanism, change.declared, change.value[:1], np.array([[0.0, 0.0]]), np.array([1])
    )
    assert sure.loss() == -math.inf


def test_observed_figures_against_declared_ones() -> None:
    def kinds(bound: float, moved: float, mechanism: Any = LAPLACE, norm: Any = 1) -> list[tuple[Any, ...]]:
        (one,) = replay.changes(*runs(("a/r", ([0.0], [moved]), [0.0], mechanism, {"bound": bound, "norm": norm})))
        return [(v.kind, v.declared, v.observed, v.loss, v.release, v.claim) for v in one.violations(PAIR)]

    assert kinds(1.0, 1.0) == [] == kinds(1.0, 1.0 + 1e-9) and kinds(1.0, -1.0) == []
    order2 = LAPLACE.divergence([0.0], [1.5], 2.0)
    assert kinds(1.0, 1.5) == [
        ("sensitivity", 1.0, 1.5, 0.75, "a/r", "claim/a/r"), ("cost", 0.5, 0.75, 0.75, "a/r", "claim/a/r"),
        ("cost of order 2", pytest.approx(LAPLACE.divergence([0.0], [1.0], 2.0)), pytest.approx(order2), 0.75, "a/r",
        "claim/a/r"),
    ]  # fmt: skip
    assert [one[0] for one in kinds(1.0, 1.5, Gaussian(2.0), 2)] == ["sensitivity", "cost of order 2"]


def partition(block: int, serial: int = 3) -> ScopeRef:
    return ScopeRef(serial, "p", "partition", (0.5, 0.5), block)


def test_releases_change_with_the_record_in_their_block_alone() -> None:
    assign = entry("who", None, [0, 1, 0], kind="assign", serial=3)

    def sides(inside: float, outside: float, place: int = 1) -> list[Violation]:
        def run(first: float, second: float) -> Transcript:
            return Transcript(ADD, [assign, entry("a", [first], 0.0, LAPLACE, scopes=(partition(1),)),
                                    entry("b", [second], 0.0, LAPLACE, scopes=(partition(0),)), entry("c", [7.0],
                                        0.0, LAPLACE)])  # fmt: skip

        pair = Pair(BASE, NEW, None, place)
        return replay.leaks(run(inside, outside), run(1.0, 2.0), run(3.0, 4.0), pair)

    assert sides(1.0, 4.0) == [] and [one.release for one in sides(3.0, 4.0)] == ["a"]
    (found,) = sides(9.0, 2.0)
    assert (found.kind, found.release, found.loss) == ("block", "a", None) and [
        one.release for one in sides(1.0, 2.0)
    ] == ["b"]
    assert sides(3.0, 2.0, 0) == [] == sides(3.0, 4.0, 3)


def test_losses_of_a_run_are_compared_with_the_claim() -> None:
    first, second = runs(
        ("r", ([0.0], [1.5]), [0.0], LAPLACE, {"bound": 2.0}), ("s", ([0.0], [1.0]), [2.0], LAPLACE, {})
    )
    for epsilon, attained, expected in ((1.25, 9.0, []), (1.2, 1.2, []), (1.2, 1.25, [1.25]), (0.2, 0.0, [0.25])):
        asked: list[float] = []
        found = replay.compare(
            [first, second], PAIR, epsilon, [], lambda enough, to=attained, to_list=asked: to_list.append(enough) or to
        )  # type: ignore[func-returns-value]
        assert [one.observed for one in found.violations] == pytest.approx(expected)
        assert found.loss == pytest.approx(0.75 - 0.5) and found.worst == pytest.approx(1.25)
        assert len(asked) == (epsilon == 1.2) and all(one == pytest.approx(1.2, abs=1e-8) for one in asked)
    (told,) = replay.compare([first, second], PAIR, 0.1, []).violations
    assert (told.kind, told.release, told.declared, told.loss) == ("loss", "whole run", 0.1, pytest.approx(0.25))
    backward = replay.compare([second, first], PAIR, 0.1, [])
    assert backward.loss == pytest.approx(-0.25) and [one.observed for one in backward.violations] == pytest.approx(
        [0.25]
    )
    three = runs(("r", ([0.0], [4.0], [1.5]), [0.0], Laplace(1.0), {"bound": 9.0}))
    found = replay.compare(three, TURNED, 9.0, [])
    assert found.loss == pytest.approx(1.5) and found.worst == pytest.approx(1.5)
    given = Violation("model", "m", None, None, None, "", {})
    assert replay.compare([first, second], PAIR, 9.0, [given]).violations == (given,)


def test_sides_that_are_replayed() -> None:
    plain, secret = (
        Transcript(ADD, [entry("a", [1.0], 0.0, LAPLACE)]),
        Transcript(ADD, [entry("w", None, [0], kind="assign")]),
    )
    assert not replay.has_secrets(plain) and replay.has_secrets(secret)
    for pair, transcript, sizes in (
        (PAIR, plain, [3, 2]),
        (TURNED, plain, [3, 3]),
        (TURNED, secret, [3, 2, 3]),
        (PAIR, secret, [3, 2]),
    ):
        asked = replay._sides(pair, transcript, pair.position)
        assert [records.size for records, _ in asked] == sizes
    assert PAIR.first().y.tolist() == [0, -1, 1] and PAIR.second() is BASE and TURNED.second().y.tolist() == [0, 1, 0.5]
    assert PAIR.relation is ADD and TURNED.relation is REPLACE
    assert "old_x" not in PAIR.witness() and TURNED.witness()["old_x"] == [0.0] and TURNED.witness()["position"] == 2


def test_models_and_runs_that_part() -> None:
    assert replay._differing_models("m", ["m", "m"], PAIR) == []
    (found,) = replay._differing_models("m", ["m", "n"], PAIR)
    assert (found.kind, found.release, found.witness) == ("model", "published model", PAIR.witness())
    parted = replay.impossible(ImpossibleReplay("r", "shape", "d" * 600), PAIR, "claim")
    (told,) = parted.violations
    assert (parted.loss, parted.worst, told.kind, told.release, told.claim) == (None, None, "shape", "r", "claim")
    assert told.witness == {"detail": "d" * 500, **PAIR.witness()} and told.loss_in_words().startswith(
        "cannot be replayed"
    )
    (transcript, _) = runs(*LINES)
    assert replay.claim_at("pick", transcript) == "claim/pick" and replay.claim_at(
        "draw", transcript
    ) == "" == replay.claim_at("x", transcript)
    assert [replay.finite_or_name(one) for one in (None, 1.5, math.inf, -math.inf, math.nan)] == [
        None,
        1.5,
        "inf",
        "-inf",
        "nan",
    ]


def test_losses_in_words() -> None:
    assert replay.loss_in_words(None) == "no loss stated" and replay.loss_in_words(1.23456789) == "loss 1.23457"
    for kind, declared, loss, words in (
        ("shape", None, None, "cannot be replayed: no loss stated"), ("model", None, None, "no loss stated"),
        ("sensitivity", 1.0, None, "no loss stated"), ("sensitivity", None, 2.0, "loss 2"), ("loss", 1.0, 2.0,
        "loss 2"),
    ):  # fmt: skip
        assert Violation(kind, "r", declared, None, loss, "", {}).loss_in_words() == words


def test_seeds_decide_the_side_and_whether_single_blocks_are_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[bool, bool]] = []
    monkeypatch.setattr(
        replay, "audit_pair", lambda *given, on_first, blocks: seen.append((on_first, blocks is not None))
    )
    for seed in range(8):
        replay.sampled(None, PAIR, seed, 1.0)  # type: ignore[arg-type]
    assert seen == [(True, True), (False, True), (True, False), (False, False)] * 2


# --- Records that left ------------------------------------------------------------------------------------------------


def rounds(*moved: float, name: str = "tree 0/leaves", other: tuple[float, ...] = ()) -> Leaving:
    """A record's changes in rounds of one kind, and in those of another."""
    lines = [(name, ([one], [0.0]), [0.0], LAPLACE, {}) for one in moved] + [
        ("x/splits", ([one], [0.0]), [0.0], LAPLACE, {}) for one in other
    ]
    found = Leaving()
    found.add(*runs(*lines, ("draw", (None, None), [0.0], None, {})))
    return found


def sizes(leaving: Leaving) -> list[list[float]]:
    return [[float(np.abs(item.value - item.other).sum()) for item in items] for _, items in leaving.going_on]


def test_records_that_leave_would_have_gone_on_as_in_their_last_round() -> None:
    stays, leaves, returns, late = rounds(1.0, 2.0), rounds(1.0, 2.0, 0.0, 0.0), rounds(1.0, 0.0, 2.0), rounds(0.0, 1.0)
    assert (stays.left, stays.returned, stays.going_on) == (0, 0, []) and (returns.left, returns.returned) == (0, 1)
    assert (
        (leaves.left, leaves.returned) == (1, 0)
        and sizes(leaves) == [[1, 2, 2, 2]]
        and (late.left, late.returned) == (0, 0)
    )
    assert leaves.going_on[0][0] == pytest.approx(
        sum(LAPLACE.divergence([one], [0.0], 2.0) for one in (1.0, 2.0, 2.0, 2.0))
    )
    assert sizes(rounds(1.0, 0.0, other=(3.0, 3.0))) == [[1, 1, 3, 3]] and rounds(0.0, 0.0).left == 0
    both = rounds(1.0, 0.0, 2.0, 0.0)
    assert (both.left, both.returned, sizes(both)) == (1, 1, [[1, 2, 2]]) and both.refused(ADD, 0.1, 0.0) == 0


def test_those_with_most_to_spend_are_kept_and_counted_where_they_exceed_the_claim() -> None:
    leaving = Leaving()
    for size in (1.0, 3.0, 2.0, 5.0, 4.0):
        leaving.add(*runs(*[("t/leaves", ([one], [0.0]), [0.0], LAPLACE, {}) for one in (size, 0.0)]))
    assert KEPT == 4 and sizes(leaving) == [[5, 5], [4, 4], [3, 3], [2, 2]] and leaving.left == 5
    for epsilon, count in ((1.9, 4), (2.0, 3), (4.5, 1), (5.0, 0)):
        assert leaving.refused(ADD, epsilon, 0.0) == count
    assert leaving.refused(ADD, 0.5, 0.01) == 4 and leaving.refused(ADD, 4.5, 0.9) == 0
