"""The part of docs/sgbdt.md about Adult with the authors' settings, and about what each of them is worth."""

from __future__ import annotations

from benchmarks.reproduce.page import Cells, Sample, or_not_run, table
from benchmarks.reproduce.study import sgbdt as study
from benchmarks.reproduce.study import sgbdt_limits as limits
from benchmarks.reproduce.study.sgbdt_variants import EPSILONS

EPS = EPSILONS["adult"]
TITLES = {
    limits.METHOD_ROW: "the authors' settings, support bounded below",
    limits.BASELINE_ROW: "the authors' settings for gamma = 1, r1 = .5",
    "additive": "support additive, as in their table",
    limits.HALVED: "support additive, half the noise on it, as in their program (not private as stated)",
    limits.OWN_BOUNDS: "thresholds from each column's own bounds",
    "initial score": "a tenth of epsilon for the initial score",
    "depth 2": "depth 2",
    "gamma .1": "gamma = .1",
    "r1 .5": "r1 = .5",
    "uniform features": "features uniform, not cyclic",
    limits.NOISELESS: "no noise (not private)",
}
NOT_A_CHANGE = (limits.METHOD_ROW, limits.BASELINE_ROW, limits.HALVED, limits.NOISELESS)
COMPARED = {**TITLES, "additive": "the authors' settings, support additive as in their table"}

SETTINGS = """### With the authors' settings

The program that belongs to the full text (github.com/kirschte/sbdt) comes with a table of results,
`code/cpp_gbdt/results/adult/adult_rerun_results.csv`, with the settings behind the published figures of both rows. Not
all of them are in the grids above: no initial score, gamma = .01, trees of depth 5 and 6, gamma = 1 for the largest two
epsilons; and the thresholds of all numeric columns come from {low:g} to {high:g}, whatever the column's own bounds, so
that a split of capital gain (0 to 99,999) mostly asks whether there is any. That range is public and the noise does not
depend on it, so neither does the guarantee. The authors chose these settings on Adult, and no budget pays for that.
These rows were added when the rows above had missed; they test the implementation, not a way to choose hyperparameters.

What is left of our own: the rows with the support bounded below by lambda, as on the slides (those of gamma = 1 among
them), are not in their table, where it is additive; support, bounds and initial score were each tried both ways on
Adult before these rows were fixed. Thresholds are uniform on the range, theirs one of 32 points of it; our lists of
categories hold "?", theirs only what occurs. And in the program the noise on a leaf's sum of Hessians has, for classes,
half the deviation that its own accounting assumes (`add_leaf_noise` in `dp_tree.cpp` against `gen_rho` in
`rdp_accountant.cpp`, as we read them); here it has all of it. With half of it the largest cost t of a record is
4 r1 + r2 times what is accounted: {method:.2f} times at r1 = {r1:g}, and {baseline:.2f} times at r1 = .5, as in the
published rows of gamma = 1. At epsilon .5 those also refine their splits privately, which is not done here.
"""

LIMIT = """### What limits Adult

Each row changes one thing of the authors' settings (support bounded below): mean AUC, and its difference to the first
row with two standard errors (rough: folds share records). A diagnosis on the real records, as above: `python -m
benchmarks.reproduce sgbdt --only experiment=limits`, which goes on where it was stopped.
"""


def text(cells: Cells) -> list[str]:
    """The two sections."""
    r1 = limits.COMMON["support_weight"]
    low, high = limits.BOUNDS
    head = SETTINGS.format(low=low, high=high, r1=r1, method=understated(r1), baseline=understated(0.5))
    return [head, _settings(), _compared(cells), LIMIT, _changes(cells), _summary(cells)]


def understated(r1: float) -> float:
    """By how much half the deviation on the support understates the largest t: 4 r1 + r2."""
    return 4 * r1 + 1 - r1


def sample(cells: Cells, row: str, epsilon: float) -> Sample:
    """The AUCs of a row."""
    return cells.sample("auc", study.LIMITS, dataset="adult", variant=row, epsilon=epsilon)


def difference(cells: Cells, row: str, epsilon: float) -> tuple[float, float]:
    """Mean AUC of a row less that of the authors' settings; its standard error. Errors: NotRun."""
    ours, theirs = sample(cells, row, epsilon), sample(cells, limits.METHOD_ROW, epsilon)
    return ours.mean - theirs.mean, float((ours.error**2 + theirs.error**2) ** 0.5)


def _settings() -> str:
    names = ("trees", "depth", "subsample", "gradient_bound", "hessian_bound", "support_weight", "regularisation",
             "shrinkage", "initial_share")  # fmt: skip
    rows = []
    for row in (limits.METHOD_ROW, limits.BASELINE_ROW):
        for epsilon in EPS:
            params = limits.params_for(row, epsilon)
            rows.append((TITLES[row], f"{epsilon:g}", *(f"{getattr(params, name):g}" for name in names)))
    return table(("row", "epsilon", *names), rows)


def _compared(cells: Cells) -> str:
    from benchmarks.reproduce.page.sgbdt import PUBLISHED, compared

    rows = []
    for row, variant in (("additive", "r1"), (limits.METHOD_ROW, "r1"), (limits.BASELINE_ROW, "gamma 1")):
        for epsilon, published in zip(EPS, PUBLISHED["adult", variant], strict=True):
            of_row = sample(cells, row, epsilon)
            rows.append((COMPARED[row], f"{epsilon:g}", f"{published:.3f}", of_row.text(1, 3), f"{len(of_row.values)}",
                         or_not_run(lambda s=of_row, p=published: compared("adult", s.mean, p))))  # fmt: skip
    return table(("row", "epsilon", "published", "refdp", "runs", "refdp against published"), rows)


def _changes(cells: Cells) -> str:
    rows = [(TITLES[limits.METHOD_ROW], *(sample(cells, limits.METHOD_ROW, e).text(1, 3) for e in EPS))]
    for row in limits.CHANGES:
        if row not in (limits.METHOD_ROW, limits.BASELINE_ROW):
            rows.append((TITLES[row], *(or_not_run(lambda r=row, e=e: _change(cells, r, e)) for e in EPS)))
    return table(("change", *(f"epsilon {e:g}" for e in EPS)), rows)


def _change(cells: Cells, row: str, epsilon: float) -> str:
    less, error = difference(cells, row, epsilon)
    return f"{sample(cells, row, epsilon).mean:.3f} ({less:+.3f} ± {2 * error:.3f})"


def _summary(cells: Cells) -> str:
    """Which private changes cost most, by epsilon, beyond two standard errors."""
    private, lines = [r for r in limits.CHANGES if r not in NOT_A_CHANGE], []
    for epsilon in EPS:
        known = [row for row in private if len(sample(cells, row, epsilon).values) > 1]
        if len(sample(cells, limits.METHOD_ROW, epsilon).values) < 2 or not known:
            lines.append(f"- epsilon {epsilon:g}: not run\n")
            continue
        worse = sorted((difference(cells, row, epsilon), TITLES[row]) for row in known)
        named = [f"{title} ({less:+.3f})" for (less, error), title in worse if less < -2 * error]
        lines.append(f"- epsilon {epsilon:g}: {'; '.join(named) or 'none'}\n")
    return "Changes that cost more than two standard errors, the largest first:\n\n" + "".join(lines)
