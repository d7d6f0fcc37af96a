"""The API reference, docs/api/*.md, from the docstrings of the public names, with errors, shapes and source apart."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

FOLDER = Path(__file__).parents[1] / "api"
PAGES = {
    "refdp": ("What `import refdp` gives", "refdp"),
    "curator": ("The curator: the only way out", "refdp.privacy.curator"),
    "events": ("Relations, sensitivities, charges", "refdp.privacy.events"),
    "mechanisms": ("Mechanisms", "refdp.noise.mechanisms"),
    "population": ("Steps and questions to records", "refdp.data.population"),
    "records": ("Records and their public bounds", "refdp.data.records"),
    "dpboost": ("DPBoost", "refdp.papers.dpboost"),
    "inprivate": ("InPrivate Digging", "refdp.papers.inprivate"),
    "dpxgboost": ("DP-XGBoost", "refdp.papers.dpxgboost"),
    "fedgbdt": ("The federated framework", "refdp.papers.fedgbdt"),
    "sgbdt": ("S-GBDT", "refdp.papers.sgbdt"),
    "grove": ("Grove, refdp's own trainer", "refdp.own.grove"),
    "trainer": ("Auditing a trainer", "refdp.audit.trainer"),
    "grade": ("Grading a submission", "refdp.audit.grade"),
    "blackbox": ("Auditing by runs", "refdp.audit.blackbox"),
    "claims": ("The ledger of claims", "refdp.ledger.claims"),
    "testing": ("Assertions for test suites", "refdp.testing"),
}
SECTIONS = re.compile(r"^(Errors|Raises|Shapes?|Units?|Source): ?", re.MULTILINE)


def escaped(text: str) -> str:
    """Words of a docstring with the characters that Markdown would take for its own; code in backticks stays."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if i % 2 else re.sub(r"([*_<|\[\]$#])", r"\\\1", part) for i, part in enumerate(parts))


def told(docstring: str) -> Iterator[str]:
    """A docstring as paragraphs; what it says of errors, shapes, units and source under names of their own."""
    pieces = SECTIONS.split(inspect.cleandoc(docstring))
    yield from paragraphs(pieces[0])
    for name, text in zip(pieces[1::2], pieces[2::2]):
        first, _, rest = text.partition("\n\n")
        yield f"- **{name}**: {escaped(' '.join(first.split()))}"
        yield ""
        yield from paragraphs(rest)


def paragraphs(text: str) -> Iterator[str]:
    """Paragraphs of words, tables and numbered lists as they stand, and blocks that are indented as code."""
    for piece in re.split(r"\n\s*\n", text.strip("\n")):
        lines = piece.splitlines()
        if not piece.strip():
            continue
        if all(line.startswith("    ") for line in lines):
            yield from ("```python", *inspect.cleandoc(piece).splitlines(), "```", "")
        elif all(line.startswith("|") for line in lines):
            yield from ("|".join(escaped(cell) for cell in line.split("|")) for line in lines)
            yield ""
        else:
            for item in re.split(r"\n(?=\d+\. )", piece) if piece.startswith("1. ") else [piece]:
                yield from (escaped(" ".join(item.split())), "")


def signature(name: str, item: Any) -> str:
    """`name(parameters)`, or the name alone where there is no signature."""
    try:
        return re.sub(r"(: |-> )(['\"])(.*?)\2", r"\1\3", f"{name}{inspect.signature(item)}")
    except (TypeError, ValueError):
        return name


def entry(name: str, item: Any, rank: str = "##") -> Iterator[str]:
    """One function or class with its public methods."""
    yield from (f"{rank} {name}", "", "```python", *wrapped(signature(name, item)), "```", "")
    yield from told(inspect.getdoc(item) or "")
    if inspect.isclass(item):
        for own, member in vars(item).items():
            function = getattr(member, "__func__", getattr(member, "fget", member))
            if own.startswith("_") or not inspect.isfunction(function) or not function.__doc__:
                continue
            yield from ("```python", *wrapped(signature(f"{name}.{own}", function)), "```", "")
            yield from told(function.__doc__)


def wrapped(text: str) -> list[str]:
    """A signature over several lines if it is long."""
    if len(text) <= 88:
        return [text]
    head, _, rest = text.partition("(")
    return [f"{head}(", *(f"    {part}" for part in re.split(r"(?<=,) (?=[*\w]+[:=,)])", rest))]


def public(module: Any) -> list[str]:
    """`__all__` of a module, or its own functions and classes without an underscore."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    own = [(n, i) for n, i in vars(module).items() if getattr(i, "__module__", "") == module.__name__]
    return [n for n, i in own if not n.startswith("_") and (inspect.isclass(i) or inspect.isfunction(i))]


def page(title: str, name: str) -> str:
    """One module as Markdown."""
    module = importlib.import_module(name)
    lines = [f"# {title}", "", f"`{name}`", "", *told(module.__doc__ or "")]
    for own in public(module):
        item = getattr(module, own)
        if (inspect.isclass(item) or inspect.isfunction(item)) and item.__doc__:
            lines += entry(own, item)
    return "\n".join(lines) + "\n"


def write(app: Sphinx) -> None:
    """All pages, written anew where their text changed, so that unchanged ones are not built again."""
    FOLDER.mkdir(exist_ok=True)
    index = ["# API reference", "", "**Every public name with its docstring, from the code as it is.**", ""]
    index += ["| module | |", "|---|---|", *(f"| [`{m}`]({f}.md) | {t} |" for f, (t, m) in PAGES.items()), ""]
    index += ["```{toctree}", ":hidden:", "", *PAGES, "```", ""]
    texts = {file: page(title, module) for file, (title, module) in PAGES.items()} | {"index": "\n".join(index)}
    for file, text in texts.items():
        path = FOLDER / f"{file}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    app.connect("config-inited", lambda app, _: write(app))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
