"""Sixty-five further privacy mutants of the five papers' texts.

Those of `FROM_THE_PAGE` break what a line of the paper asks for and were chosen from the papers' texts alone; their
author had read the reading's source before, so that they are no blind test of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.mutants.harness import Mutant, Replacement, edit

D, F, S, X, Z = (f"refdp.papers.{name}" for name in ("dpboost", "fedgbdt", "sgbdt", "dpxgboost", "inprivate"))


def _mutant(name: str, path: str, replacement: Replacement, **settings: object) -> Mutant:
    return Mutant(name, {path: replacement}, "", dict(settings))


def _edited(name: str, path: str, old: str, new: str, **settings: object) -> Mutant:
    return _mutant(name, path, edit((old, new)), **settings)


def scaled(factor: float) -> Replacement:
    """A bound, share or scale times a factor."""
    return lambda function: lambda *given, **named: function(*given, **named) * factor


FROM_THE_PAGE: Mapping[str, tuple[Mutant, ...]] = {
    "dpboost": (
        _edited("Alg. 2, l. 2: the budget is not divided by the ensembles", f"{D}:Params.tree_epsilon",
                "return self.epsilon / ensembles / schema.scores", "return self.epsilon / schema.scores"),
        _edited("Alg. 1, l. 1: leaves get the whole of a tree's budget", f"{D}:Params.leaf_epsilon",
                "return epsilon / 2", "return epsilon"),
        _edited("Alg. 1, l. 2: levels share the budget as if there were half as many", f"{D}:Params.split_charge",
                "epsilon / (2 * self.depth)", "epsilon / self.depth"),
        _edited("Alg. 1, l. 13: no geometric leaf clipping", f"{D}:train_single_tree",
                "value = np.clip(value, -clip, clip)", "value = value + 0.0"),
        _edited("Alg. 1, l. 3: no gradient-based filtering", f"{D}:Contribution.statistics",
                "np.abs(g) <= self.params.gradient_bound)", "np.abs(g) <= 1e6)"),
        _edited("Alg. 2, l. 7: every tree of an ensemble sees all records", f"{D}:train_ensembles",
                "with subsets.block(position):", "if True:"),
        _mutant("Corollary 2: the leaf bound without its factor", f"{D}:leaf_sensitivity", scaled(0.5)),
    ),
    "inprivate": (
        _edited("Alg. 1, l. 1: the levels get all of epsilon", f"{Z}:Params.split_epsilon",
                "self.split_share * self.tree_epsilon(schema)", "self.tree_epsilon(schema)"),
        _edited("Alg. 1, l. 2: the leaves get all of epsilon", f"{Z}:Params.leaf_epsilon",
                "(1 - (self.split_share if self.depth > 1 else 0)) * ", ""),
        _edited("section VI-B: rounds draw with replacement", f"{Z}:train_on",
                "with blocks.block(number):", "if True:"),
        _mutant("Eq. 15: the count is not in the bound", f"{Z}:regression_leaf_sensitivity", scaled(0.5),
                target="regression"),
        _mutant("Eq. 8: curvature without the absolute value", f"{Z}:curvature", lambda _: lambda r: r * (2 - r)),
    ),
    "dpxgboost": (
        _mutant("section 4.4: the budget is not divided by the trees", f"{X}:geometric",
                lambda geometric: lambda growth, parts: (1.0,) * parts),
        _mutant("section 4.4: twice the amplification", f"{X}:before_sampling", scaled(2.0)),
        _mutant("section 4.1: sketch noise for a single bin of a single feature", f"{X}:sketch_sensitivity",
                scaled(0.4)),
        _edited("section 4.2: the best split is chosen outright", f"{X}:train_tree",
                'splits = curator.release(f"splits of level {level}", for_splits, utility, options=offered)',
                "splits = offered[np.argmax(utility, axis=1)]"),
        _edited("Eq. 4: the leaf without lambda", f"{X}:leaf_values",
                "params.padding, params.regularisation)", "params.padding, 0)", leaf="laplace"),
        _edited("Eq. 7: the bound for leaves of twice as many records", f"{X}:Params.leaf_charge",
                "rounded_up(padded_leaf_sensitivity, bound, self.padding, shrunk, relation)",
                "rounded_up(padded_leaf_sensitivity, bound, 2 * self.padding, shrunk, relation)"),
    ),
    "fedgbdt": (
        _mutant("Table 1: a query less is counted", f"{F}:Params.queries",
                lambda queries: lambda *given: max(1, queries(*given) // 2)),
        _edited("Theorem 4.1: every query gets the whole mu", f"{F}:Params.query_mu",
                "return mu / math.sqrt(self.queries(schema))", "return mu"),
        _edited("section 4.2: the bound is that of the gradient alone", f"{F}:newton_squared_sensitivity",
                "return squared_norm(gradient_bound, gradient_bound * (1 - gradient_bound))",
                "return gradient_bound * gradient_bound / 4"),
        _mutant("section 4.4.1: a count is worth half", f"{F}:averaging_squared_sensitivity", scaled(0.5),
                update="averaging"),
        _edited("section 5.2: a batch sums its leaves in one message at the price of one tree", f"{F}:leaf_sums",
                'released.append(curator.release("leaves", charged, sums[place]))',
                'released.append(curator.release("leaves", charged, sums[place])\n'
                '                    if place == 0 else sums[place])', batch=3),
    ),
    "sgbdt": (
        _edited("slide: the filter after the release", f"{S}:grow",
                "        if params.extra_trees:  # filter first; regular rounds alone fit every budget\n"
                "            population.tell(Pay())\n", "", extra_trees=2),
        _edited("slide: the noise of both sums is that of the support", f"{S}:leaf_charge",
                "tuple(math.sqrt(variance) for variance in params.variances(schema))",
                "(math.sqrt(params.variances(schema)[1]) / 3,) * 2"),
        _mutant("slide: relative costs without the support", f"{S}:record_cost",
                lambda _: lambda g, h, gb, hb, r1, squared: (1 - r1) * (g / gb) * (g / gb) / squared, extra_trees=2),
        _edited("slide: the initial score from a noiseless sum", f"{S}:initial_score",
                'curator.release("labels", for_total, np.array([label_sum]))[0]', "label_sum"),
    ),
}  # fmt: skip

OTHERS: Mapping[str, tuple[Mutant, ...]] = {
    "dpboost": (
        _mutant("the declared range of gains 2 % smaller", f"{D}:gain_range", scaled(0.98)),
        _mutant("the declared bound of leaves 2 % smaller", f"{D}:leaf_sensitivity", scaled(0.98)),
        _edited("gains of left children count twice", f"{D}:splits_of_most_gain",
                "gain(left[0], left[1], right[0],", "gain(2 * left[0], left[1], right[0],"),
        _edited("gains of counts instead of sums", f"{D}:splits_of_most_gain",
                "gain(left[0], left[1], right[0], right[1],", "gain(left[1], left[1], right[1], right[1],"),
        _edited("a log line of the largest gain", f"{D}:splits_of_most_gain",
                "    return curator.release(", '    "{:.3f}".format(utility.max())\n    return curator.release('),
        _edited("a tree ends where its root is empty", f"{D}:train_single_tree",
                "    for level in range(params.depth):",
                "    if values(population.ask(Nodes((COUNT,))))[0][0] < 1:\n        return Tree(np.empty((0, 2)), "
                "np.zeros(1))\n    for level in range(params.depth):"),
        _edited("leaves are released before clipping, and clipped then", f"{D}:train_single_tree",
                'curator.release("leaves", for_leaves, value))', 'curator.release("leaves", for_leaves, 2 * value))'),
        _edited("an error that hides a leak", f"{D}:train_single_tree",
                "    value = np.clip(value, -clip, clip)",
                "    try:\n        clip = clip if float(count[0]) > 9 else clip / 2\n    except Exception:\n"
                "        clip = clip / 1\n    value = np.clip(value, -clip, clip)"),
        _edited("another path where the records are unknown", f"{D}:train_single_tree",
                "    value = np.clip(value, -clip, clip)",
                '    if type(population).__name__ == "Memory":\n        return Tree(np.concatenate(chosen), value)\n'
                "    value = np.clip(value, -clip, clip)"),
        _edited("the curator's transcript decides", f"{D}:train_single_tree",
                "    value = np.clip(value, -clip, clip)",
                "    value = value * (1.0 + len(curator.transcript.entries))\n"
                "    value = np.clip(value, -2 * clip, 2 * clip)"),
    ),
    "inprivate": (
        _mutant("the declared range of gains 2 % smaller", f"{Z}:gain_range", scaled(0.98)),
        _mutant("the bound of classification leaves 2 % smaller", f"{Z}:classification_leaf_sensitivity",
                lambda bound: lambda relation: bound(relation) * 98 / 100, residual_bound=2.0),
        _edited("gains without the parent's term of an empty node", f"{Z}:node_score",
                "maximum(count, 1)", "count"),
        _edited("gains of doubled sums", f"{Z}:train_tree", "gain(left[0], left[1],", "gain(2 * left[0], left[1],"),
        _edited("leaves asked twice, charged once", f"{Z}:train_tree",
                "    return Tree(", "    noisy = (noisy + values(population.ask(Nodes(queries)))) / 2\n"
                "    return Tree("),
        _edited("exact sums beside the noisy ones", f"{Z}:train_tree",
                "    return Tree(", "    noisy = np.maximum(noisy, values(population.ask(Nodes(queries))))\n"
                "    return Tree("),
        _edited("a step of another record's score", f"{Z}:follow",
                "population.tell(Advance(tree.leaves[None], params.shrinkage))",
                "population.tell(Advance(population.ask(Leaves((\"r\",))), params.shrinkage))"),
    ),
    "dpxgboost": (
        _mutant("the declared range of gains 2 % smaller", f"{X}:gain_range", scaled(0.98)),
        _mutant("the bound of padded leaves 2 % smaller", f"{X}:padded_leaf_sensitivity", scaled(0.98)),
        _mutant("the bound of the sketch 2 % smaller", f"{X}:sketch_sensitivity", scaled(0.98)),
        _mutant("a fifth of the padding in the leaf's value", f"{X}:padded_leaf_value",
                lambda padded: lambda g, n, least, lam: padded(g, n, least / 5, lam)),
        _edited("gains of doubled gradients", f"{X}:gains", "gain(one[0], one[1],", "gain(2 * one[0], one[1],"),
        _edited("a sketch of weights three times over", f"{X}:sketch", "np.concatenate(weights))",
                "np.concatenate(weights) * 3)"),
        _edited("trees outside of their sample", f"{X}:train_ensemble",
                "with params.sampled(population, curator):", "if True:", subsample=0.5),
        _edited("a level without noise", f"{X}:train_tree",
                'splits = curator.release(f"splits of level {level}", for_splits, utility, options=offered)',
                'splits = (curator.release(f"splits of level {level}", for_splits, utility, options=offered)\n'
                '                  if level == 0 else offered[np.argmax(utility, axis=-1)])'),
        _edited("leaves divided by exact counts", f"{X}:leaf_values",
                'return curator.release("leaves", charge, value)',
                'return curator.release("leaves", charge, value) / np.maximum(size, 1)'),
    ),
    "fedgbdt": (
        _mutant("the bound of Newton sums 2 % smaller", f"{F}:newton_squared_sensitivity", scaled(0.98**2)),
        _mutant("the bound of gradient sums 2 % smaller", f"{F}:gradient_squared_sensitivity", scaled(0.98**2),
                target="regression"),
        _edited("one histogram of a level without noise", f"{F}:histograms",
                "return [curator.release(name, charged, own) for name, own in zip(names, bins, strict=True)]",
                "return [curator.release(name, charged, own) if i else own\n"
                "            for i, (name, own) in enumerate(zip(names, bins, strict=True))]", splits="histogram"),
        _edited("random sides of doubled sums", f"{F}:random_sides", "charged, own) for i", "charged, 2 * own) for i",
                splits="partially-random"),
        _edited("sums at the price of a Hessian", f"{F}:boost", "charged = params.sums_charge(schema, mu, number)",
                "charged = params.hessian_charge(schema, mu)"),
        _edited("scores move by exact sums", f"{F}:boost", "population.tell(Advance(leaves, share))",
                "population.tell(Advance(values(population.ask(Leaves(SUMS))), share))"),
        _edited("leaves are halved before they are charged for a half", f"{F}:leaf_sums",
                'curator.release("leaves", charged, sums[place])',
                'curator.release("leaves", charged, 1.1 * sums[place])'),
        _edited("Hessian histograms of everything", f"{F}:hessian_histograms", "charged, own) for i",
                "charged, 5 * own) for i", candidates="iterative-hessian"),
    ),
    "sgbdt": (
        _edited("sums of doubled statistics", f"{S}:grow", "lambda sums: sums[0].T)", "lambda sums: 2 * sums[0].T)"),
        _mutant("the support's deviation a third", f"{S}:support_variance", scaled(1 / 9)),
        _mutant("the gradients' deviation a third", f"{S}:gradient_variance", scaled(1 / 9)),
        _edited("labels beyond their bound in the initial score", f"{S}:initial_score",
                "Labels(0.0 if classes else -bound, bound)", "Labels(0.0 if classes else -3 * bound, 3 * bound)",
                target="regression", label_bound=0.5),
        _edited("an initial budget that is not taken off", f"{S}:Params.budget",
                "self.epsilon * (1 - self.initial_share)", "self.epsilon * (1 + self.initial_share)"),
        _edited("trees until the sum of gradients is small", f"{S}:grow",
                "        trees.append(",
                "        if values(population.ask(Leaves((\"g\", \"h\"))))[0][0][0] < 1:\n            break\n"
                "        trees.append("),
        _edited("a sample for the noise, all records for the sum, in every other round", f"{S}:grow",
                '            noisy = curator.release_sum("leaves", charge, population, Leaves(("g", "h")), '
                "lambda sums: sums[0].T)",
                "            pass\n"
                '        noisy = curator.release_sum("leaves", charge, population, Leaves(("g", "h")), '
                "lambda sums: sums[0].T)"),
    ),
}  # fmt: skip
FURTHER = {name: (*FROM_THE_PAGE[name], *OTHERS[name]) for name in FROM_THE_PAGE}
