"""The bookings that the desk holds before a task begins: invented passengers on real flights of some busy days."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from toolflow_bench.services.database import opaque

_FIRST_NAMES = ("Ada", "Boris", "Chiara", "Dilan", "Esther", "Farid", "Greta", "Hugo")
_LAST_NAMES = ("Almqvist", "Barros", "Castellan", "Dubrow", "Eriksen", "Fontaine")
_PASSENGERS = tuple(f"{first} {last}" for last in _LAST_NAMES for first in _FIRST_NAMES)
# Days of storms and of holidays: many of their flights were late, cancelled or diverted.
_DATES = (
    *("2013-01-30", "2013-02-08", "2013-03-08", "2013-04-19", "2013-05-23", "2013-06-13"),
    *("2013-07-10", "2013-07-22", "2013-09-12", "2013-10-11", "2013-11-27", "2013-12-05"),
)
_ROUTES = ("JFK-LAX", "JFK-BOS", "LGA-ORD", "LGA-ATL", "LGA-DEN", "EWR-SFO")
_A_DAY, _FLIGHTS_A_DAY = 40, 20
# No passenger flies twice on a date, and two or three of them share a flight: the steps have no factor in common
# with the number of passengers.
_PASSENGER_STEP, _FLIGHT_STEP = 5, 7


def fill_bookings(connection: sqlite3.Connection) -> None:
    """Fill the table of bookings by that of flights. The same flights always give the same ones."""
    connection.executemany("INSERT INTO bookings VALUES (?, ?, ?, ?, ?)", list(_bookings(connection)))


def _bookings(connection: sqlite3.Connection) -> Iterator[tuple[str, str, str, str, int]]:
    routes = ", ".join("?" * len(_ROUTES))
    sql = f"SELECT flight_id FROM flights WHERE date = ? AND origin || '-' || destination IN ({routes}) ORDER BY rowid"  # noqa: S608
    for day, date in enumerate(_DATES):
        flights = [row[0] for row in connection.execute(sql, (date, *_ROUTES))]
        for place in range(_A_DAY if flights else 0):
            number = day * _A_DAY + place
            yield (
                f"bk_{opaque(number, length=6)}",
                flights[place % _FLIGHTS_A_DAY * _FLIGHT_STEP % len(flights)],
                _PASSENGERS[(place * _PASSENGER_STEP + 11 * day) % len(_PASSENGERS)],
                "business" if number % 7 in (2, 5) else "economy",
                1 + number * 5 % 13 % 4,
            )
