"""After a session or a connection has ended, a call is sent once more if that is safe."""

import pytest

pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")

from protocols.client import Invoker, InvokeSettings
from protocols.errors import ToolError
from protocols.mcp.endings import error_ends_session, status_ends_session
from protocols.sources import load_tools
from tests.labs.loopback import Reply, serving
from tests.labs.mcp_http import McpAnswers, tool


def refusal(code, message, status=200):
    def reply(request):
        error = {"code": code, "message": message}
        return Reply(
            status=status, body={"jsonrpc": "2.0", "id": request.get("id"), "error": error}
        )

    return reply


GONE = {
    "404": refusal(-32001, "Session not found", 404),
    "404 without a body": lambda _: Reply(status=404, body=b""),
    "400": refusal(-32000, "Bad Request: No valid session ID provided", 400),
    "400 in words": lambda _: Reply(
        status=400, body=b"Invalid or expired session", headers={"Content-Type": "text/plain"}
    ),
    "400 at a new server": refusal(-32000, "Bad Request: Server not initialized", 400),
    "200": refusal(-32001, "Session not found"),
}


@pytest.mark.parametrize("gone", GONE)
def test_a_new_session_takes_the_call(gone):
    results = {
        "tools/list": {"tools": [tool("count"), tool("add", hints={})]},
        "tools/call": {"content": []},
    }
    answers = McpAnswers(results, sessions=True, gone=GONE[gone])
    with serving(answers) as server, Invoker() as invoker:
        box = load_tools(f"mcp:{server.url}", invoker=invoker)
        for name in ("count", "add"):
            answers.sessions.clear()
            assert box[name].call({}) is None
    assert answers.taken == ["count", "add"], "reads and writes are sent once"
    assert answers.begun == 3


def test_a_list_comes_in_a_new_session():
    answers = McpAnswers({}, sessions=True)

    def forget_once(_):
        if answers.begun == 1:
            answers.sessions.clear()
            return {"error": {"code": -32001, "message": "Session not found"}}
        return {"tools": [tool("count")]}

    answers.results["tools/list"] = forget_once
    with serving(answers) as server, Invoker() as invoker:
        assert list(load_tools(f"mcp:{server.url}", invoker=invoker)) == ["count"]


def test_a_server_that_forgets_every_session():
    answers = McpAnswers({"tools/list": {"tools": [tool("add", hints={})]}}, sessions=True)
    with serving(answers) as server, Invoker() as invoker:
        box = load_tools(f"mcp:{server.url}", invoker=invoker)
        answers.gone = refusal(-32001, "Session not found")
        answers.results["tools/call"] = {"error": {"code": -32001, "message": "Session not found"}}
        with pytest.raises(ToolError, match="knows the session no more") as caught:
            box["add"].call({})
    assert (caught.value.outcome, answers.taken) == ("not_run", ["add", "add"])


@pytest.mark.parametrize("read_only", [True, False])
def test_only_a_read_is_repeated_after_an_interruption(read_only):
    answers = McpAnswers({"tools/list": {"tools": [tool("it", hints={"readOnlyHint": read_only})]}})
    answers.results["tools/call"] = {"content": []}
    cut = []

    def answer(seen):
        reply = answers(seen)
        if b"tools/call" in seen.body and not cut:
            cut.append(reply)
            return Reply(body=b"", headers={"Content-Type": "text/event-stream"})
        return reply

    with serving(answer) as server, Invoker(InvokeSettings(trust_annotations=True)) as invoker:
        box = load_tools(f"mcp:{server.url}", invoker=invoker)
        if read_only:
            assert box["it"].call({}) is None
        else:
            with pytest.raises(ToolError) as caught:
                box["it"].call({})
            assert caught.value.outcome == "unknown"
    assert len(answers.taken) == (2 if read_only else 1)


@pytest.mark.parametrize(
    ("status", "text", "code", "ends"),
    [
        (404, "", None, True),
        (404, "no such method", -32601, False),
        (400, "Mcp-Session-Id header is required", None, True),
        (400, "the note is too long", None, False),
        (409, "session 7 is no longer active", None, True),
        (403, "Session not found", None, False),
        (500, "Session not found", None, False),
    ],
)
def test_which_statuses_end_a_session(status, text, code, ends):
    assert status_ends_session(status, text, code) is ends


@pytest.mark.parametrize(
    ("code", "message", "ends"),
    [
        (-32001, "Session not found", True),
        (-32600, "Unknown session id", True),
        (-32000, "the note is too long", False),
        (-32602, "Session not found", False),
        (-32603, "your session in the shop has expired", False),
    ],
)
def test_which_errors_end_a_session(code, message, ends):
    assert error_ends_session(code, message) is ends
