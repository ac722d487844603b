"""Which read shows what a write wrote: guessed from response schemas where no document says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from protocols.jsontypes import JsonObject
from protocols.links import response_paths
from protocols.protocol import ToolProtocol, Verify
from protocols.schema import resolve, types, wrapper_key

_ALIKE = 2
"""Fields that a record has at least: an `{"id": …}` alone is like too many others."""


def guess_verifiers(protocols: Sequence[ToolProtocol]) -> list[ToolProtocol]:
    """The protocols with a guessed `verified_by` on writes that have none.

    A read shows what a write wrote when its response holds records of exactly the fields that the write answers with,
    the write's own arguments among them, and when it needs nothing that the write was not given. Of several, one that
    lists records is taken before one that gives a single record, which may be another; then the one that takes fewest
    arguments.
    """
    reads = [protocol for protocol in protocols if not protocol.writes]
    return [_with_guess(protocol, reads) for protocol in protocols]


def _with_guess(write: ToolProtocol, reads: Sequence[ToolProtocol]) -> ToolProtocol:
    if not write.writes or write.verified_by is not None:
        return write
    record = record_fields(write)
    if len(record) < _ALIKE or not record & write.parameters.keys():
        return write
    given = [read for read in reads if read.required <= write.parameters.keys()]
    places = {read.name: found for read in given if (found := _places(read, record))}
    if not places:
        return write
    best = min(
        (read for read in given if read.name in places),
        key=lambda read: (not any("[]" in path for path in places[read.name]), len(read.parameters), read.name),
    )
    return replace(write, verified_by=Verify(tool=best.name, support="guessed"))


def record_fields(protocol: ToolProtocol) -> frozenset[str]:
    """The fields of the object that a tool answers with, a lone wrapping field taken off; empty where none is known."""
    root = protocol.output_schema
    if root is None:
        return frozenset()
    top = resolve(root, root)
    if (key := wrapper_key(root)) is not None:
        top = resolve(top["properties"][key], root)
    return _fields(top)


def _places(read: ToolProtocol, record: frozenset[str]) -> list[str]:
    """Where a response holds records of these fields."""
    return [path for path, schema in response_paths(read.output_schema) if _fields(schema) == record]


def _fields(schema: JsonObject) -> frozenset[str]:
    return frozenset(schema.get("properties", {})) if "object" in types(schema) else frozenset()
