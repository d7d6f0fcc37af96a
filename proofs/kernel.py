"""`python -m proofs.kernel` has Coq check proofs/coq and compares with what is committed; `... write` commits anew.

`python -m proofs.kernel page` writes the page from the committed record, without Coq.

Files are compiled in a scratch directory, again only when one of them changed. Of every theorem of theorems.toml the
statement and the axioms that it rests on come from Coq itself (Check, Print Assumptions), and coqchk reads the compiled
files once more. record.json has both with fingerprints of the sources; docs/coq.md is made of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "coq"
RECORD = FOLDER / "record.json"
SCRATCH = Path(__file__).parent.parent / ".cache" / "coq"
INSTALL = "coqc is missing: Debian and Ubuntu have it in the package coq (apt-get install coq)"
FORBIDDEN = re.compile(r"\b(Admitted|admit|Axiom|Axioms|Parameter|Parameters|Conjecture|bypass_check|Unset\s+\w+)\b")
CLAIMED = "@@ "


class KernelError(Exception):
    """What Coq refused, or what differs from the committed record."""


@dataclass(frozen=True)
class Theorem:
    """A theorem as Coq states it. name: file.identifier. axioms: full names, sorted."""

    name: str
    statement: str
    axioms: tuple[str, ...]


@lru_cache(maxsize=1)
def present() -> bool:
    """Whether Coq is installed, with its library of real numbers."""
    if not all(shutil.which(tool) for tool in ("coqc", "coqdep", "coqchk")):
        return False
    return (Path(_run(["coqc", "-where"]).strip()) / "theories" / "Reals" / "Reals.vo").exists()


def sources() -> dict[str, str]:
    """sha256 of every file of proofs, by name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(FOLDER.glob("*.v"))}


@lru_cache(maxsize=1)
def described() -> dict[str, Any]:
    """theorems.toml: what each theorem says in words."""
    return tomllib.loads((FOLDER / "theorems.toml").read_text(encoding="utf-8"))


def names() -> list[str]:
    """The listed theorems, file.identifier, in the order of the page."""
    return [theorem["name"] for theorem in described()["theorem"]]


def formula_names() -> list[str]:
    """The lemmas of Formulas.v: a formula as Python computes it is the text's."""
    return [
        f"Formulas.{name}" for name in re.findall(r"^Lemma (\w+_text) :", (FOLDER / "Formulas.v").read_text(), re.M)
    ]


def committed() -> dict[str, Any]:
    """The record as committed."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def at_hand() -> bool:
    """Whether the files as they are have been compiled here."""
    return (_directory() / "done").exists()


def _directory() -> Path:
    digest = hashlib.sha256(json.dumps([sources(), _run(["coqc", "--version"])]).encode()).hexdigest()
    return SCRATCH / digest[:16]


# --- What Coq says ----------------------------------------------------------------------------------------------------


def compiled() -> Path:
    """The directory of the compiled files. Errors: KernelError with Coq's message."""
    forbidden = [f"{file.name}: {found}" for file in sorted(FOLDER.glob("*.v")) if (found := _forbidden(file))]
    if forbidden:
        raise KernelError(f"words that leave something unproved: {forbidden}")
    directory = _directory()
    done = directory / "done"
    if done.exists():
        return directory
    shutil.rmtree(SCRATCH, ignore_errors=True)
    directory.mkdir(parents=True)
    for file in FOLDER.glob("*.v"):
        shutil.copy(file, directory)
    for file_name in _ordered(directory):
        _run(["coqc", "-q", "-Q", ".", "DP", file_name], directory)
    done.touch()
    return directory


def rechecked(directory: Path) -> tuple[str, ...]:
    """Axioms of ours that coqchk finds in the compiled files, which it checks anew; those of Coq's library it takes.

    Errors: KernelError if it refuses a file or does not say that nothing else was assumed.
    """
    modules = [f"DP.{Path(name).stem}" for name in _ordered(directory)]
    command = ["coqchk", "-silent", "-o", "-Q", ".", "DP", *(x for m in modules for x in ("-norec", m))]
    said = _run(command, directory)
    axioms = said.partition("* Axioms:")[2].partition("* Constants")[0].split()
    if "Coq.Logic.Classical_Prop.classic" not in axioms or said.count("<none>") != 3:
        raise KernelError(f"coqchk's summary is not as expected:\n{said}")
    return tuple(sorted(name for name in axioms if name.startswith("DP.")))


def asked(directory: Path, theorems: Sequence[str], together: Sequence[str] = ()) -> dict[str, Theorem]:
    """Statement and axioms of each theorem, from Coq. together: lemmas asked for as one, "together"."""
    lines = ["From Coq Require Import List Arith Reals ZArith QArith.", "Import ListNotations.", "Open Scope R_scope."]
    lines += [f"From DP Require Import {Path(name).stem}." for name in _ordered(directory)]
    lines += ["Set Printing Width 110.", "Set Printing Depth 1000."]
    if together:
        lines.append(f"Definition together := ({', '.join(f'@{name}' for name in together)}).")
    asked_for = [*theorems, *(["together"] if together else [])]
    for name in asked_for:
        lines += [_mark(f"statement {name}"), f"Check @{name}.", _mark(f"axioms {name}"), f"Print Assumptions {name}."]
    question = directory / f"Asked{os.getpid()}.v"  # several processes may ask
    question.write_text("\n".join([*lines, _mark("end"), ""]), encoding="utf-8")
    said = _run(["coqc", "-q", "-Q", ".", "DP", question.name], directory)
    for leftover in directory.glob(f"*{question.stem}.*"):
        leftover.unlink()
    parts = {part.partition("\n")[0]: part.partition("\n")[2] for part in said.split(CLAIMED)}
    return {name: _theorem(name, parts) for name in asked_for}


def _theorem(name: str, parts: dict[str, str]) -> Theorem:
    axioms = re.findall(r"^(\S+)\s*(?::|\n\s+:)", parts[f"axioms {name}"].partition("Axioms:")[2], re.M)
    statement = parts[f"statement {name}"].partition(" : ")[2]
    return Theorem(name, re.sub(r"\n       ", "\n", statement).strip(), tuple(sorted(axioms)))


def _mark(text: str) -> str:
    return f'Goal True. idtac "{CLAIMED}{text}". Abort.'


def _ordered(directory: Path) -> list[str]:
    """The sources, each after what it needs."""
    files = sorted(file.name for file in directory.glob("*.v") if not file.stem.startswith("Asked"))
    return [Path(name).name for name in _run(["coqdep", "-Q", ".", "DP", "-sort", *files], directory).split()]


def _forbidden(file: Path) -> list[str]:
    text = re.sub(r"\(\*.*?\*\)", "", file.read_text(encoding="utf-8"), flags=re.S)
    return sorted(set(FORBIDDEN.findall(text)))


def _run(command: list[str], directory: Path | None = None) -> str:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=900)
    if done.returncode:
        raise KernelError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


# --- The committed record ---------------------------------------------------------------------------------------------


def derived() -> dict[str, Any]:
    """The record anew. Errors: KernelError if Coq refuses a file or a theorem rests on an axiom that is not allowed."""
    directory = compiled()
    found = asked(directory, names(), formula_names())
    allowed = set(described()["axioms"])
    for theorem in found.values():
        if not set(theorem.axioms) <= allowed:
            raise KernelError(f"{theorem.name} rests on {sorted(set(theorem.axioms) - allowed)}: not in theorems.toml")
    if ours := rechecked(directory):
        raise KernelError(f"coqchk finds axioms of ours: {ours}")
    theorems = {name: {"statement": found[name].statement, "axioms": list(found[name].axioms)} for name in names()}
    return {"sources": sources(), "theorems": theorems, "formulas": len(formula_names())}


def axioms_of(theorem: str) -> tuple[str, ...]:
    """The axioms a theorem rests on: from Coq where the files as they are have been compiled (`make coq`, which has
    coqchk read them too), else as committed, which is said.

    Errors: KernelError if Coq refuses, if there is no such theorem, or if without Coq the sources changed since.
    """
    if theorem not in names():
        raise KernelError(f"{theorem}: not in theorems.toml")
    if present() and at_hand():
        return asked(compiled(), [theorem])[theorem].axioms
    if committed()["sources"] != sources():
        raise KernelError("the sources differ from those of record.json, and are not compiled here: make coq")
    print(f"{theorem}: taken from proofs/coq/record.json, not from Coq: make coq", file=sys.stderr)
    return tuple(committed()["theorems"][theorem]["axioms"])


def main(arguments: list[str]) -> int:
    """0 if all is as committed, 1 if anything differs, 2 without Coq."""
    from proofs.kernel_page import FORMULAS, PAGE, formulas_page, page  # it reads this module's record
    from proofs.replay import formulas  # it imports the papers

    if arguments == ["page"]:
        PAGE.write_text(page(committed()), encoding="utf-8")
        FORMULAS.write_text(formulas_page(), encoding="utf-8")
        return 0
    if formulas.FILE.read_text(encoding="utf-8") != formulas.text(formulas.formulas()):
        print("Formulas.v is not what the papers' formulas print: python -m proofs.replay.formulas")
        return 1
    if not present():
        print(INSTALL)
        return 2
    started = time.monotonic()
    try:
        record = derived()
    except KernelError as error:
        print(error)
        return 1
    if arguments == ["write"]:
        RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        PAGE.write_text(page(record), encoding="utf-8")
        FORMULAS.write_text(formulas_page(), encoding="utf-8")
    wrong = [RECORD.name] if record != committed() else []
    wrong += [PAGE.name] if page(record) != PAGE.read_text(encoding="utf-8") else []
    wrong += [FORMULAS.name] if formulas_page() != FORMULAS.read_text(encoding="utf-8") else []
    seconds = time.monotonic() - started
    told = f"{len(record['theorems'])} theorems and {record['formulas']} formulas of {len(record['sources'])} files"
    print(f"{told} checked by Coq in {seconds:.0f} s")
    for name in wrong:
        print(f"{name} differs from what Coq says: python -m proofs.kernel write")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
