"""DP-XGBoost (Sarus), the package dp-xgboost, in its own Python environment through a subprocess.

Read with dp-xgboost 0.2.10, which needs Python 3.10 and NumPy below 2. The environment is found through the variable
REFDP_PYTHON_DPXGBOOST, the path of its interpreter:

    python3.10 -m venv somewhere && somewhere/bin/pip install dp-xgboost==0.2.10 'numpy<2'
    export REFDP_PYTHON_DPXGBOOST=somewhere/bin/python

Noise is drawn in C++ and cannot be opened: this adapter trains, and hands out the model file for structural checks.
This version seeds its noise with the clock's seconds, so that runs are independent in different seconds only: see
`Job.tick` and `Trained.seconds`.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refdp.data.records import Floats
from refdp.errors import InvalidParameter

VARIABLE = "REFDP_PYTHON_DPXGBOOST"

DRIVER = """
import json, sys, time
import numpy as np
import dp_xgboost as xgb

folder = sys.argv[1]
models, last = [], 0
for data, rounds, settings, tick in json.load(open(folder + "/jobs.json")):
    if tick != last:
        time.sleep(1.0 - time.time() % 1.0 + 0.05)
        last = tick
    held = np.load(folder + "/data%d.npz" % data)
    bounds = dict(feature_min=held["low"].tolist(), feature_max=held["high"].tolist())
    start = int(time.time() - 0.03)  # time(2) may lag by some milliseconds after a second has begun
    booster = xgb.train(settings, xgb.DMatrix(held["x"], label=held["y"], **bounds), num_boost_round=rounds)
    seconds = (start, int(time.time()))
    name = folder + "/model.json"
    booster.save_model(name)
    models.append((json.load(open(name)), seconds))
json.dump({"version": xgb.__version__, "models": models}, open(folder + "/models.json", "w"))
"""


@dataclass(frozen=True)
class Job:
    """One training run: data, number of trees, and XGBoost's parameters (which may leave out the seed).

    tick: a job with another tick than the job before it starts in another second of the clock.
    """

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    rounds: int
    settings: dict[str, Any]
    tick: int = 0


@dataclass(frozen=True)
class Trained:
    """A model file as parsed JSON, and the clock's seconds when training began (0.03 s before) and ended."""

    model: dict[str, Any]
    seconds: tuple[int, int]

    @property
    def trees(self) -> list[dict[str, Any]]:
        """The trees of the model file."""
        found: list[dict[str, Any]] = self.model["learner"]["gradient_booster"]["model"]["trees"]
        return found


def interpreter() -> str:
    """The interpreter that has dp-xgboost. Errors: InvalidParameter if the variable is not set, or names no file."""
    path = os.environ.get(VARIABLE, "")
    if not path or not Path(path).is_file():
        raise InvalidParameter(f"{VARIABLE}={path!r}: it has to name the Python interpreter that has dp-xgboost 0.2.10")
    return path


def train_all(jobs: Sequence[Job]) -> tuple[str, list[Trained]]:
    """The package's version, and the model of every job. One process runs all of them.

    Errors: InvalidParameter if it fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        data: dict[tuple[int, int], int] = {}
        listed = []
        for job in jobs:
            number = data.setdefault((id(job.x), id(job.y)), len(data))
            np.savez(f"{folder}/data{number}.npz", x=job.x, y=job.y, low=job.low, high=job.high)
            listed.append((number, job.rounds, job.settings, job.tick))
        Path(folder, "jobs.json").write_text(json.dumps(listed))
        done = subprocess.run([interpreter(), "-c", DRIVER, folder], capture_output=True, text=True, check=False)
        if done.returncode:
            raise InvalidParameter(f"dp-xgboost failed in {interpreter()}: {done.stderr[-500:]}")
        answer = json.loads(Path(folder, "models.json").read_text())
    return answer["version"], [Trained(model, (start, end)) for model, (start, end) in answer["models"]]
