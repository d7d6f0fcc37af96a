"""A formula of a paper's module and what it is in the text of the theorems; how formulas of a kind are written."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Any

import numpy as np

from proofs.replay.printed import Printed, Whole, exactly, printed
from refdp.data.records import Classes, Interval
from refdp.privacy.events import Relation

REGRESSION, CLASSES = Interval(-1.0, 1.0), Classes(("n", "y"))
RELATIONS = {"": (Relation.ADD_REMOVE, 1), "_replaced": (Relation.REPLACE_ONE, 2)}


@dataclass(frozen=True)
class Formula:
    """A formula of Python and what it is in the text.

    name: of the definition in Coq. python: the function, "module:qualified name" below refdp.papers. arguments: names,
    "n:nat" for a natural number. run: the formula of its arguments. says: the statement, in which {it} is the formula.
    unfolds: what the proof replaces by its definition. proof: another proof than `formula`.
    """

    name: str
    python: str
    arguments: str
    run: Callable[..., Any]
    says: str
    unfolds: str = ""
    proof: str = "formula"
    truth: bool = False

    @property
    def paper(self) -> str:
        """The paper's module."""
        return self.python.partition(":")[0]

    def definition(self) -> str:
        """What Python computes, as a definition."""
        symbols = [
            (Whole if kind == "nat" else Printed)(name)
            for name, _, kind in (argument.partition(":") for argument in self.arguments.split())
        ]
        with exactly(module(self.paper)):
            term = printed(lambda: self.run(*symbols))
        binders = " ".join(
            f"({name} : {kind or 'R'})"
            for name, _, kind in (argument.partition(":") for argument in self.arguments.split())
        )
        return f"Definition {self.name} {binders} : {'bool' if self.truth else 'R'} := {term}."

    def statement(self) -> str:
        """That it is the text's."""
        return self.says.replace("{it}", self.name)

    def tactic(self) -> str:
        """The proof of it."""
        names = ", ".join([self.name, *self.unfolds.split()])
        return f"intros; unfold {names}; {self.proof}"


def module(paper: str) -> Any:
    """A paper's module."""
    return importlib.import_module(f"refdp.papers.{paper}")


def of(paper: str, relation: Relation, **settings: Any) -> Any:
    """Parameters of a paper, some of them symbols, which no check would let pass."""
    kind = module(paper).Params
    params = object.__new__(kind)
    defaults = {field.name: field.default for field in fields(kind)}
    for name, value in (defaults | {"epsilon": 1.0, "relation": relation} | settings).items():
        object.__setattr__(params, name, value)
    return params


def schema(target: Any, scores: Any = 1) -> Any:
    """A schema of which a formula may ask the target and the number of scores."""
    return SimpleNamespace(target=target, scores=scores)


def call(python: str) -> Callable[..., Any]:
    """The function as it is at the time."""

    def function(*arguments: Any) -> Any:
        paper, _, name = python.partition(":")
        return getattr(module(paper), name)(*arguments)

    return function


def plain(python: str, arguments: str, text: str, unfolds: str, *more: Any) -> Formula:
    """A formula that is a text's function of the same arguments."""
    name = python.replace(":", "_")
    names = " ".join(argument.partition(":")[0] for argument in arguments.split())
    return Formula(name, python, arguments, lambda *given: call(python)(*given, *more),
                   f"forall {names}, {{it}} {names} = {text}", unfolds)  # fmt: skip


def both(python: str, arguments: str, text: str, unfolds: str) -> Iterator[Formula]:
    """A formula that is so many times the text's: 1 under add-remove, 2 under replace-one."""
    names = " ".join(argument.partition(":")[0] for argument in arguments.split())
    for ending, (relation, changed) in RELATIONS.items():
        yield Formula(
            python.replace(":", "_") + ending, python, arguments,
            lambda *given, relation=relation: call(python)(*given, relation),
            f"forall {names}, {{it}} {names} = times {changed} {text}", unfolds,
        )  # fmt: skip


def charged(
    name: str, python: str, arguments: str, run: Callable[..., Any], says: str, unfolds: str, proof: str = "formula"
) -> Iterator[Formula]:
    """What a release is calibrated to under both relations. {changed}: how many records of neighbours differ."""
    for ending, (relation, changed) in RELATIONS.items():
        yield Formula(
            name + ending, python, arguments, lambda *given, relation=relation: run(relation, *given),
            says.replace("{changed}", f"{changed}%nat"), unfolds, proof,
        )  # fmt: skip


def contributed(paper: str, params: Any, target: Any, score: Any, label: Any) -> Any:
    """What a record contributes."""
    return module(paper).Contribution(params, schema(target)).statistics(score, label, ("g", "h"))


def labelled(paper: str, target: Any, label: Any, **settings: Any) -> Any:
    """What a label in [0, 1], or scaled to [-1, 1], is for the loss."""
    given = SimpleNamespace(target=target, label=lambda _, y: y)
    return module(paper).Contribution(of(paper, Relation.ADD_REMOVE, **settings), given).label(0, label)


def labels(paper: str) -> Iterator[Formula]:
    """1 for the class and -1 for the rest; a label in [-1, 1] as it is."""
    for ending, target, says in (("", REGRESSION, "y"), ("_classes", CLASSES, "2 * y - 1")):
        yield Formula(
            f"{paper}_label{ending}", f"{paper}:Contribution.label", "y",
            lambda y, target=target: labelled(paper, target, y), f"forall y, {{it}} y = {says}",
        )  # fmt: skip


def sides() -> Any:
    """Candidates that make no sides of sums: they are sides already."""
    return SimpleNamespace(sides=lambda sums, *_: sums, values=None, features=None)


def column(*numbers: Any) -> Any:
    """Printed numbers in an array, shape (numbers, 1)."""
    return np.array([[number] for number in numbers], dtype=object)
