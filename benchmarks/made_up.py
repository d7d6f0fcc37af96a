"""Made-up regressions on which settings of defaults are chosen, so that no shared set is: labels spread evenly over
their bounds, skewed towards the low one, or within a quarter of them; and with much noise: little signal in 60 features
("weak") or in 8 with labels far from the middle ("off"), or none ("nothing").

    python -m benchmarks.made_up dpboost [--set regularisation=100]     # relative errors; three minutes
"""

from __future__ import annotations

import argparse
import itertools
import warnings

import numpy as np

from refdp.data.records import Floats, Interval, Numeric, Schema, make_records
from refdp.faces.defaults import params_for
from refdp.faces.registry import paper
from refdp.faces.training import source_for
from refdp.privacy.curator import Curator

KINDS = ("even", "skewed", "narrow", "weak", "off", "nothing")
NOISY = {"weak": (60, 0.9, (-6.5, 3.5)), "off": (8, 0.9, (-7.0, 2.2)), "nothing": (8, 0.0, (-6.5, 3.5))}
"""Features, effect of six of them, bounds."""
ROWS, EPSILONS, SEEDS = (900, 2000, 4000, 15_000), (0.1, 0.5, 1.0, 2.0, 4.0), 3


def made(kind: str, rows: int, seed: int) -> tuple[Floats, Floats, tuple[float, float]]:
    """Features in [0, 1], labels, and the labels' public bounds."""
    generator = np.random.default_rng(seed)
    if kind in NOISY:
        features, effect, bounds = NOISY[kind]
        x = generator.random((rows, features))
        y = effect * (x[:, :6] - 0.5) @ np.array([1, -1, 1, -1, 1, 1]) + generator.normal(size=rows)
        return x, np.clip(y, *bounds), bounds
    x = generator.random((rows, 8))
    y = np.sin(3 * x[:, 0]) + 2 * x[:, 1] * x[:, 2] + x[:, 3] + 0.3 * generator.normal(size=rows)
    bounds = {"even": (-1.5, 5.5), "skewed": (0.0, 120.0), "narrow": (-10.0, 12.0)}[kind]
    return x, np.clip(np.exp(0.8 * y) if kind == "skewed" else y, *bounds), bounds


def error(name: str, kind: str, rows: int, epsilon: float, seed: int, given: dict[str, str]) -> float:
    """Root mean squared error on 4,000 further records, over their labels' standard deviation."""
    text = paper(name)
    x, y, bounds = made(kind, rows, seed)
    there, wanted, _ = made(kind, 4000, 100 + seed)
    schema = Schema(tuple(Numeric(f"x{i}", 0, 1) for i in range(x.shape[1])), Interval(*bounds))
    params = params_for(text, {"epsilon": epsilon, "relation": "add-remove", **given}, schema, rows=rows)
    model = text.train(params, make_records(schema, x, y), Curator(source_for(params, seed), params.relation))
    return float(np.sqrt(np.mean((text.predict(model, there) - wanted) ** 2)) / np.std(wanted))


def main() -> None:
    """One line for each kind, number of rows and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper")
    parser.add_argument("--set", nargs="*", default=[])
    options = parser.parse_args()
    given = dict(one.split("=", 1) for one in options.set)
    warnings.simplefilter("ignore")
    for kind, rows, epsilon in itertools.product(KINDS, ROWS, EPSILONS):
        found = [error(options.paper, kind, rows, epsilon, seed, given) for seed in range(SEEDS)]
        print(f"{kind:8} {rows:6} {epsilon:4g}  {np.mean(found):.3f} ± {np.std(found, ddof=1) / SEEDS**0.5:.3f}")


if __name__ == "__main__":
    main()
