"""What writes do: make and change entities, put them into collections, and act on a state such as a player."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from protocols.jsontypes import Json, JsonObject
from toolflow_bench.restbench.entities import Entity
from toolflow_bench.restbench.listing import Asked, role_of
from toolflow_bench.restbench.render import Renderer
from toolflow_bench.restbench.words import LABELS, is_parameter, singular

_SWITCHES: dict[str, tuple[str, bool]] = {
    **dict.fromkeys(("pause", "stop"), ("is_playing", False)),
    **dict.fromkeys(("play", "resume", "start"), ("is_playing", True)),
}
_STEPS = {"next": 1, "skip": 1, "previous": -1}


class Refused(Exception):
    """An answer other than success: HTTP `status`, and what was wrong in one sentence."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(status, detail)
        self.status, self.detail = status, detail


class Writer:
    """One writing request."""

    def __init__(self, renderer: Renderer, asked: Asked, body: JsonObject) -> None:
        self.renderer, self.asked, self.body = renderer, asked, body
        self.entities, self.kinds, self.document = renderer.entities, renderer.kinds, renderer.document

    def answer(self) -> Json:
        """Do it and say what the operation says of it.

        Raises:
            Refused: an id is unknown or of another kind, or there is nothing to write.
        """
        operation, owner = self.asked.operation, self.asked.owner
        made = self.kinds.answered(operation, operation.response)
        if is_parameter(operation.segments[-1]) and owner is not None:
            self._change(owner)
        elif made and operation.method == "POST":
            return self.renderer.entity(self._make(made, owner), operation.response, 0)
        elif owner is not None and (collection := self._collection()):
            self._collect(owner, *collection)
        elif self.asked.context:
            self._act()
        return self.renderer.answer() if operation.response else {}

    def _change(self, entity: Entity) -> None:
        if self.asked.operation.method == "DELETE":
            self.entities.changes.deleted.add(entity)
            return
        for name, value in {**self.asked.arguments, **self.body}.items():
            self.entities.changes.facts[entity, name] = value

    def _make(self, kind: str, owner: Entity | None) -> Entity:
        label = next((str(self.body[name]) for name in LABELS if self.body.get(name)), f"New {kind}")
        entity = self.entities.make(kind, label, parents={owner.kind: owner} if owner else {})
        self._change(entity)
        if owner is not None and (kind, owner.kind) not in self.kinds.single:
            self.entities.add(owner, kind, "", [entity])
        return entity

    def _collection(self) -> tuple[str, str] | None:
        """(kind, role) of the list that reading the same path shows."""
        reading = self.document.operations.get(f"GET {self.asked.operation.path}")
        if reading is None:
            return None
        asked = Asked(
            operation=reading,
            arguments={},
            owner=self.asked.owner,
            at_home=self.asked.at_home,
            kinds=self.asked.kinds,
            context=self.asked.context,
        )
        found = list(Renderer(self.document, self.kinds, self.entities, asked).lists(reading.response))
        wanted = [pair for pair in found if pair[0] in self.asked.kinds] or found
        return (wanted[0][0], role_of(asked, self.asked.owner, *wanted[0])) if wanted else None

    def _collect(self, owner: Entity, kind: str, role: str) -> None:
        chosen = self._named(kind)
        if not chosen:
            raise Refused(400, f"no {kind} is named; give its id.")
        if self.asked.operation.method == "DELETE":
            self.entities.remove(owner, kind, role, chosen)
        else:
            # What is put into a library is its newest entry; what is posted to a list comes last.
            self.entities.add(owner, kind, role, chosen, first=self.asked.operation.method == "PUT")

    def _named(self, kind: str) -> list[Entity]:
        """The entities that the arguments name, each checked; those of another kind that is asked for are left out."""
        found: list[Entity] = []
        for name, text in _references({**self.asked.arguments, **self.body}):
            entity = self.entities.find(text.rsplit(":", 1)[-1].rsplit("/", 1)[-1])
            if entity is None:
                raise Refused(404, f"there is nothing with the id {text!r}.")
            other = singular(name.rsplit("_", 1)[0]) if "_" in name else ""
            if kind and entity.kind != kind and other not in ("", kind):
                continue  # device_id beside the uri of a track
            if kind and entity.kind != kind:
                raise Refused(
                    400, f"{text!r} is the id of something of kind {entity.kind!r}; one of {kind!r} is wanted."
                )
            found.append(entity)
        return found

    def _act(self) -> None:
        """An action on a state: its arguments set what they name, and its own name may say more."""
        action, context = self.asked.operation.segments[-1], self.asked.context
        changes = self.entities.changes
        reading = self.document.operations[f"GET {context}"]
        shown = self.document.shape(reading.response).properties
        if action in _SWITCHES and _SWITCHES[action][0] in shown:
            changes.facts[context, _SWITCHES[action][0]] = _SWITCHES[action][1]
        held = {name: self.kinds.options(value, name=name) for name, value in shown.items()}
        playing = [kind for pairs in held.values() for kind, _ in pairs if kind in self.kinds.of_paths]
        for kind in playing[:1]:
            self._move(kind, _STEPS.get(action, 0))
        for name, value in {**self.asked.arguments, **self.body}.items():
            for key in (name, f"{action}_{name}"):
                if key in shown:
                    changes.facts[context, key] = value
                for kind in {kind for pairs in held.values() for kind, _ in pairs}:
                    schema = self.kinds.properties.get(kind, {}).get(key)
                    if schema is not None:
                        whole = self.document.shape(schema).type == "integer" and str(value).isdecimal()
                        typed = int(str(value)) if whole else value
                        changes.facts[self.renderer.current(kind), key] = typed

    def _move(self, kind: str, step: int) -> None:
        """What is current: the first thing named, or what comes next in the queue or in the list of all."""
        changes, context = self.entities.changes, self.asked.context
        if named := self._named(""):
            first = named[0]
            chosen = [first] if first.kind == kind else self.entities.members(first, kind)
            if chosen:
                changes.current[context, kind] = chosen[0]
            return
        if not step:
            return
        owner, now = self.asked.owner, self.renderer.current(kind)
        queue = self.entities.members(owner, kind, "queue") if owner and step > 0 else []
        if owner and queue:
            changes.current[context, kind] = queue[0]
            self.entities.remove(owner, kind, "queue", queue[:1])
            return
        everything = self.entities.members(None, kind, context)
        place = everything.index(now) if now in everything else 0
        changes.current[context, kind] = everything[(place + step) % len(everything)]


def _references(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every id and uri in arguments, with the name that it stands under; lists may be joined by commas."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _references(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from _references(part, name)
    elif isinstance(value, str | int) and name.rsplit("_", 1)[-1].lower() in ("id", "ids", "uri", "uris"):
        yield from ((name, text.strip()) for text in str(value).split(",") if text.strip() and name != "snapshot_id")
