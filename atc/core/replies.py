"""Programs in the replies of a language model."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from atc.core.source_edits import SourceOffsets, apply_edits
from atc.core.types import Program

_BLOCK = re.compile(r"^[ \t]*```[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL | re.MULTILINE)


@lru_cache(maxsize=8)  # the redactor and the strategy read the same reply
def program_in_reply(reply: str) -> Program | None:
    """Return the program in a reply, without stubs that only repeat the given functions; None if
    there is none.

    The longest fenced block that is Python is taken, else the longest block, else the whole reply
    if it is Python that does something. An unclosed fence ends with the reply. A fence may also
    close at the end of a line of code, as small models write it.
    """
    texts = [block.strip("\n").rstrip() + "\n" for block in _BLOCK.findall(reply)]
    blocks = [Program(text) for text in texts if text.strip()]
    if not blocks:
        bare = Program(reply.strip() + "\n")
        does = any(
            not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call)
            for node in bare.tree.body
        )
        blocks = [bare] if does else []
    programs = [program for block in blocks if (program := _without_stubs(block)) is not None]
    return max(
        programs, key=lambda program: (bool(program.tree.body), len(program.source)), default=None
    )


def _without_stubs(program: Program) -> Program | None:
    """Return the program without functions that do nothing; None if only imports and type
    definitions are left.

    A small model that sees a function's documentation sometimes answers with it. Such a stub would
    replace the real function. A program that is no Python, or has no such functions, is returned
    unchanged.
    """
    body = program.tree.body
    functions = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    stubs = [
        node for node in functions if all(map(_is_constant, node.body))
    ]  # a docstring or `...`
    if not stubs:
        return program
    left = [node for node in body if node not in stubs]
    imports = (ast.Import, ast.ImportFrom)
    if all(
        isinstance(node, imports) or _is_constant(node) or "TypedDict" in ast.unparse(node)
        for node in left
    ):
        return None
    place = SourceOffsets(program.source)
    edited = apply_edits(program, [place.replacement(node, "") for node in stubs])
    return Program(edited.source.lstrip("\n"))


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
