"""`python -m labs --hand-out FOLDER`: the labs without solutions, a folder for students who have refdp."""

from __future__ import annotations

import shutil
from pathlib import Path

from labs.grading import FOLDER, LABS

SHARED = ("__init__.py", "__main__.py", "grading.py", "kit.py", "cheats.py", "handout.py")
KEPT_APART = ("solution.py", "submissions.py")


def hand_out(target: Path) -> None:
    """Write `target`/labs: stories, starters, tasks and the grader. Errors: FileExistsError if it is there already."""
    home = target / "labs"
    home.mkdir(parents=True)
    for name in SHARED:
        shutil.copy(FOLDER / name, home / name)
    for name in LABS:
        shutil.copytree(FOLDER / name, home / name, ignore=shutil.ignore_patterns("__pycache__", *KEPT_APART))
