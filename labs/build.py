"""`python -m labs.build FOLDER` (`make lab`): the labs as a static page that grades in the browser, with Pyodide.

Pyodide comes from npm. Its compiled numpy and scipy are on no index of packages under names of their own, but they are
among the files of a wheel of another project; they are taken if they are the ones whose sha256 Pyodide's own lock
names. Nothing else of that wheel is used.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RUNTIME = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
NPM = ("pyodide@0.28.3", "pyodide-0.28.3.tgz")
NPM_SHA512 = (
    "aed0acc93539e68346a4bcd256e01de7966faee243117f28ea479275628df633"
    "de05548d9729da2851bb791aa4888814ee2d8ce8712062d9b46ad084417deee0"
)
WHEEL = ("open-webui==0.9.0", "open_webui-0.9.0-py3-none-any.whl")
WHEEL_SHA256 = "259455d0973d7affbe55a293898ae4efc377852baab92c50607d149e975f0a40"
INSIDE = "open_webui/frontend/pyodide/"
PACKAGES = ("numpy", "scipy", "libopenblas")
HIDDEN = ("solution.py", "submissions.py")
"""Not given to students."""


def checked(data: bytes, algorithm: str, digest: str, what: str) -> bytes:
    """The data, if it has that digest. Errors: ValueError."""
    found = hashlib.new(algorithm, data).hexdigest()
    if found != digest:
        raise ValueError(f"{what} has {algorithm} {found}, pinned is {digest}: nothing is built of it")
    return data


def fetched(folder: Path) -> tuple[bytes, Path]:
    """Pyodide's archive and the wheel, as pinned; what is in the folder from before is not fetched again."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / NPM[1]).exists():
        subprocess.run(["npm", "pack", "--silent", NPM[0]], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    if not (folder / WHEEL[1]).exists():
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(f"{WHEEL[0]} --hash=sha256:{WHEEL_SHA256}\n")
            file.flush()
            asked = ["--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", file.name]
            subprocess.run([sys.executable, "-m", "pip", "download", *asked, "-d", str(folder)], check=True)
    wheel = folder / WHEEL[1]
    checked(wheel.read_bytes(), "sha256", WHEEL_SHA256, WHEEL[1])
    return checked((folder / NPM[1]).read_bytes(), "sha512", NPM_SHA512, NPM[1]), wheel


def runtime(archive: bytes, wheel: Path, out: Path) -> None:
    """Pyodide and its compiled packages, each held against the lock that is in Pyodide's own archive."""
    with tempfile.TemporaryFile() as file:
        file.write(archive)
        file.seek(0)
        with tarfile.open(fileobj=file) as members:
            for name in RUNTIME:
                member = members.extractfile(f"package/{name}")
                assert member is not None, name
                (out / name).write_bytes(member.read())
    lock: dict[str, Any] = json.loads((out / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    with zipfile.ZipFile(wheel) as files:
        for name in PACKAGES:
            entry = lock[name]
            data = checked(files.read(INSIDE + entry["file_name"]), "sha256", entry["sha256"], entry["file_name"])
            (out / entry["file_name"]).write_bytes(data)


def sources() -> Iterator[Path]:
    """The files of refdp and of the labs that students get."""
    for path in sorted((ROOT / "refdp").rglob("*")):
        if path.suffix in (".py", ".json", ".typed"):
            yield path
    for path in sorted((ROOT / "labs").rglob("*.py")):
        if path.name not in HIDDEN:
            yield path


def stories() -> dict[str, dict[str, str]]:
    """By lab: its title, its page as HTML and its starter, in the order of the table of labs."""
    from markdown_it import MarkdownIt

    from labs.grading import LABS

    render = MarkdownIt("commonmark", {"html": True}).enable("table").render
    order = (ROOT / "labs" / "README.md").read_text(encoding="utf-8")
    told = {}
    for name in sorted(LABS, key=lambda one: order.index(f"({one}/README.md)")):
        text = (ROOT / "labs" / name / "README.md").read_text(encoding="utf-8")
        story = text.replace("[starter.py](starter.py)", "the text beside this")
        starter = (ROOT / "labs" / name / "starter.py").read_text(encoding="utf-8")
        told[name] = {"title": text.splitlines()[0].lstrip("# "), "story": render(story), "starter": starter}
    return told


def build(out: Path, downloads: Path) -> None:
    """The whole page. Errors: ValueError if a digest is not the pinned one, CalledProcessError if nothing comes."""
    archive, wheel = fetched(downloads)
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ROOT / "labs" / "page", out)
    runtime(archive, wheel, out)
    with zipfile.ZipFile(out / "refdp.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sources():
            packed.write(path, path.relative_to(ROOT).as_posix())
    (out / "labs.json").write_text(json.dumps(stories()), encoding="utf-8")


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "build/lab")
    build(target, target.parent / "lab-downloads")
    size = sum(path.stat().st_size for path in target.iterdir())
    print(f"{target}: {size / 1e6:.0f} MB. python -m http.server -d {target} shows it; it asks no other host.")
