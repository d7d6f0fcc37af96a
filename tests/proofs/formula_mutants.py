"""What Coq says of formulas that an edit of a paper's text changes: whether they are still the text's everywhere."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from proofs.kernel import KernelError, compiled
from proofs.replay.formula import Formula
from proofs.replay.formulas import HEAD, formulas
from tests.mutants.harness import applied, edit


def refusals(mutants: Sequence[tuple[str, str, str]]) -> list[int | None]:
    """Of every edit how many of the formulas that it changes are not the text's; None where it changes none.

    A formula that the edit keeps from being printed is not the text's. Errors: KernelError where Coq does not read one.
    """
    true = {one.name: one.definition() for one in formulas()}
    counts: list[int | None] = []
    questions: list[str] = []
    for number, (where, old, new) in enumerate(mutants):
        with applied({f"refdp.papers.{where}": edit((old, new))}):
            printed = {one: _definition(one) for one in formulas()}
        changed = {one: found for one, found in printed.items() if found != true[one.name]}
        counts.append(sum(not found for found in changed.values()) if changed else None)
        questions += [_question(number, one, found) for one, found in changed.items() if found]
    for number in _refused(questions):
        counts[number] = (counts[number] or 0) + 1
    return counts


def _definition(one: Formula) -> str:
    """What Python computes; nothing where it fails."""
    try:
        return one.definition()
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return ""


def _question(number: int, one: Formula, definition: str) -> str:
    said = f'idtac "mutant {number}: "'
    question = (
        f"{definition}\nGoal {one.statement()}.\n"
        f'tryif solve [{one.tactic()}] then {said} "is the text\'s" else {said} "refused".\nAbort.\n'
    )
    return re.sub(rf"\b{one.name}\b", f"{one.name}_{number}", question)


def _refused(questions: Sequence[str]) -> list[int]:
    """The number of the edit, once for each formula that Coq finds no proof for."""
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join([HEAD, *questions, "End Formulas."])
        (Path(folder) / "Edited.v").write_text(text, encoding="utf-8")
        command = ["coqc", "-q", "-Q", str(compiled()), "DP", "Edited.v"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800)
    if done.returncode:
        raise KernelError(f"Edited.v:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    answers = re.findall(r"mutant (\d+): *\n?(is the text's|refused)", done.stdout)
    assert len(answers) == len(questions)
    return [int(number) for number, answer in answers if answer == "refused"]
