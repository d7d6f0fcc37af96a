"""The ledger of claims: which statements of the papers hold, for which neighbours, with what constant and evidence.

Verdicts are derived by the checker in proofs/ and committed as ledger.json; reading them needs no solver. A claim
about code that changed since it was checked is OPEN again.

PROVED: a machine decided the formula printed with the claim, and every premise is PROVED. ARGUED: a step rests on
prose, here or in a premise. CONDITIONAL: it holds under the conditions listed, its own and its premises'.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from refdp.errors import InvalidParameter
from refdp.ledger.fingerprint import current

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Verdict = Literal["PROVED", "ARGUED", "CONDITIONAL", "REFUTED", "OPEN"]
Kind = Literal["no-guarantee", "too-little-noise", "false-only-for-replacement", "bookkeeping", "not-stated"]
"""What is wrong with a refuted statement: no epsilon bounds what a record reveals; the noise is too small for the
epsilon stated; true where a record is added or removed, false where one is replaced; a total, size or side remark
printed wrongly, with which no guarantee falls as the rest of the paper has it; the paper does not state it, leaves it
open or excludes it, so that it is no error of the paper, but of who reads it so."""
VERDICTS: tuple[Verdict, ...] = ("PROVED", "ARGUED", "CONDITIONAL", "REFUTED", "OPEN")
ESTABLISHED: frozenset[Verdict] = frozenset({"PROVED", "ARGUED"})
STYLES: Mapping[str, str] = {
    "PROVED": "green",
    "ARGUED": "cyan",
    "CONDITIONAL": "yellow",
    "REFUTED": "red",
    "OPEN": "magenta",
}
OF_SELECTIONS = ("composition/selection-renyi", "composition/selection-pure")
"""The claims about what a private selection costs, besides what scores and the runs of all candidates rest on."""


@dataclass(frozen=True)
class Condition:
    """A premise that no machine checks: it goes with the claim into everything that uses it. key: its stable name."""

    key: str
    text: str


@dataclass(frozen=True)
class Erratum:
    """What a reader of the paper needs where a statement is false, or true under a condition that is not printed.

    why: why it is false, a sentence. example: the witness in words and readable numbers. measured: what `declared` and
    `observed` are, with the unit; both are exact numbers as text, or "inf". correction: the corrected statement; empty
    where `repaired_by` states it. cost: what the repair costs in accuracy. results: the page and section with the
    figures that `cost` quotes.
    """

    why: str
    example: str
    measured: str
    declared: str = ""
    observed: str = ""
    correction: str = ""
    cost: str = ""
    results: str = ""


@dataclass(frozen=True)
class Claim:
    """One statement under one neighbouring relation, with its derived verdict.

    tight: the supremum, whether and where it is attained; None where no constant is at stake.
    witness: values (rational numbers as text) at which a refuted statement fails, and `shows`, what happens there.
    checked_by: the checkers that agree. about: fingerprints of the functions that the evidence runs.
    assumes: its own conditions and those of all premises. argument: the step in prose from what was checked to the
    statement. gloss: what the formula's symbols mean, and remarks. formulas: what was checked, normalised, one for each
    piece of evidence; digest: of all of them, so that a narrowed domain is another digest. reason: why not PROVED.
    quote: the paper's sentence as printed, at most twenty words, found at `place`. reading: empty if the statement is
    what is printed, else how it is refdp's. kind: what is wrong with a refuted statement of a paper. erratum: what
    docs/errata says of a printed statement that is false or incomplete.
    """

    id: str
    paper: str
    locus: str
    statement: str
    relation: str
    verdict: Verdict
    tight: str | None = None
    witness: Mapping[str, str] | None = None
    checked_by: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    assumes: tuple[Condition, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)
    repaired_by: str | None = None
    argument: str = ""
    gloss: str = ""
    formulas: tuple[str, ...] = ()
    digest: str = ""
    reason: str | None = None
    quote: str = ""
    place: str = ""
    reading: str = ""
    kind: Kind | None = None
    erratum: Erratum | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]


def from_dict(row: Mapping[str, Any]) -> Claim:
    """A claim from a row of the ledger."""
    values: dict[str, Any] = {f.name: row[f.name] for f in fields(Claim) if f.name in row}
    lists: dict[str, Any] = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    built = {
        "assumes": tuple(Condition(**condition) for condition in row["assumes"]),
        "erratum": Erratum(**row["erratum"]) if row.get("erratum") else None,
    }
    return Claim(**{**values, **lists, **built})


@lru_cache(maxsize=1)
def committed() -> tuple[Claim, ...]:
    """The ledger as committed, whatever the code looks like now."""
    text = resources.files("refdp.ledger").joinpath("ledger.json").read_text(encoding="utf-8")
    return tuple(from_dict(row) for row in json.loads(text)["claims"])


class Ledger(Mapping[str, Claim]):
    """Every claim by id; those about changed code, and those that use them, are OPEN.

    The code of a claim and of what it rests on is looked at when the claim is asked for: a run rests on few of them.
    """

    def __init__(self, claims: Iterable[Claim]) -> None:
        self._committed = {claim.id: claim for claim in claims}
        self._present: dict[str, Claim] = {}

    def __getitem__(self, name: str) -> Claim:
        if name not in self._present:
            claim = _reopened_by_code(self._committed[name])
            self._present[name] = _reopened_by_premise(claim, self)
        return self._present[name]

    def __contains__(self, name: object) -> bool:
        return name in self._committed

    def __iter__(self) -> Iterator[str]:
        return iter(self._committed)

    def __len__(self) -> int:
        return len(self._committed)


@lru_cache(maxsize=1)
def everything() -> Mapping[str, Claim]:
    """The committed ledger as it stands now."""
    return Ledger(committed())


def load(paper: str | None = None) -> list[Claim]:
    """All claims, or those of one paper. Errors: InvalidParameter for a paper without claims."""
    claims = everything().values()
    papers = sorted({claim.paper for claim in claims})
    if paper is not None and paper not in papers:
        raise InvalidParameter(f"no claims for paper {paper!r}: the ledger has {', '.join(papers)}")
    return [claim for claim in claims if paper in (None, claim.paper)]


def get(name: str) -> Claim:
    """The claim of that id. Errors: InvalidParameter for an unknown id."""
    if name not in everything():
        raise InvalidParameter(f"no claim {name!r} in the ledger: `refdp claims` lists the {len(everything())} ids")
    return everything()[name]


def verdict(name: str) -> Verdict:
    """The verdict of a claim; OPEN for an id that the ledger does not know."""
    claim = everything().get(name)
    return "OPEN" if claim is None else claim.verdict


def _reopened_by_code(claim: Claim) -> Claim:
    gone = sorted(name for name, known in claim.about.items() if current(name) != known)
    if not gone or claim.verdict == "OPEN":
        return claim
    return replace(claim, verdict="OPEN", reason=f"code changed since it was checked: {', '.join(gone)}")


def _reopened_by_premise(claim: Claim, found: Mapping[str, Claim]) -> Claim:
    """A claim that rested on others which are lost now; refutations rest on their own witness."""
    if claim.verdict in ("REFUTED", "OPEN"):
        return claim
    lost = [name for name in claim.uses if name not in found or found[name].verdict in ("OPEN", "REFUTED")]
    if not lost:
        return claim
    return replace(claim, verdict="OPEN", reason=f"rests on lost claims: {', '.join(lost)}")


def closure(names: Iterable[str]) -> tuple[str, ...]:
    """The names and everything that they rest on, directly or not, sorted; ids that the ledger lacks included."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            claim = everything().get(name)
            waiting += claim.uses if claim else ()
    return tuple(sorted(found))


def citations(name: str) -> list[str]:
    """`refdp/papers/x.py:12` for every line of refdp that cites the claim."""
    return [
        f"{place}:{number}"
        for place, text in _sources()
        if name in text
        for number, line in enumerate(text.splitlines(), 1)
        if _cites(line, name)
    ]


@lru_cache(maxsize=1)
def _sources() -> tuple[tuple[str, str], ...]:
    """Every module of refdp: its path from the directory above, and its text."""
    root = Path(str(resources.files("refdp")))
    paths = sorted(root.rglob("*.py"))
    return tuple((path.relative_to(root.parent).as_posix(), path.read_text(encoding="utf-8")) for path in paths)


def _cites(line: str, name: str) -> bool:
    before, found, after = line.partition(name)
    return bool(found) and not before[-1:].isalnum() and not (after[:1].isalnum() or after[:1] == "-")


def table(claims: list[Claim]) -> Table:
    """The claims as a table for a terminal; ids are never cut, so that they can be copied."""
    from rich.table import Table
    from rich.text import Text

    result = Table(title=_counts(claims))
    result.add_column("id and verdict", overflow="fold")
    result.add_column("relation", no_wrap=True)
    result.add_column("statement, and its tight constant", ratio=1)
    for claim in claims:
        name = Text.assemble(claim.id, "\n", (claim.verdict, STYLES[claim.verdict]))
        tight = f"\ntight: {claim.tight}" if claim.tight else ""
        result.add_row(name, claim.relation, claim.statement + tight)
    return result


def show(name: str) -> RenderableType:
    """One claim in full: statement, verdict, constant, witness, evidence, what it uses, and the lines that cite it."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    claim = get(name)
    grid = Table.grid(padding=(0, 2))
    for label, text in _details(claim):
        grid.add_row(Text(label, style="bold"), text)
    return Group(Text(f"{claim.id}  {claim.verdict}", style=f"bold {STYLES[claim.verdict]}"), grid)


def _details(claim: Claim) -> list[tuple[str, str]]:
    lines = [
        ("where", f"{claim.paper}, {claim.locus}"),
        ("statement", claim.statement),
        ("printed", f"{claim.quote} ({claim.place})" if claim.quote else ""),
        ("our reading", claim.reading),
        ("kind", claim.kind or ""),
        *_erratum(claim.erratum),
        ("neighbours", claim.relation),
        ("constant", claim.tight or ""),
        ("why", claim.reason or ""),
        ("only if", "\n".join(condition.text for condition in claim.assumes)),
        ("formula", "\n".join(claim.formulas)),
        ("symbols", claim.gloss),
        ("witness", "\n".join(f"{key} = {_readable(value)}" for key, value in (claim.witness or {}).items())),
        ("evidence", "\n".join(claim.evidence)),
        ("argument", claim.argument),
        ("checked by", ", ".join(claim.checked_by)),
        ("uses", "\n".join(f"{used} ({verdict(used)})" for used in claim.uses)),
        ("repaired by", claim.repaired_by or ""),
        ("about", "\n".join(claim.about)),
        ("cited at", "\n".join(citations(claim.id))),
    ]
    return [(label, text) for label, text in lines if text]


def _erratum(erratum: Erratum | None) -> list[tuple[str, str]]:
    if erratum is None:
        return []
    measured = f"{erratum.measured}: {_readable(erratum.declared)} declared, {_readable(erratum.observed)} observed"
    return [
        ("why false", erratum.why),
        ("for example", erratum.example),
        ("measured", measured),
        ("instead", erratum.correction),
        ("the repair costs", erratum.cost),
        ("figures", erratum.results),
    ]


def _readable(value: str) -> str:
    """A fraction with its decimal value beside it."""
    top, bar, bottom = value.partition("/")
    if bar and top.lstrip("-").isdigit() and bottom.isdigit():
        return f"{value} = {int(top) / int(bottom):.6g}"
    return value


def _counts(claims: list[Claim]) -> str:
    counted = [f"{sum(c.verdict == verdict for c in claims)} {verdict}" for verdict in VERDICTS]
    return f"{len(claims)} claims: {', '.join(counted)}"
