"""Worlds whose tools are described by protocols from elsewhere: the same services, as somebody else knows them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from protocols.errors import SourceUnavailable
from protocols.invoke import Invoker
from protocols.protocol import HttpBinding, ToolProtocol, dump
from protocols.sources import load_tools
from protocols.toolbox import Tool
from toolflow_bench.settings import Retooled
from toolflow_bench.workers import OpenWorld, WorldLike

Given = Mapping[str, Mapping[str, ToolProtocol]]
"""Service → tool → its protocol."""


def load_given(folders: Mapping[str, Path]) -> Given:
    """The protocols in a folder a service, with guessed links and verifying reads as any folder's.

    Raises:
        SourceUnavailable, InvalidProtocol: as `load_tools`.
    """
    found: dict[str, dict[str, ToolProtocol]] = {}
    with Invoker() as invoker:
        for service, folder in folders.items():
            tools = load_tools(f"{service}={folder}", invoker=invoker).values()
            found[service] = {tool.protocol.name: tool.protocol for tool in tools}
    return found


def digest(given: Given) -> str:
    """The same for the same protocols, wherever the services ran."""
    plain: dict[str, list[Any]] = {
        service: [_placeless(dump(protocol)) for _, protocol in sorted(protocols.items())]
        for service, protocols in sorted(given.items())
    }
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


def described_by(open_world: OpenWorld, given: Given) -> OpenWorld:
    """Opens the same worlds; tools of the services in `given` have its protocols instead of their own.

    Raises:
        SourceUnavailable: when a world is opened; a service's tool has no protocol there.
    """

    @contextmanager
    def opened() -> Iterator[WorldLike]:
        with open_world() as world, Invoker() as invoker:

            def known(tool: Tool) -> Tool:
                if tool.source not in given:
                    return tool
                protocol = _moved(given[tool.source], tool)
                return replace(tool, protocol=protocol, call=invoker.bind(protocol))

            yield Retooled(world, world.toolbox.map(known))

    return opened


def _moved(protocols: Mapping[str, ToolProtocol], tool: Tool) -> ToolProtocol:
    """The given protocol, bound to where the world's service runs."""
    own = tool.protocol
    protocol = protocols.get(own.name)
    if protocol is None:
        raise SourceUnavailable(f"the protocols of {tool.source!r} have none for {own.name!r}; probe all of its tools.")
    assert isinstance(own.binding, HttpBinding)
    if not isinstance(protocol.binding, HttpBinding):
        raise SourceUnavailable(f"the protocol of {own.name!r} is not of a tool over HTTP; probe the service anew.")
    return replace(protocol, binding=replace(protocol.binding, url=own.binding.url))


def _placeless(document: dict[str, Any]) -> dict[str, Any]:
    http = document.get("binding", {}).get("http", {})
    return {**document, "binding": {**http, "url": "/" + "/".join(str(http.get("url", "")).split("/")[3:])}}
