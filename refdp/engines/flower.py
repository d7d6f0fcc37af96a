"""Participants and server as a Flower app: `refdp federate new DIR` writes it, `refdp federate check DIR` runs it.

A run is public data in a file, run.json: paper, settings, schema, how many participants, how many of them are counted
on. Each node's configuration names its own data and its journal, which holds its secret; neither is in a message.
Messages are the JSON requests and int64 sums of refdp/engines/federated.py. Sums travel plainly: see `protection`.
Telemetry and update checks of Flower are switched off before it is imported.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refdp.data.forms import schema_in
from refdp.data.records import Classes, Floats, Interval, Model, Numeric, Records, Schema, make_records
from refdp.engines.federated import Asks, Federation, Host, NoiseInside, Participant
from refdp.engines.journal import ReleaseJournal
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.faces import registry
from refdp.io.domains import read_json, values_of
from refdp.io.tables import read_table
from refdp.privacy.curator import Curator

QUIET = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
"""What Flower's environment has in everything that is started here."""
SHARED = ("fedgbdt", "sgbdt")
"""Papers all of whose releases are sums with additive noise."""


@dataclass(frozen=True)
class Run:
    """What run.json says."""

    name: str
    paper: str
    params: Any
    schema: Schema
    participants: int
    honest: int

    @classmethod
    def read(cls, path: Path) -> Run:
        """Errors: InvalidRecords for a file that is none, InvalidParameter for what no run has."""
        body = read_json(path)
        names = {"run", "paper", "settings", "schema", "participants", "honest"}
        if not isinstance(body, dict) or set(body) != names:
            raise InvalidRecords(f"{path}: {', '.join(sorted(names))} are needed")
        if body["paper"] not in SHARED:
            raise InvalidParameter(f"{path}: paper {body['paper']!r}: {' or '.join(SHARED)} is allowed, whose releases "
                                   "are sums with noise")  # fmt: skip
        params = registry.paper(body["paper"]).params(body["settings"], as_published=False)
        return cls(body["run"], body["paper"], params, schema_in(body["schema"]), body["participants"], body["honest"])

    @property
    def asks(self) -> Asks:
        """The plan that every side makes itself."""
        return Asks.of(registry.paper(self.paper).module.train_on, self.params, self.schema)

    def model(self, host: Host, seed: int | None = None) -> tuple[Model, Federation]:
        """Train with these participants. seed: of public draws."""
        population = Federation(self.asks, host, self.honest)
        curator = Curator(NoiseInside(np.random.default_rng(seed)), self.params.relation)
        model: Model = registry.paper(self.paper).module.train_on(self.params, self.schema, population, curator)
        return model, population


def records_of(path: Path, schema: Schema) -> Records:
    """A participant's CSV file: the schema's features by name, and the target in a column "target".

    Errors: InvalidRecords for a file that does not fit.
    """
    table = read_table(path)
    x: Floats = np.column_stack([values_of(table, feature) for feature in schema.features])
    target = schema.target
    y = table.numbers("target") if isinstance(target, Interval) else table.indices("target", target.values)
    return make_records(schema, x, y)


def flower() -> Any:
    """The package, quiet. Errors: InvalidParameter if it is not installed."""
    os.environ.update(QUIET)
    try:
        import flwr.app
        import flwr.clientapp
        import flwr.serverapp
    except ImportError:
        raise InvalidParameter("Flower is not installed: pip install 'refdp[flower]'") from None
    return flwr


def protection() -> str:
    """What protects what with the installed version, as a sentence."""
    flower()
    from flwr.common.secure_aggregation import secaggplus_utils

    version = importlib.metadata.version("flwr")
    source = inspect.getsource(secaggplus_utils.pseudo_rand_gen)
    weak = "seed32" in source or "RandomState" in source
    masks = "derives masks from seeds of 32 bits" if weak else "derives masks from seeds of more than 32 bits"
    return (
        "shares of noise protect the sum over participants; nothing protects a single participant's message, which has "
        f"only its share of the noise, against the server: sums travel plainly, and the SecAgg+ of Flower {version}, "
        f"which is not used here, {masks}"
    )


# --- Apps -------------------------------------------------------------------------------------------------------------


def client_app(path: Path) -> Any:
    """The ClientApp of a run. node configuration: data, a CSV file; journal, a file of the node's own."""
    flwr = flower()
    app = flwr.clientapp.ClientApp()
    run = Run.read(path)
    plan = run.asks

    @app.query()  # type: ignore[untyped-decorator]
    def answer(message: Any, context: Any) -> Any:
        data, place = Path(context.node_config["data"]), Path(context.node_config["journal"])
        with ReleaseJournal(place, run.name) as journal:
            own = records_of(data, run.schema)
            one = Participant(plan, journal, lambda: own, run.participants, run.honest)
            found = one.answer(str(message.content["ask"]["text"]))
        content = flwr.app.RecordDict()
        if isinstance(found, int):
            content["behind"] = flwr.app.ConfigRecord({"known": found})
        else:
            content["sums"] = flwr.app.ArrayRecord([found])
        return flwr.app.Message(content, reply_to=message)

    return app


def server_app(path: Path) -> Any:
    """The ServerApp of a run; the model is written to the file `out` of the run configuration."""
    flwr = flower()
    app = flwr.serverapp.ServerApp()

    @app.main()  # type: ignore[untyped-decorator]
    def main(grid: Any, context: Any) -> None:
        run = Run.read(path)
        model, _ = run.model(GridHost(grid, run.participants))
        Path(str(context.run_config["out"])).write_text(model.to_json(), encoding="utf-8")

    return app


class GridHost:
    """Participants behind a Flower grid. Who answers with an error, or not in time, has not answered."""

    def __init__(self, grid: Any, participants: int, timeout: float = 300.0) -> None:
        self._grid, self._timeout, self._app = grid, timeout, flower().app
        self._nodes = sorted(grid.get_node_ids())
        if len(self._nodes) != participants:
            raise InvalidParameter(f"{len(self._nodes)} nodes are there, the run is planned for {participants}")

    def nodes(self) -> Sequence[int]:
        """The nodes of the Flower clients."""
        return self._nodes

    def send(self, texts: Mapping[int, str]) -> dict[int, Any]:
        """A request to each client; the answers of those that answered."""
        app = self._app
        messages = [
            app.Message(
                app.RecordDict({"ask": app.ConfigRecord({"text": text})}),
                dst_node_id=node,
                message_type=app.MessageType.QUERY,
            )
            for node, text in texts.items()
        ]
        found: dict[int, Any] = {}
        for reply in self._grid.send_and_receive(messages, timeout=self._timeout):
            if reply.has_error():
                continue
            node, content = reply.metadata.src_node_id, reply.content
            behind = "behind" in content
            found[node] = int(content["behind"]["known"]) if behind else content["sums"].to_numpy_ndarrays()[0]
        return found


class HereGrid:
    """A Flower grid whose nodes are ClientApps in this process: what `refdp federate check` runs apps on."""

    def __init__(self, app: Any, configurations: Mapping[int, Mapping[str, str]]) -> None:
        self._app, self._flwr = app, flower()
        from flwr.supercore.task_identity import TaskIdentity

        TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, 1, 1  # what a SuperLink tells a process
        app = self._flwr.app
        self._contexts = {
            node: app.Context(run_id=1, node_id=node, node_config=dict(own), state=app.RecordDict(), run_config={})
            for node, own in configurations.items()
        }

    def get_node_ids(self) -> Iterable[int]:
        """As flwr's Grid."""
        return list(self._contexts)

    def send_and_receive(self, messages: Iterable[Any], *, timeout: float | None = None) -> Iterable[Any]:
        """As flwr's Grid; a client that fails is one that does not answer."""
        found = []
        for message in messages:
            node = message.metadata.dst_node_id
            found.append(self._app(message, self._contexts[node]))
        return found


# --- A new app --------------------------------------------------------------------------------------------------------

_PYPROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "refdp-federation"
version = "0.1.0"
dependencies = ["refdp[flower]"]

[tool.hatch.build.targets.wheel]
packages = ["."]

[tool.flwr.app]
publisher = "refdp"

[tool.flwr.app.components]
serverapp = "refdp_app.server_app:app"
clientapp = "refdp_app.client_app:app"

[tool.flwr.app.config]
out = "model.json"
"""
_APP = '''"""{what}"""

from pathlib import Path

from refdp.engines.flower import {name}

app = {name}(Path(__file__).with_name("run.json"))
'''


def files(run: Mapping[str, Any]) -> dict[str, str]:
    """The files of an app by path. run: what run.json says."""
    return {
        "pyproject.toml": _PYPROJECT,
        "refdp_app/__init__.py": "",
        "refdp_app/client_app.py": _APP.format(what="A participant.", name="client_app"),
        "refdp_app/server_app.py": _APP.format(what="The server.", name="server_app"),
        "refdp_app/run.json": json.dumps(run, indent=2) + "\n",
    }


def made_up(schema: Schema, rows: int, seed: int) -> str:
    """A CSV file of uniform values in the public bounds, for a check."""
    rng = np.random.default_rng(seed)
    target = schema.target
    columns: dict[str, Any] = {}
    for feature in schema.features:
        if isinstance(feature, Numeric):
            columns[feature.name] = _uniform(rng, feature, rows)
        else:
            columns[feature.name] = rng.choice(feature.categories, rows)
    columns["target"] = rng.choice(target.values, rows) if isinstance(target, Classes) else _uniform(rng, target, rows)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return "\n".join(lines) + "\n"


def _uniform(rng: np.random.Generator, bounds: Numeric | Interval, rows: int) -> Floats:
    return rng.uniform(bounds.low, bounds.high, rows)
