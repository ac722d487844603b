"""Responses of a service, sent whole, cut short or not at all."""

from toolflow_bench.services.reply import ServiceReply


def test_replies_are_json():
    assert ServiceReply.from_value(200, {"a": 1}).body == b'{"a":1}'
    assert ServiceReply.from_value(200, {"a": 1}).status == 200
