"""Bare descriptions: a name, a request or a Python function, names of arguments perhaps, a sentence perhaps.

    get_user: GET https://api.example.org/users/{id}?verbose=
    {"name": "get_user", "method": "GET", "url": "https://api.example.org/users/{id}", "arguments": ["id", "verbose"]}
    {"name": "total", "function": "shop.prices:total"}

They become protocols that hold what was described and no more: `atc probe` finds out the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args
from urllib.parse import unquote_plus

from protocols.errors import InvalidProtocol
from protocols.jsontypes import Json, JsonObject
from protocols.origin import is_url
from protocols.protocol import BODYLESS, Location
from protocols.sources.openapi import annotations_of, readable_name

_METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
_REQUEST = re.compile(rf"({'|'.join(_METHODS)})\s+(\S+)", re.IGNORECASE)
_OWN_KEYS = frozenset({"method", "url", "path", "function", "arguments", "request"})
_TYPES = {
    "str": "string", "string": "string", "int": "integer", "integer": "integer", "float": "number", "number": "number",
    "bool": "boolean", "boolean": "boolean", "list": "array", "array": "array", "dict": "object", "object": "object",
}  # fmt: skip
_WRITE = "write 'GET https://HOST/path/{id}?name='."


def is_bare(document: Json) -> bool:
    """Whether a document is one bare description: a request as text, or an object with a request's keys."""
    if isinstance(document, str):
        return _REQUEST.fullmatch(document.strip()) is not None
    keys = document.keys() if isinstance(document, Mapping) else set()
    return bool(keys & _OWN_KEYS) and not keys & {"inputSchema", "binding"}


def holds_bare(document: Json) -> bool:
    """Whether a file holds bare descriptions: one, a list that has any, `{"tools": […]}`, or names with requests."""
    if isinstance(document, list):
        return any(map(holds_bare, document))
    return is_bare(document) or (isinstance(document, Mapping) and (_is_listing(document) or _is_index(document)))


def parts_of(document: Json, where: str, base_url: str | None) -> Iterator[tuple[Json, str, str | None]]:
    """Each description in a file's content, its place, and the address that its paths are under."""
    if isinstance(document, list):
        for index, part in enumerate(document):
            if isinstance(part, str) and not is_bare(part):
                raise _invalid(f"{where}[{index}]", f"{part!r} is no request; {_WRITE}")
            yield from parts_of(part, f"{where}[{index}]", base_url)
    elif isinstance(document, Mapping) and _is_listing(document):
        below = base_url or document.get("url") or document.get("base_url")
        yield from parts_of(document["tools"], f"{where}: tools", below if isinstance(below, str) else None)
    elif isinstance(document, Mapping) and _is_index(document):
        for name, part in document.items():
            named = {"request": part} if isinstance(part, str) else dict(part)
            yield {"name": str(name), **named}, f"{where}: {name}", base_url
    else:
        yield document, where, base_url


def complete(document: Json, *, where: str, base_url: str | None = None) -> dict[str, Any]:
    """A bare description as the document of a protocol.

    `base_url` is where paths without a host are.

    Raises:
        InvalidProtocol: it has no host, another method than HTTP's, or arguments that are neither names nor schemas.
    """
    given = dict(document) if isinstance(document, Mapping) else {"request": document}
    if isinstance(request := given.pop("request", None), str):
        found = _REQUEST.fullmatch(request.strip())
        if found is None:
            raise _invalid(where, f"{request!r} is no request; {_WRITE}")
        given |= {"method": found[1], "url": found[2]}
    arguments = _arguments(given.pop("arguments", None), where)
    own = {key: given.pop(key) for key in ("method", "url", "path", "function") if key in given}
    base = {"evidence": {"level": "guessed"}}
    if "function" not in own:
        return base | _request(own, arguments, where, base_url) | given
    module, _, name = str(own["function"]).rpartition(":")
    if not module or not name:
        raise _invalid(where, f"{own['function']!r} is no function; write 'module:function'.", "function")
    required = [argument for argument, schema in arguments.items() if schema.pop("required", False) is True]
    inputs = {"inputSchema": _schema(arguments, required)} if arguments else {}
    return base | given | inputs | {"binding": {"python": {"module": module, "function": name}}}


def _request(own: JsonObject, arguments: dict[str, dict[str, Any]], where: str, base_url: str | None) -> dict[str, Any]:
    """What follows from method and URL: name, binding, arguments in their places, effects."""
    method = str(own.get("method", "GET")).upper()
    if method not in _METHODS:
        raise _invalid(where, f"{own['method']!r} is no HTTP method; write one of {', '.join(_METHODS)}.", "method")
    url, asked = _url(own, where, base_url)
    in_path = re.findall(r"\{([^{}/]+)\}", url)
    for name in (*in_path, *asked):
        arguments.setdefault(name, {})
    usual = "query" if method in BODYLESS else "body"
    locations: dict[str, str] = {}
    required = []
    for name, schema in arguments.items():
        place = schema.pop("in", None)
        if place is not None and place not in get_args(Location):
            raise _invalid(where, f"{place!r} is no place; write one of {', '.join(get_args(Location))}.", name)
        locations[name] = "path" if name in in_path else place or ("query" if name in asked else usual)
        if schema.pop("required", False) is True or name in in_path:
            required.append(name)
    return {
        "name": readable_name(method.lower(), "/" + "/".join(url.partition("?")[0].split("/")[3:])),
        "inputSchema": _schema(arguments, required),
        "annotations": annotations_of(method).hints,
        "binding": {"http": {"method": method, "url": url, "locations": locations}},
    }


def _url(own: JsonObject, where: str, base_url: str | None) -> tuple[str, list[str]]:
    """The URL's template, and the names in its query that stand without a value."""
    given = own.get("path", own.get("url"))
    if "path" in own and is_url(str(own.get("url", ""))):
        base_url = base_url or str(own["url"])
    if not isinstance(given, str) or not given.strip():
        raise _invalid(where, "it has no 'url'.", "url")
    url = given.strip()
    if base_url is not None and is_url(base_url):
        rest = "/".join(url.split("/")[3:]) if is_url(url) else url.lstrip("/")
        url = f"{base_url.rstrip('/')}/{rest}"
    if not is_url(url):
        hint = "Give the whole URL, or say where the service runs: 'SRC@https://HOST'."
        raise InvalidProtocol(where, f"{given!r} names no http(s) host.", path="url", hint=hint)
    path, _, query = url.partition("#")[0].partition("?")
    pairs = [pair for pair in query.split("&") if pair]
    asked = [unquote_plus(pair.partition("=")[0]) for pair in pairs if not pair.partition("=")[2]]
    kept = "&".join(pair for pair in pairs if pair.partition("=")[2])
    return (f"{path}?{kept}" if kept else path), asked


def _arguments(given: Json, where: str) -> dict[str, dict[str, Any]]:
    """Each argument's schema, with `in` and `required` beside JSON Schema's own keywords."""
    match given:
        case None:
            pairs: list[tuple[str, Json]] = []
        case Mapping():
            pairs = [(str(name), described) for name, described in given.items()]
        case list() if all(isinstance(part, str | Mapping) for part in given):
            pairs = [(one, None) if isinstance(one, str) else (str(one.get("name", "")), dict(one)) for one in given]
        case _:
            raise _invalid(where, f"they must be a list of names or an object, got {given!r}.", "arguments")
    if any(not name for name, _ in pairs):
        raise _invalid(where, "an argument has no name.", "arguments")
    return {name: _argument(described, where, name) for name, described in pairs}


def _argument(described: Json, where: str, name: str) -> dict[str, Any]:
    """An argument's schema from what was said of it: nothing, a type, a sentence, a schema."""
    match described:
        case None | "":
            return {}
        case str() if described.strip().lower() in _TYPES:
            return {"type": _TYPES[described.strip().lower()]}
        case str():
            return {"description": described.strip()}
        case Mapping():
            schema = {str(key): value for key, value in described.items() if key != "name"}
            if isinstance(kind := schema.get("type"), str):
                schema["type"] = _TYPES.get(kind.lower(), kind)
            return schema
        case _:
            raise _invalid(where, f"{described!r} is neither a sentence nor a schema.", f"arguments.{name}")


def _schema(arguments: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": dict(arguments)}
    return schema | ({"required": required} if required else {})


def _is_listing(document: JsonObject) -> bool:
    return isinstance(document.get("tools"), list) and "name" not in document


def _is_index(document: JsonObject) -> bool:
    """Whether every key is a tool's name: `{"get_user": "GET …", "find": {"url": …}}`."""
    return bool(document) and not is_bare(document) and all(map(is_bare, document.values()))


def _invalid(where: str, problem: str, path: str = "") -> InvalidProtocol:
    return InvalidProtocol(where, problem, path=path, hint="docs/protocols.md shows bare descriptions.")
