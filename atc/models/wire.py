"""The shape of chat completions: messages as they are sent, and what a reply says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from protocols.ask import Completion, Message
from protocols.jsontypes import Json


def continues(messages: Sequence[Message]) -> bool:
    """Whether the reply is to go on from the assistant's words."""
    return bool(messages) and messages[-1].role == "assistant"


def asked(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages without a last one of the assistant that is empty: llama.cpp renders it as a turn that is over."""
    return messages[:-1] if continues(messages) and not messages[-1].content else messages


def sent(messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> list[dict[str, str]]:
    """The messages as the API has them, with the schema asked for in words if there is one."""
    turns = [{"role": message.role, "content": message.content} for message in messages]
    if schema is not None:
        last = turns[-2] if continues(messages) and len(turns) > 1 else turns[-1]
        last["content"] += f"\n\nAnswer with JSON alone, valid under this JSON Schema: {json.dumps(schema)}"
    return turns


def completion_of(reply: Mapping[str, Json], *, model: str, seconds: float) -> Completion:
    """What a chat completion says; an endpoint may leave any part of it out."""
    choice, usage = _choice(reply), reply.get("usage") or {}
    return Completion(
        text=_text(choice),
        model=model,
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        seconds=seconds,
        truncated=choice.get("finish_reason") == "length",
        cached_tokens=_count((usage.get("prompt_tokens_details") or {}).get("cached_tokens")),
    )


def is_cut_before_text(reply: Mapping[str, Json]) -> bool:
    """Whether the limit was reached before there was any text, by thoughts that are not shown."""
    choice = _choice(reply)
    return not _text(choice) and choice.get("finish_reason") == "length"


def unfenced(text: str) -> str:
    """JSON out of the code fence that models put around it when asked in words."""
    found = re.search(r"```(?:json)?[^\S\n]*\n(.*?)```", text, re.DOTALL)
    return found[1].strip() if found else text


def _choice(reply: Mapping[str, Json]) -> Mapping[str, Json]:
    choice: Mapping[str, Json] = (reply.get("choices") or [{}])[0]
    return choice


def _text(choice: Mapping[str, Json]) -> str:
    """The content, or what the model declines with."""
    message = choice.get("message") or {}
    return str(message.get("content") or message.get("refusal") or "")


def _count(value: Json) -> int:
    return int(value) if isinstance(value, int | float) else 0
