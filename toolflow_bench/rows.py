"""The file of a benchmark run: JSON Lines, a header and then a row a question, that one process at a time continues.

Format 2 added the gold path, calls, programs and repeats to rows; what format 1 wrote cannot be continued or reported.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from protocols.errors import AtcError
from protocols.private_files import make_folders, private_opener
from protocols.schema import Json
from toolflow_bench.metrics import Row

FORMAT = 2

_WRITING = "give another --out, or remove it to begin anew."
_READING = "measure again to have its figures."


class InvalidRunFile(AtcError):
    """The file of a run cannot be used or continued. Says what stands in it and what to do."""

    exit_code = 2


class LineFile:
    """An open file of lines, locked against other processes; `whole` is what it held, without a last line that a
    killed run left half-written. A line outlives this process, but not a power cut.

    Raises:
        InvalidRunFile: it is locked, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            make_folders(path.parent)
            if path.exists() and not path.is_file():
                raise OSError(0, "no regular file")  # noqa: TRY301
            self._file = open(path.resolve(), "a+b", opener=private_opener)  # noqa: SIM115 - takes an opener; is kept
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            told = f"another process is writing {str(path)!r}; wait for it, or give another --out."
            raise InvalidRunFile(told) from None
        except OSError as error:
            raise InvalidRunFile(
                f"cannot write {str(path)!r}: {error.strerror}; give another --out."
            ) from error
        self.content = path.read_bytes()
        self.whole = self.content[: self.content.rfind(b"\n") + 1]

    def truncate_to(self, content: bytes) -> None:
        """Let the file hold nothing but `content`, with which it begins: all its whole lines, or none."""
        self._file.truncate(len(content))

    def write(self, document: Json) -> None:
        """Add a line.

        Raises:
            InvalidRunFile: the disk is full, or fails.
        """
        line = (
            json.dumps(document, default=repr, ensure_ascii=False).encode(errors="backslashreplace")
            + b"\n"
        )
        try:
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            raise InvalidRunFile(
                f"cannot write {str(self.path)!r}: {error.strerror}; make room and run the same command again."
            ) from error

    def close(self) -> None:
        """Close and unlock the file."""
        with suppress(OSError):  # of a line that the disk did not take; `write` has told
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def differences(found: dict[str, Json], wanted: dict[str, Json]) -> list[str]:
    """`model was 'a', is 'b'` for each setting that differs between two headers."""
    return [
        f"{key} was {found.get(key)!r}, is {wanted.get(key)!r}"
        for key in {**found, **wanted}
        if found.get(key) != wanted.get(key)
    ]


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
        InvalidRunFile: it holds another run, is no such file, is locked or cannot be written.
    """

    def __init__(self, path: Path, header: Header) -> None:
        super().__init__(path)
        self.rows: dict[tuple[str, int], Row] = {}
        try:
            self._begin(header)
        except BaseException:
            self.close()
            raise

    def append(self, row: Row) -> None:
        """Write a row."""
        self.write({"row": asdict(row)})
        self.rows[row.key] = row

    def _begin(self, header: Header) -> None:
        start = b'{"format"'
        if not self.content.startswith(start[: len(self.content)]):
            raise InvalidRunFile(
                f"{str(self.path)!r} is not a benchmark's file; give another --out."
            )
        self.truncate_to(self.whole)
        if not self.whole:
            self.write({"format": FORMAT, "header": asdict(header)})
            return
        found, self.rows = _parse(self.whole, self.path, advice=_WRITING)
        if differing := differences(_flat(found), _flat(header)):
            raise InvalidRunFile(
                f"{str(self.path)!r} holds a run with other settings ({'; '.join(differing)}); {_WRITING}"
            )


def read_rows(path: Path) -> tuple[Header, list[Row]]:
    """The header of a run's file and the last row of each question's repeat; a half-written last line is left out.

    Raises:
        InvalidRunFile: it cannot be read, or is no such file.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        told = (
            f"cannot read {str(path)!r}: {error.strerror}; give a file that 'atc bench run' wrote."
        )
        raise InvalidRunFile(told) from error
    header, rows = _parse(content[: content.rfind(b"\n") + 1], path, advice=_READING)
    return header, list(rows.values())


def _parse(content: bytes, path: Path, *, advice: str) -> tuple[Header, dict[tuple[str, int], Row]]:
    lines = content.splitlines()
    number = 1
    rows = dict[tuple[str, int], Row]()
    try:
        first = json.loads(lines[0])
        header = first["header"]
        found = first.get("format")
        if found != FORMAT:
            told = f"{str(path)!r} was written by another version of atc, in format {found!r}; this one reads {FORMAT}"
            raise InvalidRunFile(f"{told}; {advice}")
        header = Header(**header)
        for line in lines[1:]:
            number += 1
            row = _row(json.loads(line)["row"])
            rows[row.key] = row
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        wrong = f"line {number} is no row" if number > 1 else "its first line is no header"
        raise InvalidRunFile(
            f"{str(path)!r} is not a benchmark's file: {wrong}; {advice}"
        ) from error
    return header, rows


def _row(document: Mapping[str, Any]) -> Row:
    """A row of its fields; older files have some more."""
    known: Any = {
        key: tuple(value) if key in _TUPLES else value
        for key, value in document.items()
        if key in _FIELDS
    }
    return Row(**known)


_FIELDS = frozenset(field.name for field in fields(Row))
_TUPLES = frozenset(
    field.name for field in fields(Row) if field.default is not MISSING and field.default == ()
)
"""Fields that JSON keeps as lists."""


def _flat(header: Header) -> dict[str, Json]:
    plain: dict[str, Json] = json.loads(
        json.dumps(asdict(header), default=repr)
    )  # tuples are lists in a file
    settings: dict[str, Json] = plain.pop("settings")
    return plain | settings
