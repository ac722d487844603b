"""The schema of the values that two schemas both allow."""

from __future__ import annotations

from typing import Any

from protocols.schema import ANNOTATIONS, SHOWN_FIELDS, types


def intersect_schemas(one: Any, other: Any) -> Any:
    """Return a schema that allows what both schemas allow.

    The order of the two does not matter. If a keyword of both schemas cannot be combined, return an
    `allOf` of both.
    """
    if one is True or one == {} or other is False:
        return other
    if other is True or other == {} or one is False or one == other:
        return one
    if "$ref" in one or "$ref" in other:
        # A keyword beside a `$ref` would hide the same keyword of the schema that it refers to.
        return {"allOf": [one, other]}
    merged = dict(one)
    for key, value in other.items():
        known = merged.get(key, value)
        if known == value or key in ANNOTATIONS:
            merged[key] = value
        else:
            merged[key] = _intersect_keyword(key, known, value)
            if merged[key] in (None, []):
                return {"allOf": [one, other]}
    return merged


def _intersect_keyword(key: str, known: Any, value: Any) -> Any:
    """Return the value of a keyword with which a schema allows only what both given values allow.

    None or [] means that the values cannot be combined.
    """
    match key:
        case "type":
            kept = _common_types(types({key: known}), types({key: value}))
            return kept[0] if len(kept) == 1 else kept
        case "enum":
            return [item for item in known if item in value]
        case "required":
            return list(dict.fromkeys([*known, *value]))
        case "properties":
            common = {
                name: intersect_schemas(known.get(name, {}), part) for name, part in value.items()
            }
            return known | common
        case "items" | "additionalProperties":
            return intersect_schemas(known, value)
        case _ if key == SHOWN_FIELDS:
            return intersect_schemas(known, value)
    return None


def _common_types(first: tuple[str, ...], second: tuple[str, ...]) -> list[str]:
    """Return the JSON types that both schemas allow.

    If one schema allows `number` and the other only `integer`, both allow `integer`.
    """
    kept = [kind for kind in first if kind in second or (kind == "integer" and "number" in second)]
    if "integer" in second and "number" in first and "integer" not in kept:
        kept.append("integer")
    return kept
