"""The store of runs: `RunStore` says what one does, `Store` keeps them in a SQLite file."""

from atc.store.sql import RunStore
from atc.store.sqlite import Store
from atc.store.stored import RunRefused, StoreUnavailable, UnknownRun

__all__ = ["RunRefused", "RunStore", "Store", "StoreUnavailable", "UnknownRun"]
