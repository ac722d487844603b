"""The files of stored runs, for the gateway's clients and the viewer."""

from __future__ import annotations

from atc.store import RunStore
from protocols.files import FileValue


def open_file(store: RunStore, run: str, digest: str) -> FileValue | None:
    """Return the file with this SHA-256 that a tool returned in a run, or None.

    `run` is the id of the run. Reading the file raises `FileMissing` if its bytes are gone.

    Raises:
        UnknownRun: there is no such run.
    """
    info = store.load(run).find_file(digest)
    return None if info is None else FileValue(info, store.files(run).content(info))
