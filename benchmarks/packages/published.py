"""docs/audit-published.md: the published programs of the papers' authors, from published_findings.toml.

Nothing of the programs is here: findings are in our words, with file, line and commit, and say whether a local copy was
run or only read. Figures are computed below.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from refdp.accounting import account, calibrate
from refdp.noise.mechanisms import Gaussian
from refdp.privacy.events import Event, Plan, Relation, Release, Repeat, Sensitivity, Subsample

FINDINGS = Path(__file__).with_name("published_findings.toml")
HEAD = """# The authors' programs

**{broken} of the five papers' programs can be had; as far as we ran or read them, none keeps the privacy that its paper
states.**

| paper | program | commit | findings | of them run |
|---|---|---|---|---|
{rows}| InPrivate (Zhao et al. 2018) | none that we know of | - | - | - |

What these programs release is compared with what the papers promise for it; where refdp's [errata](errata/index.md) say
that a paper itself is wrong, that is not counted again. *run*: a local copy was run and showed it, *read*: the lines
say so and nothing was run, so that a compiler or another default may still prove us wrong. The programs are research
code for figures of utility. Nothing of them is part of refdp.

Written by `python -m benchmarks.packages --published` from benchmarks/packages/published_findings.toml; the figures
that refdp computes (changes of gains, losses of samples) are made anew each time.
"""


def page() -> str:
    """The page."""
    programs = tomllib.loads(FINDINGS.read_text(encoding="utf-8"))["program"]
    figures = {name: compute() for name, compute in FIGURES.items()}
    rows = "".join(_row(one) for one in programs)
    names = {1: "One", 2: "Two", 3: "Three", 4: "Four", 5: "Five"}
    sections = (part for one in programs for part in _section(one, figures))
    return "".join([HEAD.format(broken=names[len(programs)], rows=rows), *sections])


def _row(program: dict[str, Any]) -> str:
    found = [one for one in program["finding"] if one["class"] != "in order"]
    run = sum(one["seen"] == "run" for one in found)
    short = program["repository"].removeprefix("github.com/")
    return (
        f"| [{program['paper']}](#{_anchor(program['paper'])}) | {short} | `{program['commit'][:10]}` "
        f"({program['dated']}) | {len(found)} | {run} |\n"
    )


def _anchor(title: str) -> str:
    return "".join(letter for letter in title.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


def _section(program: dict[str, Any], figures: dict[str, str]) -> Iterator[str]:
    yield f"\n## {program['paper']}\n\n{program['repository']} at `{program['commit']}`. {program['how']}\n"
    for one in program["finding"]:
        text = one["text"].format(**figures) if "figure" in one else one["text"]
        yield f"\n**{one['title']}** ({one['class']}; {one['seen']}). {text} At `{one['where']}`.\n"
        if one["seen"] == "run":
            yield f"Seen: {one['shown']}.\n"


def gain_changes(regularisation: float) -> tuple[tuple[float, float], float]:
    """Smallest and largest change of the two children's terms, and the largest of the whole gain, when a record joins.

    Gradients in [-1, 1], Hessians 1; sums of gradients at their ends or 0, for some numbers of records.
    """
    terms, gains = [], []
    for left, right in product((0, 1, 2, 6, 28, 100, 1_000), (0, 1, 10, 1_000, 100_000)):
        for one, other, joins in product((-left, 0, left), (-right, 0, right), (-1, 1)):
            term = (one + joins) ** 2 / (left + 1 + regularisation) - one**2 / (left + regularisation)
            whole, total = one + other, left + right
            parent = (whole + joins) ** 2 / (total + 1 + regularisation) - whole**2 / (total + regularisation)
            terms.append(term)
            gains.append(abs(term - parent))
    return (min(terms), max(terms)), max(gains)


def _gain() -> str:
    (low, high), gain = gain_changes(1.0)
    return (
        f"With gradients in [-1, 1], Hessians 1 and λ = 1 a record that joins changes that gain by up to {gain:.3f}, "
        "more than is declared; but the parent's term is the same for all candidates of a node and leaves their "
        f"chances as they are. The other terms change by {low:.3f} to {high:.3f}, so that two candidates move apart by "
        f"{high - low:.3f} at most, where 2 · 3 is allowed."
    )


TREES, RATE, DELTA = 100, 0.1, 1e-5


def shared_sample_epsilon(queries: int) -> float:
    """True ε where noise is calibrated to ε = 1 as if each of a tree's queries had a sample of its own."""

    def of(sd: float) -> Event:
        return Release("sum", Gaussian(sd), Sensitivity(1.0, 2, "sum", Relation.ADD_REMOVE))

    def separately(sd: float) -> Plan:
        return Plan(Relation.ADD_REMOVE, Repeat(Subsample(RATE, of(sd)), TREES * queries))

    sd = calibrate(separately, epsilon=1.0, delta=DELTA)
    together = Plan(Relation.ADD_REMOVE, Repeat(Subsample(RATE, Repeat(of(sd), queries)), TREES))
    return account(together, delta=DELTA).lower


def _shared_sample() -> str:
    told = ", ".join(f"{queries} queries {shared_sample_epsilon(queries):.2f}" for queries in (2, 20, 100))
    return (
        f"With {TREES} trees, a tenth of the rows and δ = {DELTA:g}, noise for ε = 1 by that count leaves an ε of at "
        f"least: a tree of {told}."
    )


FIGURES: dict[str, Callable[[], str]] = {"gain": _gain, "shared_sample": _shared_sample}
