"""The report of an audit as one self-contained page: verdict, claim against finding, figures, findings, method, limits.

No scripts, and nothing that is loaded from elsewhere; figures are inline SVG.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.audit.tradeoff import Curve, allowed
from refdp.errors import InvalidParameter

Floats = NDArray[np.float64]

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin-top: 2rem; border-bottom: 1px solid #ccc; }
.verdict { padding: .8rem 1rem; font-size: 1.15rem; font-weight: 600; border-left: .4rem solid; }
.ok { background: #e9f6ec; border-color: #2e7d32; } .bad { background: #fdecea; border-color: #b3261e; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; vertical-align: top; }
tr { border-bottom: 1px solid #e4e4e4; } td { overflow-wrap: anywhere; } th { font-weight: 600; white-space: nowrap; }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; } figcaption { color: #555; font-size: .9rem; }
code, pre { font: .85rem/1.4 ui-monospace, monospace; background: #f5f5f5; } pre { padding: .6rem; overflow-x: auto; }
@media (max-width: 40rem) {
th { white-space: normal; } #findings tr, #findings th, #findings td { display: block; padding: .1rem 0; }
#findings tr { padding: .5rem 0; } #findings tr:first-child { display: none; }
}
@media print {
body { max-width: none; margin: 0; } figure, tr { break-inside: avoid; } h2 { break-after: avoid; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; } .verdict, rect, path { print-color-adjust: exact; }
}
"""


@dataclass(frozen=True)
class Shown:
    """One finding: what it is, the offending release or output, its source line where known, and the evidence."""

    kind: str
    where: str
    source: str
    evidence: str


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG with a title and what to see in it."""

    title: str
    svg: str
    caption: str


@dataclass(frozen=True)
class Page:
    """What the page says. facts: rows of name, claim, finding."""

    title: str
    ok: bool
    verdict: str
    facts: Sequence[tuple[str, str, str]]
    findings: Sequence[Shown]
    figures: Sequence[Figure]
    method: str
    limits: Sequence[str]
    reproduce: str

    def html(self) -> str:
        """The whole document."""
        say = html.escape
        facts = "".join(f"<tr><th>{say(a)}</th><td>{say(b)}</td><td>{say(c)}</td></tr>" for a, b, c in self.facts)
        figures = "".join(
            f"<figure><h2>{say(f.title)}</h2>{f.svg}<figcaption>{say(f.caption)}</figcaption></figure>"
            for f in self.figures
        )
        limits = "".join(f"<li>{say(limit)}</li>" for limit in self.limits)
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{say(self.title)}</title>'
            f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
            f"<h1>{say(self.title)}</h1>"
            f'<p class="verdict {"ok" if self.ok else "bad"}" id="verdict">{say(self.verdict)}</p>'
            f'<h2>Claim against finding</h2><table id="facts"><tr><th></th><th>claimed</th><th>found</th></tr>{facts}'
            f"</table>{self._findings()}{figures}<h2>Method</h2><p>{say(self.method)}</p>"
            f'<h2>Limits</h2><ul id="limits">{limits}</ul>'
            f'<h2>How to reproduce</h2><pre id="reproduce">{say(self.reproduce)}</pre></body></html>\n'
        )

    def _findings(self) -> str:
        if not self.findings:
            return ""
        rows = "".join(
            f"<tr><th>{html.escape(one.kind)}</th><td>{html.escape(one.where)}</td>"
            f"<td><code>{html.escape(one.source)}</code></td><td>{html.escape(one.evidence)}</td></tr>"
            for one in self.findings
        )
        head = "<tr><th>finding</th><th>where</th><th>source</th><th>evidence</th></tr>"
        return f'<h2>Findings</h2><table id="findings">{head}{rows}</table>'


def curve_figure(curve: Curve, epsilon: float, delta: float) -> Figure:
    """The measured trade-off curve with its confidence band, and the most that the claim allows."""
    axes, finish = _axes("trade-off")
    x = np.linspace(0, 1, 400)
    axes.plot(x, allowed(x, min(epsilon, 700.0), delta), color="#b3261e", label="fewest misses that the claim allows")
    band = [np.concatenate([upper, lower[::-1]]) for upper, lower in (
        (curve.upper_alarm, curve.lower_alarm), (curve.upper_missed, curve.lower_missed)
    )]  # fmt: skip
    axes.fill(*band, color="#1f6feb", alpha=0.2, label=f"band, confidence {curve.confidence:g}")
    axes.plot(curve.false_alarm, curve.missed, color="#0b3d91", label="measured")
    axes.plot(x, 1 - x, color="#888", lw=0.7, ls=":", label="guessing")
    axes.set(xlabel="false alarms: first side called second", ylabel="misses: second side called first",
             xlim=(0, 1), ylim=(0, 1))  # fmt: skip
    axes.legend(fontsize=8)
    caption = (
        f"Tests by {curve.statistic}, {curve.tested:,} runs a side. "
        "Where the band's upper end lies below the red line, the claim is refuted."
    )
    return Figure("Trade-off curve", finish(), caption)


def loss_figure(losses: Floats, weights: Floats | None, epsilon: float, caption: str) -> Figure:
    """Histogram of the privacy loss, with the claimed epsilon on both sides. Infinite losses are counted beside it."""
    finite = np.isfinite(losses)
    axes, finish = _axes("loss")
    shown = losses[finite]
    if len(shown):
        used = None if weights is None else weights[finite]
        reach = float(np.ptp(shown)) or 1.0
        limits = (float(shown.min()) - 0.02 * reach, float(shown.max()) + 0.02 * reach)
        axes.hist(shown, bins=41, range=limits, weights=used, color="#1f6feb", alpha=0.7)
    if np.isfinite(epsilon):
        for side in (-epsilon, epsilon):
            axes.axvline(side, color="#b3261e", lw=1)
    axes.set(xlabel="privacy loss", ylabel="runs" if weights is None else "share of runs")
    infinite = int(np.count_nonzero(~finite))
    note = f" {infinite} of {len(losses)} losses are infinite and not drawn." if infinite else ""
    return Figure("Privacy loss", finish(), f"{caption} Red: the claimed epsilon.{note}")


def _axes(name: str) -> tuple[Any, Any]:
    """Axes, and a function that gives the finished SVG. Errors: InvalidParameter without matplotlib."""
    try:
        import matplotlib
        from matplotlib.figure import Figure as Canvas
    except ImportError as error:
        raise InvalidParameter("--html: figures need matplotlib; install refdp[plots]") from error
    canvas = Canvas(figsize=(7, 4), layout="constrained")

    def finish() -> str:
        buffer = io.StringIO()
        with matplotlib.rc_context({"svg.hashsalt": f"refdp {name}"}):
            canvas.savefig(buffer, format="svg", metadata={"Date": None})
        drawing = re.sub(r"<metadata>.*?</metadata>", "", buffer.getvalue(), flags=re.DOTALL)
        return drawing[drawing.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{name}"', 1)

    return canvas.subplots(), finish
