"""The scope file and what is made of it: every default, every bound on both sides, every form of data."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.audit.package import entries, scope
from refdp.audit.package.entries import Neighbours
from refdp.audit.package.scope import Claim, Entry, Scope
from refdp.errors import InvalidParameter
from refdp.privacy.events import Relation

CLAIM = {"statement": "said", "address": "there", "epsilon": 2}
ENTRY = {"name": "one", "callable": "m:f", "first": [[1]], "second": []}
PACKAGE = {"name": "my-package", "version": "1"}
SAID = Claim("said", "there", "one record", Relation.ADD_REMOVE, 2.0, 0.0)


def read(**changed: Any) -> Scope:
    data = {"package": PACKAGE, "claim": CLAIM, "entry": [ENTRY], **changed}
    return scope._scope(Path("/where/audit.toml"), data)


def refused(words: str, **changed: Any) -> None:
    with pytest.raises(InvalidParameter) as error:
        read(**changed)
    assert words in str(error.value)


def entry(**changed: Any) -> Entry:
    return scope._entry(4, {**ENTRY, **changed}, CLAIM)


# --- The file ---------------------------------------------------------------------------------------------------------


def test_defaults_of_a_scope() -> None:
    found = read()
    assert found == Scope(Path("/where/audit.toml"), "my-package", "1", ("my_package",), (), "", SAID,
                          (Entry("one", "callable", "m:f", SAID, 0, [[1]], []),), (), 0)  # fmt: skip
    assert found.folder == Path("/where") and SAID.to_dict() == {
        "statement": "said", "address": "there", "unit": "one record", "relation": "add-remove", "epsilon": 2.0,
            "delta": 0.0}  # fmt: skip
    (one,) = found.entries
    assert one == Entry("one", "callable", "m:f", SAID, 0, [[1]], [], None, (), 1, "", 4000, True, True, True, False)
    assert (scope.SAMPLES, scope.FEWEST) == (4000, 100)


def test_everything_that_a_file_says() -> None:
    noise = {"function": "m:g", "law": "laplace", "value": "x", "scale": 1}
    found = read(package={**PACKAGE, "import": ["a", "b"], "open": "opendp", "root": "src"}, seed=7, noise=[noise],
                 claim={**CLAIM, "unit": "one person", "relation": "replace-one", "epsilon": 0.5, "delta": 0.25},
                 entry=[ENTRY, {**ENTRY, "name": "two", "epsilon": 3, "statement": "other"}])  # fmt: skip
    assert (found.modules, found.opened, found.root, found.seed) == (("a", "b"), ("opendp",), "src", 7)
    assert found.noise == (noise,) and [one.place for one in found.entries] == [0, 1]
    assert found.claim == Claim("said", "there", "one person", Relation.REPLACE_ONE, 0.5, 0.25)
    assert found.entries[1].claim == Claim("other", "there", "one person", Relation.REPLACE_ONE, 3.0, 0.25)
    assert found.entries[0].claim == found.claim


def test_what_a_whole_file_needs() -> None:
    refused("[[entry]]: none given", entry=[])
    refused("entry: dict given, tables [[entry]] are needed", entry={})
    refused("entry: list given, tables", entry=[ENTRY, 3])
    refused("name 'one': given twice", entry=[ENTRY, {**ENTRY, "name": "two"}, ENTRY])
    refused("[package]: missing, one table", package=None)
    refused("[claim]: int given, one table", claim=3)
    refused("the file: 'sed' is not known ('seed' is meant?)", sed=1)
    refused("the file: 'zzz' is not known; allowed are package, claim", zzz=1)
    refused("[package]: 'names' is not known", package={**PACKAGE, "names": 1})
    refused("seed: -1, a whole number from 0 on", seed=-1)
    refused("seed: True, a whole number", seed=True)
    refused("seed: 1.0, a whole number", seed=1.0)
    assert read(seed=0).seed == 0


@pytest.mark.parametrize(("key", "right", "wrong"), [
    ("epsilon", [1e-9, 49.99, 1], [0, -1, 50, 50.0, True, "1", float("nan"), None]),
    ("delta", [0, 0.5, 1 - 1e-9], [-1e-9, 1, 1.5, float("inf"), False]),
    ("relation", ["add-remove", "replace-one"], ["other", 3, ""]), ("unit", ["x", ""], [3]),
    ("statement", ["x"], ["", "  ", 3]), ("address", ["x"], ["", 3]),
])  # fmt: skip
def test_domains_of_a_claim(key: str, right: list[Any], wrong: list[Any]) -> None:
    for value in right:
        given = getattr(scope._claim("[claim]", {**CLAIM, key: value}), key)
        assert given == (Relation(value) if key == "relation" else value) and not isinstance(given, int)
    for value in wrong:
        with pytest.raises(InvalidParameter, match=key):
            scope._claim("[claim]", {**CLAIM, key: value})


@pytest.mark.parametrize(("changed", "words"), [
    ({"command": ["a"]}, "exactly one of callable, command, notebook"),
        ({"callable": "m.f"}, "module:function is needed"),
    ({"names": 1}, "[[entry]] 5: 'names' is not known"), ({"name": " "}, "[[entry]] 5 name: ' ', a text is needed"),
    ({"records": [[1]], "bounds": [[0, 1]]}, "either first and second, or records"), ({"samples": 99}, "samples: 99"),
    ({"samples": 1}, "samples: 1, allowed"), ({"samples": -1}, "whole number from 0"),
        ({"least": -1}, "whole number from 0"),
    ({"replay": 1}, "replay: 1, true or false"), ({"order": "yes"}, "order: 'yes'"), ({"bounds": 3}, "bounds: 3"),
    ({"source": 3}, "source: 3, a text"),
])  # fmt: skip
def test_faults_of_an_entry(changed: Any, words: str) -> None:
    with pytest.raises(InvalidParameter) as error:
        entry(**changed)
    assert words in str(error.value)


@pytest.mark.parametrize("left", ["callable", "first", "second", "both"])
def test_an_entry_needs_a_way_in_and_data(left: str) -> None:
    table = {
        key: value for key, value in ENTRY.items() if key != left and (left != "both" or key not in ("first", "second"))
    }
    with pytest.raises(InvalidParameter, match="none given" if left == "callable" else "either first and second"):
        scope._entry(0, table, CLAIM)
    table = {"name": "n", "callable": "m:f", "records": [[1]]}
    with pytest.raises(InvalidParameter, match="records without bounds"):
        scope._entry(0, table, CLAIM)
    assert scope._entry(3, {**table, "bounds": [[0, 1]]}, CLAIM).bounds == ((0.0, 1.0),)


def test_kinds_and_switches_of_an_entry() -> None:
    plain = {key: value for key, value in ENTRY.items() if key != "callable"}
    for kind, given, target in [
        ("command", ["a", "b"], ("a", "b")),
        ("command", "a", ("a",)),
        ("notebook", "x.ipynb", "x.ipynb"),
    ]:
        found = scope._entry(0, {**plain, kind: given}, CLAIM)
        assert (found.kind, found.target) == (kind, target)
    for given in ([], [""], [3], 3):
        with pytest.raises(InvalidParameter, match="command"):
            scope._entry(0, {**plain, "command": given}, CLAIM)
    for key in ("replay", "structural", "low_bits", "order"):
        for value in (True, False):
            found = entry(**{key: value})
            plain_ones = {one: one != "order" for one in ("replay", "structural", "low_bits", "order") if one != key}
            assert getattr(found, key) is value and all(getattr(found, one) is told for one, told in plain_ones.items())
    found = entry(samples=100, least=0, source="m:g", bounds=[[0, 1], [-1, 2.5]])
    assert (found.samples, found.least, found.source, found.bounds) == (100, 0, "m:g", ((0.0, 1.0), (-1.0, 2.5)))
    assert entry(samples=0).samples == 0 and entry(least=5).least == 5 and entry().place == 4


@pytest.mark.parametrize(
    "pair", [3, [1], [1, 2, 3], [1, 1], [2, 1], [True, 2], [0, False], ["a", 1], [0, float("inf")], (0, 1), []]
)
def test_bounds_are_pairs_in_order(pair: Any) -> None:
    with pytest.raises(InvalidParameter, match="pairs"):
        entry(bounds=[[0, 1], pair])


@pytest.mark.parametrize(("changed", "words"), [
    ({"caller": ["x"]}, "exactly one of value and caller"), ({"value": None}, "exactly one of value and caller"),
    ({"function": None}, "function is missing"), ({"law": None}, "law is missing"),
        ({"scale": None}, "scale is missing"),
    ({"function": "mg"}, "module:function is needed"), ({"law": 5}, "law: 5, a text"),
        ({"laws": 5}, "[[noise]] 3: 'laws'"),
    ({"value": None, "caller": []}, "caller: nothing given"), ({"value": None, "caller": ["x"]}, ""),
    ({"value": None, "caller": "x"}, ""), ({}, ""),
])  # fmt: skip
def test_noise_functions_of_a_file(changed: Any, words: str) -> None:
    table = {"function": "m:g", "law": "laplace", "value": "x", "scale": 1, **changed}
    table = {key: value for key, value in table.items() if value is not None}
    if not words:
        assert scope._noise(2, table) == table
        return
    with pytest.raises(InvalidParameter) as error:
        scope._noise(2, table)
    assert words in str(error.value) and "[[noise]] 3" in str(error.value)


def test_a_file_is_read_where_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '[package]\nname = "p"\nversion = "1"\n[claim]\nstatement = "s"\naddress = "a"\nepsilon = 1\n'
    (tmp_path / "audit.toml").write_text(text + '[[entry]]\nname = "n"\ncallable = "m:f"\nfirst = [[1]]\nsecond = []\n')
    monkeypatch.chdir(tmp_path)
    assert scope.read(Path("audit.toml")).path == tmp_path / "audit.toml"
    (tmp_path / "cut.toml").write_text("[package")
    for name, words in [
        ("none.toml", "none.toml: cannot be read"),
        ("cut.toml", "cut.toml: no TOML"),
        ("bad.toml", "bad.toml: "),
    ]:
        (tmp_path / "bad.toml").write_text("x = 1")
        with pytest.raises(InvalidParameter, match=words):
            scope.read(Path(name))


# --- Entry points -----------------------------------------------------------------------------------------------------


def test_few_records_are_shown() -> None:
    """Eight rows and columns at most, on both sides."""
    for first, second, shown in [((8, 8), (7, 8), True), ((9, 8), (8, 8), False), ((8, 8), (9, 8), False),
                                 ((8, 9), (7, 9), False), ((0, 3), (1, 3), True)]:  # fmt: skip
        pair = Neighbours(np.ones(first), np.zeros(second), (), "")
        assert pair.shown == ({"first": np.ones(first).tolist(), "second": np.zeros(second).tolist()} if shown else {})
        assert pair.sides[0] is pair.first and pair.sides[1] is pair.second
    assert Neighbours(np.ones(3), np.ones((2, 1)), (), "").shown == {}


def test_modules_of_the_folder_come_first_and_others_come_back(tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "scope_pieces_module.py").write_text(f"WHERE = {name!r}\n")
        (tmp_path / name / "scope_pieces_inner").mkdir()
        (tmp_path / name / "scope_pieces_inner" / "__init__.py").write_text(f"WHERE = {name!r}\n")
        (tmp_path / name / "scope_pieces_inner" / "part.py").write_text(f"WHERE = {name!r}\n")
        (tmp_path / name / "json").mkdir()
    before, path = Path.cwd(), list(sys.path)
    known = json
    try:
        with entries.inside(tmp_path / "there"):
            import scope_pieces_inner.part as there_part  # type: ignore[import-not-found]
            import scope_pieces_module as there  # type: ignore[import-not-found]

            assert (
                there.WHERE == "there" and Path.cwd() == tmp_path / "there" and sys.path[0] == str(tmp_path / "there")
            )
        assert Path.cwd() == before and sys.path == path
        with pytest.raises(KeyError), entries.inside(tmp_path / "here"):
            import scope_pieces_inner.part as here_part
            import scope_pieces_module as here

            assert here.WHERE == here_part.WHERE == "here" and sys.modules["json"] is known
            raise KeyError
        assert sys.modules["scope_pieces_module"] is there and sys.modules["scope_pieces_inner.part"] is there_part
        with entries.inside(tmp_path / "there"):
            assert sys.modules["scope_pieces_module"] is there
        assert Path.cwd() == before and sys.path == path and os.getcwd() == str(before)
    finally:
        for name in [name for name in sys.modules if name.startswith("scope_pieces_")]:
            del sys.modules[name]


def made(**changed: Any) -> Entry:
    return Entry(**{"name": "n", "kind": "callable", "target": "m:f", "claim": SAID, "place": 0, **changed})


def test_each_kind_of_entry_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(entries, "to_run", lambda *given: asked.append(given) or "loaded")
    assert entries.function_of(made()) == "loaded" and asked == [("m:f", "[[entry]] 'n' callable")]
    cells = [{"cell_type": "code", "source": ["x = records[0]\n", "y = 2"]},
        {"cell_type": "markdown", "source": "not python"},
             {"cell_type": "code", "source": "released = (x, y, seed, __name__)"}]  # fmt: skip
    book = tmp_path / "book.ipynb"
    book.write_text(json.dumps({"cells": cells}))
    assert entries.function_of(made(kind="notebook", target=str(book)))([5], 9) == (5, 2, 9, "__main__")
    book.write_text(json.dumps({"cells": cells[:1]}))
    with pytest.raises(InvalidParameter, match="no cell leaves"):
        entries.function_of(made(kind="notebook", target=str(book)))([5], 9)
    for text in ("{", "{}", '{"cells": [3]}', '{"cells": [{"cell_type": "code", "source": "x ="}]}'):
        book.write_text(text)
        with pytest.raises(InvalidParameter, match="plain Python cells"):
            entries.function_of(made(kind="notebook", target=str(book)))
    monkeypatch.setattr(
        entries, "command", lambda words: lambda records, generator: (words, records, generator.random())
    )
    run = entries.function_of(made(kind="command", target=("{python}", "a.py", "{csv}")))
    assert run([1], 4) == ([sys.executable, "a.py", "{csv}"], [1], np.random.default_rng(4).random())


# --- Data -------------------------------------------------------------------------------------------------------------

WHERE = Scope(Path("/x/audit.toml"), "p", "1", ("p",), (), "", SAID, (), (), 0)
OTHER = Claim("said", "there", "one record", Relation.REPLACE_ONE, 2.0, 0.0)


def test_a_pair_as_given() -> None:
    (pair,) = entries.neighbours(WHERE, made(first=[[1, 2], [3, 4]], second=[[3, 4]]))
    assert pair.first.tolist() == [[1, 2], [3, 4]] and pair.second.tolist() == [[3, 4]]
    assert pair.words == "2 records against 1 record, as given"
    assert pair.code == ("first = np.array([[1.0, 2.0], [3.0, 4.0]])", "second = np.array([[3.0, 4.0]])")
    for first, second, shapes in [([[1, 2]], [], [(1, 2), (0, 2)]), ([], [[1, 2]], [(0, 2), (1, 2)])]:
        (pair,) = entries.neighbours(WHERE, made(first=first, second=second))
        assert [side.shape for side in pair.sides] == shapes and pair.words.count("record") == 2
    assert "0 records" in pair.words and "1 record," in pair.words


@pytest.mark.parametrize(("first", "second", "add", "replace"), [
    ([[1], [2]], [[2]], True, False), ([[2]], [[2], [2]], True, False), ([[1], [2]], [[2], [3]], False, True),
    ([[1]], [[1]], False, False), ([[1], [2], [3]], [[2]], False, False), ([[1], [1]], [[2], [2]], False, False),
    ([[0.0], [1]], [[-0.0]], True, False), ([[1], [2]], [[3]], False, False), ([[2], [1]], [[1], [2]], False, False),
])  # fmt: skip
def test_neighbours_differ_in_one_record(first: Any, second: Any, add: bool, replace: bool) -> None:
    for relation, right in [(Relation.ADD_REMOVE, add), (Relation.REPLACE_ONE, replace)]:
        sides = np.array(first, dtype=float), np.array(second, dtype=float)
        if right:
            entries._checked("x", *sides, relation)
            continue
        with pytest.raises(InvalidParameter, match="differ in exactly one record"):
            entries._checked("x", *sides, relation)
    if first == [[1], [2], [3]]:
        with pytest.raises(InvalidParameter, match="2 records of first are not in second, 0 of second not in first"):
            entries._checked("x", *sides, relation)


def test_corners_of_the_domain() -> None:
    """All low, all high, and alternating; of one column two corners only."""
    assert [one.tolist() for one in entries._extremes([(0, 1), (2, 3), (4, 5)])] == [
        [0, 2, 4], [1, 3, 5], [1, 2, 5], [0, 3, 4]]  # fmt: skip
    assert [one.tolist() for one in entries._extremes([(0, 1)])] == [[0], [1]]
    assert [one.tolist() for one in entries._extremes([(0, 1), (2, 3)])] == [[0, 2], [1, 3], [1, 2], [0, 3]]


def run_lines(pair: Neighbours) -> Any:
    names: dict[str, Any] = {"np": np}
    exec("\n".join(pair.code), names)
    return names["first"].tolist(), names["second"].tolist()


def test_pairs_made_from_records_under_add_remove() -> None:
    """Corners and the first record added to all and to the fewest; first, middle and last record left out."""
    rows = [[5.0, 5.5], [6.0, 6.5], [7.0, 7.5], [8.0, 8.5]]
    one = made(records=rows, bounds=((0, 1), (2, 3)), least=2)
    found = entries.neighbours(WHERE, one)
    new = [[0.0, 2.0], [1.0, 3.0], [1.0, 2.0], [0.0, 3.0], rows[0]]
    expected = [([*base, more], base) for base in (rows, rows[:2]) for more in new]
    expected += [(rows, rows[:k] + rows[k + 1 :]) for k in (0, 2, 3)]
    assert [(pair.first.tolist(), pair.second.tolist()) for pair in found] == expected
    assert [run_lines(pair) for pair in found] == expected
    assert found[0].words == "4 records, with [0.0, 2.0] added and without"
    assert found[5].words == "2 records, with [0.0, 2.0] added and without"
    assert [pair.words for pair in found[10:]] == [f"4 records, record {k} left out" for k in (0, 2, 3)]
    assert len(entries.neighbours(WHERE, made(records=rows, bounds=((0, 1), (2, 3)), least=4))) == 5
    assert len(entries.neighbours(WHERE, made(records=rows, bounds=((0, 1), (2, 3)), least=0))) == 13
    single = entries.neighbours(WHERE, made(records=rows[:1], bounds=((0, 1), (2, 3)), least=0))
    assert [len(pair.second) for pair in single] == [1] * 5 + [0]
    assert entries.neighbours(WHERE, made(records=rows[:2], bounds=((0, 1), (2, 3)), least=0))[5].words.startswith(
        "1 record,"
    )


def test_pairs_made_from_records_under_replace_one() -> None:
    """The first, the middle and the last are replaced by what they are not yet; none is left out."""
    rows = [[0.0], [6.0], [7.0]]
    found = entries.neighbours(WHERE, made(records=rows, bounds=((0, 1),), least=1, claim=OTHER))
    expected = [(rows, [[1.0], [6.0], [7.0]]), ([[0.0]], [[1.0]])]
    expected += [(rows, [[0.0], [value], [7.0]]) for value in (0.0, 1.0)]
    expected += [(rows, [[0.0], [6.0], [value]]) for value in (0.0, 1.0)]
    assert (
        [(pair.first.tolist(), pair.second.tolist()) for pair in found] == expected == [run_lines(one) for one in found]
    )
    assert [pair.words for pair in found] == [
        "3 records, the first replaced by [1.0]",
        "1 record, the first replaced by [1.0]",
        *(f"3 records, record {k} replaced by {value}" for k in (1, 2) for value in ([0.0], [1.0])),
    ]


def test_records_that_do_not_fit_are_refused() -> None:
    for rows, bounds, least, words in [([], ((0, 1),), 1, "0 records of 0 columns and 1 bounds"),
        ([[1, 2]], ((0, 1),), 1, "1 records of 2"),
                                       ([[1]], ((0, 1),), 2,
                                           "least: 2, at most the number of records, 1")]:  # fmt: skip
        with pytest.raises(InvalidParameter, match=words):
            entries.neighbours(WHERE, made(records=rows, bounds=bounds, least=least))


@pytest.mark.parametrize(("given", "words"), [
    (3, "rows"), ([3], "rows"), ([[1], [1, 2]], "rows of 1 and 2 numbers"), ([[]], "rows of 0 and 0"),
        ([[True]], "True in a row"),
    ([["a"]], "'a' in a row"), ([[1], []], "rows of 1 and 0")])  # fmt: skip
def test_rows_are_lists_of_numbers(given: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        entries._rows("x", "first", given)


def test_rows_of_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2.5\n\n3,4\n")
    (tmp_path / "b.json").write_text("[[1, 2.5], [3, 4]]")
    for name in ("a.csv", "b.json"):
        found = entries._rows("x", "first", str(tmp_path / name))
        assert found.tolist() == [[1, 2.5], [3, 4]] and found.dtype == np.float64
    (tmp_path / "c.csv").write_text("x\nword\n")
    for name, words in [
        ("c.csv", "numbers are needed, after one line"),
        ("d.csv", "cannot be read"),
        ("e.txt", "are allowed"),
    ]:
        with pytest.raises(InvalidParameter, match=words):
            entries._rows("x", "first", str(tmp_path / name))
    assert entries._rows("x", "first", []).shape == (0,) and entries._width(np.ones(3)) == 0
    assert entries._wide(np.empty(0), 0).shape == (0,) and entries._wide(np.ones((1, 2)), 2).shape == (1, 2)


def test_lines_write_out_short_data_and_read_long_ones() -> None:
    """At most 300 characters of all sides together."""
    rows = np.array([[float(j)] for j in range(10)])
    other = np.array([[1.0] * 48 + [100.0]])
    short = other[:, 4:]
    more = np.where(short == 100.0, 1000.0, short)
    for side, written in [(short, True), (more, True), (np.where(short == 100.0, 1e4, short), False)]:
        length = len(json.dumps(rows.tolist())) + len(json.dumps(side.tolist()))
        lines = entries._lines(WHERE, made(first="a.csv", second="b.json", place=3), first=rows, second=side)
        assert (length <= 300) is written and (lines[0] == f"first = np.array({json.dumps(rows.tolist())})") is written
    assert lines == ("first = np.loadtxt('a.csv', delimiter=',', skiprows=1, ndmin=2)",
                     "second = np.array(__import__('json').load(open('b.json')))")  # fmt: skip
    long = np.ones((99, 1))
    assert entries._lines(WHERE, made(records=[[1]], place=3), rows=long) == (
        "rows = np.array(__import__('tomllib').load(open('audit.toml', 'rb'))['entry'][3]['records'], dtype=float)",
            )  # fmt: skip
