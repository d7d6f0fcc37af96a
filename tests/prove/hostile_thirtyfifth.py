"""Training texts of a thirty-fifth attack that leak and were PROVED: of narrow numbers, sizes and sums in steps.

By cause, each with what the reading overlooked; those that the attack wrote were run on neighbours in memory, with
noise off but for those that warn of a score. In arrays sums in steps wrap around and nothing warns: the last four of
`PICKED` only show that a way was open. What numbers are kept in, and how large they are, was followed where
they are made and forgotten where they are picked, rounded or chosen again.
"""

from __future__ import annotations

from typing import Any

from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import D
from tests.prove.hostile_fifteenth import CLIPPED, ONE
from tests.prove.hostile_seventeenth import LEVELS, TREE

REPLACED: dict[str, Any] = {"relation": "replace-one"}
AS_THEY_ARE = {
    f"{D}:Contribution.label": edit(
        ("return label if isinstance(self.schema.target, Interval) else 2 * label - 1", "return y")),
}  # fmt: skip
USED = 'return Statistics({"g": g}, np.abs(g) <= self.params.gradient_bound)'
FEW: dict[str, Any] = {**ONE, "regularisation": 100.0}


def _statistics(name: str, lines: str, settings: dict[str, Any], *, used: str = "None", **more: Any) -> Mutant:
    """DPBoost with these lines before its statistic is given."""
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    own = edit((f"    {USED}", f'{body}    return Statistics({{"g": g}}, {used})'))
    return Mutant(name, {**AS_THEY_ARE, f"{D}:Contribution.statistics": own, **more}, "", {**FEW, **settings})


# 1. A truth value of each record could become a uint8 (prove/symbols.py `WHOLE`), which stays one beside a number of
#    the text's: -1 is 255 there, and the leaf a hundred times its bound. Now it is float64, or whole in 64 bits.
NARROW = "t = (label > {0}).astype(np.uint8)\ng = np.where(label > {0}, t, -1) * 1.0\n"
NARROWS = tuple(
    _statistics(f"narrow: {name}", NARROW.format(at), more)
    for name, at, more in (
        ("default", 0.0, {}),
        ("replaced", 0.0, REPLACED),
        ("discrete", 0.0, {"noise": "discrete"}),
        ("two classes", 0.5, {"target": "binary"}),
    )
)

# 2. A whole number of steps of the grid was taken for an eighth of what its formula could be (prove/contributed.py
#    `_described`), each time anew: rounded again and again numbers grew, and multiplied with themselves they grew
#    faster, while the reading had one size. So digits were lost that it had, and what is finite in it warned. Now a
#    size is what the formula can be, and 1 where solvers see that it is never more (`_steps`).
AGAIN = "for _ in range({}):\n    y = np.rint(y * 8.0 * GRID / GRID)\n"
LOST = ("y = np.rint(label / GRID)\n" + AGAIN.format(30) + "z, own = np.rint(y * GRID), np.trunc(label)\n"
        "lost = ((z + own) - z) - own\nfor _ in range(10):\n    lost = lost + lost\ng = own + lost\n")  # fmt: skip
POWERS = "y = label * 8.0\nfor _ in range({}):\n    y = on_grid(y)\n    y = y * y\n    y = y * y\n    y = y * y\n"
FAR = {f"{D}:train_ensembles": edit(("trees[-1].leaves[None], p", "trees[-1].leaves[None] * 2.0**798, p"))}
KEPT = "np.abs(g) <= self.params.gradient_bound"
SIZES = (
    *(_statistics(f"sizes: digits, {name}", LOST, more)
      for name, more in (("default", {}), ("discrete", {"noise": "discrete"}), ("cut", {"gradients": "clip"}),
                         ("cut, replaced", {**REPLACED, "gradients": "clip"}))),
    *(_statistics(f"sizes: powers, {name}", POWERS.format(4), more, used=KEPT)
      for name, more in (("default", {}), ("replaced", REPLACED))),
    *(_statistics(f"sizes: a score that warns, {name}",
                  "y = np.rint(score * 2.0**150 / GRID)\n" + AGAIN.format(15) + "beside = y * 2.0**11",
                  {"trees": 2, **more}, used=KEPT, **FAR)
      for name, more in (("default", {}), ("replaced", REPLACED), ("discrete", {"noise": "discrete"}))),
    _statistics("sizes: a score in steps of steps",
                "y = score\nfor _ in range(9):\n    y = np.rint(y / GRID)\nbeside = y * 2.0**8", {"trees": 2},
                used=KEPT, **FAR),
)  # fmt: skip

# 3. Hosts answer in whole numbers of steps of the grid, of 64 bits. Only the whole answer was told from sums in float64
#    (prove/unknown.py `Units`): what was picked from it was added up, doubled and multiplied as such, and wraps around,
#    or warns beyond 2^63. Now all that is made of such sums is of their kind, and times the grid it is float64.
NAMED = {f"{D}:train_ensembles": edit(('population.tell(Refresh(("g",)))', 'population.tell(Refresh(("g", "t")))'))}


def _picked(name: str, first: str, beside: str, settings: dict[str, Any], where: str = "label <= 1e9") -> Mutant:
    """DPBoost with lines before its levels, and one after its leaves are cut; a statistic is 1024 where it is said."""
    own = edit(('return Statistics({"g": g}, ', f'return Statistics({{"g": g, "t": np.where({where}, 1024.0, 0.0)}}, '))
    lines = "".join(f"    {line}\n" for line in first.splitlines())
    changes = {**AS_THEY_ARE, **NAMED, f"{D}:Contribution.statistics": own,
               TREE: edit((CLIPPED, f"{CLIPPED}    {beside}\n"), (LEVELS, lines + LEVELS))}  # fmt: skip
    return Mutant(name, changes, "", {**ONE, **settings})


DOUBLED = "".join(f"b{place + 1} = b{place} + b{place}\n" for place in range(10))
BINS = 'b0 = population.ask(Bins(("t",)))[0][0][: params.bins + 2]\n'
ROOT = 'root = population.ask(Nodes(("t",)))[0][0]'
PICKED = (
    _picked("units: bins, doubled and summed", f"{BINS}{DOUBLED}s = b10.sum(axis=-1)", "beside = s * 1024", {}),
    _picked("units: a root", ROOT, "beside = root * 1024", {}),
    _picked("units: a root, replaced", ROOT, "beside = root * 1024", REPLACED, "label > 0.0"),
    _picked("units: a root, in an array", ROOT, "beside = np.array([root, root]) * 1024", {}),
    _picked("units: a root, turned", 'root = population.ask(Nodes(("t",))).T', "beside = root * 1024", {}),
    _picked("units: a root, in a row", 'root = np.ravel(population.ask(Nodes(("t",)))[0])', "beside = root * 1024", {}),
    _picked("units: the larger", ROOT, "beside = np.where(True, root, 0) * 1024", {}),
)
THIRTYFIFTH = (*NARROWS, *SIZES, *PICKED)

# 4. Whether a warning would tell of an exponential that is infinite was asked of numpy as the process had it that reads
#    (prove/contributed.py `_described`), which may ignore what another one is told. Now a text is read as numpy begins.
IGNORED = Mutant("an exponential that warns", {
    "refdp.own.grove:Contribution.statistics": edit(('np.errstate(over="ignore")', 'np.errstate(under="ignore")'))},
    "", {"target": "binary"})  # fmt: skip

# What is rounded once, or twice within its size, is proved as before.
HONEST = (
    _statistics("rounded twice", "y = on_grid(label)\ng = on_grid(y * 0.5 + 0.25)", {}, used=KEPT),
    _statistics("a truth value as a whole number",
                NARROW.format(0.0).replace("uint8", "int64"), {}),
    _picked("units times the grid", ROOT, "beside = root * GRID", {}),
)  # fmt: skip
