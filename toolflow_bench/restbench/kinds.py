"""Which kinds of entity a document speaks of, and of which kind an object in a response is."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

from protocols.jsontypes import JsonObject
from toolflow_bench.restbench.document import Document, Operation, Shape
from toolflow_bench.restbench.words import GENERIC, LABELS, fixed_segments, is_parameter, singular, words

_LEAST_LIKENESS = 0.2
"""Share of an object's telling properties that it must have in common with a kind."""

_DEEPEST = 8


class Kinds:
    """The kinds of a document.

    `of_paths` are those with an operation that takes an id (`/movie/{movie_id}`), each with the path up to it. `parts`
    are those that are numbered within a whole (`/tv/{tv_id}/season/{season_number}`), each with its whole. `all` are
    both. `single` holds (kind, other) where something of the kind names exactly one other (a track its album).
    `homes` are fixed paths that stand for one entity and have others below them (`/me`), with its kind.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self._found: dict[tuple[int, str, str], tuple[Any, str]] = {}
        self._learned = False
        self.of_paths: dict[str, str] = {}
        self.parts: dict[str, str] = {}
        self.parameters: dict[tuple[str, str], str] = {}
        """(path, parameter) → kind."""
        for operation in document.operations.values():
            self._read_path(operation)
        self.all = frozenset(self.of_paths) | frozenset(self.parts)
        self._features = self._learn_features()
        self.homes = self._find_homes()
        self.integer_ids: dict[str, bool] = {}
        self.single: set[tuple[str, str]] = set()
        self.properties: dict[str, dict[str, JsonObject]] = {}
        self.listed: dict[str, JsonObject] = {}
        """Kind → how lists show it."""
        for operation in document.operations.values():
            self._learn(operation, operation.response, "", 0)
        self._learned = True

    def of(self, schema: Any, *, name: str, operation: Operation | None = None) -> str:
        """The kind of an object with schema `schema` that a response calls `name`; empty where it is no entity."""
        key = (id(schema), name, operation.name if operation else "")
        if key not in self._found or not self._learned:
            # The schema is kept, so that no other can take its id.
            self._found[key] = (schema, self._of(schema, name, operation))
        return self._found[key][1]

    def _of(self, schema: Any, name: str, operation: Operation | None) -> str:
        shape = self.document.shape(schema)
        if shape.type not in ("object", ""):
            return ""
        if "id" not in shape.properties:
            return "" if shape.properties or shape.options else self._named(name)
        for key in ("type", "media_type"):
            if len(values := self.document.shape(shape.properties.get(key)).schema.get("enum", ())) == 1:
                return str(values[0])
        for known in shape.names:
            if found := next((word for word in words(known) if word in self.all), ""):
                return found
        if name not in GENERIC and (found := self._named(name)):
            return found
        last = words(operation.segments[-1]) if operation and name in GENERIC | {""} else []
        if last and last[-1] in self.all and not is_parameter(operation.segments[-1] if operation else ""):
            return last[-1]
        if found := self._likest(shape):
            return found
        if operation and name in GENERIC:
            return words(fixed_segments(operation.segments)[-1])[-1]
        return words(name)[-1] if name else ""

    def options(self, schema: Any, *, name: str, operation: Operation | None = None) -> list[tuple[str, JsonObject]]:
        """The kinds that an object may be of, each with its schema; of alternatives those that operations take."""
        shape = self.document.shape(schema)
        if not shape.options:
            kind = self.of(schema, name=name, operation=operation)
            return [(kind, schema)] if kind else []
        found = [(self.of(option, name=name, operation=operation), option) for option in shape.options]
        return [pair for pair in found if pair[0] in self.of_paths] or [pair for pair in found if pair[0]]

    def wrapped(self, schema: Any) -> str:
        """The property of an object without id that holds the entity it is about (`track` of a saved track)."""
        shape = self.document.shape(schema)
        if "id" in shape.properties:
            return ""
        return next((name for name in shape.properties if name in self.all), "")

    def takes_id(self, operation: Operation) -> bool:
        """Whether an operation's path names an entity."""
        return any(path == operation.path for path, _ in self.parameters)

    def has(self, kind: str, name: str) -> bool:
        """Whether a property is of the thing itself, and not of its part in something else (the job in a film)."""
        known = self._features.get(kind)
        return known is None or name in known or name in ("id", "url", "type", *LABELS)

    def _named(self, name: str) -> str:
        found = words(name)
        if found and found[-1] in self.all:
            return found[-1]
        return next((word for word in map(singular, found) if word in self.all), "")

    def _read_path(self, operation: Operation) -> None:
        whole = ""
        for before, here in pairwise(operation.segments):
            if is_parameter(before) or not is_parameter(here):
                continue
            parameter = here[1:-1]
            kind = singular(before.lower())
            if parameter.lower() == "id" or parameter.lower().endswith(("_id", "id")):
                self.of_paths.setdefault(kind, "/".join(operation.path.split("/")[: _index(operation, here) + 1]))
                self.parameters[operation.path, parameter] = kind
                whole = kind
            elif whole and self._type(operation, parameter) == "integer":
                self.parts[kind] = whole
                self.parameters[operation.path, parameter] = kind
                whole = kind

    def _type(self, operation: Operation, name: str) -> str:
        schema: JsonObject = next((p.get("schema", {}) for p in operation.parameters if p.get("name") == name), {})
        return self.document.shape(schema).type

    def _learn_features(self) -> dict[str, frozenset[str]]:
        """Property names of each kind, from the answers of the operations that take its id alone."""
        found: dict[str, set[str]] = {}
        for operation in self.document.operations.values():
            if operation.method == "GET" and operation.segments and is_parameter(operation.segments[-1]):
                kind = self.parameters.get((operation.path, operation.segments[-1][1:-1]))
                if kind:
                    found.setdefault(kind, set()).update(self.document.shape(operation.response).properties)
        for name, schema in self.document.plain.get("components", {}).get("schemas", {}).items():
            kind = next((word for word in words(name) if word in self.of_paths), "")
            if kind and "id" in (shape := self.document.shape(schema)).properties:
                found.setdefault(kind, set()).update(shape.properties)
        return {kind: frozenset(names) - {"id", "url", "type", *LABELS} for kind, names in found.items()}

    def _likest(self, shape: Shape) -> str:
        """The kind whose properties an object shares most; a property that many kinds have says little."""
        references = {name for name in shape.properties if name.endswith("_id")}
        features = set(shape.properties) - references - {"id", "url", "type", *LABELS}
        if not features:
            return ""
        rarity = Counter(name for names in self._features.values() for name in names)
        scores = {
            # a credit_id stands beside things that have a credit, not in a credit
            kind: sum(1 / rarity[name] for name in features & names) / len(features)
            for kind, names in self._features.items()
            if f"{kind}_id" not in references and kind not in self.parts
        }
        best = max(scores, key=lambda kind: scores[kind], default="")
        return best if best and scores[best] >= _LEAST_LIKENESS else ""

    def _find_homes(self) -> dict[str, str]:
        homes: dict[str, str] = {}
        paths = {operation.path for operation in self.document.operations.values()}
        for operation in self.document.operations.values():
            fixed = operation.method == "GET" and "{" not in operation.path
            if fixed and any(path.startswith(operation.path + "/") for path in paths):
                kind = self.of(operation.response, name="", operation=operation)
                if kind in self.of_paths:
                    homes[operation.path] = kind
        return homes

    def _learn(self, operation: Operation, schema: Any, name: str, depth: int, owner: str = "") -> None:
        """Walk a response and note ids' types, properties and single references of each kind."""
        shape = self.document.shape(schema)
        if depth > _DEEPEST:
            return
        for option in shape.options:
            self._learn(operation, option, name, depth + 1, owner)
        if shape.items is not None:
            kind = self.of(shape.items, name=name, operation=operation)
            if kind in self.of_paths and depth == 1:
                self.listed.setdefault(kind, shape.items)
            self._learn(operation, shape.items, name, depth + 1)
            return
        kind = self.answered(operation, schema) if depth == 0 else self.of(schema, name=name, operation=operation)
        if owner and owner != kind and kind in self.of_paths:
            self.single.add((owner, kind))
        if kind and shape.properties:
            known = self.properties.setdefault(kind, {})
            for key, value in shape.properties.items():
                self._note(known, key, value)
            if "id" in shape.properties:
                self.integer_ids.setdefault(kind, self.document.shape(shape.properties["id"]).type == "integer")
        for key, value in shape.properties.items():
            self._learn(operation, value, key, depth + 1, kind if self._is_object(value) else "")

    def _note(self, known: dict[str, JsonObject], key: str, value: JsonObject) -> None:
        """An integer is a number too: of two types the narrower is kept, so that one value suits both."""
        old = self.document.shape(known.get(key)).type
        if key not in known or not old or (old == "number" and self.document.shape(value).type == "integer"):
            known[key] = value

    def _is_object(self, schema: Any) -> bool:
        shape = self.document.shape(schema)
        return shape.type in ("object", "") and not shape.options and shape.items is None

    def answered(self, operation: Operation, schema: Any) -> str:
        """The kind of entity that an operation's whole answer is; empty for lists and all else."""
        shape = self.document.shape(schema)
        if "id" not in shape.properties:
            return ""
        last = operation.segments[-1]
        if is_parameter(last):
            return self.parameters.get((operation.path, last[1:-1]), "")
        if any(is_parameter(part) for part in operation.segments) and operation.method == "GET":
            return ""  # /movie/{movie_id}/credits: the id is the movie's, the answer is not the movie
        if found := self.of(schema, name="", operation=operation):
            return found
        return next((word for part in operation.segments for word in words(part) if word in self.of_paths), "")


def _index(operation: Operation, segment: str) -> int:
    return operation.path.split("/").index(segment)


def home_of(kinds: Kinds, operation: Operation) -> str:
    """The home (`/me`) that a path is or lies below; empty if none."""
    return next((home for home in kinds.homes if f"{operation.path}/".startswith(f"{home}/")), "")
