"""Converts a tool's input schema for llguidance's `%json` and for OpenAI's strict mode.

Missing bounds are added to the schema of each argument (`bound_schema.py`). Clauses that cannot be
enforced are dropped and listed as `unenforced`. In any case, the finished call is validated against
the complete schema (`parse.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from atc.models.decode.bound_schema import (
    BOUNDS,
    ENFORCED,
    UNENFORCED,
    Bounds,
    SchemaBounder,
    json_text,
    refusal_reason,
)
from atc.models.decode.errors import Undecodable
from atc.models.decode.value_schemas import Impossible
from protocols.tool import Tool

INSTALL = 'pip install "automatic-tool-chain[decode]"'

_ARGUMENT_CHARACTERS = 120
"""A string that is an argument may always have at least this many characters."""
_LOOSE = ("pattern", "format", "multipleOf")
"""Keywords that llguidance supports only with some values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarArgument:
    """One argument of a tool, with a schema that a grammar can contain.

    `schema` is bounded and has no references. `plain_type` is the argument's type if no other
    keyword of its schema restricts it, else empty.
    """

    alias: str
    schema: Mapping[str, Any]
    required: bool
    plain_type: str = ""


@dataclass(frozen=True, slots=True)
class GrammarArguments:
    """The arguments of a tool, in the order of its schema.

    `unenforced` are JSON pointers to the clauses of the schema that a grammar cannot enforce. An
    optional argument is left out if no value conforms to its schema.
    """

    every: tuple[GrammarArgument, ...]
    unenforced: tuple[str, ...] = ()


def arguments_of(tool: Tool, bounds: Bounds = BOUNDS) -> GrammarArguments:
    """Return the arguments of a tool with bounded schemas, whose values have a limited size.

    Raises:
        Undecodable: no value fits a required argument. The error names the tool and the clause.
    """
    schema = tool.protocol.input_schema
    room = max(
        _ARGUMENT_CHARACTERS,
        min(bounds.characters, bounds.call_characters // max(1, len(tool.arguments))),
    )
    unheld = [
        f"/{key}" for key in schema if key in UNENFORCED or key in ("anyOf", "oneOf", "allOf")
    ]
    every: list[GrammarArgument] = []
    for alias, name in tool.arguments.items():
        place = f"/properties/{name}"
        required = alias in tool.required
        raw = tool.protocol.parameters[name]
        bounding = SchemaBounder(schema, bounds)
        try:
            bounded = _compilable(bounding, raw, room, place)
        except Impossible as error:
            if required:
                hint = "Correct the schema of the tool."
                raise Undecodable(
                    f"{error}: nothing conforms.", tool=tool.alias, clause=place, hint=hint
                ) from None
            continue
        unheld += bounding.unenforced
        limits = ENFORCED - {"type"}
        whole = bounding.resolve_reference(raw, ())[0] if isinstance(raw, Mapping) else {}
        kind = "" if limits & whole.keys() else whole.get("type")
        every.append(
            GrammarArgument(
                alias=alias,
                schema=bounded,
                required=required,
                plain_type=kind if isinstance(kind, str) else "",
            )
        )
    return GrammarArguments(tuple(every), tuple(dict.fromkeys(unheld)))


def _compilable(bounding: SchemaBounder, raw: Any, room: int, place: str) -> dict[str, Any]:
    """Return the bounded form of the schema `raw`, which llguidance can compile.

    If necessary, keywords that llguidance may refuse are dropped. Then `place`, the JSON pointer of
    the schema, is recorded as unenforced.

    Raises:
        Impossible: no value conforms, or llguidance refuses the schema nevertheless.
    """
    bounded = bounding.value(raw, room, place)
    if not (why := refusal_reason(json_text(bounded))):
        return bounded
    loose: dict[str, Any] = _loosen(bounded)
    if loose == bounded or refusal_reason(json_text(loose)):
        raise Impossible(why)
    bounding.unenforced.append(place)
    return loose


def _loosen(schema: Any) -> Any:
    """Return the schema without the keywords that llguidance may refuse."""
    if isinstance(schema, list):
        return [_loosen(part) for part in schema]
    if not isinstance(schema, Mapping) or "enum" in schema:
        return schema
    kept = {key: part for key, part in schema.items() if key not in _LOOSE}
    named = {key: _loosen(part) for key, part in kept.get("properties", {}).items()}
    return {key: named if key == "properties" else _loosen(part) for key, part in kept.items()}


def require_llguidance() -> None:
    """Raise Undecodable if llguidance is not installed."""
    if find_spec("llguidance") is None:
        raise Undecodable("grammars need 'llguidance', which is not installed.", hint=INSTALL)


def strict_object(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object's schema for OpenAI's strict mode, which demands that all keys are required.

    Keys that were optional may have the value null.
    """
    required = set(schema.get("required", ()))
    parts = {key: _strict(part) for key, part in schema.get("properties", {}).items()}
    nullable = {
        key: part if key in required else {"anyOf": [part, {"type": "null"}]}
        for key, part in parts.items()
    }
    return {
        "type": "object",
        "properties": nullable,
        "required": list(parts),
        "additionalProperties": False,
    }


def _strict(part: Any) -> Any:
    """Return a value's schema without length limits, which strict mode refuses."""
    if isinstance(part, list):
        return [_strict(one) for one in part]
    if not isinstance(part, Mapping) or "enum" in part:
        return part
    if part.get("type") == "object" and "properties" in part:
        return strict_object(part)
    return {key: _strict(one) for key, one in part.items() if key not in ("minLength", "maxLength")}
