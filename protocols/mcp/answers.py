"""What an MCP server answers: its result as the value that programs get, or what is known of a call without one."""

from __future__ import annotations

from protocols.errors import Outcome
from protocols.jsontypes import Json, JsonObject
from protocols.reply import Answer, Unreadable, read


class NoResult(Exception):
    """A server gave no result; the message says why. `outcome` is `None` where it answered with an error of its own."""

    def __init__(self, message: str, outcome: Outcome | None) -> None:
        super().__init__(message)
        self.outcome = outcome


def text_of(result: JsonObject) -> str:
    """What the blocks of a result say."""
    return "\n".join(str(block.get("text", "")) for block in result.get("content", ())).strip()


def value_of(result: JsonObject, schema: JsonObject | None) -> Json:
    """What programs get: the structured content, else the only content block, else the list of them.

    Text that is JSON is read as JSON unless `schema` wants text. Of images, sound and files that are not text, only
    what they are and how many bytes they have is given.
    """
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    values = [_block(block, schema) for block in result.get("content", ())]
    return values[0] if len(values) == 1 else values or None


def _block(block: JsonObject, schema: JsonObject | None) -> Json:
    if block.get("type") == "text":
        text = str(block.get("text", ""))
        try:
            return read(Answer(status=200, headers={}, body=text.encode("utf-8", "replace")), schema)
        except Unreadable:  # drift from the schema, which is passed on
            return text
    described = {"type": block.get("type"), **block.get("resource", block)}
    base64 = described.pop("data", None) or described.pop("blob", None)
    found = {key: value for key, value in described.items() if key not in ("_meta", "annotations", "icons")}
    return found | ({"bytes": len(base64) * 3 // 4 - base64[-2:].count("=")} if isinstance(base64, str) else {})
