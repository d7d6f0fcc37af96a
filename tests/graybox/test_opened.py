"""The gray box on a foreign-style library: every published class of errors is caught and located, every twin passes."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from refdp.audit.opened_door import Patch, noise, opened
from refdp.audit.opened_laws import NoiseCall, PermuteAndFlip
from refdp.audit.opened_replay import audit_opened
from refdp.audit.verdicts import Verdict
from refdp.errors import ImpossibleReplay, InvalidParameter
from refdp.noise.mechanisms import Exponential, Laplace
from refdp.privacy.events import Relation, Sensitivity
from tests.graybox import foreign

ROWS = np.array([0.0, 0.25, 0.5, 0.5, 1.0, 0.25, 0.0, 1.0, 0.5, 0.25])
PAIRS = [(ROWS, np.append(ROWS, value)) for value in (0.0, 1.0, 0.75, 3.0)]
WITH_NAN = [(ROWS, np.append(ROWS, np.nan))]


def _laplace(arguments: dict[str, Any]) -> NoiseCall:
    mechanism = arguments["self"]
    value = np.array([float(arguments["value"])])
    return NoiseCall(Laplace(mechanism.scale), value, mechanism.sensitivity, 1, mechanism.epsilon)


LIBRARY = [
    Patch(foreign.LaplaceNoise, "randomise", _laplace),
    Patch(foreign.SmallerThanItSays, "randomise", _laplace),
]


def audit(function: Callable[..., Any], pairs: Any = PAIRS, **more: Any) -> Any:
    return audit_opened(function, pairs, LIBRARY, epsilon=0.5, **more)


BROKEN = [
    (foreign.count_miscalibrated, PAIRS, "noise", "LaplaceNoise.randomise"),
    (foreign.count_sampler, PAIRS, "sampler", "SmallerThanItSays.randomise"),
    (foreign.total_unclamped, PAIRS, "sensitivity", "total_unclamped"),
    (foreign.histogram_of_seen, PAIRS, "control flow", "histogram_of_seen"),
    (foreign.total_between_extremes, PAIRS, "mechanism", "total_between_extremes"),
    (foreign.spent_twice, PAIRS, "budget", "whole run"),
    (foreign.total_with_nan, WITH_NAN, "NaN", "total_with_nan"),
    (foreign.mean_by_exact_count, PAIRS, "result", "returned value"),
    (foreign.mean_of_data_sensitivity, PAIRS, "mechanism", "mean_of_data_sensitivity"),
    (foreign.stops_early, PAIRS, "control flow", "stops_early"),
]


@pytest.mark.parametrize(
    ("function", "pairs", "kind", "place"), BROKEN, ids=lambda value: getattr(value, "__name__", "")
)
def test_every_class_of_errors_is_caught_and_located(
    function: Callable[..., Any], pairs: Any, kind: str, place: str
) -> None:
    report = audit(function, pairs)
    located = [violation for violation in report.violations if violation.kind == kind]
    assert located and any(place in violation.release for violation in located), report.to_dict()
    json.dumps(report.to_dict(), allow_nan=False)


def test_what_of_a_result_was_not_looked_into_is_told() -> None:
    report = audit(lambda rows: {"count": foreign.count_right(rows), "lock": threading.Lock()})
    assert report.unread == ("['lock']: nothing shows what is in a lock",) == tuple(report.to_dict()["unread"])
    row = next(row for row in report.coverage if row.what == "published object")
    assert report.verdict is row.verdict is Verdict.NOT_EXAMINED and "['lock']" in row.reason
    assert audit(foreign.count_right).unread == ()


RIGHT = [
    (foreign.count_right, PAIRS),
    (foreign.count_sampler_right, PAIRS),
    (foreign.total_right, PAIRS + WITH_NAN),
    (foreign.histogram_right, PAIRS),
    (foreign.spent_once, PAIRS),
    (foreign.mean_right, PAIRS),
]


@pytest.mark.parametrize(("function", "pairs"), RIGHT, ids=lambda value: getattr(value, "__name__", ""))
def test_correct_twins_pass(function: Callable[..., Any], pairs: Any) -> None:
    report = audit(function, pairs)
    assert report.ok, report.to_dict()
    assert report.worst <= 0.5 * (1 + 1e-9)


def test_locations_are_lines_of_the_source() -> None:
    report = audit(foreign.total_unclamped)
    line = foreign.total_unclamped.__code__.co_firstlineno + 2
    assert f"graybox/foreign.py:{line} in total_unclamped" in report.violations[0].release


def test_losses_are_exact() -> None:
    """One record of value 1 more: a clamped sum at epsilon 0.5 loses at most 0.5."""
    pairs = [(ROWS, np.append(ROWS, 1.0))]
    report = audit(foreign.total_right, pairs)
    (seen,) = report.releases
    assert seen.observed == pytest.approx(1.0)
    assert seen.worst == pytest.approx(0.5)
    assert abs(report.loss) <= 0.5


def test_functions_of_ones_own_are_decorated() -> None:
    gauss = noise("gaussian", scale="sd", sensitivity="sensitivity", epsilon=0.5, delta=1e-5)(foreign.gauss)
    choose = noise("exponential", value="utilities", scale="coefficient", sensitivity="sensitivity")(foreign.choose)

    def both(rows: Any) -> Any:
        cells = np.array([(rows < 0.5).sum(), (rows >= 0.5).sum()], dtype=float)
        return gauss(cells, 8.1, 1.0), choose(cells.tolist(), 0.25, 1.0)

    report = audit_opened(both, PAIRS, epsilon=0.75, delta=1e-5)
    assert report.ok, report.to_dict()
    assert 0 < report.delta <= 1e-5
    too_little = audit_opened(both, PAIRS, epsilon=0.3, delta=1e-5)
    assert too_little.kinds() == ["budget"]


def test_utilities_that_move_against_each_other() -> None:
    """A declared range of 0.5 is too small for utilities that move by 1."""
    choose = noise("exponential", value="utilities", scale="coefficient", sensitivity="sensitivity")(foreign.choose)

    def chosen(rows: Any) -> int:
        lows = float((rows < 0.5).sum())
        return int(choose([lows, len(rows) - lows], 0.5, 0.5))

    report = audit_opened(chosen, PAIRS, epsilon=0.5)
    assert report.kinds() == ["sensitivity"]


def test_nothing_happens_outside_an_audit() -> None:
    watched = noise("laplace", scale=1.0)(lambda value: value + 1)
    assert watched(1.0) == 2.0
    before = vars(foreign.LaplaceNoise)["randomise"]
    with opened(LIBRARY) as curator:
        assert vars(foreign.LaplaceNoise)["randomise"] is not before
        foreign.count_right(ROWS)
    assert vars(foreign.LaplaceNoise)["randomise"] is before
    assert len(curator.recording().calls) == 1


def test_replay_gives_the_recorded_outputs_and_public_randomness() -> None:
    """Draws after a release go on as in the recorded run, although the noise function was not run."""

    def run(rows: Any) -> Any:
        first = foreign.count_right(rows)
        return first, np.random.random()  # noqa: NPY002

    with opened(LIBRARY) as curator:
        recorded = run(ROWS)
    with opened(LIBRARY, replay=curator.recording()):
        assert run(ROWS[:-1]) == recorded


def test_a_shorter_neighbour_run_is_an_impossible_replay() -> None:
    with opened(LIBRARY) as curator:
        foreign.stops_early(np.zeros(30))
    with pytest.raises(ImpossibleReplay, match="ended before"), opened(LIBRARY, replay=curator.recording()):
        foreign.stops_early(np.zeros(3))


def test_noise_in_another_thread_is_refused() -> None:
    """Threads take turns in any order, so that nothing could be replayed."""
    with ThreadPoolExecutor(1) as pool, pytest.raises(InvalidParameter, match="thread"), opened(LIBRARY):
        pool.submit(foreign.count_right, ROWS).result()


def test_an_audit_that_sees_no_noise_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="no noise function"):
        audit(lambda rows: 1.0)
    assert audit(len).kinds() == ["result"]


def test_types_and_layouts_of_a_result_are_compared() -> None:
    """One number, of another kind on one side; where the number differs, too, that alone is told."""

    def kind(rows: Any) -> Any:
        noisy = foreign.count_right(rows)
        return {"noisy": noisy, "n": 1 if len(rows) % 2 else 1.0}

    found = audit(kind, PAIRS[:1])
    assert found.kinds() == ["result"] and {one.release for one in found.violations} == {"types and layouts"}
    assert audit(lambda rows: {"noisy": foreign.count_right(rows), "n": np.nan}, PAIRS[:1]).ok
    both = audit(lambda rows: {"noisy": foreign.count_right(rows), "n": [1] * len(rows)}, PAIRS[:1])
    assert "types and layouts" not in {one.release for one in both.violations} and both.kinds() == ["result"]


def test_unknown_packages_are_named() -> None:
    with pytest.raises(InvalidParameter, match="diffprivlib"), opened("nothing"):
        pass


def test_permute_and_flip_is_exact() -> None:
    """Against the sum over all orders, and half of the exponential mechanism's loss at best (McKenna, Sheldon 2020)."""
    law = PermuteAndFlip(0.7)
    utilities = np.array([[3.0, 1.0, 0.0, 2.5]])
    taken = np.exp(0.7 * (utilities[0] - 3.0))
    expected = np.zeros(4)
    for order in itertools.permutations(range(4)):
        passed = 1.0
        for option in order:
            expected[option] += passed * taken[option] / 24
            passed *= 1 - taken[option]
    assert np.exp(law.log_probabilities(utilities))[0] == pytest.approx(expected, rel=1e-12)
    other = utilities + np.array([[1.0, 0, 0, 0]])
    bound = Exponential(0.7).pure_cost(Sensitivity(1.0, "range", "", Relation.ADD_REMOVE))
    assert law.worst_loss(utilities, other)[0] <= bound * (1 + 1e-12)


@pytest.mark.parametrize("seed", [1, 3])
def test_tries_until_one_fits_are_found_along_other_paths(seed: int) -> None:
    """At half of the claim a try: the runs that are recorded first try twice at most."""
    report = audit(foreign.until_it_fits, seed=seed)
    assert report.verdict is Verdict.VIOLATION and report.kinds() == ["budget"] and report.again > 0
    assert max(one.observed for one in report.violations) > 0.5


def test_tries_within_the_claim_are_not_accused_and_the_paths_are_told() -> None:
    report = audit_opened(foreign.until_it_fits, PAIRS, LIBRARY, epsilon=1.5)
    assert report.ok and report.again == 72
    row = next(one for one in report.coverage if one.what == "composition")
    assert "do not release the same each time (72 more were recorded" in row.reason
    assert audit(foreign.count_right).alike == 2 * len(PAIRS) + 8


def test_an_error_along_another_path_loses_no_finding() -> None:
    report = audit_opened(foreign.raises_sometimes, PAIRS, LIBRARY, epsilon=3.0)
    assert report.ok and 0 < report.again < 72
