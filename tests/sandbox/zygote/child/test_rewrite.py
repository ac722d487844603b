"""Programs that are rewritten do what they did, in their own scopes, with exact lines and columns."""

from __future__ import annotations

import textwrap

import pytest

from benchmarks.sandbox.shop import run
from sandbox.zygote import unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
PROGRAMS = {
    "a generator is not suspended": (
        """
        def ids(n):
            for i in range(n):
                yield get_item(id=i)["id"]
        async def main():
            return list(ids(3))
        print(await asyncio.gather(main(), main()))
        """,
        "[[0, 1, 2], [0, 1, 2]]",
    ),
    "closures and nonlocal": (
        """
        def outer():
            n = 0
            def add(i):
                nonlocal n
                n += get_item(id=i)["id"]
            with ThreadPoolExecutor() as pool:
                list(pool.map(add, range(4)))
            return n
        print(outer())
        """,
        "6",
    ),
    "methods and super": (
        """
        class Plain:
            def get(self, i):
                return get_item(id=i)["id"]
        class More(Plain):
            def get(self, i):
                return super().get(i) + 1
        with ThreadPoolExecutor() as pool:
            print(list(pool.map(More().get, range(3))))
        """,
        "[1, 2, 3]",
    ),
    "defaults are evaluated once": (
        """
        def count(i, *rest, seen=[], k=2, **more):
            seen.append(get_item(id=i)["id"])
            return len(rest) * k + len(more), len(seen)
        with ThreadPoolExecutor() as pool:
            futures = [pool.submit(count, 1, 2, 3, z=1), pool.submit(count, 2)]
            print([one.result() for one in futures], count(3))
        """,
        "[(5, 1), (0, 2)] (0, 3)",
    ),
    "a decorator is kept": (
        """
        def or_none(function):
            @functools.wraps(function)
            def inner(*args):
                try:
                    return function(*args)
                except ToolError:
                    return None
            return inner
        @or_none
        def get(i):
            return get_item(id=i)["id"]
        with ThreadPoolExecutor() as pool:
            print(list(pool.map(get, [1, -1])))
        """,
        "[1, None]",
    ),
    "scopes of comprehensions": (
        """
        i = "outer"
        def ids(n):
            rows = [get_item(id=i)["id"] for i in range(n) if (m := i) >= 0]
            return sum(get_item(id=r)["id"] for r in rows), m, {k: get_item(id=k)["id"] for k in rows}
        with ThreadPoolExecutor() as pool:
            print(list(pool.map(ids, [2, 2])), i)
        """,
        "[(1, 1, {0: 0, 1: 1}), (1, 1, {0: 0, 1: 1})] outer",
    ),
    "a function of that name is the program's": (
        """
        def gather(*rows):
            return [row["id"] for row in rows]
        print(gather(get_item(id=1), get_item(id=2)))
        """,
        "[1, 2]",
    ),
    "a call that is read and awaited": (
        """
        row = get_item(id=1)
        print(row["id"], (await row)["id"])
        """,
        "1 1",
    ),
    "a call that is passed on": (
        """
        async def safe(call, **arguments):
            try:
                return (await call(**arguments))["id"]
            except ToolError as error:
                return error.status
        print(await asyncio.gather(safe(get_item, id=-1), safe(get_item, id=2)))
        """,
        "[404, 2]",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_rewritten_program_means_the_same(sandbox, name):
    source, printed = PROGRAMS[name]
    head = "import asyncio, functools\nfrom concurrent.futures import ThreadPoolExecutor\n"
    trace = run(sandbox, head + textwrap.dedent(source))
    assert (trace.stdout.strip(), trace.failure) == (printed, None), trace


def test_lines_and_columns_stay_right(sandbox):
    source = (
        "import asyncio\n"
        "async def price(i):\n"
        "    row = get_item(\n"
        "        id=i)\n"
        "    return 1 + row['nolan']\n"
        "await asyncio.gather(price(1), price(2))"
    )
    trace = run(sandbox, source)
    assert [call.line for call in trace.calls] == [3, 3]
    (*_, inner) = trace.failure.frames
    assert (inner.line, inner.function, inner.column, inner.end_column) == (5, "price", 15, 27)
    (hint,) = trace.failure.hints
    assert (hint.call, hint.path, hint.line) == (0, (), 5)


def test_a_failed_call_names_the_awaiting_line(sandbox):
    trace = run(sandbox, "x = 1\nrow = await get_item(id=-1)")
    assert (trace.failure.type, trace.failure.call, trace.failure.line) == ("ToolError", 0, 2)
