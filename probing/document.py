"""Protocol documenting (ATC paper, §4.1): what was learned of a tool, as its protocol, with shapes and no private
values.

What a document declared before stays as it is; what calls showed is added, and says so. The law of arguments: those of
every call that was done conform. A declared clause that a done call breaks is widened or dropped; a hint that one
contradicts is not taken. What probing made up never becomes a type, an example or a format.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from probing.generated_values import clauses, number_of
from probing.infer import conforms, count_fields, infer, nodes, one_or_all, relax_schema
from probing.keys import document_words
from probing.name_distance import url_text
from probing.probe import Probed
from probing.samples import Sample, Value
from probing.tool_facts import TEXT_PLACES, ArgumentFacts, ToolFacts
from probing.writes import effects_of
from protocols.protocol import ErrorOutcome, Evidence, Example, Link, ToolProtocol
from protocols.response import one_line
from protocols.schema import Json, JsonObject, resolve, type_name
from protocols.secrets import (
    encoded_forms,
    find_embedded_secrets,
    is_blank_or_mask,
    replace_secrets,
    secrets_of,
)
from protocols.secrets.names import is_secret

MOST_SENTENCES = 3
_LONGEST_WORDS = 160
_SHORTEST = 4
_SHORT = 2
"""Characters from which a secret is looked for in other texts, and an argument's value unquoted: less is a word."""
_LONGEST = 2_000
"""Characters of a result, as JSON, that an example shows."""
_HIDDEN = "<secret>"
_QUOTED = re.compile(r"(?<!\w)(['\"`])([^'\"`]{1,80})\1")
_EXAMPLES = 3
_OURS = ("generated", "model")
UNOWNED_KINDS = frozenset({"given", "enum", "error", "generated"})
"""Origins of values that are nobody's data: the tool's own description and replies, and what we made up."""
_NUMERIC = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})


def protocols_of(probed: Probed, *, keep_values: bool = False) -> dict[str, ToolProtocol]:
    """The protocol of each tool, by name."""
    return {n: build_protocol(facts, links=probed.links.get(n, ()), words=probed.words.get(n, ""), keep_values=keep_values)
            for n, facts in probed.facts.items()}  # fmt: skip


def build_protocol(
    facts: ToolFacts, *, links: Sequence[Link] = (), words: str = "", keep_values: bool = False
) -> ToolProtocol:
    """The protocol of a probed tool.

    `links` are of its arguments; `words` describe the tool where nothing else does. Values of calls are shown with
    `keep_values` alone; secrets never. Of a tool that gave no response the protocol says what was declared, and how it
    refused.
    """
    protocol = facts.protocol
    disclosure = Disclosure(facts, keep_values=keep_values)
    output = protocol.output_schema
    evidence = protocol.evidence
    if facts.done:
        replies = [sample.response for sample in facts.done]
        output = infer(replies, protocol.output_schema, words=document_words(protocol))
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


def _examples(facts: ToolFacts, disclosure: Disclosure) -> Iterator[Example]:
    """The shortest call that answered, and the one with most arguments, as far as their values may be shown."""
    # A wrong value that was sent on purpose and taken all the same is no example to follow.
    good = [
        sample for sample in facts.fruitful or facts.done if sample.purpose != "refuse"
    ] or list(facts.done)
    good = [
        sample
        for sample in good
        if all(disclosure.may_show(*pair) for pair in sample.arguments.items())
    ]
    good.sort(key=lambda sample: (len(sample.arguments), sample.number))
    for sample in {sample.number: sample for sample in (*good[:1], *good[-1:])}.values():
        yield Example(arguments=sample.plain_arguments, result=disclosure.result(sample.response))


def status_of(sample: Sample) -> str | None:
    """Under which status a sample's outcome is documented; `default` for a refusal without one (an exception).

    `None` for a success, and for what says nothing of the tool: no answer, an answer that could not be read.
    """
    if sample.done or sample.outcome == "not_run":
        return None
    if sample.status is None:
        return "default" if sample.outcome == "refused" else None
    return str(sample.status) if sample.status >= 300 else None


def _outcomes(facts: ToolFacts, disclosure: Disclosure) -> tuple[ErrorOutcome, ...]:
    """Declared outcomes first, in their order, then those seen by status; what was declared is kept."""
    seen: dict[str, list[Sample]] = {}
    for sample in facts.samples:
        if status := status_of(sample):
            seen.setdefault(status, []).append(sample)
    found = {outcome.status: outcome for outcome in facts.protocol.errors}
    for status, samples in sorted(seen.items()):
        known = found.get(status, ErrorOutcome(status=status))
        words = (
            disclosure.words(sample.error, sample.arguments) for sample in samples if sample.error
        )
        said = list(
            dict.fromkeys(one_line(text, limit=_LONGEST_WORDS).rstrip(".") for text in words)
        )[:MOST_SENTENCES]
        verb = (
            "It raises"
            if status == "default"
            else "The reply says"
            if len(said) == 1
            else "Replies say"
        )
        told = f"{verb} {'; '.join(f'“{text}”' for text in said)}." if said else ""
        found[status] = replace(known, description=known.description or told)
    return tuple(found.values())


def input_schema(facts: ToolFacts, *, keep_values: bool = True) -> dict[str, Any]:
    """JSON Schema 2020-12 of the arguments, an object.

    An argument is required where the facts say so and no done call lacks it; where nothing tells, it is not. Examples
    are values that were accepted; without `keep_values` those alone that are nobody's data.
    """
    calls = [sample.plain_arguments for sample in facts.done]
    known = {n: a for n, a in facts.arguments.items() if a.place == "path" or not a.unknown}
    declared = {name: dict(argument.declared) for name, argument in known.items()}
    bare = {key: part for key, part in facts.protocol.input_schema.items() if key != "required"}
    schema = relax_schema({**bare, "type": "object", "properties": declared}, calls)
    schema = (
        {"type": "object", "properties": {name: {} for name in known}} if schema is None else schema
    )
    schema["properties"] = {
        name: _property(facts, argument, schema, keep_values=keep_values)
        for name, argument in known.items()
    }
    required = [n for n, a in known.items() if a.required and all(n in call for call in calls)]
    if required:
        schema["required"] = required
    return relax_schema(schema, calls) or {
        "type": "object",
        "properties": {name: {} for name in known},
    }


def _property(
    facts: ToolFacts, argument: ArgumentFacts, root: JsonObject, *, keep_values: bool
) -> dict[str, Any]:
    accepted = [held.value for held in argument.accepted]
    schema = dict(root["properties"].get(argument.name, {}))
    top = resolve(schema, root)
    found: dict[str, Any] = {}
    for clause in clauses(argument):
        if _all_conform(clause, accepted, argument):
            found |= clause
    if "enum" in found and None in accepted:
        found["enum"] = [*found["enum"], None]
    if "type" not in found and (kinds := _types(argument, found)):
        found["type"] = one_or_all(kinds)
    whole = top.keys() & {"anyOf", "oneOf", "allOf", "enum", "const"}
    schema |= {k: v for k, v in found.items() if k not in top and not (k == "type" and whole)}
    if not top.keys() & {"examples", "example"} and (
        shown := _shown_values(facts, argument.name, keep_values=keep_values)
    ):
        schema["examples"] = shown
    return schema


def _types(argument: ArgumentFacts, found: Mapping[str, Any]) -> list[str]:
    """The types that values show which probing did not make up, and that a refusal of others shows."""
    made = [type_name(held.value) for held in argument.accepted]
    if "enum" in found:
        return [type_name(value) for value in found["enum"]]
    if found.keys() & _NUMERIC:
        return ["number", *made]
    if found.keys() & {"minLength", "maxLength", "pattern", "format"}:
        return made or ["string"]
    real = [held.value for held in argument.accepted if held.origin.kind not in _OURS]
    kinds = {type_name(value) for value in real}
    if argument.place not in TEXT_PLACES:
        return sorted(kinds) if set(made) <= kinds or kinds == {"number"} else []
    if made and set(made) <= {"integer", "number"}:
        return (
            made
            if any(number_of(url_text(held.value)) is None for held in argument.refused)
            else []
        )
    # A number sent as text may be any text; a word in letters was none.
    return (
        ["string"]
        if kinds == {"string"} and all(number_of(value) is None for value in real)
        else []
    )


def _all_conform(clause: dict[str, Any], accepted: Sequence[Json], argument: ArgumentFacts) -> bool:
    """Whether all accepted values conform; in a URL `5` and `"5"` are the same."""
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
    """Values of calls that were made to be done, first those whose response said something."""
    fruitful = {sample.number for sample in facts.fruitful}
    meant = [
        sample for sample in facts.done if sample.purpose != "refuse" and name in sample.arguments
    ]
    meant.sort(key=lambda sample: (sample.number not in fruitful, sample.number))
    values = {
        repr(held.value): held for held in (sample.arguments[name] for sample in meant)
    }.values()
    return [
        held.value
        for held in list(values)[:_EXAMPLES]
        if keep_values or held.origin.kind in UNOWNED_KINDS
    ]


class Disclosure:
    """What a document may show of the values and texts of one tool: secrets never, values of calls if they are kept.

    A secret is known by its name or its form in any sample, and is hidden wherever it stands.
    """

    def __init__(self, facts: ToolFacts, *, keep_values: bool) -> None:
        self._keep = keep_values
        self._arguments = facts.arguments
        self._input = facts.protocol.input_schema
        self._output = facts.protocol.output_schema
        found: set[str] = set()
        for sample in facts.samples:
            found.update(map(str, secrets_of(sample.plain_arguments, self._input)))
            found.update(map(str, secrets_of(sample.response, self._output)))
            found.update(
                (*find_embedded_secrets(sample.error), *find_embedded_secrets(sample.answer or ""))
            )
        real = (text for text in found if len(text) >= _SHORTEST and not is_blank_or_mask(text))
        spelled = {spelling for text in real for spelling in encoded_forms(text)}
        self._secrets = sorted(spelled, key=lambda text: (-len(text), text))

    def text(self, text: str) -> str:
        """A text without secrets."""
        for spelled in (*find_embedded_secrets(text), *self._secrets):
            text = text.replace(spelled, _HIDDEN)
        return text

    def words(self, text: str, arguments: Mapping[str, Value]) -> str:
        """A tool's own words, with `{name}` for what they repeat of the arguments, and `…` for other quoted values."""
        for name, given in sorted(arguments.items(), key=lambda pair: -len(str(pair[1].value))):
            text = _insert_argument_name(text, name, given.value)
        text = self.text(text)
        return text if self._keep else _QUOTED.sub(self._unquoted, text)

    def may_show(self, name: str, value: Value) -> bool:
        """Whether an argument's value may be shown as it is."""
        secret = secrets_of({name: value.value}, self._input) or self._secret(value.value)
        return (self._keep or value.origin.kind in UNOWNED_KINDS) and not secret

    def result(self, response: Json) -> Json:
        """The result of an example; None where it is long, or values are not kept."""
        if not self._keep or len(json.dumps(response)) > _LONGEST:
            return None
        return replace_secrets(response, self._output, lambda _: _HIDDEN, rest=self._leaf)

    def _leaf(self, leaf: Json) -> Json:
        return self.text(leaf) if isinstance(leaf, str) else leaf

    def schema(self, schema: Json) -> Any:
        """A schema without listed values that are secrets."""
        changed = copy.deepcopy(schema)
        for path, node in nodes(changed):
            name = path.rpartition(".")[2].rstrip("[]*")
            for key in ("enum", "examples"):
                listed = node.get(key)
                if isinstance(listed, list) and any(
                    self._secret(v) or is_secret(name, v) for v in listed
                ):
                    del node[key]
        return changed

    def _secret(self, value: Json) -> bool:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return self.text(text) != text

    def _unquoted(self, found: re.Match[str]) -> str:
        named = found[2] in self._arguments or found[2].startswith("{")
        return found[0] if named else f"{found[1]}…{found[1]}"


def _insert_argument_name(text: str, name: str, value: Json) -> str:
    """A text with `{name}` where it repeats the value. A short one is also a word or a bound: only where quoted."""
    if (
        isinstance(value, bool)
        or not isinstance(value, str | int | float)
        or not str(value).strip()
    ):
        return text
    spelled = re.escape(str(value))
    pattern = rf"(?<!\w)(){spelled}(?!\w)" if len(str(value)) > _SHORT else rf"(['\"`]){spelled}\1"
    return re.sub(pattern, lambda found: f"{found[1]}{{{name}}}{found[1]}", text)
