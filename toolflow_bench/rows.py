"""The file of a benchmark run: JSON Lines with a header and then one row for each answer.

Only one process at a time can write to the file. Format 2 added the gold path, calls, programs and
repeats. Files in format 1 can neither be continued nor reported.
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
    """A run file cannot be used or continued. The message says why and what to do."""


class LineFile:
    """An open file of lines, locked against other processes.

    `whole` has the complete lines that the file had when it was opened. A last line that a killed
    process left incomplete is not among them. A written line survives the death of this process,
    but not a power cut.

    Raises:
        InvalidRunFile: the file is locked or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            make_folders(path.parent)
            if path.exists() and not path.is_file():
                raise OSError(0, "no regular file")  # noqa: TRY301
            target = path.resolve()
            self._file = open(target, "a+b", opener=private_opener)  # noqa: SIM115 - stays open
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            problem = (
                f"another process is writing {str(path)!r}; wait for it, or give another --out."
            )
            raise InvalidRunFile(problem) from None
        except OSError as error:
            raise InvalidRunFile(
                f"cannot write {str(path)!r}: {error.strerror}; give another --out."
            ) from error
        self.content = path.read_bytes()
        self.whole = self.content[: self.content.rfind(b"\n") + 1]

    def truncate_to(self, content: bytes) -> None:
        """Cut the file down to `content`, which must be the beginning of the present content."""
        self._file.truncate(len(content))

    def write(self, document: Json) -> None:
        """Append a document as one line of JSON.

        Raises:
            InvalidRunFile: the disk is full or fails.
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
                f"cannot write {str(self.path)!r}: {error.strerror}; make room and run the same "
                "command again."
            ) from error

    def close(self) -> None:
        """Close and unlock the file."""
        with suppress(OSError):  # an unwritten line, which `write` has reported
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def differences(found: dict[str, Json], wanted: dict[str, Json]) -> list[str]:
    """Return a phrase for each field in which two headers of run files differ.

    An example is `model was 'a', is 'b'`.
    """
    return [
        f"{key} was {found.get(key)!r}, is {wanted.get(key)!r}"
        for key in {**found, **wanted}
        if found.get(key) != wanted.get(key)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The header of a run's file: the settings that all rows of the file share.

    A run can be continued only if its header is equal to that of the file.
    """

    suite: str
    model: str
    seed: int
    data: str
    """Digest of all questions and expected answers."""
    version: str
    """Version of atc."""
    settings: Mapping[str, Json]
    """All other settings that change results, such as strategy, limits and time-out."""


class RowFile(LineFile):
    """An open file with the rows of a run (one for each answer), locked against other processes.

    `rows` has the last row of each question and repeat, keyed by (question id, repeat). A line that
    a killed process left incomplete is removed.

    Raises:
        InvalidRunFile: the file belongs to another run, has another format, is locked or cannot be
            written.
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
        """Write a row (the result of one question) to the end of the file, and add it to `rows`."""
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
                f"{str(self.path)!r} holds a run with other settings ({'; '.join(differing)}); "
                f"{_WRITING}"
            )


def read_rows(path: Path) -> tuple[Header, list[Row]]:
    """Return the header of a run's file, and the last row of each question and repeat.

    An incomplete last line is ignored.

    Raises:
        InvalidRunFile: the file cannot be read or has another format.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        problem = (
            f"cannot read {str(path)!r}: {error.strerror}; give a file that 'atc bench run' wrote."
        )
        raise InvalidRunFile(problem) from error
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
            told = (
                f"{str(path)!r} was written by another version of atc, in format {found!r}; this "
                f"one reads {FORMAT}"
            )
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
    """Return the row (the result of one question) that a JSON object represents.

    Unknown fields, which older files may have, are ignored.
    """
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
"""Fields of `Row` that are tuples; JSON stores them as lists."""


def _flat(header: Header) -> dict[str, Json]:
    plain: dict[str, Json] = json.loads(
        json.dumps(asdict(header), default=repr)
    )  # tuples are lists in a file
    settings: dict[str, Json] = plain.pop("settings")
    return plain | settings
