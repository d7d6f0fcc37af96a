"""docs/prove.md: what the prove reading proves, and which mutants it does not; `make prove` writes it."""

from __future__ import annotations

import json
import math
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from refdp.data.records import Schema
from refdp.errors import InvalidParameter
from refdp.faces.registry import PAPERS, paper
from refdp.privacy.events import Relation
from refdp.prove import asking
from refdp.prove.asking import Solvers
from refdp.prove.reading import Proof, prove
from refdp.prove.report import proved
from tests.mutants import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt
from tests.mutants.harness import Mutant, applied
from tests.mutants.matrix import FEATURES, SUBJECTS, TARGETS
from tests.prove.further import FROM_THE_PAGE, FURTHER
from tests.prove.mutants import NEW

ROOT = Path(__file__).parents[2]
PAGE, PARTS = ROOT / "docs" / "prove.md", ROOT / "build" / "prove"
OUTSIDE = ("refdp.data.memory", "refdp.privacy.", "refdp.accounting.", "refdp.noise.")
"""Modules that the reading trusts or exchanges: hosts of records, sources of noise, accountants."""
SMALL: Mapping[str, Mapping[str, Any]] = {
    **{name: subject.defaults for name, subject in SUBJECTS.items()},
    "sgbdt": {"epsilon": 1.0, "delta": 1e-5, "trees": 3, "depth": 2},
}
ABOUT = {"dpboost": {"noise": "floating"}, "sgbdt": {"extra_trees": 2}}
"""Settings that mutants are about, of budgets of records and of floating noise."""
TARGET = {"dpboost": "regression", "fedgbdt": "binary", "sgbdt": "binary", "dpxgboost": "regression",
          "inprivate": "binary"}  # fmt: skip
AR, RO = {"relation": "add-remove"}, {"relation": "replace-one"}
SETTINGS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "dpboost": (AR, RO, {"noise": "floating"}, {"gradients": "clip"}, {"target": "three"}, {"scheme": "para"}),
    "fedgbdt": (
        AR, RO, {"target": "regression"}, {**RO, "target": "regression"}, {"update": "gradient"},
        {"update": "averaging"}, {**RO, "update": "averaging"}, {"splits": "histogram", "target": "regression"},
        {**RO, "splits": "histogram", "target": "regression"}, {"splits": "histogram"},
        {"splits": "histogram", "features_per_tree": 1}, {"splits": "partially-random"}, {"batch": 3},
        {"candidates": "iterative-hessian"}, {"sensitivities": "by-round"}, {**RO, "noise_by": "record"},
    ),
    "sgbdt": (AR, {"extra_trees": 3}, {"target": "regression"}, {"target": "regression", "extra_trees": 3},
              {"noise": "floating"}, {"weights": "slides", "extra_trees": 2}, {"orders": "joint", "extra_trees": 2}),
    "dpxgboost": (
        AR, RO, {"gradients": "clip"}, {"candidates": "uniform"}, {"candidates": "quantiles"}, {"missing": "left"},
        {"leaf": "laplace"}, {"leaf": "average"}, {"stopping": "noisy"}, {"sketch_per": "run"},
        {"columns": 0.5}, {"target": "binary", "loss": "log", "gain": "count"}, {"target": "binary", "loss": "log"},
    ),
    "inprivate": (AR, RO, {"target": "regression"}, {**RO, "target": "regression"}, {"target": "three"}),
}  # fmt: skip
OWN: Mapping[str, tuple[Mutant, ...]] = {
    name: module.MUTANTS
    for name, module in {"dpboost": dpboost, "inprivate": inprivate, "dpxgboost": dpxgboost, "fedgbdt": fedgbdt,
                         "sgbdt": sgbdt}.items()
}  # fmt: skip


def read(name: str, settings: Mapping[str, Any], solvers: Solvers, briefly: bool = False) -> Proof:
    """One reading with small settings. briefly: up to the first failure."""
    given = {**SMALL[name], **AR, **settings}
    schema = Schema(FEATURES, TARGETS[given.pop("target", TARGET[name])])
    return prove(name, paper(name).params(given, as_published=False), schema, solvers=solvers, briefly=briefly)


def in_sight(mutant: Mutant) -> bool:
    """Whether a mutant changes the text that the reading reads."""
    return not all(path.startswith(OUTSIDE) for path in mutant.patches)


def verdict(name: str, mutant: Mutant, solvers: Solvers) -> tuple[str, str]:
    """What the reading says of a mutant, and why."""
    if not in_sight(mutant):
        return "beyond its sight", "hosts, sources of noise and accountants are trusted"
    assert isinstance(mutant.patches, Mapping)
    with applied(mutant.patches):
        found = read(name, {**ABOUT.get(name, {}), **mutant.settings}, solvers, briefly=True)
    if found.verdict == "PROVED":
        return "ALIVE", ""
    first = found.failures[0]
    return first.kind, first.reason.replace("|", "or").split("\n")[0][:100]


def settled(name: str, solvers: Solvers, until: float) -> list[str]:
    """The rows of a paper's settings."""
    rows = []
    for settings in SETTINGS[name]:
        if time.monotonic() > until:
            break
        found = read(name, settings, solvers)
        relation = found.relation.value
        said = ", ".join(f"{key} = {value}" for key, value in settings.items() if key != "relation") or "default"
        why = "" if found.verdict == "PROVED" else f": {found.failures[0].kind}, {found.failures[0].reason[:110]}"
        rows.append(
            f"| {name} | {relation} | {said} | {found.verdict}{why} | {found.seconds:.1f} | {found.questions} |"
        )
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


@contextmanager
def hasty(milliseconds: int) -> Iterator[None]:
    """Little time for a question: what is not decided in it is not proved either."""
    kept = asking.Z3_LIMIT, asking.CVC5_LIMIT
    asking.Z3_LIMIT = asking.CVC5_LIMIT = milliseconds
    try:
        yield
    finally:
        asking.Z3_LIMIT, asking.CVC5_LIMIT = kept


def by_default(name: str) -> list[str]:
    """The rows of a paper's default parameters, as `refdp prove` reads them."""
    rows = []
    for relation in Relation:
        try:
            params = paper(name).params({"epsilon": 1.0, "relation": relation}, as_published=False)
        except InvalidParameter:
            continue
        found = proved(name, params, (0, 2))
        both = sum(found.solvers["cvc5"].values()) - found.single
        rows.append(f"| {name} | {relation.value} | {found.verdict} | {found.seconds:.1f} | {found.questions} | "
                    f"{both} of {sum(found.solvers['cvc5'].values())} | {_loops(found.covers)} |")  # fmt: skip
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def _loops(covers: Sequence[str]) -> str:
    found = [one.partition(":")[2].partition(" by induction")[0].strip() for one in covers if " by induction" in one]
    return f"{len(found)} by induction: {'; '.join(found)}" if found else "none"


def examined(name: str, seconds: float) -> None:
    """Keep a paper's rows and counts, as they come, of settings and mutants those that are reached in this time."""
    solvers, until = Solvers(), time.monotonic() + seconds
    found: dict[str, Any] = {"defaults": by_default(name), "mutants": [], "kinds": []}
    with hasty(5000):
        found["settings"] = settled(name, solvers, until - 0.6 * seconds if seconds < math.inf else until)
    page = {mutant.name for mutant in FROM_THE_PAGE[name]}
    mutants = (*OWN[name], *NEW[name], *FURTHER[name])
    found["all"] = len(mutants)
    for mutant in mutants:
        if time.monotonic() > until:
            break
        with hasty(1500):
            kind, why = verdict(name, mutant, solvers)
        found["kinds"].append([kind, mutant.name])
        found["mutants"].append(f"| {name} | {mutant.name}{' *' if mutant.name in page else ''} | {kind} | {why} |")
        print(found["mutants"][-1], file=sys.stderr, flush=True)
        found |= {"questions": solvers.questions, "single": solvers.single}
        (PARTS / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")


def main(names: Sequence[str], seconds: float = math.inf) -> None:
    """Examine these papers, keep what was found, and write the page of all that are examined."""
    PARTS.mkdir(parents=True, exist_ok=True)
    for name in names:
        examined(name, seconds)
    kept = [name for name in PAPERS if (PARTS / f"{name}.json").exists()]
    found = [json.loads((PARTS / f"{name}.json").read_text(encoding="utf-8")) for name in kept]
    defaults, lines, matrix = (
        [row for one in found for row in one[key]] for key in ("defaults", "settings", "mutants")
    )
    kinds = [(name, *kind) for name, one in zip(kept, found, strict=True) for kind in one["kinds"]]
    alive = [f"{name}: {title}" for name, kind, title in kinds if kind == "ALIVE"]
    beyond = sum(kind == "beyond its sight" for _, kind, _ in kinds)
    left = sum(one["all"] for one in found) - len(matrix)
    seen = len(matrix) - beyond
    shown = sum("| PROVED |" in line for line in lines)
    opening = (
        f"{shown} of {len(lines)} settings of {len(kept)} papers ({', '.join(kept)}) are PROVED private for all "
        f"neighbours and all outputs, from the text that trains; of {seen} mutants of these texts {seen - len(alive)} "
        + (
            f"are not proved, {len(alive)} are alive ({'; '.join(alive)})."
            if alive
            else "are not proved, none is alive."
        )
        + f" {beyond} more change what the reading trusts, and are for replays, statistics and tests"
        + (f"; {left} were not examined." if left else ".")
        + f" Of {sum(one['questions'] for one in found)} questions {sum(one['single'] for one in found)} rest on one "
        "of the two solvers."
    )
    opening = "\n".join(textwrap.wrap(f"**{opening}**", 118))
    PAGE.write_text(
        TEXT.format(opening=opening, defaults="\n".join(defaults), rows="\n".join(lines), matrix="\n".join(matrix)),
        encoding="utf-8",
    )


TEXT = """# What is proved of programs

{opening}

| question | answer |
|---|---|
| is this setting proved | `refdp prove PAPER --set key=value ...` |
| default parameters | [all five papers](#default-parameters) |
| what has to be believed | the solvers, the reading's rules, hosts of records, samplers, accountants |
| why one reading is enough for a loop | [induction](../ARCHITECTURE.md) |

Made by `make prove`; `refdp prove PAPER` proves any setting.

The text of `train_on` is run once on a population of unknown records. Sums are unknowns of which is known what holds
for all data sets: a sum over n records lies within n times the bounds of a statistic, a record that differs is in one
node and one bin of a feature, on one side of a split, and all candidates of a node share its total. Outputs are
unknown too. For every release z3 and cvc5 are asked whether the change can exceed what is declared, with no slack;
that the facts of each question do not exclude each other is asked as well. Anything else that would show a record, in
a branch, a length, a message or the model, ends the reading.

Results for the default parameters are kept (`make prove-kept`) with the fingerprint of the text and a digest of the
reading; certificates cite them under `proofs`, beside Coq's theorem ([coq.md](coq.md)): what they cover, in what the
run's settings or schema are others, and whether text or reading changed since, in which case they cover nothing.
Every bound taken 2% smaller: [bounds have no room](prove-slack.md).

Loops are read by induction ([ARCHITECTURE.md](../ARCHITECTURE.md)): the first round, and any later one, from any scores
and any released values, so that a proof covers any number of rounds of the kinds that occur; `covers` says of each loop
what. What all releases cost together is accounted for the settings' plan. Any number of nodes, candidates and records,
and all outputs, are covered. Trusted are the solvers, the reading's rules, the hosts of records, samplers and
accountants, and that float64 on exact sums stands for real numbers. Where a kind of noise, of charge or of formula is
not known to the reading, it says NOT PROVED, which is no violation: by-round sensitivities rest on bounds of scores
that it forgets, medians on utilities that it does not follow.

A text that behaves otherwise where it is read than where it trains would not be proved by this. What it can ask of the
population and the curator is what the protocols have: `isinstance`, another attribute, or a leak that is handled, are
leaks, and so are lines with `type`, `try`, names with two underscores, and foreign imports. The plan, read on no
records, must have the releases that were asked about. Not caught is a text that learns from refdp's own modules who
answers it.

Leaks beside the formulas are refused too (`tests/prove/attacks.py` has a text for each): sums in units of the grid
taken for sums, utilities of which a record decides several choices, sums for every candidate at the price of one,
further arguments of numpy's functions, functions and iterators in the model, values kept beside it, names that are
sums, how many releases there are where that follows from released values, look-ups by value, and a `train` that does
more than to call `train_on`.

Where trainers take weights of records (S-GBDT, Grove), a record has any weight in [0, 1]: its statistics and its count
shrink towards 0 on the grid. Texts that leak only so (`WEIGHED` in `tests/prove/attacks.py`: a count taken for whole, a
count between 0 and 1 that stands out) are refused, and proved where every record counts as 1. What discrete noise
rounds needs room in the bound: six texts that leave none are refused (`ROUNDED`).

## Default parameters

`refdp prove PAPER --relation R`: a regression and two classes. Seconds are of processor time. Agreed: questions that
both solvers refuted, of those that z3 found no values for. S-GBDT is about add-remove alone.

| paper | relation | verdict | seconds | questions | agreed | loops |
|---|---|---|---|---|---|---|
{defaults}

## Settings

Few trees and levels. Seconds are of processor time; questions that were asked for an earlier row are not asked again.

| paper | relation | setting | verdict | seconds | questions |
|---|---|---|---|---|---|
{rows}

## Mutants

Read up to the first failure, with 1.5 seconds a question. Those with a star break what a line of the paper asks for;
they were chosen from the papers' texts alone, by an author who had read the reading's source.

| paper | mutant | not proved because of | reason |
|---|---|---|---|
{matrix}

## What is stored

Claims of the ledger have their formula as SMT-LIB text with a digest ([claims](claims/index.md)). Of the questions here
nothing is stored: `refdp prove` asks them again. cvc5's proofs are not kept, and no checker of their rules is in refdp:
the share of questions that a third program has checked is 0.
"""

if __name__ == "__main__":
    limited = [float(one) for one in sys.argv[1:] if one.replace(".", "").isdigit()]
    named = [one for one in sys.argv[1:] if one in PAPERS]
    main([] if "--kept" in sys.argv else named or list(PAPERS), *limited[:1])
