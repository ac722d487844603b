"""Each sound tool of a server with every oddity is usable, and each other entry is named."""

import pytest

pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")

from benchmarks.mcp_servers.__main__ import measure, odd
from benchmarks.mcp_servers.odd_server import NO_TOOLS, tools


def test_every_oddity_is_read(tmp_path):
    seen = measure(odd(), tmp_path)
    assert seen.problems == {}
    assert len(seen.left_out) == len(NO_TOOLS)
    assert (seen.listed, seen.usable) == (len(tools()), len(tools()) - len(NO_TOOLS))
