"""The search over contents: crowds, changes of what moves a release most, and lines that no run reached."""

from __future__ import annotations

import time
import zlib
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refdp
from refdp.audit.crowds import alone, crowds, mutated
from refdp.audit.inputs import MOST_COMBINED, combined
from refdp.audit.isolated import CAN_FORK
from refdp.audit.reached import beginning, fixed, followed, own_code
from refdp.audit.unreached import unreached
from refdp.audit.verdicts import Row, Verdict
from refdp.noise.mechanisms import Exponential, Laplace
from refdp.privacy.events import Relation
from tests.audit.cheats.__main__ import CHEATS, CORRECT
from tests.audit.cheats.contents import CONTENTS, gains
from tests.audit.cheats.drawn import DRAWN
from tests.audit.cheats.eighth import EIGHTH, HIDDEN
from tests.audit.cheats.eighth import PASSED as PASSED_EIGHTH
from tests.audit.cheats.fifth import FIFTH, UNEXAMINED
from tests.audit.cheats.fourth import FOURTH, PASSED, STRANGE
from tests.audit.cheats.sixth import BEYOND, SIXTH
from tests.audit.cheats.suspicious import SUSPICIOUS
from tests.audit.cheats.third import MISSED, THIRD, UNREADABLE
from tests.audit.cheats.zoo import SCHEMA, count, declared
from tests.thinned import thinned

needs_fork = pytest.mark.skipif(not CAN_FORK, reason="runs have processes of their own by fork")


def row(report: Any, what: str) -> Row:
    return next(one for one in report.coverage if one.what == what)


@needs_fork
@pytest.mark.parametrize("relation", thinned(Relation))
def test_a_split_by_lemma_1_is_refused(relation: Relation) -> None:
    cheat = CONTENTS["split_by_lemma_1"]
    blind = refdp.grade(cheat.train, SCHEMA, 1.0, relation, pairs=8, steps=0)
    assert relation is Relation.REPLACE_ONE or not blind.report.violations
    found = refdp.grade(cheat.train, SCHEMA, 1.0, relation, pairs=8, first_only=True)
    assert not found.passed and "release 'split' changes by" in found.text
    named = {(one.kind, one.release, one.claim) for one in found.report.violations}
    assert ("sensitivity", "split", "dpboost/lemma-1") in named


def test_a_crowd_comes_near_the_limit_of_the_gain() -> None:
    first = next(iter(crowds(SCHEMA, Relation.ADD_REMOVE)))
    change = gains(first.first(), 3) - gains(first.second(), 3)
    assert np.min(change) == pytest.approx(-2.60369, abs=1e-4)  # the witness of dpboost/lemma-1
    assert np.ptp(change) == pytest.approx(2.60369 + 1 / 1.1, abs=1e-4)  # where a cut parts them it gains


@pytest.mark.parametrize("relation", list(Relation))
def test_changed_pairs_are_neighbours_within_the_schema(relation: Relation) -> None:
    generator = np.random.default_rng(5)
    assert alone(SCHEMA, relation).base.size == alone(SCHEMA, relation).position == 0
    for pair in islice(crowds(SCHEMA, relation), 40):
        for _ in range(20):
            pair = mutated(pair, generator, (0.25, 7.0), 300)
        assert pair.base.size <= 310 and 0 <= pair.position <= pair.base.size
        assert (pair.old is None) == (relation is Relation.ADD_REMOVE)
        assert pair.first().size - pair.second().size == (relation is Relation.ADD_REMOVE)
        assert np.all(np.abs(pair.first().y) <= 1) and np.all(np.nan_to_num(pair.first().x[:, 0]) <= 1)


@needs_fork
def test_new_lines_lead_to_hidden_branches() -> None:
    cheat = CONTENTS["looks_at_a_full_house"]
    plain: dict[str, Any] = {"pairs": 8, "counts": (1,), "first_only": True}
    found = refdp.audit_trainer(cheat.train, SCHEMA, 1.0, steps=120, **plain)
    assert found.verdict is Verdict.VIOLATION
    assert not refdp.audit_trainer(cheat.train, SCHEMA, 1.0, steps=0, **plain).violations


@needs_fork
def test_what_no_run_reached_is_not_examined() -> None:
    report = refdp.audit_trainer(CONTENTS["never_reached"].train, SCHEMA, 1.0, pairs=6, steps=24)
    told = row(report, "control flow")
    assert not report.ok and told.verdict is Verdict.NOT_EXAMINED
    assert "never run, behind a condition on records: contents.py:" in told.reason


@needs_fork
@pytest.mark.parametrize("name", [*MISSED, *UNREADABLE, "capped_product"])
def test_cheats_of_the_third_list_are_violations(name: str) -> None:
    cheat = THIRD[name]
    report = refdp.audit_trainer(cheat.train, SCHEMA, cheat.epsilon, cheat.delta, pairs=4, steps=60, first_only=True)
    assert report.verdict is Verdict.VIOLATION


@needs_fork
@pytest.mark.parametrize("name", [*PASSED, "note_on_an_error", "noise_turned_over"])
def test_cheats_of_the_fourth_list_are_violations(name: str) -> None:
    cheat = FOURTH[name]
    search: dict[str, Any] = {} if cheat.kind == "noise law" else {"first_only": True}
    report = refdp.audit_trainer(cheat.train, SCHEMA, cheat.epsilon, pairs=6, steps=0, **search)
    assert report.verdict is Verdict.VIOLATION
    assert {violation.kind for violation in report.violations} == {cheat.kind}


def compressed(records: Any, curator: Any) -> Any:
    """A compressor that was fed with the labels: what it keeps has no way out but to go on compressing."""
    held = zlib.compressobj()
    held.compress(records.y.tobytes())
    return count(records, curator), held


@needs_fork
def test_what_cannot_be_read_is_not_examined() -> None:
    report = refdp.audit_trainer(compressed, SCHEMA, 1.0, pairs=2, steps=0)
    told = row(report, "published object")
    assert told.verdict is Verdict.NOT_EXAMINED and "cannot be read from outside" in told.reason


CHEAP = ("farewell", "niceness")
SHORT: dict[str, Any] = {"pairs": 6, "steps": 6, "counts": (3, 19, 50), "first_only": True}


@needs_fork
@pytest.mark.parametrize("name", [
    name if name in CHEAP else pytest.param(name, marks=pytest.mark.statistics)
    for name in FIFTH if name not in UNEXAMINED
])  # fmt: skip
def test_cheats_of_kinds_of_their_own_are_violations(name: str) -> None:
    report = refdp.audit_trainer(FIFTH[name].train, SCHEMA, FIFTH[name].epsilon, **SHORT)
    assert report.verdict is Verdict.VIOLATION


@needs_fork
@pytest.mark.statistics
@pytest.mark.parametrize("name", [*UNEXAMINED, *STRANGE])
def test_what_no_run_can_show_is_not_examined(name: str) -> None:
    cheat = (FOURTH | FIFTH)[name]
    report = refdp.audit_trainer(cheat.train, SCHEMA, cheat.epsilon, **SHORT)
    reasons = [one.reason for one in report.coverage if one.verdict is Verdict.NOT_EXAMINED and one.decides]
    assert any((UNEXAMINED | STRANGE)[name] in reason for reason in reasons) and report.violations == ()


@needs_fork
@pytest.mark.parametrize("name", list(SIXTH))
def test_what_leaves_past_the_curator_is_a_violation_or_not_examined(name: str) -> None:
    report = refdp.audit_trainer(SIXTH[name].train, SCHEMA, 1.0, pairs=2, steps=0, first_only=True)
    reason = row(report, "published object").reason
    if name in BEYOND:
        assert report.verdict is Verdict.NOT_EXAMINED and BEYOND[name] in reason
    else:
        assert report.verdict is Verdict.VIOLATION


SMALL: dict[str, Any] = {"pairs": 12, "steps": 0, "counts": (1, 255), "first_only": True}
SEARCHED_EIGHTH: dict[str, dict[str, Any]] = {
    "window_without_a_branch": {"pairs": 1, "steps": 96, "first_only": True},
    "centred_by_the_mean": {"pairs": 30, "steps": 24, "first_only": True},
    "wraps_around": {"pairs": 32, "steps": 0, "counts": (1, 255), "first_only": True},
    "until_it_fits": {"pairs": 8, "steps": 24, "first_only": True},
}


@needs_fork
@pytest.mark.parametrize("name", [
    name if name in (*PASSED_EIGHTH, *HIDDEN) else pytest.param(name, marks=pytest.mark.statistics) for name in EIGHTH
])  # fmt: skip
def test_cheats_of_the_eighth_list_are_violations(name: str) -> None:
    cheat = EIGHTH[name]
    report = refdp.audit_trainer(cheat.train, SCHEMA, cheat.epsilon, **SEARCHED_EIGHTH.get(name, SMALL))
    assert report.verdict is Verdict.VIOLATION


@needs_fork
@pytest.mark.parametrize("name", SUSPICIOUS)
def test_what_only_looks_like_a_cheat_is_not_accused(name: str) -> None:
    report = refdp.audit_trainer(SUSPICIOUS[name].train, SCHEMA, 1.0, pairs=8, steps=8)
    assert report.violations == () and report.pairs >= 8


def colours(records: Any, curator: Any, options: Any) -> Any:
    """A choice among what is listed, by how many records have it."""
    table = np.array([[np.sum(records.x[:, 1] == option) for option in options[:, 0]]], dtype=np.float64)
    return curator.release("colour", Exponential(1.0), table, sensitivity=declared(1.0, "range"), options=options)


@needs_fork
def test_other_candidates_are_accused_in_any_order() -> None:
    def by_frequency(records: Any, curator: Any) -> Any:
        seen, times = np.unique(records.x[:, 1], return_counts=True)
        return colours(records, curator, np.append(seen[np.argsort(times)], 9.0)[:, np.newaxis])

    report = refdp.audit_trainer(by_frequency, SCHEMA, 1.0, pairs=8, steps=0, counts=(1,))
    assert "options" in {violation.kind for violation in report.violations}


@needs_fork
def test_utilities_that_do_not_move_with_their_candidates_are_accused() -> None:
    def crossed(records: Any, curator: Any) -> Any:
        """The order of candidates depends on records, that of utilities does not."""
        options = np.arange(3.0)[:, np.newaxis]
        table = np.array([[0.0, 5.0, 10.0]])
        options = options[::-1] if len(records.y) % 2 else options
        return curator.release("colour", Exponential(1.0), table, sensitivity=declared(1.0, "range"), options=options)

    report = refdp.audit_trainer(crossed, SCHEMA, 1.0, pairs=4, steps=0)
    assert {"sensitivity", "loss"} <= {violation.kind for violation in report.violations}


def test_records_of_hints_try_every_combination() -> None:
    made = list(combined(SCHEMA, Relation.ADD_REMOVE, 0, (0.4, 0.25, 7.0)))
    rows = {(*pair.new.x[0], pair.new.y[0]) for pair in made}
    assert rows == set(product((0.25, 0.4), (0.0, 1.0, 2.0), (-0.4, -0.25, 0.25, 0.4))) and len(made) == len(rows)
    assert list(combined(SCHEMA, Relation.ADD_REMOVE, 0, (7.0,))) == []
    assert len(list(combined(SCHEMA, Relation.ADD_REMOVE, 0, tuple(np.linspace(0.1, 0.9, 20))))) == MOST_COMBINED


def led(train: Any) -> list[tuple[str, str]]:
    """What one run of a trainer left out, in this file."""
    lines = set[tuple[str, int]]()
    pair = next(iter(crowds(SCHEMA, Relation.ADD_REMOVE)))

    class Curator:
        relation = Relation.ADD_REMOVE

        def release(self, *arguments: Any, **named: Any) -> Any:
            return np.zeros(1)

    with followed(own_code(train), lines):
        train(pair.base, Curator())
    assert {Path(file).name for file, _ in lines} == {"test_steered.py", "zoo.py"}
    found = unreached(lines, beginning(train), fixed(train))
    return [one for one in found if one[0].startswith("test_steered")]


def by_the_clock(records: Any, curator: Any) -> Any:
    """Each way in which code that no run reaches can be led to, but by records."""
    noisy = count(records, curator)
    now = time.time()
    if now < 0:
        return len(records.y)
    if np.random.default_rng(1).random() > 2:
        noisy = 0.0
    if noisy > 1e9:
        return noisy
    if curator.relation is Relation.REPLACE_ONE:
        return 0.0
    return noisy if now > 0 else len(records.y)


def test_what_leads_to_code_that_never_ran() -> None:
    found = led(by_the_clock)
    assert [by for _, by in found] == ["surroundings", "surroundings", "outputs", "", "surroundings"]


@needs_fork
@pytest.mark.parametrize("name", ["foreign 1: quantile", "foreign 4: stops_by_noise", "fedgbdt of 2"])
def test_correct_trainers_are_not_accused(name: str) -> None:
    honest = DRAWN[name]
    report = refdp.audit_trainer(honest.train, SCHEMA, honest.epsilon, honest.delta, pairs=2, steps=12)
    assert report.violations == ()


def test_the_zoo_is_as_large_as_its_page_says() -> None:
    assert len(CHEATS) >= 60 and len({cheat.kind for cheat in CHEATS.values()}) >= 12 and len(CORRECT) >= 60


def guarded(records: Any, curator: Any) -> Any:
    """Every branch on records is taken by some pair; the other depends on the neighbours alone."""
    exact = float(len(records.y))
    if curator.relation is Relation.REPLACE_ONE:
        return exact
    if exact > 10:
        exact = float(np.rint(exact))
    noisy = curator.release("n", Laplace(1.0), np.array([exact]), sensitivity=declared(1.0))
    return max(float(noisy[0]), 0.0)


@needs_fork
def test_an_honest_trainer_with_branches_is_not_accused() -> None:
    report = refdp.audit_trainer(guarded, SCHEMA, 1.0, pairs=6, counts=(3, 49), steps=24)
    told = row(report, "control flow")
    assert report.violations == () and told.verdict is Verdict.NOT_FOUND
    assert "lines run or not depending on a record" in told.reason
    assert "behind a condition that names nothing private: test_steered.py:" in told.reason


def test_a_condition_on_a_local_name_settles_nothing() -> None:
    import ast

    from refdp.audit.unreached import _is_settled

    condition = ast.parse("not many and flag", mode="eval").body
    assert not _is_settled(condition, {"flag": True}) and _is_settled(condition, {"flag": False})


def settled(least: float | None) -> Any:
    def train(records: Any, curator: Any) -> Any:
        if least is not None and np.min(records.y) < least:
            return least
        return count(records, curator)

    return train


@pytest.mark.parametrize(("least", "by_what"), [(None, ""), (-9.0, "records")])
def test_a_condition_that_is_settled_outside_leads_nowhere(least: float | None, by_what: str) -> None:
    assert [by for _, by in led(settled(least))] == [by_what]
