"""The only way into the records: a protocol of steps that tell something public, and of queries that return sums.

    population.tell(Root(features))                  # a step: public data, nothing comes back
    table = population.ask(Bins(("g", "count")))     # a query: sums over records, exact and private

A training program tells its population what has been decided (candidates, splits, released leaf values) and asks for
sums of what each record contributes. What one record contributes is a `Contribution`: a pure function of its score, its
label and public values. No mask, index, code or array with an entry per record comes out; scores stay with the records
and move by `Advance`.

Sums are int64 in units of the public grid 2^-24 (`kernels.GRID`), a count of n records being n / GRID units, so that
sums of several hosts add up without rounding. `values` gives them as float64, exact below 2^29.

Steps and queries are frozen dataclasses of public values, with a JSON form (`to_json`, `from_json`). A host's answer is
a function of its records, its secret coins (`select`) and the steps told so far; whatever else it keeps is a cache.
Hosts: memory.py (dense and sparse records), shards.py (several hosts behind one), nothing.py (no records at all).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from refdp.data.candidates import Candidates
from refdp.data.forms import schema_in, schema_out
from refdp.data.kernels import GRID
from refdp.data.records import Floats
from refdp.errors import InvalidParameter
from refdp.privacy.events import Relation

if TYPE_CHECKING:
    from refdp.privacy.curator import Assigned

Sums = NDArray[np.int64]
"""Sums of contributions in units of GRID."""
Members = NDArray[np.int64]
"""Secret block of each record slot; -1 is no block. It never leaves the host and the curator's source."""
COUNT = "count"
"""Every host knows this statistic: 1 for each record."""


# --- What a record contributes ----------------------------------------------------------------------------------------


class Statistics(NamedTuple):
    """What records contribute. values: by name, shape (rows,), multiples of GRID in public bounds; None: 1 for each.

    used: a mask of the records that take part at all, None for all of them.
    """

    values: Mapping[str, Floats | None]
    used: NDArray[np.bool_] | None = None


class Contribution(Protocol):
    """What a paper's records contribute to sums: pure functions of one record each, written for arrays of records.

    A paper's is a frozen dataclass `Contribution(params, schema)` of public values, so that a host elsewhere can be
    told of it.
    """

    def label(self, output: int, y: Floats) -> Floats:
        """The label that score number `output` is trained on; y: target column, shape (rows,)."""

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        """The statistics named `of` of every record. score, label: shape (rows,)."""


@runtime_checkable
class Metered(Contribution, Protocol):
    """A contribution whose records pay for what they contribute, each from a budget of its own.

    charged: the statistics that records pay for.
    """

    charged: tuple[str, ...]

    def accounts(self) -> Accounts:
        """Fresh accounts of no records."""

    def cost(self, statistics: Mapping[str, Floats | None]) -> Floats:
        """What every record pays for a round, from its own statistics alone, shape (rows,)."""


class Accounts(Protocol):
    """What every record has spent. Private."""

    def open(self, records: int) -> None:
        """Fresh accounts after those that are there."""

    def charge(self, cost: Floats) -> NDArray[np.bool_]:
        """Let every record with room pay its cost; the mask of those that do. cost, result: shape (rows,)."""


# --- Steps ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Begin:
    """Scores of these outputs are to be trained; all are 0, and the first of them is the present one."""

    contribution: Contribution
    outputs: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Turn:
    """The score of this output, one of those begun, is the present one from now on."""

    output: int


@dataclass(frozen=True)
class Start:
    """The present score becomes `initial` for every record."""

    initial: float


@dataclass(frozen=True)
class Encode:
    """Use these split candidates from now on. Trees placed before keep their leaves."""

    candidates: Candidates


@dataclass(frozen=True)
class Refresh:
    """The statistics named `of` are those at the present scores from now on, until the next `Refresh` or `Turn`."""

    of: tuple[str, ...]


@dataclass(frozen=True)
class RefreshAll:
    """The statistics named `of` of every score begun are those at the present scores from now on, until the next
    `Refresh`, `RefreshAll` or `Turn`: "g" of score 2 by the name "g.2" (`named`), so that one query is about all.
    """

    of: tuple[str, ...]


@dataclass(frozen=True)
class Pay:
    """Every record pays for the coming sums if it has room; those without room are in no sum until the next `Refresh`.

    Only for a `Metered` contribution.
    """


@dataclass(frozen=True)
class Root:
    """All selected records stand at the root of a new tree on these features."""

    features: tuple[int, ...]


@dataclass(frozen=True)
class Descend:
    """One level down: node k splits by row k of `splits` (feature, value[, 1 where missing values go right])."""

    splits: Floats


@dataclass(frozen=True)
class Place:
    """Every record, selected or not, goes to its leaf of a full tree and the tree joins the batch.

    splits: shape (2^depth - 1, 2 or 3), level by level, as in `trees.Tree`.
    """

    splits: Floats


@dataclass(frozen=True)
class Advance:
    """Add weight times the leaf values, shape (tree, leaf), of the batch to the present score; end the batch."""

    values: Floats
    weight: float


Step = Begin | Turn | Start | Encode | Refresh | RefreshAll | Pay | Root | Descend | Place | Advance


# --- Queries ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bins:
    """Sums in every bin of the tree's features, of every node of the present level: shape (statistic, node, bin).

    The bins of the tree's features lie side by side, in the order of `Candidates.offsets` restricted to them.
    """

    of: tuple[str, ...]


@dataclass(frozen=True)
class Sides:
    """Sums to the left and right if each node were split so: shape (statistic, node, 2). splits: as in `Descend`.

    Several ways to split the level at once, splits of shape (way, node, 2): shape (way, statistic, node, 2).
    """

    of: tuple[str, ...]
    splits: Floats


@dataclass(frozen=True)
class Nodes:
    """Sums in every node of the present level: shape (statistic, node)."""

    of: tuple[str, ...]


@dataclass(frozen=True)
class Leaves:
    """Sums over the selected records in the leaves of every tree of the batch: shape (tree, statistic, leaf)."""

    of: tuple[str, ...]


@dataclass(frozen=True)
class Histogram:
    """Sums in every bin of these features, of all selected records: shape (statistic, bin), features side by side."""

    of: tuple[str, ...]
    features: tuple[int, ...]


@dataclass(frozen=True)
class Labels:
    """Number of records, and the sum of their present labels clamped to [low, high] and rounded to the grid: (2,)."""

    low: float
    high: float


@dataclass(frozen=True)
class Reports:
    """What every record reports by itself of tree number `tree` of the batch: shape (record, statistic, leaf).

    Its own statistics in the entry of its leaf, 0 elsewhere: no sum. For noise that each record adds to its own report,
    where how many records there are is public. Records in memory answer; hosts that know sums only refuse it.
    """

    of: tuple[str, ...]
    tree: int


Query = Bins | Sides | Nodes | Leaves | Histogram | Labels | Reports


# --- Hosts ------------------------------------------------------------------------------------------------------------


class Population(Protocol):
    """Whoever answers for the records."""

    @property
    def size(self) -> int:
        """Number of record slots. Private under add-remove: for the curator's secret assignments only."""

    def tell(self, step: Step) -> None:
        """Take in one step. Errors: none that depend on a record."""

    def ask(self, query: Query) -> Sums:
        """The sums of a query, exact and private: they go to the curator or into what the curator releases.

        Shape: see the query.
        """

    def select(self, scope: int, draw: Callable[[int], Assigned]) -> None:
        """Attach secret coins to the records, under the number of a scope. draw: blocks of so many slots, or coins."""

    def enter(self, scope: int, block: int) -> None:
        """From now on only the records in this block of that scope are selected; scopes nest."""

    def leave(self) -> None:
        """The innermost `enter` ends."""


def named(name: str, output: int) -> str:
    """The name of this statistic of this score after `RefreshAll`."""
    return f"{name}.{output:d}"


def named_all(of: tuple[str, ...], outputs: tuple[int, ...]) -> tuple[str, ...]:
    """The names of these statistics of all these scores after `RefreshAll`, score by score."""
    return tuple(named(name, output) for output in outputs for name in of)


def values(sums: Sums) -> Floats:
    """Sums in float64, in the statistics' own unit. Exact where |sum| < 2^29. Any shape."""
    return np.asarray(sums * GRID)


def units(exact: Floats) -> Sums:
    """Float64 multiples of GRID as int64 in units of it: the inverse of `values`. Any shape."""
    return np.rint(exact / GRID).astype(np.int64)


# --- JSON forms -------------------------------------------------------------------------------------------------------

_KINDS: dict[str, type] = {
    kind.__name__.lower(): kind
    for kind in (Begin, Turn, Start, Encode, Refresh, RefreshAll, Pay, Root, Descend, Place, Advance,
                 Bins, Sides, Nodes, Leaves, Histogram, Labels, Reports)
}  # fmt: skip


def to_json(message: Step | Query) -> dict[str, Any]:
    """A step or query as plain data: whole numbers and floats that read back as they were."""
    body = {field.name: _out(getattr(message, field.name)) for field in fields(message)}
    return {"kind": type(message).__name__.lower(), **body}


def from_json(body: Mapping[str, Any]) -> Step | Query:
    """Read what `to_json` wrote. Errors: InvalidParameter for another kind or other fields."""
    kind = _KINDS.get(str(body.get("kind")))
    names = {field.name for field in fields(kind)} if kind else set()
    if kind is None or set(body) != names | {"kind"}:
        raise InvalidParameter(f"{sorted(body)} of kind {body.get('kind')!r}: not a step or query of this program")
    made: Step | Query = kind(**{name: _in(name, body[name]) for name in names})
    return made


def _out(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Candidates):
        return {"thresholds": [t.tolist() for t in value.thresholds], "categorical": value.categorical.tolist()}
    if hasattr(value, "statistics"):
        return {"contribution": _path(value), "params": _path(value.params), "settings": asdict(value.params),
                "schema": schema_out(schema_in(schema_out(value.schema)))}  # fmt: skip
    return list(value) if isinstance(value, tuple) else value


def _in(name: str, value: Any) -> Any:
    if name in ("splits", "values"):
        return np.array(value, dtype=np.float64)
    if name == "candidates":
        thresholds = tuple(np.array(t, dtype=np.float64) for t in value["thresholds"])
        return Candidates(thresholds, np.array(value["categorical"], dtype=np.bool_))
    if name == "contribution":
        params = _found(value["params"])
        settings = {**value["settings"], "relation": Relation(value["settings"]["relation"])}
        return _found(value["contribution"])(params(**settings), schema_in(value["schema"]))
    return tuple(value) if isinstance(value, list) else value


def _path(value: Any) -> str:
    return f"{type(value).__module__}:{type(value).__qualname__}"


def _found(path: str) -> Any:
    """A class of one of refdp's papers: nothing else is imported for a text from elsewhere."""
    module, _, name = path.partition(":")
    if not module.startswith(("refdp.papers.", "refdp.own.")) or name not in ("Params", "Contribution"):
        raise InvalidParameter(f"{path}: only Params and Contribution of refdp's papers are read from JSON")
    return getattr(importlib.import_module(module), name)
