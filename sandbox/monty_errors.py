"""What the errors of the monty interpreter mean, and errors that it raises in a program."""

from __future__ import annotations

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
