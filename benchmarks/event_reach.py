"""Lines of `benchmarks.event_synthesis` that were not seen: what any event could show, and a second try.

`python -m benchmarks.event_reach` does both for every such line and keeps it in benchmarks/event_reach.jsonl; a line
that is there is not run again. About five minutes of processor time. The page is written by benchmarks.event_synthesis.

Reach: the best event on everything that a run releases is a threshold of the exact loss (Neyman and Pearson); its
chances are means over instrumented runs, p of those chances and q of their complements. A published model shows no
more than that. Second try: every candidate is looked at, with the last bits of what is published, in runs of its own.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import event_synthesis as first
from benchmarks import kept_lines
from refdp.audit.binomial import Counts, clopper_pearson
from refdp.audit.synthesis import Candidate, Told, confirm, forecast, synthesise, told
from refdp.faces.registry import paper
from refdp.privacy.events import Relation

RESULTS = Path(__file__).parent / "event_reach.jsonl"
SEED = 20_262
"""Not used before every line was run with it, nor by the first try."""
LOOKED, KNOWN, LISTED, CHOSEN = 12, 120, 60, 200
"""Instrumented runs a side that find the candidate with most reach, and that tell its reach; runs a side that find the
candidate of the second try, and that fix its event."""


def reach(found: Told, delta: float, runs: int, error: float) -> float | None:
    """The largest bound that an event on all released outputs has on average; None where a loss is not stated."""
    if found.stated < 1:
        return None
    best, size = 0.0, found.chances.size / 2
    for chances in (found.chances.ravel(), 1 - found.chances.ravel()):
        falling = np.sort(chances)[::-1]
        for p, q in zip(np.cumsum(falling) / size, np.cumsum(1 - falling) / size, strict=True):
            likelier, other = (min(round(float(chance) * runs), runs) for chance in (p, q))
            if likelier > other:
                best = max(best, clopper_pearson(Counts(likelier, other, runs), delta, error))
    return best


def reached(listed: list[Candidate], seed: int) -> dict[str, Any]:
    """The reach over candidates, above the claim: of the candidate that has most of it, on fresh instrumented runs."""
    tries = [(told(one, seed, LOOKED), one) for one in listed]
    known = [(reach(found, one.delta, first.CONFIRMED, first.ERROR), found, one) for found, one in tries]
    stated = [(bound - one.epsilon, one) for bound, _, one in known if bound is not None]
    if not stated:
        return {"stated": 0, "reach": None, "reach of claim": None}
    best = max(stated, key=lambda pair: pair[0])[1]
    again = told(best, seed + 1, KNOWN)
    found = reach(again, best.delta, first.CONFIRMED, first.ERROR)
    return {"stated": len(stated), "reach": found, "reach of claim": best.epsilon}


def row(name: str, label: str, relation: Relation, seed: int) -> dict[str, Any]:
    """One line: the reach, then the second try on the candidate whose published outputs promise most."""
    start = time.process_time()
    named = list(first.candidates(paper(name), label, relation))
    listed = [one for _, one in named]
    line = {"paper": name, "variant": label, "relation": relation.value, "candidates": len(listed)}
    line |= reached(listed, seed)
    events = [synthesise(one, seed + 2, LISTED, first.CONFIRMED, first.ERROR, replayed=False, low_bits=True)
              for one in listed]  # fmt: skip
    place = int(np.argmax([event.promised - one.epsilon for event, one in zip(events, listed, strict=True)]))
    best = listed[place]
    event = synthesise(best, seed + 3, CHOSEN, first.CONFIRMED, first.ERROR, replayed=False, low_bits=True)
    line |= {"setting": named[place][0], "epsilon": best.epsilon, "delta": best.delta, "event": event.words,
             "promised": event.promised, "runs": 0, "lower": None, "counts": None}  # fmt: skip
    if event.promised > best.epsilon:
        runs = next(
            (n for n in first.SIZES if forecast(event.choice, best.delta, n, first.ERROR) > best.epsilon),
            first.CONFIRMED,
        )
        found = confirm(best, event, seed + 4, runs, first.ERROR)
        line |= {"runs": 2 * runs, "lower": found.lower, "counts": [found.counts.likelier, found.counts.other]}
    return line | {"seconds": time.process_time() - start}


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paper", help="run only this paper's lines")
    wanted = parser.parse_args().paper
    done = {(one["paper"], one["variant"], one["relation"]) for one in kept_lines.read(RESULTS)}
    for one in kept_lines.read(first.RESULTS):
        key = one["paper"], one["variant"], one["relation"]
        if one["lower"] > one["epsilon"] or key in done or wanted not in (None, key[0]):
            continue
        found = json.loads(json.dumps(row(*key[:2], Relation(key[2]), SEED), default=float))
        print(json.dumps(found), flush=True)
        kept_lines.append(RESULTS, found)


if __name__ == "__main__":
    main()
