"""A run of vectors through a program that stands for any: what it is asked, what is entered, and when it is stopped."""

from __future__ import annotations

from typing import Any

import pytest

from refdp.conform import margins, runner
from refdp.conform.compare import Difference
from refdp.conform.judge import PASSED, Judgement
from refdp.errors import InvalidParameter

FAILED = Judgement("failed", "bits", Difference("x", 1, 2))


class Program:
    """Supports DPBoost; answers each question by its id."""

    made: list[Program] = []

    def __init__(self, command: str, timeout: float) -> None:
        self.given, self.asked, self.stopped, self.crashes = (command, timeout), [], 0, 3  # type: ignore[var-annotated]
        self.made.append(self)

    def start(self) -> dict[str, Any]:
        return {"name": "me<b>", "version": 2, "supports": ["dpboost"]}

    def run(self, message: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(message)
        if message["id"] == "breaks":
            raise InvalidParameter("gone")
        return {"output": {"id": message["id"]}}

    def stop(self) -> None:
        self.stopped += 1


@pytest.fixture(autouse=True)
def replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is right where its id says so, which a program is told."""
    Program.made = []
    monkeypatch.setattr(runner, "told_as", str)
    monkeypatch.setattr(runner, "Client", Program)
    monkeypatch.setattr(runner, "judge", lambda test, kind, answer: PASSED if "right" in test["id"] else FAILED)


def vector(name: str, operation: str = "apply", **more: Any) -> dict[str, Any]:
    return {"id": name, "operations": [operation, "other"], "input": {"own": name}, "flags": [], **more}


def test_every_vector_of_a_paper_that_is_supported_is_asked_once() -> None:
    bodies = [
        {"paper": "dpboost", "kind": "grid", "tests": [vector("right 1"), vector("wrong 1")]},
        {"paper": "sgbdt", "kind": "grid", "tests": [vector("right 2"), vector("right 3")]},
        {"paper": "dpboost", "kind": "route", "tests": [vector("right 4")]},
    ]
    steps: list[int] = []
    report = runner.run("me --now", bodies, timeout=2.5, seed=4, progress=lambda: steps.append(1))
    (program,) = Program.made
    assert program.given == ("me --now", 2.5) and program.stopped == 1 and len(steps) == 5
    assert [one["id"] for one in program.asked] == ["right 1", "wrong 1", "right 4"]
    assert program.asked[2] == {
        "id": "right 4", "paper": "dpboost", "kind": "route", "operation": "apply", "input": {"own": "right 4"},
    }  # fmt: skip
    assert (report.name, report.version, report.seed, report.crashes) == ("me?b?", "2", 4, 3)
    assert report.counts == {("dpboost", "grid", "passed"): 1, ("dpboost", "grid", "failed"): 1,
                             ("sgbdt", "grid", "skipped"): 2, ("dpboost", "route", "passed"): 1}  # fmt: skip
    assert report.reasons == {"sgbdt is not supported": 2} and [one["id"] for one in report.failures] == ["wrong 1"]


def test_a_program_is_stopped_whatever_happens() -> None:
    with pytest.raises(InvalidParameter, match="gone"):
        runner.run("me", [{"paper": "dpboost", "kind": "grid", "tests": [vector("breaks")]}])
    (program,) = Program.made
    assert program.stopped == 1 and program.given == ("me", 60.0)


@pytest.mark.parametrize("close", [True, False])
@pytest.mark.parametrize(("operation", "how"), [("apply", "applied"), ("utilities", "near"), ("train", "settle")])
def test_what_differs_is_settled_where_margins_are_allowed(
    monkeypatch: pytest.MonkeyPatch, operation: str, how: str, close: bool
) -> None:
    """Single answers by themselves, runs by further questions; what no margin is told for has failed."""
    asked: list[str] = []

    def settle(paper: str, test: Any, answer: Any, ask: Any) -> Any:
        asked.append("settle")
        assert paper == "dpboost" and ask({"other": 1})["output"]["id"] == test["id"]
        return margins.ACCEPTABLE if close else None

    for name in ("applied", "near"):
        monkeypatch.setattr(margins, name, lambda test, output, name=name: asked.append(name) or close)
    monkeypatch.setattr(margins, "settle", settle)
    body = {"paper": "dpboost", "kind": "node"}
    program: Any = Program("me", 1.0)

    def verdict(test: dict[str, Any]) -> Judgement:
        return runner.examined(program, body, test, {"dpboost"}, {})

    assert verdict(vector("wrong", operation, tolerance={"choices": 4})) == (margins.ACCEPTABLE if close else FAILED)
    assert asked == [how]
    if how == "settle":
        assert program.asked[-1] == {**program.asked[0], "input": {"other": 1}}
    for plain in (vector("wrong", operation), vector("wrong", operation, tolerance={"ulps": 1})):
        assert verdict(plain) is FAILED
    assert verdict(vector("right", operation, tolerance={"choices": 4})) is PASSED and asked == [how]
    monkeypatch.setattr(Program, "run", lambda self, message: {"error": "crash"})
    assert verdict(vector("wrong", operation, tolerance={"choices": 4})) is FAILED and asked == [how]


@pytest.mark.parametrize("error", [InvalidParameter, AttributeError, IndexError, KeyError, TypeError, ValueError])
def test_an_answer_of_another_form_has_failed(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def broken(*given: Any) -> Any:
        raise error("form")

    monkeypatch.setattr(margins, "settle", broken)
    program: Any = Program("me", 1.0)
    test = vector("wrong", "train", tolerance={"choices": 4})
    assert runner.examined(program, {"paper": "dpboost", "kind": "train"}, test, {"dpboost"}, {}) is FAILED
