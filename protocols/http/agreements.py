"""Agreements of the user to send a credential with tools whose document declares none for them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from protocols.private_files import keep_private, write_whole
from protocols.schema import loads
from protocols.urls import Origin


class Agreements:
    """Stores agreements, each for one origin and one security scheme, in a private file.

    Without a file they are kept in memory. Thread-safe.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: set[tuple[str, str]] = set()

    def has(self, origin: Origin, schemes: Iterable[str]) -> bool:
        """Return True if the user agreed to all these schemes for an origin."""
        known = self._read()
        return all((origin.url, scheme) in known for scheme in schemes)

    def add(self, origin: Origin, schemes: Iterable[str]) -> None:
        """Record that the user agreed to these schemes for an origin."""
        with self._lock:
            self._known = self._read() | {(origin.url, scheme) for scheme in schemes}
            if self._path is not None:
                write_whole(self._path, json.dumps(sorted(self._known)))

    def _read(self) -> set[tuple[str, str]]:
        """Return all agreements, also those that another process has stored since."""
        if self._path is None or not self._path.is_file():
            return set(self._known)
        keep_private(self._path)
        with suppress(ValueError, TypeError, OSError):
            return {(str(url), str(scheme)) for url, scheme in loads(self._path.read_text())}
        return set()
