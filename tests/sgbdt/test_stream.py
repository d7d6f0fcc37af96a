"""Estimators of S-GBDT: streams with an account for every id, and reports."""

from __future__ import annotations

import copy
import itertools
import multiprocessing
import pickle
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from refdp.data.memory import Memory
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.faces.estimators import SGBDTClassifier, SGBDTRegressor
from refdp.faces.estimators.stream import STRANGERS, Stream
from refdp.faces.seeds import ReproducibleSeed
from refdp.privacy.curator import Curator
from refdp.privacy.sources import SampleSource

pytestmark = pytest.mark.filterwarnings("ignore:insecure_seed:refdp.errors.PrivacyWarning")

SMALL = {"epsilon": 2.0, "relation": "add-remove", "delta": 1e-3, "trees": 6, "extra_trees": 4, "depth": 2,
         "subsample": 0.3, "bounds": {"x0": (0, 1), "x1": (0, 1)}}  # fmt: skip


def data(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    x = generator.random((rows, 2))
    return x, 2 * x[:, 0] - 1


def regressor(**changes: Any) -> SGBDTRegressor:
    given = {**SMALL, "insecure_seed": ReproducibleSeed(3), "label_bounds": (-1, 1), **changes}
    return SGBDTRegressor(**given)


def test_budgets_are_carried_over_by_id() -> None:
    x, y = data(40, 0)
    model = regressor().partial_fit(x, y, ids=range(40))
    before = model.private_budget_report()
    assert len(model.model_.outputs[0].trees) == 6
    model.partial_fit(x[:10], -y[:10], ids=range(30, 40))  # ten ids come again with other records
    after = model.private_budget_report()
    assert len(model.model_.outputs[0].trees) == 10
    assert after.keys() == before.keys()
    assert all(before[name] <= after[name] <= 1 for name in before)
    assert any(before[str(name)] < after[str(name)] for name in range(30, 40))
    model.partial_fit(x, y, ids=range(100, 140))
    fresh = model.private_budget_report()
    assert len(fresh) == 80
    for _ in range(12):
        model.partial_fit(x[:1], y[:1], ids=[0])
    spent = model.private_budget_report()
    assert max(spent.values()) <= 1
    assert spent["0"] > 1 - 1 / 6  # the id that came 13 times is refused once it could not pay another round


def test_an_account_that_forgets_is_noticed() -> None:
    """The check above can fail: with a new id each time, the same record pays from a fresh account."""
    x, y = data(40, 0)
    model = regressor().partial_fit(x, y, ids=range(40))
    model.partial_fit(x[:1], y[:1], ids=["again"])
    assert model.private_budget_report()["again"] < model.private_budget_report()["0"]


def test_reports_and_pickles_hold_nothing_private() -> None:
    x, y = data(40, 0)
    reports = []
    for rows in (40, 15):
        model = regressor().partial_fit(x[:rows], y[:rows], ids=[f"person {i}" for i in range(rows)])
        reports.append(model.budget_report())
        text = pickle.dumps(model)
        assert b"person" not in text
        assert not hasattr(pickle.loads(text), "private_stream_")
        assert "person" not in repr(model.private_stream_)
    assert reports[0] == reports[1]
    assert reports[0] == regressor().fit(x, y).budget_report()


@pytest.mark.parametrize("extra", [0, 2])
def test_threads_have_one_batch_after_the_other(extra: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Together each began a stream of its own, in which every id had a fresh budget."""
    x, y = data(40, 0)
    said: list[Any] = []
    model = regressor(extra_trees=extra)
    whole, begun = Stream.add, threading.Event()

    def slow(stream: Stream, *given: Any) -> Any:
        begun.set()
        time.sleep(0.3)  # by then the other is there
        return whole(stream, *given)

    monkeypatch.setattr(Stream, "add", slow)

    def batch() -> None:
        try:
            said.append(len(model.partial_fit(x, y, ids=range(40)).model_.outputs[0].trees))
        except InvalidParameter as error:
            said.append(str(error))

    first, second = (threading.Thread(target=batch) for _ in range(2))
    first.start()
    assert begun.wait(10)
    second.start()
    first.join()
    second.join()
    assert model.private_stream_.batches == (2 if extra else 1) and set(model.private_budget_report()) == {
        str(i) for i in range(40)
    }
    assert said[0] == 6 and (said[1] == 8 if extra else "a further batch needs extra_trees >= 1" in str(said[1]))
    assert not any("ock" in type(one).__name__ for one in vars(pickle.loads(pickle.dumps(model))).values())


def test_bad_input_is_refused_with_one_clear_error() -> None:
    x, y = data(20, 0)
    with pytest.raises(InvalidParameter, match="extra_trees >= 1"):
        regressor(extra_trees=0).partial_fit(x, y).partial_fit(x, y)
    with pytest.raises(InvalidRecords, match="each at most once"):
        regressor().partial_fit(x, y, ids=[0] * 20)
    with pytest.raises(InvalidParameter, match="add-remove is allowed"):
        regressor(relation="replace-one").fit(x, y)


def test_a_certificate_is_never_that_of_another_run() -> None:
    """A stream's models stay under the budget of its first batch; other parameters are refused, and take a new run."""
    x, y = data(40, 0)
    model = regressor(epsilon=10.0).partial_fit(x, y)
    promised = model.certificate_
    with pytest.raises(InvalidParameter, match=r"^epsilon, .*changed since this stream's first batch"):
        model.set_params(epsilon=0.5).partial_fit(x, y)
    assert model.certificate_ == promised
    assert model.model_.params["epsilon"] == promised.claimed.epsilon == 10.0
    model.fit(x, y)
    assert model.model_.params["epsilon"] == model.certificate_.claimed.epsilon == 0.5


def test_a_stream_never_goes_on_with_fresh_accounts() -> None:
    """In a copy nobody knows what an id has spent: it must not be able to spend all of it again."""
    x, y = data(40, 0)
    stream = regressor().partial_fit(x, y, ids=range(40))
    for fitted in (pickle.loads(pickle.dumps(stream)), copy.deepcopy(copy.deepcopy(stream))):
        with pytest.raises(InvalidParameter, match="what each id has spent is not known here"):
            fitted.partial_fit(x, y, ids=range(40))
    assert clone(stream).partial_fit(x, y).model_ is not None
    assert len(stream.fit(x, y).partial_fit(x, y).private_budget_report()) == 40


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_stream_itself_is_not_copied(copied: Callable[[Any], Any]) -> None:
    """Two continuations would draw the same noise on different records."""
    x, y = data(10, 0)
    stream = regressor().partial_fit(x, y).private_stream_
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        copied(stream)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of Python 3.12, where threads run
def test_a_stream_does_not_go_on_in_a_fork() -> None:
    x, y = data(10, 0)
    model = regressor().partial_fit(x, y, ids=range(10))

    def forked(answers: Any) -> None:
        try:
            model.partial_fit(x, y, ids=range(10))
            answers.put("went on")
        except InvalidParameter as error:
            answers.put(str(error))

    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=forked, args=(answers,))
    child.start()
    assert "in the process that began it" in answers.get(timeout=60)
    child.join()
    assert len(model.partial_fit(x, y, ids=range(10)).model_.outputs[0].trees) == 10


# --- Interrupts -------------------------------------------------------------------------------------------------------


STEPS = ("admit", "replace", "select", "tell", "ask")


class Interrupted(KeyboardInterrupt):
    """Ctrl-C."""


class Counted:
    """Calls through, and interrupts before or after the call of this number."""

    def __init__(self, when: int | None, after: bool) -> None:
        self.when, self.after, self.calls = when, after, 0

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*given: Any, **named: Any) -> Any:
            self.calls += 1
            now = self.calls == self.when
            if now and not self.after:
                raise Interrupted
            answer = call(*given, **named)
            if now:
                raise Interrupted
            return answer

        return wrapped


def classes_of(y: np.ndarray) -> np.ndarray:
    return np.where(y > 0.3, "c", np.where(y > -0.3, "b", "a"))


def interrupted(when: int | None, after: bool, batch: int) -> tuple[SGBDTClassifier, int]:
    """A stream of three classes whose second or first batch is left at the n-th step of a source or holder."""
    x, y = data(12, 0)
    settings = {**SMALL, "trees": 2, "extra_trees": 2}
    model = SGBDTClassifier(**settings, classes=["a", "b", "c"])
    if batch:
        model.partial_fit(x, classes_of(y), ids=range(12))
    counted = Counted(when, after)
    with pytest.MonkeyPatch.context() as patch:
        for kind in (Memory, SampleSource, Curator):
            for name in ("release", "draw", "assign") if kind is not Memory else STEPS:
                if hasattr(kind, name):
                    patch.setattr(kind, name, counted.around(getattr(kind, name)))
        if when is None:
            model.partial_fit(x, classes_of(y), ids=range(6, 18))
        else:
            with pytest.raises(Interrupted):
                model.partial_fit(x, classes_of(y), ids=range(6, 18))
    return model, counted.calls


@pytest.mark.parametrize("batch", [0, 1])
def test_an_interrupted_stream_goes_on_no_more(batch: int) -> None:
    """At every release, draw, assignment and step of a holder, before and after it, of the first and a later batch."""
    x, y = data(12, 0)
    interrupted(None, False, batch)  # the plan is read once, and not counted again
    points = interrupted(None, False, batch)[1]
    assert points > 50
    for when, after in itertools.product(range(1, points + 1), (False, True)):
        model, _ = interrupted(when, after, batch)
        published = vars(model).get("model_")
        for _ in range(2):
            with pytest.raises(InvalidParameter, match="left in its middle"):
                model.partial_fit(x, classes_of(y), ids=range(12))
        assert (published is not None) == bool(batch) and vars(model).get("model_") is published
        with pytest.raises(InvalidParameter, match="left in its middle"):
            model.private_budget_report()
        assert model.fit(x, classes_of(y)).partial_fit(x, classes_of(y)).model_ is not None


def test_a_batch_that_is_refused_leaves_the_stream_whole() -> None:
    x, y = data(20, 0)
    model, undisturbed = regressor(), regressor()
    for bad in ({"ids": [0] * 20}, {"ids": range(19)}, {"ids": [None, *range(19)]}):
        with pytest.raises(InvalidRecords):
            model.partial_fit(x, y, **bad)
        assert not hasattr(model, "private_stream_")
    model.partial_fit(x, y, ids=range(20))
    before = model.private_budget_report()
    with pytest.raises(InvalidRecords):
        model.partial_fit(np.full((20, 2), np.inf), y, ids=range(20))
    with pytest.raises(InvalidRecords):
        model.partial_fit(x, np.full(20, np.nan), ids=range(20))
    assert model.private_budget_report() == before
    undisturbed.insecure_seed.generator()  # those of the refused batches
    undisturbed.insecure_seed.generator()
    undisturbed.insecure_seed.generator()
    undisturbed.partial_fit(x, y, ids=range(20)).partial_fit(x, y, ids=range(20))
    assert model.partial_fit(x, y, ids=range(20)).model_.to_json() == undisturbed.model_.to_json()


# --- Who is one person ------------------------------------------------------------------------------------------------

ONE = [1, 1.0, "1", " 1 ", np.int32(1), np.float64(1.0), np.str_("1"), np.uint8(1)]


@pytest.mark.parametrize("other", ONE)
def test_one_person_has_one_account(other: Any) -> None:
    x, y = data(20, 0)
    model = regressor().partial_fit(x, y, ids=range(20))
    model.partial_fit(x[:1], y[:1], ids=[other])
    assert len(model.private_budget_report()) == 20
    with pytest.raises(InvalidRecords, match="each at most once"):
        model.partial_fit(x[:2], y[:2], ids=[1, other])


@pytest.mark.parametrize("container", [list, tuple, np.array, pd.Series, pd.Index])
def test_ids_come_in_any_container(container: Any) -> None:
    x, y = data(3, 0)
    model = regressor().partial_fit(x, y, ids=container([5, 6, 7]))
    assert model.private_budget_report().keys() == {"5", "6", "7"}


def test_other_texts_are_other_people() -> None:
    x, y = data(4, 0)
    model = regressor().partial_fit(x, y, ids=["ann", "Ann", "01", "1.0"])
    assert len(model.partial_fit(x[:1], y[:1], ids=["1"]).private_budget_report()) == 5


NOBODY = [None, np.nan, float("inf"), "", "  ", pd.NA, pd.NaT, np.datetime64("NaT"), True, np.bool_(False), 1.5,
          2.0**60, b"1", (1, 2), object(), pd.Timestamp("2020-01-01")]  # fmt: skip


@pytest.mark.parametrize("nobody", NOBODY, ids=lambda nobody: type(nobody).__name__)
def test_ids_that_name_nobody_are_refused(nobody: Any) -> None:
    """Each would open a fresh account, or tell two people apart by chance."""
    x, y = data(3, 0)
    model = regressor()
    with pytest.raises(InvalidRecords, match="ids: a name is missing"):
        model.partial_fit(x, y, ids=[1, 2, nobody])
    assert not hasattr(model, "private_stream_")


@pytest.mark.parametrize("ids", ["abc", 3, b"abc"])
def test_ids_are_a_list(ids: Any) -> None:
    x, y = data(3, 0)
    with pytest.raises(InvalidRecords, match="ids: a list of names is needed"):
        regressor().partial_fit(x, y, ids=ids)


def test_records_without_ids_are_said_to_be_assumed_strangers() -> None:
    x, y = data(20, 0)
    model = regressor().partial_fit(x, y, ids=range(20))
    assert STRANGERS not in model.certificate_.assumptions
    assert STRANGERS in model.partial_fit(x, y).certificate_.assumptions


def test_classes_on_a_stream() -> None:
    x, y = data(60, 1)
    labels = np.where(y > 0.3, "c", np.where(y > -0.3, "b", "a"))
    model = SGBDTClassifier(**SMALL, classes=["a", "b", "c"]).partial_fit(x, labels, ids=range(60))
    model.partial_fit(x[:5], labels[:5], ids=range(60, 65))
    assert model.predict_proba(x).shape == (60, 3)
    assert np.allclose(model.predict_proba(x).sum(axis=1), 1)
