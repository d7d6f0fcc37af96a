"""The page of a black-box audit from a bound at hand: facts, findings, and losses estimated in bins."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import page, page_blackbox
from refdp.audit.blackbox import Bound, bound_from, epsilon_lower_bound
from refdp.audit.page_blackbox import about_bits, blackbox_page, estimated_losses, evidence_of, verdict, violations
from refdp.audit.tradeoff import gaussian_lower_bound, trade_off
from refdp.audit.verdicts import Row, Verdict, summary

BOUND = Bound(2.5, 0.999, 0.125, 1.5, "x > 1", "", "second", "betting", (1200, 34), 5678, 12345, 0, 1.0)
FINDING = {
    "kind": "reuse",
    "where": "noise",
    "meaning": "reused",
    "evidence": {"a": 1, "b": 2},
    "violation": True,
}
ROWS = (Row("pairs", Verdict.NOT_FOUND, "why", "", True),)


def made(bound: Bound = BOUND, structural: Any = (), **more: Any) -> Any:
    runs = np.zeros((4, 1)), np.ones((4, 1))
    return blackbox_page("f", len, bound, structural, runs, "cmd", ROWS, **more)


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    asked: list[Any] = []

    def noted(name: str, answer: Any) -> Any:
        def called(*given: Any, **named: Any) -> Any:
            asked.append((name, given, named))
            return answer

        return called

    for name, answer in (("curve_from", "curve"), ("estimated_losses", ("losses", "shares")), ("curve_figure", "one"),
                         ("loss_figure", "two")):  # fmt: skip
        monkeypatch.setattr(page_blackbox, name, noted(name, answer))
    return asked


@pytest.mark.parametrize("stops", [1, 4])
@pytest.mark.parametrize("bits", [True, False])
def test_figures_share_the_error_of_the_band(figures: list[Any], stops: int, bits: bool) -> None:
    found = made(stops=stops, low_bits=bits)
    assert found.figures == ["one", "two"]
    calls = {name: (given, named) for name, given, named in figures}
    given, named = calls["curve_from"]
    assert given[0].tolist() == [[0.0]] * 4 and given[1].tolist() == [[1.0]] * 4 and named == {"low_bits": bits}
    assert given[2] == pytest.approx(1 - 0.01 / stops, abs=1e-15)
    assert calls["curve_figure"][0] == ("curve", 1.5, 0.125) and calls["estimated_losses"][0] == ("curve",)
    assert calls["loss_figure"][0][:3] == ("losses", "shares", 1.5)


def test_facts_and_findings(figures: list[Any]) -> None:
    found = made(structural=[FINDING])
    assert figures[0][1][2] == pytest.approx(0.99) and figures[0][2] == {"low_bits": True}
    assert found.facts == [
        ("epsilon", "1.5", "at least 2.5, confidence 0.999"), ("delta", "0.125", ""), ("runs a side", "", "12,345"),
        ("event", "", "x > 1, second side likelier"), ("counts", "", "1,200 : 34 of 5,678 (betting)"),
    ]  # fmt: skip
    first, second = found.findings
    assert (first.kind, first.where, first.source) == ("epsilon >= 2.5", "x > 1", "len")
    assert first.evidence == "1200 of 5678 runs on the second side, 34 on the other"
    assert (second.kind, second.where, second.source, second.evidence) == (
        "reuse",
        "noise",
        "len",
        "reused; a 1, b 2",
    )
    assert found.word == summary(ROWS) and found.title == "Black-box audit of f" and found.coverage == ROWS
    assert found.reproduce == "cmd" and "runs with different seeds" in found.limits[1]
    open_one = made(replace(BOUND, claimed=None, lower=0.5))
    assert open_one.facts[0] == ("epsilon", "inf", "at least 0.5, confidence 0.999")
    assert open_one.verdict == "No violation of (inf, 0.125) privacy of f found in 12,345 runs a side."


def test_the_verdict_of_a_bound() -> None:
    calm = replace(BOUND, lower=1.5)
    assert verdict("f", BOUND, []) == "f is not (1.5, 0.125) private: epsilon is at least 2.5."
    assert verdict("f", calm, []) == "No violation of (1.5, 0.125) privacy of f found in 12,345 runs a side."
    odd = {**FINDING, "violation": False}
    assert verdict("f", calm, [odd, FINDING]) == "f is not (1.5, 0.125) private: reuse (reused)."
    assert violations([odd, FINDING]) == [FINDING] and verdict("f", calm, [odd]).startswith("No violation")
    assert page_blackbox._lower_bound(calm, "x") == []
    bits = replace(BOUND, event="log2 of the lowest set bit of output 0 <= 1")
    assert len(about_bits(bits)) == 1 and about_bits(BOUND) == [] == about_bits(replace(bits, lower=1.0))
    assert "; the event is about the last bits" in page_blackbox._lower_bound(bits, "x")[0].evidence
    assert evidence_of({"evidence": {"a": "x" * 400}}) == "a " + "x" * 298


def test_losses_are_log_ratios_of_bins_of_equal_mass() -> None:
    """With a large number for infinities and 0 for what is none; half a run is added to each count."""
    first = np.concatenate([np.arange(400.0), [math.inf, -math.inf, math.nan]])
    second = np.concatenate([np.arange(400.0) ** 2 / 400, [math.inf] * 5])
    curve: Any = SimpleNamespace(scores=(first, second))
    losses, shares = estimated_losses(curve)
    known = [[1e300 if v == math.inf else -1e300 if v == -math.inf else 0.0 if math.isnan(v) else v for v in side]
             for side in (first.tolist(), second.tolist())]  # fmt: skip
    pooled = known[0] + known[1]
    edges = sorted({float(np.quantile(pooled, k / 41)) for k in range(1, 41)})
    counts = [[0] * (len(edges) + 1) for _ in range(2)]
    for side, values in enumerate(known):
        for value in values:
            counts[side][sum(edge <= value for edge in edges)] += 1
    assert losses == pytest.approx([math.log((a + 0.5) / (b + 0.5)) for a, b in zip(*counts, strict=True)])
    assert shares == pytest.approx([a / 403 for a in counts[0]]) and len(losses) == 41


def test_bins_that_one_side_never_reaches_are_empty_and_huge_numbers_are_large() -> None:
    low, high = np.arange(100.0), np.arange(100.0) + 200
    for first, second in ((low, high), (high, low)):
        losses, shares = estimated_losses(SimpleNamespace(scores=(first, second)))  # type: ignore[arg-type]
        assert len(losses) == len(shares) == 41 and math.isclose(shares.sum(), 1.0)
        assert bool(losses[0] > 0) is bool(first[0] == 0.0) and losses[0] == pytest.approx(-losses[-1], abs=1.0)
    huge = [np.array([0.0, 1e301]), np.array([1e300, 1e302])]
    losses, shares = estimated_losses(SimpleNamespace(scores=tuple(huge)))  # type: ignore[arg-type]
    same, parts = estimated_losses(SimpleNamespace(scores=(np.array([0.0, 1e300]), np.full(2, 1e300))))  # type: ignore[arg-type]
    assert np.array_equal(losses, same) and np.array_equal(shares, parts)
    huge = [-one for one in huge]
    same, parts = estimated_losses(SimpleNamespace(scores=(np.array([0.0, -1e300]), np.full(2, -1e300))))  # type: ignore[arg-type]
    losses, shares = estimated_losses(SimpleNamespace(scores=tuple(huge)))  # type: ignore[arg-type]
    assert np.array_equal(losses, same) and np.array_equal(shares, parts)


def test_drawings_are_vector_graphics_without_a_date() -> None:
    """Seven inches by four, the same each time, with a name for those who do not see them."""
    pytest.importorskip("matplotlib", reason="the extra plots is not installed")
    texts = []
    for _ in range(2):
        axes, finish = page.axes_of("a figure")
        axes.plot([0, 1], [0, 1])
        texts.append(finish())
    assert texts[0] == texts[1] and texts[0].startswith('<svg role="img" aria-label="a figure"')
    assert texts[0].count("<svg") == 1 and "metadata" not in texts[0] and "</svg>" in texts[0] and "path" in texts[0]
    assert 'width="504pt"' in texts[0] and 'height="288pt"' in texts[0]


def test_what_is_taken_where_nothing_is_said() -> None:
    def defaults(function: Any) -> dict[str, Any]:
        given = inspect.signature(function).parameters.items()
        return {n: p.default for n, p in given if p.default is not inspect.Parameter.empty and n != "progress"}

    assert defaults(bound_from) == {"low_bits": True, "without": ()}
    assert defaults(epsilon_lower_bound) == {"delta": 0.0, "claimed": None, "confidence": 1 - 1e-6, "samples": 100_000,
                                             "seed": 0, "low_bits": True}  # fmt: skip
    assert defaults(trade_off) == {"confidence": 0.99, "samples": 20_000, "seed": 0, "low_bits": True}
    assert defaults(gaussian_lower_bound) == {"confidence": 0.99, "samples": 20_000, "seed": 0, "low_bits": False}
    assert defaults(blackbox_page) == {"stops": 1, "low_bits": True}
