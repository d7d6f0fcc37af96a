"""Everything that is kept of the code's text follows a mutant, so that it is killed by what it does alone.

Run in a scratch copy: fingerprints of the ledger and of kept proofs, the excerpts of the specification and its digest
in the vectors. The figures in them stay as they are. What cannot be followed is left to the tests.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

TEXT_ALONE = ("tests/pages/test_reading.py",)
"""Tests of nothing but the code's text: excerpts in ARCHITECTURE.md."""


def ledger() -> None:
    """Fingerprints of what the claims are about."""
    from refdp.ledger import fingerprint

    path = next(Path("refdp").rglob("ledger.json"))
    document = json.loads(path.read_text(encoding="utf-8"))
    for claim in document["claims"]:
        for name in claim["about"]:
            claim["about"][name] = fingerprint.current(name) or claim["about"][name]
    path.write_text(json.dumps(document, indent=1, sort_keys=True), encoding="utf-8")


def proofs() -> None:
    """Fingerprints of the texts and of the reading in the kept proofs."""
    from refdp.ledger import proved

    path = next(Path("refdp").rglob(proved.FILE))
    found = []
    for one in proved.kept():
        text = proved.text_now(one.paper) or one.text
        followed = replace(one, text=text, engine=proved.engine_now())
        found.append(asdict(replace(followed, digest=followed.digested())))
    path.write_text(json.dumps({"proved": found}, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def specification() -> None:
    """Excerpts of the pages, and their digest in the vectors."""
    from refdp.conform import normative
    from refdp.faces.registry import PAPERS

    normative.main(Path("docs/spec"))
    for paper in PAPERS:
        digest = normative.digest(paper)
        for path in sorted(Path("conform", paper).glob("*.json")):
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(json.loads(text)["specification"], digest), encoding="utf-8")


STEPS: tuple[Callable[[], None], ...] = (ledger, proofs, specification)

if __name__ == "__main__":
    import refdp  # noqa: F401

    for step in STEPS:
        with contextlib.suppress(Exception):  # a mutant of the code that follows: the tests tell
            step()
