"""The file of a retrieval run: JSON Lines, a header and then a row a query and method, appended as they come.

Rows are kept small, since there are thousands: a query's text and gold tools stand in the data, whose digest is in the
header. A row that a power cut takes is found again by asking once more, so nothing waits for the disk.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from protocols.jsontypes import Json
from toolflow_bench.lines import InvalidRunFile, LineFile, differences, read_lines

FORMAT = "atc-retrieval-1"
DEPTH = 20
"""Tools of a ranking that are kept: no metric looks further down."""

_PASSED_OVER = frozenset({"format", "methods"})
"""Of a header: a file may be continued with other methods."""

Status = Literal["ok", "outage", "crash", "unavailable"]
"""`outage`: the model did not answer; `crash`: a bug of ours. Neither says anything of the method: asked again.

`unavailable` is no query's: the method could not be built, for the reason in `error`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalRow:
    """What one method found for one query, best first, and what it took. `seconds` are those of the whole search."""

    method: str
    id: str
    ranking: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    """Those of the ranking; kept only where more than `DEPTH` tools are."""
    seconds: float = 0.0
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    status: Status = "ok"
    error: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Method and query."""
        return self.method, self.id


class RetrievalFile(LineFile):
    """An open file of rows, locked against other processes. `rows` has the last row of each method and query so far.

    `header` is what all rows have in common (data, model, versions): a run is continued only under an equal one. A line
    that a killed run left half-written is cut off.

    Raises:
        InvalidRunFile: it holds another run (`restart` empties it), is no such file, is locked or cannot be written.
    """

    def __init__(self, path: Path, header: Mapping[str, Json], *, restart: bool = False) -> None:
        super().__init__(path, synced=False)
        self.rows: dict[tuple[str, str], RetrievalRow] = {}
        try:
            self._begin(header, restart=restart)
        except BaseException:
            self.close()
            raise

    def append(self, row: RetrievalRow) -> None:
        """Write a row."""
        empty = asdict(RetrievalRow(method=row.method, id=row.id))
        self.write({key: value for key, value in asdict(row).items() if key in ("method", "id") or value != empty[key]})
        self.rows[row.key] = row

    def _begin(self, header: Mapping[str, Json], *, restart: bool) -> None:
        found = _parse(self.whole, self.path) if self.whole else None
        if self.content and found is None and not b'{"format"'.startswith(self.content[:9]):
            raise InvalidRunFile(f"{str(self.path)!r} is not a retrieval run's file; give another --out.")
        if restart or found is None:
            self.keep(b"")
            self.write({"format": FORMAT, **header})
            return
        self.keep(self.whole)
        old, self.rows = found
        if differing := differences(_compared(old), _compared(json.loads(json.dumps(header)))):
            raise InvalidRunFile(
                f"{str(self.path)!r} holds a run with other settings ({'; '.join(differing)}); give another --out, "
                "or --restart to begin anew."
            )


def _compared(header: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in header.items() if key not in _PASSED_OVER}


def read_rows(path: Path) -> tuple[dict[str, Any], list[RetrievalRow]]:
    """The header of a run's file, and the last row of each method and query.

    Raises:
        InvalidRunFile: it cannot be read, or is no such file.
    """
    header, rows = _parse(read_lines(path, advice="give a file of rows."), path)
    return header, list(rows.values())


def _parse(content: bytes, path: Path) -> tuple[dict[str, Any], dict[tuple[str, str], RetrievalRow]]:
    lines = content.splitlines()
    rows: dict[tuple[str, str], RetrievalRow] = {}
    try:
        header = _header(lines)
        for number, line in enumerate(lines[1:], start=2):
            row = _row(line, number)
            rows[row.key] = row
    except (ValueError, RecursionError) as error:
        raise InvalidRunFile(
            f"{str(path)!r} is not a retrieval run's file: {error}; give another --out, or remove it."
        ) from error
    return header, rows


def _header(lines: Sequence[bytes]) -> dict[str, Any]:
    header = json.loads(lines[0]) if lines else None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"its first line is no header of format {FORMAT!r}")
    return header


def _row(line: bytes, number: int) -> RetrievalRow:
    try:
        said = json.loads(line)
        return RetrievalRow(
            **{**said, "ranking": tuple(said.get("ranking", ())), "scores": tuple(said.get("scores", ()))}
        )
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"line {number} is no row") from error
