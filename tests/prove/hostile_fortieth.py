"""A training text of a fortieth attack, which was PROVED for every value of an open parameter (`--any`).

Its noise is as it should be at both ends of the range, and a twenty-fifth too small in between: a chain of differences,
each of which is a hundredth of what it is taken from, loses what float64 had rounded before.
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import D
from tests.prove.hostile_thirtyninth import CLIP, ONE, Case

BOUND = "    bound = rounded_up(leaf_sensitivity, self.gradient_bound, self.regularisation, clip, self.relation)\n"
CHARGE = "    return laplace_charge(self.leaf_epsilon(epsilon), proved, proved, self.noise, touched=touched)"


def _chain(many: int = 100, links: int = 6) -> str:
    """Lines that leave of lambda, after so many roundings to one side, 2^-42 of it as a real number."""
    lines = ["lam = self.regularisation", "own = lam", f"for _ in range({many}):", "    own = own * (1.0 - 2.0**-53)"]
    for link in range(links):
        first = 1 - many * 2.0**-53 - 2.0**-7 - 2.0**-50
        part = first if link == 0 else 2.0 ** (-7 * link) * (1 - 2.0**-7)
        low, high = 2.0 ** (-7 * (link + 1)) / 2, 2.0 ** (-7 * (link + 1)) * 4
        lines.append(f"own = np.minimum(np.maximum(own - lam * {part!r}, {low!r}), {high!r})")
    return "".join(f"    {line}\n" for line in lines)


# The ratio of bound and noise was asked of real numbers, and of each difference alone whether it is a small part of
# what it is taken from (prove/charged.py `check_cost`). Now what float64 rounds is added up along the whole formula.
FORTIETH: tuple[Case, ...] = ((Mutant("noisy: noise of a chain of differences", {
    f"{D}:Params.leaf_charge": edit(
        (BOUND, _chain() + BOUND),
        (CHARGE, """    own = Sensitivity(own, 1, LEAF_CLIPPED[self.relation], self.relation)
    made = laplace_charge(self.leaf_epsilon(epsilon), own, proved, self.noise, touched=touched)
    return Charge(made.mechanism, proved, proved)""")),
    f"{D}:leaf_sensitivity": edit(("    straddling = ", "    return regularisation / 2**42\n    straddling = ")),
    f"{D}:train_single_tree": edit((CLIP, f"{CLIP}    value = value * 2.0**-44\n"))}, "",
    {**ONE, "regularisation": 1.0}), {"regularisation": (1.0, 2.0)}),)  # fmt: skip
