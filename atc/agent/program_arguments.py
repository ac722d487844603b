"""The arguments of a program that a caller wrote: variables that the program reads.

They are assigned at the beginning of the program, without a new line. So the lines of the program
keep their numbers, and whoever checks, stores, repeats or exports it sees the values.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import NamedTuple

from atc.core.messages import format_list
from atc.core.program import Program, ProgramTooLong
from atc.core.task import InvalidTask, TaskContext, read_context
from atc.pipeline.check.names import PREDEFINED_NAMES
from atc.pipeline.check.syntax import names_bound_by, own_nodes
from protocols.naming import identifier
from protocols.schema import JsonObject
from protocols.toolbox import Toolbox

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
"""One line of a program, as Python counts them."""
_FREE_LINE = re.compile(r"[ \t\f]*(#.*)?[\r\n]*", re.DOTALL)
"""A line that is empty or has only a comment."""
_MOST_NAMED = 5


class _Edit(NamedTuple):
    """A text that is inserted into the line with this number, at a column in bytes."""

    line: int
    column: int
    text: str


def place_arguments(source: str, arguments: JsonObject, tools: Toolbox) -> str:
    """Return a program that begins with an assignment for each of its arguments.

    All lines of `source` keep their numbers. If `source` is not Python, it is returned unchanged,
    so that the check reports the error.

    Raises:
        InvalidTask: A name cannot be an argument of this program, there is no place for the
            assignments, or the program is too long with them.
    """
    _check_names(arguments, tools)
    program = Program(source)
    if not arguments or program.parse_error is not None:
        return source
    _check_variables(program, arguments, tools)
    lines = _LINE.findall(source)
    edits = _find_place(program.tree.body, lines, arguments)
    for line, column, text in sorted(edits, reverse=True):
        whole = lines[line - 1].encode("utf-8", "surrogatepass")
        changed = whole[:column] + text.encode("utf-8", "surrogatepass") + whole[column:]
        lines[line - 1] = changed.decode("utf-8", "surrogatepass")
    placed = "".join(lines)
    error = Program(placed).parse_error
    if isinstance(error, ProgramTooLong):
        raise InvalidTask(f"with its arguments the program is too long: {error}.")
    if not edits or error is not None:
        raise InvalidTask(
            "there is no place for the program's arguments before its first statement: put an"
            " empty line or a comment at the top of the program."
        )
    return placed


def program_context(
    arguments: JsonObject | None,
    now: datetime | date | str | None,
    *,
    names_program: bool,
    continues: str | None,
) -> TaskContext:
    """Return the context of a run whose program the caller wrote.

    `names_program` is that of `TaskContext`. `continues` is the id of the run that goes on, or
    None.

    Raises:
        InvalidTask: `now` is no date, or there are arguments for a run that has its own already.
    """
    if arguments and continues is not None:
        raise InvalidTask(
            "a run that continues has its arguments already: write other values into the program."
        )
    given = dict(arguments or {})
    return replace(read_context(now=now), arguments=given, names_program=names_program)


def _check_names(arguments: JsonObject, tools: Toolbox) -> None:
    """Check that each name can be that of a variable, and is not taken.

    Raises:
        InvalidTask: A name cannot, or is that of a tool or of a function of Python.
    """
    for name in arguments:
        if identifier(name) != name:
            raise InvalidTask(
                f"argument {name!r}: this is no name for a variable; {identifier(name)!r} would be"
                " one."
            )
        if name in tools or name in PREDEFINED_NAMES:
            kind = "tool" if name in tools else "function of Python"
            raise InvalidTask(
                f"argument {name!r}: this is the name of a {kind}; choose another name for the"
                " argument, and for the variable in the program."
            )


def _check_variables(program: Program, arguments: JsonObject, tools: Toolbox) -> None:
    """Check that each argument is a variable that the program reads and does not set itself.

    Raises:
        InvalidTask: An argument is not.
    """
    read = _free_variables(program)
    for name in arguments:
        if (line := _line_that_sets(program.tree, name)) is not None:
            raise InvalidTask(
                f"argument {name!r}: the program sets this variable itself on line {line}; remove"
                " that, or leave the argument out."
            )
        if name not in read:
            expected = [one for one in read if one not in tools and one not in PREDEFINED_NAMES]
            shown = format_list(sorted(expected)[:_MOST_NAMED]) if expected else "none"
            raise InvalidTask(
                f"argument {name!r}: the program reads no variable {name!r}; those that it expects:"
                f" {shown}."
            )


def _free_variables(program: Program) -> set[str]:
    """Return the names of the module that the program reads but does not set."""
    tables = [symtable.symtable(program.source, "<program>", "exec")]
    read: set[str] = set()
    for table in tables:
        tables += table.get_children()
        is_module = table.get_type() == "module"
        read.update(
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (is_module or symbol.is_global())
        )
    return {name for name in read if _line_that_sets(program.tree, name) is None}


def _line_that_sets(tree: ast.Module, name: str) -> int | None:
    """Return the first line on which the module sets a variable, or None if it does not."""
    nodes = own_nodes(tree)
    # `city: str` alone sets nothing: it says that the program expects `city`.
    declared = {
        id(node.target) for node in nodes if isinstance(node, ast.AnnAssign) and node.value is None
    }
    lines = [
        getattr(node, "lineno", 1)
        for node in nodes
        if name in names_bound_by(node) and id(node) not in declared
    ]
    return min(lines, default=None)


def _find_place(
    body: Sequence[ast.stmt], lines: Sequence[str], arguments: JsonObject
) -> list[_Edit]:
    """Return the insertions that assign the arguments before a statement that may read them.

    The assignments stand on an empty line or before a comment, else before the first statement, or
    within the expression with which a block begins. The result is empty if there is no such place.
    """
    assigned = "; ".join(f"{name} = {value!r}" for name, value in arguments.items())
    end = 0 if body[0].lineno == 1 or body[0].col_offset == 0 else body[0].lineno - 1
    for node in body:
        decorators = getattr(node, "decorator_list", ())
        first = min([node.lineno, *(one.lineno for one in decorators)])
        free = [n for n in range(end + 1, first) if _FREE_LINE.fullmatch(lines[n - 1])]
        if free:
            gap = "  " if lines[free[0] - 1].strip() else ""
            return [_Edit(free[0], 0, f"{assigned}{gap}")]
        if not _can_come_first(node, arguments):
            return _place_before(node, lines, arguments, f"{assigned}; ")
        end = node.end_lineno or end
    return []


def _place_before(
    node: ast.stmt, lines: Sequence[str], arguments: JsonObject, assigned: str
) -> list[_Edit]:
    """Return the insertions that assign the arguments at the beginning of a statement.

    `assigned` are the assignments as text before a simple statement. A block begins with an
    expression, in which they are written as `(city := 'LGA', (…))[-1]`.
    """
    match node:
        case ast.For(iter=head) | ast.AsyncFor(iter=head) | ast.Match(subject=head):
            pass
        case ast.If(test=head) | ast.While(test=head):
            pass
        case ast.With(items=[ast.withitem(context_expr=head), *_]):
            pass
        case ast.AsyncWith(items=[ast.withitem(context_expr=head), *_]):
            pass
        case ast.Try(body=body) | ast.TryStar(body=body):
            return _find_place(body, lines, arguments)
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return []
        case _:
            return [_Edit(node.lineno, node.col_offset, assigned)]
    values = ", ".join(f"{name} := {value!r}" for name, value in arguments.items())
    return [
        _Edit(head.lineno, head.col_offset, f"({values}, ("),
        _Edit(head.end_lineno or 0, head.end_col_offset or 0, "))[-1]"),
    ]


def _can_come_first(node: ast.stmt, arguments: JsonObject) -> bool:
    """Return True if a statement reads no argument when it is executed.

    Such are a docstring, an import from `__future__`, which must be the first statement, and the
    definition of a function.
    """
    match node:
        case ast.Expr(value=ast.Constant(value=str())) | ast.ImportFrom(module="__future__"):
            return True
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            parts = [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]
            names = (inner for part in parts for inner in ast.walk(part))
            return not any(isinstance(one, ast.Name) and one.id in arguments for one in names)
    return False
