"""Recognises calls that a tool refused, and returns the texts of the refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from probing.name_distance import REPLIES, scalar_parts, url_text
from probing.samples import Sample
from protocols.naming import snake
from protocols.protocol import HttpBinding, PythonBinding, ToolProtocol
from protocols.response import one_line
from protocols.schema import Json

_LONGEST = 20_000
"""Maximum number of characters that are read of a reply."""
_SILENT = frozenset({401, 402, 403, 405, 406, 407, 408, 411, 413, 415, 425, 429, 431, 451})
"""HTTP statuses whose replies do not help to find the right arguments."""
_FLAGS = frozenset({"ok", "succeeded", "success", "successful"})
_STATES = frozenset({"response", "result", "state", "status"})
_NO = ("error", "errors", "fail", "failed", "failure", "false", "ko", "not_ok")
"""Values of flags and states that mean that a call failed."""
_EMPTY: tuple[Json, ...] = (None, "", [], {})
_ERRORS = frozenset(REPLIES["errors"])
_BESIDE = frozenset(REPLIES["beside"])
"""Names of fields that accompany an error and are not data."""
_OF_RECORDS = frozenset(REPLIES["of_records"])
"""Names in `_BESIDE` that fields of ordinary records have as well."""
_TEXTS = REPLIES["texts"]


def refusal_in(response: Json) -> str:
    """Return the error message of a response that reports an error in spite of a success status.

    Such a response has a field that means failure (`ok: false`, `status: error`) or an error
    message, and no other data. Return "" for any other response, for example for a record that has
    a field `error` or `status: failed` among others.
    """
    if isinstance(response, list) and len(response) == 1:
        return refusal_in(response[0])
    if not isinstance(response, Mapping) or len(response) > 40:
        return ""
    fields = {snake(str(key)): value for key, value in response.items()}
    messages = _refusal_messages(fields)
    if not messages:
        return ""
    message = next((text for text in messages if isinstance(text, str)), messages[0])
    return message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)


def _refusal_messages(fields: Mapping[str, Json]) -> list[Json]:
    """Return the error messages in a response that reports an error; [] for other responses."""
    denying = {name for name in fields if _is_denial(name, fields[name])}
    has_error = any(_is_error_value(fields.get(name)) for name in _ERRORS)
    if not denying and not has_error:
        return []
    if _has_data(fields, is_certain=has_error or bool(denying & _FLAGS)):
        return []
    return [fields[name] for name in _TEXTS if _is_error_value(fields.get(name))]


def _is_denial(name: str, value: Json) -> bool:
    """Return True if a field means that the call failed: `ok: false` or `status: error`."""
    return (name in _FLAGS or name in _STATES) and str(value).lower() in _NO


def _has_data(fields: Mapping[str, Json], *, is_certain: bool) -> bool:
    """Return True if a response has fields that are not part of an error message.

    If `is_certain` is False, the response may be an ordinary record and not an error. Then fields
    such as `title`, which such records have as well, count as data.
    """
    beside = _BESIDE if is_certain else _BESIDE - _OF_RECORDS
    no_data = beside | _FLAGS | _STATES | _ERRORS
    if fields.get("data") not in _EMPTY:
        return True
    return any(value not in _EMPTY and name not in no_data for name, value in fields.items())


def as_refused(sample: Sample) -> Sample:
    """Return a sample (a call with its answer), as a refused call if its response reports an error.

    Some services send an error with a success status. Any other sample is returned unchanged.
    """
    message = refusal_in(sample.response) if sample.done else ""
    if not message:
        return sample
    answer = json.dumps(sample.response, ensure_ascii=False)
    return replace(
        sample, outcome="refused", status=200, response=None, error=message, answer=answer
    )


def _is_error_value(value: Json) -> bool:
    """Return True if the value of an error field means an error.

    The values `null`, `[]`, `false` and `"none"` mean that no error occurred.
    """
    if isinstance(value, str):
        return bool(value) and value.lower() not in ("none", "null", "false", "no", "ok")
    return value is True or (isinstance(value, list | Mapping) and bool(value))


def reply_of(sample: Sample) -> str:
    """Return the text of an error reply that may contain facts about arguments.

    Return "" for a success, and for an error that the arguments did not cause, such as 401 or 500.
    """
    status = sample.status
    if sample.done or (status is not None and (status >= 500 or status in _SILENT)):
        return ""
    answer = sample.answer or ""
    is_page = answer.strip()[:1] in ("", "<")
    return (sample.error if is_page else answer)[:_LONGEST]


def template_of(sample: Sample) -> str:
    """Return an error message with `…` in place of the values that the call sent.

    Messages that differ only in these values have the same template.
    """
    text = one_line(sample.error or sample.answer or "", limit=600)
    sent = (
        part
        for _, part in scalar_parts("", sample.plain_arguments)
        if part is not None and not isinstance(part, bool)
    )
    for given in sorted(map(url_text, sent), key=len, reverse=True):
        if given:
            text = re.sub(rf"(?<!\w){re.escape(given[:200])}(?!\w)", "…", text)
    return text


def may_have_acted(protocol: ToolProtocol, sample: Sample) -> bool:
    """Return True if a call may have changed something.

    It succeeded, or it failed without an answer that excludes a change, for example by a timeout.
    """
    if sample.done:
        return True
    binding = protocol.binding
    refused = isinstance(binding, PythonBinding) or (
        sample.answer is not None and not isinstance(binding, HttpBinding)
    )
    unknown = sample.outcome == "unknown" and sample.status not in (409, 425, 429)
    return unknown and not refused
