"""What every sandbox must do, as a list of small checks. A backend shows that it fits by passing them all."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from benchmarks.sandbox.shop import ITEM, run
from protocols.files import file_of_bytes
from protocols.toolbox import Toolbox
from sandbox.base import Paused, SandboxUnavailable
from sandbox.journal import Journal
from sandbox.testing import make_tool
from sandbox.trace import Pins
from tests.labs.patience import PATIENCE


def prints_and_gives_a_value(sandbox):
    """Output and the last expression's value are in the trace."""
    trace = run(sandbox, "print('one', 2)\nprint('zwei é 🛫')\nx = 3\n{'x': (x, x + 1)}")
    assert (trace.stdout, trace.value, trace.failure) == (
        "one 2\nzwei é 🛫\n",
        {"x": [3, 4]},
        None,
    ), trace
    assert trace.backend == sandbox.name


def looked_at_values_are_no_output(sandbox):
    """What is passed to `look` is in the trace, in order, also before a failure."""
    trace = run(sandbox, "look(get_item(id=3), [1])\nprint('out')\nlook('two')\n{}['none']")
    first = {"id": 3, "name": "item 3", "price": 4.5}
    assert (trace.looked, trace.stdout) == ((first, [1], "two"), "out\n"), trace
    assert failure_of(trace).type == "KeyError"


PRINTED = (  # what the only `print` gets, and the value that the host gets for it
    ("6", (6,)),
    ("'6'", ()),
    ("'a', 3", ()),
    ("None", (None,)),
    ("[1, (2, 3), {4, 1}]", ([1, [2, 3], [1, 4]],)),
    ("{1: float('nan'), (1, 2): -float('inf'), None: True}", ({"1": "nan", "(1, 2)": "-inf", "null": True},)),
    ("[datetime.date(2013, 7, 4), decimal.Decimal('1.50')]", (["2013-07-04", "1.50"],)),
    ("datetime.date(2013, 7, 4)", ()),
    ("10**40", (10**40,)),
    ("{1: 2, '1': 3}", ()),
)  # fmt: skip


def a_printed_object_is_kept(sandbox):
    """The object of the only `print` comes as JSON; a text, or what JSON would not keep, does not."""
    for printed, value in PRINTED:
        trace = run(sandbox, f"import datetime, decimal\nprint()\nprint({printed})")
        assert trace.printed == value, (printed, trace)
        assert [*map(type, trace.printed)] == [*map(type, value)], (printed, trace)
    changed = run(sandbox, "rows = [1]\nprint(rows)\nrows.append(2)")
    assert changed.printed == ([1],), changed
    assert run(sandbox, "print([1])\nprint([2])").printed == ()
    many = run(sandbox, "print([{'name': 'é' * 20, 'n': n} for n in range(10_000)])")
    assert len(many.printed[0]) == 10_000


def an_exception_is_the_programs(sandbox):
    """Type, message and frames; what was called and printed before is kept."""
    trace = run(sandbox, "x = get_item(id=3)\nprint('before')\nx['nolan']")
    failure = failure_of(trace)
    assert (failure.kind, failure.type, failure.message, failure.line) == (
        "exception",
        "KeyError",
        "'nolan'",
        3,
    )
    assert trace.stdout == "before\n"
    assert len(trace.calls) == 1


def a_syntax_error_is_the_programs(sandbox):
    """Nothing runs, and the line is named."""
    trace = run(sandbox, "get_item(id=1)\nx = = 2\n")
    failure = failure_of(trace)
    assert (failure.kind, failure.line, trace.calls) == ("syntax", 2, ()), trace


def a_run_can_be_repeated(sandbox):
    """Clock, zone, chance, identifiers and the order of sets are pinned, the same in each execution."""
    source = (
        "import random, uuid, time, datetime, secrets\n"
        "print(random.random(), random.Random().random(), uuid.uuid4(), uuid.uuid1(), secrets.token_hex(4))\n"
        "print(time.time(), datetime.datetime.now(), datetime.date.today(), list({'a', 'b', 'c', 'd'}), time.tzname)"
    )
    journal = Journal(pins=Pins(seed=7, clock=1_357_000_000.0, timezone="Asia/Tokyo"))
    first, again = run(sandbox, source, journal=journal), run(sandbox, source, journal=journal)
    assert first.stdout == again.stdout
    assert run(sandbox, source).stdout == run(sandbox, source).stdout, "with the default pins too"
    assert " 2013-01-01 09:26:40" in first.stdout, first
    assert first.pins == journal.pins
    other = run(sandbox, source, journal=Journal(pins=Pins(seed=8, clock=1_357_000_000.0)))
    assert other.stdout != first.stdout


def runs_leave_nothing_to_each_other(sandbox):
    """What one program changes, the next does not see."""
    trace = run(
        sandbox,
        "import builtins, json, math\nbuiltins.left = math.pi = 3\njson.loads = json.dumps = None\n[1]",
    )
    assert trace.value == [1], trace
    trace = run(
        sandbox,
        "import json, math\nprint('left' in dir(__builtins__), math.pi > 3.1, json.loads('[1]'))",
    )
    assert trace.stdout == "False True [1]\n", trace


def runs_may_overlap(sandbox):
    """Each has its own calls, output and verdict."""
    source = "x = get_item(id={0})\nprint(x['id'], [get_item(id=n)['id'] for n in range(5)])"
    with ThreadPoolExecutor(4) as pool:
        traces = list(pool.map(lambda n: run(sandbox, source.format(n)), range(8)))
    assert [trace.stdout for trace in traces] == [f"{n} [0, 1, 2, 3, 4]\n" for n in range(8)], (
        traces
    )
    assert {len(trace.calls) for trace in traces} == {6}


def no_environment_reaches_a_program(sandbox):
    """Nothing of the host's environment, where credentials are."""
    trace = run(
        sandbox,
        "import os\nprint(sorted(set(os.environ) - {'LANG', 'LC_CTYPE', 'PYTHONHASHSEED', 'TZ'}))",
    )
    assert trace.stdout == "[]\n" or trace.failure is not None, trace  # or it has no `os` at all


def input_is_refused(sandbox):
    """Nobody is there to answer."""
    failure = failure_of(run(sandbox, "input('name? ')"))
    assert "input()" in failure.message, failure


def a_call_is_recorded(sandbox):
    """Tool, arguments, line, full response; the program gets the response's only field."""
    trace = run(sandbox, "\nrows = list_items(\n    page=1)\nprint(rows[0]['id'])")
    call = call_of(trace)
    assert trace.stdout == "10\n", trace
    assert (call.index, call.tool, call.arguments, call.outcome) == (
        0,
        "list_items",
        {"page": 1},
        "done",
    )
    assert call.line in (2, 3)
    assert call.result["items"][0]["id"] == 10
    assert call.seconds >= 0 <= call.started


def a_failed_call_can_be_caught(sandbox):
    """`ToolError` is a name that every program has, with `status` and `body`."""
    trace = run(
        sandbox, "try:\n    get_item(id=-1)\nexcept ToolError as e:\n    print(e.status, e.body)"
    )
    call = call_of(trace)
    assert (trace.stdout, trace.failure) == ("404 no item -1\n", None), trace
    assert (call.status, call.error, call.outcome, call.result) == (
        404,
        "no item -1",
        "refused",
        None,
    )
    assert call.curl == "curl http://shop.example/items/-1"


def pages_are_read_one_by_one(sandbox):
    """`pages` gives each page as a plain call does, and the trace has a call for each."""
    rows = list(range(7))

    def numbers(start=0):
        return {"rows": rows[start : start + 3], "total": 7}

    tools = Toolbox([make_tool("numbers", {"start": {"type": "integer"}}, numbers, required=())])
    source = "print([page['rows'] for page in pages(numbers)])"
    journal = Journal()
    trace = run(sandbox, source, tools, journal=journal)
    assert trace.stdout == "[[0, 1, 2], [3, 4, 5], [6]]\n", trace
    assert [call.arguments for call in trace.calls] == [{}, {"start": 3}, {"start": 6}], trace
    assert [call.continues for call in trace.calls] == [None, 0, 1], trace
    again = run(sandbox, source, tools, journal=journal)
    assert again.stdout == trace.stdout, again
    assert all(call.reused for call in again.calls), again


def headers_come_beside_the_value(sandbox):
    """`with_headers` gives the value of a plain call and a dict, and is answered like one."""
    trace = run(sandbox, "value, headers = with_headers(get_item, id=3)\nprint(value, headers)")
    assert trace.stdout == "{'id': 3, 'name': 'item 3', 'price': 4.5} {}\n", trace
    assert call_of(trace).arguments == {"id": 3}, trace
    failure = failure_of(run(sandbox, "with_headers(3)"))
    assert (failure.type, "takes a tool" in failure.message) == ("TypeError", True), failure


def pages_of_a_write_are_refused(sandbox):
    """A tool that may change data is not called by `pages`, and the message says what to do."""
    made = []
    tools = Toolbox([make_tool("add", {"n": {"type": "integer"}}, made.append, writes=True)])
    failure = failure_of(run(sandbox, "for page in pages(add, n=1):\n    print(page)", tools))
    assert "call it directly" in failure.message, failure
    assert made == []


def an_uncaught_failed_call_names_itself(sandbox):
    """The failure carries the index of the call, and the program's frames, outermost first."""
    trace = run(sandbox, "get_item(id=1)\ndef f():\n    return get_item(id=-1)\nf()")
    failure = failure_of(trace)
    assert (failure.kind, failure.type, failure.call) == ("exception", "ToolError", 1), failure
    assert [(frame.line, frame.function) for frame in failure.frames] == [
        (4, "<module>"),
        (3, "f"),
    ], failure
    assert len(trace.calls) == 2


def wrong_arguments_never_reach_the_tool(sandbox):
    """They are refused by exact type, recorded as not run, and raise `ToolError`."""
    made = []
    integer = {"type": "integer"}
    tools = Toolbox(
        [
            make_tool(
                "f",
                {"n": integer, "m": integer},
                lambda **given: made.append(given),
                required=("n",),
            )
        ]
    )
    for arguments, said in (
        ("n='5'", "tool 'f': argument 'n' must be an integer, got '5' (line 2)"),
        ("n=True", "tool 'f': argument 'n' must be an integer, got True (line 2)"),
        ("n=5, x=1", "tool 'f': no argument 'x'; it takes n, m (line 2)"),
        ("m=5", "tool 'f': argument 'n' is missing (line 2)"),
        ("n={1, 2}", "tool 'f': argument 'n' must be an integer, got {1, 2} (line 2)"),
    ):
        trace = run(
            sandbox,
            f"try:\n    f({arguments})\nexcept ToolError as e:\n    print(e.status, e)",
            tools,
        )
        assert trace.stdout == f"None {said}\n", trace
        assert (call_of(trace).outcome, call_of(trace).error) == ("not_run", said)
    assert made == []
    run(sandbox, "f(n=5.0, m=None)", tools)
    assert made == [{"n": 5}], "3.0 is an integer, and None leaves an optional argument out"


def positional_arguments_are_explained(sandbox):
    """The message shows the call as it should be written."""
    failure = failure_of(run(sandbox, "get_item(7)"))
    assert (failure.type, failure.line) == ("TypeError", 1)
    assert "get_item(id=7)" in failure.message


def a_large_result_becomes_a_file(sandbox):
    """The program reads it as a value, and the trace has its description."""
    tools = Toolbox([make_tool("big", {}, lambda: [{"id": n} for n in range(1000)])])
    source = "r = big()\nprint(r.name, r.media_type, r.size > 5000, len(r.json()))"
    trace = run(sandbox, source, tools, result_bytes=5000)
    assert trace.stdout == "big.json application/json True 1000\n", trace
    assert call_of(trace).files == ((),)
    assert set(call_of(trace).result) == {"name", "media_type", "size", "sha256"}


def a_file_is_read_passed_on_and_handed_over(sandbox):
    """Its bytes reach the program and the next tool, and the trace names it."""
    data = b"id,name\n1,Ann\n2,Bob\n"
    got = []
    binary = {"type": "string", "format": "binary"}
    tools = Toolbox(
        [
            make_tool("export", {}, lambda: file_of_bytes(data, "a.csv", "text/csv")),
            make_tool("upload", {"file": binary}, lambda file: got.append(file.whole())),
        ]
    )
    source = (
        "f = export()\n"
        "print([row['name'] for row in f.rows()], f.lines()[0], f.read_text()[:2], f.size)\n"
        "upload(file=f)\n"
        "print(f)"
    )
    trace = run(sandbox, source, tools)
    printed = "['Ann', 'Bob'] id,name id 20\na.csv (text/csv, 20 bytes)\n"
    assert trace.stdout == printed, trace
    assert got == [data]
    assert [file.name for file in trace.files] == ["a.csv"]
    assert trace.calls[1].arguments["file"]["sha256"] == trace.files[0].sha256


def a_departure_from_the_protocol_is_passed_on(sandbox):
    """It is noted as drift, not failed."""
    tools = Toolbox(
        [make_tool("f", {}, lambda: {"id": None, "name": "x", "price": 1}, output=ITEM)]
    )
    trace = run(sandbox, "print(f()['id'])", tools)
    assert trace.stdout == "None\n"
    assert len(call_of(trace).drift) == 1
    assert call_of(trace).drift[0].startswith("id: "), trace


def a_broken_tool_is_a_failed_call(sandbox):
    """Any exception out of a tool is a `ToolError`; after a write nobody knows what it did."""

    def breaks():
        raise KeyError("inside")

    for writes, outcome in ((False, "refused"), (True, "unknown")):
        tools = Toolbox([make_tool("f", {}, breaks, writes=writes)])
        trace = run(sandbox, "f()", tools)
        assert failure_of(trace).type == "ToolError"
        assert (call_of(trace).error, call_of(trace).outcome) == ("KeyError: 'inside'", outcome), (
            trace
        )


def a_pause_ends_the_run(sandbox):
    """The program cannot catch it, and the call was not made."""

    def gate():
        raise Paused("buy needs consent")

    source = "try:\n    buy()\nexcept BaseException:\n    pass\nprint('on')"
    trace = run(sandbox, source, Toolbox([make_tool("buy", {}, gate, writes=True)]))
    failure = failure_of(trace)
    assert (failure.kind, failure.message, failure.call) == ("paused", "buy needs consent", 0), (
        failure
    )
    assert (trace.stdout, call_of(trace).outcome) == ("", "not_run")


def the_journal_hears_of_a_call_before_and_after(sandbox):
    """The intent comes before the call is made, the outcome after it."""
    heard = []
    tools = Toolbox([make_tool("f", {}, lambda: heard.append(("made", 0, True, "")), writes=True)])
    journal = Journal(
        sink=lambda run_, call, complete: heard.append((call.tool, run_, complete, call.outcome))
    )
    run(sandbox, "f()", tools, journal=journal)
    assert heard == [("f", 0, False, "unknown"), ("made", 0, True, ""), ("f", 0, True, "done")], (
        heard
    )


def earlier_calls_are_answered_by_the_journal(sandbox):
    """A program that grew by a piece repeats no call."""
    made = []

    def call(x):
        made.append(x)
        return x

    tools = Toolbox([make_tool("f", {"x": {"type": "string"}}, call, writes=True)])
    journal = Journal()
    run(sandbox, "print(f(x='a'))", tools, journal=journal)
    trace = run(sandbox, "print(f(x='a'))\nprint(f(x='b'))", tools, journal=journal)
    assert (made, trace.stdout) == (["a", "b"], "a\nb\n"), trace
    assert [call.reused for call in trace.calls] == [True, False]


def gathered_calls_are_made_at_once(sandbox):
    """Each waits for the other to have begun, so one after the other they would never end; each has its own line."""
    meeting = threading.Barrier(2, timeout=PATIENCE)

    def meet(name):
        meeting.wait()
        return name

    source = (
        "import asyncio\n"
        "async def main():\n"
        "    a = asyncio.to_thread(meet, name='a')\n"
        "    b = asyncio.to_thread(meet, name='b')\n"
        "    return await asyncio.gather(a, b)\n"
        "asyncio.run(main())"
    )
    trace = run(sandbox, source, Toolbox([make_tool("meet", {"name": {"type": "string"}}, meet)]))
    assert (trace.value, [call.line for call in trace.calls]) == (["a", "b"], [3, 4]), trace
    first, second = trace.calls
    assert second.started < first.started + first.seconds, "they overlap in the trace too"


def no_more_than_the_limit_at_once(sandbox):
    """The others wait for their turn; none is refused, and all are recorded in the order of issue."""
    lock, now, most = threading.Lock(), 0, 0
    full = threading.Event()

    def work(n):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
            if now == 3:
                full.set()
        full.wait(10)
        with lock:
            now -= 1
        return n

    source = (
        "import asyncio\n"
        "async def main():\n"
        "    return await asyncio.gather(*[asyncio.to_thread(work, n=n) for n in range(12)])\n"
        "asyncio.run(main())"
    )
    tools = Toolbox([make_tool("work", {"n": {"type": "integer"}}, work)])
    trace = run(sandbox, source, tools, concurrent_calls=3)
    assert (trace.value, trace.failure) == (list(range(12)), None), trace
    assert most == 3, most
    assert [call.arguments["n"] for call in trace.calls] == list(range(12))


def replies_come_in_the_order_of_the_calls(sandbox):
    """What a program sees does not depend on which tool is quicker, so that it can be repeated."""
    quick_is_done = threading.Event()

    def slow():
        quick_is_done.wait(PATIENCE)
        return "slow"

    def quick():
        quick_is_done.set()
        return "quick"

    source = (
        "import asyncio\n"
        "async def one(tool):\n"
        "    print(await asyncio.to_thread(tool))\n"
        "async def main():\n"
        "    await asyncio.gather(one(slow), one(quick))\n"
        "asyncio.run(main())"
    )
    trace = run(
        sandbox, source, Toolbox([make_tool("slow", {}, slow), make_tool("quick", {}, quick)])
    )
    assert trace.stdout == "slow\nquick\n", trace


def a_call_may_be_waited_for_while_others_are_under_way(sandbox):
    """A plain call between begun ones gets its own reply, and an error goes to the task that asked."""
    source = (
        "import asyncio\n"
        "async def main():\n"
        "    a = asyncio.create_task(asyncio.to_thread(get_item, id=1))\n"
        "    b = asyncio.create_task(asyncio.to_thread(get_item, id=-1))\n"
        "    await asyncio.sleep(0)\n"
        "    c = get_item(id=3)\n"
        "    try:\n"
        "        await b\n"
        "    except ToolError as error:\n"
        "        return [(await a)['id'], error.status, c['id']]\n"
        "asyncio.run(main())"
    )
    trace = run(sandbox, source)
    assert (trace.value, trace.failure) == ([1, 404, 3], None), trace


def calls_under_way_at_the_end_are_recorded(sandbox):
    """A program that ends, or fails, without waiting for them does not lose what became of them."""
    written = []
    tools = Toolbox(
        [make_tool("write", {"n": {"type": "integer"}}, lambda n: written.append(n), writes=True)]
    )
    source = (
        "import asyncio\n"
        "async def main():\n"
        "    task = asyncio.create_task(asyncio.to_thread(write, n=1))\n"
        "    await asyncio.sleep(0)\n"
        "    1 / 0\n"
        "asyncio.run(main())"
    )
    trace = run(sandbox, source, tools)
    assert failure_of(trace).type == "ZeroDivisionError", trace
    assert (written, [call.outcome for call in trace.calls]) == ([1], ["done"]), trace


def wall_time_is_limited(sandbox):
    """A program that waits is ended, within a moment, with the limit's name and value."""
    trace = run(sandbox, "import time\nprint('a')\ntime.sleep(3600)", wall_seconds=0.3)
    failure = failure_of(trace)
    assert (failure.kind, failure.type) == ("limit", "wall_seconds"), failure
    assert failure.message == "wall_seconds: the program ran longer than 0.3 s"
    assert trace.seconds < PATIENCE
    assert trace.stdout in ("", "a\n")  # what is still buffered in a killed program may be lost


def wall_time_includes_waits_on_tools(sandbox):
    """A call that does not return is left; what became of it is unknown."""
    answered = threading.Event()
    tools = Toolbox([make_tool("hang", {}, lambda: answered.wait(2 * PATIENCE), writes=True)])
    try:
        trace = run(sandbox, "hang()", tools, wall_seconds=1.0)  # it has to reach its call
    finally:
        answered.set()
    assert failure_of(trace).type == "wall_seconds", trace
    assert (call_of(trace).outcome, trace.seconds < PATIENCE) == ("unknown", True)


def processor_time_is_limited(sandbox):
    """A program that computes without end is ended, also when it catches everything."""
    source = "while True:\n    try:\n        x = 0\n        while True: x += 1\n    except BaseException: pass"
    failure = failure_of(run(sandbox, source, cpu_seconds=1.0))
    assert (failure.kind, failure.type) == ("limit", "cpu_seconds"), failure
    assert failure.message == "cpu_seconds: the program used more than 1 s of processor time"


def memory_is_limited(sandbox):
    """A program that takes too much is ended, and the host is not."""
    failure = failure_of(
        run(sandbox, "x = [bytearray(1 << 26) for _ in range(64)]", memory_bytes=256 * 2**20)
    )
    assert (failure.kind, failure.type) == ("limit", "memory_bytes"), failure


def output_is_limited(sandbox):
    """The host keeps no more than the limit."""
    trace = run(sandbox, "while True: print('x' * 1000)", output_bytes=10_000)
    assert failure_of(trace).type == "output_bytes", trace.failure
    assert 9_000 <= len(trace.stdout) <= 10_000


def calls_are_limited(sandbox):
    """The call over the limit is not made; the program cannot catch its end."""
    source = "while True:\n    try: echo(text='a')\n    except BaseException: pass"
    trace = run(sandbox, source, tool_calls=5)
    failure = failure_of(trace)
    assert (failure.type, failure.line, len(trace.calls)) == ("tool_calls", 2, 5), trace


def closing_ends_a_run(sandbox):
    """No check of the list, as the sandbox is closed after it: a run that is under way ends without a verdict."""
    started, ended = threading.Event(), []

    def work():
        try:
            run(
                sandbox,
                "started()\nwhile True: pass",
                Toolbox([make_tool("started", {}, started.set)]),
            )
        except SandboxUnavailable as error:
            ended.append(error)

    sandbox.warm()
    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(PATIENCE)
    sandbox.close()
    thread.join(PATIENCE)
    assert len(ended) == 1


def failure_of(trace):
    """The failure that there must be."""
    assert trace.failure is not None, trace
    return trace.failure


def call_of(trace):
    """The only call."""
    (call,) = trace.calls
    return call


CHECKS = tuple(
    value
    for name, value in list(globals().items())
    if getattr(value, "__module__", "") == __name__
    and name not in ("closing_ends_a_run", "failure_of", "call_of")
)
