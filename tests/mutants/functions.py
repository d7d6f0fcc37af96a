"""Every small mistake in one function, as functions, to show that a test of it would fail."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.mutants.sites import parses, sites


def mutants(function: Callable[..., Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The function with one mistake each, and what it is. It calls the same others; decorators are left out."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    source = ast.unparse(tree)
    for site in sites(source):
        if parses(site.applied(source)):
            names = dict(inspect.unwrap(function).__globals__)
            exec(compile(site.applied(source), function.__name__, "exec"), names)
            line = source.splitlines()[site.line - 1].strip()
            yield f"{line} | {site.old} -> {site.new}", names[function.__name__]


def alive(function: Callable[..., Any], holds: Callable[[Callable[..., Any]], bool]) -> list[str]:
    """The mistakes that a check does not see. An error is seen."""
    with np.errstate(all="ignore"):
        return [mistake for mistake, mutant in mutants(function) if _quietly(holds, mutant)]


def _quietly(holds: Callable[[Callable[..., Any]], bool], mutant: Callable[..., Any]) -> bool:
    try:
        return holds(mutant)
    except Exception:
        return False
