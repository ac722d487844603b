"""What a program's process gives it beside its tools."""

from __future__ import annotations

import pytest

from benchmarks.sandbox.shop import run
from sandbox.zygote import unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import threading\nthreading.Thread(target=print).start()", "use a ThreadPoolExecutor"),
        ("pages(get_item(id=1))", "takes a tool"),
        ("import asyncio\nawait asyncio.to_thread(get_item, 1)", "get_item(id=1)"),
    ],
)
def test_what_is_refused_says_what_to_write(sandbox, source, words):
    failure = run(sandbox, source).failure
    assert words in failure.message, failure
