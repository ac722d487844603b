"""The store of runs: `RunStore` says what one does, `Store` keeps them in a SQLite file."""

from atc.store.sql import RunStore
from atc.store.sqlite import Store
from atc.store.stored import RunEnded, RunTaken, StoreUnavailable, ToolsChanged, UnknownRun

__all__ = ["RunEnded", "RunStore", "RunTaken", "Store", "StoreUnavailable", "ToolsChanged", "UnknownRun"]
