"""Extraction of programs from the replies of a language model.

A reply may have been cut, at the limit of tokens or by a broken connection. A program whose end is
missing must not be run: its beginning could do half of the work.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from atc.core.program import Program
from atc.core.source_edits import SourceOffsets, apply_edits
from protocols.schema import loads

_BLOCK = re.compile(r"^[ \t]*```[^\n]*\n(?P<code>.*?)(?P<end>```|\Z)", re.DOTALL | re.MULTILINE)
_CALL = re.compile(r"<(tool_call|function_call)>\s*(.*?)\s*(?:</\1>|\Z)", re.DOTALL)
_CODE_KEYS = ("code", "program", "python", "source", "script")
"""Names of the argument in which a call of a code interpreter has the program."""
_ARGUMENT_KEYS = ("arguments", "parameters", "input")
_SHORTEST_LOOP = 240
"""Minimum number of repeated characters that count as endless repetition. Legitimate repetitions,
such as lines of dashes and rows of zeros, are shorter.
"""
_LEAST_REPEATS = 6
_LONGEST_PERIOD = 200

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
    also close at the end of a line of code, as small models write it. A call of a code interpreter,
    written as JSON, stands for the program in it. Stubs that only repeat the prompt's functions are
    removed.
    """
    calls = [code for _, call in _CALL.findall(reply) if (code := code_in_call(call)) is not None]
    written = [code_in_call(block) or block for block in _find_blocks(reply)]
    texts = [block.strip("\n").rstrip() + "\n" for block in (*calls, *written)]
    blocks = [Program(text) for text in texts if text.strip()]
    if not blocks:
        bare = Program((code_in_call(reply) or reply).strip() + "\n")
        blocks = [bare] if any(map(_does_something, bare.tree.body)) else []
    programs = [program for block in blocks if (program := _without_stubs(block)) is not None]
    return max(
        programs, key=lambda program: (bool(program.tree.body), len(program.source)), default=None
    )


def without_cut_program(reply: str, *, truncated: bool) -> str | None:
    """Return a reply without a program at its end whose end is missing; None if there is none.

    `truncated` is True if the endpoint says that the reply was cut. Otherwise only an open block
    that ends within a bracket, a text or a statement was cut.
    """
    opened = next((block for block in _BLOCK.finditer(reply) if not block["end"]), None)
    if opened is not None:
        is_cut = truncated or _is_unfinished(Program(opened["code"]))
        return reply[: opened.start()].rstrip() if is_cut else None
    if truncated and "```" not in reply and program_in_reply(reply) is not None:
        return ""
    return None


def _is_unfinished(program: Program) -> bool:
    """Return True if Python expects the program to go on after its last line."""
    error = program.parse_error
    if not isinstance(error, SyntaxError):
        return False
    last = len(program.source.rstrip().splitlines())
    if any(words in error.msg for words in ("never closed", "unterminated triple")):
        return True
    ends_early = any(words in error.msg for words in ("unterminated", "expected an indented"))
    return (error.lineno or 0) >= (last if ends_early else last + 1)


def is_repeating(text: str) -> bool:
    """Return True if `text` ends with at least six repetitions of the same piece.

    The piece has at most 200 characters. A small model that has begun to repeat itself does so up
    to the token limit.
    """
    for period in range(1, min(_LONGEST_PERIOD, len(text) // _LEAST_REPEATS) + 1):
        tail = max(_SHORTEST_LOOP, _LEAST_REPEATS * period)
        if (
            len(text) >= tail
            and text[-1] == text[-1 - period]
            and text[-tail:-period] == text[period - tail :]
        ):
            return True
    return False


def code_in_call(text: str) -> str | None:
    """Return the program in a call of a code interpreter that is written as JSON, or None.

    Forms are `{"code": "…"}` and `{"name": "python", "arguments": {"code": "…"}}`. The arguments
    may be a JSON text themselves.
    """
    if not text.lstrip().startswith("{"):
        return None
    try:
        call = loads(text)
    except (ValueError, RecursionError):
        return None
    for _ in range(2):
        if not isinstance(call, dict):
            return None
        for key in _CODE_KEYS:
            if isinstance(call.get(key), str):
                return str(call[key])
        inner = next((call[key] for key in _ARGUMENT_KEYS if key in call), None)
        if isinstance(inner, str):
            return code_in_call(inner)
        call = inner
    return None


def _find_blocks(reply: str) -> list[str]:
    return [block["code"] for block in _BLOCK.finditer(reply)]


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
