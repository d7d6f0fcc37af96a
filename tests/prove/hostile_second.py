"""Training texts of a second attack, written without sight of the reading: what was proved at first, by cause."""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit

D, S, X, OWNERS = (f"refdp.papers.{name}" for name in ("dpboost", "sgbdt", "dpxgboost", "inprivate"))
GIVEN = (
    '    return Statistics({"g": g}, np.abs(g) <= self.params.gradient_bound)  # Alg. 1, l. 3: gradient-based filtering'
)
MODEL = '    return Model("dpboost", params.stated(), schema, tuple(results))'
LEAF = "    return np.asarray(np.where(positive, value, 0.0))"
AGAIN = 'curator.release_sum("x", charge, population, Leaves(("g", "h")), lambda sums: sums[0].T)'


def _late(name: str, *lines: str) -> Mutant:
    """A gradient of 100 for some records that are used, behind a formula that is 1 or less for real numbers."""
    text = "\n".join(("    used = np.abs(g) <= self.params.gradient_bound", *(f"    {one}" for one in lines),
                      '    return Statistics({"g": g}, used)'))  # fmt: skip
    return Mutant(name, {f"{D}:Contribution.statistics": edit((GIVEN, text))}, "", {"gradients": "clip"})


def _held(name: str, what: str, *lines: str) -> Mutant:
    """Sums of the last tree's leaves in an object of the model."""
    text = "\n".join(("    population.tell(Root(candidates.features))",
                      '    value = values(population.ask(Nodes(("g", COUNT))))', *(f"    {one}" for one in lines),
                      f'    return Model("dpboost", {{**params.stated(), "x": {what}}}, schema, tuple(results))',
                      ))  # fmt: skip
    return Mutant(name, {f"{D}:train_on": edit((MODEL, text))}, "", {})


def _told(name: str, what: str, test: str) -> Mutant:
    """One release more where a function of released values gives something else than for its example."""
    return Mutant(name, {
        f"{S}:leaf_values": edit((LEAF, f"    return np.asarray(np.where(positive, value, 0.0)), {what}")),
        f"{S}:grow": edit(("        trees.append(Tree(splits, leaf_values(params, noisy)))",
                           "        found, which = leaf_values(params, noisy)\n"
                           f"        if {test}:\n            {AGAIN}\n        trees.append(Tree(splits, found))")),
    }, "", {"trees": 2})  # fmt: skip


def _counted(name: str, path: str, old: str, new: str, **settings: object) -> Mutant:
    return Mutant(name, {f"{path}:Contribution.statistics": edit((old, new))}, "", dict(settings))


KINDS: tuple[Mutant, ...] = (
    _late("a number without a sign that goes below 0", "a = (score <= score).astype(np.uint8)",
          "g = np.where(a - 2 * a < 0, g, 100.0)"),
    _late("a number without a sign that is negated", "a = (score <= score).astype(np.uint8)",
          "g = np.where(-a < 0, g, 100.0)"),
    _late("a product that wraps around", "a = (score <= score).astype(np.uint8)",
          "g = np.where(a * 16 * 16 > 0, g, 100.0)"),
    _late("a whole number beyond 64 bits", "a = np.where(score <= score, 3037000500, 0)",
          "g = np.where(a * a > 0, g, 100.0)"),
    _late("a truth value times a large number, squared", "a = (score <= score) * 3037000500",
          "g = np.where(a * a > 0, g, 100.0)"),
    _late("truth values multiplied, then added", "a = (score <= score) * (score >= score) + (score == score)",
          "g = np.where(a > 1, g, 100.0)"),
    _late("the larger of truth values, twice", "a = np.maximum(score <= score, score >= score)",
          "g = np.where(a + a > 1, g, 100.0)"),
    _late("a truth value's size, twice", "a = np.abs(score <= score)", "g = np.where(a + a > 1, g, 100.0)"),
    _late("small constants without a sign", "a = np.where(score <= score, np.uint8(200), np.uint8(0))",
          "g = np.where(a + a > 300, g, 100.0)"),
)  # fmt: skip
ROUNDED: tuple[Mutant, ...] = (
    _late("a number added and taken off again", "g = np.where(np.abs((label + 0.1) - 0.1 - label) > 0, 100.0, g)"),
    _late("divided and multiplied again", "g = np.where(label / 49 * 49 == label, g, 100.0)"),
    _late("a whole part after a rounding", "g = np.trunc(label / 49 * 49) + g - np.trunc(label)"),
    _late("sums in another order", "g = np.where((label + score + 0.1) - 0.1 - score - label <= 0, g, 100.0)"),
)
NAMED: tuple[Mutant, ...] = (
    _counted("a statistic in place of the count", D, '{"g": g}', '{"g": g, "count": 0 * g}', gradients="clip"),
    _counted("some records are no number", D, '{"g": g}', '{"g": g, "count": np.where(score > 0, 1.0, 0.0)}',
             gradients="clip"),
    _counted("forty of one record", X, '{"g": g, "h": h}', '{"g": g, "h": h, "count": g * 0 + 40}', stopping="noisy"),
    _counted("thirty of one record", OWNERS, "{\"r\": on_grid(clip(square_residual(label, score), self.params.cut()))}",
             '{"r": on_grid(clip(square_residual(label, score), self.params.cut())), "count": 0 * label + 30}'),
    Mutant("left out where records pay, and paid by a clipped gradient", {
        f"{S}:Contribution.statistics": edit(
            ("g = clipped(on_grid(loss.gradient(score, label)), -gradient_bound, gradient_bound)",
             "g = on_grid(loss.gradient(score, label))"),
            ('Statistics({"g": g, "h": h})', 'Statistics({"g": g, "h": h}, np.abs(g) <= gradient_bound)')),
        f"{S}:Contribution.cost": edit(
            ("assert g is not None",
             "g = clipped(g, -self.params.bounds(self.schema)[0], self.params.bounds(self.schema)[0])")),
    }, "", {"trees": 2, "extra_trees": 2}),
)  # fmt: skip
HELD: tuple[Mutant, ...] = (
    _held("notes of a kind of numbers", 'np.zeros(2, dtype=np.dtype(np.float64, metadata={"v": value}))'),
    _held("notes of a part's kind", 'np.zeros(2, dtype=[("a", np.dtype(np.float64, metadata={"v": value}))])'),
    _held("a class made in the run", "S", "class S:\n        v = value"),
    _held("a text of a class made in the run", 'S("a")', "class S(str):\n        note = value"),
    _held("a dictionary of a class made in the run", "S()", "class S(dict):\n        note = value"),
    _held("a tuple of a class made in the run", "S((1,))", "class S(tuple):\n        note = value"),
)
TOLD: tuple[Mutant, ...] = (
    _told("None for some released values", "(None if noisy[0, 0] > 1e4 else 1)", "which is None"),
    _told("None by a method for some released values", "{True: 1}.get(noisy[0, 0] < 1e4)", "which is None"),
    _told("another kind of numbers for some released values",
          "np.zeros(2).astype(np.int64 if noisy[0, 0] > 1e4 else np.float64)", "which.dtype == np.int64"),
)  # fmt: skip
SECOND = (*KINDS, *ROUNDED, *NAMED, *HELD, *TOLD)
