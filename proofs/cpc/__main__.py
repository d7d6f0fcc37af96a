"""`python -m proofs.cpc QUESTION PROOF` checks a proof of cvc5 in a file against a question in SMT-LIB, nothing else.

`python -m proofs.cpc write` (`make evidence`) asks cvc5 for a proof of every question that `refdp prove` refuted for
the papers' default parameters and of every polynomial question behind a claim, checks each, and writes
proofs/cpc/record.json and docs/solver-evidence.md. What has no proof in steps is
tried by products. Rows of the same questions are kept. Ten minutes
of one core for all; `page` writes the page alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import resource
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from proofs.cpc.page import BELIEVED, PAGE, page
from proofs.cpc.steps import Checked, Otherwise, checked, never

RECORD = Path(__file__).with_name("record.json")
SECONDS = 20
MOST = 30
"""Steps of coverings in one proof that are tried by products."""


def main(arguments: list[str]) -> int:
    """0 where the proof is accepted, 1 where it is not, 2 where it cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m proofs.cpc", description=__doc__)
    parser.add_argument("question", help="a file in SMT-LIB, or `write`, or `page`")
    parser.add_argument("proof", nargs="?", help="a file in CPC with conclusions (cvc5's proof-print-conclusion)")
    options = parser.parse_args(arguments)
    sys.setrecursionlimit(100_000)
    if options.proof is None:
        if options.question not in ("write", "page"):
            parser.error("a question needs a proof")
        if options.question == "write":
            write()
        PAGE.write_text(page(json.loads(RECORD.read_text(encoding="utf-8"))), encoding="utf-8")
        return 0
    try:
        question, proof = (Path(one).read_text(encoding="utf-8") for one in (options.question, options.proof))
        found = checked(question, proof)
    except (OSError, ValueError) as problem:
        print(f"cannot be read: {problem}", file=sys.stderr)
        return 2
    print(said(found))
    return 0 if found.accepted else 1


def said(found: Checked) -> str:
    """A result in words."""
    if found.accepted:
        return f"accepted: {found.steps} steps"
    why = f"steps that do not follow: {', '.join(found.refused)}" if found.refused else "nothing is refuted"
    return f"not accepted: {why}"


def write() -> None:
    """Asks about what has no row of these questions and this checker, or not all followed. Errors: ImportError."""
    from proofs.cpc.questions import of_claims, of_reading
    from refdp.faces.registry import PAPERS
    from refdp.ledger.proved import engine

    old = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    kept = {(one["source"], one["digest"]): one for part in ("reading", "claims") for one in old.get(part, ())}
    if old.get("checker") != checker():
        kept = {}
    rows: dict[str, list[dict[str, Any]]] = {"reading": [], "claims": []}
    for part, sources in (("reading", of_reading(PAPERS)), ("claims", of_claims())):
        for name, questions in sources:
            known = kept.get((name, digest(questions)))
            rows[part].append({"source": name, **row(questions)} if known is None or known["without"] else known)
            print(part, rows[part][-1], flush=True)
    text = json.dumps({"engine": engine(), "checker": checker(), **rows}, indent=1)
    RECORD.write_text(text + "\n", encoding="utf-8")


def checker() -> str:
    """A digest of the modules that have to be right."""
    return _digest("".join(RECORD.with_name(f"{name}.py").read_text(encoding="utf-8") for name in BELIEVED))


def digest(questions: Sequence[str]) -> str:
    """Of a source's questions."""
    return _digest("\n".join(questions))


def row(texts: Sequence[str]) -> dict[str, Any]:
    """Digest of questions, their number, and how many have a proof in steps, in how many, or one by products."""
    found = {text: limited(text) for text in texts}
    return {
        "digest": digest(texts),
        "questions": len(texts),
        "by steps": sum(kind == "steps" for kind, _ in found.values()),
        "steps": sum(number for kind, number in found.values() if kind == "steps"),
        "by products": sum(kind == "products" for kind, _ in found.values()),
        "without": [_digest(text) for text, (kind, _) in found.items() if kind == "none"],
    }


def limited(question: str) -> tuple[str, int]:
    """`checked_again` in its own process, with `SECONDS` of the processor: cvc5 does more than it counts."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_answer, args=(question, theirs))
    process.start()
    theirs.close()
    try:
        found: tuple[str, int] = ours.recv()
    except EOFError:
        found = "none", 0
    process.join()
    ours.close()
    return found


def _answer(question: str, connection: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))  # counted anew in every process
    connection.send(checked_again(question))


def checked_again(question: str) -> tuple[str, int]:
    """How a question was refuted by a proof that was followed: in steps, by products or not; steps or cases.

    By products: the whole question, or the steps of coverings in cvc5's proof of it.
    """
    from proofs.cpc.asking import LIMIT, proof_of
    from proofs.cpc.search import follows_by_products, multiples_of

    if (found := _followed(question, proof_of(question))) is not None:
        return "steps", found.steps
    if cases := multiples_of(question):
        return "products", cases
    proof = proof_of(question, coverings=True)
    few = proof is not None and proof.count(":rule trust ") <= MOST
    if (found := _followed(question, proof, follows_by_products) if few else None) is not None:
        return "products", found.steps
    found = _followed(question, proof_of(question, limit=20 * LIMIT))  # cvc5 alone, as long as there is time
    return ("none", 0) if found is None else ("steps", found.steps)


def _followed(question: str, proof: str | None, otherwise: Otherwise = never) -> Checked | None:
    """What a proof is found to be, None where there is none, or one with steps or words that are not accepted."""
    try:
        found = None if proof is None else checked(question, proof, otherwise)
    except ValueError:  # words of coverings, which speak of roots of polynomials
        return None
    return found if found is not None and found.accepted else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
