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
    the write's own arguments among them, and when it needs nothing that the write was not given. Of several the one
    that takes fewest arguments is taken, a declared link between the two before others.
    """
    reads = [protocol for protocol in protocols if not protocol.writes]
    return [_with_guess(protocol, reads) for protocol in protocols]


def _with_guess(write: ToolProtocol, reads: Sequence[ToolProtocol]) -> ToolProtocol:
    if not write.writes or write.verified_by is not None:
        return write
    record = record_fields(write)
    if len(record) < _ALIKE or not record & write.parameters.keys():
        return write
    fitting = [read for read in reads if read.required <= write.parameters.keys() and _shows(read, record)]
    if not fitting:
        return write
    best = min(fitting, key=lambda read: (len(read.parameters), read.name))
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


def _shows(read: ToolProtocol, record: frozenset[str]) -> bool:
    return any(_fields(schema) == record for _, schema in response_paths(read.output_schema))


def _fields(schema: JsonObject) -> frozenset[str]:
    return frozenset(schema.get("properties", {})) if "object" in types(schema) else frozenset()
