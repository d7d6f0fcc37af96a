"""Grove: random trees steered by what was released, with leaves shrunk by the noise that everybody knows.

Why. A boosted model under differential privacy is made of sums over leaves. A private choice of splits spends budget
on the shape of trees; random shapes are free (Maddock et al. 2022), so the whole budget goes into the sums. Five things
then decide how much a sum is worth, and Grove does each of them from released values alone.

1. Thresholds. A noisy histogram of every numeric feature, 16 bins on the public bounds, says where its values are;
   where its noise allows it, with some more that end 2^-5, 2^-10, 2^-15 and 2^-20 of the bounds' width from 0, as
   bounds may be much wider than what lies in them. A second one, whose 64 bins follow the first, gives quantiles: the
   noise of many empty bins would count for more than the records. Of noisy counts running sums are put in order, and
   nothing is cut at 0 before. A tenth of the records is taken to be anywhere between the bounds, since a split may say
   most where few are, and as many as the noise adds in any bin. Missing values go left of every threshold; where the
   histograms show that there are some, the low bound is a threshold, too, which parts them from all others.
2. Start and scale. Noisy counts of the classes give the first log odds; noisy histograms of the label give a
   regression its centre and c, beyond which residuals are cut: noise is measured in units of c. Their bins are as wide
   as their noise asks for, and labels are taken to be in one run of them, that which is most above the noise. The first
   is of the whole range, which may be wide, and the second of what the first says that most labels are within. Where nu
   is not small a third, of the residuals that a tenth of the trees leave, says how much smaller c may be from then on;
   records follow the trees so far once more, since they begin anew with every c. Trees leave nothing in the mean of
   residuals that are cut: of labels of which a few are far from most that is a median. So the last release is of the
   mean of what they leave, over the whole range, which is added where it is sure.
3. One feature at a time. Most of what can be learnt from few records at a small epsilon is what each feature says by
   itself, and a random tree seldom asks for it. So a first pass asks each feature once, in their order: one release of
   the sums in its bins, between quantiles, or in its categories, at the scores that the features before it have left.
4. Steering. Of every released tree the sums of all inner nodes are known. What a split separated, less what noise alone
   would, is credited to its feature; half of the features of later trees are drawn in proportion to the root of that.
   Of classes this is of splits with more on both sides than three deviations of noise; of a regression, where h is 1,
   it is of all splits, as far as the credit of a feature is two deviations of its noise above nothing.
   Where nu is large there is room for deep trees of classes, which some sets need and others lose by. The first 40 have
   5 levels; all are used from then on if the mean of (G_1 - G_2)^2 of their neighbouring leaves is 4 s^2 or more, twice
   what noise alone makes it. Otherwise the lower levels ask their parents' splits again, and part nobody.
5. Many small steps. A leaf releases (G + N(0, s^2), H + N(0, s^2 / a^2)) and moves the score of its records by

       -eta G / (H + lambda),   lambda = eta s sqrt(T) / x.                                             (1)

   The noise of a step is at most eta s / lambda = x / sqrt(T), that of T steps x, however small the leaves are and
   however many the trees: noise that is independent averages out, and what is there to be learnt adds up. Where c has
   become smaller by a factor, noise has, too, and lambda may: the score's noise stays what it may be.
   A bin of the first pass is asked once, so that it takes all that its sum says: with a prior N(0, tau^2) of its value
   w and G = -H w up to the records' own scatter H v, the mean of w given G is

       w = -G H / (H^2 + (H v + s^2) / tau^2),                                                          (2)

   and tau^2 follows by moments from the bins of this feature and those before: the mean of G^2 is
   H^2 tau^2 + H v + s^2. Where H is small, as of a rare class, it is mostly noise, and so is tau^2: |w| is at most
   |G| / (H + s sqrt(M)), so that the noise of M features, in steps of .7, gives a score .7 at most, as (1) does.

Sensitivity. A record adds (g, h) to one leaf. Under the log loss the gradient p - y is cut to 1/2, which halves the
noise: a record that is on the wrong side of 1/2 pulls as one that is on it. With t = |p - y| and h = t (1 - t)

       g^2 + a^2 h^2 <= 1/4 + a^2 / 16,                                                                 (3)

both greatest where t = 1/2. For squares |g| <= c and h = 1: (g / c)^2 + a^2 <= 1 + a^2. Two records change
(replace-one) by at most twice as much.

Several classes. Of K > 2 classes each has its own score, and the sums of all scores are one release. A record is in one
class: there its gradient is cut to 1/2, in the others' scores to b, which is .4 / sqrt(K - 1) on the grid, and its
Hessian to d, b (1 - b) on the grid, so that whatever K is it adds little more than under two classes:

       sum of g_k^2 + a^2 h_k^2 <= 1/4 + a^2 / 16 + (K - 1) (b^2 + a^2 d^2).                            (4)

Composition. Every release is Gaussian, so costs add up in mu^2: shares of one mu^2, that of (epsilon, delta). Discrete
noise has 2^10 steps and more in a deviation, and is Gaussian but for a factor next to 1 (`refdp/accounting/fine.py`).
M features have equal shares of the first pass, T trees of the rest. A record is in one bin of a feature, so that (3)
and (4) are about the first pass, too.

| symbol | in the code | what it is, unit |
|---|---|---|
| T, depth, eta | trees, levels, shrinkage | trees, levels of splits: from nu unless given; step |
| nu | strength | rows times mu, over sqrt(1.64) for several classes: signal over noise of one sum over all records |
| a | hessian_weight | weight of the Hessian in the joint norm, less in trees, whose lambda counts more than H |
| M, q | features, feature_share | features that can be split, the first pass's part of the leaves' share |
| b, d | others_cut, others_hessian | what gradients and Hessians of other classes' scores are cut to |
| s | deviation | standard deviation of the noise of G |
| x | score_noise | standard deviation that the noise of all trees may give a score |
| lambda | padding | what is added to H |
| c | residual, unit | what residuals are cut to; G is in units of it |
| v | SCATTER | variance of a record's residual per unit of H |
| tau | prior | standard deviation of values of bins before anything was released |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from refdp.accounting import account
from refdp.checks import check_choices, check_count, check_epsilon, check_number
from refdp.data import candidates as grids
from refdp.data import numbers
from refdp.data.candidates import Candidates
from refdp.data.losses import GRID, grid_floor, log_gradient, on_grid, square_gradient
from refdp.data.memory import Memory
from refdp.data.numbers import Number, absolute, maximum, minimum
from refdp.data.population import (
    COUNT,
    Advance,
    Begin,
    Encode,
    Histogram,
    Leaves,
    Nodes,
    Place,
    Population,
    Refresh,
    RefreshAll,
    Root,
    Start,
    Statistics,
    Turn,
    named_all,
    values,
)
from refdp.data.reading import plan_of
from refdp.data.records import Classes, Ensemble, Floats, Model, Numeric, Records, Schema, Tree
from refdp.ledger.certificate import Certificate, Guarantee, issue
from refdp.noise.calibration import gaussian, total_mu
from refdp.noise.mechanisms import DiscreteGaussian, Gaussian
from refdp.privacy.curator import Curator
from refdp.privacy.events import Charge, Plan, Relation, Sensitivity, records_changed

PAPER = "Grove, refdp's own trainer (refdp/own/grove.py)"
AS_PUBLISHED: dict[str, Any] = {}
COARSE, FINE, LABEL_BINS = 15, 63, 64
"""Thresholds of the two histograms that quantiles are read off, and the most bins of the label's histogram."""
SCATTER = {"log": 1.0, "square": 0.15}
LARGEST_LEAF = 3.0
CUT, OTHERS = 0.5, 0.4
"""Gradients of the log loss are cut to these: of the class of a record, and of all the others together."""
SUMS = ("g", "h")
LEFT = ("r", "h")
"""Of residuals of the whole range of labels."""
LAST_SHARE = 0.02
"""Part of mu^2 that the mean of what all trees leave has, of a regression."""
CLOSER, PLAIN = (5, 10, 15, 20), 15.0
"""Powers of 1/2 of the bounds' width, from 0, at which the coarse histogram has further thresholds; and how many
deviations of a count's noise rows have to be for that."""
FIRST_STEP = 0.7
"""Step of the trees of one feature each."""
SURE = 2.0
"""Of a regression, the deviations of its noise that credit has to be above to steer."""
BEYOND = 3.0
"""Of a regression, the deviations of its noise that what all trees leave has to be above to be added."""
FOLLOWED, NARROWER = 150, 0.75
"""From which nu on c follows the residuals, and to less than what part of it."""
FEW, SOME = 20, 150
"""Below which nu the start of a regression has 30% and 15% of mu^2, and below the second more noise of the score."""
MOST, SPREAD = 0.85, 1.44
"""Part of the labels or residuals that are within c, and that one run of bins has to have; and how many of their
deviations c is at least, which are what so many of a normal law are within."""
PRESENCE = 0.2
"""Part of the splits of a feature with missing values that ask whether there is a value."""
USUAL, LOOKED_AT, DEEP = 5, 40, 1.0
"""Levels in use of so many first trees of classes, and what the last of these levels has to part for more of them."""


# --- Formulas, generic over numbers -----------------------------------------------------------------------------------


def log_hessian_of(gradient: Number) -> Number:
    """h = |g| (1 - |g|) of the log loss."""
    size = absolute(gradient)
    return size * (1 - size)


def squared_joint_norm(gradient: Number, hessian: Number, weight: Number) -> Number:
    """g^2 + a^2 h^2: what one record adds to the squared norm of (G, a H)."""
    return gradient * gradient + weight * weight * hessian * hessian


def squared_log_bound(weight: Number) -> Number:
    """1/4 + a^2 / 16: the supremum of `squared_joint_norm` for a cut gradient of the log loss, by (3)."""
    return (4 + weight * weight) / 16


def squared_others_bound(weight: Number, cut: Number, hessian: Number, scores: Number) -> Number:
    """(K - 1) (b^2 + a^2 d^2): what the scores of other classes add to (4)."""
    return (scores - 1) * squared_joint_norm(cut, hessian, weight)


def shared_by(scores: int) -> float:
    """The root of (4) over (3), of gradients alone: how much less of mu each of so many scores has than one would."""
    return math.sqrt(1 + OTHERS * OTHERS / (CUT * CUT)) if scores > 1 else 1.0


def squared_square_bound(weight: Number) -> Number:
    """1 + a^2: the supremum for a clipped residual in units of its bound, and h = 1."""
    return 1 + weight * weight


def clip(value: Number, bound: Number) -> Number:
    """min(max(value, -bound), bound)."""
    return minimum(maximum(value, -bound), bound)


def usual_start(schema: Schema, strength: float) -> float:
    """Part of mu^2 that start and scale have: .02 of classes; of a regression .3 below nu = 20, .15 below 150, .1."""
    if isinstance(schema.target, Classes):
        return 0.02
    return 0.3 if strength < FEW else 0.15 if strength < SOME else 0.1


def shrunk(
    gradient: Floats, hessian: Floats, scatter: float, variance: float, prior: float, padding: float = 0.0
) -> Floats:
    """(2) for released sums, shape (bins,), at most |G| / (H + padding); 0 where the released Hessian is not positive.

    prior: tau^2. padding: s sqrt(M).
    """
    h = np.maximum(hessian, 0.0)
    over = h * h + (h * scatter + variance) / max(prior, 1e-12) + 1e-12
    return np.asarray(-gradient * h / np.maximum(over, h * (h + padding)))


def moments(gradient: Floats, hessian: Floats, scatter: float, variance: float) -> float:
    """tau^2 by moments: what G^2 has above noise and scatter, over H^2. gradient, hessian: shape (bins,)."""
    h = np.maximum(hessian, 0.0)
    return float(max((gradient * gradient - h * scatter - variance).sum(), 0.0) / max((h * h).sum(), 1e-9))


# --- Parameters and charges -------------------------------------------------------------------------------------------

RUN, JOINT_LOG, JOINT_CLASSES, JOINT_SQUARE, COUNTS = (
    "composition/grove-run",
    "composition/grove-log-loss",
    "composition/grove-several-classes",
    "composition/grove-square-loss",
    "composition/grove-counts",
)
SUFFIX = {Relation.ADD_REMOVE: "", Relation.REPLACE_ONE: "-replace-one"}


@dataclass(frozen=True)
class Params:
    """All parameters of a run. They are public.

    epsilon, delta: total privacy budget. relation: the neighbours. rows: a public round number of records, which
      trees and depth follow where they are None.
    bins: quantile thresholds a feature. hessian_weight: a; None for .4, 1 in the first pass (classes), or .3
      (regression).
    threshold_share, start_share: parts of mu^2; start_share None for 2% (classes), or 30% below nu = 20, 15% below 150
      and 10% from there on (regression), where residuals' histogram has two fifths of it if c follows them, and the
      second of labels two fifths of the rest.
    feature_share: q, part of what the other two leave for leaves that the first pass has, 0 for no such pass; None to
      follow rows and features.
    explore: part of the features that are drawn evenly. residual: c, for labels in [-1, 1]; None to read it off the
      label's histogram, and off the residuals' where nu is 150 or more.
    score_noise: x, in units of the score, for a regression of c; None for .7 (classes), or .35 below nu = 150 and .25
      from there on (regression).
    noise: "discrete", exact samplers; or "floating", which risks that the last bits of what is released tell more than
      epsilon (Mironov 2012).
    """

    epsilon: float
    relation: Relation
    delta: float = 1e-5
    rows: int = 10_000
    trees: int | None = None
    depth: int | None = None
    shrinkage: float = 0.5
    bins: int = 32
    hessian_weight: float | None = None
    threshold_share: float = 0.1
    start_share: float | None = None
    feature_share: float | None = None
    explore: float = 0.5
    residual: float | None = None
    score_noise: float | None = None
    noise: Literal["floating", "discrete"] = "discrete"

    def __post_init__(self) -> None:
        check_choices(self)
        check_epsilon(self.epsilon)
        check_number("delta", self.delta, above=0, below=1)
        check_count("rows", self.rows, most=10**12)
        check_count("bins", self.bins, most=FINE)
        for name, most in (("trees", 10_000), ("depth", 10)):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), most=most)
        for name in ("shrinkage", "residual"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), above=2 * GRID, most=1)
        if self.score_noise is not None:
            check_number("score_noise", self.score_noise, least=0.001, most=1000)
        if self.hessian_weight is not None:
            check_number("hessian_weight", self.hessian_weight, above=0, most=3.3)
        check_number("threshold_share", self.threshold_share, above=0, most=0.5)
        if self.start_share is not None:
            check_number("start_share", self.start_share, above=0, most=0.4)
        if self.feature_share is not None:
            check_number("feature_share", self.feature_share, least=0, most=0.9)
        check_number("explore", self.explore, above=0, most=1)

    # what the settings amount to

    @property
    def cut(self) -> float:
        """c; 1, which cuts no label, before it is known."""
        return self.residual or 1.0

    def mu(self) -> float:
        """What the whole run may cost in Gaussian differential privacy."""
        return total_mu(self.epsilon, self.delta, "exact" if self.noise == "floating" else "fine")

    def strength(self, schema: Schema) -> float:
        """nu: rows times mu, half of it where two records change; for several classes over what (4) adds to (3)."""
        return self.rows * self.mu() / shared_by(schema.scores) / records_changed(self.relation)

    def rounds(self, schema: Schema) -> int:
        """T = 200, 400 from nu = 500; 800 from nu = 5,000 (classes)."""
        nu = self.strength(schema)
        many = 800 if isinstance(schema.target, Classes) else 400
        return self.trees or (200 if nu < 500 else 400 if nu < 5000 else many)

    def levels(self, schema: Schema) -> int:
        """4, 5 from nu = 500, 7 from 5,000 (classes); 3, 4 from nu = 500, 5 from 3,000 (regression)."""
        nu = self.strength(schema)
        if isinstance(schema.target, Classes):
            return self.depth or (4 if nu < 500 else 5 if nu < 5000 else 7)
        return self.depth or (3 if nu < 500 else 4 if nu < 3000 else 5)

    def early(self, schema: Schema) -> int:
        """After how many trees c follows what they leave: a tenth; 0 for never, as where nu is below 150 or c given."""
        if isinstance(schema.target, Classes) or self.residual or self.strength(schema) < FOLLOWED:
            return 0
        return self.rounds(schema) // 10

    def looks_again(self, schema: Schema) -> bool:
        """Whether there is a second histogram of labels: of a regression, but where c is given."""
        return not isinstance(schema.target, Classes) and not self.residual

    def labels_share(self, schema: Schema) -> float:
        """Part of mu^2 that all counts of labels have: what start has, .6 of it where one of residuals follows."""
        start = self.shares(schema)[1]
        return 0.6 * start if self.early(schema) else start

    def label_share(self, schema: Schema) -> float:
        """Part of mu^2 that the first of them have: .6 where there is a second."""
        whole = self.labels_share(schema)
        return 0.6 * whole if self.looks_again(schema) else whole

    def nearby_share(self, schema: Schema) -> float:
        """Part of mu^2 that the second histogram of labels has: the rest of theirs."""
        return self.labels_share(schema) - self.label_share(schema)

    def residual_share(self, schema: Schema) -> float:
        """Part of mu^2 that the histogram of residuals has: the rest of what start has."""
        return self.shares(schema)[1] - self.labels_share(schema)

    def histogram_bins(self, schema: Schema, share: float) -> int:
        """Bins of a histogram of labels or residuals with this part of mu^2: 64; 32, 16 or 8 to have two deviations of
        noise in an even share of rows."""
        signal = self.strength(schema) * math.sqrt(share)
        return min(LABEL_BINS, 64 if signal >= 128 else 32 if signal >= 64 else 16 if signal >= 32 else 8)

    def weight(self, schema: Schema) -> float:
        """a of the trees."""
        return self.hessian_weight or (0.4 if isinstance(schema.target, Classes) else 0.3)

    def first_weight(self, schema: Schema) -> float:
        """a of the first pass."""
        return self.hessian_weight or (1.0 if isinstance(schema.target, Classes) else 0.3)

    def shares(self, schema: Schema) -> tuple[float, float, float]:
        """Parts of mu^2: thresholds (none without numeric features), start, all leaves."""
        start = self.start_share or usual_start(schema, self.strength(schema))
        thresholds = self.threshold_share if numeric(schema) else 0.0
        return thresholds, start, 1 - thresholds - start - self.last_share(schema)

    def last_share(self, schema: Schema) -> float:
        """Part of mu^2 that the mean of what all trees leave has: none of classes, nor where c is given."""
        return LAST_SHARE if self.looks_again(schema) else 0.0

    def first_part(self, schema: Schema) -> float:
        """q: .5 below nu = 500, .3 from there on; none where a feature's signal, nu sqrt(q / M), is below 25."""
        many, nu = len(splittable(schema)), self.strength(schema)
        if many == 0:
            return 0.0
        part = 0.5 if nu < 500 else 0.3
        followed = part if nu * math.sqrt(part / many) >= 25 else 0.0
        return followed if self.feature_share is None else self.feature_share

    def first_levels(self, schema: Schema) -> int:
        """Levels of a numeric feature's tree in the first pass: 2, so 4 bins; 3 from nu = 500."""
        return 2 if self.strength(schema) < 500 else 3

    # what a run charges

    def counts_charge(self, share: float, cells: int) -> Charge:
        """Counts of which one record changes `cells` by 1: Gaussian noise of a share of mu^2."""
        touched = cells * records_changed(self.relation)
        bound = numbers.root(Fraction(touched))
        proved = Sensitivity(bound, 2, COUNTS + SUFFIX[self.relation], self.relation)
        mechanism, declared = gaussian(self.mu() * math.sqrt(share), proved, self.noise, touched=touched)
        return Charge(mechanism, declared, declared)

    def deviation(self, schema: Schema) -> float:
        """s: noise of G in units of the gradient, for one of T releases of the trees' part of the leaves' share."""
        share = self.shares(schema)[2] * (1 - self.first_part(schema))
        norm = self.joint_norm(schema, self.weight(schema))
        return norm / (self.mu() * math.sqrt(share / self.rounds(schema)))

    def noise_of_score(self, schema: Schema) -> float:
        """x where it is not given: .7 of classes, .35 of a regression below nu = 150, .25 from there on."""
        if isinstance(schema.target, Classes):
            return 0.7
        return 0.35 if self.strength(schema) < SOME else 0.25

    def padding(self, schema: Schema) -> float:
        """lambda of (1)."""
        x = self.score_noise or self.noise_of_score(schema)
        return self.shrinkage * self.deviation(schema) * math.sqrt(self.rounds(schema)) / x

    def first_deviation(self, schema: Schema) -> float:
        """s of one of M releases of the first pass."""
        share = self.shares(schema)[2] * self.first_part(schema)
        norm = self.joint_norm(schema, self.first_weight(schema))
        return norm / (self.mu() * math.sqrt(share / len(splittable(schema))))

    def last_deviation(self, schema: Schema) -> float:
        """Noise of the sum of what all trees leave, in units of half the range of labels."""
        return self.joint_norm(schema, self.weight(schema)) / (self.mu() * math.sqrt(self.last_share(schema)))

    def joint_norm(self, schema: Schema, a: float) -> float:
        """What all pairs (G, a H) change by; rounding to the grid adds at most 2^-22, and nothing to other classes'."""
        bound = squared_log_bound if isinstance(schema.target, Classes) else squared_square_bound
        b, d = Fraction(others_cut(schema)), Fraction(others_hessian(schema))
        whole = Fraction(bound(Fraction(a))) + squared_others_bound(Fraction(a), b, d, Fraction(schema.scores))
        return (numbers.root(whole) + 2.0**-22) * records_changed(self.relation)

    def leaf_charge(self, schema: Schema) -> Charge:
        """The sums (G, H) of all leaves of a tree."""
        return self.joint_charge(schema, self.deviation(schema), self.weight(schema))

    def first_charge(self, schema: Schema) -> Charge:
        """The sums (G, H) of all bins of a feature."""
        return self.joint_charge(schema, self.first_deviation(schema), self.first_weight(schema))

    def last_charge(self, schema: Schema) -> Charge:
        """The sum of what all trees leave, and how many records there are."""
        return self.joint_charge(schema, self.last_deviation(schema), self.weight(schema))

    def joint_charge(self, schema: Schema, s: float, a: float) -> Charge:
        """Sums (G, H) over disjoint sets of records: noise of two deviations, s and s / a."""
        log = JOINT_LOG if schema.scores == 1 else JOINT_CLASSES
        claim = (log if isinstance(schema.target, Classes) else JOINT_SQUARE) + SUFFIX[self.relation]
        bound = numbers.at_least(Fraction(self.joint_norm(schema, a)) / Fraction(s) * (1 + Fraction(1, 2**40)))
        proved = Sensitivity(bound, "whitened", claim, self.relation)
        deviations = (s, s / a) * schema.scores
        mechanism = Gaussian(deviations) if self.noise == "floating" else DiscreteGaussian(deviations, GRID)
        return Charge(mechanism, proved, proved)


def plan(params: Params, schema: Schema, *, proved: bool = False) -> Plan:
    """Everything that `train` will release. proved: with the ledger's sensitivities instead of the declared ones."""
    return plan_of(train_on, params, schema, proved=proved)


def certificate(params: Params, schema: Schema) -> Certificate:
    """Claimed: (epsilon, delta). Established: the plan's cost with the ledger's sensitivities."""
    proved = plan(params, schema, proved=True)
    bound = account(proved, delta=params.delta, quick=params.noise == "discrete")
    return issue(
        "grove", Guarantee(params.epsilon, params.delta), plan(params, schema), proved,
        schema=schema, params=params, established=bound.epsilon, rests_on=(RUN + SUFFIX[params.relation],),
    )  # fmt: skip


# --- What a record contributes ----------------------------------------------------------------------------------------

BINS = tuple(f"b{number:d}" for number in range(LABEL_BINS))


@dataclass(frozen=True)
class Contribution:
    """ "g" and "h" on the public grid; "b0" to "b63": whether the residual is in that bin of [-c, c]; or it is that
    class."""

    weighs: ClassVar[bool] = True
    learnt: ClassVar[tuple[str, ...]] = ("residual",)
    """Parameters that follow from releases during a run; whatever they are, what is declared holds."""
    params: Params
    schema: Schema

    def label(self, output: int, y: Floats) -> Floats:
        """In [-1, 1] for a regression; 1 for the class, 0 for the rest. Shape (rows,).

        output: of K scores 0 to K - 1; K for the class itself, as its number in the public list.
        """
        return y * 1.0 if output == self.schema.scores else self.schema.label(output, y)

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        """The log loss with gradients cut to 1/2, or the square loss with residuals cut to c and given in units of it.

        score, label: shape (rows,).
        """
        if of and of == classes_of(self.schema):
            return Statistics({name: (label == number) * 1.0 for number, name in enumerate(of)})
        if of and of == BINS[: len(of)]:
            left = clip(-square_gradient(score, label) / np.maximum(self.params.cut, GRID), 1.0)
            place = np.clip(np.trunc((left + 1) / 2 * len(of)), 0, len(of) - 1)
            return Statistics({name: (place == number).astype(np.float64) for number, name in enumerate(of)})
        if of == LEFT:
            return Statistics({"r": np.asarray(on_grid(clip(square_gradient(score, label), 1.0))), "h": None})
        if not isinstance(self.schema.target, Classes):
            g = on_grid(clip(square_gradient(score, label) / np.maximum(self.params.cut, GRID), 1.0))
            return Statistics({"g": np.asarray(g), "h": None})
        with np.errstate(over="ignore"):  # exp(-s) = inf gives the limit, and a warning would tell of a record's score
            gradient = log_gradient(score, label)
        g, h = on_grid(gradient), on_grid(log_hessian_of(gradient))
        if self.schema.scores == 1:
            return Statistics({"g": np.asarray(clip(g, CUT)), "h": np.asarray(h)})
        cut = np.where(label > CUT, CUT, others_cut(self.schema))
        most = np.where(label > CUT, CUT * CUT, others_hessian(self.schema))
        return Statistics({"g": np.asarray(clip(g, cut)), "h": np.asarray(minimum(h, most))})


# --- Training ---------------------------------------------------------------------------------------------------------


def train(params: Params, records: Records, curator: Curator) -> Model:
    """`train_on` records in memory. Errors: none that depend on a record; parameters and records were validated."""
    return train_on(params, records.schema, Memory(records), curator)


def train_on(params: Params, schema: Schema, population: Population, curator: Curator) -> Model:
    """Thresholds, start, one feature at a time, then T random trees with noisy leaf sums."""
    candidates = thresholds(params, schema, population, curator)
    population.tell(Encode(candidates))
    unit, initial = start(params, schema, population, curator)
    first, learnt = one_by_one(params, schema, candidates, unit, population, curator)
    early, many = params.early(schema), params.rounds(schema)
    padding = params.padding(schema)
    rounds, learnt = random_trees(params, schema, candidates, learnt, padding, unit, 0, early, population, curator)
    if early:
        left = narrowed(params, schema, initial, unit, first, rounds, population, curator)
        padding, unit = padding * left / unit, left
    more, _ = random_trees(params, schema, candidates, learnt, padding, unit, early, many, population, curator)
    initial = levelled(params, schema, initial, population, curator)
    steps = tuple(FIRST_STEP for own in first for _ in own[0]) + (params.shrinkage,) * many
    ensembles = [
        Ensemble(initial[k], (*[one for own in first for one in own[k]], *[own[k] for own in (*rounds, *more)]), steps)
        for k in outputs_of(schema)
    ]
    return Model("grove", asdict(params), schema, tuple(ensembles))


def random_trees(
    params: Params,
    schema: Schema,
    candidates: Candidates,
    learnt: Learnt,
    padding: float,
    unit: float,
    begin: int,
    end: int,
    population: Population,
    curator: Curator,
) -> tuple[list[tuple[Tree, ...]], Learnt]:
    """Random trees of these numbers, each of every output, with noisy leaf sums, and what was learnt."""
    charge, of = params.leaf_charge(schema), named_all(SUMS, outputs_of(schema))
    s = params.deviation(schema)
    found: list[tuple[Tree, ...]] = []
    for number in range(begin, end):
        with curator.step(f"tree {number}"):
            nodes = 2 ** params.levels(schema) - 1
            which = curator.draw("features", ("uniform",), nodes)
            where = curator.draw("values", ("uniform",), nodes)
            splits = random_tree(params, schema, candidates, learnt, number, which, where)
            own: list[Tree] = []
            population.tell(RefreshAll(SUMS))
            population.tell(Place(splits))
            noisy = curator.release_sum("leaves", charge, population, Leaves(of), lambda sums: sums[0].T)
            noisy = where_records_are(params, schema, learnt, noisy)
            for output in outputs_of(schema):
                own_sums = of_score(noisy, output)
                learnt = learnt_from(params, schema, learnt, splits, own_sums, s)
                leaves = leaf_values(own_sums, padding, unit)
                own.append(Tree(splits, leaves))
                population.tell(Turn(output))
                if output > 0:
                    population.tell(Place(splits))
                population.tell(Advance(leaves[None], params.shrinkage))
        found.append(tuple(own))
    return found, learnt


def narrowed(
    params: Params,
    schema: Schema,
    initial: tuple[float, ...],
    unit: float,
    first: list[tuple[tuple[Tree, ...], ...]],
    rounds: list[tuple[Tree, ...]],
    population: Population,
    curator: Curator,
) -> float:
    """c of what all trees so far leave, from a noisy histogram; records follow these trees once more, with it."""
    share = params.residual_share(schema)
    of = BINS[: params.histogram_bins(schema, share)]
    noisy = counts_of("residuals", params.counts_charge(share, 1), schema, of, population, curator)
    left = narrower(unit, noisy, least_count(params, share), params.rows)
    population.tell(Begin(Contribution(cut_to(params, left), schema), outputs_of(schema)))
    population.tell(Start(initial[0]))
    for own in first:
        for one in own[0]:
            population.tell(Place(one.splits))
        population.tell(Advance(np.array([one.leaves for one in own[0]]), FIRST_STEP))
    for trees in rounds:
        population.tell(Place(trees[0].splits))
        population.tell(Advance(trees[0].leaves[None], params.shrinkage))
    return left


def levelled(
    params: Params, schema: Schema, initial: tuple[float, ...], population: Population, curator: Curator
) -> tuple[float, ...]:
    """The initial score of every output; of a regression with the mean of what all trees leave, where that is sure.

    Trees leave nothing in the mean of residuals that are cut to c, and much of labels of which a few are far from most.
    """
    if not params.looks_again(schema):
        return initial
    population.tell(Refresh(LEFT))
    population.tell(Root(tuple(range(len(schema.features)))))
    charge = params.last_charge(schema)
    noisy = curator.release_sum("left by all trees", charge, population, Nodes(LEFT), lambda sums: sums[:, 0])
    return (initial[0] - mean_left(noisy, params.last_deviation(schema), params.weight(schema)),)


def mean_left(noisy: Floats, s: float, a: float) -> float:
    """The mean of what is left, in units of half the range; 0 where the sum is below `BEYOND` deviations of its noise.

    noisy: sum and number of records, shape (2,).
    """
    mean = float(noisy[0]) / max(float(noisy[1]), 3 * s / a + 1)
    return mean if abs(float(noisy[0])) > BEYOND * s else 0.0


def one_by_one(
    params: Params, schema: Schema, candidates: Candidates, unit: float, population: Population, curator: Curator
) -> tuple[list[tuple[tuple[Tree, ...], ...]], Learnt]:
    """The first pass: of every feature the trees of every output, and its credit."""
    learnt, passed = nothing_learnt(schema), splittable(schema) if params.first_part(schema) > 0 else ()
    found: list[tuple[tuple[Tree, ...], ...]] = []
    for feature in passed:
        charge = params.first_charge(schema)
        with curator.step(f"feature {feature}"):
            shapes, count = shapes_of(params, schema, candidates, feature), trees_of(schema, feature)
            own: list[tuple[Tree, ...]] = []
            population.tell(RefreshAll(SUMS))
            for k in range(count):
                population.tell(Place(shapes[k]))
            noisy = released_bins(schema, candidates, feature, charge, population, curator)
            for output in outputs_of(schema):
                own_sums = of_score(noisy, output)
                learnt, values = bin_values(params, schema, learnt, output, feature, own_sums, unit)
                leaves = leaves_of(schema, feature, values)
                own.append(tuple(Tree(shapes[k], leaves[k]) for k in range(count)))
                population.tell(Turn(output))
                if output > 0:
                    for k in range(count):
                        population.tell(Place(shapes[k]))
                population.tell(Advance(leaves, FIRST_STEP))
        found.append(tuple(own))
    return found, learnt


def released_bins(
    schema: Schema, candidates: Candidates, feature: int, charge: Charge, population: Population, curator: Curator
) -> Floats:
    """The sums of every bin of a feature, in the order of `leaves_of`, with noise. Shape (bins, 2 scores)."""
    of = named_all(SUMS, outputs_of(schema))
    if isinstance(schema.features[feature], Numeric):
        return curator.release_sum("bins", charge, population, Leaves(of), lambda sums: sums[0].T)
    asked = Histogram(of, (feature,))
    return curator.release_sum("bins", charge, population, asked, lambda sums: candidates.apart(sums, (feature,))[0].T)


def of_score(noisy: Floats, output: int) -> Floats:
    """The sums of one score, shape (leaves, 2), of those of all, (leaves, 2 scores)."""
    return noisy[:, 2 * output : 2 * output + 2]


def classes_of(schema: Schema) -> tuple[str, ...]:
    """Names of the counts of classes; none for a regression."""
    if not isinstance(schema.target, Classes):
        return ()
    return tuple(f"b{number:d}" for number in range(len(schema.target.values)))


def bins_of(params: Params, schema: Schema) -> tuple[str, ...]:
    """Names of the counts of labels by their bins."""
    return BINS[: params.histogram_bins(schema, params.label_share(schema))]


def outputs_of(schema: Schema) -> tuple[int, ...]:
    """The scores."""
    return tuple(range(schema.scores))


def others_cut(schema: Schema) -> float:
    """b; 0 where there is one score."""
    return grid_floor(OTHERS / math.sqrt(max(schema.scores - 1, 1))) if schema.scores > 1 else 0.0


def others_hessian(schema: Schema) -> float:
    """d; 0 where there is one score."""
    b = others_cut(schema)
    return grid_floor(b * (1 - b)) if schema.scores > 1 else 0.0


def numeric(schema: Schema) -> tuple[int, ...]:
    """The numeric features that can be split."""
    return tuple(i for i, f in enumerate(schema.features) if isinstance(f, Numeric) and f.low < f.high)


def splittable(schema: Schema) -> tuple[int, ...]:
    """The features that can be split: numeric ones, and those with categories."""
    return tuple(i for i, f in enumerate(schema.features) if not isinstance(f, Numeric) or f.low < f.high)


def thresholds(params: Params, schema: Schema, population: Population, curator: Curator) -> Candidates:
    """Quantiles of a noisy histogram of all numeric features, whose bins follow a coarse one; all categories."""
    features = numeric(schema)
    if not features:
        return grids.uniform(schema, COARSE)
    population.tell(Begin(Contribution(params, schema)))
    deviation = deviation_of_counts(params, schema)
    coarse = coarse_cells(schema, features, params.rows >= PLAIN * deviation)
    noisy = histograms("coarse histograms", params, schema, coarse, population, curator)
    fine = between(schema, coarse, features, noisy, deviation)
    noisy_again = histograms("fine histograms", params, schema, fine, population, curator)
    absent = missing_values(coarse, features, noisy) + missing_values(fine, features, noisy_again)
    found = quantiles(params, schema, fine, features, noisy_again, deviation)
    return parting_missing(schema, found, features, absent / 2, deviation / math.sqrt(2))


def histograms(
    name: str, params: Params, schema: Schema, cells: Candidates, population: Population, curator: Curator
) -> Floats:
    """Noisy counts of records in the cells of every numeric feature, one feature after the other. Shape (bins,)."""
    features = numeric(schema)
    population.tell(Encode(cells))
    counts = cells.apart(values(population.ask(Histogram((COUNT,), features)))[0], features)
    charge = params.counts_charge(params.shares(schema)[0] / 2, len(features))
    return curator.release(name, charge, np.concatenate(counts))


def deviation_of_counts(params: Params, schema: Schema) -> float:
    """Standard deviation of the noise of a count in either of these histograms."""
    touched = len(numeric(schema)) * records_changed(params.relation)
    return math.sqrt(touched) / (params.mu() * math.sqrt(params.shares(schema)[0] / 2))


def edges_of(schema: Schema, candidates: Candidates, feature: int) -> Floats:
    """Where the bins of a numeric feature begin and end. Shape (thresholds + 2,)."""
    kind = schema.features[feature]
    assert isinstance(kind, Numeric)
    return np.concatenate([[kind.low], candidates.thresholds[feature], [kind.high]])


def coarse_cells(schema: Schema, features: Sequence[int], closer: bool) -> Candidates:
    """`COARSE` even thresholds of each of these features, and if `closer` those of `CLOSER` as well.

    On both sides of 0, or of the bound next to it; not within 2^-22 of the bounds' width of another, and none where
    that width is below 2^-20 of the greater bound: the bins of the next histogram, 64 to one of these, are wider than
    what float64 rounds.
    """
    even = grids.uniform(schema, COARSE)
    found = list(even.thresholds)
    for f in features if closer else ():
        edges = edges_of(schema, even, f)
        low, high, width = float(edges[0]), float(edges[-1]), float(edges[-1] - edges[0])
        if width >= 2.0**-20 * max(abs(low), abs(high)):
            middle = min(max(0.0, low), high)
            steps = width * np.array([2.0**-power for power in CLOSER])
            own = np.concatenate([middle - steps, np.full(1, middle), middle + steps])
            apart = np.abs(own[:, None] - edges).min(axis=1) > 2.0**-22 * width
            found[f] = np.sort(np.concatenate([found[f], own[apart & (own > low) & (own < high)]]))
    return replace(even, thresholds=tuple(found))


def evened(noisy: Floats, deviation: float, of_bounds: Floats, of_bins: Floats) -> Floats:
    """How many records are up to the end of each bin, by noisy counts, a tenth of them evenly between the bounds.

    Running sums are put in order and then cut at 0, so that noise is not added up as records are. What the noise of all
    bins has in a deviation is where `of_bins` says: of noise alone they are nearly even.
    noisy: shape (bins + 1,), the first of missing values. of_bounds, of_bins: up to the end of each bin the part of
    what is between the bounds, and of what noise adds, shape (bins,). Result: shape (bins,), rising.
    """
    sums = np.maximum(np.sort(np.cumsum(noisy[1:])), 0.0)
    return np.asarray(sums + sums[-1] / 9 * of_bounds + deviation * math.sqrt(len(sums)) * of_bins)


def of_width(edges: Floats) -> Floats:
    """Which part of what is between the bounds is up to the end of each bin. edges: shape (bins + 1,)."""
    return np.asarray((edges[1:] - edges[0]) / (edges[-1] - edges[0]))


def between(schema: Schema, coarse: Candidates, features: Sequence[int], noisy: Floats, deviation: float) -> Candidates:
    """`FINE` thresholds of each of these features at even shares of its noisy counts, which are taken to lie
    evenly in their bins. noisy: shape (bins,); deviation: of its noise."""
    found = list(coarse.thresholds)
    for f, counts in zip(features, coarse.apart(noisy, features), strict=True):
        edges = edges_of(schema, coarse, f)
        width = of_width(edges)
        below = np.concatenate([[0.0], evened(counts, deviation, width, width)])
        wanted = below[-1] * np.arange(1, FINE + 1) / (FINE + 1)
        place = np.searchsorted(below, wanted, side="right") - 1
        part = (wanted - below[place]) / (below[place + 1] - below[place])
        found[f] = edges[place] + part * (edges[place + 1] - edges[place])
    return replace(coarse, thresholds=tuple(found))


def quantiles(
    params: Params, schema: Schema, fine: Candidates, features: Sequence[int], noisy: Floats, deviation: float
) -> Candidates:
    """`bins` thresholds of each of these features at even shares of its noisy counts. noisy: shape (bins,)."""
    found = list(fine.thresholds)
    for f, counts in zip(features, fine.apart(noisy, features), strict=True):
        even = np.arange(1, len(counts)) / (len(counts) - 1)
        below = evened(counts, deviation, of_width(edges_of(schema, fine, f)), even)
        wanted = below[-1] * np.arange(1, params.bins + 1) / (params.bins + 1)
        place = np.minimum(np.searchsorted(below, wanted), len(fine.thresholds[f]) - 1)
        found[f] = np.unique(fine.thresholds[f][place])
    return replace(fine, thresholds=tuple(found))


def missing_values(cells: Candidates, features: Sequence[int], noisy: Floats) -> Floats:
    """The noisy counts of missing values. noisy: shape (bins,), of these features; result: shape (features,)."""
    return np.array([counts[0] for counts in cells.apart(noisy, features)])


def parting_missing(
    schema: Schema, found: Candidates, features: Sequence[int], absent: Floats, deviation: float
) -> Candidates:
    """With the low bound as a further threshold of features whose missing values are above all that M noises may be.

    absent: noisy counts of missing values, shape (features,); deviation: of their noise.
    """
    sure = (1 + math.sqrt(2 * math.log(len(features)))) * deviation
    own = list(found.thresholds)
    for f, count in zip(features, absent, strict=True):
        if count > sure:
            own[f] = np.unique(np.concatenate([edges_of(schema, found, f)[:1], own[f]]))
    return replace(found, thresholds=tuple(own))


def parts_missing(schema: Schema, candidates: Candidates, feature: int) -> bool:
    """Whether a feature's first threshold has missing values alone on its left, and is not the only one."""
    kind, own = schema.features[feature], candidates.thresholds[feature]
    return isinstance(kind, Numeric) and len(own) > 1 and bool(own[0] <= kind.low)


def start(params: Params, schema: Schema, population: Population, curator: Curator) -> tuple[float, tuple[float, ...]]:
    """What a gradient of 1 is in units of the score, and the initial score of every output, from noisy counts."""
    charge, outputs = params.counts_charge(params.label_share(schema), 1), outputs_of(schema)
    if not isinstance(schema.target, Classes):
        population.tell(Begin(Contribution(cut_to(params, 1.0), schema), outputs))
        noisy = counts_of("labels", charge, schema, bins_of(params, schema), population, curator)
        centre, unit = centre_and_unit(params, schema, noisy)
        population.tell(Begin(Contribution(cut_to(params, unit), schema), outputs))
        population.tell(Start(centre))
        if params.looks_again(schema):
            share = params.nearby_share(schema)
            of = BINS[: params.histogram_bins(schema, share)]
            noisy_again = counts_of("labels nearby", params.counts_charge(share, 1), schema, of, population, curator)
            centre, unit = nearby(centre, unit, noisy_again, least_count(params, share), params.rows)
            population.tell(Begin(Contribution(cut_to(params, unit), schema), outputs))
            population.tell(Start(centre))
        return unit, (centre,)
    population.tell(Begin(Contribution(params, schema), (schema.scores,)))
    noisy = counts_of("classes", charge, schema, classes_of(schema), population, curator)
    initial = log_odds(len(outputs), noisy)
    population.tell(Begin(Contribution(params, schema), outputs))
    for output in outputs:
        population.tell(Turn(output))
        population.tell(Start(initial[output]))
    return 1.0, initial


def counts_of(
    name: str, charge: Charge, schema: Schema, of: tuple[str, ...], population: Population, curator: Curator
) -> Floats:
    """Noisy counts of all records by these statistics, each of which has one 1. Shape (names,)."""
    population.tell(Refresh(of))
    population.tell(Root(tuple(range(len(schema.features)))))
    return curator.release_sum(name, charge, population, Nodes(of), lambda sums: sums[:, 0])


def cut_to(params: Params, unit: float) -> Params:
    """These settings with this c."""
    return replace(params, residual=unit)


def log_odds(outputs: int, noisy: Floats) -> tuple[float, ...]:
    """The initial score of every output from noisy counts of the classes, shape (classes,)."""
    counts = np.maximum(noisy, 0.0)
    share = np.clip(counts / max(float(counts.sum()), 1.0), 0.005, 0.98)
    return tuple(float(numbers.log(p / (1 - p))) for p in (share[1:] if outputs == 1 else share))


def centre_and_unit(params: Params, schema: Schema, noisy: Floats) -> tuple[float, float]:
    """The centre of a noisy histogram of labels, and c on the grid. noisy: shape (bins,)."""
    centre, c = centre_and_scale(most_of(noisy, least_count(params, params.label_share(schema)), params.rows))
    return centre, grid_floor(params.residual or c)


def nearby(centre: float, unit: float, noisy: Floats, least: float, rows: int) -> tuple[float, float]:
    """The centre, and c on the grid, from counts of labels less the centre so far in units of the c so far.

    noisy: shape (bins,). least, rows: as of `most_of`; a third of `least`, as labels are known to be here.
    """
    shift, c = centre_and_scale(most_of(noisy, least, rows, 1 / 3))
    return centre + unit * shift, grid_floor(unit * c)


def narrower(unit: float, noisy: Floats, least: float, rows: int) -> float:
    """c, `unit` so far, from counts of residuals in units of it: their 85% point, if that is narrower by a quarter.

    noisy: shape (bins,). least, rows: as of `most_of`.
    """
    _, c = centre_and_scale(most_of(noisy, least, rows))
    return grid_floor(unit * c) if c < NARROWER else unit


def least_count(params: Params, share: float) -> float:
    """One and a half deviations of the noise of a count that has this part of mu^2."""
    return 1.5 / (params.mu() * math.sqrt(share))


def most_of(noisy: Floats, least: float, rows: int, part: float = 1.0) -> Floats:
    """Counts in one piece, with `part * least`, half of it or 0, the first of them that has 85% of all; with 0 if none.

    All are `rows`, or as many as the counts where these are surely less than 85% of them, as of rows that nobody gave.
    noisy and result: shape (bins,). least: as of `in_one_piece`, 1.5 deviations of noise.
    """
    counted = float(noisy.sum())
    sure = counted + 2 * least * math.sqrt(len(noisy))
    wanted = MOST * (rows if sure >= MOST * rows else counted)
    found = in_one_piece(noisy, part * least)
    if float(found.sum()) < wanted:
        found = in_one_piece(noisy, 0.5 * part * least)
    if float(found.sum()) < wanted:
        found = in_one_piece(noisy, 0.0)
    return found


def in_one_piece(noisy: Floats, least: float) -> Floats:
    """Counts of the run of neighbouring bins that is most above `least` in each; 0 outside. noisy: shape (bins,)."""
    sums = np.concatenate([[0.0], np.cumsum(noisy - least)])
    place = np.arange(len(noisy))
    gain = np.where(place[:, None] <= place, sums[None, 1:] - sums[:-1, None], -np.inf)
    first, last = divmod(int(np.argmax(gain)), len(noisy))
    within = (place >= first) & (place <= last)
    return np.where(within, np.maximum(noisy, 0.0), 0.0)


def centre_and_scale(counts: Floats) -> tuple[float, float]:
    """Mean and 85% point of the distance from it, of labels in [-1, 1], from a histogram; (0, 1) of an empty one.

    The distance is at least 1.44 deviations, so that c is not small where most labels are in one place and a few, which
    there is then much to learn of, are far from it. counts: shape (bins,).
    """
    bins, total = len(counts), float(counts.sum())
    if total <= 0:
        return 0.0, 1.0
    middle = -1 + 2 * (np.arange(bins) + 0.5) / bins
    centre = float((counts * middle).sum() / total)
    distance = np.abs(middle - centre)
    order = np.argsort(distance, kind="stable")
    place = int(np.searchsorted(np.cumsum(counts[order]), MOST * total))
    spread = math.sqrt(float((counts * distance * distance).sum() / total))
    c = max(float(distance[order][min(place, bins - 1)]) + 1 / bins, SPREAD * spread)
    return centre, min(max(c, 2 / bins), 1.0)


# --- Trees ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Learnt:
    """What released sums say: post-processing. credit, its variance doubt, seen: by feature; priors: tau^2 of each
    output's bins, first nan; parted, looked: sum over so many trees of what their last level parted."""

    credit: Floats
    doubt: Floats
    seen: Floats
    priors: Floats
    parted: float = 0.0
    looked: float = 0.0


def nothing_learnt(schema: Schema) -> Learnt:
    """Before any release."""
    features = len(schema.features)
    return Learnt(np.zeros(features), np.zeros(features), np.full(features, 1e-9), np.full(schema.scores, np.nan))


def trees_of(schema: Schema, feature: int) -> int:
    """How many trees of the first pass are of this feature: one, or one for each category."""
    kind = schema.features[feature]
    return 1 if isinstance(kind, Numeric) else len(kind.categories)


def shapes_of(params: Params, schema: Schema, candidates: Candidates, feature: int) -> list[Floats]:
    """Trees of one feature: a full one of thresholds at even places, or a split for each category.

    Where the first threshold parts missing values, they have the first bin, and the next two quantiles one together.
    Each of shape (2^depth - 1, 2), as in `random_tree`.
    """
    own = candidates.thresholds[feature]
    if not isinstance(schema.features[feature], Numeric):
        return [np.array([[feature, value]], dtype=np.float64) for value in range(trees_of(schema, feature))]
    depth = params.first_levels(schema)
    rank = [(2 * k + 1) * 2 ** (depth - 1 - level) for level in range(depth) for k in range(2**level)]
    apart = parts_missing(schema, candidates, feature)
    at = own[1:] if apart else own
    place = [min(one * len(at) // 2**depth, len(at) - 1) for one in rank]
    asked = [own[0] if apart and node == 2 ** (depth - 1) - 1 else at[k] for node, k in enumerate(place)]
    return [np.array([[feature, value] for value in asked], dtype=np.float64)]


def leaves_of(schema: Schema, feature: int, values: Floats) -> Floats:
    """Leaves of the trees of one feature from the values of its bins, shape (trees, leaves).

    values: shape (bins,); the first of a category's is that of missing values, which are in no category.
    """
    if isinstance(schema.features[feature], Numeric):
        return values[None]
    return np.column_stack([np.zeros(len(values) - 1), values[1:]])


def bin_values(
    params: Params, schema: Schema, learnt: Learnt, output: int, feature: int, noisy: Floats, unit: float
) -> tuple[Learnt, Floats]:
    """(2) of a feature's bins, tau^2 the mean of its own and of that of the features before; and its credit.

    noisy: shape (bins, 2). Result: also the values, shape (bins,), at most |G| / (H + s sqrt(M)) and `LARGEST_LEAF`, in
    units of the score.
    """
    s, scatter, a = params.first_deviation(schema), scatter_of(schema), params.first_weight(schema)
    variance, g, h = s * s, noisy[:, 0], noisy[:, 1]
    found, before = moments(g, h, scatter, variance), float(learnt.priors[output])
    credit, doubt = learnt.credit.copy(), learnt.doubt.copy()
    seen, priors = learnt.seen.copy(), learnt.priors.copy()
    priors[output] = found if math.isnan(before) else 0.7 * before + 0.3 * found
    least = np.maximum(h, 3 * s / a + 1)
    credit[feature] = credit[feature] + float(((g * g - variance) / least - scatter).sum())
    doubt[feature] = doubt[feature] + float((2 * variance * variance / (least * least)).sum())
    seen[feature] = seen[feature] + 1.0
    padding = s * math.sqrt(len(splittable(schema)))
    own = shrunk(g, h, scatter, variance, 0.5 * found + 0.5 * float(priors[output]), padding)
    return Learnt(credit, doubt, seen, priors), np.asarray(np.clip(own, -LARGEST_LEAF, LARGEST_LEAF) * unit)


def chances(params: Params, schema: Schema, learnt: Learnt, live: Sequence[int], number: int) -> Floats:
    """How likely each live feature is at a node of tree `number`. Shape (live features,)."""
    many = len(live)
    even = np.full(many, 1 / many)
    sure = 0.0 if isinstance(schema.target, Classes) else SURE
    credit = learnt.credit[live] - sure * np.sqrt(learnt.doubt[live])
    merit = np.sqrt(np.maximum(credit / learnt.seen[live], 0.0))
    if merit.sum() > 0:
        trust = number / (number + many / params.levels(schema))
        even = trust * merit / merit.sum() + (1 - trust) * even
    return np.asarray((1 - params.explore) * even + params.explore / many)


def random_tree(
    params: Params, schema: Schema, candidates: Candidates, learnt: Learnt, number: int, which: Floats, where: Floats
) -> Floats:
    """The splits of one full tree, shape (2^depth - 1, 2): feature and threshold or category, level by level.

    which, where: uniform draws, one for each split. Features that cannot be split are left out, but for one if there is
    no other.
    """
    live = [f for f, own in enumerate(candidates.thresholds) if len(own)] or [0]
    edges = np.cumsum(chances(params, schema, learnt, live, number))
    place = np.searchsorted(edges / edges[-1], which, side="right")
    feature = np.asarray(live)[np.minimum(place, len(live) - 1)]
    value = [value_at(schema, candidates, int(f), u) for f, u in zip(feature, where, strict=True)]
    drawn = np.column_stack([feature, value]).astype(np.float64)
    return drawn[decided_by(params.levels(schema), levels_in_use(params, schema, learnt))]


def value_at(schema: Schema, candidates: Candidates, feature: int, u: float) -> float:
    """The threshold or category of a feature that a uniform draw u stands for: all alike, but for missing values."""
    own = candidates.thresholds[feature]
    if parts_missing(schema, candidates, feature):
        others = own[1:]
        part = max(u - PRESENCE, 0.0) / (1 - PRESENCE)
        return float(own[0] if u < PRESENCE else others[min(int(part * len(others)), len(others) - 1)])
    return float(own[int(u * len(own))]) if len(own) else 0.0


def levels_in_use(params: Params, schema: Schema, learnt: Learnt) -> int:
    """How many levels of the next tree part records: of deep trees of classes all only where that is seen to help."""
    most = params.levels(schema)
    if params.depth or most <= USUAL or not isinstance(schema.target, Classes):
        return most
    known = learnt.looked >= LOOKED_AT * schema.scores
    return most if known and learnt.parted >= DEEP * learnt.looked else USUAL


def decided_by(levels: int, used: int) -> NDArray[np.intp]:
    """Of each node of a full tree the one whose split it asks: itself, or below the levels in use the last above.

    Shape (2^levels - 1,).
    """
    node = np.arange(2**levels - 1)
    for level in range(used, levels):
        below = np.arange(2**level - 1, 2 ** (level + 1) - 1)
        node[below] = node[(below - 1) // 2]
    return node


def where_records_are(params: Params, schema: Schema, learnt: Learnt, noisy: Floats) -> Floats:
    """Of each leaf the sums of the one where its records are, as splits that are asked again lead to the same side.

    noisy and result: shape (leaves, 2).
    """
    levels = params.levels(schema)
    below = levels - levels_in_use(params, schema, learnt)
    last = np.arange(2**levels) >> below
    return np.asarray(noisy[(last + last % 2) * 2**below - last % 2])


def scatter_of(schema: Schema) -> float:
    """v."""
    return SCATTER["log" if isinstance(schema.target, Classes) else "square"]


def leaf_values(noisy: Floats, padding: float, unit: float) -> Floats:
    """(1) without eta of released sums of shape (leaves, 2), at most `LARGEST_LEAF`, in units of the score."""
    own = -noisy[:, 0] / (np.maximum(noisy[:, 1], 0.0) + padding)
    return np.asarray(np.clip(own, -LARGEST_LEAF, LARGEST_LEAF) * unit)


def learnt_from(params: Params, schema: Schema, learnt: Learnt, splits: Floats, noisy: Floats, s: float) -> Learnt:
    """Credit what every split separated, less what noise alone would, from the leaves' sums upwards.

    splits: shape (2^depth - 1, 2); noisy: shape (leaves, 2), as of `where_records_are`. s: deviation of the noise.
    """
    scatter, a = scatter_of(schema), params.weight(schema)
    variance = s * s
    depth = levels_in_use(params, schema, learnt)
    apart = 2 ** (params.levels(schema) - depth)
    g, h = noisy[::apart, 0], np.maximum(noisy[::apart, 1], 0.0)
    parted = float(np.mean((g[0::2] - g[1::2]) ** 2)) / (2 * variance) - 1
    still = learnt.looked < LOOKED_AT * schema.scores
    credit, doubt, seen = learnt.credit.copy(), learnt.doubt.copy(), learnt.seen.copy()
    for level in reversed(range(depth)):
        below = 2 ** (depth - 1 - level)
        left_g, right_g, left_h, right_h = g[0::2], g[1::2], h[0::2], h[1::2]
        least = 3 * math.sqrt(below * variance) / a + 1
        left, right = np.maximum(left_h, least), np.maximum(right_h, least)
        share, noise = left * right / (left + right), below * variance * (1 / left**2 + 1 / right**2)
        gain = ((left_g / left - right_g / right) ** 2 - noise - scatter * (1 / left + 1 / right)) * share
        of = splits[2**level - 1 : 2 ** (level + 1) - 1, 0].astype(np.intp)
        counted = (left_h > least) & (right_h > least) | (not isinstance(schema.target, Classes))
        np.add.at(credit, of, np.where(counted, gain, 0.0))
        np.add.at(doubt, of, np.where(counted, 2 * (noise * share) ** 2, 0.0))
        np.add.at(seen, of, 1.0)
        g, h = left_g + right_g, left_h + right_h
    looked = learnt.looked + (1.0 if still else 0.0)
    return Learnt(credit, doubt, seen, learnt.priors.copy(), learnt.parted + (parted if still else 0.0), looked)


# --- Predictions ------------------------------------------------------------------------------------------------------


def predict(model: Model, x: Floats) -> Floats:
    """Regression: values in the target's unit, shape (rows,). Classes: log odds of each score, (rows, scores)."""
    raw = model.scores(x)
    target = model.schema.target
    return raw if isinstance(target, Classes) else target.unscaled(raw[:, 0])
