"""`Program`, the Python source of one program with its syntax tree."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from protocols.python_source import parse_python

LONGEST_PROGRAM = 200_000
"""Maximum number of characters of a program. A longer one is not parsed: it would take minutes."""


class ProgramTooLong(ValueError):
    """A program has more than `LONGEST_PROGRAM` characters."""


@dataclass(frozen=True)
class Program:
    """A program, as Python source, that calls tools by their aliases.

    The source is parsed once, when `tree` is first used.
    """

    source: str

    @cached_property
    def _parsed(self) -> ast.Module | Exception:
        """The syntax tree of the program, or the error of Python's parser."""
        if len(self.source) > LONGEST_PROGRAM:
            return ProgramTooLong(
                f"it has {len(self.source):,} characters; at most {LONGEST_PROGRAM:,} are run"
            )
        try:
            return parse_python(self.source)
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
            return error.with_traceback(None)

    @property
    def tree(self) -> ast.Module:
        """The syntax tree of the program, empty if the source is not Python.

        All users share one tree, so it must not be changed.
        """
        return ast.Module([], []) if isinstance(self._parsed, Exception) else self._parsed

    @property
    def parse_error(self) -> Exception | None:
        """Why the source is not run: Python's parser rejects it, or it is too long. Else None."""
        return self._parsed if isinstance(self._parsed, Exception) else None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All words in the source of the program that could be names, without duplicates.

        They are in order. Words in strings and comments are included.
        """
        return tuple(dict.fromkeys(re.findall(r"[^\W\d]\w*", self.source)))

    def forget_tree(self) -> None:
        """Free the memory of the syntax tree. The next use of the tree parses the source again."""
        self.__dict__.pop("_parsed", None)

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        """Pickle the program without its syntax tree, as when it is sent to another process."""
        return type(self), (self.source,)

    def line(self, number: int | None) -> str:
        """Return the source line with this number (from 1), without blanks at its ends.

        Return "" if the line does not exist.
        """
        return (self.raw_line(number or 0) or "").strip()

    def raw_line(self, number: int) -> str | None:
        """Return the source line with this number (from 1) unchanged; None if it does not exist."""
        lines = self.source.splitlines()
        return lines[number - 1] if 0 < number <= len(lines) else None
