"""A lab's grade where there is one process for everything, as in a browser: what `labs/page/worker.js` calls.

The audit is the same as elsewhere but for one row: without processes of their own, runs after one another are not
compared with runs alone. So nothing passes here; the text says what is left for `python -m labs`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labs.grading import submitted, task
from refdp.audit.grade import Grade
from refdp.audit.verdicts import Verdict

FILE = "mine.py"


def graded(name: str, source: str) -> dict[str, Any]:
    """The grade of a submission's text: `found` if it is refused, `text` to show, and the audit's `report`.

    A text that cannot be run is refused with its error and has no report.
    """
    Path(FILE).write_text(source, encoding="utf-8")
    try:
        train = submitted(FILE)
    except Exception as error:
        return {"found": True, "text": f"{type(error).__name__}: {error}", "report": None}
    grade = task(name).grade(train)
    return {"found": bool(grade.report.violations), "text": said(name, grade), "report": grade.report.to_dict()}


def said(name: str, grade: Grade) -> str:
    """The grade in words; where nothing was found, what was looked at and what is left."""
    report = grade.report
    left = [row.what for row in report.coverage if row.verdict is Verdict.NOT_EXAMINED and row.decides]
    if report.violations or not left:
        return grade.text
    loss = "" if report.max_loss is None or report.delta else f" The run revealed {report.max_loss:.4g} at most."
    return (
        f"nothing found on {report.pairs} neighbouring pairs.{loss}\n"
        f"Not looked at here: {', '.join(left)}. To pass, `python -m labs {name} {FILE}` looks at that too."
    )
