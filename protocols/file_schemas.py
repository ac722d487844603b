"""Schemas of files: responses that are a file, and arguments that take one."""

from __future__ import annotations

from typing import Any

from protocols.file_names import is_binary_type
from protocols.schema import JsonObject, resolve, scalar_schema, types

FILE_SCHEMA: JsonObject = {"type": "string", "format": "binary"}
"""The schema of a file, as OpenAPI 3.0 writes it."""


MAY_BE_FILE = "x-atc-may-be-file"
"""Keyword of a response schema: a response of this run was too large, so it came as a file. Others
are as the schema says.
"""


def is_file(schema: Any, root: JsonObject) -> bool:
    """Return True if a schema describes the content of a file, or a list of such contents.

    It then has the format `binary` (OpenAPI 3.0) or a binary media type (3.1).
    """
    one = scalar_schema(schema, root)
    if "contentEncoding" in one:
        return False  # a text
    return one.get("format") == "binary" or is_binary_type(str(one.get("contentMediaType", "")))


def is_file_response(schema: JsonObject | None) -> bool:
    """Return True if a response schema says that the whole body is a file."""
    if schema is None:
        return False
    top = resolve(schema, schema)
    return types(top) in ((), ("string",)) and "items" not in top and is_file(top, schema)


def takes_file(schema: Any, root: JsonObject) -> bool:
    """Return True if an argument, or an item of a list, may be a file.

    It is sent as it is in a form or as a whole body, and as base64 within JSON.
    """
    one = scalar_schema(schema, root)
    return (
        is_file(schema, root)
        or one.get("format") in ("byte", "base64", "file")
        or one.get("contentEncoding") in ("base64", "base64url")
        or bool(one.get("contentMediaType"))
    )
