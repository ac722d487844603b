"""Responses of OpenAPI operations: which describe success, and what their text is."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from protocols.file_names import OCTETS, is_binary_type
from protocols.file_schemas import FILE_SCHEMA, is_file
from protocols.schema import JsonObject, all_types, as_mapping
from protocols.sources.schemas import Schemas

_ERROR = re.compile(r"(?i:\b(?:errors?|unexpected|problem|failures?)\b)|\w(?:Error|Problem)s?\b")
"""Matches words which say that a `default` response is an error."""
_SENT_UNASKED = frozenset({"application/json", "text/json", "text/plain"})
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_MOST_MEDIA_TYPES = 8
_MOST_OF_ERROR = 5
"""Maximum number of properties of an object with `code` and `message` that is taken for an error.
"""


def success_statuses(responses: JsonObject) -> list[str]:
    """Return the 2xx statuses that an operation declares, in ascending order."""
    return sorted(status for status in responses if re.fullmatch(r"2(\d\d|XX|xx)", status))


def accepted_media(responses: JsonObject) -> tuple[str, ...]:
    """Return the media types of the successful responses, in the order of the document.

    The result is empty if JSON or plain text is among them, because a service sends these without
    being asked. Patterns such as `*/*`, and types that are not valid in a header, are left out.
    """
    statuses = success_statuses(responses) or [name for name in responses if name == "default"]
    declared = [
        media.partition(";")[0].strip().lower()
        for status in statuses
        for media in as_mapping(as_mapping(responses[status]).get("content"))
    ]
    if not _SENT_UNASKED.isdisjoint(declared):
        return ()
    plain = [media for media in dict.fromkeys(declared) if _MEDIA_TYPE.fullmatch(media)]
    return tuple(plain[:_MOST_MEDIA_TYPES])


def describes_error(response: JsonObject, schema: JsonObject | None) -> bool:
    """Return True if a `default` response describes errors and not the successful response."""
    shape = schema or {}
    texts = (response.get("description"), shape.get("title"), shape.get("description"))
    if any(_ERROR.search(str(text)) for text in texts if text):
        return True
    properties = as_mapping(shape.get("properties")).keys()
    return {"code", "message"} <= properties and len(properties) <= _MOST_OF_ERROR


def text_body(content: JsonObject, received: Schemas) -> dict[str, Any] | None:
    """Return the JSON Schema of a body without a JSON media type, or None if it is not known.

    `content` has the declared bodies, keyed by media type. A binary body is a file. Plain text may
    have a schema that is not that of a text, such as a number; then the text is read as JSON. Where
    it should be an object or a list, it may also be just text.
    """
    kinds = {media.partition(";")[0].strip().lower(): media for media in content}
    schemas = [received.convert(as_mapping(one).get("schema")) for one in content.values()]
    if _are_binary(kinds) or any(is_file(one, {}) for one in schemas):
        return dict(FILE_SCHEMA)
    if not any(kind.startswith("text/") or "xml" in kind for kind in kinds):
        return None
    plain = as_mapping(content.get(kinds.get("text/plain", "")))
    top = received.top(received.convert(plain.get("schema")))
    found = all_types(top, {}) if isinstance(top, Mapping) else ()
    if not isinstance(top, Mapping) or not found or "string" in found:
        return {"type": "string"}
    if {"object", "array"} & {*found}:
        return received.complete({"anyOf": [top, {"type": "string"}]})
    return received.complete(top)


def _are_binary(kinds: Collection[str]) -> bool:
    """Return True if there are media types, and all of them are binary."""
    return bool(kinds) and all(one == OCTETS or is_binary_type(one) for one in kinds)
