"""`python -m benchmarks.event_synthesis`: black boxes told by replay which pair, settings and event to look at.

For every printed choice that replay shows to be broken (the table of docs/audit-versus-replay.md): settings and pairs
of a short list are ranked by the exact losses of instrumented runs, the event is fixed on such runs
(`refdp.audit.synthesis`), and fresh black-box runs test it. Writes docs/audit-synthesis.md from
benchmarks/event_synthesis.jsonl; a row that is there already is not run again. About ten minutes of processor time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import fields
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import kept_lines
from benchmarks.blackbox_against_replay import EXTRA
from benchmarks.blackbox_against_replay import PAGE as BROKEN
from refdp.audit.replay import Pair
from refdp.audit.synthesis import LEARNING, RANKING, Candidate, best_of, confirm, forecast, synthesise, told
from refdp.data.records import Floats, Interval, Numeric, Schema, make_records
from refdp.errors import InvalidParameter
from refdp.faces.registry import Paper, paper
from refdp.faces.training import source_for
from refdp.privacy.events import Relation

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "event_synthesis.jsonl"
PAGE = ROOT / "docs" / "audit-synthesis.md"
SEED = 20_261
"""Not used before every line was run with it."""
ERROR = 1e-6
CONFIRMED = 2_000
"""Fresh black-box runs a side: 4,000 in all."""
SIZES = (250, 500, 1_000, CONFIRMED)
"""The first of these for which the choice forecasts a bound above the claim is what is run."""
FINALISTS, TRIED = 3, 60
"""Where no loss is stated, candidates whose event is chosen from so many runs a side: the best of them is tested."""

FEATURES = (Numeric("length", 0.0, 1.0),)
SCHEMAS = {
    "regression": Schema(FEATURES, Interval(-1.0, 1.0)),
}
STUMP: dict[str, Any] = {"trees": 1, "trees_per_ensemble": 1, "depth": 1, "candidates": "uniform", "subsample": 1.0}
"""One release of each kind, to which the whole budget goes."""
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "dpboost": ({"bins": 1}, {"bins": 1, "epsilon": 2.0}),
    "inprivate": tuple({"depth": 2, "bins": 1, "split_share": 0.01, "rounds": n, "epsilon": e}
                       for n, e in ((1, 2.0), (2, 1.0))),
    "dpxgboost": ({"child_minimum": 2, "bins": 2}, {"child_minimum": 1, "regularisation": 0.01, "bins": 2},
                  {"child_minimum": 1, "regularisation": 1.0, "bins": 2}),
    "fedgbdt": tuple({"delta": 0.3, "epsilon": 2.0} | more for more in (
        {"update": "gradient", "gradient_bound": 4.0}, {"update": "averaging"}, {"update": "newton"})),
    "sgbdt": ({"delta": 0.3, "epsilon": 0.5}, {"delta": 0.3, "epsilon": 0.5, "support_weight": 0.98}),
}  # fmt: skip
"""Settings that put much of the budget where the paper's constant is printed; a claim holds for all settings."""
PARTITIONED: dict[str, Any] = {"trees": 20, "trees_per_ensemble": 20, "shrinkage": 1e-3, "bins": 1}
"""Equal shares: all subsets of exact size grow at the same number of records."""
CROWDS = (19, 3)
"""Records besides the audited one, where there are any."""


def crowded(schema: Schema, relation: Relation) -> Iterator[Pair]:
    """No other record, a crowd of equal records, or one at either bound; a replaced record may move between leaves."""
    low, high = (-1.0, 1.0) if isinstance(schema.target, Interval) else (0.0, 1.0)
    moves = (False, True) if relation is Relation.REPLACE_ONE else (False,)
    for (size, split), moved in product(((0, False), *product(CROWDS, (False, True))), moves):
        x = ((np.arange(size + 2) + 1) % 2).astype(np.float64) if split else np.zeros(size + 2)
        y = np.where(x == 1.0, high, low) if split else np.full(size + 2, (low + high) // 2)
        x[size:], y[size:] = (0.0, 1.0 if moved else 0.0), (high, low)
        yield _pair(schema, relation, x, y)


def _pair(schema: Schema, relation: Relation, x: Floats, y: Floats) -> Pair:
    """The last two records are the new and the old one. Shapes (records,)."""
    records, size = make_records(schema, x[:, np.newaxis], y), len(x) - 2
    old = records.take([size + 1]) if relation is Relation.REPLACE_ONE else None
    return Pair(records.take(range(size)), records.take([size]), old, size)


def apart(schema: Schema, relation: Relation) -> Iterator[Pair]:
    """The audited record has a value that no other has: what is offered as a split shows it."""
    for size in (2, 3):
        yield _pair(schema, relation, np.array([*np.linspace(0.1, 0.3, size), 0.9, 0.6]), np.zeros(size + 2))


def settings(one: Paper, label: str) -> dict[str, Any]:
    """The printed choices of a line of the table."""
    for name, more in EXTRA.get(one.name, ()):
        if label == name:
            return dict(one.printed.AS_PUBLISHED) | more
    if label == "all as printed":
        return dict(one.printed.AS_PUBLISHED)
    key = label.partition(" = ")[0]
    return {key: one.printed.AS_PUBLISHED[key]}


def candidates(one: Paper, label: str, relation: Relation) -> Iterator[tuple[str, Candidate]]:
    """What may be audited of a printed choice, in words and as a candidate."""
    chosen = settings(one, label)
    known = {field.name for field in fields(one.printed.Params)}
    menu = SETTINGS[one.name]
    if chosen.get("blocks") == "sizes":
        menu = (PARTITIONED, *menu)
    for more, (kind, schema) in product(menu, SCHEMAS.items()):
        wanted = {"epsilon": 1.0, "relation": relation, **{k: v for k, v in (STUMP | more).items() if k in known}}
        try:
            params = one.params(wanted | chosen, as_published=False)
            claimed = one.certificate(params, schema).claimed
        except InvalidParameter:
            continue
        told = ", ".join(f"{key} = {value}" for key, value in more.items() if key not in chosen)
        reveals = chosen.get("candidates") in ("data", "triples")
        for pair in (apart if reveals else crowded)(schema, relation):
            words = f"{told}; {kind}, {pair.base.size} other records"
            yield (
                words,
                Candidate(
                    partial(one.train, params), pair, partial(source_for, params), claimed.epsilon, claimed.delta
                ),
            )


def row(one: Paper, label: str, relation: Relation, seed: int) -> dict[str, Any]:
    """One line: the candidates ranked, the best few given an event, the best of these tested."""
    start = time.process_time()
    listed = list(candidates(one, label, relation))
    words = {id(candidate): setting for setting, candidate in listed}
    finalists = best_of([candidate for _, candidate in listed], seed, FINALISTS)
    if told(finalists[0], seed, RANKING).stated < 1:  # nothing is known of their order: some runs of each have to say
        events = [(one, synthesise(one, seed + 1, TRIED, CONFIRMED, ERROR)) for one in finalists]
        finalists = [max(events, key=lambda pair: pair[1].promised - pair[0].epsilon)[0]]
    best = finalists[0]
    event = synthesise(best, seed + 2, LEARNING, CONFIRMED, ERROR)
    runs = next((n for n in SIZES if forecast(event.choice, best.delta, n, ERROR) > best.epsilon), CONFIRMED)
    found = confirm(best, event, seed + 3, runs, ERROR)
    return {
        "paper": one.name,
        "variant": label,
        "relation": relation.value,
        "candidates": len(listed),
        "setting": words[id(best)],
        "epsilon": best.epsilon,
        "delta": best.delta,
        "event": event.words,
        "runs": 2 * runs,
        "promised": event.promised,
        "stated": event.stated,
        "lower": found.lower,
        "counts": [found.counts.likelier, found.counts.other],
        "seconds": time.process_time() - start,
    }


HEAD = """# Events from replayed losses

**Replay shows {total} printed choices to be broken; {tried} of them were run, and black boxes that replay had told
where to look see {seen} with {runs:,} runs at most, {more} of them in a second try. On their own, in one fixed setting,
they see {before} of {total}. The aim, 20, is not met: {barred} of the rest are [out of reach](#what-was-not-seen).**

| question | answer |
|---|---|
| which pair, which settings | a short list, ranked by the exact losses of {ranking} instrumented runs each |
| which event | outputs whose replayed loss is large, recognised in the published model by a regression |
| does the bound hold | yes: the event is fixed before the fresh runs that test it, at 1 - {error:g} |
| a line without a refutation | proves nothing |

Written by `python -m benchmarks.event_synthesis` (no figure is typed by hand), for the lines of
[replay against black box](audit-versus-replay.md), whose black box gets one fixed setting. Here the settings are the
auditor's too: a claim holds for every setting that a trainer takes, and one tree of depth 1 gives the whole budget to
the releases whose printed constant is wrong. Where the printed choice concerns the size of subsets, all subsets have
nearly equal shares, so that one record makes several of them grow. For a claim with a δ a large δ is asked for:
Gaussian noise is told apart there by few runs. *claim*: ε and δ of the setting that is tested. *runs*: fresh, half of
them on either side, at most {side:,} each; the choice forecasts how many are enough. *counts*: of the event, likelier
side first. Instrumented runs ({learning:,} a side fix the event, more where no loss is stated) are not counted as
black-box runs: an auditor with the source can hand a small, exact test to one without it.

Every line was run once, with a seed that was not used while lists and ranking were made; for what was not seen then
there is a second try, below, with a seed of its own. What is seen is chosen among {tests} tests: the chance that any
bound is above the truth is at most {any:g}.

"""


UNSEEN = """
## What was not seen

Replay tells that a release is worth more than it is declared to be. That is a broken promise even where the run as a
whole stays below its claim, or exceeds it on outputs that are too rare for the runs that are allowed.

*any event*: the best event on everything that a run releases is a threshold of its exact loss (Neyman and Pearson).
Its bound from {side:,} runs a side at 1 - {error:g}, counts at their means, is told for the setting and pair where it
comes nearest to the claim, estimated from {known} instrumented runs a side; the published model shows no more. Where
it lies below the claim and all pairs of the list have a loss, the line is out of reach of every black box of so many
runs there (an estimate, no proof): so it is with {barred} of {tried} lines. *not stated*: settings and pairs whose
losses are not known, since the neighbour's run cannot follow or the model shows more than was released; the figure is
about the others.

*second try*: all settings and pairs of the list, events from {listed} runs a side of the published models alone, their
last bits among the events; the best event is chosen once more, from {chosen} runs a side. It is tested on fresh runs
where a bound above the claim is forecast, {tested} times in all. A noisy sum that is divided by an exact count tells
the count by its last bits.

| paper | printed choice | neighbours | any event, claim | not stated | second try, claim | runs | counts | event |
|---|---|---|---|---|---|---|---|---|
"""


def out_of_reach(one: dict[str, Any]) -> bool:
    """Whether no event on all released outputs would do, on any setting and pair of the list."""
    return one["stated"] == one["candidates"] and one["reach"] <= one["reach of claim"]


def found_again(one: dict[str, Any]) -> bool:
    """Whether the second try refutes the claim."""
    return one["lower"] is not None and one["lower"] > one["epsilon"]


def second(again: list[dict[str, Any]], known: dict[str, int]) -> str:
    """The section on what the first try did not see. known: runs, by their names in the text."""
    if not again:
        return ""
    counts = {
        "barred": sum(map(out_of_reach, again)),
        "tried": len(again),
        "tested": sum(bool(one["runs"]) for one in again),
    }
    lines = [UNSEEN.format(side=CONFIRMED, error=ERROR, **known, **counts)]
    for one in again:
        told = "-" if one["reach"] is None else f"{one['reach']:.2f}, {one['reach of claim']:g}"
        shown = f"{one['lower']:.2f}" if one["runs"] else f"forecast {one['promised']:.2f}"
        silent = f"{one['candidates'] - one['stated']} of {one['candidates']}"
        cells = [one["paper"], one["variant"], one["relation"], told, silent,
                 f"{shown}, {one['epsilon']:g}" + ("" if found_again(one) else ", not seen"), f"{one['runs']:,}",
                 "{:,} : {:,}".format(*one["counts"]) if one["counts"] else "-",
                 f"{one['setting']}; {one['event']}" if one["runs"] else "-"]  # fmt: skip
        lines.append("| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |\n")
    return "".join(lines)


def page(
    rows: list[dict[str, Any]], before: int, rest: list[str], again: list[dict[str, Any]], known: dict[str, int]
) -> str:
    """The table. rest: lines without a result. again: second tries. known: their runs."""
    seen = [one for one in rows if one["lower"] > one["epsilon"]]
    more, tests = sum(map(found_again, again)), len(rows) + sum(bool(one["runs"]) for one in again)
    shown = {"ranking": 2 * RANKING, "error": ERROR, "side": CONFIRMED, "learning": LEARNING}
    counts = {"total": len(rows) + len(rest), "tried": len(rows), "seen": len(seen) + more, "before": before,
              "more": more, "tests": tests, "barred": sum(map(out_of_reach, again))}  # fmt: skip
    head = HEAD.format(runs=2 * CONFIRMED, any=ERROR * tests, **counts, **shown)
    titles = "paper | printed choice | neighbours | claim | bound | runs | counts | setting and pair | event"
    lines = [head, f"| {titles} |\n|" + "---|" * 9 + "\n"]
    lines += [_line(one) for one in rows]
    lines.append(f"\nNot run: {'; '.join(rest)}.\n" if rest else "")
    return "".join([*lines, second(again, known)])


def _line(one: dict[str, Any]) -> str:
    claim = f"{one['epsilon']:g}" + (f", δ = {one['delta']:g}" if one["delta"] else "")
    bound = f"{one['lower']:.3g}" + ("" if one["lower"] > one["epsilon"] else ", not seen")
    counts = "{:,} : {:,}".format(*one["counts"])
    cells = [
        one["paper"],
        one["variant"],
        one["relation"],
        claim,
        bound,
        f"{one['runs']:,}",
        counts,
        one["setting"],
        one["event"],
    ]
    return "| " + " | ".join(str(cell).replace("|", "/") for cell in cells) + " |\n"


def broken() -> list[tuple[str, str, str, bool]]:
    """Paper, printed choice, relation of every line of the page, and whether its black box sees it."""
    lines = [line.strip("| \n").split(" | ") for line in BROKEN.read_text(encoding="utf-8").splitlines()]
    return [(c[0], c[1], c[2], "not seen" not in c[6]) for c in lines if len(c) == 10 and c[2] in set(Relation)]


def main() -> None:
    """Run what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--paper", help="run only this paper's lines")
    parser.add_argument("--choice", help="run only lines of this printed choice")
    options = parser.parse_args()
    rows = {(one["paper"], one["variant"], one["relation"]): one for one in kept_lines.read(RESULTS)}
    listed = broken()
    for name, label, relation, _ in [] if options.page else listed:
        asked = options.paper in (None, name) and options.choice in (None, label)
        if (name, label, relation) in rows or not asked:
            continue
        found = json.loads(json.dumps(row(paper(name), label, Relation(relation), SEED), default=float))
        print(json.dumps(found), flush=True)
        rows[name, label, relation] = found
        kept_lines.append(RESULTS, found)
    shown = [rows[key[:3]] for key in listed if key[:3] in rows]
    rest = [f"{key[0]}: {key[1]} ({key[2]})" for key in listed if key[:3] not in rows]
    from benchmarks import event_reach  # which asks this module what was not seen

    known = {"known": event_reach.KNOWN, "listed": event_reach.LISTED, "chosen": event_reach.CHOSEN}
    again = {(one["paper"], one["variant"], one["relation"]): one for one in kept_lines.read(event_reach.RESULTS)}
    tried = [again[key[:3]] for key in listed if key[:3] in again]
    PAGE.write_text(page(shown, sum(one[3] for one in listed), rest, tried, known), encoding="utf-8")


if __name__ == "__main__":
    main()
