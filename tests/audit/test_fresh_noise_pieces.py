"""The freshness of noise: piece by piece."""

from __future__ import annotations

import math
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import freshness
from refdp.audit.freshness import Pattern
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.curator import Entry, Request, Transcript
from refdp.privacy.events import Relation, Sensitivity

# --- Fresh noise ------------------------------------------------------------------------------------------------------


def pattern(values: Any, chance: float = -10.0, name: str = "a/leaf 1", noise: bool = True) -> Pattern:
    return Pattern(name, "claim", np.array(values, dtype=float), np.full(len(values), chance), noise)


def test_patterns_of_one_kind_and_their_chances() -> None:
    one = pattern([1.0, 2.0])
    assert one.kind == ("leaf #", 2) and one.chance == -20.0 and freshness.release_kind("x 1/y 22 of 3") == "y # of #"
    room = 2.0**-30
    assert one.repeats(pattern([1.0 + room, 2.0 - room])) and not one.repeats(pattern([1.0, 2.0 + 1.5 * room]))
    assert not one.repeats(pattern([1.0 - 1.5 * room, 2.0])) and not one.repeats(pattern([-1.0, 2.0]))


def test_one_draw_for_a_whole_vector() -> None:
    """The first coordinate is free; the others repeat it."""
    room = 2.0**-30
    assert freshness._one_draw(pattern([3.0, 3.0, 3.0 + room]), -19.0)
    for other, least in [(pattern([3.0, 3.0, 3.0]), -20.0), (pattern([3.0, 3.0, 3.0 + 2 * room]), -19.0),
        (pattern([3.0] * 3, noise=False), -19.0),
                         (pattern([3.0]), -0.0)]:  # fmt: skip
        assert not freshness._one_draw(other, least)


def test_repetitions_one_by_one_or_all_together() -> None:
    a, b, c = pattern([1.0], name="a"), pattern([1.0], name="b"), pattern([2.0], name="c")
    told = freshness._repeated("kind", [(a, c), (a, b), (b, a)], [], -9.0)
    assert [(one.kind, one.release, one.witness["releases"]) for one in told] == [("kind", "b", ["a", "b"])]
    assert freshness._repeated("kind", [(a, b)], [], -10.0) == [] == freshness._repeated("kind", [(a, c)], [], -9.0)
    (joint,) = freshness._repeated("kind", [(a, b)], [(a, b), (b, a)], -19.0)
    assert joint.witness["releases"] == ["a", "b"]
    assert (
        freshness._repeated("kind", [], [(a, b), (b, a)], -20.0)
        == []
        == freshness._repeated("kind", [], [(a, b), (b, c)], -19.0)
    )
    (one,) = freshness._repeated(
        "k", [(a, pattern(range(12), name="d/e"))], [(pattern(range(12)), pattern(range(12), name="d/e"))], -50.0
    )
    assert (one.declared, one.observed, one.loss, one.claim) == (0.0, 12.0, None, "claim") and one.witness[
        "noise"
    ] == list(map(float, range(8)))


def test_noise_in_its_own_scale() -> None:
    value, output = np.array([[1.0, 2.0]]), np.array([[3.0, -2.0]])
    near = math.log(2.0**-30)
    for law, values, chance in [(Laplace(4.0), [0.5, -1.0], near), (Gaussian(0.5), [4.0, -8.0], near),
                                (DiscreteLaplace(3.0, 0.5), [4.0, -8.0], math.log(math.tanh(0.5 / 3 / 2))),
                                (DiscreteGaussian(3.0, 0.5), [4.0, -8.0], math.log(0.5 / 3)),
                                    (DiscreteGaussian(0.25, 0.5), [4.0, -8.0], 0.0)]:  # fmt: skip
        found, chances = freshness.standardised(law, value, output)
        assert found.tolist() == values and chances.tolist() == pytest.approx([chance] * 2)
    assert freshness.standardised(Gaussian((0.5, 4.0)), value[0], output[0])[0].tolist() == [4.0, -1.0]
    vector: Any = object.__new__(DiscreteGaussian)
    object.__setattr__(vector, "sd", (3.0, 6.0))
    object.__setattr__(vector, "step", 0.5)
    assert freshness.standardised(vector, value, output)[1].tolist() == pytest.approx([math.log(0.5 / 3)] * 2)
    foreign: Any = SimpleNamespace(
        log_density=lambda one, other: np.where(one == other, np.array([[5.0, 50.0]]), np.nan)
    )
    found, chances = freshness.standardised(foreign, value, output)
    assert found.tolist() == [2.0, -4.0] and chances.tolist() == [5.0 + math.log(2.0**-29), 0.0]


UNIT = Laplace(1.0)


def released(name: str, value: Any, output: Any, law: Any = UNIT, index: Any = None, claim: str = "") -> Entry:
    declared = Sensitivity(1.0, 1, claim, Relation.ADD_REMOVE) if claim else None
    return Entry(
        Request("release", tuple(name.split("/")), None, law, declared),
        np.asarray(output, dtype=float),
        index,
        np.asarray(value, dtype=float),
    )


def assigned(kind: str, weights: Any, output: Any) -> Entry:
    return Entry(Request("assign", ("blocks",), law=(kind, weights)), np.asarray(output))


def test_patterns_of_releases_choices_and_assignments() -> None:
    utilities = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]])
    run = Transcript(Relation.ADD_REMOVE, [
        released("a/b", [1.0, 2.0], [2.0, 4.0], claim="c"), released("x", utilities, [[0.0], [0.0]], Exponential(1.0),
            np.array([1, 2])),
        assigned("partition", (0.25, 0.5), [0, 1, -1]), assigned("poisson", (0.25,), [1, 0]),
            assigned("other", (0.5,), [1]),
        Entry(Request("draw", ("d",)), np.zeros(1))])  # fmt: skip
    found = list(freshness.patterns(run))
    assert [(one.name, one.claim, one.values.tolist(), one.noise) for one in found] == [
        ("a/b", "c", [1.0, 2.0], True), ("x", "", [1.0, 2.0], False), ("blocks", "", [0.0, 1.0, -1.0], False),
            ("blocks", "", [1.0, 0.0], False)]  # fmt: skip
    odds = [max(row) - math.log(sum(math.exp(u) for u in row)) for row in utilities.tolist()]
    assert found[1].chances.tolist() == pytest.approx(odds)
    assert found[2].chances.tolist() == pytest.approx([math.log(0.5)] * 3) and found[
        3
    ].chances.tolist() == pytest.approx([math.log(0.75)] * 2)


def test_stale_noise_in_a_run_and_between_runs() -> None:
    """Two coordinates repeat with chance 2^-60, below 1e-9 shared by all comparisons; one does with 2^-30."""
    generator = random.Random(4)

    def fresh(name: str, size: int = 2) -> Entry:
        return released(name, [0.0] * size, [generator.gauss(0, 1) for _ in range(size)])

    def run(*entries: Entry) -> Transcript:
        return Transcript(Relation.ADD_REMOVE, list(entries))

    def told(*runs: Transcript) -> list[Any]:
        return [(one.kind, one.witness["releases"]) for one in freshness.stale(*runs)]

    again = [released(f"tree {n}/leaf", [0.0, 0.0], [1.5, 0.5]) for n in (1, 2)]
    assert told(run(fresh("a"), fresh("b")), run(fresh("a"), fresh("b"))) == []
    assert told(run(*again, fresh("x")), run(fresh("x"))) == [("reused noise", ["tree 1/leaf", "tree 2/leaf"])]
    assert told(run(fresh("x")), run(fresh("x"), *again)) == [("reused noise", ["tree 1/leaf", "tree 2/leaf"])]
    assert told(run(again[0]), run(again[0])) == [("seeded noise", ["tree 1/leaf", "tree 1/leaf"])]
    assert told(run(again[0]), run(again[1])) == [] == told(run(fresh("tree 3/leaf"), again[0]), run(again[0]))
    constant = released("c", [0.0] * 3, [1.0] * 3)
    assert (
        told(run(constant), run(fresh("c", 3)))
        == [("reused noise", ["c", "c"])]
        == told(run(fresh("c", 3)), run(constant))
    )
    single = [released(f"{n}/leaf", [0.0], [0.5]) for n in range(4)]
    assert told(run(single[0]), run(single[0])) == [] and told(run(*single[:2]), run()) == []
    assert told(run(*single[:3]), run()) == [("reused noise", ["0/leaf", "1/leaf"])]
    assert told(run(*single[:3], released("3/leaf", [0.0], [0.75])), run()) == []
    assert told(run(*single[:2], *single[:0]), run(*single[:2])) == [("seeded noise", ["0/leaf", "0/leaf"])]
    assert told(run(released("e", [], [])), run(released("e", [], []))) == []


@pytest.mark.parametrize("sizes", [(3, 2), (5, 0)])
def test_the_false_alarm_is_shared_by_all_comparisons(sizes: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    least: list[float] = []
    monkeypatch.setattr(freshness, "_repeated", lambda kind, pairs, joint, one: least.append(one) or [])
    monkeypatch.setattr(freshness, "_one_draw", lambda one, given: least.append(given) or False)
    runs = [
        Transcript(
            Relation.ADD_REMOVE,
            [released(f"{name} {n}", [0.0], [1.0]) for n, name in zip(range(size), "abbbb", strict=False)],
        )
        for size in sizes
    ]
    freshness.stale(*runs)
    count = 1 + 2 * 4 + sum(size * (size + 1) for size in sizes)
    assert set(least) == {math.log(1e-9 / count)} and least
