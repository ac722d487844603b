"""Which keys of its response a call names in its arguments."""

from __future__ import annotations

import ast

from atc.pipeline.check import types as t
from atc.pipeline.check.budget import spend
from atc.pipeline.check.interpreter import Interpreter
from atc.pipeline.check.kinds import constant
from atc.pipeline.check.selection import Selection
from atc.pipeline.check.syntax import times_stored
from protocols.effects.query_arguments import selects_response, shapes_response
from protocols.naming import snake

KeywordArguments = list[tuple[ast.AST, str, ast.expr, t.Type]]
"""Arguments passed by name: the node for findings, the name, the value and the value's type."""

_EVERYTHING = frozenset({"*", "all", "full", "any"})
"""Values of an argument such as `fields` that select everything, also what is not documented."""
_ORDERING = frozenset({"sort", "sorting", "order", "ordering"})
"""Words in the names of arguments whose values name fields only to sort by them."""
_DEEPEST = 8


def find_selection(core: Interpreter, named: KeywordArguments) -> Selection | None:
    """Return what the arguments of a call name, so that the response may have keys of these names.

    Return None if an argument may select anything, because its value is not known or means all.
    """
    found = Selection()
    for _, name, node, value in named:
        known = [_known_texts(value), _written_texts(core, node)]
        texts = [text for one in known for text in one or ()]
        if shapes_response(name):
            added = name.partition("_")[2]
            is_open = known == [None, None] or any(text.lower() in _EVERYTHING for text in texts)
            if is_open and (selects_response(name) or added == "to_response"):
                return None
            is_used = value != t.NONE and constant(value) is not False
            found |= Selection.of([*texts, *([added] if is_used else ())], chooses=True)
        elif not _ORDERING & {*snake(name).split("_")}:
            found |= Selection.of(texts, chooses=False)
    return found


def _known_texts(value: t.Type, depth: int = 0) -> list[str] | None:
    """Return the texts that a value can be, or that are in it. Return None if one is not known.

    They are those that the program writes itself, alone or in a list. Numbers, booleans and None
    have none.
    """
    found: list[str] = []
    for member in t.members(value):
        inner: list[str] | None = []
        match member:
            case t.Atom("str", values=values, listed=False) if values is not None:
                inner = list(values)
            case t.Atom("str"):
                inner = None
            case t.Listing(cell) if depth == 0:
                inner = _known_texts(cell.item, 1)
            case t.Tuple(items) if depth == 0:
                inner = _known_texts(t.join(*items), 1)
            case t.Atom() | t.Null() | t.Extreme("nothing"):
                pass
            case _:
                inner = None
        if inner is None:
            return None
        found += inner
    return found


def _written_texts(core: Interpreter, node: ast.AST, depth: int = 0) -> list[str] | None:
    """Return the texts that an expression is made of: alone, in a list, or joined.

    A variable stands for its value if the program assigns it once, outside of functions. Types do
    not tell the texts of a long list, nor of `",".join(…)`. Return None if a part is not known.
    """
    spend(1)
    parts: list[ast.AST] = []
    match node:
        case ast.Constant(value=value):
            return [value] if isinstance(value, str) else []
        case ast.List() | ast.Tuple() | ast.Set():
            parts = [*node.elts]
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            parts = [left, right]
        case ast.Call(func=ast.Attribute(attr="join"), args=[joined]):
            parts = [joined]
        case ast.Name(id=name) if times_stored(core.module)[name] == 1:
            parts = _assigned_values(core.module, name)
            if not parts:
                return None
        case _:
            return None
    found: list[str] = []
    for part in parts:
        inner = _written_texts(core, part, depth + 1) if depth < _DEEPEST else None
        if inner is None:
            return None
        found += inner
    return found


def _assigned_values(module: ast.Module, name: str) -> list[ast.AST]:
    """Return the expressions that are assigned to a name at the top level of a program."""
    return [
        statement.value
        for statement in module.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and statement.targets[0].id == name
    ]
