"""An error's body: its JSON, wherever it stands, and its words."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from typing import Any

from protocols.jsontypes import Json
from protocols.reply import parse

MAX_CHARACTERS = 65_536
_MAX_STRINGS = 40
_SILENT = frozenset({
    "attemptedvalue", "code", "doc_url", "documentation_url", "exception", "file", "headers", "input", "instance",
    "json", "locations", "method", "path", "query_string", "rejectedvalue", "request", "request_id", "schema",
    "stack", "stacktrace", "status", "timestamp", "trace", "traceback", "type", "uri", "url", "value",
})  # fmt: skip
_BLOCK = re.compile(
    r"<(?:/?(?:p|div|h\d|li|br|title|td|tr|pre|body|head|message|code|error|detail|description)\b[^>]{0,300})>",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[/!?A-Za-z][^<>]{0,500}>")
_ERROR_NAME = re.compile(
    r"^\s*(?:HTTP \d{3}: )?(?:[\w.\-/]{1,80}: )?(?:(?:[A-Za-z_][\w.]{0,80})?(?:Error|Exception|Warning)\b:?\s+)?"
)


def documents_in(text: str) -> tuple[list[Json], str]:
    """The JSON values that a body is or holds, and the words around them."""
    try:
        return [parse(text)], ""
    except ValueError:
        pass
    if _is_markup(text):
        return [], _words_of(text)
    found, rest, start = [], text, 0
    for _ in range(4):
        opening = re.compile(r"[\[{](?=\s*[\[{\"])").search(rest, start)
        if opening is None:
            break
        try:
            value, end = json.JSONDecoder().raw_decode(rest, opening.start())
            parse(rest[opening.start() : end])  # finite numbers, no more levels than a reader can stand
        except (ValueError, RecursionError):
            start = opening.end()
            continue
        if isinstance(value, dict | list) and any(
            isinstance(part, dict) for part in (value if isinstance(value, list) else [value])
        ):
            found.append(value)
            rest = rest[: opening.start()] + "\n" + rest[end:]
        start = opening.start() + 1
    return found, _last_line(rest)


def messages_in(document: Json, seen: set[int], said: set[str]) -> list[str]:
    """The sentences of a document, those of one object together.

    Objects in `seen`, by identity, and the sentences in `said` were read already.
    """
    found: list[str] = []
    queue: list[tuple[Json, int]] = [(document, 0)]
    while queue and len(found) < _MAX_STRINGS:
        node, depth = queue.pop(0)
        if isinstance(node, str):
            found += [node] if node not in said else []
        elif isinstance(node, list) and depth < 8:
            queue += [(item, depth + 1) for item in node[:50]]
        elif isinstance(node, dict) and id(node) not in seen and depth < 8:
            own = [words for words in _own_words(node) if words not in said]
            found += ["\n".join(own)] if own else []
            queue += [
                (v, depth + 1)
                for k, v in list(node.items())[:100]
                if isinstance(v, dict | list) and k.lower() not in _SILENT
            ]
    return found


def without_error_name(text: str) -> str:
    """`get_user: ValueError: no such user` → `no such user`."""
    match = _ERROR_NAME.match(text)
    prefix = match[0] if match else ""
    named = re.search(r"(?:Error|Exception|Warning)\b:?\s+$|HTTP \d{3}: ", prefix)
    return text[len(prefix) :] if named else text


def _own_words(node: Mapping[str, Any]) -> list[str]:
    return [
        value
        for key, value in list(node.items())[:100]
        if isinstance(value, str) and key.lower() not in _SILENT and (" " in value.strip() or ":" in value)
    ]


def _is_markup(text: str) -> bool:
    return re.match(r"\s*<(?:!doctype|html|\?xml|[A-Za-z][\w:]{0,40}[ >/])", text, re.IGNORECASE) is not None


def _words_of(markup: str) -> str:
    text = _HIDDEN.sub(" ", markup[:MAX_CHARACTERS])
    return html.unescape(_TAG.sub(" ", _BLOCK.sub("\n", text)))


def _last_line(text: str) -> str:
    """Of a Python traceback, the line that says what was wrong."""
    if "Traceback (most recent call last)" not in text:
        return text
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(" ")]
    return lines[-1] if lines else ""
