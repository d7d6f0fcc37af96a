"""The index of packages: every scope is a valid file, and the page says what the reports say."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.packages import audits
from benchmarks.packages.audits_page import letter, page, unaccepted
from refdp.audit.package import audit_package
from refdp.audit.package.scope import read


def test_there_are_fifteen_packages_with_quoted_claims() -> None:
    assert len(audits.names()) >= 15
    for name in audits.names():
        scope = read(audits.FOLDER / name / "audit.toml")
        assert len(scope.claim.statement) > 15 and scope.claim.address, name
        for entry in scope.entries:
            module, _, function = str(entry.target).partition(":")
            text = (audits.FOLDER / name / f"{module}.py").read_text()
            assert f"def {function}(records, seed):" in text, (name, entry.name)


@pytest.fixture(scope="module")
def reports() -> dict[str, Any]:
    toy = audits.Path(__file__).parent / "toy" / "audit.toml"
    found = audit_package(toy, only="count", stages=("structural",)).to_dict()
    return {"toydp": found, "absent": {"error": "not installed"}}


def test_the_page_tells_verdict_line_witness_and_what_is_missing(reports: dict[str, Any]) -> None:
    text = page(reports)
    assert "**1 packages at 1 entry points; 1 of them do not keep what they state, at 1 entry" in text
    for words in ("| VIOLATION |", "`toydp.py:", "is epsilon-differentially private", "from wrappers import",
                  "absent (not installed)", "dp-xgboost"):  # fmt: skip
        assert words in text, words
    accepted = {**reports["toydp"], "findings": [{**f, "accepted": "known"} for f in reports["toydp"]["findings"]]}
    assert unaccepted(accepted) == [] and "Accepted: known" in page({"toydp": accepted})
    assert "Dear authors of toydp" in letter("toydp", reports["toydp"])
