"""What rich shows of a page, line by line."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console


def printed(page: Any) -> list[str]:
    """On a screen of 200 columns; without the blanks at the ends of lines."""
    shown = io.StringIO()
    Console(width=200, file=shown).print(page)
    return [line.rstrip() for line in shown.getvalue().splitlines()]
