"""What a verdict may not hide: prose, conditions, narrowed domains, formulas about something else."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import refdp
from proofs.checker.conditions import NO_EMPTY_LEAF
from proofs.checker.evidence import Evidence, Follows, Outcome, Proved
from proofs.checker.proposition import Proposition, derive
from proofs.checker.statements import AtMost, ForAll, call, many, reals
from proofs.dpxgboost.average import average_loss
from proofs.tool.ledger import check, described, differences, propositions, to_json
from refdp.ledger import claims
from refdp.ledger.claims import Claim, Condition
from refdp.ledger.fingerprint import reachable
from refdp.papers import dpboost

HOLDS = Outcome("holds", ("z3", "cvc5"), "")
WORDS = Follows("obviously").check()
SQUARES = Proved(ForAll(reals("x"), lambda x: x * x >= 0))


def derived(*outcomes: Outcome, premises: dict[str, Claim] | None = None, **fields: Any) -> Claim:
    given = premises or {}
    return derive(Proposition("a/b", "", "", uses=tuple(given), **fields), outcomes, given)


# --- prose ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcomes", "fields"),
    [((WORDS,), {}), ((HOLDS, WORDS), {}), ((HOLDS,), {"argument": "and so it is private"})],
    ids=["words alone", "words beside a formula", "an argument"],
)
def test_what_rests_on_prose_is_argued_and_so_is_what_uses_it(
    outcomes: tuple[Outcome, ...], fields: dict[str, str]
) -> None:
    first = derived(*outcomes, **fields)
    assert first.verdict == "ARGUED" and first.reason
    second = derived(HOLDS, premises={"a/b": first})
    assert second.verdict == "ARGUED" and second.reason == "rests on what is argued: a/b"
    assert derived(HOLDS).verdict == derived(HOLDS, gloss="x: a number").verdict == "PROVED"


def test_every_claim_of_a_whole_run_is_argued_and_starts_from_what_runs() -> None:
    for paper in ("dpboost", "dpxgboost", "inprivate", "fedgbdt", "sgbdt"):
        claim = claims.get(f"{paper}/run")
        assert claim.verdict == "ARGUED"
        assert {"train", "certificate", "account", "source_for"} <= {name.partition(":")[2] for name in claim.about}


# --- conditions -------------------------------------------------------------------------------------------------------


def test_conditions_go_into_everything_that_uses_a_claim() -> None:
    dry = Condition("dry", "it does not rain")
    first = derived(HOLDS, assumes=(dry,))
    second = derived(HOLDS, premises={"a/b": first})
    third = derived(WORDS, premises={"c/d": second}, assumes=(Condition("day", "it is day"),))
    assert [one.verdict for one in (first, second, third)] == ["CONDITIONAL"] * 3
    assert second.assumes == (dry,) and {c.key for c in third.assumes} == {"dry", "day"}


@pytest.mark.parametrize("name", ["dpxgboost/noisy-average-cost", "dpxgboost/noisy-average-condition"])
def test_the_noisy_average_is_only_claimed_for_leaves_that_are_never_empty(name: str) -> None:
    """A record that joins an empty leaf at lambda = 1/10 loses 2.4 and more, at an epsilon that the claim allows."""
    epsilon, regularisation = 1.3, 0.1
    assert epsilon >= 2 * math.log((2 + regularisation) / (1 + regularisation))
    assert max(float(average_loss(v / 50, 0.0, 0, 1.0, regularisation, epsilon)) for v in range(-50, 51)) > 2.4
    claim = claims.get(name)
    assert claim.verdict == "CONDITIONAL" and NO_EMPTY_LEAF in claim.assumes
    assert "Without empty leaves" in claim.statement


def answers(epsilon: float, count: int) -> tuple[float, float]:
    """Whether a block has an even number of records, told truthfully with odds e^epsilon: epsilon-DP for one record."""
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    return (truth, 1 - truth) if count % 2 == 0 else (1 - truth, truth)


def test_a_replaced_record_can_cost_twice_its_block() -> None:
    """Two blocks of (1, .1): what two releases of a block say of a record removed and one added exceeds 1.1."""
    own, moved = 1.0, 0.1
    removed, added = (answers(own, 0), answers(own, 1)), (answers(own, 1), answers(own, 0))
    inside = max(
        math.log(removed[0][i] * added[1][j] / (removed[1][i] * added[0][j])) for i, j in product((0, 1), (0, 1))
    )
    assert inside == pytest.approx(2 * own) and inside > own + moved
    claim = propositions()["composition/parallel-moved"]
    bounds = [e.statement for e in claim.evidence if isinstance(e, Proved) and isinstance(e.statement, AtMost)]
    values = {"a": Fraction(27, 10), "b": Fraction(11, 10), "c": Fraction(27, 10) ** 2, "p": 1, "q": 1, "r": 1, "s": 1}
    assert max(call(bound.bound, values) for bound in bounds) >= values["c"], "no part covers the subset's own cost"
    assert not any("definition-6-repaired" in name for name in propositions())


# --- formulas ---------------------------------------------------------------------------------------------------------


def test_a_formula_about_something_else_proves_nothing() -> None:
    vacuous = Proposition("a/b", "", "Releasing all records costs nothing.", evidence=(SQUARES,))
    claim = derive(vacuous, check(vacuous), {})
    assert claim.verdict == "OPEN" and claim.reason == "nothing ties the formula to the statement: x is not explained"
    spoken = replace(vacuous, argument="obviously")
    assert derive(spoken, check(spoken), {}).verdict == "ARGUED"
    named = replace(vacuous, statement="The square of x is not negative.")
    assert derive(named, check(named), {}).verdict == "PROVED"


def narrowed(evidence: Evidence, more: Callable[..., Any]) -> Evidence:
    """The same inequality under one more condition."""
    assert isinstance(evidence, Proved)
    statement = evidence.statement

    def given(**values: Any) -> tuple[Any, ...]:
        return *many(call(statement.given, values)), *many(call(more, values))

    return replace(evidence, statement=replace(statement, given=given), tight=None)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("dpboost/leaf-clipped-add-remove", lambda lam: lam > 7),
        ("dpboost/algorithm-1-line-14", lambda e: e == 0),
        ("sgbdt/filter", lambda cost: cost == 0),
    ],
)
def test_a_narrowed_domain_is_a_difference(name: str, more: Callable[..., Any]) -> None:
    """Although all solvers agree on the narrower statement, and the statement in words is the same."""
    evidence = propositions()[name].evidence[0]
    committed = {claim.id: claim for claim in claims.committed()}
    assert described(evidence, HOLDS).formula == committed[name].formulas[0]
    text = described(narrowed(evidence, more), HOLDS).formula
    assert text != committed[name].formulas[0]
    changed = committed | {name: replace(committed[name], formulas=(text, *committed[name].formulas[1:]))}
    (line,) = differences(changed, to_json(committed))
    assert line.startswith(f"{name}: formulas")


def test_formulas_are_stored_for_all_that_a_machine_checked() -> None:
    """And are the same in every run, digests of code included."""
    for claim in claims.committed():
        proposition = propositions()[claim.id]
        assert list(claim.formulas) == [text for e in proposition.evidence if (text := e.formula())], claim.id
        assert bool(claim.digest) == bool(claim.formulas)


# --- fingerprints -----------------------------------------------------------------------------------------------------

EDITS = {
    "a method of the door": ("privacy/curator.py", "Release(name, mechanism, ", "Release(name + name, mechanism, "),
    "a kernel": ("data/kernels.py", "return ", "return  0 or "),
    "a method of the mechanism": ("noise/mechanisms.py", "self.scale * checked_draws", "0 * checked_draws"),
    "a module constant": ("data/kernels.py", "GRID = 2.0**-24", "GRID = 2.0**-23"),
    "a dictionary": ("papers/dpboost.py", 'ADD_REMOVE: "dpboost/leaf-clipped', 'ADD_REMOVE: "dpboost/x'),
    "a breach": ("papers/dpboost.py", 'if self.scheme == "np" else []', 'if self.scheme == "none" else []'),
    "a printed reading": (
        "papers/published/dpboost.py",
        'Relation.ADD_REMOVE: "dpboost/lemma-1"',
        'Relation.ADD_REMOVE: "dpboost/x"',
    ),
    "a printed breach": (
        "papers/published/dpboost.py",
        'if self.candidates == "data":',
        'if self.candidates == "none":',
    ),
    "the accountant": ("accounting/pure.py", "return _total(", "return  0 and _total("),
}
PRINT = """
import json
from refdp.ledger.fingerprint import fingerprint
names = ["refdp.papers.dpboost:train", "refdp.papers.dpboost:certificate", "refdp.papers.published.dpboost:Params"]
print(json.dumps([fingerprint(name) for name in names]))
"""


def fingerprints(root: Path) -> list[str]:
    """Without bytecode: that of an edit of the same length in the same second is taken for the text put back."""
    command = [sys.executable, "-B", "-c", PRINT]
    out = subprocess.run(command, cwd=root, env={"PYTHONPATH": str(root)}, capture_output=True)
    assert out.returncode == 0, out.stderr.decode()
    return list(json.loads(out.stdout))


def test_any_change_that_a_run_reaches_is_another_fingerprint(tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(Path(refdp.__file__).parent, root / "refdp", ignore=shutil.ignore_patterns("__pycache__"))
    before = fingerprints(root)
    for what, (file, old, new) in EDITS.items():
        path = root / "refdp" / file
        text = path.read_text(encoding="utf-8")
        assert old in text, what
        path.write_text(text.replace(old, new), encoding="utf-8")
        assert fingerprints(root) != before, what
        path.write_text(text, encoding="utf-8")
    assert fingerprints(root) == before


def test_a_run_reaches_its_methods_classes_and_constants() -> None:
    reached = set(reachable(dpboost.train))
    assert {"refdp.privacy.curator:Curator", "refdp.data.kernels:leaf_sums", "refdp.papers.dpboost:Params"} <= reached
    assert {
        "refdp.data.kernels:GRID",
        "refdp.papers.dpboost:GAIN_RANGE",
        "refdp.noise.exponential:Exponential",
    } <= reached
