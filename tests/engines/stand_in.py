"""A stand-in for the package flwr, so that the app's own code runs where Flower is not installed.

It has the few names that refdp/engines uses, with their call signatures, and keeps what it was given. That Flower
itself behaves so is not shown here, but by the tests of test_flower.py that run where it is installed.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.engines.flower import QUIET


class Message:
    """Of flwr.app: a request to a node, or the reply to one."""

    def __init__(
        self, content: dict[str, Any], *, dst_node_id: int = 0, message_type: str = "query", reply_to: Any = None
    ) -> None:
        assert type(content) is dict and message_type == "query"
        self.content, self.error = content, False
        self.metadata = SimpleNamespace(src_node_id=reply_to.metadata.dst_node_id if reply_to else 0,
                                        dst_node_id=dst_node_id)  # fmt: skip

    def has_error(self) -> bool:
        return self.error


class ArrayRecord:
    """Of flwr.app: arrays, which travel."""

    def __init__(self, arrays: list[Any]) -> None:
        self._arrays = [np.array(one) for one in arrays]

    def to_numpy_ndarrays(self) -> list[Any]:
        return self._arrays


class App:
    """ClientApp and ServerApp: one function, by a decorator."""

    def __init__(self) -> None:
        self.does: Any = None

    def query(self) -> Callable[[Any], Any]:
        return self._take

    main = query

    def _take(self, function: Any) -> Any:
        self.does = function
        return function

    def __call__(self, first: Any, context: Any) -> Any:
        return self.does(first, context)


def pseudo_rand_gen(seed32: int) -> int:
    """The name that tells how wide the seeds of masks are."""
    return seed32


class Simulated:
    """A grid of ClientApps; some nodes answer with an error. It keeps how long it was told to wait."""

    def __init__(self, app: Any, nodes: Mapping[int, Mapping[str, str]], failing: Iterable[int] = ()) -> None:
        self.app, self.nodes, self.failing, self.timeouts = app, nodes, set(failing), []

    def get_node_ids(self) -> list[int]:
        return sorted(self.nodes, reverse=True)

    def send_and_receive(self, messages: Iterable[Any], *, timeout: float | None = None) -> list[Any]:
        self.timeouts.append(timeout)
        found = []
        for message in messages:
            node = message.metadata.dst_node_id
            if node in self.failing:
                reply = Message({}, reply_to=message)
                reply.error = True
            else:
                reply = self.app(message, SimpleNamespace(node_config=self.nodes[node]))
            found.append(reply)
        return found


def installed(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The stand-in in the place of flwr until the test ends."""
    names = ("flwr", "flwr.app", "flwr.clientapp", "flwr.serverapp", "flwr.common", "flwr.common.secure_aggregation",
             "flwr.common.secure_aggregation.secaggplus_utils", "flwr.supercore", "flwr.supercore.task_identity",
             "flwr.simulation")  # fmt: skip
    made = {name: ModuleType(name) for name in names}
    for name, module in made.items():
        above, _, own = name.rpartition(".")
        if above:
            setattr(made[above], own, module)
        monkeypatch.setitem(sys.modules, name, module)
    things: dict[str, Any] = {"Message": Message, "ArrayRecord": ArrayRecord, "RecordDict": dict, "ConfigRecord": dict,
                              "Context": SimpleNamespace, "MessageType": SimpleNamespace(QUERY="query")}  # fmt: skip
    vars(made["flwr.app"]).update(things)
    vars(made["flwr.clientapp"])["ClientApp"] = vars(made["flwr.serverapp"])["ServerApp"] = App
    vars(made["flwr.supercore.task_identity"])["TaskIdentity"] = type("TaskIdentity", (), {})
    vars(made["flwr.common.secure_aggregation.secaggplus_utils"])["pseudo_rand_gen"] = pseudo_rand_gen
    version = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "9.8" if name == "flwr" else version(name))
    for name in QUIET:
        monkeypatch.setenv(name, "as it was")
    return made["flwr"]
