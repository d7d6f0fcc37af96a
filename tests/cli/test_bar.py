"""The progress bar has no thread of its own: garbage that such a one collects ends a solver that works beside it."""

from __future__ import annotations

import threading

import pytest

from refdp.faces.commands.output import bar


def test_a_bar_draws_in_the_thread_that_calls_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    before = threading.active_count()
    with bar("first") as progress:
        assert threading.active_count() == before
        for done in range(1, 4):
            progress(done, 3, "second")
            assert threading.active_count() == before
        assert "1/3" in capsys.readouterr().err
    assert "3/3" in capsys.readouterr().err


def test_a_bar_that_was_never_called_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("first"):
        pass
    assert capsys.readouterr() == ("", "")
