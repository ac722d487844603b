"""The values of a call that must be clean: every leaf of every sensitive argument, however it is nested."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from atc.paths import KEY, Path, Step
from atc.taint.framed import decoded, parts, same_for_all, value_at
from atc.taint.marks import Sensitivity, acts, branches, by_shape, declared, guessed
from atc.taint.values import number
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ToolProtocol

_MAX_DEPTH = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One value of a sensitive argument, by the argument's original name and the steps that lead to it there.

    A name of a field that no schema knows is such a value too, since the program chose it: its last step is `KEY`.
    """

    argument: str
    path: Path
    value: Json
    kind: Sensitivity
    within: str | None = None
    """The text of the argument that holds the value, where it is a part of one."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """What holds at a place. `silent` is a declared `false`, under which nothing is guessed.

    `inherited`: the name of something around it was what the guess went by.
    """

    kind: Sensitivity | None = None
    declared: bool = False
    silent: bool = False
    inherited: bool = False


def sensitive_leaves(protocol: ToolProtocol, arguments: JsonObject) -> Iterator[Leaf]:
    """The leaves that must be clean; `arguments` by original name.

    A mark holds for all that is beneath it; a text is looked into where it is no leaf itself. `null` is never a leaf. A
    truth value is one, and a text without a number is an amount, beneath a declared mark alone. Amounts count on tools
    that do something.
    """
    root = protocol.input_schema
    free = root.get("additionalProperties", {})
    for name, value in arguments.items():
        schema = protocol.parameters.get(name, free)
        yield from _walk(_Place(name, (), name), value, [schema], root, _Mark(), protocol)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value stands. `name` is the nearest name: that of the field, or of the list that holds the value."""

    argument: str
    path: Path
    name: str
    within: str | None = None

    def below(self, step: Step, name: str | None = None) -> _Place:
        return _Place(self.argument, (*self.path, step), name or self.name, self.within)


def _walk(
    place: _Place, value: Json, schemas: list[Json], root: JsonObject, above: _Mark, protocol: ToolProtocol
) -> Iterator[Leaf]:
    if value is None or len(place.path) > _MAX_DEPTH:
        # What is nested deeper is no argument that anybody declared; it is looked at as a whole.
        if value is not None:
            yield from _leaf(place, json.dumps(value), replace(above, kind=above.kind or "command"), [], protocol)
        return
    here = [branch for schema in schemas for branch in branches(schema, root)]
    mark = _mark(place.name, here, above, protocol)
    if isinstance(value, Mapping):
        for key, inner in value.items():
            known = _of_key(key, here)
            if not known:
                yield from _text(place.below(KEY), key, [], root, mark, protocol, named=True)
            yield from _walk(place.below(key, key), inner, known or _free(here), root, mark, protocol)
    elif isinstance(value, list):
        found: list[Leaf] = []
        for index, inner in enumerate(value):
            found += _walk(place.below(index), inner, list(_of_item(index, here)), root, mark, protocol)
        yield from found
        texts = [inner for inner in value if isinstance(inner, str)]
        if len(texts) > 1 and mark.kind is None:  # whoever gets them may join them
            seen = {(leaf.kind, repr(leaf.value)) for leaf in found}
            joined = _framed(place, "".join(texts), mark, protocol)
            yield from (leaf for leaf in joined if (leaf.kind, repr(leaf.value)) not in seen)
    elif isinstance(value, str):
        yield from _text(place, value, here, root, mark, protocol)
    else:
        yield from _leaf(place, value, mark, here, protocol)


def _text(
    place: _Place,
    text: str,
    here: list[JsonObject],
    root: JsonObject,
    mark: _Mark,
    protocol: ToolProtocol,
    *,
    named: bool = False,
) -> Iterator[Leaf]:
    """The text as a leaf, or the leaves that it holds."""
    whole = list(_leaf(place, text, mark, here, protocol, named=named))
    yield from whole or _of_text(place, text, here, root, mark, protocol)


def _of_text(
    place: _Place, text: str, here: list[JsonObject], root: JsonObject, mark: _Mark, protocol: ToolProtocol
) -> Iterator[Leaf]:
    """What a text holds: JSON that every reader reads alike is walked, any other text is searched."""
    place = replace(place, within=place.within or text)
    if (held := same_for_all(text)) is not None:
        yield from _walk(place, held, [branch.get("contentSchema", {}) for branch in here], root, mark, protocol)
    else:
        yield from _framed(place, text, mark, protocol)


def _framed(place: _Place, text: str, mark: _Mark, protocol: ToolProtocol) -> Iterator[Leaf]:
    """Each value behind a sensitive name and each quoted address, however the text is framed or encoded."""
    if not (mark.silent or mark.declared):
        leaves = (leaf for form in decoded(text) for leaf in _of_form(place, form, mark, protocol))
        yield from {(leaf.path, leaf.kind, repr(leaf.value)): leaf for leaf in leaves}.values()


def _of_form(place: _Place, text: str, mark: _Mark, protocol: ToolProtocol) -> Iterator[Leaf]:
    around, done = place, 0
    for part in parts(text):
        if part.start < done:
            continue
        if part.after is None:
            yield from _leaf(around, part.text, _Mark(), [], protocol)
            continue
        around, named = place.below(part.text, part.text), _mark(part.text, [], mark, protocol)
        if named.kind is None:
            continue
        try:
            value, end = value_at(text, part.after)
        except ValueError:  # nobody can say where it ends: all that follows is judged as one value
            rest = text[part.after :].strip()
            yield Leaf(argument=place.argument, path=around.path, value=rest, kind=named.kind, within=place.within)
            return
        if isinstance(value, dict | list):
            done = end
            yield from _walk(around, value, [], {}, named, protocol)
        elif value is not None:
            yield from _leaf(around, value, named, [], protocol)


def _mark(name: str, here: list[JsonObject], above: _Mark, protocol: ToolProtocol) -> _Mark:
    said = declared(here)
    if said is False:
        return _Mark(silent=True)
    if said is not None:
        return _Mark(said, declared=True)
    if above.declared or above.silent:
        return above
    kind = guessed(name, here, protocol)
    return _Mark(kind) if kind is not None else _Mark(above.kind, inherited=True)


def _leaf(
    place: _Place, value: Json, mark: _Mark, here: list[JsonObject], protocol: ToolProtocol, *, named: bool = False
) -> Iterator[Leaf]:
    kind = mark.kind
    if not mark.declared:
        if isinstance(value, bool):
            return
        if any("enum" in branch or "const" in branch for branch in here):
            kind = None
        if kind == "amount" and isinstance(value, str) and (named or not _is_amount(value, mark)):
            kind = None
        if kind is None and isinstance(value, str) and not mark.silent:
            kind = by_shape(place.name, here, value, protocol)
    if kind is None or (kind == "amount" and not acts(protocol)):
        return
    yield Leaf(argument=place.argument, path=place.path, value=value, kind=kind, within=place.within)


def _is_amount(text: str, mark: _Mark) -> bool:
    """Whether a text where an amount is expected may be one; what stands beside an amount is one if it is a number."""
    return number(text) is not None if mark.inherited else any(map(str.isdigit, text))


def _of_key(key: str, here: list[JsonObject]) -> list[Json]:
    """The schemas of a field that somebody declared by name."""
    return [branch["properties"][key] for branch in here if key in branch.get("properties", {})]


def _free(here: list[JsonObject]) -> list[Json]:
    """The schemas that a field of any other name may have. Patterns are not tried: whoever wrote one may be hostile."""
    found: list[Json] = []
    for branch in here:
        found += branch.get("patternProperties", {}).values()
        if isinstance(branch.get("additionalProperties"), Mapping):
            found.append(branch["additionalProperties"])
    return found


def _of_item(index: int, here: list[JsonObject]) -> Iterator[Json]:
    for branch in here:
        leading: Any = branch.get("prefixItems", ())
        if index < len(leading):
            yield leading[index]
        elif isinstance(branch.get("items"), Mapping):
            yield branch["items"]
