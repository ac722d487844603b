"""Extraction of programs from the replies of a language model."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from atc.core.source_edits import SourceOffsets, apply_edits
from atc.core.types import Program

_BLOCK = re.compile(r"^[ \t]*```[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL | re.MULTILINE)


_SAME = re.compile(r"\W*(?:python\b)?\W*same\W*", re.IGNORECASE)
_LONGEST_SAME = 100
"""Maximum number of characters of a reply that says SAME, with fences and marks around it."""


def says_same(reply: str) -> bool:
    """Return True if a reply is the one word SAME, with which a model keeps its last program."""
    return len(reply) <= _LONGEST_SAME and _SAME.fullmatch(reply) is not None


@lru_cache(maxsize=8)  # the redactor and the strategy read the same reply
def program_in_reply(reply: str) -> Program | None:
    """Return the program in a reply of the model, or None if the reply contains none.

    The program is the longest fenced block that is Python, else the longest block, else the whole
    reply if it is Python that does something. An unclosed block ends with the reply. A fence may
    also close at the end of a line of code, as small models write it. Stubs that only repeat the
    prompt's functions are removed.
    """
    texts = [block.strip("\n").rstrip() + "\n" for block in _BLOCK.findall(reply)]
    blocks = [Program(text) for text in texts if text.strip()]
    if not blocks:
        bare = Program(reply.strip() + "\n")
        blocks = [bare] if any(map(_does_something, bare.tree.body)) else []
    programs = [program for block in blocks if (program := _without_stubs(block)) is not None]
    return max(
        programs, key=lambda program: (bool(program.tree.body), len(program.source)), default=None
    )


def _does_something(node: ast.stmt) -> bool:
    """Return True if a statement does something.

    Only an expression that calls nothing, such as a single word, does nothing.
    """
    return not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call)


def _without_stubs(program: Program) -> Program | None:
    """Return the program without stubs, that is, functions that do nothing.

    A small model that sees a function's documentation sometimes repeats it as a stub, which would
    replace the real function. Return None if the rest of the program is only imports and type
    definitions. A program that is not Python, or has no stubs, is returned unchanged.
    """
    body = program.tree.body
    functions = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    # The body of a stub is a docstring or `...`.
    stubs = [node for node in functions if all(map(_is_constant, node.body))]
    if not stubs:
        return program
    if all(map(_is_preamble, (node for node in body if node not in stubs))):
        return None
    offsets = SourceOffsets(program.source)
    edited = apply_edits(program, [offsets.replacement(node, "") for node in stubs])
    return Program(edited.source.lstrip("\n"))


def _is_preamble(node: ast.stmt) -> bool:
    """Return True if a statement is an import, a constant such as a docstring, or a TypedDict.

    Such statements alone do nothing for a task.
    """
    is_import = isinstance(node, ast.Import | ast.ImportFrom)
    return is_import or _is_constant(node) or "TypedDict" in ast.unparse(node)


def _is_constant(node: ast.stmt) -> bool:
    """Return True if a statement is only a constant, such as a docstring or `...`."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
