"""Which thing a name of a program's text means where it stands: the scopes of one file, and what each has.

Python decides it before a line runs: a name that is bound anywhere in a function is the function's own, a method does
not see the names of its class, "global" and "nonlocal" say otherwise.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from refdp.audit.own_code import is_library
from refdp.audit.surroundings import SURROUNDINGS, Function, named

Key = tuple[int, str]
"""The number of a scope, 0 for the module's, and a name in it; of -1, a name that is bound nowhere."""
NOWHERE = -1
RESULT = "return"
"""In a function's scope, what it returns."""
SENT = NOWHERE, "what is sent"
"""What `yield` has: it may be anything."""
_BUILT = frozenset(dir(builtins))
_CHANGEABLE = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
_MAKERS = frozenset({"list", "dict", "set", "bytearray", "deque", "defaultdict", "OrderedDict", "Counter",
                     "SimpleNamespace", "array"})  # fmt: skip
_COPIES = frozenset({"copy", "tolist"})
"""Methods whose result is a thing of its own."""
_SAME = frozenset({"vars", "getattr", "asarray", "asanyarray", "ravel", "reshape", "squeeze", "transpose", "atleast_1d",
                   "atleast_2d", "broadcast_to"})  # fmt: skip
"""Functions whose result is their first argument's, or a view of it."""


@dataclass
class Scope:
    """The names of a module, function or class. number: 0 for the module's, negative for a class's."""

    number: int
    outer: Scope | None
    bound: set[str] = field(default_factory=set)
    elsewhere: dict[str, str] = field(default_factory=dict)
    """Names that are declared to be the module's ("global") or of a function around ("nonlocal")."""


class Scopes:
    """The scopes of a file. known: names bound elsewhere that its module has, too.

    of: the scope of each function and class. imported: names of libraries. changeable: names of containers, classes of
    the file and their instances. captured: names that a function has from around it. results: by a function's name
    its scope's number. defined: names of functions and classes. records: names of a trainer's records and
    of nothing else, whose kinds are public.
    """

    def __init__(self, tree: ast.Module, known: Iterable[str] = ()) -> None:
        self.module = Scope(0, None)
        self.of: dict[ast.AST, Scope] = {}
        self.imported: set[Key] = set()
        self.results: dict[Key, int] = {}
        self.defined: set[Key] = set()
        self.records: set[Key] = set()
        self._open = False
        self._made: list[tuple[str, ast.expr | None, Scope]] = []
        self._bind(tree, self.module)
        self.module.bound |= set(known)
        self.changeable: set[Key] = set()
        size = -1
        while size != len(self.changeable):
            size = len(self.changeable)
            self.changeable |= {key for name, value, scope in self._made
                                if self._is_changeable(value, scope) and (key := self.key(name, scope))}  # fmt: skip
        self.captured = {key for one, scope in self.of.items() for key in self.free(one, scope)}

    def _bind(self, node: ast.AST, scope: Scope) -> None:
        """Which names are bound in which scope, before anything is followed."""
        for one in ast.iter_child_nodes(node):
            inside = scope
            match one:
                case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                    scope.bound.add(name)
                    outer = scope
                    while outer.number < 0 and outer.outer is not None:  # a method does not see its class's names
                        outer = outer.outer
                    inside = self._new(one, outer)
                    inside.bound |= set(arguments(one))
                    self.results[scope.number, name] = inside.number
                    self.defined.add((scope.number, name))
                case ast.ClassDef(name):
                    scope.bound.add(name)
                    inside = self._new(one, scope, of_class=True)
                    self._made.append((name, None, scope))
                    self.defined.add((scope.number, name))
                case ast.Assign(targets, value):
                    self._made += [(given.id, value, scope) for given in targets if isinstance(given, ast.Name)]
                case ast.AnnAssign(ast.Name(name), _, ast.expr() as value) | ast.NamedExpr(ast.Name(name), value):
                    self._made.append((name, value, scope))
                case ast.Lambda():
                    scope.bound |= {given.arg for given in ast.walk(one.args) if isinstance(given, ast.arg)}
                case ast.Name(name, ast.Store() | ast.Del()):
                    scope.bound.add(name)
                case ast.Global(names):
                    scope.elsewhere |= dict.fromkeys(names, "global")
                    self.module.bound |= set(names)
                case ast.Nonlocal(names):
                    scope.elsewhere |= dict.fromkeys(names, "nonlocal")
                case ast.Import(names) | ast.ImportFrom(names=names):
                    bound = {(given.asname or given.name).split(".")[0] for given in names}
                    self._open |= "*" in bound
                    scope.bound |= bound
                    if not _is_own(one):
                        self.imported |= {(scope.number, name) for name in bound}
                case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                    scope.bound.add(name)
                case ast.MatchMapping(rest=str(name)):
                    scope.bound.add(name)
                case _:
                    pass
            self._bind(one, inside)

    def _new(self, node: ast.AST, outer: Scope, *, of_class: bool = False) -> Scope:
        number = (len(self.of) + 1) * (-2 if of_class else 1)  # negative and even: of a class
        self.of[node] = made = Scope(number, outer)
        return made

    def _is_changeable(self, value: ast.expr | None, scope: Scope) -> bool:
        """Whether it is a container or made by a class of the file. value: None for such a class itself."""
        match value:
            case ast.Call(ast.Name(name)):
                return name in _MAKERS or self.key(name, scope) in self.changeable
        return value is None or isinstance(value, _CHANGEABLE)

    def key(self, name: str, scope: Scope) -> Key | None:
        """What a name means in a scope; None for one of Python's own."""
        here: Scope | None = scope
        declared = ""
        while here is not None and here.number != 0:
            declared = here.elsewhere.get(name, declared)
            if declared == "global":
                break
            if name in here.bound and here.elsewhere.get(name) != "nonlocal":
                return here.number, name
            here = here.outer
        if name in self.module.bound:
            return 0, name
        known = name in _BUILT or name in SURROUNDINGS or self._open or (name[:2] == "__" == name[-2:])
        return None if known or name == "curator" else (NOWHERE, name)

    def keys(self, node: ast.AST, scope: Scope) -> frozenset[Key]:
        """What the names in an expression mean there."""
        found = {self.key(name, scope) for name in named(node) if name != "curator"}
        if found & self.records:
            found = {self.key(one.id, scope) for one in self._but_kinds(node, scope) if one.id != "curator"}
        sent = {SENT} if any(isinstance(one, ast.Yield) for one in ast.walk(node)) else set()
        return frozenset({key for key in found if key is not None} | sent)

    def _but_kinds(self, node: ast.AST, scope: Scope) -> Iterator[ast.Name]:
        """Names in it, but where it only asks of records for kinds that all data sets have."""
        match node:
            case (
                ast.Call(ast.Name("isinstance"), [ast.Name(name) | ast.Attribute(ast.Name(name), _), _])
                | ast.Attribute(ast.Attribute(ast.Name(name), "x" | "y"), "ndim" | "dtype")
                | ast.Subscript(ast.Attribute(ast.Attribute(ast.Name(name), "x"), "shape"), ast.Constant(1))
            ) if self.key(name, scope) in self.records:
                return
            case ast.Name():
                yield node
        for one in ast.iter_child_nodes(node):
            yield from self._but_kinds(one, scope)

    def roots(self, node: ast.AST, scope: Scope) -> frozenset[Key]:
        """The names whose things an expression is, or is a part of."""
        while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Await):
            node = node.value
        parts: list[ast.expr] = []
        match node:
            case ast.Name(name):
                key = self.key(name, scope)
                return frozenset() if key is None else frozenset({key})
            case ast.Tuple(parts) | ast.List(parts) | ast.Set(parts) | ast.Dict(_, parts) | ast.BoolOp(_, parts):
                pass
            case ast.IfExp(_, body, other):
                parts = [body, other]
            case ast.NamedExpr(target, value):
                parts = [target, value]
            case ast.ListComp(part) | ast.SetComp(part) | ast.GeneratorExp(part) | ast.DictComp(_, part):
                parts = [part]
            case ast.Call():
                return self._roots_of_result(node, scope)
        return frozenset(key for one in parts for key in self.roots(one, scope))

    def _roots_of_result(self, node: ast.Call, scope: Scope) -> frozenset[Key]:
        """What a call's result may be a part of: the object of a method, containers it is given, what it returns."""
        found: frozenset[Key] = frozenset()
        given = [*node.args, *(one.value for one in node.keywords)]
        match node.func:
            case ast.Name(name):
                key = self.key(name, scope)
                found |= {key} & self.imported if key is not None else set()
                found |= {(self.results[key], RESULT)} if key in self.results else set()
            case ast.Attribute(value, name) if name not in _COPIES:
                found |= self.roots(value, scope)
        if (named(node.func) | {getattr(node.func, "attr", "")}) & _SAME and given:
            found |= self.roots(given[0], scope)
        return found | {key for one in given for key in self.roots(one, scope) & self.changeable}

    def free(self, one: ast.AST, own: Scope) -> frozenset[Key]:
        """Names that a function or class has from around it."""
        inside = {self.of[node].number for node in ast.walk(one) if node in self.of}
        found: set[Key] = set()
        waiting: list[tuple[ast.AST, Scope]] = [(one, own)]
        while waiting:
            node, scope = waiting.pop()
            for child in ast.iter_child_nodes(node):
                below = self.of.get(child, scope)
                if isinstance(child, ast.Name) and child.id != "curator":
                    key = self.key(child.id, scope)
                    found |= set() if key is None or key[0] in inside else {key}
                waiting.append((child, below))
        return frozenset(found)


def arguments(function: Function) -> list[str]:
    """The names of all arguments of a function, in their order."""
    taken = function.args
    several = [one for one in (taken.vararg, taken.kwarg) if one is not None]
    return [one.arg for one in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs, *several)]


def _is_own(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether something that is imported may be the trainer's own, with a state that its functions set."""
    if isinstance(node, ast.ImportFrom) and node.level:
        return True
    tops = [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    with contextlib.suppress(Exception):  # what loads modules may be anybody's
        return not all(is_library(name) for name in tops)
    return False
