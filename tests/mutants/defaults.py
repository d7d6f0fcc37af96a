"""Every default of the public interface as a table. `python -m tests.mutants.defaults` writes it anew.

A default is a promise: another one changes what a run costs or gives. So it changes on purpose, here too.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from refdp.faces import registry

TABLE = Path(__file__).with_name("defaults.json")
MODULES = ("refdp.accounting", "refdp.audit", "refdp.privacy.curator", "refdp.io.datasets",
           "refdp.faces.estimators", "refdp.privacy.events", "refdp.protocols.journal", "refdp.noise.mechanisms",
           "refdp.data.records", "refdp.privacy.replay", "refdp.privacy.sources", "refdp.testing",
           "refdp.faces.training")  # fmt: skip


def found() -> dict[str, dict[str, str]]:
    """Parameter and default of everything public that has one, by name."""
    things = dict(_public())
    for name in registry.PAPERS:
        things[f"{name}.Params"] = registry.paper(name).printed.Params
        things[f"{name}.AS_PUBLISHED"] = registry.paper(name).printed.AS_PUBLISHED
    tables = {name: _defaults(thing) for name, thing in sorted(things.items())}
    return {name: table for name, table in tables.items() if table}


def _public() -> Iterator[tuple[str, Any]]:
    for name in MODULES:
        module = importlib.import_module(name)
        for attribute in sorted(getattr(module, "__all__", vars(module))):
            thing = getattr(module, attribute)
            own = str(getattr(thing, "__module__", "")).startswith("refdp") and not attribute.startswith("_")
            if own and callable(thing) and (hasattr(module, "__all__") or thing.__module__ == name):
                yield f"{name}.{attribute}", thing
                if inspect.isclass(thing):
                    for method, function in vars(thing).items():
                        if inspect.isfunction(function) and not method.startswith("_"):
                            yield f"{name}.{attribute}.{method}", function


def _defaults(thing: Any) -> dict[str, str]:
    if isinstance(thing, dict):
        return {name: repr(value) for name, value in thing.items()}
    if inspect.isclass(thing) and issubclass(thing, enum.Enum):
        return {member.name: repr(member.value) for member in thing}
    try:
        parameters = inspect.signature(thing).parameters
    except (TypeError, ValueError):
        return {}
    return {name: _text(p.default) for name, p in parameters.items() if p.default is not inspect.Parameter.empty}


def _text(value: Any) -> str:
    return (
        f"{value.__module__}.{value.__qualname__}"
        if callable(value) and hasattr(value, "__qualname__")
        else repr(value)
    )


def main() -> None:
    """Write the table."""
    TABLE.write_text(json.dumps(found(), indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
