"""Imports point one way: papers -> nouns -> kernels. A violating fixture shows that the check can fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from benchmarks.layout import needed

ROOT = Path(__file__).parents[2]
ABOVE = ("refdp.faces", "refdp.io.datasets", "refdp.__main__", "refdp.audit", "refdp.testing", "refdp.protocols",
         "refdp.conform", "refdp.engines", "refdp.prove", "refdp.pytest_plugin")  # fmt: skip


def imported(source: str) -> Iterator[str]:
    """Every module that the source imports, inside functions as well."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def family(module: str) -> str:
    """A paper's own name: the modules that one paper is made of may import each other.

    Its printed readings stand above it, in refdp/papers/published.
    """
    return module.replace("refdp.papers.published.", "refdp.papers.").partition("_")[0]


def beside(module: str) -> tuple[str, ...]:
    """What the printed readings share."""
    return ("refdp.papers.published.exposure",) if module.startswith("refdp.papers.published.") else ()


def breaches(module: str, source: str) -> list[str]:
    """Imports that the layers forbid to this module."""
    found = []
    for name in set(imported(source)) - {"refdp.papers"}:
        below_paper = module.startswith("refdp.papers.") and (
            (name.startswith("refdp.papers.") and not name.startswith((family(module), *beside(module))))
            or name.startswith(ABOVE)
        )
        face = module == "refdp" or module.startswith((*ABOVE, "refdp.papers"))
        noun = not face and name.startswith((*ABOVE, "refdp.papers"))
        kernel = module == "refdp.data.kernels" and name.startswith("refdp")
        if name.split(".")[0] in ("proofs", "tests", "benchmarks") or below_paper or noun or kernel:
            found.append(f"{module} imports {name}")
    return sorted(found)


def modules() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "refdp").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path.read_text(encoding="utf-8")


def test_layers_hold() -> None:
    assert [breach for module, source in modules() for breach in breaches(module, source)] == []


def test_each_forbidden_import_is_caught() -> None:
    assert breaches("refdp.papers.dpboost", "from refdp.papers.sgbdt import plan")
    assert breaches("refdp.papers.inprivate_quality", "from refdp.papers.sgbdt import leaf_value")
    assert not breaches("refdp.papers.inprivate_quality", "from refdp.papers.inprivate_formulas import gain")
    assert breaches("refdp.papers.dpboost", "from refdp.papers.published import dpboost")
    assert breaches("refdp.papers.published.dpboost", "from refdp.papers import sgbdt")
    assert not breaches("refdp.papers.published.dpboost", "from refdp.papers.dpboost import gain")
    assert breaches("refdp.papers.dpboost", "def f():\n    import refdp.faces.cli")
    assert breaches("refdp.data.records", "from refdp.papers import dpboost")
    assert breaches("refdp.data.kernels", "from refdp import records")
    assert breaches("refdp.ledger.certificate", "import proofs.tool.ledger")
    assert not breaches("refdp.papers.dpboost", "from refdp import kernels\nimport numpy")


def circles(edges: dict[str, set[str]]) -> list[str]:
    """Modules from which imports lead back to themselves."""

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        waiting = list(edges.get(start, ()))
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += edges.get(name, ())
        return found

    return sorted(name for name in edges if name in reached(name))


def test_no_import_goes_in_a_circle() -> None:
    sources = dict(modules())
    edges = {
        name: {one for one in needed(ast.parse(text)) if one in sources and one != name}
        for name, text in sources.items()
    }
    assert len(edges) > 150
    assert circles(edges) == []
    events = edges["refdp.privacy.events"]
    assert circles({**edges, "refdp.privacy.events": {*events, "refdp.privacy.curator"}})
