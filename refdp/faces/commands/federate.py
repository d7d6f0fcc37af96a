"""`refdp federate new DIR | check`: a Flower app of participants that add their noise themselves, and a run of it."""

from __future__ import annotations

import secrets
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from refdp.errors import InvalidParameter
from refdp.faces.commands.options import Json
from refdp.faces.commands.output import emit

EXAMPLE: dict[str, Any] = {
    "run": "example",
    "paper": "fedgbdt",
    "settings": {"epsilon": 4.0, "relation": "add-remove", "trees": 20, "depth": 3, "batch": 5},
    "schema": {
        "features": [
            {"name": "age", "low": 0.0, "high": 120.0},
            {"name": "work", "categories": ["state", "private", "none"]},
        ],
        "target": {"values": ["no", "yes"]},
    },
    "participants": 3,
    "honest": 2,
}


def federate(
    what: Annotated[str, typer.Argument(metavar="new|check", help="Write an app, or run one on made-up records.")],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The app's directory.")] = Path("."),
    as_json: Json = False,
) -> int:
    """A Flower app whose participants add their shares of the noise (`new`), or a check of it on made-up records."""
    if what not in ("new", "check"):
        raise InvalidParameter(f"federate {what}: new or check is allowed")
    result = new(directory) if what == "new" else check(directory)
    text = "\n".join(f"{name}: {value}" for name, value in result.items())
    emit(result, text, as_json)
    return 0 if result.get("ok", True) else 1


def new(directory: Path) -> dict[str, Any]:
    """Write the files. Errors: InvalidParameter if one of them is there."""
    from refdp.engines.flower import files

    run = EXAMPLE | {"run": f"run {secrets.token_hex(8)}"}
    written = files(run)
    there = next((name for name in written if (directory / name).exists()), None)
    if there is not None:
        raise InvalidParameter(f"{directory / there}: it is there already; a new directory is needed")
    for name, text in written.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text, encoding="utf-8")
    return {"directory": str(directory), "files": sorted(written),
            "next": f"edit {directory / 'refdp_app' / 'run.json'}, then refdp federate check {directory}"}  # fmt: skip


def check(directory: Path) -> dict[str, Any]:
    """Run the app, in Flower's simulation where that is installed, and the same participants without Flower.

    Errors: InvalidParameter unless Flower is installed and the run can be planned.
    """
    from refdp.engines.federated import LocalHost, Participant
    from refdp.engines.flower import Run, flower, made_up, protection, records_of, simulate
    from refdp.engines.journal import ReleaseJournal

    path = (directory / "refdp_app" / "run.json").resolve()
    run = Run.read(path)
    flower()
    with tempfile.TemporaryDirectory() as name, ExitStack() as held:
        folder = Path(name)

        def local(who: str) -> ReleaseJournal:
            """Two journals with one secret: the app's, and that of the run without Flower."""
            secret = secrets.token_bytes(32)
            ReleaseJournal(folder / f"{who}.journal", run.name, secret=secret).close()
            return held.enter_context(ReleaseJournal(folder / f"{who}.local", run.name, secret=secret))

        participants, plan = [], run.asks
        for number in range(run.participants):
            data = folder / f"{number}.csv"
            data.write_text(made_up(run.schema, 200, number), encoding="utf-8")
            load = partial(records_of, data, run.schema)
            participants.append(Participant(plan, local(str(number)), load, run.participants, run.honest))
        mine, population = run.model(LocalHost(participants), journal=local("server"))
        start = time.perf_counter()
        engine = simulate(path, folder)
        seconds = time.perf_counter() - start
        same = (folder / "model.json").read_text(encoding="utf-8") == mine.to_json()
    traffic = population.traffic
    return {"ok": same, "paper": run.paper, "engine": engine, "participants": run.participants, "honest": run.honest,
            "rounds": traffic.rounds, "bytes_to_participants": traffic.received, "bytes_back": traffic.sent,
            "seconds": round(seconds, 1), "protection": protection()}  # fmt: skip
