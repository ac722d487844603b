"""Limits for documents from an address: which hosts their tools call, and which hints count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from protocols.errors import InvalidProtocol, SourceUnavailable
from protocols.protocol import HttpBinding, McpBinding, ToolProtocol
from protocols.sources.operation import annotations_of
from protocols.urls import Origin, is_same_owner, split_url


def origin_of(url: str) -> Origin:
    """Return the origin (scheme, host and port) of an address that the user gave."""
    try:
        return split_url(url)[0]
    except ValueError as error:
        raise SourceUnavailable(f"{error}; give a plain http(s) address.") from None


def pin_binding(protocol: ToolProtocol, homes: Sequence[Origin], where: str) -> ToolProtocol:
    """Return a tool of a fetched document unchanged, after checking what it would call.

    `homes` are the origin of the document, and the origin that the user wrote after `@`. The tool
    may call only their hosts and the subdomains of these, and may not run code or commands.

    Raises:
        InvalidProtocol: the tool would call another host, or run code or a command.
    """
    binding = protocol.binding
    if binding is None:
        return protocol
    if not isinstance(binding, HttpBinding):
        kind = (
            f"the MCP server {binding.server!r}"
            if isinstance(binding, McpBinding)
            else "code of this machine"
        )
        problem = (
            f"{protocol.name!r} asks to call {kind}, which a document from an address may not."
        )
        hint = "If you trust it, download the document and give the file."
        raise InvalidProtocol(where, problem, path="binding", hint=hint)
    try:
        origin, _ = split_url(binding.url)
    except ValueError as error:
        raise InvalidProtocol(
            where, f"{protocol.name!r}: {error}.", path="binding.http.url"
        ) from None
    if not any(is_same_owner(home, origin) for home in homes):
        problem = (
            f"{protocol.name!r} calls {origin.url}, but the document comes from {homes[0].netloc};"
        )
        problem += " a document from an address may have only its own host called."
        hint = f"If you trust that host, allow it: --tools '{where}@{origin.url}'."
        raise InvalidProtocol(
            where, problem, hint=f"{hint} Or download the document and give the file."
        )
    return protocol


def without_lax_hints(protocol: ToolProtocol) -> ToolProtocol:
    """Return a tool of a fetched document, without hints that make it look less dangerous.

    Only hints that ask for more care than the HTTP method of the tool are kept.
    """
    binding = protocol.binding
    if not isinstance(binding, HttpBinding):
        return protocol
    return replace(
        protocol,
        annotations=annotations_of(binding.method).with_stricter_hints(protocol.annotations),
    )
