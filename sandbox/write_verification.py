"""Finds out whether a call that changes data (a write) took effect.

For this, responses of a read-only tool before and after the write are compared. No function of this
module calls a tool.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

import jsonschema_rs

from protocols.pagination import find_rows, may_page, read_signs
from protocols.protocol import HttpBinding
from protocols.schema import Json, JsonObject, iter_parts, resolve, types, wrapper_key
from protocols.tool import Tool
from protocols.validate import BoundedValidator
from protocols.verifiers import record_fields


class Verification(NamedTuple):
    """The result of the verification of a write by a read-only tool.

    - `done`: the write took effect, and `response` is what it would have returned.
    - `absent`: the write did not take effect.
    - `unclear`: neither is known.

    `why` is the reason, as a clause.
    """

    state: Literal["done", "absent", "unclear"]
    why: str
    response: Json = None


def verify_write(
    tool: Tool,
    read: Tool,
    arguments: JsonObject,
    baseline: Json,
    after: Json,
    results: Sequence[Json],
) -> Verification:
    """Return whether a write took effect, according to the read-only tool that verifies it.

    Args:
        tool: the tool that writes.
        read: the read-only tool.
        arguments: the arguments of the write, keyed by their original names.
        baseline: a list with the response of `read` before the write, or None if it is unknown.
        after: the response of `read` now.
        results: responses of other calls of the run. The records in them were created by these
            calls, not by this write.
    """
    named = _shown_arguments(tool, arguments, after)
    if not named:
        return Verification("unclear", f"{read.alias} shows none of its arguments")
    now = _records_with_fields(after, named)
    before = baseline and _records_with_fields(baseline[0], named)  # None without a baseline
    binding = tool.protocol.binding
    method = binding.method if isinstance(binding, HttpBinding) else "POST"
    if method == "DELETE":
        return _verify_removal(tool, read, named, before, now)
    is_whole = _is_whole(read, after)
    if isinstance(binding, HttpBinding) and method in ("PUT", "PATCH"):
        before, now = _own_records(binding, named, before, now)
        candidates = now
        changed = before is None or _differ(before, now)
        is_whole = is_whole or bool(now)
    elif before is None:
        return Verification("unclear", f"{read.alias} could not be asked before it was sent")
    else:
        candidates = _unexplained(new_records(before, now), results, named)
        changed = bool(candidates)
    if matching := _matching_records(named, candidates):
        return _verify_by_record(tool, read, matching[0], "shows it")
    if changed or not is_whole:
        return Verification("unclear", f"{read.alias} does not tell")
    return Verification("absent", f"{read.alias} does not show it")


def _differ(before: list[JsonObject], now: list[JsonObject]) -> bool:
    """Return True if one of the two lists has a record that the other one does not have."""
    return bool(new_records(before, now) or new_records(now, before))


def _own_records(
    binding: HttpBinding,
    named: JsonObject,
    before: list[JsonObject] | None,
    now: list[JsonObject],
) -> tuple[list[JsonObject] | None, list[JsonObject]]:
    """Return the records, before and now, that the URL of an update identifies.

    Other users may have changed other records meanwhile. If the URL identifies no record, or if
    `before` is None, return all records. `named` are those arguments of the update that records
    contain as fields.
    """
    place = {name: value for name, value in named.items() if f"{{{name}}}" in binding.url}
    if not place or before is None:
        return before, now
    return _matching_records(place, before), _matching_records(place, now)


def _shown_arguments(tool: Tool, arguments: JsonObject, response: Json) -> JsonObject:
    """Return the arguments of a write that occur as fields in a response and are not null."""
    fields = _shown_fields(tool, response)
    return {
        name: value for name, value in arguments.items() if name in fields and value is not None
    }


def _shown_fields(tool: Tool, response: Json) -> Collection[str]:
    """Return the names of the fields of the records that a write creates.

    They are those in the write's output schema. If that has none, they are the fields of all
    objects in `response`, the response of the tool that verifies the write.
    """
    fields = record_fields(tool.protocol)
    if fields:
        return fields
    return {key for record in _records_with_fields(response, ()) for key in record}


def _verify_removal(
    tool: Tool,
    read: Tool,
    named: JsonObject,
    before: Sequence[JsonObject] | None,
    now: Sequence[JsonObject],
) -> Verification:
    """Return whether a DELETE took effect, by comparing the records before and now.

    `named` are the arguments of the DELETE that records contain as fields.
    """
    if _matching_records(named, now):
        return Verification("absent", f"{read.alias} shows it still there")
    if removed := _matching_records(named, before or []):
        return _verify_by_record(tool, read, removed[0], "shows it no more")
    return Verification("unclear", f"{read.alias} does not show it, and did not before")


def _unexplained(
    records: Sequence[JsonObject], results: Sequence[Json], named: Collection[str]
) -> list[JsonObject]:
    """Return those of the new records that no other call of the run has created.

    Such records occur in none of `results`, the responses of the other calls. `named` are the
    fields that a record must have.
    """
    explained: set[str] = set()
    for result in results:
        explained.update(map(sorted_json, _records_with_fields(result, named)))
    return [record for record in records if sorted_json(record) not in explained]


def new_records(before: Sequence[JsonObject], now: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the records in `now` that are not in `before`.

    A record that occurs three times now and once before is returned twice.
    """
    new = Counter(map(sorted_json, now)) - Counter(map(sorted_json, before))
    return [json.loads(text) for text in new.elements()]


def _verify_by_record(tool: Tool, read: Tool, record: JsonObject, how: str) -> Verification:
    """Return that a write took effect, with a record as the response that was lost.

    The verifying tool returned this record. If it violates the output schema of the write, the
    result is `unclear`. `how` completes a sentence that begins with the name of the verifying tool,
    such as "shows it".
    """
    schema = tool.protocol.output_schema
    why = f"{read.alias} {how}"
    if schema is None or types(resolve(schema, schema)) == ("null",):
        return Verification("done", why, record if schema is None else None)
    wrapper = wrapper_key(schema)
    answer = {wrapper: record} if wrapper is not None else record
    with suppress(ValueError, jsonschema_rs.ValidationError):
        if BoundedValidator(schema).is_valid(answer):
            return Verification("done", why, answer)
    return Verification(
        "unclear", f"{read.alias} shows that it took effect, but not what it answered"
    )


def _records_with_fields(value: Json, named: Collection[str]) -> list[JsonObject]:
    """Return all objects in a response, at any depth, that have all the fields in `named`."""
    names = set(named)
    return [
        part for part in iter_parts(value) if isinstance(part, Mapping) and names <= part.keys()
    ]


def _matching_records(named: JsonObject, records: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the records whose fields have the values in `named`, a mapping from field to value.

    True and 1 are different values.
    """

    def matches(record: JsonObject) -> bool:
        for name, value in named.items():
            same_kind = isinstance(record[name], bool) == isinstance(value, bool)
            if not same_kind or record[name] != value:
                return False
        return True

    return [record for record in records if matches(record)]


def _is_whole(read: Tool, response: Json) -> bool:
    """Return True if a response contains all records and not only one page of them.

    What the response says about pages decides this. If it says nothing, it is incomplete if the
    tool has an argument that pages, or one that sets a boundary (`before`).
    """
    signs = read_signs(response, {})
    rows = find_rows(response)
    if signs.more is not None:
        return not signs.more
    if signs.pages is not None:
        return signs.pages <= 1
    total = signs.total if signs.total is not None else signs.numbers.get("count")
    if total is not None and rows is not None:
        return total <= len(rows.rows)
    return not any(may_page(name) or name.lower() == "before" for name in read.protocol.parameters)


sorted_json = json.JSONEncoder(
    check_circular=False, ensure_ascii=False, sort_keys=True, separators=(",", ":")
).encode
"""Return a value as JSON with sorted keys, so that equal values give equal texts.

`1`, `1.0`, `true` and `"1"` are different."""
