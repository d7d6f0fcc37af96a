"""Whether a step or a query follows those before it: from public values alone, so that no error is about a record.

A host that found out while it looks up a record's leaf or bin would fail for some records and not for others, and that
it failed tells which. Numbers that are no numbers would do so later: a score of NaN makes a sum without any bound.
Arrays are of float64, as hosts elsewhere read them: of others differences can wrap around, and products be infinite.
"""

from __future__ import annotations

import numbers
import sys
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refdp.data.candidates import Candidates
from refdp.data.population import (
    Advance,
    Begin,
    Bins,
    Descend,
    Encode,
    Labels,
    Leaves,
    Nodes,
    Pay,
    Place,
    Query,
    Refresh,
    RefreshAll,
    Root,
    Sides,
    Start,
    Step,
    Turn,
)
from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema
from refdp.errors import InvalidParameter

FARTHEST = 2.0**800
"""So far from 0 a score may be: sums of what statistics make of it, in units of the grid too, are finite."""


NUMBER = numbers.Number | np.bool_
OF_SCHEMA = (Schema, Numeric, Categorical, Interval, Classes)


class Following:
    """What steps have decided so far: how many nodes and leaves there are, and how far scores can have gone.

    Besides: whether the candidates changed since the tree's `Root`, and whether the present score moved since its
    statistics were named.
    """

    def __init__(self) -> None:
        self._output = 0
        self._recoded = self._moved = self.all = False
        self.nodes = 1
        """Nodes of the level."""
        self.leaves: list[int] = []
        """Leaves of each tree of the batch that is placed."""
        self._reach: dict[int, float] = {}

    @property
    def still(self) -> tuple[bool, bool]:
        """Whether the candidates are those of the latest `Root`, and the scores those of the latest `Refresh`."""
        return not self._recoded, not self._moved

    def tell(self, step: Step) -> None:
        """Take in one step. Errors: InvalidParameter for one that does not fit those before."""
        match step:
            case Begin(contribution, outputs):
                _check_numbers(contribution)
                self._output, self.leaves, self._moved, self.all = outputs[0], [], False, False
                self._reach = dict.fromkeys(outputs, 0.0)
            case Turn(output):
                self._output, self._moved, self.all = output, False, False
            case Refresh() | RefreshAll():
                self._moved, self.all = False, isinstance(step, RefreshAll)
            case Start(initial):
                _check_number("Start", initial)
                self._move(initial)
            case Encode(candidates):
                for own in candidates.thresholds:
                    _check_array("thresholds in Encode", own, (1,))
                _check_array("kinds of features in Encode", candidates.categorical, (1,), np.bool_)
                self._recoded = True
            case Pay():
                self._check_still("Pay")
                if self.all:
                    raise InvalidParameter("Pay after RefreshAll: records pay for the sums of one score")
            case Root():
                self._check_still("Root")
                self.nodes, self._recoded = 1, False
            case Descend(splits):
                self._check_coded("Descend")
                _check_splits("Descend", splits, (2,))
                _check_rows("Descend", len(splits), self.nodes)
                self.nodes *= 2
            case Place(splits):
                _check_splits("Place", splits, (2,))
                self._place(len(splits) + 1)
            case Advance(values, weight):
                shape = len(self.leaves), self.leaves[0] if self.leaves else 0
                _check_array("Advance", values, (2,))
                if np.shape(values) != shape:
                    raise InvalidParameter(
                        f"Advance by values of shape {np.shape(values)}: the trees of the batch have {shape}"
                    )
                _check_number("Advance", weight)
                self._move(values, weight)
                self.leaves = []

    def ask(self, query: Query) -> None:
        """Errors: InvalidParameter for a query about other nodes, trees or scores than there are."""
        if not isinstance(query, Labels):
            self._check_still(type(query).__name__)
        if isinstance(query, Bins | Sides | Nodes):
            self._check_coded(type(query).__name__)
        match query:
            case Sides(_, splits):
                _check_splits("Sides", splits, (2, 3))
                _check_rows("Sides", splits.shape[-2], self.nodes)
            case Labels(low, high):
                _check_number("Labels", low)
                _check_number("Labels", high)
            case Leaves():
                if not self.leaves:
                    raise InvalidParameter("Leaves of no tree: Place comes first")

    def _place(self, leaves: int) -> None:
        if leaves & (leaves - 1) or any(leaves != other for other in self.leaves):
            raise InvalidParameter(
                f"Place with {leaves - 1} splits: 2^depth - 1 are allowed, as many for every tree of a batch"
            )
        self.leaves.append(leaves)

    def _move(self, step: ArrayLike, weight: float = 1.0) -> None:
        """No score is further from 0 than the sum of the largest steps. step: a number, or shape (tree, leaf)."""
        with np.errstate(all="ignore"):
            largest = np.max(np.abs(np.multiply(step, weight, dtype=np.float64)), axis=-1 if np.ndim(step) else None)
            reach = self._reach.get(self._output, 0.0) + float(np.sum(largest))
        if not reach <= FARTHEST:
            raise InvalidParameter(
                f"a step of the scores too far: steps may add up to {FARTHEST:g}, their numbers finite"
            )
        self._reach[self._output], self._moved = reach, True

    def _check_coded(self, what: str) -> None:
        if self._recoded:
            raise InvalidParameter(f"{what} after Encode: Root comes first, since nodes are those of its candidates")

    def _check_still(self, what: str) -> None:
        if self._moved:
            raise InvalidParameter(f"{what} after Start or Advance: Refresh comes first, at the scores as they are now")


def _check_numbers(value: Any, within: type = object) -> None:
    """A contribution has no number that is none, by which a record's statistic would be no number either.

    It has no several numbers in one place either: beside the values of as many records they would be one for each, and
    beside those of more an error. within: the class that the value is a field of; a schema has such, and nobody
    computes with them.
    """
    if isinstance(value, NUMBER):
        if not _is_usual(value):
            raise InvalidParameter(f"Begin with a contribution that has {value}: finite numbers are allowed")
    elif isinstance(value, tuple):
        if not issubclass(within, OF_SCHEMA) and (not value or any(isinstance(one, NUMBER) for one in value)):
            raise InvalidParameter("Begin with a contribution that has several numbers in one: single ones are allowed")
        for one in value:
            _check_numbers(one, within)
    elif isinstance(value, np.ndarray | list | dict | set | frozenset | range):
        raise InvalidParameter(f"Begin with a contribution that has a {type(value).__name__}: numbers are allowed")
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            _check_numbers(getattr(value, each.name), type(value))


def _is_usual(value: Any) -> bool:
    """Whether it is a finite number that float64 is computed with: narrower ones take what they meet for 0."""
    usual = isinstance(value, int | float | np.bool_ | np.integer)
    return usual and bool(abs(value) <= sys.float_info.max)


def _check_number(what: str, value: Any) -> None:
    if np.ndim(value) or not _is_usual(value):
        found = f"a {type(value).__name__} of shape {np.shape(value)}"
        raise InvalidParameter(f"{what} with {found}: one number is needed, finite, whole or of float64")


def _check_array(what: str, value: Any, axes: tuple[int, ...], kind: type = np.float64) -> None:
    """What a step or a query has is what hosts elsewhere read of it: a plain array of this kind, of so many axes."""
    if type(value) is not np.ndarray or value.dtype != kind or value.ndim not in axes:
        found = f"a {type(value).__name__} of {np.asarray(value).dtype}, shape {np.shape(value)}"
        many = " or ".join(map(str, axes))
        raise InvalidParameter(f"{what}: {found}; a plain array of {kind.__name__} in {many} dimensions is needed")


def _check_splits(what: str, splits: Any, axes: tuple[int, ...]) -> None:
    _check_array(what, splits, axes)
    if splits.shape[-1] not in (2, 3):
        raise InvalidParameter(f"{what} with splits of {splits.shape[-1]} columns: feature, value and missing's side")


def _check_rows(what: str, rows: int, nodes: int) -> None:
    if rows != nodes:
        raise InvalidParameter(f"{what} with {rows} splits: the level has {nodes} nodes, which need one each")


MOST_THRESHOLDS = 65_534
"""Of a feature: codes of bins have 16 bits."""


def check_covers(candidates: Candidates, schema: Schema) -> None:
    """Candidates give every value of every feature one bin, whatever other records hold.

    Thresholds rise, since a search among others answers by what was looked for before; a categorical feature has all of
    its categories. Codes have 16 bits. Errors: InvalidParameter otherwise.
    """
    if len(candidates.thresholds) != len(schema.features) or len(candidates.categorical) != len(schema.features):
        raise InvalidParameter(
            f"candidates of {len(candidates.thresholds)} features: the schema has {len(schema.features)}"
        )
    for feature, own, categorical in zip(schema.features, candidates.thresholds, candidates.categorical, strict=True):
        if bool(categorical) != isinstance(feature, Categorical):
            raise InvalidParameter(f"candidates of {feature.name!r}: of another kind than the feature")
        if isinstance(feature, Categorical):
            if not np.array_equal(own, np.arange(len(feature.categories))):
                raise InvalidParameter(f"candidates of {feature.name!r}: all categories are needed, in order")
        elif not (own[1:] > own[:-1]).all() or np.isnan(own).any():
            raise InvalidParameter(f"candidates of {feature.name!r}: thresholds that rise are needed")
        if len(own) > MOST_THRESHOLDS:
            raise InvalidParameter(f"candidates of {feature.name!r}: at most {MOST_THRESHOLDS} are allowed")
