"""The vectors made anew on other machines: without the processor features that numpy uses, and by other numpys.

    python -m refdp.conform.machines                       # with all features, then with none
    python -m refdp.conform.machines --python PY ...       # by these interpreters too, each both ways

Each line says numpy's version, the features that it used, and whether every file is byte for byte the one that is kept.
Exit status 1 if one is not. numpy's own baseline, which it was compiled for, cannot be switched off.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from refdp.conform.files import kept, vectors

OFF = "NPY_DISABLE_CPU_FEATURES"
FEATURES = """
import json, numpy
try:
    from numpy._core._multiarray_umath import __cpu_features__ as there, __cpu_dispatch__ as used
except ImportError:
    from numpy.core._multiarray_umath import __cpu_features__ as there, __cpu_dispatch__ as used
print(json.dumps([numpy.__version__, [name for name in used if there.get(name)]]))
"""


@dataclass(frozen=True)
class Machine:
    """One way to run numpy. features: those in use beyond its baseline. different: files that are not the kept ones."""

    numpy: str
    features: tuple[str, ...]
    different: tuple[str, ...]

    def line(self) -> str:
        """For people."""
        used = ", ".join(self.features) or "none beyond its baseline"
        return f"numpy {self.numpy}, features {used}: " + (", ".join(self.different) or "every file the same")


def features(python: str, environment: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """numpy's version and the features that it uses beyond its baseline."""
    found = subprocess.run([python, "-c", FEATURES], env=environment, capture_output=True, text=True, check=True)
    version, used = json.loads(found.stdout)
    return version, tuple(used)


def machines(pythons: Sequence[str], paper: str | None = None) -> list[Machine]:
    """Each interpreter with all features, then with none. paper: its vectors alone."""
    found = []
    for python in pythons:
        plain = {key: value for key, value in os.environ.items() if key != OFF}
        plain["PYTHONPATH"] = str(Path(__file__).parents[2])
        used = features(python, plain)[1]
        for environment in (plain, {**plain, OFF: " ".join(used)}):
            words = [python, "-m", "refdp.conform.machines", "--differing", *([paper] if paper else [])]
            told = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
            found.append(Machine(*features(python, environment), tuple(json.loads(told.splitlines()[-1]))))
    return found


def differing(paper: str | None = None) -> list[str]:
    """Files that this interpreter makes otherwise than they are kept. Errors: FileNotFoundError without kept files."""
    directory = kept()
    if directory is None:
        raise FileNotFoundError("no vectors are kept beside this package: run it in the repository")
    made = {directory / name / f"{kind}.json": text for name, kind, text in vectors(paper)}
    there = set(directory.glob(f"{paper or '*'}/*.json"))
    wrong = [path for path, text in made.items() if path not in there or path.read_text(encoding="utf-8") != text]
    return sorted(str(path.relative_to(directory)) for path in [*wrong, *(there - set(made))])


def main() -> int:
    """Say how each did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", nargs="+", default=[], help="further interpreters, with other numpys")
    parser.add_argument("--differing", nargs="?", const="", default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.differing is not None:
        print(json.dumps(differing(options.differing or None)))
        return 0
    found = machines([sys.executable, *options.python])
    for one in found:
        print(one.line())
    return int(any(one.different for one in found))


if __name__ == "__main__":
    raise SystemExit(main())
