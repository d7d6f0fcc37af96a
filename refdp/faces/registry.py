"""The papers that can be run, behind one face."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import ModuleType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from refdp.errors import InvalidParameter
from refdp.privacy.events import Plan, Relation

if TYPE_CHECKING:
    from refdp.data.records import Floats, Schema
    from refdp.data.sparse import AnyRecords
    from refdp.data.trees import Model
    from refdp.ledger.certificate import Certificate
    from refdp.privacy.curator import Curator

PAPERS = ("dpboost", "inprivate", "dpxgboost", "fedgbdt", "sgbdt")
CONVERTED = ("dpboost", "dpxgboost", "fedgbdt", "inprivate", "sgbdt")
"""Those whose printed readings stand in refdp/papers/published."""


@dataclass(frozen=True)
class Paper:
    """One paper's module. It offers Params, AS_PUBLISHED, plan, train, predict and certificate."""

    name: str
    module: ModuleType

    @property
    def printed(self) -> ModuleType:
        """The paper as printed: its `Params` with the printed readings as further settings, and `AS_PUBLISHED`."""
        from refdp.papers import published

        return published.module(self.name) if self.name in CONVERTED else self.module

    def params(self, settings: Mapping[str, Any], *, as_published: bool) -> Any:
        """Parameters from settings; strings are read as the field's type.

        Errors: InvalidParameter for an unknown name or a value outside its domain.
        """
        hints = get_type_hints(self.printed.Params)
        known = {field.name for field in fields(self.printed.Params)}
        unknown = sorted(set(settings) - known)
        if unknown:
            raise InvalidParameter(f"unknown setting {unknown[0]!r} for {self.name}: one of {', '.join(sorted(known))}")
        given = {name: _read(name, hints[name], value) for name, value in settings.items()}
        chosen = {**self.printed.AS_PUBLISHED, **given} if as_published else given
        from refdp.papers import published

        return self.module.Params(**chosen) if self.printed is self.module else published.params(self.name, **chosen)

    def plan(self, params: Any, schema: Schema) -> Plan:
        """Every release of a run, from parameters and schema alone."""
        result: Plan = self.module.plan(params, schema)
        return result

    def train(self, params: Any, records: AnyRecords, curator: Curator) -> Model:
        """Train under a curator."""
        result: Model = self.module.train(params, records, curator)
        return result

    def predict(self, model: Model, x: Floats) -> Floats:
        """Regression: values, shape (rows,). Classification: one score a class, or one score for two classes."""
        result: Floats = self.module.predict(model, x)
        return result

    def certificate(self, params: Any, schema: Schema) -> Certificate:
        """Claimed and established guarantee."""
        result: Certificate = self.module.certificate(params, schema)
        return result


def paper(name: str) -> Paper:
    """The paper of that name. Errors: InvalidParameter if there is none."""
    if name not in PAPERS:
        raise InvalidParameter(f"paper {name!r}: one of {', '.join(PAPERS)} is allowed")
    return Paper(name, importlib.import_module(f"refdp.papers.{name}"))


def _read(name: str, hint: Any, value: Any) -> Any:
    if hint is Relation and not isinstance(value, Relation):
        if value not in list(Relation):
            raise InvalidParameter(f"{name} = {value!r}: {' or '.join(Relation)} is allowed")
        return Relation(value)
    if not isinstance(value, str):
        return value
    kinds = get_args(hint) if get_origin(hint) is not None else (hint,)
    for kind in (bool, int, float):
        if kind in kinds:
            try:
                return {"true": True, "false": False}[value.lower()] if kind is bool else kind(value)
            except (ValueError, KeyError):
                continue
    return value
