"""A proof that a training program is private, from one reading of its text on unknown records.

    found = prove("dpboost", params, schema)
    found.verdict                                  # "PROVED" or "NOT PROVED"

The text that trains is run once: every branch, length and message on the way follows from parameters and public values
alone, or the reading stops; every release is asked of two solvers; and what all releases cost together is accounted.
"""

from __future__ import annotations

import builtins
import importlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from traceback import walk_tb
from types import FunctionType
from typing import Any

import numpy as np

from refdp.data import feasible
from refdp.data.candidates import Candidates
from refdp.data.records import Schema
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Exponential
from refdp.privacy.curator import Array, Curator, Request
from refdp.privacy.events import Event, Plan, Relation, expand, releases
from refdp.prove import symbols
from refdp.prove.asking import Solvers
from refdp.prove.loops import Carried, Loops, Number, Numbers, alike, settled
from refdp.prove.planned import Key, differences, key_of, planned
from refdp.prove.releases import Unproved, check
from refdp.prove.spending import spending
from refdp.prove.symbols import Known, Leak, Private, Symbol, Table, Unmodelled, privates, public, sides_of
from refdp.prove.unknown import Unknown

ROUNDING = 1e-9
"""Relative slack of the account's float64 sum of costs; bounds of sensitivities have none."""


@dataclass(frozen=True)
class Failure:
    """What is not proved. release: its name, or where else. line: module and line of the paper's text.

    kind: "sensitivity", "leak", "not modelled", "budget". counterexample: values of the unknowns where it fails; exact:
    whether they do in rational arithmetic. times: how many releases of this line fail so.
    """

    release: str
    line: str
    kind: str
    reason: str
    counterexample: dict[str, str] = field(default_factory=dict)
    exact: bool = False
    times: int = 1


@dataclass(frozen=True)
class Proof:
    """What one reading showed.

    questions: asked now; seconds: of processor time. solvers: of each solver, how many questions it refuted, found
    values for, or left open, of all that were asked so far; single: how many rest on one of the two.
    """

    paper: str
    relation: Relation
    verdict: str
    statement: str
    covers: tuple[str, ...]
    trusted: tuple[str, ...]
    seconds: float
    questions: int
    releases: int
    solvers: dict[str, dict[str, int]]
    single: int
    failures: tuple[Failure, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "relation": self.relation.value, "failures": [asdict(one) for one in self.failures]}


class Obligations:
    """A curator's source to which every release is an obligation."""

    def __init__(self, host: Unknown, progress: Callable[[int], None] | None) -> None:
        self._host, self._progress = host, progress
        self.releases = 0
        self.asked: dict[Key, bool] = {}
        """The kinds of releases that were asked about, and whether records pay for all of a kind."""
        self.failures: dict[tuple[str, str, str], Failure] = {}
        self._failed: dict[Any, tuple[str, str]] = {}

    def release(self, request: Request) -> Array:
        """An example of an output, after the obligations were asked."""
        self.releases += 1
        if self._progress is not None:
            self._progress(self.releases)
        value: Any = request.value
        key, paid = key_of(request), len(self._host.spent)
        self.asked[key] = self.asked.get(key, True)
        if isinstance(value, Private):
            same = line_of_text(_frames()), request.mechanism, request.sensitivity
            if same in self._failed:
                kind, reason = self._failed[same]
                self.note(request.name, kind, reason)
                return _example(request, value, self.releases)
            try:
                check(self._host, request)
            except Unproved as problem:
                values = self._host.described(problem.values)
                self.note(request.name, "sensitivity", str(problem), counterexample=values, exact=problem.exact)
                self._failed[same] = "sensitivity", str(problem)
            except Unmodelled as problem:
                self.note(request.name, "not modelled", str(problem))
                self._failed[same] = "not modelled", str(problem)
        else:
            self.note(request.name, "not modelled", "what is released is no sum over records")
        self.asked[key] &= len(self._host.spent) > paid
        return _example(request, value, self.releases)

    def draw(self, request: Request) -> Array:
        """An example of a public draw."""
        if request.law[0] == "uniform":
            return np.full(request.size, 0.5)
        return np.zeros(request.size, dtype=np.int64)

    def assign(self, request: Request) -> Array:
        """Nobody is known to be anywhere."""
        if request.law[0] not in ("partition", "poisson", "without-replacement"):
            raise Unmodelled(f"{request.name}: blocks of fixed sizes, which follow from the number of records")
        return np.zeros(0, dtype=np.int64)

    def note(self, release: str, kind: str, reason: str, *, line: str | None = None, **more: Any) -> None:
        """Keep a failure, those of one line and kind together."""
        line = line_of_text(_frames()) if line is None else line
        first = self.failures.get((line, kind, reason), Failure(release, line, kind, reason, **more, times=0))
        self.failures[line, kind, reason] = replace(first, times=first.times + 1)


def _example(request: Request, value: Any, number: int) -> Array:
    """An output of the right shape, another one for each release, so that what follows from them is told apart."""
    shape = value.shape if isinstance(value, Table | Known) else np.shape(value)
    generator = np.random.default_rng(number)
    if isinstance(request.mechanism, Exponential):
        return generator.integers(0, shape[1], shape[0])
    return generator.normal(size=shape)


class ProofCurator(Curator):
    """A curator whose outputs are public unknowns."""

    def release(self, *given: Any, **named: Any) -> Any:
        """Release a private value; how much noise and for which bound may not follow from released values."""
        if any(isinstance(one, Known) for one in (*given[:2], named.get("sensitivity"))):
            raise Unmodelled("a charge that follows from released values")
        options = named.get("options")
        if isinstance(options, Known):
            named["options"] = options.example
        return Known(super().release(*given, **named))

    @contextmanager
    def partition(self, *given: Any, **named: Any) -> Iterator[Any]:
        """Put every record into a secret block; one block stands for all that the rounds of a loop enter."""
        with super().partition(*given, **named) as blocks:
            yield _Blocks(blocks)

    def draw(self, *given: Any, **named: Any) -> Any:
        """Public randomness: any value of the law."""
        if any(True for _ in privates((given, named))):
            raise Leak("a private value decides a public draw:")
        return Known(super().draw(*public(given), **public(named)))


class _Blocks:
    """Blocks of a partition: which of them is entered decides nothing."""

    def __init__(self, blocks: Any) -> None:
        self._blocks = blocks

    def block(self, number: Any) -> Any:
        """Enter one block."""
        return self._blocks.block(number.example if isinstance(number, Number) else number)


def line_of_text(frames: Iterable[tuple[Any, int]]) -> str:
    """The innermost line of a paper's text among frames, innermost first."""
    for frame, number in frames:
        name = frame.f_code.co_filename.replace("\\", "/")
        if "/refdp/papers/" in name or name.startswith("<mutant"):
            return f"{name.rpartition('/')[2]}:{number}"
    return ""


def _frames() -> Iterator[tuple[Any, int]]:
    frame = sys._getframe(1)
    while frame is not None:
        yield frame, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]


def prove(
    paper: str,
    params: Any,
    schema: Schema,
    *,
    solvers: Solvers | None = None,
    progress: Callable[[int], None] | None = None,
) -> Proof:
    """Read a paper's training text on unknown records.

    Loops are read by induction; where that meets something that it cannot follow, the loop is read round by round.
    """
    began, solvers = time.process_time(), solvers or Solvers()
    asked, refused = solvers.questions, set[str]()
    for attempt in range(ATTEMPTS + 1):
        loops = Loops(attempt < ATTEMPTS, frozenset(refused))
        found = _read(paper, params, schema, solvers, loops, progress)
        if not loops.cut or not any(one.kind == "not modelled" for one in found.failures):
            break
        if not loops.active:  # it is no loop in which something cannot be followed
            loops = Loops(False)
            found = _read(paper, params, schema, solvers, loops, progress)
            break
        refused.add(loops.active[-1].line)
    return replace(found, seconds=time.process_time() - began, questions=solvers.questions - asked)


ATTEMPTS = 3
"""So often loops are cut, those that cannot be followed less; then none is."""


def _read(
    paper: str, params: Any, schema: Schema, solvers: Solvers, loops: Loops, progress: Callable[[int], None] | None
) -> Proof:
    module = importlib.import_module(f"refdp.papers.{paper}")
    host = Unknown(params.relation, schema, solvers, loops)
    source = Obligations(host, progress)
    curator = ProofCurator(source, params.relation)
    event = None
    try:
        event = planned(module.train_on, params, schema)
        with reading(module, loops, host):
            model = module.train_on(params, schema, host, curator)
            for one in privates(model):
                raise Leak(f"{one.what} in the model")
    except InvalidParameter as problem:  # settings that do not allow this target
        if not source.releases:
            raise
        source.note(
            "", "not modelled", _reason(problem), line=line_of_text(reversed(list(walk_tb(problem.__traceback__))))
        )
    except Exception as problem:  # whatever a text does that cannot be followed is not proved
        at = line_of_text(reversed(list(walk_tb(problem.__traceback__))))
        source.note("/".join(curator._path("")), _kind(problem), _reason(problem), line=at)
    else:
        loops.active.clear()
    failures = list(source.failures.values())
    claimed = params.epsilon, getattr(params, "delta", 0.0)
    breaches = params.breaches(schema) if paper == "inprivate" else getattr(params, "breaches", list)()
    failures += [Failure("", "", "budget", reason) for reason in breaches]
    if event is not None and not failures:
        kind = "not modelled" if loops.cut else "budget"
        whole = None if loops.cut else curator.event()
        failures += [Failure(name, "", kind, reason) for name, reason in differences(event, source.asked, whole)]
    if event is not None and not failures:
        failures += _overspent(Plan(params.relation, event), host, claimed, source.asked)
    return Proof(
        paper, params.relation, "NOT PROVED" if failures else "PROVED",
        _statement(paper, params, claimed, event), covers(loops), TRUSTED, 0.0, 0, source.releases, solvers.counts,
        solvers.single, tuple(failures),
    )  # fmt: skip


def _overspent(plan: Plan, host: Unknown, claimed: tuple[float, float], asked: Mapping[Key, bool]) -> Iterator[Failure]:
    try:
        spent = spending(plan, host, claimed[1], asked)
    except Unmodelled as problem:
        yield Failure("", "", "not modelled", str(problem))
        return
    if not spent <= claimed[0] * (1 + ROUNDING):
        reason = f"all releases together cost epsilon {spent:.9g}, claimed is {claimed[0]:.9g}"
        yield Failure("", "", "budget", reason)


def _statement(paper: str, params: Any, claimed: tuple[float, float], event: Event | None) -> str:
    many = "" if event is None else f" ({sum(1 for _ in releases(expand(event)))} with these settings)"
    return (
        f"for every two {params.relation.value} neighbours of the schema and all outputs, every release of {paper}"
        f"{many} changes by no more than it declares, nothing else of the records reaches a branch, a length, a "
        f"message or the model, and all together cost at most epsilon {claimed[0]:g} at delta {claimed[1]:g}"
    )


def covers(loops: Loops) -> tuple[str, ...]:
    """What a reading with these loops is about."""
    found = ["all data sets of the schema, of any number of records, and all released values and public draws"]
    for line, cut in loops.cut.items():
        which = "any number of rounds" + ("" if cut.read == 2 else f" of the {cut.read - 1} kinds that occur")
        how = f"; which kind one is follows from its number, up to {cut.rounds}" if cut.tests else ""
        found.append(f"{line.rpartition('/')[2]}: {which} by induction, the first and any later one{how}")
    found += [
        f"{line.rpartition('/')[2]}: the rounds of these settings, one by one"
        for line in sorted(loops.whole - loops.cut.keys())
    ]
    found.append("any number of nodes and of candidates: one of each stands for all")
    found.append("the cost of all releases together: with these settings")
    return tuple(found)


TRUSTED = (
    "the solvers, the rules of this reading, and numpy's shapes of released values",
    "that the hosts of records answer queries as the protocol of the population says",
    "that float64 arithmetic on exact sums stands for real arithmetic",
    "the mechanisms' samplers, the laws of secret selections, and the accountant",
)


def _kind(problem: Exception) -> str:
    return "leak" if isinstance(problem, Leak) else "not modelled"


def _reason(problem: Exception) -> str:
    plain = isinstance(problem, Leak | Unmodelled | Carried)
    return str(problem) if plain else f"{type(problem).__name__}: {problem}"


# --- The text is read as it stands, with these names exchanged --------------------------------------------------------


class _Numpy:
    """numpy, but for what makes arrays of symbols: those stay symbols."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def asarray(value: Any, *given: Any, **named: Any) -> Any:
        """As numpy's."""
        return array(np.asarray, value, *given, **named)

    @staticmethod
    def arange(*given: Any, **named: Any) -> Any:
        """As numpy's."""
        made = np.arange(*public(given), **named)
        return Known(made) if any(isinstance(one, Known) for one in given) else made

    @staticmethod
    def array(value: Any, *given: Any, **named: Any) -> Any:
        """As numpy's."""
        return array(np.array, value, *given, **named)


def array(make: Any, value: Any, *given: Any, **named: Any) -> Any:
    """An array, or a symbol as it is."""
    if isinstance(value, symbols.Each) and (given or named):
        return value.astype()
    if isinstance(value, Symbol):
        return value
    if isinstance(value, list | tuple) and any(isinstance(one, Symbol) for one in value):
        if all(isinstance(one, Table) for one in value):
            return stacked(list(value))
        if not any(isinstance(one, Private) for one in value):
            return Known(make(public(value), *given, **named))
    return make(value, *given, **named)


def stacked(tables: list[Table]) -> Table:
    """Tables of the same axes as the entries of a new first axis."""
    if len({table.axes for table in tables}) > 1:
        raise Unmodelled("private sums of different parts of the records, in one array")
    each = symbols.Axis("each", len(tables))
    return Table((each, *tables[0].axes), lambda index, world: tables[index[0]].cell(index[1:], world))


def _plain_builtin(function: Any) -> Any:
    """A function of numbers that keeps what is released as such."""

    def kept(*given: Any, **named: Any) -> Any:
        if any(isinstance(one, Number) for one in given):
            return kept(*map(settled, given), **named)
        if any(isinstance(one, Known) for one in given):
            return Known(function(*public(given), **named))
        return function(*given, **named)

    return kept


PUBLIC = ("refdp.data.feasible", "refdp.data.sketch", "refdp.data.candidates")
"""Modules whose functions compute with public values."""


def released_only(function: Any) -> Any:
    """A function of released values alone is run on an example of them: whatever it does is known to everybody."""

    def wrapped(*given: Any, **named: Any) -> Any:
        values = (*given, *named.values())
        if any(isinstance(one, Unknown | Curator) for one in values) or any(True for _ in privates(values)):
            return function(*given, **named)
        if any(isinstance(one, Number | Numbers) for one in _inside(values)):
            return alike(wrapped, given, named)
        if not any(isinstance(one, Known) for one in _inside(values)):
            return function(*given, **named)
        return Known(function(*public(given), **public(named)))

    return wrapped


def _inside(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, list | tuple):
        for one in value:
            yield from _inside(one)


def _known(function: Any) -> Any:
    """A function whose result is public."""
    return lambda *given: Known(function(*given))


class _Released:
    """A module whose functions are run on examples of released values."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        return released_only(found) if isinstance(found, FunctionType) else found


@contextmanager
def reading(module: Any, loops: Loops, host: Unknown) -> Iterator[None]:
    """The names of a paper's text, and of the data modules that it uses, as the prove reading understands them."""
    undo: list[tuple[Any, str, Any, bool]] = []

    def put(owner: Any, name: str, value: Any) -> None:
        undo.append((owner, name, vars(owner).get(name), name in vars(owner)))
        setattr(owner, name, value)

    right = Candidates.right_sums

    def right_sums(self: Candidates, table: Any, chosen: Any = slice(None)) -> Any:
        if not isinstance(table, Table):
            return right(self, table, chosen)
        check_sides(self, right)
        features, positions = self.feature[public(chosen)], self.position[public(chosen)]
        of = ("sides", positions.tobytes(), features.tobytes())
        return sides_of(table, frozenset("r"), len(features), of)

    published = [name for name in sys.modules if name.startswith("refdp.papers")]
    texts = [sys.modules[name] for name in published]
    data = [importlib.import_module(f"refdp.data.{name}") for name in ("records", "losses", "population", "candidates")]
    try:
        put(Candidates, "right_sums", right_sums)
        for text in {id(one): one for one in (*texts, *data)}.values():
            if "np" in vars(text):
                put(text, "np", _Numpy())
        for name in ("float", "int", "max", "min"):
            put(module, name, _plain_builtin(getattr(builtins, name)))
        for name, looped in _loops(loops, host).items():
            put(module, name, looped)
        for name, value in list(vars(module).items()):
            if isinstance(value, FunctionType) and value.__module__ in (module.__name__, *PUBLIC):
                put(module, name, released_only(value))
        for name in ("public_grid", "split_candidates"):  # public, and picked from by released positions
            if hasattr(module.Params, name):
                put(module.Params, name, _known(getattr(module.Params, name)))
        if "domain" in vars(module):
            domain = module.domain
            put(module, "domain", lambda schema: Known(domain(schema)))
        if "numbers" in vars(module):
            put(module, "numbers", _Released(module.numbers))
        for owner in (feasible.Feasible, feasible.Options):
            for name, value in list(vars(owner).items()):
                if isinstance(value, FunctionType) and not name.startswith("__"):
                    put(owner, name, released_only(value))
                elif isinstance(value, classmethod):
                    put(owner, name, classmethod(released_only(value.__func__)))
        yield
    finally:
        for owner, name, value, existed in reversed(undo):
            if existed:
                setattr(owner, name, value)
            else:
                delattr(owner, name)


def _loops(loops: Loops, host: Unknown) -> dict[str, Any]:
    """What a `for` goes over, and what lists of its rounds are long."""

    def looped_range(*given: Any) -> Any:
        return loops.over(range(*map(settled, given)), sys._getframe(1), host)

    def looped_enumerate(value: Any, start: int = 0) -> Any:
        if any(value is one for one in loops.ended):
            raise Carried("numbers of the entries of a list that rounds append to")
        if type(value) not in (list, tuple) or start:
            return enumerate(value, start)
        return loops.over(list(enumerate(value)), sys._getframe(1), host)

    return {"range": looped_range, "enumerate": looped_enumerate, "len": loops.length}


_checked: set[int] = set()


def check_sides(candidates: Candidates, right: Any) -> None:
    """Sums to the right of candidates are those over some bins of one feature, asked of one bin after the other."""
    if id(candidates) in _checked:
        return
    found = right(candidates, np.eye(int(candidates.offsets[-1])))
    home = np.repeat(np.arange(len(candidates.bins)), candidates.bins)
    inside = home[:, None] == candidates.feature[None, :]
    if not (((found == 0) | (found == 1)).all() and not found[~inside].any()):
        raise Unmodelled("sums to the right of a candidate that are no sums over some bins of its feature")
    missing = found[candidates.offsets[candidates.feature], np.arange(found.shape[1])]
    if missing.any():
        raise Unmodelled("missing values to the right of a candidate")
    _checked.add(id(candidates))
