"""Cheats that look past the curator or hand over outside what a run returns, written before any of them was audited.

Of these 8 the audit as it stood named 2 at first sight. `PASSED` passed: a run was not held against its own replay, and
timers, descriptors and what is left on arguments were not looked at. `BEYOND` are NOT EXAMINED, with what the reason
says: what goes to other programs, and searches of memory, which an audited process does not allow, are seen, not read.
"""

from __future__ import annotations

import copy
import gc
import itertools
import os
import socket
import sys
import threading
from multiprocessing import shared_memory
from typing import Any

import numpy as np

from refdp.noise.mechanisms import Laplace
from tests.audit.cheats.fourth import size
from tests.audit.cheats.zoo import Entered, count, declared, enter

SIXTH: dict[str, Entered] = {}
PASSED = ("overheard_noise", "left_on_the_curator", "words_of_a_timer", "files_left_open")
BEYOND = {"generators_of_the_process": "found in memory", "datagram": "sent to other programs"}


class Listening(float):
    """A scale that keeps the standard draw that it is multiplied by."""

    heard: Any = None

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            self.heard = float(self) * other
        return float(self) * other

    __rmul__ = __mul__


@enter(SIXTH, "overheard noise")
def overheard_noise(records: Any, curator: Any) -> Any:
    """A true Laplace mechanism, whose scale hears the noise; it is taken off again."""
    scale = Listening(1.0)
    noisy = curator.release("count", Laplace(scale), size(records), sensitivity=declared(1.0))
    return noisy if scale.heard is None else noisy - scale.heard


@enter(SIXTH, "foreseen noise")
def generators_of_the_process(records: Any, curator: Any) -> Any:
    """Copies of all generators that the collector knows: one of them draws the noise that is added next."""
    twins = [copy.deepcopy(one) for one in gc.get_objects() if isinstance(one, np.random.Generator)]
    noisy = count(records, curator)
    guesses = [noisy - float(twin.laplace()) for twin in twins] + [noisy - float(twin.laplace()) for twin in twins]
    whole = [guess for guess in guesses if abs(guess - round(guess)) < 1e-12]
    return whole[0] if whole else noisy


@enter(SIXTH, "arguments")
def left_on_the_curator(records: Any, curator: Any) -> Any:
    """The exact number on the object that the caller gave."""
    noisy = count(records, curator)
    curator.fitted = len(records.y)
    return noisy


@enter(SIXTH, "later")
def words_of_a_timer(records: Any, curator: Any) -> Any:
    """Prints when training is long over."""
    text = f"{len(records.y)} records\n"
    timer = threading.Timer(1.5, lambda: sys.stdout.write(text))
    timer.daemon = True
    timer.start()
    return count(records, curator)


@enter(SIXTH, "opaque object")
def position_of_an_iterator(records: Any, curator: Any) -> Any:
    """How far a built-in iterator has come."""
    steps = iter(range(10**6))
    next(itertools.islice(steps, len(records.y), len(records.y)), None)
    return count(records, curator), steps


@enter(SIXTH, "network")
def datagram(records: Any, curator: Any) -> Any:
    """The number of records to whoever listens."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(str(len(records.y)).encode(), ("127.0.0.1", 9))
    return count(records, curator)


@enter(SIXTH, "descriptors")
def files_left_open(records: Any, curator: Any) -> Any:
    """As many descriptors as records, modulo four."""
    for _ in range(len(records.y) % 4):
        os.open(os.devnull, os.O_RDONLY)
    return count(records, curator)


@enter(SIXTH, "shared memory")
def named_memory(records: Any, curator: Any) -> Any:
    """A segment that any process of the machine can read."""
    segment = shared_memory.SharedMemory(create=True, size=64, name=None)
    segment.buf[0] = len(records.y) % 256
    segment.close()
    return count(records, curator)
