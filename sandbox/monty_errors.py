"""Explains errors of the monty interpreter, and builds errors that it raises in a program."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from sandbox.frames import escape_lone_surrogates


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
