"""Inside the child: the program's value as JSON. Standard library alone."""

from __future__ import annotations

import datetime
import decimal
import fractions
import json
import uuid
from typing import Any

VALUE_CHARACTERS = 200_000
"""A value whose JSON is longer becomes the beginning of its `repr`."""

encode = json.JSONEncoder(check_circular=False, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
"""Compact JSON. Raises `TypeError`, `ValueError` or `RecursionError` where a value is not JSON."""

_VIEWS: tuple[Any, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_TEXTUAL = (datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, fractions.Fraction, uuid.UUID)


def plain(value: Any) -> Any:
    """`value` as JSON: sets as sorted lists, dates and numbers as `str`; its `repr` where that is not JSON."""
    try:
        text = _plain_text(value)
        if len(text) <= VALUE_CHARACTERS:
            return _decode(text.encode("utf-8", "replace").decode("utf-8"))  # lone surrogates cannot be sent
    except (TypeError, ValueError, RecursionError):
        pass
    return text_of(value)


def text_of(value: Any) -> str:
    """The `repr`, not too long, that always can be had and sent."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a program's own __repr__ may raise anything
        text = f"<{type(value).__name__}>"
    return sendable(shorten(text, VALUE_CHARACTERS))


def sendable(text: str) -> str:
    """`text` with lone surrogates, which no UTF-8 can hold, written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shorten(text: str, width: int) -> str:
    """`text`, or its beginning and an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "…"


def split(arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The arguments that are JSON, and the `repr` of those that are not."""
    sendable_: dict[str, Any] = {}
    unsendable: dict[str, str] = {}
    for name, value in arguments.items():
        try:
            encode(value).encode("utf-8")
            sendable_[name] = value
        except (TypeError, ValueError, RecursionError):
            unsendable[name] = sendable(shorten(repr(value), 200))
    return sendable_, unsendable


def keywords_only(alias: str, parameters: list[str], args: tuple[Any, ...], arguments: dict[str, Any]) -> str:
    """What is said against positional arguments: the call as it should be written."""
    free = [name for name in parameters if name not in arguments]
    given = [*zip(free, args, strict=False), *arguments.items()]
    written = ", ".join(f"{name}={shorten(repr(value), 40)}" for name, value in given)
    return f"{alias}() takes keyword arguments only: write {alias}({written})"


def _converted(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        try:
            return sorted(value)
        except TypeError:
            return sorted(value, key=repr)
    if isinstance(value, _VIEWS):
        return list(value)
    return str(value) if isinstance(value, _TEXTUAL) else text_of(value)


# Made here, since a program may change what `json` has.
_plain_text = json.JSONEncoder(default=_converted, ensure_ascii=False, allow_nan=False).encode
_decode = json.JSONDecoder().decode
