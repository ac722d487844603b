"""Inside the child: the program's value as JSON. Standard library alone."""

from __future__ import annotations

import datetime
import decimal
import fractions
import json
import math
import uuid
from typing import Any

VALUE_CHARACTERS = 200_000
"""A value whose JSON is longer becomes the beginning of its `repr`."""

encode = json.JSONEncoder(check_circular=False, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
"""Compact JSON. Raises `TypeError`, `ValueError` or `RecursionError` where a value is not JSON."""

_LISTS: tuple[Any, ...] = (list, tuple, type({}.keys()), type({}.values()), type({}.items()))
_TEXTUAL = (datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, fractions.Fraction, uuid.UUID)


def plain(value: Any) -> Any:
    """`value` as JSON: tuples as lists, sets as sorted lists, dates and numbers as `str`, the rest as `repr`."""
    try:
        converted = _plain(value, 40)
        if len(json.dumps(converted, allow_nan=False)) <= VALUE_CHARACTERS:
            return converted
    except (ValueError, RecursionError):
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


def _plain(value: Any, depth: int) -> Any:
    kind = type(value)
    if value is None or kind is bool or kind is int:
        return value
    if kind is float:
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, str):
        return sendable(str(value))
    if depth == 0:
        return text_of(value)
    if isinstance(value, dict):
        return {_key(key): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return [_plain(item, depth - 1) for item in _ordered(value)]
    if isinstance(value, _LISTS):
        return [_plain(item, depth - 1) for item in value]
    return sendable(str(value)) if isinstance(value, _TEXTUAL) else text_of(value)


def _key(key: Any) -> str:
    return sendable(key if isinstance(key, str) else json.dumps(key) if type(key) in (int, bool) else str(key))


def _ordered(values: set[Any] | frozenset[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=repr)
