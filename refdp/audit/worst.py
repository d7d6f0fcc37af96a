"""Worst transcripts: at every release the output that separates two neighbours most, chosen in closed form.

The two runs are advanced release by release. The result is an attainable transcript, so its exact loss is a witness.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from refdp.audit.replay import Finding, Pair, Trainer, compare, has_secrets, impossible, run
from refdp.data.records import Records
from refdp.errors import ImpossibleReplay
from refdp.noise.mechanisms import Mechanism
from refdp.privacy.curator import EVERYWHERE, Array, Curator, Request, own
from refdp.privacy.events import Relation
from refdp.privacy.replay import same_request
from refdp.privacy.sources import asked


class _Reached(Exception):
    """The run asked for a release beyond the outputs chosen so far."""


@dataclass
class Chosen:
    """A source that gives listed outputs, then stops the run. Every record is in every block, draws are zero.

    reached: the first request beyond the outputs.
    """

    outputs: list[Array]
    reached: Request | None = field(default=None, init=False)
    _next: int = field(default=0, init=False)

    def release(self, request: Request) -> Array:
        """The next listed output. Of the request's shape."""
        if self._next == len(self.outputs):
            value = None if request.value is None else own(request.value)
            self.reached = self.reached or replace(request, value=value)
            raise _Reached(request.name)
        self._next += 1
        return self.outputs[self._next - 1].copy()

    def draw(self, request: Request) -> Array:
        """Zeros: the first of every public choice. Of the request's shape."""
        return np.zeros(request.size, dtype=np.int64 if request.law[0] != "uniform" else np.float64)

    def assign(self, request: Request) -> NDArray[np.int64]:
        """Every record everywhere. Shape (records,)."""
        return np.full(request.size, EVERYWHERE, dtype=np.int64)


def next_request(train: Trainer, records: Records, outputs: list[Array], relation: Relation) -> Request | None:
    """What a run asks for after these outputs, or None if it is complete. outputs: each of its release's shape."""
    source = Chosen(outputs)
    try:
        train(records, Curator(source, relation))
    except Exception:  # a trainer may turn the error into another one, or swallow it
        if source.reached is None:
            raise
    return source.reached


def worst_transcript(train: Trainer, pair: Pair, *, reverse: bool = False) -> list[Array]:
    """Outputs, release by release, of greatest loss of the first against the second side (or in reverse).

    Costs one pair of runs for each release: for models of a few trees.

    Each of its release's shape.
    """
    outputs: list[Array] = []
    while True:
        first, second = (next_request(train, side, outputs, pair.relation) for side in (pair.first(), pair.second()))
        if first is None and second is None:
            return outputs
        mechanism, a, b = _same_question(first, second)
        outputs.append(mechanism.worst_output(b, a) if reverse else mechanism.worst_output(a, b))


def _same_question(first: Request | None, second: Request | None) -> tuple[Mechanism, Array, Array]:
    """Mechanism and the two true values. Errors: ImpossibleReplay if the two runs ask for different things."""
    if first is None or second is None:
        name = (first or second or Request("release", ())).name
        raise ImpossibleReplay(name, "control flow", "one of the two runs ended before it")
    same_request(first, second)
    (mechanism, a), (_, b) = asked(first), asked(second)
    return mechanism, a, b


def worst_case(train: Trainer, pair: Pair, epsilon: float, *, reverse: bool = False) -> Finding:
    """The finding of a replay along the worst transcript."""
    try:
        outputs = worst_transcript(train, pair, reverse=reverse)
    except ImpossibleReplay as error:
        return impossible(error, pair, "")
    transcripts = [run(train, side, Chosen(outputs), pair.relation)[0] for side in (pair.first(), pair.second())]
    if pair.old is not None and has_secrets(transcripts[0]):
        transcripts.insert(1, run(train, pair.base, Chosen(outputs), pair.relation)[0])
    return compare(transcripts, pair, epsilon, [])
