"""Recorded paths → templates: `/users/17/posts` and `/users/23/posts` are `/users/{user_id}/posts`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple
from urllib.parse import quote

from protocols.jsontypes import Json
from protocols.secret_names import looks_random
from protocols.words import singular, snake

_ENOUGH = 3
"""Different values at one place, with answers of one shape, that make it an argument although they look like words."""
_ALIKE = 0.6
"""Share of fields that two answers have in common, from which they have one shape."""
_SUFFIX = re.compile(r"(.+)(\.(?:json|xml))")
_ID = re.compile(
    r"\d+"
    r"|[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}"
    r"|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,}"
    r"|\d{4}-\d\d(?:-\d\d)?(?:T[\d:.Z+-]+)?"
    r"|-?\d+(?:\.\d+)?(?:,-?\d+(?:\.\d+)?)+"
    r"|[A-Za-z]{1,4}-?\d{3,}"
    r"|[a-z]{2,5}_(?=[A-Za-z]*\d)[A-Za-z0-9]{6,}"
    r"|[^@/\s]+@[^@/\s]+\.[a-z]+",
    re.IGNORECASE,
)
_MIXED = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w-]{8,}")
_NO_NOUN = re.compile(
    r"(?:|api|rest|graphql|public|private|internal|services?|rpc|json|ajax|v\d+(?:\.\d+)*)", re.IGNORECASE
)
_HOLE = "\0"


class Seen(NamedTuple):
    """One recorded call: its path's segments, and its response where it was a success."""

    method: str
    origin: str
    segments: tuple[str, ...]
    response: Json


def templates(calls: Sequence[Seen], holds_secret: Callable[[str], bool] = lambda _: False) -> list[tuple[str, ...]]:
    """The template of each call's path, its arguments in braces.

    An argument is what looks like an identifier (a number, a UUID, a date, letters and digits mixed) or holds a secret,
    and what takes at least three values at one place below the same noun while the answers keep their shape.
    """
    holes = [
        [_hole(segment) if _is_id(segment) or holds_secret(segment) else segment for segment in call.segments]
        for call in calls
    ]
    groups: dict[tuple[str, str, int], dict[tuple[str, ...], frozenset[str]]] = defaultdict(dict)
    for call, path in zip(calls, holes, strict=True):
        if fields := frozenset(_fields(call.response)):
            groups[call.method, call.origin, len(path)].setdefault(tuple(path), fields)
    values = {(key[1], path[:at], path[at]) for key, group in groups.items() for path, at in _varying(group)}
    for call, path in zip(calls, holes, strict=True):
        # What was seen to vary in one place does so below it too, and for other methods.
        varies = [(call.origin, tuple(path[:at]), segment) in values for at, segment in enumerate(path)]
        path[:] = [_hole(segment) if vary else segment for segment, vary in zip(path, varies, strict=True)]
    known = {(call.origin, tuple(path)) for call, path in zip(calls, holes, strict=True) if call.response is not None}
    return _named(
        calls, [_known_path(call.origin, tuple(path), known) for call, path in zip(calls, holes, strict=True)]
    )


def _known_path(origin: str, path: tuple[str, ...], known: Collection[tuple[str, tuple[str, ...]]]) -> tuple[str, ...]:
    """The path; of a call that failed, that of the calls which it is one of, as their arguments may be refused."""
    if (origin, path) in known:
        return path
    fitting = [
        other
        for there, other in known
        if there == origin
        and len(other) == len(path)
        and all(one == two or two.startswith(_HOLE) for one, two in zip(path, other, strict=True))
    ]
    return min(fitting, key=lambda other: (sum(part.startswith(_HOLE) for part in other), other), default=path)


def _hole(segment: str) -> str:
    """What stands for an argument in a path, with the suffix of a format where there is one."""
    return _HOLE + (found[2] if (found := _SUFFIX.fullmatch(segment)) else "")


def _is_id(segment: str) -> bool:
    stem = found[1] if (found := _SUFFIX.fullmatch(segment)) else segment
    return bool(_ID.fullmatch(stem) or _MIXED.fullmatch(stem) or looks_random(stem))


def _varying(group: dict[tuple[str, ...], frozenset[str]]) -> Iterator[tuple[tuple[str, ...], int]]:
    """The paths of one method and length that stand for others, and the place of the argument in each."""
    clusters: list[tuple[frozenset[str], list[tuple[str, ...]]]] = []
    for path, fields in group.items():
        cluster = next((members for first, members in clusters if _alike(first, fields)), None)
        if cluster is None:
            clusters.append((fields, [path]))
        else:
            cluster.append(path)
    for _, paths in clusters:
        yield from _within(paths)


def _within(paths: list[tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], int]]:
    """The same for paths whose answers have one shape."""
    if len(paths) < _ENOUGH:
        return
    different = {at: {path[at] for path in paths} for at in range(len(paths[0]))}
    fixed = next(
        (at for at, found in different.items() if len(found) > 1 and not _may_vary(paths, at, len(found))), None
    )
    if fixed is not None:
        for value in different[fixed]:
            yield from _within([path for path in paths if path[fixed] == value])
        return
    for at, found in different.items():
        if len(found) > 1:
            yield from ((path, at) for path in paths if not path[at].startswith(_HOLE))


def _may_vary(paths: list[tuple[str, ...]], at: int, size: int) -> bool:
    """Whether the place is an argument's: enough values, and below a noun or another argument."""
    before = paths[0][at - 1] if at else ""
    return size >= _ENOUGH and _NO_NOUN.fullmatch(before) is None


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _ALIKE * len(one | other)


def _fields(value: Json, path: str = "", depth: int = 4) -> Iterator[str]:
    """The paths of a response's fields, lists by their first elements."""
    if isinstance(value, dict) and depth:
        for key, item in islice(value.items(), 100):
            yield f"{path}.{key}"
            yield from _fields(item, f"{path}.{key}", depth - 1)
    elif isinstance(value, list) and depth:
        for item in value[:5]:
            yield from _fields(item, f"{path}[]", depth - 1)


def _named(calls: Sequence[Seen], paths: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The paths with a name in each hole, after the noun before it: `users`, hole → `{user_id}`."""
    met: dict[tuple[str, tuple[str, ...]], list[tuple[str, ...]]] = defaultdict(list)
    for call, path in zip(calls, paths, strict=True):
        met[call.origin, path].append(call.segments)
    named = {key: _with_names(key[1], segments) for key, segments in met.items()}
    return [named[call.origin, path] for call, path in zip(calls, paths, strict=True)]


def _with_names(path: tuple[str, ...], met: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    taken: set[str] = set()
    named: list[str] = []
    noun = ""
    for at, part in enumerate(path):
        if not part.startswith(_HOLE):
            noun = noun if _NO_NOUN.fullmatch(part) else singular(snake(part)) or noun
            named.append(quote(part, safe="!$&'()*+,;=:@~"))
            continue
        usual = f"{noun}_id" if noun and all(_is_id(segments[at]) for segments in met) else noun or "id"
        name, number = usual, 2
        while name in taken:
            name, number = f"{usual}_{number}", number + 1
        taken.add(name)
        named.append(f"{{{name}}}{part.removeprefix(_HOLE)}")
    return tuple(named)
