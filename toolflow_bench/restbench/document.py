"""An OpenAPI document as the mock reads it: its operations, and schemas looked at one level at a time."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from protocols.errors import AtcError
from protocols.jsontypes import Json, JsonObject
from toolflow_bench.restbench.normalize import count_texts, normalized

_METHODS = ("get", "post", "put", "patch", "delete")


class InvalidData(AtcError):
    """The benchmark's data cannot be used; says which file, what is wrong with it and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of a document. `name` is as gold paths write it: `GET /search/person`."""

    name: str
    id: str
    method: str
    path: str
    parameters: tuple[JsonObject, ...]
    """With references resolved; the schema of each is normalized."""
    body: JsonObject
    """Schema of a JSON body; empty where it takes none."""
    status: int
    """HTTP status of success."""
    response: JsonObject
    """Schema of success; empty where it answers nothing."""
    refusal: JsonObject
    """Schema of an error's body; empty where none is declared."""

    @property
    def segments(self) -> tuple[str, ...]:
        """The path's parts; those of parameters in braces."""
        return tuple(part for part in self.path.split("/") if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One level of a schema: `allOf` merged, references followed, the names that were followed kept."""

    names: tuple[str, ...] = ()
    type: str = ""
    properties: Mapping[str, JsonObject] = field(default_factory=dict)
    items: JsonObject | None = None
    options: tuple[JsonObject, ...] = ()
    """Of `oneOf` and `anyOf`."""
    schema: Mapping[str, Any] = field(default_factory=dict)
    """Every other keyword."""


class Document:
    """A normalized document: quoted booleans and numbers (`required: "true"`) are read as such.

    Raises:
        InvalidData: it has no operations.
    """

    def __init__(self, document: JsonObject, *, name: str) -> None:
        self.name = name
        self.plain: dict[str, Any] = normalized(document)
        self._shapes: dict[int, tuple[Any, Shape]] = {}
        self._told: dict[str, Counter[str]] = {}
        self._common: dict[tuple[str, str], list[str]] = {}
        count_texts(self.plain.get("paths", {}), self._told)
        self.operations = {operation.name: operation for operation in self._read()}
        if not self.operations:
            raise InvalidData(f"{name} has no operation in it; it must be an OpenAPI document.")

    def served(self, url: str) -> dict[str, Any]:
        """The document of the same service at `url`, where no key is needed."""
        paths = {
            path: {
                key: {k: v for k, v in value.items() if k != "security"} if key in _METHODS else value
                for key, value in item.items()
            }
            for path, item in self.plain["paths"].items()
        }
        rest = {key: value for key, value in self.plain.items() if key != "security"}
        return rest | {"servers": [{"url": url}], "paths": paths}

    def shape(self, schema: Any) -> Shape:
        """The first level of `schema`."""
        if not isinstance(schema, dict):
            return Shape()
        known = self._shapes.get(id(schema))
        if known is None:
            known = self._shapes[id(schema)] = (schema, self._shape(schema, ()))
        return known[1]

    def target(self, value: Any) -> Any:
        """What a local reference leads to; anything else as it is."""
        seen = 0
        while isinstance(value, dict) and isinstance(value.get("$ref"), str) and seen < 20:
            place: Any = self.plain
            for key in value["$ref"].removeprefix("#/").split("/"):
                place = place.get(key.replace("~1", "/").replace("~0", "~"), {}) if isinstance(place, dict) else {}
            value, seen = place, seen + 1
        return value

    def common(self, name: str, *, pattern: str = "") -> list[str]:
        """The texts that examples give a property again and again (jobs, languages), the commonest four; else none.

        With a `pattern`, every example that matches it.
        """
        if (name, pattern) not in self._common:
            self._common[name, pattern] = self._commonest(self._told.get(name, Counter()), pattern)
        return self._common[name, pattern]

    def _commonest(self, told: Counter[str], pattern: str) -> list[str]:
        if pattern:
            return sorted(text for text in told if re.search(pattern, text))
        if len(told) * 2 > told.total():
            return []
        return [text for text, _ in sorted(told.items(), key=lambda pair: (-pair[1], pair[0]))[:4]]

    def _shape(self, schema: JsonObject, above: tuple[str, ...]) -> Shape:
        if isinstance(ref := schema.get("$ref"), str):
            if ref in above:
                return Shape()
            inner = self._shape(self.target({"$ref": ref}), (*above, ref))
            return _renamed(inner, (ref.rsplit("/", 1)[-1], *inner.names))
        parts = [self._shape(part, above) for part in schema.get("allOf", ()) if isinstance(part, dict)]
        own = {key: value for key, value in schema.items() if key not in ("allOf", "properties", "items")}
        options = (*schema.get("oneOf", ()), *schema.get("anyOf", ()))
        merged: dict[str, JsonObject] = {}
        for part in parts:
            merged |= part.properties
        merged |= schema.get("properties", {})
        kinds = schema.get("type")
        if isinstance(kinds, list):
            kinds = next((kind for kind in kinds if kind != "null"), "")
        if not kinds:
            guesses = [part.type for part in parts if part.type]
            kinds = guesses[0] if guesses else "object" if merged else "array" if "items" in schema else ""
        return Shape(
            names=tuple(name for part in parts for name in part.names),
            type=str(kinds),
            properties=merged,
            items=schema.get("items"),
            options=options,
            schema=own,
        )

    def _read(self) -> Iterator[Operation]:
        paths = self.plain.get("paths")
        for path, item in paths.items() if isinstance(paths, dict) else ():
            for method in _METHODS:
                if isinstance(found := item.get(method), dict):
                    yield self._operation(path, method.upper(), item, found)

    def _operation(self, path: str, method: str, item: JsonObject, found: JsonObject) -> Operation:
        responses = {str(code): self.target(value) for code, value in found.get("responses", {}).items()}
        good = sorted(code for code in responses if code.startswith("2"))
        bad = sorted((code for code in responses if code.startswith("4")), key=lambda code: code != "404")
        name = f"{method} {path}"
        parameters = tuple(self.target(p) for p in (*item.get("parameters", ()), *found.get("parameters", ())))
        body = self._content(self.target(found.get("requestBody", {})))
        if isinstance(body.get("required"), list):
            # What may stand in the query as well need not stand in the body.
            beside = {parameter.get("name") for parameter in parameters}
            body["required"][:] = [field for field in body["required"] if field not in beside]
        return Operation(
            name=name,
            id=found.get("operationId", name),
            method=method,
            path=path,
            parameters=parameters,
            body=body,
            status=int(good[0]) if good and good[0].isdigit() else 200,
            response=self._content(responses[good[0]]) if good else {},
            refusal=self._content(responses[bad[0]]) if bad else {},
        )

    def _content(self, holder: Any) -> JsonObject:
        content = holder.get("content", {}) if isinstance(holder, dict) else {}
        media: JsonObject = next((value for kind, value in content.items() if "json" in kind), {})
        schema: JsonObject = media.get("schema", {})
        return schema


def read_document(path: Path) -> Document:
    """The document in a JSON file.

    Raises:
        InvalidData: the file is missing, is no JSON object or has no operations.
    """
    document = read_json(path)
    if not isinstance(document, dict) or not isinstance(document.get("paths"), dict):
        raise InvalidData(f"{str(path)!r} is no OpenAPI document: it has no 'paths'; fetch the file again.")
    try:
        return Document(document, name=path.name)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidData(f"{str(path)!r} is no OpenAPI document ({error}); fetch the file again.") from error


def read_json(path: Path) -> Json:
    """The content of a JSON file.

    Raises:
        InvalidData: it is missing, cannot be read, or is not JSON.
    """
    try:
        value: Json = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidData(
            f"cannot read {str(path)!r}: {error.strerror}; give --data the folder of RestBench's files."
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidData(f"{str(path)!r} is not JSON ({error}); fetch the file again.") from error
    return value


def _renamed(shape: Shape, names: tuple[str, ...]) -> Shape:
    return Shape(
        names=names,
        type=shape.type,
        properties=shape.properties,
        items=shape.items,
        options=shape.options,
        schema=shape.schema,
    )
