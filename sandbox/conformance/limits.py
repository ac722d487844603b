"""Checks: limits, each named with its value."""

from __future__ import annotations

import threading

from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.conformance.shop import call_of, failure_of, make_tool, run


def wall_time_is_limited(sandbox: Sandbox) -> None:
    """A program that waits is ended, within a moment, with the limit's name and value."""
    trace = run(sandbox, "import time\nprint('a')\ntime.sleep(60)", wall_seconds=0.3)
    failure = failure_of(trace)
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
    assert failure_of(trace).type == "wall_seconds", trace
    assert (call_of(trace).outcome, trace.seconds < 5) == ("unknown", True)


def processor_time_is_limited(sandbox: Sandbox) -> None:
    """A program that computes without end is ended, also when it catches everything."""
    source = "while True:\n    try:\n        x = 0\n        while True: x += 1\n    except BaseException: pass"
    failure = failure_of(run(sandbox, source, cpu_seconds=1.0))
    assert (failure.kind, failure.type) == ("limit", "cpu_seconds"), failure
    assert failure.message == "cpu_seconds: the program used more than 1 s of processor time"


def memory_is_limited(sandbox: Sandbox) -> None:
    """A program that takes too much is ended, and the host is not."""
    failure = failure_of(run(sandbox, "x = [bytearray(1 << 26) for _ in range(64)]", memory_bytes=512 * 2**20))
    assert (failure.kind, failure.type) == ("limit", "memory_bytes"), failure


def output_is_limited(sandbox: Sandbox) -> None:
    """The host keeps no more than the limit."""
    trace = run(sandbox, "while True: print('x' * 1000)", output_bytes=10_000)
    assert failure_of(trace).type == "output_bytes", trace.failure
    assert 9_000 <= len(trace.stdout) <= 10_000


def calls_are_limited(sandbox: Sandbox) -> None:
    """The call over the limit is not made; the program cannot catch its end."""
    source = "while True:\n    try: echo(text='a')\n    except BaseException: pass"
    trace = run(sandbox, source, tool_calls=5)
    failure = failure_of(trace)
    assert (failure.type, failure.line, len(trace.calls)) == ("tool_calls", 2, 5), trace


CHECKS = (
    wall_time_is_limited,
    wall_time_includes_waits_on_tools,
    processor_time_is_limited,
    memory_is_limited,
    output_is_limited,
    calls_are_limited,
)
