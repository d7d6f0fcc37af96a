"""Training on records of several owners, each behind its own door, with messages in between."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length

from refdp.data.records import Model, Records, Schema, make_records
from refdp.errors import InvalidParameter, InvalidRecords, PrivacyWarning
from refdp.faces import registry
from refdp.faces.budgets import no_budget
from refdp.faces.estimators.settings import unweighed
from refdp.faces.estimators.whole import or_as_before
from refdp.faces.monotone import check_constraints, constrained, signs
from refdp.faces.repeats import remember, repeated
from refdp.faces.seeds import generator_for, seeded
from refdp.faces.strength import warn_of_noise
from refdp.faces.training import assuming, source_for, without_guarantee
from refdp.faces.warned import warn
from refdp.io import frames
from refdp.io.identities import canonical
from refdp.papers import inprivate
from refdp.privacy.curator import Curator
from refdp.protocols.journal import MemoryJournal
from refdp.protocols.owners import Owner, certificate, rules_of, shares
from refdp.protocols.quality import Control
from refdp.protocols.rounds import conduct


class Owned:
    """`fit` with the owner of every record, for estimators of InPrivate Digging."""

    @unweighed
    def fit(self, X: Any, y: Any, groups: Any = None, control: Control | None = None) -> Self:
        """Train on records. groups: the owner of each record, one of the names in `owners` (refdp/io/identities.py).
        Who the owners are is public, and so is their order, that of `owners`; an owner without records takes part like
        the others, since how many trees and messages there are may not depend on who has records. Without groups
        records are dealt at random to as many owners as the number `owners` says. control: how the owners refuse trees
        that make things worse, and when the rounds end; privately, a share of each owner's records is kept back.

        The guarantee with groups is about one record of one owner; who has records at several owners pays at each.
        Fitted besides: messages_, the bytes of all messages, whose trees are those before monotone_constraints moved
        leaf values; transcript_ holds one list of released outputs an owner.
        Errors: InvalidRecords unless there is one stated owner a record; InvalidParameter for control or names of
        owners without groups, and for turn_budget="amplified" with private control.
        Warns: PrivacyWarning for groups of owners that are not stated: no guarantee holds;
        RepeatedFitWarning and UtilityWarning as without groups.
        """
        me: Any = self
        stated = stated_owners(me.owners)
        if groups is None and (control is not None or stated is not None):
            given = "control" if stated is None else "names in owners"
            raise InvalidParameter(f"{given} without groups: groups says which owner has which record")
        if groups is None:
            fitted: Self = super().fit(X, y)  # type: ignore[misc]
            vars(self).pop("messages_", None)
            return fitted
        with or_as_before(self):
            return self._fit_among(X, y, groups, control, stated)

    def _fit_among(self, X: Any, y: Any, groups: Any, control: Control | None, stated: list[str] | None) -> Self:
        me: Any = self
        paper = registry.paper("inprivate")
        no_budget(me.budget, "fit with groups")
        me._params(paper)  # whatever is wrong with them is said before any record is touched
        check_constraints(me.monotone_constraints)
        measures = control is not None and control.private
        if measures and me.turn_budget is not None:
            shares(me._params(paper), control)
        frames.check_here(X, y, groups)
        generator = generator_for(me.insecure_seed)
        member = _owners_of(groups, y)
        names = sorted(set(member)) if stated is None else stated
        if not set(member) <= set(names):
            raise InvalidRecords("groups: the owner of a record is not among the stated owners")
        frame = me._validated(X, reset=True)
        features, observed = frames.describe(frame, me.bounds or {})
        target, label, unknown = me._target(frames.labels(y))
        schema = Schema(features, target)
        params = replace(me._params(paper, schema), owners=len(names))
        signs(me.monotone_constraints, schema, params)
        breaches = me._breaches(observed, unknown, me._target_parameter) + _breaches(stated)
        params = replace(params, turn_budget="whole") if measures else params  # no record is left unused
        records = make_records(schema, frames.encode(frame, features), label)
        parts = [records.take([row for row, owner in enumerate(member) if owner == name]) for name in names]
        repeated(None, X, y, by=self)
        warn_of_noise(paper, params, records.schema, me.rows.item() if isinstance(me.rows, np.generic) else me.rows)
        remember(None, X, y, by=self)
        model, self.transcript_, self.messages_ = among(params, parts, generator, control)
        issued = assuming(certificate(params, records.schema, control), *seeded(generator))
        issued = without_guarantee(issued, breaches)
        self.model_, self.certificate_ = constrained(model, issued, me.monotone_constraints)
        return self

    def _settings(self, paper: registry.Paper, **keywords: Any) -> dict[str, Any]:
        """As the base; the number of the stated owners stands for their names."""
        settings: dict[str, Any] = super()._settings(paper, **keywords)  # type: ignore[misc]
        stated = stated_owners(settings.get("owners"))
        return settings if stated is None else settings | {"owners": len(stated)}


def stated_owners(owners: Any) -> list[str] | None:
    """The names, or None where a number is given. Errors: InvalidParameter for a name that is none or comes twice."""
    if isinstance(owners, str) or not hasattr(owners, "__iter__"):
        return None
    try:
        names = canonical(owners, "owners")
    except InvalidRecords as error:
        raise InvalidParameter(str(error)) from None
    if not names or len(set(names)) < len(names):
        raise InvalidParameter("owners: at least one name is needed, and each once (1, 1.0 and '1' are one name)")
    return names


def _breaches(stated: list[str] | None) -> list[str]:
    """That the owners were read off the records, which warns."""
    if stated is not None:
        return []
    found = (
        "the owners were taken from groups (give owners=[...], those without records too): no privacy guarantee holds"
    )
    warn(found, PrivacyWarning)
    return [found]


def _owners_of(groups: Any, y: Any) -> list[str]:
    """Errors: InvalidRecords unless there is one name a record."""
    if y is None:
        raise InvalidRecords("fit requires y to be passed, but the target y is None")
    names = canonical(groups, "groups")
    try:
        check_consistent_length(names, y)
    except (TypeError, ValueError) as error:
        raise InvalidRecords(f"groups: one owner a record is needed: {error}") from None
    return names


def among(
    params: inprivate.Params, parts: list[Records], generator: np.random.Generator | None, control: Control | None
) -> tuple[Model, list[Any], list[bytes]]:
    """One run among these owners: the model, each owner's released outputs, all messages.

    Every owner's randomness is a child of the generator, for repeatable runs; without one, fresh entropy.
    """
    schema = parts[0].schema
    seeds = [None] * len(parts) if generator is None else generator.spawn(len(parts))
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
