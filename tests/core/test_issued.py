"""What each trainer's certificate is made of, with plans and accounts replaced by notes of how they were asked for."""

from __future__ import annotations

import copy
import importlib
import math
import pickle
import subprocess
import sys
from dataclasses import fields, replace
from enum import IntEnum, StrEnum
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema, make_records
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.ledger.certificate import Guarantee, issue
from refdp.ledger.proved import stranger
from refdp.own import grove
from refdp.papers import dpxgboost, fedgbdt, inprivate
from refdp.privacy.events import Relation
from refdp.protocols import owners
from refdp.protocols.quality import Control

SCHEMA = Schema((Numeric("a", 0, 1), Numeric("b", 0, 1), Numeric("c", 0, 1), Categorical("d", ("x", "y"))),
                Classes((0, 1)))  # fmt: skip
AR, RO = Relation.ADD_REMOVE, Relation.REPLACE_ONE


def issued(monkeypatch: pytest.MonkeyPatch, name: str, given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments that a certificate is issued with."""
    module = importlib.import_module(registry.paper(name).module.__name__)
    found: list[Any] = []
    monkeypatch.setattr(module, "plan", lambda params, schema, *more, proved=False: ("plan", schema, proved))
    monkeypatch.setattr(module, "issue", lambda *given, **more: found.append((given, more)) or "issued")
    if hasattr(module, "account"):
        monkeypatch.setattr(module, "account", accounted)
    if hasattr(module, "filtered_epsilon"):
        monkeypatch.setattr(module, "filtered_epsilon", lambda params, schema: 0.75)
        monkeypatch.setattr(module, "_remark", lambda params, schema: "REMARK")
    params = module.Params(epsilon=2.0, **given)
    assert module.certificate(params, SCHEMA) == "issued"
    ((positional, more),) = found
    return list(positional), more | {"asked": params}


ASKED: list[Any] = []


def accounted(plan: Any, *, delta: float, quick: bool) -> Any:
    """Stands for an account."""
    ASKED.append((plan, delta, quick))
    return SimpleNamespace(epsilon=0.25, methods={"exact": 0.25, "other": 3.0})


@pytest.mark.parametrize("name", ["dpboost", "inprivate", "dpxgboost", "fedgbdt", "sgbdt", "grove"])
@pytest.mark.parametrize("noise", ["discrete", "floating"])
def test_what_is_claimed_is_established_by_the_proved_plan(
    name: str, noise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claimed first, then the plan as it is declared, then as it is proved; the account is that of the proved one."""
    ASKED.clear()
    more = {"delta": 1e-6} if name in ("fedgbdt", "sgbdt", "grove") else {}
    (paper, claimed, declared, proved, *_), given = issued(monkeypatch, name, {"relation": AR, "noise": noise} | more)
    assert paper == name and (claimed.epsilon, claimed.delta) == (2.0, more.get("delta", 0.0))
    assert declared == ("plan", SCHEMA, False) and proved == ("plan", SCHEMA, True)
    assert given["schema"] is SCHEMA and given.get("params", given["asked"]) is given["asked"]
    assert given.get("rests_on")
    if name in ("fedgbdt", "grove"):
        (asked,) = ASKED
        assert asked == (("plan", SCHEMA, True), 1e-6, noise == "discrete") and given["established"] == 0.25
    if name == "fedgbdt":
        assert given["remarks"] == ("established at delta 1e-06: exact Gaussian composition gives epsilon 0.25",)
    if name == "sgbdt":
        assert given["established"] == (0.75 if noise == "discrete" else None) and given["remarks"] == ()
        assert ("sgbdt/discrete-subsampled" in given["rests_on"]) is (noise == "discrete")
        assert not {"sgbdt/individual", "sgbdt/filter"} & set(given["rests_on"])


@pytest.mark.parametrize("extra", [0, 1, 5])
def test_extra_rounds_are_established_by_the_filter(extra: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"relation": AR, "noise": "floating", "extra_trees": extra}
    _, more = issued(monkeypatch, "sgbdt", given)
    assert more["established"] == (0.75 if extra else None) and more["remarks"] == (("REMARK",) if extra else ())
    assert ({"sgbdt/individual", "sgbdt/filter"} <= set(more["rests_on"])) is bool(extra)


@pytest.mark.parametrize("name", ["dpboost", "inprivate"])
def test_without_privacy_nothing_is_claimed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [issued(monkeypatch, name, {"relation": AR, "scheme": scheme})[0][1] for scheme in ("np", name)]
    assert [claimed.epsilon for claimed in claims] == [math.inf, 2.0]


def test_what_a_guarantee_of_dpxgboost_needs() -> None:
    """A claim for everything that is switched on, of the relation, and for nothing else."""
    plain: dict[str, Any] = {"epsilon": 1.0, "relation": AR, "gradients": "clip", "missing": "left", "gain": "count",
                             "subsample": 1.0, "loss": "square"}  # fmt: skip
    always = {"dpxgboost/budget", "dpxgboost/run"}
    assert set(dpxgboost.rests_on(dpxgboost.Params(**plain))) == always
    for setting, claim in (({"gradients": "filter"}, "gradient-filter"), ({"missing": "learned"}, "default-direction"),
                           ({"gain": "newton", "loss": "log"}, "clip-ratio"),
                           ({"subsample": 0.5}, "subsampling-poisson")):  # fmt: skip
        found = dpxgboost.rests_on(dpxgboost.Params(**(plain | setting)))
        assert set(found) == always | {f"dpxgboost/{claim}"}, setting
    swapped = dpxgboost.rests_on(dpxgboost.Params(**(plain | {"relation": RO, "subsample": 0.5})))
    assert set(swapped) == {"dpxgboost/budget", "dpxgboost/run-replace-one", "dpxgboost/subsampling-replace-one"}


# --- Numbers of features and names of releases ------------------------------------------------------------------------


def test_features_of_a_tree_and_of_a_sketch() -> None:
    """The rounded share, one at least and all at most; a sketch for the run is about all numeric ones."""
    for columns, due in ((1e-3, [1, 1, 1, 1]), (0.5, [1, 1, 2, 2]), (0.75, [1, 2, 2, 3]), (1.0, [1, 2, 3, 4])):
        params = dpxgboost.Params(epsilon=1.0, relation=AR, columns=columns)
        assert [params.drawn(features) for features in (1, 2, 3, 4)] == due
    for per, due in (("tree", 2), ("run", 3)):
        given: Any = {"epsilon": 1.0, "relation": AR, "columns": 0.6, "sketch_per": per, "candidates": "sketch"}
        try:
            params = dpxgboost.Params(**given)
        except Exception:
            params = dpxgboost.Params(**(given | {"delta": 1e-6}))
        assert params.sketch_size(SCHEMA) == due
    for leaf, padding in (("minimum", 7), ("laplace", 0), ("average", 0)):
        assert dpxgboost.Params(epsilon=1.0, relation=AR, leaf=leaf, child_minimum=7).padding == padding  # type: ignore[arg-type]


@pytest.mark.parametrize("features", [[1], [0, 2], [0, 1, 2]])
def test_histograms_have_one_name_each(features: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A single one serves all levels; of several each is of its level, in the order of the features."""
    told: list[Any] = []
    bins = [np.full(3, float(f)) for f in features]
    monkeypatch.setattr(fedgbdt, "values", lambda sums: ("values", sums))
    population: Any = SimpleNamespace(ask=lambda query: type(query).__name__)
    curator: Any = SimpleNamespace(release=lambda *given: told.append(given) or given[0])
    candidates: Any = SimpleNamespace(apart=lambda given, own: bins if (given, own) == (("values", "Bins"), features)
                                      else [])  # fmt: skip
    charged: Any = object()
    found = fedgbdt.histograms(3, candidates, features, charged, population, curator)
    names = ["histogram"] if len(features) == 1 else [f"histogram {i} of level 3" for i in range(len(features))]
    assert found == names == [name for name, _, _ in told]
    assert all(one is charged for _, one, _ in told) and all(
        own is due for (*_, own), due in zip(told, bins, strict=True)
    )


class Less(grove.Params):
    def joint_norm(self, schema: Schema, a: float) -> float:
        return super().joint_norm(schema, a) / 1000


class Wide(Schema):
    def label(self, output: int, y: Any) -> Any:
        return super().label(output, y) * 1000


class Far(Numeric):
    """A feature of somebody else."""


class Other(StrEnum):
    ADD_REMOVE = "add-remove"


def of_own() -> grove.Params:
    made = grove.Params(1.0, AR, trees=2)
    object.__setattr__(made, "joint_norm", lambda schema, a: 0.001)
    return made


def related() -> grove.Params:
    made = grove.Params(1.0, AR, trees=2)
    object.__setattr__(made, "relation", Other.ADD_REMOVE)
    return made


TWO = (Numeric("a", 0, 1),), Classes((0, 1))
PLAIN = grove.Params(1.0, AR, trees=2)


@pytest.mark.parametrize(
    ("params", "schema", "told"),
    [(Less(1.0, AR, trees=2), Schema(*TWO), "params, a tests.core.test_issued.Less"),
     (of_own(), Schema(*TWO), "params.joint_norm"),
     (related(), Schema(*TWO), "params.relation, a tests.core.test_issued.Other"),
     (PLAIN, Wide(*TWO), "schema, a tests.core.test_issued.Wide"),
     (PLAIN, Schema((Far("a", 0, 1),), Classes((0, 1))), "schema.features[0], a tests.core.test_issued.Far")],
)  # fmt: skip
def test_nothing_is_established_for_settings_or_a_schema_of_somebody_else(params: Any, schema: Any, told: str) -> None:
    """Their bounds are their own, which the claims that they name say nothing about."""
    assert stranger(params, schema) == told
    honest = grove.certificate(PLAIN, Schema(*TWO))
    found = issue("grove", Guarantee(1.0, 1e-5), grove.plan(PLAIN, Schema(*TWO)), grove.plan(PLAIN, Schema(*TWO)),
                  schema=schema, params=params, established=1.0)  # fmt: skip
    assert math.isinf(found.established.epsilon) and f"nothing is established: {told}" in "".join(found.notes)
    assert "nothing is established" not in "".join(honest.notes)


@pytest.mark.parametrize("name", [*registry.PAPERS, *registry.OWN])
def test_refdps_own_settings_are_nobody_elses(name: str) -> None:
    own = registry.paper(name)
    for printed in (False, True) if name in registry.PAPERS else (False,):
        assert stranger(own.params({"epsilon": 1.0, "relation": AR}, as_published=printed), SCHEMA) == ""
    assert stranger(None, SCHEMA) == ""


def forced(described: Any, **values: Any) -> Any:
    """With values past its class, in a copy of an unpickled one, which its class is not asked about either."""
    for name, value in values.items():
        object.__setattr__(described, name, value)
    return copy.deepcopy(pickle.loads(pickle.dumps(described)))


@pytest.mark.parametrize("name", [*registry.PAPERS, *registry.OWN])
def test_settings_that_their_class_refuses_are_told(name: str) -> None:
    """Claims hold within the domains that classes look at."""
    own = registry.paper(name).params({"epsilon": 1.0, "relation": AR}, as_published=False)
    tried = 0
    for field, value in product([one.name for one in fields(own)], (-0.999, "bogus", math.nan, 0, np.float64(0.5))):
        try:
            made = replace(own, **{field: value})
        except InvalidParameter:
            tried += 1
            found = stranger(forced(replace(own), **{field: value}), SCHEMA)
            assert found.startswith("params, which its class refuses")
        else:
            assert stranger(made, SCHEMA) == stranger(forced(made), SCHEMA) == ""
    assert tried > 2 * len(fields(own))


@pytest.mark.parametrize(
    ("described", "told"),
    [(forced(Schema(*TWO), target=forced(Interval(0, 1), low=2.0)), "schema.target, which its class refuses (label"),
     (forced(Schema(*TWO), target=forced(Classes((0, 1)), values=(1,))), "schema.target, which its class refuses"),
     (forced(Schema(*TWO), features=()), "schema, which its class refuses (feature names []"),
     (forced(Schema(*TWO), features=TWO[0] * 2), "schema, which its class refuses (feature names ['a', 'a']"),
     (forced(Schema(*TWO), features=(forced(Numeric("a", 0, 1), high=math.inf),)), "schema.features[0], which its"),
     (forced(Schema(*TWO), features=(forced(Numeric("a", 0, 1), high=2),)), "schema.features[0].high"),
     (forced(Control(), tolerance=-1.0), "control, which its class refuses (tolerance = -1.0")],
)  # fmt: skip
def test_what_its_class_refuses_or_makes_another_of_is_told(described: Any, told: str) -> None:
    is_schema = isinstance(described, Schema)
    found = stranger(PLAIN, described if is_schema else Schema(*TWO), control=None if is_schema else described)
    assert found.startswith(told)
    if is_schema:
        plans = [grove.plan(PLAIN, Schema(*TWO))] * 2
        made = issue("grove", Guarantee(1.0, 1e-5), *plans, schema=described, params=PLAIN, established=1.0)
        assert math.isinf(made.established.epsilon) and f"nothing is established: {told}" in "".join(made.notes)


class Quiet(inprivate.Params):
    def leaf_sensitivity(self, schema: Schema) -> Any:
        return replace(super().leaf_sensitivity(schema), bound=1e-3)


def test_nothing_is_established_among_owners_for_settings_of_somebody_else() -> None:
    """Their certificate compares settings as one curator's does; that one's proofs it does not cite."""
    own = inprivate.Params(1.0, AR)
    for certificate in (inprivate.certificate, owners.certificate):
        assert certificate(own, Schema(*TWO)).established.epsilon == pytest.approx(1.0)
        found = certificate(Quiet(1.0, AR), Schema(*TWO))
        assert math.isinf(found.established.epsilon) and "test_issued.Quiet" in "".join(found.notes)
    assert owners.certificate(own, Schema(*TWO)).proofs == () != inprivate.certificate(own, Schema(*TWO)).proofs


class Less(Control):
    """Declares a thousandth of what a check can change by."""

    def release(self, name: Any, params: Any) -> Any:
        found = super().release(name, params)
        return replace(found, sensitivity=replace(found.sensitivity, bound=1e-3))


def quieter() -> Control:
    found = Control()
    object.__setattr__(found, "release", Less().release)
    return found


PUBLIC = make_records(Schema(*TWO), np.array([[0.5]]), np.array([1.0]))


@pytest.mark.parametrize(
    ("control", "told"),
    [(Control(), ""), (Control(0.1, 0.0, np.float64(2.0)), ""), (Control(public=PUBLIC), ""), (None, ""),
     (Less(), "control, a tests.core.test_issued.Less"), (quieter(), "control.release"),
     (Less(public=PUBLIC), "control, a tests.core.test_issued.Less")],
)  # fmt: skip
def test_nothing_is_established_among_owners_who_measure_by_a_text_of_somebody_else(control: Any, told: str) -> None:
    """What checks and advances release is part of the plan, and what they declare is the control's word."""
    found = owners.certificate(inprivate.Params(1.0, AR), Schema(*TWO), control)
    assert stranger(None, None, control=control) == told
    assert math.isinf(found.established.epsilon) is bool(told)
    assert (f"nothing is established: {told}" in "".join(found.notes)) is bool(told)


OWNERS = """
from refdp.data.records import Classes, Numeric, Schema
from refdp.papers import inprivate
from refdp.privacy.events import Relation
from refdp.protocols import owners, quality
def given(*_, **__): ...
setattr({place})
found = owners.certificate(inprivate.Params(1.0, Relation.ADD_REMOVE), Schema((Numeric("a", 0, 1),), Classes((0, 1))))
print(found.established.epsilon, *found.notes)
"""


@pytest.mark.parametrize(
    ("place", "told"),
    [('owners.Whole, "__call__", given', "owners.Whole.__call__"),
     ('quality, "advance_sensitivity", given', "quality.advance_sensitivity")],
)  # fmt: skip
def test_what_plans_for_owners_is_compared_where_no_estimator_is_loaded(place: str, told: str) -> None:
    found = subprocess.run([sys.executable, "-c", OWNERS.format(place=place)], capture_output=True, text=True)
    assert found.stdout.startswith("inf") and f"refdp.protocols.{told}" in found.stdout


def test_whoever_issues_says_whose_settings_they_are() -> None:
    plan = grove.plan(PLAIN, Schema(*TWO))
    with pytest.raises(TypeError, match="params"):
        issue("grove", Guarantee(1.0, 1e-5), plan, plan, schema=Schema(*TWO))  # type: ignore[call-arg]


class Letter(StrEnum):
    A = "a"
    B = "b"


class Digit(IntEnum):
    ZERO = 0
    ONE = 1


class Changing(str):
    """A text that is now one and now another."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError

    def __str__(self) -> str:
        raise AssertionError

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    "names",
    [tuple(np.unique(["a", "b"])), tuple(np.unique([0, 1])), tuple(np.unique([False, True])), tuple(Letter),
     tuple(np.float32([0.5, 1.5])), tuple(Digit), [Changing("a"), "b"]],
)  # fmt: skip
def test_names_and_classes_are_kept_as_pythons_own(names: Any) -> None:
    """As a table, or an enumeration, has them; numpy's would be nobody's in refdp, and establish nothing."""
    given = Numeric(names[0], 0, 1), Categorical(names[1], names)
    schema = Schema(given, Classes(names))
    kept = *schema.names, *given[1].categories, *schema.target.values  # type: ignore[union-attr]
    assert {type(one) for one in kept} <= {bool, int, float, str} and kept[1:] == (kept[1], *kept[:2], *kept[:2])
    assert type(given[1].categories) is type(names) and stranger(PLAIN, schema) == ""
    assert repr(kept[0]) in ("'a'", "0", "False", "0.5")
