"""Formulas of the federated framework and of S-GBDT, and what they are in the texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proofs.replay.formula import (
    CLASSES,
    REGRESSION,
    RELATIONS,
    Formula,
    call,
    column,
    contributed,
    module,
    of,
    plain,
    schema,
)
from refdp.privacy.events import Relation

# --- Maddock et al. 2022 ----------------------------------------------------------------------------------------------


def of_fedgbdt() -> Iterator[Formula]:
    """The federated framework."""
    for name, arguments in (("leaf_weight", "G h l"), ("released_leaf_weight", "G h l"), ("averaging_weight", "G h"),
                            ("update", "w b e")):  # fmt: skip
        more = " FedGBDT.leaf_weight" * (name == "released_leaf_weight") + " FedGBDT.half" * (
            name == "averaging_weight"
        )
        yield plain(f"fedgbdt:{name}", arguments, f"FedGBDT.{name} {arguments}", f"FedGBDT.{name}{more}")
    yield plain("fedgbdt:clip_gradient", "g c", "clip c g", "")
    yield plain("fedgbdt:log_hessian_of", "g", "Rabs g * (1 - Rabs g)", "")
    yield plain("fedgbdt:squared_norm", "g h", "g * g + h * h", "")
    for ending, (relation, _) in RELATIONS.items():
        bounds = {"": ("c * c + 1", "1"), "_replaced": ("Rmax (4 * (c * c)) (2 * (c * c + 1))", "4")}[ending]
        yield Formula(
            f"fedgbdt_gradient_squared{ending}", "fedgbdt:gradient_squared_sensitivity", "c",
            lambda c, relation=relation: call("fedgbdt:gradient_squared_sensitivity")(relation, c),
            f"forall c, {{it}} c = {bounds[0]}", "",
        )  # fmt: skip
        yield Formula(
            f"fedgbdt_newton_squared{ending}", "fedgbdt:newton_squared_sensitivity", "c",
            lambda c, relation=relation: call("fedgbdt:newton_squared_sensitivity")(relation, c),
            f"forall c, c = 1 -> {{it}} c = {bounds[1]}", "",
        )  # fmt: skip
    for update, target, method in (
        ("newton", CLASSES, "Newton"),
        ("averaging", CLASSES, "Forest"),
        ("averaging", REGRESSION, "Mean"),
    ):

        def leaf(b: Any, e: Any, lam: Any, G: Any, h: Any, update: str = update, target: Any = target) -> Any:
            params = of("fedgbdt", Relation.ADD_REMOVE, update=update, leaf_clip=b, shrinkage=e, regularisation=lam)
            return module("fedgbdt").leaf_values(params, schema(target), column(G, h)).item()

        yield Formula(
            f"fedgbdt_leaf_{method.lower()}", "fedgbdt:leaf_values", "b e l G h", leaf,
            f"forall P G h, FedGBDT.how P = FedGBDT.{method} -> {{it}} (FedGBDT.leaf_bound P) (FedGBDT.step_size P) "
            "(FedGBDT.penalty P) G h = FedGBDT.leaf_of P G h",
            "FedGBDT.leaf_of FedGBDT.update FedGBDT.released_leaf_weight FedGBDT.leaf_weight FedGBDT.averaging_weight "
            "FedGBDT.half",
        )  # fmt: skip

    yield Formula(
        "fedgbdt_gradient", "fedgbdt:Contribution.statistics", "c s y",
        lambda c, s, y: contributed(
            "fedgbdt", of("fedgbdt", Relation.ADD_REMOVE, gradient_bound=c), REGRESSION, s, y
        ).values["g"].item(),
        "forall c s y, {it} c s y = clip (grid_down c) (grid (sub s y))",
    )  # fmt: skip
    for which, says in (("g", "grid (/ (1 + exp (- s)) - y)"),
                        ("h", "let a := Rabs (/ (1 + exp (- s)) - y) in grid (a * (1 - a))")):  # fmt: skip
        yield Formula(
            f"fedgbdt_log_{which}", "fedgbdt:Contribution.statistics", "s y",
            lambda s, y, which=which: contributed(
                "fedgbdt", of("fedgbdt", Relation.ADD_REMOVE), CLASSES, s, y
            ).values[which],
            f"forall s y, {{it}} s y = {says}", "", "cbv zeta; formula",
        )  # fmt: skip


# --- Kirschte, Peinemann et al. 2023 ----------------------------------------------------------------------------------


def of_sgbdt() -> Iterator[Formula]:
    """S-GBDT."""

    def params(g: Any, h: Any, r: Any, s: Any) -> Any:
        given = of("sgbdt", Relation.ADD_REMOVE, support_weight=r)
        object.__setattr__(given, "bounds", lambda _: (g, h))
        object.__setattr__(given, "sigma_squared", lambda _: s)
        return given

    settings = "(SGBDT.g_star P) (SGBDT.h_star P) (SGBDT.r_1 P) (SGBDT.sigma_squared P)"
    yield Formula(
        "sgbdt_cost", "sgbdt:Contribution.cost", "a b r s g h",
        lambda a, b, r, s, g, h: module("sgbdt").Contribution(params(a, b, r, s), schema(CLASSES)).cost(
            {"g": g, "h": h}
        ).item(),
        f"forall P g h, {{it}} {settings} g h = SGBDT.record_cost P g h", "SGBDT.record_cost", "cbv zeta; formula",
    )  # fmt: skip
    for number, name in enumerate(("gradient_variance", "support_variance")):
        yield Formula(
            f"sgbdt_{name}", "sgbdt:Params.variances", "a b r s",
            lambda a, b, r, s, number=number: params(a, b, r, s).variances(schema(CLASSES))[number],
            f"forall P, {{it}} {settings} = SGBDT.{name} P", f"SGBDT.{name}",
        )  # fmt: skip
    for target, which, ending, says in (
        (REGRESSION, "g", "", "clip (grid_down b) (grid (sub s y))"),
        (CLASSES, "g", "_classes", "clip (grid_down b) (grid (/ (1 + exp (- s)) - y))"),
        (CLASSES, "h", "_classes", "let p := / (1 + exp (- s)) in Rmin (Rmax (grid (p * (1 - p))) 0) (grid_down k)"),
    ):
        yield Formula(
            f"sgbdt_{which}{ending}", "sgbdt:Contribution.statistics", "b k s y",
            lambda b, k, s, y, target=target, which=which: contributed(
                "sgbdt", of("sgbdt", Relation.ADD_REMOVE, gradient_bound=b, hessian_bound=k), target, s, y
            ).values[which],
            f"forall b k s y, {{it}} b k s y = {says}", "", "cbv zeta; formula",
        )  # fmt: skip
    for form, added in (("additive", "true"), ("max", "false")):

        def leaf(lam: Any, b: Any, u: Any, w: Any, form: str = form) -> Any:
            given = of("sgbdt", Relation.ADD_REMOVE, support=form, regularisation=lam, leaf_clip=b)
            return module("sgbdt").leaf_values(given, column(u, w).T).item()

        yield Formula(
            f"sgbdt_leaf_{form}", "sgbdt:leaf_values", "l b u w", leaf,
            f"forall P u w, SGBDT.added P = {added} -> "
            "{it} (SGBDT.lambda_ P) (SGBDT.beta P) u w = SGBDT.leaf_of P u w",
            "SGBDT.leaf_of", "cbv zeta; formula",
        )  # fmt: skip
