"""A fit that fails leaves the estimator as it was, old or unfitted: every estimator, owners and streams."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import refdp
from refdp.errors import BudgetExceeded, InvalidParameter
from refdp.faces.estimators import base, owners
from refdp.faces.estimators.stream import Stream
from tests.estimators.test_attacks import ALL as FIVE

pytestmark = pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning")
ALL = [*dict.fromkeys([*FIVE, refdp.GroveClassifier, refdp.GroveRegressor])]
QUICK: dict[str, dict[str, Any]] = {"InPrivate": {}, "FedGBDT": {"trees": 2}, "SGBDT": {"trees": 2, "extra_trees": 2}}


def made(kind: Any, columns: int = 2, **other: Any) -> Any:
    """An estimator for so many columns; other classes and label range for more than two."""
    short = kind.__name__.removesuffix("Classifier").removesuffix("Regressor")
    public: dict[str, Any] = {"bounds": dict.fromkeys(range(columns), (0.0, 1.0)), "relation": "add-remove"}
    target = {"classes": list(range(columns))} if "Classifier" in kind.__name__ else {"label_bounds": (0, columns)}
    return kind(**public, **target, **QUICK.get(short, {"trees": 2}), **other)


def data(columns: int = 2, rows: int = 30) -> tuple[Any, Any]:
    rng = np.random.default_rng(columns)
    return rng.random((rows, columns)), np.arange(rows) % columns


class Stopped(BaseException):
    """As an interrupt, in the middle of a run."""


def stopped(*_: Any, **__: Any) -> Any:
    raise Stopped


def other(model: Any) -> None:
    """Parameters for records of another schema."""
    new = made(type(model), 3)
    model.set_params(
        **{name: getattr(new, name) for name in ("bounds", "classes", "label_bounds") if hasattr(new, name)}
    )


@pytest.mark.parametrize("kind", ALL)
def test_a_refit_that_fails_leaves_the_old_model_whole(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = made(kind).fit(*data())
    before, predicted = dict(vars(model)), model.predict(data()[0])
    monkeypatch.setattr(base, "train", stopped)
    other(model)
    with pytest.raises(Stopped):
        model.fit(*data(3))
    fitted = {name for name in before if name.endswith("_")}
    assert {name for name in vars(model) if name.endswith("_")} == fitted and model.n_features_in_ == 2
    assert all(vars(model)[name] is before[name] for name in fitted)
    assert np.array_equal(model.predict(data()[0]), predicted)


@pytest.mark.parametrize("kind", ALL)
def test_a_first_fit_that_fails_leaves_it_unfitted(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = made(kind)
    monkeypatch.setattr(base, "train", stopped)
    with pytest.raises(Stopped):
        model.fit(*data())
    assert not [name for name in vars(model) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        model.predict(data()[0])


def test_a_fit_that_is_refused_by_its_budget_leaves_the_old_model() -> None:
    model = made(refdp.GroveClassifier, budget=refdp.PrivacyBudget(1.0, 1e-4)).fit(*data())
    other(model)
    with pytest.raises(BudgetExceeded):
        model.fit(*data(3))
    assert model.n_features_in_ == 2 and model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("kind", [refdp.InPrivateClassifier, refdp.InPrivateRegressor])
def test_owners(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = made(kind, owners=["a", "b"]).fit(*data(), groups=["a", "b"] * 15)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    monkeypatch.setattr(owners, "among", stopped)
    other(model)
    with pytest.raises(Stopped):
        model.fit(*data(3), groups=["a", "b"] * 15)
    assert {name: value for name, value in vars(model).items() if name.endswith("_")} == before
    model.set_params(owners=2).fit(*data(3))
    assert not hasattr(model, "messages_")


@pytest.mark.parametrize("kind", [refdp.SGBDTClassifier, refdp.SGBDTRegressor])
def test_streams(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch that is refused or interrupted changes nothing but the stream, which takes no batch after the latter."""
    model, unfitted = made(kind), made(kind)
    x, y = data()
    model.partial_fit(x, y)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    with pytest.raises(Exception, match="features"):
        model.partial_fit(*data(3))
    monkeypatch.setattr(Stream, "_grow", stopped)
    for one in (model, unfitted):
        with pytest.raises(Stopped):
            one.partial_fit(x, y)
        with pytest.raises(InvalidParameter, match="left in its middle"):
            one.partial_fit(x, y)
    assert {name: value for name, value in vars(model).items() if name.endswith("_")} == before
    assert [name for name in vars(unfitted) if name.endswith("_")] == ["private_stream_"]
    for ask in (lambda: unfitted.predict(x), unfitted.budget_report):
        with pytest.raises(NotFittedError):
            ask()


@pytest.mark.parametrize("kind", ALL)
def test_what_the_caller_would_have_of_floating_point_reaches_no_fit(kind: Any) -> None:
    """Whether arithmetic warns or raises follows from private values: it does neither, and the model is the same."""
    found = []
    for how in ("warn", "raise"):
        with np.errstate(all=how), warnings.catch_warnings():  # type: ignore[call-overload]
            warnings.simplefilter("error", RuntimeWarning)
            model = made(kind, insecure_seed=refdp.ReproducibleSeed(3)).fit(*data())
        found.append(model.model_.to_json())
    assert found[0] == found[1]
