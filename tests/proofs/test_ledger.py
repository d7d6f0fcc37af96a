"""The committed ledger: complete, consistent, cited correctly by the code, and rendered."""

from __future__ import annotations

import importlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum, IntEnum
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from proofs.tool.ledger import LEDGER, differences, propositions, to_json, with_premises
from proofs.tool.page import checker_lines, committed_pages, page_differences
from refdp.data import sketch
from refdp.data.records import Classes, Interval, Numeric, Schema
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.ledger import caches, claims, proved, written
from refdp.ledger.claims import VERDICTS, Claim
from refdp.ledger.fingerprint import current, reachable, resolve, tree_text
from refdp.noise import gridded, samplers
from refdp.privacy.events import Plan, Relation, releases

ROOT = Path(__file__).parents[2]
ALL = claims.committed()
PAPERS = ("dpboost", "inprivate", "dpxgboost", "fedgbdt", "sgbdt", "composition")
REQUIRED = [
    "inprivate/residual-bound",
    "inprivate/gain-sensitivity",
    "inprivate/leaf-sum-sensitivity",
    "inprivate/leaf-hessian-sensitivity",
    "inprivate/theorem-7",
    "dpxgboost/exponential-section-2",
    "dpxgboost/noisy-average",
    "dpxgboost/min-child-weight",
    "dpxgboost/sketch",
    "dpxgboost/budget",
    "dpxgboost/subsampling",
    "fedgbdt/newton-sensitivity",
    "fedgbdt/gradient-sensitivity",
    "fedgbdt/averaging-sensitivity",
    "fedgbdt/weight-clip",
    "sgbdt/nonspherical",
    "sgbdt/joint-sensitivity",
    "sgbdt/prior-leaf-sensitivity",
    "sgbdt/individual",
    "sgbdt/filter",
    "dpboost/lemma-1",
    "dpboost/lemma-2",
    "dpboost/corollary-2",
    "dpboost/theorem-5",
    "dpboost/theorem-6",
    "dpboost/theorem-7",
    "dpboost/theorem-8",
    "dpboost/eq-2",
    "dpboost/eq-3",
    "dpboost/eq-4",
    "dpboost/shares",
    "dpboost/algorithm-1-budget",
    "dpboost/candidates",
]


def test_it_is_large_and_covers_all_papers() -> None:
    assert len(ALL) >= 70
    assert {claim.paper for claim in ALL} == set(PAPERS)
    assert set(REQUIRED) <= {claim.id for claim in ALL}


def test_the_ledger_has_exactly_the_stated_propositions() -> None:
    assert [claim.id for claim in ALL] == sorted(propositions())


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.id)
def test_every_claim_is_well_formed(claim: Claim) -> None:
    assert re.fullmatch(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*", claim.id)
    assert claim.relation in (*(relation.value for relation in Relation), "none")
    assert claim.verdict in VERDICTS
    assert claim.verdict == "PROVED" or claim.reason
    assert claim.verdict != "REFUTED" or claim.witness
    assert claim.verdict != "CONDITIONAL" or claim.assumes
    assert ("z3" in claim.checked_by) == ("cvc5" in claim.checked_by), "a single solver's word"
    known = {other.id for other in ALL}
    assert set(claim.uses) <= known and {claim.repaired_by} <= known | {None}


@pytest.mark.parametrize("claim", [c for c in ALL if c.verdict == "REFUTED" and c.repaired_by], ids=lambda c: c.id)
def test_repairs_hold(claim: Claim) -> None:
    assert claims.verdict(claim.repaired_by or "") in ("PROVED", "ARGUED", "CONDITIONAL")


def test_proved_claims_rest_on_proved_ones() -> None:
    verdicts = {claim.id: claim.verdict for claim in ALL}
    for claim in ALL:
        if claim.verdict == "PROVED":
            assert {verdicts[name] for name in claim.uses} <= {"PROVED"}, claim.id
            assert claim.checked_by and not claim.argument and not claim.assumes, claim.id
        if claim.verdict == "ARGUED":
            assert {verdicts[name] for name in claim.uses} <= claims.ESTABLISHED, claim.id


def test_every_claim_that_the_code_cites_exists() -> None:
    pattern = re.compile(rf"\"((?:{'|'.join(PAPERS)})/[a-z0-9-]+)\"")
    cited = {
        (path.name, name)
        for path in (ROOT / "refdp").rglob("*.py")
        for name in pattern.findall(path.read_text(encoding="utf-8"))
    }
    assert len(cited) > 10
    known = {claim.id for claim in ALL}
    assert {(path, name) for path, name in cited if name not in known} == set()


SCHEMAS = [
    Schema((Numeric("x", 0, 1), Numeric("z", 0, 1)), Interval(-1, 1)),
    Schema((Numeric("x", 0, 1), Numeric("z", 0, 1)), Classes(("no", "yes"))),
]


def plans(relation: Relation) -> Iterator[Plan]:
    """The plans of all papers' repaired runs that exist under a relation, with the ledger's sensitivities."""
    for name in registry.PAPERS:
        paper = registry.paper(name)
        try:
            params = paper.params({"epsilon": 1.0, "relation": relation}, as_published=False)
        except InvalidParameter:
            assert relation is Relation.REPLACE_ONE, "add-remove is every paper's relation"
            continue
        yield from (paper.module.plan(params, schema, proved=True) for schema in SCHEMAS)


@pytest.mark.parametrize("relation", Relation)
def test_repaired_releases_rest_on_established_claims_of_their_relation(relation: Relation) -> None:
    cited = {r.sensitivity.claim: r.sensitivity.relation for plan in plans(relation) for r in releases(plan.event)}
    assert len(cited) >= 3
    for name, declared in cited.items():
        assert claims.verdict(name) in claims.ESTABLISHED, name
        assert claims.get(name).relation == declared.value == relation.value, name


# --- differences, page, rendering -------------------------------------------------------------------------------------


def test_a_typed_verdict_is_a_difference() -> None:
    derived = {claim.id: claim for claim in ALL}
    assert list(differences(derived, LEDGER.read_text(encoding="utf-8"))) == []
    rows = json.loads(to_json(derived))
    row = next(row for row in rows["claims"] if row["id"] == "dpboost/lemma-1")
    row["verdict"] = "PROVED"
    assert list(differences(derived, json.dumps(rows))) == ["dpboost/lemma-1: verdict: 'PROVED' -> 'REFUTED'"]
    rows["claims"].remove(row)
    assert list(differences(derived, json.dumps(rows))) == ["dpboost/lemma-1: only derived now"]


def test_the_pages_are_what_the_committed_ledger_gives() -> None:
    """`python -m proofs page` writes them anew where only the lines that cite claims have moved to other files."""
    assert list(page_differences({claim.id: claim for claim in ALL}, committed_pages())) == []


PAGE_MUTANTS: dict[str, tuple[str, str, str]] = {
    "a verdict of one claim": ("claims/dpboost", "**REFUTED**; Lemma 1", "**PROVED**; Lemma 1"),
    "a verdict where it is used": (
        "claims/dpboost",
        "(dpboost.md#dpboostgain-range-add-remove) (ARGUED)",
        "(dpboost.md#dpboostgain-range-add-remove) (OPEN)",
    ),
    "the number of claims": ("claims/index", f"{len(ALL)} claims", f"{len(ALL) + 1} claims"),
    "the size of the checker": ("claims/index", f"{checker_lines()} lines", f"{checker_lines() - 1} lines"),
    "a citation": ("claims/sgbdt", "- cited by: [refdp/papers/", "- cited by: [refdp/"),
    "the end of the page": ("claims/inprivate", "\n", ""),
    "an observed number": ("errata/dpboost", "| 2.604", "| 1.604"),
    "a quotation": ("errata/sgbdt", "Individual RDP bound", "The RDP bound"),
    "a repair": ("errata/fedgbdt", "- instead: ", "- or: "),
}


@pytest.mark.parametrize(("page", "old", "new"), PAGE_MUTANTS.values(), ids=list(PAGE_MUTANTS))
def test_a_changed_page_is_rejected(page: str, old: str, new: str) -> None:
    path, committed = f"docs/{page}.md", committed_pages()
    before, found, after = committed[path].rpartition(old)
    assert found
    (difference,) = page_differences({claim.id: claim for claim in ALL}, {**committed, path: before + new + after})
    assert difference.startswith(f"{path}: line ")


def test_a_missing_page_and_one_too_many_are_rejected() -> None:
    committed = committed_pages()
    text = committed.pop("docs/errata/sgbdt.md")
    found = page_differences({claim.id: claim for claim in ALL}, {**committed, "docs/errata/gone.md": text})
    assert list(found) == ["docs/errata/gone.md: no paper has it", "docs/errata/sgbdt.md: not written"]


def test_pages_that_lag_behind_the_ledger_are_rejected() -> None:
    later = {claim.id: claim for claim in ALL}
    later["dpboost/lemma-1"] = replace(later["dpboost/lemma-1"], verdict="OPEN")
    paths = {line.partition(":")[0] for line in page_differences(later, committed_pages())}
    assert {"docs/claims/index.md", "docs/claims/dpboost.md", "docs/errata/index.md"} <= paths


def test_premises_come_along() -> None:
    names = with_premises(["dpboost/theorem-7-repaired-add-remove"])
    assert {"dpboost/gain-range-add-remove", "dpboost/scaling", "composition/laplace"} <= set(names)


def test_table_and_details_render() -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(claims.table(claims.load("dpboost")))
    console.print(claims.show("dpboost/lemma-1"))
    text = console.export_text()
    assert "REFUTED" in text and "dpboost/gain-range-add-remove" in text
    assert "1/10 = 0.1" in text and "dpboost/gain-sensitivity" in text
    assert re.search(r"refdp/papers/published/dpboost\.py:\d+", text)


def test_unknown_names_are_errors() -> None:
    with pytest.raises(InvalidParameter, match="no claim 'dpboost/lemma-9' in the ledger"):
        claims.get("dpboost/lemma-9")
    with pytest.raises(InvalidParameter, match="no claims for paper 'xgboost'"):
        claims.load("xgboost")
    assert claims.verdict("dpboost/lemma-9") == "OPEN"


# --- fingerprints -----------------------------------------------------------------------------------------------------


def test_comments_docstrings_and_annotations_do_not_matter() -> None:
    plain = "def f(a):\n    return a + 1\n"
    same = 'def f(a: int) -> int:\n    """Doc."""\n    # why\n    return (a +\n        1)\n'
    assert tree_text(plain) == tree_text(same)


@pytest.mark.parametrize("other", ["def f(a):\n    return a + 2\n", "def f(a):\n    return a - 1\n"])
def test_meaning_matters(other: str) -> None:
    assert tree_text("def f(a):\n    return a + 1\n") != tree_text(other)


def test_kinds_of_fields_matter() -> None:
    """A class made of its annotations takes one that is a `ClassVar` for no field."""
    field, shared = (f"class C:\n    name: {kind} = 'a'\n" for kind in ("str", "ClassVar[str]"))
    assert tree_text(field) != tree_text(shared)


def test_a_function_that_is_gone_has_no_fingerprint() -> None:
    assert current("refdp.papers.dpboost:no_such_function") is None
    assert current("refdp.no_such_module:f") is None


def test_citations_are_whole_ids() -> None:
    """dpboost/lemma-1 is not cited where dpboost/lemma-1-replace-one is."""
    lines = (ROOT / "refdp/papers/published/dpboost.py").read_text(encoding="utf-8").splitlines()
    for place in claims.citations("dpboost/lemma-1"):
        if place.startswith("refdp/papers/published/dpboost.py"):
            line = lines[int(place.rpartition(":")[2]) - 1]
            assert re.search(r"dpboost/lemma-1(?![a-z0-9-])", line)


def test_no_fingerprint_follows_from_where_refdp_lies() -> None:
    """A constant of a module that holds its path would reopen every claim in another folder."""
    here = str(Path(__file__).resolve().parents[2])
    for paper in ("dpboost", "grove"):
        name = f"refdp.{'own' if paper == 'grove' else 'papers'}.{paper}:certificate"
        assert [place for place, text in reachable(resolve(name)).items() if here in text] == []


# --- what certificates cite -------------------------------------------------------------------------------------------


class Said(str, Enum):  # noqa: UP042
    """A text whose value is another one."""

    def __new__(cls, text: str, value: str) -> Said:
        made = str.__new__(cls, text)
        made._value_ = value
        return made

    NOISE = ("floating", "discrete")


class Many(IntEnum):
    """A number whose value is another one."""

    def __new__(cls, number: int, value: int) -> Many:
        made = int.__new__(cls, number)
        made._value_ = value
        return made

    TREES = (5, 50)


class Pair(tuple[float, ...]):
    """A tuple of somebody's own."""


def test_a_setting_of_somebodys_own_class_is_named_by_its_class() -> None:
    """Of refdp's own enumerations and domains the value says all."""
    assert proved.plain(Relation.ADD_REMOVE) == "add-remove"
    assert proved.plain(Interval(0, 1)) == "Interval(low=0.0, high=1.0)"
    ours = type("Interval", (Interval,), {"__module__": Interval.__module__})
    for value in (Said.NOISE, Many.TREES, Pair((1.0, 2.0)), ours(0, 1)):
        assert proved.plain(value) not in ("discrete", "50", "(1.0, 2.0)", "Interval(low=0.0, high=1.0)")
        assert proved.plain(value).startswith(f"{type(value).__module__}.{type(value).__qualname__}(")


def test_what_a_schema_or_a_part_of_it_was_given_of_its_own_is_told() -> None:
    def schema() -> Schema:
        return Schema((Numeric("a", 0, 1),), Interval(0, 1))

    honest = proved.plain(schema())
    for part in (lambda one: one, lambda one: one.target, lambda one: one.features[0]):
        given = schema()
        object.__setattr__(part(given), "label", 1)
        assert proved.plain(given) == proved.plain(given) != honest
        hidden = schema()
        object.__setattr__(part(hidden), "__dataclass_fields__", {})
        assert proved.plain(hidden) != honest


def test_a_class_by_the_name_of_another_in_a_module_that_nobody_compares_is_none_of_refdps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = type("Interval", (Interval,), {"__module__": registry.__name__, "__qualname__": "Interval"})
    monkeypatch.setattr(registry, "Interval", ours, raising=False)
    assert proved.plain(ours(0, 1)) == "refdp.faces.registry.Interval(low=0.0, high=1.0)"
    for module in proved.HOMES:
        monkeypatch.setattr(importlib.import_module(module), "Anything", ours, raising=False)
        assert proved.running("dpboost").startswith(f"{module}.Anything")
        monkeypatch.undo()
    assert proved.running("dpboost") == ""


def test_what_was_made_of_a_refdp_enumeration_and_is_none_of_its_members_is_told() -> None:
    """`is` tells it from the member whose value it has."""
    made = str.__new__(Relation, Relation.ADD_REMOVE.value)
    made._value_, made._name_ = Relation.ADD_REMOVE.value, Relation.ADD_REMOVE.name
    assert made is not Relation.ADD_REMOVE and proved.plain(made) != "add-remove"
    schema = Schema((Numeric("a", 0, 1),), Interval(0, 1))
    params = registry.paper("dpboost").params({"epsilon": 1.0, "relation": "add-remove"}, as_published=False)
    assert proved.cited("dpboost", params, schema)
    object.__setattr__(params, "relation", made)
    assert proved.cited("dpboost", params, schema) == ()


@pytest.mark.parametrize(
    ("function", "given"),
    [(gridded._variance, ((2.5,), 2.0**-7)), (samplers._width, (Fraction(12345, 7),)), (sketch.evenly, (5, 3))],
)
def test_what_a_cache_keeps_of_a_patch_that_was_undone_is_told(
    function: Any, given: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module(function.__module__)
    function.cache_clear()
    honest = function(*given)
    assert written.otherwise([module.__name__]) == ""
    ((_, result),) = caches.entries(function)
    assert result is honest
    function.cache_clear()
    made = function.__wrapped__
    code = made.__code__
    made.__code__ = (lambda *_: 10.0**9).__code__
    try:
        function(*given)
        assert written.otherwise([module.__name__]) != ""
    finally:
        made.__code__ = code
    kept = f"{module.__name__}.{function.__name__}, whose cache keeps what something else made"
    assert written.otherwise([module.__name__]) == kept
    assert function.cache_info().currsize == 0 and written.otherwise([module.__name__]) == ""
    function(*given)
    assert written.otherwise([module.__name__]) == ""


def silenced(result: Any) -> None:
    result.sure.setflags(write=True)
    result.sure[:] = 0


def made_small(result: Any) -> None:
    result._numerator = 1


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("function", "given", "change"),
    [(samplers._listing, (Fraction(100),), silenced), (gridded._variance, (2.5, 2.0**-7), made_small)],
)
def test_what_a_cache_keeps_and_was_changed_in_place_is_told(
    function: Any, given: tuple[Any, ...], change: Any, first: bool
) -> None:
    """first: it is changed before anybody asks."""
    name = function.__module__
    function.cache_clear()
    result = function(*given)
    assert first or written.otherwise([name]) == "" == written.otherwise([name])
    change(result)
    told = f"{name}.{function.__name__}, whose cache keeps what something else made"
    assert written.otherwise([name]) == told
    assert written.otherwise([name]) == ""  # nothing is kept any more
    assert function(*given) is not result and written.otherwise([name]) == ""


def test_what_is_in_a_kept_listing_is_read_only() -> None:
    assert not any(one.flags.writeable for one in samplers._listing(Fraction(100)))


def test_what_was_compared_and_is_as_it_was_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    samplers._listing(Fraction(100))
    assert written.otherwise([samplers.__name__]) == ""
    monkeypatch.setattr(caches, "gives", lambda *_: False)
    assert written.otherwise([samplers.__name__]) == ""


def test_a_cache_knows_its_arguments_by_name_and_without_a_bound() -> None:
    for maxsize, last in ((None, 5), (4, 4), (0, 0)):

        @lru_cache(maxsize=maxsize)
        def named(one: Any, other: Any = 2, *, more: int = 0) -> Any:
            return {"one": one, "other": other, "more": more, "four": 4}

        given: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
            ((1,), {}), ((1, 3), {}), ((2,), {"other": 5, "more": 7}), (((), ()), {}), (("a",), {"more": 1}),
        )  # fmt: skip
        made = [named(*one, **by_name) for one, by_name in given]
        found = list(caches.entries(named))
        assert {id(result) for _, result in found} == {id(one) for one in made[5 - last :]} and len(found) == last
        assert all(caches.gives(named.__wrapped__, key, result) for key, result in found)
        assert not any(caches.gives(lambda *_, **__: 0, key, result) for key, result in found)


def test_samplers_are_compared_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    assert proved.running("dpboost") == ""
    monkeypatch.setattr(samplers, "_width", lambda _: 1)
    assert proved.running("dpboost") == "refdp.noise.samplers._width"
