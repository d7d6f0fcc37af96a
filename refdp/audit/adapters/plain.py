"""Anything else: a Python function, or a command that reads a CSV file and writes JSON, as a function to audit.

function = command(["my-trainer", "--in", "{csv}", "--out", "{json}", "--seed", "{seed}"])
findings = refdp.audit.structural.inspect(function, (records, neighbour), seed=1)
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from refdp.audit.structural_samples import Data, Function, columns
from refdp.documents import Twice, parsed
from refdp.errors import InvalidParameter

PLACES = ("{csv}", "{json}", "{seed}")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?')
"""Texts and numbers of JSON."""


def plain(function: Callable[[Data], Any]) -> Function:
    """A function of the data alone, with randomness of its own, as a function of data and generator."""
    return lambda data, generator: function(data)


def mechanism(function: Function) -> Callable[[Data, int], Any]:
    """A function of data and generator, a command for example, as one of records and seed: for lower bounds."""
    return lambda records, seed: function(records, np.random.default_rng(seed))


def command(arguments: Sequence[str], *, seconds: float = 600.0) -> Function:
    """A command as a function. {csv}, {json} and {seed} in its arguments are replaced; without {json} stdout is read.

    The CSV has a header `c0,c1,...` and one line a record, all numeric columns of all parts of the data in order.
    Errors: InvalidParameter if no argument holds {csv}, or if the command fails or writes no JSON.
    """
    if not any("{csv}" in argument for argument in arguments):
        raise InvalidParameter(f"command {list(arguments)}: an argument has to hold {{csv}}; known are {PLACES}")

    def run(data: Data, generator: np.random.Generator) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            names = {"{csv}": f"{folder}/records.csv", "{json}": f"{folder}/output.json"}
            names["{seed}"] = str(int(generator.integers(2**31)))
            _write(data, Path(names["{csv}"]))
            filled = [_filled(argument, names) for argument in arguments]
            done = _ended(filled, seconds)
            if done.returncode:
                raise InvalidParameter(f"{filled[0]} ended with {done.returncode}: {done.stderr[-500:]}")
            output = Path(names["{json}"])
            return _parsed(output.read_text() if output.is_file() else done.stdout, filled[0])

    return run


def _ended(arguments: list[str], seconds: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise InvalidParameter(f"{arguments[0]} ran for more than {seconds:g} s, the most that is allowed") from None


def _write(data: Data, path: Path) -> None:
    table = np.column_stack([column for _, column in columns(data)])
    header = ",".join(f"c{place}" for place in range(table.shape[1]))
    np.savetxt(path, table, fmt="%.17g", delimiter=",", header=header, comments="")


def _filled(argument: str, names: dict[str, str]) -> str:
    for place, name in names.items():
        argument = argument.replace(place, name)
    return argument


def _parsed(text: str, program: str) -> Any:
    """What a document says; beside it its layout, where something else than a parser of JSON reads more from it."""
    try:
        found = parsed(text)
    except ValueError as error:
        why = f" ({error})" if isinstance(error, Twice) else ""
        raise InvalidParameter(f"{program} wrote {text[:80]!r}: allowed is one JSON document{why}") from None
    shown = _layout(text.removesuffix("\n"))
    usual = (_layout(json.dumps(found, separators=marks)) for marks in ((", ", ": "), (",", ":")))
    return found if shown in usual else {"document": found, "layout": shown}


def _layout(text: str) -> str:
    """A document with a 0 for every number; but in full where a float does not hold all its digits."""
    return TOKEN.sub(lambda token: token[0] if token[0].startswith('"') else _shape(token[0]), text)


def _shape(number: str) -> str:
    value = float(number)
    exact = math.isfinite(value) and Decimal(number) in (Decimal(repr(value)), Decimal(value))
    return "0" if exact else number
