"""Files of the benchmarks: data in JSON, and rows that are continued, a header and then one for each piece of work."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from protocols.errors import AtcError
from protocols.jsontypes import JsonObject
from toolflow_bench.lines import InvalidRunFile, LineFile, differences


class InvalidData(AtcError):
    """A benchmark's data cannot be used; says which file, what is wrong with it and what to do."""

    exit_code = 2


def read_json(path: Path, expected: str) -> Any:
    """The content of a JSON file that is, or lies in a folder with, what is `expected`.

    Raises:
        InvalidData: it cannot be read, or is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidData(f"cannot read {str(path)!r} ({error}); give --data {expected}.") from error


class Resumable(LineFile):
    """An open file of rows, locked against other processes; `rows` has the last row of each key so far, in order.

    `key` names the fields that say which piece of work a row is of. `header` is what all rows have in common: a file is
    continued only under an equal one (`restart` empties it). A line that a killed run left half-written is cut off.

    Raises:
        InvalidRunFile: it holds other work, is no such file, is locked or cannot be written.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], *, key: Sequence[str], restart: bool = False) -> None:
        super().__init__(path, synced=False)
        self._key = key
        self.rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        try:
            self._begin(json.loads(json.dumps(header)), restart=restart)
        except BaseException:
            self.close()
            raise

    def append(self, row: Mapping[str, Any]) -> None:
        """Write a row."""
        self.write(dict(row))
        self.rows[tuple(row[name] for name in self._key)] = dict(row)

    def _begin(self, header: JsonObject, *, restart: bool) -> None:
        if self.content and not b'{"format"'.startswith(self.content[:9]):
            raise InvalidRunFile(f"{str(self.path)!r} is no file of a benchmark's rows; give another --out.")
        if restart or not self.whole:
            self.keep(b"")
            self.write(dict(header))
            return
        try:
            found, *rows = (json.loads(line) for line in self.whole.splitlines())
            self.rows = {tuple(row[name] for name in self._key): row for row in rows}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidRunFile(f"{str(self.path)!r} cannot be continued ({error}); give another --out.") from error
        if differing := differences(found, dict(header)):
            raise InvalidRunFile(
                f"{str(self.path)!r} holds work done otherwise ({'; '.join(differing)}); give another --out, or remove "
                "it to begin anew."
            )
        self.keep(self.whole)
