"""The audit pages say what was found, where, against which statement, and what was checked without a finding."""

from __future__ import annotations

from typing import Any

from benchmarks import blackbox_against_replay, peers_audits
from benchmarks.packages.page import letter, page

CHECK = {
    "package": "noisy",
    "data": "adult",
    "question": "exact counts?",
    "outcome": "found",
    "where": "model.n",
    "evidence": "exact statistic: 40 against 39 | a bar",
    "statement": "“ε-DP”",
}
RESULT = {"package": "noisy", "version": "1.2", "environment": "Python 3.", "seconds": 2.0}


def test_findings_and_their_absence_are_told_apart() -> None:
    absent = CHECK | {"outcome": "not found", "question": "reused noise?", "evidence": "120 runs a side"}
    text = page([RESULT | {"checks": [CHECK, absent]}])
    assert "| noisy | 1.2 | adult | 2 | 1 | 0 | 1 | 2 |" in text
    found, rest = text.split("Checked and not found:")
    assert "Statement: “ε-DP”." in found and "`model.n`" in found and "39 \\| a bar" in found
    assert "reused noise?" in rest and "model.n" not in rest
    assert "Checked and not found" not in page([RESULT | {"checks": [CHECK]}])
    sent = letter(RESULT | {"checks": [CHECK, absent]})
    assert "**Exact counts?** On adult, at `model.n`: exact" in sent and "reused noise?" not in sent


def test_rows_against_replay() -> None:
    replayed = {"kinds": ["options"], "runs": 4, "loss": "inf", "epsilon": 1.0, "delta": 0.0, "seconds": 1.0}
    bound = {"lower": 1.5, "refuted": True, "samples": 2000, "seconds": 3.0}
    row: dict[str, Any] = {"paper": "dpboost", "variant": "candidates = data", "relation": "add-remove"}
    seen = row | {"replay": replayed, "black box": bound}
    missed = row | {"replay": replayed, "black box": bound | {"refuted": False, "lower": 0.2}}
    clean = row | {"replay": replayed | {"kinds": []}, "black box": None}
    unstated = blackbox_against_replay.page([row | {"replay": replayed | {"loss": None}, "black box": bound}])
    assert "| options | not stated | 4 | 1.5 |" in unstated
    text = blackbox_against_replay.page([seen, missed, clean])
    assert "violation in 2 of 3 variants; of these the black box sees 1. Of the 1 that it does not see, 0 lose" in text
    assert "| options | inf | 4 | 1.5 | 4,000 | 3 | 1,000 |" in text
    assert "| options | inf | 4 | 0.2, not seen | 4,000 | 3 | > 1,000 |" in text
    assert "dpboost: candidates = data (add-remove)" in text.split("No violation")[1]


def test_the_page_of_peers_counts_the_cells_in_which_refdp_is_not_behind() -> None:
    cells = [
        (name, who, size) for name in peers_audits.NAMES for who in peers_audits.AUDITORS for size in peers_audits.SIZES
    ]
    rows = [{"name": n, "auditor": who, "size": s, "bound": 1.0 + (who == "refdp")} for n, who, s in cells]
    text = peers_audits.page(rows)
    assert f"in {len(rows) // 2} of {len(rows) // 2} cells" in text and "is behind" not in text
    rows[0] |= {"bound": 0.5}
    text = peers_audits.page(rows)
    assert f"in {len(rows) // 2 - 1} of {len(rows) // 2} cells" in text
    assert "refdp is behind in: Laplace count, scale x 0.5 at 1,000 runs" in text
