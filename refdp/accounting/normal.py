"""Plans in normal form: equal costs counted, Gaussians merged, no-ops gone.

Every accountant reads this form, hence the order and the nesting of a plan cannot change a result. Rewritings used, all
of them exact or in the safe direction:
- sequential Gaussians are one Gaussian with mu² the sum of the mu²;
- Poisson sampling of Poisson sampling has the product of the rates; rate 1 is nothing, rate 0 releases nothing;
- blocks of a parallel composition under add-remove: the record sits in one block, equal blocks count once;
  under replace-one it can leave one block and enter another, so two blocks pay. The declared sensitivity of a release
  in a block is about replace-one neighbours of the whole data set and so covers leaving, entering and staying;
  blocks of blocks are blocks, and a block that is left for good is left from one of its own inner blocks;
- partition slots with equal events are one slot with the sum of their weights for bounds from above, since those
  (joint convexity) see only weight and cost; bounds from below see one slot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

from refdp.accounting.releases import (
    Cost,
    DiscreteGaussianCost,
    DiscreteLaplaceCost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RangeCost,
    SuppliedCost,
    cost,
)
from refdp.accounting.rounding import ceiling, is_number
from refdp.errors import InvalidParameter
from refdp.privacy.events import (
    TOO_DEEP,
    Event,
    Parallel,
    Partition,
    Plan,
    Relation,
    Release,
    Repeat,
    Sequential,
    Subsample,
    children,
    misfits,
)


@dataclass(frozen=True)
class Composed:
    """Nodes in sequence, each with the number of times it occurs."""

    parts: tuple[tuple[Node, int], ...]


@dataclass(frozen=True)
class Blocks:
    """Different blocks; `at_once` of them (1 under add-remove, 2 under replace-one) see the differing record."""

    blocks: tuple[tuple[Node, int], ...]
    at_once: int


@dataclass(frozen=True)
class Mixture:
    """Slots that the record falls into with the given probabilities; the rest of the probability releases nothing.

    slots: equal events together, weights added and rounded up, which is dearer than the slots apart: only for bounds
      from above. alone: the largest weight of a single slot of that event, rounded down, for bounds from below.
    told: some records and mechanism tell the slot, so that the profile is the average of the slots' and no more.
    apart: event, weight and number of slots that have both, for what is known of many slots (`allocation`).
    """

    slots: tuple[tuple[Node, float], ...]
    alone: tuple[tuple[Node, float], ...]
    told: bool = False
    apart: tuple[tuple[Node, float, int], ...] = ()

    @property
    def rest(self) -> float:
        """The probability of falling into no slot, rounded upwards."""
        return max(0.0, ceiling(1 - sum((Fraction(weight) for _, weight in self.slots), Fraction(0))))


@dataclass(frozen=True)
class Sampled:
    """The node on a secret random part of the records, see `_subsampled` for the methods."""

    rate: float
    node: Node
    method: str


@dataclass(frozen=True)
class Exchanged:
    """Poisson sampling under replace-one; near: what one record costs that is there or not, far: a replaced one.

    attained: whether a record can be replaced by one that is as good as none, so that bounds from below may use `near`.
    """

    rate: float
    near: Node
    far: Node
    attained: bool = field(default=True, repr=False)


Node = Cost | Composed | Blocks | Mixture | Sampled | Exchanged

NOTHING = Composed(())
MOST_TIMES = 2**53
"""A release may be made: counts are exact as floats."""
_NEARLY_CERTAIN = 1 - 2.0**-20
_LAST_PLACE = Fraction(1, 2**52)


def normalise(plan: Plan) -> Node:
    """The normal form of a plan.

    Errors: InvalidParameter (no plan; count, rate, weights, noise out of their domains; events nested too deeply).
    """
    check_plan(plan)
    try:
        return _node(plan.event, plan.relation, plan.relation is Relation.REPLACE_ONE)
    except RecursionError:
        raise InvalidParameter(TOO_DEEP) from None


def check_plan(plan: object) -> None:
    """Errors: InvalidParameter for anything but a plan, such as an event without its relation."""
    if not isinstance(plan, Plan):
        raise InvalidParameter(f"plan {plan!r}: allowed is Plan(relation, event) of refdp.privacy.events")


def parts(node: Node) -> tuple[tuple[Node, int], ...]:
    """The sequential parts of a node and their counts."""
    return node.parts if isinstance(node, Composed) else ((node, 1),)


def _node(event: Event, relation: Relation, moves: bool) -> Node:
    """moves: the differing record may leave one block and enter another, and as many records remain; else it is there
    or not, in one block or in none."""
    _check_kept(event)
    match event:
        case Release():
            return _unless_free(cost(event))
        case Sequential(events):
            return compose((_node(child, relation, moves), 1) for child in events)
        case Repeat(inner, count):
            return compose([(_node(inner, relation, moves), _count(count))])
        case Parallel():
            return _parallel(event, relation, moves)
        case Partition(weights, events, False) if not moves:
            return _shared_out(weights, events, relation)
        case Partition(weights, events):
            seen = {id(child): _node(child, relation, moves) for child in {id(one): one for one in events}.values()}
            return _mixture(weights, [seen[id(child)] for child in events])
        case Subsample():
            return _subsampled(event, relation, moves)
        case _:
            raise InvalidParameter(
                f"event {event!r}: allowed are the events of refdp.privacy.events, such as Sequential(...)"
            )


def _check_kept(event: Event) -> None:
    """Errors: InvalidParameter for parts that can be gone through once: whoever looked first left nothing to count."""
    for name in ("weights", "events"):
        if isinstance(value := getattr(event, name, ()), Iterator):
            raise InvalidParameter(f"{name} of {type(event).__name__}, {value!r}: allowed is a tuple")


def _parallel(event: Parallel, relation: Relation, moves: bool) -> Node:
    """One block, two blocks of which the record leaves one and enters the other, or a move inside one block.

    A block that the record leaves for good sees it in one of its own inner blocks, not in two.
    """
    leaves = [leaf for child in event.events for leaf in _leaves(child)]
    once = [_node(leaf, relation, False) for leaf in leaves]
    if not moves:
        return _blocks(once, 1)
    inside = [node for leaf, one in zip(leaves, once, strict=True) if (node := _node(leaf, relation, True)) != one]
    pairs = _blocks(once, 2)
    return _blocks([pairs, *inside], 1) if inside else pairs


def _leaves(event: Event) -> Iterator[Event]:
    """Blocks of blocks are blocks."""
    _check_kept(event)
    match event:
        case Parallel(events):
            for child in events:
                yield from _leaves(child)
        case Sequential((single,)) | Repeat(single, 1):
            yield from _leaves(single)
        case _:
            yield event


def compose(items: Iterable[tuple[Node, int]]) -> Node:
    """The sequential composition of nodes with counts, in normal form.

    Errors: InvalidParameter for a release that is made more than MOST_TIMES times.
    """
    total: Counter[Node] = Counter()
    for node, count in items:
        for part, times in parts(node):
            total[part] += times * count
    if total and (most := max(total.values())) > MOST_TIMES:
        raise InvalidParameter(f"a release that is made {Decimal(most):.2g} times: allowed are at most 2^53 times")
    square = sum((n.square * c for n, c in total.items() if isinstance(n, GaussianCost)), Fraction(0))
    flat: list[tuple[Node, int]] = [(n, c) for n, c in total.items() if c > 0 and not isinstance(n, GaussianCost)]
    if square:
        flat.append((GaussianCost(square), 1))
    if len(flat) == 1 and flat[0][1] == 1:
        return flat[0][0]
    return Composed(tuple(sorted(flat, key=repr)))


def _unless_free(price: Cost) -> Node:
    match price:
        case PureCost() | LaplaceCost() | DiscreteLaplaceCost() | RangeCost():
            free = price.exact == 0
        case GaussianCost(square):
            free = square == 0
        case DiscreteGaussianCost(_, length, _):
            free = length == 0
        case SuppliedCost():
            free = False
    return NOTHING if free else price


def _blocks(nodes: list[Node], at_once: int) -> Node:
    found = Counter(node for node in nodes if node != NOTHING)
    kept = {node: min(count, at_once) for node, count in _undominated(found, at_once).items()}
    if at_once > 1 and any(map(_is_sided, kept)):
        return Blocks(tuple(sorted(kept.items(), key=repr)), at_once)
    return _of_blocks(kept, at_once)


def _of_blocks(kept: dict[Node, int], at_once: int) -> Node:
    if sum(kept.values()) <= at_once:
        return compose(kept.items())
    if len(kept) == 1:
        return compose([(next(iter(kept)), at_once)])
    return Blocks(tuple(sorted(kept.items(), key=repr)), at_once)


def _is_sided(node: Node) -> bool:
    """Whether leaving a block and entering it are other pairs, so that two blocks attain no composition of either."""
    match node:
        case Sampled() | Exchanged() | Mixture() | SuppliedCost():
            return True
        case Composed(items) | Blocks(items, _):
            return any(_is_sided(inner) for inner, _ in items)
        case _:
            return False


def _undominated(found: Counter[Node], at_once: int) -> dict[Node, int]:
    """Without the blocks that cannot be among the `at_once` largest, where one parameter orders them."""
    kept: dict[Node, int] = {}
    for kind in (PureCost, LaplaceCost, GaussianCost, RangeCost):
        ordered = sorted((n for n in found if isinstance(n, kind)), key=_size, reverse=True)
        room = at_once
        for node in ordered:
            if room > 0:
                kept[node] = min(found[node], room)
                room -= kept[node]
    ordered_kinds = (PureCost, LaplaceCost, GaussianCost, RangeCost)
    return kept | {n: c for n, c in found.items() if not isinstance(n, ordered_kinds)}


def _size(node: PureCost | LaplaceCost | GaussianCost | RangeCost) -> Fraction:
    return node.square if isinstance(node, GaussianCost) else node.exact


def _mixture(weights: tuple[float, ...], nodes: list[Node]) -> Node:
    """Slots with the given weights. Where these exceed 1 by rounding, they stand for their shares of the sum.

    Bounds from above keep the weights, each at least its share. That costs no less: between shares p and weights w are
    others w' that sum to 1; the profile of w' is the dearer one, for what p leaves to no slot is at loss 0, and w has
    in every cell at least the mass of w'. Bounds from below have the shares.
    """
    if not hasattr(weights, "__len__"):
        raise InvalidParameter(f"weights {weights!r} of a partition: allowed is a sequence of numbers in [0, 1]")
    if len(weights) != len(nodes):
        raise InvalidParameter(
            f"a partition has {len(weights)} weights and {len(nodes)} events: allowed is one for each"
        )
    for weight in weights:
        if not is_number(weight) or not 0 <= weight <= 1:
            raise InvalidParameter(f"weight {weight!r} of a partition: allowed are numbers in [0, 1]")
    exact = sum((Fraction(weight) * n for weight, n in Counter(map(float, weights)).items()), Fraction(0))
    if exact > 1 + len(weights) * _LAST_PLACE:
        raise InvalidParameter(
            f"weights of a partition sum to {ceiling(exact)!r}: allowed is at most 1, but for their last place"
        )
    whole = max(exact, Fraction(1))
    slots: dict[Node, Fraction] = {}
    alone: dict[Node, float] = {}
    apart: Counter[tuple[Node, float]] = Counter()
    alike = Counter((id(node), float(weight)) for node, weight in zip(nodes, weights, strict=True))
    known = {id(node): node for node in nodes}
    for (own, weight), times in alike.items():
        node = known[own]
        if node != NOTHING and weight > 0:
            slots[node] = slots.get(node, Fraction(0)) + Fraction(weight) * times
            attained = _floor(Fraction(weight) / whole)
            alone[node] = max(alone.get(node, 0.0), attained)
            apart[node, attained] += times
    rounded = {node: min(1.0, ceiling(weight)) for node, weight in slots.items()}
    if not rounded:
        return NOTHING
    if len(rounded) == 1 and next(iter(alone.values())) == 1:
        return next(iter(rounded))
    each, single = (tuple(sorted(table.items(), key=repr)) for table in (rounded, alone))
    return Mixture(each, single, apart=tuple(sorted(((*slot, n) for slot, n in apart.items()), key=repr)))


def _floor(value: Fraction) -> float:
    """The largest float that is at most a positive `value`."""
    return -ceiling(-value)


def _shared_out(weights: tuple[float, ...], events: tuple[Event, ...], relation: Relation) -> Node:
    """Blocks of fixed shares of n records, one of which is there or not.

    Each block may have one record more. Where the record is in a block that stays as large, another one is there
    without it: one of what was taken out of the blocks that grow, or of what is in no block. Which block that is, the
    others' outputs may tell.
    """
    more = compose((_node(child, relation, False), 1) for child in events)
    swapped = _mixture(weights, [_node(_replaced(child), Relation.REPLACE_ONE, True) for child in events])
    if swapped == NOTHING:
        return more
    if len(events) == 1:
        return _sized(weights[0], events[0], relation)
    slots = swapped.slots if isinstance(swapped, Mixture) else ((swapped, 1.0),)
    return Mixture(((compose([(more, 1), (Mixture(slots, slots, told=True), 1)]), 1.0),), ((more, 1.0),))


REPLACING = "replacing"


def _subsampled(event: Subsample, relation: Relation, moves: bool) -> Node:
    """A sampled event. Whatever the event inside, its neighbours follow from the coupling of the two samples:

    - Poisson, add-remove: with the record or without it (method "poisson");
    - fixed size, replace-one: with the one record or with the other (method "without-replacement");
    - fixed size, add-remove: a sample of the larger data set that holds the record is, with a random other record in
      its place, a sample of the smaller one. So the two mixtures are those of Poisson sampling, between data sets of
      which one record is replaced (method REPLACING);
    - a size that follows from the number of records, where that changes: see `_sized`;
    - Poisson, replace-one: both records stay out, or one or the other is in. Where only replacing is bounded, samples
      with and without the record can be told apart (their sizes may be released): δ shrinks by the rate, ε does not.
    """
    rate, inner = _rate(event.rate, event.method), event.event
    if not event.independent and not moves:
        return _sized(rate, inner, relation)
    if event.method == "without-replacement":
        method = "without-replacement" if relation is Relation.REPLACE_ONE else REPLACING
        return _sampled(rate, _node(_replaced(inner), Relation.REPLACE_ONE, True), method)
    if relation is Relation.ADD_REMOVE:
        return _sampled(rate, _node(inner, relation, moves), "poisson")
    far = _node(_replaced(inner), relation, moves)
    if rate in (0, 1) or far == NOTHING:
        return NOTHING if rate == 0 else far
    if any(misfits(inner, Relation.ADD_REMOVE)):
        slots = ((far, rate),)
        return Mixture(slots, slots, told=True)
    return Exchanged(rate, _node(inner, Relation.ADD_REMOVE, False), far, not _has_fixed_blocks(inner))


def _sized(rate: float, inner: Event, relation: Relation) -> Node:
    """A sample of floor(rate n) of n records, one of which is there or not.

    Where the size stays, it is one of a fixed size. Where it grows, the larger sample without a random one of its
    records is the smaller one: one record more, with certainty. Never both, so that their sum is enough.
    """
    more = _node(inner, relation, False)
    if rate in (0, 1) or more == NOTHING:
        return NOTHING if rate == 0 else more
    stays = _sampled(rate, _node(_replaced(inner), Relation.REPLACE_ONE, True), REPLACING)
    return Mixture(((compose([(more, 1), (stays, 1)]), 1.0),), ((more, 1.0),))


def _has_fixed_blocks(event: Event) -> bool:
    """Whether a record that is there or not changes several blocks, or the size of a sample, of which one that is
    replaced changes one alone, or none."""
    return not getattr(event, "independent", True) or any(map(_has_fixed_blocks, children(event)))


def _replaced(event: Event) -> Event:
    """The event with sensitivities for a replaced record: twice those for a record that is added or removed."""
    match event:
        case Release(name, mechanism, sensitivity):
            if sensitivity.relation is Relation.REPLACE_ONE:
                return event
            if callable(getattr(mechanism, "dominated", None)):
                raise InvalidParameter(
                    f"{name!r} inside a sample of which one record is replaced: allowed for {type(mechanism).__name__} "
                    "is a sensitivity that is declared for replace-one"
                )
            twice = replace(sensitivity, bound=2 * sensitivity.bound, relation=Relation.REPLACE_ONE)
            return Release(name, mechanism, twice)
        case Sequential(events) | Parallel(events) | Partition(_, events, _):
            return replace(event, events=tuple(_replaced(child) for child in events))
        case Repeat(inner, _):
            return replace(event, event=_replaced(inner))
        case _:
            return event


def _sampled(rate: float, node: Node, method: str) -> Node:
    if rate == 0 or node == NOTHING:
        return NOTHING
    if rate == 1:
        return node
    if isinstance(node, Sampled) and method == node.method == "poisson":
        return Sampled(ceiling(Fraction(rate) * Fraction(node.rate)), node.node, method)
    return Sampled(rate, node, method)


def one_sided(node: Node, above: bool) -> Node:
    """A node that costs at least as much (above) or at most as much (below), and is simpler to account for.

    - Poisson rates above 1 - 2^-20 become 1 or 1 - 2^-20. The cost grows with the rate; so close to 1 the border
      log(1 - q) of a sampled loss is lost in rounding, and the blur that accounts for it would cost more than the rest.
    - A partition into equal events is that event (above), or one slot of it, with the other blocks silent (below).
    - A record exchanged in a Poisson sample costs at least as much as one that is there or not (below).
    - A record that leaves a block with a sample and enters another costs at most one exchanged in each (above), and
      one that is exchanged in one of the two is allowed as well (below).
    """
    match node:
        case Sampled(rate, inner, method):
            inner = one_sided(inner, above)
            if rate > _NEARLY_CERTAIN:
                return inner if above else _sampled(_NEARLY_CERTAIN, inner, method)
            return _sampled(rate, inner, method)
        case Composed(items):
            return compose((one_sided(inner, above), count) for inner, count in items)
        case Blocks(blocks, at_once):
            if at_once > 1 and not above and _is_sided(node):
                at_once = 1
            own: Counter[Node] = Counter()
            for inner, count in blocks:
                own[one_sided(inner, above)] += count
            return _of_blocks({inner: min(count, at_once) for inner, count in own.items()}, at_once)
        case Mixture(((inner, weight),), _) if above and weight >= 1 - 1e-12:
            return one_sided(inner, above)
        case Mixture(slots, alone, told) if above or told:
            return Mixture(tuple((one_sided(inner, above), weight) for inner, weight in slots), alone, told)
        case Mixture(_, alone):
            inner, weight = max(alone, key=lambda slot: slot[1])
            return _sampled(min(weight, _NEARLY_CERTAIN), one_sided(inner, above), "poisson")
        case Exchanged(rate, near, far, attained) if rate > _NEARLY_CERTAIN or not above:
            if above:
                return one_sided(far, above)
            if not attained:
                return NOTHING
            near = one_sided(near, above)
            if isinstance(near, (GaussianCost, LaplaceCost, DiscreteLaplaceCost)) and rate <= _NEARLY_CERTAIN:
                return Exchanged(rate, near, far)
            return _sampled(min(rate, _NEARLY_CERTAIN), near, "poisson")
        case Exchanged(rate, near, far):
            return Exchanged(rate, one_sided(near, above), one_sided(far, above))
        case _:
            return node


Slots = tuple[tuple[Node, float, int], ...]


def several(node: Node) -> Slots:
    """(event, weight, how many) of a partition into several slots; empty for everything else."""
    apart = node.apart if isinstance(node, Mixture) else ()
    return apart if sum(count for _, _, count in apart) > 1 else ()


def has_slots(node: Node, relation: Relation) -> bool:
    """Whether the plan has a partition of which more is known than its slots one by one (`allocation`)."""
    return relation is Relation.ADD_REMOVE and any(several(part) for part, _ in parts(node))


def _count(count: int) -> int:
    if not is_number(count) or not (0 <= count <= MOST_TIMES and int(count) == count):
        given = f"{Decimal(count):.6g}" if isinstance(count, int) else repr(count)
        raise InvalidParameter(f"repetition count {given}: allowed are whole numbers from 0 to 2^53")
    return int(count)


def _rate(rate: float, method: str) -> float:
    if not is_number(rate) or not 0 <= rate <= 1:
        raise InvalidParameter(f"sampling rate {rate!r}: allowed are numbers in [0, 1]")
    if method not in (allowed := ("poisson", "without-replacement")):
        raise InvalidParameter(f"sampling method {method!r}: allowed are {', '.join(allowed)}")
    return float(rate)
