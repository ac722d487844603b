"""The answer of a program as a JSON value.

The value is the object that the program printed, not what its text looks like: `print(6)` gives a
number and `print("6")` a text.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence

from atc.core.program import Program
from atc.core.types import Attempt
from protocols.schema import JsonValue, loads


def answer_value(answer: str | None, attempts: Sequence[Attempt]) -> JsonValue:
    """Return the answer of a run as a JSON value.

    `answer` is its text. An answer that no program of `attempts` gave stays a text.
    """
    giving = (attempt for attempt in reversed(attempts) if attempt.answer == answer)
    attempt = next(giving, None) if answer is not None else None
    return answer if attempt is None else attempt_value(attempt)


def attempt_value(attempt: Attempt) -> JsonValue:
    """Return the answer of an attempt as a JSON value.

    It is the object that the only `print` of the program got. A text stays a text, unless the
    program made it with `json.dumps`. If the program printed in several steps, its whole output is
    the text. If it printed nothing, the answer is the value of its last expression.
    """
    if attempt.answer is None or attempt.trace is None:
        return None
    printed = attempt.trace.stdout.strip()
    if not printed:
        value: JsonValue = attempt.trace.value
    elif attempt.trace.printed:
        value = attempt.trace.printed[0]
    else:
        value = _read_json(printed) if _prints_json(attempt.program) else printed
    return value


def _read_json(text: str) -> JsonValue:
    """Return the value of a JSON text, or the text itself if it is not JSON."""
    try:
        value: JsonValue = loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _prints_json(program: Program) -> bool:
    """Return True if a program prints a result of `json.dumps`, directly or from a variable."""
    dumped = set()
    printed = []
    for node in ast.walk(program.tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_dumps(value):
                dumped.add(name)
            case ast.Call(func=ast.Name(id="print" | "print_answer"), args=[value]):
                printed.append(value)
    return any(
        _is_dumps(value) or (isinstance(value, ast.Name) and value.id in dumped)
        for value in printed
    )


def _is_dumps(node: ast.expr) -> bool:
    """Return True for an expression that calls `json.dumps`, also under the name `dumps`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="dumps") | ast.Name(id="dumps")):
            return True
        case _:
            return False


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
