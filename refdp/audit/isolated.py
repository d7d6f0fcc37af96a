"""One run of a trainer in a process of its own, with everything that somebody beside it could observe.

A forked child starts from the state before any run, so that nothing that a trainer keeps reaches the next run. What it
prints, warns of, writes, opens, raises and leaves in numpy's and Python's global generators comes back as text.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import itertools
import logging
import os
import pickle
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from refdp.audit.afterwards import at_exit, children, finalizers, last_words, threads
from refdp.audit.global_state import (
    context,
    descriptors,
    in_context,
    left_behind,
    of_curator,
    on_arguments,
    remember,
    seeded,
)
from refdp.audit.held import at_first, held_by, held_in
from refdp.audit.in_order import InOrder
from refdp.audit.observer import View, view
from refdp.audit.open_files import OpenFiles, flush_after, flush_before, mapped_file, written_files
from refdp.audit.own_code import is_library, spaces_of
from refdp.audit.process_settings import numerics, remember_hooks
from refdp.audit.reached import Place, followed
from refdp.data.records import Records
from refdp.errors import ImpossibleReplay, InvalidParameter
from refdp.privacy.curator import Curator, Entry, Source, Transcript
from refdp.privacy.events import Event, Relation
from refdp.privacy.replay import Recorder, ReplaySource

CAN_FORK = hasattr(os, "fork") and sys.platform != "emscripten"  # there it is only a name
SECONDS = 60.0
"""A run that takes longer is ended, and counts as not examined."""
WRITING = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.truncate", "os.putenv",
           "os.chmod", "os.utime", "os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen",
           "socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "sqlite3.connect",
           "os.setxattr", "os.removexattr", "os.chown", "os.chflags", "os.kill", "os.killpg", "os.forkpty", "os.spawn",
           "fcntl.flock", "fcntl.lockf", "socket.bind", "socket.gethostbyname", "syslog.syslog")  # fmt: skip
"""Events of Python's audit hooks that something outside can see, besides files opened for writing."""
HIDDEN = {"socket.connect": "what is sent to other programs", "socket.sendto": "what is sent to other programs",
          "socket.sendmsg": "what is sent to other programs", "gc.get_objects": "what is found in memory",
          "gc.get_referrers": "what is found in memory"}  # fmt: skip
"""Events after which something is beyond what is looked at here, in words."""
_ENDING = (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM))
Lines = tuple[tuple[str, str], ...]
FIRST, THOROUGH = 2, 6
"""Of so many first pairs, and of one in so many of all, what every module holds is looked at."""
_CHILD: list[bool] = []
"""Not empty in a child process."""
_PLACES: dict[int, Path] = {}
"""Where the runs of a process work, by its number: a child looks its parent's up."""


@dataclass(frozen=True)
class Outcome:
    """What one run left behind. transcript: the recorder's, private.

    parted: where a replay could not follow. published, raised, beside, state: lines of text that observers see.
    opaque: places of the published object, and of what is kept, that cannot be read. bad_noise: the run asked for noise
    that does not exist.
    failed: why there is nothing to see, if there is nothing. lines: of the code that was followed, if any was.
    loaded: installed modules that it was the first to import.
    """

    transcript: Transcript
    event: Event | None = None
    parted: tuple[str, str, str] | None = None
    published: Lines = ()
    raised: Lines = ()
    beside: Lines = ()
    state: Lines = ()
    opaque: tuple[str, ...] = ()
    bad_noise: str = ""
    failed: str = ""
    lines: frozenset[Place] = frozenset()
    loaded: tuple[str, ...] = ()


Trainer = Callable[[Any, Any], Any]


def observed(
    train: Trainer, records: Records, source: Source, relation: Relation, seed: int, before: Records | None = None,
    *, watched: tuple[str, ...] = (), earlier: Source | None = None,
) -> Outcome:  # fmt: skip
    """Train once in a child process. seed: of the global generators, which are public here.

    before: records that the same process trains on first, to see whether anything of them is kept; earlier: the source
    of that run, one with noise of its own unless given. watched: modules whose globals and classes are looked at
    besides the trainer's own.
    """
    own = (*watched, *spaces_of(train))
    for name in own:
        at_first(name)
    flush_before()
    return _forked(lambda: run_here(train, records, source, relation, seed, before, own, None, earlier), relation)


def _import(names: tuple[str, ...]) -> None:
    """What a run was the first to import is there for the next ones, which then find in it what all find."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            if name not in sys.modules:
                with contextlib.suppress(Exception):
                    importlib.import_module(name)


def _thorough(seed: int) -> bool:
    """Whether this run looks at what every module holds, which takes as long as many a run."""
    return seed <= FIRST or seed % THOROUGH == 0


def place_of_runs() -> Path:
    """Where this process's runs work: nobody else's, since they write what they know of records. It goes with us."""
    own = os.getpid()
    if own not in _PLACES:
        _PLACES[own] = Path(tempfile.mkdtemp(prefix="refdp-audit-"))
        atexit.register(shutil.rmtree, _PLACES[own], ignore_errors=True)
    return _PLACES[own]


def run_here(
    train: Trainer, records: Records, source: Source, relation: Relation, seed: int, before: Records | None,
    watched: tuple[str, ...], follow: Callable[[str], bool] | None = None, earlier: Source | None = None,
) -> Outcome:  # fmt: skip
    """The same in this process. follow: the files whose lines are to be told, if any."""
    for name in watched:
        at_first(name)
    if _thorough(seed):
        remember()  # not before the process is made: until then whoever watches the parent's collector changes modules
    if before is not None:
        from refdp.privacy.sources import SampleSource

        seeded(seed)
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            train(before, Curator(earlier or SampleSource(np.random.default_rng(seed)), relation))
    recorder = Recorder(source, relation)
    curator = Curator(InOrder(recorder), relation)
    result: Any = None
    error: BaseException | None = None
    lines: set[Place] = set()
    errors = ""
    modules = frozenset([*sys.modules, *watched])
    seeded(seed)
    own_of_curator, finalized, variables = of_curator(curator), finalizers(), context()
    exits, unknown = at_exit(), threads()
    with _watched() as (beside, around), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        held = descriptors()
        remember_hooks()
        try:
            with np.errstate(all="ignore"), followed(follow, lines):
                result = train(records, curator)
                errors = numerics()  # inside: it is put back on leaving
        except KeyboardInterrupt:
            raise
        except BaseException as raised:
            error = raised
        left = View()
        left.look("finalizers", [one.peek()[1:] for one in finalizers() if one not in finalized and one.peek()])
        left.look("at exit", [one for one in at_exit() if not any(one is other for other in exits)])
        lasting = last_words(unknown) if _CHILD else []
        on_arguments(left, curator, records.schema, own_of_curator)
        in_context(left, variables)
        kept = [left, held_in(train), *(held_by(name, train) for name in dict.fromkeys(watched))]
        state: Lines = (
            ("open descriptors", str(descriptors() - held)),
            ("children", children() if _CHILD else ""),
            *left_behind(_thorough(seed)),
            ("numpy error state", errors),
            *(line for one in kept for line in one.lines),
        )
    parted: ImpossibleReplay | None = None
    if isinstance(source, ReplaySource):
        try:
            source.finish()
        except ImpossibleReplay as impossible:
            parted = impossible
    shown = view(result, "result") if error is None else None
    told = [("warning", f"{w.category.__name__}: {w.message} at {w.filename}:{w.lineno}") for w in caught]
    return Outcome(
        recorder.transcript,
        curator.event(),
        None if parted is None else (parted.kind, parted.release, parted.detail[:500]),
        tuple(shown.lines) if shown else (),
        () if error is None else _told(error),
        (*beside, *told),
        state,
        (*(shown.opaque if shown else ()), *lasting, *sorted(around), *(place for one in kept for place in one.opaque)),
        _bad_noise(error),
        lines=frozenset(lines),
        loaded=tuple(name for name in sys.modules if name not in modules and is_library(name)),
    )


def _told(error: BaseException) -> Lines:
    """The error with its chain, and the lines of code that it came through, those of sources apart."""
    lines: list[tuple[str, str]] = []
    chain: list[tuple[str, BaseException | None]] = [("error", error)]
    told: set[int] = set()
    while chain and len(told) < 200:
        place, one = chain.pop()
        if one is None or id(one) in told:
            continue
        told.add(id(one))
        lines.append((place, type(one).__qualname__))
        lines += view(one.args, f"{place}.args").lines + view(vars(one), f"{place}.__dict__").lines  # its notes, too
        frames = traceback.extract_tb(one.__traceback__)
        lines += [("at", f"{f.filename}:{f.lineno}") for f in frames if Path(f.filename).name != "sources.py"]
        chain += [("error.__cause__", one.__cause__), ("error.__context__", one.__context__)]
    return tuple(lines)


def _bad_noise(error: BaseException | None) -> str:
    """Whether a mechanism refused its own parameters: what that run asked for is no noise."""
    if not isinstance(error, InvalidParameter):
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    homes = ("mechanisms.py", "gridded.py", "selection.py")
    made = any(f.name == "__post_init__" and Path(f.filename).name in homes for f in frames)
    return str(error) if made else ""


@contextlib.contextmanager
def _logged(seen: list[tuple[str, str]]) -> Iterator[None]:
    """Log records as they are made, whichever handlers the caller's process has."""
    make = logging.getLogRecordFactory()

    def told(*arguments: Any, **named: Any) -> logging.LogRecord:
        record = make(*arguments, **named)
        with contextlib.suppress(Exception):
            seen.append(("log", f"{record.name} {record.levelname}: {record.getMessage()}"))
        return record

    logging.setLogRecordFactory(told)
    try:
        yield
    finally:
        logging.setLogRecordFactory(make)


@contextlib.contextmanager
def _watched() -> Iterator[tuple[list[tuple[str, str]], set[str]]]:
    """What the process writes meanwhile: streams down to the descriptors, files, and calls to the outside.

    Beside it, in words, what cannot be looked at.
    """
    seen: list[tuple[str, str]] = []
    hidden: set[str] = set()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_logged(seen))
        outside = os.getcwd()
        held = _PLACES[os.getppid()] if CAN_FORK else place_of_runs()  # every run finds itself in the same place
        place, temporary = held / "work", held / "temporary"
        for one in (place, temporary):
            if one.is_dir() and any(one.iterdir()):
                shutil.rmtree(one)
            one.mkdir(parents=True, exist_ok=True)
        streams = [held / name for name in ("standard output", "standard error")]
        written: list[str] = []
        listening = [True]
        os.chdir(place)
        stack.callback(os.chdir, outside)
        before = OpenFiles(held)
        if CAN_FORK:  # the process is a child of ours, and ends after this run
            if _CHILD:
                before.begin()
                for name in ("tempdir", "_name_sequence"):
                    stack.callback(setattr, tempfile, name, getattr(tempfile, name))
                tempfile.tempdir = str(temporary)
                tempfile._name_sequence = map("{:08}".format, itertools.count())  # type: ignore[attr-defined]
            for number, path in enumerate(streams, 1):
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                os.dup2(descriptor, number)
                os.close(descriptor)
            sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
            sys.dont_write_bytecode = True
            sys.addaudithook(lambda event, arguments: _heard(event, arguments, listening, seen, written, hidden))
        else:
            stack.enter_context(contextlib.redirect_stdout(stack.enter_context(streams[0].open("w"))))
            stack.enter_context(contextlib.redirect_stderr(stack.enter_context(streams[1].open("w"))))
        yield seen, hidden
        sys.stdout.flush()
        sys.stderr.flush()
        listening[0] = False
        if _CHILD:
            flush_after()
            seen += before.end()
            hidden |= before.over
        seen += [(path.name, path.read_bytes().decode(errors="backslashreplace")) for path in streams if path.exists()]
        seen += written_files(place, [*written, *map(str, sorted(temporary.rglob("*")))])


def _heard(
    event: str, arguments: tuple[Any, ...], listening: list[bool], seen: list[Any], written: list[str], hidden: set[str]
) -> None:
    if not listening[0]:
        return
    if event in HIDDEN:
        hidden.add(HIDDEN[event])
    if event == "sqlite3.connect":  # which opens its files in C
        path = os.path.abspath(os.fsdecode(arguments[0]).removeprefix("file:").partition("?")[0])
        written += [path, f"{path}-wal"]
    if event == "open":
        path, mode, flags = arguments
        path = os.fsdecode(path) if isinstance(path, bytes) else path
        writes = isinstance(mode, str) and any(letter in mode for letter in "wax+")
        writes = writes or bool((flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if writes and isinstance(path, str) and not path.endswith(".pyc") and path != os.devnull:
            seen.append(("opened for writing", path))
            written.append(os.path.abspath(path))
    elif event == "mmap.__new__" and (path := mapped_file(arguments[0], arguments[2])):
        seen.append(("opened for writing", path))
        written.append(path)
    elif event in WRITING and not _ends_a_child(event, arguments):
        seen.append((event, repr(arguments)[:200]))


def _ends_a_child(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether a process of the run's own is ended: nobody else hears it, and its number is of the system's making."""
    if event != "os.kill" or arguments[1] not in _ENDING:
        return False
    with contextlib.suppress(OSError, ValueError, IndexError):
        told = Path(f"/proc/{arguments[0]:d}/stat").read_text()
        return int(told.rpartition(")")[2].split()[1]) == os.getpid()
    return False


def _forked(work: Callable[[], Outcome], relation: Relation) -> Outcome:
    """The outcome of `work` in a child process; in this one where there is no fork."""
    found, why = in_child(work)
    if isinstance(found, Outcome):
        _import(found.loaded)
        return found
    return Outcome(Transcript(relation), failed=why)


def in_child(work: Callable[[], Any]) -> tuple[Any, str]:
    """What `work` returns in a child process, in this one where there is no fork; None, and why, if nothing came."""
    if not CAN_FORK:
        return work(), ""
    place_of_runs()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the child only computes and ends
        child = os.fork()
    if child == 0:
        _as_child(work, reading, writing)
    os.close(writing)
    data, ended = _read(reading)
    if not ended:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not ended or not data:
        return None, "the process ended without a result" if ended else f"it did not end within {SECONDS:g} seconds"
    found: tuple[Any, str] = pickle.loads(data)
    if isinstance(found[0], Outcome):
        found[0].transcript.entries[:] = map(_with_numpys_own, found[0].transcript.entries)
    return found


def _with_numpys_own(entry: Entry) -> Entry:
    """With numpy's own types of numbers, which copies have not: a conversion to them would make a view of an output."""
    held = {name: getattr(entry, name) for name in ("output", "index", "value")}
    plain = {name: one.view(np.dtype(one.dtype.str)) for name, one in held.items()
             if isinstance(one, np.ndarray) and one.dtype.kind in "biuf"}  # fmt: skip
    return replace(entry, **plain)


def _as_child(work: Callable[[], Any], reading: int, writing: int) -> NoReturn:
    atexit._clear()  # what the parent has to do at its end is not the child's
    _CHILD.append(True)
    gc.disable()  # a collection would touch, hence copy, every page of the parent
    gc.freeze()  # so that the one at the end of a run is of what that run made
    gc.callbacks.clear()  # what the parent notes of collections, such as their time, is not the run's
    try:
        os.close(reading)
        try:
            found: tuple[Any, str] = work(), ""
        except BaseException as error:
            found = None, f"{type(error).__name__}: {error}"[:500]
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(_packed(found))
    finally:
        if os.getpid() in _PLACES:  # of its own children
            shutil.rmtree(_PLACES[os.getpid()], ignore_errors=True)
        os._exit(0)


def _packed(found: tuple[Any, str]) -> bytes:
    try:
        return pickle.dumps(found, protocol=5)
    except Exception as error:
        return pickle.dumps(
            (None, f"what was released cannot leave its process: {type(error).__name__}: {error}"[:500])
        )


def _read(pipe: int) -> tuple[bytes, bool]:
    """Everything from a pipe, and whether it was closed in time."""
    parts: list[bytes] = []
    end = time.monotonic() + SECONDS
    with os.fdopen(pipe, "rb", buffering=0) as stream:
        while True:
            ready, _, _ = select.select([stream], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return b"", False
            part = stream.read(1 << 16)
            if not part:
                return b"".join(parts), True
            parts.append(part)
