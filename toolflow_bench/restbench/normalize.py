"""What documents get wrong, put right where they themselves say what is meant; and the words of their examples."""

from __future__ import annotations

from collections import Counter
from typing import Any

_TRUTH_VALUES = {"true": True, "false": False}
_LONGEST_WORD = 40
_NUMERIC_KEYWORDS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")


def normalized(value: Any, *, schemas: bool = False) -> Any:
    """Booleans and numbers that a document quotes, unquoted. `schemas`: `value` maps names to schemas."""
    if isinstance(value, list):
        return [normalized(part) for part in value]
    if not isinstance(value, dict):
        return value
    result = {key: normalized(part, schemas=key in ("properties", "schemas")) for key, part in value.items()}
    if schemas:
        return result
    for key in ("required", "nullable", "additionalProperties", "explode", "deprecated"):
        if isinstance(text := result.get(key), str) and text in _TRUTH_VALUES:
            result[key] = _TRUTH_VALUES[text]
    for key in (*_NUMERIC_KEYWORDS, "default", "example"):
        if isinstance(text := result.get(key), str) and key in result:
            result[key] = _unquoted(text, "integer" if key in _NUMERIC_KEYWORDS else result.get("type"))
    _mend(result)
    return result


def _unquoted(text: str, kind: Any) -> Any:
    if kind == "boolean" and text in _TRUTH_VALUES:
        return _TRUTH_VALUES[text]
    if kind in ("integer", "number"):
        try:
            return int(text)
        except ValueError:
            return text
    return text


def _mend(result: dict[str, Any]) -> None:
    """Defects that make an operation unusable, where the document itself says what is meant."""
    options = result.get("oneOf")
    if isinstance(options, list) and {"type": "integer"} in options and {"type": "number"} in options:
        # an integer is a number, so each integer would break the rule that one of them holds
        result["anyOf"] = result.pop("oneOf")
    properties = result.get("properties")
    if isinstance(properties, dict) and isinstance(result.get("required"), list):
        # a name that must be there but cannot: dropped
        result["required"] = [name for name in result["required"] if name in properties]
    schema, examples = result.get("schema"), result.get("examples")
    if not isinstance(schema, dict) or not isinstance(examples, dict) or "" not in schema.get("properties", {}):
        return
    # a property without a name: the example's list that the schema does not know
    for example in examples.values():
        value = example.get("value") if isinstance(example, dict) else None
        unknown = [k for k, v in value.items() if k not in schema["properties"]] if isinstance(value, dict) else []
        if len(unknown) == 1:
            items = schema["properties"].pop("")
            listed = isinstance(value[unknown[0]], list) if isinstance(value, dict) else False
            schema["properties"][unknown[0]] = {"type": "array", "items": items} if listed else items
            return


def count_texts(value: Any, told: dict[str, Counter[str]], *, inside: bool = False, name: str = "") -> None:
    """Count the texts in a document's examples by the name of their property."""
    if isinstance(value, list):
        for part in value:
            count_texts(part, told, inside=inside, name=name)
    elif isinstance(value, dict):
        for key, part in value.items():
            count_texts(part, told, inside=inside or key in ("example", "examples"), name=key)
    elif inside and isinstance(value, str) and value and len(value) <= _LONGEST_WORD:
        told.setdefault(name, Counter())[value] += 1
