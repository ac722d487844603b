"""Reads the JSON value of an error reply, and the messages and paths in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import cast

from probing.name_distance import REPLIES
from protocols.naming import snake
from protocols.schema import Json

MOST_ENTRIES = 60
"""Maximum number of entries that are read of each object or list in a reply."""
_TEXTS = REPLIES["texts"]
MESSAGE_KEYS = REPLIES["complaints"]
CODE_KEYS = REPLIES["codes"]
_ISSUES = re.compile(r"\[\s*\{")


def split_path(text: Json) -> tuple[str, ...]:
    """Split the path to an argument into its parts, whatever notation the error reply uses.

    Notations are `/data/attributes/limit`, `body.limit` and `items[0].price`, for example. Return
    an empty tuple if `text` is not a string.
    """
    found = re.split(r"[/.\[\]]+", text[:300].lstrip("$#")) if isinstance(text, str) else []
    return tuple(part for part in found if part)


def words_of_error(node: Mapping[str, Json]) -> str:
    """Return the message of an error in a JSON reply, followed by its error code in words."""
    words = [str(node[key]) for key in MESSAGE_KEYS if isinstance(node.get(key), str)]
    words += [
        snake(str(node[key])).replace("_", " ")
        for key in CODE_KEYS
        if isinstance(node.get(key), str)
    ]
    return ". ".join(words)


def read_document(text: str) -> Json:
    """Return the JSON value of a reply, or a list of JSON objects that the reply's text contains.

    Messages of the library Zod contain such a list. Return None if the reply contains neither.
    """
    listed = _ISSUES.search(text)
    for part in (text, text[listed.start() : text.rfind("]") + 1] if listed else ""):
        with suppress(ValueError, RecursionError):
            return cast("Json", json.loads(part, object_hook=_unfold))
    return None


def _unfold(node: dict[str, Json]) -> dict[str, Json]:
    lists = {
        key: read_document(part)
        for key, part in node.items()
        if isinstance(part, str) and _ISSUES.match(part)
    }
    return node | {key: part for key, part in lists.items() if part is not None}


def iter_messages(document: Json, depth: int = 5) -> Iterator[str]:
    """Yield the texts in a JSON reply that may be messages.

    These are the strings that have a key such as `message`, and strings that contain a space.
    `depth` is the number of levels of nesting that are read.
    """
    if isinstance(document, str):
        yield document
    elif isinstance(document, list) and depth:
        for part in document[:20]:
            yield from iter_messages(part, depth - 1)
    elif isinstance(document, Mapping) and depth:
        for key, part in list(document.items())[:MOST_ENTRIES]:
            if isinstance(part, str) and (key.lower() in _TEXTS or " " in part):
                yield part
            elif isinstance(part, dict | list):
                yield from iter_messages(part, depth - 1)
