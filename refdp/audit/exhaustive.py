"""Model checking on a small scope: every neighbouring pair of tiny data sets, every output of every choice.

Choices of exponential mechanisms are enumerated; for additive noise the supremum over outputs has a closed form. The
worst loss over all pairs and outputs is therefore exact (up to float64 rounding), not sampled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np

from refdp.audit.replay import Trainer, changes, run
from refdp.audit.worst import Chosen, next_request
from refdp.data.records import Records, Schema, make_records
from refdp.noise.mechanisms import Exponential
from refdp.privacy.curator import Array, Transcript
from refdp.privacy.events import Relation

Row = tuple[tuple[float, ...], float]


@dataclass(frozen=True)
class Worst:
    """The largest exact loss (nats) over everything enumerated, and where it is attained."""

    loss: float
    pairs: int
    sequences: int
    first: tuple[Row, ...]
    second: tuple[Row, ...]
    outputs: tuple[Array, ...]


def outputs(train: Trainer, records: Records, relation: Relation) -> Iterator[list[Array]]:
    """Every sequence of outputs: all choices of exponential mechanisms, zeros for additive noise.

    Shapes and candidates are public, so the sequences are the same for every data set.
    """
    open_sequences: list[list[Array]] = [[]]
    while open_sequences:
        chosen = open_sequences.pop()
        request = next_request(train, records, chosen, relation)
        if request is None:
            yield chosen
        elif isinstance(request.mechanism, Exponential) and request.value is not None:
            rows, options = request.value.shape
            open_sequences += [[*chosen, np.array(choice)] for choice in product(range(options), repeat=rows)]
        elif request.value is not None:
            open_sequences.append([*chosen, np.zeros(request.value.shape)])


def worst_loss(train: Trainer, schema: Schema, rows: Sequence[Row], most: int, relation: Relation) -> Worst:
    """The worst loss over all neighbouring multisets of at most `most` of these rows, in both directions.

    The empty data set is left out. Runs are not to hold secret per-record randomness other than a single block.
    """
    sizes = range(1, most + 1)
    multisets = [data for size in sizes for data in combinations_with_replacement(range(len(rows)), size)]
    sequences = list(outputs(train, _records(schema, rows, multisets[0]), relation))
    worst = Worst(-np.inf, 0, len(sequences), (), (), ())
    pairs = list(_neighbours(multisets, relation, len(rows), most))
    for sequence in sequences:
        runs = {data: _transcript(train, _records(schema, rows, data), sequence, relation) for data in multisets}
        for first, second in pairs:
            loss = _loss(runs[first], runs[second])
            if loss > worst.loss:
                sides = [tuple(rows[i] for i in side) for side in (first, second)]
                worst = Worst(loss, len(pairs), len(sequences), sides[0], sides[1], tuple(sequence))
    return worst


def _records(schema: Schema, rows: Sequence[Row], data: tuple[int, ...]) -> Records:
    return make_records(schema, np.array([rows[i][0] for i in data]), np.array([rows[i][1] for i in data]))


def _transcript(train: Trainer, records: Records, sequence: list[Array], relation: Relation) -> Transcript:
    return run(train, records, Chosen(sequence), relation)[0]


def _neighbours(
    multisets: list[tuple[int, ...]], relation: Relation, kinds: int, most: int
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every unordered neighbouring pair once; `_loss` looks at both directions."""
    for data in multisets:
        if relation is Relation.ADD_REMOVE and len(data) < most:
            yield from ((data, tuple(sorted((*data, kind)))) for kind in range(kinds))
        elif relation is Relation.REPLACE_ONE:
            for place in range(len(data)):
                rest = data[:place] + data[place + 1 :]
                yield from ((data, tuple(sorted((*rest, kind)))) for kind in range(data[place] + 1, kinds))


def _loss(first: Transcript, second: Transcript) -> float:
    """Worst loss of this sequence of choices, over all additive noise and both directions."""
    between = changes(first, second)
    chosen = sum(change.loss() for change in between if isinstance(change.mechanism, Exponential))
    added = [change for change in between if not isinstance(change.mechanism, Exponential)]
    forward = chosen + sum(change.forward for change in added)
    return max(forward, -chosen + sum(change.backward for change in added))
