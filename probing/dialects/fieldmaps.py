"""Maps from a field to what is wrong with it: Django REST Framework, marshmallow, Rails, Laravel, ASP.NET."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from probing.dialects.complaint import Complaint
from probing.dialects.naming import IDENTIFIER, PLACES, Names, steps
from protocols.jsontypes import Json

_CONTAINERS = frozenset({
    "detail", "details", "error", "error_messages", "errors", "extensions", "field_errors", "fielderrors", "fields",
    "formerrors", "invalid", "invalid_params", "invalidparams", "issues", "message", "messages", "modelstate",
    "nested", "params", "problems", "validation", "validation_errors", "validationerrors", "violations",
})  # fmt: skip
_NOT_FIELDS = frozenset({
    "__all__", "_errors", "_schema", "base", "code", "description", "detail", "doc_url", "documentation_url",
    "errno", "error", "errors", "exception", "form_errors", "formerrors", "help", "hint", "instance", "links",
    "message", "method", "non_field_errors", "nonfielderrors", "reason", "request_id", "requestid", "stack",
    "status", "status_code", "statuscode", "success", "timestamp", "title", "trace", "trace_id", "traceid", "type",
    "url",
})  # fmt: skip
_WHOLE = frozenset({
    "non_field_errors", "nonfielderrors", "__all__", "_schema", "base", "_errors", "formerrors", "form_errors",
    "errors", "error", "messages", "message", "detail", "details", "general",
})  # fmt: skip
"""Keys under which stands what is wrong with the request as a whole."""
_ECHOES = frozenset({"body", "ctx", "headers", "input", "item", "query", "request", "value"})
"""Keys under which a reply repeats what it was sent."""
_MAX = 60


def read_maps(document: Json, names: Names) -> Iterator[Complaint]:
    """The complaints of every map from fields to messages, at the top or under a key such as `errors`."""
    if not isinstance(document, dict):
        return
    if all(isinstance(value, list) for value in document.values()) or any(
        names.known(key) and (isinstance(value, dict) or _messages(value))
        for key, value in document.items()
        if key.lower() not in _NOT_FIELDS
    ):
        lists = [
            isinstance(value, list) and _messages(value) and key.lower().strip("_") not in _CONTAINERS
            for key, value in document.items()
        ]
        yield from _fields(document, (), names, sure=bool(lists) and all(lists))
    yield from _containers(document, names, depth=4)


def _containers(node: Mapping[str, Any], names: Names, *, depth: int) -> Iterator[Complaint]:
    if depth == 0:
        return
    for key, value in list(node.items())[:_MAX]:
        sure = key.lower().strip("_") in _CONTAINERS
        for part in (value if isinstance(value, list) else [value])[:_MAX]:
            if isinstance(part, dict) and key.lower() not in _ECHOES:
                yield from _fields(part, (), names, sure=sure)
                yield from _containers(part, names, depth=depth - 1)


def _fields(
    node: Mapping[str, Any], path: tuple[str, ...], names: Names, *, sure: bool, depth: int = 6
) -> Iterator[Complaint]:
    for key, value in list(node.items())[:_MAX]:
        here = (*path, *([key] if names.known(key) else steps(key)))
        lower = key.lower()
        records = isinstance(value, list) and any(isinstance(item, dict) for item in value)
        if records and lower.strip("_") in _CONTAINERS and lower != "_errors" and not names.known(key):
            continue  # an envelope of complaints, not what is wrong with a field of this name
        if isinstance(value, dict) and depth:
            if lower in _CONTAINERS and not names.known(key):
                continue
            if lower in PLACES and not path and "_errors" not in value:
                here = (lower,)  # webargs: {"query": {"limit": ["…"]}}
            yield from _fields(value, here, names, sure=sure, depth=depth - 1)
        elif lower == "_errors" and path and (messages := _messages(value)):
            yield from (Complaint(path=path, text=text, sure=sure) for text in messages)
        elif (lower not in (_WHOLE if isinstance(value, list) else _NOT_FIELDS) or names.known(key)) and (
            messages := _messages(value)
        ):
            known = names.at(here)
            if isinstance(value, str) and (not (sure or depth == 6) or value == names.sent.get(key)):
                continue  # as likely what was sent as what is wrong with it
            if (known and known.known) or (sure and isinstance(value, list) and IDENTIFIER.fullmatch(key)):
                yield from (Complaint(path=here, text=text, sure=sure) for text in messages)


def _messages(value: Json) -> list[str]:
    """The messages of a field; empty where its value is something else."""
    if isinstance(value, str):
        return [value] if " " in value.strip() or value.lower() in ("required", "missing", "invalid") else []
    if not isinstance(value, list):
        return []
    found = []
    for item in value[:20]:
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict):
            text = next(
                (item[k] for k in ("message", "msg", "error", "description", "detail") if isinstance(item.get(k), str)),
                None,
            )
            if text is None:
                return []
            found.append({"blank": "can't be blank"}.get(text, text))
        else:
            return []
    return found
