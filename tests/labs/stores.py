"""Both stores of runs, for tests that hold for either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from atc.store import RunStore, Store
from atc.store.postgres import PostgresStore

both_stores = pytest.mark.parametrize("place", ["sqlite", "postgresql"], indirect=True)
"""Runs a test that uses the fixture `place` once over each."""


def open_store(place: str, **how: Any) -> RunStore:
    """The store at a path, or at a database's address."""
    return PostgresStore(place, **how) if place.startswith("postgresql://") else Store(Path(place))
