"""`python -m tests.proofs.replay_mutants [PAPER ...]`: mistakes in the papers' texts, and what Coq refuses.

Every run of a mutant is written as for the true text; Coq computes what the true text asks when the mutant's outputs
came out. Writes docs/coq-mutants.md. Minutes for a paper: `make coq-mutants`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proofs.replay.checks import PAPERS, answers, term
from tests.mutants.harness import applied, edit
from tests.proofs.formula_mutants import refusals

Edit = tuple[str, str, str]
"""A function, "module:qualified name" without `refdp.papers.`, a text in it, and what takes its place."""

MUTANTS: Mapping[str, tuple[Edit, ...]] = {
    "dpboost": (
        ("dpboost:child_gain", "(count + regularisation)", "(count + 2 * regularisation)"),
        ("dpboost:child_gain", "gradient_sum * gradient_sum", "gradient_sum * abs(gradient_sum)"),
        ("dpboost:gain", ") + child_gain(", ") - child_gain("),
        ("dpboost:leaf_value", "-gradient_sum", "gradient_sum"),
        ("dpboost:leaf_value", "(count + regularisation)", "(count + 1)"),
        ("dpboost:gain_change_lower", "-3 *", "-2 *"),
        ("dpboost:gain_change_upper", "return gradient_bound", "return 2 * gradient_bound"),
        ("dpboost:leaf_sensitivity", "records_changed(relation) * one_record", "one_record"),
        ("dpboost:leaf_clip", "** position", "** (position + 1)"),
        ("dpboost:share", "** position", "** (position + 1)"),
        ("dpboost:Params.tree_epsilon", "self.epsilon / ensembles", "self.epsilon / (ensembles + 1)"),
        ("dpboost:Params.leaf_epsilon", "epsilon / 2", "epsilon / 3"),
        ("dpboost:Params.split_charge", "(2 * self.depth)", "(2 * self.depth + 1)"),
        ("dpboost:Contribution.statistics", "np.abs(g) <= self", "np.abs(g) <= 2 * self"),
        ("dpboost:Contribution.statistics", '== "clip"', '== "filter"'),
        ("dpboost:Contribution.statistics", "(score, label))", "(label, score))"),
        ("dpboost:Contribution.label", "2 * label - 1", "label"),
        ("dpboost:train_ensembles", "leaves[None], params.shrinkage", "leaves[None], 1.0"),
        ("dpboost:train_ensembles", "block.clip, population", "blocks[0].clip, population"),
        ("dpboost:train_single_tree", "np.clip(value, -clip, clip)", "np.clip(value, -clip, 2 * clip) * 1.01"),
        ("dpboost:train_single_tree", "leaf_value(gradient_sum, count,", "leaf_value(gradient_sum, count + 1,"),
        ("dpboost:splits_of_most_gain", "left[1], right[0], right[1]", "right[1], right[0], left[1]"),
    ),
    "inprivate": (
        ("inprivate:clip", "maximum(-bound,", "maximum(-bound / 2,"),
        ("inprivate:square_residual", "label - score", "score - label"),
        ("inprivate:nonempty_score", "/ count", "/ (count + 1)"),
        ("inprivate:gain", "- parent", "- 2 * parent"),
        ("inprivate:gain", "left_sum + right_sum", "left_sum - right_sum"),
        ("inprivate:gain", "node_score(right_sum, right_count) -", "node_score(right_sum, left_count) -"),
        ("inprivate:gain_range", "return 4", "return 3"),
        ("inprivate:regression_leaf_sensitivity", "(residual_bound + 1)", "residual_bound"),
        ("inprivate:level_epsilon", "(depth - 1)", "depth"),
        ("inprivate:round_share", "2**number", "2 ** (number + 1)"),
        ("inprivate:damped_step", "maximum(denominator, least)", "maximum(denominator, 2 * least)"),
        ("inprivate:Params.round_shares", "range(1, self.rounds + 1)", "range(self.rounds, 0, -1)"),
        ("inprivate:Params.dealt", "/ self.owners", "/ (self.owners + 1)"),
        ("inprivate:Params.split_epsilon", "self.split_share *", "2 * self.split_share *"),
        ("inprivate:Params.leaf_epsilon", "(1 - (self", "(2 - (self"),
        ("inprivate:Params.split_charge", "epsilon(schema), bound)", "epsilon(schema), bound / 2)"),
        ("inprivate:Params.leaf_charge", "self.leaf_epsilon(schema)", "2 * self.leaf_epsilon(schema)"),
        ("inprivate:Params.coefficients", "self.leaf_bound))", "2 * self.leaf_bound))"),
        ("inprivate:Params.coefficients", "max(1.0,", "max(2.0,"),
        ("inprivate:follow", "params.shrinkage", "1.0"),
        ("inprivate:Params.cut", "self.residual_bound)", "self.residual_bound / 2)"),
        ("inprivate:train_tree", "left[1], right[0], right[1]", "right[1], right[0], left[1]"),
    ),
    "dpxgboost": (
        ("dpxgboost:child_gain", "(hessian_sum + regularisation)", "(hessian_sum + 2 * regularisation)"),
        ("dpxgboost:child_gain", "gradient_sum * gradient_sum", "gradient_sum * abs(gradient_sum)"),
        ("dpxgboost:gain", "return left +", "return left -"),
        ("dpxgboost:gain_range", "return 4", "return 3"),
        ("dpxgboost:leaf_value", "-gradient_sum", "gradient_sum"),
        ("dpxgboost:leaf_value", "(hessian_sum + regularisation)", "(hessian_sum + 1)"),
        ("dpxgboost:padded_leaf_value", "maximum(count, least)", "count + least"),
        ("dpxgboost:leaf_sensitivity", "(1 + regularisation)", "(2 + regularisation)"),
        ("dpxgboost:leaf_change_as_published", "(2 * count", "(count"),
        ("dpxgboost:padded_leaf_sensitivity", "least, regularisation)", "least + 1, regularisation)"),
        ("dpxgboost:sketch_sensitivity", "* hessian_bound", "* hessian_bound / 2"),
        ("dpxgboost:leaf_values", "params.padding,", "params.padding + 1,"),
        ("dpxgboost:Params.split_charge", "gain_range, self.largest", "gain_range, 2 * self.largest"),
        ("dpxgboost:Params.leaf_charge", "(leaf_sensitivity, bound,", "(leaf_sensitivity, bound / 2,"),
        ("dpxgboost:Contribution.statistics", "square_gradient(score, label)", "square_gradient(label, score)"),
        ("dpxgboost:Contribution.statistics", "np.abs(g) <= bound", "np.abs(g) <= 2 * bound"),
        ("dpxgboost:Contribution.statistics", 'gradients == "clip"', 'gradients == "filter"'),
        ("dpxgboost:Contribution.label", "2 * label - 1", "label"),
        ("dpxgboost:train_ensemble", "leaves[None], params.shrinkage", "leaves[None], 1.0"),
        ("dpxgboost:gains", "left - missing, right + missing", "left + missing, right - missing"),
        ("dpxgboost:gains", "one[1], other[0], other[1]", "other[1], other[0], one[1]"),
        ("dpxgboost:bin_weights", "column[1:]", "column[:-1]"),
        ("dpxgboost:tree_budget", 'unit * parts["leaves"]', '2 * unit * parts["leaves"]'),
        ("dpxgboost:budget_of", "run * share", "run"),
    ),
    "fedgbdt": (
        ("fedgbdt:leaf_weight", "-gradient_sum", "gradient_sum"),
        ("fedgbdt:leaf_weight", "(hessian_sum + regularisation)", "(hessian_sum + 2 * regularisation)"),
        ("fedgbdt:released_leaf_weight", "hessian_sum <= 0", "hessian_sum <= 1"),
        ("fedgbdt:update", "shrinkage * minimum", "minimum"),
        ("fedgbdt:update", "minimum(maximum(weight, -clip), clip)", "weight"),
        ("fedgbdt:gradient_squared_sensitivity", "gradient_bound + 1", "gradient_bound"),
        ("fedgbdt:gradient_squared_sensitivity", "maximum(4", "maximum(8"),
        ("fedgbdt:clip_gradient", "-bound), bound)", "-bound / 2), bound)"),
        ("fedgbdt:weight_queries", "return trees if", "return 2 * trees if"),
        ("fedgbdt:Params.query_mu", "math.sqrt(self.queries(schema))", "(self.queries(schema) + 1)"),
        ("fedgbdt:Params.query_mu", "self.epsilon / schema.scores", "2 * self.epsilon / schema.scores"),
        ("fedgbdt:Params.score_delta", "self.delta /", "self.delta / 2 /"),
        ("fedgbdt:Params.proved", "root(square)", "root(square) / 2"),
        ("fedgbdt:charge", 'kind == "hessian" else 2', 'kind == "hessian" else 1'),
        ("fedgbdt:Contribution.statistics", "square_gradient(score, label)", "square_gradient(label, score)"),
        ("fedgbdt:Contribution.statistics", "self.params.gradient_bound", "self.params.gradient_bound / 2"),
        ("fedgbdt:boost", "Advance(leaves, share)", "Advance(leaves, 2 * share)"),
        ("fedgbdt:leaf_sums", "values(population.ask(Leaves(SUMS)))", "2 * values(population.ask(Leaves(SUMS)))"),
        ("fedgbdt:leaf_sums", "charged, sums[place]", "charged, -sums[place]"),
        ("fedgbdt:leaf_values", "params.leaf_clip, params.shrinkage", "params.leaf_clip, 1.0"),
        ("fedgbdt:leaf_values", "params.regularisation) for", "0 * params.regularisation) for"),
        ("fedgbdt:boost", "population.tell(Refresh(", "number or population.tell(Refresh("),
    ),
    "sgbdt": (
        ("sgbdt:clipped", "minimum(maximum(value, low), high)", "maximum(value, low)"),
        ("sgbdt:support_variance", "(2 * r1)", "(4 * r1)"),
        ("sgbdt:gradient_variance", "(2 * (1 - r1))", "(2 * r1)"),
        ("sgbdt:support_additive", "regularisation + noisy_support", "noisy_support"),
        ("sgbdt:support_max", "maximum(noisy_support, regularisation)", "noisy_support + regularisation"),
        ("sgbdt:leaf_value", "-gradient_sum", "gradient_sum"),
        ("sgbdt:leaf_value", "/ support", "/ (support + 1)"),
        ("sgbdt:Params.budget", "(1 - self.initial_share)", "1"),
        ("sgbdt:Params.budget", "self.trees,", "self.trees + 1,"),
        ("sgbdt:Params.initial_charges", "epsilon * self.count_share", "2 * epsilon * self.count_share"),
        ("sgbdt:Params.bounds", "grid_floor(self.gradient_bound)", "grid_floor(self.gradient_bound) / 2"),
        ("sgbdt:Contribution.statistics", "loss.gradient(score, label)", "loss.gradient(label, score)"),
        ("sgbdt:Contribution.statistics", "-gradient_bound, gradient_bound)", "-gradient_bound, gradient_bound / 2)"),
        ("sgbdt:grow", "params.subsample, population", "params.subsample / 2, population"),
        ("sgbdt:grow", "if params.extra_trees:", "if False:"),
        ("sgbdt:grow", "leaves[None], params.shrinkage", "leaves[None], 1.0"),
        ("sgbdt:grow", 'Leaves(("g", "h"))', 'Leaves(("h", "g"))'),
        ("sgbdt:leaf_values", "support > 0", "support > 1"),
        ("sgbdt:initial_score", "population.tell(Start(initial))", "population.tell(Start(0.0))"),
        ("sgbdt:initial_score", "float(clipped(mean, -bound, bound))", "float(mean) / 2"),
        ("sgbdt:train_on", "params.trees + params.extra_trees", "params.trees + 1"),
        ("sgbdt:leaf_charge", "deviation) ** 2", "deviation)"),
    ),
}  # fmt: skip
WHY: Mapping[tuple[str, str], str] = {
    ("sgbdt:leaf_charge", "deviation)"): "the noise is the same and so is the run; what is declared about it differs, "
    "which the plan's cost and the ledger's `sgbdt/whitened-add-remove` are about",
}
"""Why a mistake is seen in few runs or none, and where else it is."""
FIRST, RUNS = 100, 8
PAGE = Path(__file__).parents[2] / "docs" / "coq-mutants.md"
COUNTS = Path(__file__).with_suffix(".json")


def terms(paper: str, mutant: Edit, seeds: range) -> list[str]:
    """The mutant's runs as questions to Coq."""
    where, old, new = mutant
    with applied({f"refdp.papers.{where}": edit((old, new))}):
        return [term(PAPERS[paper], seed) for seed in seeds]


def refused(paper: str, mutants: tuple[Edit, ...], runs: int) -> list[int]:
    """How many of so many runs of each mutant are not what Coq computes."""
    asked = [one for mutant in mutants for one in terms(paper, mutant, range(FIRST, FIRST + runs))]
    found = answers(asked)
    return [found[i : i + runs].count(False) for i in range(0, len(found), runs)]


def page(counts: Mapping[str, list[int]], formulas: Mapping[str, list[int | None]], runs: int) -> str:
    """The table of the counts, paper by paper."""
    changed = [count for found in formulas.values() for count in found if count is not None]
    lines = [
        "# Mistakes that Coq sees\n",
        "**Coq sees most mistakes in the papers' texts, in runs or in formulas; the tables say which it does not.**\n",
        "| column | what it says |\n| --- | --- |",
        "| text, in its place | a mistake in a paper's text |",
        "| runs that differ | how many are not what [Coq computes](coq.md) |",
        "| formulas refused | how many [formulas](coq-formulas.md) Coq has no proof of; -: none changes |\n",
        "Written by `make coq-mutants`. Each row is a mistake in a paper's text. Runs of it are recorded, and Coq",
        "computes from records, parameters and outputs what the program of the theorems asks",
        f"([what a kernel says](coq.md)): of {runs} runs so many differ, in a quarter of them or more for",
        f"{_told(counts, runs)}.\n",
        "Where the mistake changes a [formula that is printed](coq-formulas.md), the next column is how many formulas",
        "are then not the text's for all inputs: Coq has no proof. Of the others, marked -, only runs can tell.",
        f"{sum(count > 0 for count in changed)} of the {len(changed)} mistakes that change a formula are refused.\n",
    ]
    for paper, found in counts.items():
        lines += [f"## {paper}\n", "| function | text | in its place | runs that differ | formulas refused |"]
        lines.append("| --- | --- | --- | --- | --- |")
        lines += [
            f"| `{where}` | `{old}` | `{new}` | {count} | {'-' if refused is None else refused} |"
            for (where, old, new), count, refused in zip(MUTANTS[paper], found, formulas[paper], strict=True)
        ]
        survivors = [
            f"- `{where}`, `{new}`: {WHY[where, new]}"
            for (where, _, new), count, refused in zip(MUTANTS[paper], found, formulas[paper], strict=True)
            if 4 * count < runs and not refused and (where, new) in WHY
        ]
        lines += ["", "Neither:\n", *survivors, ""] if survivors else [""]
    return "\n".join(lines).rstrip() + "\n"


def _told(counts: Mapping[str, list[int]], runs: int) -> str:
    """How many mistakes of each paper are seen in a quarter of the runs, and which papers were not measured."""
    seen = [f"{sum(4 * n >= runs for n in found)} of {len(found)} of {paper}" for paper, found in counts.items()]
    missing = [paper for paper in MUTANTS if paper not in counts]
    return "; ".join(seen) + (f"; not measured: {', '.join(missing)}" if missing else "")


def main(papers: list[str], runs: int = RUNS) -> int:
    """0 if every mistake in these papers differs in a quarter of its runs or changes a formula that is refused, but for
    those explained; the others' counts are kept."""
    record: dict[str, Any] = json.loads(COUNTS.read_text(encoding="utf-8"))
    good = True
    for paper in papers or list(MUTANTS):
        found, formulas = refused(paper, MUTANTS[paper], runs), refusals(MUTANTS[paper])
        record["runs"][paper], record["formulas"][paper] = found, formulas
        for mutant, count, told in zip(MUTANTS[paper], found, formulas, strict=True):
            print(f"{count} of {runs}, formulas {told}: {mutant}")
            good &= 4 * count >= runs or bool(told) or (mutant[0], mutant[2]) in WHY
        ordered = {kind: {name: own[name] for name in MUTANTS if name in own} for kind, own in record.items()}
        COUNTS.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(ordered["runs"], ordered["formulas"], runs), encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
