"""Training on records of several owners, each behind its own door, with messages in between."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from refdp import frames, registry
from refdp.curator import Curator
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.journal import MemoryJournal
from refdp.papers import inprivate
from refdp.papers.inprivate_owners import Owner, certificate, rules_of
from refdp.papers.inprivate_quality import Control
from refdp.papers.inprivate_rounds import conduct
from refdp.records import Records, Schema, make_records
from refdp.training import generator_of, source_for, without_guarantee
from refdp.trees import Model


class Owned:
    """`fit` with the owner of every record, for estimators of InPrivate Digging."""

    def fit(self, X: Any, y: Any, groups: Any = None, control: Control | None = None) -> Self:
        """Train on records. groups: the owner of each record; who the owners are is public, and so is their order, that
        of the sorted names. Without groups records are dealt to `owners` at random. control: how the owners refuse
        trees that make things worse, and when the rounds end; privately, a share of each owner's records is kept back.

        The guarantee with groups is about one record of one owner; who has records at several owners pays at each.
        Fitted besides: messages_, the bytes of all messages; transcript_ holds one list of released outputs an owner.
        Errors: InvalidRecords unless there is one group a record; InvalidParameter for control without groups.
        """
        if groups is None and control is not None:
            raise InvalidParameter("control without groups: owners are needed who check each other's trees")
        if groups is None:
            fitted: Self = super().fit(X, y)  # type: ignore[misc]
            return fitted
        me: Any = self
        paper = registry.paper("inprivate")
        names, member = np.unique(_owners_of(groups, y), return_inverse=True)
        params = replace(paper.params(me._settings(paper), as_published=me.as_published), owners=len(names))
        frame = me._validated(X, reset=True)
        features, observed = frames.describe(frame, me.bounds or {})
        target, label, unknown = me._target(frames.labels(y))
        breaches = me._breaches(observed, unknown, me._target_parameter)
        records = make_records(Schema(features, target), frames.encode(frame, features), label)
        parts = [records.take(np.flatnonzero(member == owner)) for owner in range(len(names))]
        self.model_, self.transcript_, self.messages_ = among(params, parts, me.random_state, control)
        self.certificate_ = without_guarantee(certificate(params, records.schema, control), breaches)
        return self


def _owners_of(groups: Any, y: Any) -> Any:
    if y is None:
        raise InvalidRecords("fit requires y to be passed, but the target y is None")
    try:
        check_consistent_length(groups, y)
    except (TypeError, ValueError) as error:
        raise InvalidRecords(f"groups: one owner a record is needed: {error}") from None
    return column_or_1d(groups)


def among(
    params: inprivate.Params, parts: list[Records], seed: Any, control: Control | None
) -> tuple[Model, list[Any], list[bytes]]:
    """One run among these owners: the model, each owner's released outputs, all messages.

    With a seed every owner's randomness is a child of one generator, for repeatable runs; without, fresh entropy.
    """
    schema = parts[0].schema
    seeds = [None] * len(parts) if seed is None else generator_of(seed).spawn(len(parts))
    curators = [Curator(source_for(params, each), params.relation) for each in seeds]
    rules = rules_of(params, schema)
    with ExitStack() as doors:
        owners = [
            Owner.behind(doors, rules, params, position, part, curator, MemoryJournal(), control=control)
            for position, (part, curator) in enumerate(zip(parts, curators, strict=True))
        ]
        with np.errstate(all="ignore"):  # no warning may depend on a private value
            outcome = conduct(params, rules, owners, control=control)
    return outcome.model, [curator.transcript.public() for curator in curators], [sent.data for sent in outcome.log]
