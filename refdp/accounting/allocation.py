"""Records that fall into one of many slots, add-remove: shuffled epochs by balls and bins (Chua et al. 2024).

Slot j has weight w_j and the dominating pair (P_j, Q_j), L_j = dP_j/dQ_j. Whatever the order of the releases, a run
with the record is dominated by Σ_j w_j P_j Π_{i≠j} Q_i + (1 - Σ_j w_j) Π_i Q_i, one without it by Π_i Q_i.

Above. Seen slot by slot, the record is in slot j, given what slots before it released, with the probability

    w_j / (1 + S_j),    S_j = Σ_{i<j} w_i (L_i - 1),

a Poisson sample whose rate follows from the past. It is at most c w_j unless S_j <= -(1 - 1/c) for some j, which has,
without the record and all the more with it (it makes one L_i likelier to be large), by Ville's inequality at most
probability

    β(c) = exp(-λ (1 - 1/c)) Π_i E_Q[exp(-λ w_i (L_i - 1))]    for every λ > 0.

Hence δ(ε) <= δ'(ε) + β(c), δ' that of independent Poisson samples of rates c w_j, in both directions.

Below. Where k slots have one pair and one weight w, the largest of their k losses is a function of the outcome: below h
with probability Q(h)^k without the record and (1 - kw) Q(h)^k + kw P(h) Q(h)^{k-1} with it, the two in monotone ratio.
Of Gaussian noise the sum of all slots is another: a Poisson sample of rate kw of noise k times the variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from refdp.accounting import divergence, statistic
from refdp.accounting.arrays import Array
from refdp.accounting.bound import Bound
from refdp.accounting.composition import WindowTooWide
from refdp.accounting.distributions import View, inner_pair, pair_of
from refdp.accounting.enclosure import Grid
from refdp.accounting.normal import Node, Sampled, compose, one_sided, parts, several
from refdp.accounting.pairs import DominatingPair, NoPair, Rounding, Tails
from refdp.accounting.releases import DiscreteLaplaceCost, GaussianCost, LaplaceCost, PureCost
from refdp.accounting.rounding import ceiling, downwards, upwards
from refdp.data.numbers import least
from refdp.privacy.events import Relation

METHOD = "allocation"
SHARE = 1 / 16
"""Of δ, what β may be."""
_COARSE, _CELLS, _TILTS = 2**9, 2**12, np.geomspace(0.5, 1e5, 60)
_UNSEEN, _UNDERFLOW = 1e-30, 1e-290
_ROUNDS, _HALVINGS = 12, 60
_ATTAINED = (GaussianCost, LaplaceCost, DiscreteLaplaceCost, PureCost)


class Above:
    """The Poisson samples that dominate a plan but for a probability β(c). node: in normal form."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.laws = [
            (times, [(_log_laplace(inner, weight), n) for inner, weight, n in several(part)])
            for part, times in parts(node)
            if several(part)
        ]
        self.heaviest = max(weight for part, _ in parts(node) for _, weight, _ in several(part))

    def failure(self, factor: float) -> float:
        """β(c), from above, for all partitions together."""
        total = 0.0
        for times, laws in self.laws:
            exponent = sum((n * law for law, n in laws), np.zeros(len(_TILTS))) - _TILTS * (1 - 1 / factor) * (
                1 - 1e-12
            )
            total += times * math.exp(min(0.0, float(np.min(exponent))))
        return total * (1 + 1e-9)

    def sampled(self, failure: float) -> tuple[Node, float] | None:
        """The Poisson samples and their β(c) <= failure; None if that takes rates of 1."""
        most = 1 / self.heaviest
        if most <= 1 or not self.failure(most) <= failure:
            return None
        factor = least(lambda c: self.failure(c) <= failure, 1.0, most, 1e-3)
        if upwards(factor * self.heaviest) >= 1:
            return None
        found: list[tuple[Node, int]] = []
        for part, times in parts(self.node):
            if not (slots := several(part)):
                found.append((part, times))
            for inner, weight, n in slots:
                rate = ceiling(Fraction(factor) * Fraction(weight) * (1 + Fraction(1, 10**8)))
                found.append((Sampled(min(1.0, rate), inner, "poisson"), n * times))
        return compose(found), self.failure(factor)


def _log_laplace(node: Node, weight: float) -> Array:
    """log E_Q[exp(-λ w (L - 1))] from above for every λ of _TILTS: each cell of a grid of losses at its lower end.

    It grows with w, which is rounded up: weights of slots are rounded down.
    """
    weight = min(1.0, weight * (1 + 2.0**-40))
    pair = inner_pair(node, View(True, "first", 1e-3, -600.0, 1.0))
    slack, blur = pair.rounding
    low, high = max(pair.bounds[0], -60.0), min(pair.bounds[1], 60.0)
    if not low < high:  # every loss is far away: L >= 0 is all that is used
        trivial: Array = _TILTS * weight * (1 + 1e-12)
        return trivial
    losses = np.linspace(low, high, _COARSE)
    seen = pair.tails(losses)
    inside = np.flatnonzero((seen.below_q > _UNSEEN) & (seen.above_q > _UNSEEN))
    if len(inside):
        first, last = max(int(inside[0]) - 1, 0), min(int(inside[-1]) + 1, _COARSE - 1)
        losses = np.linspace(losses[first], losses[last], _CELLS)
    losses = np.append(2 * losses[0] - losses[1], losses)  # an atom at the first loss lies in a cell of its own
    below = np.minimum(pair.tails(losses + blur).below_q * (1 + slack), 1.0)
    x = np.outer(_TILTS * weight, np.exp(losses))
    before = np.hstack((np.zeros((len(_TILTS), 1)), x[:, :-1]))
    mean = np.exp(-x[:, -1]) + (np.exp(-before) * -np.expm1(before - x)) @ below + _UNDERFLOW
    result: Array = np.log(mean) + _TILTS * weight + 1e-11
    return result


def tightened(
    bound: Bound,
    node: Node,
    relation: Relation,
    at: tuple[str, float],
    answer: Callable[[Node, float], Bound],
    both: bool = True,
) -> Bound:
    """The bound with what is known of slots.

    at: ("delta", δ) or ("epsilon", ε). answer: the bounds of a node at such a value. both: or the upper end alone.
    """
    kind, value = at
    upper = bound.upper
    try:
        above = Above(node)
    except NoPair:
        return bound
    failure = SHARE * (value if kind == "delta" else upper)
    for _ in range(_ROUNDS):
        if (found := above.sampled(failure)) is None:
            break
        poisson, lost = one_sided(found[0], above=True), found[1]
        if kind == "delta":
            upper = min(upper, answer(poisson, downwards(value - lost)).upper)
            break
        found_upper = upwards(answer(poisson, value).upper + lost)
        if not found_upper < 0.9 * upper:
            upper = min(upper, found_upper)
            break
        upper, failure = found_upper, SHARE * found_upper
    ends = [bound.lower]
    if both:
        ends += [*(answer(one, value).lower for one in _summed(node)), _largest_below(node, relation, at)]
    methods, method = bound.methods, bound.method
    if upper < bound.upper:
        methods, method = {**methods, METHOD: upper}, METHOD
    known = (upper, value) if kind == "delta" else (value, upper)
    return Bound(*known, min(max(ends), upper), upper, method, methods)


def _most(node: Node) -> tuple[Node, float, int] | None:
    """The kind of slot that most records fall into, of one release whose pair is attained."""
    alike = [slot for slot in several(node) if isinstance(slot[0], _ATTAINED) and slot[2] > 1]
    return max(alike, key=lambda slot: slot[1] * slot[2]) if alike else None


def _summed(node: Node) -> list[Node]:
    """The plan with the sums of Gaussian slots; none where there are none."""
    found, changed = list[tuple[Node, int]](), False
    for part, times in parts(node):
        most = _most(part)
        if most is not None and isinstance(inner := most[0], GaussianCost):
            weight, n = most[1:]
            part, changed = Sampled(min(1.0, downwards(weight * n)), GaussianCost(inner.square / n), "poisson"), True
        found.append((part, times))
    return [one_sided(compose(found), above=False)] if changed else []


def _largest_below(node: Node, relation: Relation, at: tuple[str, float]) -> float:
    """The lower end by the largest loss of all slots. at: as for `tightened`."""
    kind, value = at
    if all(_most(part) is None for part, _ in parts(node)):
        return 0.0
    like = compose(
        (Sampled(weight, inner, "poisson") if most else part, times * n)
        for part, times in parts(node)
        for most in [_most(part)]
        for inner, weight, n in [most or (part, 1.0, 1)]
    )
    search = divergence.node_renyi_epsilon if kind == "delta" else divergence.node_renyi_delta
    found, order = search(like, relation, value)
    if not math.isfinite(order):  # at delta 0 the largest loss counts, which is known exactly
        return 0.0
    finest = min(high - low for part, _ in parts(node) if (most := _most(part)) for low, high in [_bounds(most)]) / 256
    if not finest > 0:  # losses below the rounding of 1
        return 0.0
    best, log_cut = 0.0, math.log(max(value if kind == "delta" else found, 1e-280)) - 16
    for tilt in (order - 1) * np.array([0.5, 1.0, 2.0]):
        try:
            chosen = Grid.choose(like, relation, float(tilt), found if kind == "delta" else value, log_cut)
            view = View(False, "first", min(chosen.step, finest), chosen.log_cut, chosen.tilt)
            power = statistic.power_of([(_statistic(part, view), times) for part, times in parts(node)], chosen.tilt)
        except (NoPair, WindowTooWide):
            continue
        best = max(best, power.epsilon(value) if kind == "delta" else power.delta(value))
    return best


def _bounds(most: tuple[Node, float, int]) -> tuple[float, float]:
    inner, weight, n = most
    return Largest(weight, n, pair_of(inner, View(False, "first", 1.0, -600.0, 1.0))).bounds


def _statistic(part: Node, view: View) -> statistic.Statistic:
    most = _most(part)
    if most is None:
        return statistic.statistic_of(one_sided(part, above=False), view)
    inner, weight, n = most
    return statistic.rounded(Largest(weight, n, pair_of(inner, view)), view.step, view.log_cut)


@dataclass(frozen=True)
class Largest:
    """The largest loss of n slots of weight w each, with the record first. inner: the pair of a slot."""

    weight: float
    slots: int
    inner: DominatingPair

    @property
    def rounding(self) -> Rounding:
        """That of the inner pair, once a slot; whatever the border is, the tails are those of one event."""
        return Rounding((self.inner.rounding.slack + 2.0**-50) * (self.slots + 4), 0.0)

    @property
    def rest(self) -> float:
        """The probability of none of the slots."""
        return max(0.0, 1 - self.weight * self.slots)

    @property
    def bounds(self) -> tuple[float, float]:
        """Of the ratio of densities."""
        low, high = self.inner.bounds
        least_ratio = self.rest + self.weight * self.slots * math.exp(low)
        return math.log(least_ratio), math.log(self.rest + self.weight * (math.exp(min(high, 700.0)) + self.slots - 1))

    def tails(self, loss: Array) -> Tails:
        """That the largest loss is above the border where the ratio reaches e^ε. loss, each tail: shape (losses,)."""
        wanted = np.exp(np.minimum(loss, 700.0))
        low, high = (np.full_like(loss, end) for end in self.inner.bounds)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            at = self.inner.tails(middle)
            with np.errstate(divide="ignore", invalid="ignore"):
                others = np.nan_to_num(at.below / at.below_q, nan=0.0, posinf=1.0)
            over = self.rest + self.weight * (np.exp(np.minimum(middle, 700.0)) + (self.slots - 1) * others) > wanted
            low, high = np.where(over, low, middle), np.where(over, middle, high)
        border = np.where(
            loss < self.bounds[0], self.inner.bounds[0] - 1, np.where(loss >= self.bounds[1], np.inf, low)
        )
        at = self.inner.tails(border)
        with np.errstate(divide="ignore"):
            one, other = np.log1p(-np.minimum(at.above, 1.0)), np.log1p(-np.minimum(at.above_q, 1.0))
        all_below = self.slots * other
        but_one = np.where(np.isneginf(one), -np.inf, one + (self.slots - 1) * other)
        present = self.weight * self.slots
        return Tails(
            -self.rest * np.expm1(all_below) - present * np.expm1(but_one),
            -np.expm1(all_below),
            self.rest * np.exp(all_below) + present * np.exp(but_one),
            np.exp(all_below),
        )
