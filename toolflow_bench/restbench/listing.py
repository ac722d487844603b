"""What a list in an answer holds: relations, searches, filters, order and pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from protocols.jsontypes import Json
from toolflow_bench.restbench.document import Operation
from toolflow_bench.restbench.entities import Entities, Entity
from toolflow_bench.restbench.words import GENERIC, fixed_segments, words

PAGE = 20
"""Entries on a page where the request does not say."""

_QUERIES = ("query", "q", "search", "keyword", "keywords", "term")
_MOST_ON_A_PAGE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request: the operation, its arguments by name, and what its path and arguments name."""

    operation: Operation
    arguments: Mapping[str, Json]
    owner: Entity | None = None
    """The last entity of the path, that of a home (`/me`) included."""
    at_home: bool = False
    """`owner` is a home's."""
    kinds: tuple[str, ...] = ()
    """Kinds that arguments name (`type=artist`)."""
    context: str = ""
    """Path of the state that it belongs to (`/me/player`)."""
    url: str = ""

    @property
    def text(self) -> str:
        """What is searched for; empty where nothing is."""
        searching = any(part in ("search", "find", "lookup") for part in self.operation.segments)
        given = (self.arguments.get(name) for name in _QUERIES) if searching else ()
        return str(next((value for value in given if value), ""))


class Page(NamedTuple):
    """A part of a list, and what answers say about it."""

    entries: list[Entity]
    info: Mapping[str, Json]


def role_of(asked: Asked, owner: Entity | None, kind: str, name: str) -> str:
    """What tells this relation from others between the same kinds.

    A list's own name (`cast`) does, unless it only says what is in it. In lists that belong to nobody, to a home, or to
    something of the same kind, the path does (`/movie/popular`, `/me/player/queue`, `/movie/{movie_id}/similar`).
    """
    if name not in GENERIC and kind not in words(name) and name != fixed_segments(asked.operation.segments)[-1]:
        return name
    if owner is None or (asked.at_home and owner == asked.owner) or owner.kind == kind:
        last = fixed_segments(asked.operation.segments)[-1]
        return "" if words(last)[-1] == kind else last
    return ""


def listed(asked: Asked, entities: Entities, owner: Entity | None, kind: str, name: str) -> list[Entity]:
    """Everything that a list of an answer has, before paging."""
    if asked.text and owner == asked.owner:
        return _searched(asked.text, entities, kind)
    return entities.members(owner, kind, role_of(asked, owner, kind, name))


def _searched(text: str, entities: Entities, kind: str) -> list[Entity]:
    """By name; with field filters (`track:Doxy artist:Miles Davis`), by the names of what is related."""
    known = "|".join(map(re.escape, sorted(entities.kinds.all)))
    filters = dict(re.findall(rf"\b({known}):\s*(.*?)(?=\s+\w+:|$)", text)) if known else {}
    free = re.sub(r"\b\w+:\s*(.*?)(?=\s+\w+:|$)", "", text).strip(" \"'") if filters else text.strip(" \"'")
    own = filters.get(kind, free).strip(" \"'")
    if own or not filters:
        return entities.search(kind, own or text)
    other, wanted = next(iter(filters.items()))
    return entities.members(entities.search(other, wanted.strip(" \"'"))[0], kind)


def narrowed(
    found: Sequence[Entity], arguments: Mapping[str, Json], fact: Callable[[Entity, str], Json]
) -> list[Entity]:
    """By bounds (`vote_average.gte`) and order (`sort_by=popularity.desc`) that name properties."""
    result = list(found)
    for name, bound in arguments.items():
        property_name, _, side = name.rpartition(".")
        if side in ("gte", "lte") and bound is not None:
            result = [entity for entity in result if _fits(fact(entity, property_name), bound, side)]
    by, _, direction = str(arguments.get("sort_by") or "").rpartition(".")
    if by:
        known = [entity for entity in result if fact(entity, by) is not None]
        known.sort(key=lambda entity: _comparable(fact(entity, by)), reverse=direction == "desc")
        result = [*known, *(entity for entity in result if entity not in known)]
    return result


def _fits(value: Json, bound: Json, side: str) -> bool:
    if value is None:
        return True  # not a property that the answers show
    low, high = (_comparable(bound), _comparable(value)) if side == "gte" else (_comparable(value), _comparable(bound))
    return low <= high


def _comparable(value: Json) -> tuple[float, str]:
    try:
        return float(str(value)), ""
    except ValueError:
        return 0.0, str(value)


def paged(found: Sequence[Entity], arguments: Mapping[str, Json], *, url: str = "") -> Page:
    """The page that is asked for by `page`, by `offset` and `limit`, or by `after`."""
    size = _number(arguments.get("limit"), PAGE, most=_MOST_ON_A_PAGE)
    start = _number(arguments.get("offset"), 0)
    if "page" in arguments:
        start = (max(_number(arguments["page"], 1), 1) - 1) * size
    if (after := arguments.get("after")) is not None:
        places = [place for place, entity in enumerate(found) if str(entity.id) == str(after)]
        start = places[0] + 1 if places else start
    entries = list(found[start : start + size])
    total, end = len(found), start + len(entries)
    last: Json = str(entries[-1].id) if entries and end < total else None
    first: Json = str(entries[0].id) if entries and start else None
    steps = max(size, 1)
    info: dict[str, Json] = {
        **dict.fromkeys(("total", "total_results", "total_count", "count"), total),
        **dict.fromkeys(("total_pages", "pages"), -(-total // steps)),
        "page": start // steps + 1,
        "limit": size,
        "offset": start,
        "href": f"{url}?offset={start}&limit={size}",
        "next": f"{url}?offset={end}&limit={size}" if end < total else None,
        "previous": f"{url}?offset={max(start - size, 0)}&limit={size}" if start else None,
        "cursors": {name: value for name, value in (("after", last), ("before", first)) if value is not None},
    }
    return Page(entries, info)


def _number(value: Json, default: int, *, most: int = 10_000) -> int:
    try:
        return min(max(int(str(value)), 0), most)
    except ValueError:
        return default
