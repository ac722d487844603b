"""Programs that were not executed because the check found errors against the response schemas.

If a client sends such a program again, it is executed, because the schema may be wrong.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

INSIST = (
    "If the program is right and the response schema is wrong, send the same program again: it is"
    " executed then."
)
_KEPT = 200
"""Maximum number of programs that are kept for one client."""
_CLIENTS = 1_000
"""Maximum number of clients whose programs are kept."""


class RefusedPrograms:
    """Remembers the latest programs of all clients that were not executed. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, OrderedDict[str, None]] = OrderedDict()

    def add(self, client: str, source: str) -> None:
        """Remember a program of a client, and forget the oldest one if there are too many."""
        with self._lock:
            programs = self._kept.setdefault(client, OrderedDict())
            self._kept.move_to_end(client)
            programs[_digest(source)] = None
            if len(programs) > _KEPT:
                programs.popitem(last=False)
            if len(self._kept) > _CLIENTS:
                self._kept.popitem(last=False)

    def contains(self, client: str, source: str) -> bool:
        """Return True if this client sent this program before and it was not executed."""
        with self._lock:
            return _digest(source) in self._kept.get(client, {})


def _digest(source: str) -> str:
    return hashlib.sha256(source.strip().encode(errors="replace")).hexdigest()
