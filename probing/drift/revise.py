"""A protocol with what changed: what the static check holds stored programs against."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from probing.document import nodes
from probing.drift.change import Change
from probing.facts import ToolFacts
from probing.infer import Inference
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Evidence, ToolProtocol
from protocols.schema import pointer, resolve


def revised(old: ToolProtocol, changes: Sequence[Change], facts: ToolFacts) -> ToolProtocol:
    """`old` with `changes` of this tool worked in, and nothing else: what was not seen again stays.

    Every response in `facts` conforms to it.
    """
    mine = [change for change in changes if change.tool == old.name]
    if not mine:
        return old
    output = old.output_schema
    if output is not None and facts.done:
        output = _expanded(copy.deepcopy(dict(output)), output)
        for change in mine:
            output = _without(output, change)
        inference = Inference(known=output)
        for sample in facts.done:
            inference.add(sample.response)
        output = inference.schema()
    arguments = copy.deepcopy(dict(old.input_schema))
    for change in mine:
        if change.kind.startswith("argument_"):
            _argument(arguments, change)
    return replace(old, input_schema=arguments, output_schema=output, evidence=Evidence(level="observed"))


def _without(schema: dict[str, Any], change: Change) -> dict[str, Any]:
    """A schema that does not say any more what a change took away; what came instead is inferred."""
    if change.kind == "type" and change.everywhere and not change.path:
        return {key: part for key, part in schema.items() if key == "$defs"}
    for parent, name in _parents(schema, change.path):
        if change.kind == "removed" or (change.kind == "type" and change.everywhere):
            parent["properties"].pop(name, None)
        if change.kind == "removed":
            parent["required"] = [other for other in parent.get("required", ()) if other != name]
    return schema


def _parents(schema: dict[str, Any], path: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects that describe the field at `path`, or may, and its name."""
    above, dot, name = path.rpartition(".")
    if not name or name == "*" or name.endswith("[]"):
        return
    for found, node in list(nodes(schema)):
        if found == (above if dot else "") and "properties" in node:
            yield node, name


def _argument(schema: dict[str, Any], change: Change) -> None:
    name, properties = change.path, schema.setdefault("properties", {})
    match change.kind:
        case "argument_required":
            properties.setdefault(name, {})
            schema["required"] = [*schema.get("required", ()), name]
        case "argument_unknown":
            properties.pop(name, None)
            schema["required"] = [other for other in schema.get("required", ()) if other != name]
        case "argument_enum" if isinstance(properties.get(name), dict):
            properties[name]["enum"] = list(change.values)


def _expanded(node: Json, root: JsonObject) -> Any:
    """A schema with its references put in, so that each place can be changed by itself; recursive ones stay."""
    if isinstance(node, list):
        return [_expanded(part, root) for part in node]
    if not isinstance(node, dict):
        return node
    ref = node.get("$ref")
    if isinstance(ref, str) and ref not in _reached(pointer(root, ref), root, set()):
        return _expanded({key: part for key, part in resolve(node, root).items() if key != "$ref"}, root)
    return {key: part if key == "$defs" else _expanded(part, root) for key, part in node.items()}


def _reached(node: Json, root: JsonObject, seen: set[str]) -> set[str]:
    """The references that a part of a schema leads to."""
    if isinstance(node, list):
        for part in node:
            _reached(part, root, seen)
    elif isinstance(node, dict):
        ref = node.get("$ref")
        if isinstance(ref, str) and ref not in seen:
            seen.add(ref)
            _reached(pointer(root, ref), root, seen)
        for key, part in node.items():
            if key != "$defs":
                _reached(part, root, seen)
    return seen
