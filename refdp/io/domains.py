"""Public domains of columns: bounds or categories, and where they come from (see refdp/io/datasets.py)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np

from refdp.data.records import WIDEST, Categorical, Classes, Feature, Floats, Interval, Numeric, Schema, least_width
from refdp.documents import parsed
from refdp.errors import InvalidRecords
from refdp.io.cells import alike, is_missing, meaning, number_of
from refdp.io.tables import MISSING_CODES, Table, is_number

Source = Literal["definition", "documented", "chosen", "given", "observed"]
Bounds = Mapping[str, Sequence[Any]]
Domains = dict[str, tuple[Feature, Source]]

MIXED = "neither two numbers nor categories of one kind; write all categories as texts"
_WEAKEST_FIRST: tuple[Source, ...] = ("observed", "documented", "definition")


def given_domains(bounds: Bounds | str | Path | None) -> Domains:
    """The caller's {column: [low, high] or [category, ...]}, or a JSON file of that. Two numbers are bounds.

    Errors: InvalidRecords for anything else.
    """
    table = read_json(Path(bounds)) if isinstance(bounds, str | Path) else bounds or {}
    if not isinstance(table, Mapping):
        raise InvalidRecords(f"bounds: {{column: [low, high] or [category, ...]}} is needed, not {table!r}")
    return {name: (_given(name, values), "given") for name, values in table.items()}


def columns_of(schema: Schema, target: str = "label") -> dict[str, Any]:
    """A schema as plain data, {column: [low, high] or [category, ...]}, the target last."""
    columns: dict[str, Any] = {
        one.name: list(one.categories) if isinstance(one, Categorical) else [one.low, one.high]
        for one in schema.features
    }
    while target in columns:
        target += "_"
    aim = schema.target
    return columns | {target: list(aim.values) if isinstance(aim, Classes) else [aim.low, aim.high]}


def schema_from(columns: Bounds) -> Schema:
    """The schema of `columns_of`. Errors: InvalidRecords, InvalidParameter."""
    domains = [feature for feature, _ in given_domains(columns).values()]
    if len(domains) < 2:
        raise InvalidRecords(f"schema: columns {list(columns)} given, a feature and a target are needed")
    *features, last = domains
    aim = Classes(last.categories) if isinstance(last, Categorical) else Interval(last.low, last.high)
    return Schema(tuple(features), aim)


def _given(name: str, values: Any) -> Feature:
    if not isinstance(values, list | tuple) or not values:
        raise InvalidRecords(f"bounds of {name!r}: [low, high] or a list of categories is needed, not {values!r}")
    if len(values) == 2 and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return Numeric(name, *values)
    if not all(isinstance(value, str | int | float) for value in values):
        raise InvalidRecords(f"bounds of {name!r}: categories are texts or numbers, not {values!r}")
    if is_mixed(values):
        raise InvalidRecords(f"bounds of {name!r}: {values!r} are {MIXED}")
    return _listed(name, (str(value) for value in values))


def is_mixed(values: Iterable[Any]) -> bool:
    """Whether there are two kinds among texts, truth values and anything else."""
    return len({bool if isinstance(value, bool | np.bool_) else isinstance(value, str) for value in values}) > 1


def _listed(name: str, categories: Iterable[str]) -> Categorical:
    """A list of categories or classes, none of which is a missing value."""
    listed = tuple(categories)
    if any(map(is_missing, listed)):
        raise InvalidRecords(f"categories of {name!r}: an empty text, blanks and NaN are missing values, no categories")
    if (same := alike(listed)) is not None:
        raise InvalidRecords(
            f"categories of {name!r}: {same[0]!r} and {same[1]!r} are compared as numbers, and are one category; a "
            "letter before them, in the records too, keeps them apart"
        )
    return Categorical(name, listed)


def package_domains(name: str) -> Domains:
    """The bounds that the package states for the columns of a known data set."""
    text = resources.files("refdp.io").joinpath("public_bounds.json").read_text(encoding="utf-8")
    columns = json.loads(text).get(name, {})
    return {
        column: (Numeric(column, float(low), float(high)), source) for column, (low, high, source, _) in columns.items()
    }


def manifest_domain(
    column: Any, positive_label: str | None, missing_code: str | None = None
) -> tuple[Feature, Source] | None:
    """The domain of a column of a manifest, as public as its weaker bound; None where the manifest has none.

    missing_code: what stands for an unknown value in the columns of categories: a category of features, but no class.
    """
    name, bounds = column["name"], column.get("bounds")
    if bounds:
        source = next(s for s in _WEAKEST_FIRST if s in (bounds["min_source"], bounds["max_source"]))
        return Numeric(name, float(bounds["min"]), float(bounds["max"])), source
    if "categories" not in column:
        return None
    if column["role"] != "target":
        return _listed(name, column["categories"]), "documented"
    classes = (label for label in column["categories"] if label != missing_code)
    return _listed(name, sorted(classes, key=lambda label: label == positive_label)), "documented"


def observed_domain(table: Table, name: str, is_target: bool) -> tuple[Feature, Source]:
    """The domain read off the records: the range of numbers, else the values; a target of two values is a class.

    Errors: InvalidRecords for a target with labels that files write for missing ones: whether they are classes is the
    caller's to say; for numbers too far apart. It quotes no value. Numbers too close for bounds are taken as one.
    """
    texts = sorted({str(value).strip() for value in table.column(name) if not is_missing(value)})
    if is_target and any(text.lower() in MISSING_CODES for text in texts):
        raise InvalidRecords(
            f"{table.source}: target {name!r} holds a text that stands for a missing label, one of "
            f"{', '.join(MISSING_CODES)}; leave such records out, or list all classes in the bounds"
        )
    apart = {meaning(text): text for text in reversed(texts)}
    if not all(is_number(text) for text in texts) or (is_target and len(apart) == 2):
        return Categorical(name, tuple(sorted(apart.values()))), "observed"
    numbers = np.array([number_of(text) for text in texts], dtype=np.float64)
    finite = numbers[np.isfinite(numbers)] if np.isfinite(numbers).any() else np.zeros(1)
    low, high = float(finite.min()), float(finite.max())
    if not is_target:
        if high - low > WIDEST:
            raise InvalidRecords(f"{table.source}: no bounds can be read off the values of {name!r}; give public ones")
        if high - low < least_width(low, high):
            high = low
    return Numeric(name, low, high), "observed"


def values_of(table: Table, domain: Feature) -> Floats:
    """The column of a domain as float64: the number, or the index of the category; NaN where missing or unknown.

    Shape (rows,).
    """
    if isinstance(domain, Numeric):
        return table.numbers(domain.name)
    return table.indices(domain.name, domain.categories)


def read_json(path: Path) -> Any:
    """The document in a JSON file. Errors: InvalidRecords, also for a name that an object has twice."""
    try:
        return parsed(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidRecords(f"{path}: cannot be read as JSON: {error}") from error
