"""One request of a recording and its answer, as a call of an API; or none, where it is a picture or a page."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from protocols.jsontypes import Json, JsonObject
from protocols.origin import split_url
from protocols.reply import parse
from protocols.sources.arguments import is_json
from protocols.sources.har.secrets import Secrets, is_secret
from protocols.sources.server import is_url

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_NO_CALLS = frozenset({"beacon", "font", "image", "manifest", "media", "ping", "script", "stylesheet"})
"""Browsers' kinds of requests that are no calls of a page's program. (A document may be one, opened by hand.)"""


class _NoCall(Exception):
    """The entry is no call of an API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One call, not yet redacted."""

    method: str
    origin: str
    segments: tuple[str, ...]
    """Of the path, percent-decoded."""
    query: tuple[tuple[str, str], ...]
    media: str
    """What was sent: `json`, `form`, or empty for nothing."""
    body: Json
    status: int
    response: Json
    credential: str
    """The header or parameter by which it said who asks; empty where nothing did but cookies."""
    seconds: float

    @property
    def answered(self) -> bool:
        """Whether the answer was a success."""
        return 200 <= self.status < 300


def read_entry(item: JsonObject, secrets: Secrets) -> Entry | None:
    """The call of one entry of a HAR; `None` for what is none. Its secrets are noted."""
    request, response = item.get("request"), item.get("response")
    if not isinstance(request, Mapping) or not isinstance(response, Mapping):
        return None
    secrets.note_headers(request.get("headers"), response.get("headers"))
    secrets.note_cookies(request.get("cookies"), response.get("cookies"))
    method, url, status = str(request.get("method", "")).upper(), request.get("url"), response.get("status")
    if method not in _METHODS or not isinstance(url, str) or not is_url(url) or not isinstance(status, int):
        return None
    if not (200 <= status < 300 or 400 <= status < 600) or str(item.get("_resourceType")) in _NO_CALLS:
        return None
    try:
        split_url(url)
        answer = _answer(response, status)
        media, body = _body(request.get("postData"))
    except (ValueError, _NoCall):
        return None
    parts, took = urlsplit(url), item.get("time")
    query = tuple(parse_qsl(parts.query, keep_blank_values=True))
    secrets.note_query(query)
    for value in (body, answer):
        secrets.note(value)
    return Entry(
        method=method,
        origin=origin_of(url),
        segments=tuple(unquote(part) for part in parts.path.split("/")[1:]),
        query=query,
        media=media,
        body=body,
        status=status,
        response=answer,
        credential=_credential(request.get("headers"), query),
        seconds=round(max(took, 0) / 1000, 4) if isinstance(took, int | float) else 0.0,
    )


def origin_of(url: str) -> str:
    """`https://api.example.org:8080` of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{parts.netloc.lower().rpartition('@')[2]}"


def _answer(response: JsonObject, status: int) -> Json:
    """The JSON of an answer; of an error, its text where it has no JSON."""
    content = response.get("content")
    content = content if isinstance(content, Mapping) else {}
    kind = str(content.get("mimeType", "")).partition(";")[0].strip().lower()
    text = content.get("text")
    if not isinstance(text, str) or not text:
        # A recording without contents says so by a size without a text.
        if status in (204, 205) or (is_json(kind) and not content.get("size")):
            return None
        raise _NoCall
    if content.get("encoding") == "base64":
        try:
            text = base64.b64decode(text).decode()
        except (binascii.Error, UnicodeDecodeError):
            raise _NoCall from None
    if kind and not is_json(kind) and kind not in ("text/plain", "application/octet-stream"):
        raise _NoCall
    try:
        value = parse(text)
    except ValueError:
        if status >= 400:
            return text
        raise
    if not is_json(kind) and not isinstance(value, dict | list):
        raise _NoCall
    return value


def _body(posted: Json) -> tuple[str, Json]:
    """What was sent: its kind and its value."""
    if not isinstance(posted, Mapping):
        return "", None
    media, text = str(posted.get("mimeType", "")).partition(";")[0].strip().lower(), posted.get("text")
    if media.startswith("multipart/"):
        raise _NoCall  # no tool of ours could send it
    if media == "application/x-www-form-urlencoded":
        params = posted.get("params")
        pairs = [p for p in params if isinstance(p, Mapping)] if isinstance(params, list) else []
        if isinstance(text, str) and text:
            return "form", dict(parse_qsl(text, keep_blank_values=True))
        return "form", {str(p.get("name", "")): unquote(str(p.get("value", ""))) for p in pairs}
    return ("json", parse(str(text))) if text else ("", None)


def _credential(headers: Json, query: tuple[tuple[str, str], ...]) -> str:
    for header in headers if isinstance(headers, list) else ():
        name, value = (
            (str(header.get(key, "")) for key in ("name", "value")) if isinstance(header, Mapping) else ("", "")
        )
        lower = name.lower()
        if lower == "authorization" or (lower != "cookie" and "csrf" not in lower and is_secret(name, value)):
            return name
    return next((name for name, value in query if is_secret(name, value)), "")
