"""A foreign run followed: the paper's own text on the records, with the foreign run's outputs in place of draws.

So every true value is recomputed from what the foreign program released, and what it says is held against what the
text asks for at the same point. Public draws and secret samples are taken as they are if the law can give them, and
kept (refdp/conform/drawn.py looks at them).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.conform.drawn import Drawn, impossible
from refdp.conform.plain import array_in, floated, mechanism_out
from refdp.data.records import Model, Records
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.noise.draws import snap
from refdp.noise.mechanisms import Exponential, Mechanism
from refdp.privacy.curator import Array, Curator, Request
from refdp.privacy.sources import asked, law_of


class Parted(Exception):
    """The foreign run is not one of this paper and these parameters; the message names the entry."""


@dataclass(frozen=True)
class Released:
    """One release. value: recomputed. output: the foreign one, or its index for a choice. told: its own true value.

    at: number of its entry in the run.
    """

    name: str
    mechanism: Mechanism
    value: Array
    output: Array
    told: Array | None
    claimed: Any
    at: int = 0


@dataclass
class Followed:
    """A source that gives what a transcript says.

    unnoised: releases of values answer with the true value instead, as a program has it that forgets the noise.
    """

    entries: Sequence[dict[str, Any]]
    unnoised: bool = False
    releases: list[Released] = field(default_factory=list)
    drawn: list[Drawn] = field(default_factory=list)
    _at: int = 0

    def release(self, request: Request) -> Array:
        """The transcript's output.

        Of the value's shape. Errors: Parted for another shape, or an output off the grid.
        """
        mechanism, value = asked(request)
        entry = self._next(request)
        if isinstance(mechanism, Exponential):
            output = self._option(request, entry, value)
        else:
            output = self._array(entry, "output", request)
            if output.shape != value.shape:
                raise Parted(f"{request.name}: an output of shape {output.shape}, {value.shape} is released")
            if getattr(mechanism, "step", 0.0) and not np.array_equal(on_grid(mechanism, output), output):
                raise Parted(f"{request.name}: an output that is not on the grid of the noise")
        told = array_in(entry["value"]) if "value" in entry else None
        own = request.name, mechanism, np.array(value), output, told, entry.get("mechanism")
        self.releases.append(Released(*own, self._at))
        return np.array(value) if self.unnoised and not isinstance(mechanism, Exponential) else output

    def draw(self, request: Request) -> Array:
        """The transcript's public draws. Of the request's shape. Errors: Parted for what the law cannot give."""
        return self._drawn(request)

    def assign(self, request: Request) -> NDArray[np.int64]:
        """The transcript's secret assignment. Shape (records,). Errors: Parted for what the law cannot give."""
        return self._drawn(request)

    def finish(self) -> None:
        """Errors: Parted for entries after the end of the run."""
        if self._at < len(self.entries):
            raise Parted(f"{_name(self.entries[self._at])}: released after the end of the run")

    def _next(self, request: Request) -> dict[str, Any]:
        if self._at >= len(self.entries):
            raise Parted(f"{request.name}: the transcript ends before it")
        entry = self.entries[self._at]
        self._at += 1
        if (_name(entry), entry.get("kind")) != (request.name, request.kind):
            raise Parted(f"{_name(entry)}: {entry.get('kind')} where {request.kind} of {request.name} is due")
        return entry

    def _array(self, entry: dict[str, Any], part: str, request: Request) -> Array:
        try:
            found = array_in(entry[part] if part else entry)
        except (KeyError, InvalidParameter) as error:
            raise Parted(f"{request.name}: no {part or 'values'} in the transcript") from error
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise Parted(f"{request.name}: a value that is not finite")
        return found

    def _drawn(self, request: Request) -> Array:
        entry, law = self._next(request), law_of(request)
        found = self._array(entry, "", request)
        shape = request.size if isinstance(request.size, tuple) else (request.size,)
        if found.shape != shape:
            raise Parted(f"{request.name}: drawn in shape {found.shape}, {shape} is due")
        if "law" in entry and not _same_law(law, entry["law"]):
            raise Parted(f"{request.name}: drawn by the law {str(entry['law'])[:80]}, {str(list(law))[:80]} is due")
        if request.law[0] != "uniform" and not np.array_equal(found, np.rint(found)):
            raise Parted(f"{request.name}: drawn are numbers that are not whole")
        found = found.astype(np.float64 if request.law[0] == "uniform" else np.int64)
        if wrong := impossible(law, found):
            raise Parted(f"{request.name}: drawn is {wrong}")
        self.drawn.append(Drawn(request.name, "draw" if request.kind == "draw" else "assign", law, found, self._at))
        return found

    def _option(self, request: Request, entry: dict[str, Any], table: Array) -> Array:
        """Positions of the options that were released. Errors: Parted for what cannot be chosen."""
        if request.options is None:
            found = self._array(entry, "index" if "index" in entry else "output", request).astype(np.int64)
        else:
            rows = self._array(entry, "output", request)
            if rows.ndim != 2 or rows.shape[1:] != request.options.shape[1:]:
                raise Parted(f"{request.name}: an output of shape {rows.shape}, options are of {request.options.shape}")
            same = (rows[:, None, :] == request.options[None]).all(axis=2)
            if not same.any(axis=1).all():
                raise Parted(f"{request.name}: an output that is none of the options")
            found = same.argmax(axis=1)
        if found.shape != table.shape[:1] or not ((found >= 0) & (found < table.shape[1])).all():
            raise Parted(f"{request.name}: {found.shape} choices, {table.shape[:1]} are released")
        if np.isneginf(table[np.arange(len(found)), found]).any():
            raise Parted(f"{request.name}: an option that is excluded")
        return found


def follow(
    paper: str, params: Any, records: Records, entries: Sequence[dict[str, Any]], *, unnoised: bool = False
) -> tuple[Model, list[Released], list[Drawn]]:
    """Run the paper's text along a transcript: the model, what was released, what was drawn. Errors: Parted."""
    source = Followed(entries, unnoised)
    with np.errstate(all="ignore"):
        model = registry.paper(paper).train(params, records, Curator(source, params.relation))
    source.finish()
    return model, source.releases, source.drawn


def on_grid(mechanism: Mechanism, output: Array) -> Array:
    """The nearest outputs that the mechanism can have: what is beside its grid can be the true value, in low digits.

    Of the output's shape.
    """
    if step := getattr(mechanism, "step", 0.0):
        return np.asarray(np.rint(output / step) * step)
    return snap(output, getattr(mechanism, "sd", None) or mechanism.scale)  # type: ignore[attr-defined]


def claims_less(claimed: Any, due: Mechanism) -> str:
    """What a claimed mechanism has less of than the one that is due; "" if nothing. NaN is less than any number."""
    known = mechanism_out(due)
    if not isinstance(claimed, dict):
        return f"{claimed!r} where {known['name']} is due"
    if claimed.get("name") != known["name"]:
        return f"{claimed.get('name')} where {known['name']} is due"
    for key, value in known.items():
        if key in ("name", "sampler"):
            continue
        needed = _numbers(value)
        try:
            given = _numbers(claimed.get(key))
        except (TypeError, ValueError, OverflowError):
            return f"{key} {claimed.get(key)!r} where {needed} is due"
        if len(given) != len(needed) or (key == "step" and given != needed):
            return f"{key} {given} where {needed} is due"
        ends = [(b, a) if key == "coefficient" else (a, b) for a, b in zip(given, needed, strict=True)]
        if key != "step" and not all(more >= least for more, least in ends):
            return f"{key} {given} where {needed} is due"
    return ""


def _same_law(due: Any, given: Any) -> bool:
    """Floats may be off by what rounding does to a sum of weights."""
    if isinstance(due, tuple | list):
        whole = isinstance(given, list) and len(given) == len(due)
        return whole and all(_same_law(one, other) for one, other in zip(due, given, strict=True))
    if not isinstance(due, float):
        return type(given) is type(due) and bool(given == due)
    try:
        return math.isclose(due, floated(given) if isinstance(given, str) else float(given), rel_tol=1e-9)
    except (InvalidParameter, TypeError, ValueError, OverflowError):
        return False


def _numbers(value: Any) -> list[float]:
    return [floated(one) for one in (value if isinstance(value, list) else [value])]


def _name(entry: dict[str, Any]) -> str:
    path = entry.get("path")
    return "/".join(map(str, path)) if isinstance(path, list) else str(path)
