"""Plans from tables and from the command line, event by event, and what is asked of the accountant."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from refdp.accounting import plan_file, report
from refdp.accounting.plan_file import CLAIM, plan_from, relation_of, release_of
from refdp.accounting.report import account_command, render
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import (
    Parallel,
    Partition,
    Plan,
    Relation,
    Release,
    Repeat,
    Sensitivity,
    Sequential,
    Subsample,
    balls_and_bins,
)

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
LAWS: dict[str, Any] = {"gaussian": Gaussian(3.0), "laplace": Laplace(3.0), "exponential": Exponential(3.0),
                        "discrete-gaussian": DiscreteGaussian(3.0, 1.0),
                        "discrete-laplace": DiscreteLaplace(3.0, 1.0)}  # fmt: skip
NORMS: dict[str, Any] = {
    "gaussian": 2,
    "laplace": 1,
    "exponential": "range",
    "discrete-gaussian": 2,
    "discrete-laplace": 1,
}


def released(kind: str, relation: Relation = ADD, bound: float = 1.0) -> Release:
    return Release(kind, LAWS[kind], Sensitivity(bound, NORMS[kind], CLAIM, relation))


def events(*rows: dict[str, Any], relation: str = "add-remove") -> Any:
    whole = plan_from({"relation": relation, "event": list(rows)})
    assert whole.relation is Relation(relation) and isinstance(whole.event, Sequential)
    return whole.event.events


@pytest.mark.parametrize("kind", LAWS)
def test_a_release_of_each_kind(kind: str) -> None:
    assert events({kind: 3}) == (released(kind),) == (release_of(kind, 3.0, ADD),)
    assert events({kind: 3.0}, relation="replace-one") == (released(kind, REPLACE),)
    (named,) = events({kind: 3.0, "sensitivity": 0.5, "name": "x", "norm": "whitened"})
    assert named == Release("x", LAWS[kind], Sensitivity(0.5, "whitened", CLAIM, ADD))
    inside = events({"without-replacement": 0.25, "event": [{kind: 3.0, "relation": "replace-one"}]})
    assert inside == (Subsample(0.25, released(kind, REPLACE), "without-replacement"),)
    stepped = events({kind: 3.0, "step": 0.25})[0].mechanism
    assert getattr(stepped, "step", None) == (0.25 if kind.startswith("discrete") else None)


def test_events_around_events() -> None:
    one, two = {"laplace": 3.0}, {"gaussian": 3.0}
    inner = (released("laplace"), released("gaussian"))
    for key, method in (("poisson", "poisson"), ("without-replacement", "without-replacement")):
        assert events({key: 0.25, "event": [one]}) == (Subsample(0.25, inner[0], method),)  # type: ignore[arg-type]
        assert events({key: 0.25, "event": [one, two]}) == (Subsample(0.25, Sequential(inner), method),)  # type: ignore[arg-type]
    assert events({"parallel": True, "event": [one, two]}) == (Parallel(inner),)
    assert events({"weights": [0.25, 0.5], "event": [two, one]}) == (Partition((0.25, 0.5), inner[::-1]),)
    assert events({"bins": 4, "event": [one]}) == (balls_and_bins(inner[0], 4),)
    assert events({"bins": 4, "event": [one, two]}) == (balls_and_bins(Sequential(inner), 4),)
    assert events(one, two) == inner


@pytest.mark.parametrize(("count", "due"), [(0, Repeat(released("laplace"), 0)), (1, released("laplace")),
                                            (2, Repeat(released("laplace"), 2))])  # fmt: skip
def test_counts_of_events(count: int, due: Any) -> None:
    assert events({"laplace": 3.0, "count": count}) == (due,)


@pytest.mark.parametrize(("row", "message"), [
    ({"laplace": 3.0, "count": -1}, "count -1"), ({"laplace": 3.0, "count": True}, "count True"),
    ({"laplace": 3.0, "count": 1.0}, "count 1.0"), ({"laplace": "3"}, "laplace '3': allowed are numbers"),
    ({"laplace": True}, "laplace True"), ({"laplace": 3.0, "gaussian": 1.0}, "exactly one of gaussian, laplace"),
    ({}, "exactly one of"), ({"laplace": 3.0, "odd": 1}, "event with keys"), ({"laplace": 3.0, "norm": 3}, "norm 3"),
    ({"laplace": 3.0, "sensitivity": "1"}, "sensitivity '1'"), ({"discrete-laplace": 3.0, "step": "1"}, "step '1'"),
    ({"discrete-gaussian": 3.0, "step": True}, "step True"),
    ({"weights": 0.5, "event": [{"laplace": 3.0}]}, "a list of numbers"),
    ({"weights": [True], "event": [{"laplace": 3.0}]}, "weights True"),
    ({"laplace": 3.0, "relation": "x"}, "of an event"),
    ({"poisson": 0.5, "relation": "add-remove"}, "relation of an event 'poisson'"),
    ({"poisson": "x", "event": [{"laplace": 3.0}]}, "poisson 'x'"),
    ({"parallel": True, "event": {"laplace": 3.0}}, "array of tables"),
    ({"parallel": True, "event": [3]}, "array of tables"),
    ({"parallel": False, "event": [{"laplace": 3.0}]}, "parallel False: allowed is true"),
    ({"parallel": 1, "event": [{"laplace": 3.0}]}, "parallel 1: allowed is true"),
    ({"poisson": 0.5}, "without an event"), ({"parallel": True, "event": []}, "without an event"),
    ({"weights": [], "event": []}, "without an event"), ({"bins": 10**9, "event": [{"laplace": 3.0}]}, "bins = "),
    ({"laplace": 10**400}, "laplace: a whole number of 1329 bits"), ({"laplace": 3.0, "norm": True}, "norm True"),
    ({"laplace": 3.0, "name": [1]}, "name \\[1\\] of an event"),
])  # fmt: skip
def test_events_that_are_none(row: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        events(row)


def test_plans_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="keys \\['odd'\\] of a plan"):
        plan_from({"relation": "add-remove", "odd": 1})
    for name in (None, "x", 3):
        with pytest.raises(InvalidParameter, match="of a plan: allowed are add-remove and replace-one"):
            plan_from({"relation": name})
    assert relation_of("replace-one", "x") is REPLACE
    path = tmp_path / "plan.toml"
    path.write_text('relation = "add-remove"\n[[event]]\nlaplace = 3\n')
    assert plan_file.load_plan(path) == Plan(ADD, Sequential((released("laplace"),)))
    path.write_bytes(b"\xff")
    with pytest.raises(InvalidParameter, match="plan file"):
        plan_file.load_plan(path)


def test_a_plan_that_releases_nothing_has_no_figure() -> None:
    """Its epsilon would be 0: a file without its releases was taken for a program without cost."""
    for table in ({"relation": "add-remove"}, {"relation": "add-remove", "event": []}):
        with pytest.raises(InvalidParameter, match="without an event"):
            plan_from(table)


@pytest.mark.parametrize("within", ["event = {0}", "[[event]]\npoisson = 1\n{1}gaussian = 1"])
def test_plans_nested_beyond_what_can_be_read(within: str, tmp_path: Path) -> None:
    tables = "".join(f"[[event{'.event' * depth}]]\npoisson = 1\n" for depth in range(1, 400))
    path = tmp_path / "plan.toml"
    path.write_text('relation = "add-remove"\n' + within.format("[" * 9999 + "]" * 9999, tables))
    with pytest.raises(InvalidParameter, match="nested too deeply"):
        plan_file.load_plan(path)


# --- The command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Plans that the accountant was asked about, with what was asked; noise is calibrated to 7."""
    found: list[Any] = []

    def account(plan: Plan, **named: Any) -> Any:
        found.append((plan, named))
        return SimpleNamespace(epsilon=math.inf, delta=0.5, lower=0.25, upper=math.inf, method="b",
                               methods={"a": math.inf, "b": 0.75})  # fmt: skip

    def calibrate(plan_of: Any, epsilon: float, delta: float, *, increasing: bool) -> float:
        found.append((plan_of(9.0), epsilon, delta, increasing))
        return 7.0

    monkeypatch.setattr(report, "account", account)
    monkeypatch.setattr(report, "calibrate", calibrate)
    return found


def test_releases_of_the_command_line_are_a_plan(asked: list[Any]) -> None:
    told = account_command(gaussian=["3x2"], laplace=["3x1", " 3x4 "], exponential=["3x5"], delta=0.25, group=3)
    assert told == {"epsilon": "inf", "delta": 0.5, "lower": 0.25, "upper": "inf", "method": "b",
                    "methods": {"a": "inf", "b": 0.75}}  # fmt: skip
    parts = tuple(Repeat(released(kind), count) for kind, count in (
        ("gaussian", 2), ("laplace", 1), ("laplace", 4), ("exponential", 5)))  # fmt: skip
    assert asked == [(Plan(ADD, Sequential(parts)), {"delta": 0.25, "epsilon": None, "group": 3})]
    asked.clear()
    account_command(laplace=["3x2"], relation="replace-one", epsilon=2.0)
    whole = Plan(REPLACE, Sequential((Repeat(released("laplace", REPLACE), 2),)))
    assert asked == [(whole, {"delta": None, "epsilon": 2.0, "group": 1})]


@pytest.mark.parametrize(("rate", "method", "relation", "inside"), [
    ("poisson", "poisson", REPLACE, ADD), ("without_replacement", "without-replacement", ADD, REPLACE)])  # fmt: skip
def test_samples_of_the_command_line(
    asked: list[Any], rate: str, method: Any, relation: Relation, inside: Relation
) -> None:
    """Under the relation of the plan, and under another one inside."""
    account_command(laplace=["3x2"], delta=0.25, relation=inside, **{rate: 0.125})  # type: ignore[arg-type]
    account_command(laplace=["3x2"], delta=0.25, relation=relation, sample_relation=inside, **{rate: 0.125})  # type: ignore[arg-type]
    for (whole, _), outside in zip(asked, (inside, relation), strict=True):
        part = Repeat(Subsample(0.125, released("laplace", inside), method), 2)
        assert whole == Plan(outside, Sequential((part,)))


@pytest.mark.parametrize(("kind", "increasing"), [("gaussian", False), ("laplace", False), ("exponential", True)])
def test_the_one_release_without_noise_is_calibrated(asked: list[Any], kind: str, increasing: bool) -> None:
    given: dict[str, Any] = {"gaussian": ["3x1"], "laplace": ["3x1"], "exponential": ["3x1"]} | {kind: ["x4"]}
    told = account_command(**given, epsilon=2.0, delta=0.25)
    (trial, epsilon, delta, up), (final, named) = asked
    assert (epsilon, delta, up, named, told["noise"]) == (2.0, 0.25, increasing, {"delta": 0.25}, 7.0)
    for whole, noise in ((trial, 9.0), (final, 7.0)):
        laws = {one.event.name: (one.event.mechanism, one.count) for one in whole.event.events}
        others = {name: (LAWS[name], 1) for name in ("gaussian", "laplace", "exponential") if name != kind}
        assert laws == others | {kind: (type(LAWS[kind])(noise), 4)}


@pytest.mark.parametrize(("given", "message"), [
    ({}, "no release"), ({"gaussian": ["x1"]}, "1 releases without noise"),
    ({"gaussian": ["x1"], "epsilon": 1.0}, "delta None"), ({"gaussian": ["x1"], "delta": 0.1}, "epsilon None"),
    ({"gaussian": ["x1", "x2"], "epsilon": 1.0, "delta": 0.1}, "2 releases without noise"),
    ({"gaussian": ["x1"], "epsilon": 1.0, "delta": 0.1, "group": 2}, "calibration for a group of 2"),
    ({"gaussian": ["1x1"], "poisson": 0.1, "without_replacement": 0.1}, "two samples"),
    ({"gaussian": ["1x1"], "sample_relation": "add-remove"}, "allowed with a sampling rate"),
    ({"gaussian": ["1x"]}, "allowed is NOISExCOUNT"), ({"gaussian": ["1..2x1"]}, "allowed is NOISExCOUNT"),
    ({"gaussian": ["1x1"], "certificate_file": "x"}, "a certificate at delta None"),
    ({"gaussian": ["1x1"], "certificate_file": "x", "delta": 0.1, "epsilon": 1.0}, "allowed is delta alone"),
    ({"gaussian": ["1x1"], "certificate_file": "x", "delta": 0.1, "group": 2}, "a certificate for a group of 2"),
    ({"plan_file": "x", "gaussian": ["1x1"]}, "together with releases"),
    ({"plan_file": "x", "poisson": 0.1}, "together"),
    ({"plan_file": "x", "without_replacement": 0.1}, "together"),
    ({"plan_file": "x", "sample_relation": ADD}, "together"),
])  # fmt: skip
def test_what_the_command_refuses(asked: list[Any], given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        account_command(**given)
    assert asked == []


def test_a_plan_file_and_a_certificate(asked: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file, target = tmp_path / "plan.toml", tmp_path / "out.json"
    file.write_text('relation = "add-remove"\n[[event]]\nlaplace = 3\n')
    monkeypatch.setattr("refdp.accounting.certificates.certificate", lambda plan, delta: {"delta": delta, "n": [1]})
    account_command(plan_file=file, delta=0.25, certificate_file=target)
    assert target.read_text() == json.dumps({"delta": 0.25, "n": [1]}, indent=1) + "\n"
    assert asked == [(Plan(ADD, Sequential((released("laplace"),))), {"delta": 0.25, "epsilon": None, "group": 1})]
    account_command(plan_file=file, epsilon=2.0, group=2)
    assert asked[1][1] == {"delta": None, "epsilon": 2.0, "group": 2}
    with pytest.raises(InvalidParameter, match="certificate file"):
        account_command(plan_file=file, delta=0.25, certificate_file=tmp_path)


def test_the_table_of_methods() -> None:
    rich = pytest.importorskip("rich.console")
    fields: dict[str, Any] = {"epsilon": 1.25, "delta": 0.1, "lower": 1.0, "upper": 1.25, "method": "b",
                              "methods": {"a": "inf", "b": 1.25, "c": 1.123456789012}}  # fmt: skip

    def shown(**more: Any) -> list[list[str]]:
        console = rich.Console(width=90, record=True, file=io.StringIO())
        console.print(render({**fields, **more}))
        return [
            [cell.strip() for cell in line.split("│")[1:-1]]
            for line in console.export_text().splitlines()
            if "│" in line
        ]

    rows = shown()
    assert rows == [["c", "1.123456789", ""], ["b", "1.25", "best"], ["a", "inf", ""], ["enclosure", "[1, 1.25]", ""]]
    assert shown(noise=2.5)[-1] == ["calibrated noise", "2.5", ""]
    table = render(fields)
    assert table.title == "epsilon 1.25 at delta 0.1" and [c.header for c in table.columns] == ["method", "epsilon", ""]
    assert render({**fields, "upper": 0.1}).columns[1].header == "delta"
