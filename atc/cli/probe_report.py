"""What a person sees of a probing: the plan, how it goes, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from atc.cli.output import error_document, print_json, print_text, say
from atc.cli.progress import bar
from atc.terminal import count, escape_controls
from probing.gate import Plan, PlannedTool
from probing.output import READABLE, Written, coverage, made_line
from probing.probe import Probed
from probing.samples import Log, Watch

_MOST_SHOWN = 12
"""Tools without a response that the summary lists; the coverage report has all."""


def show_plan(plan: Plan, rate: float, *, as_json: bool) -> None:
    """Print the plan: a line a tool, and what it comes to."""
    if as_json:
        hosts = [{"host": host, "at_most": most} for host, most in plan.hosts.items()]
        tools = [asdict(tool) for tool in plan.tools]
        print_json({"tools": tools, "hosts": hosts, "total": plan.total, "requests_per_second": rate})
        return
    called = [tool for tool in plan.tools if tool.at_most]
    skipped = [tool for tool in plan.tools if not tool.at_most]
    lines = [*tool_lines((*called, *skipped)), ""]
    writes = f", {len(plan.writes)} of them may change something" if plan.writes else ""
    lines.append(
        f"{count(len(called), 'tool')} of {len(plan.tools)} would be called{writes}; {len(skipped)} would not."
    )
    for host, most in plan.hosts.items():
        pace = "" if host.startswith("Python ") else f", no more than {rate:g} in a second"
        lines.append(f"{host}: at most {count(most, 'call')}{pace}")
    print_text("\n".join([*lines, f"In all at most {count(plan.total, 'call')}."]))


def tool_lines(tools: Sequence[PlannedTool]) -> Iterator[str]:
    """A line for each tool: how often it is called at most, or why not, and how."""
    width = max((len(tool.name) for tool in tools), default=0)
    for tool in tools:
        often = f"at most {count(tool.at_most, 'call')}" if tool.at_most else f"not called: {tool.why_not}"
        yield f"{tool.name:<{width}}  {'reads ' if tool.reads else 'writes'}  {often}  ({tool.how})"


@contextmanager
def probing_bar(log: Log, most: int) -> Iterator[Watch]:
    """A bar of a probing's calls, with its sentences above. What it gives takes what probing tells."""
    with bar("calls", total=most) as advance:
        yield lambda event: say(event) if isinstance(event, str) else advance(log.sent)


def conclude(written: Written, probed: Probed, log: Log, *, as_json: bool) -> int:
    """Print what became of the probing, and give the exit code."""
    report = coverage(probed, written.protocols)
    code, problem = 130 if probed.interrupted else 0, ""
    if not probed.interrupted and not report["totals"]["answered"]:
        problem = f"No tool could be documented; {written.folder / READABLE} says why."
        # Nothing answered at all although calls were allowed: it is down, and says nothing of the tools.
        code = 3 if not log.samples and any("connect" in why for why in probed.stopped.values()) else 1
    if as_json:
        files = {"written": list(written.written), "kept": list(written.kept)}
        document = {
            "folder": str(written.folder),
            "interrupted": probed.interrupted,
            "sent": log.sent,
            **files,
            **report,
        }
        print_json(document | (error_document(problem, code) if problem else {}))
    else:
        print_text("\n".join(_summary(report, log, written)))
    if probed.interrupted:
        say("Interrupted. The same command goes on; no call is made twice.")
    elif problem or not as_json:
        say(problem or f'Next: atc run "…" --tools {written.folder}')
    return code


def _summary(report: Mapping[str, Any], log: Log, written: Written) -> Iterator[str]:
    totals = report["totals"]
    known = f"{count(totals['fields'], 'response field')}, {count(totals['links'], 'link')}"
    yield f"{totals['answered']} of {count(totals['tools'], 'tool')} documented with {count(log.sent, 'call')}: {known}"
    silent = [(name, tool) for name, tool in report["coverage"].items() if not tool["answered"]]
    for name, tool in silent[:_MOST_SHOWN]:
        yield f"  {name}: {'; '.join(text.rstrip('.') for text in tool['missing']) or 'not called'}"
    if len(silent) > _MOST_SHOWN:
        yield f"  … and {len(silent) - _MOST_SHOWN} more"
    for made in report["made"]:
        yield f"{'Made and removed' if made['removed'] else 'Made and left'}: {escape_controls(made_line(made))}"
    if written.kept:
        yield f"Kept as they were changed by hand: {', '.join(written.kept)}; without them they are written anew"
    yield f"Protocols in {written.folder}; what is missing, and why, in {written.folder / READABLE}"
