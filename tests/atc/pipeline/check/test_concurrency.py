"""The types behind calls of asyncio and thread pools, seen by the keys that the check misses."""

from __future__ import annotations

import pytest

from atc.core.program import Program
from atc.pipeline.check import check
from benchmarks.sandbox.shop import shop

HEAD = "import asyncio, concurrent.futures as cf\n"
FORMS = [
    "loop = asyncio.new_event_loop()\nrow = loop.run_until_complete(get_item(id=1))",
    "row = await asyncio.get_running_loop().run_in_executor(None, lambda: get_item(id=1))",
    "row = await asyncio.shield(asyncio.ensure_future(get_item(id=1)))",
    "row, = await asyncio.gather(*[get_item(id=1)])",
    "done, left = await asyncio.wait([get_item(id=1)])\nrow = [one.result() for one in done][0]",
    "done, left = cf.wait([cf.ThreadPoolExecutor().submit(get_item, id=1)])\nrow = done.pop().result()",
    "def get(n):\n    return get_item(id=n)\nrow = await asyncio.to_thread(get, 1)",
    "async def get(n):\n    return get_item(id=n)\nrow = (await asyncio.gather(get(1), get(2)))[1]",
]


@pytest.mark.parametrize("form", FORMS)
def test_the_type_behind_a_form_is_known(form):
    (finding,) = check(Program(f"{HEAD}{form}\nprint(row['nolan'])"), shop())
    assert (finding.code, finding.tool) == ("missing-key", "get_item")
    assert check(Program(f"{HEAD}{form}\nprint(row['name'])"), shop()) == ()


def test_nothing_is_known_with_exceptions():
    source = f"{HEAD}for one in await asyncio.gather(get_item(id=1), return_exceptions=True):\n    print(one.args)"
    assert check(Program(source), shop()) == ()
