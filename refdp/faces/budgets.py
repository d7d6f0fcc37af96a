"""What an estimator does with a shared budget, and without one."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from refdp.accounting.budget import PrivacyBudget, ScopedBudget
from refdp.errors import InvalidParameter, RepeatedFitWarning
from refdp.faces.registry import Paper
from refdp.faces.warned import warn
from refdp.ledger.certificate import Certificate

if TYPE_CHECKING:
    from refdp.data.records import Schema

_fitted: dict[int, weakref.ref[Any]] = {}
"""Objects that a fit without a budget was given, by identity: what they hold is not looked at."""


_named: dict[int, tuple[weakref.ref[Any], weakref.ref[PrivacyBudget], str]] = {}
"""Objects that a fit under a name of a budget was given, with that name."""


def charge(budget: Any, paper: Paper, params: Any, certificate: Certificate, schema: Schema) -> None:
    """Charge a run before it touches a record.

    Errors: BudgetExceeded; InvalidParameter where nothing is established of the run, or for another kind of budget.
    """
    if budget is None:
        return
    if not isinstance(budget, PrivacyBudget | ScopedBudget):
        raise InvalidParameter(f"budget = {budget!r}: a refdp.PrivacyBudget, its on(...) or None is allowed")
    found = certificate.established
    if not math.isfinite(found.epsilon):
        reasons = "; ".join(certificate.notes) or "its plan has no finite cost"
        raise InvalidParameter(f"a run of which nothing is established cannot be charged to a budget: {reasons}")
    budget.charge(paper.plan(params, schema), established=(found.epsilon, found.delta), name=paper.name)


def repeated(budget: Any, *objects: Any) -> None:
    """Warns: RepeatedFitWarning for a second fit on the same object X or y while no budget holds the fits together, or
    while one holds them under two names, which stand for sets without a common record."""
    if isinstance(budget, ScopedBudget):
        _under_one_name(budget, objects)
    if budget is not None:
        return
    again = [one for one in objects if (known := _fitted.get(id(one))) is not None and known() is one]
    if again:
        text = (
            "these records were fitted before and no budget holds the fits together: every certificate is about its "
            "own fit alone; give all of them the same budget=refdp.PrivacyBudget(...)"
        )
        warn(text, RepeatedFitWarning)
    for one in objects:
        try:
            _fitted[id(one)] = weakref.ref(one, _forgotten(_fitted, id(one)))
        except TypeError:  # lists and scalars are not followed
            continue


def _under_one_name(budget: ScopedBudget, objects: tuple[Any, ...]) -> None:
    for one in objects:
        key, held = id(one), budget.budget
        known = _named.get(key)
        if known is not None and known[0]() is one and known[1]() is held and known[2] != budget.scope:
            text = (
                f"these records were fitted under the name {known[2]!r} of the same budget and now are under "
                f"{budget.scope!r}: names stand for sets without a common record, so that too little is charged"
            )
            warn(text, RepeatedFitWarning)
            return
    for one in objects:
        try:
            forget = _forgotten(_named, id(one))
            _named[id(one)] = weakref.ref(one, forget), weakref.ref(budget.budget), budget.scope
        except TypeError:
            continue


def _forgotten(held: dict[int, Any], key: int) -> Callable[[Any], None]:
    def forget(_: Any) -> None:
        held.pop(key, None)

    return forget


def no_budget(budget: Any, where: str) -> None:
    """Errors: InvalidParameter for a budget where runs cannot be charged to one."""
    if budget is not None:
        raise InvalidParameter(f"{where} with a budget: only a whole fit can be charged to one")
