"""The file in which the making of trajectories keeps what is done: a header, then a line for each request."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from protocols.errors import AtcError
from protocols.jsontypes import JsonObject

FORMAT = "atc-toolqp-1"


class InvalidWorkFile(AtcError):
    """What was begun cannot be continued, or nothing can be kept. Says why and what to do."""


class WorkFile:
    """An open file of what is done, locked against other processes; `rows` has the row of each request's id.

    `header` is what all rows have in common; work is continued only under an equal one. A line that a killed run left
    half-written is cut off.

    Raises:
        InvalidWorkFile: it holds other work, is no such file, is locked or cannot be written.
    """

    def __init__(self, path: Path, header: JsonObject) -> None:
        self.path = path
        self.rows: dict[str, JsonObject] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
        except OSError as error:
            raise InvalidWorkFile(f"cannot write {str(path)!r}: {error.strerror}; give another --out.") from error
        try:
            self._begin(json.loads(json.dumps(header)))
        except BaseException:
            self._file.close()
            raise

    def append(self, row: Mapping[str, Any]) -> None:
        """Keep the row of the request `row["id"]`."""
        self._write(row)
        self.rows[row["id"]] = dict(row)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def _begin(self, header: dict[str, Any]) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidWorkFile(
                f"another process is writing {str(self.path)!r}; wait for it, or give another --out."
            ) from None
        self._file.seek(0)
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if not whole and b'{"format"'.startswith(content[:9]):
            os.ftruncate(self._file.fileno(), 0)
            self._write({"format": FORMAT, **header})
            return
        found = self._read(whole)
        os.ftruncate(self._file.fileno(), len(whole))
        differing = [
            f"{key} was {found.get(key)!r}, is {header.get(key)!r}"
            for key in {**found, **header}
            if key != "format" and found.get(key) != header.get(key)
        ]
        if differing:
            raise InvalidWorkFile(
                f"{str(self.path)!r} holds trajectories made otherwise ({'; '.join(differing)}); give another --out, "
                "or remove it to begin anew."
            )

    def _read(self, content: bytes) -> dict[str, Any]:
        try:
            header, *rows = (json.loads(line) for line in content.splitlines())
            self.rows = {row["id"]: row for row in rows}
            known = header["format"] == FORMAT
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidWorkFile(
                f"{str(self.path)!r} is no file of trajectories in the making ({error}); give another --out."
            ) from error
        if not known:
            raise InvalidWorkFile(
                f"{str(self.path)!r} has the format {header['format']!r}, not {FORMAT!r}; give another --out."
            )
        return dict(header)

    def _write(self, row: Mapping[str, Any]) -> None:
        try:
            self._file.write(json.dumps(row, ensure_ascii=False).encode(errors="backslashreplace") + b"\n")
            self._file.flush()
        except OSError as error:
            raise InvalidWorkFile(
                f"cannot write {str(self.path)!r}: {error.strerror}; make room and run the same command again."
            ) from error
