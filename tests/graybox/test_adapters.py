"""Adapters, on small packages of the same shape: what is right passes, what is broken is found at its place."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.audit.adapters.dpxgboost import VARIABLE, Job, train_all
from refdp.audit.adapters.plain import command, plain
from refdp.audit.opened_replay import audit_opened
from refdp.audit.structural import inspect
from refdp.errors import InvalidParameter
from refdp.privacy.events import Relation
from tests.graybox import packages

X = np.column_stack([np.linspace(0.05, 0.95, 40), np.arange(40) % 2])
Y = (np.arange(40) % 3 == 0).astype(float)
ROWS = (X, Y)
REMOVED = [(ROWS, (X[1:], Y[1:])), (ROWS, (X[:-1], Y[:-1]))]


def test_diffprivlib_mechanisms(monkeypatch: pytest.MonkeyPatch) -> None:
    made = packages.install_diffprivlib(monkeypatch)

    def release(rows: Any) -> Any:
        count = len(rows[1])
        return [
            made.Laplace(0.25, 1.0).randomise(count),
            made.LaplaceTruncated(0.25, 1.0).randomise(count),
            made.Geometric(0.25, 1).randomise(count),
            made.Exponential(0.25, 1, utility=[count, 0], candidates=["a", "b"]).randomise(),
        ]

    report = audit_opened(release, REMOVED, "diffprivlib", epsilon=1.0)
    assert report.ok, report.to_dict()
    assert report.calls == 16
    assert "test_adapters.py" in report.releases[0].name
    assert audit_opened(release, REMOVED, "diffprivlib", epsilon=0.8).kinds() == ["budget"]


def test_diffprivlib_gaussian_and_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    made = packages.install_diffprivlib(monkeypatch)

    def release(rows: Any, scale: float = 4.9) -> Any:
        count = float(len(rows[1]))
        first = made.Gaussian(1.0, 1.0, delta=1e-5, _scale=scale).randomise(count)
        return first, made.Staircase(1.0, 1.0).randomise(3.0 * count)

    report = audit_opened(release, REMOVED, "diffprivlib", epsilon=1.0, delta=1e-5)
    assert report.kinds() == ["sampler", "sensitivity"]  # its noise, played by itself, shows the same
    assert ("sensitivity", 3.0) in [(v.kind, v.observed) for v in report.violations]
    small = audit_opened(lambda rows: release(rows, 2.0), REMOVED, "diffprivlib", epsilon=1.0, delta=1e-5)
    assert small.kinds() == ["budget", "noise", "sampler", "sensitivity"]


def test_a_declared_sensitivity_of_zero_is_held_against_the_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """No noise at all: right for a constant, an exact release of anything else."""
    made = packages.install_diffprivlib(monkeypatch)

    def release(rows: Any, value: float) -> Any:
        return made.Laplace(1.0, 1.0).randomise(len(rows[1])), made.Laplace(1.0, 0.0).randomise(value)

    assert audit_opened(lambda rows: release(rows, 3.0), REMOVED, "diffprivlib", epsilon=1.0).ok
    report = audit_opened(lambda rows: release(rows, float(len(rows[1]))), REMOVED, "diffprivlib", epsilon=1.0)
    assert ("sensitivity", 0.0, 1.0) in [(v.kind, v.declared, v.observed) for v in report.violations]


def forest(rows: Any, by_position: bool) -> Any:
    """Two stumps on halves of the records: by position, or by a feature of the record itself."""
    x, y = rows
    half = np.arange(len(x)) * 2 // len(x) if by_position else (x[:, 1] > 0.5).astype(int)
    return [packages._FittingTree(1.0).fit(x[half == place], y[half == place]).values_ for place in (0, 1)]


def test_diffprivlib_forest(monkeypatch: pytest.MonkeyPatch) -> None:
    packages.install_diffprivlib(monkeypatch)
    fair = audit_opened(lambda rows: forest(rows, False), REMOVED, "diffprivlib", epsilon=1.0)
    assert fair.ok, fair.to_dict()
    moved = (X, np.roll(Y, 1))
    report = audit_opened(
        lambda rows: forest(rows, True), [(ROWS, (X[1:], Y[1:])), (ROWS, moved)], "diffprivlib", epsilon=1.0
    )
    assert "budget" in report.kinds()


def test_an_empty_leaf_is_no_difference_of_control_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The neighbour's only record of the right leaf is gone: a uniform label there is permute-and-flip of 0 and 0."""
    packages.install_diffprivlib(monkeypatch)
    x, y = np.array([[0.1], [0.2], [0.9]]), np.array([0.0, 1.0, 1.0])
    report = audit_opened(
        lambda rows: packages._FittingTree(1.0).fit(*rows).values_,
        [((x, y), (x[:2], y[:2]))],
        "diffprivlib",
        epsilon=1.0,
    )
    assert report.ok, report.to_dict()
    assert 0 < report.worst <= 1.0


def test_forest_with_a_replaced_label_costs_more(monkeypatch: pytest.MonkeyPatch) -> None:
    packages.install_diffprivlib(monkeypatch)
    x, y = np.full((2, 1), 0.1), np.array([0.0, 1.0])
    pairs = [((x, y), (x, np.zeros(2)))]
    tree = lambda rows: packages._FittingTree(1.0).fit(*rows).values_  # noqa: E731
    report = audit_opened(tree, pairs, "diffprivlib", epsilon=1.0, relation=Relation.REPLACE_ONE)
    assert report.kinds() == ["budget", "sensitivity"]


def test_interpret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bins over the exact count show in the result; residuals of a target far from 0 exceed the noise's scale."""
    packages.install_interpret(monkeypatch)
    pairs = [((X[:, 0], Y), (X[1:, 0], Y[1:]))]
    run = packages.Machine().fit
    right = audit_opened(
        lambda rows: run(rows, False),
        pairs,
        "interpret",
        epsilon=1.0,
        delta=1e-5,
        rounding=1e-7,
        relation=Relation.ADD_REMOVE,
    )
    assert right.ok, right.to_dict()
    assert [seen.declared for seen in right.releases] == [1.0, 0.01]
    counted = audit_opened(lambda rows: run(rows, True), pairs, "interpret", epsilon=1.0, delta=1e-5, rounding=1e-7)
    assert counted.kinds() == ["result"]
    far = [((X[:, 0], Y + 100), (X[1:, 0], Y[1:] + 100))]
    report = audit_opened(lambda rows: run(rows, False), far, "interpret", epsilon=1.0, delta=1e-5, rounding=1e-7)
    assert report.kinds() == ["budget", "sensitivity"]
    assert report.violations[0].observed == pytest.approx(1.01)


def test_opendp(monkeypatch: pytest.MonkeyPatch) -> None:
    packages.install_opendp(monkeypatch)
    from opendp import combinators, core, measurements  # type: ignore[attr-defined, unused-ignore]

    def release(rows: Any, bound: float = 1.0) -> Any:
        total = packages.Transformation(lambda data: float(np.clip(data[0][:, 0], 0, 1).sum()), bound)
        chain = combinators.make_chain_mt(measurements.make_laplace("domain", "metric", 2.0), total)
        return core.measurement_invoke(chain, rows)

    report = audit_opened(release, REMOVED, "opendp", epsilon=0.5)
    assert report.ok, report.to_dict()
    assert audit_opened(lambda rows: release(rows, 0.5), REMOVED, "opendp", epsilon=0.5).kinds() == ["sensitivity"]
    with pytest.raises(InvalidParameter, match="make_laplace"):
        audit_opened(
            lambda rows: core.measurement_invoke(packages.Measurement(1.0), 3.0), REMOVED, "opendp", epsilon=1.0
        )


def test_dpxgboost_through_a_subprocess(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "dp_xgboost.py").write_text(packages.DP_XGBOOST)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv(VARIABLE, sys.executable)
    jobs = [Job(X, Y, X.min(axis=0), X.max(axis=0), 1, {"seed": seed}) for seed in (1, 2)]
    version, models = train_all(jobs)
    assert version == "0.2.10"
    assert [trained.trees[0] for trained in models] == [
        {"sum_hessian": [40.0], "split_conditions": [0.1 * seed]} for seed in (1, 2)
    ]
    ticking = train_all([Job(X, Y, X.min(axis=0), X.max(axis=0), 1, {"seed": 1}, tick) for tick in (0, 1)])[1]
    assert ticking[0].seconds[1] < ticking[1].seconds[0]
    (tmp_path / "dp_xgboost.py").write_text("raise ImportError('not here')")
    with pytest.raises(InvalidParameter, match="not here"):
        train_all(jobs)


def test_dpxgboost_needs_its_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("", os.devnull + "/nothing"):
        monkeypatch.setenv(VARIABLE, value)
        with pytest.raises(InvalidParameter, match=VARIABLE):
            train_all([])


SCRIPT = """
import csv, json, random, sys
rows = list(csv.DictReader(open(sys.argv[1])))
random.seed(int(sys.argv[3]))
noisy = len(rows) + random.expovariate(1) - random.expovariate(1)
shown = {"noisy": noisy, "first": rows[0]["c0"]}
if sys.argv[4] == "exact":
    shown["n"] = len(rows)
json.dump(shown, open(sys.argv[2], "w"))
"""


def script(how: str) -> Any:
    """The script as a function."""
    return command([sys.executable, "-S", "-E", "-c", SCRIPT, "{csv}", "{json}", "{seed}", how])


def test_a_command_that_reads_csv_and_writes_json() -> None:
    pair = (ROWS, (X[:-1], Y[:-1]))
    found = inspect(script("exact"), pair, seed=1, epsilon=0.1, calls=24, order=False)
    assert [(finding.where, finding.evidence["first"]) for finding in found] == [("['n']", 40)]
    noisy = [script("noisy")(ROWS, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert noisy[0] == noisy[1] != noisy[2]
    assert float(noisy[0]["first"]) == X[0, 0]


def test_commands_are_checked() -> None:
    with pytest.raises(InvalidParameter, match="csv"):
        command(["train"])
    for code, reason in (("raise SystemExit(3)", "ended with 3"), ("print('no')", "one JSON")):
        with pytest.raises(InvalidParameter, match=reason):
            command([sys.executable, "-c", code, "{csv}"])(ROWS, np.random.default_rng(1))


def test_a_plain_function() -> None:
    found = inspect(plain(lambda rows: {"n": len(rows[0])}), (ROWS, (X[:-1], Y[:-1])), seed=1, order=False)
    assert [finding.kind for finding in found] == ["identical outputs"]
