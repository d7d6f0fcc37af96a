"""The door: what is released is charged where it happens, whatever is raised, and nothing else can be seen of it."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refdp.audit.replay import Pair, audit_pair, run
from refdp.audit.worst import next_request
from refdp.data.records import Interval, Numeric, Records, Schema, make_records
from refdp.errors import ImpossibleReplay, InvalidParameter
from refdp.faces import registry
from refdp.noise.mechanisms import Exponential, Laplace
from refdp.privacy.curator import Curator, Request
from refdp.privacy.events import Event, Partition, Relation, Release, Sensitivity, Sequential, Subsample
from refdp.privacy.replay import Recorder, ReplaySource
from refdp.privacy.sources import SampleSource
from tests.recorded import Recorded

BOUND = Sensitivity(1.0, 1, "dpboost/leaf-clipped-add-remove", Relation.ADD_REMOVE)
CHOICE = replace(BOUND, norm="range")
SCHEMA = Schema((Numeric("a", 0.0, 1.0),), Interval(-1.0, 1.0))


def sample(seed: int = 0) -> SampleSource:
    return SampleSource(np.random.default_rng(seed))


def door(source: Any = None) -> Curator:
    return Curator(source or sample(), Relation.ADD_REMOVE)


def give(curator: Curator, name: str) -> Any:
    return curator.release(name, Laplace(1.0), np.zeros(1), sensitivity=BOUND)


def release(name: str) -> Release:
    return Release(name, Laplace(1.0), BOUND)


def sampled(*names: str) -> Event:
    return Subsample(0.01, sequence(*names))


def sequence(*names: str) -> Event:
    return release(names[0]) if len(names) == 1 else Sequential(tuple(map(release, names)))


def in_step(curator: Curator, error: BaseException) -> None:
    with curator.step("tree"):
        give(curator, "in")
        raise error


def in_sample(curator: Curator, error: BaseException) -> None:
    with curator.subsample("rows", 0.01, 9):
        give(curator, "in")
        raise error


def in_block(curator: Curator, error: BaseException) -> None:
    with curator.partition("parts", [0.5, 0.5], 9) as blocks:
        with blocks.block(0):
            give(curator, "first")
        with blocks.block(1):
            give(curator, "in")
            raise error


def between_blocks(curator: Curator, error: BaseException) -> None:
    with curator.partition("parts", [0.5, 0.5], 9) as blocks:
        with blocks.block(1):
            give(curator, "in")
        raise error


def nested(curator: Curator, error: BaseException) -> None:
    with curator.step("score"), curator.partition("parts", [1.0], 9) as blocks, blocks.block(0):
        give(curator, "first")
        with curator.step("tree"), curator.subsample("rows", 0.01, 9):
            give(curator, "in")
            raise error


BODIES: dict[Callable[[Curator, BaseException], None], Event] = {
    in_step: release("in"),
    in_sample: sampled("in"),
    in_block: Partition((0.5, 0.5), (release("first"), release("in"))),
    between_blocks: Partition((0.5, 0.5), (Sequential(()), release("in"))),
    nested: Partition((1.0,), (Sequential((release("first"), sampled("in"))),)),
}


@pytest.mark.parametrize("error", [TimeoutError(), KeyboardInterrupt(), SystemExit(), GeneratorExit()])
@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_whatever_is_raised_leaves_the_scopes_with_their_events(body: Any, error: BaseException) -> None:
    curator = door()
    with pytest.raises(type(error)):
        body(curator, error)
    assert curator.event() == BODIES[body]
    give(curator, "after")
    assert curator.event() == Sequential((BODIES[body], release("after")))
    last = curator.transcript.entries[-1]
    assert (last.request.path, last.scopes) == (("after",), ())


def test_scopes_are_charged_while_they_are_open() -> None:
    curator = door()
    with curator.subsample("rows", 0.01, 9):
        give(curator, "a")
        assert curator.event() == sampled("a")
        with curator.partition("parts", [0.25, 0.25], 9) as blocks, blocks.block(1):
            give(curator, "b")
            inside = Sequential((release("a"), Partition((0.25, 0.25), (Sequential(()), release("b")))))
            assert curator.event() == Subsample(0.01, inside)


def test_scopes_kept_open_by_generators_end_with_the_scope_around_them() -> None:
    curator = door()

    def growing() -> Iterator[None]:
        with curator.step("tree"), curator.subsample("rows", 0.01, 9):
            give(curator, "in")
            yield

    first, second = growing(), growing()
    next(first)
    first.close()
    give(curator, "between")
    with curator.step("score"):
        next(second)
    give(curator, "after")  # the second generator's sample is not the place of this
    second.close()
    give(curator, "end")
    assert curator.event() == Sequential(
        (sampled("in"), release("between"), sampled("in"), release("after"), release("end"))
    )
    assert [e.request.path for e in curator.transcript.entries[-2:]] == [("after",), ("end",)]


class Failing(SampleSource):
    """A source that draws, and then fails at the second release."""

    asked = 0

    def release(self, request: Request) -> Any:
        """The output, once."""
        output = super().release(request)
        self.asked += 1
        if self.asked == 2:
            raise ConnectionError("lost")
        return output


def test_a_release_is_charged_before_its_source_is_asked() -> None:
    curator = door(Failing(np.random.default_rng(0)))
    with pytest.raises(ConnectionError), curator.subsample("rows", 0.01, 9):
        give(curator, "a")
        give(curator, "b")
    assert curator.event() == sampled("a", "b")  # what others may have seen of "b" nobody knows
    assert [entry.request.name for entry in curator.transcript.entries] == ["rows/a"]
    curator = door()
    with pytest.raises(IndexError):  # after the source has answered
        curator.release("c", Exponential(1.0), np.zeros((1, 3)), sensitivity=CHOICE, options=np.zeros((0, 2)))
    assert curator.event() == Release("c", Exponential(1.0), CHOICE)


def test_an_assignment_that_fails_opens_nothing() -> None:
    class NoAssignment(SampleSource):
        def assign(self, request: Request) -> Any:
            raise ConnectionError("lost")

    curator = door(NoAssignment(np.random.default_rng(0)))
    with pytest.raises(ConnectionError), curator.step("tree"), curator.subsample("rows", 0.01, 9):
        raise AssertionError("not reached")
    give(curator, "a")
    assert curator.event() == release("a")


def test_blocks_are_entered_only_where_their_events_are_charged() -> None:
    curator = door()
    with curator.partition("parts", [0.5, 0.5], 9) as blocks:
        for number in (-1, 2):
            allowed = rf"block {number} given, 0 to 1 are allowed"
            with pytest.raises(InvalidParameter, match=allowed), blocks.block(number):
                pass
        with blocks.block(0), pytest.raises(InvalidParameter, match="inside a block"), blocks.block(1):
            pass
        inside = pytest.raises(InvalidParameter, match="inside a block")
        with curator.subsample("rows", 0.5, 9), inside, blocks.block(1):
            pass
    with pytest.raises(InvalidParameter, match="after the scope was left"), blocks.block(0):
        pass
    with pytest.raises(InvalidParameter, match="block weights"), curator.partition("x", [float("nan")], 9):
        pass
    with pytest.raises(InvalidParameter, match="block weights"), curator.partition("x", [], 9):
        pass


def test_a_curator_is_not_copied() -> None:
    for copying in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            copying(door())


# --- Transcripts ------------------------------------------------------------------------------------------------------


class Answers:
    """A source whose answers do not depend on the records."""

    def release(self, request: Request) -> Any:
        """Zeros."""
        assert request.value is not None
        return np.zeros(len(request.value), dtype=int) if request.options is not None else np.zeros(request.value.shape)

    def draw(self, request: Request) -> Any:
        """Zeros."""
        return np.zeros(request.size, dtype=int if request.law[0] == "integers" else float)

    def assign(self, request: Request) -> Any:
        """Everybody in the first block."""
        return np.zeros(request.size, dtype=np.int64)


def made_up(size: int) -> Records:
    generator = np.random.default_rng(size)
    return make_records(SCHEMA, generator.random((size, 1)), generator.uniform(-1, 1, size))


VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("dpboost", {}),
    ("dpboost", {"blocks": "sizes"}),
    ("dpxgboost", {"subsample": 0.5}),
    ("dpxgboost", {"subsample": 0.5, "relation": Relation.REPLACE_ONE}),
    ("fedgbdt", {"relation": Relation.ADD_REMOVE, "delta": 1e-6}),
    ("inprivate", {"owners": 2}),
    ("inprivate", {"owners": 2, "halves": "sizes"}),
    ("sgbdt", {"delta": 1e-6, "subsample": 0.5}),
]


@pytest.mark.parametrize(("name", "changes"), VARIANTS)
def test_transcripts_hold_what_was_released_and_nothing_else(name: str, changes: dict[str, Any]) -> None:
    """The same answers on other records, of another number, give the same bytes of transcript."""
    paper = registry.paper(name)
    trees = {"rounds": 2} if name == "inprivate" else {"trees": 2}
    given = {**trees, "depth": 2, "epsilon": 1.0, "relation": Relation.ADD_REMOVE, **changes}
    params = paper.params(given, as_published=False)
    dumped = []
    for size in (23, 40):
        curator = Curator(Answers(), params.relation)
        paper.train(params, made_up(size), curator)
        arrays = [entry.output for entry in curator.transcript.entries]
        assert arrays
        assert all(output.base is None and not output.flags.writeable for output in arrays)
        assert all(entry.index is None and entry.value is None for entry in curator.transcript.entries)
        dumped.append(pickle.dumps(curator.transcript))
    assert dumped[0] == dumped[1]


def test_transcripts_keep_no_secret_alive() -> None:
    curator = door()
    with curator.partition("parts", [0.5, 0.5], 12_345) as blocks, blocks.block(0) as rows:
        curator.release("sum", Laplace(1.0), np.array([rows.sum()]), sensitivity=BOUND)
    del blocks, rows
    held, seen = [curator.transcript], set()
    while held:
        here = held.pop()
        if id(here) not in seen and not isinstance(here, type):
            seen.add(id(here))
            assert np.size(here) != 12_345 if isinstance(here, np.ndarray) else here != 12_345
            held += [here.base] if isinstance(here, np.ndarray) else gc.get_referents(here)


def test_what_a_program_writes_into_its_arrays_changes_no_transcript() -> None:
    curator, value, options = Recorded(sample(), Relation.ADD_REMOVE), np.ones(3), np.eye(2)
    noisy = curator.release("sums", Laplace(1.0), value, sensitivity=BOUND)
    chosen = curator.release("split", Exponential(1.0), np.zeros((1, 2)), sensitivity=CHOICE, options=options)
    drawn = curator.draw("order", ("uniform",), 3)
    kept = [array.copy() for array in (noisy, chosen, drawn)]
    for array in (value, options, noisy, chosen, drawn):
        array[:] = 7.0
    for transcript in (curator.transcript, curator.recorded):
        for entry, before in zip(transcript.entries, kept, strict=True):
            assert np.array_equal(entry.output, before)
    first, second, _ = curator.recorded.entries
    assert np.array_equal(first.value, np.ones(3))
    assert np.array_equal(second.request.options, np.eye(2))


class Published:
    """A model of this text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def to_json(self) -> str:
        """The text."""
        return self.text


PAIR = Pair(made_up(5), made_up(1), None, 2)
HONEST = Sensitivity(1.0, 1, "dpboost/leaf-clipped-add-remove", Relation.ADD_REMOVE)


def counting(records: Records, curator: Curator) -> Published:
    """Releases twice the number of records, declared as one, and covers it up in its own arrays."""
    value = np.array([2.0 * records.size])
    noisy = curator.release("count", Laplace(1.0), value, sensitivity=HONEST)
    noisy *= value
    value[:] = 0.0
    return Published("")


def test_a_value_that_is_overwritten_after_its_release_is_audited_all_the_same() -> None:
    kinds = {violation.kind for violation in audit_pair(counting, PAIR, sample(), 1.0).violations}
    assert "sensitivity" in kinds


def swallowing(records: Records, curator: Curator) -> Published:
    """Releases as many times as there are records, and goes on after any error."""
    for number in range(records.size):
        try:
            curator.release(f"row {number}", Laplace(1.0), np.zeros(1), sensitivity=HONEST)
        except Exception:
            break
    return Published("")


def raising_another(records: Records, curator: Curator) -> Published:
    """The same with an error of its own."""
    try:
        for number in range(records.size):
            curator.release(f"row {number}", Laplace(1.0), np.zeros(1), sensitivity=HONEST)
    except Exception as error:
        raise ValueError("training failed") from error
    return Published("")


@pytest.mark.parametrize("train", [swallowing, raising_another])
def test_errors_that_a_trainer_swallows_are_found_all_the_same(train: Any) -> None:
    for on_first in (True, False):
        found = audit_pair(train, PAIR, sample(), 1.0, on_first=on_first).violations
        assert [violation.kind for violation in found] == ["control flow"]
    transcript, _ = run(train, PAIR.base, sample(), Relation.ADD_REMOVE)
    replay = ReplaySource(transcript)
    with pytest.raises(ImpossibleReplay):
        run(train, PAIR.first(), replay, Relation.ADD_REMOVE)
    request = next_request(train, PAIR.base, [np.zeros(1)], Relation.ADD_REMOVE)
    assert request is not None
    assert request.name == "row 1"


# --- What a trainer can see of an audit -------------------------------------------------------------------------------


def seen_from(thing: object, depth: int = 4) -> Any:
    """Kinds and plain values of everything that attributes, keys and items reach."""
    if depth == 0 or isinstance(thing, type) or callable(thing):
        return type(thing).__qualname__, getattr(thing, "__qualname__", "")
    if isinstance(thing, (str, int, float, bool, type(None))):
        return thing
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.flags.writeable, thing.base is None
    if isinstance(thing, (list, tuple)):
        return type(thing).__qualname__, [seen_from(item, depth - 1) for item in thing]
    names = [*vars(thing)] if hasattr(thing, "__dict__") else []
    return type(thing).__qualname__, {name: seen_from(getattr(thing, name), depth - 1) for name in names}


def watched(curator: Curator) -> list[Any]:
    seen = [seen_from(curator)]
    with curator.step("tree"), curator.partition("parts", [0.5, 0.5], 9) as blocks, blocks.block(0):
        give(curator, "leaves")
        seen += [
            seen_from(curator),
            seen_from(blocks),
            sorted(dir(curator)),
            repr(curator.transcript.entries[-1].value),
        ]
    curator.draw("order", ("uniform",), 3)
    curator.release("split", Exponential(1.0), np.zeros((1, 2)), sensitivity=CHOICE, options=np.eye(2))
    return [*seen, seen_from(curator)]


def test_nothing_that_a_curator_shows_tells_of_an_audit() -> None:
    recorder = Recorder(sample(), Relation.ADD_REMOVE)
    plain, audited = watched(door()), watched(Curator(recorder, Relation.ADD_REMOVE))
    replayed = watched(Curator(ReplaySource(recorder.transcript), Relation.ADD_REMOVE))
    assert plain == audited == replayed


def test_a_trainer_that_would_be_honest_when_audited_is_found() -> None:
    """It looks wherever a curator has told of an audit."""

    def train(records: Records, curator: Curator) -> Published:
        give(curator, "first")
        entry = curator.transcript.entries[-1]
        told = getattr(curator, "_audit", False) or entry.value is not None
        told = told or not isinstance(getattr(curator, "_source", sample()), SampleSource)
        value = np.array([0.0 if told else 2.0 * records.size])
        curator.release("count", Laplace(1.0), value, sensitivity=HONEST)
        return Published("")

    kinds = {violation.kind for violation in audit_pair(train, PAIR, sample(), 2.0).violations}
    assert "sensitivity" in kinds
