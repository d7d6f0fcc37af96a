"""Black-box audits of the whole zoo: python -m benchmarks.zoo

Writes docs/audit.md: for every mechanism its claim, its true epsilon, the bound found, runs and seconds; and how often
the mechanisms of POWER are found out over many seeds. Family-wise error FAMILY over the whole table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from refdp.audit.blackbox import Bound, epsilon_lower_bound
from refdp.audit.zoo import Specimen, specimen, specimens

PAGE = Path(__file__).parents[1] / "docs" / "audit.md"
FAMILY = 1e-6
SEED = 1
POWER = {
    "Laplace count, scale x 0.5": 100,
    "Laplace count, scale x 0.9": 100,
    "Laplace count, scale x 0.98": 10,
    "exponential mechanism without its factor 2": 100,
}
"""Mechanisms that have to be found out within a number of runs, and over how many seeds that is counted."""


AUDITS = 1_000
CONFIDENCES = ((1 - 1e-9, 4_000), (0.9, 2_000))
"""Confidences and runs of the audits of correct mechanisms."""


def audit(one: Specimen, seed: int = SEED) -> Bound:
    """One audit at its share of the family-wise error."""
    return epsilon_lower_bound(
        one.mechanism,
        one.pair,
        one.delta,
        claimed=one.claimed,
        confidence=1 - FAMILY / len(specimens()),
        samples=one.samples,
        seed=seed,
    )


def right(one: Specimen, bound: Bound) -> bool:
    """Whether the audit told a broken mechanism from a correct one, with a bound that is not above the truth."""
    return bound.refuted == one.broken and bound.lower <= one.shown + 1e-9


def figure(number: float | None) -> str:
    """A number of the table."""
    return "" if number is None else "inf" if math.isinf(number) else f"{number:.4g}"


def row(one: Specimen, bound: Bound) -> str:
    """One line of the table."""
    claim = figure(one.claimed) + (f", delta {one.delta:g}" if one.delta else "")
    finding = "refuted" if bound.refuted else "not refuted"
    cells = [
        one.name, claim, figure(one.epsilon), figure(one.on_pair), f"{bound.lower:.3f}", finding,
        "" if right(one, bound) else "WRONG", f"{bound.samples:,}", f"{bound.seconds:.2f}", bound.test,
        f"`{bound.event}` {bound.counts[0]:,} : {bound.counts[1]:,}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def power_row(name: str, seeds: int) -> str:
    """How often one mechanism is found out, and the longest audit."""
    bounds = [audit(specimen(name), seed) for seed in range(SEED, SEED + seeds)]
    found, slowest = sum(bound.refuted for bound in bounds), max(bound.seconds for bound in bounds)
    return f"| {name} | {specimen(name).samples:,} | {found} of {seeds} | {slowest:.2f} |"


PREFACE = """# Auditing foreign code by runs

**Runs alone refute mechanisms that break their claim by enough, at a stated error rate, and never show that one is
private.**

| you have | use |
|---|---|
| a function of records and a seed, and a pair | `epsilon_lower_bound` or `refdp audit --callable` |
| no pair | `--schema FILE` or `--example FILE`: [how contents are searched](verdicts.md#how-contents-are-searched) |
| code that can be replayed | replay, exact and with far fewer runs: [auditing](auditing.md) |
| one run only | [canaries](one-run.md) |

Written by `python -m benchmarks.zoo`. Times are wall time on the machine that wrote the page.

```python
import numpy as np
from refdp.audit import epsilon_lower_bound


def mechanism(records, seed):
    return len(records) + np.random.default_rng(seed).laplace(0.0, 0.5)


first, second = np.ones((3, 1)), np.ones((2, 1))
bound = epsilon_lower_bound(mechanism, (first, second), claimed=1.0, samples=100_000)
bound.lower, bound.event, bound.counts, bound.refuted
```

`mechanism(records, seed)` returns numbers. An event (a set of outputs) is chosen on earlier runs: thresholds on
outputs, their differences and lowest bits, frequent values, histograms, classifiers. Later runs test it, by Clopper and
Pearson's bounds on both sides and by bets on pairs of runs; both are exact at every sample size. A bound above the true
epsilon has at most the stated chance, over all pairs, directions, events and looks. A bound below the claim proves
nothing.

## {broken} broken and {correct} correct mechanisms

Family-wise error {family:g} over the table, seed {seed}. {wrong} of {total} findings are wrong. `true` is the least
epsilon for all neighbours, `pair` the least for the audited pair where it is known exactly.

| mechanism | claimed | true | pair | bound | finding | | runs a side | seconds | test | event, counts |
|---|---|---|---|---|---|---|---|---|---|---|
{rows}

## A thousand audits of correct mechanisms

{coverage}

## How often within the runs given

| mechanism | runs a side | found | slowest, seconds |
|---|---|---|---|
{powers}

## Where they come from

| mechanism | why its true epsilon | source |
|---|---|---|
{sources}
"""


@dataclass(frozen=True)
class Coverage:
    """Audits of correct mechanisms: how many, how many bounds above what is true of the pair, how many accusations.

    share: mean of the bounds' share of the true epsilon, where that is known for the pair.
    """

    audits: int
    confidence: float
    samples: int
    above: int
    accused: int
    share: float

    def sentence(self) -> str:
        """For the page."""
        return (
            f"{self.audits:,} audits at confidence {self.confidence:.9g} with {self.samples:,} runs a side: "
            f"{self.above} bounds above the truth (at most {(1 - self.confidence) * self.audits:.3g} expected), "
            f"{self.accused} mechanisms accused; bounds are {self.share:.0%} of the pair's true epsilon in the mean."
        )


def coverage(audits: int, confidence: float, samples: int, first_seed: int) -> Coverage:
    """Audits of the correct mechanisms of at most 5 outputs in turn, each with a seed of its own."""
    correct = [one for one in specimens() if not one.broken and len(one.pair[0]) <= 5 and one.on_pair]
    above, accused, shares = 0, 0, []
    for number in range(audits):
        one = correct[number % len(correct)]
        found = epsilon_lower_bound(
            one.mechanism,
            one.pair,
            one.delta,
            claimed=one.claimed,
            confidence=confidence,
            samples=samples,
            seed=first_seed + number,
        )
        above += found.lower > one.shown
        accused += found.refuted
        shares.append(found.lower / one.shown)
    return Coverage(audits, confidence, samples, above, accused, sum(shares) / audits)


def page(rows: list[str], powers: list[str], covered: list[Coverage], wrong: int) -> str:
    """The text of docs/audit.md."""
    zoo = specimens()
    broken = sum(one.broken for one in zoo)
    return PREFACE.format(
        broken=broken,
        correct=len(zoo) - broken,
        family=FAMILY,
        seed=SEED,
        wrong=wrong,
        total=len(zoo),
        rows="\n".join(rows),
        powers="\n".join(powers),
        coverage="\n\n".join(one.sentence() for one in covered),
        sources="\n".join(f"| {one.name} | {one.reason} | {one.source} |" for one in zoo),
    )


def main() -> None:
    """Audit, print, write the page."""
    found = []
    for one in specimens():
        found.append((one, audit(one)))
        print(row(*found[-1]), flush=True)
    wrong = sum(not right(one, bound) for one, bound in found)
    powers = [power_row(name, seeds) for name, seeds in POWER.items()]
    print(*powers, sep="\n")
    covered = [coverage(AUDITS, confidence, samples, 50_000) for confidence, samples in CONFIDENCES]
    print(*(one.sentence() for one in covered), sep="\n")
    PAGE.write_text(page([row(one, bound) for one, bound in found], powers, covered, wrong), encoding="utf-8")


if __name__ == "__main__":
    main()
