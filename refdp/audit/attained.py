"""What a run can lose for sure: outputs are chosen, both sides are run on them, and the loss is the exact one.

The greatest losses of the releases along one recorded run add up to an upper end only: an adaptive program asks other
things after the outputs that attain them. An accusation needs outputs that attain what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from refdp.audit.replay import SLACK, Pair, compare
from refdp.data.records import Records
from refdp.errors import ImpossibleReplay, InvalidParameter
from refdp.privacy.curator import EVERYWHERE, Array, Entry, Request, Transcript
from refdp.privacy.replay import RecordSwap, ReplaySource
from refdp.privacy.sources import true_output

ROUNDS = 4
"""How often outputs are chosen anew after those before led to other true values."""
Side = tuple[Records, RecordSwap]
Runs = Callable[[Records, "Led"], Transcript | None]
"""One run on records before a source; None where it gave no transcript."""


class Led:
    """Gives chosen outputs in turn, then true values; draws and coins are those of a recorded run while they fit."""

    def __init__(self, outputs: Sequence[Array], recorded: Transcript, target: RecordSwap) -> None:
        self._outputs, self._recorded, self._target = iter(outputs), recorded, target
        self._coins = {kind: iter([one for one in recorded.entries if one.request.kind == kind])
                       for kind in ("draw", "assign")}  # fmt: skip

    def release(self, request: Request) -> Array:
        """The next chosen output, of the true value's shape; the true one where it is of another release."""
        true = np.asarray(true_output(request))
        chosen = np.asarray(next(self._outputs, true))
        fits = chosen.shape == true.shape and chosen.dtype.kind == true.dtype.kind
        if fits and request.options is not None:
            fits = bool((chosen < len(request.options)).all())
        return (chosen if fits else true).copy()

    def draw(self, request: Request) -> Array:
        """The recorded draws, or zeros. Of the request's shape."""
        found = self._replayed(request, lambda source: source.draw(request))
        none = np.zeros(request.size, dtype=np.int64 if request.law[0] != "uniform" else np.float64)
        return none if found is None else found

    def assign(self, request: Request) -> NDArray[np.int64]:
        """The recorded coins with the audited record everywhere, or all records everywhere. Shape (records,)."""
        found = self._replayed(request, lambda source: source.assign(request))
        return np.full(request.size, EVERYWHERE, dtype=np.int64) if found is None else found

    def _replayed(self, request: Request, ask: Callable[[ReplaySource], Array]) -> Array | None:
        entry: Entry | None = next(self._coins[request.kind], None)
        if entry is None:
            return None
        try:
            return ask(ReplaySource(Transcript(self._recorded.relation, [entry]), self._target))
        except ImpossibleReplay:
            return None


def attained(
    run: Runs, sides: Sequence[Side], recorded: Transcript, replayed: Sequence[Transcript], pair: Pair, enough: float
) -> float:
    """The greatest |loss| of those outputs that were tried, at most until it is above `enough`. 0.0 if none could be.

    sides: records and what differs in them, as they were replayed; replayed: their transcripts, in the same order.
    """
    best = 0.0
    for reverse in (False, True):
        seen = list(replayed)
        for _ in range(ROUNDS):
            outputs = _chosen(seen[0], seen[-1], reverse)
            now = _led(run, sides, outputs, recorded)
            if len(now) < len(sides) or not _alike(now):
                break
            try:
                loss = compare(now, pair, np.inf, []).loss
            except InvalidParameter:
                break
            best = max(best, abs(loss or 0.0))
            if best > enough or (_values(now[0]) == _values(seen[0]) and _values(now[-1]) == _values(seen[-1])):
                break
            seen = now
        if best > enough:
            break
    return best


def _led(run: Runs, sides: Sequence[Side], outputs: list[Array], recorded: Transcript) -> list[Transcript]:
    """Runs on the sides with the same outputs: a run that asks for more than were chosen is given the first's."""
    found: list[Transcript] = []
    for records, target in sides:
        one = run(records, Led(outputs, recorded, target))
        if one is None:
            break
        found.append(one)
        outputs = [entry.output if entry.index is None else entry.index for entry in one.entries
                   if entry.request.kind == "release"]  # fmt: skip
    return found


def _chosen(first: Transcript, last: Transcript, reverse: bool) -> list[Array]:
    """At every release the output of greatest loss, given the true values of both sides."""
    outputs = []
    for one, other in zip(first.entries, last.entries, strict=True):
        mechanism = one.request.mechanism
        if mechanism is None or one.value is None or other.value is None:
            continue
        value, against = (other.value, one.value) if reverse else (one.value, other.value)
        outputs.append(_at_worst(one, mechanism.worst_output(value, against), value, against))
    return outputs


def _at_worst(entry: Entry, worst: Array, value: Array, against: Array) -> Array:
    """The output that was given where none loses more, since it is known where a run goes on from it."""
    own, mechanism = np.asarray(entry.output), entry.request.mechanism
    if mechanism is None or entry.index is not None or own.shape != np.shape(worst):
        return worst
    loses, most = mechanism.loss(value, against, own), mechanism.worst_loss(value, against)
    return np.where(loses >= most * (1 - SLACK), own, worst)


def _alike(sides: Sequence[Transcript]) -> bool:
    """Whether all sides asked for the same: only then the outputs have a loss."""
    asked = [[(e.request.kind, e.request.name, e.request.mechanism, e.output.shape) for e in side.entries]
             for side in sides]  # fmt: skip
    return all(one == asked[0] for one in asked)


def _values(side: Transcript) -> list[bytes]:
    return [b"" if entry.value is None else entry.value.tobytes() for entry in side.entries]
