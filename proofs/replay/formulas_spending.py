"""What releases and records may spend: DP-XGBoost's budget, the federated framework's queries, S-GBDT's filter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from proofs.replay.formula import REGRESSION, Formula, call, module, of, schema
from proofs.replay.printed import Printed, shown
from refdp.noise import calibration
from refdp.privacy.events import Relation


def _written(text: str) -> Any:
    """A function of one number, "{}" in its text."""
    return lambda number: Printed(text.replace("{}", shown(number)))


_FUNCTIONS = SimpleNamespace(
    sqrt=_written("(sqrt {})"), log=_written("(ln {})"), log1p=_written("(ln (1 + {}))"), expm1=_written("(exp {} - 1)")
)


def with_names(owner: Any, names: dict[str, Any], run: Any) -> Any:
    """What a function returns while names of a module are others."""
    with ExitStack() as stack:
        for name, value in names.items():
            stack.enter_context(patch.object(owner, name, value, create=True))
        return run()


# --- DP-XGBoost, section 4.4 ------------------------------------------------------------------------------------------


def of_dpxgboost() -> Iterator[Formula]:
    """A score's share of epsilon, a tree's share of that, what it may cost on a sample, and its parts."""
    plain = {"total_epsilon": lambda params, _: params.epsilon, "before_sampling": lambda e, _: e,
             "tree_budget": lambda e, *_: e}  # fmt: skip

    def share(e: Any, k: Any, s: Any) -> Any:
        paper = module("dpxgboost")
        names = plain | {"geometric": lambda *_: [s]}
        params = of("dpxgboost", Relation.ADD_REMOVE, epsilon=e, candidates="uniform", trees=1, depth=1)
        return with_names(paper, names, lambda: paper.budget_of(params, schema(REGRESSION, k)).trees[0])

    yield Formula("dpxgboost_tree_share", "dpxgboost:budget_of", "e k s", share, "forall e k s, {it} e k s = e / k * s")

    def sampled(e: Any, q: Any) -> Any:
        names = {"numbers": _FUNCTIONS, "float": lambda value: value}
        return with_names(calibration, names, lambda: call("dpxgboost:before_sampling")(e, q))

    yield Formula(
        "dpxgboost_before_sampling", "dpxgboost:before_sampling", "e q", sampled,
        "forall e q, 0 <= e < 500 -> 0 < q -> amplified q ({it} e q) = e", "leR",
        "destruct (Rle_dec 500 e); [lra|apply DPXGBoost.amplified_inverse; lra]",
    )  # fmt: skip

    parts = "e a b c"
    for name in ("sketch", "splits", "leaves"):

        def part(e: Any, a: Any, b: Any, c: Any, *more: Any, name: str = name) -> Any:
            parts = {"sketch": a, "splits": b, "leaves": c, "counts": 0.0}
            found = getattr(module("dpxgboost").tree_budget(e, parts, list(more)), name)
            return found[0] if more else found

        own = {"sketch": "a", "splits": "b", "leaves": "c"}[name]
        given = parts + " s" if name == "splits" else parts
        yield Formula(
            f"dpxgboost_tree_{name}", "dpxgboost:tree_budget", given, part,
            f"forall {given}, {{it}} {given} = e / (a + b + c) * {own}" + " * s" * (name == "splits"),
        )  # fmt: skip
    yield Formula(
        "dpxgboost_tree_whole", "dpxgboost:tree_budget", parts,
        lambda e, a, b, c: module("dpxgboost").tree_budget(
            e, {"sketch": a, "splits": b, "leaves": c, "counts": 0.0}, [1]
        ).leaves,
        "forall e a b c shares, a + b + c <> 0 -> sumR (fun s => s) shares = 1 -> "
        "DPXGBoost.plan_cost (DPXGBoost.Build_tree_plan (Some (dpxgboost_tree_sketch e a b c)) "
        "(map (dpxgboost_tree_splits e a b c) shares) ({it} e a b c)) = e",
        "DPXGBoost.plan_cost dpxgboost_tree_sketch",
        "cbn [DPXGBoost.sketch_eps DPXGBoost.level_eps DPXGBoost.leaf_eps]; rewrite sumR_map; "
        "rewrite (sumR_ext _ (fun s => s * (e / (a + b + c) * b))) by (intro; unfold dpxgboost_tree_splits; formula); "
        "rewrite sumR_times; match goal with H : sumR _ _ = 1 |- _ => rewrite H end; field; lra",
    )  # fmt: skip


# --- Maddock et al. 2022, Theorem 4.1 and Table 1 ---------------------------------------------------------------------


def of_fedgbdt() -> Iterator[Formula]:
    """What one query may cost, from the mu of all of them; the epsilon and delta of a score that this mu is of."""

    def asked(answer: Any, e: Any = 1.0, d: Any = 1e-6, k: Any = 1, queries: Any = 1) -> Any:
        paper = module("fedgbdt")
        params = of("fedgbdt", Relation.ADD_REMOVE, epsilon=e, delta=d)
        object.__setattr__(params, "queries", lambda _: queries)
        names = {"total_mu": answer, "math": _FUNCTIONS}
        return with_names(paper, names, lambda: params.query_mu(schema(REGRESSION, k)))

    yield Formula(
        "fedgbdt_query_mu", "fedgbdt:Params.query_mu", "m k", lambda m, k: asked(lambda *_: m, queries=k),
        "forall P (q : FedGBDT.query R) squared hessian m k, FedGBDT.both q = true -> 0 < m -> 0 < k -> 0 < squared -> "
        "FedGBDT.sums_deviation P = sqrt squared / {it} m k -> "
        "k * FedGBDT.query_cost P squared hessian q = m * m / 2", "FedGBDT.query_cost",
        "match goal with B : FedGBDT.both _ = true, D : FedGBDT.sums_deviation _ = _ |- _ => rewrite B, D end; "
        "apply queries_cost; assumption",
    )  # fmt: skip
    for name, number in (("epsilon", 0), ("delta", 1)):
        yield Formula(
            f"fedgbdt_score_{name}", "fedgbdt:Params.query_mu", "e k",
            lambda e, k, name=name, number=number: asked(
                lambda *given: _Kept(given[number]), k=k, **{name[0]: e}
            ),
            "forall e k, k <> 0 -> k * {it} e k = e", "", "field; assumption",
        )  # fmt: skip


class _Kept(Printed):
    """A number of which a quotient is the number: what follows is not asked about."""

    def __init__(self, number: Any) -> None:
        super().__init__(shown(number))

    def __truediv__(self, _: Any) -> Printed:
        return Printed(self.text)


# --- Kirschte, Peinemann et al. 2023: the individual filter -----------------------------------------------------------


def of_sgbdt() -> Iterator[Formula]:
    """What a record has spent after a round of a price, and whether it takes part."""

    def filtered(s: Any, a: Any, b: Any) -> tuple[Any, Any]:
        budget = SimpleNamespace(
            orders=(0,), spendable=np.array([b], dtype=object), charges=lambda _: np.array([[a]], dtype=object)
        )
        accounts = module("sgbdt").Accounts(budget)
        accounts._spent = np.array([[s]], dtype=object)
        room = accounts.charge(None)
        return accounts._spent[0, 0], bool(room[0])

    given = "(SGBDT.spent P y start ts k r) (SGBDT.price_at P y start (firstn k ts) r) (SGBDT.spendable P)"
    yield Formula(
        "sgbdt_spent", "sgbdt:Accounts.charge", "s a b", lambda s, a, b: filtered(s, a, b)[0],
        f"forall P y start ts k r, {{it}} {given} = SGBDT.spent P y start ts (S k) r", "",
        "cbn [SGBDT.spent]; rewrite Rplus_comm; cbv zeta; formula",
    )  # fmt: skip
    given = given.replace("(firstn k ts)", "ts").replace(" k ", " (length ts) ")
    yield Formula(
        "sgbdt_takes_part", "sgbdt:Accounts.charge", "s a b", lambda s, a, b: 1 if filtered(s, a, b)[1] else 0,
        f"forall P y start ts r, SGBDT.filters P = true -> {{it}} {given} = "
        "if SGBDT.takes_part P y start ts r then 1 else 0",
        "SGBDT.takes_part", "equations; cbn [negb orb]; rewrite Rplus_comm; formula",
    )  # fmt: skip
