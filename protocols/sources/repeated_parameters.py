"""Parameters that may be repeated although their document declares one value."""

from __future__ import annotations

import re
from typing import Any

from protocols.schema import JsonObject, types

_SAYS_SEVERAL = re.compile(
    r"\A(?:an? )?array of\b|\bmore than once\b"
    r"|\b(?:appl|includ|pass|provid|repeat|send|sent|set|specif|suppl|us)\w* (?:\w+ )?"
    r"(?:multiple|several) times\b|\b(?:can|may) be repeated\b|\brepeat (?:this|the) parameter\b",
    re.IGNORECASE,
)
"""Matches a description which says that a parameter takes several values."""
_SAYS_ONE_TEXT = re.compile(r"comma|separat|delimit|json", re.IGNORECASE)
"""Matches a description which says that the values are written into one text."""
_STYLES = ("spaceDelimited", "pipeDelimited")
"""Styles that OpenAPI has for arrays and objects only."""
_OF_ARRAYS = frozenset({"uniqueItems", "minItems", "maxItems", "items"})
_SHARED = frozenset({"title", "description", "default", "deprecated", "examples"})
_SCALARS = frozenset({"string", "integer", "number", "null"})


def with_list(schema: JsonObject, parameter: JsonObject) -> dict[str, Any]:
    """Return the schema of a query parameter or form field, which also allows a list of values.

    A list is added only where the document shows that the parameter may be repeated: by a name that
    ends in `[]`, by keywords or styles of arrays, or by the description. Otherwise the schema is
    returned unchanged.

    Args:
        schema: the converted schema of the parameter, with its description.
        parameter: the parameter in the document.
    """
    kinds = {*types(schema)}
    if not kinds or kinds - _SCALARS or not _may_be_repeated(schema, parameter):
        return dict(schema)
    shared = {key: part for key, part in schema.items() if key in _SHARED}
    one = {key: part for key, part in schema.items() if key not in _SHARED | _OF_ARRAYS}
    limits = {key: schema[key] for key in schema.keys() & _OF_ARRAYS if key != "items"}
    return {**shared, "anyOf": [one, {"type": "array", "items": one, **limits}]}


def _may_be_repeated(schema: JsonObject, parameter: JsonObject) -> bool:
    """Return True if a document shows that a parameter takes several values, each a text."""
    if "content" in parameter:
        return False
    has_style = parameter.get("style") in _STYLES or "collectionFormat" in parameter
    of_arrays = {key for key in schema.keys() & _OF_ARRAYS if schema[key] is not False}
    if str(parameter["name"]).endswith("[]") or has_style or of_arrays:
        return True
    text = str(schema.get("description", ""))
    return bool(_SAYS_SEVERAL.search(text)) and not _SAYS_ONE_TEXT.search(text)
