"""`python -m benchmarks.reproduce`: selections, refusals, when a page is written, and what a check says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmarks.reproduce import __main__ as command
from benchmarks.reproduce.runs import Outcome, Run, execution
from benchmarks.reproduce.runs.kept import keep, kept_file, read_kept
from benchmarks.reproduce.runs.selection import Refused, select
from benchmarks.reproduce.study import STUDIES, study
from refdp.errors import InvalidRecords


class Small:
    """A study of eight runs a repeat, with a page that counts them."""

    def __init__(self) -> None:
        self.executed: list[Run] = []
        self.absent = ""

    def runs(self, repeats: int) -> list[Run]:
        return [
            Run.of("dpboost", experiment, fold, repeat, dataset=name)
            for repeat in range(repeats) for experiment in ("main", "more") for name in ("abalone", "adult")
            for fold in range(2)
        ]  # fmt: skip

    def look(self, name: str) -> None:
        if name == self.absent:
            raise InvalidRecords(f"{name}: cannot be fetched\nfrom anywhere")

    def program(self, run: Run) -> str:
        return "p"

    def execute(self, run: Run) -> dict[str, float]:
        self.executed.append(run)
        return {"loss": run.seed / 3}

    def write(self, outcomes: Mapping[Run, Outcome], docs: Path) -> Path:
        (docs / "dpboost.md").write_text(f"{len(outcomes)} results")
        return docs / "dpboost.md"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Small:
    found = Small()
    monkeypatch.setattr(command, "study", lambda paper: found)
    monkeypatch.setattr(execution, "study", lambda paper: found)
    monkeypatch.setenv("RUNS", "1")
    return found


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory as the project's, with a page that is there already."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "dpboost.md").write_text("the page as it was")
    monkeypatch.setattr(command, "ROOT", tmp_path)
    return tmp_path


def run(here: Path, *arguments: str) -> int:
    """The status of the command on dpboost."""
    return command.main(["dpboost", *arguments, "--kept", str(here / "kept"), "--jobs", "1"])


def page(here: Path) -> str:
    return (here / "docs" / "dpboost.md").read_text()


# --- Selections -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", STUDIES)
def test_every_study_calls_its_data_set_dataset_and_the_helps_example_selects(paper: str) -> None:
    runs = study(paper).runs(1)
    assert all("dataset" in dict(one.cell) and "data" not in dict(one.cell) for one in runs)
    example = "dataset=abalone"
    assert f"--only {example}" in str(command.__doc__)
    if any(one["dataset"] == "abalone" for one in runs):
        assert {one["dataset"] for one in select(runs, [example])} == {"abalone"}
    else:
        with pytest.raises(Refused, match="no run has it; values are"):
            select(runs, [example])


def test_values_of_one_name_are_alternatives_and_names_are_conditions() -> None:
    runs = Small().runs(1)
    assert len(select(runs, [])) == 8
    assert len(select(runs, ["dataset=adult", "dataset=abalone"])) == 8
    assert [one.fold for one in select(runs, ["dataset=adult", "experiment=main"])] == [0, 1]


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ("data=abalone", "--only data: no run has such a setting; names are dataset, experiment, fold, repeat"),
        ("dataset=abalon", "--only dataset=abalon: no run has it; values are abalone, adult"),
        ("dataset", "--only 'dataset': NAME=VALUE is needed"),
    ],
)
def test_a_mistyped_filter_is_one_line_and_destroys_no_page(
    small: Small, here: Path, capsys: pytest.CaptureFixture[str], only: str, message: str
) -> None:
    for more in ([], ["--page"]):
        assert run(here, "--only", only, *more) == 2
        shown = capsys.readouterr().err
        assert shown == f"reproduce: dpboost: {message}\n"
    assert page(here) == "the page as it was" and small.executed == []


def test_no_run_that_has_all_settings_is_an_error() -> None:
    runs = [Run.of("p", "a", 0, 0, dataset="x"), Run.of("p", "b", 0, 0, dataset="y")]
    with pytest.raises(Refused, match="no run has all of these settings"):
        select(runs, ["experiment=a", "dataset=y"])


# --- Pages ------------------------------------------------------------------------------------------------------------


def test_a_page_is_written_only_from_what_it_needs_and_then_its_results_are_kept(small: Small, here: Path) -> None:
    assert run(here, "--only", "dataset=abalone") == 0
    assert page(here) == "the page as it was"
    assert run(here, "--page") == 2 and page(here) == "the page as it was"
    assert run(here, "--page", "--docs", str(here / "other")) == 0
    assert (here / "other" / "dpboost.md").read_text() == "4 results" and not (here / "kept").exists()
    assert run(here) == 0 and page(here) == "8 results"
    assert len(small.executed) == 8, "what was done is not done again"
    assert set(read_kept(kept_file("dpboost", here / "kept"))) == set(small.runs(1))


def test_kept_results_are_not_done_again_and_fewer_repeats_throw_none_away(
    small: Small, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNS", "2")
    assert run(here) == 0 and page(here) == "16 results"
    (here / "results" / "dpboost.jsonl").unlink()
    monkeypatch.setenv("RUNS", "1")
    assert run(here) == 0 and page(here) == "16 results"
    assert len(small.executed) == 16


def test_a_missing_data_set_is_one_line_before_the_work(
    small: Small, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.absent = "adult"
    assert run(here) == 2
    shown = capsys.readouterr().err
    assert shown.splitlines()[-1] == "reproduce: adult: cannot be fetched from anywhere" and "Traceback" not in shown
    assert small.executed == [] and page(here) == "the page as it was"


def test_what_the_page_needs_is_looked_for_before_the_work(
    small: Small, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> ModuleType:
        raise ImportError(f"No module named {name!r}")

    with monkeypatch.context() as without:
        without.setattr(command.importlib, "import_module", absent)
        assert run(here) == 2
    assert "pip install -e '.[plots,bench]'" in capsys.readouterr().err
    (here / "file").write_text("")
    assert run(here, "--results", str(here / "file")) == 2
    assert "cannot be written to" in capsys.readouterr().err
    assert small.executed == []


def test_the_first_line_says_how_much_there_is_to_do(
    small: Small, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(here)
    assert capsys.readouterr().err.startswith("dpboost: 8 of 8 runs to do, about 1 minutes of processor time")


@pytest.mark.parametrize("value", ["0", "x", "-1", "1.5", ""])
def test_a_bad_number_of_repeats(small: Small, here: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("RUNS", value)
    assert run(here) == 2 and small.executed == []


# --- Checks -----------------------------------------------------------------------------------------------------------


def test_a_check_of_nothing_fails(small: Small, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(here, "--check", "50") == 1
    assert "nothing was checked" in " ".join(capsys.readouterr().err.split())
    strange = Run.of("dpboost", "gone", 0, 0, dataset="adult")
    keep([Outcome(strange, {"loss": 1.0}, 0.1, "p")], kept_file("dpboost", here / "kept"))
    assert run(here, "--check", "50") == 1
    assert run(here, "--check", "0") == 2 and small.executed == []


def test_a_check_finds_a_figure_that_is_another_now(small: Small, here: Path) -> None:
    assert run(here) == 0
    (here / "results" / "dpboost.jsonl").unlink()
    assert run(here, "--check", "8") == 0
    path = kept_file("dpboost", here / "kept")
    first, *others = read_kept(path).values()
    keep([Outcome(first.run, {"loss": first.metrics["loss"] * (1 + 2**-52)}, 0.1, "p"), *others], path)
    assert run(here, "--check", "8") == 1


# --- The file ---------------------------------------------------------------------------------------------------------


def test_equal_results_are_equal_files_and_are_read_as_they_were(tmp_path: Path) -> None:
    outcomes = [Outcome(one, {"loss": one.seed / 7, "curve": [0.1, 1 / 3]}, 0.25, "p") for one in Small().runs(3)]
    keep(outcomes, tmp_path / "a")
    keep(reversed(outcomes), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert read_kept(tmp_path / "a") == {outcome.run: outcome for outcome in outcomes}
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes()[:-20])
    with pytest.raises(ValueError, match="kept results are damaged"):
        read_kept(tmp_path / "a")


# --- The pages of this repository -------------------------------------------------------------------------------------

NOT_KEPT = "The results behind this page are not kept in the repository yet"


@pytest.mark.parametrize("paper", STUDIES)
def test_the_page_follows_from_the_kept_results_byte_for_byte(paper: str, tmp_path: Path) -> None:
    """Where results are kept; a page without them says so in its head, and a check of it fails."""
    docs = command.ROOT / "docs" / f"{paper}.md"
    done: Mapping[Run, Outcome] = read_kept(kept_file(paper))
    if not done:
        assert NOT_KEPT in docs.read_text(encoding="utf-8")[:1500]
        assert command.main([paper, "--check", "1", "--results", str(tmp_path)]) == 1
        return
    assert NOT_KEPT not in docs.read_text(encoding="utf-8")
    current = study(paper)
    assert set(done) == set(current.runs(command.finished(current, done, command.MOST_REPEATS)))
    assert current.write(done, tmp_path).read_bytes() == docs.read_bytes()


def test_kept_files_are_a_few_megabytes_and_of_known_papers() -> None:
    files: list[Any] = sorted(kept_file("x").parent.glob("*.jsonl.xz"))
    assert {file.name.split(".")[0] for file in files} <= set(STUDIES)
    assert sum(os.path.getsize(file) for file in files) < 4_000_000
