"""Training texts of a fourth attack that leak or spend more than they claim, and were not refused; none may be proved.

Their formulas are right. What a host does with them is not the same for every record: it looks up a leaf that has no
value, a node without a split, a category without a bin, adds beyond its whole numbers, or moves scores to what is no
number. One text tells records that have weights from records that have none.
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit

D, F, S, X, OWNERS = (f"refdp.papers.{name}" for name in ("dpboost", "fedgbdt", "sgbdt", "dpxgboost", "inprivate"))
ADVANCE = "population.tell(Advance(trees[-1].leaves[None], params.shrinkage))"
MANY = {"trees": 2, "extra_trees": 8}


def _mutant(name: str, path: str, *changes: tuple[str, str], **settings: object) -> Mutant:
    return Mutant(name, {path: edit(*changes)}, "", dict(settings))


UNMATCHED: tuple[Mutant, ...] = (
    _mutant("the last leaf has no value, and a record in it is an error", f"{D}:train_ensembles",
            (ADVANCE, ADVANCE.replace("[None]", "[None, :-1]")), trees=2, trees_per_ensemble=2),
    _mutant("one value for all leaves, which only the first one finds", f"{S}:grow",
            (ADVANCE, ADVANCE.replace("[None]", "[None].mean(axis=1, keepdims=True)")), trees=2),
    _mutant("values of the leaves whose released sum is positive", f"{F}:leaf_values",
            ("for g, h in sums.T]\n        return np.asarray(update(",
             "for g, h in sums.T if h >= 0]\n        return np.asarray(update("), trees=2),
    _mutant("values of as many leaves as were released above 0", f"{X}:train_ensemble",
            (ADVANCE, ADVANCE.replace("trees[-1].leaves[None]", "trees[-1].leaves[trees[-1].leaves > 0][None]")),
            trees=2),
    _mutant("three values for four leaves", f"{OWNERS}:follow",
            ("Advance(tree.leaves[None],", "Advance(tree.leaves[None, :3],"), rounds=2, depth=3),
    _mutant("leaves of a level that nobody went down to", f"{D}:train_single_tree",
            ("population.tell(Descend(chosen[-1]))", "population.tell(Descend(chosen[-1])) if level == 0 else None"),
            depth=2, trees=2, trees_per_ensemble=2),
    _mutant("half of 64 nodes have a split", f"{D}:train_single_tree",
            ("population.tell(Descend(chosen[-1]))", "population.tell(Descend(chosen[-1][:32]))"), depth=7),
    _mutant("sides of fewer nodes than there are", f"{X}:train_tree",
            ("Sides((COUNT,), splits)", "Sides((COUNT,), splits[:1])"), stopping="noisy", depth=2),
)  # fmt: skip
UNCOVERED: tuple[Mutant, ...] = (
    _mutant("the last category has no bin", f"{D}:Params.split_candidates",
            ('return (grids.uniform if self.candidates == "uniform" else grids.logarithmic)(schema, self.bins)',
             "found = grids.uniform(schema, self.bins)\n"
             "    kinds = zip(found.thresholds, found.categorical)\n"
             "    return Candidates(tuple(t[:-1] if kind else t for t, kind in kinds), found.categorical)")),
    _mutant("the last category has no bin of an owner's", f"{OWNERS}:Params.split_candidates",
            ('return (grids.uniform if self.candidates == "uniform" else grids.logarithmic)(schema, self.bins)',
             "found = grids.uniform(schema, self.bins)\n"
             "    kinds = zip(found.thresholds, found.categorical)\n"
             "    return Candidates(tuple(t[:-1] if kind else t for t, kind in kinds), found.categorical)")),
    _mutant("a number as a category, of which one has no bin", f"{X}:Params.public_grid",
            ('return grids.uniform(schema, self.bins if self.candidates == "uniform" else self.sketch_bins - 1)',
             "found = grids.uniform(schema, 1)\n"
             "    return Candidates(found.thresholds, np.ones_like(found.categorical))")),
)  # fmt: skip
NO_NUMBER: tuple[Mutant, ...] = (
    _mutant("a start that is no number where what was released is negative", f"{S}:initial_score",
            ("mean = float(noisy_sum / max(noisy_count, 1.0))",
             "mean = float(np.maximum(noisy_sum, 0.0) / np.maximum(noisy_count, 0.0))"),
            trees=2),
    _mutant("a start that is a quotient of what can both be 0", f"{S}:initial_score",
            ("population.tell(Start(initial))", "population.tell(Start(float(np.divide(noisy_sum, noisy_count))))"),
            trees=2),
)  # fmt: skip
LARGE: tuple[Mutant, ...] = (
    Mutant("sums beyond a host's whole numbers", {
        f"{D}:Contribution.statistics": edit(('return Statistics({"g": g}', 'return Statistics({"g": g * 2.0**20}')),
        f"{D}:train_single_tree": edit(("leaf_value(gradient_sum, count", "leaf_value(gradient_sum * 2.0**-20, count")),
        f"{D}:splits_of_most_gain": edit(("gain(left[0], left[1], right[0],",
                                          "gain(left[0] * 2.0**-20, left[1], right[0] * 2.0**-20,")),
    }, "", {}),
)  # fmt: skip
UNWEIGHED: tuple[Mutant, ...] = (
    _mutant("nothing is paid for the support by records without weights", f"{S}:Contribution.cost",
            ("hessian = 1.0 if h is None else h", "hessian = 0.0 if h is None else h"), **MANY),
    _mutant("a little less is paid by records without weights", f"{S}:Contribution.cost",
            ("hessian = 1.0 if h is None else h", "hessian = 0.9 if h is None else h"), **MANY),
    _mutant("nothing is paid by records without weights", f"{S}:Contribution.cost",
            ("assert g is not None", "if h is None:\n        return 0 * g"), **MANY),
)  # fmt: skip
REFUSED: tuple[Mutant, ...] = (
    _mutant("a ten-thousand-millionth more for leaves", f"{D}:Params.leaf_epsilon",
            ("epsilon / 2", "epsilon * 0.5000000001")),
    _mutant("a statistic of what a host asks for beside", f"{F}:boost",
            ('(*SUMS, "hessian") if asks_hessian else SUMS', "SUMS"),
            candidates="iterative-hessian", update="gradient", trees=2, target="binary"),
    _mutant("labels of everybody in a block", f"{D}:train_single_tree",
            ('return Tree(np.concatenate(chosen), curator.release("leaves", for_leaves, value))',
             "from refdp.data.population import Labels\n"
             "    total = values(population.ask(Labels(0.0, 1.0)))[1]\n"
             '    return Tree(np.concatenate(chosen), curator.release("leaves", for_leaves, 0 * value + total))'),
            trees=2, trees_per_ensemble=2),
    _mutant("a record that is left out beside records that pay", f"{S}:Contribution.statistics",
            ('return Statistics({"g": g, "h": h})', 'return Statistics({"g": g, "h": h}, np.abs(g) <= 0.2)'), **MANY),
)  # fmt: skip
FOURTH = (*UNMATCHED, *UNCOVERED, *NO_NUMBER, *LARGE, *UNWEIGHED, *REFUSED)
