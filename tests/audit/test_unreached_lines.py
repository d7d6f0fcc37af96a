"""Code that no run reached, in texts written for it: lines marked + ran, and what leads to the others is told."""

from __future__ import annotations

import ast
import linecache
import textwrap
from pathlib import Path
from typing import Any

import pytest

from refdp.audit import unreached as module
from refdp.audit.unreached import unreached

KNOWN = ("numpy", "noisy", "other", "setting", "flag", "held", "time", "os")
"""Names of a module around the programs."""


def told(tmp_path: Path, text: str, fixed: Any = None, first: int | None = 1) -> list[tuple[int, str]]:
    """Line and by what, of a program whose lines that end in #+ ran. first: where the trainer begins."""
    name = f"program{len(list(tmp_path.iterdir()))}"  # a file is read once
    path = tmp_path / f"{name}.py"
    text = textwrap.dedent(text).lstrip("\n")
    path.write_text(text)
    lines = {(str(path), number) for number, line in enumerate(text.splitlines(), 1) if line.endswith("#+")}
    found = unreached(lines, None if first is None else (str(path), first), fixed, KNOWN)
    assert all(place.startswith(f"{name}.py:") for place, _ in found)
    return [(int(place.rpartition(":")[2]), by) for place, by in found]


BRANCHES = """
    def train(records, curator, setting=1):
        "what it does"
        noisy = curator.release(records) #+
        many = len(records.y) #+
        if many > 9: #+
            return 1
        if noisy > 9: #+
            return 2
        if time.time() > 9: #+
            return 3
        if setting: #+
            return 4
        else:
            setting = 5 #+
        return 6 #+
    """


def test_each_condition_tells_what_led_there(tmp_path: Path) -> None:
    """Records first, then outputs, then the surroundings, else nothing. All arguments of others are private."""
    assert told(tmp_path, BRANCHES) == [(6, "records"), (8, "outputs"), (10, "surroundings"), (12, "")]
    assert told(tmp_path, BRANCHES, first=2) == [(6, "records"), (8, "outputs"), (10, "surroundings"), (12, "records")]
    assert told(tmp_path, BRANCHES, first=None) == told(tmp_path, BRANCHES, first=2)
    assert told(tmp_path, BRANCHES.replace("#+", "")) == []
    assert told(tmp_path, BRANCHES, {"setting": 0}) == [*told(tmp_path, BRANCHES)[:3], (12, "")]


def test_the_names_around_a_trainer_settle_its_own_conditions(tmp_path: Path) -> None:
    text = """
    def train(records, curator):
        if records and flag: #+
            return 1
        if records and not flag: #+
            return 2
        return 3 #+
    """
    for fixed, by in [
        ({}, ["records", "records"]),
        ({"flag": False}, ["", "records"]),
        ({"flag": True}, ["records", ""]),
    ]:
        assert [one for _, one in told(tmp_path, text, fixed)] == by
        assert [one for _, one in told(tmp_path, text, fixed, first=3)] == ["records", "records"]


def test_a_trainer_begins_with_its_decorators(tmp_path: Path) -> None:
    text = """
    @first
    @second
    def train(records, curator, setting):
        if setting: #+
            return 1
        return 2 #+
    """
    assert [told(tmp_path, text, first=line) for line in (1, 2, 3)] == [[(5, "")], [(5, "records")], [(5, "records")]]


@pytest.mark.parametrize(("text", "found"), [
    ("while records: #+\n    a = 1\nelse:\n    b = 2 #+", [(3, "records")]),
        ("while records: #+\n    a = 1 #+\nelse:\n    b = 2", [(5, "records")]),
    ("for one in records: #+\n    a = 1\nelse:\n    b = 2 #+", [(3, "records")]),
        ("for one in range(3): #+\n    a = 1", [(3, "")]),
    ("for one in records: #+\n    a = 1 #+\nelse:\n    b = 2", [(5, "records")]),
    ("with held: #+\n    a = 1 #+\n    if records: #+\n        a = 2", [(5, "records")]),
        ("with held: #+\n    a = 1", [(3, "")]),
    ("try: #+\n    a = 1 #+\nexcept ValueError:\n    b = 2\nelse:\n    c = 3 #+\nfinally:\n    d = 4 #+",
        [(5, "records")]),
    ("try: #+\n    a = 1\nexcept ValueError: #+\n    b = 2 #+", [(3, "")]),
    ("try: #+\n    a = 1 #+\nexcept ValueError:\n    b = 2 #+\nelse:\n    c = 3\nfinally:\n    d = 4 #+",
        [(7, "records")]),
    ("try: #+\n    a = 1 #+\nfinally:\n    d = 4", [(5, "")]),
    ("match records: #+\n    case 1:\n        a = 1\n    case 2:\n        b = 2 #+", [(4, "records")]),
    ("if 1: #+\n    if records: #+\n        a = 1", [(4, "records")]),
        ("if records: #+\n    if 1: #+\n        a = 1", [(4, "records")]),
    ("if records: #+\n    pass\nelse:\n    a = 1 #+", []), ("if records: #+\n    'text'\n    a = 1", [(4, "records")]),
    ("if records: #+\n    global a\n    def inner(): pass\n    class Other: pass\n    a = 1 #+", []),
    ("a = (len,\n     max, #+\n     min)\nif records: #+\n    b = [1,\n         2] #+", []),
        ("a = 1\nb = 2 #+", [(2, "")]),
])  # fmt: skip
def test_blocks_of_every_kind(text: str, found: Any, tmp_path: Path) -> None:
    """The first line of a block that did not run, once; an exception may come from records."""
    body = textwrap.indent(text, "    ")
    assert told(tmp_path, f"def train(records, curator):\n{body}\n") == found


def test_functions_inside_are_functions_of_their_own(tmp_path: Path) -> None:
    text = """
    def train(records, curator):
        a = 1 #+
        def inner(value):
            if value: #+
                return 1
            return 2 #+
        async def other(value):
            if value:
                return 1
            return 2
        return a #+
    """
    assert told(tmp_path, text) == [(5, "records")]
    assert told(tmp_path, text.replace("return a #+", "return a").replace("a = 1 #+", "a = 1")) == [(5, "records")]


def test_expressions_on_the_surroundings_are_told(tmp_path: Path) -> None:
    """Which of both values was taken is not seen; those of functions inside are their own."""
    text = """
    def train(records, curator):
        now = time.time() #+
        a = 1 if now else 2 #+
        b = 1 if records else 2 #+
        c = 1 if numpy.random.random() else 2 #+
        def inner():
            return 1 if os.name else 2
        return 3 #+
    """
    assert told(tmp_path, text) == [(3, "surroundings"), (5, "surroundings")]
    assert told(tmp_path, text.replace("os.name else 2", "os.name else 2 #+")) == [
        (3, "surroundings"),
        (5, "surroundings"),
        (7, "surroundings"),
    ]


@pytest.mark.parametrize(("lines", "name", "by"), [
    ("a = records.x", "a", "records"), ("a = b = records", "b", "records"), ("a += records.x", "a", "records"),
        ("a: int = records", "a", "records"),
    ("if (a := records): pass", "a", "records"), ("for a in records: pass", "a", "records"),
        ("c = [a for a in records]", "c", "records"),
    ("c = [a for a in records]", "a", "records"), ("with records as a: pass", "a", "records"),
        ("a.append(records)", "a", "records"),
    ("curator.append(records)", "curator", ""), ("a = curator.release(records)", "a", "outputs"),
        ("a = curator.release(records)[0]", "a", "outputs"),
    ("a = noisy(records, curator)", "a", "outputs"), ("a = noisy(records, door=curator)", "a", "outputs"),
        ("a = noisy(records)", "a", "records"),
    ("a = time.time()", "a", "surroundings"), ("a = numpy.random.random()", "a", "surroundings"), ("a = 1", "a", ""),
    ("b = a\na = records", "b", "records"), ("a = curator.release(1) + 1", "a", "outputs"),
        ("a = 1 + curator.release(records)", "a", "records"),
    ("a = curator", "a", ""), ("a, b = records", "b", "records"), ("c.a = records", "c", "records"),
        ("a: int = 1", "a", ""), ("a = noisy([curator])", "a", ""),
])  # fmt: skip
def test_what_names_may_hold(lines: str, name: str, by: str, tmp_path: Path) -> None:
    body = "".join(f"    {line} #+\n" for line in lines.splitlines())
    text = f"def train(records, curator):\n{body}    if {name}: #+\n        return 1\n    return 2 #+\n"
    found = told(tmp_path, text)
    assert found == [(3 + len(lines.splitlines()), by)]


def test_conditions_that_ask_the_curator_by_themselves(tmp_path: Path) -> None:
    for condition, by in [("curator.release(1) > 2", "outputs"), ("records and curator.release(1)", "records"),
        ("curator.delta and 1", ""),
                          ("curator.release(1) and time", "outputs"), ("time or os", "surroundings")]:  # fmt: skip
        assert told(
            tmp_path, f"def train(records, curator):\n    if {condition}: #+\n        return 1\n    return 2 #+\n"
        ) == [(3, by)]


@pytest.mark.parametrize(("condition", "known", "settled"), [
    ("a", {"a": 0}, True), ("a", {"a": 1}, False), ("a", {}, False), ("a > b", {"a": 1, "b": 2}, True),
        ("a > b", {"a": 1}, False), ("not a", {"a": True}, True),
    ("a and b", {"a": 0}, True), ("b and a", {"a": 0}, True), ("a and b", {"a": 1}, False),
        ("a or b", {"a": 0, "b": 0}, False), ("len(a)", {"a": ""}, False),
    ("a", {"a": []}, False), ("a", {"a": None}, True), ("a", {"a": ""}, True), ("a", {"a": 0.0}, True),
        ("0", {}, True), ("a.b", {"a": 0}, False), ("-a", {"a": 0}, True),
    ("a is None", {"a": 1}, True), ("a in b", {"a": "x", "b": "y"}, True), ("a < 1 < b", {"a": 0, "b": 1}, True),
])  # fmt: skip
def test_conditions_that_are_settled_outside(condition: str, known: Any, settled: bool) -> None:
    """By plain values alone, of comparisons, names and signs, or one term of a conjunction."""
    assert module._is_settled(ast.parse(condition, mode="eval").body, known) is settled
    assert not module._is_settled(None, known)


def test_texts_that_cannot_be_read_and_several_files(tmp_path: Path) -> None:
    for name, content in [("wrong.py", b"def f(:"), ("odd.py", b"\xff\xfe"), ("null.py", b"a = '\0'")]:
        (tmp_path / name).write_bytes(content)
        assert module._functions(str(tmp_path / name)) == ()
    assert module._functions(str(tmp_path / "absent.py")) == ()
    for name in ("b", "a"):
        (tmp_path / f"{name}.py").write_text(
            "def f(x):\n    if x:\n        return 1\n    return 2\n\n\ndef g(x):\n    return 3\n"
        )
    lines = {(str(tmp_path / f"{name}.py"), line) for name in "ab" for line in (2, 4)}
    assert unreached(lines, None) == [("a.py:3", "records"), ("b.py:3", "records")]
    assert unreached([], None) == []


@pytest.mark.parametrize(("condition", "by"), [
    ("curator._source", "surroundings"), ("1 and curator._source.kind", "surroundings"), ("other._source", ""),
        ("curator.seed", ""), ("other.curator._source", ""),
])  # fmt: skip
def test_conditions_that_look_into_the_curator(condition: str, by: str, tmp_path: Path) -> None:
    """What nobody is promised tells an audit from other runs; its public names do not, nor do other objects' own."""
    text = f"def train(records, curator):\n    if {condition}: #+\n        return 1\n    return 2 #+\n"
    assert told(tmp_path, text) == [(3, by)]


@pytest.mark.parametrize("leave", ["return 1", "raise ValueError", "break", "continue"])
def test_what_follows_a_way_out_is_a_block_of_its_own(leave: str, tmp_path: Path) -> None:
    """Under the conditions of the way out; where there is no way out, what did not run is told by nothing."""
    text = f"""
    def train(records, curator):
        for one in range(3): #+
            if setting: #+
                a = 1 #+
                if records: #+
                    {leave} #+
            b = 2
        return 3 #+
    """
    assert told(tmp_path, text) == [(7, "records")]
    assert told(tmp_path, text.replace(leave, "a = 2")) == []
    assert told(tmp_path, text.replace("if records:", "if time.time():")) == [(7, "surroundings")]


def test_ways_out_of_functions_inside_are_none_of_the_function_around_them(tmp_path: Path) -> None:
    text = """
    def train(records, curator):
        a = 1 #+
        def inner(value):
            if records: #+
                return 1 #+
            return 2 #+
        class Held:
            def inner(self):
                if records:
                    return 1
        b = 2
    """
    assert told(tmp_path, text) == []


def test_a_settled_condition_settles_what_stands_inside_others(tmp_path: Path) -> None:
    text = """
    def train(records, curator):
        if records: #+
            a = 1 #+
            if flag: #+
                return 1
        return 2 #+
    """
    assert told(tmp_path, text) == [(5, "records")]
    assert told(tmp_path, text, {"flag": False}) == [(5, "")]
    assert told(tmp_path, text, {"flag": True}) == [(5, "records")]


def test_lines_beside_a_block_are_not_taken_for_its_own(tmp_path: Path) -> None:
    """The line after a function inside is of the function around it; a handler's line is none of what was tried."""
    assert told(tmp_path, """
    def train(records, curator):
        def inner(value):
            return value
        a = 1 if time.time() else 2 #+
        return a #+
    """) == [(4, "surroundings")]  # fmt: skip
    assert told(tmp_path, """
    def train(records, curator):
        try: #+
            if records: #+
                raise ValueError #+
            b = 2
        except ValueError: #+
            c = 3 #+
    """) == [(5, "records")]  # fmt: skip


def test_a_trainers_first_argument_alone_holds_records(tmp_path: Path) -> None:
    text = "def train(records, setting):\n    if setting: #+\n        return 1\n    return 2 #+\n"
    assert told(tmp_path, text) == [(3, "")]
    assert told(tmp_path, text.replace("if setting", "if records")) == [(3, "records")]
    assert told(tmp_path, text, first=None) == [(3, "records")]


@pytest.mark.parametrize("body", [
    "def inner(): #+\n    if len(records.y) > 9: #+\n        return 1\nreturn inner() #+",
    "n = len(records.y) #+\nclass Held: #+\n    @property #+\n    def shown(self): #+\n"
    "        if n > 9: #+\n            return 1\nreturn Held().shown #+",
    "assert len(records.y) < 9 #+\nreturn 2 #+",
    "n = 0 #+\nfor one in records.y: #+\n    n += 1 #+\nif n > 9: #+\n    n = 0",
    "box = [] #+\nlist.append(box, records) #+\nif box[0] > 9: #+\n    n = 0",
    "box = [] #+\n_ = list.append(box, records) #+\nif box[0] > 9: #+\n    n = 0",
    "other = held #+\nsetattr(held, 'n', records) #+\nif other.n > 9: #+\n    n = 0",
    "a = [] #+\nb = a #+\nb.append(records) #+\nif a[0] > 9: #+\n    n = 0",
    "heapq.heappush(held, records) #+\nif held[0] > 9: #+\n    n = 0",
    "held.add.at(n, 0, records) #+\nif n > 9: #+\n    n = 0",
    "_ = held.add(1, records, out=n) #+\nif n > 9: #+\n    n = 0",
    "try: #+\n    a = int(records) #+\nexcept* ValueError:\n    a = 1",
    "with held: #+\n    a = int(records) #+\n    b = 1",
    "match records: #+\n    case [n]: #+\n        if n > 9: #+\n            a = 1",
    "n = 0 #+\ndef count(): #+\n    nonlocal n #+\n    n = len(records) #+\ncount() #+\nif n > 9: #+\n    a = 1",
    "globals()['n'] = records #+\nif n > 9: #+\n    a = 1",
    "async def inner(): #+\n    async for one in held: #+\n"
    "        if len(records) > 9: #+\n            return 1\nreturn inner() #+",
    "f = [len, many][len(records) > 9] #+\nreturn f(records) #+", "return (len(records) > 9 and many(records)) or 1 #+",
    "return many(1) if len(records) > 9 else 2 #+",
    "table = {0: len, 1: many} #+\nreturn table.get(len(records) > 9)(1) #+",
    "held = AtNeed() #+\nreturn held[len(records)] #+", "put(held, records) #+\nif held[0] > 9: #+\n    a = 1",
])  # fmt: skip
def test_what_is_not_known_to_be_public_leads_by_records(body: str, tmp_path: Path) -> None:
    """Functions and classes inside, counts of loops, what is put into others, names of one thing, unbound names."""
    text = (
        "def train(records, curator):\n"
        + textwrap.indent(body, "    ")
        + """


def many(records):
    return 1


class AtNeed(dict):
    def __missing__(self, key):
        return key


def put(box, one):
    box.append(one) #+
"""
    )
    lines = [
        line
        for line in text.splitlines()
        if not line.strip().startswith(("def ", "class ", "nonlocal", "@", "async def"))
    ]
    assert lines
    path = tmp_path / "program.py"
    path.write_text(text)
    ran = {(str(path), number) for number, line in enumerate(text.splitlines(), 1) if line.endswith("#+")}
    ran = {one for one in ran if one[1] in module._lines_of(text)}
    assert [by for _, by in unreached(ran, (str(path), 1), {}, KNOWN)] == ["records"]


HELD = """


class Held:
    def __init__(self, one):
        self.one = one #+


class Quiet:
    def __exit__(self, *error):
        return True #+


def many(records):
    return 1


def add(box):
    box.append(1) #+
"""
LEFT = "if i > 9: #+\n    a = 1"
PUT = "if a[0] > 9: #+\n    n = 0"


@pytest.mark.parametrize("body", [
    "i = 0 #+\nwhile True: #+\n    if i >= len(records): #+\n        break #+\n    i += 1 #+\n" + LEFT,
    "i = 0 #+\nwhile True: #+\n    i += 1 #+\n    if i >= len(records): #+\n        break #+\n" + LEFT,
    "i = 0 #+\nfor one in range(9): #+\n    if one >= len(records): #+\n        continue #+\n    i += 1 #+\n" + LEFT,
    "for i in range(9): #+\n    match len(records) - i: #+\n        case 0: #+\n            break #+\n" + LEFT,
    "for one in range(9): #+\n    if one >= len(records): #+\n        break #+\nelse:\n    a = 1",
    "i = 0 #+\ntry: #+\n    held[len(records)] #+\n    i = 1 #+\nexcept IndexError: #+\n    pass\n" + LEFT,
    "i = 0 #+\ntry: #+\n    while i < 9: #+\n        i += 1 #+\n        next(records) #+\nfinally:\n    a = 1 #+\n"
    + LEFT,
    "i = 0 #+\nwith other.suppress(IndexError): #+\n    held[len(records)] #+\n    i = 1 #+\n" + LEFT,
    "i = 0 #+\nwith Quiet(): #+\n    held[len(records)] #+\n    i = 1 #+\n" + LEFT,
    "i = 0 #+\ndef look(): #+\n    nonlocal i\n    if len(records) < 9: #+\n        return #+\n    i = 1 #+\n"
    "look() #+\n" + LEFT,
    "i = 0 #+\ndef mark(): #+\n    nonlocal i\n    i = 1 #+\nif len(records) > 4: #+\n    mark() #+\n" + LEFT,
    "a = [] #+\nfor one in records: #+\n    a.append(1) #+\n" + PUT,
    "a = [] #+\nfor one in records: #+\n    add(a) #+\n" + PUT,
    "a = {} #+\nif len(records) > 4: #+\n    del a[0] #+\n" + PUT,
    "a = {} #+\na[len(records)] = 1 #+\n" + PUT,
    "a = {} #+\na.setdefault(0, []).append(records) #+\n" + PUT,
    "a = {} #+\nb = a.get(0) #+\nb.append(records) #+\n" + PUT,
    "a = [[]] #+\nfor _, box in enumerate(a): #+\n    box.append(records) #+\n" + PUT,
    "a = [[]] #+\nfor box in [one for one in a]: #+\n    box.append(records) #+\n" + PUT,
    "a = [] #+\ndef box(): #+\n    return a #+\nbox()[0] = records #+\n" + PUT,
    "a = [] #+\nHeld(a).one.append(records) #+\n" + PUT, "a = [] #+\np = Held(a) #+\np.one.append(records) #+\n" + PUT,
    "a = held #+\nb = a.reshape(1, 2) #+\nb[0] = records #+\n" + PUT,
    "a = held #+\nb = numpy.asarray(a) #+\nb[0] = records #+\n" + PUT,
    "a = [] #+\n(b := a).append(records) #+\n" + PUT, "a = [] #+\nb = a #+\nb += [records] #+\n" + PUT,
    "a = [] #+\nput = a.append #+\nput(records) #+\n" + PUT,
    "import decimal #+\ndecimal.getcontext().prec = records #+\nif decimal.getcontext().prec > 9: #+\n    a = 1",
    "def inner(): #+\n    n = yield #+\n    if n > 9: #+\n        a = 1\n    a = 2 #+",
    "return [many(1) for _ in range(len(records))] #+", "return [many(one) for one in (1, 2) if len(records) > 9] #+",
    "return [f() for f, c in ((many, len(records) > 9), (len, 1)) if c] #+",
    "return {many(one): 1 for one in records} #+", "for _ in range(len(records)): many(1) #+",
    "return [*map(many, records)] #+", "return numpy.piecewise(records, [1], [many, 1]) #+",
    "return records.apply(many) #+", "return held.run(many, given=(records, 1)) #+",
])  # fmt: skip
def test_what_is_led_by_records_on_the_way(body: str, tmp_path: Path) -> None:
    """What follows a way out of its block, results of calls, methods under other names, what never ran of a call's."""
    text = f"def train(records, curator):\n{textwrap.indent(body, '    ')}{HELD}"
    assert ("records" in [by for _, by in told(tmp_path, text)]) and "" not in [by for _, by in told(tmp_path, text)]


@pytest.mark.parametrize("body", [
    "if len(records) == 0: #+\n    return None #+\nstep = setting * 2 #+\nif step > 9: #+\n    step = 9",
    "if len(records) == 0: #+\n    raise ValueError #+\na = {0: 1} #+\na[0] += 1 #+\nif a[0] > 9: #+\n    n = 9",
    "a = held.zeros(setting) #+\na[0] = records #+\nif setting > 9: #+\n    n = 9",
    "b = setting #+\na = max(b, 1) #+\na = records #+\nif b > 9: #+\n    n = 9",
    "import numpy #+\nwith numpy.errstate(all='ignore'): #+\n    a = sum(records) #+\n    b = setting #+\n"
    "if b > 9: #+\n    n = 9",
    "a = Held(setting) #+\na.one = records #+\nb = Held(setting) #+\nif setting > 9: #+\n    n = 9",
    "i = 0 #+\nfor one in records: #+\n    if one < 0: #+\n        continue #+\n    a = 1 #+\n"
    "for one in range(setting): #+\n    i += 1 #+\nif i > 9: #+\n    n = 9",
    "assert records.y.ndim == 1 #+\nn = records.x.shape[1] #+\nif n > 9: #+\n    n = 9",
    "if not isinstance(records.y, numpy.ndarray): #+\n    raise TypeError\nreturn 1 #+",
])  # fmt: skip
def test_what_honest_trainers_do_before_a_public_condition(body: str, tmp_path: Path) -> None:
    """Guards, tables that records are counted in, contexts of libraries, and kinds of records, which all data have."""
    text = f"def train(records, curator, setting=3):\n{textwrap.indent(body, '    ')}{HELD}"
    assert [by for line, by in told(tmp_path, text)] == [""]


@pytest.mark.parametrize("body", [
    "return [many(1) if setting else one for one in records] #+", "return [setting and many(1) for one in records] #+",
    "return sorted(records, key=(max, many)[setting]) #+", "return add(many, records) #+",
    "return print(setting and many(1), records) #+", "return [lambda: many(1) for one in records] #+",
    "return map(lambda one: many(one), records) #+",
])  # fmt: skip
def test_functions_that_never_ran_for_public_reasons(body: str, tmp_path: Path) -> None:
    text = f"def train(records, curator, setting=0):\n{textwrap.indent(body, '    ')}{HELD}"
    assert told(tmp_path, text) == []


@pytest.mark.parametrize("body", [
    "records = held #+\nif isinstance(records, int): #+\n    a = 1", "if records.x.shape[0] > 9: #+\n    a = 1",
    "a = records #+\nif isinstance(a, int): #+\n    a = 1", "if records.z.ndim > 9: #+\n    a = 1",
    "records.y.shape = -1 #+\nif records.y.ndim > 9: #+\n    a = 1",
])  # fmt: skip
def test_of_records_alone_the_kinds_are_public(body: str, tmp_path: Path) -> None:
    text = f"def train(records, curator):\n{textwrap.indent(body, '    ')}"
    assert [by for _, by in told(tmp_path, text)] == ["records"]


@pytest.mark.parametrize(("head", "condition"), [
    ("def train(*args):\n    records, curator = args #+", "len(records) > 9"),
    ("def train(self, *args):", "args[0] > 9"),
    ("def train(setting, records, curator):", "records > 9"), ("def train(x, **given):", "x > 9"),
])  # fmt: skip
def test_a_trainers_records_are_all_that_comes_before_the_curator(head: str, condition: str, tmp_path: Path) -> None:
    text = f"{head}\n    if {condition}: #+\n        return 1\n    return 2 #+\n"
    assert [by for _, by in told(tmp_path, text)] == ["records"]
    method = "class Held:\n" + textwrap.indent(
        "def __call__(self, records, curator):\n    if records: #+\n        return 1\n", "    "
    )
    assert [by for _, by in told(tmp_path, method, first=2)] == ["records"]


@pytest.mark.parametrize("head", ["def other(**given):", "def other(*given):", "def other(*, given):"])
def test_all_arguments_of_other_functions_are_private(head: str, tmp_path: Path) -> None:
    assert [by for _, by in told(tmp_path, f"{head}\n    if given: #+\n        return 1\n", first=None)] == ["records"]


def test_a_global_that_the_trainer_sets(tmp_path: Path) -> None:
    text = """
    def train(records, curator):
        global N
        N = len(records) #+
        return look() #+
    N = 0
    M = 0
    def look():
        if N > 9: #+
            return 1
        if M > 9: #+
            return 2
        return 3 #+
    """
    assert [by for _, by in told(tmp_path, text)] == ["records", ""]


def test_what_is_known_to_be_public_leads_by_nothing(tmp_path: Path) -> None:
    """Settings, constants, what is computed from these, names of libraries, functions of the file, outputs as such."""
    text = """
    import math
    DEPTH = 3
    TABLE = {"square": len, "other": max}
    def train(records, curator, setting=1):
        depth = DEPTH + setting #+
        def inner(): #+
            if depth > 9: #+
                return 1
            return 2 #+
        noisy = curator.release(records) #+
        loss = TABLE["square"] #+
        math.floor(len(records.y)) #+
        total = sum(records.y) if setting else 0.0 #+
        if math.pi > 4 or depth > 9 or loss is max or helper(depth): #+
            return 1
        if noisy > 9: #+
            return 2
        assert depth < 9 #+
        assert isinstance(records, object) #+
        return inner() #+
    def helper(depth):
        return depth > 9 #+
    """
    assert [by for _, by in told(tmp_path, text, first=4)] == ["", "outputs", ""]


def test_a_closures_value_settles_nothing_that_is_set_inside(tmp_path: Path) -> None:
    text = """
    def make(big):
        def train(records, curator):
            nonlocal big
            big = len(records) > 9 #+
            if big: #+
                return 1
            return 2 #+
    """
    assert told(tmp_path, text, {"big": False}, first=2) == [(6, "records")]
    still = text.replace("nonlocal big", "pass").replace("big = len(records)", "other = len(records)")
    assert told(tmp_path, still, {"big": False}, first=2) == [(6, "")]


def test_texts_are_read_anew_and_held_against_what_ran(tmp_path: Path) -> None:
    """A file that was edited, a notebook's cell, and code whose text nobody has."""
    branch = "def train(records, curator):\n    if len(records) > 9:\n        return 1\n    return 2\n"
    path = tmp_path / "edited.py"
    path.write_text("def train(records, curator):\n    return 2\n")
    assert unreached({(str(path), 2)}, (str(path), 1)) == []
    path.write_text(branch)
    assert unreached({(str(path), 2), (str(path), 4)}, (str(path), 1)) == [("edited.py:3", "records")]
    cell = "/tmp/ipykernel_1/0.py"
    linecache.cache[cell] = len(branch), None, branch.splitlines(keepends=True), cell
    assert unreached({(cell, 2), (cell, 4)}, (cell, 1)) == [("0.py:3", "records")]
    made: dict[str, Any] = {}
    exec(compile(branch, cell, "exec"), made)
    assert module.is_of_text(made["train"].__code__) and module.is_of_text(None)
    exec(compile(branch, "<string>", "exec"), made)
    assert not module.is_of_text(made["train"].__code__)
    assert unreached({("<string>", 2)}, ("<string>", 1)) == [("<string>", "unread")]
    exec(compile(branch.replace("if len", "1\n    if len"), cell, "exec"), made)
    assert not module.is_of_text(made["train"].__code__)
    del linecache.cache[cell]
