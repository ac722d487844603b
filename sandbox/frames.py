"""The frames between a program's process and the host: limits, and encoding of values.

A frame is one line of JSON. Both sides use this module. It imports only the standard library.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import json
import math
import uuid
import zlib
from typing import Any

FRAME_BYTES = 1 << 20
"""Maximum number of bytes of a frame: the arguments of one call, a piece of output, or the value of
the program.
"""
NAME_CHARACTERS = 100
"""Maximum number of characters of each name of a class or function in a failure that a program's
process reports."""
MESSAGE_CHARACTERS = 4000
"""Maximum number of characters of the message of a failure that a program's process reports. The
host accepts longer messages, see `sandbox.wire`."""
LEVELS = 100
"""Maximum number of nested levels of a frame. All later steps can process as many levels."""
VALUE_CHARACTERS = 200_000
"""Maximum length of a value as JSON. For a larger value, the beginning of its `repr` is sent."""
MOST_HINTS = 64
LONGEST_PATH = 40
"""Maximum number of keys and indexes in the path of a hint."""
LONGEST_KEY = 200
"""Maximum number of characters of a key in the path of a hint."""

encode = json.JSONEncoder(
    check_circular=False, ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode
"""Return a value as compact JSON.

Raises `TypeError`, `ValueError` or `RecursionError` if the value is not JSON."""

_VIEWS: tuple[Any, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_TEXTUAL = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
)


def to_plain_json(value: Any, *, most: int = VALUE_CHARACTERS) -> Any:
    """Return a JSON value that represents a Python value of any type.

    Tuples become lists, sets sorted lists, and mappings objects. What JSON does not have becomes
    the text that Python prints for it: dates, decimal numbers, `nan` and `inf`, keys that are
    neither texts nor numbers, and objects of other types. The whole value becomes its `repr` if
    it has more than `most` characters as JSON, is nested too deeply, or has two keys of one text.
    """
    try:
        try:
            text = _plain_text(value)
        except (TypeError, ValueError):  # a key or number that JSON does not have
            text = _plain_text(_with_json_keys(value, LEVELS))
        if len(text) <= most:
            # Lone surrogates cannot be sent.
            plain = _decode(text.encode("utf-8", "replace").decode("utf-8"))
            if not is_deeper_than(LEVELS - 4, plain):
                return plain
    except (TypeError, ValueError, RecursionError):
        pass
    return safe_repr(value)


def is_deeper_than(levels: int, value: Any) -> bool:
    """Return True if a JSON value has more than this number of nested levels."""
    inside = [value]
    while inside and levels >= 0:
        levels -= 1
        containers = (list(one.values()) if isinstance(one, dict) else one for one in inside)
        inside = [item for one in containers if isinstance(one, list) for item in one]
    return bool(inside)


def safe_repr(value: Any) -> str:
    """Return the `repr` of a value, of limited length and in a form that UTF-8 can encode.

    This never raises an exception.
    """
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a program's own __repr__ may raise anything
        text = f"<{type(value).__name__}>"
    return escape_lone_surrogates(shorten(text, VALUE_CHARACTERS))


def escape_lone_surrogates(text: str) -> str:
    """Return a text with its lone surrogates, which UTF-8 cannot encode, escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shorten(text: str, width: int) -> str:
    """Return a text cut to at most `width` characters, with an ellipsis if it was cut."""
    return text if len(text) <= width else text[: width - 1] + "…"


def failure_frame(
    kind: str,
    name: str,
    message: str,
    frames: list[list[Any]],
    call: int | None = None,
    hints: list[Any] | None = None,
) -> dict[str, Any]:
    """Return the last frame (message to the host) of a program that failed.

    Its texts are shortened if necessary.

    Args:
        kind: `syntax`, `exception` or `limit`.
        name: the class of the exception, or the name of the limit.
        message: the error message.
        frames: the levels of the traceback, each as [line, function] or
            [line, function, column, end line, end column].
        call: the number of the tool call that failed, or None.
        hints: where values of the failing expression come from, see `sandbox.trace.ValueHint`.
    """
    name = escape_lone_surrogates(shorten(name, NAME_CHARACTERS))
    message = escape_lone_surrogates(shorten(message, MESSAGE_CHARACTERS))
    frames = [
        [line, escape_lone_surrogates(shorten(function, NAME_CHARACTERS)), *more]
        for line, function, *more in frames
    ]
    failure = {"kind": kind, "type": name, "message": message, "frames": frames, "call": call}
    return {"fail": {**failure, "hints": hints} if hints else failure}


def split_arguments(arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return two dicts: the arguments whose values are JSON, and the `repr` of the other ones.

    Both are keyed by the argument's name.
    """
    sendable_: dict[str, Any] = {}
    unsendable: dict[str, str] = {}
    for name, value in arguments.items():
        try:
            encode(value).encode("utf-8")
            sendable_[name] = value
        except (TypeError, ValueError, RecursionError):
            unsendable[name] = escape_lone_surrogates(shorten(repr(value), 200))
    return sendable_, unsendable


def keywords_only_message(
    alias: str, parameters: list[str], args: tuple[Any, ...], arguments: dict[str, Any]
) -> str:
    """Return the error message for a tool call with positional arguments, which are not allowed.

    It shows the correct call.

    Args:
        alias: the name of the tool.
        parameters: the names of its parameters, in order.
        args: the positional arguments.
        arguments: the keyword arguments.
    """
    free = [name for name in parameters if name not in arguments]
    given = [*zip(free, args, strict=False), *arguments.items()]
    written = ", ".join(f"{name}={shorten(repr(value), 40)}" for name, value in given)
    return f"{alias}() takes keyword arguments only: write {alias}({written})"


def fingerprint(value: Any) -> int:
    """Return a checksum of a JSON value.

    The host and the program's process use it to compare a value without sending it. The checksum of
    an object depends only on its keys, and that of a list only on its length.
    """
    if isinstance(value, dict):
        value = list(value)
    elif isinstance(value, list):
        value = [len(value)]
    return zlib.crc32(json.dumps(value).encode("ascii"))


def _with_distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON as a dict.

    Raises:
        ValueError: two of its keys are equal, so one value would be lost.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("two keys of an object have the same text")
    return found


# Made early, because a program may change `json`.
_decode = json.JSONDecoder(object_pairs_hook=_with_distinct_keys).decode


def _with_json_keys(value: Any, levels: int) -> Any:
    """Return a value in which each key and each number is one that JSON has.

    Raises:
        ValueError: the value is nested more than `levels` levels deep, or two keys of a mapping
            have the same text.
    """
    if levels == 0:
        raise ValueError("the value is nested too deeply")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (set, frozenset, *_VIEWS)):
        value = _convert_value(value)
    if isinstance(value, dict):
        return _with_distinct_keys(
            [(_key_text(key), _with_json_keys(item, levels - 1)) for key, item in value.items()]
        )
    if isinstance(value, list | tuple):
        return [_with_json_keys(item, levels - 1) for item in value]
    return value


def _key_text(key: Any) -> str:
    """Return the key of a mapping as the text that stands for it in JSON."""
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool | int):
        return encode(key)
    return str(key) if isinstance(key, (float, *_TEXTUAL)) else safe_repr(key)


def _convert_value(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        try:
            return sorted(value)
        except TypeError:
            return sorted(value, key=repr)
    if isinstance(value, _VIEWS):
        return list(value)
    return str(value) if isinstance(value, _TEXTUAL) else safe_repr(value)


_plain_text = json.JSONEncoder(default=_convert_value, ensure_ascii=False, allow_nan=False).encode
