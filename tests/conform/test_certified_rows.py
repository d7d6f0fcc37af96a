"""The rows of certified runs one by one: mechanisms, true values, models, and what a transcript's header claims."""

from __future__ import annotations

import functools
import json
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit.verdicts import Row, Verdict
from refdp.conform import certify
from refdp.conform.follow import Parted, Released
from refdp.conform.plain import mechanism_out
from refdp.conform.tape_file import Tape
from refdp.data import forms
from refdp.data.records import Model
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Laplace
from refdp.papers import dpboost
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource
from tests.identity.running import records

DATA = {"target": "binary", "rows": 40, "numeric": 2, "categories": [], "missing": 0.0, "seed": 3}
NONE: dict[str, Any] = {}


def dpboost_model(seed: int) -> Model:
    params = dpboost.Params(4.0, Relation.ADD_REMOVE, trees=2, trees_per_ensemble=2, depth=2, bins=3)
    source = SampleSource(np.random.default_rng(seed))
    return dpboost.train(params, records(DATA), Curator(source, params.relation))


def released(name: str = "a", told: Any = (1.0, 2.0), claimed: Any = 2.0) -> Released:
    """One whose value is (1, 2), of Laplace noise of scale 2."""
    return Released(
        name,
        Laplace(2.0),
        np.array([1.0, 2.0]),
        np.array([1.5, 2.5]),
        None if told is None else np.array(told),
        None if claimed is None else mechanism_out(Laplace(claimed)),
    )


def test_mechanisms_that_are_named_are_held_against_the_plan() -> None:
    """One that is less is a violation, wherever it is; names that are missing are told, and do not decide."""
    holds = Row("mechanisms", Verdict.HOLDS, "every mechanism that is named has the scale that the plan charges, or "
                "more", "one bit of a scale")  # fmt: skip
    missing = Row("mechanisms", Verdict.NOT_EXAMINED, "run 1: the transcript names no mechanisms", decides=False)
    assert certify._mechanisms("run 1", [released(), released(claimed=3.0)]) == [holds]
    assert certify._mechanisms("run 1", []) == [holds]
    for some in ([released(claimed=None)], [released(), released(claimed=None)], [released(claimed=None), released()]):
        assert certify._mechanisms("run 1", some) == [missing]
    (row,) = certify._mechanisms("run 1", [released(), released("b", claimed=1.0), released("c", claimed=None)])
    assert (row.what, row.verdict, row.decides) == ("mechanisms", Verdict.VIOLATION, True)
    assert row.reason.startswith("run 1, b: ") and len(row.reason) > len("run 1, b: ")


def test_true_values_that_are_told_are_held_against_those_recomputed() -> None:
    holds = Row("true values", Verdict.HOLDS, "every true value is the one recomputed from the outputs", "one bit")
    missing = Row("true values", Verdict.NOT_EXAMINED, "run 2: the transcript tells none", decides=False)
    assert certify._values("run 2", [released(), released()]) == [holds] and certify._values("run 2", []) == [holds]
    for some in ([released(told=None)], [released(), released(told=None)], [released(told=None), released()]):
        assert certify._values("run 2", some) == [missing]
    wrong = released("b", told=(1.0, 3.0))
    (row,) = certify._values("run 2", [released(), wrong, released(told=None)])
    assert (row.what, row.verdict, row.decides) == ("true values", Verdict.VIOLATION, True)
    said = "run 2, b, values[1]: 0x1.0000000000000p+1 from the outputs before it, 0x1.8000000000000p+1 is told"
    assert row.reason == said.replace("run 2, b, ", "run 2, b, .") or row.reason == said


def test_models_are_held_against_those_of_the_outputs() -> None:
    """Each letter of the file: names that refdp does not read, names twice, blanks and numbers can tell the records."""
    model, other = (dpboost_model(seed) for seed in (1, 2))
    what, own = "published object", model.to_json()
    holds = Row(what, Verdict.HOLDS, "every model file follows from outputs, parameters and schema", "one letter")
    assert certify._model("run 3", model, own) == [holds]

    def verdict(text: str) -> Verdict:
        (row,) = certify._model("run 3", model, text)
        assert row.what == what and row.reason.startswith("run 3: ")
        return row.verdict

    def noted(*path: Any, **note: Any) -> str:
        document = json.loads(own)
        functools.reduce(lambda part, key: part[key], path, document).update(note or {"note": [0, 1, 1]})
        return json.dumps({**document, "sha256": forms._digest(document["model"])}, sort_keys=True) + "\n"

    first = ("model", "outputs", 0)
    wrong = [noted(), noted("model"), noted(*first), noted(*first, "trees", 0), noted("model", "schema"),
             noted("model", "schema", "features", 0), noted("model", "params"), noted(*first, initial=False),
             '{"sha256": "0110", ' + own[1:], "no model", own[:-9], other.to_json()]  # fmt: skip
    assert all(verdict(text) is Verdict.VIOLATION for text in wrong)
    for spelled in (own.replace(",", ", "), own + " \n", "\n" + own, own[:-1], own[:-1] + "\r\n"):
        assert verdict(spelled) is Verdict.NOT_EXAMINED
    turned = json.dumps(dict(reversed(json.loads(own).items())))
    assert verdict(turned) is Verdict.NOT_EXAMINED and verdict("\ufeff" + own) is Verdict.NOT_EXAMINED
    floats = noted("model", "params", epsilon=4.0), noted(*first, initial=0.0)
    assert not {"4.0", "0.0"} - set(re.findall(r"\b[04]\.0\b", "".join(floats)))
    assert all(verdict(text) is Verdict.NOT_EXAMINED for text in floats)
    for more in (noted("model", note=10**400), noted(*first, initial=0.1), noted("model", "params", epsilon=4.5)):
        assert verdict(more) is Verdict.VIOLATION
    deep = noted("model", note="DEEP").replace('"DEEP"', "[" * 600 + "]" * 600)
    assert verdict(deep) is Verdict.VIOLATION


def test_what_a_header_claims() -> None:
    params = SimpleNamespace(epsilon=0.5, relation=Relation.ADD_REMOVE)
    assert certify._claim(params) == "epsilon 0.5, add-remove"
    params = SimpleNamespace(epsilon=2.0, delta=1e-6, relation=Relation.REPLACE_ONE)
    assert certify._claim(params) == f"epsilon 2, delta 1e-06, {Relation.REPLACE_ONE.value}"
    params.delta = 0.0
    assert certify._claim(params) == f"epsilon 2, {Relation.REPLACE_ONE.value}"


class Runs:
    """Stands for reading transcripts: what each leads to, by its number, with noise and without."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *ends: Any) -> None:
        self.asked: list[Any] = []
        self.noise: list[Any] = []
        self.pairs: list[Any] = []
        self.tapes = [Tape({"number": number}, ({"number": number},)) for number in range(len(ends))]
        self.ends = ends
        params = SimpleNamespace(epsilon=1.0, relation=Relation.ADD_REMOVE)
        monkeypatch.setattr(certify, "run_of", lambda tape, records: ("dpboost", params))
        monkeypatch.setattr(certify, "follow", self.follow)
        monkeypatch.setattr(certify, "noise_tests", self.tests)
        monkeypatch.setattr(certify, "evidence", lambda one, other: self.pairs.append((one, other)) or 0.0)
        monkeypatch.setattr(certify, "_model", lambda told, model, text: [Row(f"{told} {text}", Verdict.HOLDS, model)])

    def follow(self, paper: str, params: Any, records: Any, entries: Any, unnoised: bool = False) -> Any:
        number = entries[0]["number"]
        self.asked.append((paper, params.epsilon, records, number, unnoised))
        end = self.ends[number][unnoised]
        if isinstance(end, Exception):
            raise end
        return f"model {number}", end, []

    def tests(self, pooled: Any, error: float) -> list[Any]:
        self.noise.append((pooled, error))
        return []


def test_all_runs_are_followed_and_pooled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise is tested in the releases of all runs at the error that is given; scores only where both ways lead on."""
    one, two, three, other = (released(name) for name in "abcd")
    found = Runs(monkeypatch, ([one, two], Parted("x")), ([three], [other]))
    records: Any = object()
    done = certify.certify(found.tapes, records, ["A", "B"], 0.25)
    assert found.asked == [("dpboost", 1.0, records, n, un) for n in (0, 1) for un in (False, True)]
    assert found.noise == [([one, two, three], 0.25 * 0.9)] and found.pairs == [([three], [other])]
    rows = {row.what: row for row in done.rows}
    assert rows["run 1 A"].reason == "model 0" and rows["run 2 B"].reason == "model 1"
    assert rows["plan"] == Row("plan", Verdict.HOLDS, "3 releases of 2 runs are those of the text, in order, for what "
                               "they claim: epsilon 1, add-remove")  # fmt: skip
    assert rows["scores move by released values"].verdict is Verdict.NOT_FOUND
    assert "cause of 1 outputs" in rows["scores move by released values"].reason
    assert certify.certify(found.tapes, records).rows[-1] == Row(
        "published object", Verdict.NOT_EXAMINED, "no model was given")  # fmt: skip
    assert found.noise[-1][1] == 0.9 * certify.ERROR and certify.ERROR == 1e-6
    for what in ("public draws", "secret samples"):
        assert rows[what] == Row(what, Verdict.HOLDS, "the text has none")


def test_runs_that_lead_nowhere_are_violations_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    one = released()
    nowhere = "run 1: what is released leads to no run of the text: off"
    for wrong, said in ((Parted("no"), "run 1: no"), (InvalidParameter("off"), nowhere)):
        found = Runs(monkeypatch, (wrong, NONE), ([one], InvalidParameter("x")))
        done = certify.certify(found.tapes, object(), ["A", "B"])  # type: ignore[arg-type]
        rows = {row.what: row for row in done.rows}
        assert rows["plan"] == Row("plan", Verdict.VIOLATION, said) and done.verdict is Verdict.VIOLATION
        assert found.noise[0][0] == [one] and "run 2 B" in rows and "run 1 A" not in rows
        none = certify.certify(found.tapes[:1], object())  # type: ignore[arg-type]
        told = {row.what: row for row in none.rows}
        assert told["noise"] == Row("noise", Verdict.NOT_EXAMINED, "no run could be followed")
        what = "scores move by released values"
        assert told[what] == Row(what, Verdict.NOT_EXAMINED, "no run could be followed", decides=False)


def test_one_model_a_run_is_needed_or_none() -> None:
    tape: Any = Tape({}, ())
    for count in (1, 3):
        with pytest.raises(InvalidParameter, match=f"{count} models for 2 transcripts"):
            certify.certify([tape, tape], object(), ["A"] * count)  # type: ignore[arg-type]


def test_no_transcripts_are_no_finding() -> None:
    done = certify.certify([], object())  # type: ignore[arg-type]
    assert done.verdict is Verdict.NOT_EXAMINED and not done.ok and done.status == 3
    assert "plan" not in {row.what for row in done.rows}
