"""What an MCP server answers: its result as the value that programs get, or what is known of a call that failed."""

from __future__ import annotations

from typing import Any, NamedTuple

from protocols.jsontypes import Json, JsonObject
from protocols.reply import Answer, Unreadable, read


class ConnectionFailed(Exception):
    """The server could not be started or reached; nothing was called. The message says what it said."""


class AnswerLost(Exception):
    """A call was sent, and no answer came: time-out, the server's end, or what is no answer."""


class AnswerRefused(Exception):
    """The server answered a call with an error of the protocol; `code` is JSON-RPC's."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class CallResult(NamedTuple):
    """What a tool gave: MCP's content blocks as JSON, and its structured content, `None` where it has none."""

    content: list[dict[str, Any]]
    structured: Json
    is_error: bool

    @property
    def text(self) -> str:
        """What its blocks say."""
        return "\n".join(str(block.get("text", "")) for block in self.content).strip()

    def value(self, schema: JsonObject | None) -> Json:
        """What programs get: the structured content, else the only content block, else the list of them.

        Text that is JSON is read as JSON unless `schema` wants text. Of images, sound and files that are not text, only
        what they are and how many bytes they have is given.
        """
        if self.structured is not None:
            return self.structured
        values = [_block(block, schema) for block in self.content]
        return values[0] if len(values) == 1 else values or None


def _block(block: JsonObject, schema: JsonObject | None) -> Json:
    match block.get("type"):
        case "text":
            text = str(block.get("text", ""))
            try:
                return read(Answer(status=200, headers={}, body=text.encode("utf-8", "replace")), schema)
            except Unreadable:  # drift from the schema, which is passed on
                return text
        case "image" | "audio" as kind:
            return {"type": kind, "mimeType": block.get("mimeType"), "bytes": _size(block.get("data"))}
        case "resource":
            inner = block.get("resource", {})
            described = {"type": "resource", "uri": inner.get("uri"), "mimeType": inner.get("mimeType")}
            return described | ({"text": inner["text"]} if "text" in inner else {"bytes": _size(inner.get("blob"))})
        case _:
            return {key: value for key, value in block.items() if key not in ("_meta", "annotations", "icons")}


def _size(base64: Json) -> int:
    text = base64 if isinstance(base64, str) else ""
    return len(text) * 3 // 4 - text[-2:].count("=")
