"""What else names the mutants of docs/prove-matrix.md: the replay audit, the tests, the statistics of samplers.

Every layer sees a mutant alone: the audit none of its tests, the tests none of audits, proofs or other mutants.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
from collections.abc import Mapping
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from refdp.faces.registry import PAPERS
from tests.audit.figures import kept
from tests.audit.mutants import KEPT, named
from tests.audit.mutants import PAPERS as SUBJECTS
from tests.mutants.harness import Mutant, applied
from tests.prove.page import ABOUT

ROOT = Path(__file__).parents[2]
SECONDS = 600.0
"""By the clock, of one mutant in one layer."""
NOISE = ("refdp.noise.", "refdp.privacy.sources")
"""Where samplers are."""
LEFT_OUT = ("mutant", "replay", "audit")
"""Parts of names of tests that belong to another layer."""
Found = tuple[str, str]


class FirstFailure:
    """pytest's plugin that remembers the first test that failed."""

    def __init__(self) -> None:
        self.test = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called by pytest with every phase of a test."""
        if report.failed and not self.test:
            self.test = report.nodeid.replace("|", "/")[:110]


def tests_of(name: str) -> tuple[list[str], list[str]]:
    """Tests of a paper that see what its text computes: kept bytes, and the quick ones of its rooms."""
    bytes_of = [f"tests/conform/test_vectors.py::test_the_vectors_are_reproduced_byte_for_byte[{name}]",
                f"tests/identity/test_identity.py::test_a_third_of_the_kept_settings_is_unchanged[{name}]"]  # fmt: skip
    rooms = ["tests/numbers/test_bounds.py", "tests/core/test_events.py", "tests/additions/test_additions.py",
             f"tests/{name}"]  # fmt: skip
    rooms = [one for one in rooms if (ROOT / one).exists()]
    return bytes_of, [*rooms, "--quick", "-k", f"not ({' or '.join(LEFT_OUT)})"]


def tested(name: str, mutant: Mutant) -> Found:
    """The first test that fails with the mutant in place, or ("alive", "")."""
    found = "alive", ""
    for chosen in tests_of(name):
        found = _of_pytest(mutant, chosen)
        if found[0] != "alive":
            break
    return found


def sampled(name: str, mutant: Mutant) -> Found:
    """The first test of the samplers' statistics that fails; those of a mutant elsewhere are not asked."""
    if not any(str(path).startswith(NOISE) for path in mutant.patches):
        return "not touched", ""
    return _of_pytest(mutant, ["tests/mechanisms"])


def _of_pytest(mutant: Mutant, chosen: list[str]) -> Found:
    here, there = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_child, args=(mutant, chosen, there))
    child.start()
    there.close()
    said = None
    with contextlib.suppress(EOFError):
        said = here.recv() if here.poll(SECONDS) else ("alive", "time is up")
    child.kill()
    child.join()
    return said or ("not run", "the process of the tests ended")


def _child(mutant: Mutant, chosen: list[str], there: Connection) -> None:
    plugin = FirstFailure()
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain", "-m", "not statistics"]
    assert isinstance(mutant.patches, Mapping)
    with applied(mutant.patches), contextlib.redirect_stdout(io.StringIO()):
        status = pytest.main([*options, *chosen], plugins=[plugin])
    if plugin.test:
        there.send(("killed", plugin.test))
    else:
        there.send(("alive", "") if status == pytest.ExitCode.OK else ("not run", f"pytest ended with {status}"))


def audited(name: str, mutant: Mutant) -> Found:
    """What the replay audit in short names: at any release, where a mutant has no place of its own."""
    row = kept.load(KEPT).get(f"{name}: {mutant.name}")
    if row is None:
        settings: dict[str, Any] = {**ABOUT.get(name, {}), **mutant.settings}
        found: Any = named(replace(mutant, settings=settings), SUBJECTS[name])[0]
    else:
        found = row["found"] if row["located"] else []
    if any(kind == "failed" for kind, _ in found):
        return "not run", found[0][1][:110].replace("\n", " ").replace("|", "/")
    return ("VIOLATION", f"{found[0][0]} at {found[0][1]}".strip()[:110]) if found else ("alive", "")


LAYERS = {"samplers": sampled, "tests": tested, "replay audit": audited}
"""In the order in which they are asked: audits leave more behind in this process."""
NOTHING = Mutant("nothing is changed", {}, "", {})
"""The control: no layer of tests may name it."""
assert set(SUBJECTS) == set(PAPERS)
