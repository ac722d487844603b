"""Python callables as tools, and what they return as JSON."""

from __future__ import annotations

import base64
import dataclasses
import inspect
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import islice
from pathlib import PurePath
from typing import Any
from uuid import UUID

from protocols.credentials import Mask
from protocols.errors import ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.reply import one_line

MAX_ITEMS = 1_000_000  # of an iterator, which may have no end
_MOST_BITS = 13_000  # of an integer: Python itself writes none of more than 4,300 digits


def python_call(tool: str, function: Callable[..., object], *, reads: bool, mask: Mask) -> Callable[[JsonObject], Json]:
    """A call of `function` by keyword arguments; see `Invoker.bind`."""
    signature = _signature(function)
    failed = "refused" if reads else "unknown"

    def call(arguments: JsonObject) -> Json:
        entered = False
        try:
            if signature is not None:
                signature.bind(**arguments)
            entered = True
            result = function(**arguments)
            return mask.result(to_json(_run(result) if inspect.isawaitable(result) else result))
        except ToolError:
            raise
        except (Exception, SystemExit) as error:  # whatever the user's code raises is the tool's answer
            problem = f"{tool}: {type(error).__name__}: {error}" if entered else f"{tool}: {error}"
            raise ToolError(
                None,
                one_line(mask(problem)),
                outcome=failed if entered else "not_run",  # type: ignore[arg-type]  # a Literal by construction
            ) from error

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


def _to_json(value: Any) -> Json:
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
        case list() | tuple():
            return [_to_json(item) for item in value]
        case set() | frozenset():
            return _sorted([_to_json(item) for item in value])
        case _:
            return _scalar_or_object(value)


def _scalar_or_object(value: Any) -> Json:
    match value:
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal():
            return _to_json(int(value) if value.is_finite() and value == value.to_integral_value() else float(value))
        case UUID() | PurePath():
            return str(value)
        case bytes() | bytearray():
            return _bytes(bytes(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if callable(dump := getattr(value, "model_dump", None)):
        return _to_json(dump())
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return _to_json(value.to_dict("records"))
    if callable(tolist := getattr(value, "tolist", None)):
        return _to_json(tolist())
    if isinstance(value, Iterable):
        items = list(islice(value, MAX_ITEMS + 1))
        if len(items) > MAX_ITEMS:
            raise TypeError(f"the result has over {MAX_ITEMS:,} items")
        return [_to_json(item) for item in items]
    raise TypeError(f"the result is a {type(value).__name__}, which is not JSON")


def _key(key: object) -> str:
    plain = _to_json(key)
    if isinstance(plain, str):
        return plain
    return (
        {None: "null", True: "true", False: "false"}.get(plain) or str(plain)
        if not isinstance(plain, list | dict)
        else str(key)
    )


def _sorted(items: list[Json]) -> list[Json]:
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=repr)


def _bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.b64encode(value).decode()


def _run(result: Awaitable[object]) -> object:
    import asyncio  # a fifth of what importing this package would take, and rarely needed

    async def awaited() -> object:
        return await result

    return asyncio.run(awaited())


def _signature(function: Callable[..., object]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # some builtins have none
        return None
