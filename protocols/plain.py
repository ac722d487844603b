"""Python callables as tools, and what they return as JSON."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from protocols.credentials import Mask
from protocols.errors import Outcome, ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.reply import one_line, parse


def python_call(tool: str, function: Callable[..., object], *, reads: bool, mask: Mask) -> Callable[[JsonObject], Json]:
    """A call of `function` by keyword arguments; see `Invoker.bind`."""
    signature = inspect.signature(function)
    failed: Outcome = "refused" if reads else "unknown"

    async def awaited(result: Awaitable[object]) -> object:
        return await result

    def call(arguments: JsonObject) -> Json:
        try:
            signature.bind(**arguments)
        except TypeError as error:
            raise ToolError(None, one_line(f"{tool}: {error}"), outcome="not_run") from error
        try:
            result = function(**arguments)
            return mask.result(to_json(asyncio.run(awaited(result)) if inspect.isawaitable(result) else result))
        except ToolError:
            raise
        except (Exception, SystemExit) as error:  # whatever the user's code raises is the tool's answer
            problem = f"{tool}: {type(error).__name__}: {error}".rstrip(": ")
            raise ToolError(None, one_line(mask(problem)), outcome=failed) from error

    return call


def to_json(value: object) -> Json:
    """`value` as JSON in pydantic's way: dataclasses and models as objects, dates and durations as ISO 8601, enums by
    value, bytes as base64.

    NaN and infinities become null, arrays and frames (`tolist`, `to_dict`) nested lists and records.

    Raises:
        TypeError: there is no JSON for it, it contains itself, or it is nested deeper than 200 levels.
    """
    try:
        plain = to_jsonable_python(value, inf_nan_mode="null", bytes_mode="base64", fallback=_unknown)
        return parse(json.dumps(plain))
    except (ValueError, RecursionError, PydanticSerializationError) as error:
        raise TypeError(f"the result has no JSON: {error}") from None


def _unknown(value: Any) -> Any:
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return value.to_dict("records")
    if callable(plain := getattr(value, "tolist", None)):
        return plain()
    if not isinstance(value, Iterable):
        raise TypeError(f"the result is a {type(value).__name__}, which is not JSON")
    return list(value)
