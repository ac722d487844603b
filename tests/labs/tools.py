"""Tools for tests, each made of a name, what it answers and its arguments; and models that reply with programs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from atc.models.scripted import ScriptedModel
from protocols.protocol import Annotations, ToolProtocol
from protocols.schema import Json, JsonObject
from protocols.tool import Tool

TEXT = {"type": "string"}


def tool(
    name: str,
    answer: Any = None,
    parameters: Mapping[str, Any] | None = None,
    output: JsonObject | None = None,
    *,
    reads: bool = True,
    destructive: bool | None = None,
    optional: Collection[str] = (),
    sent: list[tuple[str, dict[str, Json]]] | None = None,
    **more: Any,
) -> Tool:
    """A tool that gives `answer`, or what that makes of the arguments.

    `parameters` are the arguments' schemas, or types; one that has a default or is `optional` need not be given. `sent`
    gets each call; `more` are further fields of the protocol.
    """
    given = {
        key: {"type": kind} if isinstance(kind, str) else kind
        for key, kind in (parameters or {}).items()
    }
    protocol = ToolProtocol(
        name=name,
        input_schema={
            "type": "object",
            "properties": given,
            "required": [
                key
                for key, schema in given.items()
                if "default" not in schema and key not in optional
            ],
        },
        output_schema=output,
        annotations=Annotations(read_only=reads, destructive=destructive),
        **more,
    )

    def call(arguments: JsonObject, **options: Any) -> Json:
        if sent is not None:
            sent.append((name, dict(arguments)))
        return answer(arguments, **options) if callable(answer) else answer

    return Tool(protocol=protocol, call=call)


def record(**properties: Any) -> dict[str, Any]:
    """The schema of an object that has these fields and no others, by name their schemas or types."""
    fields = {
        name: {"type": kind} if isinstance(kind, str) else kind for name, kind in properties.items()
    }
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def fenced(program: str) -> str:
    """A reply that holds the program."""
    return f"```python\n{program}\n```"


def writing(*programs: str) -> ScriptedModel:
    """A model that writes these programs, one a reply."""
    return ScriptedModel(*map(fenced, programs))
