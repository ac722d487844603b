"""The program that stands in a model's reply."""

from __future__ import annotations

import ast

from protocols.parsing import parse
from sandbox.restated import without_restated


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
