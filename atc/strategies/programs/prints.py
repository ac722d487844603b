"""Prints of a program that grows: a program without those that only looked, and one that prints its answer alone.

A kept piece loses its prints: they were for the model, which has read them. So what an execution prints is the new
piece's output alone, and a finished program prints its answer and nothing else, as a program written at once does.
What a function prints is for those who call it, later pieces too: it is silent for the calls that were made.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from typing import Any

from atc.types import Program
from protocols.parsing import parse

_MARK = re.compile(r"\s*(?:final\s+)?answer\s*:\s*", re.IGNORECASE)
_SAFE_CALLS = frozenset(
    {"len", "type", "str", "repr", "round", "abs", "int", "float", "bool", "isinstance"}  # functions
    | {"get", "keys", "values", "items", "dumps", "upper", "lower", "strip"}  # methods
)
"""Calls in a print that do nothing but look: their print goes whole. Of others, the call stays."""
_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_ACTS = (ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Starred, *_COMPREHENSIONS)
"""What may change something, an iterator that is used up included."""


def quiet(program: Program) -> Program:
    """The program without its prints. Calls in their arguments are still made, and in the same order.

    A function that prints keeps its prints where none was called yet; else it is silent, and defined anew at the end.
    """
    loud, called = _functions(program)
    if not called:
        return _rewritten(program, Looks(spared=loud))
    silent = _rewritten(program, Looks())
    return Program("\n".join([silent.source, *(f"{text}\n" for text in loud.values())]))


def finished(program: Program) -> Program | None:
    """The program that prints the bare answer and nothing else; None where it has no `print("ANSWER:", …)`."""
    looks = Looks(answers=True)
    result = _rewritten(program, looks)
    return result if looks.answered else None


class Looks(ast.NodeTransformer):
    """Takes prints out of a syntax tree; with `answers`, all but those of the answer, which lose their mark.

    Functions that are `spared` stay as they are; one that is defined again as it stands is left out.
    """

    def __init__(self, *, answers: bool = False, spared: Collection[str] = ()) -> None:
        self._answers, self._spared = answers, spared
        self._standing: dict[str, str] = {}  # functions as they were defined last
        self._follows = False  # the mark was printed alone: what is printed next is the answer
        self.answered = False

    def statements(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements that are left of some, which follow those that were given before."""
        left: list[ast.stmt] = []
        for statement in body:
            name = defined(statement)
            kept = statement if name in self._spared else self.visit(statement)
            if kept is None or (name is not None and self._standing.get(name) == ast.dump(kept)):
                continue
            left.append(kept)
            for changed in _stored(statement):
                self._standing.pop(changed, None)
            if name is not None:
                self._standing[name] = ast.dump(kept)
        return left

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


def _functions(program: Program) -> tuple[dict[str, str], bool]:
    """The functions that print, with their text, as they stand at the end; and whether any function was called."""
    loud: dict[str, str] = {}
    functions: set[str] = set()
    named: set[str] = set()
    for statement in statements_of(program.source):
        name = defined(statement)
        for changed in _stored(statement):
            loud.pop(changed, None)
        if name is None:
            named |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            continue
        functions.add(name)
        if any(isinstance(node, ast.Call) and _is_print(node) for node in ast.walk(statement)):
            loud[name] = ast.get_source_segment(program.source, statement) or ast.unparse(statement)
    return loud, bool(named & functions)


def defined(statement: ast.stmt) -> str | None:
    """The function that a statement defines and does nothing besides; None of one that a decorator or default calls."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            besides = [*statement.decorator_list, *statement.args.defaults, *filter(None, statement.args.kw_defaults)]
            return None if any(map(_acts, besides)) or statement.decorator_list else statement.name
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda(args=arguments)):
            return None if any(map(_acts, [*arguments.defaults, *filter(None, arguments.kw_defaults)])) else name
    return None


def _stored(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value, functions and classes included."""
    nodes = list(ast.walk(statement))
    named = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return named | {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


def _rewritten(program: Program, looks: Looks) -> Program:
    """The program after `looks`, its text as it stands where nothing changes. As it came where it is not Python."""
    lines = program.source.splitlines(keepends=True)
    text: list[str] = []
    done = 0  # lines that stand in `text`
    for group in _groups(statements_of(program.source)):
        first, last = first_line(group[0]), group[-1].end_lineno or group[-1].lineno
        text += lines[done : first - 1]
        done = last
        before = [ast.dump(statement) for statement in group]
        left = looks.statements(group)
        same = [ast.dump(statement) for statement in left] == before
        text.append("".join(lines[first - 1 : last]) if same else text_of(left))
    return Program("".join([*text, *lines[done:]]).rstrip() + "\n")


def _groups(statements: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    """Statements that share a line together, the others alone."""
    groups: list[list[ast.stmt]] = []
    for statement in statements:
        if groups and first_line(statement) == groups[-1][-1].end_lineno:
            groups[-1].append(statement)
        else:
            groups.append([statement])
    return groups


def first_line(statement: ast.stmt) -> int:
    """The line on which a statement begins, its decorators included."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return min([statement.lineno, *(decorator.lineno for decorator in statement.decorator_list)])
    return statement.lineno


def text_of(statements: Sequence[ast.stmt]) -> str:
    """Statements as text, without the comments and the spelling that they had."""
    return "".join(f"{ast.unparse(ast.fix_missing_locations(statement))}\n" for statement in statements)


def statements_of(source: str) -> list[ast.stmt]:
    """The statements of a program; none where it is not Python."""
    try:
        return parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
