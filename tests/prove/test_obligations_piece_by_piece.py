"""What happens at the curator of a reading: what is asked about, what is kept of failures, and what goes on."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.noise.mechanisms import Exponential, Gaussian, Laplace
from refdp.privacy.curator import Request
from refdp.privacy.events import Relation, Sensitivity
from refdp.prove import obligations
from refdp.prove.loops import Number
from refdp.prove.obligations import Enough, Obligations, ProofCurator
from refdp.prove.open import Opens, opened
from refdp.prove.peeking import line_of_text
from refdp.prove.planned import key_of
from refdp.prove.releases import Unproved
from refdp.prove.symbols import Known
from refdp.prove.tables import Axis, Table
from refdp.prove.terms import Leak, Unmodelled

TABLE = Table((Axis("each", 3),), lambda index, world: (0, 0))
BOUND = Sensitivity(1.0, 1, "made", Relation.ADD_REMOVE)


def request(name: str = "sums", scale: float = 1.0, value: Any = TABLE) -> Request:
    return Request("release", (name,), value, Laplace(scale), BOUND)


def reading(monkeypatch: pytest.MonkeyPatch, check: Callable[[Any, Request], Any], **more: Any) -> tuple[Any, Any]:
    host = SimpleNamespace(
        spent=[],
        opens=None,
        relation=Relation.REPLACE_ONE,
        described=lambda values: {"x": str(values)},
        _loops=SimpleNamespace(active=[], stuck=""),
    )
    monkeypatch.setattr(obligations, "check", check)
    return Obligations(host, more.pop("progress", None), **more), host  # type: ignore[arg-type]


def from_line(number: int, work: Callable[[], Any]) -> Any:
    """The same, called from a line of a training text."""
    code = "\n" * (number - 1) + "found = work()"
    names = {"work": work}
    exec(compile(code, "<mutant of a text>", "exec"), names)
    return names["found"]


def failing(error: Exception) -> Callable[[Any, Request], Any]:
    def check(host: Any, request: Request) -> None:
        raise error

    return check


# --- Whether records pay ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("pays", "due"), [([1], True), ([0], False), ([1, 1], True), ([1, 0], False), ([0, 1], False),
                                           ([2, 1, 0], False)])  # fmt: skip
def test_records_pay_for_a_kind_where_they_do_at_every_release(
    pays: list[int], due: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter(pays)
    read, host = reading(monkeypatch, lambda host, request: host.spent.extend(["paid"] * next(left)))
    host.spent.append("by another kind")
    for number in range(len(pays)):
        read.release(request(f"sums {number}"))
    assert read.asked == {key_of(request("sums 9")): due} and read.releases == len(pays) and read.failures == {}


def test_kinds_are_asked_about_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    read, _ = reading(monkeypatch, lambda host, request: host.spent.append(1) if request.path == ("sums",) else None)
    for one in (request(), request("others"), request(scale=2.0)):
        read.release(one)
    assert [read.asked[key_of(one)] for one in (request(), request("others"), request(scale=2.0))] == [
        True,
        False,
        True,
    ]
    read.release(request(value=np.zeros(3)))  # nothing is asked about what is no private value, and nobody pays
    assert read.asked[key_of(request())] is False


# --- Failures ---------------------------------------------------------------------------------------------------------


def test_a_failure_is_kept_once_a_line_with_its_counterexample(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed once in a line, of the same noise and bound, is not asked again, and counted."""
    asked: list[str] = []

    def check(host: Any, request: Request) -> None:
        asked.append(request.name)
        problem = Unproved("too much")
        problem.values, problem.exact = {"a": 1}, True  # type: ignore[dict-item]
        raise problem

    read, host = reading(monkeypatch, check)
    for name in ("one", "two", "three"):
        from_line(4, lambda name=name: read.release(request(name)))
    (failure,) = read.failures.values()
    assert asked == ["one"] and (failure.release, failure.line, failure.kind) == (
        "one",
        "<mutant of a text>:4",
        "sensitivity",
    )
    assert (failure.reason, failure.times, failure.exact) == ("too much", 3, True)
    assert failure.counterexample == {"x": "{'a': 1}"}
    from_line(4, lambda: read.release(request("four", scale=2.0)))
    from_line(5, lambda: read.release(request("five")))
    assert asked == ["one", "four", "five"] and [one.times for one in read.failures.values()] == [4, 1]
    host.opens = SimpleNamespace(described=lambda values: {"open": "3"})
    from_line(6, lambda: read.release(request("six")))
    assert list(read.failures.values())[-1].counterexample == {"x": "{'a': 1}", "open": "3"}


def test_what_is_not_modelled_is_kept_too_and_ends_the_reading_of_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def check(host: Any, request: Request) -> None:
        asked.append(request.name)
        raise Unmodelled("a sum of another kind")

    read, host = reading(monkeypatch, check)
    for name in ("one", "two"):
        from_line(4, lambda name=name: read.release(request(name)))
    (failure,) = read.failures.values()
    assert asked == ["one"] and (failure.kind, failure.times, failure.counterexample) == ("not modelled", 2, {})
    assert host._loops.stuck == ""
    host._loops.active += [SimpleNamespace(line="outer"), SimpleNamespace(line="inner")]
    from_line(5, lambda: read.release(request("three")))
    assert host._loops.stuck == "inner"
    host._loops.active.pop()
    from_line(6, lambda: read.release(request("four")))
    assert host._loops.stuck == "inner"
    read, host = reading(monkeypatch, failing(Unproved("too much")))
    host._loops.active.append(SimpleNamespace(line="outer"))
    read.release(request())
    assert host._loops.stuck == "" and len(read.failures) == 1
    read.release(request(value=np.zeros(3)))
    assert [one.kind for one in read.failures.values()] == ["sensitivity", "not modelled"]


def test_one_failure_is_enough_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (Unproved("too much"), Unmodelled("another kind")):
        read, _ = reading(monkeypatch, failing(error), briefly=True)
        with pytest.raises(Enough):
            read.release(request())
        assert len(read.failures) == 1
    fine, _ = reading(monkeypatch, lambda host, request: None, briefly=True)
    fine.release(request())
    assert fine.failures == {}


def test_the_innermost_line_of_a_text_is_told() -> None:
    def frame(file: str) -> Any:
        return SimpleNamespace(f_code=SimpleNamespace(co_filename=file))

    own, paper = frame("C:\\at\\refdp\\own\\grove.py"), frame("/at/refdp/papers/dpboost.py")
    other = frame("/at/refdp/data/records.py")
    assert line_of_text([(other, 1), (own, 2), (paper, 3)]) == "grove.py:2"
    assert line_of_text([(paper, 3), (own, 2)]) == "dpboost.py:3"
    assert line_of_text([(other, 1)]) == line_of_text([]) == ""


# --- What goes on -----------------------------------------------------------------------------------------------------


def test_examples_have_the_shape_of_what_is_asked_for_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    read, _ = reading(monkeypatch, lambda host, request: None, progress=told.append)
    one, two = read.release(request()), read.release(request())
    assert one.shape == two.shape == (3,) and not np.array_equal(one, two) and told == [1, 2]
    assert read.release(request(value=np.zeros((2, 5)))).shape == (2, 5)
    options = Table((Axis("each", 200), Axis("option", 4)), lambda index, world: (0, 0))
    chosen = read.release(Request("release", ("choice",), options, Exponential(1.0), BOUND))
    assert chosen.shape == (200,) and set(chosen) == {0, 1, 2, 3}


def test_public_draws_are_examples_and_nobody_is_known_to_be_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    read, host = reading(monkeypatch, lambda host, request: None)
    uniform = read.draw(Request("draw", ("u",), law=("uniform",), size=(2, 3)))
    assert uniform.shape == (2, 3) and np.all((uniform > 0) & (uniform < 1))
    whole = read.draw(Request("draw", ("p",), law=("integers", 5), size=4))
    assert whole.tolist() == [0, 0, 0, 0] and whole.dtype == np.int64
    for kind in ("partition", "poisson", "without-replacement"):
        assert read.assign(Request("assign", ("s",), law=(kind, (1.0,)))).shape == (0,)
    with pytest.raises(Unmodelled, match="fixed sizes"):
        read.assign(Request("assign", ("s",), law=("shares", (1, 2))))
    host.relation = Relation.ADD_REMOVE  # one of two neighbours has another sample size
    with pytest.raises(Unmodelled, match="follows from the number of records"):
        read.assign(Request("assign", ("s",), law=("without-replacement", (1.0,))))


@pytest.mark.parametrize("place", ["name", "options", "mechanism", "sensitivity", "other"])
def test_private_and_released_values_beside_what_is_released_are_refused(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A private value leaks from everywhere but the value itself; a charge may not follow from released ones."""
    read, _ = reading(monkeypatch, lambda host, request: None)
    curator = ProofCurator(read, Relation.ADD_REMOVE)
    given: dict[str, Any] = {"mechanism": Gaussian(1.0), "value": TABLE, "sensitivity": Sensitivity(
        1.0, 2, "made", Relation.ADD_REMOVE)}  # fmt: skip
    found = curator.release("sums", **given)
    assert isinstance(found, Known) and found.example.shape == (3,)
    assert isinstance(curator.release("more", given["mechanism"], TABLE, sensitivity=given["sensitivity"]), Known)
    name = TABLE if place == "name" else "again"
    with pytest.raises(Leak, match="beside what is released"):
        curator.release(name, **given | ({} if place == "name" else {place: TABLE}))
    charge = [given["mechanism"], TABLE, given["sensitivity"]]
    if place in ("mechanism", "sensitivity"):
        charge[0 if place == "mechanism" else 2] = Known(1.0)
        with pytest.raises(Unmodelled, match="follows from released values"):
            curator.release("again", *charge[:2], sensitivity=charge[2])
    assert read.releases == 2


def open_parameter() -> Any:
    return Opens({"p": (1.0, 4.0)}, lambda conditions: False, {}, lambda term: None).parameter("p", 2.0)


def test_whatever_is_given_without_a_name_is_beside_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """But the value itself: a released one there is no charge, and no sum over records either."""
    read, _ = reading(monkeypatch, lambda host, request: None)
    curator, open_one = ProofCurator(read, Relation.ADD_REMOVE), open_parameter()
    for given in ((TABLE, TABLE), (Laplace(1.0), TABLE, TABLE), (Laplace(1.0), TABLE, 0, TABLE)):
        with pytest.raises(Leak, match="beside what is released"):
            curator.release("sums", *given, sensitivity=BOUND)
    for beside in (((open_one,), {}), ((), {"options": [open_one]}), ((0, open_one), {})):
        with pytest.raises(Unmodelled, match="what is beside a release"):
            curator.release("sums", Laplace(1.0), TABLE, *beside[0], sensitivity=BOUND, **beside[1])
    with pytest.raises(Unmodelled, match="what is beside a release"):
        curator.release(open_one, Laplace(1.0), TABLE, sensitivity=BOUND)
    assert read.releases == 0
    curator.release("sums", Laplace(1.0), Known(np.zeros((2, 3))), sensitivity=BOUND)
    assert [one.kind for one in read.failures.values()] == ["not modelled"]


@pytest.mark.parametrize("which", ["name", "mechanism", "sensitivity"])
def test_a_charge_does_not_follow_from_released_values(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read, _ = reading(monkeypatch, lambda host, request: None)
    given: dict[str, Any] = {"name": "sums", "mechanism": Laplace(1.0), "sensitivity": BOUND, "value": TABLE}
    ProofCurator(read, Relation.ADD_REMOVE).release(**given)
    with pytest.raises(Unmodelled, match="a charge that follows from released values"):
        ProofCurator(read, Relation.ADD_REMOVE).release(**{**given, which: Known(1.0)})


def test_events_have_examples_of_open_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    read, _ = reading(monkeypatch, lambda host, request: None)
    curator, noise = ProofCurator(read, Relation.ADD_REMOVE), Laplace(3.0)
    object.__setattr__(noise, "scale", open_parameter())
    for name, mechanism in (("one", Laplace(1.0)), ("two", noise), ("three", noise)):
        curator.release(name, mechanism, TABLE, sensitivity=BOUND)
    assert not list(opened(curator.event())) and "scale=2.0" in str(curator.event())


def test_public_draws_follow_from_no_record_and_no_open_parameter(monkeypatch: pytest.MonkeyPatch) -> None:
    read, _ = reading(monkeypatch, lambda host, request: None)
    curator = ProofCurator(read, Relation.ADD_REMOVE)
    drawn = curator.draw("shuffle", ("uniform",), size=(2, 3))
    assert isinstance(drawn, Known) and drawn.example.shape == (2, 3)
    assert curator.draw("shuffle", ("integers", Known(5)), 4).example.tolist() == [0, 0, 0, 0]
    for given, named in (((TABLE,), {}), (((1, TABLE),), {}), ((), {"size": TABLE})):
        with pytest.raises(Leak, match="a private value decides a public draw"):
            curator.draw("shuffle", ("uniform",), *given, **named)
    with pytest.raises(Unmodelled, match="p in a selection of records, a draw"):
        curator.draw("shuffle", ("uniform",), open_parameter())


def test_names_are_plain_texts_and_their_path_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    read, _ = reading(monkeypatch, lambda host, request: names.append(request.name))
    curator = ProofCurator(read, Relation.ADD_REMOVE)
    with curator.step("tree 0"), curator.step("level 1"):
        curator.release("sums", Laplace(1.0), TABLE, sensitivity=BOUND)
    assert names == ["tree 0/level 1/sums"]
    for name, error in ((TABLE, Leak), (3, Unmodelled), (None, Unmodelled)):
        with pytest.raises(error, match="name"):
            curator.step(name)  # type: ignore[arg-type]
    with pytest.raises(Unmodelled, match="a name that is no text"):
        curator.release(3, Laplace(1.0), TABLE, sensitivity=BOUND)


# --- Blocks -----------------------------------------------------------------------------------------------------------


def test_rounds_are_settled_where_another_rule_leads_to_a_block() -> None:
    """Two numbers of one loop that are the same in all rounds that are read are one rule; a plain number is another."""
    settled: list[Any] = []
    loop: Any = SimpleNamespace(rounds=[1, 2], decided=lambda each: settled.append(each.tolist()))
    other: Any = SimpleNamespace(rounds=[1, 2], decided=lambda each: settled.append("other"))
    entered: list[int] = []

    def blocks() -> Any:
        settled.clear()
        return obligations._Blocks(SimpleNamespace(block=lambda place: entered.append(place) or place))

    same, parted = Number(loop, [9, 3, 4]), Number(loop, [9, 3, 5])
    for first, second, due in [
        (same, Number(loop, [8, 3, 4]), []),  # in round 0, which is not read
        (same, parted, [[9, 3, 4], [9, 3, 5]]),
        (same, Number(other, [9, 3, 4]), [[9, 3, 4], "other"]),
        (same, 3, [[9, 3, 4]]),
        (3, same, [[9, 3, 4]]),
        (3, 3, []),
        (same, Number(loop, [9, 4, 4]), []),  # another block
    ]:
        one = blocks()
        assert one.block(first) == 3
        one.block(second)
        assert sorted(map(str, settled)) == sorted(map(str, due))
    assert set(entered) == {3, 4}
