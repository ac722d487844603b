"""Response schemas that are learned from responses, for tools that declare none or a wrong one.

A schema is inferred if none is declared, or if a response violates the declared one. It applies for
the rest of the run, and is stored in the state folder under a hash of the tool's protocol. In later
runs it appears in the tool's stub, and programs are checked against it. Its evidence level is
`observed`, not `declared`, so a program is never rejected for a key that no response had so far.
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
from protocols.file_schemas import MAY_BE_FILE, is_file_response
from protocols.private_files import keep_private, write_whole
from protocols.protocol import Evidence, EvidenceLevel, dump
from protocols.response_headers import RESPONSE_HEADERS, named_headers, worth_naming
from protocols.schema import Json, JsonObject, items_of_type, wrapper_key
from protocols.secrets import find_embedded_secrets
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from protocols.validate import validator
from sandbox.lost_writes import CONFIRMED
from sandbox.trace import ToolCall

_RULES = 3
"""Version of the learning rules. Schemas that were learned by another version are ignored."""
_LARGEST_CHARACTERS = 300_000
"""Maximum number of characters of a tool's responses, as JSON, that a schema is inferred from.

More would delay the run.
"""
_STRUCTURE = frozenset(
    {"title", "description", "type", "required", "items", "additionalProperties", "$ref"}
)
_HEADERS_SUFFIX = ".headers"
"""Suffix of a file with the names of headers that a tool's responses had."""
_IN_PLACE = ("properties", "$defs")
_LISTS = ("anyOf", "oneOf", "prefixItems")
"""`_STRUCTURE`, `_IN_PLACE` and `_LISTS` are the keywords of inferred schemas that are stored.

All other keywords could contain values of a response, and so a secret.
"""


class LearnedSchemas:
    """The learned response schemas in a folder, with one file for each tool.

    Threads and processes can use the same folder. `shared` is True if schemas are shown to other
    users than those whose calls produced the responses. Then only keys that are certainly field
    names are stored; see `probing.keys`.
    """

    def __init__(self, folder: Path, *, shared: bool = False) -> None:
        self._folder = folder
        self._shared = shared
        self._lock = threading.Lock()

    def open_separate(self, name: str, *, shared: bool = False) -> LearnedSchemas:
        """Return a separate collection of learned schemas, stored in a subfolder called `name`."""
        return LearnedSchemas(self._folder / "apart" / name, shared=shared)

    def apply_to(self, toolbox: Toolbox) -> Toolbox:
        """Return the toolbox with the learned schemas in place of the declared ones."""
        files = (*self._folder.glob("*.json"), *self._folder.glob(f"*{_HEADERS_SUFFIX}"))
        names = {path.name.rpartition("-")[0] for path in files}
        return toolbox.map(
            lambda tool: self._apply_to_tool(tool) if _safe_name(tool) in names else tool
        )

    def learn(self, toolbox: Toolbox, calls: Iterable[ToolCall], redact: Redactor) -> Toolbox:
        """Infer and store schemas from the calls of a run, and return the toolbox with them.

        `redact` replaces the secrets in responses. Failed and repeated calls are ignored, and
        those whose response was lost.
        """
        completed = [
            call
            for call in calls
            if not call.reused and call.error is None and call.tool in toolbox
            if call.note != CONFIRMED
        ]
        toolbox = self._learn_headers(toolbox, completed)
        completed = [call for call in completed if not call.files]
        news = [call for call in completed if is_news(toolbox[call.tool], call.result)]
        if not news:
            return toolbox
        with self._lock:
            known = self.apply_to(toolbox)
            clean = (replace(call, result=redact.value(call.result)) for call in news)
            better = add_observed_schemas(known, clean, shared=self._shared)
            for alias, tool in better.items():
                if tool is not known[alias]:
                    self._write(tool)
        return better

    def _learn_headers(self, toolbox: Toolbox, calls: Iterable[ToolCall]) -> Toolbox:
        """Store which headers responses had, and return the toolbox with their names."""
        found: dict[str, tuple[str, ...]] = {}
        for call in calls:
            known = found.get(call.tool) or named_headers(toolbox[call.tool].protocol)
            if new := [name for name in worth_naming(call.headers) if name not in known]:
                found[call.tool] = (*known, *new)
        for alias, names in found.items():
            path = self._file(toolbox[alias]).with_suffix(_HEADERS_SUFFIX)
            write_whole(path, json.dumps(names))
        return toolbox.map(
            lambda tool: _name_headers(tool, found[tool.alias]) if tool.alias in found else tool
        )

    def _write(self, tool: Tool) -> None:
        """Store the response schema of a tool in its file."""
        document = {
            "tool": tool.protocol.name,
            "source": tool.source,
            "outputSchema": tool.protocol.output_schema,
        }
        write_whole(self._file(tool), json.dumps(document, indent=1))

    def _apply_to_tool(self, tool: Tool) -> Tool:
        """Return the tool with its learned schema.

        Return it unchanged if there is no stored schema, or if the file is damaged.

        Raises:
            NotPrivate: The file is a link, or belongs to another user.
        """
        path = self._file(tool)
        tool = self._apply_headers(tool, path.with_suffix(_HEADERS_SUFFIX))
        keep_private(path)
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            return _replace_schema(tool, document["outputSchema"])
        except (OSError, ValueError, KeyError, TypeError):
            return tool

    def _apply_headers(self, tool: Tool, path: Path) -> Tool:
        """Return the tool with the names of headers that are stored in a file, if there is one."""
        keep_private(path)
        try:
            names = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return tool
        return _name_headers(tool, items_of_type(names, str))

    def _file(self, tool: Tool) -> Path:
        """Return the path of the file with a tool's learned schema.

        Its name contains a hash of the tool's protocol without the response schema and examples.
        So it is the same in each run, and another one if the protocol has changed.
        """
        extra = {k: v for k, v in tool.protocol.extra.items() if k != RESPONSE_HEADERS}
        plain = replace(tool.protocol, output_schema=None, evidence=Evidence(), examples=())
        bare = dump(replace(plain, extra=extra))
        known = json.dumps([_RULES, bare], sort_keys=True)
        digest = hashlib.sha256(known.encode()).hexdigest()[:32]
        return self._folder / f"{_safe_name(tool)}-{digest}.json"


def _name_headers(tool: Tool, names: Iterable[str]) -> Tool:
    """Return the tool with the names of headers of its responses in its protocol."""
    known = dict.fromkeys((*named_headers(tool.protocol), *names))
    extra = {**tool.protocol.extra, RESPONSE_HEADERS: list(known)}
    return replace(tool, protocol=replace(tool.protocol, extra=extra))


def _safe_name(tool: Tool) -> str:
    """Return the name of a tool with only those characters that a file name may have."""
    return re.sub(r"\W", "_", tool.protocol.name, flags=re.ASCII)[:80]


def _replace_schema(tool: Tool, schema: JsonObject, level: EvidenceLevel = "observed") -> Tool:
    """Return the tool with `schema` as its response schema.

    `level` says what is known about the schema, for example that it was inferred (`observed`).
    """
    evidence = Evidence(level=level)
    protocol = replace(tool.protocol, output_schema=schema, evidence=evidence)
    return replace(tool, protocol=protocol)


def find_changed_tools(before: Toolbox, after: Toolbox) -> list[Tool]:
    """Return the tools whose declared response schema in `before` was replaced in `after`."""
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
    """Return the tool with a response schema that may be shown to other people.

    `declared` is the tool as its source describes it. A learned schema is reduced to keys that are
    certainly field names, since other keys could be data.
    """
    schema = tool.protocol.output_schema
    if schema is None or schema == declared.protocol.output_schema:
        return tool
    words = document_words(declared.protocol)
    return _replace_schema(tool, shareable(schema, words), tool.protocol.evidence.level)


def is_news(tool: Tool, response: Json) -> bool:
    """Return True if a new schema can be learned from a response of a tool.

    This is so if the tool has no response schema, or if the response violates the schema.
    """
    schema = tool.protocol.output_schema
    return schema is None or not is_described(tool) or not validator(schema).is_valid(response)


def add_observed_schemas(
    toolbox: Toolbox, calls: Iterable[ToolCall], *, exactly: bool = False, shared: bool = False
) -> Toolbox:
    """Return the toolbox with response schemas that are inferred from the results of `calls`.

    A tool gets a new schema only if it has none, or if a result violates the one it has. The new
    schema does not change what programs get from a response, so a run in progress is not affected.
    If `exactly` is True, the new schemas count as declared, so the check rejects programs that read
    keys which no response has. If `shared` is True, the schemas may be shown to other users; see
    `probing.infer.infer`.
    """
    responses_of = dict[str, list[Json]]()
    sizes = Counter[str]()
    changed: dict[str, Tool] = {}
    for call in calls:
        if call.files:
            if () in call.files and call.tool in toolbox:
                changed[call.tool] = _mark_as_file(toolbox[call.tool])
        elif call.error is None and call.tool in toolbox:
            sizes[call.tool] += len(json.dumps(call.result))
            if sizes[call.tool] <= _LARGEST_CHARACTERS:
                responses_of.setdefault(call.tool, []).append(call.result)
    for alias, responses in responses_of.items():
        tool = toolbox[alias]
        known = toolbox[alias].protocol.output_schema
        if any(is_news(tool, response) for response in responses):
            inferred = structure(_infer_schema(tool, responses, exactly=exactly, shared=shared))
            schema = _keep_unwrapping(tool, inferred, exactly=exactly)
            if schema not in (None, known):
                level: EvidenceLevel = "declared" if exactly else "observed"
                changed[alias] = _replace_schema(tool, schema, level)
    return toolbox.map(lambda tool: changed.get(tool.alias, tool)) if changed else toolbox


def _mark_as_file(tool: Tool) -> Tool:
    """Return a tool whose schema says that a response may come as a file, unless it says so."""
    schema = tool.protocol.output_schema or {}
    if is_file_response(schema):
        return tool
    level = tool.protocol.evidence.level
    return _replace_schema(tool, {**schema, MAY_BE_FILE: True}, level)


def _infer_schema(tool: Tool, responses: list[Json], *, exactly: bool, shared: bool) -> JsonObject:
    """Return a schema that is inferred from responses of a tool, and allows all of them."""
    if exactly:
        return infer(responses, every_key=True)
    is_guess = tool.protocol.evidence.level == "guessed"
    return infer(
        responses,
        None if is_guess else tool.protocol.output_schema or None,
        words=document_words(tool.protocol),
        shared=shared,
    )


def structure(schema: Any) -> Any:
    """Return a JSON Schema reduced to types, keys and nesting, without values of responses."""
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
        # A field that was not observed yet may be of another type.
        kept["additionalProperties"] = True
    if "required" in kept:
        kept["required"] = [name for name in kept["required"] if name in kept.get("properties", {})]
    return kept


def _keep_unwrapping(tool: Tool, schema: JsonObject, *, exactly: bool = False) -> JsonObject | None:
    """Return a variant of a newly learned schema that does not change which values programs get.

    If a schema says that an object has exactly one key, programs get the value of that key instead
    of the object (see `Tool.wrapper`). `required` and `additionalProperties` decide this, so the
    variants differ in them. Return None if every variant would change the values.
    """
    forms = [schema] if exactly else []
    if schema.get("type") == "object":
        rest = schema.get("additionalProperties", True)
        forms += [
            {**schema, "required": []} if exactly else {**schema, "additionalProperties": rest}
        ]
    return next((form for form in (*forms, schema) if wrapper_key(form) == tool.wrapper), None)
