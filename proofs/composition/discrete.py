"""Facts that several papers use: noise on a grid, and sampling."""

from __future__ import annotations

from proofs.checker.evidence import Follows, Proved
from proofs.checker.proposition import Proposition
from proofs.checker.statements import AtMost, ForAll, reals
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
    Proposition(
        "composition/discrete-gaussian-fine",
        "refdp/accounting/fine.py",
        "N releases, each of discrete Gaussian noise of variance parameter s^2 from 1023^2 steps^2 on, or of Gaussian "
        "noise, have delta(epsilon) at most f^N delta_G(epsilon - 2 N log f) with f = 1 + 2^-50: delta_G is that of "
        "one Gaussian release whose mu^2 is the sum of theirs, of length^2 / (s^2 - b^2) for discrete ones.",
        evidence=(
            Proved(
                ForAll(
                    reals("p q pp qq f e d"),
                    lambda p, q, f, e, d: p <= f * f * e * q + f * d,
                    lambda p, q, pp, qq, f, e, d: (
                        p >= 0,
                        q >= 0,
                        pp >= 0,
                        qq >= 0,
                        f >= 1,
                        e >= 0,
                        d >= 0,
                        p <= f * pp,
                        pp <= e * qq + d,
                        qq <= f * q,
                    ),
                ),
                label="two factors and a Gaussian's profile between them",
            ),
            Follows(
                "a discrete law is, but for a factor of f, that of an integer drawn around a Gaussian of variance "
                "s^2 - b^2: the sum of exp(-(x - y)^2 / 2 b^2) over integers x is within 2.1 exp(-2 pi^2 b^2) of its "
                "mean by Poisson's summation, and at most length^2 coordinates change"
            ),
        ),
        uses=("composition/gaussian", "composition/post-processing"),
        argument="Each release is replaced given those before, on the coordinates that differ, so that factors "
        "multiply and Gaussian releases that follow from earlier ones add up their mu^2.",
    ),
)
