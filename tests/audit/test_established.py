"""No audit states a loss above the bound that the certificate establishes, whichever readings are chosen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import islice, repeat
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from refdp.audit import page_replay
from refdp.audit import report as audits
from refdp.audit.replay import SLACK, Finding, Pair, audit_pair
from refdp.audit.report import SCHEMAS, Report, audit_paper, neighbours, readings, trainer
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.faces.registry import Paper
from refdp.faces.training import source_for
from refdp.noise.mechanisms import Laplace
from refdp.privacy.events import Relation
from tests.core.test_door import HONEST, Published
from tests.thinned import thinned

SMALL = {"trees": 2, "trees_per_ensemble": 2, "depth": 1, "bins": 3, "owners": 2, "rounds": 2, "child_minimum": 2}


def params_of(paper: Paper, relation: Relation, **changes: Any) -> Any:
    known = {field.name for field in fields(paper.printed.Params)}
    small = {name: value for name, value in SMALL.items() if name in known}
    return paper.params({**small, "epsilon": 1.0, "relation": relation, **changes}, as_published=False)


def choices(paper: Paper) -> Iterator[dict[str, Any]]:
    """The paper as printed, and every reading of every parameter alone."""
    yield {}
    yield dict(paper.printed.AS_PUBLISHED)
    for name, hint in get_type_hints(paper.printed.Params).items():
        if get_origin(hint) is Literal:
            yield from ({name: value} for value in get_args(hint) if value != "np")


def variants() -> Iterator[tuple[str, Relation, dict[str, Any]]]:
    """Every choice that is allowed and whose certificate establishes a pure bound, losses being compared with that."""
    for name in ("dpboost", "inprivate", "dpxgboost"):
        paper = registry.paper(name)
        for relation in Relation:
            seen = []
            for changes in choices(paper):
                try:
                    params = params_of(paper, relation, **changes)
                    certificate = paper.certificate(params, SCHEMAS[0])
                except InvalidParameter:
                    continue
                if params not in seen and certificate.established.delta == 0:
                    seen.append(params)
                    yield name, relation, changes


def audited(paper: Paper, params: Any, monkeypatch: pytest.MonkeyPatch, pairs: int = 1) -> Report:
    monkeypatch.setattr(audits, "WORST_PAIRS", pairs)
    monkeypatch.setattr(audits, "SIZES", ())
    monkeypatch.setattr(audits, "TINY", audits.TINY[:1])
    monkeypatch.setattr(audits, "readings", lambda _, given: [given])
    return audit_paper(paper, params, pairs, 0)


def above(paper: Paper, params: Any, report: Report) -> bool:
    established = paper.certificate(params, SCHEMAS[0]).established.epsilon
    return report.max_loss is not None and report.max_loss > established * (1 + SLACK) + SLACK


ALL = list(variants())


def test_there_are_variants_of_every_kind() -> None:
    assert len(ALL) > 60
    bounds = {registry.paper(n).certificate(params_of(registry.paper(n), r, **c), SCHEMAS[0]).established.epsilon
              for n, r, c in ALL}  # fmt: skip
    assert {1.0, math.inf} < bounds
    assert any(1.0 < bound < math.inf for bound in bounds)


@pytest.mark.parametrize(
    ("name", "relation", "changes"),
    thinned(ALL),
)
def test_no_stated_loss_exceeds_what_is_established(
    name: str, relation: Relation, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = registry.paper(name)
    params = params_of(paper, relation, **changes)
    assert not above(paper, params, audited(paper, params, monkeypatch))


def test_a_loss_that_is_too_large_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    paper = registry.paper("dpboost")
    params = params_of(paper, Relation.ADD_REMOVE)
    report = audited(paper, params, monkeypatch, pairs=4)
    certified = paper.certificate(params, SCHEMAS[0])
    assert report.max_loss is not None
    lower = replace(certified, established=replace(certified.established, epsilon=report.max_loss / 1.01))
    monkeypatch.setattr(Paper, "certificate", lambda *_: lower)
    assert above(paper, params, report)


def sizes() -> tuple[Paper, Any]:
    """Secret blocks whose sizes follow from the number of records: 5 is established, and neighbours' sizes differ."""
    paper = registry.paper("dpboost")
    params = params_of(paper, Relation.ADD_REMOVE, blocks="sizes", trees=6, trees_per_ensemble=3)
    assert paper.certificate(params, SCHEMAS[0]).established.epsilon == pytest.approx(5.0)
    return paper, params


def parting(paper: Paper, params: Any) -> Pair:
    """Neighbours whose blocks have other sizes."""
    train = trainer(paper, params)
    found = islice(neighbours(None, Relation.ADD_REMOVE, 0), 20)
    return next(pair for pair in found if audit_pair(train, pair, source_for(params, 0), 3.0).violations)


def test_an_impossible_replay_states_no_loss() -> None:
    paper, params = sizes()
    finding = audit_pair(trainer(paper, params), parting(paper, params), source_for(params, 0), 3.0)
    (violation,) = finding.violations
    assert finding == Finding(None, None, (violation,))
    assert (violation.kind, violation.declared, violation.observed, violation.loss) == ("assignment", None, None, None)
    assert violation.to_dict()["loss"] is None


def test_a_report_says_how_many_runs_state_no_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    paper, params = sizes()
    pair = parting(paper, params)
    for module in (audits, page_replay):
        monkeypatch.setattr(module, "neighbours", lambda *_, **__: repeat(pair))
    monkeypatch.setattr(page_replay, "RUNS", 5)
    monkeypatch.setattr(audits, "WORST_PAIRS", 0)
    monkeypatch.setattr(audits, "SIZES", ())
    monkeypatch.setattr(audits, "readings", lambda _, given: [given])
    monkeypatch.setattr(audits, "of_ledger", lambda *_: [])
    assert [one.kind for one in audit_paper(paper, params, 3, 0).violations] == ["assignment", "budget"]
    monkeypatch.setattr(audits, "_cost", lambda *_: 0.0)  # what such blocks cost is a finding of its own
    report = audit_paper(paper, params, 3, 0)
    assert (report.max_loss, report.without_loss) == (None, 3)
    document = report.to_dict()
    assert (document["ok"], document["max_loss"], document["without_loss"]) == (False, None, 3)
    page = page_replay.replay_page(paper, params, report, None, 0, "a command")
    assert page.figures == []
    assert ("epsilon", "1", "greatest no loss stated") in page.facts


def test_only_printed_readings_have_others_to_replay() -> None:
    paper, params = sizes()
    assert [one.blocks for one in readings(paper, params)] == ["sizes", "independent"]


def test_what_is_no_privacy_loss_is_not_stated_as_one() -> None:
    """A leak between blocks, and a model that knows more than was released, have no figure."""

    def leaking(records: Any, curator: Any) -> Published:
        with curator.subsample("rows", 0.5, records.size):
            curator.release("all", Laplace(1.0), np.array([float(records.size)]), sensitivity=HONEST)
        return Published("")

    def telling(records: Any, curator: Any) -> Published:
        return Published(str(records.size))

    pair = next(neighbours(None, Relation.ADD_REMOVE, 0))
    for train, kind in ((leaking, "block"), (telling, "model")):
        found = audit_pair(train, pair, source_for(sizes()[1], 1), 9.0, blocks=np.random.default_rng(1))
        assert (found.loss, found.worst) == (None, None)
        (violation,) = found.violations
        assert (violation.kind, violation.observed, violation.loss) == (kind, None, None)
