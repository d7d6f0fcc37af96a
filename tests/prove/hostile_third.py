"""Training texts of a third attack that leak or spend more than they claim, and were not refused; none may be proved.

Each is one line away from a trainer: a flag that a host obeys, refdp's own way to choose by class, a step of the scores
beyond float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.mutants.harness import Mutant, edit

D, F, S, X, OWNERS = (f"refdp.papers.{name}" for name in ("dpboost", "fedgbdt", "sgbdt", "dpxgboost", "inprivate"))
GAIN, LEAF = "return gradient_sum * gradient_sum", "return -gradient_sum"


def _mutant(name: str, path: str, *changes: tuple[str, str], **settings: object) -> Mutant:
    return Mutant(name, {path: edit(*changes)}, "", dict(settings))


def _weighs(name: str, paper: str, flag: Any = True, **settings: object) -> Mutant:
    """Hosts take weights of records for this trainer, whose sensitivities are about records that count 1.

    DPBoost's one leaf of a record of weight 0.3 and residual 1 moves by 1.11 when a record of residual -1 joins it, and
    0.91 are declared.
    """

    def made(cls: Any) -> Any:
        return dataclass(frozen=True)(type(cls.__name__, (cls,), {"__module__": cls.__module__, "weighs": flag}))

    return Mutant(name, {f"{paper}:Contribution": made}, "", dict(settings))


WEIGHED: tuple[Mutant, ...] = (
    _weighs("weights of records where leaves are quotients", D),
    _weighs("weights of records where a gain has its count at least 1", OWNERS),
    _weighs("weights of records where leaves are not padded", X, leaf="laplace"),
    _weighs("weights of records by a property", D, property(lambda self: self.params.trees > 0)),
)
CHOSEN: tuple[Mutant, ...] = (
    _mutant("a gain that is doubled for numpy's arrays alone", f"{D}:child_gain",
            (GAIN, "twice = numbers.Generic('twice', lambda own: own)\n"
                   "    twice.register(np.ndarray, lambda own: 2 * own)\n"
                   "    return twice(gradient_sum) * gradient_sum")),
    _mutant("a leaf that is doubled for numpy's arrays alone", f"{D}:leaf_value",
            (LEAF, "twice = numbers.Generic('twice', lambda own: own)\n"
                   "    twice.register(np.ndarray, lambda own: 2 * own)\n"
                   "    return -twice(gradient_sum)")),
    _mutant("a leaf that is doubled where no other numbers are registered", f"{D}:leaf_value",
            (LEAF, "return (2 if len(minimum._kinds) < 2 else 1) * -gradient_sum")),
)  # fmt: skip
MOVED: tuple[Mutant, ...] = (
    _mutant("a step of the scores beyond float64", f"{D}:train_ensembles",
            ("trees[-1].leaves[None], params.shrinkage", "trees[-1].leaves[None] * 1e307, params.shrinkage"),
            trees=2, trees_per_ensemble=2),
    _mutant("an infinite step of the scores", f"{D}:train_ensembles",
            ("trees[-1].leaves[None], params.shrinkage", "trees[-1].leaves[None] / 0.0, params.shrinkage"),
            trees=2, trees_per_ensemble=2),
    _mutant("a weight of a step beyond float64", f"{F}:boost",
            ("population.tell(Advance(leaves, share))", "population.tell(Advance(leaves, 1e308))"), trees=3),
)  # fmt: skip
RAISED: tuple[Mutant, ...] = (
    _mutant("an underflow that raises, where a record has a tiny score", f"{F}:Contribution.statistics",
            ('np.errstate(over="ignore")', 'np.errstate(over="ignore", under="raise")'), shrinkage=1e-307, trees=2),
)  # fmt: skip
REFUSED: tuple[Mutant, ...] = (
    _mutant("a sum that is asked for before the sample is drawn", f"{S}:grow",
            ('        with curator.subsample("sample", params.subsample, population):',
             '        whole = values(population.ask(Leaves(("g", "h"))))[0].T\n'
             '        with curator.subsample("sample", params.subsample, population):'),
            ('curator.release_sum("leaves", charge, population, Leaves(("g", "h")), lambda sums: sums[0].T)',
             'curator.release("leaves", charge, whole)'), trees=2, subsample=0.1),
    _mutant("records that paid once for all rounds", f"{S}:grow",
            ('        population.tell(Refresh(("g", "h")))', '        trees or population.tell(Refresh(("g", "h")))'),
            ("        if params.extra_trees:", "        if params.extra_trees and not trees:"),
            trees=1, extra_trees=3),
    _mutant("a smaller one by numpy's third argument", f"{OWNERS}:clip",
            ("maximum(-bound, minimum(bound, residual))",
             "maximum(-bound, minimum(residual, residual, 0 * residual + bound))"), residual_bound=0.5),
    _mutant("no room for rounding to the grid of the noise", f"{D}:Params.leaf_charge",
            ("touched=touched", "touched=0"), noise="discrete"),
)  # fmt: skip
THIRD = (*WEIGHED, *CHOSEN, *MOVED, *RAISED, *REFUSED)
