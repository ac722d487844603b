"""Replies to tool calls, as frames."""

import json

from sandbox.replies import CallReply, encode


def test_a_value_has_further_keys_beside_it():
    reply = CallReply(3, encode([1]), beside={"files": [[[0], 7]]})
    assert json.loads(reply.line()) == {"id": 3, "value": [1], "files": [[[0], 7]]}


def test_an_error_has_its_status():
    assert json.loads(CallReply(0, error="gone", status=410).line()) == {
        "id": 0,
        "error": "gone",
        "status": 410,
    }
