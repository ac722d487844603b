"""JSON values: names for annotations, and strict reading and writing. JSON has no NaN and no infinity.

`Any` stands beneath the names: recursive aliases cost more casts than they find faults.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn, TypeAlias

from pydantic_core import to_jsonable_python

Json: TypeAlias = Any
"""None, bool, int, float, str, list of Json or dict of str to Json."""

JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object; read-only by convention."""


def mapping(value: Json) -> JsonObject:
    """`value` where it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def listed(value: Json, kind: type = object) -> list[Any]:
    """The items of this kind where `value` is a list, else none."""
    return [item for item in value if isinstance(item, kind)] if isinstance(value, list) else []


def loads(text: str) -> Json:
    """The JSON value of `text`.

    Raises:
        ValueError: it is not JSON, or has a number that Python cannot hold: NaN, beyond ±1.8e308, or a whole number of
            more than 4,300 digits.
        RecursionError: it is nested too deeply.
    """
    try:
        return _DECODER.decode(text)
    except ValueError as error:
        if "integer string conversion" in str(error):
            raise ValueError("Exceeds the limit of 4,300 digits for a whole number") from None
        raise


def dumps(value: Any, *, indent: int | None = None) -> str:
    """`value` as JSON text with its letters as they are; what JSON cannot hold becomes its `repr`, NaN and ±∞ null."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=repr, indent=indent)
    except ValueError:
        plain = to_jsonable_python(value, inf_nan_mode="null", fallback=repr)
        return json.dumps(plain, ensure_ascii=False, default=repr, indent=indent)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name[:20]} is no JSON number")


def _float(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_float)
