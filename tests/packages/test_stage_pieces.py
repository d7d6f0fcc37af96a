"""The three examinations of an entry point, each with what it asks of others written out."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit.opened_replay import NothingOpened
from refdp.audit.package import stages
from refdp.audit.package.causes import BITS, EPSILON, ROUNDING, of_replay, of_structure
from refdp.audit.package.entries import Neighbours
from refdp.audit.package.findings import Witness
from refdp.audit.package.scope import Claim, Entry, Scope
from refdp.audit.package.sources import Location
from refdp.audit.package.stages import Fails, Subject
from refdp.audit.replay import Violation, finite_or_name
from refdp.audit.structural_samples import StructuralFinding, needed
from refdp.audit.verdicts import SUBJECTS, Row, Verdict
from refdp.errors import InvalidParameter
from refdp.privacy.events import Relation

CLAIM = Claim("said", "there", "one record", Relation.REPLACE_ONE, 1.0, 0.125)
LEFT, FOUND, LOOKED = Verdict.NOT_EXAMINED, Verdict.VIOLATION, Verdict.NOT_FOUND


def pair(*values: float) -> Neighbours:
    rows = np.array([[one] for one in values])
    return Neighbours(rows, rows[:-1], (), f"pair of {values[0]}")


def subject(function: Any = None, pairs: Any = None, seconds: float = 0.0, **changed: Any) -> Subject:
    entry = Entry(**{"name": "one", "kind": "callable", "target": "m:f", "claim": CLAIM, "place": 0, **changed})
    scope = Scope(Path("/x/audit.toml"), "package", "1", ("p",), (), "", CLAIM, (entry,), (), 40)
    pairs = [pair(1.0, 2.0)] if pairs is None else pairs
    return Subject(scope, entry, function or (lambda rows, seed: float(seed)), pairs, "tree", "line", seconds)  # type: ignore[arg-type]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What witnesses are asked for; each candidate is told by its code."""
    told: list[Any] = []

    def chosen(scope: Any, entry: Any, stage: str, tried: Any) -> Any:
        told.append((stage, list(tried)))
        return f"witness of {stage}"

    monkeypatch.setattr(stages, "chosen", chosen)
    monkeypatch.setattr(
        stages, "counting", lambda entry, pair, event, runs: ("counting", entry.name, pair.words, event, runs)
    )
    monkeypatch.setattr(stages, "raising", lambda entry, pair, runs: ("raising", entry.name, pair.words, runs))
    monkeypatch.setattr(stages, "watching", lambda entry, pair, *given: ("watching", entry.name, pair.words, *given))
    monkeypatch.setattr(stages, "moved", lambda declared, norm: ("moved", declared, norm))
    monkeypatch.setattr(stages, "likelier", lambda epsilon, delta: ("likelier", epsilon, delta))
    return told


# --- Before the examinations ------------------------------------------------------------------------------------------


def test_a_witness_runs_as_long_as_there_is_time() -> None:
    """Half of fifteen seconds a side, at least 20 runs and at most so many."""
    for seconds, most, runs in [
        (0.0, 300, 300),
        (0.1, 300, 75),
        (0.1, 50, 50),
        (10.0, 300, 20),
        (10.0, 5, 20),
        (0.0, 10**9, 7_500_000),
    ]:
        assert subject(seconds=seconds).runs(most) == runs


def test_seeds_of_recorded_runs_are_numpys() -> None:
    np.random.seed(8)  # noqa: NPY002
    drawn = [stages._drawn_seed() for _ in range(9)]
    state = np.random.RandomState(8)
    assert drawn == [int(state.randint(2**31)) for _ in range(9)] and max(drawn) > 2**30


def test_a_finding_of_an_entry() -> None:
    one = subject()
    fields = Subject.__dataclass_fields__
    assert (fields["seconds"].default, fields["svg"].default) == (0.0, "")
    given: Any = ("replay", EPSILON, "kind", "", pair(3.0, 4.0), "exact", {"n": 1}, "witness")
    found = one.found(*given)
    assert (found.entry, found.stage, found.cause, found.kind, found.where, found.location) == (
        "one", "replay", EPSILON, "kind", "returned value", "line")  # fmt: skip
    assert (found.claim, found.evidence, found.figures, found.pair, found.witness, found.violation) == (
        CLAIM, "exact", {"n": 1}, "pair of 3.0", "witness", True)  # fmt: skip
    assert found.package == "package" and found.records == {"first": [[3.0], [4.0]], "second": [[3.0]]}
    found = one.found(*given[:3], "place", *given[4:], "other line", violation=False)  # type: ignore[arg-type]
    assert (found.where, found.location, found.violation) == ("place", "other line", False)


def test_an_entry_that_raises_on_both_sides_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*sizes: int) -> Any:
        def function(rows: Any, seed: int) -> float:
            rows += 1
            if len(rows) in sizes:
                raise ValueError(f"of {len(rows)} with {seed}")
            return 0.0

        return function

    with pytest.raises(Fails, match="raises on both sides: ValueError: of 2 with 40"):
        stages.ranked(subject(fails(1, 2)))
    for size in (1, 2):
        one = subject(fails(size))
        stages.ranked(one)
        assert one.pairs[0].first.tolist() == [[1.0], [2.0]]

    def broken(rows: Any, seed: int) -> float:
        raise InvalidParameter("of a package that is built on refdp")

    with pytest.raises(Fails, match="raises on both sides: InvalidParameter: of a package"):
        stages.ranked(subject(broken))
    ticks = iter([3.0, 7.0])
    monkeypatch.setattr(stages, "time", SimpleNamespace(perf_counter=lambda: next(ticks)))
    one = subject()
    stages.ranked(one)
    assert one.seconds == 2.0


@pytest.mark.parametrize(("seconds", "tried"), [(0.39, (1, 2, 3, 4, 5, 6, 7)), (0.4, (1, 2, 3, 4, 7))])
def test_the_most_telling_pairs_come_first(seconds: float, tried: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a slow entry only four and the last are tried; equals stay in order."""
    ticks = iter([0.0, seconds])
    monkeypatch.setattr(stages, "time", SimpleNamespace(perf_counter=lambda: next(ticks)))
    scores = {1.0: 0.25, 2.0: 0.5, 3.0: 0.25, 4.0: 1.0, 5.0: 0.75, 6.0: 0.5, 7.0: 0.3}
    drawn: list[float] = []

    def apart(function: Any, one: Neighbours, generator: np.random.Generator) -> float:
        drawn.append(generator.random())
        return scores[one.first[0, 0]]

    monkeypatch.setattr(stages, "_apart", apart)
    one = subject(pairs=[pair(value, 0.0) for value in scores])
    stages.ranked(one)
    order = [4.0, 5.0, 2.0, 6.0, 7.0, 1.0, 3.0]
    assert [p.first[0, 0] for p in one.pairs] == [value for value in order if value in tried]
    generator = np.random.default_rng(41)
    assert drawn == [generator.random() for _ in tried]


def test_how_far_outputs_lie_apart() -> None:
    """The largest distance of empirical distributions, of any output; other lengths and errors count."""
    generator = np.random.default_rng(3)
    seeds = [int(np.random.default_rng(3).integers(2**31))]
    called: list[int] = []

    def function(rows: Any, seed: int) -> Any:
        called.append(seed)
        rows += 1
        place = len(called) - 1
        return [0.0, float(place % 24 + 6 * (place >= 24))]

    one = pair(1.0, 2.0)
    assert stages._apart(function, one, generator) == pytest.approx(6 / 24)
    assert (
        len(called) == 48 and called[0] == seeds[0] and len(set(called)) == 48 and one.first.tolist() == [[1.0], [2.0]]
    )
    assert called == [int(v) for v in _numbers(48)]
    called.clear()
    down: Any = lambda rows, seed: called.append(seed) or float(len(called) % 24 - 6 * (len(called) > 24))  # noqa: E731
    assert stages._apart(down, one, generator) == pytest.approx(6 / 24)
    assert stages._apart(lambda rows, seed: [1.0] * len(rows), one, generator) == 1.0
    assert stages._apart(lambda rows, seed: math.nan if len(rows) == 1 else 1.0, one, generator) == 1.0

    def raising(error: type[Exception], *sizes: int) -> Any:
        def function(rows: Any, seed: int) -> float:
            if len(rows) in sizes:
                raise error(f"of {len(rows)}" if len(sizes) == 2 else "")
            return 1.0

        return function

    for error in (ValueError, InvalidParameter):
        assert stages._apart(raising(error, 1), one, generator) == 1.0
        assert stages._apart(raising(error, 1, 2), one, generator) == 1.0
    few: Any = lambda rows, seed: "too few" if len(rows) < 2 else 1.0  # noqa: E731
    assert stages._apart(few, one, generator) == 1.0
    assert stages._apart(lambda rows, seed: f"{'few' * len(rows)}", one, generator) == 1.0
    assert stages._apart(lambda rows, seed: None if len(rows) < 2 else "", one, generator) == 1.0
    assert stages._apart(lambda rows, seed: None, one, generator) == 0.0
    assert stages._apart(lambda rows, seed: 5.0, one, generator) == 0.0


def _numbers(count: int) -> list[int]:
    generator = np.random.default_rng(3)
    return [int(generator.integers(2**31)) for _ in range(count)]


# --- Instrumented replay ----------------------------------------------------------------------------------------------


class Report:
    def __init__(self, *violations: Violation, runs: int = 4, calls: int = 9) -> None:
        self.violations, self.runs, self.calls = violations, runs, calls
        self.worst, self.delta = math.inf, 0.25
        self.dice: tuple[str, ...] = ()
        self.sums = (Row("composition", LOOKED, "sum"),)


def violation(kind: str, release: str, **witness: Any) -> Violation:
    return Violation(kind, release, 1.0, math.inf, None, "", witness)


def replayed(
    monkeypatch: pytest.MonkeyPatch, report: Any, blurred: Any = (), doors: Any = ("door",), **changed: Any
) -> Any:
    given: list[Any] = []

    def audit(function: Any, sides: Any, *opened: Any, **named: Any) -> Any:
        np.random.seed(3)  # noqa: NPY002
        given.append((function(sides[0][0]), list(sides), opened, named))
        if isinstance(report, Exception):
            raise report
        return report

    monkeypatch.setattr(stages, "doors", lambda scope: doors)
    monkeypatch.setattr(stages, "rounding", lambda scope: 1e-3)
    monkeypatch.setattr(stages, "audit_opened", audit)
    monkeypatch.setattr(
        stages, "has_other_randomness", lambda scope, function, side, opened: len(side) in blurred and opened == doors
    )
    monkeypatch.setattr(stages, "replace", lambda report, violations: SimpleNamespace(coverage=[
        Row("composition", LOOKED, f"{len(violations)}"), Row("published object", FOUND, "v"),
            Row("releases", LOOKED, "r")]))  # fmt: skip
    monkeypatch.setattr(
        stages, "release_at", lambda release, package: f"at {release} of {package}" if "line" in release else None
    )
    monkeypatch.setattr(stages, "value_arguments", lambda scope, name: [(f"m:{name}", "value"), ("m:b", "other")])
    one = subject(pairs=[pair(1.0, 2.0), pair(5.0, 6.0)], **changed)
    return one, stages.replay(one), given


def test_where_nothing_is_opened_nothing_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    def left(why: str) -> Any:
        return [Row(what, LEFT, why, decides=False) for what in SUBJECTS], {}

    none, uncalled = "no noise function of the package is opened", "none of the opened noise functions was called"
    for changed, doors, report, why in [
        ({"replay": False}, ("door",), Report(), "left out by the file"),
            ({"kind": "command"}, ("door",), Report(), none),
        ({}, (), Report(), none), ({}, ("door",), NothingOpened("x"), uncalled),
            ({}, ("door",), Report(calls=0), uncalled)]:  # fmt: skip
        one, found, given = replayed(monkeypatch, report, doors=doors, **changed)
        assert found == left(why) and one.findings == [] and len(given) == ("called" in why)
    _, (rows, _), _ = replayed(monkeypatch, Report(runs=0, calls=0))
    assert len(rows) == 3


def test_all_pairs_are_replayed_with_seeds_of_numpys_generator(
    monkeypatch: pytest.MonkeyPatch, asked: list[Any]
) -> None:
    one, (rows, figures), given = replayed(monkeypatch, Report())
    drawn = float(np.random.RandomState(3).randint(2**31))
    (seed, sides, opened, named) = given[0]
    assert seed == drawn and sides == [p.sides for p in one.pairs] and opened == ("door",)
    assert named == {
        "epsilon": 1.0,
        "delta": 0.125,
        "relation": Relation.REPLACE_ONE,
        "seed": 40,
        "rounding": 1e-3,
        "last_bits": False,
    }
    assert figures == {"runs": 4, "calls": 9, "loss": finite_or_name(math.inf), "delta": 0.25}
    assert [(row.what, row.verdict, row.reason) for row in rows] == [
        ("composition", LOOKED, "0"), ("published object", FOUND, "v"), ("releases", LOOKED, "r")]  # fmt: skip
    assert "other randomness" not in figures and asked == []


def test_violations_become_findings_with_witnesses(monkeypatch: pytest.MonkeyPatch, asked: list[Any]) -> None:
    report = Report(violation("sensitivity", "add at line 3", pair=1, declared_by="x"),
        violation("result", "returned value['n']", pair=0, first=3, second=4),
                    violation("error", "", detail="d"), violation("budget", "whole run"))  # fmt: skip
    one, (rows, _), _ = replayed(monkeypatch, report, seconds=0.0)
    assert rows[0].reason == "4" and [found.kind for found in one.findings] == [
        "sensitivity",
        "result",
        "error",
        "budget",
    ]
    assert [found.pair for found in one.findings] == ["pair of 5.0", "pair of 1.0", "pair of 1.0", "pair of 1.0"]
    assert [found.where for found in one.findings] == ["add", "returned value['n']", "returned value", "whole run"]
    assert [found.location for found in one.findings] == ["at add at line 3 of tree", "line", "line", "line"]
    assert [found.cause for found in one.findings] == [
        of_replay(kind) for kind in ("sensitivity", "result", "error", "budget")
    ]
    first = one.findings[0].figures
    assert first["declared"] == 1.0 and first["declared_by"] == "x" and "loss" not in first and "pair" not in first
    assert isinstance(first["observed"], str) and {found.witness for found in one.findings} == {"witness of replay"}
    name = "pair of 5.0"
    assert asked[0] == ("replay", [(("watching", "one", name, function, value, 41), ("moved", 1.0, norm))
                                   for function, value in (("m:add", "value"), ("m:b", "other"))
                                       for norm in (1, 2)])  # fmt: skip
    assert asked[1][1] == [
        (("counting", "one", "pair of 1.0", f"v['n'] == {value}", 40), stages.one_sided) for value in (3, 4)
    ]
    assert asked[2][1] == [(("raising", "one", "pair of 1.0", 40), stages.one_sided)] and asked[3][1] == []
    replayed(monkeypatch, Report(violation("error", "")), kind="notebook")
    assert asked[4] == ("replay", [])


@pytest.mark.parametrize("size", [1, 2])
def test_randomness_that_is_not_opened_leaves_results_undecided(
    size: int, monkeypatch: pytest.MonkeyPatch, asked: list[Any]
) -> None:
    """On either side of the first pair."""
    report = Report(violation("result", "x", first=1, second=2), violation("error", ""), violation("budget", "y"))
    one, (rows, figures), _ = replayed(monkeypatch, report, blurred=(size,))
    assert [found.kind for found in one.findings] == ["budget"] and figures["other randomness"] is True
    assert [(row.what, row.verdict) for row in rows] == [
        ("composition", LEFT),
        ("published object", FOUND),
        ("releases", LOOKED),
    ]
    row = Row("published object", LOOKED, "r", "p")
    assert not any(one.decides for one in rows if one.verdict is LEFT)
    left = stages._blurred(row, report.sums)
    assert left.verdict is LEFT and left.what == "published object" and not left.decides


def test_known_losses_above_the_claim_stay_open_beside_randomness_that_is_not_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = Report()
    report.dice = ("result at x",)
    _, (rows, _), _ = replayed(monkeypatch, report)
    assert (rows[0].what, rows[0].verdict, rows[0].decides) == ("composition", LEFT, False)
    report.sums = (Row("composition", LEFT, "adds up to 30"),)
    _, (rows, _), _ = replayed(monkeypatch, report)
    assert (rows[0].verdict, rows[0].decides) == (LEFT, True) and rows[0].reason.startswith("adds up to 30; the result")


def test_pairs_that_raise_on_both_sides_are_not_replayed() -> None:
    """Whatever the class of the error; what only runs with opened noise raise is a fault of the file."""

    def function(rows: Any, seed: int) -> float:
        if rows[0, 0] == 5.0:
            raise InvalidParameter("of a package that is built on refdp")
        return 0.0

    def audit(pairs: Any) -> Any:
        for one in pairs:
            for side in one.sides[:1]:
                function(side, 0)
        return "report"

    def fault(kind: type[Exception]) -> Any:
        def audit(pairs: Any) -> Any:
            raise kind("of the file")

        return audit

    bad, good = pair(5.0, 6.0), pair(1.0, 2.0)
    assert stages._replayed(subject(function, pairs=[good]), audit) == ("report", [good])
    assert stages._replayed(subject(function, pairs=[bad, good]), audit) == ("report", [good])
    with pytest.raises(Fails, match="raises on both sides: InvalidParameter: of a package"):
        stages._replayed(subject(function, pairs=[bad]), audit)
    with pytest.raises(InvalidParameter, match="of the file"):
        stages._replayed(subject(function, pairs=[good]), fault(InvalidParameter))
    with pytest.raises(InvalidParameter, match="of the file"):
        stages._replayed(subject(function, pairs=[bad, good]), fault(InvalidParameter))
    with pytest.raises(Fails, match="KeyError"):
        stages._replayed(subject(function, pairs=[good]), fault(KeyError))
    with pytest.raises(NothingOpened):
        stages._replayed(subject(function, pairs=[bad]), fault(NothingOpened))


# --- Structural checks ------------------------------------------------------------------------------------------------


def inspected(monkeypatch: pytest.MonkeyPatch, found: Any, **changed: Any) -> Any:
    given: list[Any] = []

    def inspect(function: Any, sides: Any, seed: int, **named: Any) -> Any:
        given.append((function(sides[0], np.random.default_rng(6)), sides, seed, named))
        return found

    monkeypatch.setattr(stages.structural, "inspect", inspect)
    monkeypatch.setattr(
        stages,
        "structural_event",
        lambda kind, where, evidence: f"{kind} {where} {evidence}" if where != "none" else "",
    )
    one = subject(pairs=[pair(1.0, 2.0), pair(5.0, 6.0)], **changed)
    return one, stages.structure(one), given


def claim(epsilon: float) -> Claim:
    return Claim("said", "there", "one record", Relation.REPLACE_ONE, epsilon, 0.125)


def test_so_many_calls_as_the_claim_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for epsilon in (0.5, 1.0, 2.5, 4.0, 4.9, 5.2, 6.0):
        calls, few = max(300, needed(epsilon, 1e-15)), epsilon > 5
        calls = 300 if few else calls
        _, found, given = inspected(monkeypatch, [], claim=claim(epsilon), order=True)
        assert found == ([], calls) and len(given) == 1
        assert given[0][0] == float(np.random.default_rng(6).integers(2**31)) and given[0][2] == 40
        asked = {"epsilon": epsilon, "delta": 0.125, "calls": calls, "alarm": 1e-9, "order": True, "few": few}
        assert given[0][3] == asked
    assert inspected(monkeypatch, [], structural=False)[1] == ([], 0)
    monkeypatch.setattr(stages.structural, "needed", lambda *given: 5000)
    assert inspected(monkeypatch, [])[1] == ([], 5000)
    monkeypatch.setattr(stages.structural, "needed", lambda *given: 5001)
    assert inspected(monkeypatch, [])[1] == ([], 300)


def test_structural_findings_have_witnesses(monkeypatch: pytest.MonkeyPatch, asked: list[Any]) -> None:
    found = [StructuralFinding("support", "raises", {"a": 1}, "m"),
        StructuralFinding("precision", "[0]", {"b": 2}, "m"),
             StructuralFinding("support", "none", {}, "m", violation=False)]  # fmt: skip
    one, (plain, calls), given = inspected(monkeypatch, found)
    assert plain == [each.to_dict() for each in found] and calls == 300 and given[0][1][0] is one.pairs[0].first
    told = one.findings
    assert [(f.stage, f.kind, f.where, f.pair, f.violation) for f in told] == [
        ("structural", "support", "raises", "pair of 1.0", True),
            ("structural", "precision", "[0]", "pair of 1.0", True),
        ("structural", "support", "none", "pair of 1.0", False)]  # fmt: skip
    assert [f.cause for f in told] == [of_structure(kind) for kind in ("support", "precision", "support")]
    assert "at most 1e-09" in told[0].evidence and told[2].evidence == "m; no violation by itself"
    assert told[1].figures == {"b": 2} and told[0].witness == "witness of structural"
    assert [tried for _, tried in asked] == [[(("raising", "one", "pair of 1.0", 300), stages.one_sided)],
        [(("counting", "one", "pair of 1.0", "precision [0] {'b': 2}", 2000), stages.one_sided)], []]  # fmt: skip
    asked.clear()
    one, (plain, _), _ = inspected(monkeypatch, found, low_bits=False, kind="notebook")
    assert [each["kind"] for each in plain] == ["support", "support"] and [tried for _, tried in asked] == [[], []]


# --- Black box --------------------------------------------------------------------------------------------------------


def bound_of(
    monkeypatch: pytest.MonkeyPatch, refuted: bool, curve: bool, event: str = "e", bits: bool = False, **changed: Any
) -> Any:
    given: list[Any] = []
    bound = SimpleNamespace(refuted=refuted, pair=1, event=event, counts=(9, 2), tested=changed.pop("tested", 500),
        lower=1.23456789,
                            words="output", test="test", samples=700)  # fmt: skip

    def made(sources: Any, delta: float, **named: Any) -> Any:
        given.append((sources, delta, named))
        return bound

    monkeypatch.setattr(stages, "bound_from", made)
    monkeypatch.setattr(stages, "by_last_bits", lambda one: bits)
    monkeypatch.setattr(stages, "blackbox_event", lambda event: event)
    monkeypatch.setattr(
        stages, "_curve", lambda source, one, entry: given.append((source, one is bound, entry.name)) or "svg"
    )
    one = subject(pairs=[pair(1.0, 2.0), pair(5.0, 6.0), pair(7.0, 8.0)], **changed)
    return one, stages.black_box(one, curve), given, bound


def test_two_pairs_are_sampled(monkeypatch: pytest.MonkeyPatch, asked: list[Any]) -> None:
    one, found, given, bound = bound_of(monkeypatch, False, False, low_bits=False, samples=900)
    assert found is bound and one.findings == [] and one.svg == "" and len(given) == 1
    sources, delta, named = given[0]
    assert [(s.mechanism is one.function, s.pair.first.tolist(), s.pair.second.tolist(), s.seed, s.size)
        for s in sources] == [
        (True, [[1.0], [2.0]], [[1.0]], 47, 500), (True, [[5.0], [6.0]], [[5.0]], 48, 500)]  # fmt: skip
    assert delta == 0.125 and named == {"claimed": 1.0, "confidence": 1 - 1e-9, "samples": 900, "low_bits": False,
                                       "without": frozenset()}  # fmt: skip
    one, found, given, bound = bound_of(monkeypatch, False, True)
    assert one.svg == "svg" and given[1] == (given[0][0][1], True, "one")
    assert bound_of(monkeypatch, True, True, samples=0)[1:3] == (None, [])


def test_a_refuted_claim_is_a_finding(monkeypatch: pytest.MonkeyPatch, asked: list[Any]) -> None:
    one, *_ = bound_of(monkeypatch, True, False)
    (found,) = one.findings
    assert (found.stage, found.cause, found.kind, found.where, found.pair, found.witness) == (
        "black box", EPSILON, "epsilon", "returned value", "pair of 5.0", "witness of black box")  # fmt: skip
    assert found.figures == {"epsilon at least": 1.234568, "event": "output", "counts": [9, 2], "runs a side": 500}
    assert "at most 1e-09 (test)" in found.evidence
    assert asked == [("black box", [(("counting", "one", "pair of 5.0", "e", 500), ("likelier", 1.0, 0.125))])]
    bits: Any = {"bits": True, "event": "log2 of the lowest set bit of output 12 == -53"}
    (found,) = bound_of(monkeypatch, True, False, **bits)[0].findings
    assert (found.cause, found.where) == (BITS, "returned value")
    for event in ("decimals of output 12 >= 7", "significant digits of output 12", "denominator of output 12 == 3"):
        (found,) = bound_of(monkeypatch, True, False, **bits | {"event": event})[0].findings
        assert (found.cause, found.where) == (ROUNDING, "output 12")
    for changed, tried in [({"event": ""}, 0), ({"kind": "notebook"}, 0), ({}, 1)]:
        asked.clear()
        bound_of(monkeypatch, True, False, **changed)  # type: ignore[arg-type]
        assert len(asked[0][1]) == tried
    for tested, runs in [(199, 200), (200, 200), (201, 201)]:
        asked.clear()
        bound_of(monkeypatch, True, False, tested=tested)
        assert asked[0][1][0][0][-1] == runs


def test_the_curve_of_a_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setattr("refdp.audit.tradeoff.curve_from", lambda *one, **named: given.append((one, named)) or "curve")
    monkeypatch.setattr("refdp.audit.page.curve_figure", lambda *one: given.append(one) or SimpleNamespace(svg="<svg>"))
    monkeypatch.setattr("refdp.audit.page.drawn", lambda figures: (figures() * 2, "why"))
    entry = subject(samples=4000, low_bits=False).entry
    assert len(stages.looks(4000, 1.0)) > 1
    source: Any = SimpleNamespace(upto=lambda count: (f"first {count}", f"second {count}"))
    assert stages._curve(source, SimpleNamespace(samples=77), entry) == "<svg><svg>"  # type: ignore[arg-type]
    share = 0.01 / len(stages.looks(4000, 1.0))
    assert given == [(("first 77", "second 77", 1 - share), {"low_bits": False}), ("curve", 1.0, 0.125)]


def test_rows_of_structural_checks_and_black_box(monkeypatch: pytest.MonkeyPatch) -> None:
    one = subject(pairs=[pair(1.0, 2.0), pair(5.0, 6.0, 7.0), pair(1.0)], low_bits=False)
    monkeypatch.setattr(stages, "coverage", lambda *given: given)
    bound: Any = object()
    assert stages.outside_rows(one, bound, [], 9) == [bound, [], stages.Looked((2, 1, 3, 2), 9, False, 2)]
    assert stages.outside_rows(subject(), bound, [], 9)[2] == stages.Looked((2, 1), 9, True, 1)
    found = [{"violation": True, "kind": "k", "meaning": "m"}, {"violation": False, "kind": "n", "meaning": "m"}]
    rows = stages.outside_rows(one, None, found, 9)
    assert rows[0] == Row("published object", FOUND, "k: m")
    counted = stages.outside_rows(one, None, found, 9, [Row("composition", LOOKED, "r"), Row("releases", LEFT, "x")])
    assert [row.decides for row in rows if row.what == "composition"] == [True]
    assert not any(row.decides for row in counted[1:])
    assert [(row.what, row.verdict, row.decides) for row in rows[1:]] == [
        (what, LEFT, what == "composition") for what in SUBJECTS
    ]


def test_accepted_last_bits_do_not_end_the_black_box(asked: list[Any]) -> None:
    """It goes on without them, and finds noise that is too little; else losses stay open."""

    def noisy(rows: Any, seed: int) -> float:
        return len(rows) + float(np.random.default_rng(seed).laplace(0, 0.5))

    given: Any = {"pairs": [pair(1.0)], "samples": 2_000, "claim": replace(CLAIM, delta=0.0)}
    one = subject(noisy, **given)
    one.location = Location("p", 1, "", "")
    bound = stages.black_box(one, False)
    assert [found.cause for found in one.findings] == [BITS] and one.digits == []
    told = {row.what: row for row in stages.outside_rows(one, bound, [], 0)}
    assert told["composition"].verdict is LEFT and not told["composition"].decides
    again = subject(noisy, **given)
    again.location, again.known = one.location, {one.findings[0].id: "known"}
    bound = stages.black_box(again, False)
    assert [found.cause for found in again.findings] == [BITS, EPSILON] and len(again.digits) == 1
    told = {row.what: row for row in stages.outside_rows(again, bound, [], 0)}
    assert told["composition"].verdict is FOUND and told["floating point"].verdict is FOUND
    honest = subject(lambda rows, seed: len(rows) + float(np.random.default_rng(seed).laplace(0, 1)), **given)
    honest.location, honest.known = again.location, again.known
    bound = stages.black_box(honest, False)
    assert bound is not None and not bound.refuted and [found.cause for found in honest.findings] == [BITS]
    told = {row.what: row for row in stages.outside_rows(honest, bound, [], 0)}
    assert told["composition"].verdict is LOOKED and told["floating point"].verdict is FOUND


def test_accepted_last_bits_do_not_accept_how_data_round(asked: list[Any]) -> None:
    """Decimals that follow the number of records are another finding, of each output; and theirs leaves others."""

    def noisy(rows: Any, seed: int) -> list[float]:
        generator = np.random.default_rng(seed)
        rounded = [round(float(generator.normal()), 6 + len(rows) % 2) for _ in range(2)]
        return [len(rows) + float(generator.laplace(0, 1)), *rounded]

    known: dict[str, str] = {}
    found = []
    for _ in range(4):
        one = subject(noisy, pairs=[pair(1.0)], samples=2_000, claim=replace(CLAIM, delta=0.0))
        one.location, one.known = Location("p", 1, "", ""), known
        bound = stages.black_box(one, False)
        assert bound is not None
        found = [(finding.cause, finding.where) for finding in one.findings]
        told = {row.what: row for row in stages.outside_rows(one, bound, [], 0)}
        assert told["floating point"].verdict is FOUND
        assert told["composition"].verdict is (LEFT if bound.refuted else LOOKED)
        if not bound.refuted:
            break
        known = known | {one.findings[-1].id: "known"}
    parts = {(BITS, "returned value"), (ROUNDING, "output 1"), (ROUNDING, "output 2")}
    assert {*found} <= parts and {*found} >= parts - {(BITS, "returned value")} and len({*known}) == len(found)
    alone = subject(noisy, pairs=[pair(1.0)], samples=2_000, claim=replace(CLAIM, delta=0.0))
    alone.location = Location("p", 1, "", "")
    bits = alone.found("black box", BITS, "epsilon", "", pair(1.0), "", {}, Witness("", False, False)).id
    alone.known = {bits: "known"}
    stages.black_box(alone, False)
    assert alone.findings[-1].cause is ROUNDING and alone.findings[-1].id not in alone.known
