"""Where a claim stands in its paper: the sentence as printed, its place, and how refdp reads it where that differs.

`proofs/quotes/<paper>.toml` has one table a claim, named by the id's part after the slash. `proofs/errata/<paper>.toml`
says, in tables of the same names, what docs/errata tells of statements that are false or incomplete: the fields of
`refdp.ledger.claims.Erratum`. Its `cost` names a table of `proofs/errata/costs.toml`; `declared` and `observed` are
left out where the machine's witness has them.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import get_args

from refdp.ledger.claims import Erratum, Kind

QUOTES = Path(__file__).parents[1] / "quotes"
ERRATA = Path(__file__).parents[1] / "errata"
TEXTS = {
    "dpboost": "dpboost.txt",
    "dpxgboost": "dpxgboost.txt",
    "fedgbdt": "fedgbdt.txt",
    "inprivate": "inprivate.txt",
    "sgbdt": "sgbdt-slides.txt",
}
"""The file of each paper's text, in the folder that the environment variable REFDP_PAPERS names. Shared facts
(composition/*) quote whichever paper states them; their place names it."""
MOST_WORDS = 20
SHOWN = re.compile(r"(\S+) \(about \S+\) exceeds (\S+) \(about \S+\)")
GAP = " ... "
"""Stands in a quote for words that are left out."""
REACH = 600
"""Characters within which the next part of a quote with a gap has to begin."""


@dataclass(frozen=True)
class Attribution:
    """What a claim takes from its paper.

    quote: the sentence as printed, or its decisive part, with ` ... ` for words left out. place: section, equation,
    line or table. reading: empty if the claim says what is printed; else how it is refdp's own, in a sentence.
    kind: what is wrong with a refuted statement. erratum: what docs/errata says of it.
    """

    quote: str = ""
    place: str = ""
    reading: str = ""
    kind: Kind | None = None
    erratum: Erratum | None = None

    def __post_init__(self) -> None:
        if bool(self.quote) != bool(self.place):
            raise ValueError(f"a quote and its place come together, not {self.quote!r} at {self.place!r}")
        if not self.quote and not self.reading:
            raise ValueError("neither a quote nor a reading")
        if self.kind is not None and self.kind not in get_args(Kind):
            raise ValueError(f"kind {self.kind!r} is none of {', '.join(get_args(Kind))}")
        if words(self.quote) > MOST_WORDS:
            raise ValueError(f"{words(self.quote)} words quoted, at most {MOST_WORDS} are allowed: {self.quote!r}")


@lru_cache(maxsize=1)
def attributions() -> dict[str, Attribution]:
    """Every attribution by the claim's id. Errors: ValueError that names the claim."""
    found: dict[str, Attribution] = {}
    told = errata()
    for path in sorted(QUOTES.glob("*.toml")):
        for slug, fields in tomllib.loads(path.read_text(encoding="utf-8")).items():
            try:
                found[f"{path.stem}/{slug}"] = Attribution(**fields, erratum=told.get(f"{path.stem}/{slug}"))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path.name}, {slug}: {error}") from error
    return found


@lru_cache(maxsize=1)
def errata() -> dict[str, Erratum]:
    """Every erratum by the claim's id. Errors: ValueError for an unknown field or cost."""
    costs = tomllib.loads((ERRATA / "costs.toml").read_text(encoding="utf-8"))
    found: dict[str, Erratum] = {}
    for path in sorted(ERRATA.glob("*.toml")):
        for slug, fields in tomllib.loads(path.read_text(encoding="utf-8")).items() if path.stem != "costs" else ():
            try:
                cost = costs[fields["cost"]]
                found[f"{path.stem}/{slug}"] = Erratum(
                    **{**fields, "cost": cost["text"], "results": cost.get("results", "")}
                )
            except (KeyError, TypeError) as error:
                raise ValueError(f"errata/{path.name}, {slug}: {error}") from error
    return found


def measured(erratum: Erratum | None, witness: Mapping[str, str] | None) -> Erratum | None:
    """The erratum with the two numbers that the machine's witness shows, if it has none of its own."""
    shown = SHOWN.fullmatch((witness or {}).get("shows", ""))
    if erratum is None or shown is None or erratum.declared:
        return erratum
    return replace(erratum, observed=shown[1], declared=shown[2])


def words(quote: str) -> int:
    """The words of a quote; a formula between dollars counts as one, a gap as none."""
    return len(re.sub(r"\$[^$]*\$", "formula", quote.replace(GAP, " ")).split())


@lru_cache(maxsize=4096)
def normalised(text: str) -> str:
    """The text without what type-setting adds: ligatures, hyphens, emphasis, dollars, quotation marks, white space."""
    plain = unicodedata.normalize("NFKC", text).translate(str.maketrans("‘’“”–—", "''\"\"--"))
    plain = re.sub(r"(?<=[a-z])-\s*\n\s*(?=[a-z])", "", plain)
    return re.sub(r"[\s*$]+", "", plain.replace("\\_", "_"))


def printed(quote: str, text: str) -> bool:
    """Whether the quote's parts stand in the paper's text, in order and close to each other."""
    plain = normalised(text)
    first, *rest = (normalised(part) for part in quote.split(GAP))
    return any(_follow(rest, plain, match.end()) for match in re.finditer(re.escape(first), plain))


def _follow(parts: list[str], plain: str, start: int) -> bool:
    for part in parts:
        found = plain.find(part, start, start + REACH + len(part))
        if found < 0:
            return False
        start = found + len(part)
    return True
