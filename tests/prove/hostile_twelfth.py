"""Training texts of a twelfth attack that leak and were not refused; none may be proved.

All are of one kind: a sum over many records, times a constant, is added to a value and taken off again. Real numbers
stay what they were. In float64 the value is rounded to the step of the large number, which for millions of records is
more than what a record may change. For one record, which is what sizes were counted for, nothing is lost.
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit
from tests.prove.hostile_eighth import LAST, TREE

X = "refdp.papers.dpxgboost"
LEAVES = "    value = padded_leaf_value(gradient_sum, size, params.padding, params.regularisation)  # Eq. 4\n"


def _leaves(line: str) -> Mutant:
    """Leaves of DP-XGBoost, computed further."""
    return Mutant(line, {f"{X}:leaf_values": edit((LEAVES, f"{LEAVES}    {line}\n"))}, "", {})


def _back(large: str) -> Mutant:
    """Leaves of DP-XGBoost, moved by a large number and back."""
    return _leaves(f"value = (value + {large}) - {large}")


def _of_dpboost(large: str) -> Mutant:
    moved = f"    value = (value + {large}) - {large}\n{LAST}"
    return Mutant(f"leaves of DPBoost by {large}", {TREE: edit((LAST, moved))}, "", {})


TIMES: tuple[Mutant, ...] = (
    *(_back(f"size * {constant}") for constant in ("2.0**26", "2.0**24", "2.0**20", "3.0 * 2.0**18")),
    _back("gradient_sum * 2.0**26"),
    _back("np.abs(gradient_sum) * 2.0**25"),
    _back("gradient_sum * gradient_sum / (size + 1.0) * 2.0**20"),
    _back("np.maximum(size * 2.0**22, 1.0)"),
    _back("np.where(size >= 3.0, size * 2.0**20, 0.0)"),
    _leaves("value = (value * 2.0**-20 + size) * 2.0**20 - size * 2.0**20"),
    _leaves("value = ((value * 2.0**-25 + size) - size) * 2.0**25"),
    _leaves("value = ((value * 2.0**-15 + size) - size) * 2.0**15"),
    _leaves("value = value + (size * 0.1 * 2.0**20 - size * 0.2 * 2.0**19)"),
    _of_dpboost("count * 2.0**24"),
    _of_dpboost("gradient_sum * 2.0**24"),
)  # fmt: skip
SIGNS: tuple[Mutant, ...] = (
    # The divisor is small though it is made of large sums: they are negative there.
    _back("gradient_sum * gradient_sum / np.maximum(gradient_sum, 1.0)"),
    _back("gradient_sum * gradient_sum / np.maximum(np.minimum(size, 3.0), 1.0)"),
    _back("size * size / (np.maximum(0.0 - size, 0.0) + 1.0)"),
)
TWELFTH = (*TIMES, *SIGNS)
HONEST: tuple[Mutant, ...] = (
    _back("size"),
    _back("size * size / (size + 1.0)"),
    _leaves("value = value + size * 0.5 - size * 0.5"),
    _leaves("value = np.minimum(np.maximum(value, -0.01), 0.01)"),
    _leaves("value = value * np.minimum(size, 1)"),
    _of_dpboost("count"),
)
"""Of like kinds, and private."""
