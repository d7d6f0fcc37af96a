"""The door of a package by itself: what is recorded, given again, put back, and refused."""

from __future__ import annotations

import random
import threading
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import opened_door as door
from refdp.audit.opened_door import ForeignCurator, Patch, noise, opened
from refdp.audit.opened_laws import NoiseCall, Unknown
from refdp.errors import ImpossibleReplay, InvalidParameter
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Relation

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE


UNIT = Laplace(1.0)


def call(value: Any, law: Any = UNIT, **changed: Any) -> NoiseCall:
    held = np.atleast_1d(np.asarray(value, dtype=np.float64))
    return NoiseCall(**{"law": law, "value": held, "bound": None, "norm": 1, "epsilon": None, **changed})


def plain(result: Any) -> Any:
    return lambda: result


# --- Reading a call ---------------------------------------------------------------------------------------------------


def reading_of(**named: Any) -> Any:
    """The call that a decorated function reports."""
    law = named.pop("law")
    given = named.pop("given")
    read: list[Any] = []

    def function(value: Any, scale: Any = 2.0, more: Any = None, **kwargs: Any) -> Any:
        return 0

    watched = noise(law, **named)(function)
    curator = SimpleNamespace(
        busy=False, thread=threading.get_ident(), release=lambda name, call, play: read.append(call)
    )
    door._ACTIVE.append(curator)  # type: ignore[arg-type]
    try:
        watched(*given[0], **given[1])
    finally:
        door._ACTIVE.pop()
    return read[0]


def test_what_a_decorator_says_of_a_call() -> None:
    found = reading_of(law="laplace", given=((5,), {}))
    assert (found.law, found.value.tolist(), found.bound, found.norm, found.epsilon, found.delta) == (
        Laplace(2.0),
        [5.0],
        None,
        1,
        None,
        0.0,
    )
    assert found.generators == () and found.options is None
    generator = np.random.default_rng(1)
    found = reading_of(law="Normal", given=(([1, 2],), {"more": generator, "other": 4}), sensitivity="other",
        epsilon=0.5, delta=1e-5,
                       generator="more", scale=3.0)  # fmt: skip
    assert (found.law, found.value.tolist(), found.bound, found.norm, found.epsilon, found.delta) == (
        Gaussian(3.0),
        [1, 2],
        4.0,
        2,
        0.5,
        1e-5,
    )
    assert found.generators == (generator,)
    found = reading_of(
        law="exponential",
        given=(([1, 2],), {"more": ("a", "b")}),
        options="more",
        scale=lambda given: given["scale"] / 2,
    )
    assert (found.law, found.value.tolist(), found.norm, found.options) == (
        Exponential(1.0),
        [[1, 2]],
        "range",
        ("a", "b"),
    )
    assert reading_of(law="exponential", given=(([[1, 2]],), {})).value.tolist() == [[1, 2]]
    assert reading_of(law="geometric", given=((1,), {})).law == DiscreteLaplace(2.0, 1.0)
    assert reading_of(law="mine", given=((1,), {})).law == Unknown("mine", (2.0,))
    assert reading_of(law="laplace", given=(([[1, 2]],), {})).value.tolist() == [[1, 2]]


@pytest.mark.parametrize(("given", "known"), [("laplace", "laplace"), ("LAPLACE", "laplace"), ("normal", "gaussian"),
    ("Gaussian", "gaussian"),
                                              ("cauchy", "cauchy"), ("Student", "Student")])  # fmt: skip
def test_names_of_laws(given: str, known: str) -> None:
    assert door._law(given) == known
    for wrong, meant in [
        ("laplac", "laplace"),
        ("norma", "normal"),
        ("gausian", "gaussian"),
        ("Geometricc", "geometric"),
    ]:
        with pytest.raises(InvalidParameter, match=f"{meant!r} is meant"):
            door._law(wrong)


def test_scales_and_laws_without_one() -> None:
    assert (
        door._scale("laplace", 3) == 3.0
        and door._scale("laplace", np.array(2)) == 2.0
        and isinstance(door._scale("x", 3), float)
    )
    assert door._scale("gaussian", [[1, 2], [3, 4]]) == (1.0, 2.0, 3.0, 4.0)
    with pytest.raises(InvalidParameter, match="one number is allowed"):
        door._scale("laplace", [1.0, 2.0])
    assert door._made("gaussian", 0.5) == Gaussian(0.5)
    for law, absent in [("laplace", True), ("gaussian", True), ("geometric", True), ("exponential", False)]:
        assert door._made(law, -1.0) == Unknown(f"{law} of scale -1.0", absent=absent)


def test_arguments_by_name_number_or_function() -> None:
    given = {"a": 3, "self": SimpleNamespace(inner=SimpleNamespace(scale=7))}
    for name, value in [("a", 3), ("self.inner.scale", 7), (2.5, 2.5), (None, None), (lambda one: one["a"] + 1, 4)]:
        assert door._argument(given, name) == value  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"no argument 'b': allowed are \['a', 'self'\]"):
        door._argument(given, "b.a")


# --- One call again on another value ----------------------------------------------------------------------------------


def test_a_call_is_made_again_on_another_value() -> None:
    """Where one argument alone is the value, as a number or of its own shape, and says the same of the law."""
    asked: list[Any] = []

    def function(value: Any, scale: Any = 2.0, more: Any = None, **kwargs: Any) -> Any:
        asked.append((value, scale, more, kwargs))
        return "returned"

    plays: list[Any] = []
    curator = SimpleNamespace(
        busy=False, thread=threading.get_ident(), release=lambda name, call, play: plays.append((play, call))
    )

    def played(decorated: Any, *given: Any, **named: Any) -> Any:
        door._ACTIVE.append(curator)  # type: ignore[arg-type]
        try:
            decorated(*given, **named)
        finally:
            door._ACTIVE.pop()
        return plays[-1]

    play, read = played(noise("laplace")(function), 5.0, more="m", extra=1)
    assert play() == "returned" and asked.pop() == (5.0, 2.0, "m", {"extra": 1})
    again, other = play.at(np.array([7.0]), read)
    assert other.value.tolist() == [7.0] and again() == "returned" and asked.pop() == (7.0, 2.0, "m", {"extra": 1})
    assert isinstance(again.bound.arguments["value"], float) and again.function is play.function
    twice = again.at(np.array([8.0]), other)[0]
    twice()
    assert asked.pop()[0] == 8.0
    play, read = played(noise("laplace")(function), [[1.0, 2.0]])
    again, other = play.at(np.array([[3.0, 4.0]]), read)
    again()
    assert asked.pop()[0].tolist() == [[3.0, 4.0]]
    play, read = played(noise("laplace", scale="value")(function), 5.0)
    assert play.at(np.array([7.0]), read) is None  # the law moves with it
    play, read = played(noise("laplace", value=lambda given: given["value"] + 1)(function), 5.0)
    assert play.at(np.array([7.0]), read) is None  # no argument is the value
    play, read = played(noise("laplace", value="more")(function), 5.0, more=5.0)
    again, other = play.at(np.array([7.0]), read)
    again()
    assert asked.pop()[:3] == (5.0, 2.0, 7.0)
    play, read = played(noise("laplace", value="value", sensitivity="extra")(function), 5.0, extra=3.0)
    assert play.at(np.array([7.0]), read)[1].bound == 3.0


def test_which_arguments_are_the_value() -> None:
    value = np.array([1.0, 2.0])
    for given, same in [([1, 2], True), (np.array([[1, 2]]), True), ([1, 3], False), ([1], False), ([1, 2, 3], False),
        ((1, 2), False),
                        ("12", False), (None, False), ([[1], [2, 3]], False), (["a", "b"], False)]:  # fmt: skip
        assert door._is_value(given, value) is same
    one = np.array([1.0])
    for single, same in [(1, True), (1.0, True), (np.float32(1), True), (True, False), (2, False), ([1.0], True)]:
        assert door._is_value(single, one) is same


# --- Patches ----------------------------------------------------------------------------------------------------------


class Base:
    def add(self, value: float) -> float:
        return value + 1


class Owner(Base):
    def own(self, value: float) -> float:
        return value + 2


def test_functions_are_exchanged_and_put_back() -> None:
    reading = partial(_read, Laplace(1.0))
    own = Owner.own
    patches = [Patch(Owner, "add", reading), Patch(Owner, "own", reading)]
    with opened(patches, relation=REPLACE) as curator:
        assert Owner.own is not own and "add" in vars(Owner)
        assert (Owner().add(1.0), Owner().own(5.0)) == (2.0, 7.0)
        assert [curator] == door._ACTIVE
    assert vars(Owner)["own"] is own and "add" not in vars(Owner) and Owner().add(1.0) == 2.0 and door._ACTIVE == []
    recording = curator.recording()
    names = [entry.request.name for entry in recording.transcript.entries]
    assert [name.partition(" at ")[0] for name in names] == ["Base.add", "Owner.own"]
    assert all(name.partition(" at ")[2].startswith("tests/graybox/test_door_pieces.py:") for name in names)
    assert recording.returned == (2.0, 7.0) and [one.value.tolist() for one in recording.calls] == [[1.0], [5.0]]
    assert recording.transcript.relation is REPLACE and len(recording.plays) == len(recording.states) == 2
    with pytest.raises(KeyError), opened(patches):
        raise KeyError
    assert vars(Owner)["own"] is own and "add" not in vars(Owner) and door._ACTIVE == []
    wrapped = Patch(Owner, "own", wrap=lambda function: lambda self, value: function(self, value) * 10)
    with opened([wrapped], patches[:1]) as curator:
        assert Owner().own(1.0) == 30.0 and Owner().add(1.0) == 2.0
    assert len(curator.entries) == 1 and curator.relation is ADD


def _read(law: Any, arguments: dict[str, Any]) -> NoiseCall:
    return call(arguments["value"], law)


def test_inner_calls_are_not_released_again_and_inner_doors_come_first() -> None:
    def inner(value: float) -> float:
        return value

    outer = SimpleNamespace(inner=inner)
    outer.outer = lambda value: outer.inner(value) + 1
    reading = partial(_read, Laplace(1.0))
    patches = [Patch(outer, "outer", reading), Patch(outer, "inner", reading)]
    with opened(patches) as first:
        assert outer.outer(1.0) == 2.0 and len(first.entries) == 1 and not first.busy
        with opened([]) as second:
            outer.inner(1.0)
        assert len(first.entries) == 1 and len(second.entries) == 1
        outer.inner(2.0)
    assert len(first.entries) == 2


def test_errors_of_a_reading_are_named_and_the_door_stays_open() -> None:
    def reading(arguments: dict[str, Any]) -> NoiseCall:
        raise InvalidParameter("wrong")

    owner = SimpleNamespace(f=lambda value: value)
    with opened([Patch(owner, "f", reading)]) as curator:
        with pytest.raises(InvalidParameter, match=r"<lambda> at tests/graybox/test_door_pieces.py:\d+ in .*: wrong"):
            owner.f(1.0)
        assert not curator.busy
    with (
        pytest.raises(InvalidParameter, match=r"package 'no': allowed are \['diffprivlib', 'interpret', 'opendp'\]"),
        opened("no"),
    ):
        pass


def test_releases_are_placed_outside_the_noise_functions_files() -> None:
    frames: Any = None
    for file, line in [("/a/b/c/out.py", 3), ("/a/lib/in.py", 4), ("/a/lib/deep.py", 5)]:
        code = SimpleNamespace(co_filename=file, co_qualname=f"f{line}")
        frames = SimpleNamespace(f_code=code, f_lineno=line, f_back=frames)
    assert (
        door._place(frames, "/lib/") == "b/c/out.py:3 in f3"
        and door._place(frames, "/none/") == "a/lib/deep.py:5 in f5"
    )
    assert door._place(frames, "/a/") == "b/c/out.py:3 in f3"


# --- Recording and replaying ------------------------------------------------------------------------------------------


def test_what_a_release_is_recorded_as() -> None:
    curator = ForeignCurator(REPLACE)
    assert (curator.coins, curator.led, curator.busy, curator.elsewhere) == (
        True,
        (),
        False,
        "",
    ) and curator.replay is None
    assert curator.release("a", call([1.0, 2.0], bound=3.0, norm=2), plain([5.0, 6.0])) == [5.0, 6.0]
    choice = call([[1.0, 2.0]], Exponential(1.0), norm="range", bound=1.0)
    curator.release("b", choice, plain(1))
    first, second = curator.entries
    declared = first.request.sensitivity
    assert declared is not None and (declared.bound, declared.norm, declared.relation) == (3.0, 2, REPLACE)
    assert first.request.kind == "release" and first.request.path == ("a",) and first.request.value is None
    assert (
        first.value is not None
        and first.value.tolist() == [1.0, 2.0]
        and first.output.tolist() == [5.0, 6.0]
        and first.index is None
    )
    assert first.request.mechanism == Laplace(1.0) and second.index is not None and second.index.tolist() == [1]
    curator.release("c", call(1.0), plain(2.0))
    assert curator.entries[2].request.sensitivity is None


def test_led_outputs_are_given_in_turn() -> None:
    led = (("a", np.array([9.0]), 1.0), ("x", np.array([8.0]), 1.0), ("c", None, 1.0))
    curator = ForeignCurator(ADD, led=led)
    found = [curator.release(name, call(1.0), plain(5.0)) for name in "abcd"]
    assert found == [9.0, 5.0, 5.0, 5.0]


def generators() -> list[Any]:
    return [np.random.default_rng(1), np.random.RandomState(1), random.Random(1), np.arange(3.0)]


def drawn(one: Any) -> float:
    return float(one[0]) if isinstance(one, np.ndarray) else float(one.random())


def test_states_of_generators_are_read_and_put_back() -> None:
    for one in [*generators(), random, np.random]:
        state = door._state(one)
        first = drawn(one)
        if isinstance(one, np.ndarray):
            one[:] = 9.0
        else:
            drawn(one)
        door._restore(one, state)
        assert drawn(one) == first
    assert door._state("other") is None
    door._restore("other", None)


@pytest.mark.parametrize("coins", [True, False])
def test_generators_go_on_in_a_replay_or_are_made_anew(coins: bool) -> None:
    own = np.random.default_rng(4)

    def act(curator: ForeignCurator) -> list[Any]:
        told = []
        for place, name in enumerate("ab"):
            curator.release(
                name,
                call(float(place), generators=(own,)),
                lambda: own.random() + random.random() + np.random.random(),  # noqa: NPY002
            )
            told.append((own.random(), random.random(), np.random.random()))  # noqa: NPY002
        return told

    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    first = ForeignCurator(ADD)
    recorded = act(first)
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002
    own = np.random.default_rng(5)
    second = ForeignCurator(ADD, first.recording(), coins)
    again = act(second)
    second.finish()
    assert second.returned == first.returned
    if coins:
        assert again == recorded
    else:
        fresh = np.random.default_rng(5)
        assert again == [(fresh.random(), random.Random(seed).random(), np.random.RandomState(seed).random())
                         for seed in (777_777, 777_778)]  # fmt: skip
    assert (second.states == []) and len(first.states) == 2


def replay_of(*calls: tuple[str, NoiseCall, Any]) -> ForeignCurator:
    first = ForeignCurator(ADD)
    for name, one, result in calls:
        first.release(name, one, plain(result))
    return ForeignCurator(ADD, first.recording())


def test_recorded_outputs_come_back() -> None:
    never: Any = None
    second = replay_of(
        ("a", call(1.0), 5.0), ("b", call([1.0, 2.0], apart=True), [3.0, 4.0]), ("c", call(1.0, apart=True), 2.5)
    )
    assert second.release("a", call(7.0), never) == 5.0
    found = second.release("b", call([0.5, 3.0], apart=True), never)
    assert np.asarray(found).tolist() == [1.0 + 3.0 - 0.5, 2.0 + 4.0 - 3.0]
    last = second.release("c", call(3.0, apart=True), never)
    assert last == 1.0 + 2.5 - 3.0 and isinstance(last, float)
    second.finish()
    with pytest.raises(ImpossibleReplay, match="goes on after the recorded end"):
        second.release("d", call(1.0), never)
    installed: list[Any] = []
    for law, value, norm, output in [(Laplace(1.0), 1.0, 1, [5.0]), (Exponential(1.0), [[1.0, 2.0]], "range", [1])]:
        second = replay_of(("a", call(value, law, norm=norm), output[0]))
        install = call(value, law, norm=norm, install=lambda one: installed.append(np.asarray(one).tolist()) or 1)
        assert second.release("a", install, never) == 1 and installed[-1] == output


@pytest.mark.parametrize(("changed", "kind"), [
    ({"law": Laplace(2.0)}, "mechanism"), ({"bound": 2.0}, "sensitivity"), ({"epsilon": 2.0}, "declared cost"),
        ({"delta": 0.5}, "declared cost"),
    ({"options": ("a",)}, "options"), ({"value": np.array([1.0, 2.0])}, "shape"), ({}, "")])  # fmt: skip
def test_a_call_that_says_something_else_is_no_replay(changed: Any, kind: str) -> None:
    told = {
        "law": Laplace(1.0),
        "value": np.array([1.0]),
        "bound": 1.0,
        "epsilon": 1.0,
        "options": ("b",),
        "delta": 0.0,
    }
    second = replay_of(("a", call(**told), 5.0))
    other = call(**{**told, **changed})
    if not kind:
        assert second.release("a", other, plain(None)) == 5.0
        return
    with pytest.raises(ImpossibleReplay) as error:
        second.release("a", other, plain(None))
    assert error.value.kind == kind and error.value.release == "a"


def test_a_run_that_ends_early_or_asks_another_is_no_replay() -> None:
    second = replay_of(("a", call(1.0), 5.0), ("b", call(1.0), 6.0))
    second.release("a", call(1.0), plain(None))
    with pytest.raises(ImpossibleReplay) as error:
        second.finish()
    assert (error.value.release, error.value.kind) == ("b", "control flow")
    with pytest.raises(ImpossibleReplay, match="control flow"):
        second.release("c", call(1.0), plain(None))
    curator = ForeignCurator(ADD)
    curator.finish()
    curator.elsewhere = "in a thread"
    with pytest.raises(InvalidParameter, match="in a thread"):
        curator.finish()
