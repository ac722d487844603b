"""Protocol documenting (ATC paper, §4.1): what was learned of a tool, as its protocol, with shapes and no private
values.

What a document declared before stays as it is; what calls showed is added, and says so. The law of arguments: those of
every call that was done conform. A declared clause that a done call breaks is widened or dropped; a hint that one
contradicts is not taken. What probing made up never becomes a type, an example or a format.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from probing.facts import TEXT_PLACES, ArgumentFacts, ToolFacts
from probing.infer import conforms, count_fields, infer, nodes, one_or_all, relaxed
from probing.invent import clauses, number_of
from probing.links import ObservedLink
from probing.names import common_format, text_of
from probing.probe import Probed
from probing.samples import Sample, Value
from probing.teacher import Words
from probing.writes import effects_of
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ErrorOutcome, Evidence, Example, ToolProtocol
from protocols.reply import one_line
from protocols.schema import resolve, type_name
from protocols.secrets import (
    conceals_nothing,
    covered,
    fits,
    kind_of,
    placeholder,
    secrets_of,
    spellings,
    with_parts,
    within,
)

MOST_SENTENCES = 3
_LONGEST_WORDS = 160
_SHORTEST, _SHORT = 4, 2
"""Characters from which a secret is looked for in other texts, and an argument's value unquoted: less is a word."""
_LISTED, _LONGEST = 2, 200
"""Elements of a list, and characters of a text, that an example shows."""
_HOLD_VALUES = ("enum", "const", "examples", "example", "default", "pattern")
_QUOTED = re.compile(r"(?<!\w)(['\"`])([^'\"`]{1,80})\1")
_EXAMPLES, _SEVERAL = 3, 3
_OURS = ("generated", "model")
NOBODYS = frozenset({"given", "enum", "error", "generated"})
"""Origins of values that are nobody's data: the tool's own description and replies, and what we made up."""
_NUMERIC = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})


def protocols_of(probed: Probed, *, keep_values: bool = False) -> dict[str, ToolProtocol]:
    """The protocol of each tool, by name."""
    words = probed.words
    return {name: document(facts, links=probed.links, words=words.get(name), keep_values=keep_values)
            for name, facts in probed.facts.items()}  # fmt: skip


def document(
    facts: ToolFacts,
    *,
    links: Sequence[ObservedLink] = (),
    words: Words | None = None,
    keep_values: bool = False,
) -> ToolProtocol:
    """The protocol of a probed tool.

    `links` may be those of all tools. Values of calls are shown as placeholders, or as they are with `keep_values`;
    secrets never. Of a tool that gave no response the protocol says what was declared, and how it refused.
    """
    protocol, known = facts.protocol, words or Words()
    telling = Telling(facts, keep_values=keep_values)
    output, evidence = protocol.output_schema, protocol.evidence
    if facts.done:
        replies = [sample.response for sample in facts.done]
        found = infer(replies, protocol.output_schema)
        output = telling.schema(found, declared=protocol.output_schema)
        evidence = Evidence(level="observed", observations=len(replies), fields=count_fields(found, replies))
    arguments = telling.schema(input_schema(facts, keep_values=keep_values), declared=protocol.input_schema)
    telling.show(arguments, output)
    declared = {(link.argument, link.tool, link.path): link for link in protocol.links if link.support == "declared"}
    shown = {(o.link.argument, o.link.tool, o.link.path): o.link for o in links if o.consumer == protocol.name}
    return replace(
        protocol,
        description=protocol.description or telling.text(known.description),
        input_schema=_described(arguments, {name: telling.text(text) for name, text in known.arguments.items()}),
        output_schema=_described(output, {path: telling.text(text) for path, text in known.fields.items()}),
        annotations=effects_of(protocol)[0],
        errors=_outcomes(facts, telling),
        examples=(*protocol.examples, *_examples(facts, telling)),
        links=tuple({**declared, **shown, **declared}.values()),
        evidence=evidence,
    )


def _examples(facts: ToolFacts, telling: Telling) -> Iterator[Example]:
    """The shortest call that answered, and the one with most arguments."""
    # A wrong value that was sent on purpose and taken all the same is no example to follow.
    good = [sample for sample in facts.fruitful or facts.done if sample.purpose != "refuse"] or list(facts.done)
    good.sort(key=lambda sample: (len(sample.arguments), sample.number))
    for sample in {sample.number: sample for sample in (*good[:1], *good[-1:])}.values():
        shown, result = telling.arguments(sample.arguments), telling.result(sample.response)
        yield Example(question="", program="", arguments=shown, result=result)


def _described(schema: JsonObject | None, texts: Mapping[str, str]) -> Any:
    """`schema` with a description at each path (`airports[].code`) that has none."""
    if schema is None or not texts:
        return schema
    changed = copy.deepcopy(dict(schema))
    for path, node in nodes(changed):
        if texts.get(path) and not node.get("description"):
            node["description"] = texts[path]
    return changed


def status_of(sample: Sample) -> str | None:
    """Under which status a sample's outcome is documented; `default` for a refusal without one (an exception).

    `None` for a success, and for what says nothing of the tool: no answer, an answer that could not be read.
    """
    if sample.done or sample.outcome == "not_run":
        return None
    if sample.status is None:
        return "default" if sample.outcome == "refused" else None
    return str(sample.status) if sample.status >= 300 else None


def _outcomes(facts: ToolFacts, telling: Telling) -> tuple[ErrorOutcome, ...]:
    """Declared outcomes first, in their order, then those seen by status; what was declared is kept."""
    seen: dict[str, list[Sample]] = {}
    for sample in facts.samples:
        if status := status_of(sample):
            seen.setdefault(status, []).append(sample)
    found = {outcome.status: outcome for outcome in facts.protocol.errors}
    for status, samples in sorted(seen.items()):
        known = found.get(status, ErrorOutcome(status=status))
        words = (telling.words(sample.error, sample.arguments) for sample in samples if sample.error)
        said = list(dict.fromkeys(one_line(text, limit=_LONGEST_WORDS).rstrip(".") for text in words))[:MOST_SENTENCES]
        verb = "It raises" if status == "default" else "The reply says" if len(said) == 1 else "Replies say"
        told = f"{verb} {'; '.join(f'“{text}”' for text in said)}." if said else ""
        found[status] = replace(known, description=known.description or told)
    return tuple(found.values())


def input_schema(facts: ToolFacts, *, keep_values: bool = True) -> dict[str, Any]:
    """JSON Schema 2020-12 of the arguments, an object.

    An argument is required where the facts say so and no done call lacks it; where nothing tells, it is not. Examples
    are values that were accepted; without `keep_values` those alone that are nobody's data.
    """
    calls = [sample.plain for sample in facts.done]
    known = {n: a for n, a in facts.arguments.items() if a.place == "path" or not a.unknown}
    declared = {name: dict(argument.declared) for name, argument in known.items()}
    bare = {key: part for key, part in facts.protocol.input_schema.items() if key != "required"}
    schema = relaxed({**bare, "type": "object", "properties": declared}, calls)
    schema = {"type": "object", "properties": {name: {} for name in known}} if schema is None else schema
    schema["properties"] = {
        name: _property(facts, argument, schema, keep_values=keep_values) for name, argument in known.items()
    }
    required = [n for n, a in known.items() if a.required and all(n in call for call in calls)]
    if required:
        schema["required"] = required
    return relaxed(schema, calls) or {"type": "object", "properties": {name: {} for name in known}}


def _property(facts: ToolFacts, argument: ArgumentFacts, root: JsonObject, *, keep_values: bool) -> dict[str, Any]:
    accepted = [held.value for held in argument.accepted]
    schema = dict(root["properties"].get(argument.name, {}))
    top = resolve(schema, root)
    found: dict[str, Any] = {}
    for clause in clauses(argument):
        if _allows(clause, accepted, argument):
            found |= clause
        elif "type" in clause:
            kinds = [clause["type"]] if isinstance(clause["type"], str) else clause["type"]
            found["type"] = one_or_all([*kinds, *map(type_name, accepted)])
    if "type" not in found and (kinds := _types(argument, found)):
        found["type"] = one_or_all(kinds)
    real = [value for value in argument.accepted if value.origin.kind not in _OURS]
    if not found.keys() & {"format", "enum"} and len(real) >= _SEVERAL and all(isinstance(v, str) for v in accepted):
        found |= {"format": form} if (form := common_format(accepted)) else {}
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
        return made if any(number_of(text_of(held.value)) is None for held in argument.refused) else []
    # A number sent as text may be any text; a word in letters was none.
    return ["string"] if kinds == {"string"} and all(number_of(value) is None for value in real) else []


def _allows(clause: dict[str, Any], accepted: Sequence[Json], argument: ArgumentFacts) -> bool:
    """Whether all accepted values conform; in a URL `5` and `"5"` are the same."""
    as_text = argument.place in TEXT_PLACES
    if "enum" in clause and as_text:
        return {text_of(v) for v in accepted if not isinstance(v, list | dict)} <= set(map(text_of, clause["enum"]))
    for value in accepted:
        forms = [value]
        if clause.keys() & _NUMERIC and (number := number_of(value)) is not None:
            forms = [number]
        elif as_text and not isinstance(value, list | dict):
            of = [text_of(value)] if "type" not in clause else [value, text_of(value), number_of(text_of(value))]
            forms = [*of, {"true": True, "false": False, "1": True, "0": False}.get(text_of(value).lower())]
        if not any(form is not None and conforms(clause, form) for form in forms) and value is not None:
            return False
    return True


def _shown_values(facts: ToolFacts, name: str, *, keep_values: bool) -> list[Json]:
    """Values of calls that were made to be done, first those whose response said something."""
    fruitful = {sample.number for sample in facts.fruitful}
    meant = [sample for sample in facts.done if sample.purpose != "refuse" and name in sample.arguments]
    meant.sort(key=lambda sample: (sample.number not in fruitful, sample.number))
    values = list({repr(held.value): held for held in (sample.arguments[name] for sample in meant)}.values())[
        :_EXAMPLES
    ]
    return [held.value for held in values if keep_values or held.origin.kind in NOBODYS]


class Telling:
    """Values and texts of one tool as a document may show them.

    Without `keep_values` each value of an argument becomes a placeholder of its type and length, and no result is
    shown. Kept are values that the schema lists, and arguments that are nobody's data. A secret is replaced in either
    case, by the same placeholder wherever it stands.
    """

    def __init__(self, facts: ToolFacts, *, keep_values: bool) -> None:
        self._keep, self._facts = keep_values, facts
        self._input, self._output = facts.protocol.input_schema, facts.protocol.output_schema
        self._marks: dict[str, str] = {}
        self._listed: set[str] = set()
        self._secrets: dict[str, str] = {}
        for sample in facts.samples:
            self._learn([*secrets_of(sample.plain, self._input), *secrets_of(sample.response, self._output)])
            self._learn([*within(sample.error), *within(sample.answer or "")])

    def show(self, *schemas: JsonObject | None) -> None:
        """Take the schemas whose listed values may be shown."""
        for schema in schemas:
            self._listed |= _held(schema)

    def text(self, text: str) -> str:
        """A text without secrets."""
        self._learn(list(within(text)))
        for spelled, instead in self._secrets.items():
            text = text.replace(spelled, instead)
        return text

    def words(self, text: str, arguments: Mapping[str, Value]) -> str:
        """A tool's own words, with `{name}` for what they repeat of the arguments, and `…` for other quoted values."""
        for name, given in sorted(arguments.items(), key=lambda pair: -len(str(pair[1].value))):
            text = _named(text, name, given.value)
        text = self.text(text)
        return text if self._keep else _QUOTED.sub(self._unquoted, text)

    def arguments(self, arguments: Mapping[str, Value]) -> dict[str, Json]:
        """The arguments of an example."""
        shown: dict[str, Json] = {}
        for name, value in arguments.items():
            if self._keep or value.origin.kind in NOBODYS:
                shown |= covered({name: value.value}, self._input, self._secret, rest=self._rest)
            else:
                shown |= covered({name: _shortened(value.value)}, self._input, self._secret, rest=self._hidden)
        return shown

    def result(self, response: Json) -> Json:
        """The result of an example: long lists and texts cut; None where values are not kept."""
        return covered(_shortened(response), self._output, self._secret, rest=self._rest) if self._keep else None

    def schema(self, schema: Json, *, declared: JsonObject | None) -> Any:
        """An inferred schema without the values of secrets; what is declared may stand."""
        declares, changed = _held(declared), copy.deepcopy(schema)
        for path, node in nodes(changed):
            name = path.rpartition(".")[2].rstrip("[]*")
            for key in [key for key in _HOLD_VALUES if key in node]:
                if not set(_texts(node[key])) <= declares and self._tells(node[key], name):
                    del node[key]
        return changed

    def _tells(self, values: Json, name: str) -> bool:
        kind = kind_of(name)
        leaves = values if isinstance(values, list) else [values]
        return any((kind is not None and fits(kind, leaf)) or self.text(str(leaf)) != str(leaf) for leaf in leaves)

    def _learn(self, secrets: Collection[Json]) -> None:
        real = (secret for secret in secrets if len(str(secret)) >= _SHORTEST and not conceals_nothing(str(secret)))
        new = [(spelled, one) for one in real for spelled in spellings(str(one)) if spelled not in self._secrets]
        if new:
            self._secrets |= {spelled: self._placeholder(secret) for spelled, secret in new}
            self._secrets = dict(sorted(self._secrets.items(), key=lambda pair: (-len(pair[0]), pair[0])))

    def _secret(self, leaf: Json) -> Json:
        if isinstance(leaf, str) and conceals_nothing(leaf):
            return leaf
        self._learn(with_parts(leaf))
        return self._placeholder(leaf)

    def _rest(self, leaf: Json) -> Json:
        return self.text(leaf) if isinstance(leaf, str) else leaf

    def _hidden(self, leaf: Json) -> Json:
        return (
            leaf
            if leaf is None or isinstance(leaf, bool) or leaf == "" or leaf in self._listed
            else self._placeholder(leaf)
        )

    def _placeholder(self, value: Json) -> str:
        mark = self._marks.setdefault(f"{type(value).__name__} {value}", f"e{len(self._marks) + 1}")
        return placeholder(value, mark)

    def _unquoted(self, found: re.Match[str]) -> str:
        named = found[2] in self._facts.arguments or found[2] in self._listed or found[2].startswith("{")
        return found[0] if named else f"{found[1]}…{found[1]}"


def _named(text: str, name: str, value: Json) -> str:
    """A text with `{name}` where it repeats the value. A short one is also a word or a bound: only where quoted."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        return text
    spelled = re.escape(str(value))
    pattern = rf"(?<!\w)(){spelled}(?!\w)" if len(str(value)) > _SHORT else rf"(['\"`]){spelled}\1"
    return re.sub(pattern, lambda found: f"{found[1]}{{{name}}}{found[1]}", text)


def _shortened(node: Json) -> Json:
    if isinstance(node, Mapping):
        return {name: _shortened(part) for name, part in node.items()}
    if isinstance(node, list):
        return [_shortened(part) for part in node[:_LISTED]]
    return f"{node[: _LONGEST - 1]}…" if isinstance(node, str) and len(node) > _LONGEST else node


def _held(schema: JsonObject | None) -> set[str]:
    """The values that a schema lists anywhere."""
    return {text for _, node in nodes(schema) for key in _HOLD_VALUES if key in node for text in _texts(node[key])}


def _texts(value: Json) -> Iterator[str]:
    for leaf in value if isinstance(value, list) else [value]:
        if isinstance(leaf, str | int | float):
            yield str(leaf)
