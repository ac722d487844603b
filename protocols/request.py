"""From a binding and arguments to an HTTP request. What an argument says never leaves the place it was given."""

from __future__ import annotations

import json
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
_COOKIE_SAFE = "!#$%&'()*+-./:<=>?@[]^_`{|}~"  # RFC 6265: no space, quote, comma, semicolon or backslash

_MERGED = ("path", "query", "form", "body")  # many servers read them as one set of parameters
_OBJECTS = {"query": "query", "form": "form", "whole_body": "body"}
"""Where an object stands for its fields, and the place in which those are."""

Place = Literal["path", "query", "header", "cookie", "body", "form", "whole_body"]


class _Name(NamedTuple):
    """A name in a request, whose it is, and what is sent under it.

    `field`: it is one of an object that is the argument. `declared`: the protocol says so; otherwise only the call
    brings it.
    """

    place: str
    name: str
    owner: str
    value: Json = None
    field: bool = False
    declared: bool = True

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
        self._tool, self._binding = protocol.name, binding
        try:
            self.origin, rest = split_url(binding.url)
        except ValueError as error:
            raise InvalidProtocol(protocol.name, f"{error}.", path="binding.http.url") from None
        path, _, query = rest.partition("?")
        self._path = [_pieces(segment) for segment in path.split("/")]
        self._query = _pieces(query)
        self._braces = {name for pieces in (*self._path, self._query) for name in pieces[1::2]}
        known = dict.fromkeys([*protocol.parameters, *binding.locations, *binding.wire_names])
        self._places: dict[str, tuple[Place, str]] = {
            name: ("whole_body" if name == binding.body_argument else binding.location(name), binding.wire_name(name))
            for name in known
        }
        self._used = {place for place, _ in self._places.values()}
        if len(self._used & {"body", "form", "whole_body"}) > 1:
            problem = "its body has arguments of two kinds: JSON fields, a form, or the whole of it."
            raise InvalidProtocol(protocol.name, problem, path="binding.http.locations")
        # Two marks that sources leave in argument schemas: arrays sent as one value, and bodies that are not JSON.
        schemas = {name: schema for name, schema in protocol.parameters.items() if isinstance(schema, Mapping)}
        self._joins = {name: str(schema["x-atc-join"]) for name, schema in schemas.items() if "x-atc-join" in schema}
        body = schemas.get(binding.body_argument or "", {})
        self._media = str(body.get("contentMediaType", "application/json"))
        self._fields: dict[str, Mapping[str, Any]] = {
            name: resolve(schema, protocol.input_schema).get("properties") or {} for name, schema in schemas.items()
        }

    def build(self, arguments: JsonObject, *, reserved: Iterable[tuple[str, str]] = ()) -> HttpRequest:
        """The request for these arguments, by original name. `reserved` are places and names of credentials.

        Raises:
            ToolError: an argument cannot be put where it belongs, or takes the place of another; nothing was sent.
        """
        refuse_unless_json(self._tool, arguments)
        sent = [name for argument, value in arguments.items() for name in self._names(argument, value)]
        self._refuse_collisions(sent, reserved)
        # An explicit null means something in a JSON body, and nothing anywhere else.
        at: dict[str, dict[str, Json]] = {}
        for one in sent:
            if one.place in ("body", "whole_body") or one.value is not None:
                at.setdefault("" if one.place == "body" and one.field else one.place, {})[one.name] = one.value
        headers = self._headers(at.get("header", {}), at.get("cookie", {}))
        body, content_type = self._body(at)
        if content_type:
            headers["Content-Type"] = content_type
        url = self._url(at.get("path", {}), at.get("query", {}))
        return HttpRequest(method=self._binding.method, url=url, headers=headers, body=body)

    # --- names, and which may be sent together

    def _names(self, argument: str, value: Json) -> Iterator[_Name]:
        """What is sent for an argument. Of an object in the query or a form, as OpenAPI has it, that is its fields."""
        place, wire = self._places.get(argument) or ("path" if argument in self._braces else None, argument)
        declared, place = place is not None, place or self._binding.location("")
        if place == "path" and wire not in self._braces:
            raise self._refusal(f"argument {argument!r} has no place {{{wire}}} in the URL.")
        if place == "query" and argument in self._joins and isinstance(value, list | tuple):
            value = self._joins[argument].join(item for _, item in self._pairs({argument: value})) or None
        known, owner = self._fields.get(argument, {}), f"argument {argument!r}"
        exploded = isinstance(value, Mapping) and place in _OBJECTS
        if exploded:
            yield from (_Name(_OBJECTS[place], key, owner, v, True, key in known) for key, v in value.items())
        if not exploded or place == "whole_body":
            yield _Name(place, wire, owner, value, False, declared)

    @cached_property
    def _declared(self) -> list[_Name]:
        """The names that are spoken for, whether or not a call gives them a value."""
        query = "".join(f"{{{p}}}" if i % 2 else p for i, p in enumerate(self._query)).split("&")
        found = [_Name("query", unquote_plus(pair.partition("=")[0]), "the tool's address") for pair in query if pair]
        if self._binding.idempotency_header:
            found.append(_Name("header", self._binding.idempotency_header, "the idempotency key"))
        if "cookie" in self._used:
            found.append(_Name("header", "Cookie", "the cookies"))
        for name, (place, wire) in self._places.items():
            found.append(_Name(place, wire, f"argument {name!r}"))
            fields = self._fields.get(name, ()) if place in _OBJECTS else ()
            found += (_Name(_OBJECTS[place], key, f"argument {name!r}", field=True) for key in fields)
        return found

    def _refuse_collisions(self, sent: list[_Name], reserved: Iterable[tuple[str, str]]) -> None:
        """Refuse arguments of which one would be sent, or be read, in the place of another.

        A declared name only has to differ from the others of its place. One that the call alone brings must not even be
        read as another: what it says was never held against that other's schema, nor shown to anybody as its value.
        """
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

    def _collision(self, name: _Name, other: _Name) -> ToolError:
        return self._refusal(
            f"{name} would be sent as {name.name!r}, in the place of {other}; leave it out, or give the value to the "
            "argument that it is for."
        )

    # --- the parts of a request

    def _url(self, values: Mapping[str, Json], query: Mapping[str, Json]) -> str:
        segments = [self._filled(pieces, values) for pieces in self._path]
        for pieces, text in zip(self._path, segments, strict=True):
            # `.` and `..` need no escaping to be read as a step in the path, so no encoding makes them safe.
            if len(pieces) > 1 and unquote(text) in (".", ".."):
                raise self._refusal(
                    f"argument {pieces[1]!r} would make {text!r} a step in the path; give another value."
                )
        asked = "&".join(filter(None, [self._filled(self._query, values), self._encoded(query)]))
        return f"{self.origin.url}{'/'.join(segments) or '/'}{'?' + asked if asked else ''}"

    def _filled(self, pieces: list[str], values: Mapping[str, Json]) -> str:
        """A part of the URL's template with its arguments filled in."""
        text = pieces[0]
        for name, behind in zip(pieces[1::2], pieces[2::2], strict=True):
            value = values.get(name)
            items = [_text(item) for item in (value if isinstance(value, list | tuple) else [value])]
            if value is None or "" in items or not items:
                raise self._refusal(f"argument {name!r} stands in the URL, so it must have a value.")
            for item in items:
                self._check_line(name, item)
            text += ",".join(quote(item, safe="") for item in items) + behind
        return text

    def _headers(self, values: Mapping[str, Json], cookies: Mapping[str, Json]) -> dict[str, str]:
        headers = dict(DEFAULT_HEADERS)
        for name, value in values.items():
            if name.lower() in _TRANSPORT_HEADERS or name.lower().startswith("proxy-"):
                raise self._refusal(f"the header {name!r} cannot be set by an argument.")
            own = (*DEFAULT_HEADERS, "Cookie", "Content-Type")
            known = next((known for known in own if known.lower() == name.lower()), name)
            headers[known] = self._joined(name, value).strip(" \t")
        jar = [f"{name}={quote(self._joined(name, value), safe=_COOKIE_SAFE)}" for name, value in cookies.items()]
        if jar:
            headers["Cookie"] = "; ".join([*filter(None, [headers.get("Cookie")]), *jar])
        return headers

    def _body(self, at: Mapping[str, Mapping[str, Json]]) -> tuple[bytes | None, str]:
        if "form" in at:
            return self._encoded(at["form"]).encode(), "application/x-www-form-urlencoded"
        if "whole_body" in at:
            value = next(iter(at["whole_body"].values()))
            if isinstance(value, str) and not self._media.endswith("json"):
                return value.encode(), self._media
        elif "body" in at or "body" in self._used:
            # Where every field is optional and none was given, servers still want an object.
            value = at.get("body", {})
        else:
            return None, ""
        return json.dumps(value, separators=(",", ":")).encode(), "application/json"

    def _encoded(self, values: Mapping[str, Json]) -> str:
        return "&".join(f"{quote(name, safe='')}={quote(item, safe='')}" for name, item in self._pairs(values))

    def _joined(self, name: str, value: Json) -> str:
        text = ",".join(item for _, item in self._pairs({name: value}))
        self._check_line(name, text)
        return text

    def _pairs(self, values: Mapping[str, Json]) -> list[tuple[str, str]]:
        return [
            (name, _text(item))
            for name, value in values.items()
            for item in (value if isinstance(value, list | tuple) else [value])
            if item is not None
        ]

    def _check_line(self, name: str, text: str) -> None:
        if found := _CONTROL.search(text):
            raise self._refusal(f"argument {name!r} holds the control character {found[0]!r}, which is not sent.")

    def _refusal(self, problem: str) -> ToolError:
        return ToolError(None, f"{self._tool}: {problem}", outcome="not_run")


def refuse_unless_json(tool: str, arguments: JsonObject) -> None:
    """Raise `ToolError` for arguments that are not JSON, such as a set, NaN or half of a character. Nothing is sent."""
    try:
        json.dumps(dict(arguments), allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        problem = "half of a character" if isinstance(error, UnicodeEncodeError) else str(error)
        raise ToolError(None, f"{tool}: the arguments are not JSON ({problem}).", outcome="not_run") from None


def spelled(name: str) -> str:
    """`name` as the most lenient servers read it: its letters and digits, in one case, percent-decoded twice."""
    plain = unicodedata.normalize("NFKC", unquote(unquote_plus(name))).casefold()
    return re.sub(r"[\W_]+", "", plain) or plain


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _pieces(template: str) -> list[str]:
    """Literal, name, literal, name … literal."""
    return re.split(r"\{([^{}/]*)\}", template)
