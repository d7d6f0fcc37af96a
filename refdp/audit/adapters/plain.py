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
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from refdp.audit.structural_samples import Data, Function, columns
from refdp.documents import Twice, parsed
from refdp.errors import InvalidParameter

PLACES = ("{csv}", "{json}", "{seed}")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?')
"""Texts and numbers of JSON."""
NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:([eE])([-+]?\d+))?")
"""A number of JSON: sign, digits before and behind the point, e or E, exponent."""
LAYOUT = "(layout)"
"""Beside the names of a document that is not as `json.dumps` writes it; with marks behind where it has the name."""


def plain(function: Callable[[Data], Any]) -> Function:
    """A function of the data alone, with randomness of its own, as a function of data and generator."""
    return lambda data, generator: function(data)


def mechanism(function: Function) -> Callable[[Data, int], Any]:
    """A function of data and generator, a command for example, as one of records and seed: for lower bounds."""
    return lambda records, seed: function(records, np.random.default_rng(seed))


def command(arguments: Sequence[str], *, seconds: float = 600.0) -> Function:
    """A command as a function. {csv}, {json} and {seed} in its arguments are replaced; without {json} stdout is read.

    The CSV has a header `c0,c1,...` and one line a record, all numeric columns of all parts of the data in order.
    A document that is not as `json.dumps` writes it, on stdout with a line end behind, comes with its layout: what
    stands around its texts and numbers, and how each of them is written.
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
                said = done.stderr.decode(errors="replace")[-500:]
                raise InvalidParameter(f"{filled[0]} ended with {done.returncode}: {said}")
            output = Path(names["{json}"])
            if output.is_file():
                return _parsed(output.read_bytes(), filled[0])
            return _parsed(done.stdout, filled[0], end="\n")

    return run


def _ended(arguments: list[str], seconds: float) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(arguments, capture_output=True, check=False, timeout=seconds)
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


def _parsed(written: bytes, program: str, end: str = "") -> Any:
    """What a document says; beside it its layout, where it is not as `json.dumps` writes it, with this end."""
    text = written[:1000].decode(errors="replace")
    try:
        text = written.decode()
        found = parsed(text)
    except ValueError as error:
        why = f" ({error})" if isinstance(error, Twice) else ""
        raise InvalidParameter(f"{program} wrote {text[:80]!r}: allowed is one JSON document{why}") from None
    if not isinstance(found, dict):
        return found if text == json.dumps(found) + end else {"document": found, "layout": _layout(text)}
    key = next(name for number in count() if (name := LAYOUT + "'" * number) not in found)
    return found if text == json.dumps(found) + end and LAYOUT not in found else {**found, key: _layout(text)}


def _layout(text: str) -> dict[str, Any]:
    """All of a document but its numbers and texts, and how each of these is written, "" for the usual way."""
    tokens = [one[0] for one in TOKEN.finditer(text)]
    around = TOKEN.sub(lambda token: '"' if token[0].startswith('"') else "#", text)
    return {"around": around, "written": [_spelling(one) for one in tokens]}


def _spelling(token: str) -> str:
    """How a text or a number is written where `json.dumps` would write it otherwise: this and the value make it up."""
    if json.dumps(json.loads(token)) == token:
        return ""
    value, found = float("nan") if token.startswith('"') else float(token), NUMBER.fullmatch(token)
    if found is None or not math.isfinite(value):
        return token
    sign, before, after, mark, power = found.groups(default="")
    decimals = f"{'negative ' * (not value and sign != '')}{len(after)} decimals"
    if not mark:
        printed, told = format(value, f".{len(after)}f"), decimals
    elif len(before) == 1 and before != "0":
        digits = power.lstrip("+-")
        printed, told = format(value, f".{len(after)}e"), f"{decimals} {mark}{power[: -len(digits)]} to {len(digits)}"
    else:
        printed, told = format(value, f".{len(after)}e"), f"{decimals} {mark}{power}"
    if Decimal(token) == Decimal(printed):
        return told
    return f"{told} of the shortest" if Decimal(token) == Decimal(repr(value)) else token
