"""What figures of audits show: every line, bar and limit that is drawn, without a drawing library."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import special

from refdp.accounting import plots
from refdp.audit import page, page_exact
from refdp.audit.exact_curve import Outcomes
from refdp.audit.tradeoff import Curve
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.events import Plan, Relation, Release, Sensitivity


class Axes:
    """Notes what is drawn."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        def noted(*given: Any, **named: Any) -> Any:
            result = Axes() if name == "inset_axes" else None
            self.calls.append((name, (*given, result), named))
            return result

        return noted

    def all(self, name: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        return [(given[:-1], named) for called, given, named in self.calls if called == name]

    def lines(self) -> dict[str, tuple[Any, Any]]:
        """Plotted lines by their labels."""
        return {named.get("label", ""): (x, y) for (x, y, *_), named in self.all("plot")}

    def limits(self) -> dict[str, Any]:
        return {name: value for _, named in self.all("set") for name, value in named.items()}


@pytest.fixture
def axes(monkeypatch: pytest.MonkeyPatch) -> Axes:
    found = Axes()
    for module in (page, page_exact):
        monkeypatch.setattr(module, "axes_of", lambda name: (found, lambda: f"<svg {name}>"))
    return found


X = np.linspace(0, 1, 400)
RED, BLUE = "#b3261e", "#1f6feb"


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (1.0, 0.2), (1e9, 0.0)])
def test_a_measured_curve_has_its_band_and_what_is_allowed(axes: Axes, epsilon: float, delta: float) -> None:
    sides = [np.array([0.1, 0.3, 0.6]) + shift for shift in (0.0, -0.05, 0.07, 0.2, 0.3, 0.4)]
    alarm, low, high, missed, under, over = sides
    curve = Curve("the sum", 0.95, 12_345, alarm, missed, low, high, under, over, (alarm, alarm))
    found = page.curve_figure(curve, epsilon, delta)
    lines = axes.lines()
    due = np.maximum(0, 1 - delta - math.exp(min(epsilon, 700)) * X)
    due = np.maximum(due, math.exp(-min(epsilon, 700)) * (1 - delta - X))
    assert np.allclose(lines["fewest misses that the claim allows"], [X, due])
    assert np.allclose(lines["measured"], [alarm, missed]) and np.allclose(lines["guessing"], [X, 1 - X])
    ((band, named),) = axes.all("fill")
    assert np.allclose(band, [[*high, *low[::-1]], [*over, *under[::-1]]]) and named["alpha"] == 0.2
    assert named["label"] == "band, confidence 0.95" and axes.limits()["xlim"] == axes.limits()["ylim"] == (0, 1)
    assert [named.get("lw") for _, named in axes.all("plot")] == [None, None, 0.7]
    assert axes.all("legend") == [((), {"fontsize": 8})]
    assert found.title == "Trade-off curve" and found.svg == "<svg trade-off>" and "12,345 runs" in found.caption


def test_losses_are_drawn_between_their_ends_and_infinite_ones_counted(axes: Axes) -> None:
    losses, weights = np.array([-1.0, np.inf, 3.0, 0.5, -np.inf]), np.array([0.1, 0.2, 0.3, 0.15, 0.25])
    found = page.loss_figure(losses, weights, 2.0, "Of runs.")
    ((drawn, named),) = axes.all("hist")
    assert drawn[0].tolist() == [-1.0, 3.0, 0.5] and named["weights"].tolist() == [0.1, 0.3, 0.15]
    assert named["bins"] == 41 and named["range"] == pytest.approx((-1.08, 3.08)) and named["alpha"] == 0.7
    assert axes.all("axvline") == [((-2.0,), {"color": RED, "lw": 1}), ((2.0,), {"color": RED, "lw": 1})]
    assert axes.limits()["ylabel"] == "share of runs" and found.title == "Privacy loss"
    assert found.caption == "Of runs. Red: the claimed epsilon. 2 of 5 losses are infinite and not drawn."


def test_equal_losses_have_a_range_of_their_own(axes: Axes) -> None:
    found = page.loss_figure(np.array([0.5, 0.5]), None, math.inf, "Losses.")
    ((_, named),) = axes.all("hist")
    assert named["range"] == pytest.approx((0.48, 0.52)) and named["weights"] is None and axes.all("axvline") == []
    assert axes.limits()["ylabel"] == "runs" and found.caption == "Losses. Red: the claimed epsilon."


def test_without_a_finite_loss_none_is_drawn(axes: Axes) -> None:
    assert "1 of 1 losses" in page.loss_figure(np.array([np.inf]), None, 1.0, "").caption and not axes.all("hist")


def test_ratios_stand_below_each_other_and_endless_ones_reach_the_edge(axes: Axes) -> None:
    page.ratio_figure([("a", 2.0, 3.0), ("b", 0.0, 1.0), ("c", 1.0, 4.0), ("d", 1.0, math.inf)])
    ((bars, named),) = axes.all("barh")
    assert bars[0].tolist() == [3, 2, 1, 0] and bars[1] == pytest.approx([1.5, 4.6, 4.0, 4.6]) and named["alpha"] == 0.7
    texts = [(*given, named["va"], named["fontsize"]) for given, named in axes.all("text")]
    assert texts == [(1.5, 3, " 1.5", "center", 8), (pytest.approx(4.6), 2, " without bound", "center", 8),
                     (4.0, 1, " 4", "center", 8), (pytest.approx(4.6), 0, " without bound", "center", 8)]  # fmt: skip
    assert axes.all("axvline") == [((1.0,), {"color": RED, "lw": 1})]
    ((places, named),) = axes.all("set_yticks")
    assert (places[0].tolist(), places[1], named) == ([3, 2, 1, 0], ["a", "b", "c", "d"], {"fontsize": 8})
    assert axes.limits()["xlim"] == (0, pytest.approx(5.75))


@pytest.mark.parametrize("found", [("a", 0.0, 2.0), ("a", 4.0, 1.0)])
def test_small_ratios_leave_room_for_what_is_declared(axes: Axes, found: tuple[str, float, float]) -> None:
    page.ratio_figure([found])
    assert axes.limits()["xlim"] == (0, pytest.approx(1.25 * 1.15))


# --- Exact curves -----------------------------------------------------------------------------------------------------


def test_fewest_misses_of_a_cost() -> None:
    alarms = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    assert page_exact.least(("epsilon", 1.0), alarms) == pytest.approx(
        [max(0, 1 - math.e * x, (1 - x) / math.e) for x in alarms]
    )
    assert page_exact.least(("epsilon", 1e6), alarms).tolist() == [
        1.0,
        *(math.exp(-700.0) * (1 - alarms[1:])),
    ]
    assert page_exact.least(("mu", 0.75), alarms) == pytest.approx(special.ndtr(special.ndtri(1 - alarms) - 0.75))


def release(mechanism: Any, bound: float, forward: float, backward: float) -> Any:
    norm = 1 if isinstance(mechanism, Laplace) else 2
    declared = Sensitivity(bound, norm, "test/claim", Relation.ADD_REMOVE)
    entry = SimpleNamespace(request=SimpleNamespace(name="ensemble 0/leaves"))
    return SimpleNamespace(mechanism=mechanism, declared=declared, entry=entry, forward=forward, backward=backward)


CELLS = Outcomes(np.array([0.02, 0.48, 0.5]), np.array([0.002, 0.398, 0.6]))


@pytest.mark.parametrize("order", [1, -1])
def test_an_exact_curve_and_its_corner(axes: Axes, order: int) -> None:
    """The corner where more is revealed than is charged is drawn once more."""
    cells = CELLS if order == 1 else Outcomes(CELLS.second, CELLS.first)
    figure = page_exact.exact_figure(release(Laplace(1.0), 0.5, 0.25, 2.3456), cells, "a pair")
    alarms, misses = cells.curve()
    lines = axes.lines()
    assert np.array_equal(lines["best tests, exact"], [alarms, misses])
    due = np.maximum(np.maximum(0, 1 - math.exp(0.5) * X), math.exp(-0.5) * (1 - X))
    assert np.allclose(lines["fewest misses that epsilon 0.5 allows"], [X, due])
    assert np.allclose(lines["guessing"], [X, 1 - X]) and axes.limits()["xlim"] == axes.limits()["ylim"] == (0, 1)
    assert [named.get("lw") for _, named in axes.all("plot")] == [None, None, 0.7]
    assert axes.all("legend") == [((), {"fontsize": 8})]
    assert (
        figure.title == "Exact trade-off curve of ensemble 0/leaves" and "its loss is 2.346 at most" in figure.caption
    )
    excess = np.maximum(np.maximum(0, 1 - math.exp(0.5) * alarms), math.exp(-0.5) * (1 - alarms)) - misses
    place = int(np.argmax(excess))
    reach = 3 * min(alarms[place], 1 - alarms[place])
    window = (0.0, reach) if alarms[place] < 0.5 else (1 - reach, 1.0)
    ((where, inner),) = [(given[0], given[-1]) for name, given, _ in axes.calls if name == "inset_axes"]
    assert where == (0.56, 0.46, 0.42, 0.32) and inner.limits()["xlim"] == pytest.approx(window)
    (red, _), (blue, _) = inner.all("plot")
    x = np.linspace(*window, 200)
    due = np.maximum(np.maximum(0, 1 - math.exp(0.5) * x), math.exp(-0.5) * (1 - x))
    assert np.allclose(red, [x, due]) and np.array_equal(blue, [alarms, misses])
    low, high = np.interp(window[1], alarms, misses), np.interp(window[0], alarms, misses)
    assert inner.limits()["ylim"] == pytest.approx((min(low, due.min()), high))
    assert inner.all("tick_params") == [((), {"labelsize": 7})]
    assert inner.all("set_title") == [(("the corner, magnified",), {"fontsize": 8})]


def test_a_curve_within_its_charge_has_no_corner_and_without_a_charge_no_second_line(axes: Axes) -> None:
    page_exact.exact_figure(release(Laplace(1.0), 3.0, 2.5, 0.25), CELLS, "a pair")
    assert len(axes.all("plot")) == 3 and not axes.all("inset_axes")
    axes.calls.clear()
    told = page_exact.exact_figure(release(Gaussian(2.0), 3.0, math.inf, 0.25), CELLS, "a pair")
    lines = axes.lines()
    assert "some outputs are possible on one side only" in told.caption
    assert np.allclose(lines["fewest misses that mu 1.5 allows"][1], special.ndtr(special.ndtri(1 - X) - 1.5))
    axes.calls.clear()
    free: Any = SimpleNamespace(pure_cost=lambda declared: math.inf)
    page_exact.exact_figure(release(free, 3.0, 1.0, 0.25), CELLS, "a pair")
    assert set(axes.lines()) == {"best tests, exact", "guessing"}


# --- Plans ------------------------------------------------------------------------------------------------------------

PLAN = Plan(Relation.ADD_REMOVE, Release("x", Gaussian(1.0), Sensitivity(1.0, 2, "test/claim", Relation.ADD_REMOVE)))


def test_a_profile_has_each_method_at_every_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a method does not give is no number."""
    asked: list[Any] = []

    def account(plan: Plan, epsilon: float) -> Any:
        asked.append((plan, epsilon))
        methods = {"one": epsilon / 8, "two": epsilon / 4} if epsilon > 1 else {"one": epsilon / 8}
        return SimpleNamespace(methods=methods, lower=epsilon / 16)

    monkeypatch.setattr(plots, "account", account)
    found = plots.profile(PLAN, np.array([1.0, 2.0, 4.0]))
    assert asked == [(PLAN, 1.0), (PLAN, 2.0), (PLAN, 4.0)] and list(found) == ["one", "two", "lower"]
    assert found["one"].tolist() == [0.125, 0.25, 0.5] and found["lower"].tolist() == [0.0625, 0.125, 0.25]
    assert np.array_equal(found["two"], [math.nan, 0.5, 1.0], equal_nan=True)


def test_a_trade_off_is_the_largest_of_all_lines() -> None:
    epsilons, deltas, alphas = np.array([0.0, 0.5, 2.0]), np.array([0.4, 0.2, 0.01]), np.linspace(0, 1, 7)
    due = [
        max(
            0.0,
            *(max(1 - d - math.exp(e) * a, math.exp(-e) * (1 - d - a)) for e, d in zip(epsilons, deltas, strict=True)),
        )
        for a in alphas
    ]
    found = plots.trade_off(epsilons, deltas, alphas)
    assert found == pytest.approx(due) and found.shape == (7,) and found[-1] == 0.0 and found[0] == pytest.approx(0.99)


def test_a_plan_is_drawn_as_profile_and_trade_off(monkeypatch: pytest.MonkeyPatch) -> None:
    figure_module = pytest.importorskip("matplotlib.figure", reason="the extra plots is not installed")
    left, right, made = Axes(), Axes(), []

    class Figure:
        def __init__(self, **named: Any) -> None:
            made.append(named)

        def subplots(self, *shape: int) -> tuple[Axes, Axes]:
            made.append(shape)
            return left, right

    epsilons = np.array([0.5, 1.0, 2.0])
    curves = {
        "one": np.array([0.3, 0.1, 0.0]),
        "two": np.array([math.nan, 0.2, 0.1]),
        "lower": np.array([0.2, 0.0, 0.0]),
    }
    monkeypatch.setattr(figure_module, "Figure", Figure)
    monkeypatch.setattr(plots, "profile", lambda plan, given: curves)
    assert isinstance(plots.plot(PLAN, epsilons), Figure)
    assert made == [{"figsize": (10, 4), "layout": "constrained"}, (1, 2)]
    shown = {named["label"]: given for given, named in left.all("plot")}
    assert list(shown) == ["one", "two", "lower"] and [given[2] for given in shown.values()] == ["-", "-", "--"]
    for name, given in shown.items():
        values = [value if value > 0 else math.nan for value in curves[name]]
        assert np.array_equal(given[0], epsilons) and np.array_equal(given[1], values, equal_nan=True)
    alphas = np.linspace(0.0, 1.0, 201)
    lines = {named["label"]: given for given, named in right.all("plot")}
    assert list(lines) == ["one", "two", "perfect privacy"]
    assert np.allclose(lines["one"][1], plots.trade_off(epsilons, curves["one"], alphas))
    assert np.allclose(lines["two"][1], plots.trade_off(epsilons, np.array([1.0, 0.2, 0.1]), alphas))
    assert np.allclose(lines["perfect privacy"][:2], [alphas, 1 - alphas]) and lines["perfect privacy"][2] == ":"
    assert all(np.array_equal(given[0], alphas) for given in lines.values())
    assert left.limits()["yscale"] == "log" and left.all("legend") == right.all("legend") == [((), {})]
