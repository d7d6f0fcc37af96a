"""Who is told what, who is asked again, what is counted: the server and its participants, piece by piece."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.data.candidates import Candidates
from refdp.data.kernels import GRID
from refdp.data.population import Begin, Encode, Labels, Pay, Refresh, Start
from refdp.data.records import Interval, Numeric, Records, Schema
from refdp.engines.federated import (
    LARGEST,
    MOST,
    WIDEST,
    Asking,
    Asks,
    Federation,
    LocalHost,
    NoiseInside,
    Participant,
    _named,
    _Tagged,
    fixed,
)
from refdp.engines.journal import ReleaseJournal
from refdp.engines.log import Behind, Enter, Leave, Log, Select, entry_in, entry_out
from refdp.errors import InvalidParameter, InvalidRecords, JournalError, MessageError
from refdp.noise.gridded import DiscreteGaussian, DiscreteLaplace
from refdp.own import grove
from refdp.privacy.curator import Request
from refdp.privacy.events import Relation
from refdp.privacy.sources import Coins

SCHEMA = Schema((Numeric("a", 0, 1),), Interval(-9, 9))
BEGIN = Begin(grove.Contribution(grove.Params(1.0, Relation.ADD_REMOVE), SCHEMA))
ASKED = Labels(-9.0, 9.0)
SHAPE = (2,)
ZEROS = np.zeros(SHAPE, dtype=np.int64)
PLAN = Asks((), tuple(Asking(0, "labels", "", SHAPE, ()) for _ in range(4)))


class Host:
    """Answers by a function of node and text; keeps all texts, round by round."""

    def __init__(self, answer: Any = lambda node, text: ZEROS, count: int = 3) -> None:
        self.answer, self.count, self.texts = answer, count, []  # type: ignore[var-annotated]

    def nodes(self) -> range:
        return range(self.count)

    def send(self, texts: Any) -> dict[int, Any]:
        self.texts.append(dict(texts))
        return {node: self.answer(node, text) for node, text in texts.items()}

    def firsts(self) -> list[dict[int, int]]:
        """From which step on everybody was told, in every sending."""
        return [{node: json.loads(json.loads(t)["asked"])["first"] for node, t in one.items()} for one in self.texts]


def server(host: Any, steps: int = 3, honest: int = 1, journal: ReleaseJournal | None = None) -> Federation:
    made = Federation(PLAN, host, honest, journal)
    made.tell(BEGIN)
    for number in range(1, steps):
        made.tell(Start(number))
    return made


# --- The server -------------------------------------------------------------------------------------------------------


def test_everybody_is_told_all_steps_once() -> None:
    host = Host()
    population = server(host)
    population.ask(ASKED)
    population.tell(Start(9))
    population.ask(ASKED)
    assert host.firsts() == [dict.fromkeys(range(3), 0), dict.fromkeys(range(3), 3)]
    assert [json.loads(one[0])["round"] for one in host.texts] == [0, 1]
    texts = [text for one in host.texts for text in one.values()]
    assert population.traffic.to_dict() == {
        "rounds": 2, "bytes_sent": 2 * 3 * ZEROS.nbytes, "bytes_received": sum(map(len, texts)),
    }  # fmt: skip
    assert population.size == 0 and population.answered == [(0, 1, 2)] * 2


@pytest.mark.parametrize(("known", "told"), [(0, 0), (2, 2), (3, 3), (99, 3), (-5, 0)])
def test_who_is_behind_is_told_what_is_missing(known: int, told: int) -> None:
    """By what it says that it knows: nothing before the first step, nothing after the last."""
    seen: set[int] = set()

    def answer(node: int, text: str) -> Any:
        late = node == 1 and node not in seen
        seen.add(node)
        return known if late else ZEROS + node

    host = Host(answer)
    assert server(host).ask(ASKED).tolist() == [3, 3]
    assert host.firsts() == [{0: 0, 1: 0, 2: 0}, {1: told}]


def test_who_is_always_behind_is_asked_twice() -> None:
    host = Host(lambda node, text: 1 if node == 2 else ZEROS)
    population = server(host, honest=2)
    population.ask(ASKED)
    assert [set(one) for one in host.texts] == [{0, 1, 2}, {2}] and population.answered == [(0, 1)]
    with pytest.raises(InvalidRecords, match="2 of 3 participants answered, 3 are needed"):
        server(Host(host.answer), honest=3).ask(ASKED)


@pytest.mark.parametrize(
    ("entry", "fits"),
    [
        (LARGEST - 1, True),
        (1 - LARGEST, True),
        (LARGEST, False),
        (-LARGEST, False),
        (2**63 - 1, False),
        (1 - 2**63, False),
        (-(2**63), False),
    ],
)
def test_one_entry_beyond_every_bound_is_refused(entry: int, fits: bool) -> None:
    host = Host(lambda node, text: np.array([0, entry if node == 1 else 0]))
    if fits:
        assert server(host).ask(ASKED).tolist() == [0, entry]
    else:
        with pytest.raises(MessageError, match="participant 1 in round 0: a sum beyond every bound"):
            server(host).ask(ASKED)


def test_a_sum_of_all_answers_is_an_int64() -> None:
    assert MOST * (LARGEST - 1) <= 2**63 - 1 < (MOST + 1) * (LARGEST - 1)
    server(Host(count=MOST))
    with pytest.raises(InvalidParameter, match=f"{MOST + 1} participants: up to {MOST} are allowed"):
        server(Host(count=MOST + 1))


def test_answers_have_the_shape_of_their_round() -> None:
    plan = Asks((), tuple(Asking(0, "labels", "", (size,), ()) for size in (2, 3, 4)))
    sizes = iter((2, 3, 3))
    population = Federation(plan, Host(lambda node, text: np.zeros(next(sizes), dtype=np.int64), count=1), 1)
    assert [population.ask(ASKED).shape for _ in range(2)] == [(2,), (3,)]
    with pytest.raises(MessageError, match=r"round 2: int64 sums of shape \(4,\)"):
        population.ask(ASKED)


@pytest.mark.parametrize("honest", [0, 1, 3, 4])
def test_as_many_answers_are_needed_as_there_can_be(tmp_path: Path, honest: int) -> None:
    """By a server and by a participant: 1 to all."""
    journal = ReleaseJournal(tmp_path / "own", "run")
    for make in (lambda: server(Host(), honest=honest), lambda: Participant(PLAN, journal, empty, 3, honest)):
        if 1 <= honest <= 3:
            make()
        else:
            with pytest.raises(InvalidParameter, match=f"honest = {honest}: 1 to 3"):
                make()


@pytest.mark.parametrize("changed", [None, 1, 2])
def test_a_server_that_goes_on_tells_a_change_of_any_step(tmp_path: Path, changed: int | None) -> None:
    """What was summed after other steps is not used, whichever of them is another one; nobody is asked."""
    with ReleaseJournal(tmp_path / "server", "run", secret=bytes(32)) as journal:
        server(Host(lambda node, text: ZEROS + 5), journal=journal).ask(ASKED)
    with ReleaseJournal(tmp_path / "server", "run") as journal:
        population = Federation(PLAN, host := Host(), 1, journal)
        for number, step in enumerate((BEGIN, Start(1), Start(2))):
            population.tell(Start(7) if number == changed else step)
        if changed is None:
            assert population.ask(ASKED).tolist() == [15, 15] and population.answered == [(0, 1, 2)]
        else:
            with pytest.raises(JournalError, match="log differ"):
                population.ask(ASKED)
        assert host.texts == []


def test_a_local_host_brings_each_text_to_its_node() -> None:
    class Echo:
        def __init__(self, name: str) -> None:
            self.name = self.identity = name

        def answer(self, text: str) -> Any:
            return self.name, json.loads(text)["own"]

    texts = {node: json.dumps({"round": 5, "own": node}) for node in range(3)}
    everybody: Any = [Echo("a"), Echo("b"), Echo("c")]
    host = LocalHost(everybody)
    assert list(host.nodes()) == [0, 1, 2]
    assert host.send(texts) == {0: ("a", 0), 1: ("b", 1), 2: ("c", 2)}
    asked: list[tuple[int, int]] = []
    absent = LocalHost(everybody, lambda node, number: asked.append((node, number)) or node == 1)  # type: ignore[func-returns-value]
    assert absent.send(texts) == {0: ("a", 0), 2: ("c", 2)}
    assert asked == [(0, 5), (1, 5), (2, 5)]


def test_draws_of_a_server_are_numbered_apart_from_sums(tmp_path: Path) -> None:
    """Draw 0, 1, 2, each once on file; in a later life the same ones, and sums in between take no number of theirs."""
    request = Request("draw", ("some",), law=("integers", 1000), size=4)
    lives = []
    for _ in range(2):
        with ReleaseJournal(tmp_path / "server", "run") as journal:
            source = NoiseInside(np.random.default_rng(), journal=journal)
            population = server(Host(), journal=journal)
            found = []
            for _ in range(3):
                found.append(source.draw(request).tolist())
                population.ask(ASKED)
            lives.append(found)
            assert [journal.find("draw", number) for number in range(4)] == [0, 2, 4, None]
            assert [journal.find("round", number) for number in range(4)] == [1, 3, 5, None]
    assert lives[0] == lives[1] and len({tuple(one) for one in lives[0]}) == 3


def test_coins_that_participants_toss_have_a_key_of_nobody() -> None:
    law = ("poisson", 0.5)
    request = Request("assign", ("coins",), law=law, size=0)
    tagged = _Tagged()
    for source in (NoiseInside(np.random.default_rng(0)), tagged.source):
        assert source.assign(request) == Coins(bytes(16), law, 0)
    drawn: list[int] = []

    def draw(count: int) -> Coins:
        drawn.append(count)
        return Coins(bytes(16), law, count)

    tagged.select(7, draw)
    assert drawn == [0] and tagged.finished().steps == (fixed(Select(7, Coins(b"k" * 16, law, 5))),)


# --- What a program asks ----------------------------------------------------------------------------------------------


def released(*tags: float) -> Request:
    return Request("release", ("some",), np.array(tags) * GRID, DiscreteLaplace(3.0, 1.0))


def test_nothing_is_released_before_a_question() -> None:
    for tag in (0.0, 1.0):
        population = _Tagged()
        population.tell(BEGIN)
        with pytest.raises(InvalidParameter, match="a function of exact sums is released"):
            population.released(released(tag))


def test_every_number_that_is_released_is_an_entry() -> None:
    for tags in ((1, 1.5), (1.5, 1), (0, 1), (2, 3), (1, 2, 3), (0, 1, 2)):
        population = _Tagged()
        population.tell(BEGIN)
        population.ask(ASKED)
        with pytest.raises(InvalidParameter, match="a function of exact sums is released"):
            population.released(released(*tags))


def test_steps_of_a_plan_are_those_that_a_server_writes_down() -> None:
    """The same candidates again are no step, others are; a block is one of its scope."""
    first, second = (Candidates((np.array([at]),), np.array([False])) for at in (0.25, 0.5))
    told = [BEGIN, Encode(first), Encode(first), Encode(second), Encode(second), Start(1)]
    population, tagged = server(Host(), steps=0), _Tagged()
    for step in told[1:]:
        population.tell(step)
    for step in told:
        tagged.tell(step)
    for one in (population, tagged):
        one.enter(7, 2)
        one.leave()
    steps = tuple(fixed(entry) for entry in population.log.entries)
    assert tagged.finished().steps == steps and len(steps) == 6
    assert steps[-2:] == (fixed(Enter(7, 2)), fixed(Leave())) and len(set(steps)) == 5


def test_a_query_whose_entries_are_not_released_is_named() -> None:
    """The last one, however many there were, with how many steps came before it."""
    population = _Tagged()
    population.tell(BEGIN)
    population.ask(ASKED)
    population.released(released(2, 1))
    population.tell(Start(1))
    population.ask(ASKED)
    population.tell(Start(2))
    with pytest.raises(InvalidParameter, match="the labels before step 2: not every entry is released once"):
        population.finished()
    population.released(released(4))
    population.released(released(3))
    found = population.finished()
    assert [one.upto for one in found.asks] == [1, 2] and len(found.steps) == 3
    assert [[piece.positions.tolist() for piece in one.pieces] for one in found.asks] == [[[1, 0]], [[1], [0]]]


# --- A participant ----------------------------------------------------------------------------------------------------


def empty() -> Records:
    return Records(SCHEMA, np.empty((0, 1)), np.empty(0))


STEPS = (BEGIN, Start(0), Refresh(("g",)), Pay(), Refresh(("h", "g")), Pay(), Pay())
PAYING = Asks(
    tuple(fixed(step) for step in STEPS), tuple(Asking(upto, "labels", "", SHAPE, ()) for upto in (2, 4, 6, 7))
)
"""Round 0 is free; rounds 1, 2 and 3 are paid by the entries 3, 5 and 6."""


def participant(folder: Path, plan: Asks = PAYING) -> Participant:
    return Participant(plan, ReleaseJournal(folder / "own", "run", secret=bytes(32)), empty, 3, 2)


def test_a_charge_is_that_of_the_round_that_follows_it(tmp_path: Path) -> None:
    """It is paid in its own round and where that round was answered; one that was missed is a refresh instead."""
    one = participant(tmp_path)

    def paid(number: int) -> list[Any]:
        return [one._own(place, STEPS[place], number) for place in (3, 5, 6)]

    missed = [Refresh(("g",)), Refresh(("h", "g")), Refresh(("h", "g"))]
    assert paid(1) == [Pay(), *missed[1:]]
    assert paid(2) == [missed[0], Pay(), missed[2]]
    assert paid(3) == [*missed[:2], Pay()]
    one._journal.once(0, {"round": 2}, lambda: ZEROS)
    assert paid(3) == [missed[0], Pay(), Pay()]
    assert [one._own(place, STEPS[place], 0) for place in (0, 1, 2, 4)] == [STEPS[place] for place in (0, 1, 2, 4)]


def test_the_statistics_are_those_of_the_last_refresh() -> None:
    steps = [fixed(step) for step in (BEGIN, Refresh(("g",)), Refresh(("h",)), Start(2), BEGIN)]
    assert _named(steps) == ("h",) and _named(steps[:2]) == ("g",)


def test_secret_coins_are_a_participants_own(tmp_path: Path) -> None:
    """As many as it has records, under its own key; coins that were tossed elsewhere are taken as they are."""
    law = ("poisson", 0.5)
    five = Records(SCHEMA, np.full((5, 1), 0.5), np.zeros(5))
    one = Participant(PAYING, ReleaseJournal(tmp_path / "own", "run", secret=bytes(32)), lambda: five, 3, 2)
    found = [one._own(0, Select(scope, Coins(bytes(16), law, 0)), 0) for scope in (1, 1, 2)]
    coins: list[Any] = [entry.assigned for entry in found if isinstance(entry, Select)]
    assert [entry.scope for entry in found if isinstance(entry, Select)] == [1, 1, 2]
    assert all((c.law, c.size, c.start, c.count) == (law, 5, 0, 5) for c in coins)
    assert coins[0].key == coins[1].key != coins[2].key and bytes(16) not in {c.key for c in coins}
    tossed = Select(1, np.array([0, -1]))
    assert one._own(0, tossed, 0) is tossed
    assert one._shard._start == 0  # its slots are the first ones of its own coins


def planless(text: str) -> Any:
    """A request that does not say of which plan it is: whose plan it is, is tested elsewhere."""
    return {name: value for name, value in json.loads(text).items() if name != "plan"}


def test_a_request_is_a_round_of_the_plan(tmp_path: Path) -> None:
    population = server(host := Host(), steps=1)
    population.ask(ASKED)
    body = planless(host.texts[0][0])
    one = participant(tmp_path)
    for wrong in ([], "text", {"round": 0}, {**body, "more": 1}, {**body, "round": "0"}, {**body, "round": 0.0}):
        with pytest.raises(InvalidParameter, match="a round's number and its query are needed"):
            one.answer(json.dumps(wrong))
    for number in (-1, 4):
        with pytest.raises(MessageError, match=f"round {number}: the plan has rounds 0 to 3"):
            one.answer(json.dumps({**body, "round": number}))


OTHER: dict[str, tuple[Any, ...]] = {
    "first": ("x", None, [], 1.5, -1, "3"),
    "entries": (3, None, {}, [3], [None], [[]], ["x"], [{"kind": "descend", "splits": "x"}], [{"kind": "labels"}]),
    "digest": (3, None),
    "query": (3, None, [], "x", {}, {"kind": "labels"}, {"kind": "pay"}, {"kind": "nodes", "of": []} | {"more": 1}),
}


@pytest.mark.parametrize("name", OTHER)
def test_requests_of_another_form_are_refused_by_name(tmp_path: Path, name: str) -> None:
    """Whatever stands in them is the server's: no other error, and nothing is answered."""
    population = server(host := Host(), steps=1)
    population.ask(ASKED)
    body = planless(host.texts[0][0])
    one = participant(tmp_path)
    for other in OTHER[name]:
        asked = json.dumps({**json.loads(body["asked"]), name: other})
        with pytest.raises(InvalidParameter):
            one.answer(json.dumps({**body, "asked": asked}))
    for text in ("{", "", "[" * 100_000, json.dumps({**body, "asked": 3}), json.dumps({**body, "asked": "{"})):
        with pytest.raises(InvalidParameter, match="query"):
            one.answer(text)
    assert one._journal.released == 0


def test_what_is_planned_is_compared_part_by_part(tmp_path: Path) -> None:
    """Another kind of query, other steps, and more or fewer steps, each alone, are refused."""
    told = (fixed(BEGIN), fixed(Start(1)))
    for steps, upto, kind in (
        (told, 2, "leaves"), (told, 1, "labels"), (told, 3, "labels"), ((told[0], fixed(BEGIN)), 2, "labels"),
    ):  # fmt: skip
        one = participant(tmp_path, Asks(steps, (Asking(upto, kind, "", SHAPE, ()),)))
        population = server(host := Host(), steps=2)
        population.ask(ASKED)
        with pytest.raises(MessageError, match="round 0: other steps or another query than the plan has"):
            one.answer(json.dumps(planless(host.texts[0][0])))
        one._journal.close()


@pytest.mark.parametrize(
    ("mechanism", "told"), [(DiscreteLaplace(3.0, GRID), ""), (DiscreteLaplace(3.0, 3 * GRID), ""),
                            (DiscreteLaplace(3.0, GRID / 4), "noise in steps of "),
                            (DiscreteLaplace(WIDEST * GRID, GRID), ""), (DiscreteGaussian(WIDEST * GRID, GRID), ""),
                            (DiscreteLaplace(1.1 * WIDEST * GRID, GRID), r"noise of 4\.61e\+06: up to 4\.19e\+06 is"),
                            (DiscreteGaussian((1.0, 1e100), GRID), r"noise of 1e\+100: up to 4\.19e\+06 is allowed")],
)  # fmt: skip
def test_noise_that_no_message_holds_is_refused_from_the_plan(mechanism: Any, told: str) -> None:
    population = _Tagged()
    population.tell(BEGIN)
    tags = np.asarray(population.ask(ASKED)) * GRID
    with pytest.raises(InvalidParameter, match=f"^some: {told}") if told else nullcontext():
        population.released(Request("release", ("some",), tags, mechanism))
        assert len(population.finished().asks) == 1


def test_a_log_is_followed_from_wherever_it_is_told() -> None:
    """Told from entry `first` on, whoever knows `known` of them knows all of them after; before that it is behind."""
    whole = server(Host(), steps=5).log
    for known in range(6):
        for first in range(6):
            own = Log(whole.entries[:known], whole.digests[: known + 1])
            if first > known:
                with pytest.raises(Behind) as behind:
                    own.follow(whole.since(first, ASKED))
                assert behind.value.known == len(own) == known
                continue
            assert list(own.follow(whole.since(first, ASKED))) == whole.entries
            assert own.entries == whole.entries and own.digests == whole.digests


def test_secret_coins_of_a_scope_read_back() -> None:
    entry = Select(7, Coins(b"k" * 16, ("poisson", 0.5), 9, 2, 4))
    again = entry_in(json.loads(json.dumps(entry_out(entry))))
    assert isinstance(again, Select) and (again.scope, again.assigned) == (entry.scope, entry.assigned)
    with pytest.raises(InvalidParameter, match="an entry of kind 'select' that cannot be read"):
        entry_in({"kind": "select", "scope": 7, "coins": 3})
    with pytest.raises(InvalidParameter, match="an entry of kind None that cannot be read"):
        entry_in(3)  # type: ignore[arg-type]
