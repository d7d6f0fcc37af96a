"""Speed of InPrivate Digging: one tree on many records, and both schedules at an owner's size.

    python -m benchmarks.inprivate [--repeats 7] [--rows 100000]
        [--save benchmarks/reproduce/kept/inprivate_schedule.json]

Every time is the best of the repeats, of the wall clock; the first table has processor time beside it, which other
programs on the machine do not lengthen. The first table has one tree of depth 6 (five levels of splits) on made-up
records of 15 features, from records to the model; the aim is below .25 s. The second has c1, evaluating one tree on an
owner's 1,000 records, c2, training one on them, and a run of 20 owners by either schedule: the time by Eq. 18 and 19
and by the simulated events, and the messages and bytes of a real run. --save keeps all of the second for
docs/inprivate.md.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from refdp.data.records import Classes, Numeric, Records, Schema, make_records
from refdp.papers import inprivate
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource
from refdp.protocols.journal import MemoryJournal
from refdp.protocols.messages import MINER, Turn
from refdp.protocols.owners import Owner, rules_of
from refdp.protocols.quality import scores_by
from refdp.protocols.rounds import conduct
from refdp.protocols.schedules import Times, baseline_time, broadcast_time, simulate

FEATURES, OWNER, ALLOWED = 15, 1_000, 0.25
DEPTHS, COUNTS = (4, 10), (2, 5, 10, 15, 20)


def made_up(rows: int, seed: int = 0) -> Records:
    """Uniform features, and a class that depends on some of them."""
    generator = np.random.default_rng(seed)
    x = generator.random((rows, FEATURES))
    signal = x[:, 0] * x[:, 1] + 0.5 * x[:, 2] + 0.2 * generator.standard_normal(rows)
    schema = Schema(tuple(Numeric(f"x{i}", 0.0, 1.0) for i in range(FEATURES)), Classes(("no", "yes")))
    return make_records(schema, x, (signal > 0.5).astype(np.float64))


def trained(records: Records, depth: int) -> Any:
    """One tree, with its model."""
    params = inprivate.Params(1.0, Relation.ADD_REMOVE, depth=depth, noise="floating")
    return inprivate.train(params, records, Curator(SampleSource(np.random.default_rng(0)), params.relation))


def best(work: Callable[[], Any], repeats: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """The shortest of some calls, in seconds of a clock."""
    found = np.inf
    for _ in range(repeats):
        start = clock()
        work()
        found = min(found, clock() - start)
    return float(found)


def measured(repeats: int, depth: int = 4) -> Times:
    """c1 and c2 at an owner's size."""
    records = made_up(OWNER)
    model = trained(records, depth)
    turn = Turn(0, 0, model.outputs[0].trees)
    params = inprivate.Params(1.0, Relation.ADD_REMOVE, depth=depth, noise="floating")
    residual = best(lambda: scores_by(params, records, [turn]), repeats)
    return Times(residual, best(lambda: trained(records, depth), repeats))


def sent(owners: int, depth: int, *, broadcast: bool) -> tuple[int, int]:
    """Messages from one owner to another in a real round, and their bytes."""
    params = inprivate.Params(1.0, Relation.ADD_REMOVE, owners=owners, depth=depth, noise="floating")
    rules = rules_of(params, made_up(1).schema)
    with ExitStack() as doors:
        members = [
            Owner.behind(doors, rules, params, owner, made_up(OWNER, owner),
                         Curator(SampleSource(np.random.default_rng(owner)), params.relation), MemoryJournal(),
                         broadcast=broadcast)
            for owner in range(owners)
        ]  # fmt: skip
        outcome = conduct(params, rules, members, broadcast=broadcast)
    between = [message for message in outcome.log if MINER not in (message.sender, message.receiver)]
    return len(between), sum(len(message.data) for message in between)


def schedule(depth: int, repeats: int) -> dict[str, Any]:
    """c1, c2, and for each number of owners and schedule: time by the equation, simulated, messages, bytes."""
    times = measured(repeats, depth)
    rows = []
    for owners in COUNTS:
        turns = [((0, owner), True) for owner in range(owners)]
        for name, closed, broadcast in (("baseline", baseline_time, False), ("speed-up", broadcast_time, True)):
            messages, size = sent(owners, depth, broadcast=broadcast)
            found = simulate(turns, times, broadcast=broadcast)
            rows.append({
                "owners": owners, "schedule": name, "equation": closed(owners, times.residual, times.tree),
                "simulated": found.total, "waits": found.called[0, owners - 1], "messages": messages, "bytes": size,
            })  # fmt: skip
    return {"depth": depth, "c1": times.residual, "c2": times.tree, "rows": rows}


def speed(rows: int, repeats: int, console: Console) -> None:
    """The first table."""
    records = made_up(rows)
    table = Table("depth", "seconds", "of processor", "allowed", title=f"one tree, {rows:,} x {FEATURES}")
    for depth in (6, 10):
        wall, busy = (best(partial(trained, records, depth), repeats, clock)
                      for clock in (time.perf_counter, time.process_time))  # fmt: skip
        table.add_row(str(depth), f"{wall:.3f}", f"{busy:.3f}", f"{ALLOWED}" if depth == 6 else "")
    console.print(table)


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    console = Console(width=100)
    speed(options.rows, options.repeats, console)
    found = [schedule(depth, options.repeats * 5) for depth in DEPTHS]
    table = Table("depth", "schedule", "c1 (ms)", "c2 (ms)", "equation (s)", "simulated (s)", "messages", "bytes",
                  title=f"{COUNTS[-1]} owners of {OWNER:,} records, one round")  # fmt: skip
    for part in found:
        for row in part["rows"][-2:]:
            table.add_row(str(part["depth"]), row["schedule"], f"{1e3 * part['c1']:.3f}", f"{1e3 * part['c2']:.2f}",
                          f"{row['equation']:.4f}", f"{row['simulated']:.4f}", f"{row['messages']}",
                          f"{row['bytes']:,}")  # fmt: skip
    console.print(table)
    if options.save is not None:
        options.save.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
