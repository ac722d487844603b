"""An MCP server → protocols. What it says of its tools is data; what it promises is not believed by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from protocols.errors import InvalidProtocol
from protocols.jsontypes import Json, JsonObject
from protocols.mcp.servers import Servers
from protocols.protocol import Annotations, ToolProtocol, load
from protocols.schema import validator
from protocols.sources.mcp_places import with_places
from protocols.words import snake

_READS = frozenset({
    "browse", "calculate", "compare", "compute", "convert", "count", "current", "describe", "diff", "exists",
    "fetch", "find", "get", "has", "head", "history", "info", "inspect", "is", "list", "log", "lookup", "peek",
    "read", "retrieve", "search", "show", "stat", "stats", "status", "summarize", "summary", "tree", "version",
    "view",
})  # fmt: skip
"""Words of names that speak of reading."""

_ACTS = frozenset({
    "accept", "add", "allocate", "append", "apply", "approve", "archive", "assign", "ban", "block", "book", "buy",
    "call", "cancel", "change", "charge", "clear", "clone", "close", "commit", "configure", "confirm", "copy",
    "create", "deactivate", "delete", "deploy", "destroy", "disable", "dispatch", "drop", "edit", "email", "empty",
    "enable", "erase", "eval", "exec", "execute", "flush", "follow", "forward", "grant", "import", "insert",
    "install", "invite", "invoke", "kill", "launch", "like", "lock", "make", "mark", "merge", "modify", "move",
    "mute", "new", "notify", "open", "order", "overwrite", "patch", "pay", "place", "post", "publish", "purchase",
    "purge", "push", "put", "rebase", "register", "reject", "remove", "rename", "replace", "reply", "reset",
    "restart", "revert", "revoke", "rotate", "run", "save", "schedule", "sell", "send", "set", "share", "start",
    "stop", "store", "submit", "subscribe", "swap", "sync", "terminate", "transfer", "trigger", "truncate",
    "unblock", "uninstall", "unlock", "unsubscribe", "update", "upload", "upsert", "withdraw", "write",
})  # fmt: skip
"""Words of names that speak of doing something."""


def read_mcp(text: str, servers: Servers, *, name: str = "", trusted: bool = False) -> tuple[str, list[ToolProtocol]]:
    """The server's name and the tools of the MCP server that `text` spells (`mcp:COMMAND ARGS`, `mcp:https://…`).

    `trusted`: what the server says of its tools' effects is believed, as it also is where the settings say so.

    Raises:
        SourceUnavailable: see `Servers.open`.
        InvalidProtocol: a tool has no name.
    """
    known_as, server, tools = servers.open(text, name=name)
    trusted = trusted or server.trusted
    protocols = [_protocol(tool, known_as, trusted=trusted) for tool in tools]
    return known_as, [with_places(protocol, server.command) for protocol in protocols]


def believed(name: str, hints: Json, *, trusted: bool) -> Annotations:
    """What a tool is taken to do, by its name and its server's hints.

    A hint that asks for more care is always heeded. That a tool only reads is believed of a trusted server; of others,
    as MCP has it, hints are untrusted, and the name must say so as well (`get_weather`, `list_files`), with no word of
    it speaking of anything else (`get_and_delete`).
    """
    given: Mapping[str, Any] = hints if isinstance(hints, Mapping) else {}
    said = {key: value for key in ("readOnlyHint", "destructiveHint", "idempotentHint")
            if isinstance(value := given.get(key), bool)}  # fmt: skip
    words = set(snake(name).split("_"))
    agrees = bool(words & _READS) and not words & _ACTS
    reads = said.get("readOnlyHint") is True and said.get("destructiveHint") is not True and (trusted or agrees)
    if reads:
        return Annotations(read_only=True)
    return Annotations(
        read_only=False,
        destructive=said.get("destructiveHint") if trusted or said.get("destructiveHint") else None,
        idempotent=said.get("idempotentHint") if trusted or said.get("idempotentHint") is False else None,
    )


def _protocol(tool: JsonObject, server: str, *, trusted: bool) -> ToolProtocol:
    name = str(tool.get("name", ""))
    where = f"the MCP server {server!r}"
    if not name:
        raise InvalidProtocol(where, "one of its tools has no name.")
    document: dict[str, Any] = {
        "name": name,
        "title": tool.get("title") or (tool.get("annotations") or {}).get("title") or "",
        "description": str(tool.get("description") or "").strip(),
        "inputSchema": _input(tool.get("inputSchema")),
        "binding": {"mcp": {"server": server, "tool": name}},
        "collection": server,
    }
    if (output := tool.get("outputSchema")) is not None and _compiles(output):
        document["outputSchema"] = output
    return replace(load(document, where=where), annotations=believed(name, tool.get("annotations"), trusted=trusted))


def _input(schema: Json) -> JsonObject:
    """The schema of the arguments; where it is none, the names of the arguments alone."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    named = {str(key): part for key, part in properties.items()} if isinstance(properties, Mapping) else {}
    if isinstance(schema, Mapping) and _compiles(schema):
        kept = {key: part for key, part in schema.items() if key not in ("$schema", "$id")}
        return {"type": "object", **kept, "properties": named}
    return {"type": "object", "properties": {key: part if _compiles(part) else {} for key, part in named.items()}}


def _compiles(schema: Json) -> bool:
    if not isinstance(schema, Mapping):
        return False
    try:
        validator({key: part for key, part in schema.items() if key not in ("$schema", "$id")})
    except ValueError:
        return False
    return True
