"""What verbs keep in the state folder: runs, learned response schemas, saved tools."""

from __future__ import annotations

from pathlib import Path

from atc.config import Config
from atc.learned import LearnedSchemas
from atc.store import RunStore, Store


def saved_folder(config: Config) -> Path:
    """Where the user's saved tools are, a file each."""
    return config.state_dir / "saved-tools"


def open_store(config: Config) -> RunStore:
    """The store of runs: the PostgreSQL database that `store` names, else a file in the state folder."""
    if config.store is None:
        return Store(config.state_dir / "runs.sqlite")
    from atc.store.postgres import PostgresStore  # psycopg is imported by those alone who use it

    return PostgresStore(config.store)


def open_learned(config: Config) -> LearnedSchemas | None:
    """The response schemas that earlier runs have learned; None where nothing is to be learned."""
    return LearnedSchemas(config.state_dir / "learned") if config.learn else None
