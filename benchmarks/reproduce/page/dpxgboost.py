"""docs/dpxgboost.md: what was measured against what was published, and which part of a run costs what."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.reproduce.figures.dpxgboost import bins_figure, budget_figure, minimum_figure
from benchmarks.reproduce.page import Cells, Sample, or_not_run, table
from benchmarks.reproduce.runs import Outcome, Run
from benchmarks.reproduce.statements.dpxgboost_text import (
    AGAIN,
    COMPARABLE,
    COVTYPE,
    FILTER,
    FULL,
    HEAD,
    NEAR,
    PRINTED,
    PRINTED_BENCHMARK,
    SPARSE,
)
from benchmarks.reproduce.study import dpxgboost as study
from benchmarks.reproduce.study.dpxgboost_data import FEATURE_BOUND, LABEL_BOUND, TASKS
from benchmarks.reproduce.study.dpxgboost_tuning import chosen
from refdp.data.records import Interval, Numeric, Schema
from refdp.papers import dpxgboost, published
from refdp.privacy.events import Relation

PRIVATE = [name for name, one in study.METHODS.items() if one.group != "none"]
COUNTED = ("published", "published-500", "script", "average", "chosen")
DELTA = 1e-6
SPARSE_FILE = Path(__file__).parents[1] / "kept" / "dpxgboost_sparse.json"
FULL_SIZE = Path(__file__).parents[1] / "kept" / "dpxgboost_full.jsonl"


def factor(data: str) -> float:
    """Shares are shown in %."""
    return 1.0 if data in ("abalone", "synthetic-reg", "reg-40") else 100.0


def shown(data: str, sample: Sample) -> str:
    """Mean ± standard deviation in the data set's unit."""
    return sample.text(factor(data), 2 if data == "abalone" else 1)


@dataclass(frozen=True)
class Cell:
    """One printed figure with what one method gave. near: within 15% of the printed figure, or below it."""

    data: str
    epsilon: float
    printed: float
    found: float

    @property
    def near(self) -> bool:
        """Within 15% or better."""
        return self.found <= NEAR * self.printed


def write(outcomes: Mapping[Run, Outcome], docs: Path) -> Path:
    """Write the page and its figures."""
    cells = Cells.of(outcomes)
    planned = len(study.runs(1 + max((run.repeat for run in outcomes), default=0)))
    settings = ", ".join(f"{name} = {value}" for name, value in chosen().items())
    head = HEAD.format(planned=planned, done=len(outcomes), fewer=study.FEWER_FOLDS, chosen=settings)
    path = docs / "dpxgboost.md"
    path.write_text("\n".join([head, *sections(cells, docs)]), encoding="utf-8")
    return path


def sections(cells: Cells, docs: Path) -> Iterator[str]:
    """The page after its head."""
    yield "## In short\n"
    yield in_short(cells)
    yield "## Test errors (Figures 4 to 6)\n"
    for data in TASKS:
        yield f"### {TASKS[data].title}\n"
        if data in PRINTED:
            yield f"![{data}](figures/{budget_figure(cells, data, docs).name})\n"
        yield results(cells, data)
    yield "## Which cells are not near, and why\n"
    yield from exceptions(cells)
    yield "## What the repairs cost\n"
    yield from repairs(cells)
    yield "## Budgets, quantiles, accounting\n"
    yield from options(cells)
    yield "## Figure 1: bins of the private histogram\n"
    yield bins_figure(cells, docs)
    yield "## Figure 2: the minimum of records in a child\n"
    yield minimum_figure(cells, docs)
    yield "## At full size\n"
    yield full_size()
    yield "## Sparse records\n"
    yield sparse_records()
    yield AGAIN


def full_size() -> str:
    """The runs of benchmarks/dpxgboost_full.py that are at hand."""
    lines = FULL_SIZE.read_text(encoding="utf-8").splitlines() if FULL_SIZE.exists() else []
    rows = []
    for one in map(json.loads, lines):
        unit = 100.0 if one["kind"] == "classes" else 1.0
        rows.append([f"{one['kind']}, {study.METHODS[one['method']].title}, ε = {one['epsilon']:g}",
                     f"{unit * one['loss']:.1f}", f"{unit * one['constant']:.1f}", f"{one['seconds']:.0f}",
                     f"{one['cpu seconds']:.0f}", f"{one['peak GB']:.1f}"])  # fmt: skip
    heads = ["", "test error, % or RMSE", "best constant", "seconds", "CPU seconds", "process peak up to then, GB"]
    return FULL + "\n" + (table(heads, rows) if rows else "Not run.\n")


def sparse_records() -> str:
    """The measurements of benchmarks/dpxgboost_sparse.py that are at hand."""
    if not SPARSE_FILE.exists():
        return "Not run.\n"
    found = json.loads(SPARSE_FILE.read_text(encoding="utf-8"))
    rows = []
    for one in found["runs"]:
        label = f"{one['way']}, {one['filled']:.0%} filled, {one['bins']} bins, subsampling {one['rate']:g}"
        rows.append([label, f"{one['seconds']:.2f}", f"{one['cpu seconds']:.2f}", f"{one['peak MB']:.0f}"])
    text = SPARSE.format(**found, table=found["rows"] * found["columns"] * 8 / 2**20)
    return text + "\n" + table(["", "seconds", "CPU seconds", "peak memory, MB"], rows)


# --- The results table ------------------------------------------------------------------------------------------------


def sample(cells: Cells, data: str, name: str, epsilon: float | None = None) -> Sample:
    """The losses of a method."""
    budget = {} if epsilon is None else {"epsilon": epsilon}
    return cells.sample("loss", "table", dataset=data, method=name, **budget)


def results(cells: Cells, data: str) -> str:
    """All methods at all budgets, below the printed figures; in bold what is not near."""
    rows = [["printed", *(f"{value:g}" for value in PRINTED[data])]] if data in PRINTED else []
    for name in PRIVATE:
        rows.append([study.METHODS[name].title, *(_marked(cells, data, name, e) for e in study.EPSILONS)])
    rows = [row for row in rows if any(text != "not run" for text in row[1:])]
    free = [f"{study.METHODS[name].title}: {shown(data, sample(cells, data, name))}" for name in ("xgboost", "none")]
    printed = [f"printed benchmark: {PRINTED_BENCHMARK[data]:g}"] if data in PRINTED else []
    constant = [f"best constant: {shown(data, cells.sample('constant', 'table', dataset=data, method='none'))}"]
    head = table(["", *(f"ε = {e:g}" for e in study.EPSILONS)], rows)
    return f"{head}\nWithout privacy: {'; '.join(printed + free + constant)}.\n"


def _marked(cells: Cells, data: str, name: str, epsilon: float) -> str:
    text = shown(data, sample(cells, data, name, epsilon))
    one = compared(cells, data, name, epsilon)
    return text if one is None or one.near else f"**{text}**"


def compared(cells: Cells, data: str, name: str, epsilon: float) -> Cell | None:
    """The cell against its printed figure; None without one."""
    found = sample(cells, data, name, epsilon)
    if data not in PRINTED or len(found.values) < 2:
        return None
    return Cell(data, epsilon, PRINTED[data][study.EPSILONS.index(epsilon)], factor(data) * found.mean)


def comparable(cells: Cells, data: str) -> bool:
    """Whether a model without privacy reaches the printed benchmark, within 15%."""
    best = min(sample(cells, data, name).mean for name in ("xgboost", "none"))
    return factor(data) * best <= NEAR * PRINTED_BENCHMARK[data]


def in_short(cells: Cells) -> str:
    """How many cells are near, by method."""
    rows = []
    for name in COUNTED:
        found = [compared(cells, data, name, e) for data in PRINTED for e in study.EPSILONS]
        known = [one for one in found if one is not None]
        usable = [one for one in known if comparable(cells, one.data)]
        rows.append([study.METHODS[name].title, *(_share(part) for part in (usable, known))])
    lines = table(["within 15% of the printed figure, or better", "comparable cells", "all cells"], rows)
    excluded = [TASKS[data].title for data in PRINTED if not comparable(cells, data)]
    return lines + COMPARABLE.format(excluded=f"{', '.join(excluded) or 'none'} is not comparable")


def _share(cells: list[Cell]) -> str:
    return f"{sum(cell.near for cell in cells)} of {len(cells)}" if cells else "not run"


# --- Exceptions -------------------------------------------------------------------------------------------------------


def exceptions(cells: Cells) -> Iterator[str]:
    """Every cell that is not near, then the experiments that say why."""
    rows = [[study.METHODS[name].title, *(_far(cells, data, name) for data in PRINTED)] for name in COUNTED]
    yield "Budgets at which a method is not near:\n"
    yield table(["", *(TASKS[data].title for data in PRINTED)], rows)
    yield COVTYPE
    yield table(["covtype, xgboost without privacy", *(f"depth {d}" for d in study.BENCHMARK_DEPTHS)], [
        [f"share of records a tree {rate:g}", *(shown("covtype", cells.sample(
            "loss", "benchmark", dataset="covtype", depth=depth, rate=rate)) for depth in study.BENCHMARK_DEPTHS)]
        for rate in (study.RATE, 1.0)])  # fmt: skip
    yield "Without noise, each row adding one thing of a private run as published:\n"
    yield table(["", *(TASKS[data].title for data in PRINTED)], [
        [step, *(shown(data, cells.sample("loss", "ladder", dataset=data, step=step)) for data in PRINTED)]
        for step in study.LADDER])  # fmt: skip
    yield FILTER
    yield "As published, with noise on one part only (such a model is not private):\n"
    yield table(["", *(TASKS[data].title for data in PRINTED)], list(_noises(cells)))
    yield "Chosen on made-up data, at ε = 10, by depth: what its noise adds to what its settings cost.\n"
    yield table(["", *(TASKS[data].title for data in PRINTED)], [
        [f"depth {depth}, {'without noise' if noise == 'none' else 'private'}", *(shown(data, cells.sample(
            "loss", "floor", dataset=data, depth=depth, noise=noise)) for data in PRINTED)]
        for depth in study.FLOOR_DEPTHS for noise in ("none", "all")])  # fmt: skip
    yield reasons(cells)


def _far(cells: Cells, data: str, name: str) -> str:
    found = [one for e in study.EPSILONS if (one := compared(cells, data, name, e)) is not None]
    return ", ".join(f"{one.epsilon:g}" for one in found if not one.near) or ("none" if found else "not run")


def _noises(cells: Cells) -> Iterator[list[str]]:
    for epsilon in study.ENDS:
        for noise in study.NOISES:
            found = [cells.sample("loss", "noise", dataset=data, epsilon=epsilon, noise=noise, method="published")
                     for data in PRINTED]  # fmt: skip
            label = "nothing" if noise == "none" else f"{noise} only"
            yield [f"ε = {epsilon:g}, {label}", *map(shown, PRINTED, found)]
        yield [f"ε = {epsilon:g}, all", *(shown(data, sample(cells, data, "published", epsilon)) for data in PRINTED)]


def reasons(cells: Cells) -> str:
    """What the tables say for each set, from their figures."""
    lines = ["For each set at ε = 10: the loss as published, and how much of it remains without noise on each part.\n"]
    for data in PRINTED:
        lines.append(f"- {TASKS[data].title}: {or_not_run(lambda data=data: _reason(cells, data))}.")
    lines.append("\nThe same with the settings chosen on made-up data:\n")
    for data in PRINTED:
        lines.append(f"- {TASKS[data].title}: {or_not_run(lambda data=data: _floor(cells, data))}.")
    return "\n".join(lines) + "\n"


def _floor(cells: Cells, data: str) -> str:
    def loss(depth: int, noise: str) -> float:
        return factor(data) * cells.sample("loss", "floor", dataset=data, depth=depth, noise=noise).mean

    parts = []
    for depth in (chosen()["depth"], 6):
        quiet = loss(depth, "none")
        parts.append(f"depth {depth} without noise {quiet:.3g}, its noise adds {loss(depth, 'all') - quiet:+.2g}")
    return f"{'; '.join(parts)}; printed {PRINTED[data][-1]:g}"


def _reason(cells: Cells, data: str) -> str:
    unit = factor(data)
    free = unit * cells.sample("loss", "ladder", dataset=data, step="all records").mean
    quiet, *parts = (
        unit * cells.sample("loss", "noise", dataset=data, epsilon=10.0, noise=noise, method="published").mean
        for noise in ("none", "sketch", "splits", "leaves")
    )
    whole = unit * sample(cells, data, "published", 10.0).mean
    added = ", ".join(f"{name} {part - quiet:+.2g}" for name, part in zip(("sketch", "splits", "leaves"), parts))
    return f"{free:.3g} plain, {quiet:.3g} with filter, sampling, minimum and sketch but no noise; noise on {added}; " \
           f"all together {whole:.3g}"  # fmt: skip


# --- Repairs and options ----------------------------------------------------------------------------------------------


def repairs(cells: Cells) -> Iterator[str]:
    """Guarantees, then each leaf mechanism with the printed and the proved constants."""
    yield guarantees()
    yield "Leaf mechanisms, printed constants / proved ones (all else equal but for the split's sensitivity):\n"
    for data in study.OPTION_TASKS:
        rows = []
        for leaf in study.LEAVES:
            row = [leaf]
            for epsilon in study.ENDS:
                pair = [cells.sample("loss", "leaves", dataset=data, epsilon=epsilon, leaf=leaf, constants=constants)
                        for constants in ("published", "proved")]  # fmt: skip
                row.append(" / ".join(shown(data, one) if one.values else "-" for one in pair))
            rows.append(row)
        yield table([TASKS[data].title, *(f"ε = {e:g}" for e in study.ENDS)], rows)


@cache
def guarantees() -> str:
    """What is established for each leaf mechanism as published, at claimed epsilon 1, on 10 features."""
    schema = Schema(tuple(Numeric(f"x{i}", -FEATURE_BOUND, FEATURE_BOUND) for i in range(10)),
                    Interval(-LABEL_BOUND, LABEL_BOUND))  # fmt: skip
    rows = []
    for leaf in ("laplace", "minimum", "average"):
        row = [leaf]
        for settings in (study.PUBLISHED, {**study.PUBLISHED, "sampling": "matching"}, {}):
            for relation in Relation:
                given = {"epsilon": 1.0, "relation": relation, "leaf": leaf, "noise": "floating", **settings}
                params = published.params("dpxgboost", **given)
                row.append(f"{dpxgboost.certificate(params, schema).established.epsilon:.3g}")
        rows.append(row)
    heads = [f"{how}, {relation.value}" for how in ("as published", "with matching samples", "repaired")
             for relation in Relation]  # fmt: skip
    return "Established epsilon at claimed epsilon 1 (20 trees, subsampling 0.1):\n\n" + table(["leaves", *heads], rows)


def options(cells: Cells) -> Iterator[str]:
    """One change at a time of the repaired noisy average."""
    yield "One change at a time of the repaired noisy average, ε = 4:\n"
    yield table(["", *(TASKS[data].title for data in study.OPTION_TASKS)], [
        [option, *(shown(data, cells.sample("loss", "options", dataset=data, epsilon=4.0, option=option))
                   for data in study.OPTION_TASKS)] for option in study.OPTIONS])  # fmt: skip
    yield accounting()


@cache
def accounting() -> str:
    """How much the tighter accounting lets all releases spend together."""
    schema = Schema(tuple(Numeric(f"x{i}", -FEATURE_BOUND, FEATURE_BOUND) for i in range(10)),
                    Interval(-LABEL_BOUND, LABEL_BOUND))  # fmt: skip
    rows = []
    for label, more in (("20 trees, subsampling 0.1", {}), ("20 trees, all records", {"subsample": 1.0}),
                        ("100 trees, subsampling 0.1", {"trees": 100})):  # fmt: skip
        given = {"delta": DELTA, "leaf": "average", "noise": "floating", **more}
        totals = [dpxgboost.total_epsilon(dpxgboost.Params(e, Relation.ADD_REMOVE, **given), schema) / e
                  for e in study.ENDS]  # fmt: skip
        rows.append([label, *(f"{total:.2f} times" for total in totals)])
    heads = [f"ε = {e:g}" for e in study.ENDS]
    return f"Sum of the epsilons that delta = {DELTA:g} allows, against basic composition:\n\n" + table(
        ["", *heads], rows
    )
