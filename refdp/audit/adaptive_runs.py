"""Trainers that release more, or another thing, where other outputs came out: more runs of the pairs that lose most.

What a run costs is then not the same each time, and a recorded run of a pair is one path of many. A trainer that tries
until an output suits it is within its claim along most paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from refdp.audit.replay import Finding, Pair
from refdp.audit.search import Search

RUNS = 24
"""Further runs of each pair: a path that one run in ten takes is missed by 8% of them."""
PROBES = 8
"""Runs on the fewest records that are recorded to see whether they differ, where those of the pairs do not."""
PAIRS = 2
"""Pairs with the greatest loss that are recorded again, beside the one of the fewest records."""
BASE = 500_000
"""Numbers of these runs begin here."""


def more_runs(
    search: Search, looked: Sequence[tuple[Pair, Finding]], fewest: Pair, told: Callable[[], bool] = lambda: False
) -> None:
    """Where runs differ, record pairs again with other noise and look at each in full, on either side in turn.

    looked: pairs with what was found. fewest: a pair of few records, whose outputs are mostly noise. told: whether to
    end, asked after each look.
    """
    if not is_adaptive(search, fewest):
        return
    stated = [(pair, finding.worst) for pair, finding in looked if finding.worst is not None]
    by_loss = sorted(stated, key=lambda one: -abs(one[1]))[:PAIRS]
    for run in range(RUNS):
        for pair in (fewest, *(pair for pair, _ in by_loss)):
            search.look(pair, BASE + 2 * search.notes.again + run % 2)
            search.notes.again += 1
            if told():
                return


def is_adaptive(search: Search, fewest: Pair) -> bool:
    """Whether recorded runs released different things; notes how many did not, where none did."""
    probes = (search.recorded(fewest.base, BASE - 1 - place) for place in range(PROBES))
    events = probed(
        search.notes.events,
        (one.event for one in probes if one.event is not None and not one.raised and not one.failed),
    )
    if differ(events):
        return True
    search.notes.alike = len(events)
    return False


def probed(known: Sequence[Any], probes: Iterable[Any]) -> list[Any]:
    """What known runs released, and what probes did where all of them released the same. probes: run only then."""
    return [*known, *(() if differ(known) else probes)]


def differ(released: Sequence[Any]) -> bool:
    """Whether one of them is another than the first."""
    return any(one != released[0] for one in released)


def missed(alike: int) -> float:
    """The greatest share of runs that another path can have and still show in none of so many runs, once in twenty."""
    return float(1 - 0.05 ** (1 / alike))


def described(again: int, alike: int) -> str:
    """Which runs losses are stated of. again: runs recorded because others differed; alike: runs, where none did."""
    if again:
        return (f"recorded runs, which do not release the same each time ({again} more were recorded of pairs that "
                "lose most, and paths that none took can lose more):")  # fmt: skip
    if alike:
        return (f"recorded runs, all {alike} of which release the same (a path that fewer than "
                f"{100 * missed(alike):.2g}% of runs take may have been missed, 95%, and can lose more):")  # fmt: skip
    return "recorded runs"
