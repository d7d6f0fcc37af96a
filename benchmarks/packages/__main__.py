"""`python -m benchmarks.packages [package ...]`: audit the packages of the index, write docs/audit-packages.md.

Without arguments all of them. Results are kept in results/packages/, so that one can be run again alone; a package
without a result keeps what the page says of it. `--checks` runs the checks on public data sets instead, which
docs/audit-packages-checks.md shows, each package by the interpreter that REFDP_PYTHON_DIFFPRIVLIB (and so on) names, or
by this one.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from pathlib import Path

from benchmarks.packages import audits, kept, published
from benchmarks.packages.audits_page import letter, unaccepted
from benchmarks.packages.audits_page import page as index_page
from benchmarks.packages.dpxgboost_sides import WITNESS
from benchmarks.packages.page import letter as letter_of_checks
from benchmarks.packages.page import page

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "packages"
PACKAGES = {
    "diffprivlib": ("diffprivlib", "scikit-learn", "numpy"),
    "interpret": ("interpret-core", "scikit-learn", "numpy"),
    "dpxgboost": ("numpy",),
    "opendp": ("opendp", "numpy"),
}
CHECKED = ["diffprivlib", "interpret", "dp-xgboost", "opendp"]
"""The packages as the page names them."""
NOTES = {
    "diffprivlib": "In an environment of its own, because 0.6.6 does not import with scikit-learn 1.9 "
    "(`pip install refdp[diffprivlib]`, interpreter in REFDP_PYTHON_DIFFPRIVLIB).",
    "interpret": "`pip install refdp[ebm]`.",
    "dpxgboost": "Trained by a subprocess in Python 3.10 (interpreter in REFDP_PYTHON_DPXGBOOST).",
    "opendp": "`pip install refdp[opendp]`.",
}


def main() -> None:
    """Run the chosen packages, then write the page from all results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.packages", description=__doc__)
    parser.add_argument("packages", nargs="*", metavar="package", help="all unless given")
    parser.add_argument("--checks", action="store_true", help=f"the checks on data sets, of {', '.join(PACKAGES)}")
    parser.add_argument("--worker", action="store_true", help="run the checks of one package here, write the result")
    parser.add_argument("--published", action="store_true", help="only write docs/audit-published.md")
    parser.add_argument("--page", action="store_true", help="only write the page from the results at hand")
    options = parser.parse_args()
    allowed = PACKAGES if options.checks or options.worker else audits.names()
    unknown = set(options.packages) - set(allowed)
    if unknown:
        parser.error(f"unknown {sorted(unknown)}: allowed are {sorted(allowed)}")
    if options.published:
        (ROOT / "docs" / "audit-published.md").write_text(published.page(), encoding="utf-8")
        return
    if not options.checks and not options.worker:
        _index([] if options.page else options.packages or audits.names())
        return
    if options.worker:
        _work(options.packages[0])
        return
    for package in [] if options.page else options.packages or PACKAGES:
        python = os.environ.get(f"REFDP_PYTHON_{package.upper()}", sys.executable) if package != "dpxgboost" else None
        command = [python or sys.executable, "-m", "benchmarks.packages", "--worker", package]
        subprocess.run(command, cwd=ROOT, check=True)
    results = [
        json.loads(path.read_text()) for path in (RESULTS / f"{name}.json" for name in PACKAGES) if path.is_file()
    ]
    written = ROOT / "docs" / "audit-packages-checks.md"
    written.write_text(page(results, kept.parts(written, CHECKED)), encoding="utf-8")
    for result in results:
        if result["package"] == "dp-xgboost":  # the others are in the index, which writes theirs
            (ROOT / "docs" / "reports" / "dp-xgboost.md").write_text(
                letter_of_checks(result, WITNESS), encoding="utf-8"
            )


def _index(chosen: list[str]) -> None:
    """Run the chosen packages of the index, then write its page and the reports to authors."""
    audits.run(chosen)
    reports = audits.results()
    written = ROOT / "docs" / "audit-packages.md"
    written.write_text(index_page(reports, kept.parts(written, audits.names())), encoding="utf-8")
    folder = ROOT / "docs" / "reports"
    folder.mkdir(exist_ok=True)
    for name, report in reports.items():
        if "verdict" in report and unaccepted(report):
            (folder / f"{name}.md").write_text(letter(name, report, audits.note(name)), encoding="utf-8")


def _work(package: str) -> None:
    """Audit one package in this process."""
    start = time.monotonic()
    module = importlib.import_module(f"benchmarks.packages.{package}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = []
        for check in module.checks():
            found.append(check.to_dict())
            print(
                f"{check.package} {check.data}: {check.question} -> {check.outcome} {check.evidence[:150]}", flush=True
            )
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES[package])
    result = {
        "package": module.PACKAGE,
        "version": getattr(module, "VERSION", None) or importlib.metadata.version(PACKAGES[package][0]),
        "environment": f"{NOTES[package]} Python {platform.python_version()}; {versions}.",
        "seconds": time.monotonic() - start,
        "checks": found,
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{package}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
