"""What the account command says: the bound as JSON fields and as a table."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refdp.accounting.accountant import account
from refdp.accounting.bound import Bound
from refdp.accounting.calibration import calibrate
from refdp.accounting.plan_file import load_plan, relation_of, release_of
from refdp.errors import InvalidParameter
from refdp.privacy.events import Event, Plan, Relation, Release, Repeat, Sequential, Subsample

if TYPE_CHECKING:
    from rich.table import Table

_ITEM = re.compile(r"([0-9.eE+-]+)?x([0-9]+)")


def account_command(
    *,
    gaussian: Sequence[str] = (),
    laplace: Sequence[str] = (),
    exponential: Sequence[str] = (),
    poisson: float | None = None,
    without_replacement: float | None = None,
    relation: str | Relation = Relation.ADD_REMOVE,
    sample_relation: str | Relation | None = None,
    group: int = 1,
    delta: float | None = None,
    epsilon: float | None = None,
    plan_file: str | Path | None = None,
    certificate_file: str | Path | None = None,
) -> dict[str, Any]:
    """All that `refdp account` does; the JSON fields {epsilon, delta, lower, upper, method, methods}.

    gaussian, laplace, exponential: items "SDxCOUNT", "SCALExCOUNT", "EPSxCOUNT" of unit sensitivity; poisson and
    without_replacement sample each of them, sample_relation is then the one that the unit sensitivities are declared
    for (`relation` unless given). group: so many records change (see `account`).
    With both epsilon and delta exactly one item has no noise, "xCOUNT": its least noise (largest eps)
    that meets the target is found and reported as the field "noise". Infinite figures are the string "inf".
    certificate_file: where to write the enclosure of ε at `delta` for the independent checker (see `certificates`).
    Errors: InvalidParameter (items, rates, what is given and missing), RelationMismatch.
    """
    if certificate_file is not None and (delta is None or epsilon is not None):
        raise InvalidParameter(f"a certificate at delta {delta!r}, epsilon {epsilon!r}: allowed is delta alone")
    options = {"gaussian": gaussian, "laplace": laplace, "exponential": exponential}
    items = [(kind, *_item(text)) for kind, texts in options.items() for text in texts]
    if plan_file is not None:
        if items or any(option is not None for option in (poisson, without_replacement, sample_relation)):
            raise InvalidParameter(
                f"plan file {plan_file} together with releases on the command line: allowed is one of them"
            )
        return _answered(load_plan(plan_file), group, delta, epsilon, certificate_file)
    if poisson is not None and without_replacement is not None:
        raise InvalidParameter(f"rates {poisson!r} and {without_replacement!r} of two samples: allowed is one of them")
    if sample_relation is not None and poisson is None and without_replacement is None:
        raise InvalidParameter(f"relation {str(sample_relation)!r} inside samples: allowed with a sampling rate")
    if not items:
        raise InvalidParameter("no release: allowed are --gaussian, --laplace, --exponential or a plan file")
    related = relation_of(relation, "the plan")
    inside = related if sample_relation is None else relation_of(sample_relation, "what is sampled")

    def sampled(release: Release) -> Event:
        if poisson is not None:
            return Subsample(poisson, release)
        if without_replacement is None:
            return release
        return Subsample(without_replacement, release, "without-replacement")

    def plan_of(noise: float) -> Plan:
        events = (
            Repeat(sampled(release_of(kind, noise if given is None else given, inside)), count)
            for kind, given, count in items
        )
        return Plan(related, Sequential(tuple(events)))

    if any(noise is None for _, noise, _ in items):
        return _calibrated(plan_of, items, group, epsilon, delta)
    return _answered(plan_of(1.0), group, delta, epsilon, certificate_file)


def _answered(
    plan: Plan, group: int, delta: float | None, epsilon: float | None, certificate_file: str | Path | None
) -> dict[str, Any]:
    if certificate_file is not None and group != 1:
        raise InvalidParameter(f"a certificate for a group of {group!r}: allowed is 1")
    if certificate_file is not None and delta is not None:
        from refdp.accounting.certificates import certificate

        text = json.dumps(certificate(plan, delta), indent=1) + "\n"
        try:
            Path(certificate_file).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InvalidParameter(f"certificate file {certificate_file}: {error}") from error
    return _fields(account(plan, delta=delta, epsilon=epsilon, group=group))


def render(fields: dict[str, Any]) -> Table:
    """A rich table of the fields: one row a method, the winner marked, the enclosure below."""
    from rich.table import Table

    asked = "epsilon" if fields["epsilon"] == fields["upper"] else "delta"
    table = Table(title=f"epsilon {_short(fields['epsilon'])} at delta {_short(fields['delta'])}")
    table.add_column("method")
    table.add_column(asked, justify="right")
    table.add_column("")
    for name, value in sorted(fields["methods"].items(), key=lambda pair: float(pair[1])):
        table.add_row(name, _short(value), "best" if name == fields["method"] else "")
    table.add_section()
    table.add_row("enclosure", f"[{_short(fields['lower'])}, {_short(fields['upper'])}]".replace("[", "\\["), "")
    if "noise" in fields:
        table.add_row("calibrated noise", _short(fields["noise"]), "")
    return table


def _fields(bound: Bound) -> dict[str, Any]:
    fields: dict[str, Any] = {name: _plain(getattr(bound, name)) for name in ("epsilon", "delta", "lower", "upper")}
    fields["method"] = bound.method
    fields["methods"] = {name: _plain(value) for name, value in bound.methods.items()}
    return fields


def _calibrated(
    plan_of: Callable[[float], Plan],
    items: list[tuple[str, float | None, int]],
    group: int,
    epsilon: float | None,
    delta: float | None,
) -> dict[str, Any]:
    open_kinds = [kind for kind, noise, _ in items if noise is None]
    if len(open_kinds) != 1 or epsilon is None or delta is None:
        raise InvalidParameter(
            f"{len(open_kinds)} releases without noise, epsilon {epsilon!r}, delta {delta!r}: to calibrate, one "
            "release exactly may lack its noise and both epsilon and delta are needed"
        )
    if group != 1:
        raise InvalidParameter(f"calibration for a group of {group!r}: allowed is 1")
    increasing = open_kinds[0] == "exponential"
    noise = calibrate(plan_of, epsilon, delta, increasing=increasing)
    return {**_fields(account(plan_of(noise), delta=delta)), "noise": noise}


def _item(text: str) -> tuple[float | None, int]:
    match = _ITEM.fullmatch(text.strip())
    try:
        return (None if match[1] is None else float(match[1])), int(match[2])  # type: ignore[index]
    except (TypeError, ValueError):
        raise InvalidParameter(f"release {text!r}: allowed is NOISExCOUNT, for example 2.5x100") from None


def _plain(value: float) -> float | str:
    return "inf" if value == math.inf else value


def _short(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
