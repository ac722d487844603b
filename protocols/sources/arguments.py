"""An operation's parameters and body → one object of named arguments, and where each goes; Swagger 2's in 3's terms."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from protocols.alias import free_alias
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Location
from protocols.schema import resolve, types
from protocols.sources.schemas import Schemas

_NOT_ARGUMENTS = {"accept", "content-type", "authorization"}  # OpenAPI: such parameters shall be ignored
_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
_PLAIN_OBJECT = {
    "type", "properties", "required", "title", "description", "additionalProperties", "examples", "default",
}  # fmt: skip
_FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")
_BESIDE_SCHEMA = {
    "name", "in", "required", "schema", "style", "explode", "collectionFormat", "allowEmptyValue", "description",
    "content", "examples",
}  # fmt: skip
_STYLES: dict[str, dict[str, Any]] = {
    "multi": {"style": "form", "explode": True},
    "ssv": {"style": "spaceDelimited", "explode": False},
    "pipes": {"style": "pipeDelimited", "explode": False},
    "tsv": {"style": "tabDelimited", "explode": False},
    "csv": {"style": "form", "explode": False},
}


@dataclass
class Arguments:
    """The arguments of one operation, filled by `add_parameter` and `add_body`."""

    schemas: Schemas
    at: str
    """Names the operation in messages: `GET /airports/{code}`."""
    properties: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    definitions: dict[str, Any] = field(default_factory=dict)
    locations: dict[str, Location] = field(default_factory=dict)
    wire_names: dict[str, str] = field(default_factory=dict)
    body_argument: str | None = None
    idempotency_header: str | None = None
    needs_authorization: bool = False

    @property
    def input_schema(self) -> dict[str, Any]:
        """The arguments as one self-contained object schema."""
        schema: dict[str, Any] = {"type": "object", "properties": self.properties}
        if self.required:
            schema["required"] = self.required
        return schema | ({"$defs": self.definitions} if self.definitions else {})

    def add_parameter(self, raw: JsonObject, *, url: str) -> None:
        """One parameter in path, query, header or cookie; without `in`, the URL template decides."""
        parameter = _with_schema(raw)
        name, location = parameter.get("name"), str(parameter.get("in", "")).lower()
        if location not in get_args(Location):
            location = "path" if f"{{{name}}}" in url else "query"
        if not isinstance(name, str) or not name or (location == "path" and f"{{{name}}}" not in url):
            return
        if location == "header" and name.lower() in _NOT_ARGUMENTS:
            self.needs_authorization |= name.lower() == "authorization" and parameter.get("required") is True
            return
        if location == "header" and name.lower() == "idempotency-key":
            self.idempotency_header = name
            return
        required = location == "path" or parameter.get("required") is True
        schema = self._parameter_schema(parameter, location)
        self._add(name, location, schema, required=required)  # type: ignore[arg-type]  # one of the literal's values

    def add_missing(self, url: str) -> None:
        """The variables of the URL template that nobody declared."""
        known = {self.wire_names.get(name, name) for name, where in self.locations.items() if where == "path"}
        for name in re.findall(r"\{([^{}]+)\}", url):
            if name not in known:
                known.add(name)
                self._add(name, "path", {"type": "string"}, required=True)

    def add_body(self, body: JsonObject) -> None:
        """A request body: an object's properties become arguments where no name clashes, else it is one argument."""
        content = body.get("content")
        media, described = _choose(content if isinstance(content, Mapping) else {})
        location: Location = "form" if media in _FORM_TYPES else "body"
        if location == "body" and not is_json(media):
            whole: Any = {"type": "string", "contentMediaType": media}
        else:
            whole = self._converted(described.get("schema", {}))
        top = resolve(whole, {"$defs": self.definitions})
        free = top.get("additionalProperties", True)
        plain = not top.keys() - _PLAIN_OBJECT and types(top) == ("object",) and (isinstance(free, bool) or free == {})
        named = plain and bool(top.get("properties"))
        needed = body.get("required", bool(named and top.get("required"))) is True
        if named and (location == "form" or not top["properties"].keys() & self.properties.keys()):
            for name, schema in top["properties"].items():
                self._add(name, location, schema, required=needed and name in top.get("required", ()))
            return
        text = body.get("description")
        if isinstance(text, str) and text and isinstance(whole, dict):
            whole = {"description": text} | whole
        self.body_argument = self._add("body", "body", whole, required=needed)

    def _converted(self, raw: Json) -> Any:
        schema, definitions = self.schemas.convert(raw, "request", at=self.at)
        self.definitions |= definitions
        return schema

    def _add(self, name: str, location: Location, schema: Any, *, required: bool) -> str:
        chosen = name if name not in self.properties else free_alias(f"{location}_{name}", self.properties)
        self.properties[chosen] = schema
        self.locations[chosen] = location
        if required:
            self.required.append(chosen)
        if chosen != name and not (location == "body" and name == "body"):
            self.wire_names[chosen] = name
        return chosen

    def _parameter_schema(self, parameter: JsonObject, location: str) -> Any:
        content = parameter.get("content")
        if isinstance(content, Mapping) and content:
            media, described = _choose(content)
            inner = self._converted(described.get("schema", {}))
            schema: Any = {"type": "string", "contentMediaType": media, "contentSchema": inner}
        else:
            schema = self._converted(parameter["schema"])
        if not isinstance(schema, Mapping):
            return {}
        schema = dict(schema)
        if location == "path" and not schema:
            schema["type"] = "string"
        if isinstance(text := parameter.get("description"), str) and text.strip():
            schema["description"] = text.strip()
        if parameter.get("deprecated") is True:
            schema["deprecated"] = True
        if isinstance(example := parameter.get("example"), str | int | float) and "examples" not in schema:
            schema["examples"] = [example]
        # A list in the query repeats its name, unless it is one value with something between its items.
        style = str(parameter.get("style", "form"))
        separator = "," if style == "form" and parameter.get("explode") is False else _SEPARATORS.get(style)
        if location == "query" and separator and "array" in types(resolve(schema, {"$defs": self.definitions})):
            schema["x-atc-join"] = separator
        for mark in ("x-atc-sensitive", "x-atc-secret"):
            if mark in parameter:
                schema.setdefault(mark, parameter[mark])
        return schema


def is_json(media: str) -> bool:
    """Whether a media type holds JSON: `application/json`, `application/problem+json`, `*/*`."""
    kind = media.split(";")[0].strip().lower()
    return kind in ("*/*", "application/*", "text/json", "application/json") or kind.endswith("+json")


def media_of(contents: Sequence[str]) -> str | None:
    """The media type of a response that we read best: JSON, then text."""
    texts = (media for media in contents if media.strip().lower().startswith("text/") or "xml" in media.lower())
    return next((media for media in contents if is_json(media)), None) or next(texts, None)


def upgrade_body(parameters: Sequence[JsonObject], consumes: Sequence[str]) -> dict[str, Any] | None:
    """The `requestBody` that `in: body` and `in: formData` parameters make; `None` where there are none."""
    for parameter in parameters:
        if parameter.get("in") == "body":
            media = next((m for m in consumes if "json" in m.lower()), None) or next(iter(consumes), "application/json")
            return {
                "description": parameter.get("description", ""),
                "required": parameter.get("required") is True,
                "content": {media: {"schema": parameter.get("schema", {})}},
            }
    fields = [p for p in parameters if p.get("in") == "formData"]
    if not fields:
        return None
    media = next((m for m in consumes if m in _FORM_TYPES), _FORM_TYPES[any(f.get("type") == "file" for f in fields)])
    properties = {}
    for one in fields:
        described = {"description": one["description"]} if isinstance(one.get("description"), str) else {}
        properties[str(one.get("name"))] = described | _with_schema(one)["schema"]
    required = [str(one["name"]) for one in fields if "name" in one and one.get("required") is True]
    schema = {"type": "object", "properties": properties, "required": required}
    return {"required": bool(required), "content": {media: {"schema": schema}}}


def upgrade_response(response: JsonObject, produces: Sequence[str]) -> dict[str, Any]:
    """A response with its `content` by media type."""
    schema = response.get("schema")
    media = list(produces) or ["application/json"]
    if isinstance(schema, Mapping) and schema.get("type") == "file":
        content: dict[str, Any] = {m if "json" not in m else "application/octet-stream": {} for m in media}
    elif isinstance(schema, Mapping):
        content = {m: {"schema": schema} for m in media}
    else:
        # To the letter this means an empty body; in practice (httpbin) the body is merely not described.
        content = {m: {} for m in produces}
    return {"description": response.get("description", ""), "content": content}


def _with_schema(parameter: JsonObject) -> dict[str, Any]:
    """A parameter with its `schema`, whatever stood beside it; `explode` says how an array is written.

    Documents of both versions are seen with either form, so this is applied to all.
    """
    schema = parameter.get("schema")
    if not isinstance(schema, Mapping):
        schema = {k: v for k, v in parameter.items() if k not in _BESIDE_SCHEMA and not k.startswith("x-example")}
    upgraded = dict(parameter) | {"schema": schema}
    if schema.get("type") == "array" and "style" not in parameter and "explode" not in parameter:
        written = parameter.get("collectionFormat", "csv" if "type" in parameter else None)
        upgraded |= _STYLES.get(str(written), {})
    return upgraded


def _choose(content: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The media type that we send best: JSON, then forms, then the first."""

    def rank(media: str) -> int:
        return 0 if is_json(media) else 1 if media.split(";")[0].strip().lower() in _FORM_TYPES else 2

    media = min(content, key=rank, default="application/json")
    described = content.get(media)
    return media.split(";")[0].strip().lower(), described if isinstance(described, Mapping) else {}
