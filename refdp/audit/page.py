"""The report of an audit as one self-contained page: verdict, claim against finding, figures, findings, method, limits.

No scripts, and nothing that is loaded from elsewhere; figures are inline SVG.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.audit.tradeoff import Curve, allowed
from refdp.audit.verdicts import Row, Verdict
from refdp.errors import InvalidParameter

Floats = NDArray[np.float64]

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin-top: 2rem; border-bottom: 1px solid #ccc; }
.verdict { padding: .8rem 1rem; font-size: 1.15rem; font-weight: 600; border-left: .4rem solid; }
.ok { background: #e9f6ec; border-color: #2e7d32; } .bad { background: #fdecea; border-color: #b3261e; }
.open { background: #fff6df; border-color: #9a6700; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; vertical-align: top; }
tr { border-bottom: 1px solid #e4e4e4; } td { overflow-wrap: anywhere; }
@media (min-width: 40rem) { td.word { overflow-wrap: normal; } }
th { font-weight: 600; white-space: nowrap; }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; } figcaption { color: #555; font-size: .9rem; }
code, pre { font: .85rem/1.4 ui-monospace, monospace; background: #f5f5f5; } pre { padding: .6rem; overflow-x: auto; }
article { border-left: .2rem solid #b3261e; padding: 0 0 0 1rem; margin: 1.5rem 0; break-inside: avoid; }
h3 { font-size: 1rem; margin: 0 0 .3rem; overflow-wrap: anywhere; } article p { margin: .3rem 0; }
.claim { color: #444; } .witness { overflow-x: auto; } .witness th, .witness td { font-size: .85rem; }
.witness caption { text-align: left; font-size: .9rem; padding: .3rem 0; } .changed { background: #fdecea; }
#chances { margin: 1.2rem 0; } #chances p { font-size: 1.05rem; }
.bar { display: grid; grid-template-columns: 5rem 1fr; align-items: center; margin: .3rem 0; }
.bar i { height: 1.4rem; background: #2e7d32; min-width: 2px; } .bar b { grid-column: 2; font-weight: 400; }
.bar.found i { background: #1f6feb; } .over .bar.found i { background: #b3261e; }
@media (max-width: 40rem) { th { white-space: normal; } }
@media (prefers-color-scheme: dark) {
body { color: #e6e6e6; background: #16181c; } code, pre { background: #23262c; } figcaption, .claim { color: #aaa; }
.ok { background: #16311b; } .bad, .changed { background: #3a1715; } .open { background: #332707; }
tr { border-color: #33373f; } h2 { border-color: #444; } figure svg { background: #fff; }
}
@media print {
body { max-width: none; margin: 0; font-size: 10pt; line-height: 1.35; }
figure svg { max-height: 6.5cm; } th { white-space: normal; }
th, td { padding: .15rem .4rem; } td.word { white-space: nowrap; }
tr:first-child { break-after: avoid; } figure, tr { break-inside: avoid; } h2 { break-after: avoid; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; } .verdict, rect, path { print-color-adjust: exact; }
}
"""


COLOURS = {Verdict.VIOLATION: "bad", Verdict.NOT_EXAMINED: "open", Verdict.NOT_FOUND: "ok", Verdict.HOLDS: "ok"}


@dataclass(frozen=True)
class Witness:
    """The data that show a finding. names: of the columns. rows: which record it is, its values, whether it differs."""

    caption: str
    names: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str], bool]]

    def html(self) -> str:
        """A table."""
        say = html.escape
        head = "".join(f"<th>{say(name)}</th>" for name in ("", *self.names))
        rows = "".join(
            f"<tr{' class=changed' * differs}><th>{say(which)}</th>{''.join(f'<td>{say(v)}</td>' for v in values)}</tr>"
            for which, values, differs in self.rows
        )
        return f'<div class="witness"><table><caption>{say(self.caption)}</caption><tr>{head}</tr>{rows}</table></div>'


@dataclass(frozen=True)
class Shown:
    """One finding: what it is, the offending release or output, its source line where known, and the evidence.

    words: what happened and what is released there, in plain words. claim: the statement that the declaration rests on.
    """

    kind: str
    where: str
    source: str
    evidence: str
    words: str = ""
    claim: str = ""
    witness: Witness | None = None

    def html(self) -> str:
        """What it is, then why, then the data."""
        say = html.escape
        lines = [f"<h3>{say(self.kind)} at {say(self.where or 'the output')}</h3>"]
        lines += [f"<p>{say(self.words)}</p>"] * bool(self.words)
        lines.append(f'<p class="evidence">{say(self.evidence)}</p>')
        lines += [f'<p class="claim">{say(self.claim)}</p>'] * bool(self.claim)
        lines += [f"<p>Source: <code>{say(self.source)}</code></p>"] * bool(self.source)
        return f"<article>{''.join(lines)}{self.witness.html() if self.witness else ''}</article>"


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG with a title and what to see in it."""

    title: str
    svg: str
    caption: str


@dataclass(frozen=True)
class Page:
    """What the page says. facts: rows of name, claim, finding. undrawn: why there are no figures, if there are none.

    word: the verdict's; it alone decides the colour. verdict: the sentence. coverage: what was looked at, and what not.
    chances: the figure that leads, as HTML. made: by which versions, and when.
    """

    title: str
    word: Verdict
    verdict: str
    facts: Sequence[tuple[str, str, str]]
    findings: Sequence[Shown]
    figures: Sequence[Figure]
    method: str
    limits: Sequence[str]
    reproduce: str
    undrawn: str = ""
    coverage: Sequence[Row] = ()
    chances: str = ""
    made: str = ""

    def html(self) -> str:
        """The whole document."""
        say = html.escape
        facts = "".join(f"<tr><th>{say(a)}</th><td>{say(b)}</td><td>{say(c)}</td></tr>" for a, b, c in self.facts)
        figures = "".join(
            f"<figure><h2>{say(f.title)}</h2>{f.svg}<figcaption>{say(f.caption)}</figcaption></figure>"
            for f in self.figures
        )
        if self.undrawn:
            figures += f'<p id="undrawn">There are no figures: {say(self.undrawn)}</p>'
        limits = "".join(f"<li>{say(limit)}</li>" for limit in self.limits)
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{say(self.title)}</title>'
            f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
            f"<h1>{say(self.title)}</h1>"
            f'<p class="verdict {COLOURS[self.word]}" id="verdict">{say(self.verdict)}</p>'
            f"{self.chances}"
            f'<h2>Claim against finding</h2><table id="facts"><tr><th></th><th>claimed</th><th>found</th></tr>{facts}'
            f"</table>{self._findings()}{figures}{self._coverage()}<h2>Method</h2><p>{say(self.method)}</p>"
            f'<h2>Limits</h2><ul id="limits">{limits}</ul>'
            f'<h2>How to reproduce</h2><pre id="reproduce">{say(self.reproduce)}</pre>'
            f'<p id="made">{say(self.made)}</p></body></html>\n'
        )

    def _coverage(self) -> str:
        if not self.coverage:
            return ""
        say = html.escape
        rows = "".join(
            f'<tr class="{COLOURS[row.verdict] if row.decides else ""}"><th>{say(row.what)}</th>'
            f'<td class="word">{say(str(row.verdict))}</td>'
            f"<td>{say(row.reason)}</td><td>{say(row.power)}</td></tr>"
            for row in self.coverage
        )
        head = "<tr><th>what</th><th>verdict</th><th>reason</th><th>would have shown</th></tr>"
        return f'<h2>What was looked at</h2><table id="coverage">{head}{rows}</table>'

    def _findings(self) -> str:
        if not self.findings:
            return ""
        return f'<h2>Findings</h2><div id="findings">{"".join(one.html() for one in self.findings)}</div>'


def curve_figure(curve: Curve, epsilon: float, delta: float) -> Figure:
    """The measured trade-off curve with its confidence band, and the most that the claim allows."""
    axes, finish = axes_of("trade-off")
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
    """Histogram of the privacy loss, with the claimed epsilon on both sides. Infinite losses are counted beside it.

    losses, weights: shape (losses,).
    """
    finite = np.isfinite(losses)
    axes, finish = axes_of("loss")
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


def ratio_figure(findings: Sequence[tuple[str, float, float]]) -> Figure:
    """Bars of observed over declared for findings of name, declared, observed; infinite ones reach the edge."""
    axes, finish = axes_of("ratio")
    ratios = np.array([seen / declared if declared > 0 else np.inf for _, declared, seen in findings])
    edge = 1.15 * max(1.0, float(ratios[np.isfinite(ratios)].max(initial=1.0)))
    places = np.arange(len(findings))[::-1]
    axes.barh(places, np.minimum(ratios, edge), color="#1f6feb", alpha=0.7)
    for place, ratio in zip(places, ratios, strict=True):
        axes.text(
            min(ratio, edge), place, " without bound" if np.isinf(ratio) else f" {ratio:.3g}", va="center", fontsize=8
        )
    axes.axvline(1.0, color="#b3261e", lw=1)
    axes.set_yticks(places, [name for name, _, _ in findings], fontsize=8)
    axes.set(xlabel="observed, as a multiple of what is declared", xlim=(0, 1.25 * edge))
    return Figure(
        "Observed against declared", finish(), "One bar a finding. Red: what is declared; all beyond is not paid for."
    )


def check_drawing() -> None:
    """Before the work: whether figures can be drawn at all. Errors: InvalidParameter."""
    try:
        axes, finish = axes_of("check")
        axes.plot([0, 1], [0, 1])
        finish()
    except InvalidParameter:
        raise
    except Exception as error:  # a drawing library that is there and broken fails in ways of its own
        raise InvalidParameter(f"--html: figures cannot be drawn: {type(error).__name__}: {error}") from error


def drawn(figures: Callable[[], Sequence[Figure]]) -> tuple[Sequence[Figure], str]:
    """The figures, or none and the reason: whatever happens while drawing, no finding is lost."""
    try:
        return figures(), ""
    except KeyboardInterrupt:
        return (), "drawing them was interrupted"
    except Exception as error:  # see above
        return (), f"{type(error).__name__}: {' '.join(str(error).split())}"


def axes_of(name: str) -> tuple[Any, Any]:
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
