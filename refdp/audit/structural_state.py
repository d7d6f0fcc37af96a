"""The whole state of an object as flat leaves: attributes, arrays, nested containers, JSON, the contents of pickles.

What a model holds is what a holder of the model can read. Paths look like Python: `model.trees[3]['leaf'][0]`. Pickled
bytes are listed opcode by opcode, never executed.
"""

from __future__ import annotations

import gc
import json
import math
import pickletools
import random
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np

from refdp.audit import inside, row_names
from refdp.audit.by_name import HEAP_TYPE
from refdp.audit.hidden_memory import behind, between, metadata
from refdp.audit.in_floats import BYTES, NUMBER, in_floats, left_of_long, odd_nans, of_text
from refdp.audit.inside import foreign, reduced
from refdp.audit.padding import odd_truths
from refdp.audit.reading import Leaf, Reading
from refdp.audit.structural_beside import (
    IN_C,
    TIMES,
    VIEWS,
    beside,
    frame_kinds,
    frame_parts,
    in_c,
    is_closed,
    is_frame,
    number_parts,
    of_code,
    own_class,
    time_parts,
    ufunc_parts,
    wrapped,
)

PLAIN_KEYS = frozenset({str, bytes, int, float, bool, type(None)})
BEYOND = 2**1023
"""Larger whole numbers are read in parts, as no float is near them."""
MOST_DIGITS = 4_000
"""Longer keys have no text of their own in a path."""
MOST_LEAVES = 100_000
"""Leaves read of one object; models larger than that are read in part."""
MOST_PARTS = 1_000_000
"""Parts looked at, numbers and texts or not: objects that refer to each other are reached by many paths."""
DEEPEST = 24

GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
OPAQUE = (type, types.ModuleType, types.BuiltinFunctionType, *GENERATORS)
"""Code, and generators, whose states differ without anything being released: only the name of the type is a leaf."""

Leaves = Iterator[tuple[str, Leaf]]


def leaves(thing: Any) -> dict[str, Leaf]:
    """Every number and text reachable from the object, by path, in a fixed order."""
    return read(thing).leaves


def read(thing: Any, *, whole: bool = False) -> Reading:
    """All that can be read of the object, and where that is not everything. whole: as `Reading` has it."""
    reading = Reading(whole=whole)
    try:
        for path, leaf in _walk(thing, "", 0, frozenset(), reading):
            if len(reading.leaves) >= MOST_LEAVES:
                reading.left[path] = f"it comes after {MOST_LEAVES:,} numbers and texts"
                break
            reading.leaves[path] = leaf
    except _TooManyParts as found:
        reading.left[str(found)] = f"it comes after {MOST_PARTS:,} parts"
    except GeneratorExit:  # of a thing's own code; one that ends `_walk` comes to nobody
        reading.left[""] = "reading it raised GeneratorExit"
    return reading


class _TooManyParts(BaseException):
    """Where reading ends; no error of a part."""


def numbers(state: Mapping[str, Leaf]) -> dict[str, float]:
    """The numeric leaves."""
    return {path: float(leaf) for path, leaf in state.items() if not isinstance(leaf, str)}


def _walk(thing: Any, path: str, depth: int, above: frozenset[int], reading: Reading, within: bool = False) -> Leaves:
    """The leaves of one thing. above: what it is in. within: it stands in an array, which says of what kind it is.

    What a thing's own code raises while it is read is told.
    """
    reading.visited += 1
    if reading.visited > MOST_PARTS:
        raise _TooManyParts(path)
    try:
        yield from _of_one(thing, path, depth, above, reading, within)
    except (KeyboardInterrupt, SystemExit, GeneratorExit, _TooManyParts):
        raise
    except BaseException as error:
        reading.left[path] = f"reading it raised {type(error).__name__}"


def _of_one(thing: Any, path: str, depth: int, above: frozenset[int], reading: Reading, within: bool) -> Leaves:
    if isinstance(thing, _Decimals):
        yield from _of_one(thing.nearest, path, depth, above, reading, within)
        yield from ((f"{path}.left[{place}]", one) for place, one in enumerate(thing.left))
        return
    reading.note(thing, path, within=within)
    parts: Iterable[tuple[str, Any]] = _attached(thing)
    if _is_whole(thing) and abs(whole := int(thing)) < BEYOND:
        yield path, whole
    elif _is_whole(thing):
        yield from ((f"{path}.parts[{place}]", one) for place, one in enumerate(in_floats(whole)))
    elif isinstance(thing, (float, np.floating)):
        yield path, float(thing)
        if isinstance(thing, np.longdouble) and thing != float(thing):
            left = left_of_long(np.array([thing]), np.array([float(thing)])).tolist()
            yield from ((f"{path}.left{f'[{place}]' * (place > 0)}", one) for place, one in enumerate(left))
        if math.isnan(thing):
            yield from ((f"{path}.bits", int.from_bytes(one, "little")) for one in odd_nans(np.asarray(thing)))
    elif isinstance(thing, str):
        yield from _text(thing, path, depth, above, reading)
    elif isinstance(thing, (bytes, bytearray)):
        yield from _binary(bytes(thing), path, depth, above, reading)
    elif thing is None or isinstance(thing, OPAQUE) or _is_function(thing):
        yield path, type(thing).__name__
        parts = (*of_code(thing), *parts)
        if isinstance(thing, types.FunctionType) and id(thing.__globals__) not in reading.modules:
            reading.modules[id(thing.__globals__)] = thing.__globals__
            parts = (*parts, *inside.own_globals("", thing))
        if isinstance(thing, GENERATORS):
            reading.left[path] = f"the state of a {type(thing).__name__}"
    else:
        parts = (*_parts(thing), *beside(thing))
        if isinstance(thing, np.ndarray) and not within and (base := behind(thing)) is not None:
            parts = (*parts, (".base", base))
        elif isinstance(thing, np.ndarray | np.void) and not within and between(thing):
            reading.left[path] = "bytes between its fields"
        if isinstance(thing, np.ndarray | np.void) and not within and (odd := odd_truths(thing)).size:
            parts = (*parts, (".bytes", odd.tolist()))
        if isinstance(thing, np.ndarray | np.generic | np.dtype) and not within:
            parts = (*parts, *metadata(thing if isinstance(thing, np.dtype) else thing.dtype))
        if is_frame(thing):
            reading.form.append(frame_kinds(thing))
        if not parts and depth < DEEPEST:  # that it is there, and of what shape, is read from outside, too
            yield path, f"{type(thing).__qualname__}{thing.shape if isinstance(thing, np.ndarray) else ''}"
        if depth < DEEPEST and is_closed(thing):
            reading.left[path] = f"nothing shows what is in a {type(thing).__name__}"
        parts = (*parts, *own_class(thing))
    if id(thing) in above:
        return
    among, array = above | {id(thing)}, _says_kinds(thing)
    rows, columns = _names_of_rows(thing, reading.rows.get(path, []), within)
    for place, (name, part) in enumerate(parts):
        if depth >= DEEPEST:
            reading.left[path] = f"it is {DEEPEST} levels deep"
            return
        if isinstance(thing, dict | Mapping) and name[:5] != "[key " and NUMBER.search(name):
            reading.note_key(name, path)
        elif path in reading.blank:
            reading.blank[path + name] = reading.blank[path] + name
        in_order = place < len(rows) and name == f"[{place}]"
        reading.note_name(name, path, rows[place] if in_order else getattr(name, "key", ""))
        if columns and (not is_frame(thing) or name == "" or name.startswith(".iloc")):
            reading.rows[path + name] = columns
        yield from _walk(part, path + name, depth + 1, among, reading, array)


def _names_of_rows(thing: Any, given: list[str], within: bool) -> tuple[list[str], list[str]]:
    """What the parts of a list are known by, and what the parts of these are. given: what its parts are from outside.

    A number in front of rows of an array, which stand within it, is read where the array is.
    """
    try:
        if is_frame(thing):
            return [], row_names.of_table(thing) if hasattr(thing, "index") else given
        is_list = type(thing) in (list, tuple) or (isinstance(thing, np.ndarray) and not thing.dtype.names)
        if is_list and not isinstance(thing, np.ma.MaskedArray):
            if given and len(thing) == len(given):
                return given, []
            rows = [] if within else row_names.of_rows(thing)
            return rows, [] if rows or within else row_names.of_columns(row_names.parts_in(thing))
        return [], given or row_names.of_columns(row_names.parts_in(thing))
    except Exception:  # foreign code: what has no name has its place
        return [], []


def _says_kinds(thing: Any) -> bool:
    """Whether an array says of what kind its elements are; one with a mask is two arrays, each to be looked at."""
    return isinstance(thing, np.ndarray) and not thing.dtype.hasobject and not isinstance(thing, np.ma.MaskedArray)


def _is_function(thing: Any) -> bool:
    return isinstance(thing, types.MethodType) or hasattr(type(thing), "__code__")


def _attached(thing: Any) -> Iterator[tuple[str, Any]]:
    """Attributes of a number, a text or a function of a class of its own."""
    if type(thing).__flags__ & HEAP_TYPE and not isinstance(thing, type | types.ModuleType):
        yield from inside.attributes("", thing)
        yield from own_class(thing)


def _is_whole(thing: Any) -> bool:
    """Whether it is a whole number; numpy counts spans of time among them."""
    return type(thing) is not np.timedelta64 and isinstance(thing, (bool, np.bool_, int, np.integer))


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """The named parts of a container or an object."""
    if is_frame(thing):
        yield from frame_parts(thing)
    elif isinstance(thing, np.ma.MaskedArray):
        yield from ((".data", np.asarray(thing.data)), (".mask", np.ma.getmaskarray(thing)))
    elif isinstance(thing, np.ndarray):
        yield from _array_parts(thing)
    elif isinstance(thing, complex | np.complexfloating | Decimal | np.datetime64 | np.timedelta64):
        yield from number_parts(thing)
    elif isinstance(thing, TIMES):
        yield from time_parts(thing)
        if type(thing) not in (*TIMES, datetime):
            yield from ((f".{name} (kept)", part) for name, part in attributes(thing).items())
    elif isinstance(thing, np.ufunc):
        yield from ufunc_parts(thing)
    elif isinstance(thing, IN_C):
        yield from in_c(thing)
    elif isinstance(thing, VIEWS):
        yield ".mapping", thing.mapping
    elif isinstance(thing, Mapping):
        yield from _pairs(thing)
    elif isinstance(thing, (list, tuple)):
        yield from ((f"[{place}]", part) for place, part in enumerate(inside.elements(thing)))
    elif isinstance(thing, (set, frozenset)):
        yield from ((f"{{{place}}}", part) for place, part in enumerate(sorted(inside.elements(thing), key=_shown)))
    elif isinstance(thing, memoryview):
        yield from (("", thing.tolist()), (".obj", thing.obj))
    elif isinstance(thing, property | classmethod | staticmethod):
        yield from wrapped(thing)
    elif is_dataclass(thing):
        yield from _fields(thing)
        yield from _in_c(thing)
    else:
        yield from ((f".{name}", part) for name, part in attributes(thing).items())


def _fields(thing: Any) -> Iterator[tuple[str, Any]]:
    """Of a dataclass: what it keeps under the name of a field, and what it answers where that is something else."""
    held = dict(inside.attributes("", thing))
    for place in (f".{field.name}" for field in fields(thing)):
        if place in held:
            yield place, held[place]
        if hasattr(thing, place[1:]) and (told := getattr(thing, place[1:])) is not held.get(place, ...):
            yield place + (" (answered)" if place in held else ""), told


def _in_c(thing: Any) -> Iterator[tuple[str, Any]]:
    """What a dataclass holds as an object of another language."""
    if foreign(type(thing)) and not isinstance(thing, BaseException):
        yield from ((f".{name}", part) for name, part in _pickled_state(thing).items())


def _pairs(mapping: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Values by their keys, and keys that are more than their text."""
    if isinstance(mapping, types.MappingProxyType):
        (mapping,) = gc.get_referents(mapping)
    pairs = dict.items(mapping) if isinstance(mapping, dict) else ((key, mapping[key]) for key in mapping)
    more = []
    for place, (key, value) in enumerate(pairs):
        plain = _is_plain(key)
        told = row_names.key_name(key) if not plain or type(key) is int else ""
        yield row_names.Named(f"[{key!r}]" if plain else f"[key {place}]", told), value
        if not plain:
            more.append((f" key {place}", key))
    yield from more


def _is_plain(key: Any) -> bool:
    """Whether a key is what its text says."""
    if type(key) is tuple:
        return all(map(_is_plain, key))
    return type(key) in PLAIN_KEYS and (type(key) is not int or key.bit_length() < MOST_DIGITS)


def _shown(element: Any) -> str:
    """The text by which an element of a set has its place."""
    try:
        return repr(element)
    except Exception:  # foreign code
        return type(element).__qualname__


def _array_parts(array: np.ndarray) -> Iterator[tuple[str, Any]]:
    array = np.asarray(array)  # a matrix is made of matrices
    if array.dtype.names:
        names = ((name, array[name]) for name in array.dtype.names)
        yield from ((f"[{name!r}]", part.copy() if part.dtype.hasobject else part) for name, part in names)
    elif array.ndim == 0:
        yield "", array[()] if array.dtype.kind in "mMf" else array.item()
    else:
        rows = array.tolist() if array.dtype.hasobject else array  # a row of an array has the array behind it
        yield from ((f"[{place}]", part) for place, part in enumerate(rows))


def attributes(thing: Any) -> dict[str, Any]:
    """Attributes of an instance, or what its class hands to pickle where attributes are kept in C."""
    held = {place[1:]: part for place, part in inside.attributes("", thing) if not place.endswith(" (unset)")}
    if not held and hasattr(thing, "tolist"):
        more = {} if isinstance(thing, np.generic) else _pickled_state(thing)
        return {"values": thing.tolist(), **more}
    if held and (isinstance(thing, BaseException) or not foreign(type(thing))):
        return held
    return held | {name: part for name, part in _pickled_state(thing).items() if not _is_held(part, held)}


def _is_held(part: Any, held: dict[str, Any]) -> bool:
    """Whether a state is what the attributes are."""
    return isinstance(part, dict) and bool(held) and all(one is held.get(name, ...) for name, one in part.items())


def _pickled_state(thing: Any) -> dict[str, Any]:
    """Nothing where its class raises something: `is_closed` tells."""
    try:
        made = reduced(thing)
    except Exception:  # foreign code
        return {}
    if isinstance(made, str):
        return {}
    given = (
        ()
        if isinstance(thing, BaseException)
        else made[1][1:]
        if getattr(made[0], "__name__", "") in ("__newobj__", "__newobj_ex__")
        else made[1]
    )
    more: dict[str, Any] = {"state": made[2]} if len(made) > 2 and made[2] is not None else {}
    more |= {name: list(part) for name, part in zip(("items", "pairs"), made[3:5]) if part is not None}
    return ({"made from": given} if given else {}) | more


def _text(text: str, path: str, depth: int, above: frozenset[int], reading: Reading) -> Leaves:
    """JSON inside a text is opened; anything else is a leaf."""
    if text[:1] in ("{", "["):
        parsed = _parsed(partial(json.loads, object_pairs_hook=_of_pairs, parse_float=_decimals), text)
        if parsed is not None:
            reading.spelled.append(NUMBER.sub("0", text))
            yield from _walk(parsed, path, depth + 1, above, reading)
            return
    yield path, text


@dataclass(frozen=True)
class _Decimals:
    """A number in JSON with decimals that its float does not hold."""

    nearest: float
    left: list[float]


def _decimals(number: str) -> float | _Decimals:
    if repr(float(number)) == number:  # most are, and need no fractions
        return float(number)
    nearest, *left = of_text(number)
    return _Decimals(nearest, left) if left else nearest


def _of_pairs(pairs: list[tuple[str, Any]]) -> Any:
    """An object of JSON; its pairs where a key comes twice."""
    made = dict(pairs)
    return made if len(made) == len(pairs) else pairs


def _parsed(read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except (ValueError, RecursionError):
        return None


def _binary(data: bytes, path: str, depth: int, above: frozenset[int], reading: Reading) -> Leaves:
    """What a pickle says, a JSON text's contents, or the length and a digest-free copy as hexadecimal text."""
    if data[:1] == b"\x80":
        constants = _constants(data)
        if constants is not None:
            reading.spelled += (opcode.name for opcode, _, _ in pickletools.genops(data))
            yield from _walk(constants, path + "<pickle>", depth + 1, above, reading)
            for name, parts in _beside_constants(data).items():
                if parts:
                    yield from _walk(parts, f"{path}<{name}>", depth + 1, above, reading)
            if rest := data[_length(data) :]:
                yield from _walk(rest, path + "<after the pickle>", depth + 1, above, reading)
            return
    text = _decoded(data)
    if text is not None:
        reading.note_numbers(text, path)
        yield from _text(text, path, depth, above, reading)
    elif len(data) > MOST_BYTES:
        yield path, data.hex()
    else:
        yield from _raw(data, path)


def _decoded(data: bytes) -> str | None:
    """Bytes as text, if they are one that can be printed."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if all(one.isprintable() or one.isspace() for one in text) else None


MOST_BYTES = 4_096
"""Longer bytes that are no text are compared as a whole."""
RAW = ("<f8", "<f4", "<i4", ">f8")
FEW_BYTES = 64
"""Bytes up to so many are read one by one, too."""
RAW_OF_FEW = (*RAW, ">f4", ">i4", "u1")


def _raw(data: bytes, path: str) -> Leaves:
    """Bytes in groups as whole numbers, and as numbers of these types where they fit."""
    for place in range(0, len(data), BYTES):
        yield f"{path}<bytes>[{place // BYTES}]", int.from_bytes(data[place : place + BYTES], "little")
    yield f"{path}<length>", len(data)
    for kind in RAW_OF_FEW if len(data) <= FEW_BYTES else RAW:
        if len(data) % np.dtype(kind).itemsize == 0:
            for place, one in enumerate(np.frombuffer(data, dtype=kind).tolist()):
                yield f"{path}<{kind.removeprefix('<')}>[{place}]", one


def _length(data: bytes) -> int:
    """Bytes of a pickle, up to its end."""
    return 1 + max(place or 0 for _, _, place in pickletools.genops(data))


PUSHED = ("BININT", "INT", "LONG", "FLOAT", "BINF")
"""How the names of opcodes begin that push a number."""
TRUTHS = {"NEWTRUE": True, "NEWFALSE": False}


def _beside_constants(data: bytes) -> dict[str, list[Any]]:
    """What a pickle says besides its numbers: texts, other bytes, truth values, which of its parts it names again."""
    found: dict[str, list[Any]] = {"texts": [], "bytes": [], "truths": [], "places": []}
    found["opcodes"] = [" ".join(map(_said, pickletools.genops(data)))]
    for opcode, argument, _ in pickletools.genops(data):
        if isinstance(argument, str):
            found["texts"].append(argument)
        elif isinstance(argument, bytes | bytearray) and not _are_floats(argument):
            found["bytes"].append(bytes(argument))
        elif opcode.name in TRUTHS:
            found["truths"].append(TRUTHS[opcode.name])
        elif isinstance(argument, int) and not opcode.name.startswith(PUSHED):
            found["places"].append(argument)
    return found


def _said(operation: tuple[Any, Any, Any]) -> str:
    """An opcode, or what it pushes: which one pushes a number or text hangs on how long that is."""
    opcode, argument, _ = operation
    pushes = isinstance(argument, str | bytes | float) or opcode.name.startswith(PUSHED)
    return type(argument).__name__ if pushes else opcode.name


def _are_floats(data: bytes | bytearray) -> bool:
    """Whether a buffer may hold numbers of eight bytes."""
    return len(data) > 0 and len(data) % 8 == 0


NUMERIC = re.compile(r"[<>=|]?([fiu][248]|[iu]1)|float(16|32)|u?int(8|16|32|64)|half|single")


def _named_types(data: bytes) -> list[np.dtype[Any]]:
    """Types of numbers besides float64 that a pickle names, the other order of bytes too where it names that."""
    texts = {argument for _, argument, _ in pickletools.genops(data) if isinstance(argument, str)}
    usual = np.dtype(np.float64)
    named = {np.dtype(one) for one in texts if NUMERIC.fullmatch(one)}
    if ">" in texts:
        named |= {one.newbyteorder() for one in (*named, usual)}
    return sorted(named - {usual}, key=str)


def _constants(data: bytes) -> list[Any] | None:
    """The constants that a pickle pushes, in order, read without executing it.

    Array buffers as float64 if they fit, and as all types of other numbers that the pickle names.
    """
    found: list[Any] = []
    try:
        kinds = _named_types(data)
        for opcode, argument, _ in pickletools.genops(data):
            if isinstance(argument, bytes | bytearray) and _are_floats(argument):
                found.append(np.frombuffer(argument, dtype=np.float64))
                found += [np.frombuffer(argument, dtype=kind) for kind in kinds if len(argument) % kind.itemsize == 0]
            elif isinstance(argument, bytes | bytearray) and any(len(argument) % one.itemsize == 0 for one in kinds):
                found += [np.frombuffer(argument, dtype=kind) for kind in kinds if len(argument) % kind.itemsize == 0]
            elif isinstance(argument, (int, float)) and opcode.name.startswith(PUSHED):
                found.append(argument)
    except (ValueError, UnicodeDecodeError):
        return None
    return found
