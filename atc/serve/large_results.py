"""Values that are too large for a reply: the client gets a handle, the shape and a sample."""

from __future__ import annotations

import json
import secrets
import threading
from collections import Counter
from typing import Any

from protocols.errors import ToolError
from protocols.schema import Json, shape
from protocols.truncate import sample_value

_LONGEST_SHOWN = 8_000
"""Maximum length of a value in a reply, in characters of JSON. A longer value is stored instead."""
_PREVIEW = 1_500
_KEPT_CHARACTERS = 64 * 2**20
"""Maximum number of characters of JSON that are stored for all clients together.

If it is exceeded, the oldest value of the client with the most characters is deleted.
"""


class LargeResults:
    """Stores values that were too large for a reply to a client. Thread-safe.

    A program reads a stored value with its handle. A handle cannot be guessed, so only clients that
    received it can read the value.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # The client and the value as JSON, keyed by handle; the oldest value comes first.
        self._kept: dict[str, tuple[str, str]] = {}
        self._characters = Counter[str]()  # keyed by client

    def shorten(self, value: Json, client: str) -> Json:
        """Return a value that may be too large for a reply, or a dictionary that stands for it.

        A value that is too large is stored. The dictionary has the handle with which a program
        reads the value, the names and types of its fields (its shape), and a sample.
        """
        text = json.dumps(value, ensure_ascii=False)
        if len(text) <= _LONGEST_SHOWN:
            return value
        handle = f"result-{secrets.token_hex(8)}"
        with self._lock:
            self._kept[handle] = client, text
            self._characters[client] += len(text)
            while len(self._kept) > 1 and self._characters.total() > _KEPT_CHARACTERS:
                self._make_room()
        return {
            "handle": handle,
            "characters": len(text),
            "shape": shape(value),
            "preview": sample_value(value, most=_PREVIEW),
            "read_with": f"read_result(handle={handle!r}) in a program gives it whole",
        }

    def _make_room(self) -> None:
        """Delete the oldest stored value of the client whose values have the most characters."""
        ((greediest, _),) = self._characters.most_common(1)
        oldest = next(handle for handle, (client, _) in self._kept.items() if client == greediest)
        _, text = self._kept.pop(oldest)
        self._characters[greediest] -= len(text)

    def read_result(self, handle: str) -> Any:
        """Return a value whole that an earlier reply showed only as a handle.

        read_only = True

        Args:
            handle: As the reply gave it.
        """
        with self._lock:
            _, found = self._kept.get(handle, ("", None))
        if found is None:
            raise ToolError(
                404, "no such handle: it was never given, or its value had to make room for others."
            )
        return json.loads(found)
