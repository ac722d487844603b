"""Answers that are a success by their status and no data: a login page, what is too deep or too large to keep."""

from __future__ import annotations

import json
import re

from protocols.jsontypes import Json
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.reply import MAX_DEPTH
from protocols.schema import resolve, types

MAX_BYTES = 8 * 1024 * 1024
"""Of one response, as JSON."""
_HTML = re.compile(
    r"[\ufeff\s]*+(?:<!--(?:(?!-->).)*+-->\s*+)*+<(!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_LOGIN = re.compile(r"""type\s*=\s*["']?password|\b(log|sign)[ -]?(in|on)\b|\blogin\b""", re.IGNORECASE)
_SAYS_HTML = re.compile(r"\b(x?html|web ?page)\b|text/html", re.IGNORECASE)
_LOOKED_AT = 20_000  # characters of a page


def unusable(protocol: ToolProtocol, response: Json) -> str:
    """Why a response is not the data that the tool is there for; empty where it is."""
    if isinstance(response, str):
        return _page(protocol, response)
    if isinstance(response, dict | list) and _deeper(response, MAX_DEPTH):
        return f"the response is nested deeper than {MAX_DEPTH} levels"
    # What came over HTTP was measured as it came.
    if not isinstance(protocol.binding, HttpBinding) and isinstance(response, dict | list):
        size = len(json.dumps(response, default=str))
        if size > MAX_BYTES:
            return f"the response is too large to keep: {size:,} bytes as JSON, more than {MAX_BYTES:,}"
    return ""


def is_login_page(text: str) -> bool:
    """Whether a text is an HTML page on which one logs in."""
    return bool(_HTML.match(text)) and bool(_LOGIN.search(text[:_LOOKED_AT]))


def _page(protocol: ToolProtocol, text: str) -> str:
    if not isinstance(protocol.binding, HttpBinding) and len(text) > MAX_BYTES:
        return f"the response is too large to keep: {len(text):,} characters, more than {MAX_BYTES:,}"
    if not _HTML.match(text):
        return ""
    if is_login_page(text):
        return "an HTML page to log in instead of data; does the tool need a credential?"
    return "" if _gives_pages(protocol) else "an HTML page instead of data"


def _gives_pages(protocol: ToolProtocol) -> bool:
    """Whether a tool is there to give HTML: its schema says that it gives text, or it speaks of pages."""
    schema = protocol.output_schema
    if schema and "string" in types(resolve(schema, schema)):
        return True
    url = protocol.binding.url if isinstance(protocol.binding, HttpBinding) else ""
    said = f"{protocol.name.replace('_', ' ')} {protocol.title} {protocol.description} {url}"
    return bool(_SAYS_HTML.search(said))


def _deeper(value: Json, limit: int) -> bool:
    level = [value]
    for _ in range(limit + 1):
        level = [
            part
            for node in level
            for part in (node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
            if isinstance(part, dict | list)
        ]
        if not level:
            return False
    return True
