"""The league table: every method on every shared set at every epsilon.

    python -m benchmarks.league run [--sets ...] [--epsilons ...] [--seeds 1] [--methods ...] [--minutes 60]
    python -m benchmarks.league run --by-value [--minutes 600]
    python -m benchmarks.league write

`run` adds the cells that are not there yet to runs.jsonl, in order, and can be stopped and begun again at any time
(--by-value: all that have fewer than five seeds, the most valuable first, see queue.py; this takes hours);
`write` makes docs/league.md and refdp/faces/expected.json, the measured law of `refdp recommend`, from what is there.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import warnings

from benchmarks import kept_lines
from benchmarks.league.cells import EPSILONS, SETS, Cell, run
from benchmarks.league.methods import NOT_PRIVATE, UNABLE, methods
from benchmarks.league.page import RUNS, read, write
from benchmarks.league.queue import queue


def main() -> None:
    """Run or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "write"])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--by-value", action="store_true")
    parser.add_argument("--minutes", type=float, default=1e6)
    options = parser.parse_args()
    if options.command == "write":
        write()
        return
    known, end = methods(), time.monotonic() + 60 * options.minutes
    there = {(one["data"], one["method"], one["epsilon"], one["seed"]) for one in read()}
    chosen = options.methods or list(known)
    wanted = itertools.product(range(options.seeds), options.sets, chosen, options.epsilons)
    if options.by_value:
        wanted = ((one.seed, one.data, one.method, one.epsilon) for one in queue(read(), chosen))
    for seed, data, method, epsilon in wanted:
        at = 0.0 if method in NOT_PRIVATE else epsilon  # one cell for all
        if method not in known or data in UNABLE.get(method, ()) or (data, method, at, seed) in there:
            continue
        if time.monotonic() > end:
            sys.exit("out of time; what was run is kept")
        there.add((data, method, at, seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = run(Cell(data, method, at, seed), known)
            except (NotImplementedError, RuntimeError) as problem:
                print(data, method, at, seed, "failed:", str(problem)[-200:], file=sys.stderr)
                continue
        kept_lines.append(RUNS, found)
        print(found, flush=True)


if __name__ == "__main__":
    main()
