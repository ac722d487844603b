"""A session with an MCP server that gives results as the server sent them.

The SDK negotiates the version of the protocol and sends the requests. It also refuses each result
that its types do not describe; those are read here all the same, since `protocols.mcp.tool_list`
and `protocols.mcp.results` make of them what they can.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.client.session import ClientSession
from mcp.shared.dispatcher import CallOptions
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from protocols.errors import ToolError
from protocols.mcp.endings import ConnectionEnded
from protocols.schema import Json, JsonObject, as_mapping, dumps, items_of_type

_MOST_PAGES = 100
"""Maximum number of pages of a list. A server may never end it."""
_MOST_CHARACTERS = 50_000_000
"""Maximum size of a list as JSON."""
_kept: ContextVar[list[dict[str, Any]] | None] = ContextVar("kept", default=None)
"""Where a dispatcher keeps the results of the requests of this task, as the server sent them."""


class _Dispatcher(JSONRPCDispatcher[TransportContext]):
    """The SDK's dispatcher, which also keeps each result as the server sent it."""

    has_ended = False

    async def run(self, *arguments: Any, **options: Any) -> None:
        """Receive messages until the connection ends."""
        try:
            await super().run(*arguments, **options)
        finally:
            self.has_ended = True

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """Send a request and return its result in a form that the SDK's types describe.

        Raises:
            ConnectionEnded: the connection had ended before the request, so it was not sent.
        """
        if self.has_ended:
            raise ConnectionEnded("its connection had ended", "not_run")
        raw = await super().send_raw_request(method, params, opts, **more)
        if (kept := _kept.get()) is not None:
            kept.append(raw)
        match method:
            case "initialize":
                return _acceptable_introduction(raw)
            case "tools/list":  # the SDK learns headers from the tools that it can read
                return {**raw, "tools": [*filter(_is_acceptable, items_of_type(raw.get("tools")))]}
        return raw


class Session:
    """A session with an MCP server. Its methods run on the event loop of the connection."""

    def __init__(self, session: ClientSession, dispatcher: _Dispatcher) -> None:
        self._session = session
        self._dispatcher = dispatcher

    @property
    def has_ended(self) -> bool:
        """True if no messages can arrive any more."""
        return self._dispatcher.has_ended

    @property
    def name(self) -> str:
        """The name that the server gives itself, or "" if it has none."""
        return getattr(self._session.server_info, "name", "")

    @property
    def has_resources(self) -> bool:
        """True if the server says that it has resources."""
        return getattr(self._session.server_capabilities, "resources", None) is not None

    @property
    def has_tools(self) -> bool:
        """True if the server says that it has tools."""
        return getattr(self._session.server_capabilities, "tools", None) is not None

    async def call_tool(self, tool: str, arguments: Mapping[str, Json]) -> dict[str, Any]:
        """Call a tool and return MCP's result."""
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        return await self._request(types.CallToolRequest(params=params))

    async def read_resource(self, uri: str) -> dict[str, Any]:
        """Read a resource and return MCP's result."""
        params = types.ReadResourceRequestParams(uri=uri)
        return await self._request(types.ReadResourceRequest(params=params))

    async def list_tools(self) -> list[Json]:
        """Return the tools on all pages of the server's list, as MCP's JSON."""
        return await self._list("tools", self._list_tools)

    async def list_resources(self) -> list[Json]:
        """Return the resources on all pages of the server's list, as MCP's JSON."""

        async def send(params: types.PaginatedRequestParams) -> dict[str, Any]:
            return await self._request(types.ListResourcesRequest(params=params))

        return await self._list("resources", send)

    async def list_templates(self) -> list[Json]:
        """Return the templates of resources on all pages of the server's list, as MCP's JSON."""

        async def send(params: types.PaginatedRequestParams) -> dict[str, Any]:
            return await self._request(types.ListResourceTemplatesRequest(params=params))

        return await self._list("resourceTemplates", send)

    async def _list_tools(self, params: types.PaginatedRequestParams) -> dict[str, Any]:
        """Return one page of the list of tools. The SDK learns the headers of calls from it."""
        return await _result_of(lambda: self._session.list_tools(params=params))

    async def _request(self, request: types.Request[Any, Any]) -> dict[str, Any]:
        """Send a request and return its result as the server sent it."""
        return await _result_of(lambda: self._session.send_request(request, types.Result))

    async def _list(
        self,
        key: str,
        page: Callable[[types.PaginatedRequestParams], Awaitable[dict[str, Any]]],
    ) -> list[Json]:
        """Return the entries on all pages of a list.

        Raises:
            ToolError: the answer is no list, is too large, or does not end.
        """
        found: list[Json] = []
        cursor = None
        size = 0
        for _ in range(_MOST_PAGES):
            answer = await page(types.PaginatedRequestParams(cursor=cursor))
            entries = answer.get(key)
            if not isinstance(entries, list):
                problem = f"its list of {key} is {type(entries).__name__}, not a list"
                raise ToolError(None, problem if key in answer else f"its answer has no {key!r}")
            found += entries
            size += len(dumps(entries))
            if size > _MOST_CHARACTERS:
                limit = f"the limit of {_MOST_CHARACTERS:,} characters"
                raise ToolError(None, f"its list of {key} is over {limit}")
            cursor = answer.get("nextCursor")
            if not cursor or not isinstance(cursor, str):
                return found
        raise ToolError(None, f"its list of {key} does not end within {_MOST_PAGES} pages")


@asynccontextmanager
async def open_session(
    transport: Any, seconds: float, list_changed: Callable[[Session], Awaitable[None]]
) -> AsyncIterator[Session]:
    """Yield a session over a transport. `seconds` limits the time to connect.

    `list_changed` is called when the server says that its list of tools has changed.
    """

    async def heed(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            await list_changed(session)

    async with asyncio.timeout(seconds) as limit, transport as (received, sent):
        dispatcher = _Dispatcher(received, sent)
        async with ClientSession(dispatcher=dispatcher, message_handler=heed) as client:
            session = Session(client, dispatcher)
            await _negotiate(client)
            limit.reschedule(None)
            yield session


async def _negotiate(session: ClientSession) -> None:
    """Agree with a server on a version of the protocol.

    Servers until 2025 do not know the request `server/discover`, and answer with various errors.
    """
    try:
        await session.discover()
    except (MCPError, ValidationError, RuntimeError):
        await session.initialize()


async def _result_of(send: Callable[[], Awaitable[object]]) -> dict[str, Any]:
    """Send one request and return its result as the server sent it."""
    kept: list[dict[str, Any]] = []
    token = _kept.set(kept)
    try:
        with suppress(ValidationError):  # the SDK's types describe fewer results than there are
            await send()
    finally:
        _kept.reset(token)
    if not kept:
        raise ToolError(None, "its answer is none that MCP knows", outcome="unknown")
    return kept[-1]


def _is_acceptable(tool: Json) -> bool:
    """Return True if the SDK's types describe a tool."""
    try:
        types.Tool.model_validate(tool, by_name=False)
    except ValidationError:
        return False
    return True


def _acceptable_introduction(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a server's answer to `initialize` as the SDK's types describe it.

    What is missing is added, and an unknown version is taken for the oldest one.
    """
    version = raw.get("protocolVersion")
    known = version if version in HANDSHAKE_PROTOCOL_VERSIONS else HANDSHAKE_PROTOCOL_VERSIONS[0]
    about = as_mapping(raw.get("serverInfo"))
    offered = as_mapping(raw.get("capabilities"))
    capabilities = {key: as_mapping(value) for key, value in offered.items() if value is not None}
    changed = {
        "protocolVersion": known,
        "capabilities": capabilities,
        "serverInfo": {key: str(about.get(key) or "") for key in ("name", "version")},
    }
    try:
        types.InitializeResult.model_validate({**raw, **changed}, by_name=False)
    except ValidationError:
        plain: JsonObject = {k: {} for k in ("tools", "resources") if k in capabilities}
        return {**changed, "capabilities": plain}
    return {**raw, **changed}
