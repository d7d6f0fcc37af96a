"""The whole state of an object as flat leaves: attributes, arrays, nested containers, JSON, the contents of pickles.

What a model holds is what a holder of the model can read. Paths look like Python: `model.trees[3]['leaf'][0]`. Pickled
bytes are listed opcode by opcode, never executed.
"""

from __future__ import annotations

import json
import pickle
import pickletools
import random
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from refdp.audit.kept import kept_beside
from refdp.audit.structural_beside import beside, number_parts

Leaf = float | int | str
MOST_LEAVES = 100_000
"""Leaves read of one object; models larger than that are read in part."""
DEEPEST = 24

OPAQUE = (
    type,
    types.ModuleType,
    types.BuiltinFunctionType,
    np.random.Generator,
    np.random.RandomState,
    np.random.BitGenerator,
    random.Random,
)
"""Code, and generators, whose states differ without anything being released: only the name of the type is a leaf."""


def leaves(thing: Any) -> dict[str, Leaf]:
    """Every number and text reachable from the object, by path, in a fixed order."""
    found: dict[str, Leaf] = {}
    for path, leaf in _walk(thing, "", 0, set()):
        found[path] = leaf
        if len(found) >= MOST_LEAVES:
            break
    return found


def numbers(state: Mapping[str, Leaf]) -> dict[str, float]:
    """The numeric leaves."""
    return {path: float(leaf) for path, leaf in state.items() if not isinstance(leaf, str)}


def _walk(thing: Any, path: str, depth: int, above: set[int]) -> Iterator[tuple[str, Leaf]]:
    if _is_whole(thing):
        yield path, int(thing)
    elif isinstance(thing, (float, np.floating)):
        yield path, float(thing)
        if isinstance(thing, np.longdouble) and thing != float(thing):
            yield path + ".left", float(thing - np.longdouble(float(thing)))
    elif isinstance(thing, str):
        yield from _text(thing, path, depth, above)
    elif isinstance(thing, (bytes, bytearray)):
        yield from _binary(bytes(thing), path, depth, above)
    elif thing is None or isinstance(thing, OPAQUE) or hasattr(thing, "__code__"):
        yield path, type(thing).__name__
        if isinstance(thing, types.FunctionType) and depth < DEEPEST and id(thing) not in above:
            for name, part in kept_beside(thing).items():
                yield from _walk(part, f"{path}.{name}", depth + 1, above | {id(thing)})
    elif depth < DEEPEST and id(thing) not in above:
        empty = True
        for name, part in (*_parts(thing), *beside(thing)):
            empty = False
            yield from _walk(part, path + name, depth + 1, above | {id(thing)})
        if empty:  # that it is there, and of what shape, is read from outside, too
            yield path, f"{type(thing).__qualname__}{getattr(thing, 'shape', '')}"


def _is_whole(thing: Any) -> bool:
    """Whether it is a whole number; numpy counts spans of time among them."""
    return type(thing) is not np.timedelta64 and isinstance(thing, (bool, np.bool_, int, np.integer))


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """The named parts of a container or an object."""
    if isinstance(thing, np.ma.MaskedArray):
        yield from ((".data", np.asarray(thing.data)), (".mask", np.ma.getmaskarray(thing)))
    elif isinstance(thing, np.ndarray):
        yield from _array_parts(thing)
    elif isinstance(thing, complex | Decimal | np.datetime64 | np.timedelta64):
        yield from number_parts(thing)
    elif isinstance(thing, Mapping):
        yield from ((f"[{key!r}]", thing[key]) for key in thing)
    elif isinstance(thing, (list, tuple)):
        yield from ((f"[{place}]", part) for place, part in enumerate(thing))
    elif isinstance(thing, (set, frozenset)):
        yield from ((f"{{{place}}}", part) for place, part in enumerate(sorted(thing, key=repr)))
    elif is_dataclass(thing):
        yield from ((f".{field.name}", getattr(thing, field.name)) for field in fields(thing))
    else:
        yield from ((f".{name}", part) for name, part in attributes(thing).items())


def _array_parts(array: np.ndarray) -> Iterator[tuple[str, Any]]:
    if array.dtype.names:
        yield from ((f"[{name!r}]", array[name]) for name in array.dtype.names)
    elif array.ndim == 0:
        yield "", array[()] if array.dtype.kind in "mM" else array.item()
    else:
        yield from ((f"[{place}]", part) for place, part in enumerate(array))


def attributes(thing: Any) -> dict[str, Any]:
    """Attributes of an instance, or what its class hands to pickle where attributes are kept in C."""
    held = dict(getattr(thing, "__dict__", {}))
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            inner = f"_{kind.__name__.lstrip('_')}{name}" if name[:2] == "__" != name[-2:] else name
            if hasattr(thing, inner) and not inner.startswith("__"):
                held[inner] = getattr(thing, inner)
    if not held and hasattr(thing, "tolist"):
        return {"values": thing.tolist()}
    return held or _pickled_state(thing)


def _pickled_state(thing: Any) -> dict[str, Any]:
    try:
        reduced = thing.__reduce_ex__(2)
    except (TypeError, AttributeError, pickle.PicklingError, ValueError):
        return {}
    if isinstance(reduced, str):
        return {}
    state = reduced[2] if len(reduced) > 2 else None
    if state is not None:
        return {"state": state}
    given = reduced[1][1:] if getattr(reduced[0], "__name__", "") == "__newobj__" else reduced[1]
    more = {name: list(part) for name, part in zip(("items", "pairs"), reduced[3:5]) if part is not None}
    return ({"made from": given} if given else {}) | more


def _text(text: str, path: str, depth: int, above: set[int]) -> Iterator[tuple[str, Leaf]]:
    """JSON inside a text is opened; anything else is a leaf."""
    if text[:1] in ("{", "["):
        parsed = _parsed(json.loads, text)
        if parsed is not None:
            yield from _walk(parsed, path, depth + 1, above)
            return
    yield path, text


def _parsed(read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except (ValueError, RecursionError):
        return None


def _binary(data: bytes, path: str, depth: int, above: set[int]) -> Iterator[tuple[str, Leaf]]:
    """A pickle's constants, a JSON text's contents, or the length and a digest-free copy as hexadecimal text."""
    if data[:1] == b"\x80":
        constants = _constants(data)
        if constants is not None:
            yield from _walk(constants, path + "<pickle>", depth + 1, above)
            return
    try:
        yield from _text(data.decode("utf-8"), path, depth, above)
    except UnicodeDecodeError:
        yield path, data.hex()


def _constants(data: bytes) -> list[Any] | None:
    """The constants that a pickle pushes, in order, read without executing it; array buffers as float64 if they fit."""
    found: list[Any] = []
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if isinstance(argument, bytes) and len(argument) and len(argument) % 8 == 0:
                found.append(np.frombuffer(argument, dtype=np.float64))
            elif isinstance(argument, (int, float)) and opcode.name.startswith(
                ("BININT", "INT", "LONG", "FLOAT", "BINF")
            ):
                found.append(argument)
    except (ValueError, UnicodeDecodeError):
        return None
    return found
