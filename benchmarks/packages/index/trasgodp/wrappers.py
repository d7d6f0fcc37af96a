"""Entry points into trasgoDP; its noise comes from NumPy's global generator."""

import numpy as np
import pandas as pd
from trasgodp.categorical import dp_exponential
from trasgodp.numerical import dp_clip_laplace


def laplace(records, seed):
    np.random.seed(seed % 2**32)
    return dp_clip_laplace(pd.DataFrame({"x": records[:, 0]}), "x", 1.0, 0.0, 1.0)["x"].to_numpy()


def exponential(records, seed):
    np.random.seed(seed % 2**32)
    column = [f"c{int(value)}" for value in records[:, 0]]
    return [float(name[1:]) for name in dp_exponential(pd.DataFrame({"x": column}), "x", 1.0)["x"]]
