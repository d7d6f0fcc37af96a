"""A slow mechanism that writes down each of its runs, for campaigns that are killed and resumed."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from refdp.audit.blackbox import bound_from
from refdp.audit.campaign import Campaign, Job
from refdp.audit.runs import InputPair

JOB = Job("tests.blackbox.slow:noisy", InputPair(np.array([0.0]), np.array([1.0])), 11)
SAMPLES = 400


def noisy(records: Any, seed: int) -> float:
    """A count with noise; RUNS_LOG names a file that gets a line a run."""
    time.sleep(0.002)
    with open(os.environ["RUNS_LOG"], "a", encoding="utf-8") as file:
        file.write(f"{seed}\n")
    return float(np.rint((records[0] + np.random.default_rng(seed).laplace(scale=0.3)) * 2**20) / 2**20)


def audit(path: str, jobs: int) -> str:
    """The campaign's bound as text, without its time."""
    campaign = Campaign(JOB, Path(path), jobs, seconds=0.05)
    bound = bound_from([campaign], 0.0, claimed=None, confidence=0.999, samples=SAMPLES)
    return str({name: value for name, value in bound.to_dict().items() if name != "seconds"})


if __name__ == "__main__":
    print(audit(sys.argv[1], int(sys.argv[2])))
