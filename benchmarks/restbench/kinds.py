"""Which kinds of entity a specification speaks of, of which kind an object in an answer is, and words and values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import Any

from protocols.jsontypes import Json
from protocols.protocol import HttpBinding
from protocols.schema import resolve
from protocols.toolbox import Tool, Toolbox

LABELS = ("name", "title", "display_name", "original_name", "original_title")
"""Properties that hold what an entity is called."""
GENERIC = frozenset({"results", "result", "items", "item", "data", "entries", "list", "records", "parts"})
"""Names of lists that do not say what is in them."""
_TELLING_NOTHING = frozenset({"id", "url", "type", *LABELS})
_IRREGULAR = {"movies": "movie", "series": "series", "people": "person", "children": "child"}
_LEAST_LIKENESS = 0.2
"""Share of an object's telling properties that it must have in common with a kind."""
_DEEPEST = 6
_FIRST_WORDS = "Amber Bright Cold Distant Early Golden Hidden Iron Late Long Lost Open Pale Quiet Rising Silver Slow"
_SECOND_WORDS = "Anchor Arrow Bay Bell Bridge Coast Echo Field Gate Hill Island Letter Mirror River Road Tide"
_FIRST, _SECOND = _FIRST_WORDS.split(), _SECOND_WORDS.split()


def words(name: str) -> list[str]:
    """`production_companies` → lower-case words, the last one in the singular."""
    found = [word for word in re.split(r"[^a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()) if word]
    return [*found[:-1], singular(found[-1])] if found else []


def singular(word: str) -> str:
    """`companies` → `company`, `tracks` → `track`."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 2 else word


@lru_cache(maxsize=1 << 17)
def draw(*key: object) -> int:
    """A number below 2**48 that depends on `key` alone."""
    return int.from_bytes(blake2b("\0".join(map(str, key)).encode(), digest_size=6).digest(), "big")


def label(*key: object) -> str:
    """A name of two words."""
    return f"{_FIRST[draw('first', *key) % len(_FIRST)]} {_SECOND[draw('second', *key) % len(_SECOND)]}"


def _written_out(part: Json, root: Mapping[str, Any], depth: int) -> Any:
    """A schema with what its references mean in their places, to a depth."""
    if isinstance(part, list):
        return [_written_out(one, root, depth) for one in part]
    if not isinstance(part, Mapping):
        return part
    if "$ref" in part:
        return _written_out(resolve(part, root), root, depth - 1) if depth else {}
    return {key: _written_out(value, root, depth) for key, value in part.items() if key != "$defs"}


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the specification, read from its tool. `name` is as gold paths write it."""

    tool: Tool
    method: str
    path: str
    response: Mapping[str, Any]

    @classmethod
    def of(cls, tool: Tool) -> Operation:
        """The operation that a tool calls; its path is without that of the server (`/3`, `/v1`)."""
        binding = tool.protocol.binding
        assert isinstance(binding, HttpBinding)
        path = re.sub(r"^https?://[^/]+(/v?\d+)?", "", binding.url.split("?")[0])
        response = tool.protocol.output_schema or {}
        return cls(tool, binding.method, path, _written_out(response, response, _DEEPEST))

    @property
    def name(self) -> str:
        """`GET /search/person`."""
        return f"{self.method} {self.path}"

    @property
    def segments(self) -> list[str]:
        """The path's parts; those of parameters in braces."""
        return [part for part in self.path.split("/") if part]

    @property
    def fixed(self) -> list[str]:
        """The parts that are no parameters."""
        return [part for part in self.segments if not part.startswith("{")]

    def ends_in_parameter(self) -> bool:
        """Whether the path ends with an id."""
        return self.segments[-1].startswith("{")


class Kinds:
    """The kinds of a specification.

    `parameters` gives the kind that a path's parameter identifies. `parts` are kinds that are numbered within a whole
    (`/tv/{tv_id}/season/{season_number}`), each with its whole; `features` the properties of each kind; `homes` are
    fixed paths that stand for one entity and have others below them (`/me`), each with its kind.
    """

    def __init__(self, tools: Toolbox) -> None:
        self.operations = {operation.name: operation for operation in map(Operation.of, tools.values())}
        self.parameters: dict[tuple[str, str], str] = {}
        self.parts: dict[str, str] = {}
        self._known: dict[tuple[int, str, str], str] = {}
        for operation in self.operations.values():
            self._read_path(operation)
        self.all = frozenset(self.parameters.values())
        self.integer_ids: dict[str, bool] = {}
        self.features: dict[str, dict[str, Any]] = {}
        own: dict[str, set[str]] = {}
        for operation in self.operations.values():
            if operation.method == "GET" and operation.ends_in_parameter():
                own.setdefault(self.kind_of_path(operation), set()).update(operation.response.get("properties", ()))
        own.pop("", None)
        self._own = {kind: names - _TELLING_NOTHING for kind, names in own.items()}
        for operation in self.operations.values():
            self._learn(operation, operation.response, "", 0)
        paths = [operation.path for operation in self.operations.values()]
        self.homes = {
            operation.path: kind
            for operation in self.operations.values()
            if operation.name.startswith("GET") and "{" not in operation.path
            if (kind := self.of(operation.response, "", operation)) in self.all
            and any(path.startswith(f"{operation.path}/") for path in paths)
        }

    def kind_of_path(self, operation: Operation) -> str:
        """The kind that the last parameter of a path identifies; empty where there is none."""
        found = [self.parameters.get((operation.path, part[1:-1]), "") for part in operation.segments]
        return next((kind for kind in reversed(found) if kind), "")

    def of(self, schema: Any, name: str, operation: Operation | None = None) -> str:
        """The kind of an object that an answer calls `name`; empty where it is no entity."""
        key = (id(schema), name, operation.name if operation else "")  # the schemas are those of the specification
        if key not in self._known:
            self._known[key] = self._of(schema, name, operation)
        return self._known[key]

    def _of(self, schema: Any, name: str, operation: Operation | None) -> str:
        properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
        if "id" not in properties:
            return ""
        for key in ("type", "media_type"):
            if len(values := properties.get(key, {}).get("enum", ())) == 1:
                return str(values[0])
        told = re.search(r'object type: "(\w+)"', properties.get("type", {}).get("description", ""))
        if told and told[1] in self.all:
            return told[1]
        named = words(name)
        known = [word for word in (*named[-1:], *map(singular, named)) if word in self.all]
        if known and name not in GENERIC:
            return known[0]
        last = words(operation.fixed[-1])[-1] if operation else ""
        if operation and name in GENERIC | {""} and last in self.all and not operation.ends_in_parameter():
            return last
        telling = {key for key in properties if not key.endswith("_id")} - _TELLING_NOTHING
        rarity = Counter(key for keys in self._own.values() for key in keys)
        likeness = {
            # a credit_id stands beside things that have a credit, not in a credit
            kind: sum(1 / rarity[key] for key in telling & keys) / len(telling)
            for kind, keys in self._own.items()
            if telling and f"{kind}_id" not in properties and kind not in self.parts
        }
        best = max(likeness, key=lambda kind: likeness[kind], default="")
        if best and likeness[best] >= _LEAST_LIKENESS:
            return best
        return last if name in GENERIC else (named or [""])[-1]

    def options(self, schema: Any, name: str, operation: Operation | None = None) -> list[tuple[str, Any]]:
        """The kinds that an object may be of, each with its schema; of alternatives those that operations take."""
        alternatives = schema.get("oneOf") or schema.get("anyOf") or [schema] if isinstance(schema, Mapping) else []
        found = [(kind, one) for one in alternatives if (kind := self.of(one, name, operation))]
        return [pair for pair in found if pair[0] in self.all] or found

    def answered(self, operation: Operation) -> str:
        """The kind of entity that an operation's whole answer is; empty for lists and all else."""
        if "id" not in operation.response.get("properties", {}):
            return ""
        if operation.ends_in_parameter():
            return self.kind_of_path(operation)
        if self.kind_of_path(operation) and operation.method == "GET":
            return ""  # /movie/{movie_id}/credits: the id is the movie's, the answer is not the movie
        named = [word for part in operation.segments for word in words(part) if word in self.all]
        return self.of(operation.response, "", operation) or (named or [""])[0]

    def _read_path(self, operation: Operation) -> None:
        whole = ""
        for before, here in pairwise(operation.segments):
            name = here[1:-1]
            if before.startswith("{") or not here.startswith("{"):
                continue
            numbered = operation.tool.protocol.parameters[name].get("type") == "integer"
            if name.lower().endswith("id") or (whole and numbered):
                kind = singular(before.lower())
                self.parameters[operation.path, name] = kind
                if not name.lower().endswith("id"):
                    self.parts[kind] = whole
                whole = kind

    def _learn(self, operation: Operation, schema: Any, name: str, depth: int) -> None:
        """Walk an answer's schema and note properties and types of ids of each kind."""
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return
        for option in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
            self._learn(operation, option, name, depth + 1)
        if "items" in schema:
            self._learn(operation, schema["items"], name, depth + 1)
        kind = self.of(schema, name, operation) if depth else self.answered(operation)
        properties = schema.get("properties", {})
        if kind and properties:
            known = self.features.setdefault(kind, {})
            for key, value in properties.items():
                # An integer is a number too: of two types the narrower is kept, so that one value suits both.
                if key not in known or (known[key].get("type") == "number" and value.get("type") == "integer"):
                    known[key] = value
            if "id" in properties:
                self.integer_ids.setdefault(kind, properties["id"].get("type") == "integer")
        for key, value in properties.items():
            self._learn(operation, value, key, depth + 1)


_DAY_ZERO = date(1970, 1, 1)
_CEILINGS = {"average": 10, "popularity": 100, "percent": 100, "gender": 2, "rating": 10, "order": 30, "runtime": 180}
_CHOICES: Sequence[tuple[frozenset[str], Sequence[str]]] = (
    (frozenset({"language", "639"}), ("en", "fr", "ja", "es", "de")),
    (frozenset({"country", "market", "3166"}), ("US", "GB", "FR", "JP", "DE")),
    (frozenset({"department"}), ("Directing", "Acting", "Writing", "Production")),
    (frozenset({"job"}), ("Director", "Producer", "Screenplay", "Editor")),
)


def scalar(schema: Mapping[str, Any], name: str, *key: object) -> Json:
    """A value of a plain schema for a property called `name`: by type and name, always the same for the same key."""
    number, parts = draw(*key, name), words(name)
    if "const" in schema or schema.get("enum"):
        choices = schema.get("enum") or [schema["const"]]
        chosen: Json = choices[number % len(choices)]
        return chosen
    kinds = schema.get("type")
    match next((kind for kind in kinds if kind != "null"), None) if isinstance(kinds, list) else kinds:
        case "integer":
            if name == "timestamp" or name.endswith("_ms"):
                return 60_000 + number % 240_000
            low = int(schema.get("minimum", 0))
            high = int(schema.get("maximum", next((most for part, most in _CEILINGS.items() if part in name), 5000)))
            return low + number % (high - low + 1)
        case "number":
            return round(
                number % 1000 / 1000 * next((most for part, most in _CEILINGS.items() if part in name), 100), 2
            )
        case "boolean":
            return number % 2 == 0
        case "string":
            return _text(schema, parts, number, *key, name)
    return None


def _text(schema: Mapping[str, Any], parts: Sequence[str], number: int, *key: object) -> str:
    day = (_DAY_ZERO + timedelta(days=number % 19_700)).isoformat()  # to the end of 2023
    if schema.get("format") == "date-time" or "at" in parts[-1:]:
        return f"{day}T{number % 24:02d}:00:00Z"
    if schema.get("format") == "date" or "date" in parts or {"birthday", "deathday"} & set(parts):
        return day
    if schema.get("format") in ("uri", "url") or {"url", "homepage", "href", "spotify"} & set(parts[-1:]):
        return f"https://example.org/{number:x}"
    if parts[-1:] == ["path"]:
        return f"/{number:x}.jpg"
    found = next((choices for named, choices in _CHOICES if named & set(parts)), None)
    return found[number % len(found)] if found else label(*key)
