"""Programs in the replies of a language model."""

from __future__ import annotations

import ast
import re

from atc.core.source_edits import SourceOffsets, apply_edits
from atc.core.types import Program
from protocols.python_source import parse_python_or_none

_BLOCK = re.compile(r"^[ \t]*```[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL | re.MULTILINE)


def program_in_reply(reply: str) -> Program | None:
    """Return the program in a reply, without stubs that only repeat the given functions; None if
    there is none.

    The longest fenced block that is Python is taken, else the longest block, else the whole reply
    if it is Python that does something. An unclosed fence ends with the reply. A fence may also
    close at the end of a line of code, as small models write it.
    """
    blocks = [
        text
        for block in _BLOCK.findall(reply)
        if (text := block.strip("\n").rstrip() + "\n").strip()
    ]
    if not blocks:
        bare = reply.strip() + "\n"
        does = any(
            not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call)
            for node in _statements(bare)
        )
        blocks = [bare] if does else []
    sources = [source for block in blocks if (source := _without_stubs(block)) is not None]
    longest = max(
        sources, key=lambda source: (bool(_statements(source)), len(source)), default=None
    )
    return Program(longest) if longest is not None else None


def _statements(source: str) -> list[ast.stmt]:
    tree = parse_python_or_none(source)
    return tree.body if tree is not None else []


def _without_stubs(source: str) -> str | None:
    """Return `source` without functions that do nothing; None if only imports and type definitions
    are left.

    A small model that sees a function's documentation sometimes answers with it. Such a stub would
    replace the real function. A source that is no Python, or has no such functions, is returned
    unchanged.
    """
    body = _statements(source)
    functions = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    stubs = [
        node for node in functions if all(map(_is_constant, node.body))
    ]  # a docstring or `...`
    if not stubs:
        return source
    left = [node for node in body if node not in stubs]
    imports = (ast.Import, ast.ImportFrom)
    if all(
        isinstance(node, imports) or _is_constant(node) or "TypedDict" in ast.unparse(node)
        for node in left
    ):
        return None
    place = SourceOffsets(source)
    return apply_edits(
        Program(source), [place.replacement(node, "") for node in stubs]
    ).source.lstrip("\n")


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
