"""Drift: what of a tool is not as its protocol says any more, as far as new answers show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import jsonschema_rs

from probing.drift.change import Change, Severity
from probing.drift.refused import refused_changes
from probing.facts import ToolFacts
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ToolProtocol
from protocols.schema import resolve, type_name, types, validator, wrapper_key

_ENOUGH = 3
"""Records without a field that all had, from which it counts as gone."""
_CHANCE = 0.02
"""How likely it may be at most that a field that was not always there is missing by chance."""
_MOST_ENUM = 5

__all__ = ["Change", "Severity", "compare"]


def compare(old: ToolProtocol, facts: ToolFacts) -> list[Change]:
    """What changed, the worst first. `facts` are of new calls alone, each with arguments with which the tool answered
    before, or of which it is known that it should.

    Only what the evidence supports is said: a field that was always there and is in none of three records is gone; one
    that was there now and then must be missing so often that chance does not explain it.
    """
    found = [*refused_changes(old, facts), *_response_changes(old, facts)]
    order: tuple[Severity, ...] = ("breaking", "risky", "harmless")
    return sorted(dict.fromkeys(found), key=lambda change: (order.index(change.severity), change.path, change.kind))


@dataclass
class _At:
    """What was met at one path."""

    objects: int = 0
    answers: set[int] = field(default_factory=set)
    keys: Counter[str] = field(default_factory=Counter)
    values: int = 0
    nulls: int = 0
    types: Counter[str] = field(default_factory=Counter)
    wanted: tuple[str, ...] = ()
    enum: list[Json] = field(default_factory=list)
    formats: Counter[str] = field(default_factory=Counter)
    properties: dict[str, bool] = field(default_factory=dict)
    """Fields that are described → whether they were always there."""
    new: Counter[str] = field(default_factory=Counter)


class _Walk:
    """New answers beside the old schema, place by place."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self.places: dict[str, _At] = {}
        self._answer = 0

    def take(self, response: Json) -> None:
        self._answer += 1
        self._visit(response, self._root, "", {})

    def _visit(self, value: Json, schema: Json, path: str, refs: Mapping[str, str]) -> None:
        """`refs`: the references above → the paths where they came first; what is recursive counts there."""
        if not isinstance(schema, dict) or not schema:
            return
        path, refs = _folded(schema, path, refs)
        view = resolve(schema, self._root)
        options = [*view.get("anyOf", ()), *view.get("oneOf", ())]
        at = self.places.setdefault(path, _At())
        kinds = [types(resolve(option, self._root)) for option in options]
        wanted = types(view) or (tuple(dict.fromkeys(kind for of in kinds for kind in of)) if all(kinds) else ())
        at.values += 1
        at.answers.add(self._answer)
        if not self._fits(value, wanted, at):
            return
        for part in (view, *view.get("allOf", ())):
            self._inside(value, resolve(part, self._root), path, refs)
        if options and isinstance(option := self._option(value, options), dict):
            self._inside(value, resolve(option, self._root), *_folded(option, path, refs))

    def _fits(self, value: Json, wanted: tuple[str, ...], at: _At) -> bool:
        kind = type_name(value)
        if not wanted or kind in wanted or (kind == "integer" and "number" in wanted):
            return True
        if isinstance(value, float) and value.is_integer() and "integer" in wanted:
            return True
        at.wanted = wanted
        if value is None:
            at.nulls += 1
        else:
            at.types[kind] += 1
        return False

    def _inside(self, value: Json, view: JsonObject, path: str, refs: Mapping[str, str]) -> None:
        at = self.places.setdefault(path, _At())
        listed = view["enum"] if "enum" in view else [view["const"]] if "const" in view else None
        if listed is not None and value not in listed and value not in at.enum:
            at.enum.append(value)
        if isinstance(value, str) and isinstance(form := view.get("format"), str) and not _has_form(form, value):
            at.formats[form] += 1
        if isinstance(value, dict):
            self._object(value, view, path, refs)
        elif isinstance(value, list):
            first = view.get("prefixItems", ())
            for place, item in enumerate(value):
                self._visit(item, first[place] if place < len(first) else view.get("items"), f"{path}[]", refs)

    def _object(self, value: JsonObject, view: JsonObject, path: str, refs: Mapping[str, str]) -> None:
        at = self.places[path]
        properties, rest = view.get("properties", {}), view.get("additionalProperties")
        if not properties and rest is not False and not isinstance(rest, dict):
            return  # nothing is described here
        at.objects += 1
        at.properties |= {name: name in view.get("required", ()) for name in properties}
        at.keys.update(value.keys() & properties.keys())
        for name, part in value.items():
            below = f"{path}.{name}".lstrip(".")
            if name in properties:
                self._visit(part, properties[name], below, refs)
            elif isinstance(rest, dict):
                self._visit(part, rest, f"{path}.*".lstrip("."), refs)
            elif "patternProperties" not in view:
                at.new[name] += 1

    def _option(self, value: Json, options: list[Json]) -> Json:
        """The alternative that a value is of: one that it fits, else the one of its type with most of its fields."""
        alike = [option for option in options if self._may_be(value, option)]
        for option in alike:
            with_definitions = {**resolve(option, self._root), "$defs": self._root.get("$defs", {})}
            try:
                if validator(with_definitions).is_valid(value):
                    return option
            except (ValueError, jsonschema_rs.ValidationError):
                continue
        if not isinstance(value, dict):
            return alike[0] if alike else None
        return max(alike, key=lambda option: self._nearness(value, option), default=None)

    def _may_be(self, value: Json, option: Json) -> bool:
        wanted, kind = types(resolve(option, self._root)), type_name(value)
        return not wanted or kind in wanted or (kind == "integer" and "number" in wanted)

    def _nearness(self, value: JsonObject, option: Json) -> tuple[int, int]:
        properties = resolve(option, self._root).get("properties", {})
        told = [name for name, part in properties.items() if isinstance(part, dict) and part.keys() & {"const", "enum"}]
        same = sum(value.get(n) in (properties[n].get("enum") or [properties[n].get("const")]) for n in told)
        return same, len(value.keys() & properties.keys())


def _folded(schema: JsonObject, path: str, refs: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """The path at which a part of the schema is counted, and the references above what is in it."""
    ref = schema.get("$ref")
    if not isinstance(ref, str):
        return path, refs
    first = refs.get(ref, path)
    return first, {**refs, ref: first}


def _response_changes(old: ToolProtocol, facts: ToolFacts) -> Iterator[Change]:
    if old.output_schema is None or not facts.done:
        return
    walk = _Walk(old.output_schema)
    for sample in facts.done:
        walk.take(sample.response)
    for path, at in walk.places.items():
        yield from _value_changes(old.name, path, at)
        for name, always in at.properties.items():
            below = f"{path}.{name}".lstrip(".")
            change = _absence(old, below, at, name, always=always)
            if change is not None:
                yield change
        for name, count in at.new.items():
            below = f"{path}.{name}".lstrip(".")
            lone = not path and wrapper_key(old.output_schema) is not None
            why = (
                "; programs get the one field of such an answer alone until its protocol says otherwise" if lone else ""
            )
            text = f"{below!r} is new, in {count} of {at.objects} records{why}"
            yield Change(old.name, below, "new_field", "risky" if lone else "harmless", text)


def _value_changes(tool: str, path: str, at: _At) -> Iterator[Change]:
    shown = repr(path) if path else "the response"
    if at.types:
        kinds = " or ".join(sorted(at.types))
        slight = set(at.types) == {"number"} and "integer" in at.wanted
        text = f"{shown} is {kinds} in {at.types.total()} of {at.values} places, and was {' or '.join(at.wanted)}"
        everywhere = at.types.total() == at.values
        yield Change(tool, path, "type", "risky" if slight else "breaking", text, everywhere=everywhere)
    if at.nulls:
        text = f"{shown} is null in {at.nulls} of {at.values} places, and never was"
        yield Change(tool, path, "nullable", "risky", text)
    if at.enum:
        names = ", ".join(repr(value) for value in at.enum[:_MOST_ENUM])
        yield Change(tool, path, "enum", "risky", f"{shown} has values that it did not have: {names}", tuple(at.enum))
    for form, count in at.formats.items():
        yield Change(tool, path, "format", "risky", f"{shown} is no {form} in {count} of {at.values} places")


def _absence(old: ToolProtocol, path: str, at: _At, name: str, *, always: bool) -> Change | None:
    there = at.keys[name]
    if there == at.objects:
        return None
    if always:
        before = (
            f"it was in all of {old.evidence.observations} answers"
            if old.evidence.observations
            else "it was always there"
        )
        if there:
            text = f"{path!r} is missing in {at.objects - there} of {at.objects} records; {before}"
            return Change(old.name, path, "optional", "risky", text)
        severity: Severity = "breaking" if at.objects >= _ENOUGH else "risky"
        return Change(old.name, path, "removed", severity, f"{path!r} is in none of {at.objects} records; {before}")
    parent = path.rpartition(".")[0]
    seen = old.evidence.fields.get(path, 0)
    of = old.evidence.fields.get(parent.removesuffix("[]"), old.evidence.observations) or old.evidence.observations
    if there or not seen or not of or (1 - min(seen / of, 1)) ** len(at.answers) > _CHANCE:
        return None
    text = f"{path!r} is in none of {len(at.answers)} answers; it was in {seen} of {of}"
    return Change(old.name, path, "removed", "risky", text)


@lru_cache(maxsize=64)
def _form(name: str) -> jsonschema_rs.Draft202012Validator:
    return validator({"type": "string", "format": name})


def _has_form(name: str, value: str) -> bool:
    return bool(_form(name).is_valid(value))
