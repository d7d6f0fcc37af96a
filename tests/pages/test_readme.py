"""What README.md prints runs as it is printed, and what the pages name is there."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.audit import page_replay
from refdp.faces import cli, registry

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROSE = ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "proofs/README.md")


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """Indented blocks, each with the paragraph before it."""
    before = ""
    for part in re.split(r"\n\n(?! {4})", page):
        paragraph, _, block = part.partition("\n\n    ") if not part.startswith("    ") else ("", "", part[4:])
        if block:
            yield paragraph or before, re.sub(r"^ {4}", "", block, flags=re.MULTILINE)
        before = paragraph


def files() -> dict[str, str]:
    """The blocks of a paragraph that says "here `name`"."""
    found = {}
    for paragraph, block in blocks(README):
        for name in re.findall(r"here `([a-z.]+)`", paragraph)[-1:]:
            found[name] = block + "\n"
    return found


def commands() -> list[tuple[str, int]]:
    """Each command of the shell's block, with the exit status that its comment says."""
    lines = next(block for _, block in blocks(README) if block.startswith("refdp train")).splitlines()
    return [(line, 1 if "exit status 1" in line else 0) for line in lines]


def test_the_python_block_runs() -> None:
    code = next(block for _, block in blocks(README) if block.startswith("import numpy") and "refdp" in block)
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    certificate = names["dpboost"].certificate(names["params"], names["schema"])
    assert (certificate.claimed.epsilon, certificate.established.epsilon) == (2.0, pytest.approx(2.0))
    assert names["dpboost"].predict(names["model"], names["records"].x).shape == (1000,)


def test_the_commands_of_the_shell_run_and_end_as_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In order and in one directory, since they use each other's files. Audits replay fewer pairs than by default."""
    assert set(files()) == {"people.csv", "bounds.json", "mine.py", "pair.json"}
    for name, text in files().items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("REFDP_DATA", raising=False)
    monkeypatch.setattr(page_replay, "PAIRS", 1)
    monkeypatch.setattr(page_replay, "RUNS", 5)
    found = commands()
    assert len(found) == 9
    for line, expected in found:
        arguments = shlex.split(line, comments=True)[1:]
        fewer = ["--pairs", "1"] if arguments[1] in registry.PAPERS else ["--samples", "2000"]
        fewer = fewer if arguments[0] == "audit" else []
        status, shown = cli.run([*arguments, *fewer]), capsys.readouterr()
        assert status == expected, (line, shown.err)
        assert shown.out
    assert "<svg" in (tmp_path / "report.html").read_text() and json.loads((tmp_path / "model.json").read_text())


def test_the_commands_that_read_data_by_name_need_no_network() -> None:
    named = [shlex.split(line)[shlex.split(line).index("--data") + 1] for line, _ in commands() if "--data" in line]
    assert set(named) <= {"breast_cancer", "diabetes", "people.csv"}


@pytest.mark.parametrize("page", PROSE)
def test_the_modules_and_files_that_prose_names_are_there(page: str) -> None:
    assert missing((ROOT / page).read_text(encoding="utf-8"), ROOT / page) == []


def test_the_programs_that_the_makefile_starts_are_there() -> None:
    """`make demo` named a module that had moved, and nothing else starts it."""
    started = re.findall(r"\$\(BIN\)/python -m ([\w.]+)", (ROOT / "Makefile").read_text())
    assert {"refdp.faces.demo", "proofs", "benchmarks.reproduce", "tests.mutants"} <= set(started)
    assert [name for name in started if not _spec(name)] == []


def test_what_programs_name_of_refdp_is_there() -> None:
    """A benchmark called a function that had moved; nothing runs benchmarks but people who wait for them."""
    programs = [path for room in ("benchmarks", "labs") for path in sorted((ROOT / room).rglob("*.py"))]
    assert len(programs) > 50
    assert [(path.name, name) for path in programs for name in gone(path.read_text(encoding="utf-8"))] == []
    broken = "from refdp.papers import sgbdt\nfrom refdp.io import nothing\nsgbdt.noise_of(1)\nsgbdt.train\n"
    assert gone(broken) == ["refdp.io.nothing", "refdp.papers.sgbdt.noise_of"]


def gone(source: str) -> list[str]:
    """What a program imports from refdp, or asks of a module that it imported so, and which is not there."""
    tree, modules, found = ast.parse(source), {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "refdp":
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if not _resolves(full):
                    found.append(full)
                elif _spec(full):
                    modules[alias.asname or alias.name] = full
    asked = [
        f"{modules[node.value.id]}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
    ]
    return found + [name for name in dict.fromkeys(asked) if not _resolves(name)]


def test_a_name_that_is_gone_is_found() -> None:
    gone = "`refdp.nothing`, `refdp.faces.estimators.Nobody`, `refdp/gone.py`, `make nonsense`, `python -m refdp.gone`"
    assert len(missing(gone, ROOT / "README.md")) == 5


def missing(text: str, page: Path) -> list[str]:
    """Code spans that look like a module, file or command of this project and name nothing."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    spans = re.findall(r"`([^`\n]+)`", text)
    found = [span for span in spans if re.fullmatch(r"refdp(\.\w+)+", span) and not _resolves(span)]
    found += [s for s in spans if re.fullmatch(r"(\.\./)?[\w/*]+\.(py|json|md|toml)", s) and not _there(s, page)]
    found += [s for s in spans if (m := re.fullmatch(r"make (\w+)", s)) and m[1] not in targets]
    return found + [s for s in spans if (m := re.match(r"python -m ([\w.]+)", s)) and not _spec(m[1])]


def _resolves(name: str) -> bool:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        if _spec(".".join(parts[:cut])):
            found: Any = importlib.import_module(".".join(parts[:cut]))
            return all((found := getattr(found, part, None)) is not None for part in parts[cut:])
    return False


def _spec(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


ROOMS = ("privacy", "noise", "data", "ledger", "io", "faces", "audit", "papers", "protocols")
"""Folders whose modules prose may name without them."""


def _there(name: str, page: Path) -> bool:
    if name in files() or name in ("model.json", "report.html"):
        return True
    return any(
        next(iter(base.glob(name)), None)
        for base in (ROOT, page.parent, ROOT / "refdp", *(ROOT / "refdp" / room for room in ROOMS))
    )


def test_every_module_has_its_place_in_the_architecture() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    patterns = [re.escape(name).replace(r"\*", ".*") for name in re.findall(r"`([\w*]+\.py)`", page)]
    rooms = [ROOT / "refdp", *(ROOT / "refdp" / room for room in ("privacy", "noise", "data", "ledger", "io", "faces"))]
    modules = [path.name for room in rooms for path in room.glob("*.py") if not path.name.startswith("__")]
    assert [name for name in modules if not any(re.fullmatch(pattern, name) for pattern in patterns)] == []


def test_the_versions_and_counts_that_prose_states_are_those_of_the_package() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    low, high = re.findall(r'requires-python = ">=([\d.]+),<3\.(\d+)"', project)[0]
    assert f"Python {low} to 3.{int(high) - 1}." in README
    claims = len(json.loads((ROOT / "refdp/ledger/ledger.json").read_text())["claims"])
    assert f"Claims ledger: {claims} statements" in (ROOT / "CHANGELOG.md").read_text()
    assert all(f"`refdp/papers/{name}.py`" in README for name in registry.PAPERS)
    assert np.all([name in README for name in re.findall(r'^  "([a-z-]+)[><=]', project, flags=re.MULTILINE)[:5]])
