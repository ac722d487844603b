"""Which search turns what a person calls a thing into the id that an argument takes."""

from __future__ import annotations

import re

from protocols.producers import Producer, Producers
from protocols.schema import resolve, types
from protocols.toolbox import Tool, Toolbox

_NAME = re.compile(r"[^\W\d_]{3}")
"""What a person calls a thing has letters in a row; a date or a number is no name to search by."""


def search_for(text: str, tool: Tool, argument: str, tools: Toolbox, *, written: str | None = None) -> str | None:
    """`search_airlines(query="Hawaiian Airlines")[0]["code"]`, the value of an argument (an alias) that `text` names.

    Only where a link says which tool yields the argument's values, and that tool searches by words: one required
    argument, a free text that no other tool yields. `written` is how a program writes the text (None: quoted).
    """
    if not _NAME.search(text):
        return None
    producers = Producers(tools)
    for producer in producers.of(tool, tool.arguments.get(argument, argument)):
        words = _words_argument(tools[producer.tool], producers)
        if words is not None and _is_search(producer, tools):
            return producers.expression(producer, arguments=f"{words}={written or repr(text)}")
    return None


def _words_argument(tool: Tool, producers: Producers) -> str | None:
    """The alias of the one argument by which a tool searches freely, if that is how it works."""
    required = [alias for alias in tool.arguments if alias in tool.required]
    if len(required) != 1:
        return None
    name = tool.arguments[required[0]]
    schema = resolve(tool.protocol.parameters[name], tool.protocol.input_schema)
    free = types(schema) == ("string",) and not {"enum", "const", "pattern", "format"} & schema.keys()
    return required[0] if free and not producers.of(tool, name) else None


def _is_search(producer: Producer, tools: Toolbox) -> bool:
    """Whether the values stand in a list, best match first; a lookup by the name itself would have no list."""
    return "[" in producer.path and not tools[producer.tool].protocol.writes
