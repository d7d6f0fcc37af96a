"""The files of a new Flower app, and made-up records to check it on."""

from __future__ import annotations

import csv
import importlib.machinery
import io
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from refdp.data.records import Classes, Floats, Interval, Numeric, Schema

_PYPROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "refdp-federation"
version = "0.1.0"
description = "A differentially private federation: participants add their shares of the noise"
license = { text = "Apache-2.0" }
dependencies = ["refdp[flower]"]

[tool.hatch.build.targets.wheel]
packages = ["."]

[tool.flwr.app]
publisher = "refdp"

[tool.flwr.app.components]
serverapp = "refdp_app.server_app:app"
clientapp = "refdp_app.client_app:app"

[tool.flwr.app.config]
out = "model.json"
journal = "server.journal"
"""
_TOML = "pyproject.toml"
_MODULES = tuple({*importlib.machinery.all_suffixes(), ".py", ".pyw", ".pyc", ".pyo", ".pyd", ".so", ".dylib", ".dll"})
_APP = '''"""{what}"""

from pathlib import Path

from refdp.engines.flower import {name}

app = {name}(Path(__file__).with_name("run.json"))
'''
_README = """# A differentially private federation

`refdp_app/run.json` is what is public: the program, its settings, the schema of the records, how many participants
there are. Every participant and the server have the same.

    refdp federate check .      # on made-up records: what is claimed, established and assumed
    flwr run .                  # on a federation of Flower's

A node's configuration names its data, a CSV file with the schema's columns and `target`, and its own journal, which is
not to be lost or copied: `data=... journal=...`; of InPrivate's owners `owner=...` besides, from 0. The server's run
configuration has the model's file, `out`, and its `journal`.

**Each record has to be at one participant.** One that two participants have, or that is in a file which two nodes
read, counts in the sums as often as it is there, and costs as many times the epsilon that is established. No message
tells of it and nothing checks it: agree beforehand on whose records are where.
"""
_NOTES = "README.md"


def files(run: Mapping[str, Any]) -> dict[str, str]:
    """The files of an app by path. run: what run.json says."""
    return {
        _TOML: _PYPROJECT,
        _NOTES: _README,
        "refdp_app/__init__.py": "",
        "refdp_app/client_app.py": _APP.format(what="A participant.", name="client_app"),
        "refdp_app/server_app.py": _APP.format(what="The server.", name="server_app"),
        "refdp_app/run.json": json.dumps(run, indent=2) + "\n",
    }


def not_examined(directory: Path) -> list[str]:
    """Files of an app that are other ones than `files` writes, and modules beside them that it would import.

    Modules in any form: source, byte code, of libraries. Byte code in `refdp_app/__pycache__` can be run in place of
    the source beside it, whatever that says, and is named too. run.json is the run's own, and of pyproject.toml the
    components alone decide what runs; what README.md says decides nothing.
    """
    written = {name: text for name, text in files({}).items() if not name.endswith(("run.json", _NOTES))}
    found = [name for name, text in written.items() if name != _TOML and _text(directory / name) != text]
    if _components(_text(directory / _TOML)) != _components(written[_TOML]):
        found.append(_TOML)
    app = directory / "refdp_app"
    beside = [one for folder in (directory, app, app / "__pycache__") for one in folder.glob("*") if _is_module(one)]
    packages = [one for folder in (directory, app) for one in folder.glob("*/__init__.*") if _is_module(one)]
    beside += [one for one in packages if one.parent.name != "__pycache__"]
    found += [name for one in beside if (name := one.relative_to(directory).as_posix()) not in written]
    return sorted(set(found))


def _is_module(path: Path) -> bool:
    """Whether some Python, on some system, imports a file of this name. The file system may not tell cases apart."""
    return path.name.lower().endswith(_MODULES)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def _components(text: str | None) -> Any:
    try:
        return tomllib.loads(text or "")["tool"]["flwr"]["app"]["components"]
    except (ValueError, KeyError, TypeError):
        return None


def made_up(schema: Schema, rows: int, seed: int) -> str:
    """A CSV file of uniform values in the public bounds, for a check."""
    rng = np.random.default_rng(seed)
    target = schema.target
    columns: dict[str, Any] = {}
    for feature in schema.features:
        if isinstance(feature, Numeric):
            columns[feature.name] = _uniform(rng, feature, rows)
        else:
            columns[feature.name] = rng.choice(feature.categories, rows)
    columns["target"] = rng.choice(target.values, rows) if isinstance(target, Classes) else _uniform(rng, target, rows)
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([columns, *zip(*columns.values(), strict=True)])
    return written.getvalue()


def _uniform(rng: np.random.Generator, bounds: Numeric | Interval, rows: int) -> Floats:
    return rng.uniform(bounds.low, bounds.high, rows)
