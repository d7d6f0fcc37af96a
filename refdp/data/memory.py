"""Records in this process, dense or sparse, as a `Population`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.data import kernels
from refdp.data.candidates import Candidates
from refdp.data.codes import Codes, Index, Mask, coded, leaf_of
from refdp.data.following import Following, check_covers
from refdp.data.known import Known, add_leaves, charged, statistics, toward_zero, used
from refdp.data.losses import on_grid
from refdp.data.population import (
    COUNT,
    Accounts,
    Advance,
    Begin,
    Bins,
    Contribution,
    Descend,
    Encode,
    Histogram,
    Labels,
    Leaves,
    Members,
    Metered,
    Nodes,
    Pay,
    Place,
    Query,
    Refresh,
    RefreshAll,
    Reports,
    Root,
    Sides,
    Start,
    Statistics,
    Step,
    Sums,
    Turn,
    named,
    units,
)
from refdp.data.records import Categorical, Ensemble, Floats, Records, Schema
from refdp.data.sparse import AnyRecords, SparseRecords
from refdp.errors import InvalidParameter
from refdp.privacy.curator import EVERYWHERE, Assigned

_WIDE = 14
"""Below this level node numbers fit 16 bits."""


class Memory:
    """One place's records with their scores, accounts and secret coins. Private: never part of a model.

    Errors of `tell` and `ask` come from the order of steps, never from a record.
    """

    def __init__(self, records: AnyRecords) -> None:
        self._records = records
        self._contribution: Contribution
        self._output = 0
        self._named: tuple[str, ...] = ()
        self._node: NDArray[Any]
        self._label: dict[int, Floats] = {}
        self._score: dict[int, Floats] = {}
        self._accounts: dict[int, Accounts] = {}
        self._codes: Codes | None = None
        self._members: dict[int, Assigned] = {}
        self._tossed: tuple[int, Members] | None = None
        self._within: list[tuple[int, int]] = []
        self._batch: list[NDArray[Any]] = []
        self._tree = 0
        self._following = Following()
        self._forget()

    @property
    def size(self) -> int:
        """Number of records. Private under add-remove."""
        return self._records.size

    def accounts(self) -> list[Any]:
        """What every record has spent, for each output in turn. PRIVATE: for the data owner only."""
        return list(self._accounts.values())

    def exposed(self) -> Records:
        """The records themselves: for printed readings that take candidates from them, and nothing else."""
        return self._dense()

    def selected(self) -> Records:
        """The records that are selected now. PRIVATE: for what their owner measures on them."""
        mask = self._selected()
        return self._dense() if mask is None else self._dense().take(np.flatnonzero(mask))

    # --- Streams ---

    def _unweighted(self, batch: Records) -> Records:
        records = self._dense()
        if records.weight is not None or batch.weight is not None:
            raise InvalidParameter(
                "weights of records in a stream: only records that are there from the start have them"
            )
        return records

    def admit(self, batch: Records, released: Sequence[Ensemble]) -> None:
        """New records after those that are there, each with fresh accounts and the scores of what was released so far.

        released: one ensemble for each output that was begun. Errors: InvalidParameter for sparse records.
        """
        records = self._unweighted(batch)
        categorical = _categorical(records.schema)
        x = np.asfortranarray(np.concatenate([records.x, batch.x]))
        self._records = Records(records.schema, x, np.concatenate([records.y, batch.y]))
        for (output, label), ensemble in zip(self._label.items(), released, strict=True):
            self._label[output] = np.concatenate([label, self._contribution.label(output, batch.y)])
            self._score[output] = np.concatenate([self._score[output], ensemble.score(batch.x, categorical)])
            if self._accounts:
                self._accounts[output].open(batch.size)
        self._codes = None
        self._forget()

    def replace(self, rows: Index, batch: Records, released: Sequence[Ensemble]) -> None:
        """New content for the records at these positions: same accounts, scores of what was released so far."""
        records = self._unweighted(batch)
        x, y = np.array(records.x, order="F"), records.y.copy()
        x[rows], y[rows] = batch.x, batch.y
        self._records = Records(records.schema, x, y)
        for output, ensemble in zip(self._label, released, strict=True):
            self._label[output][rows] = self._contribution.label(output, batch.y)
            self._score[output][rows] = ensemble.score(batch.x, _categorical(records.schema))
        self._codes = None
        self._forget()

    def _dense(self) -> Records:
        if isinstance(self._records, SparseRecords):
            raise InvalidParameter("sparse records: only dense ones can be read or replaced row by row")
        return self._records

    # --- Secret coins ---

    def select(self, scope: int, draw: Callable[[int], Assigned]) -> None:
        """Attach secret coins to the records. Keyed coins are tossed when they are needed."""
        self._members[scope], self._tossed = draw(self.size), None

    def enter(self, scope: int, block: int) -> None:
        """Select the records in one block of a scope, among those selected before."""
        self._within.append((scope, block))

    def leave(self) -> None:
        """The innermost `enter` ends."""
        self._within.pop()

    def _selected(self) -> Mask | None:
        """Mask of the records that every open scope selects; None for all."""
        mask: Mask | None = None
        for scope, block in self._within:
            member = self._toss(scope)
            own = (member == block) | (member == EVERYWHERE)
            mask = own if mask is None else mask & own
        return None if mask is None or mask.all() else mask

    def _toss(self, scope: int) -> Members:
        if self._tossed is None or self._tossed[0] != scope:
            self._tossed = scope, np.asarray(self._members[scope])
        return self._tossed[1]

    # --- Steps ---

    def tell(self, step: Step) -> None:
        """Take in one step: scores, codes, places and statistics of the records follow it."""
        self._following.tell(step)
        match step:
            case Begin(contribution, outputs):
                self._begin(contribution, outputs)
            case Turn(output):
                self._output, self._named = output, ()
                self._forget()
            case Start(initial):
                self._score[self._output] += initial
            case Encode(candidates):
                check_covers(candidates, self._records.schema)
                self._codes = coded(self._records, candidates, self._codes)
            case Refresh(of) | RefreshAll(of):
                self._named = of
                self._forget()
            case Pay():
                self._charge()
            case Root(features):
                self._root(features)
            case Descend(splits):
                self._node = self._mine.route(self._wide(len(splits)), splits)
                self._level += 1
            case Place(splits):
                self._batch.append(self._leaf(splits).astype(np.min_scalar_type(len(splits)), copy=False))
                self._leaves = len(splits) + 1
            case Advance(values, weight):
                for leaf, value in zip(self._batch, values, strict=True):
                    add_leaves(self._score[self._output], weight * value, leaf)
                self._batch = []

    def _begin(self, contribution: Contribution, outputs: tuple[int, ...]) -> None:
        if getattr(self._records, "weight", None) is not None and not getattr(contribution, "weighs", False):
            raise InvalidParameter("weights of records: only trainers whose releases are sums take them, not this one")
        self._contribution, self._output, self._named = contribution, outputs[0], ()
        self._label = {output: contribution.label(output, self._records.y) for output in outputs}
        self._score = {output: np.zeros(self.size) for output in outputs}
        self._accounts, self._batch = {}, []
        if isinstance(contribution, Metered):
            self._accounts = {output: contribution.accounts() for output in outputs}
            for accounts in self._accounts.values():
                accounts.open(self.size)
        self._forget()

    def _forget(self) -> None:
        """What is at hand is of earlier scores."""
        self._everyone: Mapping[str, Floats | None] | None = None
        self._paid: Mask | None = None
        self._known: Known | None = None
        self._rooted: tuple[tuple[int, int], ...] | None = None
        self._table: tuple[tuple[int, int, tuple[str, ...]], Floats] | None = None

    def _charge(self) -> None:
        contribution = self._contribution
        assert isinstance(contribution, Metered), "Pay is for contributions with accounts"
        output = self._output
        found = statistics(contribution, self._score[output], self._label[output], self._named).values
        self._everyone = self._weighed(found, None)
        self._paid = self._accounts[output].charge(contribution.cost(self._everyone))
        self._known = self._rooted = None

    def _root(self, features: tuple[int, ...]) -> None:
        assert self._codes is not None, "Encode comes before Root"
        rows, self._rooted = self._current().rows, tuple(self._within)
        self._features, self._level, self._tree = features, 0, self._tree + 1
        self._mine = self._codes if rows is None else self._codes.take(rows)
        self._node = np.zeros(self._mine.size, dtype=np.int16)

    def _wide(self, nodes: int) -> NDArray[Any]:
        """Node numbers in a type that holds those of the next level."""
        return self._node.astype(np.int32) if nodes == 1 << _WIDE else self._node

    def _leaf(self, splits: Floats) -> NDArray[Any]:
        """The leaf of every record: by codes where the splits are among the candidates, else by values."""
        records = self._records
        if self._codes is not None and among(self._codes.candidates, records.schema, splits):
            return self._codes.leaf_index(splits)
        if isinstance(records, SparseRecords):
            raise InvalidParameter("splits of sparse records have to be among the encoded candidates")
        return leaf_of(records.x, splits, _categorical(records.schema).tolist())

    # --- Queries ---

    def ask(self, query: Query) -> Sums:
        """The sums over the selected records, exact, in units of GRID; shape: that of the query."""
        self._following.ask(query)
        match query:
            case Bins(of):
                return units(self._bins(of))
            case Sides(of, splits):
                if splits.ndim > 2:
                    return units(np.stack([self._sides(of, way) for way in splits]))
                return units(self._sides(of, splits))
            case Nodes(of):
                return units(kernels.leaf_sums(self._node, 2**self._level, self._placed().columns(of)))
            case Leaves(of):
                known = self._current()
                own = (leaf if known.rows is None else leaf[known.rows] for leaf in self._batch)
                return units(np.stack([kernels.leaf_sums(leaf, self._leaves, known.columns(of)) for leaf in own]))
            case Histogram(of, features):
                return units(self._histogram(of, features))
            case Labels(low, high):
                label = on_grid(np.clip(self._label[self._output], low, high))
                found = self._weighed({"label": label, COUNT: np.ones(len(label))}, None)
                return units(np.array([np.sum(found[name]) for name in (COUNT, "label")]))  # type: ignore[arg-type]
            case Reports(of, tree):
                return units(self._reports(of, tree))

    def _bins(self, of: tuple[str, ...]) -> Floats:
        """Bin sums of the present level, from those one level up where they were asked of the same tree."""
        here, above, known = (self._tree, self._level, of), (self._tree, self._level - 1, of), self._placed()
        if self._table is None or self._table[0] != here:
            parents = self._table[1] if self._table is not None and self._table[0] == above else None
            stats = known.columns(of)
            self._table = here, self._mine.bin_sums(self._features, self._node, 2**self._level, stats, parents)
        return self._table[1]

    def _sides(self, of: tuple[str, ...], splits: Floats) -> Floats:
        known = self._placed()
        child = self._mine.route(self._wide(len(splits)), splits)
        sums = kernels.leaf_sums(child, 2 * len(splits), known.columns(of))
        return sums.reshape(len(of), len(splits), 2)

    def _reports(self, of: tuple[str, ...], tree: int) -> Floats:
        """Every selected record's own statistics in its leaf's entry."""
        known = self._current()
        leaf = self._batch[tree] if known.rows is None else self._batch[tree][known.rows]
        found = np.zeros((len(leaf), len(of), self._leaves))
        for place, column in enumerate(known.columns(of)):
            found[np.arange(len(leaf)), place, leaf] = 1.0 if column is None else column
        return found

    def _histogram(self, of: tuple[str, ...], features: tuple[int, ...]) -> Floats:
        assert self._codes is not None, "Encode comes before Histogram"
        known, bins = self._current(), self._codes.candidates.bins
        codes = self._codes if known.rows is None else self._codes.take(known.rows)
        parts = [kernels.leaf_sums(codes.column(f), int(bins[f]), known.columns(of)) for f in features]
        return np.concatenate(parts, axis=-1)

    def _placed(self) -> Known:
        """`_current`, where the nodes are about these records: a tree of one block answers in no other."""
        if self._rooted != tuple(self._within):
            raise InvalidParameter(
                "sums over the nodes of a tree: Root comes first, inside the block that is open, and after Refresh, "
                "Pay and Turn, since nodes hold the records that were selected then"
            )
        return self._current()

    def _current(self) -> Known:
        """The records that are in sums now, selected, with room in their budget and used, with their statistics."""
        scope = tuple(self._within)
        if self._known is None or self._known.scope != scope:
            mask = self._selected()
            if self._everyone is not None:
                self._known = charged(scope, self._everyone, self._paid, mask)
            else:
                rows = None if mask is None else np.flatnonzero(mask)
                found = self._of_all(rows) if self._following.all else self._of(self._output, rows)
                self._known = used(scope, rows, found._replace(values=self._weighed(found.values, rows)))
        return self._known

    def _of(self, output: int, rows: Index | None) -> Statistics:
        score, label = self._score[output], self._label[output]
        if rows is not None:
            score, label = score[rows], label[rows]
        return statistics(self._contribution, score, label, self._named)

    def _of_all(self, rows: Index | None) -> Statistics:
        """The statistics of every score, by the names that `named` gives them."""
        found: dict[str, Floats | None] = {}
        for output in self._score:
            values, mask = self._of(output, rows)
            if mask is not None:
                raise InvalidParameter("RefreshAll of a contribution that leaves records out: for one score at a time")
            found |= {named(name, output): one for name, one in values.items()}
        return Statistics(found)

    def _weighed(self, values: Mapping[str, Floats | None], rows: Index | None) -> Mapping[str, Floats | None]:
        """The statistics of these rows times the records' weights, towards 0 on the grid: no entry grows."""
        weight = getattr(self._records, "weight", None)
        if weight is None:
            return values
        own = weight if rows is None else weight[rows]
        return {name: toward_zero(own if one is None else own * one) for name, one in {COUNT: None, **values}.items()}


def _categorical(schema: Schema) -> Mask:
    return np.array([isinstance(feature, Categorical) for feature in schema.features])


def among(candidates: Candidates, schema: Schema, splits: Floats) -> bool:
    """Whether codes answer every split as values do: it is a candidate, or lies above all that its feature can be.

    splits: shape (count, 2 or 3).
    """
    for f in np.unique(splits[:, 0]).astype(np.intp):
        value, known, feature = splits[splits[:, 0] == f, 1], candidates.thresholds[f], schema.features[f]
        highest = len(known) - 1 if isinstance(feature, Categorical) else feature.high
        place = np.searchsorted(known, value)
        inside = place < len(known)
        if not ((known[place[inside]] == value[inside]).all() and (value[~inside] > highest).all()):
            return False
    return True
