"""MCP servers of the older HTTP+SSE transport."""

import json
import queue

import pytest

pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")

from protocols.client import Invoker
from protocols.errors import SourceUnavailable, ToolError
from protocols.sources import load_tools
from tests.labs.loopback import Reply, serving
from tests.labs.mcp_http import McpAnswers, tool


class Older:
    """What a server of the older transport answers. `forget` ends its streams, as a restart does."""

    def __init__(self, endpoint="/messages?session={}"):
        listed = {"tools/list": {"tools": [tool("hi"), tool("add", hints={})]}}
        self.answers = McpAnswers(
            {**listed, "tools/call": {"content": [{"type": "text", "text": "hi there"}]}}
        )
        self.endpoint = endpoint
        self.streams = {}

    def stream(self):
        number = str(len(self.streams))
        out = self.streams[number] = queue.Queue()
        yield f": hello\n\nevent: endpoint\ndata: {self.endpoint.format(number)}\n\n".encode()
        while (message := out.get()) is not None:
            yield b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n"

    def forget(self):
        for number in [*self.streams]:
            self.streams.pop(number).put(None)

    def __call__(self, seen):
        if seen.method == "GET" and seen.path == "/sse":
            return Reply(status=307, headers={"Location": "/sse/"}, body=b"")
        if seen.method == "GET" and seen.path == "/sse/":
            return Reply(body=self.stream())
        if seen.method != "POST" or seen.path != "/messages":
            return Reply(status=405)
        out = self.streams.get(dict(seen.query)["session"])
        if out is None:
            return Reply(status=404, body={"detail": "Could not find session"})
        message = json.loads(seen.body)
        if "id" in message:
            out.put(self.answers.message(message))
        return Reply(status=202, body=b"Accepted")


def test_an_older_server_is_used():
    older = Older()
    with serving(older) as server:
        with Invoker() as invoker:
            box = load_tools(f"mcp:{server.url}/sse", invoker=invoker)
            assert list(box) == ["hi", "add"]
            assert box["hi"].call({}) == "hi there"
        older.forget()


@pytest.mark.parametrize("name", ["hi", "add"])
def test_a_forgotten_session_is_begun_anew(name):
    older = Older()
    with serving(older) as server:
        with Invoker() as invoker:
            box = load_tools(f"mcp:{server.url}/sse", invoker=invoker)
            stream = older.streams.pop("0")  # the stream stays open, but the session is unknown
            assert box[name].call({}) == "hi there"
            stream.put(None)
        older.forget()
    assert older.answers.taken == [name]


@pytest.mark.parametrize(
    ("endpoint", "problem"),
    [
        ("http://127.0.0.1:9/messages", "it wants messages posted to another host"),
        ("", "does not say where to post messages"),
    ],
)
def test_where_messages_may_be_posted(endpoint, problem):
    older = Older(endpoint)
    if not endpoint:
        older.stream = lambda: iter([b": nothing\n\n"])
    with serving(older) as server:
        with Invoker() as invoker, pytest.raises(SourceUnavailable, match=problem):
            load_tools(f"mcp:{server.url}/sse", invoker=invoker)
        older.forget()


def test_an_address_that_is_no_server():
    with (
        serving(lambda _: Reply(status=405)) as server,
        Invoker() as invoker,
        pytest.raises(SourceUnavailable) as caught,
    ):
        load_tools(f"mcp:{server.url}/mcp", invoker=invoker)
    assert "HTTP 405" in str(caught.value)
    assert "older HTTP+SSE transport: GET gives HTTP 405 with application/json" in str(caught.value)
    assert isinstance(caught.value.__cause__, ToolError)
