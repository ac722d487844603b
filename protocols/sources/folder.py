"""Reads a folder of JSON and YAML files with protocols or bare descriptions.

A bare description is a request, optionally with a name, arguments and a sentence:

    get_user: GET https://api.example.org/users/{id}?verbose=
    {"name": "get_user", "method": "GET", "url": "https://api.example.org/users/{id}"}

Its protocol contains only what it says. `atc probe` finds out the rest.
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
    """Return the protocols of all files under `path`, in path order. Hidden files are skipped.

    `base_url` is the address for the paths of bare descriptions.

    Raises:
        SourceUnavailable: the folder does not exist or has no tools, or a file cannot be read.
        InvalidProtocol: a file breaks the format.
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
    """Return the files that `read_folder` reads."""
    return [file for file in sorted(folder.rglob("*")) if _is_description_file(file, folder)]


def _is_description_file(file: Path, folder: Path) -> bool:
    """Return True for a JSON or YAML file that is not hidden."""
    if file.suffix.lower() not in _SUFFIXES or not file.is_file():
        return False
    return not any(part.startswith(".") for part in file.relative_to(folder).parts)


def read_protocols(
    document: Json, *, where: str, base_url: str | None = None
) -> list[ToolProtocol]:
    """Return the protocols in the content of one file; see `read_folder`.

    Raises:
        InvalidProtocol: it breaks the format.
    """
    return annotate_effects(_read(document, where=where, base_url=base_url))


def _read(document: Json, *, where: str, base_url: str | None) -> list[ToolProtocol]:
    """Return the protocols in the content of one file, without judging their effects."""
    match document:
        case list():
            parts = [(f"{where}[{index}]", part) for index, part in enumerate(document)]
        case {"tools": list(tools)} if "name" not in document:
            base_url = base_url or document.get("url")
            parts = [(f"{where}: tools", tools)]
        case dict() if (
            document
            and not _is_bare_description(document)
            and all(map(_is_bare_description, document.values()))
        ):
            parts = [  # every key is a tool's name
                (
                    f"{where}: {name}",
                    {"name": str(name), **({"request": part} if isinstance(part, str) else part)},
                )
                for name, part in document.items()
            ]
        case {"openapi": _} | {"swagger": _}:
            hint = "Give the file itself as a source of its own."
            raise InvalidProtocol(where, "this is an OpenAPI document, not a protocol.", hint=hint)
        case _:
            bare = isinstance(document, str) or _is_bare_description(document)
            return [
                load(
                    _complete_description(document, where, base_url) if bare else document,
                    where=where,
                )
            ]
    return [found for at, part in parts for found in _read(part, where=at, base_url=base_url)]


# --- bare descriptions


def _is_bare_description(document: Json) -> bool:
    """Return True if a document is one bare description: a request, or an object with its keys."""
    if isinstance(document, str):
        return _REQUEST.fullmatch(document) is not None
    keys = document.keys() if isinstance(document, Mapping) else set()
    return bool(keys & _BARE_KEYS) and not keys & {"inputSchema", "binding"}


def _complete_description(document: Json, where: str, base_url: str | None) -> dict[str, Any]:
    """Return the protocol document of a bare description.

    It has what follows from method and URL, and what the description says. `base_url` is the
    address for paths without a host.
    """
    given = dict(document) if isinstance(document, Mapping) else {"request": document}
    if isinstance(request := given.pop("request", None), str):
        found = _REQUEST.fullmatch(request)
        if found is None:
            raise _invalid_protocol(
                where, f"{request[:100]!r} is no request; write 'GET https://HOST/path/{{id}}'."
            )
        given |= {"method": found[1], "url": found[2]}
    method = str(given.pop("method", "GET")).upper()
    if method not in _METHODS:
        raise _invalid_protocol(
            where, f"{method!r} is no HTTP method; write one of {', '.join(_METHODS)}.", "method"
        )
    url = _url(given.pop("path", None) or given.pop("url", None), where, base_url)
    path, _, query = url.partition("#")[0].partition("?")
    path, marked = without_path_marks(path)
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    asked = [unquote_plus(name) for name, _, value in pairs if not value]
    kept = "&".join(f"{name}={value}" for name, _, value in pairs if value)
    in_path = re.findall(r"\{([^{}/]+)\}", path)
    described: Any = given.pop("arguments", None) or {}
    if isinstance(described, list) and all(isinstance(name, str) for name in described):
        described = dict.fromkeys(described)
    if not isinstance(described, dict):
        raise _invalid_protocol(
            where, f"they must be a list of names or an object, got {described!r}.", "arguments"
        )
    arguments = OperationArguments(
        media="" if method in BODYLESS or described.keys() - in_path else "application/json"
    )
    for name, one in (dict.fromkeys([*described, *in_path, *asked]) | described).items():
        if not isinstance(one, str | Mapping | None):
            raise _invalid_protocol(
                where, f"{one!r} is neither a sentence nor a schema.", f"arguments.{name}"
            )
        schema = (
            {"type" if one in _TYPES else "description": one.strip()}
            if isinstance(one, str)
            else dict(one or {})
        )
        usual = "query" if method in BODYLESS or name in asked else "body"
        place: Any = "path" if name in in_path else schema.pop("in", usual)
        if place not in get_args(Location):
            raise _invalid_protocol(
                where, f"{place!r} is no place; write one of {', '.join(get_args(Location))}.", name
            )
        required = schema.pop("required", False) is True or place == "path"
        arguments.add(name, place, schema, required=required)
    arguments.mark_paths(marked)
    name = readable_name(method, "/" + "/".join(path.split("/")[3:]))
    url = f"{path}?{kept}" if kept else path
    return dump(arguments.protocol(name, method, url, evidence=Evidence(level="guessed"))) | given


def _url(given: Json, where: str, base_url: str | None) -> str:
    """Return the full URL of a description. `base_url` also replaces another host."""
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
