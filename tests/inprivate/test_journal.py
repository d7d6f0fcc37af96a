"""What an owner has begun is on the disk before anything is released: killed at every point of every round."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.errors import JournalError, MessageError
from refdp.privacy.curator import Curator
from refdp.privacy.sources import SampleSource
from refdp.protocols.chained import Disk
from refdp.protocols.journal import FileJournal, digest_of
from refdp.protocols.owners import Owner
from tests.inprivate.cases import BINARY, made_up
from tests.inprivate.lives import RECORDS, RULES, P

ROOT = Path(__file__).parents[2]


def lives(folder: Path, *options: str) -> list[Any]:
    """`lives.main` in a process without threads, so that it can fork: [first, second, what was seen outside]."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-m", "tests.inprivate.lives", str(folder), *options],
        capture_output=True, text=True, cwd=ROOT, timeout=300,
        env={**os.environ, **threads, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def faults(seen: list[dict[str, Any]]) -> list[str]:
    """What three lives did together that one may not do."""
    released = Counter(line["release"] for line in seen if "release" in line)
    divisions = {tuple(line["division"]) for line in seen if "division" in line}
    found = [f"{name} released {count} times" for name, count in released.items() if count > 1]
    return found + (["records divided in two ways"] if len(divisions) > 1 else [])


@pytest.mark.parametrize("power", [False, True], ids=["kill", "power cut"])
def test_three_lives_killed_anywhere_never_release_the_same_twice(tmp_path: Path, power: bool) -> None:
    found = lives(tmp_path, *(["--power"] if power else []))
    assert len(found) > 60
    assert [(first, second, faults(seen)) for first, second, seen in found if faults(seen)] == []
    for _, _, seen in found:  # what was not begun by the dead is done by the living: a crash costs no more than it must
        last = [line for line in seen if line["life"] == 2]
        refused = {tuple(line["refused"]) for line in last if "refused" in line}
        assert (
            len(refused)
            + sum("advance" in line.get("release", "") for line in last)
            + sum("leaves" in line.get("release", "") for line in last)
            == 2 * P.rounds
        )


@pytest.mark.parametrize(
    ("mutant", "power"),
    [("forgetful", False), ("late", False), ("redivided", False), ("unsynced", True), ("unlisted", True)],
)
def test_journals_that_do_less_are_caught(tmp_path: Path, mutant: str, power: bool) -> None:
    found = lives(tmp_path, "--mutant", mutant, "--stride", "4", *(["--power"] if power else []))
    assert any(faults(seen) for _, _, seen in found)


# --- What the file is, and what it is not taken for -------------------------------------------------------------------


def opened(path: Path, **others: Any) -> FileJournal:
    return FileJournal(path, **{"run": RULES.run, "owner": 0, "records": RECORDS, **others})


def owner_of(journal: FileJournal, doors: ExitStack, *, guarded: bool = True) -> Owner:
    source = SampleSource(np.random.default_rng(1))
    curator = Curator(journal.guard(source) if guarded else source, P.relation)
    return Owner.behind(doors, RULES, P, 0, RECORDS, curator, journal)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal of an owner who has begun two rounds."""
    with ExitStack() as doors, opened(tmp_path / "journal") as journal:
        owner = owner_of(journal, doors)
        owner.answer(0)
        owner.answer(1)
    return tmp_path / "journal"


def test_what_was_begun_is_refused_in_the_next_life(path: Path) -> None:
    with ExitStack() as doors, opened(path) as journal:
        owner = owner_of(journal, doors)
        for number in (0, 1):
            with pytest.raises(MessageError, match=f"trees of round {number} was begun before: its budget is spent"):
                owner.answer(number)
        owner.answer(2)
        requests = [entry.request for entry in owner.curator.transcript.entries]
        released = [request.name for request in requests if request.kind == "release"]
        assert released == ["round 2/score 0/splits of level 0", "round 2/score 0/leaves"]


def test_only_its_user_may_read_it(path: Path) -> None:
    assert path.stat().st_mode & 0o777 == 0o600


def test_every_torn_end_is_cut_off_and_every_other_damage_refused(path: Path) -> None:
    whole = path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == 10]
    assert len(ends) == 4
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with opened(path) as journal:
            assert journal.begun == {(0, "trees"), (1, "trees")} if size >= ends[3] else len(journal.begun) < 2
            complete = sum(end <= size for end in ends)
            assert path.read_bytes() == whole[: ends[max(complete - 1, 0)]]
        path.write_bytes(whole[:size] + bytes([whole[size] ^ 1]) + whole[size + 1 :])
        if size + 1 == len(whole):  # the newline at the very end: the line is not whole
            continue
        with pytest.raises(JournalError, match=r"is damaged|lines before|it is a journal with another|not a journal"):
            opened(path)
    for lines in ([0, 1, 3], [0, 2, 3], [1, 2, 3], [0, 2, 1, 3], [0, 1, 2, 2, 3]):
        pieces = whole.splitlines(keepends=True)
        path.write_bytes(b"".join(pieces[line] for line in lines))
        with pytest.raises(JournalError, match="lines before it are missing"):
            opened(path)


def test_another_file_is_never_written_to(path: Path) -> None:
    for content in (b"a poem\n", b"a poem", b"0" * 400, b"\0" * 50, b'{"journal": 1}\n'):
        path.write_bytes(content)
        with pytest.raises(JournalError, match=r"damaged|not a journal"):
            opened(path)
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"run": "another"}, "it is a journal with another run"),
        ({"owner": 1}, "it is a journal with another owner"),
        ({"records": made_up(BINARY, 40, 2)}, "it is a journal with another records"),
        ({"records": RECORDS.take(range(39)), "owner": 3}, "another owner and another records"),
    ],
)
def test_a_journal_of_something_else_is_refused(path: Path, others: dict[str, Any], message: str) -> None:
    before = path.read_bytes()
    with pytest.raises(JournalError, match=message):
        opened(path, **others)
    assert path.read_bytes() == before


def test_the_digest_tells_one_value_from_another() -> None:
    other = RECORDS.take(range(40))
    assert digest_of(other) == digest_of(RECORDS)
    other.x[7, 2] = np.nextafter(other.x[7, 2], 9)
    assert digest_of(other) != digest_of(RECORDS)


def test_an_owner_needs_its_own_journal_and_a_guarded_source(path: Path, tmp_path: Path) -> None:
    with ExitStack() as doors, opened(path) as journal:
        with pytest.raises(JournalError, match=r"give the curator `journal\.guard"):
            owner_of(journal, doors, guarded=False)
        owner_of(journal, doors)
    other = opened(tmp_path / "other", owner=1)
    with ExitStack() as doors, other, pytest.raises(JournalError, match="it is of owner 1 in run"):
        owner_of(other, doors)


def test_records_are_never_divided_by_another_law(path: Path) -> None:
    with ExitStack() as doors, opened(path) as journal:
        curator = Curator(journal.guard(SampleSource(np.random.default_rng(1))), P.relation)
        with pytest.raises(JournalError, match=r"records were divided by \('partition', \(0.5"):
            doors.enter_context(curator.partition("round", (0.5, 0.5), 40))


def test_one_process_at_a_time(path: Path) -> None:
    with opened(path):
        with pytest.raises(JournalError, match="another process holds it"):
            opened(path)
        script = (
            "import sys; from refdp.errors import JournalError; from tests.inprivate.test_journal import *\n"
            "try: opened(Path(sys.argv[1]))\n"
            "except JournalError as error: print(error)"
        )
        done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, cwd=ROOT,
                              env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=60)  # fmt: skip
        assert "another process holds it" in done.stdout, done.stderr
    opened(path).close()


def test_a_process_that_was_forked_off_begins_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(path) as journal:
        monkeypatch.setattr(os, "getpid", lambda: 1)
        with pytest.raises(JournalError, match="belongs to another process"):
            journal.begin(2, "trees")


def test_what_was_begun_is_synced_by_the_operating_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk of the tests above stands for os.fsync: without it a line may be lost with the power."""
    done: list[str] = []
    write, sync = os.pwrite, os.fsync
    monkeypatch.setattr(os, "pwrite", lambda *given: (done.append("write"), write(*given))[1])
    monkeypatch.setattr(os, "fsync", lambda file: (done.append("sync"), sync(file))[1])
    with ExitStack() as doors, opened(tmp_path / "new") as journal:
        owner = owner_of(journal, doors)
        done.clear()
        owner.answer(0)
        assert done.count("sync") >= done.count("write") > 0 and done[-1] == "sync"


class Failing(Disk):
    """A disk whose n-th call of one kind fails."""

    def __init__(self, call: str, number: int) -> None:
        self.left, self._call = number, call

    def _passed(self, call: str) -> None:
        if call == self._call:
            self.left -= 1
            if self.left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def write(self, file: int, data: bytes, offset: int) -> int:
        self._passed("write")
        if self._call == "half":
            self.left -= 1
            return super().write(file, data[:9], offset) if self.left >= 0 else 0
        return super().write(file, data, offset)

    def sync(self, file: int) -> None:
        self._passed("sync")
        super().sync(file)


@pytest.mark.parametrize("call", ["write", "half", "sync"])
def test_nothing_is_released_when_the_disk_is_full(tmp_path: Path, call: str) -> None:
    """At every write and sync of a life: an OSError, no release after it, and the next life goes on."""
    for number in range(100):
        path = tmp_path / f"{number}"
        disk, outputs = Failing(call, number), 0
        with ExitStack() as doors:
            try:
                owner = owner_of(doors.enter_context(opened(path, disk=disk)), doors)
                entries = owner.curator.transcript.entries
                for round in range(P.rounds):
                    outputs = len(entries)
                    owner.answer(round)
            except OSError as error:
                assert error.errno == errno.ENOSPC
                if outputs:
                    assert len(entries) == outputs
                    with pytest.raises((JournalError, MessageError)):
                        owner.answer(2)
                    assert len(entries) == outputs
            else:
                break
        with ExitStack() as doors, opened(path) as journal:
            owner_of(journal, doors)
            journal.begin(P.rounds, "trees")  # a begin that failed may be spent, nothing else is
    assert number > 3
