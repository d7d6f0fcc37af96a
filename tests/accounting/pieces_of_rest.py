# ruff: noqa: B023 (what closes over a loop is called inside it)
"""Events of another library, groups, and what is answered where nothing else can be."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any
from unittest.mock import patch

from account_plans import ADD_REMOVE, gaussian, laplace
from pieces_of_pairs import NODES
from pieces_of_steps import refused
from recorded import Cases

from refdp.accounting import allocation, divergence, dp_events, enclosure, group
from refdp.accounting.bound import Bound
from refdp.accounting.normal import Mixture
from refdp.accounting.releases import LaplaceCost

TINY = LaplaceCost(Fraction(1, 10**20))
SLOTS = Mixture(((TINY, 1.0),), ((TINY, 0.125),), False, ((TINY, 0.125, 8),))


def event(kind: str, **told: Any) -> Any:
    """What has the name and the fields of an event of dp_accounting."""
    return type(kind, (), told)()


NOISY = event("LaplaceDpEvent", noise_multiplier=2.0)
EVENTS = {
    "no operation": event("NoOpDpEvent"),
    "not private": event("NonPrivateDpEvent"),
    "Gaussian": event("GaussianDpEvent", noise_multiplier=1.5),
    "Gaussian without noise": event("GaussianDpEvent", noise_multiplier=0),
    "Laplace": NOISY,
    "discrete Laplace": event("DiscreteLaplaceDpEvent", noise_parameter=0.25, sensitivity=3),
    "discrete Laplace of no noise": event("DiscreteLaplaceDpEvent", noise_parameter=0.0, sensitivity=3),
    "discrete Laplace of all noise": event("DiscreteLaplaceDpEvent", noise_parameter=math.inf, sensitivity=3),
    "responses": event("RandomizedResponseDpEvent", noise_parameter=0.25, num_buckets=4),
    "in sequence": event("ComposedDpEvent", events=[NOISY, event("NoOpDpEvent"), NOISY]),
    "repeated": event("SelfComposedDpEvent", event=NOISY, count=3),
    **{
        f"concentrated {rho} {xi}": event("ZCDpEvent", rho=rho, xi=xi)
        for rho, xi in ((0.0, 0.0), (0.5, 0.25), (-0.5, 0.0), (0.5, -0.25), (math.inf, 0.0), (0.5, math.inf))
    },
    **{
        f"mixture {sizes} {chances} {deviation}": event(
            "MixtureOfGaussiansDpEvent", sensitivities=sizes, sampling_probs=chances, standard_deviation=deviation
        )
        for sizes, chances, deviation in (
            ([1.0, 2.0], [0.25, 0.75], 2.0), ([1.0], [0.25, 0.75], 2.0), ([1.0, 2.0], [0.25, 0.5], 2.0),
            ([1.0, 2.0], [-0.25, 1.25], 2.0), ([1.0, 2.0], [0.25, 0.75], 0.0), ([1.0, 2.0], [0.25, 0.75], -1.0),
            ([1.0, 2.0], [0.25, 0.75], math.inf), ([1.0, math.inf], [0.25, 0.75], 2.0),
            ([1.0, 2.0], [0.25, 0.75 + 1e-8], 2.0), ([1.0, 2.0], [0.0, 1.0], 2.0),
        )
    },
    **{
        f"sample of {part} of {whole}": event(
            "SampledWithoutReplacementDpEvent", event=NOISY, sample_size=part, source_dataset_size=whole
        )
        for part, whole in ((3, 9), (9, 9), (0, 9), (10, 9), (-1, 9), (0, 0))
    },
    **{
        f"sampled {rate}": event("PoissonSampledDpEvent", event=NOISY, sampling_probability=rate)
        for rate in (0.0, 0.25, 1.0)
    },
}  # fmt: skip


def answered(**at: float) -> Bound:
    """Made bounds, smaller for larger questions."""
    value = math.exp(-3 * next(iter(at.values())))
    return Bound(at.get("epsilon", value), at.get("delta", value), 0.5 * value, value, "made", {})


def undecided() -> list[Any]:
    """The ends that always hold, where no tilt does."""
    with patch.object(enclosure._Search, "every_direction", lambda self, tilt: None):
        return [
            call(NODES["sampled"], ADD_REMOVE, 0.5) for call in (enclosure.enclose_delta, enclosure.enclose_epsilon)
        ]


CASES: Cases = {
    **{
        f"event {name}": lambda one=one: repr(refused(lambda: dp_events.from_dp_event(one, ADD_REMOVE)))
        for name, one in EVENTS.items()
    },
    "paths": lambda: [
        group.along_path(answered, pure, k, delta, epsilon)
        for pure in (0.5, 300.0, math.inf)
        for k in (2, 3)
        for delta, epsilon in (
            (0.0, None),
            (1e-3, None),
            (0.9, None),
            (None, 0.0),
            (None, 1.0),
            (None, 800.0),
            (None, 903.0),
        )
    ],
    "answers of nothing": lambda: [
        refused(lambda: divergence.renyi_epsilon(plan, delta))
        for plan in (laplace(3.0), gaussian(3.0))
        for delta in (-0.5, 0.0, 1e-9, 1.0, 1.5)
    ],
    "largest losses below rounding": lambda: [
        allocation._largest_below(SLOTS, ADD_REMOVE, at) for at in (("delta", 1e-30), ("epsilon", 1e-25))
    ],
    "no composition in some direction": undecided,
    "largest deltas": lambda: [
        divergence.node_renyi_delta(NODES[name], ADD_REMOVE, 0.0) for name in ("Gaussian", "pure")
    ],
}
