"""Rows of a trainer's coverage table: which are written for what an audit saw, one thing changed at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refdp.audit import noise_law, noise_shape, slots, trainer_rows
from refdp.audit.adaptive_runs import described
from refdp.audit.charge import Cost
from refdp.audit.declared_filter import Filter, Spent, established
from refdp.audit.leaving import Leaving
from refdp.audit.replay import SLACK, Violation
from refdp.audit.search import Notes
from refdp.audit.steered import Steered
from refdp.audit.verdicts import Row, Verdict
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.events import Plan, Relation, Release, Sensitivity, Sequential, Subsample

FOUND, LOOKED, LEFT = Verdict.VIOLATION, Verdict.NOT_FOUND, Verdict.NOT_EXAMINED
ADD = Relation.ADD_REMOVE


def released(name: str, scale: float) -> Release:
    return Release(name, Laplace(scale), Sensitivity(1.0, 1, "test", ADD))


def normal(sd: float) -> Release:
    return Release("normal", Gaussian(sd), Sensitivity(1.0, 2, "test", ADD))


def seen(**changed: Any) -> Notes:
    """An audit without anything to tell."""
    plain: dict[str, Any] = {
        "pairs": 5, "sides": {True, False}, "sizes": {3, 50}, "releases": 7, "events": [released("a", 2.0)],
        "scoped": True, "single": 4, "discrete": 3, "worst": [0.25, 0.5], "state": True,
        "bet": noise_law.Bet(np.zeros(len(noise_law.SMALLER)), 1000), "shaped": 5000,
    }  # fmt: skip
    return Notes(**{**plain, **changed})


def rows(notes: Notes, found: Any = (), epsilon: float = 1.0, delta: float = 0.0, **named: Any) -> list[Row]:
    return list(trainer_rows.rows(notes, tuple(found), epsilon, delta, ADD, **named))


def short(told: list[Row]) -> list[tuple[str, Verdict]]:
    return [(row.what, row.verdict) for row in told]


PLAIN = [("releases", LOOKED), ("control flow", LOOKED), ("published object", LOOKED), ("side channels", LOOKED),
         ("state between calls", LOOKED), ("scopes", LOOKED), ("secret randomness", LOOKED),
         ("noise law and scale", LOOKED), ("sampler", LOOKED), ("composition", LOOKED), ("record counts", LOOKED),
         ("both directions", LOOKED), ("floating point", LOOKED), ("time", LEFT)]  # fmt: skip


def test_an_audit_that_looked_at_everything() -> None:
    told = rows(seen())
    assert short(told) == PLAIN
    assert [row.what for row in told if not row.decides] == ["floating point", "time"]
    powers = {row.what: row.power for row in told}
    assert all(powers[what] for what, _ in PLAIN if what not in ("time", "both directions"))
    said = {row.what: row.reason for row in told}
    assert said["releases"].startswith("7 releases recorded, 5 pairs replayed") and f"{SLACK:g}" in powers["releases"]
    assert "4 replays" in said["scopes"] and said["noise law and scale"].startswith("1000 draws")
    assert said["composition"] == "greatest loss over all outputs along recorded runs 0.5 of 1"
    assert powers["composition"] == "any loss above 1 along a recorded run"
    share, distance = noise_law.smallest(1000, 8), noise_shape.smallest(5000, 192)
    assert f"{100 * share:.2g}% too small (95%)" in powers["noise law and scale"]
    assert f"{distance:.2g} off (95%)" in powers["noise law and scale"]


@pytest.mark.parametrize(("changed", "replaced", "words"), [
    ({"releases": 0}, {}, "nothing was released through the curator"),
    ({"raised": 5}, {"published object": [LEFT, LOOKED]}, "every run ended with an error"),
    ({"raised": 4}, {}, ""), ({"raised": 6}, {}, ""),
    ({"state": False}, {"state between calls": [LEFT]}, "no run after another one"),
    ({"state": True, "later": {"result"}}, {"state between calls": [LEFT]}, "only first runs were examined"),
    ({"scoped": False, "single": 0}, {}, "no recorded run asked for secret randomness"),
    ({"single": 0}, {"scopes": [LEFT], "secret randomness": [LEFT]}, "with the record in one block alone"),
    ({"bet": None}, {"noise law and scale": [LEFT], "sampler": [LEFT]}, "no noise was drawn in a run that ended"),
    ({"bet": noise_law.Bet()}, {"noise law and scale": [LEFT], "sampler": [LEFT]}, "no noise was drawn in a run"),
    ({"bet": None, "releases": 0}, {}, "there is no release, hence no noise"),
    ({"sizes": {49}}, {"record counts": [LEFT]}, "1 numbers of records from 49 to 49: none from 50 on"),
    ({"sides": {True}}, {"both directions": [LEFT]}, "recorded on one side only"),
    ({"floating": 1}, {"floating point": [LEFT]}, "(Mironov 2012)"),
    ({"discrete": 0}, {"floating point": [LEFT]}, "(Mironov 2012)"),
    ({"off_grid": {"d", "b", "c", "a"}}, {"floating point": [LEFT]}, "public grid of their mechanism: a, b, c"),
    ({"worst": []}, {}, "recorded runs 0 of 1"),
    ({"worst": [0.5, 1.5, 0.25]}, {"composition": [LEFT]},
        "add up to 1.5, an upper end: no outputs tried attain more than 1"),
    ({"worst": [1 + 1.9e-9]}, {}, "1 of 1"), ({"worst": [1 + 2.1e-9]}, {"composition": [LEFT]}, "add up to 1,"),
    ({"again": 3}, {}, described(3, 0)), ({"alike": 30}, {}, described(0, 30)),
    ({"undecided": {"what"}}, {"releases": [LEFT, LOOKED]}, "what"),
    ({"failed": {"why"}}, {"control flow": [LEFT, LOOKED]}, "why"),
    ({"opaque": {"here", "a"}}, {"published object": [LEFT, LEFT, LOOKED]}, "a cannot be read from outside"),
])  # fmt: skip
def test_one_thing_that_was_not_looked_at(changed: Any, replaced: Any, words: str) -> None:
    told = rows(seen(**changed))
    expected: list[tuple[str, Verdict]] = []
    for what, verdict in PLAIN:
        expected += [(what, one) for one in replaced.get(what, [verdict])]
    early = {"undecided", "raised", "failed"} & changed.keys()
    assert (sorted(short(told)) == sorted(expected)) if early else (short(told) == expected)
    assert any(words in row.reason for row in told)
    assert [row.what for row in told if not row.decides] == ["floating point", "time"]


def test_how_small_a_fault_of_noise_would_have_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight kinds of mechanism, each at 24 values at most."""
    asked: list[Any] = []
    monkeypatch.setattr(trainer_rows, "smallest", lambda *given: asked.append(given) or 0.5)
    monkeypatch.setattr(trainer_rows.noise_shape, "smallest", lambda *given: asked.append(given) or 0.25)
    powers = [row.power for row in rows(seen()) if row.what == "noise law and scale"]
    assert asked == [(1000, 8), (5000, 192)] and "all scales 50% too small" in powers[0] and "0.25 off" in powers[0]


def test_violations_belong_to_rows_of_their_kind() -> None:
    """What no row is of parts the runs; where a composition is refuted nothing else is said of it."""
    assert set(trainer_rows.SUBJECT.values()) <= {what for what, _ in PLAIN}
    for kind, what in [*trainer_rows.SUBJECT.items(), ("options", "control flow")]:
        told = rows(seen(), [Violation(kind, "leaf", 1.0, 2.0, None, "", {})])
        assert told[0] == Row(what, FOUND, f"{kind} at leaf")
        assert short(told[1:]) == [one for one in PLAIN if what != "composition" or one[0] != "composition"]
    assert rows(seen(), [Violation("model", "", None, None, None, "", {})])[0].reason == "model at the returned value"


def test_what_is_told_before_all_else() -> None:
    told = rows(seen(unknown={"z", "y"}, random={"os", "a"}, rearranged=2))
    assert [(row.what, row.verdict, row.reason) for row in told[:7]] == [
        ("noise law and scale", LEFT, "no law is known of y"), ("composition", LEFT, "no loss can be stated of y"),
        ("noise law and scale", LEFT, "no law is known of z"), ("composition", LEFT, "no loss can be stated of z"),
        ("published object", LEFT, "randomness that is not the curator's: a, os"),
        ("scopes", LEFT, f"{slots.REASON} (2 pairs)"), ("secret randomness", LEFT,
            f"{slots.REASON} (2 pairs)")]  # fmt: skip
    assert short(told[7:]) == PLAIN


def test_without_a_pair_nothing_was_examined() -> None:
    five = ["releases", "composition", "control flow", "published object", "side channels"]
    for failed, reason in [({"b", "a"}, "a; b"), (set(), "no pair of runs could be compared")]:
        assert rows(seen(pairs=0, failed=failed)) == [Row(what, LEFT, reason) for what in five]


@pytest.mark.parametrize(("upper", "verdict"), [(0.5e-5, LOOKED), (1e-5 * (1 + 0.9e-9), LOOKED), (1e-5 * (1 + 1.1e-9),
    LEFT),
                                                (None, LOOKED)])  # fmt: skip
def test_compositions_with_a_delta(upper: Any, verdict: Verdict) -> None:
    costs = [] if upper is None else [Cost(0.0, 0.0), Cost(0.0, upper), Cost(0.0, 1e-7)]
    told = [row for row in rows(seen(costs=costs, worst=[99.0]), delta=1e-5) if row.what == "composition"]
    assert [row.verdict for row in told] == [verdict]
    assert f"is at most {upper or 0.0:.3g}" in told[0].reason and bool(told[0].power) == (verdict is LOOKED)


def leaving(returned: int = 0) -> Leaving:
    from refdp.audit.charge import Item

    item = Item(Laplace(1.0), np.ones(1), np.zeros(1))
    return Leaving(3, returned, [(1.0, [item, item]), (0.5, [item])])


@pytest.mark.parametrize("covered", [True, False])
def test_what_was_declared_is_held_against_the_claim(covered: bool) -> None:
    """Two releases of 1 each, more than a claim of 1.5; a certificate says otherwise."""
    events = [released("a", 4.0), Sequential((released("a", 1.0), released("b", 1.0)))]
    for left, words in [(Leaving(), "and no pair tried shows as much"), (leaving(1), "and no pair tried shows as much"),
                        (leaving(), "3 audited records took no part any more")]:  # fmt: skip
        told = [
            row
            for row in rows(seen(events=events, leaving=left), epsilon=1.5, covered=covered)
            if row.what == "composition"
        ]
        assert [row.verdict for row in told] == ([LOOKED] if covered else [LEFT, LOOKED])
        if not covered:
            assert told[0].reason.startswith("what was declared composes to epsilon 2 at delta 0, above the claim 1.5")
            assert words in told[0].reason
            assert "took no part" not in words or "1 of the 2 with most to spend" in told[0].reason
    for epsilon, verdicts in [(2.0, [LOOKED]), (2 * (1 - 0.9e-9), [LOOKED]), (2 * (1 - 1.1e-9), [LEFT, LOOKED])]:
        told = [row for row in rows(seen(events=events), epsilon=epsilon) if row.what == "composition"]
        assert [row.verdict for row in told] == verdicts


def test_what_cannot_be_accounted_for_is_said() -> None:
    told = [
        row
        for row in rows(seen(events=[normal(1.0), released("a", 1.0)]), delta=1e-5, epsilon=9.0)
        if row.what == "composition"
    ]
    assert [row.verdict for row in told] == [LOOKED]
    broken: Any = [released("a", 1.0), object()]
    told = [row for row in rows(seen(events=broken)) if row.what == "composition"]
    assert [(row.verdict, row.reason) for row in told] == [(LEFT, "what was declared cannot be accounted for"),
                                                           (LOOKED, told[1].reason)]  # fmt: skip


def test_only_the_first_events_that_differ_are_accounted_for() -> None:
    events = [released(name, 1.0) for name in "aabcadbef"]
    assert trainer_rows._distinct(list(events)) == [events[0], events[2], events[3], events[5]]
    assert trainer_rows._distinct([]) == []


def test_the_greatest_declared_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """By quick methods, and where those lie between the claim and three times as much by all."""
    asked: list[Any] = []
    costs = {"a": (1.0, 0.5), "b": (3.0, 2.5), "c": (1.0 + 2e-9, 0.75), "d": (2.999, 0.875)}

    def accounted(plan: Plan, *, delta: float, quick: bool = False, both: Any = None) -> Any:
        name = plan.event.name  # type: ignore[union-attr]
        asked.append((name, delta, quick, both))
        if name == "e":
            raise error
        return type("Bound", (), {"epsilon": costs[name][not quick]})()

    monkeypatch.setattr(trainer_rows, "account", accounted)
    for names, worst in [
        ("a", 1.0),
        ("b", 3.0),
        ("c", 0.75),
        ("d", 0.875),
        ("ac", 1.0),
        ("ba", 3.0),
        ("cd", 0.875),
        ("", 0.0),
    ]:
        assert trainer_rows._declared([released(name, 1.0) for name in names], ADD, 1.0, 0.0) == worst
    assert trainer_rows._declared([released("b", 1.0)], ADD, 0.5, 0.0) == 3.0
    asked.clear()
    for delta, both in [(0.0, False), (1e-5, True)]:
        trainer_rows._declared([released("d", 1.0)], ADD, 1.0, delta)
        assert asked[-2:] == [("d", delta, True, None), ("d", delta, False, both)]
    for error in (InvalidParameter("x"), AssertionError(), AttributeError()):  # noqa: B007
        assert trainer_rows._declared([released("a", 1.0), released("e", 1.0)], ADD, 1.0, 0.0) is None


def test_declared_filters_are_told_with_all_other_releases() -> None:
    spent = Spent(Filter(float("inf"), 0.5, "leaves"), 3, 0.5, [0.25])
    event = Sequential((released("count", 4.0), Subsample(0.5, released("leaves", 1.0))))
    events = [released("count", 100.0), event]
    together = established([spent.declared], event, ADD, 0.0)
    assert together == pytest.approx(0.75)
    for epsilon, verdict in [(0.75, LOOKED), (0.75 * (1 - 2e-9), LEFT), (0.7, LEFT)]:
        notes = seen(events=events, filters=[spent], worst=[0.1])
        told = [row for row in rows(notes, epsilon=epsilon) if row.what == "composition"]
        assert told[0] == spent.row() and [row.verdict for row in told] == [LOOKED, verdict, LOOKED]
        assert "compose to epsilon 0.75 at delta 0" in told[1].reason and bool(told[1].power) == (verdict is LOOKED)
    mixed = Subsample(0.5, Sequential((released("count", 4.0), released("leaves", 1.0))))
    told = [row for row in rows(seen(events=[mixed], filters=[spent]), epsilon=9.0) if row.what == "composition"]
    assert told[1].verdict is LEFT and "give no epsilon together" in told[1].reason
    told = [row for row in rows(seen(events=[], filters=[spent]), epsilon=0.75) if row.what == "composition"]
    assert "compose to epsilon 0 at delta" in told[1].reason


# --- The search over contents -----------------------------------------------------------------------------------------


def test_what_the_search_over_contents_did() -> None:
    assert list(trainer_rows.searched(Steered())) == []
    (failed,) = trainer_rows.searched(Steered(failed="no memory"))
    assert failed == Row("releases", LOOKED, "the search over contents was cut short: no memory")
    (tried,) = trainer_rows.searched(Steered(tried=1))
    assert (tried.what, tried.verdict) == ("releases", LOOKED) and tried.reason.startswith(
        "1 more pairs replayed in short"
    )
    assert "most of what is declared" not in tried.reason
    nearest = {name: number / 8 for number, name in enumerate("gfedcba")}
    lines = {(f"/x/code{n}.py", n) for n in range(8)}
    told = list(trainer_rows.searched(Steered(9, "late", nearest, set(), lines)))
    assert short(told) == [("releases", LOOKED), ("releases", LOOKED), ("control flow", LOOKED)]
    assert told[1].reason.endswith("most of what is declared: a 0.75, b 0.625, c 0.5, d 0.375, e 0.25, f 0.125")
    assert told[2].reason.startswith("8 lines run or not depending on a record, with equal outputs: code0.py:0, ")
    assert "code5.py:5 and 2 more;" in told[2].reason


def test_places_are_named_up_to_six() -> None:
    assert trainer_rows._some([]) == "" and trainer_rows._some(["a"]) == "a"
    assert trainer_rows._some(list("abcdef")) == "a, b, c, d, e, f"
    assert trainer_rows._some(list("abcdefg")) == "a, b, c, d, e, f and 1 more"


def test_code_that_no_run_reached_is_told_by_what_leads_there(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    blocks = [("x.py:1", "records"), ("x.py:2", ""), ("x.py:3", "surroundings"), ("x.py:4", "records"), ("x.py:5", "")]
    monkeypatch.setattr(trainer_rows, "unreached", lambda *given: asked.append(given) or blocks)
    monkeypatch.setattr(trainer_rows, "beginning", lambda train: f"begins {train}")
    monkeypatch.setattr(trainer_rows, "fixed", lambda train: f"fixed {train}")
    told = list(trainer_rows.never_run(Steered(lines={("f", 1)}), "train"))
    assert asked == [({("f", 1)}, "begins train", "fixed train", frozenset())]
    assert [(row.what, row.verdict, row.reason.rpartition(": ")[2]) for row in told] == [
        ("control flow", LEFT, "x.py:1, x.py:4"), ("control flow", LEFT, "x.py:3"),
            ("control flow", LOOKED, "x.py:2, x.py:5")]  # fmt: skip
    assert "a condition on records" in told[0].reason and "the clock" in told[1].reason
    blocks = [("x.py:9", "outputs")]
    (only,) = trainer_rows.never_run(Steered(), "train")
    assert only.verdict is LEFT and "what the curator returned" in only.reason
    blocks = [("x.py", "unread")]
    (only,) = trainer_rows.never_run(Steered(), "train")
    assert only.verdict is LEFT and only.reason.startswith("what never ran is not known") and "x.py" in only.reason
