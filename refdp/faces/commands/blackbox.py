"""`refdp audit --callable`: lower bounds of epsilon from runs of a function that refdp knows nothing of."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from refdp.audit import structural
from refdp.audit.blackbox import Bound, bound_from, looks
from refdp.audit.blackbox_rows import Looked, coverage
from refdp.audit.campaign import Campaign, Job, load
from refdp.audit.ending import stays
from refdp.audit.page import Page
from refdp.audit.page_blackbox import about_bits, blackbox_page, evidence_of, verdict
from refdp.audit.pair_search import Ranges, chosen, ranges_of_example, ranges_of_schema
from refdp.audit.replay import finite_or_name
from refdp.audit.runs import InputPair
from refdp.audit.structural_samples import Remembered
from refdp.audit.tradeoff import GaussianBound, gaussian_lower_bound
from refdp.audit.verdicts import Row, exit_status, is_ok, summary
from refdp.checks import check_count, check_number
from refdp.documents import parsed
from refdp.errors import InvalidParameter
from refdp.faces.commands.audit_run import STYLES, coverage_table, verdict_text
from refdp.faces.commands.output import bar, emit, figure, write_page
from refdp.privacy.events import Relation

GAUSSIAN_RUNS = 20_000
"""Most runs a side of --gaussian."""
ALARM = 1e-9


@dataclass(frozen=True)
class Given:
    """Options of the command line. relation: None where a pair is given, and nothing is said about it."""

    name: str
    pair: Path | None
    schema: Path | None
    example: Path | None
    relation: Relation | None
    score: str
    gaussian: bool
    epsilon: float
    delta: float
    confidence: float
    samples: int
    seed: int
    jobs: int
    resume: Path | None
    structural: bool
    outliers: bool
    low_bits: bool
    html: Path | None
    as_json: bool

    @property
    def told(self) -> str:
        """What is audited, in words."""
        return f"{self.name} and the score {self.score} of its output" if self.score else self.name

    def command(self) -> str:
        """The command that gives the same finding."""
        words = ["refdp", "audit", "--callable", self.name, "--epsilon", repr(self.epsilon)]
        given = {"pair": self.pair, "schema": self.schema, "example": self.example, "score": self.score or None}
        words += [word for option, told in given.items() if told for word in (f"--{option}", str(told))]
        words += ["--relation", self.relation.value] if self.relation is not None else []
        words += ["--gaussian"] * self.gaussian
        words += ["--delta", repr(self.delta), "--confidence", repr(self.confidence)]
        words += ["--samples", str(self.samples), "--seed", str(self.seed)]
        words += ["--no-structural"] * (not self.structural) + ["--outliers"] * self.outliers
        words += ["--no-low-bits"] * (not self.low_bits)
        return shlex.join(words)


def audit_callable(given: Given) -> int:
    """Audit, tell, and return the exit status: 1 for a violation.

    Errors: InvalidParameter if the callable ends the program.
    """
    _check(given)
    given_pair = None if given.pair is None else read_pair(given.pair, given.relation)
    columns = None if given_pair is not None else _columns(given)
    html = given.html and given.html.absolute()  # the function may change folder
    try:
        with prints_on_standard_error():
            searched = None if columns is None else chosen(
                Job(given.name, InputPair(0, 0), 0, given.score).function(), columns,
                given.relation or Relation.ADD_REMOVE, given.epsilon, given.delta, given.seed,
            )  # fmt: skip
            pair = searched.pair if searched is not None else given_pair
            assert pair is not None
            bound, findings, calls, page = audited(given, pair)
            normal = _as_gaussian(given, pair)
    except SystemExit as error:  # its status would pass for a finding
        raise InvalidParameter(f"--callable {given.name!r}: it ended the program with status {error.code}") from error
    sizes, few = (len(pair.first), len(pair.second)), calls > 0 and structural.calls_for(given.epsilon, ALARM)[1]
    same = _apart(pair.first, pair.second) == 0
    looked = Looked(sizes, calls, given.low_bits, score=given.score, reordered=same, few=few)
    rows = coverage(bound, findings, looked)
    more: dict[str, Any] = {} if normal is None else {"gaussian": normal.to_dict()}
    more |= {"score": given.score} if given.score else {}
    if searched is not None:
        told = searched.words()
        rows = tuple(
            replace(row, reason=f"{row.reason}; {told}") if row.what == "record counts" else row for row in rows
        )
        more |= {"pair": {"first": pair.first.tolist(), "second": pair.second.tolist()}, "pairs_tried": searched.tried}
    page_text = shown(given.told, bound, findings, calls, rows)
    if normal is not None:
        under = f"as Gaussian: mu >= {normal.mu:.4g}, epsilon >= {normal.epsilon:.4g}, only if {normal.assumption}"
        page_text = Group(page_text, Text(under))
    emit(document(bound, findings, calls, rows) | more, page_text, given.as_json)
    wrote = page is None or html is None or write_page("--html", html, page(rows).html())
    status = exit_status(summary(rows))
    return status if status or wrote else 2


def _columns(given: Given) -> Ranges:
    """Of the records that are made up. Errors: InvalidParameter unless just one file says what they are."""
    if (given.schema is None) == (given.example is None):
        raise InvalidParameter("--callable: one of --pair FILE, --schema FILE and --example FILE is needed")
    return ranges_of_schema(given.schema) if given.schema is not None else ranges_of_example(given.example)  # type: ignore[arg-type]


def _as_gaussian(given: Given, pair: InputPair) -> GaussianBound | None:
    """The bound that holds for Gaussian trade-offs only, if it was asked for."""
    if not given.gaussian:
        return None
    function = Job(given.name, pair, given.seed, given.score).function()
    samples = min(given.samples, GAUSSIAN_RUNS)
    return gaussian_lower_bound(
        function, pair, given.delta, confidence=given.confidence, samples=samples, seed=given.seed
    )


Audited = tuple[Bound, list[dict[str, Any]], int, Callable[[tuple[Row, ...]], Page] | None]


def audited(given: Given, pair: InputPair) -> Audited:
    """The bound, what structural checks found, in how many runs a side, and the page if one is asked for."""
    resume = given.resume and given.resume.absolute()
    function = Job(given.name, pair, given.seed, given.score).function()
    with bound_bar() as progress:
        campaign = Campaign(
            Job(given.name, pair, given.seed, given.score), resume, given.jobs,
            watch=lambda done: progress(min(done, given.samples), given.samples, None),
        )  # fmt: skip
        bound = bound_from(
            [campaign], given.delta, claimed=given.epsilon, confidence=given.confidence, samples=given.samples,
            low_bits=given.low_bits, progress=progress,
        )  # fmt: skip
    calls = structural_calls(given)
    with bar("structural checks, runs") as progressed:
        campaign.watch_calls = lambda done: progressed(done, None)
        findings = structural_findings(Remembered(_by_seed(function), campaign), pair, given, calls) if calls else []
    findings += without_noise(given, bound, campaign.upto(bound.samples)) if calls and not bound.refuted else []
    if given.html is None:
        return bound, findings, calls, None
    runs = campaign.upto(bound.samples)
    page = partial(
        blackbox_page, given.told, function, bound, findings, runs, given.command(),
        stops=len(looks(given.samples, 1.0)), low_bits=given.low_bits,
    )  # fmt: skip
    return bound, findings, calls, page


@contextmanager
def prints_on_standard_error() -> Iterator[None]:
    """What the function prints, in other processes too, is no part of the report; nor can it end the report."""
    before = sys.stdout
    before.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr), stays():
            yield
    finally:
        before.flush()  # it may be held by another name
        os.dup2(kept, 1)
        os.close(kept)


def document(bound: Bound, findings: list[dict[str, Any]], calls: int, rows: tuple[Row, ...]) -> dict[str, Any]:
    """What --json prints. calls: runs a side of the structural checks. rows: what was covered."""
    figures, verdict = bound.to_dict(), summary(rows)
    return {
        "ok": is_ok(verdict),
        "verdict": str(verdict),
        "lower_bound": finite_or_name(bound.lower),
        "claimed_epsilon": figures["claimed"],
        **{
            name: figures[name]
            for name in ("delta", "confidence", "samples", "event", "also", "likelier", "test", "counts")
        },
        **{name: figures[name] for name in ("tested", "seconds", "assumption")},
        "structural": findings,
        "structural_calls": calls,
        "unread": figures["unread"],
        "coverage": [row.to_dict() for row in rows],
    }


def structural_calls(given: Given) -> int:
    """Runs a side of the structural checks; 0 for none."""
    return structural.calls_for(given.epsilon, ALARM)[0] if given.structural else 0


def _by_seed(function: Any) -> Callable[[Any, np.random.Generator], Any]:
    return lambda records, generator: function(records, int(generator.integers(2**32)))


def structural_findings(function: Remembered, pair: InputPair, given: Given, calls: int) -> list[dict[str, Any]]:
    """Checks without statistics."""
    found = structural.inspect(
        function,
        (pair.first, pair.second),
        given.seed,
        epsilon=given.epsilon,
        delta=given.delta,
        calls=calls,
        alarm=ALARM,
        order=given.outliers,
        few=structural.calls_for(given.epsilon, ALARM)[1],
    )
    return [finding.to_dict() for finding in found if given.low_bits or finding.kind != "precision"]


def without_noise(given: Given, bound: Bound, runs: tuple[Any, Any]) -> list[dict[str, Any]]:
    """What all runs of the bound show without statistics. runs: both sides, shape (runs, columns)."""
    found = structural.constant(*runs, epsilon=given.epsilon, delta=bound.delta, alarm=ALARM)
    return [] if found is None else [found.to_dict()]


def read_pair(path: Path, relation: Relation | None = None) -> InputPair:
    """Two neighbouring data sets from {"first": [[...]], "second": [[...]]}, as arrays.

    relation: None for neighbours of either kind. Errors: InvalidParameter, also for neighbours of the other kind, and
    for the same data set twice.
    """
    try:
        data = parsed(path.read_text(encoding="utf-8"))
        first, second = (_array(data[side]) for side in ("first", "second"))
        if not first.ndim or not second.ndim:
            raise ValueError("a number in place of a list")
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise InvalidParameter(
            f'--pair {path}: {{"first": [[...]], "second": [[...]]}} with numbers is needed ({error})'
        ) from error
    apart = _apart(first, second)
    if not apart and first.shape == second.shape and _names(first) == _names(second):
        raise InvalidParameter(
            f"--pair {path}: both are the same data set of {len(first)} records; one record has to differ"
        )
    if apart > 1:
        raise InvalidParameter(
            f"--pair {path}: {apart} of {len(first)} and {len(second)} records are not in the other data set; "
            "neighbours differ in one record at most"
        )
    if relation is not None and apart and (len(first) == len(second)) is not (relation is Relation.REPLACE_ONE):
        raise InvalidParameter(
            f"--pair {path}: {len(first)} and {len(second)} records are no neighbours of --relation {relation.value}"
        )
    return InputPair(first, second)


def _apart(first: NDArray[np.float64], second: NDArray[np.float64]) -> int:
    """How many records of one data set are not in the other, whatever their order."""
    mine, theirs = Counter(_names(first)), Counter(_names(second))
    return max((mine - theirs).total(), (theirs - mine).total())


def _names(rows: NDArray[np.float64]) -> list[bytes]:
    """Equal for equal records, whatever their order; 0.0 makes negative zeros positive."""
    return [np.ascontiguousarray(row).tobytes() for row in rows + 0.0]


def _array(rows: Any) -> NDArray[np.float64]:
    return np.asarray(rows, dtype=np.float64)


@contextmanager
def bound_bar() -> Iterator[Callable[[int, int, float | None], None]]:
    """A progress bar on standard error that shows the bound so far, also while it stays the same (None)."""
    with bar("epsilon >= 0") as shown:
        yield lambda done, total, lower: shown(done, total, None if lower is None else f"epsilon >= {lower:.4g}")


def shown(name: str, bound: Bound, findings: list[dict[str, Any]], calls: int, rows: tuple[Row, ...]) -> RenderableType:
    """The finding for people."""
    word = summary(rows)
    grid = Table.grid(padding=(0, 2))
    grid.add_row("verdict", verdict_text(word, 0))
    grid.add_row("finding", Text(verdict(name, bound, findings), STYLES.get(word, "bold green")))
    grid.add_row("claimed epsilon", figure(bound.claimed))
    grid.add_row("lower bound", f"{figure(bound.lower)} at confidence {bound.confidence:.9g}")
    grid.add_row("event", Text(bound.words))
    grid.add_row("counts", f"{bound.counts[0]} : {bound.counts[1]} of {bound.tested} runs a side ({bound.test})")
    grid.add_row("assuming", bound.assumption)
    grid.add_row("structure", f"{len(findings)} findings in {calls} runs a side" if calls else "not checked")
    lines = [Text(line, "yellow") for line in about_bits(bound)]
    lines += [
        Text(f"{one['kind']} at {one['where'] or 'the output'}: {one['meaning']} ({evidence_of(one)})", _style(one))
        for one in findings
    ]
    return Group(grid, *lines, Text(""), coverage_table(rows))


def _style(finding: dict[str, Any]) -> str:
    return "red" if finding["violation"] else "yellow"


def _check(given: Given) -> None:
    check_number("epsilon", given.epsilon, least=0, below=50)  # no number of runs shows more
    check_number("delta", given.delta, least=0, below=1)
    check_number("confidence", given.confidence, above=0, below=1)
    check_count("samples", given.samples, least=100, most=10**9)
    check_count("seed", given.seed, least=0, most=2**32)
    check_count("jobs", given.jobs, most=1024)
    if given.gaussian and given.delta == 0:
        raise InvalidParameter("--gaussian: --delta above 0 is needed, a Gaussian has no finite epsilon without")
    if given.score:
        load(given.score, "--score")
