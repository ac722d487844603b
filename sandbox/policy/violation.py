"""One thing that the policy refuses, and how it is shown."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from sandbox.policy.parse import lines

WIDTH = 120
"""Of a longer line of source, so many characters around the place are shown."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A place in a program that the policy refuses."""

    line: int
    """1-based."""
    column: int
    """1-based, in characters."""
    message: str
    """What is refused, and why."""
    suggestion: str = ""
    """What to do instead, as a clause; empty where there is nothing."""


def render(violation: Violation, source: str) -> str:
    """The violation as up to four lines: what and where, the line of source, a caret below the place, a way out."""
    every = lines(source)
    text = every[violation.line - 1] if 0 < violation.line <= len(every) else ""
    at = min(max(violation.column - 1, 0), len(text))
    indent = len(text) - len(text.lstrip())
    start = indent if at >= indent and at < indent + WIDTH else max(at - WIDTH // 2, 0)
    shown = "".join(
        char if char.isprintable() else " " if char.isspace() else "\N{REPLACEMENT CHARACTER}" for char in text
    )
    before, after = shown[start:at], shown[at : start + WIDTH]
    parts = [f"line {violation.line}: {violation.message}"]
    if before or after:
        parts += [f"    {before}{after}".rstrip(), "    " + " " * _columns(before) + "^"]
    if violation.suggestion:
        parts.append(violation.suggestion)
    return "\n".join(parts)


def _columns(text: str) -> int:
    """How many columns a terminal takes for `text`."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
