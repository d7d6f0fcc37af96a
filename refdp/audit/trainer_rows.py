"""The coverage table of a trainer's audit: for each subject what was looked at, and what was not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refdp.accounting import account
from refdp.audit import noise_shape, slots
from refdp.audit.adaptive_runs import described
from refdp.audit.declared_filter import HINT, established
from refdp.audit.noise_law import smallest
from refdp.audit.own_code import spaces_of
from refdp.audit.reached import beginning, code_of, fixed, globals_of
from refdp.audit.replay import SLACK, Violation
from refdp.audit.unreached import is_of_text, unreached
from refdp.audit.verdicts import Row, Verdict
from refdp.errors import InvalidParameter
from refdp.privacy.events import Event, Plan, Relation

if TYPE_CHECKING:
    from refdp.audit.search import Notes
    from refdp.audit.steered import Steered

MOST_LINES = 6
"""Lines named in a reason."""
SUBJECT = {
    "sensitivity": "releases", "cost": "releases", "cost of order 2": "releases", "value": "releases",
    "loss": "composition", "composition": "composition", "budget": "composition", "filter": "composition",
    "block": "scopes", "assignment": "secret randomness",
    "noise scale": "noise law and scale", "noise law": "noise law and scale",
    "reused noise": "sampler", "seeded noise": "sampler",
    "exception": "side channels", "side channel": "side channels", "global state": "side channels",
    "published object": "published object", "model": "published object",
    "state between calls": "state between calls",
}  # fmt: skip
"""Which row a kind of violation belongs to; any other kind parts the runs: control flow."""
FOUND, LOOKED, LEFT = Verdict.VIOLATION, Verdict.NOT_FOUND, Verdict.NOT_EXAMINED


def rows(
    notes: Notes, found: tuple[Violation, ...], epsilon: float, delta: float, relation: Relation, covered: bool = False
) -> Iterator[Row]:
    """All rows. covered: whether a certificate establishes the claim for just what was declared."""
    for violation in found:
        what = SUBJECT.get(violation.kind, "control flow")
        yield Row(what, FOUND, f"{violation.kind} at {violation.release or 'the returned value'}")
    for name in sorted(notes.unknown):
        yield Row("noise law and scale", LEFT, f"no law is known of {name}")
        yield Row("composition", LEFT, f"no loss can be stated of {name}")
    if notes.random:
        yield Row("published object", LEFT, "randomness that is not the curator's: " + ", ".join(sorted(notes.random)))
    if notes.rearranged:
        for what in ("scopes", "secret randomness"):
            yield Row(what, LEFT, f"{slots.REASON} ({notes.rearranged} pairs)")
    if notes.pairs == 0:
        reason = "; ".join(sorted(notes.failed)) or "no pair of runs could be compared"
        for what in ("releases", "composition", "control flow", "published object", "side channels"):
            yield Row(what, LEFT, reason)
        return
    tried = f"{notes.pairs} pairs replayed"
    for reason in sorted(notes.failed):
        yield Row("control flow", LEFT, reason)
    for reason in sorted(notes.undecided):
        yield Row("releases", LEFT, reason)
    if notes.raised == notes.pairs:
        yield Row("published object", LEFT, "every run ended with an error: nothing was published")
    if notes.releases:
        yield Row("releases", LOOKED, f"{notes.releases} releases recorded, {tried}, every change against its declared "
                  "sensitivity and cost", f"any excess of more than {SLACK:g} on the pairs tried")  # fmt: skip
    else:
        yield Row("releases", LOOKED, "nothing was released through the curator: whatever is published may not depend "
                  "on records at all", "any dependence on the pairs tried")  # fmt: skip
    yield Row("control flow", LOOKED, f"{tried}: the same requests in the same order", "any difference on these pairs")
    yield from _published(notes, tried)
    yield _state(notes)
    yield from _scopes(notes)
    yield from _noise(notes)
    yield from _composition(notes, found, epsilon, delta, relation, covered)
    yield from _counts(notes)
    yield _floating(notes)
    yield Row("time", LEFT, "how long a run takes was not measured", decides=False)


def _published(notes: Notes, tried: str) -> Iterator[Row]:
    for place in sorted(notes.opaque):
        yield Row("published object", LEFT, f"{place} cannot be read from outside")
    yield Row("published object", LOOKED, f"{tried}: types, attributes, slots, order and every bit of what is returned",
              "any difference on these pairs")  # fmt: skip
    yield Row("side channels", LOOKED, f"{tried}: exceptions, warnings, standard output and error, files written, "
              "calls to the outside, environment, global generators, all that the trainer and its modules hold; not "
              "what is inside objects of other modules, memory, threads, or other processes",
              "any difference on these pairs")  # fmt: skip


def _state(notes: Notes) -> Row:
    if notes.later:
        return Row("state between calls", LEFT, f"with the same records and noise, a run after another in a process "
                   f"has other results ({', '.join(sorted(notes.later))}): only first runs were examined")  # fmt: skip
    if notes.state:
        return Row("state between calls", LOOKED, "every run had a process of its own, and runs after runs on other "
                   "records were compared", "any difference on the pairs tried, in a first or second run")  # fmt: skip
    return Row("state between calls", LEFT, "no run after another one in the same process was compared")


def _scopes(notes: Notes) -> Iterator[Row]:
    if not notes.scoped:
        for what in ("scopes", "secret randomness"):
            yield Row(what, LOOKED, "no recorded run asked for secret randomness: nothing is amplified", "not credited")
        return
    if not notes.single:
        for what in ("scopes", "secret randomness"):
            yield Row(what, LEFT, "no run was replayed with the record in one block alone")
        return
    yield Row("scopes", LOOKED, f"blocks are those that the curator opened; {notes.single} replays with the record in "
              "one random block of each, held against those with it everywhere and nowhere",
              "a release that knows of a record outside its block, on the pairs tried")  # fmt: skip
    yield Row("secret randomness", LOOKED, "assignments are drawn by the curator and compared between neighbours",
              "a law or size of blocks that depends on a record, on the pairs tried")  # fmt: skip


def _noise(notes: Notes) -> Iterator[Row]:
    bet = notes.bet
    if bet is None or not bet.draws:
        verdict, reason = (LEFT, "no noise was drawn in a run that ended") if notes.releases else (
            LOOKED, "there is no release, hence no noise")  # fmt: skip
        yield Row("noise law and scale", verdict, reason)
        yield Row("sampler", verdict, reason)
        return
    share, distance = smallest(bet.draws, 8), noise_shape.smallest(notes.shaped, 24 * 8)
    power = f"all scales {100 * share:.2g}% too small (95%), if most draws are of them; "
    power += f"a distribution function {distance:.2g} off (95%); false alarm 1e-9 each"
    yield Row("noise law and scale", LOOKED, f"{bet.draws} draws of up to 8 kinds of mechanism against their law at "
              "smaller scales, and against its shape at several values; that each is independent of the one before",
              power)  # fmt: skip
    yield Row("sampler", LOOKED, "draws of two runs on the same records compared for repetition; false alarm 1e-9",
              "a repeated vector of draws")  # fmt: skip


def _composition(
    notes: Notes, found: tuple[Violation, ...], epsilon: float, delta: float, relation: Relation, covered: bool
) -> Iterator[Row]:
    if any(SUBJECT.get(violation.kind) == "composition" for violation in found):
        return
    yield from _above_claim(notes, epsilon, delta, relation, covered)
    runs = described(notes.again, notes.alike)
    if delta == 0:
        worst = max(notes.worst, default=0.0)
        if worst > epsilon * (1 + SLACK) + SLACK:
            yield Row("composition", LEFT, f"greatest losses of the releases along a recorded run add up to "
                      f"{worst:.6g}, an upper end: no outputs tried attain more than {epsilon:g}")  # fmt: skip
            return
        yield Row("composition", LOOKED, f"greatest loss over all outputs along {runs} {worst:.6g} of {epsilon:g}",
                  f"any loss above {epsilon:g} along a recorded run")  # fmt: skip
        return
    upper = max((cost.upper for cost in notes.costs), default=0.0)
    if upper > delta * (1 + SLACK):
        yield Row("composition", LEFT, f"delta at epsilon {epsilon:g} of a pair tried is at most {upper:.3g} only, "
                  f"above the claim {delta:g}")  # fmt: skip
    else:
        yield Row("composition", LOOKED, f"delta at epsilon {epsilon:g} of every pair tried is at most {upper:.3g}, by "
                  f"the accountant, along {runs}", f"any delta above {delta:g} on these pairs")  # fmt: skip


def _above_claim(notes: Notes, epsilon: float, delta: float, relation: Relation, covered: bool) -> Iterator[Row]:
    """What was declared against the claim; where it is more, whether something was seen to keep the claim."""
    declared = epsilon if covered else _declared(notes.events, relation, epsilon, delta)
    if declared is None:
        yield Row("composition", LEFT, "what was declared cannot be accounted for")
        return
    if notes.filters:
        yield from _filtered(notes, epsilon, delta, relation)
        return
    if declared <= epsilon * (1 + SLACK):
        return
    composes = f"what was declared composes to epsilon {declared:.6g} at delta {delta:g}, above the claim {epsilon:g}"
    left = notes.leaving
    if refused := left.refused(relation, epsilon, delta):
        yield Row("composition", LEFT, f"{composes}; {left.left} audited records took no part any more in later "
                  f"releases and none came back; {refused} of the {len(left.going_on)} with most to spend would have "
                  "exceeded the claim by staying: a filter, whose budget for a record is in no release. Say it, and "
                  f"each record's spending is held against it: {HINT}")  # fmt: skip
    else:
        yield Row("composition", LEFT, f"{composes}, and no pair tried shows as much; if a filter keeps the claim by "
                  f"letting records leave, say its budget: {HINT}")  # fmt: skip


def _filtered(notes: Notes, epsilon: float, delta: float, relation: Relation) -> Iterator[Row]:
    """Declared filters: what records spent, and what budgets and all other releases cost together."""
    yield from (one.row() for one in notes.filters)
    filters = [one.declared for one in notes.filters]
    together = max((established(filters, event, relation, delta) for event in _distinct(notes.events)), default=0.0)
    if together == math.inf:
        yield Row("composition", LEFT, "declared budgets and the costs of all other releases give no epsilon together: "
                  "every filter needs the same order, a finite order a delta above 0, and all releases of one sample "
                  "or secret partition one filter, since what shares secret coins does not add up")  # fmt: skip
    elif together > epsilon * (1 + SLACK):
        yield Row("composition", LEFT, f"declared budgets and the costs of all other releases compose to epsilon "
                  f"{together:.6g} at delta {delta:g}, above the claim {epsilon:g}")  # fmt: skip
    else:
        yield Row("composition", LOOKED, f"declared budgets and the costs of all other releases compose to epsilon "
                  f"{together:.6g} at delta {delta:g}; that such a filter keeps it rests on a theorem (Feldman and "
                  "Zrnic 2021)", "spending above a declared budget")  # fmt: skip


def _distinct(events: list[Event]) -> list[Event]:
    """The first few events that differ."""
    found: list[Event] = []
    for event in events:
        if event not in found and len(found) < 4:
            found.append(event)
    return found


def _declared(events: list[Event], relation: Relation, epsilon: float, delta: float) -> float | None:
    """The greatest cost of the declared sensitivities of recorded runs; None if one cannot be accounted for."""
    worst = 0.0
    for event in _distinct(events):
        try:
            plan = Plan(relation, event)
            cost = account(plan, delta=delta, quick=True).epsilon
            near = epsilon * (1 + SLACK) < cost < 3 * epsilon  # farther off the costly methods change nothing
            worst = max(worst, account(plan, delta=delta, both=delta > 0).epsilon if near else cost)
        except (InvalidParameter, AssertionError, AttributeError):
            return None
    return worst


def _counts(notes: Notes) -> Iterator[Row]:
    sizes = sorted(notes.sizes)
    shown = f"{len(sizes)} numbers of records from {sizes[0]} to {sizes[-1]}"
    if sizes[-1] < 50:
        yield Row("record counts", LEFT, f"{shown}: none from 50 on")
    else:
        yield Row("record counts", LOOKED, f"{shown}; no others", "what shows at one of these numbers")
    if notes.sides == {True, False}:
        yield Row("both directions", LOOKED, "recorded on either side in turn; losses in both directions")
    else:
        yield Row("both directions", LEFT, "recorded on one side only")


def _floating(notes: Notes) -> Row:
    if notes.off_grid:
        names = ", ".join(sorted(notes.off_grid)[:3])
        return Row("floating point", LEFT, f"outputs off the public grid of their mechanism: {names}", decides=False)
    if notes.floating == 0 and notes.discrete:
        return Row("floating point", LOOKED, f"{notes.discrete} releases of discrete noise: every output lies on the "
                   "public grid of its mechanism, so that its last bits tell nothing else", "an output off the grid",
                   decides=False)  # fmt: skip
    return Row("floating point", LEFT, "losses are those of ideal noise; the last bits of floating-point noise can "
               "tell more (Mironov 2012), and were not examined", decides=False)  # fmt: skip


def looked_into(train: Any) -> Iterator[Row]:
    """Which modules count as the trainer's."""
    if names := spaces_of(train):
        yield Row("side channels", LOOKED, f"modules that count as the trainer's: {_some([*names])}")


def searched(seen: Steered) -> Iterator[Row]:
    """What the steered search over contents did."""
    if seen.failed:
        yield Row("releases", LOOKED, f"the search over contents was cut short: {seen.failed}")
    if not seen.tried:
        return
    shares = ", ".join(f"{name} {share:.3g}" for name, share in sorted(seen.nearest.items())[:MOST_LINES])
    nearest = f"; most of what is declared: {shares}" if shares else ""
    yield Row("releases", LOOKED, f"{seen.tried} more pairs replayed in short, crowds at the bounds and changes of the "
              f"pairs that moved a release most{nearest}")  # fmt: skip
    if seen.apart:
        places = sorted(f"{Path(file).name}:{line}" for file, line in seen.apart)
        yield Row("control flow", LOOKED, f"{len(places)} lines run or not depending on a record, with equal outputs: "
                  f"{_some(places)}; pairs on either side of them were replayed in full")  # fmt: skip


def never_run(seen: Steered, train: Any) -> Iterator[Row]:
    """Code that no run reached: what it does was not examined, if records can lead there."""
    blocks = unreached(seen.lines, beginning(train), fixed(train), globals_of(train))
    unread = [place for place, by in blocks if by == "unread"]
    if unread or (seen.lines and not is_of_text(code_of(train))):
        places = _some(unread or [Path((beginning(train) or ("",))[0]).name])
        yield Row("control flow", LEFT, f"what never ran is not known: no text, or another one than what ran, is in "
                  f"{places}")  # fmt: skip
    for what, why in LED_BY.items():
        led = [place for place, by in blocks if by == what]
        if led:
            yield Row("control flow", LEFT, f"never run, behind a condition on {why}: {_some(led)}")
    others = [place for place, by in blocks if not by]
    if others:
        yield Row("control flow", LOOKED, f"never run, behind a condition that names nothing private: {_some(others)}")


LED_BY = {"records": "records", "outputs": "what the curator returned, which no run's noise was so extreme as to meet",
          "surroundings": "the clock, dice of its own, or the program around it"}  # fmt: skip
"""What leads to code that no run reached, and how that is said."""


def _some(places: list[str]) -> str:
    more = f" and {len(places) - MOST_LINES} more" if len(places) > MOST_LINES else ""
    return ", ".join(places[:MOST_LINES]) + more
