"""Values, mechanisms and noise of runs made by hand: what is collected, named and accused."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refdp.audit import noise_law, noise_shape, search
from refdp.audit.isolated import Outcome
from refdp.audit.replay import Violation
from refdp.noise.mechanisms import DiscreteLaplace, Gaussian, Laplace
from refdp.privacy.curator import Entry, Transcript
from refdp.privacy.events import Sequential
from tests.audit.by_hand import ADD, QUIET, REPLACE, declared, entry, kinds, machine, pair, split, sums

# --- Values and mechanisms --------------------------------------------------------------------------------------------


def test_values_that_are_no_numbers_are_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = machine(monkeypatch)
    fine = Transcript(ADD, [entry([1.0], Laplace(1.0)), entry(None, None, kind="draw"), entry(None, Laplace(1.0))])
    known = one._sane(fine, pair(0.25))
    assert known is not None and len(known.entries) == 3 and not one.notes.undecided and known.relation is ADD
    assert one._sane(Transcript(ADD, [entry([1.0, math.nan], Laplace(1.0), name="odd")]), pair(0.25)) is None
    assert one.notes.undecided == {"the true value of odd is not a number"}


@pytest.mark.parametrize("size", [1, 2])
def test_a_pair_with_a_value_that_is_no_number_on_one_side_is_not_decided(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    def train(records: Any, curator: Any) -> Any:
        value = np.array([math.nan if records.size == size else 0.5])
        curator.release("sum", Laplace(1.0), value, sensitivity=declared(1.0))

    one, _ = machine(monkeypatch, train)
    found = one.look(pair(0.25), size - 1)  # recorded on the other side
    assert (found.loss, found.worst, found.violations) == (None, None, ()) and len(one.notes.undecided) == 1


def test_mechanisms_of_others_are_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd:
        pass

    one, _ = machine(monkeypatch)
    known = one._sane(Transcript(ADD, [entry([1.0], Odd(), name="x"), entry([2.0], Laplace(1.0))]), pair(0.25))
    assert known is not None and [e.request.name for e in known.entries] == ["sum"] and not kinds(one)
    (told,) = one.notes.unknown
    assert told.endswith("Odd at x")
    bad = Laplace(1.0)
    object.__setattr__(bad, "scale", math.nan)
    assert noise_law.said(bad) is None
    assert one._sane(Transcript(ADD, [entry([1.0], bad, name="y")]), pair(0.25)) is None
    assert kinds(one) == [("noise scale", "y")]


def test_true_values_that_come_out_bare_are_accused_the_second_time(monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = machine(monkeypatch)
    bare = entry([1.0], object(), output=[1.0])
    for _ in range(2):
        one._unknown(bare, "Odd")
    one._unknown(entry([2.0], object(), output=[2.0], name="other"), "Odd")
    assert kinds(one) == []
    one._unknown(entry([2.0], object()), "Odd")  # with noise: begins anew
    one._unknown(entry([3.0], object(), output=[3.0]), "Odd")
    one._unknown(entry(None, object(), output=[3.0]), "Odd")
    one._unknown(entry([4.0], object(), output=[4.0]), "Odd")
    assert kinds(one) == []
    one._unknown(bare, "Odd")
    assert kinds(one) == [("noise law", "sum")] and one.notes.violations[0].witness["releases"] == ["sum"]
    assert one.notes.unknown == {"Odd at sum", "Odd at other"}


def test_outputs_off_their_grid_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = machine(monkeypatch)
    grid = DiscreteLaplace(2.0, 0.25)
    entries = [entry([1.0], grid, output=[1.5]), entry([1.0], grid, output=[1.3], name="off"),
               entry([1.0], Laplace(1.0)), entry(None, None, kind="draw"),
               Entry(entry([1.0], grid).request, np.array([1.0]), np.array([0]), np.array([1.0]))]  # fmt: skip
    one._noted(Outcome(Transcript(ADD, entries), Sequential(()), opaque=("here",)))
    assert (one.notes.discrete, one.notes.floating, one.notes.off_grid) == (2, 1, {"off"})
    assert one.notes.releases == 4 and one.notes.opaque == {"here"} and one.notes.events == [Sequential(())]
    one._noted(Outcome(Transcript(ADD, [entry(None, None, kind="assign")]), None, raised=(("error", "x"),)))
    assert one.notes.scoped and one.notes.raised == 1 and len(one.notes.events) == 1
    one._noted(Outcome(Transcript(ADD, []), None))
    assert one.notes.scoped


def test_recorded_runs_and_values_are_collected_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = machine(monkeypatch)
    values = [1.0, math.inf, 1.0, 2.0, 3.0, 4.0]
    for turn in range(42):
        one._collect(Outcome(Transcript(ADD, [entry(values if turn == 0 else [5.0 + turn], Laplace(1.0 + turn))])))
    assert len(one._transcripts) == 40 and one._mechanisms == {"Laplace": (Laplace(1.0), "sum")}
    assert one._values == {"Laplace": [1.0, 1.0, 2.0, 3.0, 6.0]} and search.VALUES == 5
    indexed = Entry(entry([1.0], Gaussian(1.0)).request, np.array([1.0]), np.array([0]), np.array([1.0]))
    one._collect(Outcome(Transcript(ADD, [indexed, entry(None, Gaussian(1.0)), entry(None, None, kind="draw")])))
    assert set(one._mechanisms) == {"Laplace", "Gaussian"} and set(one._values) == {"Laplace"}
    one._collect(Outcome(Transcript(ADD, [entry([1.0], object(), name="odd")])))
    assert one.notes.unknown == {"object at odd"}
    many = [type(f"Law{k}", (Laplace,), {})(1.0) for k in range(9)]
    monkeypatch.setattr(noise_law, "said", lambda law: law)
    one._collect(Outcome(Transcript(ADD, [entry([1.0], law) for law in many])))
    assert len(one._mechanisms) == 8 and "Law5" in one._mechanisms and "Law6" not in one._mechanisms


def test_pairs_recorded_for_a_composition_are_not_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = machine(monkeypatch)
    for number in (998, 999, 1000, 1001):
        one._replays(pair(0.25), True, number)
    assert len(one._transcripts) == 2 and one._first is not None and one._first.y.tolist() == [0.25, 0.5]
    one._replays(pair(0.75), False, 0)
    assert one._first.y.tolist() == [0.25, 0.5]


# --- Noise ------------------------------------------------------------------------------------------------------------


def test_late_pairs_are_in_order_and_others_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """An accusation of a pair whose rows cannot be aligned is withdrawn, those before it stay."""
    asked: list[Any] = []
    answers = iter([True, True, True, False])

    def are_rows(transcript: Transcript, side: Any, run: Any) -> bool:
        asked.append(side.y.tolist())
        return next(answers)

    monkeypatch.setattr(search.slots, "are_rows", are_rows)
    one, _ = machine(monkeypatch, split(), relation=REPLACE)
    given = pair(0.25, new=1.0, old=0.5)
    assert one._in_order(given, 0) and asked == [[0.25, 1.0], [0.25], [0.25, 0.5]]
    assert not one._in_order(given, 0) and len(asked) == 4
    late, _ = machine(monkeypatch, split(), late=True)
    assert late._in_order(pair(0.25), 0) and len(asked) == 4
    bare, _ = machine(monkeypatch)
    assert bare._in_order(pair(0.25), 0) and len(asked) == 4
    for shown in ({"failed": "x"}, {"raised": (("error", "x"),)}):
        odd, _ = machine(monkeypatch, split(), lambda *_, shown=shown: shown)
        assert odd._in_order(pair(0.25), 0) and len(asked) == 4
    before = Violation("x", "y", None, None, None, "", {})
    over, _ = machine(monkeypatch, sums(0.25, 0.25))
    over.notes.violations.append(before)
    monkeypatch.setattr(over, "_in_order", lambda *_: False)
    assert over.look(pair(0.25), 0) == QUIET and over.notes.violations == [before] and over.notes.rearranged == 1


def test_drawn_noise_is_judged_by_bets_and_by_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded draws first; further draws of each kind at the observed values; then two fresh runs."""
    calls: list[Any] = []
    freshness: list[Any] = []
    monkeypatch.setattr(search, "stale", lambda a, b: freshness.append((a, b)) or [])

    def sampled(mechanism: Any, seed: int, draws: int, source: Any, values: Any) -> Any:
        calls.append((mechanism, seed, draws, list(values)))
        return real(mechanism, seed, draws, source, values)

    real = noise_law.sampled
    monkeypatch.setattr(noise_law, "sampled", sampled)
    one, made = machine(monkeypatch, draws=64)
    one.noise()
    assert calls == [] and freshness == [] and one.notes.bet is not None and one.notes.bet.draws == 0
    one.look(pair(0.25, new=0.5), 0)
    made.calls.clear()
    one.noise()
    assert calls == [(Laplace(1.0), 3, 64, [0.75])] and kinds(one) == [] and one.notes.unknown == set()
    more = real(Laplace(1.0), 3, 64, one.source, [0.75])
    assert more is not None and one.notes.bet.draws == 1 + more.bet.draws
    assert one.notes.shaped == min(len(group) for _, group in more.groups)
    assert [call[2] for call in made.calls] == [n + 1 for n in search.FRESH] and len(freshness) == 1
    assert search.FRESH == (900_001, 900_002)


@pytest.mark.parametrize("odd", [(0,), (1,), (0, 1), ()])
def test_fresh_runs_are_compared_where_both_can_be_judged(monkeypatch: pytest.MonkeyPatch, odd: Any) -> None:
    compared: list[Any] = []
    monkeypatch.setattr(search, "stale", lambda a, b: compared.append((a, b)) or [])
    one, _ = machine(monkeypatch, draws=64)
    one.look(pair(0.25), 0)
    answers = iter([None if number in odd else Transcript(ADD, []) for number in (0, 1)])
    monkeypatch.setattr(one, "_sane", lambda *_: next(answers))
    one.noise()
    assert len(compared) == (not odd) and kinds(one) == []


@pytest.mark.parametrize(("more", "own"), [(False, True), (True, False), (True, True)])
def test_noise_of_an_unknown_law_is_named(monkeypatch: pytest.MonkeyPatch, more: bool, own: bool) -> None:
    """Also where it can be drawn; what was drawn of it counts for nothing."""
    monkeypatch.setattr(search, "stale", lambda a, b: [])
    if not more:
        monkeypatch.setattr(noise_law, "sampled", lambda *_: None)
    if not own:
        monkeypatch.setattr(noise_law, "known", lambda law: None)
    one, _ = machine(monkeypatch, draws=64)
    one.look(pair(0.25), 0)
    one.notes.shaped = 5
    one.noise()
    assert one.notes.unknown == (set() if more and own else {"Laplace at sum"}) and kinds(one) == []
    assert (one.notes.shaped > 5) is (more and own)


@pytest.mark.parametrize(
    ("rejecting", "strange", "first", "due"),
    [
        (lambda draws: draws == 1, False, True, ["bet"]),
        (lambda draws: draws > 1, False, True, ["bet"]),
        (lambda draws: False, True, True, ["shape"]),
        (lambda draws: False, True, False, ["shape"]),
        (lambda draws: True, True, True, ["bet", "bet"]),
        (lambda draws: False, False, True, []),
    ],
)
def test_noise_that_departs_is_accused_once_of_a_kind(
    monkeypatch: pytest.MonkeyPatch, rejecting: Any, strange: bool, first: bool, due: list[str]
) -> None:
    """A bet against it, or its shape; recorded or further draws."""
    asked: list[tuple[int, int]] = []
    made, real = noise_law.recorded, noise_law.sampled

    class Told(noise_law.Bet):
        def rejects(self, tests: int) -> bool:
            asked.append((self.draws, tests))
            return bool(rejecting(self.draws))

    def told(bet: Any) -> Any:
        found = Told()
        found.__dict__.update(vars(bet))
        return found

    def departures(groups: Any, tests: int) -> Any:
        assert tests == 16
        return object() if strange and (len(groups) == 1 and groups[0][0] == "recorded draws") is first else None

    def recorded(transcripts: Any, seed: int) -> Any:
        bet, uniform, name = made(transcripts, seed)
        return told(bet), uniform, name

    def accused(kind: str) -> Any:
        return lambda bet, where, what: Violation(kind, where, None, None, None, what, {})

    monkeypatch.setattr(search, "stale", lambda a, b: [])
    monkeypatch.setattr(noise_shape, "departures", departures)
    monkeypatch.setattr(noise_law, "refuted", accused("bet"))
    monkeypatch.setattr(noise_shape, "refuted", accused("shape"))
    monkeypatch.setattr(noise_law, "recorded", recorded)
    monkeypatch.setattr(noise_law, "sampled", lambda *given: replace(found := real(*given), bet=told(found.bet)))
    one, _ = machine(monkeypatch, draws=64)
    one.look(pair(0.25, new=0.5), 0)
    one.noise()
    assert kinds(one) == [(kind, "sum") for kind in due] and {tests for _, tests in asked} == {2}
