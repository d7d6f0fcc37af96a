"""The errata: complete, in the numbers of the machine's witnesses, with costs that stand on the linked page."""

from __future__ import annotations

import io
import re
from fractions import Fraction
from math import e, exp, log, sqrt
from pathlib import Path

import pytest
from rich.console import Console

from proofs.dpxgboost import average, splits
from proofs.inprivate import selection
from proofs.tool.attribution import errata, measured
from proofs.tool.errata import PAPERS, headline, in_print, kind_words, number, paper_of
from proofs.tool.page import committed_pages
from refdp.ledger import claims
from refdp.ledger.claims import Claim, Erratum

ROOT = Path(__file__).parents[2]
ALL = {claim.id: claim for claim in claims.committed()}
OWN = [claim for claim in ALL.values() if claim.erratum]
FIGURE = re.compile(r"[+-]?\d+\.\d+")
RECOMPUTED: dict[str, tuple[float, float]] = {
    "dpxgboost/noisy-average": (1, 1 / 2 + log(21 / 11)),
    "dpxgboost/noisy-average-replace-one": (1, average.moved_average_loss(1.0)),
    "dpxgboost/split-selection-replace-one": (1, splits.published_replacement_loss(1.0)),
    "inprivate/eq-10": (1, selection.added_loss(1.0)),
    "inprivate/eq-10-replace-one": (1, selection.replaced_loss(1.0)),
    "inprivate/residual-bound": (1, 2 / (1 + exp(-1))),
    "inprivate/eq-12": (2, log(1 + e**2)),
    "inprivate/algorithm-1-line-10": (1 / 2 + 1 / 2, 5 / 2 + 1 / 2),
    "inprivate/rounds-disjoint": (1, 2 + 1),
    "dpboost/theorem-7-sum": (1, 6 / 2 + 1 / 12),
    "dpxgboost/eq-1-regulariser": (-1 / (2 * (1 + 4)), -1 / 3 + (1 + 2) / 2 * (1 / 3) ** 2),
    "fedgbdt/batched-update": (0, 0.3 * 0.5),
    "fedgbdt/definition-2-3": (exp(1 / 2), 2500 / 99),
    "fedgbdt/newton-sensitivity-tight": (sqrt(17) / 4, 1),
    "fedgbdt/dp-tr-newton-ih-ebm": (5 * 10, 5 * 1),
    "sgbdt/rdp-definition": (log(2), float("inf")),
}
"""Numbers that the machine's witness does not have as such: declared and observed, computed here."""


def value(text: str) -> float:
    """A number of an erratum."""
    return float("inf") if text == "inf" else float(Fraction(text))


def section(results: str) -> str:
    """The text under the linked heading, to the next one of its rank."""
    path, _, anchor = results.partition("#")
    level, taken = 0, list[str]()
    for line in (ROOT / path).read_text(encoding="utf-8").splitlines():
        heading = re.match(r"(#+) (.+)", line)
        if heading and level and len(heading[1]) <= level:
            break
        name = re.sub(r"[^\w\- ]", "", heading[2].lower()).replace(" ", "-") if heading else ""
        level = len(heading[1]) if heading and name == anchor else level
        taken += [line] if level else []
    return "\n".join(taken)


def test_every_false_or_incomplete_statement_that_is_printed_has_an_erratum() -> None:
    printed = {c.id for c in ALL.values() if c.verdict == "REFUTED" or (c.verdict == "CONDITIONAL" and c.quote)}
    assert {claim.id for claim in OWN} == printed == set(errata())
    assert {paper_of(claim) for claim in OWN} == set(PAPERS)
    assert sum(claim.verdict == "REFUTED" for claim in OWN) == 76


@pytest.mark.parametrize("claim", OWN, ids=lambda claim: claim.id)
def test_an_erratum_is_whole(claim: Claim) -> None:
    erratum = claim.erratum
    assert erratum is not None and claim.quote and claim.place
    assert erratum.why.endswith(".") and ". " not in erratum.why, "why it is false is one sentence"
    assert len(erratum.why.split()) <= 40
    assert re.search(r"\d|[Oo]ne|[Tt]wo|[Tt]en", erratum.example), "an example has numbers"
    assert not re.search(r"\b(lam|g|G|n|H|N_min|r1|s2|eta) = ", erratum.example.replace("r1 = 1/10", "")), (
        "bare symbols"
    )
    assert erratum.correction or claim.repaired_by
    assert erratum.cost and (claim.verdict == "REFUTED") == (kind_words(claim) != "incomplete")
    assert number(erratum.declared) and number(erratum.observed)


@pytest.mark.parametrize("claim", [c for c in OWN if c.verdict == "REFUTED"], ids=lambda claim: claim.id)
def test_numbers_are_the_witness_s(claim: Claim) -> None:
    """The machine's own two numbers where it shows them, else numbers of its witness or computed anew."""
    erratum, witness = claim.erratum, claim.witness or {}
    assert erratum is not None
    told = errata()[claim.id]
    if " exceeds " in witness.get("shows", "") and not told.declared:
        assert (
            f"{erratum.observed} (about" in witness["shows"]
            and f"exceeds {erratum.declared} (about" in witness["shows"]
        )
    elif claim.id in RECOMPUTED:
        for text, found in zip((erratum.declared, erratum.observed), RECOMPUTED[claim.id]):
            assert value(text) == pytest.approx(found, rel=1e-3)
    else:
        words = " ".join([*witness.values(), claim.statement, claim.argument, *claim.evidence])
        infinite = "inf" in words or "candidates on the neighbour" in witness
        assert (
            infinite if erratum.observed == "inf" else re.search(rf"(?<!\d){re.escape(erratum.observed)}(?!\d)", words)
        )


@pytest.mark.parametrize(
    "erratum", {c.erratum.cost: c.erratum for c in OWN if c.erratum}.values(), ids=lambda x: x.cost[:40]
)
def test_costs_stand_in_the_section_that_is_linked(erratum: Erratum) -> None:
    if erratum.results:
        text = section(erratum.results)
        assert text
        assert [figure for figure in FIGURE.findall(erratum.cost) if figure not in text] == []
    else:
        assert not FIGURE.search(erratum.cost)


def test_another_figure_is_not_on_the_page() -> None:
    assert "+13.4 " in section("docs/dpboost.md#what-each-repair-costs")
    assert "+13.5 " not in section("docs/dpboost.md#what-each-repair-costs")
    assert section("docs/dpboost.md#gone") == ""


def test_pages_show_every_entry_once_with_all_that_it_has() -> None:
    text = "".join(page for path, page in committed_pages().items() if path.startswith("docs/errata/"))
    for claim in OWN:
        assert text.count(f"\n## {claim.id}\n") == 1
        entry = text.partition(f"\n## {claim.id}\n")[2].partition("\n## ")[0]
        assert claim.erratum is not None
        for wanted in (claim.quote, claim.erratum.why, claim.erratum.cost, kind_words(claim), "refdp claims --show"):
            assert wanted in entry
        assert ("*Our reading:*" in entry) == bool(claim.reading)


NOT_STATED = {
    "dpboost/algorithm-2-line-14",
    "dpxgboost/gain-stop",
    "dpxgboost/gain-stop-replace-one",
    "dpxgboost/newton-gain-sensitivity",
    "fedgbdt/discrete-shares",
    "fedgbdt/eq-4-noisy",
    "fedgbdt/ldp-leaf-index",
}
"""What the papers leave open or exclude themselves, by their own words beside the quoted ones."""


def test_what_a_paper_leaves_open_is_counted_apart_from_what_it_prints() -> None:
    assert {claim.id for claim in OWN if not in_print(claim)} == NOT_STATED
    assert all(ALL[name].reading and ALL[name].verdict == "REFUTED" for name in NOT_STATED)
    index = committed_pages()["docs/errata/index.md"]
    assert headline(OWN) in index and f"**{len(OWN) - len(NOT_STATED)} entries correct " in index
    [row] = [line for line in index.splitlines() if line.startswith("| [DP-XGBoost")]
    *_, printed, beside = (int(cell) for cell in re.findall(r" (\d+) (?=\|)", row))
    assert (printed, beside) == (15, 3)


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("inprivate/collusion", "different trees use disjointed data sets ... "),
        ("inprivate/model", "different trees use disjointed data sets ... "),
        ("fedgbdt/eq-4", "As before one can show"),
    ],
)
def test_what_holds_under_the_conditions_that_a_paper_prints_is_no_erratum(name: str, printed: str) -> None:
    claim = ALL[name]
    assert claim.quote.startswith(printed) and claim.erratum is None
    assert claim.verdict in ("PROVED", "ARGUED") and not claim.assumes


@pytest.mark.parametrize("name", ["inprivate/theorem-7", "inprivate/theorem-7-replace-one"])
def test_candidates_from_records_are_marked_as_a_reading(name: str) -> None:
    assert "domain are read as those of the records" in ALL[name].reading


def test_an_example_names_every_weight_that_its_numbers_need() -> None:
    for name, gradient in (("sgbdt/individual-printed", 0.0), ("sgbdt/nonspherical", 0.5)):
        claim = ALL[name]
        assert claim.erratum is not None and "r1 + r2 = 1 is our reading" in claim.reading
        first, second = (float(Fraction(text)) for text in re.findall(r"r[12] = (\d+/\d+)", claim.erratum.example))
        assert value(claim.erratum.observed) == pytest.approx(2 * (second + first * gradient**2))
        assert value(claim.erratum.declared) == pytest.approx(2 * (first + second * gradient**2))


def test_a_headline_counts_sentences_once_and_conditions_apart() -> None:
    lemma, again = ALL["dpboost/lemma-1"], ALL["dpboost/lemma-1-replace-one"]
    assert lemma.quote == again.quote
    assert headline([lemma, again]) == "**2 entries correct 1 printed sentences. 2 show one to be false.**"
    beside = [lemma, ALL["dpboost/eq-2"], ALL["dpboost/lemma-2-replace-one"], ALL["dpxgboost/gain-stop"]]
    assert headline(beside) == (
        "**3 entries correct 3 printed sentences. 2 show one to be false, 1 of these only where a record is replaced; "
        "1 names a condition that is not printed. 1 more is about what is not stated by the paper.**"
    )


def test_numbers_come_from_the_witness_unless_stated() -> None:
    plain = Erratum("Why.", "One.", "change")
    witness = {"shows": "9730/3737 (about 2.60369) exceeds 230/231 (about 0.995671)"}
    found = measured(plain, witness)
    assert found is not None and (found.declared, found.observed) == ("230/231", "9730/3737")
    assert measured(plain, {"shows": "infinite loss"}) == plain
    assert measured(Erratum("Why.", "One.", "change", "1", "2"), witness) == Erratum("Why.", "One.", "change", "1", "2")


@pytest.mark.parametrize(
    ("text", "shown"),
    [("inf", "infinite"), ("2", "2"), ("9/8", "1.125 (9/8)"), ("1.167425", "1.167"), ("-1/2", "-0.5 (-1/2)")],
)
def test_numbers_are_readable(text: str, shown: str) -> None:
    assert number(text) == shown


def test_the_terminal_shows_it() -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(claims.show("dpboost/lemma-1"))
    shown = console.export_text()
    for wanted in ("why false", "Ten records of gradient -1", "230/231 = 0.995671 declared", "the repair costs"):
        assert wanted in shown
