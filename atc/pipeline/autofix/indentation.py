"""Removal of indentation that begins no block, a slip of small models."""

from __future__ import annotations

from atc.core.program import Program

_UNEXPECTED = "unexpected indent"


def remove_unexpected_indent(program: Program) -> Program | None:
    """Return the program with the lines that Python calls unexpectedly indented moved to the left.

    They get the indentation of the line before them. Return None if the program has another
    mistake, or is still not Python afterwards.
    """
    error = program.parse_error
    if not isinstance(error, IndentationError) or error.msg != _UNEXPECTED:
        return None
    lines = program.source.splitlines()
    first = (error.lineno or 1) - 1
    above = [line for line in lines[:first] if line.strip()]
    wanted = _indentation(above[-1]) if above else 0
    surplus = _indentation(lines[first]) - wanted
    for number in range(first, len(lines)):
        if lines[number].strip() and _indentation(lines[number]) < wanted + surplus:
            break
        lines[number] = lines[number][surplus:]
    fixed = Program("\n".join(lines) + "\n")
    return fixed if fixed.parse_error is None else None


def _indentation(line: str) -> int:
    """Return the number of blanks and tabs at the beginning of a line."""
    return len(line) - len(line.lstrip(" \t"))
