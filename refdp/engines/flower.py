"""Participants and server as a Flower app: `refdp federate new DIR` writes it, `refdp federate check DIR` runs it.

A run is public data in a file, run.json: paper, settings, schema, how many participants, how many of them are counted
on. Each node's configuration names its own data and its journal, which holds its secret; neither is in a message.
Messages are the JSON requests and int64 sums of refdp/engines/federated.py. Sums travel plainly: see `protection`.
Telemetry and update checks of Flower are switched off before it is imported.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import inspect
import math
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from refdp.checks import check_count
from refdp.data.forms import schema_in
from refdp.data.records import Floats, Interval, Model, Records, Schema, make_records
from refdp.engines import owners
from refdp.engines.federated import Asks, Federation, Host, Known, NoiseInside, Participant, check_participants
from refdp.engines.journal import ReleaseJournal
from refdp.errors import InvalidParameter, InvalidRecords, MessageError, RefdpError
from refdp.faces import registry
from refdp.io.domains import read_json, values_of
from refdp.io.tables import read_table
from refdp.ledger.certificate import ALWAYS, Certificate
from refdp.noise.gridded import DiscreteLaplace
from refdp.privacy.curator import Curator
from refdp.protocols.owners import certificate as certificate_of_owners

QUIET = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1", "RAY_USAGE_STATS_ENABLED": "0"}
"""What the environment of Flower, and of Ray below it, has in everything that is started here."""
SHARED = ("fedgbdt", "sgbdt", "grove")
"""Trainers all of whose releases are sums with additive noise."""
PATIENCE = 60.0
"""Seconds to wait for nodes to connect."""
OWNED = "inprivate"
"""The paper whose participants train one after the other (refdp/engines/owners.py)."""

HONEST = "at least {} of those of the {} participants who answer a round add their share of the noise"
SERVER = (
    "the server is trusted: each participant's sums come to it with 1 / {} of the noise's variance, and against it the "
    "figure does not hold (where all noise is Gaussian, epsilon is about {:.2g} times as large)"
)
ENDED = "malformed records end the run with an error, which tells them from others; who has no records takes part"
SHARED_LAPLACE = "shares of discrete Laplace noise are negative binomials, drawn in floating point"
APART = (
    "each record is at one participant: nobody sees whether two have the same record, or read the same file, and it "
    "counts as often as it is there"
)
FROM_SECRETS = (
    "noise follows from a secret in a file of each participant, by a generator of numpy (Philox), which is not "
    "cryptographic: whoever has the file can subtract it"
)

TARGET = "target"
"""The column of labels in a participant's file."""


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
        if body["paper"] not in (*SHARED, OWNED):
            allowed = f"{', '.join(SHARED)}, whose releases are sums with noise, and {OWNED}, whose owners take turns,"
            raise InvalidParameter(f"{path}: paper {body['paper']!r}: {allowed} are allowed")
        for count in ("participants", "honest"):
            check_count(f"{path}: {count}", body[count])
        if not isinstance(body["run"], str) or not isinstance(body["settings"], dict):
            raise InvalidRecords(f"{path}: run is a name, settings are {{parameter: value}}")
        if body["paper"] != OWNED:
            check_participants(body["participants"])
        try:
            params = registry.paper(body["paper"]).params(body["settings"], as_published=False)
        except (TypeError, OverflowError, InvalidParameter) as error:
            raise InvalidParameter(f"{path}: settings: {error}") from None
        if body["paper"] == OWNED and params.owners != body["participants"]:
            given = f"{body['participants']} participants, owners = {params.owners}"
            raise InvalidParameter(f"{path}: {given}: as many are needed")
        try:
            schema = schema_in(body["schema"])
        except RefdpError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            form = "{features: [{name, low, high} or {name, categories}], target: {low, high} or {values}}"
            raise InvalidRecords(f"{path}: schema is {form} ({type(error).__name__}: {error})") from error
        if TARGET in schema.names:
            raise InvalidParameter(f"{path}: a feature {TARGET!r}: the column of that name has the labels")
        return cls(body["run"], body["paper"], params, schema, body["participants"], body["honest"])

    @property
    def asks(self) -> Asks:
        """The plan that every side makes itself."""
        return Asks.of(registry.paper(self.paper).module.train_on, self.params, self.schema)

    def certificate(self) -> Certificate:
        """Of the model that the app trains, with what is taken for granted where participants add the noise."""
        if self.paper == OWNED:
            return _in_the_app(certificate_of_owners(self.params, self.schema)).assuming(APART, FROM_SECRETS)
        issued = _in_the_app(registry.paper(self.paper).certificate(self.params, self.schema))
        mechanisms = {type(piece.request.mechanism) for one in self.asks.asks for piece in one.pieces}
        said = [SHARED_LAPLACE] if DiscreteLaplace in mechanisms else []
        if self.honest > 1:
            said.append(SERVER.format(self.honest, math.sqrt(self.honest)))
        return issued.assuming(HONEST.format(self.honest, self.participants), APART, *said, FROM_SECRETS)

    def model(
        self, host: Host, seed: int | None = None, journal: ReleaseJournal | None = None
    ) -> tuple[Model, Federation]:
        """Train with these participants. seed: of public draws, unless the server has a journal, which has its own."""
        population = Federation(self.asks, host, self.honest, journal)
        curator = Curator(NoiseInside(np.random.default_rng(seed), journal=journal), self.params.relation)
        model: Model = registry.paper(self.paper).module.train_on(self.params, self.schema, population, curator)
        return model, population


def _in_the_app(issued: Certificate) -> Certificate:
    other = {one: ENDED for one in ALWAYS if one.startswith("malformed records")}
    return replace(issued, assumptions=tuple(other.get(one, one) for one in issued.assumptions))


def records_of(path: Path, schema: Schema) -> Records:
    """A participant's CSV file: the schema's features by name, and the target in a column "target".

    There may be no record: who takes part does not follow from who has records.
    Errors: InvalidRecords for a file that does not fit.
    """
    table = read_table(path, least=0)
    x: Floats = np.column_stack([values_of(table, feature) for feature in schema.features])
    target = schema.target
    y = table.numbers(TARGET) if isinstance(target, Interval) else table.indices(TARGET, target.values)
    return make_records(schema, x, y) if len(y) else Records(schema, x, y)


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

    made = getattr(secaggplus_utils, "pseudo_rand_gen", None)
    return sentence(importlib.metadata.version("flwr"), "" if made is None else inspect.getsource(made))


def sentence(version: str, masks: str) -> str:
    """What protects what with a version of Flower. masks: source text of what makes its masks, empty if not found."""
    known = "seeds of 32 bits" if "seed32" in masks or "RandomState" in masks else "seeds of more than 32 bits"
    return (
        "shares of noise protect the sum over participants; nothing protects a single participant's message, which has "
        "only its share of the noise, against the server: sums travel plainly. SecAgg+ is not used: the sums of limbs "
        f"that it would show tell more than the sum, and that of Flower {version} derives masks from "
        f"{known if masks else 'what is not known here'}"
    )


# --- Apps -------------------------------------------------------------------------------------------------------------


def client_app(path: Path, folder: Path | None = None) -> Any:
    """The ClientApp of a run. node configuration: data, a CSV file; journal, a file of the node's own; owner, its
    position from 0, where owners take turns.

    folder: for simulations, whose nodes have a number alone: node k has k.csv and k.journal there.
    """
    flwr = flower()
    app = flwr.clientapp.ClientApp()
    run = Run.read(path)
    plan = None if run.paper == OWNED else run.asks

    @app.query()  # type: ignore[untyped-decorator]
    def answer(message: Any, context: Any) -> Any:
        node = context.node_config
        data, place = ((folder / f"{node['partition-id']}{end}" for end in (".csv", ".journal"))
                       if folder else (Path(node["data"]), Path(node["journal"])))  # fmt: skip
        if plan is None:
            position = int(node["partition-id" if folder else "owner"])
            return owners.reply(run, flwr, message, (position, data, place), lambda own: records_of(own, run.schema))
        text = str(message.content["ask"]["text"])
        own = owners.usable(lambda: records_of(data, run.schema))
        if own is None:
            refused = {"about": flwr.app.ConfigRecord({"digest": digest(text)}),
                       "refused": flwr.app.ConfigRecord({"records": 1})}  # fmt: skip
            return flwr.app.Message(flwr.app.RecordDict(refused), reply_to=message)
        with ReleaseJournal(place, run.name) as journal:
            one = Participant(plan, journal, lambda: own, run.participants, run.honest)
            found, about = one.answer(text), {"digest": digest(text), "journal": one.identity}
        content = flwr.app.RecordDict({"about": flwr.app.ConfigRecord(about)})
        if isinstance(found, int):
            content["behind"] = flwr.app.ConfigRecord({"known": found})
        else:
            content["sums"] = flwr.app.ArrayRecord([found])
        return flwr.app.Message(content, reply_to=message)

    return app


def digest(text: str) -> str:
    """Of a request: its answer carries it, so that an answer to another one is seen."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def server_app(path: Path, folder: Path | None = None) -> Any:
    """The ServerApp of a run. run configuration: `out`, the model's file; `journal`, the server's.

    A server that died goes on from its journal when the app is run again. folder: for simulations, which have no such
    configuration: model.json and server.journal are there.
    """
    flwr = flower()
    app = flwr.serverapp.ServerApp()

    @app.main()  # type: ignore[untyped-decorator]
    def main(grid: Any, context: Any) -> None:
        run = Run.read(path)
        given = context.run_config
        out, place = ((folder / "model.json", folder / "server.journal")
                      if folder else (Path(str(given["out"])), Path(str(given["journal"]))))  # fmt: skip
        if run.paper == OWNED:
            with owners.MinerJournal(place, run.name) as answers:
                there = owners.afar(grid, flwr, nodes_of(grid, run.participants))
                model = owners.mine(run, there, answers).model
            out.write_text(model.to_json(), encoding="utf-8", newline="\n")
            return
        with ReleaseJournal(place, run.name) as journal:
            model, _ = run.model(GridHost(grid, run.participants), journal=journal)
        out.write_text(model.to_json(), encoding="utf-8", newline="\n")

    return app


def nodes_of(grid: Any, participants: int) -> list[int]:
    """The nodes, once all are there. Errors: InvalidParameter if after a minute it is another number."""
    end = time.monotonic() + PATIENCE
    while len(found := sorted(grid.get_node_ids())) != participants:
        if time.monotonic() > end:
            raise InvalidParameter(f"{len(found)} nodes are there, the run is planned for {participants}")
        time.sleep(0.5)
    return found


class GridHost:
    """Participants behind a Flower grid. Who answers with an error, or not in time, has not answered.

    Who says that its records cannot be used ends the run: cohorts follow from no record.
    """

    def __init__(self, grid: Any, participants: int, timeout: float = 300.0) -> None:
        self._grid, self._timeout, self._app = grid, timeout, flower().app
        self._nodes, self._journals = nodes_of(grid, participants), Known()

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
            node = reply.metadata.src_node_id
            found[node] = read_answer(node, reply.content, texts)
            self._journals.check(node, dict(reply.content["about"]).get("journal"))
        return found


def read_answer(node: int, content: Any, texts: Mapping[int, str]) -> Any:
    """What a client answered.

    Errors: MessageError for an answer to another request, or none of this program; InvalidRecords where its records
    cannot be used.
    """
    if node not in texts:
        raise MessageError(f"participant {node}: an answer, and it was not asked")
    try:
        about, found = str(content["about"]["digest"]), None
        if "refused" not in content:
            found = int(content["behind"]["known"]) if "behind" in content else content["sums"].to_numpy_ndarrays()[0]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise MessageError(f"participant {node}: an answer that cannot be read") from None
    if about != digest(texts[node]):
        raise MessageError(f"participant {node}: an answer to another request than the one of this round")
    if found is None:
        raise owners.unusable(f"participant {node}")
    return found


def simulate(path: Path, folder: Path) -> str:
    """Run the app on the records and journals in a folder; where it ran. The model is in model.json there.

    On Flower's simulation engine where Ray is installed, else in this process, through Flower's messages and apps.
    """
    run, client, server = Run.read(path), client_app(path, folder), server_app(path, folder)
    if importlib.util.find_spec("ray") is not None:
        from flwr.simulation import run_simulation

        run_simulation(server, client, run.participants)
        return "Flower's simulation engine"
    grid = HereGrid(client, {k + 2: {"partition-id": str(k)} for k in range(run.participants)})
    server(
        grid, flower().app.Context(run_id=1, node_id=0, node_config={}, state=flower().app.RecordDict(), run_config={})
    )
    return "Flower's messages and apps in this process: Ray is not installed (pip install 'refdp[flower-simulation]')"


class HereGrid:
    """A Flower grid whose nodes are ClientApps in this process."""

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
            try:
                found.append(self._app(message, self._contexts[message.metadata.dst_node_id]))
            except Exception as error:  # as on Flower, where it ends the client's process
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return found
