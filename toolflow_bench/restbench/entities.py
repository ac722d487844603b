"""The world that a mock answers about: entities with stable ids and names, and how they belong together."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from protocols.jsontypes import Json
from toolflow_bench.restbench.chance import draw, labels
from toolflow_bench.restbench.kinds import Kinds
from toolflow_bench.restbench.words import LABELS

POPULATION = 60
"""Entities of each kind that are there before anything is searched for or written."""

CHILDREN = 5
"""How many things belong to one at least (tracks to an album), where each belongs to one only."""

_SHARE = 5  # of 5 entities of another kind, one is related: 12 of 60


@dataclass(frozen=True, slots=True, eq=False)
class Entity:
    """One thing that has an id. Two of the same id are the same."""

    id: int | str
    kind: str
    label: str
    parents: Mapping[str, Entity] = field(default_factory=dict)
    """What it belongs to, by kind, where that was fixed when it came to be."""
    number: int | None = None
    """Its place in its whole, for parts (a season)."""
    fresh: bool = False
    """Made by a write: nothing belongs to it but what is added."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entity) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)


@dataclass(slots=True)
class Changes:
    """What searches and writes have done since the last reset."""

    named: dict[str, list[Entity]] = field(default_factory=dict)
    """By kind: what was searched for, and what was made."""
    added: dict[tuple[Entity, str, str], list[Entity]] = field(default_factory=dict)
    """By (owner, kind, role): what stands after the others."""
    saved: dict[tuple[Entity, str, str], list[Entity]] = field(default_factory=dict)
    """Likewise: what stands before them, the latest first."""
    removed: dict[tuple[Entity, str, str], set[Entity]] = field(default_factory=dict)
    facts: dict[tuple[object, str], Json] = field(default_factory=dict)
    """(entity or path, property) → what was written."""
    current: dict[tuple[str, str], Entity] = field(default_factory=dict)
    """(path of the state, kind) → what is played, for instance."""
    deleted: set[Entity] = field(default_factory=set)


class Entities:
    """All entities of one mock. `preset` gives names, by kind, to the first things of the home's user.

    Everything depends on `seed` and on what was searched for and written since `reset`, never on the order of reads.
    """

    def __init__(self, kinds: Kinds, *, seed: int = 0, preset: Mapping[str, Sequence[str]] | None = None) -> None:
        self.kinds, self.seed, self.preset = kinds, seed, preset or {}
        self._base: dict[str, list[Entity]] = {}
        self._by_id: dict[str, Entity] = {}
        self._children: dict[tuple[Entity, str], list[Entity]] = {}
        self.changes = Changes()
        self.reset()

    def reset(self) -> None:
        """Back to the first state."""
        self._by_id = {str(entity.id): entity for base in self._base.values() for entity in base}
        self._children = {}
        self.changes = Changes()

    def find(self, identifier: object) -> Entity | None:
        """The entity with this id, of whatever kind."""
        entity = self._by_id.get(str(identifier))
        return None if entity in self.changes.deleted else entity

    def population(self, kind: str) -> list[Entity]:
        """Every entity of a kind that belongs to nothing alone: those searched for and made first."""
        if kind not in self._base:
            self._base[kind] = [self._settler(kind, number, name) for number, name in enumerate(self._names(kind))]
        everything = [*self.changes.named.get(kind, ()), *self._base[kind]]
        return [entity for entity in everything if entity not in self.changes.deleted]

    @cached_property
    def me(self) -> Mapping[str, Entity]:
        """The entity that each home (`/me`) stands for."""
        return {home: self.population(kind)[0] for home, kind in self.kinds.homes.items()}

    def make(self, kind: str, label: str, *, parents: Mapping[str, Entity] | None = None) -> Entity:
        """A new entity, by a write."""
        entity = self._new(kind, label, (kind, label, len(self._by_id)), parents=parents, fresh=True)
        self.changes.named.setdefault(kind, []).insert(0, entity)
        return entity

    def search(self, kind: str, text: str) -> list[Entity]:
        """Entities of a kind whose name holds `text`; one that is called so comes first, and is made if need be."""
        wanted = text.casefold().strip()
        found = [entity for entity in self.population(kind) if wanted in self.label(entity).casefold()]
        exact = [entity for entity in found if self.label(entity).casefold() == wanted]
        named = [entity for entity in found if entity in self.changes.named.get(kind, ())]
        if not exact and not named:
            entity = self._new(kind, text.strip(), (kind, wanted))
            self.changes.named.setdefault(kind, []).insert(0, entity)
            exact = [entity]
        return list(dict.fromkeys([*exact, *named, *found]))

    def label(self, entity: Entity) -> str:
        """What an entity is called now."""
        return str(next((text for name in LABELS if (text := self.changes.facts.get((entity, name)))), entity.label))

    def members(self, owner: Entity | None, kind: str, role: str = "") -> list[Entity]:
        """What of `kind` belongs to `owner` (None: to everybody), after all writes.

        `role` tells relations between the same kinds apart (cast, crew).
        """
        if owner is not None and kind in self.kinds.parts and kind != owner.kind:
            return self.parts(owner, kind)
        if owner is None:
            return sorted(
                self.population(kind), key=lambda entity: (not entity.fresh, draw(self.seed, role, entity.id))
            )
        owner = self.whole(owner)
        key = (owner, kind, role)
        added, saved = self.changes.added.get(key, []), self.changes.saved.get(key, [])
        gone = self.changes.removed.get(key, set())
        base = [] if owner.fresh else self._related(owner, kind, role)
        return [e for e in (*saved, *base, *added) if e not in gone and e not in self.changes.deleted]

    def add(self, owner: Entity, kind: str, role: str, entities: Sequence[Entity], *, first: bool = False) -> None:
        """Put `entities` into a relation, at its end or `first`; those that are there stay where they are."""
        key = (owner, kind, role)
        self.changes.removed.get(key, set()).difference_update(entities)
        there = self.members(owner, kind, role)
        new = [entity for entity in dict.fromkeys(entities) if entity not in there]
        place = self.changes.saved if first else self.changes.added
        known = place.get(key, [])
        place[key] = [*new, *known] if first else [*known, *new]

    def remove(self, owner: Entity, kind: str, role: str, entities: Sequence[Entity]) -> None:
        """Take `entities` out of a relation."""
        key = (owner, kind, role)
        for place in (self.changes.added, self.changes.saved):
            place[key] = [entity for entity in place.get(key, []) if entity not in entities]
        self.changes.removed.setdefault(key, set()).update(entities)

    def one(self, entity: Entity, kind: str) -> Entity | None:
        """The one of `kind` that something belongs to or names; None where there is none."""
        if kind in entity.parents:
            return entity.parents[kind]
        if kind == entity.kind:
            return None
        if kind in self.kinds.parts:
            return self.last_part(entity, kind)
        self.population(kind)
        return self._base[kind][draw(self.seed, entity.id, kind) % POPULATION]

    def parts(self, owner: Entity, kind: str) -> list[Entity]:
        """The numbered parts of a whole, through the parts between (episodes of a show: of its last season)."""
        between = self.kinds.parts[kind]
        if owner.kind != between:
            if between not in self.kinds.parts:
                return []
            inner = self.last_part(owner, between)
            return self.parts(inner, kind) if inner else []
        return [self.part(owner, kind, number) for number in range(1, self.count(owner, kind) + 1)]

    def last_part(self, owner: Entity, kind: str) -> Entity | None:
        """The newest part of a whole."""
        found = self.parts(owner, kind)
        return found[-1] if found else None

    def part(self, owner: Entity, kind: str, number: int) -> Entity:
        """One part by its number."""
        return self._new(kind, f"{kind.title()} {number}", (owner.id, kind, number), {owner.kind: owner}, number=number)

    def count(self, owner: Entity, kind: str) -> int:
        """How many parts of a kind there are, in all parts between."""
        between = self.kinds.parts[kind]
        if between != owner.kind:
            return (
                sum(self.count(part, kind) for part in self.parts(owner, between)) if between in self.kinds.parts else 0
            )
        least, spread = (24, 7) if between in self.kinds.parts else (5, 6)
        return least + draw(self.seed, owner.id, kind) % spread

    def link(self, kind: str, first: Entity, second: Entity | None) -> Entity:
        """What stands for the relation of two (a credit); the same from either side."""
        both = [first, self.whole(second)] if second else [first]
        pair = sorted(both, key=lambda entity: str(entity.id))
        parents = {entity.kind: entity for entity in pair}
        return self._new(kind, " / ".join(entity.label for entity in pair), (kind, *(e.id for e in pair)), parents)

    def whole(self, entity: Entity) -> Entity:
        """What a part is of, outermost."""
        while entity.kind in self.kinds.parts and entity.parents:
            entity = next(iter(entity.parents.values()))
        return entity

    def _related(self, owner: Entity, kind: str, role: str) -> list[Entity]:
        if (kind, owner.kind) in self.kinds.single:
            return self._belonging(owner, kind)
        if (owner.kind, kind) in self.kinds.single:
            one = self.one(owner, kind)
            return [one] if one else []
        # What a search has brought into the world is in nobody's library yet.
        unknown = self.changes.named.get(kind, ()) if owner in self.me.values() else ()
        there = [e for e in self.population(kind) if e != owner and not e.fresh and e not in unknown]
        found = [e for e in there if self._are_related(owner, e, role)]
        return sorted(found, key=lambda e: (owner not in e.parents.values(), draw(self.seed, owner.id, role, e.id)))

    def _names(self, kind: str) -> list[str]:
        given = list(self.preset.get(kind, ()))
        return [*given, *labels(POPULATION - len(given), self.seed, kind)]

    def _settler(self, kind: str, number: int, name: str) -> Entity:
        preset = number < len(self.preset.get(kind, ()))
        parents = {entity.kind: entity for entity in self.me.values()} if preset else {}
        return self._new(kind, name, (kind, number), parents)

    def _are_related(self, first: Entity, second: Entity, role: str) -> bool:
        if first in second.parents.values():
            return True
        low, high = sorted((str(first.id), str(second.id)))
        return draw(self.seed, role, low, high) % _SHARE == 0

    def _belonging(self, owner: Entity, kind: str) -> list[Entity]:
        there = [
            e
            for e in self.population(kind)
            if owner in e.parents.values() or (not e.fresh and self.one(e, owner.kind) == owner)
        ]
        key = (owner, kind)
        if key not in self._children:
            self._children[key] = [
                self._new(kind, label, (owner.id, kind, number), {owner.kind: owner})
                for number, label in enumerate(labels(max(CHILDREN - len(there), 0), self.seed, kind, owner.id))
            ]
        return [*there, *self._children[key]]

    def _new(
        self,
        kind: str,
        label: str,
        key: tuple[object, ...],
        parents: Mapping[str, Entity] | None = None,
        *,
        number: int | None = None,
        fresh: bool = False,
    ) -> Entity:
        identifier = self._identifier(kind, key)
        known = self._by_id.get(str(identifier))
        if known is not None:
            return known
        entity = Entity(identifier, kind, label, parents or {}, number, fresh)
        self._by_id[str(identifier)] = entity
        return entity

    def _identifier(self, kind: str, key: tuple[object, ...]) -> int | str:
        if self.kinds.integer_ids.get(kind, False):
            return 100_000 + draw(self.seed, "id", *key) % 900_000_000
        number = (
            draw(self.seed, "id", *key) * 2**80 + draw(self.seed, "more", *key) * 2**32 + draw("last", *key) % 2**32
        )
        signs = string.digits + string.ascii_letters
        text = ""
        for _ in range(22):
            number, rest = divmod(number, len(signs))
            text += signs[rest]
        return text
