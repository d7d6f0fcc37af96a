"""One budget for several fits: composed by the accountant, never overspent, one for threads, processes and clones."""

from __future__ import annotations

import copy
import itertools
import json
import math
import multiprocessing
import os
import pickle
import stat
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import refdp
from refdp.accounting import account, budget_lock, pure_epsilon
from refdp.accounting.budget_file import plan_in, plan_out
from refdp.accounting.least import least_epsilon
from refdp.errors import BudgetExceeded, InvalidParameter, RepeatedFitWarning
from refdp.faces import registry
from refdp.noise.mechanisms import Exponential, Gaussian, Laplace
from refdp.privacy.events import (
    Event,
    Parallel,
    Partition,
    Plan,
    Relation,
    Release,
    Repeat,
    Sensitivity,
    Sequential,
    Subsample,
    expand,
    folded,
    proved,
)
from tests.estimators.test_defaults import SCHEMAS

R = Relation.ADD_REMOVE
DELTA = 1e-5


def gaussian(sd: float, relation: Relation = R) -> Plan:
    return Plan(relation, Release("sums", Gaussian(sd), Sensitivity(1.0, 2, "account/declared", relation)))


def laplace(scale: float, relation: Relation = R) -> Plan:
    return Plan(relation, Release("sums", Laplace(scale), Sensitivity(1.0, 1, "account/declared", relation)))


def model(**settings: Any) -> refdp.DPBoostClassifier:
    given = {"epsilon": 0.4, "relation": "add-remove", "bounds": {0: (0, 1), 1: (0, 1)}, "classes": [0, 1]}
    return refdp.DPBoostClassifier(**given | settings)


def records() -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).random((60, 2))
    return x, (x[:, 0] > 0.5).astype(int)


def test_plans_are_composed_and_epsilons_are_not_added() -> None:
    """Ten Gaussians of standard deviation 10 are one of sqrt(10): a third of the sum of their epsilons."""
    budget = refdp.PrivacyBudget(3.0, DELTA)
    for _ in range(10):
        budget.charge(gaussian(10.0))
    alone = account(gaussian(10.0), delta=DELTA).epsilon
    together = account(gaussian(math.sqrt(10.0)), delta=DELTA).epsilon
    assert budget.spent() == pytest.approx(together, rel=1e-6)
    assert budget.spent() < 0.4 * 10 * alone


def test_it_refuses_before_it_is_overspent_and_then_changes_nothing() -> None:
    budget = refdp.PrivacyBudget(1.0)
    budget.charge(laplace(2.0))
    budget.charge(laplace(2.0))
    with pytest.raises(BudgetExceeded, match=r"would bring epsilon to 1\.001"):
        budget.charge(laplace(1000.0))
    assert budget.spent() == pytest.approx(1.0)
    assert len(budget.entries) == 2


def test_another_relation_and_wrong_figures_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="add-remove"):
        refdp.PrivacyBudget(1.0).charge(laplace(2.0, Relation.REPLACE_ONE))
    for wrong in (
        {"epsilon": 0.0},
        {"epsilon": math.inf},
        {"epsilon": 1.0, "delta": 1.0},
        {"epsilon": 1, "relation": "x"},
    ):
        with pytest.raises(InvalidParameter):
            refdp.PrivacyBudget(**wrong)


def test_disjoint_records_do_not_add_up_but_shared_ones_do() -> None:
    budget = refdp.PrivacyBudget(1.0)
    budget.on("north").charge(laplace(2.0))
    budget.on("south").charge(laplace(2.0))
    assert budget.spent() == pytest.approx(0.5)
    budget.charge(laplace(2.0))  # on all of them
    assert budget.spent("north") == budget.spent("south") == pytest.approx(1.0)
    with pytest.raises(BudgetExceeded):
        budget.on("south").charge(laplace(100.0))


@pytest.mark.parametrize("scope", [3, float("nan"), "", ["north"], True])
def test_records_are_named_by_text(scope: Any) -> None:
    """A name that is not equal to itself would never add up."""
    budget = refdp.PrivacyBudget(1.0)
    with pytest.raises(InvalidParameter, match="scope"):
        budget.on(scope)
    for charge in (
        lambda: budget.charge(laplace(2.0), scope=scope),
        lambda: budget.charge_known(0.1, 0.0, scope=scope),
    ):
        with pytest.raises(InvalidParameter, match="scope"):
            charge()
    with pytest.raises(InvalidParameter, match="scope"):
        budget.spent(scope)
    assert budget.spent() == 0.0
    with pytest.raises(InvalidParameter, match="scope"):
        budget.on(None)  # type: ignore[arg-type]


def test_under_replace_one_names_of_records_add_up() -> None:
    """A record that is replaced may leave one set and enter the other."""
    budget = refdp.PrivacyBudget(2.0, relation="replace-one")
    for name in ("north", "south"):
        budget.on(name).charge(laplace(2.0, Relation.REPLACE_ONE))
    assert budget.spent() == pytest.approx(1.0)


def test_adaptive_settings_are_never_cheaper() -> None:
    """The two filters at half the delta each: the accountant's figure is a lower bound of theirs."""
    fixed, free = (refdp.PrivacyBudget(1.0, DELTA, adaptive=adaptive) for adaptive in (False, True))
    for budget in (fixed, free):
        for _ in range(5):
            budget.charge(gaussian(20.0))
    assert fixed.spent() < free.spent() < 5 * account(gaussian(20.0), delta=DELTA).epsilon
    assert any("fixed without the outputs" in said for said in fixed.report()["assumptions"])
    assert not any("fixed without the outputs" in said for said in free.report()["assumptions"])
    assert all(any("without noise" in said for said in one.report()["assumptions"]) for one in (fixed, free))


def test_the_file_goes_on_where_it_ended(tmp_path: Path) -> None:
    file = tmp_path / "budget.json"
    first = refdp.PrivacyBudget(1.0, file=file)
    first.charge(laplace(2.0), name="one")
    second = refdp.PrivacyBudget(1.0, file=file)
    second.charge(laplace(4.0), name="two")
    assert first.spent() == second.spent() == pytest.approx(0.75)
    assert [one["name"] for one in first.report()["charges"]] == ["one", "two"]
    third = pickle.loads(pickle.dumps(first))
    with pytest.raises(BudgetExceeded):
        third.charge(laplace(2.0))
    with pytest.raises(InvalidParameter, match="another budget"):
        refdp.PrivacyBudget(5.0, file=file)
    file.write_text(json.dumps(json.loads(file.read_text()) | {"entries": [{}]}))
    with pytest.raises(InvalidParameter, match="budget file"):
        first.spent()


@pytest.mark.parametrize("name", [None, "budget.json"])
def test_threads_share_what_is_left(tmp_path: Path, name: str | None) -> None:
    budget = refdp.PrivacyBudget(1.0, file=name and tmp_path / name)
    refused = []

    def take() -> None:
        try:
            budget.charge(laplace(10.0))
        except BudgetExceeded:
            refused.append(1)

    threads = [threading.Thread(target=take) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 6
    assert budget.spent() == pytest.approx(1.0)


def test_copies_are_the_budget_itself_and_without_a_file_it_stays_in_its_process() -> None:
    budget = refdp.PrivacyBudget(1.0)
    assert copy.deepcopy(budget) is copy.copy(budget) is budget
    assert clone(model(budget=budget)).budget is budget
    with pytest.raises(TypeError, match="file="):
        pickle.dumps(budget)


def test_a_fork_cannot_spend_its_copy_of_a_budget_without_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operating system copies it without pickling: two processes would each have all of it."""
    alone, shared = refdp.PrivacyBudget(1.0), refdp.PrivacyBudget(1.0, file=tmp_path / "budget.json")
    there = os.getpid() + 1
    monkeypatch.setattr("os.getpid", lambda: there)
    x, y = records()
    refused = model(budget=alone)
    with pytest.raises(InvalidParameter, match="forked"):
        refused.fit(x, y)
    assert not hasattr(refused, "model_")
    with pytest.raises(InvalidParameter, match="forked"):
        alone.spent()
    shared.charge_known(0.5, 0.0)
    assert shared.spent() == 0.5


def test_a_fit_that_fails_halfway_stays_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = refdp.PrivacyBudget(1.0)
    failing = model(budget=budget)
    monkeypatch.setattr("refdp.papers.dpboost.train", lambda *_: 1 / 0)
    monkeypatch.setattr("refdp.ledger.certificate.running", lambda *_: "")  # it would tell of that
    with pytest.raises(ZeroDivisionError):
        failing.fit(*records())
    assert budget.spent() == pytest.approx(0.4)
    assert not hasattr(failing, "model_")


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_a_plan_survives_its_file(paper: str) -> None:
    """With the sensitivities that the ledger proves, which a plan as published does not declare."""
    chosen = registry.paper(paper)
    for published in (False, True):
        params = chosen.params({"epsilon": 1.0, "relation": R}, as_published=published)
        plan = chosen.plan(params, SCHEMAS[0])
        read = plan_in(json.loads(json.dumps(plan_out(plan))))
        assert expand(read.event) == expand(proved(plan.event, R))


@pytest.mark.filterwarnings("error::refdp.errors.RepeatedFitWarning")
def test_fits_are_charged_and_refused() -> None:
    budget = refdp.PrivacyBudget(1.0)
    x, y = records()
    for _ in range(2):
        model(budget=budget).fit(x, y)
    assert budget.spent() == pytest.approx(0.8)
    refused = model(budget=budget)
    with pytest.raises(BudgetExceeded, match="dpboost"):
        refused.fit(x, y)
    assert not hasattr(refused, "model_")
    small = model(budget=budget.on("half"), epsilon=0.2).fit(x, y)
    assert small.certificate_.established.epsilon == pytest.approx(0.2)
    assert budget.spent() == pytest.approx(1.0)


def test_cross_validation_and_grid_search_charge_what_they_use() -> None:
    x, y = records()
    budget = refdp.PrivacyBudget(10.0)
    cross_val_score(model(budget=budget), x, y, cv=3, error_score="raise")
    assert budget.spent() == pytest.approx(1.2)
    GridSearchCV(model(budget=budget), {"depth": [1, 2]}, cv=2, error_score="raise").fit(x, y)
    assert budget.spent() == pytest.approx(1.2 + 0.4 * 5)  # two settings on two parts, and the best on all
    with pytest.raises(BudgetExceeded):
        cross_val_score(model(budget=refdp.PrivacyBudget(1.0)), x, y, cv=3, error_score="raise")


@pytest.mark.filterwarnings("ignore:the bounds of:refdp.errors.PrivacyWarning")
def test_runs_without_a_guarantee_cannot_be_charged() -> None:
    x, y = records()
    for changes in ({"bounds": None}, {"scheme": "np"}, {"as_published": True}):
        budget = refdp.PrivacyBudget(100.0)
        with pytest.raises(InvalidParameter, match="nothing is established"):
            model(budget=budget, **changes).fit(x, y)
        assert not budget.entries
    with pytest.raises(InvalidParameter, match="PrivacyBudget"):
        model(budget=1.0).fit(x, y)


@pytest.mark.filterwarnings("always::refdp.errors.RepeatedFitWarning")
def test_a_second_fit_on_the_same_objects_warns_without_a_budget() -> None:
    x, y = records()
    model().fit(x, y)
    with pytest.warns(RepeatedFitWarning, match="budget="):
        model().fit(x, y)


# --- Whoever wants to spend more than there is ------------------------------------------------------------------------


def test_another_working_directory_is_the_same_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    budget = refdp.PrivacyBudget(1.0, file="budget.json")
    budget.charge(laplace(1 / 0.6))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    for one in (budget, pickle.loads(pickle.dumps(budget))):
        with pytest.raises(BudgetExceeded):
            one.charge(laplace(1 / 0.6))
    assert not list((tmp_path / "other").iterdir())


def test_a_file_that_lost_charges_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "budget.json"
    budget = refdp.PrivacyBudget(1.0, file=path)
    empty = path.read_text()
    budget.charge(laplace(1 / 0.6))
    sent = pickle.dumps(budget)
    path.write_text(empty)
    with pytest.raises(InvalidParameter, match="charges that were there are gone"):
        budget.charge(laplace(1 / 0.6))
    path.unlink()
    with pytest.raises(InvalidParameter, match="it is gone, and with it what was spent"):
        pickle.loads(sent).spent()
    with pytest.raises(InvalidParameter, match="it is gone, and with it what was spent"):
        budget.charge(laplace(1 / 0.6))


def test_two_names_of_one_file_are_one_budget(tmp_path: Path) -> None:
    file, link = tmp_path / "budget.json", tmp_path / "link.json"
    link.symlink_to(file)  # before there is a file, too
    linked = refdp.PrivacyBudget(1.0, file=link)
    linked.charge_known(0.9, 0.0)
    with pytest.raises(BudgetExceeded):
        refdp.PrivacyBudget(1.0, file=file).charge_known(0.9, 0.0)
    os.link(file, tmp_path / "hard.json")
    for use in (linked.spent, lambda: refdp.PrivacyBudget(1.0, file=tmp_path / "hard.json")):
        with pytest.raises(InvalidParameter, match="hard link"):
            use()


def test_a_file_that_becomes_a_link_is_no_second_budget(tmp_path: Path) -> None:
    """It is moved, and its old name leads to it: a charge by that name put a file in the link's place."""
    old, moved = tmp_path / "budget.json", tmp_path / "shared" / "moved.json"
    moved.parent.mkdir()
    before = refdp.PrivacyBudget(1.0, file=old)
    before.charge_known(0.2, 0.0)
    old.rename(moved)
    old.symlink_to(moved)
    for use in (before.spent, lambda: before.charge_known(0.8, 0.0)):
        with pytest.raises(InvalidParameter, match="has become a symbolic link; make the budget anew"):
            use()
    anew = refdp.PrivacyBudget(1.0, file=old)
    sent = pickle.loads(pickle.dumps(before))  # opened where it is now
    anew.charge_known(0.8, 0.0)
    for other in (anew, sent, refdp.PrivacyBudget(1.0, file=moved)):
        assert other.spent() == pytest.approx(1.0)
        with pytest.raises(BudgetExceeded):
            other.charge_known(0.1, 0.0)
    assert old.is_symlink()


@pytest.mark.parametrize("damage", [{"epsilon": -5.0}, {"epsilon": math.nan}, {"delta": -0.5}], ids=str)
def test_charges_of_a_file_that_no_charge_makes_are_refused(tmp_path: Path, damage: dict[str, float]) -> None:
    file = tmp_path / "budget.json"
    refdp.PrivacyBudget(1.0, DELTA, file=file).charge_known(0.9, 0.0)
    data = json.loads(file.read_text())
    data["entries"][0] |= damage
    file.write_text(json.dumps(data))
    with pytest.raises(InvalidParameter, match="a charge below 0"):
        refdp.PrivacyBudget(1.0, DELTA, file=file)


def test_figures_stay_and_a_file_that_cannot_be_has_one_error(tmp_path: Path) -> None:
    budget = refdp.PrivacyBudget(1.0)
    for name, value in (("epsilon", 100.0), ("delta", 0.5), ("relation", Relation.REPLACE_ONE), ("file", tmp_path)):
        with pytest.raises(InvalidParameter, match=f"{name} of a budget stays as it is"):
            setattr(budget, name, value)
        with pytest.raises(InvalidParameter, match=f"{name} of a budget stays as it is"):
            delattr(budget, name)
    assert budget.epsilon == 1.0
    with pytest.raises(InvalidParameter, match="cannot be written: No such file or directory"):
        refdp.PrivacyBudget(1.0, file=tmp_path / "no" / "budget.json")


def test_the_same_records_under_two_names_warn() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random((20, 1)), np.arange(20) % 2
    budget = refdp.PrivacyBudget(4.0, 1e-4)
    public: dict[str, Any] = {"bounds": {0: (0, 1)}, "relation": "add-remove", "classes": [0, 1], "trees": 2}
    refdp.GroveClassifier(budget=budget.on("a"), **public).fit(x, y)
    with pytest.warns(RepeatedFitWarning, match="under the name 'a' of the same budget and now are under 'b'"):
        refdp.GroveClassifier(budget=budget.on("b"), **public).fit(x, y)


def test_what_others_spent_is_not_lost_with_the_file(tmp_path: Path) -> None:
    """Who has charged nothing yet would begin the file anew, or take a new one for the old one."""
    path = tmp_path / "budget.json"
    idle, other = (refdp.PrivacyBudget(1.0, file=path) for _ in range(2))
    sent = pickle.dumps(idle)
    other.charge_known(0.9, 0.0)
    path.unlink()
    for use in (lambda: idle.charge_known(0.9, 0.0), idle.spent):
        with pytest.raises(InvalidParameter, match="it is gone, and with it what was spent"):
            use()
    assert not path.exists()
    refdp.PrivacyBudget(1.0, file=path).charge_known(0.1, 0.0)
    for use in (lambda: idle.charge_known(0.9, 0.0), lambda: pickle.loads(sent).spent()):
        with pytest.raises(InvalidParameter, match="begun anew"):
            use()
    assert refdp.PrivacyBudget(1.0, file=path).spent() == pytest.approx(0.1)


def test_a_file_without_a_beginning_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "budget.json"
    refdp.PrivacyBudget(1.0, file=path).charge_known(0.5, 0.0)
    data = json.loads(path.read_text())
    del data["begun"]
    path.write_text(json.dumps(data))
    budget = refdp.PrivacyBudget(1.0, file=path)
    budget.charge_known(0.25, 0.0)
    assert pickle.loads(pickle.dumps(budget)).spent() == budget.spent() == pytest.approx(0.75)


def test_figures_about_other_neighbours_are_refused() -> None:
    """Under replace-one they may be twice as much."""
    budget = refdp.PrivacyBudget(1.0, relation="replace-one")
    for one in (budget, budget.on("a")):
        for relation in (R, "add-remove", "other"):
            with pytest.raises(InvalidParameter, match="the budget is about replace-one"):
                one.charge_known(0.1, 0.0, relation=relation)
        one.charge_known(0.1, 0.0, relation=Relation.REPLACE_ONE)
        one.charge_known(0.1, 0.0, relation="replace-one")
    assert budget.spent() == pytest.approx(0.4)


@pytest.mark.parametrize("damage", [
    {"scope": 0}, {"scope": True}, {"scope": []}, {"scope": {}}, {"scope": ""}, {"epsilon": 10**400},
    {"epsilon": "0.1"}, {"epsilon": False}, {"delta": None}, {"plan": []}, {"plan": {"relation": "add-remove"}},
], ids=str)  # fmt: skip
def test_a_damaged_file_has_one_error(tmp_path: Path, damage: dict[str, Any]) -> None:
    file = tmp_path / "budget.json"
    budget = refdp.PrivacyBudget(1.0, DELTA, file=file)
    budget.charge_known(0.1, 0.0, scope="a")
    budget.charge_known(0.1, 0.0, scope="b")
    whole = file.read_text()
    data = json.loads(whole)
    data["entries"][0] |= damage
    for text in (json.dumps(data), json.dumps(json.loads(whole) | {"entries": {}}), "[" * 100_000, whole[:-3], ""):
        file.write_text(text)
        with pytest.raises(InvalidParameter, match="budget file"):
            refdp.PrivacyBudget(1.0, DELTA, file=file)


def test_a_charge_that_cannot_be_written_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    budget = refdp.PrivacyBudget(1.0, file=tmp_path / "budget.json")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(InvalidParameter, match="cannot be written: No space left on device"):
            budget.charge_known(0.5, 0.0)
    assert budget.spent() == 0.0
    budget.charge_known(1.0, 0.0)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("method", ["poisson", "without-replacement"])
def test_a_charge_keeps_what_sensitivities_inside_samples_are_about(method: Any, relation: Relation) -> None:
    """The relation was forgotten, and what one record adds was charged as if it were all that a replacement changes."""
    for inner, rate, noise in itertools.product(Relation, (0.1, 1.0), (Gaussian(2.0), Laplace(2.0))):
        if method == "poisson" and relation is R and inner is not R:
            continue
        norm: Any = 2 if isinstance(noise, Gaussian) else 1
        release = Release("sums", noise, Sensitivity(1.0, norm, "account/declared", inner))
        plan = Plan(relation, Subsample(rate, Repeat(release, 3), method))
        budget = refdp.PrivacyBudget(100.0, DELTA, relation=relation)
        budget.charge(plan)
        assert budget.spent() == pytest.approx(account(plan, delta=DELTA).epsilon, rel=1e-9)
        assert plan_in(json.loads(json.dumps(plan_out(plan)))) == Plan(relation, folded(plan.event))


def pure_event(generator: np.random.Generator, relation: Relation, depth: int) -> Event:
    """Releases of a finite pure epsilon, nested at random: samples of either kind, blocks of fixed sizes or not."""
    kind = generator.integers(6) if depth else 0
    inner = [pure_event(generator, relation, depth - 1) for _ in range(generator.integers(1, 4) if kind else 0)]
    rate = float(generator.choice([0.1, 0.5, 0.9]))
    bound = float(generator.choice([0.5, 1.0, 3.0]))
    match kind:
        case 0 if generator.random() < 0.5:
            return Release("counts", Laplace(1.0), Sensitivity(bound, 1, "account/declared", relation))
        case 0:
            return Release("choice", Exponential(1.0), Sensitivity(bound, "range", "account/declared", relation))
        case 1:
            return Sequential(tuple(inner))
        case 2:
            return Repeat(inner[0], int(generator.integers(1, 4)))
        case 3:
            return Parallel(tuple(inner))
        case 4:
            return Partition((0.9 / len(inner),) * len(inner), tuple(inner), bool(generator.random() < 0.3))
    poisson = generator.random() < 0.7
    declared = relation if poisson and relation is R else Relation(generator.choice([*Relation]))
    fixed = poisson or relation is R or bool(generator.random() < 0.5)
    inner_event = pure_event(generator, declared, depth - 1)
    return Subsample(rate, inner_event, "poisson" if poisson else "without-replacement", fixed)


@pytest.mark.parametrize("relation", Relation)
def test_a_plan_costs_what_it_costs_in_a_file(relation: Relation) -> None:
    generator = np.random.default_rng(5)
    for _ in range(300):
        plan = Plan(relation, pure_event(generator, relation, 4))
        read = plan_in(json.loads(json.dumps(plan_out(plan))))
        assert pure_epsilon(read) == pytest.approx(pure_epsilon(plan), rel=1e-9), plan


def in_blocks(independent: bool) -> Plan:
    """Ten releases of epsilon 3, on blocks of a Poisson sample under replace-one."""
    each = Release("sums", Laplace(1.0), Sensitivity(3.0, 1, "account/declared", R))
    return Plan(Relation.REPLACE_ONE, Subsample(0.1, Partition((0.1,) * 10, (each,) * 10, independent)))


def test_blocks_of_fixed_sizes_are_charged_as_such(tmp_path: Path) -> None:
    """At most 1.17 is what blocks cost that every record falls into by itself; a plain instance of these costs 5.68."""
    budget = refdp.PrivacyBudget(100.0, relation="replace-one", file=tmp_path / "budget.json")
    budget.charge(in_blocks(False))
    assert 5.68 < budget.spent() == pytest.approx(pure_epsilon(in_blocks(False)), rel=1e-9)
    data = json.loads((tmp_path / "budget.json").read_text())
    data["entries"][0]["plan"]["event"]["of"]["independent"] = True
    (tmp_path / "budget.json").write_text(json.dumps(data))
    with pytest.raises(InvalidParameter, match="charges that were there are gone"):
        budget.spent()


@pytest.mark.parametrize("first", [True, False])
def test_what_a_plan_costs_at_least_is_not_that_of_an_equal_one_with_other_blocks(first: bool) -> None:
    each = Release("sums", Laplace(0.5), Sensitivity(1.0, 1, "account/declared", R))
    blocks = {one: Partition((0.5, 0.5), (each, each), one) for one in (True, False)}
    found = {one: least_epsilon(Plan(R, Subsample(0.25, blocks[one])), 1e-7) for one in (first, not first)}
    assert found == {True: pytest.approx(least_epsilon(Plan(R, Subsample(0.125, each)), 1e-7)), False: 0.0}


def test_a_file_that_forgot_it_is_read_as_the_dearer_one() -> None:
    inner = Release("sums", Gaussian(2.0), Sensitivity(1.0, 2, "account/declared", Relation.ADD_REMOVE))
    dear = Plan(Relation.REPLACE_ONE, Subsample(0.5, inner, "without-replacement"))
    data = plan_out(dear)
    del data["event"]["of"]["sensitivity"]["relation"]
    assert plan_in(data) == dear
    outside = plan_out(gaussian(2.0, Relation.REPLACE_ONE))
    del outside["event"]["sensitivity"]["relation"]
    assert plan_in(outside) == gaussian(2.0, Relation.REPLACE_ONE)
    for wrong in ("swap", None, 3):
        data["event"]["of"]["sensitivity"]["relation"] = wrong
        with pytest.raises(InvalidParameter, match="a plan as plain data"):
            plan_in(data)


@pytest.mark.parametrize("established", [
    (-100.0, 0.0), (0.5, -1.0), ("0", "0"), (math.nan, 0.0), (math.inf, 0.0), (0.5, 1.0), (True, 0.0), 0.5, (), (0.5,),
], ids=str)  # fmt: skip
def test_established_figures_outside_their_domain_are_refused(tmp_path: Path, established: Any) -> None:
    for file in (None, tmp_path / "budget.json"):
        budget = refdp.PrivacyBudget(100.0, 1e-3, file=file)
        with pytest.raises(InvalidParameter, match=r"epsilon|delta"):
            budget.charge(laplace(2.0), established=established)
        assert budget.spent() == 0.0 and not budget.entries


def test_a_plan_is_not_charged_less_than_it_costs(tmp_path: Path) -> None:
    """Neither by who charges it nor by who edits the file."""
    for number, (plan, delta) in enumerate([(laplace(2.0), 0.0), (gaussian(2.0), 1e-6)]):
        file = tmp_path / str(number)
        budget = refdp.PrivacyBudget(100.0, 1e-3, file=file)
        true = account(plan, delta=delta).epsilon
        for wrong in (0.0, 0.9 * true):
            with pytest.raises(InvalidParameter, match="the plan costs at least epsilon"):
                budget.charge(plan, established=(wrong, delta))
        budget.charge(plan, established=(true, delta))
        data = json.loads(file.read_text())
        data["entries"][0]["epsilon"] = 0.0
        file.write_text(json.dumps(data))
        with pytest.raises(InvalidParameter, match="a charge of epsilon 0 for a plan that costs at least"):
            refdp.PrivacyBudget(100.0, 1e-3, file=file)


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_what_a_plan_costs_at_least_is_more_than_nothing_and_no_more_than_is_established(paper: str) -> None:
    chosen = registry.paper(paper)
    params = chosen.params({"epsilon": 1.0, "relation": R}, as_published=False)
    found = chosen.certificate(params, SCHEMAS[0]).established
    plan = plan_in(plan_out(chosen.plan(params, SCHEMAS[0])))
    assert 0.01 < least_epsilon(plan, found.delta) <= found.epsilon * (1 + 1e-9)


def test_a_budget_in_memory_needs_no_locks_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no fcntl, as on Windows."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert refdp.PrivacyBudget(1.0, 1e-5).spent() == 0.0


@pytest.mark.parametrize("name", [3, np.float64(3), None, b"name"], ids=repr)
def test_a_charge_has_a_text_as_its_name(tmp_path: Path, name: Any) -> None:
    """A file gave another one back, and was taken for one that lost charges."""
    budget = refdp.PrivacyBudget(1.0, file=tmp_path / "budget.json")
    for charge in (lambda: budget.charge(laplace(2.0), name=name), lambda: budget.charge_known(0.1, 0.0, name=name)):
        with pytest.raises(InvalidParameter, match=r"name = .*: a text is allowed"):
            charge()
    assert budget.spent() == 0.0


def test_a_budget_without_a_delta_says_how_to_give_one() -> None:
    budget = refdp.PrivacyBudget(5)
    with pytest.raises(BudgetExceeded, match=r"sums has no finite .* without a delta.*PrivacyBudget\(5, delta=1e-5\)"):
        budget.charge(gaussian(2.0), name="sums")
    assert budget.spent() == 0.0


def test_a_deleted_lock_file_loses_no_charge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one waits for it, and while one has it: nobody else is inside, and nothing is overwritten."""
    file, lock = tmp_path / "budget.json", tmp_path / "budget.json.lock"
    first, second = (refdp.PrivacyBudget(1.0, file=file) for _ in range(2))
    other = threading.Thread(target=lambda: second.charge_known(0.25, 0.0))
    cost = type(first)._cost

    def slow(self: Any, *given: Any) -> float:
        if self is first and lock.exists():
            lock.unlink()
            other.start()
            other.join(0.3)
            assert other.is_alive()
        return cost(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(type(first), "_cost", slow)
        first.charge_known(0.5, 0.0)
        other.join(5)
    assert first.spent() == second.spent() == refdp.PrivacyBudget(1.0, file=file).spent() == 0.75
    assert {one.name for one in tmp_path.iterdir()} == {file.name, lock.name}


def test_a_lock_that_was_exchanged_before_it_was_taken_is_taken_anew(tmp_path: Path) -> None:
    file, name = tmp_path / "budget.json", tmp_path / "budget.json.lock"
    lock, other, inside = budget_lock.Lock(file), budget_lock.Lock(file), threading.Event()

    def enter() -> None:
        with other.held():
            inside.set()

    waiting = threading.Thread(target=enter)
    with lock.held():
        waiting.start()
        assert not inside.wait(0.2)
        name.unlink()
        later = budget_lock.Lock(file)
    with later.held():
        assert inside.wait(0.2) or waiting.is_alive()
        assert os.stat(name).st_ino == os.fstat(later._open[0].fileno()).st_ino
    waiting.join(5)
    assert inside.is_set() and lock._open == other._open == []


def _spent(budget: Any, told: Any) -> None:
    told.put(budget.spent())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks where there are threads: what this is about
def test_a_fork_while_another_thread_charges_goes_on(tmp_path: Path) -> None:
    budget = refdp.PrivacyBudget(1.0, file=tmp_path / "budget.json")
    budget.charge_known(0.5, 0.0)
    inside, leave = threading.Event(), threading.Event()

    def charge() -> None:
        with budget._held():
            inside.set()
            leave.wait(20)

    thread = threading.Thread(target=charge)
    thread.start()
    inside.wait(5)
    fork = multiprocessing.get_context("fork")
    told = fork.Queue()
    child = fork.Process(target=_spent, args=(budget, told))
    child.start()
    leave.set()
    try:
        assert told.get(timeout=10) == 0.5
        budget.charge_known(0.25, 0.0)  # what the fork has open holds nothing up
    finally:
        child.kill()
        child.join()
        thread.join(5)


def test_an_interrupt_while_the_file_is_written_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The charge was kept in memory and was not in the file, which was then taken for one that lost charges."""
    budget = refdp.PrivacyBudget(1.0, file=tmp_path / "budget.json")

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            budget.charge_known(0.5, 0.0)
    assert budget.spent() == 0.0
    assert len(list(tmp_path.iterdir())) == 2  # the budget and its lock: nothing half written
    budget.charge_known(1.0, 0.0)


# --- Estimators that are saved ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", [None, "north"])
def test_a_fitted_estimator_is_saved_without_the_charges_of_a_budget_in_memory(scope: str | None) -> None:
    x, y = records()
    whole = refdp.PrivacyBudget(1.0)
    given: Any = whole if scope is None else whole.on(scope)
    fitted = model(budget=given).fit(x, y)
    loaded = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(fitted))))
    assert (loaded.predict(x) == fitted.predict(x)).all()
    for again in (loaded, clone(loaded), copy.deepcopy(loaded)):
        with pytest.raises(InvalidParameter, match="in the memory of the process that fitted the estimator"):
            again.fit(x, y)
    with pytest.raises(InvalidParameter, match="in the memory"):
        getattr(loaded.budget, "budget", loaded.budget).spent()
    assert whole.spent() == pytest.approx(0.4) and fitted.budget is given
    for here in (copy.copy(fitted), copy.deepcopy(fitted)):
        assert getattr(here.budget, "budget", here.budget) is whole
    with pytest.raises(TypeError, match="file="):  # an unfitted one goes to workers, who would each spend it
        pickle.dumps(clone(fitted))


def test_a_fitted_estimator_predicts_where_its_budget_is_not(tmp_path: Path) -> None:
    x, y = records()
    file = tmp_path / "budget.json"
    fitted = model(budget=refdp.PrivacyBudget(1.0, file=file)).fit(x, y)
    saved = pickle.dumps(fitted)
    again = pickle.loads(saved).fit(x, y)
    assert again.budget.spent() == fitted.budget.spent() == pytest.approx(0.8)
    file.unlink()
    loaded = pickle.loads(saved)
    assert (loaded.predict(x) == fitted.predict(x)).all()
    with pytest.raises(InvalidParameter, match="it is gone, and with it what was spent"):
        loaded.fit(x, y)
    assert not file.exists() and (loaded.predict(x) == fitted.predict(x)).all()


def test_numbers_of_numpy_are_numbers() -> None:
    budget = refdp.PrivacyBudget(np.int64(1), np.float32(0.25))  # type: ignore[arg-type]
    assert (budget.epsilon, budget.delta) == (1.0, 0.25) and type(budget.epsilon) is type(budget.delta) is float
    budget.charge_known(np.float32(0.5), np.int8(0))  # type: ignore[arg-type]
    assert budget.spent() == 0.5
    for wrong in (np.bool_(True), np.array(1.0), np.float32("inf"), np.datetime64(1, "s")):
        with pytest.raises(InvalidParameter, match="epsilon = "):
            refdp.PrivacyBudget(wrong)  # type: ignore[arg-type]
        with pytest.raises(InvalidParameter, match="epsilon = "):
            budget.charge_known(wrong, 0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_a_charge_keeps_the_files_mode(tmp_path: Path, mode: int) -> None:
    budget = refdp.PrivacyBudget(2.0, file=tmp_path / "budget.json")
    (tmp_path / "budget.json").chmod(mode)
    budget.charge(laplace(2.0))
    assert stat.S_IMODE((tmp_path / "budget.json").stat().st_mode) == mode


def test_what_the_caller_would_have_of_underflow_stops_no_charge() -> None:
    with np.errstate(all="raise"):
        budget = refdp.PrivacyBudget(3.0, DELTA)
        for _ in range(2):
            budget.charge(gaussian(10.0))
        assert budget.spent() > 0


@pytest.mark.parametrize("kind", [refdp.DPBoostClassifier, refdp.InPrivateClassifier])
def test_an_epsilon_that_protects_nobody_is_charged_too(kind: Any) -> None:
    public: dict[str, Any] = {"relation": "add-remove", "bounds": {0: (0, 1), 1: (0, 1)}, "classes": [0, 1]}
    budget = refdp.PrivacyBudget(1e10, 1e-2)
    kind(epsilon=1e9, budget=budget, **public).fit(*records())
    assert 0.99e9 < budget.spent() <= 1e9


def test_what_is_asked_is_not_taken(tmp_path: Path) -> None:
    for file in (None, tmp_path / "asked.json"):
        budget = refdp.PrivacyBudget(1.0, delta=DELTA, relation="add-remove", file=file)
        for asked in (budget.check, budget.on("some").check):
            asked(gaussian(10.0), name="sums")
            with pytest.raises(BudgetExceeded, match="sums would bring epsilon to"):
                asked(gaussian(0.1), name="sums")
            with pytest.raises(InvalidParameter, match="a plan about replace-one neighbours"):
                asked(gaussian(10.0, Relation.REPLACE_ONE))
        assert budget.entries == () and budget.spent() == 0.0
