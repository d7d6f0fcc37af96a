"""Broken and correct mechanisms with their true epsilon, to measure auditors by.

Written from the published definitions that the suites of StatDP (Ding et al. 2018), DP-Sniper (Bichsel et al. 2021),
dp_auditorium, CheckDP (Wang et al. 2020) and Google's stochastic tester use. `specimens()` lists them all.
"""

from __future__ import annotations

from functools import cache

from refdp.audit.zoo import counts, selection, sparse_vector
from refdp.audit.zoo.entry import Specimen

__all__ = ["Specimen", "specimen", "specimens"]

_SOURCES = (
    counts.counts,
    counts.histograms,
    counts.compositions,
    counts.exact_numbers,
    counts.floating_point,
    counts.gaussians,
    selection.noisy_maxima,
    selection.exponential_mechanisms,
    selection.responses,
    sparse_vector.variants,
)


@cache
def specimens() -> tuple[Specimen, ...]:
    """The whole zoo, in the order of its page."""
    return tuple(specimen for source in _SOURCES for specimen in source())


def specimen(name: str) -> Specimen:
    """The one of this name. Errors: KeyError."""
    return {one.name: one for one in specimens()}[name]
