"""Verifiers: read-only tools that show what another tool of the same source has changed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from protocols.links import response_paths
from protocols.protocol import ToolProtocol, Verify
from protocols.schema import JsonObject, types, unwrap_schema

_ALIKE = 2
"""Minimum number of fields that the records of a write and of its verifier have in common.

Records with only an `id` would match too many others.
"""


def guess_verifiers(protocols: Sequence[ToolProtocol]) -> list[ToolProtocol]:
    """Return the tools, with a guessed verifier (`verified_by`) for each write that has none.

    A read-only tool verifies a write if (1) its response contains records with exactly the fields
    of the write's response, (2) some of these fields are arguments of the write, and (3) it
    requires only arguments that the write has, too. A tool that lists records is preferred to one
    that returns a single record, which may be another one. Then the tool with the fewest arguments
    is preferred.
    """
    unverified = (one for one in protocols if one.writes and one.verified_by is None)
    records = {one.name: record_fields(one) for one in unverified}
    wanted = {fields for fields in records.values() if len(fields) >= _ALIKE}
    if not wanted:
        return [*protocols]
    reads = _reads_by_record(protocols, wanted)
    result = []
    for write in protocols:
        record = records.get(write.name, frozenset())
        given = write.parameters.keys()
        candidates = reads.get(record, ()) if record & given else ()
        fitting = [read for read in candidates if read.required <= given]
        if fitting:
            simplest = min(fitting, key=lambda read: read.rank)
            write = replace(write, verified_by=Verify(tool=simplest.name, support="guessed"))
        result.append(write)
    return result


class _RecordRead(NamedTuple):
    """A read-only tool whose response contains records with a certain set of fields."""

    rank: tuple[bool, int, str]
    """Sort key, best first: lists before single records, then few arguments."""
    name: str
    required: frozenset[str]


def _reads_by_record(
    protocols: Sequence[ToolProtocol], wanted: Collection[frozenset[str]]
) -> dict[frozenset[str], list[_RecordRead]]:
    """Return read-only tools, keyed by the set of fields of the records in their responses.

    Only sets of fields that are in `wanted` are included.
    """
    found: dict[frozenset[str], list[_RecordRead]] = {}
    for read in protocols:
        if read.writes:
            continue
        for path, schema in response_paths(read.output_schema):
            if (fields := _fields(schema)) in wanted:
                rank = ("[]" not in path, len(read.parameters), read.name)
                found.setdefault(fields, []).append(_RecordRead(rank, read.name, read.required))
    return found


def record_fields(protocol: ToolProtocol) -> frozenset[str]:
    """Return the names of the fields of the object that a tool returns to programs.

    The result is empty if the fields are unknown.
    """
    return _fields(unwrap_schema(protocol.output_schema))


def _fields(schema: JsonObject) -> frozenset[str]:
    return frozenset(schema.get("properties", {})) if "object" in types(schema) else frozenset()
