"""The clock of a program."""

from __future__ import annotations

import pytest

from benchmarks.sandbox.shop import run
from sandbox.zygote import unavailable


@pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
def test_the_clock_advances_by_sleeping(sandbox):
    source = "import time\na = time.time()\ntime.sleep(0.05)\nround(time.time() - a, 3)"
    assert run(sandbox, source).value == 0.051
