"""OpenAPI's dialects of JSON Schema → self-contained JSON Schema 2020-12, leniently, without ever touching the network.

References are followed inside the document. What is not recursive is written out in place; recursive schemas stay
references into `$defs`. Keywords that the 2020-12 metaschema refuses are repaired where the meaning is plain
(`type: int`) and dropped where it is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from protocols.errors import InvalidProtocol
from protocols.jsontypes import Json, JsonObject
from protocols.schema import pointer
from protocols.sources.dialects import (
    ANNOTATIONS,
    PLAIN,
    Direction,
    accepted,
    joined_objects,
    modern,
    nullable,
    says_nullable,
)

INLINE_NODES = 4_000
"""A schema that written out would have more nodes than this keeps all its references: a few documents (Stripe's)
would otherwise grow to gigabytes."""

_ONE = {
    "additionalProperties", "items", "not", "contains", "propertyNames", "if", "then", "else",
    "unevaluatedItems", "unevaluatedProperties", "contentSchema",
}  # fmt: skip
_LISTS = {"allOf", "anyOf", "oneOf", "prefixItems"}
_MAPS = {"properties", "patternProperties", "dependentSchemas"}
_VALUES = {"default", "const"}


class Converted(NamedTuple):
    """A schema, and the definitions by name that its references (`#/$defs/name`) need."""

    schema: Any
    definitions: dict[str, Any]


class Schemas:
    """The schemas and references of one OpenAPI or Swagger document; `where` names it in messages."""

    def __init__(self, document: JsonObject, *, where: str) -> None:
        self._document, self._where = document, where
        self._edges: dict[str, frozenset[str]] = {}
        self._recursive: dict[str, bool] = {}
        self._sizes: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._taken: dict[str, int] = {}  # names, each with the number that was last tried after it
        self._done: dict[tuple[str, Direction, bool], Any] = {}

    def convert(self, raw: Json, direction: Direction, *, at: str) -> Converted:
        """`raw` as 2020-12. `at` names the operation in messages; a *request* has no read-only properties.

        Raises:
            InvalidProtocol: a reference leads nowhere or out of the document.
        """
        reachable = self._reachable(refs_in(raw), at)
        shared = self._size(raw) > INLINE_NODES
        definitions = {
            self._name(ref): self._definition(ref, direction, shared)
            for ref in sorted(reachable)
            if shared or self._is_recursive(ref)
        }
        return Converted(self._schema(raw, direction, shared), definitions)

    def self_contained(self, raw: Json, direction: Direction, *, at: str) -> dict[str, Any]:
        """`convert`, as one schema that brings its own `$defs`."""
        schema, definitions = self.convert(raw, direction, at=at)
        whole = dict(schema) if isinstance(schema, Mapping) else {} if schema else {"not": {}}
        return whole | ({"$defs": definitions} if definitions else {})

    def follow(self, value: Json, *, at: str) -> Json:
        """The parameter, response or path item that `value` is or refers to."""
        seen: set[str] = set()
        while isinstance(value, Mapping) and isinstance(ref := value.get("$ref"), str):
            if ref in seen:
                raise self._broken(ref, at, "which refers to itself")
            seen.add(ref)
            value = self._target(ref, at)
        return value

    def _target(self, ref: str, at: str) -> Any:
        if not ref.startswith("#"):
            raise InvalidProtocol(
                self._where,
                f"{at} needs {ref!r}, which lies outside the document; references are not fetched.",
                path="$ref",
                hint="Bundle the document into one file first, for example with 'npx @redocly/cli bundle'.",
            )
        target = pointer(self._document, ref)
        if target is None:
            target = pointer(self._document, unquote(ref))
        if target is None:
            raise self._broken(ref, at, "which leads nowhere")
        return target

    def _broken(self, ref: str, at: str, problem: str) -> InvalidProtocol:
        return InvalidProtocol(
            self._where,
            f"{at} needs {ref!r}, {problem}.",
            path="$ref",
            hint="Correct the reference, or delete that operation from a copy of the document.",
        )

    def _edges_of(self, ref: str, at: str) -> frozenset[str]:
        if ref not in self._edges:
            self._edges[ref] = frozenset(refs_in(self._target(ref, at)))
        return self._edges[ref]

    def _reachable(self, refs: Iterator[str] | frozenset[str], at: str) -> set[str]:
        found: set[str] = set()
        waiting = list(refs)
        while waiting:
            ref = waiting.pop()
            if ref not in found:
                found.add(ref)
                waiting.extend(self._edges_of(ref, at) - found)
        return found

    def _is_recursive(self, ref: str) -> bool:
        if ref not in self._recursive:
            self._find_recursive(ref)
        return self._recursive[ref]

    def _find_recursive(self, start: str) -> None:
        """Judge all that `start` reaches, each reference once: Tarjan's algorithm for the parts that are circles."""
        order: dict[str, int] = {start: 0}
        lowest = {start: 0}
        waiting = [start]
        path = [(start, iter(self._edges_of(start, "")))]
        while path:
            ref, edges = path[-1]
            for other in edges:
                if other in self._recursive:
                    continue
                if other not in order:
                    order[other] = lowest[other] = len(order)
                    waiting.append(other)
                    path.append((other, iter(self._edges_of(other, ""))))
                    break
                lowest[ref] = min(lowest[ref], order[other])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[ref])
                if lowest[ref] == order[ref]:
                    circle: list[str] = []
                    while not circle or circle[-1] != ref:
                        circle.append(waiting.pop())
                    for one in circle:
                        self._recursive[one] = len(circle) > 1 or one in self._edges_of(one, "")

    def _size(self, raw: Json) -> int:
        """How many nodes `raw` has with its references written out, recursive ones left as they are."""
        return _nodes(raw) + sum(self._size_of(ref) for ref in refs_in(raw))

    def _size_of(self, ref: str) -> int:
        if ref not in self._sizes:
            self._sizes[ref] = 0  # a recursive schema counts once, where it is defined
            if not self._is_recursive(ref):
                self._sizes[ref] = self._size(self._target(ref, ""))
        return self._sizes[ref]

    def _name(self, ref: str) -> str:
        if ref not in self._names:
            base = re.sub(r"[^A-Za-z0-9_.-]+", "_", unquote(ref).rsplit("/", 1)[-1]) or "schema"
            name = base
            while name in self._taken:
                self._taken[base] += 1
                name = f"{base}_{self._taken[base]}"
            self._taken[name] = 1
            self._names[ref] = name
        return self._names[ref]

    def _definition(self, ref: str, direction: Direction, shared: bool) -> Any:
        key = (ref, direction, shared)
        if key not in self._done:
            self._done[key] = self._schema(self._target(ref, ""), direction, shared)
        return self._done[key]

    def _schema(self, raw: Json, direction: Direction, shared: bool) -> Any:
        if raw is True or raw is False:
            return raw
        if not isinstance(raw, Mapping):
            return {}
        if isinstance(ref := raw.get("$ref"), str):
            return self._reference(ref, raw, direction, shared)
        schema: dict[str, Any] = {}
        for key, value in raw.items():
            if key in _ONE and (converted := self._one(key, value, direction, shared)) is not None:
                schema[key] = converted
            elif key in _LISTS and isinstance(value, list) and value:
                schema[key] = [self._schema(v, direction, shared) for v in value]
            elif key in _MAPS and isinstance(value, Mapping):
                schema[key] = {str(k): self._schema(v, direction, shared) for k, v in value.items()}
            elif key in _VALUES or key.startswith("x-atc-") or (key in PLAIN and accepted(key, value)):
                schema[key] = value
        return modern(schema, raw, direction)

    def _one(self, key: str, value: Json, direction: Direction, shared: bool) -> Any:
        """The schema under `key`; `None` where there is none. `additionalProperties: "true"` is seen in the wild."""
        if key == "items" and isinstance(value, list):
            return [self._schema(v, direction, shared) for v in value]  # a tuple, see `modern`
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        return self._schema(value, direction, shared) if isinstance(value, bool | Mapping) else None

    def _reference(self, ref: str, raw: JsonObject, direction: Direction, shared: bool) -> Any:
        beside = {k: v for k, v in raw.items() if k != "$ref"}
        siblings = self._schema(beside, direction, shared) if beside else None
        kept = shared or self._is_recursive(ref)
        target = {"$ref": f"#/$defs/{self._name(ref)}"} if kept else self._definition(ref, direction, shared)
        if not siblings:
            merged = target
        elif isinstance(target, Mapping) and siblings.keys() <= ANNOTATIONS:
            merged = {**target, **siblings}
        else:
            merged = joined_objects({"allOf": [target], **siblings})
        return nullable(merged) if says_nullable(raw) and isinstance(merged, dict) else merged


def refs_in(raw: Json) -> Iterator[str]:
    """Every reference in `raw`, not those of schemas that it refers to, nor what stands in examples and defaults."""
    if isinstance(raw, list):
        for part in raw:
            yield from refs_in(part)
    elif isinstance(raw, Mapping):
        if isinstance(ref := raw.get("$ref"), str):
            yield ref
        for key, value in raw.items():
            if key in _MAPS and isinstance(value, Mapping):
                for part in value.values():
                    yield from refs_in(part)
            elif key in _ONE or key in _LISTS:
                yield from refs_in(value)


def _nodes(raw: Json) -> int:
    if isinstance(raw, Mapping):
        return 1 + sum(_nodes(v) for v in raw.values())
    return 1 + sum(_nodes(v) for v in raw) if isinstance(raw, list) else 1
