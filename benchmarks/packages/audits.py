"""The index: every folder of index/ has an audit.toml, which is audited by an interpreter that has the package.

Interpreters are this one and those of REFDP_PYTHON_PACKAGES (paths, separated as in PATH); the first in which the
package's modules are installed is taken.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "index"
ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "packages" / "index"
SECONDS = 1_500.0
PROBE = "import importlib.util as u, sys; sys.exit(any(u.find_spec(name) is None for name in sys.argv[1:]))"


def names() -> list[str]:
    """Of all packages in the index."""
    return sorted(path.parent.name for path in FOLDER.glob("*/audit.toml"))


def interpreters() -> list[str]:
    """This one, and those that are named."""
    named = os.environ.get("REFDP_PYTHON_PACKAGES", "").split(os.pathsep)
    return [sys.executable, *filter(None, named)]


def scope(name: str) -> dict[str, Any]:
    """The file of a package."""
    return tomllib.loads((FOLDER / name / "audit.toml").read_text(encoding="utf-8"))


def modules(name: str) -> list[str]:
    """What has to be installed."""
    package = scope(name)["package"]
    found = package.get("import", package["name"].replace("-", "_"))
    return [found] if isinstance(found, str) else list(found)


def note(name: str) -> str:
    """What we think the cause is, for the authors; "" where the lines speak for themselves."""
    file = FOLDER / name / "note.md"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def run(chosen: Sequence[str]) -> None:
    """Audit each, and keep what its audit printed; what is nowhere installed is kept as that."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        report = _audited(name)
        (RESULTS / f"{name}.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{name}: {report.get('verdict', report.get('error'))}", flush=True)


def _audited(name: str) -> dict[str, Any]:
    python = next(_having(modules(name)), None)
    if python is None:
        return {"error": "not installed in any interpreter at hand"}
    words = [python, "-W", "ignore", "-m", "refdp", "audit", "package", str(FOLDER / name / "audit.toml"), "--json"]
    known = FOLDER / name / "accepted.json"
    words += ["--baseline", str(known)] if known.is_file() else []
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=SECONDS, env=environment, cwd=ROOT
        )
        report: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        return {"error": f"no report: {type(error).__name__}"}
    return report


def _having(wanted: Sequence[str]) -> Iterator[str]:
    for python in interpreters():
        if subprocess.run([python, "-c", PROBE, *wanted], capture_output=True, check=False).returncode == 0:
            yield python


def results() -> dict[str, dict[str, Any]]:
    """Of all packages; an error for those that were not run."""
    files = ((name, RESULTS / f"{name}.json") for name in names())
    return {
        name: json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {"error": "its audit was not run"}
        for name, file in files
    }
