"""What a run leaves in the settings of its process, where the next program in it can read it."""

from __future__ import annotations

import contextvars
import decimal
import hashlib
import locale
import os
import pickle
import random
import sys
import threading
import warnings
from typing import Any

import numpy as np

from refdp.audit.observer import view


def seeded(seed: int) -> None:
    """Seed the global generators of numpy and Python, which are public in an audit."""
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)


def left_behind() -> tuple[tuple[str, str], ...]:
    """Generators, settings, environment, threads, limits, and context variables, as lines of text."""
    legacy = np.random.get_state()  # noqa: NPY002
    return (
        ("numpy.random", hashlib.sha256(pickle.dumps(legacy)).hexdigest()),
        ("random", hashlib.sha256(repr(random.getstate()).encode()).hexdigest()),
        ("numpy print options", str(np.get_printoptions())),
        ("environment", repr(sorted(os.environ.items()))),
        ("working directory", os.getcwd()),
        ("warning filters", repr(warnings.filters[:8])),
        ("decimal context", repr(decimal.getcontext())),
        ("threads", repr(sorted(thread.name for thread in threading.enumerate()))),
        ("locale", locale.setlocale(locale.LC_ALL)),
        ("limits", repr((sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits()))),
        ("module path", repr(sys.path)),
        *(("context variable", f"{held.name}: {view(value).lines}") for held, value in _context()),
    )


def _context() -> list[tuple[contextvars.ContextVar[Any], Any]]:
    """Context variables that are set, by name; numpy's own hold what is told elsewhere."""
    found = [(held, value) for held, value in contextvars.copy_context().items() if not held.name.startswith("numpy")]
    return sorted((one for one in found if one[0].name != "decimal_context"), key=lambda one: one[0].name)
