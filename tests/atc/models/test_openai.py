"""The OpenAI-compatible model against endpoints on loopback that behave, misbehave or are not there.

And how each kind of endpoint is found out, and what exactly it is sent: llama.cpp, vLLM, SGLang, OpenAI, others.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from atc.core.parallel import wait_until
from atc.models.endpoint import Endpoint
from atc.models.openai import OpenAIModel
from protocols.errors import ModelUnavailable, OutOfTime
from protocols.model import Message, Powers
from tests.labs.loopback import Reply, Seen, Server, closed_port, serving, speaking
from tests.labs.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("own_folders")  # of an environment that names no endpoint

ASK = [Message("system", "Be brief."), Message("user", "Name a city.")]
BEGUN = [*ASK, Message("assistant", "x = 1\n")]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
LARK = '%llguidance {}\nstart: "add(" /[0-9]{1,4}/ ")"\n'
SAMPLING = {"temperature": 0.5, "seed": 3}
TURNS = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Name a city."}]
BODY = {"model": "m", "max_tokens": 9, **SAMPLING, "messages": TURNS}
BEGUN_BODY = BODY | {"messages": [*TURNS, {"role": "assistant", "content": "x = 1\n"}]}


def said(text: str | list[Any] | None, *, finish: str = "stop", **usage: Any) -> Reply:
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": text},
    }
    return Reply(body={"object": "chat.completion", "choices": [choice], "usage": usage})


def refusal(status: int, message: str, **more: str) -> Reply:
    body = {"error": {"message": message, "type": "invalid_request_error", **more}}
    return Reply(
        status, body, {"retry-after-ms": "1"}
    )  # the client waits as long as it is asked to


Answer = Callable[[str, Mapping[str, Any]], Reply]
"""What an endpoint answers to a path and a body."""


@contextmanager
def endpoint(
    *replies: Reply | Answer, owner: str = "", **options: Any
) -> Iterator[tuple[OpenAIModel, Server]]:
    """A model of this owner at an endpoint that gives its replies in turn, the last one for ever."""
    turn = iter(range(10**6))

    def answer(seen: Seen) -> Reply:
        if seen.method == "GET":
            models = Reply(body={"data": [{"id": "m", "owned_by": owner}]})
            return models if seen.path == "/v1/models" else Reply(404, {})
        reply = replies[min(next(turn), len(replies) - 1)]
        return (
            reply if isinstance(reply, Reply) else reply(seen.path, json.loads(seen.body or b"{}"))
        )

    with serving(answer) as server:
        settings = {"model": "m", "api_key": "sk-secret-123", "base_url": f"{server.url}/v1"}
        model = OpenAIModel(**(settings | options))
        try:
            yield model, server
        finally:
            model.close()


def bodies(server: Server, path: str = "/v1/chat/completions") -> list[dict[str, Any]]:
    """What was posted."""
    return [
        json.loads(seen.body) for seen in server.seen if seen.method == "POST" and seen.path == path
    ]


def ask(model: OpenAIModel, messages: list[Message] = ASK, **options: Any) -> str:
    return model(messages, max_tokens=9, **SAMPLING, **options).text


def test_a_completion_has_its_text_and_token_counts():
    details = {"cached_tokens": 16}
    usage = {"prompt_tokens": 21, "completion_tokens": 2, "prompt_tokens_details": details}
    with endpoint(said("Lima", finish="length", **usage)) as (model, server):
        reply = model(ASK, temperature=0.7, seed=3, max_tokens=64)
    assert (reply.text, reply.model, reply.input_tokens, reply.output_tokens) == (
        "Lima",
        "m",
        21,
        2,
    )
    assert reply.cached_tokens == 16
    assert reply.truncated
    assert reply.seconds > 0
    assert (server.last.method, server.last.path) == ("POST", "/v1/chat/completions")
    assert server.last.headers["authorization"] == "Bearer sk-secret-123"
    assert bodies(server) == [
        {"model": "m", "temperature": 0.7, "seed": 3, "max_tokens": 64, "messages": TURNS}
    ]


def test_missing_response_formats_are_asked_in_words():
    def answer(_: str, body: Mapping[str, Any]) -> Reply:
        if "response_format" in body:
            return refusal(400, "'response_format.type' must be 'text'")
        return said('Here:\n```json\n{"city": "Lima"}\n```')

    with endpoint(answer) as (model, server):
        texts = [model(ASK, schema=SCHEMA).text for _ in range(2)]
        plain = model(ASK).text
    assert texts == ['{"city": "Lima"}'] * 2
    assert plain.startswith("Here:")
    assert ["response_format" in body for body in bodies(server)] == [True, False, False, False]
    assert json.dumps(SCHEMA) in bodies(server)[1]["messages"][-1]["content"]
    assert bodies(server)[3]["messages"][-1]["content"] == "Name a city."


def test_refused_parameters_are_adapted_once_and_remembered():
    def reasoning_model(_: str, body: Mapping[str, Any]) -> Reply:
        if "max_tokens" in body:
            return refusal(
                400,
                "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.",
                param="max_tokens",
            )
        if "temperature" in body:
            return refusal(
                400, "Unsupported value: 'temperature' does not support 0.", param="temperature"
            )
        if "seed" in body:
            return refusal(422, "unknown field: seed")
        return said("Lima")

    with endpoint(reasoning_model) as (model, server):
        assert [model(ASK).text, model(ASK).text] == ["Lima", "Lima"]
    assert len(server.seen) == 5
    assert bodies(server)[-1].keys() == {"model", "messages", "max_completion_tokens"}


def test_a_spent_limit_is_raised_once():
    with endpoint(said("", finish="length"), said("Lima")) as (model, server):
        assert model(ASK, max_tokens=100).text == "Lima"
        model(ASK, max_tokens=100)
    assert [body["max_tokens"] for body in bodies(server)] == [100, 8292, 8292]
    with endpoint(said("<think>```python\nprint(1)\n```\nNo.</think>\nLima")) as (model, server):
        assert model(ASK).text.strip() == "Lima"
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    with endpoint(said([thought, {"type": "text", "text": "Lima"}])) as (model, server):
        assert model(ASK).text == "Lima"
    with (
        endpoint(said("", finish="length")) as (model, server),
        pytest.raises(ModelUnavailable, match="thoughts alone, up to the limit"),
    ):
        model(ASK)
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("reply", "requests", "sentence"),
    [
        (refusal(401, "Wrong API key: sk-secret-123."), 1, r"refuses the key \(HTTP 401: .*: …\); set OPENAI_API_KEY"),
        (refusal(404, "The model `m` does not exist"), 1, r"has no model 'm'.*name a model that it has with --model"),
        (Reply(404, b"<html><h1>Not found</h1></html>"), 1, r"\(HTTP 404: an HTML page\).*OPENAI_BASE_URL, which"),
        (refusal(429, "no money", code="insufficient_quota"), 3, r"takes no more requests .*no money\); wait or see"),
        (refusal(400, "bad\n\x1b[31mthings " + "x" * 900), 1, r"\(HTTP 400: bad \[31mthings x{180,190}\); try another"),
        (said("  \n"), 3, r"answered with an empty reply; try again or name another model"),
        (Reply(body={"error": {"message": "loading"}}), 3, r"answered with an error \(loading\); try again"),
        (Reply(body=b"<!doctype html><p>Welcome</p>"), 1, r"answered with no JSON object, so it is not the OpenAI API"),
    ],
)  # fmt: skip
def test_a_failure_names_the_next_step_without_key(reply: Reply, requests: int, sentence: str):
    with (
        endpoint(reply, max_retries=2) as (model, server),
        pytest.raises(ModelUnavailable, match=sentence) as caught,
    ):
        model(ASK)
    assert len(server.seen) == requests
    words = str(caught.value)
    assert "sk-secret-123" not in words
    assert words.isprintable()


def test_own_endpoints_need_no_key():
    def answer(seen: Seen) -> Reply:
        return (
            Reply(body={"data": [{"id": "tiny"}, {"id": "huge"}]})
            if seen.method == "GET"
            else said("Lima")
        )

    with serving(answer) as server:
        model = OpenAIModel(base_url=f"{server.url}/v1/")
        assert model(ASK).model == model.name == "tiny"
        model.close()
    assert [seen.path for seen in server.seen] == ["/v1/models", "/v1/chat/completions"]
    assert bodies(server)[0]["model"] == "tiny"


def test_passing_failures_are_tried_as_often_as_set():
    replies = [
        refusal(500, "oops"),
        refusal(503, "loading"),
        refusal(429, "slow down"),
        said("Lima"),
    ]
    with endpoint(*replies, max_retries=3) as (model, server):
        assert model(ASK).text == "Lima"
    assert len(server.seen) == 4


def test_a_hanging_endpoint_is_left_in_time():
    with speaking(lambda connection, server: server.stop.wait(PATIENCE)) as server:
        model = OpenAIModel("m", base_url=server.url, timeout_seconds=0.2, max_retries=0)
        with pytest.raises(ModelUnavailable, match=r"gave no answer within 0\.2 s; try again"):
            model(ASK)
        model.close()
    assert len(server.seen) == 1


def test_an_unreachable_endpoint_is_named_with_the_cause():
    model = OpenAIModel("m", base_url=f"http://127.0.0.1:{closed_port()}/v1", max_retries=0)
    with pytest.raises(
        ModelUnavailable, match=r"127\.0\.0\.1:\d+/v1 cannot be reached \(.*refused.*\); start it"
    ):
        model(ASK)


def test_nothing_is_tried_beyond_the_time_left():
    late = threading.Event()

    def answer(*_: object) -> Reply:
        late.wait(PATIENCE)
        return said("Lima")

    with endpoint(answer) as (model, _):
        with (
            wait_until(time.monotonic() + 0.3),
            pytest.raises(OutOfTime, match="in the time that was left"),
        ):
            model(ASK)
        late.set()
        assert model(ASK).text == "Lima"
    busy = Reply(429, {"error": {"message": "slow down"}}, {"Retry-After": "900"})
    within = wait_until(time.monotonic() + PATIENCE)
    with (
        endpoint(busy) as (model, server),
        within,
        pytest.raises(ModelUnavailable, match="slow down"),
    ):
        model(ASK)
    assert len(server.seen) == 1


# --- kinds of endpoints


@pytest.mark.parametrize("path", ["/server_info", "/get_server_info"])
@pytest.mark.parametrize(("backend", "lark"), [("llguidance", True), ("xgrammar", False)])
def test_sglang_reads_what_its_backend_reads(path, backend, lark):
    pytest.importorskip("llguidance")

    def served(seen: Seen) -> Reply:
        if seen.path == "/v1/models":
            return Reply(body={"data": [{"id": "m", "owned_by": "sglang"}]})
        if seen.method == "GET":
            return Reply(body={"grammar_backend": backend}) if seen.path == path else Reply(404, {})
        return said("add(1)")

    with serving(served) as server:
        model = OpenAIModel("m", base_url=f"{server.url}/v1")
        assert model.powers.lark is lark
        ask(model, grammar=LARK)
        model.close()
    assert bodies(server) == [BODY | ({"ebnf": LARK} if backend == "llguidance" else {})]


def llama(path: str, body: Mapping[str, Any]) -> Reply:
    """llama.cpp's server, which continues with `add(2)`."""
    if path == "/apply-template":
        return Reply(body={"prompt": json.dumps(body["messages"][-1]["content"])[1:-1]})
    if path == "/completion" and "json_schema" in body:
        grammar = '%llguidance {}\nstart: %json {"type":"boolean"}'
        return Reply(body={"content": "t", "generation_settings": {"grammar": grammar}})
    if path == "/completion":
        counts = {"tokens_evaluated": 9, "tokens_predicted": 3, "timings": {"cache_n": 8}}
        return Reply(body={"content": "add(2)", "stop_type": "limit", **counts})
    return said("x = 1\nadd(1)")


def test_llamas_server_continues_words_by_its_paths():
    pytest.importorskip("llguidance")
    with endpoint(llama, owner="llamacpp", api_key="k") as (model, server):
        assert model.powers == Powers(schema=True, lark=True, continues=True, parallel=True)
        asked = len(server.seen)
        assert ask(model) == "x = 1\nadd(1)"
        reply = model(BEGUN, grammar=LARK, max_tokens=9, **SAMPLING)
        assert (reply.text, reply.truncated, reply.cached_tokens) == ("add(2)", True, 8)
    assert asked == 3  # the models, one rendering, one token
    assert bodies(server) == [BODY]
    assert bodies(server, "/completion")[1] == {
        "model": "m", "n_predict": 9, **SAMPLING, "grammar": LARK, "prompt": "x = 1\\n",
    }  # fmt: skip
    assert all(seen.headers["authorization"] == "Bearer k" for seen in server.seen)


@pytest.mark.parametrize("status", [404, 500])
def test_an_unreachable_endpoint_is_asked_for_powers_again(status):
    replies = iter([Reply(status, {}), Reply(body={"data": [{"id": "m", "owned_by": "vllm"}]})])
    with serving(lambda _: next(replies)) as server:
        model = OpenAIModel("m", base_url=f"{server.url}/v1", max_retries=0)
        if status == 500:
            with pytest.raises(ModelUnavailable, match="fails"):
                _ = model.powers
            assert model.powers.schema
        else:
            assert model.powers == model.powers == Powers(parallel=True)
            assert len(server.seen) == 1
        model.close()


@pytest.mark.parametrize(
    ("owner", "field", "continuing"),
    [
        ("vllm", {"structured_outputs": {"grammar": LARK}}, {"add_generation_prompt": False}),
        ("sglang", {}, {}),
    ],
)
def test_vllm_and_sglang_enforce_schemas(owner, field, continuing):
    pytest.importorskip("llguidance")
    with endpoint(
        lambda *_: said("add(1)", prompt_tokens_details={"cached_tokens": 4}), owner=owner
    ) as (
        model,
        server,
    ):
        assert model.powers == Powers(schema=True, continues=True, lark=bool(field), parallel=True)
        ask(model, grammar=LARK)
        ask(model, BEGUN)
        ask(model, schema={"type": "object"}, grammar=LARK)
        assert model(ASK).cached_tokens == 4
        assert model.powers.lark is bool(field)
    held_to, begun, schema, _ = bodies(server)
    assert held_to == BODY | field
    assert begun == BEGUN_BODY | continuing | {"continue_final_message": True}
    assert schema.keys() - BODY.keys() == {"response_format"}


def test_openai_is_strict_where_it_can_be(
    monkeypatch,
):
    monkeypatch.setattr(Endpoint, "is_official", True)
    closed = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    odd = closed | {"properties": {"a": {"type": "string", "minLength": 1}}}

    def answer(_: str, body: Mapping[str, Any]) -> Reply:
        form = body["response_format"]["json_schema"]
        refused = form.get("strict") and "minLength" in str(form)
        return (
            refusal(400, "'minLength' is not permitted", param="response_format")
            if refused
            else said("{}")
        )

    with endpoint(answer, owner="openai") as (model, server):
        assert model.powers == Powers(schema=True, strict=True, parallel=True)
        for schema in (
            closed,
            {"type": "object"},
            closed | {"required": []},
            {"anyOf": [odd]},
            odd,
            closed,
        ):
            assert ask(model, schema=schema) == "{}"
    sent = [body["response_format"]["json_schema"].get("strict") for body in bodies(server)]
    assert sent == [True, None, None, True, None, True, None, True]
