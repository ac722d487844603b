"""Python callables as tools, and what they return as JSON."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import inspect
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import islice
from pathlib import PurePath
from typing import Any
from uuid import UUID

from protocols.credentials import Mask
from protocols.errors import Outcome, ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.reply import one_line

MAX_ITEMS = 1_000_000  # of an iterator, which may have no end
_MOST_BITS = 13_000  # of an integer: Python itself writes none of more than 4,300 digits


def python_call(tool: str, function: Callable[..., object], *, reads: bool, mask: Mask) -> Callable[[JsonObject], Json]:
    """A call of `function` by keyword arguments; see `Invoker.bind`."""
    try:
        signature: inspect.Signature | None = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins have none
        signature = None
    failed: Outcome = "refused" if reads else "unknown"

    async def awaited(result: Awaitable[object]) -> object:
        return await result

    def call(arguments: JsonObject) -> Json:
        entered = False
        try:
            if signature is not None:
                signature.bind(**arguments)
            entered = True
            result = function(**arguments)
            return mask.result(to_json(asyncio.run(awaited(result)) if inspect.isawaitable(result) else result))
        except ToolError:
            raise
        except (Exception, SystemExit) as error:  # whatever the user's code raises is the tool's answer
            name = f"{type(error).__name__}: " if entered else ""
            problem = f"{tool}: {name}{error}".rstrip(": ")
            raise ToolError(None, one_line(mask(problem)), outcome=failed if entered else "not_run") from error

    return call


def to_json(value: object) -> Json:
    """`value` as JSON: dataclasses, pydantic models and named tuples as objects, dates as ISO 8601, enums by value.

    Sets become lists, sorted where they can be; bytes text, or base64 where they are none; durations seconds; numbers
    that JSON lacks (NaN, infinities) null; arrays and frames (`tolist`, `to_dict`) nested lists and records.

    Raises:
        TypeError: there is no JSON for it, or it contains itself.
    """
    try:
        return _to_json(value)
    except RecursionError:
        raise TypeError("the result is nested too deeply, or contains itself") from None


def _to_json(value: Any) -> Json:  # noqa: C901 - one case a kind of value
    match value:
        case None | bool():
            return value
        case Enum():
            return _to_json(value.value)
        case str():
            return str(value).encode("utf-8", "replace").decode()
        case int():
            if value.bit_length() > _MOST_BITS:
                raise TypeError("the result holds an integer of more than 4,000 digits")
            return int(value)
        case float():
            return float(value) if math.isfinite(value) else None
        case Mapping():
            return {_key(key): _to_json(item) for key, item in value.items()}
        case tuple() if hasattr(value, "_asdict"):
            return _to_json(value._asdict())
        case set() | frozenset():
            items = [_to_json(item) for item in value]
            try:
                return sorted(items)
            except TypeError:
                return sorted(items, key=repr)
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal():
            return _to_json(int(value) if value.is_finite() and value == value.to_integral_value() else float(value))
        case UUID() | PurePath():
            return str(value)
        case bytes() | bytearray():
            try:
                return value.decode()
            except UnicodeDecodeError:
                return base64.b64encode(value).decode()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return _to_json(value.to_dict("records"))
    for method in ("model_dump", "tolist"):
        if callable(plain := getattr(value, method, None)):
            return _to_json(plain())
    if not isinstance(value, Iterable):
        raise TypeError(f"the result is a {type(value).__name__}, which is not JSON")
    items = list(islice(value, MAX_ITEMS + 1))
    if len(items) > MAX_ITEMS:
        raise TypeError(f"the result has over {MAX_ITEMS:,} items")
    return [_to_json(item) for item in items]


def _key(key: object) -> str:
    """As `json.dumps` writes keys."""
    plain = _to_json(key)
    if plain is None or isinstance(plain, bool):
        return {None: "null", True: "true", False: "false"}[plain]
    return str(key) if isinstance(plain, list | dict) else str(plain)
