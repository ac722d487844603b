"""The format of chat completions."""

import pytest

from atc.models.wire import (
    UnexpectedForm,
    completion_of,
    is_continuation,
    strip_fence,
    to_api_messages,
)
from protocols.model import Message

ASK = Message("user", "Which city?")


def test_every_part_of_a_reply_is_optional():
    reply = {"choices": [{"message": {"content": "Oslo"}}]}
    completion = completion_of(reply, model="m", seconds=1.0)
    assert (completion.text, completion.model, completion.output_tokens) == ("Oslo", "m", 0)
    with pytest.raises(UnexpectedForm):
        completion_of({"choices": 7}, model="m", seconds=1.0)


def test_an_assistants_last_message_is_continued():
    assert not is_continuation([ASK])
    assert is_continuation([ASK, Message("assistant", "Os")])
    assert to_api_messages([ASK]) == [{"role": "user", "content": "Which city?"}]
    assert strip_fence('```json\n{"a": 1}\n```') == '{"a": 1}'
