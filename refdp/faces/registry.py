"""The papers that can be run, behind one face."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol, cast, get_args, get_origin, get_type_hints

from refdp.errors import InvalidParameter
from refdp.privacy.events import Plan, Relation

if TYPE_CHECKING:
    from refdp.data.population import Population
    from refdp.data.records import Floats, Model, Schema
    from refdp.data.sparse import AnyRecords
    from refdp.ledger.certificate import Certificate
    from refdp.papers import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt
    from refdp.privacy.curator import Curator

PAPERS = ("dpboost", "inprivate", "dpxgboost", "fedgbdt", "sgbdt")
"""Each a module of refdp/papers, with its printed readings in refdp/papers/published."""
OWN = ("grove",)
"""refdp's own trainers, in refdp/own: what no paper prints has no printed readings."""
_registered: dict[str, PaperText] = {}


class Parameters(Protocol):
    """All parameters of a run: a frozen dataclass of public values that checks them when it is made."""

    @property
    def relation(self) -> Relation:
        """The neighbouring relation of the guarantee."""


class PaperText(Protocol):
    """What a paper's module offers. `Params` is a dataclass, see `Parameters`; the functions take an instance of it.

    Errors: Params raises InvalidParameter for a value outside its domain; nothing raises for what depends on a record.
    """

    @property
    def Params(self) -> Any:
        """The class of all parameters of a run."""

    @property
    def Contribution(self) -> Any:
        """What a record contributes: `data.population.Contribution`, made from parameters and a schema."""

    def plan(self, params: Any, schema: Schema, *, proved: bool = False) -> Plan:
        """Every release of a run; proved: with the ledger's sensitivities. `data.reading.plan_of` reads it."""

    def certificate(self, params: Any, schema: Schema) -> Certificate:
        """Claimed and established guarantee: `ledger.certificate.issue`."""

    def train(self, params: Any, records: Any, curator: Curator) -> Model:
        """`train_on` the records in memory."""

    def train_on(self, params: Any, schema: Schema, population: Population, curator: Curator) -> Model:
        """The algorithm. Model.paper is the name under which the paper is found."""

    def predict(self, model: Model, x: Floats) -> Floats:
        """Regression: values, shape (rows,). Classes: scores, shape (rows, scores). x: shape (rows, features)."""


if TYPE_CHECKING:
    _own: tuple[PaperText, ...] = (dpboost, dpxgboost, fedgbdt, inprivate, sgbdt)


@dataclass(frozen=True)
class Paper:
    """A paper's text under its name."""

    name: str
    module: PaperText

    @property
    def printed(self) -> Any:
        """The paper as printed: its `Params` with the printed readings as further settings, and `AS_PUBLISHED`."""
        from refdp.papers import published

        return published.module(self.name) if self.name in PAPERS else self.module

    def params(self, settings: Mapping[str, Any], *, as_published: bool) -> Any:
        """Parameters from settings; strings, and whole numbers where others are meant, are read as the field's type.

        Errors: InvalidParameter for an unknown name or a value outside its domain.
        """
        hints = get_type_hints(self.printed.Params)
        known = {field.name for field in fields(self.printed.Params)}
        unknown = sorted(set(settings) - known)
        if unknown:
            raise InvalidParameter(f"unknown setting {unknown[0]!r} for {self.name}: one of {', '.join(sorted(known))}")
        given = {name: _read(name, hints[name], value) for name, value in settings.items()}
        readings: Mapping[str, Any] = getattr(self.printed, "AS_PUBLISHED", {})
        if as_published and not readings:
            raise InvalidParameter(f"as published: of {self.name} nothing is printed that its training reads otherwise")
        chosen = {**readings, **given} if as_published else given
        from refdp.papers import published

        return self.module.Params(**chosen) if self.printed is self.module else published.params(self.name, **chosen)

    def plan(self, params: Any, schema: Schema) -> Plan:
        """Every release of a run, from parameters and schema alone. Errors: see `certificate`."""
        with self._finite():
            return self.module.plan(params, schema)

    def train(self, params: Any, records: AnyRecords, curator: Curator) -> Model:
        """Train under a curator."""
        return self.module.train(params, records, curator)

    def predict(self, model: Model, x: Floats) -> Floats:
        """Regression: values, shape (rows,). Classification: one score a class, or one score for two classes."""
        return self.module.predict(model, x)

    def certificate(self, params: Any, schema: Schema) -> Certificate:
        """Claimed and established guarantee. Errors: InvalidParameter where some noise would be no finite number."""
        with self._finite():
            return self.module.certificate(params, schema)

    @contextmanager
    def _finite(self) -> Iterator[None]:
        try:
            yield
        except ZeroDivisionError:
            raise InvalidParameter(f"{self.name}: these settings leave next to nothing of epsilon to some release, "
                                   "whose noise would be no finite number") from None  # fmt: skip


def paper(name: str) -> Paper:
    """The paper of that name. Errors: InvalidParameter if there is none."""
    if name in _registered:
        return Paper(name, _registered[name])
    if name not in (*PAPERS, *OWN):
        raise InvalidParameter(f"paper {name!r}: one of {', '.join((*PAPERS, *OWN, *_registered))} is allowed")
    room = "own" if name in OWN else "papers"
    return Paper(name, cast("PaperText", importlib.import_module(f"refdp.{room}.{name}")))


def register(name: str, text: PaperText) -> Paper:
    """A paper of somebody else, found under this name from now on.

    Errors: InvalidParameter for a name that another text has, or a text that lacks a member of `PaperText`.
    """
    missing = [member for member in vars(PaperText) if not member.startswith("_") and not hasattr(text, member)]
    if missing:
        raise InvalidParameter(f"paper {name!r} lacks {', '.join(missing)}: see refdp.faces.registry.PaperText")
    if name in (*PAPERS, *OWN) or _registered.get(name, text) is not text:
        raise InvalidParameter(f"paper {name!r}: the name is taken")
    _registered[name] = text
    return Paper(name, text)


def _read(name: str, hint: Any, value: Any) -> Any:
    if hint is Relation and not isinstance(value, Relation):
        if value not in list(Relation):
            raise InvalidParameter(f"{name} = {value!r}: {' or '.join(Relation)} is allowed")
        return Relation(value)
    kinds = get_args(hint) if get_origin(hint) is not None else (hint,)
    if type(value) is int and float in kinds and int not in kinds and abs(value) <= 2**53:
        return float(value)  # 1 and 1.0 are one setting: a proof is about its text
    if not isinstance(value, str):
        return value
    for kind in (bool, int, float):
        if kind in kinds:
            try:
                return {"true": True, "false": False}[value.lower()] if kind is bool else kind(value)
            except (ValueError, KeyError):
                continue
    return value
