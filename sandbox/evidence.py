"""Whether a read shows that a write took effect. Pure: from what it showed before, and shows now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import jsonschema_rs

from protocols.jsontypes import Json, JsonObject
from protocols.protocol import HttpBinding
from protocols.schema import Judge, resolve, types, wrapper_key
from protocols.toolbox import Tool
from protocols.verify import record_fields
from sandbox.quickjson import encoder

_PAGING = frozenset(
    {
        "page", "per_page", "page_size", "pagesize", "limit", "offset", "cursor", "after", "before", "start", "skip",
        "top", "first", "max", "max_results", "count",
    }
)  # fmt: skip
"""Parameters of a read that may give a part of what there is, even where nobody gave them."""


@dataclass(frozen=True, slots=True)
class Shown:
    """*done*: it took effect, and `response` is what it would have answered. *absent*: it did not. *unclear*: neither
    is known. `why` is a clause that says so.
    """

    state: Literal["done", "absent", "unclear"]
    why: str
    response: Json = None


def shown(response: Json) -> Json:
    """What is kept of a verifying read's response from before a write: all of it, told from none by a box around it."""
    return [response]


def judge(tool: Tool, read: Tool, arguments: JsonObject, baseline: Json, after: Json, results: Sequence[Json]) -> Shown:
    """What became of a write of `tool` with `arguments` (original names), from what its verifying read shows.

    `baseline` is `shown` of the response before it, None where there is none; `after` is the response now. `results`
    are responses of the run's other calls.
    """
    named = _telling(tool, arguments, after)
    if not named:
        return Shown("unclear", f"{read.alias} shows none of its arguments")
    now = list(_records(after, named))
    before = list(_records(baseline[0], named)) if baseline is not None else None
    binding, whole = tool.protocol.binding, _whole(read, after)
    method = binding.method if isinstance(binding, HttpBinding) else "POST"
    if method == "DELETE":
        return _removal(tool, read, named, before, now)
    if method in ("PUT", "PATCH") and isinstance(binding, HttpBinding):
        place = {name: value for name, value in named.items() if f"{{{name}}}" in binding.url}
        if place and before is not None:
            # Its own record tells; the others may be changed meanwhile by whoever wants.
            before, now = _matching(place, before), _matching(place, now)
        return _replacement(tool, read, named, before, now, whole=whole)
    return _creation(tool, read, named, before, now, results, whole=whole)


def _removal(
    tool: Tool, read: Tool, named: JsonObject, before: list[JsonObject] | None, now: list[JsonObject]
) -> Shown:
    if _matching(named, now):
        return Shown("absent", f"{read.alias} shows it still there")
    was = _matching(named, before or [])
    if not was:
        return Shown("unclear", f"{read.alias} does not show it, and did not before")
    return _done(tool, was[0], f"{read.alias} shows it no more") or _unsaid(read)


def _replacement(
    tool: Tool, read: Tool, named: JsonObject, before: list[JsonObject] | None, now: list[JsonObject], *, whole: bool
) -> Shown:
    found = _matching(named, now)
    if found:
        return _done(tool, found[0], f"{read.alias} shows it") or _unsaid(read)
    if (whole or now) and before is not None and _same(before, now):
        return Shown("absent", f"{read.alias} shows it as it was before")
    return Shown("unclear", f"{read.alias} does not tell")


def _creation(
    tool: Tool,
    read: Tool,
    named: JsonObject,
    before: list[JsonObject] | None,
    now: list[JsonObject],
    results: Sequence[Json],
    *,
    whole: bool,
) -> Shown:
    if before is None:
        return Shown("unclear", f"{read.alias} could not be asked before it was sent")
    explained = {_text(record) for result in results for record in _records(result, named)}
    new = [record for record in added(before, now) if _text(record) not in explained]
    found = _matching(named, new)
    if found:
        return _done(tool, found[0], f"{read.alias} shows it") or _unsaid(read)
    if new or not whole:
        return Shown("unclear", f"{read.alias} does not tell")
    return Shown("absent", f"{read.alias} does not show it")


def _telling(tool: Tool, arguments: JsonObject, after: Json) -> JsonObject:
    """The arguments that a record shows: those that the write's own answer has, or where it is not known, any."""
    fields = record_fields(tool.protocol)
    if not fields:
        fields = frozenset(key for record in _objects(after) for key in record)
    return {name: value for name, value in arguments.items() if name in fields and value is not None}


def _records(value: Json, named: JsonObject) -> Iterator[JsonObject]:
    """The objects anywhere in `value` that have a field for each of the arguments."""
    return (record for record in _objects(value) if named.keys() <= record.keys())


def _objects(value: Json) -> Iterator[JsonObject]:
    if isinstance(value, Mapping):
        yield value
        for part in value.values():
            yield from _objects(part)
    elif isinstance(value, list):
        for part in value:
            yield from _objects(part)


def _matching(named: JsonObject, records: Sequence[JsonObject]) -> list[JsonObject]:
    return [record for record in records if all(_equal(record[name], value) for name, value in named.items())]


def _equal(one: Json, other: Json) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def added(before: Sequence[JsonObject], now: Sequence[JsonObject]) -> list[JsonObject]:
    """The records that are there now and were not before, as often as they are."""
    left = Counter(map(_text, before))
    found = []
    for record in now:
        text = _text(record)
        if left[text]:
            left[text] -= 1
        else:
            found.append(record)
    return found


def _same(before: Sequence[JsonObject], now: Sequence[JsonObject]) -> bool:
    return Counter(map(_text, before)) == Counter(map(_text, now))


def _whole(read: Tool, response: Json) -> bool:
    """Whether a response holds all that there is: not where the read gives pages, unless it says that this is all."""
    said = _says_all(response)
    return said if said is not None else not _PAGING & set(map(str.lower, read.protocol.parameters))


def _says_all(response: Json) -> bool | None:
    """Whether a response says itself that it is all, or one page of several; None where it says nothing."""
    if not isinstance(response, Mapping):
        return None
    longest = max((len(part) for part in response.values() if isinstance(part, list)), default=0)
    told = [said for name, value in response.items() if (said := _tells(name.lower(), value, longest)) is not None]
    return all(told) if told else None


def _tells(name: str, value: Json, longest: int) -> bool | None:
    if name in ("pages", "total_pages", "page_count") and isinstance(value, int):
        return value <= 1
    if name in ("total", "total_count", "total_results", "count") and isinstance(value, int):
        return value <= longest
    if "next" in name or "cursor" in name or name in ("has_more", "hasmore", "more", "truncated"):
        return not value
    return None


def _done(tool: Tool, record: JsonObject, why: str) -> Shown | None:
    """The write's answer made of a record, where its protocol allows it to be that; None where it does not."""
    schema = tool.protocol.output_schema
    if schema is None or types(resolve(schema, schema)) == ("null",):
        return Shown("done", why, record if schema is None else None)
    wrapper = wrapper_key(schema)
    answer = {wrapper: record} if wrapper is not None else record
    try:
        valid = Judge(schema).valid(answer)
    except (ValueError, jsonschema_rs.ValidationError):
        valid = False
    return Shown("done", why, answer) if valid else None


def _unsaid(read: Tool) -> Shown:
    return Shown("unclear", f"{read.alias} shows that it took effect, but not what it answered")


def _text(record: JsonObject) -> str:
    return _encode(record)


_encode = encoder(ascii_only=False, sort_keys=True)
