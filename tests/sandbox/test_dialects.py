"""Programs in the dialects in which models write them: right answers, and calls side by side."""

from __future__ import annotations

import threading

import pytest

from atc.core.program import Program
from atc.pipeline.check import check
from benchmarks.sandbox.dialects import dialect_tools, is_right, load_dialects
from benchmarks.sandbox.shop import run, shop
from sandbox.zygote import unavailable
from tests.labs.patience import PATIENCE

DIALECTS = load_dialects()
needs_zygote = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))


@needs_zygote
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_dialect_gives_its_answer_side_by_side(sandbox, dialect):
    # Fewer calls at once than expected would wait for each other in vain.
    meeting = threading.Barrier(dialect.at_once, timeout=PATIENCE)
    trace = run(sandbox, dialect.source, dialect_tools(meeting.wait))
    assert is_right(dialect, trace), trace


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_the_check_accepts_each_dialect(dialect):
    assert check(Program(dialect.source), shop()) == ()
