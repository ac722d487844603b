"""Which places of a JSON value hold a secret: those that its schema marks, and those whose names say so.

A schema marks a place by `writeOnly: true`, `format: password` or `x-atc-secret: true`; `x-atc-secret: false` says that
a place is none, whatever its name. Names count also where a schema is missing or open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from protocols.jsontypes import Json, JsonObject
from protocols.schema import resolve, types
from protocols.secret_names import Kind, fits, kind_of

MARK = "x-atc-secret"
Change = Callable[[Json], Json]

_COMBINED = ("allOf", "anyOf", "oneOf", "if", "then", "else")
_MOST_VIEWS = 500  # schemas that describe one place at once
_CARRIERS = frozenset({"current", "data", "plaintext", "raw", "text", "value"})
_NAMING = ("name", "key", "variable", "var", "header", "field", "param")
_MAPS = frozenset({"cookies", "passwords", "secrets"})
_DEEPEST = 8
_SAYS_SECRET = re.compile(
    r"\b(api[ -]?key|password|credentials?|secret|(access|auth\w*|bearer) token)\b", re.IGNORECASE
)


def covered(value: Json, schema: JsonObject | None, cover: Change, *, rest: Change | None = None) -> Json:
    """`value` with `cover(leaf)` for each secret string or number, and `rest(…)` for each other leaf and each key.

    Visited in the value's order.
    """
    return _Walk(cover, rest or _same).node(value, _Place((schema,), schema or {}), "", marked=False)


def secret_paths(schema: JsonObject | None) -> tuple[str, ...]:
    """The places of a schema whose values are kept secret whatever they are: `user.password`, `tokens[].value`.

    A place whose name has other uses too (`key`) is judged by its value and is not among them.
    """
    return tuple(dict.fromkeys(_paths(_Place((schema,), schema or {}), "", "", marked=False, depth=0)))


def names_secrets(name: str) -> bool:
    """Whether what stands under a name may be judged a secret for it, or for a name beside or above it."""
    return kind_of(name) is not None or name.lower() == "value" or name.lower() in _MAPS


def marks_secrets(schema: Json) -> bool:
    """Whether a schema marks any place as secret."""
    if isinstance(schema, Mapping):
        if schema.get("writeOnly") is True or schema.get("format") == "password" or schema.get(MARK) is True:
            return True
        return any(map(marks_secrets, schema.values()))
    return isinstance(schema, list) and any(map(marks_secrets, schema))


class _Place:
    """One place of a value: all schemas that describe it, and what they say. Those of its parts are made when met."""

    def __init__(self, schemas: Sequence[Any], root: JsonObject) -> None:
        self.root = root
        self.views = tuple(islice(_flat(schemas, root), _MOST_VIEWS))
        self.said = _said(self.views)
        self.listed = any("enum" in view or "const" in view for view in self.views)
        said = (text for view in self.views if isinstance(text := view.get("description"), str))
        self._called_secret = any(map(_SAYS_SECRET.search, said))
        self._parts: dict[str | int, _Place] = {}
        self._longest = max((len(view.get("prefixItems", ())) for view in self.views), default=0)

    def child(self, key: str) -> _Place:
        """The place under `key` of an object."""
        return self._part(key, _children) if self.views else self

    def item(self, index: int) -> _Place:
        """The place of a list's element."""
        return self._part(min(index, self._longest), _items) if self.views else self

    def kind(self, name: str) -> Kind | None:
        """What kind of secret it holds when it is called `name`."""
        kind = kind_of(name)
        return "text" if kind == "random" and self._called_secret else kind

    def _part(self, key: Any, find: Callable[[Sequence[JsonObject], Any], Sequence[Any]]) -> _Place:
        if key not in self._parts:
            self._parts[key] = _Place(find(self.views, key), self.root)
        return self._parts[key]


class _Walk:
    def __init__(self, cover: Change, rest: Change) -> None:
        self._cover, self._rest = cover, rest

    def node(self, value: Json, place: _Place, name: str, *, marked: bool) -> Json:
        """A value whose place is called `name`; `marked` when a schema above it says that all in it is secret."""
        said = place.said
        inside = marked if said is None else said
        if isinstance(value, Mapping):
            return {
                self._rest(key): self.node(item, place.child(key), _name(key, value, name), marked=inside)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            inner = "" if said is False else name
            return [self.node(item, place.item(i), inner, marked=inside) for i, item in enumerate(value)]
        if value is None or isinstance(value, bool) or value == "" or said is False:
            return self._rest(value)
        # A value that the document lists is known to all who read it.
        named = name and not place.listed and (kind := place.kind(name)) is not None and fits(kind, value)
        return self._cover(value) if inside or named else self._rest(value)


def _paths(place: _Place, path: str, name: str, *, marked: bool, depth: int) -> Iterator[str]:
    views, said = place.views, place.said
    marked = marked if said is None else said
    if depth < _DEEPEST:
        for key in dict.fromkeys(key for view in views for key in view.get("properties", ())):
            yield from _paths(place.child(key), f"{path}.{key}".lstrip("."), key, marked=marked, depth=depth + 1)
        if (elements := place.item(0)).views:
            yield from _paths(elements, f"{path}[]", name, marked=marked, depth=depth + 1)
        if (rest := place.child("*")).views and "*" not in views[0].get("properties", ()):
            yield from _paths(rest, f"{path}.*".lstrip("."), "", marked=marked, depth=depth + 1)
    if not path or said is False or any(map(_holds_others, views)):
        return
    if marked or (place.kind(name) in ("text", "number") and not any(map(_is_flag, views))):
        yield path


def _flat(schemas: Sequence[Any], root: JsonObject, above: frozenset[str] = frozenset()) -> Iterator[JsonObject]:
    """The schemas, references followed, and after each those that it combines."""
    for schema in schemas:
        ref = schema.get("$ref") if isinstance(schema, Mapping) else None
        if ref in above:
            continue
        view = resolve(schema, root)
        below = above | {ref} if isinstance(ref, str) else above
        if view:
            yield view
        for keyword in _COMBINED:
            parts = view.get(keyword, ())
            yield from _flat(parts if isinstance(parts, list) else [parts] if parts else [], root, below)


def _said(views: Sequence[JsonObject]) -> bool | None:
    """What the schemas declare of a place; None where they declare nothing."""
    marks = [view[MARK] for view in views if isinstance(view.get(MARK), bool)]
    if marks:
        return any(marks)
    return True if any(v.get("writeOnly") is True or v.get("format") == "password" for v in views) else None


def _name(key: str, beside: JsonObject, above: str) -> str:
    """By what name the value under `key` is to be judged: its own, or that which it is a carrier of.

    So `{"token": {"value": …}}`, `{"name": "Authorization", "value": …}` and `{"secrets": {"DB_URL": …}}`.
    """
    if kind_of(key) is not None:
        return key
    if key.lower() == "value" and (named := next(filter(_names_secret, map(beside.get, _NAMING)), None)):
        return str(named)
    if key.lower() in _CARRIERS and kind_of(above) is not None:
        return above
    if above.lower() in _MAPS and all(isinstance(item, str) for item in beside.values()):
        return above
    return key


def _children(views: Sequence[JsonObject], key: str) -> tuple[Any, ...]:
    found: list[Any] = []
    for view in views:
        if key in view.get("properties", ()):
            found.append(view["properties"][key])
            continue
        # A pattern is not tried, since a foreign one may take forever: what it marks is marked for every other key.
        found += [*view.get("patternProperties", {}).values(), view.get("additionalProperties")]
    return tuple(part for part in found if isinstance(part, Mapping))


def _items(views: Sequence[JsonObject], index: int) -> tuple[Any, ...]:
    found = []
    for view in views:
        first = view.get("prefixItems", ())
        found.append(first[index] if index < len(first) else view.get("items"))
    return tuple(part for part in found if isinstance(part, Mapping))


def _names_secret(text: Json) -> bool:
    return isinstance(text, str) and re.fullmatch(r"[\w.\-]+", text) is not None and kind_of(text) is not None


def _holds_others(view: JsonObject) -> bool:
    return bool(view.keys() & {"properties", "items", "prefixItems"}) or isinstance(
        view.get("additionalProperties"), Mapping
    )


def _is_flag(view: JsonObject) -> bool:
    return "enum" in view or "const" in view or (bool(found := types(view)) and set(found) <= {"boolean", "null"})


def _same(value: Json) -> Json:
    return value
