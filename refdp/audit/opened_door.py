"""Opening a package: its noise functions report true values, scales and declared costs while an audit lasts.

    with opened("diffprivlib") as curator:
        model = train(records)                        # recorded, with the package's own noise
    with opened("diffprivlib", replay=curator.recording()) as curator:
        again = train(neighbour)                      # the same outputs, on the neighbour

The packages know nothing of it: their functions are exchanged for the time of the `with` block, by the patches of
`refdp.audit.adapters`. One's own functions say what they do with a decorator, which does nothing outside an audit:

    @noise("laplace", value="total", scale="scale", sensitivity="sensitivity")
    def add_noise(total, scale, sensitivity): ...
"""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import random
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.audit.opened_laws import NoiseCall, Unknown
from refdp.errors import ImpossibleReplay, InvalidParameter
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.curator import Entry, Request, Transcript
from refdp.privacy.events import Relation, Sensitivity
from refdp.privacy.replay import same_request

Reading = Callable[[dict[str, Any]], NoiseCall]
"""From the arguments of a call, by name, to what it says about itself."""

Led = tuple[tuple[str, NDArray[Any] | None, Any], ...]
"""Of calls in turn: the name, the output that is to be given if any is, and what was returned before."""

PACKAGES = {name: f"refdp.audit.adapters.{name}" for name in ("diffprivlib", "interpret", "opendp")}
"""Modules with a function `patches()` for packages that can be opened."""


@dataclass(frozen=True)
class Patch:
    """One noise function: attribute `name` of `owner`.

    inside: part of a path; calls from files there belong to the noise function, the release is located outside.
    wrap: for functions that add no noise but have to be followed, what to put in their place, instead of a reading.
    """

    owner: Any
    name: str
    reading: Reading | None = None
    inside: str = "/no such path/"
    wrap: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What stands in the function's place during an audit."""
        if self.wrap is not None:
            return self.wrap(function)
        assert self.reading is not None
        return watched(function, self.reading, self.inside)


@dataclass(frozen=True)
class Play:
    """One call of a noise function, to be made again. bound: its arguments. reading: what they say."""

    original: Callable[[], Any]
    function: Callable[..., Any]
    bound: inspect.BoundArguments
    reading: Reading

    def __call__(self) -> Any:
        """What the function returns."""
        return self.original()

    def at(self, value: NDArray[np.float64], call: NoiseCall) -> tuple[Play, NoiseCall] | None:
        """The same call on another true value, where just one argument is the value, as a number or an array.

        value: shape of the call's own.
        """
        own = [name for name, given in self.bound.arguments.items() if _is_value(given, call.value)]
        for name in own:
            given = self.bound.arguments[name]
            moved = float(value.ravel()[0]) if np.ndim(given) == 0 else np.reshape(value, np.shape(given))
            bound = inspect.BoundArguments(self.bound.signature, OrderedDict(self.bound.arguments | {name: moved}))
            read = self.reading(bound.arguments | bound.arguments.get("kwargs", {}))
            if np.array_equal(read.value, value) and read.law == call.law:
                again = functools.partial(self.function, *bound.args, **bound.kwargs)
                return Play(again, self.function, bound, self.reading), read
        return None


def _is_value(given: Any, value: NDArray[np.float64]) -> bool:
    """Whether an argument is numbers that are the true value."""
    if isinstance(given, bool) or not isinstance(given, int | float | np.number | np.ndarray | list):
        return False
    try:
        return bool(np.size(given) == value.size and np.array_equal(np.ravel(given), np.ravel(value)))
    except (TypeError, ValueError):
        return False


@dataclass(frozen=True)
class Recording:
    """One recorded run. returned: what noise functions returned. states: generators' states after each release.

    plays: the calls themselves, to be made again.
    """

    transcript: Transcript
    calls: tuple[NoiseCall, ...]
    returned: tuple[Any, ...]
    states: tuple[tuple[Any, ...], ...]
    plays: tuple[Play, ...] = ()


@dataclass
class ForeignCurator:
    """Records what noise functions do or, given a recording, lets them return again what they returned then.

    coins: whether generators go on in a replay as they did; without, they are seeded anew after each release.
    led: outputs to give in a recording, in turn, where the calls are of these names.
    """

    relation: Relation
    replay: Recording | None = None
    coins: bool = True
    led: Led = ()
    calls: list[NoiseCall] = field(default_factory=list)
    returned: list[Any] = field(default_factory=list)
    states: list[tuple[Any, ...]] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    plays: list[Play] = field(default_factory=list)
    busy: bool = False
    elsewhere: str = ""
    thread: int = field(default_factory=threading.get_ident)

    def recording(self) -> Recording:
        """What was seen so far."""
        transcript = Transcript(self.relation, list(self.entries))
        return Recording(transcript, tuple(self.calls), tuple(self.returned), tuple(self.states), tuple(self.plays))

    def release(self, name: str, call: NoiseCall, original: Play) -> Any:
        """One call of a noise function; `original` runs it."""
        declared = None
        if call.bound is not None:
            declared = Sensitivity(call.bound, call.norm, "declared by the code", self.relation)
        request = Request("release", (name,), call.value, call.law, declared)  # type: ignore[arg-type]
        place = len(self.entries)
        if self.replay is None:
            told, output, like = self.led[place] if place < len(self.led) else ("", None, None)
            returned = original() if told != name or output is None else call.giving(output, like)
            self.states.append(tuple(_state(one) for one in (*call.generators, *GLOBAL)))
        else:
            returned = self._again(place, request, call)
        answer = call.answer(returned)
        index = answer if call.norm == "range" else None
        self.entries.append(Entry(replace(request, value=None), answer, index, call.value))
        self.calls.append(call)
        self.plays.append(original)
        self.returned.append(returned)
        return returned

    def finish(self) -> None:
        """Check that no noise was drawn in another thread, and that a replayed run made every recorded call.

        Errors: InvalidParameter for noise drawn elsewhere, ImpossibleReplay for a call that is missing.
        """
        if self.elsewhere:
            raise InvalidParameter(self.elsewhere)
        if self.replay is not None and len(self.entries) < len(self.replay.returned):
            missing = self.replay.transcript.entries[len(self.entries)].request.name
            raise ImpossibleReplay(missing, "control flow", "the neighbour's run ended before it")

    def _again(self, place: int, request: Request, call: NoiseCall) -> Any:
        assert self.replay is not None
        if place >= len(self.replay.returned):
            raise ImpossibleReplay(request.name, "control flow", "the neighbour's run goes on after the recorded end")
        recorded = self.replay.transcript.entries[place]
        same_request(replace(recorded.request, value=recorded.value), request)
        before = self.replay.calls[place]
        if (before.epsilon, before.delta) != (call.epsilon, call.delta):
            detail = f"{(before.epsilon, before.delta)} against {(call.epsilon, call.delta)}"
            raise ImpossibleReplay(request.name, "declared cost", detail)
        if before.options != call.options:
            detail = f"{str(before.options)[:200]} against {str(call.options)[:200]}"
            raise ImpossibleReplay(request.name, "options", detail)
        for generator, state in zip((*call.generators, *GLOBAL), self.replay.states[place] if self.coins else ()):
            _restore(generator, state)
        if not self.coins:
            _seeded(place + ANEW)
        if call.install is not None:
            return call.install(recorded.output if recorded.index is None else recorded.index)
        returned = self.replay.returned[place]
        if not call.apart:
            return returned
        noise = recorded.output - call.value
        return noise if np.ndim(returned) else float(noise[0])  # a number where the function returns one


GLOBAL = (np.random, random)
"""Global generators: foreign code draws public randomness from them, which has to go on in a replay as it did."""
ANEW = 777_777
"""Seeds of the global generators after each release, where they are not to go on as they did."""
_ACTIVE: list[ForeignCurator] = []
"""Curators of the `with` blocks that are open, the innermost last."""


def _state(generator: Any) -> Any:
    if isinstance(generator, np.ndarray):
        return generator.copy()
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    if hasattr(generator, "get_state"):
        return generator.get_state()
    return generator.getstate() if isinstance(generator, random.Random) or generator is random else None


def _restore(generator: Any, state: Any) -> None:
    if state is None:
        return
    if isinstance(generator, np.ndarray):
        generator[...] = state
    elif isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif hasattr(generator, "set_state"):
        generator.set_state(state)
    else:
        generator.setstate(state)


def _seeded(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002


@contextmanager
def opened(
    *packages: str | Sequence[Patch],
    replay: Recording | None = None,
    relation: Relation = Relation.ADD_REMOVE,
    coins: bool = True,
    led: Led = (),
) -> Iterator[ForeignCurator]:
    """Open packages by name, or functions by patches, for the time of a `with` block.

    replay: let noise functions return what they returned in this recording. relation: of the neighbours, for messages.
    coins: whether generators go on in a replay as they did in the recording; without, other draws than those of the
    opened functions are made afresh. led: outputs that noise functions give in a recording, in turn.
    Noise that is drawn in other processes is not seen.
    Errors: InvalidParameter for an unknown package, and where noise is drawn in another thread; ImpossibleReplay where
    a replayed run parts from the recorded one.
    """
    curator = ForeignCurator(relation, replay, coins, led)
    kept = []
    _ACTIVE.append(curator)
    try:
        for patch in [patch for package in packages for patch in _patches(package)]:
            original = vars(patch.owner).get(patch.name, _INHERITED)
            kept.append((patch, original))
            setattr(patch.owner, patch.name, patch.around(getattr(patch.owner, patch.name)))
        yield curator
        curator.finish()
    finally:
        for patch, original in reversed(kept):
            if original is _INHERITED:
                delattr(patch.owner, patch.name)
            else:
                setattr(patch.owner, patch.name, original)
        _ACTIVE.pop()


_INHERITED = object()


def _patches(package: str | Sequence[Patch]) -> Sequence[Patch]:
    if not isinstance(package, str):
        return package
    if package not in PACKAGES:
        raise InvalidParameter(f"package {package!r}: allowed are {sorted(PACKAGES)}, or a list of patches")
    found: Sequence[Patch] = importlib.import_module(PACKAGES[package]).patches()
    return found


def watched(function: Callable[..., Any], reading: Reading, inside: str = "/no such path/") -> Callable[..., Any]:
    """The same function, which reports to the active curator if there is one.

    Errors: InvalidParameter, named by the function.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        curator = _ACTIVE[-1] if _ACTIVE else None
        if curator is None or curator.busy:
            return function(*args, **kwargs)
        if curator.thread != threading.get_ident():
            curator.elsewhere = f"{function.__qualname__} is called in another thread: audit with one thread only"
            raise InvalidParameter(curator.elsewhere)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments | bound.arguments.get("kwargs", {})
        curator.busy = True
        try:
            name = f"{function.__qualname__} at {_place(sys._getframe(1), inside)}"
            return curator.release(
                name, reading(arguments), Play(functools.partial(function, *args, **kwargs), function, bound, reading)
            )
        except InvalidParameter as error:
            raise InvalidParameter(f"{name}: {error}") from error
        finally:
            curator.busy = False

    return wrapper


def _place(frame: FrameType | None, inside: str) -> str:
    """`file:line in function` of the nearest caller outside the noise functions' own files."""
    while frame is not None and inside in frame.f_code.co_filename and frame.f_back is not None:
        frame = frame.f_back
    assert frame is not None
    parts = Path(frame.f_code.co_filename).parts
    return f"{'/'.join(parts[-3:])}:{frame.f_lineno} in {frame.f_code.co_qualname}"


Name = str | float | Callable[[dict[str, Any]], Any] | None
"""An argument by name ("scale", or "self.scale"), a number, or a function of all arguments."""


def noise(
    law: str,
    *,
    value: Name = "value",
    scale: Name = "scale",
    sensitivity: Name = None,
    epsilon: Name = None,
    delta: Name = 0.0,
    generator: Name = None,
    options: Name = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Say what a function of one's own does: a decorator that does nothing outside an audit.

    law: "laplace" (scale), "gaussian" or "normal" (standard deviation, one or as many as values), "geometric" (scale of
    integer noise), "exponential" (coefficient; the value is a list of utilities, the function returns an index or one
    of `options`), or any other name for noise that refdp does not know, whose losses are not counted.
    Errors: InvalidParameter for a name that looks like one of these misspelt.
    """
    law = _law(law)

    def read(arguments: dict[str, Any]) -> NoiseCall:
        of = functools.partial(_argument, arguments)
        held, offered = of(generator), of(options)
        bound, cost = of(sensitivity), of(epsilon)
        true = np.atleast_1d(np.asarray(of(value), dtype=np.float64))
        select = law == "exponential"
        return NoiseCall(
            _made(law, _scale(law, of(scale))),
            true[np.newaxis, :] if select and true.ndim == 1 else true,
            None if bound is None else float(bound),
            "range" if select else 2 if law == "gaussian" else 1,
            None if cost is None else float(cost),
            float(of(delta)),
            () if held is None else (held,),
            None if offered is None else tuple(offered),
        )

    return lambda function: watched(function, read)


def _law(name: str) -> str:
    known = {"normal": "gaussian"}.get(name.lower(), name.lower())
    meant = difflib.get_close_matches(known, [*LAWS, "normal"], 1, 0.75)
    if known not in LAWS and meant:
        raise InvalidParameter(f"law {name!r}: {meant[0]!r} is meant? Allowed are {sorted(LAWS)}, or an unlike name")
    return known if known in LAWS else name


def _scale(law: str, scale: Any) -> Any:
    if np.ndim(scale) == 0:
        return float(scale)
    if law != "gaussian":
        raise InvalidParameter(
            f"scale {scale!r} of {law} noise: one number is allowed, a vector for Gaussian noise only"
        )
    return tuple(float(one) for one in np.ravel(scale))


LAWS: dict[str, Callable[[Any], Any]] = {
    "laplace": Laplace,
    "gaussian": Gaussian,
    "geometric": lambda scale: DiscreteLaplace(scale, 1.0),
    "exponential": Exponential,
}


def _made(law: str, scale: Any) -> Any:
    """The law at this scale; one without noise where that is no scale, which is a finding and no error."""
    if law not in LAWS:
        return Unknown(law, (scale,))
    try:
        return LAWS[law](scale)
    except InvalidParameter:
        return Unknown(f"{law} of scale {scale}", absent=law != "exponential")  # as text: NaN is not NaN


def _argument(arguments: dict[str, Any], name: Name) -> Any:
    if callable(name):
        return name(arguments)
    if not isinstance(name, str):
        return name
    first, *rest = name.split(".")
    if first not in arguments:
        raise InvalidParameter(f"the noise function has no argument {first!r}: allowed are {sorted(arguments)}")
    return functools.reduce(getattr, rest, arguments[first])
