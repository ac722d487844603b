"""Finds secrets in tables within texts (CSV, Markdown, terminal columns).

A column contains secrets if the header gives it the name of a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from protocols.secrets.names import Kind
from protocols.secrets.values import Connection, iter_if_secret, kind_behind_name

_ROWS = 2_000
"""Maximum number of rows that are read below a header."""
_Split = Callable[[str], list[str]]


def find_table_secrets(text: str, start: int, done: int) -> tuple[list[str], int]:
    """Return the secrets of a table in a text, and the index up to which the text was read.

    The header of the table is the line that contains the index `start`. `done` is the index up to
    which earlier calls have read the text. There are no secrets if the line is not a header.
    """
    first = text.rfind("\n", max(done - 1, start - 500, 0), start) + 1
    last = text.find("\n", start)
    if last < 0 or last - first > 1_000:
        return [], last % (len(text) + 1)
    split, width, columns = _read(text[first:last])
    found: list[str] = []
    at = last + 1
    for _ in range(_ROWS if columns else 0):
        end = text.find("\n", at) if text.find("\n", at) >= 0 else len(text)
        row = split(text[at:end])
        if at >= len(text) or (len(row) != width and not re.fullmatch(r"[\s|+:-]*", text[at:end])):
            break
        if len(row) == width:
            for column, kind, connection in columns:
                found += iter_if_secret(row[column], kind, connection, quoted=True)
        at = end + 1
    return found, max(last, at - 1)


@lru_cache(maxsize=1_000)
def _read(header: str) -> tuple[_Split, int, tuple[tuple[int, Kind, Connection], ...]]:
    """Return how to read the rows of a table with this header, and which columns have secrets.

    The results are the function that splits a line into cells, the number of cells, and the columns
    with secrets. Such a column is given as its number, the kind of its secrets, and how clearly its
    name says that they are secrets.
    """
    for split in _SPLITS:
        if len(cells := split(header)) > 1:
            break
    else:
        return split, 1, ()
    if not all(re.fullmatch(r"[\w .\-/()]{0,40}", cell) for cell in cells):
        return split, len(cells), ()
    columns: list[tuple[int, Kind, Connection]] = []
    for number, cell in enumerate(cells):
        if (kind := kind_behind_name(cell)) is not None:
            plain = re.search("passw|pwd|secret|token", cell, re.IGNORECASE) is not None
            columns.append((number, kind, "marked" if plain else "near"))
    return split, len(cells), tuple(columns)


def _splitter(pattern: str, strip: str) -> _Split:
    """Return a function that splits a line into cells at each match of `pattern`.

    The characters in `strip` are first removed from both ends of the line.
    """
    compiled = re.compile(pattern)
    return lambda line: [
        cell.strip().strip("\"'`*") for cell in compiled.split(line.strip().strip(strip))
    ]


_SPLITS = (
    _splitter(r"\|", "|"),
    _splitter(r"\t", ""),
    _splitter(r";", ""),
    _splitter(r",", ""),
    _splitter(r" {2,}", ""),
)
