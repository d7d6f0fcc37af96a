"""Privacy mutants of S-GBDT: each must be caught, and located at the release it concerns."""

from __future__ import annotations

from tests.mutants.harness import Mutant

PAPER = "refdp.papers.sgbdt"
BUDGET = "refdp.papers.sgbdt_budget"
FORMULAS = "refdp.papers.sgbdt_formulas"

_ACTIVE = (
    "        active = self.charged() if filtered else None  # filter first: regular rounds alone fit every budget\n"
)
_ROWS = "rows = np.flatnonzero(sampled if active is None else sampled & active)"
_CLIPPED = "gradient = clipped(on_grid(self.loss.gradient(score, label)), -noise.gradient_bound, noise.gradient_bound)"
_COUNT = 'noisy_count = curator.release("count", count, np.array([float(len(label))]), sensitivity=one)[0]'


def _mutant(name: str, located: str, *patches: tuple[str, str], module: str = PAPER, **settings: object) -> Mutant:
    return Mutant(name, tuple((module, old, new) for old, new in patches), located, dict(settings))


MUTANTS = (
    _mutant(
        "filter applied after sampling: only sampled records pay",
        "leaves",
        (_ACTIVE, ""),
        (_ROWS, "rows = np.flatnonzero(sampled & self.charged(sampled))"),
        ("def charged(self)", "def charged(self, sampled)"),
        (
            "charges = self.budget.charges(self.noise.cost(*self.derivatives(slice(None))))",
            "charges = self.budget.charges(self.noise.cost(*self.derivatives(slice(None)))) * sampled[:, None]",
        ),
    ),
    _mutant(
        "sums of unclipped gradients, clipped ones charged",
        "leaves",
        (
            "sums = leaf_sums(leaf[rows], 2**params.depth, gradient, hessian)",
            "sums = leaf_sums(leaf[rows], 2**params.depth, on_grid(self.loss.gradient(self.score[rows], "
            "self.label[rows])), hessian)",
        ),
    ),
    _mutant(
        "unclipped gradients charged, beyond the table of costs",
        "leaves",
        (
            "charges = self.budget.charges(self.noise.cost(*self.derivatives(slice(None))))",
            "charges = self.budget.charges(self.noise.cost(self.loss.gradient(self.score, self.label) * 3, 1.0))",
        ),
    ),
    _mutant("inactive records still used", "leaves", (_ROWS, "rows = np.flatnonzero(sampled)")),
    _mutant(
        "order chosen after the fact",
        "leaves",
        ('self.spendable, "every")', 'self.spendable, "any")'),
        module=BUDGET,
        orders="joint",
    ),
    _mutant(
        "the two noise weights swapped",
        "leaves",
        (
            "return gradient_bound * gradient_bound * sigma_squared / (2 * (1 - r1))",
            "return gradient_bound * gradient_bound * sigma_squared / (2 * r1)",
        ),
        (
            "return hessian_bound * hessian_bound * sigma_squared / (2 * r1)",
            "return hessian_bound * hessian_bound * sigma_squared / (2 * (1 - r1))",
        ),
        module=FORMULAS,
    ),
    _mutant("exact count in the initial score", "count", (_COUNT, "noisy_count = float(len(label))")),
    _mutant(
        "exact mean as the initial score",
        "leaves",
        ("self.score += self.initial\n", "self.score += self.label.mean()\n"),
    ),
    _mutant(
        "training stops when no record is active",
        "leaves",
        (_ACTIVE, _ACTIVE + "        if active is not None and not active.any():\n            return\n"),
        extra_trees=40,
    ),
    _mutant(
        "every record charged as if its gradient were zero",
        "leaves",
        (
            "self.noise.cost(*self.derivatives(slice(None)))",
            "self.noise.cost(0 * self.score, self.derivatives(slice(None))[1])",
        ),
    ),
    _mutant(
        "budget of all rounds instead of the regular ones",
        "leaves",
        ("spendable = rounds * costs", "spendable = 2 * rounds * costs"),
        module=BUDGET,
    ),
    _mutant(
        "tree without noise where the active set is empty",
        "leaves",
        (
            "            noisy = curator.release(",
            "            noisy = sums if not len(rows) else curator.release(",
        ),
    ),
    _mutant(
        "leaf values of sampled leaves only",
        "leaves",
        (
            "self.trees.append(Tree(splits, leaf_values(params, noisy)))",
            "self.trees.append(Tree(splits, np.where(sums[:, 1] > 0, leaf_values(params, noisy), 0.0)))",
        ),
    ),
    _mutant(
        "support without noise",
        "leaves",
        (
            'noisy = curator.release("leaves", self.noise.mechanism, sums, sensitivity=self.noise.declared)',
            'noisy = curator.release("leaves", self.noise.mechanism, sums, sensitivity=self.noise.declared)\n'
            "            noisy[:, 1] = sums[:, 1]",
        ),
    ),
    _mutant(
        "gradients not clipped at all", "leaves", (_CLIPPED, "gradient = on_grid(self.loss.gradient(score, label))")
    ),
)
