"""Parts of a package report's page, for findings and entries put together by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from refdp.audit.package import page
from refdp.audit.package.causes import EPSILON
from refdp.audit.package.findings import Witness
from refdp.audit.verdicts import Row, Verdict
from tests.packages.test_report_pieces import entry, examined, finding


def bare(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).strip()


def test_the_strongest_figures_of_an_entry() -> None:
    """The greatest exact loss, the first structural finding, and what the black box shows."""

    def shown(*findings: Any, **figures: Any) -> str:
        return page._shown(replace(examined("a", *findings), figures=figures))

    def lost(*losses: Any) -> str:
        return shown(*(finding(figures={"loss": one}) for one in losses))

    assert shown() == shown(finding(figures={})) == "nothing"
    assert (
        lost(1.5, 2.5, 0.5) == "loses epsilon 2.5 (exact replay)" and lost("nan", 3) == "loses epsilon 3 (exact replay)"
    )
    assert lost(1.0, "inf") == "loses more than any epsilon (exact replay)" and lost("nan") == "differs (exact replay)"
    structural = [
        replace(finding(figures={"loss": 9.0}, violation=one), stage="structural") for one in (False, True, True)
    ]
    assert shown(*structural) == EPSILON.title.lower() and shown(structural[0]) == "nothing"
    assert shown(**{"black box": {"epsilon at least": 1.23456}}) == "epsilon at least 1.23 (black box)"
    assert shown(**{"black box": {}}) == "nothing"
    assert (
        shown(finding(figures={"loss": 2.0}), structural[1], **{"black box": {"epsilon at least": 0}}).count(";") == 2
    )


def test_a_finding_on_the_page() -> None:
    one = finding(places=("w", "x", "y"), figures={"n": 3, "m": 0.123456789, "t": "<text>", "l": [1]})
    told = bare(page._finding(one, "CURVE"))
    assert (
        "a: w, and 2 more places" in told and "Contradicts" in told and "CURVE" in told and "n 3 m 0.123457 t" in told
    )
    assert (
        "l [1]" in told
        and "Accepted" not in told
        and "Replay: sure." in told
        and "&lt;text&gt;" in page._finding(one, "")
    )
    for places in ((), ("w",)):
        assert "more places" not in page._finding(replace(one, places=places), "")
    assert "and 1 more places" in page._finding(replace(one, places=("w", "x")), "")
    quiet = page._finding(replace(one, violation=False, accepted="why"), "")
    assert (
        "Contradicts" not in quiet
        and "Accepted in the baseline: why" in quiet
        and '<article class="accepted">' in quiet
    )
    assert '<article class="">' in page._finding(one, "") and "<pre>text</pre>" in page._finding(one, "")
    for standalone, ran, words in [
        (True, True, "Runs without refdp"),
        (False, True, "Needs refdp; it was run again"),
        (False, False, "The examination itself"),
        (True, False, "The examination itself"),
    ]:
        assert f"Witness. {words}" in bare(page._finding(replace(one, witness=Witness("code", standalone, ran)), ""))


def test_records_that_the_other_side_does_not_have_are_marked() -> None:
    """Each as often as it is there more."""
    html = page._records({"first": [[1.0, 2.5], [3.0, 4.0], [3.0, 4.0]], "second": [[3.0, 4.0], [5.0, 6.0]]})
    lines = re.findall(r"<tr( class=changed)?><th>(\w+) data set</th><td>([\d.]+)</td>", html)
    assert lines == [(" class=changed", "first", "1"), ("", "first", "3"), (" class=changed", "first", "3"),
                     ("", "second", "3"), (" class=changed", "second", "5")]  # fmt: skip
    assert "<td>no records</td>" in page._records({"first": [[1.0]], "second": []}) and page._records({}) == ""
    assert "no records" not in html


def test_an_entry_on_the_page() -> None:
    one = replace(examined("a", time=Verdict.NOT_EXAMINED), pairs=("one", "two"))
    told = bare(page._entry(one, "CURVE"))
    assert "Entered by m:f , package line" in told and "CURVE" in told and "were tried: 2 one two" in told
    assert "nothing is concluded about: time." in told and "time reason" not in told and "sampler reason" in told
    assert "nothing is concluded" not in page._entry(examined("a"), "")
    assert "releases reason" in page._entry(examined("a", releases=Verdict.NOT_EXAMINED), "")
    command = replace(one, entry=replace(entry("a"), kind="command", target=("run", "it")))
    assert "<code>run it</code>" in page._entry(command, "")
    row = Row("releases", Verdict.NOT_FOUND, "r", "p")
    assert page.COLOURS[Verdict.NOT_FOUND] in page._row(row) and 'class=""' in page._row(replace(row, decides=False))
    assert "<svg>" in page._curve(replace(one, svg="<svg>")) and page._curve(replace(one, svg="")) == ""


def test_provenance_in_rows() -> None:
    html = page._provenance({"command": "refdp <x>", "a": {"b": 1, "c": {"d": "e"}}, "f": [2]})
    assert re.findall(r"<tr><th>([^<]*)</th><td>([^<]*)</td>", html) == [("a b", "1"), ("a c d", "e"), ("f", "[2]")]
    assert '<pre id="reproduce">refdp &lt;x&gt;</pre>' in html
