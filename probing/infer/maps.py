"""Which keys of objects are data (ids, dates, codes, names of things) and not names of fields."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from probing.infer.formats import common_format
from probing.infer.keyforms import code_of, form_of, is_compound, is_numbered, is_phrase

_LIKE = 0.6
"""Share of all keys of the objects under several keys that each of them has on average, from which they are alike."""

_SURE_NAMES = 3
"""Keys of one form without which nothing is said of a map's keys."""


def data_keys(children: Mapping[str, Any], objects: int, named: AbstractSet[str]) -> frozenset[str]:
    """The keys that are data, of `children` (key → node of its values) of so many objects; never those `named`.

    Keys whose form says it (dates, uuids, numbers, hosts …) are data: all of them, or two and more of one form with
    like values beside names of fields. Keys that are words are data together or not at all, and only where their
    values are alike and they are too many, or change too much from object to object, to be fields.
    """
    keys = children.keys() - named
    forms = {key: form for key in keys if (form := form_of(key))}
    if keys and len(forms) == len(keys) and len(set(forms.values())) <= 2:
        return frozenset(keys)
    if len(keys) >= 2 and (likeness := _alike(children[key] for key in keys)) is not None:
        counts = [children[key].count for key in keys]
        if _changing(counts, objects, likeness) or _many(keys, counts, objects, likeness):
            return frozenset(keys)
    form, count = max(sorted(Counter(forms.values()).items()), key=lambda item: item[1], default=("", 0))
    formed = frozenset(key for key in forms if forms[key] == form)
    return formed if count >= 2 and _alike(children[key] for key in formed) else frozenset()


def asked_for(objects: Iterable[tuple[Any, int]], sent: Mapping[int, AbstractSet[str]]) -> frozenset[str]:
    """The keys of objects that have no others than the texts which their call was given: `{"cpu": …}` for `cpu`.

    `objects` are each with the number of their reply, `sent` the texts by these numbers; empty where one has others.
    """
    found: set[str] = set()
    for value, reply in objects:
        if not value.keys() <= sent.get(reply, frozenset()):
            return frozenset()
        found |= value.keys()
    return frozenset(found)


def names_of(keys: AbstractSet[str]) -> dict[str, Any] | None:
    """What can be said of the keys of a map with certainty, as `propertyNames`."""
    if len(keys) < _SURE_NAMES:
        return None
    if all(re.fullmatch(r"[0-9]+", key) for key in keys):
        return {"pattern": "^[0-9]+$"}
    found = common_format(keys)
    return {"format": found} if found in ("date", "date-time", "uuid") else None


class _Likeness(NamedTuple):
    type: str
    structured: bool
    """Objects with the same keys, or lists of such: what differs in name alone."""

    @property
    def weak(self) -> bool:
        """Whether fields of a record are often that much alike."""
        return self.type in ("string", "boolean")


def _changing(counts: list[int], objects: int, likeness: _Likeness) -> bool:
    """Whether the keys differ so much from object to object that more of them are to be expected."""
    if likeness.structured and objects >= 2 and max(counts) == 1:
        return True
    if objects < 3:
        return objects == 2 and max(counts) == 1 and len(counts) >= (8 if likeness.weak else 4)
    if 2 * max(counts) > objects:
        return False
    if 2 * sum(count == 1 for count in counts) >= len(counts):
        return len(counts) >= (6 if likeness.weak else 3)
    sparse = sum(counts) * 4 <= objects * len(counts)
    return sparse and len(counts) >= (20 if likeness.weak else 10)


def _many(keys: AbstractSet[str], counts: list[int], objects: int, likeness: _Likeness) -> bool:
    """Whether the keys are more than a record has fields, for what they look like."""
    if code := code_of(keys):
        return len(keys) >= {"opaque": 2, "upper": 5, "lower": 10}[code]
    fixed = objects >= 3 and min(counts) == objects
    if 2 * sum(map(is_phrase, keys)) > len(keys) and not fixed:
        return len(keys) >= (8 if likeness.weak else 4)
    if likeness.structured:
        if is_numbered(keys):
            return True
        compound = 3 * sum(map(is_compound, keys)) >= len(keys)
        return len(keys) >= (40 if fixed or compound else 12)
    return len(keys) >= 100 and not fixed


def _alike(nodes: Iterable[Any]) -> _Likeness | None:
    """What the values under several keys have in common; None where they are not alike, or nothing is seen of them."""
    sketches = [_sketch(node) for node in nodes]
    kinds = {kind for kinds, _ in sketches for kind in kinds}
    if len(kinds) != 1:
        return None
    inner = [keys for _, keys in sketches if keys]
    if not inner:
        return _Likeness(kinds.pop(), structured=False)
    union = set[str | type]().union(*inner)
    if sum(map(len, inner)) < _LIKE * len(union) * len(inner):
        return None
    return _Likeness(kinds.pop(), structured=sum(isinstance(key, str) for key in union) >= 2)


def _sketch(node: Any) -> tuple[set[str], set[str | type]]:
    """The types of a node's values but null, and what is in them: keys of objects, classes of other elements."""
    evidence = node.evidence
    inner: set[str | type] = set()
    for name in ("object", "array"):
        for value, _ in evidence[name].seen if name in evidence else ():
            for part in value if name == "array" else [value]:
                inner.update(part if isinstance(part, dict) else [type(part)])
    return evidence.keys() - {"null"}, inner
