"""A budget that several fits share: it refuses a fit before it is overspent, and composes plans, not epsilons.

    budget = refdp.PrivacyBudget(2.0, 1e-5, file="budget.json")
    FedGBDTClassifier(epsilon=1.0, budget=budget, ...).fit(X, y)
    budget.spent()                                  # epsilon of everything so far, at the budget's delta

Every fit is charged before it touches a record and stays charged if it fails. `budget.on("2023")` charges only the
records that its owner calls so; names stand for sets without a common record. What is charged is the plan with the
sensitivities that the ledger proves; what is said is the least of two bounds: `refdp.account` of all plans together,
and the sum of the epsilons where the deltas' sum allows it.

Whoever lets the settings of a fit follow from what earlier fits released says `adaptive=True`. Rules for compositions
fixed beforehand, such as privacy loss distributions or the best Renyi order, do not cover that. There, two filters run
at delta / 2 each, and a fit may go on under either of them: the sum of epsilons (Rogers, Roth, Ullman, Vadhan 2016) and
one Renyi order, fixed from epsilon and delta (Feldman, Zrnic 2021). A run is split by the filter that it ends under, so
their deltas add up.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refdp.accounting import conversion
from refdp.accounting.accountant import account
from refdp.accounting.budget_file import charges_in, check_scope, plan_in, plan_out
from refdp.accounting.budget_lock import Lock
from refdp.accounting.divergence import renyi
from refdp.accounting.least import least_epsilon
from refdp.checks import check_number, of_numpy
from refdp.documents import parsed
from refdp.errors import BudgetExceeded, InvalidParameter
from refdp.noise.mechanisms import DiscreteGaussian
from refdp.privacy.events import Event, Plan, Relation, Sequential, releases, whole

VERSION = 1
_GONE = "{}: it is gone, and with it what was spent"
_ABSENT = (
    "this budget was in the memory of the process that fitted the estimator, and what was spent of it stayed there: "
    "nothing can be charged to it here; fits that go on elsewhere need PrivacyBudget(..., file=...)"
)
SLACK = 1e-9
"""Relative room for the rounding of figures that were calibrated to meet the budget."""


@dataclass(frozen=True)
class Entry:
    """One charge. scope: the records that it is about, None for all. epsilon, delta: what is established of it.

    plan: what is composed; None for what has no plan, a private selection, which only adds its epsilon and delta.
    """

    name: str
    scope: str | None
    plan: Plan | None
    epsilon: float
    delta: float


class PrivacyBudget:
    """epsilon and delta that all charges together may cost. Thread-safe; with a file, safe among processes too.

    epsilon, delta, relation: the guarantee. file: where charges are kept; one that is there is gone on with, and what
    is a symbolic link by then stands for the file behind it. A copy that is brought back, or another file, is another
    budget.
    adaptive: whether settings may follow from earlier outputs, see the module.
    Errors: InvalidParameter for figures outside their domain, a file of another budget, or any use without a file in
      another process than the one that made it: a fork has a copy, and what it spends nobody else would see.
    """

    def __init__(
        self,
        epsilon: float,
        delta: float = 0.0,
        *,
        relation: Relation | str = Relation.ADD_REMOVE,
        file: str | Path | None = None,
        adaptive: bool = False,
    ) -> None:
        epsilon, delta = of_numpy(epsilon), of_numpy(delta)
        check_number("epsilon", epsilon, above=0)
        check_number("delta", delta, least=0, below=1)
        if relation not in list(Relation):
            raise InvalidParameter(f"relation = {relation!r}: {' or '.join(Relation)} is allowed")
        self.epsilon, self.delta, self.relation = float(epsilon), float(delta), Relation(relation)
        self.adaptive, self.file = bool(adaptive), None if file is None else Path(file).resolve()
        self._entries: list[Entry] = []
        self._begun: str | None = None
        self._absent = False
        self._process = os.getpid()
        self._lock = Lock(self.file)
        with self._held():
            if self.file is not None and not self.file.exists():
                self._begun = secrets.token_hex(8)
                self._write([])

    # what fits do

    def charge(
        self, plan: Plan, *, established: tuple[float, float] | None = None, name: str = "", scope: str | None = None
    ) -> None:
        """Take the plan's cost, or refuse it and change nothing.

        plan: with what the ledger proves where a release has it. established: (epsilon, delta) known of the plan alone.
        Errors: BudgetExceeded; InvalidParameter for another relation, a name that is no text, and for figures outside
        their domain or below what the plan costs at least, as far as that is known at once.
        """
        self._take(self._entry(plan, established, name, scope))

    def check(
        self, plan: Plan, *, established: tuple[float, float] | None = None, name: str = "", scope: str | None = None
    ) -> None:
        """Refuse what `charge` refuses, and take nothing; another charge may come in between. Errors: as `charge`."""
        self._take(self._entry(plan, established, name, scope), kept=False)

    def _entry(self, plan: Plan, established: tuple[float, float] | None, name: str, scope: str | None) -> Entry:
        self._check_relation("a plan", plan.relation)
        if established is not None:
            _check_figures(established)
        with np.errstate(all="ignore"):
            known = (account(plan, delta=0.0, both=False).epsilon, 0.0) if established is None else established
        plan = plan_in(plan_out(plan))  # as a file would have it
        entry = Entry(name, scope, plan, *map(float, known))
        if (least := _short(entry)) is not None:
            raise InvalidParameter(f"established = {established!r}: the plan costs at least epsilon {least:.6g} there")
        return entry

    def charge_known(
        self,
        epsilon: float,
        delta: float,
        *,
        name: str = "",
        scope: str | None = None,
        relation: Relation | str | None = None,
    ) -> None:
        """Take (epsilon, delta) of something that is no plan of releases: figures add up. Else as `charge`.

        relation: the neighbours that the figures are about; None where the caller vouches for the budget's.
        Errors: BudgetExceeded; InvalidParameter for figures outside their domain, or about other neighbours.
        """
        self._check_relation("a figure", self.relation if relation is None else relation)
        _check_figures((epsilon, delta))
        self._take(Entry(name, scope, None, float(epsilon), float(delta)))

    def _check_relation(self, what: str, relation: Relation | str) -> None:
        if relation != self.relation:
            raise InvalidParameter(f"{what} about {relation} neighbours: the budget is about {self.relation.value}")

    def _take(self, entry: Entry, *, kept: bool = True) -> None:
        check_scope(entry.scope)
        if not isinstance(entry.name, str):  # a file would give back another
            raise InvalidParameter(f"name = {entry.name!r}: a text is allowed")
        with self._held():
            entries = [*self._entries, entry]
            cost = self._cost(entries)
            if not cost <= self.epsilon * (1 + SLACK):
                raise BudgetExceeded(self._refusal(entry, cost))
            if not kept:
                return
            if self.file is not None:
                self._write(entries)
            self._entries = entries

    def _refusal(self, entry: Entry, cost: float) -> str:
        name = entry.name or "a release"
        if math.isinf(cost) and self.delta == 0:
            return (
                f"{name} has no finite epsilon without a delta, and the budget has none: give it one, such as "
                f"refdp.PrivacyBudget({self.epsilon:g}, delta=1e-5), no less than all fits' deltas together"
            )
        return (
            f"{name} would bring epsilon to {cost:.6g} at delta {self.delta:g}: the budget has {self.epsilon:g}, of "
            f"which {self._cost(self._entries):.6g} is spent"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        """Errors: InvalidParameter for another figure or file than the budget began with."""
        if not name.startswith("_") and name in vars(self):
            raise InvalidParameter(f"{name} of a budget stays as it is, since charges are to that; make another budget")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        """Errors: InvalidParameter, since what is gone could be set anew."""
        raise InvalidParameter(f"{name} of a budget stays as it is, since charges are to that; make another budget")

    def on(self, scope: str) -> ScopedBudget:
        """The same budget for fits on the records of that name alone. Errors: InvalidParameter unless it is a text."""
        if scope is None:
            raise InvalidParameter("scope = None: the name of some records is needed; the budget itself is for all")
        check_scope(scope)
        return ScopedBudget(self, scope)

    # what owners read

    def spent(self, scope: str | None = None) -> float:
        """Epsilon of all charges at the budget's delta: of the worst record, or of those of one scope."""
        check_scope(scope)
        with self._held():
            return self._cost(self._entries, scope)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The charges in order."""
        with self._held():
            return tuple(self._entries)

    def report(self) -> dict[str, Any]:
        """Plain data, safe to publish if the plans are: budget, spent, every charge, and what it takes for granted."""
        charged = [
            {"name": one.name, "scope": one.scope, "epsilon": _json(one.epsilon), "delta": one.delta}
            for one in self.entries
        ]
        fixed = "the settings of every fit were fixed without the outputs of earlier ones (else: adaptive=True)"
        assumed = [
            "different names of records stand for sets without a common record",
            "no setting, and nothing that was chosen among these fits, follows from what the records show without "
            "noise (scores of GridSearchCV do; refdp.select has noise)",
        ]
        return {
            "epsilon": self.epsilon, "delta": self.delta, "relation": self.relation.value, "spent": self.spent(),
            "sum_of_epsilons": _json(math.fsum(one.epsilon for one in self.entries)), "charges": charged,
            "assumptions": assumed if self.adaptive else [*assumed, fixed],
        }  # fmt: skip

    # accounting

    def _cost(self, entries: Sequence[Entry], scope: str | None = None) -> float:
        with np.errstate(all="ignore"):  # whatever the caller would have of it
            if self.relation is Relation.REPLACE_ONE:  # a replaced record may go from one set to another
                return self._of(entries)
            scopes = {one.scope for one in entries if one.scope is not None}
            chosen = [scope] if scope is not None or not scopes else sorted(scopes)
            return max(self._of([one for one in entries if one.scope in (None, name)]) for name in chosen)

    def _of(self, entries: Sequence[Entry]) -> float:
        """Epsilon of these charges together: all figures added, or plans at the delta that the others leave."""
        if not entries:
            return 0.0
        delta = self.delta / 2 if self.adaptive else self.delta
        allowed = math.fsum(one.delta for one in entries) <= delta * (1 + SLACK)
        added = math.fsum(one.epsilon for one in entries) if allowed else math.inf
        event = Sequential(tuple(one.plan.event for one in entries if one.plan is not None))
        known = [one for one in entries if one.plan is None]
        if not known:
            return min(added, self._fixed_order(event, delta) if self.adaptive else self._accounted(event, delta))
        left = delta - math.fsum(one.delta for one in known)
        if self.adaptive or not event.events or left < 0:  # a filter of one Renyi order knows nothing of figures
            return added
        return min(added, math.fsum(one.epsilon for one in known) + self._accounted(event, left))

    def _accounted(self, event: Event, delta: float) -> float:
        quick = any(isinstance(one.mechanism, DiscreteGaussian) for one in releases(event))  # takes gigabytes
        return account(Plan(self.relation, event), delta=delta, quick=quick, both=delta > 0).epsilon

    def _fixed_order(self, event: Event, delta: float) -> float:
        if delta == 0:
            return math.inf
        order = 1 + max(1.0, round(2 * math.log(1 / delta) / self.epsilon))  # near the best where epsilon is spent
        orders = np.array([order])
        return float(conversion.canonne(orders, renyi(Plan(self.relation, event), orders), delta)[0])

    # file and threads

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Nobody else reads or charges meanwhile; the charges are those of the file if there is one."""
        if self._absent:
            raise InvalidParameter(_ABSENT)
        if self.file is None and os.getpid() != self._process:
            raise InvalidParameter("a budget without a file was forked: give PrivacyBudget(..., file=...) to processes")
        with self._lock.held():
            if self.file is not None and self.file.exists():
                if self.file.is_symlink():  # writing would put a file in its place, and leave the one behind it unspent
                    raise InvalidParameter(
                        f"budget file {self.file}: it has become a symbolic link; make the budget anew, which goes on "
                        "with the file behind it"
                    )
                if self.file.stat().st_nlink > 1:  # writing parts the names, and each would be spent alone
                    raise InvalidParameter(f"budget file {self.file}: it has another name (a hard link)")
                self._read()
            elif self._begun is not None:
                raise InvalidParameter(_GONE.format(f"budget file {self.file}"))
            yield

    def _read(self) -> None:
        assert self.file is not None
        try:
            data = parsed(self.file.read_text(encoding="utf-8"))
            same = self._head() == {name: data.get(name) for name in self._head()}
            entries = [Entry(**charge) for charge in charges_in(data["entries"])]
            begun = str(data.get("begun", ""))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise InvalidParameter(f"budget file {self.file}: {type(error).__name__} {error}") from None
        if not same:
            raise InvalidParameter(f"budget file {self.file} is of another budget: this one is {self._head()}")
        if begun != (begun if self._begun is None else self._begun):
            raise InvalidParameter(f"budget file {self.file}: begun anew; {_GONE.format('the one before')}")
        if [*map(_whole, entries[: len(self._entries)])] != [*map(_whole, self._entries)]:
            raise InvalidParameter(
                f"budget file {self.file}: charges that were there are gone: without them the budget would be overspent"
            )
        for one in entries[len(self._entries) :]:
            if (least := _short(one)) is not None:
                raise InvalidParameter(
                    f"budget file {self.file}: a charge of epsilon {one.epsilon:.6g} for a plan that costs at least "
                    f"{least:.6g} at its delta"
                )
        self._entries, self._begun = entries, begun

    def _write(self, charged: Sequence[Entry]) -> None:
        """The whole file anew, in place at once: a crash leaves the old one or the new one.

        Errors: InvalidParameter if it cannot be written.
        """
        assert self.file is not None
        entries = [
            {"name": one.name, "scope": one.scope, "epsilon": one.epsilon, "delta": one.delta,
             "plan": None if one.plan is None else plan_out(one.plan)}
            for one in charged
        ]  # fmt: skip
        aside = self.file.with_name(f"{self.file.name}.{secrets.token_hex(8)}.new")
        try:
            with open(aside, "x", encoding="utf-8") as file:
                self._as_before(aside)
                json.dump(self._head() | {"begun": self._begun, "entries": entries}, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, self.file)
            folder = os.open(self.file.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise InvalidParameter(f"budget file {self.file}: cannot be written: {error.strerror}") from None
        finally:
            with suppress(OSError):
                aside.unlink()

    def _as_before(self, aside: Path) -> None:
        """The new file has the owner, where the system lets that be given, and the mode of the one that it replaces."""
        assert self.file is not None
        with suppress(FileNotFoundError):
            before = self.file.stat()
            with suppress(OSError):
                os.chown(aside, before.st_uid, before.st_gid)
            os.chmod(aside, stat.S_IMODE(before.st_mode))

    def _head(self) -> dict[str, Any]:
        return {
            "version": VERSION, "epsilon": self.epsilon, "delta": self.delta, "relation": self.relation.value,
            "adaptive": self.adaptive,
        }  # fmt: skip

    def __deepcopy__(self, _: Any) -> PrivacyBudget:
        """The budget itself: copies of estimators share it, as scikit-learn's clones have to."""
        return self

    def __copy__(self) -> PrivacyBudget:
        """The budget itself."""
        return self

    def absent(self) -> PrivacyBudget:
        """What a saved estimator has in its place: itself with a file, else its figures, and every use is refused."""
        return self if self.file is not None else _reopened(*self._figures(), None)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process goes on with the file, opened at its next use.

        Errors: TypeError without one, as two copies would both be spent.
        """
        if self.file is None and not self._absent:
            raise TypeError(
                "a budget without a file cannot go to another process; give PrivacyBudget(..., file=...). A fitted "
                "estimator is saved without its charges; of a search, save best_estimator_"
            )
        return _reopened, (*self._figures(), self._begun)

    def _figures(self) -> tuple[float, float, str, str | None, bool]:
        file = None if self.file is None else str(self.file)
        return self.epsilon, self.delta, self.relation.value, file, self.adaptive

    def __repr__(self) -> str:
        """Its figures."""
        return f"PrivacyBudget(epsilon={self.epsilon:g}, delta={self.delta:g}, relation={self.relation.value!r})"


@dataclass(frozen=True)
class ScopedBudget:
    """A budget for fits on some of the records; what estimators and `charge` take in its place."""

    budget: PrivacyBudget
    scope: str

    def charge(self, plan: Plan, *, established: tuple[float, float] | None = None, name: str = "") -> None:
        """Charge a plan to the budget, for these records only. Errors: those of `PrivacyBudget.charge`."""
        self.budget.charge(plan, established=established, name=name, scope=self.scope)

    def check(self, plan: Plan, *, established: tuple[float, float] | None = None, name: str = "") -> None:
        """What `charge` refuses, and nothing is taken. Errors: those of `PrivacyBudget.charge`."""
        self.budget.check(plan, established=established, name=name, scope=self.scope)

    def charge_known(
        self, epsilon: float, delta: float, *, name: str = "", relation: Relation | str | None = None
    ) -> None:
        """Charge (epsilon, delta), for these records only. Errors: those of `PrivacyBudget.charge_known`."""
        self.budget.charge_known(epsilon, delta, name=name, scope=self.scope, relation=relation)

    def absent(self) -> ScopedBudget:
        """What stands for these records' part where the budget itself cannot be: it refuses to be charged or asked."""
        return ScopedBudget(self.budget.absent(), self.scope)

    def spent(self) -> float:
        """Epsilon of what concerns these records."""
        return self.budget.spent(self.scope)


def _reopened(
    epsilon: float, delta: float, relation: str, file: str | None, adaptive: bool, begun: str | None
) -> PrivacyBudget:
    """The file is first looked at when it is used: a model predicts where its budget is not."""
    found = PrivacyBudget(epsilon, delta, relation=relation, adaptive=adaptive)
    path = None if file is None else Path(file).resolve()
    vars(found).update(file=path, _begun=begun, _absent=path is None, _lock=Lock(path))
    return found


def _check_figures(figures: Any) -> None:
    """Errors: InvalidParameter unless it is a pair (epsilon, delta) of numbers in their domains."""
    if not isinstance(figures, tuple | list) or len(figures) != 2:
        raise InvalidParameter(f"established = {figures!r}: a pair (epsilon, delta) is allowed")
    check_number("epsilon", of_numpy(figures[0]), least=0)
    check_number("delta", of_numpy(figures[1]), least=0, below=1)


def _short(entry: Entry) -> float | None:
    """What the plan costs at least at the entry's delta, where the entry's epsilon is below that."""
    if entry.plan is None:
        return None
    with np.errstate(all="ignore"):
        least = least_epsilon(entry.plan, entry.delta)
    return least if entry.epsilon < least * (1 - SLACK) else None


def _whole(entry: Entry) -> tuple[object, ...]:
    """The entry with what equal plans may differ in."""
    return entry, None if entry.plan is None else whole(entry.plan.event)


def _json(value: float) -> float | str:
    return value if math.isfinite(value) else "inf"
