"""The store of runs: `RunStore` is its interface, `Store` keeps runs in a SQLite file."""

from os import PathLike

from atc.store.sql import RunStore
from atc.store.sqlite import Store
from atc.store.stored import RunRefused, StoreUnavailable, UnknownRun


def store_at(place: str | PathLike[str]) -> RunStore:
    """Open the store at `place`: a PostgreSQL database (`postgresql://…`), or a file.

    Raises:
        StoreUnavailable: the database or file cannot be used.
        ModuleNotFoundError: `place` is a database, and the extra `scale` is not installed.
    """
    if isinstance(place, str) and place.startswith(("postgresql://", "postgres://")):
        # Imported late, so that psycopg is needed only with PostgreSQL.
        from atc.store.postgres import (
            PostgresStore,
        )

        return PostgresStore(place)
    return Store(place)


__all__ = ["RunRefused", "RunStore", "Store", "StoreUnavailable", "UnknownRun", "store_at"]
