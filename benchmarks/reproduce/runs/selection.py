"""Which runs `--only name=value ...` means. Names and values that no run has are errors, as is an empty selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.reproduce.runs import Run


class Refused(Exception):
    """A command that cannot be done as asked: one line, before any work."""


def settings(run: Run) -> Mapping[str, str]:
    """The settings of a run by which it can be selected, as text."""
    named = {"experiment": run.experiment, "fold": run.fold, "repeat": run.repeat, **dict(run.cell)}
    return {name: str(value) for name, value in named.items()}


def parsed(only: Sequence[str]) -> dict[str, set[str]]:
    """The values that are allowed for each name; several for one name are alternatives. Errors: Refused."""
    found: dict[str, set[str]] = {}
    for text in only:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise Refused(f"--only {text!r}: NAME=VALUE is needed")
        found.setdefault(name, set()).add(value)
    return found


def select(runs: Sequence[Run], only: Sequence[str]) -> list[Run]:
    """The runs that have all of these settings. Errors: Refused, with what there is."""
    wanted = parsed(only)
    known: dict[str, set[str]] = {}
    for run in runs:
        for name, value in settings(run).items():
            known.setdefault(name, set()).add(value)
    for name, values in wanted.items():
        if name not in known:
            raise Refused(f"--only {name}: no run has such a setting; names are {', '.join(sorted(known))}")
        if strange := values - known[name]:
            raise Refused(f"--only {name}={min(strange)}: no run has it; values are {', '.join(sorted(known[name]))}")
    found = [run for run in runs if all(settings(run).get(name) in values for name, values in wanted.items())]
    if not found:
        raise Refused(f"--only {' '.join(only)}: no run has all of these settings")
    return found
