"""Evidence about a whole program: what `refdp prove` showed of the text that trains, at the settings that are kept."""

from __future__ import annotations

from dataclasses import dataclass

from proofs.checker.evidence import Outcome
from refdp.errors import InvalidParameter
from refdp.ledger.proved import Kept
from refdp.privacy.events import Relation
from refdp.prove.keep import TARGETS, found, proved_now


@dataclass(frozen=True)
class ProgramProved:
    """The default parameters of a paper, a regression and two classes, are proved private from the text that trains.

    A kept result counts while it is fresh; one that is not is made anew here. It is about these settings alone, so that
    it decides no claim about all of them.
    """

    paper: str
    relation: Relation

    def check(self) -> Outcome:
        results = list(self._results())
        if not results:
            return Outcome("unknown", (), f"refdp prove {self.paper}: no target has default parameters")
        failing = [one for one in results if one.verdict != "PROVED"]
        if failing:
            return Outcome("unknown", (), f"refdp prove {self.paper}: NOT PROVED, {'; '.join(failing[0].failures)}")
        note = f"refdp prove {self.paper} --relation {self.relation.value}: PROVED for the default parameters"
        return Outcome("holds", ("z3", "cvc5"), note, decisive=False)

    def _results(self) -> list[Kept]:
        results = []
        for classes in TARGETS:
            try:
                kept = found(self.paper, self.relation, classes)
                fresh = kept is not None and not kept.stale()
                results.append(kept if kept and fresh else proved_now(self.paper, self.relation, classes))
            except InvalidParameter:
                continue
        return results

    def formula(self) -> str:
        parts = []
        for classes in TARGETS:
            kept = found(self.paper, self.relation, classes)
            if kept is not None:
                settings = ", ".join(f"{name} = {value}" for name, value in sorted(kept.settings.items()))
                parts.append(f"{kept.statement}; {settings}; {kept.schema}")
        return "\n".join(parts)
