"""What runs beside what its source says: ways in which something else is put there, and none where nothing was."""

from __future__ import annotations

import ast
import copy
import functools
import gc
import importlib
import inspect
import marshal
import os
import pickle
import subprocess
import sys
import threading
import time
import typing
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

from refdp import accounting, data, noise
from refdp.data import kernels, numbers
from refdp.data.numbers import Generic
from refdp.data.records import Classes, Numeric
from refdp.faces import estimators, registry
from refdp.ledger import caches, fingerprint, parts, proved, written
from refdp.ledger.certificate import Guarantee
from refdp.noise import gridded
from refdp.privacy.events import Relation

TEXT = """
from __future__ import annotations
import math
import re
from collections import deque
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import Literal, NamedTuple, Protocol
import numpy as np
from refdp.data.numbers import Generic

GRID, TABLE, SOME, ROWS = 2.0**-24, {"a": 1, "b": [1, 2]}, frozenset({"x", "y"}), np.arange(3.0)
HALF = Fraction(1, 2)
KIND, SHAPES, PATTERN, LAST = Literal["a", "b"], list[int] | None, re.compile("a+"), deque([1])
WINDOW = slice(1, None)
HERE, OBJECTS = ContextVar("here"), np.array([None, "a"], dtype=object)
least = Generic("least", np.minimum)
least.register(Fraction, lambda *numbers: min(numbers))

class Colour(Enum):
    RED = "red"
    BLUE = "blue"

BY_COLOUR = {Colour.RED: 1, Colour.BLUE: 2}

class Asks(Protocol):
    def ask(self, one: int) -> float: ...

class Pair(NamedTuple):
    one: int
    other: float = 0.0

@dataclass(frozen=True)
class Params:
    depth: int = 6
    names: tuple[str, ...] = field(default_factory=tuple)

    def bound(self, share: float = 0.5, *, more: float = 1.0) -> float:
        return share * more * GRID

    @property
    def size(self) -> int:
        return 2**self.depth

    @cached_property
    def slow(self) -> int:
        return self.depth + 1

    @classmethod
    def made(cls) -> Params:
        return cls()

    @staticmethod
    def plain() -> int:
        return 1

    def last(self, rows: slice = slice(None)) -> object:
        return self.names[rows]

    class Inner:
        __slots__ = ("one",)

DEFAULT, PAIR = Params(), Pair(1)
bound = DEFAULT.bound

@lru_cache(maxsize=4)
def kept(one: int) -> int:
    return one

def adder(more: int):
    def add(one: int) -> int:
        return one + more
    def unused() -> int:
        return later
    if more < 0:
        later = 1
    add.beside = unused
    return add

add = adder(3)
half = partial(add, 1)
"""
NAME = "written_beside"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("written")
    (found / f"{NAME}.py").write_text(TEXT, encoding="utf-8")
    return found


@pytest.fixture
def module(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module(NAME)
    sys.modules.pop(NAME, None)
    written._known.cache_clear()


def louder(*_: Any, **__: Any) -> Any:
    return 64.0


class Other:
    pass


class Chosen(type):
    """Of whose classes is whatever it says, whenever it is asked."""

    asked = False

    def __instancecheck__(cls, instance: Any) -> bool:
        return cls.asked


def disguised(function: Any) -> Any:
    """Another function in a cache that says that it is this one."""
    return functools.update_wrapper(functools.lru_cache(maxsize=4)(louder), function.__wrapped__)


def imposter(module: Any) -> type:
    """A class by the name of another one, with all of its names."""
    own = {**vars(module.Params), "bound": louder}
    return type("Params", (), {name: one for name, one in own.items() if name not in ("__dict__", "__weakref__")})


def swapped(function: Any, **more: Any) -> FunctionType:
    """The same code in other surroundings."""
    return FunctionType(function.__code__, {**function.__globals__, **more}, function.__name__, function.__defaults__)


class Named(type(typing.Protocol)):  # type: ignore[misc]
    """Another class of classes."""


class Lazy(ModuleType):
    """Gives what it wants by a name."""

    def __getattribute__(self, name: str) -> Any:
        return louder if name == "adder" else ModuleType.__getattribute__(self, name)


def derived(kind: type) -> type:
    return type(kind.__name__, (kind,), {"bound": louder})


def disguised_class(kind: type) -> type:
    own = {"__getattribute__": kind.__getattribute__, "__module__": "builtins", "__qualname__": "module"}
    return type("module", (ModuleType,), own)


def put(place: str, make: Callable[[Any], Any]) -> Callable[[Any], None]:
    def change(module: Any) -> None:
        owner, *names = module, *place.split(".")
        for name in names[:-1]:
            owner = getattr(owner, name)
        setattr(owner, names[-1], make(module))

    return change


CHANGES: dict[str, Callable[[Any], Any]] = {
    "GRID": put("GRID", lambda _: 2.0**-18),
    "GRID, of another kind": put("GRID", lambda _: np.float64(2.0**-24)),
    "TABLE": lambda module: module.TABLE.update(a=2),
    "TABLE, longer": lambda module: module.TABLE.update(c=2),
    "TABLE, inside": lambda module: module.TABLE["b"].append(3),
    "SOME": put("SOME", lambda _: frozenset({"x"})),
    "ROWS": lambda module: module.ROWS.put(0, 5.0),
    "HALF": put("HALF._numerator", lambda _: 3),
    "ROWS, shape": put("ROWS", lambda module: module.ROWS[None]),
    "OBJECTS": lambda module: module.OBJECTS.put(0, 5.0),
    "KIND": put("KIND", lambda _: "a"),
    "SHAPES": put("SHAPES", lambda _: list[str] | None),
    "PATTERN": put("PATTERN", lambda _: __import__("re").compile("b+")),
    "LAST": lambda module: module.LAST.append(2),
    "BY_COLOUR": lambda module: module.BY_COLOUR.update({module.Colour.RED: 2}),
    "Colour": lambda module: setattr(module.Colour.RED, "_value_", "blue"),
    "least": lambda module: module.least.register(np.ndarray, louder),
    "least, anything": lambda module: module.least.register(object, louder),
    "least, its default": put("least._default", lambda _: np.maximum),
    "Params, imposter": put("Params", imposter),
    "Params, other": put("Params", lambda _: Other),
    "Params.bound": put("Params.bound", lambda _: louder),
    "Params.bound, code": put("Params.bound.__code__", lambda _: louder.__code__),
    "Params.bound, defaults": put("Params.bound.__defaults__", lambda _: (32.0,)),
    "Params.bound, named defaults": put("Params.bound.__kwdefaults__", lambda _: {"more": 32.0}),
    "Params.bound, entry": lambda module: module.Params.bound.__kwdefaults__.update(more=32.0),
    "Params.bound, names": put("Params.bound", lambda module: swapped(module.Params.bound, GRID=1.0)),
    "Params.size": put("Params.size", lambda _: property(louder)),
    "Params.slow": put("Params.slow.func", lambda _: louder),
    "Params.slow, of a kind": put("Params.slow", lambda _: cached_property(louder)),
    "Params.made": put("Params.made", lambda _: classmethod(louder)),
    "Params.plain": put("Params.plain", lambda _: staticmethod(louder)),
    "Params.__init__": put("Params.__init__", lambda _: louder),
    "Params.__getattribute__": put("Params.__getattribute__", lambda _: object.__getattribute__),
    "Params.Inner": put("Params.Inner", lambda _: Other),
    "Params, base": lambda module: setattr(module.Params.Inner, "more", 1),
    "Pair": put("Pair.__new__", lambda _: louder),
    "DEFAULT": lambda module: object.__setattr__(module.DEFAULT, "depth", 7),
    "bound": put("bound", lambda module: module.Params(depth=1).bound),
    "kept": put("kept", lambda module: functools.lru_cache(maxsize=8)(module.kept.__wrapped__)),
    "kept, with another's name": put("kept", lambda module: disguised(module.kept)),
    "WINDOW": put("WINDOW", lambda _: slice(0, None, -1)),
    "Params.last, its default": put("Params.last.__defaults__", lambda _: (slice(0, 1),)),
    "Pair.other": put("Pair.other", lambda module: module.Pair.one),
    "least, of a kind of kinds": lambda module: module.least.register(Chosen("Late", (), {}), louder),
    "kept, unwrapped": put("kept", lambda module: module.kept.__wrapped__),
    "add": put("add", lambda module: module.adder(4)),
    "add, a cell": lambda module: setattr(module.add.__closure__[0], "cell_contents", 4),
    "half": put("half", lambda module: functools.partial(module.add, 2)),
    "math": put("math", lambda _: ModuleType("math")),
    "more": put("more", lambda _: 1),
    "less": lambda module: delattr(module, "half"),
    "least, its class": lambda module: setattr(module.least, "__class__", Chosen("Generic", (Generic,), {})),
    "DEFAULT, its class": lambda module: object.__setattr__(module.DEFAULT, "__class__", derived(module.Params)),
    "PAIR, its class": lambda module: setattr(module.PAIR, "__class__", type("Pair", (tuple,), {"__slots__": ()})),
    "Asks, its class": lambda module: setattr(module.Asks, "__class__", Named),
    "the module, its class": lambda module: setattr(module, "__class__", Lazy),
    "the module, its class by the same name": lambda module: setattr(module, "__class__", disguised_class(Lazy)),
    "built-in functions": lambda module: vars(module).update(__builtins__={"min": max}),
}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("what", CHANGES)
def test_what_is_put_there_is_told(what: str, first: bool, module: Any) -> None:
    """first: it is put there before anybody asks."""
    assert first or written.otherwise([NAME]) == ""
    CHANGES[what](module)
    assert written.otherwise([NAME]).startswith(NAME)


def test_nothing_is_told_of_what_is_there(module: Any) -> None:
    """Whatever was computed with it, copied, warned of or taken away and put back, and where other kinds joined."""
    for _ in range(2):
        assert written.otherwise([NAME]) == "" == written.differs(module)
        assert copy.deepcopy(module.DEFAULT) == pickle.loads(pickle.dumps(module.DEFAULT))
        copy.copy(module.Params.Inner())
        assert "__slotnames__" in vars(module.Params.Inner)
        vars(module)["__warningregistry__"] = {"version": 1}
        typing.get_type_hints(module.Params), inspect.signature(module.Params)
        for owner, name in ((module, "add"), (module.Params, "size")):
            value = vars(owner)[name]
            delattr(owner, name)
            setattr(owner, name, value)
        module.least.register(Other, louder)
        assert module.Params().slow == 7 and module.half() == 4 and module.kept(3) == 3
        for _ in range(50):
            module.DEFAULT.bound()


def test_what_was_put_there_and_taken_away_is_no_difference(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert written.otherwise([NAME]) == ""
    monkeypatch.setattr(module.Params, "bound", louder)
    assert written.otherwise([NAME]) == f"{NAME}.Params.bound"
    monkeypatch.undo()
    assert written.otherwise([NAME]) == ""


BEHIND = """
SCALE = 1.0
"""
BEFORE = """
from functools import lru_cache
import {behind} as behind

@lru_cache(maxsize=4)
def kept(one):
    return behind.SCALE * one
"""


@pytest.fixture
def caching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Any]]:
    """A module with a cache, and one behind it, later in the alphabet."""
    names = ["written_kept", "written_later"]
    for name, text in zip(names, (BEFORE.format(behind=names[1]), BEHIND), strict=True):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield tuple(map(importlib.import_module, names))
    for name in names:
        sys.modules.pop(name, None)
    for function in (written._known, caches._compared, fingerprint.source_of, fingerprint.parsed_module):
        function.cache_clear()


@pytest.mark.parametrize("known", [True, False])
def test_what_a_cache_keeps_is_compared_once_all_modules_are_what_they_should_be(
    known: bool, caching: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And told once: caches are emptied, so that what runs next is what the sources say. known: compared before."""
    first, later = caching
    names = [first.__name__, later.__name__]
    assert not known or (first.kept(2), written.otherwise(names)) == (2.0, "")
    monkeypatch.setattr(later, "SCALE", 0.125)
    assert first.kept(8) == 1.0
    assert written.otherwise(names) == "written_later.SCALE"
    monkeypatch.undo()
    sys.modules.update({one.__name__: one for one in caching})
    assert written.otherwise(names) == "written_kept.kept, whose cache keeps what something else made"
    assert (written.otherwise(names), first.kept(8)) == ("", 8.0)


def test_modules_behind_caches_of_refdp_are_compared_too() -> None:
    found = caches.with_those_of_caches(frozenset({"refdp.accounting.gaussian"}))
    assert {"refdp.accounting.gaussian", "refdp.accounting.rounding"} <= found


class Same(Fraction):
    """Says that it is any other number."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = Fraction.__hash__


class Half(float):
    """A number of another class, and nothing else."""


@dataclass(frozen=True)
class Made:
    one: Any = 1


@dataclass(frozen=True)
class Pretends(Made):
    @property
    def __class__(self) -> type:  # type: ignore[override]
        return Made


@dataclass(frozen=True)
class Says:
    one: Any = 1

    def __eq__(self, other: object) -> bool:
        return True


class Text(str):
    """A text of another class."""


HONEST = [1, 0.5, "a", b"a", None, Fraction(1, 2), np.float64(1), (1, (0.5, "a")), int, Chosen("Late", (), {}),
          louder, Made(), object(), Relation.ADD_REMOVE, Numeric("a", Half(0.0), 1.0), Classes(("a", "b"))]  # fmt: skip


@pytest.mark.parametrize("key", HONEST, ids=lambda one: type(one).__name__)
def test_a_key_that_equals_what_it_is_made_of_is_no_difference(key: Any, caching: tuple[Any, Any]) -> None:
    assert caches.equals_alike(key)


TOLD = [Same(1, 100), (1, Same(1, 100)), Pretends(), Says(), Guarantee(Says(), 0.0), Half(0.5), (1, (Half(0.5), "a")),
        Text("a"), Made(Half(0.5))]  # fmt: skip


@pytest.mark.parametrize("key", TOLD, ids=lambda one: type(one).__name__)
def test_a_key_that_says_itself_what_it_equals_is_told(key: Any, module: Any) -> None:
    """Under it something was kept that is given for another key. What only inherits what it equals may calculate in
    its own way."""
    assert not caches.equals_alike(key)
    module.kept(key)
    assert written.otherwise([NAME]) == f"{NAME}.kept, whose cache may be asked with what says itself what it equals"
    assert written.otherwise([NAME]) == ""


def test_a_module_without_a_source_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    made = ModuleType("made_without_source")
    vars(made)["__builtins__"] = __builtins__
    monkeypatch.setitem(sys.modules, "made_without_source", made)
    assert "cannot be executed anew" in written.otherwise(["made_without_source"])


def test_a_module_of_refdp_comes_from_refdps_own_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Digests are of the files there: the same text elsewhere may import other things."""
    text = Path(str(gridded.__file__)).read_text(encoding="utf-8")
    (tmp_path / "gridded.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(noise, "__path__", [str(tmp_path), *noise.__path__])
    monkeypatch.delitem(sys.modules, gridded.__name__)
    elsewhere = importlib.import_module(gridded.__name__)
    assert written.differs(elsewhere) == ", which comes from another file than refdp's own"
    assert written.otherwise([noise.__name__]) == ""
    monkeypatch.setitem(sys.modules, gridded.__name__, gridded)
    assert written.otherwise([noise.__name__]) == "refdp.noise.gridded"
    noise.gridded = gridded
    assert written.otherwise([noise.__name__]) == ""


def test_no_package_is_due_beside_a_file_of_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Python takes the package, and no digest that was kept is of it."""
    monkeypatch.setattr(written.resources, "files", lambda _: tmp_path)
    (tmp_path / "noise" / "samplers").mkdir(parents=True)
    (tmp_path / "noise" / "samplers" / "__init__.py").touch()
    package = ModuleType("refdp.noise.samplers")
    vars(package).update(__path__=[], __file__=str(tmp_path / "noise" / "samplers" / "__init__.py"))
    assert written._place(package) == written._due(package)
    (tmp_path / "noise" / "samplers.py").touch()
    assert written._due(package) == tmp_path / "noise" / "samplers.py"
    assert written.differs(package) == ", which comes from another file than refdp's own"


def test_the_digest_of_the_reading_is_of_folders_in_folders_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in proved.FOLDERS:
        (tmp_path / name).mkdir()
    (tmp_path / "noise" / "draws.py").write_text("SCALE = 1", encoding="utf-8")
    monkeypatch.setattr(proved.resources, "files", lambda _: tmp_path)
    assert proved._sources() == {"noise/draws.py": b"SCALE = 1"}
    before = proved.bytes_of()
    (tmp_path / "noise" / "draws" / "own").mkdir(parents=True)
    (tmp_path / "noise" / "draws" / "own" / "more.py").write_text("SCALE = 1000", encoding="utf-8")
    assert proved._sources()["noise/draws/own/more.py"] == b"SCALE = 1000" and proved.bytes_of() != before


def test_a_module_that_another_thread_imports_meanwhile_is_no_difference(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "made_package").mkdir()
    (tmp_path / "made_package" / "__init__.py").write_text("GRID = 1", encoding="utf-8")
    (tmp_path / "made_package" / "late.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    package = importlib.import_module("made_package")

    def meanwhile(code: Any, names: dict[str, Any]) -> None:
        importlib.import_module("made_package.late")
        exec(code, names)

    monkeypatch.setattr(written, "exec", meanwhile, raising=False)
    try:
        assert written.differs(package) == "" and "late" in vars(package)
        vars(package)["late"] = ModuleType("made_package.late")
        assert written.otherwise(["made_package"]) == "made_package.late"
        vars(package)["early"] = ModuleType("elsewhere")
        assert written.differs(package) == ".early"
    finally:
        for name in ("made_package", "made_package.late"):
            sys.modules.pop(name, None)


def test_the_kinds_that_join_are_none_of_training() -> None:
    assert isinstance(numbers.minimum, Generic)
    assert [parts.is_plain(kind) for kind in (Other, int, object, np.ndarray, np.floating)] == [False, *[True] * 4]


def copy_of(module: ModuleType, **more: Any) -> ModuleType:
    """Another module by the same name, with other things in it."""
    found = ModuleType(module.__name__)
    vars(found).update({**vars(module), **more})
    return found


def test_after_estimators_are_loaded_nothing_is_told() -> None:
    assert estimators.__name__ in sys.modules
    assert [proved.running(name) for name in (*registry.PAPERS, *registry.OWN)] == [""] * 6


@pytest.mark.parametrize("users", [True, False])
def test_a_module_that_stands_in_anothers_place_is_told(users: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package's attribute is what imports take, so that sources make the same of it. users: have it already."""
    assert proved.running("dpboost") == ""
    other = copy_of(kernels, leaf_sums=lambda *given, **named: 1000 * kernels.leaf_sums(*given, **named))
    if users:
        for module in [one for name, one in sys.modules.items() if name.startswith("refdp.")]:
            for name in [name for name, one in vars(module).items() if one is kernels]:
                monkeypatch.setattr(module, name, other)
    monkeypatch.setattr(data, "kernels", other)
    assert proved.running("dpboost") == "refdp.data.kernels"
    monkeypatch.setitem(sys.modules, kernels.__name__, other)
    assert proved.running("dpboost").startswith("refdp.data.kernels")
    monkeypatch.undo()
    assert proved.running("dpboost") == ""


@pytest.mark.parametrize(
    ("module", "package"), [("refdp.accounting.conversion", accounting), ("refdp.data.losses", data)]
)
def test_what_only_imports_reach_is_compared(module: str, package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of somebody else's in a module of the name lead to no source of refdp's."""
    own = sys.modules[module]
    foreign = {name: lambda *_: 0.0 for name, one in vars(own).items() if callable(one)}
    other = copy_of(own, **foreign)
    monkeypatch.setitem(sys.modules, module, other)
    monkeypatch.setattr(package, module.rpartition(".")[2], other)
    assert proved.running("dpboost").startswith(module)
    other.__name__ = "another"
    assert proved.running("dpboost") == f"{module}.__name__"


@pytest.mark.parametrize(
    "name",
    [
        "ledger.certificate.account",
        "faces.training.source_for",
        "faces.training.SampleSource",
        "faces.training.SystemBits",
        "faces.training._trained",
        "faces.estimators.base.source_for",
        "faces.registry.Paper.train",
    ],
)
def test_what_issues_certificates_and_makes_the_curator_is_compared(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert proved.running("dpboost") == ""
    monkeypatch.setattr(f"refdp.{name}", lambda *_, **__: None)
    assert proved.running("dpboost") == f"refdp.{name}"


def test_an_edited_source_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With verdicts about the text of before nothing is established; what was made of it is forgotten then."""
    name, real = "refdp.papers.dpboost", inspect.getsource
    assert proved.running("dpboost") == ""
    monkeypatch.setattr(fingerprint, "source_of", lambda one: f"# a line\n{real(sys.modules[one])}")
    monkeypatch.setattr(written, "source_of", fingerprint.source_of)
    fingerprint.parsed_module.cache_clear()
    written._known(name).clear()
    assert proved.running("dpboost").startswith(name)
    monkeypatch.undo()
    before = fingerprint.fingerprint.cache_info().currsize
    assert proved.running("dpboost") == "" and before == 0


@pytest.mark.parametrize("edited", [True, False])
def test_where_an_edited_file_is_no_matter_what_caches_keep_is(
    edited: bool, caching: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """edited: whether that is told."""
    first, later = caching
    names, kept = [first.__name__, later.__name__], "written_kept.kept, whose cache keeps what something else made"
    sys.modules.update({one.__name__: one for one in caching})
    assert written.otherwise(names) == ""
    Path(later.__file__).write_text("SCALE = 0.125  # of which the module is none yet", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(later, "SCALE", 0.5)
        assert first.kept(8) == 4.0
    assert [written.otherwise(names, edited=edited) for _ in range(2)] == [kept, "written_later.SCALE"]
    monkeypatch.setattr(later, "SCALE", 0.125)
    assert written.otherwise(names) == ""
    Path(later.__file__).write_text("SCALE = 0.25  # once more, and the module is of it", encoding="utf-8")
    monkeypatch.setattr(later, "SCALE", 0.25)
    assert written.otherwise(names, edited=edited) == ("written_later.SCALE" if edited else "")
    assert written.otherwise(names) == ""


def test_a_function_that_no_source_makes_has_an_empty_text() -> None:
    """Bytecode of a longer file than is there, or what a command line says: nothing ends in an error."""
    longer = compile("def made(): ...", numbers.__file__, "exec").co_consts[0].replace(co_firstlineno=10**6)
    elsewhere = compile("def made(): ...", "<string>", "exec").co_consts[0]
    for code, module in ((longer, numbers.__name__), (elsewhere, "builtins")):
        function = FunctionType(code, vars(numbers), "made")
        function.__module__ = module
        assert fingerprint.reachable(function)[f"{module}:made"] == fingerprint.tree_digest(ast.Pass())


def test_papers_of_others_are_no_difference_and_one_in_anothers_place_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._registered, "mine", sys.modules["refdp.papers.dpboost"])
    assert proved.running("dpboost") == "" == proved.running("mine")
    monkeypatch.setitem(registry._registered, "dpboost", ModuleType("mine"))
    assert proved.running("dpboost") == "refdp.faces.registry._registered"


def test_caches_are_looked_at_while_other_threads_fill_them() -> None:
    one = lru_cache(maxsize=2000)(lambda value: (value,))
    free = lru_cache(maxsize=None)(lambda value: (value,))
    done = threading.Event()

    def fill() -> None:
        value = 0
        while not done.is_set():
            value += 1
            one(value), free(value)
            if value % 2000 == 0:
                one.cache_clear(), free.cache_clear()

    def collected(*_: Any) -> None:
        """As plugins have: whatever makes a tuple can then be where another thread goes on."""
        time.sleep(0)

    others = [threading.Thread(target=fill) for _ in range(2)]
    interval, often = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.callbacks.append(collected)
    gc.set_threshold(200)
    try:
        for other in others:
            other.start()
        for _ in range(1500):
            assert all(result == (key,) for function in (one, free) for key, result in caches.entries(function))
    finally:
        done.set()
        gc.callbacks.remove(collected)
        gc.set_threshold(*often)
        sys.setswitchinterval(interval)
        for other in others:
            other.join()


def test_code_is_compared_but_for_its_columns() -> None:
    """`python -X no_debug_ranges` writes none; the names of files are compared within functions too."""
    text = "def outer(a, b=1):\n    def inner(c):\n        return a + c\n    return inner(b), 1\n"
    compiled = functools.partial(compile, filename="x.py", mode="exec", dont_inherit=True)
    full = compiled(text)
    asked = f"import marshal, sys; sys.stdout.buffer.write(marshal.dumps(compile({text!r}, 'x.py', 'exec')))"
    found = subprocess.run([sys.executable, "-X", "no_debug_ranges", "-c", asked], capture_output=True, check=True)
    bare = marshal.loads(found.stdout)
    assert full != bare and parts.same_code(full, bare) and parts.same_code(bare, full)
    edits = (", 1", ", 1.0"), ("a + c", "c + a"), ("(c)", "(d)"), (":\n    def", ":\n\n    def")
    for other in (*(compiled(text.replace(*edit)) for edit in edits), compiled(text, filename="y.py")):
        assert not parts.same_code(bare, other) and not parts.same_code(full, other)
    outer: Any = next(one for one in full.co_consts if hasattr(one, "co_code"))
    moved = (one.replace(co_filename="y.py") if hasattr(one, "co_code") else one for one in outer.co_consts)
    assert not parts.same_code(outer, outer.replace(co_consts=tuple(moved)))


def test_nothing_is_told_of_what_comes_from_an_archive(tmp_path: Path) -> None:
    root = Path(written.__file__).parents[1]
    with zipfile.ZipFile(tmp_path / "refdp.zip", "w") as archive:
        for one in root.rglob("*"):
            if one.suffix in (".py", ".json"):
                archive.write(one, one.relative_to(root.parent))
    asked = "from refdp.ledger import proved; import refdp.papers.dpboost; print(repr(proved.running('dpboost')))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "refdp.zip")}
    found = subprocess.run([sys.executable, "-c", asked], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert found.stdout == "''\n", found.stderr
