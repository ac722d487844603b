"""What is known where a program breaks off: the names and types at every place at which its next line may stand."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass, field

from atc.check.env import Env, OutOfSteps
from atc.check.names import GIVEN
from atc.check.source import read_hints, walk
from atc.check.statements import Flow
from atc.check.types import ANY, Array, Origin, Record, Type, members
from protocols.parsing import parse
from protocols.toolbox import Toolbox

_NEVER_TRIED = "except ToolError:"


@dataclass(frozen=True, slots=True)
class Point:
    """What is known at one place of a program.

    `calm` are nulls of schemas that a test has ruled out there, `origins` where in a response the value of a variable
    stood. `reached` is False where control cannot be.
    """

    names: Mapping[str, Type] = field(default_factory=dict)
    calm: frozenset[Origin] = frozenset()
    origins: Mapping[str, Origin] = field(default_factory=dict)
    reached: bool = True


@dataclass(frozen=True, slots=True)
class Level:
    """A block that is open at the end of a program, the module first.

    `keyword` is what its header begins with (`if`, `for`; empty for the module), `header` the whole of it, `indent`
    what its lines begin with, `lines` the statements in it so far, each without its indentation. `inside` holds at its
    end; `otherwise`, for a block of a test, where that test fails, before an `elif` or `else`.
    """

    keyword: str
    header: str
    indent: str
    lines: tuple[str, ...]
    inside: Point
    otherwise: Point | None = None


@dataclass(frozen=True, slots=True)
class Beginning:
    """A program that may break off: its open blocks, outermost first, and its tree, in which they are closed."""

    levels: tuple[Level, ...]
    tree: ast.Module


class Unreadable(ValueError):
    """The text is no beginning of a program."""


def scope_at_end(source: str, tools: Toolbox) -> Mapping[str, Type]:
    """The names that the program has bound at its end, and their types, within the innermost block that is open there.

    `source` is complete lines of a program that may break off anywhere between two statements.

    Raises:
        Unreadable: it is no such thing.
    """
    return levels_at_end(source, tools)[-1].inside.names


def levels_at_end(source: str, tools: Toolbox) -> tuple[Level, ...]:
    """Every block that is open at the end of `source`, outermost first, with what is known at the end of each.

    Raises:
        Unreadable: `source` is not made of whole statements and headers of blocks.
    """
    return read_beginning(source, tools).levels


def read_beginning(source: str, tools: Toolbox) -> Beginning:
    """What is known of a program that may break off between two statements.

    Raises:
        Unreadable: `source` is not made of whole statements and headers of blocks.
    """
    blocks = _open_blocks(source)
    text, places = _closed(source, blocks)
    tree = _parse(text)
    try:
        flow = _Watch(tools, tree, places)
        flow.watch()
        seen = flow.seen
    except RecursionError:
        seen = {}
    unknown = Point(dict.fromkeys(_bound(tree), ANY))
    found: list[Level] = []
    for number, block in enumerate(blocks):
        inside = seen.get((number, "inside"), unknown)
        otherwise = seen.get((number, "otherwise"), unknown) if block.keyword in ("if", "elif") else None
        found.append(Level(block.keyword, block.header, block.body or "", tuple(block.lines), inside, otherwise))
    return Beginning(tuple(found), tree)


def _bound(tree: ast.Module) -> set[str]:
    return {node.id for node in walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _parse(text: str) -> ast.Module:
    try:
        return parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"the program cannot be read: {error}.") from error


@dataclass(slots=True)
class _Block:
    keyword: str
    header: str
    margin: str
    body: str | None
    lines: list[str] = field(default_factory=list)


def _open_blocks(source: str) -> list[_Block]:
    """The blocks that are open after the last statement; a header without a body opens one that is still empty."""
    blocks = [_Block("", "", "", "")]
    pending: list[tokenize.TokenInfo] = []
    margins = [""]
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.INDENT:
                margins.append(token.string)
                blocks[-1].body = token.string
            elif token.type == tokenize.DEDENT:
                margins.pop()
            elif token.type == tokenize.NEWLINE:
                _note(blocks, pending, margins[-1])
                pending = []
            elif token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER):
                pending.append(token)
    except (tokenize.TokenError, SyntaxError) as error:
        raise Unreadable(f"the program cannot be read: {error}.") from error
    if blocks[-1].body is None:
        blocks[-1].body = f"{blocks[-1].margin}    "
    return blocks


def _note(blocks: list[_Block], line: list[tokenize.TokenInfo], margin: str) -> None:
    """Note one logical line, which stands at `margin`."""
    while blocks[-1].keyword and (blocks[-1].body is None or len(blocks[-1].body) > len(margin)):
        blocks.pop()
    text = _text(line)
    blocks[-1].lines.append(text)
    if line[-1].string == ":" and line[-1].type == tokenize.OP:
        blocks.append(_Block(line[0].string, text, margin, None))


def _text(line: list[tokenize.TokenInfo]) -> str:
    first, last = line[0], line[-1]
    if first.start[0] == last.end[0]:
        return first.line[first.start[1] : last.end[1]]
    return " ".join(token.string for token in line)


def _closed(source: str, blocks: list[_Block]) -> tuple[str, dict[int, tuple[int, str]]]:
    """The program with every open block closed, and which of the added lines (from 1) stands at which place."""
    lines: list[str] = []
    places: dict[int, tuple[int, str]] = {}
    start = source.count("\n") + (not source.endswith("\n") and bool(source))
    joint = "" if not source or source.endswith("\n") else "\n"

    def add(line: str, place: tuple[int, str] | None = None) -> None:
        lines.append(line)
        if place is not None:
            places[start + len(lines)] = place

    for number in range(len(blocks) - 1, -1, -1):
        block = blocks[number]
        add(f"{block.body}pass", (number, "inside"))
        if block.keyword in ("if", "elif"):
            add(f"{block.margin}else:")
            add(f"{block.margin}    pass", (number, "otherwise"))
        elif block.keyword == "try":
            add(f"{block.margin}{_NEVER_TRIED}")
            add(f"{block.margin}    pass")
    return f"{source}{joint}" + "\n".join(lines) + "\n", places


class _Watch(Flow):
    """The analysis, noting what is known at certain lines each time that control comes by."""

    def __init__(self, tools: Toolbox, tree: ast.Module, places: Mapping[int, tuple[int, str]]) -> None:
        super().__init__(tools, tree, read_hints(walk(tree)))
        self.places = places
        self.seen: dict[tuple[int, str], Point] = {place: Point(reached=False) for place in places.values()}
        self.origins: dict[str, Origin] = {}

    def watch(self) -> None:
        """Run the program; what was seen stays where it takes too long."""
        try:
            self.execute(self.module.body)
        except OutOfSteps:
            self.seen = {}

    def execute(self, body: list[ast.stmt]) -> None:
        """Run statements in the current frame."""
        for statement in body:
            place = self.places.get(statement.lineno) if isinstance(statement, ast.Pass) else None
            env = self.frame.env
            if place is not None and env is not None:
                self.seen[place] = Point(_visible(env), env.calm, dict(self.origins))
            elif env is not None:
                super().execute([statement])
                self._follow(statement)

    def bind(self, name: str, value: Type) -> None:
        """Give a name of the current frame a value; where it came from is no longer known."""
        super().bind(name, value)
        self.origins.pop(name, None)

    def _follow(self, statement: ast.stmt) -> None:
        """Note from where in a response a variable was taken."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                origin = self._origin(value)
                if origin is not None:
                    self.origins[name] = origin

    def _origin(self, node: ast.expr) -> Origin | None:
        match node:
            case ast.Name(id=name):
                return self.origins.get(name)
            case ast.Subscript(value=owner, slice=ast.Constant(value=key)) if isinstance(key, str | int):
                kinds = members(self.peek(owner)) if self.frame.env is not None else ()
                for kind in kinds:
                    if isinstance(kind, Record) and isinstance(key, str):
                        return kind.origin.then(key)
                    if isinstance(kind, Array) and isinstance(key, int):
                        return kind.origin.then(None)
        return None


def _visible(env: Env) -> dict[str, Type]:
    return {name: value for name, value in env.names.items() if name not in GIVEN}
