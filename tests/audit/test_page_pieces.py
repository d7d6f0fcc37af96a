"""Pages of audits in pieces: words, tables and chances of findings, and what the figures of a paper are of."""

from __future__ import annotations

import html
import math
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from refdp.audit import page
from refdp.audit.page import Figure, Page, Shown, Witness, drawn
from refdp.audit.page_chances import WIDTH, Chances, bars, chances, sentence, times
from refdp.audit.page_replay import _shortened, witness_of
from refdp.audit.verdicts import Row, Verdict
from refdp.data.records import Schema
from refdp.errors import InvalidParameter
from tests.audit.made_pages import NUMBERS, SCHEMA, a_pair, violation

# --- Chances ----------------------------------------------------------------------------------------------------------


def test_chances_of_the_whole_run_come_first_and_then_the_greatest_excess() -> None:
    small, large = violation(declared=1.0, observed=1.5), violation(declared=3.0, observed=4.0)
    whole = violation("loss", "whole run", 1.0, 1.25)
    found = chances([small, large], 9.0, None)
    assert found is not None and found[:2] == (3.0, 4.0) and found.by == "what this release is charged"
    assert chances([large, whole, small], 9.0, None) == (1.0, 1.25, "everything that is released", "the claim")
    more = violation("loss", "whole run", 1.0, 2.25)
    assert chances([whole, more], 9.0, None)[:2] == (1.0, 2.25) == chances([more, whole], 9.0, None)[:2]  # type: ignore[index]
    for one, other in (((9.0, 9.25), (1.0, 1.5)), ((0.0, 1.0), (1.0, 2.5)), ((1.0, 1.75), (0.0, 1.0)),
                       ((0.0, 0.0), (1.0, 1.5)), ((1.0, 0.75), (0.0, 0.0))):  # fmt: skip
        pair = [violation(declared=declared, observed=seen) for declared, seen in (one, other)]
        due = max((one, other), key=lambda each: each[1] - each[0])
        assert chances(pair, 9.0, None)[:2] == due == chances(pair[::-1], 9.0, None)[:2]  # type: ignore[index]
    zero = chances([violation("loss", declared=0.0, observed=0.0)], 1.0, None)
    assert zero is not None and zero[:2] == (0.0, 0.0)
    bare = violation("cost", declared=None), violation("loss", observed=None), violation("sensitivity")
    assert chances(bare, 1.0, None) is None and chances(bare, 1.0, 0.5) is None
    assert chances([*bare, small], 1.0, None)[:2] == (1.0, 1.5)  # type: ignore[index]
    assert chances([], 1.5, 0.75) == (1.5, 0.75, "everything that is released", "the claim")
    assert chances([], 1.5, None) is None and chances([], math.inf, 0.75) is None


WORDS = [(0.0, "1 times"), (1.0, "2.72 times"), (11.999, "1.63e+05 times"), (12.0, "e^12 times"),
         (12.34567, "e^12.35 times")]  # fmt: skip


@pytest.mark.parametrize(("loss", "words"), WORDS)
def test_chances_in_words(loss: float, words: str) -> None:
    assert times(loss) == words


def test_the_sentence_says_more_only_of_more() -> None:
    def said(allowed: float, seen: float) -> str:
        return sentence(Chances(allowed, seen, "all", "the claim"))

    assert said(1.0, 1.0).startswith("In the runs that were replayed, no outcome could be more than 2.72 times")
    assert said(1.0, 1.5).startswith("Some outcome is 4.48 times") and said(1.0, 1.5).endswith("allows 2.72 times.")
    assert said(1.0, math.inf).startswith("One data set can give what another")


@pytest.mark.parametrize(("allowed", "seen", "shares", "over"), [
    (1.0, 2.0, (100 * math.exp(-1), 100.0), True), (2.0, 1.0, (100.0, 100 * math.exp(-1)), False),
    (1.0, 1.0, (100.0, 100.0), False), (1.0, math.inf, (100.0, 100.0), True),
    (0.0, 9.0, (0.5, 100.0), True)])  # fmt: skip
def test_bars_are_as_long_as_their_chances(
    allowed: float, seen: float, shares: tuple[float, float], over: bool
) -> None:
    text = bars(Chances(allowed, seen, "<all>", "the claim"))
    assert [float(one) for one in re.findall(r"width:([0-9.]+)%", text)] == [pytest.approx(s, rel=1e-3) for s in shares]
    assert ('<figure id="chances" class="over">' in text) is over and "<all>" not in text and WIDTH == 100.0
    assert html.escape(times(allowed)) in text and ("without bound" in text) == math.isinf(seen)


# --- Tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("schema", [SCHEMA, NUMBERS], ids=["classes", "numbers"])
def test_a_witness_shows_both_data_sets(old: bool, schema: Schema) -> None:
    labels = ("no", "yes") if schema is SCHEMA else ("0", "1")
    found = witness_of(a_pair(schema, old).witness())
    assert found is not None and list(found.names) == ["length", "colour", "label"]
    rows = [("both", ["1", "red", labels[0]], False), ("first only", ["4.5", "blue", labels[1]], True)]
    rows += [("second only", ["5", "missing", labels[0]], True)] if old else []
    rows += [("both", ["2", "green", labels[1]], False), ("both", ["3", "blue", labels[0]], False)]
    assert [(a, list(b), c) for a, b, c in found.rows] == rows
    assert found.caption == f"Witness: two data sets, one record {'replaced' if old else 'added'}. "


def test_a_witness_tells_its_settings_and_its_source() -> None:
    given = a_pair(SCHEMA).witness() | {"params": {"trees": 2, "depth": 1}, "source": "claim/x"}
    found = witness_of(given)
    assert found is not None
    assert found.caption == "Witness of claim/x: two data sets, one record added. Settings: trees 2, depth 1."
    assert witness_of({"releases": ["x"]}) is None


def test_equal_rows_and_columns_side_by_side_are_joined() -> None:
    both = ("both", ["1", "1", "2", "1"], False)
    rows = [both, both, ("new", ["3", "3", "3", "3"], True), both]
    names, short = _shortened(["a", "b", "c", "label"], rows)
    assert names == ["a to b, 2 columns", "c", "label"]
    assert short == [("both, 2 times", ["1", "2", "1"], False), ("new", ["3", "3", "3"], True),
                     ("both", ["1", "2", "1"], False)]  # fmt: skip
    same = [("both", ["1", "1", "1"], False)]
    assert _shortened(["a", "b", "label"], same) == (["a to b, 2 columns", "label"], [("both", ["1", "1"], False)])


def test_a_table_of_a_witness_marks_what_differs() -> None:
    found = Witness("A <pair>", ["x"], [("both", ["1"], False), ("first only", ["<2>"], True)]).html()
    assert found == (
        '<div class="witness"><table><caption>A &lt;pair&gt;</caption><tr><th></th><th>x</th></tr>'
        "<tr><th>both</th><td>1</td></tr><tr class=changed><th>first only</th><td>&lt;2&gt;</td></tr></table></div>"
    )
    assert Shown("k", "", "", "e").html() == '<article><h3>k at the output</h3><p class="evidence">e</p></article>'
    full = Shown("k", "w", "s", "e", "words", "claim", Witness("c", [], [])).html()
    assert all(
        part in full for part in ("<h3>k at w</h3>", "<p>words</p>", '<p class="claim">claim</p>', "<code>s</code>")
    )
    assert full.index("words") < full.index("evidence") < full.index("claim") < full.index("witness")


def test_a_page_has_what_it_is_given_and_nothing_else() -> None:
    row = Row("noise", Verdict.NOT_FOUND, "because", "a lot", True)
    one = Page("T", Verdict.HOLDS, "fine", [("a", "b", "c")], [], [Figure("f", "<svg>", "cap")], "m", ["l1", "l2"], "r")
    bare = one.html()
    for absent in ('id="findings"', 'id="coverage"', 'id="undrawn"'):
        assert absent not in bare
    assert "<li>l1</li><li>l2</li>" in bare and "<h2>f</h2><svg><figcaption>cap</figcaption>" in bare
    rows = [row, replace(row, decides=False, verdict=Verdict.NOT_EXAMINED)]
    full = replace(one, findings=[Shown("k", "w", "s", "e")], undrawn="no <lib>", made="by hand", coverage=rows,
                   chances="<i>", word=Verdict.VIOLATION).html()  # fmt: skip
    assert '<p class="verdict bad" id="verdict">fine</p><i>' in full and "There are no figures: no &lt;lib&gt;" in full
    assert full.count("<article>") == 1 and '<tr class="ok"><th>noise</th>' in full and '<tr class=""><th>noise' in full
    assert page.COLOURS == {Verdict.VIOLATION: "bad", Verdict.NOT_EXAMINED: "open", Verdict.NOT_FOUND: "ok",
                            Verdict.HOLDS: "ok"}  # fmt: skip


def test_no_failure_of_a_figure_is_one_of_the_page() -> None:
    def failing(error: BaseException) -> Any:
        def figures() -> Any:
            raise error

        return figures

    one = Figure("f", "s", "c")
    assert drawn(lambda: [one]) == ([one], "")
    assert drawn(failing(ValueError("a\n b"))) == ((), "ValueError: a b")
    assert drawn(failing(KeyboardInterrupt())) == ((), "drawing them was interrupted")


def test_what_figures_need_is_tried_on_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    axes = SimpleNamespace(plot=lambda x, y: calls.append((x, y)))
    monkeypatch.setattr(page, "axes_of", lambda name: (axes, lambda: calls.append("finished")))
    page.check_drawing()
    assert calls == [([0, 1], [0, 1]), "finished"]
    for error, told in (
        (InvalidParameter("none"), "none"),
        (KeyError("font"), "--html: figures cannot be drawn: KeyError"),
    ):
        monkeypatch.setattr(page, "axes_of", lambda name, error=error: (_ for _ in ()).throw(error))
        with pytest.raises(InvalidParameter, match=told):
            page.check_drawing()
