"""One call that probing made: what was sent, where each value came from, and what came back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from protocols.errors import Outcome
from protocols.jsontypes import Json, JsonObject

OriginKind = Literal["given", "enum", "response", "error", "model", "generated"]
"""Where a value came from: the tool's own description (examples, defaults), its enum, another response, an error reply
that quoted it, a model, a typed generator."""

Purpose = Literal["discover", "omit", "vary", "refuse", "page", "link", "effect", "model", "check", "recorded"]
"""What a call was to find out: whether the tool can be called at all, whether it can be called without an argument,
what other values give, what a wrong value gives, the next page, whether a link holds, what a write changed, an instance
that a model proposed, whether the tool still is what its protocol says. *recorded*: none of ours, but from a recording
of somebody's own use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a value came from. Of a response, `tool`, `path` (`airports[].code`) and the sample's number say which."""

    kind: OriginKind
    tool: str = ""
    path: str = ""
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Value:
    """An argument's value and where it came from."""

    value: Json
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One call and its answer.

    `number` counts calls from 1 in the order in which they were sent, over all tools. `tool` and the names in
    `arguments` are the source's own. `round` is 0 while tools are probed alone, then the number of the chain round.
    """

    number: int
    tool: str
    arguments: Mapping[str, Value] = field(default_factory=dict)
    purpose: Purpose = "discover"
    round: int = 0
    outcome: Outcome = "done"
    status: int | None = None
    """HTTP's, of an answer that is no success; `None` for a success and where there was no answer."""
    response: Json = None
    """The whole response of a call that is done."""
    error: str = ""
    """Why there is no response, on one line."""
    answer: str | None = None
    """The whole text of an answer that is no success, where there was one."""
    seconds: float = 0.0

    @property
    def done(self) -> bool:
        """Whether the tool answered with a success."""
        return self.outcome == "done"

    @property
    def plain(self) -> dict[str, Json]:
        """The arguments' values alone."""
        return {name: given.value for name, given in self.arguments.items()}


def call_key(tool: str, arguments: JsonObject) -> str:
    """The same for two calls of one tool with equal arguments; `1`, `1.0` and `true` differ."""
    return f"{tool} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"


def to_line(sample: Sample) -> str:
    """The sample as one line of JSON. `from_line(to_line(s)) == s`."""
    record: dict[str, Any] = {"number": sample.number, "tool": sample.tool, "purpose": sample.purpose}
    record["arguments"] = {name: [given.value, _origin(given.origin)] for name, given in sample.arguments.items()}
    record |= {"round": sample.round, "outcome": sample.outcome, "status": sample.status, "response": sample.response}
    record |= {"error": sample.error, "answer": sample.answer, "seconds": round(sample.seconds, 4)}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def from_line(line: str) -> Sample:
    """Read one line.

    Raises:
        ValueError: it is not a sample.
    """
    try:
        record = json.loads(line)
        given = record.pop("arguments")
        arguments = {name: Value(value, Origin(**origin)) for name, (value, origin) in given.items()}
        return Sample(arguments=arguments, **record)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not a sample: {line[:80]!r} ({error})") from None


def _origin(origin: Origin) -> dict[str, Any]:
    record = {"kind": origin.kind, "tool": origin.tool, "path": origin.path, "sample": origin.sample}
    return {key: value for key, value in record.items() if value}
