"""The format in which an endpoint streams a chat completion: server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from protocols.response import parse_json
from protocols.schema import Json, as_mapping, items_of_type

MEDIA_TYPE = "text/event-stream"
STREAM_END: Mapping[str, Json] = {"done": True}
"""What `read_events` yields for the event `[DONE]`, with which a stream that is complete ends."""


def read_events(text: str) -> Iterator[Mapping[str, Json]]:
    """Yield the JSON objects of a stream that was received as a whole.

    Comments, events of other kinds and an event that broke off are skipped.
    """
    for line in text.splitlines():
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:"):
            continue
        if data == "[DONE]":
            yield STREAM_END
            return
        try:
            event = parse_json(data)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


class StreamedMessage:
    """The message of a model, put together from the parts in which it is streamed."""

    def __init__(self) -> None:
        self.text = ""
        self._thoughts = ""
        self._calls: dict[int, dict[str, str]] = {}

    def add(self, part: Mapping[str, Any]) -> None:
        """Add a part of the message: more text, more thoughts, or more of a tool call."""
        self.text += _text(part.get("content"))
        self._thoughts += _text(part.get("reasoning_content") or part.get("reasoning"))
        for place, call in enumerate(items_of_type(part.get("tool_calls"), dict)):
            index = call.get("index")
            known = self._calls.setdefault(index if isinstance(index, int) else place, {})
            for name, value in as_mapping(call.get("function")).items():
                known[name] = known.get(name, "") + _text(value)

    def joined(self) -> dict[str, Json]:
        """Return the message in the form that it has in a reply that is not streamed."""
        message: dict[str, Json] = {"content": self.text}
        if self._thoughts:
            message["reasoning_content"] = self._thoughts
        if self._calls:
            message["tool_calls"] = [{"function": call} for call in self._calls.values()]
        return message


def _text(value: Json) -> str:
    """Return a streamed text. A value of another type is returned as JSON, and None as ""."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
