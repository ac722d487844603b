"""The file of a benchmark run: JSON Lines, a header and then a row a question, on disk as soon as it is written.

Format 2 added the gold path, calls, programs and repeats to rows; what format 1 wrote cannot be continued or reported.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

from protocols.jsontypes import Json
from toolflow_bench.lines import InvalidRunFile, LineFile, differences, read_lines
from toolflow_bench.metrics import Row

__all__ = ["FORMAT", "Header", "InvalidRunFile", "RowFile", "read_rows", "same_header"]

FORMAT = 2

_WRITING = "give another --out, or --restart to begin anew."
_READING = "measure again to have its figures."


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What every row of a file has in common. A run is continued only under an equal header."""

    suite: str
    model: str
    seed: int
    data: str
    """Digest of the questions."""
    version: str
    """Of atc."""
    settings: Mapping[str, Json]
    """Whatever else changes results: strategy, limits, time-out."""


class RowFile(LineFile):
    """An open file of rows, locked against other processes. `rows` has the last row of each question's repeat so far.

    A line that a killed run left half-written is cut off.

    Raises:
        InvalidRunFile: it holds another run (`restart` empties it), is no such file, is locked or cannot be written.
    """

    def __init__(self, path: Path, header: Header, *, restart: bool = False) -> None:
        super().__init__(path, synced=True)
        self.rows: dict[tuple[str, int], Row] = {}
        try:
            self._begin(header, restart=restart)
        except BaseException:
            self.close()
            raise

    def append(self, row: Row) -> None:
        """Write a row; it is on disk when this returns."""
        self.write({"row": asdict(row)})
        self.rows[row.key] = row

    def _begin(self, header: Header, *, restart: bool) -> None:
        start = b'{"format"'
        if not self.content.startswith(start[: len(self.content)]):
            # Not even --restart may empty a file that somebody else wrote.
            raise InvalidRunFile(f"{str(self.path)!r} is not a benchmark's file; give another --out.")
        whole = b"" if restart else self.whole
        self.keep(whole)
        if not whole:
            self.write({"format": FORMAT, "header": asdict(header)})
            return
        found, self.rows = _parse(whole, self.path, advice=_WRITING)
        if differing := differences(_flat(found), _flat(header)):
            raise InvalidRunFile(
                f"{str(self.path)!r} holds a run with other settings ({'; '.join(differing)}); {_WRITING}"
            )


def read_rows(path: Path) -> tuple[Header, list[Row]]:
    """The header of a run's file and the last row of each question's repeat; a half-written last line is left out.

    Raises:
        InvalidRunFile: it cannot be read, or is no such file.
    """
    content = read_lines(path, advice="give a file that 'atc bench run' wrote.")
    header, rows = _parse(content, path, advice=_READING)
    return header, list(rows.values())


def _parse(content: bytes, path: Path, *, advice: str) -> tuple[Header, dict[tuple[str, int], Row]]:
    lines = content.splitlines()
    rows: dict[tuple[str, int], Row] = {}
    try:
        header = _header(lines, path, advice=advice)
        for number, line in enumerate(lines[1:], start=2):
            row = _row(line, number)
            rows[row.key] = row
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InvalidRunFile(f"{str(path)!r} is not a benchmark's file: {error}; {advice}") from error
    return header, rows


def _header(lines: Sequence[bytes], path: Path, *, advice: str) -> Header:
    first = json.loads(lines[0]) if lines else None
    if not isinstance(first, dict) or "header" not in first:
        raise ValueError("its first line is no header")
    found = first.get("format")
    if found != FORMAT:
        age = "an older" if isinstance(found, int) and found < FORMAT else "another"
        raise InvalidRunFile(
            f"{str(path)!r} was written by {age} version of atc, in format {found!r}; this one reads {FORMAT}; {advice}"
        )
    return Header(**first["header"])


def _row(line: bytes, number: int) -> Row:
    try:
        document: dict[str, Any] = json.loads(line)["row"]
        kept: dict[str, Any] = {key: tuple(value) if key in _TUPLES else value for key, value in document.items()}
        return Row(**kept)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"line {number} is no row") from error


_TUPLES = frozenset(field.name for field in fields(Row) if field.default is not MISSING and field.default == ())
"""Fields that JSON keeps as lists."""


def same_header(found: Header, wanted: Header) -> bool:
    """Whether a run with header `wanted` may continue a file whose header is `found`."""
    return not differences(_flat(found), _flat(wanted))


def _flat(header: Header) -> dict[str, Json]:
    plain: dict[str, Json] = json.loads(json.dumps(asdict(header), default=repr))  # tuples are lists in a file
    settings: dict[str, Json] = plain.pop("settings")
    return plain | settings
