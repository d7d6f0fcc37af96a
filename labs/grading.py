"""A lab and its grading: the task's budget, its submissions, and what `refdp.grade` says of each."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import sys
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
LABS = tuple(sorted(path.parent.name for path in FOLDER.glob("*/starter.py")))


@dataclass(frozen=True)
class Task:
    """What a lab asks for."""

    name: str
    schema: Schema
    epsilon: float
    relation: str
    delta: float

    def grade(self, train: Train, **search: Any) -> Grade:
        """`refdp.grade` against the task's budget; what a submission prints is graded and not shown."""
        with contextlib.redirect_stdout(io.StringIO()):
            return grade(train, self.schema, self.epsilon, self.relation, self.delta, **search)


@dataclass(frozen=True)
class Lab(Task):
    """A task with submissions. wrong: to refuse, the starter first; right: to accept, the solution first."""

    wrong: dict[str, Train]
    right: dict[str, Train]


def task(name: str) -> Task:
    """The task of that name, without its solution. Errors: ModuleNotFoundError."""
    told = importlib.import_module(f"labs.{name}")
    return Task(name, told.SCHEMA, told.EPSILON, told.RELATION, getattr(told, "DELTA", 0.0))


def lab(name: str) -> Lab:
    """The lab of that name. Errors: ModuleNotFoundError, for its solution too where labs were handed out without."""
    asked = task(name)
    starter, solution, submissions = (
        importlib.import_module(f"labs.{name}.{part}") for part in ("starter", "solution", "submissions")
    )
    public = PUBLIC if asked.relation == "replace-one" else ()
    cheats = {title: cheat(solution.train) for title, cheat in CHEATS.items() if title not in public}
    wrong = {"the starter": starter.train, **submissions.WRONG, **cheats}
    right = {"the solution": solution.train, **submissions.RIGHT}
    return Lab(asked.name, asked.schema, asked.epsilon, asked.relation, asked.delta, wrong, right)


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
    sys.modules["submission"] = module  # what it keeps in its globals is then looked at
    spec.loader.exec_module(module)
    if not callable(getattr(module, "train", None)):
        raise ValueError(f"{path} defines no function `train(records, curator)`")
    return module.train  # type: ignore[no-any-return]
