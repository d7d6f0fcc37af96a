"""Cheats that leave something in the interpreter, written before any of them was audited.

Of these 12 the audit as it stood named 8 at first sight. `PASSED` passed: methods of classes that a run makes, mappings
with weak keys, the registry of warnings and that of pickle were not compared.
"""

from __future__ import annotations

import copyreg
import functools
import importlib
import locale
import resource
import sys
import warnings
import weakref
from typing import Any

import numpy as np

from tests.audit.cheats.fourth import size
from tests.audit.cheats.second import total
from tests.audit.cheats.zoo import Entered, count, enter

SEVENTH: dict[str, Entered] = {}
PASSED = ("closure_of_a_method", "registry_of_warnings", "remembered_weakly", "pickled_by_a_stranger")
SHELF: weakref.WeakKeyDictionary[Any, float] = weakref.WeakKeyDictionary()


class Model:
    """A model of one number."""

    def __init__(self, value: float) -> None:
        self.value = value


@functools.cache
def rank(number: float) -> float:
    """A helper that remembers its answers."""
    return number / 2


@enter(SEVENTH, "order of a set")
def order_of_a_set(records: Any, curator: Any) -> Any:
    """Two numbers of one hash cell: a set lists them in the order in which they came."""
    pair = (0, 8) if total(records) > 0.25 else (8, 0)
    return count(records, curator), set(pair)


@enter(SEVENTH, "closure")
def closure_of_a_method(records: Any, curator: Any) -> Any:
    """The exact sum in the cell of a method, of a class of always the same name."""
    exact = float(total(records)[0])

    class Fitted:
        def __init__(self, value: float) -> None:
            self.value = value

        def predict(self) -> float:
            return exact

    return Fitted(count(records, curator))


@enter(SEVENTH, "trace of an error")
def line_of_an_error(records: Any, curator: Any) -> Any:
    """Always the same error, from as deep as there are records."""
    count(records, curator)

    def descend(steps: int) -> None:
        if steps:
            descend(steps - 1)
        else:
            raise ValueError("no model")

    return descend(len(records.y) % 50)


@enter(SEVENTH, "locale")
def locale_of_the_process(records: Any, curator: Any) -> Any:
    """How texts are sorted from now on."""
    locale.setlocale(locale.LC_COLLATE, ("C", "C.UTF-8")[len(records.y) % 2])
    return count(records, curator)


@enter(SEVENTH, "cache")
def cache_of_a_helper(records: Any, curator: Any) -> Any:
    """A cache of as many answers as there are different labels."""
    for label in records.y:
        rank(float(label))
    return count(records, curator)


@enter(SEVENTH, "registry of warnings")
def registry_of_warnings(records: Any, curator: Any) -> Any:
    """A warning that nobody hears, noted where Python notes what was heard once."""
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("default")
        warnings.warn(f"{len(records.y)} records", stacklevel=1)
    return count(records, curator)


@enter(SEVENTH, "weak references")
def remembered_weakly(records: Any, curator: Any) -> Any:
    """The exact sum as long as the model lives, on a shelf that the model does not know of."""
    model = Model(count(records, curator))
    SHELF[model] = float(total(records)[0])
    return model


@enter(SEVENTH, "limits")
def limits_of_the_process(records: Any, curator: Any) -> Any:
    """How large a dump of memory may be."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (len(records.y) % 2 if hard else 0, hard))
    return count(records, curator)


@enter(SEVENTH, "modules")
def module_for_a_label(records: Any, curator: Any) -> Any:
    """Which of two modules is loaded."""
    importlib.import_module(("this_is_none", "colorsys", "wave")[1 + len(records.y) % 2])
    return count(records, curator)


@enter(SEVENTH, "flags of an array")
def writeable_or_not(records: Any, curator: Any) -> Any:
    """Whether the noisy number may be written to."""
    noisy = np.array([count(records, curator)])
    noisy.flags.writeable = bool(len(records.y) % 2)
    return noisy


@enter(SEVENTH, "pickling")
def pickled_by_a_stranger(records: Any, curator: Any) -> Any:
    """What pickle writes in place of a model is the exact sum."""
    exact = float(total(records)[0])
    copyreg.pickle(Model, lambda model: (Model, (exact,)))
    return Model(count(records, curator))


@enter(SEVENTH, "settings of the interpreter")
def digits_of_integers(records: Any, curator: Any) -> Any:
    """How long a whole number may be written, as long as there are records."""
    sys.set_int_max_str_digits(4300 + int(size(records)[0]))
    return count(records, curator)
