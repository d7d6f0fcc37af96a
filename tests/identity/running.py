"""Runs a setting through the papers' public functions, wherever in a paper's modules they are, and digests it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, fields, replace
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from refdp.data.memory import Memory
from refdp.data.records import Categorical, Classes, Interval, Model, Numeric, Records, Schema, make_records
from refdp.data.shards import Communication, Network, Shards, dealt
from refdp.data.sparse import make_sparse_records
from refdp.papers import published
from refdp.privacy.curator import Curator
from refdp.privacy.events import Partition, Relation, Release, Subsample, children, expand
from refdp.privacy.shares import LocalSource
from refdp.privacy.shares import Shares as NoiseShares
from refdp.privacy.sources import NoiselessSource, SampleSource
from refdp.protocols import owners
from refdp.protocols.journal import MemoryJournal
from refdp.protocols.quality import Control
from refdp.protocols.rounds import conduct
from tests.identity.settings import settings


def public(paper: str, name: str) -> Any:
    """A paper's function or class of this name."""
    return getattr(import_module(f"refdp.papers.{paper}"), name)


def params_of(paper: str, given: dict[str, Any]) -> Any:
    """Parameters, with printed readings where some are given."""
    return published.params(paper, **given)


def readings(paper: str) -> dict[str, Any]:
    """The settings that only the paper as printed has, with their defaults."""
    own = {field.name for field in fields(public(paper, "Params"))} | {
        "delta"
    }  # no reading; stated where it is above 0
    return {field.name: field.default for field in fields(published.module(paper).Params) if field.name not in own}


def digest(text: str) -> str:
    """Its SHA-256, shortened to 96 bits."""
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def outcome(paper: str, number: int) -> dict[str, str]:
    """Digests of the model, of the plans with declared and with proved charges, and of messages if there are any."""
    given = settings(paper, number)
    params = params_of(paper, {**given["params"], "relation": Relation(given["params"]["relation"])})
    data = records(given["data"])
    model, extra = RUNNERS[paper](given, params, data)
    plans = [repr(described(expand(plan.event))) for plan in plans_of(paper, given, params, data)]
    model = replace(model, params={**readings(paper), **model.params})  # kept models list readings that nobody chose
    return {"model": digest(model.to_json()), "plan": digest("\n".join(plans)), **extra}


def described(event: Any) -> Any:
    """An event as plain data: what is drawn, with which noise, for which bound; without the names of claims."""
    match event:
        case Release(name, mechanism, sensitivity):
            noise = [(field.name, getattr(mechanism, field.name)) for field in fields(mechanism)]
            return (
                name,
                type(mechanism).__name__,
                noise,
                sensitivity.bound,
                sensitivity.norm,
                sensitivity.relation.value,
            )
        case Partition(weights, _):
            kind: tuple[Any, ...] = ("partition", weights)
        case Subsample(rate, _, method):
            kind = ("subsample", rate, method)
        case _:
            kind = (type(event).__name__,)
    return *kind, [described(child) for child in children(event)]


def records(data: dict[str, Any], seed: int = 0) -> Records:
    """Numeric and categorical features, missing values, labels that depend on them; of exact arithmetic alone."""
    generator = np.random.default_rng([data["seed"], seed])
    rows, numeric = data["rows"], data["numeric"]
    bounds = ((0.0, 1.0), (-7.0, 30.0), (1e-3, 2e-3))[:numeric]
    columns = [low + (high - low) * generator.random(rows) ** 2 for low, high in bounds]
    columns += [generator.integers(0, count, rows).astype(np.float64) for count in data["categories"]]
    signal = 2 * (columns[0] - bounds[0][0]) / (bounds[0][1] - bounds[0][0]) - 1 + generator.random(rows) / 2
    signal += 0.3 * (columns[-1] >= np.median(columns[-1]))
    x = np.column_stack(columns)
    x[generator.random(x.shape) < data["missing"]] = np.nan
    features = [Numeric(f"x{i}", low, high) for i, (low, high) in enumerate(bounds)]
    features += [Categorical(f"c{i}", tuple(map(str, range(count)))) for i, count in enumerate(data["categories"])]
    if data["target"] == "regression":
        return make_records(Schema(tuple(features), Interval(-1.0, 1.5)), x, signal)
    count = 2 if data["target"] == "binary" else 3
    y = np.clip(np.floor((signal + 1) / 2 * count), 0, count - 1)
    return make_records(Schema(tuple(features), Classes(tuple("abc"[:count]))), x, y)


def source(given: dict[str, Any], position: int = 0) -> SampleSource:
    kind = NoiselessSource if given["params"].get("scheme") == "np" else SampleSource
    return kind(np.random.default_rng([given["seed"], position]), exact=given["exact"])


def plans_of(paper: str, given: dict[str, Any], params: Any, data: Records) -> list[Any]:
    plan: Callable[..., Any] = public(paper, "plan")
    more: dict[str, Any] = {"batches": given["parts"]} if given["form"] == "stream" else {}
    found = [plan(params, data.schema, proved=proved, **more) for proved in (False, True)]
    if given["form"] in ("owners", "broadcast"):
        found += [owners.plan(params, data.schema, control(given), proved=proved) for proved in (False, True)]
    return found


# --- The papers -------------------------------------------------------------------------------------------------------


def plainly(paper: str) -> Callable[..., tuple[Model, dict[str, str]]]:
    def run(given: dict[str, Any], params: Any, data: Records) -> tuple[Model, dict[str, str]]:
        taken: Any = data
        if given["form"].startswith("sparse"):
            taken = sparsely(data, given["form"].split()[1])
        return public(paper, "train")(params, taken, Curator(source(given), params.relation)), {}

    return run


def sparsely(data: Records, absent: str) -> Any:
    """The same records with a quarter of the entries left out."""
    generator = np.random.default_rng([1, data.size])
    kept = generator.random(data.x.shape) < 0.75
    rows, columns = np.nonzero(kept)
    x = sparse.csr_array((data.x[kept], (rows, columns)), shape=data.x.shape)
    return make_sparse_records(data.schema, x, data.y, absent)  # type: ignore[arg-type]


def fedgbdt(given: dict[str, Any], params: Any, data: Records) -> tuple[Model, dict[str, str]]:
    form, seeds = given["form"], [given["seed"], 1]
    if form == "central":
        return plainly("fedgbdt")(given, params, data)
    if "records_each" in given:
        data = data.take(np.arange(min(data.size, 3 * (data.size // 3))))
    sizes = [3] * (data.size // 3) if "records_each" in given else [1, 5, 9, data.size - 15]
    count = len(sizes)

    def attendance(number: int) -> Any:
        return np.array([(number + position) % 5 != 3 or position == 0 for position in range(count)])

    network = Network(count, attendance if form == "absent" else None)
    many = Shards([Memory(part) for part in dealt(data, sizes)], network)
    own = [np.random.default_rng([*seeds, position]) for position in range(count + 2)]
    where: Any = source(given)
    if form == "shares":
        where = NoiseShares(network, max(1, count // 2), own[-1], own[:count])
    if form == "local":
        where = LocalSource(network, own[-1], own[-2])
    model = public("fedgbdt", "train_on")(params, data.schema, many, Curator(where, params.relation))
    return model, {"traffic": digest(repr(network.traffic))}


def control(given: dict[str, Any]) -> Any:
    if given["control"] == "none":
        return None
    measured = records(given["data"], seed=99) if given["control"] == "public" else None
    return Control(threshold=given["threshold"], public=measured)


def inprivate(given: dict[str, Any], params: Any, data: Records) -> tuple[Model, dict[str, str]]:
    if given["form"] == "central":
        return plainly("inprivate")(given, params, data)
    schema, broadcast = data.schema, given["form"] == "broadcast"
    faults = {(t, owner): kind for t, owner, kind in given["faults"]}
    listed = sorted({**readings("inprivate"), **asdict(params)}.items())  # kept messages name a run by all readings
    run = hashlib.sha256(repr((listed, schema, "identity")).encode()).hexdigest()[:16]
    rules = replace(owners.rules_of(params, schema, "identity"), run=run)
    with ExitStack() as doors:
        members = [
            owners.Owner.behind(
                doors, rules, params, position, records(given["data"], position),
                Curator(source(given, position), params.relation), MemoryJournal(),
                broadcast=broadcast, control=control(given),
            )
            for position in range(params.owners)
        ]  # fmt: skip
        found = conduct(
            params, rules, members, control=control(given), broadcast=broadcast,
            faults=lambda number, owner: faults.get((number, owner), ""),
        )  # fmt: skip
    log = [(sent.round, sent.sender, sent.receiver, sent.data) for sent in found.log]
    said = repr((found.finished, found.skipped, found.refused, found.advances))
    return found.model, {"messages": digest(repr(log)), "outcome": digest(said)}


def sgbdt(given: dict[str, Any], params: Any, data: Records) -> tuple[Model, dict[str, str]]:
    form, parts = given["form"], given["parts"]
    if form == "central":
        return plainly("sgbdt")(given, params, data)
    if form == "stream":
        batches = [records(given["data"], position) for position in range(parts)]
        curator = Curator(source(given), params.relation)
        return public("sgbdt", "train_stream")(params, batches, curator), {}
    split = [3, *([1] * (parts - 2)), data.size - 1 - parts]
    network = Network(parts)
    own = [np.random.default_rng([given["seed"], 1, position]) for position in range(parts + 1)]
    where: Any = source(given)
    if form == "shares":
        where = NoiseShares(network, 1, own[-1], own[:parts], split)
    curator = Curator(where, params.relation)
    hosts = Shards([Memory(part) for part in dealt(data, split)], network)
    model = public("sgbdt", "train_on")(params, data.schema, hosts, curator)
    rounds, sent = network.traffic.rounds, network.traffic.sent
    return model, {"traffic": digest(repr(Communication(rounds, sent, sent)))}  # what is received was counted otherwise


RUNNERS: dict[str, Callable[..., tuple[Model, dict[str, str]]]] = {
    "dpboost": plainly("dpboost"), "dpxgboost": plainly("dpxgboost"), "fedgbdt": fedgbdt, "inprivate": inprivate,
    "sgbdt": sgbdt,
}  # fmt: skip
