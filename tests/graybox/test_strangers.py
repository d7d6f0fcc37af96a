"""The gray box on code as strangers write it: errors, threads, misspelt noise, pure Python randomness."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from refdp import testing
from refdp.audit import audit_opened, noise
from refdp.errors import InvalidParameter

FEW = np.array([0.5, 1.0, 0.25])
MANY = np.append(FEW, 1.0)
PAIRS = [(FEW, MANY)]
GENERATOR = np.random.default_rng(3)


def add_laplace(total: Any, scale: Any, sensitivity: float) -> Any:
    return total + GENERATOR.laplace(scale=scale, size=np.shape(total))


def door(law: str) -> Callable[..., Any]:
    return noise(law, value="total", scale="scale", sensitivity="sensitivity")(add_laplace)


laplace = door("laplace")


def total(rows: Any) -> float:
    return float(laplace(float(rows.sum()), 1.0, 1.0))


def refuses_four(rows: Any) -> float:
    if len(rows) == 4:
        raise KeyError("four")
    return total(rows)


@pytest.mark.parametrize("pair", [(FEW, MANY), (MANY, FEW)])
def test_an_error_on_either_side_alone_is_a_violation(pair: Any) -> None:
    report = audit_opened(refuses_four, [pair], epsilon=1.0)
    assert report.kinds() == ["error"] and "KeyError" in report.violations[0].witness["detail"]


def test_an_error_on_both_sides_is_no_finding() -> None:
    def broken(rows: Any) -> float:
        raise KeyError("price")

    with pytest.raises(KeyError, match="price"):
        audit_opened(broken, PAIRS, epsilon=1.0)


def test_public_draws_of_both_global_generators_before_the_first_release() -> None:
    def splits(rows: Any) -> Any:
        return [random.random(), float(np.random.random()), total(rows)]  # noqa: NPY002

    assert audit_opened(splits, PAIRS, epsilon=1.0).ok


@pytest.mark.parametrize("law", ["Laplace", "LAPLACE"])
def test_laws_are_known_however_they_are_written(law: str) -> None:
    wrong = door(law)
    report = audit_opened(lambda rows: wrong(50 * float(rows.sum()), 1.0, 1.0), PAIRS, epsilon=1.0)
    assert report.kinds() == ["budget", "sensitivity"]
    normal = door("normal")
    report = audit_opened(lambda rows: normal(float(rows.sum()), 0.1, 1.0), PAIRS, epsilon=1.0, delta=1e-5)
    assert report.kinds() == ["budget"]


@pytest.mark.parametrize("law", ["laplac", "gausian", "laplacian", "exponental"])
def test_misspelt_laws_are_refused(law: str) -> None:
    with pytest.raises(InvalidParameter, match="meant"):
        door(law)


def test_noise_of_unknown_law_is_said_not_to_be_counted() -> None:
    staircase = door("staircase")
    report = audit_opened(lambda rows: staircase(float(rows.sum()), 1.0, 1.0), PAIRS, epsilon=1.0)
    assert not report.ok and report.violations == ()
    assert len(report.uncounted) == 1 and "add_laplace" in report.uncounted[0]
    assert report.to_dict()["uncounted"] == list(report.uncounted)
    assert audit_opened(total, PAIRS, epsilon=1.0).uncounted == ()


def test_noise_in_a_thread_that_swallows_errors_is_refused() -> None:
    def threaded(rows: Any) -> Any:
        kept: list[float] = []

        def work() -> None:
            try:
                kept.append(total(rows))
            except InvalidParameter:
                kept.append(0.0)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return total(np.zeros(1))

    with pytest.raises(InvalidParameter, match="thread"):
        audit_opened(threaded, PAIRS, epsilon=1.0)


def test_vectors_of_scales() -> None:
    with pytest.raises(InvalidParameter, match=r"scale.*one number"):
        audit_opened(lambda rows: laplace(rows[:2], np.array([1.0, 2.0]), 1.0), PAIRS, epsilon=1.0)
    gauss = noise("gaussian", value="total", scale="scale")(add_laplace)
    report = audit_opened(
        lambda rows: gauss(np.array([len(rows), 2.0 * len(rows)]), np.array([10.0, 20.0]), 1.0),
        PAIRS,
        epsilon=1.0,
        delta=0.01,
    )
    assert report.ok and report.delta > 0


def test_functions_that_return_nothing_are_named() -> None:
    @noise("laplace", value="total", scale=1.0)
    def in_place(total: float) -> None:
        """Forgets to return."""

    with pytest.raises(InvalidParameter, match=r"in_place.*returned None"):
        audit_opened(lambda rows: in_place(float(rows.sum())), PAIRS, epsilon=1.0)


@pytest.mark.parametrize(
    ("more", "message"),
    [({"pairs": []}, "at least one pair"), ({"epsilon": -1.0}, "epsilon"), ({"delta": 1.5}, "delta")],
)
def test_bad_input(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        audit_opened(**({"train": total, "pairs": PAIRS, "epsilon": 1.0} | more))


# --- assertions -------------------------------------------------------------------------------------------------------


class Slots:
    """Keeps its state in slots."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Node:
    """A tree whose nodes know their parents."""

    def __init__(self, value: Any) -> None:
        self.value, self.child = value, Slots(None)
        self.child.value = self

    def fresh(self, *more: Any) -> Node:
        """Itself, with things that differ from call to call and hold no record."""
        self.parts = (*more, np.random.default_rng(0), lambda row: row, random.Random(1), {"a", str(self.value)})
        return self


@pytest.mark.parametrize("build", [Slots, Node, lambda value: Node(value).fresh()])
def test_objects_of_all_kinds_are_compared_by_what_they_hold(build: Any) -> None:
    assert testing.assert_noninterference(lambda rows, value: build(value), PAIRS[0], [1.0, 2.0]) == 2
    with pytest.raises(AssertionError, match="depends on the records"):
        testing.assert_noninterference(lambda rows, value: build(len(rows)), PAIRS[0], [1.0])


def test_an_error_on_one_side_is_interference() -> None:
    with pytest.raises(AssertionError, match="KeyError"):
        testing.assert_noninterference(lambda rows, value: {3: value}[len(rows)], PAIRS[0], [1.0])


@pytest.mark.parametrize("output", [{"a": 1}, "x", None, [[1.0], [1.0, 2.0]]])
def test_sensitivities_of_what_is_not_numbers(output: Any) -> None:
    with pytest.raises(InvalidParameter, match="numbers"):
        testing.assert_sensitivity(lambda rows: output, PAIRS, 1.0)


def test_norms_and_false_alarms_are_checked() -> None:
    with pytest.raises(InvalidParameter, match="norm"):
        testing.assert_sensitivity(len, PAIRS, 1.0, norm="l2")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="false_alarm"):
        testing.assert_dp(lambda rows, seed: 1.0, PAIRS[0], 1.0, false_alarm=1e-20)
