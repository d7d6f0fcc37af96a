"""Trainers that leave an exact count in what a run made, through a whole audit, and one whose makings tell nothing."""

from __future__ import annotations

import enum
import functools
import types
from typing import Any

import numpy as np
import pytest

import refdp
from refdp.noise.mechanisms import DiscreteLaplace
from refdp.privacy.events import Sensitivity
from tests.audit.cheats.zoo import SCHEMA


def noisy(records: Any, curator: Any) -> float:
    declared = Sensitivity(1.0, 1, "", curator.relation)
    return float(curator.release("count", DiscreteLaplace(1.0, 2.0**-10), np.array([float(len(records.y))]),
                                 sensitivity=declared)[0])  # fmt: skip


def made(count: int) -> dict[str, Any]:
    """Whatever a run may make, each with a number in it."""
    module = types.ModuleType("model")
    module.rows = count  # type: ignore[attr-defined]
    error = ValueError("failed")
    error.__cause__ = KeyError(count)
    meta = type("Meta", (type,), {"rows": count})
    return {"cause": error, "behind": np.frombuffer(bytes([0, count]), np.uint8, 1), "metaclass": meta("Made", (), {}),
            "class": type("Model", (), {"rows": count}), "module": module, "method": str(count).upper,
            "code": eval(f"lambda: {count}"), "member": enum.Enum("E", {"ROWS": count})["ROWS"]}  # type: ignore[misc]  # fmt: skip


@pytest.mark.parametrize("place", [*made(1), "cache"])
def test_a_count_in_what_a_run_made_is_a_violation(place: str) -> None:
    def train(records: Any, curator: Any) -> Any:
        released = noisy(records, curator)
        if place != "cache":
            return {"z": released, "f": made(len(records.y))[place]}
        cached = functools.lru_cache(abs)
        for one in range(len(records.y)):
            cached(one)
        return {"z": released, "f": cached}

    report = refdp.audit_trainer(train, SCHEMA, 1.0, pairs=2, steps=0, first_only=True)
    assert {one.kind for one in report.violations} == {"published object"}
    assert all("result['f']" in one.release for one in report.violations)


def test_what_a_run_made_without_a_count_is_none() -> None:
    def train(records: Any, curator: Any) -> Any:
        return made(3) | {"z": noisy(records, curator), "cache": functools.lru_cache(abs)}

    report = refdp.audit_trainer(train, SCHEMA, 1.0, pairs=2, steps=0)
    row = next(row for row in report.coverage if row.what == "published object")
    assert not report.violations and row.verdict == "NOT FOUND"
