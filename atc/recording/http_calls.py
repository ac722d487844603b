"""Calls over HTTP for scripts on their own: `atc runs export --python` copies all below into each. Needs `requests`."""

# ruff: noqa: ANN001, ANN202, ANN204 - it is read in scripts, where types would be in the way
# mypy: allow-untyped-defs, allow-untyped-calls

import json as _json
import os as _os
import sys as _sys
import time as _time
import uuid as _uuid
from urllib.parse import quote as _quote

import requests as _requests


class ToolError(Exception):
    """A call that failed: `status` (HTTP, None where there was no answer) and a short `body`."""

    def __init__(self, status, body):
        super().__init__(status, body)
        self.status, self.body = status, body

    def __str__(self):
        return self.body if self.status is None else f"HTTP {self.status}: {self.body}"


def _call(
    method, url, *, path=None, query=None, header=None, cookie=None, body=None, form=None, whole=None,
    media="application/json", nullable=(), credentials=(), field=None, text=False,
):  # fmt: skip
    """Send one request; None and ... are arguments that were left out."""
    for name, value in (path or {}).items():
        written = ",".join(
            _quote(_text(item), safe="") for item in (value if isinstance(value, list | tuple) else [value])
        )
        if value is None or written in ("", ".", ".."):
            raise ToolError(None, f"{name!r} stands in the address, so it cannot be {value!r}")
        url = url.replace("{" + name + "}", written)
    headers = {"Accept": "application/json, */*;q=0.5"} | {name: _text(value) for name, value in _given(header)}
    cookies = {name: _text(value) for name, value in _given(cookie)}
    pairs = _pairs(query)
    data = None
    if form is not None:
        data, media = _joined(_pairs(form)), "application/x-www-form-urlencoded"
    elif whole is not None and whole is not ...:
        data = whole if isinstance(whole, str) and not media.endswith("json") else _json.dumps(whole)
    elif body is not None:
        kept = {
            name: value for name, value in body.items() if value is not ... and (value is not None or name in nullable)
        }
        data, media = _json.dumps(kept), "application/json"
    if data is not None:
        headers["Content-Type"] = media
    for place, name, prefix, variable in credentials:
        secret = _os.environ.get(variable) or _sys.exit(f"set {variable}: {url.partition('?')[0]} needs it")
        if place == "header":
            headers[name] = prefix + secret
        elif place == "cookie":
            cookies[name] = secret
        else:
            pairs = [*pairs, (name, secret)]
    if pairs:
        url += ("&" if "?" in url else "?") + _joined(pairs)
    if cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return _value(_sent(method, url, headers, data, follow=not credentials), field, text)


def _sent(method, url, headers, data, *, follow):
    """The answer. A read is asked three times where its service is too busy; no credential follows a redirect."""
    for wait in (0.25, 0.5, None):
        try:
            content = None if data is None else data.encode()
            answer = _requests.request(method, url, headers=headers, data=content, timeout=30, allow_redirects=follow)
        except _requests.RequestException as error:
            raise ToolError(None, type(error).__name__) from None
        if 200 <= answer.status_code < 300:
            return answer
        if wait is None or method != "GET" or answer.status_code not in (429, 502, 503, 504):
            break
        _time.sleep(wait)
    raise ToolError(answer.status_code, _said(answer))


def _value(answer, field, text):
    """What the program gets of an answer: its JSON, of that the one field that matters, or its text."""
    if not answer.content.strip():
        return None
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    charset = answer.encoding if answer.encoding and "charset" in answer.headers["Content-Type"] else "utf-8"
    is_json = kind == "application/json" or kind.endswith("+json")
    try:
        value = answer.content.decode(charset) if text and not is_json else answer.json()
    except ValueError:
        if is_json:
            raise ToolError(answer.status_code, "the answer is not valid JSON") from None
        value = answer.content.decode(charset, "replace")
    return value[field] if field is not None and isinstance(value, dict) and field in value else value


def _said(answer):
    """What an error's body says, in one line."""
    try:
        said = answer.json()
    except ValueError:
        said = answer.text
    names = ("detail", "message", "error_description", "error", "title", "description")
    while isinstance(said, dict) and (inner := next((said[name] for name in names if said.get(name)), None)):
        said = inner
    said = said if isinstance(said, str) else _json.dumps(said, ensure_ascii=False)
    return " ".join(said.split())[:500] or answer.reason


def _given(values):
    return [(name, value) for name, value in (values or {}).items() if value is not None and value is not ...]


def _pairs(values):
    """Names and texts of a query or form: a list repeats its name, an object stands for its fields."""
    flat = [
        pair
        for name, value in _given(values)
        for pair in (_given(value) if isinstance(value, dict) else [(name, value)])
    ]
    return [
        (name, item)
        for name, value in flat
        for item in (value if isinstance(value, list | tuple) else [value])
        if item is not None
    ]


def _joined(pairs):
    return "&".join(f"{_quote(name, safe='')}={_quote(_text(item), safe='')}" for name, item in pairs)


def _text(value):
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    return value if isinstance(value, str) else repr(value) if isinstance(value, float) else _json.dumps(value)


def _int(value):
    """An integer that was computed as a float is sent as the integer that it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _join(value, separator):
    """A list that is sent as one text."""
    return separator.join(map(_text, value)) if isinstance(value, list | tuple) else value


def _key():
    """Under a key of its own a write is done once, however often it arrives."""
    return _uuid.uuid4().hex
