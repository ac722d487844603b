"""A vocabulary with tokens that lie across every border of a call, and tools to call with it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

import numpy as np

from atc.decode.automaton import ToolAutomaton
from atc.decode.masks import unpack
from atc.decode.vocabulary import Vocabulary
from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool, Toolbox

_WORDS = """
add sq uare rt square exp mul tiply multiply ply( mul( mul(1 add(1 () (1 1) )) }} "} }" {" ": , 1, 12 12, 30 30) .5
<T <T> T> <T>s <T>mul <T>mul( a<T> )<T> )<T>add >add( and the it is Its area abc abcabc über ü" name {"name mul", add
Action Action: :mul Thought Thought: Thought:I \\" \\n "a" ("a ("a")
"""
MERGED = [
    *_WORDS.split(),
    *(", ", ") and", ")x ", " 30", " -1", '": ', '", "', '": "', ', "arguments": {', '{"name": "mul', ' {"a'),
    *("\nAction", "\nAction:", " Input: {", "\n\n", "}\n", "Action:add", " add"),
]
"""Texts of tokens that are no single byte."""
EOS, SPECIAL, TRIGGER = 256, 257, 258


def small_vocabulary(merged: Iterable[str | bytes] = MERGED) -> Vocabulary:
    """The 256 bytes, three special tokens, then `merged`; some texts twice."""
    texts = [text.encode() if isinstance(text, str) else text for text in merged]
    singles = [bytes([byte]) for byte in range(256)]
    return Vocabulary([*singles, b"", b"", b"", *texts, b"add", b"("], eos=(EOS,), special=(SPECIAL, TRIGGER))


def toolbox(schemas: Mapping[str, Mapping[str, Json]]) -> Toolbox:
    """Tools by name → the schemas of their arguments, all required but those whose schema says `"optional": true`."""
    return Toolbox(Tool(_protocol(name, properties), lambda arguments: None) for name, properties in schemas.items())


def _protocol(name: str, properties: Mapping[str, Json]) -> ToolProtocol:
    required = [key for key, schema in properties.items() if isinstance(schema, dict) and not schema.get("optional")]
    schema = {"type": "object", "properties": dict(properties), "required": required}
    return ToolProtocol(name=name, description=name, input_schema=schema)


NUMBER: Json = {"type": "number"}
TOOLS = toolbox(
    {
        "add": {"a": NUMBER, "b": NUMBER},
        "mul": {"a": NUMBER, "b": NUMBER},
        "multiply": {"values": {"type": "array", "items": {"type": "integer"}, "maxItems": 3}},
        "square": {"a": NUMBER},
        "sqrt": {"a": NUMBER},
        "say": {"text": {"type": "string", "maxLength": 12}, "loud": {"type": "boolean", "optional": True}},
        "now": {},
    }
)


def allowed_tokens(automaton: ToolAutomaton) -> list[int]:
    """The tokens that may come next."""
    return [int(token) for token in np.flatnonzero(unpack(automaton.allowed(), automaton.vocabulary.size))]


def write(automaton: ToolAutomaton, text: str | bytes) -> ToolAutomaton:
    """`automaton` after `text`, a byte a token (with `small_vocabulary`)."""
    for byte in text.encode() if isinstance(text, str) else text:
        automaton.advance(byte)
    return automaton


def walk(automaton: ToolAutomaton, seed: int, *, most: int = 4000) -> ToolAutomaton:
    """`automaton` after tokens drawn evenly from those allowed, until the text is ended; it ends when it may."""
    draw = random.Random(seed)
    for _ in range(most):
        if automaton.is_finished:
            break
        tokens = allowed_tokens(automaton)
        assert tokens, f"nothing may follow {automaton.text!r}"
        automaton.advance(EOS if EOS in tokens and draw.random() < 0.5 else draw.choice(tokens))
    return automaton


def splits(text: str, vocabulary: Vocabulary, seed: int) -> list[int]:
    """Tokens that spell `text`, each drawn from all that fit."""
    draw, data, at, tokens = random.Random(seed), text.encode(), 0, []
    while at < len(data):
        fitting = [end for end in range(at + 1, len(data) + 1) if data[at:end] in vocabulary.ids]
        end = draw.choice(fitting)
        tokens.append(vocabulary.ids[data[at:end]])
        at = end
    return tokens
