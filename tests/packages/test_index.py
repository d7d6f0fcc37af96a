"""The index of packages: every scope is a valid file, and the page says what the reports say."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from benchmarks.packages import audits, kept, published
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
                  "| absent | not installed |", "| dpmm | 0.1.9 is offered", "dp-xgboost"):  # fmt: skip
        assert words in text, words
    accepted = {**reports["toydp"], "findings": [{**f, "accepted": "known"} for f in reports["toydp"]["findings"]]}
    assert unaccepted(accepted) == [] and "Accepted: known" in page({"toydp": accepted})
    assert "Dear authors of toydp" in letter("toydp", reports["toydp"])
    assert "come from\n\nline 3" in letter("toydp", reports["toydp"], "line 3\n")


def test_a_package_that_was_not_run_again_keeps_its_row_and_section(reports: dict[str, Any], tmp_path: Any) -> None:
    written = tmp_path / "page.md"
    written.write_text(page(reports))
    held = kept.parts(written, ["toydp", "absent"])
    assert set(held) == {"toydp"} and held["toydp"].cells[3:5] == ["1", "1"]
    again = {"toydp": {"error": "its audit was not run"}, "absent": reports["absent"]}
    assert page(again, held) == written.read_text()
    assert "its audit was not run" in page(again)


def test_findings_in_published_programs_name_commit_line_and_how_they_were_seen() -> None:
    text = (audits.ROOT / "docs" / "audit-published.md").read_text()
    for program in tomllib.loads(published.FINDINGS.read_text())["program"]:
        assert re.fullmatch("[0-9a-f]{40}", program["commit"]) and program["commit"] in text
        for one in program["finding"]:
            assert (
                re.search(r"\.\w+:\d", one["where"]) and f"**{one['title']}** ({one['class']}; {one['seen']})" in text
            )
            assert ("shown" in one) == (one["seen"] == "run") and one["seen"] in ("run", "read")
            assert one.get("figure", "gain") in published.FIGURES
    (low, high), gain = published.gain_changes(1.0)
    assert -3 < low < -2.9 and 0.9 < high <= 1 and 3.9 < gain < 4
