"""Protocols as one meets them in the wild: names, method, path, and where each argument travels, and no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from protocols.jsontypes import JsonObject
from protocols.protocol import Annotations, HttpBinding, ToolProtocol
from protocols.schema import resolve, types

Setting = Literal["names", "types"]
"""*names*: arguments by name and place. *types*: by JSON type as well."""

SETTINGS: tuple[Setting, ...] = get_args(Setting)


def strip(protocols: Sequence[ToolProtocol], setting: Setting) -> list[ToolProtocol]:
    """The protocols without anything that only documentation knows.

    What stays: the tool's name, its method and URL, the names of its arguments and where they travel, and with the
    setting `types` the JSON type of each, nullable or not as it was. What goes: descriptions, categories, what is
    required, enums, formats, patterns, ranges, defaults, responses, errors, links, verifying reads, idempotency
    headers, and annotations: what a method says of itself, its reader knows.
    """
    return [_stripped(protocol, setting) for protocol in protocols]


def _stripped(protocol: ToolProtocol, setting: Setting) -> ToolProtocol:
    properties: Mapping[str, JsonObject] = protocol.parameters
    if setting == "names":
        kept: dict[str, dict[str, Any]] = {name: {} for name in properties}
    else:
        kept = {name: _typed(schema, protocol.input_schema) for name, schema in properties.items()}
    binding = protocol.binding
    if isinstance(binding, HttpBinding):
        binding = HttpBinding(
            method=binding.method,
            url=binding.url,
            locations=binding.locations,
            wire_names=binding.wire_names,
            body_argument=binding.body_argument,
        )
    return ToolProtocol(
        name=protocol.name,
        input_schema={"type": "object", "properties": kept},
        binding=binding,
        annotations=_of_method(binding),
    )


def _typed(schema: JsonObject, root: JsonObject) -> dict[str, Any]:
    kinds = types(resolve(schema, root))
    return {"type": kinds[0] if len(kinds) == 1 else list(kinds)} if kinds else {}


def _of_method(binding: object) -> Annotations:
    """A GET is known to be a read by everyone who sees it."""
    reads = isinstance(binding, HttpBinding) and binding.method in ("GET", "HEAD", "OPTIONS")
    return Annotations(read_only=True) if reads else Annotations()
