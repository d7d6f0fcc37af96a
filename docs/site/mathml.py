"""Formulas as MathML, which browsers set themselves: no script, no font and no request to another host."""

from __future__ import annotations

import html
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def inline(self: Any, node: nodes.math) -> None:
    """A formula in a line."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(self: Any, node: nodes.math_block) -> None:
    """A formula of its own; several lines are set one below the other."""
    lines = [line for line in node.astext().replace("&", "").split("\\\\") if line.strip()]
    number = html.escape(node.get("label") or "")
    self.body.append(f'<div class="formula" id="{number}">' if number else '<div class="formula">')
    self.body.extend(convert(line, display="block") for line in lines)
    self.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name that conf.py asks for."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
