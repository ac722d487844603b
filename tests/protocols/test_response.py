"""Responses and their JSON values."""

import pytest

from protocols.response import (
    Answer,
    UnreadableBody,
    one_line,
    parse_json,
    read_body,
    status_phrase,
)


def test_a_body_is_json_or_text():
    answer = Answer(status=200, headers={"Content-Type": "application/json"}, body=b'{"a": 1}')
    assert (answer.succeeded, read_body(answer, {"type": "object"})) == (True, {"a": 1})
    text = Answer(status=200, headers={"Content-Type": "text/plain"}, body=b"plain")
    assert read_body(text, {"type": "string"}) == "plain"
    with pytest.raises(UnreadableBody):
        read_body(
            Answer(status=200, headers={"Content-Type": "application/json"}, body=b"{"),
            {"type": "object"},
        )


def test_errors_are_one_harmless_line():
    assert one_line("a\nb\x1b") == "a b\\x1b"
    assert status_phrase(404) == "Not Found"
    assert parse_json("[1, 2]") == [1, 2]
