"""Two runs side by side: each waits at its next release until both are there and somebody chose what comes out.

A run is a program that cannot be stopped and copied, so each has a thread of its own. Only one of them runs at a time.
"""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.audit.in_order import InOrder
from refdp.data.records import Records
from refdp.privacy.curator import EVERYWHERE, Array, Curator, Request, Transcript, own
from refdp.privacy.events import Relation
from refdp.privacy.replay import Recorder

HAS_THREADS = sys.platform != "emscripten"


class Stopped(Exception):
    """A run asked for a release beyond the outputs that were chosen for it."""


class Open:
    """What no output decides: draws are zero, and every record is in every block."""

    def draw(self, request: Request) -> Array:
        """Zeros: the first of every public choice. Of the request's shape."""
        return np.zeros(request.size, dtype=np.int64 if request.law[0] != "uniform" else np.float64)

    def assign(self, request: Request) -> NDArray[np.int64]:
        """Every record everywhere. Shape (records,)."""
        return np.full(request.size, EVERYWHERE, dtype=np.int64)


class Waiting(Open):
    """A run in a thread of its own that waits for the output of every release.

    transcript: so far, with true values.
    """

    def __init__(self, train: Callable[[Any, Curator], Any], records: Records, relation: Relation) -> None:
        self._asked: SimpleQueue[Request | BaseException | None] = SimpleQueue()
        self._chosen: SimpleQueue[Array | None] = SimpleQueue()
        self._stopped = False
        self._begun = False
        recorder = Recorder(self, relation)
        self.transcript: Transcript = recorder.transcript
        work = (self._run, train, records, Curator(InOrder(recorder), relation))
        self._thread = threading.Thread(target=contextvars.copy_context().run, args=work, daemon=True)

    def asks(self, output: Array | None = None) -> Request | None:
        """What the run asks for next, with its true value; None where it is over. Errors: those of the run.

        output: of the release that it asked for last, of its shape; none before the first.
        """
        if output is None:
            self._begun = True
            self._thread.start()
        else:
            self._chosen.put(output)
        found = self._asked.get()
        if isinstance(found, BaseException):
            raise found
        return found

    def stop(self) -> None:
        """End the run wherever it is. Afterwards its thread is gone."""
        self._chosen.put(None)
        if self._begun:
            self._thread.join()

    def release(self, request: Request) -> Array:
        """What somebody chooses. Of the request's shape. Errors: Stopped where nobody does any more."""
        if not self._stopped:
            self._asked.put(replace(request, value=None if request.value is None else own(request.value)))
            output = self._chosen.get()
            if output is not None:
                return output.copy()
            self._stopped = True
        raise Stopped(request.name)

    def _run(self, train: Callable[[Any, Curator], Any], records: Records, curator: Curator) -> None:
        try:
            with np.errstate(all="ignore"):  # as in training.train: a trainer sees no other state of numpy
                train(records, curator)
        except BaseException as error:
            self._asked.put(error)
        else:
            self._asked.put(None)
