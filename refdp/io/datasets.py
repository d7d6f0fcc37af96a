"""Data sets with the public bounds of their columns.

Bounds are part of the privacy guarantee, so each says where it comes from. "definition": the meaning of the variable.
"documented": stated with the data (in Abalone, breast cancer and diabetes that statement was itself computed from the
records). "chosen": a round figure set by judgement, by somebody who could have seen the records. "given": by the
caller. "observed": read off the records, so that no guarantee holds, and `Dataset.schema` refuses it unless told.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from refdp.data.records import Classes, Feature, Floats, Interval, Numeric, Records, Schema, Target, make_records
from refdp.errors import InvalidParameter, InvalidRecords, PrivacyWarning
from refdp.io import fetching
from refdp.io.cells import number_of
from refdp.io.domains import (
    Bounds,
    Domains,
    Source,
    given_domains,
    manifest_domain,
    observed_domain,
    package_domains,
    read_json,
    values_of,
)
from refdp.io.tables import Table, read_table

ALIASES = {"bank": "bank_full", "credit": "credit_default", "credit-default": "credit_default"}


@dataclass(frozen=True)
class Dataset:
    """Private records and the public description of their columns.

    x: shape (row, feature) float64, a category as its index, NaN missing. y: shape (row,), a class as its index.
    features, target: public domains. sources: where each column's domain comes from, by name.
    """

    name: str
    x: Floats
    y: Floats
    features: tuple[Feature, ...]
    target_name: str
    target: Target
    sources: Mapping[str, Source]

    @property
    def task(self) -> Literal["binary", "multiclass", "regression"]:
        """What is to be predicted."""
        if isinstance(self.target, Interval):
            return "regression"
        return "binary" if len(self.target.values) == 2 else "multiclass"

    @property
    def observed(self) -> tuple[str, ...]:
        """The columns whose domain was read off the records."""
        return tuple(name for name, source in self.sources.items() if source == "observed")

    def schema(self, allow_observed: bool = False) -> Schema:
        """The public description. Domains read off the records are refused, or bring a PrivacyWarning if allowed.

        Errors: InvalidRecords for those that are refused.
        """
        if self.observed:
            which = f"{self.name}: the bounds or categories of {unknown(self.sources)} were read off the records"
            if not allow_observed:
                raise InvalidRecords(f"{which}; give public ones, or allow this without any privacy guarantee")
            warnings.warn(f"{which}; no privacy guarantee holds", PrivacyWarning, stacklevel=2)
        return Schema(self.features, self.target)

    def records(self, allow_observed: bool = False) -> Records:
        """The records, clamped to the schema."""
        return make_records(self.schema(allow_observed), self.x, self.y)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Features by name: float64 for numeric ones, text (None where missing) for categorical ones.

        Shape (rows,) each.
        """
        return {f.name: _decoded(f, self.x[:, i]) for i, f in enumerate(self.features)}

    def labels(self) -> NDArray[Any]:
        """The target as float64, or as class labels. Shape (rows,)."""
        if isinstance(self.target, Interval):
            return self.y
        return np.array(self.target.values, dtype=object)[self.y.astype(np.intp)]

    def take(self, rows: NDArray[np.intp]) -> Dataset:
        """The records at these positions. rows: shape (count,)."""
        return replace(self, x=self.x[rows], y=self.y[rows])

    def one_against_rest(self, label: str) -> Dataset:
        """The binary problem of one class (positive) against all others.

        Errors: InvalidParameter for a label that is no class.
        """
        if isinstance(self.target, Interval) or label not in self.target.values:
            which = "" if self.target_name in self.observed else f", {self.target}"
            raise InvalidParameter(f"class {label!r} of {self.name}: allowed are the classes of its target{which}")
        y = (self.y == self.target.values.index(label)).astype(np.float64)
        return replace(self, y=y, target=Classes((f"not {label}", label)))


def unknown(sources: Mapping[str, Source]) -> str:
    """The columns of observed domains in words: by name where a public one is among the others.

    Else the first line of a file may be no header but a record, and they are counted.
    """
    observed = [name for name, source in sources.items() if source == "observed"]
    if all(name in observed or number_of(name) is not None for name in sources):
        return f"{len(observed)} of its {len(sources)} columns"
    return ", ".join(observed[:5]) + f" and {len(observed) - 5} more" * (len(observed) > 5)


def check_public(name: str, sources: Mapping[str, Source]) -> None:
    """That nothing is read off the records. Errors: InvalidRecords."""
    if "observed" in sources.values():
        raise InvalidRecords(f"{name}: no public bounds, categories or classes for {unknown(sources)}; give them in a "
                             "file with --bounds")  # fmt: skip


def load(
    name_or_csv: str | Path,
    *,
    target: str | None = None,
    bounds: Bounds | str | Path | None = None,
    public: bool = False,
) -> Dataset:
    """A data set by name, or a CSV file.

    A name is looked up in the directory of the environment variable REFDP_DATA (files of its MANIFEST.json), among
    those bundled with scikit-learn (breast_cancer, diabetes), then at OpenML (cached in REFDP_CACHE or ~/.cache/refdp).
    target: its column; a CSV file's last one by default. bounds: {column: [low, high] or [category, ...]}, the
    target's too, or a JSON file of that; a column without bounds takes them from the data (see `Dataset.schema`), or
    is refused before any value is looked at if all have to be `public`.
    Empty fields, blanks and NaN are missing values, and so is what the manifest's `missing_token` says; its
    `category_missing_code` is a category of features. A record with a missing label is refused, never left out.
    Errors: InvalidRecords for an unknown name or column, an unreadable or empty file, a missing label; it quotes what
    was given, and nothing of a file.
    """
    given = given_domains(bounds)
    path, name = Path(name_or_csv), ALIASES.get(str(name_or_csv), str(name_or_csv))
    if path.suffix in (".csv", ".gz") or path.is_file():
        table = read_table(path)
        return assembled(path.name, table, next(reversed(table.columns)) if target is None else target, given, public)
    manifest = _manifest()
    if name in manifest:
        dataset = _from_manifest(manifest[name], given, public)
    elif name in fetching.BUNDLED or name in fetching.OPENML:
        table, label, domains = fetching.fetch(name)
        dataset = assembled(name, table, label, domains | package_domains(name) | given, public)
    else:
        known = sorted({*fetching.BUNDLED, *fetching.OPENML, *manifest})
        raise InvalidRecords(f"data set {name!r} is neither a file nor a known name: {', '.join(known)}")
    if target not in (None, dataset.target_name):
        raise InvalidRecords(f"target {target!r} of {name}: its target is {dataset.target_name!r}")
    return dataset


def train_test(dataset: Dataset, test_size: float = 0.2, seed: int = 0) -> tuple[Dataset, Dataset]:
    """A training and a test part; the same seed gives the same parts. See `train_test_by_record` for add-remove.

    Errors: InvalidRecords for too few records.
    """
    _check_share(test_size)
    rows = len(dataset.y)
    if rows < 2:
        raise InvalidRecords(f"{dataset.name}: {rows} records cannot be split into two parts")
    held_out = min(max(round(rows * test_size), 1), rows - 1)
    order = np.random.default_rng(seed).permutation(rows)
    return dataset.take(np.sort(order[held_out:])), dataset.take(np.sort(order[:held_out]))


def train_test_by_record(dataset: Dataset, test_size: float = 0.2) -> tuple[Dataset, Dataset]:
    """A training and a test part of about these sizes, each record's part a function of that record alone.

    A record that is added or removed then moves no other one from part to part, so that a guarantee about the training
    part under add-remove is one about all records. After `train_test` it is not: its order follows from their number.
    """
    _check_share(test_size)
    held_out = held_out_by_record(dataset.x, dataset.y, test_size)
    return dataset.take(np.flatnonzero(~held_out)), dataset.take(np.flatnonzero(held_out))


def held_out_by_record(x: Floats, y: Floats, test_size: float) -> NDArray[np.bool_]:
    """Mask of the test part. x: (rows, features), y: (rows,), as they were read, before they are clamped."""
    return np.asarray(_fractions(np.column_stack([x, y])) < test_size)


def _check_share(test_size: float) -> None:
    if not 0 < test_size < 1:
        raise InvalidParameter(f"test_size = {test_size!r}: a share above 0 and below 1 is allowed")


def _fractions(rows: Floats) -> Floats:
    """A number in [0, 1) for each row, evenly spread: SplitMix64 (Steele, Lea, Flood 2014) over the row's bits."""
    state = np.zeros(len(rows), dtype=np.uint64)
    for column in np.where(np.isnan(rows), np.nan, rows + 0.0).T:  # one NaN, and no negative zero
        state = (state ^ np.ascontiguousarray(column).view(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return np.asarray((state >> np.uint64(11)) * 2.0**-53)


def folds(dataset: Dataset, count: int = 5, seed: int = 0) -> Iterator[tuple[Dataset, Dataset]]:
    """Training and test parts of a shuffled cross-validation, with equal shares of the classes if there are any."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = KFold if dataset.task == "regression" else StratifiedKFold
    for train, test in kind(count, shuffle=True, random_state=seed).split(dataset.x, dataset.y):
        yield dataset.take(train), dataset.take(test)


def stored(name: str) -> tuple[Path, ...]:
    """The files of a data set of that name in REFDP_DATA, its manifest's first; none for another one."""
    entry = _manifest().get(name)
    return () if entry is None else (entry["path"].parent / "MANIFEST.json", entry["path"])


def _manifest() -> dict[str, Any]:
    """The entries of REFDP_DATA's manifest by name; none without that variable."""
    directory = os.environ.get("REFDP_DATA")
    if not directory:
        return {}
    path = Path(directory, "MANIFEST.json")
    return {entry["name"]: entry | {"path": path.parent / entry["file"]} for entry in read_json(path)["datasets"]}


def _from_manifest(entry: Any, given: Domains, public: bool) -> Dataset:
    name, target = entry["name"], entry["target"]
    dropped = [column["name"] for column in entry["columns"] if column["role"] not in ("feature", "target")]
    code = entry.get("category_missing_code")
    domains: Domains = {}
    for column in entry["columns"]:
        if column["name"] not in dropped and (known := manifest_domain(column, entry.get("positive_label"), code)):
            domains[column["name"]] = known
    domains |= package_domains(name) | given
    table = read_table(entry["path"]).without(dropped).with_missing(entry.get("missing_token", ""))
    return assembled(name, table, target, domains, public)


def assembled(name: str, table: Table, target: str, domains: Domains, public: bool = False) -> Dataset:
    """A data set from a table and what is known of its columns; the rest is read off the records, or refused if all
    has to be public.
    """
    for column in (target, *domains):
        table.column(column)
    if public:
        check_public(
            name, {column: domains[column][1] if column in domains else "observed" for column in table.columns}
        )
    missing = {
        column: observed_domain(table, column, column == target) for column in table.columns if column not in domains
    }
    domains = {column: (domains | missing)[column] for column in table.columns}
    features = tuple(domain for column, (domain, _) in domains.items() if column != target)
    label, source = domains[target]
    x, y = numbers_of(table, features, label, named=source != "observed")
    return Dataset(
        name=name,
        x=x,
        y=y,
        features=features,
        target_name=target,
        target=_target(table.source, label, source),
        sources={column: source for column, (_, source) in domains.items()},
    )


def _target(table: str, label: Feature, source: Source) -> Target:
    """Errors: InvalidParameter for what is given and no target; InvalidRecords for what is observed, unquoted."""
    try:
        return Interval(label.low, label.high) if isinstance(label, Numeric) else Classes(label.categories)
    except InvalidParameter:
        if source != "observed":
            raise
    raise InvalidRecords(f"{table}: no classes or range can be read off target {label.name!r}; give public ones")


def numbers_of(table: Table, features: Sequence[Feature], label: Feature, named: bool = True) -> tuple[Floats, Floats]:
    """Features, shape (rows, features), and labels, shape (rows,), of a table. named: whether an error lists classes.

    Errors: InvalidRecords for text in a column of numbers, a label that is missing or unknown.
    """
    x = np.empty((len(table.column(label.name)), len(features)), order="F")
    for i, feature in enumerate(features):
        x[:, i] = values_of(table, feature)
    y = values_of(table, label)
    if not np.isfinite(y).all():
        classes = "" if isinstance(label, Numeric) or not named else f" or not one of {', '.join(label.categories)}"
        allowed = " or not a finite number" if isinstance(label, Numeric) else classes
        raise InvalidRecords(f"{table.source}: a value of target {label.name!r} is missing{allowed}")
    return x, y


def _decoded(feature: Feature, values: Floats) -> NDArray[Any]:
    if isinstance(feature, Numeric):
        return values
    texts = np.array([*feature.categories, None], dtype=object)  # the last one: missing
    return texts[np.where(np.isnan(values), -1, values).astype(np.intp)]
