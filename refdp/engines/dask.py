"""Shards on the workers of a Dask cluster, for data that is one's own and larger than one machine.

    population = DaskPopulation(client, parts, load)           # parts: delayed partitions; load: one as Records
    model = train_on(params, schema, population, curator)      # the model of one place, byte for byte

The driver holds the curator, the noise and the log; it sees sums over all records, as a trusted curator does. Workers
hold records and get the log and the secret of assignments. One actor a worker sums its shards, so that a round is one
message a worker each way. A worker that dies is left out and its partitions are loaded by others, who follow the log
again: the same sums, and nothing is released for it.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from refdp.data.population import Query, Sums
from refdp.data.records import Records
from refdp.data.shards import Communication
from refdp.engines.frames import joined, runs
from refdp.engines.log import Asked, Behind, Log, Logged, Shard, total
from refdp.engines.shared import Shared
from refdp.errors import InvalidParameter, InvalidRecords, RefdpError

TRIES = 5
"""How many workers may die under one request."""
PATIENCE = 60.0
"""Seconds to wait for a worker when none is left."""
UNREAD = (
    "a partition could not be computed, and the error's own text may quote its records; compute each alone to see it, "
    "and read columns as types that all of their values have"
)
_TRIM_DEFAULT = "65536"
_TRIM, _MAP = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"
MALLOC = {_TRIM: str(2**30), _MAP: str(2**25)}
"""Environment of workers in which arrays that come and go keep their memory. Either variable alone fixes the other at
128 kB, so that every larger array is fetched from the system anew; without both glibc adapts by itself."""
CLUSTER: dict[str, Any] = {
    "distributed.nanny.pre-spawn-environ": MALLOC | {"OMP_NUM_THREADS": "1"},
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "1s",
}
"""Dask's configuration for a cluster of one thread a worker: by default each process samples its own stack 100 times a
second, and looks at its memory 10 times, which costs more here than the messages do."""


class Desk:
    """The records of one worker and its copy of the log; an actor."""

    def __init__(self) -> None:
        self._waiting: dict[int, Records] = {}
        self._shards: dict[tuple[int, ...], Shard] = {}
        self._log = Log()

    def open(self, number: int, records: Records) -> int:
        """Take a partition in; how many records it has."""
        if not any(number in run for run in self._shards):
            self._waiting[number] = records
        return records.size

    def answer(self, told: bytes, starts: Mapping[int, int]) -> Sums | int:
        """The sum over these partitions, each with its first slot; or how much of the log is known here.

        told: a pickled `Asked`: bytes pass Dask's serialisation unopened.
        Errors: KeyError unless these are the partitions that are here.

        Of the query's shape.
        """
        asked: Asked = pickle.loads(told)
        try:
            log = self._log.follow(asked)
        except Behind as behind:
            return behind.known
        self.join(starts)
        if {number for run in self._shards for number in run} != set(starts):
            raise KeyError("other partitions than those that are here")
        return total(shard.answer(log, asked.query) for shard in self._shards.values())

    def join(self, starts: Mapping[int, int]) -> None:
        """Make shards of neighbouring partitions that wait, each with its first slot."""
        for run in runs({n: (starts[n], one.size) for n, one in self._waiting.items() if n in starts}):
            records = joined([self._waiting.pop(number) for number in run])
            self._shards[run] = Shard(partial(_same, records), starts[run[0]])


def _same(records: Records) -> Records:
    return records


class DaskPopulation(Logged):
    """A `Population` of the partitions of a Dask collection.

    parts: delayed partitions. What several of them stand on is computed once, and kept until all of these are loaded
    (`Shared`). When a worker is lost its partitions are computed again, to the same records in the same order, or the
    run ends; while they are loaded, so are all that stand on what others do. What is not known is whether partitions
    that each read or draw for themselves are parts of one table (`PARTITIONS`).
    load: makes records of one, and refuses those that fit no public schema. It may have none.
    Errors: InvalidRecords as `load` has it, before anything is released, for a partition that cannot be computed, whose
    own error is not told, or if all are empty; later, for one that was computed again to other records.
    """

    def __init__(self, client: Any, parts: Sequence[Any], load: Callable[[Any], Records]) -> None:
        super().__init__()
        self._client, self._parts, self._load = client, tuple(parts), load
        self._shared = Shared(client, self._parts)
        self._desks: dict[str, Any] = {}
        self._home: dict[int, str] = {}
        self._known: dict[str, int] = {}
        self._sizes: dict[int, int] = {}
        self._digests: dict[int, str] = {}
        self.traffic = Communication()
        self.lost = 0
        warn_about_trimming(client)
        self._place(range(len(self._parts)))
        self._starts = dict(enumerate(accumulate((self._sizes[k] for k in sorted(self._sizes)), initial=0)))
        if self.size == 0:
            raise InvalidRecords("0 records given, at least 1 is needed")

    @property
    def size(self) -> int:
        """Number of record slots. Private under add-remove."""
        return sum(self._sizes.values())

    # --- Asking ---

    def _sums(self, query: Query) -> Sums:
        for _ in range(TRIES):
            asked = {address: self._asked(address, query) for address in sorted(set(self._home.values()))}
            answers, gone = self._answers(asked)
            if gone:
                self._lose(gone)
                continue
            behind = {address: found for address, found in answers.items() if isinstance(found, int)}
            self._known.update(behind)
            if not behind:
                self._known.update(dict.fromkeys(answers, len(self.log)))
                self.traffic.rounds += 1
                found = [answer for answer in answers.values() if not isinstance(answer, int)]
                self.traffic.sent += sum(one.nbytes for one in found)
                return total(found)
        raise InvalidParameter(f"workers were lost in {TRIES} tries at one query: the cluster does not hold the data")

    def _asked(self, address: str, query: Query) -> Any:
        """A future of one worker's answer, or None where it is already known to be gone."""
        asked = pickle.dumps(self.log.since(min(self._known[address], len(self.log)), query))
        self.traffic.received += len(asked)
        starts = {number: self._starts[number] for number, home in self._home.items() if home == address}
        try:
            return self._desks[address].answer(asked, starts)
        except (OSError, ValueError):  # its comm is closed, or the scheduler has forgotten the actor
            return None

    def _answers(self, asked: Mapping[str, Any]) -> tuple[dict[str, Sums | int], list[str]]:
        """What came back, and who is gone. Errors: those of the shards themselves."""
        answers: dict[str, Sums | int] = {}
        gone: list[str] = []
        for address, future in asked.items():
            try:
                if future is None:
                    raise OSError
                answers[address] = self._result(address, future)
            except RefdpError:
                raise
            except TimeoutError:
                gone.append(address)
            except (OSError, ValueError, KeyError, RuntimeError):
                if self._lives(address, settle=1.0):
                    raise
                gone.append(address)
        return answers, gone

    def _result(self, address: str, future: Any) -> Sums | int:
        """However long it takes. Errors: TimeoutError if the scheduler does not know the worker, asked twice."""
        while True:
            try:
                answer: Sums | int = future.result(timeout=1)
                return answer
            except TimeoutError:
                if not self._lives(address, settle=0.0) and not self._lives(address, settle=0.0):
                    raise

    # --- Workers that come and go ---

    def _workers(self) -> list[str]:
        """Addresses of the workers that are there. Errors: InvalidParameter if there is none for a minute."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = sorted(self._client.scheduler_info(n_workers=-1)["workers"])
            if found:
                return found
            time.sleep(0.2)
        raise InvalidParameter(f"the cluster has no worker for {PATIENCE:.0f} seconds: at least one is needed")

    def _lives(self, address: str, settle: float) -> bool:
        """Whether the worker is there; the scheduler gets a moment to see that it is not."""
        end = time.monotonic() + 20 * settle
        while address in self._client.scheduler_info(n_workers=-1)["workers"]:
            if time.monotonic() >= end:
                return True
            time.sleep(0.1)
        return False

    def _lose(self, gone: Iterable[str]) -> None:
        """Others load what these had."""
        self._place([number for address in gone for number in self._left_by(address)])

    def _left_by(self, address: str) -> list[int]:
        """The partitions of a worker that is gone: nobody has them now."""
        self.lost += 1
        self._desks.pop(address, None)
        self._known.pop(address, None)
        left = [number for number, home in self._home.items() if home == address]
        for number in left:
            del self._home[number]
        return left

    def _place(self, numbers: Iterable[int]) -> None:
        """Load partitions on the workers that are there, a few a worker at a time, so that few are held twice.

        What several stand on is kept as long as one of them waits. If any of it may have been computed again, all that
        stand on any of it are loaded again and compared.
        """
        waiting, tries = list(numbers), 0
        self._shared.lost()
        while waiting:
            workers = self._workers()
            batch = waiting[: 2 * len(workers)]
            jobs: dict[int, Any] = {}
            failed: RefdpError | None = None
            refused: RefdpError | None = None
            self._shared.wait(waiting)
            for number in [*batch, *batch]:  # first all are begun, then waited for: who is at a desk may not lose it
                try:
                    if not jobs:
                        self._shared.begin(batch)
                    if number not in jobs:
                        jobs[number] = self._job(number, self._home.get(number) or self._target(number, workers))
                    else:
                        opened = jobs[number].result()
                        if isinstance(opened, RefdpError):
                            raise opened
                        address, size, found = opened
                        self._same(number, found)
                        self._home[number], self._sizes[number] = address, size
                        waiting.remove(number)
                except RefdpError as error:
                    refused = refused or error
                except Exception as error:  # of Dask, whose worker is gone, or of what computes the partition
                    failed = _told(error)
            if refused is not None:
                raise refused
            again = self._shared.lost() or self._shared.failed()
            if failed is not None or again:
                tries += 1
                if tries >= TRIES:
                    raise failed or _told(TimeoutError())
                alive = self._workers()
                for address in [address for address in self._desks if address not in alive]:
                    waiting += self._left_by(address)  # what it had before this batch, too
            if again:
                self._shared.forget()
                waiting += sorted(self._shared.standing & self._home.keys())
            waiting = list(dict.fromkeys(waiting))
        self._shared.wait(())

    def _same(self, number: int, found: str) -> None:
        """Errors: InvalidRecords for a partition that was computed again to other records: half a run on each."""
        if self._digests.setdefault(number, found) != found:
            raise InvalidRecords(
                f"partition {number} was computed again, and has other records than before: what is released is to be "
                "about one table; keep its files as they are, or write what is drawn to files"
            )

    def _target(self, number: int, workers: Sequence[str]) -> str:
        """Neighbouring partitions on one worker."""
        return workers[number * len(workers) // len(self._parts)]

    def _job(self, number: int, address: str) -> Any:
        """A future of where a partition is and how many records it has."""
        if address not in self._desks:
            options = {"actor": True, "workers": [address], "pure": False}
            self._desks[address] = self._client.submit(Desk, **options).result(timeout=PATIENCE)
            self._known[address] = 0
        options = {"workers": [address], "allow_other_workers": True}
        part = self._client.compute(self._shared.part(number), **options)
        return self._client.submit(
            _opened, self._desks[address], address, number, part, self._load, pure=False, **options
        )


def _opened(
    desk: Any, address: str, number: int, part: Any, load: Callable[[Any], Records]
) -> tuple[str, int, str] | RefdpError:
    """On a worker, mostly the desk's own, where it is no proxy. Where, how many records, and a digest of them."""
    records = loaded(load, part)
    if isinstance(records, RefdpError):
        return records
    size = desk.open(number, records)
    return address, size if isinstance(size, int) else size.result(), digest(records)


def loaded(load: Callable[[Any], Records], part: Any) -> Records | RefdpError:
    """The records of a partition, or why there are none: of what a worker raises it writes more than one line.

    Errors: MemoryError.
    """
    try:
        return load(part)
    except RefdpError as error:
        error.__cause__ = error.__context__ = None  # of others, which may quote a value
        return error.with_traceback(None)
    except MemoryError:
        raise
    except Exception:
        return InvalidRecords(UNREAD)


def gathered(client: Any, parts: Iterable[Any], load: Callable[[Any], Records]) -> list[Records]:
    """The records of partitions, here. Errors: InvalidRecords as `DaskPopulation`; InvalidParameter if workers die."""
    jobs = [client.submit(loaded, load, client.compute(part), pure=False) for part in parts]
    failed: RefdpError | None = None
    try:
        found = client.gather(jobs)
        failed = next((one for one in found if isinstance(one, RefdpError)), None)
    except Exception as error:
        failed = _told(error)
    if failed is not None:
        raise failed
    return list(found)


def _told(error: Exception) -> RefdpError:
    """What is said of an error that is not refdp's: nothing of its text, unless it is of a worker that is gone."""
    if isinstance(error, TimeoutError) or type(error).__module__.partition(".")[0] == "distributed":
        return InvalidParameter(
            f"workers were lost in {TRIES} tries at one partition: the cluster does not hold the data"
        )
    return InvalidRecords(UNREAD)


def digest(records: Records) -> str:
    """Of their numbers, in order; it stays with the driver, which may see the records' sums anyway."""
    found = hashlib.blake2b(repr(records.x.shape).encode(), digest_size=16)
    for column in (*records.x.T, records.y):
        found.update(np.ascontiguousarray(column).data)
    return found.hexdigest()


# --- Clusters ---------------------------------------------------------------------------------------------------------


def needed() -> Any:
    """The package distributed. Errors: InvalidParameter if it is not installed."""
    try:
        import distributed
    except ImportError:
        raise InvalidParameter("Dask is not installed: pip install 'refdp[dask]'") from None
    return distributed


@contextmanager
def client_for(address: str | None = None, *, processes: bool = False) -> Iterator[Any]:
    """The client of this address, or the present one, or one of a cluster that lives as long as the block.

    processes: whether the workers of such a cluster are processes, one thread each, or threads of this one, which every
    script can start. Errors: InvalidParameter where no scheduler answers at the address.
    """
    distributed = needed()
    if address is not None:
        try:
            asked = distributed.Client(address)
        except (ImportError, OSError, TypeError, ValueError) as error:
            raise InvalidParameter(f"no Dask scheduler at {address!r}: {error}") from error
        with asked as client:
            yield client
        return
    try:
        present = distributed.get_client()
    except ValueError:
        present = None
    if present is not None:
        yield present
        return
    import dask

    with (
        dask.config.set(CLUSTER),
        distributed.LocalCluster(
            n_workers=os.cpu_count() or 1, threads_per_worker=1, processes=processes, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def _malloc() -> tuple[str | None, str | None]:
    return os.environ.get(_TRIM), os.environ.get(_MAP)


def warn_about_trimming(client: Any) -> None:
    """Warns: RuntimeWarning where workers fetch every array from the system anew, as Dask's default has them do."""
    trims = {trim for trim, mapped in client.run(_malloc).values() if trim is not None and mapped is None}
    if trims:
        trim = sorted(trims)[0]
        default = ", Dask's default," if trim == _TRIM_DEFAULT else f" without {_MAP}"
        text = f"{_TRIM}={trim}{default} makes workers several times slower here; start them with"
        config = f"dask.config.set({{'distributed.nanny.pre-spawn-environ': {MALLOC}}})"
        warnings.warn(f"{text} {config}, or these variables in their environment", RuntimeWarning, stacklevel=3)
