"""An operation's parameters and body → one object of named arguments, and where each goes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Location
from protocols.schema import resolve, types
from protocols.sources.dereference import Schemas
from protocols.sources.swagger import FORM_TYPES, upgrade_parameter

_NOT_ARGUMENTS = {"accept", "content-type", "authorization"}  # OpenAPI: such parameters shall be ignored
_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
_PLAIN_OBJECT = {
    "type",
    "properties",
    "required",
    "title",
    "description",
    "additionalProperties",
    "examples",
    "default",
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
        parameter = upgrade_parameter(raw)
        name = parameter.get("name")
        location = _location(parameter, url)
        if not isinstance(name, str) or not name or (location == "path" and f"{{{name}}}" not in url):
            return
        if location == "header" and name.lower() in _NOT_ARGUMENTS:
            self.needs_authorization |= name.lower() == "authorization" and parameter.get("required") is True
            return
        if location == "header" and name.lower() == "idempotency-key":
            self.idempotency_header = name
            return
        required = location == "path" or parameter.get("required") is True
        self._add(name, location, self._parameter_schema(parameter, location), required=required)

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
        raw = described.get("schema", {})
        location: Location = "form" if media in FORM_TYPES else "body"
        if location == "body" and not is_json(media):
            whole: Any = {"type": "string", "contentMediaType": media}
        else:
            converted = self.schemas.convert(raw, "request", at=self.at)
            self.definitions |= converted.definitions
            whole = converted.schema
        top = _named_properties(whole, self.definitions)
        needed = body.get("required", bool(top and top.get("required"))) is True
        if top is not None and (location == "form" or not top["properties"].keys() & self.properties.keys()):
            for name, schema in top["properties"].items():
                self._add(name, location, schema, required=needed and name in top.get("required", ()))
            return
        text = body.get("description")
        if isinstance(text, str) and text and isinstance(whole, dict):
            whole = {"description": text} | whole
        self.body_argument = self._add("body", "body", whole, required=needed)

    def _add(self, name: str, location: Location, schema: Any, *, required: bool) -> str:
        chosen = name if name not in self.properties else f"{location}_{name}"
        number = 2
        while chosen in self.properties:
            chosen, number = f"{location}_{name}_{number}", number + 1
        self.properties[chosen] = schema
        self.locations[chosen] = location
        if required:
            self.required.append(chosen)
        if chosen != name and not (location == "body" and name == "body"):
            self.wire_names[chosen] = name
        return chosen

    def _parameter_schema(self, parameter: JsonObject, location: Location) -> Any:
        content = parameter.get("content")
        if isinstance(content, Mapping) and content:
            media, described = _choose(content)
            inner = self.schemas.convert(described.get("schema", {}), "request", at=self.at)
            self.definitions |= inner.definitions
            schema: Any = {"type": "string", "contentMediaType": media, "contentSchema": inner.schema}
        else:
            converted = self.schemas.convert(parameter["schema"], "request", at=self.at)
            self.definitions |= converted.definitions
            schema = converted.schema
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
        separator = _separator(parameter)
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


def _named_properties(schema: Json, definitions: JsonObject) -> JsonObject | None:
    """The (resolved) schema of an object of named properties and nothing more; `None` for all other schemas."""
    top = resolve(schema, {"$defs": definitions})
    free = top.get("additionalProperties", True)
    plain = not top.keys() - _PLAIN_OBJECT and types(top) == ("object",) and (isinstance(free, bool) or free == {})
    return top if plain and top.get("properties") else None


def _location(parameter: JsonObject, url: str) -> Location:
    declared = str(parameter.get("in", "")).lower()
    if declared in get_args(Location):
        return declared  # type: ignore[return-value]  # just compared with the literal's values
    return "path" if f"{{{parameter.get('name')}}}" in url else "query"


def _separator(parameter: JsonObject) -> str | None:
    """What stands between the items of a query array that is one value; `None` where its name is repeated."""
    style = str(parameter.get("style", "form"))
    if style == "form":
        return "," if parameter.get("explode") is False else None
    return _SEPARATORS.get(style)


def _choose(content: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The media type that we send best: JSON, then forms, then the first."""

    def rank(media: str) -> int:
        return 0 if is_json(media) else 1 if media.split(";")[0].strip().lower() in FORM_TYPES else 2

    media = min(content, key=rank, default="application/json")
    described = content.get(media)
    return media.split(";")[0].strip().lower(), described if isinstance(described, Mapping) else {}


def media_of(contents: Sequence[str]) -> str | None:
    """The media type of a response that we read best: JSON, then text."""
    return next((m for m in contents if is_json(m)), None) or next(
        (m for m in contents if m.split(";")[0].strip().lower().startswith("text/") or "xml" in m.lower()), None
    )
