"""Which names of a function stand for what it makes itself, and what may be changed under them."""

from __future__ import annotations

import ast

import pytest

from refdp.prove.altering import _alters, _fresh, _is_fresh


def _of(text: str) -> ast.FunctionDef:
    body = "\n".join(f"    {line}" for line in text.splitlines())
    found = ast.parse(f"def f(a, *rest, c=1, **more):\n{body}\n").body[0]
    assert isinstance(found, ast.FunctionDef)
    return found


MADE = [
    ("x = []", {"x"}), ("x = y = []", {"x", "y"}), ("x = a", set()), ("x, y = [], a", {"x"}), ("x, y = a, {}", {"y"}),
    ("x, y = [a, a]", set()), ("x, *y = [], a, a", set()), ("x: list = []", {"x"}), ("x: list = a", set()),
    ("x: list", set()), ("g(x := [])", {"x"}), ("g(x := a)", set()), ("a = []", set()), ("rest = []", set()),
    ("c = []", set()), ("more = {}", set()), ("x = []\nx = a", set()), ("x = a\nx = []", set()),
    ("x = []\nfor x in a:\n    pass", set()), ("x = []\ng(x for x in a)", set()),
    ("x = []\nwith a as x:\n    pass", set()), ("x = []\nwith a:\n    pass", {"x"}),
    ("x = []\nmatch a:\n    case x:\n        pass", set()), ("x = []\nmatch a:\n    case [*x]:\n        pass", set()),
    ("x = []\nmatch a:\n    case _:\n        pass", {"x"}), ("x = []\nfor i, (x, j) in a:\n    pass", set()),
    ("y = []\ny[x] = a", {"y"}), ("x = []\ng(lambda x: x)", set()),
]  # fmt: skip


@pytest.mark.parametrize(("text", "names"), MADE)
def test_a_name_is_own_where_everything_it_stands_for_is_made_there(text: str, names: set[str]) -> None:
    assert _fresh(_of(text)) == names


@pytest.mark.parametrize(("text", "new"), [
    ("[a]", True), ("{a: a}", True), ("{a}", True), ("[b for b in a]", True), ("{b: b for b in a}", True),
    ("{b for b in a}", True), ("1", True), ("a + a", True), ("-a", True), ("a < b", True), ("list(a)", True),
    ("sorted(a)", True), ("a.copy()", True), ("np.copy(a)", True), ("np.zeros(3)", True), ("np.array(a)", True),
    ("a", False), ("a.b", False), ("a[0]", False), ("(a, a)", False), ("a or []", False), ("a if b else []", False),
    ("own(a)", False), ("a.view()", False), ("a.ravel()", False), ("np.asarray(a)", False), ("np.ravel(a)", False),
    ("np.reshape(a, 3)", False), ("np.squeeze(a)", False), ("np.transpose(a)", False), ("np.flip(a)", False),
    ("np.broadcast_to(a, 3)", False), ("np.split(a, 3)", False), ("np.expand_dims(a, 0)", False),
    ("np.diag(a)", False), ("a.zeros(3)", False), ("a()()", False), ("(b for b in a)", False),
])  # fmt: skip
def test_a_value_is_new_where_it_shares_nothing_that_was_given(text: str, new: bool) -> None:
    assert _is_fresh(ast.parse(text, mode="eval").body) is new


CHANGES = [
    "a[0] = 1", "del a[0]", "a[0] += 1", "a += 1", "a.append(1)", "a.b.append(1)", "np.add.at(a, 0, 1)", "a.sort()",
    "np.add.at(a.b, 0, 1)", "b = a.append", "g(a.sort)", "x = a\nx[0] = 1", "x = []\nx = a\nx[0] = 1",
    "x = []\nx[0][0] = 1", "x = []\nnp.add.at(a, x, x)", "for b in a:\n    b[0] = 1", "x = []\nx.append(1)\na.pop()",
    "x = np.asarray(a)\nx[0] = 1", "x = a == 1, a.sort", "other[0] = 1",
]  # fmt: skip
KEEPS = [
    "return a[0]", "x = []\nx[0] = 1", "x = []\ndel x[0]", "x = 0\nx += 1", "x = []\nx.append(a)", "return a.count(1)",
    "x = np.zeros(3)\nnp.add.at(x, a, a)", "x = []\ng(x.sort)", "return a.update == 'averaging'",
    "return 'averaging' == a.update", "return 1 < a.update < 2", "return np.partition(a, 1)",
    "x = np.sort\nreturn x(a)",
    "x = a.copy()\nx[0] = 1", "x, y = [], a\nx[0] = 1",
]  # fmt: skip


@pytest.mark.parametrize("text", CHANGES)
def test_what_may_change_what_is_given(text: str) -> None:
    assert _alters(_of(text))


@pytest.mark.parametrize("text", KEEPS)
def test_what_changes_nothing_that_is_given(text: str) -> None:
    assert not _alters(_of(text))
