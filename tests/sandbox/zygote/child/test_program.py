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


def test_the_line_where_a_limit_struck_is_known(sandbox):
    source = "def spin():\n    while True:\n        pass\n\n\nprint('kept')\nspin()"
    trace = run(sandbox, source, cpu_seconds=1)
    assert (trace.failure.type, trace.failure.frames[0].line, trace.failure.frames[1].function) == (
        "cpu_seconds", 7, "spin",
    )  # fmt: skip
    assert trace.stdout == "kept\n"
    assert run(sandbox, "\nx = [0] * 10**9", memory_bytes=256 << 20).failure.line == 2
