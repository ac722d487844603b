"""Which reads of an earlier run may answer a read of the run that follows it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.worlds import World
from sandbox.earlier_reads import LONGEST_SECONDS, EarlierReads
from sandbox.journal import canonical_call
from sandbox.journal_entries import RecordedCall
from sandbox.trace import ToolCall
from tests.labs.tools import tool

NOW = 1_000_000.0
TOOLS = {
    "read": tool("read", parameters={"x": {"type": "integer", "default": 1}}),
    "write": tool("write", reads=False),
    "open_page": replace(tool("open_page"), effect="session"),
    "view": replace(tool("view"), world=World("browser")),
}
KEY = canonical_call("read", {"x": 1})


def recorded(name, *, ago=60.0, seconds=1.0, outcome="done", complete=True, **how):
    """A call that was sent so many seconds ago."""
    error = None if outcome == "done" else "no"
    call = ToolCall(
        index=0, tool=name, arguments={}, line=1, outcome=outcome, error=error, seconds=seconds
    )
    sent = None if how.get("reused") else NOW - ago
    return RecordedCall(execution=0, call=replace(call, **how), complete=complete, intended=sent)


def find(*calls, written=-math.inf, key=KEY, now=NOW):
    return EarlierReads(calls, TOOLS, written=written, clock=lambda: now)(key)


@pytest.mark.parametrize(
    ("calls", "is_found"),
    [
        ([recorded("read")], True),
        ([recorded("read", arguments={"x": 1})], True),
        ([recorded("read", arguments={"x": 2})], False),
        ([recorded("read", ago=3599)], True),
        ([recorded("read", ago=3600)], False),
        ([recorded("read", ago=-5)], False),
        ([recorded("read", outcome="refused")], False),
        ([recorded("read", complete=False)], False),
        ([recorded("read"), recorded("read", outcome="refused", ago=30)], False),
        ([recorded("write", ago=90), recorded("read")], True),
        ([recorded("write", ago=90, seconds=40), recorded("read")], False),
        ([recorded("read"), recorded("write", ago=30)], False),
        ([recorded("read"), recorded("write", ago=30, outcome="refused")], True),
        ([recorded("write", ago=90, outcome="unknown"), recorded("read")], False),
        ([recorded("write", ago=90, complete=False), recorded("read")], False),
        ([recorded("unheard_of", ago=30), recorded("read")], False),
        ([recorded("open_page", ago=90), recorded("read")], False),
        ([recorded("read", reused=True, earlier=NOW - 60)], True),
        ([recorded("read", reused=True, earlier=NOW - 3600)], False),
        ([recorded("read", reused=True)], False),
    ],
)
def test_a_result_stands_within_rules(calls, is_found):
    assert (find(*calls) is not None) == is_found


def test_state_of_a_world_is_never_kept():
    assert find(recorded("view"), key=canonical_call("view", {})) is None


def test_the_newest_result_answers():
    calls = [recorded("read", ago=90, result=1), recorded("read", ago=30, result=2)]
    again = recorded("read", reused=True, earlier=NOW - 200, result=3)
    assert find(*calls, again).result == 2


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["read", "write"]),
        st.floats(-100, 2 * LONGEST_SECONDS),
        st.floats(0, 500),
        st.sampled_from(["done", "refused", "not_run", "unknown"]),
        st.booleans(),
    ),
    max_size=8,
)


@given(STEPS, st.floats(-100, 2 * LONGEST_SECONDS), st.floats(0, 2 * LONGEST_SECONDS))
def test_no_result_is_old_or_crosses_a_write(steps, other, later):
    """Whatever happened in the earlier run, in another one, and until the read is made again."""
    calls = [
        recorded(name, ago=ago, seconds=seconds, outcome=outcome, complete=complete)
        for name, ago, seconds, outcome, complete in steps
    ]
    found = find(*calls, written=NOW - other, now=NOW + later)
    if found is None:
        return
    assert found.error is None
    assert 0 <= NOW + later - found.earlier < LONGEST_SECONDS
    assert found.earlier > NOW - other
    for name, ago, seconds, outcome, complete in steps:
        if name == "write" and not (complete and outcome in ("refused", "not_run")):
            assert complete
            assert outcome == "done"
            assert found.earlier > NOW - ago + seconds
