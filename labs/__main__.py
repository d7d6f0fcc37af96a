"""`python -m labs`: the table of refusals and acceptances. `python -m labs LAB`: one lab's, submission by submission.

`python -m labs LAB mine.py` grades a student's file: status 0 if it passes, 1 if not, 2 for bad input, a file too
that cannot be run. What a file ends the process with has no say in the status.
`python -m labs --hand-out FOLDER` writes the labs without their solutions, grader included.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

from labs.grading import LABS, graded, lab, submitted, task
from labs.handout import hand_out
from refdp.audit.ending import keep_status, leave, stays


def table(names: tuple[str, ...]) -> int:
    """One line a lab: how many wrong submissions were refused, how many right ones accepted."""
    wrongly = 0
    print(f"{'lab':22} refused    accepted")
    for name in names:
        rows = list(graded(lab(name)))
        refused = [not grade.passed for _, right, grade in rows if not right]
        accepted = [grade.passed for _, right, grade in rows if right]
        wrongly += refused.count(False) + accepted.count(False)
        print(f"{name:22} {sum(refused):2} of {len(refused):2}   {sum(accepted):2} of {len(accepted):2}", flush=True)
        if len(names) == 1:
            for title, right, grade in rows:
                print(f"  {'right' if right else 'wrong'}, {title}: {grade.text.splitlines()[0]}")
    return 1 if wrongly else 0


def handed_out(target: Path) -> int:
    """Write the students' folder and say what they do with it."""
    try:
        hand_out(target)
    except OSError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{target}: {len(LABS)} labs without solutions; there: python -m labs LAB mine.py")
    return 0


def main(arguments: list[str]) -> int:
    """The exit status."""
    if arguments[:1] == ["--hand-out"] and len(arguments) == 2:
        return handed_out(Path(arguments[1]))
    unknown = [name for name in arguments[:1] if name not in LABS]
    if unknown or len(arguments) > 2:
        print(f"no lab {unknown[0] if unknown else arguments}: there are {', '.join(LABS)}", file=sys.stderr)
        return 2
    if len(arguments) < 2:
        try:
            return table(tuple(arguments) or LABS)
        except ModuleNotFoundError as error:
            print(f"{error}: solutions are kept apart; `python -m labs LAB mine.py` grades a file", file=sys.stderr)
            return 2
    try:
        with stays():
            train = submitted(arguments[1])
    except (Exception, SystemExit) as error:
        print(f"{arguments[1]} cannot be graded: {type(error).__name__}: {error}{_line(error)}", file=sys.stderr)
        return 2
    with stays():
        found = task(arguments[0]).grade(train)
    print(found.text)
    return 0 if found.passed else 1


def _line(error: BaseException) -> str:
    """The line that an error comes from, where it is one of a file that was run."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.name == "<module>"]
    return f" (line {frames[-1].lineno})" if frames else ""


if __name__ == "__main__":
    keep_status()
    status = main(sys.argv[1:])
    sys.stdout.flush()
    leave(status)
