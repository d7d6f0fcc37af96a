"""Whether what runs is what its texts make: a text is read by its words, and run as it stands.

Bytecode that is older than its file, a module beside that is another than its source, and what was put in the place of
a function would be executed by the reading, while the rules for texts look at the words in the file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from refdp.ledger.fingerprint import source_of
from refdp.ledger.proved import ELSEWHERE, running
from refdp.ledger.written import differs, otherwise, taken
from refdp.prove.obligations import Failure
from refdp.prove.texts import tree_of


def otherwise_made(module: Any, texts: Mapping[str, str], paper: str) -> Iterator[Failure]:
    """What else runs than the texts that are read, or than the sources of what they use. texts: by file.

    To be asked of texts that break no rule: one of somebody else is executed anew.
    """
    place = next(filter(None, (_another(module, file, text) for file, text in texts.items())), "") or running(paper)
    if place:
        yield Failure("", "", "not modelled", f"{ELSEWHERE}: {place}")


def _another(module: Any, file: str, text: str) -> str:
    """Where the module of a file is not what this text makes, empty where it is. module: the one that is read."""
    others = (one for one in list(sys.modules.values()) if getattr(one, "__file__", None) == file)
    home: Any = module if module.__file__ == file else next(others, None)
    name = getattr(getattr(home, "__spec__", None), "name", "")  # a script that is run has another one
    imported = sys.modules.get(name)
    if imported is None or imported is not home:
        return f"{file}, which is imported by no name"
    if not name.startswith("refdp."):
        place = differs(imported, text=text)
        return otherwise(taken(tree_of(text))) or (name + place if place else "")
    if place := otherwise([name], edited=False):
        return place
    return "" if source_of(name) == text else f"{name}, whose file has changed since it was imported"
