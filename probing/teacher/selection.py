"""Which tools may give the values that a tool needs: by links first, of the rest a model is asked (I_s)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from probing.facts import ArgumentFacts, ToolFacts
from probing.teacher.presented import inert
from protocols.links import guess_links, response_paths
from protocols.protocol import ToolProtocol
from protocols.schema import types
from protocols.secret_names import kind_of
from protocols.vocabulary import NOT_LINKED

MOST_HELPERS = 4
_MOST_LISTED, _MOST_FIELDS = 25, 8  # of a prompt


def private(facts: ToolFacts) -> list[ArgumentFacts]:
    """The arguments for which a caller needs a value that he cannot make up, and none is known yet."""
    return [
        argument
        for argument in facts.arguments.values()
        if argument.required is not False
        and not argument.accepted
        and not {"enum", "const", "default"} & argument.declared.keys()
        and not any(hint.kind in ("enum", "default", "example", "unknown") for hint in argument.hints)
        and not set(types(argument.declared)) & {"boolean", "object"}
        and (argument.name.lower() not in NOT_LINKED or kind_of(argument.name) == "text")
    ]


def feeding(facts: ToolFacts) -> list[str]:
    """Names of the tools whose responses held the values with which `facts`' tool answered: what helps is known."""
    origins = [
        argument.accepted[0].origin
        for argument in facts.arguments.values()
        if argument.accepted and argument.required is not False
    ]
    return list(dict.fromkeys(origin.tool for origin in origins if origin.kind == "response"))


def linked(tool: ToolProtocol, arguments: Collection[str], others: Sequence[ToolProtocol]) -> dict[str, list[str]]:
    """Names of the tools whose responses hold values of each argument, by links; the best first."""
    known = {protocol.name for protocol in others}
    mine = next(protocol for protocol in guess_links([tool, *others]) if protocol.name == tool.name)
    found: dict[str, list[str]] = {}
    for link in mine.links:
        if link.argument in arguments and link.tool in known:
            found.setdefault(link.argument, []).append(link.tool)
    return found


def listed(tool: ToolProtocol, others: Sequence[ToolProtocol]) -> list[ToolProtocol]:
    """Of the other tools those that a prompt has room for: those that share most words with the tool."""
    mine = _words(" ".join([tool.name, *tool.parameters]))
    shared = {protocol.name: len(mine & _words(" ".join([protocol.name, *_fields(protocol)]))) for protocol in others}
    return sorted(others, key=lambda protocol: -shared[protocol.name])[:_MOST_LISTED]


def line(protocol: ToolProtocol) -> str:
    """A tool and what it gives, on one line."""
    said = inert(protocol.description)[:80]
    fields = ", ".join(inert(name)[:40] for name in _fields(protocol)[:_MOST_FIELDS])
    return f"- {protocol.name}" + (f" ({said})" if said else "") + f": {fields or 'not known'}"


def reply_schema(names: Sequence[str]) -> dict[str, Any]:
    """JSON Schema of a reply that chooses among tools."""
    chosen = {"type": "array", "items": {"type": "string", "enum": list(names)}, "maxItems": MOST_HELPERS}
    return {
        "type": "object",
        "properties": {"functions": chosen},
        "required": ["functions"],
        "additionalProperties": False,
    }


def _fields(protocol: ToolProtocol) -> list[str]:
    names = (path.rpartition(".")[2].removesuffix("[]") for path, _ in response_paths(protocol.output_schema))
    return list(dict.fromkeys(filter(None, names)))


def _words(text: str) -> set[str]:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return {word.removesuffix("s") for word in re.findall(r"[^\W_]+", parted.lower())} - {"get", "list", "id"}
