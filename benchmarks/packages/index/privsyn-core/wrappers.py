"""Entry point into privsyn-core: synthetic counts of a two by two table."""

import contextlib
import io
import logging

import numpy as np
import pandas as pd
from privsyn.api import PrivSynModel

logging.disable(logging.CRITICAL)


def synthetic(records, seed):
    frame = pd.DataFrame(records.astype(int), columns=["a", "b"])
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        model = PrivSynModel(1.0, 1e-6, random_state=seed % 2**31).fit(frame, {"a": 2, "b": 2})
        drawn = model.sample(100)
    return np.bincount(drawn["a"].astype(int) * 2 + drawn["b"].astype(int), minlength=4).astype(float)
