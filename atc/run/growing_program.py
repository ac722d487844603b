"""A growing program: each new piece is executed after all earlier ones, as one program.

There is no live session. The calls of earlier pieces are not sent again: the run's journal, which
records every call, returns their stored responses. Their output is repeated, and cut off before
the new output is shown; or they print nothing, see `with_silent_beginning`. The finished program
prints only its answer, like a program that is written at once.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass, field

from atc.core.answer_print import HEAD, PRINT_ANSWER, PRINTS_AGAIN
from atc.core.program import Program
from sandbox.journal import Journal
from sandbox.trace import ToolCall, Trace

FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)
_MARKED = re.compile(
    r"""\bprint\(\s*(?:(?P<quote>['"])\s*(?:final\s+)?answer\s*:\s*(?P=quote)\s*,\s*"""
    r"""|(?P<text>f?['"])\s*(?:final\s+)?answer\s*:\s*)""",
    re.IGNORECASE,
)
"""`print("ANSWER:", …` and `print("ANSWER: …`, the ways in which a model gives its answer."""


@dataclass
class GrowingProgram:
    """The program that consists of all pieces that were accepted so far.

    `issued` are the calls of its last execution, `printed` is what it printed then, and
    `looked` the number of values that it looked at.
    """

    journal: Journal
    program: Program = field(default_factory=lambda: Program(""))
    issued: tuple[ToolCall, ...] = ()
    printed: str = ""
    looked: int = 0

    def with_piece(self, piece: Program) -> Program:
        """Return the program followed by the source of a new piece. Nothing is changed."""
        before = self.program.source.rstrip()
        return Program(f"{before}\n\n{piece.source}") if before else piece

    def with_silent_beginning(self, piece: Program) -> Program:
        """Return the program followed by the piece, where only the piece prints.

        An earlier piece that failed is executed again. If it succeeds this time, it may print more
        than before. This output must not be taken for that of the new piece.
        """
        before = self.program.source.rstrip()
        return Program(f"{HEAD}{before}\n\n{PRINTS_AGAIN}{piece.source}") if before else piece

    def preanswer_calls(self, calls: tuple[ToolCall, ...] | None = None) -> None:
        """Tell the run's journal which calls the next execution will repeat.

        The journal records all calls of a run. It answers repeated calls with their recorded
        responses instead of sending them again. The repeated calls are `calls` or, if it is None,
        the calls of the program so far.
        """
        self.journal.preanswered = self.issued if calls is None else calls

    def last_output(self, trace: Trace) -> str:
        """Return what the last piece printed, and then the values that it looked at, a line each.

        What earlier pieces printed and looked at is left out.
        """
        looked = "".join(f"{value!r}\n" for value in trace.looked[self.looked :])
        if trace.stdout.startswith(self.printed):
            return trace.stdout[len(self.printed) :] + looked
        lines = trace.stdout.splitlines(keepends=True)[len(self.printed.splitlines()) :]
        return "".join(lines) + looked

    def take(self, program: Program, trace: Trace) -> None:
        """Replace the program by `program`, and remember its calls and output from `trace`."""
        self.program = program
        self.issued = trace.calls
        self.printed = trace.stdout
        self.looked = len(trace.looked)


def to_finished_program(program: Program) -> Program | None:
    """Return the program changed so that it prints only its answer.

    Return None if the program has no `print("ANSWER:", …)`, with which it would print the answer.
    """
    source, found = _MARKED.subn(
        lambda mark: f"{PRINT_ANSWER}({mark['text'] or ''}", program.source
    )
    return Program(HEAD + source) if found else None


def first_block(reply: str) -> str:
    """Return a reply up to the end of its first fenced block.

    Some models continue with invented output and further blocks.
    """
    fence = FENCE.search(reply)
    closing = reply.find("```", fence.end()) if fence is not None else -1
    return reply if closing < 0 else reply[: closing + 3]


def build_answer_program(program: Program, answer: str) -> Program:
    """Return the program with all prints disabled, and a last line that prints `answer`."""
    return Program(
        f"{HEAD}{program.source.rstrip()}\n{PRINT_ANSWER}({answer!r})\n".replace("\n\n\n", "\n\n")
    )


def to_unfinished_program(program: Program) -> Program:
    """Enable the prints again that `to_finished_program` disabled.

    This is done if the answer that the program gave does not count.
    """
    return Program(program.source.removeprefix(HEAD).replace(f"{PRINT_ANSWER}(", "print("))


def new_lines(
    before: Program, piece: Program, tools: Collection[str], writing: Collection[str]
) -> Program | None:
    """Return the part of a piece that does not repeat the program `before`; None if all repeats it.

    Repeated statements would make their calls a second time. A piece repeats the program if it
    begins with the whole program, or with the first statements of the program, among them a call of
    a tool in `writing`. Prints that call none of `tools` are ignored in the comparison.
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
    """Return True if a statement is a print that calls none of `tools`."""
    return ast.unparse(statement).startswith("print(") and not _names(statement) & set(tools)


def _names(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _statements(program: Program) -> list[ast.stmt]:
    return program.tree.body
