"""Which names of a program's text are not known to be public: what is computed from records may be in them.

A name is public if all that is bound to it is, or came from the curator, and nothing private is put into it: neither
by itself, nor by a condition or a loop on what is private. So are names of libraries, and the parameters that a trainer
has besides its records. A name that is bound nowhere is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from refdp.audit.scopes import NOWHERE, RESULT, Key, Scope, Scopes, arguments
from refdp.audit.surroundings import Function, named

_ERROR = frozenset({(NOWHERE, "an error")})
_CALLED = "()"
"""In a function's scope, whether it is called."""
_QUIET = frozenset({"suppress", "ExitStack", "AsyncExitStack"})
"""Libraries' contexts that may end an error."""


@dataclass(frozen=True)
class _Flow:
    """What is bound to a name. given: names in it; by: names that decide whether; put: into what the name has."""

    target: Key
    given: frozenset[Key]
    by: frozenset[Key]
    released: bool = False
    put: bool = False
    alias: frozenset[Key] = frozenset()


@dataclass(frozen=True)
class _Called:
    """A call whose result may be left: names in each argument, by place or name, and of which function.

    by: names that decide whether it is made.
    """

    name: str
    known: bool
    given: tuple[tuple[int | str | None, frozenset[Key], frozenset[Key], bool], ...]
    alone: bool
    by: frozenset[Key]


class Names:
    """The names of one file. trainer: the trainer's own function, if it is here. known: names bound elsewhere."""

    def __init__(self, tree: ast.Module, trainer: Function | None = None, known: Iterable[str] = ()) -> None:
        self._scopes = Scopes(tree, known)
        self._flows: list[_Flow] = []
        self._calls: list[_Called] = []
        self._bound: list[tuple[ast.AST, ast.AST, Scope]] = []
        self._outputs: list[tuple[Key, frozenset[Key], bool, bool]] = []
        self._functions: dict[str, list[list[Key]]] = {}
        self._called: dict[str, set[Key]] = {}
        self._methods: set[Key] = set()
        self._given_on: set[Key] = set()
        self._seeds: set[Key] = set()
        self._trainer = trainer
        self._around = set(_functions_around(tree, trainer)) if trainer is not None else set()
        if trainer is not None and not _sets_kinds(tree):
            own, bound = self._scopes.of[trainer].number, {one.id for one in _stored(trainer)}
            self._scopes.records |= {(own, name) for name in _of_records(trainer, False) if name not in bound}
        self._follow(tree.body, self._scopes.module, frozenset())
        self._close()

    def private(self, function: Function, node: ast.AST) -> bool:
        """Whether what stands in a function has a name that is not known to be public."""
        return any(self._is_private(key) for key in self._named(function, node))

    def released(self, function: Function, node: ast.AST) -> bool:
        """Whether it has a name of what the curator returned."""
        return bool(self._named(function, node) & self._from_curator)

    def carrying(self, one: Function | ast.ClassDef, *, made: bool) -> set[Key]:
        """Names that a function or class may be called by. made: what it makes counts, too."""
        outer = self._scopes.of[one].outer or self._scopes.module
        found = {(outer.number, one.name)}
        while True:
            before = len(found)
            for target, value, scope in self._bound:
                called = {id(one.func) for one in ast.walk(value) if isinstance(one, ast.Call)}
                given = {self._scopes.key(one.id, scope) for one in ast.walk(value)
                         if isinstance(one, ast.Name) and (made or id(one) not in called)}  # fmt: skip
                if given & found:
                    found |= self._scopes.roots(target, scope)
            if len(found) == before:
                return found

    def is_own(self, function: Function, called: ast.expr) -> bool:
        """Whether what is called in a function is a function or class of the file, by its name."""
        scope = self._scopes.of.get(function, self._scopes.module)
        return isinstance(called, ast.Name) and self._scopes.key(called.id, scope) in self._scopes.defined

    def names(self, function: Function, node: ast.AST, keys: set[Key], name: str) -> bool:
        """Whether what stands in a function names one of these, or has it as an attribute of that name."""
        by_attribute = any(isinstance(one, ast.Attribute) and one.attr == name for one in ast.walk(node))
        return by_attribute or bool(self._named(function, node) & keys)

    def _named(self, function: Function, node: ast.AST) -> frozenset[Key]:
        return self._scopes.keys(node, self._scopes.of.get(function, self._scopes.module))

    # --- what is bound to names -------------------------------------------------------------------------------------

    def _follow(
        self, body: Iterable[ast.stmt], scope: Scope, by: frozenset[Key], within: ast.ClassDef | None = None,
        left: frozenset[Key] = frozenset(), caught: bool = False,
    ) -> None:  # fmt: skip
        """by: names that decide whether the block runs. left: whether its function still does.

        What may leave a loop decides whether the rest of it runs, what may leave a function whether others see what
        the rest of it does to them. caught: whether what is raised here stays in the function.
        """
        for one in body:
            if isinstance(one, Function):
                self._of_function(one, scope, by, within)
            elif isinstance(one, ast.ClassDef):
                self._of_class(one, scope, by)
            else:
                self._of_statement(one, scope, by, left, caught)
                by |= self._of_ways_out([one], scope, caught, loop=True)
                left |= self._of_ways_out([one], scope, caught, loop=False)

    def _of_ways_out(self, body: list[ast.stmt], scope: Scope, caught: bool, *, loop: bool) -> frozenset[Key]:
        """Names that decide whether a loop around, or else the function, is left here."""
        found = frozenset[Key]()
        for one in body:
            if caught and loop and not is_released(getattr(one, "value", one)):
                found |= self._scopes.keys(one, scope)
            for of_loop, tests in _ways_out(one):
                for test in tests if of_loop is loop else ():
                    found |= _ERROR if test is None else self._keys_of(test, scope)
        return found if scope.number else found - _ERROR

    def _keys_of(self, condition: ast.expr, scope: Scope) -> frozenset[Key]:
        return frozenset() if is_released(condition) else self._scopes.keys(condition, scope)

    def _of_function(self, one: Function, scope: Scope, by: frozenset[Key], within: ast.ClassDef | None) -> None:
        own = self._scopes.of[one]
        keys = [(own.number, name) for name in arguments(one)]
        takes = [(own.number, name.arg) for name in (*one.args.posonlyargs, *one.args.args)]
        static = any(named(given) & {"staticmethod"} for given in one.decorator_list)
        self._functions.setdefault(one.name, []).append(takes[1:] if within is not None and not static else takes)
        self._called.setdefault(one.name, set()).add((own.number, _CALLED))
        if one is self._trainer:
            self._seeds |= {(own.number, name) for name in _of_records(one, within is not None and not static)}
        elif one not in self._around:
            self._seeds |= {key for key in keys if key[1] != "curator"}
        self._follow(one.body, own, frozenset(), left=frozenset({(own.number, _CALLED)}))
        self._add(scope, one.name, self._scopes.free(one, own), by)

    def _of_class(self, one: ast.ClassDef, scope: Scope, by: frozenset[Key]) -> None:
        own = self._scopes.of[one]
        self._follow(one.body, own, frozenset(), one)
        free = self._scopes.free(one, own)
        for name in own.bound:
            self._flows.append(_Flow((own.number, name), frozenset(), by))
        self._add(scope, one.name, free, by)

    def _add(self, scope: Scope, name: str, given: frozenset[Key], by: frozenset[Key]) -> None:
        target = self._scopes.key(name, scope)
        if target is not None:
            self._flows.append(_Flow(target, given - {target}, by))

    def _of_statement(
        self, one: ast.stmt, scope: Scope, by: frozenset[Key], left: frozenset[Key], caught: bool
    ) -> None:
        if isinstance(one, ast.For | ast.AsyncFor | ast.While):
            by |= self._of_ways_out(one.body, scope, caught, loop=True)
            left |= self._of_ways_out(one.body, scope, caught, loop=False)
        for node in _without_blocks(one):
            for target, value in bindings(node):
                self._bound.append((target, value, scope))
                self._flow(target, value, scope, by, left)
            if isinstance(node, ast.Call):
                self._call(node, scope, by, left, alone=isinstance(one, ast.Expr) and one.value is node)
        if isinstance(one, ast.Return) and one.value is not None:
            result = (scope.number, RESULT)
            self._flows.append(_Flow(result, frozenset(), frozenset(), alias=self._scopes.roots(one.value, scope)))
        tried = isinstance(one, ast.Try | ast.TryStar) and bool(one.handlers or one.finalbody)
        quiet = isinstance(one, ast.With | ast.AsyncWith) and self._is_quiet(one, scope)
        for blocks, condition in _blocks(one):
            inside = by if condition is None else by | self._keys_of(condition, scope)
            if tried and blocks is getattr(one, "orelse", None):
                inside |= self._of_ways_out(getattr(one, "body", []), scope, True, loop=True)
            within = tried and blocks is getattr(one, "body", None)
            self._follow(blocks, scope, inside, left=left, caught=caught or quiet or within)
        for handler in getattr(one, "handlers", ()):
            lines = getattr(one, "body", [])
            imports = all(isinstance(line, ast.Import | ast.ImportFrom) for line in lines)
            always = frozenset() if imports or scope.number == 0 else _ERROR
            if handler.name:
                self._add(scope, handler.name, always, by)
            self._follow(handler.body, scope, by | always, left=left, caught=caught)

    def _is_quiet(self, one: ast.With | ast.AsyncWith, scope: Scope) -> bool:
        """Whether a context may end an error: one that is made for it, or of the file's own."""
        for item in one.items:
            made = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
            roots = self._scopes.roots(made, scope)
            if (named(made) | {getattr(made, "attr", "")}) & _QUIET or roots - self._scopes.imported:
                return True
        return False

    def _flow(
        self, target: ast.AST, value: ast.AST, scope: Scope, by: frozenset[Key], left: frozenset[Key]
    ) -> None:  # fmt: skip
        given, holds = self._scopes.keys(value, scope), holds_release(value)
        for one in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            if isinstance(one, ast.Tuple | ast.List):
                self._flow(one, value, scope, by, left)
                continue
            put, alias, released = not isinstance(one, ast.Name), self._scopes.roots(value, scope), is_released(value)
            self._given_on |= alias if put else set()
            for key in self._scopes.roots(one, scope):
                led = self._led(key, scope, by, left, put=put)
                self._flows.append(_Flow(key, given | self._places(one, scope), led, released, put, alias))
                self._outputs.append((key, given, holds, released))
                if isinstance(value, ast.Attribute) and alias & self._scopes.changeable:
                    self._methods.add(key)

    def _led(self, key: Key, scope: Scope, by: frozenset[Key], left: frozenset[Key], *, put: bool) -> frozenset[Key]:
        """Names that decide what others find there: of a name of the function's own it does by itself."""
        own = key[0] == scope.number > 0 and key not in self._scopes.captured
        return by if own and (not put or key in self._scopes.changeable - self._given_on) else by | left

    def _places(self, target: ast.AST, scope: Scope) -> frozenset[Key]:
        """Names in the indexes of a target."""
        found: frozenset[Key] = frozenset()
        while isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
            if isinstance(target, ast.Subscript):
                found |= self._keys_of(target.slice, scope)
            target = target.value
        return found

    def _call(self, node: ast.Call, scope: Scope, by: frozenset[Key], left: frozenset[Key], *, alone: bool) -> None:
        """A method may put its arguments into what it is one of, a function each into another of them."""
        pairs = [*enumerate(node.args), *((one.arg, one.value) for one in node.keywords)]
        given = tuple((place, self._scopes.keys(value, scope), self._scopes.roots(value, scope), is_released(value))
                      for place, value in pairs)  # fmt: skip
        if isinstance(node.func, ast.Attribute):
            for held in self._scopes.roots(node.func.value, scope) - self._scopes.imported:
                if alone or held in self._scopes.changeable:
                    self._flows.append(_Flow(held, frozenset(), self._led(held, scope, by, left, put=True), put=True))
                for _, value in pairs:
                    self._flow_into(held, value, scope)
        elif isinstance(node.func, ast.Name):
            for method in self._methods & {self._scopes.key(node.func.id, scope)}:
                for _, value in pairs:
                    self._flow_into(method, value, scope)
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        own = (
            isinstance(node.func, ast.Attribute)
            and not self._scopes.roots(node.func.value, scope) & self._scopes.imported
        )
        known = isinstance(node.func, ast.Name) or own
        self._calls.append(_Called(name, known, given, alone, by | left))

    def _flow_into(self, held: Key, value: ast.AST, scope: Scope) -> None:
        given, released = self._scopes.keys(value, scope), is_released(value)
        self._given_on |= self._scopes.roots(value, scope)
        self._flows.append(_Flow(held, given - {held}, frozenset(), released, put=True))
        self._outputs.append((held, given, holds_release(value), released))

    # --- what follows -----------------------------------------------------------------------------------------------

    def _is_private(self, key: Key) -> bool:
        return key[0] == NOWHERE or key in self._all

    def _close(self) -> None:
        """Everything private, everything that what is private was put into, and what came from the curator."""
        self._all, changed = set(self._seeds), set[Key]()
        while True:
            before = len(self._all), len(changed)
            for flow in self._flows:
                led = any(map(self._is_private, flow.by))
                if led or (not flow.released and any(map(self._is_private, flow.given))):
                    self._all.add(flow.target)
                    if flow.put:
                        changed.add(flow.target)
                if flow.target in changed:  # two names of one thing
                    changed |= flow.alias - self._scopes.imported
                    self._all |= flow.alias - self._scopes.imported
            for call in self._calls:
                led = any(map(self._is_private, call.by))
                self._all |= self._called.get(call.name, set()) if led else set()
                for place, roots in self._filled(call, changed):
                    if (led and (place in (0, "out") or roots <= self._scopes.changeable)) or any(
                        any(map(self._is_private, keys)) and not released
                        for other, keys, _, released in call.given if other != place
                    ):  # fmt: skip
                        self._all |= roots
                        changed |= roots
            if before == (len(self._all), len(changed)):
                break
        self._from_curator: set[Key] = set()
        size = -1
        while size != len(self._from_curator):
            size = len(self._from_curator)
            for key, given, holds, released in self._outputs:
                if holds or (not released and given & self._from_curator):
                    self._from_curator.add(key)

    def _filled(self, call: _Called, changed: set[Key]) -> Iterator[tuple[int | str | None, frozenset[Key]]]:
        """Arguments that others may be put into."""
        takes = self._functions.get(call.name, []) if call.known else []
        for place, _, roots, _ in call.given:
            if takes:
                kept = {one[place] for one in takes if isinstance(place, int) and place < len(one)}
                kept |= {key for one in takes for key in one if key[1] == place}
                if kept & changed:
                    yield place, roots - self._scopes.imported
            elif call.alone or place == "out":
                yield place, roots - self._scopes.imported
            else:
                yield place, roots & self._scopes.changeable


def _functions_around(tree: ast.Module, trainer: Function) -> Iterator[Function]:
    for node in ast.walk(tree):
        if isinstance(node, Function) and node is not trainer and any(one is trainer for one in ast.walk(node)):
            yield node


def _of_records(function: Function, is_method: bool) -> list[str]:
    """Those arguments of a trainer that records are, or that may have kept some: what comes before the curator."""
    taken = function.args
    names = [one.arg for one in (*taken.posonlyargs, *taken.args)]
    if "curator" in names[1:]:
        return names[: names.index("curator")]
    return [*names[: 1 + is_method], *([] if taken.vararg is None else [taken.vararg.arg])]


def _stored(node: ast.AST) -> Iterator[ast.Name]:
    yield from (one for one in ast.walk(node) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load))


def _sets_kinds(tree: ast.Module) -> bool:
    """Whether a text changes an array's own shape or type anywhere."""
    held = (one for one in ast.walk(tree) if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store))
    return any(one.attr in ("shape", "dtype") for one in held)


def _blocks(one: ast.stmt) -> Iterator[tuple[list[ast.stmt], ast.expr | None]]:
    """The blocks of a statement but for handlers, and what decides whether, or how often, they run."""
    match one:
        case ast.If(test, body, other) | ast.While(test, body, other):
            yield from ((body, test), (other, test))
        case ast.For(_, test, body, other) | ast.AsyncFor(_, test, body, other):
            yield from ((body, test), (other, test))
        case ast.With(_, body) | ast.AsyncWith(_, body):
            yield body, None
        case ast.Try(body, _, other, last) | ast.TryStar(body, _, other, last):
            yield from ((block, None) for block in (body, other, last))
        case ast.Match(subject, cases):
            for case in cases:
                yield case.body, subject
                if case.guard is not None:
                    yield case.body, case.guard


def _ways_out(
    one: ast.stmt, tests: tuple[ast.expr | None, ...] = (), *, loop: bool = False
) -> Iterator[tuple[bool, tuple[ast.expr | None, ...]]]:
    """Where a statement leaves a loop around it, or else its function, and the conditions there; None for an error."""
    match one:
        case ast.Break() | ast.Continue():
            yield from () if loop else [(True, tests)]
        case ast.Return() | ast.Raise():
            yield False, tests
        case ast.Assert(test):
            yield False, (*tests, test)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return
    is_loop = isinstance(one, ast.For | ast.AsyncFor | ast.While)
    for block, decided in _blocks(one):
        for line in block:
            inner = loop or (is_loop and block is getattr(one, "body", None))
            yield from _ways_out(line, tests if decided is None else (*tests, decided), loop=inner)
    for handler in getattr(one, "handlers", ()):
        for line in handler.body:
            yield from _ways_out(line, (*tests, None), loop=loop)


def _without_blocks(one: ast.stmt) -> Iterator[ast.AST]:
    """A statement and the expressions in it; of functions and classes inside nothing."""
    yield one
    waiting = [node for node in ast.iter_child_nodes(one) if not isinstance(node, ast.stmt | ast.ExceptHandler)]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt)]


def bindings(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Targets and what is bound to them."""
    match node:
        case ast.Assign(targets, value):
            yield from ((target, value) for target in targets)
        case ast.AugAssign(ast.Name() as target, _, ast.List() | ast.ListComp() | ast.Tuple() as value):
            yield ast.Starred(target), value  # in place
        case ast.AugAssign(target, _, value) | ast.NamedExpr(target, value):
            yield target, value
        case ast.AnnAssign(target, _, ast.expr() as value):
            yield target, value
        case ast.For(target, value) | ast.AsyncFor(target, value) | ast.comprehension(target, value):
            yield target, value
        case ast.withitem(value, ast.expr() as target):
            yield target, value
        case ast.Delete(targets):
            yield from ((target, ast.Constant(None)) for target in targets)
        case ast.Match(subject, cases):
            for case in cases:
                for one in ast.walk(case.pattern):
                    name = getattr(one, "rest" if isinstance(one, ast.MatchMapping) else "name", None)
                    if isinstance(name, str):
                        yield ast.Name(name, ast.Store()), subject
        case _:
            pass


def is_released(value: ast.AST) -> bool:
    """Whether this is what a curator returned, or a function that was given one."""
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.Subscript) and is_released(value.value)
    given = [value.func, *value.args, *(one.value for one in value.keywords)]
    return any("curator" in named(one) for one in given if isinstance(one, ast.Name | ast.Attribute))


def holds_release(node: ast.AST) -> bool:
    """Whether such a thing is in it."""
    return any(is_released(one) for one in ast.walk(node))
