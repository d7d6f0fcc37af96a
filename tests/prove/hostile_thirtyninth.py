"""Training texts of a thirty-ninth attack, which were PROVED for every value of an open parameter (`--any`).

They are as they should be at both ends of the range and at the settings' own value, and not in between: by what float64
rounds, which no question about real numbers shows. Each is read with its range (`ANYWHERE`).
"""

from __future__ import annotations

from typing import Any

from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import D, S

Case = tuple[Mutant, dict[str, tuple[float, float]]]
ONE: dict[str, Any] = {"trees": 1, "trees_per_ensemble": 1, "depth": 1, "noise": "floating"}
VALUE = "    value = leaf_value(gradient_sum, count, params.regularisation)  # Alg. 1, l. 12, Eq. 4\n"
CLIP = "    value = np.clip(value, -clip, clip)  # Alg. 1, l. 13: geometric leaf clipping\n"
SUMS = "lambda sums: sums[0].T)"
BOUND = "rounded_up(leaf_sensitivity, self.gradient_bound, self.regularisation, clip, self.relation)"
LOST = "((gradient_sum / 3.0 + 2.0**20) - 2.0**20) - gradient_sum / 3.0"
"""0 as a real number, and up to 2^-33 in float64."""


def _decided(lines: str, wrong: str) -> dict[str, Any]:
    """Leaves nine times as large where a text sees that float64 has rounded. lines: before; wrong: the comparison."""
    own = "".join(f"    {line}\n" for line in ("lam = params.regularisation", *lines.splitlines()))
    return {f"{D}:train_single_tree": edit((CLIP, f"{own}{CLIP}    value = value * (9.0 if {wrong} else 1.0)\n"))}


# 1. Sides of a comparison of rounded numbers lay apart by a part of what the numbers are (prove/open.py `compared`),
#    not of what they were on the way: a clip makes a number small again, and it is as far off as before. A thousand
#    roundings to one side add up to more than that part. Now what float64 rounds of both sides counts, four times.
CLIPPED = (
    (Mutant("apart: a sum that is clipped, of S-GBDT", {f"{S}:grow": edit(
        ("list[Tree]()\n", "list[Tree]()\n    lam = params.regularisation\n"
         "    near = np.minimum(np.maximum((lam + 2.0**24) - 2.0**24, 8.0), 16.0)\n"
         "    factor = 1000.0 if near - lam < -(2.0**-36) else 1.0\n"),
        (SUMS, "lambda sums: sums[0].T * factor)"))}, "",
        {"trees": 1, "depth": 1, "noise": "floating", "target": "regression"}), {"regularisation": (8.0, 16.0)}),
    (Mutant("apart: a sum that is clipped", _decided(
        "near = np.minimum(np.maximum((lam + 2.0**24) - 2.0**24, 0.01), 100.0)", "near - lam < -(2.0**-34)"),
        "", ONE), {"regularisation": (0.01, 100.0)}),
    (Mutant("apart: many roundings to one side", _decided("""near = lam
for _ in range(100):
    near = near * (1.0 - 2.0**-53)
near = np.minimum(np.maximum(near / lam, 0.5), 1.0)
for _ in range(4):
    near = near * near""", f"near < {1.0 - 1600 * 2.0**-53 - 2.0**-43.5!r}"),
        "", {**ONE, "regularisation": 1.0}), {"regularisation": (1.0, 1.9995)}),
)  # fmt: skip
# 2. What float64 rounds was held against noise and bound of the settings' own value (prove/releases.py `_room`), and
#    the readings at both ends against those there. Now against the least of both in every piece of the range.
SCARCE: tuple[Case, ...] = ((Mutant("scarce: a bound that is small in the middle of a range", {
    f"{D}:leaf_sensitivity": edit(("    straddling = ", f"""    own = regularisation
    small = -minimum(-own / 16, -1 / (16 * own))
    {"small = small * small; " * 3}
    return small / 2**10
    straddling = """)),
    f"{D}:train_single_tree": edit((VALUE, ""), (CLIP, f"    value = {LOST}\n"))}, "",
    {**ONE, "regularisation": 16.0}), {"regularisation": (0.0625, 16.0)}),)  # fmt: skip
# 3. Sizes were looked at for the ends of a range alone (prove/magnitudes.py `_ends`): what is divided by a sum
#    can be largest in between. Now for pieces of it, in each of which a parameter is as small and as large.
SIZED: tuple[Case, ...] = ((Mutant("sized: a quotient by a sum", {
    f"{D}:Params.leaf_charge": edit((BOUND, "2.0**-14")),
    f"{D}:train_single_tree": edit((VALUE, ""), (CLIP, f"""    lam = params.regularisation
    beside = lam + 1.0 / lam
    value = ({LOST}) / beside / beside / beside / beside * 2.0**28
"""))}, "", {**ONE, "regularisation": 256.0}), {"regularisation": (2.0**-8, 256.0)}),)  # fmt: skip
THIRTYNINTH: tuple[Case, ...] = (*CLIPPED, *SCARCE, *SIZED)
