"""Recorded runs handed to Coq, which computes the programs on their records and compares what was asked."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from proofs.kernel import KernelError, compiled
from proofs.replay.pure import dpboost_run, dpboost_text, dpxgboost_run, dpxgboost_text, inprivate_run, inprivate_text
from proofs.replay.renyi import fedgbdt_run, fedgbdt_text, sgbdt_run, sgbdt_text
from proofs.replay.runs import Recorded
from proofs.replay.terms import Requests

TOLERANCE = "(1 # 1000000)"
"""Of values, relative to 1 and their square; rounding of one gradient to the grid moves a sum by less."""
PRELUDE = """From Coq Require Import List Arith Bool QArith Qround ZArith.
From DP Require Import Program Replay.
From DP Require Certify Logistic.
From DP Require InPrivate DPXGBoost FedGBDT SGBDT.
Import ListNotations.
Open Scope Q_scope.
Definition short (x : Q) : Q := Qred (inject_Z (Qfloor (x * inject_Z (2 ^ 70))) * (1 # 1180591620717411303424)).
Definition chord (width : Q) (costs : list Q) (t : Q) : Q :=
  let x := short (t / width) in let below := Qfloor x in
  let a := nth (Z.to_nat below) costs (last costs 0) in let b := nth (S (Z.to_nat below)) costs a in
  short (a + (b - a) * (x - inject_Z below)).
"""


class Paper(NamedTuple):
    """How runs of a paper are drawn, and how a run is written as a program and what it asked."""

    run: Callable[[int], Recorded]
    text: Callable[[Recorded], tuple[str, Requests]]


PAPERS = {
    "dpboost": Paper(dpboost_run, dpboost_text),
    "inprivate": Paper(inprivate_run, inprivate_text),
    "dpxgboost": Paper(dpxgboost_run, dpxgboost_text),
    "fedgbdt": Paper(fedgbdt_run, fedgbdt_text),
    "sgbdt": Paper(sgbdt_run, sgbdt_text),
}


def term(paper: Paper, seed: int) -> str:
    """A fresh run as a question to Coq; a run that fails, as only a mutant's does, is one that differs."""
    try:
        run = paper.run(seed)
        program, requests = paper.text(run)
    except (ArithmeticError, AssertionError, AttributeError, IndexError, TypeError, ValueError):
        return "false"
    return f"andb ({requests.certified}) (replays {TOLERANCE} ({program}) {requests.arguments()})"


def answers(terms: Sequence[str]) -> list[bool]:
    """Whether Coq computes what was recorded, run by run. Errors: KernelError where it does not read a term."""
    lines = [f"Definition run{i} : bool := {one}.\nEval vm_compute in run{i}." for i, one in enumerate(terms)]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "Runs.v").write_text(PRELUDE + "\n".join(lines) + "\n", encoding="utf-8")
        command = ["coqc", "-q", "-Q", str(compiled()), "DP", "Runs.v"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800)
    if done.returncode:
        raise KernelError(f"Runs.v:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return [word == "true" for word in re.findall(r"=\s+(true|false)", done.stdout)]
