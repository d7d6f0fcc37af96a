# ruff: noqa: E501
"""Wrong programs: the Python client with one mistake each, and which vectors kill them.

    python -m tests.conform.mutants            print the kill matrix
    python -m tests.conform.mutants --write    and write docs/conformance-mutants.md

A mistake is one place of the text of conform/clients/reference.py. A mutant is killed by the first vector that it
answers otherwise, or that makes it crash; vectors alone, no other test.
"""

from __future__ import annotations

import json
import signal
import sys
import types
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from refdp.conform.compare import differences
from refdp.conform.files import read
from refdp.conform.judge import judge

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "conformance-mutants.md"


class Mutant(NamedTuple):
    """paper: whose vectors are tried first; "" for what all share. mistake: in words. old, new: of the text."""

    paper: str
    mistake: str
    old: str
    new: str


class Kill(NamedTuple):
    """kind, id and first difference of the vector that killed; "" if none did."""

    kind: str
    test: str
    path: str


SHARED = [
    ("rounding to the grid half away from zero", "math.copysign(round(float(x)), float(x))", "math.copysign(math.floor(abs(float(x)) + 0.5), float(x))"),
    ("rounding to the grid downwards", "math.copysign(round(float(x)), float(x))", "math.floor(float(x))"),
    ("rounding loses the sign of zero", "num(math.copysign(round(float(x)), float(x)))", "num(float(round(float(x))))"),
    ("a grid of 2^-23", "GRID = 2.0**-24", "GRID = 2.0**-23"),
    ("a grid of 2^-25", "GRID = 2.0**-24", "GRID = 2.0**-25"),
    ("bounds rounded to the grid upwards", "num(math.floor(x / GRID)) * GRID", "num(math.ceil(x / GRID)) * GRID"),
    ("uniform grid with its ends", "(num(float(q)) / float(count + 1))", "(num(float(q)) / float(count))"),
    ("uniform grid shifted by half a bin", "(num(float(q)) / float(count + 1))", "(num(float(q) - 0.5) / float(count + 1))"),
    ("the other paper's uniform grid", "low + (num(float(q)) / float(count + 1)) * (high - low)", "low + num(float(q)) * (high - low) / float(count + 1)"),
    ("the other paper's uniform grid, inner", "low + num(float(q)) * (high - low) / float(count + 1)", "low + (num(float(q)) / float(count + 1)) * (high - low)"),
    ("logarithmic grid of base 1000", "log(num(1001.0))", "log(num(1000.0))"),
    ("logarithmic grid without - 1", "low - 1.0 + exp(", "low + exp("),
    ("thresholds of equal bounds", "if low < high else []", "if low <= high else []"),
    ("a value on a threshold is below it, codes", "sum(1 for t in thresholds if t <= x)", "sum(1 for t in thresholds if t < x)"),
    ("codes count from 0", "0 if x != x else 1 + sum", "0 if x != x else 0 + sum"),
    ("missing values have the last code", "0 if x != x else 1 +", "1 + len(thresholds) if x != x else 1 +"),
    ("an unknown category is the last one", "if x == x and 0 <= x < categories else 0", "if x == x and 0 <= x else 0"),
    ("a negative category is the first", "if x == x and 0 <= x < categories else 0", "if x == x and x < categories else 0"),
    ("a value on a threshold goes left", "x == value if categorical else x >= value", "x == value if categorical else x > value"),
    ("categories are compared as numbers", "return x == value if categorical else x >= value", "return x >= value"),
    ("a category goes left", "return x == value if categorical else", "return x != value if categorical else"),
    ("missing values go right", "    if x != x:\n        return missing_right", "    if x != x:\n        return True"),
    ("the default direction is ignored", "    if x != x:\n        return missing_right", "    if x != x:\n        return False"),
    ("missing values are compared", "    if x != x:\n        return missing_right\n", ""),
    ("children are swapped in prediction", "2 * node + 1 + int(goes_right", "2 * node + 2 - int(goes_right"),
    ("leaves are numbered from the right", "    return node - len(splits)", "    return 2 * len(splits) - node"),
    ("leaves are numbered one too high", "    return node - len(splits)", "    return min(node - len(splits) + 1, len(splits))"),
    ("prediction ends a level early", "    while node < len(splits):\n        split", "    while node < len(splits) // 2:\n        split"),
    ("children are swapped in training", "found.append(2 * node + int(right))", "found.append(2 * node + 1 - int(right))"),
    ("children of one side are interleaved", "found.append(2 * node + int(right))", "found.append(node + len(splits) * int(right))"),
    ("the bin of missing values is left out", "total, start, found = add_exactly(table[: bins[0]])", "total, start, found = add_exactly(table[1 : bins[0]])"),
    ("the total is of the last feature", "add_exactly(table[: bins[0]])", "add_exactly(table[bins[0] :] or table)"),
    ("the right side begins a bin early", "add_exactly(own[j + 2 :])", "add_exactly(own[j + 1 :])"),
    ("the right side begins a bin late", "add_exactly(own[j + 2 :])", "add_exactly(own[j + 3 :])"),
    ("a category's sums are those of the next", "right = own[j + 1] if categorical[f]", "right = own[j] if categorical[f]"),
    ("categories are ordered", "right = own[j + 1] if categorical[f] else", "right ="),
    ("left and right are swapped", "found.append((total - right, right, own[0]))", "found.append((right, total - right, own[0]))"),
    ("the sibling is not subtracted", "found.append((total - right, right, own[0]))", "found.append((total, right, own[0]))"),
    ("noise is rounded a bit coarser", "- 1 - 32", "- 1 - 31"),
    ("noise is rounded a bit finer", "- 1 - 32", "- 1 - 33"),
    ("noise is not rounded", "return x if abs(steps) >= 2.0**52 else num(math.ldexp(rint(steps), exponent))", "return x"),
    ("noise 2% too small", "snap(v + scales[i % width] * z,", "snap(v + 0.98 * scales[i % width] * z,"),
    ("noise 2% too large", "snap(v + scales[i % width] * z,", "snap(v + 1.02 * scales[i % width] * z,"),
    ("noise is subtracted", "snap(v + scales[i % width] * z,", "snap(v - scales[i % width] * z,"),
    ("one draw for all entries", "snap(v + scales[i % width] * z,", "snap(v + scales[i % width] * standard[0],"),
    ("one deviation for all columns", "snap(v + scales[i % width] * z, scales[i % width])", "snap(v + scales[0] * z, scales[0])"),
    ("discrete noise is not multiplied by its step", "step * float(to_grid(v, step) + z)", "step * float(to_grid(v, step)) + z"),
    ("values are not brought to the grid of the noise", "step * float(to_grid(v, step) + z)", "v + step * z"),
    ("discrete draws are used twice", "step * float(to_grid(v, step) + z)", "step * float(to_grid(v, step) + standard[0])"),
    ("discrete noise is forgotten", "step * float(to_grid(v, step) + z)", "step * float(to_grid(v, step))"),
    ("the last of equal options is chosen", "return scores.index(max(scores))", "return len(scores) - 1 - scores[::-1].index(max(scores))"),
    ("the worst option is chosen", "return scores.index(max(scores))", "return scores.index(min(scores))"),
    ("the last of equal times is chosen", "return times.index(min(times))", "return len(times) - 1 - times[::-1].index(min(times))"),
    ("an excluded option can win a race", "INF if w == -INF else log(z) - w", "log(z) if w == -INF else log(z) - w"),
    ("the race adds weights", "log(z) - w for", "log(z) + w for"),
    ("the coefficient is 2% too large", 'coefficient, best = num(number(mechanism["coefficient"]))', 'coefficient, best = 1.02 * num(number(mechanism["coefficient"]))'),
    ("utilities are not multiplied by the coefficient", "[coefficient * (u - best) for u in utilities]", "[u - best for u in utilities]"),
    ("the classical half of the coefficient", "[coefficient * (u - best) for u in utilities]", "[coefficient * (u - best) / 2.0 for u in utilities]"),
    ("the next tree's draws are skipped", "        self.at += 1\n", "        self.at += 1 + (self.at == 2)\n"),
    ("draws of the first release are reused", "        self.at += 1\n        if entry", '        self.at += 1\n        if entry["kind"] == "release" and self.releases and entry["shape"] == self.first["shape"] and entry["law"] == self.first["law"]:\n            entry = {**entry, "values": self.first["values"]}\n        elif entry["kind"] == "release" and not self.releases:\n            self.first = entry\n        if entry'),
    ("a surplus of the tape is accepted", "if self.at != len(self.entries):", "if False:"),
    ("paths of the tape are not checked", 'if entry["path"] != path or ', "if "),
    ("laws of the tape are not checked", '        if entry["law"] != law_of(mechanism):\n            raise Refused(f"{path}: another law")\n        found', "        found"),
    ("scores are moved without the step size", "    steps = [weight * v for v in values]", "    steps = list(values)"),
    ("scores are moved the other way", "[s + steps[k] for", "[s - steps[k] for"),
    ("scores are not moved", "[s + steps[k] for", "[s for"),
    ("the scale is rounded down", "while Fraction(q) * Fraction(b) < Fraction(a):\n        q = math.nextafter(q, INF)", "while Fraction(q) * Fraction(b) > Fraction(a):\n        q = math.nextafter(q, -INF)"),
    ("the coefficient is rounded up", "while Fraction(q) * Fraction(b) > Fraction(a):\n        q = math.nextafter(q, -INF)", "while Fraction(q) * Fraction(b) < Fraction(a):\n        q = math.nextafter(q, INF)"),
    ("replace-one is charged like add-remove", 'return 1 if relation == "add-remove" else 2', "return 1"),
    ("add-remove is charged like replace-one", 'return 1 if relation == "add-remove" else 2', "return 2"),
    ("the step of the noise is twice as large", "- 1) / 1024", "- 1) / 512"),
    ("rounding to the grid is not charged", "math.floor(bound / step + touched)", "math.floor(bound / step)"),
    ("the planned scale is 2% too small", '"scale": quotient_up(bound, epsilon).hex(), "step"', '"scale": (0.98 * quotient_up(bound, epsilon)).hex(), "step"'),
    ("shares are not rounded down", "math.floor(Fraction(exact) * 2**53) / 2**53", "float(exact)"),
    ("features are not clamped before prediction", "found.append(clamp(value, *schema.bounds(f)))", "found.append(value + 0.0 if value == value else value)"),
    ("trees are added without their weight", 'total = total + num(number(weight)) * flat', "total = total + flat"),
    ("the initial score is left out", 'total = num(number(part["initial"]))', "total = num(0.0)"),
    ("labels are scaled to [0, 1]", "return 2.0 * (clamp(y, low, high) - low) / (high - low) - 1.0", "return (clamp(y, low, high) - low) / (high - low)"),
    ("the first class is the positive one", "output if self.scores > 1 else 1", "output if self.scores > 1 else 0"),
    ("the sampler counts zero twice", "if size or not negative:", "if True:"),
    ("the sampler forgets the sign", "return -size if negative else size", "return size"),
    ("the sampler divides too early", "(low + t * high) // s", "low // s + (t * high) // s"),
    ("the sampler is one too wide", "math.isqrt(math.floor(square)) + 1", "math.isqrt(math.floor(square)) + 2"),
    ("the sampler's trial of 1 is off", "    return place % 2 == 1", "    return place % 2 == 0"),
    ("noise is rounded finer where the scale is a power of two", "math.frexp(scale)[1] - 1 - 32", "math.ceil(math.log2(scale)) - 33"),
    ("128 values and more are used without their noise", "        return found\n\n    def choose", "        return list(_leaves(value)) if len(found) >= 128 else found\n\n    def choose"),
    ("a NaN or an infinity on a tape is accepted", ' or not all(-INF < one < INF for one in values):\n            raise Refused(f"{path}: values', ':\n            raise Refused(f"{path}: values'),
    ("values of a tape may be of another dtype", 'entry["dtype"] != ("int64" if whole else "float64") or ', ""),
    ("public draws and blocks may lie outside their range", 'if kind != "release" and not all(', "if False and not all("),
    ("kinds of the tape are not checked", 'or entry["kind"] != kind or', "or"),
    ("an option beyond the last is the last", "or not all(0 <= pick < width for pick in picks):", "or (picks := [max(0, min(pick, width - 1)) for pick in picks]) is None:"),
    ("an excluded option can be listed", "if any(row[pick] == -INF for row, pick in zip(table, picks)):", "if False:"),
    ("labels are not checked", "if not all(-INF < one < INF if schema.regression", "if False and not all(-INF < one < INF if schema.regression"),
    ("a run without a candidate is accepted", "if paper != \"sgbdt\" and not chained(dpxgboost_kinds(schema)):\n        raise", "if False:\n        raise"),
    ("unknown names of settings are accepted", "if name in params and params[name] not in known:", "if False:"),
    ("a sample costs its share of epsilon", "return math.log1p(math.fsum(share * math.expm1(epsilon) for share, epsilon in parts))", "return math.fsum(share * epsilon for share, epsilon in parts)"),
    ("Laplace noise costs half", 'return bound / number(mechanism["scale"])', 'return bound / number(mechanism["scale"]) / 2'),
    ("a partition costs its last block", 'amplified(list(zip(shares, costs)))', "amplified([(shares[-1], costs[-1])])"),
    ("a sequence costs its first release", 'return sum(pure(inner) for inner in one["sequential"])', 'return pure(one["sequential"][0])'),
    ("a regression's labels are not moved into their bounds", "2.0 * (clamp(y, low, high) - low)", "2.0 * (y - low)"),
    ("a regression's labels are moved up alone", "2.0 * (clamp(y, low, high) - low)", "2.0 * (clamp(y, low, INF) - low)"),
    ("features are not moved into their bounds before training", 'x = [clamp_row(one, schema) for one in rows(i["x"])]', 'x = rows(i["x"])'),
    ("a category is cut off towards 0", "1 + math.floor(x) if x == x and 0 <= x < categories", "1 + int(x) if x == x and -1 < x < categories"),
    ("settings a little above their domain are accepted", "if not (least <= value <= most)", "if not (least <= value <= most + 1e-4 * most)"),
    ("settings a little below their domain are accepted", "if not (least <= value <= most)", "if not (least - 0.1 * least <= value <= most)"),
    ("infinite settings are accepted", "if not (least <= value <= most)", "if not (least <= value <= most or value == INF)"),
    ("settings that are no numbers are accepted", "if not (least <= value <= most)", "if value < least or value > most"),
    ("the lower end of a domain is always in it", "(above and value == least)", "False"),
    ("the upper end of a domain is always in it", "(below and value == most)", "False"),
    ("the lower end of a domain is never in it", "(above and value == least)", "value == least"),
    ("the upper end of a domain is never in it", "(below and value == most)", "value == most"),
    ("numbers of a draw's or a sample's law are not checked", 'law is not None and entry["law"] != law:', 'law is not None and entry["law"][0] != law[0]:'),
    ("the law of choices is not checked", 'elif entry["law"] != law_of(mechanism) or entry["shape"] != [len(table), width]:', 'elif entry["shape"] != [len(table), width]:'),
    ("shapes of draws and samples are counted alone", 'or (shape is not None and entry["shape"] != shape):', 'or (shape is not None and (entry["shape"] != shape if kind == "release" else math.prod(entry["shape"]) != math.prod(shape))):'),
    ("the fraction of discrete noise is not checked", 'if entry["law"] != law_of(mechanism):', 'if entry["law"][0] != law_of(mechanism)[0]:'),
    ("budgets and noise beyond floats are planned", "if not all(2.0**-500 <= one <= 2.0**500 for one in numbers):", "if False:"),
    ("any epsilon above 0 is accepted", "EPSILON = (1e-60, 1e15, False, False)", "EPSILON = (0, INF, True, True)"),
    ("the ends of epsilon's domain are refused", "EPSILON = (1e-60, 1e15, False, False)", "EPSILON = (1e-60, 1e15, True, True)"),
    ("epsilons are rounded down to 16 bits after the point", 'return {"epsilon": float(found).hex()}', 'return {"epsilon": (math.floor(found * 2.0**16) / 2.0**16).hex()}'),
    ("epsilons are a 10^8th too small", 'return {"epsilon": float(found).hex()}', 'return {"epsilon": (found * (1 - 1e-8)).hex()}'),
    ("Gaussian releases cost as the first", "mu = math.sqrt(math.fsum(squares))", "mu = math.sqrt(squares[0])"),
]  # fmt: skip

OWN = {
    "dpboost": [
        ("a leaf may change by three times its clip", "min(g / (1 + lam), 2 * c, (g + c)", "min(g / (1 + lam), 3 * c, (g + c)"),
        ("shrinkage down to 0.0009 is accepted", '"shrinkage": (0.001, 1, False, True)', '"shrinkage": (0.0009, 1, False, True)'),
        ("releases after the 24th are used without noise", "        return found\n\n    def choose", "        return list(_leaves(value)) if len(self.releases) > 24 else found\n\n    def choose"),
        ("records are filtered before rounding", "g = on_grid(score - label)\n    bound = setting(p, \"gradient_bound\")\n    if p[\"gradients\"] == \"clip\":\n        g = clamp(g, -grid_floor(bound), grid_floor(bound))\n    return {\"g\": g, \"h\": num(1.0)}, abs(g) <= bound", "bound = setting(p, \"gradient_bound\")\n    g = score - label\n    used = abs(g) <= bound\n    g = on_grid(g)\n    if p[\"gradients\"] == \"clip\":\n        g = clamp(g, -grid_floor(bound), grid_floor(bound))\n    return {\"g\": g, \"h\": num(1.0)}, used"),
        ("a gradient at the bound is filtered", 'return {"g": g, "h": num(1.0)}, abs(g) <= bound', 'return {"g": g, "h": num(1.0)}, abs(g) < bound'),
        ("no filter", 'return {"g": g, "h": num(1.0)}, abs(g) <= bound', 'return {"g": g, "h": num(1.0)}, True'),
        ("gradients of the wrong sign", "g = on_grid(score - label)\n    bound = setting(p, \"gradient_bound\")\n    if", "g = on_grid(label - score)\n    bound = setting(p, \"gradient_bound\")\n    if"),
        ("lambda is left out of one side", "left[0] * left[0] / (left[1] + lam) +", "left[0] * left[0] / (left[1] + 1e-9) +"),
        ("gains from counts of the other side", "right[0] * right[0] / (right[1] + lam)", "right[0] * right[0] / (left[1] + lam)"),
        ("leaf values of the wrong sign", "return clamp(-g / (n + setting(p, \"regularisation\")), -clip, clip)", "return clamp(g / (n + setting(p, \"regularisation\")), -clip, clip)"),
        ("leaf values are not clipped", "return clamp(-g / (n + setting(p, \"regularisation\")), -clip, clip)", "return -g / (n + setting(p, \"regularisation\"))"),
        ("an empty leaf is 0.0", "return clamp(-g / (n + setting(p, \"regularisation\")), -clip, clip)", "return clamp(-g / (n + setting(p, \"regularisation\")) + 0.0, -clip, clip)"),
        ("the printed sensitivity of the gain", 'at_least(changed(p["relation"]) * 4 * Fraction(float(setting(p, "gradient_bound"))) ** 2)\n    return exponential_charge(epsilon / (2', 'at_least(changed(p["relation"]) * 3 * Fraction(float(setting(p, "gradient_bound"))) ** 2)\n    return exponential_charge(epsilon / (2'),
        ("a level's budget off by one level", 'epsilon / (2 * p["depth"])', 'epsilon / (2 * (p["depth"] + 1))'),
        ("leaves take the whole budget", 'laplace_charge(epsilon / 2, bound, p["relation"], p["noise"], changed(p["relation"]))', 'laplace_charge(epsilon, bound, p["relation"], p["noise"], changed(p["relation"]))'),
        ("the leaves' sensitivity as printed", "one = min(g / (1 + lam), 2 * c, (g + c) / (2 + lam))", "one = min(g / (1 + lam), 2 * c)"),
        ("clipping decays a tree early", "(1 - eta) ** t\n", "(1 - eta) ** (t + 1)\n"),
        ("shares decay a tree late", "eta * (1 - eta) ** t / (1", "eta * (1 - eta) ** (t + 1) / (1"),
        ("the budget is not divided between ensembles", 'float(setting(p, "epsilon")) / len(dpboost_blocks(p)) / schema.scores', 'float(setting(p, "epsilon")) / schema.scores'),
        ("the budget is not divided between classes", "/ len(dpboost_blocks(p)) / schema.scores", "/ len(dpboost_blocks(p))"),
        ("every tree sees all records", "used = [i for i in selected(block_of, t) if found[i][1]]", "used = [i for i in range(len(y)) if found[i][1]]"),
        ("the next block's records", "used = [i for i in selected(block_of, t) if found[i][1]]", "used = [i for i in selected(block_of, (t + 1) % len(blocks)) if found[i][1]]"),
        ("scores before the trees of an ensemble", "scores = advance(scores, leaf, leaves, setting(p, \"shrinkage\"))\n        model.append(ensemble(0.0, [setting(p, \"shrinkage\")] * len(trees), trees))\n    return model\n\n\n# --- InPrivate", "held = advance(scores, leaf, leaves, setting(p, \"shrinkage\")) if t == 0 else advance(held, leaf, leaves, setting(p, \"shrinkage\"))\n            scores = held\n        model.append(ensemble(0.0, [setting(p, \"shrinkage\")] * len(trees), trees))\n    return model\n\n\n# --- InPrivate"),
    ],
    "inprivate": [
        ("the bound of residuals is not on the grid", 'grid_floor(setting(p, "residual_bound"))\n    if schema.regression:', 'setting(p, "residual_bound")\n    if schema.regression:'),
        ("releases after the 22nd are used without noise", "        return found\n\n    def choose", "        return list(_leaves(value)) if len(self.releases) > 22 else found\n\n    def choose"),
        ("residuals of the wrong sign", "on_grid(clamp(label - score, -bound, bound))", "on_grid(clamp(score - label, -bound, bound))"),
        ("residuals are not cut", "on_grid(clamp(label - score, -bound, bound))", "on_grid(label - score)"),
        ("curvature from the residual before rounding", "r = on_grid(clamp(2.0 * label / (1.0 + exp(2.0 * label * score)), -bound, bound))\n    return {\"r\": r,", "raw = clamp(2.0 * label / (1.0 + exp(2.0 * label * score)), -bound, bound)\n    r = raw\n    return {\"r\": on_grid(raw),"),
        ("the log odds count once", "(1.0 + exp(2.0 * label * score))", "(1.0 + exp(label * score))"),
        ("curvature of the other loss", "abs(r) * (2.0 - abs(r))", "abs(r) * (1.0 - abs(r))"),
        ("gains without the parent", " - part(left[0] + right[0], left[1] + right[1])", ""),
        ("an empty node divides by nothing", "(n if n > 1 else num(1.0))", "n"),
        ("candidates are even whatever is given", 'candidates_of(schema, p["candidates"], p["bins"])', 'candidates_of(schema, "uniform", p["bins"])'),
        ("damping is ignored", "least = max(num(1.0), setting(p, \"damping\") * num(number(mechanism[\"scale\"])))", "least = num(1.0)"),
        ("coefficients are not cut", "return clamp(numerator / (denominator if denominator > least else least), -bound, bound)", "return numerator / (denominator if denominator > least else least)"),
        ("rounds are dealt like owners", "share_down(Fraction(1, 2**t)) for t in range(1,", "share_down(Fraction(1, 2**t)) for t in range(0,"),
        ("owners share no records", "share_down(Fraction(s) / p[\"owners\"])", "share_down(Fraction(s))"),
        ("turns never have more than the run", "if p[\"turn_budget\"] == \"whole\" or", "if True or"),
        ("turns always have more", "if p[\"turn_budget\"] == \"whole\" or", "if"),
        ("replaced records are amplified", " or p[\"relation\"] != \"add-remove\":\n        return epsilon", ":\n        return epsilon"),
        ("unused records are those of the last round", "2 ** p[\"rounds\"])))", "2 ** (p[\"rounds\"] - 1))))"),
        ("leaves lose what no split uses", "float(setting(p, \"split_share\")) if p[\"depth\"] > 1 else 0", "float(setting(p, \"split_share\"))"),
        ("a level's budget off by one level", "/ (p[\"depth\"] - 1)\n", "/ p[\"depth\"]\n"),
        ("the sums' sensitivity of regressions", "+ 1 if schema.regression else Fraction(9, 4)", "if schema.regression else Fraction(9, 4)"),
        ("the sums' sensitivity of classes", "else Fraction(9, 4)", "else Fraction(2)"),
        ("one coordinate is rounded, not two", "p[\"noise\"], 2 * changed(p[\"relation\"]))", "p[\"noise\"], changed(p[\"relation\"]))"),
        ("the trees of a turn see each other", "            made.append((splits, [inprivate_leaf", "            scores[k] = [s + 0.0625 for s in scores[k]]\n            made.append((splits, [inprivate_leaf"),
    ],
    "dpxgboost": [
        ("a small node's split is at 0", "else math.nextafter(schema.bounds(f)[1], INF)", "else num(0.0)"),
        ("a small node's split is at the upper bound", "else math.nextafter(schema.bounds(f)[1], INF)", "else schema.bounds(f)[1]"),
        ("a small node's split is on the first feature, whatever its bounds", "f = min(chained(dpxgboost_kinds(schema)))", "f = 0"),
        ("shares of features are rounded half up", 'round(float(setting(p, "columns")) * features)', 'int(float(setting(p, "columns")) * features + 0.5)'),
        ("of equal public numbers the last features are taken", "sorted(kind, key=lambda f: drawn[f])", "sorted(kind, key=lambda f: (drawn[f], -f))"),
        ("a sketch of the run is of all records, used or not", "used, every = [i for i in range(len(y)) if found[i][1]]", "used, every = list(range(len(y)))"),
        ("a rank in the middle between two bins is in the first", "nearer = 2.0 * rank >= ", "nearer = 2.0 * rank > "),
        ("a rank in the middle of a bin is in the one before", "if m <= rank)", "if m < rank)"),
        ("an interval's lower edge is none of its options", "inside = [low <= e <= high and", "inside = [low < e <= high and"),
        ("an interval's upper edge is none of its options", "inside = [low <= e <= high and", "inside = [low <= e < high and"),
        ("an edge after the last bin is an option", "inside = [low <= e <= high and e < bins for e in range(1, most)]", "inside = [low <= e <= high and e <= bins for e in range(1, most)]"),
        ("bounds of gradients above 1 count for log loss", "        bound = min(bound, num(1.0))\n", ""),
        ("two bins of a sketch are refused", '"sketch_bins": (2, 255, False, False)', '"sketch_bins": (2, 255, True, False)'),
        ("a sketch is paid where no feature is numeric", 'p["candidates"] != "uniform" and dpxgboost_kinds(schema)[0]', 'p["candidates"] != "uniform"'),
        ("a sample does not amplify", "log1p(expm1(num(epsilon)) / rate)", "log1p(expm1(num(epsilon)))"),
        ("a sample amplifies twice", "log1p(expm1(num(epsilon)) / rate)", "log1p(expm1(num(epsilon)) / rate / rate)"),
        ("levels have a tree's whole part", "[unit * split * part for part in levels]", "[unit * split for part in levels]"),
        ("Hessians from the rounded gradient", "on_grid(probability * (1.0 - probability))\n    if p[\"gradients\"]", "on_grid(abs(on_grid(probability - label)) * (1.0 - abs(on_grid(probability - label))))\n    if p[\"gradients\"]"),
        ("ratios are rounded, not truncated", "num(math.copysign(math.trunc(cut / GRID), cut)) * GRID", "on_grid(cut)"),
        ("ratios are not clipped", "cut = clamp(g, -ratio * h, ratio * h)", "cut = g"),
        ("missing values go right in both ways", "ways.append(((left[0] - missing[0], left[1] - missing[1])", "ways.append(((left[0], left[1])"),
        ("default directions alternate", "[one[way] for way in range(len(found[0])) for one in found]", "[one[way] for one in found for way in range(len(found[0]))]"),
        ("the minimum is added", "(n if n > least else least) + setting(p, \"regularisation\"))\n\n\ndef dpxgboost_average", "n + least + setting(p, \"regularisation\"))\n\n\ndef dpxgboost_average"),
        ("averages of the wrong sign", "return -clamp(average, -bound, bound)", "return clamp(average, -bound, bound)"),
        ("the count's weight is left in", "size = weighted / weight", "size = weighted"),
        ("no filter", "used = [i for i in used if found[i][1]]", "used = list(used)"),
        ("the sample is ignored", "used = selected(tape.take(f\"{scope}/rows\", \"assign\", [len(y)], law)[1], 0)", "tape.take(f\"{scope}/rows\", \"assign\", [len(y)], law)"),
        ("columns are ignored", "[: dpxgboost_seen(p, len(kind))]", "[: len(kind)]"),
        ("columns are those with the largest numbers", "sorted(kind, key=lambda f: drawn[f])", "sorted(kind, key=lambda f: -drawn[f])"),
        ("shares of columns are rounded down", 'round(float(setting(p, "columns")) * features)', 'math.floor(float(setting(p, "columns")) * features)'),
        ("candidates are public whatever is given", "if p[\"candidates\"] == \"uniform\" or not asked:", "if True:"),
        ("sketches weigh missing values", "table[sum(bins[:f]) + 1 : sum(bins[: f + 1])]", "table[sum(bins[:f]) : sum(bins[: f + 1]) - 1]"),
        ("sketches count records", "bin_table(codes, [0] * len(codes), 1, [h], bins)", "bin_table(codes, [0] * len(codes), 1, [None], bins)"),
        ("negative weights of sketches lose their sign", "[w if w > 0 else num(0.0) for w in noisy]", "[abs(w) for w in noisy]"),
        ("edges of sketches are those of their noise-free weights", "dpxgboost_edges(noise[: len(one)], p", "dpxgboost_edges(one, p"),
        ("edges are a bin too high", "candidates[f][e - 1] for e in own", "candidates[f][min(e, len(candidates[f]) - 1)] for e in own"),
        ("edges are those below the quantiles", "answers.append(after if middle[0] <= rank < middle[-1] and nearer else index)", "answers.append(index)"),
        ("medians of all intervals are those of the whole", "(sums[e] - sums[low]) - (sums[high] - sums[e])", "sums[e] - (sums[-1] - sums[e])"),
        ("medians of intervals are not halved", "abs((sums[e] - sums[low]) - (sums[high] - sums[e])) / 2.0", "abs((sums[e] - sums[low]) - (sums[high] - sums[e]))"),
        ("medians may lie in other intervals", "inside = [low <= e <= high and e < bins for", "inside = [e < bins for"),
        ("each level of medians has all of the budget", "exponential_charge(epsilon / levels,", "exponential_charge(epsilon,"),
        ("the bound of sketches is that of square loss", "changed(p[\"relation\"]) * Fraction(float(dpxgboost_bounds(p)[0])))\n    if p[\"candidates\"]", "changed(p[\"relation\"]) * Fraction(1))\n    if p[\"candidates\"]"),
        ("the bound of sketches is that of one feature", "size = dpxgboost_seen(p, numeric) if p[\"sketch_per\"] == \"tree\" else numeric", "size = 1"),
        ("a run's sketch is of the features of a tree", "if p[\"sketch_per\"] == \"tree\" else numeric", "if True else numeric"),
        ("a run's sketch costs nothing", "spent, rate = (score - once) * share", "spent, rate = score * share"),
        ("a run's sketch is made for every tree", "shared = dpxgboost_candidates(p, schema, grid, every", "_ = dpxgboost_candidates(p, schema, grid, every"),
        ("no counts are released", "if p[\"stopping\"] == \"noisy\":\n            there", "if False:\n            there"),
        ("exact counts decide whether to stop", "[min(count[2 * k], count[2 * k + 1]) for k", "[min(there[2 * k], there[2 * k + 1]) for k"),
        ("a child of the minimum is too small", "[one >= p[\"child_minimum\"] for one in least]", "[one > p[\"child_minimum\"] for one in least]"),
        ("one large child is enough", "[min(count[2 * k], count[2 * k + 1]) for k", "[max(count[2 * k], count[2 * k + 1]) for k"),
        ("counts are charged twice", "laplace_charge(counts[d], float(r),", "laplace_charge(2 * counts[d], float(r),"),
        ("counts have the budget of one level", "[unit * count / len(levels)] * len(levels)", "[unit * count] * len(levels)"),
        ("counts of replaced records change by one", "laplace_charge(counts[d], float(r), relation, p[\"noise\"], r)", "laplace_charge(counts[d], 1.0, relation, p[\"noise\"], 1)"),
        ("leaves from the eighth tree on are used without noise", "leaves = tape.noise(f\"{scope}/leaves\", [dpxgboost_leaf(a, b, p) for a, b in zip(*sums)])", "leaves = tape.noise(f\"{scope}/leaves\", true := [dpxgboost_leaf(a, b, p) for a, b in zip(*sums)])\n                leaves = leaves if t < 7 else true"),
        ("a tree of 500 nats is amplified by exponentials", "float(epsilon - log(rate) if epsilon >= 500 else log1p(expm1(num(epsilon)) / rate))", "float(log1p(expm1(num(epsilon)) / rate))"),
        ("log loss of a regression is accepted", "if p[\"loss\"] == \"log\" and schema.regression:", "if False:"),
        ("shares of columns are not checked", '            "columns": (0, 1, True, False),\n', ""),
        ("Hessians of square loss are counted twice", "table[1][k]], candidates, schema.categorical, p)", "[2.0 * v for v in table[1][k]]], candidates, schema.categorical, p)"),
    ],
    "fedgbdt": [
        ("averaged labels are charged by the bound of gradients", ' if schema.regression and p["update"] != "averaging" else 1', " if schema.regression else 1"),
        ("gradients of classes are charged by the bound of a regression's", ' if schema.regression and p["update"] != "averaging" else 1', ' if p["update"] != "averaging" else 1'),
        ("the bound of gradients is forgotten where records are added", "Fraction(c * c + 1)", "Fraction(c / c + 1)"),
        ("counts of replaced records are charged like gradients", "max(4 * c * c, 2 * c * c + 2)", "4 * c * c"),
        ("gradients of replaced records are charged like counts", "max(4 * c * c, 2 * c * c + 2)", "2 * c * c + 2"),
        ("gradients of classes are cut to the bound of a regression's", '{"g": on_grid(label if forest else gradient), "h": h}', '{"g": on_grid(label) if forest else clamp(on_grid(gradient), -grid_floor(setting(p, "gradient_bound")), grid_floor(setting(p, "gradient_bound"))), "h": h}'),
        ("one record of each participant is charged", "at_least(each * Fraction(root_up(square)))", "root_up(square)"),
        ("rounding is charged for one record of each participant", "2 * changed(relation) * each)", "2 * changed(relation))"),
        ("a root that is rounded down", "at_least(each * Fraction(root_up(square)))", "at_least(each * Fraction(math.sqrt(square)))"),
        ("trees for every feature are ignored", 'p["trees"] * (len(schema.features) if p["trees_per_feature"] else 1)', 'p["trees"]'),
        ("a share of the trees as a batch is ignored", "return trees, p[\"batch\"] if share is None else", "return trees, p[\"batch\"] if True else"),
        ("a batch is rounded up", "math.floor(float(setting(p, \"batch_share\")) * trees)", "math.ceil(float(setting(p, \"batch_share\")) * trees)"),
        ("candidates are uniform whatever is given", "f\"inner-{p['candidates']}\"", '"inner-uniform"'),
        ("no orders above 63", " + [128.0, 256.0, 512.0]", ""),
        ("no larger orders where epsilon is small", "for k in range(10, 41)]", "for k in range(0)]"),
        ("orders from 1.5", "[1.25 + k / 4 for k in range(248)]", "[1.5 + k / 4 for k in range(247)]"),
        ("a bound of gradients outside its domain is accepted", '            "gradient_bound": (GRID, 1024, True, False),\n            "split_penalty"', '            "split_penalty"'),
        ("a penalty below 0 is accepted", '            "split_penalty": (0, INF, False, True),\n', ""),
        ("no rounds are accepted", '            "rounds": (1, 1e6, False, False),\n', ""),
        ("no features of a tree are accepted", '            **({} if p["features_per_tree"] is None else {"features_per_tree": (1, 1e6, False, False)}),\n', ""),
        ("any share of the trees as a batch is accepted", '            **({} if p["batch_share"] is None else {"batch_share": (0, 1, True, False)}),\n', ""),
        ("releases after the 20th are used without noise", "        return found\n\n    def choose", "        return list(_leaves(value)) if len(self.releases) > 20 else found\n\n    def choose"),
        ("Hessians from the rounded gradient", "h = fedgbdt_hessian(gradient)", "h = fedgbdt_hessian(on_grid(gradient))"),
        ("Hessians of the wrong form", "on_grid(abs(gradient) * (1.0 - abs(gradient)))", "on_grid(abs(gradient) * (2.0 - abs(gradient)))"),
        ("gradients are clipped before rounding", "clamp(on_grid(score - label), -bound, bound), \"h\": num(1.0)}, True\n    gradient", "on_grid(clamp(score - label, -bound, bound) * 1.0000001), \"h\": num(1.0)}, True\n    gradient"),
        ("a Hessian sum that is not positive counts", "return g * 0.0 if h <= 0 else -g /", "return -g /"),
        ("an empty leaf's zero has no sign", "clamp(g / h, 0.0 * g, num(1.0))", "clamp(g / h, num(0.0), num(1.0))"),
        ("forests of 0 where nothing is", "(0.0 * g + 1.0) / 2.0 if h <= 0", "0.0 * g if h <= 0"),
        ("the step size before clipping", "return setting(p, \"shrinkage\") * clamp(fedgbdt_weight(g, h, p), -clip, clip)", "return clamp(setting(p, \"shrinkage\") * fedgbdt_weight(g, h, p), -clip, clip)"),
        ("the mean of labels is not scaled back", "return 2.0 * fedgbdt_average((g + h) / 2.0, h) - 1.0", "return fedgbdt_average((g + h) / 2.0, h)"),
        ("noise follows from the exact profile alone", 'p["accounting"] == "exact", noise)', "True, noise)"),
        ("the penalty is left out", "/ 2.0 - setting(p, \"split_penalty\")", "/ 2.0"),
        ("scores are not halved", "- parent) / 2.0 -", "- parent) -"),
        ("weights in scores are not clipped", "w = clamp(-g / (positive + lam), -clip, clip) if h > 0 else num(0.0)", "w = -g / (positive + lam) if h > 0 else num(0.0)"),
        ("draws are rounded to features", "return min(int(u * float(count)), count - 1)", "return min(round(u * float(count)), count - 1)"),
        ("settled candidates are drawn again", "left, right = list(mask), list(mask)\n        for other", "left, right = list(mask), list(mask)\n        for other in []:\n            pass\n        for other"),
        ("the left child keeps the threshold", "else other < k)", "else other <= k)"),
        ("the right child keeps the threshold", "and other > k", "and other >= k"),
        ("trees of a batch see each other", "float(trees_in_all if p[\"update\"] == \"averaging\" else len(batch))", "float(trees_in_all if p[\"update\"] == \"averaging\" else 1)"),
        ("queries compose as their number", "/ math.sqrt(queries * trees)", "/ (queries * trees)"),
        ("each query has the whole budget", "/ math.sqrt(queries * trees)", "/ 1.0"),
        ("all scores together count as one", "math.sqrt(queries * trees)", "math.sqrt(trees)"),
        ("one budget for all scores is divided", "(1, schema.scores) if p[\"one_vs_rest\"] == \"together\" else (schema.scores, 1)", "(schema.scores, 1)"),
        ("a divided budget is for all scores", "(1, schema.scores) if p[\"one_vs_rest\"] == \"together\" else (schema.scores, 1)", "(1, schema.scores)"),
        ("discrete noise by the exact profile", "low * (1 - 2.0**-16) if exact and noise == \"discrete\" else low", "low"),
        ("delta is not divided between scores", "float(setting(p, \"delta\")) / models", "float(setting(p, \"delta\"))"),
        ("rounding to the grid costs nothing", "noise, 2 * changed(relation) * each)\n    return sequence([release(\"leaves\", charge)]", "noise, 0)\n    return sequence([release(\"leaves\", charge)]"),
        ("batches are one tree too long", "min(first + size, trees_in_all + 1)", "min(first + size + 1, trees_in_all + 1)"),
    ],
    "sgbdt": [
        ("the budget of a record is a 100,000th too large", 'self.budget = [p["trees"] * self.knot', 'self.budget = [1.00001 * p["trees"] * self.knot'),
        ("a record pays what the next knot costs", "costs = [(self.knot(a, k + 1) - self.knot(a, k)) * (place - k) + self.knot(a, k) for a in self.orders]", "costs = [self.knot(a, k + 1) for a in self.orders]"),
        ("joint orders are rounded half up", "min(max(round(best * one), 2), LARGEST_ORDER)", "min(max(int(best * one + 0.5), 2), LARGEST_ORDER)"),
        ("joint orders are rounded down", "min(max(round(best * one), 2), LARGEST_ORDER)", "min(max(int(best * one), 2), LARGEST_ORDER)"),
        ("joint orders are 3 at least", "min(max(round(best * one), 2), LARGEST_ORDER)", "min(max(round(best * one), 3), LARGEST_ORDER)"),
        ("the planned bound of labels is not on the grid", 'most = float(grid_floor(setting(p, "label_bound")))', 'most = float(setting(p, "label_bound"))'),
        ("regularisations above 2^500 are refused", '"regularisation": (0, INF, True, True),\n            "leaf_clip": (0, 1e100, True, False),\n            "support_weight"', '"regularisation": (0, 2.0**500, True, False),\n            "leaf_clip": (0, 1e100, True, False),\n            "support_weight"'),
        ("a grid's last point but one is the highest", "int(where[node] * float(count)), points - 1)", "int(where[node] * float(count)), points - 2)"),
        ("a grid's left grandchildren have what the path ruled out", "for child in (2 * node + 1, 2 * node + 2):", "for child in (2 * node + 2,):"),
        ("a grid's right grandchildren have what the path ruled out", "for child in (2 * node + 1, 2 * node + 2):", "for child in (2 * node + 1,):"),
        ("a count's share of 1 is accepted", '"count_share": (0, 1, True, True)', '"count_share": (0, 1, True, False)'),
        ("the initial mean of fewer than two records is their sum", "mean = noisy_sum / (count if count > 1 else num(1.0))", "mean = noisy_sum / (count if count > 2 else num(1.0))"),
        ("a grid's right side has the point itself", "first[2 * node + 2][f] = max(left, chosen + 1)", "first[2 * node + 2][f] = max(left, chosen)"),
        ("bounds down to a step of the grid are accepted", "(2 * GRID, 1, False, False)", "(GRID, 1, False, False)"),
        ("releases after the 21st are used without noise", "        return found\n\n    def choose", "        return list(_leaves(value)) if len(self.releases) > 21 else found\n\n    def choose"),
        ("clipped before rounding", "clamp(on_grid(score - label), -g_bound, g_bound), \"h\": num(1.0)}, True\n    probability", "on_grid(clamp(score - label, -g_bound, g_bound) / 2.0), \"h\": num(1.0)}, True\n    probability"),
        ("Hessians are not clipped", "clamp(on_grid(probability * (1.0 - probability)), num(0.0), h_bound)", "on_grid(probability * (1.0 - probability) * 1.0001)"),
        ("the other form of the support", "lam + h if p[\"support\"] == \"additive\"", "lam + h if p[\"support\"] == \"max\""),
        ("a support that is not positive counts", "if support > 0 else num(0.0)", "if support != 0 else num(0.0)"),
        ("leaves are not clamped", "return clamp(-g / support, -clip, clip) if support > 0", "return -g / support if support > 0"),
        ("grid values from 1", "left = first[node][f]\n", "left = first[node][f] + 1\n"),
        ("turns do not rule out grid values", "min(last[node][f], chosen - 1)", "last[node][f]"),
        ("right turns do not rule out grid values", "max(left, chosen + 1)", "left"),
        ("the filter has one order", 'if p["orders"] == "joint" else (1.0,)', 'if False else (1.0,)'),
        ("the filter has all orders", 'if p["orders"] == "joint" else (1.0,)', 'if True else (1.0,)'),
        ("weights are those of the bounds", 'if p["weights"] == "slides":\n        return (r1', 'if False:\n        return (r1'),
        ("Hessians are as large as they are", "clamp(on_grid(probability * (1.0 - probability)), num(0.0), h_bound)", "on_grid(probability * (1.0 - probability))"),
        ("labels of the first mean are not cut", "on_grid(clamp(one, low, bound)) for one in labels", "on_grid(one) for one in labels"),
        ("bounds of gradients are off the grid", 'g_bound, h_bound = grid_floor(setting(p, "gradient_bound"))', 'g_bound, h_bound = setting(p, "gradient_bound")'),
        ("the sample is ignored", "sample = selected(tape.take(f\"{prefix}/sample\", \"assign\", [len(y)], law)[1], 0)", "tape.take(f\"{prefix}/sample\", \"assign\", [len(y)], law)\n            sample = list(range(len(y)))"),
        ("the initial score is a probability", "return log(inside / (1.0 - inside))", "return inside"),
        ("the noisy count may be 0", "(count if count > 1 else num(1.0))", "(count if count > 0 else num(0.5))"),
        ("gradients and supports are swapped", "[[sums[0][k], sums[1][k]] for k", "[[sums[1][k], sums[0][k]] for k"),
        ("scores begin at 0", "scores = [num(0.0) + initial for _ in y]", "scores = [num(0.0) for _ in y]"),
        ("records without room take part", "sample = [i for i in sample if room[i]]", "sample = list(sample)"),
        ("records without room pay all the same", "            return False\n        self.spent[i] = after", "            self.spent[i] = after\n            return False\n        self.spent[i] = after"),
        ("nobody pays", "        self.spent[i] = after\n        return True", "        return True"),
        ("the budget of all rounds, extra ones too", "self.budget = [p[\"trees\"] *", "self.budget = [(p[\"trees\"] + p[\"extra_trees\"]) *"),
        ("the filter's cost has only gradients", "return (r1 * h * h + (1 - r1) * g * g) / squared\n\n", "return ((1 - r1) * g * g) / squared\n\n"),
        ("deviations 2% too small", "math.sqrt(g * g * squared / (2 * (1 - r1)))", "0.98 * math.sqrt(g * g * squared / (2 * (1 - r1)))"),
        ("weights of the two sums exchanged", "math.sqrt(h * h * squared / (2 * r1))", "math.sqrt(h * h * squared / (2 * (1 - r1)))"),
        ("no room for rounding in the search", "target = epsilon - 10 * ROOM", "target = epsilon * 1.001"),
        ("the last grid point is drawn", "value = low + share[node] * (high - low)", "value = low + share[node] * (high - low) * 1.03125"),
    ],
    "grove": [
        ("releases after the 23rd are used without noise", "        return found\n\n    def choose", "        return list(_leaves(value)) if len(self.releases) > 23 else found\n\n    def choose"),
        ("residuals are cut after rounding", "on_grid(clamp((score - label) / unit, num(-1.0), num(1.0)))", "clamp(on_grid((score - label) / unit), num(-1.0), num(0.5))"),
        ("residuals in the label's unit", "on_grid(clamp((score - label) / unit,", "on_grid(clamp((score - label) * unit,"),
        ("Hessians from the rounded gradient, Grove", "g, h = on_grid(gradient), fedgbdt_hessian(gradient)", "g, h = on_grid(gradient), fedgbdt_hessian(on_grid(gradient))"),
        ("gradients are not cut", "return {\"g\": clamp(g, -cut, cut), \"h\": h if", "return {\"g\": g, \"h\": h if"),
        ("Hessians of other classes are not cut", "\"h\": h if h < most else most}", "\"h\": h}"),
        ("other classes are cut like the record's own", "schema.scores == 1 or label > 0.5 else", "True else"),
        ("a record's class is cut like the others", "if schema.scores == 1 or label > 0.5", "if schema.scores == 1 or label < 0.5"),
        ("other classes together are cut at 1/2", "num(0.4) / num(math.sqrt(float(schema.scores - 1)))", "num(0.5) / num(math.sqrt(float(schema.scores - 1)))"),
        ("the others' cut is not on the grid", "cut = grid_floor(num(0.4) / num(math.sqrt(float(schema.scores - 1))))", "cut = num(0.4) / num(math.sqrt(float(schema.scores - 1)))"),
        ("the others' largest Hessian is not on the grid", "return cut, grid_floor(cut * (1.0 - cut))", "return cut, cut * (1.0 - cut)"),
        ("each score has a release's noise", "whole += (schema.scores - 1) * (b * b + square * d * d)", "whole += 0"),
        ("the strength of one score", "if schema.scores > 1 else 1.0\n    return p[\"rows\"]", "if schema.scores > 1 and False else 1.0\n    return p[\"rows\"]"),
        ("columns of gradients, then of Hessians", "[[column[j] for pair in sums for column in pair] for j in range(bins)]", "[[pair[side][j] for side in (0, 1) for pair in sums] for j in range(bins)]"),
        ("missing values are in the quantiles", "sorted(running(noisy[1:]))", "sorted(running(noisy))"),
        ("running sums below 0 stay", "[floor0(one) for one in sorted(running(noisy[1:]))]", "sorted(running(noisy[1:]))"),
        ("running sums in order of the bins", "sorted(running(noisy[1:]))", "running(noisy[1:])"),
        ("noisy counts below 0 are none", "sorted(running(noisy[1:]))", "running([floor0(one) for one in noisy[1:]])"),
        ("fine bins are at edges of coarse ones", "found.append(edges[place] + part * (edges[place + 1] - edges[place]))", "found.append(edges[place + 1])"),
        ("no records are anywhere between the bounds", "sums[-1] / 9.0,", "num(0.0),"),
        ("a ninth of all records is anywhere", "sums[-1] / 9.0,", "sums[-1] / 8.0,"),
        ("records anywhere are evenly in the bins", "ninth * width[k] +", "ninth * (float(k + 1) / many) +"),
        ("the noise is evenly between the bounds", "even = width if by_width else", "even = width if True else"),
        ("the coarse histogram's noise is evenly in its bins", "even = width if by_width else", "even = width if False else"),
        ("the noise is that of one bin", "deviation * math.sqrt(len(sums)),", "deviation,"),
        ("the noise is that of the whole share", "math.sqrt(share / 2.0)", "math.sqrt(share)"),
        ("the noise is that of one feature", "touched = len(grove_numeric(schema)) * changed", "touched = changed"),
        ("the coarse histogram takes all of its share", "counts(\"coarse histograms\", shares[0] / 2.0, columns)", "counts(\"coarse histograms\", shares[0], columns)"),
        ("the fine histogram takes all of its share", "counts(\"fine histograms\", shares[0] / 2.0, columns)", "counts(\"fine histograms\", shares[0], columns)"),
        ("thresholds may come twice", "sorted({edges[1 + min(at_or_above(below, one), last)] for one in wanted})", "sorted(edges[1 + min(at_or_above(below, one), last)] for one in wanted)"),
        ("one histogram of the features in reverse", "for own, width in zip(codes, widths) for code in range(width)]", "for own, width in zip(codes[::-1], widths) for code in range(width)]"),
        ("no bins closer to 0", "not p[\"rows\"] < 15.0 * deviation)", "False)"),
        ("bins closer to 0 however noisy", "not p[\"rows\"] < 15.0 * deviation)", "True)"),
        ("bins closer to the low bound", "middle, steps = min(max(num(0.0), low), high),", "middle, steps = low,"),
        ("bins closer to 0 where bounds are far from it", "if closer and not width < 2.0**-20 * max(abs(low), abs(high)):", "if closer:"),
        ("bins as near to others as they come", "if min(abs(one - other) for other in edges) > 2.0**-22 * width]", "]"),
        ("bins closer to 0 by powers of 16", "for power in (5, 10, 15, 20)]", "for power in (4, 8, 12, 16)]"),
        ("missing values are never parted", "if absent / 2.0 > sure else thresholds", "if False else thresholds"),
        ("missing values are parted in the dark", "if absent / 2.0 > sure else thresholds", "if absent > 0 else thresholds"),
        ("missing values are counted once", "if absent / 2.0 > sure else thresholds", "if absent > sure else thresholds"),
        ("missing values are parted as often as others", "if grove_parts(schema, candidates, feature):\n        others", "if False:\n        others"),
        ("half of the splits part missing values", "others, part = own[1:], floor0(u - 0.2) / (1.0 - 0.2)\n        return own[0] if u < 0.2", "others, part = own[1:], floor0(u - 0.5) / (1.0 - 0.5)\n        return own[0] if u < 0.5"),
        ("the first pass leaves missing values with low ones", "    if apart:\n        asked", "    if False:\n        asked"),
        ("the first pass parts missing values first", "asked[2 ** (levels - 1) - 1] = own[0]", "asked[0] = own[0]"),
        ("rows are as many as stated", "wanted = 0.85 * counted if counted + 2.0 * least * math.sqrt(len(noisy)) < stated else stated", "wanted = stated"),
        ("rows are as many as counted", "wanted = 0.85 * counted if counted + 2.0 * least * math.sqrt(len(noisy)) < stated else stated", "wanted = 0.85 * counted"),
        ("nothing is added that all trees leave", "total / (many if", "num(0.0) * total / (many if"),
        ("what all trees leave has the other sign", "clamp(s - one, num(-1.0)", "clamp(one - s, num(-1.0)"),
        ("what all trees leave is over however few", "total / (many if many > least else least)", "total / many"),
        ("what all trees leave is cut to c", "left = [on_grid(clamp(s - one, num(-1.0), num(1.0)))", "left = [on_grid(clamp(s - one, num(-0.25), num(0.25)))"),
        ("what all trees leave is added however noisy", "if abs(total) > 3.0 * sd else num(0.0)", "if True else num(0.0)"),
        ("leaves have what the last release has", "1.0 - apart - start - grove_last(p, schema)", "1.0 - apart - start"),
        ("sums in order of the numbers", "def pairwise(values):\n", "def pairwise(values):\n    return running(values)[-1] if values else num(0.0)\n\n\ndef in_lanes(values):\n"),
        ("every count of labels above its noise stays", "floor0(one) if first <= k <= last else num(0.0) for k, one", "one if one > least else num(0.0) for k, one"),
        ("negative counts of labels stay", "floor0(one) if first <= k <= last", "one if first <= k <= last"),
        ("a run of bins is worth all that is in it", "[one - least for one in noisy]", "list(noisy)"),
        ("a run of bins lacks its last", "first <= k <= last else", "first <= k < last else"),
        ("c never follows the residuals", "p[\"residual\"] is not None or nu < 150 else trees // 10", "True else 0"),
        ("c follows from a fifth of the trees on", "nu < 150 else trees // 10", "nu < 150 else trees // 5"),
        ("c that is given follows the residuals", "p[\"residual\"] is not None or nu < 150", "nu < 150"),
        ("residuals in the label's unit are counted", "clamp(residual / unit, num(-1.0), num(1.0))", "clamp(residual, num(-1.0), num(1.0))"),
        ("residuals are counted with the other sign", "[one - s for one, s in zip(labels[0], scores[0])]", "[s - one for one, s in zip(labels[0], scores[0])]"),
        ("c follows however little it is narrower", "if scale < 0.75 else unit", "if scale < 1.0 else unit"),
        ("c that follows is not on the grid", "return grid_floor(unit * scale)", "return unit * scale"),
        ("c that follows is in units of the label", "return grid_floor(unit * scale)", "return grid_floor(scale)"),
        ("lambda does not follow c", "padding, unit, p = padding * left / unit, left,", "padding, unit, p = padding, left,"),
        ("leaves do not follow c", "padding, unit, p = padding * left / unit, left,", "padding, unit, p = padding * left / unit, unit,"),
        ("gradients do not follow c", "left, {**p, \"residual\": float(left).hex()}", "left, p"),
        ("labels leave nothing for residuals", "both, labels, rows = 0.6 * shares[1] if early else shares[1],", "both, labels, rows = shares[1],"),
        ("the first look at labels takes all of its share", "share = 0.6 * both if again else both", "share = both"),
        ("both looks at labels take the whole share", "start = 0.6 * both if schema.regression and p[\"residual\"] is None else both", "start = both"),
        ("residuals and labels take the whole share", "    both = 0.6 * shares[1] if early else shares[1]\n    start", "    both = shares[1]\n    start"),
        ("labels are looked at once", "again = p[\"residual\"] is None", "again = False"),
        ("c that is given is looked at again", "again = p[\"residual\"] is None", "again = True"),
        ("the second look does not move the centre", "centre, unit = centre + unit * shift,", "centre, unit = centre,"),
        ("the second look moves the centre in the label's unit", "centre, unit = centre + unit * shift,", "centre, unit = centre + shift,"),
        ("the second look does not narrow c", "+ unit * shift, grid_floor(unit * scale)", "+ unit * shift, unit"),
        ("c of the second look is not on the grid", "+ unit * shift, grid_floor(unit * scale)", "+ unit * shift, unit * scale"),
        ("labels nearby are not less the centre", "left = [one - centre for one in labels]", "left = labels"),
        ("most is of what was asked first", "for part in (1.0, 0.5, 0.0):", "for part in (1.0,):"),
        ("no half of what is asked", "for part in (1.0, 0.5, 0.0):", "for part in (1.0, 0.0):"),
        ("nothing is asked", "for part in (1.0, 0.5, 0.0):", "for part in (0.0,):"),
        ("half of the records are most", "stated = pairwise(noisy), 0.85 * float(rows)", "stated = pairwise(noisy), 0.5 * float(rows)"),
        ("all records are most", "stated = pairwise(noisy), 0.85 * float(rows)", "stated = pairwise(noisy), float(rows)"),
        ("few records pay what many do for the start", "0.3 if nu < 20 else 0.15 if nu < 150 else 0.1)", "0.1)"),
        ("few records pay what some do for the start", "0.3 if nu < 20 else 0.15 if nu < 150 else 0.1)", "0.15 if nu < 150 else 0.1)"),
        ("some records pay what many do for the start", "0.3 if nu < 20 else 0.15 if nu < 150 else 0.1)", "0.3 if nu < 20 else 0.1)"),
        ("few records bear no more noise", "0.35 if nu < 150 else 0.25)", "0.25)"),
        ("64 bins of labels whatever the noise", "return next((bins for bins in (64, 32, 16) if not signal < 2.0 * bins), 8)", "return 64"),
        ("the 85% point however far the rest is", "spread if spread > within else within", "within"),
        ("deviations however many are near", "spread if spread > within else within", "spread"),
        ("one deviation", "spread = 1.44 * num", "spread = num"),
        ("the 80% point", "0.85 * total", "0.8 * total"),
        ("shares of classes are not cut", "num(0.005), num(0.98))", "num(0.0001), num(0.9999))"),
        ("bins are not shrunk", "-g * h / (over if over > most else most)", "-g / (h + 1.0)"),
        ("the noise's variance is left out of the shrinkage", "(h * scatter + variance) / (prior", "(h * scatter) / (prior"),
        ("leaves are not cut", "return clamp(-g / (floor0(h) + padding), num(-3.0), num(3.0)) * unit", "return -g / (floor0(h) + padding) * unit"),
        ("leaves in units of the score", "num(3.0)) * unit\n\n\ndef grove_bin", "num(3.0))\n\n\ndef grove_bin"),
        ("leaves without lambda", "-g / (floor0(h) + padding)", "-g / (floor0(h) + 1.0)"),
        ("negative Hessians in leaves", "-g / (floor0(h) + padding)", "-g / (h + padding)"),
        ("lambda does not follow the trees", "* sd * num(math.sqrt(trees)) / most", "* sd / most"),
        ("bins are not cut", "return clamp(value, num(-3.0), num(3.0)) * unit", "return value * unit"),
        ("features are drawn evenly", "if (total := pairwise(merit)) > 0:", "if (total := pairwise(merit)) < 0:"),
        ("all features are steered", "edges = running([(1.0 - explore) * one + explore / many for one in chance])", "edges = running(list(chance))"),
        ("a draw on an edge is below it", "sum(1 for one in edges if one <= u)", "sum(1 for one in edges if one < u)"),
        ("noise is credited", "(apart * apart - noise - scatter", "(apart * apart - scatter"),
        ("credit of records that there are not", "left, right = (ha if ha > least else least), (hb if hb > least else least)", "left, right = ha + 1.0, hb + 1.0"),
        ("credit that noise may have given", "sure = [credit[f] - deviations * num(math.sqrt(doubt[f])) for f in live]", "sure = [credit[f] for f in live]"),
        ("classes have to be sure as well", "deviations = num(2.0 if schema.regression else 0.0)", "deviations = num(2.0)"),
        ("credit without enough records", "if schema.regression or (ha > least and hb > least):", "if True:"),
        ("credit of regressions with enough records alone", "if schema.regression or (ha > least and hb > least):", "if ha > least and hb > least:"),
        ("doubt is not added up", "doubt[f] = doubt[f] + 2.0 *", "doubt[f] = 2.0 *"),
        ("the first pass leaves no doubt", "doubt[feature] = doubt[feature] + pairwise(", "pairwise("),
        ("noise of bins that is as large as their prior", "(over if over > most else most)", "over"),
        ("noise of one feature", "padding = sd * num(math.sqrt(many))", "padding = sd"),
        ("a prior from the last feature alone", "prior = found if before is None else 0.7 * before + 0.3 * found", "prior = found"),
        ("scatter is left out of the prior", "a * a - b * scatter - variance", "a * a - variance"),
        ("scores have one prior", "*state, priors[k], unit)", "*state, priors[k - 1], unit)"),
        ("all levels are always in use", "looked >= 40.0 * schema.scores and parted >= looked", "True"),
        ("five levels are in use at most", "looked >= 40.0 * schema.scores and parted >= looked", "False"),
        ("forty looks whatever the scores", "looked >= 40.0 * schema.scores", "looked >= 40.0"),
        ("lower levels ask their own splits", "for node in range(2**used - 1, 2**depth - 1):", "for node in range(0):"),
        ("the first leaf of each cell", "(wide - 1 if k // wide % 2 else 0)", "0"),
        ("looks go on", "if deep[1] < looks:", "if True:"),
        ("noise counts as parted", "/ (2.0 * variance) - 1.0)", "/ (2.0 * variance))"),
        ("400 trees however large", "400 if nu < 5000 or schema.regression else 800", "400"),
        ("half the trees", "200 if nu < 500 else 400", "100 if nu < 500 else 200"),
        ("the noise of one tree for all", "sd = norm / (mu * math.sqrt(share / count))", "sd = norm / (mu * math.sqrt(share))"),
        ("the Hessian's noise like the gradient's", "(sd / float(a)).hex()", "sd.hex()"),
        ("no room for the grid of statistics", "norm = (root_up(whole) + 2.0**-22) * changed(relation)", "norm = root_up(whole) * changed(relation)"),
        ("one cell of a histogram for all features", "touched = cells * changed(relation)", "touched = changed(relation)"),
        ("what all trees leave is added", "initial = [initial[0] - grove_left(", "initial = [initial[0] + grove_left("),
        ("what all trees leave is forgotten", "initial = [initial[0] - grove_left(", "initial = [initial[0] - 0.0 * grove_left("),
        ("what all trees leave counts where it is above 0", "if abs(total) > 3.0 * sd else", "if total > 3.0 * sd else"),
        ("what all trees leave counts where it is below 0", "if abs(total) > 3.0 * sd else", "if -total > 3.0 * sd else"),
        ("what all trees leave is not cut", "left = [on_grid(clamp(s - one, num(-1.0), num(1.0))) for", "left = [on_grid(s - one) for"),
        ("regressions are as deep as classes", "    if schema.regression:\n        depth = p[\"depth\"] or (3 if nu < 500 else 4 if nu < 3000 else 5)\n", ""),
        ("regressions of few records are a level deeper", "(3 if nu < 500 else 4 if nu < 3000 else 5)", "(4 if nu < 3000 else 5)"),
        ("regressions of some records are a level less deep", "(3 if nu < 500 else 4 if nu < 3000 else 5)", "(3 if nu < 3000 else 5)"),
        ("regressions of many records are a level less deep", "(3 if nu < 500 else 4 if nu < 3000 else 5)", "(3 if nu < 500 else 4)"),
        ("classes of few records are a level deeper", "(4 if nu < 500 else 5 if nu < 5000 else 7)", "(5 if nu < 5000 else 7)"),
        ("classes of some records are a level less deep", "(4 if nu < 500 else 5 if nu < 5000 else 7)", "(4 if nu < 5000 else 7)"),
        ("classes of many records have five levels", "(4 if nu < 500 else 5 if nu < 5000 else 7)", "(4 if nu < 500 else 5)"),
        ("several classes are as strong as two", "more = math.sqrt(1.0 + 0.4 * 0.4 / (0.5 * 0.5)) if schema.scores > 1 else 1.0", "more = 1.0"),
        ("replaced records are as strong as added ones", 'p["rows"] * mu / more / changed(p["relation"])', 'p["rows"] * mu / more'),
        ("credit grows with how often it was seen", "floor0(one / seen[f])", "floor0(one * seen[f])"),
        ("shares of features do not end at 1", "edges = [one / edges[-1] for one in edges]", "edges = list(edges)"),
    ],
}  # fmt: skip
SETTING = '    """One parameter: floats from their hexadecimal form."""\n    value = params[name]\n'
HELD: dict[str, dict[str, float]] = {
    "inprivate": {"split_share": 0.5},
    "dpxgboost": {
        "regularisation": 0.1, "shrinkage": 0.3, "split_part": 1.0, "leaf_part": 1.0, "level_growth": 1.0,
        "tree_growth": 1.0, "count_weight": 0.5,
    },
    "fedgbdt": {"delta": 1e-5, "gradient_bound": 1.0, "regularisation": 1.0, "split_penalty": 1e-7},
    "sgbdt": {
        "delta": 1e-5, "gradient_bound": 0.5, "hessian_bound": 0.25, "label_bound": 1.0, "leaf_clip": 2.0,
        "shrinkage": 0.2, "support_weight": 0.3, "count_share": 0.5,
    },
    "grove": {"delta": 1e-5, "hessian_weight": 1.0, "residual": 0.5},
}  # fmt: skip
"""Settings that a program may have written into it: a value that most vectors have, whatever is given."""
EQUAL = {"settled candidates are drawn again": "changes nothing: a control, which no vector may kill"}


def mutants() -> list[Mutant]:
    """All of them."""
    shared = [Mutant("", *one) for one in SHARED]
    own = [Mutant(paper, *one) for paper, listed in OWN.items() for one in listed]
    return shared + own + [held(paper, *one) for paper, listed in HELD.items() for one in listed.items()]


def held(paper: str, name: str, value: float) -> Mutant:
    """A program that takes this value of a setting that is given."""
    written = f"    if name == {name!r} and value is not None:  # {paper}\n        value = {value.hex()!r}\n"
    return Mutant(paper, f"{name} is {value:g} whatever is given", SETTING, SETTING + written)


@lru_cache(maxsize=1)
def text() -> str:
    """The client's."""
    return (ROOT / "conform" / "clients" / "reference.py").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def envelopes() -> tuple[dict[str, Any], ...]:
    """What programs are run on: all but their own draws."""
    return tuple(body for body in read(ROOT / "conform") if body["kind"] != "statistical")


def client(mutant: Mutant | None) -> Any:
    """The client's `run`, with the mistake."""
    changed = text()
    if mutant is not None:
        assert mutant.old in changed, f"{mutant.mistake}: {mutant.old!r} is not in the client"
        changed = changed.replace(mutant.old, mutant.new)
    module = types.ModuleType("mutant")
    exec(compile(changed, "mutant", "exec"), module.__dict__)
    return module.__dict__["run"]


def killed(mutant: Mutant | None) -> Kill:
    """The first vector that tells the mutant from the specification."""
    run = client(mutant)
    signal.signal(signal.SIGPROF, _too_long)
    for body, test in order(mutant):
        asked = {"id": test["id"], "paper": body["paper"], "operation": test["operations"][0], "input": test["input"]}
        try:
            signal.setitimer(signal.ITIMER_PROF, 10)
            answer = run(asked)
        except Exception as error:
            return Kill(body["kind"], test["id"], f"crash: {type(error).__name__}")
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        found = judge(test, body["kind"], json.loads(json.dumps(answer)))
        if found.outcome == "failed" or (
            found.outcome == "acceptable" and any(differences(test["expect"], answer["output"]))
        ):
            where = found.difference.path if found.difference else ""
            return Kill(body["kind"], test["id"], where.partition(".values")[0] or found.reason)
    return Kill("", "", "")


def _too_long(*_: Any) -> None:
    raise TimeoutError("10 seconds of processor time for one vector")


def order(mutant: Mutant | None) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """All vectors, those of the mutant's paper first."""
    paper = "" if mutant is None else mutant.paper
    for body in sorted(envelopes(), key=lambda one: one["paper"] != paper):
        for test in body["tests"]:
            yield body, test


def page(found: list[tuple[Mutant, Kill]]) -> str:
    """The kill matrix for people."""
    meant = [(m, k) for m, k in found if m.mistake not in EQUAL]
    alive = [m for m, k in meant if not k.kind]
    lines = [
        "# Wrong programs that the vectors kill", "",
        f"**{len(meant) - len(alive)} of {len(meant)} are killed by vectors alone; a control that changes nothing is not.**", "",
        "| question | answer |", "|---|---|",
        "| which are not killed | " + ("; ".join(f"{m.paper or 'all'}: {m.mistake}" for m in alive) or "none") + " |",
        "| what is a wrong program | the Python client (conform/clients/reference.py) with one mistake |",
        "| what is listed | the first vector that it answers otherwise |",
        "| how to hold a program against the vectors | [conformance](conformance.md) |", "",
        "Generated by `python -m tests.conform.mutants --write`.", "",
        "| paper | mistake | killed by | at |", "|---|---|---|---|",
    ]  # fmt: skip
    for mutant, kill in found:
        lines.append(
            f"| {mutant.paper or 'all'} | {mutant.mistake} | {kill.test or '-'} | {kill.path.replace('|', '/')} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    found = []
    for mutant in mutants():
        found.append((mutant, killed(mutant)))
        print(f"{mutant.paper or 'all':10} {mutant.mistake:55} {found[-1][1].test or 'ALIVE'}", flush=True)
    if "--write" in sys.argv:
        PAGE.write_text(page(found), encoding="utf-8")
    print(page(found).splitlines()[5])


if __name__ == "__main__":
    main()
