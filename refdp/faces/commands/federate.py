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
    sentences = {"notes": "note", "assumptions": "assuming"}
    lines = ([f"{sentences[name]}: {one}" for one in value] if name in sentences else [f"{name}: {value}"]
             for name, value in result.items())  # fmt: skip
    text = "\n".join(line for some in lines for line in some)
    emit(result, text, as_json)
    if result.get("ok", True):
        return 0
    return 3 if result.get("same") and result.get("not_examined") else 1


def new(directory: Path) -> dict[str, Any]:
    """Write the files. Errors: InvalidParameter if one of them is there, or the directory cannot be written."""
    from refdp.engines.new_app import files

    run = EXAMPLE | {"run": f"run {secrets.token_hex(8)}"}
    written = files(run)
    there = next((name for name in written if (directory / name).exists()), None)
    if there is not None:
        raise InvalidParameter(f"{directory / there}: it is there already; a new directory is needed")
    try:
        for name, text in written.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidParameter(f"federate new {directory}: cannot be written: {error.strerror}") from error
    return {"directory": str(directory), "files": sorted(written),
            "next": f"edit {directory / 'refdp_app' / 'run.json'}, then refdp federate check {directory}"}  # fmt: skip


def check(directory: Path) -> dict[str, Any]:
    """Run what run.json says, in Flower's simulation where that is installed, and the same participants without Flower.

    ok: the same bytes, the established epsilon at most the one that is claimed, and nothing that is not examined: the
    app's own files are not run, so that they have to be those that `new` writes.
    Errors: InvalidParameter unless Flower is installed and the run can be planned.
    """
    from refdp.engines.federated import LocalHost, Participant
    from refdp.engines.flower import OWNED, Run, flower, protection, records_of, simulate
    from refdp.engines.journal import ReleaseJournal
    from refdp.engines.new_app import made_up

    path = (directory / "refdp_app" / "run.json").resolve()
    run = Run.read(path)
    flower()
    if run.paper == OWNED:
        return said(directory, run, check_owners(path, run))
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
    return said(directory, run, {
            "same": same, "paper": run.paper, "engine": engine, "participants": run.participants, "honest": run.honest,
            "rounds": traffic.rounds, "bytes_to_participants": traffic.received, "bytes_back": traffic.sent,
            "seconds": round(seconds, 1), "protection": protection()})  # fmt: skip


def said(directory: Path, run: Any, found: dict[str, Any]) -> dict[str, Any]:
    """What was found, with the guarantee of the run, what that takes for granted, and what nobody looked at."""
    from refdp.audit.replay import finite_or_name
    from refdp.engines.new_app import not_examined

    issued = run.certificate()
    claimed, established = issued.claimed, issued.established
    left = not_examined(directory)
    kept = established.epsilon <= claimed.epsilon * (1 + 1e-9) and established.delta <= claimed.delta
    shown = {
        name: {"epsilon": finite_or_name(one.epsilon), "delta": one.delta}
        for name, one in (("claimed", claimed), ("established", established))
    }
    told = {"notes": list(issued.notes), "assumptions": list(issued.assumptions)}
    return {"ok": found["same"] and kept and not left, **found, **shown, **told, "not_examined": left}


def check_owners(path: Path, run: Any) -> dict[str, Any]:
    """Run the app of owners that take turns, and the same owners without Flower."""
    from refdp.engines.flower import records_of, simulate
    from refdp.engines.journal import ReleaseJournal
    from refdp.engines.new_app import made_up
    from refdp.engines.owners import Afar, answered, mine

    with tempfile.TemporaryDirectory() as name:
        folder, owners = Path(name), []
        for k in range(run.participants):
            data, secret = folder / f"{k}.csv", secrets.token_bytes(32)
            data.write_text(made_up(run.schema, 200, k), encoding="utf-8")
            for place in (f"{k}.journal.secret", f"{k}.local.secret"):
                ReleaseJournal(folder / place, f"owner {k} of {run.name}", secret=secret).close()
            load, local = partial(records_of, data, run.schema), folder / f"{k}.local"
            owners.append(Afar(partial(answered, run, k, load, local)))
        outcome = mine(run, owners)
        start = time.perf_counter()
        engine = simulate(path, folder)
        seconds = time.perf_counter() - start
        same = (folder / "model.json").read_text(encoding="utf-8") == outcome.model.to_json()
    there, back, calls = (sum(one.size[k] for one in owners) for k in range(3))
    return {"same": same, "paper": run.paper, "engine": engine, "participants": run.participants, "rounds": calls,
            "bytes_to_participants": there, "bytes_back": back, "seconds": round(seconds, 1),
            "protection": "messages hold released values only, with their owner's noise"}  # fmt: skip
