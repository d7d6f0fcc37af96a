"""A curator in a fork of its process: two copies of one source would add the same noise."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from refdp.errors import InvalidParameter
from refdp.faces.training import Watched
from refdp.noise.mechanisms import Laplace
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation, Sensitivity
from refdp.privacy.sources import SampleSource

HERE = Sensitivity(1.0, 1, "composition/laplace", Relation.ADD_REMOVE)
ASKED: dict[str, Callable[[Curator], Any]] = {
    "release": lambda one: one.release("a", Laplace(1.0), np.zeros(1), sensitivity=HERE),
    "draw": lambda one: one.draw("a", ("uniform",), 1),
}


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system has no fork")
@pytest.mark.parametrize("made", ["here", "there", "there, watched"])
@pytest.mark.parametrize("kind", ASKED)
def test_a_curator_goes_on_in_its_own_process_alone(kind: str, made: str) -> None:
    """Nor is one made there of a source that was made here."""
    source = SampleSource(np.random.default_rng(1))
    curator = Curator(source, Relation.ADD_REMOVE)
    others = {"here": lambda: curator, "there": lambda: Curator(source, Relation.ADD_REMOVE),
              "there, watched": lambda: Curator(Watched(source, int), Relation.ADD_REMOVE)}  # fmt: skip
    ask, told = ASKED[kind], multiprocessing.get_context("fork").Queue()

    def elsewhere() -> None:
        try:
            told.put(str(ask(others[made]())))
        except InvalidParameter as error:
            told.put(f"refused: {error}")

    child = multiprocessing.get_context("fork").Process(target=elsewhere)
    child.start()
    found = told.get(timeout=60)
    child.join()
    assert found == "refused: a: a curator goes on in its own process; a fork has the same noise"
    ask(curator)
