"""What every sandbox must do, as a list of small checks. A third backend shows that it fits by passing them:

for check in CHECKS:
    check(sandbox)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from protocols.errors import ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.base import Sandbox
from sandbox.errors import Paused
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Failure, Pins, ToolCall, Trace

Check = Callable[[Sandbox], None]

ITEM = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "price": {"type": "number"}},
    "required": ["id", "name", "price"],
}


def make_tool(
    name: str,
    parameters: Mapping[str, JsonObject],
    call: Callable[..., Json],
    *,
    required: tuple[str, ...] | None = None,
    output: JsonObject | None = None,
    writes: bool = False,
) -> Tool:
    """A tool around a function of keyword arguments; all of them are required unless `required` says which."""
    schema = {
        "type": "object",
        "properties": dict(parameters),
        "required": list(parameters if required is None else required),
    }
    hints = Annotations(read_only=not writes)
    protocol = ToolProtocol(name=name, input_schema=schema, output_schema=output, annotations=hints)
    return Tool(protocol, lambda arguments: call(**arguments))


def shop() -> Toolbox:
    """The tools that checks and sample programs use: `get_item(id)`, `list_items(page)`, `echo(text)`."""

    def get_item(id: int) -> Json:  # noqa: A002 - the tool's argument
        if not 0 <= id < 1000:
            raise ToolError(404, f"no item {id}", curl=f"curl http://shop.example/items/{id}")
        return {"id": id, "name": f"item {id}", "price": id * 1.5}

    def list_items(page: int) -> Json:
        return {"items": [get_item(page * 10 + row) for row in range(10)] if page < 5 else []}

    listing = {"type": "object", "properties": {"items": {"type": "array", "items": ITEM}}, "required": ["items"]}
    return Toolbox(
        [
            make_tool("get_item", {"id": {"type": "integer"}}, get_item, output=ITEM),
            make_tool("list_items", {"page": {"type": "integer"}}, list_items, output=listing),
            make_tool("echo", {"text": {"type": "string"}}, lambda text: text),
        ]
    )


def run(
    sandbox: Sandbox, source: str, tools: Toolbox | None = None, *, journal: Journal | None = None, **limits: Any
) -> Trace:
    """Run `source` over `tools` (the shop's when not given) within short limits."""
    within = Limits(**{"wall_seconds": 20.0, "cpu_seconds": 10.0, **limits})
    return sandbox.run(source, shop() if tools is None else tools, limits=within, journal=journal or Journal())


def _failure(trace: Trace) -> Failure:
    assert trace.failure is not None, trace
    return trace.failure


def _call(trace: Trace) -> ToolCall:
    (call,) = trace.calls
    return call


def prints_and_gives_a_value(sandbox: Sandbox) -> None:
    """Output and the last expression's value are in the trace."""
    trace = run(sandbox, "print('one', 2)\nprint('zwei é 🛫')\nx = 3\n{'x': (x, x + 1)}")
    assert (trace.stdout, trace.value, trace.failure) == ("one 2\nzwei é 🛫\n", {"x": [3, 4]}, None), trace
    assert trace.backend == sandbox.name


def an_empty_program_is_fine(sandbox: Sandbox) -> None:
    """Nothing in, nothing out."""
    trace = run(sandbox, "")
    assert (trace.calls, trace.stdout, trace.value, trace.failure) == ((), "", None, None), trace


def a_call_is_recorded(sandbox: Sandbox) -> None:
    """Tool, arguments, line, full response; the program gets the response's only field."""
    trace = run(sandbox, "\nrows = list_items(\n    page=1)\nprint(rows[0]['id'])")
    call = _call(trace)
    assert trace.stdout == "10\n", trace
    assert (call.index, call.tool, call.arguments, call.outcome) == (0, "list_items", {"page": 1}, "done")
    assert call.line in (2, 3)
    assert call.result["items"][0]["id"] == 10
    assert call.seconds >= 0 <= call.started


def a_failed_call_can_be_caught(sandbox: Sandbox) -> None:
    """`ToolError` is a name that every program has, with `status` and `body`."""
    trace = run(sandbox, "try:\n    get_item(id=-1)\nexcept ToolError as e:\n    print(e.status, e.body)")
    call = _call(trace)
    assert (trace.stdout, trace.failure) == ("404 no item -1\n", None), trace
    assert (call.status, call.error, call.outcome, call.result) == (404, "no item -1", "refused", None)
    assert call.curl == "curl http://shop.example/items/-1"


def an_uncaught_failed_call_names_itself(sandbox: Sandbox) -> None:
    """The failure carries the index of the call, and the program's frames, outermost first."""
    trace = run(sandbox, "get_item(id=1)\ndef f():\n    return get_item(id=-1)\nf()")
    failure = _failure(trace)
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
        assert (_call(trace).outcome, _call(trace).error) == ("not_run", said)
    assert made == []
    run(sandbox, "f(n=5.0, m=None)", tools)
    assert made == [{"n": 5}], "3.0 is an integer, and None leaves an optional argument out"


def positional_arguments_are_explained(sandbox: Sandbox) -> None:
    """The message shows the call as it should be written."""
    failure = _failure(run(sandbox, "get_item(7)"))
    assert (failure.type, failure.line) == ("TypeError", 1)
    assert "get_item(id=7)" in failure.message


def an_exception_is_the_programs(sandbox: Sandbox) -> None:
    """Type, message and frames; what was called and printed before is kept."""
    trace = run(sandbox, "x = get_item(id=3)\nprint('before')\nx['nolan']")
    failure = _failure(trace)
    assert (failure.kind, failure.type, failure.message, failure.line) == ("exception", "KeyError", "'nolan'", 3)
    assert trace.stdout == "before\n"
    assert len(trace.calls) == 1


def a_syntax_error_is_the_programs(sandbox: Sandbox) -> None:
    """Nothing runs, and the line is named."""
    trace = run(sandbox, "get_item(id=1)\nx = = 2\n")
    failure = _failure(trace)
    assert (failure.kind, failure.line, trace.calls) == ("syntax", 2, ()), trace


def wall_time_is_limited(sandbox: Sandbox) -> None:
    """A program that waits is ended, within a moment, with the limit's name and value."""
    trace = run(sandbox, "import time\nprint('a')\ntime.sleep(60)", wall_seconds=0.3)
    failure = _failure(trace)
    assert (failure.kind, failure.type) == ("limit", "wall_seconds"), failure
    assert failure.message == "wall_seconds: the program ran longer than 0.3 s"
    assert trace.seconds < 5
    assert trace.stdout in ("", "a\n")  # what is still buffered in a killed program may be lost


def wall_time_includes_waits_on_tools(sandbox: Sandbox) -> None:
    """A call that does not return is left; what became of it is unknown."""
    answered = threading.Event()
    tools = Toolbox([make_tool("hang", {}, lambda: answered.wait(30), writes=True)])
    try:
        trace = run(sandbox, "hang()", tools, wall_seconds=0.3)
    finally:
        answered.set()
    assert _failure(trace).type == "wall_seconds", trace
    assert (_call(trace).outcome, trace.seconds < 5) == ("unknown", True)


def processor_time_is_limited(sandbox: Sandbox) -> None:
    """A program that computes without end is ended, also when it catches everything."""
    source = "while True:\n    try:\n        x = 0\n        while True: x += 1\n    except BaseException: pass"
    failure = _failure(run(sandbox, source, cpu_seconds=1.0))
    assert (failure.kind, failure.type) == ("limit", "cpu_seconds"), failure
    assert failure.message == "cpu_seconds: the program used more than 1 s of processor time"


def memory_is_limited(sandbox: Sandbox) -> None:
    """A program that takes too much is ended, and the host is not."""
    failure = _failure(run(sandbox, "x = [bytearray(1 << 26) for _ in range(64)]", memory_bytes=512 * 2**20))
    assert (failure.kind, failure.type) == ("limit", "memory_bytes"), failure


def output_is_limited(sandbox: Sandbox) -> None:
    """The host keeps no more than the limit."""
    trace = run(sandbox, "while True: print('x' * 1000)", output_bytes=10_000)
    assert _failure(trace).type == "output_bytes", trace.failure
    assert 9_000 <= len(trace.stdout) <= 10_000


def calls_are_limited(sandbox: Sandbox) -> None:
    """The call over the limit is not made; the program cannot catch its end."""
    source = "while True:\n    try: echo(text='a')\n    except BaseException: pass"
    trace = run(sandbox, source, tool_calls=5)
    failure = _failure(trace)
    assert (failure.type, failure.line, len(trace.calls)) == ("tool_calls", 2, 5), trace


def a_large_result_becomes_a_preview(sandbox: Sandbox) -> None:
    """The program gets one object that says so; the trace keeps all of it."""
    tools = Toolbox([make_tool("big", {}, lambda: [{"id": n} for n in range(1000)])])
    source = "r = big()\nprint(r['_truncated'], r['_shape'], r['_bytes'] > 5000, len(r['_preview']))"
    trace = run(sandbox, source, tools, result_bytes=5000)
    assert trace.stdout == "True [{id: integer}] × 1000 True 2000\n", trace
    assert len(_call(trace).result) == 1000


def a_departure_from_the_protocol_is_passed_on(sandbox: Sandbox) -> None:
    """It is noted as drift, not failed."""
    tools = Toolbox([make_tool("f", {}, lambda: {"id": None, "name": "x", "price": 1}, output=ITEM)])
    trace = run(sandbox, "print(f()['id'])", tools)
    assert trace.stdout == "None\n"
    assert len(_call(trace).drift) == 1
    assert _call(trace).drift[0].startswith("id: "), trace


def a_broken_tool_is_a_failed_call(sandbox: Sandbox) -> None:
    """Any exception out of a tool is a `ToolError`; after a write nobody knows what it did."""

    def breaks() -> Json:
        raise KeyError("inside")

    for writes, outcome in ((False, "refused"), (True, "unknown")):
        tools = Toolbox([make_tool("f", {}, breaks, writes=writes)])
        trace = run(sandbox, "f()", tools)
        assert _failure(trace).type == "ToolError"
        assert (_call(trace).error, _call(trace).outcome) == ("KeyError: 'inside'", outcome), trace


def a_pause_ends_the_run(sandbox: Sandbox) -> None:
    """The program cannot catch it, and the call was not made."""

    def gate() -> Json:
        raise Paused("buy needs consent")

    source = "try:\n    buy()\nexcept BaseException:\n    pass\nprint('on')"
    trace = run(sandbox, source, Toolbox([make_tool("buy", {}, gate, writes=True)]))
    failure = _failure(trace)
    assert (failure.kind, failure.message, failure.call) == ("paused", "buy needs consent", 0), failure
    assert (trace.stdout, _call(trace).outcome) == ("", "not_run")


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


def a_run_can_be_repeated(sandbox: Sandbox) -> None:
    """Clock, chance, identifiers and the order of sets are pinned, the same in each execution."""
    source = (
        "import random, uuid, time, datetime, os, secrets\n"
        "print(random.random(), random.Random().random(), uuid.uuid4(), uuid.uuid1(), secrets.token_hex(4))\n"
        "print(time.time(), datetime.datetime.now(), datetime.date.today(), list({'a', 'b', 'c', 'd'}), time.tzname)"
    )
    journal = Journal(pins=Pins(seed=7, clock=1_357_000_000.0))
    first, again = run(sandbox, source, journal=journal), run(sandbox, source, journal=journal)
    assert first.stdout == again.stdout
    assert "2013-01-01" in first.stdout, first
    assert first.pins == journal.pins
    other = run(sandbox, source, journal=Journal(pins=Pins(seed=8, clock=1_357_000_000.0)))
    assert other.stdout != first.stdout


def runs_leave_nothing_to_each_other(sandbox: Sandbox) -> None:
    """What one program changes, the next does not see."""
    run(sandbox, "import builtins, json, math\nbuiltins.left = math.pi = 3\njson.loads = None\nleft = 1")
    trace = run(sandbox, "import json, math\nprint('left' in dir(__builtins__), math.pi > 3.1, json.loads('[1]'))")
    assert trace.stdout == "False True [1]\n", trace


def runs_may_overlap(sandbox: Sandbox) -> None:
    """Each has its own calls, output and verdict."""
    source = "x = get_item(id={0})\nprint(x['id'], [get_item(id=n)['id'] for n in range(5)])"
    with ThreadPoolExecutor(4) as pool:
        traces = list(pool.map(lambda n: run(sandbox, source.format(n)), range(8)))
    assert [trace.stdout for trace in traces] == [f"{n} [0, 1, 2, 3, 4]\n" for n in range(8)], traces
    assert {len(trace.calls) for trace in traces} == {6}


def calls_may_be_gathered(sandbox: Sandbox) -> None:
    """`asyncio.to_thread` of a tool works, and each call has the line that asked for it."""
    source = (
        "import asyncio\n"
        "async def main():\n"
        "    a = asyncio.to_thread(get_item, id=1)\n"
        "    b = asyncio.to_thread(get_item, id=2)\n"
        "    return [x['id'] for x in await asyncio.gather(a, b)]\n"
        "asyncio.run(main())"
    )
    trace = run(sandbox, source)
    assert (trace.value, [call.line for call in trace.calls]) == ([1, 2], [3, 4]), trace


def no_environment_reaches_a_program(sandbox: Sandbox) -> None:
    """Nothing of the host's environment, where credentials are."""
    trace = run(sandbox, "import os\nprint(sorted(set(os.environ) - {'LANG', 'LC_CTYPE', 'PYTHONHASHSEED', 'TZ'}))")
    assert trace.stdout == "[]\n" or trace.failure is not None, trace  # or it has no `os` at all


def input_is_refused(sandbox: Sandbox) -> None:
    """Nobody is there to answer."""
    failure = _failure(run(sandbox, "input('name? ')"))
    assert "input()" in failure.message, failure


CHECKS: tuple[Check, ...] = (
    prints_and_gives_a_value,
    an_empty_program_is_fine,
    a_call_is_recorded,
    a_failed_call_can_be_caught,
    an_uncaught_failed_call_names_itself,
    wrong_arguments_never_reach_the_tool,
    positional_arguments_are_explained,
    an_exception_is_the_programs,
    a_syntax_error_is_the_programs,
    wall_time_is_limited,
    wall_time_includes_waits_on_tools,
    processor_time_is_limited,
    memory_is_limited,
    output_is_limited,
    calls_are_limited,
    a_large_result_becomes_a_preview,
    a_departure_from_the_protocol_is_passed_on,
    a_broken_tool_is_a_failed_call,
    a_pause_ends_the_run,
    the_journal_hears_of_a_call_before_and_after,
    earlier_calls_are_answered_by_the_journal,
    a_run_can_be_repeated,
    runs_leave_nothing_to_each_other,
    runs_may_overlap,
    calls_may_be_gathered,
    no_environment_reaches_a_program,
    input_is_refused,
)
