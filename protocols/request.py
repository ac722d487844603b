"""From a binding and arguments to an HTTP request. What an argument says never leaves the place it was given."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import quote, unquote, unquote_plus

from protocols.errors import InvalidProtocol, ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.origin import split_url
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import resolve

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

_MERGED = ("path", "query", "form", "body")  # many servers read them as one set of parameters

Place = Literal["path", "query", "header", "cookie", "body", "form", "whole_body"]


class _Name(NamedTuple):
    """A name in a request and whose it is. `declared`: the protocol says so; otherwise only the call brings it.

    `field` is set where it is a field of an object that is the argument; `value` is what is sent.
    """

    place: str
    name: str
    owner: str
    field: bool = False
    declared: bool = True
    value: Json = None

    def __str__(self) -> str:
        return f"the field {self.name!r} of {self.owner}" if self.field else self.owner

    @property
    def exact(self) -> tuple[str, str]:
        """Declared names that have this in common are one name: some servers take the header `X-A` for `x_a`."""
        return self.place, spelled(self.name) if self.place == "header" else self.name

    @property
    def readings(self) -> set[tuple[str, str]]:
        """What a server may take the name for: `to[]` or `to.x` for `to`, a field of a form for one of the query."""
        place = "any" if self.place in _MERGED else self.place
        base = re.split(r"[\[.]", unquote(unquote_plus(self.name)), maxsplit=1)[0]
        return {(place, spelled(self.name)), (place, spelled(base or self.name))}

    def replaces(self, other: _Name) -> bool:
        """Whether this name, which only the call brings, may be read in the place of one that has its reading."""
        if self.place == "body" and self.field:  # a whole object may well repeat what stands in the path
            return other.place == "query" and other.value not in (None, self.value)
        return other.owner != self.owner or (other.declared and other.field)


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
        self._default = binding.location("")
        # Two marks that sources leave in argument schemas: arrays sent as one value, and bodies that are not JSON.
        schemas = {name: schema for name, schema in protocol.parameters.items() if isinstance(schema, Mapping)}
        self._joins = {name: str(schema["x-atc-join"]) for name, schema in schemas.items() if "x-atc-join" in schema}
        self._media = str(schemas.get(self._whole or "", {}).get("contentMediaType", "application/json"))
        self._braces = braces
        self._fields: dict[str, Mapping[str, Any]] = {
            name: resolve(schema, protocol.input_schema).get("properties") or {} for name, schema in schemas.items()
        }
        self._check(binding)
        self._idempotency_header = binding.idempotency_header

    @cached_property
    def _declared(self) -> list[_Name]:
        return list(self._owned())

    def _locate(self, name: str, binding: HttpBinding, braces: set[str]) -> tuple[Place, str]:
        place, wire = binding.location(name), binding.wire_name(name)
        if name == binding.body_argument:
            return "whole_body", wire
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

    def _owned(self) -> Iterator[_Name]:
        """The names that are spoken for, whether or not a call gives them a value."""
        for pair in "".join(f"{{{p}}}" if i % 2 else p for i, p in enumerate(self._query)).split("&"):
            if pair:
                yield _Name("query", unquote_plus(pair.partition("=")[0]), "the tool's address")
        if self._idempotency_header:
            yield _Name("header", self._idempotency_header, "the idempotency key")
        if any(place == "cookie" for place, _ in self._places.values()):
            yield _Name("header", "Cookie", "the cookies")
        for name, (place, wire) in self._places.items():
            yield _Name(place, wire, f"argument {name!r}")
            if place in ("query", "form", "whole_body"):
                inner = "body" if place == "whole_body" else place
                yield from (_Name(inner, key, f"argument {name!r}", True) for key in self._fields.get(name, ()))

    def build(self, arguments: JsonObject, *, reserved: Iterable[tuple[str, str]] = ()) -> HttpRequest:
        """The request for these arguments, by original name. `reserved` are places and names of credentials.

        Raises:
            ToolError: an argument cannot be put where it belongs, or takes the place of another; nothing was sent.
        """
        self._check_names(arguments, reserved)
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
                texts = {name: self._joined(name, value) for name, value in cookies.items()}
                pairs = [
                    f"{name}={text if _COOKIE_VALUE.fullmatch(text) else quote(text, safe=_COOKIE_SAFE)}"
                    for name, text in texts.items()
                ]
                headers["Cookie"] = "; ".join([*filter(None, [headers.get("Cookie")]), *pairs])
            body, content_type = self._body(sorted_in)
            if content_type:
                headers["Content-Type"] = content_type
            url = self._url(sorted_in.get("path", {}), sorted_in.get("query", {}))
        except UnicodeEncodeError as error:
            raise self._refusal(f"an argument holds {error.object[error.start]!r}, half of a character.") from None
        return HttpRequest(method=self._method, url=url, headers=headers, body=body)

    def _check_names(self, arguments: JsonObject, reserved: Iterable[tuple[str, str]]) -> None:
        """Refuse arguments of which one would be sent, or be read, in the place of another.

        A declared name only has to differ from the others of its place. One that the call alone brings must not even be
        read as another: what it says was never held against that other's schema, nor shown to anybody as its value.
        """
        sent = [name for argument, value in arguments.items() for name in self._names(argument, value)]
        owners = {name.exact: name for name in reversed(self._declared)}
        for name in sent:
            if name.declared and (owner := owners.get(name.exact, name)).owner != name.owner:
                raise self._collision(name, owner)
        brought = [name for name in sent if not name.declared]
        if not brought:
            return
        others = [_Name("form", "_method", "the method of the request")]
        others += [_Name(place, name, "a credential") for place, name in reserved]
        # Of one owner's names that are read alike one of each kind is enough to compare with.
        rivals: dict[tuple[str, str], dict[tuple[str, bool, bool], _Name]] = {}
        for name in (*self._declared, *sent, *others):
            for reading in name.readings:
                rivals.setdefault(reading, {})[name.owner, name.declared, name.field] = name
        for name in brought:
            self._check_line(name.name, name.name)
            for rival in (rival for reading in name.readings for rival in rivals[reading].values()):
                if name.replaces(rival):
                    raise self._collision(name, rival)

    def _names(self, argument: str, value: Json) -> Iterator[_Name]:
        """The names under which an argument is sent."""
        place, wire = self._place(argument)
        known, owner = self._fields.get(argument, {}), f"argument {argument!r}"
        if isinstance(value, Mapping) and place in ("query", "form", "whole_body"):
            inner = "body" if place == "whole_body" else place
            yield from (_Name(inner, key, owner, True, key in known, item) for key, item in value.items())
        elif place != "whole_body":
            yield _Name(place, wire, owner, False, argument in self._places or argument in self._braces, value)

    def _collision(self, name: _Name, other: _Name) -> ToolError:
        return self._refusal(
            f"{name} would be sent as {name.name!r}, in the place of {other}; leave it out, or give the value to the "
            "argument that it is for."
        )

    def _place(self, name: str) -> tuple[Place, str]:
        place, wire = self._places.get(name) or ("path" if name in self._braces else self._default, name)
        if place == "path" and wire not in self._braces:
            raise self._refusal(f"argument {name!r} has no place {{{wire}}} in the URL.")
        return place, wire

    def _url(self, values: Mapping[str, Json], query: Mapping[str, Json]) -> str:
        segments = [self._fill(pieces, values) for pieces in self._path]
        for pieces, text in zip(self._path, segments, strict=True):
            # `.` and `..` need no escaping to be read as a step in the path, so no encoding makes them safe.
            if len(pieces) > 1 and unquote(text) in (".", ".."):
                raise self._refusal(
                    f"argument {pieces[1]!r} would make {text!r} a step in the path; give another value."
                )
        path = "/".join(segments)
        pairs = [f"{quote(name, safe='')}={quote(item, safe='')}" for name, item in self._pairs(_exploded(query))]
        fixed = self._fill(self._query, values)
        asked = "&".join([*filter(None, [fixed]), *pairs])
        return f"{self.origin.scheme}://{self.origin.netloc}{path or '/'}{'?' + asked if asked else ''}"

    def _fill(self, pieces: list[str], values: Mapping[str, Json]) -> str:
        """A part of the URL's template with its arguments filled in."""
        text = pieces[0]
        for name, behind in zip(pieces[1::2], pieces[2::2], strict=True):
            value = values.get(name)
            items = [self._text(name, item) for item in (value if isinstance(value, list | tuple) else [value])]
            if value is None or "" in items or not items:
                raise self._refusal(f"argument {name!r} stands in the URL, so it must have a value.")
            for item in items:
                self._check_line(name, item)
            text += ",".join(quote(item, safe="") for item in items) + behind
        return text

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
            own = (*DEFAULT_HEADERS, "Cookie", "Content-Type")
            known = next((known for known in own if known.lower() == name.lower()), name)
            headers[known] = self._joined(name, value).strip(" \t")
        return headers

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


def spelled(name: str) -> str:
    """`name` as the most lenient servers read it: its letters and digits, in one case, percent-decoded twice."""
    plain = unicodedata.normalize("NFKC", unquote(unquote_plus(name))).casefold()
    return re.sub(r"[\W_]+", "", plain) or plain


def _pieces(template: str) -> list[str]:
    """Literal, name, literal, name … literal."""
    return re.split(r"\{([^{}/]*)\}", template)


def _exploded(values: Mapping[str, Json]) -> dict[str, Json]:
    """An object among query or form values stands for its fields, as OpenAPI has it where it says nothing else."""
    fields: dict[str, Any] = {}
    for name, value in values.items():
        fields |= value if isinstance(value, Mapping) else {name: value}
    return fields
