"""The ledger's witnesses as data sets, witnesses read from files, and the order of findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.audit import witnesses
from refdp.audit.neighbours import pairs
from refdp.audit.replay import Violation
from refdp.audit.report import SCHEMAS, merged, trainer
from refdp.audit.worst import worst_case
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.ledger import claims
from refdp.privacy.events import Relation


@pytest.mark.parametrize("relation", list(Relation))
def test_theorem_7_is_the_ledgers(relation: Relation) -> None:
    """Same records as the proof's, and the ledger's loss in the run that the ledger's parameters name."""
    from proofs.dpboost import runs  # here: it loads solvers, and every forked run of this room would pay for them

    known = witnesses.of_ledger("dpboost", relation)[0]
    assert known.pair.witness() == runs.crowds(relation).witness()
    paper = registry.paper("dpboost")
    params = paper.params({"epsilon": 1.0, "relation": relation, "constants": "published"}, as_published=False)
    loss = worst_case(trainer(paper, known.applied(params)), known.pair, 1.0, reverse=True).loss
    assert loss is not None and claims.get(known.source).witness["loss of the run, replayed"] == f"{-loss:.6f}"


@pytest.mark.parametrize("relation", list(Relation))
def test_every_witness_shows_a_violation_as_printed_and_none_as_repaired(relation: Relation) -> None:
    for name, of, make in witnesses.WITNESSES:
        if of is not relation:
            continue
        known, paper = make(), registry.paper(name)
        assert claims.get(known.source).verdict == "REFUTED"
        found = {}
        for printed in (True, False):
            params = known.applied(paper.params({"epsilon": 1.0, "relation": relation}, as_published=printed))
            if known.source == "dpboost/corollary-2-replace-one" and printed:
                params = known.applied(paper.params({"epsilon": 1.0, "relation": relation, "constants": "published"},
                                                    as_published=False))  # fmt: skip
            epsilon = 1.0 if paper.certificate(params, known.pair.base.schema).claimed.delta == 0 else np.inf
            found[printed] = worst_case(trainer(paper, params), known.pair, epsilon).violations
        assert found[True] and not found[False], known.source


def test_a_pair_comes_back_from_its_json() -> None:
    for schema in SCHEMAS:
        for relation in Relation:
            pair = next(pairs(schema, relation, 3))
            again = witnesses.pair_of(json.loads(json.dumps(pair.witness())))
            assert again.witness() == pair.witness() and again.relation is relation


def written(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document))
    return path


def test_witnesses_are_read_alone_in_violations_and_in_reports(tmp_path: Path) -> None:
    one = next(pairs(SCHEMAS[0], Relation.ADD_REMOVE, 0)).witness() | {"params": {"trees": 2, "constants": "published"}}
    violation = {"kind": "loss", "witness": one}
    report = {"ok": False, "violations": [violation, {"kind": "budget", "witness": {"releases": []}}]}
    for document in (one, violation, [one], report):
        (known,) = witnesses.read(written(tmp_path / "w.json", document), Relation.ADD_REMOVE)
        assert known.pair.witness() == {name: value for name, value in one.items() if name != "params"}
        assert known.settings == {"trees": 2}  # what is printed or repaired stays as asked for


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"base_y": None}, "missing"),
        ({"position": 99}, "position 99 given, a row from 0 to"),
        ({"position": True}, "position True given"),
        ({"base_y": [0.0]}, "labels given"),
        ({"new_x": ["x", "y", "z"]}, "3 numbers and a label are needed"),
        ({"schema": {"a": [0, 1]}}, "a feature and a target are needed"),
        ({"schema": 3}, "is needed, not 3"),
        ({"params": {"trees": 0}}, "trees 0 given, whole numbers from 1"),
        ({"old_x": [0.0, 0.0, 0.0], "old_y": 0.0}, "a pair of replace-one neighbours, --relation is add-remove"),
    ],
)
def test_files_that_hold_no_witness_are_refused(change: dict[str, Any], told: str, tmp_path: Path) -> None:
    one = next(pairs(SCHEMAS[0], Relation.ADD_REMOVE, 0)).witness() | change
    if change == {"base_y": None}:
        del one["base_y"]
    with pytest.raises(InvalidParameter, match=f"--witness .*{told}"):
        witnesses.read(written(tmp_path / "w.json", one), Relation.ADD_REMOVE)


def test_a_file_without_any_witness_is_refused(tmp_path: Path) -> None:
    for document, told in (({"violations": []}, "no witness in it"), (3, "not int"), ([], "no witness in it")):
        with pytest.raises(InvalidParameter, match=told):
            witnesses.read(written(tmp_path / "w.json", document), Relation.ADD_REMOVE)


def test_what_cannot_be_replayed_is_never_ranked_before_a_stated_loss() -> None:
    parted = Violation("options", "splits of level 0", None, None, None, "", {})
    lost = Violation("loss", "whole run", 1.0, 1.2, 1.2, "", {})
    assert merged([parted, lost]) == (lost, parted)
    assert parted.loss_in_words() == "cannot be replayed: no loss stated"
    assert Violation("model", "published model", None, None, None, "", {}).loss_in_words() == "no loss stated"
    assert lost.loss_in_words() == "loss 1.2"
