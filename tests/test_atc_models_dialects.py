"""How each kind of endpoint is found out, and what exactly it is sent: llama.cpp, vLLM, SGLang, OpenAI, others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from atc.models import held
from atc.models.endpoint import Endpoint
from atc.models.openai import OpenAIModel
from atc.models.tops import TokenPlace
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
        model = OpenAIModel(**{"model": "m", "base_url": f"{server.url}/v1", "sleep": lambda _: None} | options)
        try:
            yield model, server
        finally:
            model.close()


def posts(server: Server, path: str = "/v1/chat/completions") -> list[dict[str, Any]]:
    return [json.loads(seen.body) for seen in server.seen if seen.method == "POST" and seen.path == path]


def ask(model: OpenAIModel, messages: list[Message] = ASK, **options: Any) -> str:
    return model(messages, max_tokens=9, **SAMPLING, **options).text


@pytest.mark.parametrize(
    ("owner", "continuing"), [("vllm", {"add_generation_prompt": False}), ("sglang", {})], ids=["vllm", "sglang"]
)
def test_vllm_and_sglang_hold_to_schemas_and_continue(owner, continuing):
    with endpoint(owner, lambda *_: said("x = 1\nadd(1)")) as (model, server):
        assert model.powers == Powers(schema=True, continues=True, tops=True, parallel=True)
        ask(model, grammar=LARK)
        # A statement that repeats the one before is a reply, not an echo of it.
        assert ask(model, BEGUN) == "x = 1\nadd(1)"
        ask(model, schema={"type": "object"}, grammar=LARK)
        assert model(ASK).cached_tokens == 4
    plain, begun, schema, _ = posts(server)
    assert plain == BODY
    assert begun == BEGUN_BODY | continuing | {"continue_final_message": True}
    assert schema.keys() - BODY.keys() == {"response_format"}
    asked = [seen.path for seen in server.seen if seen.method == "GET"]
    assert asked == ["/v1/models", *(["/server_info", "/get_server_info"] if owner == "sglang" else [])]


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
        assert model.powers == Powers(schema=True, grammars=ALL, continues=True, tops=True, parallel=True)
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


def test_a_llama_without_llguidance_is_never_sent_lark_which_would_end_it():
    with endpoint("llamacpp", llama(lark=False)) as (model, server):
        assert model.powers.grammars == frozenset()
        ask(model, grammar=LARK)
    assert not any(b"%llguidance" in seen.body for seen in server.seen)


def test_lark_needs_llguidance_here_to_see_that_it_is_right(monkeypatch):
    monkeypatch.setattr(held, "find_spec", lambda _: None)
    with endpoint("llamacpp", llama()) as (model, _):
        assert model.powers.grammars == frozenset()


@pytest.mark.parametrize("status", [404, 400, 502])
def test_a_llama_whose_own_paths_are_out_of_reach_does_not_continue(status):
    def answer(path: str, _: Mapping[str, Any]) -> Reply:
        return said("x = 1\nadd(1)") if path.startswith("/v1/") else Reply(status, {})

    with endpoint("llamacpp", answer) as (model, server):
        assert model.powers == Powers(schema=True, tops=True, parallel=True)
        assert ask(model, BEGUN) == "add(1)"  # it said the words again
    assert posts(server) == [BEGUN_BODY]


def test_openais_models_hold_to_strict_schemas_and_older_ones_give_probabilities(monkeypatch):
    monkeypatch.setattr(Endpoint, "is_official", True)
    for name, tops in (("gpt-4.1", True), ("o3", False), ("gpt-5-mini", False)):
        with endpoint("openai", lambda *_: said("x"), model=name, api_key="k") as (model, server):
            assert model.powers == Powers(schema=True, strict=True, tops=tops, parallel=True)
            ask(model, grammar=LARK)
        assert not posts(server)[0].keys() & {"tools", "grammar"}


def test_openai_is_strict_where_it_can_be_and_that_is_forgotten_where_it_refuses(monkeypatch):
    monkeypatch.setattr(Endpoint, "is_official", True)
    closed = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}

    def answer(_: str, body: Mapping[str, Any]) -> Reply:
        strict = body["response_format"]["json_schema"].get("strict")
        return refusal(400, "Invalid schema", param="response_format") if strict else said("{}")

    with endpoint("openai", answer, api_key="k") as (model, server):
        assert [ask(model, schema=closed), ask(model, schema=closed), ask(model, schema={"type": "object"})] == [
            "{}"
        ] * 3
    sent = [body["response_format"]["json_schema"] for body in posts(server)]
    assert [schema.get("strict") for schema in sent] == [True, None, None, None]
    assert sent[0]["schema"] == closed


def test_of_an_unknown_endpoint_nothing_is_assumed():
    with endpoint("acme", lambda *_: said("x = 1\ny = 2")) as (model, server):
        assert model.powers == Powers(parallel=True)
        ask(model, grammar=LARK)
        assert ask(model, BEGUN) == "y = 2"
    assert posts(server) == [BODY, BEGUN_BODY]


@pytest.mark.parametrize("status", [401, 404, 500])
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
        assert model.powers == Powers(schema=True, tops=True, parallel=True)
        ask(model)
    assert posts(server)[-2:] == [BEGUN_BODY, BODY]
    with endpoint("llamacpp", lambda path, body: llama()(path, body) if path[1:3] != "v1" else answer(path, body)) as (
        model,
        server,
    ):
        assert ask(model, grammar=LARK) == "x = 1\nadd(1)"
        assert not model.powers.grammars


@pytest.mark.parametrize("message", ["Failed to parse grammar", "Failed to compile the grammar: line 1"])
def test_a_refusal_of_what_a_grammar_says_is_no_refusal_of_grammars(message):
    pytest.importorskip("llguidance")
    replies = iter([refusal(400, message), said("add(1)")])

    def answer(path: str, body: Mapping[str, Any]) -> Reply:
        return next(replies) if path.startswith("/v1/") else llama()(path, body)

    with endpoint("llamacpp", answer) as (model, server):
        with pytest.raises(ModelUnavailable, match=r"cannot use the grammar it was sent \(HTTP 400: Failed to .*"):
            ask(model, grammar=LARK)
        assert ask(model, grammar=LARK) == "add(1)"
    assert posts(server)[1] == BODY | {"grammar": LARK}


def test_a_grammar_that_a_reply_breaks_is_not_relied_on_again():
    pytest.importorskip("llguidance")
    with endpoint("llamacpp", llama()) as (model, _):
        assert ask(model, grammar=LARK) == "x = 1\nadd(1)"
        assert model.powers == Powers(schema=True, continues=True, tops=True, parallel=True)


def test_a_grammar_that_is_wrong_is_not_sent():
    pytest.importorskip("llguidance")
    with endpoint("llamacpp", llama()) as (model, server):
        with pytest.raises(ModelUnavailable, match=r"no reply can be held to this grammar: .*unknown name"):
            ask(model, grammar="%llguidance {}\nstart: foo\n")
        assert posts(server) == []


def test_nothing_to_say_is_a_reply_where_a_sentence_may_be_empty():
    with endpoint("vllm", lambda *_: said("")) as (model, _):
        assert ask(model, BEGUN) == ""
        with pytest.raises(ModelUnavailable, match="empty reply"):
            ask(model)


def test_the_likeliest_tokens_come_with_the_reply_where_they_are_told():
    place = {"token": "x", "logprob": -0.25, "bytes": None, "top_logprobs": [{"token": "x", "logprob": -0.25}]}

    def answer(_: str, body: Mapping[str, Any]) -> Reply:
        reply = said("x")
        reply.body["choices"][0]["logprobs"] = {"content": [place]} if body["top_logprobs"] == 5 else None
        return reply

    with endpoint("acme", answer) as (model, server):
        found, reply = model.top_tokens(ASK, n=5, max_tokens=9, **SAMPLING)
        assert (found, reply.text) == ((TokenPlace("x", -0.25, (("x", -0.25),)),), "x")
        with pytest.raises(ModelUnavailable, match="tells no probabilities of tokens"):
            model.top_tokens(ASK, n=6)
    assert posts(server)[0] == BODY | {"logprobs": True, "top_logprobs": 5}
