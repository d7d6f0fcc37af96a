"""Rigorous enclosures of ε or δ from privacy loss distributions, in both directions of adjacency."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass

from refdp.accounting import divergence
from refdp.accounting.composition import Composition, WindowTooWide, compose
from refdp.accounting.distributions import Direction, View, measure_of
from refdp.accounting.normal import Blocks, Composed, Exchanged, Mixture, Node, Sampled, one_sided, parts
from refdp.accounting.pairs import NoPair
from refdp.accounting.releases import DiscreteLaplaceCost, LaplaceCost, PureCost, RangeCost, SuppliedCost
from refdp.accounting.statistic import Power, power
from refdp.privacy.events import Relation

_ACCURACY = 4e-6  # of epsilon, absolute where epsilon is above _ACCURACY / _RELATIVE
_RELATIVE = 1e-5
_SMALLEST, _LARGEST = 2**15, 2**20  # cells of the window
_LEAST_STEP = 1e-200
_ATTEMPTS, _FEWEST = 30, 4
_BESIDE = 1 + 2.0**-12  # tilts so near to each other have the same window
_ALIKE, _NEARLY = 1e-6, 1e-3
_UNSEEN = 1e-7  # share of the transform's error in a bound on delta
_WITH_ATOMS = (PureCost, LaplaceCost, DiscreteLaplaceCost, RangeCost)


@dataclass(frozen=True)
class Enclosure:
    """lower <= truth <= upper."""

    lower: float
    upper: float


def enclose_epsilon(node: Node, relation: Relation, delta: float, both: bool = True) -> Enclosure:
    """ε at δ > 0; `lower` is 0 unless `both` ends are wanted. Errors: NoPair (see `distributions`)."""
    estimate, order = divergence.node_renyi_epsilon(node, relation, delta)

    def turn(one: Composition) -> int:
        found = one.epsilon_above(delta)
        if found == math.inf:
            return 1 if one.infinity < delta else 0
        return -1 if 0 < found <= one.losses[0] + 2 * one.step else 0

    def answer(one: Composition) -> float:
        return one.epsilon_above(delta)

    search = _Search(node, relation, estimate, math.log(delta) - 16, turn, answer)
    found = search.every_direction(_tilt(order))
    if found is None:
        return Enclosure(0.0, math.inf)
    uppers = {direction: one.epsilon_above(delta) for direction, one in found.items()}
    below = search.below(found, uppers) if both else []
    upper = max(uppers.values())
    return Enclosure(min(upper, max((one.epsilon(delta) for one in below), default=0.0)), upper)


def enclose_delta(node: Node, relation: Relation, epsilon: float) -> Enclosure:
    """δ at ε. Errors: NoPair (see `distributions`)."""
    delta, order = divergence.node_renyi_delta(node, relation, epsilon)

    def turn(one: Composition) -> int:
        if one.losses[0] >= epsilon:
            return -1
        return 1 if one.losses[-1] < epsilon and one.log_top > -math.inf else 0

    log_cut = max(math.log(delta) if delta > 0 else -600.0, -600.0) - 20
    search = _Search(node, relation, epsilon, log_cut, turn, lambda _: epsilon)
    found = search.every_direction(_tilt(order))
    if found is None:
        return Enclosure(0.0, 1.0)
    uppers = {direction: one.delta_above(epsilon) for direction, one in found.items()}
    below = search.below(found, uppers)
    upper = max(uppers.values())
    return Enclosure(min(upper, max((one.delta(epsilon) for one in below), default=0.0)), upper)


@dataclass(frozen=True)
class _Search:
    """Looks for the tilt whose window holds the answer; `turn` says whether it has to grow (1), shrink (-1) or stay.

    answer: the ε in question. Where the transform's error is seen in the bound there, the tilt is moved towards it.
    """

    node: Node
    relation: Relation
    epsilon: float
    log_cut: float
    turn: Callable[[Composition], int]
    answer: Callable[[Composition], float]

    def every_direction(self, tilt: float) -> dict[Direction, Composition] | None:
        """The compositions from above; None if there is none in some direction."""
        found: dict[Direction, Composition] = {}
        for direction in directions(self.node):
            if (one := self.tilted(direction, tilt)) is None:
                return None
            found[direction] = one
        return found

    def tilted(self, direction: Direction, tilt: float) -> Composition | None:
        """The composition from above in that direction; None if no tilt will do.

        Few are tried where parts are nested deeply (`_attempts`); the Rényi bound answers there, where none will do.
        A window that is too wide gets narrower as the tilt falls, mostly; where it has not three times, it never will.
        """
        low, high, narrowest, futile = 0.0, math.inf, math.inf, 0
        for _ in range(_attempts(self.node)):
            try:
                found = self._grid(tilt).composition(direction)
                turn = self.turn(found)
            except WindowTooWide as error:
                narrowest, futile = (error.width, 0) if error.width < narrowest else (narrowest, futile + 1)
                if futile == 3 or tilt <= low * _BESIDE:
                    return None
                lower = min(tilt / 2, max(1000 / error.width - 1, 0.01))
                high, tilt = tilt, lower if lower > low else 0.5 * (low + tilt)
                continue
            if turn == 0:
                return self._centred(found, direction)
            low, high = (tilt, high) if turn > 0 else (low, tilt)
            if high <= low * _BESIDE:
                return None
            tilt = min(2 * tilt, 0.5 * (tilt + high)) if turn > 0 else max(tilt / 2, 0.5 * (tilt + low))
        return None

    def _centred(self, found: Composition, direction: Direction) -> Composition:
        """The composition at a tilt whose error is not seen in the answer, or the best of those that were tried."""
        best, share = found, found.uncertain(at := self.answer(found))
        for _ in range(_ATTEMPTS):
            if share <= _UNSEEN:
                break
            try:
                other = self._grid(best.tilt_for(at)).composition(direction)
            except WindowTooWide:
                break
            if self.turn(other) != 0 or (less := other.uncertain(at := self.answer(other))) >= 0.9 * share:
                break
            best, share = other, less
        return best

    def below(self, found: dict[Direction, Composition], uppers: dict[Direction, float]) -> list[Power]:
        """The tests from below, in each direction whose upper end is nearly the larger one, at its tilt.

        The first one alone where they are alike: mixtures in the first data set are mostly the dearer ones.
        """
        dearest, tests = max(uppers.values()), []
        for direction in (one for one, upper in uppers.items() if upper >= dearest * (1 - _NEARLY)):
            with contextlib.suppress(WindowTooWide, NoPair):
                tests.append(self._grid(found[direction].tilt).power(direction))
            if uppers[direction] >= dearest * (1 - _ALIKE):
                break
        return tests

    def _grid(self, tilt: float) -> Grid:
        return Grid.choose(self.node, self.relation, tilt, self.epsilon, self.log_cut)


def _attempts(node: Node) -> int:
    """How many tilts are tried: fewer where each takes many grids, one for every composition inside another part."""
    return max(_FEWEST, _ATTEMPTS // (1 + sum(_grids(inner) for inner, _ in parts(node)) // 4))


def _grids(node: Node) -> int:
    match node:
        case Composed(items) | Blocks(items, _) | Mixture(items, _):
            return 1 + sum(_grids(inner) for inner, _ in items)
        case Sampled(_, inner, _):
            return _grids(inner)
        case Exchanged(_, near, far):
            return 1 + _grids(near) + _grids(far)
        case _:
            return 0


def directions(node: Node) -> tuple[Direction, ...]:
    """Both, unless every pair inside is symmetric."""
    return ("first", "second") if _asymmetric(node) else ("first",)


def _asymmetric(node: Node) -> bool:
    match node:
        case Sampled(_, inner, method):
            return method != "without-replacement" or _asymmetric(inner)
        case SuppliedCost():
            return True
        case Composed(items) | Blocks(items, _) | Mixture(items, _):
            return any(_asymmetric(inner) for inner, _ in items)
        case _:
            return False


def _tilt(order: float) -> float:
    return min(max(order - 1, 0.05), 1e6)


@dataclass(frozen=True)
class Grid:
    """A step, a tilt and a cut for one node."""

    node: Node
    step: float
    tilt: float
    log_cut: float

    @classmethod
    def choose(cls, node: Node, relation: Relation, tilt: float, epsilon: float, log_cut: float) -> Grid:
        """The step at which connect-the-dots errs by the wanted accuracy, unless that takes too many cells.

        A cell of width h adds at most λ(λ+1)h²/8 to log E[e^{λL}], a twelfth on average, hence h² (λ+1) count / 12
        to ε. Errors: NoPair for a part without a finite Rényi curve.
        """
        import numpy as np

        count = sum(times for _, times in parts(node))
        wanted = min(_ACCURACY, _RELATIVE * epsilon) if 0 < epsilon < math.inf else _ACCURACY
        step = math.sqrt(12 * wanted / (count * (tilt + 1)))
        rho = float(divergence.node_curve(node, relation, np.array([1 + tilt]))[0])
        if not rho < math.inf:
            raise NoPair("a part without a finite Rényi curve: there is no grid to choose")
        width = 20 * math.sqrt(2 * rho / (1 + tilt))
        step = max(min(step, width / _SMALLEST), width / _LARGEST)
        if step < _LEAST_STEP:
            raise NoPair(f"losses so small that a grid would have a step of {step:g}")
        return cls(node, _aligned(node, step), tilt, log_cut - math.log(count))

    def composition(self, direction: Direction) -> Composition:
        """The composed parts of the node, seen from above."""
        view = View(True, direction, self.step, self.log_cut, self.tilt)
        node = one_sided(self.node, above=True)
        return compose([(measure_of(inner, view), count) for inner, count in parts(node)], self.tilt)

    def power(self, direction: Direction) -> Power:
        """Tests between what the parts of the node allow."""
        view = View(False, direction, self.step, self.log_cut, self.tilt)
        return power(one_sided(self.node, above=False), view)


def _aligned(node: Node, step: float) -> float:
    """A slightly smaller step of which the atoms of the most frequent part with atoms are multiples."""
    counted = [(count, inner) for inner, count in parts(node)]
    atoms = [(c, float(n.exact)) for c, n in counted if isinstance(n, _WITH_ATOMS)]
    if not atoms:
        return step
    largest = max(atoms)[1]
    return largest / math.ceil(largest / step)
