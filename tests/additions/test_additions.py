"""Three additions work everywhere without an edit elsewhere: trained, planned, accounted, certified, audited."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.accounting import account, pure_epsilon
from refdp.audit.freshness import stale
from refdp.audit.replay import Pair, audit_pair, run
from refdp.audit.report import audit_paper
from refdp.data.forms import from_json
from refdp.data.memory import Memory
from refdp.data.population import Labels, values
from refdp.data.records import Interval, Numeric, Records, Schema
from refdp.errors import InvalidParameter
from refdp.faces import prediction, registry, training
from refdp.ledger.certificate import Guarantee, issue
from refdp.noise.protocol import Mechanism, Supplying
from refdp.papers import dpboost
from refdp.privacy.curator import Curator
from refdp.privacy.events import Plan, Relation, Release, Repeat, Sensitivity, expand
from refdp.privacy.sources import SampleSource
from refdp.privacy.tape import TapeSource
from tests.additions import balanced, stumps
from tests.additions.balanced import Balanced
from tests.additions.staircase import Staircase
from tests.thinned import thinned

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
FILES = {"a noise": ("staircase.py",), "a sixth paper": ("stumps.py",), "a split rule": ("balanced.py",)}
SCHEMA = Schema((Numeric("a", 0, 1), Numeric("b", 0, 1)), Interval(0, 1))
AR = Relation.ADD_REMOVE
COUNTED = Sensitivity(1.0, 1, "staircase/count", AR)


def records(rows: int, seed: int = 0) -> Records:
    x = np.random.default_rng(seed).random((rows, 2))
    return Records(SCHEMA, x, (x[:, 0] > 0.5) * 0.8 + 0.1)


@pytest.fixture
def sixth() -> Iterator[registry.Paper]:
    yield registry.register("stumps", stumps)
    registry._registered.pop("stumps")


# --- how many files ---------------------------------------------------------------------------------------------------


def test_each_addition_is_as_many_files_as_architecture_says() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## What an addition touches")[2]
    stated = dict(re.findall(r"^\| (a [a-z ]+?) \| (\d+) \|", table, re.MULTILINE))
    assert {name: str(len(files)) for name, files in FILES.items()} == {name: stated[name] for name in FILES}
    here = {path.name for path in HERE.glob("*.py")} - {"__init__.py", "test_additions.py"}
    assert here == {file for files in FILES.values() for file in files}


def test_nothing_of_refdp_knows_them() -> None:
    names = re.compile(r"tests\.additions|staircase/|stumps|balanced_splits")
    assert [path for path in (ROOT / "refdp").rglob("*.py") if names.search(path.read_text(encoding="utf-8"))] == []


def test_the_sixth_paper_is_short() -> None:
    text = (HERE / "stumps.py").read_text(encoding="utf-8")
    assert len(text.partition("@dataclass")[2].splitlines()) <= 90


# --- the noise --------------------------------------------------------------------------------------------------------


class Count:
    """A program that releases how many records there are."""

    def __init__(self, count: float) -> None:
        self.count = count

    def to_json(self) -> str:
        return repr(self.count)


def counting(mechanism: Mechanism, declared: Sensitivity = COUNTED) -> Any:
    def train(given: Records, curator: Curator) -> Count:
        population = Memory(given)
        population.tell(stumps.Begin(stumps.Contribution(stumps.Params(1.0, AR), given.schema)))
        size = values(population.ask(Labels(0, 1)))[:1]
        return Count(float(curator.release("count", mechanism, size, sensitivity=declared)[0]))

    return train


NOISE = Staircase(0.7, 1.0)
PAIR = Pair(records(5), records(1, 1), None, 2)


def test_a_noise_is_sampled_as_its_density_says() -> None:
    """Masses of both parts of the first steps; 1e5 draws, five standard errors: false alarm below 1e-5."""
    noise, draws = Staircase(0.7, 2.0, 0.3), 100_000
    assert isinstance(noise, Supplying)
    generator = np.random.default_rng(0)
    seen = np.array([noise.apply(np.zeros(1), noise.draws(np.zeros(1)).sampler(generator))[0] for _ in range(1000)])  # type: ignore[misc]
    assert np.isfinite(seen).all()
    many = 2.0 * noise._sample(generator, (draws,))
    for low, high in ((0, 0.6), (0.6, 2), (2, 2.6), (-2, -0.6)):
        mass = math.exp(float(noise.log_density(np.array([0.0]), np.array([(low + high) / 2]))[0])) * (high - low)
        assert np.mean((many >= low) & (many < high)) == pytest.approx(mass, abs=5 * math.sqrt(mass / draws))
    grid = np.linspace(-60, 60, 240_001)
    assert np.trapezoid(np.exp(noise.log_density(np.zeros_like(grid), grid)), grid) == pytest.approx(1, abs=1e-3)


def test_a_noise_is_audited_and_a_wrong_sensitivity_found() -> None:
    assert audit_pair(counting(NOISE), PAIR, SampleSource(np.random.default_rng(1)), 0.7).violations == ()
    halved = replace(COUNTED, bound=0.5)
    found = audit_pair(counting(NOISE, halved), PAIR, SampleSource(np.random.default_rng(1)), 0.7)
    assert {violation.kind for violation in found.violations} >= {"sensitivity"}
    weaker = audit_pair(counting(Staircase(0.7, 0.4)), PAIR, SampleSource(np.random.default_rng(1)), 0.7)
    assert weaker.worst == pytest.approx(2.1)


def test_reuse_of_a_noise_is_found() -> None:
    def often(given: Records, curator: Curator) -> Count:
        for number in range(8):
            curator.release(f"count {number}", Staircase(0.7, 1.0), np.zeros(1), sensitivity=COUNTED)
        return Count(0)

    class Seeded(SampleSource):
        def release(self, request: Any) -> Any:
            self._secret = np.random.default_rng(3)
            return super().release(request)

    fresh, other = (run(often, records(3), SampleSource(np.random.default_rng(seed)), AR)[0] for seed in (1, 2))
    assert stale(fresh, other) == []
    again, same = (run(often, records(3), Seeded(np.random.default_rng(seed)), AR)[0] for seed in (1, 2))
    assert {violation.kind for violation in stale(again, same)} == {"reused noise", "seeded noise"}


def test_a_noise_is_accounted_for_and_taped() -> None:
    plan = Plan(AR, Repeat(Release("count", NOISE, COUNTED), 20))
    assert pure_epsilon(plan) == pytest.approx(14.0)
    bound = account(plan, delta=1e-6)
    assert 0 < bound.upper < 14.0
    source = SampleSource(np.random.default_rng(2), record=True)
    first = counting(NOISE)(records(4), Curator(source, AR))
    again = counting(NOISE)(records(4), Curator(TapeSource(source.tape), AR))
    assert first.to_json() == again.to_json()


def test_a_noise_without_a_claim_in_the_ledger_establishes_nothing() -> None:
    plan = Plan(AR, Release("count", NOISE, COUNTED))
    certificate = issue("counting", Guarantee(0.7, 0.0), plan, plan, params=None)
    assert math.isinf(certificate.established.epsilon)
    assert any("staircase/pure" in note for note in certificate.notes)


def test_a_noise_for_one_number_refuses_more() -> None:
    with pytest.raises(InvalidParameter, match="one number a release"):
        Curator(SampleSource(np.random.default_rng(0)), AR).release("v", NOISE, np.zeros(2), sensitivity=COUNTED)


# --- the sixth paper --------------------------------------------------------------------------------------------------


def test_a_sixth_paper_trains_predicts_and_keeps_to_its_plan(sixth: registry.Paper) -> None:
    params = sixth.params({"epsilon": "400", "relation": "add-remove"}, as_published=False)
    given = records(2000)
    curator = Curator(SampleSource(np.random.default_rng(0)), AR)
    model = sixth.train(params, given, curator)
    assert curator.event() == expand(sixth.plan(params, SCHEMA).event)
    assert pure_epsilon(sixth.plan(params, SCHEMA)) == pytest.approx(400)
    again = prediction.scores(from_json(model.to_json()), given.x)
    assert np.mean((again - given.y) ** 2) < 0.5 * np.var(given.y)
    ran = training.train(sixth, params, given, training.source_for(params, 1))
    assert ran.certificate.claimed.epsilon == 400 and math.isinf(ran.certificate.established.epsilon)


@pytest.mark.parametrize("relation", thinned(Relation))
def test_a_sixth_paper_is_audited_and_too_little_noise_found(
    sixth: registry.Paper, relation: Relation, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = stumps.Params(2.0, relation, trees=2, bins=3)
    assert audit_paper(sixth, params, 2, 0).violations == ()
    right = stumps.Params.charges

    def wrong(self: stumps.Params) -> Any:
        split, leaves = right(self)
        less = replace(leaves.declared, bound=leaves.declared.bound / 2)
        return split, replace(leaves, mechanism=stumps.Laplace(leaves.mechanism.scale / 2), declared=less, proved=less)  # type: ignore[attr-defined]

    monkeypatch.setattr(stumps.Params, "charges", wrong)
    assert any(found.release.endswith("leaves") for found in audit_paper(sixth, params, 2, 0).violations)


def test_what_lacks_a_member_or_takes_a_name_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="lacks Params"):
        registry.register("empty", balanced)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="the name is taken"):
        registry.register("dpboost", stumps)
    with pytest.raises(InvalidParameter, match="one of dpboost"):
        registry.paper("stumps")


# --- the split rule ---------------------------------------------------------------------------------------------------


def test_a_split_rule_runs_inside_the_paper() -> None:
    params = Balanced(1000.0, AR, trees=2, trees_per_ensemble=1, depth=2, bins=9)
    curator = Curator(SampleSource(np.random.default_rng(0)), AR)
    model = dpboost.train(params, records(3000), curator)
    assert curator.event() == expand(dpboost.plan(params, SCHEMA).event)
    root = model.outputs[0].trees[0].splits[0]
    assert root[1] == 0.5


@pytest.mark.parametrize(("declared", "kinds"), [(2.0, set()), (1.0, {"sensitivity", "cost"})])
def test_a_split_rule_is_audited(declared: float, kinds: set[str]) -> None:
    params = Balanced(2.0, AR, trees=2, trees_per_ensemble=2, depth=2, bins=4, utility_range=declared)
    paper = registry.Paper("dpboost", dpboost)
    found = audit_paper(paper, params, 2, 0).violations
    assert {one.kind for one in found if "splits" in one.release} >= kinds
    assert found == () or kinds
