"""Answers from schemas: entities, lists of them, and whatever else a schema asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from protocols.jsontypes import Json, JsonObject
from toolflow_bench.restbench.chance import draw
from toolflow_bench.restbench.document import Document, Shape
from toolflow_bench.restbench.entities import Entities, Entity
from toolflow_bench.restbench.kinds import Kinds
from toolflow_bench.restbench.listing import Asked, Page, listed, narrowed, paged
from toolflow_bench.restbench.values import scalar
from toolflow_bench.restbench.words import GENERIC, LABELS, words

_INNER = 3
"""Entries of a list inside an entry of a list: enough to follow, short enough to read."""

_DEEPEST = 8


class Renderer:
    """Makes the answer to one request. It reads the entities and never changes them, searches apart."""

    def __init__(self, document: Document, kinds: Kinds, entities: Entities, asked: Asked) -> None:
        self.document, self.kinds, self.entities, self.asked = document, kinds, entities, asked

    def answer(self) -> Json:
        """The whole answer."""
        operation = self.asked.operation
        kind = self.kinds.answered(operation, operation.response)
        if not kind:
            return self._container(operation.response, self.asked.owner, operation.path, 0)
        entity = self.asked.owner
        if entity is None or entity.kind != kind:
            entity = listed(self.asked, self.entities, None, kind, "")[0]
        return self.entity(entity, operation.response, 0)

    def entity(self, entity: Entity, schema: Any, depth: int, owner: Entity | None = None) -> dict[str, Json]:
        """An entity as a schema shows it; one without properties gives id and name. `owner` is whose list it is in."""
        shape = self.document.shape(schema)
        properties = shape.properties
        if not properties:
            known = self.kinds.properties.get(entity.kind, {})
            properties = {key: value for key, value in known.items() if key in ("id", *LABELS)}
        if not any(self._referred(name, entity) for name in properties):
            owner = None
        shown = {key: self._property(entity, key, value, depth, owner) for key, value in properties.items()}
        return {key: value for key, value in shown.items() if value is not _ABSENT}

    def fact(self, entity: Entity, name: str) -> Json:
        """A plain property of an entity; None where its kind has none of this name."""
        schema = self.kinds.properties.get(entity.kind, {}).get(name)
        return None if schema is None else self._plain_fact(entity, name, self.document.shape(schema))

    def _property(self, entity: Entity, name: str, schema: Any, depth: int, owner: Entity | None) -> Any:
        shape = self.document.shape(schema)
        if shape.items is not None:
            return self._inner_list(entity, name, shape, depth)
        if pairs := self.kinds.options(schema, name=name) if name not in ("", "uri") else []:
            kind, chosen = pairs[0]
            other = self.entities.one(entity, kind)
            return _ABSENT if other is None or depth > _DEEPEST else self.entity(other, chosen, depth + 1)
        if shape.properties or shape.type == "object":
            if self._holds_entities(shape):
                return self._container(schema, entity, name, depth + 1)
            return self._plain(shape, name, (entity.id, name), depth + 1)
        if kind := self._referred(name, entity):
            return self.entities.link(kind, entity, owner).id
        if owner is not None and not self.kinds.has(entity.kind, name):
            pair = sorted((str(entity.id), str(self.entities.whole(owner).id)))
            return self._plain_fact(entity, name, shape, pair)
        return self._plain_fact(entity, name, shape)

    def _referred(self, name: str, entity: Entity) -> str:
        """The kind of thing that stands for a relation, where a property is its id (`credit_id`)."""
        kind = name.removesuffix("_id")
        return kind if name.endswith("_id") and kind in self.kinds.of_paths and kind != entity.kind else ""

    def _plain_fact(self, entity: Entity, name: str, shape: Shape, pair: Sequence[str] = ()) -> Json:
        changed = self.entities.changes.facts
        if name == "id":
            return str(entity.id) if shape.type == "string" else entity.id
        if name in LABELS:
            return self.entities.label(entity)
        if (entity, name) in changed:
            return changed[entity, name]
        if name == "uri":
            return f"{self.service}:{entity.kind}:{entity.id}"
        if name == "href" and entity.kind in self.kinds.of_paths:
            path = self.kinds.of_paths[entity.kind].rpartition("/")[0]
            return f"{self.asked.url}{path}/{entity.id}"
        if name in ("type", "media_type") and entity.kind in shape.schema.get("enum", (entity.kind,)):
            return entity.kind
        if entity.number is not None and name in (f"{entity.kind}_number", "number"):
            return entity.number
        if entity.number is not None and name.removesuffix("_number") in self.kinds.parts:
            return next((e.number for e in entity.parents.values() if name == f"{e.kind}_number"), 1)
        if part := self._counted(entity, name):
            return self.entities.count(entity, part)
        canonical = self.kinds.properties.get(entity.kind, {}).get(name)
        known = self.document.shape(canonical) if canonical is not None else shape
        # One value wherever the property is shown: from the narrowest schema of it, and where types differ, from this.
        suits = known.type == shape.type or {known.type, shape.type} == {"integer", "number"} or shape.options
        return self._scalar(known if suits else shape, name, *(pair or (entity.id,)))

    def _scalar(self, shape: Shape, name: str, *key: object) -> Json:
        common = self.document.common(name, pattern=str(shape.schema.get("pattern", "")))
        return scalar(shape, name, self.entities.seed, *key, common=common)

    def _counted(self, entity: Entity, name: str) -> str:
        """The kind of parts that a property counts (`number_of_seasons`, `episode_count`)."""
        if not name.startswith("number_of_") and not name.endswith("_count"):
            return ""
        part = words(name.removeprefix("number_of_").removesuffix("_count"))[-1]
        whole = self.kinds.parts.get(part)
        return part if whole in (entity.kind, self._first_part(entity.kind)) and whole else ""

    def _first_part(self, kind: str) -> str:
        return next((part for part, whole in self.kinds.parts.items() if whole == kind), "")

    def _inner_list(self, entity: Entity, name: str, shape: Shape, depth: int) -> Any:
        pairs = self.kinds.options(shape.items, name=name)
        if not pairs or depth > _DEEPEST:
            return self._plain_list(shape, name, (entity.id, name), depth)
        found: list[Json] = []
        for kind, schema in pairs:
            role = "" if name in GENERIC or kind in words(name) else name
            related = self.entities.members(entity, kind, role)
            most = len(related) if kind in self.kinds.parts or depth == 0 else _INNER
            found += [self.entity(other, schema, depth + 1, entity) for other in related[:most]]
        return found

    def lists(self, schema: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
        """The lists of entities in an answer, those in its pages too: (kind, the list's name)."""
        for name, value in self.document.shape(schema).properties.items():
            yield from ((kind, name) for kind, _, _ in self._entries(value, name))
            if depth < 2 and not self.kinds.options(value, name=name):
                yield from self.lists(value, depth + 1)

    def _holds_entities(self, shape: Shape) -> bool:
        return any(self._entries(value, name) for name, value in shape.properties.items())

    def _entries(self, schema: Any, name: str) -> list[tuple[str, JsonObject, str]]:
        """What a list is of: (kind, schema of an entry, the entry's property that holds the entity if it wraps it)."""
        shape = self.document.shape(schema)
        if shape.items is None:
            return []
        if pairs := self.kinds.options(shape.items, name=name, operation=self.asked.operation):
            return [(kind, item, "") for kind, item in pairs]
        inner = self.kinds.wrapped(shape.items)
        if not inner:
            return []
        held = self.document.shape(shape.items).properties[inner]
        return [(kind, shape.items, inner) for kind, _ in self.kinds.options(held, name=inner)[:1]]

    def _container(self, schema: Any, owner: Entity | None, name: str, depth: int) -> dict[str, Json]:
        """An object that is no entity: lists with their pages, one entity, and plain values."""
        shape = self.document.shape(schema)
        lists = {key: self._list(value, owner, key, depth) for key, value in shape.properties.items()}
        pages = {key: value for key, value in lists.items() if value is not None}
        info: Mapping[str, Json] = next(iter(pages.values()))[0].info if pages else {}
        shown: dict[str, Json] = {}
        for key, value in shape.properties.items():
            if (page := pages.get(key)) is not None:
                shown[key] = page[1]
            elif key in info and self.document.shape(value).items is None:
                if info[key] is not None or self.document.shape(value).schema.get("nullable"):
                    shown[key] = info[key]
            elif (plain := self._beside(value, owner, f"{name}/{key}", key, depth)) is not _ABSENT:
                shown[key] = plain
        return shown

    def _beside(self, schema: Any, owner: Entity | None, path: str, name: str, depth: int) -> Any:
        """What stands in an answer beside its lists."""
        shape = self.document.shape(schema)
        if name == "id" and owner is not None:
            return owner.id
        if pairs := self.kinds.options(schema, name=name, operation=self.asked.operation):
            if shape.properties or shape.options:
                return self.entity(self.current(pairs[0][0]), pairs[0][1], depth + 1)
        elif shape.properties and self._holds_entities(shape):
            kinds = {kind for key, value in shape.properties.items() for kind, _, _ in self._entries(value, key)}
            wanted = self.asked.kinds if not self.asked.at_home else ()
            if wanted and not kinds & set(wanted):
                return _ABSENT
            return self._container(schema, owner, path, depth + 1)
        key = (self.asked.context or path, owner.id if owner else "")
        return self._plain(shape, name, key, depth)

    def _list(self, schema: Any, owner: Entity | None, name: str, depth: int) -> tuple[Page, list[Json]] | None:
        entries = self._entries(schema, name)
        if not entries:
            return None
        chosen = [entry for entry in entries if entry[0] in self.asked.kinds] or entries
        kind = self.asked.kinds[0] if self.asked.kinds else ""
        free = not self.asked.text and self.asked.owner is None
        if chosen is entries and len(entries) == 1 and free and kind in self.kinds.listed:
            chosen = [(kind, self.kinds.listed[kind], "")]  # /trending/tv: the schema knows movies only
        found: list[Entity] = []
        for kind_of_entry, _, _ in chosen:
            found += listed(self.asked, self.entities, owner, kind_of_entry, name)
        arguments = self.asked.arguments if depth < 2 else {}
        page = paged(narrowed(found, arguments, self.fact), arguments, url=self.asked.url + self.asked.operation.path)
        declared = {parameter.get("name") for parameter in self.asked.operation.parameters}
        if owner is not None and name not in GENERIC and not declared & {"page", "limit"}:
            page = Page(found, page.info)
        schemas = {kind: (item, inner) for kind, item, inner in chosen}
        return page, [self._entry(entity, *schemas[entity.kind], owner, depth) for entity in page.entries]

    def _entry(self, entity: Entity, schema: JsonObject, inner: str, owner: Entity | None, depth: int) -> Json:
        if not inner:
            return self.entity(entity, schema, depth + 1, owner)
        shown: dict[str, Json] = {}
        for key, value in self.document.shape(schema).properties.items():
            if key == inner:
                held = self.kinds.options(value, name=key)[0][1]
                shown[key] = self.entity(entity, held, depth + 2, owner)
            else:
                plain = self._property(owner or entity, key, value, depth + 2, owner)
                if plain is not _ABSENT:
                    shown[key] = plain
        return shown

    def current(self, kind: str) -> Entity:
        """The entity of a kind that a state is about: what is played, and where."""
        chosen = self.entities.changes.current.get((self.asked.context, kind))
        if chosen is not None:
            return chosen
        if kind not in self.kinds.of_paths:
            return self.entities.population(kind)[0]
        return self.entities.members(None, kind, self.asked.context)[0]

    @property
    def service(self) -> str:
        """The short name of the service (`spotify`), from its server's host."""
        servers = self.document.plain.get("servers") or [{"url": ""}]
        host = str(servers[0].get("url", "")).split("//")[-1].split("/")[0].split(".")
        return host[-2] if len(host) > 1 else "mock"

    def _plain(self, shape: Shape, name: str, key: tuple[object, ...], depth: int) -> Json:
        changed = self.entities.changes.facts
        if (self.asked.context, name) in changed and self.asked.context:
            return changed[self.asked.context, name]
        if shape.items is not None:
            return self._plain_list(shape, name, key, depth)
        if shape.options:
            return self._plain(self.document.shape(shape.options[0]), name, key, depth)
        if shape.type == "object" or shape.properties:
            if depth > _DEEPEST:
                return {}
            return {
                inner: self._plain(self.document.shape(value), inner, (*key, inner), depth + 1)
                for inner, value in shape.properties.items()
            }
        return self._scalar(shape, name, *key)

    def _plain_list(self, shape: Shape, name: str, key: tuple[object, ...], depth: int) -> list[Json]:
        item = self.document.shape(shape.items)
        if item.type == "object" and not item.properties:
            return []
        count = 1 + draw(self.entities.seed, *key) % 3
        return [self._plain(item, name, (*key, number), depth + 1) for number in range(count)]


class _Absent:
    """Nothing to show, where None would be a value."""


_ABSENT: Any = _Absent()
