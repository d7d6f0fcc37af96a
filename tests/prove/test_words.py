"""What a training text may say: lists of what is allowed, each with what is next to it and is not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from refdp.faces import registry
from refdp.prove import words
from refdp.prove.words import foreign

PROVED = ("dpboost", "inprivate", "dpxgboost", "fedgbdt", "sgbdt", "grove")
ALLOWED = [
    "import math\nx = math.log2(3)\n",
    "from math import log\n", "from collections.abc import Iterator\n", "from dataclasses import replace\n",
    "from refdp.privacy.events import Charge, Relation\n", "from refdp.data import numbers\nnumbers.minimum(1, 2)\n",
    "from refdp.noise.mechanisms import Laplace, DiscreteGaussian\n", "from refdp.data.records import Floats\n",
    "from refdp.data.records import Floats\ndef f(x: Floats) -> list[Floats]:\n    return list[Floats]()\n",
    "from refdp.data import candidates as grids\nx = grids.log_candidate(1, 2)\n",
    "class Own:\n    told: int\n    def tell_on(self):\n        return self.told\nx = Own(1).tell_on()\n",
    "class Own:\n    def _inner(self):\n        return 1\n    def told(self):\n        return self._inner()\n",
    "class Own(Other[int], Second):\n    pass\n", "x = [1].index(1) + 'a'.count('a')\n",
    "def f(self):\n    for name in ('epsilon', 'delta'):\n        check(name, getattr(self, name))\n",
    "def f(self):\n    for name, why in (('delta', 'not so'),):\n        check(why, getattr(self, name))\n",
    "from refdp.data.memory import Memory\nx = Memory(1, 2)\n", "from refdp.data.losses import SQUARE\n",
    "from refdp.privacy.curator import Curator\ndef f(x: Curator) -> list[Curator]:\n    return x\n",
    "raise ValueError('x')\n", "x = sorted([1, 2])\n",
    "import numpy as np\nx = np.zeros(1, dtype=np.intp).astype(np.float64, copy=False)\n",
    "x = y.astype(bool)\nz = f(dtype=int)\n", "x = {**y, 'a': 1}\n", "x = y.items()\n",
    "def f(curator, own):\n    return curator.release('x', own, 1)\n",
    "import numpy as np\ndef f(y):\n    x = y.copy()\n    np.add.at(x, 0, 1)\n",
    "import numpy as np\ndef f(y):\n    x, z = np.zeros(3), y\n    np.add.at(x, 0, 1)\n",
    "from refdp.data.sketch import quantile_edges\n", "from refdp.accounting import account\n",

    "from refdp.data.shards import check_records_each\n",
]  # fmt: skip
REFUSED = {
    "from refdp.papers.fedgbdt import SUMS, Splits, charge\n": "nothing that a text is known to need",
    "from refdp.papers import dpboost\ndpboost.gain\n": "nothing that a text is known",
    "from refdp.privacy.curator import Curator\nx = Curator.event(y)\n": "takes any object",
    "from refdp.privacy.curator import Curator as C\nx = partial(C.event, y)\n": "takes any object",
    "from refdp.privacy.curator import Curator\nx = Curator\n": "of which a host is",
    "from refdp.data.memory import Memory\nclass Own(Memory):\n    pass\n": "of which a host is",
    "from refdp.data.population import Population\nx = [Population]\n": "of which a host is",
    "from refdp.data.records import Records\nx = [*map(Records.take, y)]\n": "takes any object",
    "import os\n": "os is no module", "import math as os, sys\n": "sys is no module",
    "import numpy\n": "numpy is no module", "import numpy.typing\n": "at hand", "import collections.abc\n": "at hand",
    "from math import *\n": "* of math", "from contextlib import os\n": "os of contextlib",
    "from contextlib import suppress\n": "suppress of", "from typing import sys\n": "sys of typing",
    "from . import fedgbdt\n": "fedgbdt of beside", "from .. import fedgbdt\n": "fedgbdt of beside",
    "from refdp.privacy.sources import SampleSource\n": "SampleSource of",
    "from refdp.noise.mechanisms import standard_draws\n": "standard_draws of",
    "from refdp.noise.mechanisms import np\n": "np of", "from refdp.data.numbers import math\n": "math of",
    "from refdp.privacy.events import _reject\n": "_reject of", "from refdp.privacy.events import *\n": "* of",
    "from refdp.data.records import dataclass\n": "dataclass of", "from refdp.prove import words\n": "words of",
    "from refdp import data\n": "data of", "from refdp.data.records import Nothing\n": "Nothing of",
    "from refdp.data import numbers\nnumbers.np\n": "np of",
    "from refdp.data import numbers\nx = numbers\n": "by another name",
    "from refdp.data import numbers\nnumbers = 1\n": "another thing",
    "import math\nmath.sys\n": "sys of math", "import typing\nx = typing\n": "by another name",
    "import typing\ntyping.sys.modules\n": "sys of typing", "import functools as tools\ntools.wraps(f)\n": "wraps of",
    "import contextlib\ncontextlib.suppress()\n": "suppress of", "x = type(y)\n": "type is no",
    "x = print\n": "print is no", "def type(x):\n    return x\ntype(1)\n": "type is no", "x = super()\n": "super is no",
    "x = compile('1', '', 'eval')\n": "compile is no", "x = vars(y)\n": "vars is no",
    "x = own.gi_frame\n": "gi_frame is no", "x = own.f_builtins['type']\n": "f_builtins is no",
    "class Own:\n    gi_frame = 1\nx = own.gi_frame\n": "gi_frame is no",
    "class Own:\n    def cr_frame(self):\n        pass\nx = own.cr_frame\n": "cr_frame is no",
    "class Own:\n    func: int\nx = own.func\n": "func is no", "x = f.cache_info()\n": "cache_info is no",
    "class Own:\n    _kinds: int\n    def told(self):\n        return self._kinds\n": "_kinds is no",
    "def f(self):\n    return getattr(self, 'gi_frame')\n": "gi_frame is no",
    "def f(self):\n    for name in ('epsilon', 'cr_code'):\n        getattr(self, name)\n": "cr_code is no",
    "def f(self):\n    return [getattr(self, name) for name in ('mro',)]\n": "mro is no",
    "async def f():\n    pass\n": "a coroutine", "async def f():\n    await g()\n": "a coroutine",
    "async def f():\n    return [x async for x in y]\n": "a coroutine", "del x\n": "taken away",
    "async def f():\n    async for x in y:\n        pass\n": "a coroutine",
    "async def f():\n    async with y:\n        pass\n": "a coroutine",
    "class Own(metaclass=f):\n    pass\n": "something else", "class Own(f()):\n    pass\n": "something else",
    "class Own(a.b):\n    pass\n": "something else",
    "from refdp.data.records import Floats\nx = Floats((1,))\n": "Floats, a kind",
    "from refdp.data.records import Floats\nx = y[Floats((1,))]\n": "Floats, a kind",
    "from refdp.data.records import Floats as F\nx = [*map(F, y)]\n": "F, a kind",
    "from numpy.typing import NDArray\nx = NDArray[float]((1,))\n": "NDArray, a kind",
    "import numpy as np\nx = np.ndarray\n": "ndarray, a kind",
    "x = object()\n": "object is no", "x = bytes(y)\n": "bytes is no", "x = complex(1)\n": "complex is no",
    "x = y.keys()\n": "keys is no", "x = y.union(z)\n": "union is no", "x = y.isdisjoint(z)\n": "isdisjoint is no",
    "class Own:\n    keys: int\nx = own.keys\n": "keys is no", "x = y.dtype\n": "dtype is no",
    "from decimal import Decimal\n": "Decimal of decimal", "x = y.sqrt()\n": "sqrt is no",
    "x = y.astype('U9')\n": "astype of another", "x = y.astype(z)\n": "astype of another",
    "x = y.astype(str)\n": "astype of another", "x = y.astype()\n": "astype of another",
    "x = y.astype(float, 'K')\n": "astype of another", "x = y.astype(float, casting='unsafe')\n": "astype of another",
    "import numpy as np\nx = y.astype(np.dtype)\n": "astype of another", "x = y.astype\n": "astype by another name",
    "def f(self):\n    return getattr(self, 'astype')\n": "astype is no",
    "def f(self):\n    return getattr(self, 'items')\n": "items is no",
    "import numpy as np\nx = np.sqrt(y, where=z)\n": "where makes", "x = f(dtype='M8')\n": "dtype makes",
    "x = f(casting='unsafe')\n": "casting makes", "x = f(signature='d')\n": "signature makes",
    "x = f(sig='d')\n": "sig makes", "x = f(like=y)\n": "like makes", "x = f(order='K')\n": "order makes",
    "x = f(**y)\n": "** gives",
    "from refdp.privacy.curator import Curator\nx = Curator(y, z)\n": "of which a host is",
    "from refdp.data.population import Population\nx = Population()\n": "of which a host is",
    "from refdp.data.sketch import evenly\n": "evenly of", "from refdp.data.shards import Shards\n": "Shards of",
    "from refdp.data.following import Following\n": "Following of",
    "from refdp.data.reading import recorded\n": "recorded",
    "from refdp.data.population import to_json\n": "to_json of",
    "from refdp.data.kernels import leaf_sums\n": "leaf_sums",
    "from refdp.accounting.rounding import is_number\n": "is_number of", "from refdp.data import forms\n": "forms of",
    "from refdp.accounting.plan_file import load_plan\n": "load_plan of",
    "from refdp.accounting.budget import PrivacyBudget\n": "PrivacyBudget of",
    "from refdp.accounting import PrivacyBudget\n": "PrivacyBudget of",
    "from refdp.papers.dpboost import np\n": "np of", "from refdp.papers import grids\n": "grids of",
    "from refdp.papers import dpboost\ndpboost.grids\n": "grids of",
    "from refdp.ledger.certificate import issue\ndef train():\n    return issue()\n": "issue, which asks for results",
    "from refdp.ledger.certificate import issue as ask\nx = ask\n": "ask, which asks for results",
    "def train():\n    return certificate()\n": "certificate, which asks for results",
    "from refdp.papers import dpboost\ndpboost.certificate(x, y)\n": "certificate, which asks for results",
    "from refdp.papers.dpxgboost import lru_cache\n": "lru_cache of",
    "def f(self):\n    return getattr(self, 'at')\n": "at is no",
}  # fmt: skip


@pytest.mark.parametrize("text", ALLOWED)
def test_words_that_a_text_needs(text: str) -> None:
    assert foreign(ast.parse(text)) == []


@pytest.mark.parametrize("text", REFUSED)
def test_words_next_to_them(text: str) -> None:
    found = foreign(ast.parse(text))
    assert [reason for _, reason in found if REFUSED[text] in reason], found


def test_texts_that_are_proved_have_no_other_words() -> None:
    for name in PROVED:
        path = Path(str(registry.paper(name).module.__file__))
        assert foreign(ast.parse(path.read_text(encoding="utf-8"))) == []


def test_classes_of_another_text_of_the_module_count() -> None:
    part, whole = ast.parse("x = own.told_it\n"), ast.parse("class Own:\n    told_it: int\n")
    assert foreign(part) == [(1, "told_it is no attribute that is known here")]
    assert foreign(part, [whole]) == []


def test_nothing_of_pythons_own_is_an_allowed_attribute() -> None:
    """What leads from a value to the interpreter, in Python's documentation of inspect."""
    leading = {
        "ag_await", "ag_code", "ag_frame", "cache_clear", "cache_info", "cell_contents", "co_code", "co_consts",
        "co_filename", "cr_await", "cr_code", "cr_frame", "cr_origin", "f_back", "f_builtins", "f_code", "f_globals",
        "f_locals", "f_trace", "fdel", "fget", "fset", "func", "gen", "gi_code", "gi_frame", "gi_yieldfrom", "mro",
        "tb_frame", "tb_next", "with_traceback",
    }  # fmt: skip
    assert not leading & words._attributes() and leading <= words.INNER
    assert not {name for name in words._attributes() if name.startswith("_")}
