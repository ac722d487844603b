"""Builds the protocols of probed tools (ATC paper, §4.1): their schemas, without private values.

What the tool's own document (such as an OpenAPI document) declares is kept, and what the calls
showed is added with its evidence. The arguments of every successful call conform to the resulting
schema: a declared rule that such a call breaks is relaxed or dropped, and a hint of an error reply
that contradicts such a call is ignored. No type, example or format is derived from values that
probing invented.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from probing.disclosure import UNOWNED_KINDS, Disclosure
from probing.generated_values import clauses, number_of
from probing.infer import conforms, count_fields, infer, one_or_all, relax_schema
from probing.keys import document_words
from probing.name_distance import url_text
from probing.probe import Probed
from probing.samples import Sample, Value
from probing.tool_facts import TEXT_PLACES, ArgumentFacts, ToolFacts
from probing.writes import effects_of
from protocols.file_schemas import FILE_SCHEMA, is_file_response
from protocols.files import FileInfo
from protocols.protocol import ErrorOutcome, Evidence, Example, Link, ToolProtocol
from protocols.response import one_line
from protocols.schema import Json, JsonObject, resolve, type_name

MOST_SENTENCES = 3
"""Maximum number of error messages that a protocol quotes for one status."""
_LONGEST_WORDS = 160
"""Maximum number of characters of one quoted error message."""
_EXAMPLES = 3
_INVENTED = ("generated", "model")
"""Origins of values that are no evidence of a type."""
_NUMERIC = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})


def protocols_of(probed: Probed, *, keep_values: bool = False) -> dict[str, ToolProtocol]:
    """Return the protocols of all probed tools, keyed by name. See `build_protocol`."""
    return {
        name: build_protocol(
            facts,
            links=probed.links.get(name, ()),
            words=probed.words.get(name, ""),
            keep_values=keep_values,
        )
        for name, facts in probed.facts.items()
    }


def build_protocol(
    facts: ToolFacts, *, links: Sequence[Link] = (), words: str = "", keep_values: bool = False
) -> ToolProtocol:
    """Return the protocol of a probed tool: its schemas, errors, examples and links.

    If the tool gave no response, the protocol has only what the tool's own document declares, and
    the error replies of the tool.

    Args:
        facts: what is known about the tool.
        links: the tools and response fields that can provide values for its arguments.
        words: a description written by a model. It is used if the tool has none.
        keep_values: True to show values of calls. Secrets are never shown.
    """
    protocol = facts.protocol
    disclosure = Disclosure(facts, keep_values=keep_values)
    output = protocol.output_schema
    evidence = protocol.evidence
    if facts.done:
        replies = [sample.response for sample in facts.done]
        output = _infer_output(replies, protocol)
        evidence = Evidence(
            level="observed", observations=len(replies), fields=count_fields(output, replies)
        )
    declared = {
        (link.argument, link.tool, link.path): link
        for link in protocol.links
        if link.support == "declared"
    }
    shown = {(link.argument, link.tool, link.path): link for link in links}
    return replace(
        protocol,
        description=protocol.description or disclosure.text(words),
        input_schema=disclosure.schema(input_schema(facts, keep_values=keep_values)),
        output_schema=disclosure.schema(output),
        annotations=effects_of(protocol),
        errors=_outcomes(facts, disclosure),
        examples=(*protocol.examples, *_examples(facts, disclosure)),
        links=tuple({**declared, **shown, **declared}.values()),
        evidence=evidence,
    )


def _infer_output(replies: list[Json], protocol: ToolProtocol) -> JsonObject:
    """Return the response schema of a probed tool. Responses that are files have that of a file."""
    described = [FileInfo.read(reply) is not None and len(reply) == 4 for reply in replies]
    if all(described) or is_file_response(protocol.output_schema):
        return FILE_SCHEMA
    return infer(replies, protocol.output_schema, words=document_words(protocol))


def _examples(facts: ToolFacts, disclosure: Disclosure) -> Iterator[Example]:
    """Yield two successful calls as examples: one with the fewest and one with the most arguments.

    Only calls whose argument values may all be shown are considered.
    """
    # A wrong value that the tool accepted by mistake is a bad example.
    good = [
        sample for sample in facts.fruitful or facts.done if sample.purpose != "refuse"
    ] or list(facts.done)
    good = [sample for sample in good if disclosure.may_show_arguments(sample)]
    good.sort(key=lambda sample: (len(sample.arguments), sample.number))
    for sample in {sample.number: sample for sample in (*good[:1], *good[-1:])}.values():
        yield Example(arguments=sample.plain_arguments, result=disclosure.result(sample.response))


def status_of(sample: Sample) -> str | None:
    """Return the status under which a protocol documents a failed call.

    The status is "default" for an error without an HTTP status, such as an exception. Return None
    if the call succeeded, was not answered, or got an unusable answer.
    """
    if sample.done or sample.outcome == "not_run":
        return None
    if sample.status is None:
        return "default" if sample.outcome == "refused" else None
    return str(sample.status) if sample.status >= 300 else None


def _outcomes(facts: ToolFacts, disclosure: Disclosure) -> tuple[ErrorOutcome, ...]:
    """Return the error responses that a tool's protocol documents, one for each status.

    Those that the tool declares come first. Other ones that calls got follow, sorted by status.
    """
    seen: dict[str, list[Sample]] = {}
    for sample in facts.samples:
        if status := status_of(sample):
            seen.setdefault(status, []).append(sample)
    found = {outcome.status: outcome for outcome in facts.protocol.errors}
    for status, samples in sorted(seen.items()):
        known = found.get(status, ErrorOutcome(status=status))
        description = known.description or _describe_errors(status, samples, disclosure)
        found[status] = replace(known, description=description)
    return tuple(found.values())


def _describe_errors(status: str, samples: Sequence[Sample], disclosure: Disclosure) -> str:
    """Return a sentence that quotes the error messages of failed calls, or "" if no call failed."""
    messages: dict[str, None] = {}
    for sample in samples:
        if sample.error:
            text = disclosure.words(sample.error, sample.arguments)
            messages.setdefault(one_line(text, limit=_LONGEST_WORDS).rstrip("."))
    quoted = [f"“{text}”" for text in list(messages)[:MOST_SENTENCES]]
    if not quoted:
        return ""
    verb = "The reply says" if len(quoted) == 1 else "Replies say"
    if status == "default":
        verb = "It raises"
    return f"{verb} {'; '.join(quoted)}."


def input_schema(facts: ToolFacts, *, keep_values: bool = True) -> dict[str, Any]:
    """Return the JSON Schema 2020-12 of a tool's arguments.

    An argument is required if the description or a reply says so, and every successful call had it.
    Values that the tool accepted are shown as examples. If `keep_values` is False, a value is shown
    only if it comes from the tool's description or error replies, or if probing invented it.
    """
    calls = [sample.plain_arguments for sample in facts.done]
    known = {
        name: argument
        for name, argument in facts.arguments.items()
        if argument.place == "path" or not argument.unknown
    }
    anything = {"type": "object", "properties": {name: {} for name in known}}
    declared = {name: dict(argument.declared) for name, argument in known.items()}
    bare = {key: part for key, part in facts.protocol.input_schema.items() if key != "required"}
    schema = relax_schema({**bare, "type": "object", "properties": declared}, calls)
    if schema is None:
        schema = copy.deepcopy(anything)
    schema["properties"] = {
        name: _property(facts, argument, schema, keep_values=keep_values)
        for name, argument in known.items()
    }
    given = set(known).intersection(*calls)
    required = [name for name, argument in known.items() if argument.required and name in given]
    if required:
        schema["required"] = required
    return relax_schema(schema, calls) or anything


def _property(
    facts: ToolFacts, argument: ArgumentFacts, root: JsonObject, *, keep_values: bool
) -> dict[str, Any]:
    accepted = [one.value for one in argument.accepted]
    schema = dict(root["properties"].get(argument.name, {}))
    top = resolve(schema, root)
    found: dict[str, Any] = {}
    for clause in clauses(argument):
        if _all_conform(clause, accepted, argument):
            found |= clause
    if "enum" in found and None in accepted:
        found["enum"] = [*found["enum"], None]
    if "type" not in found and (kinds := _types_of_argument(argument, found)):
        found["type"] = one_or_all(kinds)
    whole = top.keys() & {"anyOf", "oneOf", "allOf", "enum", "const"}
    schema |= {k: v for k, v in found.items() if k not in top and not (k == "type" and whole)}
    if not top.keys() & {"examples", "example"} and (
        shown := _shown_values(facts, argument.name, keep_values=keep_values)
    ):
        schema["examples"] = shown
    return schema


def _types_of_argument(argument: ArgumentFacts, found: Mapping[str, Any]) -> list[str]:
    """Return the JSON types of an argument, as accepted values or error replies show them.

    `found` has the schema keywords that error replies stated, such as `maximum`. A value that
    probing invented proves no type. The exception is a number if the tool refused a text.
    """
    accepted_types = [type_name(accepted.value) for accepted in argument.accepted]
    if "enum" in found:
        return [type_name(value) for value in found["enum"]]
    if found.keys() & _NUMERIC:
        return ["number", *accepted_types]
    if found.keys() & {"minLength", "maxLength", "pattern", "format"}:
        return accepted_types or ["string"]
    real_values = [one.value for one in argument.accepted if one.origin.kind not in _INVENTED]
    kinds = {type_name(value) for value in real_values}
    if argument.place not in TEXT_PLACES:
        return sorted(kinds) if set(accepted_types) <= kinds or kinds == {"number"} else []
    return _types_of_text(argument, accepted_types, real_values)


def _types_of_text(
    argument: ArgumentFacts, accepted_types: list[str], real_values: Sequence[Json]
) -> list[str]:
    """Return the JSON types of an argument that is sent as text, such as a query parameter.

    In a URL, the number 5 and the text "5" look the same, so an accepted value alone proves no
    type. If the tool accepted only numbers, and refused a text that is no number, return the types
    of the accepted values. If it accepted only texts, and none of them can be read as a number,
    return ["string"]. Otherwise the type stays unknown, and the list is empty.

    Args:
        argument: the argument, with the values that the tool refused.
        accepted_types: the types of all values that the tool accepted.
        real_values: the accepted values that probing did not invent.
    """
    if accepted_types and set(accepted_types) <= {"integer", "number"}:
        refused_text = any(number_of(url_text(value.value)) is None for value in argument.refused)
        return accepted_types if refused_text else []
    has_texts = {type_name(value) for value in real_values} == {"string"}
    has_numbers = any(number_of(value) is not None for value in real_values)
    return ["string"] if has_texts and not has_numbers else []


def _all_conform(clause: dict[str, Any], accepted: Sequence[Json], argument: ArgumentFacts) -> bool:
    """Return True if all accepted values conform to `clause`, a part of a JSON Schema.

    For an argument that is sent as text, such as a query parameter, `5` and `"5"` are equal.
    """
    for value in accepted:
        forms: list[Json] = [value]
        if clause.keys() & _NUMERIC and (number := number_of(value)) is not None:
            forms = [number]
        elif argument.place in TEXT_PLACES and not isinstance(value, list | dict):
            text = url_text(value)
            forms += [text, {"true": True, "false": False}.get(text.lower(), number_of(text))]
        if value is not None and not any(
            form is not None and conforms(clause, form) for form in forms
        ):
            return False
    return True


def _shown_values(facts: ToolFacts, name: str, *, keep_values: bool) -> list[Json]:
    """Return up to three example values of an argument from successful calls.

    Calls whose response contained data come first. Calls that were meant to be refused are left
    out, even if the tool accepted them.
    """
    fruitful = {sample.number for sample in facts.fruitful}
    meant = [
        sample for sample in facts.done if sample.purpose != "refuse" and name in sample.arguments
    ]
    meant.sort(key=lambda sample: (sample.number not in fruitful, sample.number))
    values: dict[str, Value] = {}
    for sample in meant:
        value = sample.arguments[name]
        values[repr(value.value)] = value
    return [
        value.value
        for value in list(values.values())[:_EXAMPLES]
        if keep_values or value.origin.kind in UNOWNED_KINDS
    ]
