"""Latency of the zygote sandbox: start to finish of `print(1)`, and the round trip of one tool call.

python benchmarks/sandbox_latency.py [--runs N] [--calls N]
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise

from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.zygote import ZygoteSandbox

ECHO = ToolProtocol(
    name="echo",
    input_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    output_schema={"type": "string"},
    annotations=Annotations(read_only=True),
)


def run_milliseconds(sandbox: ZygoteSandbox, runs: int) -> list[float]:
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        trace = sandbox.run("print(1)", Toolbox(), limits=Limits(), journal=Journal())
        taken.append((time.perf_counter() - began) * 1e3)
        assert trace.stdout == "1\n", trace
    return sorted(taken)


def call_microseconds(sandbox: ZygoteSandbox, calls: int) -> list[float]:
    """From the start of one call to the start of the next, so all of the host's and the child's work is in it."""
    tools = Toolbox([Tool(ECHO, lambda arguments: arguments["text"])])
    source = f"for number in range({calls}):\n    echo(text=str(number))"
    trace = sandbox.run(source, tools, limits=Limits(tool_calls=calls), journal=Journal())
    assert trace.failure is None, trace.failure
    started = [call.started for call in trace.calls]
    return sorted((after - before) * 1e6 for before, after in pairwise(started))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--calls", type=int, default=2000)
    options = parser.parse_args()
    began = time.perf_counter()
    with ZygoteSandbox() as sandbox:
        sandbox.run("pass", Toolbox(), limits=Limits(), journal=Journal())
        print(f"cold start, first program  {(time.perf_counter() - began) * 1e3:8.1f} ms")
        for name, unit, taken in (
            ("print(1), forked on demand", "ms", run_milliseconds(sandbox, options.runs)),
            ("one tool call", "µs", call_microseconds(sandbox, options.calls)),
        ):
            p95 = taken[int(len(taken) * 0.95)]
            print(f"{name:26s} {taken[0]:8.2f} min {taken[len(taken) // 2]:8.2f} p50 {p95:8.2f} p95 {unit}")


if __name__ == "__main__":
    main()
