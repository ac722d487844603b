"""A tool of an MCP server as a plain function: what its result is as JSON, and what is known when it fails."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from protocols.credentials import Mask
from protocols.errors import Outcome, ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.mcp.connection import AnswerLost, AnswerRefused, CallResult, ConnectionFailed
from protocols.plain import to_json
from protocols.protocol import McpBinding, ToolProtocol
from protocols.reply import Answer, Unreadable, one_line, read

if TYPE_CHECKING:
    from protocols.mcp.servers import Servers

_MAX_ANSWER = 65_536  # characters of an error kept for the host
_NOTHING_RAN = (-32601, -32602)  # JSON-RPC: no such method, bad parameters. Others the SDK also makes up itself.
_UNFIT = re.compile(
    r"(MCP error -3260[12]\b|Input validation error\b|.{0,200}\b\d+ validation errors? for \w+)", re.DOTALL
)
"""How the SDKs begin the error of a call whose arguments they refused, without having run the tool."""
_UNSURE = re.compile(
    r"\b(timed?[ -]?out|timeout|deadline exceeded|connection (reset|closed|aborted|lost)|socket hang up|disconnected"
    r"|(status|code|http|error)\W{0,3}5\d\d|internal server error|bad gateway|service unavailable)\b",
    re.IGNORECASE,
)
"""How a tool says that it does not know itself how far what it asked somebody else came."""


def mcp_call(
    protocol: ToolProtocol, binding: McpBinding, servers: Servers, *, reads: bool, mask: Mask
) -> Callable[[JsonObject], Json]:
    """A call of an MCP tool; see `Invoker.bind`."""
    failed: Outcome = "refused" if reads else "unknown"

    def call(arguments: JsonObject) -> Json:
        _check(protocol.name, arguments)
        try:
            result = servers.call(binding.server, binding.tool, arguments, tool=protocol.name)
        except ConnectionFailed as error:
            raise _error(mask, f"{protocol.name}: the MCP server {binding.server!r}: {error}", "not_run") from None
        except AnswerLost as error:
            raise _error(mask, f"{protocol.name}: the MCP server {binding.server!r}: {error}", "unknown") from None
        except AnswerRefused as error:
            outcome: Outcome = "refused" if error.code in _NOTHING_RAN else failed
            raise _error(mask, str(error), outcome, answer=str(error)) from None
        if result.is_error:
            text = "\n".join(str(block.get("text", "")) for block in result.content).strip() or "no explanation"
            unsure = _UNSURE.search(text) and not _UNFIT.match(text)
            raise _error(mask, text, failed if unsure else "refused", answer=text)
        try:
            return mask.result(to_json(value_of(result, protocol.output_schema)))
        except TypeError as error:
            raise _error(mask, f"{protocol.name}: {error}", failed) from None

    return call


def value_of(result: CallResult, schema: JsonObject | None) -> Json:
    """What programs get of a result: its structured content, else its only content block, else the list of them.

    Text that is JSON is read as JSON unless `schema` wants text. Of images, sound and files that are not text, only
    what they are and how many bytes they have is given.
    """
    if result.has_structured:
        return result.structured
    values = [_block(block, schema) for block in result.content]
    return values[0] if len(values) == 1 else values or None


def _block(block: JsonObject, schema: JsonObject | None) -> Json:
    match block.get("type"):
        case "text":
            return _text(str(block.get("text", "")), schema)
        case "image" | "audio" as kind:
            return {"type": kind, "mimeType": block.get("mimeType"), "bytes": _size(block.get("data"))}
        case "resource":
            inner = block.get("resource", {})
            told = {"type": "resource", "uri": inner.get("uri"), "mimeType": inner.get("mimeType")}
            if "text" in inner:
                return told | {"text": inner["text"]}
            return told | {"bytes": _size(inner.get("blob"))}
        case _:
            return {key: value for key, value in block.items() if key not in ("_meta", "annotations", "icons")}


def _text(text: str, schema: JsonObject | None) -> Json:
    try:
        return read(Answer(status=200, headers={}, body=text.encode("utf-8", "replace")), schema)
    except Unreadable:  # drift from the schema, which is passed on
        return text


def _size(base64: Json) -> int:
    text = base64 if isinstance(base64, str) else ""
    return len(text) * 3 // 4 - text[-2:].count("=")


def _check(tool: str, arguments: JsonObject) -> None:
    """The SDK's connection does not survive an argument that is not JSON."""
    try:
        json.dumps(arguments, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        problem = "half of a character" if isinstance(error, UnicodeEncodeError) else str(error)
    else:
        return
    raise ToolError(None, f"{tool}: the arguments are not JSON ({problem}).", outcome="not_run")


def _error(mask: Mask, text: str, outcome: Outcome, *, answer: str | None = None) -> ToolError:
    kept = mask(answer)[:_MAX_ANSWER] if answer is not None else None
    return ToolError(None, one_line(mask(text)), outcome=outcome, answer=kept)
