"""Programs of clients that were not executed because they do not fit the response schemas."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

INSIST = (
    "If the program is right and the response schema is wrong, send the same program again: it is"
    " executed then."
)
_KEPT = 1_000


class RefusedPrograms:
    """The latest such programs of all clients. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, None] = OrderedDict()

    def add(self, client: str, source: str) -> None:
        """Remember a program of a client. The oldest one is forgotten if there are too many."""
        with self._lock:
            self._kept[_digest(client, source)] = None
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)

    def contains(self, client: str, source: str) -> bool:
        """Return True if this program of this client was not executed before."""
        with self._lock:
            return _digest(client, source) in self._kept


def _digest(client: str, source: str) -> str:
    return hashlib.sha256(f"{client}\0{source.strip()}".encode(errors="replace")).hexdigest()
