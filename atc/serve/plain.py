"""`atc serve --as tools`: the same sources as plain MCP tools, each with its input and its output schema."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server

from atc import __version__
from atc.serve.gateway import Gateway
from atc.serve.server import Context, Requests, result, sealed
from protocols.errors import AtcError
from protocols.export import RESULT, mcp_tool
from protocols.jsontypes import Json
from protocols.toolbox import Tool


def tools_server(gateway: Gateway) -> Server[Any]:
    """An MCP server that offers each tool of `gateway` by its alias, for any transport."""
    service = _Service(gateway)
    server = Server("atc", version=__version__, on_list_tools=service.list_tools, on_call_tool=service.call_tool)
    return sealed(server, gateway)


class _Service:
    """The handlers of one gateway's server of plain tools."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway, self._requests = gateway, Requests(gateway)

    async def list_tools(self, _ctx: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """All tools, in one reply."""
        return types.ListToolsResult(tools=list(map(_described, self._gateway.tools.values())))

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Call one tool. An error of the tool is a result that its caller reads."""
        if params.request_state is None:
            call = partial(self._gateway.call, params.name, params.arguments or {})
        else:
            call = partial(self._gateway.call_again, params.request_state)
        try:
            reply = await self._requests.run(ctx, params, call)
        except AtcError as error:
            return result({"error": str(error)}, failed=True)
        if isinstance(reply, types.InputRequiredResult):
            return reply
        return _answered(reply["result"]) if "result" in reply else result(reply, failed=True)


def _described(tool: Tool) -> types.Tool:
    return types.Tool.model_validate(mcp_tool(replace(tool.protocol, name=tool.alias)))


def _answered(response: Json) -> types.CallToolResult:
    """A response as text and, as its schema has it, as a structured result."""
    structured = response if isinstance(response, dict) else {RESULT: response}
    return types.CallToolResult(content=result(response).content, structured_content=structured)
