"""Thread pools of a program with one thread."""

from __future__ import annotations

import pytest

from benchmarks.sandbox.shop import run
from sandbox.zygote import unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
HEAD = (
    "import threading\nfrom concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait\n"
)


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        (  # as many functions as workers are begun; the next one when another has ended
            (
                "out = []\n"
                "def work(i):\n    out.append(i)\n    get_item(id=i)\n    out.append(-i)\n"
                "with ThreadPoolExecutor(2) as pool:\n    for i in (1, 2, 3): pool.submit(work, i)\n"
                "print(out)"
            ),
            "[1, 2, -1, 3, -2, -3]",
        ),
        (  # a function is not suspended while it holds a lock, or others would wait for ever
            (
                "lock = threading.Lock()\nout = []\n"
                "def work(i):\n    with lock:\n        out.append(get_item(id=i)['id'])\n"
                "with ThreadPoolExecutor() as pool:\n    list(pool.map(work, range(3)))\nprint(out)"
            ),
            "[0, 1, 2]",
        ),
        (
            (
                "with ThreadPoolExecutor() as pool:\n"
                "    future = pool.submit(lambda: get_item(id=-1))\n"
                "    future.add_done_callback(lambda one: print('ended', one.done()))\n"
                "print(future.exception().status)"
            ),
            "ended True\n404",
        ),
        (
            (
                "with ThreadPoolExecutor(1) as pool:\n"
                "    futures = [pool.submit(get_item, id=i) for i in (1, 2)]\n"
                "    done, left = wait(futures, return_when=FIRST_COMPLETED)\n"
                "    print(len(done), futures[1].cancel(), len(left))"
            ),
            "1 False 1",
        ),
        (
            (
                "pool = ThreadPoolExecutor()\npool.shutdown()\n"
                "try:\n    pool.submit(print)\nexcept RuntimeError as error:\n    print(error)"
            ),
            "cannot schedule new futures after shutdown",
        ),
        (
            (
                "with ThreadPoolExecutor() as pool:\n"
                "    outer = pool.submit(lambda: pool.submit(get_item, id=3).result()['id'])\n"
                "    print(outer.result())"
            ),
            "3",
        ),
    ],
)
def test_a_pool_does_what_threads_do(sandbox, source, printed):
    trace = run(sandbox, HEAD + source)
    assert (trace.stdout.strip(), trace.failure) == (printed, None), trace
