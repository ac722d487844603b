"""What kinds of endpoint hold a reply to, and how each is told: found out by asking, never assumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from atc.models import lark, wire
from atc.models.endpoint import Endpoint
from protocols.model import Powers
from protocols.schema import Json, items_of_type

GRAMMAR_FIELDS = frozenset({"grammar", "ebnf", "structured_outputs"})
"""Fields of a request that hold a reply to a grammar."""
CONTINUING_FIELDS = frozenset({"continue_final_message", "add_generation_prompt"})
"""Fields that have the assistant's words gone on with. Where one is refused, so is the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Fields of a chat completion that one kind of endpoint knows beyond those that all share.

    `grammar` gives those that hold the reply to a grammar; `continuing` are those that have the assistant's message
    gone on with.
    """

    name: str
    powers: Powers
    grammar: Callable[[str], dict[str, Json]] = lambda _: {}
    continuing: Mapping[str, Json] | None = None


_SCHEMA = Powers(schema=True, continues=True)
_LARK = replace(_SCHEMA, lark=True)

UNKNOWN = Dialect(name="unknown", powers=Powers())
LLAMA = Dialect(name="llama.cpp", powers=_SCHEMA, grammar=lambda text: {"grammar": text})
VLLM = Dialect(
    name="vLLM",
    powers=_LARK,
    grammar=lambda text: {"structured_outputs": {"grammar": text}},
    continuing={"continue_final_message": True, "add_generation_prompt": False},
)
"""Which backend it was started with, it does not tell: `auto` gives llguidance what xgrammar cannot read."""
SGLANG = Dialect(
    name="SGLang",
    powers=_SCHEMA,
    grammar=lambda text: {"ebnf": text},
    continuing={"continue_final_message": True},
)
OLLAMA = Dialect(name="Ollama", powers=Powers(schema=True))
OPENAI = Dialect(name="OpenAI", powers=Powers(schema=True, strict=True))


def dialect_of(endpoint: Endpoint, model: str) -> Dialect:
    """What the endpoint understands, by at most three requests that change nothing there.

    Raises:
        ModelUnavailable: it cannot be asked now.
    """
    if endpoint.is_official:
        return OPENAI
    path = endpoint.url.removeprefix(endpoint.url.removesuffix("/v1")) + "/models"
    offered = items_of_type(endpoint.probe(path).get("data"), dict)
    owners = {str(entry.get("owned_by", "")).lower() for entry in offered}
    if "llamacpp" in owners:
        powers = replace(_SCHEMA, continues=wire.can_continue(endpoint.probe, model))
        if lark.is_installed() and wire.reads_lark(endpoint.probe, model):
            powers = replace(powers, lark=True)
        return replace(LLAMA, powers=powers)
    if "sglang" in owners:  # its field takes what the backend of its grammars reads
        information = endpoint.probe("/server_info") or endpoint.probe("/get_server_info")
        reads = information.get("grammar_backend") == "llguidance" and lark.is_installed()
        return replace(SGLANG, powers=_LARK) if reads else SGLANG
    if "vllm" in owners:
        return VLLM if lark.is_installed() else replace(VLLM, powers=_SCHEMA)
    return OLLAMA if "library" in owners else UNKNOWN


def fits_strict(schema: Any) -> bool:
    """Whether every object of a schema is closed and requires all its keys, as OpenAI's `strict` demands."""
    if isinstance(schema, list):
        return all(map(fits_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        keys = set(schema.get("properties", ()))
        if (
            schema.get("additionalProperties") is not False
            or set(schema.get("required", ())) != keys
        ):
            return False
    return all(map(fits_strict, schema.values()))
