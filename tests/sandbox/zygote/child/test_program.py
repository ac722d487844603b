"""How a program is compiled and where it fails."""

from __future__ import annotations

import pytest

from benchmarks.sandbox.shop import run
from sandbox.zygote import unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))


@pytest.mark.parametrize("source", ["x = '\ud800'", "x = 1\0", "(" * 5000, "await = 1"])
def test_what_cannot_be_compiled_is_a_syntax_error(sandbox, source):
    trace = run(sandbox, source)
    assert (trace.failure.kind, trace.failure.line) == ("syntax", 1)


@pytest.mark.parametrize(("other", "is_known"), [("get_item(id=-1)", True), ("1 / 0", False)])
def test_a_group_of_failed_calls_names_one(sandbox, other, is_known):
    source = f"""
import asyncio

async def first():
    get_item(id=-1)

async def second():
    {other}

async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(first())
        group.create_task(second())

asyncio.run(main())
"""
    failure = run(sandbox, source).failure
    assert (failure.type == "ToolError", failure.call == 0) == (is_known, is_known)


def test_the_line_where_a_limit_struck_is_known(sandbox):
    source = "def spin():\n    while True:\n        pass\n\n\nprint('kept')\nspin()"
    trace = run(sandbox, source, cpu_seconds=1)
    assert (trace.failure.type, trace.failure.frames[0].line, trace.failure.frames[1].function) == (
        "cpu_seconds", 7, "spin",
    )  # fmt: skip
    assert trace.stdout == "kept\n"
    assert run(sandbox, "\nx = [0] * 10**9", memory_bytes=256 << 20).failure.line == 2
