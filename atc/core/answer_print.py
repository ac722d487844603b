"""Programs that print nothing but their answer, which only the function `print_answer` prints.

A growing program, which the model writes piece by piece, is brought into this form when it is
finished. Its ordinary prints are disabled, because what earlier pieces printed is not part of the
answer.
"""

from __future__ import annotations

from atc.core.program import Program

PRINT_ANSWER = "print_answer"
"""The name under which a program that prints only its answer keeps the real `print`."""
HEAD = f"{PRINT_ANSWER} = print\ndef print(*_, **__): pass  # only the answer is printed\n"
"""First lines of a program that prints only its answer: they rename `print` and disable it."""
PRINTS_AGAIN = f"print = {PRINT_ANSWER}  # what follows prints\n"
"""Line after `HEAD` from which on a program prints again."""


def print_name(program: Program) -> str:
    """Return the name of the function with which a program prints its answer.

    It is `print_answer` if the program calls this function, else `print`.
    """
    return PRINT_ANSWER if f"{PRINT_ANSWER}(" in program.source else "print"


def count_kept_lines(program: Program, before: Program) -> int:
    """Return how many lines at the beginning of `program` were taken from an earlier program.

    If `program` does not begin with `before`, the result is 0. The lines of `HEAD` are counted,
    too. They, and the line `PRINTS_AGAIN`, make no difference between the two programs.
    """
    first = HEAD.splitlines()[:1]
    lines = program.source.splitlines()
    head = len(HEAD.splitlines()) if lines[:1] == first else 0
    kept = before.source.removeprefix(HEAD).replace(PRINTS_AGAIN, "").splitlines()
    return head + len(kept) if kept and lines[head:][: len(kept)] == kept else 0
