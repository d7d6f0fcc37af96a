"""Reused and seeded draws are found and located; fresh randomness is never accused (bound 1e-9 a call)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pytest

from refdp.audit.freshness import patterns, release_kind, stale, standardised
from refdp.audit.inputs import inputs
from refdp.audit.replay import run
from refdp.audit.report import SCHEMAS, trainer
from refdp.audit.search import Search
from refdp.data.records import Records, make_records
from refdp.faces import registry
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.noise.samplers import GeneratorBits, standard_draws
from refdp.privacy.curator import Request, Source, Transcript
from refdp.privacy.events import Relation, Sensitivity
from refdp.privacy.sources import SampleSource, asked

DPBOOST = registry.paper("dpboost")


def records() -> Records:
    generator = np.random.default_rng(5)
    x = np.column_stack([generator.random(8), generator.random(8) * 100, generator.integers(0, 3, 8)])
    return make_records(SCHEMAS[0], x, generator.random(8))


def transcripts(make: Callable[[int], Source], **settings: Any) -> tuple[Transcript, Transcript]:
    given = {
        "epsilon": 1e-3,
        "relation": Relation.ADD_REMOVE,
        "trees": 6,
        "trees_per_ensemble": 3,
        "depth": 3,
        "bins": 8,
    }
    params = DPBOOST.params({**given, **settings}, as_published=False)
    first, second = (run(trainer(DPBOOST, params), records(), make(seed), params.relation)[0] for seed in (1, 2))
    return first, second


def sample(seed: int) -> Source:
    return SampleSource(np.random.default_rng(seed))


@dataclass
class Meddled:
    """A source whose noise is made by another function of (request, standard draws of the first like request)."""

    source: Source
    noise: Callable[[Meddled, Request], Any]
    seen: dict[tuple[str, Any], Any] = field(default_factory=dict)

    def release(self, request: Request) -> Any:
        return self.noise(self, request)

    def draw(self, request: Request) -> Any:
        return self.source.draw(request)

    def assign(self, request: Request) -> Any:
        return self.source.assign(request)


def reused(kind: type) -> Callable[[Meddled, Request], Any]:
    """One draw for all releases of a mechanism and shape."""

    def noise(meddled: Meddled, request: Request) -> Any:
        mechanism, value = asked(request)
        if not isinstance(mechanism, kind):
            return meddled.source.release(request)
        key = type(mechanism).__name__, value.shape
        if key not in meddled.seen:
            generator = np.random.default_rng(meddled.source.draw(Request("draw", (), law=("integers", 2**31), size=1)))
            meddled.seen[key] = standard_draws(mechanism.draws(value), generator, GeneratorBits(generator))
        return mechanism.apply(value, meddled.seen[key])

    return noise


def seeded(kind: type) -> Callable[[Meddled, Request], Any]:
    """Noise that depends on the place in the program alone."""

    def noise(meddled: Meddled, request: Request) -> Any:
        mechanism, value = asked(request)
        if not isinstance(mechanism, kind):
            return meddled.source.release(request)
        generator = np.random.default_rng(list(request.name.encode()))
        return mechanism.apply(value, standard_draws(mechanism.draws(value), generator, GeneratorBits(generator)))

    return noise


def one_draw(meddled: Meddled, request: Request) -> Any:
    """The same noise for all leaves of a tree."""
    mechanism, value = asked(request)
    if not isinstance(mechanism, Laplace):
        return meddled.source.release(request)
    draw = float(meddled.source.draw(Request("draw", (), law=("uniform",), size=1))[0])
    return mechanism.apply(value, np.full(value.shape, draw))


def found(meddling: Callable[[Meddled, Request], Any], /, **settings: Any) -> set[tuple[str, str]]:
    given = {"noise": "floating"} | settings
    runs = transcripts(lambda seed: Meddled(sample(seed), meddling), **given)
    return {(violation.kind, release_kind(violation.release)) for violation in stale(*runs)}


@pytest.mark.parametrize(
    "settings", [{}, {"noise": "discrete"}, {"scheme": "seq"}, {"scheme": "para"}, {"epsilon": 5.0}]
)
def test_fresh_noise_is_not_accused(settings: dict[str, Any]) -> None:
    for seed in range(5):
        assert stale(*transcripts(lambda s, base=seed: sample(100 * base + s), **settings)) == []


def test_noise_reused_between_trees_is_found() -> None:
    assert ("reused noise", "leaves") in found(reused(Laplace))
    assert ("reused noise", "leaves") in found(reused(DiscreteLaplace), noise="discrete")


def test_choices_reused_between_trees_are_found() -> None:
    assert any(kind == "reused noise" and "splits" in release for kind, release in found(reused(Exponential)))


def test_noise_of_a_fixed_seed_is_found() -> None:
    assert ("seeded noise", "leaves") in found(seeded(Laplace))
    assert ("seeded noise", "leaves") in found(seeded(DiscreteLaplace), noise="discrete")
    assert any(kind == "seeded noise" and "splits" in release for kind, release in found(seeded(Exponential)))


def test_one_draw_for_all_leaves_is_found() -> None:
    assert ("reused noise", "leaves") in found(one_draw)


def test_a_fixed_secret_assignment_is_found() -> None:
    @dataclass
    class SameBlocks(SampleSource):
        def __init__(self, seed: int) -> None:
            super().__init__(np.random.default_rng(seed))

        def assign(self, request: Request) -> Any:
            return np.arange(request.size) % len(request.law[1])

    kinds = {(v.kind, release_kind(v.release)) for v in stale(*transcripts(SameBlocks, trees=60, trees_per_ensemble=3))}
    assert ("seeded noise", "ensemble #") in kinds
    assert ("reused noise", "ensemble #") in kinds


@pytest.mark.parametrize(
    "mechanism",
    [Laplace(0.3), Gaussian(2.0), Gaussian((1.0, 3.0)), DiscreteLaplace(1.0, 0.25), DiscreteGaussian(1.0, 0.25)],
)
def test_the_noise_is_read_off_the_output(mechanism: Any) -> None:
    """Standardised noise is what was drawn, and no value is likelier than the stated bound."""
    generator = np.random.default_rng(3)
    value = generator.integers(-8, 8, (3, 2)) / 4
    drawn = standard_draws(mechanism.draws(value), generator, GeneratorBits(generator))
    noise, chances = standardised(mechanism, value, mechanism.apply(value, drawn))
    np.testing.assert_allclose(noise, np.ravel(drawn), atol=1e-8)
    if hasattr(mechanism, "step"):
        most = float(np.exp(mechanism.log_density(np.zeros(1), np.zeros(1))[0]))
        assert most <= np.exp(chances[0]) * (1 + 1e-12)


def test_chances_of_choices_and_blocks_are_those_of_the_likeliest() -> None:
    first, _ = transcripts(sample)
    by_kind = {release_kind(pattern.name): pattern for pattern in patterns(first)}
    assert by_kind["splits of level #"].chances == pytest.approx(-np.log(19), abs=0.01)  # 8 + 8 thresholds, 3 colours
    assert np.exp(by_kind["ensemble #"].chances[0]) == pytest.approx(0.369, abs=1e-3)  # the first tree's share


def after_coins(records: Any, curator: Any) -> Any:
    """Coins for as many rows as there are, then noise: where it is in its stream depends on that number."""
    with curator.subsample("rows", 0.5, len(records.y)):
        pass
    exact = np.full(8, float(len(records.y)))
    return curator.release("n", Laplace(8.0), exact, sensitivity=Sensitivity(8.0, 1, "test", Relation.ADD_REMOVE))


def test_noise_of_a_fixed_seed_is_found_wherever_it_is_in_its_stream() -> None:
    """Two runs of an audit have different data; its freshness is that of two runs on the same."""
    fixed, fresh = (lambda own: np.random.default_rng(0)), (lambda own: own)
    for seeds, kinds in ((fixed, {"seeded noise"}), (fresh, set())):
        search = Search(after_coins, 1.0, 0.0, Relation.ADD_REMOVE, 0, draws=50,
                        source=lambda own, seeds=seeds: SampleSource(seeds(own)))  # fmt: skip
        for number, pair in enumerate(islice(inputs(SCHEMAS[0], Relation.ADD_REMOVE, 0), 2)):
            search.look(pair, number)
        search.noise()
        assert {one.kind for one in search.notes.violations} == kinds
