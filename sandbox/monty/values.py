"""What a program hands over, as JSON: the arguments of its calls and the value of its last expression.

A value of a few bytes in the interpreter may be endless when it is written out (`x = [x, x]` forty times, or a list
that holds itself), so nothing here walks through more than so many of its parts.
"""

from __future__ import annotations

import datetime
import decimal
import json
import math
import reprlib
import uuid
from typing import Any

from sandbox.contract import shorten
from sandbox.frames import FRAME_BYTES, LEVELS

VALUE_CHARACTERS = 200_000
"""A value whose JSON is longer becomes the beginning of its `repr`."""

VALUE_LEVELS = 40
PARTS, SHORT_PARTS = 300_000, 200
SHOWN_CHARACTERS = 200

_TEXTUAL = (datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, uuid.UUID)
_PLAIN = (list, tuple, dict, set, frozenset, str, bytes, int, float, bool, type(None), *_TEXTUAL)


class _Short(reprlib.Repr):
    """Shows a few levels and parts, and of an object no more than its class: its own parts may be without end."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxother, self.maxlong = 3, SHOWN_CHARACTERS, SHOWN_CHARACTERS, 100
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = 10

    def repr_instance(self, x: Any, level: int) -> str:  # noqa: ARG002 - the method's signature
        return repr(x) if type(x) in _PLAIN else f"<{getattr(x, 'name', type(x).__name__)} object>"


class TooLarge(Exception):
    """More than can be sent."""


class NotJson(Exception):
    """Something in a value has no place in JSON."""


def split(arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The arguments that are JSON, and the `repr` of those that are not.

    Raises:
        TooLarge: they take more than one frame.
    """
    accepted: dict[str, Any] = {}
    unsendable: dict[str, str] = {}
    budget = _Budget(FRAME_BYTES)
    for name, value in arguments.items():
        try:
            accepted[name] = _strict(value, LEVELS, budget)
        except NotJson:
            unsendable[name] = sendable(shorten(short(value), SHOWN_CHARACTERS))
    return accepted, unsendable


def plain(value: Any) -> Any:
    """The program's value: tuples as lists, sets as sorted lists, dates and decimals as `str`, the rest as `repr`."""
    if value is None or type(value) is bool:
        return value
    try:
        converted = _loose(value, VALUE_LEVELS, _Budget(VALUE_CHARACTERS))
        if len(json.dumps(converted, allow_nan=False)) <= VALUE_CHARACTERS:
            return converted
    except (ValueError, TooLarge):
        pass
    return sendable(shorten(_repr(value), VALUE_CHARACTERS))


def short(value: Any) -> str:
    """A `repr` of a few levels and parts: the whole one of whatever is small."""
    try:
        _walk(value, LEVELS, _Budget(SHORT_PARTS))
    except TooLarge:
        return _guarded(_Short().repr, value)
    return _repr(value)


def _repr(value: Any) -> str:
    try:
        _walk(value, LEVELS, _Budget(PARTS))
    except TooLarge:
        return _guarded(_Short().repr, value)
    return _guarded(repr, value)


def sendable(text: str) -> str:
    """`text` with lone surrogates, which no UTF-8 can hold, written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class _Budget:
    """How much more may be taken."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise TooLarge


def _guarded(function: Any, value: Any) -> str:
    try:
        return str(function(value))
    except (ValueError, RecursionError, MemoryError):  # an integer of too many digits, or what is nested too deeply
        return f"<{type(value).__name__}>"


def _strict(value: Any, levels: int, budget: _Budget) -> Any:
    kind = type(value)
    if kind is str:
        budget.take(len(value) + 2)
        return value
    budget.take(2)
    if value is None or kind is bool:
        return value
    if kind is int:
        budget.take(value.bit_length() // 3)
        if value.bit_length() > 14_000:  # Python writes no integer of more than 4,300 digits
            raise NotJson
        return value
    if kind is float:
        if not math.isfinite(value):
            raise NotJson
        return value
    if levels == 0:
        raise NotJson
    if kind is list or kind is tuple:
        return [_strict(item, levels - 1, budget) for item in value]
    if kind is dict:
        return {_strict_key(key, budget): _strict(item, levels - 1, budget) for key, item in value.items()}
    raise NotJson


def _strict_key(key: Any, budget: _Budget) -> str:
    if type(key) not in (str, int, float, bool, type(None)):
        raise NotJson
    written = _strict(key, 0, budget)
    return written if isinstance(written, str) else json.dumps(written)


def _loose(value: Any, levels: int, budget: _Budget) -> Any:
    kind = type(value)
    budget.take(len(value) if kind is str else 1)
    if value is None or kind is bool or kind is int:
        return value
    if kind is float:
        return value if math.isfinite(value) else repr(value)
    if kind is str:
        return sendable(value)
    if levels == 0:
        return _loose_short(value, budget)
    if kind is dict:
        return {_loose_key(key): _loose(item, levels - 1, budget) for key, item in value.items()}
    if kind in (set, frozenset):
        return [_loose(item, levels - 1, budget) for item in _ordered(value)]
    if kind in (list, tuple) or isinstance(value, tuple):
        return [_loose(item, levels - 1, budget) for item in value]
    if isinstance(value, _TEXTUAL):
        return str(value)
    return _loose_short(value, budget)


def _loose_short(value: Any, budget: _Budget) -> str:
    budget.take(SHORT_PARTS)
    return short(value)


def _loose_key(key: Any) -> str:
    return sendable(key if isinstance(key, str) else json.dumps(key) if type(key) in (int, bool) else short(key))


def _ordered(values: Any) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=short)


def _walk(value: Any, levels: int, budget: _Budget) -> None:
    """Raise `TooLarge` where the `repr` of `value` is not one of a bounded walk over types that we know."""
    kind = type(value)
    budget.take(len(value) if kind in (str, bytes) else 1)
    if kind in (list, tuple, set, frozenset, dict):
        if levels == 0:
            raise TooLarge
        for item in value:
            _walk(item, levels - 1, budget)
        if kind is dict:
            for item in value.values():
                _walk(item, levels - 1, budget)
    elif kind not in _PLAIN:
        raise TooLarge
