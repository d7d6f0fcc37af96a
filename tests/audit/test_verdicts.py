"""The four words, and the audit of trainers that cheat and that do not."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refdp
from refdp.audit.charge import Item, composed
from refdp.audit.isolated import CAN_FORK
from refdp.audit.noise_law import sampled
from refdp.audit.noise_shape import departure, departures
from refdp.audit.observer import view
from refdp.audit.opened_door import noise
from refdp.audit.opened_replay import audit_opened
from refdp.audit.verdicts import SUBJECTS, Row, Verdict, completed, exit_status, is_ok, summary
from refdp.faces import cli
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.curator import Request
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource
from tests.audit.cheats.first import FIRST
from tests.audit.cheats.honest import HONEST
from tests.audit.cheats.second import SEARCHED, SECOND
from tests.audit.cheats.seventh import PASSED, SEVENTH
from tests.audit.cheats.zoo import SCHEMA, Entered, count, declared
from tests.thinned import thinned

V, L, F, H = Verdict.VIOLATION, Verdict.NOT_EXAMINED, Verdict.NOT_FOUND, Verdict.HOLDS
needs_fork = pytest.mark.skipif(not CAN_FORK, reason="runs have processes of their own by fork")


def test_a_summary_is_its_weakest_part() -> None:
    assert summary([Row("a", H, ""), Row("b", F, "")]) is F
    assert summary([Row("a", H, ""), Row("b", L, ""), Row("c", F, "")]) is L
    assert summary([Row("a", L, ""), Row("b", V, "")]) is V
    assert summary([Row("a", H, ""), Row("b", L, "", decides=False)]) is H
    assert summary([Row("a", H, ""), Row("b", V, "", decides=False)]) is V
    assert summary([]) is L
    assert [exit_status(one) for one in (H, F, V, L)] == [0, 0, 1, 3]
    assert [is_ok(one) for one in (H, F, V, L)] == [True, True, False, False]


def test_what_nobody_looked_at_is_told() -> None:
    table = completed([Row("releases", F, "looked"), Row("releases", L, "not all")])
    assert [row.what for row in table] == list(SUBJECTS)
    assert table[0].verdict is L and "looked; not all" in table[0].reason
    assert all(row.verdict is L and row.reason for row in table[1:])
    (beside, *_) = completed(
        [Row("releases", V, "wrong"), Row("releases", L, "not all"), Row("releases", L, "x", "", False)]
    )
    assert (beside.verdict, beside.left) == (V, "not all") and not table[0].left


class Slotted:
    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held


class Alike(type):
    """A metaclass of types that say they equal every other, so also those whose text is all that they are."""

    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return hash(int)


class Disguised(metaclass=Alike):
    def __init__(self, held: Any) -> None:
        self.held = held

    def __repr__(self) -> str:
        return "nothing"


DIFFERENT: list[tuple[Any, Any]] = [
    (Disguised(1), Disguised(2)),
    (0.0, -0.0),
    (1, 1.0),
    (1, True),
    (np.float64(1), 1.0),
    (np.zeros(2), np.zeros(2, dtype=np.float32)),
    (np.zeros(2), np.zeros(2, dtype=">f8")),
    (np.array([np.nan]), np.array([0x7FF8000000000001]).view(np.float64)),
    (np.zeros((2, 2), order="F"), np.zeros((2, 2))),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    (Slotted(1), Slotted(2)),
    ([[]] * 2, [[], []]),
    (functools.partial(print, 1), functools.partial(print, 2)),
    (np.random.default_rng(1), np.random.default_rng(2)),
    ((lambda held: lambda: held)(1), (lambda held: lambda: held)(2)),
    ({1, 2}, {1, 3}),
    (np.array([1, "a"], dtype=object), np.array([1, "b"], dtype=object)),
    ("a" * 1000, "a" * 999 + "b"),
]


@pytest.mark.parametrize("number", range(len(DIFFERENT)))
def test_the_observer_tells_things_apart(number: int) -> None:
    one, other = DIFFERENT[number]
    assert view(one).lines != view(other).lines
    assert view(one).lines == view(one).lines


def test_equal_things_look_equal() -> None:
    assert view([np.nan, {"a": np.array([np.nan])}]).lines == view([np.nan, {"a": np.array([np.nan])}]).lines
    held: list[Any] = []
    held.append(held)
    assert view(held).lines == view(held).lines


def one(mechanism: Any, change: float) -> Item:
    return Item(mechanism, np.zeros(1), np.array([change]))


def test_a_thousand_counts_exceed_the_claim_from_below() -> None:
    assert composed([one(Laplace(1.0), 1.0)] * 1000, Relation.ADD_REMOVE, 1.0, 1e-5).lower > 0.1


def test_laplace_and_gaussian_are_composed_not_added() -> None:
    """The sum of epsilons is 1.33 for the Laplace counts alone; the composition meets (1, 1e-5)."""
    items = [one(Laplace(30.0), 1.0)] * 40 + [one(Gaussian(6.0), 1.0)]
    assert composed(items, Relation.ADD_REMOVE, 1.0, 1e-5).upper <= 1e-5
    less = [one(Laplace(30.0), 1.0)] * 40 + [one(Gaussian(3.0), 1.0)]
    assert composed(less, Relation.ADD_REMOVE, 1.0, 1e-5).lower > 1e-5


@pytest.mark.parametrize("mechanism", [Laplace(1.01), Gaussian(4.0), DiscreteLaplace(1.01, 1.0)])
def test_the_enclosure_of_one_release_is_narrow(mechanism: Any) -> None:
    cost = composed([one(mechanism, 1.0)], Relation.ADD_REMOVE, 0.5, 1e-9)
    assert 0 < cost.lower <= cost.upper * (1 + 1e-9) <= cost.lower * 1.001


def test_a_choice_costs_at_least_its_likeliest_question() -> None:
    value, other = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    p = 1 / (1 + np.exp(-1.0))
    exact = p - np.exp(0.5) * (1 - p)
    cost = composed([Item(Exponential(1.0), value, other)], Relation.ADD_REMOVE, 0.5, 1e-9)
    assert 0 < cost.lower <= exact <= cost.upper


class Light(Laplace):
    def apply(self, value: Any, standard: Any) -> Any:
        return value + 0.98 * self.scale * np.asarray(standard)


class LightGaussian(Gaussian):
    def apply(self, value: Any, standard: Any) -> Any:
        return value + 0.98 * np.asarray(self.sd) * np.asarray(standard)


@pytest.mark.parametrize("mechanism", [Light(2.0), LightGaussian(3.0)])
def test_two_percent_too_little_noise_is_refuted(mechanism: Any) -> None:
    found = sampled(mechanism, 0)
    assert found is not None and found.bet.rejects(8) and found.bet.likeliest == 0.98


LAWS = [Laplace(2.0), Gaussian((1.0, 9.0)), DiscreteLaplace(3.0, 0.25), DiscreteGaussian(1.3, 1.0), Exponential(0.5)]


@pytest.mark.parametrize("mechanism", LAWS)
def test_declared_noise_is_not_refuted(mechanism: Any) -> None:
    found = [sampled(mechanism, seed, 20_000, values=(1.0, 2.5)) for seed in range(10)]
    assert not any(one is None or one.bet.rejects(1) or departures(one.groups, 1) for one in found)


class Shape(Laplace):
    """Uniform noise of the same mean absolute value: the scale is not too small."""

    def apply(self, value: Any, standard: Any) -> Any:
        drawn = np.asarray(standard)
        share = np.where(drawn < 0, 0.5 * np.exp(-np.abs(drawn)), 1 - 0.5 * np.exp(-np.abs(drawn)))
        return value + 4 * self.scale * (share - 0.5)


class Follows(Laplace):
    """Noise away from 0 at odd values."""

    def apply(self, value: Any, standard: Any) -> Any:
        noise = np.asarray(standard)
        return value + self.scale * np.where(np.rint(value) % 2 == 0, noise, np.abs(noise))


class Chained(Laplace):
    """Each draw is the one before, turned over."""

    def apply(self, value: Any, standard: Any) -> Any:
        noise = np.array(standard)
        noise[1::2] = -noise[: 2 * (len(noise) // 2) : 2]
        return value + self.scale * noise


@pytest.mark.parametrize(
    ("mechanism", "what"),
    [(Shape(1.0), "shape"), (Follows(1.0), "at the value 1"), (Chained(1.0), "depend on the ones before")],
)
def test_noise_of_another_shape_is_refuted(mechanism: Any, what: str) -> None:
    found = sampled(mechanism, 0, 30_000, values=() if what.startswith("depend") else (1.0,))
    assert found is not None and not found.bet.rejects(8)
    departed = departures(found.groups, 24)
    assert departed is not None and what in departed.what


def test_a_mechanism_that_states_a_law_of_its_own_is_not_held_to_another() -> None:
    class Own(Shape):
        def log_density(self, value: Any, output: Any) -> Any:
            return np.where(np.abs(output - value) <= 2 * self.scale, -np.log(4 * self.scale), -np.inf)

    found = sampled(Own(1.0), 0, 20_000)
    assert found is not None and found.groups == ()


def test_the_alarm_of_shapes_has_its_stated_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a level of 0.05 for all lengths together, fewer than 15 of 200 uniform samples are refused (level 1e-3)."""
    monkeypatch.setattr("refdp.audit.noise_shape.FALSE_ALARM", 0.05)
    coins = np.random.default_rng(5)
    refused = sum(departure(coins.random(512), "uniform", 1) is not None for _ in range(200))
    lopsided = sum(departure(coins.random(512) ** 1.4, "not uniform", 1) is not None for _ in range(20))
    assert refused < 15 and lopsided == 20


SLOW = {"lighter_noise", "no_noise", "patches_the_package"}
CHEATS = FIRST | {name: cheat for name, cheat in SECOND.items() if name not in SEARCHED}


@needs_fork
@pytest.mark.parametrize("name", thinned(CHEATS, 2))
def test_cheats_are_violations(name: str) -> None:
    cheat = CHEATS[name]
    search: dict[str, Any] = {"pairs": 3, "steps": 0} if name in SLOW else {"first_only": True}
    if cheat.kind == "number of records":
        search["counts"] = (49, 50, 63, 64)
    report = refdp.audit_trainer(cheat.train, SCHEMA, cheat.epsilon, cheat.delta, **search)
    assert report.verdict is Verdict.VIOLATION and not report.ok and report.violations


@needs_fork
@pytest.mark.parametrize("name", PASSED)
def test_cheats_of_the_seventh_list_are_violations(name: str) -> None:
    report = refdp.audit_trainer(SEVENTH[name].train, SCHEMA, 1.0, pairs=8, steps=0, first_only=True)
    assert report.verdict is Verdict.VIOLATION


@needs_fork
@pytest.mark.parametrize("name", thinned(SEARCHED))
def test_numbers_in_the_code_are_tried(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cheat = SECOND[name]
    found = refdp.audit_trainer(cheat.train, SCHEMA, cheat.epsilon, counts=(1,), pairs=36, steps=0, first_only=True)
    assert found.verdict is Verdict.VIOLATION
    monkeypatch.setattr("refdp.audit.trainer.constants", lambda train: ())
    blind = refdp.audit_trainer(cheat.train, SCHEMA, cheat.epsilon, counts=(1,), pairs=found.pairs, steps=0)
    assert blind.violations == () and blind.pairs == found.pairs


@needs_fork
@pytest.mark.parametrize("name", list(HONEST))
def test_honest_trainers_are_not_accused(name: str) -> None:
    honest = HONEST[name]
    report = refdp.audit_trainer(honest.train, SCHEMA, honest.epsilon, honest.delta, pairs=3, steps=0)
    assert report.violations == ()
    assert report.verdict is Verdict.NOT_EXAMINED  # three pairs have no number of records from 50 on
    assert next(row for row in report.coverage if row.what == "record counts").verdict is Verdict.NOT_EXAMINED


def simple(records: Any, curator: Any) -> Any:
    """A correct trainer."""
    return count(records, curator)


def own_noise(records: Any, curator: Any) -> Any:
    """Noise of its own: nobody can say what it costs."""
    return np.random.laplace() + len(records.y)  # noqa: NPY002


class Free:
    """A mechanism that nobody knows."""

    STANDARD = "laplace"

    def draws(self, value: Any) -> Any:
        return Laplace(1.0).draws(value)

    def apply(self, value: Any, standard: Any) -> Any:
        return np.asarray(value)


def unknown_law(records: Any, curator: Any) -> Any:
    """A hundred releases by a mechanism of unknown law, which adds nothing."""
    exact = np.array([float(len(records.y))])
    return [curator.release("n", Free(), exact, sensitivity=declared(1.0)) for _ in range(100)]


def past_its_checks(scale: float) -> Any:
    """A trainer whose noise has a scale that no constructor lets pass."""

    def train(records: Any, curator: Any) -> Any:
        mechanism = Laplace(1.0)
        object.__setattr__(mechanism, "scale", scale)
        return curator.release("n", mechanism, np.array([float(len(records.y))]), sensitivity=declared(1.0))

    return train


@needs_fork
def test_a_search_of_all_counts_ends_in_not_found() -> None:
    report = refdp.audit_trainer(simple, SCHEMA, 1.0, pairs=30, steps=6, counts=(49,))
    assert report.ok and report.verdict is Verdict.NOT_FOUND
    floating = next(row for row in report.coverage if row.what == "floating point")
    assert floating.verdict is Verdict.NOT_EXAMINED and not floating.decides


@needs_fork
def test_noise_of_its_own_is_not_examined() -> None:
    report = refdp.audit_trainer(own_noise, SCHEMA, 1.0, pairs=1, steps=0)
    assert report.verdict is Verdict.NOT_EXAMINED and report.violations == ()


@needs_fork
def test_an_unknown_law_is_never_ok() -> None:
    report = refdp.audit_trainer(unknown_law, SCHEMA, 1.0, pairs=3, steps=0)
    assert report.verdict is Verdict.VIOLATION
    assert any("no law is known" in row.reason for row in report.coverage)


@needs_fork
@pytest.mark.parametrize("scale", [0.0, float("nan"), -1.0])
def test_an_invalid_scale_is_found(scale: float) -> None:
    report = refdp.audit_trainer(past_its_checks(scale), SCHEMA, 1.0, pairs=1, steps=0)
    assert {violation.kind for violation in report.violations} == {"noise scale"}
    refused = refdp.audit_trainer(lambda records, curator: Laplace(scale), SCHEMA, 1.0, pairs=1, steps=0)
    assert {violation.kind for violation in refused.violations} == {"noise scale"}


@needs_fork
@pytest.mark.parametrize(
    ("name", "status", "verdict"), [("simple", 3, "NOT EXAMINED"), ("own_noise", 3, "NOT EXAMINED")]
)
def test_the_command_line(
    name: str, status: int, verdict: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps({"age": [0, 1], "colour": ["r", "g"], "y": [-1, 1]}))
    ended = cli.run([
        "audit", "--trainer", f"tests.audit.test_verdicts:{name}", "--schema", str(file), "--epsilon", "1",
        "--pairs", "1", "--json",
    ])  # fmt: skip
    body = json.loads(capsys.readouterr().out)
    assert (ended, body["verdict"], body["ok"]) == (status, verdict, False)
    assert {row["what"] for row in body["coverage"]} == set(SUBJECTS)


def test_a_zoo_has_names(name: str = "") -> None:
    assert all(isinstance(entered, Entered) and entered.kind for entered in FIRST.values())


PAIRS = [(np.zeros((5, 1)), np.zeros((6, 1)))]


def add(total: Any, scale: float, sensitivity: float) -> Any:
    return total + np.random.laplace(0.0, scale)  # noqa: NPY002


def add_nothing(total: Any, scale: float, sensitivity: float) -> Any:
    return total


def add_steps(total: Any, scale: float, sensitivity: float) -> Any:
    """Two-sided geometric noise: nothing at all in nearly half of all calls."""
    odds = 1 - np.exp(-1 / scale)
    return total + np.random.geometric(odds) - np.random.geometric(odds)  # noqa: NPY002


def normal(total: Any, scale: float, sensitivity: float) -> Any:
    return total + np.random.normal(0.0, scale)  # noqa: NPY002


def test_opened_code_is_charged_by_composition() -> None:
    laplace = noise("laplace", value="total", sensitivity="sensitivity")(add)
    gauss = noise("gaussian", value="total", sensitivity="sensitivity")(normal)
    hundred = lambda rows: [laplace(len(rows), 1.0, 1.0) for _ in range(100)]  # noqa: E731
    many = audit_opened(hundred, PAIRS, epsilon=1.0, delta=1e-5)
    assert many.kinds() == ["budget"]

    def mixed(rows: Any) -> Any:
        return [laplace(len(rows), 30.0, 1.0) for _ in range(40)], gauss(len(rows), 6.0, 1.0)

    assert audit_opened(mixed, PAIRS, epsilon=1.0, delta=1e-5).ok


def gridded(total: Any, scale: float, sensitivity: float) -> Any:
    """refdp's own floating noise, rounded to a public grid."""
    drawn = SampleSource(np.random.default_rng(np.random.randint(2**31)))  # noqa: NPY002
    return float(
        drawn.release(Request("release", ("n",), np.array([float(total)]), DiscreteLaplace(scale, 2.0**-20)))[0]
    )


@pytest.mark.parametrize(("law", "function", "scale"), [("laplace", add, 1.0), ("gaussian", normal, 5.0)])
def test_ideal_noise_and_floating_point_have_a_verdict_each(law: str, function: Any, scale: float) -> None:
    """A correct count with numpy's sampler keeps its claim for real numbers, and not for floating-point ones."""
    opened = noise(law, value="total", scale="scale", sensitivity="sensitivity")(function)
    report = audit_opened(lambda rows: opened(float(len(rows)), scale, 1.0), PAIRS, epsilon=1.0, delta=1e-4)
    assert report.verdict is F and report.ok and report.violations == ()
    assert report.floating is V
    told = report.to_dict()
    assert told["verdicts"] == {"ideal noise": "NOT FOUND", "floating point": "VIOLATION"}
    row = next(row for row in told["coverage"] if row["what"] == "floating point")
    assert row["verdict"] == "VIOLATION" and "lowest set bit" in row["reason"]


def test_noise_on_a_grid_is_not_accused_of_its_last_bits() -> None:
    opened = noise("laplace", value="total", sensitivity="sensitivity")(gridded)
    report = audit_opened(lambda rows: opened(float(len(rows)), 1.0, 1.0), PAIRS, epsilon=1.0)
    assert report.verdict is F and report.floating is F


def test_a_claim_that_ideal_noise_breaks_is_a_violation_of_the_first_verdict() -> None:
    opened = noise("laplace", value="total", sensitivity="sensitivity")(add)
    report = audit_opened(lambda rows: opened(float(len(rows)), 0.5, 1.0), PAIRS, epsilon=1.0)
    assert report.verdict is V and not report.ok


def test_discrete_noise_of_unknown_law_that_is_nothing_once_is_not_accused() -> None:
    steps = noise("steps", value="total", sensitivity="sensitivity")(add_steps)
    for seed in range(4):
        assert audit_opened(lambda rows: steps(len(rows), 1.0, 1.0), PAIRS, epsilon=1.0, seed=seed).kinds() == []


def test_an_opaque_primitive_without_noise_is_found() -> None:
    opaque = noise("mystery", value="total", sensitivity="sensitivity")(add_nothing)
    report = audit_opened(lambda rows: [opaque(len(rows), 1.0, 1.0) for _ in range(100)], PAIRS, epsilon=1.0)
    assert report.kinds() == ["sampler"] and not report.ok
    noisy = noise("mystery", value="total", sensitivity="sensitivity")(add)
    unknown = audit_opened(lambda rows: noisy(len(rows), 1.0, 1.0), PAIRS, epsilon=1.0)
    assert unknown.verdict is Verdict.NOT_EXAMINED and not unknown.ok and unknown.violations == ()
