"""Grove: its plan, certificate, replay audit and mutants, and what it learns."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refdp
from refdp.accounting import account
from refdp.audit.report import audit_paper
from refdp.data import population as messages
from refdp.data.memory import Memory
from refdp.data.records import Categorical, Classes, Interval, Numeric, Records, Schema, make_records
from refdp.data.shards import Shards
from refdp.engines.chaos import FAULTS, Chaos
from refdp.engines.federated import Asks, Federation, LocalHost, NoiseInside, Participant
from refdp.engines.journal import ReleaseJournal
from refdp.errors import InvalidParameter
from refdp.faces import cli, registry
from refdp.own import grove
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation, expand
from refdp.privacy.sources import SampleSource
from tests.thinned import thinned

FEATURES = (Numeric("x", 0, 1), Numeric("z", -2, 2), Categorical("c", ("a", "b", "c")))
TWO = Schema(FEATURES, Classes(("no", "yes")))
THREE = Schema(FEATURES, Classes(("a", "b", "c")))
REAL = Schema(FEATURES, Interval(-3, 5))
SCHEMAS = {"two classes": TWO, "three classes": THREE, "regression": REAL}
BOTH = tuple(Relation)
TINY: dict[str, Any] = {"trees": 1, "depth": 1, "bins": 2}
FEW: dict[str, Any] = {"trees": 3, "depth": 2, "bins": 4}


def few(schema: Schema) -> dict[str, Any]:
    """Settings of a small run; of a regression with as many trees as it takes for c to follow the residuals."""
    return FEW | ({"trees": 10} if schema is REAL else {})


def data(schema: Schema, rows: int = 60, seed: int = 0) -> Records:
    generator = np.random.default_rng(seed)
    x = np.column_stack([generator.random(rows), generator.uniform(-2, 2, rows), generator.integers(0, 3, rows)])
    x[0, 0] = np.nan
    y = generator.integers(0, schema.scores + 1, rows) % max(schema.scores, 2)
    return make_records(schema, x, y.astype(float))


def trained(params: grove.Params, records: Records, seed: int = 0) -> tuple[Any, Curator]:
    curator = Curator(SampleSource(np.random.default_rng(seed), exact=params.noise == "discrete"), params.relation)
    return grove.train(params, records, curator), curator


@pytest.mark.parametrize("noise", ["floating", "discrete"])
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_the_plan_is_what_a_run_releases_and_costs_at_most_epsilon(
    schema: Schema, relation: Relation, noise: Any
) -> None:
    params = grove.Params(1.0, relation, **few(schema), noise=noise)
    _, curator = trained(params, data(schema))
    assert expand(curator.event()) == expand(grove.plan(params, schema).event)
    cost = account(grove.plan(params, schema), delta=params.delta, quick=noise == "discrete").epsilon
    assert 0.99 < cost <= 1.0 + 1e-9
    certificate = grove.certificate(params, schema)
    assert certificate.established.epsilon == pytest.approx(cost)
    assert not [verdict for _, verdict in certificate.rests_on if verdict in ("OPEN", "REFUTED")]


@pytest.mark.parametrize("a", [Fraction(1, 10), Fraction(1), Fraction(33, 10)])
def test_the_joint_norm_is_greatest_where_the_gradient_is_a_half(a: Fraction) -> None:
    """(3) in fractions, at 1,000 gradients of the log loss; without the cut it is passed."""
    share = [Fraction(k, 1000) for k in range(1001)]
    half = Fraction(grove.CUT)

    def norms(cut: Fraction) -> list[Fraction]:
        return [grove.squared_joint_norm(grove.clip(t, cut), grove.log_hessian_of(t), a) for t in share]

    assert max(norms(half)) == norms(half)[500] == Fraction(1, 4) + a * a / 16 == grove.squared_log_bound(a)
    assert max(norms(half + Fraction(1, 100))) > grove.squared_log_bound(a)


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_no_record_contributes_more_than_is_declared(schema: Schema) -> None:
    generator = np.random.default_rng(0)
    params = grove.Params(1.0, Relation.ADD_REMOVE, residual=0.25)
    y = (
        generator.integers(0, max(schema.scores, 2), 5000) * 1.0
        if schema is not REAL
        else generator.uniform(-3, 5, 5000)
    )
    squares = {a: np.zeros(5000) for a in (params.weight(schema), params.first_weight(schema))}
    contribution = grove.Contribution(params, schema)
    for output in grove.outputs_of(schema):
        score = generator.normal(0, 4, 5000)
        found = contribution.statistics(score, contribution.label(output, y), ("g", "h")).values
        g, h = found["g"], np.ones(5000) if found["h"] is None else found["h"]
        assert g is not None
        for a, own in squares.items():
            own += grove.squared_joint_norm(g, h, a)
    for a, own in squares.items():
        assert 0.96 * params.joint_norm(schema, a) < np.sqrt(own.max()) <= params.joint_norm(schema, a)


@pytest.mark.parametrize(
    ("schema", "relation"),
    thinned(
        [
            (TWO, Relation.ADD_REMOVE),
            (TWO, Relation.REPLACE_ONE),
            (REAL, Relation.REPLACE_ONE),
            (REAL, Relation.ADD_REMOVE),
            (THREE, Relation.ADD_REMOVE),
        ]
    ),
    ids=["two classes", "two classes replaced", "regression replaced", "regression", "three classes"],
)
def test_replays_find_no_violation(schema: Schema, relation: Relation) -> None:
    """Of regressions with c that follows the residuals."""
    paper = registry.paper("grove")
    params = grove.Params(1.0, relation, **TINY | ({"trees": 10} if schema is REAL else {}))
    assert (params.early(schema) == 1) == (schema is REAL)
    report = audit_paper(paper, params, 2, 0, records=data(schema, 8))
    assert not report.violations


def mutant_norm(self: Any, schema: Schema, a: float) -> float:
    return 0.25


def mutant_hessian(gradient: Any) -> Any:
    return 2 * abs(gradient)


def mutant_clip(value: Any, bound: Any) -> Any:
    return value * 1.0


def mutant_cells(self: Any, share: float, cells: int) -> Any:
    return COUNTS(self, share, 1)


def mutant_label(self: Any, output: int, y: Any) -> Any:
    return 2 * self.schema.label(output, y)


def mutant_cut(schema: Schema) -> float:
    return cut_of(schema) if inspect.stack()[1].function == "joint_norm" else grove.CUT


def mutant_left(self: Any, score: Any, label: Any, of: tuple[str, ...]) -> Any:
    found = STATISTICS(self, score, label, of)
    return found._replace(values={**found.values, "r": 3 * found.values["r"]}) if of == grove.LEFT else found


def mutant_counts(
    name: str, charge: Any, schema: Schema, of: tuple[str, ...], population: Any, curator: Curator
) -> Any:
    """A record is in two bins of the residuals."""
    if name != "residuals":
        return COUNTED(name, charge, schema, of, population, curator)
    population.tell(messages.Refresh(of))
    population.tell(messages.Root(tuple(range(len(schema.features)))))
    return curator.release_sum(name, charge, population, messages.Nodes(of), lambda sums: sums[:, 0] + sums[::-1, 0])


COUNTED, STATISTICS = grove.counts_of, grove.Contribution.statistics
COUNTS, cut_of = grove.Params.counts_charge, grove.others_cut
MUTANTS = [
    (grove.Params, "joint_norm", mutant_norm, TWO),
    (grove, "log_hessian_of", mutant_hessian, TWO),
    (grove, "clip", mutant_clip, REAL),
    (grove, "clip", mutant_clip, TWO),
    (grove.Params, "counts_charge", mutant_cells, TWO),
    (grove.Contribution, "label", mutant_label, TWO),
    (grove, "others_cut", mutant_cut, THREE),
    (grove, "counts_of", mutant_counts, REAL),
    (grove.Contribution, "statistics", mutant_left, REAL),
]


@pytest.mark.parametrize(
    ("owner", "name", "mutant", "schema"),
    thinned(MUTANTS, 3),
    ids=[f"{name} {len(schema.features)}" for _, name, _, schema in MUTANTS],
)
def test_replays_kill_mutants(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, mutant: Any, schema: Schema
) -> None:
    """Half the norm, too large a Hessian, nothing cut, one bin for all features, labels to 2, others cut at 1/2,
    residuals counted twice, what all trees leave three times."""
    monkeypatch.setattr(owner, name, mutant)
    grove.plan_of.__globals__["recorded"].cache_clear()
    given = {"trees": 10} if name in ("counts_of", "statistics") else {"residual": 0.1}
    params = grove.Params(1.0, Relation.ADD_REMOVE, **TINY | given)
    try:
        report = audit_paper(registry.paper("grove"), params, 2, 0, records=data(schema, 8))
    finally:
        grove.plan_of.__globals__["recorded"].cache_clear()
    assert report.violations


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_shards_give_the_same_model(schema: Schema) -> None:
    """It is made of sums, so that hosts of parts of the records give the same bytes."""
    params = grove.Params(1.0, Relation.ADD_REMOVE, **few(schema))
    whole = data(schema)
    model, _ = trained(params, whole)
    parts = [Memory(whole.take(rows)) for rows in np.array_split(np.arange(whole.size), 3)]
    curator = Curator(SampleSource(np.random.default_rng(0), exact=True), params.relation)
    assert grove.train_on(params, schema, Shards(parts), curator).to_json() == model.to_json()


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_three_participants_add_the_noise_themselves(schema: Schema, tmp_path: Path) -> None:
    """Nobody has an exact sum; the plan is kept, and participants and server that begin anew give the same bytes."""
    params = grove.Params(2.0, Relation.ADD_REMOVE, **few(schema))
    plan, found = Asks.of(grove.train_on, params, schema), []
    for life in "ab":
        everybody = [
            Participant(plan, ReleaseJournal(tmp_path / f"{life}{k}", "run", secret=bytes([k]) * 32),
                        partial(data, schema, 60, k), 3, 2)
            for k in range(3)
        ]  # fmt: skip
        server = ReleaseJournal(tmp_path / life, "run", secret=b"s" * 32)
        curator = Curator(NoiseInside(np.random.default_rng(0), journal=server), params.relation)
        population = Federation(plan, LocalHost(everybody), 2, server)
        found.append(grove.train_on(params, schema, population, curator).to_json())
        assert curator.event() == expand(grove.plan(params, schema).event)
    assert found[0] == found[1]


@pytest.mark.parametrize("relation", BOTH)
def test_faults_of_hosts_change_neither_the_model_nor_a_release(relation: Relation) -> None:
    """Shards that answer late, twice, or not before they are replaced, against records in memory."""
    faults: Counter[str] = Counter()
    for seed, schema in enumerate(SCHEMAS.values()):
        params, whole, found = grove.Params(1.0, relation, **FEW), data(schema), []
        chaos = Chaos([whole.take(rows) for rows in np.array_split(np.arange(whole.size), 3)], seed=seed, rate=0.8)
        for host in (Memory(whole), chaos):
            curator = Curator(SampleSource(np.random.default_rng(seed), exact=True), relation)
            model = grove.train_on(params, schema, host, curator)
            found.append((model.to_json(), curator.transcript.public(), curator.event()))
        assert found[0] == found[1]
        faults += chaos.faults
    assert set(faults) == set(FAULTS)


@pytest.mark.parametrize("schema", [TWO, THREE], ids=["two classes", "three classes"])
def test_a_run_uses_all_levels_only_after_trees_that_told_so(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 2 of 3 levels in the first tree: its lower splits are their parents', and so are leaves of both sides."""
    monkeypatch.setattr(grove, "USUAL", 2)
    monkeypatch.setattr(grove, "LOOKED_AT", 1)
    monkeypatch.setattr(grove.Params, "levels", lambda self, schema: 3)
    params = grove.Params(5.0, Relation.ADD_REMOVE, trees=3, rows=1000, feature_share=0.0, noise="floating")
    for least, expected in ((math.inf, [True] * 3), (-math.inf, [True, False, False])):
        monkeypatch.setattr(grove, "DEEP", least)
        model, _ = trained(params, data(schema))
        for own in model.outputs:
            for tree, usual in zip(own.trees, expected, strict=True):
                asked = np.array_equal(tree.splits[3:], np.repeat(tree.splits[1:3], 2, axis=0))
                assert asked == usual == np.array_equal(tree.leaves[::2], tree.leaves[1::2])


def test_its_contribution_goes_through_json() -> None:
    begin = messages.Begin(grove.Contribution(grove.Params(1.0, Relation.ADD_REMOVE, residual=0.5), REAL))
    assert messages.from_json(messages.to_json(begin)) == begin


def test_settings_follow_rows_and_wrong_ones_are_refused() -> None:
    few, many = (grove.Params(1.0, Relation.ADD_REMOVE, rows=rows) for rows in (1000, 1_000_000))
    assert (few.levels(TWO), many.levels(TWO), many.levels(REAL)) == (4, 7, 5)
    assert (few.rounds(TWO), many.rounds(TWO), many.rounds(REAL)) == (200, 800, 400)
    assert replace(many, depth=2, trees=9).rounds(TWO) == 9
    wrong: list[dict[str, Any]] = [{"hessian_weight": 3.4}, {"rows": 0}, {"depth": 11}, {"explore": 0}, {"delta": 0.0}]
    for settings in wrong:
        with pytest.raises(InvalidParameter, match=next(iter(settings))):
            grove.Params(1.0, Relation.ADD_REMOVE, **settings)


def test_leaves_shrink_with_the_noise_to_nothing() -> None:
    g, h = np.array([-50.0, -50.0, 5.0]), np.array([100.0, 100.0, -3.0])
    values = [grove.shrunk(g, h, 1.0, variance, 0.25)[0] for variance in (0.0, 1e2, 1e4, 1e8)]
    assert values[0] == pytest.approx(50 / 104)
    assert values == sorted(values, reverse=True)
    assert values[-1] < 1e-3
    assert grove.shrunk(g, h, 1.0, 1.0, 0.25)[2] == 0.0
    rng = np.random.default_rng(0)
    h = np.full(200_000, 80.0)
    noisy = -h * rng.normal(0, 0.3, len(h)) + rng.normal(0, math.sqrt(80 + 25), len(h))
    assert grove.moments(noisy, h, 1.0, 25.0) == pytest.approx(0.09, rel=0.02)


@pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning")
def test_it_learns_and_is_an_estimator() -> None:
    generator = np.random.default_rng(1)
    x = generator.random((8000, 5))
    signal = x[:, 0] + x[:, 1] * x[:, 2]
    public: dict[str, Any] = {"relation": "add-remove", "bounds": dict.fromkeys(range(5), (0, 1)), "rows": 8000}
    seed = refdp.ReproducibleSeed(3)
    model = refdp.GroveClassifier(classes=[False, True], insecure_seed=seed, **public).fit(x, signal > 0.7)
    assert model.score(x, signal > 0.7) > 0.85
    assert model.certificate_.established.epsilon == pytest.approx(1.0, rel=0.01)
    wide = refdp.GroveRegressor(label_bounds=(-10, 40), insecure_seed=seed, **public).fit(x, signal)
    assert wide.score(x, signal) > 0.6


def test_the_command_line_trains_and_audits_it(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", "grove", "--data", "breast_cancer", "--epsilon", "2", "--seed", "0", "--set", "trees=5"]
    assert cli.run([*command, "--json"]) == 0
    assert '"paper": "grove"' in capsys.readouterr().out
    assert cli.run(["audit", "grove", "--epsilon", "1", "--pairs", "2", "--json"]) == 0


def test_fractions_are_exact() -> None:
    """The bound that solvers decide is the one that is declared."""
    assert grove.squared_log_bound(Fraction(33, 10)) == Fraction(1489, 1600)
    assert grove.squared_square_bound(Fraction(3, 10)) == Fraction(109, 100)
