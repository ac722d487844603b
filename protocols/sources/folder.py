"""Reads a folder of JSON and YAML files with protocol documents or bare descriptions of tools.

A bare description is a request, optionally with a name, arguments and a sentence:

    get_user: GET https://api.example.org/users/{id}?verbose=
    {"name": "get_user", "method": "GET", "url": "https://api.example.org/users/{id}"}

A tool that is read from a bare description has only the properties that are written there. The
other ones, such as the schema of the response, are found by `atc probe`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args
from urllib.parse import unquote_plus

from protocols.documentation import docs_page
from protocols.effects import annotate_effects
from protocols.errors import InvalidProtocol, SourceUnavailable
from protocols.http.path_arguments import without_path_marks
from protocols.protocol import BODYLESS, Evidence, Location, ToolProtocol, dump, load
from protocols.schema import Json
from protocols.sources.fetch import fetch_document
from protocols.sources.operation import OperationArguments, readable_name
from protocols.urls import is_url

_SHOWN = docs_page("reference/protocols#bare-descriptions")
_SUFFIXES = (".json", ".yaml", ".yml")
_METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
_REQUEST = re.compile(rf"\s*({'|'.join(_METHODS)})\s+(\S+)\s*", re.IGNORECASE)
_BARE_KEYS = frozenset({"method", "url", "path", "arguments", "request"})
_TYPES = ("string", "integer", "number", "boolean", "array", "object")


def read_folder(path: Path, *, base_url: str | None = None) -> list[ToolProtocol]:
    """Return the tools that the files under `path` describe, in path order.

    Hidden files are skipped.

    `base_url` is the URL to which the paths in bare descriptions are relative.

    Raises:
        SourceUnavailable: the folder does not exist or has no tools, or a file cannot be read.
        InvalidProtocol: a file is not a valid protocol or bare description.
    """
    found = [
        protocol
        for file in files_of(path)
        for protocol in _read(fetch_document(str(file)), where=str(file), base_url=base_url)
    ]
    if not found:
        problem = (
            f"the folder {str(path)!r} has no protocol files"
            " (*.json or *.yaml) that describe a tool"
        )
        raise SourceUnavailable(f"{problem}; {_SHOWN} shows one.")
    return annotate_effects(found)


def files_of(folder: Path) -> list[Path]:
    """Return the files in `folder` that may describe tools: JSON and YAML files, in path order."""
    return [file for file in sorted(folder.rglob("*")) if _is_description_file(file, folder)]


def _is_description_file(file: Path, folder: Path) -> bool:
    """Return True for a JSON or YAML file that is not hidden."""
    if file.suffix.lower() not in _SUFFIXES or not file.is_file():
        return False
    return not any(part.startswith(".") for part in file.relative_to(folder).parts)


def read_protocols(
    document: Json, *, where: str, base_url: str | None = None
) -> list[ToolProtocol]:
    """Return the tools that the content of one file describes.

    The content is one or more protocol documents or bare descriptions. `where` names the file in
    messages.

    Raises:
        InvalidProtocol: the content is not a valid protocol or bare description.
    """
    return annotate_effects(_read(document, where=where, base_url=base_url))


def _read(document: Json, *, where: str, base_url: str | None) -> list[ToolProtocol]:
    """Return the tools that the content of one file describes.

    Their annotations do not say yet which of the tools only read; see `annotate_effects`.
    """
    match document:
        case list():
            parts = [(f"{where}[{index}]", part) for index, part in enumerate(document)]
        case {"tools": list(tools)} if "name" not in document:
            base_url = base_url or document.get("url")
            parts = [(f"{where}: tools", tools)]
        case dict() if _maps_names(document):
            parts = [
                (f"{where}: {name}", _with_name(name, part)) for name, part in document.items()
            ]
        case {"openapi": _} | {"swagger": _}:
            hint = "Give the file itself as a source of its own."
            raise InvalidProtocol(where, "this is an OpenAPI document, not a protocol.", hint=hint)
        case _:
            if isinstance(document, str) or _is_bare_description(document):
                document = _complete_description(document, where, base_url)
            return [load(document, where=where)]
    return [found for at, part in parts for found in _read(part, where=at, base_url=base_url)]


# --- bare descriptions


def _maps_names(document: Mapping[str, Json]) -> bool:
    """Return True if a document maps names of tools to bare descriptions.

    A bare description of a tool is little more than a request: `get_user: GET https://…`.
    """
    if not document or _is_bare_description(document):
        return False
    return all(map(_is_bare_description, document.values()))


def _with_name(name: str, description: Json) -> dict[str, Json]:
    """Return the bare description of a tool as an object that has the tool's name."""
    described = {"request": description} if isinstance(description, str) else description
    return {"name": str(name), **described}


def _is_bare_description(document: Json) -> bool:
    """Return True if a document is one bare description.

    A bare description is a request as text (`GET https://…`), or an object with keys such as
    `method` and `url`.
    """
    if isinstance(document, str):
        return _REQUEST.fullmatch(document) is not None
    keys = document.keys() if isinstance(document, Mapping) else set()
    return bool(keys & _BARE_KEYS) and not keys & {"inputSchema", "binding"}


def _complete_description(document: Json, where: str, base_url: str | None) -> dict[str, Any]:
    """Return a bare description as a complete protocol document.

    The arguments and the name come from the method and the URL, unless the description states them.
    `base_url` is the URL to which a path without a host is relative.
    """
    given = dict(document) if isinstance(document, Mapping) else {"request": document}
    method, url = _pop_request(given, where)
    url = _url(url, where, base_url)
    path, _, query = url.partition("#")[0].partition("?")
    path, marked = without_path_marks(path)
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    asked = [unquote_plus(name) for name, _, value in pairs if not value]
    kept = "&".join(f"{name}={value}" for name, _, value in pairs if value)
    in_path = re.findall(r"\{([^{}/]+)\}", path)
    described = _pop_arguments(given, where)
    has_body = method not in BODYLESS and described.keys() <= set(in_path)
    arguments = OperationArguments(media="application/json" if has_body else "")
    for name, one in (dict.fromkeys([*described, *in_path, *asked]) | described).items():
        schema = _argument_schema(name, one, where)
        usual: Location = "query" if method in BODYLESS or name in asked else "body"
        location: Location = (
            "path" if name in in_path else _pop_location(schema, usual, name, where)
        )
        required = schema.pop("required", False) is True or location == "path"
        arguments.add(name, location, schema, required=required)
    arguments.mark_paths(marked)
    name = readable_name(method, "/" + "/".join(path.split("/")[3:]))
    url = f"{path}?{kept}" if kept else path
    return dump(arguments.protocol(name, method, url, evidence=Evidence(level="guessed"))) | given


def _pop_request(description: dict[str, Json], where: str) -> tuple[str, Json]:
    """Remove the request from the bare description of a tool, and return its method and URL.

    The URL may be only a path.
    """
    request = description.pop("request", None)
    if isinstance(request, str):
        found = _REQUEST.fullmatch(request)
        if found is None:
            raise _invalid_protocol(
                where, f"{request[:100]!r} is no request; write 'GET https://HOST/path/{{id}}'."
            )
        description |= {"method": found[1], "url": found[2]}
    method = str(description.pop("method", "GET")).upper()
    if method not in _METHODS:
        raise _invalid_protocol(
            where, f"{method!r} is no HTTP method; write one of {', '.join(_METHODS)}.", "method"
        )
    return method, description.pop("path", None) or description.pop("url", None)


def _pop_arguments(description: dict[str, Json], where: str) -> dict[str, Json]:
    """Remove the arguments from the bare description of a tool, and return them keyed by name.

    Each value describes its argument by a sentence, a type or a schema, or is None.
    """
    described: Any = description.pop("arguments", None) or {}
    if isinstance(described, list) and all(isinstance(name, str) for name in described):
        return dict.fromkeys(described)
    if not isinstance(described, dict):
        raise _invalid_protocol(
            where, f"they must be a list of names or an object, got {described!r}.", "arguments"
        )
    return described


def _argument_schema(name: str, described: Json, where: str) -> dict[str, Any]:
    """Return the schema of an argument that a bare description describes in one of three ways.

    `described` is a type, a sentence or a schema.
    """
    if isinstance(described, str):
        return {"type" if described in _TYPES else "description": described.strip()}
    if not isinstance(described, Mapping | None):
        raise _invalid_protocol(
            where, f"{described!r} is neither a sentence nor a schema.", f"arguments.{name}"
        )
    return dict(described or {})


def _pop_location(schema: dict[str, Any], usual: Location, name: str, where: str) -> Location:
    """Remove the key `in`, the location of an argument, from its schema, and return the location.

    If the schema has no such key, return `usual`.
    """
    location = schema.pop("in", usual)
    if location not in get_args(Location):
        known = ", ".join(get_args(Location))
        raise _invalid_protocol(where, f"{location!r} is no place; write one of {known}.", name)
    found: Location = location
    return found


def _url(given: Json, where: str, base_url: str | None) -> str:
    """Return the full URL of a tool from `given`, the URL or path in its description.

    If there is a `base_url`, it replaces the host.
    """
    if not isinstance(given, str) or not given.strip():
        raise _invalid_protocol(where, "it has no 'url'.", "url")
    url = given.strip()
    if isinstance(base_url, str) and is_url(base_url):
        rest = "/".join(url.split("/")[3:]) if is_url(url) else url.lstrip("/")
        url = f"{base_url.rstrip('/')}/{rest}"
    if not is_url(url):
        hint = "Give the whole URL, or say where the service runs: 'SRC@https://HOST'."
        raise InvalidProtocol(where, f"{given!r} names no http(s) host.", path="url", hint=hint)
    return url


def _invalid_protocol(where: str, problem: str, path: str = "") -> InvalidProtocol:
    return InvalidProtocol(where, problem, path=path, hint=f"{_SHOWN} shows bare descriptions.")
