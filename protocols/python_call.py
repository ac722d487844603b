"""Makes functions that call Python functions as tools: arguments and results are JSON or files."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from itertools import takewhile

from protocols.errors import Outcome, ToolError
from protocols.file_names import OCTETS, name_for, sniffed_type
from protocols.files import FileValue, file_of_bytes
from protocols.http.credentials import Mask
from protocols.response import one_line, to_json
from protocols.schema import Json, JsonObject


async def _collect_async(items: AsyncIterator[object]) -> list[object]:
    return [item async for item in items]


def _plain_bytes(value: Json) -> Json:
    """Return an argument for a Python function: the bytes of a file, else the value itself."""
    if isinstance(value, FileValue):
        return value.whole()
    if isinstance(value, list):
        return [_plain_bytes(item) for item in value]
    return value


def python_call(
    tool: str, function: Callable[..., object], *, reads: bool, mask: Mask, most_bytes: int
) -> Callable[[JsonObject], Json]:
    """Return a function that calls `function` with arguments from JSON and returns JSON.

    Every exception of `function` becomes a `ToolError`. The error says that nothing was changed
    (*refused*) if the function only reads (`reads`), else that this is *unknown*.
    """
    signature = inspect.signature(function)
    positional = [
        name for name, one in signature.parameters.items() if one.kind is one.POSITIONAL_ONLY
    ]
    failed: Outcome = "refused" if reads else "unknown"

    def call(arguments: JsonObject) -> Json:
        named = dict(arguments)
        named = {name: _plain_bytes(value) for name, value in named.items()}
        values = [named.pop(name) for name in takewhile(arguments.__contains__, positional)]
        try:
            signature.bind(*values, **named)
        except TypeError as error:
            raise ToolError(None, one_line(f"{tool}: {error}"), outcome="not_run") from error
        try:
            result = function(*values, **named)
            result = _collect_async(result) if inspect.isasyncgen(result) else result
            if inspect.iscoroutine(result):
                import asyncio  # imported here, because it slows down the start of every command

                result = asyncio.run(result)
            if isinstance(result, bytes | bytearray | memoryview):
                return file_of_bytes(
                    bytes(result),
                    name_for(tool=tool, media_type=sniffed_type(bytes(result[:16])) or OCTETS),
                    most_bytes=most_bytes,
                )
            return mask.result(to_json(result))
        except ToolError:
            raise
        except (Exception, SystemExit) as error:  # all errors of the user's code are tool errors
            problem = f"{tool}: {type(error).__name__}: {error}".rstrip(": ")
            raise ToolError(None, one_line(mask(problem)), outcome=failed) from error

    return call
