"""A lab and its grading: the task's budget, its submissions, and what `refdp.grade` says of each."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labs.cheats import CHEATS, Train
from refdp import grade
from refdp.audit.grade import Grade
from refdp.data.records import Schema

FOLDER = Path(__file__).parent
PUBLIC = ("the number of records beside it",)
"""No cheat where records are replaced: neighbours have the same number of them."""
LABS = tuple(sorted(path.parent.name for path in FOLDER.glob("*/submissions.py")))


@dataclass(frozen=True)
class Lab:
    """A task. wrong: submissions to refuse, the starter first; right: to accept, the solution first."""

    name: str
    schema: Schema
    epsilon: float
    relation: str
    wrong: dict[str, Train]
    right: dict[str, Train]
    delta: float = 0.0

    def grade(self, train: Train, **search: Any) -> Grade:
        """`refdp.grade` against the task's budget; what a submission prints is graded and not shown."""
        with contextlib.redirect_stdout(io.StringIO()):
            return grade(train, self.schema, self.epsilon, self.relation, self.delta, **search)


def lab(name: str) -> Lab:
    """The lab of that name. Errors: ModuleNotFoundError."""
    task, starter, solution, submissions = (
        importlib.import_module(f"labs.{name}{part}") for part in ("", ".starter", ".solution", ".submissions")
    )
    public = PUBLIC if task.RELATION == "replace-one" else ()
    cheats = {title: cheat(solution.train) for title, cheat in CHEATS.items() if title not in public}
    wrong = {"the starter": starter.train, **submissions.WRONG, **cheats}
    right = {"the solution": solution.train, **submissions.RIGHT}
    return Lab(name, task.SCHEMA, task.EPSILON, task.RELATION, wrong, right, getattr(task, "DELTA", 0.0))


def graded(one: Lab) -> Iterator[tuple[str, bool, Grade]]:
    """Each submission's title, whether it is right, and its grade; wrong ones end at the first violation."""
    for title, train in one.wrong.items():
        yield title, False, one.grade(train, first_only=True)
    for title, train in one.right.items():
        yield title, True, one.grade(train)


def submitted(path: str) -> Train:
    """The function `train` of a student's file. Errors: ValueError if it has none."""
    spec = importlib.util.spec_from_file_location("submission", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not callable(getattr(module, "train", None)):
        raise ValueError(f"{path} defines no function `train(records, curator)`")
    return module.train  # type: ignore[no-any-return]
