"""Response schemas learned as programs run: for tools of which nobody said what they answer, or said it wrongly.

A tool gets a response schema from the responses that its calls brought, where none is declared or one of them breaks
the declared one. It counts for the rest of the run, is kept in the state folder by what the tool is (its protocol,
whatever it is called there), shown in the stubs of the next run, and used by the check, as observed and not as
declared: it never stops a program for a key that was not seen yet.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from atc.redaction import Redactor
from atc.synthesize import described
from probing.infer import count_fields, infer
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Evidence, ToolProtocol, dump
from protocols.schema import validator, wrapper_key
from protocols.secrets import within
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import ToolCall

_LARGEST_CHARACTERS = 300_000
"""Of a response as JSON. Nothing is learned from a larger one: reading it would hold up the run."""
_COUNTED = 20
"""Responses of a tool that are counted; after them only one that departs from the schema is looked at."""
_STRUCTURE = frozenset({"title", "description", "type", "properties", "required", "items", "prefixItems",
                        "additionalProperties", "anyOf", "oneOf", "$ref", "$defs"})  # fmt: skip
"""Keywords that are kept of an inferred schema. All others could hold values, and so a secret."""
_IN_PLACE = ("properties", "$defs")
_LISTS = ("anyOf", "oneOf", "prefixItems")


class LearnedSchemas:
    """The response schemas that were learned, one small file a tool. Safe to share between threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._known: dict[str, tuple[JsonObject, Evidence] | None] = {}
        self._keys: dict[int, tuple[ToolProtocol, str]] = {}

    def over(self, toolbox: Toolbox) -> Toolbox:
        """The toolbox with what is known of tools that declare no response schema, or a wrong one."""
        names = {name for path in self._folder.glob("*.json") if (name := self._named(path))}
        return toolbox.map(lambda tool: self._informed(tool) if tool.protocol.name in names else tool)

    def learn(self, toolbox: Toolbox, calls: Iterable[ToolCall], redact: Redactor) -> Toolbox:
        """Take what the completed calls of a run show, and give the toolbox that knows it."""
        changed: dict[str, Tool] = {}
        for call in calls:
            tool = changed.get(call.tool) or toolbox.get(call.tool)
            if tool is None or call.error is not None or call.reused or not self._is_open(tool, call.result):
                continue
            better = self._learned(tool, call.result, redact)
            if better is not None:
                changed[call.tool] = better
        return toolbox.map(lambda tool: changed.get(tool.alias, tool)) if changed else toolbox

    def _is_open(self, tool: Tool, response: Json) -> bool:
        """Whether the tool's response schema is learned: nobody declared one, or this response breaks it."""
        return self._known.get(self._key(tool.protocol)) is not None or is_news(tool, response)

    def _learned(self, tool: Tool, response: Json, redact: Redactor) -> Tool | None:
        """The tool with what one more response shows; None where it shows nothing new."""
        with self._lock:
            key = self._key(tool.protocol)
            schema, evidence = self._read(key) or (tool.protocol.output_schema or {}, Evidence(level="observed"))
            fits = bool(schema) and validator(schema).is_valid(response)
            if fits and evidence.observations >= _COUNTED:
                return None
            covered = redact.value(response)
            if len(json.dumps(covered)) > _LARGEST_CHARACTERS:
                return None
            if not fits:
                found = _as_programs_see_it(tool, structure(infer([covered], schema or None)))
                if found is None:
                    return None
                schema = found
            counts = dict(evidence.fields)
            for path in count_fields(schema, [covered]):
                counts[path] = counts.get(path, 0) + 1
            evidence = Evidence(level="observed", observations=evidence.observations + 1, fields=counts)
            self._known[key] = schema, evidence
            self._write(key, tool, schema, evidence)
            return self._with(tool, schema, evidence)

    def _informed(self, tool: Tool) -> Tool:
        found = self._read(self._key(tool.protocol))
        return tool if found is None else self._with(tool, *found)

    def _with(self, tool: Tool, schema: JsonObject, evidence: Evidence) -> Tool:
        key = self._key(tool.protocol)
        protocol = replace(tool.protocol, output_schema=schema, evidence=evidence)
        self._keys[id(protocol)] = protocol, key
        return replace(tool, protocol=protocol)

    def _key(self, protocol: ToolProtocol) -> str:
        """What the tool is without its responses: the same for the same tool in every run."""
        known = self._keys.get(id(protocol))
        if known is not None and known[0] is protocol:
            return known[1]
        bare = dump(replace(protocol, evidence=Evidence(), examples=()))
        key = hashlib.sha256(json.dumps(bare, sort_keys=True).encode()).hexdigest()[:32]
        self._keys[id(protocol)] = protocol, key
        return key

    def _read(self, key: str) -> tuple[JsonObject, Evidence] | None:
        if key not in self._known:
            try:
                found = json.loads((self._folder / f"{key}.json").read_text(encoding="utf-8"))
                self._known[key] = found["outputSchema"], Evidence(level="observed", **found["evidence"])
            except (OSError, ValueError, KeyError, TypeError):  # there is none, or it is damaged: it is learned anew
                self._known[key] = None
        return self._known[key]

    @staticmethod
    def _named(path: Path) -> str:
        """The name of the tool that a file is about; empty where it is damaged."""
        try:
            return str(json.loads(path.read_text(encoding="utf-8"))["tool"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def _write(self, key: str, tool: Tool, schema: JsonObject, evidence: Evidence) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        document = {
            "tool": tool.protocol.name,
            "source": tool.source,
            "outputSchema": schema,
            "evidence": {"observations": evidence.observations, "fields": dict(evidence.fields)},
        }
        with tempfile.NamedTemporaryFile("w", dir=self._folder, delete=False, encoding="utf-8") as file:
            json.dump(document, file, indent=1)
        os.replace(file.name, self._folder / f"{key}.json")  # noqa: PTH105 - of a name, not of a Path


def amended(before: Toolbox, after: Toolbox) -> list[Tool]:
    """The tools of `before` whose declared response schema `after` replaces by what calls brought."""
    declared = (tool for tool in before.values() if tool.protocol.evidence.level == "declared" and described(tool))
    return [tool for tool in declared if after[tool.alias].protocol.output_schema != tool.protocol.output_schema]


def is_news(tool: Tool, response: Json) -> bool:
    """Whether a response shows what the tool's protocol does not tell: it is undescribed, or this departs from it."""
    schema = tool.protocol.output_schema
    return schema is None or not described(tool) or not validator(schema).is_valid(response)


def observed(toolbox: Toolbox, calls: Iterable[ToolCall], *, exactly: bool = False) -> Toolbox:
    """The toolbox with what completed calls show of tools that are undescribed, or described wrongly.

    For one run, in which it changes nothing of what programs get. With `exactly` the check takes what came for all that
    can come, and an object has no other keys.
    """
    came: dict[str, list[Json]] = {}
    for call in calls:
        if call.error is None and call.tool in toolbox:
            came.setdefault(call.tool, []).append(call.result)
    changed: dict[str, Tool] = {}
    for alias, responses in came.items():
        tool = toolbox[alias]
        if not any(is_news(tool, response) for response in responses):
            continue
        if len(json.dumps(responses, default=repr)) > _LARGEST_CHARACTERS:
            continue
        known = None if exactly else tool.protocol.output_schema
        schema = _as_programs_see_it(tool, structure(infer(responses, known)), exactly=exactly)
        if schema is not None:
            evidence = Evidence(level="declared" if exactly else "observed")
            changed[alias] = replace(tool, protocol=replace(tool.protocol, output_schema=schema, evidence=evidence))
    return toolbox.map(lambda tool: changed.get(tool.alias, tool)) if changed else toolbox


def structure(schema: Any) -> Any:
    """A schema's types, keys and nesting alone: no value that a response held is left in it."""
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword not in _STRUCTURE:
            continue
        if keyword in _IN_PLACE:
            kept[keyword] = {name: structure(inner) for name, inner in value.items() if not any(within(name))}
        elif keyword in _LISTS:
            kept[keyword] = [structure(inner) for inner in value]
        else:
            kept[keyword] = structure(value)
    if "required" in kept:
        kept["required"] = [name for name in kept["required"] if name in kept.get("properties", {})]
    return kept


def opened(schema: JsonObject) -> dict[str, Any]:
    """An object that may have more keys: what programs get of a response must not change as more is learned of it."""
    return {**schema, "additionalProperties": True} if schema.get("type") == "object" else dict(schema)


def _as_programs_see_it(tool: Tool, schema: JsonObject, *, exactly: bool = False) -> JsonObject | None:
    """The schema in the form in which programs get the same of a response as before; None where there is none.

    An object that may have more keys is never unwrapped, nor is one whose key may be missing.
    """
    forms = [schema] if exactly else []
    if schema.get("type") == "object":
        forms += [{**schema, "required": []}] if exactly else [opened(schema)]
    return next((form for form in (*forms, schema) if wrapper_key(form) == tool.wrapper), None)
