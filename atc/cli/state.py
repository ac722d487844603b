"""What verbs keep in the state folder: runs, learned response schemas, saved tools."""

from __future__ import annotations

from pathlib import Path

from atc.config import Config
from atc.learned import LearnedSchemas
from atc.store import Store


def saved_folder(config: Config) -> Path:
    """Where the user's saved tools are, a file each."""
    return config.state_dir / "saved-tools"


def open_store(config: Config) -> Store:
    """The store of runs in the state folder."""
    return Store(config.state_dir / "runs.sqlite")


def open_learned(config: Config) -> LearnedSchemas | None:
    """The response schemas that earlier runs have learned; None where nothing is to be learned."""
    return LearnedSchemas(config.state_dir / "learned") if config.learn else None
