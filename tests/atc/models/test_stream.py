"""Replies that an endpoint streams."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from atc.models.stream import read_events
from atc.models.wire import collect_stream, completion_of

END = "data: [DONE]\n\n"


def events(parts: list[str]) -> str:
    choices = [{"choices": [{"index": 0, "delta": {"content": part}}]} for part in parts]
    return "".join(f"data: {json.dumps(event)}\n\n" for event in choices)


@given(parts=st.lists(st.text(), max_size=5), is_whole=st.booleans())
def test_a_stream_is_one_reply(parts: list[str], is_whole: bool) -> None:
    stream = f": keep alive\nevent: x\n{events(parts)}data: {{broken\n{END if is_whole else ''}"
    reply = collect_stream(read_events(stream))
    assert reply["choices"][0]["message"]["content"] == "".join(parts)
    assert completion_of(reply, model="m", seconds=0).truncated is not is_whole


def test_an_error_ends_a_stream() -> None:
    stream = events(["a"]) + 'data: {"error": {"message": "overloaded"}}\n\n' + END
    assert collect_stream(read_events(stream)) == {"error": {"message": "overloaded"}}
