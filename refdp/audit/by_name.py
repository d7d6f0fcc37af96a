"""Whether something is what a module has under its name, so that the name says all of it.

What a module has is compared with the module; what none has was made on the way, and is looked into.
"""

from __future__ import annotations

import sys
import types
from typing import Any

HEAP_TYPE = 1 << 9
"""The flag of types that are made while Python runs."""


def has_its_name(thing: Any, name: str = "") -> bool:
    """Whether a module that is loaded has the very same under its name, or under the one given here."""
    if _is_module(thing):
        return sys.modules.get(thing.__name__) is thing
    if isinstance(thing, types.BuiltinFunctionType):
        owner = thing.__self__
        if owner is None or not _is_module(owner):
            return owner is None
        if has_its_name(owner):
            return True
    if isinstance(thing, types.CodeType):
        return False
    if isinstance(thing, type) and not thing.__flags__ & HEAP_TYPE:
        return True  # of another language, and nothing that Python made
    home = _text(thing, "__module__")
    if name and not home:
        return any(vars(module).get(name) is thing for module in tuple(sys.modules.values()) if _is_module(module))
    found = sys.modules.get(home)
    for part in (name or _text(thing, "__qualname__")).split("."):
        found = vars(found).get(part) if isinstance(found, type | types.ModuleType) else None
    found = found.__func__ if isinstance(found, classmethod | staticmethod) else found
    return found is thing


def _is_module(thing: Any) -> bool:
    return isinstance(thing, types.ModuleType)


def _text(thing: Any, name: str) -> str:
    """An attribute where it is a text, else an empty one."""
    held = getattr(thing, name, "")
    return held if isinstance(held, str) else ""
