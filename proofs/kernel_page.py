"""docs/coq.md: every theorem in words and in Coq, its axioms, what it does not say, and the algorithm line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from proofs.kernel import FOLDER, described

PAGE = Path(__file__).parent.parent / "docs" / "coq.md"
FORMULAS = PAGE.with_name("coq-formulas.md")


OPENING = """\
**Coq's kernel has checked that whole runs of the five repaired papers, as programs on real numbers, are private.**

| paper | guarantee | a record is added or removed | a record is replaced |
| --- | --- | --- | --- |
| DPBoost | epsilon | [proved](#dpboostadd_remove) | [proved](#dpboostreplace_one) |
| InPrivate Digging | epsilon | [proved](#inprivateadd_remove) | [proved](#inprivatereplace_one) |
| DP-XGBoost | epsilon | [proved](#dpxgboostadd_remove), Poisson samples | [proved](#dpxgboostreplace_one), no samples |
| federated framework | (epsilon, delta) | [proved](#fedgbdtadd_remove) | [proved](#fedgbdtreplace_one) |
| S-GBDT, individual filter | (epsilon, delta) | [proved](#sgbdtadd_remove) | not offered |
"""


FORMULAS_OPENING = """\
**Coq has a proof for every formula below that it is the text's for all inputs; loops, sums and samples are not here.**

| in a block | what it says |
| --- | --- |
| Definition | what a Python function does to its arguments, as Python printed it |
| Lemma | this is the text's, for all arguments |
"""


def page(record: dict[str, Any]) -> str:
    """The page of a record."""
    return "\n".join(_lines(record)).rstrip() + "\n"


def formulas_page() -> str:
    """The page of Formulas.v: each formula as Python computes it, and what of the text it is proved to be."""
    source = (FOLDER / "Formulas.v").read_text(encoding="utf-8")
    blocks = re.findall(r"^\(\*\* (\w+):(\S+) \*\)\n(Definition .*)\n(Lemma .*)\nProof\.", source, re.M)
    lines = ["# Formulas for all inputs\n", FORMULAS_OPENING, described()["formulas"].strip() + "\n"]
    lines[2] = lines[2].replace("{count}", str(len(blocks)))
    for paper in dict.fromkeys(block[0] for block in blocks):
        lines.append(f"## {paper}\n")
        for _, function, definition, lemma in (block for block in blocks if block[0] == paper):
            lines.append(f"[`{function}`](../refdp/papers/{paper}.py)\n\n```coq\n{definition}\n{lemma}\n```\n")
    return "\n".join(lines).rstrip() + "\n"


def _lines(record: dict[str, Any]) -> Iterator[str]:
    texts = described()
    yield "# What a proof kernel says\n"
    yield OPENING
    yield "Written by `python -m proofs.kernel write`; `make coq` compares it with what Coq says.\n"
    yield texts["introduction"].strip() + "\n"
    yield "## Theorems\n"
    yield "| theorem | in words |\n| --- | --- |"
    for theorem in texts["theorem"]:
        yield f"| [{theorem['name']}](#{_anchor(theorem['name'])}) | {theorem['title']} |"
    yield "\n## Axioms\n"
    yield texts["axioms_note"].strip() + "\n"
    for name, meaning in texts["axioms"].items():
        yield f"- `{name}`: {meaning}"
    for section in texts["section"]:
        yield f"\n## {section['title']}\n"
        yield section["text"].strip() + "\n"
        for theorem in texts["theorem"]:
            if theorem["section"] == section["id"]:
                yield from _theorem(theorem, record["theorems"][theorem["name"]])
        if section.get("not_covered"):
            yield f"**Not covered.** {section['not_covered'].strip()}\n"
        rows = [row for row in texts.get("line", ()) if row["section"] == section["id"]]
        if rows:
            yield "### Line by line\n"
        for row in rows:
            yield f"{row['algorithm']}. Python: {_python(row['python'])}. Coq:\n"
            for name in row["coq"]:
                yield f"```coq\n{definition(name)}\n```\n"


def _theorem(theorem: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    file, _, _ = theorem["name"].partition(".")
    yield f"### {theorem['name']}\n"
    yield theorem["words"].strip() + "\n"
    yield f"```coq\nTheorem {theorem['name']} :\n  {_indented(found['statement'])}.\n```\n"
    yield f"Proof: [proofs/coq/{file}.v](../proofs/coq/{file}.v). Axioms: {_axioms(found['axioms'])}.\n"
    if theorem.get("not_said"):
        yield f"It does not say: {theorem['not_said'].strip()}\n"


def definition(name: str) -> str:
    """The text of a definition, file.identifier, as it stands in the sources. Errors: KeyError if it is not there."""
    file, _, identifier = name.partition(".")
    text = (FOLDER / f"{file}.v").read_text(encoding="utf-8")
    found = re.search(
        rf"^(?:Definition|Fixpoint|Inductive|Record|Class) {identifier}\b.*?\.(?=\n|$)", text, re.M | re.S
    )
    if found is None:
        raise KeyError(f"{name}: no such definition")
    return found.group()


def _python(names: list[str]) -> str:
    return ", ".join(f"[`{n}`](../{n.partition(':')[0].replace('.', '/')}.py)" for n in names)


def _axioms(names: list[str]) -> str:
    return ", ".join(f"`{name.rpartition('.')[2]}`" for name in names) or "none"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _anchor(name: str) -> str:
    return name.lower().replace(".", "")
