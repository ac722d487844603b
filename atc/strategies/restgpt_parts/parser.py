"""RestGPT's response parser: a few lines of Python, written against the response's schema and run on it alone.

Where they print nothing they are written once more with a sample of the response in view; where that fails too, or no
schema is known, the model reads a sample itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from atc.attribute.facts import invocation
from atc.meter import Meter
from atc.strategies.base import Parts
from atc.strategies.restgpt_parts.prompts import fill
from atc.strategies.turns.extracting import extracted
from atc.synthesize import parse
from protocols.abridge import abridged, printed
from protocols.ask import Message
from protocols.jsontypes import Json
from protocols.render import stubs_within
from protocols.toolbox import Tool
from sandbox.trace import ToolCall

_SCHEMA_TOKENS = 2_500
_SNIPPET, _SAMPLE, LONGEST_RESULT = 1_800, 6_000, 1_800
"""Characters: of the response in the second try and where the model reads it, and of what is made of it. The paper's
published code has 500, 2,000 and 500 tokens."""
_PARSE_TOKENS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to get out of the response of a call, made for the reason `about`."""

    call: ToolCall
    about: str
    instructions: str


def read_response(value: Json, wanted: Wanted, parts: Parts, meter: Meter) -> str:
    """What is wanted of a response, in words."""
    tool = parts.toolbox[wanted.call.tool]
    if parts.config.docs == "full" and tool.protocol.output_schema:
        snippet = fill("parse_sample", data=_fenceless(abridged(value, most=_SNIPPET)))
        for sample in ("", f"\n\n{snippet}"):
            program = parse(_asked(_code_prompt(tool, wanted, sample, parts), meter))
            found = extracted(program, value, parts, meter) if program is not None else None
            if found is not None:
                return printed(found, most=LONGEST_RESULT)
    shown = abridged(value, most=min(_SAMPLE, 3 * parts.prompt_tokens))
    prompt = fill(
        "parse_read", call=invocation(wanted.call), about=wanted.about, data=shown, wanted=wanted.instructions
    )
    return printed(_asked(prompt, meter), most=LONGEST_RESULT)


def _code_prompt(tool: Tool, wanted: Wanted, sample: str, parts: Parts) -> str:
    budget = min(_SCHEMA_TOKENS, parts.prompt_tokens)
    return fill(
        "parse_code",
        function=stubs_within(parts.toolbox.only([tool.alias]), budget=budget)[0],
        call=invocation(wanted.call),
        about=wanted.about,
        sample=sample,
        wanted=wanted.instructions,
    )


def _asked(prompt: str, meter: Meter) -> str:
    completion = meter.complete(
        [Message("user", prompt)], purpose="parse", temperature=0.0, seed=0, max_tokens=_PARSE_TOKENS
    )
    return completion.text


def _fenceless(text: str) -> str:
    return text.replace("```", "'''")
