"""A paper, parameters and violations made for tests of the audit of papers."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from refdp.audit.replay import Violation
from refdp.ledger.certificate import Guarantee
from refdp.noise.mechanisms import Laplace
from refdp.privacy.events import Relation, Release, Sensitivity

ADD = Relation.ADD_REMOVE


@dataclass(frozen=True)
class Params:
    relation: Relation = ADD
    trees: int = 6
    depth: int = 1
    candidates: str = "uniform"


def violation(kind: str = "cost", release_name: str = "x", declared: Any = 1.0, observed: Any = 2.0, loss: Any = 0.5,
              **witness: Any) -> Violation:  # fmt: skip
    return Violation(kind, release_name, declared, observed, loss, "claim", witness)


def release(name: str, scale: float = 1.0) -> Release:
    return Release(name, Laplace(scale), Sensitivity(1.0, 1, "test/claim", ADD))


def a_paper(claimed: Guarantee, **more: Any) -> Any:
    module = SimpleNamespace(__name__="refdp.papers.made", **more.pop("module", {}))
    printed = SimpleNamespace(AS_PUBLISHED={})
    certificate = SimpleNamespace(claimed=claimed, established=more.pop("established", claimed))
    given = {"name": "made", "module": module, "printed": printed, "certificate": lambda params, schema: certificate}
    return SimpleNamespace(**{**given, **more})
