"""What a package audit calls: an entry point as function(records, seed), and the neighbouring data sets it is given."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.audit.adapters.plain import command
from refdp.audit.campaign import to_run
from refdp.audit.package.scope import Entry, Scope
from refdp.documents import parsed
from refdp.errors import InvalidParameter
from refdp.privacy.events import Relation

Floats = NDArray[np.float64]
Function = Callable[[Any, int], Any]

FEW = 8
"""Rows and columns of a data set that a report shows."""
SHORT = 300
"""Characters of a data set that a witness writes out; a longer one is read from audit.toml."""


@dataclass(frozen=True)
class Neighbours:
    """A pair. code: Python lines that make `first` and `second` in the folder of the audit. words: how they differ."""

    first: Floats
    second: Floats
    code: tuple[str, ...]
    words: str

    @property
    def shown(self) -> dict[str, list[Any]]:
        """The records as plain data where they are few, else nothing."""
        few = all(side.ndim == 2 and len(side) <= FEW and side.shape[1] <= FEW for side in self.sides)
        return {"first": self.first.tolist(), "second": self.second.tolist()} if few else {}

    @property
    def sides(self) -> tuple[Floats, Floats]:
        """Both data sets. Shapes (records, columns)."""
        return self.first, self.second


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in the folder of the audit, whose modules can be imported.

    Modules of the same names that were imported from elsewhere, another audit's wrappers for example, are set aside.
    """
    kept, path = Path.cwd(), list(sys.path)
    own = {one.stem for one in folder.iterdir() if one.suffix == ".py" or (one / "__init__.py").is_file()} - {"refdp"}
    aside = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in own
             and not Path(getattr(module, "__file__", None) or folder / "x").is_relative_to(folder)}  # fmt: skip
    for name in aside:
        del sys.modules[name]
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        os.chdir(kept)
        sys.path[:] = path
        tops = {name.partition(".")[0] for name in aside}
        for name in [name for name in sys.modules if name.partition(".")[0] in tops]:
            del sys.modules[name]
        sys.modules.update(aside)


def function_of(entry: Entry) -> Function:
    """The entry point. Errors: InvalidParameter if it cannot be found."""
    if entry.kind == "callable":
        assert isinstance(entry.target, str)
        found: Function = to_run(entry.target, f"[[entry]] {entry.name!r} callable")
        return found
    if entry.kind == "notebook":
        assert isinstance(entry.target, str)
        return _notebook(Path(entry.target))
    runs = command([sys.executable if word == "{python}" else word for word in entry.target])
    return lambda records, seed: runs(records, np.random.default_rng(seed))


def _notebook(path: Path) -> Function:
    """The code cells of a notebook, run in order, with `records` and `seed`; its output is what `released` holds."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        source = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        code = compile(source, str(path), "exec")
    except (OSError, ValueError, KeyError, TypeError, SyntaxError) as error:
        raise InvalidParameter(f"notebook {path}: plain Python cells are needed: {error}") from error

    def run(records: Any, seed: int) -> Any:
        names: dict[str, Any] = {"records": records, "seed": seed, "__name__": "__main__"}
        exec(code, names)
        if "released" not in names:
            raise InvalidParameter(f"notebook {path}: no cell leaves its output in a variable `released`")
        return names["released"]

    return run


def neighbours(scope: Scope, entry: Entry) -> list[Neighbours]:
    """The pair of the file, or those made from its records. Errors: InvalidParameter for data that do not fit."""
    where = f"[[entry]] {entry.name!r}"
    if entry.records is None:
        first, second = (_rows(where, side, getattr(entry, side)) for side in ("first", "second"))
        columns = max(_width(first), _width(second))
        first, second = _wide(first, columns), _wide(second, columns)
        _checked(where, first, second, entry.claim.relation)
        lines = _lines(scope, entry, first=first, second=second)
        return [Neighbours(first, second, lines, f"{_count(len(first))} against {_count(len(second))}, as given")]
    rows = _rows(where, "records", entry.records)
    if not len(rows) or rows.shape[1] != len(entry.bounds):
        raise InvalidParameter(
            f"{where}: {len(rows)} records of {_width(rows)} columns and {len(entry.bounds)} bounds do not fit; "
            "at least one record, and a pair of bounds for every column, are needed"
        )
    if entry.least > len(rows):
        raise InvalidParameter(f"{where} least: {entry.least}, at most the number of records, {len(rows)}, is allowed")
    return list(_made(scope, entry, rows))


def _made(scope: Scope, entry: Entry, rows: Floats) -> Iterator[Neighbours]:
    """Neighbours of the records: extreme records added or put in, a record repeated, single records left out.

    Put in for, or left out, are the first, the middle and the last record.
    """
    lines = _lines(scope, entry, rows=rows)
    new = [*_extremes(entry.bounds), rows[0]]
    different = new[:-1] + [rows[0]] * (not any(np.array_equal(rows[0], one) for one in new[:-1]))
    few = rows[: max(entry.least, 1)]
    bases = [(rows, "rows")] + ([(few, f"rows[:{len(few)}]")] if len(few) < len(rows) else [])
    for base, name in bases:
        for one in new:
            shown = json.dumps(one.tolist())
            if entry.claim.relation is Relation.ADD_REMOVE:
                more = np.vstack([base, one])
                code = (*lines, f"first, second = np.vstack([{name}, {shown}]), {name}")
                yield Neighbours(more, base, code, f"{_count(len(base))}, with {shown} added and without")
            elif not np.array_equal(base[0], one):
                other = base.copy()
                other[0] = one
                code = (*lines, f"first = {name}.copy(); second = first.copy(); second[0] = {shown}")
                yield Neighbours(base.copy(), other, code, f"{_count(len(base))}, the first replaced by {shown}")
    middle_and_last = sorted({len(rows) // 2, len(rows) - 1} - {0})
    if entry.claim.relation is Relation.REPLACE_ONE:
        for row, one in product(middle_and_last, different):
            if not np.array_equal(rows[row], one):
                other, shown = rows.copy(), json.dumps(one.tolist())
                other[row] = one
                code = (*lines, f"first = rows; second = first.copy(); second[{row}] = {shown}")
                yield Neighbours(rows.copy(), other, code, f"{len(rows)} records, record {row} replaced by {shown}")
    if entry.claim.relation is Relation.ADD_REMOVE and len(rows) > entry.least:
        for row in (0, *middle_and_last):
            code = (*lines, f"first, second = rows, np.delete(rows, {row}, axis=0)")
            yield Neighbours(rows, np.delete(rows, row, axis=0), code, f"{len(rows)} records, record {row} left out")


def _count(records: int) -> str:
    return f"{records} record{'s' * (records != 1)}"


def _extremes(bounds: Sequence[tuple[float, float]]) -> list[Floats]:
    """Corners of the domain: all low, all high, and each of both alternations; no corner twice."""
    low, high = np.array(bounds, dtype=np.float64).T
    odd = np.arange(len(bounds)) % 2 == 1
    corners = [low, high, np.where(odd, low, high), np.where(odd, high, low)]
    return [one for place, one in enumerate(corners) if not any(np.array_equal(one, c) for c in corners[:place])]


def _rows(where: str, key: str, given: Any) -> Floats:
    """Records as an array: rows in the file, or the path of a JSON list or of a CSV file with one line of names."""
    at = f"{where} {key}"
    if isinstance(given, str):
        at, given = f"{at} {given!r}", _listed(f"{at} {given!r}", Path(given))
    if not isinstance(given, list) or not all(isinstance(row, list) for row in given):
        raise InvalidParameter(f"{at}: rows [[number, ...], ...], or the name of a .json or .csv file, are needed")
    for row in given:
        if len(row) != len(given[0]) or not row:
            raise InvalidParameter(
                f"{at}: rows of {len(given[0])} and {len(row)} numbers, all need as many, at least one"
            )
        for value in row:
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InvalidParameter(f"{at}: {value!r} in a row, numbers are needed")
    return np.asarray(given, dtype=np.float64)


def _listed(at: str, path: Path) -> Any:
    """What a file of rows holds."""
    if path.suffix not in (".csv", ".json"):
        raise InvalidParameter(f"{at}: .csv and .json files are allowed")
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            return parsed(text)
        return [[float(cell) for cell in line.split(",")] for line in text.splitlines()[1:] if line.strip()]
    except OSError as error:
        raise InvalidParameter(f"{at}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InvalidParameter(f"{at}: numbers are needed, after one line of names in a .csv file: {error}") from error


def _width(rows: Floats) -> int:
    return rows.shape[1] if rows.ndim == 2 else 0


def _wide(rows: Floats, columns: int) -> Floats:
    """No records of the neighbour's width, where a side is empty."""
    return rows.reshape(0, columns) if not rows.size and columns else rows


def _checked(where: str, first: Floats, second: Floats, relation: Relation) -> None:
    mine, theirs = (Counter(np.ascontiguousarray(row + 0.0).tobytes() for row in side) for side in (first, second))
    here, there = (mine - theirs).total(), (theirs - mine).total()
    allowed = {(0, 1), (1, 0)} if relation is Relation.ADD_REMOVE else {(1, 1)}
    if (here, there) not in allowed:
        raise InvalidParameter(
            f"{where}: {here} records of first are not in second, {there} of second not in first; "
            f"{relation.value} neighbours differ in exactly one record"
        )


def _lines(scope: Scope, entry: Entry, **sides: Floats) -> tuple[str, ...]:
    """Python that makes these data sets: written out where short, else read from where they are."""
    texts = {name: json.dumps(side.tolist()) for name, side in sides.items()}
    keys = {"rows": "records"}
    if sum(map(len, texts.values())) <= SHORT:
        return tuple(f"{name} = np.array({text})" for name, text in texts.items())
    found = []
    for name in sides:
        key = keys.get(name, name)
        given = getattr(entry, key)
        if isinstance(given, str) and given.endswith(".csv"):
            found.append(f"{name} = np.loadtxt({given!r}, delimiter=',', skiprows=1, ndmin=2)")
        elif isinstance(given, str):
            found.append(f"{name} = np.array(__import__('json').load(open({given!r})))")
        else:
            file = f"__import__('tomllib').load(open({scope.path.name!r}, 'rb'))"
            found.append(f"{name} = np.array({file}['entry'][{entry.place}][{key!r}], dtype=float)")
    return tuple(found)
