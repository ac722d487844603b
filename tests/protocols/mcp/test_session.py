"""What the SDK's types refuse is read all the same."""

import pytest

pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")

from protocols.client import Invoker
from protocols.errors import SourceUnavailable
from protocols.sources import load_tools
from tests.labs.loopback import serving
from tests.labs.mcp_http import McpAnswers, tool


@pytest.mark.parametrize(
    "introduction",
    [
        {},
        {"protocolVersion": "2024-10-07", "capabilities": None, "serverInfo": {"name": "stub"}},
        {"protocolVersion": "2025-06-18", "capabilities": {"tools": True, "logging": None}},
    ],
)
def test_an_odd_introduction_is_enough(introduction):
    answers = McpAnswers({"tools/list": {"tools": [tool("total")]}})
    answers.introduction = introduction
    with serving(answers) as server, Invoker() as invoker:
        assert list(load_tools(f"s=mcp:{server.url}", invoker=invoker)) == ["total"]


def test_a_list_that_never_ends():
    answers = McpAnswers({"tools/list": {"tools": [], "nextCursor": "more"}})
    refused = pytest.raises(SourceUnavailable, match="does not end within 100 pages")
    with serving(answers) as server, Invoker() as invoker, refused:
        load_tools(f"mcp:{server.url}", invoker=invoker)
