"""`pytest --refdp` in a suite of its own: skipped without the option, with it the broken test and the audit fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """
import numpy as np
import pytest

PAIR = ([0.0], [1.0])

def laplace(records, seed):
    return np.round(sum(records) + np.random.default_rng(seed).laplace(0, 1), 3)

def test_private(refdp):
    refdp.assert_dp(laplace, PAIR, epsilon=1.0, low_bits=False)

def test_broken(refdp):
    refdp.assert_dp(laplace, PAIR, epsilon=0.3, low_bits=False)

@pytest.mark.parametrize("epsilon", np.array([1.0]))
def test_numpy(refdp, epsilon):
    refdp.assert_dp(laplace, PAIR, epsilon=epsilon, low_bits=False)

def test_sensitivity(refdp):
    assert refdp.assert_sensitivity(sum, [PAIR], 1.0) == 1.0

@pytest.mark.refdp
def test_marked():
    pass

def test_plain():
    pass
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    shutil.copytree(Path(__file__).parent / "toy", folder / "audit")
    text = (folder / "audit" / "audit.toml").read_text()
    head, total, _, _, count = text.split("[[entry]]")
    (folder / "audit" / "audit.toml").write_text("[[entry]]".join([head, total, count]))
    (folder / "test_suite.py").write_text(SUITE)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers --strict-config\nfilterwarnings = error\n")
    return folder


def outcome(suite: Path, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "refdp.pytest_plugin", "-p", "no:cacheprovider", *options]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # whether or not refdp is installed as a plugin
    return subprocess.run(command, cwd=suite, capture_output=True, text=True, check=False, env=alone).stdout


def test_without_the_option_privacy_is_skipped(suite: Path) -> None:
    told = outcome(suite)
    assert "1 passed, 5 skipped" in told


def test_with_it_broken_code_and_audits_fail(suite: Path) -> None:
    told = outcome(suite, "--refdp", "--refdp-samples", "2000")
    assert "3 failed, 5 passed" in told, told
    for name in ("test_broken", "audit: total", "audit: count"):
        assert name in told
    assert "not (0.3, 0) private" in told and "toydp.py:" in told and "no proof of privacy" in told
    assert "refdp/audit/package" not in told.partition("short test summary")[0]


def test_the_summary_is_the_same_from_two_processes(suite: Path) -> None:
    told = outcome(suite, "--refdp", "--refdp-samples", "2000", "-n", "2", "-k", "private or numpy", "-p", "xdist")
    assert "no proof of privacy" in told and "test_private: epsilon >= " in told and "2 passed" in told, told
