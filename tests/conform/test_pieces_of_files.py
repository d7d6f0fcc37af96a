"""Tapes as files line by line, shares of noise column by column, and sums of logarithms along the last axis."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.conform import implied, tape_file
from refdp.conform.plain import array_out
from refdp.conform.tape_file import Tape
from refdp.conform.vector import schema_json
from refdp.data.records import Categorical, Interval, Numeric, Schema
from refdp.errors import InvalidParameter
from refdp.noise import divergences
from refdp.noise.mechanisms import DiscreteGaussian, Gaussian
from refdp.privacy.events import Relation, Sensitivity
from refdp.privacy.shares import Shares
from refdp.privacy.sources import Listed

HEADER: dict[str, Any] = {"format": "refdp-tape", "version": 1, "paper": "p", "schema": "s", "records": "r",
                          "params": {"a": 1, "b": "0x1p+0"}, "private": False}  # fmt: skip


def written(folder: Path, *lines: Any) -> Path:
    file = folder / "tape"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def test_a_tape_is_its_header_and_as_many_entries_as_it_says(tmp_path: Path) -> None:
    for count in (0, 1, 3):
        entries = [{"kind": str(k)} for k in range(count)]
        found = tape_file.read(written(tmp_path, {**HEADER, "entries": count}, *entries))
        assert found.entries == tuple(entries) and found.header == HEADER
        for wrong in (count + 1, count - 1, None):
            with pytest.raises(InvalidParameter, match=f"{count} entries of {wrong}: it is cut off"):
                tape_file.read(written(tmp_path, {**HEADER, "entries": wrong}, *entries))


def test_what_is_no_tape_is_refused(tmp_path: Path) -> None:
    for lines in (
        [],
        [[1]],
        [{**HEADER, "entries": 1}, 2],
        [{**HEADER, "format": "x", "entries": 0}],
        [{"version": 1}],
    ):
        with pytest.raises(InvalidParameter, match="no header of format 'refdp-tape'"):
            tape_file.read(written(tmp_path, *lines))
    for version in (0, 2, None):
        with pytest.raises(InvalidParameter, match=f"version {version}, this refdp reads 1"):
            tape_file.read(written(tmp_path, {**HEADER, "version": version, "entries": 0}))
    file = tmp_path / "cut"
    file.write_text('{"format": "refdp-t')
    with pytest.raises(InvalidParameter, match="not JSON lines, or cut off"):
        tape_file.read(file)
    with pytest.raises(InvalidParameter, match="cannot be read: "):
        tape_file.read(tmp_path / "no such file")


def test_what_differs_between_runs_is_named() -> None:
    own = Tape(HEADER, ())
    own.check(HEADER)
    for name in ("paper", "schema", "records"):
        with pytest.raises(InvalidParameter, match=f"its {name} is '{HEADER[name]}', that of this run 'other'"):
            own.check({**HEADER, name: "other"})
    with pytest.raises(InvalidParameter, match="its parameter b is '0x1p\\+0', not '0x1p\\+1'"):
        own.check({**HEADER, "params": {"a": 1, "b": "0x1p+1"}})
    with pytest.raises(InvalidParameter, match="its parameter c is None, not 3"):
        own.check({**HEADER, "params": {"a": 1, "b": "0x1p+0", "c": 3}})
    with pytest.raises(InvalidParameter, match="its params is None, that of this run"):
        Tape({**HEADER, "params": None}, ()).check(HEADER)
    own.check({**HEADER, "private": True})


def test_entries_of_a_tape_go_through_text() -> None:
    law = ("laplace", 1.5, -0.25, [2.0, "name"], 3)
    listed = [Listed(("a", "b"), "release", law, np.array([[1.5, -2.0]])), Listed(("c",), "draw", ("u",), np.arange(3))]
    lines = [json.loads(line) for line in tape_file.tape_text(HEADER, listed).splitlines()]
    assert lines[0] == {**HEADER, "entries": 2} and lines[1]["law"][1:3] == [(1.5).hex(), (-0.25).hex()]
    found = Tape(HEADER, tuple(lines[1:])).listed()
    for one, other in zip(found, listed, strict=True):
        assert (one.path, one.kind) == (other.path, other.kind) and np.array_equal(one.values, other.values)
    assert found[0].law == law and found[1].law == ("u",)
    for missing in ("path", "kind", "law"):
        with pytest.raises(InvalidParameter, match="entry 2: path, kind and law"):
            Tape(HEADER, (lines[1], {**lines[2], missing: None})).listed()
    with pytest.raises(InvalidParameter, match="entry 1: path, kind and law"):
        Tape(HEADER, ({**lines[1], "law": []},)).listed()
    transcript: Any = SimpleNamespace(entries=[1])
    with pytest.raises(InvalidParameter, match="2 entries were listed and 1 transcribed"):
        tape_file.tape_text(HEADER, listed, transcript)


def test_a_transcript_tells_of_every_entry_its_own_values() -> None:
    mechanism, sensitivity = Gaussian(2.0), Sensitivity(1.0, 2, "clipping", Relation.ADD_REMOVE)

    def entry(value: Any, index: Any = None, **missing: Any) -> Any:
        request = {"mechanism": mechanism, "sensitivity": sensitivity, **missing}
        return SimpleNamespace(request=SimpleNamespace(**request), value=value, output=np.array([9.0]), index=index)

    one = np.array([1.5])
    told = tape_file.true_values(entry(one))
    assert told.keys() == {"mechanism", "sensitivity", "value", "output"} and told["value"] == array_out(one)
    assert told["output"] == array_out(np.array([9.0]))
    assert tape_file.true_values(entry(one, np.array([3]))) == {**told, "index": array_out(np.array([3]))}
    for nothing in (entry(None), entry(one, mechanism=None), entry(one, sensitivity=None)):
        assert tape_file.true_values(nothing) == {}
    listed = [Listed((name,), "release", ("u",), np.arange(2)) for name in "abc"]
    transcript: Any = SimpleNamespace(entries=[entry(np.array([k])) for k in (1.0, 2.0, 3.0)])
    text = tape_file.tape_text(HEADER, listed, transcript)
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["value"] for line in lines[1:]] == [array_out(np.array([k])) for k in (1.0, 2.0, 3.0)]
    assert all(list(line) == sorted(line) for line in lines)
    plain = tape_file.tape_text(HEADER, listed).splitlines()[1:]
    assert [json.loads(line)["path"] for line in plain] == [["a"], ["b"], ["c"]] and "value" not in json.loads(plain[0])


def test_bounds_of_a_schema_are_hexadecimal() -> None:
    schema = Schema((Numeric("x", -0.5, 3.0), Categorical("c", ("a", "b"))), Interval(-2.0, 1.25))
    found = schema_json(schema)
    assert len(found["features"]) == 2 and found["features"][1]["categories"] == ["a", "b"]
    told = json.dumps(found["features"][0]), json.dumps(found["target"])
    for text, ends in zip(told, ((-0.5, 3.0), (-2.0, 1.25)), strict=True):
        assert all(end.hex() in text for end in ends)


# --- Draws ------------------------------------------------------------------------------------------------------------


def test_neighbours_that_go_together_or_apart() -> None:
    """Two draws: one product, 12, and the square of the first, 9."""
    for sign in (1, -1):
        found = implied._related("what", np.array([3.0, 4.0 * sign]), "here", 0.01)
        spread = 1 + 15 * 9.0
        assert found.chance == pytest.approx(2 * math.sqrt(spread) / math.exp(15 * 144 / (2 * spread)))
        assert found.seen == f"{4 * sign:.2f} deviations at distance 1here"
    assert implied._related("what", np.array([3.0]), "here", 0.01).chance == 1.0


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4)])
@pytest.mark.parametrize(
    "mechanism", [Gaussian((1.0, 2.0, 3.0, 4.0)), DiscreteGaussian((1.0, 2.0, 3.0, 4.0), 0.5), Gaussian(2.0)]
)
def test_a_share_has_a_column_for_each_deviation(shape: tuple[int, ...], mechanism: Any) -> None:
    asked: list[Any] = []

    def gaussian(name: str, sd: float, step: float, whole: Any, generator: Any, part: tuple[int, ...]) -> Any:
        asked.append((name, sd, whole, generator))
        return np.full(part, int(10 * sd)) + np.arange(math.prod(part)).reshape(part)

    own: Any = SimpleNamespace(_gaussian=gaussian)
    generator = np.random.default_rng(1)
    found = Shares._columns(own, "n", mechanism, shape, generator)
    deviations = [2.0] * 4 if mechanism == Gaussian(2.0) else [1.0, 2.0, 3.0, 4.0]
    assert asked == [("n", sd, shape, generator) for sd in deviations]
    count = np.arange(math.prod(shape[:-1])).reshape(shape[:-1])
    assert found.dtype == np.int64 and np.array_equal(found, count[..., None] + 10 * np.array(deviations, dtype=int))


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5)])
def test_means_of_exponentials_are_along_the_last_axis(shape: tuple[int, ...]) -> None:
    generator = np.random.default_rng(2)
    weights = generator.dirichlet(np.ones(5), size=shape[:-1])
    for most in (3.0, 499.0, 600.0):
        x = generator.uniform(0, most, size=shape)
        found = divergences.log_mean_exp(np.log(weights), x)
        top = x.max(axis=-1, keepdims=True)
        expected = np.log((weights * np.exp(x - top)).sum(axis=-1)) + top[..., 0]
        assert found.shape == shape[:-1] and np.allclose(found, expected, rtol=1e-12)
    tiny = divergences.log_mean_exp(np.log(weights), np.full(shape, 1e-20))
    assert np.allclose(tiny, 1e-20, rtol=1e-12, atol=0)
    assert (divergences.log_mean_exp(np.log(weights), np.zeros(shape)) == 0).all()
