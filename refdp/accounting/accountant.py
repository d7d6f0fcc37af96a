"""Every method that applies to a plan, side by side; the best valid upper bound wins."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from refdp.accounting import extremes, gaussian, pure
from refdp.accounting.bound import Bound
from refdp.accounting.fine import fine
from refdp.accounting.normal import NOTHING, Node, compose, has_slots, normalise, one_sided, parts
from refdp.accounting.releases import GaussianCost, PureCost
from refdp.accounting.rounding import downwards, is_number, upwards
from refdp.errors import InvalidParameter
from refdp.privacy.events import Plan, Relation

SMALL = 2.0**-17
"""Parts of so little pure epsilon are looked at apart (`_crumbs`)."""
CRUMB, CRUMBS_IN_DELTA = 1e-6, 1e-4
"""How much wider an enclosure may become by that: relative to epsilon, and to delta."""
FAR = 700.0
"""Pure epsilon of one part beyond which grids of losses are not asked."""
_MOST_OUTCOMES = 2**22  # of "kov", which adds up one term for each


def account(
    plan: Plan,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    quick: bool = False,
    group: int = 1,
    both: bool = True,
) -> Bound:
    """The plan's ε at the given δ, or its δ at the given ε, by every method that applies.

    As its releases declare their sensitivities; a partition into blocks whose sizes follow from the number of records
    is none under add-remove, and its blocks add up.

    Methods: "basic" (pure, with parallel composition and amplification), "kov" (optimal composition of the parts' pure
    epsilons), "exact" (one release, possibly sampled; Gaussians, and discrete ones of many steps), "renyi", "adaptive"
    (selections of one range with any other releases: the optimum over adaptive choices), "pld" (privacy loss
    distributions, where those two are silent). The last two, and "kov" for unequal parts, are not asked where a part's
    pure epsilon is above 700: then `lower` may be 0.
    quick: leave out what takes more than milliseconds ("adaptive", "pld", "kov" for unequal parts); `lower` may be 0.
    epsilon: may be negative, where δ(ε) = 1 - e^ε + e^ε δ(-ε), since either data set may be the first; what is returned
      for a delta is never below 0.
    both: or the upper end alone, in about half the time; `lower` is 0.
    group: so many records change together, see `refdp.accounting.group` ("path": by single steps).
    Errors: InvalidParameter unless exactly one of 0 <= delta <= 1 and epsilon is given, and for a group below 1.
    """
    from refdp.accounting.group import along_path, group_size, scaled

    if (delta is None) == (epsilon is None):
        raise InvalidParameter(f"delta {delta!r} and epsilon {epsilon!r}: exactly one of the two is to be given")
    low, high = (-math.inf, math.inf) if delta is None else (0.0, 1.0)
    at = _within("epsilon", epsilon, low, high) if delta is None else _within("delta", delta, low, high)
    if delta is None and at < 0:
        return _mirrored(account(plan, epsilon=-at, quick=quick, group=group, both=both), at)
    if group_size(group) > 1:
        if (larger := scaled(plan, group)) is not None:
            return account(larger, delta=delta, epsilon=epsilon, quick=quick, both=both)
        one = partial(account, plan, quick=quick, both=both)
        return along_path(one, pure.pure_epsilon(plan), group, delta, epsilon)

    def answer(node: Node, value: float = at) -> Bound:
        query = _Query(node, plan.relation, quick, both)
        return _at_epsilon(query, value) if delta is None else _at_delta(query, value)

    node = normalise(plan)
    above, below = (extremes.lifted(one_sided(node, up), plan.relation, up) for up in (True, False))
    bound = answer(above)
    if not both:
        bound = replace(bound, lower=0.0)
    elif above != below:
        bound = replace(bound, lower=min(bound.upper, answer(below).lower))
    if quick or bound.upper == bound.lower or not has_slots(node, plan.relation) or not extremes.is_tame(node):
        return bound
    from refdp.accounting import allocation

    return allocation.tightened(bound, node, plan.relation, ("epsilon" if delta is None else "delta", at), answer, both)


def _within(name: str, value: float | None, low: float, high: float) -> float:
    if not is_number(value) or value is None or not low <= value <= high:
        raise InvalidParameter(f"{name} {value!r}: allowed are numbers in [{low:g}, {high:g}]")
    return float(value)


def _mirrored(found: Bound, epsilon: float) -> Bound:
    """The bounds at -ε > 0 turned into those at ε."""

    def turned(delta: float) -> float:
        return min(1.0, -math.expm1(epsilon) + math.exp(epsilon) * delta)

    methods = {name: min(1.0, upwards(turned(value))) for name, value in found.methods.items()}
    upper = methods[found.method]
    return Bound(epsilon, upper, max(0.0, downwards(turned(found.lower))), upper, found.method, methods)


@dataclass
class _Query:
    """A node in question, with the answers found so far."""

    node: Node
    relation: Relation
    quick: bool
    both: bool = True
    methods: dict[str, float] = field(default_factory=dict)
    lower: float = 0.0

    def found(self, name: str, upper: float, lower: float = 0.0) -> None:
        self.methods[name] = upper
        self.lower = max(self.lower, lower)

    def best(self) -> tuple[float, float, str]:
        """(lower, upper, the method of upper)."""
        winner = min(self.methods, key=lambda name: self.methods[name])
        upper = self.methods[winner]
        return min(self.lower, upper), upper, winner


def _at_delta(query: _Query, delta: float) -> Bound:
    node, relation = query.node, query.relation
    basic = pure.node_epsilon(node, relation)
    if delta == 0 and basic < math.inf:
        query.found("basic", basic, _least(query))
    elif delta == 0 or node == NOTHING:
        query.found("basic", basic, basic)
    else:
        query.found("basic", basic)
        if extremes.is_tame(node):
            _renyi_and_exact(query, delta)
            _distributions(query, delta)
    lower, upper, winner = query.best()
    return Bound(upper, delta, lower, upper, winner, query.methods)


def _least(query: _Query) -> float:
    """A lower end for delta 0, where methods that see masses are silent: epsilon does not fall with delta."""
    if query.quick or not query.both:
        return 0.0
    return max(_at_delta(replace(query, methods={}, lower=0.0), delta).lower for delta in SEEN)


def _renyi_and_exact(query: _Query, delta: float) -> None:
    from refdp.accounting import divergence, single

    renyi = divergence.node_renyi_epsilon(query.node, query.relation, delta)[0]
    query.found("renyi", renyi)
    if isinstance(query.node, GaussianCost):
        upper = gaussian.epsilon(query.node.mu, delta)
        query.found("exact", upper, gaussian.epsilon_below(query.node.mu, delta, upper) if query.both else 0.0)
    elif (profile := single.profile_of(query.node)) is not None:
        lower, upper = single.epsilon_bounds(profile, delta, min(query.methods.values()))
        query.found("exact", min(upper, *query.methods.values()), lower)
    elif (whole := fine(query.node)) is not None:
        lower, upper = whole.epsilon(delta)
        query.found("exact", upper, lower if query.both else 0.0)


SEEN = (1e-30, 1e-12)
"""Where lower ends for delta 0 are sought; largest losses can be rarer than the first and still be near the second."""
Ends = tuple[str, float, float]
"""Method, lower and upper end."""


def _distributions(query: _Query, delta: float) -> None:
    """ "kov" where something is pure, "pld" where nothing exact is known."""
    from refdp.accounting import adaptive
    from refdp.accounting.enclosure import enclose_epsilon
    from refdp.accounting.pairs import NoPair

    def by_grid(node: Node, both: bool) -> Ends:
        found = enclose_epsilon(node, query.relation, delta, both)
        return "pld", found.lower, found.upper

    def adaptively(node: Node, both: bool) -> Ends:
        ends = adaptive.enclose_epsilon(node, query.relation, delta, both)
        return by_grid(node, both) if ends is None else ("adaptive", *ends)

    as_pure = pure.as_pure(query.node, query.relation)
    if as_pure is not None and (alike := _alike(as_pure)) is not None:
        query.found("kov", pure.kov_epsilon(delta, *alike))
        as_pure = None
    if not query.quick and "exact" not in query.methods and not _is_far(query.node, query.relation):
        with contextlib.suppress(NoPair):
            method, lower, upper = _apart(adaptively, query.node, query.relation, query.both)
            query.found(method, upper, lower)
            if not query.both:  # the pairs behind "kov" dominate those of the parts
                return
    if (
        as_pure is not None
        and not query.quick
        and not _is_far(as_pure, query.relation)
        and sum(count for _, count in parts(as_pure)) <= _MOST_OUTCOMES
    ):
        with contextlib.suppress(NoPair):
            query.found("kov", _apart(by_grid, as_pure, query.relation, False)[2])


def _is_far(node: Node, relation: Relation) -> bool:
    """Whether a part can lose more than whose exponential is a float: no grid reaches that far, Renyi orders do."""
    return any(FAR < pure.node_epsilon(part, relation) < math.inf for part, _ in parts(node))


def _apart(ends: Callable[[Node, bool], Ends], node: Node, relation: Relation, both: bool) -> Ends:
    """The ends of epsilon, parts of hardly any pure epsilon apart: they add at most theirs, at least nothing."""
    if (crumbs := _crumbs(node, relation)) is not None:
        rest, small = crumbs
        method, lower, upper = ends(rest, True)
        if small <= CRUMB * lower:
            return method, lower, upwards(upper + small)
    return ends(node, both)


def _crumbs(node: Node, relation: Relation) -> tuple[Node, float] | None:
    """The node without its parts of hardly any pure epsilon, and theirs together; None if one of the two is nothing.

    A grid fine enough for them has more points than fit into memory where the other parts reach far.
    """
    costs = [(part, count, upwards(pure.node_epsilon(part, relation) * count)) for part, count in parts(node)]
    small = [cost for _, _, cost in costs if cost <= SMALL]
    if not 0 < len(small) < len(costs):
        return None
    return compose((part, count) for part, count, cost in costs if cost > SMALL), upwards(math.fsum(small))


def _alike(node: Node) -> tuple[float, int] | None:
    """(epsilon, count) if the node is one pure cost repeated, not too often."""
    items = parts(node)
    first, count = items[0]
    alike = len(items) == 1 and isinstance(first, PureCost) and count <= _MOST_OUTCOMES
    return (first.epsilon, count) if alike and isinstance(first, PureCost) else None


def _at_epsilon(query: _Query, epsilon: float) -> Bound:
    met = epsilon == math.inf or pure.node_epsilon(query.node, query.relation) <= epsilon
    query.found("basic", 0.0 if met else 1.0)
    if not met and extremes.is_tame(query.node):
        _deltas(query, epsilon)
    lower, upper, winner = query.best()
    return Bound(epsilon, upper, lower, upper, winner, query.methods)


def _deltas(query: _Query, epsilon: float) -> None:
    """δ at a finite ε by everything but "basic"."""
    from refdp.accounting import divergence, single

    node, relation = query.node, query.relation
    query.found("renyi", divergence.node_renyi_delta(node, relation, epsilon)[0])
    as_pure = pure.as_pure(node, relation)
    if as_pure is not None and (alike := _alike(as_pure)) is not None:
        query.found("kov", pure.kov_delta(epsilon, *alike))
    if isinstance(node, GaussianCost):
        query.found("exact", gaussian.delta(node.mu, epsilon), gaussian.delta_below(node.mu, epsilon))
    elif (profile := single.profile_of(node)) is not None:
        query.found("exact", profile(epsilon)[1], profile(epsilon * single.STRETCH)[0])
    elif (whole := fine(node)) is not None and epsilon >= whole.shift:
        lower, upper = whole.delta(epsilon)
        query.found("exact", upper, lower)
    elif not query.quick and not _is_far(node, relation):
        _enclosed_delta(query, epsilon)


def _enclosed_delta(query: _Query, epsilon: float) -> None:
    from refdp.accounting import adaptive
    from refdp.accounting.enclosure import enclose_delta
    from refdp.accounting.pairs import NoPair

    def enclosed(node: Node, at: float) -> Ends:
        if (ends := adaptive.enclose_delta(node, query.relation, at)) is not None:
            return "adaptive", *ends
        found = enclose_delta(node, query.relation, at)
        return "pld", found.lower, found.upper

    try:
        crumbs = _crumbs(query.node, query.relation)
        if crumbs is not None and crumbs[1] < epsilon:
            method, _, upper = enclosed(crumbs[0], downwards(epsilon - crumbs[1]))
            _, lower, _ = enclosed(crumbs[0], epsilon)
            if upper <= lower * (1 + CRUMBS_IN_DELTA):
                query.found(method, upper, lower)
                return
        method, lower, upper = enclosed(query.node, epsilon)
    except NoPair:
        return
    query.found(method, upper, lower)
