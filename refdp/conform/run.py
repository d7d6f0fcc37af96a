"""One training run that is recorded, or that plays a tape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from refdp.conform import tape_file
from refdp.data.sparse import AnyRecords
from refdp.errors import InvalidParameter
from refdp.faces.registry import Paper
from refdp.faces.training import Run, Seed, assuming, source_for, train, without_guarantee
from refdp.privacy.replay import Recorder
from refdp.privacy.sources import SampleSource
from refdp.privacy.tape import TapeSource

RECORDED = "the tape stays as secret as the records: whoever has it can subtract the noise"
"""What the certificate of a recorded run assumes."""
PLAYED = "the noise was read from a tape, not drawn: there is no privacy against whoever knows the tape"


def recorded(
    paper: Paper, params: Any, records: AnyRecords, seed: Seed = None, *,
    private: bool = False, progress: Callable[[], None] = lambda: None,
) -> tuple[Run, str]:  # fmt: skip
    """Train once; the run and its tape's text, with true values where it is private."""
    source = source_for(params, seed, record=True)
    assert isinstance(source, SampleSource)
    recorder = Recorder(source, params.relation)
    run = train(paper, params, records, recorder if private else source, progress=progress)
    header = tape_file.header_of(paper.name, params, records, private=private)
    text = tape_file.tape_text(header, source.tape, recorder.transcript if private else None)
    return replace(run, certificate=assuming(run.certificate, RECORDED)), text


def played(
    paper: Paper, params: Any, records: AnyRecords, path: Path, *, progress: Callable[[], None] = lambda: None
) -> Run:
    """Train once on the draws of a tape. Errors: InvalidParameter for a tape of anything but this run."""
    tape = tape_file.read(path)
    tape.check(tape_file.header_of(paper.name, params, records))
    player = TapeSource(tape.listed())
    run = train(paper, params, records, player, progress=progress)
    player.finish()
    return replace(run, certificate=without_guarantee(run.certificate, [PLAYED]))


def check_options(record: Path | None, tape: Path | None, private: bool, seed: int | None) -> None:
    """Errors: InvalidParameter for options that contradict each other."""
    if tape is not None and (record is not None or seed is not None):
        raise InvalidParameter(f"--tape {tape} with --{'record' if record else 'seed'}: a tape has all draws already")
    if private and record is None:
        raise InvalidParameter("--private: it says what --record FILE writes, which is missing")
