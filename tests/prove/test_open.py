"""Parameters that stay open: what is proved for all their values, and texts that hide that they look at one."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

z3 = pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.errors import InvalidParameter  # noqa: E402
from refdp.faces.cli import run  # noqa: E402
from refdp.faces.registry import paper  # noqa: E402
from refdp.privacy.events import Charge  # noqa: E402
from refdp.prove import easier, magnitudes, open, peeking, reading, releases, syntax  # noqa: E402
from refdp.prove.asking import Solvers, number, real  # noqa: E402
from refdp.prove.ranges import checked  # noqa: E402
from refdp.prove.reading import Proof, prove  # noqa: E402
from refdp.prove.report import schema_of  # noqa: E402
from tests.mutants.harness import Mutant, applied  # noqa: E402
from tests.prove.hostile_open import COMPUTES, HALF, LOOKS, RANGE, RIGHTLY  # noqa: E402
from tests.prove.hostile_thirteenth import STEPPED, STEPS  # noqa: E402

ONE = {"trees": 1, "trees_per_ensemble": 1, "depth": 1, "bins": 4, "noise": "floating"}
LAMBDA = {"regularisation": RANGE}


@pytest.fixture(scope="module")
def solvers() -> Solvers:
    return Solvers()


def proof(
    solvers: Solvers, anywhere: dict[str, Any], name: str = "dpboost", classes: int = 0, briefly: bool = False,
    **settings: Any,
) -> Proof:  # fmt: skip
    given = {**(ONE if name == "dpboost" else {}), **settings}
    params = paper(name).params({"epsilon": 1.0, "relation": "add-remove", **given}, as_published=False)
    return prove(name, params, schema_of(classes), solvers=solvers, anywhere=anywhere, briefly=briefly)


@pytest.mark.parametrize(
    "settings",
    [{}, {"noise": "discrete"}, {"relation": "replace-one"}, {"relation": "replace-one", "noise": "discrete"},
     {"gradients": "clip"}],
)  # fmt: skip
def test_dpboost_is_proved_for_every_regularisation(solvers: Solvers, settings: dict[str, Any]) -> None:
    found = proof(solvers, LAMBDA, **settings)
    assert (found.verdict, found.failures) == ("PROVED", ())
    assert found.statement.startswith("for every regularisation from 0.01 to 100, for every two ")
    assert found.anywhere == LAMBDA and found.to_dict()["anywhere"] == LAMBDA


def test_noise_on_a_grid_that_follows_from_a_parameter_is_followed_for_pure_budgets_alone(
    solvers: Solvers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a delta above 0 its cost is more than bound over noise: the grid's step has a part in it."""
    monkeypatch.setattr(reading, "_claimed", lambda _: (1.0, 1e-5))
    assert proof(solvers, LAMBDA).verdict == "PROVED"
    found = proof(solvers, LAMBDA, noise="discrete", briefly=True)
    assert found.verdict == "NOT PROVED" and "at a delta above 0" in found.failures[0].reason


@pytest.mark.parametrize(
    ("name", "anywhere", "settings"),
    [("dpxgboost", LAMBDA, {"trees": 1, "depth": 1, "candidates": "uniform"}),
     ("dpxgboost", {"shrinkage": (0.01, 1.0)}, {"trees": 1, "depth": 1}),
     ("sgbdt", LAMBDA, {"trees": 2, "depth": 1, "delta": 1e-5}),
     ("inprivate", {"leaf_bound": (0.1, 10.0), "damping": (0.1, 10.0)}, {"rounds": 1, "depth": 2}),
     ("fedgbdt", {"regularisation": (0.01, 10.0)}, {"trees": 1, "depth": 1})],
)  # fmt: skip
def test_what_is_post_processing_or_in_gains_is_proved(
    solvers: Solvers, name: str, anywhere: dict[str, Any], settings: dict[str, Any]
) -> None:
    assert proof(solvers, anywhere, name, **settings).failures == ()


@pytest.mark.parametrize("mutant", [*LOOKS, *COMPUTES], ids=lambda mutant: mutant.name)
def test_a_text_that_does_otherwise_at_another_value_is_not_proved(
    solvers: Solvers, monkeypatch: pytest.MonkeyPatch, mutant: Mutant
) -> None:
    """Without the readings at the ends, which are no part of the proof."""
    monkeypatch.setattr(reading, "ends", lambda *_: ())
    with applied(mutant.patches):  # type: ignore[arg-type]
        found = proof(solvers, LAMBDA, briefly=True)
    assert found.verdict == "NOT PROVED" and all(one.reason for one in found.failures)


def test_noise_that_loses_its_small_part_to_a_large_number_is_not_proved(solvers: Solvers) -> None:
    assert proof(solvers, STEPS, regularisation=32767.0).failures == ()
    with applied(STEPPED.patches):  # type: ignore[arg-type]
        found = proof(solvers, STEPS, briefly=True, regularisation=32767.0)
    assert found.verdict == "NOT PROVED" and "difference of larger numbers" in found.failures[0].reason


@pytest.mark.parametrize("mutant", RIGHTLY, ids=lambda mutant: mutant.name)
def test_what_a_range_decides_is_followed(solvers: Solvers, mutant: Mutant) -> None:
    with applied(mutant.patches):  # type: ignore[arg-type]
        assert proof(solvers, LAMBDA).failures == ()


def test_a_bound_that_is_right_from_one_on_is_proved_from_there_alone(solvers: Solvers) -> None:
    with applied(HALF.patches):  # type: ignore[arg-type]
        assert proof(solvers, {"regularisation": (1.0, 100.0)}, regularisation=1.5).failures == ()
        found = proof(solvers, {"regularisation": (0.5, 100.0)}, regularisation=1.5)
    (failure,) = found.failures
    assert failure.kind == "sensitivity" and failure.release.endswith("leaves") and failure.exact
    assert failure.counterexample["regularisation"] == "1/2"


@pytest.mark.parametrize(("charge", "release"), [("split_charge", "splits of level 0"), ("leaf_charge", "leaves")])
def test_a_bound_two_percent_smaller_fails_with_the_parameter_and_holds_exactly(
    solvers: Solvers, charge: str, release: str
) -> None:
    def smaller(own: Any) -> Any:
        def changed(self: Any, *given: Any) -> Charge:
            found = own(self, *given)
            return replace(found, declared=replace(found.declared, bound=found.declared.bound * 0.98))

        return changed

    with applied({f"refdp.papers.dpboost:Params.{charge}": smaller}):
        failure = proof(solvers, LAMBDA).failures[0]
    assert failure.kind == "sensitivity" and failure.release.endswith(release) and failure.exact
    assert "regularisation" in failure.counterexample


DROPS: tuple[tuple[Any, str, Any, str], ...] = (
    (releases, "check_cost", lambda *_: None, "noise for the settings' own value"),
    (releases, "exactly_declared", lambda *_: None, "the bound is rounded as float64 does"),
    (open.Opens, "compared", lambda self, name, given: bool(
        getattr(__import__("operator"), {"greater": "gt", "less": "lt", "equal": "eq", "not_equal": "ne",
                "less_equal": "le", "greater_equal": "ge"}[name])(*map(open.example_of, given))),
     "params.regularisation > 2"),
    (open.Open, "__str__", lambda self: str(self.example), 'str(params.regularisation) != "0.1"'),
    (open.Open, "__int__", lambda self: int(self.example), "int(params.regularisation) > 2"),
)  # fmt: skip
"""What a reading would take for proved if it lost one of its checks."""


def without_texts(text: str) -> list[tuple[int, str]]:
    """What is found in the syntax, but for texts of numbers, which are refused whatever they would show."""
    return [one for one in peeking.peeks(text) if "every process" not in one[1]]


@pytest.mark.parametrize(("owner", "name", "instead", "text"), DROPS, ids=[one[1] for one in DROPS])
def test_every_check_is_needed(
    solvers: Solvers, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, instead: Any, text: str
) -> None:
    mutant = next(one for one in (*LOOKS, *COMPUTES) if one.name == text)
    monkeypatch.setattr(reading, "ends", lambda *_: ())
    monkeypatch.setattr(owner, name, instead)
    monkeypatch.setattr(syntax, "peeks", without_texts)
    with applied(mutant.patches):  # type: ignore[arg-type]
        assert proof(solvers, LAMBDA, briefly=True).verdict == "PROVED"


def test_the_readings_at_the_ends_would_show_a_text_that_looks(
    solvers: Solvers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open.Open, "__str__", lambda self: str(self.example))
    monkeypatch.setattr(syntax, "peeks", without_texts)
    mutant = next(one for one in LOOKS if one.name == 'str(params.regularisation) != "0.1"')
    with applied(mutant.patches):  # type: ignore[arg-type]
        found = proof(solvers, LAMBDA)
    assert found.failures[0].reason.startswith("read with regularisation = 0.01, the lower end: the change exceeds")


def test_an_easier_question_is_never_refuted_where_the_question_is_not() -> None:
    """Values that fulfil the question, whatever the easier one has forgotten."""
    solvers, v, n, g = Solvers(), real(), real(), real()
    own = {str(v): (0.5, 8.0, 1.0)}
    facts = [v >= number(0.5), v <= number(8.0), z3.Or(n == 0, n >= 1), n >= 0, g <= n, -n <= g]
    for most, holds in ((0.3, True), (0.7, True), (1.01, False)):
        found = easier.asked(solvers, [*facts, g * g / (n + v) > number(most) * g, g > 0], own)
        assert found.refuted is not holds
        assert not holds or (found.exact and str(v) in found.values)
    assert not easier.asked(solvers, [*facts, g / (n + v) > 1 / (1 + v + 1)], own).refuted
    assert easier.asked(solvers, [*facts, n <= 1, g / (n + v) > 1 / (1 + v)], own).refuted


def test_numbers_of_a_range_have_its_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    v, n = real(), real()
    monkeypatch.setattr(magnitudes, "natures", {str(n): magnitudes.Nature(natural=True)})
    magnitudes.ranges[str(v)] = 2.0**-8, 2.0**8
    assert magnitudes.too_far([n + v, n / (n + v)]) == ""
    magnitudes.ranges[str(v)] = 2.0**-25, 2.0**25
    assert magnitudes.too_far([n + v]) == ""
    assert magnitudes.too_far([n / (n + v)]) == "a formula that makes what float64 rounds large"
    magnitudes.ranges[str(v)] = 2.0**-40, 2.0**20
    assert magnitudes.too_far([n + v]).startswith("a formula that adds numbers")
    magnitudes.ranges[str(v)] = 0.0, 1.0
    assert magnitudes.too_far([n + v])


@pytest.mark.parametrize(
    ("name", "given"),
    [("regularisation", (0.2, 1.0)), ("regularisation", (0.0, 1.0)), ("regularisation", (0.01, float("inf"))),
     ("trees", (1, 3)), ("epsilon", (0.5, 2.0)), ("noise", None), ("lambda", (0.01, 1.0))],
)  # fmt: skip
def test_what_is_no_range_of_a_real_parameter_is_refused(name: str, given: Any) -> None:
    params = paper("dpboost").params({"epsilon": 1.0, "relation": "add-remove"}, as_published=False)
    with pytest.raises(InvalidParameter):
        checked(params, {name: given})


def test_a_name_alone_is_for_all_that_the_check_allows() -> None:
    params = paper("dpboost").params({"epsilon": 1.0, "relation": "add-remove"}, as_published=False)
    found = checked(params, {"regularisation": None, "shrinkage": None})
    assert found["regularisation"] == (2.0**-24, 65536.0)
    assert found["shrinkage"][0] == 0.001 and 0.999 < found["shrinkage"][1] < 1


def test_the_command_takes_ranges(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--set", "trees=1", "trees_per_ensemble=1", "depth=1", "--classes", "0", "--json"]
    assert run(["prove", "dpboost", *small, "--any", "regularisation=0.01..100"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "PROVED" and found["anywhere"] == {"regularisation": [0.01, 100.0]}
    assert "all values of regularisation" in " ".join(found["covers"])
    for wrong in ("regularisation=1", "regularisation=a..b", "depth=1..2", "=1..2"):
        assert run(["prove", "dpboost", *small, "--any", wrong]) == 2
        capsys.readouterr()
