"""`refdp audit --callable` without a pair: the search finds one, and the claim is tested on it."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import pair_search
from refdp.audit.pair_search import SIZES, Ranges, candidates, chosen, ranges_of_example, ranges_of_schema
from refdp.audit.runs import InputPair, chunk, seed_of
from refdp.errors import InvalidParameter
from refdp.faces import cli
from refdp.privacy.events import Relation
from tests.blackbox import searched

HOME = "tests.blackbox.searched"


def audited(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    ended = cli.run(["audit", "--callable", *words, "--no-structural", "--json"])
    return ended, json.loads(capsys.readouterr().out)


@pytest.fixture
def schema(tmp_path: Path) -> str:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps({"income": [0, 10], "colour": ["red", "green", "blue"], "grade": [1, 2, 5]}))
    return str(file)


@pytest.mark.parametrize("relation", list(Relation))
def test_candidates_are_neighbours_within_the_bounds(schema: str, relation: Relation) -> None:
    columns = ranges_of_schema(Path(schema))
    pairs = list(candidates(columns, relation, 0))
    assert {len(pair.second) for pair in pairs} == {n + (relation is Relation.REPLACE_ONE) for n in SIZES}
    for pair in pairs:
        rows = np.vstack([pair.first, pair.second])
        assert np.all((rows[:, 0] >= 0) & (rows[:, 0] <= 10)) and set(rows[:, 1]) <= {0.0, 1.0, 2.0}
        assert set(rows[:, 2]) <= {1.0, 2.0, 5.0}
        assert np.array_equal(pair.first[:-1], pair.second[: len(pair.first) - 1])


def test_an_unclipped_sum_is_found_from_a_schema(schema: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, body = audited(capsys, f"{HOME}:unclipped", "--schema", schema, "--epsilon", "1", "--samples", "4000",
                           "--no-low-bits")  # fmt: skip
    assert (status, body["verdict"]) == (1, "VIOLATION") and body["lower_bound"] > 2
    first, second = body["pair"]["first"], body["pair"]["second"]
    assert first[:-1] == second and first[-1][0] == 10 and body["pairs_tried"] == len(SIZES) * 8
    told = next(row for row in body["coverage"] if row["what"] == "record counts")
    assert "at epsilon 100" in told["reason"]


def test_an_example_and_a_score_will_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "example.json"
    file.write_text("[[3.5, 1]]")
    status, body = audited(capsys, f"{HOME}:counted", "--example", str(file), "--epsilon", "1", "--samples", "2000",
                           "--score", f"{HOME}:first_of", "--no-low-bits")  # fmt: skip
    assert (status, body["verdict"]) == (0, "NOT FOUND") and body["lower_bound"] <= 1
    assert body["score"] == f"{HOME}:first_of"


@pytest.mark.parametrize(("function", "score", "word"), [
    ("partly", "first_of", "NOT EXAMINED"), ("hidden", "first_of", "VIOLATION"), ("traced", "clears", "VIOLATION"),
])  # fmt: skip
def test_a_score_hides_nothing_of_an_output(
    function: str, score: str, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that raises now and then is told; one that changes outputs comes after they were read."""
    file = tmp_path / "pair.json"
    file.write_text('{"first": [[1], [2]], "second": [[1]]}')
    words = ["audit", "--callable", f"{HOME}:{function}", "--score", f"{HOME}:{score}", "--pair", str(file),
             "--epsilon", "1", "--samples", "400", "--no-low-bits", "--json"]  # fmt: skip
    for checks in ([], ["--no-structural"]):
        cli.run(words + checks)
        body = json.loads(capsys.readouterr().out)
        assert body["verdict"] == word and bool(body["structural"]) is (word == "VIOLATION" and not checks)
        told = [f"the score of an output ({HOME}:first_of raised KeyError)"] * (score == "first_of")
        assert body["unread"] == told and (body["lower_bound"] > 1) is (word == "VIOLATION")


@pytest.mark.parametrize("score", ["a_text", "nothing_at_all", "never"])
def test_a_score_is_a_number(score: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pair.json"
    file.write_text('{"first": [[1], [2]], "second": [[1]]}')
    status, body = audited(capsys, f"{HOME}:traced", "--score", f"{HOME}:{score}", "--pair", str(file), "--epsilon",
                           "1", "--samples", "400")  # fmt: skip
    assert status == 2 and body["error"].startswith(f"--score '{HOME}:{score}': it ")
    assert ("KeyError" in body["error"]) is (score == "never")


def test_the_same_records_are_no_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In another order they show nothing of one record; bounds within which no two records differ have no pair."""
    file = tmp_path / "pair.json"
    file.write_text('{"first": [[1], [2]], "second": [[2], [1]]}')
    words = f"{HOME}:counted", "--epsilon", "1", "--samples", "400", "--no-low-bits"
    status, body = audited(capsys, *words, "--pair", str(file))
    told = next(row for row in body["coverage"] if row["what"] == "composition")
    assert (status, told["verdict"]) == (3, "NOT EXAMINED") and "another order" in told["reason"]
    flat = Ranges(np.array([5.0]), np.array([5.0]), ((),))
    with pytest.raises(InvalidParameter, match="no two records differ"):
        chosen(searched.counted, flat, Relation.REPLACE_ONE, 1.0, 0.0, 0)
    found = chosen(searched.counted, Ranges(np.zeros(1), np.ones(1), ((),)), Relation.REPLACE_ONE, 1.0, 0.0, 0)
    assert found.tried < 8 * len(SIZES) and not np.array_equal(found.pair.first, found.pair.second)


def test_a_function_that_tells_of_crowds_alone(schema: str) -> None:
    found = chosen(searched.only_of_crowds, ranges_of_schema(Path(schema)), Relation.ADD_REMOVE, 1.0, 0.0, 0)
    assert len(found.pair.second) >= 10 and np.ptp(found.pair.second[:, 0]) == 0


def test_as_gaussian(schema: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, body = audited(capsys, f"{HOME}:normal", "--schema", schema, "--epsilon", "4.5", "--delta", "1e-5",
                           "--samples", "4000", "--gaussian", "--no-low-bits")  # fmt: skip
    assert status == 0 and 0.5 < body["gaussian"]["mu"] <= 1 and "N(mu, 1)" in body["gaussian"]["assumption"]


@pytest.mark.parametrize("words", [[], ["--schema", "a", "--example", "b"], ["--pair", "a", "--schema", "b"]])
def test_one_source_of_pairs_is_needed(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status, body = audited(capsys, f"{HOME}:counted", "--epsilon", "1", *words)
    assert status == 2 and "one of --pair FILE, --schema FILE and --example FILE is needed" in body["error"]


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}', "[[1, null]]", "[[[1]]]"])
def test_a_bad_example_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "example.json"
    file.write_text(text)
    with pytest.raises(InvalidParameter, match="a list of records of finite numbers is needed"):
        ranges_of_example(file)


def test_a_constant_column_gets_bounds(tmp_path: Path) -> None:
    file = tmp_path / "example.json"
    file.write_text("[5, 0, -2]")
    found = ranges_of_example(file)
    assert isinstance(found, Ranges)
    assert found.low.tolist() == [0, -1, -2] and found.high.tolist() == [5, 1, 0]


def test_bounds_of_an_example_of_several_records_are_its_own(tmp_path: Path) -> None:
    """A column that varies keeps its least and greatest value, also where one of them is 0."""
    file = tmp_path / "example.json"
    file.write_text("[[0, 2, -1, -4], [3, 2, 1, 0], [1, 2, 7, -1]]")
    found = ranges_of_example(file)
    assert found.low.tolist() == [0, 0, -1, -4] and found.high.tolist() == [3, 2, 7, 0]


# --- Piece by piece ---------------------------------------------------------------------------------------------------


def test_ranges_of_a_schema_are_its_bounds_and_lists(schema: str) -> None:
    found = ranges_of_schema(Path(schema))
    assert found.low.tolist() == [0, 0, 1] and found.high.tolist() == [10, 2, 5]
    assert found.values == ((), (0, 1, 2), (1, 2, 5))


@pytest.mark.parametrize("relation", list(Relation))
def test_candidates_are_crowds_at_both_bounds_and_then_anything(relation: Relation) -> None:
    """Of one column from 2 to 10: six pairs of each size can be told beforehand, of the others that they are two."""
    pairs = list(candidates(Ranges(np.array([2.0]), np.array([10.0]), ((),)), relation, 3))
    due = [
        ([crowd] * size, own, 12.0 - own)
        for size in SIZES
        for crowd in (2.0, 10.0)
        for own in (12.0 - crowd, crowd, 6.0)
    ]
    told = [pair for number, pair in enumerate(pairs) if number % 8 < 6]
    assert len(told) == len(due) and len(pairs) == 8 * len(SIZES)
    for pair, (crowd, own, other) in zip(told, due, strict=True):
        assert pair.first[:, 0].tolist() == [*crowd, own]
        assert pair.second[:, 0].tolist() == (crowd if relation is Relation.ADD_REMOVE else [*crowd, other])
    assert all(set(pair.first[:, 0]) <= {2.0, 10.0} for pair in pairs[7::8])
    anywhere = np.concatenate([pair.first[:, 0] for pair in pairs[6::8]])
    assert len(set(anywhere)) == len(anywhere) and 2 < anywhere.min() < 4 and 8 < anywhere.max() < 10


def test_two_sides_lie_apart_by_their_medians_in_mean_distances() -> None:
    """The greatest over the columns; a column that never varies counts nothing where both sides agree."""
    outputs: dict[int, list[list[float]]] = {1: [], 0: []}

    def noisy(records: Any, seed: int) -> list[float]:
        chance = np.random.default_rng(seed)
        outputs[len(records)].append(
            [float(chance.normal() + 3 * len(records)), float(chance.laplace() ** 3 + 1000), 7.0, float("nan")]
        )
        return outputs[len(records)][-1]

    found = pair_search._apart(noisy, InputPair([1.0], []), 5)

    def of(column: int) -> float:
        one, two = ([row[column] for row in side] for side in outputs.values())
        middles = statistics.median(one), statistics.median(two)
        spreads = [statistics.fmean(abs(v - m) for v in side) for side, m in zip((one, two), middles, strict=True)]
        return abs(middles[0] - middles[1]) / statistics.fmean(spreads)

    assert len(outputs[0]) == len(outputs[1]) == pair_search.RUNS
    assert found == pytest.approx(max(of(0), of(1))) and of(0) > 2 > of(1)


def test_outputs_of_other_lengths_or_errors_alone_are_told_apart() -> None:
    def longer(records: Any, seed: int) -> list[float]:
        return [1.0] * (1 + len(records))

    def now_and_then(records: Any, seed: int) -> list[float]:
        return [1.0, 2.0, 3.0] if seed == seed_of(5, 17) else [1.0, 2.0]

    def failing(records: Any, seed: int) -> float:
        raise ValueError

    def exact(records: Any, seed: int) -> list[float]:
        return [5.0, float(len(records))]

    pair = InputPair([1.0], [])
    assert pair_search._apart(longer, pair, 5) == np.inf and pair_search._apart(now_and_then, pair, 5) < 0.2
    assert pair_search._apart(failing, pair, 5) == 0.0
    assert pair_search._apart(exact, pair, 5) > 1e300
    assert pair_search._apart(exact, InputPair([1.0], [2.0]), 5) == 0.0


def test_outputs_whose_lengths_vary_by_chance_are_told_apart_by_their_numbers() -> None:
    """So are errors now and then: a noisy mean beside either, before or behind it, ranks pairs as it does alone."""

    def of(kind: str) -> Any:
        def function(records: Any, seed: int) -> Any:
            chance = np.random.default_rng(seed)
            noisy, many = float(np.mean(records) + chance.laplace(scale=0.1)), int(chance.integers(4))
            if kind == "error" and not many:
                raise ValueError(f"try again {chance.integers(10**6)}")
            trees = [1.0] * (int(chance.integers(10**3)) if kind == "long" else many)
            return {"alone": [noisy], "before": [*trees, noisy], "error": [noisy]}.get(kind, [noisy, *trees])

        return function

    far, near = InputPair([1.0], [0.0]), InputPair([0.5], [0.5, 0.5])
    for kind in ("alone", "behind", "before", "long", "error"):
        assert 5 < pair_search._apart(of(kind), far, 5) < 50 and pair_search._apart(of(kind), near, 5) < 2, kind

    def sometimes(records: Any, seed: int) -> list[float]:
        return [1.0] * (1 + seed % 2 + 2 * len(records))

    def not_a_number(records: Any, seed: int) -> list[float]:
        return [float(seed % 7), np.nan if records else 5.0]

    assert pair_search._apart(sometimes, InputPair([1.0], []), 5) == np.inf
    assert pair_search._apart(not_a_number, InputPair([1.0], []), 5) > 1e300


def of_a_kind(records: Any, seed: int) -> Any:
    """A private count, which is a float where a record is at the lower bound."""
    noisy = len(records) + int(
        np.random.default_rng(seed).geometric(0.4) - np.random.default_rng(~seed & 63).integers(5)
    )
    return float(noisy) if (np.asarray(records)[:, 0] < -0.9).any() else noisy


def of_an_error(records: Any, seed: int) -> Any:
    """A count in half of the runs, else an error, whose kind depends on a record at the lower bound."""
    noisy = len(records) + int(np.random.default_rng(seed).geometric(0.4))
    if seed % 2:
        raise (KeyError if (np.asarray(records)[:, 0] < -0.9).any() else ValueError)("bad")
    return noisy


def in_digits(records: Any, seed: int) -> Any:
    """A private count, written in a way that varies with the noise."""
    noisy = float(np.random.default_rng(seed).laplace(len(records) / 100))
    if seed % 3 == 0:
        raise ValueError(f"{noisy:g}")
    return {"text": f"{noisy:g} {noisy:.2f} {round(100 * noisy)}", f"n{noisy}": 1}


def test_what_stands_beside_numbers_tells_sides_apart() -> None:
    low, high = InputPair(np.array([[1.0], [-1.0]]), np.array([[1.0]])), InputPair(np.ones((2, 1)), np.ones((1, 1)))
    assert pair_search._apart(of_a_kind, low, 5) == np.inf and pair_search._apart(of_a_kind, high, 5) < 2
    beside = [[pair_search._beside(*chunk(of_an_error, one, seed, 0, 24)) for seed in range(10)] for one in (low, high)]
    assert min(beside[0]) > 4 > 3 > max(beside[1])
    assert max(pair_search._beside(*chunk(in_digits, high, seed, 0, 24)) for seed in range(10)) < 1.5


@pytest.mark.parametrize("function", [of_a_kind, of_an_error])
@pytest.mark.parametrize("seed", [0, 1])
def test_pairs_are_searched_by_what_stands_beside_numbers(function: Any, seed: int) -> None:
    columns = Ranges(np.array([-1.0, 0.0]), np.array([1.0, 1.0]), ((), ()))
    found = chosen(function, columns, Relation.ADD_REMOVE, 1.0, 0.0, seed)
    assert found.pair.first[-1, 0] < -0.9 and not (found.pair.second[:, 0] < -0.9).any()


def test_bounds_whose_distance_is_no_float_are_refused(tmp_path: Path) -> None:
    schema, example = tmp_path / "schema.json", tmp_path / "example.json"
    schema.write_text('{"b": [0, 1], "a": [-1.7e308, 1.7e308]}')
    example.write_text("[[-1.7e308], [1.7e308]]")
    with pytest.raises(InvalidParameter, match=r"bounds of column 1: \[-1.7e\+308, 1.7e\+308\] given"):
        ranges_of_schema(schema)
    with pytest.raises(InvalidParameter, match="distance is too large"):
        ranges_of_example(example)


@pytest.mark.parametrize("setting", [True, False])
def test_pairs_that_lie_farthest_apart_are_compared_by_their_bounds(
    setting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half the finalists and one at every setting; of a function with a setting those of the first ones come first."""

    def without(records: Any, seed: int) -> float:
        return 0.0

    def needed(records: Any, epsilon: float, seed: int) -> float:
        return 0.0

    def with_one(records: Any, seed: int, epsilon: float = 1.0) -> float:
        return 0.0

    function = with_one if setting else without
    columns = Ranges(np.array([0.0]), np.array([1.0]), ((),))
    pairs = [InputPair(k, -1) for k in range(40)]
    asked: list[tuple[float | None, int]] = []
    bounded: list[int] = []
    ranks = {100.0: [5, 9, 11, 2], 10.0: [9, 20, 21, 3], None: [30, 31, 5, 32]}

    def apart(way: Any, pair: Any, seed: int) -> float:
        epsilon = getattr(way, "keywords", {}).get("epsilon")
        asked.append((epsilon, seed))
        order = ranks[epsilon]
        return 10.0 - order.index(pair.first) if pair.first in order else 0.0

    def bound(way: Any, pair: Any, **given: Any) -> Any:
        assert way is function and given["delta"] == 0.25 and given["claimed"] == 2.0
        bounded.append(pair.first)
        return SimpleNamespace(lower=float(pair.first % 10))

    monkeypatch.setattr(pair_search, "candidates", lambda *_: iter(pairs))
    monkeypatch.setattr(pair_search, "_apart", apart)
    monkeypatch.setattr(pair_search, "epsilon_lower_bound", bound)
    found = chosen(function, columns, Relation.ADD_REMOVE, 2.0, 0.25, 3)
    assert found.tried == 40 and found.settings == ((100.0, 10.0) if setting else ())
    assert {epsilon for epsilon, _ in asked} == ({100.0, 10.0, None} if setting else {None})
    assert len({seed for _, seed in asked}) == (3 if setting else 1)
    assert bounded == ([5, 9, 11, 20, 21, 30] if setting else [30, 31, 5])
    assert found.pair.first == (9 if setting else 5)
    assert ("epsilon 100, at epsilon 10" in found.words()) == setting and str(found.tried) in found.words()
    assert not pair_search._has_epsilon(needed) and not pair_search._has_epsilon(3)  # type: ignore[arg-type]


def test_what_is_searched_by_default() -> None:
    assert SIZES == (10, 1, 0, 3, 50, 100) and pair_search.LARGE == (100.0, 10.0) and pair_search.CONFIDENCE == 0.95
    assert (pair_search.RUNS, pair_search.FINAL_RUNS, pair_search.FINALISTS) == (24, 2_000, 4)


def test_records_at_bounds_are_at_either_bound_in_each_column() -> None:
    """Of the audited ones and of those beside them."""
    wide = Ranges(np.full(30, 2.0), np.full(30, 10.0), ((),) * 30)
    for pair in list(candidates(wide, Relation.REPLACE_ONE, 3))[7::8]:
        for rows in (pair.first[-1:], pair.second[-1:], *([pair.first[:-1]] if len(pair.first) > 1 else [])):
            assert set(rows.ravel()) == {2.0, 10.0}


@pytest.mark.parametrize("seed", [0, 3])
def test_a_search_has_seeds_of_its_own_at_every_step(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is learnt about pairs is not judged by the same runs again, here or in the audit under the seed itself."""
    searching: set[int] = set()
    ending: set[int] = set()
    monkeypatch.setattr(pair_search, "_apart", lambda way, pair, seed: float(searching.add(seed) is None))

    def bound(function: Any, pair: Any, *, seed: int, **given: Any) -> Any:
        ending.add(seed)
        return SimpleNamespace(lower=float(len(pair.second)))

    def function(records: Any, seed: int, epsilon: float = 1.0) -> float:
        return 0.0

    monkeypatch.setattr(pair_search, "epsilon_lower_bound", bound)
    found = chosen(function, Ranges(np.zeros(1), np.ones(1), ((),)), Relation.ADD_REMOVE, 1.0, 0.0, seed)
    assert len(searching) == 3 and len(ending) == 1 and len(searching | ending | {seed}) == 5
    assert min(searching | ending) >= 0 and len(found.pair.first) == len(found.pair.second) + 1
