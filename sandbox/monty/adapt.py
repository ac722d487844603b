"""A program's text as monty can run it: what stands for `ToolError` and `asyncio.to_thread`, which monty has not.

monty 1.4 has no classes that inherit, so no exception class of ours. A failed call raises `binascii.Incomplete`, which
no Python raises any more and which only `Exception` catches besides; `ToolError` is another name for it. What an
`except … as e` binds is replaced by an object with its `status` and `body`, and turned back where it is raised again.
Only programs that speak of one of these are changed, and `lines` leads from each line of the result to its original.
"""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

TOOL_ERROR = "binascii.Incomplete"
IN_BACKGROUND = "_atc_in_background"
"""The function that asks for a call without waiting: line, tool, positional arguments, keyword arguments."""

_NEEDED = re.compile(r"\bToolError\b|\bexcept\b[^\n]{0,500}\bas\b|\bto_thread\b")

_PRELUDE = """\
class ToolError:
    def __init__(self, error):
        self.error, self.status, self.body = error, None, str(error)
        head, colon, rest = self.body.partition(': ')
        if colon and head.startswith('HTTP ') and head[5:].isdigit():
            self.status, self.body = int(head[5:]), rest
        self.args = (self.status, self.body)
    def __str__(self):
        return str(self.error)
    def __repr__(self):
        return 'ToolError' + repr(self.args)
_atc_failed, _atc_isinstance = ToolError, isinstance
from binascii import Incomplete as ToolError, Incomplete as _atc_incomplete
def _atc_caught(error):
    return _atc_failed(error) if _atc_isinstance(error, _atc_incomplete) else error
def _atc_raised(error):
    return error.error if _atc_isinstance(error, _atc_failed) else error
"""
_ISINSTANCE = """\
def isinstance(value, kinds):
    return _atc_isinstance(_atc_raised(value), kinds)
"""
_TO_THREAD = f"""\
async def _atc_to_thread(line, function, /, *args, **kwargs):
    if str(function).endswith(' external>'):
        return await {IN_BACKGROUND}(line, function, args, kwargs)
    return function(*args, **kwargs)
"""


class Program(NamedTuple):
    """What monty gets, and how its places lead back: `origins` has the program's line for each line of the text."""

    text: str
    origins: tuple[int, ...] | None = None
    """None where the text is the program's own; 0 for lines that are ours."""

    def line(self, line: int) -> int:
        """The program's line for one of the text, 0 where it is ours."""
        if self.origins is None:
            return line
        return self.origins[min(line, len(self.origins)) - 1] if self.origins else 0

    def starts(self) -> tuple[int, ...]:
        """The offset in UTF-8 of each line."""
        return _starts(self.text)

    def line_at(self, offset: int) -> int:
        """The program's line at an offset in UTF-8."""
        return self.line(bisect_right(self.starts(), offset))


@lru_cache(maxsize=16)
def _starts(text: str) -> tuple[int, ...]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line.encode("utf-8", "replace")) + 1)
    return tuple(starts[:-1])


def adapt(source: str) -> Program:
    """`source` as monty can run it; as it is where that needs no change or cannot be read."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    if not _NEEDED.search(source):
        return Program(source)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return Program(source)
    edits = _Edits()
    names = _handlers(tokens, edits)
    _raises(tokens, names, edits)
    threads = _to_threads(tokens, edits)
    prelude = _PRELUDE + (_ISINSTANCE if names and "isinstance" in source else "") + (_TO_THREAD if threads else "")
    return edits.apply(prelude, source)


class _Edits:
    """What is inserted: text at places within a line, and whole lines before others."""

    def __init__(self) -> None:
        self._within: dict[int, list[tuple[int, int, str]]] = {}
        self._before: dict[int, str] = {}

    def replace(self, row: int, start: int, end: int, text: str) -> None:
        self._within.setdefault(row, []).append((start, end, text))

    def insert_line(self, row: int, text: str) -> None:
        self._before[row] = text

    def apply(self, prelude: str, source: str) -> Program:
        text, origins = prelude.split("\n")[:-1], [0] * prelude.count("\n")
        for row, line in enumerate(source.split("\n"), 1):
            if row in self._before:
                text.append(self._before[row])
                origins.append(row)
            changed = line
            for start, end, new in sorted(self._within.get(row, ()), reverse=True):
                changed = changed[:start] + new + changed[end:]
            text.append(changed)
            origins.append(row)
        return Program("\n".join(text), tuple(origins))


def _handlers(tokens: list[tokenize.TokenInfo], edits: _Edits) -> frozenset[str]:
    """Have each `except … as name` look at what it binds. Gives the names."""
    names = set()
    for index, token in enumerate(tokens):
        if token.type != tokenize.NAME or token.string != "except":
            continue
        colon = _colon(tokens, index)
        if colon is None or tokens[colon - 2].string != "as":
            continue
        name = tokens[colon - 1].string
        names.add(name)
        look = f"{name} = _atc_caught({name})"
        after = tokens[colon + 1]
        if after.type not in (tokenize.NEWLINE, tokenize.COMMENT):
            edits.replace(*after.start, after.start[1], f"{look}; ")
            continue
        indent = next((item for item in tokens[colon + 1 :] if item.type == tokenize.INDENT), None)
        if indent is not None:
            edits.insert_line(indent.start[0], indent.string + look)
    return frozenset(names)


def _colon(tokens: list[tokenize.TokenInfo], start: int) -> int | None:
    """Where the clause that begins at `start` has its colon."""
    depth = 0
    for index in range(start + 1, len(tokens)):
        token = tokens[index]
        if token.type == tokenize.NEWLINE:
            return None
        if token.type == tokenize.OP:
            if token.string in "([{":
                depth += 1
            elif token.string in ")]}":
                depth -= 1
            elif token.string == ":" and depth == 0:
                return index
    return None


def _raises(tokens: list[tokenize.TokenInfo], names: Iterable[str], edits: _Edits) -> None:
    """Raise the exception where the program raises what it caught."""
    raising = False
    for token, name, after in _threes(tokens):
        if token.type == tokenize.NEWLINE or token.string == ";":
            raising = False
        elif token.type == tokenize.NAME and (token.string == "raise" or (raising and token.string == "from")):
            raising = True
            ends = after.type in (tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER) or after.string in (
                ";",
                "from",
            )
            if name.string in names and ends:
                edits.replace(name.start[0], name.start[1], name.end[1], f"_atc_raised({name.string})")


def _to_threads(tokens: list[tokenize.TokenInfo], edits: _Edits) -> bool:
    """Have `asyncio.to_thread` ask for its call without waiting, on its line. Whether there is one."""
    found = False
    for index in range(len(tokens) - 3):
        first, dot, name, bracket = tokens[index : index + 4]
        if (first.string, dot.string, name.string, bracket.string) != ("asyncio", ".", "to_thread", "("):
            continue
        if first.start[0] == bracket.start[0]:
            row = first.start[0]
            edits.replace(row, first.start[1], bracket.end[1], f"_atc_to_thread({row}, ")
            found = True
    return found


def _threes(
    tokens: list[tokenize.TokenInfo],
) -> Iterator[tuple[tokenize.TokenInfo, tokenize.TokenInfo, tokenize.TokenInfo]]:
    return zip(tokens, tokens[1:], tokens[2:], strict=False)
