"""`refdp audit one-run FILE`: lower bounds of epsilon from one run with many canaries, whoever made the run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refdp.documents import parsed
from refdp.errors import InvalidParameter
from refdp.faces.commands.options import Json

if TYPE_CHECKING:
    import numpy as np


class Assuming(StrEnum):
    """What is taken for granted besides fair coins."""

    NOTHING = "nothing"
    GAUSSIAN = "gaussian"
    ISOLATED = "isolated"


File = Annotated[
    Path, typer.Argument(metavar="FILE", help='JSON: {"included": \\[true, ...], "scores": [0.5, ...]}, one a canary.')
]
Epsilon = Annotated[float | None, typer.Option("--epsilon", help="Claimed: exit status 1 for a bound above it.")]
Delta = Annotated[float, typer.Option("--delta", help="Of epsilon.")]
Confidence = Annotated[float, typer.Option("--confidence", help="Of the bound.")]
Share = Annotated[float, typer.Option("--share", help="Of canaries that are guessed; to be fixed before looking.")]
Assume = Annotated[
    Assuming,
    typer.Option(
        "--assume",
        help="nothing: (epsilon, delta) only; gaussian: the run is Gaussian private; isolated: canaries' scores are "
        "independent, too, as those of leaves of their own.",
    ),
]


def audit_one_run(
    file: File,
    epsilon: Epsilon = None,
    delta: Delta = 1e-5,
    confidence: Confidence = 0.95,
    share: Share = 0.2,
    assume: Assume = Assuming.NOTHING,
    as_json: Json = False,
) -> int:
    """Bound epsilon from below by canaries that fair coins put into one run, the higher a score the likelier in.

    Exit status 1 for a bound above --epsilon, 3 where no guesses could have given one. The report names the assumption
    that the bound rests on.
    """
    from refdp.audit.onerun import bound, guessed
    from refdp.audit.onerun_rows import blind, blind_alone, check_coins, coverage
    from refdp.audit.onerun_tradeoff import gaussian_bound, isolated_bound
    from refdp.audit.verdicts import exit_status, is_ok, summary
    from refdp.checks import check_number
    from refdp.faces.commands.output import emit

    if epsilon is not None:
        check_number("--epsilon", epsilon, least=0)
    check_number("--confidence", confidence, above=0, below=1)
    check_number("--delta", delta, above=0, below=1)
    check_number("--share", share, above=0, most=1)
    included, scores = _read(file)
    check_coins(included)
    most: float | None = None
    if assume is Assuming.ISOLATED:
        found = isolated_bound(included, scores, delta, confidence).to_dict()
        unseen = blind_alone(included, scores)
    else:
        right, guesses = guessed(included, scores, share)
        unseen = blind(scores, right, guesses)
        if assume is Assuming.GAUSSIAN:
            found = gaussian_bound(right, guesses, len(scores), delta, confidence).to_dict()
            most = gaussian_bound(guesses, guesses, len(scores), delta, confidence).to_dict()["epsilon"]
        else:
            found = bound(right, guesses, len(scores), delta, confidence).to_dict()
            found = {"epsilon": found.pop("lower"), **found}
            most = bound(guesses, guesses, len(scores), delta, confidence).to_dict()["lower"]
    rows = coverage(found["epsilon"], epsilon, confidence, len(scores), most, unseen)
    verdict = summary(rows)
    told = {
        "ok": is_ok(verdict),
        "verdict": str(verdict),
        "claimed_epsilon": epsilon,
        "assume": assume.value,
        **found,
    }
    shown = "".join(f"{name}: {value}\n" for name, value in told.items())
    shown += "".join(f"{row.verdict}: {row.reason}; {row.power}\n".replace("; \n", "\n") for row in rows if row.decides)
    emit({**told, "coverage": [row.to_dict() for row in rows]}, shown, as_json)
    return exit_status(verdict)


def _read(file: Path) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    import numpy as np

    try:
        data = parsed(file.read_text(encoding="utf-8"))
        if any(type(score) not in (int, float) for score in data["scores"]):
            raise ValueError("scores that are no numbers")
        included, scores = np.asarray(data["included"]), np.asarray(data["scores"], dtype=np.float64)
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise InvalidParameter(f'{file}: {{"included": [true, ...], "scores": [...]}} is needed ({error})') from error
    if included.dtype != np.bool_ or included.shape != scores.shape or included.ndim != 1 or len(included) < 4:
        raise InvalidParameter(
            f"{file}: {included.dtype} of shape {included.shape}, scores of shape {scores.shape}; as many true or "
            "false as scores, at least 4, are needed"
        )
    if not np.isfinite(scores).all():
        raise InvalidParameter(f"{file}: scores have to be finite numbers")
    return included, scores
