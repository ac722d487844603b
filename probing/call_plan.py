"""The plan of a probing run: which tools it may call, and how often. Planning calls no tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from probing.samples import Log, ProbeSettings
from protocols.effects import is_known_read, likely_action
from protocols.protocol import HttpBinding, ToolProtocol, format_binding
from protocols.toolbox import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTool:
    """One tool in the plan of a probing run, and how often it may be called."""

    name: str
    reads: bool
    """True if the tool is known to be read-only."""
    how: str
    """How the tool is called: `GET https://api.example.org/users/{id}`, `Python shop:find`, or
    `MCP git:git_log`."""
    host: str
    at_most: int
    """How many more calls of the tool may be made."""
    why_not: str = ""
    """Why the tool may not be called; "" if it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePlan:
    """The calls that a probing run may make."""

    tools: tuple[PlannedTool, ...]
    """The planned tools in the order of the toolbox."""
    total: int
    """The maximum number of calls of all tools together."""

    @property
    def hosts(self) -> Mapping[str, int]:
        """The maximum number of calls to each host, keyed by the host's label."""
        found: dict[str, int] = {}
        for tool in self.tools:
            if tool.at_most:
                found[tool.host] = min(found.get(tool.host, 0) + tool.at_most, self.total)
        return found

    @property
    def writes(self) -> tuple[PlannedTool, ...]:
        """The tools that may be called and may change something."""
        return tuple(tool for tool in self.tools if tool.at_most and not tool.reads)


def plan_probing(toolbox: Toolbox, settings: ProbeSettings, log: Log | None = None) -> ProbePlan:
    """Return the plan of a probing run: how many more calls of each tool `settings` allow.

    Calls that `log` already contains are subtracted.
    """
    left = (
        None
        if settings.budget is None
        else max(settings.budget - (log.sent_count if log else 0), 0)
    )
    tools = []
    for protocol in (tool.protocol for tool in toolbox.values()):
        mine = max(settings.per_tool - (log.count_sent_to(protocol.name) if log else 0), 0)
        most = mine if left is None else min(mine, left)
        reason = why_not(protocol, settings) or ("" if most else "its calls are used up")
        how = format_binding(protocol.binding) or "no binding"
        host = host_label(protocol)
        tools.append(
            PlannedTool(
                name=protocol.name,
                reads=is_known_read(protocol),
                how=how,
                host=host,
                at_most=0 if reason else most,
                why_not=reason,
            )
        )
    total = sum(tool.at_most for tool in tools)
    return ProbePlan(tools=tuple(tools), total=total if left is None else min(left, total))


def why_not(protocol: ToolProtocol, settings: ProbeSettings) -> str:
    """Return why a tool may not be called at all, or an empty string if it may."""
    if protocol.binding is None:
        return "it has no binding, so nobody knows how it is called"
    if is_known_read(protocol):
        return ""
    if settings.allows(protocol.name):
        return (
            "it ends what others rest on, such as a session"
            if likely_action(protocol)[0] == "end"
            else ""
        )
    return (
        f"it may change something ({likely_action(protocol)[1]}); --allow-writes lets it be called"
    )


def host_label(protocol: ToolProtocol) -> str:
    """Return a label for the host, MCP server or Python module that a tool's calls go to.

    Examples are `api.example.org:8080`, `MCP git` and `Python shop`.
    """
    binding = protocol.binding
    return (
        urlsplit(binding.url).netloc
        if isinstance(binding, HttpBinding)
        else format_binding(binding).partition(":")[0]
    )
