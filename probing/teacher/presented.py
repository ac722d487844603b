"""A tool as a prompt shows it: what is known of it as a protocol, and what was seen of it, quoted as data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from urllib.parse import urlsplit

from probing.arguments import input_schema
from probing.facts import ArgumentFacts, ToolFacts
from probing.infer import infer
from probing.sample import Sample
from probing.teacher.words import plain_line
from protocols.abridge import clipped, sampled
from protocols.jsontypes import Json
from protocols.protocol import Annotations, HttpBinding, ToolProtocol
from protocols.secrecy import covered
from protocols.toolbox import Tool

HIDDEN = "<secret>"
"""What a prompt shows in the place of a secret."""

_LINE = 260
"""Characters of one call as it is shown."""
_VALUE = 40
"""Characters of a value that stands beside its argument."""
_REFUSALS = 3
_FIRST = 40  # items of a list, keys of an object


def presented(facts: ToolFacts) -> ToolProtocol:
    """The tool as far as it is known, to be written as a stub and to be called by a program.

    It counts as read-only, since the Caller alone decides what may be called: the sandbox's own care for writes would
    make calls that nobody planned.
    """
    protocol = facts.protocol
    responses = [sample.response for sample in facts.done]
    schema = dict(input_schema(facts))
    schema["properties"] = {
        name: _remarked(child, facts, facts.arguments.get(name)) for name, child in schema.get("properties", {}).items()
    }
    said = [address(protocol), protocol.description or protocol.title]
    if not schema["properties"] and not responses:
        schema["additionalProperties"] = True
        said.append("its arguments are not known, give those that it most likely takes")
    return replace(
        protocol,
        description=": ".join(filter(None, said)),
        input_schema=schema,
        output_schema=infer(responses, protocol.output_schema) if responses else protocol.output_schema,
        annotations=Annotations(read_only=True),
        errors=(),
        examples=(),
        verified_by=None,
    )


def address(protocol: ToolProtocol) -> str:
    """Method and path of a tool that is called over HTTP: `GET /flights/{id}`; empty for others."""
    binding = protocol.binding
    return f"{binding.method} {urlsplit(binding.url).path or '/'}" if isinstance(binding, HttpBinding) else ""


def seen(tool: Tool, samples: Sequence[Sample], *, refusals: int = _REFUSALS) -> Iterator[str]:
    """Calls of a tool and what came back, a line each: a response that says something, and the last refusals."""
    meant = [sample for sample in samples if sample.done and sample.purpose != "refuse"]
    best = max(meant, key=lambda sample: (bool(sample.response), sample.number), default=None)
    if best is not None:
        yield _line(tool, best)
    told: dict[str, Sample] = {}
    for sample in sorted(samples, key=lambda sample: sample.purpose != "refuse"):  # not those that were meant to fail
        if not sample.done:
            told.pop(sample.error, None)
            told[sample.error] = sample
    last = list(told.values())
    for sample in last[len(last) - refusals :] if refusals else []:
        yield _line(tool, sample)


def values_at(protocol: ToolProtocol, samples: Sequence[Sample], path: str, *, most: int = 3) -> list[str]:
    """Different values that stood at a response path (`airports[].code`), as text, secrets hidden."""
    found: dict[str, None] = {}
    for sample in samples:
        shown = covered(_first(sample.response), protocol.output_schema, _hide)
        for value in _at(shown, path.replace("[]", ".[]").strip(".").split(".") if path else []):
            if value is not None:
                found.setdefault(quoted(value, most=_VALUE))
            if len(found) == most:
                return list(found)
    return list(found)


def given(facts: ToolFacts, argument: ArgumentFacts, *, accepted: bool = True) -> list[str]:
    """Values with which an argument was accepted, or with which it was refused or led nowhere, as text."""
    if accepted:
        meant = (sample for sample in facts.done if sample.purpose != "refuse")
        values = [sample.arguments[argument.name] for sample in meant if argument.name in sample.arguments]
    else:
        values = [*argument.refused, *argument.not_found]
    plain = [covered({argument.name: v.value}, facts.protocol.input_schema, _hide)[argument.name] for v in values]
    return list(dict.fromkeys(quoted(value, most=_VALUE) for value in plain))


def quoted(value: Json, *, most: int) -> str:
    """A value on one line that cannot end the block it stands in."""
    return inert(sampled(value, most=most))


def inert(text: str) -> str:
    """Text of a tool on one line, without characters that are not printed, and without fences."""
    return plain_line(text).replace("```", "'''").replace('"""', "'''")


def _remarked(schema: Json, facts: ToolFacts, argument: ArgumentFacts | None) -> Json:
    """An argument's schema with what no type says as its description."""
    if not isinstance(schema, dict) or argument is None:
        return schema
    low, high = schema.get("minimum"), schema.get("maximum")
    remarks = [
        f"from {low} to {high}" if low is not None and high is not None else "",
        f"at least {low}" if low is not None and high is None else "",
        f"at most {high}" if high is not None and low is None else "",
        f"matches {inert(schema['pattern'])}" if isinstance(schema.get("pattern"), str) else "",
    ]
    quotes = [value for hint in argument.hints if hint.kind == "example" for value in hint.values]
    examples = [*given(facts, argument)[:2], *(quoted(value, most=_VALUE) for value in quotes)]
    if examples:
        remarks.append(f"such as {', '.join(examples[:2])}")
    said = inert(str(schema.get("description", ""))).rstrip(".")
    return {**schema, "description": "; ".join(filter(None, (said, *remarks)))}


def _line(tool: Tool, sample: Sample) -> str:
    secrets: list[str] = []

    def hide(value: Json) -> Json:
        secrets.append(str(value))
        return HIDDEN

    aliases = {name: alias for alias, name in tool.arguments.items()}
    plain = covered(sample.plain, tool.protocol.input_schema, hide)
    arguments = ", ".join(f"{aliases.get(name, name)}={sampled(value, most=60)}" for name, value in plain.items())
    if sample.done:
        response = tool.unwrap(covered(_first(sample.response), tool.protocol.output_schema, _hide))
        text = re.sub(r", … \d+ (keys )?more", ", …", sampled(response, most=_LINE))  # more than it was cut to
        return inert(f"- {tool.alias}({arguments}) gave {text}")
    status = f"HTTP {sample.status}: " if sample.status and not sample.error.startswith("HTTP") else ""
    error = sample.error
    for secret in secrets:
        error = error.replace(secret, HIDDEN)
    return inert(f"- {tool.alias}({arguments}) failed: {clipped(status + error, _LINE)}")


def _at(value: Json, steps: Sequence[str]) -> Iterator[Json]:
    if not steps:
        yield value
    elif steps[0] == "[]":
        for item in value if isinstance(value, list) else ():
            yield from _at(item, steps[1:])
    elif isinstance(value, dict) and steps[0] in value:
        yield from _at(value[steps[0]], steps[1:])


def _first(value: Json, *, depth: int = 8) -> Json:
    """The first parts of a value: what a prompt may show of it, so that no more is searched for secrets."""
    if isinstance(value, dict):
        return {key: _first(part, depth=depth - 1) for key, part in islice(value.items(), _FIRST)} if depth else {}
    if isinstance(value, list):
        return [_first(part, depth=depth - 1) for part in value[:_FIRST]] if depth else []
    return value


def _hide(value: Json) -> Json:  # noqa: ARG001 - the shape of every Change
    return HIDDEN
