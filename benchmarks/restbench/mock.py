"""A mock of one API. Its responses follow the response schemas, with ids that all operations know.

The mock has no rules for single tasks. Responses depend only on the seed and on the searches since
the last `reset`. Writes change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from benchmarks.restbench.operations import DEEPEST, MockOperation, singular
from benchmarks.restbench.values import draw_number, label, scalar
from protocols.errors import ToolError
from protocols.schema import Json
from protocols.toolbox import Toolbox

POPULATION = 60
"""Number of records of each kind from which the items of lists are drawn."""
PARTS = 8
"""Number of numbered parts of a record, such as the seasons of a series."""
REFERENCE = re.compile(r"(.*_)?(ids?|uris?)")
"""Matches the names of arguments whose values are ids or URIs."""
_LABELS = ("name", "title", "display_name", "original_name", "original_title")
_GENERIC = frozenset({"", "results", "items", "parts"})
_TELLING_NOTHING = frozenset({"id", "url", "type", *_LABELS})
_ENTRIES = 10
"""Number of items in a list."""
_INNER = 3
"""Number of items in a list that is a field of a record."""
_PAGES: Mapping[str, Json] = {
    **dict.fromkeys(("page", "pages", "total_pages"), 1),
    **dict.fromkeys(("total", "total_results", "limit"), _ENTRIES),
    **dict.fromkeys(("next", "previous"), ""),
    "offset": 0,
}


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """A record with an id. `number` is the position of a part in its whole, such as season 3."""

    id: int | str
    kind: str
    label: str
    number: int | None = None


class _Request(NamedTuple):
    """A request that the mock must answer.

    `thing` is the record that the last parameter of the path names, or None. `kind` is the kind of
    record that the caller wants, or "". `text` is the search text, or "".
    """

    operation: MockOperation
    thing: Thing | None
    kind: str
    text: str


class Mock:
    """Produces the responses for one API document.

    `parameters` maps the path and name of a path parameter to the kind of record it identifies.
    `parts` are the kinds that are numbered within another record, as seasons are in
    `/tv/{tv_id}/season/{season_number}`. `things` are the records that can be requested, keyed by
    id.
    """

    def __init__(self, tools: Toolbox, *, seed: int = 0) -> None:
        self.operations = {
            operation.name: operation for operation in map(MockOperation.of, tools.values())
        }
        self.parameters: dict[tuple[str, str], str] = {}
        self.parts: set[str] = set()
        self.things: dict[str, Thing] = {}
        self._integer_ids: dict[str, bool] = {}
        self._seed = seed
        self._own = dict[str, frozenset[str]]()
        for operation in self.operations.values():
            self._read_path(operation)
        self.kinds = frozenset(self.parameters.values())
        for operation in self.operations.values():
            last = self.parameters.get((operation.path, operation.segments[-1][1:-1]))
            if last and operation.method == "GET":
                self._own[last] = (
                    frozenset(operation.response.get("properties", ())) - _TELLING_NOTHING
                )

    def _read_path(self, operation: MockOperation) -> None:
        whole = False
        for before, here in pairwise(operation.segments):
            name = here[1:-1]
            if not here.startswith("{") or before.startswith("{"):
                continue
            integer = operation.tool.protocol.parameters[name].get("type") == "integer"
            if name.endswith("id") or (whole and integer):
                kind = singular(before)
                whole = True
                self.parameters[operation.path, name] = kind
                self._integer_ids[kind] = integer
                if not name.endswith("id"):
                    self.parts.add(kind)

    def reset(self) -> None:
        self.things = {}

    def answer(self, operation: MockOperation, arguments: Mapping[str, Json]) -> Json:
        """Return the mock's response to a call of an operation.

        Raises:
            ToolError: status 404 for an unknown id, 400 for a missing argument.
        """
        for name in operation.tool.protocol.required:
            if arguments.get(name) in (None, ""):
                raise ToolError(400, f"the argument {name!r} is missing; give it.")
        in_path = [part[1:-1] for part in operation.segments if part.startswith("{")]
        thing: Thing | None = None
        for name in in_path:
            if kind := self.parameters.get((operation.path, name)):
                thing = self._find_named_thing(kind, str(arguments[name]), thing)
        for text in references(
            {name: value for name, value in arguments.items() if name not in in_path}
        ):
            if text.rsplit(":", 1)[-1] not in self.things:
                raise ToolError(404, f"there is nothing with the id {text!r}.")
        kind = next(
            (one for name in in_path if (one := singular(str(arguments[name]))) in self.kinds), ""
        )
        body = arguments.get("body")
        given = {**arguments, **(body if isinstance(body, dict) else {})}
        text = next((str(given[name]) for name in ("query", "q", "name") if given.get(name)), "")
        asked = _Request(operation, thing, kind, text)
        shown = self._answered_thing(asked)
        return self._object(
            asked, operation.response, shown, (operation.path, thing and thing.id), 0
        )

    def _find_named_thing(self, kind: str, text: str, whole: Thing | None) -> Thing:
        if kind in self.parts and whole is not None:
            if not text.isdecimal() or not 1 <= int(text) <= PARTS:
                raise ToolError(404, f"there is no {kind} {text!r}; it has 1 to {PARTS}.")
            return self._thing(kind, f"{kind.title()} {text}", whole.id, number=int(text))
        found = self.things.get(text)
        if found is None or found.kind != kind:
            raise ToolError(404, f"there is no {kind} with the id {text!r}.")
        return found

    def _thing(self, kind: str, label: str, *key: object, number: int | None = None) -> Thing:
        """Return the record of this kind that belongs to a key, always the same for the same key.

        It is added to `things`, so that clients of the mock can request it by its id.
        """
        drawn = draw_number(self._seed, kind, *key, number)
        identifier = (
            100_000 + drawn % 900_000_000 if self._integer_ids.get(kind) else f"{drawn:022x}"
        )
        return self.things.setdefault(str(identifier), Thing(identifier, kind, label, number))

    def _pick_thing(self, kind: str, *key: object) -> Thing:
        """Return one of the records of a kind, chosen by a key.

        The same key always gives the same record.
        """
        place = draw_number(self._seed, kind, *key) % POPULATION
        return self._thing(kind, label(kind, place), place)

    def kind_of(self, schema: Any, name: str, operation: MockOperation) -> str:
        """Return the kind of record that the field `name` of a response contains.

        The result is "" if the field is an object without an id.
        """
        properties = schema.get("properties", {})
        if "id" not in properties:
            return ""
        if len(types := properties.get("type", {}).get("enum", ())) == 1:
            return str(types[0])
        described = re.search(
            r'object type: "(\w+)"', properties.get("type", {}).get("description", "")
        )
        words = (
            [described[1]] if described else [singular(word) for word in reversed(name.split("_"))]
        )
        words += (
            operation.words[:1] if name in _GENERIC and not operation.path.endswith("}") else []
        )
        telling = properties.keys() - _TELLING_NOTHING
        alike = {
            kind: len(telling & own)
            for kind, own in self._own.items()
            if f"{kind}_id" not in properties
        }
        nearest = max(alike, key=lambda kind: alike[kind], default="")
        return next(
            (word for word in words if word in self.kinds), nearest if alike.get(nearest) else ""
        )

    def _answered_thing(self, asked: _Request) -> Thing | None:
        """Return the record that the whole response describes, or None if it describes none.

        It is the record named in the path, or one with the searched text as its name.
        """
        ends = asked.operation.segments[-1].startswith("{")
        there = asked.thing is not None
        has_id = "id" in asked.operation.response.get("properties", {})
        if not has_id or (there and (ends or asked.operation.method == "GET")):
            return asked.thing if ends else None
        kind = next((word for word in asked.operation.words if word in self.kinds), "")
        kind = kind or self.kind_of(asked.operation.response, "", asked.operation)
        return self._thing(kind, asked.text or label(kind, 0), asked.text)

    def _object(
        self, asked: _Request, schema: Any, one: Thing | None, key: tuple[object, ...], depth: int
    ) -> Json:
        """Return a JSON object that fits a schema and describes the record `one`.

        If `one` is None, the object has no id; it may contain paging fields and lists of records.
        """
        key = (one.id,) if one else key
        properties = schema.get("properties", {}).items()
        return {
            name: self._value(asked, part, name, (*key, name), depth, one)
            for name, part in properties
        }

    def _value(
        self,
        asked: _Request,
        schema: Any,
        name: str,
        key: tuple[object, ...],
        depth: int,
        owner: Thing | None,
    ) -> Json:
        """Return the value of one property in a response.

        `key` identifies the position of the value in the response; `owner` is the record to which
        the value belongs, or None.
        """
        schema = self._choose_alternative(asked, schema, name)
        if "items" in schema:
            return self._list(
                asked,
                self._choose_alternative(asked, schema["items"], name),
                name,
                key,
                depth,
                owner,
            )
        if "properties" in schema:
            kind = self.kind_of(schema, name, asked.operation)
            one = self._pick_thing(kind, *key) if kind else None
            return self._object(asked, schema, one, key, depth + 1) if depth < DEEPEST else {}
        if owner is not None:
            return self._field_value(owner, name, schema, key)
        if name == "id" and asked.thing is not None:
            return asked.thing.id
        return _PAGES.get(name, scalar(schema, name, self._seed, *key))

    def _list(
        self,
        asked: _Request,
        schema: Any,
        name: str,
        key: tuple[object, ...],
        depth: int,
        owner: Thing | None,
    ) -> list[Json]:
        """Return a list for a response. `schema` is the schema of its items.

        The first result of a search is named after the search text.
        """
        if "properties" not in schema:
            return [scalar(schema, name, self._seed, *key, number) for number in range(_INNER)]
        kind = self.kind_of(schema, name, asked.operation)
        listed = list[Json]()
        if owner is None and asked.kind and kind in self.kinds:
            kind = asked.kind  # /trending/tv: the schema knows movies only
        for number in range(1, 1 + (_INNER if owner else _ENTRIES) if depth < DEEPEST else 1):
            one = self._pick_thing(kind, *key, number) if kind else None
            if kind in self.parts:
                one = self._thing(
                    kind, f"{kind.title()} {number}", asked.thing and asked.thing.id, number=number
                )
            elif kind and number == 1 and asked.text and owner is None:
                one = self._thing(kind, asked.text, asked.text.casefold())
            listed.append(self._object(asked, schema, one, (*key, number), depth + 1))
        return listed

    def _choose_alternative(self, asked: _Request, schema: Any, name: str) -> Any:
        """Return the alternative of a schema that describes the requested kind of record.

        If none does, return the first that describes a known kind, else the first.
        """
        options = [
            one
            for one in schema.get("oneOf") or schema.get("anyOf") or [schema]
            if isinstance(one, Mapping)
        ]
        kinds = [self.kind_of(one, name, asked.operation) for one in options]
        places = [*(n for n, kind in enumerate(kinds) if kind and kind == asked.kind)]
        places += [n for n, kind in enumerate(kinds) if kind in self.kinds]
        return options[places[0] if places else 0]

    def _field_value(self, one: Thing, name: str, schema: Any, key: tuple[object, ...]) -> Json:
        known: dict[str, Json] = {
            **dict.fromkeys(_LABELS, one.label),
            "type": one.kind,
            "media_type": one.kind,
        }
        known |= {"uri": f"spotify:{one.kind}:{one.id}", f"{one.kind}_number": one.number}
        other = name.removesuffix("_id")
        if name == "id":
            return str(one.id) if schema.get("type") == "string" else one.id
        if other != name and other in self.kinds:
            return self._pick_thing(other, one.id).id
        if name.startswith("number_of_"):
            return PARTS
        return scalar(schema, name, self._seed, *key) if known.get(name) is None else known[name]


def references(value: Json, name: str = "") -> Iterator[str]:
    """Yield every id and URI in arguments. A text may contain several that are joined by commas."""
    if isinstance(value, dict | list):
        for key, part in (
            value.items() if isinstance(value, dict) else ((name, part) for part in value)
        ):
            yield from references(part, key)
    elif isinstance(value, str | int) and REFERENCE.fullmatch(name) and name != "snapshot_id":
        yield from (text.strip() for text in str(value).split(",") if text.strip())
