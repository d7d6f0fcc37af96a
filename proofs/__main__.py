"""`python -m proofs verify` re-derives every claim and compares with the ledger; `python -m proofs write` writes it.

`python -m proofs write PREFIX...` derives these claims and what they rest on, writes their rows and keeps the others;
rows of claims that no module states any more go. `python -m proofs page` writes docs/claims and docs/errata
from the committed ledger with the quotes and errata of proofs/ and the citations as they are now; it derives nothing.
"""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from proofs.checker.proposition import attributed
from proofs.tool.ledger import LEDGER, check_all, differences, propositions, to_json, verdicts, with_premises
from proofs.tool.page import committed_pages, page_differences, write_pages
from refdp.ledger.claims import Claim, committed, table

CONSOLE = Console(stderr=True)


def derive_all(prefixes: tuple[str, ...], verbose: bool) -> dict[str, Claim]:
    """Every claim whose id starts with one of the prefixes, and what it rests on, behind a progress bar."""
    names = with_premises([name for name in propositions() if name.startswith(prefixes)])
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=CONSOLE) as progress:
        task = progress.add_task("checking", total=len(names))

        def done(name: str, seconds: float) -> None:
            progress.update(task, advance=1, description=name)
            if verbose:
                progress.console.print(f"{seconds:7.2f} s  {name}")

        return verdicts(check_all(names, done=done))


def main(arguments: list[str]) -> int:
    """0 if all is as committed, 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m proofs", description=__doc__)
    parser.add_argument("command", choices=["verify", "write", "page", "table"])
    parser.add_argument("prefixes", nargs="*", metavar="prefix", help="only ids that start so")
    parser.add_argument("--verbose", action="store_true", help="name each claim with the seconds that it took")
    options = parser.parse_args(arguments)
    if options.command == "page":
        _write(_kept())
        return 0
    claims = derive_all(tuple(options.prefixes) or ("",), options.verbose)
    if options.command == "write":
        _write({**_kept(), **claims} if options.prefixes else claims)
        CONSOLE.print(table(list(claims.values())))
        return 0
    if options.command == "table":
        CONSOLE.print(table(list(claims.values())))
        return 0
    return _compare(claims, partial=bool(options.prefixes))


def _kept() -> dict[str, Claim]:
    """The committed claims that a module still states, with the quotes as they are now."""
    stated = propositions()
    return {c.id: attributed(c, stated[c.id].attribution) for c in committed() if c.id in stated}


def _write(claims: dict[str, Claim]) -> None:
    LEDGER.write_text(to_json(claims), encoding="utf-8")
    write_pages(claims)


def _compare(claims: dict[str, Claim], partial: bool) -> int:
    found = list(differences(claims, LEDGER.read_text(encoding="utf-8")))
    found = [line for line in found if not partial or line.partition(":")[0] in claims]
    if not partial:
        found += page_differences(claims, committed_pages())
    for line in found:
        CONSOLE.print(line, style="red", highlight=False, markup=False)
    CONSOLE.print(f"{len(claims)} claims derived, {len(found)} differences from the committed ledger")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
