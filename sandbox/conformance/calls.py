"""Checks: tool calls, their errors and the journal."""

from __future__ import annotations

from protocols.jsontypes import Json, JsonObject
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.conformance.shop import ITEM, call_of, failure_of, make_tool, run
from sandbox.errors import Paused
from sandbox.journal import Journal


def a_call_is_recorded(sandbox: Sandbox) -> None:
    """Tool, arguments, line, full response; the program gets the response's only field."""
    trace = run(sandbox, "\nrows = list_items(\n    page=1)\nprint(rows[0]['id'])")
    call = call_of(trace)
    assert trace.stdout == "10\n", trace
    assert (call.index, call.tool, call.arguments, call.outcome) == (0, "list_items", {"page": 1}, "done")
    assert call.line in (2, 3)
    assert call.result["items"][0]["id"] == 10
    assert call.seconds >= 0 <= call.started


def a_failed_call_can_be_caught(sandbox: Sandbox) -> None:
    """`ToolError` is a name that every program has, with `status` and `body`."""
    trace = run(sandbox, "try:\n    get_item(id=-1)\nexcept ToolError as e:\n    print(e.status, e.body)")
    call = call_of(trace)
    assert (trace.stdout, trace.failure) == ("404 no item -1\n", None), trace
    assert (call.status, call.error, call.outcome, call.result) == (404, "no item -1", "refused", None)
    assert call.curl == "curl http://shop.example/items/-1"


def an_uncaught_failed_call_names_itself(sandbox: Sandbox) -> None:
    """The failure carries the index of the call, and the program's frames, outermost first."""
    trace = run(sandbox, "get_item(id=1)\ndef f():\n    return get_item(id=-1)\nf()")
    failure = failure_of(trace)
    assert (failure.kind, failure.type, failure.call) == ("exception", "ToolError", 1), failure
    assert [(frame.line, frame.function) for frame in failure.frames] == [(4, "<module>"), (3, "f")], failure
    assert len(trace.calls) == 2


def wrong_arguments_never_reach_the_tool(sandbox: Sandbox) -> None:
    """They are refused by exact type, recorded as not run, and raise `ToolError`."""
    made: list[JsonObject] = []
    integer = {"type": "integer"}
    tools = Toolbox([make_tool("f", {"n": integer, "m": integer}, lambda **given: made.append(given), required=("n",))])
    for arguments, said in (
        ("n='5'", "tool 'f': argument 'n' must be an integer, got '5' (line 2)"),
        ("n=True", "tool 'f': argument 'n' must be an integer, got True (line 2)"),
        ("n=5, x=1", "tool 'f': no argument 'x'; it takes n, m (line 2)"),
        ("m=5", "tool 'f': argument 'n' is missing (line 2)"),
        ("n={1, 2}", "tool 'f': argument 'n' must be an integer, got {1, 2} (line 2)"),
    ):
        trace = run(sandbox, f"try:\n    f({arguments})\nexcept ToolError as e:\n    print(e.status, e)", tools)
        assert trace.stdout == f"None {said}\n", trace
        assert (call_of(trace).outcome, call_of(trace).error) == ("not_run", said)
    assert made == []
    run(sandbox, "f(n=5.0, m=None)", tools)
    assert made == [{"n": 5}], "3.0 is an integer, and None leaves an optional argument out"


def positional_arguments_are_explained(sandbox: Sandbox) -> None:
    """The message shows the call as it should be written."""
    failure = failure_of(run(sandbox, "get_item(7)"))
    assert (failure.type, failure.line) == ("TypeError", 1)
    assert "get_item(id=7)" in failure.message


def a_large_result_becomes_a_preview(sandbox: Sandbox) -> None:
    """The program gets one object that says so; the trace keeps all of it."""
    tools = Toolbox([make_tool("big", {}, lambda: [{"id": n} for n in range(1000)])])
    source = "r = big()\nprint(r['_truncated'], r['_shape'], r['_bytes'] > 5000, len(r['_preview']))"
    trace = run(sandbox, source, tools, result_bytes=5000)
    assert trace.stdout == "True [{id: integer}] × 1000 True 2000\n", trace
    assert len(call_of(trace).result) == 1000


def a_departure_from_the_protocol_is_passed_on(sandbox: Sandbox) -> None:
    """It is noted as drift, not failed."""
    tools = Toolbox([make_tool("f", {}, lambda: {"id": None, "name": "x", "price": 1}, output=ITEM)])
    trace = run(sandbox, "print(f()['id'])", tools)
    assert trace.stdout == "None\n"
    assert len(call_of(trace).drift) == 1
    assert call_of(trace).drift[0].startswith("id: "), trace


def a_broken_tool_is_a_failed_call(sandbox: Sandbox) -> None:
    """Any exception out of a tool is a `ToolError`; after a write nobody knows what it did."""

    def breaks() -> Json:
        raise KeyError("inside")

    for writes, outcome in ((False, "refused"), (True, "unknown")):
        tools = Toolbox([make_tool("f", {}, breaks, writes=writes)])
        trace = run(sandbox, "f()", tools)
        assert failure_of(trace).type == "ToolError"
        assert (call_of(trace).error, call_of(trace).outcome) == ("KeyError: 'inside'", outcome), trace


def a_pause_ends_the_run(sandbox: Sandbox) -> None:
    """The program cannot catch it, and the call was not made."""

    def gate() -> Json:
        raise Paused("buy needs consent")

    source = "try:\n    buy()\nexcept BaseException:\n    pass\nprint('on')"
    trace = run(sandbox, source, Toolbox([make_tool("buy", {}, gate, writes=True)]))
    failure = failure_of(trace)
    assert (failure.kind, failure.message, failure.call) == ("paused", "buy needs consent", 0), failure
    assert (trace.stdout, call_of(trace).outcome) == ("", "not_run")


def the_journal_hears_of_a_call_before_and_after(sandbox: Sandbox) -> None:
    """The intent comes before the call is made, the outcome after it."""
    heard: list[tuple[str, int, bool, str]] = []
    tools = Toolbox([make_tool("f", {}, lambda: heard.append(("made", 0, True, "")), writes=True)])
    journal = Journal(sink=lambda run_, call, complete: heard.append((call.tool, run_, complete, call.outcome)))
    run(sandbox, "f()", tools, journal=journal)
    assert heard == [("f", 0, False, "unknown"), ("made", 0, True, ""), ("f", 0, True, "done")], heard


def earlier_calls_are_answered_by_the_journal(sandbox: Sandbox) -> None:
    """A program that grew by a piece repeats no call."""
    made: list[str] = []

    def call(x: str) -> str:
        made.append(x)
        return x

    tools = Toolbox([make_tool("f", {"x": {"type": "string"}}, call, writes=True)])
    journal = Journal()
    run(sandbox, "print(f(x='a'))", tools, journal=journal)
    trace = run(sandbox, "print(f(x='a'))\nprint(f(x='b'))", tools, journal=journal)
    assert (made, trace.stdout) == (["a", "b"], "a\nb\n"), trace
    assert [call.reused for call in trace.calls] == [True, False]


CHECKS = (
    a_call_is_recorded,
    a_failed_call_can_be_caught,
    an_uncaught_failed_call_names_itself,
    wrong_arguments_never_reach_the_tool,
    positional_arguments_are_explained,
    a_large_result_becomes_a_preview,
    a_departure_from_the_protocol_is_passed_on,
    a_broken_tool_is_a_failed_call,
    a_pause_ends_the_run,
    the_journal_hears_of_a_call_before_and_after,
    earlier_calls_are_answered_by_the_journal,
)
