"""The MCP servers of one `Invoker`: finds, starts and connects them, and calls their tools."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

from protocols.call_limits import CallLimits
from protocols.errors import CredentialMissing, Outcome, SourceUnavailable, ToolError
from protocols.http.credentials import add_secrets, refused_credential_remedy
from protocols.http.oauth import Keyring, LoginRequirements
from protocols.http.request import HttpRequest, refuse_unless_json
from protocols.mcp.call import McpCall, with_limit_advice
from protocols.mcp.endings import ConnectionEnded
from protocols.mcp.files import masked_value, sendable_arguments
from protocols.mcp.requests import ask_tool, describe_change, list_all
from protocols.mcp.resources import resource_tools
from protocols.mcp.tool_list import read_tools
from protocols.naming import identifier
from protocols.pace import Paces
from protocols.protocol import McpBinding, ToolProtocol
from protocols.response import one_line
from protocols.schema import Json, JsonObject
from protocols.settings import McpServer, headers_of
from protocols.urls import is_url, split_url

if TYPE_CHECKING:
    from protocols.mcp.connection import Connection

T = TypeVar("T")
_MAX_ANSWER = 65_536  # characters that are kept of an error's text
_MAX_REMEDY = 2_000  # characters; the last lines of a server's log are part of it
_MOST_NOTES = 50
"""Maximum number of notes about one server. Its results could give rise to any number."""


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
    tool_names: frozenset[str] = frozenset()
    """Names of the tools that the server had when its list was read."""
    notes: dict[str, None] = field(default_factory=dict)
    """Sentences about what of the server's tools and results is left out, in their order."""
    repairs: tuple[str, ...] = ()
    """Sentences about mistakes in the schemas of the server's tools."""

    @property
    def own_name(self) -> str:
        """The name that the connected server gives itself, or ""."""
        return self.connection.name if self.connection is not None else ""

    def drop(self) -> None:
        """Close the connection to the server, if there is one, and forget it."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def note(self, *sentences: str) -> None:
        """Add sentences to the notes."""
        for sentence in sentences:
            if len(self.notes) < _MOST_NOTES:
                self.notes.setdefault(sentence)


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
                usable tools, its name is taken, or the SDK is not installed.
        """
        found, server = self._parse_source(text)
        if not found and server.command:
            self._require_agreement(server)
        entry = self._known[found] if found else _ServerEntry(server)
        try:
            raw_tools, resources = self._exchange(entry, list_all, reads=True)
        except ToolError as error:
            entry.drop()
            problem = error.body.rstrip(".")
            raise SourceUnavailable(
                f"the MCP server {server.masked_text!r} gives no tools: {problem}."
            ) from error
        known_as = name or found or identifier(entry.own_name or "mcp")
        self._register(entry, known_as, text, may_replace=bool(name or found))
        trusted = server.trusted or self._settings.trust_annotations
        if isinstance(raw_tools, str):
            entry.note(f"the MCP server {known_as!r}: its tools are left out: {raw_tools}.")
            raw_tools = []
        listed = read_tools(raw_tools, known_as, trusted=trusted)
        entry.tool_names = frozenset(tool.name for tool in listed.protocols)
        entry.note(*listed.left_out)
        entry.repairs = listed.repaired
        reading: list[ToolProtocol] = []
        if isinstance(resources, str):
            entry.note(f"the MCP server {known_as!r}: its resources are left out: {resources}.")
        else:
            reading = resource_tools(*resources, known_as, entry.tool_names, trusted=trusted)
        if not listed.protocols and not reading:
            problem = f"the MCP server {known_as!r} ({text}) has no tools."
            raise SourceUnavailable(" ".join((problem, *listed.left_out)))
        return known_as, [*listed.protocols, *reading]

    def _require_agreement(self, server: McpServer) -> None:
        """Raise `SourceUnavailable` unless the user agrees to start a command."""
        confirm = self._settings.confirm_start
        if confirm is not None and confirm(server):
            return
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
        tool = protocol.name
        name = binding.server
        mask = self._keyring.mask
        reads = reads or binding.method != "tools/call"
        failed: Outcome = "refused" if reads else "unknown"

        def call(arguments: JsonObject) -> Json:
            refuse_unless_json(tool, arguments)  # anything else would break the SDK's connection
            if name not in self._known:
                problem = (
                    f"the tool {tool!r} belongs to the MCP server {name!r}, which is not configured"
                    f"; add [mcp.{name}] with its command or url to your settings."
                )
                raise ToolError(None, problem, outcome="not_run", remedy=problem)
            entry = self._known[name]
            limits = self._limits(entry)
            sent = sendable_arguments(tool, arguments)
            ask = partial(ask_tool, protocol, binding, sent, note=entry.note, failed=failed)
            try:
                with self._paces.of(f"mcp:{name}", limits).call(most_seconds=limits.call_seconds):
                    value = self._exchange(entry, ask, reads=reads)
                return masked_value(value, mask)
            except CredentialMissing:
                raise
            except ToolError as lost:
                answer = None if lost.answer is None else mask(lost.answer)
                text = answer or f"{tool}: the MCP server {name!r}: {mask(lost.body)}"
                raise ToolError(
                    lost.status,
                    one_line(with_limit_advice(text, limits)),
                    outcome=lost.outcome,
                    answer=answer and answer[:_MAX_ANSWER],
                    remedy=self._remedy(tool, binding, lost),
                ) from None
            except TypeError as error:
                raise ToolError(None, one_line(mask(f"{tool}: {error}")), outcome=failed) from None

        return McpCall(
            call,
            partial(self._has_secrets, name),
            partial(self._notes, name),
            partial(self._repairs, name),
        )

    def _exchange(self, entry: _ServerEntry, ask: Callable[[Connection], T], *, reads: bool) -> T:
        """Return the result of `ask`, which is called with an open connection to a server.

        If the session or the connection has ended, it is called once more with a new one, provided
        that the server has not taken the request, or that it only reads (`reads`).
        """
        try:
            return ask(self._connect(entry))
        except ConnectionEnded as ended:
            if not reads and ended.outcome != "not_run":
                raise
            return ask(self._connect(entry))

    def _notes(self, name: str) -> tuple[str, ...]:
        """Return sentences about what of a server's tools and results is left out.

        This starts no server and sends nothing.
        """
        entry = self._known.get(name)
        if entry is None:
            return ()
        connection = entry.connection
        changed = connection.changed_tools if connection is not None else None
        if changed is not None and entry.tool_names:
            entry.note(*describe_change(name, entry.tool_names, changed))
        return tuple(map(self._keyring.mask, entry.notes))

    def _repairs(self, name: str) -> tuple[str, ...]:
        """Return sentences about mistakes in the schemas of a server's tools."""
        return self._known[name].repairs if name in self._known else ()

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
            test = f"atc tools login {shlex.quote(f'mcp:{binding.server}')}"
            return refused_credential_remedy(tool, origin, 401, "", place, test=test)
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
            if known.connection is not None and not known.connection.has_ended:
                return known.connection
            if known.connection is not None:  # other calls may still wait for their answers
                known.connection.retire()
                known.connection = None
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
                login = LoginRequirements(origin=origin, offered=(server.credential,))
                secrets = self._keyring.secrets(login, tool="the MCP server")
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
