"""Saved tools can be awaited like tools, and their calls come from the program's line."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from benchmarks.sandbox.dialects import dialect_tools
from benchmarks.sandbox.shop import run
from protocols.protocol import ProgramBinding
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.zygote import unavailable
from tests.labs.patience import PATIENCE

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
SAVED = "def price(*, id):\n    item = get_item(id=id)\n    return item['price']\n"


@pytest.mark.parametrize(
    ("source", "at_once", "lines"),
    [
        ("await asyncio.gather(price(id=1), price(id=2))", 2, [2, 2]),
        ("with ThreadPoolExecutor() as p:\n    a = [p.submit(price, id=n) for n in (1, 2)]\n[f.result() for f in a]", 2, [3, 3]),
        ("[await price(id=1),\n price(id=2)]", 1, [2, 3]),
    ],
)  # fmt: skip
def test_saved_tools_run_side_by_side(sandbox, source, at_once, lines):
    tools = dialect_tools(threading.Barrier(at_once, timeout=PATIENCE).wait)
    binding = ProgramBinding(source=SAVED, tools={"get_item": "shop"})
    saved = Tool(replace(tools["get_item"].protocol, name="price", binding=binding), call=print)
    head = "import asyncio; from concurrent.futures import ThreadPoolExecutor\n"
    trace = run(sandbox, head + source, Toolbox([*tools.values(), saved]))
    assert (trace.value, trace.failure) == ([1.5, 3.0], None), trace
    assert [(call.line, call.within) for call in trace.calls] == [(n, "price") for n in lines]
