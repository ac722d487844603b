"""Checks: calls that a program does not wait for."""

from __future__ import annotations

import threading

from protocols.jsontypes import Json
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.conformance.shop import failure_of, make_tool, run


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


def gathered_calls_are_made_at_once(sandbox: Sandbox) -> None:
    """Each of them waits for the other to have begun, so one after the other they would never end."""
    meeting = threading.Barrier(2, timeout=10)

    def meet(name: str) -> Json:
        meeting.wait()
        return name

    source = (
        "import asyncio\n"
        "async def main():\n"
        "    return await asyncio.gather(asyncio.to_thread(meet, name='a'), asyncio.to_thread(meet, name='b'))\n"
        "asyncio.run(main())"
    )
    trace = run(sandbox, source, Toolbox([make_tool("meet", {"name": {"type": "string"}}, meet)]))
    assert (trace.value, trace.failure) == (["a", "b"], None), trace
    first, second = trace.calls
    assert second.started < first.started + first.seconds, "they overlap in the trace too"


def no_more_than_the_limit_at_once(sandbox: Sandbox) -> None:
    """The others wait for their turn; none is refused, and all are recorded in the order of issue."""
    lock, now, most = threading.Lock(), 0, 0
    full = threading.Event()

    def work(n: int) -> Json:
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


def replies_come_in_the_order_of_the_calls(sandbox: Sandbox) -> None:
    """What a program sees does not depend on which tool is quicker, so that it can be repeated."""
    quick_is_done = threading.Event()

    def slow() -> Json:
        quick_is_done.wait(10)
        return "slow"

    def quick() -> Json:
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
    trace = run(sandbox, source, Toolbox([make_tool("slow", {}, slow), make_tool("quick", {}, quick)]))
    assert trace.stdout == "slow\nquick\n", trace


def a_call_may_be_waited_for_while_others_are_under_way(sandbox: Sandbox) -> None:
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


def calls_under_way_at_the_end_are_recorded(sandbox: Sandbox) -> None:
    """A program that ends, or fails, without waiting for them does not lose what became of them."""
    written: list[int] = []
    tools = Toolbox([make_tool("write", {"n": {"type": "integer"}}, lambda n: written.append(n), writes=True)])
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


CHECKS = (
    calls_may_be_gathered,
    gathered_calls_are_made_at_once,
    no_more_than_the_limit_at_once,
    replies_come_in_the_order_of_the_calls,
    a_call_may_be_waited_for_while_others_are_under_way,
    calls_under_way_at_the_end_are_recorded,
)
