"""Findings in plain words: what a release is, what went wrong there, and what the declaration rests on."""

from __future__ import annotations

import re
from collections.abc import Mapping

from refdp.errors import InvalidParameter
from refdp.ledger import claims

RELEASES: Mapping[str, str] = {
    r"splits of level (\d+)": "the candidate that splits each node of level {0} (the root is level 0)",
    r"leaves": "the values of all leaves of a tree",
    r"counts of level (\d+)": "how many records there are in each node of level {0}",
    r"sketch": "the weight in each bin of each feature, from which split candidates are taken",
    r"medians (\d+)": "the points that halve the features' intervals, round {0}: split candidates are made of them",
    r"Hessian histogram (\d+)": "the sums of Hessians in the bins of feature {0} of a tree, for its candidates",
    r"histogram": "the sums of gradients and Hessians in the bins of a tree's feature",
    r"histogram (\d+) of level (\d+)": "the sums of gradients and Hessians in the bins of feature {0}, level {1}",
    r"sides (\d+) of level (\d+)": "the sums of gradients and Hessians on the sides of each candidate, level {1}",
    r"count": "the number of records",
    r"labels": "the sum of the labels, for the score that training begins with",
    r"quality": "how well an owner's trees predict its own records",
    r"advance": "by how much an owner's trees improve the model on its own records",
    r"ensemble (\d+)": "which tree of ensemble {0} each record is used for; this stays secret",
    r"sample": "which records are in the secret sample",
    r"whole run": "everything that is released in a whole run",
    r"published model": "the model that is published",
}
PLACES: Mapping[str, str] = {
    r"score (\d+)": "output {0}",
    r"ensemble (\d+) (\d+)": "tree {1} of ensemble {0}",
    r"ensemble (\d+)": "ensemble {0}, which has one tree",
    r"tree (\d+)": "tree {0}",
    r"sample": "computed on the secret sample",
}
KINDS: Mapping[str, str] = {
    "sensitivity": "One record changes what is computed here by more than the sensitivity that the noise is for",
    "cost": "Some output here is likelier with one of the neighbours by more than this release is charged",
    "cost of order 2": "The Renyi divergence of order 2 between the neighbours' outputs is above what is charged",
    "loss": "Some output of the run is likelier with one of the neighbours by more than the claimed epsilon",
    "model": "The published model differs between neighbours although all releases are the same",
    "options": "What can be chosen here differs between neighbours, so that the choice gives the record away",
    "assignment": "How records are dealt out in secret depends on how many there are",
    "control flow": "One of the neighbours makes the run go another way",
    "shape": "How many values are released differs between neighbours",
    "mechanism": "The noise differs between neighbours",
    "block": "A record changes what is computed from records that it does not belong to",
    "budget": "What the run released costs more than is claimed",
    "filter": "A record spent more than its budget in the releases that a filter keeps",
    "plan": "What the run released is not what its plan says",
    "reused noise": "The same noise is used twice",
    "seeded noise": "The noise is the same in runs with different seeds",
}


def release_in_words(name: str) -> str:
    """What is released under this name, and where in the run."""
    *path, last = name.split("/")
    what = _matched(RELEASES, last) or f"the release {last!r}"
    where = [words for part in path if part != "score 0" if (words := _matched(PLACES, part))]
    return f"{what}; {', '.join(where)}" if where else what


def _matched(words: Mapping[str, str], name: str) -> str:
    for pattern, text in words.items():
        if found := re.fullmatch(pattern, name):
            return text.format(*found.groups())
    return ""


def finding_in_words(kind: str, release: str) -> str:
    """A sentence or two for somebody who does not know the program."""
    return (
        f"{KINDS.get(kind, f'The {kind} differs from what is promised')}. Released here: {release_in_words(release)}."
    )


def claim_in_words(name: str) -> str:
    """The statement that a declaration rests on, with its verdict; empty without a claim."""
    if not name:
        return ""
    try:
        claim = claims.get(name)
    except InvalidParameter:
        return f"Declared by {name}, which is not in the ledger."
    return f"Declared by {name} ({claim.verdict}): {claim.statement}"
