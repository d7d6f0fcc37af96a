"""Pairs of data sets that are known to break a claim: the ledger's own witnesses, and witnesses read from a file.

A witness is what an audit's JSON has of a violation: the records of a pair with their public schema. The ledger's
witnesses here are those of refuted statements that are data sets; most others are numbers in a formula, for which any
data set with these numbers will do, and a search over crowds finds them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from refdp.audit.replay import Finding, Pair, Trainer, audit_pair
from refdp.audit.verdicts import Row, Verdict
from refdp.audit.worst import worst_case
from refdp.data.records import Floats, Interval, Numeric, Records, Schema, make_records
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.io.domains import read_json, schema_from
from refdp.ledger.certificate import Guarantee
from refdp.privacy.curator import Source
from refdp.privacy.events import Relation

SIZES = ("trees", "trees_per_ensemble", "depth", "owners", "bins", "rounds")
"""Settings of the run of a witness that its replay takes over; what makes a text private stays as it is asked for."""
ALIKE = 30
"""Features of Theorem 7's witness that split the records by their label."""
CROWD = 40
"""Records of either label in Theorem 7's witness."""


@dataclass(frozen=True)
class Known:
    """A pair and where it is from: the id of a claim, or a file. settings: of the run that shows the violation."""

    source: str
    pair: Pair
    settings: Mapping[str, Any] = field(default_factory=dict)

    def applied(self, params: Any) -> Any:
        """The parameters with this witness's settings, as far as they have them."""
        names = {one.name for one in fields(params)}
        return replace(params, **{name: value for name, value in self.settings.items() if name in names})


def replays(
    train: Trainer, known: Known, arranged: Callable[[Pair], Pair], claimed: Guarantee, sources: Sequence[Source]
) -> Iterator[Finding]:
    """The worst transcripts of a pair in both directions, and runs with fresh noise on both sides.

    sources: of the two runs. Errors: InvalidParameter, InvalidRecords of a trainer that cannot be run on this pair.
    """
    pair, epsilon = arranged(known.pair), claimed.epsilon if claimed.delta == 0 else math.inf
    found = [worst_case(train, pair, epsilon, reverse=reverse) for reverse in (False, True)]
    found += [audit_pair(train, pair, source, epsilon, on_first=not side) for side, source in enumerate(sources)]
    for finding in found:
        told = tuple(replace(v, witness=v.witness | {"source": known.source}) for v in finding.violations)
        yield replace(without_delta(finding, claimed), violations=told)


def without_delta(finding: Finding, claimed: Guarantee) -> Finding:
    """With a delta: without the finite loss of outputs that a delta leaves out of account."""
    left_out = claimed.delta > 0 and finding.loss is not None and np.isfinite(finding.loss)
    return replace(finding, loss=0.0) if left_out else finding


def known_rows(known: Mapping[str, bool]) -> Iterator[Row]:
    """What pairs known beforehand showed: source, and whether a violation."""
    if not known:
        return
    shown = [source for source, found in known.items() if found]
    reason = f"{len(known)} replayed before all others: {', '.join(known)}"
    reason += f"; a violation is shown by {', '.join(shown)}" if shown else ""
    yield Row("known witnesses", Verdict.VIOLATION if shown else Verdict.NOT_FOUND, reason,
              "any excess on these pairs")  # fmt: skip


def pair_of(witness: Mapping[str, Any]) -> Pair:
    """The pair of a witness as plain data. Errors: InvalidRecords for what is no pair of data sets."""
    missing = [name for name in ("schema", "base_x", "base_y", "new_x", "new_y") if name not in witness]
    if missing:
        raise InvalidRecords(f"witness: {', '.join(missing)} missing, a witness of `refdp audit --json` has them")
    schema = schema_from(witness["schema"])
    records = partial(_records, schema)
    old = records([witness["old_x"]], [witness["old_y"]]) if {"old_x", "old_y"} <= set(witness) else None
    base, place = records(witness["base_x"], witness["base_y"]), witness.get("position", 0)
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place <= base.size:
        raise InvalidRecords(f"witness: position {place!r} given, a row from 0 to {base.size} is needed")
    return Pair(base, records([witness["new_x"]], [witness["new_y"]]), old, place)


def _records(schema: Schema, x: Any, y: Any) -> Records:
    try:
        rows = np.array(x, dtype=np.float64).reshape(-1, len(schema.features))
        labels = np.array(y, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise InvalidRecords(f"witness: records of {len(schema.features)} numbers and a label are needed") from None
    if len(rows) != len(labels):
        raise InvalidRecords(f"witness: {len(rows)} records and {len(labels)} labels given")
    if not len(rows):
        return Records(schema, rows, labels)  # beside a record that is replaced there need be no other
    return make_records(schema, rows, labels)


def read(file: Path, relation: Relation) -> list[Known]:
    """The witnesses of a file: one, a violation that has one, a list of these, or the JSON of an audit.

    Errors: InvalidParameter for a file without any, or with one of the other relation.
    """
    try:
        found = [Known(str(file), pair_of(one), _sizes(one)) for one in _witnesses(read_json(file))]
    except InvalidRecords as error:
        raise InvalidParameter(f"--witness {file}: {error}") from error
    if not found:
        raise InvalidParameter(f"--witness {file}: no witness in it; {{base_x, base_y, new_x, new_y, schema}} is one")
    other = next((one.pair.relation for one in found if one.pair.relation is not relation), None)
    if other is not None:
        raise InvalidParameter(f"--witness {file}: a pair of {other.value} neighbours, --relation is {relation.value}")
    return found


def _witnesses(document: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(document, list):
        for one in document:
            yield from _witnesses(one)
    elif not isinstance(document, Mapping):
        raise InvalidRecords(f"an object or a list of them is needed, not {type(document).__name__}")
    elif "violations" in document:
        yield from _witnesses([one for one in document["violations"] if "base_y" in one.get("witness", {})])
    elif isinstance(document.get("witness"), Mapping):
        yield document["witness"]
    else:
        yield document


def _sizes(witness: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that say how large the run is."""
    given = witness.get("params", {})
    sizes = {name: given[name] for name in SIZES if name in given}
    wrong = [f"{name} {value!r}" for name, value in sizes.items() if type(value) is not int or value < 1]
    if wrong:
        raise InvalidRecords(f"witness: {', '.join(wrong)} given, whole numbers from 1 are allowed")
    return sizes


def of_ledger(paper: str, relation: Relation) -> Sequence[Known]:
    """The ledger's witnesses for a paper's training that are data sets of this relation."""
    return [make() for name, one, make in WITNESSES if name == paper and one is relation]


TINY = {"trees": 1, "trees_per_ensemble": 1, "depth": 1, "owners": 1, "bins": 1}


def _known(claim: str, rows: Records, new: Records, old: Records | None = None, **settings: Any) -> Known:
    return Known(claim, Pair(rows, new, old, 0), TINY | settings)


def _theorem_7(claim: str, relation: Relation) -> Known:
    """Gradients of +1 at a = 0, b = 1, of -1 at a = 1, b = 0; one more of +1 is with its like by a, not by b."""
    features = (*(Numeric(f"a{i}", 0, 1) for i in range(ALIKE)), Numeric("b", 0, 1))
    schema = Schema(features, Interval(-1, 1))

    def rows(gradient: int, a: int, b: int, count: int = 1) -> tuple[Floats, Floats]:
        return np.tile([[a] * ALIKE + [b]], (count, 1)).astype(np.float64), np.full(count, -float(gradient))

    (x, y), (u, v) = rows(1, 0, 1, CROWD), rows(-1, 1, 0, CROWD)
    base = make_records(schema, np.concatenate([x, u]), np.concatenate([y, v]))
    old = make_records(schema, *rows(1, 1, 1)) if relation is Relation.REPLACE_ONE else None
    return _known(claim, base, make_records(schema, *rows(1, 0, 0)), old, regularisation=1)


def _one_feature(
    claim: str, low: float, high: float, x: Sequence[float], y: Sequence[float], new: tuple[float, float],
    old: tuple[float, float] | None = None, **settings: Any,
) -> Known:  # fmt: skip
    """A pair over one feature from low to high, with labels in [-1, 1]. new, old: value and label."""
    schema = Schema((Numeric("x", low, high),), Interval(-1, 1))
    records = partial(_records, schema)
    beside = None if old is None else records([old[0]], [old[1]])
    return _known(claim, records(x, y), records([new[0]], [new[1]]), beside, **settings)


ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
WITNESSES = (
    ("dpboost", ADD, partial(_theorem_7, "dpboost/theorem-7", ADD)),
    ("dpboost", REPLACE, partial(_theorem_7, "dpboost/theorem-7-replace-one", REPLACE)),
    ("dpboost", ADD, partial(_one_feature, "dpboost/candidates", 0, 1, (0.25, 0.5), (0, 0), (0.75, 0), bins=3)),
    # alone in the first leaf; alone in the second
    ("dpboost", REPLACE, partial(_one_feature, "dpboost/corollary-2-replace-one", 0, 1, (), (), (0, -1), (1, -1),
                                 regularisation=0.1)),
    ("inprivate", ADD, partial(_one_feature, "inprivate/theorem-7", 0, 6, (0, 3), (0, 0), (6, 0), depth=2, bins=3)),
    ("inprivate", REPLACE, partial(_one_feature, "inprivate/theorem-7-replace-one", 0, 6, (0, 0), (0, 0), (3, 0),
                                   (6, 0), depth=2, bins=3)),
    ("inprivate", REPLACE, partial(_one_feature, "inprivate/leaf-count-sensitivity-replace-one", 0, 1, (0, 1), (0, 0),
                                   (0, 1), (1, 1), depth=2)),
    ("dpxgboost", ADD, partial(_one_feature, "dpxgboost/min-child-weight", 0, 1, (0,) * 49 + (1,) * 60, (0,) * 109,
                               (0, 0), child_minimum=50)),
    ("dpxgboost", REPLACE, partial(_one_feature, "dpxgboost/min-child-weight-replace-one", 0, 1, (0,) * 49 + (1,) * 60,
                                   (0,) * 109, (0, 0), (1, 0), child_minimum=50)),
    ("dpxgboost", ADD, partial(_one_feature, "dpxgboost/empty-leaves", 0, 1, (1,) * 60, (0,) * 60, (0, 0),
                               child_minimum=1)),
    ("fedgbdt", REPLACE, partial(_one_feature, "fedgbdt/averaging-sensitivity-replace-one", 0, 1, (0, 1), (0, 0),
                                 (0, 1), (1, 1), bins=2)),
)  # fmt: skip
"""Paper, relation, and what makes the pair of the claim's witness: its numbers are the ledger's."""
