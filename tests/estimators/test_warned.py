"""A warning names the user's line that trains: Python shows one for each line, and each fit has its own records."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from refdp.errors import PrivacyWarning, RepeatedFitWarning
from refdp.faces import estimators

PAPERS = [kind for name, kind in vars(estimators).items()
          if name.endswith(("Classifier", "Regressor")) and hasattr(kind, "_paper")]  # fmt: skip


@pytest.mark.parametrize("kind", [pytest.param(one, id=one.__name__) for one in PAPERS])
def test_what_is_warned_of_names_the_line_that_trains(kind: Any) -> None:
    x = np.random.default_rng(0).random((40, 2))
    y = (x[:, 0] > 0.5) * 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            kind(epsilon=0.1).fit(x, y)
    told = [one for one in caught if one.category.__module__ == "refdp.errors"]
    assert {one.filename for one in told} == {__file__} and len({one.lineno for one in told}) == 1
    assert {PrivacyWarning, RepeatedFitWarning} <= {one.category for one in caught}


def test_a_second_fit_warns_of_its_own_records() -> None:
    text = (
        "import numpy as np\nfrom refdp.faces.estimators import DPBoostClassifier as D\n"
        "x = np.random.default_rng(0).random((40, 2))\ny = (x[:, 0] > 0.5) * 1\n"
        "D(epsilon=0.1).fit(x, y)\nD(epsilon=0.1).fit(x.copy(), y.copy())\n"
    )
    told = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stderr
    assert [told.count(f"<string>:{line}: PrivacyWarning: the bounds of x0") for line in (5, 6)] == [1, 1]
