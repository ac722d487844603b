"""Arguments that are sent as text, for which the number 5 and the text "5" are the same.

They are those in the path, the query, a header, a cookie or a form. In a JSON body the number and
the text differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import Json, JsonObject, as_mapping, items_of_type

_TEXT_LOCATIONS = frozenset({"path", "query", "header", "cookie", "form"})
_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")
_LARGEST = 10**40
_DEEPEST = 8
_NO_NUMBERS = frozenset(
    {"date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"}
)
"""Formats of texts that are no numbers."""


def is_sent_as_text(protocol: ToolProtocol, argument: str) -> bool:
    """Return True if a value of an argument is sent as text, and not as JSON.

    `argument` is the original name of the argument.
    """
    binding = protocol.binding
    if not isinstance(binding, HttpBinding) or argument == binding.body_argument:
        return False
    joint = as_mapping(protocol.parameters.get(argument)).get("x-atc-join")
    return binding.location(argument) in _TEXT_LOCATIONS and joint != "{}"


def as_numbers(value: Json) -> Json:
    """Return a value with each text of digits, such as `"5"` and `"-1.50"`, as a number.

    The result is for validation only: as a number, a text may lose digits.
    """
    return _map_scalars(value, _as_number)


def as_texts(value: Json) -> Json:
    """Return a value with each number as the text that is sent for it."""
    return _map_scalars(value, _as_text)


def is_number_text(text: str) -> bool:
    """Return True for a text of digits, such as `"5"` and `"-1.50"`."""
    return _NUMBER.fullmatch(text) is not None


def find_text_form(schema: JsonObject) -> str | None:
    """Return the format of a text that is no number, or None if the text may be a number.

    The result is `text` if the schema has no format but its examples show that it is no number.
    """
    if schema.get("format") in _NO_NUMBERS:
        return str(schema["format"])
    examples = items_of_type(schema.get("examples"))
    is_text = all(isinstance(one, str) and not is_number_text(one.strip()) for one in examples)
    return "text" if examples and is_text else None


def _map_scalars(value: Json, change: Callable[[Json], Json], depth: int = _DEEPEST) -> Json:
    """Return a value with its scalars changed, down to `depth` levels of lists and objects."""
    if isinstance(value, list | tuple | Mapping) and depth == 0:
        return value
    if isinstance(value, list | tuple):
        return [_map_scalars(item, change, depth - 1) for item in value]
    if isinstance(value, Mapping):
        return {key: _map_scalars(item, change, depth - 1) for key, item in value.items()}
    return change(value)


def _as_number(value: Json) -> Json:
    if not isinstance(value, str) or not is_number_text(value):
        return value
    return float(value) if "." in value else int(value)


def _as_text(value: Json) -> Json:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # Beyond are infinity, NaN, and integers that Python refuses to write.
    return json.dumps(value) if is_number and -_LARGEST < value < _LARGEST else value
