"""A certificate as a page for people."""

from __future__ import annotations

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from refdp.audit.freshness import release_kind
from refdp.faces.commands.output import figure
from refdp.ledger.certificate import Certificate, ReleaseLine
from refdp.ledger.claims import STYLES


def certificate_page(certificate: Certificate) -> RenderableType:
    """Claimed and established epsilon, what is released and on which claims that rests, and what does not hold."""
    verdicts = dict(certificate.claims)
    table = Table("released", "times", "bound", "epsilon", box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("rests on", no_wrap=True)
    for lines in _kinds(certificate):
        verdict = verdicts[lines[0].claim]
        table.add_row(
            release_kind(lines[0].name),
            str(sum(line.count for line in lines)),
            f"{_span([line.sensitivity for line in lines])}\n{_norm(lines[0].norm)}",
            _span([line.charge for line in lines]),
            Text(f"{lines[0].claim}\n").append(verdict, style=STYLES[verdict]),
        )
    holds = certificate.established.epsilon <= certificate.claimed.epsilon * (1 + 1e-9)
    notes = [Text(f"! {note}", style="bold red") for note in certificate.notes]
    assumed = [Text(f"assuming {line}", style="dim") for line in certificate.assumptions]
    cited = [Text(f"program {one.line()}", style="yellow" if one.stale else "") for one in certificate.proofs]
    body = Group(_promise(certificate, holds), table, *notes, *cited, *assumed)
    return Panel(body, title=f"certificate, {certificate.relation.value} neighbours", border_style=_border(holds))


def _kinds(certificate: Certificate) -> list[list[ReleaseLine]]:
    grouped: dict[tuple[str, str], list[ReleaseLine]] = {}
    for line in certificate.releases:
        grouped.setdefault((release_kind(line.name), line.claim), []).append(line)
    return list(grouped.values())


def _promise(certificate: Certificate, holds: bool) -> Text:
    claimed, established = certificate.claimed, certificate.established
    delta = f", delta {claimed.delta:g}" if claimed.delta else ""
    text = Text(f"claimed      epsilon {figure(claimed.epsilon)}{delta}\nestablished  ")
    return text.append(f"epsilon {figure(established.epsilon)}{delta}", style="bold green" if holds else "bold red")


def _border(holds: bool) -> str:
    return "green" if holds else "red"


def _norm(name: str) -> str:
    return f"norm {name}" if name in ("1", "2") else name


def _span(values: list[float]) -> str:
    low, high = f"{min(values):.4g}", f"{max(values):.4g}"
    return low if low == high else f"{low} to\n{high}"
