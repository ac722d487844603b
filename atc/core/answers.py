"""Reads the value of the answer that a program printed."""

from __future__ import annotations

import ast
import json

from protocols.schema import JsonValue


def parse_answer(text: str) -> JsonValue:
    """Return the value that a program's output represents as JSON or as a Python `repr`.

    Any other output is returned as text, for example `1,234` and `+49…`.
    """
    for read in (
        (json.loads, ast.literal_eval) if text[:1] in "[({'\"NTF" else (json.loads,)
    ):  # NTF: None, True …
        try:
            value: JsonValue = read(text)
            json.dumps(value, allow_nan=False)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
        return value
    return text
