"""What several partitions of a Dask graph stand on, as a query that is cut into slices, or a table that is shuffled.

Dask computes a task of one graph once, and drops its result when nothing asked for needs it. Partitions that are asked
for a few at a time would have it computed again, and where that gives something else, as a table that is drawn or
sorted anew, a record is in several of them. Here it is kept until the last partition that needs it is loaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

PARTITIONS = (
    "each record is in one partition of the Dask frame: what partitions have in common is computed once, but what each "
    "reads or draws for itself, and what Dask computes again of persisted ones whose worker was lost, is as it was"
)
"""What the certificate of a run on a frame's partitions assumes."""
SEVERAL = -1
"""The owner of what more than one partition needs."""


class Shared:
    """The graph of all partitions, and what is kept of it.

    parts: delayed partitions; those that are none stand on nothing. standing: numbers of those that stand on what
    others need, too.
    """

    def __init__(self, client: Any, parts: Sequence[Any]) -> None:
        self._client, self._parts = client, parts
        self._nodes = _graph(parts)
        self._owner = self._owners()
        self._direct = [self._reached(number)[1] for number in range(len(parts))]
        self.standing = {number for number, direct in enumerate(self._direct) if direct}
        self._above: dict[Any, list[Any]] = {}
        for key, owner in self._owner.items():
            if owner == SEVERAL:
                for needed in self._needs(key):
                    if self._kept_of(needed):
                        self._above.setdefault(needed, []).append(key)
        self._waiting: set[int] = set()
        self._count: Counter[Any] = Counter()  # of waiting partitions, by what they stand on
        self._seen: float | None = None
        self._done: set[Any] = set()
        self._held: dict[Any, Any] = {}

    def wait(self, numbers: Iterable[int]) -> None:
        """These partitions are still to be loaded; what none of them needs is let go of."""
        waiting = set(numbers)
        for number in waiting - self._waiting:
            self._count.update(self._direct[number])
        for number in self._waiting - waiting:
            self._count.subtract(self._direct[number])
        self._waiting = waiting
        self._held = {key: future for key, future in self._held.items() if self._asked(key, self._done)}

    def begin(self, numbers: Iterable[int]) -> None:
        """Compute what these partitions need of it, and keep that for all that wait."""
        new, stack = dict[Any, None](), [key for number in numbers for key in self._direct[number]]
        while stack:
            key = stack.pop()
            if key not in self._held and key not in new:
                new[key] = None
                stack += [needed for needed in self._needs(key) if self._kept_of(needed)]
        done = self._done | new.keys()
        wanted = [key for key in new if self._asked(key, done)]
        if wanted:
            self._held |= zip(wanted, self._client.get(self._with(new), wanted, sync=False), strict=True)
            self._done = done

    def part(self, number: int) -> Any:
        """A delayed partition, whose graph has nothing that others need but as what is kept."""
        part = self._parts[number]
        if not _delayed(part):
            return part
        if part.key in self._held:
            return self._held[part.key]
        from dask.delayed import Delayed

        return Delayed(part.key, self._with(self._reached(number)[0]))

    def failed(self) -> bool:
        """Whether anything kept is lost or could not be computed."""
        return any(future.status not in ("pending", "finished") for future in self._held.values())

    def forget(self) -> None:
        """Let go of everything: what is computed from now on may be another table."""
        self._held, self._done = {}, set()

    def lost(self) -> bool:
        """Whether a worker went since this was asked last, whatever came in its place: what it had is computed again.

        By the scheduler's own account of its workers, which lists those that came and went in between, too; where it
        does not reach back as far, one may have.
        """
        if not self.standing:
            return False
        events = self._client.get_events("all")
        times, then = [time for time, _ in events], self._seen
        self._seen = times[-1] if times else None
        since = events[times.index(then) + 1 :] if then in times else None
        return since is None or any(event["action"] == "remove-worker" for _, event in since)

    # --- The graph ---

    def _needs(self, key: Any) -> Iterable[Any]:
        return self._nodes[key][1] if key in self._nodes else ()

    def _owners(self) -> dict[Any, int]:
        """The partition that alone needs a task, or `SEVERAL`."""
        found: dict[Any, int] = {}
        for number, part in enumerate(self._parts):
            stack = [part.key] if _delayed(part) else []
            while stack:
                key = stack.pop()
                owner = found.get(key)
                if key in self._nodes and owner not in (number, SEVERAL):
                    found[key] = number if owner is None else SEVERAL
                    stack += self._needs(key)
        return found

    def _kept_of(self, key: Any) -> bool:
        """Whether several partitions need it, and it is computed: what is given is the same whenever it is read."""
        return self._owner.get(key) == SEVERAL and not _given(self._nodes[key][0])

    def _reached(self, number: int) -> tuple[list[Any], list[Any]]:
        """The tasks that a partition alone needs, and the first of others' below them."""
        own, direct = dict[Any, None](), dict[Any, None]()
        stack = [self._parts[number].key] if _delayed(self._parts[number]) else []
        while stack:
            key = stack.pop()
            if self._kept_of(key):
                direct[key] = None
            elif key in self._nodes and key not in own:
                own[key] = None
                stack += self._needs(key)
        return list(own), list(direct)

    def _with(self, keys: Iterable[Any]) -> dict[Any, Any]:
        """A graph of these tasks, of what is given below them, and of what is kept below them as futures."""
        found: dict[Any, Any] = {}
        for key in keys:
            found[key] = self._nodes[key][0]
            for needed in self._needs(key):
                if needed in self._held:
                    found[needed] = self._held[needed]
                elif needed in self._nodes and not self._kept_of(needed):
                    found[needed] = self._nodes[needed][0]
        return found

    def _asked(self, key: Any, done: set[Any]) -> bool:
        """Whether a waiting partition stands on it, or something that is not computed yet."""
        return self._count[key] > 0 or any(above not in done for above in self._above.get(key, ()))


def _delayed(part: Any) -> bool:
    return hasattr(part, "__dask_graph__")


def _graph(parts: Sequence[Any]) -> dict[Any, tuple[Any, Any]]:
    """Tasks of all partitions and the keys that each needs, by key."""
    graphs = {id(graph): graph for graph in (part.__dask_graph__() for part in parts if _delayed(part))}
    if not graphs:
        return {}
    from dask.core import get_dependencies
    from dask.utils import ensure_dict

    whole: dict[Any, Any] = {}
    for graph in graphs.values():
        whole |= ensure_dict(graph)
    return {key: (task, get_dependencies(whole, key)) for key, task in whole.items()}


def _given(task: Any) -> bool:
    """Whether it is a value or a future and no computation."""
    from dask._task_spec import DataNode
    from distributed import Future

    return isinstance(task, DataNode | Future)
