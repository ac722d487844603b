"""What kinds of endpoint hold a reply to, and how each is told: found out by asking, never assumed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from atc.models import held, llama_api
from atc.models.endpoint import Endpoint
from protocols.ask import Powers
from protocols.jsontypes import Json

GRAMMAR_FIELDS = frozenset({"grammar", "ebnf"})
CONTINUING_FIELDS = frozenset({"continue_final_message", "add_generation_prompt"})
LOGPROB_FIELDS = frozenset({"logprobs", "top_logprobs"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Fields of a chat completion that one kind of endpoint knows beyond those that all share.

    `grammar` gives those that hold the reply to a grammar, none where there are none; `continuing` are those
    that have the assistant's message gone on with.
    """

    name: str
    powers: Powers
    grammar: Callable[[str], dict[str, Json]] = lambda _: {}
    continuing: Mapping[str, Json] | None = None


_SCHEMA = Powers(schema=True, continues=True, tops=True)

UNKNOWN = Dialect(name="unknown", powers=Powers())
LLAMA = Dialect(name="llama.cpp", powers=_SCHEMA, grammar=lambda text: {"grammar": text})
VLLM = Dialect(
    name="vLLM",
    powers=_SCHEMA,
    continuing={"continue_final_message": True, "add_generation_prompt": False},
)
SGLANG = Dialect(
    name="SGLang", powers=_SCHEMA, grammar=lambda text: {"ebnf": text}, continuing={"continue_final_message": True}
)
OPENAI = Dialect(name="OpenAI", powers=Powers(schema=True, strict=True))


def dialect_of(endpoint: Endpoint, model: str) -> Dialect:
    """What the endpoint understands, by at most three requests that change nothing there.

    Raises:
        ModelUnavailable: it cannot be asked now.
    """
    if endpoint.is_official:
        return _openai(model)
    owners = endpoint.owners()
    if "llamacpp" in owners:
        return _llama(endpoint, model)
    if "sglang" in owners:
        return _sglang(endpoint)
    return VLLM if "vllm" in owners else UNKNOWN


def _openai(model: str) -> Dialect:
    """Models that reason, GPT-5 and later among them, give no probabilities."""
    generation = re.match(r"gpt-(\d+)", model)
    return replace(OPENAI, powers=replace(OPENAI.powers, tops=generation is not None and int(generation[1]) < 5))


def _llama(endpoint: Endpoint, model: str) -> Dialect:
    powers = replace(LLAMA.powers, continues=llama_api.continues_there(endpoint.tried, model))
    if held.installed() and llama_api.reads_lark(endpoint.tried, model):
        powers = replace(powers, grammars=frozenset({"lark"}))
    return replace(LLAMA, powers=powers)


def _sglang(endpoint: Endpoint) -> Dialect:
    """Its field takes what the backend of its grammars reads, which it was started with."""
    information = endpoint.tried("/server_info") or endpoint.tried("/get_server_info")
    backend = information.get("grammar_backend")
    reads = backend == "llguidance" and held.installed()
    return replace(SGLANG, powers=replace(SGLANG.powers, grammars=frozenset({"lark"}) if reads else frozenset()))
