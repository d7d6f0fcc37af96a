"""`python -m benchmarks.projection`: the measured tables of docs/engines-measured.md carried to more rows and workers.

The law: a worker's processor time is proportional to its rows and to trees, loading to its rows, a round's bytes to
workers and not to rows, and the driver's time to messages (rounds times workers). Each measured run gives one set of
constants; where two runs of a program were measured the projection is a range. Workers answer a round together, so that
the wall time is at least loading, a worker's time and the driver's. Nothing of this was run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "engines-measured.md"
ROWS, WORKERS, TREES = 10**9, 100, 100
TITLE = "## A projection"
ABOUT = re.compile(r"^(\d+) rows of (\d+) features in \d+ partitions, (\d+) workers of one thread, (\d+) trees")


@dataclass(frozen=True)
class Run:
    """A measured line. loading, driver, workers: seconds of processor time. sent, back: bytes a round, all workers."""

    name: str
    rows: int
    features: int
    count: int
    trees: int
    loading: float
    driver: float
    workers: float
    rounds: int
    sent: int
    back: int


def runs(page: str) -> list[Run]:
    """The measured lines of refdp's own programs."""
    found, about = list[Run](), [0, 0, 0, 0]
    for line in page.splitlines():
        if heading := ABOUT.match(line):
            about = [int(one) for one in heading.groups()]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 12 and cells[7].isdigit():
            seconds, sizes = map(float, cells[1:4]), map(int, cells[7:10])
            found.append(Run(cells[0], *about, *seconds, *sizes))  # type: ignore[call-arg, arg-type]
    return found


def projected(run: Run) -> list[float]:
    """Loading, a worker's time, the driver's, wall time at least (seconds), and MB to and from workers in all."""
    rounds = run.rounds / run.trees * TREES
    loading = run.loading / run.rows * ROWS / WORKERS
    worker = run.workers / (run.rows * run.trees) * ROWS / WORKERS * TREES
    driver = run.driver / (run.rounds * run.count) * rounds * WORKERS
    sent, back = (size / run.count * WORKERS * rounds / 1e6 for size in (run.sent, run.back))
    return [loading, worker, driver, loading + worker + driver, sent, back]


def section(page: str) -> str:
    """The page's last section."""
    by_name: dict[str, list[Run]] = {}
    for run in runs(page):
        by_name.setdefault(run.name, []).append(run)
    lines = [
        TITLE,
        "",
        f"`python -m benchmarks.projection` carries the tables of Dask to 10^{len(str(ROWS)) - 1} rows of 20 features,",
        f"{WORKERS} workers of one thread with a core each, and {TREES} trees of depth 4, by the law that it states.",
        "This was not run. Ranges are of the two sizes that were measured; the driver's time for a message",
        "grew with the wait for a round on busy cores, and with it the range.",
        "",
        "| program | loading, s | a worker, s | driver, s | wall at least, s | MB to workers | MB back |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, measured in by_name.items():
        columns = zip(*(projected(run) for run in measured), strict=True)
        lines.append(f"| {name} | {' | '.join(_range(column) for column in columns)} |")
    return "\n".join(lines) + "\n"


def _range(values: tuple[float, ...]) -> str:
    low, high = f"{min(values):.0f}", f"{max(values):.0f}"
    return low if low == high else f"{low} to {high}"


def written(page: str) -> str:
    """The page with its section anew."""
    before = page.split(TITLE)[0].rstrip()
    return f"{before}\n\n{section(before)}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
