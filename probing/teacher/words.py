"""Descriptions that a model writes from evidence: plain text about a tool, which decides nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from probing.facts import ToolFacts
from protocols.jsontypes import Json, JsonObject
from protocols.links import response_paths
from protocols.schema import types

MOST_ARGUMENTS, MOST_FIELDS = 10, 12
"""So many are described at most: the outer and first ones. More would take a small model minutes a tool."""

_MOST_SENTENCE, _MOST_PHRASE = 200, 100
_NOT_PLAIN = re.compile(r"https?:|www\.|[<>{}`\[\]]|\w\(")
_ORDERS = re.compile(
    r"\b(ignore|disregard|forget|override|(previous|above|these|new|following|system) (instructions?|prompts?)"
    r"|language model|you|your|(must|always|should|never|do not|don't|please) (call|use|send|run|trust)"
    r"|call the|before (calling|using))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Words:
    """What a model says of a tool, of arguments by name, and of response fields by path (`airports[].code`).

    Only of what the source did not describe; each text is one plain line. No type, and nothing that is required,
    follows from them.
    """

    description: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of a tool has no description: the tool itself, arguments, response paths."""

    description: bool
    arguments: tuple[str, ...]
    fields: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.description or bool(self.arguments) or bool(self.fields)

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the reply that describes them."""
        parts: dict[str, Any] = {"description": {"type": "string"}} if self.description else {}
        for name, keys in (("arguments", self.arguments), ("fields", self.fields)):
            if keys:
                parts[name] = _record({key: {"type": "string"} for key in keys})
        return _record(parts)

    def read(self, reply: Json, *, tool: str) -> Words:
        """The texts of a reply that are plain; others are left out."""
        said = reply if isinstance(reply, Mapping) else {}
        about = {
            part: found if isinstance(found := said.get(part), Mapping) else {} for part in ("arguments", "fields")
        }
        return Words(
            description=_text(said.get("description"), tool, most=_MOST_SENTENCE) if self.description else "",
            arguments=_texts(about["arguments"], self.arguments),
            fields=_texts(about["fields"], self.fields),
        )


def wanted(facts: ToolFacts, schema: JsonObject | None) -> Wanted:
    """What is to be described: what the source left without a word. `schema` is that of the response."""
    undescribed = [
        name
        for name, argument in facts.arguments.items()
        if not argument.declared.get("description")
        and (argument.accepted or argument.required or name in facts.protocol.parameters)
        and not any(hint.kind == "unknown" for hint in argument.hints)
    ]
    fields = [
        path
        for path, part in response_paths(schema)
        if path and not path.endswith("[]") and not part.get("description") and not _holds(part)
    ]
    outer = sorted(dict.fromkeys(fields), key=lambda path: path.count("."))
    return Wanted(
        description=not facts.protocol.description,
        arguments=tuple(undescribed[:MOST_ARGUMENTS]),
        fields=tuple(outer[:MOST_FIELDS]),
    )


def plain_line(text: str, *, most: int | None = None) -> str:
    """`text` on one line of at most `most` characters, without characters that are not printed."""
    shown = (c if c.isprintable() else " " if c.isspace() else "" for c in text)
    line = " ".join("".join(shown).split())
    return line if most is None or len(line) <= most else line[: most - 1].rstrip() + "…"


def _texts(said: Mapping[str, Json], keys: Iterable[str]) -> dict[str, str]:
    texts = {key: _text(said.get(key), key, most=_MOST_PHRASE) for key in keys}
    return {key: text for key, text in texts.items() if text}


def _text(said: Json, name: str, *, most: int) -> str:
    """A text as it may stand in a protocol; empty where it is none.

    What a tool's output made a model say is read by other models later: a text that addresses its reader, gives an
    order, or holds an address or code describes nothing, and is left out.
    """
    if not isinstance(said, str):
        return ""
    text = plain_line(said, most=most).strip(" \"'*#-")
    if _NOT_PLAIN.search(text) or _ORDERS.search(text) or not any(map(str.isalpha, text)):
        return ""
    return "" if _letters(text) in ("", _letters(name), _letters(f"the {name}")) else text


def _holds(schema: JsonObject) -> bool:
    """Whether a place holds others, which are described themselves."""
    return bool({"object", "array"} & set(types(schema))) or "anyOf" in schema or "oneOf" in schema


def _record(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text.lower())
