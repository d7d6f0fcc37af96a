"""Flower's deployment engine on this machine: the bytes of a run without it, kills, rounds, bytes and latency.

    python -m benchmarks.flower_engine [--participants 3] [--paper NAME] [--kill] [--write PAGE]

Needs the extra `flower`. 2 minutes for 3 participants on two quiet cores: Flower starts a process for every message.
A SuperLink and a SuperNode a participant are started on the loopback, without encryption, and `flwr run` deploys the
app of `refdp federate new`. --kill: once a round is on the server's disk, SIGKILL takes one SuperNode, with the client
that it runs, and the server's process; the node starts again, and the app is run again. The model is compared with that
of participants without Flower that have the same secrets.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from refdp.engines.federated import LocalHost, Participant
from refdp.engines.flower import QUIET, Run, records_of
from refdp.engines.journal import ReleaseJournal
from refdp.engines.new_app import files, made_up
from refdp.faces.commands.federate import EXAMPLE

PAPERS: dict[str, dict[str, Any]] = {
    "batched": {"paper": "fedgbdt", "settings": EXAMPLE["settings"]},
    "histograms": {"paper": "fedgbdt", "settings": {**EXAMPLE["settings"], "trees": 2, "splits": "histogram"}},
    "sgbdt": {"paper": "sgbdt", "settings": {"epsilon": 4.0, "delta": 1e-4, "relation": "add-remove", "trees": 3}},
}
PATIENCE = 1200.0


class Deployed:
    """A SuperLink and its SuperNodes, processes of ours that end with it."""

    def __init__(self, folder: Path, participants: int) -> None:
        self.folder, self.count, self.port = folder, participants, free()
        self.environment = os.environ | QUIET | {"FLWR_HOME": str(folder / "home")}
        self.environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        (folder / "home").mkdir()
        connection = (
            f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "127.0.0.1:{self.port}"\ninsecure = true\n'
        )
        (folder / "home" / "config.toml").write_text(connection)
        self.link = self.start(
            "flower-superlink", "--port", str(self.port), "--disable-runtime-dependency-installation"
        )
        self.nodes = [self.node(k) for k in range(participants)]

    def start(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        """A process with a session of its own, so that it is ended with all that it started."""
        log = (self.folder / f"{program}.log").open("ab")
        found = shutil.which(program, path=self.environment["PATH"]) or program
        return subprocess.Popen(
            [found, "--insecure", *arguments], env=self.environment, stdout=log, stderr=log, start_new_session=True
        )

    def node(self, k: int) -> subprocess.Popen[bytes]:
        """One participant."""
        own = f'data="{self.folder / f"{k}.csv"}" journal="{self.folder / f"{k}.journal"}"'
        return self.start("flower-supernode", "--superlink", f"127.0.0.1:{self.port}", "--port", str(free()),
                          "--node-config", own)  # fmt: skip

    def run(self) -> None:
        """Submit the app."""
        out = f'out="{self.folder / "model.json"}" journal="{self.folder / "server.journal"}"'
        command = ["flwr", "run", str(self.folder / "app"), "here", "--run-config", out]
        subprocess.run(command, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def kill_server(self) -> bool:
        """SIGKILL of the ServerApp's process, the one that has this environment."""
        for place in Path("/proc").glob("[0-9]*"):
            try:
                named, own = (place / "cmdline").read_bytes(), (place / "environ").read_bytes()
            except OSError:
                continue
            if b"flwr-serverapp" in named and os.fsencode(self.environment["FLWR_HOME"]) in own:
                os.kill(int(place.name), signal.SIGKILL)
                return True
        return False

    def close(self) -> None:
        """End all of them."""
        for one in [*self.nodes, self.link]:
            end(one)


def end(one: subprocess.Popen[bytes]) -> None:
    """SIGKILL of a process's whole session."""
    with suppress(ProcessLookupError):
        os.killpg(one.pid, signal.SIGKILL)
    one.wait()


def free() -> int:
    """A port of the loopback that nobody has now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def until(true: Callable[[], bool], what: str) -> None:
    """Wait. Errors: TimeoutError."""
    end_ = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > end_:
            raise TimeoutError(f"{what}: not in {PATIENCE:.0f} seconds")
        time.sleep(0.2)


def rounds_on_disk(journal: Path) -> int:
    """Whole rounds in a server's journal."""
    return journal.read_text().count('"round"') if journal.exists() else 0


def main() -> None:
    """Print a row, and add it to a page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--participants", type=int, default=3)
    parser.add_argument("--paper", choices=PAPERS, default="batched")
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        honest = given.participants if not given.kill else given.participants - 1
        body = {**EXAMPLE, **PAPERS[given.paper], "run": secrets.token_hex(8), "participants": given.participants,
                "honest": max(1, honest)}  # fmt: skip
        for place, text in files(body).items():
            (folder / "app" / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / "app" / place).write_text(text)
        run = Run.read(folder / "app" / "refdp_app" / "run.json")
        plan, everybody = run.asks, []

        def twin(who: str) -> ReleaseJournal:
            secret = secrets.token_bytes(32)
            ReleaseJournal(folder / f"{who}.journal", run.name, secret=secret).close()
            return ReleaseJournal(folder / f"{who}.local", run.name, secret=secret)

        for k in range(given.participants):
            (folder / f"{k}.csv").write_text(made_up(run.schema, 200, k))
            load = partial(records_of, folder / f"{k}.csv", run.schema)
            everybody.append(Participant(plan, twin(str(k)), load, run.participants, run.honest))
        host = LocalHost(everybody)
        server = twin("server")
        deployed = Deployed(folder, given.participants)
        try:
            time.sleep(5)
            start = time.perf_counter()
            deployed.run()
            if given.kill:
                until(lambda: rounds_on_disk(folder / "server.journal") > 0, "a first round")
                end(deployed.nodes[0])
                assert deployed.kill_server(), "no server to kill"
                deployed.nodes[0] = deployed.node(0)
                time.sleep(40)  # the SuperLink forgets the node that died
                deployed.run()
            until((folder / "model.json").exists, "a model")
            time.sleep(1)
            wall = time.perf_counter() - start
        finally:
            deployed.close()
        cohorts = [tuple(range(given.participants))] * len(plan.asks)
        with ReleaseJournal(folder / "server.journal", run.name) as kept:
            counts = [int(line["output"][0]) for line in kept._kept if "round" in line["asked"]]
        whole = counts == [len(one) for one in cohorts]
        model, population = run.model(host, journal=server)
        same = model.to_json() == (folder / "model.json").read_text()
        traffic, asked = population.traffic, len(plan.asks)
        row = [given.paper, given.participants, "a node and the server" if given.kill else "nobody", asked,
               traffic.received // asked, traffic.sent // asked, f"{wall / asked:.1f}",
               "equal" if same else "different cohorts" if not whole else "DIFFERENT"]  # fmt: skip
    text = f"| {' | '.join(map(str, row))} |"
    print(text)
    if given.write:
        with given.write.open("a", encoding="utf-8") as page:
            page.write(text + "\n")
    assert same or not whole, json.dumps(counts)


if __name__ == "__main__":
    main()
