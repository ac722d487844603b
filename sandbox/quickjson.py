"""JSON text by an encoder that is made once: making it takes longer than a small value does. Standard library alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from json import encoder as _json
from typing import Any


def encoder(*, ascii_only: bool, sort_keys: bool = False, allow_nan: bool = True) -> Callable[[Any], str]:
    """A function from a value to compact JSON.

    It raises as `json.dumps` does, and `RecursionError` for a value that holds itself.
    """
    plain = json.JSONEncoder(
        check_circular=False,
        ensure_ascii=ascii_only,
        sort_keys=sort_keys,
        allow_nan=allow_nan,
        separators=(",", ":"),
    )
    make: Any = getattr(_json, "c_make_encoder", None)
    if make is None:  # an interpreter without the C part
        return plain.encode
    text = _json.encode_basestring_ascii if ascii_only else _json.encode_basestring
    in_parts = make(None, plain.default, text, None, ":", ",", sort_keys, False, allow_nan)
    return lambda value: "".join(in_parts(value, 0))
