"""Learning on streams: records arrive in batches, and every id keeps its own account from batch to batch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from refdp.accounting.budget_lock import Lock
from refdp.data.memory import Memory
from refdp.data.population import Begin, Turn
from refdp.data.records import Classes, Ensemble, Feature, Model, Records, Schema, Target, Tree, make_records
from refdp.errors import InvalidParameter, InvalidRecords, PrivacyWarning, UtilityWarning
from refdp.faces import registry
from refdp.faces.budgets import no_budget
from refdp.faces.estimators.labels import public_classes
from refdp.faces.estimators.whole import or_as_before
from refdp.faces.monotone import constrained, signs
from refdp.faces.repeats import remember, repeated
from refdp.faces.seeds import generator_for, seeded
from refdp.faces.training import assuming, source_for, without_guarantee
from refdp.faces.warned import warn
from refdp.io import frames
from refdp.io.identities import canonical
from refdp.ledger.certificate import Certificate
from refdp.ledger.proved import STREAM
from refdp.papers import sgbdt
from refdp.privacy.curator import Curator, Source

STRANGERS = "records that came without an id belong to people who are nowhere else in the stream"
"""What a certificate assumes of batches without ids."""


class Stream:
    """The data owner's side of a stream: records and accounts by id. Private: nothing but `model` may leave.

    The first batch gives the initial score and T_regular trees, each further one T_extra trees on all records with
    budget left. An id that comes again replaces its record and keeps what it has spent, so that the guarantee is about
    everything that one id ever contributed. Records whose budget is spent are passed over; nothing tells which.

    Who is one person: an id is compared by its text as refdp/io/identities.py has it, so that 1, 1.0 and "1" are one.
    A batch that is left in its middle, by an interrupt say, ends the stream: what it released cannot be taken back, and
    scores and accounts may be out of step. The last whole batch's model stays good.
    """

    def __init__(self, params: sgbdt.Params, schema: Schema, source: Source, certificate: Certificate) -> None:
        self._params, self.schema, self.certificate = params, schema, certificate
        self.observed: list[str] = []
        self.public = True
        self._curator = Curator(source, params.relation)
        self._population: Memory | None = None
        self._initial: list[float] = []
        self._trees: list[list[Tree]] = [[] for _ in range(schema.scores)]
        self._row: dict[str | tuple[int, int], int] = {}
        self._whole = True
        self._process = os.getpid()
        self.batches = 0

    def add(self, records: Records, ids: Any = None) -> Model:
        """Train on with one more batch; without ids every record is somebody new.

        Errors: InvalidRecords for ids that are not one distinct id a record; InvalidParameter as `check_whole`.
        """
        self.check_whole()
        names = self.names(records, ids)
        known = np.array([name in self._row for name in names], dtype=bool)
        rows = np.array([self._row[name] for name in names if name in self._row], dtype=np.intp)
        self._whole = False  # before anything changes; only a batch that came to its end sets it again
        for name in names:
            self._row.setdefault(name, len(self._row))
        with np.errstate(all="ignore"):  # no warning tells of a record
            self._admit(records, known, rows)
            for output in range(self.schema.scores):
                with self._curator.step(f"score {output}"):
                    self._grow(output)
        ensembles = self._ensembles()
        self.batches += 1
        self._whole = True
        return Model("sgbdt", asdict(self._params), self.schema, ensembles)

    def check_whole(self) -> None:
        """Errors: InvalidParameter after a batch that was left in its middle, and in a fork of the process."""
        if self._process != os.getpid():
            raise InvalidParameter(
                "this stream goes on in the process that began it: a fork has the same noise to come, and accounts of "
                "its own that would let every id spend its budget again"
            )
        if not self._whole:
            raise InvalidParameter(
                "a batch of this stream was left in its middle: scores and accounts may be out of step, so it takes no "
                "further batch. The model of the last whole batch stays. A new stream (fit, or a clone) gives every id "
                "a fresh budget: who was in both has the sum of both guarantees"
            )

    def check_same(
        self, params: sgbdt.Params, features: Sequence[Feature], observed: list[str], target: Target
    ) -> None:
        """Errors: InvalidParameter if what the stream began with was changed since.

        observed: names of the features whose bounds are read off the records, and are others in every batch.
        """
        before, now = asdict(self._params), asdict(params)
        changed = [name for name in before if before[name] != now[name]]
        other = observed != self.observed or (not observed and tuple(features) != self.schema.features)
        changed += ["bounds"] * other
        changed += ["classes" if isinstance(target, Classes) else "label_bounds"] * (target != self.schema.target)
        if changed:
            raise InvalidParameter(
                f"{', '.join(changed)} changed since this stream's first batch: it goes on with what it began with; a "
                "new stream (fit, or a clone) takes others, and gives every id a fresh budget"
            )

    def names(self, records: Records, ids: Any) -> Sequence[str | tuple[int, int]]:
        """Who the records of the next batch belong to. Errors: as `add`."""
        if ids is None:
            return [(self.batches, position) for position in range(records.size)]
        names = canonical(ids, "ids")
        if len(names) != records.size or len(set(names)) != len(names):
            raise InvalidRecords("ids: one id a record is needed, each at most once in a batch")
        return names

    def _admit(self, records: Records, known: NDArray[np.bool_], rows: NDArray[np.intp]) -> None:
        """New records and new content; both begin with the scores of what was released so far."""
        if self._population is None:
            self._population = Memory(records)
            outputs = tuple(range(self.schema.scores))
            self._population.tell(Begin(sgbdt.Contribution(self._params, self.schema), outputs))
            return
        released = self._ensembles()
        self._population.replace(rows, records.take(np.flatnonzero(known)), released)
        self._population.admit(records.take(np.flatnonzero(~known)), released)

    def _grow(self, output: int) -> None:
        """T_regular trees on the first batch, after its initial score; T_extra on each further one."""
        params, schema, population, trees = self._params, self.schema, self._population, self._trees[output]
        assert population is not None
        population.tell(Turn(output))
        if not self.batches:
            self._initial.append(sgbdt.initial_score(params, schema, population, self._curator))
        rounds = params.extra_trees if self.batches else params.trees
        trees.extend(sgbdt.grow(params, schema, len(trees), rounds, population, self._curator))

    def _ensembles(self) -> tuple[Ensemble, ...]:
        pairs = zip(self._initial, self._trees, strict=True)
        return tuple(sgbdt.ensemble(self._params, initial, trees) for initial, trees in pairs)

    def transcript(self) -> list[dict[str, Any]]:
        """Released outputs and public draws of all batches."""
        return self._curator.transcript.public()

    def spent(self) -> dict[str | tuple[int, int], float]:
        """Share of its budget that each id has spent, the largest over the scores. PRIVATE: for the data owner only.

        Ids as text; a record that came without one has the number of its batch and its place in it.
        Errors: as `check_whole`.
        """
        self.check_whole()
        if self._population is None:
            return {}
        shares = np.max([accounts.shares() for accounts in self._population.accounts()], axis=0)
        return {name: float(shares[row]) for name, row in self._row.items()}

    def __reduce_ex__(self, _: Any) -> Any:
        """Errors: TypeError. Two continuations of one stream draw the same noise, and each spends what is left."""
        raise TypeError(
            "a stream cannot be copied or pickled: a copy would draw the same noise and spend budgets again"
        )

    def __repr__(self) -> str:
        """Public figures only: neither records nor accounts."""
        return f"Stream(sgbdt, batches={self.batches})"


_TURN = "_turn"


def _alone(estimator: Any) -> AbstractContextManager[None]:
    """One thread at a time has the estimator's stream."""
    lock: Lock = vars(estimator).setdefault(_TURN, Lock(None))
    return lock.held()


class Streaming:
    """`partial_fit` and budget reports for estimators of S-GBDT."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """As the base: a run of its own. A stream from `partial_fit` ends; the next `partial_fit` begins another."""
        with _alone(self):
            fitted: Self = super().fit(X, y, sample_weight)  # type: ignore[misc]
            for name in ("private_stream_", "stream_elsewhere_"):
                vars(self).pop(name, None)
        return fitted

    def partial_fit(self, X: Any, y: Any, ids: Any = None, classes: Any = None) -> Self:
        """Train on with a batch of new records; ids: who each record belongs to, by default somebody new each.

        ids: whole numbers or texts, none missing; 1, 1.0 and "1" are one person (refdp/io/identities.py).
        classes: scikit-learn's convention: the public list, where the parameter `classes` is not given; or the same.
        Records and accounts stay in `private_stream_`, which is the data owner's and is left out of pickles.
        Parameters and certificate are those of the first batch; a batch without ids adds to what is assumed.
        extra_trees is 0 unless given: then the first batch spends the whole budget of its ids, and is the only one.
        Threads that share the estimator have one batch after the other.
        Warns: UtilityWarning at a first batch that no other can follow; RepeatedFitWarning for records that were fitted
        before, as far as that is seen, unless this stream has their ids.
        Errors: InvalidParameter for a further batch without public classes or label range, without extra trees, or with
        other parameters than the first;
        after a batch that was interrupted, since a stream is whole or goes on no more; and in a copy, as accounts that
        are not here cannot be charged, and fresh ones would let ids spend their budget again.
        """
        with (
            _alone(self),
            or_as_before(self, "private_stream_"),
        ):  # a stream that was left in its middle is known as one
            return self._partial_fit(X, y, ids, classes)

    def _partial_fit(self, X: Any, y: Any, ids: Any, classes: Any) -> Self:
        me: Any = self
        paper = registry.paper("sgbdt")
        no_budget(me.budget, "partial_fit")
        if getattr(me, "class_weight", None) is not None:
            raise InvalidParameter("class_weight in partial_fit: only fit takes weights")
        params = me._params(paper)
        begun: Stream | None = vars(self).get("private_stream_")
        if begun is None and hasattr(self, "stream_elsewhere_"):
            raise InvalidParameter(
                "partial_fit on a copy of an estimator: its stream stays with the original, and what each id has spent "
                "is not known here; sklearn.base.clone gives an estimator that begins anew"
            )
        if begun is not None:
            begun.check_whole()
            begun = begun if begun.batches else None  # interrupted before it touched a record
        public = self._public(classes, begun)
        lacking = self._lacking(params, public)
        if lacking and begun is None:
            spent = " and spends the whole budget of its ids" * (not params.extra_trees)
            warn(f"this batch is the stream's only one{spent}: a further batch needs {lacking}", UtilityWarning)
        frames.check_here(X, y, ids)
        frame = me._validated(X, reset=begun is None)
        if lacking and begun is not None:
            raise InvalidParameter(f"a further batch needs {lacking}; a new stream takes them")
        kind, label, unknown = me._target(frames.labels(y), public)
        if begun is not None:
            begun.check_same(me._params(paper, begun.schema), *frames.describe(frame, me.bounds or {}), kind)
        stream = begun or self._begun(paper, frame, kind, unknown)
        signs(me.monotone_constraints, stream.schema, params)
        records = make_records(stream.schema, frames.encode(frame, stream.schema.features), label)
        stream.names(records, ids)  # a batch that is refused begins no stream
        holder = None if ids is None else stream  # which cannot know strangers again
        repeated(holder, X, y)
        remember(holder, X, y)
        self.private_stream_ = stream
        if ids is None and STRANGERS not in stream.certificate.assumptions:
            stream.certificate = assuming(stream.certificate, STRANGERS)
        model = stream.add(records, ids)
        me.model_, me.certificate_ = constrained(model, stream.certificate, me.monotone_constraints)
        me.transcript_ = stream.transcript()
        return self

    def _lacking(self, params: sgbdt.Params, public: Any) -> str:
        """What a batch after the first needs and does not find, or "". public: classes or label range, or None."""
        me: Any = self
        lacking = ["extra_trees >= 1 (given: 0)"] * (not params.extra_trees) + [me._target_parameter] * (public is None)
        return " and ".join(lacking) + ", given before the first" * bool(lacking)

    def _public(self, classes: Any, begun: Stream | None) -> Any:
        """Classes or label range as far as they are public: the parameter, or `classes` of this batch or the first.

        Errors: InvalidParameter for classes of a regression, or others than the parameter's.
        """
        me: Any = self
        given = getattr(me, me._target_parameter)
        if classes is None:
            return me.classes_ if given is None and begun is not None and begun.public else given
        if me._regression:
            raise InvalidParameter("classes in partial_fit of a regressor: label_bounds=(low, high) gives its range")
        if given is not None and public_classes(classes).tolist() != public_classes(given).tolist():
            raise InvalidParameter(f"classes = {classes!r}: the parameter of that name has {given!r}")
        return classes

    def _begun(self, paper: registry.Paper, frame: Any, kind: Target, unknown: bool) -> Stream:
        me: Any = self
        generator = generator_for(me.insecure_seed)
        features, observed = frames.describe(frame, me.bounds or {})
        found = me._breaches(observed, unknown, me._target_parameter)
        schema = Schema(features, kind)
        params = me._params(paper, schema)
        if not params.stops():
            found.append(f"{sgbdt.NO_END}: no privacy guarantee holds for a stream")
            warn(found[-1], PrivacyWarning)
        issued = paper.certificate(params, schema)
        issued = issued.of_another(STREAM, issued.established)
        certificate = without_guarantee(assuming(issued, *seeded(generator)), found)
        stream = Stream(params, schema, source_for(params, generator), certificate)
        stream.observed, stream.public = observed, not unknown
        return stream

    def budget_report(self) -> dict[str, Any]:
        """What every record may spend, from parameters alone: safe to publish."""
        check_is_fitted(self)
        me: Any = self
        schema = me.model_.schema
        params = registry.paper("sgbdt").params(me.model_.params, as_published=False)
        budget = params.budget(schema)
        return {
            "epsilon": params.epsilon,
            "delta": params.delta,
            "epsilon of the initial score": params.epsilon * params.initial_share,
            "epsilon of the trees": budget.epsilon(params.delta, schema.scores),
            "sigma": budget.sigma,
            "orders": budget.orders.tolist(),
            "budget of a record at each order": budget.spendable.tolist(),
            "rounds that every record can pay": params.trees,
            "further rounds": params.extra_trees,
        }

    def private_budget_report(self) -> dict[str | tuple[int, int], float]:
        """Share of its budget that each id has spent after `partial_fit`. PRIVATE: for the data owner only."""
        check_is_fitted(self, "private_stream_")
        return self.private_stream_.spent()

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the private stream and its lock; a copy knows that there is one."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        elsewhere = {"stream_elsewhere_": True} if "private_stream_" in state else {}
        return {name: value for name, value in state.items() if name not in ("private_stream_", _TURN)} | elsewhere
