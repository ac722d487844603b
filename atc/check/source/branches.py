"""Names that only some of the ways to a line have assigned.

A use that stands under a condition of its own is taken to know what it does, as is one below a test that leaves.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from atc.check.report import finding
from atc.check.source.emptiness import never_empty, single_values
from atc.check.source.memo import walk
from atc.check.source.names import GIVEN
from atc.check.source.scopes import Scopes
from atc.check.source.stored import added, every_turn, read_at_once, stored
from atc.types import Finding
from protocols.toolbox import Toolbox

_LEAVE = {"exit", "quit", "_exit", "abort"}


@dataclass(slots=True)
class _State:
    """Names that are assigned at a point, and those that only some way has assigned, with the line where ways part."""

    sure: set[str] = field(default_factory=set)
    maybe: dict[str, int] = field(default_factory=dict)

    def trusted(self) -> _State:
        """For code under a condition, which may be that of the branch which assigned the rest."""
        return _State(self.sure | self.maybe.keys())


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of the whole program: functions that never return, names that stand for one value, and names of
    which another finding says already that they are not assigned.
    """

    raising: frozenset[str]
    values: dict[str, ast.expr]
    unset: frozenset[str]


def half_bound_names(scopes: Scopes, nodes: list[ast.AST], tools: Toolbox, told: Iterable[Finding]) -> list[Finding]:
    """Findings for names that are used where only one branch before has assigned them; none of them is certain.

    Names that findings among `told` call unassigned are left out.
    """
    if scopes.opaque:
        return []
    functions = [node for node in scopes.functions if not isinstance(node, ast.Lambda)]
    raising = frozenset(node.name for node in functions if _always_raises(node))
    unset = frozenset(item.message.split("'")[1] for item in told if item.code == "used-before-assignment")
    known = _Known(raising, single_values(nodes), unset)
    way = _Walk(scopes, known, GIVEN | tools.keys() | scopes.shared)
    try:
        way.block(scopes.module.body, _State())
        for node in functions:
            inner = _Walk(scopes, known, scopes.shared)
            inner.block(node.body, _State({part.arg for part in walk(node.args) if isinstance(part, ast.arg)}))
            way.findings += inner.findings
    except RecursionError:
        return []
    return way.findings


def _always_raises(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    returns = any(isinstance(part, ast.Return) for part in walk(node))
    return not returns and _leaves(node.body[-1], frozenset())


def _leaves(node: ast.stmt, raising: frozenset[str]) -> bool:
    match node:
        case ast.Raise() | ast.Return() | ast.Continue() | ast.Break():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            return name in _LEAVE or name in raising
        case _:
            return False


class _Walk:
    """The statements of a function or of the module, in order."""

    def __init__(self, scopes: Scopes, known: _Known, given: Iterable[str]) -> None:
        self.scopes = scopes
        self.raising, self.values = known.raising, known.values
        self.given = frozenset(given) | known.unset
        self.findings: list[Finding] = []
        self.left = 0
        """How many branches control has left for good."""

    def block(self, body: Sequence[ast.stmt], state: _State) -> _State | None:
        """What is assigned at the end of `body`; None where control never gets there."""
        for statement in body:
            after = self._statement(statement, state)
            if after is None:
                self.left += 1
                return None
            state = after
        return state

    def _statement(self, node: ast.stmt, state: _State) -> _State | None:
        match node:
            case ast.If(test=test):
                self._use(test, state)
                _bind(state, stored([test]))
                return self._parted(node, state, lambda: self._if(node, state.trusted()))
            case ast.Match(subject=subject):
                self._use(subject, state)
                return self._parted(node, state, lambda: self._match(node, state.trusted()))
            case ast.Try() | ast.TryStar():
                return self._parted(node, state, lambda: self._try(node, state.trusted()))
            case ast.For(iter=head) | ast.AsyncFor(iter=head) | ast.While(test=head):
                self._use(head, state)
                return self._loop(node, head, state)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    self._use(item.context_expr, state)
                inner = self.block(node.body, _with(state, stored(items)))
                if inner is not None or "suppress" not in ast.dump(items[0]):
                    return inner
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                pass
            case _:
                self._use(node, state)
                if _leaves(node, self.raising):
                    return None
        _bind(state, stored([node]))
        return state.trusted() if isinstance(node, ast.Assert) else state

    def _parted(self, node: ast.stmt, before: _State, follow: Callable[[], _State | None]) -> _State | None:
        """The state after branches. What was open before stays so where they neither leave nor assign it."""
        left = self.left
        after = follow()
        if after is None or self.left > left:
            return after
        assigned = set(stored([node]))
        for name, line in before.maybe.items():
            if name not in assigned:
                after.maybe[name] = line
                after.sure.discard(name)
        return after

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, head: ast.expr, state: _State) -> _State:
        target = [node.target] if not isinstance(node, ast.While) else [head]
        self.block(node.body, _with(state.trusted(), stored(target)))
        self.block(node.orelse, _with(state.trusted(), stored(node.body)))
        names = set(stored([node]))
        if isinstance(node, ast.While) or node.orelse or never_empty(head, self.values):
            return _with(state, names)
        # That there is no item at all is another thing, which most programs rule out by what they ask for.
        always = set(stored([*target, *every_turn(node.body)]))
        new = names - always - state.sure - state.maybe.keys() - self.given - added(node)
        state = _with(state, names - state.maybe.keys())
        state.sure -= new
        state.maybe |= dict.fromkeys(new, node.lineno)
        return state

    def _if(self, node: ast.If, state: _State, *, chained: bool = False) -> _State | None:
        holds = self.block(node.body, state.trusted())
        if not node.orelse:
            # The tests of a chain may name every case there is.
            return (holds or state) if chained else self._joined([holds, state], node.lineno)
        first = node.orelse[0]
        if len(node.orelse) == 1 and isinstance(first, ast.If):
            self._use(first.test, state)
            fails = self._if(first, _with(state.trusted(), stored([first.test])), chained=True)
        else:
            fails = self.block(node.orelse, state.trusted())
        return self._joined([holds, fails], node.lineno)

    def _match(self, node: ast.Match, state: _State) -> _State | None:
        ends = [self.block(case.body, _with(state.trusted(), stored([case.pattern]))) for case in node.cases]
        return self._joined(ends, node.lineno)

    def _try(self, node: ast.Try | ast.TryStar, state: _State) -> _State | None:
        done = self.block(node.body, state.trusted())
        done = self.block(node.orelse, done) if done is not None else None
        ends = [done, *(self.block(handler.body, state.trusted()) for handler in node.handlers)]
        after = self._joined(ends, node.lineno)
        return self.block(node.finalbody, after) if after is not None else None

    def _joined(self, ends: Sequence[_State | None], line: int) -> _State | None:
        """Where ways meet: what one assigns and another does not, and has not left open either, is open."""
        found = [end for end in ends if end is not None]
        if not found:
            return None
        names = set[str]().union(*(end.sure | end.maybe.keys() for end in found))
        result = _State()
        for name in names:
            half = [end.maybe[name] for end in found if name in end.maybe]
            lacking = any(name not in end.sure and name not in end.maybe for end in found)
            if name in self.given or not (lacking or len(half) == len(found)):
                result.sure.add(name)
            else:
                result.maybe[name] = half[0] if half else line
        return result

    def _use(self, node: ast.AST, state: _State) -> None:
        for name in read_at_once(node) if state.maybe else ():
            line = state.maybe.pop(name.id, None)
            state.sure.add(name.id)
            if line is not None and name not in self.scopes.forgiven:
                message = (
                    f"{name.id!r} may not be assigned here: not every way below line {line} assigns it. "
                    "Assign it before, or use it only where it is assigned."
                )
                better = f"{name.id} = None"
                self.findings.append(finding("used-before-assignment", name, message, better=better, certain=False))


def _bind(state: _State, names: Iterable[str]) -> None:
    for name in names:
        state.sure.add(name)
        state.maybe.pop(name, None)


def _with(state: _State, names: Iterable[str]) -> _State:
    _bind(state, names)
    return state
