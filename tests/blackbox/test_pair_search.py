"""`refdp audit --callable` without a pair: the search finds one, and the claim is tested on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.audit.pair_search import SIZES, Ranges, candidates, chosen, ranges_of_example, ranges_of_schema
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


def test_a_function_that_tells_of_crowds_alone(schema: str) -> None:
    found = chosen(searched.only_of_crowds, ranges_of_schema(Path(schema)), Relation.ADD_REMOVE, 1.0, 0.0, 0)
    assert len(found.pair.second) >= 10 and np.ptp(found.pair.second[:, 0]) == 0


def test_as_gaussian(schema: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, body = audited(capsys, f"{HOME}:normal", "--schema", schema, "--epsilon", "6", "--delta", "1e-5",
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
