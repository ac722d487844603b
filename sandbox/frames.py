"""The frames between a program's process and the host: limits, and encoding of values.

A frame is one line of JSON. Both sides use this module. It imports only the standard library.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import json
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
_decode = json.JSONDecoder().decode  # made early, because a program may change `json`


def to_plain_json(value: Any) -> Any:
    """Return a JSON value that represents a Python value of any type.

    Sets become sorted lists, and dates and decimal numbers become strings. Values of other types
    are replaced by their `repr`, and so is the whole value if it is too large.
    """
    try:
        text = _plain_text(value)
        if len(text) <= VALUE_CHARACTERS:
            return _decode(
                text.encode("utf-8", "replace").decode("utf-8")
            )  # lone surrogates cannot be sent
    except (TypeError, ValueError, RecursionError):
        pass
    return safe_repr(value)


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
