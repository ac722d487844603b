"""One schema from schemas of different types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_ORDER = ("object", "array", "string", "integer", "number", "boolean", "null")
_UNIONS = ("$ref", "oneOf", "anyOf")


def combine(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """What allows all that `parts` allow; each of them is of another JSON type.

    Keywords of JSON Schema bind values of their own type alone, so most parts stand in one schema with a list of
    types; what lists values, refers elsewhere or is a union of kinds stands as an alternative.
    """
    plain: dict[str, Any] = {}
    kinds: list[str] = []
    listed: list[dict[str, Any]] = []
    unions: list[dict[str, Any]] = []
    for part in parts:
        if any(key in part for key in _UNIONS):
            unions.append(part)
        elif "enum" in part:
            listed.append(part)
        elif part:
            kinds += [part["type"]] if isinstance(part["type"], str) else part["type"]
            plain |= part
    if kinds:
        ordered = sorted(set(kinds), key=_ORDER.index)
        plain["type"] = ordered[0] if len(ordered) == 1 else ordered
    if len(listed) == 1 and not unions and kinds in ([], ["null"]):
        return _with_null(listed[0]) if kinds else listed[0]
    alternatives = [*unions, *listed, *([plain] if kinds else [])]
    if len(alternatives) <= 1:
        return alternatives[0] if alternatives else {}
    if len(unions) == 1 and unions[0].keys() == {"oneOf"}:
        return {"oneOf": [*unions[0]["oneOf"], *alternatives[1:]]}
    return {"anyOf": alternatives}


def _with_null(listed: dict[str, Any]) -> dict[str, Any]:
    return listed | {"type": [listed["type"], "null"], "enum": [*listed["enum"], None]}
