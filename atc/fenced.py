"""The program that stands in a model's reply, without what only repeats what it was given.

A small model that sees a function's documentation sometimes answers with it. Such a stub would replace the real
function by one that does nothing; a reply of nothing else is no program.
"""

from __future__ import annotations

import ast
import re

from protocols.parsing import parsed

_BLOCK = re.compile(r"^[ \t]*```[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL | re.MULTILINE)


def program_in(reply: str) -> str | None:
    """The source of the program in a reply, or None when there is none.

    The longest fenced block that is Python wins, then the longest block, then the whole reply if it is Python that
    does something. An unclosed fence runs to the end of the reply. What only repeats the given functions is left out.
    """
    fenced = _fenced(reply)
    if fenced:
        blocks = [block for one in fenced if (block := _without_stubs(one)) is not None]
        return max(blocks, key=lambda block: (bool(_statements(block)), len(block)), default=None)
    bare = reply.strip()
    if any(not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call) for node in _statements(bare)):
        return _without_stubs(bare + "\n")
    return None


def _fenced(reply: str) -> list[str]:
    """The blocks that hold anything. A fence may close at the end of a line of code, as small models write it."""
    texts = (block.strip("\n").rstrip() + "\n" for block in _BLOCK.findall(reply))
    return [text for text in texts if text.strip()]


def _statements(source: str) -> list[ast.stmt]:
    tree = parsed(source)
    return tree.body if tree is not None else []


def _without_stubs(source: str) -> str | None:
    """`source` without functions that do nothing; None where only imports and shapes are left of it.

    As it came where it is no Python, and where there are none.
    """
    body = _statements(source)
    stubs = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_stub(node)]
    if not stubs:
        return source
    left = [node for node in body if node not in stubs]
    imports = (ast.Import, ast.ImportFrom)
    if all(isinstance(node, imports) or _is_constant(node) or "TypedDict" in ast.unparse(node) for node in left):
        return None
    others = {line for node in left for line in (node.lineno, node.end_lineno)}
    gone = {line for node in stubs if not others & set(_lines(node)) for line in _lines(node)}
    kept = [line for number, line in enumerate(source.splitlines(keepends=True), start=1) if number not in gone]
    return "".join(kept).lstrip("\n")


def _is_stub(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function does nothing at all: its body is a docstring or `...`."""
    return all(_is_constant(statement) for statement in node.body)


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
