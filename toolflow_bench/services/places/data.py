"""The places data as one SQLite file, built once into the cache folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from toolflow_bench.services.database import Database, insert
from toolflow_bench.services.places.names import telling_words
from toolflow_bench.services.places.sources import geography, storm_rows

DATABASE = Database(name="places", home=Path(__file__).parent, subject="the places database", megabytes=100)


def places_database(folder: Path | None = None, *, announce: Callable[[str], None] | None = None) -> Path:
    """The places database (about 40 MB), built into `folder` (default: the cache folder) where it is not there yet.

    `announce` gets one sentence before a build, which takes some seconds.

    Raises:
        SourceUnavailable: a wheel is not installed, or the folder cannot be written.
    """
    return DATABASE.build(_fill, folder=folder, announce=announce)


def _fill(connection: sqlite3.Connection) -> None:
    storms, observations = storm_rows()
    insert(connection, "storms", storms)
    insert(connection, "observations", observations)
    tables = geography()
    for table, rows in tables.items():
        insert(connection, table, rows)
    words = {
        (word, identity)
        for identity, name, icao, iata, municipality, *_ in tables["airfields"]
        for word in telling_words(f"{name} {icao} {iata or ''} {municipality or ''}")
    }
    insert(connection, "airfield_words", sorted(words))
