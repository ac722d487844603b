"""Secrets in tables: CSV, Markdown, columns of a terminal; the header names them."""

from __future__ import annotations

import re
from collections.abc import Callable

from protocols.secrets.values import iter_if_secret, kind_behind_name

_ROWS = 2_000
"""Rows below a header that are read."""
_Split = Callable[[str], list[str]]


def find_table_secrets(text: str, start: int, done: int) -> tuple[list[str], int]:
    """The secrets of the table whose header stands at `start`, and up to where the text is read.

    `done` is up to where it was read before.
    """
    first = text.rfind("\n", max(done - 1, start - 500, 0), start) + 1
    last = text.find("\n", start)
    if last < 0 or last - first > 1_000:
        return [], last % (len(text) + 1)
    header = text[first:last]
    split = next((one for one in _SPLITS if len(one(header)) > 1), None)
    if split is None:
        return [], last
    cells = split(header)
    if not all(re.fullmatch(r"[\w .\-/()]{0,40}", cell) for cell in cells):
        return [], last
    columns = [
        (n, kind) for n, cell in enumerate(cells) if (kind := kind_behind_name(cell)) is not None
    ]
    found: list[str] = []
    at = last + 1
    for _ in range(_ROWS if columns else 0):
        end = text.find("\n", at) if text.find("\n", at) >= 0 else len(text)
        row = split(text[at:end])
        if at >= len(text) or (
            len(row) != len(cells) and not re.fullmatch(r"[\s|+:-]*", text[at:end])
        ):
            break
        if len(row) == len(cells):
            for column, kind in columns:
                plain = (
                    re.search("passw|pwd|secret|token", cells[column], re.IGNORECASE) is not None
                )
                found += iter_if_secret(
                    row[column], kind, "shown" if plain else "near", quoted=True
                )
        at = end + 1
    return found, max(last, at - 1)


def _splitter(pattern: str, strip: str) -> _Split:
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
