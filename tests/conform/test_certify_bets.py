"""Certified runs: choices without randomness of their own, single values without noise, noise made after the values."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from refdp.audit.verdicts import Row, Verdict
from refdp.conform import certify
from refdp.conform.follow import on_grid
from refdp.noise.mechanisms import Exponential
from refdp.papers import dpboost, dpxgboost, fedgbdt
from refdp.privacy.curator import Array, Request
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource
from tests.conform.test_certify import DATA, PARAMS, ran
from tests.identity.running import records

Changed = Callable[[Request, Array, np.random.Generator], Array]
"""What takes an output's place: of choices the options' positions, of values noise in units of its scale."""


class Changing(SampleSource):
    """Right draws, changed by a rule: those of choices or those of values."""

    choices: bool
    rule: Changed
    fresh: np.random.Generator

    def release(self, request: Request) -> Array:
        output = super().release(request)
        mechanism: Any = request.mechanism
        if isinstance(mechanism, Exponential) != self.choices or request.value is None:
            return output
        rule = type(self).rule
        if self.choices:
            return np.asarray(rule(request, output, self.fresh))  # type: ignore[call-arg, arg-type]
        unit = getattr(mechanism, "sd", None) or mechanism.scale
        noise = rule(request, (output - request.value) / unit, self.fresh)  # type: ignore[call-arg, arg-type]
        return on_grid(mechanism, request.value + noise * unit)


def certified(rule: Changed, params: Any, seeds: int, *, choices: bool = False) -> certify.Certified:
    runs = []
    for seed in range(seeds):
        source = type("By", (Changing,), {"rule": rule, "choices": choices})(np.random.default_rng(seed), record=True)
        source.fresh = np.random.default_rng(1000 + seed)
        name = {dpboost.Params: "dpboost", dpxgboost.Params: "dpxgboost", fedgbdt.Params: "fedgbdt"}[type(params)]
        runs.append(ran(name, seed, params, source))
    return certify.certify([tape for tape, _ in runs], records(DATA), [model for _, model in runs])


def row(found: certify.Certified, what: str) -> Row:
    return next(one for one in found.rows if one.what == what)


# --- Choices ----------------------------------------------------------------------------------------------------------


def first_of_equal(request: Request, output: Array, fresh: np.random.Generator) -> Array:
    """Of a node whose options are all equal, as one without records, the first: there is nothing to choose."""
    table = np.asarray(request.value)
    return np.where((table == table[:, :1]).all(axis=1), 0, output)


def first_of_tied(request: Request, output: Array, fresh: np.random.Generator) -> Array:
    table = np.asarray(request.value)
    return (table == table[np.arange(len(table)), output][:, None]).argmax(axis=1)


def by_gumbel(request: Request, gumbel: Array, factor: float = 1.0) -> Array:
    mechanism: Any = request.mechanism
    return np.asarray((factor * mechanism.coefficient * np.asarray(request.value) + gumbel).argmax(axis=1))


def seeded_by_path(request: Request, output: Array, fresh: np.random.Generator) -> Array:
    own = np.random.default_rng(zlib.crc32(repr(request.path).encode()))
    return by_gumbel(request, own.gumbel(size=np.shape(request.value)))


def one_seed(request: Request, output: Array, fresh: np.random.Generator) -> Array:
    return by_gumbel(request, np.random.default_rng(5).gumbel(size=np.shape(request.value)))


def one_draw_for_all_nodes(request: Request, output: Array, fresh: np.random.Generator) -> Array:
    return by_gumbel(request, fresh.gumbel(size=(1, np.shape(request.value)[1])))


def six_times_as_hot(request: Request, output: Array, fresh: np.random.Generator) -> Array:
    return by_gumbel(request, fresh.gumbel(size=np.shape(request.value)), 6.0)


def often_the_best(request: Request, output: Array, fresh: np.random.Generator) -> Array:
    return np.where(fresh.random(len(output)) < 0.3, np.argmax(request.value, axis=1), output)


def unchanged(request: Request, output: Array, fresh: np.random.Generator) -> Array:
    return output


BOOST = replace(PARAMS["dpboost"], epsilon=60.0)
NEWTON = dpxgboost.Params(epsilon=4.0, relation=Relation.ADD_REMOVE, trees=6, depth=4)


@pytest.mark.parametrize(
    ("rule", "params", "what"),
    [
        (first_of_equal, PARAMS["dpboost"], "choice: law"),
        (first_of_equal, NEWTON, "choice: order"),
        (first_of_tied, NEWTON, "choice: coefficient"),
        (seeded_by_path, BOOST, "choice: freshness"),
        (seeded_by_path, NEWTON, "choice: freshness"),
        (one_seed, NEWTON, "choice: freshness"),
        (one_draw_for_all_nodes, BOOST, "choice: freshness"),
        (one_draw_for_all_nodes, NEWTON, "choice: freshness"),
        (six_times_as_hot, replace(BOOST, trees=24), "choice: coefficient"),
        (often_the_best, BOOST, "choice: coefficient"),
    ],
)
def test_choices_that_are_not_drawn_are_found(rule: Changed, params: Any, what: str) -> None:
    found = certified(rule, params, 3, choices=True)
    assert row(found, what).verdict is Verdict.VIOLATION and found.status == 1, found.to_dict()


@pytest.mark.parametrize("params", [BOOST, NEWTON])
def test_right_choices_pass(params: Any) -> None:
    found = certified(unchanged, params, 3, choices=True)
    assert found.verdict is Verdict.NOT_FOUND, found.to_dict()
    assert row(found, "choice: coefficient").power.startswith("choices as by ")


# --- Single values ----------------------------------------------------------------------------------------------------


def some(share: float, factor: float) -> Changed:
    """A share of values has a part of its noise."""
    return lambda request, noise, fresh: np.where(fresh.random(noise.shape) < share, factor * noise, noise)


def off_the_grid(request: Request, noise: Array, fresh: np.random.Generator) -> Array:
    """A few values that are not on the grid of the noise have none; they are rounded to it, as all outputs are."""
    off = on_grid(request.mechanism, np.asarray(request.value)) != request.value
    return np.where(off & (fresh.random(noise.shape) < 0.03), 0.0, noise)


def cut_off(most: float, side: int = 0) -> Changed:
    """Larger noise is drawn again."""

    def rule(request: Request, noise: Array, fresh: np.random.Generator) -> Array:
        draw = fresh.normal if getattr(request.mechanism, "sd", 0.0) else fresh.laplace
        beyond = np.abs(noise) > most if side == 0 else side * noise > most
        while beyond.any():
            noise = np.where(beyond, draw(size=noise.shape), noise)
            beyond = np.abs(noise) > most if side == 0 else side * noise > most
        return noise

    return rule


FEDERATED = fedgbdt.Params(epsilon=4.0, relation=Relation.ADD_REMOVE, trees=24, depth=5, bins=6)
LEAVES = replace(PARAMS["dpboost"], trees=48, trees_per_ensemble=4)


@pytest.mark.parametrize("noise", ["discrete", "floating"])
@pytest.mark.parametrize(
    ("rule", "params"),
    [
        (some(0.03, 1e-3), FEDERATED),
        (some(0.05, 1e-2), LEAVES),
        (some(0.01, 1e-6), LEAVES),
        (cut_off(2.5), FEDERATED),
        (cut_off(2.2, 1), FEDERATED),
        (cut_off(4.0), LEAVES),
        (cut_off(3.5, -1), LEAVES),
    ],
)
def test_single_values_with_hardly_any_noise_and_cut_tails_are_found(rule: Changed, params: Any, noise: Any) -> None:
    found = certified(rule, replace(params, noise=noise), 3)
    assert row(found, "single values").verdict is Verdict.VIOLATION, found.to_dict()


def test_floats_without_noise_are_counted_on_its_grid() -> None:
    found = row(certified(off_the_grid, replace(LEAVES, noise="floating"), 3), "noise is there at all")
    assert found.verdict is Verdict.VIOLATION and not found.reason.startswith("0 values")


# --- Noise and true values --------------------------------------------------------------------------------------------


def ordered(request: Request, noise: Array, by_size: bool) -> Array:
    """Of each two neighbours the larger value has the larger noise; or the larger size, the smaller one."""
    value, made = np.ravel(request.value), noise.ravel().copy()
    for k in range(0, len(made) - 1, 2):
        small, large = sorted(made[k : k + 2], key=abs if by_size else None)
        rising = abs(value[k]) >= abs(value[k + 1]) if by_size else value[k] < value[k + 1]
        made[k : k + 2] = (small, large) if rising else (large, small)
    return made.reshape(noise.shape)


def outwards(request: Request, noise: Array, fresh: np.random.Generator) -> Array:
    """Away from the middle of the values in one run, towards it in another."""
    value = np.asarray(request.value)
    turned = zlib.crc32(repr(request.path).encode()) % 2 * 2 - 1
    return turned * np.abs(noise) * np.where(value > np.median(value), 1, -1)


@pytest.mark.parametrize("noise", ["discrete", "floating"])
@pytest.mark.parametrize(
    ("rule", "params"),
    [
        (lambda request, noise, fresh: ordered(request, noise, False), FEDERATED),
        (lambda request, noise, fresh: ordered(request, noise, False), LEAVES),
        (lambda request, noise, fresh: ordered(request, noise, True), FEDERATED),
        (lambda request, noise, fresh: np.abs(noise) * np.where(np.asarray(request.value) >= 0, 1, -1), LEAVES),
        (outwards, LEAVES),
    ],
)
def test_noise_that_is_made_after_the_true_values_is_found(rule: Changed, params: Any, noise: Any) -> None:
    found = certified(rule, replace(params, noise=noise), 3)
    assert row(found, "noise beside true values").verdict is Verdict.VIOLATION, found.to_dict()


@pytest.mark.parametrize("params", [FEDERATED, LEAVES])
def test_right_values_pass(params: Any) -> None:
    for noise in ("discrete", "floating"):
        assert certified(unchanged, replace(params, noise=noise), 2).verdict is Verdict.NOT_FOUND


# --- Public draws of the noise's seed ---------------------------------------------------------------------------------


class OneSeed(SampleSource):
    """Two generators of one seed: the first gives the public draws, the second noise, choices or coins, by a rule.

    rule: uniform numbers from one of the second generator for each draw, of any shape.
    """

    rule: Callable[[np.random.Generator, Any], Array]
    secret = ("noise",)

    def seeded(self, seed: int) -> OneSeed:
        self.first, self.second = (np.random.default_rng(seed) for _ in range(2))
        return self

    def draw(self, request: Request) -> Array:
        high = request.law[1] if request.law[0] == "integers" else None
        numbers = self.first.random(request.size)
        super().draw(request)
        found = numbers if high is None else (numbers * high).astype(np.int64)
        self.tape[-1] = replace(self.tape[-1], values=found)
        return found

    def assign(self, request: Request) -> Any:
        found = np.asarray(super().assign(request))
        if "coins" in self.secret:
            found = np.where(self.numbers(found.shape) < request.law[1], 0, -1)
            self.tape[-1] = replace(self.tape[-1], values=found)
        return found

    def numbers(self, shape: Any) -> Array:
        return np.clip(type(self).rule(self.second, shape), 1e-16, 1 - 1e-16)  # type: ignore[call-arg, arg-type]

    def release(self, request: Request) -> Array:
        output, mechanism, value = super().release(request), request.mechanism, np.asarray(request.value)
        if isinstance(mechanism, Exponential):
            return output
        if "noise" not in self.secret:
            return output
        unit: Any = getattr(mechanism, "sd", None) or mechanism.scale  # type: ignore[union-attr]
        inverse = special.ndtri if hasattr(mechanism, "sd") else stats.laplace.ppf
        return on_grid(mechanism, value + inverse(self.numbers(value.shape)) * np.asarray(unit))  # type: ignore[arg-type]


def turned(second: np.random.Generator, shape: Any) -> Array:
    return 1 - second.random(shape)


def signed(second: np.random.Generator, shape: Any) -> Array:
    """The size by a number, the sign by another one's, so that the streams are not side by side."""
    numbers = second.random((*shape, 2))
    return np.where(numbers[..., 1] < 0.5, numbers[..., 0] / 2, 1 - numbers[..., 0] / 2)


GRADIENT = replace(PARAMS["sgbdt"], values="uniform")


@pytest.mark.parametrize("noise", ["discrete", "floating"])
@pytest.mark.parametrize(
    ("rule", "params", "secret"),
    [
        (np.random.Generator.random, PARAMS["fedgbdt"], ("noise",)),
        (turned, PARAMS["fedgbdt"], ("noise",)),
        (signed, PARAMS["fedgbdt"], ("noise",)),
        (np.random.Generator.random, GRADIENT, ("noise",)),
        (np.random.Generator.random, GRADIENT, ("noise", "coins")),
        (turned, GRADIENT, ("coins",)),
    ],
)
def test_secrets_by_numbers_that_the_public_draws_are_are_found(
    rule: Any, params: Any, secret: Any, noise: Any
) -> None:
    runs = []
    for seed in range(6):
        source = type("Seeded", (OneSeed,), {"rule": rule, "secret": secret})(np.random.default_rng(seed), record=True)
        name = "sgbdt" if params is GRADIENT else "fedgbdt"
        runs.append(ran(name, seed, replace(params, noise=noise), source.seeded(100 + seed)))
    found = certify.certify([tape for tape, _ in runs], records(DATA), [model for _, model in runs])
    wrong = [one.what for one in found.rows if one.verdict is Verdict.VIOLATION]
    assert wrong == ["secrets beside public draws"] and found.status == 1, found.to_dict()
