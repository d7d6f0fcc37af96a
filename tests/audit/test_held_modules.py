"""What a trainer's own module keeps from run to run, of whatever type it is and wherever it lies."""

from __future__ import annotations

import collections
import functools
import importlib
import sys
import textwrap
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.audit import held, loaded, own_code, reached
from refdp.audit.held import at_first, held_by, held_in
from refdp.audit.own_code import named_in, packages_of, spaces_of
from refdp.noise.mechanisms import Laplace

TEXT = """
import abc, array, collections, dataclasses, decimal, functools
import io, itertools, json, logging, numpy as np, threading, types, typing
from typing import Literal
Norm = Literal[1, 2, "inf"]
LATE = None
SEEN, COUNTS, CACHE = collections.deque(), collections.Counter(), collections.defaultdict(list)
OWN, LOCK, AGAIN, LOG = threading.local(), threading.Lock(), threading.RLock(), logging.getLogger("keeping")
STEPS, LETTERS = itertools.count(), io.StringIO()
class Keeper(abc.ABC):
    frame = None
    inner = collections.OrderedDict()
    def method(self, kept=collections.deque()): return kept
    @staticmethod
    def plain(): return 1
    @property
    def shown(self): return 2
@functools.lru_cache(maxsize=None)
def prepared(size): return size
@functools.lru_cache(maxsize=2)
def bounded(size): return [size]
@dataclasses.dataclass
class Settings: rounds: int = 1
def train(kept=collections.deque()): return kept
def around():
    inside = collections.deque()
    def kept(): return inside
    return kept
closed = around()
"""


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    made = types.ModuleType("keeping")
    monkeypatch.setitem(sys.modules, "keeping", made)
    exec(TEXT, vars(made))
    at_first("keeping")
    yield made
    held._FIRST.clear()
    held._FIELDS_FIRST.clear()


WAYS = [
    "m.SEEN.append(n)", "m.COUNTS['n'] += n", "m.CACHE['y'].append(n)", "m.OWN.size = n", "m.LATE = m.np.float32(n)",
    "n > 1 and m.LOCK.acquire()", "[m.AGAIN.acquire() for _ in range(n)]", "[next(m.STEPS) for _ in range(n)]",
    "m.LETTERS.write(str(n))", "m.LATE = m.decimal.Decimal(n)", "m.LATE = m.array.array('d', [n])",
    "m.LATE = [m.collections.deque([n])]", "m.LATE = (one for one in [n])", "m.LATE = lambda: n",
    "m.LATE = m.functools.partial(int, n)", "m.LATE = type('K', (), {'n': n})", "m.LOG.setLevel(10 + n)",
    "m.Keeper.frame = m.types.SimpleNamespace(n=n)", "m.Keeper.inner['y'] = n", "m.Keeper.__secret__ = n",
    "m.Keeper.__doc__ = str(n)", "m.Keeper.method.__defaults__[0].append(n)", "m.Keeper.plain.n = n",
    "vars(m.Keeper)['plain'].n = n", "vars(m.Keeper)['shown'].fget.n = n", "n > 1 and m.Keeper.register(int)",
    "m.prepared(n)", "m.bounded(n)", "m.train.__defaults__[0].append(n)", "m.closed().append(n)",
    "m.train.__name__ = str(n)", "m.__class__ = type('K', (m.types.ModuleType,), {'rows': n})",
    "m.train.__doc__ = str(n)", "m.train.__annotations__['n'] = n", "m.__secret__ = n", "m.__doc__ = str(n)",
    "m.prepared.n = n", "m.prepared.__wrapped__.n = n", "vars(m.Keeper)['shown'].__doc__ = str(n)",
    "m.Settings.__dataclass_fields__['rounds'].default = n", "m.Settings.__dataclass_fields__[str(n)] = 1",
    "m.__cached__ = str(n)", "m.__loader__ = m.types.SimpleNamespace(n=n)",
    "m.__warningregistry__ = {(str(n), UserWarning, 1): 1}",
    "m.train.__code__ = (lambda: 1).__code__ if n > 1 else (lambda: 2).__code__",
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_what_is_kept_is_told_whatever_its_type(way: str, module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for size in (1, 2):
        again = types.ModuleType("keeping")
        monkeypatch.setitem(sys.modules, "keeping", again)
        exec(TEXT, vars(again))
        at_first("keeping")
        exec(way, {"m": again, "n": size})
        found = held_by("keeping")
        assert found.opaque == []
        seen.append(found.lines)
    assert seen[0] != seen[1]
    again.LOG.setLevel(0)


def test_what_shows_nothing_is_named(module: Any) -> None:
    module.LATE = np.frompyfunc(len, 1, 1)
    module.Keeper.frame = types.SimpleNamespace(inside=np.frompyfunc(len, 1, 1))
    assert held_by("keeping").opaque == ["keeping.LATE", "keeping.Keeper.frame.inside"]


def test_what_is_imported_is_left_to_its_own_module(module: Any) -> None:
    places = {place.split(".")[1] for place, _ in held_by("keeping").lines}
    assert not places & {"abc", "np", "json", "collections", "functools"} and {"LATE", "Keeper", "Norm"} <= places


def test_a_things_own_code_that_raises_hides_it(module: Any) -> None:
    class Angry:
        def __call__(self) -> None: ...

        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError(name)

    module.LATE = Angry()
    assert "keeping.LATE" in held_by("keeping").opaque


def test_what_a_cache_keeps_is_in_its_order() -> None:
    for most in (None, 2):
        cached = functools.lru_cache(maxsize=most)(lambda one: [one])
        cached(7)
        cached(8)
        told = str(held._cached(cached))
        assert "7" in told and "[8]" in told and "lru" not in told


def test_locks_and_this_threads_own_variables() -> None:
    found = held._Held()
    own = threading.local()
    own.kept = collections.deque([3])
    found.look("x", [threading.Lock(), own])
    assert found.opaque == [] and dict(found.lines)["x[0] held"] == "<unlocked"
    assert "int 3" in dict(found.lines).values()


NOTEBOOK = """
import types
class Figure: pass
DATA, STEPS, HELD, ASIDE = [1], {"a": 2}, types.SimpleNamespace(x=0), types.SimpleNamespace(x=0)
FIGURES, IN_TEXT, OF_METHOD = [types.SimpleNamespace(x=0)], types.SimpleNamespace(x=0), types.SimpleNamespace(x=0)
class Trainer:
    def __call__(self, records, curator): OF_METHOD.x = 1
def train(records, curator):
    HELD.x = 1
    return [globals()["IN_TEXT"].x for _ in records]
"""


def test_a_notebook_is_looked_at_where_its_functions_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures and models of other cells are none of a trainer's; a shell's own inputs and outputs are left out."""
    made = types.ModuleType("__main__")
    exec(NOTEBOOK, vars(made))
    vars(made).update(In=["cell"], Out={})
    hidden = {"In": made.In, "Out": {}}  # type: ignore[attr-defined]
    shell = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(user_ns_hidden=hidden))
    monkeypatch.setitem(sys.modules, "__main__", made)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    told = {place.split(".")[1].split("[")[0] for place, _ in held_by("__main__").lines}
    assert {"DATA", "STEPS", "HELD", "IN_TEXT", "OF_METHOD", "Out", "train", "Trainer"} <= told
    assert not told & {"ASIDE", "FIGURES", "In"}
    before = held_by("__main__").lines
    made.HELD.x = 5  # type: ignore[attr-defined]
    assert held_by("__main__").lines != before
    monkeypatch.delitem(sys.modules, "IPython")
    assert any(place.startswith("__main__.In") for place, _ in held_by("__main__").lines)


def test_how_often_filters_of_warnings_changed_is_no_run_s(module: Any) -> None:
    module.__warningregistry__ = {"version": 1}
    before = held_by("keeping").lines
    module.__warningregistry__["version"] = 9
    assert held_by("keeping").lines == before


TRAINERS = """
import functools, types
class Model:
    n = None
    def __call__(self, n): self.n = n
    def fit(self, n): self.n = n
def part(box, n): box["n"] = n
def closed():
    box = {}
    def train(n): box["n"] = n
    return train
def counted():
    held = 0
    def train(n):
        nonlocal held
        held = n
    return train
def logged(f):
    @functools.wraps(f)
    def w(*given): return f(*given)
    return w
def behind():
    box = types.SimpleNamespace()
    @logged
    def train(n): box.n = n
    return train
model, partial, lambda_ = Model, functools.partial(part, {}), (lambda box: lambda n: box.append(n))([])
"""


@pytest.mark.parametrize("way", ["Model()", "Model().fit", "closed()", "counted()", "behind()", "partial", "lambda_"])
def test_what_a_trainer_keeps_on_itself_is_told(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    for size in (1, 2):
        made = types.ModuleType("trainers")
        monkeypatch.setitem(sys.modules, "trainers", made)
        exec(TRAINERS, vars(made))
        train = eval(way, vars(made))
        train(size)
        found = held_in(train)
        assert found.opaque == [] and "trainers" in spaces_of(train)
        told.append(found.lines)
    assert told[0] != told[1]


def test_modules_of_a_trainer_are_those_of_its_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = types.ModuleType("trainers"), types.ModuleType("decorators")
    for made in (one, other):
        monkeypatch.setitem(sys.modules, made.__name__, made)
        exec(TRAINERS, vars(made))
    one.Model.__module__ = "decorators"  # type: ignore[attr-defined]
    assert spaces_of(one.Model())[0] == "trainers"  # type: ignore[attr-defined]
    train = other.logged(one.part)  # type: ignore[attr-defined]
    train.__module__ = "functools"
    assert spaces_of(train) == ("decorators", "trainers")
    assert spaces_of(functools.partial(textwrap.dedent, "a")) == ("textwrap",)
    assert spaces_of(functools.partial(one.part, functools.reduce)) == ("trainers",)  # type: ignore[attr-defined]
    assert spaces_of(types.SimpleNamespace()) == ()
    one.Model.__module__ = "functools"  # type: ignore[attr-defined]
    assert spaces_of(one.Model().fit) == ("trainers",)  # type: ignore[attr-defined]


BEHIND = """
import collections, functools, types
def logged(f):
    @functools.wraps(f)
    def w(*given): return f(*given)
    return w
@logged
def decorated(): A1
@functools.lru_cache
def cached(): A2
class Cached:
    @functools.cached_property
    def one(self): A3
    @functools.singledispatchmethod
    def two(self, n): A4
LISTED, TABLE, GIVEN = [lambda: A5], {"a": (lambda: A6,)}, functools.partial(lambda n: A7, 1)
@functools.singledispatch
def single(n): A8
@single.register
def _(n: int): A9
class Meta(type):
    def __call__(cls): A10
class Made(metaclass=Meta):
    class Inner:
        def method(self): A11
class Holder:
    def __init__(self): self.one = lambda: A12
held, spaced = Holder(), types.SimpleNamespace(one=lambda: A13)
class Slotted:
    __slots__ = ("one", "two")
slotted = Slotted()
slotted.one = lambda: A14
def local():
    def train(n): A15
    return train
del Holder
"""


def test_names_are_found_wherever_the_text_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    made = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", made)
    exec(BEHIND, vars(made))
    space = {name: one for name, one in vars(made).items() if name not in ("local", "train")}
    vars(made).clear()
    vars(made).update(space)
    found = named_in(vars(made), "__main__")
    assert {f"A{number}" for number in range(1, 15)} <= found and "A15" not in found


def test_modules_that_the_code_names_are_the_trainers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From file to file, by whatever import, those of libraries apart; one that is imported only by a run, too."""
    texts = {
        "outer": "import numpy as np\nimport parts.first as one\nfrom second import two as other\nimport aside\n"
                 "def train(n):\n    from parts import late\n    np.sum(n)\n    return one.go(n), other(n)\n",
        "parts/__init__": "", "parts/late": "", "parts/third": "def go(n): ...\nclass Kept: rows = 0\n",
        "parts/first": "from . import third\nfrom .fourth import Model\nmodels = {'a': Model()}\n"
                       "def go(n): return third.go(n), models['a'](n)\n",
        "parts/fourth": "import profile\nclass Model:\n    def __call__(self, n): profile.SEEN.append(n)\n",
        "profile": "SEEN = []\n", "second": "import textwrap\ndef two(n): return textwrap.dedent('')\n", "aside": "",
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    names = ["parts.late" if name == "late" else name for name in (one.replace("/", ".") for one in texts)]
    for name in (*names, "parts"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    train = importlib.import_module("outer").train
    try:
        found = spaces_of(train)
        assert found[0] == "outer" and {*found} == {
            "outer", "parts", "parts.first", "parts.third", "parts.fourth", "parts.late", "second", "profile"
        }  # fmt: skip
        assert "parts.late" not in sys.modules and held_by("parts.late").lines == []
        before = [held_by(name).lines for name in found]
        train(7)
        changed = {name for name, lines in zip(found, before, strict=True) if held_by(name).lines != lines}
        assert {"profile", "parts.late"} <= changed
    finally:
        for name in (*names, "parts"):
            sys.modules.pop(name, None)


INSTALLED = {
    "theirs/__init__": "", "theirs/store": "BINNED = {}\n",
    "theirs/train": "import functools\nimport aside, decorating\nfrom . import store\n"
                    "def fit(records, curator): store.BINNED['y'] = records; aside.noted(records)\n"
                    "class Model:\n    def fit(self, records, curator): fit(records, curator)\n"
                    "    __call__ = fit\n    borrowed = decorating.plain\n    made = decorating.around(fit)\n"
                    "@decorating.around\ndef decorated(records, curator): fit(records, curator)\n"
                    "@functools.lru_cache\ndef cached(records, curator): fit(records, curator)\n"
                    "held = decorating.Held(fit)\n",
    "theirs/late": "def go(n): ...\n",
    "decorating": "import functools\nSEEN = []\ndef plain(self): SEEN.append(1)\n"
                  "def around(f):\n    @functools.wraps(f)\n    def made(*given): return f(*given)\n    return made\n"
                  "class Held:\n    def __init__(self, f): functools.update_wrapper(self, f)\n"
                  "    def __call__(self, *given): return self.__wrapped__(*given)\n",
    "aside": "SEEN = []\ndef noted(records): SEEN.append(len(records))\n",
    "wrapping": "import theirs.train as t, aside\nmodel = t.Model()\n"
                "def train(records, curator): t.fit(records, curator)\n"
                "def of_class(records, curator): t.Model().fit(records, curator)\n"
                "def of_model(records, curator): model.fit(records, curator)\n"
                "def of_aside(records, curator): aside.noted(records)\n",
}  # fmt: skip


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of a trainer's and two others, all installed, and a file beside that calls it."""
    home = tmp_path / "site-packages"
    for name, text in INSTALLED.items():
        file = (tmp_path if name == "wrapping" else home) / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(home)
    monkeypatch.syspath_prepend(tmp_path)
    yield home
    for name in INSTALLED:
        sys.modules.pop(name.replace("/", ".").removesuffix(".__init__"), None)


@pytest.mark.parametrize("way", ["fit", "Model()", "Model().fit", "decorated", "cached", "held"])
def test_an_installed_trainers_package_is_its_own(way: str, installed: Path) -> None:
    """As the same text is that lies elsewhere; packages of decorators and of what is borrowed stay libraries."""
    train = eval(way, vars(importlib.import_module("theirs.train")))
    assert packages_of(train) == {"theirs"} and {"theirs.train", "theirs.store"} <= {*spaces_of(train)}
    assert "aside" not in spaces_of(train)
    before = held_by("theirs.store").lines
    train([1.0], 2) if way != "cached" else train((1.0,), 2)
    assert held_by("theirs.store").lines != before
    follow = reached.own_code(train)
    assert follow(str(installed / "theirs" / "store.py")) and not follow(str(installed / "aside.py"))


@pytest.mark.parametrize("way", ["train", "of_class", "of_model"])
def test_a_package_that_takes_refdp_is_no_library(way: str, installed: Path) -> None:
    """A few lines of an auditor's call it; which package it is that uses no mechanism of refdp's nobody can tell."""
    train = getattr(importlib.import_module("wrapping"), way)
    assert packages_of(train) == frozenset()
    vars(sys.modules["theirs.store"])["Laplace"] = Laplace
    own_code._SPACES.clear()
    assert packages_of(train) == {"theirs"} and {"theirs.train", "theirs.store"} <= {*spaces_of(train)}
    assert packages_of(sys.modules["wrapping"].of_aside) == frozenset()


TAKEN = [
    ("store", "def noise():\n    from refdp.noise.mechanisms import Laplace\n    return Laplace(1.0)\n"),
    ("store", "def noise():\n    import refdp\n    return refdp\n"),
    ("store", "class Noise:\n    def draw(self):\n        return __import__('refdp.noise')\n"),
    ("later/deep", "from refdp.noise.mechanisms import Laplace\n"),
]


@pytest.mark.parametrize(("name", "text"), TAKEN)
@pytest.mark.parametrize("way", ["train", "of_late"])
def test_a_package_that_takes_refdp_in_a_function_is_no_library(
    name: str, text: str, way: str, installed: Path
) -> None:
    """Nor one that holds instances alone, whose own text imports refdp or not, nor one that no run has imported yet."""
    wrapping = installed.parent / "wrapping.py"
    late = "def train(records, curator):\n    import theirs.train as t\n    t.fit(records, curator)\n"
    wrapping.write_text(INSTALLED["wrapping"] if way == "train" else late)
    own_code._SPACES.clear()
    train = importlib.import_module("wrapping").train
    assert packages_of(train) == frozenset()
    (installed / "theirs" / "words.py").write_text("refdp_app = 'a refdpx'\n")
    own_code._SPACES.clear()
    assert packages_of(train) == frozenset()
    file = installed / "theirs" / f"{name}.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    own_code._says_refdp.cache_clear()
    own_code._SPACES.clear()
    assert packages_of(train) == {"theirs"} and "theirs.train" in spaces_of(train)
    assert ("theirs.train" in sys.modules) is (way == "train") and "aside" not in spaces_of(train)


def test_a_package_of_instances_or_requirements_of_refdp_is_no_library(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = importlib.import_module("wrapping").train
    needed: list[str] = []
    monkeypatch.setattr(loaded, "_distributions", lambda: {"theirs": ["d"]})
    monkeypatch.setattr(loaded.metadata, "requires", lambda home: needed if home == "d" else None)
    for given, own in ([], False), (["refdp-extras", "refdpx>1"], False), (["numpy", "RefDP [all]>=0.1"], True):
        needed[:] = given
        own_code._SPACES.clear()
        assert packages_of(train) == ({"theirs"} if own else frozenset())
    needed.clear()
    vars(sys.modules["theirs.store"])["NOISE"] = Laplace(1.0)
    own_code._SPACES.clear()
    assert packages_of(train) == {"theirs"}


def test_a_distribution_is_one_trainers(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that it installs; not what another one has a part of, nor another one's part of one package."""
    train = importlib.import_module("theirs.train").fit
    shared = {"theirs": ["d", "d"], "aside": ["d"], "decorating": ["d", "e"]}
    monkeypatch.setattr(loaded, "_distributions", lambda: shared)
    assert packages_of(train) == {"theirs", "aside"} and "aside" in spaces_of(train)
    monkeypatch.setattr(loaded, "_distributions", lambda: shared | {"theirs": ["d", "e"]})
    own_code._SPACES.clear()
    assert packages_of(train) == {"theirs"}
    vars(sys.modules["theirs"])["__file__"] = None  # a namespace package
    own_code._SPACES.clear()
    assert packages_of(train) == {"theirs.train"} and "theirs.store" not in spaces_of(train)
    monkeypatch.setattr(loaded, "_distributions", lambda: shared)
    own_code._SPACES.clear()
    assert packages_of(train) == {"theirs", "aside"} and "theirs.store" in spaces_of(train)
    assert reached.own_code(train)(str(installed / "theirs" / "store.py"))


def test_what_is_refdps_stays_a_library() -> None:
    assert packages_of(Laplace.calibrated) == own_code._whole(["refdp.noise", "", "json"]) == frozenset()


def test_where_there_is_more_than_is_opened_all_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    made, mine = types.ModuleType("__main__"), types.ModuleType("mine")
    for module in (made, mine):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    exec("def train(n): BOX.n = n\nBOX, ASIDE = object(), object()\nmany = [[[n]] for n in range(20)]", vars(made))
    assert "ASIDE" not in named_in(vars(made), "__main__") and "mine" not in spaces_of(made.train)  # type: ignore[attr-defined]
    monkeypatch.setattr(own_code, "_MOST", 10)
    assert {"BOX", "ASIDE"} <= named_in(vars(made), "__main__")
    made.train.__defaults__ = (made.many,)  # type: ignore[attr-defined]
    monkeypatch.setattr(own_code, "_SPACES", [])
    found = spaces_of(made.train)  # type: ignore[attr-defined]
    assert {"__main__", "mine"} <= {*found} and "numpy" not in found


def test_names_of_a_trainer_that_no_name_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    made = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", made)
    exec("import types\nBOX, ASIDE = types.SimpleNamespace(), types.SimpleNamespace()\n"
         "def around():\n    def train(n): BOX.n = n\n    return [train]\nHELD = around()", vars(made))  # fmt: skip
    train = functools.partial(vars(made).pop("HELD")[0])
    del made.around  # type: ignore[attr-defined]
    for given, seen in ((None, False), (train, True)):
        places = {place.split(".")[1] for place, _ in held_by("__main__", given).lines}
        assert ("BOX" in places) == seen and "ASIDE" not in places
