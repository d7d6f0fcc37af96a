"""docs/audit-packages.md from the checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from benchmarks.packages.kept import Kept

COMMAND = "python -m benchmarks.packages --checks"

HEAD = f"""# Four packages checked on data sets

**Three of the four packages break a statement of their own on public data; opendp, with every check, does not.**

| package | what was found |
|---|---|
| diffprivlib | [checks](#diffprivlib-066) |
| interpret | [checks](#interpret-078) |
| dp-xgboost | [checks](#dp-xgboost-0210) |
| opendp | [checks](#opendp-0160) |

Written by `{COMMAND}`, which runs every check below against the installed packages; no figure is typed by
hand. It needs `REFDP_DATA`, and for packages with their own environment the variables named below. A check is "found"
if the evidence contradicts the quoted statement of the package, "documented" if the package itself says so when it
happens, and "not found" if the check ran and showed nothing, which proves nothing beyond the pairs that were tried.

How it is done: *replay* opens the package's noise functions for the time of the audit, records a run, gives the same
outputs on a neighbouring data set, and compares true values, declared sensitivities, control flow and results; losses
are exact (method: Re:cord-play, Cebere, Erb, Desfontaines, Bellet, Fitzsimons 2026; here with refdp's exact
divergences). *Structural* checks run the package as it is, many times on both sides, and report events that happen on
one side and never on the other; a package that keeps ε = 1 is accused with probability at most 1e-9. Data: samples of
the named sets in a shuffled order (seed 0), numeric columns clamped to public bounds unless said otherwise.
"""


REMARKS = {
    "diffprivlib": "The forest's documentation names no neighbour relation, so both are audited. Given the public "
    "random thresholds, its trees' outputs do not depend on each other, so that the sum of their largest losses is "
    "attained.",
    "interpret": "The documentation names no neighbour relation, so both are audited: where a record is removed, the "
    "number of records is private and the model holds it; where one is replaced, that number is public, but the noise "
    "of binning is calibrated to the change that a removed record makes. The rows on δ tell whether the whole run "
    "exceeds the claim on the pairs tried.",
    "dp-xgboost": "Structural runs take place in different seconds, because the noise follows the clock. What "
    "was found by reading its source (whether sketch noise is drawn again, what the declared sensitivity of the gain "
    "is worth) is in [audit-published](audit-published.md#dp-xgboost); [a report](reports/dp-xgboost.md) for its "
    "authors.",
}
"""What has to be known to read the rows of a package."""


def page(results: Iterable[Mapping[str, Any]], kept: Mapping[str, Kept] = MappingProxyType({})) -> str:
    """The whole page. Each result: package, version, python, environment, seconds, checks.

    kept: what the page before says, in the page's order; packages without a result stay as they stand there.
    """
    new = {result["package"]: Kept(_row_of_all(result), _section(result)) for result in results}
    shown = {**kept, **new}
    return "".join([HEAD, TABLE, *(one.row for one in shown.values()), *(one.section for one in shown.values())])


TABLE = "\n| package | version | data sets | checks | found | documented | not found | seconds |\n" + "|---" * 8 + "|\n"


def _row_of_all(result: Mapping[str, Any]) -> str:
    outcomes = [check["outcome"] for check in result["checks"]]
    sets = ", ".join(dict.fromkeys(check["data"] for check in result["checks"]))
    counts = [outcomes.count(name) for name in ("found", "documented", "not found")]
    cells = [result["package"], result["version"], sets, len(outcomes), *counts, f"{result['seconds']:.0f}"]
    return "| " + " | ".join(map(str, cells)) + " |\n"


def _section(result: Mapping[str, Any]) -> str:
    remark = " ".join([result["environment"], *filter(None, [REMARKS.get(result["package"])])])
    return f"\n## {result['package']} {result['version']}\n\n{remark}\n" + _checks(result)


def _checks(result: Mapping[str, Any]) -> str:
    found = [check for check in result["checks"] if check["outcome"] != "not found"]
    lines = []
    for statement in dict.fromkeys(check["statement"] for check in found):
        lines.append(
            f"\nStatement: {statement}.\n\n| data | question | outcome | where | evidence |\n|---|---|---|---|---|\n"
        )
        lines += [_row(check) for check in found if check["statement"] == statement]
    absent = [check for check in result["checks"] if check["outcome"] == "not found"]
    if absent:
        lines.append("\nChecked and not found:\n\n| data | question | evidence |\n|---|---|---|\n")
        lines += [f"| {c['data']} | {_cell(c['question'])} | {_cell(c['evidence'])} |\n" for c in absent]
    return "".join(lines)


def _row(check: Mapping[str, str]) -> str:
    where = check["where"] or "returned value"
    cells = [check["data"], check["question"], check["outcome"], f"`{where}`", check["evidence"]]
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def letter(result: Mapping[str, Any], witness: str = "") -> str:
    """A report that can be sent to the authors, of a package that is examined here alone; each question once."""
    name, found = result["package"], [check for check in result["checks"] if check["outcome"] == "found"]
    lines = [
        f"# {name} {result['version']}: statements on privacy that a test contradicts\n\nDear authors of {name},\n\n"
        "thank you for publishing this package. While auditing packages that state differential privacy, we found the "
        "following. We may have misread what you mean; if so, a sentence in the documentation would help readers.\n"
    ]
    for statement in dict.fromkeys(check["statement"] for check in found):
        lines.append(f"\nStatement: {statement}.\n")
        listed = {check["question"].partition(" = ")[0]: check for check in found if check["statement"] == statement}
        for check in listed.values():
            question = check["question"][0].upper() + check["question"][1:]
            where = check["where"] or "returned value"
            lines.append(f"\n**{question}** On {check['data']}, at `{where}`: {check['evidence']}.\n")
    lines.append(f"\nWitness, with the package alone:\n\n```python\n{witness}```\n" if witness else "")
    lines.append(
        f"\nEach check is in benchmarks/packages and runs by `{COMMAND}`; all of them are on "
        "[a page](../audit-packages-checks.md), and what we found by reading your source on "
        "[another](../audit-published.md#dp-xgboost).\n"
    )
    return "".join(lines)
