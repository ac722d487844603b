"""A program that grows: the piece in a reply, what of it is new, and whether it may give the answer."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence

from atc.strategies.programs.prints import Looks, defined, finished, first_line, statements_of, text_of
from atc.types import Program

_SPOKEN = re.compile(r"^[^\w\n]*(?:final\s+)?answer\s*:[\s*_`]*(?P<answer>\S.*)$", re.IGNORECASE | re.MULTILINE)


def next_piece(reply: str) -> str:
    """The reply up to the end of its first fenced block: some models go on with an output and pieces of their own.

    An answer in words, in a reply without a program (`ANSWER: 5`), becomes the piece that prints it.
    """
    lines: list[str] = []
    inside = False
    for line in reply.splitlines():
        lines.append(line)
        if inside and "```" in line:
            break
        inside = inside or line.lstrip().startswith("```")
    if not inside and (spoken := _SPOKEN.search(reply)):
        answer = spoken["answer"].rstrip(" \t\r*_`")
        return f"```python\nprint('ANSWER:', {answer!r})\n```"
    return "\n".join(lines)


def new_lines(kept: Program, piece: Program, writing: Collection[str]) -> Program | None:
    """The piece without the lines of the program that it restates; None where nothing is left.

    A program that began anew would make its calls a second time. A piece restates the program when it begins with all
    of it and goes on, or repeats several statements; or when it begins as the program does, up to one that calls a
    tool of `writing`. A single reading statement may be meant: its tool may answer otherwise now.
    """
    before, body = Looks().statements(statements_of(kept.source)), statements_of(piece.source)
    known = [ast.dump(statement) for statement in before]
    again = last = 0  # statements of the program that stand in the piece, and of the piece that are those
    for number, statement in enumerate(statements_of(piece.source), start=1):
        quiet = [ast.dump(left) for left in Looks().statements([statement])]
        if known[again : again + len(quiet)] != quiet:
            break
        if quiet:
            again, last = again + len(quiet), number
    whole = 0 < again == len(known) and (last < len(body) or again > 1)
    if not whole and not _call_any(before[:again], writing):
        return piece
    rest = body[last:]
    if not rest:
        return None
    end = body[last - 1].end_lineno or 0
    if first_line(rest[0]) == end:
        return Program(text_of(rest))
    return Program("".join(piece.source.splitlines(keepends=True)[end:]))


def grown(kept: Program, piece: Program) -> Program:
    """The program with the piece behind it."""
    return Program(f"{kept.source.rstrip()}\n\n{piece.source}" if kept.source.strip() else piece.source)


def may_answer(kept: Program, piece: Program) -> bool:
    """Whether a piece behind the program may print an answer: itself, or by calling a function."""
    functions = {defined(statement) for statement in statements_of(kept.source)}
    named = {node.id for s in statements_of(piece.source) for node in ast.walk(s) if isinstance(node, ast.Name)}
    return finished(piece) is not None or bool(functions & named)


def _call_any(statements: Sequence[ast.stmt], tools: Collection[str]) -> bool:
    """Whether the statements name one of the tools."""
    return any(isinstance(node, ast.Name) and node.id in tools for s in statements for node in ast.walk(s))
