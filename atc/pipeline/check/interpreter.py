"""State of the static check, which is an abstract interpreter.

It follows a program with types instead of values. The state consists of the types of variables at
the current point of the program, the contents of containers, and the findings so far.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from atc.core.messages import make_finding
from atc.core.types import Finding
from atc.pipeline.check import types as t
from atc.pipeline.check.budget import FINDING, STEP, spend
from atc.pipeline.check.kinds import constant, forget_constants
from atc.pipeline.check.names import PREDEFINED_NAMES, explain_unbound_name
from atc.pipeline.check.response_location import ResponseLocation
from atc.pipeline.check.responses import (
    error_type,
    find_named_objects,
    response_document,
    result_type,
)
from atc.pipeline.check.syntax import FunctionNode, SyntaxFacts, bound_names, times_stored
from protocols.toolbox import Toolbox


@dataclass(slots=True)
class Env:
    """The facts about the variables that are known at one point of the program (an environment).

    `names` are the types of the variables. `null_checked` are the nullable response fields that the
    program has already tested for None.
    """

    names: dict[str, t.Type] = field(default_factory=dict)
    null_checked: frozenset[ResponseLocation] = frozenset()

    def copy(self) -> Env:
        """Return a copy of the environment. Changes of the copy do not affect the original."""
        spend(len(self.names) // 8)
        return Env(dict(self.names), self.null_checked)


def join_env(left: Env | None, right: Env | None) -> Env | None:
    """Return what is known about the variables at a point where two control-flow paths meet.

    None is the environment of a path that is never taken. A name bound on only one path keeps its
    type, because using it on the other path would raise anyway.
    """
    if left is None or right is None:
        return left or right
    spend(len(left.names) // 8 + len(right.names))
    names = dict(left.names)
    for name, value in right.names.items():
        known = names.get(name)
        names[name] = value if known is None or known is value else t.join(known, value)
    return Env(names, left.null_checked & right.null_checked)


@dataclass(eq=False, slots=True)
class ScopeFrame:
    """The analysis of one execution of a function body, of a class body or of the module.

    `env` is what is known about the variables at the current point; None if the point is
    unreachable. A `detached` frame runs at an unknown time (for example as a callback of a
    library), so the types of names in outer frames are not known in it.
    """

    scope: ast.AST
    parent: ScopeFrame | None = None
    env: Env | None = field(default_factory=Env)
    detached: bool = False
    returns: list[t.Type] = field(default_factory=list)
    yields: list[t.Type] = field(default_factory=list)
    loops: list[tuple[list[Env], list[Env]]] = field(default_factory=list)
    """For each enclosing loop, the environments at its `break`s, and those at its `continue`s."""

    @property
    def is_class_body(self) -> bool:
        """True if the frame is the execution of a class body."""
        return isinstance(self.scope, ast.ClassDef)


class Interpreter:
    """The state of one check of a program; all modules of the check use it.

    `statements.ProgramInterpreter` adds the evaluation of expressions and statements.
    """

    def __init__(
        self, tools: Toolbox, module: ast.Module, hints: SyntaxFacts, *, lenient: bool = False
    ) -> None:
        self.tools = tools
        self.lenient = lenient
        """True if weak evidence about responses is ignored."""
        self.module = module
        self.hints = hints
        self.frame = ScopeFrame(module)
        self.findings: list[Finding] = []
        self.quiet = 0
        self.version = 0
        """Number of changes to the contents of containers so far.

        A loop is analysed again and again until a pass leaves this number unchanged.
        """
        self.volatile = set(hints.shared)
        """Names whose type is unknown at every point of the program."""
        self.shielded: list[frozenset[str]] = []
        """For each enclosing `try`, the names of the exceptions that it handles."""
        self.active: list[FunctionNode] = []
        self.analysed: set[ast.AST] = set()
        self.tested: set[str] = set()
        """Tools of which the program tests a nullable response value for None."""
        self.foreign = False
        """True if the program may have stored values in a response that do not fit its schema."""
        self.defined_in: dict[ast.AST, ScopeFrame] = {}
        """For each function, the frame in which it was last defined."""
        self._cells: dict[tuple[ast.AST, str], Any] = {}
        self._results: dict[str, t.Type] = {}
        self._errors: dict[str, t.Type] = {}
        self._objects: list[tuple[str, frozenset[str]]] | None = None

    def evaluate(self, node: ast.expr) -> t.Type:
        """Return the type of an expression and report the problems in it."""
        raise NotImplementedError

    def execute(self, body: list[ast.stmt]) -> None:
        """Analyse statements as if they were executed in the current frame."""
        raise NotImplementedError

    def step(self) -> None:
        """Charge the work of visiting one syntax node to the budget of the check.

        Raises:
            OutOfSteps: the budget of the check is used up.
        """
        spend(STEP)

    # Findings.

    def report(self, code: str, node: ast.AST, message: str, **more: Any) -> None:
        """Record a finding at `node`, unless findings are currently suppressed.

        `more` are further arguments of `make_finding`.
        """
        spend(FINDING)
        if not self.quiet:
            self.findings.append(make_finding(code, node, message, **more))

    def peek(self, node: ast.expr) -> t.Type:
        """Return the type of an expression without reporting findings."""
        self.quiet += 1
        try:
            return self.evaluate(node)
        finally:
            self.quiet -= 1

    def catches(self, *exceptions: str) -> bool:
        """Return True if an enclosing `try` handles one of these exceptions, or `Exception`."""
        names = {*exceptions, "Exception", "BaseException"}
        return any(names & caught for caught in self.shielded)

    # Names.

    @property
    def env(self) -> Env:
        """The environment (see `Env`) of the current point of the program.

        At an unreachable point, it is a new, empty environment, and changes of it have no effect.
        """
        return self.frame.env if self.frame.env is not None else Env()

    def bind(self, name: str, value: t.Type) -> None:
        """Record that the variable `name` of the current frame now has the type `value`."""
        if self.frame.env is not None:
            self.frame.env.names[name] = value

    def lookup(self, node: ast.Name, *, called: bool = False) -> t.Type:
        """Return the type of a name at this point, and report a name that is never bound.

        `called` is True if the name is called as a function: the message then suggests tools.
        """
        name = node.id
        if name in self.volatile or self.hints.opaque:
            return t.ToolRef(name) if name in self.tools and name not in self.volatile else t.ANY
        found = self._bound_type(node)
        if found is not None:
            return found
        if name in self.tools:
            return t.ToolRef(name)
        if name in PREDEFINED_NAMES:
            return t.Library(name)
        if not self.quiet and not any("NameError" in names for names in self.shielded):
            spend(FINDING)
            scopes = [f.scope for f in self._visible_frames() if not f.is_class_body]
            self.findings.append(explain_unbound_name(node, scopes, self.tools, called=called))
        return t.ANY

    def _bound_type(self, node: ast.Name) -> t.Type | None:
        """Return the type of a name that the program uses, or None if the program never binds it.

        A use of a local name before its assignment is reported.
        """
        detached = False
        for frame in self._visible_frames():
            found = self._in_frame(frame, node.id, detached=detached)
            if found is not None:
                return found
            # In a class body, a name that is not bound yet refers to an outer scope.
            if not frame.is_class_body and self._is_local(node.id, frame.scope):
                if frame.env is not None and not detached:
                    self._report_use_before_assignment(node)
                return t.ANY
            detached = detached or frame.detached
        return None

    def _visible_frames(self) -> Iterator[ScopeFrame]:
        """Yield the frames whose names the code at the current point can use, innermost first.

        Names of a class body are visible only to its own statements, not to its methods.
        """
        yield self.frame
        outer = self.frame.parent
        while outer is not None:
            if not outer.is_class_body:
                yield outer
            outer = outer.parent

    def _is_local(self, name: str, scope: ast.AST) -> bool:
        """Return True if `scope` binds the name, and no tool or builtin has that name."""
        return (
            name in bound_names(scope) and name not in self.tools and name not in PREDEFINED_NAMES
        )

    def _report_use_before_assignment(self, node: ast.Name) -> None:
        if not self.catches("NameError", "UnboundLocalError"):
            message = f"{node.id!r} is used before it is assigned. Assign it above this line."
            self.report("used-before-assignment", node, message)

    def _in_frame(self, frame: ScopeFrame, name: str, *, detached: bool) -> t.Type | None:
        """Return the type of the variable `name` in `frame`, or None if the frame does not bind it.

        `detached` is True if the current code runs at an unknown time after the code of `frame`,
        which may have assigned other values to the name until then.
        """
        if frame.env is None or name not in frame.env.names:
            return None
        found = frame.env.names[name]
        if (
            frame is self.frame
            or not detached
            or isinstance(found, t.Function | t.Library | t.ToolRef)
        ):
            return found
        # The outer frame may have assigned the name again before this detached frame runs.
        return found if times_stored(frame.scope)[name] == 1 and found != t.NONE else t.ANY

    # Tools.

    def tool_result(self, alias: str) -> t.Type:
        """Return the type of a tool's result, derived from its response schema."""
        if alias not in self._results:
            document = response_document(self.tools[alias], lenient=self.lenient)
            self._results[alias] = (
                t.ANY if document is None else result_type(self.tools[alias], document)
            )
        return self._results[alias]

    def error_result(self, origin: ResponseLocation, key: str) -> t.Type:
        """Return the type of an error that a tool returns instead of the value at `origin`.

        Only errors that have the key `key` count. Return `ANY` if the tool's document describes no
        such error.
        """
        if origin.tool not in self._errors:
            self._errors[origin.tool] = error_type(self.tools[origin.tool])
        found = [
            member
            for member in t.members(self._errors[origin.tool])
            if isinstance(member, t.Record) and key in member.shape.properties
        ]
        return t.join(*found) if found and not origin.path else t.ANY

    def named_objects(self) -> list[tuple[str, frozenset[str]]]:
        """Return the name and the keys of each object that the responses of the tools define."""
        if self._objects is None:
            self._objects = find_named_objects(self.tools.values())
        return self._objects

    # Containers created by the program, by the node that creates them.

    def add_listing_item(self, node: ast.AST, item: t.Type, kind: str = "list") -> t.Listing:
        """Add an item to the list that the expression `node` creates, and return the list's type.

        `item` is the type of the item. `kind` is the kind of list, such as `set` or `deque`.
        """
        cell: t.ListCell = self._cells.setdefault((node, "list"), t.ListCell())
        self.add(cell, item)
        return t.Listing(cell, kind)

    def create_dict(self, node: ast.AST) -> t.Mapped:
        """Return the type of the dict that the expression `node` of the program creates."""
        return t.Mapped(self._cells.setdefault((node, "dict"), t.DictCell()))

    def add(self, cell: t.ListCell, item: t.Type) -> None:
        """Record that a list of the program may contain items of the type `item`."""
        new = _join_growing(cell.item, item)
        if new != cell.item:
            cell.item = new
            self.version += 1

    def set_item(self, cell: t.DictCell, index: t.Type, value: t.Type) -> None:
        """Record that a dict of the program has a value of the type `value` under a key.

        `index` is the type of the key; `ANY` means that the key is unknown.
        """
        key = constant(index)
        if key is not None:
            new = _join_growing(cell.keys.get(key, value), value)
            if key not in cell.keys or new != cell.keys[key]:
                cell.keys[key] = new
                self.version += 1
            return
        keys = _join_growing(cell.key, index)
        values = _join_growing(cell.value, value)
        if not cell.open or keys != cell.key or values != cell.value:
            cell.open = True
            cell.key = keys
            cell.value = values
            self.version += 1

    def escape(self, values: Iterable[t.Type], depth: int = 0) -> None:
        """Forget what the lists and dicts among `values` contain.

        This is for values that are passed to unknown code, which may change them.
        """
        for value in values if depth < 5 else ():
            for member in t.members(value):
                inside: list[t.Type] = []
                match member:
                    case t.Listing(cell) if cell.item is not t.ANY:
                        inside = [cell.item]
                        self.add(cell, t.ANY)
                    case t.Mapped(cell) if cell.value is not t.ANY:
                        inside = [*cell.keys.values(), cell.value]
                        spend(len(inside))
                        self.set_item(cell, t.ANY, t.ANY)
                        cell.keys.update(dict.fromkeys(cell.keys, t.ANY))
                    case t.Tuple(items):
                        inside = list(items)
                    case t.Iterating(item):
                        inside = [item]
                self.escape(inside, depth + 1)


def _join_growing(old: t.Type, new: t.Type) -> t.Type:
    """Return the union of the types `old` and `new`.

    If it has many known constants, as the values of a counter have, only their kind (`int`) is
    kept.
    """
    found = t.join(old, new)
    values = getattr(found, "values", None)
    return (
        forget_constants(found)
        if values is not None and len(values) > t.MOST_VALUES // 8
        else found
    )
