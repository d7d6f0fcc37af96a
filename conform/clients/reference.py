"""A conformance client in the standard library alone: all operations of all five papers, slowly.

    python conform/clients/reference.py              answers JSON lines on standard input (see docs/conformance.md)
    python conform/clients/reference.py --check DIR  the independent checker: recomputes every exact vector below DIR

It imports neither refdp nor numpy. As a checker it computes with `Rounded`, which takes every sum, difference, product
and quotient as a Fraction and rounds it once, half to even, so that no floating-point unit is trusted.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

GRID = 2.0**-24
NAN, INF = math.nan, math.inf


class Refused(Exception):
    """The input is outside the specification."""


# --- Numbers ----------------------------------------------------------------------------------------------------------


class Rounded(float):
    """A binary64 number whose arithmetic goes through Fractions."""

    def _with(self, other, exact, plain):
        if math.isfinite(self) and math.isfinite(other):
            found = exact(Fraction(float(self)), Fraction(float(other)))
            if found != 0:
                try:
                    return Rounded(found.numerator / found.denominator)
                except OverflowError:
                    pass
        return Rounded(plain(float(self), float(other)))

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b, lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._with(other, lambda a, b: a / b, lambda a, b: a / b)

    def __radd__(self, other):
        return Rounded(other) + self

    def __rsub__(self, other):
        return Rounded(other) - self

    def __rmul__(self, other):
        return Rounded(other) * self

    def __rtruediv__(self, other):
        return Rounded(other) / self

    def __neg__(self):
        return Rounded(-float(self))

    def __abs__(self):
        return Rounded(abs(float(self)))


NUMBER = [float]


def num(value):
    """A number of the present kind."""
    return NUMBER[0](value)


def rint(x):
    """The nearest whole number, half to even, with the sign of x."""
    return num(math.copysign(round(float(x)), float(x)))


def on_grid(x):
    """The nearest multiple of 2^-24, half to even."""
    return rint(x / GRID) * GRID


def grid_floor(x):
    """The largest multiple of 2^-24 that is at most x >= 0."""
    return num(math.floor(x / GRID)) * GRID


def clamp(x, low, high):
    """min(max(x, low), high)."""
    return low if x < low else high if x > high else x


def _powers():
    bits, root = 400, 1 << 401
    for _ in range(8):
        root = math.isqrt(root << bits)
    found = [1 << bits]
    for _ in range(255):
        found.append(found[-1] * root >> bits)
    return [float(Fraction(one, 1 << bits)) for one in found]


POWERS = _powers()
LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")


def exp(x):
    """e^x by the specification's operations."""
    if x < -708.0:
        return num(0.0)
    if x > 709.78:
        return num(INF)
    x = num(x)
    n = round(float(x * (256 * 1.4426950408889634)))
    r = x - num(float(n)) * (LN2_HIGH / 256)
    r = r - num(float(n)) * (LN2_LOW / 256)
    out = r * (1.0 / 24.0)
    for coefficient in (1.0 / 6.0, 0.5, 1.0):
        out = (out + coefficient) * r
    part = POWERS[n & 255]
    return (out * part + part) * 2.0 ** (n >> 8)


def log(x):
    """log x by the specification's operations."""
    if not 0 < x < INF:
        return num(-INF if x == 0 else x if x > 0 else NAN)
    mantissa, power = math.frexp(x)
    if mantissa < math.sqrt(0.5):
        mantissa, power = mantissa * 2, power - 1
    m, power = num(mantissa), num(float(power))
    f = (m - 1.0) / (m + 1.0)
    square = f * f
    terms = [1.0 / (2 * k + 1) for k in range(11)]
    series = square * terms[-1]
    for coefficient in terms[-2:0:-1]:
        series = (series + coefficient) * square
    tail = 2.0 * f * series + power * LN2_LOW
    return power * LN2_HIGH + (tail + 2.0 * f)


def expm1(x):
    """e^x - 1."""
    u = exp(x)
    if 0 < u != 1 and u < 2.0**60:
        return (u - 1.0) * (x / log(u))
    return num(x) if u == 1 else u - 1.0


def log1p(x):
    """log(1 + x)."""
    u = num(1.0) + x
    if 0 < u != 1 and u < INF:
        return log(u) * (x / (u - 1.0))
    return num(x) if u == 1 else log(u)


# --- JSON -------------------------------------------------------------------------------------------------------------


def array(body):
    """A flat list and its shape."""
    shape = body["shape"]
    if len(body["values"]) != math.prod(shape):
        raise Refused("an array of another shape")
    if body["dtype"] == "int64":
        return [int(one) for one in body["values"]], shape
    return [num(float.fromhex(one)) for one in body["values"]], shape


def flat(body):
    """The values of an array."""
    return array(body)[0]


def rows(body):
    """A two-dimensional array as a list of rows."""
    values, (count, width) = array(body)
    return [values[k * width : (k + 1) * width] for k in range(count)]


def out(values, *shape):
    """An array of floats from nested lists."""
    found, size = values, []
    while isinstance(found, list):
        size.append(len(found))
        found = found[0] if found else None
    plain = [float(one).hex() for one in _leaves(values)]
    return {"dtype": "float64", "shape": list(shape) or size, "values": plain}


def out_whole(values):
    """A list of whole numbers."""
    return {"dtype": "int64", "shape": [len(values)], "values": [str(int(one)) for one in values]}


def _leaves(values):
    if isinstance(values, list):
        for one in values:
            yield from _leaves(one)
    else:
        yield values


def setting(params, name):
    """One parameter: floats from their hexadecimal form."""
    value = params[name]
    hexadecimal = isinstance(value, str) and value.lstrip("-").startswith(("0x", "inf", "nan"))
    return num(float.fromhex(value)) if hexadecimal else value


class Schema:
    """Features with bounds or categories, and the target."""

    def __init__(self, body):
        self.features = body["features"]
        self.target = body["target"]
        self.categorical = ["categories" in one for one in self.features]
        self.regression = "values" not in self.target
        classes = 0 if self.regression else len(self.target["values"])
        self.scores = classes if classes > 2 else 1

    def bounds(self, f):
        """Lower and upper bound of a numeric feature."""
        return num(number(self.features[f]["low"])), num(number(self.features[f]["high"]))

    def label(self, output, y):
        """Moved into its bounds and then in [-1, 1] for a regression, else 1 for the class and 0 for the rest."""
        if self.regression:
            low, high = num(number(self.target["low"])), num(number(self.target["high"]))
            return 2.0 * (clamp(y, low, high) - low) / (high - low) - 1.0
        return num(1.0 if y == (output if self.scores > 1 else 1) else 0.0)


def number(value):
    """A float from JSON."""
    return float.fromhex(value) if isinstance(value, str) else float(value)


# --- Candidates, codes, trees -----------------------------------------------------------------------------------------


def uniform_grid(low, high, count):
    """low + (q / (count + 1)) (high - low)."""
    return [low + (num(float(q)) / float(count + 1)) * (high - low) for q in range(1, count + 1)]


def inner_uniform_grid(low, high, count):
    """low + (q (high - low)) / (count + 1)."""
    return [low + num(float(q)) * (high - low) / float(count + 1) for q in range(1, count + 1)]


def log_grid(low, high, count):
    """low + (expm1(q / (count + 1) log 1001) / 1000) (high - low)."""
    top = log(num(1001.0))
    return [low + expm1(num(float(q)) / float(count + 1) * top) / 1000.0 * (high - low) for q in range(1, count + 1)]


def inner_log_grid(low, high, count):
    """low - 1 + exp(q log(1 + high - low) / (count + 1))."""
    top = log(1.0 + high - low)
    return [low - 1.0 + exp(num(float(q)) * top / float(count + 1)) for q in range(1, count + 1)]


GRIDS = {"uniform": uniform_grid, "log": log_grid, "inner-uniform": inner_uniform_grid, "inner-log": inner_log_grid}


def thresholds_of(kind, low, high, count):
    """Sorted, repetitions dropped; none where the bounds are equal."""
    return sorted(set(GRIDS[kind](low, high, count))) if low < high else []


def candidates_of(schema, kind, count):
    """Thresholds of every numeric feature, categories of the others."""
    found = []
    for f, one in enumerate(schema.features):
        if schema.categorical[f]:
            found.append([num(float(c)) for c in range(len(one["categories"]))])
        else:
            found.append(thresholds_of(kind, *schema.bounds(f), count))
    return found


def code_of(x, thresholds):
    """0 for a missing value, else 1 + number of thresholds <= x."""
    return 0 if x != x else 1 + sum(1 for t in thresholds if t <= x)


def category_code(x, categories):
    """0 for a missing or unknown category, else 1 + index."""
    return 1 + math.floor(x) if x == x and 0 <= x < categories else 0


def goes_right(x, value, categorical, missing_right):
    """Whether a record of value x goes to the right child."""
    if x != x:
        return missing_right
    return x == value if categorical else x >= value


def leaf_of(x, splits, categorical):
    """The leaf of one record in a full tree, splits level by level."""
    node = 0
    while node < len(splits):
        split = splits[node]
        f = int(split[0])
        node = 2 * node + 1 + int(goes_right(x[f], split[1], categorical[f], len(split) > 2 and split[2] > 0))
    return node - len(splits)


def bin_counts(candidates, categorical):
    """Number of codes of each feature."""
    return [len(t) + (1 if c else 2) for t, c in zip(candidates, categorical)]


def codes_of(x, candidates, categorical):
    """The codes of one record."""
    return [category_code(v, len(t)) if c else code_of(v, t) for v, t, c in zip(x, candidates, categorical)]


def add_exactly(values):
    """Sums of multiples of the grid have no rounding."""
    return num(sum(int(float(v) / GRID) for v in values) * GRID)


def bin_table(codes, members, nodes, columns, bins):
    """Sums of every column (None: count) by node and bin: [column][node][bin]."""
    units = [[[0] * sum(bins) for _ in range(nodes)] for _ in columns]
    for i, node in enumerate(members):
        for c, column in enumerate(columns):
            weight = 2**24 if column is None else int(float(column[i]) / GRID)
            start = 0
            for f, size in enumerate(bins):
                units[c][node][start + codes[i][f]] += weight
                start += size
    return [[[num(u * GRID) for u in row] for row in table] for table in units]


def node_table(members, nodes, columns):
    """Sums of every column by node: [column][node]."""
    units = [[0] * nodes for _ in columns]
    for i, node in enumerate(members):
        for c, column in enumerate(columns):
            units[c][node] += 2**24 if column is None else int(float(column[i]) / GRID)
    return [[num(u * GRID) for u in row] for row in units]


def options_of(candidates):
    """All candidates (feature, value) in order."""
    return [[num(float(f)), t] for f, thresholds in enumerate(candidates) for t in thresholds]


def sides(table, candidates, categorical):
    """Sums to the left and right of every candidate of one node's bins, and the missing values' of its feature."""
    bins = bin_counts(candidates, categorical)
    total, start, found = add_exactly(table[: bins[0]]), 0, []
    for f, thresholds in enumerate(candidates):
        own = table[start : start + bins[f]]
        for j in range(len(thresholds)):
            right = own[j + 1] if categorical[f] else add_exactly(own[j + 2 :])
            found.append((total - right, right, own[0]))
        start += bins[f]
    return found


def descend(members, x, splits, categorical):
    """One level down: right children are 2k + 1."""
    found = []
    for i, node in enumerate(members):
        split = splits[node]
        f = int(split[0])
        right = goes_right(x[i][f], split[1], categorical[f], len(split) > 2 and split[2] > 0)
        found.append(2 * node + int(right))
    return found


# --- Mechanisms -------------------------------------------------------------------------------------------------------


def snap(x, scale):
    """Rounded to 2^(floor(log2 scale) - 32), half to even."""
    exponent = math.frexp(scale)[1] - 1 - 32
    try:
        steps = math.ldexp(x, -exponent)
    except OverflowError:
        return x
    return x if abs(steps) >= 2.0**52 else num(math.ldexp(rint(steps), exponent))


def to_grid(x, step):
    """The index of the nearest multiple of the step, half to even."""
    return int(rint(x / step))


def noisy(mechanism, value, standard, width):
    """One output for each value; width: entries of the last axis."""
    name = mechanism["name"]
    scale = mechanism["scale"] if "scale" in mechanism else mechanism["sd"]
    scales = [num(number(one)) for one in (scale if isinstance(scale, list) else [scale] * width)]
    if name.startswith("Discrete"):
        step = num(number(mechanism["step"]))
        return [step * float(to_grid(v, step) + z) for v, z in zip(value, standard)]
    return [snap(v + scales[i % width] * z, scales[i % width]) for i, (v, z) in enumerate(zip(value, standard))]


def chosen_option(utilities, standard, mechanism):
    """The option of one row: the first greatest, or by racing the first smallest."""
    coefficient, best = num(number(mechanism["coefficient"])), max(utilities)
    weights = [coefficient * (u - best) for u in utilities]
    if mechanism["sampler"] == "racing":
        times = [INF if w == -INF else log(z) - w for w, z in zip(weights, standard)]
        return times.index(min(times))
    scores = [w + z for w, z in zip(weights, standard)]
    return scores.index(max(scores))


def law_of(mechanism):
    """Name and parameter of the standard draws that a mechanism takes."""
    name = mechanism["name"]
    if name == "Exponential":
        return ["gumbel" if mechanism["sampler"] == "gumbel" else "exponential"]
    if name in ("Laplace", "Gaussian"):
        return ["laplace" if name == "Laplace" else "normal"]
    step = Fraction(number(mechanism["step"]))
    if name == "DiscreteLaplace":
        return ["discrete-laplace", str(Fraction(number(mechanism["scale"])) / step)]
    sd = mechanism["sd"]
    squares = [str((Fraction(number(one)) / step) ** 2) for one in (sd if isinstance(sd, list) else [sd])]
    return ["discrete-gaussian", squares if isinstance(sd, list) else squares[0]]


class Tape:
    """Entries in order; anything else than the next one is refused."""

    def __init__(self, entries):
        self.entries, self.at, self.releases = entries, 0, []

    def take(self, path, kind, shape, law=None):
        """The next entry; law: that of a draw or a sample."""
        if self.at >= len(self.entries):
            raise Refused("the tape ends too early")
        entry = self.entries[self.at]
        self.at += 1
        if entry["path"] != path or entry["kind"] != kind or (shape is not None and entry["shape"] != shape):
            raise Refused(f"{entry['path']} is listed, {path} of shape {shape} was asked for")
        if law is not None and entry["law"] != law:
            raise Refused(f"{path}: another law")
        values = flat(entry)
        name, *rest = entry["law"]
        whole = name.startswith("discrete") or name in ("index", "integers") or kind == "assign"
        if entry["dtype"] != ("int64" if whole else "float64") or not all(-INF < one < INF for one in values):
            raise Refused(f"{path}: values of another kind, or a NaN or an infinity")
        least, most = -1 if kind == "assign" else 0, 1
        if kind != "release":
            most = rest[0] if name == "integers" else len(rest[0]) if name in ("partition", "shares") else 1
        if kind != "release" and not all(least <= one < most for one in values):
            raise Refused(f"{path}: a value outside its range")
        return entry, values

    def finish(self):
        """Nothing may be left."""
        if self.at != len(self.entries):
            raise Refused("the tape goes on after the run")

    def noise(self, path, value, mechanism=None):
        """Release nested lists of numbers; mechanism: the program's own, else that of the tape."""
        body = out(value)
        entry, standard = self.take(path, "release", body["shape"])
        mechanism = mechanism or entry["mechanism"]
        if entry["law"] != law_of(mechanism):
            raise Refused(f"{path}: another law")
        found = noisy(mechanism, list(_leaves(value)), standard, body["shape"][-1])
        self.releases.append({"path": path, "value": body, "output": out(found, *body["shape"])})
        return found

    def choose(self, path, table, options, mechanism=None):
        """Release one option for each row of utilities."""
        width = len(options)
        entry, standard = self.take(path, "release", None)
        mechanism = mechanism or entry["mechanism"]
        if entry["law"] == ["index"]:
            picks = [int(one) for one in standard]
            if entry["shape"] != [len(table)] or not all(0 <= pick < width for pick in picks):
                raise Refused(f"{path}: choices that are none")
            if any(row[pick] == -INF for row, pick in zip(table, picks)):
                raise Refused(f"{path}: an excluded option")
        elif entry["law"] != law_of(mechanism) or entry["shape"] != [len(table), width]:
            raise Refused(f"{path}: another law or shape")
        else:
            picks = [chosen_option(u, standard[k * width : (k + 1) * width], mechanism) for k, u in enumerate(table)]
        found = [options[pick] for pick in picks]
        self.releases.append({"path": path, "value": out(table), "output": out(found)})
        return found


# --- The shared parts of training -------------------------------------------------------------------------------------


def advance(scores, leaf, values, weight):
    """Scores of all records after a tree."""
    steps = [weight * v for v in values]
    return [s + steps[k] for s, k in zip(scores, leaf)]


def ensemble(initial, weights, trees):
    """One score's model."""
    return {
        "initial": float(initial).hex(),
        "weights": [float(w).hex() for w in weights],
        "trees": [{"splits": out(s, len(s), len(s[0]) if s else 2), "leaves": out(v)} for s, v in trees],
    }


def selected(members, block):
    """Positions of the records in a block."""
    return [i for i, m in enumerate(members) if m == block]


def at_least(exact):
    """The smallest float that is not below a fraction."""
    found = float(exact)
    return found if Fraction(found) >= exact else math.nextafter(found, INF)


def quotient_up(a, b):
    """A float q with a <= q b."""
    q = a / b
    while Fraction(q) * Fraction(b) < Fraction(a):
        q = math.nextafter(q, INF)
    return q


def quotient_down(a, b):
    """A float q with q b <= a."""
    q = a / b
    while Fraction(q) * Fraction(b) > Fraction(a):
        q = math.nextafter(q, -INF)
    return q


def noise_step(scale):
    """The power of two with 1024 to 2048 steps in a scale."""
    return math.ldexp(1.0, math.frexp(scale)[1] - 1) / 1024


def root_up(square):
    """A root, at most an ulp above the nearest float and never below the true one."""
    found = math.sqrt(square)
    return found if Fraction(found) ** 2 >= square else math.nextafter(found, INF)


def usable(*numbers):
    """What a release is made of has to leave its squares finite."""
    if not all(2.0**-500 <= one <= 2.0**500 for one in numbers):
        raise Refused("a budget, a bound or noise beyond floats")


def usable_noise(size, step=None):
    """A scale or a deviation; step: of discrete noise."""
    usable(size, size if step is None else step)
    if step is not None and size > 2.0**57 * step:
        raise Refused("noise of more than 2^57 steps")


def gaussian_charge(mu, bound, relation, noise, touched):
    """Gaussian noise of an L2 sensitivity, on a grid where it is discrete."""
    usable(mu, bound)
    if noise == "floating":
        usable_noise(quotient_up(bound, mu))
        mechanism = {"name": "Gaussian", "sd": quotient_up(bound, mu).hex()}
    else:
        step = noise_step(bound / mu)
        bound = at_least(Fraction(bound) + Fraction(step) * Fraction(root_up(touched)))
        usable_noise(quotient_up(bound, mu), step)
        mechanism = {"name": "DiscreteGaussian", "sd": quotient_up(bound, mu).hex(), "step": step.hex()}
    return mechanism, {"bound": bound.hex(), "norm": "2", "relation": relation}


def renyi_epsilon(order, rho, delta):
    """Canonne, Kamath, Steinke 2020, Proposition 12."""
    return rho + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1)


def changed(relation):
    """How many records differ between neighbours."""
    return 1 if relation == "add-remove" else 2


def sampled_by(relation):
    """The law of a sample."""
    return "poisson" if relation == "add-remove" else "without-replacement"


def exponential_charge(epsilon, bound, relation, sampler="gumbel"):
    """The exponential mechanism of a range, and its sensitivity."""
    usable(epsilon, bound)
    coefficient = quotient_down(epsilon, bound)
    usable(coefficient)
    mechanism = {"name": "Exponential", "coefficient": coefficient.hex(), "sampler": sampler}
    return mechanism, {"bound": bound.hex(), "norm": "range", "relation": relation}


def laplace_charge(epsilon, bound, relation, noise, touched):
    """Laplace noise of an L1 sensitivity, on a grid where it is discrete."""
    usable(epsilon, bound)
    if noise == "floating":
        usable_noise(quotient_up(bound, epsilon))
        mechanism = {"name": "Laplace", "scale": quotient_up(bound, epsilon).hex()}
    else:
        step = noise_step(bound / epsilon)
        bound = step * math.floor(bound / step + touched)
        usable_noise(quotient_up(bound, epsilon), step)
        mechanism = {"name": "DiscreteLaplace", "scale": quotient_up(bound, epsilon).hex(), "step": step.hex()}
    return mechanism, {"bound": bound.hex(), "norm": "1", "relation": relation}


def release(name, charge):
    """One release of a plan."""
    return {"release": name, "mechanism": charge[0], "sensitivity": charge[1]}


def sequence(events):
    """Events one after the other, flat; one alone is itself."""
    found = []
    for event in events:
        found += event.get("sequential", [event])
    return found[0] if len(found) == 1 else {"sequential": found}


def share_down(exact):
    """A share rounded down to a multiple of 2^-53."""
    return math.floor(Fraction(exact) * 2**53) / 2**53


def check(params, domains):
    """Parameters within their domains: (least, most, open below, open above); those that are names known ones."""
    for name, known in WORDS.items():
        if name in params and params[name] not in known:
            raise Refused(f"{name} = {params[name]}")
    for name, (least, most, above, below) in domains.items():
        value = setting(params, name)
        if not (least <= value <= most) or (above and value == least) or (below and value == most):
            raise Refused(f"{name} = {value}")


EPSILON = (1e-60, 1e15, False, False)
WORDS = {
    "relation": ("add-remove", "replace-one"),
    "noise": ("discrete", "floating"),
    "gradients": ("filter", "clip"),
    "candidates": ("uniform", "log", "sketch", "quantiles", "iterative-hessian"),
    "scheme": ("dpboost", "seq", "para", "inprivate", "np"),
    "turn_budget": ("whole", "amplified"),
    "loss": ("square", "log"),
    "gain": ("newton", "count"),
    "sketch_per": ("tree", "run"),
    "missing": ("learned", "left"),
    "leaf": ("laplace", "minimum", "average"),
    "stopping": ("never", "noisy"),
    "sampler": ("racing", "gumbel"),
    "update": ("newton", "gradient", "averaging"),
    "one_vs_rest": ("divided", "together"),
    "features": ("uniform", "cyclic"),
    "values": ("uniform", "grid"),
    "weights": ("relative", "slides"),
    "orders": ("one", "joint", "shared"),
    "splits": ("histogram", "partially-random", "totally-random"),
    "interactions": ("cyclic", "random"),
    "accounting": ("exact", "renyi"),
    "noise_by": ("aggregator", "record"),
    "sensitivities": ("joint", "by-round"),
    "support": ("additive", "max"),
}


# --- DPBoost ----------------------------------------------------------------------------------------------------------


def dpboost_check(p):
    """Domains of the parameters."""
    check(
        p,
        {
            "epsilon": EPSILON,
            "trees": (1, 1e6, False, False),
            "trees_per_ensemble": (1, 1e6, False, False),
            "depth": (1, 16, False, False),
            "bins": (1, 60000, False, False),
            "regularisation": (GRID, INF, False, True),
            "shrinkage": (0.001, 1, False, True),
            "gradient_bound": (GRID, 1024, True, False),
        },
    )


def dpboost_statistics(p, schema, score, label):
    """g on the grid, and whether the record is used."""
    g = on_grid(score - label)
    bound = setting(p, "gradient_bound")
    if p["gradients"] == "clip":
        g = clamp(g, -grid_floor(bound), grid_floor(bound))
    return {"g": g, "h": num(1.0)}, abs(g) <= bound


def signed_label(p, schema, output, y):
    """In [-1, 1], or 1 for the class and -1 for the rest."""
    label = schema.label(output, y)
    return label if schema.regression else 2.0 * label - 1.0


def dpboost_gain(left, right, p):
    """G_L^2 / (n_L + lambda) + G_R^2 / (n_R + lambda)."""
    lam = setting(p, "regularisation")
    return left[0] * left[0] / (left[1] + lam) + right[0] * right[0] / (right[1] + lam)


def dpboost_leaf(g, n, p, clip):
    """-G / (n + lambda), clipped."""
    return clamp(-g / (n + setting(p, "regularisation")), -clip, clip)


def dpboost_blocks(p):
    """(share, clip) of every tree of every ensemble."""
    size = {"dpboost": p["trees_per_ensemble"], "para": p["trees"]}.get(p["scheme"], 1)
    found = []
    for start in range(0, p["trees"], size):
        count = min(size, p["trees"] - start)
        found.append([dpboost_block(p, t, count) for t in range(count)])
    return found


def dpboost_block(p, t, count):
    """Share of the records and clipping threshold of tree t of an ensemble."""
    bound = float(setting(p, "gradient_bound"))
    if p["scheme"] == "para":
        return share_down(Fraction(1, 2 ** (t + 1))), bound
    if p["scheme"] != "dpboost":
        return 1.0, bound
    with localcontext(prec=100):
        eta = Decimal(float(setting(p, "shrinkage")))
        clip = Decimal(bound) * (1 - eta) ** t
        return share_down(Fraction(eta * (1 - eta) ** t / (1 - (1 - eta) ** count))), float(clip)


def dpboost_split_charge(p, epsilon):
    """The choice of a level's splits."""
    bound = at_least(changed(p["relation"]) * 4 * Fraction(float(setting(p, "gradient_bound"))) ** 2)
    return exponential_charge(epsilon / (2 * p["depth"]), bound, p["relation"])


def dpboost_leaf_charge(p, epsilon, clip):
    """The release of a tree's leaf values."""
    g, lam, c = (
        Fraction(float(setting(p, "gradient_bound"))),
        Fraction(float(setting(p, "regularisation"))),
        Fraction(clip),
    )
    one = min(g / (1 + lam), 2 * c, (g + c) / (2 + lam))
    bound = at_least(changed(p["relation"]) * one)
    return laplace_charge(epsilon / 2, bound, p["relation"], p["noise"], changed(p["relation"]))


def dpboost_epsilon(p, schema):
    """Budget of one tree."""
    return float(setting(p, "epsilon")) / len(dpboost_blocks(p)) / schema.scores


def dpboost_plan(p, schema):
    """Everything that a run releases."""
    dpboost_check(p)
    epsilon, events = dpboost_epsilon(p, schema), []
    for _ in range(schema.scores):
        for blocks in dpboost_blocks(p):
            trees = []
            for _, clip in blocks:
                levels = [release(f"splits of level {d}", dpboost_split_charge(p, epsilon)) for d in range(p["depth"])]
                trees.append(sequence([*levels, release("leaves", dpboost_leaf_charge(p, epsilon, clip))]))
            events.append({"partition": [share.hex() for share, _ in blocks], "events": trees})
    return sequence(events)


def grow(x, columns, used, candidates, categorical, depth, choose, extra=()):
    """Levels of splits; the splits level by level, and where every used record ends."""
    bins = bin_counts(candidates, categorical)
    codes = [codes_of(x[i], candidates, categorical) for i in used]
    members, chosen = [0] * len(used), []
    for level in range(depth):
        table = bin_table(codes, members, 2**level, columns, bins)
        splits = choose(level, table)
        chosen += splits
        members = descend(members, [x[i] for i in used], splits, categorical)
    return chosen, members


def dpboost_train(p, schema, x, y, tape):
    """Algorithm 2 with Algorithm 1 inside."""
    dpboost_check(p)
    candidates = candidates_of(schema, p["candidates"], p["bins"])
    options, model, epsilon = options_of(candidates), [], dpboost_epsilon(p, schema)
    for output in range(schema.scores):
        labels = [signed_label(p, schema, output, one) for one in y]
        scores, trees = [num(0.0)] * len(y), []
        for number_, blocks in enumerate(dpboost_blocks(p)):
            scope = f"score {output}/ensemble {number_}"
            _, block_of = tape.take(scope, "assign", [len(y)], ["partition", [share.hex() for share, _ in blocks]])
            for t, (_, clip) in enumerate(blocks):
                path = f"{scope} {t}" if len(blocks) > 1 else scope
                found = [dpboost_statistics(p, schema, s, label) for s, label in zip(scores, labels)]
                used = [i for i in selected(block_of, t) if found[i][1]]
                g = [found[i][0]["g"] for i in used]

                def choose(level, table, path=path):
                    utility = []
                    for node in range(2**level):
                        both = zip(
                            sides(table[0][node], candidates, schema.categorical),
                            sides(table[1][node], candidates, schema.categorical),
                        )
                        utility.append([dpboost_gain((a[0], b[0]), (a[1], b[1]), p) for a, b in both])
                    return tape.choose(
                        f"{path}/splits of level {level}", utility, options, dpboost_split_charge(p, epsilon)[0]
                    )

                splits, members = grow(x, [g, None], used, candidates, schema.categorical, p["depth"], choose)
                sums = node_table(members, 2 ** p["depth"], [g, None])
                value = [dpboost_leaf(a, b, p, num(clip)) for a, b in zip(*sums)]
                leaves = tape.noise(f"{path}/leaves", value, dpboost_leaf_charge(p, epsilon, clip)[0])
                trees.append((splits, leaves))
                leaf = [leaf_of(one, splits, schema.categorical) for one in x]
                scores = advance(scores, leaf, leaves, setting(p, "shrinkage"))
        model.append(ensemble(0.0, [setting(p, "shrinkage")] * len(trees), trees))
    return model


# --- InPrivate Digging ------------------------------------------------------------------------------------------------


def inprivate_check(p):
    """Domains of the parameters."""
    check(
        p,
        {
            "epsilon": EPSILON,
            "owners": (1, 1e5, False, False),
            "rounds": (1, 60, False, False),
            "depth": (1, 16, False, False),
            "bins": (1, 60000, False, False),
            "split_share": (0, 1, True, True),
            "residual_bound": (GRID, 1024, True, False),
            "leaf_bound": (0, 1e100, True, False),
            "damping": (0, INF, False, True),
            "shrinkage": (0, 1, True, False),
        },
    )


def inprivate_statistics(p, schema, score, label):
    """Residual and curvature on the grid."""
    bound = grid_floor(setting(p, "residual_bound"))
    if schema.regression:
        return {"r": on_grid(clamp(label - score, -bound, bound)), "c": num(1.0)}, True
    r = on_grid(clamp(2.0 * label / (1.0 + exp(2.0 * label * score)), -bound, bound))
    return {"r": r, "c": on_grid(abs(r) * (2.0 - abs(r)))}, True


def inprivate_gain(left, right, p):
    """G_L^2/n_L + G_R^2/n_R - G^2/n, 0 for an empty node."""

    def part(g, n):
        return g * g / (n if n > 1 else num(1.0))

    return part(*left) + part(*right) - part(left[0] + right[0], left[1] + right[1])


def inprivate_leaf(numerator, denominator, p, mechanism):
    """Numerator over a denominator of at least max(1, damping * scale), cut."""
    least = max(num(1.0), setting(p, "damping") * num(number(mechanism["scale"])))
    bound = setting(p, "leaf_bound")
    return clamp(numerator / (denominator if denominator > least else least), -bound, bound)


def inprivate_dealt(p):
    """Probability of every turn, in order."""
    shares = [1.0] if p["rounds"] == 1 else [share_down(Fraction(1, 2**t)) for t in range(1, p["rounds"] + 1)]
    return [share_down(Fraction(s) / p["owners"]) for s in shares for _ in range(p["owners"])]


def inprivate_turn(p):
    """Epsilon of a turn: more than the run's where a record may be in none."""
    epsilon = float(setting(p, "epsilon"))
    if p["turn_budget"] == "whole" or p["rounds"] == 1 or p["relation"] != "add-remove":
        return epsilon
    return before_sampling(epsilon, float(1 - Fraction(1, 2 ** p["rounds"])))


def inprivate_split_charge(p, schema):
    """The choice of a level's splits."""
    bound = at_least(4 * changed(p["relation"]) * Fraction(float(setting(p, "residual_bound"))) ** 2)
    epsilon = float(setting(p, "split_share")) * (inprivate_turn(p) / schema.scores) / (p["depth"] - 1)
    return exponential_charge(epsilon, bound, p["relation"])


def inprivate_leaf_charge(p, schema):
    """Both sums of all leaves."""
    one = Fraction(float(setting(p, "residual_bound"))) + 1 if schema.regression else Fraction(9, 4)
    share = float(setting(p, "split_share")) if p["depth"] > 1 else 0
    epsilon = (1 - share) * (inprivate_turn(p) / schema.scores)
    bound = at_least(changed(p["relation"]) * one)
    return laplace_charge(epsilon, bound, p["relation"], p["noise"], 2 * changed(p["relation"]))


def inprivate_plan(p, schema):
    """Everything that a run releases."""
    inprivate_check(p)
    turns = []
    for _ in inprivate_dealt(p):
        trees = []
        for _ in range(schema.scores):
            trees += [release(f"splits of level {d}", inprivate_split_charge(p, schema)) for d in range(p["depth"] - 1)]
            trees.append(release("leaves", inprivate_leaf_charge(p, schema)))
        turns.append(sequence(trees))
    return {"partition": [share.hex() for share in inprivate_dealt(p)], "events": turns}


def inprivate_train(p, schema, x, y, tape):
    """Algorithm 2 with all owners in one run."""
    inprivate_check(p)
    candidates = candidates_of(schema, p["candidates"], p["bins"])
    options, turns = options_of(candidates), inprivate_dealt(p)
    labels = [[signed_label(p, schema, k, one) for one in y] for k in range(schema.scores)]
    scores, trees = [[num(0.0)] * len(y) for _ in labels], [[] for _ in labels]
    dealt = ["partition", [share.hex() for share in turns]]
    _, block_of = tape.take("owner and round", "assign", [len(y)], dealt)
    for t in range(len(turns)):
        scope = f"owner and round {t}" if len(turns) > 1 else "owner and round"
        used, made = selected(block_of, t), []
        for k in range(schema.scores):
            found = [inprivate_statistics(p, schema, scores[k][i], labels[k][i])[0] for i in used]
            r, c = [one["r"] for one in found], None if schema.regression else [one["c"] for one in found]

            def choose(level, table, path=f"{scope}/score {k}"):
                utility = []
                for node in range(2**level):
                    both = zip(
                        sides(table[0][node], candidates, schema.categorical),
                        sides(table[1][node], candidates, schema.categorical),
                    )
                    utility.append([inprivate_gain((a[0], b[0]), (a[1], b[1]), p) for a, b in both])
                return tape.choose(
                    f"{path}/splits of level {level}", utility, options, inprivate_split_charge(p, schema)[0]
                )

            splits, members = grow(x, [r, None], used, candidates, schema.categorical, p["depth"] - 1, choose)
            sums = node_table(members, 2 ** (p["depth"] - 1), [r, c])
            mechanism = inprivate_leaf_charge(p, schema)[0]
            got, width = tape.noise(f"{scope}/score {k}/leaves", sums, mechanism), 2 ** (p["depth"] - 1)
            made.append((splits, [inprivate_leaf(a, b, p, mechanism) for a, b in zip(got[:width], got[width:])]))
        for k, (splits, leaves) in enumerate(made):
            trees[k].append((splits, leaves))
            leaf = [leaf_of(one, splits, schema.categorical) for one in x]
            scores[k] = advance(scores[k], leaf, leaves, setting(p, "shrinkage"))
    return [ensemble(0.0, [setting(p, "shrinkage")] * len(turns), own) for own in trees]


# --- DP-XGBoost -------------------------------------------------------------------------------------------------------


def chained(lists):
    """One list."""
    return [one for own in lists for one in own]


def dpxgboost_check(p):
    """Domains of the parameters."""
    check(
        p,
        {
            "epsilon": EPSILON,
            "trees": (1, 1e5, False, False),
            "depth": (1, 12, False, False),
            "bins": (1, 254, False, False),
            "sketch_bins": (2, 255, False, False),
            "subsample": (0, 1, True, False),
            "regularisation": (GRID, INF, False, True),
            "child_minimum": (1, 1e9, False, False),
            "gradient_bound": (GRID, 1024, True, False),
            "columns": (0, 1, True, False),
            "delta": (0, 1, False, True),
            "ratio_bound": (GRID, INF, True, True),
            "shrinkage": (0, 1e100, True, False),
            **{f"{name}_part": (0, INF, True, True) for name in ("sketch", "split", "count", "leaf")},
            **dict.fromkeys(("count_weight", "level_growth", "tree_growth"), (0, INF, True, True)),
        },
    )


def dpxgboost_newton(p):
    """Whether gains divide by Hessians."""
    return p["loss"] == "log" and p["gain"] == "newton"


def dpxgboost_bounds(p):
    """h* and the largest |g|."""
    highest = num(1.0 if p["loss"] == "square" else 0.25)
    bound = setting(p, "gradient_bound")
    if p["loss"] == "log":
        bound = min(bound, num(1.0))
        bound = min(bound, setting(p, "ratio_bound") * highest) if dpxgboost_newton(p) else bound
    return highest, bound


def dpxgboost_label(p, schema, output, y):
    """As `signed_label` for square loss, 0 or 1 for log loss."""
    return schema.label(output, y) if p["loss"] == "log" else signed_label(p, schema, output, y)


def dpxgboost_statistics(p, schema, score, label):
    """g, h and the filter."""
    bound, h = setting(p, "gradient_bound"), num(1.0)
    g = on_grid(score - label)
    if p["loss"] == "log":
        probability = 1.0 / (1.0 + exp(-clamp(score, -700.0, 700.0)))
        g, h = on_grid(probability - label), on_grid(probability * (1.0 - probability))
    if p["gradients"] == "clip":
        g = clamp(g, -grid_floor(bound), grid_floor(bound))
    used = abs(g) <= bound
    if dpxgboost_newton(p):
        ratio = setting(p, "ratio_bound")
        cut = clamp(g, -ratio * h, ratio * h)
        g = num(math.copysign(math.trunc(cut / GRID), cut)) * GRID
    return {"g": g, "h": h}, used


def dpxgboost_gains(left, right, missing, p):
    """Gains with missing values left, and right if learned."""
    ways = [(left, right)]
    if p["missing"] == "learned":
        ways.append(((left[0] - missing[0], left[1] - missing[1]), (right[0] + missing[0], right[1] + missing[1])))
    return [dpboost_gain(a, b, p) for a, b in ways]


def dpxgboost_utilities(tables, candidates, categorical, p):
    """Of one node: all candidates with missing values left, then all with missing values right."""
    both = zip(sides(tables[0], candidates, categorical), sides(tables[1], candidates, categorical))
    found = [dpxgboost_gains((a[0], b[0]), (a[1], b[1]), (a[2], b[2]), p) for a, b in both]
    return [one[way] for way in range(len(found[0])) for one in found]


def dpxgboost_leaf(g, n, p):
    """-G / (max(n, N) + lambda)."""
    least = num(float(p["child_minimum"] if p["leaf"] == "minimum" else 0))
    return -g / ((n if n > least else least) + setting(p, "regularisation"))


def dpxgboost_average(g, weighted, weight, p):
    """Algorithm 1 from noisy sums."""
    highest, bound = dpxgboost_bounds(p)
    least, bound = highest * float(p["child_minimum"]), bound / highest
    size = weighted / weight
    average = (g + 0.0) / ((size if size > least else least) + setting(p, "regularisation"))
    return -clamp(average, -bound, bound)


def dpxgboost_parted(weights, count):
    """At most `count` edges, 1 to bins - 1, that part weights >= 0 evenly, by a pruned weighted quantile summary."""
    value = [j for j, w in enumerate(weights) if w > 0]
    own, through, total = [weights[j] for j in value], [], num(0.0)
    for w in own:
        total = w if not through else total + w
        through.append(total)
    below, last = [t - w for t, w in zip(through, own)], len(own) - 1
    found = value
    if len(value) > count + 1:
        middle = [(a + b) / 2.0 for a, b in zip(below, through)]
        answers = []
        for k in range(count + 1):
            rank = total * float(k) / float(count)
            index = max(sum(1 for m in middle if m <= rank) - 1, 0)
            after = min(index + 1, last)
            nearer = 2.0 * rank >= (below[index] + own[index]) + (through[after] - own[after])
            answers.append(after if middle[0] <= rank < middle[-1] and nearer else index)
        found = [value[a] for a in sorted(set(answers))]
    return found[1:] or [len(weights) // 2]


def dpxgboost_edges(noisy, count):
    """At most `count` edges that part noisy weights; without a positive one all bins count alike."""
    kept = [w if w > 0 else num(0.0) for w in noisy]
    return dpxgboost_parted(kept if any(kept) else [num(1.0)] * len(kept), count)


def dpxgboost_sketch(p, weights, path, tape):
    """Edges of every feature from one noisy histogram of all."""
    noise, found = tape.noise(path, [w for one in weights for w in one]), []
    for one in weights:
        found.append(dpxgboost_edges(noise[: len(one)], p["bins"]))
        noise = noise[len(one) :]
    return found


def dpxgboost_halvings(count):
    """How often intervals are halved for at most `count` quantiles."""
    return max(1, (count + 1).bit_length() - 1)


def dpxgboost_halves(weights, edges, most):
    """Utilities of the edges below `most` in each interval between a feature's edges so far."""
    sums, bins, table = [num(0.0)], len(weights), []
    for w in weights:
        sums.append(sums[-1] + w)
    ends = [0, *(min(max(e, 0), bins) for e in sorted(edges)), bins]
    for low, high in itertools.pairwise(ends):
        inside = [low <= e <= high and e < bins for e in range(1, most)]
        table.append([
            -abs((sums[e] - sums[low]) - (sums[high] - sums[e])) / 2.0 if inside[e - 1] else num(-INF)
            for e in range(1, most)
        ])  # fmt: skip
    return table


def dpxgboost_medians(p, weights, path, tape):
    """Edges of every feature by halving all intervals of its bins."""
    most, chosen = max(map(len, weights)), [[] for _ in weights]
    for level in range(dpxgboost_halvings(p["bins"])):
        table = chained(dpxgboost_halves(one, edges, most) for one, edges in zip(weights, chosen))
        options = [[num(float(e))] for e in range(1, most)]
        picks = [int(one[0]) for one in tape.choose(f"{path} {level}", table, options)]
        for f, edges in enumerate(chosen):
            own, picks = picks[: len(edges) + 1], picks[len(edges) + 1 :]
            chosen[f] = [e for pair in zip(own, [*edges, None]) for e in pair if e is not None]
    return [sorted(set(edges)) for edges in chosen]


def dpxgboost_candidates(p, schema, candidates, features, codes, h, scope, tape):
    """What a tree, or a run, may split on: of each feature some of its candidates, none where it is not there."""
    found = [one if f in features else [] for f, one in enumerate(candidates)]
    asked = [f for f in features if not schema.categorical[f]]
    if p["candidates"] == "uniform" or not asked:
        return found
    bins = bin_counts(candidates, schema.categorical)
    table = bin_table(codes, [0] * len(codes), 1, [h], bins)[0][0]
    weights = [table[sum(bins[:f]) + 1 : sum(bins[: f + 1])] for f in asked]
    if p["candidates"] == "sketch":
        edges = dpxgboost_sketch(p, weights, f"{scope}/sketch", tape)
    else:
        edges = dpxgboost_medians(p, weights, f"{scope}/medians", tape)
    for f, own in zip(asked, edges):
        found[f] = [candidates[f][e - 1] for e in own]
    return found


def dpxgboost_seen(p, features):
    """How many of so many features of a kind a tree sees."""
    return min(features, max(1, round(float(setting(p, "columns")) * features)))


def dpxgboost_kinds(schema):
    """Numeric features that can be split, and categorical ones."""
    every = range(len(schema.features))
    numeric = [f for f in every if not schema.categorical[f] and schema.bounds(f)[0] < schema.bounds(f)[1]]
    return numeric, [f for f in every if schema.categorical[f]]


def dpxgboost_columns(p, schema, scope, tape):
    """The features of a tree, of each kind those with the smallest public numbers."""
    if setting(p, "columns") == 1:
        return sorted(chained(dpxgboost_kinds(schema)))
    drawn = tape.take(f"{scope}/columns", "draw", [len(schema.features)], ["uniform"])[1]
    found = []
    for kind in dpxgboost_kinds(schema):
        found += sorted(kind, key=lambda f: drawn[f])[: dpxgboost_seen(p, len(kind))]
    return sorted(found)


def dpxgboost_unsplit(p, schema):
    """A split that sends every record left."""
    f = min(chained(dpxgboost_kinds(schema)))
    high = len(schema.features[f]["categories"]) if schema.categorical[f] else math.nextafter(schema.bounds(f)[1], INF)
    return [num(float(f)), num(float(high)), num(0.0)][: 2 if p["missing"] == "left" else 3]


def dpxgboost_grown(p, schema, x, used, g, h, candidates, scope, tape):
    """A tree's splits, and where every used record ends."""
    plain = options_of(candidates)
    options = plain if p["missing"] == "left" else [[*one, num(side)] for side in (0.0, 1.0) for one in plain]
    second = None if p["loss"] == "log" and p["gain"] == "count" else h
    bins = bin_counts(candidates, schema.categorical)
    inside, members, chosen = [x[i] for i in used], [0] * len(used), []
    codes = [codes_of(one, candidates, schema.categorical) for one in inside]
    for level in range(p["depth"]):
        table = bin_table(codes, members, 2**level, [g, second], bins)
        utility = [
            dpxgboost_utilities([table[0][k], table[1][k]], candidates, schema.categorical, p) for k in range(2**level)
        ]
        splits = tape.choose(f"{scope}/splits of level {level}", utility, options)
        if p["stopping"] == "noisy":
            there = node_table(descend(members, inside, splits, schema.categorical), 2 ** (level + 1), [None])[0]
            count = tape.noise(f"{scope}/counts of level {level}", there)
            least = [min(count[2 * k], count[2 * k + 1]) for k in range(2**level)]
            enough = [one >= p["child_minimum"] for one in least]
            splits = [one if right else dpxgboost_unsplit(p, schema) for one, right in zip(splits, enough)]
        chosen += splits
        members = descend(members, inside, splits, schema.categorical)
    return chosen, members


def dpxgboost_train(p, schema, x, y, tape):
    """Boosting on public candidates, noisy sketches or quantiles."""
    dpxgboost_check(p)
    if p["loss"] == "log" and schema.regression:
        raise Refused("log loss of a regression")
    public = p["bins"] if p["candidates"] == "uniform" else p["sketch_bins"] - 1
    grid, model = candidates_of(schema, "uniform", public), []
    codes = [codes_of(one, grid, schema.categorical) for one in x]
    rate = setting(p, "subsample")
    for output in range(schema.scores):
        labels = [dpxgboost_label(p, schema, output, one) for one in y]
        scores, trees, shared = [num(0.0)] * len(y), [], None
        if p["sketch_per"] == "run":
            found = [dpxgboost_statistics(p, schema, num(0.0), label) for label in labels]
            used, every = [i for i in range(len(y)) if found[i][1]], sorted(chained(dpxgboost_kinds(schema)))
            own = [codes[i] for i in used], [found[i][0]["h"] for i in used]
            shared = dpxgboost_candidates(p, schema, grid, every, *own, f"score {output}", tape)
        for t in range(p["trees"]):
            scope = f"score {output}/tree {t}"
            features = dpxgboost_columns(p, schema, scope, tape)
            found = [dpxgboost_statistics(p, schema, s, label) for s, label in zip(scores, labels)]
            used = list(range(len(y)))
            if rate < 1:
                law = [sampled_by(p["relation"]), float(rate).hex()]
                used = selected(tape.take(f"{scope}/rows", "assign", [len(y)], law)[1], 0)
                scope = f"{scope}/rows"
            used = [i for i in used if found[i][1]]
            g, h = [found[i][0]["g"] for i in used], [found[i][0]["h"] for i in used]
            if shared is None:
                own = [codes[i] for i in used], h
                candidates = dpxgboost_candidates(p, schema, grid, features, *own, scope, tape)
            else:
                candidates = [one if f in features else [] for f, one in enumerate(shared)]
            splits, members = dpxgboost_grown(p, schema, x, used, g, h, candidates, scope, tape)
            width = 2 ** p["depth"]
            if p["leaf"] == "average":
                highest, bound = dpxgboost_bounds(p)
                weight = setting(p, "count_weight") * bound / highest
                sums = node_table(members, width, [g, h])
                got = tape.noise(f"{scope}/leaves", [[s * 1.0 for s in sums[0]], [s * weight for s in sums[1]]])
                leaves = [dpxgboost_average(a, b, weight, p) for a, b in zip(got[:width], got[width:])]
            else:
                sums = node_table(members, width, [g, None])
                leaves = tape.noise(f"{scope}/leaves", [dpxgboost_leaf(a, b, p) for a, b in zip(*sums)])
            trees.append((splits, leaves))
            leaf = [leaf_of(one, splits, schema.categorical) for one in x]
            scores = advance(scores, leaf, leaves, setting(p, "shrinkage"))
        model.append(ensemble(0.0, [setting(p, "shrinkage")] * len(trees), trees))
    return model


def dpxgboost_budget(p, schema):
    """epsilon of the run's sketch, and of sketch, each level's choice and counts, and leaves of every sampled tree."""
    asked = p["candidates"] != "uniform" and dpxgboost_kinds(schema)[0]
    sketch = float(setting(p, "sketch_part")) if asked else 0.0
    split, leaf = float(setting(p, "split_part")), float(setting(p, "leaf_part"))
    count = float(setting(p, "count_part")) if p["stopping"] == "noisy" else 0.0
    score, once = float(setting(p, "epsilon")) / schema.scores, 0.0
    if p["sketch_per"] == "run":
        once, sketch = score * sketch / (sketch + split + count + leaf), 0.0
    levels, found = shares_of(setting(p, "level_growth"), p["depth"]), []
    for share in shares_of(setting(p, "tree_growth"), p["trees"]):
        spent, rate = (score - once) * share, float(setting(p, "subsample"))
        unit = before_sampling(spent, rate) / (sketch + split + count + leaf)
        counts = [unit * count / len(levels)] * len(levels) if count else []
        found.append((unit * sketch, [unit * split * part for part in levels], counts, unit * leaf))
    return once, found


def before_sampling(epsilon, rate):
    """What costs epsilon once a record is there with probability `rate`."""
    return float(epsilon - log(rate) if epsilon >= 500 else log1p(expm1(num(epsilon)) / rate))


def shares_of(growth, count):
    """Shares of sum 1, each `growth` times the one before."""
    weights = [1.0]
    while len(weights) < count:
        weights.append(weights[-1] * float(growth))
    whole = weights[0]
    for one in weights[1:]:  # from left to right: `sum` compensates from Python 3.12 on
        whole += one
    return [one / whole for one in weights]


def dpxgboost_bound(p):
    """The range of a choice and the L1 sensitivity of the leaves, with the coordinates that change."""
    highest, bound = (float(one) for one in dpxgboost_bounds(p))
    relation, lam = changed(p["relation"]), Fraction(float(setting(p, "regularisation")))
    exact = Fraction(bound)
    most = at_least(4 * relation * exact * exact)
    if dpxgboost_newton(p):
        most = at_least(4 * relation * Fraction(highest) * Fraction(float(setting(p, "ratio_bound"))) ** 2)
    least = p["child_minimum"]
    if p["leaf"] == "average":
        weight = Fraction(float(setting(p, "count_weight")) * bound / highest)
        return most, at_least(relation * (exact + weight * Fraction(highest))), 2 * relation
    if p["leaf"] == "minimum":
        one = (2 * least + lam) * exact / ((least + lam) * (least + 1 + lam))
        return most, at_least(relation * one), relation
    return most, at_least(relation * exact / (1 + lam)), relation


def dpxgboost_sketches(p, schema, epsilon):
    """The releases of one sketch, or of quantiles; none where nothing is sketched."""
    numeric = len(dpxgboost_kinds(schema)[0])
    if p["candidates"] == "uniform" or not numeric:
        return []
    size = dpxgboost_seen(p, numeric) if p["sketch_per"] == "tree" else numeric
    bound = at_least(size * changed(p["relation"]) * Fraction(float(dpxgboost_bounds(p)[0])))
    if p["candidates"] == "sketch":
        touched = size * changed(p["relation"])
        return [release("sketch", laplace_charge(epsilon, bound, p["relation"], p["noise"], touched))]
    levels = dpxgboost_halvings(p["bins"])
    charge = exponential_charge(epsilon / levels, bound, p["relation"], p["sampler"])
    return [release(f"medians {level}", charge) for level in range(levels)]


def dpxgboost_plan(p, schema):
    """Everything that a run releases."""
    dpxgboost_check(p)
    if p["loss"] == "log" and schema.regression:
        raise Refused("log loss of a regression")
    if setting(p, "delta") > 0:
        raise NotImplementedError("plans with a delta")
    (most, bound, touched), relation = dpxgboost_bound(p), p["relation"]
    method, events = sampled_by(relation), []
    once, trees = dpxgboost_budget(p, schema)
    for _ in range(schema.scores):
        events += dpxgboost_sketches(p, schema, once) if p["sketch_per"] == "run" else []
        for sketch, levels, counts, leaves in trees:
            made = dpxgboost_sketches(p, schema, sketch) if p["sketch_per"] == "tree" else []
            for d, one in enumerate(levels):
                made.append(release(f"splits of level {d}", exponential_charge(one, most, relation, p["sampler"])))
                if counts:
                    r = changed(relation)
                    charge = laplace_charge(counts[d], float(r), relation, p["noise"], r)
                    made.append(release(f"counts of level {d}", charge))
            made.append(release("leaves", laplace_charge(leaves, bound, relation, p["noise"], touched)))
            if setting(p, "subsample") == 1:
                events += made
            else:
                rate = float(setting(p, "subsample")).hex()
                events.append({"subsample": rate, "method": method, "event": sequence(made)})
    return sequence(events)


# --- Federated framework, totally random ------------------------------------------------------------------------------


def fedgbdt_check(p):
    """Domains of the parameters."""
    check(
        p,
        {
            "epsilon": EPSILON,
            "delta": (0, 1, True, True),
            "depth": (1, 12, False, False),
            "bins": (1, 60000, False, False),
            "trees": (1, 1e6, False, False),
            "batch": (1, 1e6, False, False),
            "regularisation": (0, INF, True, True),
            "shrinkage": (0, 1e100, True, False),
            "leaf_clip": (0, 1e100, True, False),
            "gradient_bound": (GRID, 1024, True, False),
            "split_penalty": (0, INF, False, True),
            "rounds": (1, 1e6, False, False),
            "records_each": (1, 1e6, False, False),
            **({} if p["features_per_tree"] is None else {"features_per_tree": (1, 1e6, False, False)}),
            **({} if p["batch_share"] is None else {"batch_share": (0, 1, True, False)}),
        },
    )


def fedgbdt_trees(p, schema):
    """Trees of a score, and of a batch."""
    trees = p["trees"] * (len(schema.features) if p["trees_per_feature"] else 1)
    share = p["batch_share"]
    return trees, p["batch"] if share is None else max(1, math.floor(float(setting(p, "batch_share")) * trees))


def plain_label(p, schema, output, y):
    """In [-1, 1], or 1 for the class and 0 for the rest."""
    return schema.label(output, y)


def fedgbdt_statistics(p, schema, score, label):
    """(g, h); h follows from the gradient before it is rounded."""
    forest = p["update"] == "averaging"
    if schema.regression:
        bound = grid_floor(setting(p, "gradient_bound"))
        return {"g": on_grid(label) if forest else clamp(on_grid(score - label), -bound, bound), "h": num(1.0)}, True
    gradient = 1.0 / (1.0 + exp(-score)) - label
    h = fedgbdt_hessian(gradient) if p["update"] == "newton" else num(1.0)
    return {"g": on_grid(label if forest else gradient), "h": h}, True


def fedgbdt_hessian(gradient):
    """|g| (1 - |g|), then rounded."""
    return on_grid(abs(gradient) * (1.0 - abs(gradient)))


def fedgbdt_weight(g, h, p):
    """-G / (H + lambda), 0 where H is not positive."""
    return g * 0.0 if h <= 0 else -g / (h + setting(p, "regularisation"))


def fedgbdt_leaf(g, h, p, schema):
    """What a leaf adds to a score."""
    if p["update"] != "averaging":
        clip = setting(p, "leaf_clip")
        return setting(p, "shrinkage") * clamp(fedgbdt_weight(g, h, p), -clip, clip)
    if not schema.regression:
        return fedgbdt_average(g, h)
    return 2.0 * fedgbdt_average((g + h) / 2.0, h) - 1.0


def fedgbdt_average(g, h):
    """G / H in [0, 1], 1/2 where H is not positive; a cut below gives a zero of the sign of G."""
    return (0.0 * g + 1.0) / 2.0 if h <= 0 else clamp(g / h, 0.0 * g, num(1.0))


def fedgbdt_decrease(g, h, p):
    """-2 (G w + (H + lambda) w^2 / 2) at the clipped weight."""
    lam, clip = setting(p, "regularisation"), setting(p, "leaf_clip")
    positive = h if h > 0 else num(0.0)
    w = clamp(-g / (positive + lam), -clip, clip) if h > 0 else num(0.0)
    return -2.0 * (g * w + (positive + lam) * w * w / 2.0)


def fedgbdt_score(left, right, p):
    """Half the decrease of both children over that of the parent, less the penalty."""
    parent = fedgbdt_decrease(left[0] + right[0], left[1] + right[1], p)
    return (fedgbdt_decrease(*left, p) + fedgbdt_decrease(*right, p) - parent) / 2.0 - setting(p, "split_penalty")


def random_tree(candidates, categorical, uniform, depth):
    """A feature, then one of its open candidates, for every node level by level."""
    place = [(f, j) for f, t in enumerate(candidates) for j in range(len(t))]
    opened, chosen = {0: [True] * len(place)}, []
    for node in range(2**depth - 1):
        mask = opened[node]
        pickable = mask if any(mask) else [True] * len(place)
        features = sorted({f for (f, _), free in zip(place, pickable) if free})
        f = features[pick(uniform[node][0], len(features))]
        own = [k for k, (feature, _) in enumerate(place) if feature == f and pickable[k]]
        k = own[pick(uniform[node][1], len(own))]
        chosen.append([num(float(f)), candidates[f][place[k][1]]])
        left, right = list(mask), list(mask)
        for other, (feature, _) in enumerate(place):
            if feature == f:
                left[other] = mask[other] and (other != k if categorical[f] else other < k)
                right[other] = mask[other] and not categorical[f] and other > k
        opened[2 * node + 1], opened[2 * node + 2] = left, right
    return chosen


def pick(u, count):
    """floor(u count), at most count - 1."""
    return min(int(u * float(count)), count - 1)


def fedgbdt_train(p, schema, x, y, tape):
    """Algorithm 1, totally random, uniform candidates."""
    fedgbdt_check(p)
    if (
        p["splits"] != "totally-random"
        or p["candidates"] == "iterative-hessian"
        or p["features_per_tree"] not in (None, len(schema.features))
    ):
        raise NotImplementedError("totally random trees on all features, candidates from bounds")
    candidates, model = candidates_of(schema, f"inner-{p['candidates']}", p["bins"]), []
    trees_in_all, size = fedgbdt_trees(p, schema)
    width, nodes = 2 ** p["depth"], 2 ** p["depth"] - 1
    for output in range(schema.scores):
        labels = [plain_label(p, schema, output, one) for one in y]
        scores, trees, weights = [num(0.0)] * len(y), [], []
        for first in range(1, trees_in_all + 1, size):
            batch = range(first, min(first + size, trees_in_all + 1))
            found = [fedgbdt_statistics(p, schema, s, label)[0] for s, label in zip(scores, labels)]
            g = [one["g"] for one in found]
            h = None if schema.regression or p["update"] != "newton" else [one["h"] for one in found]
            placed = []
            for t in batch:
                _, u = tape.take(f"score {output}/tree {t}/splits", "draw", [nodes, 2], ["uniform"])
                splits = random_tree(
                    candidates, schema.categorical, [u[2 * k : 2 * k + 2] for k in range(nodes)], p["depth"]
                )
                placed.append((splits, [leaf_of(one, splits, schema.categorical) for one in x]))
            share, moved = num(1.0) / float(trees_in_all if p["update"] == "averaging" else len(batch)), []
            for t, (splits, leaf) in zip(batch, placed):
                got = tape.noise(f"score {output}/tree {t}/leaves", node_table(leaf, width, [g, h]))
                leaves = [fedgbdt_leaf(a, b, p, schema) for a, b in zip(got[:width], got[width:])]
                trees.append((splits, leaves))
                weights.append(share)
                moved.append((leaf, leaves))
            for leaf, leaves in moved:
                scores = advance(scores, leaf, leaves, share)
        model.append(ensemble(0.0, weights, trees))
    return model


def fedgbdt_mu(epsilon, delta, exact, noise):
    """What all queries of a score may cost, in Gaussian privacy, rounded down to 32 bits.

    Exact for continuous noise, a 65,536th less for discrete noise of many steps; or by Renyi orders.
    """
    orders = [1.25 + k / 4 for k in range(248)] + [128.0, 256.0, 512.0]
    if not exact and not min(renyi_epsilon(a, 0.0, delta) for a in orders) < epsilon / 2:
        orders += [2.0**k for k in range(10, 41)]

    def fits(mu):
        if exact:
            return gaussian_delta(mu, epsilon) <= delta
        return min(renyi_epsilon(a, a * mu * mu / 2, delta) for a in orders) <= epsilon

    low, high = 0.0, 64.0
    while fits(high):
        low, high = high, 2 * high
    for _ in range(52):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    mantissa, exponent = math.frexp(low * (1 - 2.0**-16) if exact and noise == "discrete" else low)
    return math.ldexp(math.floor(mantissa * 2**32), exponent - 32)


def fedgbdt_plan(p, schema):
    """Everything that a run of totally random trees releases."""
    fedgbdt_check(p)
    if (
        p["splits"] != "totally-random" or p["candidates"] == "iterative-hessian" or p["sensitivities"] != "joint"
        or p["noise_by"] != "aggregator"
    ):  # fmt: skip
        raise NotImplementedError("plans of scored splits, Hessian candidates, by-round sensitivities, other hosts")
    relation, noise = p["relation"], p["noise"]
    kind = "gradient" if schema.regression else p["update"]
    c = Fraction(float(setting(p, "gradient_bound"))) if schema.regression and p["update"] != "averaging" else 1
    added = {"newton": Fraction(1), "averaging": Fraction(2), "gradient": Fraction(c * c + 1)}[kind]
    replaced = {"newton": Fraction(4), "averaging": Fraction(4), "gradient": Fraction(max(4 * c * c, 2 * c * c + 2))}
    square = added if relation == "add-remove" else replaced[kind]
    models, queries = (1, schema.scores) if p["one_vs_rest"] == "together" else (schema.scores, 1)
    parts = float(setting(p, "epsilon")) / models, float(setting(p, "delta")) / models
    trees, each = fedgbdt_trees(p, schema)[0], p["records_each"]
    mu = fedgbdt_mu(*parts, p["accounting"] == "exact", noise) / math.sqrt(queries * trees)
    bound = at_least(each * Fraction(root_up(square)))
    charge = gaussian_charge(mu, bound, relation, noise, 2 * changed(relation) * each)
    return sequence([release("leaves", charge)] * (trees * schema.scores))


# --- S-GBDT -----------------------------------------------------------------------------------------------------------


def sgbdt_check(p):
    """Domains of the parameters."""
    check(
        p,
        {
            "epsilon": EPSILON,
            "delta": (0, 1, True, True),
            "trees": (1, 10000, False, False),
            "extra_trees": (0, 10000, False, False),
            "depth": (1, 8, False, False),
            "grid_points": (1, 60000, False, False),
            "subsample": (0, 1, True, False),
            "shrinkage": (0, 1, True, False),
            "gradient_bound": (2 * GRID, 1, False, False),
            "hessian_bound": (2 * GRID, 1, False, False),
            "label_bound": (2 * GRID, 1, False, False),
            "regularisation": (0, INF, True, True),
            "leaf_clip": (0, 1e100, True, False),
            "support_weight": (0, 1, True, True),
            "count_share": (0, 1, True, True),
            "initial_share": (0, 1, False, True),
        },
    )


def sgbdt_statistics(p, schema, score, label):
    """Clipped derivatives on the grid."""
    g_bound, h_bound = grid_floor(setting(p, "gradient_bound")), grid_floor(setting(p, "hessian_bound"))
    if schema.regression:
        return {"g": clamp(on_grid(score - label), -g_bound, g_bound), "h": num(1.0)}, True
    probability = 1.0 / (1.0 + exp(-score))
    g = clamp(on_grid(probability - label), -g_bound, g_bound)
    return {"g": g, "h": clamp(on_grid(probability * (1.0 - probability)), num(0.0), h_bound)}, True


def sgbdt_leaf(g, h, p):
    """-u / w clamped, 0 where w is not positive."""
    lam, clip = setting(p, "regularisation"), setting(p, "leaf_clip")
    support = lam + h if p["support"] == "additive" else (h if h > lam else lam)
    return clamp(-g / support, -clip, clip) if support > 0 else num(0.0)


def grid_indices(features, where, width, points):
    """For every node an index that its path has not ruled out."""
    first = [[0] * width for _ in features]
    last = [[points - 1] * width for _ in features]
    found = []
    for node, f in enumerate(features):
        left = first[node][f]
        count = max(last[node][f] - left + 1, 0)
        chosen = min(left + int(where[node] * float(count)), points - 1)
        found.append(chosen)
        for child in (2 * node + 1, 2 * node + 2):
            if child < len(features):
                first[child], last[child] = list(first[node]), list(last[node])
        if 2 * node + 2 < len(features):
            last[2 * node + 1][f] = min(last[node][f], chosen - 1)
            first[2 * node + 2][f] = max(left, chosen + 1)
    return found


def sgbdt_splits(p, schema, tree, prefix, tape):
    """The public splits of one tree."""
    nodes, width = 2 ** p["depth"] - 1, len(schema.features)
    if p["features"] == "uniform":
        features = tape.take(f"{prefix}/features", "draw", [nodes], ["integers", width])[1]
    else:
        features = [tree % width] * nodes
    where = tape.take(f"{prefix}/values", "draw", [nodes], ["uniform"])[1]
    share = where
    if p["values"] == "grid":
        points = p["grid_points"]
        share = [num(float(one)) / float(points) for one in grid_indices(features, where, width, points)]
    splits = []
    for node, f in enumerate(features):
        if schema.categorical[f]:
            value = num(float(math.floor(where[node] * float(len(schema.features[f]["categories"])))))
        else:
            low, high = schema.bounds(f)
            value = low + share[node] * (high - low)
        splits.append([num(float(f)), value])
    return splits


def sgbdt_initial(p, schema, labels, prefix, tape):
    """Noisy mean of the clamped labels, or its logit."""
    if setting(p, "initial_share") == 0:
        return num(0.0)
    bound = grid_floor(setting(p, "label_bound"))
    low = -bound if schema.regression else num(0.0)
    total = add_exactly([on_grid(clamp(one, low, bound)) for one in labels])
    count = tape.noise(f"{prefix}/count", [num(float(len(labels)))])[0]
    noisy_sum = tape.noise(f"{prefix}/labels", [total])[0]
    mean = noisy_sum / (count if count > 1 else num(1.0))
    if schema.regression:
        return clamp(mean, -bound, bound)
    inside = clamp(mean, num(0.01), num(1.0) - 0.01)
    return log(inside / (1.0 - inside))


ROOM, KNOTS, LARGEST_ORDER, KNOWN = 1e-9, 1025, 2000, {}
FEW = sorted({round(2.0 * 1000.0 ** (k / 59)) for k in range(60)})


def sampled_cost(order, rate, t):
    """a(alpha, gamma, t)."""
    if rate == 1:
        return order * t
    if (order, rate) not in KNOWN:
        logs = [math.lgamma(order + 1) - math.lgamma(n + 1) - math.lgamma(order - n + 1) for n in range(order + 1)]
        logs = [w + (order - n) * math.log1p(-rate) + n * math.log(rate) for n, w in enumerate(logs)]
        KNOWN[order, rate] = (
            logs[2:],
            [math.exp(w) for w in logs[2:]],
            [float(n * (n - 1)) for n in range(2, order + 1)],
        )
    logs, weights, powers = KNOWN[order, rate]
    if powers[-1] * t < 700:
        return math.log1p(sum(w * math.expm1(n * t) for w, n in zip(weights, powers))) / (order - 1)
    top = max(w + n * t for w, n in zip(logs, powers))
    rest = sum(math.exp(w + n * t - top) - math.exp(w - top) for w, n in zip(logs, powers))
    return (top + math.log(rest + math.exp(-top))) / (order - 1)


def best_sampled(rounds, rate, delta, sigma, orders):
    """(epsilon, order) of the best of some orders; from one order on it only rises."""
    best = INF, orders[0]
    for order in orders:
        found = renyi_epsilon(order, rounds * sampled_cost(order, rate, 1 / (sigma * sigma)), delta)
        if found < best[0]:
            best = found, order
        elif found > 1.5 * best[0]:
            break
    return best


def near_orders(order):
    """Within a fifth of it."""
    return [one for one in range(2, LARGEST_ORDER + 1) if abs(one - order) <= 0.2 * order]


def best_order(rounds, rate, delta, sigma):
    """The order of least epsilon."""
    return best_sampled(rounds, rate, delta, sigma, near_orders(best_sampled(rounds, rate, delta, sigma, FEW)[1]))[1]


def least_sigma(epsilon, delta, rounds, rate):
    """The search of the specification."""
    target = epsilon - 10 * ROOM

    def meets(sigma, orders):
        return best_sampled(rounds, rate, delta, sigma, orders)[0] <= target

    def bisected(low, high, accuracy, orders):
        while high > low * (1 + accuracy):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if meets(middle, orders) else (middle, high)
        return high

    low = high = 2.0**24
    if not meets(low, FEW):
        raise Refused("no sigma up to 2^24 suffices")
    while meets(low, FEW):
        low, high = low / 2, low
    rough = bisected(low, high, 1e-4, FEW)
    return bisected(0.99 * rough, rough, 1e-7, near_orders(best_order(rounds, rate, delta, rough)))


def sgbdt_bounds(p, schema):
    """g* and h* on the grid."""
    return grid_floor(setting(p, "gradient_bound")), num(1.0) if schema.regression else grid_floor(
        setting(p, "hessian_bound")
    )


def sgbdt_cost(p, g, h, bounds, squared):
    """What a record pays in a round, over alpha and before sampling."""
    r1 = setting(p, "support_weight")
    if p["weights"] == "slides":
        return (r1 * h * h + (1 - r1) * g * g) / squared
    g, h = g / bounds[0], h / bounds[1]
    return (r1 * h * h + (1 - r1) * g * g) / squared


def sgbdt_sigma(p, schema):
    """sigma of the budget."""
    rounds, rate = p["trees"] * schema.scores, float(setting(p, "subsample"))
    epsilon = float(setting(p, "epsilon")) * (1 - float(setting(p, "initial_share")))
    key = epsilon, float(setting(p, "delta")), rounds, rate
    if key not in KNOWN:
        KNOWN[key] = least_sigma(*key)
    return KNOWN[key]


def sgbdt_squared(p, schema):
    """sigma squared in the parametrisation of the weights."""
    squared, bounds = sgbdt_sigma(p, schema) ** 2, sgbdt_bounds(p, schema)
    return squared if p["weights"] == "relative" else squared * float(sgbdt_cost(p, *bounds, bounds, 1.0))


def sgbdt_deviations(p, schema):
    """Standard deviations of the sums of g and of h."""
    squared = sgbdt_squared(p, schema)
    g, h = (float(one) for one in sgbdt_bounds(p, schema))
    r1 = float(setting(p, "support_weight"))
    if p["weights"] == "slides":
        return math.sqrt(squared / (2 * (1 - r1))), math.sqrt(squared / (2 * r1))
    return math.sqrt(g * g * squared / (2 * (1 - r1))), math.sqrt(h * h * squared / (2 * r1))


def sgbdt_plan(p, schema):
    """Everything that a run releases."""
    sgbdt_check(p)
    deviations, noise, rate = sgbdt_deviations(p, schema), p["noise"], float(setting(p, "subsample")).hex()
    exact = [(Fraction(float(b)) / Fraction(sd)) ** 2 for b, sd in zip(sgbdt_bounds(p, schema), deviations)]
    mechanism = {"name": "Gaussian", "sd": [one.hex() for one in deviations]}
    if noise == "discrete":
        mechanism |= {"name": "DiscreteGaussian", "step": GRID.hex()}
    for sd in deviations:
        usable_noise(sd, GRID if noise == "discrete" else None)
    bound = {"bound": root_up(sum(exact)).hex(), "norm": "whitened", "relation": p["relation"]}
    one_round = {"subsample": rate, "method": "poisson", "event": release("leaves", (mechanism, bound))}
    share, events = float(setting(p, "epsilon")) * float(setting(p, "initial_share")) / schema.scores, []
    for _ in range(schema.scores):
        if share:
            part = float(setting(p, "count_share"))
            most = float(grid_floor(setting(p, "label_bound")))
            events.append(release("count", laplace_charge(share * part, 1.0, p["relation"], noise, 1)))
            events.append(release("labels", laplace_charge(share * (1 - part), most, p["relation"], noise, 1)))
        events += [one_round] * (p["trees"] + p["extra_trees"])
    return sequence(events)


class Accounts:
    """What every record has spent at the orders of the budget."""

    def __init__(self, p, schema, rows):
        sigma = sgbdt_sigma(p, schema)
        self.rate = float(setting(p, "subsample"))
        best = best_order(p["trees"] * schema.scores, self.rate, float(setting(p, "delta")), sigma)
        factors = (0.25, 0.5, 1.0, 2.0, 4.0) if p["orders"] == "joint" else (1.0,)
        self.orders = sorted({min(max(round(best * one), 2), LARGEST_ORDER) for one in factors})
        self.last = 1 / sigma**2 * (1 + ROOM)
        self.budget = [p["trees"] * self.knot(order, KNOTS - 1) * (1 + ROOM) for order in self.orders]
        self.spent = [[0.0] * len(self.orders) for _ in range(rows)]

    def knot(self, order, k):
        """A tabulated cost."""
        return sampled_cost(order, self.rate, self.last * (k / (KNOTS - 1))) * (1 + ROOM)

    def pays(self, i, t):
        """Whether a record has room for a round of cost t; it pays if so."""
        place = float(t) * ((KNOTS - 1) / self.last)
        k = min(int(place), KNOTS - 2)
        costs = [(self.knot(a, k + 1) - self.knot(a, k)) * (place - k) + self.knot(a, k) for a in self.orders]
        after = [old + new for old, new in zip(self.spent[i], costs)]
        if any(one > most for one, most in zip(after, self.budget)):
            return False
        self.spent[i] = after
        return True


def sgbdt_train(p, schema, x, y, tape):
    """Random trees, Poisson samples, the filter where there are extra rounds."""
    sgbdt_check(p)
    model, width = [], 2 ** p["depth"]
    for output in range(schema.scores):
        prefix = f"score {output}"
        labels = [plain_label(p, schema, output, one) for one in y]
        initial, trees = sgbdt_initial(p, schema, labels, prefix, tape), []
        scores = [num(0.0) + initial for _ in y]
        bounds = sgbdt_bounds(p, schema)
        accounts = Accounts(p, schema, len(y)) if p["extra_trees"] else None
        for t in range(p["trees"] + p["extra_trees"]):
            splits = sgbdt_splits(p, schema, t, prefix, tape)
            leaf, room = [leaf_of(one, splits, schema.categorical) for one in x], [True] * len(y)
            if accounts is not None:
                both = [sgbdt_statistics(p, schema, s, label)[0] for s, label in zip(scores, labels)]
                squared = sgbdt_squared(p, schema)
                room = [
                    accounts.pays(i, sgbdt_cost(p, one["g"], one["h"], bounds, squared)) for i, one in enumerate(both)
                ]
            law = ["poisson", float(setting(p, "subsample")).hex()]
            sample = selected(tape.take(f"{prefix}/sample", "assign", [len(y)], law)[1], 0)
            sample = [i for i in sample if room[i]]
            found = [sgbdt_statistics(p, schema, scores[i], labels[i])[0] for i in sample]
            h = None if schema.regression else [one["h"] for one in found]
            sums = node_table([leaf[i] for i in sample], width, [[one["g"] for one in found], h])
            got = tape.noise(f"{prefix}/sample/leaves", [[sums[0][k], sums[1][k]] for k in range(width)])
            leaves = [sgbdt_leaf(got[2 * k], got[2 * k + 1], p) for k in range(width)]
            trees.append((splits, leaves))
            scores = advance(scores, leaf, leaves, setting(p, "shrinkage"))
        model.append(ensemble(initial, [setting(p, "shrinkage")] * len(trees), trees))
    return model


# --- Grove ------------------------------------------------------------------------------------------------------------


def grove_check(p):
    """Domains of the parameters."""
    domains = {
        "epsilon": EPSILON,
        "delta": (0, 1, True, True),
        "rows": (1, 10**12, False, False),
        "bins": (1, 63, False, False),
        "trees": (1, 10_000, False, False),
        "depth": (1, 10, False, False),
        "shrinkage": (2 * GRID, 1, True, False),
        "residual": (2 * GRID, 1, True, False),
        "hessian_weight": (0, 3.3, True, False),
        "threshold_share": (0, 0.5, True, False),
        "start_share": (0, 0.4, True, False),
        "explore": (0, 1, True, False),
        "feature_share": (0, 0.9, False, False),
        "score_noise": (0.001, 1000, False, False),
    }
    check(p, {name: domain for name, domain in domains.items() if p[name] is not None})


def grove_label(p, schema, output, y):
    """In [-1, 1], or 1 for the class and 0 for the rest."""
    return schema.label(output, y)


def grove_statistics(p, schema, score, label):
    """(g, h); h follows from the gradient before it is rounded."""
    if schema.regression:
        unit = num(1.0) if p["residual"] is None else setting(p, "residual")
        return {"g": on_grid(clamp((score - label) / unit, num(-1.0), num(1.0))), "h": num(1.0)}, True
    gradient = 1.0 / (1.0 + exp(-score)) - label
    g, h = on_grid(gradient), fedgbdt_hessian(gradient)
    cut, most = (num(0.5), num(0.25)) if schema.scores == 1 or label > 0.5 else grove_others(schema)
    return {"g": clamp(g, -cut, cut), "h": h if h < most else most}, True


def grove_others(schema):
    """What gradients and Hessians of other classes' scores are cut to."""
    cut = grid_floor(num(0.4) / num(math.sqrt(float(schema.scores - 1))))
    return cut, grid_floor(cut * (1.0 - cut))


def grove_settings(p, schema):
    """mu, trees, depth, step, a of trees and of bins, the parts of mu^2, that of the first pass, and its levels."""
    mu = fedgbdt_mu(float(setting(p, "epsilon")), float(setting(p, "delta")), True, p["noise"])
    nu = grove_nu(p, schema, mu)
    trees = p["trees"] or (200 if nu < 500 else 400 if nu < 5000 or schema.regression else 800)
    depth = p["depth"] or (4 if nu < 500 else 5 if nu < 5000 else 7)
    if schema.regression:
        depth = p["depth"] or (3 if nu < 500 else 4 if nu < 3000 else 5)
    step = setting(p, "shrinkage")
    given = p["hessian_weight"] is not None
    usual = (0.3, 0.3) if schema.regression else (0.4, 1.0)
    weights = [setting(p, "hessian_weight") if given else num(one) for one in usual]
    usual = num(0.02 if not schema.regression else 0.3 if nu < 20 else 0.15 if nu < 150 else 0.1)
    start = usual if p["start_share"] is None else setting(p, "start_share")
    apart = setting(p, "threshold_share") if grove_numeric(schema) else num(0.0)
    shares = apart, start, 1.0 - apart - start - grove_last(p, schema)
    return mu, trees, depth, step, weights, shares, grove_first(p, schema, nu)


def grove_last(p, schema):
    """The part of mu^2 of the mean that all trees leave."""
    return num(0.02 if schema.regression and p["residual"] is None else 0.0)


def grove_nu(p, schema, mu):
    """Rows times mu, half of it where two records change; over what the scores of other classes add."""
    more = math.sqrt(1.0 + 0.4 * 0.4 / (0.5 * 0.5)) if schema.scores > 1 else 1.0
    return p["rows"] * mu / more / changed(p["relation"])


def grove_first(p, schema, nu):
    """The first pass's part of the leaves' share, and levels of a numeric feature's tree in it."""
    many, levels = len(grove_splittable(schema)), 2 if nu < 500 else 3
    part = num(0.5 if nu < 500 else 0.3) if p["feature_share"] is None else setting(p, "feature_share")
    if p["feature_share"] is None and not nu * math.sqrt(part / float(max(many, 1))) >= 25:
        part = num(0.0)
    return (part if many else num(0.0)), levels


def grove_splittable(schema):
    """The features that can be split."""
    return [f for f, categorical in enumerate(schema.categorical) if categorical or f in grove_numeric(schema)]


def grove_numeric(schema):
    """The numeric features that can be split."""
    numbers = [f for f, categorical in enumerate(schema.categorical) if not categorical]
    return [f for f in numbers if schema.bounds(f)[0] < schema.bounds(f)[1]]


def pairwise(values):
    """A sum of floats: up to 7 in order, up to 128 in eight lanes and a rest, more in halves."""
    count = len(values)
    if count < 8:
        total = num(0.0)
        for one in values:
            total = total + one
        return total
    if count > 128:
        half = count // 2 - count // 2 % 8
        return pairwise(values[:half]) + pairwise(values[half:])
    lane = list(values[:8])
    whole = count - count % 8
    for i in range(8, whole):
        lane[i % 8] = lane[i % 8] + values[i]
    total = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]))
    for one in values[whole:]:
        total = total + one
    return total


def running(values):
    """Running sums."""
    found, total = [], None
    for one in values:
        total = one if total is None else total + one
        found.append(total)
    return found


def at_or_above(ordered, wanted):
    """How many are below."""
    return sum(1 for one in ordered if one < wanted)


def floor0(x):
    """max(x, 0)."""
    return x if x > 0 else num(0.0)


def grove_deviation(p, schema, mu, share):
    """Of the noise of a count in either histogram of thresholds."""
    touched = len(grove_numeric(schema)) * changed(p["relation"])
    return math.sqrt(touched) / (mu * math.sqrt(share / 2.0))


def grove_coarse(low, high, even, closer):
    """The thresholds of the coarse histogram: even ones, and where noise allows it some closer to 0."""
    edges, width, beside = [low, *even, high], high - low, []
    if closer and not width < 2.0**-20 * max(abs(low), abs(high)):
        middle, steps = min(max(num(0.0), low), high), [width * num(2.0**-power) for power in (5, 10, 15, 20)]
        beside = [*(middle - one for one in steps), middle, *(middle + one for one in steps)]
        beside = [one for one in beside if min(abs(one - other) for other in edges) > 2.0**-22 * width]
    return sorted([*even, *(one for one in beside if low < one < high)])


def grove_evened(noisy, edges, deviation, by_width):
    """How many records are up to the end of each bin of a feature, a tenth of them evenly between the bounds."""
    sums = [floor0(one) for one in sorted(running(noisy[1:]))]
    ninth, noise, many = sums[-1] / 9.0, deviation * math.sqrt(len(sums)), num(float(len(sums)))
    wide = edges[-1] - edges[0]
    width = [(one - edges[0]) / wide for one in edges[1:]]
    even = width if by_width else [float(k + 1) / many for k in range(len(sums))]
    return [one + ninth * width[k] + noise * even[k] for k, one in enumerate(sums)]


def grove_between(noisy, edges, deviation):
    """63 thresholds of one feature that follow its coarse histogram."""
    below, found = [num(0.0), *grove_evened(noisy, edges, deviation, True)], []
    for k in range(1, 64):
        wanted = below[-1] * float(k) / 64.0
        place = sum(1 for one in below if not one > wanted) - 1
        part = (wanted - below[place]) / (below[place + 1] - below[place])
        found.append(edges[place] + part * (edges[place + 1] - edges[place]))
    return found


def grove_quantiles(noisy, edges, deviation, bins):
    """Thresholds of one feature at even shares of its noisy counts, the first of which is that of missing values."""
    below, last = grove_evened(noisy, edges, deviation, False), len(edges) - 3
    wanted = [below[-1] * float(q) / float(bins + 1) for q in range(1, bins + 1)]
    return sorted({edges[1 + min(at_or_above(below, one), last)] for one in wanted})


def grove_missing(thresholds, low, absent, deviation, many):
    """With the low bound in front where missing values, counted twice, are above all that the noise of many may be."""
    sure = (1.0 + math.sqrt(2.0 * math.log(many))) * (deviation / math.sqrt(2.0))
    return [low, *(one for one in thresholds if one > low)] if absent / 2.0 > sure else thresholds


def grove_parts(schema, candidates, feature):
    """Whether the first threshold of a feature has missing values alone on its left."""
    own = candidates[feature]
    return not schema.categorical[feature] and len(own) > 1 and not own[0] > schema.bounds(feature)[0]


def grove_value(schema, candidates, feature, u):
    """What a draw stands for: missing values are parted by a fifth of the splits, all other values alike."""
    own = candidates[feature]
    if grove_parts(schema, candidates, feature):
        others, part = own[1:], floor0(u - 0.2) / (1.0 - 0.2)
        return own[0] if u < 0.2 else others[min(int(part * float(len(others))), len(others) - 1)]
    return own[int(u * float(len(own)))] if own else num(0.0)


def grove_histogram_bins(signal):
    """Bins of the histogram of labels or residuals."""
    return next((bins for bins in (64, 32, 16) if not signal < 2.0 * bins), 8)


def grove_early(p, schema, nu, trees):
    """After how many trees c follows what they leave; 0 for never."""
    return 0 if not schema.regression or p["residual"] is not None or nu < 150 else trees // 10


def grove_place(residual, unit, bins):
    """The bin of a residual in units of c."""
    left = clamp(residual / unit, num(-1.0), num(1.0))
    return min(max(int((left + 1.0) / 2.0 * float(bins)), 0), bins - 1)


def grove_read_off(name, residuals, unit, nu, share, least, rows, tape, known=1.0):
    """Centre and c, in units of what c was, of a released histogram of residuals with this part of mu^2."""
    bins = grove_histogram_bins(nu * math.sqrt(share))
    noisy = grove_counts(name, bins, lambda one: grove_place(one, unit, bins), residuals, tape)
    return grove_centre(grove_most(noisy, least, rows, known))


def grove_least(mu, share):
    """One and a half deviations of the noise of a count that has this part of mu^2."""
    return 1.5 / (mu * math.sqrt(share))


def grove_most(noisy, least, rows, known=1.0):
    """Counts of one run of bins, of the strictest of three rules by which they are 85% of all.

    All are the rows, or what is counted where that is surely less than 85% of them.
    """
    counted, stated = pairwise(noisy), 0.85 * float(rows)
    wanted = 0.85 * counted if counted + 2.0 * least * math.sqrt(len(noisy)) < stated else stated
    for part in (1.0, 0.5, 0.0):
        found = grove_piece(noisy, part * known * least)
        if not pairwise(found) < wanted:
            break
    return found


def grove_piece(noisy, least):
    """Counts of the run of bins that is most above `least` in each; 0 outside."""
    sums, bins = running([num(0.0)] + [one - least for one in noisy]), len(noisy)
    runs = [(first, last) for first in range(bins) for last in range(first, bins)]
    first, last = max(runs, key=lambda run: sums[run[1] + 1] - sums[run[0]])
    return [floor0(one) if first <= k <= last else num(0.0) for k, one in enumerate(noisy)]


def grove_centre(counts):
    """Mean of labels from a histogram on [-1, 1], and the 85% point of the distance from it, or 1.44 deviations."""
    total, bins = pairwise(counts), len(counts)
    if total <= 0:
        return num(0.0), num(1.0)
    middle = [-1.0 + 2.0 * num(k + 0.5) / float(bins) for k in range(bins)]
    centre = pairwise([c * m for c, m in zip(counts, middle)]) / total
    distance = [abs(m - centre) for m in middle]
    order = sorted(range(bins), key=lambda k: distance[k])
    place = at_or_above(running([counts[k] for k in order]), 0.85 * total)
    within = distance[order[min(place, bins - 1)]] + 1.0 / float(bins)
    spread = 1.44 * num(math.sqrt(pairwise([c * d * d for c, d in zip(counts, distance)]) / total))
    return centre, clamp(spread if spread > within else within, num(2.0 / bins), num(1.0))


def grove_narrower(unit, scale):
    """c after the second look."""
    return grid_floor(unit * scale) if scale < 0.75 else unit


def grove_padding(p, schema, nu, trees, sd):
    """What is added to every Hessian, so that all noise of a score is what it may be."""
    usual = num(0.7 if not schema.regression else 0.35 if nu < 150 else 0.25)
    most = usual if p["score_noise"] is None else setting(p, "score_noise")
    return setting(p, "shrinkage") * sd * num(math.sqrt(trees)) / most


def grove_scatter(schema):
    """The variance of a record's gradient per unit of H."""
    return num(0.15 if schema.regression else 1.0)


def grove_leaf(g, h, padding, unit):
    """A leaf's value, cut to 3, in units of the score."""
    return clamp(-g / (floor0(h) + padding), num(-3.0), num(3.0)) * unit


def grove_bin(g, h, scatter, variance, prior, padding, unit):
    """The value of a bin of the first pass: shrunk by the noise that is known, cut to 3, in units of the score."""
    h = floor0(h)
    least = num(1e-12)
    over, most = h * h + (h * scatter + variance) / (prior if prior > least else least) + least, h * (h + padding)
    value = -g * h / (over if over > most else most)
    return clamp(value, num(-3.0), num(3.0)) * unit


def grove_used(p, schema, depth, deep):
    """Levels in use: 5 of more, but where the first 40 trees of classes parted enough."""
    if p["depth"] or depth <= 5 or schema.regression:
        return depth
    parted, looked = deep
    return depth if looked >= 40.0 * schema.scores and parted >= looked else 5


def grove_tree(p, schema, candidates, credit, doubt, seen, number, depth, used, which, where):
    """The splits of a random tree, whose features follow credit; below `used` levels each is its parent's."""
    live = [f for f, own in enumerate(candidates) if own] or [0]
    many, explore = float(len(live)), setting(p, "explore")
    chance = [num(1.0) / many for _ in live]
    deviations = num(2.0 if schema.regression else 0.0)
    sure = [credit[f] - deviations * num(math.sqrt(doubt[f])) for f in live]
    merit = [num(math.sqrt(floor0(one / seen[f]))) for one, f in zip(sure, live)]
    if (total := pairwise(merit)) > 0:
        trust = num(float(number)) / (float(number) + num(many) / float(depth))
        chance = [trust * m / total + (1.0 - trust) * e for m, e in zip(merit, chance)]
    edges = running([(1.0 - explore) * one + explore / many for one in chance])
    edges = [one / edges[-1] for one in edges]
    found = []
    for u, v in zip(which, where):
        f = live[min(sum(1 for one in edges if one <= u), len(live) - 1)]
        found.append([num(float(f)), grove_value(schema, candidates, f, v)])
    for node in range(2**used - 1, 2**depth - 1):
        found[node] = found[(node - 1) // 2]
    return found


def grove_there(noisy, depth, used):
    """Of each leaf the sums of the one that its records went to."""
    wide = 2 ** (depth - used)
    return [noisy[k - k % wide + (wide - 1 if k // wide % 2 else 0)] for k in range(2**depth)]


def grove_learn(schema, noisy, splits, used, scatter, variance, weight, credit, doubt, seen, deep, looks):
    """Credits what each split separated, less what noise would, with its variance; and what the last level parted."""
    wide = len(noisy) // 2**used
    g, h = [a for a, _ in noisy][::wide], [floor0(b) for _, b in noisy][::wide]
    if deep[1] < looks:
        squares = [(a - b) * (a - b) for a, b in zip(g[::2], g[1::2])]
        deep[0] = deep[0] + (pairwise(squares) / float(len(squares)) / (2.0 * variance) - 1.0)
        deep[1] = deep[1] + 1.0
    for level in reversed(range(used)):
        below = float(2 ** (used - 1 - level))
        least = 3.0 * num(math.sqrt(below * variance)) / weight + 1.0
        for k in range(2**level):
            (ga, gb), (ha, hb) = g[2 * k : 2 * k + 2], h[2 * k : 2 * k + 2]
            left, right = (ha if ha > least else least), (hb if hb > least else least)
            noise = below * variance * (1.0 / (left * left) + 1.0 / (right * right))
            share, apart = left * right / (left + right), ga / left - gb / right
            f = int(splits[2**level - 1 + k][0])
            if schema.regression or (ha > least and hb > least):
                credit[f] = credit[f] + (apart * apart - noise - scatter * (1.0 / left + 1.0 / right)) * share
                doubt[f] = doubt[f] + 2.0 * (noise * share * (noise * share))
            seen[f] = seen[f] + 1.0
        g, h = ([a + b for a, b in zip(one[::2], one[1::2])] for one in (g, h))


def grove_shapes(schema, candidates, feature, levels):
    """The trees of one feature: thresholds at even places, or one split for each category."""
    own = candidates[feature]
    if schema.categorical[feature]:
        return [[[num(float(feature)), num(float(value))]] for value in range(len(own))]
    ranks = [(2 * k + 1) * 2 ** (levels - 1 - level) for level in range(levels) for k in range(2**level)]
    apart = grove_parts(schema, candidates, feature)
    present = own[1:] if apart else own
    asked = [present[min(one * len(present) // 2**levels, len(present) - 1)] for one in ranks]
    if apart:
        asked[2 ** (levels - 1) - 1] = own[0]
    return [[[num(float(feature)), one] for one in asked]]


def grove_bins(noisy, feature, scatter, sd, weight, many, credit, doubt, seen, before, unit):
    """The prior's variance, and the values of a feature's bins, whose credit is added."""
    variance, g, h = sd * sd, [a for a, _ in noisy], [floor0(b) for _, b in noisy]
    above = pairwise([a * a - b * scatter - variance for a, b in zip(g, h)])
    squares, least = pairwise([b * b for b in h]), num(1e-9)
    found = floor0(above) / (squares if squares > least else least)
    prior = found if before is None else 0.7 * before + 0.3 * found
    border = 3.0 * sd / weight + 1.0
    borders = [b if b > border else border for _, b in noisy]
    credit[feature] = credit[feature] + pairwise([(a * a - variance) / b - scatter for a, b in zip(g, borders)])
    doubt[feature] = doubt[feature] + pairwise([2.0 * variance * variance / (b * b) for b in borders])
    seen[feature] = seen[feature] + 1.0
    both = 0.5 * found + 0.5 * prior
    padding = sd * num(math.sqrt(many))
    return prior, [grove_bin(a, b, scatter, variance, both, padding, unit) for a, b in noisy]


def grove_pass(schema, x, columns, candidates, scores, settings, state, tape, sums_of):
    """The first pass, one feature after the other: its trees, of every output; scores are advanced."""
    levels, weight, scatter, unit = settings
    made, priors = [[] for _ in scores], [None for _ in scores]
    for f in columns:
        shapes = grove_shapes(schema, candidates, f, levels)
        leaf = [[leaf_of(one, splits, schema.categorical) for one in x] for splits in shapes]
        place, bins = leaf[0], 2**levels
        if schema.categorical[f]:
            place, bins = [category_code(one[f], len(shapes)) for one in x], len(shapes) + 1
        of_all, sd = grove_released(f"feature {f}/bins", sums_of(scores, place, bins), tape)
        for k, noisy in enumerate(of_all):
            priors[k], values = grove_bins(noisy, f, scatter, sd, weight, len(columns), *state, priors[k], unit)
            leaves = [[num(0.0), one] for one in values[1:]] if schema.categorical[f] else [values]
            for splits, own, one in zip(shapes, leaf, leaves):
                made[k].append((splits, one))
                scores[k] = advance(scores[k], own, one, num(0.7))
    return made


def grove_released(name, sums, tape):
    """Sums (G, H) of each score with noise, which are one release, and the deviation of the noise of G."""
    mechanism = tape.entries[tape.at]["mechanism"] if tape.at < len(tape.entries) else {"sd": ["0x1p0"]}
    width, bins = 2 * len(sums), len(sums[0][0])
    got = tape.noise(name, [[column[j] for pair in sums for column in pair] for j in range(bins)])
    found = [[(got[width * j + 2 * k], got[width * j + 2 * k + 1]) for j in range(bins)] for k in range(len(sums))]
    return found, num(number_of(mechanism))


def grove_counts(name, names, of, y, tape):
    """Released counts of labels or residuals."""
    return tape.noise(name, [num(float(sum(1 for one in y if of(one) == k))) for k in range(names)])


def grove_train(p, schema, x, y, tape):
    """Thresholds, start, then random trees with noisy leaf sums."""
    grove_check(p)
    mu, trees, depth, step, (weight, first), shares, (part, levels) = grove_settings(p, schema)
    candidates, numeric = candidates_of(schema, "uniform", 15), grove_numeric(schema)
    deviation = grove_deviation(p, schema, mu, shares[0]) if numeric else None
    for f in numeric:
        candidates[f] = grove_coarse(*schema.bounds(f), candidates[f], not p["rows"] < 15.0 * deviation)
    absent = [num(0.0) for _ in numeric]
    for look in ("coarse", "fine") if numeric else ():
        codes = [[code_of(row[f], candidates[f]) for row in x] for f in numeric]
        widths = [len(candidates[f]) + 2 for f in numeric]
        counts = [num(float(own.count(code))) for own, width in zip(codes, widths) for code in range(width)]
        noisy = tape.noise(f"{look} histograms", counts)
        for place, f in enumerate(numeric):
            own, (low, high) = noisy[sum(widths[:place]) : sum(widths[: place + 1])], schema.bounds(f)
            edges, absent[place] = [low, *candidates[f], high], absent[place] + own[0]
            if look == "coarse":
                candidates[f] = grove_between(own, edges, deviation)
            else:
                found = grove_quantiles(own, edges, deviation, p["bins"])
                candidates[f] = grove_missing(found, low, absent[place], deviation, len(numeric))
    unit, scatter = num(1.0), grove_scatter(schema)
    nu = grove_nu(p, schema, mu)
    early, last = grove_early(p, schema, nu, trees), grove_last(p, schema) > 0
    if schema.regression:
        both, labels, rows = 0.6 * shares[1] if early else shares[1], [schema.label(0, one) for one in y], p["rows"]
        again = p["residual"] is None
        share = 0.6 * both if again else both
        centre, scale = grove_read_off("labels", labels, num(1.0), nu, share, grove_least(mu, share), rows, tape)
        unit = grid_floor(scale if again else setting(p, "residual"))
        if again:
            left = [one - centre for one in labels]
            share = both - share
            least = grove_least(mu, share)
            shift, scale = grove_read_off("labels nearby", left, unit, nu, share, least, rows, tape, 1.0 / 3.0)
            centre, unit = centre + unit * shift, grid_floor(unit * scale)
        initial, p = [centre], {**p, "residual": float(unit).hex()}
    else:
        classes = len(schema.target["values"])
        counts = [floor0(one) for one in grove_counts("classes", classes, int, y, tape)]
        total = pairwise(counts)
        share = [clamp(one / (total if total > 1 else num(1.0)), num(0.005), num(0.98)) for one in counts]
        initial = [log(one / (1.0 - one)) for one in (share[1:] if schema.scores == 1 else share)]
    labels = [[schema.label(k, one) for one in y] for k in range(schema.scores)]
    scores = [[num(0.0) + one for _ in y] for one in initial]
    state = *([num(0.0) for _ in schema.features] for _ in "cd"), [num(1e-9) for _ in schema.features]

    def sums_of(scores, place, width):
        tables = []
        for score, label in zip(scores, labels):
            found = [grove_statistics(p, schema, s, one)[0] for s, one in zip(score, label)]
            h = None if schema.regression else [one["h"] for one in found]
            tables.append(node_table(place, width, [[one["g"] for one in found], h]))
        return tables

    columns = grove_splittable(schema) if part > 0 else []
    made = grove_pass(schema, x, columns, candidates, scores, (levels, first, scatter, unit),
                      state, tape, sums_of)  # fmt: skip
    steps = [num(0.7)] * len(made[0]) + [step] * trees
    width, deep, padding = 2**depth, [num(0.0), num(0.0)], None
    for number in range(trees):
        if early and number == early:
            residuals = [one - s for one, s in zip(labels[0], scores[0])]
            share = shares[1] - 0.6 * shares[1]
            least = grove_least(mu, share)
            _, scale = grove_read_off("residuals", residuals, unit, nu, share, least, p["rows"], tape)
            left = grove_narrower(unit, scale)
            padding, unit, p = padding * left / unit, left, {**p, "residual": float(left).hex()}
        which = tape.take(f"tree {number}/features", "draw", [width - 1], ["uniform"])[1]
        where = tape.take(f"tree {number}/values", "draw", [width - 1], ["uniform"])[1]
        used = grove_used(p, schema, depth, deep)
        splits = grove_tree(p, schema, candidates, *state, number, depth, used, which, where)
        leaf = [leaf_of(one, splits, schema.categorical) for one in x]
        of_all, sd = grove_released(f"tree {number}/leaves", sums_of(scores, leaf, width), tape)
        padding = grove_padding(p, schema, nu, trees, sd) if padding is None else padding
        for k, noisy in enumerate(of_all):
            noisy = grove_there(noisy, depth, used)
            grove_learn(schema, noisy, splits, used, scatter, sd * sd, weight, *state, deep, 40.0 * schema.scores)
            leaves = [grove_leaf(a, b, padding, unit) for a, b in noisy]
            made[k].append((splits, leaves))
            scores[k] = advance(scores[k], leaf, leaves, step)
    if last:
        initial = [initial[0] - grove_left(scores[0], labels[0], weight, tape)]
    return [ensemble(initial[k], steps, made[k]) for k in range(schema.scores)]


def grove_left(score, label, weight, tape):
    """The mean of what all trees leave of labels, if its sum is above three deviations of its noise."""
    sd = num(number_of(tape.entries[tape.at]["mechanism"])) if tape.at < len(tape.entries) else num(1.0)
    left = [on_grid(clamp(s - one, num(-1.0), num(1.0))) for s, one in zip(score, label)]
    total, many = tape.noise("left by all trees", [sum(left, num(0.0)), num(float(len(left)))])
    return grove_mean(total, many, sd, weight)


def grove_mean(total, many, sd, weight):
    """The mean, or 0 where the sum is not above three deviations of its noise."""
    least = 3.0 * sd / weight + 1.0
    return total / (many if many > least else least) if abs(total) > 3.0 * sd else num(0.0)


def number_of(mechanism):
    """The deviation of the first of several columns."""
    sd = mechanism["sd"]
    return number(sd[0] if isinstance(sd, list) else sd)


def grove_plan(p, schema):
    """Everything that a run releases."""
    grove_check(p)
    mu, trees, _, _, (weight, first), shares, (part, _) = grove_settings(p, schema)
    relation, noise, found = p["relation"], p["noise"], []

    def counts(name, share, cells):
        touched = cells * changed(relation)
        charge = gaussian_charge(mu * math.sqrt(share), root_up(Fraction(touched)), relation, noise, touched)
        return [release(name, charge)]

    early = grove_early(p, schema, grove_nu(p, schema, mu), trees)
    both = 0.6 * shares[1] if early else shares[1]
    start = 0.6 * both if schema.regression and p["residual"] is None else both
    if columns := len(grove_numeric(schema)):
        found += counts("coarse histograms", shares[0] / 2.0, columns)
        found += counts("fine histograms", shares[0] / 2.0, columns)
    found += counts("labels" if schema.regression else "classes", start, 1)
    if start != both:
        found += counts("labels nearby", both - start, 1)
    many = len(grove_splittable(schema)) if part > 0 else 0
    for name, share, count, a in (("bins", shares[2] * part, many, first),
                                  ("leaves", shares[2] * (1.0 - part), trees, weight),
                                  ("left by all trees", grove_last(p, schema), 1, weight)):  # fmt: skip
        if not count or not share > 0:
            continue
        square = Fraction(float(a)) ** 2
        whole = 1 + square if schema.regression else (4 + square) / 16
        if schema.scores > 1:
            b, d = (Fraction(float(one)) for one in grove_others(schema))
            whole += (schema.scores - 1) * (b * b + square * d * d)
        norm = (root_up(whole) + 2.0**-22) * changed(relation)
        sd = norm / (mu * math.sqrt(share / count))
        for one in (sd, sd / float(a)):
            usable_noise(one, GRID if noise == "discrete" else None)
        mechanism = {"name": "Gaussian", "sd": [sd.hex(), (sd / float(a)).hex()] * schema.scores}
        if noise == "discrete":
            mechanism = {**mechanism, "name": "DiscreteGaussian", "step": GRID.hex()}
        bound = at_least(Fraction(norm) / Fraction(sd) * (1 + Fraction(1, 2**40)))
        charge = mechanism, {"bound": bound.hex(), "norm": "whitened", "relation": relation}
        events = [release(name, charge)] * count
        if name == "leaves" and early:
            events[early:early] = counts("residuals", shares[1] - both, 1)
        found += events
    return sequence(found)


# --- Samplers and accounts --------------------------------------------------------------------------------------------


class Bits:
    """Uniform whole numbers from bits, the lowest bit of the first byte first."""

    def __init__(self, data=None):
        self.bits, self.used = int.from_bytes(data or b"", "little"), 0
        self.fresh = data is None

    def below(self, n):
        """As many bits as n - 1 has, again until they are below n."""
        if self.fresh:
            return random.SystemRandom().randrange(n)
        size = (n - 1).bit_length()
        while True:
            found = (self.bits >> self.used) & ((1 << size) - 1)
            self.used += size
            if found < n:
                return found


def small_bernoulli(a, b, bits):
    """True with probability e^-(a/b), a <= b."""
    place = 1
    while bits.below(b * place) < a:
        place += 1
    return place % 2 == 1


def bernoulli(x, bits):
    """True with probability e^-x."""
    whole, rest = divmod(x.numerator, x.denominator)
    for _ in range(whole):
        if not small_bernoulli(1, 1, bits):
            return False
    return small_bernoulli(rest, x.denominator, bits)


def one_laplace(scale, bits):
    """P(z) proportional to exp(-|z| / scale)."""
    t, s = scale.numerator, scale.denominator
    while True:
        low = bits.below(t)
        if not small_bernoulli(low, t, bits):
            continue
        high = 0
        while small_bernoulli(1, 1, bits):
            high += 1
        size, negative = (low + t * high) // s, bits.below(2) == 1
        if size or not negative:
            return -size if negative else size


def one_gaussian(square, bits):
    """P(z) proportional to exp(-z^2 / (2 square))."""
    width = math.isqrt(math.floor(square)) + 1
    while True:
        found = one_laplace(Fraction(width), bits)
        if bernoulli((abs(found) - square / width) ** 2 / (2 * square), bits):
            return found


def account(event, relation):
    """Epsilon at delta 0: sums, the largest part of disjoint ones, and samples, into which records fall secretly."""

    def pure(one):
        if "repeat" in one:
            return one["repeat"] * pure(one["event"])
        if "sequential" in one:
            return sum(pure(inner) for inner in one["sequential"])
        if "subsample" in one:
            return amplified([(number(one["subsample"]), pure(one["event"]))])
        if "partition" in one:
            costs = [pure(inner) for inner in one["events"]]
            shares = [number(share) for share in one["partition"]]
            return max(costs) if relation == "replace-one" else amplified(list(zip(shares, costs)))
        mechanism, bound = one["mechanism"], number(one["sensitivity"]["bound"])
        if "coefficient" in mechanism:
            return number(mechanism["coefficient"]) * bound
        return bound / number(mechanism["scale"])

    return pure(event)


def amplified(parts):
    """log(1 + sum of share (e^epsilon - 1)) of what a record is in with these shares."""
    return math.log1p(math.fsum(share * math.expm1(epsilon) for share, epsilon in parts))


def gaussian_account(event, delta):
    """Epsilon of Gaussian releases: exact for continuous noise and that of many steps, else by Renyi orders."""
    parts = [(one.get("repeat", 1), one.get("event", one)) for one in event.get("sequential", [event])]
    squares = [n * (number(one["sensitivity"]["bound"]) / number(one["mechanism"]["sd"])) ** 2 for n, one in parts]
    mu = math.sqrt(math.fsum(squares))
    one = min((one for _, one in parts), key=lambda one: number(one["mechanism"]["sd"]))
    steps = number(one["mechanism"]["sd"]) / number(one["mechanism"].get("step", "0x1p-60"))
    if one["mechanism"]["name"] == "DiscreteGaussian" and steps < 1024:
        orders = [1 + k / 64 for k in range(1, 64 * 64)]

        def best(order):
            rho = order * mu * mu / 2
            return min(renyi_epsilon(order, rho, delta), grown(order, rho, delta))

        rough = min(orders, key=best)
        return min(best(rough + k / 2**16) for k in range(-1000, 1001) if rough + k / 2**16 > 1)

    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(mu, middle) > delta else (low, middle)
    return high


def grown(order, rho, delta):
    """Asoodeh et al. 2020, Theorem 3."""
    growth = (order - 1) * rho
    if growth > 700:
        return INF
    return math.log1p(math.expm1(growth) / (order * delta)) / (order - 1)


def gaussian_delta(mu, epsilon):
    """The profile of N(0, 1) against N(mu, 1)."""

    def phi(z):
        return math.erfc(-z / math.sqrt(2)) / 2

    return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


def fresh(law, count):
    """Draws of this program's own."""
    chance = random.SystemRandom()
    if law[0].startswith("discrete"):
        bits, parameter = Bits(), Fraction(law[1])
        one = one_laplace if law[0] == "discrete-laplace" else one_gaussian
        return [one(parameter, bits) for _ in range(count)]
    plain = {
        "laplace": lambda: chance.expovariate(1) - chance.expovariate(1),
        "normal": lambda: chance.gauss(0, 1),
        "gumbel": lambda: -math.log(chance.expovariate(1)),
        "exponential": lambda: chance.expovariate(1),
    }[law[0]]
    return [plain() for _ in range(count)]


# --- Operations -------------------------------------------------------------------------------------------------------

PAPERS = {
    "dpboost": (dpboost_train, dpboost_statistics, signed_label, dpboost_check),
    "inprivate": (inprivate_train, inprivate_statistics, signed_label, inprivate_check),
    "dpxgboost": (dpxgboost_train, dpxgboost_statistics, dpxgboost_label, dpxgboost_check),
    "fedgbdt": (fedgbdt_train, fedgbdt_statistics, plain_label, fedgbdt_check),
    "sgbdt": (sgbdt_train, sgbdt_statistics, plain_label, sgbdt_check),
    "grove": (grove_train, grove_statistics, grove_label, grove_check),
}


def paper_function(paper, place):
    """By name, so that a replaced function is found."""
    return globals()[PAPERS[paper][place].__name__]


def op_grid(paper, i):
    return {"thresholds": out(thresholds_of(i["grid"], num(number(i["low"])), num(number(i["high"])), i["count"]))}


def op_encode(paper, i):
    column = flat(i["column"])
    if "categories" in i:
        return {"codes": out_whole([category_code(x, i["categories"]) for x in column])}
    return {"codes": out_whole([code_of(x, flat(i["thresholds"])) for x in column])}


def op_statistics(paper, i):
    schema, p = Schema(i["schema"]), i["params"]
    label = [paper_function(paper, 2)(p, schema, i["output"], y) for y in flat(i["y"])]
    found = [paper_function(paper, 1)(p, schema, s, label) for s, label in zip(flat(i["score"]), label)]
    columns = {name: out([one[0][name] for one in found]) for name in found[0][0]}
    return {"label": out(label), "used": out_whole([one[1] for one in found]), **columns}


def op_sums(paper, i):
    x, g = rows(i["x"]), flat(i["g"])
    candidates, categorical = [flat(t) for t in i["candidates"]["thresholds"]], flat(i["candidates"]["categorical"])
    splits = rows(i["splits"])
    tables = []

    def choose(level, table):
        tables.append(out(table))
        return splits[2**level - 1 : 2 ** (level + 1) - 1]

    depth = (len(splits) + 1).bit_length() - 1
    _, members = grow(x, [g, None], range(len(x)), candidates, categorical, depth, choose)
    return {"bins": tables, "nodes": out(node_table(members, 2**depth, [g, None]))}


def op_utilities(paper, i):
    candidates, categorical = [flat(t) for t in i["candidates"]["thresholds"]], flat(i["candidates"]["categorical"])
    values, (_, nodes, bins) = array(i["table"])
    tables = [[values[(c * nodes + k) * bins : (c * nodes + k + 1) * bins] for k in range(nodes)] for c in range(2)]
    utility = []
    for k in range(nodes):
        if paper == "dpxgboost":
            utility.append(dpxgboost_utilities([tables[0][k], tables[1][k]], candidates, categorical, i["params"]))
            continue
        gain = dpboost_gain if paper == "dpboost" else inprivate_gain
        both = zip(sides(tables[0][k], candidates, categorical), sides(tables[1][k], candidates, categorical))
        utility.append([gain((a[0], b[0]), (a[1], b[1]), i["params"]) for a, b in both])
    return {"utility": out(utility)}


def op_scores(paper, i):
    left, right = rows(i["left"]), rows(i["right"])
    found = [fedgbdt_score((a, b), (c, d), i["params"]) for a, b, c, d in zip(*left, *right)]
    return {"scores": out(found)}


def op_edges(paper, i):
    return {"edges": out_whole(dpxgboost_edges(flat(i["weights"]), i["count"]))}


def op_medians(paper, i):
    return {"utility": out(dpxgboost_halves(flat(i["weights"]), flat(i["chosen"]), i["most"]))}


def op_between(paper, i):
    return {"thresholds": out(grove_between(flat(i["noisy"]), flat(i["edges"]), number(i["deviation"])))}


def op_quantiles(paper, i):
    own = flat(i["noisy"]), flat(i["edges"]), number(i["deviation"])
    return {"thresholds": out(grove_quantiles(*own, i["params"]["bins"]))}


def op_centre(paper, i):
    centre, scale = grove_centre(grove_most(flat(i["noisy"]), number(i["least"]), i["rows"]))
    return {"centre": float(centre).hex(), "scale": float(scale).hex()}


def op_coarse(paper, i):
    low, high = num(number(i["low"])), num(number(i["high"]))
    even = [low + (num(float(q)) / 16.0) * (high - low) for q in range(1, 16)]
    return {"thresholds": out(grove_coarse(low, high, even, i["closer"]))}


def op_left(paper, i):
    sd, weight = (num(number(i[name])) for name in ("deviation", "weight"))
    return {"mean": float(grove_mean(*flat(i["noisy"]), sd, weight)).hex()}


def op_narrower(paper, i):
    _, scale = grove_centre(grove_most(flat(i["noisy"]), number(i["least"]), i["rows"]))
    return {"unit": float(grove_narrower(num(number(i["unit"])), scale)).hex()}


def op_tree(paper, i):
    candidates, p, schema = [flat(t) for t in i["candidates"]["thresholds"]], i["params"], Schema(i["schema"])
    depth = grove_settings(p, schema)[2]
    used = grove_used(p, schema, depth, flat(i["parted"]))
    known, draws = (flat(i["credit"]), flat(i["doubt"]), flat(i["seen"])), (flat(i["which"]), flat(i["where"]))
    return {"splits": out(grove_tree(p, schema, candidates, *known, i["number"], depth, used, *draws))}


def op_learn(paper, i):
    p, schema = i["params"], Schema(i["schema"])
    (_, _, depth, _, (weight, _), _, _), sd = grove_settings(p, schema), num(number_of(i["mechanism"]))
    (credit, doubt, seen), deep = (flat(i[one]) for one in ("credit", "doubt", "seen")), flat(i["parted"])
    scatter, used = grove_scatter(schema), grove_used(p, schema, depth, deep)
    noisy = grove_there(list(zip(*rows(i["sums"]))), depth, used)
    looks = 40.0 * schema.scores
    grove_learn(schema, noisy, rows(i["splits"]), used, scatter, sd * sd, weight, credit, doubt, seen, deep, looks)
    return {"credit": out(credit), "doubt": out(doubt), "seen": out(seen), "parted": out(deep)}


def op_bins(paper, i):
    p, schema = i["params"], Schema(i["schema"])
    (_, first), sd = grove_settings(p, schema)[4], num(number_of(i["mechanism"]))
    state, before = [flat(i[one]) for one in ("credit", "doubt", "seen")], [*flat(i["before"]), None][0]
    scatter, many = grove_scatter(schema), len(grove_splittable(schema))
    noisy, unit = list(zip(*rows(i["sums"]))), num(number(i["unit"]))
    prior, values = grove_bins(noisy, i["feature"], scatter, sd, first, many, *state, before, unit)
    credit, doubt, seen = map(out, state)
    return {"values": out(values), "prior": float(prior).hex(), "credit": credit, "doubt": doubt, "seen": seen}


def op_leaves(paper, i):
    (first, second), p, schema = rows(i["sums"]), i["params"], Schema(i["schema"])
    one = {
        "dpboost": lambda g, n: dpboost_leaf(g, n, p, num(number(i["clip"]))),
        "inprivate": lambda g, n: inprivate_leaf(g, n, p, i["mechanism"]),
        "dpxgboost": lambda g, n: dpxgboost_leaf(g, n, p),
        "fedgbdt": lambda g, n: fedgbdt_leaf(g, n, p, schema),
        "sgbdt": lambda g, n: sgbdt_leaf(g, n, p),
        "grove": lambda g, n: grove_leaf(
            g,
            n,
            grove_padding(
                p,
                schema,
                grove_nu(p, schema, grove_settings(p, schema)[0]),
                grove_settings(p, schema)[1],
                num(number_of(i["mechanism"])),
            ),
            num(number(i["unit"])),
        ),
    }[paper]
    return {"values": out([one(g, n) for g, n in zip(first, second)])}


def op_apply(paper, i):
    value, shape = array(i["value"])
    standard = flat(i["standard"])
    if i["mechanism"]["name"] != "Exponential":
        return {"output": out(noisy(i["mechanism"], value, standard, shape[-1]), *shape)}
    width = shape[1]
    picks = [
        chosen_option(value[k * width :][:width], standard[k * width :][:width], i["mechanism"])
        for k in range(shape[0])
    ]
    return {"index": out_whole(picks)}


def op_route(paper, i):
    splits, categorical = rows(i["splits"]), flat(i["categorical"])
    return {"leaf": out_whole([leaf_of(x, splits, categorical) for x in rows(i["x"])])}


def clamp_row(x, schema):
    """Numbers into their bounds, unknown categories to missing."""
    found = []
    for f, value in enumerate(x):
        if schema.categorical[f]:
            known = value == value and 0 <= value < len(schema.features[f]["categories"])
            found.append(num(float(math.floor(value))) if known else num(NAN))
        else:
            found.append(clamp(value, *schema.bounds(f)))
    return found


def op_predict(paper, i):
    schema, x = Schema(i["schema"]), rows(i["x"])
    found = []
    for one in x:
        inside, scores = clamp_row(one, schema), []
        for part in i["model"]:
            total = num(number(part["initial"]))
            for tree, weight in zip(part["trees"], part["weights"]):
                leaf = leaf_of(inside, rows(tree["splits"]), schema.categorical)
                total = total + num(number(weight)) * flat(tree["leaves"])[leaf]
            scores.append(total)
        found.append(scores)
    return {"scores": out(found)}


def splittable(paper, schema):
    """Refuses a schema that gives no candidate; S-GBDT has none."""
    if paper != "sgbdt" and not chained(dpxgboost_kinds(schema)):
        raise Refused("no candidate at all")


def op_plan(paper, i):
    schema = Schema(i["schema"])
    paper_function(paper, 3)(i["params"])
    splittable(paper, schema)
    return {"event": globals()[f"{paper}_plan"](i["params"], schema)}


def op_train(paper, i):
    tape, schema = Tape(i["tape"]), Schema(i["schema"])
    y = flat(i["y"])
    if not all(-INF < one < INF if schema.regression else one in range(len(schema.target["values"])) for one in y):
        raise Refused("a label that is none")
    splittable(paper, schema)
    x = [clamp_row(one, schema) for one in rows(i["x"])]
    model = paper_function(paper, 0)(i["params"], schema, x, y, tape)
    tape.finish()
    return {"releases": tape.releases, "model": model}


def op_neighbour(paper, i):
    return {"sides": [op_train(paper, side) for side in i["sides"]]}


def op_sample(paper, i):
    bits = Bits(bytes.fromhex(i["bits"]))
    one = one_laplace if i["law"] == "discrete-laplace" else one_gaussian
    values = [one(Fraction(i["parameter"]), bits) for _ in range(i["count"])]
    return {"values": out_whole(values), "used": bits.used}


def op_account(paper, i):
    delta = number(i["delta"])
    found = gaussian_account(i["event"], delta) if delta else account(i["event"], i["relation"])
    return {"epsilon": float(found).hex()}


def op_draw(paper, i):
    found = fresh(i["law"], i["count"])
    return {"values": out_whole(found) if i["law"][0].startswith("discrete") else out([float(v) for v in found])}


def run(message):
    """The answer to one message of kind run."""
    operation = globals().get("op_" + message["operation"])
    if operation is None:
        return {"id": message["id"], "skip": "unknown operation"}
    try:
        return {"id": message["id"], "output": operation(message["paper"], message["input"])}
    except NotImplementedError as reason:
        return {"id": message["id"], "skip": str(reason)}
    except Refused as reason:
        return {"id": message["id"], "refused": str(reason)}


def serve():
    """JSON lines in, JSON lines out."""
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "stop":
            return
        if message["type"] == "start":
            answer = {"name": "reference.py", "version": "1", "supports": sorted(PAPERS)}
        else:
            answer = run(message)
        print(json.dumps(answer), flush=True)


def confirms(test, kind, answer):
    """Whether an answer is the one that is expected; epsilons inside their bounds, deviations within their ulps."""
    if test["result"] == "invalid":
        return "refused" in answer
    output, expect = answer.get("output"), test["expect"]
    if kind == "account":
        return output is not None and number(expect["lower"]) <= number(output["epsilon"]) <= number(expect["upper"])
    if test["operations"] == ["plan"] and test.get("tolerance"):
        return near(expect, output, test["tolerance"]["ulps"])
    return output == expect


def near(expect, output, ulps, key=""):
    """Equal, but for floats that may be some ulps above."""
    if isinstance(expect, dict):
        return isinstance(output, dict) and all(k in output and near(v, output[k], ulps, k) for k, v in expect.items())
    if isinstance(expect, list):
        return len(expect) == len(output) and all(near(a, b, ulps, key) for a, b in zip(expect, output))
    if expect == output:
        return True
    a, b = number(expect), number(output)
    return key in ("sd", "scale", "coefficient", "bound") and abs(a - b) <= ulps * math.ulp(a)


def checked(directory):
    """Recompute every vector but those that ask for fresh draws: counts of confirmed, skipped and wrong ones."""
    NUMBER[0] = Rounded
    counts = {"confirmed": 0, "skipped": 0, "wrong": 0}
    for path in sorted(Path(directory).glob("*/*.json")):
        body = json.loads(path.read_text())
        for test in body.get("tests", ()):
            if body["kind"] == "statistical":
                counts["skipped"] += 1
                continue
            answer = run(
                {"id": test["id"], "paper": body["paper"], "operation": test["operations"][0], "input": test["input"]}
            )
            if "skip" in answer:
                counts["skipped"] += 1
            elif confirms(test, body["kind"], answer):
                counts["confirmed"] += 1
            else:
                counts["wrong"] += 1
                print("wrong:", test["id"])
    return counts


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        result = checked(sys.argv[2])
        print(json.dumps(result))
        sys.exit(1 if result["wrong"] else 0)
    serve()
