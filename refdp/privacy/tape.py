"""Tapes: everything that a run drew, entry by entry, and the source that plays one.

    source = SampleSource(generator, record=True)           # source.tape lists what each request drew
    model = paper.train(params, records, Curator(source, params.relation))
    player = TapeSource(source.tape)
    again = paper.train(params, records, Curator(player, params.relation))   # the same bytes
    player.finish()

Another implementation that reads the same tape must give the same model (refdp/conform). Whoever has the tape of a run
can subtract its noise: a tape is as private as the records.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from refdp.data.kernels import GRID
from refdp.errors import InvalidParameter
from refdp.noise.exponential import utilities
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian
from refdp.privacy.curator import Array, Request
from refdp.privacy.sources import INDEX, NONE, STEPS, Listed, asked, law_of, true_output


def together(mechanism: Gaussian, present: int) -> Gaussian:
    """The noise of so many participants who each add all of it, as one.

    Errors: InvalidParameter for several deviations.
    """
    if isinstance(mechanism.sd, tuple):
        raise InvalidParameter("noise of each participant by itself: one deviation is allowed")
    return Gaussian(mechanism.sd * math.sqrt(present))


class TapeSource:
    """Plays a tape. Every request must be the one that the next entry is about.

    Errors: InvalidParameter, naming the entry, where path, kind, law, shape or range are not those of the run, where
    the tape ends too early, and from `finish` where it goes on after the run.
    """

    def __init__(self, tape: Sequence[Listed]) -> None:
        self._tape: Iterator[Listed] = iter(tape)

    def release(self, request: Request) -> Array:
        """The mechanism applied to the listed standard draws, or what the entry says instead."""
        mechanism, value = asked(request)
        entry = self._next(request)
        if entry.law == NONE:
            _check(entry, "values", entry.values.size, 0)
            return true_output(request)
        if entry.law == INDEX and isinstance(mechanism, Exponential):
            return self._chosen(entry, utilities(value))
        if entry.law == STEPS and not isinstance(mechanism, Exponential):
            steps = _values(entry, value.shape, True)
            gridded = isinstance(mechanism, DiscreteGaussian | DiscreteLaplace)
            return mechanism.apply(value, steps) if gridded else np.asarray(value + GRID * steps)
        if entry.law[0] == "normal" and len(entry.law) > 1 and isinstance(mechanism, Gaussian):
            return together(mechanism, entry.law[1]).apply(value, _values(entry, value.shape, False))
        draws = mechanism.draws(value)
        _check(entry, "law", entry.law, law_of(draws))
        whole = draws.kind.startswith("discrete")
        return mechanism.apply(value, _values(entry, draws.shape, whole))

    def draw(self, request: Request) -> Array:
        """The listed public draws. Of the request's shape."""
        entry = self._next(request)
        _check(entry, "law", entry.law, law_of(request))
        shape = request.size if isinstance(request.size, tuple) else (request.size,)
        match request.law:
            case ("integers", high):
                return _within(entry, _values(entry, shape, True), 0, high - 1)
            case ("choice", weights):
                return _within(entry, _values(entry, shape, True), 0, len(weights) - 1)
        return _within(entry, _values(entry, shape, False), 0, math.nextafter(1.0, 0.0))

    def assign(self, request: Request) -> NDArray[np.int64]:
        """The listed assignment. Shape (slots,)."""
        entry = self._next(request)
        _check(entry, "law", entry.law, law_of(request))
        blocks = len(request.law[1]) if request.law[0] in ("partition", "shares") else 1
        found = _values(entry, (int(np.prod(request.size)),), True)
        return np.asarray(_within(entry, found, -1, blocks - 1), dtype=np.int64)

    def finish(self) -> None:
        """Refuse a tape that holds more than the run asked for. Errors: InvalidParameter."""
        rest = next(self._tape, None)
        if rest is not None:
            raise InvalidParameter(f"the tape goes on with {rest.name!r} after the run: it is of another run")

    def _next(self, request: Request) -> Listed:
        entry = next(self._tape, None)
        if entry is None:
            raise InvalidParameter(f"the tape ends before {request.name!r}; it must list every draw of the run")
        _check(entry, "path", entry.path, request.path)
        _check(entry, "kind", entry.kind, request.kind)
        return entry

    @staticmethod
    def _chosen(entry: Listed, table: Array) -> Array:
        found = _within(entry, _values(entry, table.shape[:1], True), 0, table.shape[1] - 1)
        if np.isneginf(np.take_along_axis(table, found[:, None], axis=1)).any():
            raise InvalidParameter(f"tape, {entry.name!r}: an option that the run excludes: it is of another run")
        return found


def _check(entry: Listed, what: str, listed: object, asked_for: object) -> None:
    if listed != asked_for:
        raise InvalidParameter(
            f"tape, {entry.name!r}: {what} {listed!r} is listed, the run asks for {asked_for!r}: it is of another run"
        )


def _values(entry: Listed, shape: tuple[int, ...], whole: bool) -> Array:
    kind = "int64" if whole else "float64"
    _check(entry, "dtype", str(entry.values.dtype), kind)
    _check(entry, "shape", entry.values.shape, shape)
    if not whole and not np.isfinite(entry.values).all():
        raise InvalidParameter(f"tape, {entry.name!r}: a NaN or an infinity: finite numbers are allowed")
    return entry.values


def _within(entry: Listed, values: Array, low: float, high: float) -> Array:
    if not ((values >= low) & (values <= high)).all():
        raise InvalidParameter(f"tape, {entry.name!r}: a value outside {low} to {high}, which its law allows")
    return values
