"""Plan files, the account command's function, its table, and the plots."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from account_plans import ADD_REMOVE, REPLACE_ONE, gaussian, plan, release, sampled_gaussian

from refdp.accounting import account
from refdp.accounting.plan_file import load_plan
from refdp.accounting.report import account_command, render
from refdp.errors import InvalidParameter, RefdpError
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Parallel, Partition, Plan, Repeat, Sequential, Subsample

FILE = """
relation = "add-remove"
[[event]]
gaussian = 2.0
sensitivity = 0.5
count = 3
[[event]]
poisson = 0.1
count = 10
[[event.event]]
laplace = 1.5
[[event.event]]
exponential = 0.25
[[event]]
weights = [0.5, 0.25]
[[event.event]]
discrete-laplace = 4.0
step = 0.5
[[event.event]]
gaussian = 3.0
norm = "whitened"
[[event]]
parallel = true
[[event.event]]
laplace = 9.0
"""


def test_plan_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(FILE, encoding="utf-8")
    same = plan(
        Repeat(release(Gaussian(2.0), 0.5), 3),
        Repeat(Subsample(0.1, Sequential((release(Laplace(1.5)), release(Exponential(0.25))))), 10),
        Partition((0.5, 0.25), (release(DiscreteLaplace(4.0, 0.5)), release(Gaussian(1 / 1.0), norm="whitened"))),
        Parallel((release(Laplace(9.0)),)),
    )
    assert account(load_plan(path), delta=1e-6) == account(same, delta=1e-6)
    assert account_command(plan_file=path, delta=1e-6)["epsilon"] == account(same, delta=1e-6).epsilon


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "relation None"),
        ("relation = 'bounded'", "relation 'bounded'"),
        ("relation = 'add-remove'\nrelease = 1", "keys"),
        ("relation = 'add-remove'\nevent = 1", "array of tables"),
        ("relation = 'add-remove'\n[[event]]\ngaussian = 1\nlaplace = 1", "exactly|one of"),
        ("relation = 'add-remove'\n[[event]]\ngaussian = 1\nsigma = 1", "one of"),
        ("relation = 'add-remove'\n[[event]]\ngaussian = 'one'", "gaussian 'one'"),
        ("relation = 'add-remove'\n[[event]]\ngaussian = 1\ncount = -1", "count -1"),
        ("relation = 'add-remove'\n[[event]]\ngaussian = 1\nnorm = 3", "norm 3"),
        (
            "relation = 'add-remove'\n[[event]]\nweights = 3\n[[event.event]]\nlaplace = 1",
            "weights 3: allowed is a list",
        ),
        ("relation = ", "plan file"),
    ],
)
def test_bad_plan_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidParameter, match=message):
        load_plan(path)


def test_missing_plan_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="plan file"):
        load_plan(tmp_path / "none.toml")


def test_account_command() -> None:
    fields = account_command(gaussian=["30x1000"], delta=1e-5)
    assert set(fields) == {"epsilon", "delta", "lower", "upper", "method", "methods"}
    assert fields["epsilon"] == pytest.approx(4.65298453, abs=1e-8)
    assert fields["methods"]["basic"] == "inf"
    json.dumps(fields, allow_nan=False)
    assert (
        account_command(gaussian=["1x1"], poisson=0.1, epsilon=1.0)["delta"]
        == account(sampled_gaussian(0.1, 1.0), epsilon=1.0).delta
    )
    both = account_command(laplace=["20x100"], gaussian=["20x100"], delta=1e-5)
    assert both["epsilon"] == pytest.approx(2.9185819, abs=1e-5)
    assert account_command(exponential=["0.1x100"], delta=0.0, relation="replace-one")["epsilon"] == pytest.approx(10)


def test_account_command_samples_under_both_relations() -> None:
    one = release(Gaussian(2.0), relation=REPLACE_ONE)
    for options, method, inside in (
        ({"poisson": 0.1}, "poisson", one),
        ({"poisson": 0.1, "sample_relation": "add-remove"}, "poisson", release(Gaussian(2.0))),
        ({"without_replacement": 0.1}, "without-replacement", one),
    ):
        fields = account_command(gaussian=["2x20"], relation="replace-one", delta=1e-6, **options)  # type: ignore
        same = Plan(REPLACE_ONE, Repeat(Subsample(0.1, inside, method), 20))  # type: ignore[arg-type]
        assert fields["epsilon"] == account(same, delta=1e-6).epsilon
    fixed = account_command(gaussian=["2x20"], without_replacement=0.1, sample_relation="replace-one", delta=1e-6)
    assert fixed["epsilon"] == pytest.approx(account(sampled_gaussian(0.1, 2.0, 20), delta=1e-6).epsilon, rel=1e-4)
    grouped = account_command(gaussian=["4x1"], delta=1e-6, group=2)
    assert grouped["epsilon"] == account(gaussian(2.0), delta=1e-6).epsilon


def test_plan_files_name_the_relation_inside_samples(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    text = (
        "relation = 'replace-one'\n[[event]]\npoisson = 0.1\n[[event.event]]\ngaussian = 2\nrelation = 'add-remove'\n"
    )
    path.write_text(text, encoding="utf-8")
    same = Plan(REPLACE_ONE, Subsample(0.1, release(Gaussian(2.0))))
    assert account(load_plan(path), delta=1e-6) == account(same, delta=1e-6)
    for wrong in (text.replace("add-remove", "bounded"), text.replace("poisson", "relation = 'add-remove'\npoisson")):
        path.write_text(wrong, encoding="utf-8")
        with pytest.raises(InvalidParameter, match="relation"):
            load_plan(path)


def test_account_command_calibrates() -> None:
    fields = account_command(gaussian=["x1"], epsilon=1.0, delta=1e-6)
    assert fields["epsilon"] <= 1.0
    assert account(gaussian(fields["noise"] * (1 - 1e-5)), delta=1e-6).epsilon > 1.0
    chosen = account_command(exponential=["x5"], laplace=["20x2"], epsilon=0.5, delta=0.0)
    assert chosen["noise"] == pytest.approx(0.08, rel=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"delta": 1e-6},
        {"gaussian": ["1"], "delta": 1e-6},
        {"gaussian": ["axb"], "delta": 1e-6},
        {"gaussian": ["-1x2"], "delta": 1e-6},
        {"gaussian": ["1x1"]},
        {"gaussian": ["1x1"], "delta": 1e-6, "relation": "both"},
        {"gaussian": ["1x1"], "delta": 1e-6, "poisson": 1.5},
        {"gaussian": ["1x1"], "delta": 1e-6, "poisson": 0.5, "sample_relation": REPLACE_ONE},
        {"gaussian": ["1x1"], "delta": 1e-6, "poisson": 0.5, "without_replacement": 0.5},
        {"gaussian": ["1x1"], "delta": 1e-6, "sample_relation": REPLACE_ONE},
        {"gaussian": ["1x1"], "delta": 1e-6, "group": 0},
        {"gaussian": ["x1"], "delta": 1e-6, "epsilon": 1.0, "group": 2},
        {"gaussian": ["x1"], "delta": 1e-6},
        {"gaussian": ["x1"], "laplace": ["x1"], "epsilon": 1.0, "delta": 1e-6},
        {"gaussian": ["1x1"], "plan_file": "plan.toml", "delta": 1e-6},
    ],
)
def test_bad_account_commands(options) -> None:
    with pytest.raises(RefdpError):
        account_command(**options)


def test_table_shows_every_method_and_the_winner() -> None:
    from rich.console import Console

    fields = account_command(laplace=["4x10"], delta=1e-5)
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(render(fields))
    shown = console.export_text()
    assert all(name in shown for name in fields["methods"])
    assert f"{fields['lower']:.10g}" in shown
    console.file.close()


def test_plots() -> None:
    from refdp.accounting.plots import plot, profile, trade_off

    epsilons = np.linspace(0.0, 3.0, 7)
    curves = profile(gaussian(1.0), epsilons)
    assert np.all(np.diff(curves["exact"]) < 0)
    assert np.all(curves["lower"] <= curves["exact"])
    from scipy import stats

    alphas = np.linspace(0.01, 0.99, 50)
    fine = np.linspace(0.0, 4.0, 200)
    beta = trade_off(fine, profile(gaussian(1.0), fine)["exact"], alphas)
    assert beta == pytest.approx(stats.norm.cdf(stats.norm.isf(alphas) - 1.0), abs=2e-3)
    figure = plot(sampled_gaussian(0.1, 1.0), epsilons)
    assert [axes.get_title() for axes in figure.axes] == ["privacy profile", "trade-off curve"]


def test_relation_is_on_every_object() -> None:
    assert load_plan.__doc__ is not None
    assert plan().relation is ADD_REMOVE
