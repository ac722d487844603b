"""Objects of different kinds in one place, told apart by a field that names the kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from probing.infer.enums import enum_of
from probing.infer.strategy import Seen
from protocols.jsontypes import Json

_MOST_VALUES, _MOST_KINDS = 12, 10
_TELLING = ("type", "kind", "typename", "object", "event", "class", "variant", "tag", "op", "action", "resource")
"""Last words of names that are there to name a kind, the surest first."""

_DIFFERENT = 0.25
"""Share of two kinds' keys that one always has and the other never, from which they are different."""

_ENOUGH = 3
"""Objects of each kind without which a field of another name tells no kinds."""

_PURE = 0.8
"""Share of the keys that are not always there which a field of another name must explain."""


class Union(NamedTuple):
    """Kinds of objects: under `key`, of JSON type `type`, each has one of its own values.

    `closed`: whether so much was seen that there are no other kinds, by the rule for enums.
    """

    key: str
    type: str
    kinds: list[tuple[list[Json], Seen]]
    closed: bool


class _Kind(NamedTuple):
    values: list[Json]
    objects: Seen
    ever: set[str]
    always: set[str]


def union_of(objects: Seen, children: Mapping[str, Any]) -> Union | None:
    """The kinds of which `objects` are, by the field that tells them apart best; None where no field does.

    `children`: key → the node of its values. A field tells kinds apart where all objects have it, with 2 to 12
    different strings (or true and false), and where objects with different values have different keys.
    """
    sometimes = {key for key, node in children.items() if node.count < len(objects)}
    if not sometimes:
        return None
    found: list[tuple[tuple[int, float, str], Union]] = []
    for key, node in children.items():
        values = _values(node, len(objects))
        if values is None:
            continue
        rank = _rank(key)
        kinds = _kinds(objects, key, values)
        if not 2 <= len(kinds) <= _MOST_KINDS or (
            rank == len(_TELLING) and min(len(kind.objects) for kind in kinds) < _ENOUGH
        ):
            continue
        pure = _purity(kinds, sometimes)
        if rank < len(_TELLING) or pure >= _PURE:
            name, strategy = next(iter(node.evidence.items()))
            closed = name == "boolean" or enum_of(Counter(strategy.seen), "type" if rank < len(_TELLING) else key)
            union = Union(key, name, [(kind.values, kind.objects) for kind in kinds], bool(closed))
            found.append(((rank, -pure, key), union))
    return min(found, key=lambda one: one[0])[1] if found else None


def _values(node: Any, objects: int) -> list[Json] | None:
    """The different values of a field that may name kinds, sorted."""
    if node.count != objects or len(node.evidence) != 1:
        return None
    name, strategy = next(iter(node.evidence.items()))
    if name not in ("string", "boolean"):
        return None
    values: set[Json] = set()
    for value, _ in strategy.seen:
        values.add(value)
        if len(values) > _MOST_VALUES:
            return None
    named = name == "boolean" or all(re.fullmatch(r"[\w.:/@#+\-]{1,64}", value) for value in values)
    return sorted(values) if len(values) >= 2 and named else None


def _rank(key: str) -> int:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", key)
    return _TELLING.index(words[-1].lower()) if words and words[-1].lower() in _TELLING else len(_TELLING)


def _kinds(objects: Seen, key: str, values: Iterable[Json]) -> list[_Kind]:
    """The objects by kind; values whose objects have the same keys are one kind."""
    by_value: dict[Json, Seen] = {value: [] for value in values}
    for one in objects:
        by_value[one[0][key]].append(one)
    kinds: list[_Kind] = []
    for value, own in by_value.items():
        ever = set().union(*(each for each, _ in own)) - {key}
        always = set(own[0][0]).intersection(*(each for each, _ in own)) - {key}
        for number, kind in enumerate(kinds):
            if not _differ(kind, ever, always):
                kinds[number] = _Kind(
                    [*kind.values, value], kind.objects + own, kind.ever | ever, kind.always & always
                )  # fmt: skip
                break
        else:
            kinds.append(_Kind([value], own, ever, always))
    return kinds


def _differ(kind: _Kind, ever: set[str], always: set[str]) -> bool:
    apart = (kind.always - ever) | (always - kind.ever)
    return bool(apart) and len(apart) >= _DIFFERENT * len(kind.ever | ever)


def _purity(kinds: list[_Kind], sometimes: set[str]) -> float:
    """The share of the keys that are not always there which each kind has always or never."""
    pure = [key for key in sometimes if all(key in kind.always or key not in kind.ever for kind in kinds)]
    return len(pure) / len(sometimes)
