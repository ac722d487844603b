"""A server that changes its list of tools while it is in use."""

import json
import time

import pytest

pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")

from protocols.client import Invoker
from protocols.mcp.requests import describe_change
from protocols.sources import load_tools
from tests.labs.loopback import Reply, serving
from tests.labs.mcp_http import McpAnswers, tool
from tests.labs.patience import PATIENCE

CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def test_a_changed_list_is_noted():
    answers = McpAnswers({"tools/list": {"tools": [tool("login"), tool("old")]}})
    answers.results["tools/call"] = {"content": [{"type": "text", "text": "ok"}]}

    def answer(seen):
        reply = answers(seen)
        if b"tools/call" not in seen.body:
            return reply
        answers.results["tools/list"] = {"tools": [tool("login"), tool("list_orders")]}
        return Reply(
            body=(f"data: {json.dumps(one)}\n\n".encode() for one in (CHANGED, reply.body))
        )

    with serving(answer) as server, Invoker() as invoker:
        box = load_tools(f"mcp:{server.url}", invoker=invoker)
        assert (box.notes, box["login"].call({})) == ((), "ok")
        deadline = time.monotonic() + PATIENCE
        while not box.notes and time.monotonic() < deadline:
            time.sleep(0.02)
        [note] = box.notes
        assert note.startswith(
            "the MCP server 'stub' has changed its list of tools since it was read"
        )
        assert note.endswith("(new: list_orders; gone: old); a new command uses the new list.")


def test_the_same_list_is_no_change():
    assert describe_change("s", frozenset({"a"}), [tool("a")]) == ()
