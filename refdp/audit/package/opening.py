"""What is opened of a package: adapters by name, the noise functions of audit.toml, and whether that is all."""

from __future__ import annotations

import functools
import importlib
import inspect
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from refdp.audit.campaign import load
from refdp.audit.opened_door import LAWS, Patch, _patches, noise, opened
from refdp.audit.opened_laws import NoiseCall, Unknown
from refdp.audit.opened_runs import Doors
from refdp.audit.outputs import leaves_of_error
from refdp.audit.package.scope import Scope
from refdp.audit.reading import Leaf
from refdp.audit.runs import RAISED, raise_if_ending
from refdp.audit.structural_state import leaves
from refdp.errors import ImpossibleReplay, InvalidParameter

ROUNDING = 1e-7
"""Numbers of results that differ by less are no violation where callers add noise; they are not examined, either."""


def doors(scope: Scope) -> Doors:
    """What is opened: adapters by name, and the functions that the file names. Errors: InvalidParameter."""
    patches = [_patch(one) for one in scope.noise]
    return (*scope.opened, *([patches] if patches else []))


def rounding(scope: Scope) -> float:
    """How far results may differ where noise is added by callers: sums in another order."""
    apart = "interpret" in scope.opened or any("caller" in one for one in scope.noise)
    return ROUNDING if apart else 0.0


def has_other_randomness(scope: Scope, function: Callable[[Any, int], Any], rows: Any, opened_functions: Doors) -> bool:
    """Whether a run with the same noise and another seed gives another result: then not all randomness is opened.

    What differs between neighbours may then be that randomness, and is no evidence. Generators do not go on as they
    did: what a package draws from them after a release (a place in the chosen interval, an eigenvector) is not opened.
    """
    seed = scope.seed + 1
    kept = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        _seeded(seed)
        with opened(*opened_functions) as curator:
            first = _leaves(function, rows, seed)
        _seeded(seed + 1)
        with opened(*opened_functions, replay=curator.recording(), coins=False):
            second = _leaves(function, rows, seed + 1)
    except ImpossibleReplay:
        return True
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])  # noqa: NPY002
    if first.keys() != second.keys():
        return True
    return not all(_same(first[path], second[path], rounding(scope)) for path in first)


def _leaves(function: Callable[[Any, int], Any], rows: Any, seed: int) -> dict[str, Leaf]:
    """What a run publishes, an error too."""
    try:
        return leaves(function(rows.copy(), seed))
    except ImpossibleReplay:
        raise
    except RAISED as error:
        raise_if_ending(error)
        return leaves_of_error(error)


def _same(a: Leaf, b: Leaf, room: float) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or abs(a - b) <= room * max(1.0, abs(a), abs(b))
    return a == b


def _seeded(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002


def value_arguments(scope: Scope, qualified: str) -> Iterator[tuple[str, str]]:
    """A noise function "module:function" of this name, and an expression in a wrapper for the true value it is given.

    The wrapper takes (*a, **k) and knows the function as `noise`.
    """
    argument = "inspect.signature(noise).bind(*a, **k).arguments[{!r}]"
    for one in scope.noise:
        value = one.get("value")
        if one["function"].partition(":")[2] != qualified:
            continue
        if isinstance(value, str) and ":" not in value:
            yield one["function"], argument.format(value)
        names = one.get("caller", [])
        for name in [names] if isinstance(names, str) else names:
            yield one["function"], f"sys._getframe(1).f_locals[{name!r}]"
    for name in scope.opened:
        for patch in _patches(name):
            owner = f"{getattr(patch.owner, '__qualname__', '')}.{patch.name}".lstrip(".")
            function = getattr(patch.owner, patch.name)
            if owner == qualified and "value" in inspect.signature(function).parameters:
                yield f"{patch.owner.__module__}:{owner}", argument.format("value")


def _patch(table: dict[str, Any]) -> Patch:
    module, _, path = table["function"].partition(":")
    try:
        owner: Any = importlib.import_module(module)
        *parents, name = path.split(".")
        for part in parents:
            owner = getattr(owner, part)
        getattr(owner, name)
    except (ImportError, AttributeError) as error:
        raise InvalidParameter(f"[[noise]] function {table['function']!r}: {error}") from error
    if "caller" in table:
        return Patch(owner, name, functools.partial(_apart, table))
    named = {key: _named(value) for key, value in table.items() if key not in ("function", "law")}
    return Patch(owner, name, wrap=noise(table["law"], **named))


def _named(value: Any) -> Any:
    return load(value, "[[noise]]") if isinstance(value, str) and ":" in value else value


def _apart(table: dict[str, Any], arguments: dict[str, Any]) -> NoiseCall:
    """A function that returns noise, which its caller adds to a local variable of a known name."""
    names = [table["caller"]] if isinstance(table["caller"], str) else table["caller"]
    held = _caller(names, table["function"])
    value = next(held[name] for name in names if name in held)
    law, scale = table["law"], float(_argument(table["scale"], arguments, held))
    sensitivity, epsilon = (_argument(table.get(key), arguments, held) for key in ("sensitivity", "epsilon"))
    return NoiseCall(
        LAWS[law](scale) if law in LAWS and law != "exponential" else Unknown(law, (scale,)),
        np.atleast_1d(np.asarray(value, dtype=np.float64)),
        None if sensitivity is None else float(sensitivity),
        2 if law == "gaussian" else 1,
        None if epsilon is None else float(epsilon),
        float(_argument(table.get("delta", 0.0), arguments, held)),
        apart=True,
    )


def _argument(name: Any, arguments: dict[str, Any], held: dict[str, Any]) -> Any:
    """An argument of the noise function, a local variable of its caller ("caller.name"), or a number."""
    if not isinstance(name, str):
        return name
    where, _, local = name.partition(".")
    known = held if where == "caller" else arguments
    key = local if where == "caller" else where
    if key not in known:
        raise InvalidParameter(f"[[noise]] {name!r}: no such variable; allowed are {sorted(known)}")
    return functools.reduce(getattr, [] if where == "caller" else local.split(".")[: bool(local)], known[key])


def _caller(names: Sequence[str], function: str) -> dict[str, Any]:
    """Local variables of the nearest calling function that has one of these names."""
    frame = sys._getframe(3)  # beyond this function, the reading, and the wrapper that called it
    if not any(name in frame.f_locals for name in names):
        raise InvalidParameter(f"[[noise]] {function!r}: its caller {frame.f_code.co_qualname} has none of {names}")
    return dict(frame.f_locals)
