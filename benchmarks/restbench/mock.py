"""The mock of one API: things with stable ids, answers made of response schemas, and writes that show in reads.

It reads a specification and has no rule for any task. Everything follows from the seed, and from what was searched for
and written since `reset`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.restbench.kinds import GENERIC, LABELS, Kinds, Operation, draw, label, scalar, singular, words
from protocols.errors import ToolError
from protocols.jsontypes import Json
from protocols.toolbox import Toolbox

POPULATION, _SHARE, _PARTS = 60, 5, 8
"""Things of each kind at first; of how many of another kind one is related; numbered parts of a whole."""
_PAGE, _INNER, _DEEPEST = 20, 3, 5
"""Entries of a page, entries of a list within an entry, and levels of things within things."""
_REFERENCE = re.compile(r"(.*_)?(ids?|uris?)")


@dataclass(frozen=True, slots=True, eq=False)
class Entity:
    """One thing that has an id. `parents` are what it belongs to, by kind; `number` is a part's place in its whole.
    Nothing belongs to a `fresh` one, made by a write, but what is added.
    """

    id: int | str
    kind: str
    label: str
    parents: Mapping[str, Entity] = field(default_factory=dict)
    number: int | None = None
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class _Request:
    """An operation, its arguments by name, the thing that its path names last, and the kinds that arguments name.

    `context` is the path of the state that it belongs to (`/me/player`).
    """

    operation: Operation
    arguments: Mapping[str, Json]
    owner: Entity | None
    kinds: tuple[str, ...]
    context: str


class Mock:
    """Answers of one specification. `names` gives what the account has by kind, `state` the path of what the account
    does now, and `facts` what it says there.
    """

    def __init__(
        self,
        tools: Toolbox,
        *,
        seed: int = 0,
        names: Mapping[str, Sequence[str]] | None = None,
        state: str = "",
        facts: Mapping[str, Json] | None = None,
    ) -> None:
        self.kinds, self.seed = Kinds(tools), seed
        self._names, self._state, self._preset = names or {}, state, facts or {}
        self.reset()

    def reset(self) -> None:
        """Forget every search and every write."""
        self.entities: dict[str, Entity] = {}
        self._populations: dict[str, list[Entity]] = {}
        self._lists: dict[tuple[Entity | None, str, str], tuple[list[Entity], set[Entity]]] = {}
        self._facts: dict[tuple[Entity | str, str], Json] = {(self._state, k): v for k, v in self._preset.items()}
        self._current: dict[str, Entity] = {}
        self._me = {home: self.population(kind)[0] for home, kind in self.kinds.homes.items()}
        for kind, names in self._names.items():
            for number, name in enumerate(names):
                mine = {me.kind: me for me in self._me.values()}
                self.population(kind).insert(number, self._new(kind, name, "preset", number, parents=mine))

    def answer(self, operation: Operation, arguments: Mapping[str, Json]) -> Json:
        """What the operation answers.

        Raises:
            ToolError: 404 for an id that nothing gave, 400 for an argument that is missing or of another kind.
        """
        for name in operation.tool.protocol.required:
            if arguments.get(name) in (None, ""):
                raise ToolError(400, f"the argument {name!r} is missing; give it.")
        owner, context = (
            self._owner(operation, arguments),
            self._state and f"{operation.path}/".startswith(f"{self._state}/"),
        )
        request = _Request(
            operation, arguments, owner, self._named_kinds(operation, arguments), self._state if context else ""
        )
        kind = self.kinds.answered(operation)
        if operation.method != "GET" and (made := self._write(request, kind)) is not None:
            owner = made
        elif kind and (owner is None or owner.kind != kind):
            owner = self._members(None, kind, operation.path)[0]
        return self._object(request, operation.response, owner, 0, thing=bool(kind))

    def _named_kinds(self, operation: Operation, arguments: Mapping[str, Json]) -> tuple[str, ...]:
        """Kinds that are the value of an argument with fixed choices (`type=artist`)."""
        found: list[str] = []
        for name, schema in operation.tool.protocol.parameters.items():
            if (given := arguments.get(name)) and (schema.get("enum") or schema.get("items", {}).get("enum")):
                found += [singular(str(one).strip()) for one in (given if isinstance(given, list) else [given])]
        return tuple(kind for kind in found if kind in self.kinds.features)

    # things

    def population(self, kind: str) -> list[Entity]:
        """Every thing of a kind: those searched for and made first."""
        if kind not in self._populations:
            self._populations[kind] = [self._new(kind, label(self.seed, kind, n), n) for n in range(POPULATION)]
        return self._populations[kind]

    def _new(self, kind: str, name: str, *key: object, **more: Any) -> Entity:
        number = draw(self.seed, "id", kind, *key)
        identifier: int | str = 100_000 + number % 900_000_000
        if not self.kinds.integer_ids.get(kind, False):
            signs = string.digits + string.ascii_letters
            identifier = "".join(signs[draw(number, place) % len(signs)] for place in range(22))
        return self.entities.setdefault(str(identifier), Entity(identifier, kind, name, **more))

    def _label(self, entity: Entity) -> str:
        return str(next((text for name in LABELS if (text := self._facts.get((entity, name)))), entity.label))

    def _search(self, kind: str, text: str) -> list[Entity]:
        """Things whose name holds `text`; one that is called so comes first, and is made if need be."""
        filters = dict(re.findall(rf"\b({'|'.join(self.kinds.all)}):\s*(.*?)(?=\s+\w+:|$)", text))
        free = re.sub(r"\b\w+:\s*(.*?)(?=\s+\w+:|$)", "", text) if filters else text
        if not (wanted := filters.get(kind, free).strip(" \"'")) and filters:
            other, name = next(iter(filters.items()))  # artist:Jay Chou, among tracks
            return self._members(self._search(other, name)[0], kind, "")
        there = self.population(kind)
        found = [one for one in there if wanted.casefold() in self._label(one).casefold()]
        exact = [one for one in found if self._label(one).casefold() == wanted.casefold()]
        if not exact:
            exact = [self._new(kind, wanted, "searched", wanted.casefold())]
            there.insert(0, exact[0])
        return list(dict.fromkeys([*exact, *found]))

    def _members(self, owner: Entity | None, kind: str, role: str) -> list[Entity]:
        """What of `kind` belongs to `owner` (None: to everybody), after all writes; `role` tells cast from crew.

        Two things are related or not, from whichever side one looks.
        """
        if owner is not None and kind in self.kinds.parts and kind != owner.kind:
            whole = owner if self.kinds.parts[kind] == owner.kind else self._part(owner, self.kinds.parts[kind], _PARTS)
            return [self._part(whole, kind, number) for number in range(1, _PARTS + 1)]
        added, removed = self._lists.get((owner, kind, role), ([], set()))
        there, base = self.population(kind), []
        if owner is None:
            base = sorted(there, key=lambda one: (not one.fresh, draw(self.seed, role, one.id)))
        elif not owner.fresh:
            own = [one for one in there if owner in one.parents.values() and not one.fresh]
            known = (
                there[-POPULATION:] if owner in self._me.values() else there
            )  # nobody has saved what was searched for
            keys = {one: sorted((str(owner.id), str(one.id))) for one in known if one is not owner and not one.fresh}
            base = own + [one for one, key in keys.items() if draw(self.seed, role, *key) % _SHARE == 0]
        return [one for one in dict.fromkeys([*added, *base]) if one not in removed]

    def _one(self, entity: Entity, kind: str) -> Entity:
        """The one of `kind` that something belongs to or names."""
        if kind in entity.parents:
            return entity.parents[kind]
        found = self._members(entity, kind, "") or self.population(kind)
        return found[-1] if kind in self.kinds.parts else found[0]

    def _part(self, whole: Entity, kind: str, number: int) -> Entity:
        return self._new(kind, f"{kind.title()} {number}", whole.id, number, parents={whole.kind: whole}, number=number)

    def _owner(self, operation: Operation, arguments: Mapping[str, Json]) -> Entity | None:
        """The last thing that the path names, that of a home (`/me`) included."""
        owner = next((me for home, me in self._me.items() if f"{operation.path}/".startswith(f"{home}/")), None)
        for part in operation.segments:
            if (kind := self.kinds.parameters.get((operation.path, part[1:-1]))) is None:
                continue
            text = str(arguments.get(part[1:-1]))
            if kind in self.kinds.parts and owner is not None:
                if not text.isdecimal() or not 1 <= int(text) <= _PARTS:
                    raise ToolError(404, f"there is no {kind} {text!r}; it has 1 to {_PARTS}.")
                owner = self._part(owner, kind, int(text))
            elif (owner := self.entities.get(text)) is None or owner.kind != kind:
                raise ToolError(404, f"there is no {kind} with the id {text!r}.")
        return owner

    # answers

    def _object(
        self, request: _Request, schema: Any, owner: Entity | None, depth: int, *, thing: bool
    ) -> dict[str, Json]:
        """An object of an answer: a `thing` (`owner`), or lists with their pages, other things, and plain values."""
        shown: dict[str, Any] = {}
        info: Mapping[str, Json] = {}
        properties: Mapping[str, Any] = schema.get("properties", {})
        for name, value in properties.items():
            if entries := self._entries(request, name, value):
                if depth >= _DEEPEST:
                    continue
                shown[name], info = self._list(request, entries, owner, name, depth, thing=thing)
        for name, value in properties.items():
            if name in shown or (depth >= _DEEPEST and self.kinds.options(value, name)):
                continue
            if name in info and not thing:
                shown[name] = "" if info[name] is None and value.get("type") == "string" else info[name]
            elif (request.context, name) in self._facts and request.context:
                shown[name] = self._facts[request.context, name]
            elif name not in LABELS and (pairs := self.kinds.options(value, name, request.operation)):
                kind, one = pairs[0]
                other = self._one(owner, kind) if owner and thing else self._playing(request.context, kind)
                shown[name] = self._object(request, one, other, depth + 1, thing=True)
            elif lists := self._kinds_within(request, value):
                if thing or not request.kinds or lists & {*request.kinds} or owner in self._me.values():
                    shown[name] = self._object(request, value, owner, depth + 1, thing=False)
            elif owner is not None and (thing or name == "id"):
                shown[name] = self._fact(owner, name, value)
            else:
                shown[name] = self._plain(value, name, request.context or request.operation.path)
        return shown

    def _kinds_within(self, request: _Request, schema: Any) -> set[str]:
        parts = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
        return {kind for name, value in parts.items() for kind, *_ in self._entries(request, name, value)}

    def _fact(self, entity: Entity, name: str, schema: Any) -> Json:
        """A plain property of a thing."""
        if (entity, name) in self._facts:
            return self._facts[entity, name]
        kind, counted = name.removesuffix("_id"), words(name.removeprefix("number_of_").removesuffix("_count"))
        if name == "id":
            return str(entity.id) if schema.get("type") == "string" else entity.id
        if name in LABELS:
            return self._label(entity)
        if name == "uri":
            return f"spotify:{entity.kind}:{entity.id}"
        if name in ("type", "media_type") and entity.kind in schema.get("enum", (entity.kind,)):
            return entity.kind
        if entity.number is not None and name in (f"{entity.kind}_number", "number"):
            return entity.number
        if name.startswith("number_of_") and counted[-1] in self.kinds.parts:
            return _PARTS
        if kind != name and kind in self.kinds.all and kind != entity.kind:
            return self._one(entity, kind).id
        known = self.kinds.features.get(entity.kind, {}).get(name, schema)  # one value wherever it is shown
        types = [known.get("type"), schema.get("type")]
        alike = types[0] == types[1] or all(one in ("integer", "number") for one in types)
        return self._plain(known if alike else schema, name, entity.id)

    def _plain(self, schema: Any, name: str, *key: object) -> Json:
        if "items" in schema:
            return [self._plain(schema["items"], name, *key, n) for n in range(1 + draw(*key, name) % 3)]
        if options := schema.get("oneOf") or schema.get("anyOf"):
            return self._plain(options[0], name, *key)
        if "properties" in schema or schema.get("type") == "object":
            return {
                inner: self._plain(value, inner, *key, name) for inner, value in schema.get("properties", {}).items()
            }
        return scalar(schema, name, self.seed, *key)

    def _entries(self, request: _Request, name: str, schema: Any) -> list[tuple[str, Any, str]]:
        """What a list is of: (kind, schema of an entry, the entry's property that holds the thing if it wraps it)."""
        if not isinstance(items := schema.get("items"), Mapping):
            return []
        if pairs := self.kinds.options(items, name, request.operation):
            if "{media_type}" in request.operation.path and request.kinds:
                return [(request.kinds[0], items, "")]  # /trending/tv: the schema knows movies only
            return [(kind, one, "") for kind, one in pairs]
        inner = next((key for key in items.get("properties", {}) if key in self.kinds.all), "")
        held = items.get("properties", {}).get(inner, {})
        return [(kind, items, inner) for kind, _ in self.kinds.options(held, inner)[:1]]

    def _role(self, request: _Request, owner: Entity | None, kind: str, name: str) -> str:
        """What tells a list from others between the same kinds: its own name, or the path's where it belongs to nobody,
        to the account, or to something of the same kind (`/movie/popular`, `/movie/{movie_id}/similar`).
        """
        last = request.operation.fixed[-1]
        if name not in GENERIC and kind not in words(name) and name != last:
            return name
        alone = owner is None or owner in self._me.values() or owner.kind == kind
        return last if alone and words(last)[-1] != kind else ""

    def _list(
        self,
        request: _Request,
        entries: list[tuple[str, Any, str]],
        owner: Entity | None,
        name: str,
        depth: int,
        *,
        thing: bool,
    ) -> tuple[list[Json], Mapping[str, Json]]:
        """A list of things, a page of it where the operation has pages, and what stands beside one."""
        chosen = [entry for entry in entries if entry[0] in request.kinds] or entries
        arguments = request.arguments if depth < 2 else {}
        text = next((str(arguments[key]) for key in ("query", "q") if arguments.get(key)), "")
        found: list[Entity] = []
        for kind, *_ in chosen:
            found += (
                self._search(kind, text) if text else self._members(owner, kind, self._role(request, owner, kind, name))
            )
        size, start = _number(arguments.get("limit"), _PAGE), _number(arguments.get("offset"), 0)
        start = (_number(arguments["page"], 1) - 1) * size if "page" in arguments else start
        whole = (
            owner is not None
            and depth == 0
            and not request.operation.tool.protocol.parameters.keys() & {"page", "limit"}
        )
        most = len(found) if whole else _INNER if thing and depth else size
        shown, schemas = found[start : start + most], {kind: (one, inner) for kind, one, inner in chosen}
        after = f"{request.operation.path}?offset={start + size}&limit={size}" if start + size < len(found) else None
        info: dict[str, Json] = {
            **dict.fromkeys(("total", "total_results", "total_count", "count"), len(found)),
            **dict.fromkeys(("total_pages", "pages"), -(-len(found) // max(size, 1))),
            "page": start // max(size, 1) + 1,
            "limit": size,
            "offset": start,
            "next": after,
            "previous": None,
        }
        return [self._entry(request, one, *schemas[one.kind], owner, depth) for one in shown], info

    def _entry(self, request: _Request, one: Entity, schema: Any, inner: str, owner: Entity | None, depth: int) -> Json:
        if not inner:
            return self._object(request, schema, one, depth + 1, thing=True)
        held = self.kinds.options(schema["properties"][inner], inner)[0][1]
        others = {"properties": {key: value for key, value in schema["properties"].items() if key != inner}}
        beside = self._object(request, others, owner or one, depth + 2, thing=True)
        return {**beside, inner: self._object(request, held, one, depth + 1, thing=True)}

    def _playing(self, context: str, kind: str) -> Entity:
        return self._current.get(kind) or self._members(None, kind, context)[0]

    # writes

    def _write(self, request: _Request, made: str) -> Entity | None:
        """Do what is asked; gives what was made, if that is what the operation answers."""
        operation, owner = request.operation, request.owner
        body = request.arguments.get("body")
        given = {**request.arguments, **(body if isinstance(body, dict) else {})}
        if operation.ends_in_parameter() and owner is not None:
            self._facts |= {(owner, name): value for name, value in given.items()}
        elif made and operation.method == "POST":
            name = next((str(given[name]) for name in LABELS if given.get(name)), f"New {made}")
            parents = {owner.kind: owner} if owner else {}
            entity = self._new(made, name, "made", len(self.entities), parents=parents, fresh=True)
            self._facts |= {(entity, key): value for key, value in given.items()}
            self.population(made).insert(0, entity)
            self._lists.setdefault((owner, made, ""), ([], set()))[0].insert(0, entity)
            return entity
        elif owner is not None and (listed := self.listed(operation, request.kinds)):
            self._collect(request, given, owner, *listed)
        elif request.context:
            self._act(request, given)
        return None

    def listed(self, operation: Operation, named: Sequence[str] = ()) -> tuple[str, str] | None:
        """(kind, list's name) of what reading the same path lists."""
        if (reading := self.kinds.operations.get(f"GET {operation.path}")) is None:
            return None
        request = _Request(reading, {}, None, (), "")
        inner = [part for part in reading.response.get("properties", {}).values() if "properties" in part]
        found = [
            (kind, name)
            for schema in (reading.response, *inner)
            for name, value in schema.get("properties", {}).items()
            for kind, *_ in self._entries(request, name, value)
        ]
        return next((pair for pair in found if pair[0] in named), found[0] if found else None)

    def _collect(self, request: _Request, given: Mapping[str, Json], owner: Entity, kind: str, name: str) -> None:
        """Put what the arguments name into a list, or take it out."""
        if not (chosen := self._named(given, kind)):
            raise ToolError(400, f"no {kind} is named; give its id.")
        reading = _Request(self.kinds.operations[f"GET {request.operation.path}"], {}, owner, (), "")
        added, removed = self._lists.setdefault((owner, kind, self._role(reading, owner, kind, name)), ([], set()))
        kept = [one for one in added if one not in chosen]
        if request.operation.method == "DELETE":
            added[:] = kept
            removed.update(chosen)
        else:  # what is put into a library is its newest entry; what is posted to a list comes last
            added[:] = [*chosen, *kept] if request.operation.method == "PUT" else [*kept, *chosen]
            removed.difference_update(chosen)

    def _named(self, given: Mapping[str, Json], kind: str = "") -> list[Entity]:
        """The things that arguments name, each checked."""
        found: list[Entity] = []
        for name, text in _references(given):
            if (entity := self.entities.get(text.rsplit(":", 1)[-1].rsplit("/", 1)[-1])) is None:
                raise ToolError(404, f"there is nothing with the id {text!r}.")
            if not kind or entity.kind == kind:
                found.append(entity)
            elif "_" not in name:  # else a device_id, beside the uri of a track
                raise ToolError(400, f"{text!r} is the id of a {entity.kind!r}; one of {kind!r} is wanted.")
        return found

    def _act(self, request: _Request, given: Mapping[str, Json]) -> None:
        """An action on the state: its arguments set what they name, and its own name may say more."""
        action, context = request.operation.segments[-1], request.context
        shown = self.kinds.operations[f"GET {context}"].response.get("properties", {})
        if "is_playing" in shown and action in ("play", "pause"):
            self._facts[context, "is_playing"] = action == "play"
        things = {kind: schema for key, part in shown.items() for kind, schema in self.kinds.options(part, key)}
        for name, value in given.items():
            self._facts |= {(context, key): value for key in {name, f"{action}_{name}"} & shown.keys()}
            for kind, schema in things.items():
                if name in schema.get("properties", {}) and kind not in self.kinds.all:
                    self._facts[self._playing(context, kind), name] = value
        kind = next(kind for kind in things if kind in self.kinds.all)
        if named := self._named(given):
            self._current[kind] = named[0] if named[0].kind == kind else self._members(named[0], kind, "")[0]
        elif step := {"next": 1, "previous": -1}.get(action):
            everything = self._members(None, kind, context)
            queue = self._lists.get((request.owner, kind, "queue"), ([], set()))[0]
            place = everything.index(now) if (now := self._playing(context, kind)) in everything else 0
            self._current[kind] = queue.pop(0) if queue and step > 0 else everything[(place + step) % len(everything)]


def _references(value: Json, name: str = "") -> Iterator[tuple[str, str]]:
    """Every id and uri in arguments, with the name that it stands under; lists may be joined by commas."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else ((name, part) for part in value):
            yield from _references(part, key)
    elif isinstance(value, str | int) and _REFERENCE.fullmatch(name) and name != "snapshot_id":
        yield from ((name, text.strip()) for text in str(value).split(",") if text.strip())


def _number(value: Json, default: int) -> int:
    return int(str(value)) if str(value).isdecimal() else default
