"""A program as a page shows it: its coloured lines, and how it changed from one attempt to the
next.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers.python import PythonLexer

from atc.core.pages.markup import ESCAPES, Markup

_AROUND = 3
"""Unchanged lines that are shown around a change."""


class ChangedLine(NamedTuple):
    """A line of a change. Its 1-based number is that in the new program, or in the old one if the
    line was removed.
    """

    kind: Literal["", "added", "removed"]
    sign: str
    number: int
    code: Markup


class Change(NamedTuple):
    """The change of a program's lines. None stands for unchanged lines between two places."""

    rows: Sequence[ChangedLine | None]
    added: int
    removed: int


def highlight_lines(source: str) -> list[Markup]:
    """Return the lines of a program as markup."""
    shown = highlight(
        source, PythonLexer(stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True)
    ).translate(ESCAPES)
    # pygments has escaped the program's text.
    return [Markup(line) for line in shown.split("\n")[: len(_lines(source))]]  # noqa: S704


def diff_programs(before: str, after: str) -> Change:
    """Return the change from one program to the next, each place with a few lines around it."""
    old = _lines(before)
    new = _lines(after)
    old_shown = highlight_lines(before)
    new_shown = highlight_lines(after)
    rows: list[ChangedLine | None] = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_AROUND):
        if rows or group[0][1]:
            rows.append(None)
        for kind, a, b, c, d in group:
            if kind == "equal":
                rows += [
                    ChangedLine("", " ", number + 1, new_shown[number]) for number in range(c, d)
                ]
                continue
            rows += [
                ChangedLine("removed", "−", number + 1, old_shown[number]) for number in range(a, b)
            ]
            rows += [
                ChangedLine("added", "+", number + 1, new_shown[number]) for number in range(c, d)
            ]
    kinds = [row.kind for row in rows if row is not None]
    return Change(rows, added=kinds.count("added"), removed=kinds.count("removed"))


def _lines(source: str) -> list[str]:
    """Return the lines of a program as pygments counts them."""
    return source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
