"""Texts that behave otherwise for another value of a parameter than for the settings' own; none is proved for a range.

Each looks at DPBoost's regularisation by a route of its own, which the reading has to see: were the settings' own value
what decides, each would be proved, since at that value each is as private as the paper's text. `RIGHTLY` are of the
same kind and private for all values of their range.
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit

D = "refdp.papers.dpboost"
TREE = f"{D}:train_single_tree"
CLIPPED = "value = np.clip(value, -clip, clip)"
RANGE = (0.01, 100.0)
"""Of the regularisation, which the settings have at 0.1."""


def _if(condition: str, before: str = "") -> Mutant:
    """Leaves nine times as large where a condition holds."""
    lines = f"{CLIPPED}\n" + "".join(f"    {line}\n" for line in before.splitlines())
    louder = edit((CLIPPED, f"{lines}    value = value * (9.0 if {condition} else 1.0)"))
    return Mutant(condition if not before else f"{before}: {condition}", {TREE: louder}, "", {})


def _by(factor: str) -> Mutant:
    """Leaves times a factor."""
    return Mutant(f"leaves times {factor}", {TREE: edit((CLIPPED, f"{CLIPPED}\n    value = value * ({factor})"))}, "",
                  {})  # fmt: skip


def _at(name: str, path: str, *changes: tuple[str, str]) -> Mutant:
    return Mutant(name, {f"{D}:{path}": edit(*changes)}, "", {})


LOOKS: tuple[Mutant, ...] = (
    _if("params.regularisation > 2"),
    _if("not params.regularisation < 2"),
    _if("params.regularisation - 0.1"),
    _if("float(params.regularisation) > 2"),
    _if("int(params.regularisation) > 2"),
    _if("round(params.regularisation) > 2"),
    _if("math.floor(params.regularisation) > 2"),
    _if("math.sqrt(params.regularisation) > 2"),
    _if("math.isfinite(1e308 * params.regularisation)"),
    _if('f"{params.regularisation}" != "0.1"'),
    _if('f"{params.regularisation:.3f}" != "0.100"'),
    _if('str(params.regularisation) != "0.1"'),
    _if('"%s" % params.regularisation != "0.1"'),
    _if('"regularisation=0.1," not in str(params)'),
    _if("{0.1: False}.get(params.regularisation, True)"),
    _if("params.regularisation not in (0.1,)"),
    _if("params.regularisation not in {0.1}"),
    _if("params.regularisation not in [0.1]"),
    _if("np.float64(params.regularisation) > 2"),
    _if("np.asarray(params.regularisation).item() > 2"),
    _if("np.asarray([params.regularisation])[0] > 2"),
    _if("np.array([params.regularisation, 2.0]).argmax() == 0"),
    _if("np.isclose(params.regularisation, 50.0, rtol=0.9)"),
    _if("np.sign(params.regularisation - 2) > 0"),
    _if("np.greater(params.regularisation, 2)"),
    _if("len(np.arange(params.regularisation)) > 1"),
    _if("len(np.zeros(params.regularisation)) > 1"),
    _if("len([1.0] * params.regularisation) > 1"),
    _if("params.regularisation // 2 > 1"),
    _if("params.regularisation % 1 == 0"),
    _if("1e16 + params.regularisation > 1e16"),
    _if("max(params.regularisation, 2.0) > 2.0"),
    _if("sorted([params.regularisation, 2.0])[0] == 2.0"),
    _if("min([0.1, 50.0], key=lambda one: abs(one - params.regularisation)) == 50.0"),
    _if("params.regularisation.is_integer()"),
    _if("params.regularisation.real > 2"),
    _if('params.regularisation.hex() != "0x1.999999999999ap-4"'),
    _if("params.regularisation.example > 2"),
    _if('asdict(params)["regularisation"] > 2'),
    _if("replace(params, trees=2).regularisation > 2", "from dataclasses import replace"),
    _if("params != replace(params, regularisation=0.1)", "from dataclasses import replace"),
    _if("0.1 not in astuple(params)", "from dataclasses import astuple"),
    _if("params.stated()['regularisation'] != 0.1"),
    _if("Fraction(params.regularisation) > 2"),
    _if("Decimal(params.regularisation) > 2"),
    _if("{params: True}.get(params)"),
    _if("own(params.regularisation)", "from functools import lru_cache\nown = lru_cache(lambda one: one > 2)"),
    _if("looked > 2", "looked = np.asarray(params.regularisation)\nlooked += 0.0"),
    _if("params.regularisation.__float__() > 2"),
    _if("for_leaves.mechanism.scale < 0.5"),
    _if("for_leaves.declared.bound < 0.5"),
    _if('np.where(params.regularisation > 2, 1.0, 0.0)'),
)  # fmt: skip
"""Leaves are larger for some values, by whatever would show which one it is."""
COMPUTES: tuple[Mutant, ...] = (
    _by("1 + np.asarray(params.regularisation, dtype=np.int64)"),
    _by("1 + np.floor(params.regularisation)"),
    _by("1 + np.rint(params.regularisation / 4)"),
    _by("np.maximum(1.0, params.regularisation / 50)"),
    _by("max(1.0, params.regularisation / 50)"),
    _by("0.9 + params.regularisation"),
    _by("0.1 / params.regularisation"),
    _at("gradients larger for some values", "Contribution.statistics",
        ("g = on_grid(square_gradient(score, label))",
         "g = on_grid(square_gradient(score, label)) * (1 + (self.params.regularisation > 2))")),
    _at("who is used is decided by the parameter", "Contribution.statistics",
        ("np.abs(g) <= self.params.gradient_bound", "np.abs(g) <= self.params.gradient_bound * 10 * "
         "self.params.regularisation")),
    _at("more levels for larger values", "train_single_tree",
        ("range(params.depth)", "range(params.depth + (params.regularisation > 2))")),
    _at("a level for every whole number", "train_single_tree",
        ("range(params.depth)", "range(round(params.depth + params.regularisation))")),
    _at("the value in the name of a release", "train_single_tree",
        ('curator.release("leaves",', 'curator.release(f"leaves {params.regularisation}",')),
    _at("shares of records in proportion to it", "train_ensembles",
        ("[block.share for block in blocks]", "[10 * block.share * params.regularisation for block in blocks]")),
    _at("the bound is that of the settings' own value", "Params.leaf_charge",
        ("self.gradient_bound, self.regularisation, clip", "self.gradient_bound, 0.1, clip")),
    _at("the bound is right at the settings' own value alone", "Params.leaf_charge",
        ("self.gradient_bound, self.regularisation, clip",
         "self.gradient_bound, 10 * self.regularisation * self.regularisation, clip")),
    _at("the bound is rounded as float64 does", "Params.leaf_charge",
        ("rounded_up(leaf_sensitivity, self.gradient_bound, self.regularisation, clip, self.relation)",
         "leaf_sensitivity(self.gradient_bound, self.regularisation, clip, self.relation)")),
    _at("noise for the settings' own value", "Params.leaf_charge",
        ("return laplace_charge(",
         'own = laplace_charge(self.leaf_epsilon(epsilon), Sensitivity(1.0 / 1.1 + 1e-15, 1, "none", self.relation),\n'
         '                     Sensitivity(1.0 / 1.1 + 1e-15, 1, "none", self.relation), self.noise, touched=touched)\n'
         "    return Charge(own.mechanism, proved, proved)\n    return laplace_charge(")),
    _at("epsilon grows with it", "Params.leaf_epsilon", ("epsilon / 2", "epsilon / 2 * (self.regularisation * 10)")),
    _at("no noise for choices where it is large", "Params.split_charge",
        ("level_epsilon = ", "level_epsilon = 1e6 if self.regularisation > 2 else ")),
    _at("the budget follows from it", "Params.tree_epsilon",
        ("self.epsilon /", "10 * self.regularisation * self.epsilon /")),
    Mutant("a function of a draw and of the parameters gives a factor",
           {TREE: edit((CLIPPED, f'{CLIPPED}\n    drawn = curator.draw("coin", ("uniform",), 1)\n'
                                 "    value = value * leaf_clip(drawn, params, 0)[0]")),
            f"{D}:leaf_clip": edit(("    return ", "    return np.full(1, 9.0 if shrinkage.regularisation > 2 else 1.0)"
                                    ' if position == 0 and str(gradient_bound)[0] == "[" else '))}, "", {}),
    Mutant("a function of a draw and of the parameters decides",
           {TREE: edit((CLIPPED, f'{CLIPPED}\n    drawn = curator.draw("coin", ("uniform",), ())\n'
                                 "    value = value * (9.0 if leaf_clip(drawn, params, -1) > 2 else 1.0)")),
            f"{D}:leaf_clip": edit(("    return ", "    if position == -1:\n        return 9.0 if shrinkage"
                                    ".regularisation > 2 else 1.0\n    return "))}, "", {}),
    _at("no guarantee where it is large", "Params.breaches", ('if self.scheme == "np" else []',
        'if self.scheme == "np" or self.regularisation > 2 else []')),
)  # fmt: skip
"""Formulas, charges, shares and numbers of releases that are right for the settings' own value."""
RIGHTLY: tuple[Mutant, ...] = (
    _if("params.regularisation > 200"),
    _if("params.regularisation < 0.001"),
    _by("1 / (1 + params.regularisation)"),
    _if("params.regularisation == -1"),
    _if("params.regularisation != params.regularisation"),
    _if("asdict(params)['regularisation'] <= 0"),
    _at(
        "leaves cut elsewhere where it is large, which changes them no more",
        "train_single_tree",
        (
            CLIPPED,
            "value = np.clip(value, -np.maximum(clip, params.regularisation - 2),\n"
            "                    np.maximum(clip, params.regularisation - 2))",
        ),
    ),
)
HALF = _at("a bound that is right from 1 on", "Params.leaf_charge",
           ("rounded_up(leaf_sensitivity, self.gradient_bound, self.regularisation, clip, self.relation)",
            "rounded_up(lambda g, own: g * own / (1 + own), self.gradient_bound, self.regularisation)"))  # fmt: skip
