"""How a command starts: nothing is imported that it does not need, and shells complete what is typed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "numpy",
    "scipy",
    "sklearn",
    "pandas",
    "matplotlib",
    "refdp.papers",
    "refdp.accounting",
    "refdp.ledger.certificate",
)
STATISTICS = ("scipy.stats", "scipy.optimize", "sklearn", "pandas", "matplotlib", "refdp.audit.blackbox")
START = """
import sys
from refdp.faces import cli
cli.run(sys.argv[1:])
print("imported", *sys.modules)
"""


def imported(*arguments: str) -> set[str]:
    """Every module that is imported when these arguments have been dealt with."""
    shown = subprocess.run([sys.executable, "-c", START, *arguments], capture_output=True, text=True, check=True)
    return set(shown.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("--help",),
        *((command, "--help") for command in ("train", "predict", "audit", "claims", "account")),
        ("audit", "dpboost", "--callable", "a:b"),
        ("predict",),
    ],
)
def test_help_and_faults_of_the_command_line_import_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert not imported(*arguments) & set(HEAVY)


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "dpboost", "--data", "nonesuch", "--epsilon", "1"),
        ("audit", "dpboost", "--pairs", "0"),
        ("claims", "--show", "dpboost/lemma-1"),
        ("predict", "nonesuch.json", "--data", "nonesuch.csv"),
        ("account", "--gaussian", "1", "--delta", "2"),
    ],
)
def test_commands_import_no_statistics_before_their_first_line(arguments: tuple[str, ...]) -> None:
    assert not imported(*arguments) & set(STATISTICS)


def test_the_look_at_modules_sees_one_that_is_imported() -> None:
    assert "numpy" in imported("train", "dpboost", "--data", "nonesuch", "--epsilon", "1")


# --- Completion -------------------------------------------------------------------------------------------------------


def refdp(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own; the home is another, and the shell is not looked for."""
    given = os.environ | {"HOME": str(home), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1", **environment}
    call = "import sys; from refdp.faces.cli import main; main(sys.argv[1:])"
    return subprocess.run([sys.executable, "-c", call, *arguments], capture_output=True, text=True, env=given)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("refdp a", ["audit", "account"]),
        ("refdp train dp", ["dpboost", "dpxgboost"]),
        ("refdp audit s", ["sgbdt"]),
        ("refdp train dpboost --relation re", ["replace-one"]),
        ("refdp claims --paper f", ["fedgbdt"]),
    ],
)
def test_a_shell_is_offered_what_fits(tmp_path: Path, typed: str, offered: list[str]) -> None:
    shown = refdp(tmp_path, _REFDP_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=str(len(typed.split()) - 1))
    assert (shown.returncode, shown.stdout.split(), shown.stderr) == (0, offered, "")


def test_completion_is_shown_and_installed(tmp_path: Path) -> None:
    shown = refdp(tmp_path, "--show-completion", "bash")
    assert shown.returncode == 0 and "_REFDP_COMPLETE=complete_bash" in shown.stdout
    installed = refdp(tmp_path, "--install-completion", "bash")
    assert installed.returncode == 0
    assert "complete_bash" in (tmp_path / ".bash_completions" / "refdp.sh").read_text()
