"""What the warning of noise (`refdp/faces/strength.py`) says of the league's cells, beside what they reached.

    python -m benchmarks.noise_warning      # the table, between its marks on docs/defaults.md

No model is trained: plans of all cells are made anew, figures are those of `benchmarks/league/runs.jsonl`. DP-XGBoost
is left out: to calibrate the noise of its plans takes up to a minute a cell.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks import kept_lines
from benchmarks.league.cells import HELD_OUT, loaded, rounded
from benchmarks.league.page import read
from refdp.data.records import Classes, Schema
from refdp.faces import registry
from refdp.faces.defaults import params_for
from refdp.faces.strength import SHOWN, outweighed, trees

PAGE = Path(__file__).parents[1] / "docs" / "defaults.md"
PARTS = (0.1, SHOWN, 0.5, 1.0)
CHANCE = 0.6
"""An AUC below this, or an error above the constant's, is near chance."""
PAPER = ", paper's settings"
SYSTEMS = tuple(name for name in (*registry.PAPERS, *registry.OWN) if name != "dpxgboost")
Cell = tuple[str, str, float]
Found = Mapping[Cell, tuple[bool, Sequence[bool]]]


@cache
def described(name: str) -> tuple[Schema, int]:
    """The public description of a shared set, and how many records of it train, rounded."""
    data = loaded(name)
    return data.schema(True), rounded(round(len(data.y) * (1 - HELD_OUT)))


def cells() -> Found:
    """Of each cell of refdp's systems whether it is near chance, and whether it is warned about, by each of `PARTS`."""
    figures: dict[Cell, list[float]] = defaultdict(list)
    for one in read():
        if one["method"].removesuffix(PAPER) in SYSTEMS:
            figures[one["data"], one["method"], one["epsilon"]].append(one["figure"])
    found = {}
    for (data, method, epsilon), own in figures.items():
        schema, rows = described(data)
        paper = registry.paper(method.removesuffix(PAPER))
        given = {"epsilon": epsilon, "relation": "add-remove"}
        settings = "default" if method == paper.name else "paper"
        params = params_for(paper, given, schema, settings=settings, rows=rows)
        many = trees(paper, params, schema)
        mean = float(np.mean(own))
        bad = mean < CHANCE if isinstance(schema.target, Classes) else mean > 1
        said = [outweighed(paper, params, schema, rows, many, part) for part in PARTS]
        found[data, method, epsilon] = bad, said
    return found


def rows(found: Found) -> Iterator[str]:
    """Of every method near chance, warned about of those, and false alarms; then the same of all by each part."""
    at = PARTS.index(SHOWN)
    yield "| system, settings | cells | near chance | warned about of these | false alarms |"
    yield "|---|---|---|---|---|"
    for method in sorted({method for _, method, _ in found}):
        own = [(bad, said[at]) for (_, one, _), (bad, said) in found.items() if one == method]
        yield f"| {method} | {told(own)} |"
    for number, part in enumerate(PARTS):
        own = [(bad, said[number]) for bad, said in found.values()]
        yield f"| all, by {part:g} of the signal | {told(own)} |"


def told(own: Sequence[tuple[bool, bool]]) -> str:
    """Cells of which (near chance, warned about) is known."""
    bad = sum(one for one, _ in own)
    return f"{len(own)} | {bad} | {sum(a and b for a, b in own)} | {sum(b and not a for a, b in own)}"


if __name__ == "__main__":
    kept_lines.write_between(PAGE, "python -m benchmarks.noise_warning", rows(cells()))
