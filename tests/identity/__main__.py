"""`python -m tests.identity write|check [paper ...]`: digests of kept models, and whether they are still the same."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from time import process_time

from tests.identity.running import outcome
from tests.identity.settings import COUNT, PAPERS, settings

KEPT = Path(__file__).parent / "kept"


def kept(paper: str) -> list[dict[str, str]]:
    """The digests of a paper's settings, in order."""
    found: list[dict[str, str]] = json.loads((KEPT / f"{paper}.json").read_text(encoding="utf-8"))
    return found


def differences(paper: str, numbers: Iterable[int]) -> list[str]:
    """What is not as it was, each with its setting."""
    before, found = kept(paper), []
    for number in numbers:
        try:
            now = outcome(paper, number)
        except Exception as error:  # any error is a difference, and the others are still to be seen
            now = {"error": repr(error)}
        changed = sorted(key for key in {*now, *before[number]} if now.get(key) != before[number].get(key))
        if changed:
            found.append(f"{paper} {number}: {', '.join(changed)} {now.get('error', '')} {settings(paper, number)}")
    return found


def write(paper: str) -> None:
    """All digests of a paper, one setting a line. A setting that fails stops it."""
    lines = [json.dumps(outcome(paper, number), sort_keys=True) for number in range(COUNT)]
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{paper}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def main(command: str, *papers: str) -> int:
    """0 if everything is as it was."""
    failed = 0
    for paper in papers or PAPERS:
        start = process_time()
        if command == "write":
            write(paper)
        changed = differences(paper, range(COUNT)) if command == "check" else []
        print(
            "\n".join([*changed, f"{paper}: {COUNT} settings, {len(changed)} changed, {process_time() - start:.1f} s"])
        )
        failed += bool(changed)
    return failed


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("write", "check") or not set(sys.argv[2:]) <= set(PAPERS):
        sys.exit("python -m tests.identity write|check [" + "|".join(PAPERS) + " ...]")
    sys.exit(main(*sys.argv[1:]))
