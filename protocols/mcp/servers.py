"""The MCP servers of one invoker: which are known, which are connected, and who may start a command."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from protocols.alias import identifier
from protocols.credentials import chosen, dress
from protocols.errors import SourceUnavailable, ToolError
from protocols.jsontypes import JsonObject
from protocols.mcp.connection import AnswerLost, AnswerRefused, CallResult, Connection, ConnectionFailed
from protocols.mcp.server import McpServer, read_spelling
from protocols.origin import split_url
from protocols.pacing import Pacing
from protocols.request import HttpRequest

if TYPE_CHECKING:
    from protocols.invoke import InvokeSettings

_STARTS = 5  # of one command: one that keeps dying is not started for every call


@dataclass
class _Known:
    """A server that may be used, and its connection where there is one."""

    server: McpServer
    connection: Connection | None = None
    starts: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Servers:
    """MCP servers by name. Safe for threads."""

    def __init__(self, settings: InvokeSettings, pacing: Pacing) -> None:
        self._settings, self._pacing = settings, pacing
        self._known: dict[str, _Known] = {name: _Known(server) for name, server in settings.servers.items()}
        self._opened: list[_Known] = [*self._known.values()]
        self._lock = threading.Lock()

    def open(self, text: str, *, name: str = "") -> tuple[str, McpServer, list[dict[str, Any]]]:
        """The server that a source spells: the name under which it is known from now on, and the tools that it lists.

        A command that is not configured is started only if `confirm` agrees.

        Raises:
            SourceUnavailable: it may not or cannot be started, does not answer, or the SDK is not installed.
        """
        found, server = read_spelling(text, self._settings.servers)
        if not found:
            self._may_start(server)
        fresh = self._known[found] if found else _Known(server)
        try:
            connection = self._connected(fresh)
            tools = connection.tools(timeout_seconds=self._settings.timeout_seconds)
        except (ConnectionFailed, AnswerLost, AnswerRefused) as error:
            self._drop(fresh)
            raise SourceUnavailable(
                f"the MCP server {server.shown!r} gives no tools: {str(error).rstrip('.')}."
            ) from error
        except ToolError as error:
            raise SourceUnavailable(error.body) from None
        with self._lock:
            known_as = name or found or identifier(connection.name or "mcp")
            if not (name or found) and known_as in self._known:
                self._drop(fresh)
                raise SourceUnavailable(
                    f"the MCP server {server.shown!r} calls itself {known_as!r}, as another server is named; name it"
                    f" yourself: 'NAME={text}'."
                )
            self._known[known_as] = fresh
            self._opened.append(fresh)
        return known_as, server, tools

    def call(self, name: str, tool_there: str, arguments: JsonObject, *, tool: str) -> CallResult:
        """Call a tool of a known server, which is connected again where its connection has ended.

        Raises:
            ToolError: no such server is known; nothing was sent.
            ConnectionFailed, AnswerLost, AnswerRefused: see `Connection.call`.
        """
        known = self._known.get(name)
        if known is None:
            raise ToolError(
                None,
                f"the tool {tool!r} belongs to the MCP server {name!r}, which is not configured; add [mcp.{name}] with "
                "its command or url to your settings.",
                outcome="not_run",
            )
        with self._pacing.turn(f"mcp:{name}"):
            return self._connected(known).call(tool_there, arguments, timeout_seconds=self._settings.timeout_seconds)

    def close(self) -> None:
        """Close all connections, ending the servers that were started."""
        for known in self._opened:
            with known.lock:
                self._drop(known)

    def _may_start(self, server: McpServer) -> None:
        """Refuse a command that nobody consented to."""
        if not server.command:
            return
        if shutil.which(server.command[0]) is None:
            raise SourceUnavailable(
                f"there is no command {server.command[0]!r} to start an MCP server with; check its name and PATH."
            )
        if self._settings.confirm_start is None or not self._settings.confirm_start(server):
            raise SourceUnavailable(
                f"the command {server.shown!r} was not started: nobody agreed to it. Run this on a terminal to be"
                " asked, give --start-servers, or name it in your own settings: [mcp.NAME] with command = [...]."
            )

    def _connected(self, known: _Known) -> Connection:
        with known.lock:
            if known.connection is not None and not known.connection.closed:
                return known.connection
            if known.connection is not None:
                known.connection.close()
            if find_spec("mcp") is None:
                raise ConnectionFailed("the MCP SDK is not installed: pip install 'automatic-tool-chain[mcp]'")
            if known.starts >= _STARTS and known.server.command:
                raise ConnectionFailed(f"it has ended {_STARTS} times and is not started again")
            known.starts += 1
            server, headers = self._dressed(known.server)
            known.connection = Connection(
                server,
                headers=headers,
                max_bytes=self._settings.max_body_bytes,
                start_seconds=self._settings.start_seconds,
            )
            return known.connection

    def _dressed(self, server: McpServer) -> tuple[McpServer, Mapping[str, str]]:
        """The server's address and the headers of each request to it, with its credential in its place."""
        if not (server.url and server.credential):
            return server, {}
        origin, _ = split_url(server.url)
        credentials = chosen([server.credential], self._settings.credentials, origin, tool="the MCP server")
        request = dress(HttpRequest(method="POST", url=server.url, headers={}), credentials.values())
        return replace(server, url=request.url), request.headers

    def _drop(self, known: _Known) -> None:
        if known.connection is not None:
            known.connection.close()
            known.connection = None
