"""The checker's state: findings, frames, and what every part of the analysis may ask of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from atc.check.frames import Env, Frame, Mentions
from atc.check.hints import Hints
from atc.check.kinds import (
    ANY,
    DictCell,
    Function,
    Iterating,
    ListCell,
    Listing,
    Mapped,
    Record,
    Tuple,
    Type,
    Union,
)
from atc.check.lattice import join, members, without
from atc.check.report import finding
from atc.check.scopes import FunctionNode, Scopes
from atc.check.shapes import Document, response_document, result_type
from atc.types import Finding
from protocols.toolbox import Toolbox

MOST_STEPS = 40_000
"""Expressions and statements visited before the check stops looking further (about 0.1 s)."""


class OutOfSteps(Exception):
    """The program needs more steps than the check spends; what was found so far stands."""


class Core:
    """State shared by the parts of the analysis. `Flow` (flow.py) adds how statements and expressions run."""

    def __init__(self, tools: Toolbox, scopes: Scopes, hints: Hints) -> None:
        self.tools = tools
        self.scopes = scopes
        self.hints = hints
        self.volatile = set(scopes.shared)
        """Names whose value at a point is not known."""
        self.given_away: list[FunctionNode] = []
        """Functions of the program that code unknown to us may call."""
        self.findings: list[Finding] = []
        self.frame = Frame(scopes.module)
        self.version = 0
        self.steps = 0
        self.shielded: list[frozenset[str]] = []
        self.quiet = 0
        self.depth = 0
        """How many conditions the current point stands under."""
        self.lasting: list[Finding] = []
        """Findings that hold even if a loop's body is looked at again."""
        self.active: list[ast.AST] = []
        self.mentions: dict[ast.expr, Mentions] = {}
        self.analysed: set[ast.AST] = set()
        self.foreign = False
        """Whether the program may have put values of another shape into a response."""
        self.stored: list[str | None] = []
        """Every key that was set in some dict, in order; None for a computed one."""
        self.defaults: dict[ast.AST, dict[str, Type]] = {}
        """What the parameters of a function are where a call leaves them out."""
        self.overwritten: set[str] = set()
        """Keys that the program sets in responses, whose schemas then say nothing about them."""
        self._results: dict[str, tuple[Document | None, Type]] = {}
        self._cells: dict[tuple[ast.AST, str], Any] = {}

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

    @contextmanager
    def condition(self) -> Iterator[None]:
        """Within the block, what runs may as well not run."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    @contextmanager
    def silence(self) -> Iterator[None]:
        """Evaluate without findings."""
        self.quiet += 1
        try:
            yield
        finally:
            self.quiet -= 1

    def catches(self, *exceptions: str) -> bool:
        """Whether a `try` around this point handles one of these exceptions."""
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
        for values in self.frame.risky:
            values[name] = join(values[name], value) if name in values else value

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

    # What the program's own containers hold.

    def listing(self, node: ast.AST, item: Type, kind: str = "list") -> Listing:
        """The list that the program makes at `node`, now holding `item` too."""
        cell = self._cells.setdefault((node, "list"), ListCell())
        self.add(cell, item)
        return Listing(cell, kind)

    def mapped(self, node: ast.AST) -> Mapped:
        """The dict that the program makes at `node`."""
        return Mapped(self._cells.setdefault((node, "dict"), DictCell()))

    def add(self, cell: ListCell, item: Type) -> None:
        """Put an item into a list."""
        new = join(cell.item, item)
        if new != cell.item:
            cell.item = new
            self.version += 1

    def put(self, cell: DictCell, key: Any, value: Type) -> None:
        """Put a value under a constant key."""
        new = join(cell.keys.get(key, value), value)
        if key not in cell.keys or new != cell.keys[key]:
            cell.keys[key] = new
            self.version += 1

    def put_any(self, cell: DictCell, key: Type, value: Type) -> None:
        """Put a value under a computed key."""
        keys, values = join(cell.key, key), join(cell.value, value)
        if not cell.open or keys != cell.key or values != cell.value:
            cell.open, cell.key, cell.value = True, keys, values
            self.version += 1

    def shrink(self, cell: DictCell) -> None:
        """Take some key out of a dict."""
        if not cell.shrunk:
            cell.shrunk = True
            self.version += 1

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
