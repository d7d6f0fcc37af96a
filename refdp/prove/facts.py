"""What is known of one record, fact by fact, and which of it concerns a question."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from refdp.prove.asking import unknowns


class Facts(list[Any]):
    """Terms of z3 that hold; found by the unknowns in them, of which there may be many thousands."""

    def __init__(self, facts: list[Any]) -> None:
        super().__init__(facts)
        self._names: list[frozenset[str]] = []
        self._places: dict[str, list[int]] = {}

    def about(self, names: Set[str], apart: Set[str] = frozenset()) -> list[Any]:
        """The facts that share unknowns with these, and so on, but for those `apart`; and what is known of these."""
        for place in range(len(self._names), len(self)):
            self._names.append(frozenset(unknowns([self[place]])))
            for name in self._names[place]:
                self._places.setdefault(name, []).append(place)
        found = {place for name in names & apart for place in self._places.get(name, ()) if self._names[place] <= apart}
        known, waiting = set(names), sorted(names - apart)
        while waiting:
            for place in self._places.get(waiting.pop(), ()):
                if place not in found:
                    found.add(place)
                    waiting += sorted(self._names[place] - known - apart)
                    known |= self._names[place]
        return [self[place] for place in sorted(found)]
