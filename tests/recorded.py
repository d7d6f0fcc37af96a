"""A curator whose run is recorded as audits record it."""

from __future__ import annotations

from refdp.privacy.curator import Curator, Source, Transcript
from refdp.privacy.events import Relation
from refdp.privacy.replay import Recorder


class Recorded(Curator):
    """Before a recorder. recorded: the private transcript, with true values and secret assignments."""

    def __init__(self, source: Source, relation: Relation) -> None:
        recorder = Recorder(source, relation)
        super().__init__(recorder, relation)
        self.recorded: Transcript = recorder.transcript
