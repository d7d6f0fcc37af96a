"""Worst transcripts: at every release the output that separates two neighbours most, chosen in closed form.

The two runs are advanced release by release, side by side. The result is an attainable transcript, so its exact loss is
a witness.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from refdp.audit.in_order import InOrder
from refdp.audit.lockstep import HAS_THREADS, Open, Stopped, Waiting
from refdp.audit.replay import Finding, Pair, Trainer, compare, has_secrets, impossible, run
from refdp.data.records import Records
from refdp.errors import ImpossibleReplay
from refdp.noise.mechanisms import Mechanism
from refdp.privacy.curator import Array, Curator, Request, Transcript, own
from refdp.privacy.events import Relation
from refdp.privacy.replay import same_request
from refdp.privacy.sources import asked


@dataclass
class Chosen(Open):
    """A source that gives listed outputs, then stops the run. Every record is in every block, draws are zero.

    reached: the first request beyond the outputs.
    """

    outputs: list[Array]
    reached: Request | None = field(default=None, init=False)
    _next: int = field(default=0, init=False)

    def release(self, request: Request) -> Array:
        """The next listed output. Of the request's shape. Errors: Stopped beyond the list."""
        if self._next == len(self.outputs):
            value = None if request.value is None else own(request.value)
            self.reached = self.reached or replace(request, value=value)
            raise Stopped(request.name)
        self._next += 1
        return self.outputs[self._next - 1].copy()


def next_request(train: Trainer, records: Records, outputs: list[Array], relation: Relation) -> Request | None:
    """What a run asks for after these outputs, or None if it is complete. outputs: each of its release's shape."""
    source = Chosen(outputs)
    try:
        train(records, Curator(InOrder(source), relation))
    except Exception:  # a trainer may turn the error into another one, or swallow it
        if source.reached is None:
            raise
    return source.reached


def worst_transcript(train: Trainer, pair: Pair, *, reverse: bool = False) -> list[Array]:
    """Outputs, release by release, of greatest loss of the first against the second side (or in reverse).

    Each of its release's shape.
    """
    return _worst(train, pair, reverse)[0]


def _worst(train: Trainer, pair: Pair, reverse: bool) -> tuple[list[Array], list[Transcript]]:
    """The outputs, and the transcripts of both sides."""
    outputs: list[Array] = []
    output: Array | None = None
    if not HAS_THREADS:  # every release costs a pair of runs
        while (output := _separating(*_requests(train, pair, outputs), reverse)) is not None:
            outputs.append(output)
        return outputs, [run(train, side, Chosen(outputs), pair.relation)[0] for side in _both(pair)]
    runs = [Waiting(train, side, pair.relation) for side in _both(pair)]
    try:
        while (output := _separating(runs[0].asks(output), runs[1].asks(output), reverse)) is not None:
            outputs.append(output)
    finally:
        for one in runs:
            one.stop()
    return outputs, [one.transcript for one in runs]


def _both(pair: Pair) -> tuple[Records, Records]:
    return pair.first(), pair.second()


def _requests(train: Trainer, pair: Pair, outputs: list[Array]) -> tuple[Request | None, Request | None]:
    first, second = (next_request(train, side, outputs, pair.relation) for side in _both(pair))
    return first, second


def _separating(first: Request | None, second: Request | None, reverse: bool) -> Array | None:
    """The output that separates two true values most; None where both runs are over."""
    if first is None and second is None:
        return None
    mechanism, a, b = _same_question(first, second)
    return mechanism.worst_output(b, a) if reverse else mechanism.worst_output(a, b)


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
        outputs, transcripts = _worst(train, pair, reverse)
    except ImpossibleReplay as error:
        return impossible(error, pair, "")
    if pair.old is not None and has_secrets(transcripts[0]):
        transcripts.insert(1, run(train, pair.base, Chosen(outputs), pair.relation)[0])
    return compare(transcripts, pair, epsilon, [])
