"""Figures that audits compute, against sums written out and distributions of others."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy

from refdp.accounting.gaussian import delta as gaussian_delta
from refdp.audit import charge, in_order, mixing, noise_law, opened_floating
from refdp.audit.events_choice import _forecast, _wilson
from refdp.audit.mixing import Term
from refdp.audit.onerun_tradeoff import _shift, isolated_bound
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.curator import ScopeRef
from refdp.privacy.events import Relation, Sequential

ADD = Relation.ADD_REMOVE

# --- Is the noise what it says ----------------------------------------------------------------------------------------


def log_mass(law: Any, scale: float, noise: float) -> float:
    """Of one draw, at a scale; of whole numbers of steps by summing all masses."""
    match law:
        case Laplace():
            return -abs(noise) / scale - math.log(2 * scale)
        case Gaussian():
            return float(scipy.stats.norm.logpdf(noise, scale=scale))
        case DiscreteLaplace():
            weight = lambda k: math.exp(-abs(k) * law.step / scale)  # noqa: E731
        case _:
            weight = lambda k: math.exp(-((k * law.step / scale) ** 2) / 2)  # noqa: E731
    reach = int(50 * scale / law.step) + 50
    return math.log(weight(noise / law.step) / math.fsum(weight(k) for k in range(-reach, reach + 1)))


@pytest.mark.parametrize("law", [Laplace(2.5), Gaussian(1.5), DiscreteLaplace(2.5, 0.5), DiscreteGaussian(1.5, 0.25),
                                 DiscreteGaussian(0.75, 0.5), DiscreteGaussian(0.75, 1.0)])  # fmt: skip
@pytest.mark.parametrize("ratio", [0.3, 0.9])
def test_likelihoods_of_a_smaller_scale(law: Any, ratio: float) -> None:
    noise = np.array([[0.5, -2.0], [0.0, 4.5]])
    if law == DiscreteGaussian(0.75, 1.0):
        noise = np.round(noise)
    scale = getattr(law, "scale", None) or law.sd
    due = math.fsum(log_mass(law, scale * ratio, x) - log_mass(law, scale, x) for x in noise.ravel().tolist())
    assert noise_law._ratio(law, noise, ratio) == pytest.approx(due, rel=1e-7)


def test_likelihoods_of_several_deviations() -> None:
    """One for every coordinate."""
    noise, sds = np.array([0.5, -2.0, 1.5]), (1.5, 0.75, 1.5)
    for kind in (Gaussian, lambda sd: DiscreteGaussian(sd, 0.25)):
        whole = noise_law._ratio(kind(sds), noise, 0.5)  # type: ignore[arg-type]
        alone = [noise_law._ratio(kind(sd), np.array([x]), 0.5) for sd, x in zip(sds, noise, strict=True)]  # type: ignore[arg-type]
        assert whole == pytest.approx(math.fsum(alone), rel=1e-12)


def test_a_choice_is_bet_on_by_its_own_chances() -> None:
    """A sharper choice has larger coefficients of the utilities."""
    bet, utilities = noise_law.Bet(), np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 0.0]])
    bet.add(Exponential(0.5), utilities, np.zeros(2), np.array([2, 1]))
    for place, scale in enumerate(noise_law.SMALLER):
        due = 0.0
        for row, index in zip(utilities.tolist(), (2, 1), strict=True):
            for sharp, sign in ((0.5 / scale, 1), (0.5, -1)):
                due += sign * (sharp * row[index] - np.logaddexp.reduce([sharp * value for value in row]))
        assert bet.logs[place] == pytest.approx(due, rel=1e-6, abs=1e-6)
    assert bet.draws == 2
    bet.add(Laplace(1.0), np.array([1.0, 2.0]), np.array([1.5, 1.0]), None)
    assert bet.draws == 4


def test_capital_is_the_mean_of_all_bets() -> None:
    """A declared law is refuted where it exceeds the number of tests over the chance of a false alarm."""
    logs = np.log(np.arange(1.0, 13.0))
    assert noise_law.Bet(logs).capital == pytest.approx(math.log(6.5))
    assert noise_law.Bet(np.array([-5.0] * 7 + [2.0] + [1.0] * 4)).likeliest == noise_law.SMALLER[7]
    for tests in (1, 100):
        level = math.log(tests / 1e-9)
        assert noise_law.Bet(np.full(12, level + 1e-6)).rejects(tests)
        assert not noise_law.Bet(np.full(12, level - 1e-6)).rejects(tests)


def test_laws_and_their_parameters() -> None:
    class Sub(Laplace):
        pass

    class Broken(Laplace):
        def __getattribute__(self, name: str) -> Any:
            if name == "scale" and broken:
                raise KeyError
            return super().__getattribute__(name)

    broken: list[int] = []
    made: Any = Broken(1.0)
    broken.append(1)
    assert noise_law.known(Laplace(2.0)) == Laplace(2.0) and noise_law.known(Sub(2.0)) is noise_law.known(3) is None
    assert type(noise_law.said(Sub(2.0))) is Laplace and noise_law.said(Sub(2.0)).scale == 2.0
    assert noise_law.said(object()) is None and noise_law.said(made) is None
    assert noise_law.valid(Laplace(2.0)) and noise_law.valid(Gaussian((1.0, 2.0))) and noise_law.valid(Exponential(0.5))
    for wrong in (0.0, -1.0, math.inf, math.nan):
        plain = Laplace(2.0)
        object.__setattr__(plain, "scale", wrong)
        assert not noise_law.valid(plain)
        choice = Exponential(0.5)
        object.__setattr__(choice, "coefficient", wrong)
        assert noise_law.valid(choice) == (wrong == 0)
    pair = Gaussian((1.0, 2.0))
    object.__setattr__(pair, "sd", (1.0, 0.0))
    assert not noise_law.valid(pair)


def test_the_least_share_that_would_be_noticed() -> None:
    """x^2/2 nats a draw are worth the threshold and five more."""
    for draws, tests in ((300_000, 7), (1000, 1)):
        share = noise_law.smallest(draws, tests)
        assert draws * share**2 / 2 == pytest.approx(math.log(12 * tests * 1e9) + 5)
    assert noise_law.smallest(3, 1) == noise_law.smallest(0, 1) == 1.0


# --- What a release costs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0.123456, 7.0, 99999.0, 1e-7 / 3, 1.0, 12345678.9])
@pytest.mark.parametrize("digits", [2, 4])
def test_numbers_are_rounded_to_digits_in_the_safe_direction(number: float, digits: int) -> None:
    for up in (True, False):
        found = charge._rounded(number, up, digits)
        unit = 10.0 ** (math.floor(math.log10(number)) - digits + 1)
        assert (number <= found < number + unit) if up else (number - unit < found <= number)
        assert found == number or found / unit == pytest.approx(round(found / unit), abs=1e-6)
    assert charge._rounded(0.0, True, 4) == 0.0 and charge._rounded(math.inf, False, 4) == math.inf
    assert charge._rounded(0.5, True, 2) == 0.5 == charge._rounded(0.5, False, 2)


def told(event: Any) -> list[tuple[Any, float, Any]]:
    releases = event.events if isinstance(event, Sequential) else (event,)
    return [(one.mechanism, one.sensitivity.bound, one.sensitivity.norm) for one in releases]


def test_a_change_is_an_event_coordinate_by_coordinate_or_whole() -> None:
    value, other = np.array([[1.0, 5.0], [2.0, 2.0]]), np.array([[4.0, 5.0], [2.0, 0.5]])

    def event(mechanism: Any, up: bool = True) -> Any:
        return charge._event(charge.Item(mechanism, value, other), ADD, up=up)

    for laplace in (Laplace(2.0), DiscreteLaplace(2.0, 0.5)):
        assert told(event(laplace)) == [(laplace, 3.0, 1), (laplace, 1.5, 1)]
    gauss, wide = Gaussian(2.0), DiscreteGaussian(2.0, 0.5)
    ((mechanism, bound, norm),) = told(event(gauss))
    assert (mechanism, norm) == (gauss, 2) and math.hypot(3, 1.5) <= bound <= math.hypot(3, 1.5) + 1e-3
    ((_, bound, _),) = told(event(gauss, up=False))
    assert math.hypot(3, 1.5) - 1e-3 <= bound <= math.hypot(3, 1.5)
    assert told(event(wide)) == [(wide, 3.0, 1), (wide, 1.5, 1)]
    ((_, bound, norm),) = told(event(Exponential(0.5)))
    assert norm == "range" and bound >= 2.0
    strange = SimpleNamespace(observed_change=lambda one, two, norm: 7.0 if norm == "range" else refuse())
    assert told(event(strange)) == [(strange, 7.0, "range")] and event(strange, up=False) == Sequential(())
    with pytest.raises(InvalidParameter, match="knows no norm of a change"):
        event(SimpleNamespace(observed_change=lambda *_: refuse()))


def test_deviations_of_their_own_stay_with_their_coordinates() -> None:
    one = charge.Item(DiscreteGaussian((1.0, 2.0, 4.0), 0.5), np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.5, 1.0]))
    found = told(charge._event(one, ADD, up=True))
    assert found == [(DiscreteGaussian(2.0, 0.5), 0.5, 1), (DiscreteGaussian(4.0, 0.5), 2.0, 1)]


def refuse() -> float:
    raise InvalidParameter("no")


def test_releases_are_numbered_by_their_names() -> None:
    assert charge.numbered(["a", "b", "a", "a"]) == [("a", 0), ("b", 0), ("a", 1), ("a", 2)]


# --- Losses of a whole run --------------------------------------------------------------------------------------------


def scope(serial: int, kind: Any, weights: tuple[float, ...], block: int = 0) -> ScopeRef:
    return ScopeRef(serial, "s", kind, weights, block)


def test_losses_inside_samples_and_parts_are_mixed_over_where_a_record_is() -> None:
    sample, other = scope(1, "subsample", (0.25,)), scope(2, "subsample", (0.5,))
    parts = [scope(3, "partition", (0.25, 0.5), block) for block in (0, 1)]
    whole = [scope(4, "partition", (0.5, 0.5), block) for block in (0, 1)]
    terms = [
        Term((), 0.5), Term((sample,), 1.0), Term((sample, parts[0]), 2.0), Term((sample, parts[1]), -1.0),
        Term((other,), 3.0), Term((whole[0],), 0.125), Term((whole[1],), 0.75),
    ]  # fmt: skip
    inside = math.log(0.25 * math.exp(2) + 0.5 * math.exp(-1) + 0.25)
    due = 0.5 + math.log(0.75 + 0.25 * math.exp(1 + inside)) + math.log(0.5 + 0.5 * math.exp(3))
    due += math.log(0.5 * math.exp(0.125) + 0.5 * math.exp(0.75))
    assert mixing.mixed(terms) == pytest.approx(due)
    worst = 0.5 + math.log(0.75 + 0.25 * math.exp(1 + 2)) + math.log(0.5 + 0.5 * math.exp(3)) + 0.75
    assert mixing.largest(terms) == pytest.approx(worst)
    infinite = [Term((sample,), math.inf)]
    assert mixing.mixed(infinite) == mixing.largest(infinite) == math.inf
    assert mixing.mixed([Term((parts[1],), -math.inf)]) == pytest.approx(math.log(0.5))


def test_of_parts_that_may_leave_a_record_out_the_worst_is_never_below_none() -> None:
    parts = [scope(3, "partition", (0.25, 0.5), block) for block in (0, 1)]
    whole = [scope(4, "partition", (0.5, 0.5), block) for block in (0, 1)]
    assert mixing.largest([Term((parts[0],), -2.0), Term((parts[1],), -1.0)]) == 0.0
    assert mixing.largest([Term((whole[0],), -2.0), Term((whole[1],), -1.0)]) == -1.0


def test_of_every_sample_the_stronger_side_is_kept() -> None:
    one, two = scope(1, "subsample", (0.25,)), scope(2, "subsample", (0.5,))
    part = scope(3, "partition", (1.0,))
    a = [Term((one,), 1.0), Term((one,), 1.0), Term((two,), 3.0), Term((part,), 9.0), Term((), 0.5)]
    b = [Term((one,), 2.5), Term((two,), 1.0), Term((two,), 1.0), Term((part,), 99.0)]
    assert mixing.stronger(a, b) == [a[3], a[4], b[0], a[2]]
    assert mixing.stronger(a, []) == [a[3], a[4], a[0], a[1], a[2]]


# --- Events and scores ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("z", [-2.0, -0.5, 1.0, 3.0])
def test_wilsons_ends_solve_his_equation(z: float) -> None:
    """(p' - p)^2 = z^2 p (1 - p) / n at the end, on the side of z."""
    counts = np.array([0.0, 3.0, 20.0, 39.0, 40.0])
    found = _wilson(counts, 40, z)
    assert np.allclose((counts / 40 - found) ** 2, z * z * found * (1 - found) / 40, atol=1e-12)
    assert np.all(found >= counts / 40 - 1e-12) if z > 0 else np.all(found <= counts / 40 + 1e-12)


def test_a_forecast_is_the_loss_after_doubt_and_the_tests_margin() -> None:
    a, b = np.array([30.0, 90.0, 2.0]), np.array([10.0, 20.0, 2.0])
    found = _forecast(a, b, 100, 400, 0.01, 0.05, 1.5)
    margin = float(scipy.stats.norm.isf(0.025))
    for k in range(2):
        p, q = _wilson(a[k : k + 1], 100, -1.5) * 400, _wilson(b[k : k + 1], 100, 1.5) * 400
        low, high = _wilson(p, 400, -margin) - 0.01, _wilson(q, 400, margin)
        assert found[k] == pytest.approx(math.log(low[0] / high[0]))
    assert found[2] < -900


def test_a_shift_that_a_t_statistic_refutes() -> None:
    """At the answer the statistic has exactly the chance of error, by the noncentral distribution."""
    inside, outside = np.array([3.1, 2.2, 4.0, 2.9, 3.3]), np.array([0.2, -0.4, 1.0, 0.1])
    found = _shift(inside, outside, 0.9)
    t = scipy.stats.ttest_ind(inside, outside).statistic
    assert scipy.stats.nct.sf(t, 7, found * math.sqrt(20 / 9)) == pytest.approx(0.1, rel=1e-6)
    assert _shift(outside, inside, 0.9) == 0.0 and _shift(np.ones(3), np.zeros(3), 0.9) == 0.0
    included = np.array([True] * 5 + [False] * 4)
    whole = isolated_bound(included, np.concatenate([inside, outside]), 1e-3, 0.9)
    assert whole.mu == pytest.approx(found) and (whole.canaries, whole.guesses, whole.right) == (9, 0, 0)
    assert gaussian_delta(whole.mu, whole.epsilon) == pytest.approx(1e-3, rel=1e-6)
    for few in ([True] * 8 + [False], [True] + [False] * 8):
        assert isolated_bound(np.array(few), np.concatenate([inside, outside]), 1e-3, 0.9).mu == 0.0


# --- Order of candidates, and last bits -------------------------------------------------------------------------------


def test_candidates_are_put_in_order_by_columns() -> None:
    rows = np.array(list(itertools.product([3.0, 1.0, 2.0], [5.0, 4.0])))
    request: Any = SimpleNamespace(options=rows, value=np.zeros((2, 6)))
    found = in_order._order(request)
    assert found is not None and [tuple(rows[k]) for k in found] == sorted(map(tuple, rows))
    for options, value in (
        (rows[found], np.zeros((2, 6))), (rows, np.zeros((2, 5))), (rows, np.zeros(6)), (rows[:0], np.zeros((2, 0))),
        (rows.astype(str), np.zeros((2, 6))), (rows.tolist(), np.zeros((2, 6))), (None, np.zeros((2, 6))),
        (rows, None), (rows[None], np.zeros((2, 1))),
    ):  # fmt: skip
        assert in_order._order(SimpleNamespace(options=options, value=value)) is None  # type: ignore[arg-type]
    single: Any = SimpleNamespace(options=np.array([2, 3, 1]), value=np.zeros((1, 3)))
    order = in_order._order(single)
    assert order is not None and order.tolist() == [2, 0, 1]


@pytest.mark.parametrize("moved", [0.5, 2.0, 3.0])
def test_what_ideal_noise_keeps(moved: float) -> None:
    """Of one Laplace number beyond loss 1 the pair's delta at 1; of Gaussian noise delta at 1, by its closed form."""

    def ideal(law: Any, *value: float) -> tuple[float, float]:
        call: Any = SimpleNamespace(law=law, value=np.zeros(len(value)))
        other: Any = SimpleNamespace(value=np.array(value))
        return opened_floating._ideal(call, other)

    loss = moved / 2.0
    if loss <= 1:
        assert ideal(Laplace(2.0), moved) == (pytest.approx(loss), 0.0)
    else:
        assert ideal(Laplace(2.0), moved) == (1.0, pytest.approx(1 - math.exp((1 - loss) / 2)))
    assert ideal(Laplace(2.0), moved, moved) == (pytest.approx(2 * loss), 0.0)
    for law, mu in ((Gaussian(2.0), moved / 2), (Gaussian((2.0, 1.0)), math.hypot(moved / 2, 0.25))):
        values = (moved,) if law.sd == 2.0 else (moved, 0.25)
        delta = scipy.stats.norm.cdf(mu / 2 - 1 / mu) - math.e * scipy.stats.norm.cdf(-mu / 2 - 1 / mu)
        assert ideal(law, *values) == (1.0, pytest.approx(delta, rel=1e-6))
        assert ideal(law, *values)[1] >= delta
