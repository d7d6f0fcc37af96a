"""Kept proofs of programs: fresh, stale when anything of them changes, and cited by certificates as what they are."""

from __future__ import annotations

import ast
import inspect
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refdp import SGBDTRegressor
from refdp.accounting import accountant
from refdp.data import kernels, reading
from refdp.data.records import Categorical, Interval, Numeric, Schema
from refdp.faces import training
from refdp.faces.registry import PAPERS, paper
from refdp.ledger import claims, fingerprint, proved, written
from refdp.ledger.certificate import Certificate
from refdp.ledger.proved import BREACH, STREAM, Kept, kept
from refdp.papers import dpboost
from refdp.privacy import events
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource

GROVE = [("grove", relation) for relation in Relation]
RUNS = [
    (name, relation) for name in PAPERS for relation in Relation if (name, relation.value) != ("sgbdt", "replace-one")
]


def certificate(name: str, relation: Relation, *, as_published: bool = False, **more: Any) -> Certificate:
    features = (Numeric("first", 0.0, 1.0), Categorical("second", ("a", "b", "c")), Numeric("third", -5.0, 5.0))
    chosen = paper(name)
    params = chosen.params({"epsilon": 1.0, "relation": relation, **more}, as_published=as_published)
    return chosen.certificate(params, Schema(features, Interval(-2.0, 3.0)))


@pytest.mark.parametrize(("name", "relation"), [*RUNS, *GROVE])
def test_a_fresh_proof_of_the_default_parameters_is_kept(name: str, relation: Relation) -> None:
    mine = [one for one in kept() if (one.paper, one.relation) == (name, relation.value)]
    assert len(mine) == 2
    again = "prove it again: python -m refdp.prove.keep"
    assert [(one.verdict, one.stale()) for one in mine] == [("PROVED", "")] * 2, again


@pytest.mark.parametrize(("name", "relation"), RUNS)
def test_a_certificate_cites_the_kernel_and_the_proof_of_its_text(name: str, relation: Relation) -> None:
    theorem, program = certificate(name, relation).proofs
    claim = claims.get(theorem.name)
    assert (theorem.name.partition("/")[0], claim.relation, claim.verdict) == (name, relation.value, "PROVED")
    assert theorem.digest == claim.digest and theorem.covers and "float64" in theorem.not_covered[1]
    assert (program.this_run, program.differs, program.stale) == (True, (), "")
    assert any("by induction" in line or "one by one" in line for line in program.covers)  # how its loops were read
    assert program.digest in {one.digest for one in kept()}
    assert theorem.name in dict(certificate(name, relation).rests_on)


@pytest.mark.parametrize(("name", "relation"), GROVE)
def test_a_certificate_of_grove_cites_the_proof_of_its_text(name: str, relation: Relation) -> None:
    """Of which there is no theorem of Coq's kernel."""
    (program,) = certificate(name, relation).proofs
    assert (program.this_run, program.differs, program.stale) == (True, (), "")
    assert any("by induction" in line for line in program.covers)
    assert certificate(name, relation, epsilon=0.5).proofs[0].differs == ("epsilon = 0.5, proved for 1.0",)


def test_a_run_with_other_settings_is_told_in_what_the_proof_differs() -> None:
    program = certificate("dpboost", Relation.ADD_REMOVE, epsilon=0.5, trees=7).proofs[-1]
    assert not program.this_run
    assert program.differs == ("epsilon = 0.5, proved for 1.0", "trees = 7, proved for 50")
    assert "other settings: epsilon = 0.5" in program.line()
    assert certificate("dpboost", Relation.ADD_REMOVE, as_published=True).proofs == ()


class Loud(float):
    """Says that it is another number than it is in formulas."""

    def __str__(self) -> str:
        return "0.1"


def test_settings_are_what_they_are_and_not_what_they_say() -> None:
    params = paper("dpboost").params({"epsilon": 1.0, "relation": Relation.ADD_REMOVE}, as_published=False)
    assert params.regularisation == 0.1 and proved.settings_of(params)["regularisation"] == "0.1"
    louder = replace(params, regularisation=1000.0)
    object.__setattr__(louder, "regularisation", Loud(1000.0))
    assert proved.settings_of(louder)["regularisation"].endswith("Loud(0.1)")
    object.__setattr__(params, "leaf_charge", lambda *_: None)
    for changed, name in ((louder, "regularisation"), (params, "leaf_charge")):
        (program,) = proved.cited("dpboost", changed, Schema((Numeric("first", 0.0, 1.0),), Interval(-2.0, 3.0)))[-1:]
        assert not program.this_run and name in {one.partition(" = ")[0] for one in program.differs}


CHANGES: dict[str, dict[str, Any]] = {
    "its digest": {"verdict": "PROVED", "statement": "everything is private"},
    "the text": {"text": "0000"},
    "the reading": {"engine": "0000"},
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_proof_is_stale_and_covers_nothing(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = replace(kept()[0], **CHANGES[what])
    if what != "its digest":
        changed = replace(changed, digest=changed.digested())
    assert changed.stale().startswith(what)
    monkeypatch.setattr(proved, "kept", lambda: (changed,))
    program = certificate("dpboost", Relation.ADD_REMOVE).proofs[-1]
    assert (program.this_run, program.covers) == (False, ()) and "stale" in program.line()


def test_evidence_about_a_program_needs_a_result_that_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("z3", reason="the extra proofs is not installed")
    pytest.importorskip("cvc5", reason="the extra proofs is not installed")
    from proofs.checker import programs
    from proofs.checker.programs import ProgramProved

    evidence = ProgramProved("inprivate", Relation.ADD_REMOVE)
    found = evidence.check()
    assert (found.result, found.decisive) == ("holds", False)
    failed = replace(kept()[0], verdict="NOT PROVED", failures=("the change exceeds 1",))
    asked = list[str]()

    def anew(name: str, *_: Any) -> Kept:
        asked.append(name)
        return failed

    monkeypatch.setattr(programs, "proved_now", anew)
    stale = replace(kept()[0], text="0000")
    monkeypatch.setattr(programs, "found", lambda *_: replace(stale, digest=stale.digested()))
    again = evidence.check()  # what is stale is proved anew, and that decides
    assert asked and (again.result, "the change exceeds 1" in again.note) == ("unknown", True)


def test_the_kept_digest_of_the_reading_is_what_parsing_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result names both, the reading's files and what is in them, so that no place beside it can speak for it."""
    row = kept()[0].engine
    assert row == proved.engine_now(), "python -m refdp.prove.keep"
    assert proved._file().keys() == {"proved"}
    sources, fresh = proved._sources(), proved.is_engine.__wrapped__
    more = b"\nMORE = 1\n"
    for name, change, same in (("prove/releases.py", b"\n# a comment\n", True), ("prove/releases.py", more, False),
                               ("accounting/conversion.py", more, False)):  # fmt: skip
        changed = {**sources, name: sources[name] + change}
        monkeypatch.setattr(proved, "_sources", lambda changed=changed: changed)
        monkeypatch.setattr(proved, "engine", proved.engine.__wrapped__)
        assert fresh(row) is same
        monkeypatch.undo()
    monkeypatch.setattr(proved, "engine", lambda: pytest.fail("parsed without need"))
    assert fresh(row)


# --- What runs is what the sources say --------------------------------------------------------------------------------


class Louder:
    """Has the name of what it takes the place of."""


Louder.__qualname__, Louder.__module__ = "Contribution", dpboost.__name__


def proof(name: str = "dpboost") -> Any:
    return certificate(name, Relation.ADD_REMOVE).proofs[-1]


@pytest.mark.parametrize(("owner", "name", "value"), [
    (dpboost.Params, "leaf_epsilon", lambda self, epsilon: 64 * epsilon),
    (dpboost, "Contribution", Louder),
    (dpboost.Contribution, "statistics", lambda *_: None),
    (kernels, "GRID", 2.0**-23),
    (Curator, "release", lambda *_, **__: None),
])  # fmt: skip
def test_a_run_on_what_was_put_into_a_text_cites_no_proof(
    owner: Any, name: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is taken away again; the fingerprint of the text, which is computed once, stays what it was."""
    assert proof().this_run
    monkeypatch.setattr(owner, name, value)
    found = proof()
    assert (found.this_run, found.covers) == (False, ()) and found.stale.startswith(proved.ELSEWHERE)
    assert name in found.stale and "PROVED" not in found.line()
    monkeypatch.undo()
    assert proof().this_run


@pytest.mark.parametrize(("owner", "name"), [
    (SampleSource, "release"), (accountant, "account"), (dpboost, "train_on"), (events, "folded"), (reading, "Nothing"),
])  # fmt: skip
@pytest.mark.parametrize("as_published", [False, True])
def test_nothing_is_established_where_something_else_runs(
    owner: Any, name: str, as_published: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what trains or accounts, though the fingerprints of the claims, computed once, stay what they were."""
    settings: dict[str, Any] = {"trees": 2, "depth": 2}
    settings |= {"candidates": "uniform"} if as_published else {}
    given = {"relation": Relation.ADD_REMOVE, "as_published": as_published, **settings}
    before = certificate("dpboost", **given)
    real = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *one, **more: real(*one, **more))
    found = certificate("dpboost", **given)
    assert found.established.epsilon == np.inf
    assert any(one.startswith(proved.ELSEWHERE) and name in one for one in found.notes)
    monkeypatch.undo()
    assert certificate("dpboost", **given) == before


def test_nothing_is_established_from_a_plan_that_another_text_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousandth of what trees cost, by a method that was there while the plan was made, is told, and forgotten."""
    features = (Numeric("first", 0.0, 1.0),)
    params = paper("dpboost").params({"epsilon": 1.0, "relation": "add-remove", "trees": 3}, as_published=False)
    schema, honest = Schema(features, Interval(-2.0, 3.0)), dpboost.Params.tree_epsilon
    monkeypatch.setattr(dpboost.Params, "tree_epsilon", lambda *given: honest(*given) / 1000)
    dpboost.plan(params, schema)
    monkeypatch.undo()
    told, after = (dpboost.certificate(params, schema) for _ in range(2))
    assert told.established.epsilon == np.inf and "refdp.data.reading.recorded, whose cache keeps" in told.notes[0]
    assert (told.proofs[-1].this_run, told.proofs[-1].covers) == (False, ())
    assert after.established.epsilon == pytest.approx(1.0) and not after.notes


class Cheap(dpboost.Params):
    """Says that it is any other."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(dpboost.Params(1.0, Relation.ADD_REMOVE, trees=3))


class Equal(float):
    """Says that it is 1."""

    def __eq__(self, other: object) -> bool:
        return other == 1.0

    def __hash__(self) -> int:
        return hash(1.0)


@pytest.mark.parametrize(("kind", "epsilon"), [(Cheap, 0.001), (dpboost.Params, Equal(0.001)), (dpboost.Params, True)])
def test_a_plan_is_kept_by_what_parameters_are_and_not_by_what_they_say(kind: Any, epsilon: Any) -> None:
    schema = Schema((Numeric("first", 0.0, 1.0),), Interval(-2.0, 3.0))
    other, params = (one(value, Relation.ADD_REMOVE, trees=3) for one, value in ((kind, 0.5), (dpboost.Params, 1.0)))
    object.__setattr__(other, "epsilon", epsilon)
    reading.recorded.cache_clear()
    for proven in (False, True):
        dpboost.plan(other, schema, proved=proven)
    found = dpboost.certificate(params, schema)
    assert found.established.epsilon == pytest.approx(1.0) and not found.notes
    kept_before = reading.recorded.cache_info()
    again = dpboost.certificate(replace(params, epsilon=1.0), Schema((Numeric("first", 0.0, 1.0),), schema.target))
    assert again == found and reading.recorded.cache_info().misses == kept_before.misses


def test_no_proof_is_about_a_run_whose_description_was_not_public() -> None:
    found = training.without_guarantee(certificate("dpboost", Relation.ADD_REMOVE), ["the classes were taken"])
    assert found.established.epsilon == np.inf and found.notes == ("the classes were taken",)
    for one in found.proofs:
        assert (one.covers, one.this_run, one.differs[0], one.not_covered[0]) == ((), False, BREACH, BREACH)
        assert "PROVED by" not in one.line() or one.line().endswith(f"but this is {BREACH}")


def test_what_was_read_where_something_else_runs_is_kept_of_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("z3", reason="the extra proofs is not installed")
    pytest.importorskip("cvc5", reason="the extra proofs is not installed")
    from refdp.prove import keep
    from refdp.prove.reading import Proof

    made = Proof("dpboost", Relation.ADD_REMOVE, "PROVED", "", (), (), 0.0, 0, 0, {}, 0, ())
    schema = Schema((Numeric("a", 0.0, 1.0),), Interval(0.0, 1.0))
    params = paper("dpboost").params({"epsilon": 1.0, "relation": "add-remove"}, as_published=False)
    assert keep.result(params, schema, made).stale() == ""
    monkeypatch.setattr(dpboost, "leaf_sensitivity", lambda *_: 0.0)
    assert keep.result(params, schema, made).text == ""
    monkeypatch.undo()
    assert keep.result(params, schema, made).stale() == ""


def test_what_is_compared_is_no_container_that_a_reading_watches() -> None:
    """It has all kinds of things in it, some of which change while functions are exchanged for the reading's own."""
    pytest.importorskip("z3", reason="the extra proofs is not installed")
    from refdp.prove.keeping import state

    compared = written._known(dpboost.__name__)
    assert proof().this_run and compared and id(compared) not in state(None, None)


LINES = {
    "a call": '_MADE = setattr(Params, "leaf_charge", Params.split_charge)',
    "a name bound again": "_UNUSED = (Contribution := Params)",
    "an import": "from refdp import shown_more",
    "a constant": "_UNUSED = 1",
    "a class": "class Unused:\n    made = setattr(Params, 'depth', 1)",
    "a default": "def unused(one=setattr(Params, 'depth', 1)): ...",
    "a kind": "def unused(one: setattr(Params, 'depth', 1)): ...",
    "a stream": "def train_stream(*_): ...",
}


@pytest.mark.parametrize("what", LINES)
def test_all_that_a_text_says_is_in_its_digest(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source, module = inspect.getsource(dpboost), dpboost.__name__
    assert module in proved.reached("dpboost") and "refdp.errors" in proved.reached("dpboost")
    before = proved.text_now("dpboost"), proved._beside.__wrapped__("dpboost")
    assert before[0] is not None and before[0].endswith(before[1])
    real = fingerprint.parsed_module
    for more, same in ((LINES[what], False), ("# a comment", True)):
        tree = ast.parse(f"{source}\n{more}\n")
        monkeypatch.setattr(
            fingerprint, "parsed_module", lambda name, tree=tree: tree if name == module else real(name)
        )
        assert (proved._beside.__wrapped__("dpboost") == before[1]) is same
        monkeypatch.undo()


def test_parameters_of_another_class_cite_nothing() -> None:
    """Though it says that it is the paper's."""
    params = paper("dpboost").params({"epsilon": 1.0, "relation": "add-remove"}, as_published=False)
    schema = Schema((Numeric("a", 0.0, 1.0),), Interval(0.0, 1.0))
    other = type("Params", (dpboost.Params,), {"__module__": dpboost.__name__})
    assert proved.cited("dpboost", params, schema)
    assert proved.cited("dpboost", other(epsilon=1.0, relation=Relation.ADD_REMOVE), schema) == ()
    assert proved.cited("inprivate", params, schema) == ()


def test_a_stream_cites_no_proof_as_its_own() -> None:
    """Of S-GBDT's text `train` and `train_on` are read; an estimator's first batch is a stream's already."""
    x, y = np.linspace(0, 1, 40)[:, None], np.linspace(-1, 1, 40)
    settings = {"epsilon": 1.0, "relation": "add-remove", "label_bounds": (-2.0, 3.0), "bounds": {"x0": (0.0, 1.0)}}
    batch, stream = (SGBDTRegressor(trees=2, **settings) for _ in range(2))
    whole, parts = batch.fit(x, y).certificate_.proofs, stream.partial_fit(x, y).certificate_.proofs
    assert [one.name for one in whole] == [one.name for one in parts] and whole[-1].covers
    for one in parts:
        assert (one.covers, one.this_run, one.differs[0], one.not_covered[0]) == ((), False, STREAM, STREAM)
        assert one.line().endswith(f"but this is {STREAM}")
    assert any("streams" in line for line in proof("sgbdt").not_covered)
    exact = proved.of_another((proof("sgbdt"),), STREAM)[0]
    assert proof("sgbdt").this_run and not exact.this_run and exact.covers == ()
