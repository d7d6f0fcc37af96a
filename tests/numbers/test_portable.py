"""Same seeds, same bytes: whatever vector units numpy finds, whatever the types of equal numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

from refdp.data import candidates as grids
from refdp.data import numbers
from refdp.data.forms import canonical, from_json
from refdp.data.records import Model
from tests.numbers.models import CLASSES, REGRESSION, digests, train

ROOT = Path(__file__).parents[2]
FIRST = ["0x1.86d6dfa8dab66p-9", "0x1.e6c7088b8fe37p-7", "0x1.fcff9214816d0p-5", "0x1.00661fddfc9c6p-2"]
SECOND = ["-0x1.785dcda1b3ba7p+1", "-0x1.59f8735518c24p+1", "-0x1.c1e044b32f1bep+0", "0x1.00ff4faaf7870p+1"]


def without_vector_units() -> dict[str, str]:
    """An environment in which numpy and OpenBLAS use nothing but their baseline."""
    from numpy._core import _multiarray_umath as umath

    dispatched = (name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name))
    return {**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(dispatched), "OPENBLAS_CORETYPE": "Nehalem"}


def test_models_are_the_same_bytes_without_vector_units() -> None:
    found = digests()
    assert len(set(found.values())) == len(found)
    plain = subprocess.run(
        [sys.executable, "-m", "tests.numbers.models"], env=without_vector_units(), cwd=ROOT, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    assert dict(line.rsplit(" ", 1) for line in plain.stdout.splitlines()) == found


def test_thresholds_and_gradients_avoid_functions_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ulp more in numpy's functions, as on another machine, changes no model; it did change logarithmic grids."""
    settings = (("dpboost", {"candidates": "log"}), ("fedgbdt", {"candidates": "log", "grid": "published"}),
                ("dpxgboost", {"loss": "log", "subsample": 0.7}), ("inprivate", {"candidates": "log"}),
                ("sgbdt", {"subsample": 0.7}))  # fmt: skip
    schemas = [REGRESSION if given.get("loss") != "log" else CLASSES for _, given in settings]
    before = [train(paper, given, schema, 5).to_json() for (paper, given), schema in zip(settings, schemas)]
    for name in ("exp", "log", "log1p", "expm1", "power"):
        real = getattr(np, name)
        monkeypatch.setattr(np, name, lambda *a, real=real, **k: np.nextafter(real(*a, **k), np.inf))
    after = [train(paper, given, schema, 5).to_json() for (paper, given), schema in zip(settings, schemas)]
    assert after == before


@pytest.mark.parametrize("name", ["exp", "log", "expm1", "log1p"])
def test_portable_functions_are_accurate(name: str) -> None:
    generator = np.random.default_rng(1)
    wide = generator.uniform(-1, 1, 500) * 10.0 ** generator.uniform(-12, 2.8, 500)
    x = np.abs(wide) if name.startswith("log") else wide
    found = getattr(numbers, name)(x)
    with mpmath.workprec(200):
        true = [getattr(mpmath, name)(mpmath.mpf(float(value))) for value in x]
        worst = max(abs((mpmath.mpf(float(y)) - t) / t) for y, t in zip(found, true, strict=True))
    assert worst < 2.0**-50


def test_portable_functions_at_the_ends() -> None:
    ends = np.array([0.0, np.inf, -np.inf, np.nan, -1.0, 800.0, -800.0])
    with np.errstate(all="ignore"):
        for name in ("exp", "log", "expm1", "log1p"):
            np.testing.assert_allclose(getattr(numbers, name)(ends), getattr(np, name)(ends), rtol=1e-14)
    assert numbers.exp(np.zeros((2, 0))).shape == (2, 0) and float(numbers.exp(Fraction(0))) == 1.0
    assert numbers.log_whole(10**400) == pytest.approx(400 * np.log(10), rel=1e-15)


def test_a_logarithmic_grid_is_what_it_was_everywhere() -> None:
    """Thresholds written down once, as bits."""
    found = grids.logarithmic(REGRESSION, 4).thresholds
    assert [float(t).hex() for t in found[0]] == FIRST and [float(t).hex() for t in found[1]] == SECOND


def model(epsilon: object, initial: object, low: object, weights: object) -> Model:
    made = train("dpboost", {"trees": 2}, REGRESSION, 0, rows=40)
    feature = replace(made.schema.features[0], low=low)  # type: ignore[arg-type]
    schema = replace(made.schema, features=(feature, *made.schema.features[1:]))
    ensemble = replace(made.outputs[0], initial=initial, weights=weights)  # type: ignore[arg-type]
    return replace(made, params=made.params | {"epsilon": epsilon}, schema=schema, outputs=(ensemble,))


def test_equal_models_give_equal_bytes() -> None:
    text = model(4, 0.0, 0.0, (1.0, 0.5)).to_json()
    for other in (
        model(4.0, 0.0, 0.0, (1.0, 0.5)),
        model(np.float64(4), -0.0, -0.0, [1, 0.5]),
        model(np.int64(4), np.float32(0), 0, np.array([1.0, 0.5])),
    ):
        assert other.to_json() == text
    assert from_json(text).to_json() == text
    assert model(5, 0.0, 0.0, (1.0, 0.5)).to_json() != text
    assert canonical([2.0**60, True, 2**60, 2**53 + 1]) == [2.0**60, True, 2.0**60, 2**53 + 1]
    with pytest.raises(TypeError, match="no place in a model file"):
        canonical({1})
