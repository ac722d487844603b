"""The kinds of endpoint (vLLM, Ollama, …), and how each can constrain a reply.

They support different constraints, with different fields of a request. A few requests detect the
kind of an endpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from atc.models import lark, wire
from atc.models.endpoint import Endpoint
from protocols.model import Powers
from protocols.schema import Json, items_of_type

GRAMMAR_FIELDS = frozenset({"grammar", "ebnf", "structured_outputs"})
"""Request fields that constrain a reply by a grammar."""
CONTINUING_FIELDS = frozenset({"continue_final_message", "add_generation_prompt"})
"""Request fields that make the model continue the assistant's last message. If an endpoint refuses
one of them, none of them is sent to it any more.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A kind of endpoint, with the request fields that only this kind accepts.

    `powers` are the constraints on a reply that endpoints of this kind can enforce. `grammar` is a
    function that returns the request fields which make a reply match a grammar. `continuing` are
    the request fields that make the model continue the assistant's last message, or None if none
    are needed.
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
"""vLLM does not report its grammar backend. Its default backend, `auto`, uses llguidance for
grammars that xgrammar cannot read.
"""
SGLANG = Dialect(
    name="SGLang",
    powers=_SCHEMA,
    grammar=lambda text: {"ebnf": text},
    continuing={"continue_final_message": True},
)
OLLAMA = Dialect(name="Ollama", powers=Powers(schema=True))
OPENAI = Dialect(name="OpenAI", powers=Powers(schema=True, strict=True))


def dialect_of(endpoint: Endpoint, model: str) -> Dialect:
    """Return the dialect of an endpoint. At most three requests detect it; they change nothing.

    Raises:
        ModelUnavailable: the endpoint cannot be reached now.
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
    # The server's grammar backend decides which grammar language it reads.
    if "sglang" in owners:
        information = endpoint.probe("/server_info") or endpoint.probe("/get_server_info")
        reads = information.get("grammar_backend") == "llguidance" and lark.is_installed()
        return replace(SGLANG, powers=_LARK) if reads else SGLANG
    if "vllm" in owners:
        return VLLM if lark.is_installed() else replace(VLLM, powers=_SCHEMA)
    return OLLAMA if "library" in owners else UNKNOWN


def fits_strict(schema: Any) -> bool:
    """Return True if OpenAI accepts a schema with `strict: true`.

    It does so if every object in the schema forbids additional properties and requires all of its
    properties.
    """
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
