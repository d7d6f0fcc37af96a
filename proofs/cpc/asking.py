"""cvc5's proofs of questions, in its CPC format."""

from __future__ import annotations

import cvc5

LIMIT = 50_000
"""cvc5's units of work for one question, so that no machine's speed decides: a fraction of a second."""
_OPTIONS = {
    "produce-proofs": "true", "proof-format-mode": "cpc", "proof-granularity": "dsl-rewrite",
    "proof-print-conclusion": "true",
}  # fmt: skip


def proof_of(question: str, *, coverings: bool = False, limit: int = LIMIT) -> str | None:
    """A proof that the assertions of a question in SMT-LIB exclude each other, None where cvc5 finds none.

    coverings: with steps of cylindrical coverings, whose rule is "trust": cvc5 has no proofs of them.
    """
    options = _OPTIONS | {"nl-cov": "true" if coverings else "false", "rlimit-per": str(limit)}
    solver = cvc5.Solver(cvc5.TermManager())
    for name, value in options.items():
        solver.setOption(name, value)
    solver.setLogic("QF_NRA")
    parser = cvc5.InputParser(solver)
    text = question.replace("(check-sat)", "")
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "question")
    symbols = parser.getSymbolManager()
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, symbols)
    if not solver.checkSat().isUnsat():
        return None
    made = solver.proofToString(solver.getProof(cvc5.ProofComponent.FULL)[0], cvc5.ProofFormat.CPC)
    return made.decode() if isinstance(made, bytes) else str(made)
