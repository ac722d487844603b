"""The program that stands in a model's reply, without what only repeats what it was given.

A small model that sees a function's documentation sometimes answers with it. Such a stub would replace the real
function by one that does nothing; a reply of nothing else is no program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from protocols.parsing import parse

_TYPING = frozenset({"typing", "typing_extensions", "__future__"})


def program_in(reply: str) -> str | None:
    """The source of the program in a reply, or None when there is none.

    The longest fenced block that is Python wins, then the longest block, then the whole reply if it is Python that
    does something. An unclosed fence runs to the end of the reply. What only repeats the given functions is left out.
    """
    fenced = _fenced(reply)
    if fenced:
        blocks = [block for one in fenced if (block := without_restated(one)) is not None]
        return max(blocks, key=lambda block: (bool(_statements(block)), len(block)), default=None)
    bare = reply.strip()
    if any(not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call) for node in _statements(bare)):
        return without_restated(bare + "\n")
    return None


def _fenced(reply: str) -> list[str]:
    blocks: list[list[str]] = []
    inside = False
    for line in reply.splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
            if inside:
                blocks.append([])
        elif inside:
            code, closing, _ = line.partition("```")  # a fence glued to the last line, as small models write it
            blocks[-1].append(code)
            inside = not closing
    texts = ["\n".join(lines).strip("\n").rstrip() + "\n" for lines in blocks]
    return [text for text in texts if text.strip()]


def _statements(source: str) -> list[ast.stmt]:
    try:
        return parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def without_restated(source: str) -> str | None:
    """`source` without such definitions; None where they and imports are all that there is.

    As it came where it is no Python, and where there are none.
    """
    body = _statements(source)
    dropped = _restated(body)
    if not dropped:
        return source
    left = [node for node in body if node not in dropped]
    used = _names(left)
    dropped += [node for node in left if isinstance(node, ast.ImportFrom) and _only_typing(node, used)]
    left = [node for node in left if node not in dropped]
    if all(isinstance(node, ast.Import | ast.ImportFrom) or _is_constant(node) for node in left):
        return None
    others = {line for node in left for line in (node.lineno, node.end_lineno)}
    gone = {line for node in dropped if not others & set(_lines(node)) for line in _lines(node)}
    kept = [line for number, line in enumerate(source.splitlines(keepends=True), start=1) if number not in gone]
    return "".join(kept).lstrip("\n")


def _restated(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Functions without a body, and shapes that nothing else in the program names."""
    stubs = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_stub(node)]
    shapes = {node: name for node in body if (name := _shape_name(node)) is not None}
    kept = [node for node in body if node not in stubs and node not in shapes]
    while needed := [node for node, name in shapes.items() if name in _names(kept)]:  # by a kept one, so it is kept too
        kept += needed
        shapes = {node: name for node, name in shapes.items() if node not in needed}
    return [*stubs, *shapes]


def _is_stub(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function does nothing at all: its body is a docstring or `...`."""
    return all(_is_constant(statement) for statement in node.body)


def _shape_name(node: ast.stmt) -> str | None:
    """The name of a TypedDict that a statement declares."""
    match node:
        case ast.ClassDef(name=name, bases=[base, *_]) if _is_typed_dict(base):
            return name
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=called)) if _is_typed_dict(called):
            return name
    return None


def _is_typed_dict(node: ast.expr) -> bool:
    return (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) == "TypedDict"


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _only_typing(node: ast.ImportFrom, used: frozenset[str]) -> bool:
    return node.module in _TYPING and not any((alias.asname or alias.name) in used for alias in node.names)


def _names(nodes: Iterable[ast.stmt]) -> frozenset[str]:
    return frozenset(n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name))


def _lines(node: ast.stmt) -> range:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return range(first, (node.end_lineno or node.lineno) + 1)
