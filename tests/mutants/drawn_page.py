"""docs/mutants-drawn.md from the kept results of random mutants: `python -m tests.mutants.drawn_page`.

drawn_results.json has the draws, each with a line for each mutant in the order in which they were drawn: where it stood
then, what it changes, the test that killed it, and for one that the quick tests let live what was found on looking.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import beta

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "mutants-drawn.md"
KEPT = Path(__file__).with_name("drawn_results.json")
QUICK, REST, EQUIVALENT, MENDED, ALIVE = "quick", "rest", "equivalent", "mended", "alive"
"""Killed by quick tests; by a slower one; does nothing else; was alive, a test kills it now; is alive."""
COVERAGE = 0.95


@dataclass(frozen=True)
class Line:
    """One mutant. fate: one of the five above; by: the test that kills it; judged: why, for all but quick ones."""

    path: str
    line: int
    kind: str
    old: str
    new: str
    fate: str
    by: str
    judged: str


@dataclass(frozen=True)
class Draw:
    """Mutants of a seed one after the other from number `start` on, and what became of them."""

    seed: int
    lines: list[Line]
    start: int = 1

    @property
    def words(self) -> str:
        """Which they are."""
        return f"{self.start} to {self.start + len(self.lines) - 1} of seed {self.seed}"

    @property
    def count(self) -> Counter[str]:
        """How many of each fate."""
        return Counter(line.fate for line in self.lines)

    @property
    def living(self) -> int:
        """All that are not equivalent."""
        return len(self.lines) - self.count[EQUIVALENT]

    @property
    def before(self) -> int:
        """Killed by tests that were there before the draw."""
        return self.count[QUICK] + self.count[REST]

    @property
    def now(self) -> int:
        """Killed by the tests of today."""
        return self.before + self.count[MENDED]


def kept() -> list[Draw]:
    """The draws, oldest first."""
    document = json.loads(KEPT.read_text(encoding="utf-8"))
    return [Draw(one["seed"], [Line(**line) for line in one["mutants"]], one["start"]) for one in document["draws"]]


def interval(killed: int, number: int) -> tuple[float, float]:
    """Clopper and Pearson's bounds on a share, of coverage at least COVERAGE."""
    tail = (1 - COVERAGE) / 2
    low = float(beta.ppf(tail, killed, number - killed + 1)) if killed else 0.0
    return low, float(beta.ppf(1 - tail, killed + 1, number - killed)) if killed < number else 1.0


def share(killed: int, number: int) -> str:
    """For people."""
    low, high = interval(killed, number)
    return f"{killed} of {number}: {killed / number:.1%} ({COVERAGE:.0%} interval {low:.1%} to {high:.1%})"


def page() -> str:
    """The page's text."""
    draws = kept()
    last, count = draws[-1], draws[-1].count
    now, living = sum(draw.now for draw in draws), sum(draw.living for draw in draws)
    return "\n".join([
        "# Random mutants of the modules",
        "",
        f"**Of the last {len(last.lines)} small mistakes drawn at random {count[EQUIVALENT]} change nothing that the",
        f"code promises. Of the other {last.living} the tests of that day killed {last.before}; since the survivors of",
        f"all draws were read they kill {now} of {living}.**",
        "",
        "| question | answer |",
        "|---|---|",
        f"| killed by the tests before the last draw | {share(last.before, last.living)} |",
        f"| killed by the tests now | {now} of {living}, of the same draws, so no estimate for others |",
        f"| killed before by | the nearest quick tests {sum(draw.count[QUICK] for draw in draws)}, "
        f"slower or farther ones {sum(draw.count[REST] for draw in draws)} |",
        f"| draw others | `make mutate N=200`; these are {', '.join(draw.words for draw in draws)} |",
        "",
        "## Every draw",
        "",
        "| mistakes | drawn | equivalent | killed by the tests before | killed now |",
        "|---|---|---|---|---|",
        *(f"| {draw.words} | {len(draw.lines)} | {draw.count[EQUIVALENT]} | {share(draw.before, draw.living)} | "
          f"{draw.now} of {draw.living} |" for draw in draws),
        "",
        "Drawn from are comparisons, arithmetic, constants, limits, arguments, returned names, indices, axes and",
        "conditions of all modules but the zoo and adapters of audits and the frame of commands, every place alike.",
        "Each mistake is made in a copy of the repository. What the nearest quick tests let live was read, one by one:",
        "it does nothing else, or a slower test that was tried kills it, or a test was missing. What the tests that",
        "were tried let live counts as alive before, although one that was not tried could have killed it.",
        "Lines are those of the day of the draw.",
        "Generated by `python -m tests.mutants.drawn_page` from tests/mutants/drawn_results.json.",
        "",
        *(line for draw in reversed(draws) for line in _section(draw)),
    ])  # fmt: skip


def _section(draw: Draw) -> list[str]:
    """What quick tests let live of a draw."""
    count, others = draw.count, [line for line in draw.lines if line.fate != QUICK]
    return [
        f"## What quick tests let live of {draw.words}",
        "",
        f"{len(draw.lines)} mistakes, {count[EQUIVALENT]} of them equivalent; alive before "
        f"{count[MENDED] + count[ALIVE]}, alive now {count[ALIVE]};",
        f"killed before by the nearest quick tests {count[QUICK]}, by others {count[REST]}.",
        "",
        "| mistake | verdict | why, and the test |",
        "|---|---|---|",
        *(f"| `{line.path.removeprefix('refdp/')}:{line.line}`: `{_cell(line.old)}` to `{_cell(line.new)}` | "
          f"{_WORDS[line.fate]} | {_cell(line.judged)}{_named(line.by)} |" for line in others),
        "",
    ]  # fmt: skip


_WORDS = {REST: "killed", EQUIVALENT: "equivalent", MENDED: "was alive, killed now", ALIVE: "alive"}


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _named(test: str) -> str:
    return f" ({test.rpartition('::')[2].partition('[')[0]})" if test else ""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
