"""Random small mutants that no author chose: `make mutate N=200`, or `python -m tests.mutants.drawn --number 200`.

Each is made in a scratch copy of the repository, where everything that is kept of the code's text follows it
(follow.py), so that a mutant counts as killed by what it does and not by being another text. Tests that import the
module come first, nearest first and among them those that name its function, then all others. Results are appended to
a file; what is in it is not run again.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, islice
from pathlib import Path
from typing import Any

from tests.mutants import warm
from tests.mutants.follow import TEXT_ALONE
from tests.mutants.sites import Site, parses, sites

ROOT = Path(__file__).parents[2]
LEFT_OUT = ("refdp/commands/", "refdp/audit/zoo/", "refdp/audit/adapters/", "refdp/faces/cli.py", "refdp/faces/demo.py",
            "refdp/__main__.py")  # fmt: skip
QUICK = 2
"""So many of the nearest layers of tests are run without their slow tests first."""
SUMMARY = "[100%]"
"""What pytest says at its end. Where a mutant ends the process with status 0, tests that failed are not told."""
Mutant = tuple[str, Site]
Run = Callable[[list[str], Path, float], tuple[int | None, str]]
_moments = count(10**9)
"""Times of change of mutants: none twice, so that no bytecode of one is taken for another's."""


def modules(only: str) -> list[str]:
    """Paths of the modules that are mutated. only: a part of the path."""
    paths = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "refdp").rglob("*.py")))
    return [path for path in paths if not path.startswith(LEFT_OUT) and only in path]


def drawn(number: int, seed: int, only: str = "") -> list[Mutant]:
    """So many different mutants, every place alike."""
    sources = {path: (ROOT / path).read_text(encoding="utf-8") for path in modules(only)}
    every = [(path, site) for path, source in sources.items() for site in sites(source)]
    random.Random(seed).shuffle(every)
    good = ((path, site) for path, site in every if parses(site.applied(sources[path])))
    return list(islice(good, number))


# --- Which tests concern a module -------------------------------------------------------------------------------------


@cache
def imports(path: Path) -> set[str]:
    """Names of everything that a file imports, inside functions as well."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def ordered_tests(module: str) -> list[list[str]]:
    """Test files by the number of imports that lead to the module, nearest first; the last list has all others."""
    paths = [path for top in ("refdp", "tests") for path in sorted((ROOT / top).rglob("*.py"))]
    names = {_name(path): path for path in paths}
    imported_by: dict[str, set[str]] = {name: set() for name in names}
    for name, path in names.items():
        for target in imports(path) & names.keys():
            imported_by[target].add(name)
    waiting, seen, layers = {_name(ROOT / module)}, {_name(ROOT / module)}, []
    rest = {name for name in names if name.rpartition(".")[2].startswith("test_")}
    while waiting:
        waiting = {name for one in waiting for name in imported_by[one]} - seen
        seen |= waiting
        layers.append(sorted(waiting & rest))
        rest -= waiting
    layers.append(sorted(rest))
    return [[names[name].relative_to(ROOT).as_posix() for name in layer] for layer in layers if layer]


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# --- Running ----------------------------------------------------------------------------------------------------------


def copied(folder: Path) -> Path:
    """A scratch copy of everything that is in the repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    return folder


def execute(arguments: list[str], folder: Path, seconds: float) -> tuple[int | None, str]:
    """Exit status (None: time is up) and output of Python in the copy; with it end all processes that it started."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen([sys.executable, *arguments], cwd=folder, env=environment, text=True, start_new_session=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:  # fmt: skip
        try:
            output, _ = process.communicate(timeout=max(seconds, 1.0))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return None, output
        return process.returncode, output


def outcome(
    folder: Path, path: str, site: Site, limit: float, jobs: int, near: int, run: Run = execute
) -> tuple[str, str]:
    """What happened to a mutant, "killed", "survived" or "time is up", and the test that killed it.

    limit: seconds of the processor. near: so many layers; 0: all; -1: quick tests of the nearest alone. run: `execute`
    or what does the same.
    """
    source, mutant = (ROOT / path).read_text(encoding="utf-8"), folder / path
    end = _processor() + limit
    try:
        mutant.write_text(site.applied(source), encoding="utf-8")
        moment = next(_moments)
        os.utime(mutant, (moment, moment))
        status, output = run(["-m", "tests.mutants.follow"], folder, limit)
        if status != 0:
            return ("killed", "cannot be imported") if status is not None else ("time is up", "import")
        layers = ordered_tests(path)
        slow = layers[: max(near, 0) if near else None]
        quick = [(tests, ["--quick"]) for layer in layers[:QUICK] for tests in portions(layer, path, site.line)]
        for tests, options in [*quick, *((tests, [] if jobs < 2 else ["-n", str(jobs)]) for tests in slow)]:
            given = ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not statistics", *options]
            given += [one for one in tests if one not in TEXT_ALONE]
            status, output = run(given, folder, end - _processor())
            if status is None:
                return "time is up", tests[0]
            if status not in (0, 5):  # 5: no test was selected
                failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
                return "killed", failed[0][:200] if failed else output[-200:]
            if status == 0 and SUMMARY not in output:
                return "killed", f"the tests ended without a summary: {tests[0]}"
        return "survived", ""
    finally:
        subprocess.run(["git", "checkout", "-q", "--", "."], cwd=folder, check=True)


def portions(layer: list[str], module: str, line: int) -> list[list[str]]:
    """A layer's tests in three portions, few, more, the rest.

    First those that name the function around the line, then those of the module's name, of its room, of few imports.
    """
    names = around(module, line)
    room, stem = Path(module).parts[1], Path(module).stem

    def order(test: str) -> tuple[bool, bool, bool, int, str]:
        return (not names & words(ROOT / test), Path(test).stem != f"test_{stem}", room not in Path(test).parts,
                len(imports(ROOT / test)), test)  # fmt: skip

    ordered = sorted(layer, key=order)
    return [part for part in (ordered[:4], ordered[4:16], ordered[16:]) if part]


@cache
def words(path: Path) -> set[str]:
    """Every name in a file."""
    return set(re.findall(r"\w+", path.read_text(encoding="utf-8")))


def around(module: str, line: int) -> set[str]:
    """Names of the functions and classes that the line stands in."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {n.name for n in ast.walk(tree) if isinstance(n, kinds) and n.lineno <= line <= (n.end_lineno or n.lineno)}


def _processor() -> float:
    """Seconds of the processor that ended children took."""
    times = os.times()
    return times.children_user + times.children_system


def results(
    mutants: list[Mutant], file: Path, limit: float, jobs: int, near: int, run: Run = execute
) -> Iterator[dict[str, Any]]:
    """One line a mutant, taken from the file or run and appended to it."""
    known = {}
    if file.exists():
        for text in file.read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            known[line["path"], line["code"], line["kind"], line["start"], line["new"]] = line
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = copied(Path(scratch))
        for path, site in mutants:
            source = (ROOT / path).read_text(encoding="utf-8")
            code = source.splitlines()[site.line - 1].strip()
            key = path, code, site.kind, site.start, site.new
            if key not in known:
                start = _processor()
                verdict, by = outcome(folder, path, site, limit, jobs, near, run)
                known[key] = {"path": path, "line": site.line, "start": site.start, "kind": site.kind, "code": code,
                              "old": site.old, "new": site.new, "verdict": verdict, "by": by,
                              "seconds": round(_processor() - start, 1)}  # fmt: skip
                with file.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(known[key], ensure_ascii=False) + "\n")
            yield known[key]


def main() -> None:
    """Draw, run, and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of the paths of the modules to mutate")
    parser.add_argument("--limit", type=float, default=1200.0, help="seconds of the processor, a mutant")
    parser.add_argument("--jobs", type=int, default=1, help="processes of pytest")
    parser.add_argument("--near", type=int, default=0, help="so many layers of tests; 0: all; -1: quick tests")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "mutants.jsonl")
    given = parser.parse_args()
    mutants = drawn(given.number, given.seed, given.only)
    print(
        f"{len(mutants)} mutants, seed {given.seed}: mostly seconds for one that is killed, the time of all tests for"
    )
    print(f"one that survives, {given.limit:.0f} s at most. It can be stopped and goes on from {given.results}.")
    counts: Counter[str] = Counter()
    warm.warm()
    found = results(mutants, given.results, given.limit, given.jobs, given.near, warm.execute)
    for number, line in enumerate(found, 1):
        counts[line["verdict"]] += 1
        if line["verdict"] != "killed":
            print(f"[{number}] {line['verdict']}: {line['path']}:{line['line']}: {line['kind']}: "
                  f"{line['old']} -> {line['new']}\n        {line['code']}", flush=True)  # fmt: skip
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))


if __name__ == "__main__":
    main()
