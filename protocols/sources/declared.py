"""OpenAPI's `links`: an operation says where another one's arguments stand in its response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Link

_BODY = "$response.body"


def declared_links(link: Json, *, producer: str, operations: Mapping[str, str]) -> Iterator[tuple[str, Link]]:
    """`(consuming tool, its Link)` for each argument that one OpenAPI link object fills from the response's body.

    `operations` maps operation ids and references (`#/paths/~1users/get`) to tools. Links to operations that are not
    there, and values from headers or the request, say nothing about a response path and are left out.
    """
    if not isinstance(link, Mapping):
        return
    reference = link.get("operationId") or unquote(str(link.get("operationRef", "")))
    consumer = operations.get(str(reference))
    if consumer is None:
        return
    parameters = link.get("parameters")
    filled = dict(parameters) if isinstance(parameters, Mapping) else {}
    if "requestBody" in link:
        filled["body"] = link["requestBody"]
    for parameter, expression in filled.items():
        path = response_path(expression)
        if path is not None:
            # A parameter may be qualified by its place: `path.id`.
            place, _, name = str(parameter).partition(".")
            argument = name if name and place in ("path", "query", "header", "cookie") else str(parameter)
            yield consumer, Link(argument=argument, tool=producer, path=path, support="declared")


def response_path(expression: Json) -> str | None:
    """`$response.body#/airports/0/code` → `airports[].code`; `None` for what is not in the response's body."""
    if not isinstance(expression, str):
        return None
    text = expression.strip().removeprefix("{").removesuffix("}")
    if text == _BODY:
        return ""
    if not text.startswith(f"{_BODY}#/"):
        return None
    path = ""
    for part in text.removeprefix(f"{_BODY}#/").split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        path += "[]" if key.isdigit() else f".{key}" if path else key
    return path


def expression_of(path: str) -> str:
    """The inverse of `response_path`."""
    parts = path.replace("[]", ".0").strip(".").split(".") if path else []
    return "#/".join([_BODY, "/".join(p.replace("~", "~0").replace("/", "~1") for p in parts)]) if parts else _BODY


def link_object(argument: str, path: str, operation: str) -> JsonObject:
    """An OpenAPI link object."""
    return {"operationId": operation, "parameters": {argument: expression_of(path)}}
