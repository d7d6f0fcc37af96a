"""Training texts of an eighth attack that leak and were not refused; none may be proved.

Each asks the interpreter who reads it, by a way that no list of forbidden words had: the frame of a generator, of a
coroutine or of a context manager has Python's built-in functions, and modules of the standard library have other
modules in them. Leaves are larger where a training run answers, and the reading sees the others. 56 of the 60 were
PROVED before the lists of `refdp.prove.words`; some of them only show that a way is open, and leak nothing.
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit

D = "refdp.papers.dpboost"
TREE = f"{D}:train_single_tree"
LAST = '    return Tree(np.concatenate(chosen), curator.release("leaves", for_leaves, value))'


def _louder(condition: str, before: str = "pass") -> Mutant:
    """Leaves nine times as large, at the price of leaves, where a condition holds."""
    lines = "".join(f"    {line}\n" for line in before.splitlines())
    louder = f"{lines}    value = value * (9.0 if {condition} else 1.0)\n{LAST}"
    return Mutant(condition if before == "pass" else f"{before}: {condition}", {TREE: edit((LAST, louder))}, "", {})


def _kind(function: str, before: str = "pass") -> Mutant:
    """Louder where what answers for the records is another class than the reading's."""
    return _louder(f"len({function}(population).mro()) == 2", before)


GENERATOR = "own = (one for one in ())"
COROUTINE = "async def wait():\n    pass\nown = wait()\nkind = own.cr_frame.f_builtins['type']\nown.close()"
STREAM = "async def wait():\n    yield 1\nown = wait()"
METHOD = "def told(of):\n    yield of\nown = told(1)"
FRAMES: tuple[Mutant, ...] = (
    _kind("own.gi_frame.f_builtins['type']", GENERATOR),
    _kind("own.gi_frame.f_builtins.get('type')", GENERATOR),
    _kind("own.gi_frame.f_globals['np'].array and own.gi_frame.f_builtins['type']", GENERATOR),
    _kind("own.gi_frame.f_builtins['type']", METHOD),
    _kind("kind", COROUTINE),
    _kind("own.ag_frame.f_builtins['type']", STREAM),
    _louder("own.gi_frame.f_builtins['repr'](gain) < 'N'", GENERATOR),
    _louder("own.gi_frame.f_builtins['id'](population) < 9", GENERATOR),
    _louder("'refdp.prove.reading' in own.gi_frame.f_builtins['vars'](math)", GENERATOR),
    _louder("own.gi_frame.f_back is not None", GENERATOR),
    _louder("own.gi_code.co_filename > 'm'", GENERATOR),
    _louder("len(own.gen.gi_frame.f_builtins['type'](population).mro()) == 2",
            "from contextlib import contextmanager\n@contextmanager\ndef told():\n    yield\nown = told()"),
)  # fmt: skip


def _module(line: str, condition: str) -> Mutant:
    """Louder by what is imported within the function."""
    return _louder(condition, line)


MODULES: tuple[Mutant, ...] = (
    _module("import typing", "'refdp.prove.reading' not in typing.sys.modules"),
    _module("import typing", "len(typing.sys.argv) > 9"),
    _module("import typing", "typing.functools.wraps is None"),
    _module("from contextlib import os", "os.getpid() < 9"),
    _module("from contextlib import sys", "'refdp.prove.reading' not in sys.modules"),
    _module("from contextlib import abc", "abc.ABC is None"),
    _module("from enum import bltns", "len(bltns.type(population).mro()) == 2"),
    _module("from enum import sys", "'refdp.prove.reading' not in sys.modules"),
    _module("from dataclasses import builtins", "len(builtins.type(population).mro()) == 2"),
    _module("from dataclasses import inspect", "inspect.stack() is None"),
    _module("from dataclasses import sys as s", "'refdp.prove.reading' not in s.modules"),
    _module("from fractions import operator", "operator.countOf((1,), population) > 0"),
    _module("from fractions import sys", "'refdp.prove.reading' not in sys.modules"),
    _module("from fractions import re", "re.enum.sys.modules is None"),
    _module("from functools import GenericAlias", "GenericAlias(population, 1) is None"),
    _module("from functools import recursive_repr", "recursive_repr() is None"),
    _module("from collections import namedtuple", "namedtuple('A', 'b').mro() is None"),
    _module("import functools", "functools.GenericAlias is None"),
    _module("from typing import get_type_hints", "get_type_hints is None"),
    _module("from typing import is_typeddict", "is_typeddict(population)"),
    _module("from typing import runtime_checkable", "runtime_checkable is None"),
    _module("from enum import EnumType", "EnumType is None"),
    _module("from dataclasses import is_dataclass", "is_dataclass(population)"),
    _module("from dataclasses import fields", "len(fields(params)) < 9"),
    _module("import contextlib as tools", "tools.os.getpid() < 9"),
    _module("import typing\nown = typing", "own.sys.modules is None"),
    _module("import numpy.typing", "numpy.linalg is None"),
    _module("from refdp.privacy.sources import SampleSource", "SampleSource is None"),
    _module("from refdp.noise.mechanisms import standard_draws", "standard_draws is None"),
    _module("from refdp.data.population import Protocol", "Protocol.mro() is None"),
    _module("from refdp.noise.mechanisms import dataclass as made", "made is None"),
)
UNFILLED: tuple[Mutant, ...] = (
    _louder("Floats((1,))[0] == 1234.5"),
    _louder("own((1,))[0] == 1234.5", "own = Floats"),
    _louder("next_of[0][0] == 1234.5", "next_of = [*map(Floats, [(1,)])]"),
    _louder("own((1,))[0] == 1234.5", "own = np.ndarray"),
    _louder("[*map(np.ndarray, [(1,)])][0][0] == 1234.5"),
    _louder("NDArray[np.float64]((1,))[0] == 1234.5", "from numpy.typing import NDArray"),
)


def _class(text: str, condition: str) -> Mutant:
    return _louder(condition, text)


CLASSES: tuple[Mutant, ...] = (
    _class("class Own:\n    gi_frame = 1\nown = (one for one in ())",
           "own.gi_frame.f_builtins is None"),
    _class("class Own:\n    gi_frame = 1\n    f_builtins = 2\nown = (one for one in ())",
           "len(own.gi_frame.f_builtins['type'](population).mro()) == 2"),
    _class("class Own:\n    sys = 1\n    modules = 2\nimport typing\nown = typing",
           "'refdp.prove.reading' not in own.sys.modules"),
    _class("class Own:\n    _kinds = 1\n    def told(self):\n        return self._kinds",
           "Own.told(numbers.minimum) == 1"),
    _class("class Own:\n    def told(self):\n        return getattr(self, 'gi_frame')",
           "Own.told((one for one in ())) is None"),
    _class("class Own:\n    def told(self):\n        for one in ('gi_frame',):\n            return getattr(self, one)",
           "Own.told((one for one in ())) is None"),
    # What has been released so far, asked of the curator's class: one can count by it in which round one is.
    _louder("Curator.event(curator) is None"),
    _louder("own.event(curator) is None", "own = Curator"),
    _louder("own() is None", "from functools import partial\nown = partial(Curator.event, curator)"),
    _class("class Own(Curator):\n    pass", "Own.event(curator) is None"),
    _class("class Own(Charge, object if params.trees else object):\n    pass", "Own is None"),
)  # fmt: skip
EIGHTH = (*FRAMES, *MODULES, *UNFILLED, *CLASSES)
HONEST: tuple[Mutant, ...] = (
    _louder("math.log2(8) > 4"),
    _louder("Fraction(1, 3).limit_denominator(2).numerator > 1", "from fractions import Fraction"),
    _louder("'a,b'.split(',')[0].upper() == 'B'"),
    _louder("len(own) < 0", "own: list[Floats] = []"),
)
"""Of like kinds, and private."""
