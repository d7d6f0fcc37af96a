"""The matrix asks about mutants that exist, and its layers of tests pass without one."""

from __future__ import annotations

import pytest

from refdp.faces.registry import PAPERS
from tests.mutants.harness import Mutant, applied
from tests.prove import layers
from tests.prove.layers import NOTHING, sampled
from tests.prove.matrix import mutants


@pytest.mark.parametrize("paper", PAPERS)
def test_every_mutant_still_changes_the_text(paper: str) -> None:
    """Each edit finds its place: a text that moved would leave its mutant behind."""
    for _, mutant in mutants(paper):
        with applied(mutant.patches):  # type: ignore[arg-type]
            pass


def test_a_layer_kills_by_a_test_that_failed_and_not_by_a_process_that_ended() -> None:
    chosen = ["tests/kernels/test_kernels.py", "-k", "nothing_of_this_name"]
    assert layers._of_pytest(NOTHING, chosen) == ("not run", "pytest ended with 5")
    assert sampled("dpboost", NOTHING) == ("not touched", "")
    doubled = {"refdp.papers.dpboost:leaf_value": lambda value: lambda *sums: value(*sums) * 2}
    broken = Mutant("leaves twice as large", doubled, "", {})
    kind, test = layers._of_pytest(broken, layers.tests_of("dpboost")[0])
    assert kind == "killed" and "test_the_vectors_are_reproduced" in test
