"""Sphinx extension: the first use of every glossary term on a page is a link to what it means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes

GLOSSARY = "docs/glossary"
ALSO = {
    "ε": "epsilon", "δ": "delta", "Rényi divergence": "Renyi divergence", "neighbouring": "neighbour",
    "noninterference": "post-processing", "sensitivities": "sensitivity", "errata": "erratum",
    "black-box": "black box", "certificates": "certificate",
}  # fmt: skip
"""Other forms of terms; a plural with s is found by itself."""
APART = (nodes.reference, nodes.literal, nodes.literal_block, nodes.title, nodes.raw, nodes.math, nodes.math_block,
         nodes.pending, nodes.comment, nodes.strong, nodes.block_quote)  # fmt: skip
"""What is no running text. What is set in bold is a verdict, where a link would only distract, and a quotation has its
own meaning of words."""


def terms(text: str) -> list[str]:
    """The terms of the glossary's text: its headings of level two."""
    return re.findall(r"^## (.+)$", text, flags=re.MULTILINE)


def anchor(term: str) -> str:
    """The heading's anchor."""
    return term.lower().replace(" ", "-")


def pattern(known: list[str]) -> re.Pattern[str]:
    """Any form of any term as whole words, the longest first."""
    forms = sorted([*known, *ALSO], key=len, reverse=True)
    return re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, forms))})s?(?![\w-])", re.IGNORECASE)


def canonical(found: str, known: list[str]) -> str:
    """The term that this form belongs to."""
    forms = {term.casefold(): term for term in known} | {form.casefold(): term for form, term in ALSO.items()}
    return forms.get(found.casefold()) or forms[found.casefold().removesuffix("s")]


def pieces(text: str, matcher: re.Pattern[str], known: list[str], seen: set[str]) -> Iterator[tuple[str, str]]:
    """The text in parts: (part, its term), the term empty for running text; terms in `seen`, which grows, are text."""
    start = 0
    for match in matcher.finditer(text):
        term = canonical(match[0], known)
        if term in seen:
            continue
        seen.add(term)
        yield text[start : match.start()], ""
        yield match[0], term
        start = match.end()
    yield text[start:], ""


def link(app: Any, doctree: nodes.document, docname: str) -> None:
    """Link first uses on one page."""
    if docname == GLOSSARY or app.builder.format != "html":
        return
    known = terms((Path(app.srcdir) / f"{GLOSSARY}.md").read_text(encoding="utf-8"))
    target, matcher, seen = app.builder.get_relative_uri(docname, GLOSSARY), pattern(known), set[str]()
    for one in list(doctree.findall(nodes.reference)):  # links that the author made are first uses
        seen.update(term for term in known if str(one.get("refuri", "")).endswith(f"glossary.html#{anchor(term)}"))
    for text in list(doctree.findall(nodes.Text)):
        if any(isinstance(above, APART) or "cell" in above.get("classes", ()) for above in _above(text)):
            continue
        parts = list(pieces(str(text), matcher, known, seen))
        if len(parts) > 1:
            text.parent.replace(text, [_node(part, term, target) for part, term in parts if part])


def _above(node: nodes.Node) -> Iterator[Any]:
    while node.parent is not None and not isinstance(node.parent, nodes.document):
        node = node.parent
        yield node


def _node(part: str, term: str, target: str) -> nodes.Node:
    if not term:
        return nodes.Text(part)
    uri = f"{target}#{anchor(term)}"
    return nodes.reference("", part, internal=True, refuri=uri, classes=["term"])


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
