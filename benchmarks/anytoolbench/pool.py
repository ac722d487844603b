"""The APIs that queries are made of: what is known of each, and how it is called."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from atc.retrieve.document import ToolDocument
from atc.retrieve.hierarchy import Hierarchy
from benchmarks.retrieval.data import EXPECTED, load_data
from benchmarks.runner import read_json
from protocols.errors import AtcError, ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.contract import BadArguments, contract

_TYPES = {kind: {"type": kind} for kind in ("string", "number", "boolean", "array", "object")}
_ENTRIES = 2
"""Of a list in a response that is made up."""


class TooFewApis(AtcError):
    """The APIs are of fewer than two categories, and a query takes several."""


class CallFailed(Exception):
    """A call that gave no response; its text says why. `outage`: the service failed, and not the call."""

    def __init__(self, text: str, *, outage: bool = False) -> None:
        super().__init__(text)
        self.outage = outage


@dataclass(frozen=True)
class Api:
    """One API: its document, by whose name it is known here, and the tool that is called."""

    document: ToolDocument
    tool: Tool

    def call(self, arguments: JsonObject) -> Json:
        """The response, arguments by their original names.

        Raises:
            CallFailed: the arguments break the API's protocol, or the call failed.
        """
        aliases = {name: alias for alias, name in self.tool.arguments.items()}
        try:
            given = {aliases.get(name, name): value for name, value in arguments.items()}
            return self.tool.call(self.tool.original(contract(self.tool.protocol).accept(given)))
        except BadArguments as problem:
            raise CallFailed(str(problem)) from None
        except ToolError as error:
            outage = error.status is None or error.status == 429 or error.status >= 500
            raise CallFailed(str(error), outage=outage) from error


class ApiPool(Mapping[str, Api]):
    """APIs by the names of their documents. Raises TooFewApis."""

    def __init__(self, apis: Iterable[Api]) -> None:
        self._apis = {api.document.name: api for api in apis}
        self.hierarchy = Hierarchy.of({name: api.document for name, api in self._apis.items()})
        places = self.hierarchy.places()
        self._categories = {name: place.category for place in places for name in self.hierarchy.apis([place])}
        if len(self.hierarchy.tools) < 2:
            raise TooFewApis(
                f"a query takes APIs of 2 categories at least, and the {len(self)} that can be called without writing "
                f"are of {len(self.hierarchy.tools)}; give more sources of tools."
            )

    def __getitem__(self, name: str) -> Api:
        return self._apis[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._apis)

    def __len__(self) -> int:
        return len(self._apis)

    def categories(self, names: Iterable[str]) -> list[str]:
        """The categories of APIs, each once."""
        return list(dict.fromkeys(self._categories[name] for name in names))


def pool_of_toolbox(toolbox: Toolbox) -> ApiPool:
    """The tools of a toolbox that only read: they are called many times, and again when a solution is verified.

    A tool with neither category nor collection stands in a category that is called like its source.
    """
    apis = []
    for tool in toolbox.values():
        document = ToolDocument.of(tool)
        if not tool.protocol.writes:
            placed = document.category or document.collection
            apis.append(Api(document if placed else replace(document, category=tool.source), tool))
    return ApiPool(apis)


def pool_of_data(path: Path, *, seed: int) -> ApiPool:
    """The APIs of StableToolBench that have a template of their responses; equal calls get equal responses."""
    documents, records = load_data(path).documents, read_json(path / "apis.json", EXPECTED)
    return ApiPool(
        _templated(document, record, seed)
        for document, record in zip(documents, records, strict=True)
        if isinstance(record.get("template_response"), dict | list) and record["template_response"]
    )


def _templated(document: ToolDocument, record: Mapping[str, Any], seed: int) -> Api:
    listed = [*record.get("required_parameters", ()), *record.get("optional_parameters", ())]
    kinds = {one["name"]: _TYPES.get(str(one.get("type")).casefold(), {}) for one in listed}
    protocol = ToolProtocol(
        name=document.name,
        description=document.description,
        input_schema={
            "type": "object",
            "properties": {name: dict(kinds.get(name, {})) for name in document.parameters},
            "required": list(document.required),
        },
        annotations=Annotations(read_only=True),
    )

    def call(arguments: JsonObject) -> Json:
        key = json.dumps([seed, document.name, arguments], sort_keys=True)
        return response(record["template_response"], arguments, key)

    return Api(document, Tool(protocol, call))


def response(template: Json, arguments: JsonObject, key: str, name: str = "") -> Json:
    """A response in the shape of `template` (`{"date": "str", "n": "int"}`), made up by `key`.

    A field that is called like an argument repeats it.
    """
    number = random.Random(key).randrange(1, 1000)
    match template:
        case Mapping():
            fields = {field: inner for field, inner in template.items() if field != "_list_length"}
            return {field: response(inner, arguments, f"{key} {field}", str(field)) for field, inner in fields.items()}
        case [entry, *_]:
            return [response(entry, {}, f"{key} {place}", name) for place in range(_ENTRIES)]
        case "str" | "int" | "float" if name in arguments:
            return arguments[name]
        case "str":
            return f"{name.replace('_', ' ')} {number}".strip()
        case "int":
            return number
        case "float":
            return number / 10
        case "bool":
            return number % 2 == 0
        case "NoneType" | "empty list" | "empty dict" | "list" | "dict":
            return {"NoneType": None, "dict": {}, "empty dict": {}}.get(template, [])
    return template
