"""Every privacy mutant is caught and located; the unmutated module is not accused."""

from __future__ import annotations

from typing import Any

import pytest

from refdp.privacy.events import Relation
from tests.audit import mutants as verdicts
from tests.mutants.harness import Mutant
from tests.mutants.matrix import SUBJECTS, examine

EVERY = [(paper, mutant) for paper, subject in SUBJECTS.items() for mutant in subject.mutants]
CORRECT: dict[str, list[dict[str, Any]]] = {
    "dpboost": [{}, {"noise": "discrete"}, {"gradients": "clip"}],
    "dpxgboost": [
        {},
        {"leaf": "average", "stopping": "noisy"},
        {"candidates": "quantiles", "sketch_per": "run"},
        {"loss": "log", "ratio_bound": 16.0, "target": "binary", "noise": "discrete"},
        {"columns": 0.5, "subsample": 1.0, "gradients": "clip"},
    ],
    "fedgbdt": [
        {"splits": "histogram"},
        {"splits": "histogram", "features_per_tree": 1},
        {"splits": "partially-random"},
        {"candidates": "iterative-hessian", "sensitivities": "by-round"},
        {"batch": 3, "noise": "discrete"},
        {"target": "three"},
        {"target": "regression", "gradient_bound": 0.5},
        {"records_each": 3},
    ],
    "inprivate": [{}, {"target": "regression"}, {"target": "three", "owners": 1}, {"noise": "discrete"}],
}
"""Settings of each paper under which nothing is wrong."""


@pytest.mark.parametrize(("paper", "mutant"), EVERY, ids=[f"{paper}: {mutant.name}" for paper, mutant in EVERY])
def test_mutant_is_caught_and_located(paper: str, mutant: Mutant) -> None:
    row = examine(mutant, SUBJECTS[paper], whole=False)
    assert row.caught, "no check caught it"
    assert row.located, f"caught only at {row.caught}"


@pytest.mark.parametrize("count", [6, pytest.param(36, marks=pytest.mark.statistics)])
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(("paper", "changes"), [(paper, one) for paper, all_ in CORRECT.items() for one in all_])
def test_a_correct_module_is_not_accused(paper: str, relation: Relation, changes: dict[str, Any], count: int) -> None:
    unchanged = Mutant("nothing", (), "", {**changes, "relation": relation})
    assert examine(unchanged, SUBJECTS[paper], count=count).caught == []


def test_every_subject_has_correct_settings() -> None:
    assert CORRECT.keys() == SUBJECTS.keys()


@pytest.mark.parametrize(("name", "kinds"), [("fixed seed noise", {"seeded noise"}), ("nothing", set())])
def test_the_verdicts_name_a_mutant(name: str, kinds: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The program behind docs/audit-mutants.md: a mutant is named, the module itself is not."""
    monkeypatch.setattr(verdicts, "PAIRS", 2)
    mutants = {mutant.name: mutant for mutant in SUBJECTS["dpboost"].mutants} | {
        "nothing": Mutant("nothing", {}, "", {})
    }
    found, _ = verdicts.named(mutants[name], SUBJECTS["dpboost"])
    assert {kind for kind, _ in found} == kinds
