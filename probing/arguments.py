"""The JSON Schema of a tool's arguments: what was declared, what replies told, what was accepted.

The law: the arguments of every call that was done conform. A declared clause that a done call breaks is widened or
dropped; a hint that one contradicts is not taken. What probing made up never becomes a type, an example or a format;
what nobody told stays open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from probing.facts import TEXT_PLACES, ArgumentFacts, ToolFacts
from probing.infer import conforms, one_or_all, relaxed
from probing.invent import clauses, number_of
from probing.names import common_format, text_of
from protocols.jsontypes import Json, JsonObject
from protocols.schema import resolve, type_name

_EXAMPLES, _SEVERAL = 3, 3
_OURS = ("generated", "model")
NOBODYS = frozenset({"given", "enum", "error", "generated"})
"""Origins of values that are nobody's data: the tool's own description and replies, and what we made up."""
_NUMERIC = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})


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
    if not top.keys() & {"examples", "example"} and (shown := _examples(facts, argument.name, keep_values=keep_values)):
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


def _examples(facts: ToolFacts, name: str, *, keep_values: bool) -> list[Json]:
    """Values of calls that were made to be done, first those whose response said something."""
    fruitful = {sample.number for sample in facts.fruitful}
    meant = [sample for sample in facts.done if sample.purpose != "refuse" and name in sample.arguments]
    meant.sort(key=lambda sample: (sample.number not in fruitful, sample.number))
    values = list({repr(held.value): held for held in (sample.arguments[name] for sample in meant)}.values())[
        :_EXAMPLES
    ]
    return [held.value for held in values if keep_values or held.origin.kind in NOBODYS]
