"""Response schemas learned from the responses of tools: for tools that declare none, or a wrong
one.

A schema is inferred if none is declared, or if a response violates the declared one. It applies for
the rest of the run and is stored in the state folder under a hash of the tool's protocol. In later
runs it appears in the stubs and is used by the check. Its evidence is `observed`, not `declared`: a
program is never rejected for a key that was not seen yet.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from atc.pipeline.synthesize import is_described
from atc.safety.redaction import Redactor
from probing.infer import infer
from probing.keys import document_words, shareable
from protocols.private_files import keep_private, write_whole
from protocols.protocol import Evidence, EvidenceLevel, dump
from protocols.schema import Json, JsonObject, wrapper_key
from protocols.secrets import find_embedded_secrets
from protocols.toolbox import Tool, Toolbox
from protocols.validate import validator
from sandbox.trace import ToolCall

_RULES = 3
"""Version of the learning rules. Schemas learned by another version, which kept other keys, are
ignored.
"""
_LARGEST_CHARACTERS = 300_000
"""Maximum characters of a tool's responses as JSON. Nothing is learned beyond, since this would
delay the run.
"""
_STRUCTURE = frozenset(
    {"title", "description", "type", "required", "items", "additionalProperties", "$ref"}
)
_IN_PLACE = ("properties", "$defs")
_LISTS = ("anyOf", "oneOf", "prefixItems")
"""Keywords that are kept of an inferred schema. All others could hold values, and so a secret."""


class LearnedSchemas:
    """The learned response schemas, one small file per tool. Safe to share between threads and
    processes.

    With `shared`, schemas are shown to others than the users whose calls produced the responses.
    Then only keys that certainly are field names are kept, see `probing.keys`.
    """

    def __init__(self, folder: Path, *, shared: bool = False) -> None:
        self._folder = folder
        self._shared = shared
        self._lock = threading.Lock()

    def open_separate(self, name: str, *, shared: bool = False) -> LearnedSchemas:
        """Return a separate set of learned schemas that shares nothing with this one, in a
        subfolder named `name`.
        """
        return LearnedSchemas(self._folder / "apart" / name, shared=shared)

    def apply_to(self, toolbox: Toolbox) -> Toolbox:
        """Return the toolbox with the learned schemas of tools that declare none, or a wrong
        one.
        """
        names = {path.name.rpartition("-")[0] for path in self._folder.glob("*.json")}
        return toolbox.map(
            lambda tool: self._apply_to_tool(tool) if _safe_name(tool) in names else tool
        )

    def learn(self, toolbox: Toolbox, calls: Iterable[ToolCall], redact: Redactor) -> Toolbox:
        """Learn from the completed calls of a run, and return the toolbox with the new schemas."""
        shown = (
            call
            for call in calls
            if not call.reused and call.error is None and call.tool in toolbox
        )
        news = [call for call in shown if is_news(toolbox[call.tool], call.result)]
        if not news:
            return toolbox
        with self._lock:
            known = self.apply_to(toolbox)
            clean = (replace(call, result=redact.value(call.result)) for call in news)
            better = add_observed_schemas(known, clean, shared=self._shared)
            for alias, tool in better.items():
                if tool is not known[alias]:
                    name = tool.protocol.name
                    schema = tool.protocol.output_schema
                    document = json.dumps(
                        {"tool": name, "source": tool.source, "outputSchema": schema}, indent=1
                    )
                    write_whole(self._file(tool), document)
        return better

    def _apply_to_tool(self, tool: Tool) -> Tool:
        """Return the tool with its learned schema, or unchanged if there is none or the file is
        damaged.

        Raises:
            NotPrivate: another user wrote the file.
        """
        keep_private(self._file(tool))
        try:
            return _replace_schema(
                tool, json.loads(self._file(tool).read_text(encoding="utf-8"))["outputSchema"]
            )
        except (OSError, ValueError, KeyError, TypeError):
            return tool

    def _file(self, tool: Tool) -> Path:
        """Return the file of a tool. Its name is a hash of the protocol without responses, so it is
        the same in every run.
        """
        bare = dump(replace(tool.protocol, output_schema=None, evidence=Evidence(), examples=()))
        known = json.dumps([_RULES, bare], sort_keys=True)
        digest = hashlib.sha256(known.encode()).hexdigest()[:32]
        return self._folder / f"{_safe_name(tool)}-{digest}.json"


def _safe_name(tool: Tool) -> str:
    return re.sub(r"\W", "_", tool.protocol.name, flags=re.ASCII)[:80]


def _replace_schema(tool: Tool, schema: JsonObject, level: EvidenceLevel = "observed") -> Tool:
    return replace(
        tool, protocol=replace(tool.protocol, output_schema=schema, evidence=Evidence(level=level))
    )


def find_changed_tools(before: Toolbox, after: Toolbox) -> list[Tool]:
    """Return the tools of `before` whose declared response schema is replaced by an observed one in
    `after`.
    """
    declared = (
        tool
        for tool in before.values()
        if tool.protocol.evidence.level == "declared" and is_described(tool)
    )
    return [
        tool
        for tool in declared
        if after[tool.alias].protocol.output_schema != tool.protocol.output_schema
    ]


def export_tool(tool: Tool, declared: Tool) -> Tool:
    """Return the tool in a form that may be shown to others: only with keys that certainly are
    field names.
    """
    if (
        tool.protocol.output_schema is None
        or tool.protocol.output_schema == declared.protocol.output_schema
    ):
        return tool
    words = document_words(declared.protocol)
    return _replace_schema(
        tool, shareable(tool.protocol.output_schema, words), tool.protocol.evidence.level
    )


def is_news(tool: Tool, response: Json) -> bool:
    """True if a response adds information: the tool has no response schema, or the response
    violates it.
    """
    schema = tool.protocol.output_schema
    return schema is None or not is_described(tool) or not validator(schema).is_valid(response)


def add_observed_schemas(
    toolbox: Toolbox, calls: Iterable[ToolCall], *, exactly: bool = False, shared: bool = False
) -> Toolbox:
    """Return the toolbox with schemas inferred from completed calls, for tools without one or with
    a wrong one.

    Responses are unwrapped for programs as before, so a run in progress is not affected. With
    `exactly`, the check treats the responses as complete: objects have no other keys. `shared` is
    passed to `infer`.
    """
    came = dict[str, list[Json]]()
    sizes = Counter[str]()
    for call in calls:
        if call.error is None and call.tool in toolbox:
            sizes[call.tool] += len(json.dumps(call.result))
            if sizes[call.tool] <= _LARGEST_CHARACTERS:
                came.setdefault(call.tool, []).append(call.result)
    changed: dict[str, Tool] = {}
    for alias, responses in came.items():
        tool = toolbox[alias]
        known = toolbox[alias].protocol.output_schema
        if any(is_news(tool, response) for response in responses):
            found = structure(_infer_schema(tool, responses, exactly=exactly, shared=shared))
            schema = _as_programs_see_it(tool, found, exactly=exactly)
            if schema not in (None, known):
                changed[alias] = _replace_schema(
                    tool, schema, "declared" if exactly else "observed"
                )
    return toolbox.map(lambda tool: changed.get(tool.alias, tool)) if changed else toolbox


def _infer_schema(tool: Tool, responses: list[Json], *, exactly: bool, shared: bool) -> JsonObject:
    if exactly:
        return infer(responses, every_key=True)
    return infer(
        responses,
        tool.protocol.output_schema or None,
        words=document_words(tool.protocol),
        shared=shared,
    )


def structure(schema: Any) -> Any:
    """Return only the types, keys and nesting of a schema, so that it contains no value of a
    response.
    """
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _IN_PLACE:
            kept[keyword] = {
                name: structure(inner)
                for name, inner in value.items()
                if not any(find_embedded_secrets(name))
            }
        elif keyword in _LISTS:
            kept[keyword] = [structure(inner) for inner in value]
        elif keyword in _STRUCTURE:
            kept[keyword] = structure(value)
    if kept.get("properties") and "additionalProperties" in kept:
        # A field that was not seen yet may be of another type.
        kept["additionalProperties"] = True
    if "required" in kept:
        kept["required"] = [name for name in kept["required"] if name in kept.get("properties", {})]
    return kept


def _as_programs_see_it(
    tool: Tool, schema: JsonObject, *, exactly: bool = False
) -> JsonObject | None:
    """Return a variant of the schema with which responses are unwrapped for programs as before, or
    None.

    An object that may have more keys, or whose key may be missing, is never unwrapped.
    """
    forms = [schema] if exactly else []
    if schema.get("type") == "object":
        rest = schema.get("additionalProperties", True)
        forms += [
            {**schema, "required": []} if exactly else {**schema, "additionalProperties": rest}
        ]
    return next((form for form in (*forms, schema) if wrapper_key(form) == tool.wrapper), None)
