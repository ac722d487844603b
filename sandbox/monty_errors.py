"""Explains errors of the monty interpreter, and builds errors that it raises in a program."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Any

from sandbox.frames import escape_lone_surrogates, failure_frame

SHOWN_FRAMES = 30


def limit_of(type_: str, text: str) -> str:
    """Return the name of the limit that an exception of the interpreter reports, or ""."""
    if type_ == "MemoryError":
        return "memory_bytes"
    if type_ == "TimeoutError" and re.match("(feed|turn) time limit exceeded", text):
        return "cpu_seconds"
    return ""


def is_unsupported(type_: str, text: str) -> bool:
    """Return True if an exception means that monty does not have a part of Python."""
    module = re.search(r"module named '(\w+)", text)
    is_stdlib = module is not None and module[1] in sys.stdlib_module_names
    return type_ == "NotImplementedError" or is_stdlib


def exception_reply(type_: str, text: str) -> dict[str, Any]:
    """Return the reply to a call of a program that raises an exception there."""
    return {"exc_type": type_, "message": escape_lone_surrogates(text)}


def refused_arguments(name: str) -> dict[str, Any]:
    """Return the exception for arguments of the tool `name` that cannot be sent."""
    return exception_reply(
        "ValueError", f"{name}() was given arguments that are too large, or no JSON"
    )


def value_reply(value: Any) -> dict[str, Any]:
    """Return a value for monty, without lone surrogates."""
    text = json.dumps(value, ensure_ascii=False)
    return {"return_value": json.loads(text.encode("utf-8", "replace"))}


def failure_frame_of(
    api: Any, error: Any, *, file: str, failed: Mapping[str, int]
) -> dict[str, Any]:
    """Return the frame that reports to the host how a program ended.

    `error` is an exception of the program, or a limit, as the interpreter `api` reports it. `file`
    is the program's file name there. `failed` are the numbers of the failed calls, keyed by the
    messages of their errors.
    """
    if isinstance(error, api.MontyCrashedError):
        if error.timed_out:
            return failure_frame("limit", "cpu_seconds", "", [])
        return failure_frame("exception", "Crash", "the program crashed the interpreter", [])
    inner = error.exception()
    type_ = type(inner).__name__
    text = str(inner)
    frames = _frames_of(api, error, file)
    if type_ == "SystemExit" and text in ("", "0", "None"):
        return {"done": None}
    if limit := limit_of(type_, text):
        return failure_frame("limit", limit, "", frames)
    if type_ == "RuntimeError" and text in failed:
        return failure_frame("exception", "ToolError", text, frames, failed[text])
    if is_unsupported(type_, text):
        message = (
            f"the monty sandbox runs a subset of Python ({text}); use the zygote or docker sandbox"
        )
        return failure_frame("exception", type_, message, frames or [[1, "<module>"]])
    if isinstance(error, api.MontySyntaxError):
        message = error.display("msg")
        return failure_frame("syntax", "SyntaxError", message, frames[-1:] or [[1, "<module>"]])
    return failure_frame("exception", type_, text, frames)


def _frames_of(api: Any, error: Any, file: str) -> list[list[Any]]:
    """Return [line, function] for each level of an error's traceback that is in the program."""
    if not isinstance(error, api.MontyRuntimeError | api.MontySyntaxError):
        return []
    own = [frame for frame in error.traceback() if frame.filename == file]
    return [[frame.line, frame.function_name or "<module>"] for frame in own[-SHOWN_FRAMES:]]
