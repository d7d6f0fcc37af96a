"""A seed repeats an experiment and costs its privacy: nothing that is saved or printed shows it, no fits share it."""

from __future__ import annotations

import copy
import io
import multiprocessing
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.semi_supervised import SelfTrainingClassifier

from refdp.errors import InvalidParameter, PrivacyWarning, RepeatedFitWarning
from refdp.faces import estimators, seeds
from refdp.faces.seeds import SEED_ASSUMPTION, ReproducibleSeed
from tests.estimators.test_attacks import ALL, estimator, labels_for, records

SEED = 0x5EC2E7C0FFEE
PUBLIC = {"relation": "add-remove", "bounds": {"x0": (0, 1), "x1": (0, 1)}, "classes": [0, 1], "trees": 2, "depth": 2}
quiet = pytest.mark.filterwarnings("ignore:insecure_seed:refdp.errors.PrivacyWarning")
noisy = [pytest.mark.filterwarnings(f"ignore::{category}") for category in ("UserWarning", "FutureWarning")]


def classifier(number: int = SEED, **changes: Any) -> estimators.DPBoostClassifier:
    return estimators.DPBoostClassifier(**{**PUBLIC, "insecure_seed": ReproducibleSeed(number), **changes})


def data() -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).random((60, 2))
    return x, np.arange(60) % 2


METAS: dict[str, Callable[[Any], Any]] = {
    "alone": lambda one: one,
    "grid": lambda one: GridSearchCV(one, {"epsilon": [1.0, 2.0]}, cv=2),
    "grid of seeds": lambda one: GridSearchCV(one, {"insecure_seed": [ReproducibleSeed(SEED)]}, cv=2),
    "random search": lambda one: RandomizedSearchCV(one, {"epsilon": [1.0, 2.0]}, n_iter=2, cv=2),
    "calibrated": lambda one: CalibratedClassifierCV(one, cv=2),
    "calibrated by an ensemble": lambda one: CalibratedClassifierCV(one, cv=2, ensemble=False),
    "pipeline": lambda one: make_pipeline(FunctionTransformer(), one),
    "pipeline in a grid": lambda one: GridSearchCV(make_pipeline(one), {"dpboostclassifier__epsilon": [1.0]}, cv=2),
    "bagging": lambda one: BaggingClassifier(one, n_estimators=2, random_state=0),
    "self training": lambda one: SelfTrainingClassifier(one),
    "voting": lambda one: VotingClassifier([("a", one), ("b", one)]),
    "stacking": lambda one: StackingClassifier([("a", one)], final_estimator=clone(one).set_params(bounds=None), cv=2),
    "one against the rest": lambda one: OneVsRestClassifier(one),
    "one against one": lambda one: OneVsOneClassifier(one),
    "codes": lambda one: OutputCodeClassifier(clone(one).set_params(classes=[-1, 1]), random_state=0),
    "fixed threshold": lambda one: FixedThresholdClassifier(one),
    "tuned threshold": lambda one: TunedThresholdClassifierCV(one, cv=2),
    "many outputs": lambda one: MultiOutputClassifier(one),
    "chain": lambda one: ClassifierChain(clone(one).set_params(bounds=None), random_state=0),
}


def fitted(meta: Any) -> Any:
    x, y = data()
    if isinstance(meta, MultiOutputClassifier | ClassifierChain):
        y = np.column_stack([y, y])
    return meta.fit(x, y)


def parts(thing: Any, seen: set[int]) -> Iterator[Any]:
    """Everything that can be reached from an object by its attributes and members."""
    if id(thing) in seen or isinstance(thing, type):
        return
    seen.add(id(thing))
    yield thing
    inner: list[Any] = []
    if isinstance(thing, dict):
        inner = [*thing.keys(), *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset):
        inner = list(thing)
    elif isinstance(thing, np.ndarray):
        inner = list(thing.ravel()) if thing.dtype == object else []
    else:
        slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
        inner = [getattr(thing, name) for name in slots if isinstance(name, str) and hasattr(thing, name)]
        inner += list(vars(thing).values()) if hasattr(thing, "__dict__") else []
    for one in inner:
        yield from parts(one, seen)


def shown(thing: Any) -> str:
    """All texts that tools print of an object."""
    texts = [repr(thing), str(thing), str(vars(thing)) if hasattr(thing, "__dict__") else ""]
    if isinstance(thing, BaseEstimator):
        texts += [thing._repr_html_inner(), repr(thing.get_params())]
    return "\n".join(texts)


def bytes_of(number: int) -> list[bytes]:
    """A number as it may stand in a file: decimal, hexadecimal, binary in both orders."""
    size = (number.bit_length() + 7) // 8
    return [str(number).encode(), f"{number:x}".encode(), number.to_bytes(size, "little"), number.to_bytes(size, "big")]


def dumped(thing: Any) -> list[bytes]:
    file = io.BytesIO()
    joblib.dump(thing, file)
    return [*(pickle.dumps(thing, protocol) for protocol in range(6)), file.getvalue()]


def kept(thing: Any) -> list[str]:
    """Where the seed is found: in a dump, in what comes out of it, or in a text."""
    found = [f"dump {i}" for i, text in enumerate(dumped(thing)) if any(one in text for one in bytes_of(SEED))]
    for i, text in enumerate(dumped(thing)):
        again = pickle.loads(text) if i < 6 else joblib.load(io.BytesIO(text))
        found += [f"object {i}" for one in parts(again, set()) if isinstance(one, int | np.integer) and one == SEED]
    return found + ["text"] * any(one.decode("latin1") in shown(thing) for one in bytes_of(SEED)[:2])


@quiet
@noisy[0]
@noisy[1]
@pytest.mark.parametrize("name", METAS)
@pytest.mark.parametrize("fit", [False, True])
def test_nothing_that_is_saved_or_printed_shows_a_seed(name: str, fit: bool) -> None:
    meta = METAS[name](classifier())
    if fit:
        fitted(meta)
    assert any(isinstance(one, ReproducibleSeed) for one in parts(meta, set()))  # there is something to find
    assert kept(meta) == []
    x, _ = data()
    if fit and hasattr(meta, "predict"):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(meta)).predict(x), meta.predict(x))


def test_the_search_finds_a_seed() -> None:
    """The check above can fail: of a plain number, in a pickle, in a text."""
    found = kept(estimators.DPBoostClassifier(insecure_seed=SEED))  # type: ignore[arg-type]
    assert {"dump 0", "dump 5", "dump 6", "object 5", "text"} <= set(found)
    assert kept(np.array([SEED], dtype=object))


@quiet
@pytest.mark.parametrize("kind", ALL)
def test_no_estimator_shows_its_seed(kind: Any) -> None:
    x, y = records(10)
    model = estimator(kind, insecure_seed=ReproducibleSeed(SEED))
    assert kept(model) == []
    model.fit(x, labels_for(kind, y))
    assert kept(model) == []
    assert SEED_ASSUMPTION in model.certificate_.assumptions


@quiet
@pytest.mark.parametrize("kind", [estimators.SGBDTClassifier, estimators.SGBDTRegressor])
def test_neither_does_one_that_learns_on_a_stream(kind: Any) -> None:
    x, y = records(10)
    model = estimator(kind, insecure_seed=ReproducibleSeed(SEED), extra_trees=1).partial_fit(x, labels_for(kind, y))
    assert kept(model) == []
    assert SEED_ASSUMPTION in model.certificate_.assumptions


# --- A fixed seed is said aloud ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_a_fixed_seed_warns_at_every_fit(kind: Any) -> None:
    x, y = records(10)
    model = estimator(kind, insecure_seed=ReproducibleSeed(SEED))
    for _ in range(2):
        with pytest.warns(PrivacyWarning, match="stays secret and is used once"):
            model.fit(x, labels_for(kind, y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", RepeatedFitWarning)
        without = estimator(kind).fit(x, labels_for(kind, y))
    assert SEED_ASSUMPTION not in without.certificate_.assumptions


def test_owners_with_a_seed_are_told_too() -> None:
    x, y = records(12)
    model = estimator(estimators.InPrivateRegressor, insecure_seed=ReproducibleSeed(SEED), owners=[0, 1])
    with pytest.warns(PrivacyWarning, match="stays secret and is used once"):
        model.fit(x, y, groups=np.arange(12) % 2)
    assert SEED_ASSUMPTION in model.certificate_.assumptions


def test_a_search_with_one_seed_is_told_at_every_fit() -> None:
    x, y = data()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        GridSearchCV(classifier(), {"epsilon": [1.0, 2.0, 3.0]}, cv=3).fit(x, y)
    assert sum(one.category is PrivacyWarning for one in caught) == 10
    assert sum(one.category is RepeatedFitWarning for one in caught) == 9


# --- Every fit has its own noise --------------------------------------------------------------------------------------

EVERYTHING = (np.arange(60), np.arange(60))


def models(found: list[Any]) -> list[str]:
    return [one.model_.to_json() for one in found]


@quiet
def test_refits_share_no_noise_and_the_whole_is_repeatable() -> None:
    def run() -> list[str]:
        one = classifier()
        return [one.fit(*data()).model_.to_json() for _ in range(10)]

    first = run()
    assert len(set(first)) == 10
    assert run() == first


@quiet
@pytest.mark.parametrize("copied", [clone, copy.copy, copy.deepcopy])
def test_copies_share_the_sequence_and_not_the_noise(copied: Callable[[Any], Any]) -> None:
    one = classifier()
    other = copied(one)
    assert other.insecure_seed is one.insecure_seed
    assert one.fit(*data()).model_.to_json() != other.fit(*data()).model_.to_json()


@quiet
@pytest.mark.filterwarnings("ignore:insecure_seed came without its number")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize(("jobs", "backend"), [(1, "loky"), (2, "loky"), (2, "threading"), (2, "multiprocessing")])
def test_fits_on_the_same_records_differ_wherever_they_run(jobs: int, backend: str) -> None:
    """Threads share the sequence, in whatever order; other processes get no number and draw fresh entropy."""
    with joblib.parallel_backend(backend):
        runs = [
            cross_validate(classifier(), *data(), cv=[EVERYTHING] * 4, n_jobs=jobs, return_estimator=True)["estimator"]
            for _ in range(2)
        ]
    first, second = models(runs[0]), models(runs[1])
    assert len(set(first)) == len(set(second)) == 4
    assert (set(first) == set(second)) == (jobs == 1 or backend == "threading")


@quiet
def test_scores_of_a_cross_validation_are_repeatable() -> None:
    first, second = (cross_val_score(classifier(), *data(), cv=4) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_a_pickle_draws_fresh_entropy_and_says_so() -> None:
    again = [pickle.loads(pickle.dumps(classifier())) for _ in range(2)]
    with pytest.warns(UserWarning, match="this run cannot be repeated") as caught:
        first, second = models([one.fit(*data()) for one in again])
    assert first != second and not any(issubclass(one.category, PrivacyWarning) for one in caught)
    assert SEED_ASSUMPTION not in again[0].certificate_.assumptions


@pytest.mark.parametrize("number", [SEED, None])
@pytest.mark.parametrize("kind", [estimators.DPBoostClassifier, estimators.SGBDTClassifier])
@pytest.mark.parametrize("fit", ["fit", "partial_fit"])
def test_what_is_said_of_a_seed_is_said_of_the_line_that_trains(kind: Any, number: int | None, fit: str) -> None:
    """Not of a line of this package, of which each is shown once."""
    if not hasattr(kind, fit):
        return
    seed = ReproducibleSeed(SEED)
    seed = seed if number else pickle.loads(pickle.dumps(seed))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(kind(**PUBLIC, insecure_seed=seed), fit)(*data())
    (said,) = [one for one in caught if str(one.message).startswith("insecure_seed")]
    assert said.filename == __file__ and said.category is (PrivacyWarning if number else UserWarning)


def test_the_sequence_of_a_seed() -> None:
    """First numpy's own generator of the number, so that scripts which spell it out agree; then others of it."""
    seed = ReproducibleSeed(7)
    first, second, third = (seed.generator() for _ in range(3))
    assert first is not None and second is not None and third is not None
    assert first.random() == np.random.default_rng(7).random()
    for use, one in ((1, second), (2, third)):
        key = np.random.SeedSequence(7, spawn_key=(2**32 - 1, use))
        assert one.random() == np.random.default_rng(key).random()
    assert copy.copy(seed) is copy.deepcopy(seed) is seed
    assert seeds.seeded(None) == () and seeds.seeded(first) == (SEED_ASSUMPTION,)
    assert ReproducibleSeed(0).generator() is not None and ReproducibleSeed(np.int64(3)).generator() is not None


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_does_not_know_the_seed() -> None:
    """It has the memory of its parent, and would draw the parent's next noise."""
    seed = ReproducibleSeed(SEED)

    def forked(answers: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers.put(seed.generator() is None)

    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=forked, args=(answers,))
    child.start()
    assert answers.get(timeout=60)
    child.join()
    assert seed.generator() is not None


# --- The object -------------------------------------------------------------------------------------------------------


def test_seeds_neither_print_nor_compare() -> None:
    assert repr(ReproducibleSeed(1)) == str(ReproducibleSeed(2))
    assert ReproducibleSeed(1) != ReproducibleSeed(1)
    assert ReproducibleSeed(1).__getstate__() is None
    with pytest.raises(TypeError):
        vars(ReproducibleSeed(1))


@pytest.mark.parametrize("number", [-SEED, -1, 1.5, str(SEED), True, None, np.random.default_rng(0)])
def test_what_is_no_seed_is_refused_and_not_quoted(number: Any) -> None:
    with pytest.raises(InvalidParameter, match="a whole number >= 0 is needed") as caught:
        ReproducibleSeed(number)
    assert str(SEED) not in str(caught.value)


@pytest.mark.parametrize("seed", [SEED, str(SEED), np.random.default_rng(SEED), np.random.RandomState(7), [SEED]])
@pytest.mark.parametrize("kind", ALL)
def test_a_plain_number_or_generator_trains_nothing(kind: Any, seed: Any) -> None:
    x, y = records(10)
    with pytest.raises(InvalidParameter, match=r"refdp\.ReproducibleSeed") as caught:
        estimator(kind, insecure_seed=seed).fit(x, labels_for(kind, y))
    assert str(SEED) not in str(caught.value)


def test_the_random_state_of_an_ensemble_seeds_no_noise() -> None:
    """scikit-learn's ensembles set every `random_state` that they find."""
    ensembles = [BaggingClassifier(classifier(insecure_seed=None), n_estimators=2, random_state=0) for _ in range(2)]
    first, second = (models(one.fit(*data()).estimators_) for one in ensembles)
    assert len({*first, *second}) == 4
