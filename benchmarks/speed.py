"""Time and memory of whole training runs, DPBoost against its own run without noise and against xgboost.

    python -m benchmarks.speed [--rows 80000] [--growth 10000 100000 1000000] [--repeats 5] [--docs docs]

Prints a table and writes docs/speed.md. Times are CPU seconds of this process, with one thread on both sides, so that
other processes on the machine disturb them less; variants alternate, and the best of the repeats counts.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import time
import tracemalloc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.kernels import REGULARISATION, binned_by_xgboost, boost_by_xgboost, made_up
from refdp.data.records import Interval, Numeric, Records, Schema, make_records
from refdp.papers import dpboost
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import NoiselessSource, SampleSource

FEATURES, DEPTH, TREES, BINS = 20, 4, 100, 32
GROWTH_TREES, GROWTH_FEATURES = 10, (10, 20, 40)
EPSILON = 1e4  # so little noise that gradient-based filtering drops no more records than without noise
PRIVATE, NON_PRIVATE, XGBOOST, LINEAR, MEMORY = 1.3, 1.3, 4.0, 1.3, 100  # what is allowed, see `findings`
Work = Callable[[], object]


def records(rows: int, features: int) -> Records:
    """The data of benchmarks/kernels.py with public bounds; the labels lie well inside the target's."""
    x, y = made_up(rows, features)
    bounds = tuple(Numeric(f"x{i}", 0.0, 1.0) for i in range(features))
    return make_records(Schema(bounds, Interval(-0.6, 1.1)), x, y)


def trained(data: Records, scheme: str, *, noise: bool, trees: int = TREES) -> object:
    """One whole training run: candidates, binning, boosting. scheme: as in `dpboost.Params`."""
    params = dpboost.Params(EPSILON, Relation.ADD_REMOVE, trees=trees, depth=DEPTH, bins=BINS, scheme=scheme,  # type: ignore[arg-type]
                            regularisation=REGULARISATION, noise="floating")  # fmt: skip
    generator = np.random.default_rng(0)
    source = SampleSource(generator) if noise else NoiselessSource(generator)
    return dpboost.train(params, data, Curator(source, params.relation))


def trained_by_xgboost(data: Records) -> object:
    """The same job with xgboost's histogram method and one thread: binning and boosting."""
    return boost_by_xgboost(binned_by_xgboost(np.ascontiguousarray(data.x), data.y))


def variants(data: Records) -> dict[str, Work]:
    """What is timed, by name."""
    return {
        "private, all rows in every tree": lambda: trained(data, "seq", noise=True),
        "no noise, all rows in every tree": lambda: trained(data, "np", noise=False),
        "private, ensembles of 50 trees": lambda: trained(data, "dpboost", noise=True),
        "no noise, ensembles of 50 trees": lambda: trained(data, "dpboost", noise=False),
        "xgboost, hist, one thread": lambda: trained_by_xgboost(data),
    }


def best_seconds(work: Mapping[str, Work], repeats: int, console: Console) -> dict[str, float]:
    """The best CPU seconds of each; they take turns."""
    best = dict.fromkeys(work, np.inf)
    for _ in track(range(repeats), "timing", console=console):
        for name, run in work.items():
            start = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - start)
    return best


def peak_memory(run: Work) -> int:
    """Peak of the bytes allocated beyond what there was before."""
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@dataclass(frozen=True)
class Finding:
    """A measured figure beside what is allowed."""

    what: str
    figure: float
    allowed: float
    unit: str = "times"

    @property
    def met(self) -> bool:
        """Whether it is allowed."""
        return self.figure <= self.allowed

    @property
    def cells(self) -> tuple[str, ...]:
        """One line of a table."""
        verdict = "met" if self.met else "missed"
        return self.what, f"{self.figure:.2f} {self.unit}", f"{self.allowed:g} {self.unit}", verdict


def ratios(seconds: Mapping[str, float]) -> list[Finding]:
    """Private against not private on the same rows, and not private against xgboost."""
    private, quiet, blocks, quiet_blocks, theirs = seconds.values()
    return [
        Finding("private / no noise, all rows in every tree", private / quiet, PRIVATE),
        Finding("private / no noise, ensembles of 50 trees", blocks / quiet_blocks, NON_PRIVATE),
        Finding("no noise, all rows in every tree / xgboost", quiet / theirs, XGBOOST),
    ]


def growth(name: str, seconds: Mapping[int, float]) -> list[Finding]:
    """Growth of the time from each size to the next, in units of the growth of the size: 1 is linear."""
    return [
        Finding(f"{name}: time({b:,}) / time({a:,}) over {b / a:g}", seconds[b] / seconds[a] / (b / a), LINEAR)
        for a, b in itertools.pairwise(seconds)
    ]


def memory(data: Records, name: str, run: Work) -> Finding:
    """Bytes a row beyond the input, against 4 times the binned matrix (a byte a value) and 100 bytes."""
    rows, features = data.x.shape
    return Finding(f"memory, {name}", peak_memory(run) / rows, 4 * features + MEMORY, "bytes a row")


def growths(sizes: Sequence[int], repeats: int, console: Console) -> dict[str, dict[int, float]]:
    """CPU seconds by rows (with FEATURES features) and by features (with the middle number of rows)."""
    middle = sizes[len(sizes) // 2]
    jobs = {("rows", rows): (rows, FEATURES) for rows in sizes}
    jobs |= {("features", features): (middle, features) for features in GROWTH_FEATURES}
    found: dict[str, dict[int, float]] = {}
    for (kind, size), shape in jobs.items():
        data = records(*shape)
        for scheme, title in (("seq", "all rows in every tree"), ("dpboost", "one ensemble")):
            work = {title: lambda data=data, scheme=scheme: trained(data, scheme, noise=True, trees=GROWTH_TREES)}
            seconds = best_seconds(work, repeats, console)[title]
            found.setdefault(f"{kind}, private, {title}", {})[size] = seconds
    return found


def table_of(title: str, headings: Iterable[str], rows: Iterable[tuple[str, ...]]) -> Table:
    """A rich table."""
    table = Table(*headings, title=title)
    for row in rows:
        table.add_row(*row)
    return table


def markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The same as Markdown."""
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


HEAD = """# Speed and memory

**Privacy costs hardly any time: a private run is held to 1.3 times the same run without noise, and time and memory to
growth in step with the records.**

| question | answer |
|---|---|
| DPBoost against xgboost, with its growth | the tables below |
| the federated framework against DP-EBM | [speed-fedgbdt](speed-fedgbdt.md) |
| out of memory, on many machines | [engines](engines.md) |

Generated by `python -m benchmarks.speed`; do not edit.

DPBoost as whole training runs (candidates, binning, boosting, transcript) on {rows:,} x {features} made-up records,
{bins} candidates a feature, depth {depth}, {trees} trees. Times are CPU seconds of the process, one thread on both
sides, variants taking turns, best of {repeats}. "Private" is the repaired variant. "No noise" is the same program
text with a source that answers with the true values and the best split: same rows in every tree, same releases.
Epsilon is {epsilon:g}, so that gradient-based filtering drops no more records with noise than without; with much
noise it drops more and runs faster. xgboost is its histogram method with the same depth, trees, bins and learning
rate, binning included. Growth is measured with {growth} trees. Memory is the peak beyond the input, traced in a
separate pass, of a whole run with {trees} trees.

Machine: {machine}; load at the start {load:.1f} on {cores} cores.

"""


def page(options: argparse.Namespace, load: float, sections: Sequence[str]) -> str:
    """The text of docs/speed.md."""
    import xgboost

    machine = f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}"
    head = HEAD.format(rows=options.rows, features=FEATURES, bins=BINS, depth=DEPTH, trees=TREES, epsilon=EPSILON,
                       repeats=options.repeats, growth=GROWTH_TREES, load=load, cores=os.cpu_count(),
                       machine=f"{machine}, xgboost {xgboost.__version__}")  # fmt: skip
    return head + "\n".join(sections)


def measured(options: argparse.Namespace, errors: Console) -> tuple[dict[str, float], list[Finding]]:
    """All figures: seconds by name, and the findings."""
    data = records(options.rows, FEATURES)
    work = variants(data)
    seconds = best_seconds(work, options.repeats, errors)
    findings = ratios(seconds)
    for kind, by_size in growths(options.growth, max(1, options.repeats // 2), errors).items():
        findings += growth(kind, by_size)
        seconds |= {f"{kind}, {size:,}, {GROWTH_TREES} trees": value for size, value in by_size.items()}
    for name, run in list(work.items())[:4]:
        findings.append(memory(data, name, run))
    return seconds, findings


def main() -> None:
    """Measure, print, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=80_000)
    parser.add_argument("--growth", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--docs", type=Path, default=Path(__file__).parents[1] / "docs")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    seconds, findings = measured(options, Console(stderr=True))
    rows = [(name, f"{value:.2f}") for name, value in seconds.items()]
    headings = ("what", "measured", "allowed", "")
    console = Console(width=120)
    console.print(table_of("CPU seconds", ("run", "seconds"), rows))
    console.print(table_of("Targets", headings, [finding.cells for finding in findings]))
    tables = [markdown(headings, [finding.cells for finding in findings]), markdown(("run", "CPU seconds"), rows)]
    options.docs.mkdir(exist_ok=True)
    (options.docs / "speed.md").write_text(page(options, load, tables), encoding="utf-8")


if __name__ == "__main__":
    main()
