"""Which calls are only awaited, so that they may be begun later."""

from __future__ import annotations

import ast

import pytest

from sandbox.awaited import AwaitedValues

CASES = {  # the calls of f that are only awaited, by their argument
    "await f(1)\nf(2)\nprint(f(3))": {1},
    "asyncio.gather(f(1), *[f(2)], *map(g, f(3)))": {1, 2},
    "x = f(1)\ny = f(2)\nawait x\nawait y\ny.a": {1},
    "t = []\nt.append(f(1))\nt += [f(2)]\nawait asyncio.wait(t)": {1, 2},
    "t = {k: f(1) for k in ks}\nasyncio.gather(*t.values())\nt.keys()": {1},
    "t = {}\nt[0] = f(1)\nfor k, v in t.items():\n    await v": {1},
    "t = [(k, f(1)) for k in ks]\nfor k, v in t:\n    print(k, await v)": {1},
    "t = [(k, f(1)) for k in ks]\nfor k, v in t:\n    print(v)": set(),
    "r = [f(1)]\nr = await asyncio.gather(*r)\nprint(r[0])": {1},
    "r = [f(1)]\nprint(r)\nr = await asyncio.gather(*r)": set(),
    "a, b = f(1), f(2)\nawait a\nprint(b)": {1},
    "async def g(c, *d):\n    await c\n    await asyncio.gather(*d)\ng(f(1), f(2))\ng(c=f(3))": {
        1,
        2,
        3,
    },
    "def g(c):\n    return c\ng(f(1))": set(),
    "from asyncio import gather\ngather(f(1))": {1},
    "gather(f(1))": set(),
    "asyncio.gather(f(1)['id'], *f(2), *[x for x in f(3)])": set(),
    "for x in f(1):\n    await x\ndict(f(2))": set(),
    "x = f(1)\nif x:\n    await x": set(),
    "await [f(1)]": set(),
    "t = dict(zip(ks, [f(1)]))\nawait asyncio.wait(t.values())": {1},
    "for n, v in enumerate([f(1), f(2)]):\n    print(n, await v)": {1, 2},
    "t = [f(1)]\nfor one in t[1:]:\n    await one\nlen(t)": {1},
    "x = f(1)\nif x is not None:\n    await x": {1},
    "with p as q:\n    q.create_task(f(1))\n    q.submit(f(2))": {1},
    "def g():\n    global x\n    x = f(1)\nawait x": set(),
}


@pytest.mark.parametrize("source", CASES)
def test_a_call_that_is_only_awaited(source):
    tree = compile(
        source, "", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
    )
    flows = AwaitedValues(tree)
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "f"
    ]
    assert {call.args[0].value for call in calls if flows.is_awaited(call)} == CASES[source]
