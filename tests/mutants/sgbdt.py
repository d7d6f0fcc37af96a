"""Privacy mutants of S-GBDT: each must be caught, and located at the release it concerns."""

from __future__ import annotations

from tests.mutants.harness import Mutant

PAPER = "refdp.papers.sgbdt"
BUDGET = "refdp.papers.sgbdt_budget"
FORMULAS = "refdp.papers.sgbdt_formulas"
HOLDER = "refdp.papers.sgbdt_holder"

_FILTER = (
    "        if params.extra_trees:  # filter first; regular rounds alone fit every budget\n            held.charge()\n"
)
_ROWS = "rows = np.flatnonzero(sampled if self._active is None else sampled & self._active)"
_CLIPPED = "gradient = clipped(on_grid(self.loss.gradient(score, label)), -self.gradient_bound, self.gradient_bound)\n"
_CHARGED = "self._active = self.accounts.charge(self.rules.cost(gradient, hessian))"
_COUNT = 'noisy_count = curator.release("count", count, np.array([size]), sensitivity=one)[0]'
_NOISY = 'noisy = curator.release("leaves", self.noise.mechanism, sums, sensitivity=self.noise.declared)'


def _mutant(name: str, located: str, *patches: tuple[str, str], module: str = PAPER, **settings: object) -> Mutant:
    return Mutant(name, tuple((module, old, new) for old, new in patches), located, dict(settings))


MUTANTS = (
    _mutant(
        "filter applied after sampling: only sampled records pay",
        "leaves",
        (_ROWS, "self.charge(sampled)\n        rows = np.flatnonzero(sampled & self._active)"),
        ('    def charge(self) -> None:\n        """As', '    def charge(self, sampled=None) -> None:\n        """As'),
        (
            _CHARGED,
            "if sampled is not None:\n            self._active = self.accounts.charge("
            "self.rules.cost(gradient, hessian) * sampled)",
        ),
        module=HOLDER,
    ),
    _mutant(
        "sums of unclipped gradients, clipped ones charged",
        "leaves",
        (
            "gradient, hessian = self._taken(rows)",
            "_, hessian = self._taken(rows)\n"
            "        gradient = on_grid(self.rules.loss.gradient(self.score[rows], self.label[rows]))",
        ),
        module=HOLDER,
    ),
    _mutant(
        "unclipped gradients charged, beyond the table of costs",
        "leaves",
        (
            _CHARGED,
            "self._active = self.accounts.charge("
            "self.rules.cost(self.rules.loss.gradient(self.score, self.label) * 3, 1.0))",
        ),
        module=HOLDER,
    ),
    _mutant("inactive records still used", "leaves", (_ROWS, "rows = np.flatnonzero(sampled)"), module=HOLDER),
    Mutant(
        "order chosen after the fact",
        (
            (BUDGET, "= np.logical_and.reduce", "= np.logical_or.reduce"),
            (
                HOLDER,
                "from refdp.papers.sgbdt_budget import",
                "from refdp.papers.sgbdt_budget import",
            ),  # the changed one
        ),
        "leaves",
        {"orders": "joint"},
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
    _mutant("exact count in the initial score", "count", (_COUNT, "noisy_count = size")),
    _mutant(
        "exact mean as the initial score",
        "leaves",
        ("self.score += initial\n", "self.score += self.label.mean()\n"),
        module=HOLDER,
    ),
    _mutant(
        "training stops when no record is active",
        "leaves",
        (_FILTER, _FILTER + "        if held._active is not None and not held._active.any():\n            return\n"),
        extra_trees=40,
    ),
    _mutant(
        "every record charged as if its gradient were zero",
        "leaves",
        (
            _CHARGED,
            "self._active = self.accounts.charge(self.rules.cost(0 * gradient, hessian))",
        ),
        module=HOLDER,
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
            "            noisy = sums if not sums.any() else curator.release(",
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
            _NOISY,
            _NOISY + "\n            noisy[:, 1] = sums[:, 1]",
        ),
    ),
    _mutant(
        "gradients not clipped at all",
        "leaves",
        (_CLIPPED, "gradient = on_grid(self.loss.gradient(score, label))\n"),
        module=HOLDER,
    ),
)
