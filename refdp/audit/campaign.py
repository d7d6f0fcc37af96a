"""Long audits: runs spread over processes, each finished chunk of them on disk, so that a kill loses little.

The file is a list of JSON lines, one for the campaign and one a chunk, each written and synchronised before the next.
What a chunk holds follows from its number, so a resumed campaign gives what an uninterrupted one gives, while nothing
that was loaded for it has changed (`refdp/audit/loaded.py`); else it is refused. It has no signature.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.audit.ending import stays
from refdp.audit.imported import IMPORTED
from refdp.audit.loaded import Loaded, listen
from refdp.audit.outputs import BESIDE, is_error
from refdp.audit.runs import CHUNK, RAISED, TRIED, InputPair, Scored, chunk, compared, not_read, raise_if_ending
from refdp.audit.structural_samples import State
from refdp.checks import check_count
from refdp.documents import parsed
from refdp.errors import InvalidParameter

Floats = NDArray[np.float64]
Sides = tuple[list[Floats], list[Floats]]

SECONDS = 10.0
"""A chunk is sized to take about this long, far below the minute that may be lost. One run is the least."""
MOST = 500
"""Most runs of a chunk of a function that is not vectorised: a last chunk can have that many too many."""
FORMAT = "refdp campaign 5"


@dataclass(frozen=True)
class Job:
    """What is run: the function's name "module:function", a pair, and the seed that all randomness follows from.

    score: name of a function of one output, whose number is looked at before those of the output; "" for none.
    Errors: InvalidParameter if there is no such function.
    """

    name: str
    pair: InputPair
    seed: int
    score: str = ""

    def function(self) -> Any:
        """The function to run, which knows of the score of its output where one is given."""
        found = to_run(self.name)
        if not self.score:
            return found
        return Scored(found, to_run(self.score, "--score"), self.score)

    def digest(self) -> str:
        """A name for job and pair that changes with either, and with the text of the function's module."""
        sides = [np.asarray(side, dtype=np.float64) for side in (self.pair.first, self.pair.second)]
        scored = [self.score, _text_of(self.score)] if self.score else []
        shown = [self.name, self.seed, *scored, *((side.shape, side.tolist()) for side in sides), _text_of(self.name)]
        return hashlib.sha256(json.dumps(shown).encode()).hexdigest()


def to_run(name: str, option: str = "--callable") -> Any:
    """The same, to be run. Errors: InvalidParameter too where its file says something else than what would be run."""
    found = load(name, option)
    IMPORTED.check(name.partition(":")[0])
    return found


def load(name: str, option: str = "--callable") -> Any:
    """The function "module:function", modules of the working directory included. Errors: InvalidParameter."""
    module, colon, function = name.partition(":")
    if not colon or not module or not function:
        raise InvalidParameter(f"{option} {name!r}: module:function is needed")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        with stays():
            found = importlib.import_module(module)
            IMPORTED.note()
            for part in function.split("."):
                found = getattr(found, part)
    except SystemExit as end:  # a script without a guard; its status would pass for a finding
        raise InvalidParameter(f"{option} {name!r}: it ended the program with status {end.code}") from end
    except RAISED as error:
        raise_if_ending(error)
        raise InvalidParameter(f"{option} {name!r}: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise InvalidParameter(f"{option} {name!r}: {type(found).__name__} is not a function")
    return found


def _text_of(name: str) -> str:
    """Digest of the file of a function's module: runs of another text are no runs of this one."""
    load(name)
    file = getattr(sys.modules[name.partition(":")[0]], "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""


@dataclass
class Campaign:
    """Runs of a job, from a file as far as they are there, else made by `jobs` processes.

    It is also the memory of other runs of the same function, those of structural checks.
    path: the file, or None to keep nothing. seconds: aim for the time of one chunk. watch: told how many runs a side
    there are whenever a chunk is finished. watch_calls: told how many other runs there are whenever one is finished.
    """

    job: Job
    path: Path | None = None
    jobs: int = 1
    seconds: float = SECONDS
    watch: Callable[[int], None] = lambda done: None
    watch_calls: Callable[[int], None] = lambda done: None
    made: int = field(default=0, init=False)
    _size: int = field(default=0, init=False)
    _chunks: dict[int, Sides] = field(default_factory=dict, init=False)
    _states: dict[str, State] = field(default_factory=dict, init=False)
    _loaded: Loaded = field(default_factory=Loaded, init=False)

    def __post_init__(self) -> None:
        if self.path is not None:
            listen()
        lines = _lines(self.path) if self.path is not None else []
        if lines:
            self._read(lines)
        else:
            self._size = self._sized()
            self._write({"format": FORMAT, "job": self.job.name, "digest": self.job.digest(), "size": self._size})

    def upto(self, count: int) -> tuple[Floats, Floats]:
        """Outputs of the first `count` runs of both sides, one row a run. Shapes (count, columns)."""
        needed = range(-(-count // self._size))
        missing = [number for number in needed if number not in self._chunks]
        for number, sides in _made(self.job, missing, self._size, self.jobs):
            self._chunks[number] = sides
            self.made += 1
            self._write({"chunk": number, "first": _text(sides[0]), "second": _text(sides[1])})
            self.watch(len(self._chunks) * self._size)
        first, second = ([row for n in needed for row in self._chunks[n][side]] for side in (0, 1))
        return compared(first, second, count)

    @property
    def unread(self) -> tuple[str, ...]:
        """What of an output was not looked into, and why; empty where no run has such an output."""
        for number, sides in sorted(self._chunks.items()):
            if told := not_read(self.job.function(), self.job.pair, self.job.seed, sides, number * self._size):
                return told
        return ()

    def recall(self, data: Any, seed: int) -> State | None:
        """The flat state of a run with these records and this seed, if it was made before."""
        return self._states.get(_call(data, seed))

    def keep(self, data: Any, seed: int, state: State) -> None:
        """Keep the flat state of a run."""
        self._states[_call(data, seed)] = state
        self._write({"call": _call(data, seed), "state": state})
        self.watch_calls(len(self._states))

    def _sized(self) -> int:
        """Runs a chunk: as many as fit into `seconds`, by the clock; a vectorised function has chunks of its own."""
        mechanism = self.job.function()
        if hasattr(mechanism, "batch"):
            return CHUNK
        start = time.perf_counter()
        pair, seed = self.job.pair, self.job.seed
        rows = [row for run in (0, 1) for side in chunk(mechanism, pair, seed, run, run + 1) for row in side]
        each = (time.perf_counter() - start) / 2
        if all(is_error(row) or len(row) == BESIDE for row in rows):  # two runs are too few to say that all are
            chunk(mechanism, pair, seed, 0, TRIED)
        return int(np.clip(self.seconds / max(each, 1e-6), 1, MOST))

    def _read(self, lines: list[dict[str, Any]]) -> None:
        head = lines[0]
        if head.get("format") != FORMAT or head.get("digest") != self.job.digest():
            raise InvalidParameter(
                f"--resume {self.path}: it is about {head.get('job')!r} with another seed, pair or source text, or no "
                "campaign at all; give the same function, pair and seed, or another file"
            )
        try:
            check_count("size", head["size"])
            self._size = head["size"]
            for line in lines[1:]:
                self._take(line)
            if len(lines) > 1 and not self._loaded.told:
                raise ValueError("runs that do not tell what was loaded")
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
            raise InvalidParameter(f"--resume {self.path}: not a file that an audit wrote ({error})") from error
        if other := self._loaded.changed():
            raise InvalidParameter(
                f"--resume {self.path}: runs of another text or version of {other} than the present one; "
                "give another file"
            )

    def _take(self, line: dict[str, Any]) -> None:
        """One kept line. Errors: KeyError, TypeError, ValueError and others for what no campaign writes."""
        self._loaded.read(line.get("loaded", {}))
        if "call" in line:
            self._states[line["call"]] = line["state"]
            return
        number, sides = line["chunk"], (_rows(line["first"]), _rows(line["second"]))
        if type(number) is not int or number < 0 or number in self._chunks:
            raise ValueError(f"chunk {number!r} twice, or no number")
        if any(sum(len(row) if row.ndim == 2 else 1 for row in side) != self._size for side in sides):
            raise ValueError(f"chunk {number}: {self._size} runs a side are needed")
        self._chunks[number] = sides

    def _write(self, line: dict[str, Any]) -> None:
        if self.path is None:
            return
        if "format" not in line and (new := self._loaded.new()):
            line = {**line, "loaded": new}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())


def _call(data: Any, seed: int) -> str:
    """A name for records and seed that changes with either."""
    table = np.ascontiguousarray(data, dtype=np.float64)
    return hashlib.sha256(f"{table.shape} {seed} ".encode() + table.tobytes()).hexdigest()[:32]


def _lines(path: Path) -> list[dict[str, Any]]:
    """Complete lines of the file; a last line that a kill cut short is removed from it."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    try:
        found = [parsed(line) for line in whole.splitlines()]
        if not all(isinstance(line, dict) for line in found):
            raise ValueError("a line that is no object")
    except (ValueError, RecursionError) as error:
        raise InvalidParameter(f"--resume {path}: not a file that an audit wrote ({error})") from error
    return found


def _text(rows: list[Floats]) -> list[Any]:
    """Vectors as text without loss: lengths, and the bits of all numbers."""
    shapes = [list(row.shape) for row in rows]
    joined = np.concatenate([row.ravel() for row in rows])
    uniform = [shapes[0], len(shapes)] if all(shape == shapes[0] for shape in shapes) else shapes
    return [uniform, base64.b64encode(joined.astype("<f8").tobytes()).decode()]


def _rows(text: list[Any]) -> list[Floats]:
    shapes, data = text
    shapes = [shapes[0]] * shapes[1] if isinstance(shapes[-1], int) else shapes
    numbers = np.frombuffer(base64.b64decode(data), dtype="<f8").astype(np.float64)
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(numbers, ends[:-1]), shapes, strict=True)]


def _made(job: Job, numbers: Sequence[int], size: int, jobs: int) -> Iterator[tuple[int, Sides]]:
    """Chunks as they are finished, in any order."""
    if jobs == 1 or len(numbers) < 2:
        yield from ((number, one_chunk(job, number, size)) for number in numbers)
        return
    with _pool(min(jobs, len(numbers))) as pool:
        waiting = {pool.submit(one_chunk, job, number, size): number for number in numbers}
        for done in as_completed(waiting):
            yield waiting[done], done.result()


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Fresh processes: forked ones would share the state of global random generators, and repeat each other's noise."""
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_end_with_parent)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever; one that is interrupted has nothing to say."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(1))
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def one_chunk(job: Job, number: int, size: int) -> Sides:
    """The runs of one chunk on both sides."""
    first, second = chunk(job.function(), job.pair, job.seed, number * size, (number + 1) * size)
    return first, second
