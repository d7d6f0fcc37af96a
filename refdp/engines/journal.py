"""Exactly once: a journal of releases, so that a run that dies goes on where it was and nothing is released twice.

    with ReleaseJournal("run.journal", run="loans, May") as journal:
        source = journal.source(exact=True, log=lambda: population.log.digests[-1])
        model = train_on(params, schema, population, Curator(source, params.relation))

Every release and every public draw has a number. Its noise follows from a secret of the journal, the run and the
number. Before the program gets an output, the journal has on the disk what was asked (a digest of the run so far, the
query's log, the mechanism and the cohort) and the output. In a later life of the run the same request under the same
number gets the stored output, and another one is refused. The file holds the secret: it is as private as the records.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from refdp.privacy.curator import Array, Request
from refdp.privacy.sources import Coins, SampleSource, key_of
from refdp.protocols.chained import ChainedFile, Disk

VERSION = 1
_SECRET = 32
"""Bytes of a journal's secret."""


class ReleaseJournal(ChainedFile):
    """What a run has released, in a file that one process holds at a time."""

    def __init__(self, path: str | Path, run: str, *, secret: bytes | None = None, disk: Disk | None = None) -> None:
        """Create the file, or go on with it.

        run: public name of the run. secret: for a new file, 32 bytes of the operating system unless given; the same
        secret under the same name gives the same noise again, so whoever gives one uses it once.
        Errors: JournalError if the file is damaged, another run's, has another secret, or is held by a process; OSError
        from the disk.
        """
        self._secret = b""
        self._kept: list[dict[str, Any]] = []
        self.run = run
        super().__init__(path, {"releases": VERSION, "run": run}, f"the releases of the run {run!r}", disk)
        if not self._secret:
            self._secret = secret or secrets.token_bytes(_SECRET)
            self._append({"secret": self._secret.hex()})
        elif secret is not None and secret != self._secret:
            self.close()
            raise self._error("it has another secret than the one that is given")

    @property
    def released(self) -> int:
        """How many outputs are on file."""
        return len(self._kept)

    @property
    def identity(self) -> str:
        """Public: a function of secret and run, which tells nothing of the secret."""
        name = json.dumps(["identity", self.run]).encode()
        return hashlib.blake2b(name, key=self._secret, digest_size=16).hexdigest()

    def source(
        self,
        *,
        exact: bool = True,
        log: Callable[[], str] = str,
        cohort: Callable[[], list[int]] = list,
    ) -> JournalledSource:
        """A source for one life of the run.

        exact: exact samplers, as for discrete noise. log: digest of what the population was told so far. cohort: who
        answered the query that is released.
        """
        return JournalledSource(self, exact, log, cohort)

    def once(self, number: int, asked: dict[str, Any], made: Callable[[], Array]) -> Array:
        """The output under this number, made and kept if there is none. Errors: JournalError if something else was
        asked under the number, or numbers are left out.

        Of the shape that was made.
        """
        if number < len(self._kept):
            kept = self._kept[number]
            differ = [name for name, value in asked.items() if kept["asked"].get(name) != value]
            if differ:
                raise self._error(f"release {number} was another one: {' and '.join(differ)} differ, and what was "
                                  "released stays released")  # fmt: skip
            return np.array(kept["output"], dtype=kept["kind"]).reshape(kept["shape"])
        if number > len(self._kept):
            raise self._error(f"release {number} is asked, the next one is {len(self._kept)}")
        output = np.asarray(made())
        line = {"number": number, "asked": asked, "kind": output.dtype.str, "shape": output.shape,
                "output": output.ravel().tolist()}  # fmt: skip
        self._append(line)
        self._kept.append(line)
        return output

    def keyed(self, name: str, *arrays: Array) -> str:
        """A digest of arrays that tells nothing of them without the journal's secret."""
        found = hashlib.blake2b(name.encode(), key=self._secret, digest_size=16)
        for array in arrays:
            found.update(f"{array.dtype.str} {array.shape}".encode())
            found.update(np.ascontiguousarray(array).data)
        return found.hexdigest()

    def asked(self) -> list[dict[str, Any]]:
        """What the outputs on file were asked with, one after the other."""
        return [kept["asked"] for kept in self._kept]

    def find(self, name: str, value: object) -> int | None:
        """The number of the output that was asked with this value under this name, if there is one."""
        return next((n for n, kept in enumerate(self._kept) if kept["asked"].get(name) == value), None)

    def generator(self, number: int) -> np.random.Generator:
        """The randomness of one number, and of no other: a function of secret, run and number."""
        name = json.dumps(["output", self.run, number]).encode()
        seed = hashlib.blake2b(name, key=self._secret, digest_size=32).digest()
        return np.random.Generator(np.random.Philox(np.random.SeedSequence(int.from_bytes(seed, "little"))))

    def coins(self, request: Request) -> Coins:
        """The coins of a scope: the same in every life."""
        secret = hashlib.blake2b(json.dumps(["coins", self.run]).encode(), key=self._secret, digest_size=16).digest()
        return Coins(key_of(secret, request), request.law, int(np.prod(request.size)))

    def _note(self, content: dict[str, Any]) -> None:
        if "secret" in content:
            self._secret = bytes.fromhex(content["secret"])
        if "number" in content:
            self._kept.append(content)


class JournalledSource:
    """A source whose outputs are on the disk before anybody has them. A new one for each life of a run."""

    def __init__(
        self, journal: ReleaseJournal, exact: bool, log: Callable[[], str], cohort: Callable[[], list[int]]
    ) -> None:
        self._journal, self._exact, self._log, self._cohort = journal, exact, log, cohort
        self._number = 0
        self._before = ""

    def release(self, request: Request) -> Array:
        """Noise of the release's own number. Errors: JournalError, OSError; nothing is released then.

        Of the request's shape.
        """
        return self._once(request, lambda source: source.release(request))

    def draw(self, request: Request) -> Array:
        """Public draws of their own number. Of the request's shape."""
        return self._once(request, lambda source: source.draw(request))

    def assign(self, request: Request) -> Coins:
        """Coins keyed by the journal's secret."""
        return self._journal.coins(request)

    def _once(self, request: Request, made: Callable[[SampleSource], Array]) -> Array:
        number = self._number
        noise = repr((request.mechanism, request.sensitivity, request.law))
        asked = {"before": self._before, "log": self._log(), "query": described(request), "noise": noise,
                 "cohort": self._cohort()}  # fmt: skip
        generator = self._journal.generator
        output = self._journal.once(number, asked, lambda: made(SampleSource(generator(number), exact=self._exact)))
        text = json.dumps([asked, output.tolist()])
        self._number, self._before = number + 1, hashlib.sha256(text.encode()).hexdigest()[:32]
        return output


def described(request: Request) -> str:
    """A digest of what is asked, without the true value: kind, place, scopes, shape and options."""
    value = None if request.value is None else request.value.shape
    options = None if request.options is None else request.options.tolist()
    text = repr((request.kind, request.path, request.scopes, request.size, value, options))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
