"""No default of the public interface changes by accident."""

from __future__ import annotations

import json

from tests.mutants import defaults


def test_defaults_are_those_of_the_table() -> None:
    """To change one on purpose run `python -m tests.mutants.defaults`, and read what it changed."""
    pinned, found = json.loads(defaults.TABLE.read_text(encoding="utf-8")), defaults.found()
    names = sorted(pinned.keys() | found.keys())
    assert {n: (pinned.get(n), found.get(n)) for n in names if pinned.get(n) != found.get(n)} == {}


def test_every_paper_and_estimator_is_in_the_table() -> None:
    found = defaults.found()
    for paper in ("dpboost", "dpxgboost", "fedgbdt", "inprivate", "sgbdt"):
        assert f"{paper}.Params" in found
    assert sum(name.startswith("refdp.faces.estimators.") for name in found) >= 8
    assert found["dpboost.Params"]["shrinkage"] == "0.1"
