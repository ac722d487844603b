"""The MCP servers of one `Invoker`: finds, starts and connects them, and calls their tools."""

from __future__ import annotations

import re
import shlex
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from protocols.call_limits import CallLimits
from protocols.errors import (
    CredentialMissing,
    InvalidProtocol,
    Outcome,
    SourceUnavailable,
    ToolError,
)
from protocols.http.credentials import add_secrets, refused_credential_remedy
from protocols.http.oauth import Keyring, Wanted
from protocols.http.request import HttpRequest, refuse_unless_json
from protocols.mcp.call import McpCall, with_limit_advice
from protocols.naming import identifier
from protocols.pace import Paces
from protocols.protocol import Annotations, McpBinding, ToolProtocol
from protocols.response import Answer, UnreadableBody, one_line, read_body, to_json
from protocols.schema import Json, JsonObject, as_mapping, dumps
from protocols.settings import McpServer, headers_of
from protocols.urls import is_url, split_url
from protocols.validate import is_schema

if TYPE_CHECKING:
    from protocols.mcp.connection import Connection

_MAX_ANSWER = 65_536  # characters that are kept of an error's text
_MAX_REMEDY = 2_000  # characters; the last lines of a server's log are part of it
_UNSURE = re.compile(
    r"timed?[ -]?out|timeout|ECONNRESET"
    r"|\b(EPIPE|broken pipe|deadline exceeded|connection (reset|closed|aborted|lost)"
    r"|socket hang up|fetch failed|other side closed|closed connection"
    r"|(unexpected|premature) (EOF|close)|disconnected"
    r"|(status|code|http|error)\W{0,3}5\d\d|internal server error"
    r"|bad gateway|service unavailable)\b",
    re.IGNORECASE,
)
"""Error texts which show that the tool itself does not know if its own request took effect."""


def is_mcp(text: str) -> bool:
    """Return True if a tool source is an MCP server.

    Such a source is written `mcp:COMMAND ARGS`, `mcp:https://…` or `mcp:NAME`.
    """
    return text[:4].lower() == "mcp:"


@dataclass
class _ServerEntry:
    """An MCP server that is configured or was opened, with its connection if there is one."""

    server: McpServer
    problem: str = ""
    """Why the server cannot be used; empty if it can."""
    connection: Connection | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def drop(self) -> None:
        """Close the connection to the server, if there is one, and forget it."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None


class Servers:
    """The MCP servers that are configured or were opened, keyed by name. Thread-safe."""

    def __init__(self, keyring: Keyring, paces: Paces) -> None:
        self._keyring = keyring
        self._paces = paces
        self._settings = keyring.settings
        servers = keyring.settings.servers
        problems = keyring.settings.problems
        self._known = {
            name: _ServerEntry(server, problems.get(f"mcp.{name}", ""))
            for name, server in servers.items()
        }
        self._lock = threading.Lock()

    def open(self, text: str, *, name: str = "") -> tuple[str, list[ToolProtocol]]:
        """Connect to the server of the tool source `text`. Return the server's name and its tools.

        Bindings refer to the server by its name, which is `name` if that is not empty. A command
        that is not configured is started only if the setting `confirm_start` allows it.

        Raises:
            SourceUnavailable: the server may not or cannot be started, does not answer or has no
                tools, its name is taken, or the SDK is not installed.
            InvalidProtocol: a tool has no name.
        """
        found, server = self._parse_source(text)
        confirm = self._settings.confirm_start
        if not found and server.command and not (confirm and confirm(server)):
            advice = (
                "Run this on a terminal to be asked, give --start-servers,"
                " or set [mcp.NAME] in your own settings."
            )
            if confirm is None:
                advice = (
                    "If you trust it: Agent(…, config=Config(start_servers=True)),"
                    " or load_tools(…, invoker=Invoker(InvokeSettings(confirm_start=...)))."
                )
            raise SourceUnavailable(
                f"the command {server.masked_text!r} was not started: nobody agreed to it. {advice}"
            )
        entry = self._known[found] if found else _ServerEntry(server)
        try:
            connection = self._connect(entry)
            tools = connection.tools()
        except ToolError as error:
            entry.drop()
            problem = error.body.rstrip(".")
            raise SourceUnavailable(
                f"the MCP server {server.masked_text!r} gives no tools: {problem}."
            ) from error
        known_as = name or found or identifier(connection.name or "mcp")
        self._register(entry, known_as, text, may_replace=bool(name or found))
        if not tools:
            raise SourceUnavailable(f"the MCP server {known_as!r} ({text}) has no tools.")
        trusted = server.trusted or self._settings.trust_annotations
        return known_as, [_protocol(tool, known_as, trusted=trusted) for tool in tools]

    def _register(
        self, entry: _ServerEntry, known_as: str, text: str, *, may_replace: bool
    ) -> None:
        """Add a connected server under the name `known_as`.

        If the user chose the name (`may_replace`), it replaces a server that was opened under this
        name before, but never a configured one.

        Raises:
            SourceUnavailable: another server has the name and is not replaced.
        """
        with self._lock:
            other = self._known.get(known_as)
            if other is not None and other is not entry:
                if known_as in self._settings.servers or not may_replace:
                    entry.drop()
                    problem = (
                        f"the MCP server {entry.server.masked_text!r} would be known as"
                        f" {known_as!r}, as another server is"
                    )
                    raise SourceUnavailable(f"{problem}; name it yourself: 'NAME={text}'.")
                other.drop()
            self._known[known_as] = entry

    def bind(self, protocol: ToolProtocol, binding: McpBinding, *, reads: bool) -> McpCall:
        """Return a function that calls an MCP tool.

        It takes arguments keyed by original name, returns the result, and raises `ToolError` for a
        failed call. If the connection has ended, the next call connects again.
        """
        tool, name = protocol.name, binding.server
        mask = self._keyring.mask
        failed: Outcome = "refused" if reads else "unknown"

        def call(arguments: JsonObject) -> Json:
            refuse_unless_json(tool, arguments)  # anything else would break the SDK's connection
            if name not in self._known:
                problem = (
                    f"the tool {tool!r} belongs to the MCP server {name!r}, which is not configured"
                    f"; add [mcp.{name}] with its command or url to your settings."
                )
                raise ToolError(None, problem, outcome="not_run", remedy=problem)
            known = self._known[name]
            limits = self._limits(known)
            try:
                with self._paces.of(f"mcp:{name}", limits).call(most_seconds=limits.call_seconds):
                    result = self._connect(known).call(binding.tool, arguments, failed=failed)
                return mask.result(to_json(_value(result, protocol.output_schema, failed=failed)))
            except CredentialMissing:
                raise
            except ToolError as lost:
                answer = None if lost.answer is None else mask(lost.answer)
                problem = with_limit_advice(mask(lost.body), limits)
                text = answer or f"{tool}: the MCP server {name!r}: {problem}"
                raise ToolError(
                    lost.status,
                    one_line(text),
                    outcome=lost.outcome,
                    answer=answer and answer[:_MAX_ANSWER],
                    remedy=self._remedy(tool, binding, lost),
                ) from None
            except TypeError as error:
                raise ToolError(None, one_line(mask(f"{tool}: {error}")), outcome=failed) from None

        return McpCall(call, partial(self._has_secrets, name))

    def _has_secrets(self, name: str) -> bool:
        """Return True if the server of this name is given a secret, such as a stored sign-in."""
        known = self._known.get(name)
        if known is None:
            return False
        server = known.server
        headers = server.url and headers_of(self._settings.headers, split_url(server.url)[0])
        signed_in = server.url and self._keyring.tokens.get(f"mcp {server.url}")
        return bool(server.has_secrets or headers or signed_in)

    def _remedy(self, tool: str, binding: McpBinding, lost: ToolError) -> str | None:
        """Return what a person must do after a call has failed with `lost`, see `ToolError`."""
        server = self._known[binding.server].server
        if lost.status == 401 and server.credential:
            self._keyring.reject([server.credential])
            place = {server.credential: self._keyring.place_of(server.credential)}
            origin, _ = split_url(server.url)
            return refused_credential_remedy(tool, origin, 401, "", place)
        if lost.remedy is None:
            return None
        where = f"the MCP server {binding.server!r} ({self.place(binding)})"
        problem = self._keyring.mask(f"{tool}: {where}: {lost.remedy}")
        return one_line(problem, limit=_MAX_REMEDY)

    def place(self, binding: object) -> str:
        """Return the command or address of the MCP server that a binding names, without secrets.

        Return "" for bindings that are not of the MCP kind, or that name an unknown server.
        """
        known = self._known.get(binding.server) if isinstance(binding, McpBinding) else None
        return known.server.masked_text if known is not None else ""

    def close(self) -> None:
        """Close all connections, and end the servers that this process started."""
        for known in self._known.values():
            with known.lock:
                known.drop()

    def _parse_source(self, text: str) -> tuple[str, McpServer]:
        """Return (name, server) for a tool source such as `mcp:COMMAND ARGS`.

        The name is "" if the server is not one from the settings.

        Raises:
            SourceUnavailable: the text names no MCP server.
        """
        rest = text.partition(":")[2].strip()
        if rest in self._settings.servers:
            return rest, self._settings.servers[rest]
        try:
            if is_url(rest):
                split_url(rest)
                return "", McpServer(url=rest)
            if command := tuple(shlex.split(rest)):
                return "", McpServer(command=command)
            problem = "write 'mcp:COMMAND ARGS' or 'mcp:https://HOST/mcp'"
        except ValueError as error:
            problem = str(error)
        raise SourceUnavailable(f"{text!r} names no MCP server; {problem}.")

    def _connect(self, known: _ServerEntry) -> Connection:
        """Return the open connection of a server, or open one.

        Raises:
            ToolError: no connection can be opened.
        """
        with known.lock:
            if known.connection is not None and not known.connection.closed:
                return known.connection
            known.drop()
            problem = known.problem
            if find_spec("mcp") is None:
                problem = "the MCP SDK is not installed: pip install 'automatic-tool-chain[mcp]'"
            if problem:
                raise ToolError(None, problem, outcome="not_run", remedy=problem)
            server = known.server
            headers = dict[str, str]()
            if server.url:
                origin, _ = split_url(server.url)
                headers = dict(headers_of(self._settings.headers, origin))
            if server.url and server.credential:
                wanted = Wanted(origin=origin, offered=(server.credential,))
                secrets = self._keyring.secrets(wanted, tool="the MCP server")
                request = add_secrets(
                    HttpRequest(method="POST", url=server.url, headers=headers), secrets
                )
                server = replace(server, url=request.url)
                headers = dict(request.headers)
            from protocols.mcp.connection import Connection

            known.connection = Connection(
                server, self._keyring, headers=headers, limits=self._limits(known)
            )
            return known.connection

    def _limits(self, known: _ServerEntry) -> CallLimits:
        """Return the limits of the calls of a server, which its names or its host select."""
        names = [name for name, entry in self._known.items() if entry is known]
        origins = split_url(known.server.url)[0].names if known.server.url else ()
        return self._settings.limits_of(*names, *(origin.netloc for origin in origins))


def _value(result: JsonObject, schema: JsonObject | None, *, failed: Outcome) -> Json:
    """Return the value that programs get from the result of an MCP tool.

    It is the structured content, else the only content block, else the list of blocks. Text that is
    JSON is decoded unless `schema` expects text. Images, audio and binary files are replaced by a
    description with their size in bytes.

    Raises:
        ToolError: the result is an error. Its outcome is *refused*, which means that nothing was
            done, or the value of `failed` if the text of the error leaves this open.
    """
    if result.get("isError"):
        text = "\n".join(str(block.get("text", "")) for block in result.get("content", ())).strip()
        text = text or (
            dumps(found) if (found := result.get("structuredContent")) else "no explanation"
        )
        raise ToolError(
            None, text, outcome=failed if _UNSURE.search(text) else "refused", answer=text
        )
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    values = [_block(block, schema) for block in result.get("content", ())]
    return values[0] if len(values) == 1 else values or None


def _block(block: JsonObject, schema: JsonObject | None) -> Json:
    """Return the value of one content block of an MCP result, as programs get it.

    Text is decoded if it is JSON; other content is described.
    """
    if block.get("type") == "text":
        text = str(block.get("text", ""))
        try:
            return read_body(
                Answer(status=200, headers={}, body=text.encode("utf-8", "replace")), schema
            )
        except UnreadableBody:  # the text does not fit the schema; it is passed on unchanged
            return text
    described = {"type": block.get("type"), **block.get("resource", block)}
    base64 = described.pop("data", None) or described.pop("blob", None)
    found = {
        key: value
        for key, value in described.items()
        if key not in ("_meta", "annotations", "icons")
    }
    return found | (
        {"bytes": len(base64) * 3 // 4 - base64[-2:].count("=")} if isinstance(base64, str) else {}
    )


# --- descriptions of tools: hints are not trusted by default


def _trusted_annotations(hints: JsonObject, *, trusted: bool) -> Annotations:
    """Return the annotations of a tool, based on the hints that its MCP server gives.

    MCP says that hints are untrusted. A hint that asks for more care is always used. One that asks
    for less (read-only) is used only if the server is trusted.
    """
    annotations = Annotations.from_hints(hints)
    if not trusted:
        annotations = Annotations(read_only=False).with_stricter_hints(annotations)
    reads_only = bool(annotations.read_only and not annotations.destructive)
    return replace(annotations, read_only=reads_only)


def _protocol(tool: JsonObject, server: str, *, trusted: bool) -> ToolProtocol:
    """Return the description of one tool from the list of tools that an MCP server sends."""
    if not (name := str(tool.get("name", ""))):
        raise InvalidProtocol(f"the MCP server {server!r}", "one of its tools has no name.")
    schema = as_mapping(tool.get("inputSchema"))
    hints = as_mapping(tool.get("annotations"))
    # If the schema as a whole is invalid, keep the arguments whose schemas are valid.
    properties = as_mapping(schema.get("properties"))
    parts = {key: _usable_schema(part) or {} for key, part in properties.items()}
    return ToolProtocol(
        name=name,
        title=str(tool.get("title") or hints.get("title") or ""),
        description=str(tool.get("description") or "").strip(),
        input_schema={
            "type": "object",
            "properties": {},
            **(_usable_schema(schema) or {"properties": parts}),
        },
        output_schema=_usable_schema(tool.get("outputSchema")),
        annotations=_trusted_annotations(hints, trusted=trusted),
        binding=McpBinding(server=server, tool=name),
        collection=server,
    )


def _usable_schema(schema: Json) -> dict[str, Any] | None:
    """Return a schema without `$schema` and `$id`, or None if it is not a valid schema."""
    if not isinstance(schema, Mapping):
        return None
    own = {key: part for key, part in schema.items() if key not in ("$schema", "$id")}
    return own if is_schema(own) else None
