"""What an estimator does with a shared budget, and without one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from refdp.accounting.budget import PrivacyBudget, ScopedBudget
from refdp.errors import InvalidParameter
from refdp.faces.registry import Paper
from refdp.ledger.certificate import Certificate

if TYPE_CHECKING:
    from refdp.data.records import Schema


def charge(
    budget: Any, paper: Paper, params: Any, certificate: Certificate, schema: Schema, *, kept: bool = True
) -> None:
    """Charge a run before anything is released. kept: False to refuse what cannot be charged, and charge nothing.

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
    take = budget.charge if kept else budget.check
    take(paper.plan(params, schema), established=(found.epsilon, found.delta), name=paper.name)


def no_budget(budget: Any, where: str) -> None:
    """Errors: InvalidParameter for a budget where runs cannot be charged to one."""
    if budget is not None:
        raise InvalidParameter(f"{where} with a budget: only a whole fit can be charged to one")
