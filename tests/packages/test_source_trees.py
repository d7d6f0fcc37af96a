"""Which files are a package's, how its lines are named, and the line that a release names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from refdp.audit.package.sources import Location, Tree, entered, function_at, release_at, tree
from refdp.errors import InvalidParameter


def test_files_of_a_package() -> None:
    """Its folder, what is below, or its single file; not a neighbour that begins alike."""
    own = Tree((), (Path("/a/one"), Path("/b/two.py")))
    for path, held in [("/a/one", True), ("/a/one/x.py", True), ("/b/two.py", True), ("/a/onemore/x.py", False),
                       ("/a", False), ("/a/x.py", False), ("/b/two.pyx", False), ("", False)]:  # fmt: skip
        assert own.holds(path) is held
    assert not Tree((), ()).holds("/a/one")
    assert own.relative(Path("/a/one/deep/x.py")) == "one/deep/x.py" and own.relative(Path("/b/two.py")) == "two.py"
    assert own.relative(Path("/c/d/x.py")) == "x.py"


def test_sources_of_installed_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every source of a folder, a file alone; nothing of a built-in one."""
    (tmp_path / "folder_of_it" / "inner").mkdir(parents=True)
    for name in ("__init__.py", "b.pyi", "note.txt", "inner/c.so"):
        (tmp_path / "folder_of_it" / name).write_text("")
    (tmp_path / "file_of_it.py").write_text("\n\ndef train():\n    return 1  \n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = tree(["folder_of_it", "file_of_it"])
    assert found.tops == (tmp_path / "folder_of_it", tmp_path / "file_of_it.py")
    names = [path.relative_to(tmp_path).as_posix() for path in found.files]
    assert names == ["folder_of_it/__init__.py", "folder_of_it/b.pyi", "folder_of_it/inner/c.so", "file_of_it.py"]
    with pytest.raises(InvalidParameter, match="no such module is installed"):
        tree(["file_of_it", "absent_of_it"])
    told = release_at("draw at file_of_it.py:4 in train", found)
    assert told == Location("file_of_it.py", 4, "train", "return 1")
    assert release_at("draw at other.py:4 in train", found) == Location("other.py", 4, "train", "")
    assert release_at("draw at le_of_it.py:4 in train", found) == Location("le_of_it.py", 4, "train", "")
    assert release_at("draw", found) is None
    assert str(Location("a.py", 3, "f", "x")) == "a.py:3 in f" and str(Location("a.py", 3, "", "x")) == "a.py:3"
    assert Location("a.py", 3, "f", "x").to_dict() == {"path": "a.py", "line": 3, "function": "f", "text": "x"}


def test_the_function_that_a_wrapper_enters_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From outside the package, constructors only where nothing else is; what a first run imports does not count."""
    folder = tmp_path / "entered_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("class Made:\n    def __init__(self):\n        self.a = [1 for _ in '12']\n\n\n"
        "def first(x):\n    return x\n\n\ndef second(x):\n    return first(inner(x))\n\n\n"
        "def inner(x):\n    return sorted([x], key=lambda one: one)[0]\n")  # fmt: skip
    monkeypatch.syspath_prepend(str(tmp_path))
    package, given = tree(["entered_package"]), list[Any]()

    def wrapper(records: Any, seed: int) -> Any:
        import entered_package as own  # type: ignore[import-not-found]

        given.append((records, seed))
        own.first(records)
        own.second(records)
        own.Made()
        raise ValueError("published before")

    kept = sys.getprofile()
    found = entered(wrapper, "rows", 5, package)
    assert found == Location("entered_package/__init__.py", 10, "second", "def second(x):")
    assert given == [("rows", 5)] * 2 and sys.getprofile() is kept
    alone = entered(lambda records, seed: sys.modules["entered_package"].Made(), "rows", 5, package)
    assert alone is not None and (alone.line, alone.function) == (2, "Made.__init__")
    assert entered(lambda records, seed: records, "rows", 5, package) is None


def test_the_first_line_of_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lines_of_it.py").write_text("import math\n\n\ndef train(records, seed):\n    return 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = function_at("lines_of_it:train", tree(["lines_of_it"]), "[package] train")
    assert found == Location("lines_of_it.py", 4, "train", "def train(records, seed):")
    with pytest.raises(InvalidParameter, match="it has no Python source"):
        function_at("math:sqrt", tree(["lines_of_it"]), "[package] train")
