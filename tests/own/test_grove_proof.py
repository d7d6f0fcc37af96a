"""The prove reading of Grove: two classes and three, and a regression whose labels are counted in four bins.

Three classes are read without the first pass. A regression with all its bins takes two minutes and carries the marker
`statistics`, as two classes and three at their defaults do; those of a regression and of two classes are kept.
"""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.data.population import Labels, Refresh
from refdp.own import grove
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.prove import syntax
from refdp.prove.reading import Proof, prove
from refdp.prove.report import schema_of
from tests.mutants.harness import applied, edit
from tests.own.test_grove import COUNTS, mutant_hessian, mutant_label, mutant_norm
from tests.thinned import thinned

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
FOUR_BINS = {"refdp.own.grove:LABEL_BINS": lambda _: 4, "refdp.own.grove:BINS": lambda bins: bins[:4]}
"""Of histograms of labels and residuals, so that a regression takes seconds."""


def read(classes: int, relation: Relation = ADD, **settings: Any) -> Proof:
    return prove("grove", grove.Params(1.0, relation, **settings), schema_of(classes), briefly=True)


@pytest.mark.parametrize(
    ("classes", "relation", "share"),
    [
        (2, ADD, 0.0),
        (3, ADD, 0.0),
        pytest.param(2, ADD, None, marks=pytest.mark.statistics),
        pytest.param(2, REPLACE, None, marks=pytest.mark.statistics),
        pytest.param(0, ADD, None, marks=pytest.mark.statistics),
        pytest.param(0, REPLACE, None, marks=pytest.mark.statistics),
        pytest.param(3, ADD, None, marks=pytest.mark.statistics),
    ],
)
def test_grove_is_proved_with_all_its_rounds(classes: int, relation: Relation, share: float | None) -> None:
    """By induction over the trees, so that the proof is about 400 of them as about three.

    share: 0 without the first pass.
    """
    found = read(classes, relation, feature_share=share)
    assert (found.verdict, found.failures) == ("PROVED", ())
    assert found.single <= (4 if classes == 0 else relation is REPLACE)  # that z3 may leave to cvc5
    assert any("by induction" in line for line in found.covers)


def test_a_regression_whose_records_are_replaced_is_proved() -> None:
    """Counts that no record makes smaller: a replaced one changes them by a root of two, and not by two."""
    with applied(FOUR_BINS):
        assert read(0, REPLACE, feature_share=0.0).verdict == "PROVED"


def test_counts_of_replaced_records_are_asked_about() -> None:
    bound = "numbers.root(Fraction(touched"
    less = edit((f"{bound}))", f"{bound}) * Fraction(99, 100))"))
    with applied({**FOUR_BINS, "refdp.own.grove:Params.counts_charge": less}):
        first = read(0, REPLACE, feature_share=0.0).failures[0]
    assert first.kind == "sensitivity" and first.exact


def test_what_all_trees_leave_is_cut_to_what_its_noise_is_for() -> None:
    """To half the range of labels; twice of it is told, however rarely a record leaves more."""
    wide = edit(("clip(square_gradient(score, label), 1.0)", "clip(square_gradient(score, label), 2.0)"))
    with applied({**FOUR_BINS, "refdp.own.grove:Contribution.statistics": wide}):
        first = read(0, feature_share=0.0).failures[0]
    assert first.kind == "sensitivity" and first.exact and first.release.startswith("left by all trees")


def test_a_regression_is_proved_and_divides_by_no_released_number_that_can_be_0() -> None:
    """What residuals are cut to is read off released counts: the text keeps it from 0 where it divides."""
    with applied(FOUR_BINS):
        assert read(0, feature_share=0.0).verdict == "PROVED"
    gradient = "on_grid(clip(square_gradient(score, label) / "
    bare = edit((f"{gradient}np.maximum(self.params.cut, GRID)", f"{gradient}self.params.cut"))
    with applied({**FOUR_BINS, "refdp.own.grove:Contribution.statistics": bare}):
        assert read(0, feature_share=0.0).failures[0].reason == (
            "a released number beside a record's values, but for a finite divisor away from 0"
        )


def one_cell(self: Any, share: float, cells: int) -> Any:
    return COUNTS(self, share, 1)


def cheap(self: Any) -> float:
    return 2 * total(self)


total = grove.Params.mu
MUTANTS = [
    ("norm", grove.Params, "joint_norm", mutant_norm, 2),
    ("hessian", grove, "log_hessian_of", mutant_hessian, 2),
    ("one cell", grove.Params, "counts_charge", one_cell, 2),
    ("budget", grove.Params, "mu", cheap, 2),
    ("label", grove.Contribution, "label", mutant_label, 2),
]


@pytest.mark.parametrize(
    ("owner", "name", "mutant", "classes"), thinned([one[1:] for one in MUTANTS], 3), ids=lambda one: str(one)[:20]
)
def test_mutants_are_not_proved(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, mutant: Any, classes: int
) -> None:
    """Half the sensitivity, too large a Hessian, a histogram charged as one cell, twice the budget, labels to 2."""
    monkeypatch.setattr(owner, name, mutant)
    monkeypatch.setattr(syntax, "otherwise_made", lambda *_: iter(()))  # no text makes what stands here
    assert read(classes).verdict == "NOT PROVED"


def test_a_private_sum_beside_the_releases_is_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that decides by what was not released."""

    def start(params: Any, schema: Any, population: Any, curator: Curator) -> Any:
        population.tell(grove.Begin(grove.Contribution(params, schema), (0,)))
        size, _ = grove.values(population.ask(Labels(0.0, 1.0)))
        population.tell(Refresh(("g", "h")))
        return 1.0, (0.5 if size > 10 else 0.0,)

    monkeypatch.setattr(grove, "start", start)
    monkeypatch.setattr(syntax, "otherwise_made", lambda *_: iter(()))  # no text makes what stands here
    found = read(2)
    assert (found.verdict, found.failures[0].kind) == ("NOT PROVED", "leak")


@pytest.mark.parametrize(
    ("function", "before", "after", "kind"),
    [
        ("Contribution.statistics", "(place == number)", "(place >= number)", "sensitivity"),
        ("narrowed", "params.counts_charge(share, 1)", "params.counts_charge(2 * share, 1)", "budget"),
        ("start", "params.counts_charge(share, 1)", "params.counts_charge(2 * share, 1)", "budget"),
    ],
    ids=["counted in several bins", "twice the share", "twice the share of the second look at labels"],
)
def test_counts_of_labels_and_residuals_are_asked_about(function: str, before: str, after: str, kind: str) -> None:
    with applied({**FOUR_BINS, f"refdp.own.grove:{function}": edit((before, after))}):
        found = read(0, feature_share=0.0)
    assert (found.verdict, found.failures[0].kind) == ("NOT PROVED", kind)
