"""`python -m benchmarks.power_ceiling`: how much of the truth any single event can show with 4,000 runs a side.

Mechanisms of the zoo whose true epsilon is known for the pair. The event is chosen from 40,000 runs a side and its
chances are estimated from as many others; then Clopper and Pearson's bound is computed from the counts that 4,000 runs
would have on average, all of the error spent on it: no choosing, no looks. Writes docs/audit-ceiling.md in about a
minute.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from benchmarks.peers_audits import CONFIDENCE, NAMES
from refdp.audit import epsilon_lower_bound
from refdp.audit.binomial import Counts, clopper_pearson
from refdp.audit.events_choice import choose
from refdp.audit.zoo import Specimen, specimen

PAGE = Path(__file__).parents[1] / "docs" / "audit-ceiling.md"
RUNS, KNOWN = 4_000, 40_000
HEAD = """# What runs can show at most

**A bound that holds stays below the truth even where the event costs nothing to find: runs are the limit.**

| question | answer |
|---|---|
| which runs are counted | those that test; the event is known for nothing |
| what a mechanism's row is | three figures of the same pair, δ = 0 |

Written by `python -m benchmarks.power_ceiling` (no figure is typed by hand). *known event*: the bound from {runs:,}
runs a side at confidence 1 - 1e-9 if the event were known beforehand (the best that refdp finds in {known:,} other runs
a side, counts at their means). *refdp*: `epsilon_lower_bound` with {runs:,} runs a side, which choose the event,
too; one seed. Of the truth the known event shows {ceiling:.0%} in the mean, refdp {share:.0%}: {part:.0%} of that.
{reached}

| mechanism | truth | known event | refdp |
|---|---|---|---|
"""


def known_event(one: Specimen) -> float:
    """The bound of an event that is known beforehand."""
    generator = np.random.default_rng(1)
    first, second, other_first, other_second = (
        one.mechanism.batch(records, KNOWN, generator) for records in one.pair * 2
    )
    error, bounds = 1 - CONFIDENCE, []
    for choice in choose(first, second, RUNS, one.delta, error):
        chances = [float(side.mean()) for side in choice.sides(other_first, other_second)]
        bounds.append(clopper_pearson(Counts(*(round(p * RUNS) for p in chances), RUNS), one.delta, error))
    return max(bounds)


def main() -> None:
    """Write the page."""
    lines, ceilings, shares = [], [], []
    for name in NAMES:
        one = specimen(name)
        if one.on_pair is None or math.isinf(one.on_pair):
            continue
        best = known_event(one)
        found = epsilon_lower_bound(
            one.mechanism, one.pair, one.delta, confidence=CONFIDENCE, samples=RUNS, seed=1
        ).lower
        lines.append(f"| {name} | {one.on_pair:.3g} | {best:.2f} | {found:.2f} |\n")
        print(lines[-1], end="", flush=True)
        ceilings.append(best / one.on_pair)
        shares.append(found / one.on_pair)
    ceiling, share = float(np.mean(ceilings)), float(np.mean(shares))
    reached = "A mean of 60% asks for more runs, a lower confidence or events outside of those that are searched."
    text = HEAD.format(runs=RUNS, known=KNOWN, ceiling=ceiling, share=share, part=share / ceiling,
                       reached=reached if ceiling < 0.6 else "")  # fmt: skip
    PAGE.write_text(text.replace("\n\n\n", "\n\n") + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
