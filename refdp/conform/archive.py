"""The vectors, their schema and the specification in one file: python -m refdp.conform.archive [FILE]

Names in order, no times, no owners: the tar inside is the same wherever it is made (the compression around it may not
be), and its SHA-256 is printed.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
import tarfile
from pathlib import Path

from refdp.conform.files import FORMAT, VERSION, kept

NAME = f"{FORMAT}-{VERSION}"


def packed() -> bytes:
    """The tar. Errors: FileNotFoundError outside of the repository."""
    directory = kept()
    if directory is None:
        raise FileNotFoundError("no vectors are kept beside this package: run it in the repository")
    root = directory.parent
    paths = [directory / "schema.json", root / "LICENSE", root / "docs" / "conformance.md"]
    paths += [*directory.glob("*/*.json"), *(root / "docs" / "spec").glob("*.md")]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(paths, key=lambda one: one.as_posix()):
            entry = tarfile.TarInfo(f"{NAME}/{path.relative_to(root).as_posix()}")
            content = path.read_bytes()
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def main(arguments: list[str]) -> int:
    """Write the file, say its digest."""
    path, text = Path(arguments[0] if arguments else f"build/{NAME}.tar.gz"), packed()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text, mtime=0))
    print(f"{path}: {path.stat().st_size} bytes, SHA-256 of the tar inside {hashlib.sha256(text).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
