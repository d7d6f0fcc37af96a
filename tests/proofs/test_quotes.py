"""What claims take from the papers: every quote is printed there; what is not printed says whose reading it is."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from rich.console import Console

from proofs.checker.proposition import attributed
from proofs.tool.attribution import MOST_WORDS, TEXTS, Attribution, attributions, printed, words
from proofs.tool.ledger import propositions
from proofs.tool.page import pages
from refdp.ledger import claims
from refdp.ledger.claims import Claim

PAPERS = os.environ.get("REFDP_PAPERS")
ALL = claims.committed()
OF_PAPERS = [claim for claim in ALL if claim.paper in TEXTS]
REPLACEMENT = "false-only-for-replacement"
QUOTED = [claim for claim in ALL if claim.quote]


@cache
def text(paper: str) -> str:
    """The paper's text; for shared facts the texts of all papers."""
    names = [TEXTS[paper]] if paper in TEXTS else list(TEXTS.values())
    return "\n".join((Path(PAPERS or "") / name).read_text(encoding="utf-8") for name in names)


@pytest.mark.skipif(PAPERS is None, reason="REFDP_PAPERS names no folder with the papers' texts")
@pytest.mark.parametrize("claim", QUOTED, ids=lambda claim: claim.id)
def test_quotes_are_printed_in_the_paper(claim: Claim) -> None:
    assert printed(claim.quote, text(claim.paper))


@pytest.mark.skipif(PAPERS is None, reason="REFDP_PAPERS names no folder with the papers' texts")
@pytest.mark.parametrize("claim", QUOTED, ids=lambda claim: claim.id)
def test_a_changed_word_is_no_quote(claim: Claim) -> None:
    for number, word in enumerate(claim.quote.split()):
        if word != "...":
            changed = [*claim.quote.split()]
            changed[number] = f"{word}changed"
            assert not printed(" ".join(changed), text(claim.paper)), word


@pytest.mark.parametrize("claim", OF_PAPERS, ids=lambda claim: claim.id)
def test_every_claim_of_a_paper_is_quoted_or_marked_as_ours(claim: Claim) -> None:
    assert claim.quote or claim.reading
    assert words(claim.quote) <= MOST_WORDS
    assert bool(claim.quote) == bool(claim.place)
    assert (claim.kind is not None) == (claim.verdict == "REFUTED")


@pytest.mark.parametrize("claim", [c for c in OF_PAPERS if c.verdict == "REFUTED"], ids=lambda claim: claim.id)
def test_what_is_refuted_is_printed(claim: Claim) -> None:
    """Nothing is refuted that has no sentence in a paper; a reading of ours stands beside the sentence that is read."""
    assert claim.quote


@pytest.mark.parametrize(
    "claim", [c for c in ALL if c.kind == "false-only-for-replacement"], ids=lambda claim: claim.id
)
def test_what_is_false_only_for_replacement_is_not_refuted_for_added_records(claim: Claim) -> None:
    assert claim.relation == "replace-one"
    other = next((c for c in ALL if c.id == claim.id.removesuffix("-replace-one") != claim.id), None)
    assert other is None or other.verdict != "REFUTED"


def test_the_ledger_holds_the_quotes_as_they_stand() -> None:
    """`python -m proofs page` writes them where a quote was changed."""
    stated = {name: proposition.attribution for name, proposition in propositions().items()}
    assert [c.id for c in ALL if attributed(c, stated[c.id]) != c] == []
    assert {c.id for c in ALL if c.quote or c.reading or c.kind} == set(attributions())


TEXT = """we calibrate the noise to the sensi-
tivity, which is **at most** one. The ﬁrst bound holds.

  Then  $F$  is private and costs $\\epsilon$ ."""


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("the noise to the sensitivity, which is at most one", True),
        ("The first bound holds. Then $F$ is private", True),
        ("we calibrate ... at most one ... costs $\\epsilon$.", True),
        ("the noise to the sensitivities", False),
        ("The last bound holds", False),
        ("at most one ... we calibrate", False),
        ("the noise ... twice", False),
    ],
)
def test_white_space_hyphens_and_ligatures_do_not_matter_and_words_do(quote: str, found: bool) -> None:
    assert printed(quote, TEXT) is found


def test_parts_of_a_quote_stand_close_to_each_other() -> None:
    assert printed("begin ... end", "begin" + "a " * 100 + "end")
    assert not printed("begin ... end", "begin" + "a " * 700 + "end")


def test_formulas_count_as_one_word_and_gaps_as_none() -> None:
    assert words("we have $a + b \\leq c$ ... for all") == 5


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"quote": "one " * 21, "place": "section 1"}, "21 words quoted, at most 20"),
        ({"quote": "one"}, "come together"),
        ({"place": "section 1"}, "come together"),
        ({}, "neither a quote nor a reading"),
        ({"reading": "Ours.", "kind": "wrong"}, "kind 'wrong' is none of no-guarantee"),
    ],
)
def test_incomplete_attributions_are_refused(fields: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Attribution(**fields)  # type: ignore[arg-type]


def test_the_page_and_the_terminal_show_quote_reading_and_kind() -> None:
    claim = replace(
        claims.get("dpboost/lemma-1"), quote="we have it", place="Lemma 1", reading="Ours.", kind="bookkeeping"
    )
    whole = pages({c.id: claim if c.id == claim.id else c for c in ALL})["docs/claims/dpboost.md"]
    assert "- printed (Lemma 1): “we have it”\n- our reading: Ours.\n- kind: bookkeeping\n" in whole
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(claims.show("dpboost/lemma-1-replace-one"))
    shown = console.export_text()
    assert "(section 3.1, Lemma 1; again in Corollary 1 with g_l*)" in shown
    assert "our reading" in shown and "too-little-noise" in shown
