"""`refdp dossier`: every question answered, none better than its evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refdp.audit.dossier import QUESTIONS, Word, dossier, page
from refdp.audit.verdicts import SUBJECTS
from refdp.errors import InvalidParameter
from refdp.faces.cli import run

CERTIFICATE: dict[str, Any] = {
    "relation": "add-remove",
    "claimed": {"epsilon": 1.0, "delta": 0.0},
    "established": {"epsilon": 1.0, "delta": 0.0},
    "claims": [{"id": "dpboost/eq-3", "verdict": "PROVED"}],
    "rests_on": [{"id": "composition/laplace", "verdict": "ARGUED"}, {"id": "composition/events", "verdict": "ARGUED"}],
    "releases": [
        {
            "name": "leaves",
            "mechanism": "Laplace(scale=1.0)",
            "claim": "dpboost/eq-3",
            "sensitivity": 1.0,
            "norm": "1",
            "count": 1,
            "charge": 1.0,
        }
    ],
    "assumptions": ["what is computed is rounded to float64"],
}


def words(document: Any) -> dict[str, Word]:
    return {answer.topic: answer.word for answer in dossier(document).answers}


def report(verdict: str, **rows: str) -> dict[str, Any]:
    named = {name.replace("_", " "): word for name, word in rows.items()}
    coverage = [{"what": what, "verdict": named.get(what, "NOT FOUND"), "reason": "r"} for what in SUBJECTS]
    return {"verdict": verdict, "coverage": coverage}


def test_all_eleven_questions_are_answered() -> None:
    asked = {"unit of privacy", "model", "parameters", "mechanism", "composition", "sampling", "floating point",
             "side channels", "sensitivity", "utility", "access"}  # fmt: skip
    assert set(QUESTIONS) == asked == set(words(CERTIFICATE)) == set(words(report("NOT FOUND")))


def test_a_certificate_is_as_good_as_its_weakest_claim() -> None:
    found = words(CERTIFICATE)
    assert found["sensitivity"] is Word.PROVED and found["mechanism"] is Word.ASSUMED
    assert found["composition"] is Word.ASSUMED and found["parameters"] is Word.ASSUMED
    assert found["floating point"] is Word.ASSUMED and found["side channels"] is Word.NOT_EXAMINED
    assert found["utility"] is Word.NOT_EXAMINED and found["access"] is Word.NOT_EXAMINED
    open_claim = CERTIFICATE | {"claims": [{"id": "dpboost/eq-3", "verdict": "OPEN"}]}
    assert words(open_claim)["sensitivity"] is Word.NOT_EXAMINED
    unknown = CERTIFICATE | {"claims": []}
    assert words(unknown)["sensitivity"] is Word.NOT_EXAMINED


def test_a_contradicted_claim_is_told() -> None:
    larger = CERTIFICATE | {"established": {"epsilon": "inf", "delta": 0.0}}
    found = dossier(larger)
    assert not found.holds and [one.topic for one in found.answers if not one.holds] == ["parameters"]
    refuted = CERTIFICATE | {"claims": [{"id": "dpboost/eq-3", "verdict": "REFUTED"}]}
    assert [one.topic for one in dossier(refuted).answers if not one.holds] == ["parameters", "sensitivity"]


def contradicted(document: dict[str, Any]) -> list[str]:
    return [one.topic for one in dossier(document).answers if not one.holds]


def test_a_refuted_claim_about_samples_or_anything_else_contradicts() -> None:
    """It was proved that the claim is false, and "proved" alone was said of samples."""
    sampled = CERTIFICATE | {"rests_on": [{"id": "sgbdt/discrete-subsampled", "verdict": "REFUTED"}]}
    assert contradicted(sampled) == ["parameters", "sampling"]
    other = CERTIFICATE | {"rests_on": [{"id": "dpboost/eq-4", "verdict": "REFUTED"}]}
    assert contradicted(other) == ["parameters"]


@pytest.mark.parametrize("mechanism", ["Laplace(scale=2.0)", "DiscreteLaplace(scale=2.0, step=0.5)"])
def test_a_release_with_less_noise_than_it_is_charged_for_contradicts(mechanism: str) -> None:
    told = {"name": "leaves", "mechanism": mechanism, "claim": "dpboost/eq-3", "sensitivity": 1.0, "charge": 0.5}

    def of(**changed: Any) -> dict[str, Any]:
        return CERTIFICATE | {"releases": [{**told, **changed}]}

    assert contradicted(of()) == contradicted(of(charge=None)) == []
    assert contradicted(of(charge=0.5 * (1 - 1e-7))) == []  # of a figure that was rounded for print
    for changed in ({"charge": 0.4}, {"charge": 0.0}, {"charge": 0.6}, {"charge": "inf"},
                    {"charge": 50}, {"sensitivity": 1.5}, {"sensitivity": -1.0}, {"charge": "nan"},
                    {"mechanism": mechanism.replace("2.0", "0.02")}, {"mechanism": mechanism.replace("2.0", "0")},
                    {"mechanism": mechanism.replace("2.0", "nan")}):  # fmt: skip
        found = dossier(of(**changed)).answers
        assert "mechanism" in [one.topic for one in found if not one.holds], changed
        assert any("leaves: sensitivity" in one.text and ("is charged" in one.text or "is no release" in one.text)
                   for one in found)  # fmt: skip
    for wrong in ({"mechanism": mechanism.replace("2.0", "two")}, {"sensitivity": None}, {"charge": "much"}):
        with pytest.raises(InvalidParameter, match=r"certificate: .* is missing or no number"):
            dossier(of(**wrong))


def test_what_is_not_listed_is_not_examined() -> None:
    nothing = CERTIFICATE | {"releases": []}
    assert {words(nothing)[topic] for topic in ("mechanism", "composition", "sensitivity")} == {Word.NOT_EXAMINED}
    assert words(CERTIFICATE | {"claims": []})["parameters"] is Word.NOT_EXAMINED


def test_a_certificate_is_of_one_paper_and_a_known_relation() -> None:
    for paper in ("dpboost", "", "of somebody else"):
        assert dossier(CERTIFICATE | {"paper": paper}).holds
    with pytest.raises(InvalidParameter, match="certificate of 'fedgbdt' with claims of another paper: dpboost/eq-3"):
        dossier(CERTIFICATE | {"paper": "fedgbdt"})
    with pytest.raises(InvalidParameter, match="relation 'swap': add-remove or replace-one is needed"):
        dossier(CERTIFICATE | {"relation": "swap"})


def test_a_report_is_as_good_as_its_rows() -> None:
    found = words(report("NOT EXAMINED", time="NOT EXAMINED", releases="HOLDS"))
    assert found["side channels"] is Word.NOT_EXAMINED and found["sensitivity"] is Word.PROVED
    assert found["composition"] is Word.TESTED and found["utility"] is Word.NOT_EXAMINED
    missing = report("NOT FOUND")
    missing["coverage"] = missing["coverage"][1:]  # no row about releases
    assert words(missing)["sensitivity"] is Word.NOT_EXAMINED
    broken = dossier(report("VIOLATION", releases="VIOLATION"))
    assert {one.topic for one in broken.answers if not one.holds} == {"sensitivity", "parameters"}


def test_an_answer_from_rows_says_what_they_say() -> None:
    found = dossier(report("VIOLATION", releases="VIOLATION", time="NOT EXAMINED"))
    texts = {one.topic: one.text for one in found.answers}
    assert texts["sensitivity"] == "a violation was found: releases"
    assert texts["side channels"] == "not looked at: time"
    assert texts["composition"] == "looked at, nothing found"


@pytest.mark.parametrize("document", [{}, [], {"verdict": "x", "coverage": [{}]}, {"certificate": {"relation": "a"}}])
def test_anything_else_is_refused(document: Any) -> None:
    with pytest.raises(InvalidParameter):
        dossier(document)


def test_the_command_and_its_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, html = tmp_path / "certificate.json", tmp_path / "dossier.html"
    file.write_text(json.dumps({"paper": "dpboost", "metrics": {"auc": 0.7}, "certificate": CERTIFICATE}))
    assert run(["dossier", str(file), "--json", "--html", str(html)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["holds"] is True and len(told["answers"]) == 11 and told["subject"] == "dpboost"
    assert {one["topic"]: one["word"] for one in told["answers"]}["utility"] == "tested"
    text = html.read_text()
    assert all(topic in text for topic in QUESTIONS) and "http" not in text and "<script" not in text
    assert page(dossier(CERTIFICATE), "c").count("<tr") == 12
    file.write_text(json.dumps({"certificate": CERTIFICATE | {"established": {"epsilon": 2.0, "delta": 0.0}}}))
    assert run(["dossier", str(file)]) == 1
    file.write_text("no json")
    assert run(["dossier", str(file)]) == 2


def test_an_audit_is_told_as_it_was_asked_for() -> None:
    """Of which program, in whose units and relation, at which epsilon; each unless it is not said."""
    bare = report("NOT FOUND")

    def told(**more: Any) -> tuple[str, str, str]:
        found = dossier({**bare, **more})
        texts = {answer.topic: answer.text for answer in found.answers}
        return found.subject, texts["unit of privacy"], texts["parameters"]

    subject, unit, parameters = told()
    assert subject == "an audited program" and unit.startswith("one record, the relation of the audit neighbours")
    assert parameters.startswith("claimed epsilon as claimed: NOT FOUND.")
    assert told(paper="dpboost", claimed_epsilon=2.5)[::2] == (
        "dpboost",
        parameters.replace("epsilon as claimed", "epsilon 2.5"),
    )
    given = {"unit": "one user", "relation": "replace-one", "epsilon": 0.5}
    package = {"name": "some", "version": "1.2"}
    subject, unit, parameters = told(claim=given, package=package, claimed_epsilon=2.5, paper="x")
    assert subject == "some 1.2" and unit.startswith("one user, replace-one neighbours")
    assert parameters.startswith("claimed epsilon 0.5: NOT FOUND.")
    assert told(package={"name": "some"})[0] == "some" and told(package=3, claim=[])[0] == "an audited program"


def test_the_sentence_names_what_contradicts_the_claim() -> None:
    fine = dossier(CERTIFICATE)
    assert fine.holds and fine.sentence.endswith(".") and "contradicts" not in fine.sentence
    broken = dossier(CERTIFICATE | {"established": {"epsilon": 1.0 + 1.1e-9, "delta": 0.0}})
    assert broken.sentence.endswith("The evidence contradicts the claim: parameters.")
    assert dossier(CERTIFICATE | {"established": {"epsilon": 1.0 + 0.9e-9, "delta": 0.0}}).holds
    counts = fine.counts
    assert sum(counts.values()) == len(QUESTIONS) == 11
    assert all(count == sum(str(one.word) == word for one in fine.answers) for word, count in counts.items())


@pytest.mark.parametrize("word", ["float", "rounded", "ideal", "grid", "nothing"])
def test_assumptions_about_numbers_are_those_that_speak_of_them(word: str) -> None:
    found = dossier(CERTIFICATE | {"assumptions": ["first other", f"one about {word} numbers"]})
    (told,) = (answer for answer in found.answers if answer.topic == "floating point")
    assert (f"one about {word} numbers" in f"{told.text} {told.evidence}") is (word != "nothing")
    assert "first other" not in f"{told.text} {told.evidence}"


def answer(document: Any, topic: str) -> Any:
    return next(one for one in dossier(document).answers if one.topic == topic)


def test_no_claim_is_better_than_the_ledger_has_it() -> None:
    """A document may say PROVED of what is refuted, open, or nowhere."""

    def sensitivity(name: str, *words: str) -> tuple[Word, bool]:
        release = {**CERTIFICATE["releases"][0], "claim": name}
        claims = [{"id": name, "verdict": word} for word in words]
        found = answer(CERTIFICATE | {"claims": claims, "releases": [release]}, "sensitivity")
        return found.word, found.holds

    assert sensitivity("dpboost/eq-3", "PROVED") == (Word.PROVED, True)
    assert sensitivity("dpboost/algorithm-2-line-6", "PROVED") == (Word.PROVED, False)
    assert sensitivity("composition/laplace", "PROVED") == (Word.ASSUMED, True)
    assert sensitivity("dpxgboost/square-root-composition", "PROVED") == (Word.NOT_EXAMINED, True)
    assert sensitivity("made/up", "PROVED") == (Word.NOT_EXAMINED, True)
    assert sensitivity("dpboost/eq-3", "REFUTED", "PROVED") == (Word.PROVED, False)
    assert sensitivity("dpboost/eq-3", "PROVED", "OPEN") == (Word.NOT_EXAMINED, True)
    assert sensitivity("dpboost/eq-3", "OPEN", "PROVED") == (Word.NOT_EXAMINED, True)
    assert sensitivity("dpboost/eq-3", "proved") == (Word.NOT_EXAMINED, True)


def test_figures_of_a_document_are_its_own() -> None:
    """Whoever edits the established epsilon reads no proof of it; what is no guarantee is refused."""
    all_proved = CERTIFICATE | {"rests_on": [], "established": {"epsilon": 0.001, "delta": 0.0}}
    found = answer(all_proved, "parameters")
    assert found.word is Word.ASSUMED and found.text.endswith("the figures are not computed again here")
    for wrong in ({"epsilon": -1.0, "delta": 0.0}, {"epsilon": 1.0, "delta": -0.1}, {"epsilon": 1.0, "delta": 1.0},
                  {"epsilon": 10**400, "delta": 0.0}, {"epsilon": 1.0, "delta": "nan"}, {"epsilon": None}):  # fmt: skip
        for key in ("claimed", "established"):
            with pytest.raises(InvalidParameter, match="certificate"):
                dossier(CERTIFICATE | {key: wrong})
    assert not dossier(CERTIFICATE | {"established": {"epsilon": "nan", "delta": 0.0}}).holds
    for wrong in ({"claims": None}, {"claims": [3]}, {"rests_on": 3}, {"releases": [[]]}, {"assumptions": 4}):
        with pytest.raises(InvalidParameter):
            dossier(CERTIFICATE | wrong)
    assert answer({"certificate": CERTIFICATE, "metrics": [3]}, "utility").word is Word.NOT_EXAMINED


def test_without_claims_on_composition_nothing_is_known_of_samples() -> None:
    assert answer(CERTIFICATE, "sampling").word is Word.ASSUMED  # a document can leave a claim out
    assert answer(CERTIFICATE | {"rests_on": []}, "sampling").word is Word.NOT_EXAMINED


def test_partitions_and_unused_records_are_privacy_that_coins_give_as_samples_are() -> None:
    """Turns that cost more than the run were told to be without a credit."""
    part, unused = "composition/partition-add-remove", "inprivate/unused-records"
    for names, said, held in (
        ([part], "a secret partition", part),
        ([part, unused], "a record may be in no part", unused),
        ([part, "dpxgboost/subsampling-poisson"], "a secret sample is credited; a secret partition", part),
    ):
        rows = [{"id": name, "verdict": "ARGUED"} for name in names]
        found = answer(CERTIFICATE | {"rests_on": [*CERTIFICATE["rests_on"], *rows]}, "sampling")
        assert said in found.text and "no sample" not in found.text and any(held in one for one in found.evidence)
    refuted = CERTIFICATE | {"rests_on": [{"id": part, "verdict": "REFUTED"}]}
    assert "sampling" in contradicted(refuted)


def test_a_reports_verdict_is_no_better_than_its_rows() -> None:
    """Of two rows about one thing the weaker counts; so do rows that no question has, and listed violations."""
    fine = report("HOLDS", **{what.replace(" ", "_"): "HOLDS" for what in SUBJECTS})
    assert dossier(fine).holds
    row = {"what": "releases", "verdict": "VIOLATION", "reason": "r"}
    for rows in ([row, *fine["coverage"]], [*fine["coverage"], row], [*fine["coverage"], {**row, "what": "other"}],
                 [*fine["coverage"], {**row, "decides": False}]):  # fmt: skip
        found = dossier(fine | {"coverage": rows})
        assert not found.holds and "parameters" in [one.topic for one in found.answers if not one.holds]
    assert not dossier(fine | {"violations": [{"kind": "loss"}]}).holds
    left = dossier(fine | {"coverage": [*fine["coverage"], {**row, "verdict": "NOT EXAMINED"}]})
    texts = {one.topic: one.text for one in left.answers}
    assert texts["parameters"].startswith("claimed epsilon as claimed: NOT EXAMINED.")
    assert texts["sensitivity"] == "not looked at: releases"
    for wrong in ([3], [{}], [[]], [{"what": "releases", "verdict": "no", "reason": "r"}]):
        with pytest.raises(InvalidParameter, match="coverage"):
            dossier(fine | {"coverage": wrong})


def test_what_is_assumed_of_the_records_stands_beside_the_unit() -> None:
    alone = "its values follow from that record and public figures alone"
    found = dossier(CERTIFICATE | {"assumptions": ["first other", alone, "no setting was chosen without noise"]})
    [unit] = (one for one in found.answers if one.topic == "unit of privacy")
    assert unit.evidence == (alone, "no setting was chosen without noise")


def test_claims_of_entry_points_are_told_as_what_was_audited() -> None:
    """The file's own claim, which none of them was held against, was told as tested."""
    whole = {"unit": "one row", "relation": "add-remove", "epsilon": 1.0, "delta": 0.0}
    fine = report("NOT FOUND", **{what.replace(" ", "_"): "NOT FOUND" for what in SUBJECTS}) | {"claim": whole}

    def told(*entries: dict[str, Any]) -> tuple[str, str]:
        listed = [{"name": f"e{place}", "claim": {**whole, **one}} for place, one in enumerate(entries)]
        texts = {one.topic: one.text for one in dossier(fine | {"entries": listed}).answers}
        return texts["parameters"], texts["unit of privacy"]

    own, unit = "claimed epsilon 1.0: NOT FOUND.", "one row, add-remove neighbours: as the audit was told"
    for same in (told(), told({}), told({}, {"statement": "other"})):
        assert same[0].startswith(own) and same[1] == unit
    assert told({"epsilon": 3.0})[0].startswith("claimed epsilon 3.0 of e0; epsilon 1.0 of none: NOT FOUND.")
    several = told({}, {"epsilon": 3.0, "delta": 1e-6}, {"relation": "replace-one"})
    assert several[0].startswith("claimed epsilon 1.0 of e0, e2; epsilon 3.0, delta 1e-06 of e1: NOT FOUND.")
    assert several[1].startswith("one row, add-remove neighbours of e0, e1; one row, replace-one neighbours of e2:")
    of_trainer = fine | {"claimed_epsilon": 2.0, "claimed_delta": 1e-5, "claim": {}}
    assert answer(of_trainer, "parameters").text.startswith("claimed epsilon 2.0, delta 1e-05: NOT FOUND.")
