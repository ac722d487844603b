"""An operation's parameters and body → one object of named arguments, and where each goes; Swagger 2's in 3's terms."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from protocols.alias import free_alias
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Location
from protocols.schema import resolve, types
from protocols.sources.schemas import Schemas

_NOT_ARGUMENTS = {"accept", "content-type", "authorization", "idempotency-key"}
"""Headers that are no arguments; OpenAPI says so of the first three."""
_PLACES: tuple[Location, ...] = ("path", "query", "header", "cookie")
_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "ssv": " ", "pipes": "|", "csv": ","}
_PLAIN_OBJECT = {
    "type", "properties", "required", "title", "description", "additionalProperties", "examples", "default",
}  # fmt: skip
_FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")
_BESIDE_SCHEMA = {
    "name", "in", "required", "schema", "style", "explode", "collectionFormat", "allowEmptyValue", "description",
    "content", "examples",
}  # fmt: skip


@dataclass
class Arguments:
    """The arguments of one operation, filled by `add_parameters`, `add_body` and `add`."""

    schemas: Schemas
    at: str
    """Names the operation in messages: `GET /airports/{code}`."""
    url: str
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

    def add_parameters(self, parameters: Sequence[JsonObject]) -> None:
        """The parameters, those in the path first, and the variables of the URL template that nobody declared."""
        variables = dict.fromkeys(re.findall(r"\{([^{}]+)\}", self.url))
        named = [(str(one["name"]), one) for one in parameters if one.get("name")]
        for place in _PLACES:
            for name, parameter in named:
                required = place == "path" or parameter.get("required") is True
                stray = place == "path" and name not in variables
                if parameter.get("in") == place and not stray and not self._is_kept_back(place, name, required):
                    self.add(name, place, self._schema(parameter, place), required=required)
        for name in variables:
            if self.locations.get(name) != "path":
                self.add(name, "path", {"type": "string"}, required=True)

    def _is_kept_back(self, place: Location, name: str, required: bool) -> bool:
        """Whether a parameter is no argument, as some headers are: what it says is noted."""
        if place != "header" or name.lower() not in _NOT_ARGUMENTS:
            return False
        if name.lower() == "idempotency-key":
            self.idempotency_header = name
        self.needs_authorization |= name.lower() == "authorization" and required
        return True

    def add_body(self, body: JsonObject) -> None:
        """A request body: an object's properties become arguments where no name clashes, else it is one argument."""
        media, described = _choose(body["content"])
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
                self.add(name, location, schema, required=needed and name in top.get("required", ()))
            return
        text = body.get("description")
        if isinstance(text, str) and text and isinstance(whole, dict):
            whole = {"description": text} | whole
        self.body_argument = self.add("body", "body", whole, required=needed)

    def _converted(self, raw: Json) -> Any:
        schema, definitions = self.schemas.convert(raw, "request", at=self.at)
        self.definitions |= definitions
        return schema

    def add(self, name: str, location: Location, schema: Any, *, required: bool) -> str:
        """One argument; what it is called where its name is taken."""
        chosen = name if name not in self.properties else free_alias(f"{location}_{name}", self.properties)
        self.properties[chosen] = schema
        self.locations[chosen] = location
        if required:
            self.required.append(chosen)
        if chosen != name and not (location == "body" and name == "body"):
            self.wire_names[chosen] = name
        return chosen

    def _schema(self, parameter: JsonObject, location: Location) -> Any:
        converted = self._converted(_raw_schema(parameter))
        schema = dict(converted) if isinstance(converted, Mapping) else {}
        if not schema and location == "path":
            schema["type"] = "string"
        if isinstance(text := parameter.get("description"), str) and text.strip():
            schema["description"] = text.strip()
        if parameter.get("deprecated") is True:
            schema["deprecated"] = True
        if isinstance(example := parameter.get("example"), str | int | float) and "examples" not in schema:
            schema["examples"] = [example]
        if location == "query" and "array" in types(resolve(schema, {"$defs": self.definitions})):
            schema |= {"x-atc-join": separator} if (separator := _separator(parameter)) else {}
        for mark in ("x-atc-sensitive", "x-atc-secret"):
            if mark in parameter:
                schema.setdefault(mark, parameter[mark])
        return schema


def _raw_schema(parameter: JsonObject) -> JsonObject:
    """A parameter's schema, which Swagger 2, and documents of 3 that were made from it, write beside its name."""
    schema = parameter.get("schema")
    if isinstance(schema, Mapping):
        return schema
    return {k: v for k, v in parameter.items() if k not in _BESIDE_SCHEMA and not k.startswith("x-example")}


def _separator(parameter: JsonObject) -> str | None:
    """What stands between the items of a list in the query; `None` where its name is repeated for each item."""
    if "style" in parameter or "explode" in parameter or ("schema" in parameter and "type" not in parameter):
        style = str(parameter.get("style", "form"))
        return "," if style == "form" and parameter.get("explode") is False else _SEPARATORS.get(style)
    return _SEPARATORS.get(str(parameter.get("collectionFormat", "csv")))


def is_json(media: str) -> bool:
    """Whether a media type holds JSON: `application/json`, `application/problem+json`, `*/*`."""
    kind = media.split(";")[0].strip().lower()
    return kind in ("*/*", "application/*", "text/json", "application/json") or kind.endswith("+json")


def _choose(content: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The media type that we send best: JSON, then forms, then the first."""

    def rank(media: str) -> int:
        return 0 if is_json(media) else 1 if media.split(";")[0].strip().lower() in _FORM_TYPES else 2

    media = min(content, key=rank, default="application/json")
    described = content.get(media)
    return media.split(";")[0].strip().lower(), described if isinstance(described, Mapping) else {}


# --- Swagger 2


def upgrade_body(parameters: Sequence[JsonObject], consumes: Sequence[str]) -> dict[str, Any] | None:
    """The `requestBody` that `in: body` and `in: formData` parameters make; `None` where there are none."""
    for parameter in parameters:
        if parameter.get("in") == "body":
            media = next((m for m in consumes if "json" in m.lower()), None) or next(iter(consumes), "application/json")
            content = {media: {"schema": parameter.get("schema", {})}}
            return {
                "description": parameter.get("description"),
                "required": parameter.get("required"),
                "content": content,
            }
    fields = [p for p in parameters if p.get("in") == "formData" and "name" in p]
    if not fields:
        return None
    media = next((m for m in consumes if m in _FORM_TYPES), _FORM_TYPES[any(f.get("type") == "file" for f in fields)])
    properties: dict[str, Any] = {}
    for one in fields:
        described = {"description": one["description"]} if isinstance(one.get("description"), str) else {}
        properties[str(one["name"])] = {**described, **_raw_schema(one)}
    required = [str(one["name"]) for one in fields if one.get("required") is True]
    schema = {"type": "object", "properties": properties, "required": required}
    return {"required": bool(required), "content": {media: {"schema": schema}}}


def upgrade_response(response: JsonObject, produces: Sequence[str]) -> dict[str, Any]:
    """A response with its `content` by media type."""
    schema = response.get("schema")
    # Without a schema it means, to the letter, an empty body; in practice (httpbin) it is merely not described.
    media = list(produces) or (["application/json"] if isinstance(schema, Mapping) else [])
    content: dict[str, Any] = {one: {"schema": schema} if isinstance(schema, Mapping) else {} for one in media}
    return {"description": response.get("description", ""), "content": content}
