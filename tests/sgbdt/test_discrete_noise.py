"""Discrete noise in S-GBDT: what it is drawn from, what it costs, and that sums need no rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from proofs.sgbdt import discrete as sgbdt_discrete
from refdp.accounting import account
from refdp.accounting.individual import tabulated
from refdp.data.kernels import GRID
from refdp.data.records import Schema
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace
from refdp.papers import sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation, expand
from refdp.privacy.replay import Recorder
from refdp.privacy.sources import SampleSource
from tests.numbers.models import CLASSES, REGRESSION, records


def params(**given: object) -> sgbdt.Params:
    small = {"epsilon": 3.0, "relation": Relation.ADD_REMOVE, "trees": 5, "depth": 2, "subsample": 0.4,
             "noise": "discrete"}  # fmt: skip
    return sgbdt.Params(**(small | given))  # type: ignore[arg-type]


@pytest.mark.parametrize("schema", [REGRESSION, CLASSES], ids=["regression", "classes"])
def test_sums_are_on_the_grid_of_the_noise_and_so_is_every_release(schema: object) -> None:
    given = params(extra_trees=4)
    recorder = Recorder(SampleSource(np.random.default_rng(0), exact=True), given.relation)
    curator = Curator(recorder, given.relation)
    sgbdt.train(given, records(schema, 300, 1), curator)  # type: ignore[arg-type]
    assert curator.event() == expand(sgbdt.plan(given, schema).event)  # type: ignore[arg-type]
    leaves = 0
    for entry in recorder.transcript.entries:
        if isinstance(entry.request.mechanism, DiscreteGaussian):
            leaves += 1
            assert entry.request.mechanism.step == GRID
            for values in (entry.value, entry.output):
                assert values is not None
                np.testing.assert_array_equal(np.rint(values / GRID) * GRID, values)
        elif entry.request.kind == "release":
            assert isinstance(entry.request.mechanism, DiscreteLaplace)
    assert leaves == 9


@pytest.mark.parametrize("changes", [{}, {"extra_trees": 5}, {"subsample": 1.0}, {"orders": "joint"}, {"epsilon": 0.2}])
def test_the_certificate_keeps_the_claim_and_assumes_nothing_of_noise(changes: dict[str, object]) -> None:
    found = sgbdt.certificate(params(**changes), CLASSES)
    assert 0.5 < found.established.epsilon / found.claimed.epsilon <= 1
    assert not any("ideal noise" in line for line in found.assumptions)
    assert dict(found.claims)["sgbdt/discrete-subsampled"] in ("PROVED", "ARGUED")


@pytest.mark.parametrize("schema", [CLASSES, REGRESSION])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_a_shared_order_leaves_nothing_of_the_budget(schema: Schema, epsilon: float) -> None:
    """What is established is what is given; the sum of two epsilons, as the paper has it, leaves a twentieth."""
    settings = {"epsilon": epsilon, "delta": 1e-5, "trees": 400, "subsample": 1.0}
    shared, one = (sgbdt.certificate(params(orders=orders, **settings), schema) for orders in ("shared", "one"))
    assert 0.999 * epsilon <= shared.established.epsilon <= epsilon
    assert one.established.epsilon < 0.97 * epsilon
    filtered = sgbdt.certificate(params(orders="shared", extra_trees=50, **settings), schema)
    assert filtered.established.epsilon == shared.established.epsilon


def test_the_accountant_agrees() -> None:
    """Discrete noise on so fine a grid costs what Gaussian noise does, up to the rounding of the initial score."""
    costs = [account(sgbdt.plan(params(noise=noise), CLASSES), delta=5e-8) for noise in ("floating", "discrete")]
    assert costs[0].epsilon == pytest.approx(costs[1].epsilon, rel=1e-3)
    assert costs[1].methods["renyi"] <= sgbdt.certificate(params(), CLASSES).established.epsilon * (1 + 1e-4)


def test_balls_around_the_mixtures_moments_lie_within_what_is_charged() -> None:
    """Both directions, on lattices so coarse that noise of another variance, or half the cost, would show."""
    flint = pytest.importorskip("flint")
    for case in sgbdt_discrete.cases():
        with flint.ctx.workprec(sgbdt_discrete.BITS):
            ahead, behind = sgbdt_discrete.moments(case)
            t = sum(tau * shift * shift for tau, shift in zip(case.taus, case.shift, strict=True)) / 2
            charged = [
                float(tabulated(case.order, float(case.rate), np.array([0.0, float(t) * part]))[1]) for part in (1, 0.5)
            ]
            true = float((ahead.log() / (case.order - 1)).upper())
            assert float((behind.log() / (case.order - 1)).upper()) <= true <= charged[0] < true * (1 + 1e-6)
            assert charged[1] < float((ahead.log() / (case.order - 1)).lower())  # the mutant


def test_both_columns_have_their_own_deviation() -> None:
    """Error rate below 1e-8: sums of squares of 20000 draws within 6 deviations; exchanged deviations are rejected."""
    mechanism = DiscreteGaussian((3.0, 40.0), 0.5)
    source = SampleSource(np.random.default_rng(3))
    drawn = sgbdt_draws(source, mechanism, 20_000)
    for column, sd in enumerate(mechanism.sd if isinstance(mechanism.sd, tuple) else ()):
        ratio = float((drawn[:, column] ** 2).mean()) / sd**2
        assert abs(ratio - 1) < 6 * (2 / 20_000) ** 0.5
    assert mechanism.draws(drawn).parameter == (Fraction(36), Fraction(6400))
    value, other = np.array([[0.0, 0.0]]), np.array([[1.5, -20.0]])
    assert mechanism.observed_change(value, other, "whitened") == pytest.approx(0.5 * 2**0.5)
    assert mechanism.divergence(value, other, 2.0) == pytest.approx(0.5, rel=1e-12)
    loss = mechanism.log_density(value, drawn[:1]) - mechanism.log_density(other, drawn[:1])
    np.testing.assert_allclose(mechanism.loss(value, other, drawn[:1]), loss, atol=1e-9)


def sgbdt_draws(source: SampleSource, mechanism: DiscreteGaussian, rows: int) -> np.ndarray:
    from refdp.privacy.curator import Request

    return source.release(Request("release", ("x",), np.zeros((rows, 2)), mechanism))
