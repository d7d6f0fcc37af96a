"""docs/errata: what is false or incomplete in the five papers, a page a paper, from the claims alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    "not-stated": "not stated by the paper",
}
MEANINGS: Mapping[Kind, str] = {
    "no-guarantee": "no epsilon bounds what a record reveals",
    "too-little-noise": "what a record reveals is bounded, by more than is stated",
    "false-only-for-replacement": "true where a record is added or removed, false where one is replaced",
    "bookkeeping": "a total, a size, a definition or a side remark is printed wrongly; no guarantee falls by it alone",
    "not-stated": "the paper leaves it open or excludes it; false is what an implementer may take it to mean",
}
INCOMPLETE = "incomplete"
"""Shown as the kind of a statement that is true under a condition that the paper does not print."""
PRINTED = (*(words for kind, words in KINDS.items() if kind != "not-stated"), INCOMPLETE)
"""The kinds of what a paper itself says and that needs a correction; the others are no errors of a paper."""
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


def in_print(claim: Claim) -> bool:
    """Whether the paper itself says what needs a correction."""
    return kind_words(claim) in PRINTED


def headline(own: Sequence[Claim]) -> str:
    """How many entries correct how many printed sentences, and how many are about what is not stated."""
    printed = [claim for claim in own if in_print(claim)]
    sentences = len({(paper_of(claim), claim.quote) for claim in printed})
    refuted = [claim for claim in printed if claim.verdict == "REFUTED"]
    replaced = sum(claim.kind == "false-only-for-replacement" for claim in refuted)
    only = f", {replaced} of these only where a record is replaced" if replaced else ""
    incomplete, beside = len(printed) - len(refuted), len(own) - len(printed)
    named = f"; {incomplete} name{'s' * (incomplete == 1)} a condition that is not printed" if incomplete else ""
    more = f" {beside} more {'is' if beside == 1 else 'are'} about what is not stated by the paper." if beside else ""
    shown = f"{len(refuted)} show one to be false{only}{named}."
    return f"**{len(printed)} entries correct {sentences} printed sentences. {shown}{more}**"


def number(text: str) -> str:
    """A number as a reader wants it: infinite, whole, or with four digits; a fraction is shown beside its value."""
    if text == "inf":
        return "infinite"
    value = Fraction(text)
    plain = str(value) if value.denominator == 1 else f"{float(value):.4g}"
    return f"{plain} ({text})" if "/" in text and len(text) < 10 else plain


def _sorted(claims: list[Claim]) -> list[Claim]:
    """The gravest kinds first, then by id, so that both relations of a statement stand side by side."""
    order = [*PRINTED, KINDS["not-stated"]]
    return sorted(claims, key=lambda claim: (order.index(kind_words(claim)), claim.id))


def _index(entries: Mapping[str, list[Claim]]) -> Iterator[str]:
    yield "# Errata of the five papers"
    yield ""
    yield headline([claim for own in entries.values() for claim in own])
    yield ""
    yield "| paper | " + " | ".join(PRINTED) + f" | printed, in all | {KINDS['not-stated']} |"
    yield "|---|" + "---:|" * (len(PRINTED) + 2)
    for paper, own in entries.items():
        counts = [sum(kind_words(claim) == words for claim in own) for words in PRINTED]
        counts += [sum(map(in_print, own)), len(own) - sum(map(in_print, own))]
        yield f"| [{PAPERS[paper]}]({paper}.md) | " + " | ".join(map(str, counts)) + " |"
    yield ""
    for kind, words in KINDS.items():
        yield f"- {words}: {MEANINGS[kind]}."
    yield f"- {INCOMPLETE}: true under a condition that is not printed."
    yield ""
    yield (
        "A false sentence does not make the idea behind it false: every entry has the corrected statement. Most of the "
        "papers' proofs add or remove a record, so that statements false only for replacement are no errors of theirs "
        "under that relation. Where refdp reads more into a sentence than it says, the entry says so; where the paper "
        "leaves a matter open, or excludes it itself, the entry counts as no error of the paper. A statement that is "
        "read under both relations has two entries. Every refutation has a witness that a machine checks again."
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
    yield f"{headline(own)} {links}."
    yield ""
    yield "| kind | entries |"
    yield "|---|---:|"
    for words in PRINTED:
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
