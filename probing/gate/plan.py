"""What a probing would call: which tools, on which hosts, how often at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from probing.effects.words import kind_of
from probing.log import Log
from probing.settings import ProbeSettings
from protocols.origin import split_url
from protocols.protocol import HttpBinding, McpBinding, PythonBinding, ToolProtocol
from protocols.spelled import spelled
from protocols.toolbox import Toolbox

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTool:
    """One tool in a plan. `at_most` calls are left to it; with 0, `why_not` says why."""

    name: str
    reads: bool
    how: str
    """`GET https://api.example.org/users/{id}`, `Python shop:find`, `MCP git:git_log`."""
    host: str
    at_most: int
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What may be called, in the toolbox's order; `total` bounds all calls together, `rate` those of a second."""

    tools: tuple[PlannedTool, ...]
    total: int
    rate: float | None

    @property
    def hosts(self) -> Mapping[str, int]:
        """The hosts that may be called → at most how many calls each gets."""
        found: dict[str, int] = {}
        for tool in self.tools:
            if tool.at_most:
                found[tool.host] = min(found.get(tool.host, 0) + tool.at_most, self.total)
        return found

    @property
    def writes(self) -> tuple[PlannedTool, ...]:
        """The tools that may be called and may change something."""
        return tuple(tool for tool in self.tools if tool.at_most and not tool.reads)


def plan(toolbox: Toolbox, settings: ProbeSettings, log: Log | None = None) -> Plan:
    """What `settings` let a probing of `toolbox` call, less what `log` has of it already. Calls nothing."""
    left = None if settings.budget is None else max(settings.budget - (log.sent if log else 0), 0)
    tools = tuple(_planned(tool.protocol, settings, log, left) for tool in toolbox.values())
    most = sum(tool.at_most for tool in tools)
    return Plan(tools=tools, total=most if left is None else min(left, most), rate=settings.requests_per_second)


def reads(protocol: ToolProtocol) -> bool:
    """Whether a tool is known to change nothing: declared so, or asked by a method that by HTTP's rules is safe.

    There are services that delete on a GET, and a server may declare what it likes: a GET whose name or path says that
    it changes something counts as a write, and so does an MCP tool whose name says that it takes something away.
    """
    declared, said = protocol.annotations.read_only, kind_of(protocol)[0]
    match protocol.binding:
        case HttpBinding(method=method) if method.upper() in _SAFE_METHODS:
            return declared is not False and said == "read"
        case McpBinding():
            return declared is True and said not in ("remove", "end")
        case _:
            return declared is True


def why_not(protocol: ToolProtocol, settings: ProbeSettings) -> str:
    """Why a tool may not be called at all; empty where it may."""
    if protocol.binding is None:
        return "it has no binding, so nobody knows how it is called"
    if settings.allow_writes or reads(protocol):
        return ""
    if protocol.annotations.read_only is False:
        return "it changes something; --allow-writes lets it be called"
    if protocol.annotations.read_only or isinstance(protocol.binding, HttpBinding):
        return f"it may change something ({kind_of(protocol)[1]}); --allow-writes lets it be called"
    return "nothing says that it only reads; --allow-writes lets it be called"


def host_of(protocol: ToolProtocol) -> str:
    """What is called: `api.example.org`, with the port where it is not the scheme's own; `MCP git`, `Python shop`."""
    match protocol.binding:
        case HttpBinding() as http:
            try:
                return split_url(http.url)[0].netloc
            except ValueError:
                return http.url
        case McpBinding() as mcp:
            return f"MCP {mcp.server}"
        case PythonBinding() as python:
            return f"Python {python.module}"
        case _:
            return ""


def _planned(protocol: ToolProtocol, settings: ProbeSettings, log: Log | None, left: int | None) -> PlannedTool:
    reason = why_not(protocol, settings)
    most = settings.per_tool - (log.sent_to(protocol.name) if log else 0)
    most = max(most if left is None else min(most, left), 0)
    if not reason and not most:
        reason = "its calls are used up" if left else "the calls of this probing are used up"
    return PlannedTool(
        name=protocol.name,
        reads=reads(protocol),
        how=spelled(protocol.binding) or "no binding",
        host=host_of(protocol),
        at_most=0 if reason else most,
        why_not=reason,
    )
