"""A program that grows: each piece is executed behind those before it, whose calls the journal answers.

There is no live session. What earlier pieces print is printed again by every execution, and cut off from what is shown.
The finished program prints its answer and nothing else, as a program that is written at once does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass, field

from atc.core.types import ANSWERING, Program
from protocols.python_source import parse_python_or_none
from sandbox.journal import Journal
from sandbox.trace import ToolCall, Trace

_HEAD = f"{ANSWERING} = print\ndef print(*_, **__): pass  # only the answer is printed\n"
FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)
_MARKED = re.compile(
    r"""\bprint\(\s*(?:(?P<quote>['"])\s*(?:final\s+)?answer\s*:\s*(?P=quote)\s*,\s*"""
    r"""|(?P<text>f?['"])\s*(?:final\s+)?answer\s*:\s*)""",
    re.IGNORECASE,
)
"""`print("ANSWER:", …` and `print("ANSWER: …`: what a model writes to give its answer."""


@dataclass
class GrowingProgram:
    """The pieces that stand, as one program. `issued` are its calls, `printed` what it prints."""

    journal: Journal
    program: Program = field(default_factory=lambda: Program(""))
    issued: tuple[ToolCall, ...] = ()
    printed: str = ""

    def with_piece(self, piece: Program) -> Program:
        """The program with the piece behind it."""
        before = self.program.source.rstrip()
        return Program(f"{before}\n\n{piece.source}" if before else piece.source)

    def preanswer_calls(self, calls: tuple[ToolCall, ...] | None = None) -> None:
        """Let the next execution make the program's calls (or these) first: the journal answers them."""
        self.journal.preanswered = self.issued if calls is None else calls

    def last_output(self, trace: Trace) -> str:
        """What the last piece printed."""
        if trace.stdout.startswith(self.printed):
            return trace.stdout[len(self.printed) :]
        return "".join(trace.stdout.splitlines(keepends=True)[len(self.printed.splitlines()) :])

    def take(self, program: Program, trace: Trace) -> None:
        """Let `program`, which left `trace`, stand."""
        self.program = program
        self.issued = trace.calls
        self.printed = trace.stdout


def to_finished_program(program: Program) -> Program | None:
    """The program that prints its bare answer alone; None where it has no `print("ANSWER:", …)`."""
    source, found = _MARKED.subn(lambda mark: f"{ANSWERING}({mark['text'] or ''}", program.source)
    return Program(_HEAD + source) if found else None


def first_block(reply: str) -> str:
    """A reply up to the end of its first fenced block: some models go on with an output and blocks of their own."""
    fence = FENCE.search(reply)
    closing = reply.find("```", fence.end()) if fence is not None else -1
    return reply if closing < 0 else reply[: closing + 3]


def build_answer_program(program: Program, answer: str) -> Program:
    """The program that prints this answer alone."""
    return Program(
        f"{_HEAD}{program.source.rstrip()}\n{ANSWERING}({answer!r})\n".replace("\n\n\n", "\n\n")
    )


def to_unfinished_program(program: Program) -> Program:
    """A finished program whose answer does not count, with its prints as they were."""
    return Program(program.source.removeprefix(_HEAD).replace(f"{ANSWERING}(", "print("))


def new_lines(
    before: Program, piece: Program, tools: Collection[str], writing: Collection[str]
) -> Program | None:
    """The piece without the lines of the program before it that it restates; None where nothing is left.

    A program that began anew would make its calls a second time. A piece restates the program when it begins with all
    of it, or with its beginning up to a call of a tool of `writing`. Prints that call none of `tools` do not count.
    """
    known = [
        ast.dump(statement)
        for statement in _statements(before)
        if not _is_plain_print(statement, tools)
    ]
    body = _statements(piece)
    last = 0
    for number, statement in enumerate(body, start=1):
        if not _is_plain_print(statement, tools):
            if known[:1] != [ast.dump(statement)]:
                break
            last = number
            del known[0]
    if not last or (
        known and not any(_names(statement) & set(writing) for statement in body[:last])
    ):
        return piece
    rest = [ast.unparse(statement) for statement in body[last:]]
    return Program("".join(f"{statement}\n" for statement in rest)) if rest else None


def _is_plain_print(statement: ast.stmt, tools: Collection[str]) -> bool:
    """Whether a statement is a print that calls no tool."""
    return ast.unparse(statement).startswith("print(") and not _names(statement) & set(tools)


def _names(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _statements(program: Program) -> list[ast.stmt]:
    tree = parse_python_or_none(program.source)
    return tree.body if tree is not None else []
