"""Noise functions played by themselves: which calls, from which values, and what ideal noise allows them."""

from __future__ import annotations

import copy
import itertools
import math
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.accounting.gaussian import delta as gaussian_delta
from refdp.audit import opened_floating as floating
from refdp.audit import opened_opaque as opaque
from refdp.audit.opened_floating import Bits, Floating
from refdp.audit.opened_laws import NoiseCall, PermuteAndFlip, Unknown
from refdp.audit.opened_opaque import Opaque, Opaques, Side
from refdp.audit.verdicts import Row, Verdict
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Relation, Sensitivity

HIDDEN = Unknown("mine", (1.0,))


UNIT = Laplace(1.0)


def call(value: Any, law: Any = UNIT, **changed: Any) -> NoiseCall:
    held = np.atleast_1d(np.asarray(value, dtype=np.float64))
    return NoiseCall(**{"law": law, "value": held, "bound": None, "norm": 1, **changed})


def recording(*lines: tuple[str, NoiseCall], plays: Any = None, outputs: Any = None) -> Any:
    entries = [SimpleNamespace(request=SimpleNamespace(name=name),
        output=np.atleast_1d(9.0 if outputs is None else outputs[place]))
               for place, (name, _) in enumerate(lines)]  # fmt: skip
    return SimpleNamespace(calls=[one for _, one in lines], plays=plays or [f"play {n}" for n in range(len(lines))],
                           transcript=SimpleNamespace(entries=entries))  # fmt: skip


# --- Floating point ---------------------------------------------------------------------------------------------------


def test_of_each_function_the_call_that_moves_most_is_kept() -> None:
    seen = Floating()
    quiet = ("none", call(1.0)), ("none", call(1.0))
    lines = [(("a", call([1.0, 2.0])), ("a", call([1.5, 1.0]))), (("a", call(1.0)), ("a", call(2.0))),
        (("b", call(0.0, Gaussian(2.0))), ("b", call(0.25))),
             (("grid", call(1.0, DiscreteLaplace(1.0, 1.0))), ("grid", call(2.0))),
                 (("read", call(1.0, read=lambda one: one)), ("read", call(2.0))),
             (("install", call(1.0, install=lambda one: one)), ("install", call(2.0))),
                 (("odd", call([1.0, math.nan])), ("odd", call([2.0, 1.0]))),
             (("even", call([1.0, 2.0])), ("even", call([2.0, math.inf]))), quiet]  # fmt: skip
    seen.add(
        recording(*(one for one, _ in lines), plays=[f"own {n}" for n in range(9)]),
        recording(*(two for _, two in lines), plays=[f"other {n}" for n in range(9)]),
    )
    assert [(name, moved, play, other) for name, (moved, play, _, other, _) in seen._calls.items()] == [
        ("a", 1.5, "own 0", "other 0"),
        ("b", 0.25, "own 2", "other 2"),
    ]
    first, second = call(0.0, Gaussian(2.0)), call(-3.0)
    seen.add(recording(("b", first)), recording(("b", second)))
    seen.add(recording(("b", call(0.0))), recording(("b", call(3.0))))
    assert seen._calls["b"] == (3.0, "play 0", first, "play 0", second)


def test_what_ideal_noise_loses_between_two_values() -> None:
    """Laplace noise far apart: delta at epsilon 1; the epsilon of a vector, or of values near each other, is exact."""
    for change, ideal in [(0.5, (0.5, 0.0)), (1.0, (1.0, 0.0)), (3.0, (1.0, 1 - math.exp((1 - 3.0) / 2)))]:
        assert floating._ideal(call(0.0, Laplace(1.0)), call(change)) == pytest.approx(ideal)
    assert floating._ideal(call([0.0, 0.0], Laplace(1.0)), call([2.0, 3.0])) == (5.0, 0.0)
    assert floating._ideal(call(0.0, Laplace(4.0)), call(8.0)) == pytest.approx((1.0, -math.expm1(-0.5)))
    for law, change, mu in [(Gaussian(2.0), [3.0, 4.0], 2.5), (Gaussian((1.0, 2.0)), [3.0, 8.0], 5.0)]:
        epsilon, delta = floating._ideal(call([0.0, 0.0], law), call(change))
        exact = gaussian_delta(mu, 1.0)
        assert epsilon == 1.0 and exact < delta <= exact * (1 + 1.1e-9)


class Play:
    def __init__(self, name: str, at: Any = None) -> None:
        self.name, self.found = name, at
        self.asked: list[Any] = []

    def at(self, value: Any, one: Any) -> Any:
        self.asked.append((np.asarray(value).tolist(), one))
        return self.found(value) if self.found else None


def judged(monkeypatch: pytest.MonkeyPatch, answers: Any, play: Play) -> Any:
    asked: list[Any] = []

    def bound(run: Any, sides: Any, delta: float, **named: Any) -> Any:
        asked.append(
            (
                run,
                [
                    (side.play if isinstance(side.play, str) else side.play.name, side.call.value.tolist())
                    for side in sides
                ],
                delta,
                named,
            )
        )
        answer = answers[len(asked) - 1]
        if isinstance(answer, Exception):
            raise answer
        return SimpleNamespace(lower=answer[0], refuted=answer[1], samples=answer[2], words="words")

    monkeypatch.setattr(floating, "epsilon_lower_bound", bound)
    seen = Floating()
    seen._calls["f"] = 4.0, play, call([5.0, 1.0], Laplace(8.0)), Play("other"), call([4.0, 4.0], Laplace(8.0))  # type: ignore[assignment]
    return seen.played(6), asked


def test_functions_are_played_from_zero_and_on_their_own_values(monkeypatch: pytest.MonkeyPatch) -> None:
    def at(value: Any) -> Any:
        return f"at {value.tolist()}", call(value)

    zero = [("at [0.0, 0.0]", [0.0, 0.0]), ("at [1.0, 3.0]", [1.0, 3.0])]
    own = [("f", [5.0, 1.0]), ("other", [4.0, 4.0])]
    named = {"claimed": 0.5, "samples": 4000, "seed": 6, "confidence": 1 - 1e-6}
    play = Play("f", at)
    told, asked = judged(monkeypatch, [(0.25, False, 30), (0.375, False, 40)], play)
    assert told == (Bits("f", (5.0, 4.0), (0.5, 0.0), 0.375, 40),)
    assert asked == [(opaque.one_run, sides, 0.0, named) for sides in (zero, own)]
    assert [value for value, _ in play.asked] == [[0.0, 0.0], [1.0, 3.0]] and all(
        one.value.tolist() == [5.0, 1.0] for _, one in play.asked
    )
    told, asked = judged(monkeypatch, [(0.75, True, 30)], Play("f", at))
    assert told == (Bits("f", (0.0, 1.0), (0.5, 0.0), 0.75, 30, "words"),) and len(asked) == 1
    told, asked = judged(monkeypatch, [(0.75, True, 30)], Play("f"))
    assert told == (Bits("f", (5.0, 4.0), (0.5, 0.0), 0.75, 30, "words"),) and asked[0][1] == own
    for number in (0, 1):
        half = Play("f", lambda value: at(value) if bool(value.any()) is bool(number) else None)  # noqa: B023
        assert judged(monkeypatch, [(0.75, True, 30)], half)[1][0][1] == own
    for error in (InvalidParameter("x"), TypeError(), ValueError()):
        assert judged(monkeypatch, [error, error], Play("f", at))[0] == (Bits("f", (0.0, 0.0), (0.5, 0.0), 0.0, 0),)
        assert judged(monkeypatch, [(0.25, False, 30), error], Play("f", at))[0] == (
            Bits("f", (0.0, 1.0), (0.5, 0.0), 0.25, 30),
        )
    assert floating.SAMPLES == opaque.SAMPLES == 4000


def test_rows_about_floating_point() -> None:
    told = list(
        floating.rows(
            [
                Bits("f", (0.0, 0.0), (1.0, 0.0), 0.0, 0),
                Bits("f", (1.0, 2.5), (1.0, 0.125), 3.0, 9, "event"),
                Bits("g", (1.0, 2.5), (1.0, 0.0), 3.0, 900),
                Bits("h", (1.0, 2.5), (8.0, 0.0), 3.0, 4000),
            ]
        )
    )
    assert [(row.what, row.verdict, row.decides, bool(row.power)) for row in told] == [
        ("floating point", Verdict.NOT_EXAMINED, False, False), ("floating point", Verdict.VIOLATION, False, False),
            ("floating point", Verdict.NOT_FOUND, False, True),
            ("floating point", Verdict.NOT_EXAMINED, False, False)]  # fmt: skip
    assert told[0] == Row("floating point", Verdict.NOT_EXAMINED, "f: not played by itself", decides=False)
    assert told[1].reason == (
        "f: between the true values 1 and 2.5 ideal noise has epsilon 1 at delta 0.125, its numbers at least 3: event"
    )
    assert told[2].reason == "g: 900 runs a side between 1 and 2.5"


# --- Unknown laws -----------------------------------------------------------------------------------------------------


def played(given: Any) -> Any:
    return SimpleNamespace(bound=SimpleNamespace(arguments={"x": given}))


def test_inputs_of_a_call_without_its_dice() -> None:
    held = SimpleNamespace(a=1, dice=random.Random(1), other=np.random.default_rng(1))
    play: Any = SimpleNamespace(
        bound=SimpleNamespace(arguments={"self": held, "n": 2, "f": len, "rng": np.random.RandomState(1), "l": [3.0]})
    )
    found = opaque.inputs(play)
    assert {place: text for place, text in found.items() if not place.startswith("['f.")} == {
        "['self.a']": "1",
        "['n.']": "2",
        "['l.'][0]": "3.0",
    }
    assert [text for place, text in found.items() if place.startswith("['f.")] == ["'builtin_function_or_method'"]


def test_declared_costs_of_calls_that_differ_are_summed() -> None:
    """The greatest sum of a run; none where one declares none. What cannot be seen to differ is not summed."""
    same, own = (played(1), played(1)), (played(1), played(1))
    seen = Opaques(1.0, 0.5)
    assert seen.summed == (0.0, 0.0) and seen.told() == ((), (0.0, 0.0))

    def add(*lines: tuple[str, NoiseCall, NoiseCall, Any], outputs: Any = None) -> None:
        seen.add(recording(*((name, one) for name, one, _, _ in lines), plays=[plays[0] for *_, plays in lines],
            outputs=outputs),
                 recording(*((name, two) for name, _, two, _ in lines),
                     plays=[plays[1] for *_, plays in lines]))  # fmt: skip

    cheap = {"epsilon": 0.25, "delta": 0.125}
    add(("a", call(1.0, HIDDEN, **cheap), call(3.0), own), ("b", call(1.0, HIDDEN, epsilon=0.5), call(1.0),
        (played(1), played(2))),
        ("c", call(1.0, HIDDEN, epsilon=9.0), call(1.0), same), ("d", call(1.0, epsilon=9.0), call(2.0), same),
        ("e", call(1.0, Unknown("none", absent=True), epsilon=9.0), call(2.0), same))  # fmt: skip
    assert (
        seen.summed == (0.75, 0.125)
        and list(seen._played) == ["a"]
        and seen._hidden == {"b": Opaque("b", (0.5, 0.0), 0.0, 0)}
    )
    one = seen._played["a"]
    assert (one.first, one.second, one.change, one.bare) == (*own, 2.0, False) and one.other.value.tolist() == [3.0]
    add(("a", call([1.0, 2.0], HIDDEN, epsilon=0.5), call([2.0, 1.0]), same), outputs=[[1.0, 2.0]])
    assert seen.summed == (0.75, 0.125) and seen._played["a"] is one
    add(("a", call([1.0, 2.0], HIDDEN, epsilon=0.75, delta=0.25), call([2.0, 4.0]), same), outputs=[[1.0, 2.0]])
    assert seen.summed == (0.75, 0.25) and seen._played["a"].change == 3.0 and seen._played["a"].bare
    assert seen.told() == ((Opaque("b", (0.5, 0.0), 0.0, 0),), (0.75, 0.25))
    add(
        ("b", call(1.0, HIDDEN), call(1.0), (played(1), played(2))),
        ("f", call(1.0, HIDDEN, epsilon=1.0), call(2.0), same),
    )
    assert seen.summed is None and seen._hidden["b"] == Opaque("b", None, 0.0, 0) and "f" in seen._played
    add(("a", call(1.0, HIDDEN, **cheap), call(3.0), same))
    assert seen.summed is None and seen.told()[1] is None


@pytest.mark.parametrize(("cost", "allowed"), [((None, 0.0), (1.0, 0.5)), ((0.25, 0.125), (0.25, 0.125))])
def test_functions_of_unknown_law_are_held_to_their_cost_or_the_claim(
    cost: Any, allowed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    answers: list[Any] = []

    def bound(run: Any, sides: Any, delta: float, **named: Any) -> Any:
        asked.append((run, sides, delta, named))
        if isinstance(answers[-1], Exception):
            raise answers[-1]
        return SimpleNamespace(**answers[-1])

    monkeypatch.setattr(opaque, "epsilon_lower_bound", bound)
    declared = None if cost[0] is None else cost
    told = {"lower": 2.0, "samples": 70, "refuted": True, "event": "e", "words": "w", "confidence": 0.95}
    for answer, bare, found in [(told, True, [allowed[0], 2.0, 2.0]), ({**told, "refuted": False}, True, []),
        ({**told, "event": "log2 of the lowest set bit of output 0"}, True, []),
                                (TypeError(), False, []), (ValueError(), True, [None, 0.0, math.inf]),
                                    (InvalidParameter("x"), True, [None, 0.0, math.inf])]:  # fmt: skip
        answers.append(answer)
        seen = Opaques(1.0, 0.5)
        one, two = call(1.0, HIDDEN, epsilon=cost[0], delta=cost[1]), call(2.0)
        seen._played["f"] = opaque._Played(one, "first", "second", two, 1.0, bare)  # type: ignore[arg-type]
        violations = list(seen.sampled(8))
        assert [value for each in violations for value in (each.declared, each.observed, each.loss)] == found
        assert all((each.kind, each.release, each.claim) == ("sampler", "f", str(HIDDEN)) for each in violations)
        run, sides, delta, named = asked[-1]
        assert run is opaque.one_run and [(side.play, side.call) for side in sides] == [("first", one), ("second", two)]
        assert delta == allowed[1] and named == {"claimed": allowed[0], "samples": 4000, "seed": 8}
        failed = isinstance(answer, Exception)
        assert seen.told()[0] == (Opaque("f", declared, 0.0 if failed else 2.0, 0 if failed else 70),)
        if violations:
            assert violations[0].witness == (
                {"detail": "no noise"} if failed else {"event": "w", "confidence": 0.95, "samples": 70}
            )


def test_one_run_of_a_function() -> None:
    side = Side(lambda: np.random.random(), call(1.0))  # noqa: NPY002
    assert (
        opaque.one_run(side, 2**32 + 5).tolist()
        == [np.random.RandomState(5).random()]
        == opaque.one_run(side, 5).tolist()
    )
    assert opaque.one_run(side, 2**31 + 5).tolist() == [np.random.RandomState(2**31 + 5).random()]
    given = opaque.one_run(Side(lambda: [math.nan, math.inf, -math.inf, 2.0], call(1.0)), 1)
    assert given.tolist() == [0.0, math.inf, -np.finfo(float).max, 2.0]
    copied = copy.deepcopy(side)
    assert copied.play is side.play and copied.call is not side.call and copied.call.law == side.call.law


# --- Laws -------------------------------------------------------------------------------------------------------------


def flips(utilities: list[float], coefficient: float) -> list[float]:
    """Permute-and-flip over all orders."""
    chances = [math.exp(coefficient * (u - max(utilities))) for u in utilities]
    found = [0.0] * len(utilities)
    orders = list(itertools.permutations(range(len(utilities))))
    for order in orders:
        left = 1.0
        for option in order:
            found[option] += left * chances[option] / len(orders)
            left *= 1 - chances[option]
    return found


def test_permute_and_flip_over_all_orders() -> None:
    law = PermuteAndFlip(0.75)
    one = [[0.0, 1.0, 3.0, 2.5], [2.0, 2.0, -1.0, 0.0]]
    two = [[0.5, 1.5, 2.0, 2.5], [2.0, 1.0, 0.0, 0.0]]
    p, q = (np.log([flips(row, 0.75) for row in table]) for table in (one, two))
    assert law.log_probabilities(one) == pytest.approx(p, rel=1e-10) and law.log_probabilities(
        [[4.0]]
    ) == pytest.approx(np.zeros((1, 1)), abs=1e-12)
    assert law.log_probabilities([[0.0, 1.0, 2.0]]) == pytest.approx(np.log([flips([0.0, 1.0, 2.0], 0.75)]))
    assert law.loss(one, two, [3, 0]) == pytest.approx([p[0, 3] - q[0, 3], p[1, 0] - q[1, 0]], abs=1e-9)
    assert (
        law.worst_loss(one, two) == pytest.approx((p - q).max(axis=1))
        and law.worst_output(one, two).tolist() == np.argmax(p - q, axis=1).tolist()
    )
    for order in (2.0, 3.5):
        exact = sum(
            math.log(sum(math.exp(order * a + (1 - order) * b) for a, b in zip(x, y, strict=True))) / (order - 1)
            for x, y in zip(p, q, strict=True)
        )
        assert law.divergence(one, two, order) == pytest.approx(exact)
    assert law.observed_change(one, two, "range") == Exponential(0.75).observed_change(one, two, "range")
    declared = Sensitivity(2.0, "range", "", Relation.ADD_REMOVE)
    assert law.pure_cost(declared) == Exponential(0.75).pure_cost(declared)
    for wrong in (0.0, -1.0, math.nan):
        with pytest.raises(InvalidParameter, match="permute-and-flip"):
            PermuteAndFlip(wrong)


def test_what_is_known_of_an_unknown_law() -> None:
    hidden, absent = Unknown("mine", (1.0, 2.5)), Unknown("mine", absent=True)
    assert (
        str(hidden) == "mine(1, 2.5), of unknown law"
        and str(absent) == "mine: no noise"
        and not hidden.absent
        and Unknown("x").parameters == ()
    )
    for law, odd in [(hidden, math.isnan), (absent, math.isinf)]:
        assert (
            odd(float(law.loss([1.0], [2.0], [3.0])))
            and odd(float(law.worst_loss([1.0], [2.0])))
            and law.worst_loss([1], [2]).shape == ()
        )
        assert math.isnan(law.divergence([1.0], [2.0], 2.0)) and math.isnan(
            law.pure_cost(Sensitivity(1.0, 1, "", Relation.ADD_REMOVE))
        )
    assert (
        hidden.observed_change([3.0, 0.0], [0.0, -4.0], 2) == 5.0
        and hidden.observed_change([3.0, 0.0], [0.0, 4.0], 1) == 7.0
    )


def test_answers_of_a_call_and_what_gives_them() -> None:
    plain = call([1.0, 2.0])
    assert plain.answer([5, 6]).tolist() == [5.0, 6.0] and call(1.0).answer(4).tolist() == [4.0]
    assert (
        call([1.0, 2.0], apart=True).answer([5, 6]).tolist() == [6.0, 8.0]
        and call(1.0, read=lambda one: one["a"]).answer({"a": 7}) == 7
    )  # type: ignore[comparison-overlap]
    assert call(1.0, read=lambda one: 3).answer(None) == 3  # type: ignore[comparison-overlap]
    choice, named = call([[1.0, 2.0]], norm="range"), call([[1.0, 2.0]], norm="range", options=("a", "b", "c"))
    assert (
        choice.answer(1).tolist() == [1]
        and choice.answer([1, 0]).tolist() == [1, 0]
        and named.answer("b").tolist() == [1]
    )
    for one, returned, words in [
        (plain, None, "returned None"),
        (choice, None, "returned None"),
        (named, "d", "none of the 3 options"),
    ]:
        with pytest.raises(InvalidParameter, match=words):
            one.answer(returned)
    assert (choice.giving(np.array([1, 0]), 0), named.giving(np.array([2]), "a")) == (1, "c") and isinstance(
        choice.giving(np.array([1]), 0), int
    )
    assert call(1.0, install=lambda one: ("in", one)).giving(3, None) == ("in", 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="cannot be made of an output"):
        call(1.0, read=lambda one: one).giving(np.array([1.0]), None)
    given = plain.giving(np.array([5.0, 6.0]), np.zeros((1, 2), dtype=np.float32))
    assert given.tolist() == [[5.0, 6.0]] and given.dtype == np.float32
    given = call([1.0, 2.0], apart=True).giving(np.array([5.0, 6.0]), [0, 0])
    assert given.tolist() == [4, 4] and given.dtype == np.int64
    single = call(1.0).giving(np.array([5.5, 7.0]), 3)
    assert single == 5 and isinstance(single, int) and call(2.0, apart=True).giving(np.array([5.5]), 1.0) == 3.5
