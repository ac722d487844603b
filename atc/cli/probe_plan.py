"""What `atc probe` shows before it calls anything: which tools, on which hosts, how often and how fast."""

from __future__ import annotations

from dataclasses import asdict

from atc.cli.output import count
from probing.gate.plan import Plan, PlannedTool
from protocols.jsontypes import Json


def plan_lines(plan: Plan) -> list[str]:
    """The plan as columns of text, a line a tool, and what it comes to."""
    called = [tool for tool in plan.tools if tool.at_most]
    skipped = [tool for tool in plan.tools if not tool.at_most]
    width = max((len(tool.name) for tool in plan.tools), default=0)
    lines = [_line(tool, width) for tool in (*called, *skipped)]
    return [*lines, *([""] if lines else []), *_sums(plan, called, skipped)]


def plan_document(plan: Plan) -> Json:
    """The plan as JSON."""
    return {
        "tools": [asdict(tool) for tool in plan.tools],
        "hosts": [{"host": host, "at_most": most} for host, most in plan.hosts.items()],
        "total": plan.total,
        "requests_per_second": plan.rate,
    }


def writes_lines(plan: Plan) -> list[str]:
    """The tools in the plan that may change something, with how often each is called at most."""
    width = max((len(tool.name) for tool in plan.writes), default=0)
    return [f"  {_line(tool, width)}" for tool in plan.writes]


def _line(tool: PlannedTool, width: int) -> str:
    often = f"at most {count(tool.at_most, 'call')}" if tool.at_most else f"not called: {tool.why_not}"
    return f"{tool.name:<{width}}  {'reads ' if tool.reads else 'writes'}  {often}  ({tool.how})"


def _sums(plan: Plan, called: list[PlannedTool], skipped: list[PlannedTool]) -> list[str]:
    writes = f", {len(plan.writes)} of them may change something" if plan.writes else ""
    lines = [f"{count(len(called), 'tool')} of {len(plan.tools)} would be called{writes}; {len(skipped)} would not."]
    for host, most in plan.hosts.items():
        rate = "" if plan.rate is None or host.startswith("Python ") else f", no more than {plan.rate:g} in a second"
        lines.append(f"{host}: at most {count(most, 'call')}{rate}")
    return [*lines, f"In all at most {count(plan.total, 'call')}."]
