"""Audits: of refdp's own training by exact replay, of anyone's code by runs.

Replay: `refdp.audit.replay`, `refdp.audit.report`. Black box: `epsilon_lower_bound`, with the mechanisms of
`refdp.audit.zoo` to measure auditors by. Foreign code opened: `opened`, `noise`, `audit_opened`; without statistics:
`refdp.audit.structural`. Everything is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from refdp.audit import zoo
    from refdp.audit.blackbox import Bound, epsilon_lower_bound
    from refdp.audit.declared_filter import Filter
    from refdp.audit.onerun import one_run_lower_bound
    from refdp.audit.onerun_tradeoff import isolated_gaussian_lower_bound, one_run_gaussian_lower_bound
    from refdp.audit.opened_door import noise, opened
    from refdp.audit.opened_replay import audit_opened
    from refdp.audit.runs import InputPair, Vectorised
    from refdp.audit.tradeoff import gaussian_lower_bound

CONFIDENCE = 0.999999
"""Of a lower bound, unless told otherwise."""

_HOME = {
    "Bound": "blackbox",
    "Filter": "declared_filter",
    "InputPair": "runs",
    "Vectorised": "runs",
    "audit_opened": "opened_replay",
    "epsilon_lower_bound": "blackbox",
    "gaussian_lower_bound": "tradeoff",
    "noise": "opened_door",
    "isolated_gaussian_lower_bound": "onerun_tradeoff",
    "one_run_gaussian_lower_bound": "onerun_tradeoff",
    "one_run_lower_bound": "onerun",
    "opened": "opened_door",
}

__all__ = [
    "CONFIDENCE",
    "Bound",
    "Filter",
    "InputPair",
    "Vectorised",
    "audit_opened",
    "epsilon_lower_bound",
    "gaussian_lower_bound",
    "isolated_gaussian_lower_bound",
    "noise",
    "one_run_gaussian_lower_bound",
    "one_run_lower_bound",
    "opened",
    "zoo",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    if name == "zoo":
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
