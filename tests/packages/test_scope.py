"""A newcomer's audit.toml: each fault is one clear error before any entry point runs; a killed audit goes on."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit.campaign import load
from refdp.audit.package import audit_package, run
from refdp.audit.package.entries import _lines
from refdp.errors import InvalidParameter
from refdp.faces import cli
from tests.packages.conftest import TOY
from tests.pages.test_blocks import printed_files
from tests.pages.test_readme import blocks

ROOT = Path(__file__).parents[2]
RECORDS, FIRST = "records = [[2.5], [2.1], [2.9]]", "first = [[0.5], [0.25]]"
TOTAL = 'callable = "wrappers:total"'
FAULTS: list[tuple[str, str, str]] = [
    ("[claim]", "[clam]", "'clam' is not known ('claim' is meant?); allowed are package, claim, entry, noise, seed"),
    ("[claim]", "[[claim]]", "[claim]: list given, one table [claim] is needed"),
    ("epsilon = 1.0", "epsilom = 1.0", "[claim]: 'epsilom' is not known ('epsilon' is meant?); allowed are statement"),
    ("epsilon = 1.0\n", "", "[claim] epsilon: missing, a number is needed"),
    ("epsilon = 1.0", "epsilon = 1000", "[claim] epsilon 1000: allowed are numbers above 0 and below 50"),
    ('name = "total"', 'name = "right"', "[[entry]] name 'right': given twice"),
    ("bounds = [[2, 3]]", "bounds = 3", "'total' bounds: 3, [[low, high], ...] with a pair for every column"),
    ("bounds = [[2, 3]]", "bounds = [[true, 3]]", "'total' bounds [True, 3]: pairs [low, high]"),
    ("bounds = [[2, 3]]", "bounds = [[2, 3], [0, 1]]", "3 records of 1 columns and 2 bounds do not fit"),
    (RECORDS, 'records = "absent.csv"', "'total' records 'absent.csv': cannot be read: No such file"),
    (RECORDS, 'records = "audit.toml"', "'total' records 'audit.toml': .csv and .json files are allowed"),
    (RECORDS, "records = [[2.5], [2.1, 3]]", "'total' records: rows of 1 and 2 numbers, all need as many"),
    (RECORDS, 'records = [["a"]]', "'total' records: 'a' in a row, numbers are needed"),
    (FIRST, "first = 0.5", "'summary' first: rows [[number, ...], ...], or the name of a .json or .csv file"),
    (FIRST, "first = [0.5, 0.25]", "'summary' first: rows [[number, ...], ...]"),
    ("samples = 1000", "samples = 50", "'total' samples: 50, allowed are 0 (no black box) and whole numbers from 100"),
    ("samples = 1000", "least = 9", "'total' least: 9, at most the number of records, 3, is allowed"),
    ("samples = 1000", 'source = "toydp:nothing"', "'total' source 'toydp:nothing': AttributeError"),
    (TOTAL, 'callable = "toydp:unused"', "(value, sensitivity, epsilon), but (records, seed) is what it gets"),
    (TOTAL, "command = []", "'total' command: nothing given"),
    (TOTAL, 'command = ["no such", "{csv}"]', "'total' command 'no such': no such program"),
    (TOTAL, 'command = ["{python}", "absent.py", "{csv}"]', "'total' command 'absent.py': no such file"),
    (TOTAL, 'notebook = "absent.ipynb"', "[[entry]] 'total' notebook absent.ipynb"),
    ('import = "toydp"', 'open = "nothing"', "[package] open 'nothing': allowed are diffprivlib, interpret, opendp"),
    ("toydp:laplace", "toydp:laplac", "[[noise]] 1 function 'toydp:laplac': AttributeError"),
    ('law = "laplace"', 'law = "gausian"', "[[noise]] 1 'toydp:laplace' law 'gausian': 'gaussian' is meant?"),
    ('law = "laplace"', "law = 5", "[[noise]] 1 law: 5, a text is needed"),
    ('value = "value"', 'value = "valeu"', "value: no argument 'valeu'; allowed are value, sensitivity, epsilon, rng"),
    ('value = "value"', "caller = []", "[[noise]] 1 caller: nothing given"),
    ("toydp:scale_of", "toydp:nothing", "[[noise]] 1 'toydp:laplace' scale 'toydp:nothing': AttributeError"),
    ('scale = "toydp:scale_of"', "scale = -1", "scale: -1, numbers from 0 on are allowed"),
    ('sensitivity = "sensitivity"', "sensitivity = []", "sensitivity: [], the name of an argument or a number"),
]


@pytest.mark.parametrize(("old", "new", "told"), FAULTS)
def test_a_fault_is_told_at_its_place_before_anything_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, told: str
) -> None:
    text = (TOY / "audit.toml").read_text()
    assert old in text
    (folder / "fault.toml").write_text(text.replace(old, new, 1))
    monkeypatch.setattr("refdp.audit.package.run._examined", None)  # would be called
    with pytest.raises(InvalidParameter) as error:
        audit_package(folder / "fault.toml")
    assert told in str(error.value) and "\n" not in str(error.value)
    assert str(error.value).startswith(f"{folder / 'fault.toml'}: [") or "the file:" in str(error.value)


def test_the_first_result_of_the_page_is_found_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    page = "docs/audit-package.md"
    for name, text in printed_files(page).items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    [line] = [one for _, one in blocks((ROOT / page).read_text()) if one.startswith("refdp ") and "exit status" in one]
    words = shlex.split(line, comments=True)[1:]
    assert words[-2:] == ["--html", "report.html"] and cli.run(words[:-2]) == 1  # its curve is drawn elsewhere
    told = capfd.readouterr().out
    assert "shop.py:5 in noisy_sum" in told
    [counts] = [one.strip() for one in told.splitlines() if "counts = [" in one]
    assert counts.endswith("for rows in (first, second)]")  # whole, whatever the terminal's width
    other = (tmp_path / "audit.toml").read_text().replace("[claim]", '[claim]\nrelation = "replace-one"')
    (tmp_path / "audit.toml").write_text(other)
    assert cli.run([*words[:-2], "--json"]) == 0


KILL = """

def stopped(records, seed):
    if os.environ.get("REFDP_TEST_KILL"):
        os.kill(os.getpid(), signal.SIGKILL)
    return total_right(records, seed)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed by a signal")
def test_an_audit_that_was_killed_goes_on_and_reports_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second entry point kills its process; what the first one gave is kept, and is not run again."""
    folder = Path(shutil.copytree(TOY, tmp_path / "toy"))
    with (folder / "wrappers.py").open("a") as file:
        file.write("\n\nimport os\nimport signal\n" + KILL)
    head, _, right, _, count = (folder / "audit.toml").read_text().split("[[entry]]")
    right = right.replace("total_right", "stopped").replace("samples = 1000", "samples = 0")
    (folder / "audit.toml").write_text("[[entry]]".join([head, count, right]))
    kept = tmp_path / "kept.jsonl"
    words = [sys.executable, "-m", "refdp", "audit", "package", str(folder / "audit.toml"), "--resume", str(kept)]
    killed = subprocess.run(words, env=os.environ | {"REFDP_TEST_KILL": "1"}, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL and killed.stdout == b""
    assert [json.loads(line).get("entry") for line in kept.read_text().splitlines()] == [None, "count"]

    before, ran = kept.read_bytes(), list[str]()
    examined = run._examined
    monkeypatch.setattr(run, "_examined", lambda *given: ran.append(given[1].name) or examined(*given))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    again, whole = (audit_package(folder / "audit.toml", resume=path).to_dict() for path in (kept, None))
    assert ran == ["right", "count", "right"] and kept.read_bytes().startswith(before)
    assert _without_times(again) == _without_times(json.loads(json.dumps(whole))) and len(whole["findings"]) == 1


def test_two_folders_have_wrappers_of_their_own(folder: Path, tmp_path: Path) -> None:
    """Otherwise the second audit would be about the first one's functions."""
    (tmp_path / "wrappers.py").write_text("def count(records, seed):\n    return 0\n")
    (tmp_path / "audit.toml").write_text((TOY / "audit.toml").read_text().replace('import = "toydp"', 'import = "json"')
                                         .partition("[[noise]]")[0] + "[[entry]]" + (TOY / "audit.toml").read_text()
                                         .rpartition("[[entry]]")[2])  # fmt: skip
    stages = ("structural",)
    assert len(audit_package(folder / "audit.toml", only="count", stages=stages).findings) == 1
    assert audit_package(tmp_path / "audit.toml", only="count", stages=stages).findings == ()
    assert len(audit_package(folder / "audit.toml", only="count", stages=stages).findings) == 1


def _without_times(report: Any) -> Any:
    if isinstance(report, dict):
        return {key: _without_times(value) for key, value in report.items() if key != "seconds"}
    return [_without_times(one) for one in report] if isinstance(report, list) else report


def test_what_was_kept_is_refused_once_scope_scripts_data_or_sources_change(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A head line that a kill cut short is written again; whatever else the file holds is not touched."""
    monkeypatch.setattr(
        "refdp.audit.package.entries.to_run", load
    )  # as in a new process, which has imported nothing yet
    (folder / "inner").mkdir()
    (folder / "inner" / "helper.py").write_text("HELP = 1\n")
    (folder / "rows.json").write_text("[[0.5], [0.25]]")
    (folder / "book.ipynb").write_text(json.dumps({"cells": [{"cell_type": "code", "source": "released = 1"}]}))
    entries = (TOY / "audit.toml").read_text().split("[[entry]]")
    counted = entries[-1].replace(FIRST, 'first = "rows.json"')
    other = '\nname = "book"\nnotebook = "book.ipynb"\nfirst = [[1]]\nsecond = []\n'
    toml = folder / "data.toml"
    toml.write_text("[[entry]]".join([entries[0], counted, other]))
    kept = tmp_path / "kept.jsonl"

    def audit() -> None:
        audit_package(toml, only="count", stages=("structural",), resume=kept)

    audit()
    head = kept.read_bytes().splitlines(keepends=True)[0]
    kept.write_bytes(head[:40])
    audit()
    assert len(kept.read_bytes().splitlines()) == 2
    changes = {toml: "\n# other\n", folder / "rows.json": " ", folder / "book.ipynb": " ", folder / "wrappers.py": "\n",
               folder / "inner" / "helper.py": "\n", folder / "toydp.py": "\n"}  # fmt: skip
    for path, more in changes.items():
        text = path.read_text()
        path.write_text(text + more)
        with pytest.raises(InvalidParameter, match=r"--resume .* give another file"):
            audit()
        path.write_text(text)
    audit()
    kept.write_text("a file of somebody's")
    with pytest.raises(InvalidParameter, match="--resume"):
        audit()
    assert kept.read_text() == "a file of somebody's"


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_witness_writes_out_short_data_and_reads_long_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either way its lines give the data again; the short ones need no file."""
    scope: Any = SimpleNamespace(path=tmp_path / "audit.toml")
    monkeypatch.chdir(tmp_path)
    for count, written in ((3, True), (200, False)):
        rows = [[0.5, float(number)] for number in range(count)]
        entry: Any = SimpleNamespace(place=0, records=rows)
        lines = _lines(scope, entry, rows=np.array(rows))
        assert ("[0.5, 2.0]" in lines[0]) == written and len(lines[0]) < 400
        if not written:
            scope.path.write_text(f"[[entry]]\nrecords = {rows}\n")
        names: dict[str, Any] = {"np": np}
        exec("\n".join(lines), names)
        assert names["rows"].tolist() == rows


def test_what_was_kept_is_refused_once_another_module_changes(tmp_path: Path) -> None:
    """A helper outside of the package and of the folder of audit.toml, which the audited function draws noise with."""
    folder, elsewhere = tmp_path / "audit", tmp_path / "elsewhere"
    shutil.copytree(TOY, folder)
    elsewhere.mkdir()
    (elsewhere / "outer_helper.py").write_text("HELP = 1\n")
    wrappers = folder / "wrappers.py"
    wrappers.write_text(
        f"import sys\nsys.path.insert(0, {str(elsewhere)!r})\nimport outer_helper\n" + wrappers.read_text()
    )
    kept = tmp_path / "kept.jsonl"

    def audit() -> None:
        audit_package(folder / "audit.toml", only="count", stages=("structural",), resume=kept)

    audit()
    whole = kept.read_text()
    audit()
    assert kept.read_text() == whole
    (elsewhere / "outer_helper.py").write_text("HELP = 2\n")
    with pytest.raises(InvalidParameter, match=r"--resume .* another text or version of .*outer_helper"):
        audit()
    (elsewhere / "outer_helper.py").write_text("HELP = 1\n")
    head, line = whole.splitlines()
    entry = json.loads(line)
    damaged = [3, [], {}, {**entry, "entry": []}, {**entry, "loaded": 3}, {**entry, "coverage": [{}]},
               {**entry, "coverage": 3}, {**entry, "figures": None, "location": 3}]  # fmt: skip
    for one in [*(json.dumps(one) for one in damaged), line[:-1] + ', "entry": "count"}', "[" * 100_000]:
        kept.write_text(f"{head}\n{one}\n")
        with pytest.raises(InvalidParameter, match=r"--resume .* not a file that an audit wrote"):
            audit()
