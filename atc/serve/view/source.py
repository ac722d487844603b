"""Programs as HTML: highlighted lines, and the changes from one attempt to the next."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers.python import PythonLexer

from atc.core.pages.markup import ESCAPES, Markup

_AROUND = 3
"""Number of unchanged lines that are shown before and after a change."""


class ChangedLine(NamedTuple):
    """A line in the diff of two programs: added, removed, or unchanged and near a change."""

    kind: Literal["", "added", "removed"]
    """Empty for an unchanged line."""
    sign: str
    """`+`, `−` or a space, as in a diff."""
    number: int
    """Line number from 1: in the old program if the line was removed, else in the new one."""
    code: Markup


class Change(NamedTuple):
    """The difference between two programs."""

    rows: Sequence[ChangedLine | None]
    """The lines to show. None marks where unchanged lines are left out."""
    added: int
    removed: int


def highlight_lines(source: str) -> list[Markup]:
    """Return the lines of a program as HTML with highlighted syntax."""
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    markup = highlight(source, lexer, HtmlFormatter(nowrap=True)).translate(ESCAPES)
    # pygments has escaped the program's text.
    return [Markup(line) for line in markup.split("\n")[: len(_lines(source))]]  # noqa: S704


def diff_programs(before: str, after: str) -> Change:
    """Return the difference between two programs, with a few lines around each change."""
    old_markup = highlight_lines(before)
    new_markup = highlight_lines(after)
    matcher = SequenceMatcher(None, _lines(before), _lines(after), autojunk=False)
    rows: list[ChangedLine | None] = []
    for group in matcher.get_grouped_opcodes(_AROUND):
        if rows or group[0][1]:
            rows.append(None)
        for kind, old_start, old_end, new_start, new_end in group:
            if kind == "equal":
                rows += _rows("", " ", new_markup, new_start, new_end)
            else:
                rows += _rows("removed", "−", old_markup, old_start, old_end)
                rows += _rows("added", "+", new_markup, new_start, new_end)
    kinds = [row.kind for row in rows if row is not None]
    return Change(rows, added=kinds.count("added"), removed=kinds.count("removed"))


def _rows(
    kind: Literal["", "added", "removed"], sign: str, markup: Sequence[Markup], start: int, end: int
) -> list[ChangedLine]:
    """Return some lines of a program in the form in which a diff shows them.

    `markup` has all lines of the program as HTML. Those from index `start` up to, but without,
    index `end` are returned. They all get this `kind` and `sign`.
    """
    return [ChangedLine(kind, sign, at + 1, markup[at]) for at in range(start, end)]


def _lines(source: str) -> list[str]:
    """Return the lines of a program, without the empty ones at its end, as pygments counts them."""
    return source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
