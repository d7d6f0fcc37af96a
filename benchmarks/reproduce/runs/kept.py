"""The results behind the pages, kept beside the studies: a compressed file a paper, equal for equal results.

What is done again is appended to results/<paper>.jsonl, which is no part of the repository, and joins the kept results
when a page is written from both.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.reproduce.runs import Outcome, Results, Run

KEPT = Path(__file__).parents[1] / "kept"


def kept_file(paper: str, directory: Path = KEPT) -> Path:
    """Where the results of a paper are kept."""
    return directory / f"{paper}.jsonl.xz"


def read_kept(path: Path) -> dict[Run, Outcome]:
    """Every kept run; none if there is no file. Errors: ValueError for a file that is damaged."""
    if not path.exists():
        return {}
    try:
        lines = lzma.decompress(path.read_bytes()).decode().splitlines()
        outcomes = [Outcome.read(line) for line in lines]
    except (lzma.LZMAError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: kept results are damaged: {error}") from error
    return {outcome.run: outcome for outcome in outcomes}


def keep(outcomes: Iterable[Outcome], path: Path) -> None:
    """Write a file of kept results, in the order of their keys."""
    lines = "".join(outcome.line() for outcome in sorted(outcomes, key=lambda outcome: outcome.run.key))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))


def at_hand(paper: str, results: Results, directory: Path = KEPT) -> Mapping[Run, Outcome]:
    """Kept results and those done since, which count where both have a run."""
    return read_kept(kept_file(paper, directory)) | results.read()
