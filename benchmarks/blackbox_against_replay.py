"""`python -m benchmarks.blackbox_against_replay`: the papers' published variants audited by replay and as black boxes.

Every paper is run with its repaired settings but for one printed choice (then with all of them), under both neighbour
relations. Where replay shows a violation, the pair that shows most is handed to the black-box auditor, which trains on
both sides and sees the whole published model. Writes docs/audit-versus-replay.md, from
results/blackbox_against_replay.jsonl; a row that is there already is not run again.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from dataclasses import fields
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import kept_lines
from refdp.accounting import account
from refdp.audit import Bound, epsilon_lower_bound
from refdp.audit.neighbours import pairs
from refdp.audit.replay import SLACK, Finding, Pair, Trainer, finite_or_name, sampled
from refdp.audit.report import SCHEMAS
from refdp.audit.structural_state import leaves, numbers
from refdp.audit.worst import worst_case
from refdp.data.records import Records
from refdp.errors import InvalidParameter
from refdp.faces.registry import PAPERS, Paper, paper
from refdp.faces.training import source_for
from refdp.privacy.curator import Curator
from refdp.privacy.events import Plan, Relation

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "blackbox_against_replay.jsonl"
PAGE = ROOT / "docs" / "audit-versus-replay.md"
EPSILON = 1.0
SMALL: dict[str, Any] = {"trees": 2, "rounds": 2, "depth": 2, "trees_per_ensemble": 2, "bins": 4}
EXTRA: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "fedgbdt": (
        ("all as printed, histogram splits", {"splits": "histogram"}),
        ("all as printed, noise by records", {"noise_by": "record"}),
        ("all as printed, iterative Hessian", {"splits": "histogram", "candidates": "iterative-hessian", "rounds": 2}),
    ),
    "dpxgboost": (("all as printed, noisy averages", {"leaf": "average"}),),
}
"""Further settings of the printed algorithms: other split methods, candidates and leaves."""
PAIRS = 24
"""Neighbouring pairs that replay may look at."""
MOST_RECORDS = 8


def variants() -> Iterator[tuple[Paper, str, Relation, Any]]:
    """Every paper, printed choice and relation that its parameters allow."""
    for name in PAPERS:
        one = paper(name)
        printed = one.printed.AS_PUBLISHED
        single = [(f"{key} = {value}", {key: value}) for key, value in printed.items()]
        extra = [(label, printed | more) for label, more in EXTRA.get(name, ())]
        for label, chosen in [*single, ("all as printed", printed), *extra]:
            for relation in Relation:
                params = _params(one, chosen, relation)
                if params is not None:
                    yield one, label, relation, params


def _params(one: Paper, chosen: dict[str, Any], relation: Relation) -> Any:
    known = {field.name for field in fields(one.printed.Params)}
    settings = {key: value for key, value in SMALL.items() if key in known} | dict(chosen)
    try:
        return one.params({"epsilon": EPSILON, "relation": relation, **settings}, as_published=False)
    except InvalidParameter:
        return None


class Counted:
    """Training that counts its runs."""

    def __init__(self, one: Paper, params: Any) -> None:
        self.one, self.params, self.runs = one, params, 0

    def __call__(self, records: Records, curator: Curator) -> Any:
        """Train once."""
        self.runs += 1
        return self.one.train(self.params, records, curator)


def by_replay(one: Paper, params: Any) -> tuple[dict[str, Any], Pair | None]:
    """Runs until the first violation, the kinds of all of them over PAIRS pairs, and the pair that loses most."""
    claimed = one.certificate(params, SCHEMAS[0]).claimed
    epsilon = claimed.epsilon if claimed.delta == 0 else math.inf
    train = Counted(one, params)
    kinds: dict[str, None] = {}
    first, worst, told, best = 0, -1.0, None, None
    start = time.perf_counter()
    stream = [pairs(schema, params.relation, 5, MOST_RECORDS) for schema in SCHEMAS]
    if any(_overspent(train, next(one).base, claimed.epsilon, claimed.delta) for one in stream):
        kinds["budget"], first = None, train.runs
    for number, pair in enumerate(chain.from_iterable(islice(zip(*stream), PAIRS // len(SCHEMAS)))):
        for finding in _findings(train, pair, number, epsilon):
            if finding.violations:
                first = first or train.runs
                kinds |= dict.fromkeys(violation.kind for violation in finding.violations)
                loss = _loss(finding, epsilon)
                rank = math.inf if loss is None else loss  # a pair that no replay can follow is worth a black box
                if rank > worst:
                    worst, told, best = rank, loss, pair
    shown = {"kinds": list(kinds), "runs": first, "seconds": time.perf_counter() - start, "loss": finite_or_name(told)}
    return shown | {"epsilon": claimed.epsilon, "delta": claimed.delta}, best


def _loss(finding: Finding, epsilon: float) -> float | None:
    """Largest loss along the run (of the recorded outputs where a delta lets single outputs lose without bound).

    None where none is stated, as for a model that differs although every output was the same.
    """
    if finding.loss is None or finding.worst is None:
        return None
    return (
        abs(finding.loss)
        if epsilon == math.inf and finding.worst == math.inf
        else max(abs(finding.loss), finding.worst)
    )


def _overspent(train: Counted, records: Records, epsilon: float, delta: float) -> bool:
    """Whether the recorded releases cost more than is claimed."""
    curator = Curator(source_for(train.params, 1), train.params.relation)
    train(records, curator)
    cost = account(Plan(train.params.relation, curator.event()), delta=delta).epsilon
    return cost > epsilon * (1 + SLACK)


def _findings(train: Trainer, pair: Pair, number: int, epsilon: float) -> Iterator[Finding]:
    yield sampled(train, pair, number, epsilon)
    if epsilon < math.inf:
        yield worst_case(train, pair, epsilon, reverse=number % 2 == 1)


def by_black_box(one: Paper, params: Any, pair: Pair, delta: float, claimed: float, samples: int) -> Bound:
    """The black-box lower bound on one pair; every number of the published model is an output."""

    def mechanism(records: Records, seed: int) -> Any:
        curator = Curator(source_for(params, seed), params.relation)
        return np.array(list(numbers(leaves(one.train(params, records, curator).to_json())).values()))

    return epsilon_lower_bound(mechanism, pair, delta, claimed=claimed, samples=samples, seed=1)


def row(one: Paper, label: str, relation: Relation, params: Any, samples: int) -> dict[str, Any]:
    """One line of the table."""
    replayed, pair = by_replay(one, params)
    shown = {"paper": one.name, "variant": label, "relation": relation.value, "replay": replayed, "black box": None}
    if pair is not None:
        bound = by_black_box(one, params, pair, replayed["delta"], replayed["epsilon"], samples)
        shown["black box"] = bound.to_dict()
    return json.loads(json.dumps(shown, default=float))  # type: ignore[no-any-return]


HEAD = """# Replay against black box

**Replay names broken promises that no black box can see, mostly in a handful of runs.**

|  | replay | black box |
|---|---|---|
| sees | every release, its declared sensitivity, control flow | outputs |
| its figure | exact loss along a run | lower bound at a confidence |
| needs | the trainer behind a curator | a function and a pair |
| a silent one means | nothing found on the pairs tried | nothing |

Written by `python -m benchmarks.blackbox_against_replay` (ε = {epsilon:g}, {trees} trees of depth {depth}, at most
{most} records, {pairs} pairs; no figure is typed by hand). Each line is a paper with its repaired settings but for one
printed choice. *Replay*: training runs until the first violation. *Black box*: `refdp.audit.epsilon_lower_bound`
(confidence 1 - 1e-6) on the pair that replay found to lose most, with all numbers of the published model as output;
runs on both sides until the bound exceeds the claim, or all that were allowed. The pair is a gift: a black-box auditor
would have to find it first. A violation that replay names is a broken promise of a release (its sensitivity, say);
where the loss stays below ε, the run as a whole did not exceed the claim on these pairs, and no black box can see it
there. The loss is the largest over all outputs along a run, however improbable; for papers with a δ that of recorded
outputs. "not stated": on the pair that went to the black box the neighbour's run cannot follow (it has other
candidates, or draws secret partitions from another law), or the model shows more than was released.

"""


def page(rows: list[dict[str, Any]]) -> str:
    """The table, and what was tried without a violation."""
    head = HEAD.format(epsilon=EPSILON, trees=SMALL["trees"], depth=SMALL["depth"], most=MOST_RECORDS, pairs=PAIRS)
    broken = [one for one in rows if one["black box"] is not None]
    seen = [one for one in broken if one["black box"]["refuted"]]
    lines = [head, f"Replay shows a violation in {len(broken)} of {len(rows)} variants; of these the black box sees "]
    lines.append(
        f"{len(seen)}. {_unseen(broken)}\n\n"
        "| paper | printed choice | neighbours | violations by replay | loss | runs | black box: "
    )
    lines.append("bound | runs | seconds | ratio of runs |\n|" + "---|" * 10 + "\n")
    lines += [_line(one) for one in broken]
    rest = [f"{one['paper']}: {one['variant']} ({one['relation']})" for one in rows if one["black box"] is None]
    lines.append("\nNo violation on these pairs (which proves nothing): " + "; ".join(rest) + ".\n")
    return "".join(lines)


def _unseen(broken: list[dict[str, Any]]) -> str:
    """Why the others are not seen, by what replay states for the pair."""
    losses = [one["replay"]["loss"] for one in broken if not one["black box"]["refuted"]]
    below = sum(loss is not None and float(loss) <= EPSILON for loss in losses)
    above = sum(loss is not None and float(loss) > EPSILON for loss in losses)
    return (
        f"Of the {len(losses)} that it does not see, {below} lose at most ε on their pair, so that no number of runs "
        f"on it refutes the claim; {above} lose more, but on outputs too rare for these runs; "
        f"{len(losses) - below - above} have no stated loss. Events are chosen from runs alone; chosen by the replayed "
        "loss, with settings and pairs to suit, they show more: [events from replayed losses](audit-synthesis.md)."
    )


def _line(one: dict[str, Any]) -> str:
    replayed, bound = one["replay"], one["black box"]
    runs = 2 * bound["samples"]
    verdict = f"{bound['lower']:.3g}" + ("" if bound["refuted"] else ", not seen")
    ratio = (
        f"{runs / max(replayed['runs'], 1):,.0f}" if bound["refuted"] else f"> {runs / max(replayed['runs'], 1):,.0f}"
    )
    loss = "not stated" if replayed["loss"] is None else f"{float(replayed['loss']):.3g}"
    cells = [one["paper"], one["variant"], one["relation"], ", ".join(replayed["kinds"]), loss, replayed["runs"]]
    cells += [verdict, f"{runs:,}", f"{bound['seconds']:.0f}", ratio]
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def main() -> None:
    """Run what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=2000, help="most black-box runs a side")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    RESULTS.parent.mkdir(exist_ok=True)
    rows = kept_lines.read(RESULTS)
    done = {(one["paper"], one["variant"], one["relation"]) for one in rows}
    for one, label, relation, params in [] if options.page else variants():
        if (one.name, label, relation.value) in done:
            continue
        shown = row(one, label, relation, params, options.samples)
        print(
            one.name,
            label,
            relation.value,
            json.dumps(shown["replay"]),
            (shown["black box"] or {}).get("lower"),
            flush=True,
        )
        rows.append(shown)
        kept_lines.append(RESULTS, shown)
    PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
