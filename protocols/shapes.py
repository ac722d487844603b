"""Renders JSON Schemas as Python types: TypedDicts and annotations, with comments on fields."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain, count, islice, takewhile
from typing import Any

from protocols.file_schemas import is_file
from protocols.naming import singular
from protocols.schema import (
    GUESSED_TYPE,
    Json,
    JsonObject,
    as_mapping,
    resolve,
    scalar_schema,
    types,
)
from protocols.schema_intersection import intersect_schemas
from protocols.truncate import first_sentences

_MOST_SCHEMAS = 10_000  # in one set of stubs; further ones become `Any`
_MOST_LAYERS = 100  # schemas merged from `allOf`
_DEEPEST = 40  # levels of nested schemas
_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_FORMATS = {
    "date": "YYYY-MM-DD",
    "date-time": "ISO 8601 date and time",
    "time": "HH:MM:SS",
    "uri": "URL",
    "email": "e-mail",
    "duration": "ISO 8601 duration",
    "byte": "base64",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """Level of detail of a tool's stub, that is, of its Python signature with a docstring.

    Objects that are nested deeper than `depth` levels are shown as `dict`, without their fields.
    """

    depth: int = 3
    comments: bool = True
    """True if arguments and response fields have comments with their descriptions."""
    comment_characters: int = 90
    most_values: int = 12
    """A longer enumeration is not listed."""
    through_lists: bool = False
    """True if an object that only wraps a list of records does not count as a level.

    The records are then shown with their fields.
    """


Fields = dict[str, tuple[str, str]]
"""The fields of a TypedDict, keyed by name: Python type, and "may be absent" or ""."""


@dataclass
class Shapes:
    """The TypedDicts for a set of stubs. Equal types share one name."""

    detail: Detail
    typed_dicts: dict[str, Fields] = field(default_factory=dict)
    """The TypedDicts by name, in the order of first use, inner types first."""
    descriptions: dict[str, str] = field(default_factory=dict)
    """The first description of a field with this name, as the schema has it."""
    declarations: list[str] = field(default_factory=list)
    """Source code of the TypedDicts, in the order of first use, inner types first."""
    _open: dict[int, str] = field(default_factory=dict)
    """Names of the types that are being rendered, keyed by the `id()` of their properties."""
    _said: set[tuple[str, str]] = field(default_factory=set)
    _left: int = _MOST_SCHEMAS
    _depth: int = 0

    def note(self, name: str, schema: JsonObject, root: JsonObject, origin: str = "") -> str:
        """Return the comment for an argument or a field.

        `origin` is an expression that gets a value for an argument, or "". Return "" if a field or
        argument of this name had the same comment before.
        """
        if not self.detail.comments:
            return ""
        text = first_sentences(str(schema.get("description", "")), self.detail.comment_characters)
        wanted = "content of a file" if is_file(schema, root) else _format_words(schema, root)
        note = f"{text} ({wanted})" if text and wanted and wanted not in text else text or wanted
        if (
            origin
            and origin.split("(")[0].removeprefix("perhaps ").removeprefix("from ") not in note
        ):
            note = "; ".join(filter(None, (note.rstrip("."), origin)))
        if (name, note) in self._said:
            return ""
        self._said.add((name, note))
        return note

    def annotation(self, schema: Json, root: JsonObject, *, hint: str, level: int = 0) -> str:
        """Return the Python type of a schema.

        Objects with known keys become TypedDicts named after `hint`. References are resolved in
        `root`. `level` is the number of objects around this one.
        """
        self._left -= 1
        if self._left < 0 or self._depth >= _DEEPEST:
            return "Any"
        self._depth += 1
        top = resolve(schema, root)
        top = as_mapping(top.get(GUESSED_TYPE)) or top
        alternatives = next((top[key] for key in ("anyOf", "oneOf") if key in top), None)
        if alternatives is None:
            top = reduce(intersect_schemas, islice(_layers(top, root), _MOST_LAYERS))
        values = top.get("enum", [top["const"]] if "const" in top else [])
        if alternatives is not None:
            kinds = [self.annotation(one, root, hint=hint, level=level) for one in alternatives]
        elif 0 < len(values) <= self.detail.most_values:
            kinds = [f"Literal[{', '.join(map(repr, values))}]"]
        else:
            kinds = [
                self._annotation_of_type(name, top, root, hint=hint, level=level)
                for name in types(top)
            ]
        self._depth -= 1
        return " | ".join(sorted(dict.fromkeys(kinds), key=lambda kind: kind == "None")) or "Any"

    def _annotation_of_type(
        self, type_name: str, schema: JsonObject, root: JsonObject, *, hint: str, level: int
    ) -> str:
        """Return the Python type for the values of one JSON type that a schema allows."""
        if type_name == "array":
            return self._annotation_of_array(schema, root, hint=hint, level=level)
        if type_name != "object":
            return _SCALARS.get(type_name, "Any")
        properties: Mapping[str, Any] = schema.get("properties", {})
        if not properties:
            values = schema.get("additionalProperties")
            if not isinstance(values, Mapping) or not values:
                return "dict"
            return f"dict[str, {self.annotation(values, root, hint=singular(hint), level=level)}]"
        name = _class_name(str(schema.get("title") or hint))
        if id(properties) in self._open:  # a recursive type refers to itself by name
            return self._open[id(properties)]
        if level >= self.detail.depth:
            return "dict"
        self._open[id(properties)] = name
        required = schema.get("required", ())
        below = (
            level if self.detail.through_lists and _wraps_a_list(properties, root) else level + 1
        )
        fields = {
            key: (
                self.annotation(child, root, hint=key, level=below),
                "" if key in required else "may be absent",
            )
            for key, child in properties.items()
        }
        del self._open[id(properties)]
        return self._declare(name, fields, schema, root)

    def _annotation_of_array(
        self, schema: JsonObject, root: JsonObject, *, hint: str, level: int
    ) -> str:
        """Return the Python type of an array schema."""
        if first := schema.get("prefixItems"):
            items = (self.annotation(part, root, hint=hint, level=level) for part in first)
            return f"list[{', '.join(items)}]"
        if "items" not in schema:
            return "list"
        return f"list[{self.annotation(schema['items'], root, hint=singular(hint), level=level)}]"

    def _declare(self, name: str, fields: Fields, schema: JsonObject, root: JsonObject) -> str:
        """Return the name of the TypedDict with these fields, which is declared if necessary."""
        names = chain([name], (f"{name}{number}" for number in count(2)))
        own = list(takewhile(self.typed_dicts.__contains__, names))
        # Equal shapes of two components keep both their names.
        for one in own if "title" in schema else self.typed_dicts:
            if self.typed_dicts[one] == fields:
                return one
        chosen = f"{name}{len(own) + 1}" if own else name
        self.typed_dicts[chosen] = fields
        # A class body cannot have keys that are not identifiers; then TypedDict is called.
        plain = all(key.isidentifier() and not keyword.iskeyword(key) for key in fields)
        lines = []
        for key, (kind, absent) in fields.items():
            described = resolve(schema["properties"][key], root)
            self.descriptions.setdefault(key, str(described.get("description", "")))
            kind = re.sub(rf"(?<![^\[ ]){name}(?![^\] ])", chosen, kind)
            line = f"    {key}: {kind}" if plain else f"    {json.dumps(key)}: {kind},"
            notes = filter(None, (self.note(key, described, root), absent))
            lines.append("  # ".join(filter(None, (line, "; ".join(notes)))))
        body = "\n".join(lines)
        call = f'{chosen} = TypedDict("{chosen}", {{\n{body}\n}})'
        self.declarations.append(f"class {chosen}(TypedDict):\n{body}" if plain else call)
        return chosen


def _format_words(schema: JsonObject, root: JsonObject) -> str:
    """Return words for the format of a value, or for its formats if it has several, or ""."""
    described = scalar_schema(schema, root)
    options = [resolve(one, root) for one in described.get("anyOf", ())] or [described]
    words = [_FORMATS.get(str(one.get("format")), "") for one in options]
    return " or ".join(words) if all(words) else ""


def _layers(schema: Json, root: JsonObject, depth: int = 0) -> Iterator[JsonObject]:
    """Yield the schemas in `allOf`, at any depth, and then `schema` without its `allOf`.

    A value must conform to all of them.
    """
    top = resolve(schema, root)
    for part in top.get("allOf", ()) if depth < _DEEPEST else ():
        yield from _layers(part, root, depth + 1)
    yield {key: part for key, part in top.items() if key != "allOf"}


def _wraps_a_list(properties: Mapping[str, Any], root: JsonObject) -> bool:
    """Return True if one field of an object is a list of records and no other field has records."""
    inner = [resolve(part, root) for part in properties.values()]
    lists = [
        part
        for part in inner
        if "array" in types(part) and "object" in types(resolve(part.get("items"), root))
    ]
    return len(lists) == 1 and not any(
        "object" in types(part) or len(part.get("anyOf", ())) > 2 for part in inner
    )


def with_file(annotation: str) -> str:
    """Return the Python type of an argument that is sent as text and may also be a file."""
    return re.sub(r"\bstr\b", "File | str", annotation, count=1)


def _class_name(text: str) -> str:
    """Return a class name made of the words of a text."""
    words = re.findall(r"[A-Za-z0-9]+", text)
    name = "".join(word[:1].upper() + word[1:] for word in words) or "Shape"
    name = "FileRecord" if name == "File" else name  # `File` is a class of programs
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"Shape{name}"
