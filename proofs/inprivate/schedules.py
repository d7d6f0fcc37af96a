"""InPrivate Digging: schedules and messages among the owners."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Finite, Identity, Proved
from proofs.checker.proposition import Proposition
from proofs.checker.statements import Count, ForAll, Real
from refdp.protocols import schedules

RESIDUAL_TIME, TREE_TIME = Real("c1"), Real("c2")


def schedules_agree(owners: int, broadcast: bool) -> Any:
    """`finish_times` ends at the closed form, for all times."""
    closed = schedules.broadcast_time if broadcast else schedules.baseline_time

    def holds(c1: Any, c2: Any) -> Any:
        return schedules.finish_times(owners, c1, c2, broadcast=broadcast)[-1] == closed(Fraction(owners), c1, c2)

    return Proved(
        ForAll((RESIDUAL_TIME, TREE_TIME), holds, lambda c1, c2: (c1 >= 0, c2 >= 0)),
        label=f"step by step, {owners} owners",
    )


def trees_sent_by_baseline(n: Any) -> Any:
    """1 + 2 + ... + (n - 1): owner i passes on i trees."""
    return (n * n - n) / 2


PROPOSITIONS = (
    Proposition(
        "inprivate/eq-18",
        "Eq. 18",
        "The baseline takes (n^2 - n)/2 c1 + n c2, and the n-th owner waits (n^2 - 3n + 2)/2 c1 + (n - 1) c2.",
        about=(schedules.baseline_time, schedules.finish_times),
        evidence=(
            Identity(
                "n c1 c2",
                lambda n, c1, c2: schedules.baseline_time(n + 1, c1, c2) - schedules.baseline_time(n, c1, c2),
                lambda n, c1, c2: n * c1 + c2,
                label="owner n + 1 evaluates n trees and trains one",
            ),
            Identity(
                "n c1 c2",
                lambda n, c1, c2: schedules.baseline_time(n - 1, c1, c2),
                lambda n, c1, c2: (n * n - 3 * n + 2) / 2 * c1 + (n - 1) * c2,
                label="waiting time",
            ),
            *(schedules_agree(owners, broadcast=False) for owners in (1, 2, 3)),
        ),
    ),
    Proposition(
        "inprivate/eq-19",
        "Eq. 19",
        "The speed-up takes (n - 1) c1 + n c2, and the n-th owner waits (n - 2) c1 + (n - 1) c2.",
        about=(schedules.broadcast_time, schedules.finish_times),
        evidence=(
            Identity(
                "n c1 c2",
                lambda n, c1, c2: schedules.broadcast_time(n + 1, c1, c2) - schedules.broadcast_time(n, c1, c2),
                lambda c1, c2: c1 + c2,
                label="one more owner adds one evaluation and one tree",
            ),
            Identity(
                "n c1 c2",
                lambda n, c1, c2: schedules.broadcast_time(n - 1, c1, c2),
                lambda n, c1, c2: (n - 2) * c1 + (n - 1) * c2,
                label="waiting time",
            ),
            Proved(
                ForAll(
                    (Real("ready"), Real("done"), RESIDUAL_TIME, TREE_TIME),
                    lambda ready, done, c1, c2: done + c1 <= done + c1 + c2,
                    lambda ready, done, c1, c2: (c1 >= 0, c2 >= 0, ready <= done),
                ),
                label="an owner has evaluated all trees but the last before the last arrives",
            ),
            *(schedules_agree(owners, broadcast=True) for owners in (1, 2, 3)),
        ),
    ),
    Proposition(
        "inprivate/speed-up",
        "section VI-C",
        "The speed-up never takes longer than the baseline, and less from three owners on.",
        about=(schedules.baseline_time, schedules.broadcast_time),
        evidence=(
            Proved(
                ForAll(
                    (Count("n", start=1, split=2), RESIDUAL_TIME, TREE_TIME),
                    lambda n, c1, c2: schedules.broadcast_time(n, c1, c2) <= schedules.baseline_time(n, c1, c2),
                    lambda c1, c2: (c1 >= 0, c2 >= 0),
                )
            ),
            Proved(
                ForAll(
                    (Count("n", start=3), RESIDUAL_TIME, TREE_TIME),
                    lambda n, c1, c2: schedules.broadcast_time(n, c1, c2) < schedules.baseline_time(n, c1, c2),
                    lambda c1, c2: (c1 > 0, c2 >= 0),
                ),
                label="strictly",
            ),
        ),
    ),
    Proposition(
        "inprivate/messages",
        "section VI-C",
        "The number of messages rises from n - 1 to n (n - 1)/2.",
        about=(schedules.baseline_messages, schedules.broadcast_messages),
        evidence=(
            Identity(
                "n",
                lambda n: schedules.broadcast_messages(n + 1) - schedules.broadcast_messages(n),
                lambda n: n,
                label="a further owner receives a message from each of n owners",
            ),
            Finite(
                lambda: range(1, 40),
                lambda n: (
                    (sum(n - i for i in range(1, n + 1)), n - 1)
                    == (schedules.broadcast_messages(n), schedules.baseline_messages(n))
                ),
                "counted for 1 to 39 owners",
            ),
        ),
    ),
    Proposition(
        "inprivate/communication",
        "section VI-C",
        "Counted in trees, the speed-up sends as many as the baseline, n (n - 1)/2.",
        about=(schedules.broadcast_messages,),
        evidence=(
            Identity("n", lambda n: trees_sent_by_baseline(n), lambda n: schedules.broadcast_messages(n)),
            Finite(
                lambda: range(1, 40),
                lambda n: sum(range(1, n)) == trees_sent_by_baseline(n),
                "counted for 1 to 39 owners",
            ),
        ),
        argument="The baseline's owner i sends i trees at once, 1 + ... + (n - 1) in all.",
    ),
)
