"""refdp next to autodp and Google's dp_accounting: python -m benchmarks.accounting [--again TEXT] [--write]

Runs the cases that are not kept in accounting.jsonl yet (and those whose name holds TEXT again) and prints the table of
docs/accounting.md, `--write` writes it there, with that of shuffled epochs: ε, the median processor time of several
runs (warm; of one run where that takes more than two seconds), and the time of refdp's enclosure as a multiple of that
of Google's privacy loss distributions, in one run. Needs the extra `oracles`; about ten minutes, most of them Google's.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from refdp.accounting import account, renyi_epsilon
from refdp.accounting.dp_events import to_dp_event
from refdp.accounting.enclosure import enclose_epsilon
from refdp.accounting.normal import normalise
from refdp.accounting.releases import GaussianCost, LaplaceCost, cost
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.events import (
    Event,
    Plan,
    Relation,
    Release,
    Repeat,
    Sensitivity,
    Sequential,
    Subsample,
    balls_and_bins,
)

RUNS = 3


def gaussian(sd: float) -> Release:
    """One Gaussian release of unit sensitivity."""
    return Release("gaussian", Gaussian(sd), Sensitivity(1.0, 2, "benchmark/declared", Relation.ADD_REMOVE))


def laplace(scale: float) -> Release:
    """One Laplace release of unit sensitivity."""
    return Release("laplace", Laplace(scale), Sensitivity(1.0, 1, "benchmark/declared", Relation.ADD_REMOVE))


def scales(number: int) -> Event:
    """So many Laplace releases, all of different scale, from 20 to 45."""
    return Sequential(tuple(laplace(20 + 25 * i / number) for i in range(number)))


def sgbdt_plan() -> Event:
    """What S-GBDT releases at epsilon 1 with its defaults: the initial score's Laplace noise, 100 sampled trees."""
    from refdp.data.records import Interval, Numeric, Schema
    from refdp.papers import sgbdt
    from refdp.privacy.events import folded

    schema = Schema((Numeric("x", 0.0, 1.0),), Interval(-1.0, 1.0))
    params = sgbdt.Params(epsilon=1.0, relation=Relation.ADD_REMOVE, noise="floating")
    return folded(sgbdt.plan(params, schema).event)


def different(number: int) -> Event:
    """So many Poisson-sampled Gaussian releases, all of different rate and noise."""
    return Sequential(tuple(Subsample(0.01 + 0.01 * i / number, gaussian(1.0 + i / number)) for i in range(number)))


CASES: dict[str, tuple[Event, float]] = {
    "i   Gaussian 1": (gaussian(1.0), 1e-5),
    "ii  Gaussian 30 x 1000": (Repeat(gaussian(30.0), 1000), 1e-5),
    "iii Poisson .01, Gaussian 1 x 10000": (Repeat(Subsample(0.01, gaussian(1.0)), 10_000), 1e-6),
    "iv  Laplace 20 x 500": (Repeat(laplace(20.0), 500), 1e-5),
    "v   100 Laplace 20, 100 Gaussian 20": (
        Sequential((Repeat(laplace(20.0), 100), Repeat(gaussian(20.0), 100))),
        1e-5,
    ),
    "vi  Poisson .01, Laplace 1 x 1000": (Repeat(Subsample(0.01, laplace(1.0)), 1000), 1e-6),
    "vii 50 Laplace scales from 20 to 45": (scales(50), 1e-6),
    "viii 200 of them": (scales(200), 1e-6),
    "ix 400 of them": (scales(400), 1e-6),
    "x 1000 of them": (scales(1000), 1e-6),
    "xi 40 sampled Gaussians, all different": (different(40), 1e-6),
    "xii S-GBDT's defaults, floating noise, as planned": (sgbdt_plan(), 5e-8),
    "xiii 1000 sampled Gaussians, all different": (different(1000), 1e-6),
}
RUNS_KEPT = Path(__file__).with_suffix(".jsonl")
HEAD = "| case | refdp enclosure | Google PLD | ratio of time | refdp Rényi | Google RDP | autodp RDP |"
EPOCHS = (
    "| batches | Gaussian noise | epochs | ε is in | Poisson samples of rate 1/batches | each record in the clear |"
)
PAGE = Path(__file__).parents[1] / "docs" / "accounting.md"


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """The result and the median processor seconds of RUNS calls, after one to warm up."""
    start = time.process_time()
    result, seconds = call(), []
    if (first := time.process_time() - start) > 2:
        return result, first
    for _ in range(RUNS):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return result, statistics.median(seconds)


def fresh_renyi(plan: Plan, delta: float) -> float:
    """Rényi ε without the memory of earlier curves."""
    from refdp.accounting import divergence

    divergence._poisson_gaussian.cache_clear()
    divergence._at_whole_orders.cache_clear()
    return renyi_epsilon(plan, delta)


def google_pld(plan: Plan, delta: float) -> float:
    """Google's ε by privacy loss distributions at the default grid 1e-4."""
    from dp_accounting.pld import PLDAccountant

    return float(PLDAccountant().compose(to_dp_event(plan)).get_epsilon(delta))


def google_rdp(plan: Plan, delta: float) -> float:
    """Google's ε by Rényi divergence, NaN where it has none."""
    from dp_accounting import UnsupportedEventError
    from dp_accounting.rdp import RdpAccountant

    try:
        return float(RdpAccountant().compose(to_dp_event(plan)).get_epsilon(delta))
    except UnsupportedEventError:
        return math.nan


def autodp_renyi(event: Event, delta: float) -> float:
    """autodp's ε by Rényi divergence."""
    from autodp import transformer_zoo

    children = event.events if isinstance(event, Sequential) else (event,)
    parts, counts = zip(*((e.event, e.count) if isinstance(e, Repeat) else (e, 1) for e in children), strict=True)
    mechanisms = [_autodp_part(part) for part in parts]
    return float(transformer_zoo.Composition()(mechanisms, list(counts)).get_approxDP(delta))


def _autodp_part(event: Any) -> Any:
    from autodp import mechanism_zoo, transformer_zoo

    if isinstance(event, Subsample):
        sampling = transformer_zoo.AmplificationBySampling(PoissonSampling=True)
        return sampling(_autodp_part(event.event), event.rate, improved_bound_flag=True)
    price = cost(event)
    if isinstance(price, GaussianCost):
        return mechanism_zoo.GaussianMechanism(1 / price.mu, approxDP_off=True)
    assert isinstance(price, LaplaceCost)
    return mechanism_zoo.LaplaceMechanism(1 / price.epsilon)


def import_seconds() -> float:
    """Median wall time of `import refdp.accounting` beyond that of an empty interpreter."""

    def once(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    return statistics.median(once("import refdp.accounting, numpy") - once("pass") for _ in range(RUNS))


def measured(name: str) -> list[str]:
    """The cells of one case, the ratio of times among them."""
    event, delta = CASES[name]
    plan = Plan(Relation.ADD_REMOVE, event)
    calls: list[Callable[[], Any]] = [
        lambda: enclose_epsilon(normalise(plan), plan.relation, delta),
        lambda: google_pld(plan, delta),
        lambda: fresh_renyi(plan, delta),
        lambda: google_rdp(plan, delta),
        lambda: autodp_renyi(event, delta),
    ]
    found = [timed(call) for call in calls]
    cells = [shown(result, seconds) for result, seconds in found]
    cells.insert(2, f"{found[0][1] / found[1][1]:.2f}")
    return cells


def epochs() -> list[str]:
    """The table of shuffled epochs at δ = 1e-6: by balls and bins, by Poisson samples, by releases of all records."""
    lines = [EPOCHS, "|---|---|---|---|---|---|"]
    for slots, sd, times in ((100, 1.0, 1), (1000, 1.0, 1), (1000, 1.0, 10), (1000, 0.7, 1), (10_000, 0.5, 1)):
        one = gaussian(sd)
        ways: list[Event] = [balls_and_bins(one, slots), Repeat(Subsample(1 / slots, one), slots), one]
        bounds = [account(Plan(Relation.ADD_REMOVE, Repeat(way, times)), delta=1e-6) for way in ways]
        inside = f"[{bounds[0].lower:.3f}, {bounds[0].upper:.3f}]"
        lines.append(f"| {slots:,} | {sd:g} | {times} | {inside} | {bounds[1].upper:.3f} | {bounds[2].upper:.3f} |")
    return lines


def put(head: str, lines: list[str]) -> None:
    """A table into the page, in place of the one with that head."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(head)
    after = rest.partition("\n\n")[2]
    PAGE.write_text(f"{before}{chr(10).join(lines)}\n\n{after}", encoding="utf-8")


def table(kept: dict[str, list[str]]) -> list[str]:
    """Of the cases that are kept."""
    lines = [HEAD, "|---|---|---|---|---|---|---|"]
    return lines + [f"| {' '.join(name.split())} | {' | '.join(kept[name])} |" for name in CASES if name in kept]


def main() -> None:
    """Run what is missing, print the table, write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--again", action="append", default=[], metavar="TEXT", help="cases to run again, by a part of their name"
    )
    parser.add_argument("--write", action="store_true", help="into docs/accounting.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"import refdp.accounting with numpy: {import_seconds():.3f} s\n")
    text = RUNS_KEPT.read_text(encoding="utf-8") if RUNS_KEPT.exists() else ""
    kept: dict[str, list[str]] = dict(json.loads(line) for line in text.splitlines())
    for name in CASES:
        if name not in kept or any(part in name for part in options.again):
            kept[name] = measured(name)
            rows = [json.dumps([one, kept[one]], ensure_ascii=False) for one in CASES if one in kept]
            RUNS_KEPT.write_text("\n".join(rows) + "\n", encoding="utf-8")
    lines = table(kept)
    print("\n".join(lines))
    if options.write:
        put(HEAD, lines)
        put(EPOCHS, epochs())


def shown(result: Any, seconds: float) -> str:
    """One cell of the table."""
    if isinstance(result, float) and math.isnan(result):
        return "none"
    value = f"[{result.lower:.7f}, {result.upper:.7f}]" if hasattr(result, "lower") else f"{result:.7f}"
    return f"{value} ({1000 * seconds:.1f} ms)"


if __name__ == "__main__":
    main()
