"""Anthropic's own API, played by an endpoint on loopback."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from atc.models import choose
from atc.models.anthropic import AnthropicModel
from protocols.errors import ModelUnavailable, PromptTooLong
from protocols.model import Message
from tests.labs.loopback import Reply, Seen, Server, serving

pytest.importorskip("anthropic")
pytestmark = pytest.mark.usefixtures("own_folders")

ASK = [Message("system", "Be brief."), Message("user", "Name a city.")]
KEY = "sk-ant-secret-123"


def said(*parts: Mapping[str, Any], stop: str = "end_turn", **usage: int) -> Reply:
    tokens = {"input_tokens": 5, "output_tokens": 2, **usage}
    body = {"id": "1", "type": "message", "role": "assistant", "model": "m", "content": parts}
    return Reply(body={**body, "stop_reason": stop, "stop_sequence": None, "usage": tokens})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def refused(status: int, message: str) -> Reply:
    error = {"type": "invalid_request_error", "message": message}
    return Reply(status, {"type": "error", "error": error}, {"retry-after-ms": "1"})


@contextmanager
def endpoint(*replies: Reply, **options: Any) -> Iterator[tuple[AnthropicModel, Server]]:
    """A model at an endpoint that gives its replies in turn, the last one for ever."""
    turn = iter(range(10**6))

    def answer(_: Seen) -> Reply:
        return replies[min(next(turn), len(replies) - 1)]

    with serving(answer) as server:
        model = AnthropicModel("m", api_key=KEY, base_url=server.url, **options)
        try:
            yield model, server
        finally:
            model.close()


def test_a_reply_has_its_text_and_tokens() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    read = said(thought, text("Lima"), stop="max_tokens", cache_read_input_tokens=20)
    with endpoint(read) as (model, server):
        reply = model(ASK, max_tokens=9)
    assert (reply.text, reply.input_tokens, reply.cached_tokens) == ("Lima", 25, 20)
    assert reply.truncated
    assert server.last.path == "/v1/messages"
    assert server.last.headers["authorization"] == f"Bearer {KEY}"
    body = json.loads(server.last.body)
    assert (body["max_tokens"], body["temperature"]) == (9, 0.0)
    assert body["system"][0]["text"] == "Be brief."
    assert body["cache_control"] == {"type": "ephemeral"}
    assert body["messages"] == [{"role": "user", "content": "Name a city."}]


def test_what_passes_is_asked_again() -> None:
    replies = (
        refused(529, "overloaded"),
        refused(400, "`temperature` is deprecated for this model"),
        said(),
        said(text("Lima")),
    )
    with endpoint(*replies) as (model, server):
        assert model(ASK).text == "Lima"
    assert ["temperature" in json.loads(seen.body) for seen in server.seen] == [
        True,
        True,
        False,
        False,
    ]


def test_a_reply_begun_by_the_assistant_goes_on() -> None:
    with endpoint(said(text("y = 2"))) as (model, server):
        assert model([*ASK, Message("assistant", "x = 1\n")]).text == "y = 2"
    last = json.loads(server.last.body)["messages"][-1]
    assert last["role"] == "user"


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (refused(401, f"invalid x-api-key {KEY}"), r"refuses the key .* …\); set ANTHROPIC_API_KEY"),
        (refused(404, "model: m"), r"has no model 'm'"),
        (refused(429, "slow down"), r"takes no more requests now \(HTTP 429"),
        (said(), r"answered with an empty reply"),
    ],
)  # fmt: skip
def test_a_failure_names_the_next_step(reply: Reply, sentence: str) -> None:
    with (
        endpoint(reply, max_retries=1) as (model, _),
        pytest.raises(ModelUnavailable, match=sentence) as caught,
    ):
        model(ASK)
    assert KEY not in str(caught.value)


def test_a_prompt_that_is_too_long_is_told() -> None:
    long = refused(400, "prompt is too long: 250000 tokens > 200000 maximum")
    with endpoint(long) as (model, _), pytest.raises(PromptTooLong, match="offer fewer tools"):
        model(ASK)


def test_a_model_without_key_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ModelUnavailable, match="set ANTHROPIC_API_KEY"):
        choose("anthropic:claude-x")


def test_a_missing_sdk_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(ModelUnavailable, match=r"pip install 'automatic-tool-chain\[anthropic\]'"):
        AnthropicModel("m", api_key=KEY)(ASK)
