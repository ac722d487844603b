"""A program that grows: the piece in a reply, what of it is new, and the program without the prints that only looked.

A kept piece loses its prints: they were for the model, which has read them. So what an execution prints is the new
piece's output alone, and a finished program prints its answer and nothing else, as a program written at once does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from typing import Any

from atc.types import Program

_MARK = re.compile(r"\s*(?:final\s+)?answer\s*:\s*", re.IGNORECASE)
_SPOKEN = re.compile(r"^\W*(?:final\s+)?answer\s*:[\s*_`]*(?P<answer>\S.*?)[\s*_`]*$", re.IGNORECASE | re.MULTILINE)
_SAFE_CALLS = frozenset(
    {"len", "type", "str", "repr", "round", "abs", "int", "float", "bool", "isinstance"}  # functions
    | {"get", "keys", "values", "items", "dumps", "upper", "lower", "strip"}  # methods
)
"""Calls in a print that do nothing but look: their print goes whole. Of others, the call stays."""
_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_ACTS = (ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Starred, *_COMPREHENSIONS)
"""What may change something, an iterator that is used up included."""


def next_piece(reply: str) -> str:
    """The reply up to the end of its first fenced block: some models go on with an output and pieces of their own.

    An answer in words, in a reply without a program (`ANSWER: 5`), becomes the piece that prints it.
    """
    lines: list[str] = []
    inside = False
    for line in reply.splitlines():
        lines.append(line)
        if inside and "```" in line:
            break
        inside = inside or line.lstrip().startswith("```")
    if not inside and (spoken := _SPOKEN.search(reply)):
        return f"```python\nprint('ANSWER:', {spoken['answer']!r})\n```"
    return "\n".join(lines)


def new_lines(kept: Program, piece: Program, writing: Collection[str]) -> Program | None:
    """The piece without the lines of the program that it restates; None where nothing is left.

    A program that began anew would make its calls a second time. A piece restates the program when it begins with all
    of it and goes on, or repeats several statements; or when it begins as the program does, up to one that calls a
    tool of `writing`. A single reading statement may be meant: its tool may answer otherwise now.
    """
    before, body = _statements(kept.source), _statements(piece.source)
    known = [ast.dump(statement) for statement in before]
    again = last = 0  # statements of the program that stand in the piece, and of the piece that are those
    for number, statement in enumerate(_statements(piece.source), start=1):
        quiet = [ast.dump(left) for left in _Looks().statements([statement])]
        if known[again : again + len(quiet)] != quiet:
            break
        if quiet:
            again, last = again + len(quiet), number
    whole = 0 < again == len(known) and (last < len(body) or again > 1)
    if not whole and not _call_any(before[:again], writing):
        return piece
    rest = body[last:]
    if not rest:
        return None
    end = body[last - 1].end_lineno or 0
    if _first_line(rest[0]) == end:
        return Program(_text(rest))
    return Program("".join(piece.source.splitlines(keepends=True)[end:]))


def grown(kept: Program, piece: Program) -> Program:
    """The program with the piece behind it."""
    return Program(f"{kept.source.rstrip()}\n\n{piece.source}" if kept.source.strip() else piece.source)


def quiet(program: Program) -> Program:
    """The program without its prints. Calls in their arguments are still made, and in the same order."""
    return _rewritten(program, _Looks())


def finished(program: Program) -> Program | None:
    """The program that prints the bare answer and nothing else; None where it has no `print("ANSWER:", …)`."""
    looks = _Looks(answers=True)
    result = _rewritten(program, looks)
    return result if looks.answered else None


class _Looks(ast.NodeTransformer):
    """Takes prints out of a syntax tree; with `answers`, all but those of the answer, which lose their mark."""

    def __init__(self, *, answers: bool = False) -> None:
        self._answers = answers
        self._follows = False  # the mark was printed alone: what is printed next is the answer
        self.answered = False

    def statements(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements that are left of some."""
        left = self.visit(ast.Module(body=list(body), type_ignores=[]))
        return list(left.body)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visit what is inside; a block that is left empty passes."""
        blocks = [name for name in ("body", "orelse", "finalbody") if isinstance(getattr(node, name, None), list)]
        full = [name for name in blocks if getattr(node, name)]
        super().generic_visit(node)
        for name in full:
            if not getattr(node, name) and not isinstance(node, ast.Module):
                setattr(node, name, [ast.Pass()])
        return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        """A statement."""
        if not _is_print(node.value):
            return self.generic_visit(node)
        left = self._left_of(node.value)
        return None if left is None else ast.Expr(left)

    def visit_Call(self, node: ast.Call) -> Any:
        """A print within an expression."""
        if not _is_print(node):
            return self.generic_visit(node)
        return self._left_of(node) or ast.Constant(None)

    def _left_of(self, call: ast.expr) -> ast.expr | None:
        assert isinstance(call, ast.Call)
        if self._answers and self._follows:
            return call
        said = _without_mark(call.args[0]) if self._answers and call.args else None
        if said is not None:
            self.answered = True
            arguments = [*said, *call.args[1:]]
            self._follows = not arguments
            return ast.Call(call.func, arguments, call.keywords) if arguments else None
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        acting = [argument for argument in given if _acts(argument)]
        if not acting:
            return None
        plain = [argument.value if isinstance(argument, ast.Starred) else argument for argument in acting]
        if any(isinstance(argument, ast.Starred) for argument in acting):
            plain = [ast.Call(ast.Name("list"), [one], []) for one in plain]
        return plain[0] if len(plain) == 1 else ast.Tuple(plain)


def _without_mark(node: ast.expr) -> list[ast.expr] | None:
    """What is left of a print's first argument behind the mark (perhaps nothing), or None where it has no mark."""
    match node:
        case ast.Constant(value=str(text)) if (mark := _MARK.match(text)) is not None:
            return [ast.Constant(text[mark.end() :])] if text[mark.end() :] else []
        case ast.JoinedStr(values=[ast.Constant() as first, *others]):
            left = _without_mark(first)
            if left is None:
                return None
            match others:
                case [ast.FormattedValue(value=value, conversion=-1, format_spec=None)] if not left:
                    return [value]
            return [ast.JoinedStr([*left, *others])] if left or others else []
        case ast.BinOp(left=first, op=ast.Add() | ast.Mod() as op, right=right):
            left = _without_mark(first)
            if left is None:
                return None
            return [ast.BinOp(left[0], op, right)] if left else [right]
        case ast.Call(func=ast.Attribute(value=first, attr="format") as func):
            left = _without_mark(first)
            return [ast.Call(ast.Attribute(left[0], func.attr), node.args, node.keywords)] if left else left
    return None


def _is_print(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"


def _acts(node: ast.expr) -> bool:
    """Whether evaluating an argument of a print may do more than look."""
    return any(
        isinstance(inner, _ACTS) or (isinstance(inner, ast.Call) and _called(inner) not in _SAFE_CALLS)
        for inner in ast.walk(node)
    )


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _call_any(statements: Sequence[ast.stmt], tools: Collection[str]) -> bool:
    """Whether the statements name one of the tools."""
    return any(isinstance(node, ast.Name) and node.id in tools for s in statements for node in ast.walk(s))


def _rewritten(program: Program, looks: _Looks) -> Program:
    """The program after `looks`, its text as it stands where nothing changes. As it came where it is not Python."""
    lines = program.source.splitlines(keepends=True)
    text: list[str] = []
    done = 0  # lines that stand in `text`
    for group in _groups(_statements(program.source)):
        first, last = _first_line(group[0]), group[-1].end_lineno or group[-1].lineno
        text += lines[done : first - 1]
        done = last
        before = [ast.dump(statement) for statement in group]
        left = looks.statements(group)
        same = [ast.dump(statement) for statement in left] == before
        text.append("".join(lines[first - 1 : last]) if same else _text(left))
    return Program("".join([*text, *lines[done:]]).rstrip() + "\n")


def _groups(statements: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    """Statements that share a line together, the others alone."""
    groups: list[list[ast.stmt]] = []
    for statement in statements:
        if groups and _first_line(statement) == groups[-1][-1].end_lineno:
            groups[-1].append(statement)
        else:
            groups.append([statement])
    return groups


def _first_line(statement: ast.stmt) -> int:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return min([statement.lineno, *(decorator.lineno for decorator in statement.decorator_list)])
    return statement.lineno


def _text(statements: Sequence[ast.stmt]) -> str:
    return "".join(f"{ast.unparse(ast.fix_missing_locations(statement))}\n" for statement in statements)


def _statements(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
