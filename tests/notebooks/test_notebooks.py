"""Every notebook runs from top to bottom, and shows figures."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.md"))
NEEDED = ("jupytext", "nbclient", "ipykernel", "matplotlib")


def test_make_test_installs_what_they_need() -> None:
    extras = re.findall(r"^EXTRAS := (.*)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert "notebooks" in extras[0].split(",")
    declared = re.findall(r"^notebooks = (.*)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert all(f'"{name}' in declared[0] for name in NEEDED)
    assert len(NOTEBOOKS) >= 2


@pytest.fixture(scope="module")
def fonts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list of this matplotlib's fonts: the user's may be another version's, and then every figure complains."""
    folder = tmp_path_factory.mktemp("matplotlib")
    code = "import os, sys; os.environ['MPLCONFIGDIR'] = sys.argv[1]; import matplotlib.font_manager"
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def kernel(fonts: Path) -> Iterator[Any]:
    """One process for all notebooks: each begins with an empty namespace, but with what others have imported."""
    from nbclient import NotebookClient
    from nbformat.v4 import new_notebook

    client = NotebookClient(new_notebook(), timeout=300, kernel_name="python3")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MPLCONFIGDIR": str(fonts)}
    with client.setup_kernel(env=environment, cwd=str(ROOT)):
        yield client


def executed(path: Path, kernel: Any) -> Any:
    """The notebook after it ran. Errors: CellExecutionError for an error in a cell, a failed assertion among them."""
    import jupytext
    from nbformat.v4 import new_code_cell

    notebook = jupytext.read(path)
    notebook.cells.insert(0, new_code_cell(EMPTY))
    kernel.nb = notebook
    kernel.reset_execution_trackers()
    for index, cell in enumerate(notebook.cells):
        kernel.execute_cell(cell, index)
    return notebook


EMPTY = """get_ipython().run_line_magic("reset", "-f")
import sys, warnings
warnings.resetwarnings()
sys.modules["matplotlib.pyplot"].close("all") if "matplotlib.pyplot" in sys.modules else None
get_ipython().run_line_magic("reset", "-f")"""


@pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason="needs refdp[notebooks]")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default::DeprecationWarning", "default::PendingDeprecationWarning")
def test_it_runs_and_shows_figures(path: Path, kernel: Any) -> None:
    notebook = executed(path, kernel)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [output.get("data", {}) for cell in code for output in cell.outputs]
    assert sum("image/png" in data for data in shown) >= 4
    complaints = [o.text for cell in code for o in cell.outputs if o.get("name") == "stderr"]
    assert complaints == []
    assert "## What you can do now" in path.read_text(encoding="utf-8")


@pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason="needs refdp[notebooks]")
@pytest.mark.filterwarnings("default::DeprecationWarning", "default::PendingDeprecationWarning")
def test_a_notebook_finds_no_name_of_another(tmp_path: Path, kernel: Any) -> None:
    from nbclient.exceptions import CellExecutionError

    head = NOTEBOOKS[0].read_text(encoding="utf-8").partition("\n\n")[0]
    for name, text in ("first", "kept = 1"), ("second", "kept + 1"):
        (tmp_path / f"{name}.md").write_text(f"{head}\n\n```{{code-cell}} ipython3\n{text}\n```\n")
    executed(tmp_path / "first.md", kernel)
    with pytest.raises(CellExecutionError, match="name 'kept' is not defined"):
        executed(tmp_path / "second.md", kernel)
