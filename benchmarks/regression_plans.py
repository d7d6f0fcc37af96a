"""Plans and true intervals, and what others say: python -m benchmarks.regression_plans FILE [--plans N] [--write]

Writes a JSON file that other projects can use: for every plan its parts (kind, noise, count, Poisson rate; unit
sensitivities, add-remove), delta, the interval [lower, upper] that holds the true epsilon (both ends proved up to the
trust that docs/accounting.md states), what each accountant answers, and which of them is below `lower`. A file that is
there is completed: plans are drawn in the same order, and accountants that can be imported now fill in what is missing
(extras `oracles` and `prv`, which may live in two environments). From plan 250 on they are of odd shapes. Five hundred
take about an hour; who does not answer within five seconds of processor time and 6 GB is told so.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import signal
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accounting import put
from refdp.accounting import account
from refdp.noise.mechanisms import Gaussian, Laplace, Mechanism
from refdp.privacy.events import Event, Norm, Plan, Relation, Release, Repeat, Sensitivity, Sequential, Subsample

SEED = 20
ORDINARY = 250  # plans; from there on they are of odd shapes
EVERY = 10  # plans between two writes
SECONDS, BYTES = 5, 6 * 2**30  # for one answer, for the process
Row = dict[str, Any]


def plan_of(row: Row) -> Plan:
    """The plan of a row."""
    return Plan(Relation.ADD_REMOVE, Sequential(tuple(_event(part) for part in row["parts"])))


def _event(part: Row) -> Event:
    makes: dict[str, tuple[Callable[[float], Mechanism], Norm]] = {"gaussian": (Gaussian, 2), "laplace": (Laplace, 1)}
    make, norm = makes[part["kind"]]
    one: Event = Release(
        part["kind"], make(part["noise"]), Sensitivity(1.0, norm, "benchmark/declared", Relation.ADD_REMOVE)
    )
    if part.get("poisson", 1) < 1:
        one = Subsample(part["poisson"], one)
    return Repeat(one, part["count"])


def drawn(number: int) -> list[Row]:
    """So many rows without answers: single releases, compositions, samples, mixtures; delta from 1e-13 to 1e-2.

    Those of odd shapes: up to four kinds of releases, 1 to 10^4 of each, rates from 10^-5 to 0.999, delta from 1e-15.
    """
    generator = np.random.default_rng(SEED)
    return [_row(generator) if index < ORDINARY else _odd_row(generator) for index in range(number)]


def _odd_row(generator: np.random.Generator) -> Row:
    parts = []
    for _ in range(int(generator.integers(1, 5))):
        count = int(10 ** generator.choice([0, generator.uniform(0, 4)]))
        noise = 10 ** generator.uniform(-1, 1.5) * math.sqrt(count)
        part: Row = {"kind": str(generator.choice(["gaussian", "laplace"])), "noise": float(f"{noise:.4g}")}
        part["count"] = count
        if generator.random() < 0.5:
            rate = (
                10 ** generator.uniform(-5, -1) if generator.random() < 0.5 else 1 - 10 ** generator.uniform(-3, -0.3)
            )
            part["poisson"] = float(f"{rate:.4g}")
            part["noise"] = float(f"{max(0.5, noise * min(1.0, 3 * rate)):.4g}")
        parts.append(part)
    return {"parts": parts, "delta": float(f"{10 ** generator.uniform(-15, -0.5):.4g}")}


def _row(generator: np.random.Generator) -> Row:
    parts = []
    for _ in range(int(generator.integers(1, 3))):
        count = int(10 ** generator.uniform(0, 2))
        noise = float(f"{generator.uniform(0.5, 4) * math.sqrt(count):.4g}")
        part: Row = {"kind": str(generator.choice(["gaussian", "laplace"])), "noise": noise, "count": count}
        if generator.random() < 0.4:
            rate = 10 ** generator.uniform(-2.5, -0.2)
            part["noise"] = float(f"{max(0.6, noise * min(1.0, 3 * rate)):.4g}")
            part["poisson"] = float(f"{rate:.4g}")
        parts.append(part)
    return {"parts": parts, "delta": float(f"{10 ** generator.uniform(-13, -2):.4g}")}


def google(row: Row) -> float:
    """The pessimistic estimate of dp_accounting's privacy loss distributions at their default grid."""
    from dp_accounting.pld import PLDAccountant

    from refdp.accounting.dp_events import to_dp_event

    return float(PLDAccountant().compose(to_dp_event(plan_of(row))).get_epsilon(row["delta"]))


def autodp(row: Row) -> float:
    """autodp by Rényi divergence."""
    from benchmarks.accounting import autodp_renyi

    return float(autodp_renyi(plan_of(row).event, row["delta"]))


def prv(row: Row) -> float:
    """prv-accountant's upper bound, at an error of 0.01 in epsilon and a thousandth of delta."""
    from prv_accountant import PRVAccountant
    from prv_accountant.privacy_random_variables import (
        GaussianMechanism,
        LaplaceMechanism,
        PoissonSubsampledGaussianMechanism,
    )

    mechanisms, counts = [], []
    for part in row["parts"]:
        rate = part.get("poisson", 1)
        if part["kind"] == "laplace":
            if rate < 1:
                raise NotImplementedError("no sampled Laplace noise")
            mechanisms.append(LaplaceMechanism(mu=1 / part["noise"]))
        elif rate < 1:
            sampled = PoissonSubsampledGaussianMechanism(noise_multiplier=part["noise"], sampling_probability=rate)
            mechanisms.append(sampled)
        else:
            mechanisms.append(GaussianMechanism(noise_multiplier=part["noise"]))
        counts.append(part["count"])
    accountant = PRVAccountant(
        prvs=mechanisms, max_self_compositions=counts, eps_error=0.01, delta_error=row["delta"] / 1000
    )
    return float(accountant.compute_epsilon(row["delta"], counts)[2])


ACCOUNTANTS: dict[str, tuple[str, Callable[[Row], float]]] = {
    "dp_accounting PLD": ("dp_accounting", google),
    "autodp RDP": ("autodp", autodp),
    "prv-accountant": ("prv_accountant", prv),
}


def answered(row: Row) -> None:
    """Fill in what is missing of a row."""
    if "upper" not in row:
        bound = account(plan_of(row), delta=row["delta"])
        row["lower"], row["upper"], row["answers"] = bound.lower, bound.upper, {}
    for name, (package, ask) in ACCOUNTANTS.items():
        if name in row["answers"] or find_spec(package) is None:
            continue
        signal.signal(signal.SIGVTALRM, _too_long)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            found: float | str = ask(row)
        except Exception as error:  # whatever other projects raise is their answer
            found = f"{type(error).__name__}: {error}"[:100]
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if isinstance(found, float) and not math.isfinite(found):
            found = "inf" if found > 0 else str(found)
        row["answers"][name] = found
    row["too small"] = sorted(name for name, found in row["answers"].items() if below(found, row["lower"]))


def below(found: float | str, lower: float) -> bool:
    """Whether an answer is too small. One below 0 is right where 0 is: refdp reports none below 0."""
    return isinstance(found, float) and max(found, 0.0) < lower


def _too_long(*_: object) -> None:
    raise TimeoutError(f"no answer within {SECONDS} s of processor time")


HEAD = "| accountant | answers | errors or none | too small | median excess over `lower` | least of those that hold |"


def summary(rows: list[Row]) -> list[str]:
    """One line an accountant: answers, how many below the truth, median excess over it, how often it is the least."""
    lines = [HEAD, "|---|---|---|---|---|---|"]
    winners = [_least(row) for row in rows]
    for name in ("refdp", *ACCOUNTANTS):
        found = [(row["upper"] if name == "refdp" else row["answers"].get(name), row["lower"]) for row in rows]
        numbers = [(value, low) for value, low in found if isinstance(value, float)]
        small = sum(below(value, low) for value, low in numbers)
        excess = [value / low - 1 for value, low in numbers if low > 0]
        middle = f"{np.median(excess):.2e}" if excess else "-"
        least = winners.count(name)
        lines.append(f"| {name} | {len(numbers)} | {len(found) - len(numbers)} | {small} | {middle} | {least} |")
    return lines


def _least(row: Row) -> str:
    answers = {"refdp": row["upper"], **row["answers"]}
    hold = {
        name: max(value, 0.0)
        for name, value in answers.items()
        if isinstance(value, float) and not below(value, row["lower"])
    }
    return min(hold, key=lambda name: hold[name])


def main() -> None:
    """Write or complete the file, print the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path)
    parser.add_argument("--plans", type=int, default=500)
    parser.add_argument("--write", action="store_true", help="the table into docs/accounting.md")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    known = json.loads(options.file.read_text(encoding="utf-8")) if options.file.exists() else []
    rows = drawn(options.plans)
    rows[: len(known)] = known
    warnings.simplefilter("ignore")
    for number, row in enumerate(rows):
        answered(row)
        if number % EVERY == 0 or number == len(rows) - 1:
            done = rows[: max(number + 1, len(known))]
            lines = ",\n".join(json.dumps(one) for one in done)
            options.file.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    lines = summary(rows)
    print("\n".join(lines))
    if options.write:
        put(HEAD, lines)


if __name__ == "__main__":
    main()
