"""A page of the specification says what every name in its code is: in a block, a table, or on the shared page."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections.abc import Iterator

import numpy as np
import pytest

from tests.conform.test_specification import EXCERPT, PAGES

OWNERS = {"self", "params", "schema", "candidates", "learnt", "population", "curator", "numbers", "grids", "conversion"}
"""What has attributes of its own, so that one that arrays or lists have too is to be told all the same."""
LIBRARY = {name for kind in (np.ndarray, list, dict, int, slice) for name in dir(kind)}


def asked(code: str) -> set[str]:
    """Names in a block whose meaning has to be looked up elsewhere: called, read as an attribute, or not its own."""
    tree = ast.parse(textwrap.dedent(code))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            node.name = ""
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    nodes = list(ast.walk(tree))
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    functions = {node.name for node in ast.walk(ast.parse(textwrap.dedent(code))) if isinstance(node, ast.FunctionDef)}
    found = {node.id for node in nodes if isinstance(node, ast.Name)} - own - functions - set(dir(builtins))
    for node in nodes:
        if isinstance(node, ast.Attribute):
            of = ast.unparse(node.value)
            if of.partition(".")[0] not in ("np", "math") and (of in OWNERS or node.attr not in LIBRARY):
                found.add(node.attr)
    return found


def told(page: str) -> set[str]:
    """Names that a page explains: of its blocks and their fields, of first cells of its tables, of its parameters.

    Of a kind of thing, `Kind(field, ...)`, the fields too; of a function its name alone.
    """
    text, found = PAGES[page], set[str]()
    for name, code in EXCERPT.findall(text):
        tree = ast.parse(textwrap.dedent(code))
        found |= {name.rpartition(":")[2].rpartition(".")[2]}
        found |= {node.target.id for node in ast.walk(tree)
                  if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}  # fmt: skip
    for span in spans(EXCERPT.sub("", text)):
        head, fields = re.match(r"[\w.]*", span), re.findall(r"\w+", span)
        assert head is not None
        found |= set(fields if head[0][:1].isupper() and "." not in head[0] else head[0].split("."))
    return found


def spans(text: str) -> Iterator[str]:
    """Code spans of first cells, of second ones in tables of parameters, and of paragraphs of further parameters."""
    for part in text.split("\n\n"):
        if part.startswith("Further:"):
            yield from re.findall(r"`([^`]+)`", part)
        elif part.startswith("| "):
            many = 2 if part.startswith("| symbol | parameter |") else 1
            for line in part.splitlines()[2:]:
                yield from re.findall(r"`([^`]+)`", " ".join(line.removeprefix("|").split(" | ")[:many]))


@pytest.mark.parametrize("page", sorted(PAGES))
def test_a_page_says_what_every_name_in_its_code_is(page: str) -> None:
    known, unknown = told(page) | told("common"), dict[str, set[str]]()
    for name, code in EXCERPT.findall(PAGES[page]):
        if missing := asked(code) - known:
            unknown[name] = missing
    assert unknown == {}


def test_what_is_asked_of_a_block() -> None:
    code = """
    def f(x: Kind, size: int) -> Other:
        made: Kind = g(x.sum(), np.sum(x), key=lambda one: one)
        return made.apart(self.size, [len(y) for y in x], LIMIT)
    """
    assert asked(code) == {"np", "g", "apart", "self", "size", "LIMIT"}
    assert asked("@remembered\ndef f(self, x):\n    def own(y):\n        return y\n    return own(x)") == {"remembered"}


def test_what_the_tables_tell() -> None:
    text = "| symbol | parameter | unit |\n|---|---|---|\n| `a` | `b` | `c` |\n\n"
    text += "Further: `x` 1.\n\n| name | is |\n|---|---|\n| `D(e, f)`, `g(h)` | `i` |"
    assert list(spans(text)) == ["a", "b", "x", "D(e, f)", "g(h)"]
    assert {"calibrated", "Sensitivity", "claim", "release"} <= told("common")
    assert not {"name", "table", "query"} & told("common"), "what functions are given is not told"
