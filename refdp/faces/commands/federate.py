"""`refdp federate new DIR | check`: a Flower app of participants that add their noise themselves, and a run of it."""

from __future__ import annotations

import secrets
import tempfile
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
    what: Annotated[str, typer.Argument(metavar="new|check", help="Write an app, or run one in this process.")],
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
    """Run the app's ClientApp and ServerApp in this process, and the same participants without Flower.

    Errors: InvalidParameter unless Flower is installed and the run can be planned.
    """
    from refdp.engines.federated import LocalHost, Participant
    from refdp.engines.flower import GridHost, HereGrid, Run, client_app, made_up, protection, records_of
    from refdp.engines.journal import ReleaseJournal

    path = directory / "refdp_app" / "run.json"
    run = Run.read(path)
    app = client_app(path)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        configurations, participants = {}, []
        for number in range(run.participants):
            data = folder / f"{number}.csv"
            data.write_text(made_up(run.schema, 200, number), encoding="utf-8")
            secret = secrets.token_bytes(32)
            place = folder / f"{number}.journal"
            ReleaseJournal(place, run.name, secret=secret).close()
            configurations[number + 2] = {"data": str(data), "journal": str(place)}
            journal = ReleaseJournal(folder / f"{number}.local", run.name, secret=secret)
            load = partial(records_of, data, run.schema)
            participants.append(Participant(run.asks, journal, load, run.participants, run.honest))
        theirs, population = run.model(GridHost(HereGrid(app, configurations), run.participants), seed=1)
        mine, _ = run.model(LocalHost(participants), seed=1)
        for one in participants:
            one._journal.close()
    same = theirs.to_json() == mine.to_json()
    traffic = population.traffic
    return {"ok": same, "paper": run.paper, "participants": run.participants, "honest": run.honest,
            "rounds": traffic.rounds, "bytes_to_participants": traffic.received, "bytes_back": traffic.sent,
            "protection": protection()}  # fmt: skip
