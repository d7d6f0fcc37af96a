"""Training texts of a thirty-seventh attack that tell of records and were PROVED: accounts that are not empty.

A text makes the accounts of records and has no word to charge them, but it had the host's word to open them: training
ended with an error of numpy, whose text has the number of records. Now `open` is no word of texts, and the reading asks
that the accounts of a contribution are fresh ones without a record. Contributions without what hosts ask of those that
take payments are refused as well; hosts refuse them, too, whatever the records are.
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import S
from tests.prove.hostile_thirtysixth import METERED

MADE = "return Accounts(self.params.budget(self.schema))"
FOUND = MADE.replace("return", "found =")
ACCOUNTS = f"{S}:Contribution.accounts"
THIRTYSEVENTH = tuple(
    Mutant(f"accounts: {name}", {ACCOUNTS: edit((MADE, lines.replace("\n", "\n    ")))}, "", METERED)
    for name, lines in (
        ("opened for one", f"{FOUND}\nfound.open(1)\nreturn found"),
        ("opened beside", f"{FOUND}\nbeside = found.open(1)\nreturn found"),
        ("opened in a list", f"{FOUND}\nbeside = [one.open(1) for one in [found]]\nreturn found"),
    )
)  # fmt: skip
