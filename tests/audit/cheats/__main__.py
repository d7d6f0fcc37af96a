"""Audit the whole zoo of trainers, and write docs/audit-zoo.md: `python -m tests.audit.cheats`.

Every cheat has to be a violation and no correct trainer may be one; exit status 1 otherwise. Takes about 10 minutes of
a core; `--resume` goes on where a run was ended.
"""

from __future__ import annotations

import sys
from pathlib import Path

import refdp
from refdp.audit.trainer import TrainerReport
from refdp.audit.verdicts import Verdict
from tests.audit.cheats.contents import CONTENTS
from tests.audit.cheats.drawn import DRAWN
from tests.audit.cheats.eighth import EIGHTH
from tests.audit.cheats.fifth import FIFTH, UNEXAMINED
from tests.audit.cheats.first import FIRST
from tests.audit.cheats.fourth import FOURTH, LOCAL, STRANGE
from tests.audit.cheats.honest import HONEST
from tests.audit.cheats.second import SECOND
from tests.audit.cheats.seventh import SEVENTH
from tests.audit.cheats.sixth import BEYOND, SIXTH
from tests.audit.cheats.suspicious import SUSPICIOUS
from tests.audit.cheats.third import THIRD
from tests.audit.cheats.zoo import SCHEMA, Entered
from tests.audit.figures import kept

PAGE = Path(__file__).parents[3] / "docs" / "audit-zoo.md"
ALL = FIRST | SECOND | CONTENTS | THIRD | FOURTH | FIFTH | SIXTH | SEVENTH | EIGHTH
CHEATS = {
    name: cheat for name, cheat in ALL.items()
    if cheat.kind != "not examined" and name not in (*LOCAL, *STRANGE, *UNEXAMINED, *BEYOND)
}  # fmt: skip
CORRECT = HONEST | DRAWN | SUSPICIOUS
KEPT = "zoo"
HEAD = """# The zoo of trainers

**{found} of {cheats} trainers that cheat are accused, and {accused} of {honest} correct ones.**

| question | answer |
|---|---|
| what cheats look like | the table below, by kind |
| how small a violation is found | [figures about audits](audit-figures.md#power) |
| what the words mean | [verdicts](verdicts.md) |

Written by `python -m tests.audit.cheats`, which `make audits` runs; no figure is typed by hand. Every trainer is given
to `refdp.audit_trainer`: {cheats} that cheat in {kinds} kinds of ways (up to 60 pairs and 96 in short, until the first
violation), and {honest} of {correct} correct ones (8 pairs and 8 in short): settings of five papers drawn at random,
participants, mechanisms, foreign functions. {found} of the cheats were accused, {accused} of the correct ones.
All took {seconds:.0f} seconds of processor time.

| kind | cheat | accused of | pairs |
|---|---|---|---|
"""


def audited(entered: Entered, honest: bool) -> TrainerReport:
    """One audit, short for a correct trainer."""
    search = {"pairs": 8, "steps": 8} if honest else {"pairs": 60, "steps": 96, "first_only": True}
    return refdp.audit_trainer(entered.train, SCHEMA, entered.epsilon, entered.delta, **search)  # type: ignore[arg-type]


def main(*arguments: str) -> int:
    """Audit all, or with `--resume` those that an ended run left out, and write the page."""
    if "--resume" not in arguments:
        kept.forget(KEPT)
    done = kept.load(KEPT)
    for name, entered in (CHEATS | CORRECT).items():
        if name in done:
            continue
        start = kept.processor_seconds()
        report = audited(entered, honest=name in CORRECT)
        kinds = list(dict.fromkeys(violation.kind for violation in report.violations))
        seconds = kept.processor_seconds() - start
        kept.keep(KEPT, name, verdict=str(report.verdict), kinds=kinds, pairs=report.pairs, seconds=round(seconds, 2))
        print(name, report.verdict, f"{seconds:.1f} s", file=sys.stderr, flush=True)
    return int(not write())


def write() -> bool:
    """The page, of the results that are kept; whether every cheat is a violation and no correct trainer is."""
    done = {name: found for name, found in kept.load(KEPT).items() if name in CHEATS | CORRECT}
    rows, missed = list[str](), list[str]()
    for name, cheat in sorted(CHEATS.items(), key=lambda one: (one[1].kind, one[0])):
        if name in done:
            found = done[name]
            accused_of = ", ".join(found["kinds"]) or found["verdict"]
            rows.append(f"| {cheat.kind} | {name.replace('_', ' ')} | {accused_of} | {found['pairs']} |")
            missed += [name] if found["verdict"] != str(Verdict.VIOLATION) else []
    accused = [name for name in CORRECT if name in done and done[name]["kinds"]]
    run = [cheat for name, cheat in CHEATS.items() if name in done]
    head = HEAD.format(cheats=len(run), kinds=len({cheat.kind for cheat in run}), accused=len(accused),
                       honest=sum(name in done for name in CORRECT), correct=len(CORRECT), found=len(run) - len(missed),
                       seconds=sum(found["seconds"] for found in done.values()))  # fmt: skip
    PAGE.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    print("missed:", missed, "accused:", accused, file=sys.stderr)
    return not missed and not accused


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
