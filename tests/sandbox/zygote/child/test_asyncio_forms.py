"""Event loops of a program, and what its functions of asyncio take."""

from __future__ import annotations

import pytest

from benchmarks.sandbox.shop import run
from sandbox.zygote import unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        (  # a task that looks again and again lets the calls be answered
            (
                "tasks = [asyncio.create_task(get_item(id=i)) for i in range(3)]\n"
                "while not all(task.done() for task in tasks): await asyncio.sleep(0)\n"
                "print([task.result()['id'] for task in tasks])"
            ),
            "[0, 1, 2]",
        ),
        (
            (
                "async def one(i):\n    return (await get_item(id=i))['id']\n"
                "print(await one(1), asyncio.run(one(2)))"
            ),
            "1 2",
        ),
        (
            (
                "task = asyncio.create_task(get_item(id=1))\nawait asyncio.sleep(0)\ntask.cancel()\n"
                "try:\n    await task\n"
                "except asyncio.CancelledError:\n    print((await get_item(id=3))['id'])"
            ),
            "3",
        ),
        (
            "rows = [1, 2]\nprint(await asyncio.gather(rows, get_item(id=1)['id']), await 3)",
            "[[1, 2], 1] 3",
        ),
    ],
)
def test_what_a_program_awaits(sandbox, source, printed):
    trace = run(sandbox, f"import asyncio\n{source}")
    assert (trace.stdout.strip(), trace.failure) == (printed, None), trace


def test_a_list_of_calls_is_not_gathered(sandbox):
    failure = run(sandbox, "import asyncio\nawait asyncio.gather([get_item(id=1)])").failure
    assert (failure.type, "write gather(*tasks)" in failure.message) == ("TypeError", True), failure
