"""Programs that print their answer alone: they call `print_answer`, and their `print` does nothing.

A growing program gets this form when it is finished, since what its earlier pieces printed is no
part of the answer.
"""

from __future__ import annotations

from atc.core.types import Program

PRINT_ANSWER = "print_answer"
"""The name by which such a program calls the real `print`."""
HEAD = f"{PRINT_ANSWER} = print\ndef print(*_, **__): pass  # only the answer is printed\n"
"""The first lines of such a program."""


def print_name(program: Program) -> str:
    """Return the name of the function that prints the program's answer."""
    return PRINT_ANSWER if f"{PRINT_ANSWER}(" in program.source else "print"


def count_kept_lines(program: Program, before: Program) -> int:
    """Return how many of its first lines are those of `before`, if the program continues it; 0 if
    it does not.
    """
    kept = before.source.splitlines()
    lines = program.source.splitlines()
    first = HEAD.splitlines()[:1]
    head = len(HEAD.splitlines()) if lines[:1] == first and kept[:1] != first else 0
    return head + len(kept) if kept and lines[head:][: len(kept)] == kept else 0
