"""Certificates and models as text and as HTML for notebooks: what is published anyway, in a form to be read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from refdp.data.records import Categorical, Classes, Feature

if TYPE_CHECKING:
    from refdp.data.records import Model
    from refdp.ledger.certificate import Certificate, Guarantee

_SHOWN = 40
"""Rows of a table; the rest is counted."""


def guarantee(stated: Guarantee) -> str:
    """In words."""
    if math.isinf(stated.epsilon):
        return "no guarantee"
    return f"epsilon {stated.epsilon:.6g}" + (f", delta {stated.delta:g}" if stated.delta else "")


def certificate_line(certificate: Certificate) -> str:
    """One line."""
    counts = ", ".join(
        f"{len(found)} {name}" for name, found in (
            ("claims", certificate.claims), ("notes", certificate.notes), ("assumptions", certificate.assumptions)
        )
    )  # fmt: skip
    return (
        f"Certificate({certificate.paper}, {certificate.relation.value}: claimed {guarantee(certificate.claimed)}, "
        f"established {guarantee(certificate.established)}; {counts})"
    )


def certificate_html(certificate: Certificate) -> str:
    """Both guarantees, the verdicts, what is released, and every note and assumption in full."""
    verdicts = Counter(verdict for _, verdict in certificate.claims)
    rows = [
        ("paper", certificate.paper),
        ("neighbours", certificate.relation.value),
        ("claimed", guarantee(certificate.claimed)),
        ("established", guarantee(certificate.established)),
        ("claims", ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())) or "none"),
        *(("claim", f"{name}: {verdict}") for name, verdict in certificate.claims if verdict != "PROVED"),
        *(("released", f"{line.count} × {line.name}: {line.mechanism}") for line in certificate.releases[:_SHOWN]),
        *_more("released", certificate.releases),
        *(("note", note) for note in certificate.notes),
        *(("assumed", assumption) for assumption in certificate.assumptions),
    ]
    return _table("Certificate", rows)


def model_line(model: Model) -> str:
    """One line."""
    return f"Model({model.paper}: {_trees(model)}, {len(model.schema.features)} features, {_target(model)})"


def model_html(model: Model) -> str:
    """Size, target, parameters and the public description of the features."""
    rows = [
        ("paper", model.paper),
        ("trees", _trees(model)),
        ("target", _target(model)),
        *(("parameter", f"{name} = {value}") for name, value in model.params.items()),
        *(("feature", _feature(one)) for one in model.schema.features[:_SHOWN]),
        *_more("feature", model.schema.features),
    ]
    return _table("Model", rows)


def _more(name: str, found: Sequence[object]) -> list[tuple[str, str]]:
    return [(name, f"and {len(found) - _SHOWN} more")] if len(found) > _SHOWN else []


def _trees(model: Model) -> str:
    count = sum(len(one.trees) for one in model.outputs)
    depths = sorted({len(tree.leaves).bit_length() - 1 for one in model.outputs for tree in one.trees})
    return f"{count} trees" + f" of depth {' and '.join(map(str, depths))}" * bool(depths)


def _target(model: Model) -> str:
    target = model.schema.target
    if isinstance(target, Classes):
        shown = ", ".join(target.values[:5]) + ", ..." * (len(target.values) > 5)
        return f"{len(target.values)} classes ({shown})"
    return f"values in [{target.low:g}, {target.high:g}]"


def _feature(feature: Feature) -> str:
    if isinstance(feature, Categorical):
        shown = ", ".join(feature.categories[:5]) + ", ..." * (len(feature.categories) > 5)
        return f"{feature.name}: {len(feature.categories)} categories ({shown})"
    return f"{feature.name}: [{feature.low:g}, {feature.high:g}]"


def _table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows)
    return f"<table><caption>{escape(title)}</caption>{cells}</table>"
