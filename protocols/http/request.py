"""From a binding and arguments to an HTTP request. What an argument says never leaves the place it was given."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import quote, unquote, unquote_plus, urlencode

from requests.structures import CaseInsensitiveDict
from urllib3 import encode_multipart_formdata
from urllib3.fields import RequestField

from protocols.errors import InvalidProtocol, ToolError
from protocols.http.decoding import ACCEPTED
from protocols.http.path_arguments import PathRule, has_dot_segment
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import Json, JsonObject, is_file, resolve, types
from protocols.urls import split_url

DEFAULT_HEADERS: Final = {
    "Accept": "application/json, */*;q=0.5",
    "Accept-Encoding": ACCEPTED,
    "User-Agent": "automatic-tool-chain",
}
# They decide how or where a request travels, so no argument may set them.
_TRANSPORT_HEADERS = frozenset(
    [
        "host",
        "connection",
        "content-length",
        "transfer-encoding",
        "upgrade",
        "te",
        "trailer",
        "expect",
        "keep-alive",
    ]
)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_BRACES = re.compile(r"\{([^{}/]*)\}")
_COOKIE_SAFE = (
    "!#$%&'()*+-./:<=>?@[]^_`{|}~"  # RFC 6265: no space, quote, comma, semicolon or backslash
)

_MULTIPART = "multipart/form-data"
_MERGED = (
    "path",
    "query",
    "form",
    "body",
    "field",
)  # many servers read them as one set of parameters
_OBJECTS = {"query": "query", "form": "form", "whole_body": "field"}
"""Where an object stands for its fields, and the place in which those are."""

Place = Literal["path", "query", "header", "cookie", "body", "form", "whole_body"]


class _RequestName(NamedTuple):
    """A name in a request, whose it is, what is sent under it, and whether the protocol declares it."""

    place: str
    name: str
    owner: str
    value: Json = None
    declared: bool = True

    @property
    def exact(self) -> tuple[str, str]:
        """Declared names that have this in common are one name: some servers take the header `X-A` for `x_a`."""
        return self.place, normalize_name(self.name) if self.place == "header" else self.name

    @property
    def readings(self) -> set[tuple[str, str]]:
        """What a server may take the name for: `to[]` or `to.x` for `to`, a field of a form for one of the query."""
        place = "any" if self.place in _MERGED else self.place
        base = re.split(r"[\[.]", unquote(unquote_plus(self.name)), maxsplit=1)[0]
        return {(place, normalize_name(self.name)), (place, normalize_name(base or self.name))}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request ready to be sent, but for credentials. The URL is percent-encoded and has no fragment."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_HEADERS))
    body: bytes | None = None


class RequestBuilder:
    """How the arguments of one tool become a request: the binding, read once and checked."""

    def __init__(self, protocol: ToolProtocol, binding: HttpBinding) -> None:
        """Raises `InvalidProtocol` for a binding that cannot be called."""
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
        self._used = set(self._places.values())
        if len(self._used & {"body", "form", "whole_body"}) > 1:
            problem = (
                "its body has arguments of two kinds: JSON fields, a form, or the whole of it."
            )
            raise InvalidProtocol(protocol.name, problem, path="binding.http.locations")
        if binding.media.endswith("json") and not binding.body_argument:
            self._used.add("body")
        # Two marks that sources leave in argument schemas: how arrays and objects are sent, and what is no JSON.
        schemas = {
            name: schema
            for name, schema in protocol.parameters.items()
            if isinstance(schema, Mapping)
        }
        self._joins = {
            name: str(schema["x-atc-join"])
            for name, schema in schemas.items()
            if "x-atc-join" in schema
        }
        forms = [name for name in schemas if self._places[name] == "form"]
        files = [name for name in forms if is_file(schemas[name], protocol.input_schema)]
        self._parts = dict.fromkeys(map(binding.wire_name, files), "application/octet-stream")
        jsons = [name for name in forms if self._joins.get(name) == "{}"]
        self._parts |= dict.fromkeys(map(binding.wire_name, jsons), "application/json")
        self._multipart = bool(files) or binding.media == _MULTIPART
        body = schemas.get(binding.body_argument or "", {})
        self._media = binding.media or str(body.get("contentMediaType", "application/json"))
        self._paths = {
            binding.wire_name(name): PathRule(
                binding.wire_name(name), schema, protocol.input_schema
            )
            for name, schema in schemas.items()
            if self._places[name] == "path"
        }
        self._fields: dict[str, Mapping[str, Any]] = {
            name: top.get("properties") or {}
            for name, schema in schemas.items()
            if "object" in types(top := resolve(schema, protocol.input_schema))
            and name not in self._joins
        }

    def build(
        self, arguments: JsonObject, *, reserved: Iterable[tuple[str, str]] = ()
    ) -> HttpRequest:
        """The request for these arguments, by original name. `reserved` are places and names of credentials.

        Raises:
            ToolError: an argument cannot be put where it belongs, or takes the place of another; nothing was sent.
        """
        refuse_unless_json(self._tool, arguments)
        sent = [
            name for argument, value in arguments.items() for name in self._names(argument, value)
        ]
        self._refuse_collisions(sent, reserved)
        at: dict[str, dict[str, Json]] = defaultdict(dict)
        for one in sent:
            # An explicit null means something in a JSON body, and nothing anywhere else.
            if one.place in ("body", "whole_body") or one.value is not None:
                at[one.place][one.name] = one.value
        headers = CaseInsensitiveDict(DEFAULT_HEADERS)
        for name, value in at["header"].items():
            if name.lower() in _TRANSPORT_HEADERS or name.lower().startswith("proxy-"):
                raise self._refusal(f"the header {name!r} cannot be set by an argument.")
            headers[name] = self._single_line_text(name, value).strip(" \t")
        if cookies := at["cookie"]:
            headers["Cookie"] = "; ".join(
                f"{name}={quote(self._single_line_text(name, value), safe=_COOKIE_SAFE)}"
                for name, value in cookies.items()
            )
        body, media = self._body(at)
        if body is not None:
            headers["Content-Type"] = media
        url = self._url(at["path"], at["query"])
        return HttpRequest(method=self._binding.method, url=url, headers=dict(headers), body=body)

    # --- names, and which may be sent together

    def _names(self, argument: str, value: Json) -> Iterator[_RequestName]:
        """What is sent for an argument. Of an object in the query or a form, as OpenAPI has it, that is its fields."""
        declared = argument in self._places
        wire = self._binding.wire_name(argument)
        place: str = self._places.get(argument) or self._binding.location(argument)
        if place == "path" and f"{{{wire}}}" not in self._template:
            raise self._refusal(f"argument {argument!r} has no place {{{wire}}} in the URL.")
        owner = f"argument {argument!r}"
        joint = self._joins.get(argument)
        if joint == "[]" and place in ("query", "form"):
            yield from (
                _RequestName(place, name, owner, inner, name == wire)
                for name, inner in _iter_deep_object_pairs(wire, value)
            )
            return
        if place in ("query", "form") and joint == "{}" and value is not None:
            value = json.dumps(value, separators=(",", ":"))
        elif place in ("query", "form") and joint is not None and isinstance(value, list | tuple):
            value = joint.join(item for _, item in _pairs({argument: value})) or None
        if not isinstance(value, Mapping) or place not in _OBJECTS:
            yield _RequestName(place, wire, owner, value, declared or place == "path")
            return
        known = self._fields.get(argument, {})
        for key, inner in value.items():
            whose = f"the field {key!r} of {owner}" if key in known else owner
            yield _RequestName(_OBJECTS[place], key, whose, inner, key in known)
        if place == "whole_body":
            yield _RequestName(place, wire, owner, value)

    @cached_property
    def _declared_names(self) -> list[_RequestName]:
        """The names that are spoken for, whether or not a call gives them a value."""
        query = self._template.partition("?")[2].split("&")
        found = [
            _RequestName("query", unquote_plus(pair.partition("=")[0]), "the tool's address")
            for pair in query
            if pair
        ]
        if self._binding.idempotency_header:
            found.append(
                _RequestName("header", self._binding.idempotency_header, "the idempotency key")
            )
        if "cookie" in self._used:
            found.append(_RequestName("header", "Cookie", "the cookies"))
        for name, place in self._places.items():
            owner = f"argument {name!r}"
            fields = self._fields.get(name, ()) if place in _OBJECTS else ()
            found += [
                _RequestName(_OBJECTS[place], key, f"the field {key!r} of {owner}")
                for key in fields
            ]
            found.append(_RequestName(place, self._binding.wire_name(name), owner))
        return found

    def _refuse_collisions(
        self, sent: list[_RequestName], reserved: Iterable[tuple[str, str]]
    ) -> None:
        """Refuse arguments of which one would be sent, or be read, in the place of another.

        A declared name only has to differ from the others of its place. One that the call alone brings must not even be
        read as another: what it says was never held against that other's schema, nor shown to anybody as its value.
        A field of a whole body may repeat what stands elsewhere, but not give a name of the query another value.
        """
        others = [_RequestName("form", "_method", "the method of the request")]
        others += [_RequestName(place, name, "a credential") for place, name in reserved]
        exact = {name.exact: name.owner for name in reversed(self._declared_names)}
        taken: dict[tuple[str, str], list[_RequestName]] = defaultdict(list)
        for name in (
            (*self._declared_names, *sent, *others)
            if not all(name.declared for name in sent)
            else ()
        ):
            for reading in name.readings:
                taken[reading].append(name)
        for name in sent:
            if name.declared:
                owners = {exact.get(name.exact, name.owner)}
            else:
                self._single_line_text(name.name, name.name)
                alike = [other for reading in name.readings for other in taken[reading]]
                if name.place == "field":
                    asked = [one for one in alike if one.place == "query" and one.value is not None]
                    alike = [
                        one for one in asked if json.dumps(one.value) != json.dumps(name.value)
                    ]
                owners = {other.owner for other in alike}
            if other := min(owners - {name.owner}, default=None):
                problem = f"{name.owner} would be sent as {name.name!r}, in the place of {other}"
                raise self._refusal(
                    f"{problem}; leave it out, or give the value to the argument that it is for."
                )

    # --- the parts of a request

    def _url(self, values: Mapping[str, Json], query: Mapping[str, Json]) -> str:
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
        steps = []
        for step in template.split("/"):
            made = _BRACES.sub(in_path, step)
            if made != step and has_dot_segment(unquote(made)):
                names = ", ".join(map(repr, _BRACES.findall(step)))
                raise self._refusal(f"argument {names} would make {made!r} a step in the path.")
            steps.append(made)
        path = "/".join(steps)
        asked = "&".join(filter(None, [_BRACES.sub(in_query, fixed), _url_encode(query)]))
        return f"{self.origin.url}{path or '/'}{'?' + asked if asked else ''}"

    def _url_values(self, name: str, values: Mapping[str, Json]) -> list[str]:
        """Return what is sent for a variable of the URL: one text, or one for each item of a list."""
        items = [item for _, item in _pairs({name: values.get(name)})]
        if not items or "" in items:
            raise self._refusal(f"argument {name!r} stands in the URL, so it must have a value.")
        self._single_line_text(name, items)
        return items

    def _body(self, at: Mapping[str, Mapping[str, Json]]) -> tuple[bytes | None, str]:
        if at["form"] and self._multipart:
            return encode_multipart_formdata(
                [self._part(name, text) for name, text in _pairs(at["form"])]
            )
        if at["form"]:
            return _url_encode(at["form"]).encode(), "application/x-www-form-urlencoded"
        if at["whole_body"]:
            (value,) = at["whole_body"].values()
            if isinstance(value, str) and not self._media.endswith("json"):
                return value.encode(), self._media
        elif at["body"] or "body" in self._used:
            value = at["body"]  # where every field is optional and none was given, servers want {}
        else:
            return None, ""
        return json.dumps(value, separators=(",", ":")).encode(), self._media

    def _part(self, name: str, text: str) -> RequestField:
        media = self._parts.get(name)
        part = RequestField(
            name, text, filename=name if media == "application/octet-stream" else None
        )
        part.make_multipart(content_type=media)
        return part

    def _single_line_text(self, name: str, value: Json) -> str:
        """A value on the one line that it has in a header, a cookie or the path."""
        text = ",".join(item for _, item in _pairs({name: value}))
        if found := _CONTROL.search(text):
            raise self._refusal(
                f"argument {name!r} holds the control character {found[0]!r}, which is not sent."
            )
        return text

    def _refusal(self, problem: str) -> ToolError:
        return ToolError(None, f"{self._tool}: {problem}", outcome="not_run")


def refuse_unless_json(tool: str, arguments: JsonObject) -> None:
    """Raise `ToolError` for arguments that are not JSON, such as a set, NaN or half of a character. Nothing is sent."""
    try:
        json.dumps(dict(arguments), allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        problem = "half of a character" if isinstance(error, UnicodeEncodeError) else str(error)
        raise ToolError(
            None, f"{tool}: the arguments are not JSON ({problem}).", outcome="not_run"
        ) from None


def normalize_name(name: str) -> str:
    """`name` as the most lenient servers read it: its letters and digits, in one case, percent-decoded twice."""
    plain = unicodedata.normalize("NFKC", unquote(unquote_plus(name))).casefold()
    return re.sub(r"[\W_]+", "", plain) or plain


def _url_encode(values: Mapping[str, Json]) -> str:
    return urlencode(_pairs(values), quote_via=quote, safe="")


def _iter_deep_object_pairs(name: str, value: Json) -> Iterator[tuple[str, Json]]:
    """OpenAPI's deepObject: `created[gte]` of `{"gte": 1}`, `expand[]` of `["x"]`, `items[0][price]` of records."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _iter_deep_object_pairs(f"{name}[{key}]", inner)
    elif isinstance(value, list | tuple) and any(
        isinstance(item, Mapping | list | tuple) for item in value
    ):
        for number, inner in enumerate(value):
            yield from _iter_deep_object_pairs(f"{name}[{number}]", inner)
    else:
        yield f"{name}[]" if isinstance(value, list | tuple) else name, value


def _pairs(values: Mapping[str, Json]) -> list[tuple[str, str]]:
    """What is sent under each name: an array's items one by one, what is no text as JSON, and no null."""
    return [
        (name, item if isinstance(item, str) else json.dumps(item, separators=(",", ":")))
        for name, value in values.items()
        for item in (value if isinstance(value, list | tuple) else [value])
        if item is not None
    ]
