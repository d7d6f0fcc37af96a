"""What the third paper prints of sensitivities, setting by setting; and masks of blocks, and choices of transcripts."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.conform.follow import Followed, Parted
from refdp.conform.plain import array_out
from refdp.data.following import Following
from refdp.data.memory import Memory
from refdp.data.records import Categorical, Interval, Numeric, Schema, make_records
from refdp.papers.published.dpxgboost import Params
from refdp.privacy.curator import Curator, Request
from refdp.privacy.events import Relation, Sensitivity
from refdp.privacy.sources import NoiselessSource

SCHEMA = Schema((Numeric("a", 0, 1), Numeric("b", 0, 1), Categorical("c", ("x", "y"))), Interval(-1.0, 1.0))
PROVED = Sensitivity(99.0, 1, "proved", Relation.ADD_REMOVE)


def printed(released: str, epsilon: float = 0.5, relation: str = "add-remove", **given: Any) -> Sensitivity:
    params = Params(epsilon=1.0, relation=Relation(relation), **({"constants": "published"} | given))
    return params.declared(released, SCHEMA, epsilon, PROVED)


@pytest.mark.parametrize("bound", [0.25, 0.75, 1.0])
@pytest.mark.parametrize("exponent", ["half", "whole"])
def test_printed_sensitivity_of_splits(bound: float, exponent: Any) -> None:
    """3 g*^2 (Eq. 5), twice that where the exponent is u / (2 Delta u); g* is no more than 1 for log loss."""
    times = 1 if exponent == "whole" else 2
    for loss, gain, leaf, relation, claim in (
        ("square", "newton", "laplace", "add-remove", "split-selection"),
        ("square", "newton", "minimum", "add-remove", "min-child-weight"),
        ("log", "newton", "laplace", "add-remove", "newton-gain-sensitivity"),
        ("log", "newton", "laplace", "replace-one", "split-selection-replace-one"),
    ):
        found = printed("splits", loss=loss, gain=gain, leaf=leaf, relation=relation, exponent=exponent,
                        gradient_bound=bound)  # fmt: skip
        assert found.bound == pytest.approx(times * 3 * bound**2, rel=1e-12) and found.norm == "range"
        assert found.claim == "dpxgboost/" + ("exponential-section-2" if exponent == "whole" else claim)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_printed_sensitivities_of_leaves_and_sketches(relation: str) -> None:
    """Eq. 6 and 7 and Algorithm 1; m features of a tree, or of the run, for sketches."""
    end = "" if relation == "add-remove" else "-replace-one"
    own: dict[str, Any] = {"relation": relation, "gradient_bound": 0.5, "regularisation": 0.25, "child_minimum": 3}
    found = printed("leaves", leaf="minimum", **own)
    assert found.bound == pytest.approx(1.0 / 4.25) and found.claim == f"dpxgboost/min-child-weight{end}"
    found = printed("leaves", leaf="laplace", **own)
    assert found.claim == "dpxgboost/leaf-sensitivity" + ("-published-replace-one" if end else "")
    assert found.bound == printed("leaves", leaf="laplace", **(own | {"relation": "add-remove"})).bound
    found = printed("leaves", leaf="average", epsilon=0.125, **own)
    assert found.bound == pytest.approx(2 * 0.5 / 0.125 * 0.125) and found.claim == f"dpxgboost/noisy-average{end}"
    for epsilon in (0.25, 2.0):
        found = printed("sketch", epsilon=epsilon, **own)
        assert found.bound == pytest.approx(2.0) and (found.norm, found.claim) == (1, f"dpxgboost/sketch{end}")
    for released in ("splits", "leaves", "sketch", "counts"):
        assert printed(released, constants="proved", **own) is PROVED
    assert printed("counts", **own) is PROVED


# --- Blocks and steps -------------------------------------------------------------------------------------------------


def test_a_block_of_a_population_shows_no_mask() -> None:
    """Which of its records are in it is known to nobody else; of slots it is theirs."""
    host = Memory(make_records(SCHEMA, np.zeros((5, 3)), np.zeros(5)))
    curator = Curator(NoiselessSource(np.random.default_rng(0)), Relation.ADD_REMOVE)
    with curator.subsample("s", 1.0, host) as mask:
        assert mask.shape == (0,)
    with curator.subsample("s", 1.0, 4) as mask:
        assert mask.tolist() == [True] * 4
    with curator.partition("p", [0.5, 0.5], 6, True) as blocks:
        masks = []
        for number in range(2):
            with blocks.block(number) as mask:
                masks.append(mask)
        assert [one.shape for one in masks] == [(6,), (6,)] and not (masks[0] & masks[1]).any()


def test_before_all_steps_there_is_one_node_and_no_leaf() -> None:
    start = Following()
    assert (start.nodes, start.leaves, start.still) == (1, [], (True, True))


# --- Transcripts ------------------------------------------------------------------------------------------------------


def request(options: Any) -> Any:
    return SimpleNamespace(name="splits", options=options)


def test_choices_of_a_transcript() -> None:
    """Positions as they are told, or rows found among the options, the first of equal ones; nothing else."""
    source, table = Followed([]), np.zeros((2, 3))
    for part in ("index", "output"):
        found = source._option(request(None), {part: array_out(np.array([2.0, 0.0]))}, table)
        assert found.tolist() == [2, 0] and found.dtype == np.int64
        for wrong in ([3.0, 0.0], [0.0, -1.0], [0.0], [0.0, 1.0, 2.0]):
            with pytest.raises(Parted, match="choices"):
                source._option(request(None), {part: array_out(np.array(wrong))}, table)
    options = np.array([[0.0, 0.5], [1.0, 0.25], [0.0, 0.5]])
    for rows, due in (([[1.0, 0.25], [0.0, 0.5]], [1, 0]), ([[0.0, 0.5], [1.0, 0.25]], [0, 1])):
        told = {"output": array_out(np.array(rows))}
        assert source._option(request(options), told, table).tolist() == due
    for other in ([[1.0, 0.5], [0.0, 0.5]], [[0.0, 0.5], [1.0, 0.5]]):
        with pytest.raises(Parted, match="none of the options"):
            source._option(request(options), {"output": array_out(np.array(other))}, table)
    for other in ([0.0, 0.5], [[0.0], [1.0]], [[0.0, 0.5, 0.0]] * 2, [[[0.0, 0.5]]]):  # type: ignore[assignment]
        with pytest.raises(Parted, match=r"an output of shape .* options are of \(3, 2\)"):
            source._option(request(options), {"output": array_out(np.array(other))}, table)
    with pytest.raises(Parted, match="choices"):
        source._option(request(options), {"output": array_out(np.array([[1.0, 0.25]]))}, table)
    table[1, 2] = -np.inf
    assert source._option(request(None), {"index": array_out(np.array([2, 0]))}, table).tolist() == [2, 0]
    for given, picks in ((None, [0, 2]), (np.arange(3.0)[:, None], [[0.0], [2.0]])):
        with pytest.raises(Parted, match="excluded"):
            source._option(request(given), {"output": array_out(np.array(picks))}, table)


def test_draws_and_entries_of_a_transcript_in_their_order() -> None:
    own = Request("draw", ("values",), law=("uniform",), size=2)
    entries = [{"path": ["values"], "kind": "draw", **array_out(np.array([0.25, 0.5]))} for _ in range(2)]
    source = Followed(entries)
    with pytest.raises(Parted, match="released after the end"):
        source.finish()
    assert source.draw(own).tolist() == [0.25, 0.5]
    with pytest.raises(Parted, match=r"drawn in shape \(2,\), \(2, 1\) is due"):
        source.draw(replace(own, size=(2, 1)))
    source.finish()
    with pytest.raises(Parted, match="the transcript ends before it"):
        source.draw(own)
    for name, kind in (("other", "draw"), ("values", "release")):
        with pytest.raises(Parted, match="is due"):
            Followed(entries).draw(Request(kind, (name,), law=("uniform",), size=2))  # type: ignore[arg-type]
    for wrong in (np.nan, np.inf):
        bad = [{"path": ["values"], "kind": "draw", **array_out(np.array([0.25, wrong]))}]
        with pytest.raises(Parted, match="not finite"):
            Followed(bad).draw(own)
