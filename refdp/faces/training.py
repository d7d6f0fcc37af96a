"""One training run from start to end: the right source for the parameters, the model, its certificate."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refdp.data.population import Population
from refdp.data.records import Model, Schema
from refdp.data.sparse import AnyRecords
from refdp.errors import InvalidParameter
from refdp.faces.registry import Paper
from refdp.ledger.certificate import Certificate, Guarantee
from refdp.ledger.proved import BREACH
from refdp.noise.samplers import SystemBits
from refdp.privacy.curator import Array, Assigned, Curator, Request, Source
from refdp.privacy.events import Event, Plan, Release, children, expand
from refdp.privacy.sources import NoiselessSource, SampleSource

Seed = int | np.random.Generator | np.random.RandomState | None
Progress = Callable[[], None]


@dataclass(frozen=True)
class Run:
    """What a training run may publish, and how many seconds of fitting it took. No record is in here."""

    model: Model
    certificate: Certificate
    transcript: list[dict[str, Any]]
    seconds: float


Charged = Callable[[Certificate], None]
"""Called with the certificate before any record is touched; it may refuse the run with an error."""


def train(
    paper: Paper, params: Any, records: AnyRecords, source: Source, *, progress: Progress = lambda: None,
    charged: Charged = lambda certificate: None,
) -> Run:  # fmt: skip
    """Train once. source: see `source_for`. progress: called after every release. charged: see `Charged`."""
    certificate = _certificate(paper, params, records.schema)
    charged(certificate)
    return _trained(params, certificate, source, progress, lambda curator: paper.train(params, records, curator))


def train_on(
    paper: Paper, params: Any, schema: Schema, population: Callable[[], Population], source: Source,
    *, progress: Progress = lambda: None, asked: Charged = lambda certificate: None,
    charged: Charged = lambda certificate: None,
) -> Run:  # fmt: skip
    """Train on records that are elsewhere. population: makes the host, which may touch records, and refuse them.

    asked: as `charged`, which is called when the host is there, before anything is released.
    """
    certificate = _certificate(paper, params, schema)
    asked(certificate)
    with np.errstate(all="ignore"):
        host = population()
    charged(certificate)

    def fit(curator: Curator) -> Model:
        model: Model = paper.module.train_on(params, schema, host, curator)
        return model

    return _trained(params, certificate, source, progress, fit)


def _certificate(paper: Paper, params: Any, schema: Schema) -> Certificate:
    with np.errstate(all="ignore"):  # accounts underflow where nothing is lost, whatever the caller would have of it
        return paper.certificate(params, schema)


def _trained(
    params: Any, certificate: Certificate, source: Source, progress: Progress, fit: Callable[[Curator], Model]
) -> Run:
    curator = Curator(Watched(source, progress), params.relation)
    start = time.perf_counter()
    with np.errstate(all="ignore"):  # no warning may depend on a private value
        model = fit(curator)
    seconds = time.perf_counter() - start
    return Run(model, certificate, curator.transcript.public(), seconds)


def source_for(params: Any, seed: Seed, *, record: bool = False) -> Source:
    """Randomness of the kind that the parameters ask for; without a seed fresh entropy of the operating system, one for
    the noise and another for what is published.

    The baseline "np" adds no noise. Discrete noise is drawn by the exact samplers, from the operating system's own
    entropy unless there is a seed. Coins of records have a secret of their own, the same wherever the records are.
    record: the source lists what it draws (refdp/privacy/tape.py).
    """
    generator = generator_of(seed)
    assignments = secrets.token_bytes(16) if seed is None else True
    if getattr(params, "scheme", "") == "np":
        return NoiselessSource(generator, assignments=assignments, record=record)
    public = np.random.default_rng() if seed is None else None
    exact = getattr(params, "noise", "floating") == "discrete"
    bits = SystemBits() if exact and seed is None else None
    return SampleSource(generator, exact=exact, bits=bits, public=public, assignments=assignments, record=record)


def generator_of(seed: Seed) -> np.random.Generator:
    """The one Generator of a run; without a seed a Philox keyed by the operating system, whose state nobody is known to
    find from its outputs. Errors: InvalidParameter for a negative seed or an object of another kind.
    """
    if seed is None:
        return np.random.Generator(np.random.Philox())
    if isinstance(seed, np.random.RandomState):
        return np.random.default_rng(seed.randint(0, 2**32, size=4, dtype=np.uint32))
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidParameter(f"seed = {seed!r}: a whole number >= 0, a numpy generator or nothing is allowed")
    return np.random.default_rng(int(seed))


@dataclass
class Watched:
    """A source that tells its observer after every release."""

    source: Source
    progress: Progress

    @property
    def process(self) -> int:
        """Where the source was made, if it says so."""
        return int(getattr(self.source, "process", os.getpid()))

    def release(self, request: Request) -> Array:
        """The source's output. Of the value's shape."""
        output = self.source.release(request)
        self.progress()
        return output

    def draw(self, request: Request) -> Array:
        """The source's draws. Of the request's shape."""
        return self.source.draw(request)

    def assign(self, request: Request) -> Assigned:
        """The source's assignment."""
        return self.source.assign(request)


def releases_planned(plan: Plan) -> int:
    """How many times a run will call `release`."""
    return _count(expand(plan.event))


def _count(event: Event) -> int:
    return 1 if isinstance(event, Release) else sum(_count(child) for child in children(event))


def assuming(certificate: Certificate, *assumptions: str) -> Certificate:
    """The certificate with what it takes for granted besides."""
    return replace(certificate, assumptions=(*certificate.assumptions, *assumptions))


def without_guarantee(certificate: Certificate, breaches: Sequence[str]) -> Certificate:
    """The certificate of a run whose public description was not public: nothing is established, and no proof is about
    it."""
    if not breaches:
        return certificate
    nothing = Guarantee(float("inf"), certificate.established.delta)
    return certificate.of_another(BREACH, nothing, notes=(*certificate.notes, *breaches))
