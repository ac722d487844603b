"""What `await` makes of a type."""

from __future__ import annotations

from atc.pipeline.check import types as t
from atc.pipeline.check.pending import Pending, awaited


def test_awaiting_gives_the_result_or_the_value():
    assert awaited(Pending(t.STR)) == t.STR
    assert awaited(t.INT) == t.INT
    assert awaited(t.join(Pending(t.STR), t.INT)) == t.join(t.STR, t.INT)
    assert t.size(Pending(t.Tuple((t.STR, t.INT)))) == 4
