"""Witnesses and what is opened of a package: each line that is written, and what counts as shown."""

from __future__ import annotations

import contextlib
import io
import math
import random
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit.opened_laws import Unknown
from refdp.audit.package import opening, witness
from refdp.audit.package.entries import Neighbours
from refdp.audit.package.findings import Witness
from refdp.errors import ImpossibleReplay, InvalidParameter
from refdp.noise.mechanisms import Gaussian, Laplace

ENTRY: Any = SimpleNamespace(name="one", target="witness_pieces:f")
PAIR = Neighbours(np.ones((2, 1)), np.ones((1, 1)),
                  ("first = np.array([[1.0], [2.0]])", "second = np.array([[1.0]])"), "")  # fmt: skip


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A package with a function f, and a noise function of its own."""
    made: Any = ModuleType("witness_pieces")
    monkeypatch.setitem(sys.modules, "witness_pieces", made)
    made.noise = lambda value, scale=1.0: value

    def f(rows: Any, seed: int) -> Any:
        if len(rows) == 1 and seed == 2:
            raise ValueError
        rows += 1  # a copy
        return made.noise(rows.sum() + seed, scale=2.0)

    made.f = f
    return made


def output(code: str) -> str:
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(code, {})
    return told.getvalue()


def test_lines_that_count_events(module: Any) -> None:
    """Seeds 0 to runs - 1, on copies, the first side first."""
    module.f = lambda rows, seed: rows.sum() + seed
    assert output(witness.counting(ENTRY, PAIR, "v >= 4", 6)) == "[5, 3] of 6 runs a side\n"
    assert len(witness.counting(ENTRY, PAIR, "v", 6).splitlines()) == 7


def test_lines_that_count_errors(module: Any) -> None:
    assert output(witness.raising(ENTRY, PAIR, 2)) == "[0, 0] of 2 runs a side\n"
    assert output(witness.raising(ENTRY, PAIR, 3)) == "[0, 1] of 3 runs a side\n"


def test_lines_that_print_true_values(module: Any) -> None:
    value = "inspect.signature(noise).bind(*a, **k).arguments['value']"
    assert output(witness.watching(ENTRY, PAIR, "witness_pieces:noise", value, 7)) == "[[12.0]]\n[[9.0]]\n"


def test_the_examination_itself_as_lines() -> None:
    scope: Any = SimpleNamespace(path=Path("/x/y/audit.toml"))
    assert witness.again(scope, ENTRY, "replay").splitlines()[2] == (
        "report = audit_package(Path('audit.toml'), only='one', stages=('replay',))")  # fmt: skip


def test_the_first_candidate_that_shows_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without refdp first; eleven lines are too many."""
    asked: list[Any] = []
    scope: Any = SimpleNamespace(path=Path("/x/audit.toml"), folder=Path("/x"))
    monkeypatch.setattr(witness, "_output", lambda *given: asked.append(given) or f"{given[0][0]} {given[2]}")
    ten, eleven = "\n".join("a" * 10), "\n".join("b" * 11)

    def shown(*wanted: str) -> Witness:
        asked.clear()
        tried = [(eleven, wanted.__contains__), (ten, wanted.__contains__), ("c", wanted.__contains__)]
        return witness.chosen(scope, ENTRY, "replay", iter(tried))

    assert shown("a True", "a False", "b True") == Witness(ten, True, True)
    assert shown("a False", "c True") == Witness(ten, False, True)
    assert shown("c True") == Witness("c", True, True)
    assert asked == [(ten, Path("/x"), True), (ten, Path("/x"), False), ("c", Path("/x"), True)]
    assert shown() == Witness(witness.again(scope, ENTRY, "replay"), False, False)


def test_lines_are_run_in_the_folder_without_refdp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def run(words: Any, **named: Any) -> Any:
        asked.append((Path(words[-1]).read_text(), words, named))
        return SimpleNamespace(stdout="told", returncode=code)

    monkeypatch.setattr(witness.subprocess, "run", run)
    for code, standalone, told in [(0, True, "told"), (1, True, ""), (0, False, "told"), (-9, False, "")]:  # noqa: B007
        assert witness._output("lines", tmp_path, standalone) == told
        text, words, named = asked[-1]
        assert text == "lines" and words[:4] == [sys.executable, "-W", "ignore", "-c"] and named["timeout"] == 60.0
        assert ("sys.modules['refdp'] = None" in words[4]) is standalone
        assert named["cwd"] == tmp_path and (named["capture_output"], named["text"], named["check"]) == (
            True,
            True,
            False,
        )

    def late(words: Any, **named: Any) -> Any:
        raise witness.subprocess.TimeoutExpired(words, 1)

    monkeypatch.setattr(witness.subprocess, "run", late)
    assert witness._output("lines", tmp_path, True) == ""


def test_what_counts_as_one_sided() -> None:
    for text, shown in [("[3, 0] of 9", True), ("[0, 3] of 9 runs", True), ("[2, 0] of 9", False),
        ("[0, 2] of 9", False),
                        ("[9, 1] of 9", False), ("[1, 9] of 9", False), ("", False), ("[0, 3]", False)]:  # fmt: skip
        assert witness.one_sided(text) is shown
    assert witness._counts("said: [12, 3] of 45 runs") == (12, 3, 45) and witness._counts("[1] of 2") is None


def test_what_counts_as_likelier() -> None:
    """The greater count less what delta explains, three at least, over the lesser."""
    shows = witness.likelier(math.log(2), 0.0)
    for text, shown in [("[7, 3] of 9", True), ("[3, 7] of 9", True), ("[6, 3] of 9", False), ("[3, 6] of 9", False),
        ("", False),
                        ("[3, 0] of 9", True), ("[2, 0] of 9", False), ("[0, 3] of 9", True),
                            ("[3, 1] of 9", True)]:  # fmt: skip
        assert shows(text) is shown
    shows = witness.likelier(math.log(2), 0.25)
    for text, shown in [
        ("[7, 2] of 8", True),
        ("[7, 3] of 8", False),
        ("[5, 0] of 8", True),
        ("[4, 0] of 8", False),
        ("[2, 7] of 8", True),
    ]:
        assert shows(text) is shown


def test_what_counts_as_moved() -> None:
    """The greatest change of a value in turn, in the norm; of the last two lines."""
    text = "[[9.0]]\n[[0.0, 0.0], [1.0, 1.0]]\n[[0.0, 0.5], [-2.0, 5.0]]\n"
    for norm, size in [(1, 7.0), (2, 5.0)]:
        assert witness.moved(size * (1 - 2e-9), norm)(text) and not witness.moved(size, norm)(text)
        assert not witness.moved(size * (1 - 0.5e-9), norm)(text)
    for broken in ("", "[[1.0]]", "[[1.0]]\n[[", "[[1.0]]\n[3]", "[[1.0, 2.0]]\n[[1.0]]", "[['a']]\n[[1.0]]", "[]\n[]"):
        assert witness.moved(0.0, 1)(broken) is False
    assert witness.moved(0.0, 1)("[[1.0]]\n[[2.0], [5.0]]")


@pytest.mark.parametrize(("kind", "where", "evidence", "right", "wrong"), [
    ("exact statistic", "['n']", {"first": 3.0}, {"n": 3.0}, {"n": 4.0}),
    ("identical outputs", "", {"first": 3.0}, 3.0, 2.0),
    ("exact statistic", "sum of ['a'][...]", {"first": 2e9}, {"a": [1e9, 1e9 + 1]}, {"a": [1e9, 1e9 + 3]}),
    ("exact statistic", "sum of [...]", {"first": 0.0}, [1.0, -1.0 + 5e-10], [1.0, -1.0 + 2e-9]),
    ("exact statistic", "sum of [...]", {"first": -2e9}, [-1e9, -1e9 + 1], [-1e9, -1e9 + 3]),
    ("support", "[0]", {"value": "x"}, ["x"], ["y"]), ("support", "[0]", {"first": 5, "second": 6}, [5], [6]),
    ("precision", "[1]", {"grid 2^": -2}, [0, 0.375], [0, 0.25]),
    ("reused noise", "", {"places": ["[0]", "[1]"], "ratio": 2.0, "difference without noise": [3.0, 4.0]},
        [5.0, 13.0], [5.0, 14.0]),
    ("reused noise", "", {"places": ["[0]", "[1]"], "ratio": -1.0, "difference without noise": [-4e6, 0.0]},
        [0.0, -4e6 + 3], [0.0, -4e6 + 5]),
])  # fmt: skip
def test_events_of_structural_findings(kind: str, where: str, evidence: Any, right: Any, wrong: Any) -> None:
    event = witness.structural_event(kind, where, evidence)
    assert eval(event, {"v": right, "np": np}) and not eval(event, {"v": wrong, "np": np})


def test_findings_without_an_event() -> None:
    for kind, evidence in [("identical outputs", {}), ("exact statistic", {}), ("support", {}),
        ("positional partition", {"first": 1}),
                           ("data-dependent range", {"value": 1})]:  # fmt: skip
        assert witness.structural_event(kind, "[0]", evidence) == ""


@pytest.mark.parametrize(("words", "right", "wrong"), [
    ("output 1 >= -2.5", [0, -2.5], [9, -3]), ("output 0 <= 1e-3", [0, 5], [1, 0]), ("output 1 == 4", [0, 4], [4, 0]),
    ("output 1 - output 0 >= 2", [1, 3], [3, 1]), ("output 2 - output 1 == -1", [0, 5, 4], [0, 4, 5]),
        ("output 1 is infinite", [0, math.inf], [math.inf, 0]),
    ("log2 of the lowest set bit of output 0 >= -2", [0.25, 0], [0.125, 0]),
        ("log2 of the lowest set bit of output 1 <= -2", [1, 0.25], [0.25, 0.5]),
    ("log2 of the lowest set bit of output 0 == -2", [0.75, 0], [0.5, 0]),
])  # fmt: skip
def test_events_of_a_black_box(words: str, right: Any, wrong: Any) -> None:
    event = witness.blackbox_event(words)
    assert eval(event, {"v": right, "np": np}) and not eval(event, {"v": wrong, "np": np})
    assert witness.blackbox_event("a learnt event") == "" == witness.blackbox_event(f"and {words}")


# --- What is opened ---------------------------------------------------------------------------------------------------


def scope_of(*noise: Any, opened: Any = (), seed: int = 3) -> Any:
    return SimpleNamespace(noise=noise, opened=opened, seed=seed)


TABLE = {"function": "witness_pieces:noise", "law": "laplace", "value": "value", "scale": "scale"}


def test_doors_and_rounding(module: Any) -> None:
    assert opening.doors(scope_of(opened=("opendp",))) == ("opendp",)
    name, (patch,) = opening.doors(scope_of(TABLE, opened=("opendp",)))
    assert name == "opendp" and patch.owner is module and patch.name == "noise" and patch.wrap is not None
    called = {**TABLE, "caller": ["x"]}
    for given, room in [(scope_of(TABLE), 0.0), (scope_of(TABLE, called), 1e-7),
        (scope_of(opened=("interpret",)), 1e-7),
                        (scope_of(opened=("opendp",)), 0.0)]:  # fmt: skip
        assert opening.rounding(given) == room
    module.Owner = SimpleNamespace(inner=SimpleNamespace(noise=module.noise))
    patch = opening._patch({**TABLE, "function": "witness_pieces:Owner.inner.noise"})
    assert patch.owner is module.Owner.inner and patch.name == "noise"
    patch = opening._patch(called)
    assert patch.wrap is None and patch.reading is not None
    for wrong in ("no_such_module:f", "witness_pieces:nothing", "witness_pieces:Owner.nothing.noise"):
        with pytest.raises(InvalidParameter, match=wrong):
            opening._patch({**TABLE, "function": wrong})
    assert opening._named("witness_pieces:f") is module.f and opening._named("f") == "f" and opening._named(3) == 3


def test_numbers_are_the_same_up_to_the_room() -> None:
    same = opening._same
    assert (
        same(1.0, 1.0, 0.0)
        and not same(1.0, 1.0 + 1e-15, 0.0)
        and same(math.nan, math.nan, 0.0)
        and not same(math.nan, 1.0, 9.0)
    )
    assert (
        not same(1.0, math.nan, 9.0)
        and same(math.inf, math.inf, 0.0)
        and same(0.0, 0.5, 0.5)
        and not same(0.0, 0.6, 0.5)
    )
    assert (
        same(4.0, 6.0, 0.34)
        and not same(4.0, 6.0, 0.33)
        and same(-6.0, -4.0, 0.34)
        and not same(-6.0, 6.0, 1.9)
        and same(-6.0, 6.0, 2.0)
    )
    assert (
        same("a", "a", 0.0)
        and not same("a", "b", 9.0)
        and not same(1, 2, 9.0)
        and same(1, 1, 0.0)
        and not same(1, 2.0, 9.0)
    )


def test_randomness_that_is_not_opened_is_seen(module: Any) -> None:
    """Global generators and the given seed are others in the replay; both are put back."""
    seeds: list[Any] = []
    module.noise = lambda value, scale: value + random.random()
    doors = opening.doors(scope_of(TABLE))
    rows = np.ones((2, 1))

    def plain(rows: Any, seed: int) -> Any:
        seeds.append((seed, random.getstate() == random.Random(seed).getstate(), np.random.random()))  # noqa: NPY002
        rows[:] = 0
        return {"x": module.noise(1.0, 2.0), "n": len(rows)}

    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    before = random.getstate(), np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    assert not opening.has_other_randomness(scope_of(TABLE), plain, rows, doors)
    assert seeds == [(one, True, np.random.RandomState(one).random()) for one in (4, 5)] and rows.sum() == 2
    assert random.getstate() == before[0] and np.array_equal(np.random.get_state()[1], before[1])  # type: ignore[index]  # noqa: NPY002
    others: list[Any] = [
        lambda rows, seed: {"x": module.noise(1.0, 2.0), "y": float(seed)},
        lambda rows, seed: {"x": module.noise(1.0, 2.0), f"y{seed}": 1},
        lambda rows, seed: [module.noise(1.0, 2.0) for _ in range(seed)],
        lambda rows, seed: module.noise(1.0, 2.0) + random.random(),
    ]
    for function in others:
        assert opening.has_other_randomness(scope_of(TABLE), function, rows, doors)
    close: Any = lambda rows, seed: {"x": module.noise(1.0, 2.0), "y": 1e-9 * seed}  # noqa: E731
    assert opening.has_other_randomness(scope_of(TABLE), close, rows, doors)
    assert not opening.has_other_randomness(scope_of(TABLE, {"caller": "x"}), close, rows, doors)
    assert issubclass(ImpossibleReplay, Exception)

    def raising(rows: Any, seed: int) -> Any:
        raise InvalidParameter(f"below {module.noise(1.0, 2.0)}" + f" of {seed}" * module.told)

    for told in (False, True):
        module.told = told
        assert opening.has_other_randomness(scope_of(TABLE), raising, rows, doors) is told


def test_expressions_for_true_values(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    argument = "inspect.signature(noise).bind(*a, **k).arguments[{!r}]"
    tables = [TABLE, {**TABLE, "value": "m:f"}, {**TABLE, "function": "m:noise", "value": 3},
        {**TABLE, "function": "m:other"},
              {"function": "m:noise", "caller": "x"}, {"function": "m:noise", "caller": ["y", "z"]}]  # fmt: skip
    assert list(opening.value_arguments(scope_of(*tables), "noise")) == [
        ("witness_pieces:noise", argument.format("value")), ("m:noise", "sys._getframe(1).f_locals['x']"),
        ("m:noise", "sys._getframe(1).f_locals['y']"), ("m:noise", "sys._getframe(1).f_locals['z']")]  # fmt: skip

    class Owner:
        __module__ = "somewhere"

        def add(self, value: float) -> float:
            return value

        def other(self, amount: float) -> float:
            return amount

    module.__module__ = "witness_pieces"
    patches = [
        SimpleNamespace(owner=Owner, name="add"),
        SimpleNamespace(owner=Owner, name="other"),
        SimpleNamespace(owner=module, name="noise"),
    ]
    monkeypatch.setattr(opening, "_patches", lambda name: patches if name == "opendp" else [])
    Owner.__qualname__ = "Owner"
    for qualified, found in [
        ("Owner.add", ["somewhere:Owner.add"]),
        ("Owner.other", []),
        ("noise", ["witness_pieces:noise"]),
    ]:
        told = list(opening.value_arguments(scope_of(opened=("opendp", "interpret")), qualified))
        assert told == [(one, argument.format("value")) for one in found]


def test_noise_that_callers_add() -> None:
    def outer(*given: Any, **named: Any) -> Any:
        total, twice, own = 5.0, [1.0, 2.0], 0.25  # noqa: F841
        return middle(*given, **named)

    def middle(names: Any, law: str, **more: Any) -> Any:
        return opening._apart({"function": "m:g", "law": law, "scale": "scale", "caller": names, **more},
                              {"scale": 2.0, "bound": 3, "self": SimpleNamespace(eps=0.5)})  # fmt: skip

    found = outer(["none", "twice", "total"], "laplace", sensitivity="bound", epsilon="self.eps", delta=1e-5)
    assert (found.law, found.value.tolist(), found.bound, found.norm, found.epsilon, found.delta, found.apart) == (
        Laplace(2.0), [1.0, 2.0], 3.0, 1, 0.5, 1e-5, True)  # fmt: skip
    found = outer("total", "gaussian", scale="caller.own")
    assert (found.law, found.value.tolist(), found.bound, found.norm, found.epsilon, found.delta) == (
        Gaussian(0.25),
        [5.0],
        None,
        2,
        None,
        0.0,
    )
    for law in ("exponential", "mine"):
        assert outer("total", law).law == Unknown(law, (2.0,))
    with pytest.raises(InvalidParameter, match=r"its caller .*outer has none of \['absent'\]"):
        outer("absent", "laplace")
    for name in ("absent", "caller.absent", "absent.x"):
        with pytest.raises(InvalidParameter, match="no such variable"):
            outer("total", "laplace", scale=name)
