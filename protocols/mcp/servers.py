"""The MCP servers of one invoker: which are meant and known, who may start a command, and their tools as functions."""

from __future__ import annotations

import re
import shlex
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from protocols.alias import identifier
from protocols.credentials import dress
from protocols.errors import Outcome, SourceUnavailable, ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.mcp.answers import NoResult, text_of, value_of
from protocols.oauth import Keyring
from protocols.origin import is_url, split_url
from protocols.plain import to_json
from protocols.protocol import McpBinding, ToolProtocol
from protocols.reply import one_line
from protocols.request import HttpRequest, refuse_unless_json
from protocols.settings import McpServer

if TYPE_CHECKING:
    from protocols.mcp.connection import Connection

_MAX_ANSWER = 65_536  # characters of an error kept for the host
_UNSURE = re.compile(
    r"\b(timed?[ -]?out|timeout|deadline exceeded|connection (reset|closed|aborted|lost)|socket hang up|disconnected"
    r"|(status|code|http|error)\W{0,3}5\d\d|internal server error|bad gateway|service unavailable)\b",
    re.IGNORECASE,
)
"""How a tool says that it does not know itself how far what it asked somebody else came."""


def is_mcp(text: str) -> bool:
    """Whether a source is an MCP server: `mcp:COMMAND ARGS`, `mcp:https://…`, `mcp:NAME`."""
    return text[:4].lower() == "mcp:"


@dataclass
class _Known:
    """A server that may be used, and its connection where there is one."""

    server: McpServer
    connection: Connection | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def drop(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


class Servers:
    """MCP servers by name. Safe for threads."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring, self._settings = keyring, keyring.settings
        self._known: dict[str, _Known] = {name: _Known(server) for name, server in keyring.settings.servers.items()}
        self._opened: list[_Known] = [*self._known.values()]
        self._lock = threading.Lock()

    def open(self, text: str, *, name: str = "") -> tuple[str, McpServer, list[dict[str, Any]]]:
        """The server that a source spells: the name under which it is known from now on, and the tools that it lists.

        A command that is not configured is started only if `confirm_start` agrees.

        Raises:
            SourceUnavailable: it may not or cannot be started, does not answer, or the SDK is not installed.
        """
        found, server = self._spelled(text)
        confirm = self._settings.confirm_start
        if not found and server.command and not (confirm and confirm(server)):
            raise SourceUnavailable(
                f"the command {server.shown!r} was not started: nobody agreed to it. Run this on a terminal to be"
                " asked, give --start-servers, or name it in your own settings: [mcp.NAME] with command = [...]."
            )
        fresh = self._known[found] if found else _Known(server)
        try:
            connection = self._connected(fresh)
            tools = connection.tools()
        except (NoResult, ToolError) as error:
            fresh.drop()
            problem = str(error).rstrip(".")
            raise SourceUnavailable(f"the MCP server {server.shown!r} gives no tools: {problem}.") from error
        with self._lock:
            known_as = name or found or identifier(connection.name or "mcp")
            if not (name or found) and known_as in self._known:
                fresh.drop()
                raise SourceUnavailable(
                    f"the MCP server {server.shown!r} calls itself {known_as!r}, as another server is named; name it"
                    f" yourself: 'NAME={text}'."
                )
            self._known[known_as] = fresh
            self._opened.append(fresh)
        return known_as, server, tools

    def bind(self, protocol: ToolProtocol, binding: McpBinding, *, reads: bool) -> Callable[[JsonObject], Json]:
        """A call of an MCP tool; see `Invoker.bind`. A server whose connection has ended is connected again."""
        tool, mask = protocol.name, self._keyring.mask
        failed: Outcome = "refused" if reads else "unknown"

        def error(text: str, outcome: Outcome, answer: str | None = None) -> ToolError:
            kept = mask(answer)[:_MAX_ANSWER] if answer is not None else None
            return ToolError(None, one_line(mask(text)), outcome=outcome, answer=kept)

        def call(arguments: JsonObject) -> Json:
            refuse_unless_json(tool, arguments)  # which the SDK's connection does not survive
            known = self._known.get(binding.server)
            if known is None:
                raise error(
                    f"the tool {tool!r} belongs to the MCP server {binding.server!r}, which is not configured; add"
                    f" [mcp.{binding.server}] with its command or url to your settings.",
                    "not_run",
                )
            try:
                result = self._connected(known).call(binding.tool, arguments)
            except NoResult as lost:
                if lost.outcome in (None, "refused"):  # the server's own words
                    raise error(str(lost), lost.outcome or failed, answer=str(lost)) from None
                raise error(f"{tool}: the MCP server {binding.server!r}: {lost}", lost.outcome) from None
            if result.get("isError"):
                text = text_of(result) or "no explanation"
                raise error(text, failed if _UNSURE.search(text) else "refused", answer=text)
            try:
                return mask.result(to_json(value_of(result, protocol.output_schema)))
            except TypeError as problem:
                raise error(f"{tool}: {problem}", failed) from None

        return call

    def close(self) -> None:
        """Close all connections, ending the servers that were started."""
        for known in self._opened:
            with known.lock:
                known.drop()

    def _spelled(self, text: str) -> tuple[str, McpServer]:
        """The name (empty where nobody gave one) and the server that a source means."""
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

    def _connected(self, known: _Known) -> Connection:
        with known.lock:
            if known.connection is not None and not known.connection.closed:
                return known.connection
            known.drop()
            if find_spec("mcp") is None:
                raise NoResult("the MCP SDK is not installed: pip install 'automatic-tool-chain[mcp]'", "not_run")
            keyring, server = self._keyring, known.server
            headers, tokens = dict[str, str](), None
            if server.url:
                origin, _ = split_url(server.url)
                headers = dict(self._settings.headers.get(origin.netloc, {}))
                if server.credential:
                    secrets = keyring.secrets([server.credential], {}, origin, tool="the MCP server")
                    request = dress(HttpRequest(method="POST", url=server.url, headers=headers), secrets)
                    server, headers = replace(server, url=request.url), dict(request.headers)
                else:
                    tokens = keyring.tokens
            from protocols.mcp.connection import Connection

            known.connection = Connection(server, self._settings, headers=headers, tokens=tokens, homes=keyring.homes)
            return known.connection
