"""Training texts of an eleventh attack that leak and were not refused; none may be proved.

Names that the reading exchanges have a meaning of the text's own; noise of several deviations goes along leaves; a
method of what was released does with the example what it does with nothing else; how many releases there are follows
from released values or draws; and float64 is far from real numbers, where numbers of any size are added and taken off
again, or are multiplied until they are none.
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, added, edit
from tests.prove.hostile_eighth import LAST, TREE, D

F, S, X, Z = (f"refdp.papers.{name}" for name in ("fedgbdt", "sgbdt", "dpxgboost", "inprivate"))
QUANTILES = {"candidates": "quantiles"}


def _louder(name: str, condition: str, source: str) -> Mutant:
    """Leaves nine times as large, by a function of the text's own that has the name of one of Python's."""
    louder = f"    value = value * (9.0 if {condition} else 1.0)\n{LAST}"
    return Mutant(f"{name} of its own", {TREE: edit((LAST, louder)), f"{D}:+{name}": added(source)}, "", {})


NAMES: tuple[Mutant, ...] = (
    _louder("len", "len(()) == 9", "def len(value):\n    return 9 if value == () else sum(1 for _ in value)\n"),
    _louder("max", "max(1, 2) == 9", "def max(*given):\n    return 9\n"),
    _louder("min", "min(3, 2) == 9", "def min(*given):\n    return 9 if given == (3, 2) else sorted(given)[0]\n"),
    _louder("int", "int(1) == 9", "def int(given):\n    return 9\n"),
    _louder("float", "float(1) == 9", "def float(given):\n    return 9 if given == 1 else given * 1.0\n"),
    _louder("enumerate", "len([*enumerate(())]) == 1", "def enumerate(given, start=0):\n"
            "    return [(0, 0)] if given == () else [*zip(range(start, 99), given)]\n"),
    # Intervals that overlap, so that a record is in several of them.
    Mutant("halved of its own", {f"{X}:train": lambda own: own, f"{X}:+halved": added(
        "def halved(edges, middles):\n    own = middles[:1] * 0 + np.array([3, 1, 3])\n"
        "    return [np.concatenate([one, one, own]).astype(np.intp) for one in edges]\n")}, "", QUANTILES),
    Mutant("median_utilities of its own", {f"{X}:train": lambda own: own, f"{X}:+median_utilities": added(
        "def median_utilities(weights, edges):\n    from refdp.data.sketch import median_utilities as told\n"
        "    return 9 * told(weights, edges)\n")}, "", QUANTILES),
)  # fmt: skip
NOISY = (
    '            noisy = curator.release_sum("leaves", charge, population, Leaves(("g", "h")), lambda sums: sums[0].T)'
)
OTHER = (
    "            sd, own = charge.mechanism.sd, charge.mechanism\n"
    "            other = replace(charge, mechanism=replace("
)
ALONG: tuple[Mutant, ...] = (
    # Some leaves have a thousandth of the noise.
    Mutant("three deviations for pairs", {f"{S}:grow": edit((NOISY, (
        f"{OTHER}own, sd=(*sd, sd[0] / 1000)))\n"
        "            three = curator.release_sum('leaves', other, population, Leaves(('g', 'h')), "
        "lambda sums: np.reshape(sums[0].T[:3], (2, 3)))\n"
        "            pairs = np.reshape(three, (3, 2))\n            noisy = np.concatenate([pairs, pairs[:1]])")))},
        "", {"depth": 2}),
    Mutant("deviations along leaves", {f"{S}:grow": edit((NOISY, (
        f"{OTHER}own, sd=(sd[0], sd[0] / 1000)))\n"
        "            one = curator.release_sum('leaves', other, population, Leaves(('g',)), "
        "lambda sums: np.ravel(sums[0].T))\n            noisy = np.column_stack([one, one * 0 + 1])")))}, "", {}),
)  # fmt: skip
HALF = edit(("params.leaf_charge(epsilon, clip)", "params.leaf_charge(epsilon / 2, clip)"))


def _clipped(bar: str, value: str = "np.clip(900 * value, -9, 9)") -> Mutant:
    """A second release, of the larger of a bar that was released first and a value of any change."""
    again = (
        f'    first = curator.release("leaves", for_leaves, value)\n    bar = {bar}\n'
        f'    again = curator.release("leaves", for_leaves, bar.clip({value}, None))\n'
        "    return Tree(np.concatenate(chosen), again)"
    )
    changes = ("params.leaf_charge(epsilon, clip)", "params.leaf_charge(epsilon / 2, clip)"), (LAST, again)
    return Mutant(f"the larger of {bar} and {value}", {TREE: edit(*changes)}, "", {})


METHODS = _clipped("first[0] * 1e9"), _clipped("first.max() * 1e9"), _clipped("first[0] * 1e9", "9 * value")
SIDES, DRAWN = f"{F}:random_sides", {"splits": "partially-random", "target": "binary"}
SUMS = "    sums = values(population.ask(Sides(SUMS, ways)))"
FEWER = "    return Options.of_sides(positions, released)", "    return Options.of_sides(positions, released[:3])"


def _many(rounds: str) -> Mutant:
    """As many releases more as a draw says: none in the reading, and in the plan."""
    more = (
        f"    for _ in {rounds}:\n        curator.release('sides 0 of level 0', charged, sums[0])\n"
        "    released = [curator.release("
    )
    return Mutant(f"for {rounds}", {SIDES: edit(("    released = [curator.release(", more))}, "", DRAWN)


LARGE = "(uniform[0, 0] > 0.6).astype(np.intp)"
LENGTHS: tuple[Mutant, ...] = (
    _many(f"np.diff(np.zeros(2) + uniform[0, 0], n=2 - {LARGE})"),
    _many(f"np.sum(np.zeros((1, 0)) * uniform[0, 0], axis={LARGE})"),
    _many(f"(np.zeros((1, 0)) * uniform[0, 0]).sum(axis={LARGE})"),
    _many(f"(np.zeros((0, 1)) + uniform[0, 0]).transpose(({LARGE}, 1 - {LARGE}))"),
    _many(f"np.logspace(uniform[0, 0], 1.0, {LARGE})"),
    _many(f"np.zeros_like(uniform, shape=({LARGE},))"),
    _many("np.apply_along_axis(np.flatnonzero, arr=uniform[0] > 0.6, axis=0)"),
    _many("np.array([np.flatnonzero(uniform[0] > 0.6)])[0]"),
    Mutant("as many ways to split as a draw says", {SIDES: edit(
        (SUMS, "    chosen = np.flatnonzero(np.concatenate([[1, 1, 1], uniform[0] > 0.6]))\n"
         "    sums = values(population.ask(Sides(SUMS, np.concatenate([ways, ways])[chosen])))"), FEWER)}, "", DRAWN),
    *(Mutant(f"for {rounds} of leaves as deep as a draw says", {f"{F}:leaf_sums": edit((
        "    for place, t in", f"    for _ in {rounds}:\n        curator.release('leaves', charged, sums[0])\n"
        "    for place, t in")), f"{F}:grow": edit((
        "feasible.random_tree(uniform)",
        "feasible.random_tree(np.concatenate([uniform, uniform, uniform])[np.flatnonzero(np.concatenate("
        "[[1.0], uniform[0, :1] - 0.6, uniform[0, :1] - 0.6]) > 0)])"))}, "", {"target": "regression"})
      for rounds in ("range(sums.shape[-1] - 2)", "range(np.shape(sums)[-1] - 2)", "range(sums.size - 4)",
                     "range(len(sums[0, 0]) - 2)")),
)  # fmt: skip


def _added(large: str) -> Mutant:
    """Leaves moved by a large number and back: real numbers stay what they were, float64's are rounded to its step."""
    moved = f"    big = {large}\n    value = ((big + (value + 8.0)) - big) - 8.0\n{LAST}"
    return Mutant(f"{large} and back", {TREE: edit((LAST, moved))}, "", {})


RESIDUAL = "on_grid(clip(square_residual(label, score), self.params.cut()))"
BEGUN = "    return candidates"


def _started(score: str, residual: str) -> Mutant:
    start = f"    from refdp.data.population import Start\n    population.tell(Start({score}))\n{BEGUN}"
    changes = {f"{Z}:Contribution.statistics": edit((RESIDUAL, residual)), f"{Z}:begin": edit((BEGUN, start))}
    return Mutant(f"{residual} at {score}", changes, "", {})


def _released(gradient: str, number: str) -> Mutant:
    """A record's gradient by a number that was released."""
    begin = (
        "            trees = grow(params",
        "            population.tell(Begin(Contribution(scaled(params, initial), schema), (output,)))\n"
        "            trees = grow(params",
    )
    clip = "clipped(on_grid(loss.gradient(score, label)), -gradient_bound, gradient_bound)"
    check = 'check_number("regularisation", self.regularisation, above=0)'
    return Mutant(f"{gradient} of {number}", {
        f"{S}:train_on": edit(begin), f"{S}:Params.__post_init__": edit((check, "pass")),
        f"{S}:Contribution.statistics": edit((clip, gradient)),
        f"{S}:+scaled": added(f"def scaled(params, initial):\n    return replace(params, regularisation={number})\n"),
    }, "", {"noise": "floating"})  # fmt: skip


OFF = "(lambda e: ((e + 0.002 * np.clip(label, -1, 1)) + 0.5) - e - 0.5)"
FLOATS: tuple[Mutant, ...] = (
    _added("count * count * count * count"),
    _added("count * count * count"),
    _added("gradient_sum * gradient_sum"),
    _added("count * (count * count / (count + 1.0))"),
    _added("count * count * count / ((count + 1.0) * (count + 2.0))"),
    _started("2.0**53", "on_grid((((score + 0.002 * label) + 0.5) - score - 0.5) * 256.0)"),
    _started("2.0**53", "on_grid((0.5 - (score - (score + 0.002 * label)) - 0.5) * 256.0)"),
    _started("2.0**60", "on_grid((np.trunc(score) + 0.002 * label + 0.5 - np.trunc(score) - 0.5) * 256.0)"),
    _started("600.0", "on_grid((lambda e: (e + 0.002 * label + 0.5 - e - 0.5) * 256.0)(exp(np.clip(score, 0, 700))))"),
    # Infinity times 0, for the records whose label is in the middle.
    _started("2.0**600", "on_grid(clip(score * score * label, 1.0))"),
    _started("2.0**600", "on_grid(clip(np.square(score) * label, 1.0))"),
    _started("2.0**600", "on_grid(clip(score / (1.0 / (1.0 + np.abs(score))) * label, 1.0))"),
    _started(
        "2.0**600", "on_grid(clip(on_grid(on_grid(on_grid(score * 2.0**150) * 2.0**150) * 2.0**150) * label, 1.0))"
    ),
    _released(f"on_grid({OFF}(self.params.regularisation) * 128.0)", "2.0**53 + initial * 0"),
    # No number, whatever the record's is.
    _released("on_grid(clipped((score - label) * self.params.regularisation, -0.25, 0.25))",
              "math.nan if initial < 0 else 1.0"),
)  # fmt: skip
ELEVENTH = (*NAMES, *ALONG, *METHODS, *LENGTHS, *FLOATS)


def _lengths(rounds: str) -> Mutant:
    changes = (SUMS, f"    for _ in {rounds}:\n        pass\n{SUMS}")
    return Mutant(f"over {rounds}", {SIDES: edit(changes)}, "", DRAWN)


HONEST: tuple[Mutant, ...] = (
    _lengths("np.array([uniform[0], uniform[0]])"),
    _lengths("np.stack([np.flatnonzero(uniform[0] > 0.6), np.flatnonzero(uniform[0] > 0.7)])"),
    _lengths("np.sum(uniform, axis=0)"),
    _lengths("np.searchsorted(uniform[0], uniform[0])"),
    _lengths("np.clip(uniform, uniform, 1.0)"),
    Mutant("a released number that is clipped", {TREE: edit((LAST, (
        '    noisy = curator.release("leaves", for_leaves, value)\n'
        "    return Tree(np.concatenate(chosen), noisy.clip(-clip, clip))")))}, "", {}),
    _added("count"),
    _added("count * count / (count + 1.0)"),
    _started("2.0**53", "on_grid(clip(0.5 * square_residual(label, score), self.params.cut()))"),
    _started("2.0**600", "on_grid(clip(2.0 * score, self.params.cut()))"),
)  # fmt: skip
"""Of like kinds, and private."""
