"""Training texts of a thirty-sixth attack that leak and were PROVED: of numbers without an end, and of what is unread.

By cause, each with what the reading overlooked; most were run on neighbours in memory, with noise off. Few change what
is released: a warning or an error of numpy comes with one neighbour alone, of a record whose score, exponential or
payment is large. The last two were found while the others were mended.
"""

from __future__ import annotations

from typing import Any

from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import D, G, S
from tests.prove.hostile_thirtyfifth import AS_THEY_ARE, FAR, FEW, KEPT, REPLACED, _statistics

TWO: dict[str, Any] = {"trees": 2}
DISCRETE: dict[str, Any] = {"noise": "discrete"}

# 1. A whole number of a score forgot that it can be of any size (prove/contributed.py `_described`): 1/y was taken for
#    no smaller than 1, and 1/(1/y), which is y again, for a small number, to which others are added and which is
#    multiplied with itself. Now `Nature.endless` says so wherever something is divided by it.
INVERSE = "y = np.maximum({}, 1.0)\nq = 1.0 / y\nz = 1.0 / q\n"
LOST = (INVERSE.format("np.rint(score)") + "own = np.trunc(label)\nlost = ((z + own) - z) - own\n"
        "for _ in range(6):\n    lost = lost + lost\ng = on_grid(own + lost)")  # fmt: skip
ENDLESS = (
    *(_statistics(f"endless: digits, {name}", LOST, {**TWO, **more}, **FAR)
      for name, more in (("default", {}), ("replaced", REPLACED), ("discrete", DISCRETE))),
    *(_statistics(f"endless: a score that warns, {name}", lines, TWO, used=KEPT, **FAR)
      for name, lines in (
          ("rint", INVERSE.format("np.rint(score)") + "beside = z * z"),
          ("on the grid", INVERSE.format("on_grid(score)") + "beside = z * z"),
          ("trunc", INVERSE.format("np.trunc(score)") + "beside = z * z * z"),
          ("a quotient by a product", INVERSE.format("np.rint(score)") + "beside = 1.0 / (q * q * q)"),
      )),
)  # fmt: skip

# 2. What a record pays is computed of statistics, and only those that a query names had been looked at for their size
#    (prove/unknown.py `_charge`): divided and multiplied by one of any size a cost was none at all. Now all of them
#    are, before.
GROW, COST, STATISTICS = f"{S}:grow", f"{S}:Contribution.cost", f"{S}:Contribution.statistics"
FAR_LEAVES = ("population.tell(Advance(trees[-1].leaves[None], params.shrinkage))",
              "population.tell(Advance(np.abs(trees[-1].leaves[None]) * 2.0**700, params.shrinkage))")  # fmt: skip
COSTS = "return np.asarray(record_cost(g, hessian, *self.params.bounds(self.schema), r1, squared))"
METERED: dict[str, Any] = {"target": "regression", "extra_trees": 6, "trees": 3, "depth": 1, "delta": 1e-5}
PAYING = tuple(
    Mutant(f"cost: {name}", {
        GROW: edit(FAR_LEAVES),
        STATISTICS: edit(('return Statistics({"g": g, "h": h})',
                          'return Statistics({"g": g, "h": h, "far": on_grid(score)})')),
        COST: edit((COSTS, f'{COSTS.replace("return", "found =")}\n        a = np.maximum(statistics["far"], 1.0)\n'
                           f"        {how}")),
    }, "", METERED)
    for name, how in (
        ("over and times a score", "return found / a / a * a * a"),
        ("times and over a score", "b = 1.0 / a\n        return found * b * b * a * a"),
        ("times a score that warns", "b = a * a\n        return found * b / b"),
    )
)  # fmt: skip

# 3. A payment beyond the table of costs has no place in it: an error of one neighbour alone. It was asked of releases
#    that are paid for (prove/releases.py `_paid`), and `Pay` needs none after it. Now it is asked where records pay.
PAID_ALONE = edit(('population.tell(Refresh(("g", "h")))  # clip',
                   'population.tell(Refresh(("g",)))\n        population.tell(Pay())\n'
                   '        population.tell(Refresh(("g", "h")))  # clip'))  # fmt: skip
BOUNDS = "    gradient_bound, hessian_bound = self.params.bounds(self.schema)"
OF_ONE = (BOUNDS + '\n    if of == ("g",):\n        '
          'return Statistics({{"g": {}, "x": None, "h": on_grid(label * 0.0)}})')  # fmt: skip
UNRELEASED = (
    Mutant("a payment that no release is about", {
        GROW: PAID_ALONE,
        STATISTICS: edit((BOUNDS, OF_ONE.format("np.maximum(np.trunc(label * 1.25), 0.0)"))),
        COST: edit((COSTS, f'{COSTS} if "x" not in statistics else np.maximum(g, 0.0) * 2.0**90')),
    }, "", METERED),
    Mutant("a payment of a score that no release is about", {
        GROW: lambda grow: PAID_ALONE(edit(FAR_LEAVES)(grow)),
        STATISTICS: edit((BOUNDS, OF_ONE.format("on_grid(np.maximum(score, 0.0))"))),
    }, "", METERED),
)  # fmt: skip

# 4. An exponential that can be infinite was looked for in statistics, whole numbers and costs alone
#    (prove/contributed.py `_finite`), so that less itself or times 0 it warned unseen; large ones times a number were
#    taken for small. Now one is a divisor, or a summand of one, wherever it stands.
QUIET = 'with np.errstate(over="ignore"):\n    e = numbers.exp({})\n'
OF_LABEL, OF_SCORE = QUIET.format("label * 1024.0"), QUIET.format("score")
GRADIENT = "        g = on_grid(clip(square_gradient(score, label) / np.maximum(self.params.cut, GRID), 1.0))\n"
FOUR_BINS = {f"{G}:LABEL_BINS": lambda _: 4, f"{G}:BINS": lambda bins: bins[:4]}


def _residual(name: str, lines: str) -> Mutant:
    """Grove with these lines before its gradient of a regression."""
    body = "".join(f"        {line}\n" for line in lines.splitlines())
    own = {f"{G}:Contribution.statistics": edit((GRADIENT, body + GRADIENT)), **FOUR_BINS}
    return Mutant(name, own, "", {"target": "regression", "epsilon": 1.0, "delta": 1e-5, "feature_share": 0.0})


INFINITE = (
    *(_statistics(f"infinite: {name}", OF_LABEL + beside, more, used=KEPT)
      for name, beside, more in (
          ("less itself", "beside = e - e", {}),
          ("times 0", "beside = e * 0.0", REPLACED),
          ("less its half", "beside = e - 0.5 * e", DISCRETE),
          ("times a number", "beside = e * 2.0**10", {}),
          ("twice", "beside = e + e", {}),
          ("beside a score", "beside = e + score", {}),
          ("its half of the two", "beside = np.where(label > 0.0, e, 0.0) * np.where(label > 0.0, 0.0, 1.0)", {}),
          ("less the smaller", "beside = np.minimum(e, 4.0) - e", {}),
      )),
    _statistics("infinite: of a score", OF_SCORE + "beside = e * 0.0", TWO, used=KEPT, **FAR),
    _residual("infinite: over a released number", OF_LABEL + "beside = e / np.maximum(self.params.cut, GRID)"),
)  # fmt: skip

# 5. Hosts ask for labels of all scores where these begin, and for statistics where a tree does: the reading asked for
#    those of a score whose turn it was, and of a query (prove/unknown.py `tell`). Now it asks where they do.
REFRESHED = 'population.tell(Refresh(("g",)))'
ROOT = "population.tell(Root(candidates.features))"
INDENT = "\n" + 16 * " "
STARTS = edit((REFRESHED, INDENT.join(('population.tell(Refresh(("x",)))', ROOT, REFRESHED))))
CALLED = "    g = on_grid(square_gradient(score, label))\n"
BEGINS = edit(("Begin(Contribution(params, schema), (output,))", "Begin(Contribution(params, schema), (output, 1))"))
LABELLED = "    label = self.schema.label(output, y)\n"


def _rooted(name: str, beside: str) -> Mutant:
    own = edit((CALLED, f'    if of == ("x",):\n        beside = {beside}\n{CALLED}'))
    changes = {**AS_THEY_ARE, f"{D}:train_ensembles": STARTS, f"{D}:Contribution.statistics": own}
    return Mutant(name, changes, "", FEW)


def _begun(name: str, beside: str) -> Mutant:
    own = edit((LABELLED, f"    if output == 1:\n        beside = {beside}\n{LABELLED.replace('output', '0')}"))
    return Mutant(name, {f"{D}:train_on": BEGINS, f"{D}:Contribution.label": own}, "", FEW)


UNASKED = (
    _rooted("statistics of a tree that nothing is asked of", "1.0 / label"),
    _begun("labels of a score that has no turn", "1.0 / y"),
)
THIRTYSIXTH = (*ENDLESS, *PAYING, *UNRELEASED, *INFINITE, *UNASKED)

# What is of a size that is known, or stands in a divisor, is proved as before.
HONEST = (
    _statistics("an inverse of an inverse", INVERSE.format("np.rint(np.clip(score, -8.0, 8.0))") + "beside = z * z",
                TWO, used=KEPT, **FAR),
    _statistics("an infinite divisor", OF_SCORE + "beside = 1.0 / (1.0 + e)", TWO, used=KEPT, **FAR),
    _rooted("statistics of a tree that nothing is asked of, twice", "2.0 * label"),
    _begun("labels of a score that has no turn, twice", "2.0 * y"),
)  # fmt: skip
