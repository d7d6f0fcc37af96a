"""An entry point that fails on the way takes no finding of another one with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from refdp.audit.package import audit_package
from refdp.audit.verdicts import Verdict

WRAPPERS = """
calls = 0

def exact(records, seed):
    return float(len(records))

def later(records, seed):
    global calls
    calls += 1
    if calls > 20:
        raise {error}
    return seed % 7
"""
TOML = """
[package]
name = "shoplater"
version = "1.0"
[claim]
statement = "eps"
address = "shoplater.py"
epsilon = 1.0
[[entry]]
name = "later"
callable = "{module}:later"
records = [[10.5], [11.0], [11.5]]
bounds = [[10, 12]]
[[entry]]
name = "exact"
callable = "{module}:exact"
records = [[10.5], [11.0], [11.5]]
bounds = [[10, 12]]
"""


@pytest.mark.parametrize(("place", "error"), [(0, "RuntimeError('no licence')"), (1, "SystemExit(0)")])
def test_the_others_are_examined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int, error: str) -> None:
    module = f"failing_later_{place}"
    (tmp_path / f"{module}.py").write_text(WRAPPERS.format(error=error), encoding="utf-8")
    (tmp_path / "shoplater.py").write_text("", encoding="utf-8")
    (tmp_path / "audit.toml").write_text(TOML.format(module=module), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    report = audit_package(tmp_path / "audit.toml", stages=["black box"] if place == 0 else ["structural", "black box"])
    later, exact = report.entries
    assert (later.verdict, exact.verdict) == (Verdict.NOT_EXAMINED, Verdict.VIOLATION) and report.status == 1
    assert ("licence" if place == 0 else "ended the program with status 0") in str(later.figures["error"])
