"""A trace survives JSON text."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from sandbox.trace import Failure, Frame, Pins, ToolCall, Trace, trace_from_json, trace_to_json

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
number = st.floats(0, 1e9)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | number | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
calls = st.builds(
    ToolCall,
    index=st.integers(0, 200),
    tool=text,
    arguments=st.dictionaries(text, json_values, max_size=3),
    line=st.integers(0, 1000),
    result=json_values,
    error=st.none() | text,
    status=st.none() | st.integers(100, 599),
    outcome=st.sampled_from(["done", "refused", "not_run", "unknown"]),
    drift=st.lists(text, max_size=3).map(tuple),
    curl=st.none() | text,
    reused=st.booleans(),
    started=number,
    seconds=number,
)
failures = st.builds(
    Failure,
    kind=st.sampled_from(["syntax", "policy", "exception", "limit", "paused"]),
    type=text,
    message=text,
    frames=st.lists(st.builds(Frame, line=st.integers(1, 99), function=text), max_size=3).map(tuple),
    call=st.none() | st.integers(0, 9),
)
traces = st.builds(
    Trace,
    calls=st.lists(calls, max_size=3).map(tuple),
    stdout=text,
    value=json_values,
    failure=st.none() | failures,
    seconds=number,
    backend=text,
    pins=st.builds(Pins, seed=st.integers(), clock=number, timezone=text),
)


@given(traces)
def test_a_trace_survives_json(trace):
    assert trace_from_json(json.loads(json.dumps(trace_to_json(trace)))) == trace


def test_the_failing_line_is_the_innermost_frames():
    frames = (Frame(line=9), Frame(line=2, function="f"))
    assert Failure(kind="exception", type="E", message="", frames=frames).line == 2
    assert Failure(kind="exception", type="E", message="").line is None
