"""What is shown of a value that is too large: a handle, its shape and a beginning that is complete JSON."""

from __future__ import annotations

import json
import secrets
import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from typing import Any

from protocols.errors import ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Annotations, ToolProtocol
from protocols.schema import shape
from protocols.toolbox import Tool

READ_RESULT = "read_result"
"""The tool by which a program reads a value that was too large to be shown."""

_LONGEST_SHOWN = 8_000
"""Characters of JSON. A longer value is shown as a handle, its shape and its first items."""
_PREVIEW = 1_500
_KEPT_BYTES = 64 * 2**20


class Results:
    """Values that were too large to be shown, by handle, for as long as there is room.

    Where there is none, the oldest of the client with the most goes, so that one client's do not drive out another's.
    A handle cannot be guessed: whoever has it was shown it. Safe to share between threads.
    """

    def __init__(self, *, kept_bytes: int = _KEPT_BYTES) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[str, str]] = OrderedDict()  # the client's name and the value as JSON
        self._room = kept_bytes

    def shown(self, value: Json, client: str = "") -> Json:
        """An answer to this client as it is, or a handle with its size, its shape and a preview that is whole JSON."""
        text = json.dumps(value, ensure_ascii=False)
        if len(text) <= _LONGEST_SHOWN:
            return value
        handle = self._keep(text, client)
        return {
            "handle": handle,
            "characters": len(text),
            "shape": shape(value),
            "preview": _beginning(value),
            "read_with": f"{READ_RESULT}(handle={handle!r}) in a program gives it whole",
        }

    def tool(self) -> Tool:
        """`read_result`, which programs call to have a kept value."""
        protocol = ToolProtocol(
            name=READ_RESULT,
            description="A value that an earlier reply showed only as a handle, whole.",
            input_schema={
                "type": "object",
                "properties": {"handle": {"type": "string", "description": "As the reply gave it."}},
                "required": ["handle"],
            },
            annotations=Annotations(read_only=True),
        )
        return Tool(protocol, self._read, source="gateway")

    def _keep(self, text: str, client: str) -> str:
        handle = f"result-{secrets.token_hex(8)}"
        with self._lock:
            self._kept[handle] = (client, text)
            while len(self._kept) > 1:
                sizes: Counter[str] = Counter()
                for owner, kept in self._kept.values():
                    sizes[owner] += len(kept)
                if sizes.total() <= self._room:
                    break
                most = sizes.most_common(1)[0][0]
                del self._kept[next(name for name, (owner, _) in self._kept.items() if owner == most)]
        return handle

    def _read(self, arguments: JsonObject) -> Json:
        with self._lock:
            found = self._kept.get(str(arguments["handle"]))
        if found is None:
            raise ToolError(404, "no such handle: it was never given, or its value had to make room for others.")
        value: Json = json.loads(found[1])
        return value


def _beginning(value: Json, room: int = _PREVIEW) -> Json:
    """The first parts of a value, each whole, in about `room` characters of JSON."""
    match value:
        case str():
            return value if len(value) <= room else value[:room] + " …"
        case Mapping():
            kept: dict[str, Any] = {}
            for key, item in value.items():
                if room <= 0:
                    kept["…"] = f"{len(value) - len(kept)} more keys"
                    break
                kept[key] = _beginning(item, max(room // 2, 40))
                room -= len(json.dumps(kept[key], ensure_ascii=False)) + len(key)
            return kept
        case list() | tuple():
            items: list[Json] = []
            for item in value:
                if room <= 0:
                    items.append(f"… {len(value) - len(items)} more items")
                    break
                items.append(_beginning(item, max(room // 2, 40)))
                room -= len(json.dumps(items[-1], ensure_ascii=False))
            return items
    return value
