"""Seconds of refdp's accountants next to autodp and Google's dp_accounting: python benchmarks/accounting.py

Prints, for the five cases of docs/accounting.md, ε and the median time of several runs (warm), and the time of
importing refdp.accounting in a fresh interpreter. Needs the extra `oracles`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from refdp.accounting import renyi_epsilon
from refdp.accounting.dp_events import to_dp_event
from refdp.accounting.enclosure import enclose_epsilon
from refdp.accounting.normal import normalise
from refdp.events import Event, Plan, Relation, Release, Repeat, Sensitivity, Sequential, Subsample
from refdp.mechanisms import Gaussian, Laplace

RUNS = 5


def gaussian(sd: float) -> Release:
    """One Gaussian release of unit sensitivity."""
    return Release("gaussian", Gaussian(sd), Sensitivity(1.0, 2, "benchmark/declared", Relation.ADD_REMOVE))


def laplace(scale: float) -> Release:
    """One Laplace release of unit sensitivity."""
    return Release("laplace", Laplace(scale), Sensitivity(1.0, 1, "benchmark/declared", Relation.ADD_REMOVE))


CASES: dict[str, tuple[Event, float]] = {
    "i   Gaussian 1": (gaussian(1.0), 1e-5),
    "ii  Gaussian 30 x 1000": (Repeat(gaussian(30.0), 1000), 1e-5),
    "iii Poisson .01, Gaussian 1 x 10000": (Repeat(Subsample(0.01, gaussian(1.0)), 10_000), 1e-6),
    "iv  Laplace 20 x 500": (Repeat(laplace(20.0), 500), 1e-5),
    "v   100 Laplace 20, 100 Gaussian 20": (
        Sequential((Repeat(laplace(20.0), 100), Repeat(gaussian(20.0), 100))),
        1e-5,
    ),
}


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """The result and the median seconds of RUNS calls, after one to warm up."""
    result, seconds = call(), []
    for _ in range(RUNS):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return result, statistics.median(seconds)


def fresh_renyi(plan: Plan, delta: float) -> float:
    """Rényi ε without the memory of earlier curves."""
    from refdp.accounting import divergence

    divergence._poisson_gaussian.cache_clear()
    return renyi_epsilon(plan, delta)


def google_pld(plan: Plan, delta: float) -> float:
    """Google's ε by privacy loss distributions at the default grid 1e-4."""
    from dp_accounting.pld import PLDAccountant

    return float(PLDAccountant().compose(to_dp_event(plan)).get_epsilon(delta))


def google_rdp(plan: Plan, delta: float) -> float:
    """Google's ε by Rényi divergence."""
    from dp_accounting.rdp import RdpAccountant

    return float(RdpAccountant().compose(to_dp_event(plan)).get_epsilon(delta))


def autodp_renyi(event: Event, delta: float) -> float:
    """autodp's ε by Rényi divergence."""
    from autodp import transformer_zoo

    pairs = [
        (e.event, e.count)
        for e in (event.events if isinstance(event, Sequential) else (event,))
        if isinstance(e, Repeat)
    ]
    parts, counts = zip(*(pairs or [(event, 1)]), strict=True)
    mechanisms = [_autodp_part(part) for part in parts]
    return float(transformer_zoo.Composition()(mechanisms, list(counts)).get_approxDP(delta))


def _autodp_part(event: Any) -> Any:
    from autodp import mechanism_zoo, transformer_zoo

    if isinstance(event, Subsample):
        sampling = transformer_zoo.AmplificationBySampling(PoissonSampling=True)
        return sampling(_autodp_part(event.event), event.rate, improved_bound_flag=True)
    if isinstance(event.mechanism, Gaussian):
        return mechanism_zoo.GaussianMechanism(event.mechanism.sd, approxDP_off=True)
    return mechanism_zoo.LaplaceMechanism(event.mechanism.scale)


def import_seconds() -> float:
    """Median wall time of `import refdp.accounting` beyond that of an empty interpreter."""

    def once(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    return statistics.median(once("import refdp.accounting, numpy") - once("pass") for _ in range(RUNS))


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    print(f"import refdp.accounting with numpy: {import_seconds():.3f} s")
    for name, (event, delta) in CASES.items():
        plan = Plan(Relation.ADD_REMOVE, event)
        node = normalise(plan)
        rows = {
            "refdp renyi": lambda plan=plan, delta=delta: fresh_renyi(plan, delta),
            "refdp enclosure": lambda plan=plan, node=node, delta=delta: enclose_epsilon(node, plan.relation, delta),
            "google pld": lambda plan=plan, delta=delta: google_pld(plan, delta),
            "google rdp": lambda plan=plan, delta=delta: google_rdp(plan, delta),
            "autodp rdp": lambda event=event, delta=delta: autodp_renyi(event, delta),
        }
        print(f"\n{name}, delta {delta:g}")
        for label, call in rows.items():
            result, seconds = timed(call)
            shown = f"[{result.lower:.7f}, {result.upper:.7f}]" if hasattr(result, "lower") else f"{result:.7f}"
            print(f"  {label:16} {shown:26} {seconds:9.5f} s")


if __name__ == "__main__":
    main()
