"""Privacy mutants: a module's source with one mistake, and the audit that must catch and locate it."""

from __future__ import annotations

import importlib
import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from refdp.audit.freshness import stale
from refdp.audit.neighbours import pairs
from refdp.audit.replay import Finding, Trainer, run, sampled
from refdp.audit.report import departure
from refdp.audit.worst import worst_case
from refdp.data.records import Records, Schema
from refdp.privacy.curator import Curator
from refdp.privacy.events import Plan, Relation, expand
from refdp.privacy.sources import SampleSource

Replacement = Callable[[Any], Any]
"""From a function (or class, or constant) to what takes its place."""


@dataclass(frozen=True)
class Mutant:
    """One mistake. patches: what takes the place of which function, "module:qualified name". located: part of the name
    of a release where it shows."""

    name: str
    patches: tuple[tuple[str, str, str], ...] | Mapping[str, Replacement]
    located: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Caught:
    """One detection: by which check, and where."""

    by: str
    where: str


@contextmanager
def applied(patches: Mapping[str, Replacement]) -> Iterator[None]:
    """Functions, methods or constants replaced, wherever their module looks them up, and no result of before kept.

    A name after "+" is one that the module makes for itself.
    """
    with pytest.MonkeyPatch.context() as patch:
        if "refdp.prove.syntax" in sys.modules:  # no source makes what a test puts there
            patch.setattr("refdp.prove.syntax.otherwise_made", lambda *_: iter(()))
        for path, replacement in patches.items():
            module, _, name = path.partition(":")
            owner: Any = importlib.import_module(module)
            if name.startswith("+"):
                patch.setattr(owner, name[1:], replacement(owner), raising=False)
                continue
            *outer, name = name.split(".")
            for part in outer:
                owner = getattr(owner, part)
            original = vars(owner)[name]
            made = replacement(original)
            imported = [module for key, module in sys.modules.items() if key.startswith("refdp.")] if not outer else []
            for place in [owner, *(other for other in imported if vars(other).get(name) is original)]:
                patch.setattr(place, name, made)
        forget()
        yield
    forget()


def forget() -> None:
    """Empty every cache of refdp's functions."""
    for name, module in list(sys.modules.items()):
        if name.startswith("refdp."):
            for value in list(vars(module).values()):
                if callable(getattr(value, "cache_clear", None)) and not isinstance(value, type):
                    value.cache_clear()


def edit(*changes: tuple[str, str]) -> Replacement:
    """A replacement whose body is the function's own with some texts changed, each found exactly once."""

    def replacement(function: Any) -> Any:
        function = inspect.unwrap(function)
        source = textwrap.dedent(inspect.getsource(function))
        for old, new in changes:
            assert source.count(old) == 1, (
                f"{function.__qualname__}: {old!r} occurs {source.count(old)} times, not once"
            )
            source = source.replace(old, new)
        made: dict[str, Any] = {}
        source, name = f"from __future__ import annotations\n{source}", f"<mutant of {function.__qualname__}>"
        linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
        exec(compile(source, name, "exec"), function.__globals__, made)
        return made[function.__name__]

    return replacement


def added(source: str) -> Replacement:
    """A function or class of a module's own, from a module to it. source: its text, from its marks on."""

    def replacement(module: Any) -> Any:
        made: dict[str, Any] = {}
        text = f"from __future__ import annotations\n{source}"
        name = f"<mutant of {module.__name__}: {source.partition('(')[0]}, {len(source)}>"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        exec(compile(text, name, "exec"), module.__dict__, made)
        return next(one for key, one in made.items() if key != "annotations")

    return replacement


def instead(module: str, source: str) -> Replacement:
    """As `added`, in the place of what the module has by that name already."""
    return lambda _: added(source)(importlib.import_module(module))


def mutated(patches: tuple[tuple[str, str, str], ...], paper: str) -> ModuleType:
    """The paper's module, re-executed with every patch made in its own source or in a module that it uses."""
    names = list(dict.fromkeys([*(name for name, _, _ in patches), paper]))
    kept = {name: importlib.import_module(name) for name in names}
    try:
        for name in names:
            sys.modules[name] = ModuleType(name)
            _execute(sys.modules[name], kept[name], [(old, new) for where, old, new in patches if where == name])
        return sys.modules[paper]
    finally:
        sys.modules.update(kept)


def _execute(module: ModuleType, original: ModuleType, changes: list[tuple[str, str]]) -> None:
    """Run the original's source, with every change made, in the new module."""
    assert original.__file__ is not None
    module.__file__ = original.__file__
    source = Path(original.__file__).read_text(encoding="utf-8")
    for old, new in changes:
        assert source.count(old) == 1, f"{original.__name__}: {old!r} occurs {source.count(old)} times, not once"
        source = source.replace(old, new)
    exec(compile(source, original.__file__, "exec"), module.__dict__)


def audit(
    train: Trainer,
    plan: Plan,
    schema: Schema,
    epsilon: float,
    *,
    count: int = 36,
    source: Callable[[np.random.Generator], Any] = SampleSource,
    enough: Callable[[Iterable[Caught]], bool] = lambda _: False,
) -> list[Caught]:
    """Every check of the audit on a trainer that claims `plan`; what it caught, without repetitions.

    enough: asked after every pair of neighbours whether what was caught suffices.
    """
    caught: dict[Caught, None] = {}
    relation = plan.relation
    for seed, pair in enumerate(islice(pairs(schema, relation, 7), count)):
        if seed == 0:
            caught.update(dict.fromkeys(_against_plan(train, plan, pair.first())))
            caught.update(dict.fromkeys(_freshness(train, pair.first(), relation, source)))
        findings = [sampled(train, pair, seed, epsilon)]
        if seed % 6 == 0:
            findings += [worst_case(train, pair, epsilon, reverse=reverse) for reverse in (False, True)]
        caught.update(dict.fromkeys(_shown(findings)))
        if enough(caught):
            break
    return list(caught)


def _shown(findings: list[Finding]) -> list[Caught]:
    return [Caught(v.kind, v.release.rsplit("/", 1)[-1]) for finding in findings for v in finding.violations]


def _against_plan(train: Trainer, plan: Plan, records: Records) -> list[Caught]:
    """The first recorded release that the plan does not have, if any."""
    curator = Curator(SampleSource(np.random.default_rng(3)), plan.relation)
    train(records, curator)
    place = departure(curator.event(), expand(plan.event))
    return [Caught("plan", place)] if place else []


def _freshness(train: Trainer, records: Records, relation: Relation, source: Callable[..., Any]) -> list[Caught]:
    transcripts = [run(train, records, source(np.random.default_rng(seed)), relation)[0] for seed in (11, 12)]
    return [Caught(v.kind, v.release.rsplit("/", 1)[-1]) for v in stale(*transcripts)]
