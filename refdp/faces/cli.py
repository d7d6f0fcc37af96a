"""The command `refdp`: train, predict, audit, dossier, prove, claims, account, conform, recommend.

Every command takes --json. Errors are one line on standard error (with --json also {"error": ...} on standard output)
and exit status 2, after the traceback if it is a mistake of refdp's; an audit that finds a violation exits with 1, a
command that was interrupted with 130.
"""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from itertools import takewhile
from typing import Annotated, Any

import typer

from refdp import __version__
from refdp.audit.ending import keep_status, leave
from refdp.errors import PrivacyWarning, RefdpError
from refdp.faces.commands.account import account
from refdp.faces.commands.audit import audit
from refdp.faces.commands.audit_one_run import audit_one_run
from refdp.faces.commands.audit_package import audit_package
from refdp.faces.commands.certify import certify
from refdp.faces.commands.claims import claims
from refdp.faces.commands.conform import conform
from refdp.faces.commands.dossier import dossier
from refdp.faces.commands.federate import federate
from refdp.faces.commands.output import emit
from refdp.faces.commands.predict import predict
from refdp.faces.commands.prove import prove
from refdp.faces.commands.recommend import recommend
from refdp.faces.commands.train import LOCAL, train

INTERRUPTED = 130  # as shells have it
UNREAD = 141  # a pipe that nobody reads any more; typer's own answer, 1, would pass for a violation
UsageError: Any = typer.BadParameter.__mro__[1]  # every fault of the command line; typer exports only this subclass

app = typer.Typer(
    help="Differentially private gradient boosted trees, with machine-checked claims.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _by_its_result(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """A command's status is what it returns: what typer would end by, out of it, is of foreign code that it ran."""

    @wraps(command)
    def ended(*given: Any, **options: Any) -> int | None:
        try:
            return command(*given, **options)
        except (typer.Exit, typer.Abort, EOFError) as error:
            raise RefdpError(f"code that was run raised {type(error).__name__}, before there was a result") from error

    return ended


for command in (train, predict, audit, prove, claims, account, conform, certify, recommend, federate, dossier):
    app.command()(_by_its_result(command))
app.command("audit package", hidden=True)(_by_its_result(audit_package))  # `audit package`, see `expanded`
app.command("audit one-run", hidden=True)(_by_its_result(audit_one_run))


def _show_version(asked: bool) -> None:
    if asked:
        print(f"refdp {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """Differentially private gradient boosted trees, with machine-checked claims."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    _open_what_was_closed()
    if arguments is None:
        keep_status()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Greek letters is no error
    try:
        status = run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        if arguments is None:
            _end_report()
    except OSError as error:  # standard output is a full disk, or a pipe that nobody reads any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the interpreter can close it
        status = UNREAD if isinstance(error, BrokenPipeError) else 2
        if status == 2:
            print(f"refdp: {error}", file=sys.stderr)
    if arguments is None:
        leave(status)
    sys.exit(status)


def _end_report() -> None:
    """What audited code prints when the interpreter ends is no part of a report: it goes where errors go."""
    with suppress(Exception):  # streams of a caller, or what foreign code put there
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())


def _open_what_was_closed() -> None:
    """A shell's `>&-` is as its `>/dev/null`: the status stays, and no file that is opened takes its place."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_WRONLY)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8"))


def run(arguments: Sequence[str]) -> int:
    """Run the command line; its exit status."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=PrivacyWarning)
            status = app(args=expanded(arguments), prog_name="refdp", standalone_mode=False)
    except (RefdpError, UsageError) as error:
        return _failed(error, "--json" in arguments)
    except OSError as error:
        if _of_what_ran(error):
            return _failed(error, "--json" in arguments)
        raise
    except Exception as error:  # a mistake of refdp's: Python's own status, 1, would pass for a violation
        traceback.print_exc()
        return _failed(RuntimeError(f"a mistake in refdp, {type(error).__name__}: {error}"), "--json" in arguments)
    except SystemExit as end:
        if _of_what_ran(end):  # which ends by none of its own: foreign code was imported, read or called
            told = f"code that was run ended the program with status {end.code}, before there was a result"
            return _failed(RuntimeError(told), "--json" in arguments)
        if isinstance(end.__context__, OSError) and _of_what_ran(end.__context__):
            return _failed(end.__context__, "--json" in arguments)
        return UNREAD if end.code == 1 else int(end.code or 0)  # typer's or rich's: 1 for a broken pipe
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # of foreign code, where nothing takes it for an output
        return _failed(RuntimeError(f"{type(error).__name__}: {error}"), "--json" in arguments)
    if status == INTERRUPTED:
        return _failed(KeyboardInterrupt("interrupted"), "--json" in arguments, INTERRUPTED)
    return status if isinstance(status, int) else 0


def _of_what_ran(error: BaseException) -> bool:
    """Whether it came out of a command, and so of what that read or called, and not of standard output."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    names = [str(frame.f_globals.get("__name__")) for frame in frames]
    closed = isinstance(error, OSError) or isinstance(error.__context__, OSError)
    shown = closed and any(frame.f_code is emit.__code__ for frame in frames)
    return not shown and any(name.startswith("refdp.faces.commands.") for name in names)


def expanded(arguments: Sequence[str]) -> list[str]:
    """`--set a=1 b=2` as `--set a=1 --set b=2`, and `--dask` without an address as one with `LOCAL`.

    `audit package` and `audit one-run` are commands of their own, also behind --json: no paper is called so.
    """
    json_first = len([*takewhile("--json".__eq__, arguments[1:])])
    if list(arguments[:1]) == ["audit"] and list(arguments[json_first + 1 :][:1]) in (["package"], ["one-run"]):
        kind, *rest = arguments[json_first + 1 :]
        arguments = [f"audit {kind}", *arguments[1 : json_first + 1], *rest]
    found: list[str] = []
    setting = False
    for position, argument in enumerate(arguments):
        if argument == "--dask" and (position + 1 == len(arguments) or arguments[position + 1].startswith("-")):
            argument = f"--dask={LOCAL}"
        setting = argument == "--set" or (setting and "=" in argument and not argument.startswith("-"))
        if setting and argument != "--set" and found[-1] != "--set":
            found.append("--set")
        found.append(argument)
    return found


def _failed(error: BaseException, as_json: bool, status: int = 2) -> int:
    message = " ".join(_message(error).split())
    if message:  # empty when the help was asked for by saying nothing
        print(f"refdp: {message}", file=sys.stderr)
    if as_json:
        print(json.dumps({"error": message}))
    return status


def _message(error: BaseException) -> str:
    return error.format_message() if isinstance(error, UsageError) else str(error)
