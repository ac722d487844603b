"""How each kind of endpoint is found out, and what exactly it is sent: llama.cpp, vLLM, SGLang, OpenAI, others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from atc.models.endpoint import Endpoint
from atc.models.openai import OpenAIModel
from protocols.ask import Message, Powers
from protocols.errors import ModelUnavailable
from tests.loopback import Reply, Seen, Server, serving

ASK = [Message("user", "Add 1.")]
BEGUN = [*ASK, Message("assistant", "x = 1\n")]
LARK = '%llguidance {}\nstart: "add(" /[0-9]{1,4}/ ")"\n'
SAMPLING = {"temperature": 0.5, "seed": 3}
BODY = {"model": "m", "max_tokens": 9, **SAMPLING, "messages": [{"role": "user", "content": "Add 1."}]}
BEGUN_BODY = BODY | {"messages": [*BODY["messages"], {"role": "assistant", "content": "x = 1\n"}]}
ALL = frozenset({"lark"})


def said(text: str | None, **message: Any) -> Reply:
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": text, **message}}
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    return Reply(body={"choices": [choice], "usage": usage})


def refusal(status: int, message: str, **more: Any) -> Reply:
    return Reply(status, {"error": {"message": message, **more}})


Answer = Callable[[str, Mapping[str, Any]], Reply]


@contextmanager
def endpoint(owner: str, answer: Answer, **options: Any) -> Iterator[tuple[OpenAIModel, Server]]:
    """A model at an endpoint whose models are owned by `owner`; `answer(path, body)` gives what is POSTed to it."""

    def served(seen: Seen) -> Reply:
        if seen.method == "GET":
            return (
                Reply(body={"data": [{"id": "m", "owned_by": owner}]}) if seen.path == "/v1/models" else Reply(404, {})
            )
        return answer(seen.path, json.loads(seen.body))

    with serving(served) as server:
        model = OpenAIModel(**{"model": "m", "base_url": f"{server.url}/v1"} | options)
        try:
            yield model, server
        finally:
            model.close()


def posts(server: Server, path: str = "/v1/chat/completions") -> list[dict[str, Any]]:
    return [json.loads(seen.body) for seen in server.seen if seen.method == "POST" and seen.path == path]


def ask(model: OpenAIModel, messages: list[Message] = ASK, **options: Any) -> str:
    return model(messages, max_tokens=9, **SAMPLING, **options).text


@pytest.mark.parametrize("path", ["/server_info", "/get_server_info"])
@pytest.mark.parametrize(("backend", "kinds"), [("llguidance", ALL), ("xgrammar", set())])
def test_sglang_reads_what_its_backend_reads(path, backend, kinds):
    pytest.importorskip("llguidance")

    def served(seen: Seen) -> Reply:
        if seen.path == "/v1/models":
            return Reply(body={"data": [{"id": "m", "owned_by": "sglang"}]})
        if seen.method == "GET":
            return Reply(body={"grammar_backend": backend}) if seen.path == path else Reply(404, {})
        return said("add(1)")

    with serving(served) as server:
        model = OpenAIModel("m", base_url=f"{server.url}/v1")
        assert model.powers.grammars == kinds
        ask(model, grammar=LARK)
        model.close()
    assert posts(server) == [BODY | ({"ebnf": LARK} if backend == "llguidance" else {})]


def llama(*, lark: bool = True) -> Answer:
    """llama.cpp's server, which continues with `add(2)`."""

    def answer(path: str, body: Mapping[str, Any]) -> Reply:
        if path == "/apply-template":
            return Reply(body={"prompt": json.dumps(body["messages"][-1]["content"])[1:-1]})
        if path == "/completion" and "json_schema" in body:
            grammar = '%llguidance {}\nstart: %json {"type":"boolean"}' if lark else 'root ::= "true" | "false"'
            return Reply(body={"content": "t", "generation_settings": {"grammar": grammar}})
        if path == "/completion":
            counts = {"tokens_evaluated": 9, "tokens_predicted": 3, "timings": {"cache_n": 8}}
            return Reply(body={"content": "add(2)", "stop_type": "limit", **counts})
        return said("x = 1\nadd(1)")

    return answer  # fmt: skip


def test_llamas_server_goes_on_from_words_by_its_own_paths():
    pytest.importorskip("llguidance")
    with endpoint("llamacpp", llama(), api_key="k") as (model, server):
        assert model.powers == Powers(schema=True, grammars=ALL, continues=True, parallel=True)
        asked = len(server.seen)
        assert ask(model) == "x = 1\nadd(1)"
        reply = model(BEGUN, grammar=LARK, max_tokens=9, **SAMPLING)
        assert (reply.text, reply.truncated, reply.cached_tokens) == ("add(2)", True, 8)
    assert asked == 3  # the models, one rendering, one token
    assert posts(server) == [BODY]
    assert posts(server, "/completion")[1] == {
        "model": "m", "n_predict": 9, **SAMPLING, "grammar": LARK, "prompt": "x = 1\\n",
    }  # fmt: skip
    assert all(seen.headers["authorization"] == "Bearer k" for seen in server.seen)


def test_a_llama_whose_own_paths_are_out_of_reach_does_not_continue():
    def answer(path: str, _: Mapping[str, Any]) -> Reply:
        return said("x = 1\nadd(1)") if path.startswith("/v1/") else Reply(404, {})

    with endpoint("llamacpp", answer) as (model, server):
        assert model.powers == Powers(schema=True, parallel=True)
        assert ask(model, BEGUN) == "add(1)"  # it said the words again
    assert posts(server) == [BEGUN_BODY]


@pytest.mark.parametrize("status", [404, 500])
def test_an_endpoint_that_lists_no_models_is_unknown_and_one_that_is_down_is_asked_again(status):
    replies = iter([Reply(status, {}), Reply(body={"data": [{"id": "m", "owned_by": "vllm"}]})])
    with serving(lambda _: next(replies)) as server:
        model = OpenAIModel("m", base_url=f"{server.url}/v1", max_retries=0)
        if status == 500:
            with pytest.raises(ModelUnavailable, match="still fails"):
                _ = model.powers
            assert model.powers.schema
        else:
            assert model.powers == model.powers == Powers(parallel=True)
            assert len(server.seen) == 1
        model.close()


def test_a_refused_field_is_left_out_from_then_on_and_is_no_power():
    def answer(path: str, body: Mapping[str, Any]) -> Reply:
        refused = "grammar" in body or "continue_final_message" in body
        field = "grammar" if "grammar" in body else "continue_final_message"
        if refused and path.startswith("/v1/"):
            return refusal(400, f"[{{'type': 'extra_forbidden', 'loc': ('body', '{field}')}}]")
        return said("x = 1\nadd(1)")

    with endpoint("vllm", answer) as (model, server):
        assert ask(model, BEGUN) == "add(1)"
        assert not model.powers.continues
        ask(model)
    assert posts(server)[-2:] == [BEGUN_BODY, BODY]
    with endpoint("llamacpp", lambda path, body: llama()(path, body) if path[1:3] != "v1" else answer(path, body)) as (
        model,
        server,
    ):
        assert ask(model, grammar=LARK) == "x = 1\nadd(1)"
        assert not model.powers.grammars


def test_a_grammar_that_a_reply_breaks_is_not_relied_on_again():
    pytest.importorskip("llguidance")
    with endpoint("llamacpp", llama()) as (model, _):
        assert ask(model, grammar=LARK) == "x = 1\nadd(1)"
        assert model.powers == Powers(schema=True, continues=True, parallel=True)


@pytest.mark.parametrize(
    ("owner", "field", "continuing"),
    [("vllm", {"structured_outputs": {"grammar": LARK}}, {"add_generation_prompt": False}), ("sglang", {}, {})],
)
def test_vllm_and_sglang_hold_to_schemas_and_continue_and_vllm_takes_grammars(owner, field, continuing):
    pytest.importorskip("llguidance")
    with endpoint(owner, lambda *_: said("add(1)")) as (model, server):
        assert model.powers == Powers(
            schema=True, continues=True, grammars=ALL if field else frozenset(), parallel=True
        )
        ask(model, grammar=LARK)
        ask(model, BEGUN)
        ask(model, schema={"type": "object"}, grammar=LARK)
        assert model(ASK).cached_tokens == 4
        assert model.powers.grammars == (ALL if field else set())
    held_to, begun, schema, _ = posts(server)
    assert held_to == BODY | field
    assert begun == BEGUN_BODY | continuing | {"continue_final_message": True}
    assert schema.keys() - BODY.keys() == {"response_format"}


def test_openai_is_strict_where_a_schema_allows_it_and_sent_again_without_where_it_refuses(monkeypatch):
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
        return refusal(400, "'minLength' is not permitted", param="response_format") if refused else said("{}")

    with endpoint("openai", answer, api_key="k") as (model, server):
        assert model.powers == Powers(schema=True, strict=True, parallel=True)
        for schema in (closed, {"type": "object"}, closed | {"required": []}, {"anyOf": [odd]}, odd, closed):
            assert ask(model, schema=schema) == "{}"
    sent = [body["response_format"]["json_schema"].get("strict") for body in posts(server)]
    assert sent == [True, None, None, True, None, True, None, True]
