"""The file in which OAuth tokens are kept between commands."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from protocols.private_files import keep_private, write_whole
from protocols.schema import JsonObject, loads


class TokenFile:
    """Stores OAuth tokens, keyed by name, in a file that only the user can read.

    Without a file they are kept in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[str, Any] = {}

    def get(self, name: str) -> dict[str, Any]:
        """Return the token that this or another process stored under `name`, or an empty dict."""
        if self._path is not None and self._path.is_file():
            keep_private(self._path)
            with suppress(ValueError, OSError):
                self._known = dict(loads(self._path.read_text()))
        return dict(self._known.get(name, {}))

    def save(self, name: str, token: JsonObject) -> None:
        """Store an OAuth token under `name`, and keep the other tokens in the file."""
        with self._lock:
            self.get(name)  # reload, to keep what another process has stored since
            self._known[name] = dict(token)
            if self._path is not None:
                write_whole(self._path, json.dumps(self._known))
