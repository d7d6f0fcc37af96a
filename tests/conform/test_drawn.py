"""Public draws and secret samples of certified runs: right ones pass, impossible and made ones do not."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refdp.audit.verdicts import Verdict
from refdp.conform import certify, drawn, tape_file
from refdp.conform.drawn import Drawn, impossible, looked_at
from refdp.faces import registry
from refdp.own import grove
from refdp.papers import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt
from refdp.privacy.curator import Array, Curator, Request
from refdp.privacy.events import Relation
from refdp.privacy.replay import Recorder
from refdp.privacy.sources import SampleSource, law_of, sample_assignment, sample_law
from tests.identity.running import records

DATA = {"target": "binary", "rows": 120, "numeric": 2, "categories": [], "missing": 0.0, "seed": 3}
AR = Relation.ADD_REMOVE
PARAMS: dict[str, Any] = {
    "dpboost": dpboost.Params(4.0, AR, trees=8, trees_per_ensemble=4, depth=3, bins=6),
    "inprivate": inprivate.Params(epsilon=4.0, relation=AR, owners=2, rounds=2, depth=2),
    "dpxgboost": dpxgboost.Params(epsilon=4.0, relation=AR, trees=8, depth=2, bins=6, subsample=0.1, columns=0.5),
    "fedgbdt": fedgbdt.Params(epsilon=1.0, relation=AR, trees=6, depth=3, bins=6),
    "sgbdt": sgbdt.Params(epsilon=1.0, relation=AR, trees=12, depth=3, subsample=0.1),
    "grove": grove.Params(1.0, AR, trees=10, noise="floating", rows=120),
}
Made = Callable[[np.random.Generator, Request, Array], Array]


class Making(SampleSource):
    """Noise is right; what public draws, or samples, are is told by a function of the true one."""

    made: tuple[str, Made] | None = None

    def draw(self, request: Request) -> Array:
        return self._instead("draw", request, super().draw(request))

    def assign(self, request: Request) -> Any:
        return self._instead("assign", request, np.asarray(super().assign(request)))

    def _instead(self, kind: str, request: Request, found: Array) -> Array:
        if self.made is None or self.made[0] != kind:
            return found
        values = np.asarray(self.made[1](self._public, request, found)).astype(found.dtype).reshape(found.shape)
        self.tape[-1] = replace(self.tape[-1], values=values)
        return values


def ran(paper: str, seed: int, made: tuple[str, Made] | None = None, params: Any = None) -> tuple[tape_file.Tape, str]:
    """Transcript and model of one run."""
    params, data = params or PARAMS[paper], records(DATA)
    source = Making(np.random.default_rng(seed), record=True, assignments=seed % 2 == 0)
    source.made = made
    recorder = Recorder(source, params.relation)
    model = registry.paper(paper).module.train(params, data, Curator(recorder, params.relation))
    text = tape_file.tape_text(tape_file.header_of(paper, params, data), source.tape, recorder.transcript)
    header, *entries = map(json.loads, text.splitlines())
    return tape_file.Tape(header, tuple(entries)), model.to_json()


def certified(paper: str, *made: Any, seeds: int = 3, params: Any = None) -> certify.Certified:
    runs = [ran(paper, seed, *made, params=params) for seed in range(seeds)]
    return certify.certify([tape for tape, _ in runs], records(DATA), [model for _, model in runs])


def row(found: certify.Certified, what: str) -> Any:
    return next(one for one in found.rows if one.what == what)


# --- Right runs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", PARAMS)
def test_right_runs_pass(paper: str) -> None:
    found = certified(paper, seeds=9 if paper == "inprivate" else 3)
    assert found.verdict is Verdict.NOT_FOUND and found.status == 0, found.to_dict()
    public, secret = row(found, "public draws"), row(found, "secret samples")
    drawing = {
        "dpxgboost": (1, 1),
        "sgbdt": (1, 1),
        "dpboost": (0, 1),
        "inprivate": (0, 1),
        "fedgbdt": (1, 0),
        "grove": (1, 0),
    }
    for one, some in zip((public, secret), drawing[paper], strict=True):
        assert one.verdict is (Verdict.NOT_FOUND if some else Verdict.HOLDS) and bool(one.power) is bool(some)
        assert ("looks like chance is not looked for" in one.reason) is bool(some) and one.decides
    assert "code" in found.to_dict()["about"]


@pytest.mark.parametrize("settings", [{"subsample": 1.0}, {}])
def test_what_leaves_no_choice_holds(settings: Any) -> None:
    params = replace(PARAMS["dpxgboost"], columns=1.0, **settings) if settings else fedgbdt.Params(
        epsilon=4.0, relation=AR, trees=2, depth=2, bins=4)  # fmt: skip
    found = certified("dpxgboost" if settings else "fedgbdt", seeds=1, params=params)
    assert row(found, "secret samples").verdict is Verdict.HOLDS


def test_one_sample_shows_no_other() -> None:
    """A program that always takes the same records is not told from a right one by one run."""
    params = replace(PARAMS["dpboost"], trees=4)
    one = row(certified("dpboost", seeds=1, params=params), "secret samples")
    assert one.verdict is Verdict.NOT_EXAMINED and one.decides and "as from further runs" in one.reason
    assert row(certified("dpboost", seeds=2, params=params), "secret samples").verdict is Verdict.NOT_FOUND


# --- Made ones --------------------------------------------------------------------------------------------------------


def labels(generator: Any, request: Request, found: Array) -> Array:
    y = np.resize(records(DATA).y, found.size)
    return np.where(y > 0, 0.75, 0.25) if request.law[0] == "uniform" else y > 0


def half_labels(generator: Any, request: Request, found: Array) -> Array:
    """Uniform, if half of the labels are 1."""
    y = np.resize(np.argsort(np.argsort(records(DATA).y, kind="stable")) >= 60, found.size)
    return (y + generator.random(found.size)) / 2


def same(generator: Any, request: Request, found: Array) -> Array:
    """The same in all runs."""
    law = sample_assignment if request.kind == "assign" else lambda g, r: sample_law(g, r.law, r.size)
    return law(np.random.default_rng(len(request.name)), request)


def of_labels(generator: Any, request: Request, found: Array) -> Array:
    """The law's share, of records of one label first."""
    y = records(DATA).y + 0.5 * generator.random(found.size)
    return np.where(np.argsort(np.argsort(-y)) < np.sum(found == 0), 0, -1)


def in_a_row(generator: Any, request: Request, found: Array) -> Array:
    return np.roll(np.sort(found), generator.integers(found.size))


def with_17(generator: Any, request: Request, found: Array) -> Array:
    return np.where(np.arange(found.size) == 17, 0, found)


def dealt(generator: Any, request: Request, found: Array) -> Array:
    """Samples that have the expected size to the record."""
    return np.where(generator.permutation(found.size) < round(0.1 * found.size), 0, -1)


def stratified(generator: Any, request: Request, found: Array) -> Array:
    """As many records as were drawn, of each label its share of them."""
    made, y, size = np.full(found.size, -1), records(DATA).y, int(np.sum(found == 0))
    ones, others = (generator.permutation(np.flatnonzero(y == label)) for label in (1, 0))
    part = round(size * len(ones) / found.size)
    made[np.concatenate([ones[:part], others[: size - part]])] = 0
    return made


def in_turn(epoch: int) -> Made:
    """Every record in one of so many samples, and so on: batches of a shuffle, of random sizes."""
    kept: dict[str, Any] = {"entry": 0}

    def made(generator: np.random.Generator, request: Request, found: Array) -> Array:
        number = kept["entry"] % epoch
        if number == 0:
            kept["turn"] = generator.integers(epoch, size=found.size)
        kept["entry"] += 1
        return np.where(kept["turn"] == number, 0, -1)

    return made


@pytest.mark.parametrize(("rate", "trees", "seeds"), [(0.01, 100, 1), (0.05, 20, 2), (0.1, 12, 3)])
def test_records_that_take_turns_are_no_poisson_samples(rate: float, trees: int, seeds: int) -> None:
    params = replace(PARAMS["sgbdt"], subsample=rate, trees=trees)
    runs = [ran("sgbdt", seed, ("assign", in_turn(round(1 / rate))), params) for seed in range(seeds)]
    found = certify.certify([tape for tape, _ in runs], records(DATA), [model for _, model in runs])
    secret = row(found, "secret samples")
    assert secret.verdict is Verdict.VIOLATION and "likely by how many there were in this epoch" in secret.reason


@pytest.mark.parametrize(
    ("paper", "kind", "made"),
    [
        ("sgbdt", "assign", lambda g, r, found: 0 * found),
        ("dpxgboost", "assign", lambda g, r, found: 0 * found),
        ("sgbdt", "assign", lambda g, r, found: 0 * found - 1),
        ("dpboost", "assign", lambda g, r, found: 0 * found),
        ("inprivate", "assign", lambda g, r, found: 0 * found + 1),
        ("grove", "draw", labels),
        ("fedgbdt", "draw", labels),
        ("sgbdt", "draw", labels),
        ("grove", "draw", half_labels),
        ("grove", "draw", lambda g, r, found: 0 * found),
        ("grove", "draw", same),
        ("dpboost", "assign", same),
        ("sgbdt", "assign", same),
        ("sgbdt", "assign", of_labels),
        ("sgbdt", "assign", in_a_row),
        ("sgbdt", "assign", with_17),
        ("sgbdt", "assign", dealt),
    ],
)
def test_what_was_not_drawn_is_found(paper: str, kind: str, made: Made) -> None:
    found = certified(paper, (kind, made))
    what = {"draw": "public draws", "assign": "secret samples"}[kind]
    assert row(found, what).verdict is Verdict.VIOLATION and found.status == 1, found.to_dict()
    assert {one.what for one in found.rows if one.verdict is Verdict.VIOLATION} == {what}


def test_samples_that_are_stratified_by_label_are_found() -> None:
    params = replace(PARAMS["sgbdt"], trees=30)
    runs = [ran("sgbdt", seed, ("assign", stratified), params) for seed in range(2)]
    found = certify.certify([tape for tape, _ in runs], records(DATA), [model for _, model in runs])
    secret = row(found, "secret samples")
    assert secret.verdict is Verdict.VIOLATION and "likely by shares of labels or features" in secret.reason


# --- What the law cannot give -----------------------------------------------------------------------------------------


def altered(paper: str, kind: str, change: Callable[[dict[str, Any]], dict[str, Any]], name: str = "") -> Any:
    tape, model = ran(paper, 1)
    where = next(n for n, e in enumerate(tape.entries) if e["kind"] == kind and e["path"][-1].startswith(name))
    entries = [*tape.entries[:where], change(tape.entries[where]), *tape.entries[where + 1 :]]
    return certify.certify([tape_file.Tape(tape.header, tuple(entries))], records(DATA), [model])


@pytest.mark.parametrize(
    ("paper", "kind", "name", "value"),
    [
        *[("grove", "draw", "", one.hex()) for one in (-0.25, -0.001, 1.0, 7.0, 1e300)],
        *[("sgbdt", "draw", "features", str(one)) for one in (-1, 2, 7, 10**18)],
        *[("sgbdt", "assign", "", str(one)) for one in (-7, -2, 1, 5)],
        *[("dpboost", "assign", "", str(one)) for one in (-2, 4)],
    ],
)
def test_impossible_draws_are_no_run(paper: str, kind: str, name: str, value: str) -> None:
    found = altered(paper, kind, lambda e: {**e, "values": [value, *e["values"][1:]]}, name)
    plan = row(found, "plan")
    assert plan.verdict is Verdict.VIOLATION and "drawn is a number outside" in plan.reason and found.status == 1


@pytest.mark.parametrize(
    ("paper", "kind", "law", "right"),
    [
        ("grove", "draw", ["always the same"], False),
        ("grove", "draw", "uniform", False),
        ("sgbdt", "assign", ["poisson", (0.1 + 1e-6).hex()], False),
        ("sgbdt", "assign", ["poisson", "0.1"], False),
        ("sgbdt", "assign", ["poisson"], False),
        ("sgbdt", "assign", ["poisson", math.nextafter(0.1, 1).hex()], True),
        ("sgbdt", "assign", ["poisson", 0.1], True),
        ("sgbdt", "draw", ["integers", 3], False),
        ("sgbdt", "draw", ["integers", True], False),
        ("dpboost", "assign", ["partition", []], False),
        ("dpboost", "assign", ["partition", "x"], False),
    ],
)
def test_an_entry_names_the_law_that_is_due(paper: str, kind: str, law: Any, right: bool) -> None:
    plan = row(altered(paper, kind, lambda e: {**e, "law": law}), "plan")
    assert plan.verdict is (Verdict.HOLDS if right else Verdict.VIOLATION)
    assert right or "by the law" in plan.reason
    unnamed = altered(paper, kind, lambda e: {key: part for key, part in e.items() if key != "law"})
    assert row(unnamed, "plan").verdict is Verdict.HOLDS


def test_draws_of_whole_numbers_are_whole() -> None:
    def halves(entry: dict[str, Any]) -> dict[str, Any]:
        return {**entry, "dtype": "float64", "values": [(int(one) + 0.5).hex() for one in entry["values"]]}

    def floats(entry: dict[str, Any]) -> dict[str, Any]:
        return {**entry, "dtype": "float64", "values": [float(one).hex() for one in entry["values"]]}

    for kind in ("draw", "assign"):
        wrong = row(altered("sgbdt", kind, halves), "plan")
        assert wrong.verdict is Verdict.VIOLATION and "not whole" in wrong.reason
        assert row(altered("sgbdt", kind, floats), "plan").verdict is Verdict.HOLDS


def test_what_each_law_can_give() -> None:
    can = [
        (("uniform",), [0.0, math.nextafter(1, 0)]), (("integers", 3), [0, 2]), (("choice", [1.0, 0.0, 2.0]), [0, 2]),
        (("partition", [0.5, 0.25]), [-1, 0, 1]), (("partition", [0.5, 0.5]), [0, 1]), (("poisson", 0.5), [0, -1]),
        (("poisson", 1.0), [0, 0]), (("poisson", 0.0), [-1]), (("without-replacement", 0.5), [0, -1, -1]),
        (("shares", [1, 2]), [-1, 1, 0, 1]), (("shares", [2, 2]), [1, 1, 0]),
    ]  # fmt: skip
    cannot = [
        (("uniform",), [1.0]), (("uniform",), [-1e-300]), (("integers", 3), [3]), (("integers", 3), [-1]),
        (("choice", [1.0, 0.0, 2.0]), [1]), (("choice", [1.0, 2.0]), [2]), (("choice", [1.0, 2.0]), [-1]),
        (("partition", [0.5, 0.25]), [2]), (("partition", [0.5, 0.25]), [-2]), (("partition", [0.5, 0.5]), [-1]),
        (("partition", [0.5, 0.0]), [1]), (("poisson", 0.5), [1]), (("poisson", 1.0), [-1]), (("poisson", 0.0), [0]),
        (("without-replacement", 0.5), [0, 0, -1]), (("without-replacement", 0.5), [-1, -1, -1]),
        (("without-replacement", 0.5), [0, 1, -1]), (("shares", [1, 2]), [-1, 0, 0, 1]), (("shares", [1, 2]), [0, 2]),
        (("shares", [2, 2]), [1, 1, 1]), (("shares", [2, 2]), [1, 1, -1]),
    ]  # fmt: skip
    assert [impossible(law, np.array(values)) for law, values in can] == [""] * len(can)
    assert all(impossible(law, np.array(values)) for law, values in cannot)


# --- The error rate ---------------------------------------------------------------------------------------------------

LAWS: list[tuple[Any, ...]] = [
    ("uniform",), ("integers", 2), ("integers", 100), ("choice", (1.0, 0.0, 3.0)), ("partition", (0.1, 0.02, 0.5)),
    ("poisson", 0.1), ("without-replacement", 0.3), ("shares", (10, 20, 30)), ("shares", (60, 60, 60)),
]  # fmt: skip


def entries(law: tuple[Any, ...], generator: np.random.Generator, count: int = 4) -> list[Drawn]:
    """Of one run."""
    kind: Any = "draw" if law[0] in ("uniform", "integers", "choice") else "assign"
    request = Request(kind, ("a",), law=law, size=(7, 2) if kind == "draw" else 120)
    sample = (
        (lambda: sample_law(generator, law, (7, 2)))
        if kind == "draw"
        else lambda: sample_assignment(generator, request)
    )
    return [Drawn(f"{number}/a", kind, law_of(request), sample()) for number in range(count)]


@pytest.mark.parametrize("law", LAWS)
def test_right_draws_are_rarely_accused(law: Any) -> None:
    """What rules win has mean 1 at most: 5 or more in a fifth of the cases at most; it is far less here."""
    generator, mine, won = np.random.default_rng(11), records(DATA), []
    for _ in range(60):
        both = [(run, one) for run in range(2) for one in entries(law, generator)]
        won.append(max(drawn._won(both, mine).values()))
        (found,) = looked_at([[one for run, one in both if run == k] for k in range(2)], mine, both[0][1].kind, 1e-3)
        assert not found.wrong and found.enough and found.allowed < 1e-3
        assert all(impossible(one.law, one.values) == "" for _, one in both)
    assert np.mean(np.array(won) > math.log(5)) <= 0.2


def test_laws_are_looked_at_apart() -> None:
    """Each with its part of the error rate; those of one outcome are none."""
    generator = np.random.default_rng(2)
    run = [*entries(LAWS[0], generator), *entries(LAWS[1], generator), *entries(("integers", 1), generator)]
    found = looked_at([run], records(DATA), "draw", 1e-3)
    assert [one.seen.split(",")[0] for one in found] == ["uniform: 56 draws", "integers: 56 draws"]
    assert all(one.allowed <= 2.5e-4 for one in found) and not looked_at([run], records(DATA), "assign", 1e-3)


def test_few_draws_are_not_enough() -> None:
    generator = np.random.default_rng(3)
    for law, count, enough in ((LAWS[1], 1, False), (LAWS[1], 4, True), (LAWS[5], 1, False), (LAWS[5], 4, True)):
        (found,) = looked_at(
            [entries(law, generator, count)], records(DATA), "draw" if law == LAWS[1] else "assign", 1e-7
        )
        assert found.enough is enough and not found.wrong


Y = records(DATA).y


def biased(generator: np.random.Generator, towards: Any) -> Array:
    """Nine of ten draws are what they are drawn towards."""
    towards = np.asarray(towards)
    return np.where(generator.random(towards.shape) < 0.9, towards, 1 - towards)


@pytest.mark.parametrize(
    ("kind", "best", "towards"),
    [
        ("draw", "all together", lambda run, entry, place, kept: 1 + 0 * place),
        ("draw", "each run", lambda run, entry, place, kept: run + 0 * place),
        ("draw", "each entry of all runs", lambda run, entry, place, kept: entry % 2 + 0 * place),
        ("draw", "each entry", lambda run, entry, place, kept: kept[run, entry, 0] + 0 * place),
        ("draw", "each place of all runs", lambda run, entry, place, kept: kept[0, entry, place]),
        ("draw", "each place", lambda run, entry, place, kept: kept[0, 0, place]),
        ("draw", "the one before", lambda run, entry, place, kept: (place + kept[run, entry, 0]) % 2),
        ("draw", "the entry before", lambda run, entry, place, kept: (kept[0, 0, place] + entry) % 2),
        ("draw", "labels", lambda run, entry, place, kept: Y[place % 120] > 0),
        ("draw", "labels through the run", lambda run, entry, place, kept: Y[(place + 250 * entry) % 120] > 0),
        ("draw", "labels, each for two", lambda run, entry, place, kept: Y[place // 2 % 120] > 0),
        ("draw", "feature 2", lambda run, entry, place, kept: high(place)),
        ("assign", "each record", lambda run, entry, place, kept: kept[0, 0, place]),
        ("assign", "labels", lambda run, entry, place, kept: Y[place] > 0),
        ("assign", "labels in each entry", lambda run, entry, place, kept: (Y[place] > 0) ^ kept[run, entry, 0]),
        ("assign", "feature 2", lambda run, entry, place, kept: high(place)),
        ("assign", "how many there were in this epoch", lambda run, entry, place, kept:
            kept[run, entry - entry % 2, place] ^ entry % 2),
    ],
)  # fmt: skip
def test_each_rule_tells_best_what_it_is_about(kind: Any, best: str, towards: Callable[..., Array]) -> None:
    generator, size = np.random.default_rng(4), 250 if kind == "draw" else 120
    kept, place = generator.integers(0, 2, (2, 4, size)), np.arange(size)
    law, least = (("integers", 2), 0) if kind == "draw" else (("poisson", 0.5), 1)
    runs = [
        [
            Drawn(
                f"tree {entry}", kind, law, biased(generator, towards(run, entry, place, kept).astype(np.int64)) - least
            )
            for entry in range(4)
        ]
        for run in range(2)
    ]
    (found,) = looked_at(runs, records(DATA), kind, 1e-7)
    assert found.wrong and f"as likely by {best} as by the law" in found.seen


def high(place: Array) -> Array:
    """Whether the second feature of a record is in the upper half."""
    column = records(DATA).x[:, 1]
    return (column > np.median(column))[place % 120]


@pytest.mark.parametrize("best", [drawn.ONE_PLACE, drawn.ONE_ENTRY])
def test_one_record_or_sample_alone_is_found(best: str) -> None:
    generator = np.random.default_rng(5)
    runs = [entries(("poisson", 0.1), generator, 80)]
    for run in runs:
        for one in run if best == drawn.ONE_PLACE else run[7:8]:
            one.values[17 if best == drawn.ONE_PLACE else slice(40)] = 0
    (found,) = looked_at(runs, records(DATA), "assign", 1e-7)
    assert found.wrong and f"as likely by {best} as by the law" in found.seen


def test_an_entry_that_comes_again_is_found() -> None:
    """Where chance does not bring it about, and numbers alone are too few to show it."""
    generator = np.random.default_rng(6)
    for law, size, wrong in (("integers", 2), 200, True), (("integers", 2), 6, False), (("uniform",), 3, True):
        run = [Drawn(f"tree {n}", "draw", law, sample_law(generator, law, size)) for n in range(40)]
        run[33] = replace(run[33], values=run[4].values.copy())
        (found,) = looked_at([run], records(DATA), "draw", 1e-7)
        assert found.wrong is wrong and ("tree 33: that of run 1, tree 4 again" in found.seen) is wrong


@pytest.mark.parametrize(
    "law", [("shares", [1, 2]), ("shares", [2, 3]), ("without-replacement", 0.5), ("poisson", 0.3)]
)
def test_chances_of_entries_add_up(law: Any) -> None:
    """Of all that a law can give; slots that are dealt depend on each other."""
    outcomes = [np.array(one) for one in itertools.product((-1, 0, 1), repeat=4) if not impossible(law, np.array(one))]
    found = [math.exp(drawn._log_chance(Drawn("a", "assign", law, one))) for one in outcomes]
    assert len(found) > 4 and math.fsum(found) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("as far from uniform", lambda u: (np.floor(u * 16) + 0.01 * (u * 16 % 1)) / 16),
        ("numbers come again", lambda u: np.floor(u * 4096) / 4096),
    ],
)
def test_uniform_numbers_are_uniform_within_a_sixteenth_too(said: str, change: Callable[[Array], Array]) -> None:
    u = np.random.default_rng(7).random(6000)
    (right,) = looked_at([[Drawn("a", "draw", ("uniform",), u)]], records(DATA), "draw", 1e-7)
    (found,) = looked_at([[Drawn("a", "draw", ("uniform",), change(u))]], records(DATA), "draw", 1e-7)
    assert found.wrong and said in found.seen and not right.wrong
