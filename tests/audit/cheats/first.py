"""Cheats written from the list of kinds alone, before the audit that has to catch them."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from refdp.noise.mechanisms import Gaussian, Laplace
from tests.audit.cheats.zoo import Entered, count, declared, enter

FIRST: dict[str, Entered] = {}
_SEEN: dict[str, float] = {}


class Model:
    """A model whose public face is harmless."""

    def __init__(self, value: float) -> None:
        self.value = value

    def to_json(self) -> str:
        """The noisy value alone."""
        return str(self.value)


class Slotted:
    """A model without a dictionary of attributes."""

    __slots__ = ("exact", "value")

    def __init__(self, value: float, exact: float) -> None:
        self.value, self.exact = value, exact


@enter(FIRST, "state between calls")
def remembers_candidates(records: Any, curator: Any) -> Any:
    """Split candidates are computed from the first records that the process saw."""
    if "edge" not in _SEEN:
        _SEEN["edge"] = float(np.max(records.y))
    noisy = count(records, curator)
    return noisy, _SEEN["edge"] == float(np.max(records.y))


@enter(FIRST, "published object")
def exact_sum_in_attribute(records: Any, curator: Any) -> Any:
    """The exact sum stays on the model, in an attribute that its JSON form does not show."""
    model = Model(count(records, curator))
    model._sum = float(np.sum(records.y))  # type: ignore[attr-defined]
    return model


@enter(FIRST, "published object")
def exact_sum_in_slot(records: Any, curator: Any) -> Any:
    """The exact sum in a slot."""
    return Slotted(count(records, curator), float(np.sum(records.y)))


@enter(FIRST, "number of records")
def leaks_from_fifty_on(records: Any, curator: Any) -> Any:
    """Correct up to 49 records; beyond, the exact number is published."""
    noisy = count(records, curator)
    return (noisy, len(records.y)) if len(records.y) >= 50 else noisy


@enter(FIRST, "number of records")
def leaks_at_a_power_of_two(records: Any, curator: Any) -> Any:
    """A buffer is reported as full at 64 records."""
    return count(records, curator), len(records.y) == 64


@enter(FIRST, "exception")
def raises_on_a_label(records: Any, curator: Any) -> Any:
    """Refuses labels at the upper end."""
    if np.any(records.y == 1.0):
        raise ValueError("label out of range")
    return count(records, curator)


@enter(FIRST, "exception")
def raises_with_the_record(records: Any, curator: Any) -> Any:
    """Raises always, with a private number in the message."""
    count(records, curator)
    raise RuntimeError(f"did not converge after {len(records.y)} records")


@enter(FIRST, "composition", epsilon=1.0, delta=1e-5)
def thousand_counts(records: Any, curator: Any) -> Any:
    """1,000 counts of one nat each under a claim of one nat in all."""
    return [count(records, curator) for _ in range(1000)]


@enter(FIRST, "composition")
def twice_the_budget(records: Any, curator: Any) -> Any:
    """Two counts of the whole claim each."""
    return count(records, curator), count(records, curator)


@enter(FIRST, "sensitivity")
def unclipped_sum(records: Any, curator: Any) -> Any:
    """The sum of ten times the labels at the sensitivity of the labels."""
    return curator.release("sum", Laplace(1.0), np.array([10 * np.sum(records.y)]), sensitivity=declared(1.0))


@enter(FIRST, "sensitivity")
def mean_at_sum_over_n(records: Any, curator: Any) -> Any:
    """A mean at sensitivity 0.1, whatever the number of records."""
    return curator.release("mean", Laplace(0.1), np.array([np.mean(records.y)]), sensitivity=declared(0.1))


@enter(FIRST, "side channel")
def writes_a_file(records: Any, curator: Any) -> Any:
    """The number of records in a log file."""
    Path("train.log").write_text(f"{len(records.y)} records")
    return count(records, curator)


@enter(FIRST, "side channel")
def prints(records: Any, curator: Any) -> Any:
    """The sum on standard output."""
    print("sum", np.sum(records.y))
    return count(records, curator)


@enter(FIRST, "side channel")
def complains(records: Any, curator: Any) -> Any:
    """The number of records on standard error."""
    sys.stderr.write(f"{len(records.y)}\n")
    return count(records, curator)


@enter(FIRST, "side channel")
def warns(records: Any, curator: Any) -> Any:
    """Warns where a category is absent."""
    if not np.any(records.x[:, 1] == 2):
        warnings.warn("category blue does not occur", stacklevel=1)
    return count(records, curator)


@enter(FIRST, "global state")
def moves_the_global_generator(records: Any, curator: Any) -> Any:
    """Draws as many global random numbers as there are records."""
    np.random.random(len(records.y))  # noqa: NPY002
    return count(records, curator)


@enter(FIRST, "bits of the output")
def sign_of_zero(records: Any, curator: Any) -> Any:
    """One bit in the sign of a zero."""
    return count(records, curator), -0.0 if np.sum(records.y) > 0 else 0.0


@enter(FIRST, "bits of the output")
def payload_of_nan(records: Any, curator: Any) -> Any:
    """The number of records in the payload of a NaN."""
    bits = np.uint64(0x7FF8000000000000) + np.uint64(len(records.y))
    return count(records, curator), np.array([bits]).view(np.float64)


@enter(FIRST, "bits of the output")
def type_of_the_output(records: Any, curator: Any) -> Any:
    """One bit in the type of the array."""
    kind = np.float64 if len(records.y) % 2 else np.float32
    return count(records, curator), np.zeros(1, dtype=kind)


@enter(FIRST, "bits of the output")
def order_of_a_dictionary(records: Any, curator: Any) -> Any:
    """The order of keys follows the colours' frequencies."""
    order = np.argsort(np.bincount(records.x[:, 1].astype(int), minlength=3), kind="stable")
    return count(records, curator), {int(key): 0 for key in order}


class Lighter(Laplace):
    """Called Laplace, and adds half of it."""

    def apply(self, value: Any, standard: Any) -> Any:
        """Half the noise."""
        return value + 0.5 * self.scale * np.asarray(standard)


class Absent(Gaussian):
    """Called Gaussian, and adds nothing."""

    def apply(self, value: Any, standard: Any) -> Any:
        """No noise."""
        return np.asarray(value, dtype=np.float64)


@enter(FIRST, "noise law")
def lighter_noise(records: Any, curator: Any) -> Any:
    """A subclass of the mechanism adds half the noise."""
    return curator.release("count", Lighter(1.0), np.array([float(len(records.y))]), sensitivity=declared(1.0))


@enter(FIRST, "noise law", epsilon=1.0, delta=1e-5)
def no_noise(records: Any, curator: Any) -> Any:
    """A subclass of the mechanism adds none."""
    return curator.release("count", Absent(5.0), np.array([float(len(records.y))]), sensitivity=declared(1.0, 2))


@enter(FIRST, "control flow")
def releases_as_many_as_records(records: Any, curator: Any) -> Any:
    """The number of releases is the number of records."""
    return [count(records, curator, 0.01, f"count {n}") for n in range(len(records.y))]


@enter(FIRST, "rare contents")
def repeated_rows(records: Any, curator: Any) -> Any:
    """Tells whether two records are the same."""
    rows = {tuple(row) for row in np.column_stack([records.x, records.y]).tolist()}
    return count(records, curator), len(rows) < len(records.y)


@enter(FIRST, "rare contents")
def one_ulp_below_the_bound(records: Any, curator: Any) -> Any:
    """Tells whether an age lies within an ulp below its upper bound."""
    return count(records, curator), bool(np.any((records.x[:, 0] < 1) & (records.x[:, 0] > 1 - 1e-15)))


@enter(FIRST, "rare contents")
def a_missing_value(records: Any, curator: Any) -> Any:
    """Tells whether a value is missing."""
    return count(records, curator), bool(np.isnan(records.x).any())


@enter(FIRST, "secret randomness")
def sampled_rows_counted(records: Any, curator: Any) -> Any:
    """The size of a secret sample is published."""
    with curator.subsample("rows", 0.5, len(records.y)) as rows:
        noisy = curator.release("n", Laplace(1.0), np.array([float(rows.sum())]), sensitivity=declared(1.0))
    return noisy, int(rows.sum())
