"""Facts that several papers use: noise on a grid, and sampling."""

from __future__ import annotations

from proofs.checker.evidence import Follows, Proved
from proofs.checker.proposition import Proposition
from proofs.checker.statements import AtMost, reals
from proofs.checker.tightness import Tight
from proofs.composition.releases import laplace_loss
from refdp.data.numbers import absolute

PROPOSITIONS = (
    Proposition(
        "composition/discrete-laplace",
        "Ghosh, Roughgarden, Sundararajan 2009",
        "Noise on the grid of a step, of mass proportional to exp(-|z| step / scale), on values of that grid loses at "
        "most |v - v'| / scale a coordinate.",
        evidence=(
            Proved(
                AtMost(
                    reals("v w o scale"),
                    lambda v, w, o, scale: laplace_loss(v, w, o, scale),
                    lambda v, w, scale: absolute(v - w) / scale,
                    lambda scale: scale > 0,
                ),
                tight=Tight(
                    "|v - v'| / scale",
                    "for every output at or beyond v, away from v'",
                    at=lambda v: {"o": v},
                    given=lambda scale: scale > 0,
                    near={"v": 1, "w": 0, "o": 2, "scale": 1},
                ),
            ),
        ),
        uses=("composition/events",),
        argument="Both values are on the grid, so that both laws have the same constant before the exponential.",
    ),
    Proposition(
        "composition/discrete-gaussian",
        "Canonne, Kamath, Steinke 2020, Theorem 4 and Proposition 5",
        "A discrete Gaussian of variance parameter sd^2 on values of its grid has Renyi divergence of order alpha at "
        "most alpha (v - w)^2 / (2 sd^2), and coordinates add.",
        evidence=(
            Follows(
                "completing the square as for composition/gaussian leaves the ratio of the masses' sums over the grid, "
                "shifted and not; by Poisson's summation the sum over the grid itself is the largest"
            ),
        ),
        uses=("composition/gaussian",),
    ),
)
