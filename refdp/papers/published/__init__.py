"""The papers as printed: readings, formulas and constants that are false or contradict the guarantee.

A paper's own module holds the repaired algorithm and nothing else. Here a printed reading takes the place of a repaired
piece: `Params` of a module of this package is the paper's own `Params` with the readings as further settings, and with
the methods overridden that they change (a charge, candidates, a partition). `AS_PUBLISHED` has all of them.
"""

from __future__ import annotations

import importlib
from dataclasses import fields
from types import ModuleType
from typing import Any, Literal, get_args, get_origin, get_type_hints


def module(paper: str) -> ModuleType:
    """The paper's module of this package: `Params` with the readings, and `AS_PUBLISHED`."""
    return importlib.import_module(f"refdp.papers.published.{paper}")


def params(paper: str, **settings: Any) -> Any:
    """The paper's own `Params` where no printed reading is among the settings, else those of this package.

    Errors: InvalidParameter for a value outside its domain; TypeError for an unknown setting.
    """
    printed, repaired = module(paper).Params, importlib.import_module(f"refdp.papers.{paper}").Params
    own, hints = {field.name for field in fields(repaired)}, get_type_hints(repaired)
    readings = {field.name: field.default for field in fields(printed) if field.name not in own}
    given = {name: value for name, value in settings.items() if name in own or value != readings.get(name, value)}
    if given.keys() <= own and all(_allowed(hints[name], value) for name, value in given.items()):
        plain = {name: value for name, value in settings.items() if name not in readings}
        return repaired(**plain)
    return printed(**settings)


def _allowed(hint: Any, value: Any) -> bool:
    """Whether a value is none that only a printed reading has: other wrong ones are refused by the paper itself."""
    return get_origin(hint) is not Literal or value in get_args(hint)
