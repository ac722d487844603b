"""From a binding and arguments to an HTTP request. What an argument says never leaves the place it was given."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

from protocols.errors import InvalidProtocol, ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.origin import split_url
from protocols.protocol import HttpBinding, ToolProtocol

DEFAULT_HEADERS: Final = {
    "Accept": "application/json, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": "automatic-tool-chain",
}
# They decide how or where a request travels, so no argument may set them.
_TRANSPORT_HEADERS = frozenset(
    ["host", "connection", "content-length", "transfer-encoding", "upgrade", "te", "trailer", "expect", "keep-alive"]
)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_COOKIE_SAFE = "!#$&'()*+-./:<=>?@[]^_`{|}~"
_COOKIE_VALUE = re.compile(r"[!#-+\--:<-\[\]-~]*")  # RFC 6265: no space, quote, comma, semicolon or backslash
_BODYLESS = ("GET", "HEAD", "OPTIONS", "DELETE")

Place = Literal["path", "query", "header", "cookie", "body", "form", "whole_body"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request ready to be sent, but for credentials. The URL is percent-encoded and has no fragment."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_HEADERS))
    body: bytes | None = None


class Plan:
    """How the arguments of one tool become a request: the binding, read once and checked."""

    def __init__(self, protocol: ToolProtocol, binding: HttpBinding) -> None:
        """Raises `InvalidProtocol` for a binding that cannot be called."""
        self._tool, self._method, self._whole = protocol.name, binding.method, binding.body_argument
        try:
            self.origin, rest = split_url(binding.url)
        except ValueError as error:
            raise InvalidProtocol(protocol.name, f"{error}.", path="binding.http.url") from None
        path, _, query = rest.partition("?")
        self._path = [_pieces(segment) for segment in path.split("/")]
        self._query = _pieces(query)
        braces = {name for pieces in (*self._path, self._query) for name in pieces[1::2]}
        self._places: dict[str, tuple[Place, str]] = {
            name: self._locate(name, binding, braces)
            for name in dict.fromkeys([*protocol.parameters, *binding.locations, *binding.wire_names])
        }
        self._default = _default_place(binding)
        # Two marks that sources leave in argument schemas: arrays sent as one value, and bodies that are not JSON.
        # Two marks that sources leave in argument schemas: arrays sent as one value, and bodies that are not JSON.
        schemas = {name: schema for name, schema in protocol.parameters.items() if isinstance(schema, Mapping)}
        self._joins = {name: str(schema["x-atc-join"]) for name, schema in schemas.items() if "x-atc-join" in schema}
        self._media = str(schemas.get(self._whole or "", {}).get("contentMediaType", "application/json"))
        self._braces = braces
        self._check(binding)

    def _locate(self, name: str, binding: HttpBinding, braces: set[str]) -> tuple[Place, str]:
        wire = binding.wire_names.get(name, name)
        if name == binding.body_argument:
            return "whole_body", wire
        fallback: Place = "path" if wire in braces else _default_place(binding)
        place: Place = binding.locations.get(name, fallback)
        # A template may spell a parameter by the argument's name although it is called otherwise elsewhere.
        return place, name if place == "path" and wire not in braces and name in braces else wire

    def _check(self, binding: HttpBinding) -> None:
        places = {place for place, _ in self._places.values()}
        if "form" in places and places & {"body", "whole_body"}:
            raise InvalidProtocol(self._tool, "it mixes form and JSON body arguments.", path="binding.http.locations")
        if places >= {"body", "whole_body"}:
            raise InvalidProtocol(
                self._tool, f"{binding.body_argument!r} is the whole body already.", path="binding.http.locations"
            )
        names = [wire for place, wire in self._places.values() if place in ("header", "cookie")]
        if not re.fullmatch(r"[\w.+-]+/[\w.+*-]+", self._media, re.ASCII):
            raise InvalidProtocol(self._tool, f"{self._media!r} is not a media type.", path="inputSchema")
        for wire in [*names, *filter(None, [binding.idempotency_header])]:
            if not _TOKEN.fullmatch(wire):
                raise InvalidProtocol(self._tool, f"{wire!r} is not a header or cookie name.", path="binding.http")

    def build(self, arguments: JsonObject) -> HttpRequest:
        """The request for these arguments, by original name.

        Raises:
            ToolError: an argument cannot be put where it belongs; nothing was sent.
        """
        sorted_in: dict[Place, dict[str, Json]] = {}
        for name, value in arguments.items():
            place, wire = self._place(name)
            if place == "query" and name in self._joins and isinstance(value, list | tuple):
                value = self._joins[name].join(item for _, item in self._pairs({name: value})) or None
            # An explicit null means something in a JSON body, and nothing anywhere else.
            if value is not None or place in ("body", "whole_body"):
                sorted_in.setdefault(place, {})[wire] = value
        try:
            headers = dict(DEFAULT_HEADERS) | self._headers(sorted_in.get("header", {}))
            if cookies := sorted_in.get("cookie"):
                pairs = [f"{name}={self._cookie(name, value)}" for name, value in cookies.items()]
                headers["Cookie"] = "; ".join([*filter(None, [headers.get("Cookie")]), *pairs])
            body, content_type = self._body(sorted_in)
            if content_type:
                headers["Content-Type"] = content_type
            url = self._url(sorted_in.get("path", {}), sorted_in.get("query", {}))
        except UnicodeEncodeError as error:
            raise self._refusal(f"an argument holds {error.object[error.start]!r}, half of a character.") from None
        return HttpRequest(method=self._method, url=url, headers=headers, body=body)

    def _place(self, name: str) -> tuple[Place, str]:
        place, wire = self._places.get(name) or ("path" if name in self._braces else self._default, name)
        if place == "path" and wire not in self._braces:
            raise self._refusal(f"argument {name!r} has no place {{{wire}}} in the URL.")
        return place, wire

    def _url(self, values: Mapping[str, Json], query: Mapping[str, Json]) -> str:
        path = "/".join(self._segment(pieces, values) for pieces in self._path)
        pairs = [f"{quote(name, safe='')}={quote(item, safe='')}" for name, item in self._pairs(_exploded(query))]
        fixed = self._fill(self._query, values)
        asked = "&".join([*filter(None, [fixed]), *pairs])
        return f"{self.origin.scheme}://{self.origin.netloc}{path or '/'}{'?' + asked if asked else ''}"

    def _segment(self, pieces: list[str], values: Mapping[str, Json]) -> str:
        text = self._fill(pieces, values)
        # `.` and `..` need no escaping to be read as a step in the path, so no encoding makes them safe.
        if len(pieces) > 1 and unquote(text) in (".", ".."):
            raise self._refusal(f"argument {pieces[1]!r} would make {text!r} a step in the path; give another value.")
        return text

    def _fill(self, pieces: list[str], values: Mapping[str, Json]) -> str:
        if len(pieces) == 1:
            return pieces[0]
        return "".join(piece if i % 2 == 0 else self._escaped(piece, values) for i, piece in enumerate(pieces))

    def _escaped(self, name: str, values: Mapping[str, Json]) -> str:
        value = values.get(name)
        items = [self._text(name, item) for item in (value if isinstance(value, list | tuple) else [value])]
        if value is None or "" in items or not items:
            raise self._refusal(f"argument {name!r} stands in the URL, so it must have a value.")
        for item in items:
            self._check_line(name, item)
        return ",".join(quote(item, safe="") for item in items)

    def _pairs(self, values: Mapping[str, Json]) -> list[tuple[str, str]]:
        return [
            (name, self._text(name, item))
            for name, value in values.items()
            for item in (value if isinstance(value, list | tuple) else [value])
            if item is not None
        ]

    def _headers(self, values: Mapping[str, Json]) -> dict[str, str]:
        headers = {}
        for name, value in values.items():
            if name.lower() in _TRANSPORT_HEADERS or name.lower().startswith("proxy-"):
                raise self._refusal(f"the header {name!r} cannot be set by an argument.")
            known = next((known for known in DEFAULT_HEADERS if known.lower() == name.lower()), name)
            headers[known] = self._joined(name, value).strip(" \t")
        return headers

    def _cookie(self, name: str, value: Json) -> str:
        text = self._joined(name, value)
        return text if _COOKIE_VALUE.fullmatch(text) else quote(text, safe=_COOKIE_SAFE)

    def _joined(self, name: str, value: Json) -> str:
        text = ",".join(item for _, item in self._pairs({name: value}))
        self._check_line(name, text)
        text.encode()
        return text

    def _check_line(self, name: str, text: str) -> None:
        if found := _CONTROL.search(text):
            raise self._refusal(f"argument {name!r} holds the control character {found[0]!r}, which is not sent.")

    def _body(self, sorted_in: Mapping[Place, Mapping[str, Json]]) -> tuple[bytes | None, str]:
        if "form" in sorted_in:
            pairs = self._pairs(_exploded(sorted_in["form"]))
            text = "&".join(f"{quote(name, safe='')}={quote(item, safe='')}" for name, item in pairs)
            return text.encode(), "application/x-www-form-urlencoded"
        if "whole_body" in sorted_in:
            value = next(iter(sorted_in["whole_body"].values()))
            if isinstance(value, str) and not self._media.endswith("json"):
                return value.encode(), self._media
        elif any(place == "body" for place, _ in self._places.values()) or "body" in sorted_in:
            # Where every field is optional and none was given, servers still want an object.
            value = sorted_in.get("body", {})
        else:
            return None, ""
        return self._json("the body", value).encode(), "application/json"

    def _text(self, name: str, value: Json) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, float) and math.isfinite(value):
            return repr(value)
        return self._json(f"argument {name!r}", value)

    def _json(self, what: str, value: Json) -> str:
        try:
            return json.dumps(value, allow_nan=False, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError) as error:
            problem = f"{what} is not JSON ({error})."
        raise self._refusal(problem)

    def _refusal(self, problem: str) -> ToolError:
        return ToolError(None, f"{self._tool}: {problem}", outcome="not_run")


def _pieces(template: str) -> list[str]:
    """Literal, name, literal, name … literal."""
    return re.split(r"\{([^{}/]*)\}", template)


def _default_place(binding: HttpBinding) -> Place:
    return "query" if binding.method in _BODYLESS or binding.body_argument else "body"


def _exploded(values: Mapping[str, Json]) -> dict[str, Json]:
    """An object among query or form values stands for its fields, as OpenAPI has it where it says nothing else."""
    fields: dict[str, Any] = {}
    for name, value in values.items():
        fields |= value if isinstance(value, Mapping) else {name: value}
    return fields
