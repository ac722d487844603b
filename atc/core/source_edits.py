"""Edits of a program's source text, at the positions of its syntax nodes.

Positions count bytes, as Python's `ast` does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from atc.core.program import Program

Node = ast.expr | ast.keyword | ast.stmt


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a source text: the bytes from `start` to `end` are replaced by `text`."""

    start: int
    end: int
    text: str


class SourceOffsets:
    """The byte offsets in a source text at which its syntax nodes begin and end."""

    def __init__(self, source: str) -> None:
        self._lines = [0]
        for line in source.encode("utf-8", "surrogatepass").splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def start(self, node: Node) -> int:
        """Return the byte offset at which a syntax node begins."""
        return self._lines[node.lineno - 1] + node.col_offset

    def end(self, node: Node) -> int:
        """Return the byte offset at which a syntax node ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def replacement(self, node: Node, text: str) -> Edit:
        """Return the edit that replaces the source of a syntax node with `text`."""
        return Edit(self.start(node), self.end(node), text)


def apply_edits(program: Program, edits: Iterable[Edit]) -> Program:
    """Return the program with these edits made in its source.

    Of edits that overlap, only the last one in the source is made.
    """
    source = program.source.encode("utf-8", "surrogatepass")
    end = len(source) + 1
    for edit in sorted(set(edits), key=lambda e: (e.start, e.end), reverse=True):
        if edit.end <= end:
            source = (
                source[: edit.start]
                + edit.text.encode("utf-8", "surrogatepass")
                + source[edit.end :]
            )
            end = edit.start
    return Program(source.decode("utf-8", "surrogatepass"))
