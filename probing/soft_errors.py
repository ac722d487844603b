"""Refusals that come with a success's status: `{"ok": false, "error": "no such channel"}`.

Programs get such an answer as a response like any other, so it belongs to the response schema; but it says of the
arguments what an error reply says, and nothing of the data that the tool is there for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from probing.sample import Sample
from protocols.jsontypes import Json
from protocols.words import snake

_FLAGS = frozenset({"ok", "succeeded", "success", "successful"})
_STATES = frozenset({"response", "result", "state", "status"})
"""Flags of replies, and fields of many a record: beside them less may stand."""
_NO = (False, "error", "errors", "fail", "failed", "failure", "false", "ko", "not_ok")
_ERRORS = frozenset({"err", "error", "error_message", "errors", "exception", "fault"})
_BESIDE = frozenset({
    "code", "data", "description", "detail", "details", "documentation_url", "error_code", "errcode", "errmsg", "errno",
    "error_description", "error_type", "extensions", "help", "hint", "id", "instance", "jsonrpc", "message", "messages",
    "meta", "msg", "path", "reason", "request_id", "status_code", "timestamp", "title", "trace_id", "type", "warning",
})  # fmt: skip
"""Fields that stand beside an error and are no data."""
_OF_RECORDS = frozenset({"description", "help", "hint", "id", "instance", "path", "title", "type"})
_TEXTS = ("error", "errors", "error_message", "message", "msg", "errmsg", "detail", "reason", "description")


def refusal_in(response: Json) -> str:
    """What a response says in refusal, as JSON or text; empty where it is data.

    It is a refusal if it says that it is (`ok: false`, `status: error`) or holds an error, and has nothing else to
    tell. A record that has an `error` field, or a `status` of `failed`, beside fields of its own is data.
    """
    if isinstance(response, list) and len(response) == 1:
        return refusal_in(response[0])
    if not isinstance(response, Mapping):
        return ""
    fields = {snake(str(key)): value for key, value in response.items()}
    denied = {name for name, value in fields.items() if name in _FLAGS | _STATES and _says_no(value)}
    wrong = any(name in _ERRORS and _holds(value) for name, value in fields.items())
    told = [fields[name] for name in _TEXTS if _holds(fields.get(name))]
    beside = _BESIDE if wrong or denied & _FLAGS else _BESIDE - _OF_RECORDS
    data = [n for n, value in fields.items() if _filled(value) and n not in beside | _FLAGS | _STATES | _ERRORS]
    if not (denied or wrong) or not told or data or _filled(fields.get("data")):
        return ""
    said = next((text for text in told if isinstance(text, str)), told[0])
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def as_refused(sample: Sample) -> Sample:
    """The sample as an error reply would have it, where its response is a refusal; else as it is."""
    said = refusal_in(sample.response) if sample.done else ""
    if not said:
        return sample
    answer = json.dumps(sample.response, ensure_ascii=False)
    return replace(sample, outcome="refused", status=200, response=None, error=said, answer=answer)


def _says_no(value: Json) -> bool:
    return value is False or (isinstance(value, str) and value.lower() in _NO)


def _holds(value: Json) -> bool:
    """Whether an error field says that there is one: `null`, `[]`, `false`, `"none"` and `0.1` do not."""
    if isinstance(value, str):
        return bool(value) and value.lower() not in ("none", "null", "false", "no", "ok")
    return value is True or (isinstance(value, list | Mapping) and bool(value))


def _filled(value: Json) -> bool:
    """Whether a value holds anything but nothing: no null, no empty text, list or object."""
    return value is not None and value not in ("", [], {})
