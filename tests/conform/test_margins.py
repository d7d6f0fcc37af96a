"""Choices within the stated margin are acceptable and the run goes on; beyond it, and at ties, they are failures."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.conform import margins, runner
from refdp.conform.compare import differences
from refdp.conform.plain import array_in
from refdp.conform.runner import Report
from tests.conform.test_runner import command, some, wrong

ROOT = Path(__file__).parents[2]
GAIN = "return left[0] * left[0] / (left[1] + lam) + right[0] * right[0] / (right[1] + lam)"
"""DPBoost's utility in the Python client."""


def report(client: str, envelopes: list[dict[str, Any]]) -> Report:
    return runner.run(client, envelopes, timeout=30)


def altered(tmp_path: Path, change: str) -> str:
    return wrong(tmp_path, GAIN, GAIN.replace("return ", "found = ") + f"\n    return {change}")


def test_utilities_an_ulp_off_are_acceptable_and_the_run_goes_on(tmp_path: Path) -> None:
    """Every level up to train is reached, with acceptable instead of passed."""
    client = altered(tmp_path, "math.nextafter(found, INF)")
    found = report(client, some("dpboost", ("node", "train", "neighbour"), 12))
    assert found.total("failed") == 0 and found.total("acceptable") > 12, found.failures[:1]


@pytest.mark.parametrize("change", ["found * (1 + 2.0**-44)", "found + 2.0**-30", "1.0 - found"])
def test_utilities_further_off_are_failures(tmp_path: Path, change: str) -> None:
    found = report(altered(tmp_path, change), some("dpboost", ("train",), 12))
    assert found.total("failed") > 5 and found.total("acceptable") == 0


def narrow(ahead: float) -> dict[str, Any]:
    """A run of DPBoost in which the first choice leads by so little: the draw of one candidate is moved up to it."""
    body = some("dpboost", ("train",), 40)[0]
    for test in body["tests"]:
        side = json.loads(json.dumps(test["input"]))
        number = next(k for k, one in enumerate(side["tape"]) if one["law"] == ["gumbel"])
        entry, first = side["tape"][number], test["expect"]["releases"][0]
        utility, draws = array_in(first["value"]), array_in(entry)
        best = margins.places(margins.options("dpboost", side), array_in(first["output"]))[0]
        score, ulp = margins.scores(entry["mechanism"], utility, draws)
        other = next((k for k in range(best + 1, utility.shape[1]) if utility[0, k] != utility[0, best]), None)
        if other is None:
            continue
        moved = score[0, best] - ahead * ulp[0] - (score[0, other] - draws[0, other])
        entry["values"][other] = float(moved).hex()
        return {**body, "tests": [{**test, "input": side}]}
    raise AssertionError("no run with two candidates of different utility")


CHOICE = "    return scores.index(max(scores))"
SECOND = (
    "    if max(scores) - sorted(scores)[-2:][0] < 1e-13: return scores.index(sorted(scores)[-2])\n" + CHOICE
    + "\n"
)  # fmt: skip


@pytest.mark.parametrize(("ahead", "outcome"), [(2.0, "acceptable"), (40.0, "failed")])
def test_another_choice_by_a_small_margin_goes_on_with_refdps(tmp_path: Path, ahead: float, outcome: str) -> None:
    """All later releases and the model are those of refdp's choice, or the vector would not be settled."""
    body = narrow(ahead)
    right = report(command(sys.executable, ROOT / "conform" / "clients" / "reference.py"), [body])
    assert right.total("passed") == 1
    found = report(wrong(tmp_path, CHOICE, SECOND), [body])
    assert found.total(outcome) == 1, found.failures


def test_a_mistake_after_such_a_choice_is_found(tmp_path: Path) -> None:
    client = Path(tmp_path / "client.py")
    text = (ROOT / "conform" / "clients" / "reference.py").read_text()
    broken = text.replace(CHOICE, SECOND).replace("clamp(-g / (n + setting", "clamp(-g / (1.0 + n + setting")
    assert broken.count("1.0 + n + setting") == 1
    client.write_text(broken)
    found = report(command(sys.executable, client), [narrow(2.0)])
    assert found.total("failed") == 1 and "leaves" in found.failures[0]["path"] + "leaves"


def test_a_tie_is_no_margin() -> None:
    mechanism = {"name": "Exponential", "coefficient": "0x1p+0", "sampler": "gumbel"}
    utility, draws = np.array([[1.0, 1.0, 0.0]]), np.array([[0.5, 0.5, math.nextafter(1.5, 0)]])
    due = np.array([0])
    assert margins.within(mechanism, utility, draws, due, due, 4)
    assert not margins.within(mechanism, utility, draws, due, np.array([1]), 4)
    assert margins.within(mechanism, utility, draws, due, np.array([2]), 4)
    assert not margins.within(mechanism, utility, draws, due, np.array([2]), 0)
    assert not margins.within(mechanism, utility, draws, due, np.array([3]), 4)


def test_a_noise_scale_below_the_bound_is_no_margin() -> None:
    less = math.nextafter(1.0, 0).hex()
    for field in ("scale", "sd"):
        assert not next(iter(differences({field: "0x1p+0"}, {field: less}, ulps=1000))).acceptable
