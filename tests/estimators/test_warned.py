"""A warning names the user's line that trains: Python shows one for each line, and each fit has its own records."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.utils.parallel import Parallel, delayed

from refdp.errors import PrivacyWarning, RepeatedFitWarning
from refdp.faces import estimators
from refdp.faces.warned import muted, warn

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


# --- A context that is muted ------------------------------------------------------------------------------------------


def one_line(told: list[str]) -> list[str]:
    """What is told of a line of this module that warns, and of refdp's own warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        with muted():
            said(told)
        said(told)
    return [str(one.message) for one in caught]


def said(told: list[str]) -> None:
    for text in told:
        warnings.warn(text, stacklevel=1)
        warn(text, PrivacyWarning)


def test_what_is_muted_is_not_remembered_as_shown() -> None:
    """Else a later warning that is missing would tell of it."""
    assert one_line(["a", "b"]) == ["a", "a", "b", "b"]


def test_what_is_muted_is_no_error_either() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with muted():
            said(["a"])
            with muted():
                said(["b"])
            said(["c"])
        with pytest.raises(UserWarning):
            said(["d"])


def test_no_other_thread_is_muted_meanwhile_or_afterwards() -> None:
    inside, looked = threading.Event(), threading.Event()

    def quiet() -> None:
        with muted():
            inside.set()
            looked.wait(10)
            said(["in a run"])

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = threading.Thread(target=quiet)
        run.start()
        assert inside.wait(10)
        said(["beside"])
        with warnings.catch_warnings():  # is left when the run has ended
            looked.set()
            run.join()
        said(["after"])
    assert [str(one.message) for one in caught] == ["beside", "beside", "after", "after"]


def test_the_filter_goes_to_workers_of_searches_and_is_put_there_once() -> None:
    with warnings.catch_warnings():
        before = len(warnings.filters)
        for _ in range(3):
            with muted():
                pass
        assert len(warnings.filters) <= before + 1
        assert len(pickle.loads(pickle.dumps(warnings.filters))) == len(warnings.filters)
        assert Parallel(n_jobs=1)([delayed(abs)(-1)]) == [1]
