"""APIs that exist as documents alone: their responses are made of templates, as StableToolBench's are to be simulated.

A template has the shape of a real response, with the type's name where a value stood: `{"date": "str", "n": "int"}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from atc.retrieve.document import ToolDocument
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool
from toolflow_bench.anytoolbench.pool import Api, ApiPool
from toolflow_bench.restbench.document import Shape
from toolflow_bench.restbench.values import scalar
from toolflow_bench.retrieval.data import read_json
from toolflow_bench.retrieval.data_stabletoolbench import APIS, is_stabletoolbench
from toolflow_bench.retrieval.load import load_data

_SHAPES = {
    name: Shape(type=kind)
    for name, kind in {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}.items()
}
_LIST = re.compile(r"list of (\w+) with length (\d+)")
_LENGTH = "_list_length"
_MOST_ENTRIES = 3
"""Entries of a list: enough to choose among, short enough to read."""
_TYPES = {kind: {"type": kind} for kind in ("string", "number", "boolean", "array", "object")}


def pool_of_data(path: Path, *, seed: int) -> ApiPool:
    """The APIs of a data set whose responses are known in shape, see `load_data`; equal calls get equal responses.

    StableToolBench has templates; of other data the names of returned fields make one.

    Raises:
        InvalidRetrievalData: it cannot be read.
        TooFewApis: as `ApiPool`.
    """
    documents = load_data(path).documents
    records: list[Mapping[str, Any]] = [{} for _ in documents]
    if is_stabletoolbench(path):  # it makes one document of each record, in their order
        records = read_json((path if path.is_dir() else path.parent) / APIS, expected="StableToolBench's apis.json")
    apis = [_api(*pair, seed=seed) for pair in zip(documents, records, strict=True)]
    known = [api for api in apis if api is not None]
    left = len(apis) - len(known)
    note = f"Left out, since nothing is known of their responses: {left:,} of {len(apis):,} APIs."
    return ApiPool(known, notes=[note] if left else [])


def response(template: Json, arguments: JsonObject, *key: object, name: str = "") -> Json:
    """A response in the shape of `template`, made up by `key`. A field that is called like an argument repeats it."""
    match template:
        case Mapping():
            return {
                field: response(inner, arguments, *key, field, name=str(field))
                for field, inner in template.items()
                if field != _LENGTH
            }
        case [entry, *_]:
            most = entry.get(_LENGTH, 1) if isinstance(entry, Mapping) else 1
            count = min(most if isinstance(most, int) else 1, _MOST_ENTRIES)
            if isinstance(entry, str) and (said := _LIST.fullmatch(entry)):
                return response(said[0], arguments, *key, name=name)
            return [response(entry, {}, *key, number, name=name) for number in range(count)]
        case str() if template in _SHAPES:
            given = {_letters(argument): value for argument, value in arguments.items()}
            repeated = given.get(_letters(name))
            if isinstance(repeated, str | int | float) and template != "bool":
                return repeated
            return scalar(_SHAPES[template], name, *key)
        case str() if said := _LIST.fullmatch(template):
            count = min(int(said[2]), _MOST_ENTRIES)
            return [response(said[1], {}, *key, number, name=name) for number in range(count)]
        case "NoneType":
            return None
        case "empty list" | "list" | []:
            return []
        case "dict" | "empty dict":
            return {}
        case _:
            return template


def closed(text: str) -> Json:
    """The JSON that a text begins, which may have been cut off anywhere: what is whole of it; None where nothing is."""
    for end, brackets in reversed(list(_ends(text))):
        try:
            return json.loads(text[:end] + brackets)
        except (ValueError, RecursionError):
            continue
    return None


def _ends(text: str) -> Iterator[tuple[int, str]]:
    """Places at which a text may be cut, each with the brackets that close what is open there."""
    brackets, quoted = "", False
    for place, letter in enumerate(text):
        if letter == '"' and text[place - 1 : place] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif letter in "{[":
            brackets = {"{": "}", "[": "]"}[letter] + brackets
        elif letter in "}]":
            brackets = brackets[1:]
            yield place + 1, brackets
        elif letter == ",":
            yield place, brackets


def _api(document: ToolDocument, record: Mapping[str, Any], *, seed: int) -> Api | None:
    """The API of a document; None where nothing is known of its responses."""
    template = record.get("template_response", dict.fromkeys(document.returns, "str"))
    template = closed(template) if isinstance(template, str) else template
    if not template:
        return None
    listed = [*(record.get("required_parameters") or ()), *(record.get("optional_parameters") or ())]
    said = {one["name"]: one for one in listed if isinstance(one, Mapping) and isinstance(one.get("name"), str)}
    schemas = {
        name: dict(_TYPES.get(str(said.get(name, {}).get("type")).casefold(), {})) for name in document.parameters
    }
    parameters = {name: _told(about, said.get(name, {})) for name, about in document.parameters.items()}
    protocol = ToolProtocol(
        name=document.name,
        description=document.description,
        input_schema={"type": "object", "properties": schemas, "required": list(document.required)},
        annotations=Annotations(read_only=True),
    )
    call = partial(_answer, template, seed, document.name)
    returns = tuple(name for name in document.returns if name != _LENGTH) or _top(template)
    return Api(replace(document, parameters=parameters, returns=returns), Tool(protocol, call))


def _top(template: Json) -> tuple[str, ...]:
    """The outermost fields of a template."""
    first = template[0] if isinstance(template, list) else template
    return tuple(map(str, first)) if isinstance(first, Mapping) else ()


def _answer(template: Json, seed: int, api: str, arguments: JsonObject) -> Json:
    key = json.dumps(arguments, sort_keys=True, ensure_ascii=False)
    return response(template, arguments, seed, api, key)


def _told(about: str, record: Mapping[str, Any]) -> str:
    """What is said of a parameter, with its example."""
    example = record.get("default")
    shown = f"such as {example!r}" if isinstance(example, str | int | float) and example != "" else ""
    return "; ".join(filter(None, (about, shown)))


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()
