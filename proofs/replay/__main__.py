"""`python -m proofs.replay [PAPER ...] [--runs N] [--first SEED]`: Coq computes fresh runs of the papers again."""

from __future__ import annotations

import argparse
import sys

from proofs import kernel
from proofs.replay.checks import PAPERS, answers, term


def main(arguments: list[str]) -> int:
    """0 if every run is what Coq computes, 1 if one is not, 2 without Coq."""
    parser = argparse.ArgumentParser(prog="python -m proofs.replay")
    parser.add_argument("papers", nargs="*", choices=[*PAPERS, []], help="all if not given")
    parser.add_argument("--runs", type=int, default=10, help="of each paper")
    parser.add_argument("--first", type=int, default=0, help="seed of the first run")
    given = parser.parse_args(arguments)
    if not kernel.present():
        print(kernel.INSTALL)
        return 2
    differing = 0
    for name in given.papers or PAPERS:
        seeds = range(given.first, given.first + given.runs)
        found = answers([term(PAPERS[name], seed) for seed in seeds])
        wrong = [seed for seed, same in zip(seeds, found, strict=True) if not same]
        differing += len(wrong)
        print(f"{name}: {len(found) - len(wrong)} of {len(found)} runs as Coq computes them", *wrong)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
