"""The cells in which another method is ahead of Grove, with what the plans say of why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from benchmarks.league.cells import EPSILONS, REGRESSION, SETS
from benchmarks.league.methods import DP_EBM, NOT_PRIVATE, PRIVATE_PEERS

REASONS = {
    "fedgbdt": "all of its budget but one round of candidates goes into sums of trees that use every feature; Grove "
    "pays for a histogram and for steering, which little is gained from where all features carry signal",
    "sgbdt": "public thresholds on the bounds cost nothing, where a histogram of every feature is dear: many features, "
    "few records or a small epsilon",
    "dpxgboost": "chosen splits of depth one and averages over many records, where a few features decide and noise of "
    "random trees' sums is large",
    "inprivate": "one deep tree by pure noise, where a tree is enough",
    "dpboost": "few trees, lambda large against the noise: close to the constant, where nothing can be learnt",
}  # fmt: skip
REASONS |= dict.fromkeys(
    ("DP-EBM (interpret)", *DP_EBM),
    "a sum of functions of one feature each, on histograms that are released once: fewer quantities than trees of "
    "several features, where little can be learnt at this epsilon",
)
REASONS["forest (diffprivlib)"] = "labels of random leaves alone are asked; close to chance where it is ahead"
Key = tuple[str, str, float]


def ahead(found: Mapping[Key, Sequence[float]]) -> Iterator[str]:
    """The section, line by line."""
    yield "## Where another method is ahead of Grove"
    yield ""
    by, cells, peers = defaultdict(list), 0, 0
    for data in SETS:
        for epsilon in EPSILONS:
            own = found.get((data, "grove", epsilon))
            if own is None:
                continue
            cells += 1
            peers += any((data, name, epsilon) in found for name in PRIVATE_PEERS)
            for other, name, at in found:
                if other != data or at != epsilon or name in (*NOT_PRIVATE, "grove") or "paper's settings" in name:
                    continue
                gap = float(np.mean(found[data, name, epsilon]) - np.mean(own)) * (-1 if data in REGRESSION else 1)
                if gap > 0:
                    by[name].append(f"{data} at {epsilon:g} (by {gap:.3f})")
    outside = sorted(set(by) & set(PRIVATE_PEERS))
    told = "none of them is ahead in any of these" if not outside else f"ahead in some are {', '.join(outside)}"
    yield f"Grove was run in {cells} cells. A method of another package was run beside it in {peers}: {told}."
    yield "refdp's own others that are ahead, and what in their plans explains it (no further run confirms a reason):"
    yield ""
    yield "| method | ahead of Grove in | because |"
    yield "|---|---|---|"
    for name, where in sorted(by.items(), key=lambda one: -len(one[1])):
        yield f"| {name} | {', '.join(where)} | {REASONS.get(name, 'not looked into')} |"
    yield ""
