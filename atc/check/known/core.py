"""The checker's state: findings, frames, and what every part of the analysis may ask of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from atc.check.known.cells import Cells
from atc.check.known.frames import Env, Frame, Mentions
from atc.check.known.kinds import ANY, Function, Iterating, Listing, Mapped, Record, Tuple, Type, Union
from atc.check.known.lattice import join, members, without
from atc.check.known.objects import Bound, Instance
from atc.check.known.shapes import Document, response_document, result_type
from atc.check.report import finding
from atc.check.source.hints import Hints
from atc.check.source.scopes import FunctionNode, Scopes
from atc.types import Finding
from protocols.toolbox import Toolbox

MOST_STEPS = 40_000
"""Expressions and statements visited before the check stops looking further (about 0.1 s)."""


class _Condition:
    """A block that may not run. One object for all such blocks of a check: they are entered thousands of times."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def __enter__(self) -> None:
        self._core.depth += 1

    def __exit__(self, *_: object) -> None:
        self._core.depth -= 1


class _Silence(_Condition):
    """A block without findings."""

    def __enter__(self) -> None:
        self._core.quiet += 1

    def __exit__(self, *_: object) -> None:
        self._core.quiet -= 1


class OutOfSteps(Exception):
    """The program needs more steps than the check spends; what was found so far stands."""


class Core(Cells):
    """State shared by the parts of the analysis. `Flow` (flow.py) adds how statements and expressions run."""

    def __init__(self, tools: Toolbox, scopes: Scopes, hints: Hints) -> None:
        super().__init__()
        self.tools = tools
        self.scopes = scopes
        self.hints = hints
        self.volatile = set(scopes.shared)
        """Names whose value at a point is not known."""
        self.given_away: list[FunctionNode] = []
        """Functions of the program that code unknown to us may call."""
        self.findings: list[Finding] = []
        self.frame = Frame(scopes.module)
        self.steps = 0
        self.shielded: list[frozenset[str]] = []
        self.quiet = 0
        self.depth = 0
        """How many conditions the current point stands under."""
        self._condition = _Condition(self)
        self._silence = _Silence(self)
        self.lasting: list[Finding] = []
        """Findings that hold even if a loop's body is looked at again."""
        self.active: list[ast.AST] = []
        self.mentions: dict[ast.expr, Mentions] = {}
        self.analysed: set[ast.AST] = set()
        self.deferred: list[tuple[Callable[[], bool], Finding]] = []
        """Findings that stand only if what they rest on still holds when the whole program is known."""
        self.decimals = False
        """Whether the program makes Decimals: then a number of unknown make may be one."""
        self.memoised: set[ast.AST] = set()
        """Functions that keep their results by their arguments, which therefore must be hashable."""
        self.foreign = False
        """Whether the program may have put values of another shape into a response."""
        self.stored: list[str | None] = []
        """Every key that was set in some dict, in order; None for a computed one."""
        self.defaults: dict[ast.AST, dict[str, Type]] = {}
        """What the parameters of a function are where a call leaves them out."""
        self.overwritten: set[str] = set()
        """Keys that the program sets in responses, whose schemas then say nothing about them."""
        self.owners: dict[ast.AST, Type] = {}
        """The object that a method of a class of the program is called on."""
        self.untracked: set[str] = set()
        """Attributes that are set on objects of which we do not know whose they are."""
        self.recorded: dict[str, Type] = {}
        """Every value that a `global` or `nonlocal` name was given."""
        self.settled: dict[str, Type] = {}
        """What such a name may be at any time, known from an earlier run."""
        self._results: dict[str, tuple[Document | None, Type]] = {}

    # What flow.py provides.

    def evaluate(self, node: ast.expr) -> Type:
        """The type of an expression, its findings reported."""
        raise NotImplementedError

    def execute(self, body: list[ast.stmt]) -> None:
        """Run statements in the current frame."""
        raise NotImplementedError

    # Findings.

    def report(
        self,
        code: str,
        node: ast.AST,
        message: str,
        *,
        tool: str | None = None,
        better: str | None = None,
        keys: Iterable[str] = (),
        certain: bool = True,
    ) -> None:
        """Record a finding at `node` unless findings are silenced there. `better` becomes its suggestion."""
        if not self.quiet:
            self.findings.append(finding(code, node, message, tool=tool, better=better, keys=keys, certain=certain))

    def defer(self, holds: Callable[[], bool], code: str, node: ast.AST, message: str) -> None:
        """Record a finding for the end of the program, if `holds` then says so."""
        if not self.quiet:
            self.deferred.append((holds, finding(code, node, message)))

    def condition(self) -> AbstractContextManager[None]:
        """Within the block, what runs may as well not run."""
        return self._condition

    def silence(self) -> AbstractContextManager[None]:
        """Evaluate without findings."""
        return self._silence

    def catches(self, *exceptions: str) -> bool:
        """Whether a `try` around this point handles one of these exceptions, by its name or with all others."""
        return self.catches_by_name(*exceptions, "Exception", "BaseException")

    def catches_by_name(self, *exceptions: str) -> bool:
        """Whether a `try` around this point names one of these exceptions."""
        return any(name in caught for caught in self.shielded for name in exceptions)

    def step(self) -> None:
        """Count one visit.

        Raises:
            OutOfSteps: there were too many.
        """
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise OutOfSteps

    def overwrite(self, key: str) -> None:
        """Remember that the program sets `key` in some response."""
        if key not in self.overwritten:
            self.overwritten.add(key)
            self.version += 1

    # Environment.

    @property
    def env(self) -> Env:
        """The current environment; an empty one that leads nowhere where control cannot be."""
        return self.frame.env if self.frame.env is not None else Env()

    def bind(self, name: str, value: Type) -> None:
        """Give a name of the current frame a value."""
        if self.frame.env is not None:
            self.frame.env.names[name] = value
        if name in self.scopes.shared:
            self.recorded[name] = join(self.recorded.get(name, value), value)
        for values in self.frame.risky:
            values[name] = join(values[name], value) if name in values else value

    def unbind(self, name: str) -> None:
        """Take a name of the current frame away (`del`)."""
        if self.frame.env is not None:
            self.frame.env.names.pop(name, None)

    def forget(self, keys: Iterable[str | None]) -> None:
        """Variables no longer tell what stands under these keys of theirs (None: under any)."""
        gone = set(keys)
        frame: Frame | None = self.frame if gone else None
        while frame is not None:
            for name, value in frame.env.names.items() if frame.env is not None else ():
                if isinstance(value, Record | Mapped | Union):
                    frame.env.names[name] = without(value, gone)  # type: ignore[union-attr]
            frame = frame.parent

    # Tools.

    def tool_result(self, alias: str) -> Type:
        """The type of a tool's response, from its schema."""
        if alias not in self._results:
            document = response_document(self.tools[alias])
            known = ANY if document is None else result_type(self.tools[alias], document)
            self._results[alias] = (document, known)
        return self._results[alias][1]

    def unsettled(self, attribute: str) -> bool:
        """Whether an attribute may change where we do not see it."""
        frame: Frame | None = self.frame if self.hints.attributes[attribute] > 1 else None
        while frame is not None:
            if frame.late or frame.detached:
                return True
            frame = frame.parent
        return attribute in self.untracked

    def escape(self, values: Iterable[Type], depth: int = 0) -> None:
        """Forget what the program's containers hold: code that we do not know may change them."""
        if depth > 4:
            return
        for value in values:
            for member in members(value):
                if isinstance(member, Listing) and member.cell.item is not ANY:
                    inner = member.cell.item
                    self.add(member.cell, ANY)
                    self.escape([inner], depth + 1)
                elif isinstance(member, Mapped) and member.cell.value is not ANY:
                    inside = [*member.cell.keys.values(), member.cell.value]
                    self.shrink(member.cell)
                    self.put_any(member.cell, ANY, ANY)
                    for key in member.cell.keys:
                        self.put(member.cell, key, ANY)
                    self.escape(inside, depth + 1)
                elif isinstance(member, Tuple):
                    self.escape(member.items, depth + 1)
                elif isinstance(member, Iterating):
                    self.escape([member.item], depth + 1)
                elif isinstance(member, Function):
                    self.given_away.append(member.node)
                elif isinstance(member, Instance | Bound):
                    self._give_away(member if isinstance(member, Instance) else member.owner, depth)

    def _give_away(self, value: Type, depth: int) -> None:
        """An object whose methods code that we do not know may call."""
        if isinstance(value, Instance):
            methods = [kind for _, kind in value.shape.members.values() if isinstance(kind, Function)]
            self.given_away += [method.node for method in methods if method.node not in self.given_away]
            self.escape(value.shape.attributes.values(), depth + 1)
