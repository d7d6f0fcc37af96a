"""Kept proofs of programs: fresh, stale when anything of them changes, and cited by certificates as what they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from refdp.data.records import Categorical, Interval, Numeric, Schema
from refdp.faces.registry import PAPERS, paper
from refdp.ledger import claims, proved
from refdp.ledger.certificate import Certificate
from refdp.ledger.proved import Kept, kept
from refdp.privacy.events import Relation

RUNS = [
    (name, relation) for name in PAPERS for relation in Relation if (name, relation.value) != ("sgbdt", "replace-one")
]


def certificate(name: str, relation: Relation, *, as_published: bool = False, **more: Any) -> Certificate:
    features = (Numeric("first", 0.0, 1.0), Categorical("second", ("a", "b", "c")), Numeric("third", -5.0, 5.0))
    chosen = paper(name)
    params = chosen.params({"epsilon": 1.0, "relation": relation, **more}, as_published=as_published)
    return chosen.certificate(params, Schema(features, Interval(-2.0, 3.0)))


@pytest.mark.parametrize(("name", "relation"), RUNS)
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


def test_a_run_with_other_settings_is_told_in_what_the_proof_differs() -> None:
    program = certificate("dpboost", Relation.ADD_REMOVE, epsilon=0.5, trees=7).proofs[-1]
    assert not program.this_run
    assert program.differs == ("epsilon = 0.5, proved for 1.0", "trees = 7, proved for 50")
    assert "other settings: epsilon = 0.5" in program.line()
    assert certificate("dpboost", Relation.ADD_REMOVE, as_published=True).proofs == ()


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
    again = "python -m refdp.prove.keep"
    assert proved._file()["engine"] == {"bytes": proved.bytes_of(), "digest": proved.parsed()}, again
    sources = proved._sources()
    more = b"\nMORE = 1\n"
    for name, change, same in (("prove/releases.py", b"\n# a comment\n", True), ("prove/releases.py", more, False),
                               ("accounting/conversion.py", more, False)):  # fmt: skip
        changed = {**sources, name: sources[name] + change}
        monkeypatch.setattr(proved, "_sources", lambda changed=changed: changed)
        assert (proved.engine.__wrapped__() == proved._file()["engine"]["digest"]) is same
    monkeypatch.setattr(proved, "parsed", lambda: pytest.fail("parsed without need"))
    monkeypatch.setattr(proved, "_sources", lambda: sources)
    proved.engine.__wrapped__()
