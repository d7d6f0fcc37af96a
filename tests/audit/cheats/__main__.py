"""Audit the whole zoo of trainers, and write docs/audit-zoo.md: `python -m tests.audit.cheats`.

Every cheat has to be a violation and no correct trainer may be one; exit status 1 otherwise.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import refdp
from refdp.audit.trainer import TrainerReport
from refdp.audit.verdicts import Verdict
from tests.audit.cheats.contents import CONTENTS
from tests.audit.cheats.drawn import DRAWN
from tests.audit.cheats.first import FIRST
from tests.audit.cheats.fourth import FOURTH, LOCAL
from tests.audit.cheats.honest import HONEST
from tests.audit.cheats.second import SECOND
from tests.audit.cheats.third import THIRD, UNREADABLE
from tests.audit.cheats.zoo import SCHEMA, Entered

PAGE = Path(__file__).parents[3] / "docs" / "audit-zoo.md"
CHEATS = {
    name: cheat for name, cheat in (FIRST | SECOND | CONTENTS | THIRD | FOURTH).items()
    if cheat.kind != "not examined" and name not in (*UNREADABLE, *LOCAL)
}  # fmt: skip
CORRECT = HONEST | DRAWN
HEAD = """# The zoo of trainers

Written by `python -m tests.audit.cheats`, which `make audits` runs; no figure is typed by hand. Every trainer is given
to `refdp.audit_trainer`: {cheats} that cheat in {kinds} kinds of ways (up to 60 pairs and 96 in short, until the first
violation), and {honest} correct ones (8 pairs and 8 in short): settings of five papers drawn at random,
participants, mechanisms, foreign functions. {found} of the cheats were accused, {accused} of the correct ones.
All took {seconds:.0f} seconds of processor time.

| kind | cheat | accused of | pairs |
|---|---|---|---|
"""


def audited(entered: Entered, honest: bool) -> TrainerReport:
    """One audit, short for a correct trainer."""
    search = {"pairs": 8, "steps": 8} if honest else {"pairs": 60, "steps": 96, "first_only": True}
    return refdp.audit_trainer(entered.train, SCHEMA, entered.epsilon, entered.delta, **search)  # type: ignore[arg-type]


def main() -> int:
    """Audit all, write the page."""
    start, lines, missed, accused = _seconds(), list[str](), list[str](), list[str]()
    for name, cheat in sorted(CHEATS.items(), key=lambda one: (one[1].kind, one[0])):
        report = audited(cheat, honest=False)
        print(name, report.verdict, f"{_seconds() - start:.0f} s", file=sys.stderr, flush=True)
        kinds = ", ".join(dict.fromkeys(violation.kind for violation in report.violations))
        lines.append(f"| {cheat.kind} | {name.replace('_', ' ')} | {kinds or str(report.verdict)} | {report.pairs} |")
        if report.verdict is not Verdict.VIOLATION:
            missed.append(name)
    for name, honest in CORRECT.items():
        report = audited(honest, honest=True)
        print(name, report.verdict, f"{_seconds() - start:.0f} s", file=sys.stderr, flush=True)
        if report.violations:
            accused.append(name)
    kinds = {cheat.kind for cheat in CHEATS.values()}
    head = HEAD.format(cheats=len(CHEATS), kinds=len(kinds), honest=len(CORRECT), found=len(CHEATS) - len(missed),
                       accused=len(accused), seconds=_seconds() - start)  # fmt: skip
    PAGE.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    print("missed:", missed, "accused:", accused, file=sys.stderr)
    return int(bool(missed or accused))


def _seconds() -> float:
    return time.process_time() + sum(os.times()[2:4])


if __name__ == "__main__":
    sys.exit(main())
