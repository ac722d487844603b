"""The JSON Schema of a tool's arguments: what was declared, what replies told, what was accepted.

The law: the arguments of every call that was done conform. A declared clause that a done call breaks is widened or
dropped; a hint that one contradicts is not taken. What nobody told stays open.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from probing.argument_clauses import clauses_of, type_list
from probing.facts import ArgumentFacts, ToolFacts
from probing.pages import sizes_pages, usual_length
from probing.sample import Sample
from probing.shape import text_of
from protocols.jsontypes import Json, JsonObject
from protocols.schema import first_error, resolve, type_name, validator

_EXAMPLES = 3
_REPAIRS = 60


def input_schema(facts: ToolFacts) -> dict[str, Any]:
    """JSON Schema 2020-12 of the arguments, an object.

    An argument is required where the facts say so and no done call lacks it; where nothing tells, it is not. Rules
    about several arguments stand as `dependentRequired`, `not` and `anyOf`, and in words in `description`. Examples are
    values as they were sent: whoever stores the schema redacts them.
    """
    root = copy.deepcopy(dict(facts.protocol.input_schema))
    properties = {name: _property(facts, argument, root) for name, argument in _kept(facts)}
    schema: dict[str, Any] = {**root, "type": "object", "properties": properties}
    required = [name for name in properties if _required(facts, facts.arguments[name])]
    schema.pop("required", None)
    if required:
        schema["required"] = required
    _relate(schema, facts, properties)
    return _lawful(schema, facts.done)


def _kept(facts: ToolFacts) -> Iterator[tuple[str, ArgumentFacts]]:
    """All arguments but those that the tool says it does not know."""
    for name, argument in facts.arguments.items():
        strange = any(hint.kind == "unknown" for hint in argument.hints)
        if argument.accepted or not strange or argument.place == "path":
            yield name, argument


def _property(facts: ToolFacts, argument: ArgumentFacts, root: JsonObject) -> dict[str, Any]:
    declared = copy.deepcopy(dict(argument.declared))
    accepted = [held.value for held in argument.accepted]
    schema = _widened(declared, accepted, root)
    top = resolve(schema, root)
    for keyword, value in clauses_of(argument).items():
        if keyword not in top and not (keyword == "type" and top.keys() & {"anyOf", "oneOf", "allOf", "enum", "const"}):
            schema[keyword] = value
    if "default" not in top:
        found, default = _default(facts, argument)
        if found and validator({**_beside(root), "allOf": [schema]}).is_valid(default):
            schema["default"] = default
    if "examples" not in top and "example" not in top and (shown := _examples(facts, argument.name)):
        schema["examples"] = shown
    return schema


def _examples(facts: ToolFacts, name: str) -> list[Json]:
    """Values of calls that were made to be done, first those whose response said something."""
    fruitful = {sample.number for sample in facts.fruitful}
    meant = [sample for sample in facts.done if sample.purpose != "refuse" and name in sample.arguments]
    meant.sort(key=lambda sample: (sample.number not in fruitful, sample.number))
    return list({repr(value): value for sample in meant for value in [sample.arguments[name].value]}.values())[
        :_EXAMPLES
    ]


def _widened(declared: dict[str, Any], accepted: Sequence[Json], root: JsonObject) -> dict[str, Any]:
    """A declared schema that allows all that was accepted: what contradicts a value is widened, else dropped."""
    try:
        validator({**_beside(root), "allOf": [declared]})
    except (ValueError, RecursionError):
        return {key: declared[key] for key in ("title", "description") if isinstance(declared.get(key), str)}
    for value in accepted:
        for _ in range(len(declared) + 1):
            broken = _first_broken({**_beside(root), **declared}, value)
            if broken is None:
                break
            declared = _without(dict(resolve(declared, root)), broken, value)
    return declared


def _first_broken(schema: JsonObject, value: Json) -> str | None:
    error = first_error(validator(schema), value)
    if error is None:
        return None
    return str(next(iter(error.schema_path), "not"))


def _without(schema: dict[str, Any], keyword: str, value: Json) -> dict[str, Any]:
    if keyword == "type" and "type" in schema:
        schema["type"] = type_list([*_listed(schema["type"]), type_name(value)])
    elif keyword == "enum" and isinstance(schema.get("enum"), list):
        schema["enum"] = [*schema["enum"], value]
    elif keyword in schema:
        del schema[keyword]
    else:
        schema = {key: schema[key] for key in ("title", "description") if key in schema}
    return schema


def _beside(root: JsonObject) -> dict[str, Any]:
    """What references of an argument's schema point into."""
    return {key: root[key] for key in ("$defs", "definitions") if key in root}


def _required(facts: ToolFacts, argument: ArgumentFacts) -> bool:
    return argument.required is True and all(argument.name in sample.arguments for sample in facts.done)


def _default(facts: ToolFacts, argument: ArgumentFacts) -> tuple[bool, Json]:
    """The value that stands in for an absent argument: as a reply told, as pages are long, or as responses echo it."""
    told = [hint.values[0] for hint in argument.hints if hint.kind == "default" and hint.values]
    if told:
        return True, told[-1]
    if sizes_pages(argument.name) and (length := usual_length(facts, argument.name)) is not None:
        return True, length
    absent = [_scalars(sample.response) for sample in facts.done if argument.name not in sample.arguments]
    given = [
        (held.value, _scalars(sample.response))
        for sample in facts.done
        if (held := sample.arguments.get(argument.name)) is not None
    ]
    if not absent or not given:
        return False, None
    for path in absent[0]:
        if path[-1].lower() != argument.name.lower() or not all(path in fields for fields in absent):
            continue
        values = {repr(fields[path]) for fields in absent}
        default = absent[0][path]
        echoed = all(path in fields and text_of(fields[path]) == text_of(sent) for sent, fields in given)
        if (
            len(values) == 1
            and default is not None
            and echoed
            and any(text_of(s) != text_of(default) for s, _ in given)
        ):
            return True, default
    return False, None


def _scalars(response: Json, path: tuple[str, ...] = (), depth: int = 4) -> dict[tuple[str, ...], Json]:
    """The scalars of a response that stand in no list, by path."""
    if not isinstance(response, Mapping) or depth == 0:
        return {}
    found: dict[tuple[str, ...], Json] = {}
    for key, value in list(response.items())[:200]:
        if isinstance(value, Mapping):
            found |= _scalars(value, (*path, str(key)), depth - 1)
        elif not isinstance(value, list):
            found[(*path, str(key))] = value
    return found


def _relate(schema: dict[str, Any], facts: ToolFacts, properties: Mapping[str, Any]) -> None:
    """Rules about several arguments that no done call breaks."""
    needed: dict[str, list[str]] = {}
    apart: list[tuple[str, str]] = []
    for name in properties:
        for hint in facts.arguments[name].hints:
            for other in hint.others:
                if other not in properties or other == name:
                    continue
                if hint.kind == "together" and other not in needed.get(name, ()):
                    needed.setdefault(name, []).append(other)
                elif hint.kind == "exclusive" and (other, name) not in apart and (name, other) not in apart:
                    apart.append((name, other))
    calls = [sample.plain.keys() for sample in facts.done]
    sets = {
        frozenset(hint.others): hint.others
        for said in facts.said.values()
        for hint in said
        if hint.kind == "any_of" and set(hint.others) <= properties.keys()
    }
    one_of = [others for others in sets.values() if all(call & set(others) for call in calls)]
    needed = {name: kept for name, others in needed.items() if (kept := [o for o in others if _holds(calls, name, o)])}
    apart = [(one, other) for one, other in apart if not any(one in call and other in call for call in calls)]
    sentences = [f"At least one of {_and(others)} is given." for others in one_of]
    sentences += [f"{name!r} is given only with {_and(others)}." for name, others in needed.items()]
    sentences += [f"{one!r} and {other!r} are not given together." for one, other in apart]
    if one_of and "anyOf" not in schema:
        schema["anyOf"] = [{"required": [name]} for name in one_of[0]]
    if needed:
        schema["dependentRequired"] = {**needed, **schema.get("dependentRequired", {})}
    if apart and "not" not in schema:
        pairs = [{"required": [one, other]} for one, other in apart]
        schema["not"] = pairs[0] if len(pairs) == 1 else {"anyOf": pairs}
    if sentences:
        schema["description"] = " ".join(filter(None, [schema.get("description", ""), *sentences]))


def _holds(calls: Sequence[Any], name: str, other: str) -> bool:
    return all(other in call for call in calls if name in call)


def _and(names: Sequence[str]) -> str:
    return " and ".join(repr(name) for name in names)


def _lawful(schema: dict[str, Any], done: Sequence[Sample]) -> dict[str, Any]:
    """The schema without the clauses that the arguments of a done call break.

    Only what was declared at the top is left to be found here, and clauses that are true of each part and not of all.
    """
    for sample in done:
        for _ in range(_REPAIRS):
            error = first_error(validator(schema), sample.plain)
            if error is None:
                break
            path = [str(step) for step in error.schema_path]
            if path[:1] == ["properties"] and len(path) > 2 and path[1] in schema["properties"]:
                child = resolve(schema["properties"][path[1]], schema)
                schema["properties"][path[1]] = _without(dict(child), path[2], sample.plain.get(path[1]))
            elif path and path[0] in schema and path[0] not in ("type", "properties"):
                del schema[path[0]]
            else:
                schema = {"type": "object", "properties": {name: {} for name in schema["properties"]}}
    return schema


def _listed(value: Json) -> list[str]:
    return [value] if isinstance(value, str) else [str(item) for item in value]
