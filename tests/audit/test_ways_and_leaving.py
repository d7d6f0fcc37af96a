"""Owners' requests through one curator, noise in shares, and what records that left would have spent."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy

from refdp.audit import blackbox_rows, leaving, ways
from refdp.audit.charge import Item
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.curator import Entry, Request, ScopeRef, Transcript
from refdp.privacy.events import Relation
from tests.audit.by_hand import ADD


@dataclass
class Asked:
    """A curator or a source that notes what it is asked."""

    requests: list[Request] = field(default_factory=list)

    def _ask(self, request: Request) -> Any:
        self.requests.append(request)
        return list(range(10, 16))

    release = draw = assign = _ask


@pytest.mark.parametrize("position", [0, 2])
def test_an_owners_requests_have_numbers_of_their_own(position: int) -> None:
    """Coins are asked for all rows and taken for its own."""
    curator = Asked()
    through = ways._Through(curator, position, 2, 5, 6)  # type: ignore[arg-type]
    scope = ScopeRef(3, "halves", "partition", (0.5, 0.5), 1)
    ask = Request("assign", ("rows",), size=3, serial=4, scopes=(scope,))
    assert through.assign(ask).tolist() == [12, 13, 14]
    assert through.release(ask) == through.draw(ask) == list(range(10, 16))
    assert [one.size for one in curator.requests] == [6, 3, 3]
    shift = {0: 1000, 2: 3000}[position]
    for one in curator.requests:
        assert one.path == (f"owner {position}", "rows") and one.serial == 4 + shift
        assert [inside.serial for inside in one.scopes] == [3 + shift] and one.scopes[0].block == 1


@pytest.mark.parametrize(("law", "shared"), [
    (Gaussian(1.0), False), (Gaussian((1.0, 2.0)), True), (DiscreteGaussian(1.0, 0.5), True), (Laplace(1.0), True),
    (DiscreteLaplace(1.0, 0.5), True), (Exponential(1.0), False)])  # fmt: skip
def test_noise_that_has_shares_comes_in_shares(law: Any, shared: bool) -> None:
    shares, rest = Asked(), Asked()
    both = ways.InShares(shares, rest)  # type: ignore[arg-type]
    both.release(Request("release", ("x",), None, law))
    assert (len(shares.requests), len(rest.requests)) == ((1, 0) if shared else (0, 1))
    both.draw(Request("draw", ("u",)))
    both.assign(Request("assign", ("c",)))
    assert len(rest.requests) == 2 + (not shared)


def test_which_papers_train_in_which_way() -> None:
    """At least two groups."""
    allowed = {ways.stream: ways.STREAMS, ways.participants: ways.PARTICIPANTS, ways.owners: ways.OWNERS}
    for way, names in allowed.items():
        for name in registry.PAPERS:
            paper = registry.paper(name)
            if name not in names:
                with pytest.raises(InvalidParameter, match="train in this way"):
                    way(paper, 2)
                continue
            assert way(paper, 2).paper.name == name
            for count in (1, ways.MOST + 1):
                with pytest.raises(InvalidParameter):
                    way(paper, count)
    made = ways.owners(registry.paper(ways.OWNERS[0]), 3).paper.module
    assert made.CURATORS == 3 and made.__name__ == registry.paper(ways.OWNERS[0]).module.__name__  # type: ignore[attr-defined]


# --- Records that left ------------------------------------------------------------------------------------------------


def run(values: list[Any], names: list[str] | None = None, laws: list[Any] | None = None) -> Transcript:
    entries = []
    for place, value in enumerate(values):
        name = "sum" if names is None else names[place]
        law = Laplace(1.0) if laws is None else laws[place]
        shown = None if value is None else np.atleast_1d(np.asarray(value, dtype=float))
        entries.append(Entry(Request("release", (str(place), name), None, law), np.zeros(1), None, shown))
    return Transcript(ADD, entries)


@pytest.mark.parametrize(("moved", "left", "returned", "on"), [
    ([1, 1, 1], 0, 0, None), ([0, 0, 0], 0, 1, None), ([1, 0, 0], 1, 0, 3), ([1, 0, 1], 0, 1, None),
    ([0, 1, 0], 1, 0, 2),
    ([0, 1, 1], 0, 0, None), ([1, 0, 1, 0], 1, 1, 3), ([0, 0, 1], 0, 0, None)])  # fmt: skip
def test_who_left_and_who_returned(moved: list[int], left: int, returned: int, on: int | None) -> None:
    """By the releases of one kind that a record changed; if it had gone on, all after the last would be like that."""
    one = leaving.Leaving()
    one.add(run([float(m) for m in moved]), run([0.0] * len(moved)))
    assert (one.left, one.returned) == (left, returned)
    if on is not None and any(moved):
        ((_, items),) = one.going_on
        assert len(items) == on and all((i.value - i.other).tolist() == [1.0] for i in items)
    elif not left:
        assert one.going_on == []


def test_other_kinds_and_shapes_are_told_apart() -> None:
    one = leaving.Leaving()
    present = run([1.0, 1.0, 0.0, 0.0, None], ["a", "b", "a", "b", "a"])
    one.add(present, run([0.0, 0.0, 0.0, 0.0, 0.0], ["a", "b", "a", "b", "a"]))
    assert one.left == 1 and [item.value.tolist() for item in one.going_on[0][1]] == [[1.0]] * 4
    wide = leaving.Leaving()
    rows = [[0.0, 0.0], 0.0, [0.0, 0.0]]
    wide.add(run([1.0, *rows]), run([0.0, *rows]))
    assert len(wide.going_on[0][1]) == 2  # of another shape nothing is known
    none = leaving.Leaving()
    none.add(run([1.0, 0.0], laws=[Laplace(1.0), None]), run([0.0, 0.0]))
    assert none.left == 0


def test_those_with_most_to_spend_are_kept() -> None:
    one = leaving.Leaving()
    for size in (1.0, 5.0, 2.0, 4.0, 3.0, 0.5):
        one.add(run([size, 0.0]), run([0.0, 0.0]))
    law = Laplace(1.0)
    due = [2 * law.divergence(np.array([size]), np.zeros(1), 2.0) for size in (5.0, 4.0, 3.0, 2.0)]
    assert [score for score, _ in one.going_on] == pytest.approx(due) and one.left == 6 and leaving.KEPT == 4


def test_what_they_would_have_exceeded() -> None:
    """Two releases that each lose 1; without a delta the sum counts, and at the claim nothing is exceeded."""
    one = leaving.Leaving()
    one.add(run([1.0, 0.0]), run([0.0, 0.0]))
    one.add(run([0.25, 0.0]), run([0.0, 0.0]))
    assert [one.refused(ADD, epsilon, 0.0) for epsilon in (0.4, 0.5, 1.9, 2.0, 2.1)] == [2, 1, 1, 0, 0]
    assert one.refused(ADD, 0.01, 0.25) == 2 - (1 - math.exp(-0.25) < 0.25) and one.refused(ADD, 2.0, 0.25) == 0
    one.returned = 1
    assert one.refused(ADD, 0.4, 0.0) == 0
    items = [Item(Laplace(1.0), np.array([1.0]), np.zeros(1))]
    assert leaving._exceeds(items, Relation.ADD_REMOVE, 1 - 1e-9, 0.0) and not leaving._exceeds(items, ADD, 1.0, 0.0)


# --- What a black-box audit would have shown --------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [1, 2, 3, 40, 1000, 50_000])
@pytest.mark.parametrize(("claimed", "delta", "confidence"), [(1.0, 0.0, 0.999999), (0.25, 0.01, 0.9)])
def test_the_least_epsilon_that_would_have_shown(runs: int, claimed: float, delta: float, confidence: float) -> None:
    """Clopper and Pearson's ends from beta quantiles, with an eighth of the error each."""
    error = (1 - confidence) / 4 / 2
    likelier = math.trunc(runs / 2 - 1.65 * math.sqrt(runs) / 2)
    due = f"no violation of an event that half of one side's runs hit, {blackbox_rows.SEARCHED}: too few runs"
    for step in range(1, 60):
        epsilon = claimed + 0.05 * 1.15**step
        expected = runs / 2 * math.exp(-epsilon)
        other = min(math.ceil(expected + 1.65 * math.sqrt(expected)), runs)
        low = (scipy.stats.beta.ppf(error, likelier, runs - likelier + 1) if likelier else 0.0) - delta
        high = scipy.stats.beta.ppf(1 - error, other + 1, runs - other) if other < runs else 1.0
        if low > 0 and math.log(low / high) > claimed:
            due = f"epsilon {epsilon:.3g} (95%), by an event that half of one side's runs hit, {blackbox_rows.SEARCHED}"
            break
    bound: Any = SimpleNamespace(claimed=claimed, last=runs, pairs=1, confidence=confidence, delta=delta, columns=1)
    assert blackbox_rows.power(bound) == due
    for change in ({"claimed": None}, {"last": 0}, {"claimed": math.inf}):
        assert blackbox_rows.power(SimpleNamespace(**{**vars(bound), **change})) == ""  # type: ignore[arg-type]
