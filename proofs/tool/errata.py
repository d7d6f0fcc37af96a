"""docs/errata: what is false or incomplete in the five papers, a page a paper, from the claims alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from proofs.tool.attribution import TEXTS
from refdp.ledger.claims import Claim, Kind

FOLDER = "docs/errata"
PAPERS: Mapping[str, str] = {
    "dpboost": "DPBoost: Li, Wu, Wen, He, AAAI 2020",
    "inprivate": "InPrivate Digging: Zhao et al., INFOCOM 2018",
    "dpxgboost": "DP-XGBoost: Grislain, Gonzalvez, 2021",
    "fedgbdt": "Federated boosted decision trees: Maddock et al., CCS 2022",
    "sgbdt": "S-GBDT: Kirschte, Peinemann et al., 2023, the slides",
}
KINDS: Mapping[Kind, str] = {
    "no-guarantee": "no guarantee at all",
    "too-little-noise": "too little noise",
    "false-only-for-replacement": "false only for replacement",
    "bookkeeping": "bookkeeping",
}
MEANINGS: Mapping[Kind, str] = {
    "no-guarantee": "no epsilon bounds what a record reveals",
    "too-little-noise": "what a record reveals is bounded, by more than is stated",
    "false-only-for-replacement": "true where a record is added or removed, false where one is replaced",
    "bookkeeping": "a total, a size, a definition or a side remark is printed wrongly; no guarantee falls by it alone",
}
INCOMPLETE = "incomplete"
"""Shown as the kind of a statement that is true under a condition that the paper does not print."""
RUN_AGAIN = "refdp claims --show"


def paper_of(claim: Claim) -> str | None:
    """The paper that prints a false or incomplete statement, None if the claim is no such statement.

    Shared facts of composition are DPBoost's: it prints the sentences that were found false.
    """
    if claim.erratum is None:
        return None
    return claim.paper if claim.paper in TEXTS else "dpboost"


def errata_pages(claims: Mapping[str, Claim]) -> dict[str, str]:
    """Every page as Markdown, by its path."""
    entries = {paper: _sorted([c for c in claims.values() if paper_of(c) == paper]) for paper in PAPERS}
    found = {f"{FOLDER}/{paper}.md": "\n".join(_page(paper, entries[paper], claims)) for paper in PAPERS}
    return {f"{FOLDER}/index.md": "\n".join(_index(entries)), **found}


def kind_words(claim: Claim) -> str:
    """What is wrong, in words."""
    return KINDS[claim.kind] if claim.kind else INCOMPLETE


def number(text: str) -> str:
    """A number as a reader wants it: infinite, whole, or with four digits; a fraction is shown beside its value."""
    if text == "inf":
        return "infinite"
    value = Fraction(text)
    plain = str(value) if value.denominator == 1 else f"{float(value):.4g}"
    return f"{plain} ({text})" if "/" in text and len(text) < 10 else plain


def _sorted(claims: list[Claim]) -> list[Claim]:
    """The gravest kinds first, then by id, so that both relations of a statement stand side by side."""
    order = [*KINDS, None]
    return sorted(claims, key=lambda claim: (order.index(claim.kind), claim.id))


def _index(entries: Mapping[str, list[Claim]]) -> Iterator[str]:
    total = sum(map(len, entries.values()))
    yield "# Errata of the five papers"
    yield ""
    refuted = sum(claim.verdict == "REFUTED" for own in entries.values() for claim in own)
    yield (
        f"**{total} printed statements need a correction: {refuted} are false, each with a witness that a machine "
        f"checks again, and {total - refuted} are true under a condition that is not printed.**"
    )
    yield ""
    yield "| paper | " + " | ".join([*KINDS.values(), INCOMPLETE]) + " | all |"
    yield "|---|" + "---:|" * (len(KINDS) + 2)
    for paper, own in entries.items():
        counts = [sum(kind_words(claim) == words for claim in own) for words in (*KINDS.values(), INCOMPLETE)]
        yield f"| [{PAPERS[paper]}]({paper}.md) | " + " | ".join(map(str, counts)) + f" | {len(own)} |"
    yield ""
    for kind, words in KINDS.items():
        yield f"- {words}: {MEANINGS[kind]}."
    yield f"- {INCOMPLETE}: true under a condition that is not printed."
    yield ""
    yield (
        "A false sentence does not make the idea behind it false: every entry has the corrected statement. Most of the "
        "papers' proofs add or remove a record, so that statements false only for replacement are no errors of theirs "
        "under that relation. Where refdp reads more into a sentence than it says, the entry says so. A statement that "
        "is read under both relations has two entries."
    )
    yield ""
    yield (
        "The texts at hand have no page numbers: sections, equations and lines are given instead. Quotations have at "
        "most twenty words. S-GBDT is known here from its slides. `refdp claims --show ID` prints an entry with its "
        "exact witness, `python -m proofs verify ID` derives it again, and `python -m proofs page` writes these pages "
        "from the ledger."
    )


def _page(paper: str, own: list[Claim], claims: Mapping[str, Claim]) -> Iterator[str]:
    yield f"# Errata: {PAPERS[paper]}"
    yield ""
    links = f"[All papers](index.md), [all claims](../claims/{paper}.md)"
    yield f"**{len(own)} printed statements need a correction.** {links}."
    yield ""
    yield "| kind | entries |"
    yield "|---|---:|"
    for words in (*KINDS.values(), INCOMPLETE):
        count = sum(kind_words(claim) == words for claim in own)
        if count:
            yield f"| {words} | {count} |"
    yield ""
    for claim in own:
        yield from _entry(claim, claims)


def _entry(claim: Claim, claims: Mapping[str, Claim]) -> Iterator[str]:
    erratum = claim.erratum
    assert erratum is not None
    yield f"## {claim.id}"
    yield ""
    yield f"> {quoted(claim.quote)}"
    yield ""
    relation = "no neighbours are at stake" if claim.relation == "none" else f"neighbours: {claim.relation}"
    yield f"{claim.place[0].upper()}{claim.place[1:]}; {relation}; **{kind_words(claim)}**."
    yield ""
    if claim.reading:
        yield f"*Our reading:* {escaped(claim.reading)}"
        yield ""
    yield f"{erratum.why} *For example:* {escaped(erratum.example)}"
    yield ""
    yield "| measured | declared | observed |"
    yield "|---|---:|---:|"
    yield f"| {escaped(erratum.measured)} | {number(erratum.declared)} | {number(erratum.observed)} |"
    yield ""
    yield f"- instead: {_correction(claim, claims)}"
    yield f"- the repair costs: {erratum.cost}{_figures(erratum.results)}"
    yield f"- run it again: `{RUN_AGAIN} {claim.id}`"
    yield ""


def _correction(claim: Claim, claims: Mapping[str, Claim]) -> str:
    repaired = claims.get(claim.repaired_by or "")
    own = escaped(claim.erratum.correction) if claim.erratum else ""
    if repaired is None:
        return own
    link = f"[{repaired.id}](../claims/{repaired.paper}.md#{anchor(repaired.id)}), {repaired.verdict}"
    return f"{own} See {link}." if own else f"{escaped(repaired.statement)} ({link})"


def _figures(results: str) -> str:
    page = results.removeprefix("docs/")
    return f" [Figures](../{page})." if results else ""


def anchor(name: str) -> str:
    """The anchor of a heading that is a claim's id, as GitHub and MyST make it."""
    return name.replace("/", "")


def escaped(text: str) -> str:
    """Words of ours with the characters that Markdown would take for its own."""
    return text.replace("\\", "\\\\").replace("*", "\\*").replace("<", "\\<").replace("|", "\\|")


def quoted(quote: str) -> str:
    """A quotation; one that is a formula throughout is set as one."""
    return quote if "$" in quote or "\\" not in quote else f"${quote}$"
