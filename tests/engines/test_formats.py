"""What is on disks and between processes, written down once: chains of digests, a journal's randomness, an app's files.

Files of an earlier life, maybe of an earlier version, are read with these, so that a change of any of them breaks runs.
"""

from __future__ import annotations

import hashlib
import json
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.engines import dask
from refdp.engines.journal import ReleaseJournal, described
from refdp.engines.log import START, Enter, Leave, Log, chained, entry_in, entry_out
from refdp.engines.new_app import files
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.io.tables import read_table
from refdp.ledger.claims import _cites
from refdp.privacy.curator import Request
from refdp.protocols.chained import ChainedFile


def test_a_log_is_chained_from_32_zeros() -> None:
    log, before = Log(), "0" * 32
    assert before == START and log.digests == [before] and len(log) == 0
    for entry, text in ((Enter(3, 1), '{"block": 1, "kind": "enter", "scope": 3}'), (Leave(), '{"kind": "leave"}')):
        log.add(entry)
        before = hashlib.sha256(f"{before} {text}".encode()).hexdigest()[:32]
        assert log.digests[-1] == before and chained(log.digests[-2], entry) == before
        assert entry_in(json.loads(json.dumps(entry_out(entry)))) == entry
    assert len(log) == 2 and log.entries == [Enter(3, 1), Leave()]


class Lines(ChainedFile):
    """A chained file of any content."""

    def __init__(self, path: Path) -> None:
        self.seen: list[Any] = []
        super().__init__(path, {"about": "it"}, "nobody", None)

    def _note(self, content: dict[str, Any]) -> None:
        self.seen.append(content)


def test_a_file_is_chained_from_16_zeros_and_a_torn_line_is_cut(tmp_path: Path) -> None:
    def line(before: str, text: str) -> tuple[str, str]:
        digest = hashlib.sha256(f"{before} {text}".encode()).hexdigest()[:16]
        return f"{digest} {text}\n", digest

    path = tmp_path / "file"
    with Lines(path) as one:
        one._append({"b": 1, "a": [2]})
    first, digest = line("0" * 16, '{"about": "it"}')
    second, digest = line(digest, '{"a": [2], "b": 1}')
    assert path.read_text() == first + second
    third, _ = line(digest, '{"c": 3}')
    path.write_text(first + second + third[:9])
    with Lines(path) as one:
        assert path.read_text() == first + second and {"a": [2], "b": 1} in one.seen
        one._append({"c": 3})
    assert path.read_text() == first + second + third
    path.write_text(first[:7])  # not even the first line is whole
    with Lines(path) as one:
        one._append({"c": 3})
    assert path.read_text() == first + line(first[:16], '{"c": 3}')[0]


def test_randomness_of_a_journal_is_a_function_of_secret_run_and_number(tmp_path: Path) -> None:
    """A record of bits: a run that goes on in another version must toss the same."""
    with ReleaseJournal(tmp_path / "j", "a run", secret=bytes(range(32))) as journal:
        drawn = [journal.generator(number).integers(0, 2**32, 2).tolist() for number in (0, 1)]
        assert journal.generator(0).integers(0, 2**32, 2).tolist() == drawn[0]
    assert drawn == DRAWN


DRAWN = [[2334107347, 1493112922], [3565519861, 1892484490]]


def test_a_request_is_described_by_32_digits() -> None:
    request = Request("release", ("a", "b"), np.zeros((2, 3)), size=4, options=np.array([1.5]))
    text = "('release', ('a', 'b'), (), 4, (2, 3), [1.5])"
    assert described(request) == hashlib.sha256(text.encode()).hexdigest()[:32]
    nothing = "('assign', ('a',), (), 0, None, None)"
    assert described(Request("assign", ("a",))) == hashlib.sha256(nothing.encode()).hexdigest()[:32]


def test_a_table_is_strict_about_quotes_and_not_about_spaces(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text('a, b\n"1", "x, y"\n\n2,z\n')
    found = read_table(tmp_path / "good.csv")
    assert list(found.columns) == ["a", "b"] and list(found.columns["b"]) == ["x, y", "z"]
    (tmp_path / "bad.csv").write_text('a,b\n"1"2,x\n')
    with pytest.raises(InvalidRecords, match="cannot be read as CSV"):
        read_table(tmp_path / "bad.csv")


def test_an_apps_files() -> None:
    made = files({"run": "one", "honest": 2})
    assert (
        made["refdp_app/run.json"] == '{\n  "run": "one",\n  "honest": 2\n}\n' and made["refdp_app/__init__.py"] == ""
    )
    assert 'client_app(Path(__file__).with_name("run.json"))' in made["refdp_app/client_app.py"]
    assert 'server_app(Path(__file__).with_name("run.json"))' in made["refdp_app/server_app.py"]


# --- Which cluster ----------------------------------------------------------------------------------------------------


class Package:
    """As distributed: whether there is a present client, and what was made."""

    def __init__(self, present: Any) -> None:
        self.present, self.made = present, []

    def get_client(self) -> Any:
        if self.present is None:
            raise ValueError("no client")
        return self.present

    @contextmanager
    def Client(self, where: Any) -> Any:
        self.made.append(("client", where))
        yield f"client of {where}"
        self.made.append(("closed", where))

    @contextmanager
    def LocalCluster(self, **given: Any) -> Any:
        self.made.append(("cluster", given))
        yield "a cluster"


def test_a_client_is_of_an_address_or_the_present_one_or_of_a_cluster_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = Package("the present one")
    monkeypatch.setattr(dask, "needed", lambda: here)
    with dask.client_for() as client:
        assert client == "the present one"
    with dask.client_for("tcp://a:1") as client:
        assert client == "client of tcp://a:1" and here.made == [("client", "tcp://a:1")]
    assert here.made[-1] == ("closed", "tcp://a:1")
    with monkeypatch.context() as patched:
        patched.setattr(here, "Client", lambda address: int(address))
        with (
            pytest.raises(InvalidParameter, match="no Dask scheduler at 'a:b'"),
            dask.client_for("a:b"),
        ):
            pass
    none, configured = Package(None), []

    @contextmanager
    def put(config: Any) -> Any:
        configured.append(config)
        yield

    monkeypatch.setattr(dask, "needed", lambda: none)
    monkeypatch.setitem(sys.modules, "dask", SimpleNamespace(config=SimpleNamespace(set=put)))  # type: ignore[arg-type]
    for cores, workers, processes in ((7, 7, False), (None, 1, True)):
        none.made.clear()
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        with dask.client_for(**({"processes": True} if processes else {})) as client:
            assert client == "client of a cluster"
        assert none.made[0] == ("cluster", {"n_workers": workers, "threads_per_worker": 1, "processes": processes,
                                            "dashboard_address": None})  # fmt: skip
    assert configured == [dask.CLUSTER, dask.CLUSTER]
    assert dask.CLUSTER["distributed.worker.profile.enabled"] is False


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InvalidParameter, match=r"pip install 'refdp\[dask\]'"):
        dask.needed()


def test_a_line_cites_a_claim_by_its_whole_name() -> None:
    name = "laplace/scale"
    for line in (name, f'("{name}")', f"see {name}.", f" {name}/more", f"{name}_", f"{name} -"):
        assert _cites(line, name), line
    for line in ("", "laplace", f"x{name}", f"1{name}", f"{name}s", f"{name}2", f"{name}-of"):
        assert not _cites(line, name), line
