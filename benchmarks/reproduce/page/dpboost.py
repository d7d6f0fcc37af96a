"""The page docs/dpboost.md."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.reproduce.figures.dpboost import budget_figure, curve_figure
from benchmarks.reproduce.page import Cells, Sample, or_not_run, table
from benchmarks.reproduce.runs import Outcome, Run
from benchmarks.reproduce.statements import dpboost_text as text
from benchmarks.reproduce.statements.dpboost import STATEMENTS, VARIANTS, Statements
from benchmarks.reproduce.study.dpboost import (
    CANDIDATES,
    CURVE_TASKS,
    CURVES,
    EPSILONS,
    METHODS,
    PARTS,
    TASKS,
    certificate,
    runs,
    unit,
)
from refdp.data.records import Classes, Numeric, Schema
from refdp.noise.mechanisms import Laplace
from refdp.privacy.events import Relation

BUDGETS = [f"ε = {epsilon:g}" for epsilon in EPSILONS]
TWO_CLASSES = Schema((Numeric("any", 0.0, 1.0),), Classes(("no", "yes")))
"""A plan depends on the schema only through the number of classes."""

STEPS_OF_REPAIR = (
    ("dpboost-printed", "dpboost-text", "half of a tree's budget for the leaves (text, Theorem 7) instead of line 14"),
    ("dpboost-text", "dpboost-proved", "proved sensitivities instead of Lemma 1 and Corollary 2"),
    ("dpboost-proved", "dpboost", "independent subsets instead of fixed sizes"),
    ("dpboost", "dpboost-replace-one", "guarantee for replaced records instead of added or removed ones"),
)


def write(outcomes: Mapping[Run, Outcome], docs: Path) -> Path:
    """Write the page and its figures."""
    cells = Cells.of(outcomes)
    for name in TASKS:
        if cells.sample("loss", "budget", dataset=name, method="np").values:
            budget_figure(cells, name, docs)
    curve_figure(cells, docs)
    path = docs / "dpboost.md"
    repeats = 1 + max(run.repeat for run in outcomes)
    planned = len(runs(repeats))
    head = text.HEAD.format(repeats=repeats, values=5 * repeats, done=len(outcomes), planned=planned)
    path.write_text("\n".join([head, *sections(cells)]), encoding="utf-8")
    return path


def sections(cells: Cells) -> Iterator[str]:
    """The page after its head, part by part."""
    yield summary(cells)
    yield guarantees()
    yield "## Test errors against the budget (Figure 2)\n"
    for name in TASKS:
        yield budget_table(cells, name)
    yield text.STATEMENTS
    yield statements(cells)
    yield text.REPAIRS
    yield repairs(cells)
    yield text.NOISE
    yield noise_of_a_score()
    yield noise_parts(cells)
    yield text.AUTHORS
    yield one_seed(cells)
    yield text.CANDIDATES
    yield candidates(cells)
    yield text.CURVES
    yield trees(cells)
    yield text.AGAIN


def cell(cells: Cells, experiment: str, name: str, **more: str | float) -> Sample:
    """The losses of one cell."""
    return cells.sample("loss", experiment, dataset=name, **more)


def shown(name: str, value: Sample) -> str:
    """Mean ± standard deviation in the unit of the data set."""
    factor, _, digits = unit(name)
    return value.text(factor, digits)


def line(cells: Cells, experiment: str, name: str, **more: str) -> list[str]:
    """The cells of one row over the budgets; NP has no budget."""
    if more.get("method") == "np":
        return [shown(name, cell(cells, experiment, name, **more))] + ["same"] * (len(EPSILONS) - 1)
    return [shown(name, cell(cells, experiment, name, epsilon=e, **more)) for e in EPSILONS]


def summary(cells: Cells) -> str:
    """From which budget on the methods are better than the best constant."""
    rows = []
    for method in ("para-published", "dpboost-printed", "dpboost-text", "para", "dpboost", "dpboost-replace-one"):
        rows.append([METHODS[method].title, *(or_not_run(partial(_useful, cells, name, method)) for name in TASKS)])
    return text.SUMMARY + "\n" + table(["method", *(task.title for task in TASKS.values())], rows)


def _useful(cells: Cells, name: str, method: str) -> str:
    constant = cells.sample("constant", "budget", dataset=name, method="np").mean
    better = [cell(cells, "budget", name, method=method, epsilon=e).mean < constant for e in EPSILONS]
    last = max((i for i, useful in enumerate(better) if not useful), default=-1)
    return f"ε = {EPSILONS[last + 1]:g}" if last + 1 < len(EPSILONS) else "none up to 10"


def guarantees() -> str:
    """Claimed and established epsilon of every method."""
    task = TASKS["adult"]
    rows = []
    for name, method in METHODS.items():
        if method.group == "none" or method.budget < 1:
            continue
        calibrated = list(Relation) if method.group == "published" else [method.relation]
        found = {relation: certificate(name, task, TWO_CLASSES, relation) for relation in calibrated}
        established = [_number(found[r].established.epsilon) if r in found else "-" for r in Relation]
        rows.append([method.title, _number(found[calibrated[0]].claimed.epsilon), *established])
    headings = ["method, epsilon 1", "claimed", *(f"established, {relation.value}" for relation in Relation)]
    return text.GUARANTEES + "\n" + table(headings, rows)


def _number(value: float) -> str:
    return "none" if math.isinf(value) else f"{value:.3g}"


def budget_table(cells: Cells, name: str) -> str:
    """Figure and table of one data set."""
    factor, label, digits = unit(name)
    constant = cells.sample("constant", "budget", dataset=name, method="np").text(factor, digits)
    rows = [[method.title, *line(cells, "budget", name, method=key)] for key, method in METHODS.items()]
    head = f"### {TASKS[name].title}: {label}\n\n![{name}](figures/dpboost-{name}.png)\n"
    note = f"The best constant prediction, which is not private either, has {constant}.\n"
    return "\n".join([head, table(["method", *BUDGETS], rows), note])


def statements(cells: Cells) -> str:
    """Every statement of section 4.1 against every variant."""
    measured = Statements(cells)
    rows = [
        [title, *(or_not_run(partial(check, measured, variant)) for variant in VARIANTS)]
        for title, check in STATEMENTS.items()
    ]
    return table(["section 4.1 says", *(variant.title for variant in VARIANTS)], rows)


def repairs(cells: Cells) -> str:
    """Change of the mean loss by each repair, one after the other."""
    rows = []
    for before, after, title in STEPS_OF_REPAIR:
        for name in TASKS:
            changes = [or_not_run(partial(_change, cells, name, before, after, e)) for e in EPSILONS]
            rows.append([title, TASKS[name].title, *changes])
    return table(["repair", "data", *BUDGETS], rows)


def _change(cells: Cells, name: str, before: str, after: str, epsilon: float) -> str:
    factor, _, digits = unit(name)
    old = cell(cells, "budget", name, method=before, epsilon=epsilon)
    new = cell(cells, "budget", name, method=after, epsilon=epsilon)
    error = factor * float(np.hypot(old.error, new.error))
    return f"{factor * (new.mean - old.mean):+.{digits}f} ({error:.{digits}f})"


def noise_of_a_score() -> str:
    """Standard deviation of the noise in the score of one record, η sqrt(Σ 2 b_t²), b_t the scale of a leaf's noise."""
    rows = []
    for key in ("seq-published", "para-published", "para-code", "dpboost-printed", "dpboost-text", "dpboost",
                "dpboost-replace-one"):  # fmt: skip
        rows.append([METHODS[key].title, *(f"{deviation(key, epsilon):.2f}" for epsilon in EPSILONS)])
    return table(["noise in a score (labels are -1 and 1)", *BUDGETS], rows)


def deviation(method: str, epsilon: float) -> float:
    """Deviation of a method's score by noise alone; it depends on no record (PARA: for as many trees as on Adult)."""
    params = METHODS[method].params(TASKS["adult"], epsilon)
    budget = params.tree_epsilon(TWO_CLASSES)
    charges = [params.leaf_charge(budget, b.clip) for blocks in params.ensembles() for b in blocks]
    scales = np.array([charge.mechanism.scale for charge in charges if isinstance(charge.mechanism, Laplace)])
    return float(params.shrinkage * np.sqrt(2 * np.sum(scales**2)))


def noise_parts(cells: Cells) -> str:
    """The repaired variant with parts of its noise."""
    titles = {"none": "no noise", "splits": "noise on the splits only", "leaves": "noise on the leaves only"}
    rows = []
    for name in TASKS:
        parts_of = [[titles[part], *line(cells, "noise", name, noise=part)] for part in PARTS]
        full = ["all noise", *line(cells, "budget", name, method="dpboost")]
        rows += [[f"{TASKS[name].title}, {row[0]}", *row[1:]] for row in [*parts_of, full]]
    return table(["DPBoost repaired, add-remove", *BUDGETS], rows)


def one_seed(cells: Cells) -> str:
    """Standard deviations with one seed for all folds."""
    rows = []
    for name in TASKS:
        factor, _, digits = unit(name)
        for title, experiment in (("a seed for every fold", "budget"), ("the same seed", "one-seed")):
            found = [cell(cells, experiment, name, method="dpboost-text", epsilon=e) for e in EPSILONS]
            rows.append([f"{TASKS[name].title}, {title}", *(s.text(factor, digits) for s in found)])
    return table(["DPBoost, half for the leaves", *BUDGETS], rows)


def candidates(cells: Cells) -> str:
    """Values of the records as split candidates."""
    rows = []
    for name in TASKS:
        for method in CANDIDATES:
            for title, experiment in (("public grid", "budget"), ("values of the records", "candidates")):
                row = line(cells, experiment, name, method=method)
                rows.append([f"{TASKS[name].title}, {METHODS[method].title}, {title}", *row])
    return table(["candidates", *BUDGETS], rows)


def trees(cells: Cells) -> str:
    """The test error after some numbers of trees."""
    counts = (50, 100, 200, 500, 1000)
    rows = []
    for name in CURVE_TASKS:
        for method in CURVES:
            values = 100 * cells.curves("loss", "curves", dataset=name, method=method)
            if len(values):
                found = [Sample(tuple(values[:, count // 10 - 1])).text() for count in counts]
                rows.append([f"{TASKS[name].title}, {METHODS[method].title}", *found])
    return table(["test error, %", *(f"{count} trees" for count in counts)], rows)
