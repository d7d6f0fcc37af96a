"""Pairs, mixtures of them, and their measures, at losses on both sides of every border."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from recorded import Cases

from refdp.accounting import distributions, grid, mixtures, pairs, single, statistic
from refdp.accounting.distributions import View
from refdp.accounting.grid import Measure
from refdp.accounting.normal import Blocks, Composed, Exchanged, Mixture, Sampled
from refdp.accounting.releases import (
    DiscreteGaussianCost,
    DiscreteLaplaceCost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RangeCost,
)

LOSSES = np.array([-40.0, -2.5, -1.3, -1.1, -0.7, -0.4, -0.05, 0.0, 0.05, 0.4, 0.5, 0.7, 1.1, 1.2, 1.3, 2.5, 40.0])
GAUSS, LAPLACE, DISCRETE = pairs.GaussianPair(0.8), pairs.LaplacePair(1.3), pairs.DiscreteLaplacePair(0.4, 3)
PAIRS = {
    "Gaussian": GAUSS,
    "sharp Gaussian": pairs.GaussianPair(3.0),
    "Laplace": LAPLACE,
    "discrete Laplace": DISCRETE,
    "discrete Laplace of one step": pairs.DiscreteLaplacePair(0.7, 1),
    "range": pairs.BoundedRange(1.1),
    "two points": pairs.TwoPoint(0.5, 1.2),
    "outcomes": pairs.Outcomes(((0.5, 0.25), (0.25, 0.5), (0.125, 0.125), (0.125, 0.125))),
    "discrete Gaussian": pairs.DiscreteGaussianPair(1.5, (1,)),
    "discrete Gaussian of two coordinates": pairs.DiscreteGaussianPair(0.8, (2, 4)),
    "discrete Gaussian of unlike coordinates": pairs.DiscreteGaussianPair(0.6, (1, 3)),
    "first": mixtures.MixtureFirst(0.3, LAPLACE),
    "second": mixtures.MixtureSecond(0.3, LAPLACE),
    "first Gaussian": mixtures.MixtureFirst(0.01, GAUSS),
    "second Gaussian": mixtures.MixtureSecond(0.6, GAUSS),
    "fixed size": mixtures.FixedSize(0.3, GAUSS),
    "exchanged": mixtures.Exchanged(0.3, GAUSS, pairs.GaussianPair(1.6)),
    "exchanged Laplace": mixtures.Exchanged(0.6, LAPLACE, pairs.LaplacePair(2.6)),
    "opposed Gaussian": mixtures.Opposed(0.3, GAUSS),
    "opposed Laplace": mixtures.Opposed(0.3, LAPLACE),
    "opposed discrete Laplace": mixtures.Opposed(0.6, DISCRETE),
    "measured": mixtures.MeasuredPair(Measure(-3, 0.25, np.array([0.25, 0.0, 0.125, 0.25, 0.0, 0.25]), 0.125, 1e-12)),
}
NODES = {
    "Gaussian": GaussianCost(Fraction(1, 4)),
    "Laplace": LaplaceCost(Fraction(3, 4)),
    "discrete Laplace": DiscreteLaplaceCost(Fraction(1, 5), 4),
    "pure": PureCost(Fraction(2, 3)),
    "range": RangeCost(Fraction(5, 4)),
    "discrete Gaussian": DiscreteGaussianCost(2.0, 1.0, 2),
    "discrete Gaussian, fine": DiscreteGaussianCost(2.0**17, 1.0, 2),
    "discrete Gaussian, a vector": DiscreteGaussianCost(1.5, 1.5, 2),
    "discrete Gaussian, a long vector": DiscreteGaussianCost(9.0, 7.5, 1),
}
NODES |= {
    "sampled": Sampled(0.2, NODES["Laplace"], "poisson"),
    "sampled without replacement": Sampled(0.2, NODES["Gaussian"], "without-replacement"),
    "composed": Composed(((NODES["Laplace"], 2), (NODES["Gaussian"], 1))),
    "blocks": Blocks(((NODES["Laplace"], 2), (NODES["pure"], 1)), 1),
    "two blocks at once": Blocks(((NODES["Laplace"], 2), (NODES["pure"], 1)), 2),
    "slots": Mixture(
        ((NODES["Laplace"], 0.25), (NODES["pure"], 0.5)), ((NODES["pure"], 0.5), (NODES["Laplace"], 0.25))
    ),
    "told": Mixture(((NODES["Laplace"], 0.25),), (), True),
    "exchanged": Exchanged(0.3, NODES["Laplace"], LaplaceCost(Fraction(3, 2))),
}
NODES |= {
    "sampled sequence": Sampled(0.4, NODES["composed"], "poisson"),
    "sampled told": Sampled(0.4, NODES["told"], "poisson"),
    "told Gaussian": Mixture(((NODES["Gaussian"], 0.125),), (), True),
    "sampled Gaussian": Sampled(0.01, NODES["Gaussian"], "poisson"),
}
M = Measure(-2, 0.25, np.array([0.25, 0.0, 0.375, 0.25]), 0.125, 1e-9)
HIGHER = Measure(1, 0.25, np.array([0.5, 0.25, 0.25]), 0.0, 2e-9)
COARSE = Measure(-1, 0.5, np.array([0.5, 0.25]), 0.25, 1e-9)


def view(above: bool, direction: distributions.Direction = "first", step: float = 0.05) -> View:
    return View(above, direction, step, -30.0, 2.0)


def directions(node: object) -> list[distributions.Direction]:
    return ["first", "second"] if isinstance(node, Sampled) else ["first"]


CASES: Cases = {
    **{f"tails {name}": lambda pair=pair: pair.tails(LOSSES) for name, pair in PAIRS.items()},
    **{f"bounds {name}": lambda pair=pair: (pair.bounds, pair.rounding) for name, pair in PAIRS.items()},
    **{f"above {name}": lambda pair=pair: grid.pessimistic(pair, 0.125, -25.0) for name, pair in PAIRS.items()},
    **{f"tested {name}": lambda pair=pair: statistic.rounded(pair, 0.125, -25.0) for name, pair in PAIRS.items()},
    **{
        f"transform measure {name} {d}": lambda node=node, d=d: distributions.measure_of(node, view(True, d))
        for name, node in NODES.items()
        for d in directions(node)
    },
    **{
        f"statistic {name} {d}": lambda node=node, d=d: statistic.statistic_of(node, view(False, d))
        for name, node in NODES.items()
        for d in directions(node)
        if name not in ("discrete Gaussian, a vector", "discrete Gaussian, a long vector")
    },
    **{f"range {name}": lambda node=node: distributions.loss_range(node) for name, node in NODES.items()},
    **{
        f"profile {name}": lambda node=node: [
            p(e) for p in [single.profile_of(node)] if p for e in (0.0, 0.3, 2.0, 9.0, 800.0)
        ]
        for name, node in NODES.items()
    },
    **{
        f"profile's epsilon {name}": lambda node=node: [
            single.epsilon_bounds(p, delta, 60.0) for p in [single.profile_of(node)] if p for delta in (1e-9, 0.01, 0.9)
        ]
        for name, node in NODES.items()
        if not name.startswith("discrete Gaussian,")
    },
    "mixed losses": lambda: [mixtures.mixed_loss(x, 0.3) for x in (-30.0, -1.0, 0.0, 0.5, 1.0, 1.5, 30.0, 900.0)],
    "unmixed losses": lambda: mixtures.unmixed_loss(LOSSES, 0.3),
    "extents": lambda: [grid.extent(pair, 0.01, cut) for pair in PAIRS.values() for cut in (-20.0, -900.0)],
    "spread out": lambda: [grid.spread_out(M, every, 0.25 / every) for every in (1, 3)],
    "envelope": lambda: grid.envelope([M, HIGHER]),
    "weighted": lambda: [
        grid.weighted([(M, 0.25), (HIGHER, 0.5)], 0.25, 0.25),
        grid.weighted([(COARSE, 0.5), (M, 0.25)], 0.25, 0.25),
        grid.weighted([(HIGHER, 0.75)], 0.25, 0.25),
        grid.weighted([(Measure(-5, 0.25, np.ones(2) / 2, 0, 0), 0.5)], 0.5, 0.25),
    ],
    "log mass": lambda: (M.log_mass, M.losses, HIGHER.losses),
    "added": lambda: statistic.added(
        [statistic.rounded(PAIRS[name], 0.25, -20.0) for name in ("Laplace", "two points")]
    ),
    "sizes": lambda: [statistic.rounded(PAIRS[name], 0.25, -20.0).size for name in ("Laplace", "second")],
    "told before and after": lambda: [
        statistic._told(statistic.Statistic(start, 0.5, np.array([[0.5, 0.5]] * 4)), 0.25) for start in (-4, -1, 0, 3)
    ],
    "worst two points": lambda: [distributions._worst_two_point(1.25, tilt) for tilt in (0.1, 1.0, 30.0)],
    "fine noise": lambda: [
        distributions.discrete_gaussian(node, above).bounds
        for node in (
            DiscreteGaussianCost(2.0**16, 1.0, 2),
            DiscreteGaussianCost(2.0**16 + 1, 3.5, 2),
            NODES["discrete Gaussian, a long vector"],
        )
        for above in (False, True)
    ],
    "smoothing": lambda: [distributions.smoothing(length) for length in (0.5, 1.0, 3.0)],
    "enumerated": lambda: [
        distributions._enumerated(DiscreteGaussianCost(sigma, length, norm)) or [()]
        for sigma, length, norm in (
            (1.0, 2.0, 1),
            (1.0, 2.0, 2),
            (1.3, 12.0, 1),
            (9.0, 3.0, 2),
            (3.0, 13.0, 1),
            (4.0, 2.9, 1),
        )
    ],
}
