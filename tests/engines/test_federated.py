"""Participants that add their noise before anything leaves them: the plan from the text, once each, and never less."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.data.candidates import Candidates
from refdp.data.population import COUNT, Encode, Labels, Leaves, Nodes, Start, values
from refdp.data.records import Classes, Numeric, Records, Schema, make_records
from refdp.engines.federated import LARGEST, Asks, Federation, LocalHost, NoiseInside, Participant
from refdp.engines.journal import ReleaseJournal
from refdp.engines.log import Asked, Log
from refdp.errors import InvalidParameter, InvalidRecords, JournalError, MessageError
from refdp.own import grove
from refdp.papers import dpboost, dpxgboost, fedgbdt, sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation, expand

SCHEMA = Schema((Numeric("a", 0, 1), Numeric("b", 0, 1)), Classes(("no", "yes")))
ADD = Relation.ADD_REMOVE
SETTINGS: dict[str, tuple[Any, Any]] = {
    "random": (fedgbdt, fedgbdt.Params(4.0, ADD, trees=3, depth=2, batch=2)),
    "histogram": (fedgbdt, fedgbdt.Params(4.0, ADD, trees=2, depth=2, bins=4, splits="histogram")),
    "sides": (fedgbdt, fedgbdt.Params(4.0, ADD, trees=2, depth=2, splits="partially-random")),
    "hessian": (fedgbdt, fedgbdt.Params(4.0, ADD, trees=2, depth=2, candidates="iterative-hessian", rounds=1)),
    "replace": (fedgbdt, fedgbdt.Params(4.0, Relation.REPLACE_ONE, trees=2, depth=2)),
    "grove": (grove, grove.Params(4.0, ADD, trees=3, depth=2, bins=4)),
    "sgbdt": (sgbdt, sgbdt.Params(4.0, ADD, delta=1e-4, trees=3, extra_trees=2, depth=2, subsample=0.5)),
}
COUNT_OF = 3


def records(number: int, rows: int = 40) -> Records:
    rng = np.random.default_rng(number)
    x = rng.random((rows, 2))
    return make_records(SCHEMA, x, (x[:, 0] + rng.random(rows) > 1).astype(float))


def participants(folder: Path, setting: str, honest: int = 2, life: str = "") -> list[Participant]:
    program, params = SETTINGS[setting]
    plan = Asks.of(program.train_on, params, SCHEMA)
    found = []
    for number in range(COUNT_OF):
        journal = ReleaseJournal(folder / f"{life}{number}", f"run of {number}", secret=bytes([number]) * 32)
        found.append(Participant(plan, journal, lambda own=number: records(own), COUNT_OF, honest))  # type: ignore[misc]
    return found


def run(
    setting: str, host: Any, honest: int = 2, journal: ReleaseJournal | None = None
) -> tuple[str, Curator, Federation]:
    program, params = SETTINGS[setting]
    population = Federation(Asks.of(program.train_on, params, SCHEMA), host, honest, journal)
    curator = Curator(NoiseInside(np.random.default_rng(3), journal=journal), params.relation)
    return program.train_on(params, SCHEMA, population, curator).to_json(), curator, population


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_federated_run_records_the_plan(tmp_path: Path, setting: str) -> None:
    program, params = SETTINGS[setting]
    _, curator, population = run(setting, LocalHost(participants(tmp_path, setting)))
    assert curator.event() == expand(program.plan(params, SCHEMA).event)
    assert population.traffic.rounds == len(Asks.of(program.train_on, params, SCHEMA).asks)


@pytest.mark.parametrize("honest", [1, 3])
def test_shares_of_the_honest_are_all_the_noise(tmp_path: Path, honest: int) -> None:
    """The variance of what three participants add to the leaves of empty records is 3 / honest times the plan's."""
    program, params = SETTINGS["random"]
    plan = Asks.of(program.train_on, replace(params, trees=400, depth=1, batch=400), SCHEMA)
    empty = Records(SCHEMA, np.empty((0, 2)), np.empty(0))
    mechanism: Any = plan.asks[0].pieces[0].request.mechanism
    sums = []
    for number in range(COUNT_OF):
        journal = ReleaseJournal(tmp_path / str(number), "noise", secret=bytes([number]) * 32)
        one = Participant(plan, journal, lambda: empty, COUNT_OF, honest)

        class Only:
            def __init__(self, one: Participant) -> None:
                self.one = one

            def nodes(self) -> list[int]:
                return [0]

            def send(self, texts: Any) -> Any:
                body = json.loads(texts[0])
                del body["plan"]  # one of three participants: the server's plan has one
                sums.append(self.one.answer(json.dumps(body)))
                return {0: sums[-1]}

        population = Federation(plan, Only(one), 1)
        curator = Curator(NoiseInside(np.random.default_rng(3)), params.relation)
        program.train_on(replace(params, trees=400, depth=1, batch=400), SCHEMA, population, curator)
    drawn = values(np.sum(sums, axis=0)).ravel() / mechanism.sd
    expected = COUNT_OF / honest  # 1600 draws: six standard errors are 0.21
    assert abs(drawn.var() / expected - 1) < 0.21


def test_a_program_that_needs_exact_sums_is_refused_by_name() -> None:
    schema = SCHEMA
    for program, params, message in (
        (dpboost, dpboost.Params(1.0, ADD, trees=1), "splits of level 0: a function of exact sums is released"),
        (dpxgboost, dpxgboost.Params(1.0, ADD, trees=1, candidates="uniform"), "a function of exact sums"),
        (fedgbdt, fedgbdt.Params(1.0, ADD, trees=1, noise="floating"), "leaves: Gaussian: participants add discrete"),
        (fedgbdt, fedgbdt.Params(1.0, Relation.REPLACE_ONE, trees=1, noise_by="record"), "what single records report"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            Asks.of(program.train_on, params, schema)  # type: ignore[attr-defined]


def test_sums_that_are_released_twice_or_not_at_all_are_refused() -> None:
    def twice(params: Any, schema: Any, population: Any, curator: Any) -> None:
        first = SETTINGS["random"][0].Params(4.0, ADD, trees=1, depth=1)
        charge = first.sums_charge(SCHEMA, 1.0, 0)
        population.tell(fedgbdt.Encode(first.split_candidates(SCHEMA, population)))
        population.tell(fedgbdt.Root((0,)))
        sums = values(population.ask(Nodes(("g", COUNT))))
        for _ in range(params.depth):
            curator.release("nodes", charge, sums)

    for times in (2, 3):
        with pytest.raises(InvalidParameter, match="not every entry is released once"):
            Asks.of(twice, fedgbdt.Params(4.0, ADD, depth=times), SCHEMA)


# --- Absence, restarts, replays ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["random", "sgbdt"])
def test_who_is_away_is_in_no_sum_and_follows_later(tmp_path: Path, setting: str) -> None:
    """One of three misses every other round; a participant that is restarted in between changes nothing."""

    class Restarting(LocalHost):
        def send(self, texts: Any) -> Any:
            found = super().send(texts)
            for one in self.participants:
                one._journal.close()
            self.participants = participants(tmp_path, setting)
            return found

    def away(node: int, number: int) -> bool:
        return node == number % 3 and number % 2 == 1

    (tmp_path / "calm").mkdir()
    calm = run(setting, LocalHost(participants(tmp_path / "calm", setting), away))
    again = run(setting, Restarting(participants(tmp_path, setting), away))
    assert again[0] == calm[0]
    assert again[2].answered == calm[2].answered and {len(one) for one in calm[2].answered} == {2, 3}
    (tmp_path / "whole").mkdir()
    assert run(setting, LocalHost(participants(tmp_path / "whole", setting)))[0] != calm[0]


class Dying(Exception):
    """Of a server."""


@pytest.mark.parametrize("setting", ["random", "sgbdt"])
def test_a_server_that_dies_goes_on_from_its_journal(tmp_path: Path, setting: str) -> None:
    """Before every round, with others away in every life: the cohorts stay those that were summed."""
    program, params = SETTINGS[setting]
    plan = Asks.of(program.train_on, params, SCHEMA)

    class Mortal(LocalHost):
        dies = len(plan.asks)

        def send(self, texts: Any) -> Any:
            number = json.loads(next(iter(texts.values())))["round"]
            if number == self.dies:
                raise Dying
            return super().send(texts)

    def life(folder: Path, dies: int) -> tuple[str, list[tuple[int, ...]], int]:
        host = Mortal(participants(folder, setting), lambda node, number: node == (dies + number) % 3 and dies % 2 == 1)
        host.dies = dies
        try:
            with ReleaseJournal(folder / "server", "server", secret=bytes(32)) as journal:
                population = Federation(plan, host, 2, journal)
                source = NoiseInside(np.random.default_rng(), journal=journal)
                model = program.train_on(params, SCHEMA, population, Curator(source, params.relation))
                return model.to_json(), population.answered, journal.released
        finally:
            for one in host.participants:
                assert one._journal.released <= len(plan.asks)
                one._journal.close()

    cohorts = []
    for dies in range(len(plan.asks)):  # every life sums one round more, the odd ones without one participant
        with pytest.raises(Dying):
            life(tmp_path, dies)
        cohorts.append(tuple(k for k in range(3) if dies % 2 == 0 or k != (2 * dies - 1) % 3))
    end = life(tmp_path, 10**6)
    assert end[1] == [*cohorts[1:], (0, 1, 2)] and (0, 2) in end[1]
    again = life(tmp_path, 10**6)  # everything is on file: nobody is asked
    assert again == end


@pytest.mark.parametrize("nodes", [(2**63 + 12345, 17, 2**64 - 3), (-5, 2**63 - 1, 0)])
def test_nodes_of_64_bits_leave_sums_and_cohorts_exact(
    nodes: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether they have a sign or none; sums beyond 2^53, which no float holds, among them."""
    host = LocalHost(participants(tmp_path, "random"))
    named = dict(zip(nodes, host.nodes(), strict=True))
    monkeypatch.setattr(host, "nodes", lambda: list(nodes))
    send = host.send

    def renamed(texts: Any) -> Any:
        answers = send({named[node]: text for node, text in texts.items()})
        return {node: large(answers[own]) for node, own in named.items() if own in answers}

    def large(answer: Any) -> Any:
        return np.full_like(answer, LARGEST - 1) if isinstance(answer, np.ndarray) else answer

    monkeypatch.setattr(host, "send", renamed)
    sums: list[Any] = []
    made = Federation._sums
    monkeypatch.setattr(Federation, "_sums", lambda self, query: sums.append(made(self, query)) or sums[-1])
    told = []
    for _ in range(2):
        with ReleaseJournal(tmp_path / "server", "server", secret=bytes(32)) as journal:
            told.append(run("random", host, journal=journal)[2].answered)
    assert told[0] == told[1] and set(told[0]) == {tuple(sorted(nodes))}
    assert {one.dtype for one in sums} == {np.dtype(np.int64)} and all((one == 3 * (LARGEST - 1)).all() for one in sums)


def test_a_journal_in_another_form_is_refused(tmp_path: Path) -> None:
    with ReleaseJournal(tmp_path / "server", "server", secret=bytes(32)) as journal:
        run("random", LocalHost(participants(tmp_path, "random")), journal=journal)
        line = next(one for one in journal._kept if "round" in one["asked"])
        line["output"] = [3, 0, 1, 2, *line["output"][7:]]
        line["shape"] = [len(line["output"])]
        with pytest.raises(JournalError, match="round 0: the journal has sums in another form"):
            run("random", LocalHost(participants(tmp_path, "random", life="2")), journal=journal)


def test_a_server_asks_nothing_else_under_an_old_number(tmp_path: Path) -> None:
    plan = Asks.of(SETTINGS["random"][0].train_on, SETTINGS["random"][1], SCHEMA)
    with ReleaseJournal(tmp_path / "server", "server", secret=bytes(32)) as journal:
        program, params = SETTINGS["random"]
        host = LocalHost(participants(tmp_path, "random"))
        curator = Curator(NoiseInside(np.random.default_rng(), journal=journal), params.relation)
        program.train_on(params, SCHEMA, Federation(plan, host, 2, journal), curator)
        program, params = SETTINGS["histogram"]
        with pytest.raises(JournalError, match="differ, and what was released stays released"):
            curator = Curator(NoiseInside(np.random.default_rng(), journal=journal), params.relation)
            program.train_on(params, SCHEMA, Federation(plan, host, 2, journal), curator)


def test_too_few_answers_end_the_run_and_nothing_is_summed(tmp_path: Path) -> None:
    host = LocalHost(participants(tmp_path, "random"), lambda node, number: node > 0)
    with pytest.raises(InvalidRecords, match="1 of 3 participants answered, 2 are needed for enough noise; the round"):
        run("random", host)
    assert host.participants[0]._journal.released == 1  # it stays charged


class Recording(LocalHost):
    """Keeps the requests to the first participant."""

    def send(self, texts: Any) -> Any:
        self.texts = [*getattr(self, "texts", []), texts[0]]
        return super().send(texts)


def test_a_replay_gets_the_same_sums_and_anything_else_is_refused(tmp_path: Path) -> None:
    host = Recording(participants(tmp_path, "random"))
    run("random", host)
    one, text = host.participants[0], host.texts[0]
    assert np.array_equal(one.answer(text), one.answer(text))
    released = one._journal.released

    def changed(**other: Any) -> str:
        body = json.loads(text)
        asked = json.loads(body["asked"])
        return json.dumps({"round": other.pop("round", body["round"]), "asked": json.dumps(asked | other)})

    asked = json.loads(json.loads(text)["asked"])
    for other, error, message in (
        (changed(digest="0" * 32), MessageError, "another log"),
        (changed(round=1), MessageError, "other steps or another query"),
        (changed(round=99), MessageError, "the plan has rounds 0 to"),
        (changed(query={"kind": "labels", "low": 0.0, "high": 1.0}), MessageError, "other steps or another query"),
        (changed(entries=asked["entries"][:-1]), MessageError, "other steps or another query"),
        (changed(query={"kind": "leaves", "of": ["g", "g"]}), MessageError, "leaves of other statistics"),
        ('{"round": 0}', InvalidParameter, "a round's number and its query"),
    ):
        with pytest.raises(error, match=message):
            one.answer(other)
    assert one._journal.released == released


def test_no_past_changes_in_another_life(tmp_path: Path) -> None:
    """Of S-GBDT a record pays by the log: forged ones had it in 43 rounds at the price of 3 (epsilon 7.6, not 1.9)."""
    host = Recording(participants(tmp_path, "sgbdt"))
    run("sgbdt", host)

    def anew(**other: Any) -> Participant:
        for one in host.participants:
            one._journal.close()
        program, params = SETTINGS["sgbdt"]
        journal = ReleaseJournal(tmp_path / "0", "run of 0", secret=bytes(32))
        host.participants[0] = Participant(
            Asks.of(program.train_on, params, SCHEMA), journal, lambda: records(other.get("of", 0)), COUNT_OF, 2
        )
        return host.participants[0]

    def forged(text: str, place: int) -> str:
        """The whole log, with another start."""
        told, log = json.loads(text), Log()
        for earlier in host.texts[: place + 1]:
            for entry in Asked.from_json(json.loads(earlier)["asked"]).entries:
                log.add(Start(40.0) if isinstance(entry, Start) else entry)
        query = Asked.from_json(told["asked"]).query
        return json.dumps(told | {"asked": log.since(0, query).to_json()})

    (tmp_path / "0").rename(tmp_path / "whole")
    kept = (tmp_path / "whole").read_text(encoding="utf-8").splitlines(keepends=True)
    answered = len(host.texts) - 2
    (tmp_path / "0").write_text("".join(kept[: answered + 2]), encoding="utf-8")
    with pytest.raises(MessageError, match=rf"^round {answered}: another log than that of round 1, which was answered"):
        anew().answer(forged(host.texts[answered], answered))
    with pytest.raises(MessageError, match=r"^other records than those of the rounds that were answered here"):
        anew(of=1).answer(whole_log(host.texts, answered))
    one = anew()
    with pytest.raises(MessageError, match="another log than that of round 1"):
        one.answer(forged(host.texts[answered], answered))
    assert isinstance(one.answer(whole_log(host.texts, answered)), np.ndarray)  # what was refused left nothing behind
    assert one._journal.released == answered + 1


def test_a_round_that_was_missed_is_not_answered_after_a_later_one(tmp_path: Path) -> None:
    host = Recording(participants(tmp_path, "sgbdt"), lambda node, number: node == 0 and number == 2)
    run("sgbdt", host)
    with pytest.raises(MessageError, match=r"^round 2: round 3 was answered, and none before it is from then on"):
        host.participants[0].answer(whole_log(host.texts, 2))


def whole_log(texts: list[str], place: int) -> str:
    """A request with all entries from the first on."""
    log = Log()
    for text in texts[: place + 1]:
        asked = Asked.from_json(json.loads(text)["asked"])
        for entry in asked.entries[max(len(log) - asked.first, 0) :]:
            log.add(entry)
    told = json.loads(texts[place])
    return json.dumps(told | {"asked": log.since(0, Asked.from_json(told["asked"]).query).to_json()})


SHIFTED = Candidates((np.array([0.5]), np.linspace(0.1, 0.9, 7)), np.array([False, False]))
"""As many bins as two features with four thresholds each have, parted otherwise."""


@pytest.mark.parametrize(
    ("setting", "change", "message"),
    [
        ("sgbdt", lambda step, query: (step, Leaves(("g", "g")) if isinstance(query, Leaves) else query), "leaves"),
        ("sgbdt", lambda step, query: (step, Labels(-9.0, 9.0) if isinstance(query, Labels) else query), "labels"),
        ("grove", lambda step, query: (step, Nodes(("b0", "b0")) if isinstance(query, Nodes) else query), "nodes"),
        ("histogram", lambda step, query: (Encode(SHIFTED) if isinstance(step, Encode) else step, query), "bins"),
    ],
    ids=["the gradient at the noise of its support", "wider bounds", "one class twice", "bins of two features in one"],
)
def test_a_server_that_asks_for_more_than_the_noise_covers_is_refused(
    tmp_path: Path, setting: str, change: Any, message: str
) -> None:
    """The first time that it is asked: the shape of the sums is the planned one, and their sensitivity is larger."""

    class Greedy(Federation):
        def tell(self, step: Any) -> None:
            super().tell(change(step, None)[0])

        def ask(self, query: Any) -> Any:
            return super().ask(change(None, query)[1])

    program, params = SETTINGS[setting]
    if setting == "histogram":
        params = replace(params, trees=1, features_per_tree=None)
    plan = Asks.of(program.train_on, params, SCHEMA)
    everybody = [
        Participant(plan, ReleaseJournal(tmp_path / str(k), "run", secret=bytes([k]) * 32), lambda: records(0), 3, 2)
        for k in range(COUNT_OF)
    ]
    population = Greedy(plan, LocalHost(everybody), 2)
    with pytest.raises(MessageError, match=f"{message} of other statistics, bounds or bins than the plan has"):
        program.train_on(params, SCHEMA, population, Curator(NoiseInside(np.random.default_rng(3)), ADD))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros((1, 2), dtype=np.int64), "int64 sums of shape"),
        (np.zeros((2, 2, 4)), "int64 sums of shape"),
        (np.full((2, 2, 4), 2**60, dtype=np.int64), "beyond every bound"),
        ("sums", "int64 sums of shape"),
    ],
)
def test_answers_that_no_honest_participant_sends_are_refused_by_name(
    tmp_path: Path, answer: Any, message: str
) -> None:
    class Lying(LocalHost):
        def send(self, texts: Any) -> Any:
            return {**super().send(texts), 1: answer}

    with pytest.raises(MessageError, match=f"participant 1 in round 0: .*{message}"):
        run("random", Lying(participants(tmp_path, "random")))


@pytest.mark.parametrize("other", ["epsilon", "honest", "participants"])
def test_a_participant_answers_the_server_of_its_own_plan_alone(tmp_path: Path, other: str) -> None:
    """With a larger epsilon in its own settings its share would be too small; with more honest ones as well."""
    program, params = SETTINGS["random"]
    mine = Asks.of(program.train_on, replace(params, epsilon=400.0) if other == "epsilon" else params, SCHEMA)
    everybody = participants(tmp_path, "random")
    counts = {"epsilon": (3, 2), "honest": (3, 3), "participants": (4, 2)}[other]
    journal = ReleaseJournal(tmp_path / "odd", "run of 2", secret=b"o" * 32)
    everybody[2] = Participant(mine, journal, lambda: records(2), *counts)
    with pytest.raises(MessageError, match="another plan than the one here"):
        run("random", LocalHost(everybody))
    assert journal.released == 0


@pytest.mark.parametrize(("before", "after"), [(3, 1), (1, 3), (3, 2)])
def test_no_sum_of_another_plan_is_given_again(tmp_path: Path, before: int, after: int) -> None:
    """A share of one third of the variance would be all the noise of a round where one answer is enough."""

    def life(honest: int, server: ReleaseJournal | None = None) -> LocalHost:
        host = LocalHost(participants(tmp_path, "random", honest), lambda node, number: node > 0)
        try:
            run("random", host, honest, server)
        finally:
            for one in host.participants:
                one._journal.close()
        return host

    told = r"^round 0: another plan than that of the rounds that were answered here; a run ends with the settings"
    if before > 1:
        with pytest.raises(InvalidRecords, match=f"1 of 3 participants answered, {before} are needed"):
            life(before)
    else:
        life(before)
    kept = (tmp_path / "0").read_bytes()
    with pytest.raises(MessageError, match=told):
        life(after)
    assert (tmp_path / "0").read_bytes() == kept
    for number in range(COUNT_OF):
        (tmp_path / str(number)).unlink()
    with ReleaseJournal(tmp_path / "server", "run") as server:
        life(1, server)
        with pytest.raises(JournalError, match=r"release \d+ was another one: plan differ"):
            life(after if after > 1 else 2, server)


def test_a_participant_is_counted_once(tmp_path: Path) -> None:
    """Its sums would be there twice, with one share of noise, and an absent one would not be missed."""
    everybody = participants(tmp_path, "random")
    with pytest.raises(MessageError, match="participant 1: it answers from the journal of participant 0"):
        run("random", LocalHost([everybody[0], everybody[0], everybody[2]]))
    same = [ReleaseJournal(tmp_path / name, "one", secret=b"s" * 32) for name in ("x", "y")]
    other = ReleaseJournal(tmp_path / "z", "two", secret=b"s" * 32)
    assert same[0].identity == same[1].identity != other.identity and b"s" * 32 not in same[0].identity.encode()
