"""Builds the HTTP request of a tool call from its binding and arguments.

An argument can set only that part of the request which its location and name select.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal
from urllib.parse import quote, unquote, unquote_plus

from requests.structures import CaseInsensitiveDict

from protocols.errors import InvalidProtocol, ToolError
from protocols.http.body_encoder import BodyEncoder
from protocols.http.decoding import ACCEPTED
from protocols.http.file_bodies import (
    Body,
    holds_file,
)
from protocols.http.path_arguments import PathRule, has_dot_segment
from protocols.http.request_names import RequestName, by_reading, contradicts
from protocols.http.values import iter_deep_object_pairs, join_items, text_pairs, url_encode
from protocols.naming import split_words
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import Json, JsonObject, resolve, types
from protocols.urls import split_url

DEFAULT_HEADERS: Final = {
    "Accept": "application/json, */*;q=0.5",
    "Accept-Encoding": ACCEPTED,
    "User-Agent": "automatic-tool-chain",
}
# These headers decide how or where a request is sent, so no argument may set them.
_TRANSPORT_HEADERS = split_words(
    "host connection content-length transfer-encoding upgrade te trailer expect keep-alive"
)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_BRACES = re.compile(r"\{([^{}/]*)\}")
_COOKIE_SAFE = (
    "!#$%&'()*+-./:<=>?@[]^_`{|}~"  # RFC 6265: no space, quote, comma, semicolon or backslash
)

_OBJECTS = {"query": "query", "form": "form", "whole_body": "field"}
"""Locations at which an object is sent field by field, mapped to the location of the fields."""

Place = Literal["path", "query", "header", "cookie", "body", "form", "whole_body"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request that is ready to be sent, except for credentials.

    The URL is percent-encoded and has no fragment.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_HEADERS))
    body: Body = None


class RequestBuilder:
    """Builds the requests of one tool. The binding of the tool is checked once, on creation."""

    def __init__(self, protocol: ToolProtocol, binding: HttpBinding) -> None:
        """Prepare to build requests for a tool.

        Raises:
            InvalidProtocol: no request can be built from the binding.
        """
        self._tool = protocol.name
        self._binding = binding
        try:
            self.origin, self._template = split_url(binding.url)
        except ValueError as error:
            raise InvalidProtocol(protocol.name, f"{error}.", path="binding.http.url") from None
        self._places: dict[str, Place] = {
            name: "whole_body" if name == binding.body_argument else binding.location(name)
            for name in [*protocol.parameters, *binding.locations, *binding.wire_names]
        }
        self._used = _used_places(protocol, binding, self._places)
        schemas = {
            name: schema
            for name, schema in protocol.parameters.items()
            if isinstance(schema, Mapping)
        }
        # Sources put this key into argument schemas: it says how arrays and objects are sent.
        self._joins = {
            name: str(schema["x-atc-join"])
            for name, schema in schemas.items()
            if "x-atc-join" in schema
        }
        forms = {name: schema for name, schema in schemas.items() if self._places[name] == "form"}
        has_json_fields = "body" in self._used
        self._body = BodyEncoder(
            protocol, binding, forms, self._joins, has_json_fields=has_json_fields
        )
        self._paths: dict[str, PathRule] = {}
        for name, schema in schemas.items():
            if self._places[name] == "path":
                wire = binding.wire_name(name)
                self._paths[wire] = PathRule(wire, schema, protocol.input_schema)
        self._fields = _object_fields(schemas, protocol.input_schema, skip=self._joins)

    def build(
        self,
        arguments: JsonObject,
        *,
        reserved: Iterable[tuple[str, str]] = (),
        query: JsonObject | None = None,
    ) -> HttpRequest:
        """Return the request for `arguments`, which are keyed by original name.

        `reserved` lists the location and name of each credential in the request. `query` has
        further values for its query.

        Raises:
            ToolError: an argument cannot be sent at its location, or a server could read it as
                another argument or a credential. Nothing was sent.
        """
        refuse_unless_json(self._tool, arguments)
        sent = [
            name for argument, value in arguments.items() for name in self._names(argument, value)
        ]
        for key, value in (query or {}).items():
            sent.append(RequestName("query", key, "the address of the next page", value, False))
        self._refuse_collisions(sent, reserved)
        at: dict[str, dict[str, Json]] = defaultdict(dict)  # keyed by location, then by name
        for name in sent:
            # Null has a meaning in a JSON body only.
            if name.place in ("body", "whole_body") or name.value is not None:
                at[name.place][name.name] = name.value
        headers = self._headers(at["header"], at["cookie"])
        body, media = self._body.encode(at)
        if body is not None:
            headers["Content-Type"] = media
        url = self._url(at["path"], at["query"])
        return HttpRequest(method=self._binding.method, url=url, headers=dict(headers), body=body)

    # --- names in a request, and collisions between them

    def _names(self, argument: str, value: Json) -> Iterator[RequestName]:
        """Yield the names and values that are sent for one argument.

        As in OpenAPI, an object in a query or form is sent as one parameter for each field.
        """
        declared = argument in self._places
        wire = self._binding.wire_name(argument)
        place: str = self._places.get(argument) or self._binding.location(argument)
        if place == "path" and f"{{{wire}}}" not in self._template:
            raise self._refusal(f"argument {argument!r} has no place {{{wire}}} in the URL.")
        owner = f"argument {argument!r}"
        if holds_file(value):
            self._refuse_file_outside_body(owner, place)
            yield RequestName(place, wire, owner, value, declared)
            return
        joint = self._joins.get(argument) if place in ("query", "form") else None
        if joint == "[]":
            for name, inner in iter_deep_object_pairs(wire, value):
                yield RequestName(place, name, owner, inner, name == wire)
            return
        if joint is not None:
            value = join_items(value, joint)
        if isinstance(value, Mapping) and place in _OBJECTS:
            yield from self._field_names(argument, place, value)
            if place == "whole_body":
                yield RequestName(place, wire, owner, value)
            return
        yield RequestName(place, wire, owner, value, declared or place == "path")

    def _refuse_file_outside_body(self, owner: str, place: str) -> None:
        if place not in ("form", "whole_body", "body"):
            raise self._refusal(f"{owner} stands in the {place}, which takes no file.")

    def _field_names(self, argument: str, place: str, value: JsonObject) -> Iterator[RequestName]:
        """Yield the name and value of each field of an argument that is an object."""
        owner = f"argument {argument!r}"
        known = self._fields.get(argument, {})
        for key, inner in value.items():
            field_owner = f"the field {key!r} of {owner}" if key in known else owner
            yield RequestName(_OBJECTS[place], key, field_owner, inner, key in known)

    @cached_property
    def _declared_names(self) -> list[RequestName]:
        """All names that requests of the tool may contain, even if a call gives them no value.

        They are the names of parameters, fields, headers and cookies.
        """
        query = self._template.partition("?")[2].split("&")
        found = [
            RequestName("query", unquote_plus(pair.partition("=")[0]), "the tool's address")
            for pair in query
            if pair
        ]
        if self._binding.idempotency_header:
            found.append(
                RequestName("header", self._binding.idempotency_header, "the idempotency key")
            )
        if "cookie" in self._used:
            found.append(RequestName("header", "Cookie", "the cookies"))
        for name, place in self._places.items():
            owner = f"argument {name!r}"
            fields = self._fields.get(name, ()) if place in _OBJECTS else ()
            found += [
                RequestName(_OBJECTS[place], key, f"the field {key!r} of {owner}") for key in fields
            ]
            found.append(RequestName(place, self._binding.wire_name(name), owner))
        return found

    def _refuse_collisions(
        self, sent: list[RequestName], reserved: Iterable[tuple[str, str]]
    ) -> None:
        """Refuse arguments that a server could read as another argument or as a credential.

        A declared name must only differ from the declared names at the same location. An undeclared
        name must not be readable as any other name: its value was not validated for the other
        argument, and a person who approved the call saw the value under another name. A field of a
        whole body may repeat a name from the query, but only with the same value.

        Raises:
            ToolError: there is such an argument.
        """
        others = [RequestName("form", "_method", "the method of the request")]
        others += [RequestName(place, name, "a credential") for place, name in reserved]
        exact = {name.exact: name.owner for name in reversed(self._declared_names)}
        taken: Mapping[tuple[str, str], list[RequestName]] = {}
        if not all(name.declared for name in sent):
            taken = by_reading([*self._declared_names, *sent, *others])
        for name in sent:
            if name.declared:
                owners = {exact.get(name.exact, name.owner)}
            else:
                self._single_line_text(name.name, name.name)
                alike = [other for reading in name.readings for other in taken[reading]]
                if name.place == "field":
                    alike = [other for other in alike if contradicts(other, name)]
                owners = {other.owner for other in alike}
            if other := min(owners - {name.owner}, default=None):
                problem = f"{name.owner} would be sent as {name.name!r}, in the place of {other}"
                raise self._refusal(
                    f"{problem}; leave it out, or give the value to the argument that it is for."
                )

    # --- parts of a request

    def _headers(
        self, values: Mapping[str, Json], cookies: Mapping[str, Json]
    ) -> CaseInsensitiveDict[str]:
        """Return the headers of a request, without the type of its body.

        Raises:
            ToolError: an argument would set a header of the transport, or a value has control
                characters.
        """
        headers = CaseInsensitiveDict(DEFAULT_HEADERS)
        if self._binding.accept:
            headers["Accept"] = (
                f"{', '.join(self._binding.accept)}, application/json;q=0.9, */*;q=0.5"
            )
        for key, value in values.items():
            if key.lower() in _TRANSPORT_HEADERS or key.lower().startswith("proxy-"):
                raise self._refusal(f"the header {key!r} cannot be set by an argument.")
            headers[key] = self._single_line_text(key, value).strip(" \t")
        if cookies:
            headers["Cookie"] = "; ".join(
                f"{key}={quote(self._single_line_text(key, value), safe=_COOKIE_SAFE)}"
                for key, value in cookies.items()
            )
        return headers

    def _url(self, values: Mapping[str, Json], query: Mapping[str, Json]) -> str:
        """Return the URL with its variables filled in and the query arguments added."""

        def in_path(match: re.Match[str]) -> str:
            items = self._url_values(match[1], values)
            rule = self._paths.get(match[1]) or PathRule(match[1], {}, {})
            for item in items:
                if problem := rule.problem(item):
                    raise self._refusal(f"argument {match[1]!r} {problem}.")
            safe = "/" if rule.raw else ""
            return ",".join(quote(item, safe=safe) for item in items)

        def in_query(match: re.Match[str]) -> str:
            return ",".join(quote(item, safe="") for item in self._url_values(match[1], values))

        template, _, fixed = self._template.partition("?")
        segments = []
        for segment in template.split("/"):
            filled = _BRACES.sub(in_path, segment)
            if filled != segment and has_dot_segment(unquote(filled)):
                names = ", ".join(map(repr, _BRACES.findall(segment)))
                raise self._refusal(f"argument {names} would make {filled!r} a step in the path.")
            segments.append(filled)
        path = "/".join(segments)
        query_text = "&".join(filter(None, [_BRACES.sub(in_query, fixed), url_encode(query)]))
        return f"{self.origin.url}{path or '/'}{'?' + query_text if query_text else ''}"

    def _url_values(self, name: str, values: Mapping[str, Json]) -> list[str]:
        """Return the texts that replace one variable of the URL: several if the value is a list.

        Raises:
            ToolError: there is no value, or it contains control characters.
        """
        items = [item for _, item in text_pairs({name: values.get(name)})]
        if not items or "" in items:
            raise self._refusal(f"argument {name!r} stands in the URL, so it must have a value.")
        self._single_line_text(name, items)
        return items

    def _single_line_text(self, name: str, value: Json) -> str:
        """Return a value as text for a header, a cookie or the path.

        Raises:
            ToolError: the text has line breaks or other control characters.
        """
        text = ",".join(item for _, item in text_pairs({name: value}))
        if found := _CONTROL.search(text):
            raise self._refusal(
                f"argument {name!r} holds the control character {found[0]!r}, which is not sent."
            )
        return text

    def _refusal(self, problem: str) -> ToolError:
        return ToolError(None, f"{self._tool}: {problem}", outcome="not_run")


def _used_places(
    protocol: ToolProtocol, binding: HttpBinding, places: Mapping[str, Place]
) -> set[Place]:
    """Return the locations in a request (`path`, `query`, …) that the arguments of a tool use.

    Raises:
        InvalidProtocol: the arguments of the body cannot be sent together.
    """
    used = set(places.values())
    if len(used & {"body", "form", "whole_body"}) > 1:
        problem = "its body has arguments of two kinds: JSON fields, a form, or the whole of it."
        raise InvalidProtocol(protocol.name, problem, path="binding.http.locations")
    if binding.media.endswith("json") and not binding.body_argument:
        used.add("body")
    return used


def _object_fields(
    schemas: Mapping[str, JsonObject], root: JsonObject, *, skip: Container[str]
) -> dict[str, Mapping[str, Any]]:
    """Return the fields of each argument that is an object, keyed by the argument's name.

    Arguments in `skip` are left out.
    """
    fields: dict[str, Mapping[str, Any]] = {}
    for name, schema in schemas.items():
        top = resolve(schema, root)
        if "object" in types(top) and name not in skip:
            fields[name] = top.get("properties") or {}
    return fields


def refuse_unless_json(tool: str, arguments: JsonObject) -> None:
    """Raise `ToolError` if the arguments contain a value that is not JSON.

    Examples of such values are a set, NaN and a lone surrogate.
    """
    try:
        json.dumps(dict(arguments), allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        problem = "half of a character" if isinstance(error, UnicodeEncodeError) else str(error)
        raise ToolError(
            None, f"{tool}: the arguments are not JSON ({problem}).", outcome="not_run"
        ) from None
