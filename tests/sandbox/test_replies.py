"""Replies to tool calls, as frames."""

import json

from sandbox.limits import Limits
from sandbox.replies import CallReply, encode, reply_with_value


def test_a_large_value_becomes_a_preview():
    value = {"rows": ["x" * 50] * 100}
    encoded = encode(value)
    small = reply_with_value(3, value, encoded, Limits(result_bytes=len(encoded)))
    large = reply_with_value(3, value, encoded, Limits(result_bytes=len(encoded) - 1))
    assert json.loads(small.line()) == {"id": 3, "value": value}
    preview = json.loads(large.line())["value"]
    assert set(preview) == {"_truncated", "_bytes", "_shape", "_preview"}
    assert preview["_bytes"] == len(encoded)


def test_an_error_has_its_status():
    assert json.loads(CallReply(0, error="gone", status=410).line()) == {
        "id": 0,
        "error": "gone",
        "status": 410,
    }
