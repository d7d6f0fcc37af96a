"""What is read of one output beside its numbers and texts: kinds, order, spelling, and what was not looked into."""

from __future__ import annotations

import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refdp.audit.in_floats import NUMBER

Leaf = float | int | str
OF_CODE = ("co_filename", "co_firstlineno", "co_name", "co_qualname", "co_code", "co_names", "co_varnames",
           "co_freevars", "co_cellvars", "co_flags", "co_linetable", "co_exceptiontable", "co_argcount",
           "co_posonlyargcount", "co_kwonlyargcount", "co_stacksize")  # fmt: skip
"""What code has besides its constants."""


@dataclass
class Reading:
    """All that is read of an object.

    leaves: numbers and texts by path. form: of what kind every part is, in order. spelled: how numbers in texts are
    written that are not written as usual, without their digits; zeros that are negative; texts that were opened,
    without their numbers. odd: the first of these without their places. wholes: of every number in a text, whether it
    is written as a whole one. left: by path, what was not looked into. visited: parts that were looked at. modules:
    what functions know as their modules, each read once. keys: names in mappings that have numbers. blank: paths from
    there on without these numbers. named: paths from there on by keys and labels in place of places. rows: of lists at
    these paths, what their parts are known by from outside. whole: spelled has texts as a whole, with their numbers.
    """

    leaves: dict[str, Leaf] = field(default_factory=dict)
    form: list[str] = field(default_factory=list)
    spelled: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    wholes: list[bool] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    visited: int = 0
    modules: dict[int, Any] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    blank: dict[str, str] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)
    rows: dict[str, list[str]] = field(default_factory=dict)
    whole: bool = False

    def note(self, thing: Any, path: str, *, within: bool) -> None:
        """Of what kind one part is, and how it is written. within: it stands in an array, which says its kind."""
        if not within:
            self.form.append(kind_of(thing))
        if isinstance(thing, str):
            self.note_numbers(thing, path)
        elif isinstance(thing, float | np.floating) and thing == 0 and np.signbit(thing):
            self.spelled.append(f"{NUMBER.sub('0', path)} -0.0")

    def note_key(self, name: str, path: str) -> None:
        """A name with numbers of a part of a mapping, which is at this path."""
        self.keys.append(name)
        self.blank[path + name] = self.blank.get(path, path) + NUMBER.sub("0", name)
        self.note_numbers(name, path)

    def note_name(self, name: str, path: str, key: str) -> None:
        """What a part of this name is known by, of what is at this path; no key of its own is an empty one."""
        if key:
            self.named[path + name] = f"{self.named.get(path, path)}{{{key}}}"
        elif path in self.named and name:
            self.named[path + name] = self.named[path] + name

    def note_numbers(self, text: str, path: str) -> None:
        """How numbers in a text are written."""
        numbers = NUMBER.findall(text)
        self.wholes += (_is_whole(one) for one in numbers)
        odd = [found for one in numbers if (found := _oddly(one))]
        self.odd += odd
        self.spelled += [text] if self.whole else [f"{NUMBER.sub('0', path)} {one}" for one in odd]


def kind_of(thing: Any) -> str:
    """A thing's type; shape, layout and type of an array; the name of code."""
    name = named(type(thing))
    if isinstance(thing, np.ndarray):
        order = "C" * thing.flags.c_contiguous + "F" * thing.flags.f_contiguous + "W" * thing.flags.writeable
        shared = " shared" * (isinstance(thing, np.ma.MaskedArray) and bool(thing.sharedmask))
        base = f" {named(thing.baseclass)}" if isinstance(thing, np.ma.MaskedArray) else ""
        return f"{name} {kind_of(thing.dtype)} {thing.shape} {order} {thing.strides}{shared}{base}"
    if isinstance(thing, np.generic):
        return f"{name} {kind_of(thing.dtype)}"
    if isinstance(thing, np.dtype):
        fields = [(key, *map(str, one[1:]), kind_of(one[0])) for key, one in (thing.fields or {}).items()]
        inner = (kind_of(thing.subdtype[0]), thing.subdtype[1]) if thing.subdtype else ""
        return f"{name} {thing.str} {thing.char} {thing.isalignedstruct} {fields or inner} {bool(thing.metadata)}"
    if isinstance(thing, types.CodeType):
        constants = [kind_of(one) if isinstance(one, types.CodeType) else repr(one) for one in thing.co_consts]
        return f"{name} {' '.join(repr(getattr(thing, one)) for one in OF_CODE)} {constants}"
    if isinstance(thing, memoryview):
        return f"{name} {thing.format} {thing.shape} {thing.strides} {thing.readonly}"
    if isinstance(thing, types.FunctionType):
        return f"{name} {named(thing)} {kind_of(thing.__code__)}"
    if isinstance(thing, type | types.BuiltinFunctionType | types.ModuleType):
        return f"{name} {named(thing)}"
    return name


def named(thing: Any) -> str:
    """The name under which a module has something, or would have it."""
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', getattr(thing, '__name__', ''))}"


def _is_whole(number: str) -> bool:
    """Whether a number in a text is written as a whole one."""
    return number.lstrip("+-").replace("_", "").isdecimal()


def _oddly(number: str) -> str:
    """How a number in a text is written, whatever its digits are; "" as Python writes it.

    Underscores, another alphabet, a plus, minus zero, zeros in front and behind, no digit on a side of the point, an
    exponent and whether Python would write one.
    """
    if number.isascii() and number.isdecimal() and number[0] != "0":
        return ""
    plain = number.replace("_", "")
    marks = ["_"] * ("_" in number) + ["of another alphabet"] * (not number.isascii())
    if not number.isascii():
        plain = "".join(str(int(one)) if one.isdecimal() else one for one in plain)
    sign = plain[: len(plain) - len(plain.lstrip("+-"))]
    size, exponent, power = plain[len(sign) :].lower().partition("e")
    before, point, after = size.partition(".")
    marks += ["+"] * (sign == "+") + ["-0"] * (sign == "-" and not (before + after).strip("0"))
    if not before or (before[0] == "0" and before != "0"):
        marks.append(f"{len(sign + before)} wide")
    if point and (not after or (after[-1] == "0" and (after != "0" or exponent))):
        marks.append(f"{len(after)} decimals")
    if exponent:
        marks += ["E"] * ("E" in plain) + ["moved"] * (len(before) != 1 or before == "0")
        digits = power.lstrip("+-")
        marks += ["no sign"] * (power == digits) + [f"to {len(digits)}"] * (
            len(digits) == 1 or (digits[0] == "0" and len(digits) > 2)
        )
    if (point or exponent) and bool(exponent) is not _is_far(float(plain)):
        marks.append("exponent" if exponent else "no exponent")
    return " ".join(marks)


def _is_far(number: float) -> bool:
    """Whether Python writes a float with an exponent."""
    return number != 0 and not 1e-4 <= abs(number) < 1e16
