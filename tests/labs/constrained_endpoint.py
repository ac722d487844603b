"""For tests of decoding: an endpoint that holds to grammars as a constrained decoder does, and some tools."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from llguidance import LLMatcher, LLTokenizer

from atc.models.decode.grammar import compile_matcher
from protocols.model import Completion, Message, Powers
from protocols.protocol import ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox

NUMBER, TEXT = {"type": "number"}, {"type": "string"}


def tool(name: str, required: tuple[str, ...] | None = None, /, **properties: Any) -> Tool:
    """A tool that answers nothing; all of its arguments are required unless some are named."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
    }
    return Tool(
        ToolProtocol(name=name, description=f"Does {name}.", input_schema=schema), call=dict
    )


TOOLS = Toolbox(
    [
        tool("power", base=NUMBER, exponent=NUMBER),
        tool("add", ("a", "b"), a=NUMBER, b=NUMBER, c=NUMBER),
        tool("max", values={"type": "array", "items": NUMBER, "maxItems": 4}),
        tool("maximum", of=TEXT),
        tool(
            "find-person", ("name",), name={**TEXT, "maxLength": 30}, sort={"enum": ["age", "name"]}
        ),
        tool("größe", ort={**TEXT, "maxLength": 30}),
        tool("Finish", answer={**TEXT, "maxLength": 30}),
    ]
)


class HoldingModel:
    """Holds to grammars byte by byte: it writes what it wishes to as far as it may, then at random, by its seed.

    `wishes` are what it would write freely, one a request, the last one again and again.
    """

    name, prompt_tokens = "holding", 4000

    def __init__(self, *wishes: str, powers: Powers | None = None) -> None:
        self.powers = powers or Powers(lark=True, continues=True)
        self.prompts: list[list[Message]] = []
        self.options: list[dict[str, Any]] = []
        self._wishes = wishes

    def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int = 1024,
    ) -> Completion:
        """One token is one byte."""
        wish = self._wishes[min(len(self.prompts), len(self._wishes) - 1)].encode()
        self.prompts.append(list(messages))
        self.options.append(
            {"grammar": grammar, "temperature": temperature, "seed": seed, "max_tokens": max_tokens}
        )
        written = wish if grammar is None else _held(grammar, wish, random.Random(seed))
        cut = written[:max_tokens]
        return Completion(
            text=cut.decode("utf-8", "ignore"),
            model=self.name,
            input_tokens=len(messages),
            output_tokens=len(cut),
            seconds=1.0,
            truncated=len(cut) < len(written),
        )


BYTES = LLTokenizer("byte")


def _held(grammar: str, wish: bytes, rng: random.Random) -> bytes:
    """A sentence that keeps to `wish` until it may not, and is then closed as the grammar has it."""
    matcher = compile_matcher(BYTES, grammar)
    written = b""
    for byte in _bytes(matcher, wish, rng):
        assert matcher.try_consume_tokens([byte])
        written += bytes([byte])
        assert len(written) < 5000, "the grammar does not end"
    return written


def _bytes(matcher: LLMatcher, wish: bytes, rng: random.Random) -> Iterator[int]:
    place, keeps = 0, True
    while not matcher.is_stopped():
        mask = np.frombuffer(matcher.compute_bitmask(), np.uint8)
        bits = np.unpackbits(mask, bitorder="little")[:256]
        allowed = np.flatnonzero(bits)
        if not len(allowed):
            return
        keeps = keeps and place < len(wish) and bool(bits[wish[place]])
        if not keeps and matcher.is_accepting():
            return
        yield wish[place] if keeps else int(rng.choice(list(allowed)))
        place += 1
