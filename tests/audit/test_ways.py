"""Streams, participants and owners in the audit: messages and what every participant hears are compared."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refdp.audit import ways
from refdp.audit.noise_law import sampled
from refdp.faces import cli, registry
from refdp.noise.mechanisms import DiscreteGaussian
from refdp.privacy.events import Relation

FEW = ("--pairs", "1", "--json", "--set", "depth=1")
WAYS = {
    "stream": ("sgbdt", "--stream", "2", *FEW, "trees=2", "extra_trees=2"),
    "participants": ("fedgbdt", "--participants", "3", *FEW, "trees=1"),
    "owners": ("inprivate", "--owners", "2", *FEW, "rounds=1"),
}


def audited(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    status = cli.run(["audit", *arguments])
    return status, json.loads(capsys.readouterr().out)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refdp.audit.report.SIZES", (50,))
    monkeypatch.setattr("refdp.audit.report.WORST_PAIRS", 0)


@pytest.mark.parametrize("way", list(WAYS))
def test_honest_ways_are_not_accused(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, report = audited(capsys, *WAYS[way])
    assert report["violations"] == [] and status in (0, 3)
    assert {row["what"] for row in report["coverage"]} >= {"published object", "composition", "control flow"}


def test_a_participant_that_hears_a_count_is_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = ways.Overheard.ask

    def ask(self: Any, query: Any) -> Any:
        self.heard.append(self.size)
        return honest(self, query)

    monkeypatch.setattr(ways.Overheard, "ask", ask)
    status, report = audited(capsys, *WAYS["participants"])
    assert status == 1 and "model" in {violation["kind"] for violation in report["violations"]}


def test_noise_comes_in_shares_and_too_small_ones_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of four adds a quarter of the variance; a quarter of the deviation is not enough."""
    paper = registry.paper("sgbdt")
    params = paper.params({"epsilon": 1.0, "relation": Relation.ADD_REMOVE}, as_published=False)
    source = ways.participants(paper, 4).source
    law = DiscreteGaussian((3.0, 5.0), 2.0**-24)

    def tested() -> bool:
        found = sampled(law, 0, 1000, lambda generator: source(params, generator))
        return found is None or found.bet.rejects(1)

    assert not tested()
    monkeypatch.setattr("refdp.privacy.shares.share_deviation", lambda deviation, honest: deviation / honest)
    assert tested()


def test_what_a_paper_cannot_do_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    status, report = audited(capsys, "dpboost", "--stream", "2", "--json")
    assert status == 2 and "--stream for dpboost" in report["error"]
    status, report = audited(capsys, "sgbdt", "--stream", "2", "--json")
    assert status == 2 and "extra_trees" in report["error"]
