"""Every notebook runs from top to bottom, and shows figures."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

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


@pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason="needs refdp[notebooks]")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default::DeprecationWarning", "default::PendingDeprecationWarning")
def test_it_runs_and_shows_figures(path: Path, monkeypatch: pytest.MonkeyPatch, fonts: Path) -> None:
    """An error in a cell, an assertion that fails among them, raises."""
    import jupytext
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("MPLCONFIGDIR", str(fonts))
    notebook = jupytext.read(path)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [output.get("data", {}) for cell in code for output in cell.outputs]
    assert sum("image/png" in data for data in shown) >= 4
    complaints = [o.text for cell in code for o in cell.outputs if o.get("name") == "stderr"]
    assert complaints == []
    assert "## What you can do now" in path.read_text(encoding="utf-8")
