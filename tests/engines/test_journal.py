"""Exactly once: a driver that is killed anywhere gives the same model, and no number has two outputs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.engines.journal import ReleaseJournal
from refdp.errors import JournalError
from refdp.noise.mechanisms import Laplace
from refdp.privacy.curator import Curator, Request
from refdp.privacy.events import Relation, Sensitivity
from refdp.protocols.chained import Disk
from tests.engines.lives import SECRET, SETTINGS

ROOT = Path(__file__).parents[2]


def lives(*arguments: str) -> dict[str, int]:
    """What tests/engines/lives.py prints."""
    done = subprocess.run([sys.executable, "-m", "tests.engines.lives", *arguments], capture_output=True, text=True,
                          cwd=ROOT, timeout=300, env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, int] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("paper", SETTINGS)
def test_a_killed_driver_goes_on(tmp_path: Path, paper: str) -> None:
    """Killed before, during and after writes, syncs and releases, with and without a power cut."""
    found = lives(paper, str(tmp_path), "5")
    assert found["lives"] > 20
    assert (found["models"], found["twice"], found["lost"]) == (0, 0, 0)


def test_a_careless_journal_releases_twice(tmp_path: Path) -> None:
    assert lives("dpboost", str(tmp_path), "9", "careless")["twice"] > 0


def asked(scale: float = 1.0, shape: tuple[int, ...] = (3,), name: str = "sums") -> Request:
    mechanism = Laplace(scale)
    return Request("release", (name,), np.zeros(shape), mechanism, Sensitivity(1.0, 1, "claim", Relation.ADD_REMOVE))


def outputs(path: Path, requests: list[Request], **given: Any) -> list[Any]:
    with ReleaseJournal(path, "run", secret=SECRET) as journal:
        source = journal.source(exact=False, **given)
        return [source.release(request).tolist() for request in requests]


def test_a_retry_gets_what_is_stored(tmp_path: Path) -> None:
    first = outputs(tmp_path / "a", [asked(), asked(2.0)])
    assert first[0] != first[1]
    again = outputs(tmp_path / "a", [asked(), asked(2.0), asked()])
    assert again[:2] == first
    assert again[2] not in first
    with ReleaseJournal(tmp_path / "a", "run") as journal:
        assert journal.released == 3


@pytest.mark.parametrize(
    ("other", "given", "what"),
    [
        (asked(3.0), {}, "noise"),
        (asked(shape=(4,)), {}, "query"),
        (asked(name="leaves"), {}, "query"),
        (asked(), {"log": lambda: "another"}, "log"),
        (asked(), {"cohort": lambda: [1, 2]}, "cohort"),
    ],
)
def test_another_request_under_an_old_number_is_refused(tmp_path: Path, other: Request, given: Any, what: str) -> None:
    outputs(tmp_path / "a", [asked(), asked()])
    with pytest.raises(JournalError, match=f"release 0 was another one: {what} differ"):
        outputs(tmp_path / "a", [other], **given)


def test_another_past_under_an_old_number_is_refused(tmp_path: Path) -> None:
    """What was released before is part of what is asked."""
    outputs(tmp_path / "a", [asked(), asked()])
    lines = (tmp_path / "a").read_bytes().splitlines(keepends=True)
    with ReleaseJournal(tmp_path / "a", "run") as journal:
        source = journal.source(exact=False)
        source._before = "another"
        with pytest.raises(JournalError, match="before differ"):
            source.release(asked())
    (tmp_path / "b").write_bytes(b"".join([*lines[:2], lines[3]]))
    with pytest.raises(JournalError, match="line 3 is damaged"):
        ReleaseJournal(tmp_path / "b", "run")


def test_another_run_or_secret_is_refused(tmp_path: Path) -> None:
    outputs(tmp_path / "a", [asked()])
    with pytest.raises(JournalError, match="another run"):
        ReleaseJournal(tmp_path / "a", "other")
    with pytest.raises(JournalError, match="another secret"):
        ReleaseJournal(tmp_path / "a", "run", secret=bytes(32))


def test_a_secret_of_the_system_is_kept_and_private(tmp_path: Path) -> None:
    with ReleaseJournal(tmp_path / "a", "run") as journal:
        first = journal.generator(0).bytes(8)
        assert first != journal.generator(1).bytes(8)
    with ReleaseJournal(tmp_path / "a", "run") as journal:
        assert journal.generator(0).bytes(8) == first
    with ReleaseJournal(tmp_path / "b", "run") as other:
        assert other.generator(0).bytes(8) != first
    assert (tmp_path / "a").stat().st_mode & 0o077 == 0


def test_the_secret_coins_are_the_same_in_every_life(tmp_path: Path) -> None:
    masks = []
    for _ in range(2):
        with ReleaseJournal(tmp_path / "a", "run", secret=SECRET) as journal:
            curator = Curator(journal.source(), Relation.ADD_REMOVE)
            with curator.subsample("sample", 0.5, 100) as mask:
                masks.append(mask)
    assert np.array_equal(*masks) and 20 < masks[0].sum() < 80


@pytest.mark.parametrize("written", [0, -1])
def test_a_disk_that_takes_nothing_is_full(tmp_path: Path, written: int) -> None:
    """An error at once; what was asked is not released, and the journal takes nothing on any more."""

    class Full(Disk):
        full, calls = False, 0

        def write(self, file: int, data: bytes, offset: int) -> int:
            self.calls += self.full
            assert self.calls < 3, "it goes on for ever"
            return written if self.full else super().write(file, data, offset)

    disk = Full()
    with ReleaseJournal(tmp_path / "a", "run", secret=SECRET, disk=disk) as journal:
        source = journal.source(exact=False)
        source.release(asked())
        disk.full = True
        with pytest.raises(OSError, match="No space left on device"):
            source.release(asked())
        disk.full = False
        with pytest.raises(JournalError, match="closed, failed before"):
            source.release(asked())
    with ReleaseJournal(tmp_path / "a", "run") as journal:
        assert journal.released == 1
