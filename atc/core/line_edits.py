"""Replies that change single lines of the last program: `line 3: print(total)`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from atc.core.program import Program

_EDIT = re.compile(r"[ \t]*line[ \t]+(\d{1,6})[ \t]*:[ \t]?(.*)", re.IGNORECASE)
_FENCE = re.compile(r"[ \t]*```\w*[ \t]*")


def line_edits(reply: str) -> dict[int, str]:
    """Return the new text of each line that a reply changes, keyed by number.

    The dict is empty unless the reply consists of such lines alone, perhaps in a fence.
    """
    edits = dict[int, str]()
    for line in reply.splitlines():
        if not line.strip() or _FENCE.fullmatch(line):
            continue
        if (edit := _EDIT.fullmatch(line)) is None:
            return {}
        edits[int(edit[1])] = _without_quotes(edit[2])
    return edits


def _without_quotes(text: str) -> str:
    """Return the text of an edit without the backticks around it, if there are any."""
    stripped = text.strip()
    inner = stripped.removesuffix(".")
    quotes = "`" * (len(inner) - len(inner.lstrip("`")))
    if quotes and len(inner) > 2 * len(quotes) and inner.endswith(quotes):
        return inner[len(quotes) : -len(quotes)]
    return text.rstrip()


def apply_line_edits(program: Program, edits: Mapping[int, str]) -> Program | None:
    """Return the program with some lines replaced, or None if it has fewer lines.

    `edits` has the new text of each line, keyed by line number; an empty text removes the line. A
    new text keeps its indentation if another line of the program has the same indentation.
    Otherwise it gets the indentation of the line that it replaces.
    """
    lines = program.source.splitlines()
    if not edits or not all(0 < number <= len(lines) for number in edits):
        return None
    indents = {_indent(line) for line in lines if line.strip()} - {""}
    changed = list[str]()
    for number, line in enumerate(lines, start=1):
        text = edits.get(number, line)
        if number in edits and _indent(text) not in indents:
            text = _indent(line) + text.lstrip()
        if number not in edits or text.strip():
            changed.append(f"{text}\n")
    return Program("".join(changed))


def _indent(line: str) -> str:
    """Return the white space at the beginning of a line."""
    return line[: len(line) - len(line.lstrip())]


def readable_lines(edits: Mapping[int, str]) -> Program:
    """Return the new lines as a program that is only searched for secrets, never executed.

    A line alone may be invalid Python. So each line is added in all valid forms of three: as it is,
    as the head of a block (`if …:`), and as arguments of a call.
    """
    found = list[str]()
    for text in map(str.strip, edits.values()):
        forms = (text, f"{text.removeprefix('el')} pass", f"dict({text})")
        found += [form for form in forms if not Program(form).parse_error]
    return Program("".join(f"{line}\n" for line in found))
